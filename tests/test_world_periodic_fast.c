#include "periodic_fast_cases.h"

int main(void)
{
    run_periodic_fast_cases();
    return talus_test_result();
}

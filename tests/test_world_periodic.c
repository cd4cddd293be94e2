#include "periodic_cases.h"

int main(void)
{
    run_periodic_cases();
    return talus_test_result();
}

/* Free joints eliminated from problems, on the host. */
#include "eliminate_cases.h"

int main(void)
{
    run_eliminate_cases();
    return talus_test_result();
}

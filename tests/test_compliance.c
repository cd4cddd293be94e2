/* Relative compliance of contacts on the cpu. */
#include "compliance_cases.h"

int main(void)
{
    run_compliance_cases();
    return talus_test_result();
}

/* Space that repeats itself on the cuda backend: the tests that the host passes. */
#include "periodic_cases.h"
#include "periodic_fast_cases.h"

#include "backend/backend.h"

#include <stdio.h>

int main(void)
{
    if (!talus_backend_find("cuda")) {
        printf("skipped: %s\n", talus_error());
        return 77;
    }
    material_backend = "cuda";
    run_periodic_cases();
    run_periodic_fast_cases();
    return talus_test_result();
}

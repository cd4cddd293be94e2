/* Laws of materials on the cuda backend: the analytic motions of test_materials.c that take few steps. */
#include "material_cases.h"

#include "backend/backend.h"

#include <stdio.h>

int main(void)
{
    if (!talus_backend_find("cuda")) {
        printf("skipped: %s\n", talus_error());
        return 77;
    }
    material_backend = "cuda";
    run_material_cases();
    return talus_test_result();
}

/* Laws of materials on the cuda backend: the analytic motions of test_materials.c that take few steps, relative
 * compliance, and overlaps. */
#include "compliance_cases.h"
#include "material_cases.h"
#include "overlap_cases.h"

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
    run_compliance_cases();
    run_overlap_cases();
    return talus_test_result();
}

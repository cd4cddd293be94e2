/* Machines of the shipped scenes on the cuda backend: the tests that the host passes. */
#include "machine_scenes.h"

#include "backend/backend.h"

int main(void)
{
    if (!talus_backend_find("cuda")) {
        printf("skipped: %s\n", talus_error());
        return 77;
    }
    machine_backend = "cuda";
    return run_machine_scenes();
}

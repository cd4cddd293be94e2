/* Sleeping bodies on the cuda backend: the tests that the host passes. */
#include "sleep_world.h"

#include "backend/backend.h"

#include <stdio.h>

int main(void)
{
    const TalusBackend *cuda = talus_backend_find("cuda");
    if (!cuda) {
        printf("skipped: %s\n", talus_error());
        return 77;
    }
    sleepy_backend = "cuda";
    return run_sleep_tests();
}

/* Sleeping bodies on the host. */
#include "sleep_world.h"

int main(void)
{
    return run_sleep_tests();
}

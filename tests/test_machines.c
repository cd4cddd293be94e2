/* Machines of the shipped scenes on the host. */
#include "machine_scenes.h"

int main(void)
{
    return run_machine_scenes();
}

/* base/inject.h - lets tests make allocations outside base/memory.c (device memory) fail, too: see
 * talus_fail_allocation_in. */
#ifndef TALUS_BASE_INJECT_H
#define TALUS_BASE_INJECT_H

#include <stdbool.h>

/* Counts one allocation; true if it is the one that a test wants to fail. Call once per allocation. */
bool talus_allocation_must_fail(void);

#endif

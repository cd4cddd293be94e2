/* base/inject.h - lets allocators outside base/memory.c (device memory) fail on request of talus_fail_allocation_in. */
#ifndef TALUS_BASE_INJECT_H
#define TALUS_BASE_INJECT_H

#include <stdbool.h>

/* True if a test wants the present allocation to fail. Call once per allocation. */
bool talus_allocation_must_fail(void);

#endif

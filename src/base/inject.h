/* base/inject.h - the failures of talus_fail_allocation_in, for memory that is not the heap's. */
#ifndef TALUS_BASE_INJECT_H
#define TALUS_BASE_INJECT_H

#include <stdbool.h>

/* To be asked once for every allocation: whether a test wants this one to fail. */
bool talus_inject_failure(void);

#endif

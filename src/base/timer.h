/* base/timer.h - wall clock. It changes results only through time limits (TalusSolveOptions.max_seconds). */
#ifndef TALUS_BASE_TIMER_H
#define TALUS_BASE_TIMER_H

#include <time.h>

/* Returns seconds since an arbitrary moment; only differences mean anything. */
static inline double talus_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif

/* base/timer.h - wall clock, for timings and for time limits (TalusSolveOptions.max_seconds), which alone may change
 * results by it. */
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

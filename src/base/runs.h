/* base/runs.h - sorting of what consists of a few ascending runs, such as lists that several ranks have sent: in time that
 * grows with the logarithm of the number of runs alone. */
#ifndef TALUS_BASE_RUNS_H
#define TALUS_BASE_RUNS_H

#include <talus/base.h>

#include <stddef.h>

/* Sorts `count` items of `size` bytes; `compare` as of qsort. Equal items keep their order. Needs memory for a second copy
 * of the items, unless they are sorted already. */
TalusStatus talus_sort_runs(void *items, size_t count, size_t size,
                            int (*compare)(const void *, const void *));

#endif

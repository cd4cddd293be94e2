/* problem/one_thread.c - which of the libraries are there shows when the process runs, not when it is
 * linked: BLAS is exchangeable. */
#include "problem/one_thread.h"

#include <dlfcn.h>
#include <string.h>

typedef void SetCount(int count);
typedef int GetCount(void);

/* Set while packages are loaded, one at a time, before they are used. */
static SetCount *set_levels;
static GetCount *get_levels;

/* A function pointer of that name, or NULL. ISO C knows no conversion from void *. */
static void find(void *library, const char *name, void *pointer)
{
    void *symbol = dlsym(library, name);
    memcpy(pointer, &symbol, sizeof symbol);
}

void talus_one_thread_blas(void *library)
{
    SetCount *set_blas_threads;
    find(library, "openblas_set_num_threads", &set_blas_threads);
    if (set_blas_threads)
        set_blas_threads(1);
    if (!set_levels || !get_levels) {
        find(library, "omp_set_max_active_levels", &set_levels);
        find(library, "omp_get_max_active_levels", &get_levels);
    }
}

int talus_one_thread_begin(void)
{
    int before = get_levels && set_levels ? get_levels() : 0;
    if (set_levels)
        set_levels(0);
    return before;
}

void talus_one_thread_end(int before)
{
    if (get_levels && set_levels)
        set_levels(before);
}

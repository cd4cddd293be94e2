/* linalg/one_thread.c - sets OpenBLAS and OpenMP to one thread. The functions of OpenBLAS and OpenMP are looked up at
 * run time instead of linked, as another BLAS may be installed. */
#include "linalg/one_thread.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

/* Types of functions that set and return a number of threads or levels. */
typedef void SetCount(int count);
typedef int GetCount(void);

/* omp_set_max_active_levels and its getter, NULL until a package with OpenMP is loaded. The maximum nesting of parallel
 * regions is a setting of the calling thread alone (OpenMP 5.0; libgomp since GCC 11). set_levels is set last, so that
 * another thread that finds it set can use both. */
static _Atomic(SetCount *) set_levels;
static _Atomic(GetCount *) get_levels;

/* Writes the address of the function `name`, or NULL, to *pointer, by memcpy: ISO C has no conversion from void *. */
static void find_function(void *library, const char *name, void *pointer)
{
    void *symbol = dlsym(library, name);
    memcpy(pointer, &symbol, sizeof symbol);
}

/* Looks up the OpenMP functions in the library and sets set_levels and get_levels if both are found. */
static void find_levels(void *library)
{
    SetCount *set;
    GetCount *get;
    find_function(library, "omp_set_max_active_levels", &set);
    find_function(library, "omp_get_max_active_levels", &get);
    if (!set || !get)
        return;
    get_levels = get;
    set_levels = set;
}

void talus_one_thread_set_blas(void *library)
{
    SetCount *set_blas_threads;
    find_function(library, "openblas_set_num_threads", &set_blas_threads);
    if (set_blas_threads)
        set_blas_threads(1);
    if (!set_levels)
        find_levels(library);
}

int talus_one_thread_begin(void)
{
    SetCount *set = set_levels;
    if (!set)
        return -1;
    int before = get_levels();
    set(0);
    return before;
}

void talus_one_thread_end(int before)
{
    if (before >= 0)
        set_levels(before);
}

/* problem/one_thread.c - which of the libraries are there shows when the process runs, not when it is
 * linked: BLAS is exchangeable. */
#include "problem/one_thread.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

typedef void SetCount(int count);
typedef int GetCount(void);

static pthread_once_t once = PTHREAD_ONCE_INIT;
static SetCount *set_levels;
static GetCount *get_levels;

/* A function pointer of that name, or NULL. ISO C knows no conversion from void *. */
static void find(void *process, const char *name, void *pointer)
{
    void *symbol = process ? dlsym(process, name) : NULL;
    memcpy(pointer, &symbol, sizeof symbol);
}

static void look(void)
{
    void *process = dlopen(NULL, RTLD_NOW);
    SetCount *set_blas_threads;
    find(process, "openblas_set_num_threads", &set_blas_threads);
    find(process, "omp_set_max_active_levels", &set_levels);
    find(process, "omp_get_max_active_levels", &get_levels);
    if (set_blas_threads)
        set_blas_threads(1);
    if (process)
        dlclose(process);
}

void talus_one_thread_blas(void)
{
    pthread_once(&once, look);
}

int talus_one_thread_begin(void)
{
    talus_one_thread_blas();
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

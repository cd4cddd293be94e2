/* linalg/package.c - loads a factorisation package (package.h) by dlopen, after a check of the memory it needs. */
#include "linalg/package.h"

#include "base/memory.h"
#include "linalg/one_thread.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Upper estimate of the memory that a package with its dependencies needs while loading; without it, libraries end the
 * process. */
static const size_t load_bytes = (size_t)128 << 20;

/* Memory for stack and buffer of each thread that OpenBLAS starts. */
static const size_t thread_bytes = (size_t)40 << 20;

/* Held while a package is loaded. */
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

/* Fails with the reason that dlerror gives. */
static TalusStatus fail_to_load(const TalusPackage *package)
{
    const char *reason = dlerror();
    return talus_fail(TALUS_ERR_UNSUPPORTED,
                      "%s: %s cannot be loaded (%s); linear=ldl does without", package->name,
                      package->library, reason ? reason : "no reason is given");
}

/* Number of threads of OpenBLAS, the calling one included: OPENBLAS_NUM_THREADS, else the number of processors. */
static size_t count_threads(void)
{
    const char *chosen = getenv("OPENBLAS_NUM_THREADS");
    long count = chosen ? strtol(chosen, NULL, 10) : 0;
    if (count < 1)
        count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 1 ? (size_t)count : 1;
}

/* Checks the memory, loads the library, sets the package's functions and restricts BLAS to one thread. The function
 * pointers are copied by memcpy, as ISO C has no conversion from void * to them. */
static TalusStatus load_library(TalusPackage *package)
{
    size_t threads = (count_threads() - 1) * thread_bytes;
    TALUS_TRY(talus_memory_probe(load_bytes + TALUS_BLAS_BYTES + threads, package->name));
    void *library = dlopen(package->library, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return fail_to_load(package);
    for (int i = 0; i < package->count; i++) {
        void *symbol = dlsym(library, package->symbols[i]);
        if (!symbol)
            return fail_to_load(package);
        memcpy((char *)package->functions + (size_t)i * sizeof symbol, &symbol, sizeof symbol);
    }
    talus_one_thread_set_blas(library);
    return TALUS_OK;
}

TalusStatus talus_package_load(TalusPackage *package)
{
    pthread_mutex_lock(&one_at_a_time);
    TalusStatus status = package->loaded ? TALUS_OK : load_library(package);
    package->loaded = status == TALUS_OK;
    pthread_mutex_unlock(&one_at_a_time);
    return status;
}

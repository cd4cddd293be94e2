/* solvers/tao/tao_load.c - loads the module talus_tao.so (base/module.h).
 *
 * The module is loaded with RTLD_DEEPBIND, so that PETSc uses its own HDF5 and MUMPS, which are other builds than those
 * that libtalus links. */
#include "solvers/tao/tao.h"

#include "base/module.h"
#include "base/status.h"

#ifdef TALUS_HAVE_TAO

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#ifndef RTLD_DEEPBIND
#define RTLD_DEEPBIND 0
#endif

static const char file[] = "talus_tao.so";

static pthread_once_t petsc_created = PTHREAD_ONCE_INIT;
static pthread_mutex_t
    petsc; /* held while PETSc is used; recursive: an observer may start another solve */

/* `state` guards `loaded` and `failure`. It is apart from `petsc`, so that talus_tao_missing does not wait for a
 * solve. */
static pthread_mutex_t state = PTHREAD_MUTEX_INITIALIZER;
static const TalusTaoModule *loaded;    /* the module; NULL: not loaded yet */
static char failure[TALUS_MODULE_TEXT]; /* why a module that exists does not load; else empty */

/* Creates the mutex `petsc`; called once. */
static void create_petsc_mutex(void)
{
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&petsc, &kind);
    pthread_mutexattr_destroy(&kind);
}

/* Returns a text that says what is missing, or NULL; writes the path of the module if it is not loaded yet. The mutex
 * `state` must be held. */
static const char *find_missing(char path[TALUS_MODULE_PATH])
{
    if (loaded)
        return NULL;
    if (failure[0])
        return failure;
    return talus_module_find(file, path) ? NULL : talus_module_absent(file);
}

const char *talus_tao_missing(void)
{
    char path[TALUS_MODULE_PATH];
    pthread_mutex_lock(&state);
    const char *missing = find_missing(path);
    pthread_mutex_unlock(&state);
    return missing;
}

/* Loads the module and starts PETSc. On failure returns NULL and writes the reason to `failure`. */
static const TalusTaoModule *load_module(const char *path)
{
    TalusTaoResult result = {.text = ""};
    TalusTaoEntry *entry;
    *(void **)&entry =
        talus_module_load(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND, TALUS_TAO_SYMBOL, failure);
    if (!entry)
        return NULL;
    const TalusTaoModule *module = entry();
    if (module->version != TALUS_TAO_VERSION)
        snprintf(failure, sizeof failure, "%s is of interface %d, this build has %d: build it anew",
                 path, module->version, TALUS_TAO_VERSION);
    else if (!module->open(&result))
        snprintf(failure, sizeof failure, "%s does not start: %s", module->package, result.text);
    return failure[0] ? NULL : module;
}

TalusStatus talus_tao_lock(const TalusTaoModule **out)
{
    char path[TALUS_MODULE_PATH];
    pthread_once(&petsc_created, create_petsc_mutex);
    pthread_mutex_lock(&petsc);
    pthread_mutex_lock(&state);
    const char *missing = find_missing(path);
    if (!missing && !loaded) {
        loaded = load_module(path);
        missing = loaded ? NULL : failure;
    }
    *out = loaded;
    pthread_mutex_unlock(&state);
    if (!missing)
        return TALUS_OK;
    pthread_mutex_unlock(&petsc);
    return talus_fail(TALUS_ERR_UNSUPPORTED, "PETSc: %s", missing);
}

void talus_tao_unlock(void)
{
    pthread_mutex_unlock(&petsc);
}

#else

const char *talus_tao_missing(void)
{
    return "install libpetsc-real-dev, then configure without TALUS_CORE_ONLY and sanitizers and build";
}

TalusStatus talus_tao_lock(const TalusTaoModule **out)
{
    *out = NULL;
    return talus_fail(TALUS_ERR_UNSUPPORTED, "PETSc is not in this build: %s", talus_tao_missing());
}

void talus_tao_unlock(void) {}

#endif

TalusStatus talus_tao_load(void)
{
    const TalusTaoModule *module;
    TALUS_TRY(talus_tao_lock(&module));
    talus_tao_unlock();
    return TALUS_OK;
}

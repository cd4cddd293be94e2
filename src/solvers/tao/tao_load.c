/* solvers/tao/tao_load.c - finds and loads the module talus_tao.so.
 *
 * The module is searched in the folder named by the environment variable TALUS_MODULES; else where it was built, beside
 * the program, and where it is installed. The module is loaded with RTLD_DEEPBIND, so that PETSc uses its own HDF5 and
 * MUMPS, which are other builds than those that libtalus links. The module stays loaded to the end of the process. */
#include "solvers/tao/tao.h"

#include "base/status.h"

#ifdef TALUS_HAVE_TAO

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef RTLD_DEEPBIND
#define RTLD_DEEPBIND 0
#endif

enum { PATH_TEXT = 1024 }; /* bytes for a path */

static pthread_once_t petsc_created = PTHREAD_ONCE_INIT;
static pthread_mutex_t
    petsc; /* held while PETSc is used; recursive: an observer may start another solve */

/* `state` guards `loaded` and `failure`. It is apart from `petsc`, so that talus_tao_missing does not wait for a
 * solve. */
static pthread_mutex_t state = PTHREAD_MUTEX_INITIALIZER;
static const TalusTaoModule *loaded; /* the module; NULL: not loaded yet */
static char
    failure[PATH_TEXT + TALUS_TAO_TEXT]; /* why a module that exists does not load; else empty */

/* Creates the mutex `petsc`; called once. */
static void create_petsc_mutex(void)
{
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&petsc, &kind);
    pthread_mutexattr_destroy(&kind);
}

/* Writes the path of the module in `folder`. True if the file exists and can be read. */
static bool find_in_folder(const char *folder, char path[PATH_TEXT])
{
    int length = snprintf(path, PATH_TEXT, "%s/talus_tao.so", folder);
    return length > 0 && length < PATH_TEXT && access(path, R_OK) == 0;
}

/* Writes the folder of the running program, or "." if unknown. */
static void get_program_folder(char folder[PATH_TEXT])
{
    ssize_t length = readlink("/proc/self/exe", folder, PATH_TEXT - 1);
    folder[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(folder, '/');
    snprintf(slash ? slash : folder, 2, "%s", slash ? "" : ".");
}

/* Writes the path of the module. False if no folder has it. */
static bool find_module(char path[PATH_TEXT])
{
    const char *chosen = getenv("TALUS_MODULES");
    char program[PATH_TEXT];
    if (chosen)
        return find_in_folder(chosen, path);
    get_program_folder(program);
    return find_in_folder(TALUS_BUILD_MODULE_DIR, path) || find_in_folder(program, path) ||
           find_in_folder(TALUS_INSTALL_MODULE_DIR, path);
}

/* Returns a text that says what is missing, or NULL; writes the path of the module if it is not loaded yet. The mutex
 * `state` must be held. */
static const char *find_missing(char path[PATH_TEXT])
{
    if (loaded)
        return NULL;
    if (failure[0])
        return failure;
    if (find_module(path))
        return NULL;
    return getenv("TALUS_MODULES")
               ? "the module talus_tao.so is not in the folder that TALUS_MODULES names"
               : "the module talus_tao.so is not where it was built (" TALUS_BUILD_MODULE_DIR
                 "), beside the program, or installed (" TALUS_INSTALL_MODULE_DIR
                 "); TALUS_MODULES may name its folder";
}

const char *talus_tao_missing(void)
{
    char path[PATH_TEXT];
    pthread_mutex_lock(&state);
    const char *missing = find_missing(path);
    pthread_mutex_unlock(&state);
    return missing;
}

/* Loads the module and starts PETSc. On failure returns NULL and writes the reason to `failure`. */
static const TalusTaoModule *load_module(const char *path)
{
    TalusTaoResult result = {.text = ""};
    TalusTaoEntry *entry = NULL;
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (handle)
        *(void **)&entry = dlsym(handle, TALUS_TAO_SYMBOL);
    if (!entry) {
        const char *reason = dlerror();
        snprintf(failure, sizeof failure, "%s", reason ? reason : "the module has no entry");
        return NULL;
    }
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
    char path[PATH_TEXT];
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

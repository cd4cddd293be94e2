/* solvers/tao/tao_load.c - finds and loads the module talus_tao.so.
 *
 * The module is searched in the folder named by the environment variable TALUS_MODULES; else where it was built, beside
 * the program, and where it is installed. With RTLD_DEEPBIND PETSc uses its own HDF5 and MUMPS, which are other builds
 * of what libtalus links. The module stays loaded to the end of the process. */
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

enum { PATH_TEXT = 1024 };

static pthread_once_t prepared = PTHREAD_ONCE_INIT;
static pthread_mutex_t use; /* guards PETSc; recursive: an observer may solve another problem */

/* `state` guards the data below, so that a query of what is missing does not wait for a solve. */
static pthread_mutex_t state = PTHREAD_MUTEX_INITIALIZER;
static const TalusTaoModule *loaded;
static char failure[PATH_TEXT + TALUS_TAO_TEXT]; /* reason why an existing module does not load */

static void prepare(void)
{
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&use, &kind);
    pthread_mutexattr_destroy(&kind);
}

static bool is_there(const char *folder, char path[PATH_TEXT])
{
    int length = snprintf(path, PATH_TEXT, "%s/talus_tao.so", folder);
    return length > 0 && length < PATH_TEXT && access(path, R_OK) == 0;
}

/* Writes the folder of the running program, or "." if unknown. */
static void find_program(char folder[PATH_TEXT])
{
    ssize_t length = readlink("/proc/self/exe", folder, PATH_TEXT - 1);
    folder[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(folder, '/');
    snprintf(slash ? slash : folder, 2, "%s", slash ? "" : ".");
}

static bool find_module(char path[PATH_TEXT])
{
    const char *chosen = getenv("TALUS_MODULES");
    char program[PATH_TEXT];
    if (chosen)
        return is_there(chosen, path);
    find_program(program);
    return is_there(TALUS_BUILD_MODULE_DIR, path) || is_there(program, path) ||
           is_there(TALUS_INSTALL_MODULE_DIR, path);
}

/* Returns what is missing, or NULL. `path` is then the module, unless it is loaded. `state` must be held. */
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

/* Loads the module. On failure returns NULL, with the reason in `failure`. */
static const TalusTaoModule *load(const char *path)
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

TalusStatus talus_tao_acquire(const TalusTaoModule **out)
{
    char path[PATH_TEXT];
    pthread_once(&prepared, prepare);
    pthread_mutex_lock(&use);
    pthread_mutex_lock(&state);
    const char *missing = find_missing(path);
    if (!missing && !loaded) {
        loaded = load(path);
        missing = loaded ? NULL : failure;
    }
    *out = loaded;
    pthread_mutex_unlock(&state);
    if (!missing)
        return TALUS_OK;
    pthread_mutex_unlock(&use);
    return talus_fail(TALUS_ERR_UNSUPPORTED, "PETSc: %s", missing);
}

void talus_tao_release(void)
{
    pthread_mutex_unlock(&use);
}

#else

const char *talus_tao_missing(void)
{
    return "install libpetsc-real-dev, then configure without TALUS_CORE_ONLY and sanitizers and build";
}

TalusStatus talus_tao_acquire(const TalusTaoModule **out)
{
    *out = NULL;
    return talus_fail(TALUS_ERR_UNSUPPORTED, "PETSc is not in this build: %s", talus_tao_missing());
}

void talus_tao_release(void) {}

#endif

TalusStatus talus_tao_load(void)
{
    const TalusTaoModule *module;
    TALUS_TRY(talus_tao_acquire(&module));
    talus_tao_release();
    return TALUS_OK;
}

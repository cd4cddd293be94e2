/* base/module.c - finds and loads modules. Without modules, their folders are not defined, and there is nothing here. */
#include "base/module.h"

#ifdef TALUS_BUILD_MODULE_DIR

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Writes the path of the module in `folder`. True if the file exists and can be read. */
static bool find_in_folder(const char *folder, const char *file, char path[TALUS_MODULE_PATH])
{
    int length = snprintf(path, TALUS_MODULE_PATH, "%s/%s", folder, file);
    return length > 0 && length < TALUS_MODULE_PATH && access(path, R_OK) == 0;
}

/* Writes the folder of the running program, or "." if unknown. */
static void get_program_folder(char folder[TALUS_MODULE_PATH])
{
    ssize_t length = readlink("/proc/self/exe", folder, TALUS_MODULE_PATH - 1);
    folder[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(folder, '/');
    snprintf(slash ? slash : folder, 2, "%s", slash ? "" : ".");
}

bool talus_module_find(const char *file, char path[TALUS_MODULE_PATH])
{
    const char *chosen = getenv("TALUS_MODULES");
    char program[TALUS_MODULE_PATH];
    if (chosen)
        return find_in_folder(chosen, file, path);
    get_program_folder(program);
    return find_in_folder(TALUS_BUILD_MODULE_DIR, file, path) ||
           find_in_folder(program, file, path) ||
           find_in_folder(TALUS_INSTALL_MODULE_DIR, file, path);
}

const char *talus_module_absent(const char *file)
{
    static _Thread_local char text[TALUS_MODULE_TEXT];
    if (getenv("TALUS_MODULES"))
        snprintf(text, sizeof text, "the module %s is not in the folder that TALUS_MODULES names",
                 file);
    else
        snprintf(text, sizeof text,
                 "the module %s is not where it was built (" TALUS_BUILD_MODULE_DIR
                 "), beside the program, or installed (" TALUS_INSTALL_MODULE_DIR
                 "); TALUS_MODULES may name its folder",
                 file);
    return text;
}

void *talus_module_load(const char *path, int flags, const char *symbol,
                        char reason[TALUS_MODULE_TEXT])
{
    void *handle = dlopen(path, flags);
    void *entry = handle ? dlsym(handle, symbol) : NULL;
    if (!entry) {
        const char *why = dlerror();
        snprintf(reason, TALUS_MODULE_TEXT, "%s", why ? why : "the module has no entry");
    }
    return entry;
}

#else

typedef int TalusNoModules; /* ISO C forbids empty files */

#endif

/* base/module.c - finds and loads modules. Without modules, their folders are not defined, and there is nothing here. */
#include "base/module.h"

#ifdef TALUS_BUILD_MODULE_DIR

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Writes the path of the module in the subfolder `sub` of `folder`, "" or "/NAME". True if the file exists and can be
 * read. */
static bool find_in_folder(const char *folder, const char *sub, const char *file,
                           char path[TALUS_MODULE_PATH])
{
    int length = snprintf(path, TALUS_MODULE_PATH, "%s%s/%s", folder, sub, file);
    return length > 0 && length < TALUS_MODULE_PATH && access(path, R_OK) == 0;
}

static const char here = 1; /* lies in the file that holds this code: a program or libtalus.so */

/* Returns the path in a line of /proc/self/maps, "from-to mode offset device inode path\n", if `here` lies between
 * `from` and `to`; else NULL. */
static char *path_of_mapping(char *line)
{
    uintptr_t from, to;
    int path = 0;
    if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*s %*s %*s %*s %n", &from, &to, &path) != 2 ||
        (uintptr_t)&here < from || (uintptr_t)&here >= to)
        return NULL;
    return line + path;
}

/* Writes the folder of the program or shared library that holds this code, or "." if unknown. */
static void get_own_folder(char folder[TALUS_MODULE_PATH])
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char *line = NULL, *path = NULL, *slash = NULL;
    size_t size = 0;
    while (maps && !path && getline(&line, &size, maps) > 0)
        path = path_of_mapping(line);
    if (path)
        slash = strrchr(path, '/');
    if (slash)
        *slash = '\0';
    snprintf(folder, TALUS_MODULE_PATH, "%s", slash ? path : ".");
    free(line);
    if (maps)
        fclose(maps);
}

bool talus_module_find(const char *file, char path[TALUS_MODULE_PATH])
{
    const char *chosen = getenv("TALUS_MODULES");
    char own[TALUS_MODULE_PATH];
    if (chosen)
        return find_in_folder(chosen, "", file, path);
    get_own_folder(own);
    return find_in_folder(own, "", file, path) || find_in_folder(own, "/talus", file, path) ||
           find_in_folder(own, "/" TALUS_MODULES_FROM_PROGRAM, file, path) ||
           find_in_folder(TALUS_BUILD_MODULE_DIR, "", file, path) ||
           find_in_folder(TALUS_INSTALL_MODULE_DIR, "", file, path);
}

const char *talus_module_absent(const char *file)
{
    static _Thread_local char text[TALUS_MODULE_TEXT];
    if (getenv("TALUS_MODULES"))
        snprintf(text, sizeof text, "the module %s is not in the folder that TALUS_MODULES names",
                 file);
    else
        snprintf(text, sizeof text,
                 "the module %s is not beside the program or library, where it was built "
                 "(" TALUS_BUILD_MODULE_DIR "), or installed (" TALUS_INSTALL_MODULE_DIR
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

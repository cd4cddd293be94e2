/* base/module.h - modules: shared libraries of this project, such as talus_tao.so, that are loaded when first used. Each
 * brings a large package, with which libtalus itself is not linked.
 *
 * A module is searched in the folder named by the environment variable TALUS_MODULES; else beside the file that holds
 * the library, which is libtalus.so or a program, and where an installation has it from there; where it was built; and
 * where it is installed. It stays loaded to the end of the process. Builds without any module have none of these
 * functions. */
#ifndef TALUS_BASE_MODULE_H
#define TALUS_BASE_MODULE_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes for a path, and for a text that says what is wrong with a module. */
enum { TALUS_MODULE_PATH = 1024, TALUS_MODULE_TEXT = TALUS_MODULE_PATH + 512 };

/* Writes the path of the module `file`. False if no folder has it. */
bool talus_module_find(const char *file, char path[TALUS_MODULE_PATH]);
/* Returns the text that says where the module, which was not found, has been searched; valid until the thread's next
 * call. */
const char *talus_module_absent(const char *file);
/* Loads the module at `path` with the flags of dlopen; returns its function `symbol`, which the caller casts. On failure
 * returns NULL and writes the reason. */
void *talus_module_load(const char *path, int flags, const char *symbol,
                        char reason[TALUS_MODULE_TEXT]);

#endif

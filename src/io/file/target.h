/* io/file/target.h - where an output goes that a user named by its path.
 *
 * A regular file, or one that does not exist yet, is replaced as a whole: links are followed first, so that
 * the file a link leads to is replaced and the link stays. Whatever is not a regular file (a device, a pipe,
 * a terminal, the program's own standard output) is written through and stays what it is. */
#ifndef TALUS_IO_FILE_TARGET_H
#define TALUS_IO_FILE_TARGET_H

#include "base/status.h"

typedef struct TalusTarget {
    char *path; /* to be replaced, without links; NULL: written through */
    int fd;     /* to be written through; -1: replaced */
} TalusTarget;

/* Fails where nothing can be written: a directory, a link that leads in a circle, no permission. A named
 * pipe without a reader is waited for, as by any writer. The caller frees `path` with talus_release and
 * closes `fd`. */
TalusStatus talus_target_find(const char *path, TalusTarget *out);

#endif

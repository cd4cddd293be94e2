/* io/file/target.h - the target of an output that a user names by path.
 *
 * A regular or missing file is replaced as a whole. Links are followed first: the file at their end is replaced and
 * the link stays. Any other target (device, pipe, terminal), and a file that standard output or error already writes
 * to, is written directly. */
#ifndef TALUS_IO_FILE_TARGET_H
#define TALUS_IO_FILE_TARGET_H

#include "base/status.h"

/* Where an output goes; exactly one of the two members is set. */
typedef struct TalusTarget {
    char *path; /* path to replace, links resolved; NULL: write to `fd` */
    int fd;     /* descriptor to write to; -1: replace `path` */
} TalusTarget;

/* Finds the target at `path`. Fails on a directory, on more than 40 links in a chain, as in a circle, or if the target
 * cannot be inspected or opened. Waits for
 * the reader of a named pipe. The caller frees out->path with talus_release and closes out->fd unless it is -1. */
TalusStatus talus_target_find(const char *path, TalusTarget *out);

#endif

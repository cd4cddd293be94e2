/* io/file/dir.h - a directory that is written to, held by its descriptor.
 *
 * What is written goes into this directory whatever becomes of its name; talus_dir_check tells whether the
 * name still leads to it. Nothing in it is followed or waited for: a link, a named pipe or a device that
 * stands where a file of ours would is refused with a word, and left alone. */
#ifndef TALUS_IO_FILE_DIR_H
#define TALUS_IO_FILE_DIR_H

#include "io/file/file.h"
#include "io/run/manifest.h"

/* A zeroed one is closed. */
typedef struct TalusDir {
    char *path; /* for messages */
    char *name; /* of a folder in `parent`: the last part of the path; NULL: opened by its path */
    bool open;
    int fd;
    const struct TalusDir *parent;
    TalusManifest *files;        /* where files that are written are entered; NULL: nowhere */
    const TalusManifest *before; /* of the checkpoint that is resumed; NULL: none */
} TalusDir;

/* Creates the directory and those above it where they are missing. */
TalusStatus talus_dir_open(const char *path, TalusDir *out);
/* A folder in it, created where it is missing; both lists are those of `parent`, which must outlive it. */
TalusStatus talus_dir_open_folder(const TalusDir *parent, const char *name, TalusDir *out);
void talus_dir_close(TalusDir *dir);

/* Fails where the directory was removed or renamed, or another stands at its path. */
TalusStatus talus_dir_check(const TalusDir *dir);
/* The same for a file in it that is open as `fd`. */
TalusStatus talus_dir_check_file(const TalusDir *dir, const char *name, int fd);
/* The path that leads to it now; "" where the system does not tell, or it was removed. */
void talus_dir_path_now(const TalusDir *dir, char *path, size_t size);

/* What stands there is not a file of ours to be: fails unless it is a regular file or missing. */
TalusStatus talus_dir_expect_file(const TalusDir *dir, const char *name);
bool talus_dir_has(const TalusDir *dir, const char *name);
/* A regular file; flags as for open(2). The caller closes *fd. */
TalusStatus talus_dir_open_file(const TalusDir *dir, const char *name, int flags, int *fd);
/* As talus_read_file. */
TalusStatus talus_dir_read(const TalusDir *dir, const char *name, size_t limit, char **bytes,
                           size_t *size);
/* The same of a text that grows, without what came after the checkpoint that is resumed, if that knows the file. */
TalusStatus talus_dir_read_before(const TalusDir *dir, const char *name, size_t limit, char **text,
                                  size_t *size);
/* Length and checksum of the first `limit` bytes of an open file. */
TalusStatus talus_checksum_open_file(int fd, const char *path, uint64_t limit, uint64_t *size,
                                     uint32_t *crc);
/* Removes a regular file; a missing one is fine. */
TalusStatus talus_dir_remove(const TalusDir *dir, const char *name);
/* Brings a file, or the names in the directory, to the disk. A file must be there. */
TalusStatus talus_dir_sync_file(const TalusDir *dir, const char *name);
TalusStatus talus_dir_sync(const TalusDir *dir);

/* A file to be written beside its name and put in its place as a whole, as by talus_file_create. When it is
 * committed it is entered in the directory's list as a whole file. */
TalusStatus talus_dir_create_file(TalusDir *dir, const char *name, TalusFile **out);

/* Enters a file in the directory's list, if it has one; `entry` needs no name. *index (may be NULL) is its number
 * for talus_dir_update. */
TalusStatus talus_dir_enter(const TalusDir *dir, const char *name, TalusEntry entry, int *index);
/* What the list says of a file that has changed since it was entered. */
void talus_dir_update(const TalusDir *dir, int index, uint64_t size, uint32_t crc);
/* What the checkpoint that is resumed says of a file, if the file is as it was; else NULL. */
const TalusEntry *talus_dir_before(const TalusDir *dir, const char *name);

#endif

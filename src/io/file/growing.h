/* io/file/growing.h - a file that grows at its end and is cut back, with its length and checksum at hand.
 *
 * A piece goes to the system by one write, so a killed process loses none. A piece that does not fit on the
 * disk is cut off again. */
#ifndef TALUS_IO_FILE_GROWING_H
#define TALUS_IO_FILE_GROWING_H

#include "io/file/dir.h"

#include <stdio.h>

/* A zeroed one is closed. */
typedef struct TalusGrowing {
    char *path; /* for messages */
    bool open;
    int fd;
    uint64_t size; /* without what closes it, see talus_growing_put */
    uint32_t crc;  /* of these bytes */
    size_t closing;
    TalusDir *dir; /* NULL: opened by its path */
    char *name;    /* in `dir` */
    int entry;     /* its number in the list of `dir` */
} TalusGrowing;

/* Starts an empty file. */
TalusStatus talus_growing_create(TalusDir *dir, const char *name, TalusGrowing *out);
/* Goes on with a file, which must be there; talus_growing_cut comes next. */
TalusStatus talus_growing_open(TalusDir *dir, const char *name, TalusGrowing *out);
/* The same by a path that a user gave: links are followed; anything but a regular file is refused, for what
 * is written is read back and cut. With `create` the file is made where there is none. */
TalusStatus talus_growing_open_path(const char *path, bool create, TalusGrowing *out);
void talus_growing_close(TalusGrowing *file);
/* A stream over all that is in the open file, so that no other can be read; the caller closes it. */
TalusStatus talus_growing_stream(const TalusGrowing *file, FILE **out);

/* Keeps the first `size` bytes. They are read once for their checksum, unless the list of the checkpoint
 * has it. */
TalusStatus talus_growing_cut(TalusGrowing *file, uint64_t size);
/* The same, followed by bytes that close it, see talus_growing_put; a reader always finds them there. */
TalusStatus talus_growing_cut_closed(TalusGrowing *file, uint64_t size, const char *closing);
TalusStatus talus_growing_append(TalusGrowing *file, const void *bytes, size_t size);
/* Appends in place of the last `closing` bytes that the last call wrote; of these bytes, too, the last
 * `closing` are to be overwritten by the next call. They count neither in size nor in checksum. */
TalusStatus talus_growing_put(TalusGrowing *file, const void *bytes, size_t size, size_t closing);
/* Takes back what was appended since the file had this size and checksum. */
void talus_growing_take_back(TalusGrowing *file, uint64_t size, uint32_t crc);
/* Brings it to the disk. Fails where it was removed, replaced or changed by someone else. */
TalusStatus talus_growing_sync(const TalusGrowing *file);
/* Fails where it was removed or replaced. */
TalusStatus talus_growing_check(const TalusGrowing *file);

#endif

/* io/run/checkpoint_file.h - one checkpoint file: header, note, list of the run's files (io/run/manifest.h), bytes of the
 * world.
 *
 * A file is verified and read in pieces of bounded size; one that fails a check is refused as a whole. */
#ifndef TALUS_IO_RUN_CHECKPOINT_FILE_H
#define TALUS_IO_RUN_CHECKPOINT_FILE_H

#include "base/source.h"
#include "io/file/dir.h"

/* First bytes of a file. */
typedef struct TalusCheckpointHeader {
    char magic[8];
    uint32_t version, header_size;
    uint64_t sequence;                          /* number of the checkpoint, from 1 */
    int64_t steps;                              /* of the world */
    double time;                                /* of the world, s */
    uint64_t note_size, files_size, world_size; /* bytes of each part of the payload */
    uint64_t payload_hash;                      /* of all bytes after the header */
    uint64_t header_hash;                       /* of the fields before */
} TalusCheckpointHeader;

enum { TALUS_CHECKPOINT_VERSION = 2 };

/* Returns the hash of a header, all fields but the last. */
uint64_t talus_checkpoint_hash_header(const TalusCheckpointHeader *header);

/* A file that is read. */
typedef struct TalusCheckpointFile {
    TalusCheckpointHeader header;
    int fd;
    char *path;    /* for messages */
    uint64_t size; /* bytes */
    uint64_t at;   /* offset from which talus_checkpoint_file_world reads */
} TalusCheckpointFile;

/* Opens the file `name` of `dir` or, if `dir` is NULL, the file at the path `name`; fails unless version, sizes and hashes
 * are right. After success close it. */
TalusStatus talus_checkpoint_file_open(const TalusDir *dir, const char *name,
                                       TalusCheckpointFile *file);
/* The same without the hash of what follows the header, for which the whole file would be read. */
TalusStatus talus_checkpoint_file_open_header(const TalusDir *dir, const char *name,
                                              TalusCheckpointFile *file);
void talus_checkpoint_file_close(TalusCheckpointFile *file);
/* Read the note, the list of files, with a NUL behind; free with talus_release. */
TalusStatus talus_checkpoint_file_read_note(const TalusCheckpointFile *file, char **note);
TalusStatus talus_checkpoint_file_read_files(const TalusCheckpointFile *file, char **files);
/* Returns a source of the header.world_size bytes of the world. */
TalusByteSource talus_checkpoint_file_world(TalusCheckpointFile *file);

#endif

/* io/run/checkpoint.h - checkpoints in an open directory, with the list of the run's files; inspection of a checkpoint
 * file. */
#ifndef TALUS_IO_RUN_CHECKPOINT_H
#define TALUS_IO_RUN_CHECKPOINT_H

#include "io/file/dir.h"
#include "world/save/save.h"

#include <talus/io.h>

/* Names of the two files, and the first bytes of each. */
#define TALUS_CHECKPOINT_A "checkpoint-a.talus"
#define TALUS_CHECKPOINT_B "checkpoint-b.talus"
#define TALUS_CHECKPOINT_MAGIC "TALUSCKP"

/* What a checkpoint file has besides list of files and world. */
typedef struct TalusCheckpointInfo {
    uint64_t sequence; /* number of the checkpoint in its directory, from 1 */
    int64_t steps;     /* of the world */
    double time;       /* of the world, s */
    size_t note_size, files_size, world_size; /* bytes of each part of the file */
    char *note;                               /* text of the caller; free with talus_free */
} TalusCheckpointInfo;

/* Reads header and note of the checkpoint file at `path` and verifies all checksums, without creating the world. */
TalusStatus talus_checkpoint_inspect(const char *path, TalusCheckpointInfo *info);

/* As talus_checkpoint_write, into an open directory. The checkpoint also stores `files`, the list of the files that the
 * run has written. `note` and `files` may be NULL. On several ranks `dir` is NULL on all but rank 0, which writes. */
TalusStatus talus_checkpoint_write_in(const TalusDir *dir, const TalusWorld *world,
                                      const char *note, const TalusManifest *files);
/* Loads the world of the newest checkpoint at or before `time`, s; INFINITY: of the newest. If it is damaged, an older one at
 * or before that time is used, with a warning. Without any it fails and names the times that there are. All ranks of load->comm
 * call this together. */
TalusStatus talus_checkpoint_read_before(const char *dir, double time, const TalusLoadDef *load,
                                         TalusWorld **world);
/* Returns the time of the newest checkpoint at or before `time` with a sound header, NAN: there is none. */
double talus_checkpoint_time_before(const char *dir, double time);
/* Reads the note of the newest file with a sound header, without a check of the rest; NULL if there is none, which
 * talus_checkpoint_read_part would report. All ranks of `comm`, which may be NULL, call this together. */
TalusStatus talus_checkpoint_read_note(const char *dir, TalusComm *comm, char **note);
/* Reads the list of files of the newest valid checkpoint whose world is at `time`; if there is none, *found is false
 * and `out` empty. Free `out` with talus_manifest_clear. */
TalusStatus talus_checkpoint_read_files(const TalusDir *dir, double time, bool *found,
                                        TalusManifest *out);

#endif

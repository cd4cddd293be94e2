/* io/run/checkpoint.h - what a checkpoint file says about itself. */
#ifndef TALUS_IO_RUN_CHECKPOINT_H
#define TALUS_IO_RUN_CHECKPOINT_H

#include "io/file/dir.h"

#include <talus/io.h>

#define TALUS_CHECKPOINT_A "checkpoint-a.talus"
#define TALUS_CHECKPOINT_B "checkpoint-b.talus"
#define TALUS_CHECKPOINT_MAGIC "TALUSCKP"

typedef struct TalusCheckpointInfo {
    uint64_t sequence; /* counts the checkpoints of a run from 1 */
    int64_t steps;
    double time;
    size_t note_size, files_size, world_size;
    char *note; /* free with talus_free */
} TalusCheckpointInfo;

/* Verifies the whole file, checksums included, without building the world. */
TalusStatus talus_checkpoint_inspect(const char *path, TalusCheckpointInfo *info);

/* As talus_checkpoint_write, into a directory that is open; `files` (may be NULL) lists what the run has
 * written there. */
TalusStatus talus_checkpoint_write_in(const TalusDir *dir, const TalusWorld *world,
                                      const char *note, const TalusManifest *files);
/* The list in the newest sound checkpoint of that time; *found is false without one. */
TalusStatus talus_checkpoint_files(const TalusDir *dir, double time, bool *found,
                                   TalusManifest *out);

#endif

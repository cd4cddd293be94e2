/* io/checkpoint.h - what a checkpoint file says about itself. */
#ifndef TALUS_IO_CHECKPOINT_H
#define TALUS_IO_CHECKPOINT_H

#include <talus/io.h>

#define TALUS_CHECKPOINT_A "checkpoint-a.talus"
#define TALUS_CHECKPOINT_B "checkpoint-b.talus"
#define TALUS_CHECKPOINT_MAGIC "TALUSCKP"

typedef struct TalusCheckpointInfo {
    uint64_t sequence; /* counts the checkpoints of a run from 1 */
    int64_t steps;
    double time;
    size_t note_size, world_size;
    char *note; /* free with talus_free */
} TalusCheckpointInfo;

/* Verifies the whole file, checksums included, without building the world. */
TalusStatus talus_checkpoint_inspect(const char *path, TalusCheckpointInfo *info);

#endif

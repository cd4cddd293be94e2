/* io/formats/formats.h - frames for other programs: one table of writers over snapshots.
 *
 * A writer gets every frame of a run as (head, snapshot) and keeps what its format wants in the
 * run's directory. What it writes depends on the frames alone, and it can be cut back to an earlier
 * time, so that a run that was stopped and resumed leaves the same bytes as one that was not.
 * Arrays that a snapshot does not hold are left out. docs/how-to/paraview.md describes files and fields. */
#ifndef TALUS_IO_FORMATS_FORMATS_H
#define TALUS_IO_FORMATS_FORMATS_H

#include "io/file/dir.h"

#include <talus/frames.h>

/* One row of the table; `state` is a zeroed struct of `state_size` bytes that lives as long as the
 * writer. `close` is called once after every `open`, whatever it returned, and frees all. */
typedef struct TalusFormat {
    const char *name;
    const char *missing; /* NULL, or what this build lacks for it; then nothing below is called */
    unsigned fields;     /* of TalusSnapshotField: what snapshots should hold */
    size_t state_size;
    /* `dir` outlives the writer; what the checkpoint that is resumed knows of it is in dir->before. */
    TalusStatus (*open)(void *state, TalusDir *dir, bool resume, double time);
    TalusStatus (*add)(void *state, const TalusFramesHead *head, const TalusSnapshot *snapshot);
    TalusStatus (*sync)(void *state);
    TalusStatus (*close)(void *state);
    TalusStatus (*remove)(TalusDir *dir);
    /* Of formats that enter TALUS_ENTRY_FRAMES: the checksum of the first `entry->size` frames, to be
     * compared with entry->crc. Fails where the file does not hold so many sound ones. */
    TalusStatus (*measure)(const TalusDir *dir, const TalusEntry *entry, uint32_t *crc);
} TalusFormat;

int talus_format_count(void);
const char *talus_format_name(int index);
/* NULL, or what this build lacks, such as "HDF5 (Debian: libhdf5-dev)". */
const char *talus_format_missing(int index);
/* The number of the format with that name, or -1. */
int talus_format_find(const char *name);

typedef struct TalusFormatWriter TalusFormatWriter;

/* Starts the format's files in `dir`, replacing earlier ones, or with `resume` goes on with them:
 * frames after `time` are dropped. An unknown name fails and names those there are. */
TalusStatus talus_format_open(const char *name, const char *dir, bool resume, double time,
                              TalusFormatWriter **out);
/* The same in a directory that is open, which must outlive the writer. */
TalusStatus talus_format_open_in(const char *name, TalusDir *dir, bool resume, double time,
                                 TalusFormatWriter **out);
/* What snapshots must hold for a full file. */
unsigned talus_format_fields(const TalusFormatWriter *writer);
TalusStatus talus_format_add(TalusFormatWriter *writer, const TalusFramesHead *head,
                             const TalusSnapshot *snapshot);
/* Brings all frames added so far to the disk; to be called before a checkpoint is written. */
TalusStatus talus_format_sync(TalusFormatWriter *writer);
/* The writer is freed in any case; NULL is fine. */
TalusStatus talus_format_close(TalusFormatWriter *writer);

/* Removes what earlier runs left in `dir`, of every format, also those this build lacks. */
TalusStatus talus_format_remove_all(TalusDir *dir);
/* As `measure` of the format that wrote the entry. */
TalusStatus talus_format_measure(const TalusDir *dir, const TalusEntry *entry, uint32_t *crc);

/* The rows of the table, one per file. */
extern const TalusFormat talus_format_vtp, talus_format_vtkhdf, talus_format_lammps,
    talus_format_csv;

/* For a program, before any other call: HDF5 does nothing when the program exits. All its files are closed by then, but
 * one that could not be brought to a full disk, at which HDF5 1.10 would crash. */
void talus_hdf5_skip_exit(void);

#endif

/* io/formats/formats.h - output of frames for other programs: a table of writers.
 *
 * A writer receives every frame of a run as (head, snapshot) and stores it in the run's directory. Its output depends
 * on the frames alone and can be truncated to an earlier time, so that a run that was stopped and resumed leaves the
 * same bytes as an uninterrupted one. Fields whose arrays a snapshot lacks are not written. docs/how-to/paraview.md
 * describes files and fields. */
#ifndef TALUS_IO_FORMATS_FORMATS_H
#define TALUS_IO_FORMATS_FORMATS_H

#include "io/file/dir.h"

#include <talus/frames.h>

/* One row of the table: a format and its functions. `state` is a struct of `state_size` bytes, zeroed before `open`,
 * that lives as long as the writer. */
typedef struct TalusFormat {
    const char *name;
    const char *missing; /* library that this build lacks: only `remove` is callable; NULL: none */
    unsigned fields;     /* TalusSnapshotField bits that snapshots should have */
    size_t state_size;
    /* Creates the files in `dir`, which outlives the writer; with `resume` continues existing files after their frames
     * up to `time`. */
    TalusStatus (*open)(void *state, TalusDir *dir, bool resume, double time);
    /* Writes a frame. */
    TalusStatus (*add)(void *state, const TalusFramesHead *head, const TalusSnapshot *snapshot);
    /* Syncs all frames written so far to the disk; NULL: nothing to do. */
    TalusStatus (*sync)(void *state);
    /* Closes the files and frees all that `state` points to. Called once after every `open`, even a failed one. */
    TalusStatus (*close)(void *state);
    /* Removes the files of the format from `dir`; succeeds if there are none. */
    TalusStatus (*remove)(TalusDir *dir);
    /* For formats whose entry in the list of files is TALUS_ENTRY_FRAMES, where entry->size is a number of frames: sets
     * *crc to the checksum of the first entry->size frames. Fails if the file has fewer valid frames. NULL for other
     * formats. */
    TalusStatus (*checksum)(const TalusDir *dir, const TalusEntry *entry, uint32_t *crc);
} TalusFormat;

/* Number of formats, also those that this build lacks; name of a format, 0 <= index < count. */
int talus_format_count(void);
const char *talus_format_name(int index);
/* Returns the library that the format needs and this build lacks, such as "HDF5 (Debian: libhdf5-dev)"; NULL: none. */
const char *talus_format_missing(int index);
/* Returns the index of the format of that name, or -1. */
int talus_format_find(const char *name);

typedef struct TalusFormatWriter TalusFormatWriter;

/* Starts the format's files in `dir`, replacing earlier ones. With `resume` continues them and drops frames after
 * `time`. Fails for an unknown name, with a list of the known ones, and for a format that this build lacks. */
TalusStatus talus_format_open(const char *name, const char *dir, bool resume, double time,
                              TalusFormatWriter **out);
/* As talus_format_open, in an open directory, which must outlive the writer. */
TalusStatus talus_format_open_in(const char *name, TalusDir *dir, bool resume, double time,
                                 TalusFormatWriter **out);
/* Returns the TalusSnapshotField bits that snapshots must have for a complete file. */
unsigned talus_format_fields(const TalusFormatWriter *writer);
/* Writes a frame. */
TalusStatus talus_format_add_frame(TalusFormatWriter *writer, const TalusFramesHead *head,
                                   const TalusSnapshot *snapshot);
/* Syncs all frames added so far to the disk; call it before writing a checkpoint. */
TalusStatus talus_format_sync(TalusFormatWriter *writer);
/* Closes the files and frees the writer, even on failure; accepts NULL. */
TalusStatus talus_format_close(TalusFormatWriter *writer);

/* Removes the files of earlier runs from `dir`, for every format, also those that this build lacks. */
TalusStatus talus_format_remove_all(TalusDir *dir);
/* Sets *crc to the checksum of the first entry->size frames of a vtkhdf file, the only format with such entries. Fails
 * in a build without HDF5. */
TalusStatus talus_format_checksum_frames(const TalusDir *dir, const TalusEntry *entry,
                                         uint32_t *crc);

/* The rows of the table, each defined in its own file. */
extern const TalusFormat talus_format_vtp, talus_format_vtkhdf, talus_format_lammps,
    talus_format_csv, talus_format_bulk;

/* Keeps HDF5 from cleaning up when the program exits; call it before any other use of HDF5. At exit, a file that could
 * not be flushed to a full disk is still open, and the clean-up of HDF5 1.10 would crash on this file. */
void talus_hdf5_skip_exit(void);

#endif

/* io/run/manifest.h - list of the files of a run, with length and checksum.
 *
 * The list is updated while files are written, so that a checkpoint can store it without reading them again. A resumed
 * run compares the files with the list of its checkpoint. */
#ifndef TALUS_IO_RUN_MANIFEST_H
#define TALUS_IO_RUN_MANIFEST_H

#include "base/status.h"

/* Which part of a file an entry describes. */
typedef enum TalusEntryKind {
    TALUS_ENTRY_WHOLE, /* the whole file, which is not written again */
    TALUS_ENTRY_GROWS, /* the first `size` bytes of a file that may have grown since */
    /* the first `size` frames of a file rewritten in place; crc: of their values */
    TALUS_ENTRY_FRAMES,
    TALUS_ENTRY_KINDS
} TalusEntryKind;

/* A file of the list. */
typedef struct TalusEntry {
    char *name;    /* relative to the run's directory: "frames/bodies-000000.vtp" */
    uint64_t size; /* bytes; of kind FRAMES the number of frames */
    uint32_t crc; /* by talus_crc32, of these bytes; of kind FRAMES of the values of these frames */
    TalusEntryKind kind;
    bool unchanged; /* set by talus_compare_files: the file still has this size and checksum */
} TalusEntry;

/* A zeroed struct is an empty list. */
typedef struct TalusManifest {
    TalusEntry *entry;
    int count;
    bool sorted; /* by name; true for a list made by talus_manifest_unpack */
} TalusManifest;

void talus_manifest_clear(TalusManifest *manifest);
/* Adds a copy of the entry, also if the list has one of that name; *index (may be NULL) is set to its index, which does
 * not change later. Fails if the name has more than 255 bytes. */
TalusStatus talus_manifest_add(TalusManifest *manifest, const TalusEntry *entry, int *index);
/* Returns the entry of that name in a list made by talus_manifest_unpack, which is sorted; NULL if there is none, or
 * in any other list. `manifest` may be NULL. */
const TalusEntry *talus_manifest_find(const TalusManifest *manifest, const char *name);
/* As talus_manifest_find, but NULL unless the entry is `unchanged`. */
const TalusEntry *talus_manifest_find_unchanged(const TalusManifest *manifest, const char *name);

/* Convert a list to bytes and back; free `bytes` with talus_release, `out` with talus_manifest_clear. */
TalusStatus talus_manifest_pack(const TalusManifest *manifest, char **bytes, size_t *size);
TalusStatus talus_manifest_unpack(const char *bytes, size_t size, TalusManifest *out);

#endif

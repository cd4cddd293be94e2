/* io/run/manifest.h - what a run has written: every file with its length and checksum.
 *
 * The list is kept up to date while files are written, so that a checkpoint, which stores it, reads no file
 * again. A resumed run compares the files with the list of its checkpoint. */
#ifndef TALUS_IO_RUN_MANIFEST_H
#define TALUS_IO_RUN_MANIFEST_H

#include "base/status.h"

typedef enum TalusEntryKind {
    TALUS_ENTRY_WHOLE, /* a file that does not change any more */
    TALUS_ENTRY_GROWS, /* `size` bytes from the start of a file that may since have grown */
    TALUS_ENTRY_FRAMES, /* `size` frames of a file that is rewritten in place: a checksum of their values */
    TALUS_ENTRY_KINDS
} TalusEntryKind;

typedef struct TalusEntry {
    char *name; /* in the run's directory, such as "frames/bodies-000000.vtp" */
    uint64_t size;
    uint32_t crc; /* talus_crc32 */
    TalusEntryKind kind;
    bool sound; /* of a list that was read: the file was compared and is as it was */
} TalusEntry;

/* A zeroed one is empty. */
typedef struct TalusManifest {
    TalusEntry *entry;
    int count;
    bool sorted; /* by name, as a list that was read is */
} TalusManifest;

void talus_manifest_clear(TalusManifest *manifest);
/* Adds an entry; *index (may be NULL) is its number, which stays. */
TalusStatus talus_manifest_add(TalusManifest *manifest, const TalusEntry *entry, int *index);
/* The entry of that name in a list that was read, or NULL; NULL for a list that is NULL. */
const TalusEntry *talus_manifest_find(const TalusManifest *manifest, const char *name);
/* The same, where the file was found to be as it was. */
const TalusEntry *talus_manifest_sound(const TalusManifest *manifest, const char *name);

/* As bytes, and back; free `bytes` with talus_release. */
TalusStatus talus_manifest_pack(const TalusManifest *manifest, char **bytes, size_t *size);
TalusStatus talus_manifest_unpack(const char *bytes, size_t size, TalusManifest *out);

#endif

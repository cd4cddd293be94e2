/* world/save/archive.h - one description of the saved state for both directions.
 *
 * A transfer function names each value once; the archive writes it or reads it. Errors stick:
 * after the first one every transfer does nothing, reads give zeros and counts are 0, so that
 * callers need to look at `status` only before they act on what was read. Bytes are little-endian.
 * */
#ifndef TALUS_WORLD_SAVE_ARCHIVE_H
#define TALUS_WORLD_SAVE_ARCHIVE_H

#include <talus/base.h>
#include <talus/math.h>

typedef struct TalusArchive {
    bool loading;
    uint32_t version; /* of the format */
    TalusStatus status;
    const unsigned char *source; /* loading */
    unsigned char *bytes;        /* saving; owned by the caller afterwards */
    size_t at, size;             /* loading: `size` bytes in all; saving: `at` is the size so far */
} TalusArchive;

void talus_archive_bytes(TalusArchive *archive, void *data, size_t size);
void talus_archive_i32(TalusArchive *archive, int32_t *value);
void talus_archive_u32(TalusArchive *archive, uint32_t *value);
void talus_archive_i64(TalusArchive *archive, int64_t *value);
void talus_archive_u64(TalusArchive *archive, uint64_t *value);
void talus_archive_f64(TalusArchive *archive, double *value); /* must be finite when loading */
void talus_archive_vec3(TalusArchive *archive, TalusVec3 *value);
void talus_archive_bool(TalusArchive *archive, bool *value);
void talus_archive_id(TalusArchive *archive, uint64_t *number); /* of a body; 0: none */

/* A number of things of at least `element` bytes each; refused when the rest is too short. */
void talus_archive_count(TalusArchive *archive, int *count, size_t element);

/* An array, preceded by a flag that says whether it is there, which it returns. Loading allocates it
 * (talus_release) or gives NULL. */
void *talus_archive_array(TalusArchive *archive, const void *array, int count, size_t element);

/* Text; loading allocates it. */
void talus_archive_text(TalusArchive *archive, char **text);

/* Records TALUS_ERR_FORMAT with the offset, unless an error is there already. */
void talus_archive_refuse(TalusArchive *archive, const char *why);
/* Takes over the status of a call that was given what was read: a bad argument is a bad format. The key stays. */
void talus_archive_take(TalusArchive *archive, TalusStatus status);

#endif

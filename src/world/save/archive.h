/* world/save/archive.h - one description of the saved state for both directions.
 *
 * Bytes go to a sink, or come from a source, through a small buffer: no archive has them all. When several ranks load, rank
 * 0 reads and sends the buffer to all.
 *
 * A transfer function names each value once; the archive writes the value when saving and reads it when loading. Errors
 * stick: after the first error transfers write nothing, reads give zeros and counts are 0. Callers need to check
 * `status` only before they use loaded values. Bytes are little-endian. */
#ifndef TALUS_WORLD_SAVE_ARCHIVE_H
#define TALUS_WORLD_SAVE_ARCHIVE_H

#include "base/hash.h"
#include "comm/stream.h"

#include <talus/math.h>

struct TalusRows;
struct TalusLoaded;

typedef struct TalusArchive {
    bool loading;
    uint32_t version; /* of the format */
    TalusStatus status;
    /* offset: bytes read or written so far. size: loading only, the bytes that may be read; load.c leaves out the
     * hash */
    size_t offset, size;
    TalusHasher hash; /* of the bytes so far; loading: on rank 0 alone */
    /* [TALUS_ARCHIVE_BUFFER]: bytes on their way to the sink or from the source. used: those that wait, or that have been
     * read */
    unsigned char *buffer;
    size_t used;
    /* saving: */
    const struct TalusRows *rows; /* the bodies, in order */
    const TalusByteSink *sink;    /* gets the bytes; NULL: they are counted alone */
    bool counting;                /* the bytes are counted, on all ranks */
    /* loading: */
    TalusComm *comm;               /* of the ranks that load together; NULL: one */
    const TalusByteSource *source; /* of rank 0 */
    struct TalusLoaded *loaded;    /* what this rank has loaded (loaded.h) */
    size_t filled;                 /* bytes in the buffer, the same on all ranks */
    size_t left;                   /* bytes of the source behind those */
    bool ended;                    /* all ranks know that one has failed */
} TalusArchive;

enum { TALUS_ARCHIVE_BUFFER = 1 << 16 };

/* Transfer `size` bytes, or one value. */
void talus_archive_bytes(TalusArchive *archive, void *data, size_t size);
void talus_archive_u32(TalusArchive *archive, uint32_t *value);
void talus_archive_i64(TalusArchive *archive, int64_t *value);
void talus_archive_u64(TalusArchive *archive, uint64_t *value);
void talus_archive_bool(TalusArchive *archive, bool *value);
/* Transfer `count` values, given by their addresses value[i]; called through the macros below. */
void talus_archive_i32s(TalusArchive *archive, int32_t *const *value, size_t count);
void talus_archive_f64s(TalusArchive *archive, double *const *value, size_t count);
void talus_archive_vec3s(TalusArchive *archive, TalusVec3 *const *value, size_t count);

/* Transfer any number of values, given by their addresses. Loaded doubles must be finite. */
#define TALUS_ADDRESSES(type, ...) \
    (type *const[]){__VA_ARGS__}, sizeof((type *const[]){__VA_ARGS__}) / sizeof(type *)
#define TALUS_ARCHIVE_I32(archive, ...) \
    talus_archive_i32s((archive), TALUS_ADDRESSES(int32_t, __VA_ARGS__))
#define TALUS_ARCHIVE_F64(archive, ...) \
    talus_archive_f64s((archive), TALUS_ADDRESSES(double, __VA_ARGS__))
#define TALUS_ARCHIVE_VEC3(archive, ...) \
    talus_archive_vec3s((archive), TALUS_ADDRESSES(TalusVec3, __VA_ARGS__))
/* Transfers a value of an enumeration as u32; the caller checks the range of a loaded one. */
#define TALUS_ARCHIVE_ENUM(archive, value)     \
    do {                                       \
        uint32_t number = (uint32_t)(value);   \
        talus_archive_u32((archive), &number); \
        (value) = number;                      \
    } while (0)
/* Evaluates `call`, a call that returns a status, unless an error is recorded; records a failure. */
#define TALUS_ARCHIVE_CALL(archive, call)            \
    do {                                             \
        if ((archive)->status == TALUS_OK)           \
            talus_archive_record((archive), (call)); \
    } while (0)
/* Transfers the id number of a body, 0: none; converts slot and generation of version 5 into a number. */
void talus_archive_id(TalusArchive *archive, uint64_t *number);

/* Transfers the count of a list whose items have at least `element` bytes each. Loading refuses a count that the
 * remaining bytes cannot hold and sets *count to 0. */
void talus_archive_count(TalusArchive *archive, int *count, size_t element);

/* Transfers a flag, whether `array` is not NULL, and then its elements. Saving returns `array`; loading ignores it and
 * returns an allocated copy, which the caller releases (talus_release), or NULL. */
void *talus_archive_array(TalusArchive *archive, const void *array, int count, size_t element);

/* Loading: ends at a failure of any rank. True if none has failed. Ranks read the same bytes and so make the same calls. A
 * rank that fails makes none but the next of these, which tells the others, in whatever call they are; the last is this one. */
bool talus_archive_agree(TalusArchive *archive);

/* Loads `count` items of `element` bytes each, the first of `rows`, of which each rank takes those in its even piece of the
 * rows. All ranks call this together. */
void talus_archive_spread(TalusArchive *archive, int64_t count, int64_t rows, size_t element,
                          TalusTakeFn *take, void *context);

/* Saves items of all ranks, of `element` bytes each, in the order of ranks; all ranks call this together. */
void talus_archive_span(TalusArchive *archive, TalusSpan span, size_t element, TalusFillFn *fill,
                        const void *context);

/* Saving: gives the sink what waits for it. */
void talus_archive_flush(TalusArchive *archive);

/* Transfers text; loading allocates it, and the caller releases it (talus_release). *text may be NULL after a
 * failure. */
void talus_archive_text(TalusArchive *archive, char **text);

/* Records TALUS_ERR_FORMAT with the offset, unless an error is recorded already. */
void talus_archive_refuse(TalusArchive *archive, const char *why);
/* Records `status` of a call with loaded arguments, if it is a failure, as TALUS_ERR_FORMAT with the offset, because
 * the arguments came from the bytes. TALUS_ERR_MEMORY and the error's key (talus_error_key) stay. No effect if an error
 * is recorded already. */
void talus_archive_record(TalusArchive *archive, TalusStatus status);

#endif

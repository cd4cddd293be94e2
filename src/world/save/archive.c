/* world/save/archive.c - reading and writing of bytes, with every length checked. */
#include "world/save/archive.h"

#include "base/memory.h"
#include "base/status.h"
#include "world/ids.h"
#include "world/save/rows.h"

#include <string.h>

#if !defined(__BYTE_ORDER__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "saved states are little-endian and this host is not: swap bytes in talus_archive_bytes"
#endif

void talus_archive_refuse(TalusArchive *archive, const char *why)
{
    if (archive->status == TALUS_OK)
        archive->status =
            talus_fail(TALUS_ERR_FORMAT, "saved state, byte %zu: %s", archive->offset, why);
}

void talus_archive_record(TalusArchive *archive, TalusStatus status)
{
    if (status == TALUS_OK || archive->status != TALUS_OK)
        return;
    archive->status = status == TALUS_ERR_MEMORY
                          ? status
                          : talus_fail_around(TALUS_ERR_FORMAT, "saved state, byte %zu: %s",
                                              archive->offset, talus_error());
}

void talus_archive_flush(TalusArchive *a)
{
    if (a->status == TALUS_OK && a->used > 0)
        a->status = a->sink->put(a->sink->context, a->buffer, a->used);
    a->used = 0;
}

/* Adds bytes to the hash and to those that wait for the sink. */
static void save_bytes(TalusArchive *a, const void *data, size_t size)
{
    const unsigned char *from = data;
    a->offset += size;
    if (!a->sink || size == 0)
        return;
    talus_hasher_add(&a->hash, data, size);
    while (size > 0 && a->status == TALUS_OK) {
        const size_t free_bytes = TALUS_ARCHIVE_BUFFER - a->used;
        const size_t part = size < free_bytes ? size : free_bytes;
        memcpy(a->buffer + a->used, from, part);
        a->used += part;
        from += part;
        size -= part;
        if (a->used == TALUS_ARCHIVE_BUFFER)
            talus_archive_flush(a);
    }
}

/* ---- loading ---- */

bool talus_archive_agree(TalusArchive *a)
{
    if (!a->ended) {
        a->status = talus_comm_agree(a->comm, a->status);
        a->ended = a->status != TALUS_OK;
    }
    return !a->ended;
}

/* Fills the buffer of all ranks, when all bytes in it have been read. */
static void refill(TalusArchive *a)
{
    const size_t size = a->left < TALUS_ARCHIVE_BUFFER ? a->left : TALUS_ARCHIVE_BUFFER;
    if (talus_comm_rank(a->comm) == 0)
        a->status = a->source->get(a->source->context, a->buffer, size);
    if (!talus_archive_agree(a))
        return;
    a->status = talus_comm_broadcast(a->comm, 0, a->buffer, size);
    a->used = 0;
    a->filled = size;
    a->left -= size;
}

/* Copies bytes from the buffer, at most `size`; returns their number. */
static size_t take_buffered(TalusArchive *a, void *data, size_t size)
{
    const size_t held = a->filled - a->used, part = size < held ? size : held;
    if (part > 0)
        memcpy(data, a->buffer + a->used, part);
    a->used += part;
    return part;
}

static void load_bytes(TalusArchive *a, void *data, size_t size)
{
    unsigned char *to = data;
    size_t done = 0;
    if (a->status == TALUS_OK && size > a->size - a->offset)
        talus_archive_refuse(a, "the bytes end too early");
    while (a->status == TALUS_OK && done < size) {
        if (a->used == a->filled)
            refill(a);
        if (a->status == TALUS_OK)
            done += take_buffered(a, to + done, size - done);
    }
    a->offset += done;
    if (a->status == TALUS_OK && talus_comm_rank(a->comm) == 0)
        talus_hasher_add(&a->hash, data, size);
    else if (a->status != TALUS_OK && size > 0)
        memset(data, 0, size);
}

/* On rank 0: items come from the buffer, then from the source, past the buffer. */
static TalusStatus get_items(void *context, void *bytes, size_t size)
{
    TalusArchive *a = context;
    const size_t held = take_buffered(a, bytes, size);
    if (size > held)
        TALUS_TRY(a->source->get(a->source->context, (char *)bytes + held, size - held));
    talus_hasher_add(&a->hash, bytes, size);
    return TALUS_OK;
}

void talus_archive_spread(TalusArchive *a, int64_t count, int64_t rows, size_t element,
                          TalusTakeFn *take, void *context)
{
    const TalusByteSource items = {get_items, a};
    const size_t size = (size_t)count * element, used = a->used, held = a->filled - a->used;
    const size_t buffered = size < held ? size : held;
    if (a->status == TALUS_OK && size > a->size - a->offset)
        talus_archive_refuse(a, "the bytes end within an array");
    if (!talus_archive_agree(a))
        return;
    a->offset += size;
    a->status = talus_comm_spread(a->comm, count, rows, element, &items, take, context);
    a->ended = a->status != TALUS_OK;
    a->used = used + buffered; /* also on those ranks that have read nothing */
    a->left -= size - buffered;
}

/* ---- both ---- */

void talus_archive_bytes(TalusArchive *a, void *data, size_t size)
{
    if (a->loading)
        load_bytes(a, data, size);
    else if (a->status == TALUS_OK)
        save_bytes(a, data, size);
}

/* ---- items of all ranks ---- */

/* What talus_comm_stream has brought. */
static TalusStatus put_items(void *context, const void *bytes, size_t size)
{
    TalusArchive *a = context;
    talus_archive_bytes(a, (void *)bytes, size);
    return a->status;
}

void talus_archive_span(TalusArchive *a, TalusSpan span, size_t element, TalusFillFn *fill,
                        const void *context)
{
    const TalusByteSink items = {put_items, a};
    TalusComm *comm = a->rows->comm;
    const size_t offset = a->offset + (size_t)span.all * element;
    a->status = talus_comm_agree(comm, a->status); /* all ranks go on, or none */
    if (a->status == TALUS_OK && !a->counting)
        a->status = talus_comm_stream(comm, span, element, fill, context, &items);
    a->offset = offset;
}

void talus_archive_u32(TalusArchive *archive, uint32_t *value)
{
    talus_archive_bytes(archive, value, sizeof *value);
}

void talus_archive_i64(TalusArchive *archive, int64_t *value)
{
    talus_archive_bytes(archive, value, sizeof *value);
}

void talus_archive_u64(TalusArchive *archive, uint64_t *value)
{
    talus_archive_bytes(archive, value, sizeof *value);
}

void talus_archive_i32s(TalusArchive *archive, int32_t *const *value, size_t count)
{
    for (size_t i = 0; i < count; i++)
        talus_archive_bytes(archive, value[i], sizeof *value[i]);
}

void talus_archive_f64s(TalusArchive *archive, double *const *value, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        talus_archive_bytes(archive, value[i], sizeof *value[i]);
        if (archive->loading && !isfinite(*value[i])) {
            talus_archive_refuse(archive, "a number is not finite");
            *value[i] = 0.0;
        }
    }
}

void talus_archive_vec3s(TalusArchive *archive, TalusVec3 *const *value, size_t count)
{
    for (size_t i = 0; i < count; i++)
        TALUS_ARCHIVE_F64(archive, &value[i]->x, &value[i]->y, &value[i]->z);
}

void talus_archive_bool(TalusArchive *archive, bool *value)
{
    uint32_t word = *value;
    talus_archive_u32(archive, &word);
    if (archive->loading && word > 1)
        talus_archive_refuse(archive, "a flag is neither 0 nor 1");
    *value = word == 1;
}

void talus_archive_id(TalusArchive *archive, uint64_t *number)
{
    talus_archive_u64(archive, number);
    if (archive->version == 5)
        *number = talus_id_from_generation((uint32_t)*number, (uint32_t)(*number >> 32));
}

void talus_archive_count(TalusArchive *archive, int *count, size_t element)
{
    int32_t value = *count;
    TALUS_ARCHIVE_I32(archive, &value);
    if (archive->loading &&
        (value < 0 || (element && (size_t)value > (archive->size - archive->offset) / element))) {
        talus_archive_refuse(archive, "a count is larger than the bytes that follow");
        value = 0;
    }
    *count = archive->status == TALUS_OK ? value : 0;
}

void *talus_archive_array(TalusArchive *archive, const void *array, int count, size_t element)
{
    bool there = !archive->loading && array;
    void *block = archive->loading ? NULL : (void *)array; /* only read when saving */
    talus_archive_bool(archive, &there);
    if (!there || archive->status != TALUS_OK)
        return block;
    size_t size = (size_t)count * element;
    if (archive->loading && size > archive->size - archive->offset)
        talus_archive_refuse(archive, "the bytes end within an array");
    else if (archive->loading)
        archive->status = talus_alloc(&block, (size_t)count, element, "saved state");
    if (archive->status == TALUS_OK)
        talus_archive_bytes(archive, block, size);
    return block;
}

void talus_archive_text(TalusArchive *archive, char **text)
{
    int length = archive->loading ? 0 : (int)strlen(*text);
    talus_archive_count(archive, &length, 1);
    if (archive->loading) {
        *text = NULL;
        if (archive->status == TALUS_OK) /* zeroed, so the text is terminated */
            archive->status = TALUS_ALLOC(*text, (size_t)length + 1, "saved state");
    }
    if (archive->status == TALUS_OK)
        talus_archive_bytes(archive, *text, (size_t)length);
}

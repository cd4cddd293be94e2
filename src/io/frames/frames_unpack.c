/* io/frames/frames_unpack.c - reads the arrays of a chunk; frames_pack.c writes them. Input is not trusted: numbers of
 * bodies and sizes of arrays are compared with the bytes of the payload before memory is allocated. */
#include "base/deflate.h"
#include "base/memory.h"
#include "io/frames/frames.h"

#include <inttypes.h>
#include <string.h>

void talus_unpacker_clear(TalusUnpacker *unpacker)
{
    TALUS_RELEASE(unpacker->plane, unpacker->code);
    *unpacker = (TalusUnpacker){0};
}

/* ---- the table of arrays ---- */

/* Fails if the counts of a frame exceed what its payload can hold or a reader accepts. */
static TalusStatus check_counts(const TalusFrameHead *head, size_t size)
{
    uint64_t limit = (uint64_t)size * TALUS_FRAMES_PER_BYTE;
    if (head->bodies > limit)
        return talus_fail(TALUS_ERR_FORMAT,
                          "claims %" PRIu32 " bodies in %zu bytes; there may be %d to a byte",
                          head->bodies, size, TALUS_FRAMES_PER_BYTE);
    if (head->bodies > TALUS_FRAMES_COUNT_MAX)
        return talus_fail(TALUS_ERR_UNSUPPORTED, "%" PRIu32 " bodies; at most %d are read",
                          head->bodies, TALUS_FRAMES_COUNT_MAX);
    return TALUS_OK;
}

/* Fails if the header of an array contradicts itself or has unknown codes. */
static TalusStatus check_array_head(const TalusArrayHead *a)
{
    const char *name = talus_array_name(a->name);
    bool integer = a->type == TALUS_TYPE_INTEGER;
    bool width = integer ? a->width == 1 || a->width == 2 || a->width == 4
                         : a->width == (a->type == TALUS_TYPE_BF16  ? 2
                                        : a->type == TALUS_TYPE_F64 ? 8
                                                                    : 4);
    if (a->type < TALUS_TYPE_INTEGER || a->type > TALUS_TYPE_F64 || !width)
        return talus_fail_key(name, TALUS_ERR_FORMAT, "type %d with %d bytes to a value", a->type,
                              a->width);
    if (a->prediction > (integer ? TALUS_PREDICT_BODY : TALUS_PREDICT_NONE))
        return talus_fail_key(name, TALUS_ERR_FORMAT, "prediction %d", a->prediction);
    uint64_t plain = (uint64_t)a->tuples * a->components * a->width;
    if (a->coding == TALUS_CODING_STORED && plain != a->bytes)
        return talus_fail_key(name, TALUS_ERR_FORMAT,
                              "%" PRIu32 " bytes for %" PRIu32 " tuples of %d", a->bytes, a->tuples,
                              a->components * a->width);
    if (a->coding > TALUS_CODING_ZLIB)
        return talus_fail_key(name, TALUS_ERR_FORMAT, "coding %d; this program knows 0 and 1",
                              a->coding);
    return TALUS_OK;
}

/* Checks the array at *offset, stores its location in u->array and moves *offset past it. Skips arrays with unknown
 * names, which later versions may have. */
static TalusStatus locate_array(TalusUnpacker *u, const unsigned char *payload, size_t size,
                                size_t *offset)
{
    TalusArrayHead head;
    if (size - *offset < sizeof head)
        return talus_fail(TALUS_ERR_FORMAT, "announces %" PRIu32 " arrays and ends before them",
                          u->head.arrays);
    memcpy(&head, payload + *offset, sizeof head);
    *offset += sizeof head;
    if (head.bytes > size - *offset)
        return talus_fail_key(talus_array_name(head.name), TALUS_ERR_FORMAT,
                              "%" PRIu32 " bytes, of which %zu are there", head.bytes,
                              size - *offset);
    const unsigned char *data = payload + *offset;
    size_t whole = ((size_t)head.bytes + 7) / 8 * 8;
    *offset += whole < size - *offset ? whole : size - *offset;
    if (head.name == 0 || head.name >= TALUS_ARRAYS)
        return TALUS_OK;
    TALUS_TRY(check_array_head(&head));
    if (u->array[head.name].data)
        return talus_fail_key(talus_array_name(head.name), TALUS_ERR_FORMAT, "is there twice");
    u->array[head.name] = (TalusArrayView){head, data};
    return TALUS_OK;
}

TalusStatus talus_unpacker_locate_arrays(TalusUnpacker *unpacker, const unsigned char *bytes,
                                         size_t size)
{
    memset(unpacker->array, 0, sizeof unpacker->array);
    for (size_t offset = 0; offset < size && bytes[offset] != 0;) {
        if (size - offset < sizeof(TalusArrayHead))
            return talus_fail(TALUS_ERR_FORMAT, "ends within an array");
        TALUS_TRY(locate_array(unpacker, bytes, size, &offset));
    }
    return TALUS_OK;
}

TalusStatus talus_unpacker_locate_frame_arrays(TalusUnpacker *unpacker,
                                               const unsigned char *payload, size_t size)
{
    size_t offset = sizeof unpacker->head;
    if (size < offset)
        return talus_fail(TALUS_ERR_FORMAT, "has %zu bytes; a frame has at least %zu", size,
                          offset);
    memcpy(&unpacker->head, payload, offset);
    memset(unpacker->array, 0, sizeof unpacker->array);
    TALUS_TRY(check_counts(&unpacker->head, size));
    for (uint32_t i = 0; i < unpacker->head.arrays; i++)
        TALUS_TRY(locate_array(unpacker, payload, size, &offset));
    return TALUS_OK;
}

/* ---- arrays ---- */

/* Fails unless an array has these numbers of tuples and components and this type. */
static TalusStatus check_expected(const TalusArrayHead *head, int name, int type, int components,
                                  int tuples)
{
    const char *text = talus_array_name(name);
    if (head->tuples != (uint32_t)tuples)
        return talus_fail_key(text, TALUS_ERR_FORMAT, "%" PRIu32 " tuples; expected %d",
                              head->tuples, tuples);
    if (tuples > 0 && (head->type != type || head->components != components))
        return talus_fail_key(text, TALUS_ERR_FORMAT,
                              "type %d with %d components; expected %d with %d", head->type,
                              head->components, type, components);
    return TALUS_OK;
}

/* Inflates an array and joins its byte planes into u->code, of a double into two codes, the lower half first. Fails if its
 * type, components or tuples are not those expected. With `tuples` 0 leaves u->code unchanged. */
static TalusStatus unpack_codes(TalusUnpacker *u, int name, int type, int components, int tuples)
{
    const TalusArrayView *view = &u->array[name];
    const TalusArrayHead *a = &view->head;
    TALUS_TRY(check_expected(a, name, type, components, tuples));
    if (tuples == 0)
        return TALUS_OK;
    const int halves = a->type == TALUS_TYPE_F64 ? 2 : 1, bytes = a->width / halves;
    size_t n = a->tuples, width = (size_t)a->components * (size_t)halves,
           size = n * width * (size_t)bytes;
    const unsigned char *plane = view->data;
    if (a->coding == TALUS_CODING_ZLIB) {
        TALUS_TRY(TALUS_GROW(u->plane, size, 0, "frame"));
        TALUS_TRY(talus_error_at(talus_locate(TALUS_DOMAIN_IO, NULL, 0, talus_array_name(name)),
                                 talus_inflate(view->data, a->bytes, u->plane, size)));
        plane = u->plane;
    }
    TALUS_TRY(TALUS_GROW(u->code, n * width, 0, "frame"));
    memset(u->code, 0, n * width * sizeof *u->code);
    for (size_t c = 0; c < width; c++)
        for (int byte = 0; byte < bytes; byte++, plane += n)
            for (size_t i = 0; i < n; i++)
                u->code[i * width + c] |= (uint32_t)plane[i] << 8 * byte;
    return TALUS_OK;
}

/* Inverse of zigzag in frames_pack.c. */
static uint32_t unzigzag(uint32_t code)
{
    return code >> 1 ^ (code & 1 ? UINT32_MAX : 0);
}

TalusStatus talus_unpack_integers(TalusUnpacker *unpacker, int name, int components, int tuples,
                                  const int32_t *guess, int32_t *value)
{
    int prediction = unpacker->array[name].head.prediction;
    bool body = prediction == TALUS_PREDICT_BODY, tuple = prediction == TALUS_PREDICT_TUPLE;
    TALUS_TRY(unpack_codes(unpacker, name, TALUS_TYPE_INTEGER, components, tuples));
    if (tuples > 0 && body && !guess)
        return talus_fail_key(talus_array_name(name), TALUS_ERR_FORMAT,
                              "is predicted from a frame before");
    size_t step = (size_t)components, count = step * (size_t)tuples;
    for (size_t i = 0; i < count; i++) {
        uint32_t from = body                 ? (uint32_t)guess[i]
                        : tuple && i >= step ? (uint32_t)value[i - step]
                                             : 0;
        value[i] = (int32_t)(from + unzigzag(unpacker->code[i]));
    }
    return TALUS_OK;
}

TalusStatus talus_unpack_bfloat16(TalusUnpacker *unpacker, int name, int components, int tuples,
                                  uint16_t *value)
{
    TALUS_TRY(unpack_codes(unpacker, name, TALUS_TYPE_BF16, components, tuples));
    for (size_t i = 0; i < (size_t)components * (size_t)tuples; i++) {
        value[i] = (uint16_t)unpacker->code[i];
        if ((value[i] & 0x7f80) == 0x7f80)
            return talus_fail_key(talus_array_name(name), TALUS_ERR_FORMAT,
                                  "a value is not finite");
    }
    return TALUS_OK;
}

TalusStatus talus_unpack_floats(TalusUnpacker *unpacker, int name, int components, int tuples,
                                float *value)
{
    TALUS_TRY(unpack_codes(unpacker, name, TALUS_TYPE_F32, components, tuples));
    for (size_t i = 0; i < (size_t)components * (size_t)tuples; i++) {
        memcpy(&value[i], &unpacker->code[i], sizeof *value);
        if (!isfinite(value[i]))
            return talus_fail_key(talus_array_name(name), TALUS_ERR_FORMAT,
                                  "a value is not finite");
    }
    return TALUS_OK;
}

TalusStatus talus_unpack_doubles(TalusUnpacker *unpacker, int name, int components, int tuples,
                                 double *value)
{
    TALUS_TRY(unpack_codes(unpacker, name, TALUS_TYPE_F64, components, tuples));
    for (size_t i = 0; i < (size_t)components * (size_t)tuples; i++) {
        const uint64_t bits = unpacker->code[2 * i] | (uint64_t)unpacker->code[2 * i + 1] << 32;
        memcpy(&value[i], &bits, sizeof *value);
        if (!isfinite(value[i]))
            return talus_fail_key(talus_array_name(name), TALUS_ERR_FORMAT,
                                  "a value is not finite");
    }
    return TALUS_OK;
}

/* io/frames_pack.c - arrays into a chunk: prediction, zigzag, planes of bytes, deflate. */
#include "base/crc.h"
#include "base/deflate.h"
#include "base/memory.h"
#include "io/frames.h"

#include <string.h>

/* Planes are noise or runs, so looking for other repeats costs time and gains nothing: for a million
 * bodies runs alone gave smaller frames than any other setting up to level 6, and the fastest
 * (bench/frames.c). Fewer bytes than the least are not worth a stream. */
enum { LEVEL = 1, LEAST_DEFLATED = 64 };

const char *talus_array_name(int name)
{
    static const char *const names[TALUS_ARRAYS] = {
        [TALUS_ARRAY_INDEX] = "index",
        [TALUS_ARRAY_GENERATION] = "generation",
        [TALUS_ARRAY_POSITION] = "position",
        [TALUS_ARRAY_VELOCITY] = "velocity",
        [TALUS_ARRAY_SPEED] = "speed",
        [TALUS_ARRAY_ORIENTATION] = "orientation",
        [TALUS_ARRAY_RADIUS] = "radius",
        [TALUS_ARRAY_SHAPE] = "shape",
        [TALUS_ARRAY_MATERIAL] = "material",
        [TALUS_ARRAY_TAG] = "tag",
        [TALUS_ARRAY_FIXED] = "fixed",
        [TALUS_ARRAY_LAYER] = "layer",
        [TALUS_ARRAY_FORCE] = "force",
        [TALUS_ARRAY_TOUCHING] = "touching",
        [TALUS_ARRAY_CHAIN_A] = "chain_a",
        [TALUS_ARRAY_CHAIN_B] = "chain_b",
        [TALUS_ARRAY_CHAIN_FORCE] = "chain_force",
        [TALUS_ARRAY_CHAIN_POINT] = "chain_point",
    };
    return name > 0 && name < TALUS_ARRAYS ? names[name] : "unknown";
}

uint32_t talus_chunk_crc(const TalusChunk *chunk, const void *payload)
{
    uint32_t crc = talus_crc32(0, chunk, offsetof(TalusChunk, crc));
    return talus_crc32(crc, payload, chunk->size);
}

/* ---- numbers ---- */

uint16_t talus_to_half(double value, int drop)
{
    float single =
        (float)fmin(fmax(value, -3.0e38), 3.0e38); /* below the largest that rounds down */
    uint32_t bits;
    int low = 16 + drop;
    memcpy(&bits, &single, sizeof bits);
    bits += (UINT32_C(1) << (low - 1)) - 1 + (bits >> low & 1);
    return (uint16_t)(bits >> low << drop);
}

double talus_from_half(uint16_t half)
{
    uint32_t bits = (uint32_t)half << 16;
    float single;
    memcpy(&single, &bits, sizeof single);
    return single;
}

static uint32_t zigzag(uint32_t difference)
{
    return difference << 1 ^ (difference >> 31 ? UINT32_MAX : 0);
}

/* ---- the chunk's memory ---- */

void talus_packer_clear(TalusPacker *packer)
{
    talus_release(packer->bytes);
    talus_release(packer->code);
    talus_release(packer->plane);
    *packer = (TalusPacker){0};
}

static TalusStatus make_room(TalusPacker *p, size_t size)
{
    return TALUS_RESERVE(p->bytes, p->capacity, p->size + size, p->size, "frame");
}

TalusStatus talus_pack_bytes(TalusPacker *packer, const void *bytes, size_t size)
{
    TALUS_TRY(make_room(packer, size));
    if (bytes)
        memcpy(packer->bytes + packer->size, bytes, size);
    else
        memset(packer->bytes + packer->size, 0, size);
    packer->size += size;
    return TALUS_OK;
}

/* ---- arrays ---- */

/* Appends the head and the bytes of `plane`, deflated where that is shorter. */
static TalusStatus append(TalusPacker *p, TalusArrayHead head, size_t size)
{
    TALUS_TRY(make_room(p, sizeof head + talus_deflate_bound(size) + 8));
    unsigned char *data = p->bytes + p->size + sizeof head;
    size_t used = size;
    if (talus_deflate_available() && size >= LEAST_DEFLATED) {
        TALUS_TRY(talus_deflate(LEVEL, TALUS_DEFLATE_RUNS, p->plane, size, data,
                                talus_deflate_bound(size), &used));
        head.coding = used < size ? TALUS_CODING_ZLIB : TALUS_CODING_STORED;
    }
    if (head.coding == TALUS_CODING_STORED) {
        memcpy(data, p->plane, size);
        used = size;
    }
    if (used > UINT32_MAX)
        return talus_fail(TALUS_ERR_UNSUPPORTED, "%s: %zu bytes; an array of a frame holds 4 GiB",
                          talus_array_name(head.name), used);
    head.bytes = (uint32_t)used;
    memcpy(p->bytes + p->size, &head, sizeof head);
    memset(data + used, 0, -used & 7);
    p->size += sizeof head + used + (-used & 7);
    p->arrays++;
    return TALUS_OK;
}

/* Byte `shift / 8` of component `c` of each value, one after the other. */
static void fill_plane(unsigned char *plane, const uint32_t *code, int components, int tuples,
                       int c, int shift)
{
    for (int i = 0; i < tuples; i++)
        plane[i] = (unsigned char)(code[(size_t)i * (size_t)components + (size_t)c] >> shift);
}

/* Splits `code` into planes and appends them. */
static TalusStatus append_code(TalusPacker *p, TalusArrayHead head)
{
    size_t n = head.tuples, size = n * head.components * head.width;
    TALUS_TRY(TALUS_RESERVE(p->plane, p->plane_capacity, size, 0, "frame"));
    unsigned char *plane = p->plane;
    for (int c = 0; c < head.components; c++)
        for (int byte = 0; byte < head.width; byte++, plane += n)
            fill_plane(plane, p->code, head.components, (int)n, c, 8 * byte);
    return append(p, head, size);
}

static TalusStatus reserve_code(TalusPacker *p, int components, int tuples)
{
    size_t count = (size_t)components * (size_t)tuples;
    return TALUS_RESERVE(p->code, p->code_capacity, count, 0, "frame");
}

static uint32_t predict(TalusPrediction prediction, const int32_t *value, const int32_t *guess,
                        size_t i, size_t components)
{
    switch (prediction) {
    case TALUS_PREDICT_TUPLE: return i < components ? 0 : (uint32_t)value[i - components];
    case TALUS_PREDICT_BODY: return (uint32_t)guess[i];
    default: return 0;
    }
}

static TalusStatus pack_predicted(TalusPacker *packer, int name, int components, int tuples,
                                  TalusPrediction prediction, const int32_t *value,
                                  const int32_t *guess)
{
    size_t count = (size_t)components * (size_t)tuples;
    uint32_t all = 0;
    TALUS_TRY(reserve_code(packer, components, tuples));
    for (size_t i = 0; i < count; i++) {
        uint32_t from = predict(prediction, value, guess, i, (size_t)components);
        packer->code[i] = zigzag((uint32_t)value[i] - from);
        all |= packer->code[i];
    }
    TalusArrayHead head = {.name = (uint8_t)name,
                           .type = TALUS_TYPE_INTEGER,
                           .components = (uint8_t)components,
                           .prediction = (uint8_t)prediction,
                           .width = all > 0xffff ? 4
                                    : all > 0xff ? 2
                                                 : 1,
                           .tuples = (uint32_t)tuples};
    return append_code(packer, head);
}

/* Tries both, since only deflating tells what repeats: twice the work, in key frames alone. */
static TalusStatus pack_best(TalusPacker *p, int name, int components, int tuples,
                             const int32_t *value)
{
    size_t start = p->size;
    TALUS_TRY(pack_predicted(p, name, components, tuples, TALUS_PREDICT_NONE, value, NULL));
    size_t middle = p->size, first = middle - start;
    TALUS_TRY(pack_predicted(p, name, components, tuples, TALUS_PREDICT_TUPLE, value, NULL));
    size_t second = p->size - middle;
    if (second < first)
        memmove(p->bytes + start, p->bytes + middle, second);
    p->size = start + (second < first ? second : first);
    p->arrays--;
    return TALUS_OK;
}

TalusStatus talus_pack_integers(TalusPacker *packer, int name, int components, int tuples,
                                TalusPrediction prediction, const int32_t *value,
                                const int32_t *guess)
{
    if (tuples == 0)
        return TALUS_OK;
    if (prediction == TALUS_PREDICT_BEST)
        return pack_best(packer, name, components, tuples, value);
    return pack_predicted(packer, name, components, tuples, prediction, value, guess);
}

TalusStatus talus_pack_halves(TalusPacker *packer, int name, int components, int tuples,
                              const uint16_t *value)
{
    if (tuples == 0)
        return TALUS_OK;
    TALUS_TRY(reserve_code(packer, components, tuples));
    for (size_t i = 0; i < (size_t)components * (size_t)tuples; i++)
        packer->code[i] = value[i];
    TalusArrayHead head = {.name = (uint8_t)name,
                           .type = TALUS_TYPE_BF16,
                           .components = (uint8_t)components,
                           .width = 2,
                           .tuples = (uint32_t)tuples};
    return append_code(packer, head);
}

TalusStatus talus_pack_floats(TalusPacker *packer, int name, int tuples, const float *value)
{
    if (tuples == 0)
        return TALUS_OK;
    TALUS_TRY(reserve_code(packer, 1, tuples));
    memcpy(packer->code, value, (size_t)tuples * sizeof *value);
    TalusArrayHead head = {.name = (uint8_t)name,
                           .type = TALUS_TYPE_F32,
                           .components = 1,
                           .width = 4,
                           .tuples = (uint32_t)tuples};
    return append_code(packer, head);
}

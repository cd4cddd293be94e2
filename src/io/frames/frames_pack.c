/* io/frames/frames_pack.c - packs arrays into a chunk; frames_unpack.c is the inverse. Integers become differences from
 * predictions, coded by zigzag (small codes for small numbers of either sign). Every array is split into byte planes
 * (for each component the lowest bytes of all tuples, then the next bytes) and deflated.
 *
 * Prediction and planes are parallel over values and tuples. Deflate is parallel over arrays only: a stream divided
 * among threads would have other bytes. */
#include "base/crc.h"
#include "base/deflate.h"
#include "base/memory.h"
#include "io/frames/frames.h"

#include <stdatomic.h>
#include <string.h>

/* LEVEL: level of deflate in frames, where only runs of one byte are searched for: byte planes of frames are noise or
 * such runs, and a search for other repeats would cost time and gain nothing. THOROUGH: level in HEADs, where any
 * repeats are searched for. Arrays below LEAST_DEFLATED bytes are stored. GRAIN: values or tuples per chunk of parallel
 * loops. */
enum { LEVEL = 1, THOROUGH = 6, LEAST_DEFLATED = 64, GRAIN = 16384 };

const char *talus_array_name(int name)
{
#define NAME(number, name) [TALUS_ARRAY_##number] = name,
    static const char *const names[TALUS_ARRAYS] = {TALUS_ARRAY_TABLE(NAME)};
    return name > 0 && name < TALUS_ARRAYS ? names[name] : "unknown";
}

uint32_t talus_chunk_crc(const TalusChunk *chunk, const void *payload)
{
    uint32_t crc = talus_crc32(0, chunk, offsetof(TalusChunk, crc));
    return talus_crc32(crc, payload, chunk->size);
}

/* ---- numbers ---- */

uint16_t talus_to_bfloat16(double value, int drop)
{
    float single =
        (float)fmin(fmax(value, -3.0e38), 3.0e38); /* so that rounding cannot give infinity */
    uint32_t bits;
    int low = 16 + drop;
    memcpy(&bits, &single, sizeof bits);
    if (isnan(value))
        return 0x7fc0;
    bits += (UINT32_C(1) << (low - 1)) - 1 + (bits >> low & 1);
    return (uint16_t)(bits >> low << drop);
}

double talus_from_bfloat16(uint16_t half)
{
    uint32_t bits = (uint32_t)half << 16;
    float single;
    memcpy(&single, &bits, sizeof single);
    return single;
}

/* Maps the differences 0, -1, 1, -2, ... to the codes 0, 1, 2, 3, ... */
static uint32_t zigzag(uint32_t difference)
{
    return difference << 1 ^ (difference >> 31 ? UINT32_MAX : 0);
}

/* ---- memory of the chunk ---- */

void talus_packer_clear(TalusPacker *packer)
{
    for (int i = 0; i < 2 * TALUS_ARRAYS; i++) {
        TALUS_RELEASE(packer->packed[i].plane, packer->packed[i].data);
    }
    TALUS_RELEASE(packer->bytes, packer->code);
    *packer = (TalusPacker){0};
}

TalusStatus talus_pack_bytes(TalusPacker *packer, const void *bytes, size_t size)
{
    TALUS_TRY(TALUS_GROW(packer->bytes, packer->size + size, packer->size, "frame"));
    if (bytes)
        memcpy(packer->bytes + packer->size, bytes, size);
    else
        memset(packer->bytes + packer->size, 0, size);
    packer->size += size;
    return TALUS_OK;
}

/* ---- arrays: deflated and appended ---- */

/* Task of talus_parallel: deflates the planes of the arrays [begin, end) into `data`; sets `used`, `status` and
 * head.coding, which is STORED for short arrays, where deflate would not shorten, and in builds without zlib. */
static void deflate_arrays(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    TalusPacked *packed = context;
    (void)chunk;
    for (int64_t i = begin; i < end; i++) {
        TalusPacked *a = &packed[i];
        a->status = TALUS_OK;
        a->used = a->size;
        a->head.coding = TALUS_CODING_STORED;
        if (!talus_deflate_available() || a->size < LEAST_DEFLATED)
            continue;
        a->status = talus_deflate(a->thorough ? THOROUGH : LEVEL,
                                  a->thorough ? TALUS_DEFLATE_ANY : TALUS_DEFLATE_RUNS, a->plane,
                                  a->size, a->data, talus_deflate_bound(a->size), &a->used);
        if (a->used < a->size)
            a->head.coding = TALUS_CODING_ZLIB;
        else
            a->used = a->size;
    }
}

/* Appends an array to the chunk: header, data and padding. */
static TalusStatus append_packed(TalusPacker *p, TalusPacked *a)
{
    if (a->used > UINT32_MAX)
        return talus_fail_key(talus_array_name(a->head.name), TALUS_ERR_UNSUPPORTED,
                              "%zu bytes; an array of a frame holds 4 GiB", a->used);
    a->head.bytes = (uint32_t)a->used;
    p->arrays++;
    TALUS_TRY(talus_pack_bytes(p, &a->head, sizeof a->head));
    TALUS_TRY(
        talus_pack_bytes(p, a->head.coding == TALUS_CODING_ZLIB ? a->data : a->plane, a->used));
    return talus_pack_bytes(p, NULL, -a->used & 7);
}

/* Rounds up to a multiple of 8: the bytes that an array's data take in a chunk. */
static size_t round_up_to_8(size_t size)
{
    return (size + 7) / 8 * 8;
}

TalusStatus talus_packer_append_arrays(TalusPacker *p)
{
    talus_parallel(p->pool, p->packed_count, 1, deflate_arrays, p->packed);
    for (int i = 0; i < p->packed_count; i++) /* a worker's error message stays in its own thread */
        if (p->packed[i].status != TALUS_OK)
            return talus_fail(p->packed[i].status, "frames: %s: out of memory for deflating",
                              talus_array_name(p->packed[i].head.name));
    for (int i = 0; i < p->packed_count; i++) {
        TalusPacked *a = &p->packed[i], *next = a + 1;
        if (i + 1 < p->packed_count && next->alternative) {
            a = round_up_to_8(next->used) < round_up_to_8(a->used) ? next : a;
            i++;
        }
        TALUS_TRY(append_packed(p, a));
    }
    p->packed_count = 0;
    return TALUS_OK;
}

/* ---- arrays: added ---- */

/* Writes byte `shift / 8` of component `c` of the codes of tuples [begin, end) into the plane of that byte. */
static void fill_plane(unsigned char *plane, const uint32_t *code, size_t components, size_t begin,
                       size_t end, size_t c, int shift)
{
    for (size_t i = begin; i < end; i++)
        plane[i] = (unsigned char)(code[i * components + c] >> shift);
}

/* Context of fill_planes. */
typedef struct Planes {
    const uint32_t *code;
    const TalusPacked *packed;
} Planes;

/* Task of talus_parallel: fills all planes of an array for the tuples [begin, end). */
static void fill_planes(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Planes *p = context;
    const TalusArrayHead *head = &p->packed->head;
    unsigned char *plane = p->packed->plane;
    (void)chunk;
    for (int c = 0; c < head->components; c++)
        for (int byte = 0; byte < head->width; byte++, plane += head->tuples)
            fill_plane(plane, p->code, head->components, (size_t)begin, (size_t)end, (size_t)c,
                       8 * byte);
}

/* Splits p->code into the byte planes of a new entry of p->packed. `alternative`: the entry has the values of the one
 * before it with another prediction; only the shorter of the two gets into the chunk. */
static TalusStatus add_packed(TalusPacker *p, TalusArrayHead head, bool alternative)
{
    TalusPacked *a = &p->packed[p->packed_count];
    size_t size = (size_t)head.tuples * head.components * head.width;
    TALUS_TRY(TALUS_GROW(a->plane, size, 0, "frame"));
    if (talus_deflate_available() && size >= LEAST_DEFLATED)
        TALUS_TRY(TALUS_GROW(a->data, talus_deflate_bound(size), 0, "frame"));
    a->head = head;
    a->alternative = alternative;
    a->thorough = p->thorough;
    a->size = size;
    Planes planes = {p->code, a};
    talus_parallel(p->pool, head.tuples, GRAIN, fill_planes, &planes);
    p->packed_count++;
    return TALUS_OK;
}

static TalusArrayHead make_array_head(int name, int type, int components, int tuples, int width)
{
    return (TalusArrayHead){.name = (uint8_t)name,
                            .type = (uint8_t)type,
                            .components = (uint8_t)components,
                            .width = (uint8_t)width,
                            .tuples = (uint32_t)tuples};
}

/* Returns the prediction of value i, which is subtracted before coding. */
static uint32_t predict_value(TalusPrediction prediction, const int32_t *value,
                              const int32_t *guess, size_t i, size_t components)
{
    switch (prediction) {
    case TALUS_PREDICT_TUPLE: return i < components ? 0 : (uint32_t)value[i - components];
    case TALUS_PREDICT_BODY: return (uint32_t)guess[i];
    default: return 0;
    }
}

/* Context of fill_codes. */
typedef struct Codes {
    uint32_t *code;
    TalusPrediction prediction;
    const int32_t *value, *guess;
    size_t components;
    atomic_uint all; /* OR of all codes; gives the width of the array: 1, 2 or 4 bytes */
} Codes;

/* Task of talus_parallel: fills the codes of the values [begin, end). */
static void fill_codes(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    Codes *c = context;
    uint32_t all = 0;
    (void)chunk;
    for (size_t i = (size_t)begin; i < (size_t)end; i++) {
        uint32_t from = predict_value(c->prediction, c->value, c->guess, i, c->components);
        c->code[i] = zigzag((uint32_t)c->value[i] - from);
        all |= c->code[i];
    }
    atomic_fetch_or(&c->all, all);
}

/* Adds integers with a prediction that a file can have (not BEST). `alternative` as for add_packed. */
static TalusStatus pack_predicted(TalusPacker *packer, int name, int components, int tuples,
                                  TalusPrediction prediction, const int32_t *value,
                                  const int32_t *guess, bool alternative)
{
    TALUS_TRY(TALUS_GROW(packer->code, (size_t)components * (size_t)tuples, 0, "frame"));
    Codes codes = {.code = packer->code,
                   .prediction = prediction,
                   .value = value,
                   .guess = guess,
                   .components = (size_t)components};
    talus_parallel(packer->pool, (int64_t)components * tuples, GRAIN, fill_codes, &codes);
    uint32_t all = atomic_load(&codes.all);
    TalusArrayHead head = make_array_head(name, TALUS_TYPE_INTEGER, components, tuples,
                                          all > 0xffff ? 4
                                          : all > 0xff ? 2
                                                       : 1);
    head.prediction = (uint8_t)prediction;
    return add_packed(packer, head, alternative);
}

TalusStatus talus_pack_integers(TalusPacker *packer, int name, int components, int tuples,
                                TalusPrediction prediction, const int32_t *value,
                                const int32_t *guess)
{
    if (tuples == 0)
        return TALUS_OK;
    bool best = prediction == TALUS_PREDICT_BEST;
    TALUS_TRY(pack_predicted(packer, name, components, tuples,
                             best ? TALUS_PREDICT_NONE : prediction, value, guess, false));
    /* Which prediction is shorter is known only after deflate, so both are packed: twice the work, in key frames and
     * for new bodies only. */
    return best ? pack_predicted(packer, name, components, tuples, TALUS_PREDICT_TUPLE, value, NULL,
                                 true)
                : TALUS_OK;
}

TalusStatus talus_pack_bfloat16(TalusPacker *packer, int name, int components, int tuples,
                                const uint16_t *value)
{
    size_t count = (size_t)components * (size_t)tuples;
    if (tuples == 0)
        return TALUS_OK;
    TALUS_TRY(TALUS_GROW(packer->code, count, 0, "frame"));
    for (size_t i = 0; i < count; i++) {
        packer->code[i] = value[i];
        if ((value[i] & 0x7f80) == 0x7f80) /* readers would refuse the frame */
            return talus_fail(TALUS_ERR_NUMERIC, "frames: a value of %s is not finite",
                              talus_array_name(name));
    }
    return add_packed(packer, make_array_head(name, TALUS_TYPE_BF16, components, tuples, 2), false);
}

TalusStatus talus_pack_floats(TalusPacker *packer, int name, int components, int tuples,
                              const float *value)
{
    size_t count = (size_t)components * (size_t)tuples;
    if (tuples == 0)
        return TALUS_OK;
    TALUS_TRY(TALUS_GROW(packer->code, count, 0, "frame"));
    memcpy(packer->code, value, count * sizeof *value);
    return add_packed(packer, make_array_head(name, TALUS_TYPE_F32, components, tuples, 4), false);
}

/* The planes of a double are those of its lower half, then those of its upper half. */
TalusStatus talus_pack_doubles(TalusPacker *packer, int name, int components, int tuples,
                               const double *value)
{
    const size_t count = (size_t)components * (size_t)tuples;
    if (tuples == 0)
        return TALUS_OK;
    TALUS_TRY(TALUS_GROW(packer->code, 2 * count, 0, "frame"));
    for (size_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &value[i], sizeof bits);
        packer->code[2 * i] = (uint32_t)bits;
        packer->code[2 * i + 1] = (uint32_t)(bits >> 32);
        if (!isfinite(value[i])) /* readers would refuse the frame */
            return talus_fail(TALUS_ERR_NUMERIC, "frames: a value of %s is not finite",
                              talus_array_name(name));
    }
    TALUS_TRY(add_packed(packer, make_array_head(name, TALUS_TYPE_F64, 2 * components, tuples, 4),
                         false));
    TalusArrayHead *head = &packer->packed[packer->packed_count - 1].head;
    head->components = (uint8_t)components;
    head->width = 8;
    return TALUS_OK;
}

/* io/frames/frames_exact.c - EXAC chunks: all numbers of a snapshot, bit by bit, with all contacts.
 *
 * The chunk stands before the frame that it belongs to and needs no other one. Its payload is that of a frame: counts, arrays,
 * zeros. Reals are doubles in byte planes; signs, exponents and the upper digits, which neighbours share, deflate well, the
 * lower digits are noise. */
#include "base/memory.h"
#include "io/frames/frames.h"

#include <string.h>

/* An array of reals of a snapshot: `components` of them for each body. */
typedef struct Reals {
    int name, components;
    size_t pointer; /* offset of the array pointer in TalusSnapshot */
} Reals;

/* An array of integers, one for each body. */
typedef struct Integers {
    int name;
    size_t pointer;
} Integers;

/* Reals of a contact, at an offset in TalusContactState. */
typedef struct ContactReals {
    int name, components;
    size_t offset;
} ContactReals;

static const Reals body_reals[] = {
    {TALUS_ARRAY_POSITION, 3, offsetof(TalusSnapshot, position)},
    {TALUS_ARRAY_ORIENTATION, 4, offsetof(TalusSnapshot, orientation)},
    {TALUS_ARRAY_VELOCITY, 3, offsetof(TalusSnapshot, velocity)},
    {TALUS_ARRAY_SPIN, 3, offsetof(TalusSnapshot, spin)},
    {TALUS_ARRAY_RADIUS, 1, offsetof(TalusSnapshot, radius)},
    {TALUS_ARRAY_MASS, 1, offsetof(TalusSnapshot, mass)},
    {TALUS_ARRAY_FORCE, 1, offsetof(TalusSnapshot, force)},
};

static const Integers body_integers[] = {
    {TALUS_ARRAY_SHAPE, offsetof(TalusSnapshot, shape)},
    {TALUS_ARRAY_MATERIAL, offsetof(TalusSnapshot, material)},
    {TALUS_ARRAY_TAG, offsetof(TalusSnapshot, tag)},
    {TALUS_ARRAY_TOUCHING, offsetof(TalusSnapshot, touching)},
};

static const ContactReals contact_reals[] = {
    {TALUS_ARRAY_CONTACT_POINT, 3, offsetof(TalusContactState, point)},
    {TALUS_ARRAY_CONTACT_NORMAL, 3, offsetof(TalusContactState, normal)},
    {TALUS_ARRAY_CONTACT_IMPULSE, 3, offsetof(TalusContactState, impulse)},
    {TALUS_ARRAY_CONTACT_GAP, 1, offsetof(TalusContactState, gap)},
};

#define COUNT(table) (int)(sizeof(table) / sizeof *(table))

_Static_assert(sizeof(TalusVec3) == 3 * sizeof(double) && sizeof(TalusQuat) == 4 * sizeof(double),
               "vectors and quaternions are arrays of doubles");
_Static_assert(sizeof(int) == sizeof(int32_t), "integers of a snapshot have 32 bits");

/* Returns the array of the snapshot at an offset. */
static void *array_at(const TalusSnapshot *s, size_t pointer)
{
    void *array;
    memcpy(&array, (const char *)s + pointer, sizeof array);
    return array;
}

/* ---- writing ---- */

/* Work space: the numbers of an array. */
typedef struct Values {
    int32_t *integer;
    double *real;
} Values;

static TalusStatus check_snapshot(const TalusSnapshot *s)
{
    const unsigned needed = TALUS_EXACT_FIELDS & ~(unsigned)TALUS_SNAPSHOT_DISSIPATED;
    if ((s->fields & needed) != needed)
        return talus_reject("frames: the snapshot has fields %#x; exact frames need %#x", s->fields,
                            needed);
    if (s->body_count > TALUS_FRAMES_COUNT_MAX || s->contact_count > TALUS_FRAMES_COUNT_MAX)
        return talus_fail(TALUS_ERR_UNSUPPORTED,
                          "frames: %d bodies and %d contacts; a frame holds at most %d of each",
                          s->body_count, s->contact_count, TALUS_FRAMES_COUNT_MAX);
    for (int i = 1; i < s->body_count; i++)
        if (s->id[i].number <= s->id[i - 1].number)
            return talus_reject("frames: the numbers of the snapshot's bodies do not ascend");
    for (int i = 0; i < s->contact_count; i++)
        if (s->contact_a[i] < 0 || s->contact_b[i] < 0)
            return talus_reject("frames: a body of contact %d is not in the snapshot", i);
    return TALUS_OK;
}

/* Packs the differences of ids from those before, as two halves of 32 bits, low half first. */
static TalusStatus pack_numbers(TalusPacker *p, const TalusSnapshot *s, int32_t *value)
{
    for (int i = 0; i < s->body_count; i++) {
        const uint64_t step = s->id[i].number - talus_frame_predict_number(NULL, 0, s->id, i);
        value[2 * i] = (int32_t)(uint32_t)step;
        value[2 * i + 1] = (int32_t)(uint32_t)(step >> 32);
    }
    return talus_pack_integers(p, TALUS_ARRAY_NUMBER, 2, s->body_count, TALUS_PREDICT_NONE, value,
                               NULL);
}

static TalusStatus pack_bodies(TalusPacker *p, const TalusSnapshot *s, int32_t *value)
{
    const int n = s->body_count;
    TALUS_TRY(pack_numbers(p, s, value));
    for (int k = 0; k < COUNT(body_reals); k++)
        TALUS_TRY(talus_pack_doubles(p, body_reals[k].name, body_reals[k].components, n,
                                     array_at(s, body_reals[k].pointer)));
    for (int k = 0; k < COUNT(body_integers); k++)
        TALUS_TRY(talus_pack_integers(p, body_integers[k].name, 1, n, TALUS_PREDICT_NONE,
                                      array_at(s, body_integers[k].pointer), NULL));
    for (int i = 0; i < n; i++)
        value[i] = s->fixed[i];
    return talus_pack_integers(p, TALUS_ARRAY_FIXED, 1, n, TALUS_PREDICT_NONE, value, NULL);
}

static TalusStatus pack_contacts(TalusPacker *p, const TalusSnapshot *s, const Values *v)
{
    const int n = s->contact_count;
    TALUS_TRY(talus_pack_integers(p, TALUS_ARRAY_CONTACT_A, 1, n, TALUS_PREDICT_TUPLE, s->contact_a,
                                  NULL));
    for (int i = 0; i < n; i++)
        v->integer[i] = s->contact_b[i] - s->contact_a[i];
    TALUS_TRY(
        talus_pack_integers(p, TALUS_ARRAY_CONTACT_B, 1, n, TALUS_PREDICT_NONE, v->integer, NULL));
    for (int k = 0; k < COUNT(contact_reals); k++) {
        const size_t width = (size_t)contact_reals[k].components;
        for (int i = 0; i < n; i++)
            memcpy(v->real + (size_t)i * width,
                   (const char *)&s->contact[i] + contact_reals[k].offset, width * sizeof *v->real);
        TALUS_TRY(talus_pack_doubles(p, contact_reals[k].name, (int)width, n, v->real));
    }
    return TALUS_OK;
}

static TalusStatus encode(TalusPacker *p, const TalusSnapshot *s, Values *v)
{
    const int n = s->body_count, m = s->contact_count;
    const size_t integers = 2 * (size_t)n > (size_t)m ? 2 * (size_t)n : (size_t)m;
    TalusFrameHead head = {.bodies = (uint32_t)n, .contacts = (uint32_t)m};
    TALUS_TRY(TALUS_ALLOC(v->integer, integers, "exact frame"));
    TALUS_TRY(TALUS_ALLOC(v->real, 3 * (size_t)m, "exact frame"));
    TALUS_TRY(talus_packer_open_chunk(p));
    TALUS_TRY(pack_bodies(p, s, v->integer));
    TALUS_TRY(pack_contacts(p, s, v));
    TALUS_TRY(talus_pack_doubles(p, TALUS_ARRAY_LENGTH, 1, 1, &s->length));
    if (s->dissipated)
        TALUS_TRY(talus_pack_doubles(p, TALUS_ARRAY_DISSIPATED, 1, n, s->dissipated));
    TALUS_TRY(talus_packer_append_arrays(p));
    TALUS_TRY(talus_packer_pad_payload(p, n, m));
    head.arrays = p->arrays;
    return talus_packer_close_chunk(
        p, (TalusChunk){.kind = TALUS_CHUNK_EXACT, .time = s->time, .step = s->step}, &head);
}

TalusStatus talus_frame_encode_exact(TalusPacker *packer, const TalusSnapshot *snapshot)
{
    Values values = {0};
    TalusStatus status = check_snapshot(snapshot);
    TALUS_THEN(status, encode(packer, snapshot, &values));
    TALUS_RELEASE(values.integer, values.real);
    return status;
}

/* ---- reading ---- */

/* Fails if the payload cannot hold so many contacts; bodies have been checked. */
static TalusStatus check_contacts(const TalusFrameHead *head, size_t size)
{
    if (head->contacts <= (uint64_t)size * TALUS_FRAMES_PER_BYTE &&
        head->contacts <= TALUS_FRAMES_COUNT_MAX)
        return TALUS_OK;
    return talus_fail(TALUS_ERR_FORMAT,
                      "claims %u contacts in %zu bytes; there may be %d to a byte, and at most %d",
                      head->contacts, size, TALUS_FRAMES_PER_BYTE, TALUS_FRAMES_COUNT_MAX);
}

static TalusStatus unpack_numbers(TalusUnpacker *u, TalusSnapshot *s, int32_t *value)
{
    TALUS_TRY(talus_unpack_integers(u, TALUS_ARRAY_NUMBER, 2, s->body_count, NULL, value));
    for (int i = 0; i < s->body_count; i++) {
        const uint64_t step = (uint32_t)value[2 * i] | (uint64_t)(uint32_t)value[2 * i + 1] << 32;
        s->id[i].number = talus_frame_predict_number(NULL, 0, s->id, i) + step;
        if (i > 0 && s->id[i].number <= s->id[i - 1].number)
            return talus_fail(TALUS_ERR_FORMAT, "the numbers of its bodies do not ascend");
    }
    return TALUS_OK;
}

/* Fails if a shape or material is not in the head. */
static TalusStatus check_bodies(const TalusSnapshot *s, const TalusFramesHead *head)
{
    for (int i = 0; i < s->body_count; i++)
        if (s->shape[i] < 0 || s->shape[i] >= head->shape_count || s->material[i] < 0 ||
            s->material[i] >= head->material_count)
            return talus_fail(TALUS_ERR_FORMAT,
                              "body %llu has shape %d and material %d, which the head lacks",
                              (unsigned long long)s->id[i].number, s->shape[i], s->material[i]);
    return TALUS_OK;
}

static TalusStatus unpack_bodies(TalusUnpacker *u, TalusSnapshot *s, int32_t *value)
{
    const int n = s->body_count;
    TALUS_TRY(unpack_numbers(u, s, value));
    for (int k = 0; k < COUNT(body_reals); k++)
        TALUS_TRY(talus_unpack_doubles(u, body_reals[k].name, body_reals[k].components, n,
                                       array_at(s, body_reals[k].pointer)));
    for (int k = 0; k < COUNT(body_integers); k++)
        TALUS_TRY(talus_unpack_integers(u, body_integers[k].name, 1, n, NULL,
                                        array_at(s, body_integers[k].pointer)));
    TALUS_TRY(talus_unpack_integers(u, TALUS_ARRAY_FIXED, 1, n, NULL, value));
    for (int i = 0; i < n; i++) {
        s->fixed[i] = value[i] != 0;
        s->speed[i] = talus_norm(s->velocity[i]);
    }
    return TALUS_OK;
}

/* Sets the bodies of the contacts from their rows. */
static TalusStatus place_contacts(TalusSnapshot *s)
{
    for (int i = 0; i < s->contact_count; i++) {
        const int64_t a = s->contact_a[i], b = a + s->contact_b[i];
        if (a < 0 || b < 0 || a >= s->body_count || b >= s->body_count)
            return talus_fail(TALUS_ERR_FORMAT, "contact %d is of rows %lld and %lld of %d", i,
                              (long long)a, (long long)b, s->body_count);
        s->contact_b[i] = (int)b;
        s->contact[i].a = s->id[a];
        s->contact[i].b = s->id[b];
    }
    return TALUS_OK;
}

static TalusStatus unpack_contacts(TalusUnpacker *u, TalusSnapshot *s, double *value)
{
    const int n = s->contact_count;
    TALUS_TRY(talus_unpack_integers(u, TALUS_ARRAY_CONTACT_A, 1, n, NULL, s->contact_a));
    TALUS_TRY(talus_unpack_integers(u, TALUS_ARRAY_CONTACT_B, 1, n, NULL, s->contact_b));
    for (int k = 0; k < COUNT(contact_reals); k++) {
        const size_t width = (size_t)contact_reals[k].components;
        TALUS_TRY(talus_unpack_doubles(u, contact_reals[k].name, (int)width, n, value));
        for (int i = 0; i < n; i++)
            memcpy((char *)&s->contact[i] + contact_reals[k].offset, value + (size_t)i * width,
                   width * sizeof *value);
    }
    return place_contacts(s);
}

static TalusStatus decode(TalusUnpacker *u, const TalusFramesHead *head, TalusSnapshot *s,
                          Values *v)
{
    const unsigned without = u->array[TALUS_ARRAY_DISSIPATED].data ? 0 : TALUS_SNAPSHOT_DISSIPATED;
    TALUS_TRY(talus_snapshot_resize(s, TALUS_EXACT_FIELDS & ~without, (int)u->head.bodies,
                                    (int)u->head.contacts));
    TALUS_TRY(TALUS_ALLOC(v->integer, 2 * (size_t)s->body_count, "exact frame"));
    TALUS_TRY(TALUS_ALLOC(v->real, 3 * (size_t)s->contact_count, "exact frame"));
    TALUS_TRY(unpack_bodies(u, s, v->integer));
    TALUS_TRY(check_bodies(s, head));
    TALUS_TRY(unpack_contacts(u, s, v->real));
    talus_snapshot_place_branches(s, &head->period);
    TALUS_TRY(talus_unpack_doubles(u, TALUS_ARRAY_LENGTH, 1, 1, &s->length));
    return s->dissipated
               ? talus_unpack_doubles(u, TALUS_ARRAY_DISSIPATED, 1, s->body_count, s->dissipated)
               : TALUS_OK;
}

TalusStatus talus_frame_decode_exact(TalusUnpacker *unpacker, const TalusFramesHead *head,
                                     const TalusChunk *chunk, const unsigned char *payload,
                                     TalusSnapshot *snapshot)
{
    Values values = {0};
    TALUS_TRY(talus_unpacker_locate_frame_arrays(unpacker, payload, (size_t)chunk->size));
    TALUS_TRY(check_contacts(&unpacker->head, (size_t)chunk->size));
    const TalusStatus status = decode(unpacker, head, snapshot, &values);
    TALUS_RELEASE(values.integer, values.real);
    if (status != TALUS_OK) {
        talus_snapshot_free(snapshot);
        return status;
    }
    snapshot->time = chunk->time;
    snapshot->step = chunk->step;
    snapshot->contact_total = snapshot->contact_count;
    return TALUS_OK;
}

/* io/frames/frames_decode.c - decoding of a FRAM chunk into a snapshot; inverse of frames_encode.c. */
#include "base/memory.h"
#include "collide/period.h"
#include "io/frames/frames.h"
#include "world/ids.h"

#include <inttypes.h>
#include <string.h>

void talus_frame_decoder_clear(TalusFrameDecoder *d)
{
    talus_unpacker_clear(&d->unpacker);
    TALUS_RELEASE(d->match, d->value, d->guess, d->half, d->real);
    *d = (TalusFrameDecoder){0};
}

/* Allocates d->value and d->guess for `count` numbers each. */
static TalusStatus reserve_values(TalusFrameDecoder *d, size_t count)
{
    TALUS_TRY(TALUS_GROW(d->value, count, 0, "frame"));
    return TALUS_GROW(d->guess, count, 0, "frame");
}

/* ---- the quantised frame ---- */

/* Reads the ids of the bodies into now->id. The file has their differences from predicted numbers, as two halves of 32
 * bits, low half first. Sets d->match[i] to the row of body i in the frame `before`, -1 for a new body. In a key frame
 * `before` is NULL, and all bodies are new. */
static TalusStatus unpack_numbers(TalusFrameDecoder *d, const TalusFrameState *before,
                                  TalusFrameState *now)
{
    uint64_t newest = before ? talus_frame_largest_number(before) : 0;
    TALUS_TRY(
        talus_unpack_integers(&d->unpacker, TALUS_ARRAY_NUMBER, 2, now->count, NULL, d->value));
    for (int i = 0, row = 0; i < now->count; i++) {
        uint64_t step = (uint64_t)(uint32_t)d->value[2 * i + 1] << 32 | (uint32_t)d->value[2 * i];
        uint64_t number = talus_frame_predict_number(before, row, now->id, i) + step;
        now->id[i] = (TalusBodyId){number};
        if (number == 0 || number >= TALUS_ID_LIMIT ||
            !talus_frame_match_body(before, newest, now->id[i], &row, &d->match[i]))
            return talus_fail(TALUS_ERR_FORMAT,
                              "number: row %d has %" PRIu64
                              "; expected one of the frame before, in "
                              "its order, or a new one",
                              i, number);
    }
    return TALUS_OK;
}

/* Returns the slot of a body of versions 1 and 2, whose id is by talus_id_from_generation: the low 32 bits of number
 * - 1. */
static uint32_t slot_in_old_id(TalusBodyId id)
{
    return (uint32_t)(id.number - 1);
}

/* As unpack_numbers, for frames of versions 1 and 2. They have arrays INDEX, the slot of each body, in ascending order,
 * and GENERATION, how often the slot has been used so far, from 1. A body is new if `before` lacks its id. */
static TalusStatus unpack_slots(TalusFrameDecoder *d, const TalusFrameState *before,
                                TalusFrameState *now)
{
    int n = now->count;
    TALUS_TRY(talus_unpack_integers(&d->unpacker, TALUS_ARRAY_INDEX, 1, n, NULL, d->value));
    TALUS_TRY(talus_unpack_integers(&d->unpacker, TALUS_ARRAY_GENERATION, 1, n, NULL, d->guess));
    for (int i = 0, row = 0; i < n; i++) {
        uint32_t slot = (uint32_t)d->value[i];
        now->id[i] = (TalusBodyId){talus_id_from_generation(slot, (uint32_t)d->guess[i])};
        if (i > 0 && slot <= (uint32_t)d->value[i - 1])
            return talus_fail(TALUS_ERR_FORMAT, "index: %u comes after %u; expected ascending",
                              slot, (uint32_t)d->value[i - 1]);
        while (before && row < before->count && slot_in_old_id(before->id[row]) < slot)
            row++;
        bool same = before && row < before->count && before->id[row].number == now->id[i].number;
        d->match[i] = same ? row : -1;
    }
    return TALUS_OK;
}

/* Reads the positions, which are stored as differences from those of `before`; NULL: as they are. */
static TalusStatus unpack_positions(TalusFrameDecoder *d, const TalusFrameState *before,
                                    TalusFrameState *now)
{
    for (int i = 0; before && i < now->count; i++)
        for (int k = 0; k < 3; k++)
            d->guess[3 * i + k] = d->match[i] < 0 ? 0 : before->position[d->match[i]][k];
    return talus_unpack_integers(&d->unpacker, TALUS_ARRAY_POSITION, 3, now->count,
                                 before ? d->guess : NULL, &now->position[0][0]);
}

/* A property that does not change during a body's life. A frame stores it for new bodies only. */
typedef struct Constant {
    int name;       /* TALUS_ARRAY_* */
    int32_t limit;  /* largest valid value, the least is 0; tags may have any value */
    size_t pointer; /* offset of the array pointer in TalusFrameState */
    bool bytes;     /* true: the array has uint8_t; false: int32_t */
} Constant;

/* Sets a constant of all bodies of `now`: read for the `count` new ones (match -1), copied from `before` for others. */
static TalusStatus unpack_constant(TalusFrameDecoder *d, const Constant *constant, int count,
                                   const TalusFrameState *before, TalusFrameState *now)
{
    const void *old = NULL;
    void *out;
    if (before)
        memcpy(&old, (const char *)before + constant->pointer, sizeof old);
    memcpy(&out, (char *)now + constant->pointer, sizeof out);
    TALUS_TRY(talus_unpack_integers(&d->unpacker, constant->name, 1, count, NULL, d->value));
    for (int i = 0, next = 0; i < now->count; i++) {
        int row = d->match[i];
        int32_t value = row < 0           ? d->value[next++]
                        : constant->bytes ? ((const uint8_t *)old)[row]
                                          : ((const int32_t *)old)[row];
        /* Old bodies are checked too: a damaged file may have another head than at the frame before. */
        if (constant->name != TALUS_ARRAY_TAG && (value < 0 || value > constant->limit))
            return talus_fail_key(talus_array_name(constant->name), TALUS_ERR_FORMAT,
                                  "%d; expected 0 to %d", value, constant->limit);
        if (constant->bytes)
            ((uint8_t *)out)[i] = (uint8_t)value;
        else
            ((int32_t *)out)[i] = value;
    }
    return TALUS_OK;
}

/* Sets the radii of all bodies of `now`: read for the `count` new ones, copied from `before` for others. */
static TalusStatus unpack_radii(TalusFrameDecoder *d, int count, const TalusFrameState *before,
                                TalusFrameState *now)
{
    TALUS_TRY(TALUS_GROW(d->real, (size_t)count, 0, "frame"));
    TALUS_TRY(talus_unpack_floats(&d->unpacker, TALUS_ARRAY_RADIUS, 1, count, d->real));
    for (int i = 0, next = 0; i < now->count; i++) {
        now->radius[i] = d->match[i] < 0 ? d->real[next++] : before->radius[d->match[i]];
        if (!(now->radius[i] >= 0.0f))
            return talus_fail(TALUS_ERR_FORMAT, "radius: %g; expected 0 or more",
                              (double)now->radius[i]);
    }
    return TALUS_OK;
}

/* Sets the properties that bodies keep for life: radius, shape, material, tag, fixed, layer. */
static TalusStatus unpack_constants(TalusFrameDecoder *d, const TalusFramesHead *head,
                                    const TalusFrameState *before, TalusFrameState *now)
{
    const Constant constant[] = {
        {TALUS_ARRAY_SHAPE, head->shape_count - 1, offsetof(TalusFrameState, shape), false},
        {TALUS_ARRAY_MATERIAL, head->material_count - 1, offsetof(TalusFrameState, material),
         false},
        {TALUS_ARRAY_TAG, 0, offsetof(TalusFrameState, tag), false},
        {TALUS_ARRAY_FIXED, 1, offsetof(TalusFrameState, fixed), true},
        {TALUS_ARRAY_LAYER, 255, offsetof(TalusFrameState, layer), true},
    };
    int count = 0;
    for (int i = 0; i < now->count; i++)
        count += d->match[i] < 0;
    TALUS_TRY(unpack_radii(d, count, before, now));
    for (size_t i = 0; i < sizeof constant / sizeof *constant; i++)
        TALUS_TRY(unpack_constant(d, &constant[i], count, before, now));
    return TALUS_OK;
}

/* Copies a quantised quaternion; fails if a component is out of range or all are 0. */
static TalusStatus copy_orientation(const int32_t *value, int16_t out[4])
{
    int64_t norm2 = 0;
    for (int k = 0; k < 4; k++) {
        if (value[k] < -32767 || value[k] > 32767)
            return talus_fail(TALUS_ERR_FORMAT, "orientation: %d; expected -32767 to 32767",
                              value[k]);
        out[k] = (int16_t)value[k];
        norm2 += (int64_t)value[k] * value[k];
    }
    return norm2 > 0 ? TALUS_OK : talus_fail(TALUS_ERR_FORMAT, "orientation: a quaternion is 0");
}

/* Reads the orientations of bodies that are not spheres; sets those of spheres to 0. */
static TalusStatus unpack_orientations(TalusFrameDecoder *d, const TalusFramesHead *head,
                                       const TalusFrameState *before, TalusFrameState *now)
{
    int count = 0;
    for (int i = 0; i < now->count; i++) {
        memset(now->orientation[i], 0, sizeof now->orientation[i]);
        if (talus_head_shape_is_sphere(head, now->shape[i]))
            continue;
        for (int k = 0; k < 4; k++)
            d->guess[4 * count + k] = d->match[i] < 0 ? 0 : before->orientation[d->match[i]][k];
        count++;
    }
    TALUS_TRY(talus_unpack_integers(&d->unpacker, TALUS_ARRAY_ORIENTATION, 4, count,
                                    before ? d->guess : NULL, d->value));
    for (int i = 0, next = 0; i < now->count; i++)
        if (!talus_head_shape_is_sphere(head, now->shape[i]))
            TALUS_TRY(copy_orientation(&d->value[4 * next++], now->orientation[i]));
    return TALUS_OK;
}

/* Reads all of the quantised frame `now`, which has room for its bodies. `before` is NULL in a key frame. */
static TalusStatus unpack_state(TalusFrameDecoder *d, const TalusFramesHead *head,
                                const TalusFrameState *before, TalusFrameState *now)
{
    int n = now->count;
    TALUS_TRY(reserve_values(d, 4 * (size_t)n));
    TALUS_TRY(TALUS_GROW(d->match, (size_t)n, 0, "frame"));
    bool slots = d->unpacker.array[TALUS_ARRAY_INDEX].head.tuples > 0;
    TALUS_TRY((slots ? unpack_slots : unpack_numbers)(d, before, now));
    TALUS_TRY(unpack_constants(d, head, before, now));
    TALUS_TRY(unpack_positions(d, before, now));
    return unpack_orientations(d, head, before, now);
}

/* ---- the frame as a snapshot ---- */

/* Returns a quantised orientation as a unit quaternion. */
static TalusQuat quat_from_steps(const int16_t turn[4])
{
    TalusQuat q = {turn[0], turn[1], turn[2], turn[3]};
    return talus_quat_normalize(q);
}

/* Copies the quantised frame to the snapshot, as positions in m and unit quaternions. */
static void fill_bodies(const TalusFramesHead *head, const TalusFrameState *now, TalusSnapshot *s)
{
    for (int i = 0; i < now->count; i++) {
        bool sphere = talus_head_shape_is_sphere(head, now->shape[i]);
        s->id[i] = now->id[i];
        s->position[i] = talus_head_grid_point(head, now->position[i]);
        s->orientation[i] = sphere ? talus_quat_identity() : quat_from_steps(now->orientation[i]);
        s->radius[i] = now->radius[i];
        s->shape[i] = now->shape[i];
        s->material[i] = now->material[i];
        s->tag[i] = now->tag[i];
        s->fixed[i] = now->fixed[i];
        s->layer[i] = now->layer[i];
    }
}

/* Sets the speeds and, if the snapshot has them, the velocities; `half` has one or three numbers per body. */
static void fill_velocities(TalusSnapshot *s, const uint16_t *half)
{
    for (int i = 0; i < s->body_count; i++) {
        if (!s->velocity) {
            s->speed[i] = talus_from_bfloat16(half[i]);
            continue;
        }
        const uint16_t *v = &half[3 * i];
        s->velocity[i] = talus_vec3(talus_from_bfloat16(v[0]), talus_from_bfloat16(v[1]),
                                    talus_from_bfloat16(v[2]));
        s->speed[i] = talus_norm(s->velocity[i]);
    }
}

/* Makes the snapshot one without dissipated energies. */
static void drop_dissipated(TalusSnapshot *s)
{
    s->dissipated = NULL;
    s->fields &= ~(unsigned)TALUS_SNAPSHOT_DISSIPATED;
}

/* Reads the dissipated energies; a frame of a world that does not sum them, or of an older file, has none. */
static TalusStatus unpack_dissipated(TalusFrameDecoder *d, TalusSnapshot *s)
{
    const int n = s->body_count;
    if (!d->unpacker.array[TALUS_ARRAY_DISSIPATED].data)
        drop_dissipated(s);
    if (!s->dissipated)
        return TALUS_OK;
    TALUS_TRY(TALUS_GROW(d->real, (size_t)n, 0, "frame"));
    TALUS_TRY(talus_unpack_floats(&d->unpacker, TALUS_ARRAY_DISSIPATED, 1, n, d->real));
    for (int i = 0; i < n; i++)
        s->dissipated[i] = d->real[i];
    return TALUS_OK;
}

/* Reads velocities (lean: speeds), forces, dissipated energies and numbers of loaded contacts. A lean snapshot has no such
 * numbers: its
 * `touching` is set to NULL. */
static TalusStatus unpack_motion(TalusFrameDecoder *d, bool lean, TalusSnapshot *s)
{
    int n = s->body_count;
    TalusUnpacker *u = &d->unpacker;
    TALUS_TRY(TALUS_GROW(d->half, 3 * (size_t)n, 0, "frame"));
    TALUS_TRY(talus_unpack_bfloat16(u, lean ? TALUS_ARRAY_SPEED : TALUS_ARRAY_VELOCITY,
                                    lean ? 1 : 3, n, d->half));
    fill_velocities(s, d->half);
    TALUS_TRY(talus_unpack_bfloat16(u, TALUS_ARRAY_FORCE, 1, n, d->half));
    for (int i = 0; i < n; i++)
        s->force[i] = talus_from_bfloat16(d->half[i]);
    TALUS_TRY(unpack_dissipated(d, s));
    if (!lean)
        return talus_unpack_integers(u, TALUS_ARRAY_TOUCHING, 1, n, NULL, s->touching);
    s->touching = NULL;
    return TALUS_OK;
}

/* ---- chains ---- */

/* Reads the rows of both bodies of each chain (contact with more than the mean force). The file stores the second row
 * minus the first. Fails if a row is not one of a body or both are equal. */
static TalusStatus unpack_chain_rows(TalusFrameDecoder *d, TalusSnapshot *s)
{
    int count = s->contact_count;
    TalusUnpacker *u = &d->unpacker;
    TALUS_TRY(talus_unpack_integers(u, TALUS_ARRAY_CHAIN_A, 1, count, NULL, s->contact_a));
    TALUS_TRY(talus_unpack_integers(u, TALUS_ARRAY_CHAIN_B, 1, count, NULL, s->contact_b));
    for (int i = 0; i < count; i++) {
        int64_t a = s->contact_a[i], b = a + s->contact_b[i];
        if (a < 0 || a >= s->body_count || b < 0 || b >= s->body_count || a == b)
            return talus_fail(TALUS_ERR_FORMAT, "chain %d: joins bodies %lld and %lld of %d", i,
                              (long long)a, (long long)b, s->body_count);
        s->contact_b[i] = (int)b;
    }
    return TALUS_OK;
}

/* Arms of chains in a file, in grid steps, three numbers each: those that talus_chain_arm has not passed yet. */
typedef struct ChainArms {
    const int32_t *point; /* from body a to the contact point, for chains whose body b is fixed */
    const int32_t
        *end; /* from the smaller body, for chains to a large moving one; NULL: the file has none */
} ChainArms;

static TalusVec3 next_arm(const TalusFramesHead *head, const int32_t **arm)
{
    const int32_t *p = *arm;
    *arm += 3;
    return talus_scale(head->quantum, talus_vec3(p[0], p[1], p[2]));
}

/* Which of the two bodies of chain i is large and moves, as talus_chain_large_end. */
static int large_end(const TalusSnapshot *s, int i)
{
    int a = s->contact_a[i], b = s->contact_b[i];
    return s->fixed[b] ? -1 : talus_chain_large_end((float)s->radius[a], (float)s->radius[b]);
}

/* Returns the vector from the centre of body a to the contact point of chain i. If body b is fixed or one body is large,
 * the file has the point. Otherwise the contact point divides the line of centres, to the nearest image of b, in the ratio
 * of the radii; in the middle if both are 0. */
static TalusVec3 read_or_find_arm(const TalusSnapshot *s, int i, const TalusFramesHead *head,
                                  ChainArms *arms)
{
    int a = s->contact_a[i], b = s->contact_b[i], large = large_end(s, i);
    if (s->fixed[b])
        return next_arm(head, &arms->point);
    TalusVec3 between =
        talus_nearest_image_vector(&head->period, talus_sub(s->position[b], s->position[a]));
    if (arms->end && large == 1)
        return next_arm(head, &arms->end);
    if (arms->end && large == 0)
        return talus_add(between, next_arm(head, &arms->end));
    double both = s->radius[a] + s->radius[b];
    return talus_scale(both > 0.0 ? s->radius[a] / both : 0.5, between);
}

/* Reads the arms of all chains into d->value. Files from before CHAIN_END lack it, whatever their bodies. */
static TalusStatus unpack_chain_arms(TalusFrameDecoder *d, const TalusSnapshot *s, ChainArms *arms)
{
    int points = 0, ends = 0;
    bool old = d->unpacker.array[TALUS_ARRAY_CHAIN_END].head.tuples == 0;
    for (int i = 0; i < s->contact_count; i++) {
        points += s->fixed[s->contact_b[i]];
        ends += large_end(s, i) >= 0;
    }
    TALUS_TRY(reserve_values(d, 3 * ((size_t)points + (size_t)ends)));
    TALUS_TRY(
        talus_unpack_integers(&d->unpacker, TALUS_ARRAY_CHAIN_POINT, 3, points, NULL, d->value));
    if (!old)
        TALUS_TRY(talus_unpack_integers(&d->unpacker, TALUS_ARRAY_CHAIN_END, 3, ends, NULL,
                                        d->value + 3 * (size_t)points));
    *arms = (ChainArms){d->value, old ? NULL : d->value + 3 * (size_t)points};
    return TALUS_OK;
}

/* Reads the chains as the contacts of the snapshot: bodies, point, normal and normal impulse (stored force times step).
 * The normal is not stored: it is the direction from body a to the point; downward if they coincide. */
static TalusStatus unpack_chains(TalusFrameDecoder *d, const TalusFramesHead *head,
                                 TalusSnapshot *s)
{
    int count = s->contact_count;
    ChainArms arms;
    TALUS_TRY(unpack_chain_rows(d, s));
    TALUS_TRY(TALUS_GROW(d->half, (size_t)count, 0, "chains"));
    TALUS_TRY(talus_unpack_bfloat16(&d->unpacker, TALUS_ARRAY_CHAIN_FORCE, 1, count, d->half));
    TALUS_TRY(unpack_chain_arms(d, s, &arms));
    for (int i = 0; i < count; i++) {
        int a = s->contact_a[i], b = s->contact_b[i];
        TalusVec3 arm = read_or_find_arm(s, i, head, &arms);
        double length = talus_norm(arm);
        TalusVec3 normal = length > 0.0 ? talus_scale(1.0 / length, arm)
                                        : talus_neg(talus_frames_up_direction(head));
        double impulse = talus_from_bfloat16(d->half[i]) * s->length;
        s->contact[i] = (TalusContactState){.a = s->id[a],
                                            .b = s->id[b],
                                            .point = talus_add(s->position[a], arm),
                                            .normal = normal,
                                            .impulse = talus_scale(impulse, normal)};
    }
    talus_snapshot_place_branches(s, &head->period);
    return TALUS_OK;
}

/* Sets *count to the number of chains. Fails if bodies and chains exceed TALUS_FRAMES_PER_BYTE per byte of payload, or
 * if there are more chains than contacts. */
static TalusStatus count_chains(const TalusFrameDecoder *d, uint64_t payload, int *count)
{
    uint64_t chains = d->unpacker.array[TALUS_ARRAY_CHAIN_A].head.tuples;
    if (chains + d->unpacker.head.bodies > payload * TALUS_FRAMES_PER_BYTE)
        return talus_fail(TALUS_ERR_FORMAT,
                          "claims %llu chains in %llu bytes; with bodies there may be %d to a byte",
                          (unsigned long long)chains, (unsigned long long)payload,
                          TALUS_FRAMES_PER_BYTE);
    if (chains > d->unpacker.head.contacts || chains > TALUS_FRAMES_COUNT_MAX)
        return talus_fail(TALUS_ERR_FORMAT, "claims %llu chains of %u contacts",
                          (unsigned long long)chains, d->unpacker.head.contacts);
    *count = (int)chains;
    return TALUS_OK;
}

/* Allocates a snapshot of this frame. */
static TalusStatus open_snapshot(const TalusFramesHead *head, int bodies, int chains,
                                 TalusSnapshot *s)
{
    const unsigned fields = TALUS_SNAPSHOT_LAYER | talus_frame_fields(head->lean);
    TALUS_TRY(talus_snapshot_resize(s, fields, bodies, chains));
    s->length = head->step;
    return TALUS_OK;
}

/* Sets what the headers of a frame say. */
static void set_moment(TalusSnapshot *s, const TalusChunk *chunk, uint32_t contacts)
{
    s->time = chunk->time;
    s->step = chunk->step;
    s->contact_total = contacts;
}

/* Fills a snapshot from the quantised frame `now` and from the arrays of motion and chains. */
static TalusStatus fill_snapshot(TalusFrameDecoder *d, const TalusFramesHead *head,
                                 const TalusChunk *chunk, const TalusFrameState *now,
                                 TalusSnapshot *s)
{
    int chains = 0;
    TALUS_TRY(count_chains(d, chunk->size, &chains));
    TALUS_TRY(open_snapshot(head, now->count, head->lean ? 0 : chains, s));
    set_moment(s, chunk, d->unpacker.head.contacts);
    fill_bodies(head, now, s);
    TALUS_TRY(unpack_motion(d, head->lean, s));
    return head->lean ? TALUS_OK : unpack_chains(d, head, s);
}

TalusStatus talus_frame_decode(TalusFrameDecoder *decoder, const TalusFramesHead *head,
                               const TalusChunk *chunk, const unsigned char *payload,
                               const TalusFrameState *before, TalusFrameState *now,
                               TalusSnapshot *snapshot)
{
    bool key = chunk->flags & TALUS_CHUNK_KEY;
    TALUS_TRY(talus_unpacker_locate_frame_arrays(&decoder->unpacker, payload, chunk->size));
    TALUS_TRY(talus_frame_state_resize(now, (int)decoder->unpacker.head.bodies));
    TALUS_TRY(unpack_state(decoder, head, key ? NULL : before, now));
    if (!snapshot)
        return TALUS_OK;
    TalusStatus status = fill_snapshot(decoder, head, chunk, now, snapshot);
    if (status != TALUS_OK)
        talus_snapshot_free(snapshot);
    return status;
}

/* ---- frames in parts ---- */

TalusStatus talus_frame_parts_begin(TalusFrameParts *parts, const TalusFramesHead *head)
{
    if (!head->lean)
        return talus_fail(TALUS_ERR_FORMAT, "is in parts; expected of lean frames alone");
    return parts->snapshot ? open_snapshot(head, parts->now->count, 0, parts->snapshot) : TALUS_OK;
}

/* Returns the rows [first, first + count) of a lean snapshot, in its memory. */
static TalusSnapshot snapshot_rows(const TalusSnapshot *s, int first, int count)
{
    TalusSnapshot rows = *s;
    rows.body_count = count;
    rows.id += first;
    rows.position += first;
    rows.orientation += first;
    rows.radius += first;
    rows.shape += first;
    rows.material += first;
    rows.tag += first;
    rows.fixed += first;
    rows.layer += first;
    rows.speed += first;
    rows.force += first;
    if (rows.dissipated)
        rows.dissipated += first;
    return rows;
}

/* Fails if the bodies of a part are not of it, or do not ascend. */
static TalusStatus check_numbers(const TalusFrameState *now, uint32_t part)
{
    for (int i = 0; i < now->count; i++)
        if (talus_frame_part_of(now->id[i]) != part ||
            (i > 0 && now->id[i].number <= now->id[i - 1].number))
            return talus_fail(TALUS_ERR_FORMAT,
                              "number: row %d of part %u has %" PRIu64
                              "; expected ascending numbers of the part",
                              i, part, now->id[i].number);
    return TALUS_OK;
}

TalusStatus talus_frame_parts_decode(TalusFrameParts *parts, TalusFrameDecoder *decoder,
                                     const TalusFramesHead *head, const TalusChunk *chunk,
                                     const unsigned char *payload)
{
    TalusUnpacker *u = &decoder->unpacker;
    TALUS_TRY(talus_unpacker_locate_frame_arrays(u, payload, chunk->size));
    const uint32_t part = u->head.part;
    if (u->head.bodies > (uint32_t)(parts->now->count - parts->row) || part < parts->next)
        return talus_fail(
            TALUS_ERR_FORMAT,
            "part %u with %u bodies; expected one from number %lld on with at most %d", part,
            u->head.bodies, (long long)parts->next, parts->now->count - parts->row);
    const int count = (int)u->head.bodies;
    TalusFrameState now = talus_frame_state_rows(parts->now, parts->row, count), before;
    if (parts->before)
        before = talus_frame_state_part(parts->before, part, &parts->before_row);
    TALUS_TRY(unpack_state(decoder, head, parts->before ? &before : NULL, &now));
    TALUS_TRY(check_numbers(&now, part));
    if (parts->snapshot) {
        TalusSnapshot rows = snapshot_rows(parts->snapshot, parts->row, count);
        fill_bodies(head, &now, &rows);
        TALUS_TRY(unpack_motion(decoder, true, &rows));
        if (!rows.dissipated)
            drop_dissipated(parts->snapshot);
    }
    parts->row += count;
    parts->next = (int64_t)part + 1;
    return TALUS_OK;
}

TalusStatus talus_frame_parts_end(const TalusFrameParts *parts, const TalusChunk *chunk,
                                  const unsigned char *payload, int count)
{
    TalusFrameHead frame;
    if (chunk->size < sizeof frame)
        return talus_fail(TALUS_ERR_FORMAT, "has %" PRIu64 " bytes; its counts alone take %zu",
                          chunk->size, sizeof frame);
    memcpy(&frame, payload, sizeof frame);
    if (frame.part != (uint32_t)count || frame.bodies != (uint32_t)parts->row ||
        parts->row != parts->now->count)
        return talus_fail(TALUS_ERR_FORMAT, "has %d parts with %d bodies; expected %u with %u",
                          count, parts->row, frame.part, frame.bodies);
    if (parts->snapshot) {
        set_moment(parts->snapshot, chunk, frame.contacts);
        parts->snapshot->touching = NULL;
    }
    return TALUS_OK;
}

/* io/frames/frames_encode.c - encoding of a snapshot as a FRAM chunk; frames_decode.c is the inverse. */
#include "base/memory.h"
#include "collide/period.h"
#include "io/frames/frames.h"
#include "world/ids.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

enum { GRAIN = 4096 }; /* bodies per chunk of parallel loops */

void talus_frame_encoder_clear(TalusFrameEncoder *e)
{
    talus_packer_clear(&e->packer);
    talus_frame_state_clear(&e->before);
    talus_frame_state_clear(&e->now);
    TALUS_RELEASE(e->match, e->value, e->guess, e->half, e->real, e->chain);
    *e = (TalusFrameEncoder){0};
}

void talus_frame_encoder_commit(TalusFrameEncoder *e)
{
    TalusFrameState old = e->before;
    e->before = e->now;
    e->now = old;
}

/* ---- quantisation ---- */

/* Rounds to the nearest 32-bit integer; returns the end of the range and sets *clamped if x is outside of it. */
static int32_t round_and_clamp(double x, bool *clamped)
{
    double nearest = floor(x + 0.5);
    double held = fmin(fmax(nearest, INT32_MIN), INT32_MAX);
    if (held != nearest)
        *clamped = true;
    return (int32_t)held;
}

/* Sets `out` to the grid point nearest to x; true if x is outside the grid. */
static bool quantise_position(const TalusFramesHead *head, TalusVec3 x, int32_t out[3])
{
    bool clamped = false;
    out[0] = round_and_clamp((x.x - head->origin.x) / head->quantum, &clamped);
    out[1] = round_and_clamp((x.y - head->origin.y) / head->quantum, &clamped);
    out[2] = round_and_clamp((x.z - head->origin.z) / head->quantum, &clamped);
    return clamped;
}

/* Quantises an orientation to steps of 1 / 32767. q and -q are the same rotation: takes the sign nearer to `before`,
 * the body's orientation in the previous frame (NULL for a new body), so that differences are small. */
static void quantise_orientation(TalusQuat q, const int16_t *before, int16_t out[4])
{
    const double v[4] = {q.w, q.x, q.y, q.z};
    double along = 0.0;
    for (int k = 0; before && k < 4; k++)
        along += v[k] * before[k];
    double scale = along < 0.0 ? -32767.0 : 32767.0;
    bool clamped = false;
    for (int k = 0; k < 4; k++) {
        int32_t turn = round_and_clamp(scale * v[k], &clamped);
        out[k] = (int16_t)(turn > 32767 ? 32767 : turn < -32767 ? -32767 : turn);
    }
}

/* Returns a radius or an energy as stored. Lean frames keep 6 mantissa bits: the error, at most 1 / 128, is of a radius of
 * the order of the grid step or less, and the two lower bytes are 0, so that they deflate to almost nothing. */
static float quantise_real(double value, bool lean)
{
    enum { DROP = 23 - 6 };
    float single = (float)value;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    if (lean)
        bits = (bits + (UINT32_C(1) << (DROP - 1)) - 1 + (bits >> DROP & 1)) >> DROP << DROP;
    memcpy(&single, &bits, sizeof bits);
    return single;
}

/* Returns the layer of a new body: whole typical diameters above the floor, 0 to 255; 0 if the floor is NAN. */
static uint8_t layer_at(const TalusFramesHead *head, TalusVec3 position)
{
    double above =
        (talus_dot(talus_frames_up_direction(head), position) - head->floor) / (2 * head->radius);
    if (!(above > 0.0))
        return 0;
    return (uint8_t)fmin(floor(above), 255.0);
}

/* Quantises body i of the snapshot into `now`. True if it is outside the grid; its position is then clamped. The layer
 * is that of the snapshot, if it has layers, else that of the previous frame; only a new body's is computed. */
static bool quantise_body(TalusFrameEncoder *e, const TalusFramesHead *head, const TalusSnapshot *s,
                          int i)
{
    const TalusFrameState *before = &e->before;
    TalusFrameState *now = &e->now;
    int row = e->match[i];
    bool clamped = quantise_position(head, s->position[i], now->position[i]);
    if (talus_head_shape_is_sphere(head, s->shape[i]))
        memset(now->orientation[i], 0, sizeof now->orientation[i]);
    else
        quantise_orientation(s->orientation[i], row >= 0 ? before->orientation[row] : NULL,
                             now->orientation[i]);
    now->radius[i] = quantise_real(s->radius[i], head->lean);
    now->shape[i] = s->shape[i];
    now->material[i] = s->material[i];
    now->tag[i] = s->tag[i];
    now->fixed[i] = s->fixed[i];
    if (s->layer)
        now->layer[i] = (uint8_t)s->layer[i];
    else
        now->layer[i] = row >= 0 ? before->layer[row]
                                 : layer_at(head, talus_head_grid_point(head, now->position[i]));
    return clamped;
}

/* Context of quantise_bodies. */
typedef struct BodyTask {
    TalusFrameEncoder *encoder;
    const TalusFramesHead *head;
    const TalusSnapshot *snapshot;
    atomic_int clamped; /* number of bodies outside the grid */
} BodyTask;

/* Task of talus_parallel: quantises the bodies [begin, end) and counts those outside the grid. */
static void quantise_bodies(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    BodyTask *f = context;
    int clamped = 0;
    (void)chunk;
    for (int64_t i = begin; i < end; i++)
        clamped += quantise_body(f->encoder, f->head, f->snapshot, (int)i);
    atomic_fetch_add(&f->clamped, clamped);
}

/* Fails if a body has an invalid id, a shape or material that the head lacks, or a position that is not finite: readers
 * would refuse the file, and such a position has no grid point. */
static TalusStatus check_body(const TalusFramesHead *head, const TalusSnapshot *s, int i)
{
    if (s->id[i].number - 1 >= TALUS_ID_LIMIT - 1 || s->shape[i] < 0 ||
        s->shape[i] >= head->shape_count || s->material[i] < 0 ||
        s->material[i] >= head->material_count)
        return talus_reject("frames: body %d of the snapshot has id %" PRIu64
                            ", shape %d and material %d; the head has %d shapes and %d materials",
                            i, s->id[i].number, s->shape[i], s->material[i], head->shape_count,
                            head->material_count);
    if (!isfinite(talus_norm(s->position[i])))
        return talus_fail(TALUS_ERR_NUMERIC,
                          "frames: the position of body %" PRIu64 " is not finite",
                          s->id[i].number);
    return TALUS_OK;
}

/* Sets e->match[i] to the row of body i in the previous frame, -1 for a new body. False if old bodies are not in the
 * order of that frame, so that only a key frame can store them; those not found then have -1 too. */
static bool match_bodies(TalusFrameEncoder *e, const TalusSnapshot *s)
{
    uint64_t newest = talus_frame_largest_number(&e->before);
    bool ordered = true;
    for (int i = 0, row = 0; i < s->body_count; i++)
        ordered &= talus_frame_match_body(&e->before, newest, s->id[i], &row, &e->match[i]);
    return ordered;
}

/* Fills e->match and e->now from the snapshot, and e->clamped. Sets *key if only a key frame can store the bodies. */
static TalusStatus quantise_snapshot(TalusFrameEncoder *e, const TalusFramesHead *head,
                                     const TalusSnapshot *s, bool *key)
{
    int n = s->body_count;
    if (n > TALUS_FRAMES_COUNT_MAX || s->contact_count > TALUS_FRAMES_COUNT_MAX)
        return talus_fail(TALUS_ERR_UNSUPPORTED,
                          "frames: %d bodies and %d contacts; a frame holds at most %d of each", n,
                          s->contact_count, TALUS_FRAMES_COUNT_MAX);
    if (s->contact_total > UINT32_MAX)
        return talus_fail(TALUS_ERR_UNSUPPORTED, "frames: %lld contacts; a frame counts at most %u",
                          (long long)s->contact_total, UINT32_MAX);
    for (int i = 0; i < n; i++)
        TALUS_TRY(check_body(head, s, i));
    TALUS_TRY(talus_frame_state_resize(&e->now, n));
    TALUS_TRY(TALUS_GROW(e->match, (size_t)n, 0, "frame"));
    memcpy(e->now.id, s->id, (size_t)n * sizeof *s->id);
    *key |= !match_bodies(e, s);
    BodyTask task = {.encoder = e, .head = head, .snapshot = s};
    talus_parallel(e->packer.pool, n, GRAIN, quantise_bodies, &task);
    e->clamped = atomic_load(&task.clamped);
    return TALUS_OK;
}

/* ---- arrays over bodies ---- */

/* Allocates e->value and e->guess for `count` numbers each. */
static TalusStatus reserve_values(TalusFrameEncoder *e, size_t count)
{
    TALUS_TRY(TALUS_GROW(e->value, count, 0, "frame"));
    return TALUS_GROW(e->guess, count, 0, "frame");
}

/* Packs the differences of ids from talus_frame_predict_number, as two halves of 32 bits, low half first. */
static TalusStatus pack_numbers(TalusFrameEncoder *e, bool key)
{
    const TalusBodyId *id = e->now.id;
    int n = e->now.count;
    for (int i = 0, row = 0; i < n; i++) {
        uint64_t step =
            id[i].number - talus_frame_predict_number(key ? NULL : &e->before, row, id, i);
        e->value[2 * i] = (int32_t)(uint32_t)step;
        e->value[2 * i + 1] = (int32_t)(uint32_t)(step >> 32);
        if (e->match[i] >= 0)
            row = e->match[i] + 1;
    }
    return talus_pack_integers(&e->packer, TALUS_ARRAY_NUMBER, 2, n, TALUS_PREDICT_NONE, e->value,
                               NULL);
}

/* Packs positions: differences from the previous frame, of new bodies from 0; in a key frame without reference to
 * another frame. */
static TalusStatus pack_positions(TalusFrameEncoder *e, bool key)
{
    int n = e->now.count;
    for (int i = 0; !key && i < n; i++)
        for (int k = 0; k < 3; k++)
            e->guess[3 * i + k] = e->match[i] < 0 ? 0 : e->before.position[e->match[i]][k];
    return talus_pack_integers(&e->packer, TALUS_ARRAY_POSITION, 3, n,
                               key ? TALUS_PREDICT_BEST : TALUS_PREDICT_BODY,
                               &e->now.position[0][0], e->guess);
}

/* Packs the orientations of bodies that are not spheres. */
static TalusStatus pack_orientations(TalusFrameEncoder *e, const TalusFramesHead *head, bool key)
{
    int count = 0;
    for (int i = 0; i < e->now.count; i++) {
        if (talus_head_shape_is_sphere(head, e->now.shape[i]))
            continue;
        for (int k = 0; k < 4; k++) {
            int row = e->match[i];
            e->value[4 * count + k] = e->now.orientation[i][k];
            e->guess[4 * count + k] = row < 0 ? 0 : e->before.orientation[row][k];
        }
        count++;
    }
    return talus_pack_integers(&e->packer, TALUS_ARRAY_ORIENTATION, 4, count,
                               key ? TALUS_PREDICT_BEST : TALUS_PREDICT_BODY, e->value, e->guess);
}

/* Packs a property that bodies keep for life, SHAPE to LAYER: of new bodies, in a key frame of all. */
static TalusStatus pack_constant(TalusFrameEncoder *e, int name, bool key)
{
    const TalusFrameState *now = &e->now;
    int count = 0;
    for (int i = 0; i < now->count; i++) {
        if (!key && e->match[i] >= 0)
            continue;
        e->value[count++] = name == TALUS_ARRAY_SHAPE      ? now->shape[i]
                            : name == TALUS_ARRAY_MATERIAL ? now->material[i]
                            : name == TALUS_ARRAY_TAG      ? now->tag[i]
                            : name == TALUS_ARRAY_FIXED    ? now->fixed[i]
                                                           : now->layer[i];
    }
    return talus_pack_integers(&e->packer, name, 1, count, TALUS_PREDICT_BEST, e->value, NULL);
}

/* Packs the radius and all other properties that bodies keep for life. */
static TalusStatus pack_constants(TalusFrameEncoder *e, bool key)
{
    int count = 0;
    TALUS_TRY(TALUS_GROW(e->real, (size_t)e->now.count, 0, "frame"));
    for (int i = 0; i < e->now.count; i++)
        if (key || e->match[i] < 0)
            e->real[count++] = e->now.radius[i];
    TALUS_TRY(talus_pack_floats(&e->packer, TALUS_ARRAY_RADIUS, 1, count, e->real));
    for (int name = TALUS_ARRAY_SHAPE; name <= TALUS_ARRAY_LAYER; name++)
        TALUS_TRY(pack_constant(e, name, key));
    return TALUS_OK;
}

/* Packs the dissipated energies of all bodies. */
static TalusStatus pack_dissipated(TalusFrameEncoder *e, const TalusSnapshot *s, bool lean)
{
    TALUS_TRY(TALUS_GROW(e->real, (size_t)s->body_count, 0, "frame"));
    for (int i = 0; i < s->body_count; i++)
        e->real[i] = quantise_real(s->dissipated[i], lean);
    return talus_pack_floats(&e->packer, TALUS_ARRAY_DISSIPATED, 1, s->body_count, e->real);
}

/* Packs velocities, forces, dissipated energies if there are any, and numbers of loaded contacts, at most 255; in lean
 * frames speeds and forces only, both
 * rounded to fewer bits. */
static TalusStatus pack_motion(TalusFrameEncoder *e, const TalusSnapshot *s, bool lean)
{
    int n = s->body_count, drop = lean ? TALUS_BFLOAT16_DROPPED_LEAN : 0;
    for (int i = 0; i < n; i++) {
        if (lean) {
            e->half[i] = talus_to_bfloat16(s->speed[i], drop);
            continue;
        }
        e->half[3 * i] = talus_to_bfloat16(s->velocity[i].x, 0);
        e->half[3 * i + 1] = talus_to_bfloat16(s->velocity[i].y, 0);
        e->half[3 * i + 2] = talus_to_bfloat16(s->velocity[i].z, 0);
    }
    TALUS_TRY(talus_pack_bfloat16(&e->packer, lean ? TALUS_ARRAY_SPEED : TALUS_ARRAY_VELOCITY,
                                  lean ? 1 : 3, n, e->half));
    for (int i = 0; i < n; i++)
        e->half[i] = talus_to_bfloat16(s->force[i], drop);
    TALUS_TRY(talus_pack_bfloat16(&e->packer, TALUS_ARRAY_FORCE, 1, n, e->half));
    if (s->dissipated)
        TALUS_TRY(pack_dissipated(e, s, lean));
    if (lean)
        return TALUS_OK;
    for (int i = 0; i < n; i++)
        e->value[i] = s->touching[i] > 255 ? 255 : s->touching[i];
    return talus_pack_integers(&e->packer, TALUS_ARRAY_TOUCHING, 1, n, TALUS_PREDICT_NONE, e->value,
                               NULL);
}

/* ---- chains ---- */

static double normal_impulse(const TalusContactState *c)
{
    return talus_dot(c->impulse, c->normal);
}

/* Returns the normal impulse above which a contact is stored as a chain: the mean over contacts with a positive normal
 * impulse, 0 if there are none. Returns -INFINITY, which selects all contacts, if the snapshot has chains only, as from
 * a file. */
static double chain_threshold(const TalusSnapshot *s)
{
    double sum = 0.0;
    int loaded = 0;
    if (!(s->fields & TALUS_SNAPSHOT_CONTACTS))
        return -INFINITY;
    for (int i = 0; i < s->contact_count; i++) {
        double impulse = normal_impulse(&s->contact[i]);
        if (!(impulse > 0.0))
            continue;
        sum += impulse;
        loaded++;
    }
    return loaded ? sum / loaded : 0.0;
}

/* Lists the contacts that are chains in e->chain, ordered by the row of their first body (stable); sets *count. Uses
 * e->guess as work space. */
static TalusStatus list_chains(TalusFrameEncoder *e, const TalusSnapshot *s, int *count)
{
    double threshold = chain_threshold(s);
    int *start = e->guess; /* [bodies + 1]: start in e->chain of each row's chains */
    TALUS_TRY(TALUS_GROW(e->chain, (size_t)s->contact_count, 0, "chains"));
    memset(start, 0, ((size_t)s->body_count + 1) * sizeof *start);
    for (int i = 0; i < s->contact_count; i++)
        if (normal_impulse(&s->contact[i]) > threshold)
            start[s->contact_a[i] + 1]++;
    for (int i = 0; i < s->body_count; i++)
        start[i + 1] += start[i];
    *count = start[s->body_count];
    for (int i = 0; i < s->contact_count; i++)
        if (normal_impulse(&s->contact[i]) > threshold)
            e->chain[start[s->contact_a[i]]++] = i;
    return TALUS_OK;
}

/* Packs the contact points of the chains whose second body is fixed, relative to the first body, in grid steps. Readers
 * find other points on the line of centres, but the centre of a fixed body, such as a plane, may be anywhere. */
static TalusStatus pack_chain_points(TalusFrameEncoder *e, const TalusFramesHead *head,
                                     const TalusSnapshot *s, int count)
{
    int points = 0;
    bool clamped = false;
    for (int i = 0; i < count; i++) {
        int c = e->chain[i];
        if (!s->fixed[s->contact_b[c]])
            continue;
        TalusVec3 from = talus_head_grid_point(head, e->now.position[s->contact_a[c]]);
        TalusVec3 arm = talus_scale(1.0 / head->quantum, talus_sub(s->contact[c].point, from));
        e->value[3 * points] = round_and_clamp(arm.x, &clamped);
        e->value[3 * points + 1] = round_and_clamp(arm.y, &clamped);
        e->value[3 * points + 2] = round_and_clamp(arm.z, &clamped);
        points++;
    }
    return talus_pack_integers(&e->packer, TALUS_ARRAY_CHAIN_POINT, 3, points, TALUS_PREDICT_NONE,
                               e->value, NULL);
}

/* Packs the contact points of chains between a small and a large moving body, relative to the small one, in grid steps. */
static TalusStatus pack_chain_ends(TalusFrameEncoder *e, const TalusFramesHead *head,
                                   const TalusSnapshot *s, int count)
{
    int ends = 0;
    bool clamped = false;
    for (int i = 0; i < count; i++) {
        const int c = e->chain[i], row[2] = {s->contact_a[c], s->contact_b[c]};
        const int large = talus_chain_large_end(e->now.radius[row[0]], e->now.radius[row[1]]);
        if (large < 0 || s->fixed[row[1]])
            continue;
        TalusVec3 from = talus_head_grid_point(head, e->now.position[row[1 - large]]);
        TalusVec3 arm =
            talus_nearest_image_vector(&head->period, talus_sub(s->contact[c].point, from));
        const double along[3] = {arm.x, arm.y, arm.z};
        for (int k = 0; k < 3; k++)
            e->value[3 * ends + k] = round_and_clamp(along[k] / head->quantum, &clamped);
        ends++;
    }
    return talus_pack_integers(&e->packer, TALUS_ARRAY_CHAIN_END, 3, ends, TALUS_PREDICT_NONE,
                               e->value, NULL);
}

/* Packs the chains: the row of the first body, the row of the second minus the first, the normal force in N, and
 * contact points at fixed and at large bodies. Sets *count. */
static TalusStatus pack_chains(TalusFrameEncoder *e, const TalusFramesHead *head,
                               const TalusSnapshot *s, int *count)
{
    TALUS_TRY(list_chains(e, s, count));
    TALUS_TRY(reserve_values(e, 3 * (size_t)*count));
    TALUS_TRY(TALUS_GROW(e->half, (size_t)*count, 0, "chains"));
    for (int i = 0; i < *count; i++) {
        int c = e->chain[i];
        e->value[i] = s->contact_a[c];
        e->guess[i] = s->contact_b[c] - s->contact_a[c];
        e->half[i] = talus_to_bfloat16(normal_impulse(&s->contact[c]) / s->length, 0);
    }
    TALUS_TRY(talus_pack_integers(&e->packer, TALUS_ARRAY_CHAIN_A, 1, *count, TALUS_PREDICT_TUPLE,
                                  e->value, NULL));
    TALUS_TRY(talus_pack_integers(&e->packer, TALUS_ARRAY_CHAIN_B, 1, *count, TALUS_PREDICT_NONE,
                                  e->guess, NULL));
    TALUS_TRY(talus_pack_bfloat16(&e->packer, TALUS_ARRAY_CHAIN_FORCE, 1, *count, e->half));
    TALUS_TRY(pack_chain_points(e, head, s, *count));
    return pack_chain_ends(e, head, s, *count);
}

/* ---- the chunk ---- */

/* Adds all arrays of the frame to the packer; sets *chains unless the frame is lean. */
static TalusStatus add_arrays(TalusFrameEncoder *e, const TalusFramesHead *head,
                              const TalusSnapshot *s, bool key, int *chains)
{
    size_t n = (size_t)s->body_count;
    TALUS_TRY(reserve_values(e, 4 * n + 1));
    TALUS_TRY(TALUS_GROW(e->half, 3 * n, 0, "frame"));
    TALUS_TRY(pack_numbers(e, key));
    TALUS_TRY(pack_constants(e, key));
    TALUS_TRY(pack_positions(e, key));
    TALUS_TRY(pack_orientations(e, head, key));
    TALUS_TRY(pack_motion(e, s, head->lean));
    return head->lean ? TALUS_OK : pack_chains(e, head, s, chains);
}

TalusStatus talus_packer_pad_payload(TalusPacker *packer, int bodies, int contacts)
{
    size_t things = (size_t)bodies + (size_t)contacts;
    size_t threshold = (things + TALUS_FRAMES_PER_BYTE - 1) / TALUS_FRAMES_PER_BYTE;
    size_t size = packer->size - sizeof(TalusChunk);
    return size < threshold ? talus_pack_bytes(packer, NULL, threshold - size) : TALUS_OK;
}

TalusStatus talus_packer_close_chunk(TalusPacker *p, TalusChunk chunk, const TalusFrameHead *frame)
{
    memcpy(p->bytes + sizeof chunk, frame, sizeof *frame);
    chunk.magic = TALUS_CHUNK_MAGIC;
    chunk.size = p->size - sizeof chunk;
    chunk.crc = talus_chunk_crc(&chunk, p->bytes + sizeof chunk);
    memcpy(p->bytes, &chunk, sizeof chunk);
    return talus_pack_bytes(p, NULL, -p->size & 7);
}

TalusStatus talus_packer_open_chunk(TalusPacker *p)
{
    p->size = 0;
    p->arrays = 0;
    p->packed_count = 0;
    return talus_pack_bytes(p, NULL, sizeof(TalusChunk) + sizeof(TalusFrameHead));
}

/* Makes a chunk of this kind with the bodies of the snapshot; frame->contacts and frame->part are given. */
static TalusStatus encode(TalusFrameEncoder *e, const TalusFramesHead *head, const TalusSnapshot *s,
                          uint32_t kind, TalusFrameHead *frame, bool *key)
{
    TalusPacker *p = &e->packer;
    int chains = 0;
    TALUS_TRY(quantise_snapshot(e, head, s, key));
    TALUS_TRY(talus_packer_open_chunk(p));
    TALUS_TRY(add_arrays(e, head, s, *key, &chains));
    TALUS_TRY(talus_packer_append_arrays(p));
    TALUS_TRY(talus_packer_pad_payload(p, s->body_count, chains));
    frame->bodies = (uint32_t)s->body_count;
    frame->arrays = p->arrays;
    return talus_packer_close_chunk(
        p,
        (TalusChunk){
            .kind = kind, .time = s->time, .step = s->step, .flags = *key ? TALUS_CHUNK_KEY : 0},
        frame);
}

TalusStatus talus_frame_encode(TalusFrameEncoder *e, const TalusFramesHead *head,
                               const TalusSnapshot *s, bool *key)
{
    TalusFrameHead frame = {.contacts = (uint32_t)s->contact_total};
    return encode(e, head, s, TALUS_CHUNK_FRAME, &frame, key);
}

TalusStatus talus_frame_encode_part(TalusFrameEncoder *e, const TalusFramesHead *head,
                                    const TalusSnapshot *s, uint64_t part, bool *key)
{
    TalusFrameHead frame = {.part = (uint32_t)part};
    if (part > UINT32_MAX)
        return talus_fail(TALUS_ERR_UNSUPPORTED,
                          "frames: bodies of part %" PRIu64 "; the last that a file numbers is %u",
                          part, UINT32_MAX);
    return encode(e, head, s, TALUS_CHUNK_PART, &frame, key);
}

TalusStatus talus_frame_encode_end(TalusPacker *p, const TalusFrameHead *frame, double time,
                                   int64_t step, bool key)
{
    TALUS_TRY(talus_packer_open_chunk(p));
    return talus_packer_close_chunk(p,
                                    (TalusChunk){.kind = TALUS_CHUNK_FRAME,
                                                 .time = time,
                                                 .step = step,
                                                 .flags = key ? TALUS_CHUNK_KEY : 0},
                                    frame);
}

/* world/source/emit.c - placement of an emitter's spheres at free positions.
 *
 * Centres are drawn uniformly from the region. To find free positions, a detector apart from the step's gets the bodies
 * near the region (as fixed ones) and the candidates (as moving spheres) with no envelope: its contacts with a negative
 * gap are the overlaps, for every shape and group; bodies of other copies of the scene do not count. A candidate that
 * overlaps a body or an earlier free candidate is drawn again, in ROUNDS rounds in all; then it waits for the next step
 * and keeps its radius. The result depends on the emitter's random state and the bodies alone, not on threads.
 *
 * On several ranks all draw the same candidates, each looks for overlaps with its own bodies, and all share what they
 * have found. */
#include "world/source/emit.h"
#include "base/rng.h"
#include "world/state.h"

#include "collide/period.h"

#include <string.h>

/* ROUNDS: rounds in which a sphere is drawn, per emission. GROWTH: near bodies for which memory is reserved at a
 * time. */
enum { ROUNDS = 4, GROWTH = 256 };

void talus_emit_candidates_clear(TalusEmitCandidates *n)
{
    talus_detector_destroy(n->detector);
    talus_bodies_clear(&n->bodies);
    TALUS_RELEASE(n->rejected, n->marks, n->placed_position, n->placed_radius);
    *n = (TalusEmitCandidates){0};
}

/* Reserves `need` slots of bodies and of their marks. */
static TalusStatus reserve(TalusEmitCandidates *n, size_t need)
{
    TALUS_TRY(talus_bodies_reserve(&n->bodies, need));
    return TALUS_GROW(n->rejected, need, 0, "emitter");
}

/* Fills slot `at` with a body at rest, as a sphere: identity orientation, size equal to the (bounding) radius. For
 * another shape the caller then sets orientation and size. fixed: TALUS_MOBILITY_FIXED, else FREE. */
static void put_body(TalusBodies *b, int at, TalusVec3 position, double radius, int shape,
                     bool fixed)
{
    b->position[at] = position;
    b->velocity[at] = talus_vec3(0.0, 0.0, 0.0);
    b->orientation[at] = talus_quat_identity();
    b->radius[at] = b->size[at] = radius;
    b->shape[at] = shape;
    b->mobility[at] = fixed ? TALUS_MOBILITY_FIXED : TALUS_MOBILITY_FREE;
}

/* True if, by its bounding radius, the slot's body may overlap a sphere in the emitter's box. */
static bool may_overlap(const TalusWorld *world, int slot, const TalusEmitterDef *def)
{
    const TalusBodies *b = &world->bodies;
    if (b->shape[slot] < 0 || talus_copy_of_group(b->group[slot]) != def->copy)
        return false;
    if (b->radius[slot] == 0.0)
        return true; /* unbounded */
    double reach = b->radius[slot] + def->radius_max;
    TalusVec3 middle = talus_scale(0.5, talus_add(def->lo, def->hi));
    TalusVec3 x = b->position[slot];
    if (talus_has_period(&world->def.period))
        x = talus_add(middle, talus_nearest_image_vector(&world->def.period, talus_sub(x, middle)));
    return x.x >= def->lo.x - reach && x.x <= def->hi.x + reach && x.y >= def->lo.y - reach &&
           x.y <= def->hi.y + reach && x.z >= def->lo.z - reach && x.z <= def->hi.z + reach;
}

/* Copies the world's bodies that may overlap emitted spheres to world->candidates, as fixed bodies. */
static TalusStatus gather_near(TalusWorld *world, const TalusEmitterDef *def)
{
    TalusEmitCandidates *n = &world->candidates;
    const TalusBodies *b = &world->bodies;
    int *count = &n->bodies.counts.slots;
    *count = 0;
    for (int i = 0; i < b->counts.slots; i++) {
        if (!may_overlap(world, i, def))
            continue;
        if (*count % GROWTH == 0)
            TALUS_TRY(reserve(n, (size_t)*count + GROWTH));
        put_body(&n->bodies, *count, b->position[i], b->radius[i], b->shape[i], true);
        n->bodies.orientation[*count] = b->orientation[i];
        n->bodies.size[(*count)++] = b->size[i];
    }
    n->near_count = *count;
    return TALUS_OK;
}

/* Returns about the number of smallest spheres that the region holds on a cubic lattice, at most 100000: no more wait
 * at once, since random positions hold fewer. */
static int region_capacity(const TalusEmitterDef *def)
{
    double r = def->radius_min;
    TalusVec3 d = talus_sub(def->hi, def->lo);
    double possible = (d.x / (2.0 * r) + 1.0) * (d.y / (2.0 * r) + 1.0) * (d.z / (2.0 * r) + 1.0);
    return possible < 100000.0 ? (int)possible + 1 : 100000;
}

/* Draws the radii of spheres that are due by the end of this step and lets them wait; no more than region_capacity
 * wait at once. */
static TalusStatus draw_radii(const TalusWorld *world, TalusEmitter *e)
{
    double elapsed = talus_time(world) + world->info.length - e->def.start;
    double asked = floor(e->def.rate * elapsed * (1.0 + 1e-12));
    int64_t due = asked < (double)e->def.count ? (int64_t)asked : e->def.count;
    int64_t missing = due - e->drawn;
    int64_t possible = region_capacity(&e->def) - e->waiting;
    int fresh = (int)(missing < possible ? missing : possible);
    if (fresh <= 0)
        return TALUS_OK;
    size_t waiting = (size_t)e->waiting;
    TALUS_TRY(TALUS_GROW(e->radius, waiting + (size_t)fresh, waiting, "emitter"));
    for (int i = 0; i < fresh; i++)
        e->radius[e->waiting++] = talus_size_curve_quantile(&e->curve, talus_rng_uniform(&e->rng));
    e->drawn += fresh;
    return TALUS_OK;
}

TalusVec3 talus_emitter_random_position(const TalusEmitterDef *def, TalusRng *rng)
{
    TalusVec3 lo = def->lo, d = talus_sub(def->hi, lo);
    double x = talus_rng_uniform(rng), y = talus_rng_uniform(rng), z = talus_rng_uniform(rng);
    return talus_vec3(lo.x + x * d.x, lo.y + y * d.y, lo.z + z * d.z);
}

/* Marks the candidates that some rank has marked. */
static TalusStatus share_marks(const TalusWorld *world, TalusEmitCandidates *n)
{
    const int first = n->near_count, count = n->bodies.counts.slots - first;
    if (!talus_world_is_dealt(world))
        return TALUS_OK;
    TALUS_TRY(
        talus_comm_agree(world->ranks.comm, TALUS_GROW(n->marks, (size_t)count, 0, "emitter")));
    for (int k = 0; k < count; k++)
        n->marks[k] = n->rejected[first + k];
    TALUS_TRY(talus_comm_add_counts(world->ranks.comm, n->marks, count));
    for (int k = 0; k < count; k++)
        n->rejected[first + k] = n->marks[k] > 0;
    return TALUS_OK;
}

/* Marks candidates that overlap a near body, then, in order, those that overlap an earlier unmarked candidate. The
 * first run has pairs of candidates a < b sorted by a, so the mark of a candidate is final when it is a. */
static TalusStatus mark_rejected(const TalusWorld *world, TalusEmitCandidates *n,
                                 const TalusContactList *list)
{
    memset(n->rejected, 0, (size_t)n->bodies.counts.slots);
    for (int i = list->sphere_sphere; i < list->count; i++)
        if (list->contact[i].gap < 0.0)
            n->rejected[list->contact[i].a] = 1;
    TALUS_TRY(share_marks(world, n));
    for (int i = 0; i < list->sphere_sphere; i++) {
        const TalusContact *c = &list->contact[i];
        if (c->gap < 0.0 && !n->rejected[c->a])
            n->rejected[c->b] = 1;
    }
    return TALUS_OK;
}

/* Detects the overlaps of the candidates. */
static TalusStatus find_overlaps(TalusWorld *world, TalusContactList **list)
{
    TalusEmitCandidates *n = &world->candidates;
    if (!n->detector)
        TALUS_TRY(talus_detector_create(&n->detector));
    TalusBodyView view = talus_bodies_view(world, &n->bodies, NULL);
    TalusDetectOptions options = {.h = world->info.length};
    return talus_detect(n->detector, world->pool, &view, &options, list);
}

/* Accepts candidates that are not rejected: lists them as placed and adds them to the near bodies. The radii of the
 * rejected ones keep waiting. */
static void accept_candidates(TalusEmitCandidates *n, TalusEmitter *e)
{
    int first = n->near_count, waiting = 0;
    for (int i = first; i < n->bodies.counts.slots; i++) {
        TalusVec3 position = n->bodies.position[i];
        double radius = n->bodies.radius[i];
        if (n->rejected[i]) {
            e->radius[waiting++] = radius;
            continue;
        }
        n->placed_position[n->placed] = position;
        n->placed_radius[n->placed++] = radius;
        put_body(&n->bodies, n->near_count++, position, radius, e->shape, true);
    }
    n->bodies.counts.slots = n->near_count;
    e->waiting = waiting;
}

/* Draws a position for each waiting sphere and detects overlaps. */
static TalusStatus draw_candidates(TalusWorld *world, TalusEmitter *e, TalusContactList **list)
{
    TalusEmitCandidates *n = &world->candidates;
    TALUS_TRY(reserve(n, (size_t)n->near_count + (size_t)e->waiting));
    for (int i = 0; i < e->waiting; i++)
        put_body(&n->bodies, n->bodies.counts.slots++,
                 talus_wrap_position(&world->def.period,
                                     talus_emitter_random_position(&e->def, &e->rng)),
                 e->radius[i], e->shape, false);
    return find_overlaps(world, list);
}

/* Draws a position for each waiting sphere and accepts the spheres that overlap nothing. */
static TalusStatus try_round(TalusWorld *world, TalusEmitter *e)
{
    TalusEmitCandidates *n = &world->candidates;
    TalusContactList *list;
    TALUS_TRY(talus_comm_agree(world->ranks.comm, draw_candidates(world, e, &list)));
    TALUS_TRY(mark_rejected(world, n, list));
    accept_candidates(n, e);
    return TALUS_OK;
}

/* Adds the placed spheres to the world. */
static TalusStatus add_placed(TalusWorld *world, const TalusEmitter *e)
{
    TalusEmitCandidates *n = &world->candidates;
    for (int i = 0; i < n->placed; i++)
        n->bodies.velocity[i] = e->def.velocity; /* has capacity: placed bodies were candidates */
    TalusBodyBatch batch = talus_body_batch_default();
    batch.count = n->placed;
    batch.shape = e->shape;
    batch.material = e->def.material;
    batch.position = n->placed_position;
    batch.velocity = n->bodies.velocity;
    batch.radius = n->placed_radius;
    batch.density = e->def.density;
    batch.tag = e->def.tag;
    batch.group = e->def.group;
    batch.copy = e->def.copy;
    return talus_world_add_bodies(world, &batch, NULL);
}

/* Draws the radii of spheres that are due and, if some wait, gathers the bodies near the region. */
static TalusStatus begin_emission(TalusWorld *world, TalusEmitter *e)
{
    TalusEmitCandidates *n = &world->candidates;
    TALUS_TRY(draw_radii(world, e));
    if (e->waiting == 0)
        return TALUS_OK;
    size_t most = (size_t)e->waiting;
    TALUS_TRY(TALUS_GROW(n->placed_position, most, 0, "emitter"));
    TALUS_TRY(TALUS_GROW(n->placed_radius, most, 0, "emitter"));
    n->placed = 0;
    TALUS_TRY(talus_world_download_bodies(world));
    return gather_near(world, &e->def);
}

TalusStatus talus_emitter_emit(TalusWorld *world, TalusEmitter *e)
{
    TALUS_TRY(talus_comm_agree(world->ranks.comm, begin_emission(world, e)));
    if (e->waiting == 0)
        return TALUS_OK;
    for (int round = 0; round < ROUNDS && e->waiting > 0; round++)
        TALUS_TRY(try_round(world, e));
    return add_placed(world, e);
}

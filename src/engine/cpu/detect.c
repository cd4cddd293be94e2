/* engine/cpu/detect.c - detection before a solve, and redetection after it. */
#include "engine/cpu/engine.h"

#include "collide/period.h"

#include <inttypes.h>
#include <math.h>

/* ---- detection ---- */

/* For compute_free_velocities. */
typedef struct FreeContext {
    CpuEngine *engine;
    double h;
    TalusVec3 change; /* h g */
} FreeContext;

/* Writes the free velocities of a chunk of slots. Partials, over free bodies: 0, or NaN if a state is not finite;
 * smallest size. */
static void compute_free_velocities(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const FreeContext *c = context;
    CpuEngine *e = c->engine;
    const TalusBodyArrays *b = &e->bodies;
    double bad = 0.0, least = INFINITY;
    for (int64_t i = begin; i < end; i++) {
        TalusVec3 v = {0.0, 0.0, 0.0};
        if (cpu_is_free(e, i)) {
            v = talus_add(b->velocity[i], c->change);
            if (e->cell_moves)
                v = talus_add(v, talus_flow_change(&e->cell, b->position[i]));
            if (cpu_has_force(e, i))
                v = talus_madd(v, c->h / b->mass[i], e->force[i]);
            bad += talus_state_fault(b->position[i], v, b->spin[i]);
            least = talus_min(least, b->size[i]);
        } else if (cpu_is_driven(e, i)) {
            v = b->velocity[i];
        }
        e->free_velocity[i] = v;
    }
    e->partial[chunk][0] = bad;
    e->partial[chunk][1] = least;
}

/* Fails with the id of the first free body whose position, free velocity or spin has no finite square; TALUS_OK if
 * there is none. */
static TalusStatus fail_on_bad_state(const CpuEngine *e)
{
    const TalusBodyArrays *b = &e->bodies;
    for (int i = 0; i < b->slots; i++) {
        if (cpu_is_free(e, i) &&
            talus_state_fault(b->position[i], e->free_velocity[i], b->spin[i]) != 0.0)
            return talus_fail(TALUS_ERR_NUMERIC,
                              "step %lld: the state of body %" PRIu64 " is not finite, or "
                              "out of all proportion",
                              e->step, b->id[i]);
    }
    return TALUS_OK;
}

/* Computes the free velocities and min_size, divides the bodies into groups, and fails if a state is not finite. */
static TalusStatus prepare_bodies(CpuEngine *e, double h, TalusVec3 gravity)
{
    int slots = e->bodies.slots;
    FreeContext c = {e, h, talus_scale(h, gravity)};
    double bad;
    e->h = h;
    e->gravity_change = c.change;
    TALUS_TRY(TALUS_GROW(e->free_velocity, (size_t)slots, 0, "free velocities"));
    TALUS_TRY(cpu_reserve_partials(e, talus_chunks(slots, CPU_GRAIN)));
    TALUS_TRY(cpu_group_bodies(e));
    talus_parallel(e->pool, slots, CPU_GRAIN, compute_free_velocities, &c);
    cpu_sum_slots(e, 1, &bad);
    if (bad != 0.0)
        TALUS_TRY(talus_comm_agree(e->bodies.comm, fail_on_bad_state(e)));
    e->min_size = INFINITY;
    for (int64_t k = 0; k < talus_chunks(slots, CPU_GRAIN); k++)
        e->min_size = talus_min(e->min_size, e->partial[k][1]);
    talus_comm_find_minima(e->bodies.comm, &e->min_size, 1);
    return TALUS_OK;
}

/* Returns the detector's view of the bodies, with these velocities and spins. */
static TalusBodyView body_view(const CpuEngine *e, const TalusVec3 *velocity, const TalusVec3 *spin)
{
    const TalusBodyArrays *b = &e->bodies;
    TalusBodyView view = {
        .count = b->slots,
        .position = b->position,
        .orientation = b->orientation,
        .velocity = velocity,
        .spin = spin,
        .radius = b->radius,
        .size = b->size,
        .shape = b->shape,
        .mobility = b->mobility,
        .shapes = e->tables.shape,
        .shape_count = e->tables.shapes,
        .filter = e->filter,
        .period = talus_has_period(&e->period) ? &e->period : NULL,
        .gradient = e->cell_moves ? &e->cell.now : NULL,
        .rank = b->rank,
        .at_rank = b->at_rank,
        .id = b->id,
        .last_id = b->last_id,
        .halo = b->halo,
        .comm = b->comm,
    };
    return view;
}

/* Exchanges the problem's impulses and the detector's spare array. The problem has no use for its impulses between the
 * integration of a step, or the storage of impulses before a redetection, and the next build. */
static void exchange_spare(CpuEngine *e)
{
    double **gamma = talus_problem_lend_gamma(e->problem);
    TalusVec3 *memory = (TalusVec3 *)*gamma;
    talus_detector_exchange_spare(e->detector, &memory);
    *gamma = (double *)memory;
}

/* Exchanges the memory of the problem's wrenches and that in which the detector sorts. Each is in use during calls of
 * its owner only. */
static void exchange_scratch(CpuEngine *e)
{
    double(**record)[6] = talus_problem_lend_wrenches(e->problem);
    unsigned char *memory = (unsigned char *)*record;
    talus_detector_exchange_scratch(e->detector, &memory);
    *record = (double(*)[6])memory;
}

/* Detects all contacts anew, with these velocities and spins. */
static TalusStatus detect_with_motions(CpuEngine *e, const TalusDetectOptions *options,
                                       const TalusVec3 *velocity, const TalusVec3 *spin)
{
    const TalusVec3 *relative;
    TALUS_TRY(cpu_relative_velocities(e, velocity, &relative));
    TalusBodyView view = body_view(e, relative, spin);
    e->detection_velocity = velocity;
    exchange_spare(e);
    exchange_scratch(e);
    TalusStatus status = talus_detect(e->detector, e->pool, &view, options, &e->contacts);
    exchange_scratch(e);
    exchange_spare(e);
    TALUS_TRY(status);
    e->bodies.last_id = UINT64_MAX; /* until the next put_bodies no body is newer than the list */
    e->clipped_bodies = talus_detector_count_clipped(e->detector);
    return TALUS_OK;
}

/* Returns the number of contacts whose first body this rank owns. */
static int64_t count_own_contacts(const CpuEngine *e)
{
    const TalusContactList *list = e->contacts;
    int64_t count = list->count;
    for (int i = 0; e->bodies.halo > 0 && i < list->count; i++)
        count -= (int)list->contact[i].a >= cpu_own_slots(e);
    return count;
}

void cpu_get_counts(const TalusEngine *engine, TalusEngineCounts *counts)
{
    const CpuEngine *e = (const CpuEngine *)engine;
    const TalusContactList *list = talus_detector_contacts(e->detector);
    *counts = (TalusEngineCounts){list->sphere_sphere, list->sphere_fixed, list->general,
                                  list->count,         e->min_size,        e->clipped_bodies};
}

/* As cpu_get_counts; `contacts` and `clipped_bodies` are those of all ranks. */
static TalusStatus get_all_counts(const CpuEngine *e, TalusEngineCounts *counts)
{
    int64_t all[2] = {count_own_contacts(e), e->clipped_bodies};
    cpu_get_counts((const TalusEngine *)e, counts);
    TALUS_TRY(talus_comm_add_counts(e->bodies.comm, all, 2));
    counts->contacts = all[0];
    counts->clipped_bodies = all[1];
    return TALUS_OK;
}

TalusStatus cpu_detect(TalusEngine *engine, const TalusDetectOptions *options, TalusVec3 gravity,
                       long long step, TalusEngineCounts *counts)
{
    CpuEngine *e = cpu_engine(engine);
    e->step = step;
    TALUS_TRY(prepare_bodies(e, options->h, gravity));
    TALUS_TRY(detect_with_motions(e, options, e->free_velocity, e->bodies.spin));
    return get_all_counts(e, counts);
}

/* ---- redetection ----
 *
 * Detection uses the velocities before the solve. The solve may push a body towards another with which it has no
 * contact. Two bodies outside each other's envelope can touch only if the changes of their velocities add up to more
 * than the speed-independent part of the envelope over h. If no velocity has changed by more than half of that
 * (talus_velocity_change_limit), no contact is missing. Otherwise find_missing searches around the bodies whose
 * velocities changed: a contact is missing if such a body ends the step overlapping another body, at a point without a
 * contact, by more than h times the tolerance. If no contact is missing, the step stands. Otherwise the step is solved
 * again, starting from its present impulses: with general contacts the missing contacts are added to the list; without,
 * where detection is cheap, contacts are detected again with the solved velocities. */

typedef struct ChangeContext {
    CpuEngine *engine;
    double limit2; /* square of the limit on |velocity change| */
} ChangeContext;

/* True if body i is free and its solved velocity differs from detection_velocity by more than the limit. */
static bool velocity_changed(const ChangeContext *c, int64_t i)
{
    const CpuEngine *e = c->engine;
    const double *v = e->solved[i];
    TalusVec3 change = talus_sub(talus_vec3(v[0], v[1], v[2]), e->detection_velocity[i]);
    return talus_dot(change, change) > c->limit2 && cpu_is_free(e, i);
}

/* Partial: number of bodies with velocity_changed. */
static void count_changes(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const ChangeContext *c = context;
    double changes = 0.0;
    for (int64_t i = begin; i < end; i++)
        changes += velocity_changed(c, i);
    c->engine->partial[chunk][0] = changes;
}

TalusStatus cpu_compute_velocities(TalusEngine *engine, double limit, bool *changed,
                                   double *overlap_ratio)
{
    CpuEngine *e = cpu_engine(engine);
    ChangeContext c = {e, limit * limit};
    double changes;
    e->solved = talus_problem_solved_velocities(e->problem);
    e->missing_searched = false;
    e->motions_stored = false;
    talus_parallel(e->pool, cpu_own_slots(e), CPU_GRAIN, count_changes, &c);
    cpu_sum_partials(e, talus_chunks(cpu_own_slots(e), CPU_GRAIN), 1, &changes);
    *changed = changes > 0.0;
    *overlap_ratio = cpu_largest_overlap_ratio(e);
    talus_comm_find_maxima(e->bodies.comm, overlap_ratio, 1);
    return TALUS_OK;
}

/* Writes `changed` of a chunk of slots. Must run before store_solved_motions, which overwrites solved_velocity:
 * detection_velocity, which `changed` is found from, may point to it. */
static void mark_changed_bodies(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const ChangeContext *c = context;
    (void)chunk;
    for (int64_t i = begin; i < end; i++)
        c->engine->changed[i] = velocity_changed(c, i);
}

/* Writes solved_velocity and solved_spin of a chunk of slots. */
static void copy_solved_motions(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    CpuEngine *e = context;
    const double *length = talus_problem_lengths(e->problem);
    (void)chunk;
    for (int64_t i = begin; i < end; i++) {
        const double *v = e->solved[i];
        bool is_free = cpu_is_free(e, i);
        e->solved_velocity[i] = is_free ? talus_vec3(v[0], v[1], v[2]) : e->free_velocity[i];
        e->solved_spin[i] = is_free ? talus_scale(1.0 / length[i], talus_vec3(v[4], v[5], v[6]))
                                    : e->bodies.spin[i];
    }
}

/* Returns how many elements a larger array keeps: those of this rank's own bodies, as far as there are any. */
static size_t count_kept(const CpuEngine *e, size_t capacity)
{
    const size_t own = (size_t)cpu_own_slots(e);
    return capacity < own ? capacity : own;
}

#define GROW_SLOTS(array, what) \
    TALUS_GROW((array), (size_t)e->bodies.slots, count_kept(e, TALUS_CAPACITY(array)), (what))

/* Enlarges the arrays of solved motions to all slots; detection_velocity may point to one of them. */
static TalusStatus reserve_motions(CpuEngine *e)
{
    const bool solved = e->detection_velocity == e->solved_velocity;
    TALUS_TRY(GROW_SLOTS(e->changed, "solved velocities"));
    TALUS_TRY(GROW_SLOTS(e->solved_velocity, "solved velocities"));
    TALUS_TRY(GROW_SLOTS(e->solved_spin, "solved velocities"));
    if (solved)
        e->detection_velocity = e->solved_velocity;
    return TALUS_OK;
}

/* Fills `changed`, and solved_velocity and solved_spin: those of the solve for free bodies; free_velocity and spin of
 * others. */
TalusStatus cpu_store_motions(TalusEngine *engine, double limit)
{
    CpuEngine *e = cpu_engine(engine);
    ChangeContext c = {e, limit * limit};
    TALUS_TRY(reserve_motions(e));
    talus_parallel(e->pool, cpu_own_slots(e), CPU_GRAIN, mark_changed_bodies, &c);
    talus_parallel(e->pool, cpu_own_slots(e), CPU_GRAIN, copy_solved_motions, e);
    e->motions_stored = true;
    return TALUS_OK;
}

/* Slots that were added since the detection get free velocities, and their bodies are divided into groups. */
TalusStatus cpu_solved_motions(TalusEngine *engine, TalusSolvedMotions *out)
{
    CpuEngine *e = cpu_engine(engine);
    const int slots = e->bodies.slots, own = cpu_own_slots(e);
    const bool free = e->detection_velocity == e->free_velocity;
    FreeContext c = {e, e->h, e->gravity_change};
    TALUS_TRY(reserve_motions(e));
    TALUS_TRY(GROW_SLOTS(e->free_velocity, "free velocities"));
    if (free)
        e->detection_velocity = e->free_velocity;
    TALUS_TRY(cpu_reserve_partials(e, talus_chunks(slots, CPU_GRAIN)));
    TALUS_TRY(cpu_group_bodies(e));
    compute_free_velocities(&c, own, slots, 0);
    *out = (TalusSolvedMotions){e->solved_velocity, e->solved_spin, e->changed};
    return TALUS_OK;
}

/* Sets *missing to the number of contacts that the list lacks; the detector keeps them for redetect. */
static TalusStatus find_missing(CpuEngine *e, const TalusDetectOptions *options, double limit,
                                double tolerance, int *missing)
{
    if (!e->motions_stored)
        TALUS_TRY(cpu_store_motions((TalusEngine *)e, limit));
    const TalusVec3 *relative;
    TALUS_TRY(cpu_relative_velocities(e, e->solved_velocity, &relative));
    TalusBodyView view = body_view(e, relative, e->solved_spin);
    TalusRedetectSubset subset = {e->changed, tolerance};
    exchange_scratch(e);
    TalusStatus status =
        talus_detector_find_missing(e->detector, e->pool, &view, options, &subset, missing);
    exchange_scratch(e);
    TALUS_TRY(status);
    e->clipped_bodies = talus_detector_count_clipped(e->detector);
    return TALUS_OK;
}

TalusStatus cpu_find_missing(TalusEngine *engine, const TalusDetectOptions *options, double limit,
                             double tolerance, bool *missing)
{
    CpuEngine *e = cpu_engine(engine);
    int count = 0;
    TALUS_TRY(find_missing(e, options, limit, tolerance, &count));
    e->missing_searched = true;
    *missing = talus_comm_any(e->bodies.comm, count > 0);
    return TALUS_OK;
}

TalusStatus cpu_redetect(TalusEngine *engine, const TalusDetectOptions *options, TalusVec3 gravity,
                         TalusEngineCounts *counts)
{
    CpuEngine *e = cpu_engine(engine);
    (void)gravity;
    if (e->missing_searched && talus_comm_any(e->bodies.comm, e->contacts->general > 0)) {
        talus_detector_add_missing(e->detector);
    } else {
        if (!e->motions_stored)
            TALUS_TRY(cpu_store_motions(engine, INFINITY)); /* marks no body as changed */
        TALUS_TRY(detect_with_motions(e, options, e->solved_velocity, e->solved_spin));
    }
    return get_all_counts(e, counts);
}

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
    TALUS_TRY(TALUS_GROW(e->free_velocity, (size_t)slots, 0, "free velocities"));
    TALUS_TRY(cpu_reserve_partials(e, talus_chunks(slots, CPU_GRAIN)));
    TALUS_TRY(cpu_group_bodies(e));
    talus_parallel(e->pool, slots, CPU_GRAIN, compute_free_velocities, &c);
    cpu_sum_slots(e, 1, &bad);
    if (bad != 0.0)
        TALUS_TRY(fail_on_bad_state(e));
    e->min_size = INFINITY;
    for (int64_t k = 0; k < talus_chunks(slots, CPU_GRAIN); k++)
        e->min_size = talus_min(e->min_size, e->partial[k][1]);
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
        .rank = b->rank,
        .at_rank = b->at_rank,
        .id = b->id,
        .last_id = b->last_id,
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
    TalusBodyView view = body_view(e, velocity, spin);
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

void cpu_get_counts(const TalusEngine *engine, TalusEngineCounts *counts)
{
    const CpuEngine *e = (const CpuEngine *)engine;
    const TalusContactList *list = talus_detector_contacts(e->detector);
    *counts = (TalusEngineCounts){list->sphere_sphere, list->sphere_fixed, list->general,
                                  list->count,         e->min_size,        e->clipped_bodies};
}

TalusStatus cpu_detect(TalusEngine *engine, const TalusDetectOptions *options, TalusVec3 gravity,
                       long long step, TalusEngineCounts *counts)
{
    CpuEngine *e = cpu_engine(engine);
    e->step = step;
    TALUS_TRY(prepare_bodies(e, options->h, gravity));
    TALUS_TRY(detect_with_motions(e, options, e->free_velocity, e->bodies.spin));
    cpu_get_counts(engine, counts);
    return TALUS_OK;
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
    talus_parallel(e->pool, e->bodies.slots, CPU_GRAIN, count_changes, &c);
    cpu_sum_slots(e, 1, &changes);
    *changed = changes > 0.0;
    *overlap_ratio = cpu_largest_overlap_ratio(e);
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

/* Writes solved_velocity and solved_spin: those of the solve for free bodies; free_velocity and spin of others. */
static TalusStatus store_solved_motions(CpuEngine *e)
{
    int slots = e->bodies.slots;
    TALUS_TRY(TALUS_GROW(e->solved_velocity, (size_t)slots, 0, "solved velocities"));
    TALUS_TRY(TALUS_GROW(e->solved_spin, (size_t)slots, 0, "solved velocities"));
    talus_parallel(e->pool, slots, CPU_GRAIN, copy_solved_motions, e);
    return TALUS_OK;
}

/* Sets *missing to the number of contacts that the list lacks; the detector keeps them for redetect. */
static TalusStatus find_missing(CpuEngine *e, const TalusDetectOptions *options, double limit,
                                double tolerance, int *missing)
{
    size_t slots = (size_t)e->bodies.slots;
    ChangeContext c = {e, limit * limit};
    TALUS_TRY(TALUS_GROW(e->changed, slots, 0, "solved velocities"));
    talus_parallel(e->pool, (int64_t)slots, CPU_GRAIN, mark_changed_bodies, &c);
    TALUS_TRY(store_solved_motions(e));
    TalusBodyView view = body_view(e, e->solved_velocity, e->solved_spin);
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
    *missing = count > 0;
    return TALUS_OK;
}

TalusStatus cpu_redetect(TalusEngine *engine, const TalusDetectOptions *options, TalusVec3 gravity,
                         TalusEngineCounts *counts)
{
    CpuEngine *e = cpu_engine(engine);
    (void)gravity;
    if (e->missing_searched && e->contacts->general > 0) {
        talus_detector_add_missing(e->detector);
    } else {
        TALUS_TRY(store_solved_motions(e));
        TALUS_TRY(detect_with_motions(e, options, e->solved_velocity, e->solved_spin));
    }
    cpu_get_counts(engine, counts);
    return TALUS_OK;
}

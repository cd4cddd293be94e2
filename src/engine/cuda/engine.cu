/* engine/cuda/engine.cu - a world's memory on the device: creation, upload, download, snapshot.
 *
 * Bytes on the device, without those of detection (detect.h), joints, applied forces, filters and the solver:
 *
 *     per slot     state 137 (x, v, spin 24 each, e 32, mass, radius, size 8 each, shape, material 4
 *                  each, mobility 1), free velocity 24; solved velocity and spin 24 each after a search
 *                  for missing contacts; id 8 and rank
 *                  4 once slots are used again; on several ranks reach 56 and a mark of 4 for own bodies, and of
 *                  those that are sent or received up to 104 once more
 *     per problem body   record 64, solved record 64 (the operator's scratch), inverse inertia 48 with general
 *                  contacts only, incidence_start 4
 *     per contact  shared by list and problem: frame 32, gap 8, incidence 8, arms 48 if general;
 *                  bias 8, diagonal 16, gamma 24 and mu 8 (gamma 8 without friction), compliance 8 where
 *                  a law has it, arm 48 and coupling 8 if general; model 24 with joints or friction other
 *                  than ccp on the disc, estimate 8 with law fixed, unshifted 8 with law coulomb; with moments
 *                  all contacts are general, gamma is 24 more, moment_mu and lever 16 each, incidence 8 more
 *     each of the two lists, the old and the new one
 *                  slot 4 per problem body, problem_index 4 per slot; pair 8, slot_b 4, impulse 24
 *                  per contact, feature 4 unless between two spheres
 *     backup       104 per slot for states, 8 per slot and 76 per sphere contact for the list, once a snapshot of them
 *                  was taken (of both for a halved step or joints, of the list for a redetection) */
#include "backend/cuda/device/reduce.h"
#include "engine/cuda/engine.h"

extern "C" {
#include "collide/period.h"
#include "engine/contact_terms.h"
}

/* Snapshot for a rollback. */
struct CuBackup {
    CuArray<TalusVec3> position, velocity, spin; /* by slot, as in CuBodies */
    CuArray<TalusQuat> orientation;
    CuList list; /* without incidence */
    int slots;   /* number of states */
};

/* ---- life ---- */

static void clear_bodies(CuBodies *b)
{
    cu_clear(b->position, b->velocity, b->spin, b->orientation, b->mass, b->radius, b->size,
             b->shape, b->material, b->mobility, b->id, b->rank, b->force, b->torque);
}

static void clear_list(CuList *list)
{
    cu_clear(list->slot, list->problem_index, list->pair, list->slot_b, list->feature, list->frame,
             list->gap, list->arms, list->impulse, list->incidence_start, list->incidence);
}

void cu_engine_destroy(TalusEngine *e)
{
    if (!e)
        return;
    CuTables *t = &e->tables;
    CuBackup *backup = e->backup;
    cu_detection_clear(e);
    clear_bodies(&e->bodies);
    clear_list(&e->list[0]);
    clear_list(&e->list[1]);
    cu_clear(t->shape, t->block, t->gyration, t->law);
    cu_clear(e->free_velocity, e->solved_velocity, e->solved_spin, e->dropped, e->probe_sums,
             e->period);
    cu_clear(e->group, e->filter_pairs, e->subset, e->motion, e->probe_counted);
    if (backup) {
        cu_clear(backup->position, backup->velocity, backup->spin, backup->orientation);
        clear_list(&backup->list);
    }
    cu_clear_halo(e);
    cu_motions_clear(e);
    cu_reaches_clear(e);
    cu_exchange_clear(e);
    cu_link_clear(e);
    cu_step_clear(e);
    cu_joints_clear(e);
    talus_release(e->backup);
    talus_release(e);
}

TalusStatus cu_engine_create(const TalusEngineSetup *setup, TalusEngine **out)
{
    *out = nullptr;
    TalusEngine *e;
    TALUS_TRY(TALUS_ALLOC(e, 1, "engine"));
    e->cu = e->step.op.context = setup->context;
    e->list[0].counts.min_size = e->list[1].counts.min_size = HUGE_VAL;
    TalusStatus status = TALUS_ALLOC(e->backup, 1, "engine");
    TALUS_THEN(status, cu_board_reserve(e->cu));
    if (status == TALUS_OK && setup->period && talus_has_period(setup->period))
        status = cu_upload(e, &e->period, setup->period, 1, "engine");
    if (status == TALUS_OK)
        *out = e;
    else
        cu_engine_destroy(e);
    return status;
}

/* ---- tables ---- */

TalusStatus cu_engine_put_tables(TalusEngine *e, const TalusTables *tables)
{
    CuTables *t = &e->tables;
    int64_t laws = (int64_t)tables->materials * tables->materials;
    TALUS_TRY(cu_put_shapes(e, tables));
    TALUS_TRY(cu_upload(e, &t->gyration, tables->gyration, tables->shapes, "shape inertia"));
    TALUS_TRY(cu_upload(e, &t->law, tables->law, laws, "material pairs"));
    t->shapes = tables->shapes;
    t->materials = tables->materials;
    t->compliance = tables->compliance;
    t->models = tables->models;
    t->restitution = tables->restitution;
    t->cohesion = tables->cohesion;
    t->min_rows = laws ? TALUS_ROWS : 1;
    t->max_rows = 1;
    t->kinds = 0;
    for (int64_t i = 0; i < laws; i++) {
        int rows = talus_law_rows(&tables->law[i]);
        t->min_rows = rows < t->min_rows ? rows : t->min_rows;
        t->max_rows = rows > t->max_rows ? rows : t->max_rows;
        t->kinds |= talus_law_kind(&tables->law[i]);
    }
    return cu_check(e->cu);
}

/* ---- bodies ---- */

/* Zeroes the impulses of all contacts of bodies with dropped[slot] nonzero. */
static __global__ void zero_dropped_impulses(CuList list, const uint8_t *dropped, uint32_t slots)
{
    int64_t i = item_index();
    if (i >= list.counts.contacts)
        return;
    const uint32_t a = list.slot[list.pair[i].x], b = list.slot_b[i];
    if ((a < slots && dropped[a]) || (b < slots && dropped[b]))
        list.impulse[i] = talus_vec3(0.0, 0.0, 0.0);
}

TalusStatus cu_drop_impulses(TalusEngine *e, const uint8_t *dropped, int slots)
{
    const CuList *list = cu_current_list(e);
    TALUS_TRY(cu_upload(e, &e->dropped, dropped, slots, "dropped bodies"));
    launch(e->cu, zero_dropped_impulses, blocks_for(list->counts.contacts), THREADS, *list,
           e->dropped.at, (uint32_t)slots);
    return TALUS_OK;
}

/* Uploads ids if some id is not its slot + 1, and ranks if ids do not ascend with slots. Sets ids_differ and ranked. */
static TalusStatus put_ids(TalusEngine *e, const TalusBodyArrays *from)
{
    CuBodies *b = &e->bodies;
    b->ids_differ = false;
    for (int i = 0; i < from->slots && !b->ids_differ; i++)
        b->ids_differ = from->id[i] != (uint64_t)i + 1;
    b->ranked = from->rank != nullptr;
    if (b->ids_differ)
        TALUS_TRY(cu_upload(e, &b->id, from->id, from->slots, "bodies"));
    return b->ranked ? cu_upload(e, &b->rank, from->rank, from->slots, "bodies") : TALUS_OK;
}

/* Returns the number of this rank's free bodies. */
static int count_free(const TalusBodyArrays *from)
{
    int count = 0;
    for (int i = 0; i < from->slots - from->halo; i++)
        count += from->shape[i] >= 0 && from->mobility[i] == TALUS_MOBILITY_FREE;
    return count;
}

void cu_engine_refer_to(TalusEngine *e, const TalusBodyArrays *from)
{
    e->comm = from->comm;
    e->owner = from->owner;
    e->at_rank = from->at_rank;
    e->id = from->id;
}

TalusStatus cu_engine_put_bodies(TalusEngine *e, const TalusBodyArrays *from,
                                 const uint8_t *dropped)
{
    CuBodies *b = &e->bodies;
    int n = from->slots;
    TALUS_TRY(cu_upload(e, &b->position, from->position, n, "bodies"));
    TALUS_TRY(cu_upload(e, &b->velocity, from->velocity, n, "bodies"));
    TALUS_TRY(cu_upload(e, &b->spin, from->spin, n, "bodies"));
    TALUS_TRY(cu_upload(e, &b->orientation, from->orientation, n, "bodies"));
    TALUS_TRY(cu_upload(e, &b->mass, from->mass, n, "bodies"));
    TALUS_TRY(cu_upload(e, &b->radius, from->radius, n, "bodies"));
    TALUS_TRY(cu_upload(e, &b->size, from->size, n, "bodies"));
    TALUS_TRY(cu_upload(e, &b->shape, from->shape, n, "bodies"));
    TALUS_TRY(cu_upload(e, &b->material, from->material, n, "bodies"));
    TALUS_TRY(cu_upload(e, &b->mobility, from->mobility, n, "bodies"));
    TALUS_TRY(put_ids(e, from));
    b->slots = n;
    b->own = n - from->halo;
    b->free_bodies = count_free(from);
    b->driven = from->driven;
    cu_engine_refer_to(e, from);
    if (dropped)
        TALUS_TRY(cu_drop_impulses(e, dropped, n));
    return cu_check(e->cu);
}

TalusStatus cu_engine_get_bodies(TalusEngine *e, TalusBodyArrays *to)
{
    const CuBodies *b = &e->bodies;
    size_t n = (size_t)b->slots;
    cu_get(e->cu, to->position, b->position, n * sizeof *to->position);
    cu_get(e->cu, to->velocity, b->velocity, n * sizeof *to->velocity);
    cu_get(e->cu, to->spin, b->spin, n * sizeof *to->spin);
    cu_get(e->cu, to->orientation, b->orientation, n * sizeof *to->orientation);
    return cu_check(e->cu);
}

/* Counts the free bodies whose coordinate along `axis` is less than `below`. */
static __global__ void count_free_below(CuTallies tallies, double *totals, CuBodies b, int axis,
                                        double below)
{
    sum_items<1, 0>(tallies, totals, 0, b.own, 0.0, [&](int64_t i, double(&v)[1]) {
        v[0] = cu_is_free(b.shape, b.mobility, i) && talus_along(b.position[i], axis) < below;
    });
}

TalusStatus cu_engine_count_below(TalusEngine *e, int axis, double below, int64_t *count)
{
    launch_own_sums(e->cu, count_free_below, e->bodies.own, e->cu->totals, e->bodies, axis, below);
    double total;
    cu_totals_get(e->cu, 1, &total);
    *count = (int64_t)total;
    return cu_check(e->cu);
}

/* ---- snapshot and rollback ---- */

/* Copies `count` elements on the device from `from` to `to`, which grows if needed. */
template <class T>
static TalusStatus copy_array(TalusEngine *e, CuArray<T> *to, const CuArray<T> &from, int64_t count)
{
    TALUS_TRY(to->reserve(count, "snapshot of a step"));
    cu_copy(e->cu, to->at, from.at, (size_t)count * sizeof *from.at);
    return TALUS_OK;
}

/* Copies a list except its incidence; `to` has no contacts if the copy fails. */
static TalusStatus copy_list(TalusEngine *e, CuList *to, const CuList *from)
{
    const TalusEngineCounts *c = &from->counts;
    int64_t contacts = c->contacts, rest = contacts - c->sphere_sphere;
    to->counts = {0, 0, 0, 0, HUGE_VAL, 0}; /* until the copy is complete */
    TALUS_TRY(copy_array(e, &to->slot, from->slot, from->problem_bodies));
    TALUS_TRY(copy_array(e, &to->problem_index, from->problem_index, from->slots));
    TALUS_TRY(copy_array(e, &to->pair, from->pair, contacts));
    TALUS_TRY(copy_array(e, &to->slot_b, from->slot_b, contacts));
    TALUS_TRY(copy_array(e, &to->feature, from->feature, rest));
    TALUS_TRY(copy_array(e, &to->frame, from->frame, contacts));
    TALUS_TRY(copy_array(e, &to->gap, from->gap, contacts));
    TALUS_TRY(copy_array(e, &to->arms, from->arms, c->general));
    TALUS_TRY(copy_array(e, &to->impulse, from->impulse, contacts));
    to->counts = *c;
    to->problem_bodies = from->problem_bodies;
    to->slots = from->slots;
    return TALUS_OK;
}

TalusStatus cu_engine_snapshot_contacts(TalusEngine *e)
{
    TALUS_TRY(copy_list(e, &e->backup->list, cu_current_list(e)));
    return cu_check(e->cu);
}

TalusStatus cu_engine_snapshot_states(TalusEngine *e)
{
    const CuBodies *b = &e->bodies;
    CuBackup *backup = e->backup;
    TALUS_TRY(copy_array(e, &backup->position, b->position, b->slots));
    TALUS_TRY(copy_array(e, &backup->velocity, b->velocity, b->slots));
    TALUS_TRY(copy_array(e, &backup->spin, b->spin, b->slots));
    TALUS_TRY(copy_array(e, &backup->orientation, b->orientation, b->slots));
    backup->slots = b->slots;
    return cu_check(e->cu);
}

/* Exchanges two lists except incidence_start and incidence, which the list of a backup does not have. */
static void exchange_lists(CuList *a, CuList *b)
{
    CuList list = *a;
    *a = *b;
    *b = list;
    b->incidence_start = a->incidence_start;
    b->incidence = a->incidence;
    a->incidence_start = list.incidence_start;
    a->incidence = list.incidence;
}

/* Copies the states of the backup to the bodies, with `states`, and exchanges the current list for that of the backup,
 * which is then used up. Allocates nothing, so a rollback cannot fail for lack of memory. */
TalusStatus cu_engine_rollback(TalusEngine *e, bool states)
{
    CuBodies *b = &e->bodies;
    CuBackup *backup = e->backup;
    size_t n = (size_t)backup->slots;
    if (states) {
        cu_copy(e->cu, b->position, backup->position, n * sizeof *b->position.at);
        cu_copy(e->cu, b->velocity, backup->velocity, n * sizeof *b->velocity.at);
        cu_copy(e->cu, b->spin, backup->spin, n * sizeof *b->spin.at);
        cu_copy(e->cu, b->orientation, backup->orientation, n * sizeof *b->orientation.at);
    }
    exchange_lists(cu_current_list(e), &backup->list);
    return cu_check(e->cu);
}

/* ---- detection ---- */

void cu_engine_get_counts(const TalusEngine *e, TalusEngineCounts *counts)
{
    *counts = e->list[e->current].counts;
}

/* Replaces the number of bodies and walls that are clipped by that of all ranks. */
static TalusStatus count_all_clipped(const TalusEngine *e, TalusEngineCounts *counts)
{
    int64_t clipped = counts->clipped_bodies;
    if (!e->period.at)
        return TALUS_OK;
    TALUS_TRY(talus_comm_add_counts(e->comm, &clipped, 1));
    counts->clipped_bodies = (int)clipped;
    return TALUS_OK;
}

/* Detects contacts with the free velocities and present spins or, if `again`, with the solved ones; writes the counts of
 * the new list. */
static TalusStatus detect_with(TalusEngine *e, const TalusDetectOptions *options, TalusVec3 gravity,
                               bool again, TalusEngineCounts *counts)
{
    TalusStatus status = cu_write_detection_motions(e, options->h, gravity, again);
    TALUS_TRY(talus_comm_agree(e->comm, status));
    TALUS_TRY(cu_detect_contacts(e, options));
    TALUS_TRY(cu_count_all_contacts(e));
    cu_engine_get_counts(e, counts);
    counts->contacts = (int)e->all_contacts[0];
    return count_all_clipped(e, counts);
}

TalusStatus cu_engine_detect(TalusEngine *e, const TalusDetectOptions *options, TalusVec3 gravity,
                             long long step, TalusEngineCounts *counts)
{
    (void)step;
    return detect_with(e, options, gravity, false, counts);
}

TalusStatus cu_engine_redetect(TalusEngine *e, const TalusDetectOptions *options, TalusVec3 gravity,
                               TalusEngineCounts *counts)
{
    return detect_with(e, options, gravity, true, counts);
}

TalusStatus cu_engine_find_missing(TalusEngine *e, const TalusDetectOptions *options, double limit,
                                   double tolerance, bool *missing)
{
    const bool solved = cu_detects_solved(e);
    (void)limit; /* all bodies are searched */
    TalusStatus status = cu_write_detection_motions(e, options->h, talus_vec3(0.0, 0.0, 0.0), true);
    status = talus_comm_agree(e->comm, status);
    TALUS_THEN(status, cu_find_missing_contacts(e, options, tolerance, missing));
    cu_detect_with(e, solved);
    TALUS_TRY(talus_comm_agree(e->comm, status));
    *missing = talus_comm_any(e->comm, *missing);
    return TALUS_OK;
}

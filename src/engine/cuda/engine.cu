/* engine/cuda/engine.cu - a world's memory on the device: creation, upload, download, snapshot.
 *
 * Bytes on the device, double precision, without those of detection (detect.h) and the solver:
 *
 *     per slot     state 137 (x, v, spin 24 each, e 32, mass, radius, size 8 each, shape, material 4
 *                  each, mobility 1), free velocity 24; solved velocity 24 after a redetection
 *     per place    body record 64, solved record 64 (the operator's scratch), inertia 48 with general
 *                  contacts only, incidence_start 4
 *     per contact  shared by list and problem: frame 32, gap 8, incidence 8, arms 48 if general;
 *                  bias 8, diagonal 16, gamma 24 and mu 8 (gamma 8 without friction), compliance 8 where
 *                  a law has it, arm 48 and coupling 8 if general; model 24 where laws differ from ccp
 *                  and disc, estimate 8 with law fixed, base 8 with law coulomb; with moments all contacts
 *                  are general, gamma is 24 more, moment_mu and lever 16 each, incidence 8 more
 *     each of the two lists, the last step's and the new one
 *                  slot 4 per place, place 4 per slot; pair 8, other 4, impulse 24 per contact, feature
 *                  4 unless between two spheres
 *     backup       104 and 8 per slot, 76 per sphere contact, after a halved step or a redetection
 *
 * A bed of spheres with 2.7 contacts per body: 313 bytes per body, 176 per contact, 0.79 kB per body. */
#include "backend/cuda/device/reduce.h"
#include "engine/cuda/engine.h"

extern "C" {
#include "collide/period.h"
#include "engine/contact.h"
}

/* Snapshot for a rollback. */
struct CuBackup {
    CuArray<TalusVec3> position, velocity, spin;
    CuArray<TalusQuat> orientation;
    CuList list;
    int slots;
};

/* ---- life ---- */

static void tables_clear(CuTables *t)
{
    t->shape.clear();
    t->block.clear();
    t->gyration.clear();
    t->law.clear();
}

static void bodies_clear(CuBodies *b)
{
    b->position.clear();
    b->velocity.clear();
    b->spin.clear();
    b->orientation.clear();
    b->mass.clear();
    b->radius.clear();
    b->size.clear();
    b->shape.clear();
    b->material.clear();
    b->mobility.clear();
    b->force.clear();
    b->torque.clear();
}

static void list_clear(CuList *list)
{
    list->slot.clear();
    list->place.clear();
    list->pair.clear();
    list->other.clear();
    list->feature.clear();
    list->frame.clear();
    list->gap.clear();
    list->arms.clear();
    list->impulse.clear();
    list->incidence_start.clear();
    list->incidence.clear();
}

static void backup_clear(CuBackup *b)
{
    b->position.clear();
    b->velocity.clear();
    b->spin.clear();
    b->orientation.clear();
    list_clear(&b->list);
}

void cu_engine_destroy(TalusEngine *e)
{
    if (!e)
        return;
    cu_detect_clear(e);
    tables_clear(&e->tables);
    bodies_clear(&e->bodies);
    list_clear(&e->list[0]);
    list_clear(&e->list[1]);
    e->free.clear();
    e->look.clear();
    e->dropped.clear();
    e->probe_sums.clear();
    e->period.clear();
    if (e->backup)
        backup_clear(e->backup);
    cu_step_clear(e);
    cu_extra_clear(e);
    cu_joints_clear(e);
    talus_release(e->backup);
    talus_release(e);
}

template <class T>
static TalusStatus put(TalusEngine *e, CuArray<T> *to, const T *from, int64_t count,
                       const char *what)
{
    TALUS_TRY(to->reserve(count, what));
    cu_put(e->cu, to->at, from, (size_t)count * sizeof *from);
    return TALUS_OK;
}

TalusStatus cu_engine_create(const TalusEngineSetup *setup, TalusEngine **out)
{
    *out = nullptr;
    TalusEngine *e;
    TALUS_TRY(TALUS_ALLOC(e, 1, "engine"));
    e->cu = e->step.op.context = setup->context;
    e->list[0].counts.min_size = e->list[1].counts.min_size = HUGE_VAL;
    TalusStatus status = TALUS_ALLOC(e->backup, 1, "engine");
    if (status == TALUS_OK && setup->period && talus_periodic(setup->period))
        status = put(e, &e->period, setup->period, 1, "engine");
    if (status == TALUS_OK)
        *out = e;
    else
        cu_engine_destroy(e);
    return status;
}

/* ---- tables ---- */

TalusStatus cu_engine_tables(TalusEngine *e, const TalusTables *tables)
{
    CuTables *t = &e->tables;
    int64_t laws = (int64_t)tables->materials * tables->materials;
    TALUS_TRY(cu_put_shapes(e, tables));
    TALUS_TRY(put(e, &t->gyration, tables->gyration, tables->shapes, "shape inertia"));
    TALUS_TRY(put(e, &t->law, tables->law, laws, "material pairs"));
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

/* Zeroes the impulses of contacts of dropped bodies. */
static __global__ void forget(CuList list, const uint8_t *dropped)
{
    int64_t i = item();
    if (i >= list.counts.contacts)
        return;
    if (dropped[list.slot[list.pair[i].x]] || dropped[list.other[i]])
        list.impulse[i] = talus_vec3(0.0, 0.0, 0.0);
}

TalusStatus cu_engine_put_bodies(TalusEngine *e, const TalusBodyArrays *from,
                                 const uint8_t *dropped)
{
    CuBodies *b = &e->bodies;
    int n = from->slots;
    TALUS_TRY(put(e, &b->position, from->position, n, "bodies"));
    TALUS_TRY(put(e, &b->velocity, from->velocity, n, "bodies"));
    TALUS_TRY(put(e, &b->spin, from->spin, n, "bodies"));
    TALUS_TRY(put(e, &b->orientation, from->orientation, n, "bodies"));
    TALUS_TRY(put(e, &b->mass, from->mass, n, "bodies"));
    TALUS_TRY(put(e, &b->radius, from->radius, n, "bodies"));
    TALUS_TRY(put(e, &b->size, from->size, n, "bodies"));
    TALUS_TRY(put(e, &b->shape, from->shape, n, "bodies"));
    TALUS_TRY(put(e, &b->material, from->material, n, "bodies"));
    TALUS_TRY(put(e, &b->mobility, from->mobility, n, "bodies"));
    b->slots = n;
    b->driven = from->driven;
    e->id = from->id;
    if (dropped) {
        const CuList *list = cu_list(e);
        TALUS_TRY(put(e, &e->dropped, dropped, n, "dropped bodies"));
        launch(e->cu, forget, blocks_for(list->counts.contacts), THREADS, *list, e->dropped.at);
    }
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

static __global__ void count_below(CuBodies b, int axis, double below, CuPartials partials,
                                   double *out)
{
    double v[1] = {0.0};
    for (int64_t i = item(); i < b.slots; i += (int64_t)gridDim.x * blockDim.x) {
        v[0] += cu_moves(b.shape, b.mobility, i) && talus_along(b.position[i], axis) < below;
    }
    if (reduce_grid<1, 0>(partials, v))
        out[0] = v[0];
}

TalusStatus cu_engine_below(TalusEngine *e, int axis, double below, int64_t *count)
{
    unsigned blocks = cu_sum_blocks(e->bodies.slots);
    TALUS_TRY(cu_partials_reserve(e->cu, blocks, 1));
    launch_block(e->cu, count_below, blocks, THREADS, e->bodies, axis, below, cu_partials(e->cu),
                 e->cu->totals);
    double total;
    cu_totals_get(e->cu, 1, &total);
    *count = (int64_t)total;
    return cu_check(e->cu);
}

/* ---- snapshot and rollback ---- */

template <class T>
static TalusStatus copy(TalusEngine *e, CuArray<T> *to, const CuArray<T> &from, int64_t count)
{
    TALUS_TRY(to->reserve(count, "halved step"));
    cu_copy(e->cu, to->at, from.at, (size_t)count * sizeof *from.at);
    return TALUS_OK;
}

static TalusStatus list_copy(TalusEngine *e, CuList *to, const CuList *from)
{
    const TalusEngineCounts *c = &from->counts;
    int64_t contacts = c->contacts, rest = contacts - c->sphere_sphere;
    to->counts = {0, 0, 0, 0, HUGE_VAL, 0}; /* until the copy is complete */
    TALUS_TRY(copy(e, &to->slot, from->slot, from->places));
    TALUS_TRY(copy(e, &to->place, from->place, from->slots));
    TALUS_TRY(copy(e, &to->pair, from->pair, contacts));
    TALUS_TRY(copy(e, &to->other, from->other, contacts));
    TALUS_TRY(copy(e, &to->feature, from->feature, rest));
    TALUS_TRY(copy(e, &to->frame, from->frame, contacts));
    TALUS_TRY(copy(e, &to->gap, from->gap, contacts));
    TALUS_TRY(copy(e, &to->arms, from->arms, c->general));
    TALUS_TRY(copy(e, &to->impulse, from->impulse, contacts));
    to->counts = *c;
    to->places = from->places;
    to->slots = from->slots;
    return TALUS_OK;
}

TalusStatus cu_engine_snapshot(TalusEngine *e)
{
    const CuBodies *b = &e->bodies;
    CuBackup *backup = e->backup;
    TALUS_TRY(copy(e, &backup->position, b->position, b->slots));
    TALUS_TRY(copy(e, &backup->velocity, b->velocity, b->slots));
    TALUS_TRY(copy(e, &backup->spin, b->spin, b->slots));
    TALUS_TRY(copy(e, &backup->orientation, b->orientation, b->slots));
    TALUS_TRY(list_copy(e, &backup->list, cu_list(e)));
    backup->slots = b->slots;
    return cu_check(e->cu);
}

/* Exchanges all but `incidence`, which a backup does not have. */
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

/* Needs no memory. Consumes the backup. */
TalusStatus cu_engine_rollback(TalusEngine *e)
{
    CuBodies *b = &e->bodies;
    CuBackup *backup = e->backup;
    size_t n = (size_t)backup->slots;
    cu_copy(e->cu, b->position, backup->position, n * sizeof *b->position.at);
    cu_copy(e->cu, b->velocity, backup->velocity, n * sizeof *b->velocity.at);
    cu_copy(e->cu, b->spin, backup->spin, n * sizeof *b->spin.at);
    cu_copy(e->cu, b->orientation, backup->orientation, n * sizeof *b->orientation.at);
    exchange_lists(cu_list(e), &backup->list);
    return cu_check(e->cu);
}

/* ---- detection ---- */

void cu_engine_counts(const TalusEngine *e, TalusEngineCounts *counts)
{
    *counts = e->list[e->now].counts;
}

static TalusStatus detect(TalusEngine *e, const TalusDetectOptions *options, TalusVec3 gravity,
                          bool again, TalusEngineCounts *counts)
{
    TALUS_TRY(cu_predict_velocities(e, options->h, gravity, again));
    TALUS_TRY(cu_detect_contacts(e, options));
    cu_engine_counts(e, counts);
    return TALUS_OK;
}

TalusStatus cu_engine_detect(TalusEngine *e, const TalusDetectOptions *options, TalusVec3 gravity,
                             long long step, TalusEngineCounts *counts)
{
    (void)step;
    return detect(e, options, gravity, false, counts);
}

TalusStatus cu_engine_redetect(TalusEngine *e, const TalusDetectOptions *options, TalusVec3 gravity,
                               TalusEngineCounts *counts)
{
    return detect(e, options, gravity, true, counts);
}

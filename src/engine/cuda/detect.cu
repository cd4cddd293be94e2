/* engine/cuda/detect.cu - from bodies to a contact list on the device, as collide/detect.c on the host.
 *
 * The host waits once for the numbers of contacts and candidates (again if the list of walls must grow) and, if there
 * are candidates, once more for the number of their contacts. The new list takes over frames, gaps, arms and incidence
 * of the old one; only what the transfer of impulses needs (slots, pairs, features, impulses) exists twice. If the
 * arrays taken over must grow and memory holds both versions, the old list stays complete until all of the new one is
 * allocated. */
#include "engine/cuda/detect.h"

extern "C" {
#include "collide/errors.h"
}

/* ---- memory ---- */

static TalusStatus open_grid(TalusEngine *e)
{
    if (!e->grid)
        TALUS_TRY(TALUS_ALLOC(e->grid, 1, "detection"));
    CuGrid *g = e->grid;
    if (!g->wall_slot.at)
        TALUS_TRY(g->wall_slot.reserve(64, "walls"));
    TALUS_TRY(g->wall.reserve((int64_t)g->wall_slot.capacity + TALUS_LARGE_WALLS, "walls"));
    return g->grid.reserve(1, "grid");
}

void cu_detect_clear(TalusEngine *e)
{
    CuGrid *g = e->grid;
    if (!g)
        return;
    cu_clear(g->grid, g->wall, g->wall_slot, g->scratch, g->start, g->count, g->contact_count,
             g->fat, g->ball_fat, g->ball, g->candidate, g->rest);
    talus_release(g);
    e->grid = nullptr;
}

/* The scratch holds cell, rank and temp of each slot, and later `begin` of transfer.cu, three numbers per problem body
 * of the old list. */
static TalusStatus reserve_grid(TalusEngine *e, CuList *list)
{
    CuGrid *g = e->grid;
    int64_t n = e->bodies.slots, problem_bodies = cu_list(e)->problem_bodies;
    TALUS_TRY(g->scratch.reserve(3 * (n > problem_bodies ? n : problem_bodies) + 2, "grid"));
    TALUS_TRY(g->start.reserve(2 * n + CU_SPARE_CELLS, "grid"));
    TALUS_TRY(g->count.reserve(2 * (n + 1), "grid"));
    TALUS_TRY(g->fat.reserve(n, "grid"));
    TALUS_TRY(g->ball_fat.reserve(n, "grid"));
    TALUS_TRY(g->ball.reserve(n, "grid"));
    TALUS_TRY(list->slot.reserve(n, "bodies of the problem"));
    return list->problem_index.reserve(n, "bodies of the problem");
}

static CuDetect make_detect(const TalusEngine *e, const TalusDetectOptions *options,
                            const CuList *list)
{
    const CuGrid *g = e->grid;
    const CuBodies *b = &e->bodies;
    CuDetect d;
    d.cu = e->cu;
    d.bodies = {b->slots,
                b->position.at,
                b->orientation.at,
                e->seen_velocity,
                b->spin.at,
                b->radius.at,
                b->size.at,
                b->shape.at,
                b->mobility.at,
                e->tables.shape.at,
                e->tables.shapes,
                NULL,
                e->period.at,
                b->ranked ? b->rank.at : nullptr,
                b->ranked ? b->at_rank.at : nullptr,
                NULL,
                0};
    d.options = *options;
    d.filter = e->filter;
    d.grid = g->grid;
    d.slots = b->slots;
    d.wall = g->wall;
    d.wall_slot = g->wall_slot;
    d.wall_capacity = (uint32_t)g->wall_slot.capacity;
    d.fat = g->fat;
    d.cell = g->scratch;
    d.rank = g->scratch + d.slots;
    d.temp = g->scratch + 2 * d.slots;
    d.mask = (uint64_t *)g->scratch.at;
    d.start = g->start;
    d.slot = list->slot;
    d.problem_index = list->problem_index;
    d.ball = g->ball;
    d.ball_fat = g->ball_fat;
    d.count = g->count;
    d.candidate = g->candidate;
    d.driven = b->driven;
    d.ragged = e->tables.ragged;
    d.facets = e->tables.facets;
    d.rest = g->rest;
    return d;
}

/* ---- stages ---- */

static TalusStatus refuse(const TalusEngine *e, const CuFound *found)
{
    const CuBodies *b = &e->bodies;
    if (found->fault != CU_NONE)
        return talus_fail(TALUS_ERR_NUMERIC,
                          "the state of body %llu is not finite, or out of all proportion",
                          (unsigned long long)e->id[found->fault]);
    if (found->loose != CU_NONE) {
        int32_t shape;
        TalusShape loose;
        cu_get(e->cu, &shape, b->shape + found->loose, sizeof shape);
        cu_get(e->cu, &loose, e->tables.shape + shape, sizeof loose);
        return talus_refuse_free_wall(found->loose, loose.def.kind);
    }
    if (found->bad != CU_NONE)
        return talus_refuse_bad_numbers(found->bad);
    if (found->odd != CU_NONE) {
        double radius, size;
        cu_get(e->cu, &radius, b->radius + found->odd, sizeof radius);
        cu_get(e->cu, &size, b->size + found->odd, sizeof size);
        return talus_refuse_sphere_size(found->odd, radius, size);
    }
    TALUS_TRY(talus_check_period_fit(&found->fit));
    TALUS_TRY(talus_check_contact_count(found->spheres, INT32_MAX / 3));
    return talus_check_pair_count(found->candidates, INT32_MAX / 2);
}

/* Finds the problem's bodies and the numbers of candidates and of contacts between free spheres. */
static TalusStatus search(TalusEngine *e, const TalusDetectOptions *options, CuList *list,
                          CuDetect *d, CuFound *found)
{
    for (bool enough = false; !enough;) {
        TALUS_TRY(open_grid(e));
        TALUS_TRY(reserve_grid(e, list));
        *d = make_detect(e, options, list);
        TALUS_TRY(cu_grid_build(d));
        TALUS_TRY(cu_pairs_count(d));
        cu_get(e->cu, found, &d->grid->found, sizeof *found);
        TALUS_TRY(cu_check(e->cu));
        enough = found->unbounded <= d->wall_capacity;
        TALUS_TRY(e->grid->wall_slot.reserve(found->unbounded, "walls"));
    }
    list->problem_bodies = (int)found->problem_bodies;
    list->slots = e->bodies.slots;
    return refuse(e, found);
}

/* Fails for a pair of slots, a << 32 | b, whose shapes have no contact function. */
static TalusStatus refuse_pair(const TalusEngine *e, unsigned long long pair)
{
    const uint32_t slot[2] = {(uint32_t)(pair >> 32), (uint32_t)pair};
    TalusShapeKind kind[2];
    for (int k = 0; k < 2; k++) {
        int32_t shape;
        TalusShape s;
        cu_get(e->cu, &shape, e->bodies.shape + slot[k], sizeof shape);
        cu_get(e->cu, &s, e->tables.shape + shape, sizeof s);
        kind[k] = s.def.kind;
    }
    return talus_refuse_pair(kind[0], slot[0], kind[1], slot[1]);
}

static TalusStatus reserve_pairs(CuList *list, int64_t contacts)
{
    TALUS_TRY(list->pair.reserve(contacts, "contacts"));
    return list->other.reserve(contacts, "contacts");
}

/* Writes the pairs of free spheres and the candidates; counts the contacts of the candidates. */
static TalusStatus count_others(TalusEngine *e, CuDetect *d, CuList *list, CuFound *found)
{
    CuGrid *g = e->grid;
    int spheres = (int)found->spheres, candidates = (int)found->candidates;
    TALUS_TRY(g->candidate.reserve(candidates, "near pairs"));
    TALUS_TRY(g->contact_count.reserve(2 * ((int64_t)candidates + 1), "near pairs"));
    if (d->ragged)
        TALUS_TRY(g->rest.reserve(CU_KINDS * (int64_t)candidates, "near pairs"));
    TALUS_TRY(reserve_pairs(list, (int64_t)spheres + candidates));
    d->candidate = g->candidate;
    d->rest = g->rest;
    cu_pairs_write(d, list, spheres);
    if (candidates) {
        TALUS_TRY(cu_manifolds_count(d, candidates, g->contact_count));
        cu_get(e->cu, found, &d->grid->found, sizeof *found);
    }
    TALUS_TRY(cu_check(e->cu));
    if (found->unsupported != ~0ull)
        return refuse_pair(e, found->unsupported);
    double contacts = found->spheres + found->fixed + found->general;
    TALUS_TRY(talus_check_contact_count(contacts, INT32_MAX / 3));
    TALUS_TRY(talus_check_contact_count(found->general, INT32_MAX / 4));
    if ((size_t)contacts > list->pair.capacity || (size_t)contacts > list->other.capacity) {
        TALUS_TRY(reserve_pairs(list, (int64_t)contacts));
        cu_pairs_write(d, list, spheres); /* growing has lost the first result */
    }
    return TALUS_OK;
}

template <class T> static void exchange(CuArray<T> *a, CuArray<T> *b)
{
    CuArray<T> spare = *a;
    *a = *b;
    *b = spare;
}

/* Reserves `need` elements of `to`, an array of the new list, taking over the memory of `from`, the same array of the
 * old list, if that is large enough. Otherwise both exist side by side, so that the old list survives a failure; if
 * memory does not hold both, `from` is freed and *lost set. With *lost already set, `from` is taken over and grown. */
template <class T>
static TalusStatus inherit(CuArray<T> *to, CuArray<T> *from, int64_t need, const char *what,
                           bool *lost)
{
    bool fits = from->at && need <= (int64_t)from->capacity;
    to->clear();
    if (!fits && !*lost) {
        to->capacity = from->capacity; /* capacity grows from there */
        if (to->reserve(need, what) == TALUS_OK)
            return TALUS_OK;
        *lost = from->at != nullptr;
    }
    exchange(to, from);
    return to->reserve(need, what);
}

/* Ends inherit: gives `stays` the memory of `goes` if it has none, and clears `goes`. */
template <class T> static void settle(CuArray<T> *stays, CuArray<T> *goes)
{
    if (!stays->at)
        exchange(stays, goes);
    goes->clear();
}

/* Reserves the new list, `list`, for its counts. A failure leaves the old one unchanged unless *lost. */
static TalusStatus reserve_list(CuList *list, CuList *old, bool *lost)
{
    const TalusEngineCounts *n = &list->counts;
    const char *contacts = "contacts", *incidence = "body contacts";
    int64_t starts = (int64_t)list->problem_bodies + 1, ends = 2 * (int64_t)n->contacts;
    TALUS_TRY(list->feature.reserve(n->sphere_fixed + n->general, contacts));
    TALUS_TRY(list->impulse.reserve(n->contacts, "impulses"));
    TalusStatus status = inherit(&list->frame, &old->frame, n->contacts, contacts, lost);
    if (status == TALUS_OK)
        status = inherit(&list->gap, &old->gap, n->contacts, contacts, lost);
    if (status == TALUS_OK)
        status = inherit(&list->arms, &old->arms, n->general, contacts, lost);
    if (status == TALUS_OK)
        status = inherit(&list->incidence_start, &old->incidence_start, starts, incidence, lost);
    if (status == TALUS_OK)
        status = inherit(&list->incidence, &old->incidence, ends, incidence, lost);
    CuList *stays = status == TALUS_OK ? list : old, *goes = stays == list ? old : list;
    settle(&stays->frame, &goes->frame);
    settle(&stays->gap, &goes->gap);
    settle(&stays->arms, &goes->arms);
    settle(&stays->incidence_start, &goes->incidence_start);
    settle(&stays->incidence, &goes->incidence);
    return status;
}

static TalusStatus write_list(TalusEngine *e, const CuDetect *d, CuList *list, CuList *old,
                              int candidates)
{
    cu_sphere_frames(d, list, list->counts.sphere_sphere);
    if (candidates)
        cu_manifolds_write(d, candidates, e->grid->contact_count, list);
    TALUS_TRY(cu_list_body_contacts(d, list));
    cu_transfer_impulses(e->cu, old, list, e->grid->scratch);
    return cu_check(e->cu);
}

TalusStatus cu_detect_contacts(TalusEngine *e, const TalusDetectOptions *options)
{
    CuList *old = cu_list(e), *list = &e->list[1 - e->now];
    CuDetect d;
    CuFound found;
    TALUS_TRY(talus_check_detect_options(options));
    TALUS_TRY(search(e, options, list, &d, &found));
    TALUS_TRY(count_others(e, &d, list, &found));
    int spheres = (int)found.spheres, fixed = (int)found.fixed, general = (int)found.general;
    list->counts = {spheres,          fixed, general, spheres + fixed + general, found.min_size,
                    found.fit.clipped};
    bool lost = false;
    TalusStatus status = reserve_list(list, old, &lost);
    if (status == TALUS_OK) {
        lost = true;
        status = write_list(e, &d, list, old, (int)found.candidates);
    }
    if (status != TALUS_OK && lost)
        old->counts = {0, 0, 0, 0, HUGE_VAL, 0}; /* neither list is complete */
    TALUS_TRY(status);
    e->now = 1 - e->now;
    return TALUS_OK;
}

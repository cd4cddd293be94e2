/* engine/cuda/detect.cu - makes the contact list from the bodies on the device, as collide/detect.c does on the host.
 *
 * The host waits once for the numbers of contacts and candidates (again if the list of walls must grow) and, if there
 * are candidates, once more for the number of their contacts. The new list takes over the memory of frames, gaps, arms
 * and incidence of the old list; only the arrays that the transfer of impulses reads (slots, pairs, features, impulses)
 * exist twice. If an array that is taken over must grow, and memory holds the old and the larger one, the old list
 * stays complete until all of the new list is allocated. */
#include "engine/cuda/detect.h"

extern "C" {
#include "collide/errors.h"
}

/* ---- memory ---- */

/* Allocates e->grid on the first call; reserves its arrays of walls and its layout. */
static TalusStatus create_grid(TalusEngine *e)
{
    if (!e->grid)
        TALUS_TRY(TALUS_ALLOC(e->grid, 1, "detection"));
    CuGrid *g = e->grid;
    if (!g->wall_slot.at)
        TALUS_TRY(g->wall_slot.reserve(64, "walls"));
    int64_t walls = (int64_t)g->wall_slot.capacity + TALUS_LARGE_WALLS;
    TALUS_TRY(g->wall.reserve(walls, "walls"));
    TALUS_TRY(g->wall_group.reserve(walls, "walls"));
    return g->grid.reserve(1, "grid");
}

void cu_detection_clear(TalusEngine *e)
{
    CuGrid *g = e->grid;
    if (!g)
        return;
    cu_clear(g->grid, g->wall, g->wall_group, g->wall_slot, g->scratch, g->cell_start, g->count,
             g->contact_count, g->fat, g->ball_fat, g->ball, g->candidate, g->grouped);
    talus_release(g);
    e->grid = nullptr;
}

/* Reserves the arrays of the grid that depend on the number of slots, and slot and problem_index of the new list. The
 * scratch holds cell, number_in_cell and cell_bodies; then the mask of pairs.cu in place of the first two, and
 * end_count of incidence.cu in place of cell_bodies; at last the work space of transfer.cu, three numbers per problem
 * body of the old list. all_slots: number of all ranks. */
static TalusStatus reserve_grid(TalusEngine *e, CuList *list, int64_t all_slots)
{
    CuGrid *g = e->grid;
    int64_t n = e->bodies.slots, problem_bodies = cu_current_list(e)->problem_bodies;
    TALUS_TRY(g->scratch.reserve(3 * (n > problem_bodies ? n : problem_bodies) + 2, "grid"));
    TALUS_TRY(g->cell_start.reserve(2 * all_slots + CU_SPARE_CELLS, "grid"));
    TALUS_TRY(g->count.reserve(2 * (n + 1), "grid"));
    TALUS_TRY(g->fat.reserve(n, "grid"));
    TALUS_TRY(g->ball_fat.reserve(n, "grid"));
    TALUS_TRY(g->ball.reserve(n, "grid"));
    TALUS_TRY(list->slot.reserve(n, "bodies of the problem"));
    return list->problem_index.reserve(n, "bodies of the problem");
}

/* Returns the arguments of detection's kernels, for the new list `list`. */
static CuDetect detect_arguments(const TalusEngine *e, const TalusDetectOptions *options,
                                 const CuList *list)
{
    const CuGrid *g = e->grid;
    const CuBodies *b = &e->bodies;
    CuDetect d = {};
    d.cu = e->cu;
    d.bodies = {b->slots,
                b->position.at,
                b->orientation.at,
                e->detection_velocity,
                e->detection_spin,
                b->radius.at,
                b->size.at,
                b->shape.at,
                b->mobility.at,
                e->tables.shape.at,
                e->tables.shapes,
                NULL,
                e->period.at,
                nullptr, /* no cell deforms here */
                b->ranked ? b->rank.at : nullptr,
                nullptr, /* no kernel needs at_rank */
                b->ids_differ ? b->id.at : nullptr,
                0,
                b->slots - b->own,
                nullptr /* ranks agree in grid.cu */};
    d.options = *options;
    d.filter = e->filter;
    d.grid = g->grid;
    d.slots = b->slots;
    d.comm = e->comm;
    d.own = b->own;
    d.wall = g->wall;
    d.wall_group = g->wall_group;
    d.wall_slot = g->wall_slot;
    d.wall_capacity = (uint32_t)g->wall_slot.capacity;
    d.fat = g->fat;
    d.cell = g->scratch;
    d.number_in_cell = g->scratch + d.slots;
    d.cell_bodies = g->scratch + 2 * d.slots;
    d.mask = (uint64_t *)g->scratch.at;
    d.cell_start = g->cell_start;
    d.slot = list->slot;
    d.problem_index = list->problem_index;
    d.ball = g->ball;
    d.ball_fat = g->ball_fat;
    d.count = g->count;
    d.candidate = g->candidate;
    d.driven = b->driven;
    d.complex_shapes = e->tables.complex_shapes;
    d.facets = e->tables.facets;
    d.grouped = g->grouped;
    return d;
}

/* ---- stages ---- */

/* Fails if the search has found a body that detection refuses, bodies that do not fit into the period, or too many
 * contacts or candidates. */
static TalusStatus check_found(const TalusEngine *e, const CuFound *found)
{
    const CuBodies *b = &e->bodies;
    if (found->bad_state != CU_NONE)
        return talus_fail(TALUS_ERR_NUMERIC,
                          "the state of body %llu is not finite, or out of all proportion",
                          (unsigned long long)e->id[found->bad_state]);
    if (found->free_wall != CU_NONE) {
        int32_t shape;
        TalusShape wall;
        cu_get(e->cu, &shape, b->shape + found->free_wall, sizeof shape);
        cu_get(e->cu, &wall, e->tables.shape + shape, sizeof wall);
        return talus_refuse_free_wall(found->free_wall, wall.def.kind);
    }
    if (found->bad_radius != CU_NONE)
        return talus_refuse_bad_numbers(found->bad_radius);
    if (found->bad_sphere != CU_NONE) {
        double radius, size;
        cu_get(e->cu, &radius, b->radius + found->bad_sphere, sizeof radius);
        cu_get(e->cu, &size, b->size + found->bad_sphere, sizeof size);
        return talus_refuse_sphere_size(found->bad_sphere, radius, size);
    }
    TALUS_TRY(talus_check_period_fit(&found->fit));
    TALUS_TRY(talus_check_contact_count((double)found->sphere_sphere, INT32_MAX / 3));
    return talus_check_pair_count((double)found->candidates, INT32_MAX / 2);
}

/* Numbers of all ranks: slots that are their own, free bodies. */
struct AllBodies {
    int64_t slots, free;
};

static TalusStatus count_all_bodies(const TalusEngine *e, AllBodies *all)
{
    int64_t count[2] = {e->bodies.own, e->bodies.free_bodies};
    TALUS_TRY(talus_comm_add_counts(e->comm, count, 2));
    *all = AllBodies{count[0], count[1]};
    return TALUS_OK;
}

/* Builds the grid and counts candidates and contacts of two free spheres; once more, with more memory, if the walls did
 * not fit. Sets problem_bodies and slots of the list and fills *d and *found. */
static TalusStatus search_pairs(TalusEngine *e, const TalusDetectOptions *options, CuList *list,
                                CuDetect *d, CuFound *found)
{
    AllBodies all;
    TALUS_TRY(count_all_bodies(e, &all));
    for (bool enough = false; !enough;) {
        TalusStatus status = create_grid(e);
        TALUS_THEN(status, reserve_grid(e, list, all.slots));
        TALUS_TRY(talus_comm_agree(e->comm, status));
        *d = detect_arguments(e, options, list);
        d->sample_limit = talus_sample_limit(all.free);
        d->cells = 2 * all.slots + CU_SPARE_CELLS;
        status = cu_grid_build(d);
        TALUS_THEN(status, cu_pairs_count(d));
        cu_get(e->cu, found, &d->grid->found, sizeof *found);
        TALUS_THEN(status, cu_check(e->cu));
        TALUS_TRY(talus_comm_agree(e->comm, status));
        enough = !talus_comm_any(e->comm, found->shape_walls > d->wall_capacity);
        status = e->grid->wall_slot.reserve(found->shape_walls, "walls");
        TALUS_TRY(talus_comm_agree(e->comm, status));
    }
    talus_comm_find_minima(e->comm, &found->min_size, 1);
    list->problem_bodies = (int)found->problem_bodies;
    list->slots = e->bodies.slots;
    return talus_comm_agree(e->comm, check_found(e, found));
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

/* Reserves pair and slot_b of the list. */
static TalusStatus reserve_pairs(CuList *list, int64_t contacts)
{
    TALUS_TRY(list->pair.reserve(contacts, "contacts"));
    return list->slot_b.reserve(contacts, "contacts");
}

/* Writes the pairs of two free spheres to the list and the candidates to d->candidate; counts the contacts of the
 * candidates, with d->check the missing ones, in *found. Reserves memory for the candidates and for pair and slot_b of all contacts. Fails if a pair of
 * shapes has no contact function, or if there are too many contacts. */
static TalusStatus write_pairs_and_count_contacts(TalusEngine *e, CuDetect *d, CuList *list,
                                                  CuFound *found)
{
    CuGrid *g = e->grid;
    int spheres = (int)found->sphere_sphere, candidates = (int)found->candidates;
    TALUS_TRY(g->candidate.reserve(candidates, "near pairs"));
    TALUS_TRY(g->contact_count.reserve(2 * ((int64_t)candidates + 1), "near pairs"));
    if (d->complex_shapes)
        TALUS_TRY(g->grouped.reserve(CU_GROUPS * (int64_t)candidates, "near pairs"));
    TALUS_TRY(reserve_pairs(list, (int64_t)spheres + candidates));
    d->candidate = g->candidate;
    d->grouped = g->grouped;
    cu_pairs_write(d, list, spheres);
    if (candidates) {
        TALUS_TRY(cu_manifolds_count(d, candidates, g->contact_count));
        cu_get(e->cu, found, &d->grid->found, sizeof *found);
    }
    TALUS_TRY(cu_check(e->cu));
    if (found->unsupported != ~0ull)
        return refuse_pair(e, found->unsupported);
    double contacts = (double)(found->sphere_sphere + found->sphere_fixed + found->general);
    TALUS_TRY(talus_check_contact_count(contacts, INT32_MAX / 3));
    TALUS_TRY(talus_check_contact_count((double)found->general, INT32_MAX / 4));
    if ((size_t)contacts > list->pair.capacity || (size_t)contacts > list->slot_b.capacity) {
        TALUS_TRY(reserve_pairs(list, (int64_t)contacts));
        cu_pairs_write(d, list, spheres); /* the larger arrays do not have the pairs yet */
    }
    return TALUS_OK;
}

/* Exchanges the memory of two arrays. */
template <class T> static void exchange_arrays(CuArray<T> *a, CuArray<T> *b)
{
    CuArray<T> spare = *a;
    *a = *b;
    *b = spare;
}

/* Reserves `need` elements of `to`, an array of the new list; `from` is the same array of the old list. Takes over the
 * memory of `from` if that is large enough. Else allocates new memory beside it, so that the old list survives a
 * failure; if memory does not hold both, frees `from` and sets *lost. With *lost already set, takes over `from` and
 * grows it. */
template <class T>
static TalusStatus reserve_or_take_over(CuArray<T> *to, CuArray<T> *from, int64_t need,
                                        const char *what, bool *lost)
{
    bool fits = from->at && need <= (int64_t)from->capacity;
    to->clear();
    if (!fits && !*lost) {
        to->capacity = from->capacity; /* capacity grows from there */
        if (to->reserve(need, what) == TALUS_OK)
            return TALUS_OK;
        *lost = from->at != nullptr;
    }
    exchange_arrays(to, from);
    return to->reserve(need, what);
}

/* After reserve_or_take_over: `stays` is the array of the list that is used further, `goes` that of the other one.
 * Gives `stays` the memory of `goes` if `stays` has none; frees `goes` otherwise. */
template <class T> static void finish_take_over(CuArray<T> *stays, CuArray<T> *goes)
{
    if (!stays->at)
        exchange_arrays(stays, goes);
    goes->clear();
}

/* Reserves the arrays of the new list, `list`, for list->counts and problem_bodies, except pair, slot_b, slot and
 * problem_index. A failure leaves the old list complete unless *lost is true afterwards; false before. */
static TalusStatus reserve_list(CuList *list, CuList *old, bool *lost)
{
    const TalusEngineCounts *n = &list->counts;
    const char *contacts = "contacts", *incidence = "body contacts";
    int64_t starts = (int64_t)list->problem_bodies + 1, ends = 2 * (int64_t)n->contacts;
    TALUS_TRY(list->feature.reserve(n->sphere_fixed + n->general, contacts));
    TALUS_TRY(list->impulse.reserve(n->contacts, "impulses"));
    TalusStatus status =
        reserve_or_take_over(&list->frame, &old->frame, n->contacts, contacts, lost);
    if (status == TALUS_OK)
        status = reserve_or_take_over(&list->gap, &old->gap, n->contacts, contacts, lost);
    if (status == TALUS_OK)
        status = reserve_or_take_over(&list->arms, &old->arms, n->general, contacts, lost);
    if (status == TALUS_OK)
        status = reserve_or_take_over(&list->incidence_start, &old->incidence_start, starts,
                                      incidence, lost);
    if (status == TALUS_OK)
        status = reserve_or_take_over(&list->incidence, &old->incidence, ends, incidence, lost);
    CuList *stays = status == TALUS_OK ? list : old, *goes = stays == list ? old : list;
    finish_take_over(&stays->frame, &goes->frame);
    finish_take_over(&stays->gap, &goes->gap);
    finish_take_over(&stays->arms, &goes->arms);
    finish_take_over(&stays->incidence_start, &goes->incidence_start);
    finish_take_over(&stays->incidence, &goes->incidence);
    return status;
}

/* Writes frames and gaps of run 1, the contacts of the candidates, incidence and impulses of the new list. */
static TalusStatus write_list(TalusEngine *e, const CuDetect *d, CuList *list, CuList *old,
                              int candidates)
{
    cu_fill_sphere_frames(d, list, list->counts.sphere_sphere);
    if (candidates)
        cu_manifolds_write(d, candidates, e->grid->contact_count, list);
    TALUS_TRY(cu_fill_incidence(d, list));
    cu_transfer_impulses(e->cu, old, list, e->grid->scratch);
    return cu_check(e->cu);
}

/* Makes the list of the pairs that search_pairs has found, and makes it the current one. */
static TalusStatus make_list(TalusEngine *e, CuDetect *d, CuFound *found)
{
    CuList *old = cu_current_list(e), *list = &e->list[1 - e->current];
    TALUS_TRY(write_pairs_and_count_contacts(e, d, list, found));
    int spheres = (int)found->sphere_sphere, fixed = (int)found->sphere_fixed,
        general = (int)found->general;
    list->counts = {spheres,           fixed, general, spheres + fixed + general, found->min_size,
                    found->fit.clipped};
    bool lost = false;
    TalusStatus status = reserve_list(list, old, &lost);
    if (status == TALUS_OK) {
        lost = true;
        status = write_list(e, d, list, old, (int)found->candidates);
    }
    if (status != TALUS_OK && lost)
        old->counts = {0, 0, 0, 0, HUGE_VAL, 0}; /* neither list is complete */
    TALUS_TRY(status);
    e->current = 1 - e->current;
    return TALUS_OK;
}

TalusStatus cu_detect_contacts(TalusEngine *e, const TalusDetectOptions *options)
{
    CuDetect d;
    CuFound found;
    TALUS_TRY(talus_check_detect_options(options));
    TALUS_TRY(search_pairs(e, options, &e->list[1 - e->current], &d, &found));
    return talus_comm_agree(e->comm, make_list(e, &d, &found));
}

TalusStatus cu_find_missing_contacts(TalusEngine *e, const TalusDetectOptions *options,
                                     double tolerance, bool *missing)
{
    CuList *old = cu_current_list(e), *list = &e->list[1 - e->current];
    CuDetect d;
    CuFound found;
    TALUS_TRY(search_pairs(e, options, list, &d, &found));
    d.check = {true, *old, tolerance};
    TALUS_TRY(write_pairs_and_count_contacts(e, &d, list, &found));
    cu_count_missing_spheres(&d, list, (int)found.sphere_sphere);
    cu_get(e->cu, &found, &d.grid->found, sizeof found);
    TALUS_TRY(cu_check(e->cu));
    old->counts.clipped_bodies = found.fit.clipped;
    *missing = found.missing_spheres + found.sphere_fixed + found.general > 0;
    return TALUS_OK;
}

/* world/source/overlap.c - overlaps of bodies, queried outside of a step.
 *
 * A separate detector finds the contacts for h = 0 and without an envelope, which are the overlaps. The
 * world's own list and its impulses stay unchanged, so a query does not affect a run. Without solid meshes it costs at
 * most as much as the detection of a step.
 *
 * A body that lies deeper inside a solid mesh than its own reach has no contact with it (docs/how-to/meshes.md). Bodies
 * whose centre lies inside are found by the solid facets above the centre: the number of facets that face up less the
 * number that face down is 1 inside and 0 outside. */
#include "world/source/overlap.h"
#include "world/step/mirror.h"

#include "collide/envelope.h"
#include "geometry/bounds.h"
#include "geometry/facets.h"

#include <string.h>

/* ---- a list of contacts ---- */

/* Returns depth over size, by which overlaps are compared. */
static double relative_depth(const TalusOverlapPair *p)
{
    return p->size > 0.0 ? p->depth / p->size : 0.0;
}

/* True if a pair of numbers comes before another; the former number counts first. */
static bool comes_before(const uint64_t x[2], const uint64_t y[2])
{
    return x[0] < y[0] || (x[0] == y[0] && x[1] < y[1]);
}

/* True if overlap p is worse than q, or comes before it if both are alike. p_number, q_number: of their bodies, b and a if
 * a is inside b, else a and b. */
static bool is_worse(const TalusOverlapPair *p, const uint64_t p_number[2],
                     const TalusOverlapPair *q, const uint64_t q_number[2])
{
    const double x = relative_depth(p), y = relative_depth(q);
    if (x != y || x == 0.0)
        return x > y;
    return p->run < q->run || (p->run == q->run && comes_before(p_number, q_number));
}

/* Writes the places of the pair's bodies in the order of ids to number[2]. */
static void get_places(const TalusBodyView *v, const TalusOverlapPair *p, uint64_t number[2])
{
    const bool inside = p->run == TALUS_OVERLAP_INSIDE;
    const int slot[2] = {inside ? p->b : p->a, inside ? p->a : p->b};
    for (int k = 0; k < 2; k++)
        number[k] = slot[k] >= 0 && v->rank ? v->rank[slot[k]] : (uint64_t)slot[k];
}

/* Sets *worst to *p if p is worse; keeps the number of pairs. */
static void replace_if_worse(const TalusBodyView *v, TalusOverlapPair *worst,
                             const TalusOverlapPair *p)
{
    const int64_t pairs = worst->pairs;
    uint64_t p_place[2], worst_place[2];
    get_places(v, p, p_place);
    get_places(v, worst, worst_place);
    if (is_worse(p, p_place, worst, worst_place))
        *worst = *p;
    worst->pairs = pairs;
}

/* Sets *worst to the worst overlap of the list and counts the overlapping pairs; contacts of one pair are adjacent. */
static void find_worst_contact(const TalusBodyView *v, const TalusContactList *list,
                               TalusOverlapPair *worst)
{
    const int fixed_end = list->sphere_sphere + list->sphere_fixed;
    const TalusContact *last = NULL;
    for (int i = 0; i < list->count; i++) {
        const TalusContact *c = &list->contact[i];
        if (!(c->gap < 0.0) || (int)c->a >= v->count - v->halo)
            continue;
        worst->pairs += !last || last->a != c->a || last->b != c->b;
        last = c;
        TalusOverlapPair p = {.a = (int)c->a, .b = (int)c->b, .depth = -c->gap};
        p.run = i < list->sphere_sphere ? 0 : i < fixed_end ? 1 : 2;
        p.size = talus_is_free(v, c->b) ? fmin(v->size[c->a], v->size[c->b]) : v->size[c->a];
        replace_if_worse(v, worst, &p);
    }
}

/* ---- inside solid meshes ---- */

/* True if the line along z through p crosses the triangle. A line through the common edge of two triangles crosses
 * exactly one of them, because the edge is cut by the same arithmetic for both. */
static bool crosses_vertical(const TalusFacet *f, TalusVec3 p)
{
    bool odd = false;
    for (int k = 0; k < 3; k++) {
        TalusVec3 a = f->corner[k], b = f->corner[k == 2 ? 0 : k + 1];
        if (a.y > b.y || (a.y == b.y && a.x > b.x)) {
            TalusVec3 t = a;
            a = b;
            b = t;
        }
        if ((a.y > p.y) != (b.y > p.y) && p.x < a.x + (p.y - a.y) / (b.y - a.y) * (b.x - a.x))
            odd = !odd;
    }
    return odd;
}

/* True if p, in the mesh's frame, lies inside its solid. */
static bool is_inside_mesh(const TalusShape *mesh, TalusVec3 p)
{
    TalusAabb up = {p, talus_vec3(p.x, p.y, mesh->box.hi.z)};
    TalusFacetWalk walk = talus_facets_in_box(mesh, up);
    int around = 0;
    for (int32_t t; (t = talus_next_facet(&walk)) >= 0;) {
        if (!talus_facet_is_solid(mesh, t))
            continue;
        TalusFacet f = talus_get_facet(&mesh->def, t);
        double height = talus_dot(f.normal, talus_sub(f.corner[0], p));
        if (crosses_vertical(&f, p) && height * f.normal.z > 0.0)
            around += f.normal.z > 0.0 ? 1 : -1;
    }
    return around > 0;
}

/* Returns the distance of p from the nearest facet: searches a box around p of half width `reach`, doubled until it is
 * at least that distance. */
static double distance_to_surface(const TalusShape *mesh, TalusVec3 p, double reach)
{
    for (;; reach *= 2.0) {
        double nearest = INFINITY;
        TalusFacetWalk walk = talus_facets_in_box(mesh, talus_box_around(p, reach));
        for (int32_t t; (t = talus_next_facet(&walk)) >= 0;) {
            TalusFacet f = talus_get_facet(&mesh->def, t);
            nearest = fmin(nearest, talus_norm(talus_facet_closest(&f, p).from));
        }
        if (nearest <= reach || reach > TALUS_FACET_MAX_COORDINATE)
            return nearest;
    }
}

/* True if the shape is a mesh with at least one solid facet. */
static bool has_solid_facet(const TalusShape *shape)
{
    bool solid = false;
    for (int32_t t = 0; shape->def.kind == TALUS_SHAPE_MESH && t < shape->def.triangle_count; t++)
        solid = solid || talus_facet_is_solid(shape, t);
    return solid;
}

/* True if p lies strictly inside the box. */
static bool in_box(const TalusAabb *box, TalusVec3 p)
{
    return p.x > box->lo.x && p.x < box->hi.x && p.y > box->lo.y && p.y < box->hi.y &&
           p.z > box->lo.z && p.z < box->hi.z;
}

typedef struct InsideSearch {
    const TalusBodyView *view;
    int wall;                /* slot of the body with a solid mesh */
    TalusOverlapPair *worst; /* by chunk of bodies; depth 0: none */
} InsideSearch;

/* Finds, in a chunk of bodies, the worst overlap of free bodies whose centre is inside the solid mesh of body c->wall.
 * The depth is the centre's distance from the surface plus the body's size. */
static void search_inside(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const InsideSearch *c = context;
    const TalusBodyView *v = c->view;
    const TalusShape *mesh = &v->shapes[v->shape[c->wall]];
    for (int i = (int)begin; i < (int)end; i++) {
        if (v->shape[i] < 0 || !talus_is_free(v, i))
            continue;
        TalusVec3 from = talus_vector_between(v, (uint32_t)c->wall, (uint32_t)i);
        TalusVec3 p = talus_rotate_back(v->orientation[c->wall], from);
        if (!in_box(&mesh->box, p) || !is_inside_mesh(mesh, p) ||
            (v->filter && !talus_may_meet(v->filter, (uint32_t)i, (uint32_t)c->wall)))
            continue;
        double depth = distance_to_surface(mesh, p, v->size[i]) + v->size[i];
        TalusOverlapPair q = {
            .a = i, .b = c->wall, .depth = depth, .size = v->size[i], .run = TALUS_OVERLAP_INSIDE};
        replace_if_worse(v, &c->worst[chunk], &q);
    }
}

/* Replaces *worst if a free body inside the solid mesh of body `wall` overlaps more. No effect if `wall` is free or has
 * no solid mesh. */
static TalusStatus find_worst_inside(TalusPool *pool, const TalusBodyView *v, int wall,
                                     TalusOverlapPair *worst)
{
    InsideSearch c = {.view = v, .wall = wall};
    const int own = v->count - v->halo;
    int64_t chunks = talus_chunks(own, TALUS_GRAIN);
    if (v->shape[wall] < 0 || talus_is_free(v, wall) ||
        !has_solid_facet(&v->shapes[v->shape[wall]]))
        return TALUS_OK;
    TALUS_TRY(TALUS_ALLOC(c.worst, (size_t)chunks + 1, "overlaps"));
    talus_parallel(pool, own, TALUS_GRAIN, search_inside, &c);
    for (int64_t k = 0; k < chunks; k++)
        replace_if_worse(v, worst, &c.worst[k]);
    talus_release(c.worst);
    return TALUS_OK;
}

/* ---- queries ---- */

TalusStatus talus_view_worst_overlap(TalusPool *pool, const TalusBodyView *view,
                                     TalusOverlapPair *worst)
{
    TalusDetector *detector;
    TalusContactList *list;
    TalusDetectOptions options = {0};
    *worst = (TalusOverlapPair){.a = -1, .b = -1};
    TALUS_TRY(talus_detector_create(&detector));
    TalusStatus status = talus_detect(detector, pool, view, &options, &list);
    if (status == TALUS_OK)
        find_worst_contact(view, list, worst);
    for (int i = 0; status == TALUS_OK && i < view->count; i++)
        status = find_worst_inside(pool, view, i, worst);
    talus_detector_destroy(detector);
    return status;
}

/* Sets *worst to the worst overlap of the world's bodies and those in its halo, in the order of ids. */
static TalusStatus find_worst(TalusWorld *world, TalusOverlapPair *worst)
{
    const int slots = world->bodies.counts.slots + world->ranks.halo;
    TalusIdOrder order = {0};
    TalusBodyView view = talus_bodies_view(world, &world->bodies, talus_filter_view(world));
    TalusStatus status = talus_id_order_update(&order, world->bodies.id, slots);
    view.count = slots;
    view.halo = world->ranks.halo;
    view.id = world->bodies.id;
    view.rank = order.stored ? order.rank : NULL;
    view.at_rank = order.stored ? order.at_rank : NULL;
    TALUS_THEN(status, talus_view_worst_overlap(world->pool, &view, worst));
    talus_id_order_clear(&order);
    return status;
}

/* The overlap as callers see it; `pairs` counts those with a contact. */
static TalusOverlap name_bodies(const TalusWorld *world, const TalusOverlapPair *worst)
{
    TalusOverlap overlap = {.pairs = worst->pairs};
    if (worst->a < 0)
        return overlap;
    overlap.depth = worst->depth;
    overlap.size = worst->size;
    overlap.a = talus_slot_id(&world->bodies, (uint32_t)worst->a);
    overlap.b = talus_slot_id(&world->bodies, (uint32_t)worst->b);
    return overlap;
}

/* Writes the numbers of the bodies in the order in which they are compared. */
static void order_numbers(const TalusNumberedOverlap *r, uint64_t number[2])
{
    const bool inside = r->pair.run == TALUS_OVERLAP_INSIDE;
    number[0] = r->number[inside ? 1 : 0];
    number[1] = r->number[inside ? 0 : 1];
}

TalusStatus talus_overlap_share(TalusComm *comm, TalusNumberedOverlap *worst, int *rank)
{
    TalusInbox inbox = {0};
    int64_t pairs = 0;
    TalusStatus status = talus_comm_gather(comm, worst, sizeof *worst, &inbox);
    for (int k = 0; status == TALUS_OK && k < inbox.count; k++) {
        const TalusNumberedOverlap *r = inbox.message[k].data;
        uint64_t number[2], worst_number[2];
        order_numbers(r, number);
        order_numbers(worst, worst_number);
        pairs += r->pair.pairs;
        if (k > 0 && !is_worse(&r->pair, number, &worst->pair, worst_number))
            continue;
        *worst = *r;
        *rank = k;
    }
    worst->pair.pairs = pairs;
    talus_inbox_clear(&inbox);
    return status;
}

/* The worst overlap of a world on several ranks. A copy of the world gets a halo for the present positions: that of the
 * world belongs to its contacts. */
static TalusStatus find_worst_of_ranks(const TalusWorld *world, TalusOverlap *out)
{
    TalusWorld *copy;
    TalusNumberedOverlap worst;
    int rank = 0;
    memset(&worst, 0, sizeof worst); /* padding, too: it is sent */
    TALUS_TRY(talus_ranks_copy_with_halo(world, &copy));
    TalusStatus status = talus_comm_agree(world->ranks.comm, find_worst(copy, &worst.pair));
    if (status == TALUS_OK) {
        const TalusOverlap found = name_bodies(copy, &worst.pair);
        worst.number[0] = found.a.number;
        worst.number[1] = found.b.number;
        status = talus_overlap_share(world->ranks.comm, &worst, &rank);
    }
    talus_ranks_drop_copy(copy);
    *out = (TalusOverlap){.a = {worst.number[0]},
                          .b = {worst.number[1]},
                          .depth = worst.pair.depth,
                          .size = worst.pair.size,
                          .pairs = worst.pair.pairs};
    return status;
}

TalusStatus talus_world_worst_overlap(const TalusWorld *world, TalusOverlap *out)
{
    TalusStatus status;
    *out = (TalusOverlap){0};
    TALUS_TRY(talus_world_download_bodies(world));
    if (talus_world_is_dealt(world)) {
        status = find_worst_of_ranks(world, out);
    } else {
        TalusOverlapPair worst;
        status = find_worst((TalusWorld *)world, &worst);
        if (status == TALUS_OK)
            *out = name_bodies(world, &worst);
    }
    if (status != TALUS_OK)
        *out = (TalusOverlap){0};
    /* bodies inside meshes are not counted, but `pairs` is 1 if there are no other overlaps */
    if (out->a.number > 0 && out->pairs == 0)
        out->pairs = 1;
    return status;
}

/* geometry/facets.h - common access to the triangles of meshes and height fields; for host and device.
 *
 * A facet t has corners 0, 1, 2 and sides 3 t + k, from corner k to the next. A field has two facets for each cell of
 * its grid: 2 c on the +x side of the diagonal from its first corner to its last, 2 c + 1 on the +y side. The topology
 * of a field is computed; that of a mesh is stored (TalusMeshTopology). */
#ifndef TALUS_GEOMETRY_FACETS_H
#define TALUS_GEOMETRY_FACETS_H

#include "geometry/shape.h"

#include <stdbool.h>

enum { TALUS_MAX_FACETS = 1 << 23 }; /* maximum per shape: features have 23 bits for the index */

/* Largest coordinate: bounds are in single precision. */
#define TALUS_FACET_MAX_COORDINATE 1e30

typedef struct TalusFacet {
    TalusVec3 corner[3];
    TalusVec3 normal; /* unit, on the side that sees the corners anticlockwise */
} TalusFacet;

/* ---- fields ---- */

/* Position of the vertex in column i and row j of a field. */
TALUS_INLINE TalusVec3 talus_field_vertex(const TalusShapeDef *def, int i, int j)
{
    double x = (i - 0.5 * (def->columns - 1)) * def->spacing,
           y = (j - 0.5 * (def->rows - 1)) * def->spacing;
    return talus_vec3(x, y, def->height[(int64_t)j * def->columns + i]);
}

/* Sets *i and *j to column and row of corner k of facet t. */
TALUS_INLINE void talus_field_corner(const TalusShapeDef *def, int32_t t, int k, int *i, int *j)
{
    int32_t cell = t / 2;
    bool upper = t & 1;
    *i = cell % (def->columns - 1) + (k == 1 || (k == 2 && !upper));
    *j = cell / (def->columns - 1) + (k == 2 || (k == 1 && upper));
}

/* Side, of the neighbouring facet, on the edge of side k of facet t; -1 at the border of the field. */
TALUS_INLINE int32_t talus_field_side_across(const TalusShapeDef *def, int32_t t, int k)
{
    int width = def->columns - 1, i = t / 2 % width, j = t / 2 / width;
    if (t & 1) {
        if (k == 0)
            return 3 * (t - 1) + 2;
        if (k == 1)
            return j + 2 < def->rows ? 3 * (t - 1 + 2 * width) : -1;
        return i > 0 ? 3 * (t - 3) + 1 : -1;
    }
    if (k == 0)
        return j > 0 ? 3 * (t + 1 - 2 * width) + 1 : -1;
    if (k == 1)
        return i + 2 < def->columns ? 3 * (t + 3) + 2 : -1;
    return 3 * (t + 1);
}

/* Lowest index of the facets at vertex (i, j). */
TALUS_INLINE int32_t talus_field_first_facet(const TalusShapeDef *def, int i, int j)
{
    int32_t cell = (j > 0 ? j - 1 : 0) * (def->columns - 1) + (i > 0 ? i - 1 : 0);
    return 2 * cell + (i == 0 && j > 0);
}

/* ---- meshes and fields ---- */

/* Index of the vertex at corner k of facet t. */
TALUS_INLINE int32_t talus_facet_vertex(const TalusShapeDef *def, int32_t t, int k)
{
    if (def->kind == TALUS_SHAPE_MESH)
        return def->triangle[3 * (int64_t)t + k];
    int i, j;
    talus_field_corner(def, t, k, &i, &j);
    return j * def->columns + i;
}

/* Position of vertex v. */
TALUS_INLINE TalusVec3 talus_vertex_position(const TalusShapeDef *def, int32_t v)
{
    if (def->kind == TALUS_SHAPE_MESH)
        return def->vertex[v];
    return talus_field_vertex(def, v % def->columns, v / def->columns);
}

/* Corners and normal of facet t; the normal is +z if the facet has no area. */
TALUS_INLINE TalusFacet talus_get_facet(const TalusShapeDef *def, int32_t t)
{
    TalusFacet f;
    for (int k = 0; k < 3; k++)
        f.corner[k] = talus_vertex_position(def, talus_facet_vertex(def, t, k));
    TalusVec3 n =
        talus_cross(talus_sub(f.corner[1], f.corner[0]), talus_sub(f.corner[2], f.corner[0]));
    double length = talus_norm(n); /* dividing by it gives level facets exactly (0, 0, 1) */
    f.normal = length > 0.0 ? talus_vec3(n.x / length, n.y / length, n.z / length)
                            : talus_vec3(0.0, 0.0, 1.0);
    return f;
}

/* Next side on the same edge, in a cycle that returns to `side`; -1: free edge. */
TALUS_INLINE int32_t talus_side_across(const TalusShape *s, int32_t side)
{
    return s->def.kind == TALUS_SHAPE_MESH ? s->mesh.across[side]
                                           : talus_field_side_across(&s->def, side / 3, side % 3);
}

/* True if facet t is the first of the facets that share the edge of its side k, so that one facet handles each edge. */
TALUS_INLINE bool talus_facet_owns_edge(const TalusShape *s, int32_t t, int k)
{
    if (s->def.kind == TALUS_SHAPE_MESH)
        return s->mesh.mark[t] & TALUS_MARK_SIDE << k;
    int32_t other = talus_field_side_across(&s->def, t, k);
    return other < 0 || 3 * t + k < other;
}

/* True if facet t is the first of the facets that share the vertex at its corner k, so that one facet handles each
 * vertex. */
TALUS_INLINE bool talus_facet_owns_vertex(const TalusShape *s, int32_t t, int k)
{
    if (s->def.kind == TALUS_SHAPE_MESH)
        return s->mesh.mark[t] & TALUS_MARK_CORNER << k;
    int i, j;
    talus_field_corner(&s->def, t, k, &i, &j);
    return talus_field_first_facet(&s->def, i, j) == t;
}

/* True if the facet bounds a solid; false for a thin wall. */
TALUS_INLINE bool talus_facet_is_solid(const TalusShape *s, int32_t t)
{
    return s->def.kind == TALUS_SHAPE_FIELD || (s->mesh.mark[t] & TALUS_MARK_SOLID);
}

/* sin^2 of the angle below which the normals of facets count as equal. */
#define TALUS_FACET_SAME_NORMAL 0x1p-30

/* True if two unit normals are equal up to TALUS_FACET_SAME_NORMAL. */
TALUS_INLINE bool talus_normals_agree(TalusVec3 n, TalusVec3 m)
{
    TalusVec3 sine = talus_cross(n, m);
    return talus_dot(n, m) > 0.0 && talus_dot(sine, sine) <= TALUS_FACET_SAME_NORMAL;
}

/* Index of the first facet of the flat patch of t. A patch is a set of connected facets in one plane; each facet of a
 * field is a patch of its own. */
TALUS_INLINE int32_t talus_facet_patch(const TalusShape *s, int32_t t)
{
    return s->def.kind == TALUS_SHAPE_MESH ? s->mesh.patch[t] : t;
}

/* True if the patch of t has other facets. */
TALUS_INLINE bool talus_facet_shares_patch(const TalusShape *s, int32_t t)
{
    return s->def.kind == TALUS_SHAPE_MESH && (s->mesh.mark[t] & TALUS_MARK_SHARES_PATCH);
}

/* True if exactly one other facet shares the edge of side k of facet t, and that facet is in the plane of t. `normal`:
 * normal of t. */
TALUS_INLINE bool talus_side_continues_flat(const TalusShape *s, int32_t t, int k, TalusVec3 normal)
{
    int32_t side = 3 * t + k, other = talus_side_across(s, side);
    if (other < 0 || talus_side_across(s, other) != side)
        return false;
    if (s->def.kind == TALUS_SHAPE_MESH)
        return s->mesh.patch[t] == s->mesh.patch[other / 3];
    return talus_normals_agree(normal, talus_get_facet(&s->def, other / 3).normal);
}

/* ---- nearest point of a facet ---- */

/* 0: within the facet; 1 + k: on side k; 4 + k: at corner k. */
enum { TALUS_ON_FACE = 0, TALUS_ON_SIDE = 1, TALUS_ON_CORNER = 4 };

/* Point of a facet nearest to a point p. */
typedef struct TalusClosest {
    TalusVec3 from; /* from the facet's nearest point to p */
    int where;      /* TALUS_ON_*: part of the facet with the nearest point */
} TalusClosest;

/* Nearest point to p on side k; along: scalar product of the side's vector with p - corner k. */
TALUS_INLINE TalusClosest talus_closest_on_side(const TalusFacet *f, int k, TalusVec3 p,
                                                double along)
{
    TalusVec3 a = f->corner[k], edge = talus_sub(f->corner[k == 2 ? 0 : k + 1], a);
    TalusClosest closest = {talus_madd(talus_sub(p, a), -along / talus_dot(edge, edge), edge),
                            TALUS_ON_SIDE + k};
    return closest;
}

/* Corner k as the nearest point to p. */
TALUS_INLINE TalusClosest talus_closest_at_corner(const TalusFacet *f, int k, TalusVec3 p)
{
    TalusClosest closest = {talus_sub(p, f->corner[k]), TALUS_ON_CORNER + k};
    return closest;
}

/* Finds the point of a facet nearest to p, by the signs of the coordinates of p along the sides and of the areas of the
 * triangles that the projection of p makes with them. */
TALUS_INLINE TalusClosest talus_facet_closest(const TalusFacet *f, TalusVec3 p)
{
    TalusVec3 ab = talus_sub(f->corner[1], f->corner[0]),
              ac = talus_sub(f->corner[2], f->corner[0]);
    TalusVec3 ap = talus_sub(p, f->corner[0]), bp = talus_sub(p, f->corner[1]),
              cp = talus_sub(p, f->corner[2]);
    double ab_ap = talus_dot(ab, ap), ac_ap = talus_dot(ac, ap);
    if (ab_ap <= 0.0 && ac_ap <= 0.0)
        return talus_closest_at_corner(f, 0, p);
    double ab_bp = talus_dot(ab, bp), ac_bp = talus_dot(ac, bp);
    if (ab_bp >= 0.0 && ac_bp <= ab_bp)
        return talus_closest_at_corner(f, 1, p);
    if (ab_ap * ac_bp - ab_bp * ac_ap <= 0.0 && ab_ap >= 0.0 && ab_bp <= 0.0)
        return talus_closest_on_side(f, 0, p, ab_ap);
    double ab_cp = talus_dot(ab, cp), ac_cp = talus_dot(ac, cp);
    if (ac_cp >= 0.0 && ab_cp <= ac_cp)
        return talus_closest_at_corner(f, 2, p);
    if (ab_cp * ac_ap - ab_ap * ac_cp <= 0.0 && ac_ap >= 0.0 && ac_cp <= 0.0)
        return talus_closest_on_side(f, 2, p, talus_dot(talus_sub(f->corner[0], f->corner[2]), cp));
    if (ab_bp * ac_cp - ab_cp * ac_bp <= 0.0 && ac_bp >= ab_bp && ab_cp >= ac_cp)
        return talus_closest_on_side(f, 1, p, ac_bp - ab_bp);
    TalusClosest closest = {talus_scale(talus_dot(f->normal, ap), f->normal), TALUS_ON_FACE};
    return closest;
}

/* ---- edges and vertices of the surface ---- */

/* Component of d in the facet of a side, perpendicular to the side and towards the third corner. It is positive if a
 * point at d from the side is nearer to the facet's interior than to the side. */
TALUS_INLINE double talus_inward_component(const TalusShape *s, int32_t side, TalusVec3 d)
{
    const TalusShapeDef *def = &s->def;
    int32_t t = side / 3;
    int k = side % 3;
    TalusVec3 a = talus_vertex_position(def, talus_facet_vertex(def, t, k)),
              b = talus_vertex_position(def, talus_facet_vertex(def, t, k == 2 ? 0 : k + 1)),
              c = talus_vertex_position(def, talus_facet_vertex(def, t, k == 0 ? 2 : k - 1));
    TalusVec3 edge = talus_sub(b, a), to = talus_sub(c, a);
    TalusVec3 across = talus_madd(to, -talus_dot(to, edge) / talus_dot(edge, edge), edge);
    return talus_dot(d, across) / talus_norm(across);
}

/* True if d is in the normal cone of the edge of a side: a point at d from the edge is nearer to the edge than to the
 * rest of the facets that share it, so that the distance to the surface has a minimum at the edge. `slack` is the
 * tolerance of talus_inward_component. */
TALUS_INLINE bool talus_in_edge_normal_cone(const TalusShape *s, int32_t side, TalusVec3 d,
                                            double slack)
{
    int32_t at = side;
    do {
        if (talus_inward_component(s, at, d) > slack)
            return false;
        at = talus_side_across(s, at);
    } while (at >= 0 && at != side);
    return true;
}

/* Relation of a direction d to the normal cone of a vertex, the directions along which no edge at the vertex rises. */
typedef struct TalusVertexCone {
    double slack;  /* tolerance of edge.d / |edge| */
    bool contains; /* no edge rises along d by more than the slack */
    int level;     /* number of edges that neither rise nor fall along d by more than the slack */
} TalusVertexCone;

/* Accounts for one edge at the vertex. */
TALUS_INLINE void talus_vertex_cone_add_edge(TalusVertexCone *cone, TalusVec3 edge, TalusVec3 d)
{
    double along = talus_dot(edge, d);
    bool level = along * along <= cone->slack * cone->slack * talus_dot(edge, edge);
    cone->contains = cone->contains && (along <= 0.0 || level);
    cone->level += level;
}

/* Relates the direction d to the normal cone of vertex v. */
TALUS_INLINE TalusVertexCone talus_vertex_normal_cone(const TalusShape *s, int32_t v, TalusVec3 d,
                                                      double slack)
{
    const TalusShapeDef *def = &s->def;
    TalusVertexCone cone = {slack, true, 0};
    TalusVec3 x = talus_vertex_position(def, v);
    if (def->kind == TALUS_SHAPE_MESH) {
        for (int32_t k = s->mesh.ring_start[v]; k < s->mesh.ring_start[v + 1]; k++)
            talus_vertex_cone_add_edge(&cone, talus_sub(def->vertex[s->mesh.ring[k]], x), d);
        return cone;
    }
    int i = v % def->columns, j = v / def->columns;
    for (int dj = -1; dj <= 1; dj++) {
        for (int di = -1; di <= 1; di++) {
            if ((di || dj) && di * dj >= 0 && i + di >= 0 && i + di < def->columns && j + dj >= 0 &&
                j + dj < def->rows)
                talus_vertex_cone_add_edge(
                    &cone, talus_sub(talus_field_vertex(def, i + di, j + dj), x), d);
        }
    }
    return cone;
}

/* Pseudonormal of the edge of a side, not normalised: sum of the normals of the facets that share it. */
TALUS_INLINE TalusVec3 talus_edge_pseudonormal(const TalusShape *s, int32_t side)
{
    TalusVec3 sum = {0.0, 0.0, 0.0};
    int32_t at = side;
    do {
        sum = talus_add(sum, talus_get_facet(&s->def, at / 3).normal);
        at = talus_side_across(s, at);
    } while (at >= 0 && at != side);
    return sum;
}

/* Outward pseudonormal (trimesh.c), not normalised, at part `where` (TALUS_ON_*) of facet t: the sign of its product
 * with a direction tells outside from inside. On a field it is the facet's normal. */
TALUS_INLINE TalusVec3 talus_pseudonormal(const TalusShape *s, int32_t t, const TalusFacet *f,
                                          int where)
{
    if (where == TALUS_ON_FACE || s->def.kind == TALUS_SHAPE_FIELD)
        return f->normal;
    if (where < TALUS_ON_CORNER)
        return talus_edge_pseudonormal(s, 3 * t + where - TALUS_ON_SIDE);
    const double *n = s->mesh.pseudonormal[talus_facet_vertex(&s->def, t, where - TALUS_ON_CORNER)];
    return talus_vec3(n[0], n[1], n[2]);
}

/* ---- facets in a box ---- */

/* Iterator over the facets whose bounds intersect a box; of a field also over the facets above the box. Facets of a
 * mesh come in the order of the tree, facets of a field by index. */
typedef struct TalusFacetWalk {
    const TalusShape *shape;
    TalusAabb box;
    int32_t at;                /* mesh: next node of the tree */
    int i_low, i_high, j_high; /* field: columns, and last row, of the cells; j_high -1: none */
    int i, j;                  /* field: next cell */
    bool upper;                /* field: the next facet is the second of the cell */
} TalusFacetWalk;

/* Finds the cells from .. to of a field, with `points` vertices along one axis, that intersect lo .. hi along this
 * axis. False if there are none. */
TALUS_INLINE bool talus_field_cell_range(double lo, double hi, int points, double spacing,
                                         int *from, int *to)
{
    double middle = 0.5 * (points - 1), first = floor(lo / spacing + middle),
           last = floor(hi / spacing + middle);
    if (!(last >= 0.0 && first <= points - 2))
        return false;
    *from = first > 0.0 ? (int)first : 0;
    *to = last < points - 2 ? (int)last : points - 2;
    return true;
}

/* Returns the facet of a field straight above or below p; -1 if p is beside the field. Sets *height to the signed
 * distance of p from the plane of that facet, negative below it; leaves it for -1. */
TALUS_INLINE int32_t talus_field_facet_at(const TalusShape *s, TalusVec3 p, double *height)
{
    const TalusShapeDef *def = &s->def;
    int i, j, last;
    if (!talus_field_cell_range(p.x, p.x, def->columns, def->spacing, &i, &last) ||
        !talus_field_cell_range(p.y, p.y, def->rows, def->spacing, &j, &last))
        return -1;
    TalusVec3 first = talus_field_vertex(def, i, j);
    int32_t t = 2 * (j * (def->columns - 1) + i) + (p.y - first.y > p.x - first.x);
    TalusFacet f = talus_get_facet(def, t);
    *height = talus_dot(f.normal, talus_sub(p, first));
    return t;
}

/* Starts an iteration over the facets that TalusFacetWalk describes. The caller may shrink `box` of the walk later (of
 * a field this only skips facets that are too low). */
TALUS_INLINE TalusFacetWalk talus_facets_in_box(const TalusShape *shape, TalusAabb box)
{
    const TalusShapeDef *def = &shape->def;
    TalusFacetWalk w = {shape, box, 0, 0, -1, -1, 0, 0, false};
    if (def->kind == TALUS_SHAPE_FIELD && box.lo.z <= shape->box.hi.z &&
        talus_field_cell_range(box.lo.x, box.hi.x, def->columns, def->spacing, &w.i_low, &w.i_high))
        talus_field_cell_range(box.lo.y, box.hi.y, def->rows, def->spacing, &w.j, &w.j_high);
    w.i = w.i_low;
    return w;
}

/* Returns the next facet of a mesh; -1: no more. */
TALUS_INLINE int32_t talus_mesh_next_facet(TalusFacetWalk *w)
{
    const TalusTree *tree = &w->shape->tree;
    while (w->at < tree->nodes) {
        const TalusTreeNode *n = &tree->node[w->at];
        bool meets = w->box.lo.x <= n->hi[0] && w->box.hi.x >= n->lo[0] &&
                     w->box.lo.y <= n->hi[1] && w->box.hi.y >= n->lo[1] &&
                     w->box.lo.z <= n->hi[2] && w->box.hi.z >= n->lo[2];
        w->at = meets ? w->at + 1 : n->skip;
        if (meets && n->item >= 0)
            return n->item;
    }
    return -1;
}

/* True if the next facet of a field reaches up to the lower side of the box, or higher. */
TALUS_INLINE bool talus_field_facet_reaches_box(const TalusFacetWalk *w)
{
    const TalusShapeDef *def = &w->shape->def;
    const double *low = def->height + (int64_t)w->j * def->columns + w->i,
                 *high = low + def->columns;
    double other = w->upper ? high[0] : low[1];
    return fmax(fmax(low[0], high[1]), other) >= w->box.lo.z;
}

/* Returns the next facet; -1: no more. */
TALUS_INLINE int32_t talus_next_facet(TalusFacetWalk *w)
{
    if (w->shape->def.kind == TALUS_SHAPE_MESH)
        return talus_mesh_next_facet(w);
    while (w->j <= w->j_high) {
        int32_t t = 2 * (w->j * (w->shape->def.columns - 1) + w->i) + w->upper;
        bool rises = talus_field_facet_reaches_box(w);
        if (w->upper && ++w->i > w->i_high) {
            w->i = w->i_low;
            w->j++;
        }
        w->upper = !w->upper;
        if (rises)
            return t;
    }
    return -1;
}

/* Cube with centre p and half width `reach`. */
TALUS_INLINE TalusAabb talus_box_around(TalusVec3 p, double reach)
{
    TalusAabb box = {talus_vec3(p.x - reach, p.y - reach, p.z - reach),
                     talus_vec3(p.x + reach, p.y + reach, p.z + reach)};
    return box;
}

/* True if the bounds of some facet are within reach of p along each axis of the shape's frame. A facet of a field is
 * near, too, if p is below it: the ground is solid. */
TALUS_INLINE bool talus_facets_are_near(const TalusShape *shape, TalusVec3 p, double reach)
{
    TalusFacetWalk walk = talus_facets_in_box(shape, talus_box_around(p, reach));
    return talus_next_facet(&walk) >= 0;
}

#endif

/* collide/boxes.c - two boxes.
 *
 * Of the 15 axes that can separate two boxes (3 + 3 face normals, 9 products of edges) the one with
 * the largest separation is the normal. Where it is a face normal, the facing side of the other box
 * is clipped to the face, and every corner that remains is a touch, its height over the face being
 * the gap. Where it is a product of edges, the two edges touch in one point.
 *
 * Faces are preferred, and those of the first box most, by a small fraction of the boxes' size: a
 * stack at rest then keeps its features from step to step although rounding moves the boxes. */
#include "collide/narrow.h"

enum { MAX_CORNERS = 8, FROM_EDGES = 1 << 16, FROM_SECOND = 1 << 15 };

/* Preference of faces, and how far outside of a face a corner still counts as over it, relative to
 * the smallest half extent. */
static const double BIAS = 0x1p-8, CLIP = 0x1p-10;
/* sin^2 of the angle below which two edges count as parallel: their product says nothing that the
 * face normals do not. */
static const double PARALLEL = 0x1p-20;

typedef struct Box {
    TalusVec3 axis[3]; /* world frame */
    double half[3];
    TalusVec3 centre; /* relative to the first box */
} Box;

static Box make_box(const TalusPose *pose, TalusVec3 centre)
{
    TalusVec3 h = pose->shape->def.half;
    Box box = {{talus_rotate(pose->orientation, talus_vec3(1.0, 0.0, 0.0)),
                talus_rotate(pose->orientation, talus_vec3(0.0, 1.0, 0.0)),
                talus_rotate(pose->orientation, talus_vec3(0.0, 0.0, 1.0))},
               {h.x, h.y, h.z},
               centre};
    return box;
}

/* Half the length of the box's shadow on a direction. */
static double shadow(const Box *box, TalusVec3 direction)
{
    return box->half[0] * fabs(talus_dot(box->axis[0], direction)) +
           box->half[1] * fabs(talus_dot(box->axis[1], direction)) +
           box->half[2] * fabs(talus_dot(box->axis[2], direction));
}

/* The axis found so far. The normal points from the first box to the second. */
typedef struct Separation {
    double distance;
    TalusVec3 normal;
    int first_axis, second_axis; /* -1: not involved */
} Separation;

static void try_axis(Separation *best, double bias, const Box *a, const Box *b, TalusVec3 axis,
                     int first_axis, int second_axis)
{
    double between = talus_dot(b->centre, axis);
    double distance = fabs(between) - shadow(a, axis) - shadow(b, axis);
    if (!(distance > best->distance + bias))
        return;
    best->distance = distance;
    best->normal = between < 0.0 ? talus_neg(axis) : axis;
    best->first_axis = first_axis;
    best->second_axis = second_axis;
}

static Separation separate_faces(const Box *a, const Box *b, double bias)
{
    Separation best = {-INFINITY, {0.0, 0.0, 0.0}, -1, -1};
    for (int i = 0; i < 3; i++)
        try_axis(&best, 0.0, a, b, a->axis[i], i, -1);
    for (int j = 0; j < 3; j++)
        try_axis(&best, best.first_axis >= 0 ? bias : 0.0, a, b, b->axis[j], -1, j);
    return best;
}

static Separation separate_edges(const Box *a, const Box *b)
{
    Separation best = {-INFINITY, {0.0, 0.0, 0.0}, -1, -1};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            TalusVec3 axis = talus_cross(a->axis[i], b->axis[j]);
            double sine2 = talus_dot(axis, axis);
            if (sine2 > PARALLEL)
                try_axis(&best, 0.0, a, b, talus_scale(1.0 / sqrt(sine2), axis), i, j);
        }
    }
    return best;
}

/* ---- face against face ----------------------------------------------------------------------- */

/* A corner of the clipped side: u, v along the face, height over it. `id` names it: a corner of the
 * side, or where one of its edges meets a border of the face. `edge` is the edge that leaves it
 * (0 .. 3: of the side, 4 .. 7: along border 0 .. 3). */
typedef struct Corner {
    double u, v, height;
    uint32_t id, edge;
} Corner;

static double outside(const Corner *c, int border, const double half[2])
{
    double x = border & 1 ? c->v : c->u;
    return (border & 2 ? -x : x) - half[border & 1];
}

static Corner cut(const Corner *p, const Corner *q, double outside_p, double outside_q, int border)
{
    double t = outside_p / (outside_p - outside_q);
    Corner c = {p->u + t * (q->u - p->u), p->v + t * (q->v - p->v),
                p->height + t * (q->height - p->height), 4 + 4 * p->edge + (uint32_t)border,
                outside_p > 0.0 ? p->edge : 4 + (uint32_t)border};
    return c;
}

/* Sutherland and Hodgman: what lies inside one border. Returns the number of corners. */
static int clip(const Corner *in, int count, int border, const double half[2], Corner *out)
{
    int kept = 0;
    for (int k = 0; k < count; k++) {
        const Corner *p = &in[k], *q = &in[k + 1 < count ? k + 1 : 0];
        double outside_p = outside(p, border, half), outside_q = outside(q, border, half);
        if (outside_p <= 0.0)
            out[kept++] = *p;
        if ((outside_p <= 0.0) != (outside_q <= 0.0))
            out[kept++] = cut(p, q, outside_p, outside_q, border);
    }
    return kept;
}

/* The face of one box and the box that touches it. */
typedef struct FaceContact {
    const Box *face, *other;
    int axis;         /* of the face */
    TalusVec3 normal; /* out of the face */
    double tolerance;
    bool second; /* the face belongs to the second box */
    double reach;
} FaceContact;

/* The side of the other box that looks most against the normal. */
static int facing_side(const Box *box, TalusVec3 normal, bool *positive)
{
    int side = 0;
    double most = -1.0;
    for (int j = 0; j < 3; j++) {
        double cosine = talus_dot(box->axis[j], normal);
        if (fabs(cosine) > most) {
            most = fabs(cosine);
            side = j;
            *positive = cosine < 0.0;
        }
    }
    return side;
}

static void make_corners(const FaceContact *c, int side, bool positive, Corner corner[4])
{
    const Box *face = c->face, *other = c->other;
    int u = (side + 1) % 3, v = (side + 2) % 3;
    TalusVec3 from_face = talus_sub(other->centre, face->centre);
    TalusVec3 centre =
        talus_madd(from_face, positive ? other->half[side] : -other->half[side], other->axis[side]);
    for (uint32_t k = 0; k < 4; k++) {
        double su = k == 1 || k == 2 ? other->half[u] : -other->half[u];
        double sv = k >= 2 ? other->half[v] : -other->half[v];
        TalusVec3 x = talus_madd(talus_madd(centre, su, other->axis[u]), sv, other->axis[v]);
        corner[k].u = talus_dot(x, face->axis[(c->axis + 1) % 3]);
        corner[k].v = talus_dot(x, face->axis[(c->axis + 2) % 3]);
        corner[k].height = talus_dot(x, c->normal) - face->half[c->axis];
        corner[k].id = corner[k].edge = k;
    }
}

static void touch_face(const FaceContact *c, const Corner *corner, uint32_t feature,
                       TalusTouchSink *sink)
{
    const Box *face = c->face;
    TalusVec3 foot = talus_scale(face->half[c->axis], c->normal); /* on the face, from its centre */
    foot = talus_madd(foot, corner->u, face->axis[(c->axis + 1) % 3]);
    foot = talus_madd(foot, corner->v, face->axis[(c->axis + 2) % 3]);
    TalusVec3 tip = talus_madd(foot, corner->height, c->normal); /* on the other box */
    tip = talus_add(talus_sub(face->centre, c->other->centre), tip);
    TalusTouch touch = {feature, c->second ? talus_neg(c->normal) : c->normal, corner->height,
                        c->second ? tip : foot, c->second ? foot : tip};
    talus_touch_add(sink, &touch);
}

static void touch_faces(const FaceContact *c, TalusTouchSink *sink)
{
    bool positive = false;
    int side = facing_side(c->other, c->normal, &positive);
    bool face_positive = talus_dot(c->normal, c->face->axis[c->axis]) > 0.0;
    Corner corner[2][MAX_CORNERS + 2];
    make_corners(c, side, positive, corner[0]);
    const double half[2] = {c->face->half[(c->axis + 1) % 3] + c->tolerance,
                            c->face->half[(c->axis + 2) % 3] + c->tolerance};
    int count = 4;
    for (int border = 0; border < 4; border++)
        count = clip(corner[border & 1], count, border, half, corner[~border & 1]);
    uint32_t faces = (uint32_t)(2 * c->axis + face_positive) << 12 |
                     (uint32_t)(2 * side + positive) << 8 | (c->second ? FROM_SECOND : 0);
    for (int k = 0; k < count; k++) {
        if (corner[0][k].height < c->reach)
            touch_face(c, &corner[0][k], faces | corner[0][k].id, sink);
    }
}

/* ---- edge against edge ----------------------------------------------------------------------- */

/* The middle of the edge along `axis` that lies farthest in `direction`, relative to the first box;
 * bits of *which tell the edge. */
static TalusVec3 farthest_edge(const Box *box, int axis, TalusVec3 direction, uint32_t *which)
{
    TalusVec3 x = box->centre;
    *which = (uint32_t)axis << 2;
    for (int k = 1; k < 3; k++) {
        int other = (axis + k) % 3;
        bool positive = talus_dot(box->axis[other], direction) > 0.0;
        x = talus_madd(x, positive ? box->half[other] : -box->half[other], box->axis[other]);
        *which |= positive ? (uint32_t)k : 0;
    }
    return x;
}

/* The nearest points p + s d and q + t e of the two edges; false if one is not on its edge. With
 * d, e of length 1, c = d . e and r = q - p:  s = (d.r - c e.r) / (1 - c^2),  t = c s - e.r. */
static bool touch_edges(const Box *a, const Box *b, const Separation *edge, double tolerance,
                        TalusTouchSink *sink)
{
    uint32_t which_a, which_b;
    int i = edge->first_axis, j = edge->second_axis;
    TalusVec3 p = farthest_edge(a, i, edge->normal, &which_a);
    TalusVec3 q = farthest_edge(b, j, talus_neg(edge->normal), &which_b);
    TalusVec3 d = a->axis[i], e = b->axis[j], r = talus_sub(q, p);
    double c = talus_dot(d, e);
    double s = (talus_dot(d, r) - c * talus_dot(e, r)) / (1.0 - c * c);
    double t = c * s - talus_dot(e, r);
    if (fabs(s) > a->half[i] + tolerance || fabs(t) > b->half[j] + tolerance)
        return false;
    TalusVec3 on_a = talus_madd(p, s, d), on_b = talus_madd(q, t, e);
    TalusTouch touch = {FROM_EDGES | which_a << 4 | which_b, edge->normal,
                        talus_dot(edge->normal, talus_sub(on_b, on_a)), on_a,
                        talus_sub(on_b, b->centre)};
    talus_touch_add(sink, &touch);
    return true;
}

void talus_narrow_box_box(const TalusPose *first, const TalusPose *second, double reach,
                          TalusTouchSink *sink)
{
    Box a = make_box(first, talus_vec3(0.0, 0.0, 0.0));
    Box b = make_box(second, talus_sub(second->position, first->position));
    double size = fmin(first->shape->size, second->shape->size), bias = BIAS * size;
    Separation face = separate_faces(&a, &b, bias);
    if (!(face.distance < reach))
        return;
    Separation edge = separate_edges(&a, &b);
    if (!(edge.distance < reach))
        return;
    if (edge.distance > face.distance + bias && touch_edges(&a, &b, &edge, CLIP * size, sink))
        return;
    FaceContact contact = {&a, &b, face.first_axis, face.normal, CLIP * size, false, reach};
    if (face.first_axis < 0) {
        FaceContact other = {&b,   &a,   face.second_axis, talus_neg(face.normal), CLIP * size,
                             true, reach};
        contact = other;
    }
    touch_faces(&contact, sink);
}

/* engine/reach.h - where a body may touch others within a step, and how long a halo serves; for host and device.
 *
 * The spheres of reach of two bodies in contact overlap. A halo (world/ranks/halo.c) is made with spheres that are longer by
 * a skin. It has all bodies that may touch own free ones as long as each body's present sphere lies in its longer one of
 * then, moved by the same shift for all bodies: |x - x_then - shift| + reach <= reach_then + skin.
 *
 * A heap that falls keeps its halo for long if the shift is its mean displacement. Bodies that are not free do not move
 * with it; their skins have room for some steps of the drift, the mean velocity of the free bodies.
 *
 * In a cell that deforms (collide/cell.h) images move, too: what moves with the cell has come from x_then to
 * x_then + S (x_then - centre), an image as much as its body. Displacements are taken from there, and velocities relative to
 * the flow. Two points that are d apart now were at most `stretch` |d| apart then, the norm of (1 + S)^-1, so that the
 * condition is stretch (|displacement - shift| + reach) <= reach_then + skin. */
#ifndef TALUS_ENGINE_REACH_H
#define TALUS_ENGINE_REACH_H

#include "collide/cell.h"
#include "collide/grid_level.h"

/* Skin of a body that is not free: twice the drift's motion in that many steps, but at most that many radii. */
#define TALUS_DRIFT_STEPS 8.0
#define TALUS_DRIFT_RADII 8.0

/* TalusReachOptions.skin where a new halo costs much more than the bodies that a wider one has in each step: with an engine
 * that has memory of its own. Elsewhere TALUS_SKIN_SIZE. In 200 steps a heap of a hundred layers that comes down makes 24
 * searches with 1, 39 with 0.5; beyond 1 the halo costs more than searches save (bench/results/2026-11-20-h200.md). */
#define TALUS_SKIN_OF_ENGINE 1.0

/* Where a body may touch others: within `length` of its centre, and within the skin for some steps. */
typedef struct TalusReach {
    TalusVec3 position;
    double length, skin; /* m; length is infinite for an unbounded body */
    uint64_t id;         /* of the body; 0: the slot is dead */
    uint8_t mobility;
} TalusReach;

/* A box along the axes; empty if lo > hi. */
typedef struct TalusReachBox {
    TalusVec3 lo, hi;
} TalusReachBox;

typedef struct TalusReachOptions {
    TalusDetectOptions detect;
    TalusVec3 drift; /* m/s, the same on all ranks; any velocity is right */
    double skin;     /* part of the skin that is not due to motion, over the size */
} TalusReachOptions;

/* How space has deformed since a halo was made; without a cell that deforms `strain` is 0 and `stretch` 1. */
typedef struct TalusReachSpace {
    TalusPeriod period; /* now */
    TalusVec3 centre;
    TalusGradient strain; /* S */
    double stretch;
} TalusReachSpace;

/* A body as its reach depends on it. velocity and spin: those that detection uses. */
typedef struct TalusReachBody {
    TalusVec3 position, velocity, spin;
    double radius, size;
    uint64_t id;
    uint8_t mobility;
    bool is_sphere;
} TalusReachBody;

/* Speeds of a body, m/s: relative to the drift, and of its surface by rotation. */
typedef struct TalusReachSpeeds {
    double own, surface;
} TalusReachSpeeds;

/* An envelope (collide/envelope.h) is at most the sum of two parts, each of one body: closing speeds by
 * talus_body_margin, the sliding speed likewise plus both surface speeds, and the pair's size is at most the sum of
 * sizes. */
TALUS_INLINE double talus_reach_length(const TalusReachBody *b, const TalusReachOptions *o,
                                       TalusReachSpeeds v)
{
    const double rounding = 1.0 + 0x1p-30;
    const double closing = b->is_sphere ? 0.0 : v.surface;
    const double speeds = v.own + 0.5 * talus_norm(o->drift) + closing +
                          o->detect.friction * (v.own + v.surface) + o->detect.reference_speed;
    return rounding * (b->radius + o->detect.envelope * b->size + o->detect.h * speeds);
}

TALUS_INLINE double talus_reach_skin(const TalusReachBody *b, const TalusReachOptions *o,
                                     TalusReachSpeeds v)
{
    double skin = 0.0;
    if (b->mobility != TALUS_MOBILITY_FIXED)
        skin = o->skin * b->size +
               talus_min(TALUS_SKIN_STEPS * o->detect.h * v.own, TALUS_SKIN_MOTION * b->size);
    if (b->mobility != TALUS_MOBILITY_FREE)
        skin += talus_min(2.0 * TALUS_DRIFT_STEPS * o->detect.h * talus_norm(o->drift),
                          TALUS_DRIFT_RADII * b->radius);
    return skin;
}

/* Returns the sphere of reach of a body, and its skin. */
TALUS_INLINE TalusReach talus_reach_of_body(const TalusReachBody *b, const TalusReachOptions *o)
{
    TalusReach r = {b->position, HUGE_VAL, 0.0, b->id, b->mobility};
    TalusReachSpeeds v = {talus_norm(o->drift), 0.0};
    if (!(b->radius > 0.0))
        return r;
    if (b->mobility != TALUS_MOBILITY_FIXED) {
        v.own = talus_norm(talus_sub(b->velocity, o->drift));
        v.surface = talus_norm(b->spin) * b->radius;
    }
    r.length = talus_reach_length(b, o, v);
    r.skin = talus_reach_skin(b, o, v);
    return r;
}

/* Returns the box around the sphere of reach with its skin. */
TALUS_INLINE TalusReachBox talus_reach_box(const TalusReach *r)
{
    const double length = r->length + r->skin;
    const TalusVec3 all = talus_vec3(length, length, length);
    const TalusReachBox box = {talus_sub(r->position, all), talus_add(r->position, all)};
    return box;
}

/* True if two boxes overlap; along an axis with a period all do. period NULL: there is none. */
TALUS_INLINE bool talus_reach_boxes_overlap(const TalusPeriod *period, const TalusReachBox *a,
                                            const TalusReachBox *b)
{
    const bool x = period && period->on[0], y = period && period->on[1],
               z = period && period->on[2];
    return (x || (a->lo.x <= b->hi.x && b->lo.x <= a->hi.x)) &&
           (y || (a->lo.y <= b->hi.y && b->lo.y <= a->hi.y)) &&
           (z || (a->lo.z <= b->hi.z && b->lo.z <= a->hi.z)) && a->lo.x <= a->hi.x &&
           b->lo.x <= b->hi.x;
}

/* Returns the space between two states of a period about the same centre. Images repeat what lies between them as before
 * if the offset along x changes by whole periods, so that of all strains the one that shears least is right. */
TALUS_INLINE TalusReachSpace talus_reach_space(const TalusPeriod *then, const TalusPeriod *now,
                                               TalusVec3 centre)
{
    const double x = (now->hi.x - now->lo.x) / (then->hi.x - then->lo.x);
    const double y = (now->hi.y - now->lo.y) / (then->hi.y - then->lo.y);
    const double z = (now->hi.z - now->lo.z) / (then->hi.z - then->lo.z);
    const double shear =
        talus_nearest_image_component(now->tilt - x * then->tilt, now->hi.x - now->lo.x) /
        (then->hi.y - then->lo.y);
    /* the larger singular value of the inverse of | x shear; 0 y |, and that of z */
    const double sum = sqrt((x + y) * (x + y) + shear * shear);
    const double difference = sqrt((x - y) * (x - y) + shear * shear);
    TalusReachSpace s = {*now, centre, {x - 1.0, y - 1.0, z - 1.0, shear}, 1.0 / z};
    s.stretch = talus_max(s.stretch, 0.5 * (sum + difference) / (x * y));
    return s;
}

/* Returns how far the body has moved since then, relative to the cell if that deforms. */
TALUS_INLINE TalusVec3 talus_reach_moved(const TalusReachSpace *space, const TalusReach *then,
                                         TalusVec3 position)
{
    const TalusVec3 with_cell = talus_flow_at(&space->strain, space->centre, then->position);
    const TalusVec3 moved = talus_sub(talus_sub(position, then->position), with_cell);
    return talus_nearest_image_vector(&space->period, moved);
}

/* True if the sphere of reach lies in the longer one of then, moved by `shift` and with space. */
TALUS_INLINE bool talus_reach_covers(const TalusReachSpace *space, const TalusReach *then,
                                     const TalusReach *now, TalusVec3 shift)
{
    const TalusVec3 moved = talus_sub(talus_reach_moved(space, then, now->position), shift);
    return then->id == now->id && then->mobility == now->mobility &&
           (now->length == HUGE_VAL ||
            space->stretch * (now->length + talus_norm(moved)) <= then->length + then->skin);
}

/* ---- which bodies are near other ranks' ----
 * The bounds of ranks' bodies may overlap far, as pieces of a curve do. Ranks therefore tell each other which cells of a
 * coarse grid the boxes of their bodies touch, as bits. Two boxes that overlap touch a cell in common. */

/* Cells along an axis; 32-bit words for all. */
enum {
    TALUS_NEAR_CELLS = 64,
    TALUS_NEAR_WORDS = TALUS_NEAR_CELLS * TALUS_NEAR_CELLS * TALUS_NEAR_CELLS / 32
};

/* Cells from `from` on, 1 / scale long; scale 0: one cell has all, as along a period. */
typedef struct TalusNearGrid {
    double from[3], scale[3];
} TalusNearGrid;

/* The cells along the three axes that a box touches, ends included. */
typedef struct TalusNearRange {
    int lo[3], hi[3];
} TalusNearRange;

TALUS_INLINE int talus_near_cell(const TalusNearGrid *g, int axis, double x)
{
    const double at = (x - g->from[axis]) * g->scale[axis];
    if (!(at > 0.0)) /* also NaN */
        return 0;
    return at < TALUS_NEAR_CELLS - 1 ? (int)at : TALUS_NEAR_CELLS - 1;
}

TALUS_INLINE TalusNearRange talus_near_range(const TalusNearGrid *g, const TalusReachBox *box)
{
    TalusNearRange r;
    for (int axis = 0; axis < 3; axis++) {
        r.lo[axis] = talus_near_cell(g, axis, talus_along(box->lo, axis));
        r.hi[axis] = talus_near_cell(g, axis, talus_along(box->hi, axis));
    }
    return r;
}

/* ---- what all ranks know of the reaches of one ---- */

typedef struct TalusReachSummary {
    TalusReachBox need, offer; /* bounds of the boxes: of free bodies, of all but unbounded ones */
    double half_widths;        /* sum over the boxes of free bodies, m */
    int64_t widths;            /* number of these boxes */
} TalusReachSummary;

/* Two ways to see whether a halo serves: reaches with the drift of then, and no shift; reaches with the present drift, and a
 * shift. Either will do. */
enum { TALUS_REACH_TESTS = 2 };
typedef struct TalusReachTest {
    TalusReachOptions options;
    TalusReachSpace space;
    TalusVec3 shift;
} TalusReachTest;

/* Sums over free bodies of a rank: of velocities and displacements since the halo was made, and the number of bodies. */
typedef struct TalusReachMotion {
    double velocity[3], moved[3], bodies;
} TalusReachMotion;

#endif

/* collide/grid_level.h - parts of the grid (grid.h) for host and device: fat radii, size classes, cells. */
#ifndef TALUS_COLLIDE_GRID_LEVEL_H
#define TALUS_COLLIDE_GRID_LEVEL_H

#include "base/hash.h"
#include "collide/envelope.h"

#include <string.h>

enum {
    TALUS_MAX_LEVELS = 32,     /* smaller bodies share the last level */
    TALUS_SIZE_CLASSES = 2048, /* as many as exponents of a double */
    TALUS_EDGE_FACTORS = 32,   /* candidates for edge_factor; bins for sizes within an octave */
    TALUS_GRID_SAMPLE = 1024,  /* capacity of the sample of bodies from which a grid is chosen */
    TALUS_LARGE_WALLS = 64 /* if more bodies that are not free are large, all go into the grid */
};

/* A body that is not free is a wall if its fat radius is more than this many times the mean of the sampled free
 * bodies. */
#define TALUS_GRID_LARGE 8.0
/* The skin of a body: fraction of its size; steps of its motion, and the largest fraction of its size for these. */
#define TALUS_SKIN_SIZE 0.1
#define TALUS_SKIN_STEPS 4.0
#define TALUS_SKIN_MOTION 0.2
/* Factor by which fat radii are enlarged, as a guard against rounding. */
#define TALUS_GRID_SLACK (1.0 + 0x1p-20)

/* Level of the grid: a box of cells of one size. Lengths are in TalusGrid.unit. */
typedef struct TalusLevel {
    double edge;       /* of a cell */
    double per_edge;   /* 1 / edge */
    int64_t origin[3]; /* cell coordinates of the box's first cell */
    int64_t cells[3];  /* cells along each axis; at least 3, so that all neighbours differ */
    uint32_t first;    /* index over all levels of its first cell; x runs fastest, then y, z */
    uint32_t bodies;   /* bodies and images of the level */
} TalusLevel;

/* ---- bodies ---- */

/* True if position, velocity, radius, spin and, unless the body is a sphere, orientation of body i are finite. */
TALUS_INLINE bool talus_body_is_finite(const TalusBodyView *v, int64_t i)
{
    TalusVec3 x = v->position[i], u = v->velocity[i];
    double sum =
        fabs(x.x) + fabs(x.y) + fabs(x.z) + fabs(u.x) + fabs(u.y) + fabs(u.z) + v->radius[i];
    /* the orientation of a sphere is not read */
    if (talus_body_kind(v, (uint32_t)i) != TALUS_SHAPE_SPHERE) {
        TalusQuat q = v->orientation[i];
        sum += fabs(q.w) + fabs(q.x) + fabs(q.y) + fabs(q.z);
    }
    if (v->spin)
        sum += fabs(v->spin[i].x) + fabs(v->spin[i].y) + fabs(v->spin[i].z);
    return sum < INFINITY;
}

/* Margin of body i, m: fat radius less radius. The margins of two bodies together cover any closing speed (envelope.h):
 * with the drift d, each of |v_a - v_b|, |v_a| and |v_b| is at most |v_a - d| + |v_b - d| + |d|. The margin of a
 * contains |v_a - d| + |d| / 2, that of b |v_b - d| + |d| / 2. */
TALUS_INLINE double talus_body_margin(const TalusBodyView *v, const TalusDetectOptions *o,
                                      TalusVec3 drift, uint32_t i)
{
    double own = talus_norm(talus_sub(talus_body_velocity(v, i), drift));
    double speed = own + 0.5 * talus_norm(drift) + o->friction * (own + talus_surface_speed(v, i));
    return 0.5 * o->envelope * v->size[i] +
           o->h * (speed + talus_closing_spin_speed(v, i) + o->reference_speed);
}

/* Fat radius of body i, m: radius plus margin, rounded up. */
TALUS_INLINE double talus_fat_radius(const TalusBodyView *v, const TalusDetectOptions *o,
                                     TalusVec3 drift, uint32_t i)
{
    return (v->radius[i] + talus_body_margin(v, o, drift, i)) * TALUS_GRID_SLACK;
}

/* Skin of body i, m: what a list of neighbours adds to the fat radius (neighbours.h), so that the list holds for some
 * steps: a fraction of the size, and some steps' motion relative to the drift, but at most another fraction of the size,
 * so that fast bodies have few neighbours and their list a short life. */
TALUS_INLINE double talus_skin(const TalusBodyView *v, const TalusDetectOptions *o, TalusVec3 drift,
                               uint32_t i)
{
    double own = talus_norm(talus_sub(talus_body_velocity(v, i), drift));
    return TALUS_SKIN_SIZE * v->size[i] +
           talus_min(TALUS_SKIN_STEPS * o->h * own, TALUS_SKIN_MOTION * v->size[i]);
}

/* ---- sample ----
 * Unit, edge_factor, large, drift and box of a grid are chosen from a sample of the free bodies. Ids decide which bodies
 * are sampled, and sums over the sample are exact: the choice depends neither on the slots of bodies and their order,
 * nor would it on a distribution of bodies over processes, which can add counts, sums and maxima in any order. */

/* Returns the largest talus_sample_hash of sampled bodies, given the number of free bodies. All bodies are sampled if
 * the sample has room for them. Else three quarters of its capacity are filled, give or take 28: it is full nine
 * standard deviations away. */
TALUS_INLINE uint64_t talus_sample_limit(int64_t free_bodies)
{
    return free_bodies <= TALUS_GRID_SAMPLE
               ? UINT64_MAX
               : UINT64_MAX / (uint64_t)free_bodies * (TALUS_GRID_SAMPLE / 4 * 3);
}

/* Returns the hash of a body's id that decides whether the body is sampled. */
TALUS_INLINE uint64_t talus_sample_hash(const TalusBodyView *v, int64_t i)
{
    return talus_hash_mix(v->id ? v->id[i] : (uint64_t)i + 1);
}

/* True if slot i has a free body with finite position and velocity that is no wall. */
TALUS_INLINE bool talus_can_be_sampled(const TalusBodyView *v, int64_t i)
{
    if (v->shape[i] < 0 || v->mobility[i] != TALUS_MOBILITY_FREE ||
        talus_shape_has(talus_body_kind(v, (uint32_t)i), TALUS_TRAIT_WALL))
        return false;
    TalusVec3 x = v->position[i], u = v->velocity[i];
    return fabs(x.x) + fabs(x.y) + fabs(x.z) + fabs(u.x) + fabs(u.y) + fabs(u.z) < INFINITY;
}

/* Returns a number r for talus_round_term: it rounds terms of at most `largest` in size to 41 bits of that, so that sums
 * of TALUS_GRID_SAMPLE of them are exact, and independent of order, below 2^1000. */
TALUS_INLINE double talus_term_rounder(double largest)
{
    int exponent;
    frexp(largest, &exponent);
    return ldexp(1.5, (exponent < 1000 ? exponent : 1000) + 11);
}

/* Returns x, rounded as talus_term_rounder says. */
TALUS_INLINE double talus_round_term(double x, double rounder)
{
    return (x + rounder) - rounder;
}

/* ---- sizes ---- */

/* Size class ceil(log2(2 fat / edge_factor)) + 1023, read from the bits of the quotient: cells with the edge
 * edge_factor 2^(class - 1023) are at least as wide as the fat diameter. Returns 1 if the class is out of range. */
TALUS_INLINE int talus_size_class(double fat, double per_edge_factor)
{
    double ratio = 2.0 * fat * per_edge_factor;
    uint64_t bits;
    memcpy(&bits, &ratio, sizeof bits);
    int size_class = (int)((bits - 1) >> 52) + 1;
    return size_class < 1 || size_class >= TALUS_SIZE_CLASSES ? 1 : size_class;
}

/* Candidate k for edge_factor, the factor in cell edge = edge_factor 2^i: above 1, at most 2. */
TALUS_INLINE double talus_edge_factor(int k)
{
    return 1.0 + (k + 1.0) / TALUS_EDGE_FACTORS;
}

/* Cost of the search with candidate k: the number of bodies tested grows as the cube of edge / (2 fat). Bin b of the
 * histogram counts sampled bodies with a fat radius from talus_edge_factor(b - 1) to talus_edge_factor(b) times any
 * power of two. */
TALUS_INLINE double talus_edge_factor_cost(const int histogram[TALUS_EDGE_FACTORS], int k)
{
    double edge = talus_edge_factor(k), cost = 0.0;
    for (int b = 0; b < TALUS_EDGE_FACTORS; b++) {
        double ratio = (b <= k ? edge : 2.0 * edge) / talus_edge_factor(b);
        cost += histogram[b] * ratio * ratio * ratio;
    }
    return cost;
}

/* ---- cells ---- */

/* Cell coordinate floor(x / edge) of x in a level, at most 2^52 in magnitude; not folded into the box. */
TALUS_INLINE int64_t talus_cell_coordinate(const TalusLevel *level, double x)
{
    const double limit = 0x1p52;
    double c = x * level->per_edge;
    c = c < -limit ? -limit : c > limit ? limit : c;
    int64_t k = (int64_t)c;
    return k - (c < (double)k);
}

/* Folds a cell coordinate along an axis into the level's periodic box: 0 .. cells - 1. */
TALUS_INLINE int64_t talus_fold_cell(const TalusLevel *level, int axis, int64_t k)
{
    int64_t cells = level->cells[axis];
    k -= level->origin[axis];
    if (k >= 0 && k < cells)
        return k;
    k %= cells;
    return k < 0 ? k + cells : k;
}

/* Halves the longest side, rounded up and not below 3, until the box has at most `budget` cells or all sides are 3. */
TALUS_INLINE void talus_shrink_cell_box(int64_t cells[3], double budget)
{
    while ((double)cells[0] * (double)cells[1] * (double)cells[2] > budget) {
        int longest = cells[1] > cells[0] ? 1 : 0;
        longest = cells[2] > cells[longest] ? 2 : longest;
        if (cells[longest] <= 3)
            return;
        cells[longest] = cells[longest] < 6 ? 3 : (cells[longest] + 1) / 2;
    }
}

/* Sets origin and size of a level's box from its edge and number of bodies; most bodies are between low and high, which
 * may be less than low by rounding. The box has at most two cells per body (one from 2^29 bodies on), or 27. */
TALUS_INLINE void talus_lay_out_level(TalusLevel *level, TalusVec3 low, TalusVec3 high)
{
    const double from[3] = {low.x, low.y, low.z}, to[3] = {high.x, high.y, high.z};
    for (int axis = 0; axis < 3; axis++) {
        level->origin[axis] = talus_cell_coordinate(level, from[axis]) - 1;
        level->cells[axis] = talus_cell_coordinate(level, to[axis]) - level->origin[axis] + 2;
        if (level->cells[axis] < 3)
            level->cells[axis] = 3;
    }
    double bodies = level->bodies;
    talus_shrink_cell_box(level->cells,
                          talus_max(27.0, bodies * (level->bodies < 1u << 29 ? 2.0 : 1.0)));
}

#endif

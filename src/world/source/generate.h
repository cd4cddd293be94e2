/* world/source/generate.h - positions for many bodies: lattices, layers, random fill.
 *
 * Pure functions of their arguments, with the same results on every IEEE platform. A generator keeps whole bodies
 * inside its region, and no two of its bodies overlap.
 *
 * Lattices and layers can be had in pieces, as sizes can (world/source/sizes.h): `count` bodies from number `first` on,
 * which are those that the bodies from 0 on have at these numbers. A body draws a fixed number of random numbers, so that
 * those of bodies before it are passed over. A random fill has no pieces: a body's position depends on all earlier ones. */
#ifndef TALUS_WORLD_SOURCE_GENERATE_H
#define TALUS_WORLD_SOURCE_GENERATE_H

#include "base/turn.h"

#include <talus/base.h>
#include <talus/math.h>

/* Returns the shortest rotation that takes the z axis to `direction` (not zero). */
TalusQuat talus_quat_from_z(TalusVec3 direction);
/* Returns the rotation by a number of turns about an axis (not zero). */
TalusQuat talus_quat_about(TalusVec3 axis, double turns);

/* Cells of `spacing` from `lo`, x fastest, one body in the middle of each. `jitter` is the share of half the gap,
 * spacing / 2 - half, by which a body is shifted at most, either way along each axis: it stays in its cell. */
typedef struct TalusLattice {
    TalusVec3 lo, spacing;
    TalusVec3 half; /* half extents of the largest body */
    int64_t cells[3];
    double jitter; /* 0 to 1 */
    uint64_t seed;
} TalusLattice;

void talus_generate_lattice(const TalusLattice *lattice, int64_t first, int64_t count,
                            TalusVec3 *out);

/* Layers above `bottom`, `rise` apart: circles about the vertical axis through `bottom` if `radius` > 0, else a grid
 * over |x| <= half[0], |y| <= half[1] from there. In odd layers circles are rotated by half an angle between
 * neighbours. */
typedef struct TalusLayers {
    TalusVec3 bottom;
    double radius, half[2];
    double spacing, rise; /* m: distance of neighbours in a layer, and of layers */
    double size, height;  /* half extents of the largest body, horizontal and vertical */
    double jitter;        /* 0 to 1: share of half the gap by which a body is shifted at most */
    uint64_t seed;
} TalusLayers;

/* Returns the number of positions in `repeat` layers; 0 if the region is narrower than a body. */
int64_t talus_layers_capacity(const TalusLayers *layers, int64_t repeat);
/* Writes positions, layer by layer from the bottom; a layer must hold at least one body. */
void talus_generate_layers(const TalusLayers *layers, int64_t first, int64_t count, TalusVec3 *out);

/* Region for random positions of spheres. If `radius` > 0, a cylinder from lo.z to hi.z about the vertical axis
 * through lo.x, lo.y; else the box [lo, hi]. */
typedef struct TalusFill {
    TalusVec3 lo, hi;
    double radius;
    uint64_t seed;
} TalusFill;

extern const int talus_fill_tries; /* random positions that are tried for one sphere at most */
/* Places spheres of the given radii (the largest first) one by one, without overlap. Writes their centres to `out`.
 * *placed: number placed; below `count` if a sphere found no free position. */
TalusStatus talus_generate_fill(const TalusFill *fill, int64_t count, const double *radius,
                                TalusVec3 *out, int64_t *placed);
/* Places those spheres anew whose again[i] is above 0, among the others, whose centres x[] has. *placed: number of spheres
 * placed anew; smaller than asked for if one found no free position. */
TalusStatus talus_generate_fill_again(const TalusFill *fill, int64_t count, const double *radius,
                                      const int64_t *again, TalusVec3 *x, int64_t *placed);

#endif

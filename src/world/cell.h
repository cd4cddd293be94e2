/* world/cell.h - a periodic cell that deforms: rates, stress, and control of pressures (collide/cell.h has the kinematics).
 *
 * A component of the gradient is prescribed, or the pressure along its axis is controlled. A controlled rate r follows
 *     W dr/dt = V (p - p_0) - 2 W w r,    W = max(2 I, h^2 S),    w = sqrt(S / W)
 * once per step, from the mean pressure p of the step, V the volume: the cell's sides have the inertia W. I = M L^2/12 is the
 * inertia of the bodies, of mass M, against that rate, L the cell's length; S, the stiffness of the cell, is the sum over
 * loaded contacts of k (n d)^2 along the axis, k = 1/(h^2 E), d the branch. With W >= 2 I a packing that stands still
 * because its contacts are rigid against the change cannot make the rate oscillate, and with W >= h^2 S its springs cannot:
 * w h <= 1. The second term damps it critically and vanishes with the rate, so that the mean pressure is p_0. All is made of
 * the cell's own data: no gain, time or length is chosen. An implicit rate, one more unknown in every product, would do
 * without W; contacts across all sides would then share a third body, which no sweep could colour.
 *
 * |r| is at most 0.01 sqrt(p_0 / rho) / d, an inertial number of 0.01: rho = M / (sum of the bodies' volumes, by the mean
 * density of the cell), d twice the smallest size. A loose cell is thus compressed slowly enough for its contacts. */
#ifndef TALUS_WORLD_CELL_H
#define TALUS_WORLD_CELL_H

#include "collide/cell.h"
#include "engine/engine.h"

#include <talus/world.h>

/* What a step of the cell starts from; restored if the step fails. */
typedef struct TalusCellMotion {
    TalusCell cell;
    TalusGradient rate; /* of the next step */
    double shear;       /* shear strain since the start: sum of h xy */
} TalusCellMotion;

typedef struct TalusWorldCell {
    TalusCellMotion now, before; /* before: at the start of the current step */
    TalusVec3 start;             /* m: lengths of the sides at the start */
    TalusCellState state;        /* of the last step */
    /* sums of the current step */
    TalusSym3 virial;     /* N m s */
    TalusVec3 stiffness;  /* J: S of the last part */
    TalusCellSums motion; /* of the last part */
    double mass;          /* kg */
} TalusWorldCell;

/* Refuses a def with a cell that this library cannot deform. */
TalusStatus talus_cell_check(const TalusWorldDef *def);
/* Sets up the cell of a new world. */
void talus_cell_init(TalusWorld *world);

/* Starts a step; before detection in a part of length h; after the bodies have moved; ends a step; undoes a failed one. They do
 * nothing in a world without such a cell. talus_cell_finish_part wraps bodies. */
void talus_cell_begin_step(TalusWorld *world);
void talus_cell_begin_part(TalusWorld *world);
TalusStatus talus_cell_finish_part(TalusWorld *world, double h);
void talus_cell_finish_step(TalusWorld *world);
void talus_cell_rollback(TalusWorld *world);
/* Adds the engine's sums over contacts of a part. */
void talus_cell_add_part(TalusWorld *world, const TalusEngineLedger *part);

#endif

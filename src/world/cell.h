/* world/cell.h - a periodic cell that deforms: rates, stress, and control of pressures (collide/cell.h has the kinematics).
 *
 * A component of the gradient is prescribed, or the pressure along its axis is controlled. A controlled rate changes once per
 * step, by the mean pressure p of the step and p_ of the step before,
 *     r <- r + h V / W ((p - p_0) + 4 (p - p_)),    W = max(2 I, 4 h^2 S):
 * the sides have the inertia W, V is the volume. I = M L^2/12 is the inertia of the bodies, of mass M, against that rate, L the
 * cell's length along the axis. S is the stiffness of the cell: the sum over loaded contacts of k (n d)^2 along the axis, with
 * k = 1/(h^2 E), d the branch; of the sums of all steps so far, each a percent less per step since, the largest, so that W
 * hardly changes from step to step and the mean of p is p_0. With W >= 2 I a packing whose rigid contacts stop the sides within
 * a step cannot make the rate oscillate; with W >= 4 h^2 S its springs cannot: their frequency w has w h <= 1/2. The second
 * term then damps critically, since V (p - p_) = - h S r, and has no mean. All is made of the cell's own data: no gain, time or
 * length is chosen. An implicit rate, one more unknown in every product, would do without W; but contacts across all sides would
 * share a third body, which no sweep could colour.
 *
 * |r| is at most 0.01 sqrt(p_0 / rho) / d, an inertial number of 0.01, with rho = M / V and d twice the smallest size, plus a fifth
 * of the rate of shear, by which grains dilate: a loose cell is compressed slowly enough for its contacts to follow. As a
 * prescribed one it strains the axis by at most 0.1 in a step, however high the pressure is for that step. */
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
    TalusVec3 stiffest;          /* J: S of the last step */
    TalusCellState state;        /* of the last step */
    double closing;              /* m/s: talus_cell_closing of the present part */
    /* sums of the current step */
    TalusSym3 virial;     /* N m s */
    TalusVec3 stiffness;  /* J: sum over contacts of the last part */
    TalusCellSums motion; /* of the last part */
    double mass;          /* kg */
} TalusWorldCell;

/* Refuses a def with a cell that this library cannot deform. */
TalusStatus talus_cell_check(const TalusWorldDef *def);
/* Sets up the cell of a new world. */
void talus_cell_init(TalusWorld *world);

/* Returns the velocity at x of a body that moves with the cell. */
TalusVec3 talus_cell_flow_at(const TalusWorld *world, TalusVec3 x);
/* Tells the cell of a new world that its bodies come from one with this period and flow, which they keep. Warns if the world
 * has another period. */
void talus_cell_continue(TalusWorld *world, const TalusPeriod *earlier, TalusGradient flow);

/* Starts a step; before detection in a part of length h; after the bodies have moved; ends a step; undoes a failed one. They do
 * nothing in a world without such a cell. talus_cell_finish_part wraps bodies. */
void talus_cell_begin_step(TalusWorld *world);
void talus_cell_begin_part(TalusWorld *world);
TalusStatus talus_cell_finish_part(TalusWorld *world, double h);
void talus_cell_finish_step(TalusWorld *world);
void talus_cell_rollback(TalusWorld *world);
/* Returns the speed that the flow of the present part adds to the reference speed of detections. */
double talus_cell_closing(const TalusWorld *world);
/* Adds the engine's sums over contacts of a part. */
void talus_cell_add_part(TalusWorld *world, const TalusEngineLedger *part);

#endif

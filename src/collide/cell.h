/* collide/cell.h - a periodic cell that deforms; for host and device.
 *
 * The cell. Its edges are the columns of
 *         | Lx  t  0  |
 *     H = | 0   Ly 0  |      t: tilt, the offset along x of the images across the period along y
 *         | 0   0  Lz |
 * and its centre stays in place. In a part of a step, of length h, it moves with the velocity gradient G, which has the
 * entries xx, yy, zz and xy (velocity along x, position along y): H' = (I + h G) H. Images repeat bodies at the integer
 * vectors k: one at x + H k. H and H' have the same k, so the image's velocity is v + G H k. All this is Lees and
 * Edwards's (1972) boundary condition, with stretching axes.
 *
 * A contact of a with the image of b that is s = H k away has the contact velocity D'v + G s; G s is known before the
 * solve and enters q, on the normal row and, as slip, on the tangential rows.
 *
 * Bodies. Newton's law acts on velocities in the frame of the centre, so that a body that crosses a side changes its
 * velocity by G s (talus_wrap_in_cell), and no place of the cell differs from another: c = v - G (x - centre), the
 * velocity relative to the flow, has no jump, and a collision across a side is one inside the cell.
 *
 * A gradient that changes, or axes that stretch, would break this: images accelerate, and the bodies between them have no
 * reason to. So each part begins by moving all bodies with the cell:
 *     v <- v + (G - F) (x - centre),   F = G_0 (I + h_0 G_0)^-1,
 * with G_0 and h_0 of the part before; F (x' - centre) is the flow G_0 (x - centre) seen from the positions x' at its end.
 * Relative to the flow no body then changes its velocity. In steady simple shear F = G, and nothing happens. A cell that
 * starts moves its bodies at once; these forces of inertia do work, which counts as work of the cell.
 *
 * Energy. The cell works on its bodies by contacts across its sides, - gamma' G s, by bodies that cross sides, and by the
 * change of velocities above. In the mean this is the power of the stress, V sigma : G with tension positive,
 *     sigma = - 1/V ( sum over contacts of impulse x branch / h  +  sum over bodies of m c x c ),
 * impulse: on b, branch: from the centre of a to that of b's image. */
#ifndef TALUS_COLLIDE_CELL_H
#define TALUS_COLLIDE_CELL_H

#include "collide/period.h"

/* The cell in a part of a step. */
typedef struct TalusCell {
    TalusPeriod period;
    TalusVec3 centre;
    TalusGradient now;  /* G: over the positions at the start of the part */
    TalusGradient last; /* F: of the part before, over the positions at its end */
} TalusCell;

/* G d. */
TALUS_INLINE TalusVec3 talus_gradient_velocity(const TalusGradient *g, TalusVec3 d)
{
    return talus_vec3(g->xx * d.x + g->xy * d.y, g->yy * d.y, g->zz * d.z);
}

/* True if G is 0: the cell stands still. */
TALUS_INLINE int talus_gradient_is_zero(const TalusGradient *g)
{
    return g->xx == 0.0 && g->yy == 0.0 && g->zz == 0.0 && g->xy == 0.0;
}

/* Upper bound of |G d| over |d|: the Frobenius norm, 1/s. */
TALUS_INLINE double talus_gradient_norm(const TalusGradient *g)
{
    return sqrt(g->xx * g->xx + g->yy * g->yy + g->zz * g->zz + g->xy * g->xy);
}

/* Returns the gradient less another. */
TALUS_INLINE TalusGradient talus_gradient_less(const TalusGradient *g, const TalusGradient *other)
{
    TalusGradient r = {g->xx - other->xx, g->yy - other->yy, g->zz - other->zz, g->xy - other->xy};
    return r;
}

/* F = G (I + h G)^-1: the flow of a part of length h over the positions at its end. */
TALUS_INLINE TalusGradient talus_gradient_at_end(const TalusGradient *g, double h)
{
    double x = 1.0 + h * g->xx, y = 1.0 + h * g->yy, z = 1.0 + h * g->zz;
    TalusGradient r = {g->xx / x, g->yy / y, g->zz / z, g->xy / (x * y)};
    return r;
}

/* Velocity of the flow at x. */
TALUS_INLINE TalusVec3 talus_flow_at(const TalusGradient *g, TalusVec3 centre, TalusVec3 x)
{
    return talus_gradient_velocity(g, talus_sub(x, centre));
}

/* Change of a body's velocity at the start of the part, by which it moves with the cell as before. */
TALUS_INLINE TalusVec3 talus_flow_change(const TalusCell *cell, TalusVec3 x)
{
    TalusGradient change = talus_gradient_less(&cell->now, &cell->last);
    return talus_flow_at(&change, cell->centre, x);
}

/* Velocity G s of the image of the body at xb that is nearest to xa, relative to that body. Exactly 0 if that is the body
 * itself. */
TALUS_INLINE TalusVec3 talus_image_velocity(const TalusCell *cell, TalusVec3 xa, TalusVec3 xb)
{
    TalusVec3 d = talus_sub(xb, xa), k;
    (void)talus_nearest_image(&cell->period, d, &k);
    return talus_gradient_velocity(&cell->now, talus_period_vector(&cell->period, k));
}

/* Moves the cell by h: the sides about the centre, and the tilt, which is kept within half a period along x. */
TALUS_INLINE void talus_move_cell(TalusCell *cell, double h)
{
    TalusPeriod *p = &cell->period;
    const TalusGradient *g = &cell->now;
    double x = p->hi.x - p->lo.x, y = p->hi.y - p->lo.y, z = p->hi.z - p->lo.z;
    double tilt = p->tilt + h * (g->xx * p->tilt + g->xy * y);
    double half[3] = {0.5 * (x + h * g->xx * x), 0.5 * (y + h * g->yy * y),
                      0.5 * (z + h * g->zz * z)};
    if (g->xx != 0.0) {
        p->lo.x = cell->centre.x - half[0];
        p->hi.x = cell->centre.x + half[0];
    }
    if (g->yy != 0.0) {
        p->lo.y = cell->centre.y - half[1];
        p->hi.y = cell->centre.y + half[1];
    }
    if (g->zz != 0.0) {
        p->lo.z = cell->centre.z - half[2];
        p->hi.z = cell->centre.z + half[2];
    }
    p->tilt = p->on[0] ? talus_nearest_image_component(tilt, p->hi.x - p->lo.x) : 0.0;
    cell->last = talus_gradient_at_end(g, h);
}

/* Volume of the cell, m3; all three axes must be periodic. */
TALUS_INLINE double talus_cell_volume(const TalusPeriod *p)
{
    return (p->hi.x - p->lo.x) * (p->hi.y - p->lo.y) * (p->hi.z - p->lo.z);
}

#endif

/* solvers/newton/smooth_map.h - the natural map of one block, smoothed.
 *
 *     f = x - P(z; w / d),   z as in natural_map.h,
 * where P(z; nu) replaces the projection onto the cone |t| <= mu n. In the half plane of normal and |t| the projection
 * is max(0, a) r + max(0, b) r', with a the coordinate of z along the mantle's ray r and b the coordinate along the
 * ray's inward normal r'. P(z; nu) has phi(a; nu) = (a + sqrt(a^2 + 4 nu^2)) / 2 in place of max(0, a), and phi(b; mu
 * nu) in place of max(0, b); the factor mu makes the tangential part of P vanish where z_t does. At a root of f, x lies
 * inside the cone and u + s e_n inside its dual, and both approach the boundary as w falls (Chen & Harker 1993 for half
 * lines; Fukushima, Luo & Tseng 2002 for cones): w, a speed, is the parameter of a central path. De Saxce's shift s is
 * not smoothed: the path then has fewer folds. */
#ifndef TALUS_SOLVERS_NEWTON_SMOOTH_MAP_H
#define TALUS_SOLVERS_NEWTON_SMOOTH_MAP_H

#include "solvers/newton/natural_map.h"

/* Writes f, its Jacobian and rate = -w df/dw, [rows], at impulse x, velocity u and width > 0 in m/s; not for joints. */
void talus_smooth_map(const TalusNaturalBlock *block, double width, const double *x,
                      const double *u, double *f, TalusNaturalJacobian *slope, double *rate);

#endif

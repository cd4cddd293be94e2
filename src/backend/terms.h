/* backend/terms.h - size T of the terms whose sum is a block's gradient; the rounding error of the gradient is
 * relative to T. For host and device.
 *
 * For every block T = |N| |gamma| + |q|, but at least d |gamma|, with d the block's mean diagonal entry. With p_j and
 * t_j the impulses and torques of the contacts on a body, v_f and s_f its free velocity and spin, and absolute values
 * by component,
 *     V = |v_f| + sum |p_j| / m      W = |s_f| + |I^-1| sum |t_j|
 * and a contact with bias b (and slip, whose entries count likewise) has T = |b| + E |gamma_n| + |V_a| + |arm_a| |W_a| + |V_b| + |arm_b| |W_b|. With one row
 * |arm x n| replaces |arm|, with six rows |arm| plus the lever of the moments does. */
#ifndef TALUS_BACKEND_TERMS_H
#define TALUS_BACKEND_TERMS_H

#include "backend/sets.h"

#include <math.h>

/* Returns |x| of a vector of three numbers. */
TALUS_INLINE double talus_terms_norm3(const double *x)
{
    return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

/* Adds the absolute values of a contact's wrench, impulse p_j and torque t_j, to `sum`, the sums of a body. */
TALUS_INLINE void talus_terms_add_wrench(const double wrench[6], double sum[6])
{
    for (int k = 0; k < 6; k++)
        sum[k] += fabs(wrench[k]);
}

/* Writes out = {|V|, |W|} of a body, from its record in TalusOperator.body, its entry of TalusOperator.inverse_inertia
 * (NULL: a sphere) and the sums of absolute values of its wrenches. */
TALUS_INLINE void talus_terms_body_size(const double body[8], const double *inertia,
                                        const double sum[6], double out[2])
{
    static const int entry[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};
    double v[3], w[3];
    for (int k = 0; k < 3; k++) {
        v[k] = fabs(body[k]) + body[3] * sum[k];
        w[k] = fabs(body[4 + k]);
        for (int j = 0; inertia && j < 3; j++)
            w[k] += fabs(inertia[entry[k][j]]) * sum[3 + j];
        w[k] += inertia ? 0.0 : body[7] * sum[3 + k];
    }
    out[0] = talus_terms_norm3(v);
    out[1] = talus_terms_norm3(w);
}

/* Returns the factor of a body's |W| in T of a contact: |arm| or, with one row, |arm x n|; without the lever of six
 * rows. arm NULL: a sphere, whose arm is n or -n. */
TALUS_INLINE double talus_terms_spin_factor(int rows, const double *arm, const double *n)
{
    if (!arm)
        return rows == 1 ? 0.0 : 1.0;
    if (rows > 1)
        return talus_terms_norm3(arm);
    double across[3] = {arm[1] * n[2] - arm[2] * n[1], arm[2] * n[0] - arm[0] * n[2],
                        arm[0] * n[1] - arm[1] * n[0]};
    return talus_terms_norm3(across);
}

/* Returns the ratio of the rounding error of a block's residual to that of its gradient. It is 1 + mu under Coulomb's
 * law, where De Saxce's shift mu |u_t| adds up to mu times the rounding error of the tangential rows, else 1. model
 * NULL: no block is under Coulomb's law. */
TALUS_INLINE double talus_terms_residual_factor(const TalusBlockModel *model, double mu)
{
    bool shifts = model && model->law == TALUS_LAW_COULOMB && model->section < TALUS_SECTION_NONE;
    return shifts ? 1.0 + mu : 1.0;
}

#endif

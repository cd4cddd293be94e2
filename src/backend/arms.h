/* backend/arms.h - the rows of D' of one block (D' maps body velocities to contact velocities), and a contact's
 * diagonal entries of N after elimination of the joints. For host and device. */
#ifndef TALUS_BACKEND_ARMS_H
#define TALUS_BACKEND_ARMS_H

#include "backend/frame.h"
#include "backend/operator.h"
#include "linalg/machine.h"

/* One row of D' on one body: the coefficients of its velocity v, then of its spin s in m/s (operator.h). */
typedef double TalusJacobianRow[6];

/* r = a x b; r must be neither a nor b. */
TALUS_INLINE void talus_cross3(const double a[3], const double b[3], double r[3])
{
    r[0] = a[1] * b[2] - a[2] * b[1];
    r[1] = a[2] * b[0] - a[0] * b[2];
    r[2] = a[0] * b[1] - a[1] * b[0];
}

/* turn = change of a body's spin s by `torque`, an angular impulse over the body's length l: the matrix
 * op->inverse_inertia[body] times torque or, if the operator has no such matrices (all spheres), k times torque. */
TALUS_INLINE void talus_spin_change(const TalusOperator *op, int body, double k,
                                    const double torque[3], double turn[3])
{
    if (!op->inverse_inertia) {
        for (int i = 0; i < 3; i++)
            turn[i] = k * torque[i];
        return;
    }
    const double *m = op->inverse_inertia[body];
    turn[0] = m[0] * torque[0] + m[3] * torque[1] + m[4] * torque[2];
    turn[1] = m[3] * torque[0] + m[1] * torque[1] + m[5] * torque[2];
    turn[2] = m[4] * torque[0] + m[5] * torque[1] + m[2] * torque[2];
}

/* Writes row k < 3 (normal, tangents) of contact i in D', the part on its body a (side 0) or b (side 1). */
TALUS_INLINE void talus_contact_jacobian_row(const TalusOperator *op, int i, int side, int k,
                                             TalusJacobianRow arm)
{
    const int general = i - op->sphere_sphere - op->sphere_fixed;
    const double sign = side ? 1.0 : -1.0;
    double local[3] = {0.0, 0.0, 0.0}, axis[3], lever[3], turn[3];
    local[k] = 1.0;
    talus_frame_to_world(op->frame[i], local, axis);
    for (int c = 0; c < 3; c++)
        lever[c] = general < 0 ? -sign * op->frame[i][c] : op->arm[general][3 * side + c];
    talus_cross3(lever, axis, turn);
    for (int c = 0; c < 3; c++) {
        arm[c] = sign * axis[c];
        /* the normal goes through a sphere's centre: no torque, not even by rounding */
        arm[3 + c] = general < 0 && k == 0 ? 0.0 : sign * turn[c];
    }
}

/* Writes row 3 + k of contact i in D', that of the moment about axis k: zeros for the body's velocity, the axis times
 * the lever for its spin; negative on body a. */
TALUS_INLINE void talus_moment_jacobian_row(const TalusOperator *op, int i, int side, int k,
                                            TalusJacobianRow arm)
{
    const int general = i - op->sphere_sphere - op->sphere_fixed;
    const double lever = (side ? 1.0 : -1.0) * op->lever[general][side];
    double local[3] = {0.0, 0.0, 0.0};
    local[k] = 1.0;
    talus_frame_to_world(op->frame[i], local, arm + 3);
    for (int c = 0; c < 3; c++) {
        arm[c] = 0.0;
        arm[3 + c] *= lever;
    }
}

/* Writes row k < op->rows of contact i in D', the part on its body a (side 0) or b (side 1). */
TALUS_INLINE void talus_block_jacobian_row(const TalusOperator *op, int i, int side, int k,
                                           TalusJacobianRow arm)
{
    if (k < 3)
        talus_contact_jacobian_row(op, i, side, k, arm);
    else
        talus_moment_jacobian_row(op, i, side, k - 3, arm);
}

/* ---- free joints ---- */

/* True if the joint at block i has row k, 0 to 2. */
TALUS_INLINE bool talus_joint_has_row(const TalusOperator *op, int i, int k)
{
    return op->model[i].sides >> k & 1;
}

/* Fills *row, all members, with row k (0 to 2) of the joint at block i: D' (arm) and M^-1 D (push) on both bodies,
 * bias and compliance. row->entry is the row's index in the impulses of the free joints, the last blocks of gamma. */
TALUS_INLINE void talus_joint_fill_row(const TalusOperator *op, int i, int k, TalusJointRow *row)
{
    const int first = op->blocks - op->joints;
    for (int side = 0; side < 2; side++) {
        const int body = row->body[side] = op->pair[i][side];
        double *arm = row->arm[side], *push = row->push[side];
        for (int c = 0; c < 6; c++)
            arm[c] = push[c] = 0.0;
        if (body < 0)
            continue;
        talus_contact_jacobian_row(op, i, side, k, arm);
        for (int c = 0; c < 3; c++)
            push[c] = op->body[body][3] * arm[c];
        talus_spin_change(op, body, op->body[body][7], arm + 3, push + 3);
    }
    row->bias = k == 0 ? op->bias[i] : 0.0;
    row->compliance = k == 0 && op->compliance ? op->compliance[i] : 0.0;
    row->entry = (int64_t)op->rows * (i - first) + k;
}

/* Returns x' T x for the 6 x 6 matrix t. */
TALUS_INLINE double talus_quadratic_form6(const double t[36], const double x[6])
{
    double sum = 0.0;
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            sum += x[i] * t[6 * i + j] * x[j];
    return sum;
}

/* Writes to `out` the diagonal entries of N of contact i after elimination of the joints: out[0] for the normal row,
 * out[1] the mean of the other rows. Each is the entry of `whole`, in which joints are blocks, minus x' T x for each
 * of the contact's bodies: x is the row of D' on the body, T = taken[vertex[body]] the part of the body's M^-1 that
 * its joints remove (vertex -1: the body has no joints). An entry is at least 1e-9 of that of `whole`: where joints
 * block the contact's motion, the difference is only rounding. */
TALUS_INLINE void talus_reduced_diagonal(const TalusOperator *whole, int i, const int32_t *vertex,
                                         const double (*taken)[36], double out[2])
{
    double sum[2] = {0.0, 0.0};
    for (int side = 0; side < 2; side++) {
        const int body = whole->pair[i][side], v = body >= 0 ? vertex[body] : -1;
        for (int k = 0; k < whole->rows && v >= 0; k++) {
            TalusJacobianRow arm;
            talus_block_jacobian_row(whole, i, side, k, arm);
            sum[k > 0] += talus_quadratic_form6(taken[v], arm) / (k ? whole->rows - 1 : 1);
        }
    }
    for (int k = 0; k < 2; k++) {
        const double all = whole->diagonal[i][k];
        out[k] = fmax(all - sum[whole->rows > 1 ? k : 0], 1e-9 * all);
    }
}

/* Returns TALUS_KIND(law, section) of block i, its bit in TalusOperator.kinds; 0 for a block without friction, which
 * has the model disc and ccp with all coefficients 0. */
TALUS_INLINE uint32_t talus_block_kind(const TalusOperator *op, int i)
{
    const TalusBlockModel *model = &op->model[i];
    const bool smooth =
        model->section == TALUS_SECTION_DISC && model->law == TALUS_LAW_CCP && !(op->mu[i] > 0.0) &&
        !(op->moment_mu && (op->moment_mu[i][0] > 0.0 || op->moment_mu[i][1] > 0.0));
    return smooth ? 0 : TALUS_KIND(model->law, model->section);
}

#endif

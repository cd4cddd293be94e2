/* backend/block.h - the block of N of one contact, its diagonal, and a bound on its eigenvalues. Shared by the host's
 * loops and the device's kernels, so that both give the same bits. */
#ifndef TALUS_BACKEND_BLOCK_H
#define TALUS_BACKEND_BLOCK_H

#include "backend/frame.h"
#include "backend/operator.h"

#include <string.h>

/* Adds one body's part of D' M^-1 D to the upper triangle of a block of `size` rows: turn_k' J turn_l with J =
 * op->inverse_inertia[body] and turn_k the torque of a unit impulse in row k: arm x e_k along axis e_k (k < 3), lever
 * times e_(k-3) for a moment. Adds 1/m to the diagonal entries of rows 0 to 2. */
TALUS_INLINE void talus_block_add_body(const TalusOperator *op, int body, const double arm[3],
                                       double lever, const TalusVec3 axes[3], int size,
                                       double *block)
{
    TalusSym3 inertia;
    TalusVec3 turn[6], turned[6], arm3 = talus_vec3(arm[0], arm[1], arm[2]);
    memcpy(&inertia, op->inverse_inertia[body], sizeof inertia);
    for (int k = 0; k < size; k++) {
        turn[k] = k < 3 ? talus_cross(arm3, axes[k]) : talus_scale(lever, axes[k - 3]);
        turned[k] = talus_sym3_mul(inertia, turn[k]);
    }
    for (int k = 0; k < size; k++)
        for (int l = k; l < size; l++)
            block[k * size + l] +=
                talus_dot(turn[k], turned[l]) + (k == l && k < 3 ? op->body[body][3] : 0.0);
}

/* Writes the diagonal block of N of general contact i, without compliance: size x size entries by rows. size is 3 for
 * the rows of impulses; 6, with the rows of moments, only if op->rows is 6. */
TALUS_INLINE void talus_block_fill_general(const TalusOperator *op, int i, int size, double *block)
{
    int general = i - op->sphere_sphere - op->sphere_fixed;
    const double *arm = op->arm[general], none[2] = {0.0, 0.0};
    const double *lever = size > 3 ? op->lever[general] : none;
    TalusVec3 axes[3];
    for (int k = 0; k < 3; k++) {
        double local[3] = {k == 0 ? 1.0 : 0.0, k == 1 ? 1.0 : 0.0, k == 2 ? 1.0 : 0.0}, world[3];
        talus_frame_to_world(op->frame[i], local, world);
        axes[k] = talus_vec3(world[0], world[1], world[2]);
    }
    for (int k = 0; k < size * size; k++)
        block[k] = 0.0;
    talus_block_add_body(op, op->pair[i][0], arm, lever[0], axes, size, block);
    if (op->pair[i][1] >= 0)
        talus_block_add_body(op, op->pair[i][1], arm + 3, lever[1], axes, size, block);
    for (int k = 1; k < size; k++)
        for (int l = 0; l < k; l++)
            block[k * size + l] = block[l * size + k];
}

/* Returns the largest absolute row sum of D^-1/2 B D^-1/2, at least 1, with B the leading rows x rows part of the size
 * x size block and D = diag(nn, tt, tt, ..). This number bounds the eigenvalues of the matrix (Gershgorin). */
TALUS_INLINE double talus_block_coupling(const double *block, int size, int rows, double nn,
                                         double tt)
{
    double largest = 1.0, per_n = 1.0 / nn, per_t = 1.0 / tt, per_mixed = sqrt(per_n * per_t);
    for (int k = 0; k < rows; k++) {
        double sum = 0.0;
        for (int l = 0; l < rows; l++)
            sum += fabs(block[k * size + l]) * (k && l ? per_t : k || l ? per_mixed : per_n);
        largest = sum > largest ? sum : largest;
    }
    return largest;
}

/* As talus_block_coupling, for a symmetric block of three rows whose mean tangential entry is tt: mostly a smaller
 * bound, and cheaper. With c the column between normal and tangents and T the tangential part, which has the eigenvalues
 * tt (1 +- spread), the largest eigenvalue is at most that of
 *     1  k
 *     k  1 + spread,      k^2 = |c|^2 / (nn tt). */
TALUS_INLINE double talus_block_coupling_of_three(const double *b, double nn, double tt)
{
    double k2 = (b[1] * b[1] + b[2] * b[2]) / (nn * tt), half = 0.5 * (b[4] - b[8]);
    double spread = sqrt(half * half + b[5] * b[5]) / tt;
    return 1.0 + 0.5 * (spread + sqrt(spread * spread + 4.0 * k2));
}

/* Writes op->diagonal[i] for a contact of two spheres, or of a sphere with a fixed body. */
TALUS_INLINE void talus_sphere_fill_diagonal(const TalusOperator *op, int i)
{
    const double *a = op->body[op->pair[i][0]];
    double nn = a[3], k = a[7];
    if (i < op->sphere_sphere) {
        const double *b = op->body[op->pair[i][1]];
        nn += b[3];
        k += b[7];
    }
    op->diagonal[i][0] = nn + (op->compliance ? op->compliance[i] : 0.0);
    op->diagonal[i][1] = nn + k;
}

/* Adds the compliance of contact i to `block`, its diagonal block of N with `size` rows, 3 or 6; then writes from it
 * op->diagonal[i] and *coupling (TalusOperator.coupling). op->diagonal[i][1] equals op->diagonal[i][0] if op->rows is
 * 1 or the mean of the other diagonal entries is not positive. */
TALUS_INLINE void talus_block_fill_diagonal(const TalusOperator *op, int i, int size, double *block,
                                            double *coupling)
{
    if (op->compliance)
        block[0] += op->compliance[i];
    double nn = block[0], tt = 0.0;
    for (int k = 1; k < size; k++)
        tt += block[k * size + k];
    tt *= 1.0 / (size - 1);
    if (op->rows == 1 || !(tt > 0.0))
        tt = nn;
    op->diagonal[i][0] = nn;
    op->diagonal[i][1] = tt;
    *coupling = op->rows == 3 && size == 3 ? talus_block_coupling_of_three(block, nn, tt)
                                           : talus_block_coupling(block, size, op->rows, nn, tt);
}

#endif

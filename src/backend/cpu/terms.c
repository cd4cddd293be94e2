/* backend/cpu/terms.c - size T of the terms of each block's gradient (backend/terms.h), measured with the residual. */
#include "backend/terms.h"
#include "backend/cpu/cpu.h"
#include "base/lane.h"

enum { LINEAR = 3, SPIN = 7 }; /* indices of |V| and |W| in a body's velocity record */

/* Returns the magnitude of the normal offset of block i, without De Saxce's shift. */
static double normal_offset_size(const TalusOperator *op, int64_t i)
{
    return fabs(op->unshifted ? op->unshifted[i]
                : op->pair    ? op->bias[i]
                              : op->offset[i * op->rows]);
}

/* What a range of blocks has in common; constants after inlining. */
typedef struct Range {
    int rows;
    bool spheres; /* contacts of spheres, without arms of their own */
} Range;

/* Returns the factor of |W| of the body at `side` in T of contact i: the length of the arm; with 6 rows, plus the
 * lever of the moment rows. */
KERNEL double spin_factor(const TalusOperator *op, Range range, int i, int side)
{
    int general = i - op->sphere_sphere - op->sphere_fixed;
    const double *arm = range.spheres ? NULL : op->arm[general] + 3 * side;
    double length = talus_terms_spin_factor(range.rows, arm, op->frame[i]);
    return range.rows == 6 ? length + op->lever[general][side] : length;
}

/* Returns T of contact i except for the part E |gamma_n|. */
KERNEL double contact_terms_size(const TalusOperator *op, Range range, int i)
{
    double sum = normal_offset_size(op, i);
    if (op->slip && range.rows > 1)
        sum += fabs(op->slip[i][0]) + fabs(op->slip[i][1]);
    for (int side = 0; side < 2; side++) {
        int body = op->pair[i][side];
        if (body < 0)
            continue;
        const double *of = op->scratch->velocity[body];
        sum += of[LINEAR] + spin_factor(op, range, i, side) * of[SPIN];
    }
    return sum;
}

/* Returns |N| |gamma| + |q| of block i of an explicit operator: the norm over its rows. */
static double matrix_terms_size(const TalusOperator *op, const double *gamma, int64_t i)
{
    double sum2 = 0.0;
    for (int64_t row = i * op->rows; row < (i + 1) * op->rows; row++) {
        double sum = row == i * op->rows ? normal_offset_size(op, i) : fabs(op->offset[row]);
        for (int32_t k = op->row_start[row]; k < op->row_start[row + 1]; k++)
            sum += fabs(op->values[k] * gamma[op->column[k]]);
        sum2 += sum * sum;
    }
    return sqrt(sum2);
}

/* Returns T^2 of block i, with T at least d |gamma_i|, d the mean diagonal entry; under Coulomb's law, where De Saxce's
 * shift enters the residual, T is multiplied by 1 + mu. */
KERNEL double block_terms2(const TalusOperator *op, Range range, const double *gamma, int64_t i)
{
    const double *own = gamma + i * range.rows;
    double d = talus_block_scale(op, (int)i), own2 = 0.0;
    double terms =
        op->pair ? contact_terms_size(op, range, (int)i) : matrix_terms_size(op, gamma, i);
    double factor = talus_terms_residual_factor(op->model ? &op->model[i] : NULL,
                                                range.rows == 1 ? 0.0 : op->mu[i]);
    if (op->compliance)
        terms += fabs(op->compliance[i] * own[0]);
    for (int k = 0; k < range.rows; k++)
        own2 += own[k] * own[k];
    return fmax(terms * terms, d * d * own2) * (factor * factor);
}

/* talus_cpu_add_terms for blocks of one kind; `range` is constant after inlining. */
KERNEL void add_terms_of_range(const TalusOperator *op, Range range, const double *gamma,
                               int64_t begin, int64_t end, double *terms2, double *max2)
{
    double sum = *terms2, max = *max2;
    for (int64_t i = begin; i < end; i++) {
        double block2 = block_terms2(op, range, gamma, i);
        sum += block2;
        update_max(&max, block2);
    }
    *terms2 = sum;
    *max2 = max;
}

void talus_cpu_add_terms(const TalusOperator *op, const double *gamma, int64_t begin, int64_t end,
                         double *terms2, double *max2)
{
    int64_t spheres = op->pair ? op->sphere_sphere + op->sphere_fixed : 0;
    int64_t middle = spheres < begin ? begin : spheres > end ? end : spheres;
    if (op->rows == 3)
        add_terms_of_range(op, (Range){3, true}, gamma, begin, middle, terms2, max2);
    else
        add_terms_of_range(op, (Range){1, true}, gamma, begin, middle, terms2, max2);
    add_terms_of_range(op, (Range){op->rows, false}, gamma, middle, end, terms2, max2);
}

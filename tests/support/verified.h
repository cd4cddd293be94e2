/* support/verified.h - figures of a problem's def computed by apps/verify alone, to compare the library's with. */
#ifndef TALUS_TESTS_SUPPORT_VERIFIED_H
#define TALUS_TESTS_SUPPORT_VERIFIED_H

#include "verify/verify.h"

/* The problem at zero impulses, so that sets under TALUS_LAW_FIXED have estimate 0. Release with verify_point_free. */
VerifyPoint verify_zero_point(const TalusProblemDef *def);
/* Mean of the block's diagonal entries of N + E. */
double verify_diagonal(const VerifyPoint *point, int block);
/* The natural residual of problem.h; bounds under TALUS_LAW_FIXED follow from gamma's own normal impulses. */
TalusResidual verify_residual(const TalusProblemDef *def, const double *gamma);
double verify_objective(const TalusProblemDef *def, const double *gamma);
/* Maximum distance of a block of gamma from its set, N s; under TALUS_LAW_FIXED with bounds as above. */
double verify_outside(const TalusProblemDef *def, const double *gamma);
/* Scale of rounding in the residual: the maximum over all rows of |q_k| and d_i |gamma_k|, with d_i the diagonal of the
 * row's block, m/s. */
double verify_scale(const TalusProblemDef *def, const double *gamma);
/* N + E as a full matrix, [size * size]. */
void verify_matrix(const TalusProblemDef *def, double *matrix);

#endif

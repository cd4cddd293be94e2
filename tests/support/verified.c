#include "support/verified.h"

#include <math.h>
#include <stdlib.h>

static double *zeros(const TalusProblemDef *def)
{
    double *block = calloc((size_t)verify_size(def) + 1, sizeof *block);
    if (!block)
        abort();
    return block;
}

VerifyPoint verify_zero_point(const TalusProblemDef *def)
{
    double *gamma = zeros(def);
    VerifyPoint point = verify_def_point(def, gamma);
    free(gamma);
    return point;
}

double verify_diagonal(const VerifyPoint *p, int block)
{
    return (p->normal[block] + (p->rows - 1) * p->tangential[block]) / p->rows;
}

static TalusMetrics measure(const TalusProblemDef *def, const double *gamma)
{
    TalusMetrics metrics;
    VerifyPoint point = verify_def_point(def, gamma);
    verify_measure(&point, &metrics);
    verify_point_free(&point);
    return metrics;
}

TalusResidual verify_residual(const TalusProblemDef *def, const double *gamma)
{
    return measure(def, gamma).natural;
}

double verify_objective(const TalusProblemDef *def, const double *gamma)
{
    return measure(def, gamma).objective;
}

double verify_outside(const TalusProblemDef *def, const double *gamma)
{
    return measure(def, gamma).cone_violation;
}

double verify_scale(const TalusProblemDef *def, const double *gamma)
{
    VerifyPoint point = verify_def_point(def, gamma);
    double scale = 0.0;
    for (int k = 0; k < point.blocks * point.rows; k++)
        scale = fmax(scale, fmax(fabs(point.q[k]),
                                 verify_diagonal(&point, k / point.rows) * fabs(gamma[k])));
    verify_point_free(&point);
    return scale;
}

void verify_matrix(const TalusProblemDef *def, double *matrix)
{
    size_t n = (size_t)verify_size(def), rows = (size_t)verify_rows(def);
    double *unit = zeros(def), *column = zeros(def);
    for (size_t k = 0; k < n; k++) {
        unit[k] = 1.0;
        verify_product(def, unit, column);
        unit[k] = 0.0;
        for (size_t row = 0; row < n; row++)
            matrix[row * n + k] = column[row];
        if (k % rows == 0 && def->contacts)
            matrix[k * n + k] += def->contacts[k / rows].compliance;
    }
    free(unit);
    free(column);
}

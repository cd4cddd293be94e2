/* solvers/norm.c - the operator norm in a solver's metric. */
#include "solvers/solver.h"

#include "base/rng.h"

#include <math.h>
#include <string.h>

double talus_operator_norm(TalusSolve *s, const TalusMetricBlock *metric, int iterations, double *x,
                           double *y)
{
    size_t n = (size_t)s->op->rows * (size_t)s->op->blocks;
    TalusRng rng = talus_rng(n);
    for (size_t i = 0; i < n; i++)
        x[i] = talus_rng_uniform(&rng) - 0.5;
    double norm = 0.0;
    for (int k = 0; k < iterations; k++) {
        double length = sqrt(s->backend->dot(s->op, x, x));
        if (!(length > 0.0))
            break;
        s->backend->axpby(s->op, 0.0, x, 1.0 / length, x);
        s->backend->scale(s->op, metric, false, x);
        s->backend->product(s->op, x, true, false, y);
        s->backend->scale(s->op, metric, false, y);
        norm = sqrt(s->backend->dot(s->op, y, y));
        memcpy(x, y, n * sizeof *x);
        s->info->products++;
    }
    return norm;
}

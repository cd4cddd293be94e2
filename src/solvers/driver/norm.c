/* solvers/driver/norm.c - the norm of the operator in a solver's metric. */
#include "solvers/driver/solver.h"

#include "backend/part.h"

#include <math.h>

/* Least norm returned in a metric. The diagonal in a metric is about 1, so the norm is at least about 1, unless
 * eliminated joints leave the contacts no motion (problem/eliminate.h). The computed norm is then rounding, and its
 * inverse must not become a step length. */
static const double LEAST = 0.1;

double talus_norm_lower_bound(const TalusSolve *s, const TalusMetricBlock *metric)
{
    enum { AT_ONCE = 256 };
    double diagonal[AT_ONCE][2], largest = 0.0;
    for (int i = 0; !metric && i < s->op->blocks; i += AT_ONCE) {
        int count = s->op->blocks - i < AT_ONCE ? s->op->blocks - i : AT_ONCE;
        const TalusOperator part = {.rows = s->op->rows, .diagonal = diagonal};
        s->backend->vector.get(s->op, diagonal[0], s->op->diagonal[i], 2 * (size_t)count);
        for (int k = 0; k < count; k++)
            largest = fmax(largest, talus_block_scale(&part, k));
    }
    talus_comm_find_maxima(talus_operator_comm(s->op), &largest, 1);
    return metric ? 1.0 : largest;
}

double talus_operator_norm(TalusSolve *s, const TalusMetricBlock *metric, int iterations, double *x,
                           double *y)
{
    size_t n = (size_t)s->op->rows * (size_t)s->op->blocks;
    double norm = 0.0;
    s->backend->vector.randomise(s->op, x);
    for (int k = 0; k < iterations; k++) {
        double length = sqrt(s->backend->vector.dot(s->op, x, x));
        if (!(length > 0.0))
            break;
        s->backend->vector.axpby(s->op, 0.0, x, 1.0 / length, x);
        s->backend->op.gradient(s->op, metric, x, false, y);
        norm = sqrt(s->backend->vector.dot(s->op, y, y));
        s->backend->vector.copy(s->op, x, y, n);
        s->info->products++;
    }
    return metric && norm < LEAST ? LEAST : norm;
}

void talus_norm_renew(TalusSolve *s, TalusNormState *state, const TalusMetricBlock *metric,
                      double forget, double margin, double *x, double *y)
{
    state->norm = state->norm > 0.0
                      ? forget * state->norm
                      : margin * talus_operator_norm(s, metric, TALUS_POWER_ITERATIONS, x, y);
}

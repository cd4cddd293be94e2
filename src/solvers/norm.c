/* solvers/norm.c - a solver's metric, and the operator's norm in it. */
#include "solvers/solver.h"

#include "base/rng.h"

#include <math.h>
#include <string.h>

typedef struct MetricPass {
    const TalusOperator *op;
    TalusMetricBlock *out;
    bool trace;
} MetricPass;

static void metric_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const MetricPass *pass = context;
    (void)chunk;
    for (int64_t i = begin; i < end; i++) {
        double d = talus_block_scale(pass->op, (int)i), *m = pass->out[i];
        m[0] = 1.0 / sqrt(pass->trace ? d : pass->op->diagonal[i][0]);
        m[1] = 1.0 / sqrt(pass->trace ? d : pass->op->diagonal[i][1]);
        m[2] = pass->op->rows == 3 ? pass->op->mu[i] * (m[0] / m[1]) : 0.0;
        m[3] = 1.0 / (1.0 + m[2] * m[2]);
    }
}

void talus_solver_metric(const TalusSolve *s, TalusMetric kind, TalusMetricBlock *out)
{
    MetricPass pass = {s->op, out, kind == TALUS_METRIC_TRACE};
    talus_parallel(s->op->pool, s->op->blocks, 4096, metric_chunk, &pass);
}

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
        s->backend->gradient(s->op, metric, x, false, y);
        norm = sqrt(s->backend->dot(s->op, y, y));
        memcpy(x, y, n * sizeof *x);
        s->info->products++;
    }
    return norm;
}

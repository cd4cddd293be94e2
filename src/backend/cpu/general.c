/* backend/cpu/general.c - operations on one block with any set (general.h), by the functions of sets/set.h. */
#include "backend/cpu/general.h"

/* Returns the set of block i in the metric. */
static TalusSet block_set(const TalusOperator *op, const TalusMetricBlock *metric, int64_t i)
{
    return talus_set_of_block(op, i, op->prisms, metric ? metric[i] : NULL);
}

void talus_general_project(const TalusOperator *op, const TalusMetricBlock *metric, int64_t i,
                           double *x)
{
    TalusSet set = block_set(op, metric, i);
    talus_block_project(op->rows, &set, x);
}

void talus_general_project_unbounded(const TalusOperator *op, int64_t i, double *x)
{
    TalusSet set = block_set(op, NULL, i);
    talus_block_project_unbounded(op->rows, &set, x);
}

bool talus_general_is_active(const TalusOperator *op, const TalusMetricBlock *metric, int64_t i,
                             const double *x)
{
    TalusSet set = block_set(op, metric, i);
    return talus_block_is_active(op->rows, &set, x);
}

void talus_general_clear_immovable(const TalusOperator *op, const TalusMetricBlock *metric,
                                   int64_t i, double *d)
{
    TalusSet set = block_set(op, metric, i);
    talus_block_clear_immovable(op->rows, &set, d);
}

void talus_general_project_tangent(const TalusOperator *op, const TalusMetricBlock *metric,
                                   int64_t i, const double *x, double *d)
{
    TalusSet set = block_set(op, metric, i);
    talus_block_project_tangent(op->rows, &set, x, d);
}

double talus_general_feasible_step(const TalusOperator *op, const TalusMetricBlock *metric,
                                   int64_t i, const double *x, const double *p)
{
    TalusSet set = block_set(op, metric, i);
    return talus_block_feasible_step(op->rows, &set, x, p);
}

double talus_general_shift(const TalusOperator *op, const TalusMetricBlock *metric, int64_t i,
                           const double *g)
{
    if (!op->model || op->model[i].law != TALUS_LAW_COULOMB)
        return 0.0;
    TalusSet set = block_set(op, metric, i);
    return talus_block_shift(op->rows, &set, g);
}

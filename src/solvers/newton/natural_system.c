/* solvers/newton/natural_system.c - the natural map of all blocks (natural_system.h). */
#include "solvers/newton/natural_system.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>

/* Assembles N + E in blocks and finds the elimination order of its pattern. */
static TalusStatus prepare_matrix(TalusNaturalSystem *system, const TalusSolve *s)
{
    TalusSparse n;
    talus_block_matrix_clear(&system->matrix);
    talus_fronts_clear(&system->fronts);
    TALUS_TRY(talus_problem_assemble(s->problem, &n));
    TalusStatus status = talus_block_matrix_create(&n, s->op->rows, &system->matrix);
    talus_sparse_clear(&n);
    TALUS_TRY(status);
    return talus_fronts_analyse(&system->fronts, &system->matrix);
}

/* Sets law, friction and scale of all blocks from the operator. */
static void set_blocks(TalusNaturalBlock *block, const TalusSolve *s)
{
    const TalusOperator *op = s->op;
    for (int i = 0; i < op->blocks; i++) {
        double scale = talus_block_scale(op, i);
        block[i] = (TalusNaturalBlock){
            .rows = op->rows,
            .exact = s->plan.exact && op->model && op->model[i].law == TALUS_LAW_COULOMB,
            .joint =
                op->model && op->model[i].section == TALUS_SECTION_JOINT ? op->model[i].sides : 0,
            .mu = op->rows == 1 ? 0.0 : op->mu[i],
            .scale = scale > 0.0 ? scale : 1.0, /* bodies that cannot move: any value > 0 will do */
        };
    }
}

TalusStatus talus_natural_system_prepare(TalusNaturalSystem *system, const TalusSolve *s)
{
    size_t rows = (size_t)s->op->rows, blocks = (size_t)s->op->blocks, n = rows * blocks;
    TALUS_TRY(TALUS_GROW(system->left, rows * n, 0, "Jacobian"));
    TALUS_TRY(TALUS_GROW(system->own, rows * n, 0, "Jacobian"));
    TALUS_TRY(TALUS_GROW(system->block, blocks, 0, "blocks"));
    set_blocks(system->block, s);
    return prepare_matrix(system, s);
}

void talus_natural_system_clear(TalusNaturalSystem *system)
{
    talus_block_matrix_clear(&system->matrix);
    talus_fronts_clear(&system->fronts);
    TALUS_RELEASE(system->left, system->own, system->block);
}

double talus_natural_residual(const TalusNaturalBlock *b, const double *f)
{
    double square = 0.0;
    for (int k = 0; k < b->rows; k++)
        square += f[k] * f[k];
    return b->scale * sqrt(square);
}

void talus_natural_system_measure(const TalusNaturalSystem *system, const double *x,
                                  const double *u, double *sum, double *largest)
{
    *sum = *largest = 0.0;
    for (int i = 0; i < system->matrix.blocks; i++) {
        const TalusNaturalBlock *b = &system->block[i];
        double f[3];
        talus_natural_map(b, x + i * b->rows, u + i * b->rows, f);
        double size = talus_natural_residual(b, f);
        *sum += size * size;
        update_max(largest, size);
    }
}

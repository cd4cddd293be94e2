/* backend/cpu/joints.c - the operations of TalusJointOps: elimination of free joints from an operator, and recovery of
 * the joints' impulses after a solve. */
#include "backend/cpu/cpu.h"
#include "linalg/eliminate.h"

#include <string.h>

TalusStatus talus_cpu_joint_get_rows(const TalusOperator *op, TalusJointRow *row, int *count)
{
    *count = 0;
    for (int i = op->blocks - op->joints; i < op->blocks; i++)
        for (int k = 0; k < 3; k++)
            if (talus_joint_has_row(op, i, k))
                talus_joint_fill_row(op, i, k, &row[(*count)++]);
    return TALUS_OK;
}

/* Fills incidence_start and incidence of op: each body's entries in `whole` without those of free joints, which are the
 * body's last entries. */
static void copy_incidences(const TalusOperator *whole, TalusOperator *op)
{
    const int32_t end = 2 * (op->blocks + op->general);
    int32_t at = 0;
    for (int b = 0; b < op->bodies; b++) {
        op->incidence_start[b] = at;
        for (int32_t k = whole->incidence_start[b];
             k < whole->incidence_start[b + 1] && whole->incidence[k] < end; k++)
            op->incidence[at++] = whole->incidence[k];
    }
    op->incidence_start[op->bodies] = at;
}

/* Arguments of talus_cpu_joint_finish_reduced, for diagonal_chunk. */
typedef struct Pass {
    const TalusOperator *whole, *op;
} Pass;

/* Fills op->diagonal of blocks [begin, end) by talus_reduced_diagonal. */
static void diagonal_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Pass *pass = context;
    const TalusElimination *e = pass->op->elimination;
    (void)chunk;
    for (int64_t i = begin; i < end; i++)
        talus_reduced_diagonal(pass->whole, (int)i, talus_elimination_body_vertices(e),
                               talus_elimination_reductions(e), pass->op->diagonal[i]);
}

TalusStatus talus_cpu_joint_finish_reduced(const TalusOperator *whole, TalusOperator *op)
{
    Pass pass = {whole, op};
    op->kinds = 0;
    for (int i = 0; i < op->blocks; i++)
        op->kinds |= talus_block_kind(op, i);
    copy_incidences(whole, op);
    talus_parallel(op->pool, op->blocks, BLOCK_GRAIN, diagonal_chunk, &pass);
    return TALUS_OK;
}

void talus_cpu_joint_recover_impulses(const TalusOperator *whole, const TalusOperator *op,
                                      bool offset, double *gamma)
{
    double *joints = gamma + (size_t)op->rows * (size_t)op->blocks;
    talus_cpu_op_body_velocities(op, gamma, offset, op->scratch->velocity);
    const TalusMachines machines = talus_elimination_machines(op->elimination);
    memset(joints, 0, (size_t)op->rows * (size_t)whole->joints * sizeof *joints);
    for (int row = 0; row < machines.rows; row++)
        joints[machines.row[row].entry] = -machines.x[row];
}

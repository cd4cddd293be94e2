/* problem/matrix.c - filling of an explicit problem, N as compressed rows and q, from its def (matrix-free ones:
 * def.c). */
#include "problem/problem.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>

/* Fails if rows per block, row starts, columns or values of the matrix are not valid. */
static TalusStatus check_matrix(const TalusProblemDef *def)
{
    int n = def->rows * def->block_count;
    if (def->rows != 1 && def->rows != 3)
        return talus_reject("problem: rows per block is %d, expected 1 or 3", def->rows);
    if (def->row_start[0] != 0)
        return talus_reject("problem: the first row starts at %d, expected 0", def->row_start[0]);
    for (int row = 0; row < n; row++) {
        if (def->row_start[row + 1] < def->row_start[row])
            return talus_reject("problem: row %d ends before it starts", row);
        for (int32_t k = def->row_start[row]; k < def->row_start[row + 1]; k++)
            if (def->column[k] < 0 || def->column[k] >= n || !isfinite(def->values[k]))
                return talus_reject(
                    "problem: row %d has the entry (column %d, value %g); columns go "
                    "from 0 to %d, values are finite",
                    row, def->column[k], def->values[k], n - 1);
    }
    return TALUS_OK;
}

/* Returns the friction model of block i; disc and ccp if the def has no models. */
static TalusFrictionModel block_model(const TalusProblemDef *def, int i)
{
    TalusFrictionModel plain = {0};
    return def->model ? def->model[i] : plain;
}

/* Fails if the coefficient or model of some block is not valid. */
static TalusStatus check_friction(const TalusProblemDef *def)
{
    for (int i = 0; i < def->block_count; i++) {
        bool joint = block_model(def, i).section == TALUS_SECTION_JOINT;
        if (joint && def->rows != 3)
            return talus_reject("problem: block %d is a joint, which has 3 rows; there is %d", i,
                                def->rows);
        if (def->rows == 3 && (!(def->mu[i] >= 0.0) || (!isfinite(def->mu[i]) && !joint)))
            return talus_reject("problem: block %d has mu %g, expected a finite one that is not "
                                "negative",
                                i, def->mu[i]);
        TALUS_TRY(talus_problem_check_model(block_model(def, i), "block", i));
    }
    return TALUS_OK;
}

/* True if blocks have three rows and all have TALUS_SECTION_NONE, so that the problem gets their normal rows alone. */
static bool only_normal_rows(const TalusProblemDef *def)
{
    bool none = def->rows == 3 && def->model && def->block_count > 0;
    for (int i = 0; none && i < def->block_count; i++)
        none = def->model[i].section == TALUS_SECTION_NONE;
    return none;
}

/* Makes the matrix of p->op that of the normal rows and columns of def, which are every third; its arrays are
 * p->def_memory[6] to [8]. */
static TalusStatus extract_normal_rows(TalusProblem *p, const TalusProblemDef *def)
{
    size_t blocks = (size_t)def->block_count;
    int32_t entries = 0;
    for (int i = 0; i < def->block_count; i++)
        entries += def->row_start[3 * i + 1] - def->row_start[3 * i];
    TALUS_TRY(talus_alloc(&p->def_memory[6], blocks + 1, sizeof(int32_t), "normal rows"));
    TALUS_TRY(talus_alloc(&p->def_memory[7], (size_t)entries, sizeof(int32_t), "normal rows"));
    TALUS_TRY(talus_alloc(&p->def_memory[8], (size_t)entries, sizeof(double), "normal rows"));
    int32_t *start = p->def_memory[6], *column = p->def_memory[7], n = 0;
    double *values = p->def_memory[8];
    for (int i = 0; i < def->block_count; i++) {
        for (int32_t k = def->row_start[3 * i]; k < def->row_start[3 * i + 1]; k++)
            if (def->column[k] % 3 == 0) {
                column[n] = def->column[k] / 3;
                values[n++] = def->values[k];
            }
        start[i + 1] = n;
    }
    p->op.row_start = start;
    p->op.column = column;
    p->op.values = values;
    return TALUS_OK;
}

/* Sets blocks, rows and matrix of p->op and copies the offsets, all of normal rows alone where only_normal_rows. */
static TalusStatus fill_rows(TalusProblem *p, const TalusProblemDef *def)
{
    TalusOperator *op = &p->op;
    bool normal = only_normal_rows(def);
    op->blocks = def->block_count;
    op->rows = normal ? 1 : def->rows;
    op->row_start = p->def.row_start;
    op->column = p->def.column;
    op->values = p->def.values;
    if (normal)
        TALUS_TRY(extract_normal_rows(p, def));
    size_t n = (size_t)op->rows * (size_t)op->blocks;
    TALUS_TRY(TALUS_GROW(p->offset_store, n, 0, "offsets"));
    for (size_t k = 0; k < n; k++)
        p->offset_store[k] = def->offset[normal ? 3 * k : k];
    op->offset = p->offset_store;
    return TALUS_OK;
}

TalusStatus talus_problem_fill_matrix(TalusProblem *p, const TalusProblemDef *def)
{
    TALUS_TRY(check_matrix(def));
    TALUS_TRY(check_friction(def));
    TALUS_TRY(talus_problem_copy_def(p, def));
    TALUS_TRY(fill_rows(p, def));
    TalusOperator *op = &p->op;
    size_t blocks = (size_t)op->blocks;
    TALUS_TRY(talus_problem_reserve_vectors(p));
    TALUS_TRY(TALUS_GROW(op->coupling, blocks, 0, "blocks"));
    if (def->model) {
        TALUS_TRY(TALUS_GROW(p->model_store, blocks, 0, "friction models"));
        op->model = p->model_store;
    }
    for (int i = 0; i < op->blocks; i++) {
        op->mu[i] = op->rows == 3 ? def->mu[i] : 0.0;
        if (op->model)
            op->model[i] = talus_block_model(def->model[i]);
    }
    TALUS_TRY(talus_backend_cpu.op.reserve_scratch(op));
    TALUS_TRY(talus_problem_settle_friction(p));
    return talus_problem_fill_diagonals(p);
}

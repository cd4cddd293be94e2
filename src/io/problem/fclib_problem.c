/* io/problem/fclib_problem.c - conversion of an FCLIB problem to a TalusProblem, and of impulses in both directions. */
#include "base/memory.h"
#include "io/problem/fclib_condense.h"
#include "linalg/sparse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- W and q, stored or condensed ---- */

/* The local form of an FCLIB problem, u = W r + q. */
typedef struct Local {
    TalusSparse W, transposed; /* W and W' */
    double *q;
    /* body velocities and joint impulses at zero contact impulses; only of a global problem */
    double *v, *l;
    bool owned; /* true if the condenser made W; false: W is that of the FCLIB problem */
} Local;

static void release_local(Local *local)
{
    if (local->owned)
        talus_sparse_clear(&local->W);
    talus_sparse_clear(&local->transposed);
    TALUS_RELEASE(local->q, local->v, local->l);
}

/* Computes W and q of a global problem. */
static TalusStatus condense_global(const TalusFclib *f, Local *local)
{
    TalusCondenser c;
    TALUS_TRY(talus_condenser_open(f, &c));
    local->owned = true;
    TalusStatus status = talus_condenser_compute_matrix(&c, &local->W);
    TALUS_THEN(status, TALUS_ALLOC(local->v, (size_t)talus_fclib_dofs(f), "velocities"));
    TALUS_THEN(status, TALUS_ALLOC(local->l, (size_t)talus_fclib_joints(f), "joint impulses"));
    TALUS_THEN(status, talus_condenser_compute_velocities(&c, NULL, local->v, local->l, local->q));
    talus_condenser_close(&c);
    return status;
}

/* Sets W, W' and q: those of a local problem, or condensed ones of a global problem. */
static TalusStatus get_local(const TalusFclib *f, Local *local)
{
    size_t rows = (size_t)talus_fclib_rows(f);
    TALUS_TRY(TALUS_ALLOC(local->q, rows, "offset"));
    if (f->global) {
        TALUS_TRY(condense_global(f, local));
    } else {
        local->W = f->W;
        memcpy(local->q, f->q, rows * sizeof *local->q);
    }
    return talus_sparse_transpose(&local->W, &local->transposed);
}

/* ---- asymmetry ---- */

/* Returns |a - t| / |a| in Frobenius norms, t the transpose of a. Entries are divided by the largest one, so that their
 * squares do not overflow. */
static double compute_asymmetry(const TalusSparse *a, const TalusSparse *t)
{
    double largest = 0.0, apart2 = 0.0, all2 = 0.0;
    int32_t entries = talus_sparse_entries(a);
    for (int32_t k = 0; k < entries; k++)
        largest = fmax(largest, fabs(a->value[k]));
    if (!(largest > 0.0))
        return 0.0;
    for (int i = 0; i < a->rows; i++) {
        int32_t k = a->start[i], j = t->start[i];
        while (k < a->start[i + 1] || j < t->start[i + 1]) {
            int32_t ck = k < a->start[i + 1] ? a->column[k] : INT32_MAX;
            int32_t cj = j < t->start[i + 1] ? t->column[j] : INT32_MAX;
            double x = ck <= cj ? a->value[k++] / largest : 0.0;
            double y = cj <= ck ? t->value[j++] / largest : 0.0;
            apart2 += (x - y) * (x - y);
            all2 += x * x;
        }
    }
    return sqrt(apart2 / all2);
}

TalusStatus talus_fclib_asymmetry(const TalusFclib *f, double *out)
{
    Local local = {0};
    TalusStatus status = get_local(f, &local);
    *out = status == TALUS_OK ? compute_asymmetry(&local.W, &local.transposed) : 0.0;
    release_local(&local);
    return status;
}

/* ---- N in full blocks ---- */

/* Work space and result of fill_blocks. "The list" of a block row has the contacts in whose columns the row has
 * blocks. */
typedef struct Blocks {
    int dimension, rows; /* rows per contact in the file; in the problem */
    bool symmetric;      /* true: N = (W + W')/2; false: N = W */
    /* [contacts]: 3 x 3 block, by rows, of W + W' or W in the current block row */
    double (*sum)[9];
    bool *nonzero;           /* [contacts]: W or W' has a nonzero entry in that block */
    int32_t *mark;           /* [contacts]: last block row whose list has the contact; -1: none */
    int32_t *listed;         /* [contacts]: the list of the current block row */
    int32_t *start, *column; /* N by rows, with `value` */
    double *value;
} Blocks;

static void release_blocks(Blocks *b)
{
    TALUS_RELEASE(b->sum, b->nonzero, b->mark, b->listed, b->start, b->column, b->value);
}

/* Appends the contact `other`, with a zero block, to the list of the block row of `contact`, unless it is in the list
 * already. Returns the new length of the list. */
static int list_block(Blocks *b, int contact, int other, int count)
{
    if (b->mark[other] == contact)
        return count;
    b->mark[other] = contact;
    b->nonzero[other] = false;
    memset(b->sum[other], 0, sizeof b->sum[other]);
    b->listed[count] = other;
    return count + 1;
}

/* Appends to the list, of length `count`, the contacts in whose columns the rows of `contact` in the matrix `a`, W or
 * W', have entries. If `add`, also adds the entries to b->sum. Returns the new length. */
static int list_coupled(Blocks *b, const TalusSparse *a, int contact, int count, bool add)
{
    int d = b->dimension;
    for (int r = 0; r < b->rows && r < d; r++) {
        int row = contact * d + r;
        for (int32_t k = a->start[row]; k < a->start[row + 1]; k++) {
            int other = a->column[k] / d, c = a->column[k] % d;
            count = list_block(b, contact, other, count);
            b->nonzero[other] |= c < b->rows && a->value[k] != 0.0;
            if (add)
                b->sum[other][3 * r + c] += a->value[k];
        }
    }
    return count;
}

/* Comparison for qsort. */
static int compare_ints(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Reduces the list to the nonzero blocks and the diagonal block, zero or not, and sorts it by column. Returns its
 * length. */
static int reduce_list(Blocks *b, int contact, int count)
{
    int kept = 0;
    count = list_block(b, contact, contact, count);
    for (int k = 0; k < count; k++)
        if (b->listed[k] == contact || b->nonzero[b->listed[k]])
            b->listed[kept++] = b->listed[k];
    qsort(b->listed, (size_t)kept, sizeof *b->listed, compare_ints);
    return kept;
}

/* Writes the rows of one contact in N from its list, of length `kept`. The third row of a planar contact (dimension 2)
 * has only a diagonal entry, equal to that of the second row. */
static void write_rows(Blocks *b, int contact, int kept)
{
    int wide = b->rows < b->dimension ? b->rows : b->dimension;
    double share = b->symmetric ? 0.5 : 1.0;
    int32_t at = b->start[contact * b->rows];
    for (int r = 0; r < b->rows; r++) {
        for (int k = 0; r < wide && k < kept; k++)
            for (int c = 0; c < wide; c++) {
                b->column[at] = b->listed[k] * b->rows + c;
                b->value[at++] = share * b->sum[b->listed[k]][3 * r + c];
            }
        if (r >= wide) {
            b->column[at] = contact * b->rows + r;
            b->value[at++] = share * b->sum[contact][4];
        }
        b->start[contact * b->rows + r + 1] = at;
    }
}

/* Computes N by rows, with full blocks, from W and W'. */
static TalusStatus fill_blocks(Blocks *b, const TalusFclib *f, const Local *local)
{
    size_t contacts = (size_t)f->contacts, rows = (size_t)b->rows;
    TALUS_TRY(TALUS_ALLOC(b->sum, contacts, "blocks"));
    TALUS_TRY(TALUS_ALLOC(b->nonzero, contacts, "blocks"));
    TALUS_TRY(TALUS_ALLOC(b->mark, contacts, "blocks"));
    TALUS_TRY(TALUS_ALLOC(b->listed, contacts, "blocks"));
    TALUS_TRY(TALUS_ALLOC(b->start, contacts * rows + 1, "rows of N"));
    TALUS_TRY(TALUS_GROW(b->column, 1, 0, "N"));
    TALUS_TRY(TALUS_GROW(b->value, 1, 0, "N"));
    for (size_t i = 0; i < contacts; i++)
        b->mark[i] = -1;
    for (int i = 0; i < f->contacts; i++) {
        size_t used = (size_t)b->start[i * b->rows];
        int count = list_coupled(b, &local->W, i, 0, true);
        count = reduce_list(b, i, list_coupled(b, &local->transposed, i, count, b->symmetric));
        size_t need = used + (size_t)count * rows * rows;
        if (need > INT32_MAX)
            return talus_fail(TALUS_ERR_UNSUPPORTED, "N would have more than %d entries",
                              INT32_MAX);
        TALUS_TRY(TALUS_GROW(b->column, need, used, "N"));
        TALUS_TRY(TALUS_GROW(b->value, need, used, "N"));
        write_rows(b, i, count);
    }
    return TALUS_OK;
}

/* ---- the problem ---- */

/* Rows per contact of the problem: 3 if some contact has friction, else 1. */
static int rows_per_contact(const TalusFclib *f)
{
    for (int i = 0; i < f->contacts; i++)
        if (f->mu[i] > 0.0)
            return 3;
    return 1;
}

/* Converts a vector from the file's `dimension` rows per contact to the problem's `rows` rows per contact. Rows that
 * the file lacks become 0; rows that the problem lacks are dropped. */
static void to_problem_rows(const TalusFclib *f, int rows, const double *file, double *out)
{
    for (int i = 0; i < f->contacts; i++)
        for (int r = 0; r < rows; r++)
            out[i * rows + r] = r < f->dimension ? file[i * f->dimension + r] : 0.0;
}

/* The reverse of to_problem_rows: from the problem's rows per contact to the file's. */
static void to_file_rows(const TalusFclib *f, int rows, const double *problem, double *out)
{
    for (int i = 0; i < f->contacts; i++)
        for (int r = 0; r < f->dimension; r++)
            out[i * f->dimension + r] = r < rows ? problem[i * rows + r] : 0.0;
}

/* Fails if an entry of q is not finite: finite numbers of a file may overflow when q is condensed. */
static TalusStatus check_offset(const TalusFclib *f, const double *q)
{
    for (int i = 0; i < talus_fclib_rows(f); i++)
        if (!isfinite(q[i]))
            return talus_fail(TALUS_ERR_NUMERIC, "q: entry %d is %g: expected a finite number", i,
                              q[i]);
    return TALUS_OK;
}

/* Creates the problem from W and q; b is work space. */
static TalusStatus create_problem(const TalusFclib *f, const Local *local, Blocks *b,
                                  TalusPool *pool, TalusProblem **out)
{
    double *offset;
    TALUS_TRY(check_offset(f, local->q));
    TALUS_TRY(fill_blocks(b, f, local));
    TALUS_TRY(TALUS_ALLOC(offset, (size_t)f->contacts * (size_t)b->rows, "offset"));
    to_problem_rows(f, b->rows, local->q, offset);
    TalusProblemDef def = {.block_count = f->contacts,
                           .rows = b->rows,
                           .row_start = b->start,
                           .column = b->column,
                           .values = b->value,
                           .offset = offset,
                           .mu = f->mu};
    TalusStatus status = talus_problem_create(&def, pool, out);
    talus_release(offset);
    return status;
}

/* Under Coulomb's law N is W as stored, even if W is not symmetric: a solution minimises no function under this law,
 * and published solutions are those of W. Solutions under other laws minimise a quadratic function, in which only the
 * symmetric part of W counts. */
TalusStatus talus_fclib_problem(const TalusFclib *f, const TalusFrictionModel *model,
                                TalusPool *pool, TalusProblem **out)
{
    Local local = {0};
    Blocks blocks = {.dimension = f->dimension,
                     .rows = rows_per_contact(f),
                     .symmetric = !model || model->law != TALUS_LAW_COULOMB};
    *out = NULL;
    if (f->contacts > INT32_MAX / 3 - 1)
        return talus_fail(TALUS_ERR_UNSUPPORTED, "%d contacts, more than the %d that fit",
                          f->contacts, INT32_MAX / 3 - 1);
    TalusStatus status = get_local(f, &local);
    TALUS_THEN(status, create_problem(f, &local, &blocks, pool, out));
    if (status == TALUS_OK && model)
        status = talus_problem_set_friction(*out, *model);
    release_blocks(&blocks);
    release_local(&local);
    if (status == TALUS_OK)
        return TALUS_OK;
    talus_problem_destroy(*out);
    *out = NULL;
    return status;
}

/* ---- solutions ---- */

/* Fails if the two problems have different numbers of contacts. */
static TalusStatus check_contact_count(const TalusFclib *f, const TalusProblem *problem)
{
    if (talus_problem_blocks(problem) == f->contacts)
        return TALUS_OK;
    return talus_reject("the problem has %d contacts, the FCLIB problem %d",
                        talus_problem_blocks(problem), f->contacts);
}

/* Computes point->u from the impulses point->r; for a global problem also allocates and computes v and l. */
static TalusStatus compute_velocities(const TalusFclib *f, TalusFclibPoint *point)
{
    if (!f->global) {
        memcpy(point->u, f->q, (size_t)talus_fclib_rows(f) * sizeof *point->u);
        talus_sparse_add_product(&f->W, 1.0, point->r, point->u);
        return TALUS_OK;
    }
    TalusCondenser c;
    TALUS_TRY(TALUS_ALLOC(point->v, (size_t)talus_fclib_dofs(f), "velocities"));
    if (talus_fclib_joints(f))
        TALUS_TRY(TALUS_ALLOC(point->l, (size_t)talus_fclib_joints(f), "joint impulses"));
    TALUS_TRY(talus_condenser_open(f, &c));
    TalusStatus status =
        talus_condenser_compute_velocities(&c, point->r, point->v, point->l, point->u);
    talus_condenser_close(&c);
    return status;
}

TalusStatus talus_fclib_set_solution(TalusFclib *f, const TalusProblem *problem,
                                     const double *gamma)
{
    TalusFclibPoint point = {0};
    size_t rows = (size_t)talus_fclib_rows(f);
    TALUS_TRY(check_contact_count(f, problem));
    TalusStatus status = TALUS_ALLOC(point.r, rows, "impulses");
    TALUS_THEN(status, TALUS_ALLOC(point.u, rows, "contact velocities"));
    if (status == TALUS_OK) {
        to_file_rows(f, talus_problem_rows(problem), gamma, point.r);
        status = compute_velocities(f, &point);
    }
    if (status != TALUS_OK) {
        talus_fclib_free_point(&point);
        return status;
    }
    talus_fclib_free_point(&f->solution);
    f->solution = point;
    return TALUS_OK;
}

TalusStatus talus_fclib_impulses(const TalusFclib *f, const TalusProblem *problem,
                                 const TalusFclibPoint *point, double *gamma)
{
    TALUS_TRY(check_contact_count(f, problem));
    if (!point->r)
        return talus_reject("the point holds no impulses r");
    to_problem_rows(f, talus_problem_rows(problem), point->r, gamma);
    return TALUS_OK;
}

/* io/problem/fclib_problem.c - conversion of an FCLIB problem to a TalusProblem, and of impulses in both directions. */
#include "base/memory.h"
#include "io/problem/fclib_condense.h"
#include "linalg/sparse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- W and q, stored or condensed ---- */

typedef struct Local {
    TalusSparse W, transposed; /* W and W' */
    double *q, *v, *l;         /* v, l: of zero contact impulses, if condensed */
    bool owned; /* true if the condenser made W; false: W is that of the FCLIB problem */
} Local;

static void close_local(Local *local)
{
    if (local->owned)
        talus_sparse_clear(&local->W);
    talus_sparse_clear(&local->transposed);
    TALUS_RELEASE(local->q, local->v, local->l);
}

static TalusStatus condense(const TalusFclib *f, Local *local)
{
    TalusCondenser c;
    TALUS_TRY(talus_condenser_open(f, &c));
    local->owned = true;
    TalusStatus status = talus_condenser_matrix(&c, &local->W);
    TALUS_THEN(status, TALUS_ALLOC(local->v, (size_t)talus_fclib_dofs(f), "velocities"));
    TALUS_THEN(status, TALUS_ALLOC(local->l, (size_t)talus_fclib_joints(f), "joint impulses"));
    TALUS_THEN(status, talus_condenser_velocities(&c, NULL, local->v, local->l, local->q));
    talus_condenser_close(&c);
    return status;
}

static TalusStatus open_local(const TalusFclib *f, Local *local)
{
    size_t rows = (size_t)talus_fclib_rows(f);
    TALUS_TRY(TALUS_ALLOC(local->q, rows, "offset"));
    if (f->global) {
        TALUS_TRY(condense(f, local));
    } else {
        local->W = f->W;
        memcpy(local->q, f->q, rows * sizeof *local->q);
    }
    return talus_sparse_transpose(&local->W, &local->transposed);
}

/* ---- asymmetry ---- */

/* Returns |a - t| / |a| (Frobenius norms) for the transpose t of a. Scaled by the largest entry against overflow. */
static double asymmetry_of(const TalusSparse *a, const TalusSparse *t)
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
    TalusStatus status = open_local(f, &local);
    *out = status == TALUS_OK ? asymmetry_of(&local.W, &local.transposed) : 0.0;
    close_local(&local);
    return status;
}

/* ---- N in full blocks ---- */

typedef struct Blocks {
    int dimension, rows; /* rows per contact in the file; in the problem */
    bool symmetric;      /* true: N = (W + W')/2; false: N = W */
    double (*sum)[9];    /* [contacts]: 3 x 3 blocks, by rows, of W + W' or W in one block row */
    bool *full;          /* [contacts]: that block of W or W' is nonzero; N then has a full block */
    int32_t *mark;       /* [contacts]: last block row that lists the contact; -1: none */
    int32_t *column_of;  /* [contacts]: contacts that the current block row lists */
    int32_t *start, *column; /* N by rows, with `value` */
    double *value;
} Blocks;

static void close_blocks(Blocks *b)
{
    TALUS_RELEASE(b->sum, b->full, b->mark, b->column_of, b->start, b->column, b->value);
}

/* Appends `other`, with a zero block, to the list (column_of) of the contact's block row, unless it is listed already.
 * Returns the new count of the list. */
static int add_block(Blocks *b, int contact, int other, int count)
{
    if (b->mark[other] == contact)
        return count;
    b->mark[other] = contact;
    b->full[other] = false;
    memset(b->sum[other], 0, sizeof b->sum[other]);
    b->column_of[count] = other;
    return count + 1;
}

/* Appends to the list, of `count` so far, the contacts in whose columns a contact's rows of `a`, W or W', have entries;
 * with `add` adds the entries to `sum`. Returns the new count. */
static int gather(Blocks *b, const TalusSparse *a, int contact, int count, bool add)
{
    int d = b->dimension;
    for (int r = 0; r < b->rows && r < d; r++) {
        int row = contact * d + r;
        for (int32_t k = a->start[row]; k < a->start[row + 1]; k++) {
            int other = a->column[k] / d, c = a->column[k] % d;
            count = add_block(b, contact, other, count);
            b->full[other] |= c < b->rows && a->value[k] != 0.0;
            if (add)
                b->sum[other][3 * r + c] += a->value[k];
        }
    }
    return count;
}

static int compare_ints(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Reduces the list to the nonzero blocks and, in any case, the diagonal one, sorted by column. Returns their number. */
static int keep_blocks(Blocks *b, int contact, int count)
{
    int kept = 0;
    count = add_block(b, contact, contact, count);
    for (int k = 0; k < count; k++)
        if (b->column_of[k] == contact || b->full[b->column_of[k]])
            b->column_of[kept++] = b->column_of[k];
    qsort(b->column_of, (size_t)kept, sizeof *b->column_of, compare_ints);
    return kept;
}

/* Writes the rows of one contact in N. The third row of a planar contact (dimension 2) has only a diagonal entry, that
 * of the second row. */
static void write_rows(Blocks *b, int contact, int kept)
{
    int wide = b->rows < b->dimension ? b->rows : b->dimension;
    double share = b->symmetric ? 0.5 : 1.0;
    int32_t at = b->start[contact * b->rows];
    for (int r = 0; r < b->rows; r++) {
        for (int k = 0; r < wide && k < kept; k++)
            for (int c = 0; c < wide; c++) {
                b->column[at] = b->column_of[k] * b->rows + c;
                b->value[at++] = share * b->sum[b->column_of[k]][3 * r + c];
            }
        if (r >= wide) {
            b->column[at] = contact * b->rows + r;
            b->value[at++] = share * b->sum[contact][4];
        }
        b->start[contact * b->rows + r + 1] = at;
    }
}

static TalusStatus fill_blocks(Blocks *b, const TalusFclib *f, const Local *local)
{
    size_t contacts = (size_t)f->contacts, rows = (size_t)b->rows;
    TALUS_TRY(TALUS_ALLOC(b->sum, contacts, "blocks"));
    TALUS_TRY(TALUS_ALLOC(b->full, contacts, "blocks"));
    TALUS_TRY(TALUS_ALLOC(b->mark, contacts, "blocks"));
    TALUS_TRY(TALUS_ALLOC(b->column_of, contacts, "blocks"));
    TALUS_TRY(TALUS_ALLOC(b->start, contacts * rows + 1, "rows of N"));
    TALUS_TRY(TALUS_GROW(b->column, 1, 0, "N"));
    TALUS_TRY(TALUS_GROW(b->value, 1, 0, "N"));
    for (size_t i = 0; i < contacts; i++)
        b->mark[i] = -1;
    for (int i = 0; i < f->contacts; i++) {
        size_t used = (size_t)b->start[i * b->rows];
        int count = gather(b, &local->W, i, 0, true);
        count = keep_blocks(b, i, gather(b, &local->transposed, i, count, b->symmetric));
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

static int rows_per_contact(const TalusFclib *f)
{
    for (int i = 0; i < f->contacts; i++)
        if (f->mu[i] > 0.0)
            return 3;
    return 1;
}

/* Convert a vector from the `dimension` rows per contact of the file to the `rows` of the problem (widen), and back
 * (narrow). Rows that the target has more are 0; rows that it has fewer are dropped. */
static void widen(const TalusFclib *f, int rows, const double *file, double *out)
{
    for (int i = 0; i < f->contacts; i++)
        for (int r = 0; r < rows; r++)
            out[i * rows + r] = r < f->dimension ? file[i * f->dimension + r] : 0.0;
}

static void narrow(const TalusFclib *f, int rows, const double *problem, double *out)
{
    for (int i = 0; i < f->contacts; i++)
        for (int r = 0; r < f->dimension; r++)
            out[i * f->dimension + r] = r < rows ? problem[i * rows + r] : 0.0;
}

/* Fails if q is not finite: finite numbers of a file may overflow when W and q are condensed. */
static TalusStatus check_offset(const TalusFclib *f, const double *q)
{
    for (int i = 0; i < talus_fclib_rows(f); i++)
        if (!isfinite(q[i]))
            return talus_fail(TALUS_ERR_NUMERIC, "q: entry %d is %g: expected a finite number", i,
                              q[i]);
    return TALUS_OK;
}

static TalusStatus create(const TalusFclib *f, const Local *local, Blocks *b, TalusPool *pool,
                          TalusProblem **out)
{
    double *offset;
    TALUS_TRY(check_offset(f, local->q));
    TALUS_TRY(fill_blocks(b, f, local));
    TALUS_TRY(TALUS_ALLOC(offset, (size_t)f->contacts * (size_t)b->rows, "offset"));
    widen(f, b->rows, local->q, offset);
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

/* Under Coulomb's law N is W as stored, even if not symmetric: solutions minimise nothing under this law, and published
 * ones are those of W. Other laws minimise a quadratic function, in which only the symmetric part of W counts. */
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
    TalusStatus status = open_local(f, &local);
    TALUS_THEN(status, create(f, &local, &blocks, pool, out));
    if (status == TALUS_OK && model)
        status = talus_problem_set_friction(*out, *model);
    close_blocks(&blocks);
    close_local(&local);
    if (status == TALUS_OK)
        return TALUS_OK;
    talus_problem_destroy(*out);
    *out = NULL;
    return status;
}

/* ---- solutions ---- */

static TalusStatus check_match(const TalusFclib *f, const TalusProblem *problem)
{
    if (talus_problem_blocks(problem) == f->contacts)
        return TALUS_OK;
    return talus_reject("the problem has %d contacts, the FCLIB problem %d",
                        talus_problem_blocks(problem), f->contacts);
}

/* Computes u of the impulses point->r, and for a global problem v and l, which it allocates. */
static TalusStatus solve_point(const TalusFclib *f, TalusFclibPoint *point)
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
    TalusStatus status = talus_condenser_velocities(&c, point->r, point->v, point->l, point->u);
    talus_condenser_close(&c);
    return status;
}

TalusStatus talus_fclib_set_solution(TalusFclib *f, const TalusProblem *problem,
                                     const double *gamma)
{
    TalusFclibPoint point = {0};
    size_t rows = (size_t)talus_fclib_rows(f);
    TALUS_TRY(check_match(f, problem));
    TalusStatus status = TALUS_ALLOC(point.r, rows, "impulses");
    TALUS_THEN(status, TALUS_ALLOC(point.u, rows, "contact velocities"));
    if (status == TALUS_OK) {
        narrow(f, talus_problem_rows(problem), gamma, point.r);
        status = solve_point(f, &point);
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
    TALUS_TRY(check_match(f, problem));
    if (!point->r)
        return talus_reject("the point holds no impulses r");
    widen(f, talus_problem_rows(problem), point->r, gamma);
    return TALUS_OK;
}

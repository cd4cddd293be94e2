/* io/problem/fclib_condense.c - elimination of v and l from M v = f + H r + G l, u = H'v + w, G'v + b = 0.
 *
 *     A = [H G]' M^-1 [H G],  S = A_GG                W = A_HH - A_HG S^-1 A_GH
 *     v0 = M^-1 (f + H r),    l = -S^-1 (G'v0 + b),   v = v0 + M^-1 G l,   u = H'v + w
 * A_HG are the entries of A in the rows of contacts (columns of H) and the columns of joints (columns of G). All
 * matrices are sparse. M is taken as stored: if M is not symmetric, neither is W. */
#include "io/problem/fclib_condense.h"

#include "base/memory.h"
#include "linalg/sparse.h"

#include <string.h>

/* A joint row counts as dependent on the others if its pivot in the factors of S is at most this times its diagonal
 * entry of S. */
static const double least_joint_pivot = 1e-10;

void talus_condenser_close(TalusCondenser *c)
{
    TalusSparse *const matrices[] = {&c->mass_transposed, &c->a, &c->a_hg,
                                     &c->a_gh_transposed, &c->s, &c->s_transposed};
    for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++)
        talus_sparse_clear(matrices[i]);
    talus_ldl_clear(&c->mass);
    talus_ldl_clear(&c->joint);
}

/* Factorises the matrix `a`; fails with TALUS_ERR_NUMERIC on a pivot of at most `relative` times the diagonal entry.
 * Also writes the transpose of `a` to `transposed`, which stays empty if `a` is symmetric. */
static TalusStatus factor_matrix(TalusLdl *ldl, const TalusSparse *a, TalusSparse *transposed,
                                 double relative)
{
    TALUS_TRY(talus_sparse_transpose(a, transposed));
    if (talus_sparse_equal(a, transposed))
        talus_sparse_clear(transposed);
    const TalusSparse *t = transposed->start ? transposed : NULL;
    TALUS_TRY(talus_ldl_analyse(ldl, a, t));
    return talus_ldl_factor(ldl, a, t, &(TalusPivots){.relative = relative});
}

/* Factorises M. Fails, naming the degree of freedom, if M is not positive definite. */
static TalusStatus factor_mass(TalusCondenser *c)
{
    TalusStatus status = factor_matrix(&c->mass, &c->fclib->M, &c->mass_transposed, 0.0);
    if (status == TALUS_ERR_NUMERIC)
        return talus_error_key(
            "M", talus_fail(TALUS_ERR_NUMERIC,
                            "M: degree of freedom %d: M is not positive definite (%s)",
                            c->mass.failed, talus_error()));
    return status;
}

/* Writes [H G]': its rows are the columns of H, then those of G if there are joints. */
static TalusStatus transpose_h_and_g(const TalusFclib *f, TalusSparse *out)
{
    TalusSparse g;
    if (!talus_fclib_joints(f))
        return talus_sparse_transpose(&f->H, out);
    TALUS_TRY(talus_sparse_transpose(&f->G, &g));
    TalusSparse h = {0};
    TalusStatus status = talus_sparse_transpose(&f->H, &h);
    size_t nh = (size_t)talus_sparse_entries(&h), ng = (size_t)talus_sparse_entries(&g);
    TALUS_THEN(status, talus_sparse_alloc(out, h.rows + g.rows, h.columns, nh + ng, "H and G"));
    if (status == TALUS_OK) {
        memcpy(out->start, h.start, ((size_t)h.rows + 1) * sizeof *h.start);
        for (int i = 0; i < g.rows; i++)
            out->start[h.rows + i + 1] = (int32_t)nh + g.start[i + 1];
        memcpy(out->column, h.column, nh * sizeof *h.column);
        memcpy(out->column + nh, g.column, ng * sizeof *g.column);
        memcpy(out->value, h.value, nh * sizeof *h.value);
        memcpy(out->value + nh, g.value, ng * sizeof *g.value);
    }
    talus_sparse_clear(&h);
    talus_sparse_clear(&g);
    return status;
}

/* Computes c->a = [H G]' M^-1 [H G] with the factors of M. */
static TalusStatus compute_a(TalusCondenser *c)
{
    TalusSparse both = {0};
    TALUS_TRY(transpose_h_and_g(c->fclib, &both));
    TalusStatus status = talus_ldl_condense(&c->mass, &both, &both, &c->a);
    talus_sparse_clear(&both);
    return status;
}

/* Copies rows r0 to r1 - 1 and columns c0 to c1 - 1 of a matrix to `out`. */
static TalusStatus copy_part(const TalusSparse *a, int r0, int r1, int c0, int c1, TalusSparse *out)
{
    size_t capacity = (size_t)(a->start[r1] - a->start[r0]);
    TALUS_TRY(talus_sparse_alloc(out, r1 - r0, c1 - c0, capacity, "condensed matrix"));
    int32_t used = 0;
    for (int i = r0; i < r1; i++) {
        for (int32_t k = a->start[i]; k < a->start[i + 1]; k++)
            if (a->column[k] >= c0 && a->column[k] < c1) {
                out->column[used] = a->column[k] - c0;
                out->value[used++] = a->value[k];
            }
        out->start[i - r0 + 1] = used;
    }
    return TALUS_OK;
}

/* Copies the parts of A that joints need and factorises S. Fails, naming the row, if the joints are dependent. */
static TalusStatus factor_joints(TalusCondenser *c)
{
    int rows = talus_fclib_rows(c->fclib), all = c->a.rows;
    TALUS_TRY(copy_part(&c->a, 0, rows, rows, all, &c->a_hg));
    TALUS_TRY(copy_part(&c->a, rows, all, rows, all, &c->s));
    if (c->mass_transposed.start) {
        TalusSparse back;
        TALUS_TRY(copy_part(&c->a, rows, all, 0, rows, &back));
        TalusStatus status = talus_sparse_transpose(&back, &c->a_gh_transposed);
        talus_sparse_clear(&back);
        TALUS_TRY(status);
    }
    TalusStatus status = factor_matrix(&c->joint, &c->s, &c->s_transposed, least_joint_pivot);
    if (status == TALUS_ERR_NUMERIC)
        return talus_fail(TALUS_ERR_NUMERIC,
                          "G: joint row %d follows from the others: expected independent columns",
                          c->joint.failed);
    return status;
}

TalusStatus talus_condenser_open(const TalusFclib *fclib, TalusCondenser *c)
{
    *c = (TalusCondenser){.fclib = fclib};
    TalusStatus status = factor_mass(c);
    TALUS_THEN(status, compute_a(c));
    if (status == TALUS_OK && talus_fclib_joints(fclib))
        status = factor_joints(c);
    if (status != TALUS_OK)
        talus_condenser_close(c);
    return status;
}

/* ---- the condensed matrix ---- */

/* Writes the entries of s a as triplets from index `at` on; returns the index after them. */
static size_t append_triplets(const TalusSparse *a, double s, size_t at, int32_t *row,
                              int32_t *column, double *value)
{
    for (int i = 0; i < a->rows; i++)
        for (int32_t k = a->start[i]; k < a->start[i + 1]; k++, at++) {
            row[at] = i;
            column[at] = a->column[k];
            value[at] = s * a->value[k];
        }
    return at;
}

/* out = a - b */
static TalusStatus subtract_sparse(const TalusSparse *a, const TalusSparse *b, TalusSparse *out)
{
    size_t capacity = (size_t)talus_sparse_entries(a) + (size_t)talus_sparse_entries(b);
    int32_t *row = NULL, *column = NULL;
    double *value = NULL;
    TalusStatus status = TALUS_ALLOC(row, capacity, "condensed matrix");
    TALUS_THEN(status, TALUS_ALLOC(column, capacity, "condensed matrix"));
    TALUS_THEN(status, TALUS_ALLOC(value, capacity, "condensed matrix"));
    if (status == TALUS_OK) {
        size_t at = append_triplets(a, 1.0, 0, row, column, value);
        append_triplets(b, -1.0, at, row, column, value);
        TalusTriplets t = {a->rows, a->columns, capacity, row, column, value};
        status = talus_sparse_from_triplets(&t, out, "condensed matrix");
    }
    TALUS_RELEASE(row, column, value);
    return status;
}

TalusStatus talus_condenser_compute_matrix(TalusCondenser *c, TalusSparse *W)
{
    int rows = talus_fclib_rows(c->fclib);
    TalusSparse free_part, by_joints = {0};
    *W = (TalusSparse){0};
    TALUS_TRY(copy_part(&c->a, 0, rows, 0, rows, &free_part));
    if (!talus_fclib_joints(c->fclib)) {
        *W = free_part;
        return TALUS_OK;
    }
    const TalusSparse *back = c->a_gh_transposed.start ? &c->a_gh_transposed : &c->a_hg;
    TalusStatus status = talus_ldl_condense(&c->joint, &c->a_hg, back, &by_joints);
    TALUS_THEN(status, subtract_sparse(&free_part, &by_joints, W));
    talus_sparse_clear(&free_part);
    talus_sparse_clear(&by_joints);
    return status;
}

/* ---- velocities ---- */

/* Computes the joint impulses l from the velocities v = v0 without joints, and adds M^-1 G l to v. */
static TalusStatus add_joint_impulses(TalusCondenser *c, double *v, double *l)
{
    const TalusFclib *f = c->fclib;
    size_t joints = (size_t)talus_fclib_joints(f);
    double *push;
    TALUS_TRY(TALUS_ALLOC(push, (size_t)f->M.rows, "joint impulses"));
    memcpy(l, f->b, joints * sizeof *l);
    talus_sparse_add_transposed_product(&f->G, 1.0, v, l);
    talus_ldl_solve(&c->joint, l);
    for (size_t i = 0; i < joints; i++)
        l[i] = -l[i];
    talus_sparse_add_product(&f->G, 1.0, l, push);
    talus_ldl_solve(&c->mass, push);
    for (int i = 0; i < f->M.rows; i++)
        v[i] += push[i];
    talus_release(push);
    return TALUS_OK;
}

TalusStatus talus_condenser_compute_velocities(TalusCondenser *c, const double *r, double *v,
                                               double *l, double *u)
{
    const TalusFclib *f = c->fclib;
    memcpy(v, f->f, (size_t)f->M.rows * sizeof *v);
    if (r)
        talus_sparse_add_product(&f->H, 1.0, r, v);
    talus_ldl_solve(&c->mass, v);
    if (talus_fclib_joints(f))
        TALUS_TRY(add_joint_impulses(c, v, l));
    memcpy(u, f->w, (size_t)talus_fclib_rows(f) * sizeof *u);
    talus_sparse_add_transposed_product(&f->H, 1.0, v, u);
    return TALUS_OK;
}

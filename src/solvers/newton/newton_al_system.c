/* solvers/newton/newton_al_system.c - the linear systems of newton-al, in bodies or in contacts (newton_al.h). */
#include "solvers/newton/newton_al.h"

#include "base/memory.h"
#include "base/order.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

/* ---- common ---- */

/* Returns the power of two that brings masses (bodies) or inverse masses (contacts) near 1. It is chosen from the
 * largest diagonal entry of N, which unlike the entries of M does not depend on the unit of angular velocities. */
static double choose_unit(const TalusOperator *op, bool bodies)
{
    double largest = 0.0;
    int exponent;
    for (int i = 0; i < op->blocks; i++)
        largest = fmax(largest, op->diagonal[i][0]);
    frexp(largest, &exponent);
    return ldexp(1.0, bodies ? exponent : -exponent);
}

/* Multiplies w->lower and w->x by w->unit, factorises the matrix and overwrites w->x with the solution. Counts the
 * factorisation. */
static TalusStatus factor_and_solve(TalusAlSystem *w, TalusSolve *s)
{
    int32_t entries = talus_sparse_entries(&w->lower);
    for (int32_t k = 0; k < entries; k++)
        w->lower.value[k] *= w->unit;
    for (int i = 0; i < w->lower.rows; i++)
        w->x[i] *= w->unit;
    TALUS_TRY(talus_direct_factor(w->direct, &w->lower));
    s->info->factorisations++;
    return talus_direct_solve(w->direct, w->x);
}

/* ---- bodies ---- */

/* Builds w->lower, with zeros as values, from the pattern of M + D A D': all pairs of unknowns that a contact couples,
 * and the blocks of M. */
static TalusStatus build_body_pattern(TalusAlSystem *w)
{
    enum { UNKNOWNS = 12 }; /* unknowns of a contact's two bodies */
    const TalusSparse *d = &w->jacobian.transposed;
    const int n = 3 * w->jacobian.groups;
    size_t capacity = (size_t)w->rows * (UNKNOWNS * (UNKNOWNS + 1) / 2) + 2 * (size_t)n;
    int32_t *row = NULL, *column = NULL;
    double *value = NULL;
    TalusTriplets t = {.rows = n, .columns = n};
    TalusStatus status = TALUS_ALLOC(row, capacity, "pattern");
    TALUS_THEN(status, TALUS_ALLOC(column, capacity, "pattern"));
    TALUS_THEN(status, TALUS_ALLOC(value, capacity, "pattern"));
    for (int i = 0; status == TALUS_OK && i < n; i++)
        for (int k = i - i % 3; k <= i; k++, t.count++) {
            row[t.count] = i;
            column[t.count] = k;
        }
    for (int i = 0; status == TALUS_OK && i < w->rows; i++)
        for (int32_t a = d->start[i]; a < d->start[i + 1]; a++)
            for (int32_t b = d->start[i]; b <= a; b++, t.count++) {
                row[t.count] = d->column[a];
                column[t.count] = d->column[b];
            }
    t.row = row;
    t.column = column;
    t.value = value;
    TALUS_THEN(status, talus_sparse_from_triplets(&t, &w->lower, "matrix of bodies"));
    TALUS_RELEASE(row, column, value);
    return status;
}

/* Returns the address of the entry (row, column) of the lower triangle. */
static double *entry_at(TalusSparse *l, int32_t row, int32_t column)
{
    return &l->value[talus_sorted_index(l->column, l->start[row], l->start[row + 1], column)];
}

/* Adds contact i's term D A D' of the matrix, with A = 1 / weight. */
static void add_contact_term(TalusAlSystem *w, int i, double weight)
{
    const TalusSparse *d = &w->jacobian.transposed;
    for (int32_t a = d->start[i]; a < d->start[i + 1]; a++)
        for (int32_t b = d->start[i]; b <= a; b++)
            *entry_at(&w->lower, d->column[a], d->column[b]) += d->value[a] * d->value[b] / weight;
}

/* Adds the blocks of M to the matrix. */
static void add_masses(TalusAlSystem *w)
{
    for (int g = 0; g < w->jacobian.groups; g++) {
        const TalusSym3 *m = &w->jacobian.mass[g];
        const double value[3][3] = {
            {m->xx, m->xy, m->xz}, {m->xy, m->yy, m->yz}, {m->xz, m->yz, m->zz}};
        for (int r = 0; r < 3; r++)
            for (int c = 0; c <= r; c++)
                *entry_at(&w->lower, 3 * g + r, 3 * g + c) += value[r][c];
    }
}

/* Form `bodies` of newton_al.h: builds the matrix M + D A D', solves for dv and writes dz. */
static TalusStatus solve_bodies(TalusAlSystem *w, TalusSolve *s, const bool *is_free,
                                const double *weight, const double *f, double *dz)
{
    const TalusSparse *d = &w->jacobian.transposed;
    memset(w->lower.value, 0, (size_t)talus_sparse_entries(&w->lower) * sizeof(double));
    add_masses(w);
    for (int i = 0; i < w->rows; i++)
        if (is_free[i])
            add_contact_term(w, i, weight[i]);
    memset(w->x, 0, (size_t)w->lower.rows * sizeof *w->x);
    talus_sparse_add_transposed_product(d, -1.0, f, w->x);
    TALUS_TRY(factor_and_solve(w, s));
    memset(w->product, 0, (size_t)w->rows * sizeof *w->product);
    talus_sparse_add_product(d, 1.0, w->x, w->product);
    for (int i = 0; i < w->rows; i++)
        dz[i] = is_free[i] ? -f[i] - w->product[i] / weight[i] : -f[i];
    return TALUS_OK;
}

/* ---- contacts ---- */

/* Numbers the free rows in w->free_index. Returns their number. */
static int number_free_rows(TalusAlSystem *w, const bool *is_free)
{
    int count = 0;
    for (int i = 0; i < w->rows; i++)
        w->free_index[i] = is_free[i] ? count++ : -1;
    return count;
}

/* Writes the lower triangle of (w + N)_FF, over the free rows, to w->lower. */
static void fill_contact_matrix(TalusAlSystem *w, const double *weight)
{
    const TalusSparse *n = &w->matrix;
    TalusSparse *l = &w->lower;
    int32_t at = 0;
    for (int i = 0; i < w->rows; i++) {
        if (w->free_index[i] < 0)
            continue;
        for (int32_t e = n->start[i]; e < n->start[i + 1] && n->column[e] <= i; e++)
            if (w->free_index[n->column[e]] >= 0) {
                l->column[at] = w->free_index[n->column[e]];
                l->value[at++] = n->value[e] + (n->column[e] == i ? weight[i] : 0.0);
            }
        l->start[w->free_index[i] + 1] = at;
    }
}

/* Form `contacts` of newton_al.h: builds the matrix of the free rows, solves for s and writes dz. */
static TalusStatus solve_contacts(TalusAlSystem *w, TalusSolve *s, const bool *is_free,
                                  const double *weight, const double *f, double *dz)
{
    w->lower.rows = w->lower.columns = number_free_rows(w, is_free);
    fill_contact_matrix(w, weight);
    s->backend->op.gradient(s->op, NULL, f, false, w->product);
    s->info->products++;
    for (int i = 0; i < w->rows; i++)
        if (is_free[i])
            w->x[w->free_index[i]] = -w->product[i];
    if (w->lower.rows > 0) {
        TALUS_TRY(talus_direct_analyse(w->direct, &w->lower, NULL));
        TALUS_TRY(factor_and_solve(w, s));
    }
    for (int i = 0; i < w->rows; i++)
        dz[i] = is_free[i] ? -f[i] - w->x[w->free_index[i]] : -f[i];
    return TALUS_OK;
}

/* ---- preparation ---- */

/* Computes D and M, the pattern of the matrix and its elimination order. */
static TalusStatus prepare_bodies(TalusAlSystem *w, const TalusSolve *s)
{
    TALUS_TRY(talus_jacobian_fill(&w->jacobian, s->problem));
    TALUS_TRY(build_body_pattern(w));
    TALUS_TRY(TALUS_GROW(w->x, (size_t)w->lower.rows, 0, "velocities"));
    return talus_direct_analyse(w->direct, &w->lower, NULL);
}

/* Assembles N + E and allocates the matrix of the free rows for the case that all rows are free. */
static TalusStatus prepare_contacts(TalusAlSystem *w, const TalusSolve *s)
{
    size_t rows = (size_t)w->rows;
    TALUS_TRY(talus_problem_assemble(s->problem, &w->matrix));
    TALUS_TRY(talus_sparse_alloc(&w->lower, w->rows, w->rows,
                                 (size_t)talus_sparse_entries(&w->matrix), "matrix of contacts"));
    TALUS_TRY(TALUS_GROW(w->free_index, rows, 0, "free rows"));
    return TALUS_GROW(w->x, rows, 0, "free rows");
}

TalusStatus talus_al_system_prepare(TalusAlSystem *w, const TalusSolve *s, TalusDirectKind kind)
{
    talus_sparse_clear(&w->lower);
    talus_sparse_clear(&w->matrix);
    w->rows = s->op->blocks;
    w->bodies = s->op->pair != NULL;
    w->unit = choose_unit(s->op, w->bodies);
    if (!w->direct)
        TALUS_TRY(talus_direct_create(kind, &w->direct));
    TALUS_TRY(TALUS_GROW(w->product, (size_t)w->rows, 0, "velocities"));
    return w->bodies ? prepare_bodies(w, s) : prepare_contacts(w, s);
}

TalusStatus talus_al_system_solve(TalusAlSystem *w, TalusSolve *s, const bool *is_free,
                                  const double *weight, const double *f, double *dz)
{
    return w->bodies ? solve_bodies(w, s, is_free, weight, f, dz)
                     : solve_contacts(w, s, is_free, weight, f, dz);
}

void talus_al_system_clear(TalusAlSystem *w)
{
    talus_direct_destroy(w->direct);
    talus_sparse_clear(&w->lower);
    talus_sparse_clear(&w->matrix);
    talus_jacobian_clear(&w->jacobian);
    TALUS_RELEASE(w->x, w->product, w->free_index);
}

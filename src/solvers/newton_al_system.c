/* solvers/newton_al_system.c - the systems of newton-al, in bodies or in contacts. */
#include "solvers/newton_al.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

/* ---- common ---- */

/* The matrix times the power of two that makes its largest entry about 1, factorised; x = its inverse times
 * x. */
static TalusStatus factor_and_solve(TalusAlSystem *w, TalusSolve *s)
{
    double largest = 0.0;
    int32_t entries = talus_sparse_entries(&w->lower);
    int exponent;
    for (int32_t k = 0; k < entries; k++)
        largest = fmax(largest, fabs(w->lower.value[k]));
    frexp(largest, &exponent);
    double scale = ldexp(1.0, -exponent);
    for (int32_t k = 0; k < entries; k++)
        w->lower.value[k] *= scale;
    for (int i = 0; i < w->lower.rows; i++)
        w->x[i] *= scale;
    TALUS_TRY(talus_direct_factor(w->direct, &w->lower));
    s->info->factorisations++;
    return talus_direct_solve(w->direct, w->x);
}

/* f over the free directions, times T: B T B' f of one block. */
static void apply_block(const TalusAlBlock *b, int rows, const double *f, double *out)
{
    memset(out, 0, (size_t)rows * sizeof *out);
    for (int j = 0; j < b->rank; j++) {
        double along = 0.0;
        for (int k = 0; k < rows; k++)
            along += b->direction[j][k] * f[k];
        for (int k = 0; k < rows; k++)
            out[k] += b->direction[j][k] * (along / b->stiffness[j]);
    }
}

/* ---- bodies ---- */

/* Groups of unknowns that contact i moves, at most 4. */
static int groups_of(const TalusAlSystem *w, int i, int32_t group[TALUS_AL_GROUPS])
{
    const TalusSparse *d = &w->jacobian.transposed;
    int count = 0;
    for (int32_t e = d->start[i * w->rows]; e < d->start[(i + 1) * w->rows]; e += 3) {
        int32_t g = d->column[e] / 3;
        bool known = false;
        for (int k = 0; k < count; k++)
            known = known || group[k] == g;
        if (!known)
            group[count++] = g;
    }
    return count;
}

/* The pattern as triplets, one per pair of groups; its values are of no matter. */
static TalusStatus body_pattern(TalusAlSystem *w)
{
    const int pairs = TALUS_AL_GROUPS * TALUS_AL_GROUPS, groups = w->jacobian.groups;
    size_t most = (size_t)w->blocks * (size_t)pairs + (size_t)groups;
    int32_t *row, *column;
    double *value = NULL;
    TalusSparse pattern = {0};
    TalusTriplets t = {.rows = groups, .columns = groups};
    TalusStatus status = TALUS_ALLOC(row, most, "pattern");
    if (status != TALUS_OK)
        return status;
    status = TALUS_ALLOC(column, most, "pattern");
    if (status == TALUS_OK)
        status = TALUS_ALLOC(value, most, "pattern");
    for (int g = 0; status == TALUS_OK && g < groups; g++, t.count++)
        row[t.count] = column[t.count] = g;
    for (int i = 0; status == TALUS_OK && i < w->blocks; i++) {
        int32_t group[TALUS_AL_GROUPS];
        int count = groups_of(w, i, group);
        for (int a = 0; a < count; a++)
            for (int b = 0; b < count; b++, t.count++) {
                row[t.count] = group[a];
                column[t.count] = group[b];
            }
    }
    t.row = row;
    t.column = column;
    t.value = value;
    if (status == TALUS_OK)
        status = talus_sparse_from_triplets(&t, &pattern, "pattern of bodies");
    if (status == TALUS_OK)
        status = talus_block_matrix_create(&pattern, 1, &w->groups);
    talus_sparse_clear(&pattern);
    talus_release(row);
    talus_release(column);
    talus_release(value);
    return status;
}

/* Scalar rows of the lower triangle from the pattern of groups. */
static TalusStatus body_lower(TalusAlSystem *w)
{
    const TalusBlockMatrix *p = &w->groups;
    size_t entries = 9 * (size_t)p->start[p->blocks];
    TalusSparse *l = &w->lower;
    int32_t at = 0;
    TALUS_TRY(talus_sparse_alloc(l, 3 * p->blocks, 3 * p->blocks, entries, "matrix of bodies"));
    for (int g = 0; g < p->blocks; g++)
        for (int r = 0; r < 3; r++) {
            for (int32_t e = p->start[g]; e < p->start[g + 1] && p->column[e] <= g; e++)
                for (int c = 0; c < 3 && (p->column[e] < g || c <= r); c++)
                    l->column[at++] = 3 * p->column[e] + c;
            l->start[3 * g + r + 1] = at;
        }
    return TALUS_OK;
}

/* Where the entry (row, column) of the lower triangle is. */
static double *entry(TalusSparse *l, int32_t row, int32_t column)
{
    int32_t low = l->start[row], high = l->start[row + 1] - 1;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (l->column[middle] < column)
            low = middle + 1;
        else
            high = middle;
    }
    return &l->value[low];
}

/* Adds T (D b)(D b)' of every free direction. D b is gathered from the rows of D'. */
static void add_contact(TalusAlSystem *w, int i, const TalusAlBlock *block)
{
    const TalusSparse *d = &w->jacobian.transposed;
    int32_t group[TALUS_AL_GROUPS];
    int count = groups_of(w, i, group);
    for (int j = 0; j < block->rank; j++) {
        double db[3 * TALUS_AL_GROUPS] = {0};
        for (int k = 0; k < w->rows; k++)
            for (int32_t e = d->start[i * w->rows + k]; e < d->start[i * w->rows + k + 1]; e++)
                for (int g = 0; g < count; g++)
                    if (d->column[e] / 3 == group[g])
                        db[3 * g + d->column[e] % 3] += d->value[e] * block->direction[j][k];
        for (int a = 0; a < 3 * count; a++)
            for (int b = 0; b < 3 * count; b++) {
                int32_t row = 3 * group[a / 3] + a % 3, column = 3 * group[b / 3] + b % 3;
                if (column <= row)
                    *entry(&w->lower, row, column) += db[a] * db[b] / block->stiffness[j];
            }
    }
}

static void add_mass(TalusAlSystem *w)
{
    for (int g = 0; g < w->jacobian.groups; g++) {
        const TalusSym3 *m = &w->jacobian.mass[g];
        const double value[3][3] = {
            {m->xx, m->xy, m->xz}, {m->xy, m->yy, m->yz}, {m->xz, m->yz, m->zz}};
        for (int r = 0; r < 3; r++)
            for (int c = 0; c <= r; c++)
                *entry(&w->lower, 3 * g + r, 3 * g + c) += value[r][c];
    }
}

static TalusStatus solve_bodies(TalusAlSystem *w, TalusSolve *s, const TalusAlBlock *block,
                                const double *f, double *dz)
{
    const TalusSparse *d = &w->jacobian.transposed;
    memset(w->lower.value, 0, (size_t)talus_sparse_entries(&w->lower) * sizeof(double));
    add_mass(w);
    for (int i = 0; i < w->blocks; i++)
        add_contact(w, i, &block[i]);
    memset(w->x, 0, (size_t)w->lower.rows * sizeof *w->x);
    talus_sparse_add_transposed(d, -1.0, f, w->x);
    TALUS_TRY(factor_and_solve(w, s));
    memset(w->product, 0, (size_t)d->rows * sizeof *w->product);
    talus_sparse_add(d, 1.0, w->x, w->product);
    for (int i = 0; i < w->blocks; i++) {
        double out[TALUS_AL_ROWS];
        apply_block(&block[i], w->rows, w->product + i * w->rows, out);
        for (int k = 0; k < w->rows; k++)
            dz[i * w->rows + k] = -f[i * w->rows + k] - out[k];
    }
    return TALUS_OK;
}

/* ---- contacts ---- */

/* b_i' N_ij b_j of two directions. */
static double form(const double *a, const double *n, const double *b, int rows)
{
    double sum = 0.0;
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < rows; c++)
            sum += a[r] * n[r * rows + c] * b[c];
    return sum;
}

static void pack(TalusAlSystem *w, const TalusAlBlock *block)
{
    w->first[0] = 0;
    for (int i = 0; i < w->blocks; i++)
        w->first[i + 1] = w->first[i] + block[i].rank;
}

/* T^-1 + B'N B, lower triangle. */
static void fill_contacts(TalusAlSystem *w, const TalusAlBlock *block)
{
    const TalusBlockMatrix *n = &w->matrix;
    TalusSparse *l = &w->lower;
    int32_t at = 0;
    l->rows = l->columns = w->first[w->blocks];
    for (int i = 0; i < w->blocks; i++)
        for (int a = 0; a < block[i].rank; a++) {
            int32_t row = w->first[i] + a;
            for (int32_t e = n->start[i]; e < n->start[i + 1] && n->column[e] <= i; e++) {
                int j = n->column[e];
                const double *values = n->value + (size_t)e * (size_t)(w->rows * w->rows);
                for (int b = 0; b < block[j].rank && w->first[j] + b <= row; b++) {
                    bool diagonal = w->first[j] + b == row;
                    l->column[at] = w->first[j] + b;
                    l->value[at++] =
                        form(block[i].direction[a], values, block[j].direction[b], w->rows) +
                        (diagonal ? block[i].stiffness[a] : 0.0);
                }
            }
            l->start[row + 1] = at;
        }
}

static TalusStatus solve_contacts(TalusAlSystem *w, TalusSolve *s, const TalusAlBlock *block,
                                  const double *f, double *dz)
{
    const int rows = w->rows;
    pack(w, block);
    fill_contacts(w, block);
    s->backend->gradient(s->op, NULL, f, false, w->product);
    s->info->products++;
    for (int i = 0; i < w->blocks; i++)
        for (int j = 0; j < block[i].rank; j++) {
            double sum = 0.0;
            for (int k = 0; k < rows; k++)
                sum -= block[i].direction[j][k] * w->product[i * rows + k];
            w->x[w->first[i] + j] = sum;
        }
    if (w->lower.rows > 0) {
        TALUS_TRY(talus_direct_analyse(w->direct, &w->lower, NULL));
        TALUS_TRY(factor_and_solve(w, s));
    }
    for (int i = 0; i < w->blocks; i++)
        for (int k = 0; k < rows; k++) {
            double sum = f[i * rows + k];
            for (int j = 0; j < block[i].rank; j++)
                sum += block[i].direction[j][k] * w->x[w->first[i] + j];
            dz[i * rows + k] = -sum;
        }
    return TALUS_OK;
}

/* ---- preparation ---- */

static TalusStatus begin_bodies(TalusAlSystem *w, const TalusSolve *s)
{
    TALUS_TRY(talus_jacobian_fill(&w->jacobian, s->problem));
    TALUS_TRY(body_pattern(w));
    TALUS_TRY(body_lower(w));
    TALUS_TRY(TALUS_RESERVE(w->x, w->x_room, (size_t)w->lower.rows, 0, "velocities"));
    return talus_direct_analyse(w->direct, &w->lower, NULL);
}

static TalusStatus begin_contacts(TalusAlSystem *w, const TalusSolve *s)
{
    TalusSparse n;
    size_t size = (size_t)w->rows * (size_t)w->blocks;
    TALUS_TRY(talus_problem_assemble(s->problem, &n));
    TalusStatus status = talus_block_matrix_create(&n, w->rows, &w->matrix);
    talus_sparse_clear(&n);
    TALUS_TRY(status);
    size_t entries = (size_t)w->matrix.start[w->blocks] * (size_t)(w->rows * w->rows);
    TALUS_TRY(talus_sparse_alloc(&w->lower, (int)size, (int)size, entries, "matrix of contacts"));
    TALUS_TRY(TALUS_RESERVE(w->first, w->first_room, (size_t)w->blocks + 1, 0, "directions"));
    return TALUS_RESERVE(w->x, w->x_room, size, 0, "directions");
}

TalusStatus talus_al_system_begin(TalusAlSystem *w, const TalusSolve *s, TalusDirectKind kind)
{
    size_t size = (size_t)s->op->rows * (size_t)s->op->blocks;
    talus_sparse_clear(&w->lower);
    talus_block_matrix_clear(&w->groups);
    talus_block_matrix_clear(&w->matrix);
    w->rows = s->op->rows;
    w->blocks = s->op->blocks;
    w->bodies = s->op->pair != NULL;
    if (!w->direct || w->kind != kind) {
        talus_direct_destroy(w->direct);
        w->direct = NULL;
        TALUS_TRY(talus_direct_create(kind, &w->direct));
        w->kind = kind;
    }
    TALUS_TRY(TALUS_RESERVE(w->product, w->product_room, size, 0, "velocities"));
    return w->bodies ? begin_bodies(w, s) : begin_contacts(w, s);
}

TalusStatus talus_al_system_solve(TalusAlSystem *w, TalusSolve *s, const TalusAlBlock *block,
                                  const double *f, double *dz)
{
    return w->bodies ? solve_bodies(w, s, block, f, dz) : solve_contacts(w, s, block, f, dz);
}

void talus_al_system_clear(TalusAlSystem *w)
{
    talus_direct_destroy(w->direct);
    talus_sparse_clear(&w->lower);
    talus_jacobian_clear(&w->jacobian);
    talus_block_matrix_clear(&w->groups);
    talus_block_matrix_clear(&w->matrix);
    talus_release(w->x);
    talus_release(w->first);
    talus_release(w->product);
}

/* fclib.c - evaluates FCLIB problems from their stored matrices.
 *
 * M is split into groups of coupled unknowns (a rigid body, or a whole finite element mesh), each inverted by
 * Gauss-Jordan with pivoting. With joints the groups are those of M and G together, and the matrix
 * [M -G; G' 0] is inverted. If M is not symmetric, neither is W = H' M^-1 H, and the convex problem has (W + W')/2. */
#include "point.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST_GROUP = 3000 }; /* unknowns; larger groups are not inverted */

/* ---- groups of coupled unknowns ---- */

/* Unknowns that M and G couple with each other. */
typedef struct Group {
    int size;
    int *member;     /* [size]: unknowns; below dofs a velocity, otherwise the impulse of a joint */
    double *inverse; /* [size * size], of the group's rows and columns of [M -G; G' 0] */
} Group;

/* The matrix [M -G; G' 0] as groups of unknowns, with the inverse of each. */
typedef struct System {
    int dofs, joints;               /* numbers of unknowns: velocities, impulses of joints */
    int count;                      /* number of groups */
    int *group_of, *index_in_group; /* [dofs + joints]: group of each unknown; index there */
    Group *group;
} System;

/* Returns the representative of unknown i in the union-find forest `parent`, and shortens the way to it. */
static int find_root(int *parent, int i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

/* Allocates `count` zeros. */
static int *allocate_integers(size_t count)
{
    return (int *)verify_zeros((count * sizeof(int) + sizeof(double)) / sizeof(double));
}

/* Merges the groups of the unknowns of row and column of each entry of m; column j is the unknown j + column_shift. */
static void merge_groups(const TalusSparse *m, int column_shift, int *parent)
{
    for (int row = 0; m->start && row < m->rows; row++)
        for (int k = m->start[row]; k < m->start[row + 1]; k++)
            parent[find_root(parent, row)] = find_root(parent, m->column[k] + column_shift);
}

/* Finds the groups of coupled unknowns by union-find and lists their members. */
static void find_groups(const TalusFclib *f, System *s)
{
    int n = s->dofs + s->joints, *parent = allocate_integers((size_t)n);
    for (int i = 0; i < n; i++)
        parent[i] = i;
    merge_groups(&f->M, 0, parent);
    merge_groups(&f->G, s->dofs, parent);
    s->group_of = allocate_integers((size_t)n);
    s->index_in_group = allocate_integers((size_t)n);
    for (int i = 0; i < n; i++)
        if (parent[i] == i)
            s->group_of[i] = s->count++;
    s->group =
        (Group *)verify_zeros(((size_t)s->count + 1) * sizeof *s->group / sizeof(double) + 1);
    for (int i = 0; i < n; i++) {
        s->group_of[i] = s->group_of[find_root(parent, i)];
        s->index_in_group[i] = s->group[s->group_of[i]].size++;
    }
    for (int g = 0; g < s->count; g++)
        s->group[g].member = allocate_integers((size_t)s->group[g].size);
    for (int i = 0; i < n; i++)
        s->group[s->group_of[i]].member[s->index_in_group[i]] = i;
    free(parent);
}

static void free_system(System *s)
{
    for (int g = 0; g < s->count; g++) {
        free(s->group[g].member);
        free(s->group[g].inverse);
    }
    free(s->group);
    free(s->group_of);
    free(s->index_in_group);
}

/* ---- inverses of groups ---- */

static void swap_rows(double *a, size_t n, size_t r, size_t s)
{
    for (size_t k = 0; k < n && r != s; k++) {
        double swapped = a[r * n + k];
        a[r * n + k] = a[s * n + k];
        a[s * n + k] = swapped;
    }
}

/* Subtracts `factor` times row `pivot_row` of the n x n matrix a from row `row`. */
static void subtract_row(double *a, size_t n, size_t pivot_row, size_t row, double factor)
{
    for (size_t k = 0; k < n; k++)
        a[row * n + k] -= factor * a[pivot_row * n + k];
}

/* Writes the inverse of `a` to `inverse`, zero on entry, by Gauss-Jordan with row pivoting; `a` becomes the identity.
 * Returns false if singular. */
static bool invert_matrix(double *a, double *inverse, size_t n)
{
    for (size_t i = 0; i < n; i++)
        inverse[i * n + i] = 1.0;
    for (size_t c = 0; c < n; c++) {
        size_t best = c;
        for (size_t r = c + 1; r < n; r++)
            if (fabs(a[r * n + c]) > fabs(a[best * n + c]))
                best = r;
        double pivot = a[best * n + c];
        if (pivot == 0.0 || !isfinite(pivot))
            return false;
        swap_rows(a, n, c, best);
        swap_rows(inverse, n, c, best);
        for (size_t k = 0; k < n; k++) {
            a[c * n + k] /= pivot;
            inverse[c * n + k] /= pivot;
        }
        for (size_t r = 0; r < n; r++) {
            double factor = a[r * n + c];
            if (r != c && factor != 0.0) {
                subtract_row(a, n, c, r, factor);
                subtract_row(inverse, n, c, r, factor);
            }
        }
    }
    return true;
}

/* Fills `a` with the rows and columns of group g of [M -G; G' 0]. */
static void fill_group_matrix(const TalusFclib *f, const System *s, int g, double *a)
{
    const Group *group = &s->group[g];
    size_t n = (size_t)group->size;
    for (int i = 0; i < group->size; i++) {
        int row = group->member[i];
        if (row >= s->dofs)
            continue;
        for (int k = f->M.start[row]; k < f->M.start[row + 1]; k++) {
            size_t j = (size_t)s->index_in_group[f->M.column[k]];
            a[(size_t)i * n + j] += f->M.value[k];
        }
        for (int k = s->joints ? f->G.start[row] : 0; s->joints && k < f->G.start[row + 1]; k++) {
            size_t j = (size_t)s->index_in_group[s->dofs + f->G.column[k]];
            a[(size_t)i * n + j] -= f->G.value[k];
            a[j * n + (size_t)i] += f->G.value[k];
        }
    }
}

/* Computes the inverse of each group. Returns false with a reason if a group is too large or singular. */
static bool invert_groups(const TalusFclib *f, System *s, const char **reason)
{
    for (int g = 0; g < s->count; g++) {
        size_t n = (size_t)s->group[g].size;
        if (n > LARGEST_GROUP) {
            *reason = "M couples more than 3000 unknowns; verify inverts densely";
            return false;
        }
        double *a = verify_zeros(n * n);
        s->group[g].inverse = verify_zeros(n * n);
        fill_group_matrix(f, s, g, a);
        bool regular = invert_matrix(a, s->group[g].inverse, n);
        free(a);
        if (!regular) {
            *reason = s->joints ? "M with the joints G is singular" : "M is singular";
            return false;
        }
    }
    return true;
}

/* Entry (i, j) of the inverse of [M -G; G' 0]; 0 between groups. */
static double inverse_entry(const System *s, int i, int j)
{
    if (s->group_of[i] != s->group_of[j])
        return 0.0;
    const Group *group = &s->group[s->group_of[i]];
    return group->inverse[(size_t)s->index_in_group[i] * (size_t)group->size +
                          (size_t)s->index_in_group[j]];
}

/* x = [M -G; G' 0]^-1 y; with `transposed`, the transpose of this inverse times y */
static void multiply_inverse(const System *s, const double *y, bool transposed, double *x)
{
    for (int g = 0; g < s->count; g++) {
        const Group *group = &s->group[g];
        for (int i = 0; i < group->size; i++) {
            double sum = 0.0;
            for (int j = 0; j < group->size; j++) {
                size_t row = (size_t)(transposed ? j : i), column = (size_t)(transposed ? i : j);
                sum += group->inverse[row * (size_t)group->size + column] * y[group->member[j]];
            }
            x[group->member[i]] = sum;
        }
    }
}

/* ---- contact velocities ---- */

/* out += factor H'v, with v the velocities that the generalised impulses `force` cause (multiply_inverse) */
static void add_contact_velocities(const TalusFclib *f, const System *s, const double *force,
                                   bool transposed, double factor, double *out)
{
    double *v = verify_zeros((size_t)(s->dofs + s->joints));
    multiply_inverse(s, force, transposed, v);
    for (int row = 0; row < s->dofs; row++)
        for (int k = f->H.start[row]; k < f->H.start[row + 1]; k++)
            out[f->H.column[k]] += factor * f->H.value[k] * v[row];
    free(v);
}

/* q = H'v + w with [M -G; G' 0] (v, l) = (f, -b). */
static void compute_global_offset(const TalusFclib *f, const System *s, double *q)
{
    double *force = verify_zeros((size_t)(s->dofs + s->joints));
    memcpy(force, f->f, (size_t)s->dofs * sizeof *force);
    for (int j = 0; j < s->joints; j++)
        force[s->dofs + j] = -(f->b ? f->b[j] : 0.0);
    memcpy(q, f->w, (size_t)f->H.columns * sizeof *q);
    add_contact_velocities(f, s, force, false, 1.0, q);
    free(force);
}

/* u = q + W r, or with `symmetric` q + (W + W')/2 r. With joints the upper left block of the inverse maps impulses to
 * velocities, and the upper left block of the transposed inverse is the transpose of this block. */
static void compute_global_velocity(const TalusFclib *f, const System *s, const double *q,
                                    const double *r, bool symmetric, double *u)
{
    double *force = verify_zeros((size_t)(s->dofs + s->joints));
    for (int row = 0; row < s->dofs; row++)
        for (int k = f->H.start[row]; k < f->H.start[row + 1]; k++)
            force[row] += f->H.value[k] * r[f->H.column[k]];
    memcpy(u, q, (size_t)f->H.columns * sizeof *u);
    add_contact_velocities(f, s, force, false, symmetric ? 0.5 : 1.0, u);
    if (symmetric)
        add_contact_velocities(f, s, force, true, 0.5, u);
    free(force);
}

/* Adds the diagonal of W = H' M^-1 H, with joints by the inverse of [M -G; G' 0], to `diagonal`. Entry c is a sum over
 * all pairs of entries in column c of H. */
static void compute_global_diagonal(const TalusFclib *f, const System *s, double *diagonal)
{
    int columns = f->H.columns, entries = f->H.start[f->H.rows];
    int *start = allocate_integers((size_t)columns + 2),
        *row_of = allocate_integers((size_t)entries);
    double *value = verify_zeros((size_t)entries);
    for (int k = 0; k < entries; k++)
        start[f->H.column[k] + 2]++;
    for (int c = 0; c < columns; c++)
        start[c + 2] += start[c + 1];
    for (int row = 0; row < f->H.rows; row++)
        for (int k = f->H.start[row]; k < f->H.start[row + 1]; k++) {
            int at = start[f->H.column[k] + 1]++;
            row_of[at] = row;
            value[at] = f->H.value[k];
        }
    for (int c = 0; c < columns; c++)
        for (int i = start[c]; i < start[c + 1]; i++)
            for (int j = start[c]; j < start[c + 1]; j++)
                diagonal[c] += value[i] * inverse_entry(s, row_of[i], row_of[j]) * value[j];
    free(start);
    free(row_of);
    free(value);
}

/* terms = |w| + |H'| |M^-1| (|f| + |H| |r|); r NULL is zero. With joints, the inverse of [M -G; G' 0] takes the place
 * of M^-1, and the vector (f, b) that of f. */
static void compute_global_terms(const TalusFclib *f, const System *s, const double *r,
                                 double *terms)
{
    double *force = verify_zeros((size_t)(s->dofs + s->joints));
    for (int j = 0; j < s->joints; j++)
        force[s->dofs + j] = f->b ? fabs(f->b[j]) : 0.0;
    for (int row = 0; row < s->dofs; row++) {
        force[row] = fabs(f->f[row]);
        for (int k = f->H.start[row]; r && k < f->H.start[row + 1]; k++)
            force[row] += fabs(f->H.value[k] * r[f->H.column[k]]);
    }
    for (int c = 0; c < f->H.columns; c++)
        terms[c] = fabs(f->w[c]);
    for (int row = 0; row < s->dofs; row++) {
        const Group *group = &s->group[s->group_of[row]];
        double speed = 0.0;
        for (int j = 0; j < group->size; j++)
            speed += fabs(inverse_entry(s, row, group->member[j])) * force[group->member[j]];
        for (int k = f->H.start[row]; k < f->H.start[row + 1]; k++)
            terms[f->H.column[k]] += fabs(f->H.value[k]) * speed;
    }
    free(force);
}

/* terms = |q| + |W| |r|; r NULL is zero. */
static void compute_local_terms(const TalusFclib *f, const double *r, double *terms)
{
    for (int row = 0; row < f->W.rows; row++) {
        terms[row] = fabs(f->q[row]);
        for (int k = f->W.start[row]; r && k < f->W.start[row + 1]; k++)
            terms[row] += fabs(f->W.value[k] * r[f->W.column[k]]);
    }
}

/* u = W r + q, or with `symmetric` (W + W')/2 r + q; r NULL is zero. */
static void compute_local_velocity(const TalusFclib *f, const double *r, bool symmetric, double *u)
{
    memcpy(u, f->q, (size_t)f->W.rows * sizeof *u);
    for (int row = 0; r && row < f->W.rows; row++)
        for (int k = f->W.start[row]; k < f->W.start[row + 1]; k++) {
            double w = (symmetric ? 0.5 : 1.0) * f->W.value[k];
            u[row] += w * r[f->W.column[k]];
            if (symmetric)
                u[f->W.column[k]] += w * r[row];
        }
}

/* Adds the diagonal of W to `diagonal`. */
static void compute_local_diagonal(const TalusFclib *f, double *diagonal)
{
    for (int row = 0; row < f->W.rows; row++)
        for (int k = f->W.start[row]; k < f->W.start[row + 1]; k++)
            diagonal[row] += f->W.column[k] == row ? f->W.value[k] : 0.0;
}

/* Returns the address of an entry of W, found by bisection in the rising columns of its row; NULL if it is not
 * stored. */
static const double *find_local_entry(const TalusSparse *w, int row, int column)
{
    int low = w->start[row], high = w->start[row + 1];
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (w->column[middle] < column)
            low = middle + 1;
        else
            high = middle;
    }
    return low < w->start[row + 1] && w->column[low] == column ? &w->value[low] : NULL;
}

double verify_fclib_asymmetry(const TalusFclib *f)
{
    double apart = 0.0, all = 0.0, scale = 0.0;
    int entries = f->global ? 0 : f->W.start[f->W.rows];
    for (int k = 0; k < entries; k++)
        scale = fmax(scale, fabs(f->W.value[k]));
    for (int row = 0; scale > 0.0 && row < f->W.rows; row++)
        for (int k = f->W.start[row]; k < f->W.start[row + 1]; k++) {
            const double *mirrored = find_local_entry(&f->W, f->W.column[k], row);
            double w = f->W.value[k] / scale, difference = w - (mirrored ? *mirrored / scale : 0.0);
            /* a difference counts twice if the mirrored entry is not stored: the loop does not reach it */
            apart += (mirrored ? 1.0 : 2.0) * difference * difference;
            all += w * w;
        }
    return f->global ? NAN : all > 0.0 ? sqrt(apart / all) : 0.0;
}

/* ---- one point ---- */

/* Vectors over all rows of the file: diagonal of W, q, u, and the terms by which g and q are rounded (VerifyPoint). */
typedef struct Rows {
    double *diagonal, *q, *u, *terms, *offset_terms;
} Rows;

/* Returns the set of contact i's impulses; `rows` is the number of rows per contact of the point. */
static VerifySet contact_set(const TalusFclib *f, TalusFrictionModel model, int rows, int i)
{
    VerifySet set = {.rows = rows > 1 ? 3 : 1};
    if (rows > 1 && f->mu[i] > 0.0 && model.section != TALUS_SECTION_NONE) {
        set.model = model;
        set.mu = f->mu[i];
    }
    return set;
}

/* Fills the point, which may have only the normal rows, from the figures of all rows of the file. */
static void fill_point(const TalusFclib *f, TalusFrictionModel model, const double *r,
                       const Rows *all, VerifyPoint *p)
{
    for (int i = 0; i < p->blocks; i++) {
        int from = i * f->dimension, to = i * p->rows;
        p->set[i] = contact_set(f, model, p->rows, i);
        p->set[i].estimate = r[from];
        p->normal[i] = all->diagonal[from];
        for (int k = 0; k < p->rows; k++) {
            p->gamma[to + k] = r[from + k];
            p->q[to + k] = all->q[from + k];
            p->u[to + k] = p->g[to + k] = all->u[from + k];
            p->terms[i] = hypot(p->terms[i], all->terms[from + k]);
            p->offset_terms[i] = hypot(p->offset_terms[i], all->offset_terms[from + k]);
            p->tangential[i] += k ? all->diagonal[from + k] / (p->rows - 1) : 0.0;
        }
    }
}

static bool is_frictionless(const TalusFclib *f)
{
    for (int i = 0; i < f->contacts; i++)
        if (f->mu[i] > 0.0)
            return false;
    return true;
}

/* Computes the figures of all rows of a global problem, and u with W as stored unless `as_stored` is NULL. Returns
 * false with a reason if the matrix cannot be inverted. */
static bool compute_global_rows(const TalusFclib *f, const double *r, bool symmetric, Rows *all,
                                double *as_stored, const char **reason)
{
    System s = {.dofs = f->M.rows, .joints = f->G.start ? f->G.columns : 0};
    find_groups(f, &s);
    bool good = invert_groups(f, &s, reason);
    if (good) {
        compute_global_offset(f, &s, all->q);
        compute_global_velocity(f, &s, all->q, r, symmetric, all->u);
        compute_global_diagonal(f, &s, all->diagonal);
        compute_global_terms(f, &s, r, all->terms);
        compute_global_terms(f, &s, NULL, all->offset_terms);
        if (as_stored)
            compute_global_velocity(f, &s, all->q, r, false, as_stored);
    }
    free_system(&s);
    return good;
}

bool verify_fclib_point(const TalusFclib *f, TalusFrictionModel model, const double *r,
                        VerifyPoint *out, double *as_stored, const char **reason)
{
    bool normal_alone = is_frictionless(f) || model.section == TALUS_SECTION_NONE;
    bool symmetric = model.law != TALUS_LAW_COULOMB, good = true;
    size_t n = (size_t)(f->contacts * f->dimension);
    Rows all = {verify_zeros(n), verify_zeros(n), verify_zeros(n), verify_zeros(n),
                verify_zeros(n)};
    if (f->global) {
        good = compute_global_rows(f, r, symmetric, &all, as_stored, reason);
    } else {
        compute_local_velocity(f, NULL, true, all.q);
        compute_local_velocity(f, r, symmetric, all.u);
        compute_local_diagonal(f, all.diagonal);
        compute_local_terms(f, r, all.terms);
        compute_local_terms(f, NULL, all.offset_terms);
        if (as_stored)
            compute_local_velocity(f, r, false, as_stored);
    }
    if (good) {
        *out = verify_new_point(f->contacts, normal_alone ? 1 : f->dimension);
        fill_point(f, model, r, &all, out);
    }
    free(all.diagonal);
    free(all.q);
    free(all.u);
    free(all.terms);
    free(all.offset_terms);
    return good;
}

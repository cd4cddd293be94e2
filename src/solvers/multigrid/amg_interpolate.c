/* solvers/multigrid/amg_interpolate.c - interpolation of corrections from one level to the finer one, preclik-2009 Eq.
 * (22).
 *
 * Classical weights (Ruge and Stueben 1987). Row i of A e = 0 is solved for e_i. Its strong coarse neighbours C_i keep
 * their entries. Entries of weak neighbours are added to the diagonal. The value at a strong fine neighbour m is
 * replaced by the mean over C_i with weights a_mk:
 *     w_ik = -(a_ik + sum_m a_im a_mk / sum_(l in C_i) a_ml) / (a_ii + sum of weak a_in).
 * Rows of another kind, and rows that take no part in the coarsening, are left out. The formula assumes negative
 * off-diagonal entries: positive a_mk are left out of the mean. If no a_mk remains, a_im is added to the diagonal
 * too. */
#include "solvers/multigrid/amg.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

/* ---- classical weights ---- */

/* A denominator, a_ii plus all entries added to the diagonal, up to this share of a_ii is mostly rounding; a_ii
 * replaces it. */
static const double LEAST = 1e-6;

/* Number of entries in row i of P: 1 for a coarse row, else one for each strong coarse neighbour. */
static int32_t count_weights(const TalusAmgLevel *l, const TalusSparse *strong, int i)
{
    int32_t count = 0;
    if (l->coarse[i] >= 0)
        return 1;
    for (int32_t k = strong->start[i]; k < strong->start[i + 1]; k++)
        count += l->coarse[strong->column[k]] >= 0;
    return count;
}

/* Adds a_im of a strong fine neighbour m, in shares, to the weights in `value` of the row of P that starts at `begin`,
 * and returns 0; returns a_im, to be added to the diagonal, if no coarse row can take a share. index_in_p[k]: index in
 * p->value of the weight of coarse row k, valid if at least `begin`. Adds the length of row m to *cost. */
static double distribute_entry(const TalusAmgLevel *l, int m, double a_im, int32_t begin,
                               const int32_t *index_in_p, double *value, double *cost)
{
    const TalusSparse *a = &l->a;
    double sum = 0.0;
    for (int32_t k = a->start[m]; k < a->start[m + 1]; k++)
        if (index_in_p[a->column[k]] >= begin && a->value[k] < 0.0)
            sum += a->value[k];
    *cost += a->start[m + 1] - a->start[m];
    if (!(sum < 0.0))
        return a_im;
    for (int32_t k = a->start[m]; k < a->start[m + 1]; k++)
        if (index_in_p[a->column[k]] >= begin && a->value[k] < 0.0)
            value[index_in_p[a->column[k]]] += a_im * a->value[k] / sum;
    return 0.0;
}

/* Fills row i of P, a fine row, whose values must be 0. strong_of[j] = i marks the strong neighbours j of i; index_in_p
 * as in distribute_entry. Both are -1 before the first row and keep the marks of earlier rows. */
static void fill_classical_row(const TalusAmgLevel *l, const TalusSparse *strong, int32_t i,
                               int32_t *index_in_p, int32_t *strong_of, TalusSparse *p,
                               double *cost)
{
    const TalusSparse *a = &l->a;
    int32_t begin = p->start[i], at = begin;
    double denominator = l->diagonal[i];
    for (int32_t k = strong->start[i]; k < strong->start[i + 1]; k++) {
        int32_t j = strong->column[k];
        strong_of[j] = i;
        if (l->coarse[j] < 0)
            continue;
        index_in_p[j] = at;
        p->column[at] = l->coarse[j];
        p->value[at++] = strong->value[k];
    }
    for (int32_t k = a->start[i]; k < a->start[i + 1]; k++) {
        int32_t j = a->column[k];
        if (j == i || !l->taken[j] || l->kind[j] != l->kind[i] ||
            (strong_of[j] == i && l->coarse[j] >= 0))
            continue;
        denominator += strong_of[j] == i
                           ? distribute_entry(l, j, a->value[k], begin, index_in_p, p->value, cost)
                           : a->value[k];
    }
    if (!(denominator > LEAST * l->diagonal[i]))
        denominator = l->diagonal[i];
    for (int32_t k = begin; k < at; k++)
        p->value[k] /= -denominator;
}

/* Fills all rows of P, whose starts must be set; index_in_p, strong_of: work space, [rows]. */
static void fill_classical(const TalusAmgLevel *l, const TalusSparse *strong, int32_t *index_in_p,
                           int32_t *strong_of, TalusSparse *p, double *cost)
{
    for (int32_t i = 0; i < l->a.rows; i++)
        index_in_p[i] = strong_of[i] = -1;
    for (int32_t i = 0; i < l->a.rows; i++)
        if (l->coarse[i] >= 0) {
            p->column[p->start[i]] = l->coarse[i];
            p->value[p->start[i]] = 1.0;
        } else if (p->start[i + 1] > p->start[i]) {
            fill_classical_row(l, strong, i, index_in_p, strong_of, p, cost);
        }
}

TalusStatus talus_amg_interpolate_classical(const TalusAmgLevel *l, const TalusSparse *strong,
                                            int count, TalusSparse *p, double *cost)
{
    int n = l->a.rows;
    size_t entries = 0;
    int32_t *index_in_p;
    for (int i = 0; i < n; i++)
        entries += (size_t)count_weights(l, strong, i);
    TALUS_TRY(talus_sparse_alloc(p, n, count, entries, "interpolation"));
    for (int i = 0; i < n; i++)
        p->start[i + 1] = p->start[i] + count_weights(l, strong, i);
    TALUS_TRY(TALUS_ALLOC(index_in_p, 2 * (size_t)n, "interpolation"));
    fill_classical(l, strong, index_in_p, index_in_p + n, p, cost);
    talus_release(index_in_p);
    return TALUS_OK;
}

/* solvers/multigrid/amg_interpolate.c - interpolation of corrections from one level to the finer one, preclik-2009 Eq.
 * (22).
 *
 * Classical weights (Ruge and Stueben 1987). Row i of A e = 0 is solved for e_i. Strong coarse neighbours C_i are kept,
 * weak ones are added to the diagonal, and a strong fine neighbour m becomes the mean of C_i with weights a_mk,
 *     w_ik = -(a_ik + sum_m a_im a_mk / sum_(l in C_i) a_ml) / (a_ii + sum of weak a_in).
 * Rows of another kind, or not taken, do not enter. This assumes negative off-diagonal entries. Positive a_mk do not
 * enter the mean; if none remains, a_im goes to the diagonal as well. */
#include "solvers/multigrid/amg.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

/* ---- classical weights ---- */

/* A denominator below this share of a_ii has lost its digits and is replaced by a_ii. */
static const double LEAST = 1e-6;

/* Number of entries in row i of P: 1 for a coarse row, else one for each strong coarse neighbour. */
static int32_t weights_of(const TalusAmgLevel *l, const TalusSparse *strong, int i)
{
    int32_t count = 0;
    if (l->coarse[i] >= 0)
        return 1;
    for (int32_t k = strong->start[i]; k < strong->start[i + 1]; k++)
        count += l->coarse[strong->column[k]] >= 0;
    return count;
}

/* Distributes a_im of a strong fine neighbour m over the weights of the row that starts at `begin`. Returns its part
 * for the diagonal. `place` has the index of coarse rows in P, valid if at least `begin`. */
static double share_out(const TalusAmgLevel *l, int m, double a_im, int32_t begin,
                        const int32_t *place, double *value, double *work)
{
    const TalusSparse *a = &l->a;
    double sum = 0.0;
    for (int32_t k = a->start[m]; k < a->start[m + 1]; k++)
        if (place[a->column[k]] >= begin && a->value[k] < 0.0)
            sum += a->value[k];
    *work += a->start[m + 1] - a->start[m];
    if (!(sum < 0.0))
        return a_im;
    for (int32_t k = a->start[m]; k < a->start[m + 1]; k++)
        if (place[a->column[k]] >= begin && a->value[k] < 0.0)
            value[place[a->column[k]]] += a_im * a->value[k] / sum;
    return 0.0;
}

/* Fills row i of P, a fine row. kept[j] = i marks its strong neighbours j. */
static void classical_row(const TalusAmgLevel *l, const TalusSparse *strong, int32_t i,
                          int32_t *place, int32_t *kept, TalusSparse *p, double *work)
{
    const TalusSparse *a = &l->a;
    int32_t begin = p->start[i], at = begin;
    double denominator = l->diagonal[i];
    for (int32_t k = strong->start[i]; k < strong->start[i + 1]; k++) {
        int32_t j = strong->column[k];
        kept[j] = i;
        if (l->coarse[j] < 0)
            continue;
        place[j] = at;
        p->column[at] = l->coarse[j];
        p->value[at++] = strong->value[k];
    }
    for (int32_t k = a->start[i]; k < a->start[i + 1]; k++) {
        int32_t j = a->column[k];
        if (j == i || !l->taken[j] || l->kind[j] != l->kind[i] ||
            (kept[j] == i && l->coarse[j] >= 0))
            continue;
        denominator +=
            kept[j] == i ? share_out(l, j, a->value[k], begin, place, p->value, work) : a->value[k];
    }
    if (!(denominator > LEAST * l->diagonal[i]))
        denominator = l->diagonal[i];
    for (int32_t k = begin; k < at; k++)
        p->value[k] /= -denominator;
}

static void fill_classical(const TalusAmgLevel *l, const TalusSparse *strong, int32_t *place,
                           int32_t *kept, TalusSparse *p, double *work)
{
    for (int32_t i = 0; i < l->a.rows; i++)
        place[i] = kept[i] = -1;
    for (int32_t i = 0; i < l->a.rows; i++)
        if (l->coarse[i] >= 0) {
            p->column[p->start[i]] = l->coarse[i];
            p->value[p->start[i]] = 1.0;
        } else if (p->start[i + 1] > p->start[i]) {
            classical_row(l, strong, i, place, kept, p, work);
        }
}

TalusStatus talus_amg_classical(const TalusAmgLevel *l, const TalusSparse *strong, int count,
                                TalusSparse *p, double *work)
{
    int n = l->a.rows;
    size_t entries = 0;
    int32_t *place;
    for (int i = 0; i < n; i++)
        entries += (size_t)weights_of(l, strong, i);
    TALUS_TRY(talus_sparse_alloc(p, n, count, entries, "interpolation"));
    for (int i = 0; i < n; i++)
        p->start[i + 1] = p->start[i] + weights_of(l, strong, i);
    TALUS_TRY(TALUS_ALLOC(place, 2 * (size_t)n, "interpolation"));
    fill_classical(l, strong, place, place + n, p, work);
    talus_release(place);
    return TALUS_OK;
}

/* solvers/first_order/lbfgs.c - the two-loop recursion of L-BFGS on inner products (lbfgs.h). */
#include "solvers/first_order/lbfgs.h"

#include <math.h>
#include <string.h>

/* Minimum cosine between s and y of a stored pair. */
static const double CURVATURE = 1e-8;
/* Minimum |y| / |s| of a stored pair: below it y is rounding, and steps along s could have any length. */
static const double ROUNDING = 1e-12;

void talus_lbfgs_direction(const TalusLbfgs *h, double weight[2 * TALUS_PAIRS + 1])
{
    double s[TALUS_PAIRS] = {0.0}, y[TALUS_PAIRS] = {0.0}, r = 1.0;
    const int newest = h->count - 1;
    for (int i = newest; i >= 0; i--) { /* r - sum of a_j y_j; y holds -a */
        double product = h->sr[i];
        for (int j = i + 1; j <= newest; j++)
            product += y[j] * h->sy[i][j];
        s[i] = product / h->sy[i][i];
        y[i] = -s[i];
    }
    if (newest >= 0) {
        r = h->sy[newest][newest] / h->yy[newest][newest];
        for (int i = 0; i <= newest; i++)
            y[i] *= r;
    }
    for (int i = 0; i <= newest; i++) {
        double product = r * h->yr[i];
        for (int j = 0; j <= newest; j++)
            product += y[j] * (i <= j ? h->yy[i][j] : h->yy[j][i]);
        for (int j = 0; j < i; j++)
            product += s[j] * h->sy[j][i];
        s[i] -= product / h->sy[i][i];
    }
    weight[0] = -r;
    for (int i = 0; i <= newest; i++) {
        weight[1 + 2 * i] = -s[i];
        weight[2 + 2 * i] = -y[i];
    }
}

/* Drops the oldest pair with its inner products; its vector becomes q->pair[count], free for the next pair. */
static void drop_oldest(TalusLbfgs *h, TalusQuasi *q)
{
    double *free_pair = q->pair[0];
    memmove(q->pair, q->pair + 1, (size_t)h->count * sizeof *q->pair);
    q->pair[h->count] = free_pair;
    h->count--;
    memmove(h->sr, h->sr + 1, (size_t)h->count * sizeof *h->sr);
    memmove(h->yr, h->yr + 1, (size_t)h->count * sizeof *h->yr);
    for (int i = 0; i < h->count; i++)
        for (int j = i; j < h->count; j++) {
            h->sy[i][j] = h->sy[i + 1][j + 1];
            h->yy[i][j] = h->yy[i + 1][j + 1];
        }
}

void talus_lbfgs_update(TalusLbfgs *h, TalusQuasi *q, const TalusQuasiSums *sums)
{
    const int k = h->count;
    double sy[TALUS_PAIRS + 1], yy[TALUS_PAIRS + 1];
    for (int i = 0; i < k; i++) { /* products of old pairs with y = unit (r_next - r) */
        sy[i] = q->unit * (sums->sr[i] - h->sr[i]);
        yy[i] = q->unit * (sums->yr[i] - h->yr[i]);
        h->sr[i] = sums->sr[i];
        h->yr[i] = sums->yr[i];
    }
    double s2 = q->unit * q->unit * sums->dd;
    if (!(sums->sy > CURVATURE * sqrt(s2 * sums->yy)) || !(sums->yy > ROUNDING * ROUNDING * s2))
        return;
    int first = k == h->memory;
    if (first)
        drop_oldest(h, q);
    for (int i = 0; i < h->count; i++) {
        h->sy[i][h->count] = sy[first + i];
        h->yy[i][h->count] = yy[first + i];
    }
    h->sy[h->count][h->count] = sums->sy;
    h->yy[h->count][h->count] = sums->yy;
    h->sr[h->count] = sums->sr[k];
    h->yr[h->count] = sums->yr[k];
    q->count = ++h->count;
}

void talus_lbfgs_drop_pairs(TalusLbfgs *h, TalusQuasi *q)
{
    h->count = q->count = 0;
}

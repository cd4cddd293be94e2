/* solvers/multigrid/amg_dense.c - small dense systems: the coarsest level and clusters (amg.h). */
#include "solvers/multigrid/amg.h"

#include <math.h>
#include <string.h>

/* A pivot up to this share of its diagonal entry counts as 0. */
static const double VANISHED = 1e-10;

void talus_amg_dense_factor(int n, double *a)
{
    for (int j = 0; j < n; j++) {
        double own = a[j * n + j], pivot = own;
        for (int k = 0; k < j; k++)
            pivot -= a[j * n + k] * a[j * n + k] * a[k * n + k];
        a[j * n + j] = pivot = pivot > VANISHED * own ? pivot : 0.0;
        for (int i = j + 1; i < n; i++) {
            double sum = a[i * n + j];
            for (int k = 0; k < j; k++)
                sum -= a[i * n + k] * a[k * n + k] * a[j * n + k];
            a[i * n + j] = pivot > 0.0 ? sum / pivot : 0.0;
        }
    }
}

void talus_amg_dense_substitute(int n, const double *factor, double *x)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++)
            x[i] -= factor[i * n + k] * x[k];
    for (int i = 0; i < n; i++)
        x[i] = factor[i * n + i] > 0.0 ? x[i] / factor[i * n + i] : 0.0;
    for (int i = n - 1; i >= 0; i--)
        for (int k = i + 1; k < n && factor[i * n + i] > 0.0; k++)
            x[i] -= factor[k * n + i] * x[k];
}

/* ---- the box-constrained problem ---- */

/* States of a row. */
enum { FREE, AT_LOWER, AT_UPPER };

typedef struct Box {
    int n;                               /* number of rows */
    const double *a, *q, *lower, *upper; /* the problem, as in talus_amg_dense_minimise */
    double *x, *g, *d;                   /* [n]; g: gradient A x + q; d: direction */
    double *packed, *factor; /* [n], [n^2]: right-hand side and factors of the free rows' matrix */
    uint8_t *state;          /* [n]: FREE, AT_LOWER or AT_UPPER */
    double cost;             /* multiplications so far, estimated */
} Box;

/* Computes the gradient g at x and the direction d from x to the minimum over the free rows, the others held fixed. */
static void find_direction(Box *b)
{
    int n = b->n, m = 0;
    for (int i = 0; i < n; i++) {
        b->g[i] = b->q[i];
        for (int k = 0; k < n; k++)
            b->g[i] += b->a[i * n + k] * b->x[k];
    }
    for (int i = 0; i < n; i++)
        m += b->state[i] == FREE;
    for (int i = 0, r = 0; i < n; i++) {
        if (b->state[i] != FREE)
            continue;
        for (int k = 0, c = 0; k < n; k++)
            if (b->state[k] == FREE)
                b->factor[r * m + c++] = b->a[i * n + k];
        b->packed[r++] = -b->g[i];
    }
    talus_amg_dense_factor(m, b->factor);
    talus_amg_dense_substitute(m, b->factor, b->packed);
    for (int i = 0, r = 0; i < n; i++)
        b->d[i] = b->state[i] == FREE ? b->packed[r++] : 0.0;
    b->cost += (double)n * n + (double)m * m * (m / 6.0 + 1.0);
}

/* Moves x along d, by 1 or up to the first bound, whose row is then marked as at that bound. False if no bound was
 * reached. */
static bool step_to_bound(Box *b)
{
    double length = 1.0;
    int hit = -1;
    for (int i = 0; i < b->n; i++) {
        double gap = b->d[i] < 0.0 ? b->lower[i] - b->x[i] : b->upper[i] - b->x[i];
        if (b->d[i] != 0.0 && gap / b->d[i] < length) {
            length = gap / b->d[i];
            hit = i;
        }
    }
    for (int i = 0; i < b->n; i++)
        b->x[i] += length * b->d[i];
    if (hit < 0)
        return false;
    b->state[hit] = b->d[hit] < 0.0 ? AT_LOWER : AT_UPPER;
    b->x[hit] = b->d[hit] < 0.0 ? b->lower[hit] : b->upper[hit];
    return true;
}

/* Frees the row at a bound along which the objective falls fastest inwards. False if no such slope exceeds `floor`, the
 * level of rounding. */
static bool free_one_row(Box *b, double floor)
{
    double max = floor;
    int best = -1;
    for (int i = 0; i < b->n; i++) {
        double pull = b->state[i] == FREE ? 0.0 : b->state[i] == AT_LOWER ? -b->g[i] : b->g[i];
        if (pull > max && b->lower[i] < b->upper[i]) {
            max = pull;
            best = i;
        }
    }
    if (best >= 0)
        b->state[best] = FREE;
    return best >= 0;
}

double talus_amg_dense_minimise(int n, const double *a, const double *q, const double *lower,
                                const double *upper, double *x, double *factor, double *work,
                                uint8_t *state)
{
    Box b = {n, a, q, lower, upper, x, work, work + n, work + 2 * n, factor, state, 0.0};
    double floor = 0.0;
    for (int i = 0; i < n; i++) {
        x[i] = 0.0;
        state[i] = lower[i] >= 0.0 ? AT_LOWER : upper[i] <= 0.0 ? AT_UPPER : FREE;
        floor = fmax(floor, 1e-12 * fabs(q[i]));
    }
    for (int round = 0; round < 4 * n + 4; round++) {
        find_direction(&b);
        if (step_to_bound(&b))
            continue;
        for (int i = 0; i < n; i++) {
            b.g[i] = q[i];
            for (int k = 0; k < n; k++)
                b.g[i] += a[i * n + k] * x[k];
        }
        if (!free_one_row(&b, floor))
            break;
    }
    return b.cost;
}

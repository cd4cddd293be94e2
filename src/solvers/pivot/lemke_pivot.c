/* solvers/pivot/lemke_pivot.c - Lemke's method, one pivot at a time (lemke_pivot.h). */
#include "solvers/pivot/lemke_pivot.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

/* Thresholds for data of about 1. Entries of a column below PIVOT, or below ZERO, times the largest (at least 1) do not
 * bound its step, or are rounding of 0. A pivot below SMALL is taken only from fresh factors. */
static const double PIVOT = 1e-9, ZERO = 1e-14, SMALL = 1e-6;
/* TIED: ratios and entries of the inverse count as tied up to this relative difference. OVER: share of the present z_0
 * that counts as 0. */
static const double TIED = 1e-12, OVER = 1e-14;
/* Maximum of q - B x, relative to the largest x; beyond it the basis is factorised again. */
static const double DRIFT = 1e-12;

static double largest(const double *x, int n)
{
    double max = 0.0;
    for (int i = 0; i < n; i++)
        max = fmax(max, fabs(x[i]));
    return max;
}

/* ---- the ratio test ---- */

static double ratio(const TalusLemke *l, int i)
{
    return fmax(l->basis.x[i], 0.0) / l->y[i];
}

/* Writes to l->tied the positions whose variable reaches 0 first as `enters` grows. Returns their number. */
static int first_to_vanish(TalusLemke *l)
{
    const int n = l->basis.lcp->n;
    double least = INFINITY, floor = PIVOT * fmax(1.0, largest(l->y, n));
    int count = 0;
    for (int i = 0; i < n; i++)
        if (l->y[i] > floor)
            least = fmin(least, ratio(l, i));
    for (int i = 0; i < n; i++)
        if (l->y[i] > floor && fmax(l->basis.x[i], 0.0) - least * l->y[i] <= TIED * least * l->y[i])
            l->tied[count++] = i;
    return count;
}

/* Reduces the tied positions i to those with the least (B^-1)_ij / y_i, the lexicographic test in column j. Returns
 * their number. */
static int update_min(TalusLemke *l, int count, int j)
{
    double least = INFINITY, size = 0.0;
    int kept = 0;
    for (int k = 0; k < count; k++) {
        int i = l->tied[k];
        l->rate[k] = talus_basis_inverse(&l->basis, i, j) / l->y[i];
        least = fmin(least, l->rate[k]);
        size = fmax(size, fmax(fabs(l->rate[k]), 1.0 / l->y[i]));
    }
    for (int k = 0; k < count; k++)
        if (l->rate[k] - least <= TIED * size)
            l->tied[kept++] = l->tied[k];
    return kept;
}

/* True if z_0, at `position`, reaches 0 together with the first of the tied variables: a solution is found. */
static bool is_over(const TalusLemke *l, int position, int count)
{
    double least = INFINITY;
    for (int k = 0; k < count; k++)
        least = fmin(least, ratio(l, l->tied[k]));
    return l->basis.x[position] - least * l->y[position] <= OVER * l->basis.x[position];
}

/* Returns the position in the basis whose variable leaves; -1: no variable falls, a ray. z_0 (number 2 n) goes before
 * others that reach 0 with it, since that is a solution. */
static int choose_leaving(TalusLemke *l)
{
    const int n = l->basis.lcp->n;
    int count = first_to_vanish(l);
    for (int k = 0; k < count; k++)
        if (l->basis.basic[l->tied[k]] == 2 * n && is_over(l, l->tied[k], count))
            return l->tied[k];
    for (int j = 0; j < n && count > 1 && l->ties == TALUS_TIES_LEXICOGRAPHIC; j++)
        count = update_min(l, count, j);
    return count > 0 ? l->tied[0] : -1;
}

/* ---- pivots ---- */

static TalusStatus renew(TalusLemke *l)
{
    l->age = 0;
    l->factorisations++;
    return talus_basis_factor(&l->basis);
}

/* Returns the other variable of a pair: n + j (z_j) for j (w_j), and back; -1 for 2 n (z_0), which has none. */
static int complement(const TalusLemke *l, int variable)
{
    const int n = l->basis.lcp->n;
    if (variable == 2 * n)
        return -1;
    return variable < n ? variable + n : variable - n;
}

static TalusStatus exchange(TalusLemke *l, int position)
{
    int leaves = l->basis.basic[position];
    TALUS_TRY(talus_basis_exchange(&l->basis, l->enters, position, l->y));
    l->enters = complement(l, leaves);
    l->age++;
    return TALUS_OK;
}

/* Enters z_0 at the last row of minimum q / d: all rows of [B^-1 q, B^-1] are then lexicographically positive. */
static TalusStatus first_pivot(TalusLemke *l)
{
    TalusBasis *b = &l->basis;
    const int n = b->lcp->n;
    const double *q = b->lcp->q;
    int lowest = 0;
    for (int i = 1; i < n; i++)
        if (q[i] / b->cover[i] <= q[lowest] / b->cover[lowest])
            lowest = i;
    l->enters = 2 * n;
    talus_basis_column(b, l->enters, l->y);
    return exchange(l, lowest);
}

TalusStatus talus_lemke_begin(TalusLemke *l, const TalusLcp *lcp, const double *cover,
                              TalusLemkeState *state)
{
    size_t n = (size_t)lcp->n;
    TALUS_TRY(talus_basis_begin(&l->basis, lcp, cover));
    TALUS_TRY(TALUS_GROW(l->y, n, 0, "entering column"));
    TALUS_TRY(TALUS_GROW(l->rate, n, 0, "ratio test"));
    TALUS_TRY(TALUS_GROW(l->tied, n, 0, "ratio test"));
    l->enters = -1;
    l->age = l->factorisations = 0;
    *state = TALUS_LEMKE_SOLVED;
    for (size_t i = 0; i < n; i++)
        if (lcp->q[i] < 0.0)
            *state = TALUS_LEMKE_GOING;
    return *state == TALUS_LEMKE_SOLVED ? TALUS_OK : first_pivot(l);
}

/* Sets the entering column and clears the rounding of its zeros, which would hide ties. */
static void set_column(TalusLemke *l)
{
    const int n = l->basis.lcp->n;
    talus_basis_column(&l->basis, l->enters, l->y);
    double floor = ZERO * fmax(1.0, largest(l->y, n));
    for (int i = 0; i < n; i++)
        l->y[i] = fabs(l->y[i]) <= floor ? 0.0 : l->y[i];
}

/* Finds the position that leaves, -1 on a ray. Factorises anew for a pivot below SMALL and before it reports a ray,
 * unless the factors are fresh. */
static TalusStatus find_pivot(TalusLemke *l, int *position)
{
    set_column(l);
    *position = choose_leaving(l);
    if (l->age == 0 || (*position >= 0 && l->y[*position] >= SMALL))
        return TALUS_OK;
    TALUS_TRY(renew(l));
    set_column(l);
    *position = choose_leaving(l);
    return TALUS_OK;
}

/* True if the basis is to be factorised anew: after `refactor` pivots, or if q - B x exceeds DRIFT. */
static bool worn(const TalusLemke *l)
{
    return l->age >= l->refactor ||
           !(talus_basis_residual_max(&l->basis) <= DRIFT * largest(l->basis.x, l->basis.lcp->n));
}

static TalusStatus pivot(TalusLemke *l, TalusLemkeState *state)
{
    int position;
    TALUS_TRY(find_pivot(l, &position));
    if (position < 0) {
        *state = TALUS_LEMKE_RAY;
        return TALUS_OK;
    }
    TALUS_TRY(exchange(l, position));
    *state = l->enters < 0 ? TALUS_LEMKE_SOLVED : TALUS_LEMKE_GOING;
    return l->enters < 0 || worn(l) ? renew(l) : TALUS_OK;
}

TalusStatus talus_lemke_pivot(TalusLemke *l, TalusLemkeState *state)
{
    TalusStatus status = pivot(l, state);
    if (status != TALUS_ERR_NUMERIC)
        return status;
    *state = TALUS_LEMKE_BROKEN;
    return TALUS_OK;
}

void talus_lemke_clear(TalusLemke *l)
{
    talus_basis_clear(&l->basis);
    TALUS_RELEASE(l->y, l->rate, l->tied);
    *l = (TalusLemke){0};
}

/* ---- results ---- */

void talus_lemke_point(const TalusLemke *l, double *z)
{
    const TalusBasis *b = &l->basis;
    const int n = b->lcp->n;
    for (int j = 0; j < n; j++)
        z[j] = b->place[n + j] < 0 ? 0.0 : fmax(b->x[b->place[n + j]], 0.0);
}

void talus_lemke_ray(const TalusLemke *l, double *z)
{
    const TalusBasis *b = &l->basis;
    const int n = b->lcp->n;
    for (int j = 0; j < n; j++)
        z[j] = b->place[n + j] < 0 ? 0.0 : fmax(-l->y[b->place[n + j]], 0.0);
    if (l->enters >= n && l->enters < 2 * n)
        z[l->enters - n] = 1.0;
}

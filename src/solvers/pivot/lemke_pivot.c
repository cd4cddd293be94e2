/* solvers/pivot/lemke_pivot.c - Lemke's method, one pivot at a time (lemke_pivot.h). */
#include "solvers/pivot/lemke_pivot.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

/* Thresholds for data of about 1; m is the largest |entry| of a column, at least 1. Entries below PIVOT m do not limit
 * the step. Entries below ZERO m are rounding and become 0. A pivot below SMALL is taken only right after a
 * factorisation. */
static const double PIVOT = 1e-9, ZERO = 1e-14, SMALL = 1e-6;
/* TIED: relative difference up to which ratios and entries of the inverse count as equal. OVER: share of the current
 * z_0 that counts as 0. */
static const double TIED = 1e-12, OVER = 1e-14;
/* Largest |entry| of q - B x, over the largest |x|, beyond which the basis is factorised again. */
static const double DRIFT = 1e-12;

/* Largest |entry| of x. */
static double max_abs(const double *x, int n)
{
    double max = 0.0;
    for (int i = 0; i < n; i++)
        max = fmax(max, fabs(x[i]));
    return max;
}

/* ---- the ratio test ---- */

/* Value of the entering variable at which the basic variable at position i reaches 0. */
static double vanishing_ratio(const TalusLemke *l, int i)
{
    return fmax(l->basis.x[i], 0.0) / l->y[i];
}

/* Writes to l->tied the positions whose variables reach 0 first as the variable l->enters grows. Returns their
 * number. */
static int find_tied(TalusLemke *l)
{
    const int n = l->basis.lcp->n;
    double least = INFINITY, floor = PIVOT * fmax(1.0, max_abs(l->y, n));
    int count = 0;
    for (int i = 0; i < n; i++)
        if (l->y[i] > floor)
            least = fmin(least, vanishing_ratio(l, i));
    for (int i = 0; i < n; i++)
        if (l->y[i] > floor && fmax(l->basis.x[i], 0.0) - least * l->y[i] <= TIED * least * l->y[i])
            l->tied[count++] = i;
    return count;
}

/* Reduces l->tied to the positions i with the least (B^-1)_ij / y_i: the lexicographic test in column j. Returns their
 * number. */
static int reduce_tied(TalusLemke *l, int count, int j)
{
    double least = INFINITY, size = 0.0;
    int kept = 0;
    for (int k = 0; k < count; k++) {
        int i = l->tied[k];
        l->rate[k] = talus_basis_inverse_entry(&l->basis, i, j) / l->y[i];
        least = fmin(least, l->rate[k]);
        size = fmax(size, fmax(fabs(l->rate[k]), 1.0 / l->y[i]));
    }
    for (int k = 0; k < count; k++)
        if (l->rate[k] - least <= TIED * size)
            l->tied[kept++] = l->tied[k];
    return kept;
}

/* True if z_0, at `position`, reaches 0 together with the first of the `count` tied variables: then the pivot solves
 * the problem. */
static bool solves_problem(const TalusLemke *l, int position, int count)
{
    double least = INFINITY;
    for (int k = 0; k < count; k++)
        least = fmin(least, vanishing_ratio(l, l->tied[k]));
    return l->basis.x[position] - least * l->y[position] <= OVER * l->basis.x[position];
}

/* Returns the position in the basis whose variable leaves; -1 on a ray, where no variable falls. z_0 (number 2 n) is
 * preferred to other variables that reach 0 with it, since z_0 = 0 is a solution. */
static int choose_leaving(TalusLemke *l)
{
    const int n = l->basis.lcp->n;
    int count = find_tied(l);
    for (int k = 0; k < count; k++)
        if (l->basis.basic[l->tied[k]] == 2 * n && solves_problem(l, l->tied[k], count))
            return l->tied[k];
    for (int j = 0; j < n && count > 1 && l->ties == TALUS_TIES_LEXICOGRAPHIC; j++)
        count = reduce_tied(l, count, j);
    return count > 0 ? l->tied[0] : -1;
}

/* ---- pivots ---- */

/* Recomputes the inverse of the basis from the data and counts the factorisation. */
static TalusStatus refactor_basis(TalusLemke *l)
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

/* Brings l->enters into the basis at `position`; l->enters becomes the complement of the variable that leaves. */
static TalusStatus exchange_variables(TalusLemke *l, int position)
{
    int leaves = l->basis.basic[position];
    TALUS_TRY(talus_basis_exchange(&l->basis, l->enters, position, l->y));
    l->enters = complement(l, leaves);
    l->age++;
    return TALUS_OK;
}

/* Fills l->tied with the positions at which z_0 must enter if it is to be as small as possible while all basic
 * variables stay >= 0; l->y is minus the column of z_0. Returns their number; at least one variable is negative. */
static int find_entry(TalusLemke *l)
{
    const TalusBasis *b = &l->basis;
    double most = 0.0;
    int count = 0;
    for (int i = 0; i < b->lcp->n; i++)
        if (b->x[i] < 0.0)
            most = fmax(most, -b->x[i] / l->y[i]);
    for (int i = 0; i < b->lcp->n; i++)
        if (b->x[i] < 0.0 && -b->x[i] / l->y[i] >= most)
            l->tied[count++] = i;
    return count;
}

/* Brings z_0 into the basis, at the lexicographic minimum of the rows of B^-1 over those of B^-1 d where several
 * variables tie: all rows of [x, B^-1] are then lexicographically positive. */
static TalusStatus enter_z0(TalusLemke *l)
{
    const int n = l->basis.lcp->n;
    l->enters = 2 * n;
    talus_basis_compute_column(&l->basis, l->enters, l->y);
    for (int i = 0; i < n; i++)
        l->y[i] = -l->y[i];
    int count = find_entry(l);
    for (int j = 0; j < n && count > 1; j++)
        count = reduce_tied(l, count, j);
    for (int i = 0; i < n; i++)
        l->y[i] = -l->y[i];
    return exchange_variables(l, l->tied[0]);
}

/* Reserves memory, sets the basis in which all w are basic and zeroes the counts. */
static TalusStatus reserve_path(TalusLemke *l, const TalusLcp *lcp, const double *cover)
{
    size_t n = (size_t)lcp->n;
    TALUS_TRY(talus_basis_begin(&l->basis, lcp, cover));
    TALUS_TRY(TALUS_GROW(l->y, n, 0, "entering column"));
    TALUS_TRY(TALUS_GROW(l->rate, n, 0, "ratio test"));
    TALUS_TRY(TALUS_GROW(l->tied, n, 0, "ratio test"));
    l->enters = -1;
    l->age = l->factorisations = 0;
    return TALUS_OK;
}

/* True if all basic variables are >= 0. */
static bool is_feasible(const TalusBasis *b)
{
    for (int i = 0; i < b->lcp->n; i++)
        if (b->x[i] < 0.0)
            return false;
    return true;
}

/* Sets *state to SOLVED if the basis without z_0 is feasible, else to GOING, and makes the first pivot. */
static TalusStatus start_path(TalusLemke *l, TalusLemkeState *state)
{
    *state = is_feasible(&l->basis) ? TALUS_LEMKE_SOLVED : TALUS_LEMKE_GOING;
    return *state == TALUS_LEMKE_SOLVED ? TALUS_OK : enter_z0(l);
}

TalusStatus talus_lemke_begin(TalusLemke *l, const TalusLcp *lcp, const double *cover,
                              TalusLemkeState *state)
{
    TALUS_TRY(reserve_path(l, lcp, cover));
    return start_path(l, state);
}

TalusStatus talus_lemke_begin_at(TalusLemke *l, const TalusLcp *lcp, const bool *has_z,
                                 const double *start, double *cover, TalusLemkeState *state)
{
    TALUS_TRY(reserve_path(l, lcp, cover));
    TALUS_TRY(talus_basis_set(&l->basis, has_z));
    TalusStatus status = refactor_basis(l);
    if (status == TALUS_ERR_NUMERIC) {
        *state = TALUS_LEMKE_BROKEN;
        return TALUS_OK;
    }
    TALUS_TRY(status);
    talus_basis_compute_residual(&l->basis, start, cover);
    for (int i = 0; i < lcp->n; i++)
        cover[i] = -cover[i];
    return start_path(l, state);
}

void talus_lemke_spread(int n, int seed, double *x)
{
    uint32_t state = (uint32_t)seed;
    for (int i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        x[i] = 1.0 + (double)(state >> 16) * 0x1p-16;
    }
}

/* Computes the entering column l->y and sets entries that are only rounding to 0: they would hide ties. */
static void compute_entering_column(TalusLemke *l)
{
    const int n = l->basis.lcp->n;
    talus_basis_compute_column(&l->basis, l->enters, l->y);
    double floor = ZERO * fmax(1.0, max_abs(l->y, n));
    for (int i = 0; i < n; i++)
        l->y[i] = fabs(l->y[i]) <= floor ? 0.0 : l->y[i];
}

/* Computes the entering column and finds the position in the basis whose variable leaves, -1 on a ray. If the pivot is
 * below SMALL, or on a ray, first factorises the basis again, unless no pivot was made since the last factorisation. */
static TalusStatus find_pivot(TalusLemke *l, int *position)
{
    compute_entering_column(l);
    *position = choose_leaving(l);
    if (l->age == 0 || (*position >= 0 && l->y[*position] >= SMALL))
        return TALUS_OK;
    TALUS_TRY(refactor_basis(l));
    compute_entering_column(l);
    *position = choose_leaving(l);
    return TALUS_OK;
}

/* True if the basis must be factorised again: after l->refactor pivots, or if q - B x exceeds DRIFT. */
static bool needs_refactoring(const TalusLemke *l)
{
    return l->age >= l->refactor ||
           !(talus_basis_residual_max(&l->basis) <= DRIFT * max_abs(l->basis.x, l->basis.lcp->n));
}

/* As talus_lemke_pivot; TALUS_ERR_NUMERIC: the basis is singular. */
static TalusStatus try_pivot(TalusLemke *l, TalusLemkeState *state)
{
    int position;
    TALUS_TRY(find_pivot(l, &position));
    if (position < 0) {
        *state = TALUS_LEMKE_RAY;
        return TALUS_OK;
    }
    TALUS_TRY(exchange_variables(l, position));
    *state = l->enters < 0 ? TALUS_LEMKE_SOLVED : TALUS_LEMKE_GOING;
    return l->enters < 0 || needs_refactoring(l) ? refactor_basis(l) : TALUS_OK;
}

TalusStatus talus_lemke_pivot(TalusLemke *l, TalusLemkeState *state)
{
    TalusStatus status = try_pivot(l, state);
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

void talus_lemke_get_point(const TalusLemke *l, double *z)
{
    const TalusBasis *b = &l->basis;
    const int n = b->lcp->n;
    for (int j = 0; j < n; j++)
        z[j] = b->position_of[n + j] < 0 ? 0.0 : fmax(b->x[b->position_of[n + j]], 0.0);
}

double talus_lemke_get_artificial(const TalusLemke *l)
{
    int position = l->basis.position_of[2 * l->basis.lcp->n];
    return position < 0 ? 0.0 : l->basis.x[position];
}

void talus_lemke_get_ray(const TalusLemke *l, double *z)
{
    const TalusBasis *b = &l->basis;
    const int n = b->lcp->n;
    for (int j = 0; j < n; j++)
        z[j] = b->position_of[n + j] < 0 ? 0.0 : fmax(-l->y[b->position_of[n + j]], 0.0);
    if (l->enters >= n && l->enters < 2 * n)
        z[l->enters - n] = 1.0;
}

/* solvers/pivot/lcp_newton.c - Newton directions of the min map of an LCP (lcp_newton.h). */
#include "solvers/pivot/lcp_newton.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

/* Maximum number of pivots of a mixed LCP, divided by its number of unknowns plus 10. */
enum { LONG = 20, REFACTOR = 100 };

/* ---- points ---- */

TalusStatus talus_lcp_point_reserve(TalusLcpPoint *point, int n)
{
    TALUS_TRY(TALUS_GROW(point->z, (size_t)n, 0, "point of the LCP"));
    return TALUS_GROW(point->w, (size_t)n, 0, "point of the LCP");
}

void talus_lcp_point_clear(TalusLcpPoint *point)
{
    TALUS_RELEASE(point->z, point->w);
    *point = (TalusLcpPoint){0};
}

void talus_lcp_point_evaluate(TalusLcpPoint *point, const TalusLcp *lcp)
{
    memcpy(point->w, lcp->q, (size_t)lcp->n * sizeof *point->w);
    for (int j = 0; j < lcp->n; j++)
        for (int32_t k = lcp->start[j]; point->z[j] != 0.0 && k < lcp->start[j + 1]; k++)
            point->w[lcp->row[k]] += lcp->value[k] * point->z[j];
    double sum = 0.0;
    for (int i = 0; i < lcp->n; i++) {
        double h = fmin(point->z[i], point->w[i]);
        sum += h * h;
    }
    point->merit = 0.5 * sum;
}

void talus_lcp_point_copy(const TalusLcpPoint *from, int n, TalusLcpPoint *to)
{
    memcpy(to->z, from->z, (size_t)n * sizeof *to->z);
    memcpy(to->w, from->w, (size_t)n * sizeof *to->w);
    to->merit = from->merit;
}

double talus_lcp_point_size(const TalusLcpPoint *point, int n)
{
    double max = 0.0;
    for (int i = 0; i < n; i++)
        max = fmax(max, fabs(point->z[i]));
    return max;
}

bool talus_lcp_point_has_grown(const TalusLcpPoint *point, int n, double *size)
{
    double now = talus_lcp_point_size(point, n);
    bool grown = now > 100.0 * *size;
    *size = grown ? now : *size;
    return grown;
}

/* ---- regularised problems ---- */

/* Appends column j of M + weight I to *out, from entry `at` on; M may lack its diagonal entry. Returns the end of the
 * column. */
static int32_t append_column(const TalusLcp *lcp, int j, double weight, int32_t at, TalusLcp *out)
{
    bool diagonal = false;
    out->start[j] = at;
    for (int32_t k = lcp->start[j]; k < lcp->start[j + 1]; k++) {
        out->row[at] = lcp->row[k];
        out->value[at++] = lcp->value[k] + (lcp->row[k] == j ? weight : 0.0);
        diagonal |= lcp->row[k] == j;
    }
    if (!diagonal) {
        out->row[at] = j;
        out->value[at++] = weight;
    }
    return at;
}

TalusStatus talus_lcp_regularise(const TalusLcp *lcp, double weight, const double *centre,
                                 TalusLcp *out)
{
    const size_t n = (size_t)lcp->n, entries = (size_t)lcp->start[lcp->n] + n;
    int32_t at = 0;
    out->n = lcp->n;
    TALUS_TRY(TALUS_GROW(out->start, n + 1, 0, "regularised LCP"));
    TALUS_TRY(TALUS_GROW(out->row, entries, 0, "regularised LCP"));
    TALUS_TRY(TALUS_GROW(out->value, entries, 0, "regularised LCP"));
    TALUS_TRY(TALUS_GROW(out->q, n, 0, "regularised LCP"));
    for (int j = 0; j < lcp->n; j++) {
        at = append_column(lcp, j, weight, at, out);
        out->q[j] = lcp->q[j] - weight * centre[j];
    }
    out->start[lcp->n] = at;
    return TALUS_OK;
}

void talus_lcp_clear(TalusLcp *lcp)
{
    TALUS_RELEASE(lcp->start, lcp->row, lcp->value, lcp->q);
    *lcp = (TalusLcp){0};
}

/* ---- directions ---- */

static TalusStatus reserve(TalusLcpNewton *w, int n)
{
    TALUS_TRY(TALUS_GROW(w->has_z, (size_t)n, 0, "index sets"));
    TALUS_TRY(TALUS_GROW(w->tied, (size_t)n, 0, "index sets"));
    return TALUS_GROW(w->target, (size_t)n, 0, "Newton step");
}

/* Sorts the indices into equations, zeros and tied ones. */
static void split_indices(TalusLcpNewton *w, const TalusLcpPoint *at, int n, double equal)
{
    w->tied_count = 0;
    for (int i = 0; i < n; i++) {
        double ahead = at->z[i] - at->w[i];
        bool tied = fabs(ahead) <= equal;
        w->has_z[i] = !tied && ahead > 0.0;
        if (tied)
            w->tied[w->tied_count++] = i;
    }
    w->most_tied = w->tied_count > w->most_tied ? w->tied_count : w->most_tied;
}

/* Reserves the LCP of the tied indices, with a full matrix. */
static TalusStatus reserve_rest(TalusLcpNewton *w)
{
    const size_t m = (size_t)w->tied_count, n = (size_t)w->lcp.n;
    w->rest.n = w->tied_count;
    TALUS_TRY(TALUS_GROW(w->rest.start, m + 1, 0, "mixed LCP"));
    TALUS_TRY(TALUS_GROW(w->rest.row, m * m, 0, "mixed LCP"));
    TALUS_TRY(TALUS_GROW(w->rest.value, m * m, 0, "mixed LCP"));
    TALUS_TRY(TALUS_GROW(w->rest.q, m, 0, "mixed LCP"));
    TALUS_TRY(TALUS_GROW(w->cover, m, 0, "mixed LCP"));
    TALUS_TRY(TALUS_GROW(w->rest_z, m, 0, "mixed LCP"));
    return TALUS_GROW(w->column, m * n, 0, "mixed LCP");
}

/* Fills the LCP of the tied indices. With the equations eliminated, basic variables are x - y_j z_j over the tied j,
 * y_j being B^-1 times the column of z_j: so the Schur complement has the entries -y_j of the tied w. */
static void fill_rest(TalusLcpNewton *w)
{
    const int m = w->tied_count, n = w->lcp.n;
    for (int j = 0; j < m; j++) {
        double *y = w->column + (size_t)j * (size_t)n;
        talus_basis_compute_column(&w->basis, n + w->tied[j], y);
        w->rest.start[j] = j * m;
        w->rest.q[j] = w->basis.x[w->tied[j]];
        for (int i = 0; i < m; i++) {
            w->rest.row[j * m + i] = i;
            w->rest.value[j * m + i] = -y[w->tied[i]];
        }
    }
    w->rest.start[m] = m * m;
}

/* Solves the LCP of the tied indices by Lemke's method into w->rest_z. */
static TalusStatus solve_rest(TalusLcpNewton *w, bool *solved)
{
    TalusLemkeState state;
    int last = LONG * (w->tied_count + 10);
    TALUS_TRY(reserve_rest(w));
    fill_rest(w);
    talus_lemke_spread(w->tied_count, 0, w->cover);
    w->lemke.ties = TALUS_TIES_LEXICOGRAPHIC;
    w->lemke.refactor = REFACTOR;
    TALUS_TRY(talus_lemke_begin(&w->lemke, &w->rest, w->cover, &state));
    for (int k = 0; state == TALUS_LEMKE_GOING && k < last; k++, w->pivots++)
        TALUS_TRY(talus_lemke_pivot(&w->lemke, &state));
    talus_lemke_get_point(&w->lemke, w->rest_z);
    *solved = state == TALUS_LEMKE_SOLVED;
    return TALUS_OK;
}

/* Writes z+: the equations' z, from which the tied ones are subtracted, the tied z, and zeros. */
static void set_target(TalusLcpNewton *w)
{
    const int n = w->lcp.n;
    for (int i = 0; i < n; i++)
        w->target[i] = w->has_z[i] ? w->basis.x[i] : 0.0;
    for (int j = 0; j < w->tied_count; j++) {
        const double *y = w->column + (size_t)j * (size_t)n;
        for (int i = 0; i < n && w->rest_z[j] != 0.0; i++)
            w->target[i] -= w->has_z[i] ? y[i] * w->rest_z[j] : 0.0;
        w->target[w->tied[j]] = w->rest_z[j];
    }
}

/* Factorises the basis of the equations; its inverse is needed only if some index is tied. */
static TalusStatus eliminate_equations(TalusLcpNewton *w)
{
    TALUS_TRY(talus_basis_begin(&w->basis, &w->lcp, NULL));
    TALUS_TRY(talus_basis_set(&w->basis, w->has_z));
    w->factorisations++;
    return w->tied_count > 0 ? talus_basis_factor(&w->basis) : talus_basis_solve(&w->basis);
}

TalusStatus talus_lcp_newton_find(TalusLcpNewton *w, const TalusLcp *lcp, const TalusLcpPoint *at,
                                  const TalusLcpNewtonOptions *options, TalusLcpStep *step)
{
    bool solved = true;
    TALUS_TRY(reserve(w, lcp->n));
    TALUS_TRY(talus_lcp_regularise(lcp, options->regularise, at->z, &w->lcp));
    split_indices(w, at, lcp->n, options->equal);
    TalusStatus status = eliminate_equations(w);
    if (status == TALUS_ERR_NUMERIC) {
        *step = TALUS_LCP_STEP_SINGULAR;
        return TALUS_OK;
    }
    TALUS_TRY(status);
    if (w->tied_count > 0)
        TALUS_TRY(solve_rest(w, &solved));
    set_target(w);
    *step = solved ? TALUS_LCP_STEP_FOUND : TALUS_LCP_STEP_RAY;
    return TALUS_OK;
}

void talus_lcp_newton_clear(TalusLcpNewton *w)
{
    talus_lcp_clear(&w->lcp);
    talus_lcp_clear(&w->rest);
    talus_basis_clear(&w->basis);
    talus_lemke_clear(&w->lemke);
    TALUS_RELEASE(w->has_z, w->tied, w->column, w->cover, w->rest_z, w->target);
    *w = (TalusLcpNewton){0};
}

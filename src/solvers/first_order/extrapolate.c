/* solvers/first_order/extrapolate.c - Anderson's memory and its coefficients. */
#include "solvers/first_order/extrapolate.h"

#include "base/status.h"
#include "solvers/first_order/dense.h"

#include <math.h>

static const double LARGEST = 1e5;      /* maximum sum of the coefficients' sizes */
static const double ROUNDING = 0x1p-50; /* rounding of f, relative to h */
static const double SLACK = 1.0 + 1e-6; /* growth of |f| in a plain step that is rounding */
static const double DRIFT = 0.9999;     /* share of |f|^2 that no memory explains */
static const double LONGEST = 65536.0;  /* maximum stride */

static void swap(TalusVector *a, TalusVector *b)
{
    TalusVector t = *a;
    *a = *b;
    *b = t;
}

static TalusStatus reserve(TalusSolve *solve, TalusVector *v)
{
    size_t n = (size_t)solve->op->rows * (size_t)solve->op->blocks;
    return solve->backend->vector.reserve(solve->op, &v->at, &v->capacity, n, "Anderson's memory");
}

TalusStatus talus_extrapolate_begin(TalusExtrapolation *e, TalusSolve *solve, int parts, int memory)
{
    e->parts = parts;
    e->memory = memory;
    for (int i = 0; i < parts; i++) {
        TalusExtrapolated *p = &e->part[i];
        TALUS_TRY(reserve(solve, &p->y));
        TALUS_TRY(reserve(solve, &p->h));
        TALUS_TRY(reserve(solve, &p->f_prev));
        TALUS_TRY(reserve(solve, &p->h_prev));
        for (int k = 0; k < memory; k++) {
            TALUS_TRY(reserve(solve, &p->df[k]));
            TALUS_TRY(reserve(solve, &p->dh[k]));
        }
    }
    talus_extrapolate_forget(e);
    return TALUS_OK;
}

void talus_extrapolate_clear(TalusExtrapolation *e, const TalusBackend *backend)
{
    for (int i = 0; i < TALUS_EXTRAPOLATE_PARTS; i++) {
        TalusExtrapolated *p = &e->part[i];
        backend->vector.release(p->y.at);
        backend->vector.release(p->h.at);
        backend->vector.release(p->f_prev.at);
        backend->vector.release(p->h_prev.at);
        for (int k = 0; k < TALUS_EXTRAPOLATE_MEMORY; k++) {
            backend->vector.release(p->df[k].at);
            backend->vector.release(p->dh[k].at);
        }
    }
}

static void empty(TalusExtrapolation *e)
{
    e->count = e->next = 0;
    e->has_last = e->extrapolated = false;
    e->stride = 0.0;
}

void talus_extrapolate_forget(TalusExtrapolation *e)
{
    empty(e);
    e->last = INFINITY;
}

/* sums[k] = dF_k'f, or dF_k'dF_slot, over all parts. */
static void products(const TalusExtrapolation *e, TalusSolve *solve, bool with_f, int slot,
                     double *sums)
{
    for (int k = 0; k < e->count; k++)
        sums[k] = 0.0;
    for (int i = 0; i < e->parts; i++) {
        const TalusExtrapolated *p = &e->part[i];
        const double *df[TALUS_EXTRAPOLATE_MEMORY];
        double part[TALUS_EXTRAPOLATE_MEMORY];
        for (int k = 0; k < e->count; k++)
            df[k] = p->df[k].at;
        solve->backend->vector.dots(solve->op, e->count, df, with_f ? p->y.at : df[slot], part);
        for (int k = 0; k < e->count; k++)
            sums[k] += part[k];
    }
}

static double size_of_h(const TalusExtrapolation *e, TalusSolve *solve)
{
    double size2 = 0.0;
    for (int i = 0; i < e->parts; i++)
        size2 += solve->backend->vector.dot(solve->op, e->part[i].h.at, e->part[i].h.at);
    return size2;
}

/* Stores the differences to the last point; f_prev and h_prev are then free. False if f changed only by rounding. */
static bool remember(TalusExtrapolation *e, TalusSolve *solve)
{
    double row[TALUS_EXTRAPOLATE_MEMORY];
    int slot = e->next;
    for (int i = 0; i < e->parts; i++) {
        TalusExtrapolated *p = &e->part[i];
        solve->backend->vector.axpby(solve->op, 1.0, p->y.at, -1.0, p->f_prev.at);
        solve->backend->vector.axpby(solve->op, 1.0, p->h.at, -1.0, p->h_prev.at);
        swap(&p->f_prev, &p->df[slot]);
        swap(&p->h_prev, &p->dh[slot]);
    }
    e->count = e->count < e->memory ? e->count + 1 : e->count;
    e->next = (slot + 1) % e->memory;
    products(e, solve, false, slot, row);
    bool noise = row[slot] <= ROUNDING * ROUNDING * size_of_h(e, solve);
    for (int k = 0; k < e->count; k++)
        e->gram[slot][k] = e->gram[k][slot] = noise ? 0.0 : row[k];
    return !noise;
}

/* |f - dF c|^2 */
static double left_over(const TalusExtrapolation *e, double size2, const double *right,
                        const double *c)
{
    double sum = size2;
    for (int i = 0; i < e->count; i++) {
        sum -= 2.0 * c[i] * right[i];
        for (int k = 0; k < e->count; k++)
            sum += c[i] * c[k] * e->gram[i][k];
    }
    return sum;
}

/* Computes the coefficients. False if they are useless. */
static bool coefficients(const TalusExtrapolation *e, TalusSolve *solve, double size2,
                         double *left2, double *c)
{
    double right[TALUS_EXTRAPOLATE_MEMORY], total = 0.0;
    if (e->count == 0)
        return false;
    products(e, solve, true, 0, right);
    if (!talus_dense_normal(e->count, TALUS_EXTRAPOLATE_MEMORY, e->gram[0], right, e->regular, c))
        return false;
    for (int k = 0; k < e->count; k++)
        total += fabs(c[k]);
    if (!(total <= LARGEST))
        return false;
    *left2 = left_over(e, size2, right, c);
    return true;
}

/* y' = h - dH c + stride (f - dF c) with the first `used` differences. f and h become the previous ones. */
static void advance(TalusExtrapolation *e, TalusSolve *solve, int used, const double *c)
{
    const double *v[TALUS_VECTORS];
    double a[TALUS_VECTORS];
    for (int i = 0; i < e->parts; i++) {
        TalusExtrapolated *p = &e->part[i];
        int n = 0;
        for (int k = 0; k < used; k++) {
            v[n] = p->dh[k].at;
            a[n++] = -c[k];
        }
        for (int k = 0; k < used && e->stride > 0.0; k++) {
            v[n] = p->df[k].at;
            a[n++] = -e->stride * c[k];
        }
        v[n] = p->h.at;
        a[n++] = 1.0;
        v[n] = p->y.at;
        a[n++] = e->stride;
        swap(&p->y, &p->f_prev);
        solve->backend->vector.combine(solve->op, e->stride > 0.0 ? n : n - 1, v, a, p->y.at);
        swap(&p->h, &p->h_prev);
    }
    e->has_last = true;
}

TalusExtrapolateStep talus_extrapolate(TalusExtrapolation *e, TalusSolve *solve)
{
    double c[TALUS_EXTRAPOLATE_MEMORY], size2 = 0.0;
    for (int i = 0; i < e->parts; i++) { /* f overwrites y */
        TalusExtrapolated *p = &e->part[i];
        solve->backend->vector.axpby(solve->op, 1.0, p->h.at, -1.0, p->y.at);
        size2 += solve->backend->vector.dot(solve->op, p->y.at, p->y.at);
    }
    double size = sqrt(size2), last = e->last;
    if (e->extrapolated && size > e->factor * last) {
        for (int i = 0; i < e->parts; i++)
            talus_copy(solve, e->part[i].h_prev.at, e->part[i].y.at);
        empty(e);
        return TALUS_EXTRAPOLATE_BACK;
    }
    bool expanded = !e->extrapolated && size > SLACK * last;
    e->last = size;
    bool changes = true;
    if (expanded)
        empty(e);
    else if (e->has_last && e->memory > 0)
        changes = remember(e, solve);
    double left2 = size2;
    bool use = changes && coefficients(e, solve, size2, &left2, c);
    bool drifts = e->count > 0 && left2 > DRIFT * size2;
    e->stride = drifts ? fmin(fmax(1.0, 2.0 * e->stride), LONGEST) : 0.0;
    e->extrapolated = use || e->stride > 0.0;
    advance(e, solve, use ? e->count : 0, c);
    return expanded ? TALUS_EXTRAPOLATE_EXPANDED : TALUS_EXTRAPOLATE_ON;
}

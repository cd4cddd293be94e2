/* solvers/first_order/extrapolate.c - Anderson's memory and its coefficients (extrapolate.h). */
#include "solvers/first_order/extrapolate.h"

#include "base/status.h"
#include "solvers/first_order/dense.h"

#include <math.h>

static const double LARGEST = 1e5;      /* maximum sum of |c_k| */
static const double ROUNDING = 0x1p-50; /* rounding of f, relative to h */
static const double SLACK = 1.0 + 1e-6; /* growth of |f| in a plain step that counts as rounding */
static const double DRIFT = 0.9999;     /* |f - dF c|^2 / |f|^2 from which f counts as constant */
static const double LONGEST = 65536.0;  /* maximum stride */

/* Reserves the vectors of one part of y. */
static TalusStatus reserve_part(TalusSolve *solve, TalusExtrapolated *p, int memory)
{
    double *vector[4 + 2 * TALUS_EXTRAPOLATE_MEMORY];
    TALUS_TRY(
        talus_vectors_reserve(solve, &p->memory, 4 + 2 * memory, vector, "Anderson's memory"));
    p->y = vector[0];
    p->h = vector[1];
    p->f_prev = vector[2];
    p->h_prev = vector[3];
    for (int k = 0; k < memory; k++) {
        p->df[k] = vector[4 + k];
        p->dh[k] = vector[4 + memory + k];
    }
    return TALUS_OK;
}

TalusStatus talus_extrapolate_begin(TalusExtrapolation *e, TalusSolve *solve, int parts, int memory)
{
    e->parts = parts;
    e->memory = memory;
    for (int i = 0; i < parts; i++)
        TALUS_TRY(reserve_part(solve, &e->part[i], memory));
    talus_extrapolate_empty_memory(e);
    return TALUS_OK;
}

/* Drops the stored differences; |f| of the last accepted point stays. */
static void drop_differences(TalusExtrapolation *e)
{
    e->count = e->next = 0;
    e->has_last = e->extrapolated = false;
    e->stride = 0.0;
}

void talus_extrapolate_empty_memory(TalusExtrapolation *e)
{
    drop_differences(e);
    e->last = INFINITY;
}

/* sums[k] = dF_k'f if `with_f` (f is then in y), else dF_k'dF_slot, summed over all parts of y. */
static void sum_products(const TalusExtrapolation *e, TalusSolve *solve, bool with_f, int slot,
                         double *sums)
{
    for (int k = 0; k < e->count; k++)
        sums[k] = 0.0;
    for (int i = 0; i < e->parts; i++) {
        const TalusExtrapolated *p = &e->part[i];
        const double *df[TALUS_EXTRAPOLATE_MEMORY];
        double part[TALUS_EXTRAPOLATE_MEMORY];
        for (int k = 0; k < e->count; k++)
            df[k] = p->df[k];
        solve->backend->vector.dots(solve->op, e->count, df, with_f ? p->y : df[slot], part);
        for (int k = 0; k < e->count; k++)
            sums[k] += part[k];
    }
}

/* Returns |h|^2, summed over all parts. */
static double squared_size_of_h(const TalusExtrapolation *e, TalusSolve *solve)
{
    double size2 = 0.0;
    for (int i = 0; i < e->parts; i++)
        size2 += solve->backend->vector.dot(solve->op, e->part[i].h, e->part[i].h);
    return size2;
}

/* Stores the differences of f and h to those of the last point, in place of the oldest differences if the memory is
 * full, and updates the Gram matrix. On entry f is in y; on return f_prev and h_prev are undefined. Returns false if f
 * changed only by rounding of h. */
static bool store_differences(TalusExtrapolation *e, TalusSolve *solve)
{
    double row[TALUS_EXTRAPOLATE_MEMORY];
    int slot = e->next;
    for (int i = 0; i < e->parts; i++) {
        TalusExtrapolated *p = &e->part[i];
        solve->backend->vector.axpby(solve->op, 1.0, p->y, -1.0, p->f_prev);
        solve->backend->vector.axpby(solve->op, 1.0, p->h, -1.0, p->h_prev);
        talus_vector_swap(&p->f_prev, &p->df[slot]);
        talus_vector_swap(&p->h_prev, &p->dh[slot]);
    }
    e->count = e->count < e->memory ? e->count + 1 : e->count;
    e->next = (slot + 1) % e->memory;
    sum_products(e, solve, false, slot, row);
    bool noise = row[slot] <= ROUNDING * ROUNDING * squared_size_of_h(e, solve);
    for (int k = 0; k < e->count; k++)
        e->gram[slot][k] = e->gram[k][slot] = noise ? 0.0 : row[k];
    return !noise;
}

/* Returns |f - dF c|^2 from size2 = |f|^2, right = dF'f and the Gram matrix. */
static double squared_remainder(const TalusExtrapolation *e, double size2, const double *right,
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

/* Computes the coefficients c and *left2 = |f - dF c|^2; size2 is |f|^2. False, with *left2 unchanged, if there are no
 * differences, their equations cannot be solved or the |c_k| add up to more than LARGEST. */
static bool compute_coefficients(const TalusExtrapolation *e, TalusSolve *solve, double size2,
                                 double *left2, double *c)
{
    double right[TALUS_EXTRAPOLATE_MEMORY], total = 0.0;
    if (e->count == 0)
        return false;
    sum_products(e, solve, true, 0, right);
    if (!talus_dense_least_squares(e->count, TALUS_EXTRAPOLATE_MEMORY, e->gram[0], right,
                                   e->regular, c))
        return false;
    for (int k = 0; k < e->count; k++)
        total += fabs(c[k]);
    if (!(total <= LARGEST))
        return false;
    *left2 = squared_remainder(e, size2, right, c);
    return true;
}

/* Sets the next y to h - dH c + stride (f - dF c) with the first `used` differences. On entry f is in y; on return f
 * and h are in f_prev and h_prev. */
static void write_next_y(TalusExtrapolation *e, TalusSolve *solve, int used, const double *c)
{
    const double *v[TALUS_VECTORS];
    double a[TALUS_VECTORS];
    for (int i = 0; i < e->parts; i++) {
        TalusExtrapolated *p = &e->part[i];
        int n = 0;
        for (int k = 0; k < used; k++) {
            v[n] = p->dh[k];
            a[n++] = -c[k];
        }
        for (int k = 0; k < used && e->stride > 0.0; k++) {
            v[n] = p->df[k];
            a[n++] = -e->stride * c[k];
        }
        v[n] = p->h;
        a[n++] = 1.0;
        v[n] = p->y;
        a[n++] = e->stride;
        talus_vector_swap(&p->y, &p->f_prev);
        solve->backend->vector.combine(solve->op, e->stride > 0.0 ? n : n - 1, v, a, p->y);
        talus_vector_swap(&p->h, &p->h_prev);
    }
    e->has_last = true;
}

TalusExtrapolateStep talus_extrapolate_next(TalusExtrapolation *e, TalusSolve *solve)
{
    double c[TALUS_EXTRAPOLATE_MEMORY], size2 = 0.0;
    for (int i = 0; i < e->parts; i++) { /* f overwrites y */
        TalusExtrapolated *p = &e->part[i];
        solve->backend->vector.axpby(solve->op, 1.0, p->h, -1.0, p->y);
        size2 += solve->backend->vector.dot(solve->op, p->y, p->y);
    }
    double size = sqrt(size2), last = e->last;
    if (e->extrapolated && size > e->factor * last) {
        for (int i = 0; i < e->parts; i++)
            talus_vector_copy(solve, e->part[i].h_prev, e->part[i].y);
        drop_differences(e);
        return TALUS_EXTRAPOLATE_BACK;
    }
    bool expanded = !e->extrapolated && size > SLACK * last;
    e->last = size;
    bool changes = true;
    if (expanded)
        drop_differences(e);
    else if (e->has_last && e->memory > 0)
        changes = store_differences(e, solve);
    double left2 = size2;
    bool use = changes && compute_coefficients(e, solve, size2, &left2, c);
    bool drifts = e->count > 0 && left2 > DRIFT * size2;
    e->stride = drifts ? fmin(fmax(1.0, 2.0 * e->stride), LONGEST) : 0.0;
    e->extrapolated = use || e->stride > 0.0;
    write_next_y(e, solve, use ? e->count : 0, c);
    return expanded ? TALUS_EXTRAPOLATE_EXPANDED : TALUS_EXTRAPOLATE_ON;
}

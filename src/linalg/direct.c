/* linalg/direct.c - what the direct solvers (direct.h) share: their table, checks, the stored pattern, refinement. */
#include "linalg/direct.h"

#include "base/memory.h"
#include "base/status.h"
#include "linalg/direct_make.h"

#include <math.h>
#include <string.h>

static const TalusDirectMethod *const methods[TALUS_DIRECT_KINDS] = {
    [TALUS_DIRECT_LDL] = &talus_direct_ldl,
    [TALUS_DIRECT_CHOLMOD] = &talus_direct_cholmod,
    [TALUS_DIRECT_MUMPS] = &talus_direct_mumps,
};

struct TalusDirect {
    const TalusDirectMethod *method;
    void *state;            /* of the method */
    TalusDirectFacts facts; /* without bytes */
    double max_entries;     /* limit of entries of a factor; 0: TALUS_DIRECT_MAX_ENTRIES */
    size_t reported_bytes;  /* bytes of a package last reported to memory.h */
    bool analysed;          /* `pattern` has been analysed */
    bool factored;          /* the last factorisation succeeded */
    TalusSparse pattern;    /* pattern analysed last; no values */
    int8_t *sign;           /* [rows]: signs of the pivots */
    /* [rows] each, for refinement: b; b - A x, then the correction; x before the step */
    double *right, *rest, *trial;
};

const char *talus_direct_name(TalusDirectKind kind)
{
    return methods[kind]->name;
}

const char *talus_direct_missing(TalusDirectKind kind)
{
    return methods[kind]->missing;
}

/* Reports to base/memory.h how many bytes a package (cholmod, mumps) holds now; memory of ldl is counted when it is
 * allocated. */
static void report_package_memory(TalusDirect *d)
{
    size_t now = d->method->allocates_itself ? d->method->bytes(d->state) : 0;
    talus_memory_count_external(d->reported_bytes, now);
    d->reported_bytes = now;
}

TalusStatus talus_direct_create(TalusDirectKind kind, TalusDirect **out)
{
    TalusDirect *d;
    *out = NULL;
    if (methods[kind]->missing)
        return talus_fail(TALUS_ERR_UNSUPPORTED, "%s is not in this build: %s", methods[kind]->name,
                          methods[kind]->missing);
    TALUS_TRY(TALUS_ALLOC(d, 1, "direct solver"));
    d->method = methods[kind];
    TalusStatus status = d->method->create(&d->state);
    if (status != TALUS_OK) {
        talus_release(d);
        return status;
    }
    *out = d;
    return TALUS_OK;
}

/* Releases the stored pattern and signs, and marks the matrix as neither analysed nor factored. */
static void clear_analysis(TalusDirect *d)
{
    d->analysed = d->factored = false;
    talus_sparse_clear(&d->pattern);
    TALUS_RELEASE(d->sign, d->right, d->rest, d->trial);
    d->sign = NULL;
    d->right = d->rest = d->trial = NULL;
}

void talus_direct_destroy(TalusDirect *d)
{
    if (!d)
        return;
    d->method->destroy(d->state);
    talus_memory_count_external(d->reported_bytes, 0);
    clear_analysis(d);
    talus_release(d);
}

TalusStatus talus_direct_ensure(TalusDirectKind kind, TalusDirect **d)
{
    if (*d && (*d)->method == methods[kind])
        return TALUS_OK;
    talus_direct_destroy(*d);
    return talus_direct_create(kind, d);
}

/* ---- patterns ---- */

/* True if `a` has the pattern analysed last. */
static bool same_pattern(const TalusDirect *d, const TalusSparse *a)
{
    const TalusSparse *p = &d->pattern;
    if (!d->analysed || p->rows != a->rows)
        return false;
    return a->rows == 0 ||
           (memcmp(p->start, a->start, ((size_t)a->rows + 1) * sizeof *a->start) == 0 &&
            memcmp(p->column, a->column, (size_t)a->start[a->rows] * sizeof *a->column) == 0);
}

static bool same_signs(const TalusDirect *d, const int8_t *sign)
{
    for (int i = 0; i < d->pattern.rows; i++)
        if (d->sign[i] != (sign ? sign[i] : 1))
            return false;
    return true;
}

/* Fails unless `a` is square and lower triangular with rising columns. */
static TalusStatus check_lower(const TalusSparse *a)
{
    if (a->rows != a->columns)
        return talus_reject("direct solver: %d rows but %d columns", a->rows, a->columns);
    for (int i = 0; i < a->rows; i++)
        for (int32_t e = a->start[i]; e < a->start[i + 1]; e++)
            if (a->column[e] < 0 || a->column[e] > i ||
                (e > a->start[i] && a->column[e] <= a->column[e - 1]))
                return talus_reject("direct solver: row %d has an entry in column %d: expected "
                                    "rising columns up to the diagonal",
                                    i, a->column[e]);
    return TALUS_OK;
}

/* Copies the pattern and the signs, and allocates the vectors of refinement. */
static TalusStatus store_pattern(TalusDirect *d, const TalusSparse *a, const int8_t *sign)
{
    size_t n = (size_t)a->rows, entries = (size_t)talus_sparse_entries(a);
    d->pattern.rows = d->pattern.columns = a->rows;
    TALUS_TRY(TALUS_ALLOC(d->pattern.start, n + 1, "pattern"));
    TALUS_TRY(TALUS_ALLOC(d->pattern.column, entries, "pattern"));
    TALUS_TRY(TALUS_ALLOC(d->sign, n, "signs of pivots"));
    TALUS_TRY(TALUS_ALLOC(d->right, n, "right-hand side"));
    TALUS_TRY(TALUS_ALLOC(d->rest, n, "right-hand side"));
    TALUS_TRY(TALUS_ALLOC(d->trial, n, "right-hand side"));
    if (n > 0)
        memcpy(d->pattern.start, a->start, (n + 1) * sizeof *a->start);
    if (entries > 0)
        memcpy(d->pattern.column, a->column, entries * sizeof *a->column);
    for (size_t i = 0; i < n; i++)
        d->sign[i] = sign ? sign[i] : 1;
    return TALUS_OK;
}

/* For cholmod and mumps: fails if there is not enough memory to find an elimination order; the packages would then
 * print a message or end the process. The order needs about 10 integers per entry of the whole matrix and 50 per row
 * (CHOLMOD's estimate for METIS); twice as much must be available. The whole matrix has about twice the entries of its
 * lower triangle a. Does nothing for ldl, which uses the memory functions of Talus. */
static TalusStatus probe_analysis(const TalusDirect *d, const TalusSparse *a)
{
    size_t entries = 2 * (size_t)a->start[a->rows], rows = (size_t)a->rows;
    if (!d->method->allocates_itself)
        return TALUS_OK;
    return talus_memory_probe(2 * sizeof(int) * (10 * entries + 50 * rows), "elimination order");
}

TalusStatus talus_direct_analyse(TalusDirect *d, const TalusSparse *lower, const int8_t *sign)
{
    if (same_pattern(d, lower) && same_signs(d, sign))
        return TALUS_OK;
    clear_analysis(d);
    TALUS_TRY(check_lower(lower));
    TALUS_TRY(store_pattern(d, lower, sign));
    d->facts.fill = 0;
    if (lower->rows > 0) {
        TALUS_TRY(probe_analysis(d, lower));
        TalusStatus status = d->method->analyse(d->state, lower, d->sign, &d->facts.fill);
        report_package_memory(d);
        TALUS_TRY(status);
    }
    d->analysed = true;
    d->facts.analyses++;
    return TALUS_OK;
}

/* Fails if an entry is not finite: with such an entry a package would compute nonsense, or not return. */
static TalusStatus check_values(const TalusSparse *a)
{
    for (int i = 0; i < a->rows; i++)
        for (int32_t e = a->start[i]; e < a->start[i + 1]; e++)
            if (!isfinite(a->value[e]))
                return talus_fail(TALUS_ERR_NUMERIC,
                                  "direct solver: the entry in row %d, column %d is %g", i,
                                  a->column[e], a->value[e]);
    return TALUS_OK;
}

/* Fails if the factor would exceed the limit. Without a limit the operating system might grant memory that it lacks,
 * and end the process when the memory is used. */
static TalusStatus check_fill(const TalusDirect *d)
{
    double max_entries = d->max_entries > 0.0 ? d->max_entries : TALUS_DIRECT_MAX_ENTRIES;
    if ((double)d->facts.fill <= max_entries)
        return TALUS_OK;
    return talus_fail(TALUS_ERR_UNSUPPORTED,
                      "%s: %d rows would fill in to %.3g entries, more than the %.3g allowed",
                      d->method->name, d->pattern.rows, (double)d->facts.fill, max_entries);
}

void talus_direct_set_limit(TalusDirect *d, double max_entries)
{
    d->max_entries = max_entries;
}

TalusStatus talus_direct_factor(TalusDirect *d, const TalusSparse *lower)
{
    d->factored = false;
    if (!same_pattern(d, lower))
        return talus_reject("direct solver: %d rows with %d entries, not of the pattern that was "
                            "analysed last",
                            lower->rows, talus_sparse_entries(lower));
    TALUS_TRY(check_fill(d));
    TALUS_TRY(check_values(lower));
    if (lower->rows > 0) {
        TalusStatus status = d->method->factor(d->state, lower);
        report_package_memory(d);
        TALUS_TRY(status);
    }
    d->factored = true;
    d->facts.factorisations++;
    return TALUS_OK;
}

static TalusStatus check_factor(const TalusDirect *d)
{
    return d->factored ? TALUS_OK : talus_reject("direct solver: there is no factor to solve with");
}

TalusStatus talus_direct_solve(TalusDirect *d, double *x)
{
    TALUS_TRY(check_factor(d));
    return d->pattern.rows > 0 ? d->method->solve(d->state, x) : TALUS_OK;
}

/* ---- refinement ---- */

/* Returns the largest magnitude of an entry; NaN if an entry is NaN. */
static double largest_magnitude(int n, const double *x)
{
    double max = 0.0;
    for (int i = 0; i < n; i++)
        max = fabs(x[i]) > max || isnan(x[i]) ? fabs(x[i]) : max;
    return max;
}

/* Computes d->rest = b - A x, with b in d->right and A symmetric with lower triangle `a`. Returns the largest magnitude
 * of d->rest. */
static double compute_residual(TalusDirect *d, const TalusSparse *a, const double *x)
{
    if (a->rows > 0)
        memcpy(d->rest, d->right, (size_t)a->rows * sizeof *x);
    for (int i = 0; i < a->rows; i++) {
        double sum = 0.0;
        for (int32_t e = a->start[i]; e < a->start[i + 1]; e++) {
            int j = a->column[e];
            sum += a->value[e] * x[j];
            if (j != i)
                d->rest[j] -= a->value[e] * x[i];
        }
        d->rest[i] -= sum;
    }
    return largest_magnitude(a->rows, d->rest);
}

TalusStatus talus_direct_solve_refined(TalusDirect *d, const TalusSparse *lower, double *x,
                                       int steps, double *residual)
{
    int n = d->pattern.rows;
    size_t bytes = (size_t)n * sizeof *x;
    TALUS_TRY(check_factor(d));
    if (n > 0)
        memcpy(d->right, x, bytes);
    double scale = largest_magnitude(n, x);
    TALUS_TRY(talus_direct_solve(d, x));
    double left = compute_residual(d, lower, x);
    for (int k = 0; k < steps && left > 0.0; k++) {
        double before = left;
        memcpy(d->trial, x, bytes);
        TALUS_TRY(talus_direct_solve(d, d->rest));
        for (int i = 0; i < n; i++)
            x[i] += d->rest[i];
        left = compute_residual(d, lower, x);
        if (!(left < before)) {
            memcpy(x, d->trial, bytes);
            left = before;
        }
        if (!(left <= 0.5 * before))
            break;
    }
    if (!isfinite(left))
        return talus_fail(TALUS_ERR_NUMERIC, "direct solver: the solution is not finite");
    if (residual)
        *residual = scale > 0.0 ? left / scale : 0.0;
    return TALUS_OK;
}

TalusDirectFacts talus_direct_facts(const TalusDirect *d)
{
    TalusDirectFacts facts = d->facts;
    facts.bytes = d->method->bytes(d->state);
    return facts;
}

/* solvers/driver/certificate.c - finds a certificate from a direction along which impulses grow (certificate.h).
 *
 * Let x = delta / s with s^-2 the block scales, and A = S (N + E) S. On the support of delta, the blocks larger than a
 * share of |x| (LEVELS), two projections alternate. One is onto the null space of A, by conjugate gradients on A z = A
 * x: from z = 0 their solution is the part of x outside the null space. The other is onto the recession cone, with
 * over-relaxation, so that the interior of the intersection, if there is one, is reached in a few rounds. Small
 * supports are tried first: if a heap settles beside a wedged body, delta is small but not 0 on the heap's blocks,
 * where the proof is 0. */
#include "solvers/driver/certificate.h"

#include "base/memory.h"
#include "base/status.h"
#include "problem/eliminate.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ROUNDS: pairs of projections per level. REFINEMENTS: restarts of conjugate gradients. LEAST_PRODUCTS: budget of
 * products, to which a quarter of the iterations so far is added. */
enum { ROUNDS = 16, REFINEMENTS = 4, LEAST_PRODUCTS = 64 };

/* Over-relaxation of the projection onto the cone. */
static const double RELAX = 1.5;

/* Blocks with |x_i| at or below the level, for |x| = 1, are not on the support. Tried in this order. */
static const double LEVELS[] = {1e-2, 1e-4, 0.0};

/* The search ends if x, of length 1 at the start, is shorter than this after its projection onto the cone. No step
 * lengthens x, so null space and cone then share no direction near the start. */
static const double LEAST_SIZE = 1e-3;

/* Largest balance that counts as rounding, and least ratio of gain to balance: both stricter by a factor of 2 than
 * those of the verifier (apps/verify/certificate.c). */
static const double ROUNDING = 32.0 * DBL_EPSILON, BOUND = 2e12;

typedef struct Search {
    TalusSolve *solve;
    const TalusBackend *backend;
    const TalusOperator *op;
    const TalusMetricBlock *metric;
    double *start, *x, *support, *r, *p, *ap;
    int products; /* remaining budget of products */
    bool relaxed; /* delta may have friction at Coulomb blocks, as under ccp */
} Search;

static double dot(const Search *s, const double *x, const double *y)
{
    return s->backend->vector.dot(s->op, x, y);
}

static void copy(const Search *s, double *to, const double *from)
{
    s->backend->vector.copy(s->op, to, from, (size_t)s->op->rows * (size_t)s->op->blocks);
}

/* out = A x on the support. */
static void product(Search *s, const double *x, double *out)
{
    s->backend->op.gradient(s->op, s->metric, x, false, out);
    s->backend->block.project_recession_span(s->op, s->relaxed, s->support, out);
    s->products--;
}

/* ---- the null space ---- */

/* Removes from x its part outside the null space, given r = A x and rr = r'r; stops once rr <= enough. */
static void conjugate_gradients(Search *s, double rr, double enough)
{
    copy(s, s->p, s->r);
    while (rr > enough && s->products > 0) {
        product(s, s->p, s->ap);
        double pap = dot(s, s->p, s->ap), pp = dot(s, s->p, s->p);
        if (!(pap > DBL_EPSILON * pp))
            return;
        double a = rr / pap, before = rr;
        s->backend->vector.axpby(s->op, -a, s->p, 1.0, s->x);
        s->backend->vector.axpby(s->op, -a, s->ap, 1.0, s->r);
        rr = dot(s, s->r, s->r);
        s->backend->vector.axpby(s->op, 1.0, s->r, rr / before, s->p);
    }
}

/* Projects x onto the null space: conjugate_gradients with a new r = A x until r is rounding or stops falling. */
static void flatten(Search *s)
{
    double last = INFINITY;
    for (int k = 0; k < REFINEMENTS && s->products > 0; k++) {
        product(s, s->x, s->r);
        double rr = dot(s, s->r, s->r), enough = DBL_EPSILON * DBL_EPSILON * dot(s, s->x, s->x);
        if (!(rr > enough) || rr > 0.25 * last)
            return;
        conjugate_gradients(s, rr, 0.25 * enough);
        last = rr;
    }
}

/* ---- the intersection ---- */

/* Moves x from its start on the support into the null space and the recession cone. True on success. */
static bool intersect(Search *s)
{
    for (int k = 0; k < ROUNDS && s->products > 0; k++) {
        flatten(s);
        copy(s, s->p, s->x);
        s->backend->block.project_recession(s->op, s->relaxed, 0.0, s->p);
        s->backend->vector.axpby(s->op, 1.0, s->p, -1.0, s->x); /* p - x, from x to the cone */
        double off2 = dot(s, s->x, s->x), size2 = dot(s, s->p, s->p);
        if (!(size2 > LEAST_SIZE * LEAST_SIZE))
            return false;
        bool inside = off2 <= 16.0 * DBL_EPSILON * DBL_EPSILON * size2;
        if (inside) {
            copy(s, s->x, s->p);
            return true;
        }
        s->backend->vector.axpby(s->op, 1.0, s->p, RELAX - 1.0, s->x);
    }
    return false;
}

/* ---- the check ---- */

/* Returns the rounding error of |q|, m/s: for bodies that move fast past each other, q is a sum that cancels. `zero` is
 * a work vector. */
static double rounding_of_offset(const TalusBackend *backend, const TalusOperator *op, double *zero)
{
    TalusResidualSums sums;
    TalusTermSums terms;
    backend->vector.zero(op, zero, (size_t)op->rows * (size_t)op->blocks);
    backend->op.residual(op, zero, &sums, &terms);
    return ROUNDING * sqrt(terms.terms2);
}

/* True if delta is a proof (certificate.h): its balance, |(N + E) delta| relative, is rounding, and its gain, -q'delta
 * relative, is far above that. p and q are work vectors of op. */
static bool is_proof(const TalusBackend *backend, const TalusOperator *op, bool relaxed,
                     const double *delta, double *p, double *q)
{
    TalusSizes sizes;
    backend->op.product(op, delta, true, false, p);
    backend->op.measure_sizes(op, NULL, delta, &sizes);
    double balance = sqrt(backend->vector.dot(op, p, p) / sizes.size);
    backend->op.product(op, NULL, false, true, q);
    backend->block.project_recession_span(op, relaxed, delta, q);
    double length = sqrt(backend->vector.dot(op, delta, delta)),
           size = sqrt(backend->vector.dot(op, q, q));
    double speed = -backend->vector.dot(op, q, delta) / length, gain = speed / size;
    bool sound =
        sizes.size > DBL_MIN / (DBL_EPSILON * DBL_EPSILON); /* no square is lost to underflow */
    return sound && balance <= ROUNDING && gain > ROUNDING && gain >= BOUND * balance &&
           speed > rounding_of_offset(backend, op, p);
}

static bool store_certificate(TalusSolve *solve, const double *delta)
{
    double *stored;
    if (talus_problem_reserve_certificate(solve->problem, &stored) != TALUS_OK)
        return false;
    solve->backend->vector.get(solve->op, stored, delta,
                               (size_t)talus_problem_size(solve->problem));
    return true;
}

/* Like settle(), where joints are eliminated: extends delta by their impulses and tests it on the whole problem. */
static bool settle_whole(TalusSolve *solve, bool relaxed, const double *delta)
{
    const TalusOperator *op = solve->reduced->whole;
    const TalusVectorOps *vector = &solve->backend->vector;
    size_t n = (size_t)op->rows * (size_t)op->blocks, capacity = 0;
    double *whole = NULL;
    if (vector->reserve(op, &whole, &capacity, 3 * n, "certificate") != TALUS_OK)
        return false;
    vector->copy(op, whole, delta, (size_t)solve->op->rows * (size_t)solve->op->blocks);
    talus_reduced_extend_direction(solve->reduced, whole);
    bool proof = is_proof(solve->backend, op, relaxed, whole, whole + n, whole + 2 * n) &&
                 (relaxed || store_certificate(solve, whole));
    vector->release(whole);
    return proof;
}

/* Writes delta = S x. True if it is a proof and, where it holds for the laws and not only for their relaxation, could
 * be stored. */
static bool settle(Search *s, double *delta)
{
    copy(s, delta, s->x);
    s->backend->op.scale(s->op, s->metric, false, delta);
    if (s->solve->reduced)
        return settle_whole(s->solve, s->relaxed, delta);
    return is_proof(s->backend, s->op, s->relaxed, delta, s->r, s->ap) &&
           (s->relaxed || store_certificate(s->solve, delta));
}

/* ---- the search ---- */

static TalusStatus reserve(TalusSolve *solve, TalusCertificateWork *w, Search *s)
{
    TALUS_TRY(TALUS_VECTORS(solve, &w->vectors, "certificate", &s->start, &s->x, &s->support, &s->r,
                            &s->p, &s->ap));
    return talus_solver_metric(solve, TALUS_METRIC_TRACE, &w->metric, &s->metric);
}

/* start = delta / s, scaled to length 1. False if delta is zero or not finite. */
static bool normalise(Search *s, const double *delta)
{
    copy(s, s->start, delta);
    s->backend->op.scale(s->op, s->metric, true, s->start);
    double size = sqrt(dot(s, s->start, s->start));
    if (!(size > 0.0) || !isfinite(size))
        return false;
    s->backend->vector.axpby(s->op, 0.0, s->start, 1.0 / size, s->start);
    return true;
}

/* Searches near the start, level by level, within a new budget of products. True if a proof is found; overwrites
 * delta. */
static bool seek(Search *s, bool relaxed, double *delta)
{
    s->relaxed = relaxed;
    s->products = LEAST_PRODUCTS + s->solve->info->iterations / 4;
    for (size_t k = 0; k < sizeof LEVELS / sizeof *LEVELS && s->products > 0; k++) {
        copy(s, s->x, s->start);
        s->backend->block.project_recession(s->op, relaxed, LEVELS[k], s->x);
        copy(s, s->support, s->x);
        if (intersect(s) && settle(s, delta))
            return true;
    }
    return false;
}

bool talus_certificate_find(TalusSolve *solve, TalusCertificateWork *work, double *delta)
{
    Search s = {.solve = solve, .backend = solve->backend, .op = solve->op};
    if (reserve(solve, work, &s) != TALUS_OK || !normalise(&s, delta))
        return false;
    if (seek(&s, false, delta))
        return true;
    bool coulomb = solve->op->kinds & TALUS_KINDS_OF(TALUS_LAW_COULOMB);
    solve->info->jammed = solve->info->jammed || (coulomb && seek(&s, true, delta));
    return false;
}

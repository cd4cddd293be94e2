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

/* ROUNDS: pairs of projections per level. REFINEMENTS: restarts of conjugate gradients. LEAST_PRODUCTS: number of
 * products that a search may use, in addition to a quarter of the iterations so far. */
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
    double *start;      /* delta / s, scaled to length 1 */
    double *x;          /* direction searched for, in the metric */
    double *support;    /* not 0 on the blocks of the support */
    double *r, *p, *ap; /* conjugate gradients: residual A x, direction, A p; also work vectors */
    int products;       /* number of products that may still be used */
    bool relaxed; /* Coulomb blocks are treated as under ccp: delta may have friction at them */
} Search;

static double dot_product(const Search *s, const double *x, const double *y)
{
    return s->backend->vector.dot(s->op, x, y);
}

/* to = from. */
static void copy_vector(const Search *s, double *to, const double *from)
{
    s->backend->vector.copy(s->op, to, from, (size_t)s->op->rows * (size_t)s->op->blocks);
}

/* out = A x on the support. */
static void multiply_on_support(Search *s, const double *x, double *out)
{
    s->backend->op.gradient(s->op, s->metric, x, false, out);
    s->backend->block.project_recession_span(s->op, s->relaxed, s->support, out);
    s->products--;
}

/* ---- the null space ---- */

/* Removes from x its part outside the null space by conjugate gradients, given r = A x and rr = r'r; stops once rr <=
 * enough, the products are used up or a direction has no curvature. */
static void remove_outside_null_space(Search *s, double rr, double enough)
{
    copy_vector(s, s->p, s->r);
    while (rr > enough && s->products > 0) {
        multiply_on_support(s, s->p, s->ap);
        double pap = dot_product(s, s->p, s->ap), pp = dot_product(s, s->p, s->p);
        if (!(pap > DBL_EPSILON * pp))
            return;
        double a = rr / pap, before = rr;
        s->backend->vector.axpby(s->op, -a, s->p, 1.0, s->x);
        s->backend->vector.axpby(s->op, -a, s->ap, 1.0, s->r);
        rr = dot_product(s, s->r, s->r);
        s->backend->vector.axpby(s->op, 1.0, s->r, rr / before, s->p);
    }
}

/* Projects x onto the null space of A: repeats remove_outside_null_space from a new r = A x until r is rounding or
 * stops falling. */
static void project_onto_null_space(Search *s)
{
    double last = INFINITY;
    for (int k = 0; k < REFINEMENTS && s->products > 0; k++) {
        multiply_on_support(s, s->x, s->r);
        double rr = dot_product(s, s->r, s->r),
               enough = DBL_EPSILON * DBL_EPSILON * dot_product(s, s->x, s->x);
        if (!(rr > enough) || rr > 0.25 * last)
            return;
        remove_outside_null_space(s, rr, 0.25 * enough);
        last = rr;
    }
}

/* ---- the intersection ---- */

/* Moves x, by alternate projections, into both the null space and the recession cone. True on success. */
static bool find_common_direction(Search *s)
{
    for (int k = 0; k < ROUNDS && s->products > 0; k++) {
        project_onto_null_space(s);
        copy_vector(s, s->p, s->x);
        s->backend->block.project_recession(s->op, s->relaxed, 0.0, s->p);
        s->backend->vector.axpby(s->op, 1.0, s->p, -1.0, s->x); /* p - x, from x to the cone */
        double off2 = dot_product(s, s->x, s->x), size2 = dot_product(s, s->p, s->p);
        if (!(size2 > LEAST_SIZE * LEAST_SIZE))
            return false;
        bool inside = off2 <= 16.0 * DBL_EPSILON * DBL_EPSILON * size2;
        if (inside) {
            copy_vector(s, s->x, s->p);
            return true;
        }
        s->backend->vector.axpby(s->op, 1.0, s->p, RELAX - 1.0, s->x);
    }
    return false;
}

/* ---- the check ---- */

/* Returns the rounding error of |q|, m/s: for bodies that move fast past each other, q is a sum that cancels. `zero` is
 * a work vector. */
static double offset_rounding(const TalusBackend *backend, const TalusOperator *op, double *zero)
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
           speed > offset_rounding(backend, op, p);
}

/* Stores delta with the problem; false if there is no memory. */
static bool store_certificate(TalusSolve *solve, const double *delta)
{
    double *stored;
    if (talus_problem_reserve_certificate(solve->problem, &stored) != TALUS_OK)
        return false;
    solve->backend->vector.get(solve->op, stored, delta,
                               (size_t)talus_problem_size(solve->problem));
    return true;
}

/* Like store_if_proof, for a problem with eliminated joints: extends delta by the impulses of joints and tests it on
 * the whole problem. */
static bool store_if_proof_of_whole(TalusSolve *solve, bool relaxed, const double *delta)
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

/* Writes delta = S x. True if delta is a proof. A proof for the laws themselves, not only for their relaxation, is also
 * stored with the problem; false if that fails. */
static bool store_if_proof(Search *s, double *delta)
{
    copy_vector(s, delta, s->x);
    s->backend->op.scale(s->op, s->metric, false, delta);
    if (s->solve->reduced)
        return store_if_proof_of_whole(s->solve, s->relaxed, delta);
    return is_proof(s->backend, s->op, s->relaxed, delta, s->r, s->ap) &&
           (s->relaxed || store_certificate(s->solve, delta));
}

/* ---- the search ---- */

/* Reserves the vectors of the search and fills the metric. */
static TalusStatus reserve_vectors(TalusSolve *solve, TalusCertificateWork *w, Search *s)
{
    TALUS_TRY(TALUS_RESERVE_VECTORS(solve, &w->vectors, "certificate", &s->start, &s->x,
                                    &s->support, &s->r, &s->p, &s->ap));
    return talus_solver_make_metric(solve, TALUS_METRIC_TRACE, &w->metric, &s->metric);
}

/* start = delta / s, scaled to length 1. False if delta is zero or not finite. */
static bool set_start(Search *s, const double *delta)
{
    copy_vector(s, s->start, delta);
    s->backend->op.scale(s->op, s->metric, true, s->start);
    double size = sqrt(dot_product(s, s->start, s->start));
    if (!(size > 0.0) || !isfinite(size))
        return false;
    s->backend->vector.axpby(s->op, 0.0, s->start, 1.0 / size, s->start);
    return true;
}

/* Searches near the start, level by level, within a new budget of products. True if a proof is found; delta is then the
 * proof, and stored with the problem unless `relaxed`. Else delta is undefined. */
static bool search_levels(Search *s, bool relaxed, double *delta)
{
    s->relaxed = relaxed;
    s->products = LEAST_PRODUCTS + s->solve->info->iterations / 4;
    for (size_t k = 0; k < sizeof LEVELS / sizeof *LEVELS && s->products > 0; k++) {
        copy_vector(s, s->x, s->start);
        s->backend->block.project_recession(s->op, relaxed, LEVELS[k], s->x);
        copy_vector(s, s->support, s->x);
        if (find_common_direction(s) && store_if_proof(s, delta))
            return true;
    }
    return false;
}

bool talus_certificate_find(TalusSolve *solve, TalusCertificateWork *work, double *delta)
{
    Search s = {.solve = solve, .backend = solve->backend, .op = solve->op};
    if (reserve_vectors(solve, work, &s) != TALUS_OK || !set_start(&s, delta))
        return false;
    if (search_levels(&s, false, delta))
        return true;
    bool coulomb = solve->op->kinds & TALUS_KINDS_OF(TALUS_LAW_COULOMB);
    solve->info->jammed = solve->info->jammed || (coulomb && search_levels(&s, true, delta));
    return false;
}

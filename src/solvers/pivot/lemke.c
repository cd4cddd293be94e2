/* solvers/pivot/lemke.c - Lemke's complementary pivoting on the contact problem's linear complementarity problem (LCP):
 * the baseline that iterative methods replaced (negrut-2009, petra-2009 section 1).
 *
 * lemke_lcp.h has the two LCPs: the dual one of the relaxation, and Stewart and Trinkle's of Coulomb's law.
 * lemke_pivot.h has the method. The covering vector is in units of velocity: z_0 is a speed at which contacts open, and
 * falls to 0. With the usual vector of ones, edges of one cone and similar contacts tie along the whole path; unrelated
 * numbers between 1 and 2 leave only the ties of the problem itself. If a path loses accuracy, becomes too long or ends
 * on a ray that proves nothing, others are tried, with other covering vectors.
 *
 * Rays. z of a ray has gamma = G z in K, gamma'(N + E)gamma = 0 and q'gamma < 0. If a certificate is found near it
 * (certificate.h), the problem has no solution. Under Coulomb's law gamma itself is a certificate only without
 * friction. Beside any other ray a solution with sliding contacts may exist; if no path leads to one, the problem stays
 * unsolved. With gaps phi >= 0 and rigid contacts there are no rays (Stewart and Trinkle 1996).
 *
 * An iteration is a pivot with one product, which measures the impulses of the current basis, projected onto the cones.
 * The first iteration measures the given impulses instead; the pivots that bring z_0 in or find a ray are not counted.
 * There is no warm start: a start that solves the problem is returned, and any other is ignored. One thread, dense: the
 * inverse has n p entries, n unknowns, p of them basic. */
#include "solvers/driver/best.h"
#include "solvers/driver/certificate.h"
#include "solvers/driver/infeasibility.h"
#include "solvers/driver/outer.h"
#include "solvers/pivot/lemke_lcp.h"
#include "solvers/pivot/lemke_pivot.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

/* TRIES: maximum number of paths. LONG: maximum pivots of a path per unknown. */
enum { TRIES = 4, LONG = 20 };

typedef struct Params {
    int max_unknowns, refactor, cover, ties;
} Params;

enum { COVER_SPREAD, COVER_ONES };

static const char *const covers[] = {"spread", "ones", NULL};

static const char *const ties[] = {"lexicographic", "first", NULL};

static const TalusParam params[] = {
    TALUS_INT(Params, max_unknowns, 2000, 1, 20000,
              "unknowns of the LCP above which the problem is refused"),
    TALUS_INT(Params, refactor, 100, 1, 1e6, "pivots after which the basis is factorised anew"),
    TALUS_CHOICE(Params, cover, COVER_SPREAD, covers,
                 "covering vector: numbers from 1 to 2, or all 1, which leaves many ties"),
    TALUS_CHOICE(Params, ties, TALUS_TIES_LEXICOGRAPHIC, ties,
                 "what leaves the basis of several; first may go round in circles"),
};

enum { Q, IMPULSE, RAY, VECTORS }; /* offsets; impulses of the basis; direction of a ray */

typedef struct Work {
    TalusContactLcp problem;
    TalusLemke lemke;
    double *z, *cover;
    TalusVectors vectors;
    double *vector[VECTORS];
    TalusBest best;
    TalusCertificateWork certificate;
} Work;

/* ---- preparation ---- */

static bool has_coulomb(const TalusSolve *s)
{
    return (s->op->kinds & TALUS_KINDS_OF(TALUS_LAW_COULOMB)) != 0;
}

static TalusStatus check_size(const TalusSolve *s, const Params *p)
{
    int64_t size = talus_contact_lcp_size(s->op);
    if (size <= p->max_unknowns)
        return TALUS_OK;
    bool coulomb = has_coulomb(s);
    return talus_solver_fail(
        "lemke", TALUS_ERR_UNSUPPORTED,
        "%s LCP of %d contacts has %lld unknowns, above max_unknowns=%d; %s",
        coulomb ? "Stewart and Trinkle's" : "the dual", s->op->blocks, (long long)size,
        p->max_unknowns,
        coulomb ? "apgd takes problems of this size, or raise max_unknowns"
                : "ipm-chol or apgd take problems of this size, or raise max_unknowns");
}

static TalusStatus prepare(TalusSolve *s, Work *w)
{
    const Params *p = s->params;
    TALUS_TRY(talus_vectors_reserve(s, &w->vectors, VECTORS, w->vector, "vectors"));
    s->backend->op.product(s->op, NULL, false, true, w->vector[Q]);
    TALUS_TRY(talus_contact_lcp_fill(&w->problem, s->problem, w->vector[Q]));
    size_t size = (size_t)w->problem.lcp.n;
    TALUS_TRY(TALUS_GROW(w->z, size, 0, "unknowns of the LCP"));
    TALUS_TRY(TALUS_GROW(w->cover, size, 0, "covering vector"));
    w->lemke.ties = (TalusLemkeTies)p->ties;
    w->lemke.refactor = p->refactor;
    return TALUS_OK;
}

/* Sets the covering vector: all 1, or numbers from 1 to 2 that differ from attempt to attempt. */
static void set_cover(Work *w, bool ones, int attempt)
{
    uint32_t state = (uint32_t)attempt;
    for (int i = 0; i < w->problem.lcp.n; i++) {
        state = state * 1664525u + 1013904223u;
        w->cover[i] = ones ? 1.0 : 1.0 + (double)(state >> 16) * 0x1p-16;
    }
}

/* ---- measuring ---- */

/* Counts an iteration, measures and reports its impulses vector[IMPULSE]. True if the solve must go on. */
static bool tell(TalusSolve *s, Work *w)
{
    TalusResidual r;
    talus_outer_measure(s, w->vector[IMPULSE], &r, NULL);
    talus_solve_count(s, 1);
    talus_best_offer(&w->best, s, w->vector[IMPULSE], r.rms);
    return talus_solve_observe(s, w->vector[IMPULSE], NULL, r.rms) &&
           talus_solve_continue(s, r.rms, r.max);
}

static bool tell_point(TalusSolve *s, Work *w)
{
    talus_lemke_point(&w->lemke, w->z);
    talus_contact_lcp_impulses(&w->problem, w->z, w->vector[IMPULSE]);
    s->backend->block.project(s->op, NULL, w->vector[IMPULSE]);
    return tell(s, w);
}

/* ---- the solve ---- */

/* Ends the solve as infeasible if the ray leads to a certificate. True if it does not: another path may do better. */
static bool end_on_ray(TalusSolve *s, Work *w)
{
    talus_lemke_ray(&w->lemke, w->z);
    talus_contact_lcp_impulses(&w->problem, w->z, w->vector[RAY]);
    bool proof = talus_certificate_find(s, &w->certificate, w->vector[RAY]);
    if (proof)
        s->info->outcome = TALUS_OUTCOME_INFEASIBLE;
    return !proof;
}

/* Follows one path until it is solved, broken, too long or on a ray. *again: it has not solved the problem nor proved
 * it infeasible, and the budget allows another. */
static TalusStatus follow(TalusSolve *s, Work *w, int attempt, bool *again)
{
    const Params *p = s->params;
    TalusLemkeState state;
    int last = s->info->iterations + LONG * (w->problem.lcp.n + 10);
    set_cover(w, p->cover == COVER_ONES && attempt == 0, attempt);
    TALUS_TRY(talus_lemke_begin(&w->lemke, &w->problem.lcp, w->cover, &state));
    *again = state == TALUS_LEMKE_GOING || tell_point(s, w);
    while (*again && state == TALUS_LEMKE_GOING && s->info->iterations < last) {
        TALUS_TRY(talus_lemke_pivot(&w->lemke, &state));
        *again = state == TALUS_LEMKE_RAY ? end_on_ray(s, w) : tell_point(s, w);
    }
    s->info->factorisations += w->lemke.factorisations;
    return TALUS_OK;
}

static TalusStatus solve_lemke(TalusSolve *s)
{
    Work *w = s->work;
    size_t bytes = (size_t)s->op->rows * (size_t)s->op->blocks * sizeof *s->gamma;
    TALUS_TRY(check_size(s, s->params));
    TALUS_TRY(prepare(s, w));
    TALUS_TRY(talus_best_begin(&w->best, s));
    s->infeasibility->off = true; /* impulses grow along the path; only rays prove anything */
    memcpy(w->vector[IMPULSE], s->gamma, bytes);
    s->backend->block.project(s->op, NULL, w->vector[IMPULSE]);
    bool again = tell(s, w);
    for (int attempt = 0; again && attempt < TRIES; attempt++)
        TALUS_TRY(follow(s, w, attempt, &again));
    if (again)
        s->info->outcome = TALUS_OUTCOME_BUDGET;
    memcpy(s->gamma, w->vector[IMPULSE], bytes);
    talus_best_restore(&w->best, s, s->gamma);
    return TALUS_OK;
}

static void clear(void *work)
{
    Work *w = work;
    talus_contact_lcp_clear(&w->problem);
    talus_lemke_clear(&w->lemke);
    TALUS_RELEASE(w->z, w->cover);
}

const TalusSolverType talus_solver_lemke = {
    .name = "lemke",
    .summary = "pivoting, small problems: the dual LCP of the relaxation, the copositive one of "
               "Stewart and Trinkle under coulomb",
    .reference = "Lemke 1965; Stewart & Trinkle 1996; Anitescu & Potra 1997; petra-2009 Eq. 13",
    .takes = TALUS_TAKES_NONNEG | TALUS_TAKES(CCP, SQUARE) | TALUS_TAKES(CCP, POLYGON) |
             TALUS_TAKES(COULOMB, SQUARE) | TALUS_TAKES(COULOMB, POLYGON),
    TALUS_PARAMS(params, Params),
    .work_size = sizeof(Work),
    .solve = solve_lemke,
    .clear = clear,
    .on_host = "the pivoting",
};

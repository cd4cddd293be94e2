/* solvers/pivot/lemke.c - Lemke's complementary pivoting on the contact problem's linear complementarity problem (LCP):
 * the baseline that iterative methods replaced (negrut-2009, petra-2009 section 1).
 *
 * lemke_lcp.h describes the two LCPs: the dual LCP of the relaxation ccp, and Stewart and Trinkle's LCP of Coulomb's
 * law. lemke_pivot.h describes the method. The covering vector is in units of velocity: the artificial unknown z_0 is a
 * speed at which contacts open, and falls to 0. With the usual covering vector of ones, edges of one cone and similar
 * contacts tie in the ratio test along the whole path of bases; unrelated numbers between 1 and 2 leave only the ties
 * of the problem itself. If a path loses accuracy, becomes too long or ends on a ray that proves nothing, another path
 * is tried, with another covering vector.
 *
 * A ray is an unbounded edge on which a path can end. The z of a ray gives impulses gamma = G z in K with gamma'(N +
 * E)gamma = 0 and q'gamma < 0. If a certificate is found near gamma (certificate.h), the problem has no solution. Under
 * Coulomb's law gamma itself is a certificate only without friction. A problem with any other ray may have a solution
 * with sliding contacts; if no path leads to a solution, the problem stays unsolved. With gaps phi >= 0 and rigid
 * contacts there are no rays (Stewart and Trinkle 1996).
 *
 * An iteration is a pivot with one product, which measures the impulses of the current basis, projected onto the cones.
 * The first iteration measures the given impulses instead; the pivots that bring z_0 in or find a ray are not counted.
 * There is no warm start: a start that solves the problem is returned, and any other is ignored. The method runs on one
 * thread. The inverse of the basis is dense, with n p entries, n the number of unknowns, p the number of basic z. */
#include "solvers/pivot/lcp_work.h"
#include "solvers/pivot/lemke_pivot.h"

#include "base/memory.h"
#include "base/status.h"

/* TRIES: maximum number of paths. LONG: maximum number of pivots of a path, divided by the number of unknowns plus
 * 10. */
enum { TRIES = 4, LONG = 20 };

/* Parameters of the solver; the table `params` says what each does. */
typedef struct Params {
    int max_unknowns, refactor, cover, ties;
} Params;

/* Values of the parameter cover. */
enum { COVER_SPREAD, COVER_ONES };

static const char *const covers[] = {"spread", "ones", NULL};

static const char *const ties[] = {"lexicographic", "first", NULL};

static const TalusParam params[] = {
    TALUS_LCP_MAX_UNKNOWNS(Params),
    TALUS_INT(Params, refactor, 100, 1, 1e6, "pivots after which the basis is factorised anew"),
    TALUS_CHOICE(Params, cover, COVER_SPREAD, covers,
                 "covering vector: numbers from 1 to 2, or all 1, which leaves many ties"),
    TALUS_CHOICE(Params, ties, TALUS_TIES_LEXICOGRAPHIC, ties,
                 "what leaves the basis of several; first may go round in circles"),
};

typedef struct Work {
    TalusLcpWork common;
    TalusLemke lemke;
    double *z;     /* unknowns of the LCP: of the current basis, or of a ray */
    double *cover; /* covering vector */
} Work;

/* Reserves memory for a path and sets the parameters of the method. */
static TalusStatus prepare_path(const Params *p, Work *w)
{
    size_t size = (size_t)w->common.problem.lcp.n;
    TALUS_TRY(TALUS_GROW(w->z, size, 0, "unknowns of the LCP"));
    TALUS_TRY(TALUS_GROW(w->cover, size, 0, "covering vector"));
    w->lemke.ties = (TalusLemkeTies)p->ties;
    w->lemke.refactor = p->refactor;
    return TALUS_OK;
}

/* Sets the covering vector: all 1, or numbers from 1 to 2 that differ from attempt to attempt. */
static void set_cover(Work *w, bool ones, int attempt)
{
    const int n = w->common.problem.lcp.n;
    talus_lemke_spread(n, attempt, w->cover);
    for (int i = 0; ones && i < n; i++)
        w->cover[i] = 1.0;
}

/* ---- the solve ---- */

/* Reports the impulses of the current basis. True if the solve must go on. */
static bool report_basis(TalusSolve *s, Work *w)
{
    talus_lemke_get_point(&w->lemke, w->z);
    return talus_lcp_work_report(&w->common, s, w->z);
}

/* Looks for a proof near the ray. True if there is none: another path may do better. */
static bool check_ray(TalusSolve *s, Work *w)
{
    talus_lemke_get_ray(&w->lemke, w->z);
    return !talus_lcp_work_prove(&w->common, s, w->z);
}

/* Follows one path of bases until the problem is solved, the path is broken, too long or on a ray. Only the first path
 * uses cover=ones. *again: true if the path has neither solved the problem to the tolerance nor proved it infeasible,
 * and the budget allows another path. */
static TalusStatus follow_path(TalusSolve *s, Work *w, int attempt, bool *again)
{
    const Params *p = s->params;
    const TalusLcp *lcp = &w->common.problem.lcp;
    TalusLemkeState state;
    int last = s->info->iterations + LONG * (lcp->n + 10);
    set_cover(w, p->cover == COVER_ONES && attempt == 0, attempt);
    TALUS_TRY(talus_lemke_begin(&w->lemke, lcp, w->cover, &state));
    *again = state == TALUS_LEMKE_GOING || report_basis(s, w);
    while (*again && state == TALUS_LEMKE_GOING && s->info->iterations < last) {
        TALUS_TRY(talus_lemke_pivot(&w->lemke, &state));
        *again = state == TALUS_LEMKE_RAY ? check_ray(s, w) : report_basis(s, w);
    }
    s->info->factorisations += w->lemke.factorisations;
    return TALUS_OK;
}

/* Tries at most TRIES paths until one solves the problem or proves it infeasible; gamma becomes the last iterate, or
 * the best one if the outcome is budget or infeasible. */
static TalusStatus solve_lemke(TalusSolve *s)
{
    Work *w = s->work;
    const Params *p = s->params;
    bool again;
    TALUS_TRY(talus_lcp_work_begin(&w->common, s, p->max_unknowns, &again));
    TALUS_TRY(prepare_path(p, w));
    for (int attempt = 0; again && attempt < TRIES; attempt++)
        TALUS_TRY(follow_path(s, w, attempt, &again));
    talus_lcp_work_end(&w->common, s, again);
    return TALUS_OK;
}

/* `clear` of TalusSolverType. */
static void clear_work(void *work)
{
    Work *w = work;
    talus_lcp_work_clear(&w->common);
    talus_lemke_clear(&w->lemke);
    TALUS_RELEASE(w->z, w->cover);
}

const TalusSolverType talus_solver_lemke = {
    .name = "lemke",
    .summary = "pivoting, small problems: the dual LCP of the relaxation, the copositive one of "
               "Stewart and Trinkle under coulomb",
    .reference = "Lemke 1965; Stewart & Trinkle 1996; Anitescu & Potra 1997; petra-2009 Eq. 13",
    .takes = TALUS_LCP_TAKES,
    TALUS_PARAMS(params, Params),
    .work_size = sizeof(Work),
    .solve = solve_lemke,
    .clear = clear_work,
    .on_host = "the pivoting",
};

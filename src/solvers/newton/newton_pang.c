/* solvers/newton/newton_pang.c - Pang's damped Newton method for B-differentiable equations (Pang 1990; Harker and
 * Pang 1990), on the min map of the contact problem's linear complementarity problem: the non-smooth Newton method
 * that preclik-2009 section 3.3 names before the semismooth one.
 *
 * lemke_lcp.h describes the LCP, the same as lemke's. lcp_newton.h describes a direction, the solution of a mixed
 * LCP: where ssn picks one of the derivatives at a kink, Pang's method lets the mixed LCP decide. A line search
 * halves the step along d until theta(z + t d) <= (1 - 2 sigma t) theta(z), theta = 1/2 |min(z, w)|^2; the slope of
 * theta along d is -2 theta, but for the regularisation. Iterates may have negative weights; their impulses are
 * projected where they are reported.
 *
 * Indices within `equal` of a tie, relative to the largest |min(z_i, w_i)|, count as tied, so ties are not missed by
 * rounding. The direction need not be one of descent then; nor need it be with regularisation, or exist. The method
 * then tries again from the same point without a margin for ties, and after that with larger and larger r. If r =
 * LARGEST does not help either, the point is a local minimum of theta as far as the method can tell, and the method
 * takes a whole step along the last direction: preclik-2009 gives steps of a least length as a means against local
 * minima. Nothing is proven then. It ends where no direction exists: with regularise=0 at the first singular system.
 *
 * If there is no solution, iterates run off to infinity. A step along which theta does not fall, or after which |z|
 * has grown a hundredfold, is examined as a proof of that.
 *
 * An iteration is a Newton step with a factorisation for each direction tried and one product, which measures its
 * impulses. Products with M are not counted. The method runs on one thread, with a dense factorisation. */
#include "solvers/pivot/lcp_newton.h"
#include "solvers/pivot/lcp_work.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>

/* SIGMA: share of the slope that a step must gain. SHORTEST: step below which a direction counts as none of descent.
 * LARGEST: maximum of r. RAISE: factor on r after a direction of no use; LOWER: after a good one. */
static const double SIGMA = 1e-4, SHORTEST = 0x1p-14, LARGEST = 1.0, RAISE = 32.0, LOWER = 0.25;

typedef struct Params {
    int max_unknowns;
    double equal, regularise;
} Params;

static const TalusParam params[] = {
    TALUS_LCP_MAX_UNKNOWNS(Params),
    TALUS_REAL(Params, equal, 1e-6, 0.0, 1.0,
               "difference up to which the arguments of min count as equal, over the largest min"),
    TALUS_REAL(Params, regularise, 1e-7, 0.0, 1.0,
               "added to the diagonal of the Newton equations at first; 0: nothing, ever"),
};

typedef struct Work {
    TalusLcpWork common;
    TalusLcpNewton newton;
    TalusLcpPoint at, trial;
    double *step;      /* [n]: d */
    double regularise; /* r */
    double size;       /* largest |z| at the last search for a proof */
} Work;

/* Largest |min(z_i, w_i)|. */
static double max_residual(const TalusLcpPoint *at, int n)
{
    double max = 0.0;
    for (int i = 0; i < n; i++)
        max = fmax(max, fabs(fmin(at->z[i], at->w[i])));
    return max;
}

/* Halves the step along w->step until theta falls enough; w->trial is then the new point. False if it does not. */
static bool search_line(Work *w, const TalusLcp *lcp)
{
    for (double t = 1.0; t >= SHORTEST; t *= 0.5) {
        for (int i = 0; i < lcp->n; i++)
            w->trial.z[i] = w->at.z[i] + t * w->step[i];
        talus_lcp_point_evaluate(&w->trial, lcp);
        if (w->trial.merit <= (1.0 - 2.0 * SIGMA * t) * w->at.merit)
            return true;
    }
    return false;
}

/* What came of a direction. */
typedef enum Move {
    NONE,  /* it does not exist */
    STUCK, /* no step along it lowers theta enough */
    MOVED  /* w->trial is the new point */
} Move;

/* Computes the direction w->step and searches along it. */
static TalusStatus try_direction(Work *w, double equal, Move *move)
{
    const TalusLcp *lcp = &w->common.problem.lcp;
    const TalusLcpNewtonOptions options = {w->regularise, equal};
    TalusLcpStep step;
    *move = NONE;
    TALUS_TRY(talus_lcp_newton_find(&w->newton, lcp, &w->at, &options, &step));
    if (step != TALUS_LCP_STEP_FOUND)
        return TALUS_OK;
    for (int i = 0; i < lcp->n; i++)
        w->step[i] = w->newton.target[i] - w->at.z[i];
    *move = search_line(w, lcp) ? MOVED : STUCK;
    return TALUS_OK;
}

/* Tries directions after the first one was of no use: with exactly tied indices alone, then with more and more
 * regularisation. */
static TalusStatus try_others(Work *w, const Params *p, Move *move)
{
    if (w->newton.tied_count > 0)
        TALUS_TRY(try_direction(w, 0.0, move));
    while (*move != MOVED && p->regularise > 0.0 && w->regularise < LARGEST) {
        w->regularise = fmin(RAISE * w->regularise, LARGEST);
        TALUS_TRY(try_direction(w, 0.0, move));
    }
    return TALUS_OK;
}

/* Leaves a local minimum of theta: a whole step along the last direction, after which r is the least again. */
static void escape(Work *w, const Params *p)
{
    const TalusLcp *lcp = &w->common.problem.lcp;
    for (int i = 0; i < lcp->n; i++)
        w->trial.z[i] = w->at.z[i] + w->step[i];
    talus_lcp_point_evaluate(&w->trial, lcp);
    w->regularise = p->regularise;
}

/* Finds the next point, in w->trial; *move is NONE if there is no direction to take. *again: false if the problem was
 * found to be infeasible. */
static TalusStatus find_point(TalusSolve *s, Work *w, Move *move, bool *again)
{
    const Params *p = s->params;
    TALUS_TRY(try_direction(w, p->equal * max_residual(&w->at, w->common.problem.lcp.n), move));
    bool examined = *move == MOVED
                        ? talus_lcp_point_has_grown(&w->trial, w->common.problem.lcp.n, &w->size)
                        : *move == STUCK;
    *again = !examined || !talus_lcp_work_prove(&w->common, s, w->step);
    if (*again && *move != MOVED)
        TALUS_TRY(try_others(w, p, move));
    w->regularise = fmax(LOWER * w->regularise, p->regularise);
    if (*again && *move == STUCK)
        escape(w, p);
    return TALUS_OK;
}

/* Takes Newton steps until the driver ends the solve or no direction exists. *again: the latter. */
static TalusStatus take_steps(TalusSolve *s, Work *w, bool *again)
{
    while (*again) {
        Move move;
        TALUS_TRY(find_point(s, w, &move, again));
        if (!*again || move == NONE)
            return TALUS_OK;
        TalusLcpPoint old = w->at;
        w->at = w->trial;
        w->trial = old;
        *again = talus_lcp_work_report(&w->common, s, w->at.z);
    }
    return TALUS_OK;
}

static TalusStatus solve_newton_pang(TalusSolve *s)
{
    Work *w = s->work;
    const Params *p = s->params;
    bool again;
    TALUS_TRY(talus_lcp_work_begin(&w->common, s, p->max_unknowns, &again));
    const TalusLcp *lcp = &w->common.problem.lcp;
    TALUS_TRY(talus_lcp_point_reserve(&w->at, lcp->n));
    TALUS_TRY(talus_lcp_point_reserve(&w->trial, lcp->n));
    TALUS_TRY(TALUS_GROW(w->step, (size_t)lcp->n, 0, "Newton step"));
    talus_lcp_work_get_start(&w->common, s, w->at.z);
    talus_lcp_point_evaluate(&w->at, lcp);
    w->regularise = p->regularise;
    w->size = fmax(1.0, talus_lcp_point_size(&w->at, lcp->n));
    w->newton.factorisations = 0;
    TALUS_TRY(take_steps(s, w, &again));
    s->info->factorisations += w->newton.factorisations;
    talus_lcp_work_end(&w->common, s, again);
    return TALUS_OK;
}

/* `clear` of TalusSolverType. */
static void clear_work(void *work)
{
    Work *w = work;
    talus_lcp_work_clear(&w->common);
    talus_lcp_newton_clear(&w->newton);
    talus_lcp_point_clear(&w->at);
    talus_lcp_point_clear(&w->trial);
    TALUS_RELEASE(w->step);
}

const TalusSolverType talus_solver_newton_pang = {
    .name = "newton-pang",
    .summary = "damped Newton on the min map of lemke's LCP, each step a mixed LCP: small problems",
    .reference = "Pang 1990; Harker & Pang 1990; preclik-2009 section 3.3",
    .takes = TALUS_LCP_TAKES,
    TALUS_PARAMS(params, Params),
    .work_size = sizeof(Work),
    .solve = solve_newton_pang,
    .clear = clear_work,
    .on_host = "the factorisation of the Newton equations",
};

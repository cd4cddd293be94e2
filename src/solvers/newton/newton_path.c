/* solvers/newton/newton_path.c - stabilised Newton method on the normal map of the contact problem's linear
 * complementarity problem, with pivotal paths (Ralph 1994; Dirkse and Ferris 1995): the method behind the PATH
 * solver, of which preclik-2009 section 3.3 gives the map, Eq. 21. It is no part of PATH and shares no code with it.
 *
 * lemke_lcp.h describes the LCP w = M z + q, the same as lemke's. Its normal map is
 *     F(x) = M x+ + q + x - x+,      x+ = max(x, 0),   so z = x+ and w = x+ - x.
 * Newton's method linearises M z + q, not x+, and joins the current point to the root of the linearisation by the
 * path on which the residual falls linearly: F(p(t)) = (1 - t) F(x). The path is piecewise linear, and each piece is
 * a pivot: it is Lemke's with the covering vector -F(x), from the basis of the current point, z_0 = 1 - t
 * (talus_lemke_begin_at). As the LCP is affine already, one path would do, if its first basis were regular; on
 * contact problems it mostly is singular. So each path is that of a proximal problem,
 *     M y + q + r (y - z),   z the current point,
 * which does no harm to the limit: several paths follow one another, each from the basis of the last, the later ones
 * mostly without a pivot, and r falls. What stabilises the method is the path search: the end of a path is taken if
 * theta = 1/2 |min(z, w)|^2 is below the largest of the last MEMORY points' (nonmonotone, as Grippo, Lampariello and
 * Lucidi 1986), else the point of the path at a pivot with the least theta, if that is below the current one's; else
 * r grows and the path starts again. After FAILURES such paths in a row the end of the last one is taken as it is,
 * or, if none had an end, the method ends.
 *
 * Before the first path, the crash finds a basis near the solution's: semismooth Newton steps on the min map
 * (lcp_newton.h), projected onto z >= 0, while they lower theta and the basis changes. So a start near a solution,
 * or with its basis, costs hardly any pivots. A path that ends on a ray, loses accuracy, is too long or has a
 * larger residual than its start is replaced by Lemke's own, from all w basic with a positive covering vector: on
 * M + r I, which is strictly copositive, that one has no rays but for rounding.
 *
 * Differences from PATH: the problem is linear; points of a path are tried at pivots alone; instead of a watchdog,
 * the end of a path is taken after FAILURES; a dense inverse in place of sparse factors; no preprocessing.
 *
 * If there is no solution, ends of paths run off along a direction that proves it: the change over a path whose end
 * is not taken or is far away is examined, as is a ray.
 *
 * An iteration is a pivot, a step of the crash, or the end of a path without a pivot, each with one product, which
 * measures its impulses. Products with M are not counted. The method runs on one thread. */
#include "solvers/pivot/lcp_newton.h"
#include "solvers/pivot/lcp_work.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

/* LONG: maximum number of pivots of a path, divided by the number of unknowns plus 10. MEMORY: points that the
 * nonmonotone test remembers. FAILURES: number of paths in a row of no use. */
enum { LONG = 20, MEMORY = 5, FAILURES = 8, REFACTOR = 100 };

/* SIGMA: share of theta that a point must gain. RAISE, LOWER: factors on r after a path of no use and after one
 * whose end is taken; FLOOR, LARGEST: limits of r. INSIDE: least start of a basic variable on a path. */
static const double SIGMA = 1e-4, RAISE = 10.0, LOWER = 0.1, FLOOR = 1e-8, LARGEST = 1.0;
static const double INSIDE = 1e-6;
/* r of Lemke's own paths, which need no regular first basis. */
static const double LEAST = 1e-12;
/* SHORTEST: least step of the crash. */
static const double SHORTEST = 0x1p-14;

typedef struct Params {
    int max_unknowns, crash;
    double proximal;
} Params;

static const TalusParam params[] = {
    TALUS_LCP_MAX_UNKNOWNS(Params),
    TALUS_INT(Params, crash, 20, 0, 1000,
              "maximum number of projected Newton steps before the first path"),
    TALUS_REAL(Params, proximal, 1e-4, 1e-12, 1.0,
               "weight of the current point in the crash and in the first path"),
};

typedef struct Work {
    TalusLcpWork common;
    TalusLcpNewton newton; /* of the crash */
    TalusLcpPoint at;      /* where paths start */
    TalusLcpPoint trial;   /* on a path, or of a step of the crash */
    TalusLcpPoint least;   /* of least merit at a pivot of the current path */
    TalusLcp lcp;          /* the proximal problem */
    TalusLemke lemke;
    bool *has_z;           /* [n]: basis of a path's start */
    double *start, *cover; /* [n]: values of its basic variables; covering vector */
    double recent[MEMORY]; /* merits of the last points, the newest at count % MEMORY */
    int count;
    double proximal; /* r */
    double size;     /* largest |z| at the last search for a proof */
} Work;

/* ---- the crash ---- */

/* Shortens the step to newton.target until theta of the point, projected, falls enough; w->trial is then that point.
 * False if it does not. */
static bool search_projected(Work *w, const TalusLcp *lcp)
{
    for (double t = 1.0; t >= SHORTEST; t *= 0.5) {
        for (int i = 0; i < lcp->n; i++)
            w->trial.z[i] = fmax(w->at.z[i] + t * (w->newton.target[i] - w->at.z[i]), 0.0);
        talus_lcp_point_evaluate(&w->trial, lcp);
        if (w->trial.merit <= (1.0 - SIGMA * t) * w->at.merit)
            return true;
    }
    return false;
}

/* Writes the basis of the point to w->has_z. Returns the number of indices that changed. */
static int update_basis(Work *w, int n)
{
    int changed = 0;
    for (int i = 0; i < n; i++) {
        bool has_z = w->at.z[i] > w->at.w[i];
        changed += has_z != w->has_z[i];
        w->has_z[i] = has_z;
    }
    return changed;
}

/* Exchanges the current point with w->trial. */
static void take_trial(Work *w)
{
    TalusLcpPoint old = w->at;
    w->at = w->trial;
    w->trial = old;
}

/* Takes projected Newton steps while they lower theta and the basis changes. *again: false if the driver ends the
 * solve. */
static TalusStatus crash(TalusSolve *s, Work *w, bool *again)
{
    const Params *p = s->params;
    const TalusLcp *lcp = &w->common.problem.lcp;
    const TalusLcpNewtonOptions options = {p->proximal, -1.0};
    TalusLcpStep step = TALUS_LCP_STEP_FOUND;
    update_basis(w, lcp->n);
    for (int k = 0, changed = 1; *again && changed > 0 && k < p->crash; k++) {
        TALUS_TRY(talus_lcp_newton_find(&w->newton, lcp, &w->at, &options, &step));
        if (step != TALUS_LCP_STEP_FOUND || !search_projected(w, lcp))
            return TALUS_OK;
        take_trial(w);
        changed = update_basis(w, lcp->n);
        *again = talus_lcp_work_report(&w->common, s, w->at.z);
    }
    return TALUS_OK;
}

/* ---- paths ---- */

/* Sets basis and start of the path from the current point: x = z - w, away from kinks. */
static void set_path_start(Work *w, int n)
{
    talus_lemke_spread(n, 0, w->start);
    for (int i = 0; i < n; i++) {
        double x = w->at.z[i] - w->at.w[i];
        w->has_z[i] = x > 0.0;
        w->start[i] = fmax(fabs(x), INSIDE * w->start[i]);
    }
}

/* Sets w->trial to the current basis and reports it; a copy stays in w->least if its theta is the least of the path.
 * True if the solve must go on. */
static bool report_basis(TalusSolve *s, Work *w)
{
    const TalusLcp *lcp = &w->common.problem.lcp;
    talus_lemke_get_point(&w->lemke, w->trial.z);
    talus_lcp_point_evaluate(&w->trial, lcp);
    if (w->trial.merit < w->least.merit)
        talus_lcp_point_copy(&w->trial, lcp->n, &w->least);
    return talus_lcp_work_report(&w->common, s, w->trial.z);
}

/* Follows the path that has begun in *state until it ends or z_0 exceeds `most`. *again: false if the driver ends the
 * solve. */
static TalusStatus follow_path(TalusSolve *s, Work *w, double most, TalusLemkeState *state,
                               bool *again)
{
    int last = s->info->iterations + LONG * (w->lcp.n + 10);
    *again = *state != TALUS_LEMKE_SOLVED || report_basis(s, w);
    while (*again && *state == TALUS_LEMKE_GOING && s->info->iterations < last &&
           talus_lemke_get_artificial(&w->lemke) <= most) {
        TALUS_TRY(talus_lemke_pivot(&w->lemke, state));
        *again = *state == TALUS_LEMKE_RAY || *state == TALUS_LEMKE_BROKEN || report_basis(s, w);
    }
    s->info->factorisations += w->lemke.factorisations;
    return TALUS_OK;
}

/* Follows the path of the proximal problem from the current point, and Lemke's own if that does not reach its end.
 * *state: SOLVED if w->trial is the end of a path. */
static TalusStatus run_paths(TalusSolve *s, Work *w, TalusLemkeState *state, bool *again)
{
    const TalusLcp *lcp = &w->common.problem.lcp;
    w->least.merit = INFINITY;
    TALUS_TRY(talus_lcp_regularise(lcp, w->proximal, w->at.z, &w->lcp));
    set_path_start(w, lcp->n);
    TALUS_TRY(talus_lemke_begin_at(&w->lemke, &w->lcp, w->has_z, w->start, w->cover, state));
    TALUS_TRY(follow_path(s, w, 1.0, state, again));
    if (!*again || *state == TALUS_LEMKE_SOLVED)
        return TALUS_OK;
    talus_lemke_spread(lcp->n, w->count, w->cover);
    TALUS_TRY(talus_lcp_regularise(lcp, LEAST, w->at.z, &w->lcp));
    TALUS_TRY(talus_lemke_begin(&w->lemke, &w->lcp, w->cover, state));
    return follow_path(s, w, INFINITY, state, again);
}

/* ---- the solve ---- */

/* The largest of the recent merits. */
static double reference_merit(const Work *w)
{
    double most = 0.0;
    for (int k = 0; k < MEMORY && k <= w->count; k++)
        most = fmax(most, w->recent[k]);
    return most;
}

/* Makes w->trial the current point and remembers its merit. */
static void accept_trial(Work *w)
{
    take_trial(w);
    w->recent[++w->count % MEMORY] = w->at.merit;
}

/* The path search: takes the end of the path or the best point at a pivot, and adapts r. False if none is good
 * enough. */
static bool search_path(Work *w, TalusLemkeState state)
{
    double enough = (1.0 - SIGMA) * reference_merit(w);
    bool end = state == TALUS_LEMKE_SOLVED && w->trial.merit <= enough;
    bool taken = end || w->least.merit <= (1.0 - SIGMA) * w->at.merit;
    w->proximal = end ? fmax(LOWER * w->proximal, FLOOR) : fmin(RAISE * w->proximal, LARGEST);
    if (!taken)
        return false;
    if (!end)
        talus_lcp_point_copy(&w->least, w->common.problem.lcp.n, &w->trial);
    accept_trial(w);
    return true;
}

/* Looks for a proof of infeasibility: in the ray on which Lemke's own path ended, or in the change over the last
 * path, if its end was not taken or |z| has grown much. w->at and w->trial are the ends of the path. True if there
 * is one. */
static bool is_infeasible(TalusSolve *s, Work *w, TalusLemkeState state, bool taken)
{
    const double *from = taken ? w->trial.z : w->at.z, *to = taken ? w->at.z : w->trial.z;
    if (state == TALUS_LEMKE_RAY)
        talus_lemke_get_ray(&w->lemke, w->start);
    for (int i = 0; state != TALUS_LEMKE_RAY && i < w->common.problem.lcp.n; i++)
        w->start[i] = to[i] - from[i];
    bool grown = taken && talus_lcp_point_has_grown(&w->at, w->common.problem.lcp.n, &w->size);
    bool examined = state == TALUS_LEMKE_RAY || (state == TALUS_LEMKE_SOLVED && !taken) || grown;
    return examined && talus_lcp_work_prove(&w->common, s, w->start);
}

/* Leaves a local minimum of theta after FAILURES paths of no use: takes the end of the last one as it is. */
static void escape(Work *w, const Params *p)
{
    accept_trial(w);
    w->proximal = p->proximal;
}

/* Follows paths until the driver ends the solve or, after FAILURES of no use in a row, there is no end to take either.
 * *again: the latter. */
static TalusStatus take_paths(TalusSolve *s, Work *w, bool *again)
{
    for (int failures = 0; *again;) {
        TalusLemkeState state;
        TALUS_TRY(run_paths(s, w, &state, again));
        if (!*again)
            return TALUS_OK;
        bool taken = search_path(w, state);
        failures = taken ? 0 : failures + 1;
        *again = !is_infeasible(s, w, state, taken);
        if (!*again || failures < FAILURES)
            continue;
        if (state != TALUS_LEMKE_SOLVED)
            return TALUS_OK;
        escape(w, s->params);
        failures = 0;
    }
    return TALUS_OK;
}

static TalusStatus reserve(Work *w)
{
    const int n = w->common.problem.lcp.n;
    TALUS_TRY(talus_lcp_point_reserve(&w->at, n));
    TALUS_TRY(talus_lcp_point_reserve(&w->trial, n));
    TALUS_TRY(talus_lcp_point_reserve(&w->least, n));
    TALUS_TRY(TALUS_GROW(w->has_z, (size_t)n, 0, "basis of a path"));
    memset(w->has_z, 0, (size_t)n * sizeof *w->has_z);
    TALUS_TRY(TALUS_GROW(w->start, (size_t)n, 0, "start of a path"));
    return TALUS_GROW(w->cover, (size_t)n, 0, "covering vector");
}

/* Sets the first point from the impulses that were reported as the start. */
static void set_first_point(TalusSolve *s, Work *w)
{
    const Params *p = s->params;
    const TalusLcp *lcp = &w->common.problem.lcp;
    talus_lcp_work_get_start(&w->common, s, w->at.z);
    talus_lcp_point_evaluate(&w->at, lcp);
    w->proximal = p->proximal;
    w->size = fmax(1.0, talus_lcp_point_size(&w->at, lcp->n));
    w->newton.factorisations = 0;
    w->lemke.ties = TALUS_TIES_LEXICOGRAPHIC;
    w->lemke.refactor = REFACTOR;
}

static TalusStatus solve_newton_path(TalusSolve *s)
{
    Work *w = s->work;
    const Params *p = s->params;
    bool again;
    TALUS_TRY(talus_lcp_work_begin(&w->common, s, p->max_unknowns, &again));
    TALUS_TRY(reserve(w));
    set_first_point(s, w);
    TALUS_TRY(crash(s, w, &again));
    s->info->factorisations += w->newton.factorisations;
    w->count = 0;
    w->recent[0] = w->at.merit;
    TALUS_TRY(take_paths(s, w, &again));
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
    talus_lcp_point_clear(&w->least);
    talus_lcp_clear(&w->lcp);
    talus_lemke_clear(&w->lemke);
    TALUS_RELEASE(w->has_z, w->start, w->cover);
}

const TalusSolverType talus_solver_newton_path = {
    .name = "newton-path",
    .summary =
        "Newton on the normal map of lemke's LCP by pivotal paths from a crash: small problems, "
        "warm starts",
    .reference = "Ralph 1994; Dirkse & Ferris 1995; preclik-2009 Eq. 21",
    .takes = TALUS_LCP_TAKES,
    TALUS_PARAMS(params, Params),
    .work_size = sizeof(Work),
    .solve = solve_newton_path,
    .clear = clear_work,
    .on_host = "the pivoting",
};

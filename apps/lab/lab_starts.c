/* lab/lab_starts.c - one solver from several starts: how many solutions a problem has, as far as they show.
 *
 * Exact Coulomb friction may have several solutions. Starts are zero impulses, then random ones inside the cones with
 * the mean normal impulse of the first result. Two results are one solution if the rms difference of their contact
 * velocities is at most sqrt(tolerance) times the residual of zero impulses, far above the error of either and far
 * below the distance of solutions met so far. Impulses are not compared: those of hyperstatic bodies are not unique. */
#include "lab.h"

#include "base/memory.h"
#include "base/rng.h"
#include "base/status.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* A solution: velocities, how often it was found, and the figures of its first start. */
typedef struct Solution {
    double *velocity;
    int found, start;
    double residual, objective, nearest; /* nearest: distance of the nearest other solution, m/s */
} Solution;

typedef struct Search {
    LabProblem *p;
    const LabJob *job;
    Solution *solution; /* [starts] */
    int solutions, converged;
    double mean, same; /* mean normal impulse, N s; distance up to which results are one, m/s */
} Search;

static double distance(const LabProblem *p, const double *a, const double *b)
{
    double sum = 0.0;
    for (int i = 0; i < talus_problem_size(p->problem); i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum / talus_problem_blocks(p->problem));
}

/* ---- one start ---- */

static void set_start(const Search *s, int start)
{
    TalusProblem *problem = s->p->problem;
    const int rows = talus_problem_rows(problem);
    double *gamma = talus_problem_gamma(problem);
    TalusRng rng = talus_rng((uint64_t)start);
    memset(gamma, 0, (size_t)talus_problem_size(problem) * sizeof *gamma);
    for (int i = 0; start > 0 && i < talus_problem_blocks(problem); i++) {
        double normal = 2.0 * s->mean * talus_rng_uniform(&rng);
        double turn = 6.283185307179586 * talus_rng_uniform(&rng);
        double tangent = rows > 1 ? talus_problem_mu(problem, i) * normal : 0.0;
        tangent *= talus_rng_uniform(&rng);
        gamma[i * rows] = normal;
        for (int k = 1; k < rows && k < 3; k++)
            gamma[i * rows + k] = tangent * (k == 1 ? cos(turn) : sin(turn));
    }
}

static double mean_normal(TalusProblem *problem)
{
    const double *gamma = talus_problem_gamma(problem);
    double sum = 0.0;
    for (int i = 0; i < talus_problem_blocks(problem); i++)
        sum += fabs(gamma[i * talus_problem_rows(problem)]);
    return sum / fmax(1.0, talus_problem_blocks(problem));
}

static bool go_on(void *user, int iteration, int products, double residual)
{
    (void)user;
    (void)iteration;
    (void)products;
    (void)residual;
    return cli_stop_signal() == 0;
}

static TalusStatus solve_from(const Search *s, TalusSolver *solver, int start, TalusSolveInfo *info)
{
    const LabJob *job = s->job;
    TalusSolveOptions o = talus_solve_options_default();
    o.norm = job->siconos ? TALUS_NORM_SICONOS : TALUS_NORM_RMS;
    o.tolerance = fmax(job->tolerance * (job->siconos ? 1.0 : s->p->natural_at_zero), DBL_MIN);
    o.outer = job->outer;
    o.max_iterations = job->max_iterations;
    o.max_seconds = job->max_seconds;
    o.monitor = go_on;
    set_start(s, start);
    return talus_solver_solve(solver, s->p->problem, &o, info);
}

/* ---- solutions ---- */

/* Enters the problem's impulses: as a new solution, or as one found once more. */
static TalusStatus enter(Search *s, int start)
{
    TalusProblem *problem = s->p->problem;
    Solution *next = &s->solution[s->solutions];
    TalusMetrics m;
    talus_problem_velocity(problem, talus_problem_gamma(problem), s->p->velocity);
    s->converged++;
    for (int i = 0; i < s->solutions; i++)
        if (distance(s->p, s->solution[i].velocity, s->p->velocity) <= s->same) {
            s->solution[i].found++;
            return TALUS_OK;
        }
    size_t n = (size_t)talus_problem_size(problem);
    TALUS_TRY(TALUS_ALLOC(next->velocity, n + 1, "velocities of a solution"));
    memcpy(next->velocity, s->p->velocity, n * sizeof *next->velocity);
    TALUS_TRY(talus_problem_measure(problem, talus_problem_gamma(problem), &m));
    next->found = 1;
    next->start = start;
    next->residual = m.natural_relative;
    next->objective = m.objective;
    s->solutions++;
    return TALUS_OK;
}

static TalusStatus search(Search *s, int starts)
{
    TalusSolver *solver;
    TALUS_TRY(talus_problem_set_backend(s->p->problem, s->job->backend));
    TALUS_TRY(talus_solver_create(s->job->solver, &solver));
    TalusStatus status = talus_solver_supports(solver, s->p->problem);
    for (int k = 0; status == TALUS_OK && k < starts && !cli_stop_signal(); k++) {
        TalusSolveInfo info;
        status = solve_from(s, solver, k, &info);
        if (status == TALUS_OK && info.outcome == TALUS_OUTCOME_CONVERGED)
            status = enter(s, k);
        s->mean = k == 0 ? mean_normal(s->p->problem) : s->mean;
    }
    talus_solver_destroy(solver);
    return status;
}

static void find_nearest(Search *s)
{
    for (int i = 0; i < s->solutions; i++) {
        s->solution[i].nearest = NAN;
        for (int k = 0; k < s->solutions; k++)
            if (k != i)
                s->solution[i].nearest =
                    fmin(s->solution[i].nearest,
                         distance(s->p, s->solution[i].velocity, s->solution[k].velocity));
    }
}

static LabTable *add_table(const Search *s, LabSet *set, int starts)
{
    char title[LAB_TEXT * 2 + 32];
    snprintf(title, sizeof title, "%s: solutions by %s", s->p->name, s->job->solver);
    LabTable *t = lab_set_table(
        set, title, "solution\tstarts\tfirst start\trelative\tobjective\tnearest other, m/s");
    for (int i = 0; i < s->solutions; i++) {
        const Solution *x = &s->solution[i];
        lab_table_row(t, "%d\t%d\t%d\t%.2e\t%.10g\t%.2e", i + 1, x->found, x->start, x->residual,
                      x->objective, x->nearest);
    }
    snprintf(t->note, sizeof t->note,
             "%d of %d starts converged, to %d solution%s: from zero (start 0) and from random "
             "impulses. Results count as one solution if the rms of the difference of their "
             "contact velocities is at most %.1e m/s.",
             s->converged, starts, s->solutions, s->solutions == 1 ? "" : "s", s->same);
    return t;
}

TalusStatus lab_starts(LabSet *set, int problem, const LabJob *job, int starts,
                       const LabTable **out)
{
    LabProblem *p = &set->problems[problem];
    Search s = {.p = p, .job = job, .same = sqrt(job->tolerance) * p->natural_at_zero};
    TALUS_TRY(TALUS_ALLOC(s.solution, (size_t)starts, "solutions"));
    memset(s.solution, 0, (size_t)starts * sizeof *s.solution);
    TalusStatus status = search(&s, starts);
    if (status == TALUS_OK) {
        find_nearest(&s);
        *out = add_table(&s, set, starts);
    }
    for (int i = 0; i < starts; i++)
        talus_release(s.solution[i].velocity);
    talus_release(s.solution);
    return status;
}

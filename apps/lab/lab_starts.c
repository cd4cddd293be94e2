/* lab/lab_starts.c - solves a problem from several starts by one solver and counts the distinct solutions found.
 *
 * Exact Coulomb friction may have several solutions. Starts are zero impulses, then random ones inside circular cones,
 * with the mean normal impulse of the first result. Two results are one solution if the rms difference of their contact
 * velocities is at most sqrt(tolerance) times the residual of zero impulses, far above the error of either and far
 * below the distances between solutions observed so far. Impulses are not compared: those of hyperstatic bodies are not
 * unique. */
#include "lab.h"

#include "base/memory.h"
#include "base/rng.h"
#include "base/status.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct Search {
    LabProblem *p;
    const LabJob *job;
    LabSearch *out;
    double **velocity; /* [out->solutions]: contact velocities of each solution */
    double mean;       /* mean normal impulse of the first result, N s */
} Search;

/* Returns the root mean square over contacts of the difference of contact velocities, m/s. */
static double velocity_distance(const LabProblem *p, const double *a, const double *b)
{
    double sum = 0.0;
    for (int i = 0; i < talus_problem_size(p->problem); i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum / fmax(1.0, talus_problem_blocks(p->problem)));
}

/* ---- one start ---- */

/* Sets the problem's impulses: to zero for start 0, else to random ones with `start` as seed, normal impulses up to
 * twice s->mean and tangential ones inside the disc of radius mu times that; moments are 0. */
static void set_start_impulses(const Search *s, int start)
{
    TalusProblem *problem = s->p->problem;
    const int rows = talus_problem_rows(problem);
    double *gamma = talus_problem_gamma(problem);
    TalusRng rng = talus_rng_from_seed((uint64_t)start);
    memset(gamma, 0, (size_t)talus_problem_size(problem) * sizeof *gamma);
    for (int i = 0; start > 0 && i < talus_problem_blocks(problem); i++) {
        double normal = 2.0 * s->mean * talus_rng_uniform(&rng);
        double turn = 6.283185307179586 * talus_rng_uniform(&rng);
        double mu = rows > 1 ? talus_problem_mu(problem, i) : 0.0;
        double tangent = isfinite(mu) ? mu * normal : 0.0; /* infinite: a block of a joint */
        tangent *= talus_rng_uniform(&rng);
        gamma[i * rows] = normal;
        for (int k = 1; k < rows && k < 3; k++)
            gamma[i * rows + k] = tangent * (k == 1 ? cos(turn) : sin(turn));
    }
}

/* Returns the mean magnitude of the normal impulses, N s; of a joint's block that of its first row. */
static double mean_normal_impulse(TalusProblem *problem)
{
    const double *gamma = talus_problem_gamma(problem);
    double sum = 0.0;
    for (int i = 0; i < talus_problem_blocks(problem); i++)
        sum += fabs(gamma[i * talus_problem_rows(problem)]);
    return sum / fmax(1.0, talus_problem_blocks(problem));
}

/* Sets the impulses of the start and solves with the terms of the job. */
static TalusStatus solve_from(const Search *s, TalusSolver *solver, int start, TalusSolveInfo *info)
{
    const LabJob *job = s->job;
    TalusSolveOptions o = talus_solve_options_default();
    o.norm = job->siconos ? TALUS_NORM_SICONOS : TALUS_NORM_RMS;
    o.tolerance = fmax(job->tolerance * (job->siconos ? 1.0 : s->p->natural_at_zero), DBL_MIN);
    o.outer = job->outer;
    o.max_iterations = job->max_iterations;
    o.max_seconds = job->max_seconds;
    o.monitor = lab_monitor_signals;
    set_start_impulses(s, start);
    return talus_solver_solve(solver, s->p->problem, &o, info);
}

/* ---- solutions ---- */

/* Records the result of a converged solve, the problem's impulses: as one more start of a known solution with the same
 * velocities, or as a new solution. */
static TalusStatus record_solution(Search *s, int start)
{
    TalusProblem *problem = s->p->problem;
    LabSearch *out = s->out;
    TalusMetrics m;
    talus_problem_velocity(problem, talus_problem_gamma(problem), s->p->velocity);
    out->converged++;
    for (int i = 0; i < out->solutions; i++)
        if (velocity_distance(s->p, s->velocity[i], s->p->velocity) <= out->same_within) {
            out->solution[i].found++;
            return TALUS_OK;
        }
    TALUS_TRY(talus_problem_measure(problem, talus_problem_gamma(problem), &m));
    size_t n = (size_t)talus_problem_size(problem), count = (size_t)out->solutions + 1;
    double *velocity;
    TALUS_TRY(TALUS_GROW(out->solution, count, count - 1, "solutions"));
    TALUS_TRY(TALUS_GROW(s->velocity, count, count - 1, "solutions"));
    TALUS_TRY(TALUS_ALLOC(velocity, n, "velocities of a solution"));
    memcpy(velocity, s->p->velocity, n * sizeof *velocity);
    s->velocity[count - 1] = velocity;
    out->solution[out->solutions++] = (LabSolution){
        .found = 1, .start = start, .residual = m.natural_relative, .objective = m.objective};
    return TALUS_OK;
}

/* Solves from each start and records the solutions. */
static TalusStatus search_from_starts(Search *s, int starts)
{
    TalusSolver *solver;
    TALUS_TRY(talus_problem_set_backend(s->p->problem, s->job->backend));
    TALUS_TRY(talus_solver_create(s->job->solver, &solver));
    TalusStatus status = talus_solver_supports(solver, s->p->problem);
    for (int k = 0; status == TALUS_OK && k < starts && !cli_stop_signal(); k++) {
        TalusSolveInfo info;
        status = solve_from(s, solver, k, &info);
        if (status == TALUS_OK && info.outcome == TALUS_OUTCOME_CONVERGED)
            status = record_solution(s, k);
        s->mean = k == 0 ? mean_normal_impulse(s->p->problem) : s->mean;
    }
    talus_solver_destroy(solver);
    return status;
}

/* Sets LabSolution.nearest of all solutions. */
static void find_nearest_solutions(const Search *s)
{
    LabSolution *solution = s->out->solution;
    for (int i = 0; i < s->out->solutions; i++) {
        solution[i].nearest = NAN;
        for (int k = 0; k < s->out->solutions; k++)
            if (k != i)
                solution[i].nearest = fmin(solution[i].nearest,
                                           velocity_distance(s->p, s->velocity[i], s->velocity[k]));
    }
}

TalusStatus lab_set_search(LabSet *set, int problem, const LabJob *job, int starts,
                           const LabSearch **out)
{
    LabProblem *p = &set->problems[problem];
    size_t count = (size_t)set->search_count + 1;
    TALUS_TRY(TALUS_GROW(set->searches, count, count - 1, "searches"));
    LabSearch *found = &set->searches[set->search_count++];
    *found = (LabSearch){.problem = problem,
                         .starts = starts,
                         .same_within = sqrt(job->tolerance) * p->natural_at_zero};
    snprintf(found->solver, sizeof found->solver, "%s", job->solver);
    Search s = {.p = p, .job = job, .out = found};
    TalusStatus status = search_from_starts(&s, starts);
    find_nearest_solutions(&s);
    for (int i = 0; i < found->solutions; i++)
        talus_release(s.velocity[i]);
    talus_release(s.velocity);
    *out = found;
    return status;
}

void lab_search_make_table(const LabSet *set, const LabSearch *search, LabTable *out)
{
    char title[LAB_TEXT * 2 + 32];
    snprintf(title, sizeof title, "%s: solutions by %s", set->problems[search->problem].name,
             search->solver);
    lab_table_begin(out, title,
                    "solution\tstarts\tfirst start\trelative\tobjective\tnearest other, m/s");
    for (int i = 0; i < search->solutions; i++) {
        const LabSolution *x = &search->solution[i];
        lab_table_add_cells(out, "%d\t%d\t%d\t%.2e\t%.10g\t%.2e", i + 1, x->found, x->start,
                            x->residual, x->objective, x->nearest);
    }
    snprintf(out->note, sizeof out->note,
             "%d of %d starts converged, to %d solution%s: from zero (start 0) and from random "
             "impulses. Results count as one solution if the rms of the difference of their "
             "contact velocities is at most %.1e m/s.",
             search->converged, search->starts, search->solutions,
             search->solutions == 1 ? "" : "s", search->same_within);
}

/* lab/lab_run.c - runs one solver on one problem, observes and measures it. */
#include "lab.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/order.h"
#include "base/status.h"
#include "base/timer.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double draw_interval = 0.2; /* seconds between redraws */

/* Data of the callbacks on_iteration and on_iterate. The trace grows by realloc, not by the library's allocator, whose
 * peak during the solve is reported as the solver's memory. */
typedef struct Observer {
    LabProblem *problem;
    LabResult *result;
    const char *name;
    /* TalusBlockState of each block at the last row of the trace; all open before the first row. NULL: no trace. */
    unsigned char *state;
    TalusStatus status; /* error of on_iterate, which ends the solve; else TALUS_OK */
    bool draw;          /* progress is to be shown */
    bool drawn;         /* a line of progress is on the terminal */
    double begun;       /* wall clock at the start of the solve */
    double last_draw;   /* wall clock at the last redraw; at the start, `begun` */
} Observer;

void lab_job_key(const LabProblem *problem, const LabJob *job, int threads, char key[17])
{
    char text[LAB_TEXT * 5];
    char outer[LAB_TEXT];
    bool host = strcmp(job->backend, "cpu") == 0;
    lab_outer_format(&job->outer, outer);
    int length =
        snprintf(text, sizeof text,
                 "%s %016" PRIx64 " %016" PRIx64 " %s|%s %.17g %d %.17g %d %d%s%s%s%s%s%s%s",
                 talus_version(), problem->hash, problem->reference_hash, job->solver,
                 job->label ? job->label : "", job->tolerance, job->max_iterations,
                 job->max_seconds, job->warm, threads, host ? "" : " ", host ? "" : job->backend,
                 problem->changed_friction[0] ? " law " : "", problem->changed_friction,
                 outer[0] ? " outer " : "", outer, job->siconos ? " siconos" : "");
    snprintf(key, 17, "%016" PRIx64, talus_hash(TALUS_HASH_SEED, text, (size_t)length));
}

/* ---- during the solve ---- */

/* On a terminal, prints iteration and residual, at most every draw_interval. */
static void draw_progress(Observer *w, int iteration, double residual)
{
    double now = talus_now(), zero = w->problem->natural_at_zero;
    if (!w->draw || now - w->last_draw < draw_interval)
        return;
    fprintf(stderr, "\r\033[K%s  %s  iteration %d  residual %.2e  %.1f s", w->problem->name,
            w->name, iteration, zero > 0.0 ? residual / zero : residual, now - w->begun);
    fflush(stderr);
    w->last_draw = now;
    w->drawn = true;
}

/* Monitor: shows the progress; ends the solve after a signal. */
static bool on_iteration(void *user, int iteration, int products, double residual)
{
    Observer *w = user;
    (void)products;
    draw_progress(w, iteration, residual);
    return cli_stop_signal() == 0;
}

/* Returns the number of blocks whose state differs from w->state; stores the new states there. */
static int count_state_changes(Observer *w, const double *gamma)
{
    const TalusProblem *problem = w->problem->problem;
    int changes = 0;
    for (int i = 0; i < talus_problem_blocks(problem); i++) {
        unsigned char state = (unsigned char)talus_problem_state(problem, i, gamma);
        changes += state != w->state[i];
        w->state[i] = state;
    }
    return changes;
}

/* Returns a new last row of the trace; NULL: out of memory. */
static double *append_row(LabTrace *trace)
{
    if (trace->count == trace->capacity) {
        int capacity = trace->capacity ? 2 * trace->capacity : 256;
        void *row = realloc(trace->row, (size_t)capacity * sizeof *trace->row);
        if (!row)
            return NULL;
        trace->row = row;
        trace->capacity = capacity;
    }
    return trace->row[trace->count++];
}

/* Observer: measures the iterate and appends a row to the trace; ends the solve on an error or after a signal. */
static bool on_iterate(void *user, const TalusObservation *seen)
{
    Observer *w = user;
    TalusMetrics m;
    w->status = talus_problem_measure(w->problem->problem, seen->gamma, &m);
    double *row = w->status == TALUS_OK ? append_row(&w->result->trace) : NULL;
    if (w->status == TALUS_OK && !row)
        w->status = talus_fail(TALUS_ERR_MEMORY, "out of memory for the trace of %s", w->name);
    if (!row)
        return false;
    row[LAB_ITERATION] = seen->iteration;
    row[LAB_PRODUCTS] = seen->products;
    row[LAB_SECONDS] = seen->seconds;
    row[LAB_OPEN] = m.open;
    row[LAB_STATE_CHANGES] = count_state_changes(w, seen->gamma);
    row[LAB_VELOCITY_ERROR] = lab_velocity_error(w->problem, seen->gamma);
    lab_copy_metrics(lab_columns, LAB_COLUMNS, &m, row);
    draw_progress(w, seen->iteration, m.natural.rms);
    return cli_stop_signal() == 0;
}

/* ---- the result ---- */

/* Writes normal impulses in ascending order, as in heyn-2012 Fig. 5: all of them or, if there are more than
 * LAB_IMPULSES, a sample at about equal distances in rank that includes the smallest and the largest. */
static TalusStatus sample_sorted_impulses(const TalusProblem *problem, const double *gamma,
                                          LabResult *out)
{
    int blocks = talus_problem_blocks(problem), rows = talus_problem_rows(problem);
    int count = blocks < LAB_IMPULSES ? blocks : LAB_IMPULSES;
    double *normal;
    TALUS_TRY(TALUS_ALLOC(normal, (size_t)blocks, "sorted impulses"));
    for (int i = 0; i < blocks; i++)
        normal[i] = gamma[(size_t)i * (size_t)rows];
    qsort(normal, (size_t)blocks, sizeof *normal, talus_compare_doubles);
    for (int k = 0; k < count; k++) {
        int rank = count < 2 ? 0 : (int)((int64_t)k * (blocks - 1) / (count - 1));
        out->impulse_rank[k] = rank + 1;
        out->impulse[k] = normal[rank];
    }
    out->impulse_count = count;
    talus_release(normal);
    return TALUS_OK;
}

/* Fills objective, residuals, numbers of states and sampled impulses of the result. */
static TalusStatus measure_result(LabProblem *p, const double *gamma, LabResult *out)
{
    TalusMetrics m;
    TALUS_TRY(talus_problem_measure(p->problem, gamma, &m));
    out->objective = m.objective;
    lab_copy_metrics(lab_residuals, LAB_RESIDUALS, &m, out->residual);
    out->residual[LAB_R_VELOCITY_ERROR] = lab_velocity_error(p, gamma);
    out->open = m.open;
    out->sliding = m.sliding;
    out->sticking = m.sticking;
    return sample_sorted_impulses(p->problem, gamma, out);
}

/* Writes why a solve ended without converging; leaves "" if it converged. */
static void write_reason(const LabJob *job, const TalusSolveInfo *info, LabResult *out)
{
    if (out->interrupted)
        snprintf(out->reason, sizeof out->reason, "interrupted");
    else if (info->outcome == TALUS_OUTCOME_BUDGET && info->iterations >= job->max_iterations)
        snprintf(out->reason, sizeof out->reason, "%d iterations used up", job->max_iterations);
    else if (info->outcome == TALUS_OUTCOME_BUDGET && job->max_seconds > 0.0 &&
             info->seconds >= job->max_seconds)
        snprintf(out->reason, sizeof out->reason, "%g s used up", job->max_seconds);
    else if (info->outcome == TALUS_OUTCOME_BUDGET)
        snprintf(out->reason, sizeof out->reason, "the solver gave up");
    else if (info->outcome == TALUS_OUTCOME_INFEASIBLE)
        snprintf(out->reason, sizeof out->reason, "the constraints contradict each other");
    else if (info->outcome == TALUS_OUTCOME_DIVERGED)
        snprintf(out->reason, sizeof out->reason,
                 "a number that is not finite, or a residual a thousand times that of zero "
                 "impulses");
}

/* Sets the outcome, all figures to NAN and the reason to the library's error. */
static void set_unmeasured(LabResult *out, LabOutcome outcome)
{
    lab_result_clear(out);
    out->outcome = outcome;
    out->objective = out->seconds = out->memory_bytes = NAN;
    for (int i = 0; i < LAB_RESIDUALS; i++)
        out->residual[i] = NAN;
    /* talus_error() of a solver begins with its name, which tables show beside the reason anyway */
    bool named = talus_error_record()->domain == TALUS_DOMAIN_SOLVER;
    snprintf(out->reason, sizeof out->reason, "%s", named ? talus_error_reason() : talus_error());
}

static TalusSolveOptions make_options(const LabProblem *p, const LabJob *job, Observer *observer)
{
    TalusSolveOptions o = talus_solve_options_default();
    o.norm = job->siconos ? TALUS_NORM_SICONOS : TALUS_NORM_RMS;
    o.tolerance = job->siconos ? job->tolerance : job->tolerance * p->natural_at_zero;
    o.outer = job->outer;
    /* If zero impulses solve the problem, natural_at_zero is 0, but a tolerance of 0 would mean none. */
    if (job->tolerance > 0.0 && !(o.tolerance > 0.0))
        o.tolerance = DBL_MIN;
    o.max_iterations = job->max_iterations;
    o.max_seconds = job->max_seconds;
    o.monitor = on_iteration;
    o.monitor_user = observer;
    if (job->trace) {
        o.observer = on_iterate;
        o.observer_user = observer;
    }
    return o;
}

/* Sets the start, solves and fills the result; a failed solve is a result, too. */
static TalusStatus solve_and_measure(TalusSolver *solver, LabProblem *p, const LabJob *job,
                                     Observer *observer, LabResult *out)
{
    double *gamma = talus_problem_gamma(p->problem);
    size_t bytes = (size_t)talus_problem_size(p->problem) * sizeof *gamma;
    TalusSolveOptions options = make_options(p, job, observer);
    TalusSolveInfo info;
    memset(gamma, 0, bytes);
    if (job->warm)
        memcpy(gamma, p->start, bytes);
    observer->begun = observer->last_draw = talus_now();
    TalusStatus status = talus_solver_solve(solver, p->problem, &options, &info);
    if (observer->drawn)
        fputs("\r\033[K", stderr);
    TALUS_TRY(observer->status);
    if (status != TALUS_OK) {
        set_unmeasured(out, status == TALUS_ERR_UNSUPPORTED ? LAB_UNSUPPORTED : LAB_FAILED);
        return TALUS_OK;
    }
    out->outcome = (LabOutcome)info.outcome;
    out->interrupted = cli_stop_signal() && info.outcome == TALUS_OUTCOME_BUDGET;
    out->iterations = info.iterations;
    out->products = info.products;
    out->updates = info.updates;
    out->factorisations = info.factorisations;
    out->seconds = info.seconds;
    out->memory_bytes = (double)info.memory_bytes;
    if (strcmp(job->solver, "auto") == 0)
        snprintf(out->auto_choice, sizeof out->auto_choice, "%s", info.solver);
    write_reason(job, &info, out);
    return measure_result(p, gamma, out);
}

TalusStatus lab_run_job(LabProblem *p, const LabJob *job, bool quiet, LabResult *out)
{
    *out = (LabResult){0};
    snprintf(out->solver, sizeof out->solver, "%s", job->label ? job->label : job->solver);
    Observer observer = {
        .problem = p, .result = out, .name = out->solver, .draw = !quiet && isatty(STDERR_FILENO)};
    TalusSolver *solver;
    TALUS_TRY(talus_problem_set_backend(p->problem, job->backend));
    TALUS_TRY(talus_solver_create(job->solver, &solver));
    TalusStatus status = TALUS_OK;
    if (talus_solver_supports(solver, p->problem) != TALUS_OK) {
        set_unmeasured(out, LAB_UNSUPPORTED);
    } else {
        if (job->trace)
            status =
                TALUS_ALLOC(observer.state, (size_t)talus_problem_blocks(p->problem), "states");
        TALUS_THEN(status, solve_and_measure(solver, p, job, &observer, out));
        talus_release(observer.state);
    }
    talus_solver_destroy(solver);
    if (status != TALUS_OK)
        lab_result_clear(out);
    return status;
}

/* lab/experiments/worlds_petra.c - the simulation experiment of petra-2009, section 4: pebbles fall into a reactor
 * vessel and come to rest, every step a quadratic program, by each of `methods`. petra_tables.c and petra_claims.c report
 * the results.
 *
 * The vessel, h = 0.05, triangles as friction sections, unit mass and radius, and the energies at which a run ends are
 * the paper's. The paper does not give mu, gravity, the initial positions and the largest gap of a contact. Here they
 * are 0.3, 9.81, circles on planes from half the height of the vessel, and the distance that can close within a step.
 * The paper's gaps are squared distances, here they are distances. */
#include "lab/widen.h"
#include "petra.h"

#include "base/memory.h"
#include "base/timer.h"
#include "io/file/file.h"

#include <math.h>
#include <string.h>

static const char density[] = "0.238732414637843"; /* unit mass at unit radius: 3 / (4 pi) */
/* Tolerances of the rms residual over g h. PRECISE: of interior point methods. EVEN: of the others; it gives about the
 * infeasibility of the paper's BLMVM. */
#define PRECISE 1e-8
#define EVEN 1e-5
/* Limits of processor time of a run, s. LONG: of methods that are to bring the pebbles to rest, if they can. SHORT, BRIEF:
 * enough to measure the cost of a step. */
#define LONG 1800.0
#define SHORT 150.0
#define BRIEF 40.0

enum { MAX_ITERATIONS = 20000, MAX_STEPS = 1200 }; /* of a step; of a run without --steps */
enum { IPM_CHOL, IPM_AUG, PAPER_BLMVM, BLMVM, PAPER_TRON, TRON, APGD, LBFGS, IPM_HSD, METHODS };

/* The paper ended its run of MA27 with 3,200 pebbles, and did not try TRON and MOSEK with them. */
static const PetraMethod methods[METHODS] = {
    [IPM_CHOL] = {PETRA_CHOL, "ipm-chol", "both", PRECISE, {LONG, LONG, LONG}},
    [IPM_AUG] = {PETRA_MA27, "ipm-aug", "both", PRECISE, {LONG, LONG, SHORT}},
    [PAPER_BLMVM] = {PETRA_BLMVM, "tao-blmvm:stop=paper", "dual", 0.0, {LONG, LONG, LONG}},
    [BLMVM] = {"tao-blmvm", "tao-blmvm", "dual", EVEN, {SHORT, BRIEF, BRIEF}},
    [PAPER_TRON] = {PETRA_TRON, "tao-tron:stop=paper", "dual", 0.0, {SHORT, SHORT, 0.0}},
    [TRON] = {"tao-tron", "tao-tron", "dual", EVEN, {SHORT, BRIEF, 0.0}},
    [APGD] = {"apgd", "apgd", "dual", EVEN, {LONG, LONG, LONG}},
    [LBFGS] = {"lbfgs-fb", "lbfgs-fb", "dual", EVEN, {LONG, LONG, LONG}},
    [IPM_HSD] = {PETRA_MOSEK, "ipm-hsd:stop=mosek", "both", 0.0, {LONG, SHORT, 0.0}},
};

/* A method that every build has. It makes the nudged run, simulates up to the wide step, and makes the run of `large`
 * if no method has brought 3,200 pebbles to rest. */
static const PetraMethod *const fast = &methods[LBFGS];

typedef struct Size {
    int pebbles;
    double threshold; /* kinetic energy below which a run is at rest, J */
} Size;

static const Size sizes[PETRA_SIZES] = {{800, 0.2}, {1600, 0.8}, {3200, 2.5}};
static const Size small[PETRA_SIZES] = {{20, 0.01}, {40, 0.02}, {80, 0.04}}; /* with --quick */
/* More pebbles than in the paper; small_large with --quick. The threshold per pebble is that of 3,200 pebbles, with
 * --quick that of 80. */
static const Size large = {25000, 19.5}, small_large = {160, 0.08};

static const double solve_seconds = 100.0; /* limit of solve_next */

/* ---- worlds ---- */

/* Opens a vessel, for one thread unless --threads is given. */
static TalusStatus open_vessel(const Worlds *w, const PetraMethod *m, int pebbles, bool nudged,
                               TalusWorld **out)
{
    Worlds one = *w;
    WorldsCase c = {.scene = "pebble-bed", .solver = m->spec, .backend = w->backend[0]};
    one.threads = w->threads >= 0 ? w->threads : 1;
    worlds_assign(&c.sets, "bodies=%d", pebbles);
    worlds_assign(&c.sets, "section=polygon:3");
    worlds_assign(&c.sets, "materials.pebble.density=%s", density);
    worlds_assign(&c.sets, "bodies[pebbles].layers.bottom=[0,0,%d%s]", worlds_choose_size(w, 60, 1),
                  nudged ? ".000000001" : "");
    worlds_assign(&c.sets, "bodies[pebbles].layers.radius=%d", worlds_choose_size(w, 50, 10));
    worlds_assign(&c.sets, "bodies[pebbles].layers.spacing=%g", pebbles > 10000 ? 2.5 : 4.0);
    worlds_assign(&c.sets, "bodies[pebbles].layers.jitter=0.5");
    worlds_assign(&c.sets, "solver.tolerance=%g", m->tolerance);
    worlds_assign(&c.sets, "solver.max_iterations=%d", MAX_ITERATIONS);
    return worlds_build(&one, &c, out);
}

/* Solves a copy of the problem of the world's next step by the method, from the impulses of the step before; the world
 * is not stepped. On failure only out->method is set. */
static TalusStatus solve_next(const Worlds *w, TalusWorld *world, const PetraMethod *m,
                              PetraSolve *out)
{
    TalusProblem *copy;
    TalusSolver *solver = NULL;
    TalusSolveInfo info;
    TalusMetrics metrics;
    TalusSolveOptions options = talus_solve_options_default();
    double speed = worlds_reference_speed(world);
    options.tolerance = m->tolerance * speed;
    options.reference_speed = speed;
    options.max_iterations = 100000;
    options.max_seconds = solve_seconds;
    *out = (PetraSolve){.method = m};
    TALUS_TRY(worlds_copy_problem(world, &copy));
    double start = worlds_processor_time();
    TalusStatus status = talus_solver_create(m->spec, &solver);
    TALUS_THEN(status, worlds_solve(w, m->spec, solver, copy, &options, &info));
    TALUS_THEN(status, talus_problem_measure(copy, talus_problem_gamma(copy), &metrics));
    if (status == TALUS_OK) {
        out->seconds = worlds_processor_time() - start;
        out->outcome = info.outcome;
        out->cut_off =
            info.outcome == TALUS_OUTCOME_BUDGET &&
            (info.iterations >= options.max_iterations || info.seconds >= options.max_seconds);
        out->iterations = info.iterations;
        out->memory = (double)info.memory_bytes;
        out->infeasibility = metrics.primal_infeasibility;
        out->residual = info.residual.rms;
    }
    talus_solver_destroy(solver);
    talus_problem_destroy(copy);
    return status;
}

/* ---- until rest ---- */

static void print_progress(const PetraRun *run, const Worlds *w, double begun)
{
    const PetraStep *s = &run->step[run->count - 1];
    worlds_print_line(w,
                      "petra-sim: %d pebbles, %s: t = %.2f s, energy %.3g, %lld contacts, %.1f s",
                      run->pebbles, run->method->label, s->time, s->kinetic, (long long)s->contacts,
                      talus_now() - begun);
}

static int get_max_steps(const Worlds *w)
{
    return w->steps ? w->steps : worlds_choose_size(w, MAX_STEPS, 30);
}

/* Steps the world, and records each step in `run`, until the pebbles rest or a limit of steps or processor time is
 * reached. `before`: bytes in use before the world was made. */
static TalusStatus run_to_rest(const Worlds *w, TalusWorld *world, size_t before, PetraRun *run)
{
    double begun = talus_now(), said = begun, used = 0.0;
    while (run->count < get_max_steps(w) && used < run->limit && !run->rested) {
        TalusStepInfo info;
        talus_memory_reset_peak();
        double start = worlds_processor_time();
        TALUS_TRY(talus_world_step(world, &info));
        PetraStep *s = &run->step[run->count++];
        *s = (PetraStep){.time = info.time,
                         .kinetic = info.ledger.kinetic,
                         .seconds = worlds_processor_time() - start,
                         .memory = (double)(talus_memory_peak() - before),
                         .residual = info.solve.residual.rms,
                         .contacts = info.contacts,
                         .iterations = info.solve.iterations};
        used += s->seconds;
        run->missed += info.missed;
        run->rested = s->kinetic < run->threshold;
        TALUS_TRY(worlds_check_stop(w));
        if (talus_now() - said > 5.0) {
            said = talus_now();
            print_progress(run, w, begun);
        }
    }
    print_progress(run, w, begun);
    return TALUS_OK;
}

/* What is stored of a step; the last two are of the run. */
enum {
    TIME,
    KINETIC,
    SECONDS,
    MEMORY,
    RESIDUAL,
    CONTACTS,
    ITERATIONS,
    MISSED,
    INFEASIBILITY,
    COLUMNS
};

static const char header[] =
    "time,kinetic,seconds,memory,residual,contacts,iterations,missed,infeasibility";

static TalusStatus save_run(const Worlds *w, const char *name, const PetraRun *run)
{
    double(*row)[COLUMNS];
    TALUS_TRY(TALUS_ALLOC(row, (size_t)run->count + 1, "steps"));
    for (int k = 0; k < run->count; k++) {
        const PetraStep *s = &run->step[k];
        const double values[COLUMNS] = {s->time,       s->kinetic,  s->seconds,
                                        s->memory,     s->residual, (double)s->contacts,
                                        s->iterations, run->missed, run->infeasibility};
        memcpy(row[k], values, sizeof values);
    }
    TalusStatus status = worlds_save_run(w, name, header, COLUMNS, *row, run->count);
    talus_release(row);
    return status;
}

/* Fills the run from stored steps. */
static void unpack_run(const double *values, int rows, PetraRun *run)
{
    for (int k = 0; k < rows; k++) {
        const double *r = values + (size_t)k * COLUMNS;
        run->step[k] = (PetraStep){.time = r[TIME],
                                   .kinetic = r[KINETIC],
                                   .seconds = r[SECONDS],
                                   .memory = r[MEMORY],
                                   .residual = r[RESIDUAL],
                                   .contacts = (int64_t)r[CONTACTS],
                                   .iterations = (int)r[ITERATIONS]};
        run->missed = (int)r[MISSED];
        run->infeasibility = r[INFEASIBILITY];
        run->rested = r[KINETIC] < run->threshold;
    }
    run->count = rows;
}

/* Sets the infeasibility of a run by a solve of the step after it; NAN if that fails, which is no failure of the run. */
static TalusStatus measure_infeasibility(const Worlds *w, TalusWorld *world, PetraRun *run)
{
    PetraSolve last;
    TalusStatus status = solve_next(w, world, run->method, &last);
    run->infeasibility = status == TALUS_OK ? last.infeasibility : NAN;
    if (status == TALUS_OK || status == TALUS_ERR_CANCELLED)
        return status;
    worlds_print_line(w, "petra-sim: %d pebbles, %s, the step after the last: %s", run->pebbles,
                      run->method->label, talus_error());
    return TALUS_OK;
}

/* Makes the run, and measures its infeasibility. */
static TalusStatus simulate_run(const Petra *p, PetraRun *run)
{
    TalusWorld *world = NULL;
    size_t before = talus_memory_now();
    TALUS_TRY(open_vessel(p->w, run->method, run->pebbles, run->nudged, &world));
    TalusStatus status = run_to_rest(p->w, world, before, run);
    TALUS_THEN(status, measure_infeasibility(p->w, world, run));
    talus_world_destroy(world);
    return status;
}

/* Simulates one run within `limit` seconds of processor time and appends it to p->run, as failed if a step fails, or takes
 * a stored run; does nothing if the limit is 0 or the build lacks the solver. */
static TalusStatus add_run(Petra *p, const PetraMethod *m, Size size, double limit, bool nudged)
{
    PetraRun *run = &p->run[p->runs];
    char name[LAB_TEXT];
    double *values;
    int rows;
    if (!(limit > 0.0) || !lab_has_solver(m->spec))
        return TALUS_OK;
    *run = (PetraRun){.method = m,
                      .limit = limit,
                      .nudged = nudged,
                      .pebbles = size.pebbles,
                      .threshold = size.threshold,
                      .infeasibility = NAN};
    snprintf(name, sizeof name, "petra: %s to %g on %s; %d pebbles%s; %d steps; %g s", m->spec,
             m->tolerance, p->w->backend[0], size.pebbles, nudged ? ", nudged" : "",
             get_max_steps(p->w), limit);
    TALUS_TRY(worlds_load_run(p->w, name, COLUMNS, &values, &rows));
    int room = rows > get_max_steps(p->w) ? rows : get_max_steps(p->w);
    TalusStatus status = TALUS_ALLOC(run->step, (size_t)room, "steps");
    if (status == TALUS_OK && rows > 0)
        unpack_run(values, rows, run);
    else if (status == TALUS_OK) {
        status = simulate_run(p, run);
        if (status == TALUS_OK)
            status = save_run(p->w, name, run);
        else if (status != TALUS_ERR_CANCELLED) {
            worlds_print_line(p->w, "petra-sim: %d pebbles, %s: %s", run->pebbles, m->label,
                              talus_error());
            run->failed = true;
            status = TALUS_OK;
        }
    }
    talus_release(values);
    if (status == TALUS_OK)
        p->runs++;
    else
        talus_release(run->step);
    return status;
}

/* ---- one step with the paper's number of contacts ---- */

/* Saves the problem as petra-sim.talus beside the results, for `talus solve` with other solvers or backends. */
static TalusStatus save_problem(const Petra *p, TalusProblem *problem)
{
    char *path;
    TALUS_TRY(talus_path_format(&path, "%s/petra-sim.talus", p->w->dir));
    TalusStatus status = talus_problem_write(path, problem);
    talus_release(path);
    return status;
}

/* Makes a copy of the world with about PETRA_DENSITY contacts per pebble, steps it once, and solves the problem of its
 * next step by every method of the build. */
static TalusStatus widen_and_solve(Petra *p, TalusWorld *world)
{
    TalusWorld *wide;
    TalusProblem *problem;
    int contacts = (int)(PETRA_DENSITY * p->wide_pebbles);
    TALUS_TRY(widen_world(world, contacts, &wide, &p->wide_envelope));
    TalusStatus status = talus_world_set_accuracy(wide, EVEN, MAX_ITERATIONS);
    if (status == TALUS_OK)
        status = talus_world_step(wide, NULL); /* gives a warm start, as in a run */
    TALUS_THEN(status, talus_world_build(wide, &problem));
    p->wide_contacts = status == TALUS_OK ? talus_problem_blocks(problem) : 0;
    TALUS_THEN(status, save_problem(p, problem));
    for (int i = 0; status == TALUS_OK && i < METHODS; i++) {
        if (!lab_has_solver(methods[i].spec))
            continue;
        PetraSolve *s = &p->wide[p->wide_count++];
        if (solve_next(p->w, wide, &methods[i], s) != TALUS_OK) {
            s->failed = true;
            snprintf(s->why, sizeof s->why, "%s", talus_error());
        }
        worlds_print_line(p->w, "petra-sim: %d contacts, %s: %d iterations, %.2f s",
                          p->wide_contacts, methods[i].label, s->iterations, s->seconds);
        status = worlds_check_stop(p->w);
    }
    talus_world_destroy(wide);
    return status;
}

/* Solves one step with the paper's number of contacts per pebble, after 5 s (with --quick 0.75 s) of simulation, when
 * most pebbles have landed and all are moving. */
static TalusStatus solve_wide_step(Petra *p)
{
    TalusWorld *world;
    int steps = worlds_choose_size(p->w, 100, 15);
    TALUS_TRY(open_vessel(p->w, fast, p->wide_pebbles, false, &world));
    TalusStatus status = worlds_advance(p->w, world, steps, "petra-sim: to 5 s", NULL, NULL, NULL);
    p->wide_time = talus_world_time(world);
    TALUS_THEN(status, widen_and_solve(p, world));
    talus_world_destroy(world);
    return status;
}

/* ---- the whole ---- */

/* Writes petra-sim.csv, a row per step of all runs. */
static TalusStatus write_steps(const Petra *p)
{
    TalusFile *file;
    TALUS_TRY(cli_create_file(&file, "%s/petra-sim.csv", p->w->dir));
    talus_file_print(file, "pebbles,solver,nudged,step,time,kinetic,contacts,dual,iterations,"
                           "residual,seconds,memory\n");
    for (int r = 0; r < p->runs; r++)
        for (int k = 0; k < p->run[r].count; k++) {
            const PetraRun *run = &p->run[r];
            const PetraStep *s = &run->step[k];
            talus_file_print(file, "%d,\"%s\",%d,%d,%.6g,%.9g,%lld,%lld,%d,%.4g,%.6g,%.0f\n",
                             run->pebbles, run->method->label, run->nudged, k + 1, s->time,
                             s->kinetic, (long long)s->contacts, 3LL * s->contacts, s->iterations,
                             s->residual, s->seconds, s->memory);
        }
    return talus_file_commit(file);
}

/* Runs the methods that are to bring all numbers of pebbles to rest (`all_the_way`), or the others. */
static TalusStatus run_methods(Petra *p, const Size *size, bool all_the_way)
{
    for (int s = 0; s < PETRA_SIZES; s++)
        for (int i = 0; i < METHODS; i++)
            if ((methods[i].seconds[PETRA_SIZES - 1] >= LONG) == all_the_way)
                TALUS_TRY(add_run(p, &methods[i], size[s], methods[i].seconds[s], false));
    return TALUS_OK;
}

/* Runs more pebbles than the paper has, by the method that is quickest with its largest number. Not on the host, which
 * would not bring them to rest within LONG. */
static TalusStatus run_large(Petra *p)
{
    const PetraRun *best = petra_find_quickest(p, p->wide_pebbles, petra_mean_seconds);
    const PetraMethod *m = best ? best->method : fast;
    if (p->w->quick)
        return add_run(p, m, small_large, LONG, false);
    if (strcmp(p->w->backend[0], "cpu") != 0)
        return add_run(p, m, large, LONG, false);
    lab_set_add_note(p->w->set, "petra-sim: %d pebbles only with --backend cuda-mixed on a GPU.",
                     large.pebbles);
    return TALUS_OK;
}

/* Runs all parts of the experiment, the most important first, since a signal may stop it before the end. */
static TalusStatus run_all_parts(Petra *p)
{
    const Size *size = p->w->quick ? small : sizes;
    p->wide_pebbles = size[PETRA_SIZES - 1].pebbles;
    TALUS_TRY(run_methods(p, size, true));
    TALUS_TRY(add_run(p, fast, size[0], LONG, true));
    TALUS_TRY(solve_wide_step(p));
    TALUS_TRY(run_methods(p, size, false));
    return run_large(p);
}

static TalusStatus run_petra(Worlds *w)
{
    static Petra p;
    p = (Petra){.w = w};
    for (int i = 0; i < METHODS; i++)
        lab_set_note_missing_solver(w->set, methods[i].spec);
    TalusStatus status = run_all_parts(&p);
    if (p.runs > 0 && (status == TALUS_OK || status == TALUS_ERR_CANCELLED)) {
        petra_report(&p);
        TalusStatus written = write_steps(&p);
        status = status == TALUS_OK ? written : status;
    }
    for (int i = 0; i < p.runs; i++)
        talus_release(p.run[i].step);
    return status;
}

const WorldsRow worlds_petra = {
    .name = "petra-sim",
    .summary = "pebbles fall into a reactor vessel until they rest, a quadratic program per step",
    .source = "petra-2009 Tables 1-3, Figs. 3-6",
    .run = run_petra};

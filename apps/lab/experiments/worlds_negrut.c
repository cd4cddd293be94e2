/* lab/experiments/worlds_negrut.c - the experiment of negrut-2009: an hourglass of 25,000 spheres of 0.2 m, friction
 * 0.2, steps of 0.01 s with 140 iterations each, by the paper's Gauss-Seidel method (Algorithms 1 and 2), in the order
 * of the list, in a random one, colour by colour, and by threads that do not wait for each other; beside Jacobi's
 * method, which the paper advises against, and apgd.
 *
 * The paper's result is one sentence: the simulation of three minutes ended with low penetration after a fixed, small
 * number of iterations in each step. A run here ends when the upper bulb is empty; what follows is a heap at rest. The
 * paper gives no shape of the glass; scenes/hourglass.json has one whose neck is six diameters wide. The host has 2,500
 * spheres, and methods that go contact by contact run there alone. */
#include "worlds.h"

#include "base/memory.h"
#include "base/timer.h"

#include <math.h>
#include <string.h>

enum { ITERATIONS = 140, MAX_STEPS = 18000 };

#define ALGORITHM_1 "gs:metric=trace,coupling=off,order=forward"
#define RANDOM "gs:metric=trace,coupling=off,order=random"
#define UNORDERED "gs:metric=trace,coupling=off,order=chaotic"
#define COLOURED_ORDER "gs:metric=trace,coupling=off,order=coloured"

typedef enum NegrutPlace { HOST, CHOSEN, GPU } NegrutPlace; /* CHOSEN: the backend of the command */

typedef struct NegrutMethod {
    const char *label, *spec;
    NegrutPlace place;
} NegrutMethod;

enum { FORWARD, SHUFFLED, UNSYNCHRONISED, COLOURED, GPU_UNSYNCHRONISED, JACOBI, APGD, METHODS };

/* A GPU processes more contacts at a time than the hourglass has, so that unsynchronised steps of full length, omega 1,
 * are those of Jacobi's method without its smaller steps, and diverge; the 256 at a time of the paper's GPU were few. */
static const NegrutMethod methods[METHODS] = {
    [FORWARD] = {"Algorithm 1", ALGORITHM_1, HOST},
    [SHUFFLED] = {"Algorithm 1, random order", RANDOM, HOST},
    [UNSYNCHRONISED] = {"Algorithm 1, unsynchronised", UNORDERED, HOST},
    [COLOURED] = {"Algorithm 1, by colours", COLOURED_ORDER, CHOSEN},
    [GPU_UNSYNCHRONISED] = {"Algorithm 1, unsynchronised, omega 0.3", UNORDERED ",omega=0.3", GPU},
    [JACOBI] = {"jacobi", "jacobi", CHOSEN},
    [APGD] = {"apgd", "apgd", CHOSEN},
};

/* Figures of one run, most of them over its steps. */
typedef struct NegrutRun {
    int steps, bodies, threads;  /* no steps: there is no such run */
    double seconds, solve_share; /* wall clock of all steps; share of the solves in it */
    double emptied;  /* time at which the upper bulb was empty, s; NAN: not within the run */
    double contacts; /* median */
    double mean, mean_most, worst; /* overlap over size: median and largest of the means, largest */
    double residual, residual_most; /* rms over g h: median and largest */
    double late;                    /* largest of the second half of the steps */
    double *time, *overlap;         /* [steps]: the curve of the mean overlap */
} NegrutRun;

typedef struct Negrut {
    Worlds *w;
    NegrutRun run[METHODS];
} Negrut;

/* Returns the backend of a method's run. */
static const char *get_backend(const Negrut *n, int method)
{
    return methods[method].place == HOST ? "cpu" : n->w->backend[0];
}

/* ---- runs ---- */

/* Returns the number of spheres below the neck. */
static int count_below(const TalusWorld *world)
{
    for (int i = 0; i < talus_world_probe_count(world); i++)
        if (strcmp(talus_world_probe_name(world, i), "below") == 0)
            return talus_world_probe_value(world, i).bodies;
    return 0;
}

/* With --threads 1 updates without order get two: on one they come in the order of the list. */
static TalusStatus open_hourglass(const Worlds *w, const char *solver, bool on_host, int bodies,
                                  TalusWorld **out)
{
    Worlds chosen = *w;
    WorldsCase c = {
        .scene = "hourglass", .solver = solver, .backend = on_host ? "cpu" : w->backend[0]};
    worlds_assign(&c.sets, "bodies=%d", bodies);
    worlds_assign(&c.sets, "solver.tolerance=0");
    worlds_assign(&c.sets, "solver.max_iterations=%d", ITERATIONS);
    if (strcmp(solver, UNORDERED) == 0 && w->threads == 1)
        chosen.threads = 2;
    return worlds_build(&chosen, &c, out);
}

/* What is recorded of a step. */
enum {
    TIME,
    OVERLAP,
    OVERLAP_MAX,
    RESIDUAL,
    CONTACTS,
    BELOW,
    SOLVE_SECONDS,
    SECONDS,
    THREADS,
    COLUMNS
};

static const char header[] =
    "time,overlap_mean,overlap_max,rms_over_gh,contacts,below,solve_seconds,seconds,threads";

/* Makes at most `steps` steps, until the upper bulb is empty, and records them in `row`, which has room for all. */
static TalusStatus run_steps(const Worlds *w, TalusWorld *world, const char *label, int bodies,
                             int steps, double (*row)[COLUMNS], int *done)
{
    double begun = talus_now(), said = begun, last = begun;
    for (bool empty = false; *done < steps && !empty;) {
        TalusStepInfo info;
        TALUS_TRY(talus_world_step(world, &info));
        const int below = count_below(world);
        double *r = row[(*done)++], now = talus_now();
        r[TIME] = info.time;
        r[OVERLAP] = info.penetration_mean;
        r[OVERLAP_MAX] = info.penetration_max;
        r[RESIDUAL] = info.solve.residual.rms / info.reference_speed;
        r[CONTACTS] = info.contacts;
        r[BELOW] = below;
        r[SOLVE_SECONDS] = info.solve_seconds;
        r[SECONDS] = now - last;
        r[THREADS] = talus_world_threads(world);
        last = now;
        empty = below >= bodies;
        if (!isfinite(r[RESIDUAL] + r[OVERLAP]))
            return talus_fail(TALUS_ERR_NUMERIC, "%s: step %d has a residual of %g", label, *done,
                              r[RESIDUAL]);
        TALUS_TRY(worlds_check_stop(w));
        if (now - said > 5.0) {
            said = now;
            worlds_print_line(w, "negrut: %s: t = %.2f s, %d of %d spheres below", label, info.time,
                              below, bodies);
        }
    }
    return TALUS_OK;
}

/* Returns the median of a column; `work` has room for all rows. */
static double find_median(double (*row)[COLUMNS], int column, int rows, double *work)
{
    for (int k = 0; k < rows; k++)
        work[k] = row[k][column];
    return worlds_median(work, rows);
}

/* Fills *run from the steps; run->time and run->overlap have room for them. */
static void summarise_steps(double (*row)[COLUMNS], int rows, int bodies, NegrutRun *run)
{
    double solving = 0.0;
    run->steps = rows;
    run->mean = find_median(row, OVERLAP, rows, run->time);
    run->residual = find_median(row, RESIDUAL, rows, run->time);
    run->contacts = find_median(row, CONTACTS, rows, run->time);
    for (int k = 0; k < rows; k++) {
        const double *r = row[k];
        run->time[k] = r[TIME];
        run->overlap[k] = r[OVERLAP];
        run->mean_most = fmax(run->mean_most, r[OVERLAP]);
        run->worst = fmax(run->worst, r[OVERLAP_MAX]);
        run->residual_most = fmax(run->residual_most, r[RESIDUAL]);
        if (k >= rows / 2)
            run->late = fmax(run->late, r[RESIDUAL]);
        run->seconds += r[SECONDS];
        solving += r[SOLVE_SECONDS];
        if (r[BELOW] >= bodies)
            run->emptied = r[TIME];
        run->threads = (int)r[THREADS];
    }
    run->solve_share = solving / run->seconds;
}

/* Runs the hourglass by a solver, or takes a stored run. run->time and run->overlap are the caller's to release, even
 * after a failure. */
static TalusStatus run_hourglass(const Worlds *w, const char *label, const char *solver,
                                 bool on_host, int bodies, int steps, NegrutRun *run)
{
    TalusWorld *world = NULL;
    char name[LAB_TEXT];
    double *values;
    int rows;
    *run = (NegrutRun){.bodies = bodies, .emptied = NAN};
    snprintf(name, sizeof name, "negrut: %s on %s; %d spheres; at most %d steps", solver,
             on_host ? "cpu" : w->backend[0], bodies, steps);
    TALUS_TRY(worlds_load_run(w, name, COLUMNS, &values, &rows));
    TalusStatus status = TALUS_OK;
    if (rows == 0) {
        talus_release(values);
        values = NULL;
        status = TALUS_ALLOC(values, (size_t)steps * COLUMNS, "steps");
        TALUS_THEN(status, open_hourglass(w, solver, on_host, bodies, &world));
        TALUS_THEN(status,
                   run_steps(w, world, label, bodies, steps, (double(*)[COLUMNS])values, &rows));
        TALUS_THEN(status, worlds_save_run(w, name, header, COLUMNS, values, rows));
        talus_world_destroy(world);
    }
    TALUS_THEN(status, TALUS_ALLOC(run->time, (size_t)rows, "steps"));
    TALUS_THEN(status, TALUS_ALLOC(run->overlap, (size_t)rows, "steps"));
    if (status == TALUS_OK)
        summarise_steps((double(*)[COLUMNS])values, rows, bodies, run);
    talus_release(values);
    return status;
}

/* ---- tables ---- */

static void add_table(const Negrut *n)
{
    LabTable *t =
        lab_set_add_table(n->w->set, "Hourglass: mu 0.2, h 0.01 s, 140 iterations a step",
                          "method\tbackend\tthreads\tspheres\tsteps\tbulb empty at, s\twall, s\t"
                          "solve, % of the time\tcontacts\toverlap over size: median of means\t"
                          "largest mean\tlargest\trms/gh: median\tlargest");
    for (int m = 0; m < METHODS; m++) {
        const NegrutRun *r = &n->run[m];
        if (r->steps == 0)
            continue;
        lab_table_add_cells(t, "%s\t%s\t%d\t%d\t%d\t%.2f\t%.1f\t%.0f\t%.0f", methods[m].label,
                            get_backend(n, m), r->threads, r->bodies, r->steps, r->emptied,
                            r->seconds, 100.0 * r->solve_share, r->contacts);
        lab_table_add_cells(t, "%.1e\t%.1e\t%.1e\t%.1e\t%.1e", r->mean, r->mean_most, r->worst,
                            r->residual, r->residual_most);
    }
    snprintf(t->note, sizeof t->note,
             "Algorithm 1 is %s. Threads: of the host; updates in the order of the list and in "
             "random order are made by one of them. The paper: 25,000 spheres, 18,000 steps in "
             "70 hours.",
             ALGORITHM_1);
}

/* Adds a table of the mean overlap in each tenth of the steps, which end when the upper bulb is empty. */
static void add_overlap_table(const Negrut *n)
{
    enum { PARTS = 10 };
    LabTable *t = lab_set_add_table(n->w->set,
                                    "Penetration over time: mean overlap over size in each tenth "
                                    "of the flow",
                                    "method\tspheres\tflow, s");
    for (int k = 1; k <= PARTS; k++)
        lab_table_add_columns(t, "to %d %%", 100 * k / PARTS);
    for (int m = 0; m < METHODS; m++) {
        const NegrutRun *r = &n->run[m];
        if (r->steps == 0)
            continue;
        lab_table_add_cells(t, "%s\t%d\t%.2f", methods[m].label, r->bodies, r->time[r->steps - 1]);
        for (int k = 0; k < PARTS; k++) {
            const int from = k * r->steps / PARTS, to = (k + 1) * r->steps / PARTS;
            lab_table_add_cells(t, "%.1e",
                                to > from ? worlds_mean(r->overlap + from, to - from) : NAN);
        }
    }
    snprintf(t->note, sizeof t->note,
             "mean over the steps of each tenth of the time, of the mean over the contacts that "
             "overlap; the first tenth has the fall of the spheres onto the neck");
}

static void add_figure(const Negrut *n)
{
    LabFigure *f =
        lab_set_add_figure(n->w->set, "Penetration over time", "time, s", "mean overlap over size");
    f->y_log = true;
    for (int m = 0; m < METHODS; m++)
        if (n->run[m].steps > 0)
            lab_figure_add(f, methods[m].label, n->run[m].time, n->run[m].overlap, n->run[m].steps);
}

/* ---- omega ---- */

static const double omegas[] = {0.3, 1.0, 1.5, 1.9};

enum { OMEGAS = sizeof omegas / sizeof *omegas };

/* True if residuals stay bounded in the steps of a run: once spheres rest on each other, residuals stay below g h, which is
 * what contacts at rest have without any iteration. A method that diverges raises them from step to step, as each starts
 * from the impulses of the one before. */
static bool stays_bounded(const NegrutRun *r)
{
    return r->late < 1.0;
}

/* Runs with other values of omega, in the order of the list and in random order. */
typedef struct OmegaRuns {
    NegrutRun run[2][OMEGAS];
} OmegaRuns;

/* Runs Algorithm 1 with all values of omega in both orders and adds a table of them. */
static TalusStatus add_omega_table(const Worlds *w, int bodies, int steps, OmegaRuns *runs)
{
    LabTable *t = lab_set_add_table(
        w->set, "Algorithm 1 with other values of omega",
        "order\tomega\toverlap over size: median of means\tlargest\trms/gh: median\tlargest\t"
        "of the second half\tstays bounded");
    for (int order = 0; order < 2; order++) {
        for (int k = 0; k < OMEGAS; k++) {
            char spec[LAB_TEXT];
            NegrutRun *r = &runs->run[order][k];
            snprintf(spec, sizeof spec, "%s,omega=%g", order ? RANDOM : ALGORITHM_1, omegas[k]);
            TalusStatus status = run_hourglass(w, spec, spec, true, bodies, steps, r);
            TALUS_RELEASE(r->time, r->overlap);
            TALUS_TRY(status);
            lab_table_add_cells(t, "%s\t%g\t%.1e\t%.1e\t%.1e\t%.1e\t%.1e\t%s",
                                order ? "random" : "forward", omegas[k], r->mean, r->worst,
                                r->residual, r->residual_most, r->late,
                                stays_bounded(r) ? "yes" : "no");
        }
    }
    snprintf(t->note, sizeof t->note,
             "%d spheres, %d steps each. Bounded: every residual of the second half is below g "
             "h, which is what contacts at rest have without an iteration.",
             bodies, steps);
    return TALUS_OK;
}

/* ---- claims ---- */

/* Judges whether all of the flow was simulated; a run that was cut short is not judged. */
static void claim_flow(const Negrut *n)
{
    const NegrutRun *gs = &n->run[COLOURED];
    const Claim claim = {.statement = "three minutes of flow can be simulated",
                         .rule = "Algorithm 1 by colours: the upper bulb runs empty, within 180 s, "
                                 "and no overlap exceeds half of the size"};
    if (isnan(gs->emptied) && gs->steps < MAX_STEPS)
        claims_add(n->w->set, &claim, CLAIM_UNJUDGED, "only %d steps were made", gs->steps);
    else if (isnan(gs->emptied))
        claims_add(n->w->set, &claim, CLAIM_FAILS, "the bulb is not empty after %d steps",
                   gs->steps);
    else
        claims_add(n->w->set, &claim, claim_if(gs->worst <= 0.5),
                   "%d spheres, empty at %.2f s: %d steps in %.1f s of wall clock, largest overlap "
                   "%.1e",
                   gs->bodies, gs->emptied, gs->steps, gs->seconds, gs->worst);
}

/* Judges a run in another order by one of the same size in a fixed order. */
static void claim_order(const Negrut *n, const char *statement, const NegrutRun *other,
                        const NegrutRun *fixed)
{
    claims_add(
        n->w->set,
        &(Claim){.statement = statement,
                 .rule = "median residual and mean overlap at most twice those of a fixed order"},
        claim_if(other->residual <= 2.0 * fixed->residual && other->mean <= 2.0 * fixed->mean),
        "%d spheres: rms over g h %.1e against %.1e, overlap %.1e against %.1e", other->bodies,
        other->residual, fixed->residual, other->mean, fixed->mean);
}

/* Judges updates without order, which are what the paper ran. On one thread they come in the order of the list. */
static void claim_unsynchronised(const Negrut *n)
{
    const NegrutRun *threads = &n->run[UNSYNCHRONISED], *gpu = &n->run[GPU_UNSYNCHRONISED];
    static const char statement[] = "updates of threads that do not wait for each other work on "
                                    "large models";
    if (threads->threads < 2)
        claims_add(n->w->set, &(Claim){.statement = statement, .rule = "two threads at least"},
                   CLAIM_UNJUDGED, "on one thread this is the order of the list");
    else
        claim_order(n, statement, threads, &n->run[FORWARD]);
    if (gpu->steps > 0)
        claim_order(n, "so do updates of a GPU without order (omega 0.3)", gpu, &n->run[COLOURED]);
}

/* Judges penetration by the runs of Algorithm 1 in a fixed order. */
static void claim_penetration(const Negrut *n)
{
    const NegrutRun *list = &n->run[FORWARD], *colours = &n->run[COLOURED];
    double most = fmax(list->mean_most, colours->mean_most), mean = fmax(list->mean, colours->mean);
    claims_add(
        n->w->set,
        &(Claim){.statement = "low penetration with a fixed, small number of iterations, 140",
                 .rule = "Algorithm 1, in the order of the list and by colours: mean overlap at "
                         "most 1 % of the size in every step; in part: in half of them"},
        claim_if_whole(most <= 0.01, mean <= 0.01),
        "median of the means %.1e, largest mean %.1e, largest overlap %.1e", mean, most,
        fmax(list->worst, colours->worst));
}

/* Counts the runs of an order whose residuals stay bounded, with omega above `from`, at most `to`. */
static int count_bounded(const OmegaRuns *runs, int order, double from, double to)
{
    int count = 0;
    for (int k = 0; k < OMEGAS; k++)
        count += omegas[k] > from && omegas[k] <= to && stays_bounded(&runs->run[order][k]);
    return count;
}

/* Judges whether small values of omega are suitable. The paper gives none: the assumptions of its proof "can be met by a
 * suitable choice" of omega > 0, so by every value that is small enough. */
static void claim_omega(const Negrut *n, const OmegaRuns *runs)
{
    static const double most = 1.0;
    int small = 0;
    for (int k = 0; k < OMEGAS; k++)
        small += omegas[k] <= most;
    const int forward = count_bounded(runs, 0, 0.0, most),
              random = count_bounded(runs, 1, 0.0, most);
    claims_add(n->w->set,
               &(Claim){.statement = "the iteration converges for suitable omega",
                        .rule = "for each omega of the table up to 1, in the order of the list, "
                                "residuals stay bounded: after 140 iterations each one of the "
                                "second half of the steps is below g h, what contacts at rest "
                                "have without an iteration; in part: for one omega"},
               claim_if_whole(forward == small, forward > 0),
               "%d of %d in the order of the list (%d of %d in random order, whose convergence "
               "the paper leaves open); of those above 1, %d and %d of %d",
               forward, small, random, small, count_bounded(runs, 0, most, INFINITY),
               count_bounded(runs, 1, most, INFINITY), (int)OMEGAS - small);
}

static void add_claims(const Negrut *n, const OmegaRuns *omega)
{
    LabSet *set = n->w->set;
    const NegrutRun *gs = &n->run[COLOURED], *jacobi = &n->run[JACOBI], *apgd = &n->run[APGD];
    claim_penetration(n);
    claim_flow(n);
    claims_add(set,
               &(Claim){.statement = "Gauss-Jacobi converges more slowly than Gauss-Seidel",
                        .rule = "a larger median residual after 140 iterations than by colours"},
               claim_if(jacobi->residual > gs->residual), "rms over g h %.1e against %.1e",
               jacobi->residual, gs->residual);
    claim_order(n, "updates in random order work on large models", &n->run[SHUFFLED],
                &n->run[FORWARD]);
    claim_unsynchronised(n);
    claim_omega(n, omega);
    claims_add(set,
               &(Claim){.statement = "the cone problem is no longer the bottleneck, collision "
                                     "detection is",
                        .rule = "solves take less than half of the time, with apgd and with "
                                "Algorithm 1 by colours"},
               claim_if(fmax(apgd->solve_share, gs->solve_share) < 0.5),
               "%.0f %% of the time with apgd, %.0f %% with Algorithm 1 by colours, on %s",
               100.0 * apgd->solve_share, 100.0 * gs->solve_share, n->w->backend[0]);
}

/* ---- the whole ---- */

static TalusStatus run_negrut(Worlds *w)
{
    static Negrut n;
    bool device = strcmp(w->backend[0], "cpu") != 0;
    int steps = w->steps ? w->steps : worlds_choose_size(w, MAX_STEPS, 150);
    OmegaRuns omega;
    n = (Negrut){.w = w};
    TalusStatus status = TALUS_OK;
    for (int m = 0; m < METHODS && status == TALUS_OK; m++) {
        bool on_host = methods[m].place == HOST || !device;
        if (methods[m].place != GPU || device)
            status =
                run_hourglass(w, methods[m].label, methods[m].spec, on_host,
                              worlds_choose_size(w, on_host ? 2500 : 25000, 150), steps, &n.run[m]);
    }
    TALUS_THEN(status, add_omega_table(w, worlds_choose_size(w, 2500, 150),
                                       worlds_choose_size(w, 200, 120), &omega));
    if (status == TALUS_OK) {
        add_table(&n);
        add_overlap_table(&n);
        add_figure(&n);
        add_claims(&n, &omega);
        if (!device && !w->quick)
            lab_set_add_note(w->set, "negrut: on the host 2,500 spheres; 25,000 with --backend "
                                     "cuda-mixed on a GPU, by methods that run there.");
    }
    for (int m = 0; m < METHODS; m++)
        TALUS_RELEASE(n.run[m].time, n.run[m].overlap);
    return status;
}

const WorldsRow worlds_negrut = {
    .name = "negrut",
    .summary = "an hourglass by the paper's Gauss-Seidel method, beside jacobi and apgd",
    .source = "negrut-2009: the hourglass",
    .run = run_negrut};

/* lab/experiments/worlds_negrut.c - the experiment of negrut-2009: an hourglass of 25,000 spheres of 0.2 m, friction
 * 0.2, steps of 0.01 s with 140 iterations each, by the paper's Gauss-Seidel method (Algorithms 1 and 2), in the order
 * of the list, in a random one, colour by colour, and by threads that do not wait for each other; beside Jacobi's
 * method, which the paper advises against, and apgd.
 *
 * The paper's result is one sentence: the simulation of three minutes ended with low penetration after a fixed, small
 * number of iterations in each step. A run here ends when the upper bulb is empty; what follows is a heap at rest. The
 * paper gives no shape of the glass; scenes/hourglass.json has one whose neck is six diameters wide. The host has 2,500
 * spheres, and methods that go contact by contact run there alone. negrut_claims.c judges the statements. */
#include "negrut.h"

#include "base/memory.h"
#include "base/timer.h"

#include <math.h>
#include <string.h>

enum { ITERATIONS = 140 };

#define ALGORITHM_1 "gs:metric=trace,coupling=off,order=forward"
#define RANDOM "gs:metric=trace,coupling=off,order=random"
#define UNORDERED "gs:metric=trace,coupling=off,order=chaotic"
#define COLOURED_ORDER "gs:metric=trace,coupling=off,order=coloured"

typedef enum NegrutPlace { HOST, CHOSEN, GPU } NegrutPlace; /* CHOSEN: the backend of the command */

typedef struct NegrutMethod {
    const char *label, *spec;
    NegrutPlace place;
} NegrutMethod;

/* A GPU processes more contacts at a time than the hourglass has, so that unsynchronised steps of full length, omega 1,
 * are those of Jacobi's method without its smaller steps, and diverge; the 256 at a time of the paper's GPU were few. */
static const NegrutMethod methods[NEGRUT_METHODS] = {
    [NEGRUT_FORWARD] = {"Algorithm 1", ALGORITHM_1, HOST},
    [NEGRUT_SHUFFLED] = {"Algorithm 1, random order", RANDOM, HOST},
    [NEGRUT_UNSYNCHRONISED] = {"Algorithm 1, unsynchronised", UNORDERED, HOST},
    [NEGRUT_COLOURED] = {"Algorithm 1, by colours", COLOURED_ORDER, CHOSEN},
    [NEGRUT_GPU_UNSYNCHRONISED] = {"Algorithm 1, unsynchronised, omega 0.3", UNORDERED ",omega=0.3",
                                   GPU},
    [NEGRUT_JACOBI] = {"jacobi", "jacobi", CHOSEN},
    [NEGRUT_APGD] = {"apgd", "apgd", CHOSEN},
};

/* Returns the backend of a method's run. */
static const char *get_backend(const Negrut *n, int method)
{
    return methods[method].place == HOST ? "cpu" : n->w->backend[0];
}

/* ---- runs ---- */

/* Returns the number of spheres below the neck. */
static int64_t count_below(const TalusWorld *world)
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
        const int64_t below = count_below(world);
        double *r = row[(*done)++], now = talus_now();
        r[TIME] = info.time;
        r[OVERLAP] = info.penetration_mean;
        r[OVERLAP_MAX] = info.penetration_max;
        r[RESIDUAL] = info.solve.residual.rms / info.reference_speed;
        r[CONTACTS] = (double)info.contacts;
        r[BELOW] = (double)below;
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
            worlds_print_line(w, "negrut: %s: t = %.2f s, %lld of %d spheres below", label,
                              info.time, (long long)below, bodies);
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
    for (int m = 0; m < NEGRUT_METHODS; m++) {
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
    for (int m = 0; m < NEGRUT_METHODS; m++) {
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
    for (int m = 0; m < NEGRUT_METHODS; m++)
        if (n->run[m].steps > 0)
            lab_figure_add(f, methods[m].label, n->run[m].time, n->run[m].overlap, n->run[m].steps);
}

/* ---- omega ---- */

/* Runs Algorithm 1 with all values of omega in both orders and adds a table of them. */
static TalusStatus add_omega_table(const Worlds *w, int bodies, int steps, NegrutOmegaRuns *runs)
{
    LabTable *t = lab_set_add_table(
        w->set, "Algorithm 1 with other values of omega",
        "order\tomega\toverlap over size: median of means\tlargest\trms/gh: median\tlargest\t"
        "of the second half\tstays bounded");
    for (int order = 0; order < 2; order++) {
        for (int k = 0; k < NEGRUT_OMEGAS; k++) {
            char spec[LAB_TEXT];
            NegrutRun *r = &runs->run[order][k];
            snprintf(spec, sizeof spec, "%s,omega=%g", order ? RANDOM : ALGORITHM_1,
                     negrut_omegas[k]);
            TalusStatus status = run_hourglass(w, spec, spec, true, bodies, steps, r);
            TALUS_RELEASE(r->time, r->overlap);
            TALUS_TRY(status);
            lab_table_add_cells(t, "%s\t%g\t%.1e\t%.1e\t%.1e\t%.1e\t%.1e\t%s",
                                order ? "random" : "forward", negrut_omegas[k], r->mean, r->worst,
                                r->residual, r->residual_most, r->late,
                                negrut_stays_bounded(r) ? "yes" : "no");
        }
    }
    snprintf(t->note, sizeof t->note,
             "%d spheres, %d steps each. Bounded: every residual of the second half is below g "
             "h, which is what contacts at rest have without an iteration.",
             bodies, steps);
    return TALUS_OK;
}

/* ---- the whole ---- */

static TalusStatus run_negrut(Worlds *w)
{
    static Negrut n;
    bool device = strcmp(w->backend[0], "cpu") != 0;
    int steps = w->steps ? w->steps : worlds_choose_size(w, NEGRUT_STEPS, 150);
    NegrutOmegaRuns omega;
    n = (Negrut){.w = w};
    TalusStatus status = TALUS_OK;
    for (int m = 0; m < NEGRUT_METHODS && status == TALUS_OK; m++) {
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
        negrut_judge(&n, &omega);
        if (!device && !w->quick)
            lab_set_add_note(w->set, "negrut: on the host 2,500 spheres; 25,000 with --backend "
                                     "cuda-mixed on a GPU, by methods that run there.");
    }
    for (int m = 0; m < NEGRUT_METHODS; m++)
        TALUS_RELEASE(n.run[m].time, n.run[m].overlap);
    return status;
}

const WorldsRow worlds_negrut = {
    .name = "negrut",
    .summary = "an hourglass by the paper's Gauss-Seidel method, beside jacobi and apgd",
    .source = "negrut-2009: the hourglass",
    .run = run_negrut};

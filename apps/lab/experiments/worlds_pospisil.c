/* lab/experiments/worlds_pospisil.c - the experiment of pospisil-2015: 32,810 grains poured into a box, a ball
 * added at 0.3 s, without friction, each step solved by mprgp until |g^P| <= 1e-4 |q|, with g^P the projected gradient;
 * by spectral steps, where the paper has projected ones (solvers/face/mprgp.c).
 *
 * pospisil.csv has a row per step: bodies and contacts are the paper's Fig. 1, iterations and Hessian products its
 * Fig. 2. The rows of the table are at the times of its Fig. 3. */
#include "correlation.h"
#include "pospisil_lemmas.h"
#include "worlds.h"

#include "base/memory.h"
#include "base/timer.h"
#include "io/file/file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double until = 1.44;       /* simulated time of the run, s */
static const double step_length = 8e-4; /* s */
static const double target = 40.0;      /* wall-clock time that the run should take at most, s */

enum { MAX_ITERATIONS = 20000 }; /* of a step */

/* The steps made so far. */
typedef struct History {
    TalusStepInfo *step; /* room for all steps of the run */
    int count;           /* number of steps made */
    double wall;         /* seconds of all steps, by the clock */
} History;

/* Makes and records `steps` steps; if the row's time is over, ends without an error after at least one step. */
static TalusStatus run_steps(const Worlds *w, TalusWorld *world, int steps, History *history)
{
    double begun = talus_now(), said = begun;
    while (history->count < steps && !(history->count > 0 && worlds_time_is_over(w))) {
        TalusStepInfo *info = &history->step[history->count];
        TALUS_TRY(talus_world_step(world, info));
        history->count++;
        if (cli_stop_signal())
            return worlds_check_stop(w);
        if (talus_now() - said > 5.0) {
            said = talus_now();
            worlds_print_line(w, "grains: t = %.3f s, %lld contacts, %d iterations", info->time,
                              (long long)info->contacts, info->solve.iterations);
        }
    }
    history->wall = talus_now() - begun;
    return TALUS_OK;
}

static double get_step_seconds(const TalusStepInfo *s)
{
    return s->detect_seconds + s->build_seconds + s->solve_seconds + s->integrate_seconds;
}

static TalusStatus write_history(const Worlds *w, const History *history)
{
    TalusFile *file;
    TALUS_TRY(cli_create_file(&file, "%s/pospisil.csv", w->dir));
    talus_file_print(file, "step,time,bodies,contacts,iterations,products,first_iterations,"
                           "first_products,rms,seconds,solve_seconds\n");
    for (int i = 0; i < history->count; i++) {
        const TalusStepInfo *s = &history->step[i];
        talus_file_print(file, "%lld,%.6g,%lld,%lld,%d,%d,%d,%d,%.6g,%.6g,%.6g\n",
                         (long long)s->step, s->time, (long long)s->bodies, (long long)s->contacts,
                         s->solve.iterations, s->solve.products, s->first_iterations,
                         s->first_products, s->solve.residual.rms, get_step_seconds(s),
                         s->solve_seconds);
    }
    return talus_file_commit(file);
}

/* ---- the table ---- */

static void add_step_row(LabTable *t, const TalusStepInfo *s)
{
    lab_table_add_cells(t, "%.3f\t%lld\t%lld\t%d\t%d\t%.2e\t%.2e\t%.2f", s->time,
                        (long long)s->bodies, (long long)s->contacts, s->solve.iterations,
                        s->solve.products, s->solve.residual.rms,
                        s->solve.residual.rms / s->reference_speed, 1e3 * get_step_seconds(s));
}

/* Adds a table of the steps at the times of the paper's Fig. 3; its note has totals of the run. */
static void add_table(const Worlds *w, const History *history)
{
    static const double times[] = {0.1, 0.2, 0.29, 0.4, 0.56, 0.64, 0.8, 1.0, 1.2, 1.44};
    LabTable *t = lab_set_add_table(
        w->set, "pospisil: 32,810 grains and a ball, h 8e-4 s",
        "time, s\tbodies\tcontacts\titerations\tproducts\trms m/s\trms/gh\tms a step");
    double iterations = 0.0, products = 0.0, max = 0.0;
    for (int m = 0, i = 0; m < LAB_COUNT(times); m++) {
        while (i < history->count && history->step[i].time < times[m] - 1e-9)
            i++;
        if (i < history->count)
            add_step_row(t, &history->step[i]);
    }
    for (int i = 0; i < history->count; i++) {
        iterations += history->step[i].solve.iterations;
        products += history->step[i].solve.products;
        max = fmax(max, history->step[i].solve.iterations);
    }
    snprintf(t->note, sizeof t->note,
             "%d steps in %.2f s: %.0f iterations and %.0f products in all, at most %.0f "
             "iterations in a step. Each step's figures are in pospisil.csv.",
             history->count, history->wall, iterations, products, max);
}

/* Adds a verdict on the wall-clock time of the run, with the median residual; missed if not all `steps` were done. */
static TalusStatus add_time_verdict(Worlds *w, const History *history, int steps)
{
    double *rms;
    TALUS_TRY(TALUS_ALLOC(rms, (size_t)history->count + 1, "residuals"));
    for (int i = 0; i < history->count; i++)
        rms[i] = history->step[i].solve.residual.rms;
    WorldsStep median = {.rms = worlds_median(rms, history->count)};
    median.relative = median.rms / history->step[0].reference_speed;
    talus_release(rms);
    worlds_require_steps(worlds_add_verdict(w, history->wall, target, "s", &median,
                                            "pospisil, 1.44 s at |g^P| <= 1e-4 |q|"),
                         history->count, steps);
    return TALUS_OK;
}

/* Makes the steps of the scene with a solver. quick: the ball is added at 0.03 s. */
static TalusStatus simulate_impact(const Worlds *w, const char *solver, int bodies, int steps,
                                   History *history)
{
    WorldsCase c = {.scene = "impact", .solver = solver, .backend = w->backend[0]};
    TalusWorld *world;
    worlds_assign(&c.sets, "bodies=%d", bodies);
    worlds_assign(&c.sets, "solver.tolerance=0");
    worlds_assign(&c.sets, "solver.max_iterations=%d", MAX_ITERATIONS);
    if (w->quick)
        worlds_assign(&c.sets, "arrival=0.03");
    TALUS_TRY(worlds_build(w, &c, &world));
    TalusStatus status = run_steps(w, world, steps, history);
    talus_world_destroy(world);
    return status;
}

/* What is stored of a step. */
enum {
    TIME,
    BODIES,
    CONTACTS,
    ITERATIONS,
    PRODUCTS,
    FIRST_ITERATIONS,
    FIRST_PRODUCTS,
    RMS,
    REFERENCE,
    SECONDS,
    OUTCOME,
    WALL, /* of the run */
    COLUMNS
};

static const char header[] = "time,bodies,contacts,iterations,products,first_iterations,"
                             "first_products,rms,reference_speed,seconds,outcome,wall";

static void pack_step(const TalusStepInfo *s, double row[COLUMNS])
{
    row[TIME] = s->time;
    row[BODIES] = s->bodies;
    row[CONTACTS] = s->contacts;
    row[ITERATIONS] = s->solve.iterations;
    row[PRODUCTS] = s->solve.products;
    row[FIRST_ITERATIONS] = s->first_iterations;
    row[FIRST_PRODUCTS] = s->first_products;
    row[RMS] = s->solve.residual.rms;
    row[REFERENCE] = s->reference_speed;
    row[SECONDS] = get_step_seconds(s);
    row[OUTCOME] = s->solve.outcome;
}

static TalusStepInfo unpack_step(const double row[COLUMNS], int64_t step)
{
    TalusStepInfo s = {.step = step,
                       .time = row[TIME],
                       .bodies = (int)row[BODIES],
                       .contacts = (int)row[CONTACTS],
                       .first_iterations = (int)row[FIRST_ITERATIONS],
                       .first_products = (int)row[FIRST_PRODUCTS],
                       .reference_speed = row[REFERENCE],
                       .solve_seconds = row[SECONDS]};
    s.solve.iterations = (int)row[ITERATIONS];
    s.solve.products = (int)row[PRODUCTS];
    s.solve.residual.rms = row[RMS];
    s.solve.outcome = (TalusOutcome)row[OUTCOME];
    return s;
}

static TalusStatus save_history(const Worlds *w, const char *name, const History *history)
{
    double(*row)[COLUMNS];
    TALUS_TRY(TALUS_ALLOC(row, (size_t)history->count + 1, "steps"));
    for (int i = 0; i < history->count; i++) {
        pack_step(&history->step[i], row[i]);
        row[i][WALL] = history->wall;
    }
    TalusStatus status = worlds_save_run(w, name, header, COLUMNS, *row, history->count);
    talus_release(row);
    return status;
}

/* Runs the scene with a solver, or takes a stored run, of which the time of the solves is that of whole steps. The
 * caller releases history->step in any case. */
static TalusStatus run_impact(const Worlds *w, const char *solver, int bodies, int steps,
                              History *history)
{
    char name[LAB_TEXT];
    double *values;
    int rows;
    *history = (History){0};
    snprintf(name, sizeof name, "impact: %s on %s; %d bodies; %d steps", solver, w->backend[0],
             bodies, steps);
    TALUS_TRY(worlds_load_run(w, name, COLUMNS, &values, &rows));
    TalusStatus status = TALUS_ALLOC(history->step, (size_t)(rows > steps ? rows : steps), "steps");
    for (int i = 0; status == TALUS_OK && i < rows; i++) {
        const double *row = values + (size_t)i * COLUMNS;
        history->step[history->count++] = unpack_step(row, i + 1);
        history->wall = row[WALL];
    }
    talus_release(values);
    if (status == TALUS_OK && rows == 0) {
        status = simulate_impact(w, solver, bodies, steps, history);
        TALUS_THEN(status, save_history(w, name, history));
    }
    return status;
}

static TalusStatus run_pospisil(Worlds *w)
{
    int steps = w->steps ? w->steps : (int)cli_steps_until(w->quick ? 0.06 : until, step_length);
    History history;
    TalusStatus status = run_impact(w, "mprgp:metric=none,stop=1e-4",
                                    worlds_choose_size(w, 32810, 300), steps, &history);
    TALUS_THEN(status, write_history(w, &history));
    if (status == TALUS_OK)
        add_table(w, &history);
    if (status == TALUS_OK && !w->steps)
        status = add_time_verdict(w, &history, steps);
    talus_release(history.step);
    return status;
}

const WorldsRow worlds_pospisil = {
    .name = "pospisil",
    .summary = "32,810 grains and a ball without friction, each step to 1e-4 |q| by mprgp",
    .source = "pospisil-2015 Figs. 1-3",
    .share = 75.0,
    .run = run_pospisil};

/* ---- mprgp: the paper's parameters beside others ---- */

enum { PAPER, SPECTRAL = 4, METHODS };

static const struct {
    const char *label, *spec;
} methods[METHODS] = {
    [PAPER] = {"the paper's: projected steps of length 1",
               "mprgp:metric=none,stop=1e-4,expansion=gradient,step=1"},
    {"projected steps of length 1.9", "mprgp:metric=none,stop=1e-4,expansion=gradient"},
    {"half steps, as in the paper's proof", "mprgp:metric=none,stop=1e-4,expansion=half-step"},
    {"projected conjugate steps", "mprgp:metric=none,stop=1e-4,expansion=projcg"},
    [SPECTRAL] = {"spectral steps", "mprgp:metric=none,stop=1e-4"},
};

/* Totals over the steps of a run. */
typedef struct Totals {
    double iterations, products, most;       /* most: iterations of one step */
    double first_iterations, first_products; /* of the solves before redetection */
    int unsolved;                            /* steps that ended otherwise than by the rule */
} Totals;

/* True if a solve converged, or ended by mprgp's own rule after so many iterations. */
static bool is_solved(TalusOutcome outcome, int iterations)
{
    return outcome == TALUS_OUTCOME_CONVERGED ||
           (outcome == TALUS_OUTCOME_BUDGET && iterations < MAX_ITERATIONS);
}

static Totals sum_history(const History *history)
{
    Totals sum = {0};
    for (int i = 0; i < history->count; i++) {
        const TalusSolveInfo *solve = &history->step[i].solve;
        sum.iterations += solve->iterations;
        sum.products += solve->products;
        sum.first_iterations += history->step[i].first_iterations;
        sum.first_products += history->step[i].first_products;
        sum.most = fmax(sum.most, solve->iterations);
        sum.unsolved += !is_solved(solve->outcome, (int)history->step[i].first_iterations);
    }
    return sum;
}

/* Returns the correlation of the number of contacts with the products, over the steps with contacts. */
static double correlate_size_and_cost(const History *history)
{
    Correlation c = {0};
    for (int i = 0; i < history->count; i++)
        if (history->step[i].contacts > 0)
            correlation_add(&c, history->step[i].contacts, history->step[i].solve.products);
    return correlation_get(&c);
}

/* A figure of a step, for a curve. */
static double get_contacts_twice(const TalusStepInfo *s)
{
    return 2.0 * s->contacts; /* the paper counts a contact once for each body */
}

static double get_bodies(const TalusStepInfo *s)
{
    return s->bodies;
}

/* The paper solves once in a step: its figure has the cost of the solve before redetection. */
static double get_iterations(const TalusStepInfo *s)
{
    return s->first_iterations;
}

static double get_products(const TalusStepInfo *s)
{
    return s->first_products;
}

static double get_redetection_products(const TalusStepInfo *s)
{
    return s->solve.products - s->first_products;
}

static void add_curve(LabFigure *f, const char *name, const History *history,
                      double (*get)(const TalusStepInfo *))
{
    double *x = cli_check_memory(calloc(2 * (size_t)history->count + 1, sizeof *x));
    double *y = x + history->count;
    for (int i = 0; i < history->count; i++) {
        x[i] = history->step[i].time;
        y[i] = get(&history->step[i]);
    }
    lab_figure_add(f, name, x, y, history->count);
    free(x);
}

/* Adds to Fig. 1 of a run of the paper's size the paper's number of spheres up to the last step: 32,810, and one more
 * from 0.3 s on. Its text gives no other figure of its curves. */
static void add_paper_bodies(LabFigure *f, const History *history)
{
    static const double grains = 32810.0, arrival = 0.3;
    if (history->count == 0 || history->step[0].bodies < grains)
        return;
    const double last = history->step[history->count - 1].time;
    const double x[] = {0.0, fmin(arrival, last), arrival, last};
    const double y[] = {grains, grains, grains + 1.0, grains + 1.0};
    lab_figure_add(f, "spheres in the paper", x, y, last > arrival ? 4 : 2);
}

/* Returns the contacts of a body on average, each counted for both of its bodies. */
static double get_contacts_of_body(const TalusStepInfo *s)
{
    return s->bodies ? 2.0 * s->contacts / s->bodies : 0.0;
}

/* Adds Fig. 3, for which the paper has pictures of the grains at some times: what the steps tell of the state at these,
 * on the curve of all steps. */
static void add_fig_3(LabSet *set, const History *history, const char *label)
{
    static const double times[] = {0.4, 0.56, 0.64, 0.8, 1.44};
    char title[LAB_TEXT];
    double x[LAB_COUNT(times)], y[LAB_COUNT(times)];
    int count = 0;
    snprintf(title, sizeof title, "Fig. 3: state of the grains, %s", label);
    LabFigure *f = lab_set_add_figure(set, title, "time, s", "contacts of a body");
    add_curve(f, "contacts of a body, mean", history, get_contacts_of_body);
    for (int m = 0, i = 0; m < LAB_COUNT(times); m++) {
        while (i < history->count && history->step[i].time < times[m] - 1e-9)
            i++;
        if (i == history->count)
            break;
        x[count] = history->step[i].time;
        y[count++] = get_contacts_of_body(&history->step[i]);
    }
    if (count > 0)
        lab_figure_add(f, "at the times of the paper's pictures", x, y, count);
    snprintf(f->note, sizeof f->note,
             "The paper shows pictures at 0.4, 0.56, 0.64, 0.8 and 1.44 s and gives no figures of "
             "them; walls count as bodies.");
}

/* Adds the paper's Figs. 1 to 3 of a run. */
static void add_paper_figures(LabSet *set, const History *history, const char *label)
{
    char title[LAB_TEXT];
    snprintf(title, sizeof title, "Fig. 1: bodies and contacts, %s", label);
    LabFigure *size = lab_set_add_figure(set, title, "time, s", "number");
    add_curve(size, "bodies", history, get_bodies);
    add_curve(size, "contacts, each counted for both bodies", history, get_contacts_twice);
    add_paper_bodies(size, history);
    snprintf(title, sizeof title, "Fig. 2: iterations and products of a step, %s", label);
    LabFigure *cost = lab_set_add_figure(set, title, "time, s", "number");
    add_curve(cost, "iterations", history, get_iterations);
    add_curve(cost, "products", history, get_products);
    add_curve(cost, "products after redetection", history, get_redetection_products);
    add_fig_3(set, history, label);
}

/* A sphere between two walls that are too close: no velocity satisfies both contacts, which Lemma 3 overlooks
 * (docs/papers/errata.md). */
static const char wedge[] =
    "{\"step\": 8e-4, \"until\": 8e-4, \"materials\": {\"stone\": {\"friction\": 0, \"density\": 2800}},"
    "\"bodies\": [{\"shape\": {\"kind\": \"plane\"}, \"at\": [-0.0099, 0, 0], \"normal\": [1, 0, 0]},"
    "{\"shape\": {\"kind\": \"plane\"}, \"at\": [0.0099, 0, 0], \"normal\": [-1, 0, 0]},"
    "{\"radius\": 0.011, \"at\": [0, 0, 0]}]}";

/* Writes the solve of a step of the wedge. */
static TalusStatus solve_wedge(const Worlds *w, TalusSolveInfo *solve)
{
    WorldsCase c = {
        .scene = "wedge", .text = wedge, .solver = methods[PAPER].spec, .backend = "cpu"};
    TalusWorld *world;
    TalusStepInfo info;
    worlds_assign(&c.sets, "solver.tolerance=0");
    worlds_assign(&c.sets, "solver.max_iterations=%d", MAX_ITERATIONS);
    TALUS_TRY(worlds_build(w, &c, &world));
    TalusStatus status = talus_world_step(world, &info);
    *solve = info.solve; /* unset after a failure, which ends the experiment */
    talus_world_destroy(world);
    return status;
}

/* The paper's method to the tolerance of the solve, in place of its own rule. */
static const char lemma_solver[] = "mprgp:metric=none,expansion=gradient,step=1";

static TalusStatus add_mprgp_claims(const Worlds *w, const History *history)
{
    const Totals sum = sum_history(history);
    const double r = correlate_size_and_cost(history);
    TalusSolveInfo wedged;
    TALUS_TRY(pospisil_add_lemmas(w->set, lemma_solver));
    TALUS_TRY(solve_wedge(w, &wedged));
    claims_add(w->set,
               &(Claim){.statement = "the problem of a step always has a solution (Lemma 3)",
                        .rule = "no step is without one, by the paper's parameters, nor that of a "
                                "sphere between walls that are too close; in part: without the "
                                "latter"},
               claim_if_whole(sum.unsolved == 0 && is_solved(wedged.outcome, wedged.iterations),
                              sum.unsolved == 0),
               "%d of %d steps do not end with |g^P| <= 1e-4 |q|; the wedged sphere: %s",
               sum.unsolved, history->count, talus_outcome_name(wedged.outcome));
    claims_add(w->set,
               &(Claim){.statement = "iterations and Hessian products depend on the dimension of "
                                     "the problem",
                        .rule =
                            "contacts and products of steps correlate by at least 0.7; in part: "
                            "by 0.3"},
               isnan(r) ? CLAIM_UNJUDGED : claim_if_whole(r >= 0.7, r >= 0.3),
               "they correlate by %.2f over %d steps", r, history->count);
    return TALUS_OK;
}

static void add_run_row(LabTable *t, const char *label, const History *history, double paper)
{
    const Totals sum = sum_history(history);
    const TalusStepInfo *last = &history->step[history->count - 1];
    lab_table_add_cells(t, "%s\t%.2f\t%d\t%.0f\t%.0f\t%.0f\t%.0f\t%.2f\t%.0f\t%.2f", label,
                        last->time, history->count, sum.iterations, sum.first_iterations,
                        sum.products, sum.first_products, sum.products / paper, sum.most,
                        history->wall);
}

/* Runs one method and adds its row; *paper are the products by the paper's parameters, set by the first run. */
static TalusStatus run_method(Worlds *w, LabTable *t, int m, int bodies, int steps, double *paper)
{
    History history;
    TalusStatus status = run_impact(w, methods[m].spec, bodies, steps, &history);
    if (status == TALUS_OK) {
        *paper = m == PAPER ? sum_history(&history).products : *paper;
        add_run_row(t, methods[m].label, &history, *paper);
    }
    if (status == TALUS_OK && m == PAPER) {
        add_paper_figures(w->set, &history, "the paper's parameters");
        status = add_mprgp_claims(w, &history);
    }
    talus_release(history.step);
    return status;
}

/* Runs all of the paper's time by spectral steps, for its figures; by its own parameters that takes minutes of a large
 * GPU. */
static TalusStatus run_to_the_end(Worlds *w, LabTable *t, int bodies)
{
    History history;
    TalusStatus status = run_impact(w, methods[SPECTRAL].spec, bodies,
                                    (int)cli_steps_until(until, step_length), &history);
    if (status == TALUS_OK) {
        add_run_row(t, "spectral steps, to the end", &history, NAN);
        add_paper_figures(w->set, &history, "spectral steps");
    }
    talus_release(history.step);
    return status;
}

static TalusStatus run_mprgp(Worlds *w)
{
    bool device = strcmp(w->backend[0], "cpu") != 0;
    int bodies = worlds_choose_size(w, device ? 32810 : 2000, 300);
    double end = w->quick ? 0.06 : 0.4, paper = NAN;
    int steps = w->steps ? w->steps : (int)cli_steps_until(end, step_length);
    LabTable *t = lab_set_add_table(
        w->set, "mprgp on the grains, each step to 1e-4 |q|",
        "expansion\tuntil, s\tsteps\titerations\tof the first solves\tproducts\t"
        "of the first solves\tover the paper's\tmost iterations of a step\twall, s");
    for (int m = 0; m < METHODS; m++)
        TALUS_TRY(run_method(w, t, m, bodies, steps, &paper));
    if (device && !w->quick && !w->steps)
        TALUS_TRY(run_to_the_end(w, t, bodies));
    snprintf(t->note, sizeof t->note,
             "%d grains on %s; in the paper 32,810 grains, 1.44 s. First solves: before "
             "redetection, one in each step, as in the paper.",
             bodies, w->backend[0]);
    if (!device && !w->quick)
        lab_set_add_note(w->set, "mprgp: on the host 2,000 grains and 0.4 s; all of it with "
                                 "--backend cuda-mixed on a GPU.");
    return TALUS_OK;
}

const WorldsRow worlds_mprgp = {
    .name = "mprgp",
    .summary = "mprgp on poured grains by the paper's parameters, beside other expansions",
    .source = "pospisil-2015 Figs. 1 and 2",
    .run = run_mprgp};

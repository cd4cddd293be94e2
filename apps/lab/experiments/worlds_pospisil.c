/* lab/experiments/worlds_pospisil.c - the experiment of pospisil-2015: 32,810 grains poured into a box, a ball
 * added at 0.3 s, without friction, each step solved by mprgp until |g^P| <= 1e-4 |q|, with g^P the projected gradient;
 * by spectral steps, where the paper has projected ones (solvers/face/mprgp.c).
 *
 * pospisil.csv has a row per step: bodies and contacts are the paper's Fig. 1, iterations and Hessian products its
 * Fig. 2. The rows of the table are at the times of its Fig. 3. */
#include "worlds.h"

#include "base/memory.h"
#include "base/timer.h"
#include "io/file/file.h"

#include <math.h>

static const double until = 1.44;  /* simulated time of the run, s */
static const double target = 60.0; /* wall-clock time that the run should take at most, s */

/* The steps made so far. */
typedef struct History {
    TalusStepInfo *step; /* room for all steps of the run */
    int count;           /* number of steps made */
} History;

/* Makes and records `steps` steps; if the row's time is over, ends without an error after at least one step. */
static TalusStatus run_steps(const Worlds *w, TalusWorld *world, int steps, History *history)
{
    double said = talus_now();
    while (history->count < steps && !(history->count > 0 && worlds_time_is_over(w))) {
        TalusStepInfo *info = &history->step[history->count];
        TALUS_TRY(talus_world_step(world, info));
        history->count++;
        if (cli_stop_signal())
            return worlds_check_stop(w);
        if (talus_now() - said > 5.0) {
            said = talus_now();
            worlds_print_line(w, "pospisil: t = %.3f s, %d contacts, %d iterations", info->time,
                              info->contacts, info->solve.iterations);
        }
    }
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
    talus_file_print(file,
                     "step,time,bodies,contacts,iterations,products,rms,seconds,solve_seconds\n");
    for (int i = 0; i < history->count; i++) {
        const TalusStepInfo *s = &history->step[i];
        talus_file_print(file, "%lld,%.6g,%d,%d,%d,%d,%.6g,%.6g,%.6g\n", (long long)s->step,
                         s->time, s->bodies, s->contacts, s->solve.iterations, s->solve.products,
                         s->solve.residual.rms, get_step_seconds(s), s->solve_seconds);
    }
    return talus_file_commit(file);
}

/* ---- the table ---- */

static void add_step_row(LabTable *t, const TalusStepInfo *s)
{
    lab_table_add_cells(t, "%.3f\t%d\t%d\t%d\t%d\t%.2e\t%.2e\t%.2f", s->time, s->bodies,
                        s->contacts, s->solve.iterations, s->solve.products, s->solve.residual.rms,
                        s->solve.residual.rms / s->reference_speed, 1e3 * get_step_seconds(s));
}

/* Adds a table of the steps at the times of the paper's Fig. 3; its note has totals of the run. */
static void add_table(const Worlds *w, const History *history, double wall)
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
             history->count, wall, iterations, products, max);
}

/* Adds a verdict on the wall-clock time of the run, with the median residual; missed if not all `steps` were done. */
static TalusStatus add_time_verdict(Worlds *w, const History *history, int steps, double wall)
{
    double *rms;
    TALUS_TRY(TALUS_ALLOC(rms, (size_t)history->count + 1, "residuals"));
    for (int i = 0; i < history->count; i++)
        rms[i] = history->step[i].solve.residual.rms;
    WorldsStep median = {.rms = worlds_median(rms, history->count)};
    median.relative = median.rms / history->step[0].reference_speed;
    talus_release(rms);
    worlds_require_steps(
        worlds_add_verdict(w, wall, target, "s", &median, "pospisil, 1.44 s at |g^P| <= 1e-4 |q|"),
        history->count, steps);
    return TALUS_OK;
}

static TalusStatus run_pospisil(Worlds *w)
{
    WorldsCase c = {
        .scene = "impact", .solver = "mprgp:metric=none,stop=1e-4", .backend = w->backend[0]};
    int steps = w->steps ? w->steps : (int)cli_steps_until(w->quick ? 0.06 : until, 8e-4);
    History history = {0};
    TalusWorld *world;
    worlds_assign(&c.sets, "bodies=%d", worlds_choose_size(w, 32810, 300));
    worlds_assign(&c.sets, "solver.tolerance=0");
    worlds_assign(&c.sets, "solver.max_iterations=%d", 20000);
    if (w->quick)
        worlds_assign(&c.sets, "arrival=0.03");
    TALUS_TRY(worlds_build(w, &c, &world));
    TalusStatus status = TALUS_ALLOC(history.step, (size_t)steps, "steps");
    double begun = talus_now();
    TALUS_THEN(status, run_steps(w, world, steps, &history));
    double wall = talus_now() - begun;
    talus_world_destroy(world);
    TALUS_THEN(status, write_history(w, &history));
    if (status == TALUS_OK)
        add_table(w, &history, wall);
    if (status == TALUS_OK && !w->steps)
        status = add_time_verdict(w, &history, steps, wall);
    talus_release(history.step);
    return status;
}

const WorldsRow worlds_pospisil = {
    .name = "pospisil",
    .summary = "32,810 grains and a ball without friction, each step to 1e-4 |q| by mprgp",
    .source = "pospisil-2015 Figs. 1-3",
    .share = 75.0,
    .run = run_pospisil};

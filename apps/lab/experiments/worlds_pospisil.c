/* lab/experiments/worlds_pospisil.c - the experiment of pospisil-2015: 32,810 grains poured into a box, a ball
 * added at 0.3 s, without friction, each step solved by mprgp until |g^P| <= 1e-4 |q|.
 *
 * pospisil.csv has a row per step: bodies and contacts are the paper's Fig. 1, iterations and Hessian products its
 * Fig. 2. The rows of the table are at the times of its Fig. 3. */
#include "worlds.h"

#include "base/memory.h"
#include "base/timer.h"
#include "io/file/file.h"

#include <math.h>

static const double until = 1.44, target = 60.0;

typedef struct Course {
    TalusStepInfo *step;
    int count;
} Course;

static TalusStatus run_steps(const Worlds *w, TalusWorld *world, int steps, Course *course)
{
    double said = talus_now();
    while (course->count < steps && !(course->count > 0 && worlds_over(w))) {
        TalusStepInfo *info = &course->step[course->count];
        TALUS_TRY(talus_world_step(world, info));
        course->count++;
        if (cli_stop_signal())
            return worlds_stopped(w);
        if (talus_now() - said > 5.0) {
            said = talus_now();
            worlds_say(w, "pospisil: t = %.3f s, %d contacts, %d iterations", info->time,
                       info->contacts, info->solve.iterations);
        }
    }
    return TALUS_OK;
}

static double seconds_of(const TalusStepInfo *s)
{
    return s->detect_seconds + s->build_seconds + s->solve_seconds + s->integrate_seconds;
}

static TalusStatus write_course(const Worlds *w, const Course *course)
{
    TalusFile *file;
    TALUS_TRY(cli_create_file(&file, "%s/pospisil.csv", w->dir));
    talus_file_print(file,
                     "step,time,bodies,contacts,iterations,products,rms,seconds,solve_seconds\n");
    for (int i = 0; i < course->count; i++) {
        const TalusStepInfo *s = &course->step[i];
        talus_file_print(file, "%lld,%.6g,%d,%d,%d,%d,%.6g,%.6g,%.6g\n", (long long)s->step,
                         s->time, s->bodies, s->contacts, s->solve.iterations, s->solve.products,
                         s->solve.residual.rms, seconds_of(s), s->solve_seconds);
    }
    return talus_file_commit(file);
}

/* ---- the table ---- */

static void add_moment(LabTable *t, const TalusStepInfo *s)
{
    lab_table_row(t, "%.3f\t%d\t%d\t%d\t%d\t%.2e\t%.2e\t%.2f", s->time, s->bodies, s->contacts,
                  s->solve.iterations, s->solve.products, s->solve.residual.rms,
                  s->solve.residual.rms / s->reference_speed, 1e3 * seconds_of(s));
}

static void add_table(const Worlds *w, const Course *course, double wall)
{
    static const double moments[] = {0.1, 0.2, 0.29, 0.4, 0.56, 0.64, 0.8, 1.0, 1.2, 1.44};
    LabTable *t = lab_set_table(
        w->set, "pospisil: 32,810 grains and a ball, h 8e-4 s",
        "time, s\tbodies\tcontacts\titerations\tproducts\trms m/s\trms/gh\tms a step");
    double iterations = 0.0, products = 0.0, most = 0.0;
    for (int m = 0, i = 0; m < LAB_COUNT(moments); m++) {
        while (i < course->count && course->step[i].time < moments[m] - 1e-9)
            i++;
        if (i < course->count)
            add_moment(t, &course->step[i]);
    }
    for (int i = 0; i < course->count; i++) {
        iterations += course->step[i].solve.iterations;
        products += course->step[i].solve.products;
        most = fmax(most, course->step[i].solve.iterations);
    }
    snprintf(t->note, sizeof t->note,
             "%d steps in %.2f s: %.0f iterations and %.0f products in all, at most %.0f "
             "iterations in a step. Each step's figures are in pospisil.csv.",
             course->count, wall, iterations, products, most);
}

/* Judges the time with the residual of the median step. */
static TalusStatus judge(Worlds *w, const Course *course, int steps, double wall)
{
    double *rms;
    TALUS_TRY(TALUS_ALLOC(rms, (size_t)course->count + 1, "residuals"));
    for (int i = 0; i < course->count; i++)
        rms[i] = course->step[i].solve.residual.rms;
    WorldsStep median = {.rms = worlds_median(rms, course->count)};
    median.relative = median.rms / course->step[0].reference_speed;
    talus_release(rms);
    worlds_need_steps(
        worlds_judge(w, wall, target, "s", &median, "pospisil, 1.44 s at |g^P| <= 1e-4 |q|"),
        course->count, steps);
    return TALUS_OK;
}

static TalusStatus run_pospisil(Worlds *w)
{
    WorldsCase c = {
        .scene = "impact", .solver = "mprgp:metric=none,stop=1e-4", .backend = w->backend[0]};
    int steps = w->steps ? w->steps : (int)cli_steps_until(w->quick ? 0.06 : until, 8e-4);
    Course course = {0};
    TalusWorld *world;
    worlds_set(&c.sets, "bodies=%d", worlds_size(w, 32810, 300));
    worlds_set(&c.sets, "solver.tolerance=0");
    worlds_set(&c.sets, "solver.max_iterations=%d", 20000);
    if (w->quick)
        worlds_set(&c.sets, "arrival=0.03");
    TALUS_TRY(worlds_open(w, &c, &world));
    TalusStatus status = TALUS_ALLOC(course.step, (size_t)steps, "steps");
    double begun = talus_now();
    TALUS_THEN(status, run_steps(w, world, steps, &course));
    double wall = talus_now() - begun;
    talus_world_destroy(world);
    TALUS_THEN(status, write_course(w, &course));
    if (status == TALUS_OK)
        add_table(w, &course, wall);
    if (status == TALUS_OK && !w->steps)
        status = judge(w, &course, steps, wall);
    talus_release(course.step);
    return status;
}

const WorldsRow worlds_pospisil = {
    .name = "pospisil",
    .summary = "32,810 grains and a ball without friction, each step to 1e-4 |q| by mprgp",
    .source = "pospisil-2015 Figs. 1-3",
    .share = 75.0,
    .run = run_pospisil};

/* lab/experiments/worlds_measure.c - functions shared by the benchmarks that run worlds: building and stepping worlds,
 * statistics, volumes and verdicts. */
#include "worlds.h"

#include "backend/backend.h"
#include "base/memory.h"
#include "base/order.h"
#include "base/timer.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void worlds_assign(WorldsAssignments *sets, const char *format, ...)
{
    TALUS_FORMAT(sets->text[sets->count], format);
    sets->count++;
}

/* Loads the scene of a case. Contacts are rigid and under ccp unless the case says otherwise, so that results, which
 * are compared with papers and stored results, do not depend on the defaults of scenes. */
static TalusStatus load_scene(const WorldsCase *c, TalusScene **out)
{
    const char *sets[WORLDS_ASSIGNMENTS + 1] = {"defaults=relaxed"};
    int count = 1 + c->sets.count;
    char path[CLI_PATH_MAX];
    for (int i = 0; i < c->sets.count; i++)
        sets[1 + i] = c->sets.text[i];
    if (c->text)
        return talus_scene_parse(c->text, strlen(c->text), "scene", sets, count, out);
    if (!cli_has_scene(c->scene, path, sizeof path))
        return talus_fail(TALUS_ERR_IO, "the scene %s is missing", c->scene);
    return talus_scene_load(path, sets, count, out);
}

TalusStatus worlds_build(const Worlds *w, const WorldsCase *c, TalusWorld **out)
{
    TalusScene *scene = NULL;
    TalusSceneChoice choice = {
        .solver = c->solver, .backend = c->backend, .threads = cli_convert_threads(w->threads)};
    *out = NULL;
    TALUS_TRY(load_scene(c, &scene));
    TalusStatus status = talus_scene_build(scene, &choice, out);
    talus_scene_destroy(scene);
    return status;
}

TalusStatus worlds_copy_problem(TalusWorld *world, TalusProblem **out)
{
    TalusProblem *lent;
    TalusProblemDef def;
    TALUS_TRY(talus_world_build(world, &lent));
    TALUS_TRY(talus_problem_export(lent, &def));
    TALUS_TRY(talus_problem_create(&def, NULL, out));
    memcpy(talus_problem_gamma(*out), talus_problem_gamma(lent),
           (size_t)talus_problem_size(lent) * sizeof(double));
    return TALUS_OK;
}

double worlds_reference_speed(const TalusWorld *world)
{
    return talus_norm(talus_world_gravity(world)) * talus_world_step_length(world);
}

double worlds_processor_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void worlds_print_line(const Worlds *w, const char *format, ...)
{
    if (w->quiet)
        return;
    va_list args;
    va_start(args, format);
    fputs("talus: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

bool worlds_time_is_over(const Worlds *w)
{
    return talus_now() > w->deadline;
}

TalusStatus worlds_check_stop(const Worlds *w)
{
    if (cli_stop_signal())
        return talus_fail(TALUS_ERR_CANCELLED, "stopped by %s", cli_stop_name());
    if (worlds_time_is_over(w))
        return talus_fail(
            TALUS_ERR_CANCELLED,
            "stopped: its share of the %.0f s of `talus bench gpu` is used up; alone, "
            "as `talus bench ROW`, it has no limit",
            w->limit);
    return TALUS_OK;
}

/* Number of fields of WorldsStep, all doubles. */
enum { COLUMNS = sizeof(WorldsStep) / sizeof(double) };

/* Fills `out` from the information about a step and its wall-clock seconds. */
static void fill_step(const TalusStepInfo *info, double wall, WorldsStep *out)
{
    *out = (WorldsStep){.wall = wall,
                        .detect = info->detect_seconds,
                        .build = info->build_seconds,
                        .solve = info->solve_seconds,
                        .integrate = info->integrate_seconds,
                        .iterations = info->solve.iterations,
                        .products = info->solve.products,
                        .contacts = info->contacts,
                        .rms = info->solve.residual.rms,
                        .relative = info->solve.residual.rms / info->reference_speed};
}

double worlds_median(double *values, int count)
{
    if (count == 0)
        return NAN;
    qsort(values, (size_t)count, sizeof *values, talus_compare_doubles);
    return 0.5 * (values[(count - 1) / 2] + values[count / 2]);
}

/* Writes the median and the maximum of each field over the steps; NAN if there are none. worlds_median sorts the
 * values, so the last one is the maximum. */
static TalusStatus find_median_and_max(const WorldsStep *step, int count, WorldsStep *median,
                                       WorldsStep *max)
{
    double *column;
    TALUS_TRY(TALUS_ALLOC(column, (size_t)count + 1, "steps"));
    for (int c = 0; c < COLUMNS; c++) {
        for (int i = 0; i < count; i++)
            memcpy(&column[i], (const char *)&step[i] + (size_t)c * sizeof(double), sizeof(double));
        double middle = worlds_median(column, count), last = count > 0 ? column[count - 1] : NAN;
        if (median)
            memcpy((char *)median + (size_t)c * sizeof(double), &middle, sizeof middle);
        if (max)
            memcpy((char *)max + (size_t)c * sizeof(double), &last, sizeof last);
    }
    talus_release(column);
    return TALUS_OK;
}

static const double message_interval = 5.0; /* s */

TalusStatus worlds_advance(const Worlds *w, TalusWorld *world, int steps, const char *label,
                           WorldsStep *median, WorldsStep *max, int *done)
{
    WorldsStep *step;
    int count = 0;
    double begun = talus_now(), said = begun;
    TalusStatus status = TALUS_ALLOC(step, (size_t)steps + 1, "steps");
    while (status == TALUS_OK && count < steps) {
        TalusStepInfo info;
        double start = talus_now();
        status = talus_world_step(world, &info);
        if (status != TALUS_OK)
            break;
        fill_step(&info, talus_now() - start, &step[count++]);
        if (done && worlds_time_is_over(w) && !cli_stop_signal())
            break;
        status = worlds_check_stop(w);
        if (talus_now() - said > message_interval) {
            said = talus_now();
            worlds_print_line(w, "%s: step %d of %d, %.1f s", label, count, steps, said - begun);
        }
    }
    if (done)
        *done = count;
    if (status == TALUS_OK && (median || max))
        status = find_median_and_max(step, count, median, max);
    talus_release(step);
    return status;
}

/* What the monitor of a solve knows. */
typedef struct SolveMonitor {
    const Worlds *w;
    const char *label;
    double begun, said; /* times of the start and of the last message */
} SolveMonitor;

/* Monitor: shows the progress; ends the solve after a signal. */
static bool on_iteration(void *user, int iteration, int products, double residual)
{
    SolveMonitor *m = user;
    double now = talus_now();
    (void)products;
    if (now - m->said > message_interval) {
        m->said = now;
        worlds_print_line(m->w, "%s: iteration %d, residual %.2e m/s, %.1f s", m->label, iteration,
                          residual, now - m->begun);
    }
    return cli_stop_signal() == 0;
}

TalusStatus worlds_solve(const Worlds *w, const char *label, TalusSolver *solver,
                         TalusProblem *problem, const TalusSolveOptions *options,
                         TalusSolveInfo *info)
{
    double now = talus_now();
    SolveMonitor monitor = {.w = w, .label = label, .begun = now, .said = now};
    TalusSolveOptions monitored = *options;
    monitored.monitor = on_iteration;
    monitored.monitor_user = &monitor;
    TALUS_TRY(talus_solver_solve(solver, problem, &monitored, info));
    return cli_stop_signal() ? worlds_check_stop(w) : TALUS_OK;
}

double worlds_measure_memory(const char *backend)
{
    const TalusBackend *b = talus_backend_find(backend);
    return (double)(b && b->memory ? b->memory() : talus_memory_now());
}

double worlds_mean(const double *values, int count)
{
    double sum = 0.0;
    for (int i = 0; i < count; i++)
        sum += values[i];
    return sum / count;
}

double worlds_deviation(const double *values, int count)
{
    double mean = worlds_mean(values, count), sum = 0.0;
    for (int i = 0; i < count; i++)
        sum += (values[i] - mean) * (values[i] - mean);
    return count > 1 ? sqrt(sum / (count - 1)) : NAN;
}

double worlds_core_volume(const WorldsCore *core)
{
    return 4.0 * core->half * core->half * (core->high - core->low);
}

/* Sums over square columns parallel to z, at most an eighth of the radius wide: cross section times the exact length of
 * the column's axis inside ball and core. */
double worlds_ball_volume_within(const WorldsCore *core, TalusVec3 x, double radius)
{
    int columns = (int)ceil(16.0 * core->half / radius);
    double width = 2.0 * core->half / columns, sum = 0.0;
    int reach = (int)ceil(2.0 * radius / width) + 1;
    int i0 = (int)floor((x.x - radius + core->half) / width);
    int j0 = (int)floor((x.y - radius + core->half) / width);
    for (int i = i0 < 0 ? 0 : i0; i < columns && i <= i0 + reach; i++)
        for (int j = j0 < 0 ? 0 : j0; j < columns && j <= j0 + reach; j++) {
            double dx = (i + 0.5) * width - core->half - x.x;
            double dy = (j + 0.5) * width - core->half - x.y;
            double chord = sqrt(fmax(0.0, radius * radius - dx * dx - dy * dy));
            sum += fmax(0.0, fmin(core->high, x.z + chord) - fmax(core->low, x.z - chord));
        }
    return sum * width * width;
}

/* Returns the next verdict of w or, if all WORLDS_VERDICTS are in use, a dummy. */
static Verdict *new_verdict(Worlds *w)
{
    static Verdict beyond;
    Verdict *v = w->verdicts < WORLDS_VERDICTS ? &w->verdict[w->verdicts++] : &beyond;
    *v = (Verdict){.unit = "", .target = NAN, .measured = NAN, .rms = NAN, .relative = NAN};
    return v;
}

Verdict *worlds_add_verdict(Worlds *w, double measured, double target, const char *unit,
                            const WorldsStep *step, const char *format, ...)
{
    Verdict *v = new_verdict(w);
    TALUS_FORMAT(v->what, format);
    v->measured = measured;
    v->target = target;
    v->unit = unit;
    if (step) {
        v->rms = step->rms;
        v->relative = step->relative;
    }
    return v;
}

void worlds_require_steps(Verdict *v, int done, int steps)
{
    if (done < steps)
        snprintf(v->found, sizeof v->found, "missed: %d of %d steps", done, steps);
}

void worlds_add_failure(Worlds *w, const char *row)
{
    Verdict *v = new_verdict(w);
    v->failed = true;
    snprintf(v->what, sizeof v->what, "%s", row);
    snprintf(v->found, sizeof v->found, "%s", talus_error());
}

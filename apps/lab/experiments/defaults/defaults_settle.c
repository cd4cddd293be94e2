/* lab/experiments/defaults/defaults_settle.c - part 3: how cost grows with the number of bodies, on beds that settle.
 *
 * A case runs the scene settle-box for 600 steps. Products per step are means over steps 251 to 350, in which the bed
 * comes to rest, and over the last 100; if --quick or --steps asks for fewer steps, over their second and last third.
 * Times are figures, so cases run one at a time. The last steps of the smallest bed differ from seed to seed, so under
 * the default there are SEEDS of it, and growth is relative to their mean. */
#include "defaults.h"

#include "backend/backend.h"
#include "base/memory.h"
#include "base/order.h"
#include "base/timer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of beds, tolerances and seeds of the smallest bed; steps of a run, of each of its two windows and before the
 * middle window. */
enum { SIZES = 3, TOLERANCES = 2, SEEDS = 8, STEPS = 600, WINDOW = 100, MIDDLE = 250 };

static const int sizes[SIZES] = {4000, 64000, 1000000}, quick_sizes[SIZES] = {100, 150, 200};
static const double tolerances[TOLERANCES] = {1e-2, 1e-3}; /* relative to g h */
/* Targets: growth of products from the smallest to the largest bed; seconds of all steps, and per settled step, of the
 * largest bed at the tighter tolerance. */
static const double max_growth = 3.0, max_seconds = 27.0, max_settled = 0.020;

/* Returns cuda-mixed if it is usable here and the user names no backend; else the first backend of the call. */
static const char *choose_backend(const Worlds *w)
{
    return w->any_backend && talus_backend_find("cuda-mixed") ? "cuda-mixed" : w->backend[0];
}

static int get_bed_size(const Worlds *w, int index)
{
    return w->quick ? quick_sizes[index] : sizes[index];
}

/* ---- one run ---- */

/* Figures of a run. */
typedef struct Sums {
    /* Mean products per step: of all steps, of the middle window, of the last window. */
    double all, middle, last;
    double seconds; /* of all steps */
    double settled; /* seconds per step of the last window */
    double largest; /* largest overlap over the size */
    double mean;    /* mean overlap of the last step over the size */
    int missed;     /* steps that missed the tolerance */
} Sums;

/* Adds step number `step`, from 0, of `count` steps. */
static void add_step_to_sums(const TalusStepInfo *info, int step, int count, double seconds,
                             Sums *s)
{
    int window = count < STEPS ? count / 3 : WINDOW, middle = count < STEPS ? count / 3 : MIDDLE;
    s->all += info->solve.products / (double)count;
    if (step >= middle && step < middle + window)
        s->middle += info->solve.products / (double)window;
    if (step >= count - window) {
        s->last += info->solve.products / (double)window;
        s->settled += seconds / window;
    }
    s->seconds += seconds;
    s->largest = fmax(s->largest, info->penetration_max);
    s->mean = info->penetration_mean;
    s->missed += info->missed;
}

/* Makes all steps of a case and sums their figures; prints the progress every 10 s. */
static TalusStatus make_steps(const Worlds *w, TalusWorld *world, const Case *c, Sums *sums)
{
    int count = c->steps ? c->steps : worlds_choose_size(w, STEPS, 30);
    double said = talus_now();
    for (int i = 0; i < count; i++) {
        TalusStepInfo info;
        double start = talus_now();
        TALUS_TRY(talus_world_step(world, &info));
        add_step_to_sums(&info, i, count, talus_now() - start, sums);
        TALUS_TRY(worlds_check_stop(w));
        if (talus_now() - said > 10.0) {
            said = talus_now();
            worlds_print_line(w, "%s: step %d of %d, %.1f s", c->name, i + 1, count, sums->seconds);
        }
    }
    return TALUS_OK;
}

/* Writes the 99th percentile of the overlaps of the last step over the smaller radius; 0 if nothing overlaps. */
static TalusStatus find_overlap_percentile(const TalusWorld *world, double *out)
{
    TalusSnapshot s = {0};
    double *overlap = NULL;
    int count = 0;
    *out = 0.0;
    TalusStatus status = talus_snapshot_take(&s, world, TALUS_SNAPSHOT_CONTACTS);
    TALUS_THEN(status, TALUS_ALLOC(overlap, (size_t)s.contact_count + 1, "overlaps"));
    for (int i = 0; status == TALUS_OK && i < s.contact_count; i++) {
        double a = s.radius[s.contact_a[i]], b = s.radius[s.contact_b[i]];
        double size = a > 0.0 && b > 0.0 ? fmin(a, b) : fmax(a, b); /* walls have radius 0 */
        if (s.contact[i].gap < 0.0)
            overlap[count++] = -s.contact[i].gap / size;
    }
    if (count > 0) {
        qsort(overlap, (size_t)count, sizeof *overlap, talus_compare_doubles);
        *out = overlap[(int)(0.99 * (count - 1))];
    }
    talus_release(overlap);
    talus_snapshot_free(&s);
    return status;
}

static TalusStatus run_settle_case(const Worlds *w, Case *c)
{
    WorldsCase scene = {.scene = "settle-box", .backend = choose_backend(w)};
    TalusWorld *world;
    Sums sums = {0};
    double high = 0.0;
    snprintf(c->backend, sizeof c->backend, "%s", scene.backend);
    worlds_assign(&scene.sets, "bodies=%d", c->bodies);
    worlds_assign(&scene.sets, "solver.tolerance=%g", c->tolerance);
    if (c->seed)
        worlds_assign(&scene.sets, "bodies[grains].seed=%d", c->seed);
    defaults_assign(c->setting, &scene.sets);
    TALUS_TRY(worlds_build(w, &scene, &world));
    TalusStatus status = make_steps(w, world, c, &sums);
    TALUS_THEN(status, find_overlap_percentile(world, &high));
    talus_world_destroy(world);
    TALUS_TRY(status);
    defaults_add_figure(c, "middle", sums.middle);
    defaults_add_figure(c, "last", sums.last);
    defaults_add_figure(c, "all", sums.all);
    defaults_add_figure(c, "missed", sums.missed);
    defaults_add_figure(c, "steps seconds", sums.seconds);
    defaults_add_figure(c, "settled seconds", sums.settled);
    defaults_add_figure(c, "overlap mean", sums.mean);
    defaults_add_figure(c, "overlap 99", high);
    defaults_add_figure(c, "overlap largest", sums.largest);
    return TALUS_OK;
}

/* Adds the cases of other seeds of the smallest bed, under the default alone: c with seeds 2 to SEEDS. */
static TalusStatus list_seeds(Case c, Cases *cases)
{
    for (c.seed = 2; c.seed <= SEEDS; c.seed++) {
        TALUS_TRY(defaults_add_cases(cases, &c, "%d/%.0e/seed-%d", c.bodies, c.tolerance, c.seed));
        cases->count -= SETTINGS_COMPARED - 1; /* SETTING_DEFAULT is the first */
    }
    return TALUS_OK;
}

/* Adds a case per size, tolerance and setting. Beds of more than 4,000 spheres on the host, and rigid beds of a million
 * under coulomb on any backend, run only if the user names them or with --quick. */
static TalusStatus list_settle_cases(const Worlds *w, const Part *part, Cases *cases)
{
    bool host = strcmp(choose_backend(w), "cpu") == 0;
    for (int i = 0; i < SIZES; i++)
        for (int k = 0; k < TOLERANCES; k++) {
            Case c = {.part = part,
                      .bodies = get_bed_size(w, i),
                      .steps = w->steps,
                      .tolerance = tolerances[k]};
            c.on_request = host && !w->quick && i > 0;
            c.cost = 1e-3 * c.bodies;
            TALUS_TRY(defaults_add_cases(cases, &c, "%d/%.0e", c.bodies, c.tolerance));
            cases->item[cases->count - SETTINGS_COMPARED + SETTING_RIGID_COULOMB].on_request =
                c.on_request || (!w->quick && i == SIZES - 1);
            if (i == 0 && !w->quick)
                TALUS_TRY(list_seeds(c, cases));
        }
    return TALUS_OK;
}

/* ---- the table ---- */

/* Adds a row for a case; nothing if the case is not done. */
static void add_table_row(LabTable *t, const Cases *cases, int setting, int bodies,
                          double tolerance)
{
    const Case *c = defaults_find_case(cases, setting, "settle/%d/%.0e", bodies, tolerance);
    if (!c || !c->done)
        return;
    lab_table_add_cells(t, "%d\t%.0e\t%s\t%s\t%.0f\t%.0f\t%.0f\t%.0f", bodies, tolerance,
                        defaults_settings[setting].name, c->backend,
                        defaults_get_figure(c, "middle"), defaults_get_figure(c, "last"),
                        defaults_get_figure(c, "all"), defaults_get_figure(c, "missed"));
    lab_table_add_cells(
        t, "%.1f\t%.1f\t%.1e\t%.1e\t%.1e", defaults_get_figure(c, "steps seconds"),
        1e3 * defaults_get_figure(c, "settled seconds"), defaults_get_figure(c, "overlap mean"),
        defaults_get_figure(c, "overlap 99"), defaults_get_figure(c, "overlap largest"));
}

/* Writes products per step of the last window of the smallest bed under the default, by seed. Returns SEEDS, or 1 while
 * not all seeds are done: last[0] alone is then to be used, and is NAN if seed 1 is not done either. */
static int list_last_products(const Worlds *w, const Cases *cases, double tolerance,
                              double last[SEEDS])
{
    int bodies = get_bed_size(w, 0);
    last[0] = defaults_get_figure(
        defaults_find_case(cases, SETTING_DEFAULT, "settle/%d/%.0e", bodies, tolerance), "last");
    for (int seed = 2; seed <= SEEDS; seed++) {
        const Case *c = defaults_find_case(cases, SETTING_DEFAULT, "settle/%d/%.0e/seed-%d", bodies,
                                           tolerance, seed);
        last[seed - 1] = defaults_get_figure(c, "last");
        if (isnan(last[0]) || isnan(last[seed - 1]))
            return 1;
    }
    return SEEDS;
}

/* Adds a row for each tolerance with the products of the smallest bed by seed. */
static void add_seed_table(Worlds *w, const Cases *cases)
{
    LabTable *t = NULL;
    for (int k = 0; k < TOLERANCES; k++) {
        double last[SEEDS];
        if (list_last_products(w, cases, tolerances[k], last) < SEEDS)
            continue;
        if (!t)
            t = lab_set_add_table(
                w->set,
                "The smallest bed that settles, default: products per step of the "
                "last 100 steps, by seed",
                "spheres\ttolerance/gh\tleast\tmean\tlargest\tscatter");
        double least = INFINITY, largest = 0.0;
        for (int i = 0; i < SEEDS; i++) {
            least = fmin(least, last[i]);
            largest = fmax(largest, last[i]);
        }
        lab_table_add_cells(t, "%d\t%.0e\t%.1f\t%.1f\t%.1f\t%.1f", get_bed_size(w, 0),
                            tolerances[k], least, worlds_mean(last, SEEDS), largest,
                            worlds_deviation(last, SEEDS));
    }
}

/* Adds verdicts on growth and time of the default, where the cases are done. */
static void add_verdicts(Worlds *w, const Cases *cases)
{
    int small = get_bed_size(w, 0), large = get_bed_size(w, SIZES - 1);
    for (int k = 0; k < TOLERANCES; k++) {
        double last[SEEDS];
        const int seeds = list_last_products(w, cases, tolerances[k], last);
        const Case *b =
            defaults_find_case(cases, SETTING_DEFAULT, "settle/%d/%.0e", large, tolerances[k]);
        double growth = defaults_get_figure(b, "last") / worlds_mean(last, seeds);
        if (!isnan(growth))
            worlds_add_verdict(w, growth, max_growth, "", NULL,
                               "settle, %.0e g h: products of the last steps, %d over %d%s",
                               tolerances[k], large, small, seeds > 1 ? " (mean of seeds)" : "");
        if (k > 0 && !isnan(growth)) {
            worlds_add_verdict(w, defaults_get_figure(b, "steps seconds"), max_seconds, "s", NULL,
                               "settle, %d, %.0e g h: all steps", large, tolerances[k]);
            worlds_add_verdict(w, 1e3 * defaults_get_figure(b, "settled seconds"),
                               1e3 * max_settled, "ms", NULL,
                               "settle, %d, %.0e g h: a settled step", large, tolerances[k]);
        }
    }
}

static void add_settle_tables(Worlds *w, const Cases *cases)
{
    LabTable *t = lab_set_add_table(
        w->set, "Beds that settle: products per step, time and overlap",
        "spheres\ttolerance/gh\tsetting\tbackend\tsteps 251 to 350\tlast 100\tall 600\tsteps missed\t"
        "all steps, s\tsettled step, ms\toverlap/r: mean\t99th percentile\tlargest of the run");
    for (int i = 0; i < SIZES; i++)
        for (int k = 0; k < TOLERANCES; k++)
            for (int s = 0; s < SETTINGS_COMPARED; s++)
                add_table_row(t, cases, s, get_bed_size(w, i), tolerances[k]);
    snprintf(
        t->note, sizeof t->note,
        "Friction 0.3, h 5 ms, at most 1,000 iterations a step. Mean and 99th percentile of overlaps are those of "
        "the last step.");
    add_seed_table(w, cases);
    add_verdicts(w, cases);
}

const Part defaults_settle = {.name = "settle",
                              .revision = 1,
                              .alone = true,
                              .list = list_settle_cases,
                              .run = run_settle_case,
                              .tabulate = add_settle_tables};

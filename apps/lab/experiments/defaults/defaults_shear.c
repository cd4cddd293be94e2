/* lab/experiments/defaults/defaults_shear.c - part 2: products per step on a sheared bed.
 *
 * The flow is that of `talus bench shear`, in beds of several sizes and one shape. Each case settles its bed under its
 * own setting and turns the upper part. From this state it makes a run at each tolerance; the first half of the steps
 * of a run is not measured. */
#include "defaults.h"

#include "lab/experiments/shear.h"

#include <math.h>

/* Numbers of beds and tolerances; maximum iterations of a step, but see list_shear_cases. */
enum { SIZES = 3, TOLERANCES = 2, BUDGET = 10000 };

static const int sizes[SIZES] = {16000, 4000, 1000}, quick_sizes[SIZES] = {200, 150, 100};
static const double tolerances[TOLERANCES] = {1e-2, 1e-3}; /* relative to g h */
/* Targets: products of the default over rigid ccp, at each tolerance; mean overlap over the radius. */
static const double max_ratio[TOLERANCES] = {1.0, 0.5}, max_overlap = 1e-3;

static int get_bed_size(const Worlds *w, int index)
{
    return w->quick ? quick_sizes[index] : sizes[index];
}

/* Returns a bed with the shape of 4,000 spheres in a cylinder of radius 8 diameters; plug_height is not set. */
static Shear make_bed(const Worlds *w, int bodies)
{
    return (Shear){.bodies = bodies,
                   .settle_steps = worlds_choose_size(w, 300, 120),
                   .turning_steps = worlds_choose_size(w, 100, 10),
                   .measured_steps = worlds_choose_size(w, bodies > 4000 ? 20 : 80, 20),
                   .radius = 0.1,
                   .cylinder_radius = 1.6 * cbrt(bodies / 4000.0),
                   .plug_spin = 0.5};
}

/* Adds the figures "NAME TOLERANCE" of a run to the case. */
static void add_run_figures(Case *c, double tolerance, const ShearRun *run)
{
    static const char *const names[] = {"products", "missed", "overlap", "deepest"};
    double values[] = {run->cost.products / run->cost.count, run->cost.missed, run->overlap,
                       run->deepest};
    for (int i = 0; i < LAB_COUNT(names); i++) {
        char name[32];
        snprintf(name, sizeof name, "%s %.0e", names[i], tolerance);
        defaults_add_figure(c, name, values[i]);
    }
}

/* Makes a run from the saved world at a tolerance and adds its figures to the case. */
static TalusStatus run_at_tolerance(const Worlds *w, const void *bytes, size_t size,
                                    const Shear *shear, TalusSnapshot *snapshot, double tolerance,
                                    Case *c)
{
    TalusWorld *world;
    ShearRun found = {0};
    TALUS_TRY(talus_world_load(bytes, size, cli_convert_threads(w->threads), NULL, &world));
    TalusStatus status = talus_world_set_accuracy(world, tolerance, c->budget);
    TALUS_THEN(status, shear_run(w, world, shear, snapshot, &found));
    talus_world_destroy(world);
    if (status == TALUS_OK)
        add_run_figures(c, tolerance, &found);
    return status;
}

/* Settles and shears the bed of a case, then makes a run at each tolerance. */
static TalusStatus run_shear_case(const Worlds *w, Case *c)
{
    Shear shear = make_bed(w, c->bodies);
    TalusSnapshot snapshot = {0};
    TalusWorld *world = NULL;
    WorldsAssignments sets = {0};
    void *bytes = NULL;
    size_t size = 0;
    defaults_assign(c->setting, &sets);
    TalusStatus status = shear_settle(w, &shear, &sets, &world, &snapshot);
    TALUS_THEN(status, shear_flow(w, world, &shear, shear.turning_steps, &snapshot, NULL));
    TALUS_THEN(status, talus_world_save(world, &bytes, &size));
    talus_world_destroy(world);
    for (int k = 0; k < TOLERANCES; k++)
        TALUS_THEN(status, run_at_tolerance(w, bytes, size, &shear, &snapshot, tolerances[k], c));
    talus_free(bytes);
    talus_snapshot_free(&snapshot);
    return status;
}

/* Adds a case per size and setting. Rigid contacts under exact Coulomb friction rarely reach a tolerance of 1e-3, so
 * their budget is 1,000 iterations only. */
static TalusStatus list_shear_cases(const Worlds *w, const Part *part, Cases *cases)
{
    for (int i = 0; i < SIZES; i++) {
        Case c = {.part = part, .bodies = get_bed_size(w, i), .budget = BUDGET};
        c.cost = 0.02 * c.bodies;
        TALUS_TRY(defaults_add_cases(cases, &c, "%d", c.bodies));
        for (int k = cases->count - SETTINGS_COMPARED; k < cases->count; k++)
            if (cases->item[k].setting == &defaults_settings[SETTING_RIGID_COULOMB])
                cases->item[k].budget = 1000;
    }
    return TALUS_OK;
}

/* ---- the table ---- */

/* Returns the figure "NAME TOLERANCE" of a case. */
static double get_figure_at(const Case *c, const char *name, double tolerance)
{
    char text[32];
    snprintf(text, sizeof text, "%s %.0e", name, tolerance);
    return defaults_get_figure(c, text);
}

/* Adds a row for a size at tolerances[k] and, if default and rigid ccp are done, a verdict on the products. */
static void add_row_and_verdict(Worlds *w, LabTable *t, const Cases *cases, int bodies, int k)
{
    const Case *c[SETTINGS_COMPARED];
    double tolerance = tolerances[k];
    lab_table_add_cells(t, "%d\t%.0e", bodies, tolerance);
    for (int i = 0; i < SETTINGS_COMPARED; i++) {
        c[i] = defaults_find_case(cases, i, "shear/%d", bodies);
        lab_table_add_cells(t, "%.0f", get_figure_at(c[i], "products", tolerance));
    }
    double ratio =
        get_figure_at(c[0], "products", tolerance) / get_figure_at(c[1], "products", tolerance);
    double missed = get_figure_at(c[0], "missed", tolerance),
           overlap = get_figure_at(c[0], "overlap", tolerance);
    bool held = ratio <= max_ratio[k] && missed == 0.0 && overlap < max_overlap;
    lab_table_add_cells(t, "%.2f\t%.1f", ratio, max_ratio[k]);
    for (int i = 0; i < SETTINGS_COMPARED; i++)
        lab_table_add_cells(t, "%.0f", get_figure_at(c[i], "missed", tolerance));
    lab_table_add_cells(t, "%.1e\t%.1e\t%s", overlap, get_figure_at(c[0], "deepest", tolerance),
                        isnan(ratio) ? "-"
                        : held       ? "held"
                                     : "missed");
    if (!isnan(ratio))
        worlds_add_verdict(w, ratio, max_ratio[k], "", NULL,
                           "shear, %d spheres, %.0e g h: products", bodies, tolerance);
}

static void add_shear_tables(Worlds *w, const Cases *cases)
{
    LabTable *t = lab_set_add_table(
        w->set, "A sheared bed: products per step",
        "spheres\ttolerance/gh\tdefault\trigid ccp\trigid coulomb\tdefault over rigid ccp\tat most\t"
        "steps missed, default\trigid ccp\trigid coulomb\toverlap/r, default: mean\tlargest\tverdict");
    for (int i = SIZES - 1; i >= 0; i--)
        for (int k = 0; k < TOLERANCES; k++)
            add_row_and_verdict(w, t, cases, get_bed_size(w, i), k);
    Shear bed = make_bed(w, 4000), large = make_bed(w, 16000);
    snprintf(
        t->note, sizeof t->note,
        "Friction 0.5; each bed settles under its own setting, %d steps, and its upper fifth turns at %g rad/s; "
        "%d steps (of 16,000 spheres %d) at each tolerance, after as many that are not counted; at most %d iterations a step, under "
        "rigid coulomb 1,000. Of the default, no step may be missed and the mean overlap is below %g.",
        bed.settle_steps, bed.plug_spin, bed.measured_steps, large.measured_steps, BUDGET,
        max_overlap);
}

/* The revision is that of whole cases: with --quick, figures stored before 2026-11-18 are of 2 steps, not of 20. */
const Part defaults_shear = {.name = "shear",
                             .revision = 1,
                             .list = list_shear_cases,
                             .run = run_shear_case,
                             .tabulate = add_shear_tables};

/* lab/experiments/defaults/defaults_bulk.c - part 4: bulk answers of the default beside those of rigid contacts.
 *
 * Each answer is measured with three seeds, that of the silo, which scatters most, with twelve; with --quick one. Two
 * settings agree if their means differ by no more than the scatter of a difference, the root of the sum of their
 * variances. */
#include "defaults_bulk.h"

#include <math.h>
#include <string.h>

/* Maximum number of seeds of an experiment. */
enum { MAX_SEEDS = 12 };

typedef struct BulkExperiment {
    const char *name;
    TalusStatus (*run)(const Worlds *w, Case *c);
    /* Case.bodies, and that with --quick; arch, card-house and wall, whose scenes have all their bodies, do not use
     * it. */
    int bodies, quick_bodies;
    double mu;   /* friction of a packing; the other experiments have that of their scenes */
    double cost; /* estimated seconds on one core */
    int seeds;   /* number of seeds; 0: DEFAULTS_SEEDS */
    bool overlap_shifts; /* as in Case */
} BulkExperiment;

static const BulkExperiment experiments[] = {
    {"repose", bulk_measure_repose, 600, 60, .cost = 40.0},
    {"drum", bulk_measure_drum, 200, 40, .cost = 40.0},
    {"hopper", bulk_measure_hopper, 2000, 100, .cost = 40.0},
    {"packing-mu0", bulk_measure_packing, 2000, 125, .mu = 0.0, .cost = 150.0,
     .overlap_shifts = true},
    {"packing-mu0.3", bulk_measure_packing, 2000, 125, .mu = 0.3, .cost = 150.0,
     .overlap_shifts = true},
    {"packing-mu1", bulk_measure_packing, 2000, 125, .mu = 1.0, .cost = 150.0},
    {"janssen", bulk_measure_janssen, 240, 30, .cost = 60.0, .seeds = MAX_SEEDS},
    {"arch", bulk_measure_arch, 32, 32, .cost = 60.0, .overlap_shifts = true},
    {"card-house", bulk_measure_cards, 14, 14, .cost = 5.0, .overlap_shifts = true},
    {"wall", bulk_measure_wall, 125, 125, .cost = 60.0, .overlap_shifts = true},
    {"rover", bulk_measure_rover, 800, 20, .cost = 50.0}};

enum { EXPERIMENTS = sizeof experiments / sizeof *experiments };

/* A row of the table: a figure of an experiment. */
typedef struct Answer {
    const char *experiment, *figure;
    const char *words;  /* the answer in words, with its unit */
    const char *format; /* printf format of mean and deviation */
} Answer;

static const Answer answers[] = {
    {"repose", "angle", "slope of a collapsed column, degrees", "%.2f"},
    {"drum", "angle", "tablets in a drum: angle of the centre of mass, degrees", "%.2f"},
    {"hopper", "rate", "hopper, grains per second", "%.0f"},
    {"packing-mu0", "fraction", "packing fraction, mu 0", "%.4f"},
    {"packing-mu0.3", "fraction", "packing fraction, mu 0.3", "%.4f"},
    {"packing-mu1", "fraction", "packing fraction, mu 1", "%.4f"},
    {"packing-mu0", "contacts", "contacts per sphere, mu 0", "%.3f"},
    {"packing-mu0.3", "contacts", "contacts per sphere, mu 0.3", "%.3f"},
    {"packing-mu1", "contacts", "contacts per sphere, mu 1", "%.3f"},
    {"janssen", "load", "silo: load of the bottom over the weight", "%.3f"},
    {"janssen", "saturation", "silo: Janssen's limit, batches", "%.3f"},
    {"arch", "threshold", "arch: least thickness over radius", "%.5f"},
    {"card-house", "threshold", "card house: least friction", "%.4f"},
    {"card-house", "creep", "card house: move from 2 to 6 s over 1 mm", "%.1e"},
    {"wall", "creep", "wall: move from 2 to 6 s over a brick's height", "%.1e"},
    {"rover", "way", "rover: way in 1.8 s, m", "%.3f"},
    {"rover", "height", "rover: height of the chassis, m", "%.4f"}};

/* Returns the number of seeds of an experiment. */
static int count_seeds(const Worlds *w, const BulkExperiment *e)
{
    return worlds_choose_size(w, e->seeds ? e->seeds : (int)DEFAULTS_SEEDS, 1);
}

static const BulkExperiment *find_experiment(const char *name)
{
    for (int i = 0; i < EXPERIMENTS; i++)
        if (strcmp(experiments[i].name, name) == 0)
            return &experiments[i];
    return NULL;
}

/* Runs the experiment of the case. */
static TalusStatus run_bulk_case(const Worlds *w, Case *c)
{
    return experiments[c->kind].run(w, c);
}

static TalusStatus list_bulk_cases(const Worlds *w, const Part *part, Cases *cases)
{
    for (int i = 0; i < EXPERIMENTS; i++)
        for (int seed = 1; seed <= count_seeds(w, &experiments[i]); seed++) {
            const BulkExperiment *e = &experiments[i];
            Case c = {.part = part,
                      .kind = i,
                      .seed = seed,
                      .mu = e->mu,
                      .cost = e->cost,
                      .overlap_shifts = e->overlap_shifts};
            c.bodies = worlds_choose_size(w, e->bodies, e->quick_bodies);
            TALUS_TRY(defaults_add_cases(cases, &c, "%s/%d", e->name, seed));
        }
    return TALUS_OK;
}

/* ---- the tables ---- */

/* Mean and standard deviation of an answer over the seeds, under one setting. */
typedef struct Sample {
    double mean, deviation; /* NAN: not all seeds are done; deviation is 0 for one seed */
} Sample;

/* Finds the mean and deviation of an answer under a setting, over the seeds. */
static Sample find_sample(const Worlds *w, const Cases *cases, int setting, const Answer *a)
{
    double values[MAX_SEEDS] = {0.0};
    int count = count_seeds(w, find_experiment(a->experiment));
    for (int i = 0; i < count; i++)
        values[i] = defaults_get_figure(
            defaults_find_case(cases, setting, "bulk/%s/%d", a->experiment, i + 1), a->figure);
    return (Sample){worlds_mean(values, count), count > 1 ? worlds_deviation(values, count) : 0.0};
}

static void add_sample_cell(LabTable *t, const Answer *a, Sample s)
{
    char mean[32], deviation[32];
    snprintf(mean, sizeof mean, a->format, s.mean);
    snprintf(deviation, sizeof deviation, a->format, s.deviation);
    if (isnan(s.mean))
        lab_table_add_cells(t, "-");
    else
        lab_table_add_cells(t, "%s +- %s", mean, deviation);
}

/* Adds a cell: "within scatter", or the difference a - b in percent of b and in scatters. */
static void add_difference_cell(LabTable *t, Sample a, Sample b)
{
    double off = a.mean - b.mean, scatter = hypot(a.deviation, b.deviation);
    if (isnan(off))
        lab_table_add_cells(t, "-");
    else if (fabs(off) <= scatter)
        lab_table_add_cells(t, "within scatter");
    else if (scatter == 0.0)
        lab_table_add_cells(t, "%+.2g %%", 100.0 * off / fabs(b.mean));
    else
        lab_table_add_cells(t, "%+.2g %% (%.1f scatters)", 100.0 * off / fabs(b.mean),
                            fabs(off) / scatter);
}

static void add_answer_table(Worlds *w, const Cases *cases)
{
    LabTable *t = lab_set_add_table(w->set, "Bulk answers, mean and scatter of runs",
                                    "answer\tdefault\trigid ccp\trigid coulomb\t"
                                    "default off rigid ccp\toff rigid coulomb");
    for (int i = 0; i < LAB_COUNT(answers); i++) {
        Sample s[SETTINGS_COMPARED];
        lab_table_add_cells(t, "%s", answers[i].words);
        for (int k = 0; k < SETTINGS_COMPARED; k++) {
            s[k] = find_sample(w, cases, k, &answers[i]);
            add_sample_cell(t, &answers[i], s[k]);
        }
        add_difference_cell(t, s[SETTING_DEFAULT], s[SETTING_RIGID_CCP]);
        add_difference_cell(t, s[SETTING_DEFAULT], s[SETTING_RIGID_COULOMB]);
    }
    snprintf(
        t->note, sizeof t->note,
        "Three seeds, of the silo twelve; of arch, card house and wall, which have nothing random, three step "
        "lengths. "
        "Scatter of a difference: root of the sum of both variances.");
}

/* Adds a table of the answers that overlap may shift, under all settings but rigid coulomb. */
static void add_shift_table(Worlds *w, const Cases *cases)
{
    LabTable *t =
        lab_set_add_table(w->set, "Answers that overlap may shift, by compliance", "answer");
    for (int k = 0; k < DEFAULTS_SETTINGS; k++)
        if (k != SETTING_RIGID_COULOMB)
            lab_table_add_columns(t, "%s", defaults_settings[k].name);
    static const Answer shifted[] = {
        {"packing-mu0", "contacts", "contacts per sphere, mu 0", "%.3f"},
        {"packing-mu0", "fraction", "packing fraction, mu 0", "%.4f"},
        {"packing-mu0", "mean overlap", "mean overlap over the radius, mu 0", "%.1e"},
        {"packing-mu0.3", "contacts", "contacts per sphere, mu 0.3", "%.3f"},
        {"packing-mu0.3", "fraction", "packing fraction, mu 0.3", "%.4f"},
        {"arch", "threshold", "arch: least thickness over radius", "%.5f"},
        {"card-house", "threshold", "card house: least friction", "%.4f"},
        {"wall", "drift", "wall: move in 6 s over a brick's height", "%.1e"},
        {"wall", "creep", "wall: move from 2 to 6 s over a brick's height", "%.1e"},
        {"wall", "products", "wall: products per step", "%.0f"},
        {"arch", "products", "arch: products per step", "%.0f"}};
    for (int i = 0; i < LAB_COUNT(shifted); i++) {
        lab_table_add_cells(t, "%s", shifted[i].words);
        for (int k = 0; k < DEFAULTS_SETTINGS; k++)
            if (k != SETTING_RIGID_COULOMB)
                add_sample_cell(t, &shifted[i], find_sample(w, cases, k, &shifted[i]));
    }
}

static void add_bulk_tables(Worlds *w, const Cases *cases)
{
    add_answer_table(w, cases);
    add_shift_table(w, cases);
}

const Part defaults_bulk = {.name = "bulk",
                            .revision = 1,
                            .list = list_bulk_cases,
                            .run = run_bulk_case,
                            .tabulate = add_bulk_tables};

/* lab/experiments/petra_tables.c - tables and figures of the simulation experiment of petra-2009, which worlds_petra.c
 * runs: Tables 1-3, Fig. 3 with its relative differences, Figs. 4 to 6, growth of cost with the number of pebbles, and
 * one step with the paper's number of contacts. The paper's figures stand beside ours, but not with --quick. */
#include "petra.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Writes the method's label, with ", nudged" for a nudged run; returns `text`. */
static const char *format_run_name(const PetraRun *run, char text[LAB_TEXT])
{
    snprintf(text, LAB_TEXT, "%s%s", run->method->label, run->nudged ? ", nudged" : "");
    return text;
}

/* ---- Tables 1-3 ---- */

/* Adds the paper's cells of a row; NULL: the paper has no such run. */
static void add_paper_cells(LabTable *t, const PetraPaperRow *row)
{
    if (!row)
        lab_table_add_cells(t, "-\t-\t-\t-\t-");
    else if (row->end)
        lab_table_add_cells(t, "%s\t%s\t%s\t%s\t-", row->end, row->end, row->end, row->end);
    else
        lab_table_add_cells(t, "%.4g\t%d\t%.3f\t%.3f\t%.4f", row->infeasibility, row->steps,
                            row->total, row->average, row->kinetic);
}

static void add_run_row(LabTable *t, const PetraRun *run, bool quick)
{
    char name[LAB_TEXT];
    lab_table_add_cells(
        t, "%s\t%s\t%.0e\t%.1e\t%s%d\t%.1f\t%.4f\t%.3f\t%d\t%.1f\t%.3g\t%d",
        format_run_name(run, name), run->method->form,
        run->method->tolerance > 0.0 ? run->method->tolerance : NAN, run->infeasibility,
        run->failed   ? "failed after "
        : run->rested ? ""
                      : "> ",
        run->count, petra_total_seconds(run), petra_mean_seconds(run), petra_longest_step(run),
        (int)petra_get_max(run, PETRA_UNKNOWNS), petra_get_max(run, PETRA_MEGABYTES),
        run->count ? run->step[run->count - 1].kinetic : NAN, run->missed);
    if (!quick)
        add_paper_cells(t,
                        petra_find_paper_row(run->pebbles, run->nudged ? "" : run->method->label));
}

/* Adds a table of the runs with this number of pebbles, in the order in which they were made. */
static void add_size_table(const Petra *p, int pebbles, const char *title)
{
    LabTable *t = lab_set_add_table(
        p->w->set, title,
        "solver\tprimal/dual\ttolerance/gh\tprimal infeasibility\tsteps\ttotal, s\t"
        "average, s\tlongest step, s\tmost unknowns\tmost memory, MB\t"
        "kinetic energy\tmissed");
    if (!p->w->quick)
        lab_table_add_columns(t, "paper: infeasibility\tpaper: steps\tpaper: total, s\t"
                                 "paper: average, s\tpaper: kinetic energy");
    for (int i = 0; i < p->runs; i++)
        if (p->run[i].pebbles == pebbles)
            add_run_row(t, &p->run[i], p->w->quick);
    snprintf(
        t->note, sizeof t->note,
        "Until the kinetic energy is below the paper's figure for this many pebbles; steps with "
        "\">\": its time was over before. Infeasibility: largest violation of a constraint in "
        "the step after the last, m/s. Times are of the processor, for whole steps. Unknowns "
        "are those of the dual, three for each contact. The paper gives the kinetic energy at the "
        "end for 3,200 pebbles alone; crash, stopped: what it says of this run.");
}

/* True if no earlier run has the same number of pebbles. */
static bool is_first_of_size(const Petra *p, int run)
{
    for (int i = 0; i < run; i++)
        if (p->run[i].pebbles == p->run[run].pebbles)
            return false;
    return true;
}

/* Adds a table for each number of pebbles. */
static void add_size_tables(const Petra *p)
{
    int count = 0;
    for (int i = 0; i < p->runs; i++) {
        int pebbles = p->run[i].pebbles;
        char title[LAB_TEXT];
        if (!is_first_of_size(p, i))
            continue;
        if (++count <= PETRA_SIZES)
            snprintf(title, sizeof title, "Table %d: %d pebbles", count, pebbles);
        else
            snprintf(title, sizeof title, "What has become possible: %d pebbles", pebbles);
        add_size_table(p, pebbles, title);
    }
}

/* ---- Fig. 3: energies and their differences ---- */

static void add_energy_table(const Petra *p)
{
    LabTable *t = lab_set_add_table(
        p->w->set, "Fig. 3: largest relative difference of the kinetic energy",
        "pebbles\tsolver\tagainst\tto 10 % of the peak, %\tto 1 %\tto 0.1 %\tto rest, %\t"
        "of the peak, %\t1.5 % passed at, s\tenergy then, of the peak");
    for (int i = 0; i < p->runs; i++) {
        const PetraRun *run = &p->run[i], *reference = petra_find_reference(p, run);
        char name[LAB_TEXT];
        if (!reference || reference == run)
            continue;
        PetraDivergence found = petra_compare_energies(run, reference);
        lab_table_add_cells(t, "%d\t%s\t%s", run->pebbles, format_run_name(run, name),
                            reference->method->label);
        for (int s = 0; s < 3; s++)
            lab_table_add_cells(t, "%.2g", 100.0 * found.largest[s]);
        lab_table_add_cells(t, "%.2g\t%.2g\t%.2f\t%.1e", 100.0 * found.to_rest,
                            100.0 * found.of_peak, found.time, found.share);
    }
    snprintf(
        t->note, sizeof t->note,
        "Percent of the other run's energy at the same time, the largest while that is above a "
        "share of its peak; of the peak: the largest difference to rest over that peak. Nudged: the same solver, with pebbles that start 1e-9 higher: what "
        "remains of a difference that is not a solver's.");
}

/* ---- figures ---- */

/* Adds a curve of a run's figure y over x. With `relative`, y is replaced by the relative difference of the run's
 * energy from the reference's, NAN after the reference's last step. */
static void add_run_curve(const Petra *p, LabFigure *f, const PetraRun *run, PetraFigure x,
                          PetraFigure y, bool relative)
{
    double *px = cli_check_memory(calloc(2 * (size_t)run->count + 1, sizeof *px));
    double *py = px + run->count;
    char name[LAB_TEXT], text[LAB_TEXT + 32];
    const PetraRun *reference = petra_find_reference(p, run);
    for (int k = 0; k < run->count; k++) {
        px[k] = petra_get_figure(run, x, k);
        py[k] = !relative                           ? petra_get_figure(run, y, k)
                : reference && k < reference->count ? petra_energy_difference(run, reference, k)
                                                    : NAN;
    }
    snprintf(text, sizeof text, f->points ? "%s, %d" : "%s", format_run_name(run, name),
             run->pebbles);
    lab_figure_add(f, text, px, py, run->count);
    free(px);
}

/* Adds two figures: kinetic energies of the runs, and their relative differences from the reference. */
static void add_energy_figures(const Petra *p, int pebbles)
{
    char title[LAB_TEXT];
    snprintf(title, sizeof title, "Fig. 3: kinetic energy of %d pebbles", pebbles);
    LabFigure *energy = lab_set_add_figure(p->w->set, title, "time, s", "kinetic energy, J");
    snprintf(title, sizeof title, "Fig. 3: its relative difference, %d pebbles", pebbles);
    LabFigure *off = lab_set_add_figure(p->w->set, title, "time, s", "|E - E_0| / E_0");
    energy->y_log = off->y_log = true;
    for (int i = 0; i < p->runs && energy->curves < LAB_CURVES; i++) {
        const PetraRun *run = &p->run[i];
        if (run->pebbles != pebbles)
            continue;
        add_run_curve(p, energy, run, PETRA_TIME, PETRA_ENERGY, false);
        if (petra_find_reference(p, run) != run)
            add_run_curve(p, off, run, PETRA_TIME, PETRA_ENERGY, true);
    }
    snprintf(off->note, sizeof off->note,
             "E_0: the energy of the first run of the table above, of the nudged one that of the "
             "same solver.");
}

/* Adds the paper's points of time over unknowns, of Tables 4 and 5. */
static void add_paper_solves(LabFigure *f)
{
    for (int i = 0; i < PETRA_PAPER_SOLVES && f->curves < LAB_CURVES; i++) {
        const PetraPaperSolve *solve = &petra_paper_solves[i];
        double x[PETRA_PAPER_STEPS];
        char name[LAB_TEXT];
        for (int c = 0; c < PETRA_PAPER_STEPS; c++)
            x[c] = petra_paper_unknowns[c];
        snprintf(name, sizeof name, "paper, Tables 4 and 5: %s", solve->name);
        if (solve->iterations[0] > 0)
            lab_figure_add(f, name, x, solve->total, PETRA_PAPER_STEPS);
    }
}

/* Adds a figure of y over the unknowns for the runs with `from` to `to` pebbles, a point for every step. */
static void add_cost_figure(const Petra *p, const char *title, PetraFigure y, int from, int to)
{
    LabFigure *f = lab_set_add_figure(p->w->set, title, "unknowns of the dual",
                                      y == PETRA_SECONDS ? "s" : "MB");
    f->points = f->x_log = f->y_log = true;
    for (int i = 0; i < p->runs && f->curves < LAB_CURVES; i++)
        if (!p->run[i].nudged && p->run[i].pebbles >= from && p->run[i].pebbles <= to)
            add_run_curve(p, f, &p->run[i], PETRA_UNKNOWNS, y, false);
    if (!p->w->quick && y == PETRA_SECONDS)
        add_paper_solves(f);
}

/* Adds the curve of average times of the runs of the method `label` over the number of pebbles. */
static void add_average_curve(const Petra *p, LabFigure *f, const char *label)
{
    double x[PETRA_RUNS], y[PETRA_RUNS];
    int count = 0;
    for (int i = 0; i < p->runs; i++) {
        const PetraRun *run = &p->run[i];
        if (run->nudged || run->failed || strcmp(run->method->label, label) != 0)
            continue;
        x[count] = run->pebbles;
        y[count++] = petra_mean_seconds(run);
    }
    lab_figure_add(f, label, x, y, count);
}

/* Adds the curve of the paper's average times by the method `label`, if it has any. */
static void add_paper_averages(LabFigure *f, const char *label)
{
    double x[PETRA_SIZES], y[PETRA_SIZES];
    char name[LAB_TEXT] = "";
    int count = 0;
    const PetraPaperRow *row;
    for (int i = 0; (row = petra_get_paper_row(i)) != NULL; i++) {
        if (row->end || strcmp(row->label, label) != 0)
            continue;
        snprintf(name, sizeof name, "paper: %s", row->name);
        x[count] = row->pebbles;
        y[count++] = row->average;
    }
    if (count > 0)
        lab_figure_add(f, name, x, y, count);
}

/* Adds a figure of the average times of Tables 1 to 3, the paper's beside ours. */
static void add_average_figure(const Petra *p)
{
    LabFigure *f = lab_set_add_figure(p->w->set, "Tables 1 to 3: average time of a step", "pebbles",
                                      "average time, s");
    f->points = f->x_log = f->y_log = true;
    for (int i = 0; i < p->runs && f->curves + 2 <= LAB_CURVES; i++) {
        const PetraRun *run = &p->run[i];
        if (run->nudged || run->pebbles != p->run[0].pebbles)
            continue;
        add_average_curve(p, f, run->method->label);
        if (!p->w->quick)
            add_paper_averages(f, run->method->label);
    }
    snprintf(f->note, sizeof f->note,
             "Runs that their time ended have the average of the steps that they made.");
}

/* Adds the figures of energy, of memory and of time. The paper has the same caption for its Figs. 5 and 6; here the one
 * has the smaller numbers of pebbles and the other the largest. */
static void add_figures(const Petra *p)
{
    int least = p->run[0].pebbles, most = p->wide_pebbles;
    add_average_figure(p);
    add_energy_figures(p, least);
    add_cost_figure(p, "Fig. 4: memory of every step", PETRA_MEGABYTES, 0, INT_MAX);
    add_cost_figure(p, "Fig. 5: time of every step, fewer pebbles", PETRA_SECONDS, 0, most - 1);
    add_cost_figure(p, "Fig. 6: time of every step, most pebbles", PETRA_SECONDS, most, INT_MAX);
}

/* ---- growth ---- */

static void add_growth_table(const Petra *p)
{
    LabTable *t = lab_set_add_table(p->w->set, "Growth: exponents of the number of pebbles",
                                    "solver\tsizes\tunknowns\taverage time\taverage time, of "
                                    "unknowns\tlongest step\tmost memory");
    if (!p->w->quick)
        lab_table_add_columns(t, "paper: average time");
    for (int i = 0; i < p->runs; i++) {
        const char *label = p->run[i].method->label;
        if (p->run[i].nudged || p->run[i].pebbles != p->run[0].pebbles)
            continue;
        PetraGrowth g = petra_fit_growth(p, label);
        lab_table_add_cells(t, "%s\t%d\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f", label, g.sizes, g.unknowns,
                            g.mean, g.mean_of_unknowns, g.longest, g.memory);
        if (!p->w->quick)
            lab_table_add_cells(t, "%.2f", petra_fit_paper(label));
    }
    snprintf(t->note, sizeof t->note,
             "Over the steps that all sizes of a solver have; without runs that have fewer than "
             "half of the steps of Cholesky's. Of unknowns: the exponent of the most unknowns.");
}

/* ---- one step with the paper's number of contacts ---- */

/* Adds a table of the step with the paper's number of contacts, by every method. */
static void add_wide_table(const Petra *p)
{
    LabTable *t = lab_set_add_table(
        p->w->set, "One step with as many contacts for a pebble as in the paper",
        "solver\toutcome\titerations\tseconds\tmemory, MB\tprimal infeasibility\tresidual/gh");
    const double average = petra_find_paper_row(3200, PETRA_CHOL)->average;
    if (!p->w->quick)
        lab_table_add_columns(t, "paper's %.3f s over it", average);
    for (int i = 0; i < p->wide_count; i++) {
        const PetraSolve *s = &p->wide[i];
        lab_table_add_cell(t, "%s", s->method->label);
        bool own =
            !(s->method->tolerance > 0.0) && s->outcome == TALUS_OUTCOME_BUDGET && !s->cut_off;
        lab_table_add_cell(t, "%s",
                           s->failed ? s->why
                           : own     ? "by its rule"
                                     : talus_outcome_name(s->outcome));
        if (s->failed)
            lab_table_add_cells(t, "-\t-\t-\t-\t-");
        else
            lab_table_add_cells(t, "%d\t%.2f\t%.1f\t%.1e\t%.1e", s->iterations, s->seconds,
                                s->memory / 1048576.0, s->infeasibility,
                                s->residual / (9.81 * 0.05));
        if (!p->w->quick)
            lab_table_add_cells(t, "%.1f", s->failed ? NAN : average / s->seconds);
    }
    snprintf(t->note, sizeof t->note,
             "%d pebbles at %.2f s, every pair up to a gap of %.3f radii and more where it closes: "
             "%d contacts, %d unknowns of the dual; without the wider envelope the runs of as many "
             "pebbles have the unknowns of their table. From the impulses of the step before.%s",
             p->wide_pebbles, p->wide_time, p->wide_envelope, p->wide_contacts,
             3 * p->wide_contacts,
             p->w->quick ? ""
                         : " The last column: the paper's average time for a step of 3,200 "
                           "pebbles by OOQP-CHOL over the seconds here.");
}

void petra_report(const Petra *p)
{
    add_size_tables(p);
    add_energy_table(p);
    add_growth_table(p);
    if (p->wide_count > 0)
        add_wide_table(p);
    add_figures(p);
    petra_judge(p);
}

/* lab/experiments/petra_tables.c - results of the simulation experiment of petra-2009, which worlds_petra.c runs:
 * Tables 1-3, Fig. 3 with its relative differences, Figs. 4 and 5, growth of cost with the number of pebbles, and
 * verdicts. */
#include "petra.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double max_difference = 0.015; /* of kinetic energies, relative; the paper's figure */

/* ---- evaluation of runs ---- */

const PetraRun *petra_find_run(const Petra *p, const char *label, int pebbles)
{
    for (int i = 0; i < p->runs; i++)
        if (p->run[i].pebbles == pebbles && !p->run[i].nudged &&
            strcmp(p->run[i].method->label, label) == 0)
            return &p->run[i];
    return NULL;
}

static double get_total_seconds(const PetraRun *run)
{
    double sum = 0.0;
    for (int k = 0; k < run->count; k++)
        sum += run->step[k].seconds;
    return sum;
}

double petra_mean_seconds(const PetraRun *run)
{
    return run->count ? get_total_seconds(run) / run->count : NAN;
}

/* Figures of a step: simulated time, s; kinetic energy, J; dual unknowns, three per contact; processor time, s; memory,
 * 2^20 bytes. */
typedef enum Figure { TIME, ENERGY, UNKNOWNS, SECONDS, MEGABYTES } Figure;

/* Returns a figure of step k. */
static double get_figure(const PetraRun *run, Figure figure, int k)
{
    const PetraStep *s = &run->step[k];
    const double figures[] = {s->time, s->kinetic, 3.0 * s->contacts, s->seconds,
                              s->memory / 1048576.0};
    return figures[figure];
}

/* Returns the maximum of a figure over the run's steps. */
static double get_max(const PetraRun *run, Figure figure)
{
    double max = 0.0;
    for (int k = 0; k < run->count; k++) {
        double value = get_figure(run, figure, k);
        max = value > max ? value : max; /* GCC 12 fails to compile fmax here */
    }
    return max;
}

double petra_longest_step(const PetraRun *run)
{
    return get_max(run, SECONDS);
}

const PetraRun *petra_find_quickest(const Petra *p, int pebbles,
                                    double (*cost)(const PetraRun *run))
{
    const PetraRun *best = NULL;
    for (int i = 0; i < p->runs; i++) {
        const PetraRun *run = &p->run[i];
        if (run->pebbles == pebbles && run->rested && !run->nudged &&
            (!best || cost(run) < cost(best)))
            best = run;
    }
    return best;
}

/* Writes the method's label, with ", nudged" for a nudged run; returns `text`. */
static const char *format_run_name(const PetraRun *run, char text[LAB_TEXT])
{
    snprintf(text, LAB_TEXT, "%s%s", run->method->label, run->nudged ? ", nudged" : "");
    return text;
}

/* ---- Tables 1-3 ---- */

typedef struct PaperRow {
    int pebbles;
    const char *label;
    double infeasibility; /* as the paper gives it; 0 for interior point methods */
    int steps;            /* until rest */
    double average;       /* seconds per step */
} PaperRow;

static const PaperRow paper[] = {
    {800, "tao-blmvm, paper's rule", 1.482e-4, 324, 30.058},
    {800, "ipm-aug", 0.0, 370, 161.330},
    {800, "ipm-chol", 0.0, 371, 25.206},
    {800, "tao-tron, paper's rule", 1.070e-2, 487, 580.624},
    {1600, "tao-blmvm, paper's rule", 6.235e-5, 394, 185.652},
    {1600, "ipm-aug", 0.0, 319, 1083.929},
    {1600, "ipm-chol", 0.0, 310, 122.894},
    {3200, "tao-blmvm, paper's rule", 4.946e-5, 284, 779.618},
    {3200, "ipm-chol", 0.0, 296, 593.023},
};

static const PaperRow *find_paper_row(int pebbles, const char *label)
{
    for (int i = 0; i < LAB_COUNT(paper); i++)
        if (paper[i].pebbles == pebbles && strcmp(paper[i].label, label) == 0)
            return &paper[i];
    return NULL;
}

static void add_run_row(LabTable *t, const PetraRun *run, bool quick)
{
    char name[LAB_TEXT];
    const PaperRow *row = find_paper_row(run->pebbles, run->nudged ? "" : run->method->label);
    lab_table_add_cells(
        t, "%s\t%.0e\t%.1e\t%s%d\t%.1f\t%.4f\t%.3f\t%d\t%.1f\t%.3g\t%d", format_run_name(run, name),
        run->method->tolerance > 0.0 ? run->method->tolerance : NAN, run->infeasibility,
        run->failed   ? "failed after "
        : run->rested ? ""
                      : "> ",
        run->count, get_total_seconds(run), petra_mean_seconds(run), petra_longest_step(run),
        (int)get_max(run, UNKNOWNS), get_max(run, MEGABYTES),
        run->count ? run->step[run->count - 1].kinetic : NAN, run->missed);
    if (!quick && row)
        lab_table_add_cells(t, "%.3g\t%d\t%.1f", row->infeasibility, row->steps, row->average);
    else if (!quick)
        lab_table_add_cells(t, "-\t-\t-");
}

/* Adds a table of the runs with this number of pebbles, in the order in which they were made. */
static void add_size_table(const Petra *p, int pebbles, const char *title)
{
    LabTable *t = lab_set_add_table(p->w->set, title,
                                    "solver\ttolerance/gh\tprimal infeasibility\tsteps\ttotal, s\t"
                                    "average, s\tlongest step, s\tmost unknowns\tmost memory, MB\t"
                                    "kinetic energy\tmissed");
    if (!p->w->quick)
        lab_table_add_columns(t, "paper: infeasibility\tpaper: steps\tpaper: average, s");
    for (int i = 0; i < p->runs; i++)
        if (p->run[i].pebbles == pebbles)
            add_run_row(t, &p->run[i], p->w->quick);
    snprintf(
        t->note, sizeof t->note,
        "Until the kinetic energy is below the paper's figure for this many pebbles; steps with "
        "\">\": its time was over before. Infeasibility: largest violation of a constraint in "
        "the step after the last, m/s. Times are of the processor, for whole steps. Unknowns "
        "are those of the dual, three for each contact.");
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

/* Returns the run with which `run` is compared; NULL: none. For a nudged run: the run of the same method that is not
 * nudged. Otherwise: the first run with the same number of pebbles, which may be `run` itself. With the paper's sizes
 * that is the run by ipm-chol, the most accurate method, if the build has it. */
static const PetraRun *find_reference(const Petra *p, const PetraRun *run)
{
    if (run->nudged)
        return petra_find_run(p, run->method->label, run->pebbles);
    for (int i = 0; i < p->runs; i++)
        if (p->run[i].pebbles == run->pebbles && !p->run[i].nudged)
            return &p->run[i];
    return NULL;
}

/* Returns |E_a - E_b| / E_b, with E the kinetic energy after step k. */
static double energy_difference(const PetraRun *a, const PetraRun *b, int k)
{
    return fabs(a->step[k].kinetic - b->step[k].kinetic) / b->step[k].kinetic;
}

/* How far the kinetic energies of run a and its reference b differ, relative to b's, over the steps that both have. */
typedef struct Divergence {
    /* Maximum until b's energy, after its peak, falls below shares[i] of the peak. */
    double largest[3];
    double to_rest; /* maximum over all steps that both have */
    /* Maximum of |E_a - E_b| over b's peak energy, not over b's energy at that step. */
    double of_peak;
    double time;  /* time at which the difference first exceeds max_difference, s; NAN: never */
    double share; /* b's energy at that time over its peak */
} Divergence;

static const double shares[3] = {0.1, 0.01, 0.001}; /* of the peak energy, for Divergence.largest */

static Divergence compare_energies(const PetraRun *a, const PetraRun *b)
{
    Divergence found = {.time = NAN, .share = NAN};
    double peak = get_max(b, ENERGY);
    bool past[3] = {false, false, false}, landed = false;
    for (int k = 0; k < a->count && k < b->count; k++) {
        double d = energy_difference(a, b, k), share = b->step[k].kinetic / peak;
        landed = landed || share >= 1.0; /* energies below a share do not count before the peak */
        for (int s = 0; s < 3; s++) {
            past[s] = past[s] || (landed && share < shares[s]);
            if (!past[s])
                found.largest[s] = fmax(found.largest[s], d);
        }
        found.to_rest = fmax(found.to_rest, d);
        found.of_peak = fmax(found.of_peak, d * share);
        if (isnan(found.time) && d > max_difference) {
            found.time = b->step[k].time;
            found.share = share;
        }
    }
    return found;
}

static void add_energy_table(const Petra *p)
{
    LabTable *t = lab_set_add_table(
        p->w->set, "Fig. 3: largest relative difference of the kinetic energy",
        "pebbles\tsolver\tagainst\tto 10 % of the peak, %\tto 1 %\tto 0.1 %\tto rest, %\t"
        "of the peak, %\t1.5 % passed at, s\tenergy then, of the peak");
    for (int i = 0; i < p->runs; i++) {
        const PetraRun *run = &p->run[i], *reference = find_reference(p, run);
        char name[LAB_TEXT];
        if (!reference || reference == run)
            continue;
        Divergence found = compare_energies(run, reference);
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
static void add_run_curve(const Petra *p, LabFigure *f, const PetraRun *run, Figure x, Figure y,
                          bool relative)
{
    double *px = cli_check_memory(calloc(2 * (size_t)run->count + 1, sizeof *px));
    double *py = px + run->count;
    char name[LAB_TEXT], text[LAB_TEXT + 32];
    const PetraRun *reference = find_reference(p, run);
    for (int k = 0; k < run->count; k++) {
        px[k] = get_figure(run, x, k);
        py[k] = !relative                           ? get_figure(run, y, k)
                : reference && k < reference->count ? energy_difference(run, reference, k)
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
        add_run_curve(p, energy, run, TIME, ENERGY, false);
        if (find_reference(p, run) != run)
            add_run_curve(p, off, run, TIME, ENERGY, true);
    }
    snprintf(off->note, sizeof off->note,
             "E_0: the energy of the first run of the table above, of the nudged one that of the "
             "same solver.");
}

/* Adds a figure of y over the unknowns for the runs with `from` to `to` pebbles, a point for every step. */
static void add_cost_figure(const Petra *p, const char *title, Figure y, int from, int to)
{
    LabFigure *f =
        lab_set_add_figure(p->w->set, title, "unknowns of the dual", y == SECONDS ? "s" : "MB");
    f->points = f->x_log = f->y_log = true;
    for (int i = 0; i < p->runs && f->curves < LAB_CURVES; i++)
        if (!p->run[i].nudged && p->run[i].pebbles >= from && p->run[i].pebbles <= to)
            add_run_curve(p, f, &p->run[i], UNKNOWNS, y, false);
}

/* Adds the figures of energy, of memory and of time. The paper has the same caption for its Figs. 5 and 6; here the one
 * has the smaller numbers of pebbles and the other the largest. */
static void add_figures(const Petra *p)
{
    int least = p->run[0].pebbles, most = p->wide_pebbles;
    add_energy_figures(p, least);
    add_cost_figure(p, "Fig. 4: memory of every step", MEGABYTES, 0, INT_MAX);
    add_cost_figure(p, "Fig. 5: time of every step, fewer pebbles", SECONDS, 0, most - 1);
    add_cost_figure(p, "Fig. 6: time of every step, most pebbles", SECONDS, most, INT_MAX);
}

/* ---- growth ---- */

enum { AVERAGE = -1 }; /* value of `figure` of fit_exponent: mean time of a step, not a maximum */

/* Returns the exponent e of y = c pebbles^e, by least squares of logarithms over the runs of the method `label` that
 * are not nudged; NAN for fewer than two. *points is set to their number. y is the maximum of `figure` over a run's
 * steps, for AVERAGE the mean time. */
static double fit_exponent(const Petra *p, const char *label, int figure, int *points)
{
    double sx = 0.0, sy = 0.0, sxx = 0.0, sxy = 0.0;
    int n = 0;
    for (int i = 0; i < p->runs; i++) {
        const PetraRun *run = &p->run[i];
        if (run->nudged || strcmp(run->method->label, label) != 0 || !run->count)
            continue;
        double x = log(run->pebbles);
        double y = log(figure == AVERAGE ? petra_mean_seconds(run) : get_max(run, (Figure)figure));
        sx += x, sy += y, sxx += x * x, sxy += x * y;
        n++;
    }
    *points = n;
    return n > 1 ? (n * sxy - sx * sy) / (n * sxx - sx * sx) : NAN;
}

static void add_growth_table(const Petra *p)
{
    LabTable *t =
        lab_set_add_table(p->w->set, "Growth: exponents of the number of pebbles",
                          "solver\tsizes\tunknowns\taverage time\tlongest step\tmost memory");
    for (int i = 0; i < p->runs; i++) {
        const char *label = p->run[i].method->label;
        int points;
        if (p->run[i].nudged || p->run[i].pebbles != p->run[0].pebbles)
            continue;
        double u = fit_exponent(p, label, UNKNOWNS, &points);
        lab_table_add_cells(t, "%s\t%d\t%.2f\t%.2f\t%.2f\t%.2f", label, points, u,
                            fit_exponent(p, label, AVERAGE, &points),
                            fit_exponent(p, label, SECONDS, &points),
                            fit_exponent(p, label, MEGABYTES, &points));
    }
}

/* ---- one step with the paper's number of contacts ---- */

/* Adds a table of the step with the paper's number of contacts, by every method. */
static void add_wide_table(const Petra *p)
{
    LabTable *t = lab_set_add_table(
        p->w->set, "One step with as many contacts for a pebble as in the paper",
        "solver\toutcome\titerations\tseconds\tmemory, MB\tprimal infeasibility\tresidual/gh");
    for (int i = 0; i < p->wide_count; i++) {
        const PetraSolve *s = &p->wide[i];
        lab_table_add_cell(t, "%s", s->method->label);
        bool own = !(s->method->tolerance > 0.0) && s->outcome == TALUS_OUTCOME_BUDGET;
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
    }
    snprintf(t->note, sizeof t->note,
             "%d pebbles at %.2f s, every pair up to a gap of %.3f radii and more where it closes: "
             "%d contacts, %d unknowns of the dual. From the impulses of the step before.",
             p->wide_pebbles, p->wide_time, p->wide_envelope, p->wide_contacts,
             3 * p->wide_contacts);
}

/* ---- verdicts ---- */

enum { REST = -1, PEAK = -2 }; /* values of `until` of find_worst_difference */

/* Returns the maximum over all runs that are not nudged of a field of Divergence: largest[until], for REST to_rest, for
 * PEAK of_peak. NAN: there are no two runs to compare. */
static double find_worst_difference(const Petra *p, int until)
{
    double worst = NAN; /* fmax takes the other number */
    for (int i = 0; i < p->runs; i++) {
        const PetraRun *run = &p->run[i], *reference = find_reference(p, run);
        if (run->nudged || !reference || reference == run)
            continue;
        Divergence found = compare_energies(run, reference);
        worst = fmax(worst, until == REST   ? found.to_rest
                            : until == PEAK ? found.of_peak
                                            : found.largest[until]);
    }
    return worst;
}

static bool has_converged(const PetraSolve *s)
{
    return !s->failed && s->outcome == TALUS_OUTCOME_CONVERGED;
}

/* Returns the fastest converged solution of the step with the paper's number of contacts; NULL: none. */
static const PetraSolve *find_quickest_wide(const Petra *p)
{
    const PetraSolve *best = NULL;
    for (int i = 0; i < p->wide_count; i++) {
        const PetraSolve *s = &p->wide[i];
        if (has_converged(s) && (!best || s->seconds < best->seconds))
            best = s;
    }
    return best;
}

/* Adds verdicts on speed. Targets are fractions of 593.023 s, the paper's average for a step of 3,200 pebbles by
 * OOQP-CHOL: a tenth for ipm-chol, a two-hundredth for the quickest method. Each target is applied to the longest step
 * of a run and to the step with the paper's number of contacts. */
static void add_speed_verdicts(const Petra *p)
{
    const double tenth = 593.023 / 10.0, fast = 593.023 / 200.0;
    const PetraRun *chol = petra_find_run(p, "ipm-chol", p->wide_pebbles);
    const PetraRun *best = petra_find_quickest(p, p->wide_pebbles, petra_longest_step);
    const PetraSolve *wide = find_quickest_wide(p);
    if (chol)
        worlds_add_verdict(p->w, petra_longest_step(chol), tenth, "s", NULL,
                           "longest step of 3,200 pebbles, ipm-chol");
    if (best)
        worlds_add_verdict(p->w, petra_longest_step(best), fast, "s", NULL,
                           "longest step of 3,200 pebbles, %s", best->method->label);
    for (int i = 0; i < p->wide_count; i++)
        if (strcmp(p->wide[i].method->label, "ipm-chol") == 0)
            worlds_add_verdict(p->w, has_converged(&p->wide[i]) ? p->wide[i].seconds : HUGE_VAL,
                               tenth, "s", NULL, "the step with the paper's contacts, ipm-chol");
    if (wide)
        worlds_add_verdict(p->w, wide->seconds, fast, "s", NULL,
                           "the step with the paper's contacts, %s", wide->method->label);
}

static void add_verdicts(const Petra *p)
{
    int points;
    static const struct {
        int until;
        const char *text;
    } ends[] = {{0, "to 10 % of the peak"},
                {1, "to 1 % of the peak"},
                {REST, "to rest"},
                {PEAK, "to rest, of the peak"}};
    for (int i = 0; i < LAB_COUNT(ends); i++)
        worlds_add_verdict(p->w, 100.0 * find_worst_difference(p, ends[i].until), 1.5, "%", NULL,
                           "difference of energies %s", ends[i].text);
    for (int i = 0; i < p->runs; i++) {
        const char *label = p->run[i].method->label;
        if (p->run[i].nudged || p->run[i].pebbles != p->run[0].pebbles ||
            !petra_find_run(p, label, p->wide_pebbles))
            continue;
        worlds_add_verdict(p->w, fit_exponent(p, label, AVERAGE, &points), 1.5, "", NULL,
                           "exponent of time, %s", label);
        worlds_add_verdict(p->w, fit_exponent(p, label, MEGABYTES, &points), 1.25, "", NULL,
                           "exponent of memory, %s", label);
    }
    add_speed_verdicts(p);
}

/* ---- the paper's statements ---- */

/* Returns the time of `a` over that of `b` for the steps that both have; NAN if one of them is missing. */
static double compare_times(const PetraRun *a, const PetraRun *b)
{
    double sum_a = 0.0, sum_b = 0.0;
    for (int k = 0; a && b && k < a->count && k < b->count; k++) {
        sum_a += a->step[k].seconds;
        sum_b += b->step[k].seconds;
    }
    return sum_b > 0.0 ? sum_a / sum_b : NAN;
}

/* Judges whether a step of `other` takes at least `low` times as long as one of ipm-chol. */
static void claim_ratio(const Petra *p, const Claim *claim, const char *other, int pebbles,
                        double low)
{
    double ratio =
        compare_times(petra_find_run(p, other, pebbles), petra_find_run(p, "ipm-chol", pebbles));
    if (isnan(ratio))
        claims_add(p->w->set, claim, CLAIM_UNJUDGED, "no run of %s or ipm-chol", other);
    else
        claims_add(p->w->set, claim, claim_if_whole(ratio >= low, ratio > 1.0),
                   "%.2f times, %d pebbles", ratio, pebbles);
}

/* Judges the paper's ranking by time over the steps that each method and ipm-chol have in common. */
static void claim_ranking(const Petra *p)
{
    static const char *const order[] = {"tao-blmvm, paper's rule", "ipm-aug",
                                        "tao-tron, paper's rule"};
    const Claim claim = {
        .statement = "ranking by time: Cholesky, BLMVM, MA27, TRON",
        .rule = "times over Cholesky's, steps of both, fewest pebbles; in part: Cholesky first"};
    double ratio[LAB_COUNT(order)];
    bool ranked = true, first = true;
    for (int i = 0; i < LAB_COUNT(order); i++) {
        ratio[i] = compare_times(petra_find_run(p, order[i], p->run[0].pebbles),
                                 petra_find_run(p, "ipm-chol", p->run[0].pebbles));
        if (isnan(ratio[i])) {
            claims_add(p->w->set, &claim, CLAIM_UNJUDGED, "no run of %s or ipm-chol", order[i]);
            return;
        }
        ranked = ranked && ratio[i] > (i ? ratio[i - 1] : 1.0);
        first = first && ratio[i] > 1.0;
    }
    claims_add(p->w->set, &claim, claim_if_whole(ranked, first),
               "BLMVM %.2f, MA27's system %.2f, TRON %.2f times", ratio[0], ratio[1], ratio[2]);
}

/* Judges the memory of interior points beside BLMVM's, which the paper reads from its Fig. 4. */
static void claim_memory(const Petra *p)
{
    const Claim claim = {.statement = "interior points need 2 to 3 times the memory of BLMVM",
                         .rule = "most memory of a run by Cholesky over that by BLMVM, each size: "
                                 "at most 3; in part: at most 10"};
    double most = NAN;
    for (int i = 0; i < p->runs; i++) {
        const PetraRun *chol = petra_find_run(p, "ipm-chol", p->run[i].pebbles);
        if (chol && strcmp(p->run[i].method->label, "tao-blmvm, paper's rule") == 0)
            most = fmax(most, get_max(chol, MEGABYTES) / get_max(&p->run[i], MEGABYTES));
    }
    if (isnan(most))
        claims_add(p->w->set, &claim, CLAIM_UNJUDGED, "no run of BLMVM or ipm-chol");
    else
        claims_add(p->w->set, &claim, claim_if_whole(most <= 3.0, most <= 10.0),
                   "at most %.1f times", most);
}

/* Judges TRON, which failed for want of memory in the paper. */
static void claim_tron(const Petra *p, int pebbles)
{
    const Claim claim = {.statement = "TRON crashes with 1,600 pebbles, when the dual grows",
                         .rule = "its run by the paper's rule fails; not judged if the run was "
                                 "ended before it had nine tenths of the most unknowns of "
                                 "Cholesky's"};
    const PetraRun *run = petra_find_run(p, "tao-tron, paper's rule", pebbles);
    const PetraRun *chol = petra_find_run(p, "ipm-chol", pebbles);
    bool grown = run && chol && get_max(run, UNKNOWNS) >= 0.9 * get_max(chol, UNKNOWNS);
    if (!run)
        claims_add(p->w->set, &claim, CLAIM_UNJUDGED, "no run of TRON");
    else if (!run->failed && !grown)
        claims_add(p->w->set, &claim, CLAIM_UNJUDGED, "ended by its limit after %d steps",
                   run->count);
    else
        claims_add(p->w->set, &claim, claim_if(run->failed),
                   "%d steps with up to %d unknowns and %.0f MB, in %.0f s", run->count,
                   (int)get_max(run, UNKNOWNS), get_max(run, MEGABYTES), get_total_seconds(run));
}

/* Judges how many pebbles 4 GB hold, by the growth of Cholesky's memory. */
static void claim_capacity(const Petra *p)
{
    const Claim claim = {.statement = "4 GB hold 150,000 pebbles",
                         .rule = "most memory by Cholesky, continued by its growth: at most 4 GB"};
    int points;
    double exponent = fit_exponent(p, "ipm-chol", MEGABYTES, &points);
    const PetraRun *run = petra_find_run(p, "ipm-chol", p->wide_pebbles);
    if (isnan(exponent) || !run) {
        claims_add(p->w->set, &claim, CLAIM_UNJUDGED, "no runs of ipm-chol with two sizes");
        return;
    }
    double gigabytes =
        get_max(run, MEGABYTES) * pow(150000.0 / run->pebbles, exponent) * 1.048576e-3;
    claims_add(p->w->set, &claim, claim_if(gigabytes <= 4.0), "%.1f GB, by the power %.2f",
               gigabytes, exponent);
}

static void claim_growth(const Petra *p, const Claim *claim, int figure)
{
    int points;
    double exponent = fit_exponent(p, "ipm-chol", figure, &points);
    claims_add(p->w->set, claim,
               isnan(exponent) ? CLAIM_UNJUDGED : claim_if_whole(exponent <= 1.25, exponent <= 1.5),
               "the power %.2f of the number of pebbles, %d sizes", exponent, points);
}

static void add_claims(const Petra *p)
{
    double to_rest = find_worst_difference(p, REST), early = find_worst_difference(p, 1);
    int rested = 0, least = p->run[0].pebbles, most = p->wide_pebbles;
    for (int i = 0; i < p->runs; i++)
        rested += p->run[i].rested;
    claims_add(p->w->set,
               &(Claim){.statement = "energies by all solvers differ by less than 1.5 % until rest",
                        .rule = "in all steps that two runs have, to rest; in part: until a "
                                "hundredth of the peak is left"},
               isnan(to_rest) ? CLAIM_UNJUDGED
                              : claim_if_whole(to_rest < max_difference && p->run[0].rested,
                                               early < max_difference),
               "%.2g %% in all steps, %.2g %% until a hundredth of the peak is left; %d of %d runs "
               "came to rest",
               100.0 * to_rest, 100.0 * early, rested, p->runs);
    claim_ratio(p,
                &(Claim){.statement =
                             "a step by MA27's augmented system takes 6.4 times as long as "
                             "by Cholesky",
                         .rule = "at least 3 times, fewest pebbles; in part: longer"},
                "ipm-aug", least, 3.0);
    claim_ratio(p,
                &(Claim){.statement =
                             "with 3,200 pebbles it takes more than 20 times as long, and was "
                             "ended",
                         .rule = "at least 20 times, most pebbles, steps of both; in part: longer"},
                "ipm-aug", most, 20.0);
    claim_ratio(p,
                &(Claim){.statement = "a step by BLMVM takes 1.2 times as long as by Cholesky",
                         .rule = "at least 1.1 times, fewest pebbles, by the paper's rule of "
                                 "stopping; in part: longer"},
                "tao-blmvm, paper's rule", least, 1.1);
    claim_ranking(p);
    claim_tron(p, p->w->quick ? least : 1600);
    claim_memory(p);
    claim_capacity(p);
    claim_growth(p,
                 &(Claim){.statement = "time grows close to linearly with the number of pebbles",
                          .rule = "mean time of a step by Cholesky, at most the power 1.25; in "
                                  "part: 1.5"},
                 AVERAGE);
    claim_growth(p,
                 &(Claim){.statement = "memory grows close to linearly with the number of pebbles",
                          .rule = "most memory by Cholesky, at most the power 1.25; in part: 1.5"},
                 MEGABYTES);
}

void petra_report(const Petra *p)
{
    add_size_tables(p);
    add_energy_table(p);
    add_growth_table(p);
    if (p->wide_count > 0)
        add_wide_table(p);
    add_figures(p);
    add_verdicts(p);
    add_claims(p);
}

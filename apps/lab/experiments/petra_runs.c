/* lab/experiments/petra_runs.c - evaluation of the runs of the simulation experiment of petra-2009, and what the paper
 * has of them: Tables 1 to 3. */
#include "petra.h"

#include <math.h>
#include <string.h>

/* ---- runs and their figures ---- */

const PetraRun *petra_find_run(const Petra *p, const char *label, int pebbles)
{
    for (int i = 0; i < p->runs; i++)
        if (p->run[i].pebbles == pebbles && !p->run[i].nudged &&
            strcmp(p->run[i].method->label, label) == 0)
            return &p->run[i];
    return NULL;
}

const PetraSolve *petra_find_wide(const Petra *p, const char *label)
{
    for (int i = 0; i < p->wide_count; i++)
        if (strcmp(p->wide[i].method->label, label) == 0)
            return &p->wide[i];
    return NULL;
}

/* Returns the processor time of the first `count` steps. */
static double sum_seconds(const PetraRun *run, int count)
{
    double sum = 0.0;
    for (int k = 0; k < count; k++)
        sum += run->step[k].seconds;
    return sum;
}

double petra_total_seconds(const PetraRun *run)
{
    return sum_seconds(run, run->count);
}

double petra_mean_seconds(const PetraRun *run)
{
    return run->count ? petra_total_seconds(run) / run->count : NAN;
}

double petra_get_figure(const PetraRun *run, PetraFigure figure, int k)
{
    const PetraStep *s = &run->step[k];
    const double figures[] = {s->time, s->kinetic, 3.0 * s->contacts, s->seconds,
                              s->memory / 1048576.0};
    return figures[figure];
}

/* Returns the maximum of a figure over the first `count` steps. */
static double get_max(const PetraRun *run, PetraFigure figure, int count)
{
    double max = 0.0;
    for (int k = 0; k < count; k++) {
        double value = petra_get_figure(run, figure, k);
        max = value > max ? value : max; /* GCC 12 fails to compile fmax here */
    }
    return max;
}

double petra_get_max(const PetraRun *run, PetraFigure figure)
{
    return get_max(run, figure, run->count);
}

double petra_longest_step(const PetraRun *run)
{
    return petra_get_max(run, PETRA_SECONDS);
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

/* ---- energies ---- */

const PetraRun *petra_find_reference(const Petra *p, const PetraRun *run)
{
    if (run->nudged)
        return petra_find_run(p, run->method->label, run->pebbles);
    for (int i = 0; i < p->runs; i++)
        if (p->run[i].pebbles == run->pebbles && !p->run[i].nudged)
            return &p->run[i];
    return NULL;
}

double petra_energy_difference(const PetraRun *a, const PetraRun *b, int k)
{
    return fabs(a->step[k].kinetic - b->step[k].kinetic) / b->step[k].kinetic;
}

PetraDivergence petra_compare_energies(const PetraRun *a, const PetraRun *b)
{
    static const double shares[3] = {0.1, 0.01, 0.001}; /* of the peak, for `largest` */
    PetraDivergence found = {.time = NAN, .share = NAN};
    double peak = petra_get_max(b, PETRA_ENERGY);
    bool landed = false;
    for (int k = 0; k < a->count && k < b->count; k++) {
        double d = petra_energy_difference(a, b, k), share = b->step[k].kinetic / peak;
        landed = landed || share >= 1.0; /* energies below a share do not count before the peak */
        for (int s = 0; s < 3; s++) {
            found.below[s] = found.below[s] || (landed && share < shares[s]);
            if (!found.below[s])
                found.largest[s] = fmax(found.largest[s], d);
        }
        found.to_rest = fmax(found.to_rest, d);
        found.of_peak = fmax(found.of_peak, d * share);
        if (isnan(found.time) && d > PETRA_MAX_DIFFERENCE) {
            found.time = b->step[k].time;
            found.share = share;
        }
    }
    return found;
}

/* ---- growth ---- */

/* Sums over points (x, y) for a line by least squares. */
typedef struct Fit {
    int n;
    double x, y, xx, xy;
} Fit;

static void add_to_fit(Fit *f, double x, double y)
{
    f->n++;
    f->x += x, f->y += y, f->xx += x * x, f->xy += x * y;
}

/* Returns NAN for fewer than two points. */
static double get_slope(const Fit *f)
{
    return f->n > 1 ? (f->n * f->xy - f->x * f->y) / (f->n * f->xx - f->x * f->x) : NAN;
}

/* True if petra_fit_growth takes the run for this method. */
static bool is_comparable(const Petra *p, const PetraRun *run, const char *label)
{
    if (run->nudged || run->failed || !run->count || strcmp(run->method->label, label) != 0)
        return false;
    const PetraRun *chol = petra_find_run(p, PETRA_CHOL, run->pebbles);
    return !chol || 2 * run->count >= chol->count;
}

PetraGrowth petra_fit_growth(const Petra *p, const char *label)
{
    Fit unknowns = {0}, mean = {0}, longest = {0}, memory = {0}, of_unknowns = {0};
    int steps = 0;
    for (int i = 0; i < p->runs; i++)
        if (is_comparable(p, &p->run[i], label))
            steps = steps == 0 || p->run[i].count < steps ? p->run[i].count : steps;
    for (int i = 0; i < p->runs; i++) {
        const PetraRun *run = &p->run[i];
        if (!is_comparable(p, run, label))
            continue;
        double pebbles = log(run->pebbles), size = log(get_max(run, PETRA_UNKNOWNS, steps));
        double seconds = log(sum_seconds(run, steps) / steps);
        add_to_fit(&unknowns, pebbles, size);
        add_to_fit(&mean, pebbles, seconds);
        add_to_fit(&longest, pebbles, log(get_max(run, PETRA_SECONDS, steps)));
        add_to_fit(&memory, pebbles, log(get_max(run, PETRA_MEGABYTES, steps)));
        add_to_fit(&of_unknowns, size, seconds);
    }
    return (PetraGrowth){.sizes = mean.n,
                         .unknowns = get_slope(&unknowns),
                         .mean = get_slope(&mean),
                         .longest = get_slope(&longest),
                         .memory = get_slope(&memory),
                         .mean_of_unknowns = get_slope(&of_unknowns)};
}

/* ---- the paper's Tables 1 to 3 ---- */

/* MOSEK crashed in its first step of 1,600 pebbles, TRON after several; neither was tried with 3,200. */
static const PetraPaperRow paper[] = {
    {800, PETRA_BLMVM, "BLMVM", NULL, 1.482e-4, 324, 9738.880, 30.058, NAN},
    {800, PETRA_MA27, "OOQP-MA27", NULL, 0.0, 370, 59693.310, 161.330, NAN},
    {800, PETRA_CHOL, "OOQP-CHOL", NULL, 0.0, 371, 9351.450, 25.206, NAN},
    {800, PETRA_TRON, "TRON", NULL, 1.070e-2, 487, 282763.981, 580.624, NAN},
    {800, PETRA_MOSEK, "MOSEK", NULL, 0.0, 407, 1120797.148, 2753.801, NAN},
    {1600, PETRA_BLMVM, "BLMVM", NULL, 6.235e-5, 394, 73147.070, 185.652, NAN},
    {1600, PETRA_MA27, "OOQP-MA27", NULL, 0.0, 319, 345773.404, 1083.929, NAN},
    {1600, PETRA_CHOL, "OOQP-CHOL", NULL, 0.0, 310, 38097.440, 122.894, NAN},
    {1600, PETRA_TRON, "TRON", "crash", NAN, 0, NAN, NAN, NAN},
    {1600, PETRA_MOSEK, "MOSEK", "crash", NAN, 0, NAN, NAN, NAN},
    {3200, PETRA_BLMVM, "BLMVM", NULL, 4.946e-5, 284, 221411.620, 779.618, 2.3424},
    {3200, PETRA_MA27, "OOQP-MA27", "stopped", NAN, 0, NAN, NAN, NAN},
    {3200, PETRA_CHOL, "OOQP-CHOL", NULL, 0.0, 296, 175534.870, 593.023, 2.4757},
};

const PetraPaperRow *petra_get_paper_row(int index)
{
    return index < LAB_COUNT(paper) ? &paper[index] : NULL;
}

const PetraPaperRow *petra_find_paper_row(int pebbles, const char *label)
{
    for (int i = 0; i < LAB_COUNT(paper); i++)
        if (paper[i].pebbles == pebbles && strcmp(paper[i].label, label) == 0)
            return &paper[i];
    return NULL;
}

double petra_fit_paper(const char *label)
{
    Fit fit = {0};
    for (int i = 0; i < LAB_COUNT(paper); i++)
        if (strcmp(paper[i].label, label) == 0 && !paper[i].end)
            add_to_fit(&fit, log(paper[i].pebbles), log(paper[i].average));
    return get_slope(&fit);
}

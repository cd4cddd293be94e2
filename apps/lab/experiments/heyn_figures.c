/* lab/experiments/heyn_figures.c - what results of heyn-2012's methods say at an iteration, and the paper's figures. */
#include "heyn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const int heyn_marks[] = {10, 30, 100, 300, 1000};

/* ---- figures of a result ---- */

const double *heyn_find_returned_row(const LabResult *r, int iteration)
{
    const double *last = experiment_find_row_at(r, iteration), *best = r->trace.row[0];
    if (strncmp(r->solver, "spg", 3) != 0)
        return last;
    for (int k = 1; k < r->trace.count && r->trace.row[k][LAB_ITERATION] <= iteration; k++)
        if (r->trace.row[k][LAB_PROJECTED_GRADIENT] < best[LAB_PROJECTED_GRADIENT])
            best = r->trace.row[k];
    return best;
}

double heyn_get_gap(const LabResult *r, int iteration, double best)
{
    return (heyn_find_returned_row(r, iteration)[LAB_OBJECTIVE] - best) / fabs(best);
}

double heyn_count_iterations_to(const LabResult *r, double best, double gap)
{
    for (int k = 0; k < r->trace.count; k++)
        if (heyn_get_gap(r, (int)r->trace.row[k][LAB_ITERATION], best) <= gap)
            return r->trace.row[k][LAB_ITERATION];
    return INFINITY;
}

double heyn_find_largest_jump(const LabResult *r)
{
    double jump = 0.0;
    for (int k = 1; k < r->trace.count; k++)
        if (r->trace.row[k][LAB_ITERATION] > 10.0)
            jump = fmax(jump, fabs(r->trace.row[k][LAB_OPEN] - r->trace.row[k - 1][LAB_OPEN]));
    return jump;
}

double heyn_find_settled_iteration(const LabResult *r)
{
    int k = r->trace.count - 1;
    double last = r->trace.row[k][LAB_OPEN];
    while (k > 0 && fabs(r->trace.row[k - 1][LAB_OPEN] - last) <= 0.01 * last)
        k--;
    return r->trace.row[k][LAB_ITERATION];
}

/* ---- curves ---- */

/* Returns what a figure shows of a result at an iteration; best: the smallest objective of all results. */
typedef double Ordinate(const LabResult *r, int iteration, double best);

/* Below 1e-16 a gap is rounding, and 0 has no place on a logarithmic axis. */
static double get_shown_gap(const LabResult *r, int iteration, double best)
{
    return fmax(heyn_get_gap(r, iteration, best), 1e-16);
}

static double get_residual(const LabResult *r, int iteration, double best)
{
    (void)best;
    return heyn_find_returned_row(r, iteration)[LAB_PROJECTED_GRADIENT];
}

static double get_open(const LabResult *r, int iteration, double best)
{
    (void)best;
    return experiment_find_row_at(r, iteration)[LAB_OPEN];
}

/* Adds a figure with a curve over the iterations, on a logarithmic axis, for each label that has a result. The start is
 * shown at iteration 1, unless that has a row of its own. */
static LabFigure *add_course_figure(LabSet *set, int problem, const char *title, const char *axis,
                                    Ordinate *get, const char *const *labels, int count)
{
    char text[LAB_TEXT * 2 + 2];
    snprintf(text, sizeof text, "%s, %s", title, set->problems[problem].name);
    LabFigure *f = lab_set_add_figure(set, text, "iterations", axis);
    double best = experiment_best_objective(set, problem);
    f->x_log = true;
    for (int s = 0; s < count; s++) {
        const LabResult *r = experiment_find_result(set, problem, labels[s]);
        if (!r)
            continue;
        int rows = r->trace.count, points = 0;
        double *x = cli_check_memory(calloc(2 * (size_t)rows, sizeof *x)), *y = x + rows;
        for (int k = rows > 1 && r->trace.row[1][LAB_ITERATION] <= 1.0; k < rows; k++, points++) {
            x[points] = fmax(r->trace.row[k][LAB_ITERATION], 1.0);
            y[points] = get(r, (int)r->trace.row[k][LAB_ITERATION], best);
        }
        lab_figure_add(f, r->solver, x, y, points);
        free(x);
    }
    return f;
}

LabFigure *heyn_add_gap_figure(LabSet *set, int problem, const char *figure,
                               const char *const *labels, int count)
{
    char title[LAB_TEXT];
    snprintf(title, sizeof title, "%s: objective above the optimum", figure);
    LabFigure *f =
        add_course_figure(set, problem, title, "gap, relative", get_shown_gap, labels, count);
    f->y_log = true;
    return f;
}

void heyn_add_residual_figure(LabSet *set, int problem, const char *figure,
                              const char *const *labels, int count)
{
    char title[LAB_TEXT];
    snprintf(title, sizeof title, "%s: residual (24)", figure);
    LabFigure *f = add_course_figure(set, problem, title, "(24), m/s", get_residual, labels, count);
    f->y_log = true;
}

void heyn_add_active_figure(LabSet *set, int problem, const char *const *labels, int count)
{
    add_course_figure(set, problem, "Fig. 10: size of the active set", "contacts without impulse",
                      get_open, labels, count);
}

LabFigure *heyn_add_impulse_figure(LabSet *set, const char *const *labels, int count)
{
    LabFigure *f = lab_set_add_figure(set, "Fig. 5: impulses, sorted", "rank", "impulse, N s");
    for (int s = 0; s < count; s++) {
        const LabResult *r = experiment_find_result(set, 0, labels[s]);
        double x[LAB_IMPULSES], y[LAB_IMPULSES];
        if (!r)
            continue;
        for (int k = 0; k < r->impulse_count; k++) {
            x[k] = r->impulse_rank[k];
            y[k] = r->impulse[k];
        }
        lab_figure_add(f, r->solver, x, y, r->impulse_count);
    }
    return f;
}

void heyn_add_complementarity_figure(LabSet *set, const char *const *labels, int count)
{
    static const LabResidual shown[] = {LAB_R_COMPLEMENTARITY_MEAN, LAB_R_COMPLEMENTARITY_STD,
                                        LAB_R_COMPLEMENTARITY_MAX};
    char title[LAB_TEXT * 2];
    snprintf(title, sizeof title, "Fig. 9: complementarity at the end, %s", set->problems[0].name);
    LabFigure *f = lab_set_add_figure(set, title, "1: mean, 2: standard deviation, 3: maximum",
                                      "f_i = |gamma_i g_i|, J");
    f->y_log = true;
    for (int s = 0; s < count; s++) {
        const LabResult *r = experiment_find_result(set, 0, labels[s]);
        double x[LAB_COUNT(shown)], y[LAB_COUNT(shown)];
        if (!r)
            continue;
        for (int k = 0; k < LAB_COUNT(shown); k++) {
            x[k] = k + 1;
            y[k] = r->residual[shown[k]];
        }
        lab_figure_add(f, r->solver, x, y, LAB_COUNT(shown));
    }
    snprintf(f->note, sizeof f->note, "A line joins the three numbers of a solver.");
}

/* lab/experiments/preclik_figures.c - plots of Figs. 2 to 4 of preclik-2009, of the first state: the paper has one. */
#include "preclik.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

/* Figure of row k of a trace. */
typedef double TraceFigure(const LabTrace *trace, int k);

static double get_residual(const LabTrace *trace, int k)
{
    return trace->row[k][LAB_NATURAL_MAX] / trace->row[0][LAB_NATURAL_MAX];
}

static double get_error(const LabTrace *trace, int k)
{
    return trace->row[k][LAB_VELOCITY_ERROR];
}

/* Returns the contacts that change their state, by iteration since the row before. */
static double get_changes(const LabTrace *trace, int k)
{
    if (k == 0)
        return NAN;
    return trace->row[k][LAB_STATE_CHANGES] /
           (trace->row[k][LAB_ITERATION] - trace->row[k - 1][LAB_ITERATION]);
}

/* Adds the curve of a solver's result for a model in the first state over the iterations from 1 to `last`, if there is
 * such a result. Axes are logarithmic: values that are not above 0 are left out. */
static void add_curve(LabFigure *f, const LabSet *set, int model, const char *solver,
                      const char *name, int last, TraceFigure *get)
{
    const LabResult *r = preclik_find_result(set, model, 0, solver);
    if (!r || f->curves == LAB_CURVES)
        return;
    double *x = cli_check_memory(calloc(2 * (size_t)r->trace.count, sizeof *x));
    double *y = x + r->trace.count;
    int count = 0;
    for (int k = 0; k < r->trace.count; k++) {
        const double at = r->trace.row[k][LAB_ITERATION], value = get(&r->trace, k);
        if (at < 1.0 || at > last || !(value > 0.0))
            continue;
        x[count] = at;
        y[count++] = value;
    }
    if (count > 0)
        lab_figure_add(f, name, x, y, count);
    free(x);
}

/* Fig. 2 as the paper has it: CPG and PGS on three models, gs-disc on the fourth. */
static void add_fig_2(LabSet *set)
{
    static const struct {
        int model;
        const char *solver, *name;
    } curves[] = {
        {FRICTIONLESS, CPG_PAPER, "CPG, frictionless"},
        {FRICTIONLESS, "pgs", "PGS, frictionless"},
        {BOX, CPG_PAPER, "CPG, box"},
        {BOX, "pgs", "PGS, box"},
        {PYRAMID, "pgs", "PGS, pyramid"},
        {PYRAMID, CPG_PAPER, "CPG, pyramid"},
        {CONE, "gs-disc", "gs-disc, circular cone"},
    };
    LabFigure *f = lab_set_add_figure(set, "Fig. 2: residual by model", "iterations",
                                      "residual, relative to zero impulses");
    f->x_log = f->y_log = true;
    for (int c = 0; c < LAB_COUNT(curves); c++)
        add_curve(f, set, curves[c].model, curves[c].solver, curves[c].name, INT_MAX, get_residual);
    snprintf(f->note, sizeof f->note, "Maximum norm, state 1; CPG is %s.", CPG_PAPER);
}

/* Adds the residuals of all solvers of each model. */
static void add_all_solvers(LabSet *set)
{
    for (int model = 0; model < MODELS; model++) {
        char title[LAB_TEXT];
        const int problem = preclik_case_index(model, 0);
        snprintf(title, sizeof title, "Fig. 2 with all solvers: %s", preclik_models[model]);
        LabFigure *f =
            lab_set_add_figure(set, title, "iterations", "residual, relative to zero impulses");
        f->x_log = f->y_log = true;
        for (int i = 0; i < set->result_count; i++)
            if (set->results[i].problem == problem)
                add_curve(f, set, model, set->results[i].solver, set->results[i].solver, INT_MAX,
                          get_residual);
    }
}

static void add_fig_3(LabSet *set)
{
    LabFigure *f = lab_set_add_figure(set, "Fig. 3: residual and velocity error on the box",
                                      "iterations", "residual and error, relative");
    f->x_log = f->y_log = true;
    for (int s = 0; s < COMPARED; s++) {
        char name[LAB_TEXT];
        snprintf(name, sizeof name, "%s: residual", preclik_compared[s]);
        add_curve(f, set, BOX, preclik_compared[s], name, INT_MAX, get_residual);
        snprintf(name, sizeof name, "%s: velocity error", preclik_compared[s]);
        add_curve(f, set, BOX, preclik_compared[s], name, INT_MAX, get_error);
    }
    snprintf(f->note, sizeof f->note,
             "Residual: maximum norm, over that of zero impulses. Error: |u - u_exact| / |q|.");
}

/* Adds a figure of the changes of the active set up to iteration `last`. */
static void add_changes(LabSet *set, const char *title, int last)
{
    LabFigure *f = lab_set_add_figure(set, title, "iterations", "contacts per iteration");
    f->x_log = last == INT_MAX;
    f->y_log = true;
    for (int s = 0; s < COMPARED; s++)
        add_curve(f, set, BOX, preclik_compared[s], preclik_compared[s], last, get_changes);
    snprintf(f->note, sizeof f->note,
             "Contacts that change between open, sliding and sticking; iterations without a change "
             "are left out. An exponential decay is a straight line where the axis of iterations "
             "is not logarithmic.");
}

void preclik_add_figures(LabSet *set)
{
    add_fig_2(set);
    add_all_solvers(set);
    add_fig_3(set);
    add_changes(set, "Fig. 4: changes of the active set on the box, first 50 iterations", 50);
    add_changes(set, "Fig. 4: changes of the active set on the box, all iterations", INT_MAX);
}

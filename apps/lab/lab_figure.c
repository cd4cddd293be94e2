/* lab/lab_figure.c - curves that an experiment adds to the page. */
#include "lab.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

LabFigure *lab_set_figure(LabSet *set, const char *title, const char *x, const char *y)
{
    assert(set->figure_count < LAB_FIGURES);
    LabFigure *figure = cli_must(calloc(1, sizeof *figure));
    snprintf(figure->title, sizeof figure->title, "%s", title);
    snprintf(figure->x, sizeof figure->x, "%s", x);
    snprintf(figure->y, sizeof figure->y, "%s", y);
    set->figures[set->figure_count++] = figure;
    return figure;
}

static double *copy_of(const double *values, int count)
{
    size_t bytes = (size_t)count * sizeof *values;
    double *copy = cli_must(malloc(bytes + 1));
    memcpy(copy, values, bytes);
    return copy;
}

void lab_figure_add(LabFigure *figure, const char *name, const double *x, const double *y,
                    int count)
{
    assert(figure->curves < LAB_CURVES);
    LabCurve *curve = &figure->curve[figure->curves++];
    snprintf(curve->name, sizeof curve->name, "%s", name);
    curve->x = copy_of(x, count);
    curve->y = copy_of(y, count);
    curve->count = count;
}

void lab_figure_clear(LabFigure *figure)
{
    for (int i = 0; i < figure->curves; i++) {
        free(figure->curve[i].x);
        free(figure->curve[i].y);
    }
    figure->curves = 0;
}

/* cli/study/page.c - the table of a study's points, and the page with a plot of each figure.
 *
 * A plot has the first key with numbers as its x axis and a curve for each combination of values of the others; bars are the
 * intervals of the means. Keys that have texts alone are numbered. Of a grid of two keys or more there is a map of each
 * figure, too, with a picture for each combination of values of the keys beyond two. */
#include "results.h"

#include "lab/lab.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the table ---- */

/* Adds the row of a point: its values, and of each figure number of runs, mean, deviation and interval. */
static void add_point(const Study *study, int point, LabTable *table)
{
    if (study->grid.axes == 0)
        lab_table_add_cell(table, "%s", study->options->scene);
    for (int a = 0; a < study->grid.axes; a++)
        lab_table_add_cell(table, "%s", study_value(study, point, a));
    for (int f = 0; f < study->figures; f++) {
        const StudySample s = study_sample(study, point, f);
        lab_table_add_cells(table, "%d\t%.6g\t%.3g\t%.3g", s.count, s.mean, s.deviation,
                            s.interval);
    }
}

/* Fills an empty table with a row for each point. */
static void fill_table(const Study *study, LabTable *table)
{
    for (int a = 1; a < study->grid.axes; a++)
        lab_table_add_columns(table, "%s", study->grid.axis[a].key);
    for (int f = 0; f < study->figures; f++)
        lab_table_add_columns(table, "runs\t%s\tdeviation\tinterval", study->figure[f].text);
    for (int p = 0; p < study->points; p++)
        add_point(study, p, table);
}

/* Returns the heading of the first column. */
static const char *first_heading(const Study *study)
{
    return study->grid.axes ? study->grid.axis[0].key : "scene";
}

void study_print_table(const Study *study, FILE *out)
{
    LabTable table;
    if (study->points > STUDY_SHOWN)
        return;
    lab_table_begin(&table, "", first_heading(study));
    fill_table(study, &table);
    lab_table_print(&table, out);
    lab_table_clear(&table);
}

/* Adds the table of points, or where it is if it is long. */
static void add_means(const Study *study, LabSet *set)
{
    if (study->points > STUDY_SHOWN) {
        lab_set_add_note(set, "table.csv beside this page has the means at all points.");
        return;
    }
    LabTable *table = lab_set_add_table(set, "Means over seeds", first_heading(study));
    fill_table(study, table);
    snprintf(table->note, sizeof table->note,
             "runs: with this figure; deviation: standard deviation; interval: half width of the "
             "interval of the mean, 95 %% by Student's t.");
}

/* Adds a table of the runs that failed, if there are any. */
static void add_failures(const Study *study, LabSet *set)
{
    const int failed = study_count(study, STUDY_FAILED);
    if (failed == 0)
        return;
    LabTable *table = lab_set_add_table(set, "Runs that failed", "run\treason");
    if (failed > STUDY_SHOWN)
        snprintf(table->note, sizeof table->note, "The first %d of %d; runs.csv has all.",
                 STUDY_SHOWN, failed);
    for (int i = 0, shown = 0; i < study->runs && shown < STUDY_SHOWN; i++) {
        char about[LAB_TEXT];
        if (study->run[i].state != STUDY_FAILED)
            continue;
        shown++;
        study_describe_run(study, &study->run[i], about, sizeof about);
        lab_table_add_cell(table, "%s", about);
        lab_table_add_cell(table, "%s", study->run[i].reason);
    }
}

/* ---- plots ---- */

/* True if all values of the axis are numbers. */
static bool is_numeric(const StudyAxis *axis)
{
    for (int i = 0; i < axis->count; i++)
        if (isnan(axis->real[i]))
            return false;
    return true;
}

/* Returns the axis along x: the first one with numbers, one of several values if there is any; else the first. */
static int choose_axis(const Study *study)
{
    for (int least = 2; least > 0; least--) /* if possible one that varies */
        for (int a = 0; a < study->grid.axes; a++)
            if (is_numeric(&study->grid.axis[a]) && study->grid.axis[a].count >= least)
                return a;
    return 0;
}

/* Names the curve on which a point lies: by its values of the other keys, or by the figure if there are none. */
static void name_curve(const Study *study, int point, int along, const char *otherwise, char *name,
                       size_t size)
{
    size_t used = 0;
    for (int a = 0; a < study->grid.axes && used < size && !study->grid.paired; a++)
        if (a != along)
            used += (size_t)snprintf(name + used, size - used, "%s%s=%s", used ? ", " : "",
                                     study->grid.axis[a].key, study_value(study, point, a));
    if (used == 0)
        snprintf(name, size, "%s", otherwise);
}

/* Adds the curve of the points from `first` on, `stride` apart, one for each value of the axis. */
static void add_curve(const Study *study, int f, int along, int first, int stride,
                      LabFigure *figure)
{
    const StudyAxis *axis = &study->grid.axis[along];
    const size_t count = (size_t)axis->count;
    double *x = cli_check_memory(malloc(3 * count * sizeof *x)), *y = x + count, *bar = y + count;
    char name[LAB_TEXT];
    for (int i = 0; i < axis->count; i++) {
        const StudySample s = study_sample(study, first + i * stride, f);
        x[i] = is_numeric(axis) ? axis->real[i] : i + 1.0;
        y[i] = s.mean;
        bar[i] = s.interval;
    }
    name_curve(study, first, along, study->figure[f].text, name, sizeof name);
    lab_figure_add_with_bars(figure, name, x, y, study->seeds > 1 ? bar : NULL, axis->count);
    free(x);
}

/* Adds a curve for each combination of values of the other keys; returns how many there are. */
static int add_curves(const Study *study, int f, int along, LabFigure *figure)
{
    const StudyGrid *grid = &study->grid;
    int stride = 1, curves = 0;
    for (int a = grid->axes - 1; a > along && !grid->paired; a--)
        stride *= grid->axis[a].count;
    for (int p = 0; p < study->points; p++)
        if (study_grid_index(grid, p, along) == 0 && curves++ < LAB_CURVES)
            add_curve(study, f, along, p, stride, figure);
    return curves;
}

/* Writes the label of an axis: the key and, if values stand on it by their numbers, these. */
static void label_axis(const StudyAxis *axis, bool numbered, char label[LAB_TEXT])
{
    size_t used = (size_t)snprintf(label, LAB_TEXT, "%.100s", axis->key);
    for (int i = 0; i < axis->count && used < LAB_TEXT && numbered; i++)
        used += (size_t)snprintf(label + used, LAB_TEXT - used, "%s %d: %s", i ? "," : ";", i + 1,
                                 axis->value[i]);
}

static void note_figure(const Study *study, int curves, LabFigure *figure)
{
    char left_out[128] = "";
    if (curves > LAB_CURVES)
        snprintf(left_out, sizeof left_out, " Of %d curves the first %d are drawn.", curves,
                 LAB_CURVES);
    if (study->seeds > 1)
        snprintf(figure->note, sizeof figure->note,
                 "Means over %d seeds; bars are their intervals, which have the true mean with a "
                 "probability of 95 %% by Student's t.%s",
                 study->seeds, left_out);
    else
        snprintf(figure->note, sizeof figure->note, "One run for each point.%s", left_out);
}

static void add_figures(const Study *study, LabSet *set)
{
    const int along = choose_axis(study);
    for (int f = 0; f < study->figures && study->grid.axes > 0; f++) {
        const StudyAxis *axis = &study->grid.axis[along];
        char title[LAB_TEXT];
        snprintf(title, sizeof title, "%.100s against %.100s", study->figure[f].text, axis->key);
        LabFigure *figure = lab_set_add_figure(set, title, "", study->figure[f].text);
        label_axis(axis, !is_numeric(axis), figure->x);
        figure->x_log = axis->log;
        figure->points = !is_numeric(axis);
        note_figure(study, add_curves(study, f, along, figure), figure);
    }
}

/* ---- maps ---- */

enum { FRAMES = 24 }; /* most pictures of a map */

/* True if the values are numbers, evenly spaced and ascending. */
static bool is_even(const StudyAxis *axis)
{
    const double step = (axis->real[axis->count - 1] - axis->real[0]) / (axis->count - 1);
    for (int i = 0; i < axis->count; i++)
        if (!(step > 0.0 && fabs(axis->real[i] - (axis->real[0] + i * step)) <= 1e-6 * step))
            return false;
    return true;
}

/* Sets label and ends of an axis of a map: cells are around their values or, where these are not evenly spaced, numbered. */
static void set_map_axis(const StudyAxis *axis, char label[LAB_TEXT], double range[2])
{
    const bool even = is_even(axis);
    const double first = even ? axis->real[0] : 1.0,
                 last = even ? axis->real[axis->count - 1] : axis->count;
    const double half = 0.5 * (last - first) / (axis->count - 1);
    label_axis(axis, !even, label);
    range[0] = first - half;
    range[1] = last + half;
}

/* The keys of a map: along x, along y; all others are the same in a picture. */
typedef struct MapAxes {
    int x, y;
} MapAxes;

/* Returns the second axis of a map, the first one beside `along` with several values; -1: there is none. */
static int choose_second(const Study *study, int along)
{
    for (int a = 0; a < study->grid.axes; a++)
        if (a != along && study->grid.axis[a].count > 1)
            return a;
    return -1;
}

/* Returns the number of the picture of a point: of its values of the other keys. */
static int find_frame(const Study *study, MapAxes axes, int point)
{
    const StudyGrid *grid = &study->grid;
    int frame = 0;
    for (int a = 0; a < grid->axes; a++)
        if (a != axes.x && a != axes.y)
            frame = frame * grid->axis[a].count + study_grid_index(grid, point, a);
    return frame;
}

/* Names a picture by a point's values of the other keys. */
static void name_frame(const Study *study, MapAxes axes, int point, char name[LAB_TEXT])
{
    size_t used = 0;
    for (int a = 0; a < study->grid.axes && used < LAB_TEXT; a++)
        if (a != axes.x && a != axes.y)
            used += (size_t)snprintf(name + used, LAB_TEXT - used, "%s%s=%s", used ? ", " : "",
                                     study->grid.axis[a].key, study_value(study, point, a));
}

static void fill_map(const Study *study, int f, MapAxes axes, LabMap *map)
{
    for (int p = 0; p < study->points; p++) {
        const int frame = find_frame(study, axes, p), i = study_grid_index(&study->grid, p, axes.x),
                  j = study_grid_index(&study->grid, p, axes.y);
        if (frame >= map->frames)
            continue;
        const size_t row = (size_t)frame * (size_t)map->rows + (size_t)j;
        map->values[row * (size_t)map->columns + (size_t)i] = study_sample(study, p, f).mean;
        name_frame(study, axes, p, map->name[frame]);
    }
}

static void add_map(const Study *study, int f, MapAxes axes, LabSet *set)
{
    const StudyAxis *x = &study->grid.axis[axes.x], *y = &study->grid.axis[axes.y];
    const int pictures = study->points / (x->count * y->count);
    LabMap *map = lab_set_add_map(set, study->figure[f].text, x->count, y->count,
                                  pictures < FRAMES ? pictures : FRAMES);
    snprintf(map->value, sizeof map->value, "%s", study->figure[f].text);
    set_map_axis(x, map->x, map->x_range);
    set_map_axis(y, map->y, map->y_range);
    fill_map(study, f, axes, map);
    if (study->seeds > 1)
        snprintf(map->note, sizeof map->note, "Means over %d seeds.", study->seeds);
    if (pictures > FRAMES)
        snprintf(map->note + strlen(map->note), sizeof map->note - strlen(map->note),
                 " Of %d pictures the first %d are there.", pictures, FRAMES);
}

/* Adds a map of each figure, where two keys vary. */
static void add_maps(const Study *study, LabSet *set)
{
    if (study->grid.axes < 2 || study->grid.paired)
        return;
    const int along = choose_axis(study);
    const MapAxes axes = {along, choose_second(study, along)};
    if (study->grid.axis[along].count < 2 || axes.y < 0)
        return;
    for (int f = 0; f < study->figures; f++)
        add_map(study, f, axes, set);
}

/* ---- the page ---- */

static void add_notes(const Study *study, LabSet *set)
{
    const int failed = study_count(study, STUDY_FAILED);
    lab_set_add_note(set, "%d point%s, %d seed%s each, %d run%s; %d failed.", study->points,
                     study->points == 1 ? "" : "s", study->seeds, study->seeds == 1 ? "" : "s",
                     study->runs, study->runs == 1 ? "" : "s", failed);
    for (int f = 0; f < study->figures; f++)
        if (!isnan(study->figure[f].from))
            lab_set_add_note(set, "%s: of each run the mean from t = %g s on.",
                             study->figure[f].text, study->figure[f].from);
}

TalusStatus study_write_page(const Study *study)
{
    char title[LAB_TEXT];
    snprintf(title, sizeof title, "%.200s: sweep",
             study->title[0] ? study->title : study->options->scene);
    LabSet set = {.title = title, .kind = "sweep", .dir = study->dir};
    add_notes(study, &set);
    add_figures(study, &set);
    add_maps(study, &set);
    add_means(study, &set);
    add_failures(study, &set);
    set.complete = true;
    const TalusStatus status = lab_page_write(&set);
    lab_set_clear(&set);
    return status;
}

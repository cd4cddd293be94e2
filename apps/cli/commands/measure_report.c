/* cli/commands/measure_report.c - the page of talus measure --report: profiles as curves, planes of cells as heat maps, bulk figures
 * against time, histograms as steps.
 *
 * The report keeps the rows of the table that is measured, whether or not the table is written, and draws them at the end. */
#include "measure.h"

#include "base/memory.h"
#include "base/status.h"
#include "cli/page.h"
#include "io/formats/bulk_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Most curves of a figure and frames of a map; of more states some are chosen evenly, and a note says so. */
enum { CURVES = 8, FRAMES = 24, NAME_BYTES = 64, LABEL_BYTES = 96 };

typedef struct Column {
    char name[NAME_BYTES], unit[16];
} Column;

struct MeasureReport {
    const MeasureRequest *request;
    const MeasureStates *states;
    Column *column; /* [columns] */
    int columns;
    double *value; /* [rows * columns] */
    size_t rows;
};

/* ---- rows ---- */

static void name_column(MeasureReport *r, int c, const char *name, const char *suffix,
                        const char *unit)
{
    snprintf(r->column[c].name, NAME_BYTES, "%s%s%s", name, *suffix ? "_" : "", suffix);
    snprintf(r->column[c].unit, sizeof r->column[c].unit, "%s", unit);
}

static int count_columns(const MeasureRequest *request)
{
    int count = TALUS_FIELD_TABLE_CELL;
    if (request->histogram)
        return MEASURE_HISTOGRAM_COLUMNS;
    if (request->fields.count == 0)
        return 1 + talus_bulk_table_columns();
    for (int q = 0; q < request->fields.count; q++)
        count += talus_quantity_row(request->fields.quantity[q]).components;
    return count;
}

/* Names the columns of fields and of bulk figures; those of histograms have fixed meanings. */
static void name_columns(MeasureReport *r)
{
    int c = TALUS_FIELD_TABLE_CELL;
    for (int q = 0; q < r->request->fields.count; q++) {
        const TalusQuantityRow row = talus_quantity_row(r->request->fields.quantity[q]);
        for (int k = 0; k < row.components; k++)
            name_column(r, c++, row.name, talus_quantity_suffix(row.components, k), row.unit);
    }
    if (r->request->fields.count || r->request->histogram)
        return;
    for (int i = 0; i < talus_bulk_table_columns(); i++)
        name_column(r, 1 + i, talus_bulk_table_name(i), "", talus_bulk_table_unit(i));
}

TalusStatus measure_report_open(const MeasureRequest *request, const MeasureStates *states,
                                MeasureReport **out)
{
    MeasureReport *r = NULL;
    *out = NULL;
    TALUS_TRY(TALUS_ALLOC(r, 1, "report"));
    r->request = request;
    r->states = states;
    r->columns = count_columns(request);
    const TalusStatus status = TALUS_ALLOC(r->column, (size_t)r->columns, "report");
    if (status != TALUS_OK) {
        measure_report_close(r);
        return status;
    }
    name_columns(r);
    *out = r;
    return TALUS_OK;
}

void measure_report_close(MeasureReport *r)
{
    if (r)
        TALUS_RELEASE(r->column, r->value, r);
}

TalusStatus measure_report_add(MeasureReport *r, const double *row)
{
    const size_t columns = (size_t)r->columns, used = r->rows * columns;
    TALUS_TRY(TALUS_GROW(r->value, used + columns, used, "report"));
    memcpy(r->value + used, row, columns * sizeof *row);
    r->rows++;
    return TALUS_OK;
}

static const double *row_at(const MeasureReport *r, size_t row)
{
    return r->value + row * (size_t)r->columns;
}

/* ---- states, each of which has as many rows ---- */

static size_t rows_per_state(const MeasureReport *r)
{
    const int *cells = r->request->cells;
    return r->request->histogram      ? TALUS_HISTOGRAM_BINS
           : r->request->fields.count ? (size_t)cells[0] * (size_t)cells[1] * (size_t)cells[2]
                                      : 1;
}

static int count_states(const MeasureReport *r)
{
    return (int)(r->rows / rows_per_state(r));
}

/* Returns the k-th of the states that are drawn, `most` at most, the last of all among them. */
static int pick_state(int states, int most, int k)
{
    return states <= most ? k : (int)((int64_t)k * (states - 1) / (most - 1));
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Writes the name of a state: its time or, of --mean, "mean". */
static void name_state(const MeasureReport *r, int state, char text[NAME_BYTES])
{
    const double time = row_at(r, (size_t)state * rows_per_state(r))[0];
    if (r->request->mean)
        snprintf(text, NAME_BYTES, "mean");
    else
        snprintf(text, NAME_BYTES, "t = %.6g s", time);
}

/* Writes the note of a figure that draws `most` states at most. */
static void write_note(JsonOut *json, const MeasureReport *r, int most, const char *more)
{
    char text[160] = "";
    const int states = count_states(r);
    if (states > most)
        snprintf(text, sizeof text, "%d of %d states. ", most, states);
    snprintf(text + strlen(text), sizeof text - strlen(text), "%s", more);
    json_write_text(json, "note", text);
}

/* ---- figures ---- */

/* Writes "name, unit". */
static void write_label(JsonOut *json, const char *key, const char *name, const char *unit)
{
    char text[LABEL_BYTES];
    snprintf(text, sizeof text, "%s%s%s", name, *unit ? ", " : "", unit);
    json_write_text(json, key, text);
}

static void open_figure(JsonOut *json, const char *title, const char *x, const char *unit)
{
    json_open_object(json, NULL);
    json_write_text(json, "title", title);
    json_write_text(json, "x", x);
    write_label(json, "y", title, unit);
}

/* Writes a curve of `count` rows from `first` on, `stride` apart. */
static void write_curve(JsonOut *json, const MeasureReport *r, const char *name, size_t first,
                        size_t stride, size_t count, int x, int y)
{
    json_open_object(json, NULL);
    json_write_text(json, "name", name);
    for (int axis = 0; axis < 2; axis++) {
        json_open_array(json, axis ? "y" : "x");
        for (size_t i = 0; i < count; i++)
            json_write_real(json, NULL, row_at(r, first + i * stride)[axis ? y : x]);
        json_close_array(json);
    }
    json_close_object(json);
}

/* Returns how many columns from c on are components of one vector or tensor: their names differ behind the last "_". */
static int count_components(const MeasureReport *r, int c)
{
    const char *end = strrchr(r->column[c].name, '_');
    int count = 1;
    const size_t length = end ? (size_t)(end - r->column[c].name) + 1 : 0;
    const bool component = end && end[1] && strspn(end + 1, "xyz") == strlen(end + 1);
    while (component && c + count < r->columns &&
           strncmp(r->column[c].name, r->column[c + count].name, length) == 0 &&
           strspn(r->column[c + count].name + length, "xyz") ==
               strlen(r->column[c + count].name + length))
        count++;
    return count;
}

/* Writes the name that the columns from c on share. */
static void name_group(const MeasureReport *r, int c, int count, char text[NAME_BYTES])
{
    snprintf(text, NAME_BYTES, "%s", r->column[c].name);
    if (count > 1)
        *strrchr(text, '_') = '\0';
}

/* True if the columns [c, c + count) have a number. */
static bool has_numbers(const MeasureReport *r, int c, int count)
{
    for (size_t i = 0; i < r->rows; i++)
        for (int k = c; k < c + count; k++)
            if (isfinite(row_at(r, i)[k]))
                return true;
    return false;
}

/* Writes a figure of the columns [c, c + count), which are components of one quantity, with a curve each. x: a column;
 * the curves have the rows of one state or, with x the time, one row of each state. */
static void write_components(JsonOut *json, const MeasureReport *r, int c, int count, int x,
                             const char *x_label)
{
    char title[NAME_BYTES];
    name_group(r, c, count, title);
    open_figure(json, title, x_label, r->column[c].unit);
    json_open_array(json, "curves");
    for (int k = c; k < c + count; k++)
        write_curve(json, r, r->column[k].name, 0, 1, r->rows, x, k);
    json_close_array(json);
    json_close_object(json);
}

/* Writes figures of all columns from `first` on against column x. */
static void write_all_components(JsonOut *json, const MeasureReport *r, int first, int x,
                                 const char *x_label)
{
    for (int c = first, count; c < r->columns; c += count) {
        count = count_components(r, c);
        if (has_numbers(r, c, count))
            write_components(json, r, c, count, x, x_label);
    }
}

/* Writes a figure of one column with a curve for each state. */
static void write_states(JsonOut *json, const MeasureReport *r, int c, int x, const char *x_label)
{
    const size_t rows = rows_per_state(r);
    const int states = count_states(r), drawn = least(states, CURVES);
    char name[NAME_BYTES];
    open_figure(json, r->column[c].name, x_label, r->column[c].unit);
    write_note(json, r, CURVES, "");
    json_open_array(json, "curves");
    for (int k = 0; k < drawn; k++) {
        const int state = pick_state(states, CURVES, k);
        name_state(r, state, name);
        write_curve(json, r, name, (size_t)state * rows, 1, rows, x, c);
    }
    json_close_array(json);
    json_close_object(json);
}

/* Writes the steps of a state's histogram: a value from the lower end of each bin on, 0 behind the last. */
static void write_steps(JsonOut *json, const MeasureReport *r, int state)
{
    const size_t first = (size_t)state * TALUS_HISTOGRAM_BINS;
    char name[NAME_BYTES];
    name_state(r, state, name);
    json_open_object(json, NULL);
    json_write_text(json, "name", name);
    json_open_array(json, "x");
    for (size_t i = 0; i < TALUS_HISTOGRAM_BINS; i++)
        json_write_real(json, NULL, row_at(r, first + i)[1]);
    json_write_real(json, NULL, row_at(r, first + TALUS_HISTOGRAM_BINS - 1)[2]);
    json_close_array(json);
    json_open_array(json, "y");
    for (size_t i = 0; i < TALUS_HISTOGRAM_BINS; i++)
        json_write_real(json, NULL, row_at(r, first + i)[4]);
    json_write_real(json, NULL, 0.0);
    json_close_array(json);
    json_close_object(json);
}

static void write_histogram(JsonOut *json, const MeasureReport *r)
{
    const bool force = r->request->distribution == TALUS_DISTRIBUTION_FORCE;
    const int states = count_states(r);
    open_figure(json, "density", force ? "normal force over its mean" : "gap, m",
                force ? "" : "1/m");
    json_write_bool(json, "steps", true);
    write_note(json, r, CURVES,
               force ? "Distribution of the normal forces of loaded contacts."
                     : "Distribution of the gaps of all contacts; below 0: overlap.");
    json_open_array(json, "curves");
    for (int k = 0; k < least(states, CURVES); k++)
        write_steps(json, r, pick_state(states, CURVES, k));
    json_close_array(json);
    json_close_object(json);
}

/* Returns the number of axes along which there are several cells. */
static int count_axes(const MeasureRequest *request)
{
    return (request->cells[0] > 1) + (request->cells[1] > 1) + (request->cells[2] > 1);
}

/* Writes profiles along the one axis that has several cells. */
static void write_profiles(JsonOut *json, const MeasureReport *r)
{
    const int *cells = r->request->cells, axis = cells[0] > 1 ? 0 : cells[1] > 1 ? 1 : 2;
    const char label[] = {(char)('x' + axis), ',', ' ', 'm', '\0'};
    if (count_states(r) == 1) {
        write_all_components(json, r, TALUS_FIELD_TABLE_CELL, 1 + axis, label);
        return;
    }
    for (int c = TALUS_FIELD_TABLE_CELL; c < r->columns; c++)
        write_states(json, r, c, 1 + axis, label);
}

static void write_figures(JsonOut *json, const MeasureReport *r)
{
    json_open_array(json, "figures");
    if (r->request->histogram)
        write_histogram(json, r);
    else if (r->request->fields.count && count_axes(r->request) == 1)
        write_profiles(json, r);
    else if (count_states(r) > 1 && count_axes(r->request) == 0)
        write_all_components(json, r, r->request->fields.count ? TALUS_FIELD_TABLE_CELL : 1, 0,
                             "time, s");
    json_close_array(json);
}

/* ---- maps ---- */

/* A plane of cells: two axes, and the layer along the third. */
typedef struct Plane {
    int across, up, normal, layer;
} Plane;

/* Returns the plane of the axes with several cells; of three the middle layer along y. */
static Plane choose_plane(const MeasureRequest *request)
{
    const int *cells = request->cells;
    const int normal = cells[2] == 1 ? 2 : cells[0] == 1 ? 0 : 1;
    return (Plane){normal == 0 ? 1 : 0, normal == 2 ? 1 : 2, normal, cells[normal] / 2};
}

/* Writes the values of column c in a state on the plane, row by row from the lowest on. */
static void write_values(JsonOut *json, const MeasureReport *r, const Plane *p, int state, int c)
{
    const int *cells = r->request->cells;
    int at[3];
    json_open_array(json, "values");
    at[p->normal] = p->layer;
    for (at[p->up] = 0; at[p->up] < cells[p->up]; at[p->up]++)
        for (at[p->across] = 0; at[p->across] < cells[p->across]; at[p->across]++) {
            const size_t cell =
                ((size_t)at[2] * (size_t)cells[1] + (size_t)at[1]) * (size_t)cells[0] +
                (size_t)at[0];
            json_write_real(json, NULL, row_at(r, (size_t)state * rows_per_state(r) + cell)[c]);
        }
    json_close_array(json);
}

static void write_axis(JsonOut *json, const MeasureReport *r, int axis, const char *label,
                       const char *range, const char *count)
{
    const char text[] = {(char)('x' + axis), ',', ' ', 'm', '\0'};
    const double ends[] = {talus_along(r->request->lo, axis), talus_along(r->request->hi, axis)};
    json_write_text(json, label, text);
    json_write_reals(json, range, ends, 2);
    json_write_int(json, count, r->request->cells[axis]);
}

static void write_map(JsonOut *json, const MeasureReport *r, const Plane *p, int c)
{
    const int states = count_states(r), drawn = least(states, FRAMES);
    char name[NAME_BYTES], note[64] = "";
    json_open_object(json, NULL);
    json_write_text(json, "title", r->column[c].name);
    write_label(json, "value", r->column[c].name, r->column[c].unit);
    write_axis(json, r, p->across, "x", "x_range", "columns");
    write_axis(json, r, p->up, "y", "y_range", "rows");
    if (r->request->cells[p->normal] > 1)
        snprintf(note, sizeof note, "Layer %d of %d along %c.", p->layer + 1,
                 r->request->cells[p->normal], 'x' + p->normal);
    write_note(json, r, FRAMES, note);
    json_open_array(json, "frames");
    for (int k = 0; k < drawn; k++) {
        const int state = pick_state(states, FRAMES, k);
        name_state(r, state, name);
        json_open_object(json, NULL);
        json_write_text(json, "name", name);
        write_values(json, r, p, state, c);
        json_close_object(json);
    }
    json_close_array(json);
    json_close_object(json);
}

static void write_maps(JsonOut *json, const MeasureReport *r)
{
    if (r->request->fields.count == 0 || count_axes(r->request) < 2)
        return;
    const Plane plane = choose_plane(r->request);
    json_open_array(json, "maps");
    for (int c = TALUS_FIELD_TABLE_CELL; c < r->columns; c++)
        write_map(json, r, &plane, c);
    json_close_array(json);
}

/* ---- the table of one state, where there is nothing to draw ---- */

static void write_cells(JsonOut *json, const MeasureReport *r, int c)
{
    char value[32];
    snprintf(value, sizeof value, "%.9g", row_at(r, r->rows - 1)[c]);
    json_open_array(json, NULL);
    json_write_text(json, NULL, r->column[c].name);
    json_write_text(json, NULL, isfinite(row_at(r, r->rows - 1)[c]) ? value : "");
    json_write_text(json, NULL, r->column[c].unit);
    json_close_array(json);
}

/* Writes the figures of the last state, unless they are those of many cells or bins. */
static void write_table(JsonOut *json, const MeasureReport *r)
{
    static const char *const heads[] = {"figure", "value", "unit"};
    char name[NAME_BYTES];
    if (r->request->histogram || rows_per_state(r) > 1 || r->rows == 0)
        return;
    name_state(r, count_states(r) - 1, name);
    json_open_array(json, "tables");
    json_open_object(json, NULL);
    json_write_text(json, "title", name);
    json_open_array(json, "columns");
    for (int i = 0; i < 3; i++)
        json_write_text(json, NULL, heads[i]);
    json_close_array(json);
    json_open_array(json, "rows");
    for (int c = r->request->fields.count ? TALUS_FIELD_TABLE_CELL : 1; c < r->columns; c++)
        write_cells(json, r, c);
    json_close_array(json);
    json_close_object(json);
    json_close_array(json);
}

/* ---- the page ---- */

/* Writes what was measured, as it is printed on the terminal, line by line. */
static void write_notes(JsonOut *json, const MeasureReport *r)
{
    char *text = NULL, *rest = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    json_open_array(json, "notes");
    if (memory) {
        measure_print_states(r->states, r->request, memory);
        fclose(memory);
        for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
            json_write_text(json, NULL, line);
    }
    json_close_array(json);
    free(text);
}

static void write_data(void *user, JsonOut *json)
{
    const MeasureReport *r = user;
    char title[1024];
    snprintf(title, sizeof title, "%s: %s", r->states->dir,
             r->request->histogram
                 ? r->request->distribution == TALUS_DISTRIBUTION_FORCE ? "forces" : "gaps"
             : r->request->fields.count ? "fields"
                                        : "bulk figures");
    json_open_object(json, NULL);
    page_write_head(json, title, "measure", 0);
    write_notes(json, r);
    write_table(json, r);
    write_figures(json, r);
    write_maps(json, r);
    json_close_object(json);
}

TalusStatus measure_report_write(MeasureReport *r, const char *path)
{
    char dir[CLI_PATH_MAX];
    const char *name = "report.html";
    if (snprintf(dir, sizeof dir, "%s", path) >= (int)sizeof dir)
        return talus_fail_file(path, TALUS_ERR_ARGUMENT, "is too long for a path");
    if (cli_ends_with(path, ".html")) {
        char *slash = strrchr(dir, '/');
        name = slash ? path + (slash + 1 - dir) : path;
        snprintf(slash == dir ? dir + 1 : slash ? slash : dir, 2, "%s", slash ? "" : ".");
    }
    return page_write_report(dir, name, write_data, r);
}

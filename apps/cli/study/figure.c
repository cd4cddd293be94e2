/* cli/study/figure.c - what a study measures: columns of the tables of its runs. */
#include "figure.h"

#include "base/memory.h"
#include "base/status.h"
#include "io/file/file.h"
#include "io/formats/bulk_table.h"
#include "io/formats/field_table.h"
#include "io/scene/scene_copies.h"
#include "io/scene/scene_digest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The tables: how a figure names them, and which of their columns are no figures. */
static const struct {
    const char *prefix, *file;
    const char *none[8]; /* columns without numbers, or that are the same in all runs */
    const char *named;   /* what rows are named after, in their third column; NULL: nothing */
} tables[STUDY_TABLES] = {
    [STUDY_BULK] = {"", "bulk.csv", {"time"}, NULL},
    [STUDY_STEPS] = {"steps:", "steps.csv", {"time", "step", "solver", "outcome"}, NULL},
    [STUDY_PROBES] = {"probe:", "probes.csv", {"time", "step", "probe"}, "probe"},
    [STUDY_FLOWS] = {"flow:", "flows.csv", {"time", "step", "flow", "kind"}, "plane or sink"},
    [STUDY_JOINTS] = {"joint:", "joints.csv", {"time", "step", "joint"}, "joint"},
    [STUDY_CELL] = {"cell:", "cell.csv", {"time", "step"}, NULL},
    /* a table for each probe of fields */
    [STUDY_FIELDS] = {"field:", NULL, {"time", "x", "y", "z"}, "probe of fields"}};

enum { COLUMNS_MAX = 64, NAMES_SHOWN = 64 };

/* ---- names ---- */

/* The columns of a table that may be figures. */
typedef struct Columns {
    char text[2048]; /* memory of the names */
    const char *name[COLUMNS_MAX];
    int count;
} Columns;

/* True if the column differs from run to run although the runs are the same. */
static bool is_measured_time(const char *column)
{
    return cli_ends_with(column, "_seconds");
}

static bool is_figure(StudyTable table, const char *column)
{
    for (int i = 0; tables[table].none[i]; i++)
        if (strcmp(tables[table].none[i], column) == 0)
            return false;
    return !is_measured_time(column);
}

/* Appends the header of the table of a probe of fields. */
static void write_header(const TalusFieldProbe *probe, TalusText *text)
{
    TalusFieldTable fields = {.count = 0};
    for (int q = 0; q < probe->quantity_count; q++)
        (void)talus_field_table_add(&fields, probe->quantity[q]);
    if (fields.count)
        talus_field_table_header(text, &fields);
    else
        talus_bulk_table_header(text);
}

/* Sets the columns of a table, of a probe of fields that of `probe`, without those that are no figures. */
static void list_columns(StudyTable table, const TalusFieldProbe *probe, Columns *out)
{
    TalusText text = {0};
    out->count = 0;
    if (table == STUDY_BULK)
        talus_bulk_table_header(&text);
    else if (table == STUDY_FIELDS)
        write_header(probe, &text);
    else
        talus_text_print(&text, "%s", talus_output_columns(tables[table].file));
    snprintf(out->text, sizeof out->text, "%s", (const char *)cli_check_memory(text.bytes));
    talus_release(text.bytes);
    char *rest;
    for (char *name = strtok_r(out->text, ",\n", &rest); name && out->count < COLUMNS_MAX;
         name = strtok_r(NULL, ",\n", &rest))
        if (is_figure(table, name))
            out->name[out->count++] = name;
}

/* Writes the first names with commas between, and how many more there are. */
static void join_names(const char *const *name, int count, char *text, size_t size)
{
    size_t used = 0;
    int shown = count < NAMES_SHOWN ? count : NAMES_SHOWN;
    snprintf(text, size, "none");
    for (int i = 0; i < shown && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", name[i]);
    if (shown < count && used < size)
        snprintf(text + used, size - used, " and %d more", count - shown);
}

/* Fails for a name that is none of these; more: said behind them. */
static int fail_unknown(const CliCommand *command, const char *text, const char *what,
                        const char *word, const char *const *name, int count, const char *more)
{
    char known[NAMES_SHOWN * (STUDY_NAME + 2) + 32];
    join_names(name, count, known, sizeof known);
    return cli_fail_usage(command, "--measure %s: no %s '%s'%s\ntalus: there %s %s%s", text, what,
                          word, cli_did_you_mean(word, name, count, ""), count == 1 ? "is" : "are",
                          known, more);
}

static int check_column(const CliCommand *command, const StudyFigure *figure,
                        const TalusFieldProbe *probe)
{
    Columns columns;
    list_columns(figure->table, probe, &columns);
    for (int i = 0; i < columns.count; i++)
        if (strcmp(columns.name[i], figure->column) == 0)
            return CLI_OK;
    if (is_measured_time(figure->column) && figure->table == STUDY_STEPS)
        return cli_fail_usage(command,
                              "--measure %s: is measured by a clock, and differs between runs that "
                              "are the same; expected a figure of the simulation",
                              figure->text);
    return fail_unknown(command, figure->text, figure->table == STUDY_BULK ? "figure" : "column",
                        figure->column, columns.name, columns.count, "");
}

/* True if `row` is `name`, with the number of a copy behind if there are several, "name[3]". */
static bool names_row(const char *name, const char *row, int copies)
{
    const size_t length = strlen(name);
    bool found = copies == 1 && strcmp(name, row) == 0;
    for (int k = 0; copies > 1 && k < copies && strncmp(name, row, length) == 0 && !found; k++) {
        char number[16];
        snprintf(number, sizeof number, "[%d]", k);
        found = strcmp(number, row + length) == 0;
    }
    return found;
}

/* Names of rows. */
typedef struct Names {
    const char **name;   /* [count] */
    char (*unnamed)[24]; /* [count]: sinks without a name have their number */
    int count;
} Names;

static Names list_names(const TalusScene *scene, StudyTable table)
{
    const char *file = tables[table].file;
    Names all = {.count = talus_scene_list_rows(scene, file, NULL, 0)};
    const size_t size = (size_t)all.count + 1;
    all.name = cli_check_memory(malloc(size * sizeof *all.name));
    all.unnamed = cli_check_memory(malloc(size * sizeof *all.unnamed));
    (void)talus_scene_list_rows(scene, file, all.name, all.count);
    for (int i = 0; i < all.count; i++) {
        snprintf(all.unnamed[i], sizeof all.unnamed[i], "sink %d", i);
        all.name[i] = all.name[i] ? all.name[i] : all.unnamed[i];
    }
    return all;
}

/* Fails unless one probe, flow or joint has the figure's name. All copies share a sink, which has no number of a copy. */
static int check_row(const CliCommand *command, const StudyFigure *figure, const TalusScene *scene)
{
    const Names all = list_names(scene, figure->table);
    const char *what = tables[figure->table].named;
    const int copies = talus_scene_copy_count(scene);
    int code = CLI_OK, found = 0;
    for (int i = 0; i < all.count; i++)
        found += names_row(all.name[i], figure->row, copies) ||
                 (figure->table == STUDY_FLOWS && names_row(all.name[i], figure->row, 1));
    if (found == 0)
        code = fail_unknown(command, figure->text, what, figure->row, all.name, all.count,
                            copies > 1 ? ", each with the number of a copy, as in NAME[0]" : "");
    else if (found > 1)
        code = cli_fail_usage(command, "--measure %s: more than one %s has the name '%s'",
                              figure->text, what, figure->row);
    free(all.name);
    free(all.unnamed);
    return code;
}

/* Fails for a name that no probe of fields has. */
static int fail_no_field_probe(const CliCommand *command, const StudyFigure *figure,
                               const TalusScene *scene)
{
    const int count = talus_scene_field_probe_count(scene);
    const char **name = cli_check_memory(malloc(((size_t)count + 1) * sizeof *name));
    for (int i = 0; i < count; i++)
        name[i] = talus_scene_field_probe(scene, i).name;
    const int code = fail_unknown(command, figure->text, tables[STUDY_FIELDS].named, figure->row,
                                  name, count, "");
    free(name);
    return code;
}

/* Sets *probe to the probe of fields that the figure names; fails if there is none, or it has several cells, whose rows would be
 * of one time. */
static int find_field_probe(const CliCommand *command, StudyFigure *figure, const TalusScene *scene,
                            TalusFieldProbe *probe)
{
    for (int i = 0; i < talus_scene_field_probe_count(scene); i++) {
        *probe = talus_scene_field_probe(scene, i);
        if (strcmp(probe->name, figure->row) != 0)
            continue;
        const int *cells = probe->grid.cells;
        if (cells[0] * cells[1] * cells[2] > 1)
            return cli_fail_usage(command,
                                  "--measure %s: this probe has %d x %d x %d cells; expected bulk "
                                  "figures, or a grid of one cell",
                                  figure->text, cells[0], cells[1], cells[2]);
        figure->every = probe->every;
        return CLI_OK;
    }
    return fail_no_field_probe(command, figure, scene);
}

/* ---- parsing ---- */

/* Copies `length` characters; false if they do not fit. */
static bool copy_name(const char *text, size_t length, char name[STUDY_NAME])
{
    if (length >= STUDY_NAME)
        return false;
    memcpy(name, text, length);
    name[length] = '\0';
    return true;
}

/* Splits the text at `end`, the place of "@T" or of the NUL; false if it has no such form. */
static bool split(const char *text, const char *end, StudyFigure *figure)
{
    for (int t = STUDY_TABLES - 1; t >= 0; t--) {
        const size_t prefix = strlen(tables[t].prefix);
        if (strncmp(text, tables[t].prefix, prefix) != 0)
            continue;
        figure->table = (StudyTable)t;
        text += prefix;
        break;
    }
    if (tables[figure->table].named) {
        const char *dot = end;
        while (dot > text && *dot != '.')
            dot--;
        if (dot == text || !copy_name(text, (size_t)(dot - text), figure->row))
            return false;
        text = dot + 1;
    }
    return text < end && copy_name(text, (size_t)(end - text), figure->column);
}

int study_figure_parse(const CliCommand *command, const char *text, double from,
                       const TalusScene *scene, StudyFigure *out)
{
    const char *at = strrchr(text, '@'), *end = text + strlen(text);
    *out = (StudyFigure){.text = text, .from = from};
    if (at) {
        char *behind;
        out->from = strtod(at + 1, &behind);
        if (behind == at + 1 || *behind || !(out->from >= 0.0) || !isfinite(out->from))
            return cli_fail_usage(command, "--measure %s: expected a time behind the @", text);
        end = at;
    }
    if (!split(text, end, out))
        return cli_fail_usage(command,
                              "--measure %s: expected NAME, steps:NAME, cell:NAME, "
                              "probe:PROBE.NAME, flow:FLOW.NAME, joint:JOINT.NAME or "
                              "field:PROBE.NAME, such as repose or probe:floor.force_z",
                              text);
    if (out->table == STUDY_CELL && !talus_scene_has_cell(scene))
        return cli_fail_usage(command, "--measure %s: this scene has no cell that deforms", text);
    TalusFieldProbe probe = {.name = NULL};
    int code = out->table == STUDY_FIELDS ? find_field_probe(command, out, scene, &probe)
               : tables[out->table].named ? check_row(command, out, scene)
                                          : CLI_OK;
    return code == CLI_OK ? check_column(command, out, &probe) : code;
}

/* ---- reading ---- */

/* Cuts the next cell off a line, without the quotes around it; NULL at its end. */
static char *next_cell(char **line)
{
    char *cell = *line, *to = cell;
    bool quoted = false;
    if (!cell)
        return NULL;
    char *from = cell;
    for (; *from && (quoted || *from != ','); from++) {
        if (*from != '"')
            *to++ = *from;
        else if (quoted && from[1] == '"')
            *to++ = *from++;
        else
            quoted = !quoted;
    }
    *line = *from ? from + 1 : NULL;
    *to = '\0';
    return cell;
}

/* Where the cells of a figure are. */
typedef struct Place {
    int column;
    const char *row; /* NULL: all rows */
} Place;

/* Sets *time and *value from a line; false if it is the row of another probe or joint. */
static bool read_row(char *line, const Place *place, double *time, double *value)
{
    bool mine = !place->row;
    *time = *value = NAN;
    char *cell;
    for (int c = 0; (cell = next_cell(&line)) != NULL; c++) {
        if (c == 0)
            *time = strtod(cell, NULL);
        if (c == 2 && place->row)
            mine = strcmp(cell, place->row) == 0;
        if (c == place->column && cell[0])
            *value = strtod(cell, NULL);
    }
    return mine;
}

/* Sets *column to the number of the figure's column. */
static TalusStatus find_column(const StudyFigure *figure, const char *path, char *header,
                               int *column)
{
    char *cell;
    for (*column = 0; (cell = next_cell(&header)) != NULL; ++*column)
        if (strcmp(cell, figure->column) == 0)
            return TALUS_OK;
    return talus_fail_line(path, 1, TALUS_ERR_FORMAT, "expected a column '%s'", figure->column);
}

/* Sets *out to the last value, or to the mean of those from a time on. Returns the number of the figure's rows. */
static int64_t reduce_rows(const StudyFigure *figure, const Place *place, char *rows, double *out)
{
    double last = NAN, sum = 0.0;
    int64_t count = 0, found = 0;
    for (char *line; (line = strsep(&rows, "\n")) != NULL && *line;) {
        double time, value;
        if (!read_row(line, place, &time, &value))
            continue;
        found++;
        last = value;
        /* The factor admits a row whose time is early by rounding. */
        if (time >= figure->from * (1.0 - 1e-9) && !isnan(value)) {
            sum += value;
            count++;
        }
    }
    *out = isnan(figure->from) ? last : count ? sum / (double)count : NAN;
    return found;
}

TalusStatus study_figure_read(const StudyFigure *figure, const char *dir, double *value)
{
    char *path, *text = NULL;
    size_t size;
    if (figure->table == STUDY_FIELDS)
        TALUS_TRY(talus_path_format(&path, "%s/fields-%s.csv", dir, figure->row));
    else
        TALUS_TRY(talus_path_format(&path, "%s/%s", dir, tables[figure->table].file));
    TalusStatus status = talus_read_file(path, SIZE_MAX, &text, &size);
    char *rest = text;
    const bool named = tables[figure->table].named && figure->table != STUDY_FIELDS;
    Place place = {.row = named ? figure->row : NULL};
    TALUS_THEN(status, find_column(figure, path, strsep(&rest, "\n"), &place.column));
    if (status == TALUS_OK && reduce_rows(figure, &place, rest, value) == 0)
        status = talus_fail_file(path, TALUS_ERR_FORMAT, "has no row%s%s", place.row ? " of " : "",
                                 place.row ? place.row : "");
    talus_release(text);
    talus_release(path);
    return status;
}

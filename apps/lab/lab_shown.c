/* lab/lab_shown.c - reads what a report shows beside results, tables, figures and notes, from results.json. */
#include "lab.h"

#include "base/status.h"
#include "io/file/file.h"
#include "io/text/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *text_of(const TalusJson *value)
{
    return value && value->kind == TALUS_JSON_STRING ? value->text : "";
}

/* Returns the array at `key`; NULL: none. */
static const TalusJson *array_of(const TalusJson *object, const char *key)
{
    const TalusJson *value = talus_json_get(object, key);
    return value && value->kind == TALUS_JSON_ARRAY ? value : NULL;
}

/* Returns the first element of the array at `key`; NULL: none. */
static const TalusJson *first_of(const TalusJson *object, const char *key)
{
    const TalusJson *array = array_of(object, key);
    return array ? array->first : NULL;
}

/* Adds a table; rows that are not as long as the first are left out. */
static void read_table(LabSet *set, const TalusJson *from)
{
    const TalusJson *column = first_of(from, "columns");
    LabTable *t = lab_set_add_table(set, text_of(talus_json_get(from, "title")), text_of(column));
    for (column = column ? column->next : NULL; column; column = column->next)
        lab_table_add_columns(t, "%s", text_of(column));
    for (const TalusJson *row = first_of(from, "rows"); row; row = row->next)
        for (const TalusJson *cell = row->count == t->columns ? row->first : NULL; cell;
             cell = cell->next)
            lab_table_add_cell(t, "%s", text_of(cell));
    snprintf(t->note, sizeof t->note, "%s", text_of(talus_json_get(from, "note")));
    if (strcmp(t->title, LAB_CLAIMS_TITLE) == 0 && t->columns == LAB_CLAIM_COLUMNS)
        set->claims = t;
}

/* Copies the numbers of the array at `key` to out[count], NAN where the array has none. */
static void read_reals(const TalusJson *object, const char *key, double *out, int count)
{
    const TalusJson *value = first_of(object, key);
    for (int i = 0; i < count; i++, value = value ? value->next : NULL)
        out[i] = value && value->kind == TALUS_JSON_NUMBER ? value->number : NAN;
}

static bool get_flag(const TalusJson *object, const char *key)
{
    const TalusJson *value = talus_json_get(object, key);
    return value && value->kind == TALUS_JSON_TRUE;
}

static void read_figure(LabSet *set, const TalusJson *from)
{
    LabFigure *f =
        lab_set_add_figure(set, text_of(talus_json_get(from, "title")),
                           text_of(talus_json_get(from, "x")), text_of(talus_json_get(from, "y")));
    snprintf(f->note, sizeof f->note, "%s", text_of(talus_json_get(from, "note")));
    f->x_log = get_flag(from, "x_log");
    f->y_log = get_flag(from, "y_log");
    f->points = get_flag(from, "points");
    for (const TalusJson *c = first_of(from, "curves"); c && f->curves < LAB_CURVES; c = c->next) {
        const TalusJson *x = array_of(c, "x");
        int count = x ? x->count : 0;
        double *values = cli_check_memory(calloc(3 * (size_t)count + 1, sizeof *values));
        double *bar = array_of(c, "bar") ? values + 2 * count : NULL;
        read_reals(c, "x", values, count);
        read_reals(c, "y", values + count, count);
        if (bar)
            read_reals(c, "bar", bar, count);
        lab_figure_add_with_bars(f, text_of(talus_json_get(c, "name")), values, values + count, bar,
                                 count);
        free(values);
    }
}

/* Reads what is shown; leaves the set as it is if the file has another title or version or is not complete. */
static TalusStatus read_shown(LabSet *set, const TalusJson *root, const char *path)
{
    if (root->kind != TALUS_JSON_OBJECT)
        return talus_fail_file(path, TALUS_ERR_FORMAT, "holds no results of Talus");
    const TalusJson *about = talus_json_get(root, "talus");
    const char *version =
        about && about->kind == TALUS_JSON_OBJECT ? text_of(talus_json_get(about, "version")) : "";
    if (strcmp(text_of(talus_json_get(root, "title")), set->title) != 0 ||
        strcmp(version, talus_version()) != 0 || !get_flag(root, "complete"))
        return TALUS_OK;
    for (const TalusJson *t = first_of(root, "tables"); t; t = t->next)
        if (t->kind == TALUS_JSON_OBJECT && first_of(t, "columns"))
            read_table(set, t);
    for (const TalusJson *f = first_of(root, "figures"); f && set->figure_count < LAB_FIGURES;
         f = f->next)
        if (f->kind == TALUS_JSON_OBJECT)
            read_figure(set, f);
    for (const TalusJson *note = first_of(root, "notes"); note && set->note_count < LAB_NOTES;
         note = note->next)
        lab_set_add_note(set, "%s", text_of(note));
    return TALUS_OK;
}

TalusStatus lab_store_read_shown(LabSet *set, bool *found)
{
    TalusStatus status = lab_store_parse(set, read_shown);
    *found = set->table_count > 0;
    return status;
}

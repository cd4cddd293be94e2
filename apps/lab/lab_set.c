/* lab/lab_set.c - LabSet: results of jobs, run or taken from an earlier call; tables, figures and notes. */
#include "lab.h"

#include "base/memory.h"
#include "base/status.h"
#include "base/timer.h"
#include "io/file/file.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

TalusStatus lab_set_open(LabSet *set, bool fresh)
{
    if (!set->dir)
        return TALUS_OK;
    TALUS_TRY(talus_make_directory(set->dir));
    return fresh ? TALUS_OK : lab_store_read(set);
}

/* Moves the stored result with this key to `out` and empties its key in set->stored; returns false if there is none. */
static bool move_stored_result(LabSet *set, const char *key, LabResult *out)
{
    for (int i = 0; i < set->stored_count; i++) {
        LabResult *stored = &set->stored[i];
        if (strcmp(stored->key, key) != 0)
            continue;
        *out = *stored;
        stored->trace = (LabTrace){0};
        stored->key[0] = '\0';
        return true;
    }
    return false;
}

/* Writes results.json if set->next_write has passed, then sets the next time: after 1 s, or 20 times the duration of
 * this write if that is longer. Writing the growing file after each result would take longer than solving small
 * problems. */
static TalusStatus write_if_due(LabSet *set)
{
    double now = talus_now();
    if (!set->dir || now < set->next_write)
        return TALUS_OK;
    TalusStatus status = lab_store_write(set);
    set->next_write = talus_now() + fmax(1.0, 20.0 * (talus_now() - now));
    return status;
}

/* Copies the terms of the job (tolerance, limits, start, threads, backend, friction) to its result. A stored result
 * gets them as well: its terms are equal, as its key is, but its file may lack some of these fields. */
static void copy_terms(const LabProblem *p, const LabJob *job, int threads, LabResult *out)
{
    out->tolerance = job->tolerance;
    out->max_iterations = job->max_iterations;
    out->max_seconds = job->max_seconds;
    out->warm = job->warm;
    out->threads = threads;
    snprintf(out->backend, sizeof out->backend, "%s", job->backend);
    lab_friction_format(p->problem, out->law, out->section);
    lab_outer_format(&job->outer, out->outer);
    out->siconos = job->siconos;
}

TalusStatus lab_set_run_job(LabSet *set, int problem, const LabJob *job, bool quiet,
                            LabResult **out, bool *reused)
{
    LabProblem *p = &set->problems[problem];
    size_t count = (size_t)set->result_count;
    char key[17];
    lab_job_key(p, job, set->threads, key);
    TALUS_TRY(TALUS_GROW(set->results, count + 1, count, "results"));
    *out = &set->results[count];
    *reused = move_stored_result(set, key, *out);
    if (!*reused) {
        TALUS_TRY(lab_run_job(p, job, quiet, *out));
        strcpy((*out)->key, key);
    }
    (*out)->problem = problem;
    copy_terms(p, job, set->threads, *out);
    set->result_count++;
    return *reused ? TALUS_OK : write_if_due(set);
}

LabTable *lab_set_add_table(LabSet *set, const char *title, const char *headings)
{
    size_t count = (size_t)set->table_count + 1;
    LabTable *table = cli_check_memory(malloc(sizeof *table));
    set->tables = cli_check_memory(realloc(set->tables, count * sizeof *set->tables));
    set->tables[set->table_count++] = table;
    lab_table_begin(table, title, headings);
    return table;
}

LabFigure *lab_set_add_figure(LabSet *set, const char *title, const char *x, const char *y)
{
    assert(set->figure_count < LAB_FIGURES);
    LabFigure *figure = cli_check_memory(calloc(1, sizeof *figure));
    snprintf(figure->title, sizeof figure->title, "%s", title);
    snprintf(figure->x, sizeof figure->x, "%s", x);
    snprintf(figure->y, sizeof figure->y, "%s", y);
    set->figures[set->figure_count++] = figure;
    return figure;
}

LabMap *lab_set_add_map(LabSet *set, const char *title, int columns, int rows, int frames)
{
    assert(set->map_count < LAB_FIGURES);
    const size_t count = (size_t)columns * (size_t)rows * (size_t)frames;
    LabMap *map = cli_check_memory(calloc(1, sizeof *map));
    snprintf(map->title, sizeof map->title, "%s", title);
    map->columns = columns;
    map->rows = rows;
    map->frames = frames;
    map->name = cli_check_memory(calloc((size_t)frames, sizeof *map->name));
    map->values = cli_check_memory(malloc(count * sizeof *map->values));
    for (size_t i = 0; i < count; i++)
        map->values[i] = NAN;
    set->maps[set->map_count++] = map;
    return map;
}

static double *copy_values(const double *values, int count)
{
    size_t bytes = (size_t)count * sizeof *values;
    double *copy = cli_check_memory(malloc(bytes + 1));
    memcpy(copy, values, bytes);
    return copy;
}

void lab_figure_add_with_bars(LabFigure *figure, const char *name, const double *x, const double *y,
                              const double *bar, int count)
{
    assert(figure->curves < LAB_CURVES);
    LabCurve *curve = &figure->curve[figure->curves++];
    snprintf(curve->name, sizeof curve->name, "%s", name);
    curve->x = copy_values(x, count);
    curve->y = copy_values(y, count);
    curve->bar = bar ? copy_values(bar, count) : NULL;
    curve->count = count;
}

void lab_figure_add(LabFigure *figure, const char *name, const double *x, const double *y,
                    int count)
{
    lab_figure_add_with_bars(figure, name, x, y, NULL, count);
}

void lab_figure_clear(LabFigure *figure)
{
    for (int i = 0; i < figure->curves; i++) {
        free(figure->curve[i].x);
        free(figure->curve[i].y);
        free(figure->curve[i].bar);
    }
    figure->curves = 0;
}

void lab_set_add_note(LabSet *set, const char *format, ...)
{
    char text[1024];
    TALUS_FORMAT(text, format);
    assert(set->note_count < LAB_NOTES);
    set->notes[set->note_count++] = cli_check_memory(strdup(text));
}

void lab_set_note_missing_solver(LabSet *set, const char *solver)
{
    if (!lab_has_solver(solver))
        lab_set_add_note(set, "%s is not in this build: what needs it is left out.", solver);
}

/* Puts "NAME: " before a title; what is too long is cut. */
static void prefix_title(char title[LAB_TEXT], const char *name)
{
    char longer[2 * LAB_TEXT];
    snprintf(longer, sizeof longer, "%s: %s", name, title);
    longer[LAB_TEXT - 1] = '\0';
    strcpy(title, longer);
}

/* Moves the tables of lab_set_move_shown. */
static void move_tables(LabSet *from, LabSet *to, const char *name)
{
    int kept = 0;
    size_t most = (size_t)to->table_count + (size_t)from->table_count + 1;
    to->tables = cli_check_memory(realloc(to->tables, most * sizeof *to->tables));
    for (int i = 0; i < from->table_count; i++) {
        LabTable *table = from->tables[i];
        if (table == from->claims) {
            from->tables[kept++] = table;
        } else {
            prefix_title(table->title, name);
            to->tables[to->table_count++] = table;
        }
    }
    from->table_count = kept;
}

void lab_set_move_shown(LabSet *from, LabSet *to, const char *name)
{
    move_tables(from, to, name);
    assert(to->figure_count + from->figure_count <= LAB_FIGURES);
    for (int i = 0; i < from->figure_count; i++) {
        prefix_title(from->figures[i]->title, name);
        to->figures[to->figure_count++] = from->figures[i];
    }
    from->figure_count = 0;
}

TalusStatus lab_set_write(LabSet *set)
{
    char path[CLI_PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/trace.csv", set->dir);
    TALUS_TRY(lab_write_traces(set, path));
    TALUS_TRY(lab_store_write(set));
    return lab_page_write(set);
}

void lab_set_clear(LabSet *set)
{
    for (int i = 0; i < set->problem_count; i++)
        lab_problem_close(&set->problems[i]);
    for (int i = 0; i < set->result_count; i++)
        lab_result_clear(&set->results[i]);
    for (int i = 0; i < set->stored_count; i++)
        lab_result_clear(&set->stored[i]);
    for (int i = 0; i < set->search_count; i++)
        talus_release(set->searches[i].solution);
    for (int i = 0; i < set->table_count; i++) {
        lab_table_clear(set->tables[i]);
        free(set->tables[i]);
    }
    free(set->tables);
    for (int i = 0; i < set->figure_count; i++) {
        lab_figure_clear(set->figures[i]);
        free(set->figures[i]);
    }
    for (int i = 0; i < set->map_count; i++) {
        free(set->maps[i]->name);
        free(set->maps[i]->values);
        free(set->maps[i]);
    }
    for (int i = 0; i < set->note_count; i++)
        free(set->notes[i]);
    TALUS_RELEASE(set->problems, set->results, set->searches, set->stored);
    *set = (LabSet){0};
}

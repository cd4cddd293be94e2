/* lab/lab_json.c - writes results as JSON: the output of --json, results.json, which lab_store.c reads, and the data of
 * the report page, the same as results.json but for long curves, which lab_thin.c makes shorter. docs/how-to/laboratory.md and docs/reference/report.md describe them. */
#include "lab.h"

#include "cli/page.h"
#include "io/file/file.h"

#include <math.h>
#include <stdlib.h>

/* ---- one result ---- */

/* Writes a member of the object unless the text is "". */
static void put_nonempty(JsonOut *json, const char *key, const char *text)
{
    if (text[0])
        json_write_text(json, key, text);
}

/* Writes the terms of the result: tolerance, limits, start, backend, friction. */
static void put_terms(JsonOut *json, const LabResult *r)
{
    if (r->max_iterations == 0)
        return; /* a stored result whose file lacks these fields */
    json_write_real(json, "tolerance", r->tolerance);
    json_write_int(json, "max_iterations", r->max_iterations);
    json_write_real(json, "max_seconds", r->max_seconds > 0.0 ? r->max_seconds : NAN);
    json_write_text(json, "start", r->warm ? "stored" : "zero");
    json_write_int(json, "threads", r->threads);
    put_nonempty(json, "backend", lab_on_host(r) ? "" : r->backend);
    put_nonempty(json, "law", r->law);
    put_nonempty(json, "section", r->section);
    put_nonempty(json, "outer", r->outer);
    put_nonempty(json, "measure", r->siconos ? "siconos" : "");
}

/* Writes the members of a result that --json prints as well: solver, outcome, terms, figures. */
static void put_result_figures(JsonOut *json, const LabResult *r)
{
    bool measured = lab_outcome_is_measured(r->outcome);
    json_write_text(json, "solver", r->solver);
    put_nonempty(json, "ran", r->auto_choice);
    json_write_text(json, "outcome", lab_outcome_name(r->outcome));
    put_nonempty(json, "reason", r->reason);
    if (r->interrupted)
        json_write_bool(json, "interrupted", true);
    put_terms(json, r);
    json_write_real(json, "iterations", measured ? r->iterations : NAN);
    json_write_real(json, "applies", measured ? r->products : NAN);
    json_write_real(json, "updates", measured ? r->updates : NAN);
    if (measured && r->factorisations)
        json_write_int(json, "factorisations", r->factorisations);
    json_write_real(json, "seconds", r->seconds);
    json_write_real(json, "objective", r->objective);
    json_open_object(json, "residual");
    for (int i = 0; i < LAB_RESIDUALS; i++)
        json_write_real(json, lab_residuals[i].name, r->residual[i]);
    json_close_object(json);
    json_write_real(json, "memory_bytes", r->memory_bytes);
    if (measured) {
        json_open_object(json, "contacts");
        json_write_int(json, "open", r->open);
        json_write_int(json, "sliding", r->sliding);
        json_write_int(json, "sticking", r->sticking);
        json_close_object(json);
    }
}

static void put_trace(JsonOut *json, const LabTrace *trace)
{
    json_open_object(json, "trace");
    for (int c = 0; c < LAB_COLUMNS; c++) {
        json_open_array(json, lab_columns[c].name);
        for (int k = 0; k < trace->count; k++)
            json_write_real(json, NULL, trace->row[k][c]);
        json_close_array(json);
    }
    json_close_object(json);
}

static void put_impulses(JsonOut *json, const LabResult *r)
{
    json_open_object(json, "impulses");
    json_write_ints(json, "rank", r->impulse_rank, (size_t)r->impulse_count);
    json_write_reals(json, "value", r->impulse, (size_t)r->impulse_count);
    json_close_object(json);
}

/* Writes a result with its key, impulses and trace, as results.json stores it. */
static void put_result(JsonOut *json, const LabResult *r)
{
    json_open_object(json, NULL);
    json_write_int(json, "problem", r->problem);
    json_write_text(json, "key", r->key);
    put_result_figures(json, r);
    put_impulses(json, r);
    put_trace(json, &r->trace);
    json_close_object(json);
}

/* ---- a problem ---- */

/* Writes a problem's name and numbers of contacts, rows and bodies. */
static void put_sizes(JsonOut *json, const LabProblem *p)
{
    json_write_text(json, "name", p->name);
    json_write_int(json, "contacts", talus_problem_blocks(p->problem));
    json_write_int(json, "rows", talus_problem_size(p->problem));
    json_write_int(json, "bodies", p->bodies);
}

/* Writes an object with a problem's sizes, range of mu and path. */
static void put_problem(JsonOut *json, const LabProblem *p)
{
    int blocks = talus_problem_blocks(p->problem);
    double low = INFINITY, high = 0.0;
    for (int i = 0; i < blocks; i++) {
        double mu = talus_problem_mu(p->problem, i);
        if (talus_problem_friction(p->problem, i).section == TALUS_SECTION_JOINT)
            continue;
        low = fmin(low, mu);
        high = fmax(high, mu);
    }
    json_open_object(json, NULL);
    put_sizes(json, p);
    json_write_real(json, "mu_min", isinf(low) ? 0.0 : low);
    json_write_real(json, "mu_max", high);
    json_write_text(json, "source", p->path);
    json_close_object(json);
}

/* ---- tables and notes ---- */

static void put_table(JsonOut *json, const LabTable *table)
{
    json_open_object(json, NULL);
    json_write_text(json, "title", table->title);
    json_write_text(json, "note", table->note);
    json_open_array(json, "columns");
    for (int c = 0; c < table->columns; c++)
        json_write_text(json, NULL, table->cell[c]);
    json_close_array(json);
    json_open_array(json, "rows");
    for (int r = 1; r < table->cells / table->columns; r++) {
        json_open_array(json, NULL);
        for (int c = 0; c < table->columns; c++)
            json_write_text(json, NULL, table->cell[r * table->columns + c]);
        json_close_array(json);
    }
    json_close_array(json);
    json_close_object(json);
}

static void put_notes(JsonOut *json, const LabSet *set)
{
    json_open_array(json, "notes");
    for (int i = 0; i < set->note_count; i++)
        json_write_text(json, NULL, set->notes[i]);
    json_close_array(json);
}

static void put_search_table(JsonOut *json, const LabSet *set, const LabSearch *search)
{
    LabTable table;
    lab_search_make_table(set, search, &table);
    put_table(json, &table);
    lab_table_clear(&table);
}

static void put_tables(JsonOut *json, const LabSet *set)
{
    json_open_array(json, "tables");
    for (int i = 0; i < set->search_count; i++)
        put_search_table(json, set, &set->searches[i]);
    for (int i = 0; i < set->table_count; i++)
        put_table(json, set->tables[i]);
    json_close_array(json);
}

/* Writes a curve; `page`: for a plot. */
static void put_curve(JsonOut *json, const LabCurve *curve, bool page)
{
    void (*write)(JsonOut *, const char *, const double *, size_t) =
        page ? json_write_plotted : json_write_reals;
    json_open_object(json, NULL);
    json_write_text(json, "name", curve->name);
    write(json, "x", curve->x, (size_t)curve->count);
    write(json, "y", curve->y, (size_t)curve->count);
    if (curve->bar)
        write(json, "bar", curve->bar, (size_t)curve->count);
    json_close_object(json);
}

/* Writes a figure; `page`: of its curves what a page shows. */
static void put_figure(JsonOut *json, const LabFigure *figure, bool page)
{
    json_open_object(json, NULL);
    json_write_text(json, "title", figure->title);
    json_write_text(json, "note", figure->note);
    json_write_text(json, "x", figure->x);
    json_write_text(json, "y", figure->y);
    json_write_bool(json, "x_log", figure->x_log);
    json_write_bool(json, "y_log", figure->y_log);
    json_write_bool(json, "points", figure->points);
    json_open_array(json, "curves");
    for (int i = 0; i < figure->curves; i++) {
        LabCurve shown;
        if (page && lab_curve_thin(figure, &figure->curve[i], &shown)) {
            put_curve(json, &shown, page);
            free(shown.x);
            free(shown.y);
            free(shown.bar);
        } else {
            put_curve(json, &figure->curve[i], page);
        }
    }
    json_close_array(json);
    json_close_object(json);
}

/* Writes the figures with their curves under the key "figures"; nothing if there are none. */
static void put_all_figures(JsonOut *json, const LabSet *set, bool page)
{
    if (set->figure_count == 0)
        return;
    json_open_array(json, "figures");
    for (int i = 0; i < set->figure_count; i++)
        put_figure(json, set->figures[i], page);
    json_close_array(json);
}

static void put_map(JsonOut *json, const LabMap *map)
{
    const size_t cells = (size_t)map->columns * (size_t)map->rows;
    json_open_object(json, NULL);
    json_write_text(json, "title", map->title);
    json_write_text(json, "note", map->note);
    json_write_text(json, "x", map->x);
    json_write_text(json, "y", map->y);
    json_write_text(json, "value", map->value);
    json_write_reals(json, "x_range", map->x_range, 2);
    json_write_reals(json, "y_range", map->y_range, 2);
    json_write_int(json, "columns", map->columns);
    json_write_int(json, "rows", map->rows);
    json_open_array(json, "frames");
    for (int f = 0; f < map->frames; f++) {
        json_open_object(json, NULL);
        json_write_text(json, "name", map->name[f]);
        json_write_reals(json, "values", map->values + (size_t)f * cells, cells);
        json_close_object(json);
    }
    json_close_array(json);
    json_close_object(json);
}

/* Writes the maps under the key "maps"; nothing if there are none. */
static void put_all_maps(JsonOut *json, const LabSet *set)
{
    if (set->map_count == 0)
        return;
    json_open_array(json, "maps");
    for (int i = 0; i < set->map_count; i++)
        put_map(json, set->maps[i]);
    json_close_array(json);
}

/* ---- the output of --json ---- */

static void put_search(JsonOut *json, const LabSearch *search)
{
    json_open_object(json, NULL);
    json_write_text(json, "solver", search->solver);
    json_write_int(json, "starts", search->starts);
    json_write_int(json, "converged", search->converged);
    json_write_real(json, "same_within", search->same_within);
    json_open_array(json, "solutions");
    for (int i = 0; i < search->solutions; i++) {
        const LabSolution *x = &search->solution[i];
        json_open_object(json, NULL);
        json_write_int(json, "starts", x->found);
        json_write_int(json, "first_start", x->start);
        json_write_real(json, "natural_relative", x->residual);
        json_write_real(json, "objective", x->objective);
        json_write_real(json, "nearest", x->nearest);
        json_close_object(json);
    }
    json_close_array(json);
    json_close_object(json);
}

/* Writes the searches of a problem under the key "searches"; nothing if there are none. */
static void put_searches(JsonOut *json, const LabSet *set, int problem)
{
    bool any = false;
    for (int i = 0; i < set->search_count; i++) {
        if (set->searches[i].problem != problem)
            continue;
        if (!any)
            json_open_array(json, "searches");
        any = true;
        put_search(json, &set->searches[i]);
    }
    if (any)
        json_close_array(json);
}

/* Writes an object with a problem's sizes, results and searches, as --json prints it. */
static void put_problem_results(JsonOut *json, const LabSet *set, int problem)
{
    json_open_object(json, NULL);
    json_open_object(json, "problem");
    put_sizes(json, &set->problems[problem]);
    json_close_object(json);
    json_open_array(json, "results");
    for (int i = 0; i < set->result_count; i++)
        if (set->results[i].problem == problem) {
            json_open_object(json, NULL);
            put_result_figures(json, &set->results[i]);
            json_close_object(json);
        }
    json_close_array(json);
    put_searches(json, set, problem);
    json_close_object(json);
}

void lab_print_solve_json(const LabSet *set)
{
    JsonOut json;
    json_start(&json, json_to_stream, stdout);
    if (set->problem_count != 1)
        json_open_array(&json, NULL);
    for (int i = 0; i < set->problem_count; i++)
        put_problem_results(&json, set, i);
    if (set->problem_count != 1)
        json_close_array(&json);
    json_finish(&json);
}

void lab_print_bench_json(const LabSet *set)
{
    JsonOut json;
    json_start(&json, json_to_stream, stdout);
    json_open_object(&json, NULL);
    json_write_text(&json, "experiment", set->experiment);
    json_open_array(&json, "problems");
    for (int i = 0; i < set->problem_count; i++)
        put_problem_results(&json, set, i);
    json_close_array(&json);
    put_tables(&json, set);
    put_notes(&json, set);
    json_close_object(&json);
    json_finish(&json);
}

/* ---- the whole set ---- */

/* Writes the results of an earlier call that no job of this call has reused yet (key not ""), so that a stopped call
 * does not lose them. */
static void put_stored_results(JsonOut *json, const LabSet *set)
{
    json_open_array(json, "earlier");
    for (int i = 0; i < set->stored_count; i++)
        if (set->stored[i].key[0])
            put_result(json, &set->stored[i]);
    json_close_array(json);
}

/* Writes results.json or, with `thin`, the data of the report page. */
static void put_set(JsonOut *json, const LabSet *set, bool thin)
{
    static const double thresholds[] = {1e-2, 1e-4, 1e-6, 1e-8};
    json_open_object(json, NULL);
    page_write_head(json, set->title, set->kind, set->threads);
    json_write_bool(json, "complete", set->complete);
    put_notes(json, set);
    json_write_reals(json, "thresholds", thresholds, sizeof thresholds / sizeof *thresholds);
    json_open_array(json, "problems");
    for (int i = 0; i < set->problem_count; i++)
        put_problem(json, &set->problems[i]);
    json_close_array(json);
    json_open_array(json, "runs");
    for (int i = 0; i < set->result_count; i++)
        put_result(json, &set->results[i]);
    json_close_array(json);
    put_tables(json, set);
    put_all_figures(json, set, thin);
    put_all_maps(json, set);
    if (!set->complete)
        put_stored_results(json, set);
    json_close_object(json);
}

TalusStatus lab_store_write(const LabSet *set)
{
    TalusFile *file;
    JsonOut json;
    TALUS_TRY(cli_create_file(&file, "%s/" LAB_STORE_NAME, set->dir));
    json_start(&json, json_to_file, file);
    put_set(&json, set, false);
    json_finish(&json);
    return talus_file_commit(file);
}

/* PageData of the report page; `user` is the LabSet. */
static void put_page(void *user, JsonOut *json)
{
    put_set(json, user, true);
}

TalusStatus lab_page_write(const LabSet *set)
{
    return page_write_report(set->dir, "report.html", put_page, (void *)set);
}

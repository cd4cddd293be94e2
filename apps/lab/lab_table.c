/* lab/lab_table.c - LabTable, terms of a result in words, and the printed table of a problem's results. */
#include "lab.h"

#include "base/status.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- a table of texts ---- */

/* Appends a cell; a longer text is cut to LAB_TEXT - 1 bytes. */
static void append_cell(LabTable *table, const char *text)
{
    if (table->cells == table->capacity) {
        table->capacity = table->capacity ? 2 * table->capacity : 64;
        table->cell =
            cli_check_memory(realloc(table->cell, (size_t)table->capacity * sizeof *table->cell));
    }
    table->cell[table->cells++] = cli_check_memory(strndup(text, LAB_TEXT - 1));
}

/* Appends the formatted text, split at tabs; a cell "nan" becomes "-". */
static void append_cells(LabTable *table, const char *format, va_list args)
{
    char text[8 * LAB_TEXT];
    vsnprintf(text, sizeof text, format, args);
    for (char *cell = text, *next; cell; cell = next) {
        next = strchr(cell, '\t');
        if (next)
            *next++ = '\0';
        append_cell(table, strcmp(cell, "nan") == 0 || strcmp(cell, "-nan") == 0 ? "-" : cell);
    }
}

void lab_table_begin(LabTable *table, const char *title, const char *headings)
{
    *table = (LabTable){0};
    snprintf(table->title, sizeof table->title, "%s", title);
    lab_table_add_columns(table, "%s", headings);
}

void lab_table_add_columns(LabTable *table, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    append_cells(table, format, args);
    va_end(args);
    table->columns = table->cells;
}

void lab_table_add_cells(LabTable *table, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    append_cells(table, format, args);
    va_end(args);
}

void lab_table_add_cell(LabTable *table, const char *format, ...)
{
    char text[LAB_TEXT];
    TALUS_FORMAT(text, format);
    append_cell(table, text);
}

void lab_table_clear(LabTable *table)
{
    for (int i = 0; i < table->cells; i++)
        free(table->cell[i]);
    free(table->cell);
    *table = (LabTable){0};
}

static int column_width(const LabTable *table, int column)
{
    size_t width = 0;
    for (int i = column; i < table->cells; i += table->columns) {
        size_t length = strlen(table->cell[i]);
        width = length > width ? length : width;
    }
    return (int)width;
}

/* Prints title, cells and note; the first column left-aligned, the others right-aligned. */
void lab_table_print(const LabTable *table, FILE *out)
{
    if (table->title[0])
        fprintf(out, "%s\n", table->title);
    for (int i = 0; i < table->cells; i++) {
        int column = i % table->columns, width = column_width(table, column);
        fprintf(out, "  %*s", column ? width : -width, table->cell[i]);
        if (column == table->columns - 1)
            fputc('\n', out);
    }
    if (table->note[0])
        fprintf(out, "%s\n", table->note);
}

/* ---- the terms of a run ---- */

/* Formats a tolerance below 0.01 as "1e-4" or "2.5e-6", where %g gives "0.0001" and "2.5e-06"; others by %g. */
static void format_tolerance(double tolerance, char text[32])
{
    char digits[32];
    if (!(tolerance > 0.0 && tolerance < 1e-2)) {
        snprintf(text, 32, "%g", tolerance);
        return;
    }
    snprintf(digits, sizeof digits, "%.5e", tolerance);
    char *e = strchr(digits, 'e'), *end = e;
    while (end[-1] == '0')
        end--;
    if (end[-1] == '.')
        end--;
    snprintf(text, 32, "%.*se%d", (int)(end - digits), digits, atoi(e + 1));
}

bool lab_on_host(const LabResult *r)
{
    return !r->backend[0] || strcmp(r->backend, "cpu") == 0;
}

/* Writes ", law LAW on SECTION" unless the law is ccp on disc or without friction, then ", outer loop OUTER" unless the
 * loop is the default. */
static void format_friction(const LabResult *r, char text[LAB_TEXT])
{
    bool law = r->law[0] && strcmp(r->law, "ccp") != 0;
    bool section =
        r->section[0] && strcmp(r->section, "disc") != 0 && strcmp(r->section, "none") != 0;
    char outer[LAB_TEXT / 2] = "";
    if (r->outer[0])
        snprintf(outer, sizeof outer, ", outer loop %.100s", r->outer);
    snprintf(text, LAB_TEXT, "%s%s%s%s%s", law || section ? ", law " : "",
             law || section ? r->law : "", law || section ? " on " : "",
             law || section ? r->section : "", outer);
}

void lab_terms_format(const LabResult *r, char text[LAB_TERMS])
{
    bool whole = r->tolerance == 0.0, timed = r->max_seconds > 0.0;
    bool host = lab_on_host(r);
    char aim[96] = "", seconds[48] = "", tolerance[32], friction[LAB_TEXT];
    format_tolerance(r->tolerance, tolerance);
    if (!whole)
        snprintf(aim, sizeof aim, "to %s %s, at most ", tolerance,
                 r->siconos ? "in Siconos's measure" : "of the residual at zero impulses");
    if (timed)
        snprintf(seconds, sizeof seconds, " or %g s", r->max_seconds);
    format_friction(r, friction);
    snprintf(text, LAB_TERMS, "%s%d iterations%s, from %s, %d thread%s%s%s%s", aim,
             r->max_iterations, seconds, r->warm ? "the stored impulses" : "zero", r->threads,
             r->threads == 1 ? "" : "s", host ? "" : ", backend ", host ? "" : r->backend,
             friction);
}

void lab_limits_format(const LabResult *r, char text[LAB_TEXT])
{
    char aim[48] = "", seconds[48] = "", tolerance[32];
    format_tolerance(r->tolerance, tolerance);
    if (r->tolerance > 0.0)
        snprintf(aim, sizeof aim, "%s%s, ", tolerance, r->siconos ? " Siconos" : "");
    if (r->max_seconds > 0.0)
        snprintf(seconds, sizeof seconds, ", %g s", r->max_seconds);
    snprintf(text, LAB_TEXT, "%s%d%s", aim, r->max_iterations, seconds);
}

bool lab_same_terms(const LabResult *a, const LabResult *b)
{
    return a->tolerance == b->tolerance && a->max_iterations == b->max_iterations &&
           a->max_seconds == b->max_seconds && a->warm == b->warm && a->threads == b->threads &&
           lab_on_host(a) == lab_on_host(b) &&
           (lab_on_host(a) || strcmp(a->backend, b->backend) == 0) && strcmp(a->law, b->law) == 0 &&
           strcmp(a->section, b->section) == 0 && strcmp(a->outer, b->outer) == 0 &&
           a->siconos == b->siconos;
}

/* ---- the results of a problem ---- */

int lab_compare_results(const LabResult *a, const LabResult *b)
{
    if (a->outcome != b->outcome)
        return (int)a->outcome - (int)b->outcome;
    return (a->seconds > b->seconds) - (a->seconds < b->seconds);
}

/* Comparison for qsort by lab_compare_results; equal results keep their order in set->results, whatever qsort does. */
static int compare_rank(const void *a, const void *b)
{
    const LabResult *x = *(const LabResult *const *)a, *y = *(const LabResult *const *)b;
    int order = lab_compare_results(x, y);
    return order ? order : (x > y) - (x < y);
}

/* Which columns a table has only where they tell something. */
typedef struct ExtraColumns {
    bool error;   /* velocity error: the problem has a reference */
    bool limits;  /* limits of each result: results differ in their terms */
    bool updates; /* updates of the outer loop: some result is under another law than ccp */
    bool siconos; /* Siconos's error: some result is under coulomb or in Siconos's measure */
    bool bounds;  /* metric bound_mismatch: some result is under fixed or has a mismatch above 0 */
} ExtraColumns;

static void add_headings(LabTable *table, ExtraColumns extra)
{
    lab_table_begin(table, "",
                    "solver\toutcome\titerations\tproducts\tseconds\tobjective\tnatural\trelative\t"
                    "(24)\tmax f\tactive\tMB");
    const struct {
        bool wanted;
        const char *heading;
    } rest[] = {{extra.updates, "updates"},
                {extra.siconos, "Siconos"},
                {extra.bounds, "bounds"},
                {extra.error, "u error"},
                {extra.limits, "limits"}};
    for (int i = 0; i < LAB_COUNT(rest); i++)
        if (rest[i].wanted)
            lab_table_add_columns(table, "%s", rest[i].heading);
}

static void add_result_row(LabTable *table, const LabResult *r, ExtraColumns extra)
{
    char limits[LAB_TEXT];
    if (r->auto_choice[0])
        lab_table_add_cell(table, "%s (%s)", r->solver, r->auto_choice);
    else
        lab_table_add_cell(table, "%s", r->solver);
    lab_table_add_cells(table, "%s\t%d\t%d\t%.3f",
                        r->interrupted ? "interrupted" : lab_outcome_name(r->outcome),
                        r->iterations, r->products, r->seconds);
    lab_table_add_cell(table, "%.10g", r->objective);
    static const LabResidual shown[] = {LAB_R_NATURAL, LAB_R_NATURAL_RELATIVE,
                                        LAB_R_PROJECTED_GRADIENT, LAB_R_COMPLEMENTARITY_MAX};
    for (int i = 0; i < LAB_COUNT(shown); i++)
        lab_table_add_cell(table, "%.2e", r->residual[shown[i]]);
    lab_table_add_cells(table, "%d\t%.2f", r->open, 1e-6 * r->memory_bytes);
    if (extra.updates)
        lab_table_add_cell(table, "%d", r->updates);
    if (extra.siconos)
        lab_table_add_cell(table, "%.2e", r->residual[LAB_R_SICONOS]);
    if (extra.bounds)
        lab_table_add_cell(table, "%.2e", r->residual[LAB_R_BOUND_MISMATCH]);
    if (extra.error)
        lab_table_add_cell(table, "%.2e", r->residual[LAB_R_VELOCITY_ERROR]);
    lab_limits_format(r, limits);
    if (extra.limits)
        lab_table_add_cell(table, "%s", limits);
}

/* Prints the problem's name and sizes and, unless `one` is NULL, the terms of this result, which all results share. */
static void print_head(const LabProblem *p, const LabResult *one, FILE *out)
{
    char terms[LAB_TERMS];
    fprintf(out, "%s: %d contacts, %d rows, %d bodies\n", p->name, talus_problem_blocks(p->problem),
            talus_problem_size(p->problem), p->bodies);
    if (one) {
        lab_terms_format(one, terms);
        fprintf(out, "%s\n", terms);
    }
    fputc('\n', out);
}

void lab_print_results(const LabSet *set, int problem, FILE *out)
{
    const LabProblem *p = &set->problems[problem];
    const LabResult **order =
        cli_check_memory(malloc((size_t)set->result_count * sizeof *order + 1));
    int count = 0;
    for (int i = 0; i < set->result_count; i++)
        if (set->results[i].problem == problem)
            order[count++] = &set->results[i];
    qsort(order, (size_t)count, sizeof *order, compare_rank);
    ExtraColumns extra = {.error = p->reference != NULL};
    for (int i = 0; i < count; i++) {
        extra.limits |= !lab_same_terms(order[0], order[i]);
        extra.updates |= order[i]->law[0] && strcmp(order[i]->law, "ccp") != 0;
        extra.siconos |= strcmp(order[i]->law, "coulomb") == 0 || order[i]->siconos;
        extra.bounds |=
            strcmp(order[i]->law, "fixed") == 0 || order[i]->residual[LAB_R_BOUND_MISMATCH] > 0.0;
    }
    LabTable table;
    add_headings(&table, extra);
    for (int i = 0; i < count; i++)
        if (lab_outcome_is_measured(order[i]->outcome))
            add_result_row(&table, order[i], extra);
    print_head(p, count > 0 && !extra.limits ? order[0] : NULL, out);
    if (table.cells > table.columns)
        lab_table_print(&table, out);
    lab_table_clear(&table);
    for (int i = 0; i < count; i++)
        if (!lab_outcome_is_measured(order[i]->outcome))
            fprintf(out, "  %s: %s: %s\n", order[i]->solver, lab_outcome_name(order[i]->outcome),
                    order[i]->reason);
    fputc('\n', out);
    free(order);
}

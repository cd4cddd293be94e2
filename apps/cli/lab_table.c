/* lab_table.c - tables for people. */
#include "lab.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- a table of words ---- */

void lab_table_begin(LabTable *table, const char *title, int columns)
{
    *table = (LabTable){.columns = columns};
    snprintf(table->title, sizeof table->title, "%s", title);
}

void lab_table_add(LabTable *table, const char *format, ...)
{
    char text[LAB_TEXT];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (table->cells == table->room) {
        int room = table->room ? 2 * table->room : 64;
        table->cell = cli_must(realloc(table->cell, (size_t)room * sizeof *table->cell));
        table->room = room;
    }
    table->cell[table->cells++] = cli_must(strdup(text));
}

void lab_table_clear(LabTable *table)
{
    for (int i = 0; i < table->cells; i++)
        free(table->cell[i]);
    free(table->cell);
    *table = (LabTable){0};
}

static int width_of(const LabTable *table, int column)
{
    size_t width = 0;
    for (int i = column; i < table->cells; i += table->columns) {
        size_t length = strlen(table->cell[i]);
        width = length > width ? length : width;
    }
    return (int)width;
}

/* The first column to the left, the others to the right. */
void lab_table_print(const LabTable *table, FILE *out)
{
    if (table->title[0])
        fprintf(out, "%s\n", table->title);
    for (int i = 0; i < table->cells; i++) {
        int column = i % table->columns, width = width_of(table, column);
        fprintf(out, "  %*s", column ? width : -width, table->cell[i]);
        if (column == table->columns - 1)
            fputc('\n', out);
    }
    if (table->note[0])
        fprintf(out, "%s\n", table->note);
}

/* ---- the results of a problem ---- */

int lab_compare(const LabResult *a, const LabResult *b)
{
    if (a->outcome != b->outcome)
        return (int)a->outcome - (int)b->outcome;
    return (a->seconds > b->seconds) - (a->seconds < b->seconds);
}

static int by_rank(const void *a, const void *b)
{
    const LabResult *x = *(const LabResult *const *)a, *y = *(const LabResult *const *)b;
    int order = lab_compare(x, y);
    return order ? order : (x > y) - (x < y);
}

static const char *const headings[] = {"solver",    "outcome", "iterations", "applies", "seconds",
                                       "objective", "natural", "relative",   "(24)",    "max f",
                                       "active",    "MB",      "u error"};

static void add_row(LabTable *table, const LabResult *r, bool reference)
{
    lab_table_add(table, "%s", r->solver);
    lab_table_add(table, "%s", r->interrupted ? "interrupted" : lab_outcome_name(r->outcome));
    lab_table_add(table, "%d", r->iterations);
    lab_table_add(table, "%d", r->applies);
    lab_table_add(table, "%.3f", r->seconds);
    lab_table_add(table, "%.10g", r->objective);
    lab_table_add(table, "%.2e", r->residual[LAB_R_NATURAL]);
    lab_table_add(table, "%.2e", r->residual[LAB_R_NATURAL_RELATIVE]);
    lab_table_add(table, "%.2e", r->residual[LAB_R_PROJECTED_GRADIENT]);
    lab_table_add(table, "%.2e", r->residual[LAB_R_COMPLEMENTARITY_MAX]);
    lab_table_add(table, "%d", r->open);
    lab_table_add(table, "%.2f", 1e-6 * r->memory_bytes);
    if (reference)
        lab_table_add(table, "%.2e", r->residual[LAB_R_VELOCITY_ERROR]);
}

void lab_print_results(const LabSet *set, int problem, FILE *out)
{
    const LabProblem *p = &set->problems[problem];
    const LabResult **order = cli_must(malloc((size_t)set->result_count * sizeof *order + 1));
    int count = 0;
    for (int i = 0; i < set->result_count; i++)
        if (set->results[i].problem == problem)
            order[count++] = &set->results[i];
    qsort(order, (size_t)count, sizeof *order, by_rank);
    LabTable table;
    lab_table_begin(&table, "", p->reference ? 13 : 12);
    for (int c = 0; c < table.columns; c++)
        lab_table_add(&table, "%s", headings[c]);
    for (int i = 0; i < count; i++)
        if (lab_outcome_measured(order[i]->outcome))
            add_row(&table, order[i], p->reference != NULL);
    fprintf(out, "%s: %d contacts, %d rows, %d bodies\n\n", p->name,
            talus_problem_blocks(p->problem), talus_problem_size(p->problem), p->bodies);
    lab_table_print(&table, out);
    lab_table_clear(&table);
    for (int i = 0; i < count; i++)
        if (!lab_outcome_measured(order[i]->outcome))
            fprintf(out, "  %s: %s: %s\n", order[i]->solver, lab_outcome_name(order[i]->outcome),
                    order[i]->reason);
    fputc('\n', out);
    free(order);
}

/* lab/lab_trace.c - names of trace columns, residuals and outcomes; traces and tables as CSV. */
#include "lab.h"

#include "io/file/file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define METRIC(field) offsetof(TalusMetrics, field)

const LabMetric lab_columns[LAB_COLUMNS] = {
    {"iteration", LAB_NO_METRIC},
    {"applies", LAB_NO_METRIC},
    {"seconds", LAB_NO_METRIC},
    {"objective", METRIC(objective)},
    {"natural", METRIC(natural.rms)},
    {"natural_relative", METRIC(natural_relative)},
    {"natural_max", METRIC(natural.max)},
    {"projected_gradient", METRIC(projected_gradient)},
    {"complementarity_max", METRIC(complementarity_max)},
    {"primal_infeasibility", METRIC(primal_infeasibility)},
    {"active", LAB_NO_METRIC},
    {"active_changes", LAB_NO_METRIC},
    {"velocity_error", LAB_NO_METRIC},
};

const LabMetric lab_residuals[LAB_RESIDUALS] = {
    {"projected_gradient", METRIC(projected_gradient)},
    {"natural", METRIC(natural.rms)},
    {"complementarity_max", METRIC(complementarity_max)},
    {"primal_infeasibility", METRIC(primal_infeasibility)},
    {"siconos", METRIC(siconos)},
    {"siconos_over_q", METRIC(siconos_over_q)},
    {"velocity_error", LAB_NO_METRIC},
    {"natural_relative", METRIC(natural_relative)},
    {"natural_max", METRIC(natural.max)},
    {"complementarity_mean", METRIC(complementarity_mean)},
    {"complementarity_std", METRIC(complementarity_std)},
    {"duality_gap", METRIC(duality_gap)},
    {"cone_violation", METRIC(cone_violation)},
    {"dilation", METRIC(dilation)},
    {"bound_mismatch", METRIC(bound_mismatch)},
};

void lab_copy_metrics(const LabMetric *table, int count, const TalusMetrics *metrics, double *out)
{
    for (int i = 0; i < count; i++)
        if (table[i].offset < LAB_NO_METRIC)
            memcpy(&out[i], (const char *)metrics + table[i].offset, sizeof *out);
}

const char *lab_outcome_name(LabOutcome outcome)
{
    if (outcome <= LAB_DIVERGED)
        return talus_outcome_name((TalusOutcome)outcome);
    return outcome == LAB_UNSUPPORTED ? "unsupported" : "failed";
}

bool lab_outcome_is_measured(LabOutcome outcome)
{
    return outcome <= LAB_DIVERGED;
}

void lab_result_clear(LabResult *result)
{
    free(result->trace.row);
    result->trace = (LabTrace){0};
}

/* Writes a CSV field, in quotes if it contains a comma, a quote or a line break; quotes in it are doubled. */
static void put_csv_field(TalusFile *file, const char *text)
{
    if (!strpbrk(text, ",\"\n\r")) {
        talus_file_print(file, "%s", text);
        return;
    }
    talus_file_print(file, "\"");
    for (; *text; text++)
        talus_file_print(file, *text == '"' ? "\"\"" : "%c", *text);
    talus_file_print(file, "\"");
}

static void put_trace_row(TalusFile *file, const char *problem, const char *solver,
                          const double *row)
{
    put_csv_field(file, problem);
    talus_file_print(file, ",");
    put_csv_field(file, solver);
    for (int c = 0; c < LAB_COLUMNS; c++)
        if (isnan(row[c]))
            talus_file_print(file, ",");
        else
            talus_file_print(file, ",%.17g", row[c]);
    talus_file_print(file, "\n");
}

TalusStatus lab_write_traces(const LabSet *set, const char *path)
{
    TalusFile *file;
    TALUS_TRY(talus_file_create(path, &file));
    talus_file_print(file, "problem,solver");
    for (int c = 0; c < LAB_COLUMNS; c++)
        talus_file_print(file, ",%s", lab_columns[c].name);
    talus_file_print(file, "\n");
    for (int i = 0; i < set->result_count; i++) {
        const LabResult *r = &set->results[i];
        for (int k = 0; k < r->trace.count; k++)
            put_trace_row(file, set->problems[r->problem].name, r->solver, r->trace.row[k]);
    }
    return talus_file_commit(file);
}

/* Writes a cell; a bar would end it. */
static void put_markdown_cell(TalusFile *file, const char *cell)
{
    for (; *cell; cell++)
        talus_file_print(file, *cell == '|' ? "\\%c" : "%c", *cell);
}

void lab_table_write_markdown(const LabTable *t, TalusFile *file)
{
    talus_file_print(file, "**%s**\n\n", t->title);
    for (int i = 0; i < t->cells; i++) {
        bool last = i % t->columns == t->columns - 1;
        talus_file_print(file, i % t->columns ? " | " : "| ");
        put_markdown_cell(file, t->cell[i]);
        talus_file_print(file, last ? " |\n" : "");
        for (int k = 0; i == t->columns - 1 && k < t->columns; k++)
            talus_file_print(file, k < t->columns - 1 ? "|---" : "|---|\n");
    }
    if (t->note[0])
        talus_file_print(file, "\n%s\n", t->note);
    talus_file_print(file, "\n");
}

TalusStatus lab_set_write_markdown(const LabSet *set, const char *about)
{
    TalusFile *file;
    TALUS_TRY(cli_create_file(&file, "%s/tables.md", set->dir));
    talus_file_print(file, "%s\n\n", about);
    for (int i = 0; i < set->table_count; i++)
        lab_table_write_markdown(set->tables[i], file);
    return talus_file_commit(file);
}

TalusStatus lab_set_write_tables(const LabSet *set)
{
    for (int t = 0; t < set->table_count; t++) {
        const LabTable *table = set->tables[t];
        TalusFile *file;
        TALUS_TRY(cli_create_file(&file, "%s/table-%d.csv", set->dir, t + 1));
        for (int i = 0; i < table->cells; i++) {
            put_csv_field(file, table->cell[i]);
            talus_file_print(file, (i + 1) % table->columns ? "," : "\n");
        }
        TALUS_TRY(talus_file_commit(file));
    }
    return TALUS_OK;
}

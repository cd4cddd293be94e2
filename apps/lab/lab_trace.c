/* lab/lab_trace.c - names of columns and residuals, and traces as CSV. */
#include "lab.h"

#include "io/file/file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const lab_column_names[LAB_COLUMNS] = {"iteration",
                                                   "applies",
                                                   "seconds",
                                                   "objective",
                                                   "natural",
                                                   "natural_relative",
                                                   "natural_max",
                                                   "projected_gradient",
                                                   "complementarity_max",
                                                   "primal_infeasibility",
                                                   "active",
                                                   "active_changes",
                                                   "velocity_error"};

const char *const lab_residual_names[LAB_RESIDUALS] = {"projected_gradient",
                                                       "natural",
                                                       "complementarity_max",
                                                       "primal_infeasibility",
                                                       "siconos",
                                                       "siconos_over_q",
                                                       "velocity_error",
                                                       "natural_relative",
                                                       "natural_max",
                                                       "complementarity_mean",
                                                       "complementarity_std",
                                                       "duality_gap",
                                                       "cone_violation",
                                                       "dilation",
                                                       "bound_mismatch"};

const char *lab_outcome_name(LabOutcome outcome)
{
    if (outcome <= LAB_DIVERGED)
        return talus_outcome_name((TalusOutcome)outcome);
    return outcome == LAB_UNSUPPORTED ? "unsupported" : "failed";
}

bool lab_outcome_measured(LabOutcome outcome)
{
    return outcome <= LAB_DIVERGED;
}

void lab_result_clear(LabResult *result)
{
    free(result->trace.row);
    result->trace = (LabTrace){0};
}

/* Writes a CSV field, in quotes if it contains a comma or a quote. */
static void put_text(TalusFile *file, const char *text)
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

static void put_row(TalusFile *file, const char *problem, const char *solver, const double *row)
{
    put_text(file, problem);
    talus_file_print(file, ",");
    put_text(file, solver);
    for (int c = 0; c < LAB_COLUMNS; c++)
        if (isnan(row[c]))
            talus_file_print(file, ",");
        else
            talus_file_print(file, ",%.17g", row[c]);
    talus_file_print(file, "\n");
}

TalusStatus lab_write_csv(const LabSet *set, const char *path)
{
    TalusFile *file;
    TALUS_TRY(talus_file_create(path, &file));
    talus_file_print(file, "problem,solver");
    for (int c = 0; c < LAB_COLUMNS; c++)
        talus_file_print(file, ",%s", lab_column_names[c]);
    talus_file_print(file, "\n");
    for (int i = 0; i < set->result_count; i++) {
        const LabResult *r = &set->results[i];
        for (int k = 0; k < r->trace.count; k++)
            put_row(file, set->problems[r->problem].name, r->solver, r->trace.row[k]);
    }
    return talus_file_commit(file);
}

TalusStatus lab_set_write_tables(const LabSet *set)
{
    for (int t = 0; t < set->table_count; t++) {
        const LabTable *table = &set->tables[t];
        TalusFile *file;
        TALUS_TRY(cli_create_file(&file, "%s/table-%d.csv", set->dir, t + 1));
        for (int i = 0; i < table->cells; i++) {
            put_text(file, table->cell[i]);
            talus_file_print(file, (i + 1) % table->columns ? "," : "\n");
        }
        TALUS_TRY(talus_file_commit(file));
    }
    return TALUS_OK;
}

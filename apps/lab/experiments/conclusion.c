/* lab/experiments/conclusion.c - helpers of Experiment.conclude: find results and rows of traces. */
#include "experiment.h"

#include <math.h>
#include <string.h>

void experiment_format_label(const BenchRun *run, int divisor, char label[LAB_TEXT])
{
    const char *name = run->label ? run->label : run->solver;
    if (run->label_iterations)
        snprintf(label, LAB_TEXT, "%s %d", name, run->iterations / divisor);
    else
        snprintf(label, LAB_TEXT, "%s", name);
}

const LabResult *experiment_find_any_result(const LabSet *set, int problem, const char *label)
{
    for (int i = 0; i < set->result_count; i++)
        if (set->results[i].problem == problem && strcmp(set->results[i].solver, label) == 0)
            return &set->results[i];
    return NULL;
}

const LabResult *experiment_find_result(const LabSet *set, int problem, const char *label)
{
    const LabResult *r = experiment_find_any_result(set, problem, label);
    return r && lab_outcome_is_measured(r->outcome) && r->trace.count ? r : NULL;
}

const double *experiment_find_row_at(const LabResult *result, int iteration)
{
    const LabTrace *trace = &result->trace;
    int found = 0;
    for (int k = 0; k < trace->count && trace->row[k][LAB_ITERATION] <= iteration; k++)
        found = k;
    return trace->row[found];
}

const double *experiment_find_row_below(const LabResult *result, LabColumn column, double value)
{
    for (int k = 0; k < result->trace.count; k++)
        if (result->trace.row[k][column] <= value)
            return result->trace.row[k];
    return NULL;
}

double experiment_best_objective(const LabSet *set, int problem)
{
    double best = INFINITY;
    for (int i = 0; i < set->result_count; i++) {
        const LabResult *r = &set->results[i];
        if (r->problem == problem && lab_outcome_is_measured(r->outcome))
            best = fmin(best, r->objective);
    }
    return best;
}

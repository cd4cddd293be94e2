/* lab/experiments/experiment.c - the table of experiments, and what their conclusions share. */
#include "experiment.h"

#include "base/param.h"
#include "worlds.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

static const Experiment *const table[] = {&heyn_1, &heyn_2, &heyn_3, &preclik, &petra_opt};

enum { EXPERIMENTS = sizeof table / sizeof *table };

int experiment_count(void)
{
    return EXPERIMENTS;
}

const Experiment *experiment_row(int index)
{
    return table[index];
}

/* Those that run worlds are meant, too, when a name is misspelt. */
static const char *nearest(const char *name)
{
    enum { MOST = 32 };
    const char *names[MOST] = {"gpu"};
    int count = 1;
    for (int i = 0; i < EXPERIMENTS && count < MOST; i++)
        names[count++] = table[i]->name;
    for (int i = 0; worlds_row(i) && count < MOST; i++)
        names[count++] = worlds_row(i)->name;
    return talus_nearest(name, names, count);
}

const Experiment *experiment_find(const char *name)
{
    for (int i = 0; i < EXPERIMENTS; i++)
        if (strcmp(table[i]->name, name) == 0)
            return table[i];
    const char *near = nearest(name);
    if (near)
        cli_usage(&cli_bench, "no experiment '%s'; did you mean '%s'?", name, near);
    else
        cli_usage(&cli_bench, "no experiment '%s'; `talus list experiments` names them", name);
    return NULL;
}

void experiment_label(const BenchRun *run, int divisor, char label[LAB_TEXT])
{
    if (run->counted)
        snprintf(label, LAB_TEXT, "%s %d", run->solver, run->iterations / divisor);
    else
        snprintf(label, LAB_TEXT, "%s", run->solver);
}

/* ---- reading results ---- */

const LabResult *experiment_result(const LabSet *set, int problem, const char *label)
{
    for (int i = 0; i < set->result_count; i++) {
        const LabResult *r = &set->results[i];
        if (r->problem == problem && strcmp(r->solver, label) == 0)
            return lab_outcome_measured(r->outcome) && r->trace.count ? r : NULL;
    }
    return NULL;
}

const double *experiment_row_at(const LabResult *result, int iteration)
{
    const LabTrace *trace = &result->trace;
    int at = 0;
    for (int k = 0; k < trace->count && trace->row[k][LAB_ITERATION] <= iteration; k++)
        at = k;
    return trace->row[at];
}

const double *experiment_row_below(const LabResult *result, LabColumn column, double value)
{
    for (int k = 0; k < result->trace.count; k++)
        if (result->trace.row[k][column] <= value)
            return result->trace.row[k];
    return NULL;
}

double experiment_best(const LabSet *set, int problem)
{
    double best = INFINITY;
    for (int i = 0; i < set->result_count; i++) {
        const LabResult *r = &set->results[i];
        if (r->problem == problem && lab_outcome_measured(r->outcome))
            best = fmin(best, r->objective);
    }
    return best;
}

/* ---- statements ---- */

LabTable *experiment_claims(LabSet *set)
{
    return lab_set_table(set, "What the paper states, and what is found here",
                         "statement\tholds\tfound");
}

void experiment_verdict(LabTable *claims, const char *statement, const char *holds,
                        const char *format, ...)
{
    char text[LAB_TEXT];
    TALUS_FORMAT(text, format);
    lab_table_add(claims, "%s", statement);
    lab_table_add(claims, "%s", holds);
    lab_table_add(claims, "%s", text);
}

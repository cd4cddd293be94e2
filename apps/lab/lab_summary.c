/* lab/lab_summary.c - solvers over many problems. */
#include "lab.h"

#include <math.h>
#include <string.h>

typedef struct Total {
    int count[LAB_OUTCOMES], first;
    double applies, seconds, worst_error;
} Total;

/* Whether no other solver converged on that problem with fewer products. */
static bool is_cheapest(const LabSet *set, const LabResult *r)
{
    for (int i = 0; i < set->result_count; i++) {
        const LabResult *other = &set->results[i];
        if (other->problem == r->problem && other->outcome == LAB_CONVERGED &&
            other->applies < r->applies)
            return false;
    }
    return r->outcome == LAB_CONVERGED;
}

static Total total_of(const LabSet *set, const char *solver)
{
    Total t = {.worst_error = NAN};
    for (int i = 0; i < set->result_count; i++) {
        const LabResult *r = &set->results[i];
        if (strcmp(r->solver, solver) != 0)
            continue;
        t.count[r->outcome]++;
        t.first += is_cheapest(set, r);
        if (r->outcome != LAB_CONVERGED)
            continue;
        t.applies += r->applies;
        t.seconds += r->seconds;
        t.worst_error = fmax(t.worst_error, r->residual[LAB_R_VELOCITY_ERROR]);
    }
    return t;
}

static void add_solver(LabTable *table, const char *solver, const Total *t)
{
    lab_table_add(table, "%s", solver);
    lab_table_add(table, "%d", t->count[LAB_CONVERGED]);
    lab_table_add(table, "%d", t->count[LAB_BUDGET]);
    lab_table_add(table, "%d", t->count[LAB_DIVERGED] + t->count[LAB_FAILED]);
    lab_table_add(table, "%d", t->count[LAB_INFEASIBLE]);
    lab_table_add(table, "%d", t->count[LAB_UNSUPPORTED]);
    lab_table_add(table, "%d", t->first);
    if (t->count[LAB_CONVERGED]) {
        lab_table_add(table, "%.0f", t->applies);
        lab_table_add(table, "%.3f", t->seconds);
    } else {
        lab_table_add(table, "-");
        lab_table_add(table, "-");
    }
    if (isnan(t->worst_error))
        lab_table_add(table, "-");
    else
        lab_table_add(table, "%.1e", t->worst_error);
}

const LabTable *lab_set_summary(LabSet *set)
{
    static const char *const headings[] = {"solver",     "converged",   "budget", "diverged",
                                           "infeasible", "unsupported", "fewest", "products",
                                           "seconds",    "u error"};
    enum { COLUMNS = sizeof headings / sizeof *headings };
    LabTable *table = lab_set_table(set, "All problems", COLUMNS);
    for (int c = 0; c < COLUMNS; c++)
        lab_table_add(table, "%s", headings[c]);
    for (int i = 0; i < set->result_count && set->results[i].problem == 0; i++) {
        Total t = total_of(set, set->results[i].solver);
        add_solver(table, set->results[i].solver, &t);
    }
    snprintf(table->note, sizeof table->note,
             "Products, seconds and the largest velocity error are over the problems on which the "
             "solver converged; fewest: on how many it needed the fewest products.");
    return table;
}

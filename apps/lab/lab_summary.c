/* lab/lab_summary.c - table of solvers: their outcomes and cost over all problems of a set. */
#include "lab.h"

#include <math.h>
#include <string.h>

/* Figures of one solver: numbers of outcomes; of problems on which it is_cheapest; over the problems on which it
 * converged, sums of products and seconds and the largest velocity error, NAN without references. */
typedef struct Total {
    int count[LAB_OUTCOMES], first;
    double applies, seconds, worst_error;
} Total;

/* True if r converged and no result that converged on the same problem has fewer products; several may tie. */
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
    bool any = t->count[LAB_CONVERGED] > 0;
    lab_table_row(table, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%.0f\t%.3f\t%.1e", solver,
                  t->count[LAB_CONVERGED], t->count[LAB_BUDGET],
                  t->count[LAB_DIVERGED] + t->count[LAB_FAILED], t->count[LAB_INFEASIBLE],
                  t->count[LAB_UNSUPPORTED], t->first, any ? t->applies : NAN,
                  any ? t->seconds : NAN, t->worst_error);
}

const LabTable *lab_set_summary(LabSet *set)
{
    LabTable *table = lab_set_table(set, "All problems",
                                    "solver\tconverged\tbudget\tdiverged\tinfeasible\tunsupported\t"
                                    "fewest\tproducts\tseconds\tu error");
    for (int i = 0; i < set->result_count && set->results[i].problem == 0; i++) {
        Total t = total_of(set, set->results[i].solver);
        add_solver(table, set->results[i].solver, &t);
    }
    snprintf(table->note, sizeof table->note,
             "Products, seconds and the largest velocity error are over the problems on which the "
             "solver converged; fewest: on how many it needed the fewest products.");
    return table;
}

/* lab/lab_summary.c - table of solvers: their outcomes and cost over all problems of a set. */
#include "lab.h"

#include <math.h>
#include <string.h>

/* Figures of one solver over all problems; products, seconds and error are over the problems on which it converged. */
typedef struct SolverTotal {
    int count[LAB_OUTCOMES]; /* number of problems with each outcome */
    int cheapest;            /* number of problems on which no other solver needed fewer products */
    double products, seconds;
    double worst_error; /* largest velocity error; NAN without references */
} SolverTotal;

/* True if r converged and no result that converged on the same problem has fewer products; several may tie. */
static bool is_cheapest(const LabSet *set, const LabResult *r)
{
    for (int i = 0; i < set->result_count; i++) {
        const LabResult *other = &set->results[i];
        if (other->problem == r->problem && other->outcome == LAB_CONVERGED &&
            other->products < r->products)
            return false;
    }
    return r->outcome == LAB_CONVERGED;
}

/* Sums the results of a solver, named as in LabResult.solver, over all problems. */
static SolverTotal sum_results(const LabSet *set, const char *solver)
{
    SolverTotal t = {.worst_error = NAN};
    for (int i = 0; i < set->result_count; i++) {
        const LabResult *r = &set->results[i];
        if (strcmp(r->solver, solver) != 0)
            continue;
        t.count[r->outcome]++;
        t.cheapest += is_cheapest(set, r);
        if (r->outcome != LAB_CONVERGED)
            continue;
        t.products += r->products;
        t.seconds += r->seconds;
        t.worst_error = fmax(t.worst_error, r->residual[LAB_R_VELOCITY_ERROR]);
    }
    return t;
}

static void add_solver_row(LabTable *table, const char *solver, const SolverTotal *t)
{
    bool any = t->count[LAB_CONVERGED] > 0;
    lab_table_add_cells(table, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%.0f\t%.3f\t%.1e", solver,
                        t->count[LAB_CONVERGED], t->count[LAB_BUDGET],
                        t->count[LAB_DIVERGED] + t->count[LAB_FAILED], t->count[LAB_INFEASIBLE],
                        t->count[LAB_UNSUPPORTED], t->cheapest, any ? t->products : NAN,
                        any ? t->seconds : NAN, t->worst_error);
}

const LabTable *lab_set_add_summary(LabSet *set)
{
    LabTable *table =
        lab_set_add_table(set, "All problems",
                          "solver\tconverged\tbudget\tdiverged\tinfeasible\tunsupported\t"
                          "fewest\tproducts\tseconds\tu error");
    for (int i = 0; i < set->result_count && set->results[i].problem == 0; i++) {
        SolverTotal t = sum_results(set, set->results[i].solver);
        add_solver_row(table, set->results[i].solver, &t);
    }
    snprintf(table->note, sizeof table->note,
             "Products, seconds and the largest velocity error are over the problems on which the "
             "solver converged; fewest: on how many it needed the fewest products.");
    return table;
}

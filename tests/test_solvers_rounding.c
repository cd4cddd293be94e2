#include "solver_specs.h"
#include "support/exact.h"
static double worst_rms, worst_max;
static void one(TestProblem *p, TalusFrictionModel model, double tol)
{
    TalusProblem *problem = create(&p->def, NULL);
    if (talus_problem_rows(problem) > 1) CHECK_OK(talus_problem_set_friction(problem, model));
    TalusProblemDef def;
    const char *const sp[] = {"apgd", "ipm-soc", "prox", "gs"};
    for (int s = 0; s < 4; s++) {
    TalusSolver *solver; TalusSolveInfo info; TalusSolveOptions o = talus_solve_options_default();
    o.tolerance = tol; o.max_iterations = s ? 300 : 20000;
    CHECK_OK(talus_solver_create(sp[s], &solver));
    if (talus_solver_supports(solver, problem) != TALUS_OK) { talus_solver_destroy(solver); continue; }
    CHECK_OK(talus_solver_solve(solver, problem, &o, &info));
    CHECK_OK(talus_problem_export(problem, &def));
    TalusMetrics m;
    CHECK_OK(talus_problem_measure(problem, talus_problem_gamma(problem), &m));
    ExactResidual e = exact_residual(&def, talus_problem_rows(problem), talus_problem_gamma(problem), talus_problem_estimate(problem));
    double r1 = fabs((double)(e.rms - m.natural.rms)) / m.rounding.rms, r2 = fabs((double)(e.max - m.natural.max)) / m.rounding.max;
    if (r1 > worst_rms) worst_rms = r1;
    if (r2 > worst_max) worst_max = r2;
    printf("%-20s %-8s %d %s rms %.3e exact %.3Le rounding %.2e ratio %.3f max %.3f\n", p->name, sp[s], model.law, talus_outcome_name(info.outcome), m.natural.rms, e.rms, m.rounding.rms, r1, r2);
    talus_solver_destroy(solver);
    }
    talus_problem_destroy(problem);
}
TEST(measure)
{
    for (int law = 0; law < 3; law++) {
    TalusFrictionModel model = {.section = TALUS_SECTION_DISC, .law = (TalusFrictionLaw)law};
    TestProblem all[] = {make_column(20, 1000.0, 0.3), make_column(20, 1e5, 0.0), make_column(5, 1e5, 0.3), make_column(50, 1, 0.3),
      make_heap(&(HeapOptions){16, 5, 5, 5, 0.8, 0.0, 0.0}), make_heap(&(HeapOptions){17, 3, 3, 6, 0.3, 0.0, 0.5}), make_bowl(80, 0.3, 0.0), make_bowl(80, 0.0, 0.0), make_heap(&(HeapOptions){16, 8, 8, 12, 0.0, 0.0, 0.0}), make_heap(&(HeapOptions){16, 8, 8, 12, 0.3, 0.0, 0.0})};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) { one(&all[i], model, 1e-13); free_test_problem(&all[i]); }
    }
    printf("worst %.3f %.3f\n", worst_rms, worst_max);
}
int main(void) { RUN(measure); return talus_test_result(); }

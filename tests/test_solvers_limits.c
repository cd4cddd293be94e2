/* Solvers on problems without a solution, with broken numbers, or slow to converge; and heavy bodies. */

#include "solver_specs.h"

#include "backend/cpu/colour.h"

/* ---- problems without a solution ---- */

static void expect_infeasible(TestProblem *p)
{
    TalusProblem *problem = create(&p->def, NULL);
    FOR_SPECS (s, problem) {
        TalusSolveInfo info = solve_cold(specs[s].text, problem, 1e-6, 8200);
        blame(CHECK(info.outcome == TALUS_OUTCOME_INFEASIBLE), p->name, specs[s].text);
        TalusResidual truth = verify_residual(&p->def, talus_problem_gamma(problem));
        CHECK_NEAR(info.residual.rms, truth.rms,
                   1e-13 * verify_scale(&p->def, talus_problem_gamma(problem)) + 1e-9 * truth.rms);
    }
    talus_problem_destroy(problem);
    free_test_problem(p);
}

TEST(wedged_bodies_are_infeasible)
{
    TestProblem wedges[] = {make_wedge(0.3, 1), make_wedge(0.0, 1), make_wedge(0.0, 3),
                            make_wedge(0.4, 4)};
    for (int i = 0; i < 4; i++)
        expect_infeasible(&wedges[i]);
    TestProblem dense = make_wedge(0.3, 3), copy = make_dense_copy(&dense.def);
    copy.name = "explicit wedge";
    free_test_problem(&dense);
    expect_infeasible(&copy);
}

/* The certificate must be found among the impulses of a heap that settles at the same time. */
static void find_wedge_beside_heap(double mu)
{
    TestProblem heap = make_heap(&(HeapOptions){18, 4, 4, 3, mu, 0.0, 0.0});
    TestProblem wedge = make_wedge(mu, 1);
    TestProblem both = make_union(&heap.def, &wedge.def);
    both.name = "wedge beside a heap";
    free_test_problem(&heap);
    free_test_problem(&wedge);
    expect_infeasible(&both);
}

TEST(wedge_beside_a_heap_is_found)
{
    find_wedge_beside_heap(0.3);
    find_wedge_beside_heap(0.0);
}

/* Compliance in every contact gives: the wedge has a solution. */
static void solve_compliant_wedge(double mu)
{
    TestProblem p = make_wedge(mu, 1);
    for (int i = 0; i < p.def.contact_count; i++)
        ((TalusContactDef *)p.def.contacts)[i].compliance = 0.01;
    TalusProblem *problem = create(&p.def, NULL);
    FOR_SPECS (s, problem) {
        TalusSolveInfo info = solve_cold(specs[s].text, problem, 1e-9, 20000);
        blame(CHECK(info.outcome == TALUS_OUTCOME_CONVERGED), p.name, specs[s].text);
    }
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

TEST(compliant_wedge_is_solved)
{
    solve_compliant_wedge(0.3);
    solve_compliant_wedge(0.0);
}

/* Long runs on problems that converge slowly: whoever gives up too early is seen here. */
static void expect_feasible(TestProblem *p, int iterations)
{
    TalusProblem *problem = create(&p->def, NULL);
    FOR_SPECS (s, problem) {
        int fewer = factorises(&specs[s]) ? iterations / 8 : iterations;
        TalusSolveInfo info = solve_cold(specs[s].text, problem, 0.0, fewer);
        blame(CHECK(info.outcome == TALUS_OUTCOME_BUDGET), p->name, specs[s].text);
    }
    talus_problem_destroy(problem);
    free_test_problem(p);
}

TEST(slow_convergence_is_not_infeasible)
{
    const int many = SLOW ? 1100 : 4200; /* past a snapshot at a power of two */
    TestProblem p = make_column(20, 1000.0, 0.3);
    expect_feasible(&p, many);
    p = make_column(20, 1000.0, 0.0);
    expect_feasible(&p, many);
    p = make_column(5, 1e5, 0.3);
    expect_feasible(&p, many);
    p = make_column(50, 1.0, 0.3);
    expect_feasible(&p, many / 2);
    const int some = SLOW ? 300 : 600;
    p = make_heap(&(HeapOptions){16, 5, 5, 5, 0.8, 0.0, 0.0});
    expect_feasible(&p, some);
    p = make_heap(&(HeapOptions){17, 3, 3, 6, 0.3, 0.0, 0.5});
    expect_feasible(&p, some);
    p = make_bowl(80, 0.3, 0.0);
    expect_feasible(&p, some);
}

/* Solves from zero impulses, with the solver's state as it is in `state`. */
static void solve_from(TalusSolver *solver, TalusProblem *problem, const void *state, size_t size,
                       int iterations)
{
    TalusSolveOptions options = budget(0.0, iterations);
    TalusSolveInfo info;
    set_gamma(problem, NULL);
    CHECK_OK(talus_solver_state_load(solver, state, size));
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
}

/* The look for a certificate needs operator products. It must not disturb an iteration that keeps its
 * velocities or wrenches in the operator's scratch: the matrix written out has no such thing. Both forms go on from the
 * state after one iteration, for they estimate the first norm from different vectors. */
TEST(looking_for_a_certificate_changes_nothing)
{
    TestProblem p = make_column(12, 300.0, 0.3), dense = make_dense_copy(&p.def);
    TalusProblem *free_form = create(&p.def, NULL), *written = create(&dense.def, NULL);
    const char *const exact[] = {"apgd:metric=trace,restart=off", "gs:order=forward", "jacobi"};
    for (int s = 0; s < 3; s++) {
        TalusSolver *solver = solver_of(exact[s]);
        TalusSolveOptions one = budget(0.0, 1);
        TalusSolveInfo info;
        CHECK_OK(talus_solver_solve(solver, written, &one, &info));
        size_t size = talus_solver_state_size(solver);
        void *state = malloc(size + 1);
        talus_solver_state_save(solver, state);
        for (int iterations = 100; iterations <= 700; iterations += 200) {
            double *a = talus_problem_gamma(free_form), *b = talus_problem_gamma(written);
            solve_from(solver, free_form, state, size, iterations);
            solve_from(solver, written, state, size, iterations);
            double scale = verify_scale(&p.def, a);
            blame(CHECK_NEAR(largest_difference(a, b, verify_size(&p.def)), 0.0, 1e-9 * scale),
                  p.name, exact[s]);
        }
        free(state);
        talus_solver_destroy(solver);
    }
    talus_problem_destroy(free_form);
    talus_problem_destroy(written);
    free_test_problem(&p);
    free_test_problem(&dense);
}

/* ---- broken numbers ---- */

static void expect_divergence(TestProblem *p)
{
    TalusProblem *problem = create(&p->def, NULL);
    int n = talus_problem_size(problem);
    FOR_SPECS (s, problem) {
        TalusSolver *solver = solver_of(specs[s].text);
        TalusSolveOptions options = budget(1e-6, 50);
        TalusSolveInfo info;
        double *gamma = talus_problem_gamma(problem), left = 0.0;
        for (int k = 0; k < n; k++)
            gamma[k] = k % talus_problem_rows(problem) ? 0.0 : 0.25;
        CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
        bool ok = CHECK(info.outcome == TALUS_OUTCOME_DIVERGED);
        for (int k = 0; k < n; k++)
            left += fabs(gamma[k]);
        ok &= CHECK(left == 0.0);
        TestProblem good = make_explicit(21, 9, talus_problem_rows(problem));
        TalusProblem *next = create(&good.def, NULL); /* the solver has not kept the NaN */
        options = budget(1e-9, 20000);
        CHECK_OK(talus_solver_solve(solver, next, &options, &info));
        ok &= CHECK(info.outcome == TALUS_OUTCOME_CONVERGED);
        blame(ok, p->name, specs[s].text);
        talus_problem_destroy(next);
        free_test_problem(&good);
        talus_solver_destroy(solver);
    }
    talus_problem_destroy(problem);
    free_test_problem(p);
}

TEST(nan_is_divergence_and_leaves_no_impulses)
{
    for (int i = 0; i < 8; i++) {
        bool explicit = i % 4 == 3;
        HeapOptions options = {22, 3, 3, 2, i < 4 ? 0.3 : 0.0, 0.0, i % 4 == 1 ? 0.5 : 0.0};
        TestProblem p = explicit ? make_explicit(23, 12, i < 4 ? 3 : 1) : make_heap(&options);
        double *values = (double *)(explicit ? p.def.offset : p.def.free_velocity);
        values[i % 4 == 2 ? 1 : 6] = i % 2 ? NAN : INFINITY;
        p.name = explicit ? "explicit with NaN" : "heap with NaN";
        expect_divergence(&p);
    }
}

/* ---- one body with very many contacts ---- */

static void check_colours(TalusProblem *problem, int heavy)
{
    TalusColouring colouring = {0};
    CHECK_OK(talus_colour_contacts(talus_problem_operator(problem), &colouring));
    CHECK(colouring.colours <= 8);
    CHECK_INT(colouring.count[CLASS_HEAVY][2], heavy);
    CHECK_INT(colouring.count[CLASS_OVERFLOW][2], 0);
    talus_colouring_clear(&colouring);
}

/* Coloured sweeps treat the heavy body's contacts side by side; that must neither change the answer
 * nor cost many more sweeps. */
static void same_as_forward(TestProblem *p, int heavy)
{
    TalusProblem *problem = create(&p->def, NULL);
    double tolerance = 1e-10 * start_residual(problem);
    int n;
    check_colours(problem, heavy);
    TalusSolveInfo forward = solve_cold("gs:order=forward", problem, tolerance, 20000);
    double *expected = velocities_of(&p->def, problem, &n);
    TalusSolveInfo coloured = solve_cold("gs:order=coloured", problem, tolerance, 20000);
    CHECK(forward.outcome == TALUS_OUTCOME_CONVERGED);
    CHECK(coloured.outcome == TALUS_OUTCOME_CONVERGED);
    CHECK(coloured.iterations <= 10 * forward.iterations);
    check_report(&p->def, talus_problem_gamma(problem), &coloured, tolerance);
    same_velocities(p, problem, expected);
    free(expected);
    talus_problem_destroy(problem);
    free_test_problem(p);
}

TEST(heavy_body_needs_few_colours)
{
    TestProblem p = make_bowl(1200, 0.3, 0.0);
    same_as_forward(&p, 1200);
    p = make_bowl(1200, 0.0, 0.0);
    same_as_forward(&p, 1200);
    p = make_bowl(300, 0.3, 0.0);
    ((double *)p.def.radius)[0] = 0.0; /* no sphere any more: contacts of the general form */
    same_as_forward(&p, 300);
}

int main(void)
{
    RUN(wedged_bodies_are_infeasible);
    RUN(wedge_beside_a_heap_is_found);
    RUN(compliant_wedge_is_solved);
    RUN(slow_convergence_is_not_infeasible);
    RUN(looking_for_a_certificate_changes_nothing);
    RUN(nan_is_divergence_and_leaves_no_impulses);
    RUN(heavy_body_needs_few_colours);
    return talus_test_result();
}

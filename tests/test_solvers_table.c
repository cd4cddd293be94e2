/* What every solver of the table promises, without being entered anywhere else: no unit in any of
 * its constants. (Threads, budgets, known optima: test_solvers*.c. Observers: test_metrics.c.) */

#include "support/problems.h"
#include "support/test.h"
#include "verify/verify.h"

#include <stdio.h>
#include <string.h>
#include <talus/solver.h>

/* MASS of 1/m: an even power, for the root of it. */
static const double MASS = 0x1p-30, SPEED = 0x1p-20, LENGTH = 0x1p10;

static void scale(double *x, size_t count, double factor)
{
    for (size_t k = 0; k < count; k++)
        x[k] *= factor;
}

/* The same problem in other units of mass, speed and length. */
static TestProblem in_other_units(const TalusProblemDef *def)
{
    TestProblem p = copy_test_problem(def, "other units");
    TalusContactDef *contacts = (TalusContactDef *)p.def.contacts;
    size_t bodies = (size_t)def->body_count;
    if (!def->contacts) {
        int n = verify_size(def);
        scale((double *)p.def.values, (size_t)def->row_start[n], MASS);
        scale((double *)p.def.offset, (size_t)n, SPEED);
        return p;
    }
    scale((double *)p.def.inv_mass, bodies, MASS);
    scale((double *)p.def.inv_inertia, bodies * sizeof(TalusSym3) / sizeof(double),
          MASS / (LENGTH * LENGTH));
    if (def->radius)
        scale((double *)p.def.radius, bodies, LENGTH);
    scale((double *)p.def.free_velocity, 6 * bodies, SPEED);
    for (size_t i = 0; i < bodies; i++)
        scale((double *)p.def.free_velocity + 6 * i + 3, 3, 1.0 / LENGTH);
    for (int i = 0; i < def->contact_count; i++) {
        contacts[i].bias *= SPEED;
        contacts[i].compliance *= MASS;
        scale(&contacts[i].arm_a.x, 3, LENGTH);
        scale(&contacts[i].arm_b.x, 3, LENGTH);
        contacts[i].length *= LENGTH;
    }
    return p;
}

static TalusSolveInfo run(const char *name, TalusProblem *problem)
{
    TalusSolver *solver = NULL;
    TalusSolveInfo info = {.outcome = TALUS_OUTCOME_DIVERGED};
    TalusSolveOptions options = talus_solve_options_default();
    double *gamma = talus_problem_gamma(problem);
    TalusResidual start;
    memset(gamma, 0, (size_t)talus_problem_size(problem) * sizeof *gamma);
    talus_problem_residual(problem, gamma, &start);
    options.tolerance = 1e-12 * start.rms; /* beyond it some come to numbers that underflow */
    options.max_iterations = 70;           /* past the first look for a certificate */
    CHECK_OK(talus_solver_create(name, &solver));
    if (talus_solver_supports(solver, problem) == TALUS_OK)
        CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    talus_solver_destroy(solver);
    return info;
}

static void solve_in_both(TestProblem p, TalusFrictionModel model)
{
    TestProblem other = in_other_units(&p.def);
    TalusProblem *a = NULL, *b = NULL;
    REQUIRE_OK(talus_problem_create(&p.def, NULL, &a));
    REQUIRE_OK(talus_problem_create(&other.def, NULL, &b));
    REQUIRE_OK(talus_problem_set_friction(a, model));
    REQUIRE_OK(talus_problem_set_friction(b, model));
    for (int s = 0; s < talus_solver_count(); s++) {
        const char *name = talus_solver_row(s).name;
        if (talus_solver_row(s).missing)
            continue;
        TalusSolveInfo first = run(name, a), second = run(name, b);
        const double *x = talus_problem_gamma(a), *y = talus_problem_gamma(b);
        int differ = 0;
        for (int k = 0; k < talus_problem_size(a); k++)
            differ += x[k] * (SPEED / MASS) != y[k];
        bool ok = CHECK_INT(differ, 0);
        ok &=
            CHECK_INT(first.outcome, second.outcome) && CHECK_INT(first.products, second.products);
        ok &= CHECK(first.residual.rms * SPEED == second.residual.rms);
        if (!ok)
            printf("    with %s on %s, %s x %s\n", name, p.name, talus_law_name(model.law),
                   talus_section_name(model.section));
    }
    talus_problem_destroy(a);
    talus_problem_destroy(b);
    free_test_problem(&p);
    free_test_problem(&other);
}

TEST(units_do_not_show)
{
    const TalusFrictionModel plain = {0};
    solve_in_both(make_explicit(51, 40, 1), plain);
    solve_in_both(make_explicit(52, 40, 3), plain);
    solve_in_both(make_heap(&(HeapOptions){53, 4, 4, 3, 0.0, 0.0, 0.2}), plain);
    solve_in_both(make_heap(&(HeapOptions){54, 4, 4, 3, 0.4, 0.01, 0.2}), plain);
}

TEST(units_do_not_show_under_any_law)
{
    for (int law = 0; law < TALUS_LAWS; law++)
        for (int section = 0; section < TALUS_SECTION_JOINT; section++) {
            TalusFrictionModel model = {(TalusSection)section, (TalusFrictionLaw)law, 0};
            if (section == TALUS_SECTION_NONE || (section == TALUS_SECTION_DISC && law == 0))
                continue;
            model.sides = section == TALUS_SECTION_POLYGON ? 6 : 0;
            solve_in_both(make_explicit(55, 30, 3), model);
            solve_in_both(make_heap(&(HeapOptions){56, 3, 3, 3, 0.6, 0.01, 0.4}), model);
        }
}

int main(void)
{
    RUN(units_do_not_show);
    RUN(units_do_not_show_under_any_law);
    return talus_test_result();
}

/* FCLIB's local form of problems with bodies: W = N + E and q, by other code; the same problem when read back, and the
 * same figures as the global form; what each form refuses. */
#include "support/test.h"

#include "base/memory.h"
#include "io/problem/fclib.h"
#include "linalg/sparse.h"
#include "support/joints.h"
#include "support/problems.h"
#include "support/verified.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <talus/io.h>
#include <talus/solver.h>

static const TalusFrictionModel coulomb = {.law = TALUS_LAW_COULOMB};

static TalusProblem *create(const TalusProblemDef *def)
{
    TalusProblem *problem = NULL;
    CHECK_OK(talus_problem_create(def, NULL, &problem));
    return problem;
}

static void solve(TalusProblem *problem, double tolerance, int iterations)
{
    TalusSolver *solver;
    TalusSolveInfo info;
    TalusSolveOptions options = talus_solve_options_default();
    options.tolerance = tolerance;
    options.max_iterations = iterations;
    REQUIRE_OK(talus_solver_create("apgd", &solver));
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    talus_solver_destroy(solver);
}

static double largest_of(const double *x, size_t count)
{
    double largest = 0.0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs(x[i]));
    return largest;
}

/* ---- W and q ---- */

/* W and q, whose normal rows are every third one if the problem has one row per contact. */
static void check_matrix(const TalusFclib *f, const TalusProblemDef *def)
{
    size_t n = (size_t)verify_size(def), step = 3 / (size_t)verify_rows(def);
    double *matrix = calloc(n * n + n, sizeof *matrix), *q = matrix + n * n;
    REQUIRE(matrix != NULL);
    verify_matrix(def, matrix);
    verify_velocity(def, NULL, q);
    double scale = largest_of(matrix, n * n), error = 0.0;
    for (size_t i = 0; i < n; i++) {
        for (int32_t k = f->W.start[step * i]; k < f->W.start[step * i + 1]; k++) {
            REQUIRE(f->W.column[k] % (int)step == 0);
            matrix[i * n + (size_t)f->W.column[k] / step] -= f->W.value[k];
        }
        CHECK_NEAR(f->q[step * i], q[i], 1e-13 * (1.0 + fabs(q[i])));
    }
    error = largest_of(matrix, n * n);
    if (!CHECK(error <= 1e-14 * scale))
        printf("    W is off by %g of %g\n", error, scale);
    free(matrix);
}

/* In a local form with one row per contact the tangents have a diagonal entry alone. */
static void check_tangents(const TalusFclib *f, const TalusProblemDef *def)
{
    for (int i = 0; verify_rows(def) == 1 && i < f->W.rows; i++)
        if (i % 3) {
            CHECK_INT(f->W.start[i + 1] - f->W.start[i], 1);
            CHECK_INT(f->W.column[f->W.start[i]], i);
            CHECK(f->q[i] == 0.0);
        }
}

static void check_local(const TalusFclib *f, const TalusProblemDef *def)
{
    TalusSparse transposed;
    double asymmetry;
    REQUIRE(!f->global && f->contacts == def->contact_count && f->W.rows == 3 * f->contacts);
    REQUIRE_OK(talus_sparse_transpose(&f->W, &transposed));
    CHECK(talus_sparse_equal(&f->W, &transposed));
    talus_sparse_clear(&transposed);
    CHECK_OK(talus_fclib_asymmetry(f, &asymmetry));
    CHECK(asymmetry == 0.0 && verify_fclib_asymmetry(f) == 0.0);
    for (int i = 0; i < f->contacts; i++)
        CHECK(f->mu[i] == verify_mu(def, i));
    check_matrix(f, def);
    check_tangents(f, def);
}

static const HeapOptions heaps[] = {
    {.seed = 1, .nx = 3, .ny = 2, .nz = 2, .mu = 0.4, .compliance = 2e-3, .general = 0.4},
    {.seed = 2, .nx = 2, .ny = 2, .nz = 3, .mu = 0.3, .compliance = 0.1},
    {.seed = 3, .nx = 3, .ny = 2, .nz = 2, .mu = 0.0, .compliance = 1e-2, .general = 0.3}};
enum { HEAPS = sizeof heaps / sizeof *heaps };

/* Compliance asks for the local form; every entry is that of code that knows bodies and contacts alone. */
TEST(compliance_is_in_the_matrix)
{
    for (int k = 0; k < HEAPS; k++) {
        TestProblem p = make_heap(&heaps[k]);
        TalusProblem *problem = create(&p.def);
        TalusFclib *f;
        REQUIRE_OK(talus_fclib_from_problem(problem, "heap", &f));
        check_local(f, &p.def);
        CHECK(strstr(f->description, "W contains the compliance of") != NULL);
        CHECK(!strstr(f->description, "friction law") == (heaps[k].mu == 0.0));
        CHECK(strstr(f->math_info, "compliance E on the diagonal") != NULL);
        talus_fclib_destroy(f);
        talus_problem_destroy(problem);
        free_test_problem(&p);
    }
}

/* Both measures of asymmetry see an entry that differs from its mirror image, is 0 there, or has none. */
TEST(an_unsymmetric_matrix_is_noticed)
{
    TestProblem p = make_heap(&heaps[1]);
    TalusProblem *problem = create(&p.def);
    TalusFclib *f;
    REQUIRE_OK(talus_fclib_from_problem(problem, "heap", &f));
    for (int32_t k = 0; k < f->W.start[1]; k++) {
        double first, kept = f->W.value[k];
        f->W.value[k] = k % 2 ? 0.0 : 1.5 * kept;
        CHECK_OK(talus_fclib_asymmetry(f, &first));
        CHECK((first > 0.0) == (f->W.column[k] != 0));
        CHECK_NEAR(verify_fclib_asymmetry(f), first, 1e-12 * first);
        f->W.value[k] = kept;
    }
    talus_fclib_destroy(f);
    int32_t start[] = {0, 2, 3, 4}, column[] = {0, 1, 1, 2};
    double value[] = {2.0, 1.0, 2.0, 2.0}, q[3] = {0.0}, asymmetry;
    TalusFclib one = {.dimension = 3, .contacts = 1, .W = {3, 3, start, column, value}, .q = q};
    CHECK_OK(talus_fclib_asymmetry(&one, &asymmetry));
    CHECK_NEAR(asymmetry, sqrt(2.0 / 13.0), 1e-14);
    CHECK_NEAR(verify_fclib_asymmetry(&one), sqrt(2.0 / 13.0), 1e-14);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

/* Guess 1 holds the impulses, and u = W r + q, which is the gradient: compliance counts in it. */
TEST(the_guess_holds_the_gradient)
{
    TestProblem p = make_heap(&heaps[0]);
    TalusProblem *problem = create(&p.def);
    TalusFclib *f;
    int n = talus_problem_size(problem);
    solve(problem, 0.0, 20);
    double *gamma = talus_problem_gamma(problem), *gradient = calloc((size_t)n, sizeof *gradient);
    REQUIRE(gradient != NULL);
    verify_gradient(&p.def, gamma, gradient);
    REQUIRE_OK(talus_fclib_from_problem(problem, "heap", &f));
    REQUIRE(f->guess_count == 1);
    CHECK(memcmp(f->guesses[0].r, gamma, (size_t)n * sizeof *gamma) == 0);
    for (int i = 0; i < n; i++)
        CHECK_NEAR(f->guesses[0].u[i], gradient[i], 1e-13 * (1.0 + fabs(gradient[i])));
    free(gradient);
    talus_fclib_destroy(f);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

/* ---- there and back ---- */

/* The impulses of one problem measured on the other, by the library and by other code that reads the file. */
static void compare_measures(TalusProblem *problem, TalusProblem *back, const TalusFclib *f,
                             TalusFrictionModel model)
{
    TalusMetrics own, file, verified;
    VerifyPoint point;
    const char *reason = "";
    const double *gamma = talus_problem_gamma(problem);
    int rows = talus_problem_rows(problem);
    double *r = calloc(3 * (size_t)f->contacts, sizeof *r);
    REQUIRE(r != NULL && talus_problem_rows(back) == rows);
    for (int i = 0; i < f->contacts * rows; i++)
        r[i / rows * 3 + i % rows] = gamma[i];
    CHECK_OK(talus_problem_measure(problem, gamma, &own));
    CHECK_OK(talus_problem_measure(back, gamma, &file));
    REQUIRE(verify_fclib_point(f, model, r, &point, NULL, &reason));
    verify_measure(&point, &verified);
    const TalusMetrics *const others[] = {&file, &verified};
    for (int k = 0; k < 2; k++) {
        CHECK_NEAR(others[k]->siconos, own.siconos, 1e-9 * own.siconos);
        CHECK_NEAR(others[k]->natural.rms, own.natural.rms, 1e-9 * own.natural.rms);
        CHECK_NEAR(others[k]->objective, own.objective, 1e-12 * fabs(own.objective));
    }
    verify_point_free(&point);
    free(r);
}

/* Solves both to the same velocities: contact velocities are unique, impulses need not be. */
static void compare_solutions(TalusProblem *problem, TalusProblem *back)
{
    int n = talus_problem_size(problem);
    double *u = calloc(2 * (size_t)n, sizeof *u);
    REQUIRE(u != NULL);
    solve(problem, 1e-11, 20000);
    solve(back, 1e-11, 20000);
    talus_problem_gradient(problem, talus_problem_gamma(problem), u);
    talus_problem_gradient(back, talus_problem_gamma(back), u + n);
    for (int i = 0; i < n; i++)
        CHECK_NEAR(u[i], u[n + i], 1e-8);
    free(u);
}

static void check_round_trip(const TalusProblemDef *def, TalusFclibForm form,
                             TalusFrictionModel model)
{
    TalusProblem *problem = create(def), *back;
    TalusFclib *f, *read;
    REQUIRE_OK(talus_problem_set_friction(problem, model));
    REQUIRE_OK(talus_fclib_from_problem_as(problem, form, "heap", &f));
    REQUIRE_OK(talus_fclib_write("local.hdf5", f));
    REQUIRE_OK(talus_problem_open("local.hdf5", &model, NULL, &back, &read));
    CHECK(read->global == (form == TALUS_FCLIB_GLOBAL));
    if (!f->global) {
        CHECK(talus_sparse_equal(&f->W, &read->W));
        CHECK(memcmp(f->q, read->q, 3 * (size_t)f->contacts * sizeof *f->q) == 0);
    }
    CHECK_STR(read->description, f->description);
    solve(problem, 0.0, 30);
    compare_measures(problem, back, read, model);
    compare_solutions(problem, back);
    talus_fclib_destroy(f);
    talus_fclib_destroy(read);
    talus_problem_destroy(problem);
    talus_problem_destroy(back);
}

TEST(compliant_problems_come_back)
{
    if (!talus_fclib_available())
        SKIP("this build has no HDF5");
    for (int k = 0; k < HEAPS; k++) {
        TestProblem p = make_heap(&heaps[k]);
        check_round_trip(&p.def, TALUS_FCLIB_AUTO, (TalusFrictionModel){0});
        check_round_trip(&p.def, TALUS_FCLIB_LOCAL, coulomb);
        free_test_problem(&p);
    }
}

/* A rigid problem in both forms: the figures of the same impulses, Siconos's measure above all, are those of the problem
 * itself, so they agree with each other. */
TEST(rigid_problems_in_either_form)
{
    static const TalusFclibForm forms[] = {TALUS_FCLIB_GLOBAL, TALUS_FCLIB_LOCAL};
    if (!talus_fclib_available())
        SKIP("this build has no HDF5");
    for (int k = 0; k < HEAPS; k++)
        for (int form = 0; form < 2; form++) {
            HeapOptions rigid = heaps[k];
            rigid.compliance = 0.0;
            TestProblem p = make_heap(&rigid);
            check_round_trip(&p.def, forms[form], coulomb);
            check_round_trip(&p.def, forms[form], (TalusFrictionModel){0});
            free_test_problem(&p);
        }
}

/* ---- what the forms refuse ---- */

static void expect_refused(TalusProblem *problem, TalusFclibForm form, const char *text)
{
    TalusFclib *f;
    TalusStatus status = talus_fclib_from_problem_as(problem, form, "", &f);
    CHECK(status == TALUS_ERR_UNSUPPORTED || status == TALUS_ERR_ARGUMENT);
    CHECK(f == NULL);
    if (!CHECK(strstr(talus_error(), text) != NULL))
        printf("    %s\n", talus_error());
}

TEST(the_global_form_refuses_compliance_and_matrices)
{
    TestProblem p = make_heap(&heaps[0]), matrix = make_explicit(5, 4, 3);
    TalusProblem *problem = create(&p.def), *explicit_problem = create(&matrix.def);
    expect_refused(problem, TALUS_FCLIB_GLOBAL,
                   "contact 1 has compliance; FCLIB's global form has no place for it; its local "
                   "form (`--form local`) has it in W, and `-o file.talus` keeps it");
    expect_refused(explicit_problem, TALUS_FCLIB_GLOBAL, "expected the local form");
    talus_problem_destroy(problem);
    talus_problem_destroy(explicit_problem);
    free_test_problem(&p);
    free_test_problem(&matrix);
}

TEST(moments_and_joints_are_refused)
{
    TestProblem p = make_heap(&heaps[0]);
    TalusContactDef *contacts = calloc((size_t)p.def.contact_count, sizeof *contacts);
    REQUIRE(contacts != NULL);
    memcpy(contacts, p.def.contacts, (size_t)p.def.contact_count * sizeof *contacts);
    contacts[2].rolling = 0.1;
    contacts[2].length = 0.1;
    TalusProblemDef def = p.def;
    def.contacts = contacts;
    TalusProblem *problem = create(&def);
    expect_refused(problem, TALUS_FCLIB_AUTO, "contact 2 has spinning or rolling friction; FCLIB");
    talus_problem_destroy(problem);
    free(contacts);
    free_test_problem(&p);

    TestProblem machine = make_joints(&(JointOptions){.seed = 7, .links = 3, .extras = true});
    problem = create(&machine.def);
    expect_refused(problem, TALUS_FCLIB_LOCAL, "is a joint; FCLIB has contacts alone");
    expect_refused(problem, TALUS_FCLIB_AUTO, "is a joint; FCLIB has contacts alone");
    talus_problem_destroy(problem);
    free_test_problem(&machine);
}

/* A body that turns about one axis only has no mass matrix, but W. */
TEST(a_body_that_turns_about_one_axis)
{
    static const double inv_mass[1] = {0.5}, velocity[6] = {0.1, 0.2, -1.0, 0.0, 0.0, 0.3};
    static const TalusSym3 inertia[1] = {{.zz = 2.0}};
    const TalusContactDef contact = {
        .a = 0, .b = -1, .normal = {0.6, 0.0, -0.8}, .arm_a = {0.5, 0.4, 0.1}, .mu = 0.3};
    TalusProblemDef def = {.body_count = 1,
                           .inv_mass = inv_mass,
                           .inv_inertia = inertia,
                           .free_velocity = velocity,
                           .contact_count = 1,
                           .contacts = &contact};
    TalusProblem *problem = create(&def);
    TalusFclib *f;
    expect_refused(problem, TALUS_FCLIB_AUTO, "its local form (`--form local`) has");
    REQUIRE_OK(talus_fclib_from_problem_as(problem, TALUS_FCLIB_LOCAL, "axis", &f));
    check_local(f, &def);
    talus_fclib_destroy(f);
    talus_problem_destroy(problem);
}

/* A plate on `count` grains: its contacts all couple with each other. */
static void check_plate(int count, bool fits)
{
    TestProblem p = {0};
    int bodies = count + 1;
    double *inv_mass = test_memory(&p, (size_t)bodies, sizeof *inv_mass);
    double *velocity = test_memory(&p, 6 * (size_t)bodies, sizeof *velocity);
    TalusSym3 *inertia = test_memory(&p, (size_t)bodies, sizeof *inertia);
    TalusContactDef *contacts = test_memory(&p, (size_t)count, sizeof *contacts);
    for (int i = 0; i < bodies; i++) {
        inv_mass[i] = 1.0;
        inertia[i] = (TalusSym3){.xx = 2.0, .yy = 2.0, .zz = 2.0};
    }
    for (int i = 0; i < count; i++)
        contacts[i] = (TalusContactDef){.a = i,
                                        .b = count,
                                        .normal = {0.0, 0.0, 1.0},
                                        .arm_a = {0.0, 0.0, 0.5},
                                        .arm_b = {0.01 * i, 0.0, -0.5},
                                        .mu = 0.3,
                                        .compliance = 1e-3};
    p.def = (TalusProblemDef){.body_count = bodies,
                              .inv_mass = inv_mass,
                              .inv_inertia = inertia,
                              .free_velocity = velocity,
                              .contact_count = count,
                              .contacts = contacts};
    TalusProblem *problem = create(&p.def);
    TalusFclib *f = NULL;
    if (fits)
        CHECK_OK(talus_fclib_from_problem(problem, "plate", &f));
    else
        expect_refused(problem, TALUS_FCLIB_AUTO,
                       "contacts would have more than 100000000 entries in W, which couples all "
                       "contacts of a body with each other; `-o file.talus` stores bodies and "
                       "contacts instead");
    talus_fclib_destroy(f);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

/* (3 x 3334)^2 entries are too many; a problem of far more is refused as soon as the count has passed the limit. */
TEST(a_matrix_that_is_too_large_is_refused)
{
    check_plate(100, true);
    check_plate(3334, false);
    check_plate(300000, false);
}

/* ---- memory ---- */

TEST(any_allocation_may_fail)
{
    TestProblem p = make_heap(&heaps[0]);
    TalusProblem *problem = create(&p.def);
    bool done = false;
    int failures = 0;
    for (int n = 1; !done && n < 1000; n++) {
        TalusFclib *f = NULL;
        talus_fail_allocation_in(n);
        TalusStatus status = talus_fclib_from_problem(problem, "heap", &f);
        talus_fail_allocation_in(0);
        CHECK(status == TALUS_OK || status == TALUS_ERR_MEMORY);
        CHECK(!f == (status != TALUS_OK));
        done = status == TALUS_OK;
        failures += !done;
        talus_fclib_destroy(f);
    }
    CHECK(done && failures > 10);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

int main(void)
{
    RUN(compliance_is_in_the_matrix);
    RUN(an_unsymmetric_matrix_is_noticed);
    RUN(the_guess_holds_the_gradient);
    RUN(compliant_problems_come_back);
    RUN(rigid_problems_in_either_form);
    RUN(the_global_form_refuses_compliance_and_matrices);
    RUN(moments_and_joints_are_refused);
    RUN(a_body_that_turns_about_one_axis);
    RUN(a_matrix_that_is_too_large_is_refused);
    RUN(any_allocation_may_fail);
    return talus_test_result();
}

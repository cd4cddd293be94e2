/* The Problem object: what it refuses and why, its data out and in again, order and form. */

#include "support/problems.h"
#include "support/test.h"
#include "verify/verify.h"

#include "base/memory.h"
#include "base/rng.h"
#include "problem/problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <talus/solver.h>

/* ---- what is refused ---- */

static void refuse(const TalusProblemDef *def, const char *message)
{
    TalusProblem *problem = NULL;
    CHECK_INT(talus_problem_create(def, NULL, &problem), TALUS_ERR_ARGUMENT);
    CHECK(!problem);
    CHECK_STR(talus_error(), message);
}

/* A column of two spheres, one of whose contacts the test spoils. */
typedef struct Spoil {
    TestProblem p;
    TalusContactDef *contact;
} Spoil;

static Spoil fresh(void)
{
    Spoil s = {.p = make_column(2, 1.0, 0.3)};
    s.contact = (TalusContactDef *)s.p.def.contacts + 1;
    return s;
}

static void refuse_and_free(Spoil *s, const char *message)
{
    refuse(&s->p.def, message);
    free_test_problem(&s->p);
}

TEST(bad_contacts_are_refused)
{
    Spoil s = fresh();
    s.contact->a = 2;
    refuse_and_free(&s, "contact 1: bodies 2 and -1 of 2");
    s = fresh();
    s.contact->a = -1;
    refuse_and_free(&s, "contact 1: bodies -1 and -1 of 2");
    s = fresh();
    s.contact->b = -2;
    refuse_and_free(&s, "contact 1: bodies 0 and -2 of 2");
    s = fresh();
    s.contact->b = 0;
    refuse_and_free(&s, "contact 1: bodies 0 and 0 of 2");
    s = fresh();
    s.contact->normal.z = 2.0;
    refuse_and_free(&s, "contact 1: normal has length 2, expected 1");
    s = fresh();
    s.contact->normal.x = NAN;
    refuse_and_free(&s, "contact 1: normal has length nan, expected 1");
}

TEST(bad_numbers_are_refused)
{
    Spoil s = fresh();
    s.contact->mu = -0.5;
    refuse_and_free(&s, "contact 1: mu -0.5 and compliance 0 must be finite and not negative, "
                        "bias 0 finite");
    s = fresh();
    s.contact->compliance = INFINITY;
    refuse_and_free(&s, "contact 1: mu 0.3 and compliance inf must be finite and not negative, "
                        "bias 0 finite");
    s = fresh();
    s.contact->bias = INFINITY;
    refuse_and_free(&s, "contact 1: mu 0.3 and compliance 0 must be finite and not negative, "
                        "bias inf finite");
    s = fresh();
    ((double *)s.p.def.inv_mass)[0] = 0.0;
    refuse_and_free(&s, "contact 1: neither body can move");
    s = fresh();
    ((double *)s.p.def.inv_mass)[0] = INFINITY;
    refuse_and_free(&s, "problem: block 0 has the diagonal entry inf, expected a positive one");
}

TEST(bad_friction_models_are_refused)
{
    Spoil s = fresh();
    s.contact->model = (TalusFrictionModel){.section = TALUS_SECTION_POLYGON, .sides = 2};
    refuse_and_free(&s, "contact 1: friction model: 2 sides; a polygon has 3 to 64, the other "
                        "sections 0");
    s = fresh();
    s.contact->model.sides = 4;
    refuse_and_free(&s, "contact 1: friction model: 4 sides; a polygon has 3 to 64, the other "
                        "sections 0");
    s = fresh();
    s.contact->rolling = 0.1;
    refuse_and_free(&s, "contact 1: spinning 0 and rolling 0.1 need a length above 0, it is 0");
    s = fresh();
    s.contact->spinning = -1.0;
    refuse_and_free(&s, "contact 1: spinning -1 and rolling 0 must be finite and not negative");
    TestProblem matrix = make_explicit(1, 3, 3);
    TalusFrictionModel models[3] = {{0}, {.law = TALUS_LAWS}, {0}};
    matrix.def.model = models;
    refuse(&matrix.def, "block 1: friction model: no section 0, law 3");
    free_test_problem(&matrix);
}

TEST(exactly_one_form_is_taken)
{
    Spoil s = fresh();
    TestProblem matrix = make_explicit(1, 3, 3);
    TalusProblemDef both = s.p.def, neither = {0};
    both.values = matrix.def.values;
    refuse(&both, "problem: give either contacts or an explicit matrix, not both");
    refuse(&neither, "problem: give either contacts or an explicit matrix, not neither");
    free_test_problem(&s.p);
    free_test_problem(&matrix);
}

TEST(bad_matrices_are_refused)
{
    TestProblem p = make_explicit(2, 3, 3);
    TalusProblemDef def = p.def;
    int32_t *start = (int32_t *)p.def.row_start, *column = (int32_t *)p.def.column;
    double *values = (double *)p.def.values, *mu = (double *)p.def.mu, kept;
    def.rows = 2;
    refuse(&def, "problem: rows per block is 2, expected 1 or 3");
    start[0] = 1;
    refuse(&p.def, "problem: the first row starts at 1, expected 0");
    start[0] = 0;
    int32_t second = start[2];
    start[2] = 0;
    refuse(&p.def, "problem: row 1 ends before it starts");
    start[2] = second;
    int32_t place = column[0];
    column[0] = 9;
    kept = values[0];
    values[0] = 0.5;
    refuse(&p.def, "problem: row 0 has the entry (column 9, value 0.5); columns go from 0 to 8, "
                   "values are finite");
    column[0] = place;
    values[0] = NAN;
    refuse(&p.def, "problem: row 0 has the entry (column 0, value nan); columns go from 0 to 8, "
                   "values are finite");
    values[0] = -1.0;
    refuse(&p.def, "problem: block 0 has the diagonal entry -1, expected a positive one");
    values[0] = kept;
    mu[1] = -1.0;
    refuse(&p.def, "problem: block 1 has mu -1, expected a finite one that is not negative");
    free_test_problem(&p);
}

TEST(a_matrix_has_no_bodies)
{
    TestProblem p = make_explicit(3, 3, 3);
    TalusProblem *problem = NULL;
    double v[6];
    REQUIRE_OK(talus_problem_create(&p.def, NULL, &problem));
    CHECK_INT(talus_problem_body_velocity(problem, talus_problem_gamma(problem), v),
              TALUS_ERR_UNSUPPORTED);
    CHECK_STR(talus_error(), "problem: an explicit matrix has no bodies, so no body velocities");
    CHECK_INT(talus_problem_bodies(problem), 0);
    CHECK_INT(talus_problem_blocks(problem), 3);
    CHECK_INT(talus_problem_rows(problem), 3);
    CHECK(talus_problem_mu(problem, 1) == p.def.mu[1]);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

/* ---- data out and in ---- */

static bool same_bytes(const void *a, const void *b, size_t count, size_t element)
{
    return count == 0 || memcmp(a, b, count * element) == 0;
}

static void check_same_def(const TalusProblemDef *a, const TalusProblemDef *b)
{
    size_t bodies = (size_t)a->body_count, contacts = (size_t)a->contact_count;
    REQUIRE(a->body_count == b->body_count && a->contact_count == b->contact_count);
    CHECK(same_bytes(a->inv_mass, b->inv_mass, bodies, sizeof(double)));
    CHECK(same_bytes(a->inv_inertia, b->inv_inertia, bodies, sizeof(TalusSym3)));
    CHECK(same_bytes(a->radius, b->radius, bodies, sizeof(double)));
    CHECK(same_bytes(a->free_velocity, b->free_velocity, 6 * bodies, sizeof(double)));
    CHECK(same_bytes(a->contacts, b->contacts, contacts, sizeof(TalusContactDef)));
}

static void check_same_matrix(const TalusProblemDef *a, const TalusProblemDef *b)
{
    size_t n = (size_t)(a->rows * a->block_count);
    REQUIRE(a->rows == b->rows && a->block_count == b->block_count);
    REQUIRE(same_bytes(a->row_start, b->row_start, n + 1, sizeof(int32_t)));
    size_t entries = (size_t)a->row_start[n];
    CHECK(same_bytes(a->column, b->column, entries, sizeof(int32_t)));
    CHECK(same_bytes(a->values, b->values, entries, sizeof(double)));
    CHECK(same_bytes(a->offset, b->offset, n, sizeof(double)));
    CHECK(a->rows == 1 || same_bytes(a->mu, b->mu, (size_t)a->block_count, sizeof(double)));
}

TEST(export_gives_back_what_came_in)
{
    TestProblem made[] = {make_heap(&(HeapOptions){4, 3, 3, 3, 0.4, 0.01, 0.3}),
                          make_heap(&(HeapOptions){5, 3, 3, 3, 0.0, 0.0, 0.0}),
                          make_explicit(6, 20, 3), make_explicit(7, 20, 1)};
    for (int i = 0; i < 4; i++) {
        TalusProblem *first = NULL, *second = NULL;
        TalusProblemDef out, again;
        REQUIRE_OK(talus_problem_create(&made[i].def, NULL, &first));
        REQUIRE_OK(talus_problem_export(first, &out));
        REQUIRE_OK(talus_problem_create(&out, NULL, &second));
        REQUIRE_OK(talus_problem_export(second, &again));
        if (i < 2) {
            check_same_def(&made[i].def, &out);
            check_same_def(&out, &again);
        } else {
            check_same_matrix(&made[i].def, &out);
            check_same_matrix(&out, &again);
        }
        talus_problem_destroy(first);
        talus_problem_destroy(second);
        free_test_problem(&made[i]);
    }
}

/* A problem that a world filled in place has no def; the one it makes up is the same problem, and
 * keeps the compact form where there was one. */
static void check_extracted(const TestProblem *p)
{
    TalusProblem *problem = NULL;
    TalusProblemDef again;
    REQUIRE_OK(talus_problem_create(&p->def, NULL, &problem));
    const TalusOperator *op = talus_problem_operator(problem);
    for (int i = 0; i < op->blocks; i++) {
        const TalusContactDef *c = &p->def.contacts[i];
        bool spheres = p->def.radius[c->a] > 0.0 && (c->b < 0 || p->def.radius[c->b] > 0.0);
        if (!CHECK(spheres || i >= op->sphere_sphere + op->sphere_fixed))
            break;
    }
    REQUIRE_OK(talus_problem_export(problem, &again));
    check_same_def(&p->def, &again);
    talus_problem_destroy(problem);
}

TEST(steps_of_worlds_survive_the_round_trip)
{
    TestProblem problems[EXTRACTED_PROBLEMS];
    make_extracted(problems);
    for (int i = 0; i < EXTRACTED_PROBLEMS; i++) {
        CHECK(problems[i].def.contact_count > 0);
        check_extracted(&problems[i]);
        free_test_problem(&problems[i]);
    }
}

/* ---- order and form ---- */

/* Contact i goes to place order[i]. */
static void shuffle(TestProblem *p, int *order)
{
    TalusContactDef *contacts = (TalusContactDef *)p->def.contacts;
    size_t bytes = (size_t)p->def.contact_count * sizeof *contacts;
    TalusContactDef *old = malloc(bytes);
    TalusRng rng = talus_rng_from_seed(8);
    memcpy(old, contacts, bytes);
    for (int i = 0; i < p->def.contact_count; i++)
        order[i] = i;
    for (int i = p->def.contact_count - 1; i > 0; i--) {
        int j = (int)talus_rng_below(&rng, (uint64_t)i + 1), swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
    for (int i = 0; i < p->def.contact_count; i++)
        contacts[order[i]] = old[i];
    free(old);
}

static TalusProblem *solved(const TalusProblemDef *def)
{
    TalusProblem *problem = NULL;
    TalusSolver *solver = NULL;
    TalusSolveOptions options = talus_solve_options_default();
    TalusSolveInfo info;
    options.tolerance = 1e-12;
    options.max_iterations = 20000;
    CHECK_OK(talus_problem_create(def, NULL, &problem));
    CHECK_OK(talus_solver_create("apgd", &solver));
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    CHECK(info.outcome == TALUS_OUTCOME_CONVERGED);
    talus_solver_destroy(solver);
    return problem;
}

/* Out of order the compact contacts lose their form, and nothing else. */
TEST(order_of_contacts_does_not_matter)
{
    HeapOptions options = {9, 4, 3, 3, 0.3, 0.02, 0.2};
    TestProblem sorted = make_heap(&options), mixed = make_heap(&options);
    int n = sorted.def.contact_count, bodies = 6 * sorted.def.body_count;
    int *order = malloc((size_t)n * sizeof *order);
    double *v = malloc((size_t)bodies * sizeof *v), *w = malloc((size_t)bodies * sizeof *w);
    shuffle(&mixed, order);
    TalusProblem *a = solved(&sorted.def), *b = solved(&mixed.def);
    CHECK(talus_problem_operator(a)->sphere_sphere > 0);
    CHECK(talus_problem_operator(a)->sphere_fixed > 0);
    CHECK(talus_problem_operator(a)->general > 0);
    CHECK_INT(talus_problem_operator(b)->general, n);
    CHECK_OK(talus_problem_body_velocity(a, talus_problem_gamma(a), v));
    CHECK_OK(talus_problem_body_velocity(b, talus_problem_gamma(b), w));
    for (int k = 0; k < bodies; k++)
        if (!CHECK_NEAR(v[k], w[k], 1e-9))
            break;
    for (int i = 0; i < n; i++)
        if (!CHECK_NEAR(talus_problem_diagonal(a, i), talus_problem_diagonal(b, order[i]), 1e-12))
            break;
    talus_problem_destroy(a);
    talus_problem_destroy(b);
    free(order);
    free(v);
    free(w);
    free_test_problem(&sorted);
    free_test_problem(&mixed);
}

/* Rows follow from friction: one contact with mu > 0 makes all blocks three rows long. */
TEST(rows_follow_from_friction)
{
    TestProblem p = make_column(4, 1.0, 0.0);
    for (int rows = 1; rows <= 3; rows += 2) {
        TalusProblem *problem = NULL;
        REQUIRE_OK(talus_problem_create(&p.def, NULL, &problem));
        CHECK_INT(talus_problem_rows(problem), rows);
        CHECK_INT(talus_problem_size(problem), 4 * rows);
        CHECK(talus_problem_mu(problem, 0) == 0.0);
        talus_problem_destroy(problem);
        ((TalusContactDef *)p.def.contacts)[2].mu = 0.1;
    }
    free_test_problem(&p);
}

/* Bounds that move start from 0, whatever the memory held that they are in. */
TEST(moving_bounds_start_from_zero)
{
    TestProblem p = make_column(4, 1.0, 0.3);
    TalusProblem *problem = NULL;
    REQUIRE_OK(talus_problem_create(&p.def, NULL, &problem));
    REQUIRE_OK(talus_problem_set_friction(problem, (TalusFrictionModel){.law = TALUS_LAW_COULOMB}));
    REQUIRE_OK(TALUS_GROW(problem->estimate_store, 4, 0, "unwritten memory"));
    for (int i = 0; i < 4; i++)
        problem->estimate_store[i] = NAN;
    REQUIRE_OK(talus_problem_set_prisms(problem, true));
    for (int i = 0; i < 4; i++)
        CHECK(problem->op.estimate[i] == 0.0);
    REQUIRE_OK(talus_problem_set_prisms(problem, false));
    CHECK(talus_problem_estimate(problem) == NULL);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

/* Friction against turning makes all blocks six rows long; a contact without a section has none of it. */
TEST(turning_takes_six_rows)
{
    TestProblem p = make_column(4, 1.0, 0.3);
    TalusContactDef *contact = (TalusContactDef *)p.def.contacts;
    contact[1].spinning = 0.1;
    contact[1].length = 0.5;
    for (int rows = 6; rows >= 3; rows -= 3) {
        TalusProblem *problem = NULL;
        REQUIRE_OK(talus_problem_create(&p.def, NULL, &problem));
        CHECK_INT(talus_problem_rows(problem), rows);
        CHECK_INT(talus_problem_operator(problem)->general, rows == 6 ? 4 : 0);
        CHECK(talus_problem_mu(problem, 1) == (rows == 6 ? 0.3 : 0.0));
        CHECK(talus_problem_operator(problem)->mixed_sets == (rows == 6));
        talus_problem_destroy(problem);
        contact[1].model.section = TALUS_SECTION_NONE;
    }
    free_test_problem(&p);
}

static void check_model(TalusProblem *problem, TalusFrictionModel expected, int rows)
{
    TalusFrictionModel found = talus_problem_friction(problem, 1);
    CHECK_INT(talus_problem_rows(problem), rows);
    CHECK_INT(found.section, expected.section);
    CHECK_INT(found.law, rows == 1 ? 0 : expected.law);
    CHECK_INT(found.sides, rows == 1 ? 0 : expected.sides);
    CHECK(!talus_problem_estimate(problem) == (rows == 1 || expected.law != TALUS_LAW_FIXED));
}

/* Any model, one after the other, and what is exported is the problem with it. Without a section the
 * normal rows are left: N_nn and q_n. */
TEST(friction_can_be_changed)
{
    static const TalusFrictionModel models[] = {
        {.section = TALUS_SECTION_SQUARE, .law = TALUS_LAW_FIXED},
        {.section = TALUS_SECTION_NONE},
        {.section = TALUS_SECTION_POLYGON, .law = TALUS_LAW_COULOMB, .sides = 6},
        {.section = TALUS_SECTION_DISC, .law = TALUS_LAW_COULOMB},
        {.section = TALUS_SECTION_DISC}};
    TestProblem made[] = {make_heap(&(HeapOptions){4, 3, 2, 2, 0.4, 0.01, 0.3}),
                          make_explicit(6, 9, 3)};
    for (int i = 0; i < 2; i++) {
        TalusProblem *problem = NULL;
        double q[200];
        REQUIRE_OK(talus_problem_create(&made[i].def, NULL, &problem));
        double normal = talus_problem_operator(problem)->diagonal[1][0];
        for (int m = 0; m < 5; m++) {
            TalusProblem *again = NULL;
            TalusProblemDef out;
            int rows = models[m].section == TALUS_SECTION_NONE ? 1 : 3;
            REQUIRE_OK(talus_problem_set_friction(problem, models[m]));
            check_model(problem, models[m], rows);
            REQUIRE_OK(talus_problem_export(problem, &out));
            REQUIRE_OK(talus_problem_create(&out, NULL, &again));
            check_model(again, models[m], rows);
            CHECK(talus_problem_operator(again)->diagonal[1][0] == normal);
            REQUIRE(talus_problem_size(again) <= 200);
            talus_problem_offset(again, q);
            CHECK(i == 0 || q[rows] == made[i].def.offset[3]);
            talus_problem_destroy(again);
        }
        CHECK(!talus_problem_operator(problem)->mixed_sets);
        talus_problem_destroy(problem);
        free_test_problem(&made[i]);
    }
}

/* ---- memory that does not come ---- */

/* Every allocation of create, export and solve fails in turn; sanitizers see what is left behind. */
static TalusStatus whole_life(const TalusProblemDef *def, const char *spec)
{
    TalusProblem *problem = NULL;
    TalusSolver *solver = NULL;
    TalusProblemDef out;
    TalusSolveInfo info;
    TalusSolveOptions options = talus_solve_options_default();
    double objective;
    options.max_iterations = 5;
    TalusStatus status = talus_problem_create(def, NULL, &problem);
    if (status == TALUS_OK)
        status = talus_solver_create(spec, &solver);
    if (status == TALUS_OK)
        status = talus_solver_solve(solver, problem, &options, &info);
    if (status == TALUS_OK)
        status = talus_problem_export(problem, &out);
    if (status == TALUS_OK)
        status = talus_problem_objective(problem, talus_problem_gamma(problem), &objective);
    talus_solver_destroy(solver);
    talus_problem_destroy(problem);
    return status;
}

TEST(every_allocation_may_fail)
{
    static const char *const specs[] = {"apgd", "auto", "gs", "gs:order=random", "jacobi"};
    TestProblem made[] = {make_heap(&(HeapOptions){10, 3, 3, 2, 0.4, 0.01, 0.3}),
                          make_bowl(60, 0.3, 0.0), make_explicit(11, 8, 3)};
    for (int i = 0; i < 3; i++) {
        for (int s = 0; s < 5; s++) {
            long n = 0;
            TalusStatus status = TALUS_ERR_MEMORY;
            while (status == TALUS_ERR_MEMORY && n < 200) {
                talus_fail_allocation_in(++n);
                status = whole_life(&made[i].def, specs[s]);
            }
            talus_fail_allocation_in(0);
            CHECK_OK(status);
            CHECK(n > 10);
        }
        free_test_problem(&made[i]);
    }
}

/* Impulses along a wedge's null space, so large that gamma - g / d is gamma: still unsolved. */
TEST(huge_impulses_hide_no_residual)
{
    TestProblem p = make_wedge(0.0, 3);
    TalusProblem *problem = NULL;
    TalusResidual residual;
    REQUIRE_OK(talus_problem_create(&p.def, NULL, &problem));
    double *gamma = talus_problem_gamma(problem);
    for (int k = 0; k < talus_problem_size(problem); k++)
        gamma[k] = ldexp(1.0, 80);
    talus_problem_residual(problem, gamma, &residual);
    CHECK(residual.rms > 0.0 && residual.max > 0.0);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

TEST(a_copy_for_tests_owns_its_friction_models)
{
    enum { BLOCKS = 3 };
    TalusFrictionModel model[BLOCKS] = {
        {.law = TALUS_LAW_COULOMB}, {.law = TALUS_LAW_CCP}, {.section = TALUS_SECTION_SQUARE}};
    TestProblem p = make_explicit(1, BLOCKS, 3);
    p.def.model = model;
    TestProblem copy = copy_test_problem(&p.def, "copy");
    CHECK(copy.def.model != model);
    CHECK(memcmp(copy.def.model, model, sizeof model) == 0);
    p.def.model = NULL;
    TestProblem without = copy_test_problem(&p.def, "without models");
    CHECK(without.def.model == NULL);
    free_test_problem(&without);
    free_test_problem(&copy);
    free_test_problem(&p);
}

int main(void)
{
    RUN(bad_contacts_are_refused);
    RUN(bad_numbers_are_refused);
    RUN(bad_friction_models_are_refused);
    RUN(exactly_one_form_is_taken);
    RUN(bad_matrices_are_refused);
    RUN(a_matrix_has_no_bodies);
    RUN(export_gives_back_what_came_in);
    RUN(steps_of_worlds_survive_the_round_trip);
    RUN(order_of_contacts_does_not_matter);
    RUN(rows_follow_from_friction);
    RUN(turning_takes_six_rows);
    RUN(friction_can_be_changed);
    RUN(moving_bounds_start_from_zero);
    RUN(every_allocation_may_fail);
    RUN(huge_impulses_hide_no_residual);
    RUN(a_copy_for_tests_owns_its_friction_models);
    return talus_test_result();
}

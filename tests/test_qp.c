/* A problem with polygonal cones as a quadratic program: both views against the operator, conversions,
 * objectives and their gap. */
#include "support/problems.h"
#include "support/qp_gap.h"
#include "support/test.h"
#include "verify/verify.h"

#include "base/memory.h"
#include "base/rng.h"
#include "problem/qp.h"

#include <talus/solver.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const TalusFrictionModel sections[] = {
    {TALUS_SECTION_POLYGON, TALUS_LAW_CCP, 3},
    {TALUS_SECTION_POLYGON, TALUS_LAW_CCP, 4},
    {TALUS_SECTION_POLYGON, TALUS_LAW_CCP, 7},
    {TALUS_SECTION_SQUARE, TALUS_LAW_CCP, 0},
};

enum { SECTIONS = sizeof sections / sizeof *sections };

typedef struct Case {
    TestProblem test;
    TalusProblem *problem;
    TalusQp qp;
} Case;

static Case make_case(TestProblem test, TalusFrictionModel model)
{
    Case c = {.test = test};
    CHECK_OK(talus_problem_create(&c.test.def, NULL, &c.problem));
    CHECK_OK(talus_problem_set_friction(c.problem, model));
    CHECK_OK(talus_qp_fill(&c.qp, c.problem));
    return c;
}

static void free_case(Case *c)
{
    talus_qp_clear(&c->qp);
    talus_problem_destroy(c->problem);
    free_test_problem(&c->test);
}

static TestProblem heap(int i)
{
    return make_heap(&(HeapOptions){.seed = 5,
                                    .nx = 3,
                                    .ny = 2,
                                    .nz = 3,
                                    .mu = 0.5,
                                    .general = i & 1 ? 0.5 : 0.0,
                                    .compliance = i & 2 ? 0.1 : 0.0});
}

static double *random_multipliers(const TalusQp *qp, uint64_t seed)
{
    TalusRng rng = talus_rng_from_seed(seed);
    double *x = calloc((size_t)qp->multipliers + 1, sizeof *x);
    for (int k = 0; k < qp->multipliers; k++)
        x[k] = talus_rng_uniform(&rng) < 0.3 ? 0.0 : talus_rng_uniform(&rng);
    return x;
}

/* G'((N + E) G lambda + q) by the operator. */
static double *slacks(Case *c, const double *lambda)
{
    size_t n = (size_t)talus_problem_size(c->problem);
    double *gamma = calloc(n, sizeof *gamma), *u = calloc(n, sizeof *u);
    double *out = calloc((size_t)c->qp.multipliers + 1, sizeof *out);
    talus_qp_impulses(&c->qp, lambda, gamma);
    talus_problem_gradient(c->problem, gamma, u);
    talus_qp_slacks(&c->qp, u, out);
    free(gamma), free(u);
    return out;
}

static double yielding(const TalusQp *qp, const double *lambda, int i)
{
    double sum = 0.0;
    for (int k = qp->first[i]; k < qp->first[i + 1]; k++)
        sum += lambda[k];
    return qp->compliance ? qp->compliance[i] * sum : 0.0;
}

/* y += A x of a symmetric matrix given by its lower triangle. */
static void add_symmetric(const TalusSparse *lower, const double *x, double *y)
{
    for (int k = 0; k < lower->rows; k++)
        for (int32_t e = lower->start[k]; e < lower->start[k + 1]; e++) {
            int l = lower->column[e];
            CHECK(l <= k && (e == lower->start[k] || lower->column[e - 1] < l));
            y[k] += lower->value[e] * x[l];
            if (l < k)
                y[l] += lower->value[e] * x[k];
        }
}

/* P lambda + kappa, by P whole and by its lower triangle, and A v + s - b are the operator's slacks. */
static void compare_views(Case *c)
{
    TalusQp *qp = &c->qp;
    TalusSparse whole, lower;
    size_t n = (size_t)qp->multipliers, bytes = n * sizeof(double);
    double *lambda = random_multipliers(qp, 3), *expected = slacks(c, lambda), largest = 0.0;
    double *dual = malloc(bytes), *half = malloc(bytes), *primal = malloc(bytes);
    double *v = calloc(3 * (size_t)qp->bodies.groups, sizeof *v);
    REQUIRE_OK(talus_qp_dual_matrix(qp, c->problem, false, &whole));
    REQUIRE_OK(talus_qp_dual_matrix(qp, c->problem, true, &lower));
    memcpy(dual, qp->kappa, bytes);
    memcpy(half, qp->kappa, bytes);
    talus_sparse_add(&whole, 1.0, lambda, dual);
    add_symmetric(&lower, lambda, half);
    for (int i = 0; i < qp->blocks; i++)
        for (int k = qp->first[i]; k < qp->first[i + 1]; k++)
            primal[k] = yielding(qp, lambda, i) - qp->b[k];
    qp_velocity(qp, lambda, v);
    talus_sparse_add(&qp->a, 1.0, v, primal);
    for (size_t k = 0; k < n; k++)
        largest = fmax(largest, fabs(expected[k]));
    for (size_t k = 0; k < n; k++) {
        CHECK_NEAR(dual[k], expected[k], 1e-13 * largest);
        CHECK_NEAR(half[k], expected[k], 1e-13 * largest);
        CHECK_NEAR(primal[k], expected[k], 1e-13 * largest);
    }
    talus_sparse_clear(&whole);
    talus_sparse_clear(&lower);
    free(lambda), free(expected), free(dual), free(half), free(primal), free(v);
}

TEST(both_views_are_the_operators)
{
    for (int s = 0; s < SECTIONS; s++)
        for (int i = 0; i < 4; i++) {
            Case c = make_case(heap(i), sections[s]);
            int edges = sections[s].sides ? sections[s].sides : 4;
            CHECK_INT(c.qp.multipliers, edges * talus_problem_blocks(c.problem));
            compare_views(&c);
            free_case(&c);
        }
    Case c = make_case(heap(3), (TalusFrictionModel){.section = TALUS_SECTION_NONE});
    CHECK_INT(c.qp.multipliers, talus_problem_blocks(c.problem));
    CHECK_INT(c.qp.rows, 1);
    compare_views(&c);
    free_case(&c);
}

/* Of a matrix that is not symmetric the lower triangle is that of the mean with its transpose. */
TEST(lower_triangle_is_of_the_symmetric_part)
{
    TestProblem skew = make_explicit(17, 12, 3);
    double *value = (double *)skew.def.values;
    for (int row = 0; row < 36; row++)
        for (int32_t e = skew.def.row_start[row]; e < skew.def.row_start[row + 1]; e++)
            value[e] *= skew.def.column[e] > row ? 1.25 : 1.0;
    Case c = make_case(skew, sections[0]);
    TalusSparse whole, lower;
    size_t n = (size_t)c.qp.multipliers;
    double *x = random_multipliers(&c.qp, 6), *y = calloc(3 * n, sizeof *y);
    double *mean = y + n, *half = mean + n, largest = 0.0, skewness = 0.0;
    REQUIRE_OK(talus_qp_dual_matrix(&c.qp, c.problem, false, &whole));
    REQUIRE_OK(talus_qp_dual_matrix(&c.qp, c.problem, true, &lower));
    talus_sparse_add(&whole, 1.0, x, y);
    talus_sparse_add(&whole, 0.5, x, mean);
    talus_sparse_add_transposed(&whole, 0.5, x, mean);
    add_symmetric(&lower, x, half);
    for (size_t k = 0; k < n; k++) {
        largest = fmax(largest, fabs(y[k]));
        skewness = fmax(skewness, fabs(y[k] - mean[k]));
    }
    CHECK(skewness > 1e-3 * largest);
    for (size_t k = 0; k < n; k++)
        CHECK_NEAR(half[k], mean[k], 1e-13 * largest);
    talus_sparse_clear(&whole);
    talus_sparse_clear(&lower);
    free(x), free(y);
    free_case(&c);
}

/* A body that moves and that no impulse moves: its velocity is in b. */
TEST(given_motion_is_data)
{
    TestProblem test = heap(0);
    int body = test.def.body_count - 1;
    ((double *)test.def.inv_mass)[body] = 0.0;
    ((TalusSym3 *)test.def.inv_inertia)[body] = (TalusSym3){0};
    ((double *)test.def.free_velocity)[6 * body] = 0.7;
    ((double *)test.def.free_velocity)[6 * body + 4] = -0.4;
    Case c = make_case(test, sections[0]);
    CHECK_INT(c.qp.bodies.groups, 2 * body);
    compare_views(&c);
    free_case(&c);
}

TEST(contacts_without_friction_have_one_edge)
{
    TestProblem test = heap(1);
    TalusContactDef *contacts = (TalusContactDef *)test.def.contacts;
    for (int i = 0; i < test.def.contact_count; i += 3)
        contacts[i].mu = 0.0;
    Case c = make_case(test, sections[3]);
    CHECK_INT(c.qp.first[1], 1);
    CHECK_INT(c.qp.first[2], 5);
    compare_views(&c);
    free_case(&c);
}

/* ---- impulses and multipliers ---- */

static void convert_back(const TalusQp *qp, const double *gamma)
{
    size_t n = (size_t)(qp->rows * qp->blocks);
    double *lambda = calloc((size_t)qp->multipliers, sizeof *lambda),
           *again = calloc(n, sizeof *again);
    talus_qp_multipliers(qp, gamma, lambda);
    talus_qp_impulses(qp, lambda, again);
    for (int k = 0; k < qp->multipliers; k++)
        CHECK(lambda[k] >= 0.0);
    for (size_t k = 0; k < n; k++)
        CHECK_NEAR(again[k], gamma[k], 1e-15 * (1.0 + fabs(gamma[k])));
    free(lambda), free(again);
}

TEST(impulses_and_multipliers)
{
    for (int s = 0; s < SECTIONS; s++) {
        Case c = make_case(heap(0), sections[s]);
        TalusRng rng = talus_rng_from_seed(9);
        int n = talus_problem_size(c.problem);
        double *gamma = calloc((size_t)n, sizeof *gamma);
        convert_back(&c.qp, gamma);
        for (int k = 0; k < n; k++) /* much of it outside: projected to edges, facets and the tip */
            gamma[k] = 2.0 * talus_rng_uniform(&rng) - 1.0;
        for (int i = 0; i < c.qp.blocks; i++)
            talus_set_project(sections[s], 3, talus_problem_mu(c.problem, i), NULL, 0.0,
                              gamma + 3 * i);
        convert_back(&c.qp, gamma);
        for (int i = 0; i < c.qp.blocks; i++) /* the edges themselves */
            for (int r = 0; r < 3; r++)
                gamma[3 * i + r] = c.qp.edge[c.qp.first[i] + i % (c.qp.first[1])][r];
        convert_back(&c.qp, gamma);
        free(gamma);
        free_case(&c);
    }
}

/* ---- objectives ---- */

/* gap = lambda'w for v of the same lambda, the problem's objective is minus the dual one. */
static void check_gap(Case *c, const double *lambda, double limit)
{
    TalusQp *qp = &c->qp;
    QpGap gap;
    double *v = calloc(3 * (size_t)qp->bodies.groups, sizeof *v), *w = slacks(c, lambda);
    double *gamma = calloc((size_t)talus_problem_size(c->problem), sizeof *gamma);
    double product = 0.0, worst = 0.0, objective;
    qp_velocity(qp, lambda, v);
    talus_qp_impulses(qp, lambda, gamma);
    REQUIRE_OK(talus_problem_objective(c->problem, gamma, &objective));
    gap = qp_gap(qp, v, lambda);
    for (int k = 0; k < qp->multipliers; k++) {
        product += lambda[k] * w[k];
        worst = fmax(worst, -w[k]);
    }
    CHECK_NEAR(gap.dual, -objective, 1e-13 * fabs(objective));
    CHECK_NEAR(gap.gap, product, 1e-13 * gap.primal);
    CHECK_NEAR(gap.infeasibility, worst, 1e-13 + 1e-13 * worst);
    CHECK(fabs(gap.gap) <= limit * gap.primal);
    free(v), free(w), free(gamma);
}

TEST(gap_of_both_views)
{
    for (int s = 0; s < SECTIONS; s++) {
        Case c = make_case(heap(s), sections[s]);
        TalusSolver *solver = NULL;
        TalusSolveOptions options = talus_solve_options_default();
        TalusSolveInfo info;
        double *lambda = random_multipliers(&c.qp, 4);
        check_gap(&c, lambda, INFINITY);
        options.tolerance = 1e-13;
        REQUIRE_OK(talus_solver_create("apgd", &solver));
        REQUIRE_OK(talus_solver_solve(solver, c.problem, &options, &info));
        talus_qp_multipliers(&c.qp, talus_problem_gamma(c.problem), lambda);
        check_gap(&c, lambda, 1e-10);
        talus_solver_destroy(solver);
        free(lambda);
        free_case(&c);
    }
}

/* gamma = G lambda by sines and cosines, which the library has not. */
static double *raw_impulses(const TalusProblemDef *def, int sides, const double *lambda)
{
    double *gamma = calloc((size_t)verify_size(def), sizeof *gamma), turn = 2.0 * acos(-1.0);
    for (int i = 0; i < verify_blocks(def); i++)
        for (int k = 0; k < sides; k++, lambda++) {
            double mu = verify_mu(def, i);
            gamma[3 * i] += *lambda;
            gamma[3 * i + 1] += mu * cos(turn * k / sides) * *lambda;
            gamma[3 * i + 2] += mu * sin(turn * k / sides) * *lambda;
        }
    return gamma;
}

static double dot(int n, const double *x, const double *y)
{
    double sum = 0.0;
    for (int k = 0; k < n; k++)
        sum += x[k] * y[k];
    return sum;
}

/* Velocities of one lambda with the multipliers of another, from the raw data: the squares of impulses in the
 * place of those of velocities. */
static QpGap raw_gap(const TalusProblemDef *def, int sides, const double *mover,
                     const double *lambda)
{
    int n = verify_size(def);
    double *work = calloc(3 * (size_t)n, sizeof *work), *u = work + n, *q = u + n;
    double *moved = raw_impulses(def, sides, mover), *gamma = raw_impulses(def, sides, lambda);
    double stored = 0.0, turn = 2.0 * acos(-1.0);
    QpGap out = {0};
    for (int i = 0; i < verify_blocks(def); i++)
        stored += def->contacts[i].compliance * gamma[3 * i] * gamma[3 * i];
    verify_product(def, moved, work);
    out.primal = 0.5 * (dot(n, moved, work) + stored);
    verify_product(def, gamma, work);
    verify_velocity(def, NULL, q);
    out.dual = -0.5 * (dot(n, gamma, work) + stored) - dot(n, q, gamma);
    out.gap = out.primal - out.dual;
    verify_velocity(def, moved, u);
    for (int i = 0; i < verify_blocks(def); i++)
        for (int k = 0; k < sides; k++) {
            double mu = verify_mu(def, i), open = u[3 * i];
            open += def->contacts[i].compliance * gamma[3 * i];
            open +=
                mu * (cos(turn * k / sides) * u[3 * i + 1] + sin(turn * k / sides) * u[3 * i + 2]);
            out.infeasibility = fmax(out.infeasibility, -open);
        }
    free(work), free(moved), free(gamma);
    return out;
}

TEST(gap_is_the_verifiers)
{
    for (int i = 0; i < 6; i++) {
        Case c = make_case(heap(i % 4), sections[i / 2]);
        QpGap gap;
        double *mover = random_multipliers(&c.qp, 12), *lambda = random_multipliers(&c.qp, 13);
        double *v = calloc(3 * (size_t)c.qp.bodies.groups, sizeof *v);
        QpGap raw = raw_gap(&c.test.def, sections[i / 2].sides, mover, lambda);
        qp_velocity(&c.qp, mover, v);
        gap = qp_gap(&c.qp, v, lambda);
        CHECK_NEAR(gap.primal, raw.primal, 1e-12 * raw.primal);
        CHECK_NEAR(gap.dual, raw.dual, 1e-12 * raw.primal);
        CHECK_NEAR(gap.gap, raw.gap, 1e-12 * raw.primal);
        CHECK(raw.infeasibility > 0.0);
        CHECK_NEAR(gap.infeasibility, raw.infeasibility, 1e-12 * raw.infeasibility);
        free(mover), free(lambda), free(v);
        free_case(&c);
    }
}

/* The largest entry of M, A, f and b, whichever it is. */
TEST(datum_is_the_largest_entry)
{
    const TalusVec3 up = {0.0, 0.0, -1.0};
    const double inv_mass = 0.25, radius = 1.0, still[6] = {0};
    const TalusSym3 inertia = {0.625, 0.625, 0.625, 0, 0, 0};
    TalusContactDef contact = {.a = 0, .b = -1, .normal = up, .arm_a = up, .mu = 0.5};
    TalusProblemDef def = {.body_count = 1,
                           .inv_mass = &inv_mass,
                           .inv_inertia = &inertia,
                           .radius = &radius,
                           .free_velocity = still,
                           .contact_count = 1,
                           .contacts = &contact};
    for (int turn = 0; turn < 2; turn++) {
        Case c = {0};
        contact.bias = turn ? -9.0 : -1.0;
        REQUIRE_OK(talus_problem_create(&def, NULL, &c.problem));
        REQUIRE_OK(talus_problem_set_friction(c.problem, sections[0]));
        REQUIRE_OK(talus_qp_fill(&c.qp, c.problem));
        CHECK_NEAR(talus_qp_data_scale(&c.qp, NULL), turn ? 9.0 : 4.0, 1e-14);
        free_case(&c);
    }
}

/* ---- refusals ---- */

static void check_refused(TalusFrictionModel model, const char *reason)
{
    TestProblem test = heap(0);
    TalusProblem *problem = NULL;
    TalusQp qp = {0};
    REQUIRE_OK(talus_problem_create(&test.def, NULL, &problem));
    REQUIRE_OK(talus_problem_set_friction(problem, model));
    CHECK(talus_qp_fill(&qp, problem) == TALUS_ERR_UNSUPPORTED);
    if (!CHECK(strstr(talus_error(), reason) != NULL))
        printf("    %s\n", talus_error());
    talus_qp_clear(&qp);
    talus_problem_destroy(problem);
    free_test_problem(&test);
}

TEST(others_are_refused)
{
    check_refused((TalusFrictionModel){0}, "its friction cone is circular");
    check_refused((TalusFrictionModel){TALUS_SECTION_SQUARE, TALUS_LAW_FIXED, 0}, "are given");
}

static TalusStatus fill_all(Case *c, TalusQp *qp)
{
    TalusSparse p = {0};
    TalusStatus status = talus_qp_fill(qp, c->problem);
    if (status == TALUS_OK)
        status = talus_qp_dual_matrix(qp, c->problem, true, &p);
    talus_sparse_clear(&p);
    return status;
}

TEST(failed_allocation_leaves_nothing)
{
    Case c = make_case(heap(3), sections[0]);
    TalusStatus status = TALUS_ERR_MEMORY;
    size_t before = talus_memory_now();
    long n = 1;
    for (; n < 100 && status != TALUS_OK; n++) {
        TalusQp qp = {0};
        talus_fail_allocation_in(n);
        status = fill_all(&c, &qp);
        talus_fail_allocation_in(0);
        CHECK(status == TALUS_OK || status == TALUS_ERR_MEMORY);
        CHECK_OK(fill_all(&c, &qp)); /* over what is there */
        talus_qp_clear(&qp);
        CHECK(talus_memory_now() == before);
    }
    CHECK(n > 20 && status == TALUS_OK);
    free_case(&c);
}

int main(void)
{
    RUN(both_views_are_the_operators);
    RUN(lower_triangle_is_of_the_symmetric_part);
    RUN(given_motion_is_data);
    RUN(contacts_without_friction_have_one_edge);
    RUN(impulses_and_multipliers);
    RUN(gap_of_both_views);
    RUN(gap_is_the_verifiers);
    RUN(datum_is_the_largest_entry);
    RUN(others_are_refused);
    RUN(failed_allocation_leaves_nothing);
    return talus_test_result();
}

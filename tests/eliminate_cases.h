/* Free joints eliminated from problems: the reduced operator, solves, what is reported of them; on any backend. */
#ifndef TALUS_TESTS_ELIMINATE_CASES_H
#define TALUS_TESTS_ELIMINATE_CASES_H

#include "support/joints.h"
#include "support/test.h"

#include "base/memory.h"
#include "problem/eliminate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <talus/solver.h>

static const char *eliminate_backend = "cpu";

static const char *const specs[] = {"apgd",   "lbfgs-fb", "spg",   "anderson",
                                    "jacobi", "kucera",   "mprgp", "apgd:metric=anisotropic"};
enum { SPECS = sizeof specs / sizeof *specs };

static const JointOptions cases[] = {
    {.seed = 1, .links = 5, .mu = 0.4},
    {.seed = 2, .links = 6, .mu = 0.4, .masks = true, .extras = true},
    {.seed = 3, .links = 4, .mu = 0.3, .closed = true},
    {.seed = 4, .links = 5, .mu = 0.5, .extras = true, .moment_mu = 0.1},
    {.seed = 5, .links = 7, .ratio = 1000.0},
};
enum { CASES = sizeof cases / sizeof *cases };

/* Two chains at once: their contacts, then their free joints, as problems have them. */
static TestProblem make_two_machines(void)
{
    TestProblem one = make_joints(&cases[0]), other = make_joints(&cases[1]);
    one.def.radius = test_memory(&one, (size_t)one.def.body_count, sizeof(double));
    other.def.radius = test_memory(&other, (size_t)other.def.body_count, sizeof(double));
    TestProblem both = make_union(&one.def, &other.def);
    int count = both.def.contact_count, filled = 0;
    TalusContactDef *sorted = test_memory(&both, (size_t)count, sizeof *sorted);
    for (int last = 0; last < 2; last++)
        for (int i = 0; i < count; i++)
            if (isinf(both.def.contacts[i].mu) == (last == 1))
                sorted[filled++] = both.def.contacts[i];
    both.def.contacts = sorted;
    free_test_problem(&one);
    free_test_problem(&other);
    return both;
}

static TestProblem make_case(int k)
{
    return k < CASES ? make_joints(&cases[k]) : make_two_machines();
}

/* ---- the operator ---- */

/* N + E of the problem with all its blocks, n x n; its rows that are none of a joint's dropped. */
static double *make_matrix(TalusProblem *p, const TalusOperator *op, bool *is_row)
{
    int n = talus_problem_size(p), contacts = op->rows * (op->blocks - op->joints);
    double *a = calloc((size_t)(n * n), sizeof *a), *x = calloc((size_t)n, sizeof *x);
    for (int i = 0; i < n; i++) {
        int block = i / op->rows, k = i % op->rows;
        is_row[i] = i < contacts || (k < 3 && op->model[block].sides & 1 << k);
        x[i] = 1.0;
        talus_problem_apply(p, x, a + i * n);
        x[i] = 0.0;
        if (k == 0 && op->compliance)
            a[i * n + i] += op->compliance[block];
    }
    free(x);
    return a;
}

/* g of contacts for their impulses x, joints having been solved for: Gauss on all of a, joints first. */
static void dense_gradient(const double *a, const double *q, int n, int contacts,
                           const bool *is_row, const double *x, double *g)
{
    int joints = n - contacts;
    double *m = malloc(sizeof *m * (size_t)(joints * (joints + 1)));
    for (int i = 0; i < joints; i++) {
        for (int j = 0; j < joints; j++) {
            bool kept = is_row[contacts + i] && is_row[contacts + j];
            m[i * (joints + 1) + j] = kept ? a[(contacts + i) * n + contacts + j] : i == j;
        }
        double right = q ? -q[contacts + i] : 0.0;
        for (int j = 0; j < contacts; j++)
            right -= a[(contacts + i) * n + j] * x[j];
        m[i * (joints + 1) + joints] = is_row[contacts + i] ? right : 0.0;
    }
    for (int k = 0; k < joints; k++)
        for (int i = 0; i < joints; i++) {
            double f = i == k ? 0.0 : m[i * (joints + 1) + k] / m[k * (joints + 1) + k];
            for (int j = k; j <= joints && f != 0.0; j++)
                m[i * (joints + 1) + j] -= f * m[k * (joints + 1) + j];
        }
    for (int i = 0; i < contacts; i++) {
        g[i] = q ? q[i] : 0.0;
        for (int j = 0; j < contacts; j++)
            g[i] += a[i * n + j] * x[j];
        for (int j = 0; j < joints; j++)
            g[i] +=
                a[i * n + contacts + j] * m[j * (joints + 1) + joints] / m[j * (joints + 1) + j];
    }
    free(m);
}

/* Of the reduced operator: out = its gradient at x, its product with nothing, or its diagonals, on the host. */
typedef enum Question { GRADIENT, DIRECTION, FREE_MOTION } Question;

static void ask(const TalusReduced *r, Question question, const double *x, double *out)
{
    const TalusBackend *b = r->backend;
    size_t n = (size_t)r->op.rows * (size_t)r->op.blocks, room[2] = {0, 0};
    double *there[2] = {NULL, NULL};
    for (int k = 0; k < 2; k++)
        REQUIRE_OK(b->vector.reserve(&r->op, &there[k], &room[k], n, "test"));
    b->vector.put(&r->op, there[0], x, n);
    if (question == FREE_MOTION)
        b->op.product(&r->op, NULL, false, true, there[1]);
    else
        b->op.gradient(&r->op, NULL, there[0], question == GRADIENT, there[1]);
    b->vector.get(&r->op, out, there[1], n);
    for (int k = 0; k < 2; k++)
        b->vector.release(there[k]);
}

/* Without its joints, where the problem is sent to. */
static void open_reduced(TalusProblem *p, TalusReduced *r)
{
    REQUIRE_OK(talus_problem_set_backend(p, eliminate_backend));
    REQUIRE_OK(talus_problem_upload(p));
    REQUIRE_OK(talus_reduced_fill(r, p->backend, p->solver_op));
}

static void check_operator(TalusProblem *p)
{
    const TalusOperator *op = talus_problem_operator(p);
    int n = talus_problem_size(p), contacts = op->rows * (op->blocks - op->joints);
    TalusReduced r = {0};
    bool *is_row = calloc((size_t)n, sizeof *is_row);
    double *a = make_matrix(p, op, is_row), *q = calloc((size_t)n, sizeof *q);
    double *x = calloc((size_t)n, sizeof *x), *g = calloc((size_t)n, sizeof *g);
    double *expected = calloc((size_t)n, sizeof *expected);
    talus_problem_offset(p, q);
    open_reduced(p, &r);
    CHECK_INT(r.op.blocks, op->blocks - op->joints);
    for (int offset = 0; offset < 2; offset++) {
        for (int i = 0; i < contacts; i++)
            x[i] = 0.1 * ((i * 7) % 11 - 5);
        dense_gradient(a, offset ? q : NULL, n, contacts, is_row, x, expected);
        ask(&r, offset ? GRADIENT : DIRECTION, x, g);
        for (int i = 0; i < contacts; i++)
            CHECK_NEAR(g[i], expected[i], 1e-10);
    }
    memset(x, 0, (size_t)n * sizeof *x);
    dense_gradient(a, q, n, contacts, is_row, x, expected);
    ask(&r, FREE_MOTION, x, g);
    for (int i = 0; i < contacts; i++)
        CHECK_NEAR(g[i], expected[i], 1e-10);
    /* Diagonals: exact for contacts with what stands still, else within a factor of two. */
    double(*diagonal)[2] = calloc((size_t)r.op.blocks + 1, sizeof *diagonal);
    r.backend->vector.get(&r.op, &diagonal[0][0], &r.op.diagonal[0][0], 2 * (size_t)r.op.blocks);
    TalusOperator here = {.rows = op->rows, .diagonal = diagonal};
    for (int b = 0; b < r.op.blocks; b++) {
        double sum = 0.0;
        for (int k = 0; k < op->rows; k++) {
            int i = b * op->rows + k;
            memset(x, 0, (size_t)n * sizeof *x);
            x[i] = 1.0;
            dense_gradient(a, NULL, n, contacts, is_row, x, expected);
            sum += expected[i];
        }
        double mean = sum / op->rows, scale = talus_block_scale(&here, b);
        if (op->pair[b][1] < 0)
            CHECK_NEAR(scale, mean, 1e-9 * talus_block_scale(op, b));
        else
            CHECK(scale > 0.0 && mean < 2.000001 * scale);
    }
    talus_reduced_clear(&r);
    free(diagonal);
    free(is_row);
    free(a);
    free(q);
    free(x);
    free(g);
    free(expected);
}

/* Redundant joints have no dense inverse to compare with: solves below show them. */
TEST(operator_is_the_schur_complement)
{
    for (int k = 0; k <= CASES; k++) {
        TestProblem def = make_case(k);
        TalusProblem *p;
        REQUIRE_OK(talus_problem_create(&def.def, NULL, &p));
        if (k == CASES || !cases[k].closed)
            check_operator(p);
        talus_problem_destroy(p);
        free_test_problem(&def);
    }
}

/* ---- solves ---- */

typedef struct Result {
    TalusSolveInfo info;
    double *gamma, *u; /* [n] */
    int n;
} Result;

static void free_result(Result *r)
{
    free(r->gamma);
    free(r->u);
}

static Result solve(const TalusProblemDef *def, TalusPool *pool, const char *spec,
                    const TalusSolveOptions *options)
{
    Result r = {0};
    TalusProblem *p;
    TalusSolver *s;
    CHECK_OK(talus_problem_create(def, pool, &p));
    CHECK_OK(talus_solver_create(spec, &s));
    if (strcmp(spec, "prox") != 0) /* direct */
        CHECK_OK(talus_problem_set_backend(p, eliminate_backend));
    CHECK_OK(talus_solver_solve(s, p, options, &r.info));
    r.n = talus_problem_size(p);
    r.gamma = calloc((size_t)r.n, sizeof *r.gamma);
    r.u = calloc((size_t)r.n, sizeof *r.u);
    memcpy(r.gamma, talus_problem_gamma(p), (size_t)r.n * sizeof *r.gamma);
    talus_problem_velocity(p, r.gamma, r.u);
    TalusResidual residual;
    talus_problem_residual(p, r.gamma, &residual);
    double near = p->backend == &talus_backend_cpu ? 0.0 : 1e-13; /* measured there; here */
    CHECK_NEAR(residual.rms, r.info.residual.rms, near);
    CHECK_NEAR(residual.max, r.info.residual.max, near);
    talus_solver_destroy(s);
    talus_problem_destroy(p);
    return r;
}

static TalusSolveOptions tight(void)
{
    TalusSolveOptions o = talus_solve_options_default();
    o.tolerance = 1e-11;
    o.norm = TALUS_NORM_MAX;
    o.max_iterations = 20000;
    return o;
}

/* What a joint's rows, with compliance, are off by. */
static double joint_error(const TalusProblemDef *def, const Result *r)
{
    int rows = r->n / def->contact_count;
    double most = 0.0;
    for (int i = 0; i < def->contact_count; i++)
        for (int k = 0; k < 3 && isinf(def->contacts[i].mu); k++)
            if (def->contacts[i].model.sides & 1 << k) {
                double u = r->u[i * rows + k];
                u += k == 0 ? def->contacts[i].compliance * r->gamma[i * rows] : 0.0;
                most = fmax(most, fabs(u));
            }
    return most;
}

/* Every such solver ends with the velocities of a direct method on the whole problem, in fewer products than
 * with joints among its unknowns, and joints are exact to rounding. */
TEST(solvers_agree)
{
    for (int k = 0; k <= CASES; k++) {
        TestProblem def = make_case(k);
        TalusSolveOptions o = tight();
        o.keep_joints = true;
        bool turning = k < CASES && cases[k].moment_mu > 0.0;
        Result expected = solve(&def.def, NULL, turning ? "lbfgs-fb" : "prox", &o);
        CHECK_INT(expected.info.outcome, TALUS_OUTCOME_CONVERGED);
        o.keep_joints = false;
        for (int s = 0; s < SPECS; s++) {
            Result r = solve(&def.def, NULL, specs[s], &o);
            CHECK_INT(r.info.outcome, TALUS_OUTCOME_CONVERGED);
            CHECK(joint_error(&def.def, &r) < 1e-13);
            for (int i = 0; i < r.n; i++)
                CHECK_NEAR(r.u[i], expected.u[i], 1e-8);
            free_result(&r);
        }
        free_result(&expected);
        free_test_problem(&def);
    }
}

/* It takes joints beside contacts without friction only. */
TEST(pgd_without_friction)
{
    TestProblem def = make_joints(&cases[4]);
    TalusSolveOptions o = tight();
    Result r = solve(&def.def, NULL, "pgd", &o), expected = solve(&def.def, NULL, "lbfgs-fb", &o);
    CHECK_INT(r.info.outcome, TALUS_OUTCOME_CONVERGED);
    for (int i = 0; i < r.n; i++)
        CHECK_NEAR(r.u[i], expected.u[i], 1e-9);
    free_result(&r);
    free_result(&expected);
    free_test_problem(&def);
}

/* A straight chain of links of 1 kg with 1000 kg at its end, on a floor. */
static TestProblem make_heavy_chain(int links)
{
    TestProblem p = {.name = "heavy chain"};
    size_t n = (size_t)links;
    double *inv_mass = test_memory(&p, n, sizeof *inv_mass);
    double *velocity = test_memory(&p, 6 * n, sizeof *velocity);
    TalusSym3 *inv_inertia = test_memory(&p, n, sizeof *inv_inertia);
    TalusContactDef *contact = test_memory(&p, 2 * n, sizeof *contact);
    for (int i = 0; i < links; i++) {
        double mass = i + 1 == links ? 1000.0 : 1.0, spin = 250.0 / mass;
        inv_mass[i] = 1.0 / mass;
        inv_inertia[i] = (TalusSym3){spin, spin, spin, 0.0, 0.0, 0.0};
        velocity[6 * i] = 0.1 * i / links;
        velocity[6 * i + 2] = -0.01;
        contact[i] = (TalusContactDef){
            .a = i, .b = -1, .normal = {0.0, 0.0, -1.0}, .arm_a = {0.0, 0.0, -0.03}, .mu = 0.5};
        contact[links + i] =
            (TalusContactDef){.a = i,
                              .b = i - 1,
                              .normal = {1.0, 0.0, 0.0},
                              .arm_a = {-0.05, 0.0, 0.0},
                              .arm_b = {0.05, 0.0, 0.0},
                              .mu = INFINITY,
                              .model = {.section = TALUS_SECTION_JOINT, .sides = 7}};
    }
    p.def = (TalusProblemDef){.body_count = links,
                              .inv_mass = inv_mass,
                              .inv_inertia = inv_inertia,
                              .free_velocity = velocity,
                              .contacts = contact,
                              .contact_count = 2 * links};
    return p;
}

TEST(few_products_on_a_heavy_chain)
{
    TestProblem def = make_heavy_chain(100);
    TalusSolveOptions o = talus_solve_options_default();
    for (int s = 0; s < 2; s++) {
        Result without = solve(&def.def, NULL, specs[s], &o);
        o.keep_joints = true;
        Result with = solve(&def.def, NULL, specs[s], &o);
        o.keep_joints = false;
        CHECK_INT(without.info.outcome, TALUS_OUTCOME_CONVERGED);
        CHECK(joint_error(&def.def, &without) < 1e-13); /* impulses are 100 kg m/s, links 1 kg */
        CHECK(10 * without.info.products < with.info.products);
        free_result(&without);
        free_result(&with);
    }
    free_test_problem(&def);
}

TEST(no_contacts)
{
    TestProblem def =
        make_joints(&(JointOptions){.seed = 7, .links = 9, .mu = 0.4, .extras = true});
    TalusProblemDef joints = def.def;
    while (!isinf(joints.contacts[0].mu)) {
        joints.contacts++;
        joints.contact_count--;
    }
    TalusSolveOptions o = tight();
    Result r = solve(&joints, NULL, "auto", &o);
    CHECK_INT(r.info.outcome, TALUS_OUTCOME_CONVERGED);
    CHECK_INT(r.info.products, 0);
    CHECK(joint_error(&joints, &r) < 1e-14);
    free_result(&r);
    free_test_problem(&def);
}

/* Two free motors on one axis that ask for different speeds. */
TEST(joints_that_contradict)
{
    TestProblem def = make_joints(&(JointOptions){.seed = 8, .links = 3, .mu = 0.4});
    int count = def.def.contact_count;
    TalusContactDef *more = test_memory(&def, (size_t)count + 2, sizeof *more);
    memcpy(more, def.def.contacts, (size_t)count * sizeof *more);
    for (int k = 0; k < 2; k++) {
        more[count + k] = more[count - 1];
        more[count + k].model.sides = 1;
        more[count + k].arm_a.y += 0.3;
        more[count + k].bias = k ? 0.1 : -0.1;
    }
    def.def.contacts = more;
    def.def.contact_count = count + 2;
    TalusSolveOptions o = tight();
    o.max_iterations = 500;
    Result r = solve(&def.def, NULL, "apgd", &o);
    CHECK_INT(r.info.outcome, TALUS_OUTCOME_BUDGET);
    for (int i = 0; i < r.n; i++)
        CHECK(isfinite(r.gamma[i]));
    free_result(&r);
    free_test_problem(&def);
}

static void set_coulomb(TestProblem *p)
{
    TalusContactDef *exact = test_memory(p, (size_t)p->def.contact_count, sizeof *exact);
    memcpy(exact, p->def.contacts, (size_t)p->def.contact_count * sizeof *exact);
    for (int i = 0; i < p->def.contact_count; i++)
        if (exact[i].model.section == TALUS_SECTION_DISC)
            exact[i].model.law = TALUS_LAW_COULOMB;
    p->def.contacts = exact;
}

/* Under Coulomb's law itself, by the algorithm and by the driver's shifts. The second problem's first claim
 * holds without joints and not with them: blocks have smaller diagonals there. */
TEST(under_coulombs_law)
{
    static const JointOptions claims = {.seed = 32, .links = 8, .mu = 0.6, .ratio = 100};
    TalusSolveOptions o = tight();
    for (int k = 0; k < 2; k++) {
        TestProblem def = make_joints(k ? &claims : &cases[1]);
        set_coulomb(&def);
        o.tolerance = k ? 1e-6 : 1e-9;
        for (int s = 0; s < 2; s++) {
            Result r = solve(&def.def, NULL, specs[s], &o);
            CHECK_INT(r.info.outcome, TALUS_OUTCOME_CONVERGED);
            CHECK(joint_error(&def.def, &r) < 1e-13);
            free_result(&r);
        }
        free_test_problem(&def);
    }
}

/* ---- what callers see ---- */

typedef struct Seen {
    TalusProblem *problem;
    const TalusProblemDef *def;
    int count;
    double worst;
} Seen;

static bool look(void *user, const TalusObservation *seen)
{
    Seen *s = user;
    Result r = {.n = talus_problem_size(s->problem), .gamma = (double *)seen->gamma};
    r.u = calloc((size_t)r.n, sizeof *r.u);
    talus_problem_velocity(s->problem, seen->gamma, r.u);
    if (seen->iteration > 0)
        s->worst = fmax(s->worst, joint_error(s->def, &r));
    s->count++;
    free(r.u);
    return true;
}

TEST(observers_see_joints)
{
    TestProblem def = make_joints(&cases[1]);
    TalusSolveOptions o = tight();
    for (int s = 0; s < SPECS; s++) {
        TalusProblem *p;
        TalusSolver *solver;
        TalusSolveInfo info;
        REQUIRE_OK(talus_problem_create(&def.def, NULL, &p));
        REQUIRE_OK(talus_problem_set_backend(p, eliminate_backend));
        REQUIRE_OK(talus_solver_create(specs[s], &solver));
        Seen seen = {p, &def.def, 0, 0.0};
        o.observer = look;
        o.observer_user = &seen;
        CHECK_OK(talus_solver_solve(solver, p, &o, &info));
        CHECK_INT(info.outcome, TALUS_OUTCOME_CONVERGED);
        CHECK(seen.count > 2 && seen.worst < 1e-13);
        talus_solver_destroy(solver);
        talus_problem_destroy(p);
    }
    free_test_problem(&def);
}

TEST(warm_solves_allocate_nothing)
{
    TestProblem def = make_two_machines();
    TalusProblem *p;
    TalusSolver *solver;
    TalusSolveInfo info;
    TalusSolveOptions o = tight();
    REQUIRE_OK(talus_problem_create(&def.def, NULL, &p));
    REQUIRE_OK(talus_problem_set_backend(p, eliminate_backend));
    REQUIRE_OK(talus_problem_upload(p));
    REQUIRE_OK(talus_solver_create("lbfgs-fb", &solver));
    size_t before = talus_memory_now();
    CHECK_OK(talus_solver_solve(solver, p, &o, &info));
    size_t held = talus_memory_now();
    CHECK(info.memory_bytes >= held - before);
    memset(talus_problem_gamma(p), 0, (size_t)talus_problem_size(p) * sizeof(double));
    talus_memory_reset_peak();
    CHECK_OK(talus_solver_solve(solver, p, &o, &info));
    CHECK(talus_memory_peak() == held);
    talus_solver_destroy(solver);
    talus_problem_destroy(p);
    free_test_problem(&def);
}

TEST(same_bits_for_any_threads)
{
    TestProblem def = make_two_machines();
    TalusSolveOptions o = tight();
    TalusPool *pool;
    REQUIRE_OK(talus_pool_create(3, &pool));
    for (int s = 0; s < SPECS; s++) {
        Result one = solve(&def.def, NULL, specs[s], &o);
        Result three = solve(&def.def, pool, specs[s], &o);
        CHECK(memcmp(one.gamma, three.gamma, (size_t)one.n * sizeof *one.gamma) == 0);
        free_result(&one);
        free_result(&three);
    }
    talus_pool_destroy(pool);
    free_test_problem(&def);
}

static inline void run_eliminate_cases(void)
{
    RUN(operator_is_the_schur_complement);
    RUN(solvers_agree);
    RUN(pgd_without_friction);
    RUN(few_products_on_a_heavy_chain);
    RUN(no_contacts);
    RUN(joints_that_contradict);
    RUN(under_coulombs_law);
    RUN(observers_see_joints);
    RUN(warm_solves_allocate_nothing);
    RUN(same_bits_for_any_threads);
}

#endif

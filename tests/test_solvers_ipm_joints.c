/* ipm-chol and ipm-aug with joints, petra-2009 Eq. 31, 34 and 35: against a dense solution of the optimality conditions
 * on the verifier's matrix, against apgd, and each other; redundant, contradictory and too many joints; faults. */
#include "solver_specs.h"
#include "support/joints.h"

#include "base/memory.h"

#include <talus/talus.h>

static const TalusFrictionModel triangle = {TALUS_SECTION_POLYGON, TALUS_LAW_CCP, 3};
static const TalusFrictionModel hexagon = {TALUS_SECTION_POLYGON, TALUS_LAW_CCP, 6};
static const TalusFrictionModel square = {TALUS_SECTION_SQUARE, TALUS_LAW_CCP, 0};

static const char *const all[] = {"ipm-chol", "ipm-aug", "ipm-chol:linear=ldl,correctors=2",
                                  "ipm-aug:linear=ldl"};
enum { ALL = sizeof all / sizeof *all };

/* A problem of chains whose contacts have the model. */
static TestProblem chains(const JointOptions *options, TalusFrictionModel model)
{
    TestProblem p = make_joints(options);
    for (int i = 0; i < p.def.contact_count; i++) {
        TalusContactDef *c = (TalusContactDef *)&p.def.contacts[i];
        if (c->model.section != TALUS_SECTION_JOINT && c->mu > 0.0)
            c->model = model;
    }
    return p;
}

static const JointOptions cases[] = {
    {.seed = 21, .links = 6, .mu = 0.4, .ratio = 10.0},
    {.seed = 22, .links = 4, .mu = 0.3, .extras = true},
    {.seed = 23, .links = 8, .mu = 0.3, .masks = true, .extras = true},
    {.seed = 24, .links = 5, .masks = true},
    {.seed = 25, .links = 3, .mu = 0.3, .closed = true},
    {.seed = 26, .links = 20, .mu = 0.5, .ratio = 1e4, .extras = true},
};
enum { CASES = sizeof cases / sizeof *cases };

/* ---- the dense solution ---- */

/* Solves A x = b by elimination with full pivoting; unknowns whose pivots are rounding are 0. A and b are lost. */
static void solve_full(int n, double *a, double *b, double *x)
{
    int *row = calloc((size_t)n + 1, sizeof *row), *column = calloc((size_t)n + 1, sizeof *column);
    int rank = 0;
    double first = 0.0;
    for (int k = 0; k < n; k++)
        row[k] = column[k] = k;
    for (; rank < n; rank++) {
        int p = rank, q = rank;
        for (int i = rank; i < n; i++)
            for (int j = rank; j < n; j++)
                if (fabs(a[row[i] * n + column[j]]) > fabs(a[row[p] * n + column[q]]))
                    p = i, q = j;
        double pivot = a[row[p] * n + column[q]];
        first = rank == 0 ? fabs(pivot) : first;
        if (!(fabs(pivot) > 1e-12 * first))
            break;
        int swap = row[p];
        row[p] = row[rank], row[rank] = swap;
        swap = column[q], column[q] = column[rank], column[rank] = swap;
        for (int i = rank + 1; i < n; i++) {
            double f = a[row[i] * n + column[rank]] / pivot;
            for (int j = rank; j < n; j++)
                a[row[i] * n + column[j]] -= f * a[row[rank] * n + column[j]];
            b[row[i]] -= f * b[row[rank]];
        }
    }
    memset(x, 0, (size_t)n * sizeof *x);
    for (int k = rank; k-- > 0;) {
        double sum = b[row[k]];
        for (int j = k + 1; j < rank; j++)
            sum -= a[row[k] * n + column[j]] * x[column[j]];
        x[column[k]] = sum / a[row[k] * n + column[k]];
    }
    free(row);
    free(column);
}

/* Multipliers as this test has them: gamma = sum of edge times x, low <= x <= high. */
typedef struct Unknowns {
    int n, count;
    double *edge; /* [count][n] */
    double *low, *high, *x, *slope;
} Unknowns;

static void add_unknown(Unknowns *u, int block, const double edge[3], double low, double high)
{
    memcpy(u->edge + u->count * u->n + 3 * block, edge, 3 * sizeof *edge);
    u->low[u->count] = low;
    u->high[u->count++] = high;
}

/* The corners of a section with mu n = 1. */
static int corners(TalusFrictionModel model, double corner[][2])
{
    int count = model.section == TALUS_SECTION_SQUARE ? 4 : model.sides;
    for (int k = 0; k < count; k++) {
        double angle = 2.0 * 3.14159265358979323846 * k / count;
        bool is_square = model.section == TALUS_SECTION_SQUARE;
        corner[k][0] = is_square ? (k < 2 ? 1.0 : -1.0) : cos(angle);
        corner[k][1] = is_square ? (k % 2 ? 1.0 : -1.0) : sin(angle);
    }
    return count;
}

static void add_block(Unknowns *u, const TalusContactDef *c, int block)
{
    double corner[16][2];
    if (c->model.section == TALUS_SECTION_JOINT) {
        for (int r = 0; r < 3; r++)
            if (c->model.sides >> r & 1 && c->mu > 0.0)
                add_unknown(u, block, (double[3]){r == 0, r == 1, r == 2}, -c->mu, c->mu);
    } else if (c->mu > 0.0) {
        for (int k = corners(c->model, corner); k-- > 0;)
            add_unknown(u, block, (double[3]){1.0, c->mu * corner[k][0], c->mu * corner[k][1]}, 0.0,
                        INFINITY);
    } else {
        add_unknown(u, block, (double[3]){1.0, 0.0, 0.0}, 0.0, INFINITY);
    }
}

static Unknowns make_unknowns(const TalusProblemDef *def)
{
    Unknowns u = {.n = verify_size(def)};
    size_t most = 6 * (size_t)def->contact_count;
    u.edge = calloc(most * (size_t)u.n, sizeof *u.edge);
    u.low = calloc(4 * most, sizeof *u.low);
    u.high = u.low + most;
    u.x = u.high + most;
    u.slope = u.x + most;
    for (int i = 0; i < def->contact_count; i++)
        add_block(&u, &def->contacts[i], i);
    return u;
}

/* gamma of the unknowns. */
static void write_gamma(const Unknowns *u, double *gamma)
{
    memset(gamma, 0, (size_t)u->n * sizeof *gamma);
    for (int k = 0; k < u->count; k++)
        for (int i = 0; i < u->n; i++)
            gamma[i] += u->x[k] * u->edge[k * u->n + i];
}

/* slope = G'((N + E) gamma + q). */
static void write_slopes(Unknowns *u, const double *matrix, const double *q, const double *gamma)
{
    memset(u->slope, 0, (size_t)u->count * sizeof *u->slope);
    for (int i = 0; i < u->n; i++) {
        double g = q[i];
        for (int j = 0; j < u->n; j++)
            g += matrix[i * u->n + j] * gamma[j];
        for (int k = 0; k < u->count; k++)
            u->slope[k] += u->edge[k * u->n + i] * g;
    }
}

/* Sets x: at a bound as the slope says, else by the equations slope = 0 of all others. */
static void solve_inside(Unknowns *u, const double *matrix, const double *q, double *gamma)
{
    int *inside = calloc((size_t)u->count + 1, sizeof *inside), m = 0;
    size_t size = (size_t)u->count;
    double *a = calloc(size * size + 2 * size + (size_t)u->n + 1, sizeof *a);
    double *b = a + size * size, *x = b + size, *image = x + size;
    for (int k = 0; k < u->count; k++) {
        bool is_low = u->slope[k] > 1e-7, is_high = u->slope[k] < -1e-7;
        if (isinf(u->low[k]) || (!is_low && !is_high))
            inside[m++] = k;
        u->x[k] = isinf(u->low[k]) ? 0.0 : is_low ? u->low[k] : is_high ? u->high[k] : 0.0;
    }
    write_gamma(u, gamma);
    write_slopes(u, matrix, q, gamma);
    for (int r = 0; r < m; r++) {
        const double *edge = u->edge + inside[r] * u->n;
        memset(image, 0, (size_t)u->n * sizeof *image);
        for (int i = 0; i < u->n; i++)
            for (int j = 0; j < u->n && edge[i] != 0.0; j++)
                image[j] += edge[i] * matrix[i * u->n + j];
        b[r] = -u->slope[inside[r]];
        for (int c = 0; c < m; c++)
            for (int j = 0; j < u->n; j++)
                a[r * m + c] += image[j] * u->edge[inside[c] * u->n + j];
    }
    solve_full(m, a, b, x);
    for (int r = 0; r < m; r++)
        u->x[inside[r]] = x[r];
    free(a);
    free(inside);
}

/* Solves the optimality conditions with the active bounds of gamma, checks that the result is the optimum, and that
 * gamma has its velocities. */
static void check_conditions(const TalusProblemDef *def, const double *gamma, const char *spec)
{
    Unknowns u = make_unknowns(def);
    size_t n = (size_t)u.n;
    double *matrix = calloc(n * n + 4 * n, sizeof *matrix), *q = matrix + n * n, *exact = q + n;
    double *v = exact + n, *w = v + n, most = 0.0;
    verify_matrix(def, matrix);
    verify_velocity(def, NULL, q);
    write_slopes(&u, matrix, q, gamma);
    solve_inside(&u, matrix, q, exact);
    write_gamma(&u, exact);
    bool ok = CHECK(verify_residual(def, exact).rms < 1e-11);
    verify_velocity(def, gamma, v);
    verify_velocity(def, exact, w);
    for (size_t k = 0; k < n; k++)
        most = fmax(most, fabs(v[k] - w[k]));
    ok &= CHECK(most <= 1e-10);
    if (!ok)
        printf("    %s: off by %.2e, dense residual %.2e\n", spec, most,
               verify_residual(def, exact).rms);
    free(u.edge);
    free(u.low);
    free(matrix);
}

/* ---- solutions ---- */

/* Solves from zero; converged, in a few iterations, as the verifier sees it. The caller frees the impulses. */
static double *solved(const TestProblem *p, const char *spec, int iterations)
{
    int n = verify_size(&p->def);
    TalusProblem *problem = create(&p->def, NULL);
    double *gamma = calloc((size_t)n + 1, sizeof *gamma);
    TalusSolveInfo info = solve_cold(spec, problem, 1e-12, iterations);
    bool ok = CHECK_STR(talus_outcome_name(info.outcome), "converged");
    memcpy(gamma, talus_problem_gamma(problem), (size_t)n * sizeof *gamma);
    ok &= CHECK_NEAR(info.residual.rms, verify_residual(&p->def, gamma).rms, 1e-13);
    ok &= CHECK(verify_outside(&p->def, gamma) <= 1e-13 * verify_scale(&p->def, gamma));
    if (!ok)
        printf("    %s: residual %.2e after %d iterations, %d factorisations\n", spec,
               info.residual.rms, info.iterations, info.factorisations);
    talus_problem_destroy(problem);
    return gamma;
}

/* Largest difference of the velocities that two impulses make. */
static double velocity_difference(const TalusProblemDef *def, const double *a, const double *b)
{
    int n = verify_size(def);
    double *u = calloc(2 * (size_t)n + 1, sizeof *u), *v = u + n, most = 0.0;
    verify_velocity(def, a, u);
    verify_velocity(def, b, v);
    for (int k = 0; k < n; k++)
        most = fmax(most, fabs(u[k] - v[k]));
    free(u);
    return most;
}

static void check_case(const JointOptions *o, TalusFrictionModel model)
{
    TestProblem p = chains(o, model), matrix = make_joint_matrix(&p.def);
    double *first = solved(&p, "apgd", 200000);
    for (int i = 0; i < 2 * ALL; i++) {
        const TestProblem *q = i < ALL ? &p : &matrix;
        double *gamma = solved(q, all[i % ALL], 40);
        check_conditions(&p.def, gamma, all[i % ALL]);
        if (!CHECK(velocity_difference(&p.def, gamma, first) <= 1e-10))
            printf("    %s on seed %d: %.2e from apgd\n", all[i % ALL], (int)o->seed,
                   velocity_difference(&p.def, gamma, first));
        free(gamma);
    }
    free(first);
    free_test_problem(&matrix);
    free_test_problem(&p);
}

TEST(chains_satisfy_the_conditions)
{
    const TalusFrictionModel models[] = {triangle, hexagon, square};
    for (int k = 0; k < CASES; k++)
        check_case(&cases[k], models[k % 3]);
}

/* Free joints alone are one linear system; one more solution refines it. */
TEST(joints_alone_take_few_iterations)
{
    TestProblem p = make_joints(&(JointOptions){.seed = 27, .links = 30});
    TestProblem free_ones = p;
    free_ones.def.contacts += 4; /* without those of the floor */
    free_ones.def.contact_count -= 4;
    double *first = solved(&free_ones, "apgd", 10);
    for (int i = 0; i < ALL; i++) {
        double *gamma = solved(&free_ones, all[i], 4);
        CHECK(velocity_difference(&free_ones.def, gamma, first) <= 1e-12);
        free(gamma);
    }
    free(first);
    free_test_problem(&p);
}

/* ---- dependent and contradictory equations ---- */

/* The chain with a copy of its last joint, which asks for another velocity if `bias` is not 0. */
static TestProblem doubled(double bias)
{
    TestProblem chain = chains(&(JointOptions){.seed = 28, .links = 5, .mu = 0.3}, triangle);
    TestProblem p = copy_test_problem(&chain.def, "doubled joint");
    int count = p.def.contact_count;
    TalusContactDef *contacts = test_memory(&p, (size_t)count + 1, sizeof *contacts);
    memcpy(contacts, p.def.contacts, (size_t)count * sizeof *contacts);
    contacts[count] = contacts[count - 1];
    contacts[count].bias += bias;
    p.def.contacts = contacts;
    p.def.contact_count = count + 1;
    free_test_problem(&chain);
    return p;
}

/* A joint twice moves bodies as it does once, and the two share its impulse. */
TEST(equations_that_repeat_are_solved)
{
    TestProblem once = chains(&(JointOptions){.seed = 28, .links = 5, .mu = 0.3}, triangle);
    TestProblem p = doubled(0.0);
    int n = verify_size(&once.def);
    for (int i = 0; i < ALL; i++) {
        double *one = solved(&once, all[i], 40), *two = solved(&p, all[i], 40), largest = 0.0;
        check_conditions(&p.def, two, all[i]);
        for (int k = 0; k < n; k++) {
            double both = two[k] + (k >= n - 3 ? two[k + 3] : 0.0);
            largest = fmax(largest, fabs(both - one[k]));
        }
        if (!CHECK(largest <= 1e-9))
            printf("    %s: impulses off by %.2e\n", all[i], largest);
        free(one);
        free(two);
    }
    free_test_problem(&once);
    free_test_problem(&p);
}

/* Two velocities for one joint: a proof, which grows in the rows of both, after a few iterations. */
TEST(equations_that_contradict_each_other_are_proven)
{
    TestProblem p = doubled(0.3);
    for (int i = 0; i < ALL; i++) {
        TalusProblem *problem = create(&p.def, NULL);
        TalusSolveInfo info = solve_cold(all[i], problem, 1e-12, 200);
        const double *delta = talus_problem_certificate(problem);
        bool ok = CHECK_STR(talus_outcome_name(info.outcome), "infeasible");
        ok &= CHECK(delta != NULL);
        ok &= CHECK(info.iterations <= 20);
        if (!ok)
            printf("    %s: residual %.2e after %d\n", all[i], info.residual.rms, info.iterations);
        const double *last = delta ? delta + verify_size(&p.def) - 3 : NULL;
        double size = last ? fabs(last[0]) + fabs(last[1]) + fabs(last[2]) : 0.0;
        for (int k = 0; delta && k < 3; k++) /* the two cancel each other */
            CHECK_NEAR(last[k] + last[k - 3], 0.0, 1e-12 * size);
        talus_problem_destroy(problem);
    }
    free_test_problem(&p);
}

/* ---- limits, faults ---- */

/* 1,700 bodies on one hub: 5,100 equations of which every one has entries with every other. */
TEST(too_many_equations_are_refused)
{
    enum { ARMS = 1700 };
    TestProblem p = make_joints(&(JointOptions){.seed = 29, .links = ARMS + 1});
    TalusContactDef *hub = test_memory(&p, ARMS, sizeof *hub);
    for (int i = 0; i < ARMS; i++) {
        hub[i] = p.def.contacts[p.def.contact_count - 1];
        hub[i].a = 0;
        hub[i].b = i + 1;
    }
    p.def.contacts = hub;
    p.def.contact_count = ARMS;
    TalusProblem *problem = create(&p.def, NULL);
    TalusSolver *solver = solver_of("ipm-chol");
    TalusSolveOptions options = budget(1e-10, 20);
    TalusSolveInfo info;
    CHECK_INT(talus_solver_solve(solver, problem, &options, &info), TALUS_ERR_UNSUPPORTED);
    CHECK(strstr(talus_error(), "5100 equations") && strstr(talus_error(), "ipm-aug"));
    talus_solver_destroy(solver);
    CHECK_STR(talus_outcome_name(solve_cold("ipm-aug:linear=ldl", problem, 1e-10, 20).outcome),
              "converged");
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

/* One chain after another of another size, with one solver: nothing of the last one shows. */
TEST(takes_one_chain_after_another)
{
    for (int i = 0; i < ALL; i++) {
        TalusSolver *solver = solver_of(all[i]);
        for (int k = 0; k < 6; k++) {
            TestProblem p = chains(&cases[k * 5 % CASES], triangle);
            TalusProblem *problem = create(&p.def, NULL), *other = create(&p.def, NULL);
            TalusSolveOptions options = budget(1e-10, 40);
            TalusSolveInfo info;
            CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
            CHECK_STR(talus_outcome_name(info.outcome), "converged");
            solve_cold(all[i], other, 1e-10, 40);
            CHECK(memcmp(talus_problem_gamma(problem), talus_problem_gamma(other),
                         (size_t)verify_size(&p.def) * sizeof(double)) == 0);
            talus_problem_destroy(problem);
            talus_problem_destroy(other);
            free_test_problem(&p);
        }
        talus_solver_destroy(solver);
    }
}

TEST(survives_failed_allocations)
{
    TestProblem p = chains(&cases[1], triangle);
    for (int i = 0; i < ALL; i++) {
        TalusProblem *problem = create(&p.def, NULL);
        TalusSolveOptions options = budget(1e-10, 40);
        TalusSolveInfo info;
        TalusStatus status = TALUS_ERR_MEMORY;
        int n = 1;
        for (; status != TALUS_OK && n < 400; n++) {
            TalusSolver *solver = solver_of(all[i]);
            set_gamma(problem, NULL);
            talus_fail_allocation_in(n);
            status = talus_solver_solve(solver, problem, &options, &info);
            talus_fail_allocation_in(0);
            if (status != TALUS_OK) { /* the same solver goes on once there is memory */
                CHECK_INT(status, TALUS_ERR_MEMORY);
                CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
                CHECK_STR(talus_outcome_name(info.outcome), "converged");
            }
            talus_solver_destroy(solver);
        }
        CHECK(n > 20 && n < 400);
        talus_problem_destroy(problem);
    }
    free_test_problem(&p);
}

int main(void)
{
    RUN(chains_satisfy_the_conditions);
    RUN(joints_alone_take_few_iterations);
    RUN(equations_that_repeat_are_solved);
    RUN(equations_that_contradict_each_other_are_proven);
    RUN(too_many_equations_are_refused);
    RUN(takes_one_chain_after_another);
    RUN(survives_failed_allocations);
    return talus_test_result();
}

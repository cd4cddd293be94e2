/* Claims that rounding could make false: convergence by huge impulses, infeasibility of problems that are only badly
 * conditioned. Every claim is held against the residual in extended precision (support/exact.h). */

#include "solver_specs.h"
#include "support/exact.h"

#include "base/rng.h"

static const TalusFrictionModel laws[3] = {
    {.section = TALUS_SECTION_DISC, .law = TALUS_LAW_CCP},
    {.section = TALUS_SECTION_DISC, .law = TALUS_LAW_FIXED},
    {.section = TALUS_SECTION_DISC, .law = TALUS_LAW_COULOMB},
};

static ExactResidual exact_of(TalusProblem *problem)
{
    TalusProblemDef def;
    CHECK_OK(talus_problem_export(problem, &def));
    return exact_residual(&def, talus_problem_rows(problem), talus_problem_gamma(problem),
                          talus_problem_estimate(problem));
}

static TalusProblem *under_law(const TestProblem *p, int law)
{
    TalusProblem *problem = create(&p->def, NULL);
    if (talus_problem_rows(problem) > 1)
        CHECK_OK(talus_problem_set_friction(problem, laws[law]));
    return problem;
}

/* A random direction among n. */
static void draw_unit(TalusRng *rng, int n, double *x)
{
    double sum = 0.0;
    for (int k = 0; k < n; k++) {
        x[k] = talus_rng_uniform(rng) - 0.5;
        sum += x[k] * x[k];
    }
    for (int k = 0; k < n; k++)
        x[k] /= sqrt(sum);
}

/* ---- what rounding may hide ---- */

/* Its estimate is above the difference between the residual and the exact one. */
static void check_estimate(TestProblem *p, int law)
{
    static const char *const solvers[] = {"apgd", "gs", "ipm-soc", "prox"};
    TalusProblem *problem = under_law(p, law);
    for (int s = 0; s < 4; s++) {
        TalusMetrics m;
        TalusSolver *solver = solver_of(solvers[s]);
        bool taken = talus_solver_supports(solver, problem) == TALUS_OK;
        talus_solver_destroy(solver);
        if (!taken)
            continue;
        solve_cold(solvers[s], problem, 1e-13, s ? 300 : 3000);
        CHECK_OK(talus_problem_measure(problem, talus_problem_gamma(problem), &m));
        ExactResidual exact = exact_of(problem);
        bool ok = CHECK(fabsl(exact.rms - m.natural.rms) <= m.rounding.rms);
        ok &= CHECK(fabsl(exact.max - m.natural.max) <= m.rounding.max);
        blame(ok, p->name, solvers[s]);
    }
    talus_problem_destroy(problem);
}

TEST(the_estimate_of_rounding_is_above_it)
{
    for (int law = 0; law < 3; law++) {
        TestProblem all[] = {make_column(20, 1e3, 0.3),
                             make_column(20, 1e5, 0.0),
                             make_column(5, 1e8, 0.3),
                             make_column(50, 1.0, 0.3),
                             make_bowl(80, 0.3, 0.0),
                             make_heap(&(HeapOptions){16, 5, 5, 5, 0.8, 0.0, 0.0}),
                             make_heap(&(HeapOptions){17, 3, 3, 6, 0.3, 0.0, 0.5}),
                             make_heap(&(HeapOptions){19, 5, 5, 5, 0.0, 0.1, 1.0}),
                             make_explicit(5, 60, 3)};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
            check_estimate(&all[i], law);
            free_test_problem(&all[i]);
        }
    }
}

/* A ball that flies at 50 m/s into `count` contacts at all angles ahead of it. */
static TestProblem make_ball_among(uint64_t seed, int count)
{
    TestProblem p = {.name = "ball among contacts"};
    TalusRng rng = talus_rng_from_seed(seed);
    double *inv_mass = test_memory(&p, 1, sizeof *inv_mass);
    double *radius = test_memory(&p, 1, sizeof *radius);
    double *v = test_memory(&p, 6, sizeof *v);
    TalusSym3 *inertia = test_memory(&p, 1, sizeof *inertia);
    TalusContactDef *c = test_memory(&p, (size_t)count, sizeof *c);
    inv_mass[0] = radius[0] = 1.0;
    inertia->xx = inertia->yy = inertia->zz = 2.5;
    v[0] = 30.0, v[1] = 40.0;
    for (int i = 0; i < count; i++) {
        double n[3];
        draw_unit(&rng, 3, n);
        TalusVec3 normal = talus_vec3(n[0], n[1], n[2]);
        if (normal.x * v[0] + normal.y * v[1] < 0.0)
            normal = talus_scale(-1.0, normal);
        c[i] = (TalusContactDef){.a = 0, .b = -1, .normal = normal, .arm_a = normal};
    }
    p.def = (TalusProblemDef){.body_count = 1,
                              .inv_mass = inv_mass,
                              .inv_inertia = inertia,
                              .radius = radius,
                              .free_velocity = v,
                              .contact_count = count,
                              .contacts = c};
    return p;
}

/* N = S C S with every second entry of S far below the others, a solution with d gamma of size 1. */
static TestProblem make_uneven(uint64_t seed)
{
    enum { N = 5 };
    TestProblem p = {.name = "uneven diagonal"};
    TalusRng rng = talus_rng_from_seed(seed);
    int32_t *start = test_memory(&p, N + 1, sizeof *start);
    int32_t *column = test_memory(&p, N * N, sizeof *column);
    double *matrix = test_memory(&p, N * N, sizeof *matrix), *q = test_memory(&p, N, sizeof *q);
    double root[N][N], small = pow(10.0, -0.5 - 4.5 * talus_rng_uniform(&rng));
    p.def = (TalusProblemDef){.block_count = N,
                              .rows = 1,
                              .row_start = start,
                              .column = column,
                              .values = matrix,
                              .offset = q};
    for (int i = 0; i < N; i++) {
        draw_unit(&rng, N, root[i]);
        start[i + 1] = N * (i + 1);
    }
    for (int i = 0; i < N * N; i++) {
        double sum = i / N == i % N ? 0.1 : 0.0, gamma = i % N % 2 ? 1.0 / (small * small) : 1.0;
        for (int k = 0; k < N; k++)
            sum += root[i / N][k] * root[i % N][k];
        column[i] = i % N;
        matrix[i] = sum * (i / N % 2 ? small : 1.0) * (i % N % 2 ? small : 1.0);
        q[i / N] -= matrix[i] * gamma * (1.0 + 0.1 * (i % N));
    }
    return p;
}

/* Tolerances from where every claim is true to where none can be made. */
static int check_at_the_edge(TestProblem *p, double size)
{
    TalusProblem *problem = create(&p->def, NULL);
    int converged = 0;
    FOR_SPECS (s, problem)
        for (double share = 1e-14; share > 1e-17; share *= 0.3) {
            TalusSolveInfo info = solve_cold(specs[s].text, problem, share * size, 200);
            if (info.outcome != TALUS_OUTCOME_CONVERGED)
                break;
            converged++;
            blame(CHECK(exact_of(problem).rms <= share * size), p->name, specs[s].text);
        }
    talus_problem_destroy(problem);
    return converged;
}

/* Rounding comes from all terms of a velocity: of other contacts of the body, of rows with other diagonals. */
TEST(claims_at_the_edge_of_rounding_are_true)
{
    int converged = 0;
    for (uint64_t seed = 0; seed < (SLOW ? 2 : 12); seed++) {
        TestProblem all[] = {make_ball_among(seed, 64), make_uneven(seed)};
        for (int i = 0; i < 2; i++) {
            double size = i ? 0.0 : 50.0;
            for (int k = 0; i && k < all[i].def.block_count; k++)
                size = fmax(size, fabs(all[i].def.offset[k]));
            converged += check_at_the_edge(&all[i], size);
            free_test_problem(&all[i]);
        }
    }
    printf("         %d solves converged\n", converged);
    CHECK(converged > 0);
}

/* ---- wedges ---- */

/* A ball of radius 0.11 about the middle of planes that are 0.1 from it and face inwards. */
typedef struct Wedge {
    int walls;
    double off;  /* of the ball from the middle, m */
    double lean; /* of the walls: their normals have this much of an upward part */
    double mu, mass;
} Wedge;

static TestProblem make_tight_wedge(const Wedge *w)
{
    const double h = 0.01, r = 0.11;
    TestProblem p = {.name = "tight wedge"};
    double *inv_mass = test_memory(&p, 1, sizeof *inv_mass);
    double *radius = test_memory(&p, 1, sizeof *radius);
    double *v = test_memory(&p, 6, sizeof *v);
    TalusSym3 *inertia = test_memory(&p, 1, sizeof *inertia);
    TalusContactDef *c = test_memory(&p, (size_t)w->walls, sizeof *c);
    inv_mass[0] = 1.0 / w->mass;
    radius[0] = r;
    inertia->xx = inertia->yy = inertia->zz = 2.5 / (w->mass * r * r);
    v[2] = -9.81 * h;
    for (int k = 0; k < w->walls; k++) {
        double angle = 2.0 * 3.14159265358979323846 * k / w->walls, size = hypot(1.0, w->lean);
        TalusVec3 out = talus_vec3(cos(angle) / size, sin(angle) / size, -w->lean / size);
        if (w->walls == 2)
            out = talus_vec3((k ? -1.0 : 1.0) / size, 0.0, -w->lean / size);
        c[k] = (TalusContactDef){.a = 0,
                                 .b = -1,
                                 .normal = out,
                                 .arm_a = talus_scale(r, out),
                                 .mu = w->mu,
                                 .bias = (0.1 - w->off * out.x - r) / h};
    }
    p.def = (TalusProblemDef){.body_count = 1,
                              .inv_mass = inv_mass,
                              .inv_inertia = inertia,
                              .radius = radius,
                              .free_velocity = v,
                              .contact_count = w->walls,
                              .contacts = c};
    return p;
}

typedef enum Expected { NO_SOLUTION, SOME_SOLUTION, EITHER } Expected;

/* Every solver: convergence is real, and infeasibility comes with a proof. */
static int check_claims(TestProblem *p, int law, Expected expected)
{
    TalusProblem *problem = under_law(p, law);
    int proofs = 0;
    FOR_SPECS (s, problem) {
        TalusSolveInfo info = solve_cold(specs[s].text, problem, 1e-6, 1100);
        bool converged = info.outcome == TALUS_OUTCOME_CONVERGED;
        bool infeasible = info.outcome == TALUS_OUTCOME_INFEASIBLE;
        bool ok = CHECK(!(converged && expected == NO_SOLUTION));
        ok &= CHECK(!(infeasible && expected == SOME_SOLUTION));
        ok &= CHECK(!converged || exact_of(problem).rms <= 1e-6L);
        ok &= CHECK((talus_problem_certificate(problem) != NULL) == infeasible);
        blame(ok, p->name, specs[s].text);
        proofs += infeasible;
    }
    talus_problem_destroy(problem);
    return proofs;
}

/* Walls that lean by a rounding have a solution in exact numbers, at 1e15 m/s: none for us. By more than that the ball
 * can leave upwards, or is held by friction. */
static int check_wedges(int walls, double off, double mass)
{
    static const double leans[3] = {0.0, 0x1p-52, 0.2};
    int proofs = 0;
    for (int k = 0; k < 12; k++) {
        Wedge w = {walls, off, leans[k / 4], k % 4 ? 0.3 : 0.0, mass};
        TestProblem p = make_tight_wedge(&w);
        proofs += check_claims(&p, k % 4 ? k % 4 - 1 : 0, k < 8 ? NO_SOLUTION : EITHER);
        free_test_problem(&p);
    }
    return proofs;
}

TEST(wedges_do_not_converge)
{
    const double offs[] = {0.0, 1e-16, 1e-12, 1e-8, 1e-5, 1e-3};
    const double masses[] = {1.0, 11.150558822847587, 0.37};
    int proofs = 0;
    for (int walls = 2; walls <= 4; walls++)
        for (int o = 0; o < (SLOW ? 2 : 6); o++)
            for (int m = 0; m < 3; m++)
                proofs += check_wedges(walls, offs[o], masses[m]);
    printf("         %d proofs\n", proofs);
    CHECK(proofs > 0);
}

/* A ball that shoots along the axis of a ring of walls which it just touches: q is rounding. */
static TestProblem make_ring(uint64_t seed, int walls)
{
    TestProblem p = make_tight_wedge(&(Wedge){.walls = walls, .mass = 1.0});
    TalusContactDef *c = (TalusContactDef *)p.def.contacts;
    double *v = (double *)p.def.free_velocity, axis[3], e[3];
    TalusRng rng = talus_rng_from_seed(seed);
    draw_unit(&rng, 3, axis);
    draw_unit(&rng, 3, e);
    TalusVec3 along = talus_vec3(axis[0], axis[1], axis[2]), x, y;
    x = talus_cross(along, talus_vec3(e[0], e[1], e[2]));
    x = talus_scale(1.0 / talus_norm(x), x);
    y = talus_cross(along, x);
    p.name = "ring";
    for (int k = 0; k < walls; k++) {
        double angle = 2.0 * 3.14159265358979323846 * k / walls;
        c[k].normal = talus_add(talus_scale(cos(angle), x), talus_scale(sin(angle), y));
        c[k].arm_a = talus_scale(p.def.radius[0], c[k].normal);
        c[k].bias = 0.0;
    }
    for (int k = 0; k < 3; k++)
        v[k] = 1000.0 * axis[k];
    return p;
}

TEST(rounding_of_velocities_proves_nothing)
{
    for (uint64_t seed = 0; seed < 40; seed++) {
        TestProblem p = make_ring(seed, 2 + (int)(seed % 6));
        TalusProblem *problem = create(&p.def, NULL);
        double tolerance = 1e-6 * start_residual(problem);
        FOR_SPECS (s, problem) {
            TalusSolveInfo info = solve_cold(specs[s].text, problem, tolerance, 600);
            blame(CHECK(info.outcome != TALUS_OUTCOME_INFEASIBLE), p.name, specs[s].text);
        }
        talus_problem_destroy(problem);
        free_test_problem(&p);
    }
}

/* ---- heavy on light ---- */

TEST(stacks_of_any_ratio_are_solved)
{
    for (int law = 0; law < 3; law++)
        for (double ratio = 1.0; ratio < 2e8; ratio *= 10.0)
            for (int k = 0; k < 4; k++) {
                TestProblem p = make_column(k & 1 ? 8 : 2, ratio, k & 2 ? 0.3 : 0.0);
                TalusProblem *problem = under_law(&p, law);
                TalusSolveOptions options = budget(1e-4, 10000);
                options.reference_speed = 1e-2;
                options.norm = TALUS_NORM_MAX;
                TalusSolver *solver = solver_of("auto");
                TalusSolveInfo info;
                CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
                if (!CHECK_STR(talus_outcome_name(info.outcome), "converged"))
                    printf("    law %d, ratio %g, %d rows, %d contacts: %g after %d by %s\n", law,
                           ratio, talus_problem_rows(problem), talus_problem_blocks(problem),
                           info.residual.max, info.iterations, info.solver);
                talus_solver_destroy(solver);
                talus_problem_destroy(problem);
                free_test_problem(&p);
            }
}

TEST(stacks_are_not_infeasible)
{
    for (int law = 0; law < 3; law++)
        for (double ratio = 1e2; ratio < 2e12; ratio *= 100.0)
            for (int k = 0; k < 2; k++) {
                TestProblem p = make_column(2, ratio, k ? 0.3 : 0.0);
                check_claims(&p, law, SOME_SOLUTION);
                free_test_problem(&p);
            }
}

/* ---- badly conditioned, but solvable ---- */

enum { MOST = 24 };

/* N = H diag(1 ... 10^-digits) H' with H of two reflections; its first `singular` values are zero. */
static void make_matrix(TalusRng *rng, int n, double digits, int singular, double *matrix)
{
    double h[MOST][MOST] = {{0}}, w[MOST];
    for (int i = 0; i < n; i++)
        h[i][i] = 1.0;
    for (int k = 0; k < 2; k++) {
        draw_unit(rng, n, w);
        for (int i = 0; i < n; i++) {
            double along = 0.0;
            for (int j = 0; j < n; j++)
                along += h[i][j] * w[j];
            for (int j = 0; j < n; j++)
                h[i][j] -= 2.0 * along * w[j];
        }
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0.0;
            for (int k = singular; k < n; k++)
                sum += h[i][k] * h[j][k] * pow(10.0, -digits * k / (n - 1));
            matrix[i * n + j] = sum;
        }
}

/* q such that size times the projection of a random z is a solution, and that projection less z its velocity
 * (Moreau). */
static void plant(TestProblem *p, TalusRng *rng, double size, const double *matrix, double *q,
                  double *mu)
{
    int rows = p->def.rows, blocks = p->def.block_count, n = rows * blocks;
    double z[MOST] = {0.0}, gamma[MOST];
    draw_unit(rng, n, z);
    memcpy(gamma, z, sizeof gamma);
    for (int i = 0; i < blocks; i++) {
        mu[i] = 0.2 + 0.6 * talus_rng_uniform(rng);
        verify_project(rows, mu[i], gamma + i * rows);
    }
    for (int i = 0; i < n; i++) {
        q[i] = gamma[i] - z[i];
        for (int j = 0; j < n; j++)
            q[i] -= matrix[n * i + j] * size * gamma[j];
    }
}

static TestProblem make_feasible(uint64_t seed)
{
    TestProblem p = {.name = "badly conditioned"};
    TalusRng rng = talus_rng_from_seed(seed);
    int rows = seed % 3 ? 3 : 1, blocks = 2 + (int)(talus_rng_uniform(&rng) * 6.0);
    int n = rows * blocks;
    int32_t *start = test_memory(&p, (size_t)n + 1, sizeof *start);
    int32_t *column = test_memory(&p, (size_t)(n * n), sizeof *column);
    double *matrix = test_memory(&p, (size_t)(n * n), sizeof *matrix);
    double *q = test_memory(&p, (size_t)n, sizeof *q);
    double *mu = test_memory(&p, (size_t)blocks, sizeof *mu);
    p.def = (TalusProblemDef){.block_count = blocks,
                              .rows = rows,
                              .row_start = start,
                              .column = column,
                              .values = matrix,
                              .offset = q,
                              .mu = rows == 3 ? mu : NULL};
    for (int i = 0; i < n * n; i++)
        column[i] = i % n;
    for (int i = 0; i <= n; i++)
        start[i] = n * i;
    make_matrix(&rng, n, 12.0 * talus_rng_uniform(&rng), seed % 4 == 0 ? n / 3 : 0, matrix);
    plant(&p, &rng, pow(10.0, (double)(seed % 5)), matrix, q, mu);
    return p;
}

/* Every problem is given to every eighth solver: all of them see each kind of problem. */
TEST(bad_condition_is_not_infeasible)
{
    int converged = 0, solves = 0;
    for (uint64_t seed = 0; seed < (SLOW ? 150 : 1000); seed++) {
        TestProblem p = make_feasible(seed);
        TalusProblem *problem = create(&p.def, NULL);
        FOR_SPECS (s, problem) {
            if ((s + (int)seed) % 8)
                continue;
            int iterations = factorises(&specs[s]) ? 60 : 600;
            TalusSolveInfo info = solve_cold(specs[s].text, problem, 1e-8, iterations);
            bool ok = CHECK(info.outcome != TALUS_OUTCOME_INFEASIBLE);
            if (info.outcome == TALUS_OUTCOME_CONVERGED)
                ok &= CHECK(exact_of(problem).rms <= 1e-8L);
            blame(ok, p.name, specs[s].text);
            converged += info.outcome == TALUS_OUTCOME_CONVERGED;
            solves++;
        }
        talus_problem_destroy(problem);
        free_test_problem(&p);
    }
    printf("         %d of %d solves converged\n", converged, solves);
}

int main(void)
{
    RUN(the_estimate_of_rounding_is_above_it);
    RUN(claims_at_the_edge_of_rounding_are_true);
    RUN(wedges_do_not_converge);
    RUN(rounding_of_velocities_proves_nothing);
    RUN(stacks_of_any_ratio_are_solved);
    RUN(stacks_are_not_infeasible);
    RUN(bad_condition_is_not_infeasible);
    return talus_test_result();
}

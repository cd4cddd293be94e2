/* Lemmas 2 to 4 of pospisil-2015, on frictionless beds with more contacts than degrees of freedom, on wedged ones and on
 * random problems: what N sends to 0, whether there is a solution, and that the velocity is the same for all. */
#include "support/dense.h"
#include "support/problems.h"
#include "support/test.h"
#include "support/verified.h"

#include "base/rng.h"

#include <talus/solver.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SIZE = 256 };

/* The kernel of N, and the velocities of zero impulses. */
typedef struct Kernel {
    int size, count;
    double vector[MAX_SIZE * MAX_SIZE]; /* rows */
    double q[MAX_SIZE];
} Kernel;

static Kernel *make_kernel(const TestProblem *p)
{
    static double matrix[MAX_SIZE * MAX_SIZE];
    Kernel *k = calloc(1, sizeof *k);
    VerifyPoint zero = verify_zero_point(&p->def);
    k->size = p->def.contact_count;
    if (!CHECK(k->size <= MAX_SIZE))
        abort();
    verify_matrix(&p->def, matrix);
    memcpy(k->q, zero.u, (size_t)k->size * sizeof *k->q);
    k->count = find_kernel(k->size, matrix, 1e-11, k->vector);
    verify_point_free(&zero);
    return k;
}

/* A heavy sphere on a bed of small ones in a bowl, with gaps and overlaps that differ: more contacts than determine
 * their impulses. */
static TestProblem make_redundant(int count)
{
    TestProblem p = make_bowl(count, 0.0, 0.0);
    for (int i = 0; i < p.def.contact_count; i++)
        ((TalusContactDef *)p.def.contacts)[i].bias = 0.01 * sin(5.0 * i + 1.0);
    return p;
}

/* Largest force that impulses x put on a body, over the largest of x. */
static double net_force(const TestProblem *p, const double *x)
{
    double largest = 0.0, size = 0.0;
    double(*sum)[3] = calloc((size_t)p->def.body_count + 1, sizeof *sum);
    for (int i = 0; i < p->def.contact_count; i++) {
        const TalusContactDef *c = &p->def.contacts[i];
        const double n[3] = {c->normal.x, c->normal.y, c->normal.z};
        for (int k = 0; k < 3; k++) {
            if (c->a >= 0 && p->def.inv_mass[c->a] > 0.0)
                sum[c->a][k] -= x[i] * n[k];
            if (c->b >= 0 && p->def.inv_mass[c->b] > 0.0)
                sum[c->b][k] += x[i] * n[k];
        }
        size = fmax(size, fabs(x[i]));
    }
    for (int b = 0; b < p->def.body_count; b++)
        for (int k = 0; k < 3; k++)
            largest = fmax(largest, fabs(sum[b][k]));
    free(sum);
    return largest / size;
}

static double dot(int n, const double *a, const double *b)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Length of the part of q in the kernel, over that of q. */
static double share_in_kernel(const Kernel *k)
{
    double sum2 = 0.0;
    for (int i = 0; i < k->count; i++) {
        double part = dot(k->size, &k->vector[i * k->size], k->q);
        sum2 += part * part;
    }
    return sqrt(sum2 / dot(k->size, k->q, k->q));
}

/* ---- random problems ---- */

enum { RANDOM_PROBLEMS = 8, RANDOM_BODIES = 3, RANDOM_CONTACTS = 40 };

static double draw(TalusRng *rng)
{
    return 2.0 * talus_rng_uniform(rng) - 1.0;
}

static TalusVec3 draw_vector(TalusRng *rng)
{
    const double x = draw(rng), y = draw(rng), z = draw(rng);
    return talus_vec3(x, y, z);
}

static void add_entry(double *row, TalusVec3 normal, TalusVec3 arm)
{
    const TalusVec3 moment = talus_cross(arm, normal);
    const double entry[6] = {normal.x, normal.y, normal.z, moment.x, moment.y, moment.z};
    for (int k = 0; k < 6; k++)
        row[k] += entry[k];
}

/* Writes D', a row of 6 numbers for each body and contact; bodies that cannot move have zeros. */
static void make_transposed_d(const TalusProblemDef *def, double *out)
{
    const size_t width = (size_t)def->body_count * 6;
    memset(out, 0, (size_t)def->contact_count * width * sizeof *out);
    for (int i = 0; i < def->contact_count; i++) {
        const TalusContactDef *c = &def->contacts[i];
        double *row = out + (size_t)i * width;
        if (c->a >= 0 && def->inv_mass[c->a] > 0.0)
            add_entry(row + (size_t)6 * (size_t)c->a, talus_neg(c->normal), c->arm_a);
        if (c->b >= 0 && def->inv_mass[c->b] > 0.0)
            add_entry(row + (size_t)6 * (size_t)c->b, c->normal, c->arm_b);
    }
}

/* Bodies with random contacts in all directions, between each other and with the fixed world: more than degrees of
 * freedom. Gaps are in the image of D', as Lemma 3 has them, or random. */
static TestProblem make_random(uint64_t seed, bool gaps_in_image)
{
    TestProblem p = {.name = "random"};
    TalusRng rng = talus_rng_from_seed(seed);
    double *inv_mass = test_memory(&p, RANDOM_BODIES, sizeof *inv_mass);
    TalusSym3 *inv_inertia = test_memory(&p, RANDOM_BODIES, sizeof *inv_inertia);
    double *velocity = test_memory(&p, (size_t)6 * RANDOM_BODIES, sizeof *velocity);
    TalusContactDef *contact = test_memory(&p, RANDOM_CONTACTS, sizeof *contact);
    double image[6 * RANDOM_BODIES], d[RANDOM_CONTACTS][6 * RANDOM_BODIES];
    for (int b = 0; b < RANDOM_BODIES; b++) {
        inv_mass[b] = 1.5 + draw(&rng);
        inv_inertia[b] = (TalusSym3){2.0 + draw(&rng), 2.0 + draw(&rng), 2.0 + draw(&rng), 0, 0, 0};
    }
    for (int k = 0; k < 6 * RANDOM_BODIES; k++) {
        velocity[k] = draw(&rng);
        image[k] = draw(&rng);
    }
    for (int i = 0; i < RANDOM_CONTACTS; i++) {
        TalusContactDef *c = &contact[i];
        const int other = (int)talus_rng_below(&rng, RANDOM_BODIES);
        const TalusVec3 x = {1.0, 0.0, 0.0};
        c->a = i % RANDOM_BODIES;
        c->b = other == c->a ? -1 : other;
        c->normal = talus_normalize(draw_vector(&rng), x);
        c->arm_a = draw_vector(&rng);
        c->arm_b = c->b < 0 ? talus_vec3(0.0, 0.0, 0.0) : draw_vector(&rng);
    }
    p.def = (TalusProblemDef){.body_count = RANDOM_BODIES,
                              .inv_mass = inv_mass,
                              .inv_inertia = inv_inertia,
                              .free_velocity = velocity,
                              .contact_count = RANDOM_CONTACTS,
                              .contacts = contact};
    make_transposed_d(&p.def, *d);
    for (int i = 0; i < RANDOM_CONTACTS; i++)
        contact[i].bias = gaps_in_image ? dot(6 * RANDOM_BODIES, d[i], image) : draw(&rng);
    return p;
}

/* Length of the product of D with impulses x of length 1. */
static double measure_d(const TalusProblemDef *def, const double *x)
{
    static double d[MAX_SIZE * 6 * MAX_SIZE];
    const int width = 6 * def->body_count;
    double sum2 = 0.0;
    make_transposed_d(def, d);
    for (int k = 0; k < width; k++) {
        double sum = 0.0;
        for (int i = 0; i < def->contact_count; i++)
            sum += d[(size_t)i * (size_t)width + (size_t)k] * x[i];
        sum2 += sum * sum;
    }
    return sqrt(sum2);
}

/* Finds the kernel of D, which is that of D' D; writes its orthonormal vectors as rows and returns their number. */
static int find_kernel_of_d(const TalusProblemDef *def, double *kernel)
{
    static double d[MAX_SIZE * 6 * MAX_SIZE], matrix[MAX_SIZE * MAX_SIZE];
    const int width = 6 * def->body_count, n = def->contact_count;
    make_transposed_d(def, d);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            matrix[i * n + j] =
                dot(width, &d[(size_t)i * (size_t)width], &d[(size_t)j * (size_t)width]);
    return find_kernel(n, matrix, 1e-11, kernel);
}

/* Checks Lemma 2: D sends to 0 what N does, and the reverse; so do their images agree, which are orthogonal to these
 * kernels. */
static void check_kernels(const TestProblem *p, int expected)
{
    static double of_d[MAX_SIZE * MAX_SIZE], matrix[MAX_SIZE * MAX_SIZE], u[MAX_SIZE];
    Kernel *k = make_kernel(p);
    const int n = k->size;
    CHECK_INT(k->count, expected);
    for (int i = 0; i < k->count; i++)
        CHECK(measure_d(&p->def, &k->vector[i * n]) < 1e-6);
    CHECK_INT(find_kernel_of_d(&p->def, of_d), expected);
    verify_matrix(&p->def, matrix);
    for (int i = 0; i < expected; i++) {
        for (int j = 0; j < n; j++)
            u[j] = dot(n, &matrix[j * n], &of_d[i * n]);
        CHECK(sqrt(dot(n, u, u)) < 1e-6);
    }
    free(k);
}

/* Lemma 2, in both directions. */
TEST(n_and_d_have_the_same_kernel)
{
    for (int seed = 1; seed <= RANDOM_PROBLEMS; seed++) {
        TestProblem p = make_random((uint64_t)seed, true);
        check_kernels(&p, RANDOM_CONTACTS - 6 * RANDOM_BODIES);
        free_test_problem(&p);
    }
    TestProblem bed = make_redundant(20), wedge = make_wedge(0.0, 3);
    check_kernels(&bed, 17);
    check_kernels(&wedge, 1);
    free_test_problem(&bed);
    free_test_problem(&wedge);
}

/* Lemma 2: Ker N = Ker D. */
TEST(what_n_sends_to_zero_moves_no_body)
{
    const int counts[] = {6, 20, 60};
    for (int c = 0; c < 3; c++) {
        TestProblem p = make_redundant(counts[c]);
        Kernel *k = make_kernel(&p);
        CHECK_INT(k->count, counts[c] - 3); /* the forces on the heavy sphere add up to 0 */
        for (int i = 0; i < k->count; i++)
            CHECK(net_force(&p, &k->vector[i * k->size]) < 1e-6);
        free(k);
        free_test_problem(&p);
    }
}

/* Lemma 3 says that q is in the image of N, so orthogonal to its kernel. It is not in general: not in a bed with more
 * contacts than degrees of freedom, which has a solution all the same, nor in a wedge, which has none, because there the
 * kernel has a vector of impulses >= 0 along which the objective falls. */
TEST(q_is_not_in_the_image_of_n)
{
    TestProblem bed = make_redundant(20), wedge = make_wedge(0.0, 3);
    Kernel *k = make_kernel(&bed), *w = make_kernel(&wedge);
    CHECK(share_in_kernel(k) > 1e-3);
    CHECK_INT(w->count, 1);
    double sign = w->vector[0] > 0.0 ? 1.0 : -1.0;
    for (int i = 0; i < w->size; i++)
        CHECK(sign * w->vector[i] > 0.0);
    CHECK(sign * dot(w->size, w->vector, w->q) < -1e-3);
    free(k);
    free(w);
    free_test_problem(&bed);
    free_test_problem(&wedge);
}

static TalusSolveInfo solve_from(const char *spec, TalusProblem *problem, const double *start)
{
    TalusSolveOptions options = talus_solve_options_default();
    TalusSolveInfo info = {0};
    TalusSolver *solver;
    options.tolerance = 1e-11;
    options.max_iterations = 200000;
    memcpy(talus_problem_gamma(problem), start,
           (size_t)talus_problem_blocks(problem) * sizeof *start);
    if (CHECK_OK(talus_solver_create(spec, &solver))) {
        CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
        talus_solver_destroy(solver);
    }
    return info;
}

TEST(a_bed_has_a_solution_and_a_wedge_has_none)
{
    const double zero[MAX_SIZE] = {0.0};
    TestProblem bed = make_redundant(20), wedge = make_wedge(0.0, 3);
    TalusProblem *a, *b;
    REQUIRE_OK(talus_problem_create(&bed.def, NULL, &a));
    REQUIRE_OK(talus_problem_create(&wedge.def, NULL, &b));
    CHECK_INT(solve_from("mprgp:metric=none,expansion=gradient,step=1", a, zero).outcome,
              TALUS_OUTCOME_CONVERGED);
    CHECK_INT(solve_from("mprgp:metric=none,expansion=gradient,step=1", b, zero).outcome,
              TALUS_OUTCOME_INFEASIBLE);
    talus_problem_destroy(a);
    talus_problem_destroy(b);
    free_test_problem(&bed);
    free_test_problem(&wedge);
}

/* Lemma 3 where its assumption holds: gaps in the image of D' have q in that of N, and there is a solution. With random
 * gaps q is not in the image of N; where a solver finds no solution, its certificate proves that there is none. */
TEST(random_problems_are_solvable_if_q_is_in_the_image_of_n)
{
    static const char spec[] = "mprgp:metric=none,expansion=gradient,step=1";
    static double matrix[MAX_SIZE * MAX_SIZE];
    const double zero[MAX_SIZE] = {0.0};
    int infeasible = 0;
    for (int seed = 1; seed <= 2 * RANDOM_PROBLEMS; seed++) {
        const bool in_image = seed % 2;
        TestProblem p = make_random((uint64_t)seed, in_image);
        Kernel *k = make_kernel(&p);
        TalusProblem *problem;
        CHECK(in_image ? share_in_kernel(k) < 1e-7 : share_in_kernel(k) > 1e-2);
        REQUIRE_OK(talus_problem_create(&p.def, NULL, &problem));
        const TalusSolveInfo info = solve_from(spec, problem, zero);
        CHECK_INT(info.outcome, in_image || info.outcome == TALUS_OUTCOME_CONVERGED
                                    ? TALUS_OUTCOME_CONVERGED
                                    : TALUS_OUTCOME_INFEASIBLE);
        const double *delta = talus_problem_certificate(problem);
        if (info.outcome == TALUS_OUTCOME_INFEASIBLE && CHECK(delta != NULL)) {
            double falls = dot(k->size, delta, k->q), rows = 0.0, largest = 0.0;
            verify_matrix(&p.def, matrix);
            infeasible++;
            for (int i = 0; i < k->size; i++) {
                CHECK(delta[i] >= 0.0);
                largest = fmax(largest, delta[i]);
                rows = fmax(rows, fabs(dot(k->size, &matrix[i * k->size], delta)));
            }
            CHECK(falls < 0.0);
            CHECK(rows < 1e-9 * largest);
        }
        talus_problem_destroy(problem);
        free(k);
        free_test_problem(&p);
    }
    CHECK(infeasible > 0);
}

/* Lemma 4 on random problems: from random starts, by several methods. Where few contacts are loaded impulses are unique,
 * too. */
TEST(random_problems_have_one_velocity)
{
    static const char *const specs[] = {"mprgp:metric=none,expansion=gradient,step=1", "mprgp",
                                        "apgd"};
    int several = 0;
    for (int seed = 1; seed <= RANDOM_PROBLEMS; seed++) {
        TestProblem p = make_random((uint64_t)seed, true);
        TalusRng rng = talus_rng_from_seed((uint64_t)seed + 100);
        TalusProblem *problem;
        double start[RANDOM_CONTACTS], first[RANDOM_CONTACTS], impulses = 0.0, velocities = 0.0;
        double v[2][6 * RANDOM_BODIES];
        REQUIRE_OK(talus_problem_create(&p.def, NULL, &problem));
        for (int s = 0; s < 3; s++) {
            for (int i = 0; i < RANDOM_CONTACTS; i++)
                start[i] = 10.0 * talus_rng_uniform(&rng);
            CHECK_INT(solve_from(specs[s], problem, start).outcome, TALUS_OUTCOME_CONVERGED);
            const double *gamma = talus_problem_gamma(problem);
            CHECK_OK(talus_problem_body_velocity(problem, gamma, v[s > 0]));
            for (int i = 0; i < RANDOM_CONTACTS; i++) {
                first[i] = s ? first[i] : gamma[i];
                impulses = fmax(impulses, fabs(gamma[i] - first[i]));
            }
            for (int i = 0; s && i < 6 * RANDOM_BODIES; i++)
                velocities = fmax(velocities, fabs(v[1][i] - v[0][i]));
        }
        several += impulses > 0.1;
        CHECK(velocities < 1e-8);
        talus_problem_destroy(problem);
        free_test_problem(&p);
    }
    CHECK(several > RANDOM_PROBLEMS / 2);
}

/* Lemma 4: solutions differ in their impulses, by vectors of the kernel, but not in their velocities. */
TEST(all_solutions_have_the_same_velocity)
{
    static const char *const specs[] = {"mprgp", "gs", "apgd"};
    TestProblem bed = make_bowl(20, 0.0, 0.0); /* without gaps, so that most contacts bear load */
    TalusProblem *problem;
    double start[MAX_SIZE] = {0.0}, first[2][MAX_SIZE], impulses = 0.0, velocities = 0.0;
    REQUIRE_OK(talus_problem_create(&bed.def, NULL, &problem));
    const int n = talus_problem_blocks(problem);
    for (int s = 0; s < 3; s++) {
        for (int i = 0; i < n; i++) /* another start for each */
            start[i] = s ? 20.0 * (1.0 + sin(7.0 * i + s)) : 0.0;
        CHECK_INT(solve_from(specs[s], problem, start).outcome, TALUS_OUTCOME_CONVERGED);
        const double *gamma = talus_problem_gamma(problem);
        VerifyPoint point = verify_def_point(&bed.def, gamma);
        for (int i = 0; i < n; i++) {
            if (s > 0) {
                impulses = fmax(impulses, fabs(gamma[i] - first[0][i]));
                velocities = fmax(velocities, fabs(point.u[i] - first[1][i]));
            } else {
                first[0][i] = gamma[i];
                first[1][i] = point.u[i];
            }
        }
        verify_point_free(&point);
    }
    CHECK(impulses > 1.0);
    CHECK(velocities < 1e-9);
    talus_problem_destroy(problem);
    free_test_problem(&bed);
}

int main(void)
{
    RUN(n_and_d_have_the_same_kernel);
    RUN(what_n_sends_to_zero_moves_no_body);
    RUN(q_is_not_in_the_image_of_n);
    RUN(a_bed_has_a_solution_and_a_wedge_has_none);
    RUN(random_problems_are_solvable_if_q_is_in_the_image_of_n);
    RUN(random_problems_have_one_velocity);
    RUN(all_solutions_have_the_same_velocity);
    return talus_test_result();
}

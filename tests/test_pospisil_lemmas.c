/* Lemmas 2 to 4 of pospisil-2015, on frictionless beds with more contacts than degrees of freedom and on wedged ones:
 * what N sends to 0, whether there is a solution, and that the velocity is the same for all solutions. */
#include "support/dense.h"
#include "support/problems.h"
#include "support/test.h"
#include "support/verified.h"

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
    RUN(what_n_sends_to_zero_moves_no_body);
    RUN(q_is_not_in_the_image_of_n);
    RUN(a_bed_has_a_solution_and_a_wedge_has_none);
    RUN(all_solutions_have_the_same_velocity);
    return talus_test_result();
}

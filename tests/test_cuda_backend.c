/* Vectors and whole-problem operations of the cuda backend against those of the CPU: spheres, other
 * bodies, no friction, compliance, explicit matrices of full blocks and of any pattern, a body with many
 * contacts. */

#include "support/problems.h"
#include "support/test.h"

#include "base/memory.h"
#include "base/rng.h"
#include "problem/problem.h"
#include "support/cuda.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const TalusBackend *const cpu = &talus_backend_cpu;
/* ---- a problem on both backends ---- */

typedef struct Case {
    TestProblem test;
    TalusProblem *problem;
    const TalusOperator *op; /* the host's */
    TalusOperator device;
    int n;
} Case;

enum { CASES = 10, HEAVY_BOWL = 100 }; /* a body with so many touches has a block of threads */

static TestProblem make_test(int which)
{
    TestProblem heap, copy;
    switch (which) {
    case 0: return make_heap(&(HeapOptions){1, 4, 3, 3, 0.4, 0.0, 0.0});
    case 1: return make_heap(&(HeapOptions){2, 4, 4, 3, 0.0, 0.0, 0.0});
    case 2: return make_heap(&(HeapOptions){3, 3, 3, 3, 0.3, 0.01, 0.5});
    case 3: return make_heap(&(HeapOptions){4, 3, 3, 2, 0.0, 0.02, 1.0});
    case 4: return make_heap(&(HeapOptions){5, 7, 6, 5, 0.6, 0.0, 0.3});
    case 5: return make_bowl(HEAVY_BOWL, 0.2, 0.0);
    case 6: return make_bowl(HEAVY_BOWL + 40, 0.0, 0.01);
    case 7: return make_explicit(8, 50, 3);
    case 8: return make_explicit(9, 200, 1);
    default:
        heap = make_heap(&(HeapOptions){10, 3, 3, 2, 0.5, 0.01, 0.4});
        copy = make_dense_copy(&heap.def);
        free_test_problem(&heap);
        return copy;
    }
}

static Case open_case(int which)
{
    Case c = {.test = make_test(which)};
    CHECK_OK(talus_problem_create(&c.test.def, NULL, &c.problem));
    c.op = talus_problem_operator(c.problem);
    c.n = talus_problem_size(c.problem);
    CHECK_OK(cuda_mirror(c.op, &c.device));
    CHECK_OK(cuda->op.reserve_scratch(&c.device));
    return c;
}

static void close_case(Case *c)
{
    CHECK_OK(cuda->check(cuda_context()));
    cuda->op.mirror_clear(&c->device);
    talus_problem_destroy(c->problem);
    free_test_problem(&c->test);
}

#define FOR_CASES(c)                \
    for (int i = 0; i < CASES; i++) \
        for (Case c = open_case(i); c.problem; close_case(&c), c.problem = NULL)

/* ---- vectors ---- */

static double *vector(int n)
{
    return calloc((size_t)n + 1, sizeof(double));
}

/* Impulses of which some are inside, some on and some outside their cones. */
static double *random_vector(int n, uint64_t seed)
{
    TalusRng rng = talus_rng_from_seed(seed);
    double *x = vector(n);
    for (int k = 0; k < n; k++)
        x[k] = talus_rng_uniform(&rng) - 0.3;
    return x;
}

static double *upload(const double *host, int n)
{
    double *device = NULL;
    size_t room = 0;
    CHECK_OK(cuda->vector.reserve(cuda_op(), &device, &room, (size_t)n, "test vector"));
    if (host)
        cuda->vector.put(cuda_op(), device, host, (size_t)n);
    return device;
}

/* |device - host| <= 1e-12 of the largest entry. */
static bool near(const double *device, const double *host, int n)
{
    double *got = vector(n), worst = 0.0, size = 0.0;
    cuda->vector.get(cuda_op(), got, device, (size_t)n);
    for (int k = 0; k < n; k++) {
        worst = isfinite(got[k]) ? fmax(worst, fabs(got[k] - host[k])) : INFINITY;
        size = fmax(size, fabs(host[k]));
    }
    free(got);
    return CHECK_NEAR(worst, 0.0, 1e-12 * size);
}

static bool near_one(double device, double host)
{
    return CHECK_NEAR(device, host, 1e-12 * fabs(host));
}

TEST(vectors_come_back_as_they_went)
{
    NEEDS_CUDA();
    enum { N = 100000 };
    double *x = random_vector(N, 1), *y = vector(N), *a = upload(x, N), *b = upload(NULL, N);
    cuda->vector.copy(cuda_op(), b, a, N);
    cuda->vector.zero(cuda_op(), b + 10, 1000);
    cuda->vector.get(cuda_op(), y, b, N);
    CHECK(memcmp(y, x, 10 * sizeof *x) == 0);
    CHECK(memcmp(y + 1010, x + 1010, (N - 1010) * sizeof *x) == 0);
    for (int k = 10; k < 1010; k++)
        CHECK(y[k] == 0.0);
    CHECK_OK(cuda->check(cuda_context()));
    cuda->vector.release(a);
    cuda->vector.release(b);
    cuda->vector.release(NULL);
    free(x);
    free(y);
}

TEST(random_numbers_are_the_same)
{
    NEEDS_CUDA();
    FOR_CASES(c)
    {
        double *x = vector(c.n), *y = vector(c.n), *there = upload(NULL, c.n);
        cpu->vector.randomise(c.op, x);
        cuda->vector.randomise(&c.device, there);
        cuda->vector.get(&c.device, y, there, (size_t)c.n);
        CHECK(memcmp(x, y, (size_t)c.n * sizeof *x) == 0 && x[0] != x[1]);
        cuda->vector.release(there);
        free(x);
        free(y);
    }
}

/* One vector's sum of many partial ones, and up to TALUS_VECTORS at once. */
static void sum_and_combine(int blocks)
{
    TalusHostScratch scratch = {0};
    TalusOperator host = {
        .rows = 3, .blocks = blocks, .scratch = &scratch, .context = cuda_context()};
    int n = 3 * blocks, counts[] = {0, 1, 2, 8, 9, 17, TALUS_VECTORS};
    double *x[TALUS_VECTORS], *there[TALUS_VECTORS], a[TALUS_VECTORS];
    double sums[TALUS_VECTORS], expected[TALUS_VECTORS];
    size_t partials = (size_t)talus_chunks(blocks, BLOCK_GRAIN) + 1;
    scratch.partial = vector((int)partials);
    scratch.vector_partial = vector(TALUS_VECTORS * (int)partials);
    for (int k = 0; k < TALUS_VECTORS; k++) {
        x[k] = random_vector(n, (uint64_t)(100 + k));
        there[k] = upload(x[k], n);
        a[k] = 0.1 * k - 1.0;
    }
    near_one(cuda->vector.dot(&host, there[0], there[1]), cpu->vector.dot(&host, x[0], x[1]));
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        int count = counts[i];
        const double *const *device = (const double *const *)there;
        cuda->vector.dots(&host, count, device, there[3], sums);
        cpu->vector.dots(&host, count, (const double *const *)x, x[3], expected);
        for (int k = 0; k < count; k++)
            near_one(sums[k], expected[k]);
        cuda->vector.combine(&host, count, device, a, there[0]);
        cpu->vector.combine(&host, count, (const double *const *)x, a, x[0]);
        near(there[0], x[0], n);
    }
    cuda->vector.axpby(&host, 0.7, there[4], -1.3, there[5]);
    cpu->vector.axpby(&host, 0.7, x[4], -1.3, x[5]);
    near(there[5], x[5], n);
    for (int k = 0; k < TALUS_VECTORS; k++) {
        cuda->vector.release(there[k]);
        free(x[k]);
    }
    free(scratch.partial);
    free(scratch.vector_partial);
    CHECK_OK(cuda->check(cuda_context()));
}

TEST(sums_and_combinations)
{
    NEEDS_CUDA();
    sum_and_combine(1);
    sum_and_combine(85);
    sum_and_combine(3000);
}

/* ---- the operator ---- */

TEST(bodies_move_alike)
{
    NEEDS_CUDA();
    FOR_CASES(c)
    {
        if (!c.op->pair)
            continue;
        int size = 8 * c.op->bodies;
        double *x = random_vector(c.n, 7), *v = vector(size);
        double *there = upload(x, c.n), *moved = upload(NULL, size);
        for (int free_motion = 0; free_motion < 2; free_motion++) {
            cuda->op.body_velocities(&c.device, there, free_motion, (double(*)[8])moved);
            cpu->op.body_velocities(c.op, x, free_motion, (double(*)[8])v);
            near(moved, v, size);
        }
        cuda->vector.release(there);
        cuda->vector.release(moved);
        free(x);
        free(v);
    }
}

static void compare_products(const Case *c, const double *x, const double *there,
                             const TalusMetricBlock *metric, const TalusMetricBlock *there_metric)
{
    double *out = vector(c->n), *result = upload(NULL, c->n);
    for (int mask = 0; mask < 4; mask++) {
        bool compliant = mask & 1, offset = mask & 2;
        cuda->op.product(&c->device, there, compliant, offset, result);
        cpu->op.product(c->op, x, compliant, offset, out);
        near(result, out, c->n);
        cuda->op.gradient(&c->device, mask & 1 ? there_metric : NULL, there, offset, result);
        cpu->op.gradient(c->op, mask & 1 ? metric : NULL, x, offset, out);
        near(result, out, c->n);
    }
    cuda->op.product(&c->device, NULL, false, true, result);
    cpu->op.product(c->op, NULL, false, true, out);
    near(result, out, c->n);
    cuda->vector.release(result);
    free(out);
}

TEST(products_and_metrics_are_the_same)
{
    NEEDS_CUDA();
    FOR_CASES(c)
    {
        double *x = random_vector(c.n, 8), *there = upload(x, c.n);
        double *metric = vector(4 * c.op->blocks), *there_metric = upload(NULL, 4 * c.op->blocks);
        for (int kind = 0; kind < 2; kind++) {
            TalusMetricBlock *host_blocks = (TalusMetricBlock *)metric;
            TalusMetricBlock *blocks = (TalusMetricBlock *)there_metric;
            TalusSizes sizes, expected;
            cuda->op.fill_metric(&c.device, (TalusMetric)kind, blocks);
            cpu->op.fill_metric(c.op, (TalusMetric)kind, host_blocks);
            if (c.op->rows == 3 || kind == TALUS_METRIC_TRACE) /* else s_t is no number */
                near(there_metric, metric, 4 * c.op->blocks);
            compare_products(&c, x, there, (const TalusMetricBlock *)host_blocks,
                             (const TalusMetricBlock *)blocks);
            for (int scaled = 0; scaled < 2; scaled++) {
                cuda->op.measure_sizes(&c.device, scaled ? blocks : NULL, there, &sizes);
                cpu->op.measure_sizes(c.op, scaled ? (const TalusMetricBlock *)host_blocks : NULL,
                                      x, &expected);
                near_one(sizes.size, expected.size);
                near_one(sizes.outside, expected.outside);
                near_one(sizes.over, expected.over);
            }
        }
        cuda->vector.release(there);
        cuda->vector.release(there_metric);
        free(x);
        free(metric);
    }
}

TEST(residual_and_relaxation_are_the_same)
{
    NEEDS_CUDA();
    FOR_CASES(c)
    {
        double *x = random_vector(c.n, 9), *there = upload(x, c.n), sum2, max, got2, got_max;
        TalusResidualSums expected, got;
        TalusTermSums terms, got_terms;
        for (int k = 0; k < 4; k++) {
            cuda->op.residual(&c.device, there, &got, &got_terms);
            cpu->op.residual(c.op, x, &expected, &terms);
            near_one(got.residual2, expected.residual2);
            near_one(got.residual_max, expected.residual_max);
            near_one(got_terms.terms2, terms.terms2);
            near_one(got_terms.terms_max, terms.terms_max);
            cuda->step.jacobi(&c.device, 0.4, 0.9, there, &got2, &got_max);
            cpu->step.jacobi(c.op, 0.4, 0.9, x, &sum2, &max);
            near_one(got2, sum2);
            near_one(got_max, max);
            near(there, x, c.n);
        }
        cuda->vector.release(there);
        free(x);
    }
}

/* An impulse that is no number must be seen, whichever block it is in. */
TEST(nan_is_not_lost)
{
    NEEDS_CUDA();
    Case c = open_case(4);
    double *x = random_vector(c.n, 10);
    TalusResidualSums sums;
    for (int k = 0; k < 3; k++) {
        int at = k * (c.n - 1) / 2;
        double kept = x[at];
        x[at] = NAN;
        double *there = upload(x, c.n);
        cuda->op.residual(&c.device, there, &sums, NULL);
        CHECK(isnan(sums.residual2));
        CHECK(isnan(sums.residual_max));
        cuda->vector.release(there);
        x[at] = kept;
    }
    free(x);
    close_case(&c);
}

/* Two contacts that undo each other: impulses so large that the offset is lost beside them. */
TEST(huge_impulses_do_not_hide_a_residual)
{
    NEEDS_CUDA();
    const int32_t start[3] = {0, 2, 4}, column[4] = {0, 1, 0, 1};
    const double values[4] = {1.0, -1.0, -1.0, 1.0}, q[2] = {0.3, 0.4}, gamma[2] = {1e18, 1e18};
    const TalusProblemDef def = {.block_count = 2,
                                 .rows = 1,
                                 .row_start = start,
                                 .column = column,
                                 .values = values,
                                 .offset = q};
    TalusProblem *problem = NULL;
    TalusOperator device = {0};
    double *there = upload(gamma, 2);
    TalusResidualSums sums;
    TalusTermSums terms;
    REQUIRE_OK(talus_problem_create(&def, NULL, &problem));
    CHECK_OK(cuda_mirror(talus_problem_operator(problem), &device));
    CHECK_OK(cuda->op.reserve_scratch(&device));
    cuda->op.residual(&device, there, &sums, &terms);
    CHECK_NEAR(sums.residual2, 0.25, 1e-15);
    CHECK_NEAR(sums.residual_max, 0.4, 1e-15);
    CHECK_NEAR(terms.terms2, 8e36, 1e22);
    CHECK_NEAR(terms.terms_max, 2e18, 1e3);
    cuda->vector.release(there);
    cuda->op.mirror_clear(&device);
    talus_problem_destroy(problem);
}

/* One mirror for problems that grow and shrink, with and without each kind of array. */
TEST(a_mirror_is_filled_again)
{
    NEEDS_CUDA();
    TalusOperator device = {0};
    const int order[] = {0, 4, 2, 7, 5, 9, 3, 1};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        TestProblem test = make_test(order[i]);
        TalusProblem *problem = NULL;
        TalusResidualSums expected, got;
        REQUIRE_OK(talus_problem_create(&test.def, NULL, &problem));
        const TalusOperator *op = talus_problem_operator(problem);
        int n = talus_problem_size(problem);
        double *x = random_vector(n, 11), *there = upload(x, n);
        CHECK_OK(cuda_mirror(op, &device));
        CHECK_OK(cuda->op.reserve_scratch(&device));
        cuda->op.residual(&device, there, &got, NULL);
        cpu->op.residual(op, x, &expected, NULL);
        near_one(got.residual2, expected.residual2);
        near_one(got.residual_max, expected.residual_max);
        cuda->vector.release(there);
        free(x);
        talus_problem_destroy(problem);
        free_test_problem(&test);
    }
    cuda->op.mirror_clear(&device);
    CHECK(!device.device);
    cuda->op.mirror_clear(&device);
    CHECK_OK(cuda->check(cuda_context()));
}

/* Before all others: with the context's first sum, whose memory is refused. */
TEST(sums_that_failed_are_no_numbers)
{
    NEEDS_CUDA();
    Case c = open_case(0);
    double *x = NULL;
    size_t room = 0;
    CHECK_OK(cuda->vector.reserve(cuda_op(), &x, &room, (size_t)c.n, "a vector"));
    cuda->vector.zero(cuda_op(), x, (size_t)c.n);
    talus_fail_allocation_in(1);
    double sum = cuda->vector.dot(&c.device, x, x);
    talus_fail_allocation_in(0);
    CHECK(isnan(sum));
    CHECK(cuda->check(cuda_context()) != TALUS_OK);
    CHECK(strstr(talus_error(), "partial sums"));
    CHECK(cuda->vector.dot(&c.device, x, x) == 0.0);
    cuda->vector.release(x);
    close_case(&c);
}

int main(void)
{
    cuda = talus_backend_find("cuda");
    RUN(sums_that_failed_are_no_numbers);
    RUN(vectors_come_back_as_they_went);
    RUN(random_numbers_are_the_same);
    RUN(sums_and_combinations);
    RUN(bodies_move_alike);
    RUN(products_and_metrics_are_the_same);
    RUN(residual_and_relaxation_are_the_same);
    RUN(nan_is_not_lost);
    RUN(huge_impulses_do_not_hide_a_residual);
    RUN(a_mirror_is_filled_again);
    return cuda_test_result();
}

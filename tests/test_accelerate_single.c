/* Runs of the accelerated method in single precision (src/backend/cpu/accelerate_single.c): they follow those in double
 * precision, end before rounding shows, and have the same bits for any number of threads. */
#include "support/models.h"
#include "support/test.h"

#include "backend/cpu/cpu.h"
#include "backend/run.h"
#include "problem/build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const TalusBackend *const cpu = &talus_backend_cpu;

/* The vectors of a state that starts from no impulses, on a heap of spheres. */
typedef struct Descent {
    ModelCase c;
    TalusMetricBlock *metric;
    double *x[2], *g;
    TalusAccelerated state;
    TalusMomentum momentum;
} Descent;

static Descent start_descent(bool exact, bool single, TalusPool *pool)
{
    Descent d = {
        .c = make_model_case(&(ModelOptions){.heap = {70, 8, 8, 7, 0.4, 0.02, 0.0},
                                             .rows = 3,
                                             .law = exact ? TALUS_LAW_COULOMB : TALUS_LAW_CCP},
                             pool)};
    d.metric = calloc((size_t)d.c.blocks, sizeof *d.metric);
    cpu->op.fill_metric(d.c.op, TALUS_METRIC_ANISOTROPIC, d.metric);
    for (int k = 0; k < 2; k++)
        d.x[k] = calloc((size_t)d.c.n, sizeof(double));
    d.g = calloc((size_t)d.c.n, sizeof(double));
    d.state = (TalusAccelerated){.x = d.x[0],
                                 .x_prev = d.x[1],
                                 .g_prev = d.g,
                                 .metric = (const TalusMetricBlock *)d.metric,
                                 .exact = exact,
                                 .single = single};
    d.momentum = (TalusMomentum){.norm = 2.0,
                                 .margin = 1.02,
                                 .theta = 1.0,
                                 .max_theta = exact ? 20.0 : 0.0,
                                 .restart = true};
    return d;
}

static void end_descent(Descent *d)
{
    free(d->metric);
    free(d->x[0]);
    free(d->x[1]);
    free(d->g);
    free_model_case(&d->c);
}

/* Does runs of 10 iterations, `count` in all. Returns the last one. */
static TalusRun descend(Descent *d, int count)
{
    TalusRun run = {0};
    for (int since = 0; since < count; since += run.done) {
        run = (TalusRun){.iterations = 10, .check = 5, .since = since};
        CHECK_OK(talus_run_accelerate(cpu, d->c.op, &d->state, &d->momentum, &run));
    }
    talus_run_write_back(cpu, d->c.op, &d->state);
    return run;
}

static double distance(const double *a, const double *b, int n)
{
    double off = 0.0;
    for (int k = 0; k < n; k++)
        off = isnan(a[k]) ? NAN : fmax(off, fabs(a[k] - b[k]));
    return off;
}

/* Returns the sum of the squared residuals of gamma = S x, of the law itself. */
static double residual2_of(const Descent *d, const double *x)
{
    double *gamma = malloc((size_t)d->c.n * sizeof(double));
    TalusLawSums sums;
    memcpy(gamma, x, (size_t)d->c.n * sizeof(double));
    cpu->op.scale(d->c.op, d->state.metric, false, gamma);
    cpu->law.measure_and_shift(d->c.op, gamma, 0.0, &sums, NULL);
    free(gamma);
    return sums.residual2;
}

TEST(single_follows_double)
{
    for (int exact = 0; exact < 2; exact++)
        for (int count = 10; count <= 40; count += 30) {
            Descent one = start_descent(exact, true, NULL), two = start_descent(exact, false, NULL);
            TalusRun single = descend(&one, count), expected = descend(&two, count);
            double *zero = calloc((size_t)two.c.n, sizeof(double));
            double size = distance(zero, two.state.x, two.c.n);
            CHECK(one.state.single);
            CHECK_INT(single.done, expected.done);
            CHECK_NEAR(one.momentum.norm, two.momentum.norm, 1e-5);
            CHECK_NEAR(distance(one.state.x, two.state.x, two.c.n), 0.0, 2e-5 * size);
            CHECK_NEAR(distance(one.state.x_prev, two.state.x_prev, two.c.n), 0.0, 2e-5 * size);
            CHECK(distance(one.state.x, two.state.x, two.c.n) > 0.0);
            CHECK_NEAR(single.residual2, expected.residual2, 1e-3 * expected.residual2);
            CHECK_NEAR(single.residual_max, expected.residual_max, 1e-3 * expected.residual_max);
            CHECK_NEAR(single.residual2, residual2_of(&one, one.state.x_prev),
                       1e-4 * expected.residual2);
            free(zero);
            end_descent(&one);
            end_descent(&two);
        }
}

TEST(impulses_stay_in_their_cones)
{
    Descent d = start_descent(true, true, NULL);
    descend(&d, 20);
    cpu->op.scale(d.c.op, d.state.metric, false, d.state.x_prev);
    for (int i = 0; i < d.c.op->blocks; i++) {
        const double *gamma = d.state.x_prev + 3 * (size_t)i;
        CHECK(hypot(gamma[1], gamma[2]) <= d.c.op->mu[i] * gamma[0] * (1.0 + 1e-14));
    }
    end_descent(&d);
}

/* Runs that begin in single precision end in double precision, and reach what that reaches. */
TEST(tight_tolerances_are_reached)
{
    for (int exact = 0; exact < 2; exact++) {
        Descent d = start_descent(exact, true, NULL);
        double first = residual2_of(&d, d.x[0]);
        TalusRun run = descend(&d, exact ? 6000 : 3000);
        CHECK(!d.state.single);
        CHECK(run.residual2 <= 1e-16 * first);
        CHECK(residual2_of(&d, d.state.x_prev) <= 1e-16 * first);
        end_descent(&d);
    }
}

/* Vectors that were read between runs are those from which the next run goes on. */
TEST(reading_between_runs)
{
    Descent one = start_descent(false, true, NULL), two = start_descent(false, true, NULL);
    TalusRun run = {.iterations = 10, .check = 5};
    descend(&one, 30);
    for (int since = 0; since < 30; since += run.done) {
        run.since = since;
        CHECK_OK(talus_run_accelerate(cpu, two.c.op, &two.state, &two.momentum, &run));
        talus_run_write_back(cpu, two.c.op, &two.state);
        memset(two.c.op->scratch->velocity, 0, sizeof(double[8]) * (size_t)two.c.op->bodies);
    }
    double *zero = calloc((size_t)two.c.n, sizeof(double));
    CHECK_NEAR(distance(one.state.x, two.state.x, one.c.n), 0.0,
               1e-5 * distance(zero, one.state.x, one.c.n));
    free(zero);
    end_descent(&one);
    end_descent(&two);
}

TEST(threads_do_not_show)
{
    static const int threads[] = {1, 3, 8};
    Descent first = start_descent(true, true, NULL);
    TalusRun expected = descend(&first, 1000);
    for (int t = 0; t < 3; t++) {
        TalusPool *pool = NULL;
        REQUIRE_OK(talus_pool_create(threads[t], &pool));
        Descent d = start_descent(true, true, pool);
        TalusRun run = descend(&d, 1000);
        CHECK(run.residual2 == expected.residual2);
        CHECK(memcmp(d.state.x, first.state.x, (size_t)d.c.n * sizeof(double)) == 0);
        end_descent(&d);
        talus_pool_destroy(pool);
    }
    end_descent(&first);
}

int main(void)
{
    RUN(single_follows_double);
    RUN(impulses_stay_in_their_cones);
    RUN(tight_tolerances_are_reached);
    RUN(reading_between_runs);
    RUN(threads_do_not_show);
    return talus_test_result();
}

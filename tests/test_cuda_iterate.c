/* Many iterations without the host (accelerate_run and relax_run of the cuda backends): the CPU's
 * iterates in double precision, its solutions in single precision with refinement, the same bits every
 * time. */

#include "support/problems.h"
#include "support/test.h"

#include "backend/run.h"
#include "problem/problem.h"
#include "support/cuda.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const TalusBackend *const cpu = &talus_backend_cpu;
static const TalusBackend *mixed; /* found where cuda is */

/* ---- problems ---- */

enum { CASES = 8, BOWL = 100 }; /* a body with so many contacts has a block of threads */

static TestProblem make_test(int which)
{
    TestProblem a, b, both;
    switch (which) {
    case 0: return make_heap(&(HeapOptions){1, 4, 3, 3, 0.4, 0.0, 0.0});
    case 1: return make_heap(&(HeapOptions){2, 4, 4, 3, 0.0, 0.0, 0.0});
    case 2: return make_heap(&(HeapOptions){3, 3, 3, 3, 0.3, 0.01, 0.5});
    case 3: return make_heap(&(HeapOptions){4, 3, 3, 2, 0.0, 0.02, 1.0});
    case 4: return make_heap(&(HeapOptions){5, 5, 4, 4, 0.6, 0.02, 0.0});
    case 5: return make_bowl(BOWL, 0.2, 0.0);
    case 6: return make_explicit(8, 30, 3);
    default: /* two coefficients of friction */
        a = make_heap(&(HeapOptions){7, 3, 3, 2, 0.2, 0.0, 0.0});
        b = make_heap(&(HeapOptions){8, 3, 2, 2, 0.7, 0.0, 0.0});
        both = make_union(&a.def, &b.def);
        free_test_problem(&a);
        free_test_problem(&b);
        return both;
    }
}

typedef struct Case {
    TestProblem test;
    TalusProblem *problem;
    const TalusOperator *host;
    TalusOperator device; /* of `cuda`, whose memory `mixed` shares */
    int n;
    double start; /* sum of squares of the residual at zero */
    bool exact;   /* under Coulomb's law */
} Case;

static Case open_test(TestProblem test)
{
    Case c = {.test = test};
    TalusResidualSums start;
    CHECK_OK(talus_problem_create(&c.test.def, NULL, &c.problem));
    c.host = talus_problem_operator(c.problem);
    c.n = talus_problem_size(c.problem);
    CHECK_OK(cuda_mirror(c.host, &c.device));
    CHECK_OK(cuda->op.reserve_scratch(&c.device));
    double *zero = calloc((size_t)c.n, sizeof *zero);
    cpu->op.residual(c.host, zero, &start, NULL);
    c.start = start.residual2;
    free(zero);
    return c;
}

static Case open_case(int which)
{
    return open_test(make_test(which));
}

/* The same with contacts under Coulomb's law; without bodies or friction as they are. */
static Case open_exact(int which)
{
    TestProblem test = make_test(which);
    TalusContactDef *contacts = (TalusContactDef *)test.def.contacts;
    for (int i = 0; contacts && i < test.def.contact_count; i++)
        contacts[i].model.law = TALUS_LAW_COULOMB;
    Case c = open_test(test);
    c.exact = c.host->unshifted != NULL;
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

static const TalusOperator *operator_of(const Case *c, const TalusBackend *backend)
{
    return backend == cpu ? c->host : &c->device;
}

/* ---- runs from zero ---- */

typedef struct Accelerated {
    const TalusBackend *backend;
    double *vector[4]; /* x, x_prev, g_prev, metric */
    TalusAccelerated state;
    TalusMomentum momentum;
} Accelerated;

static Accelerated begin(const Case *c, const TalusBackend *backend, TalusMetric kind, double norm)
{
    Accelerated a = {.backend = backend};
    for (int k = 0; k < 4; k++) {
        size_t n = k == 3 ? 4 * (size_t)c->host->blocks : (size_t)c->n, room = 0;
        CHECK_OK(backend->vector.reserve(cuda_op(), &a.vector[k], &room, n, "test"));
        backend->vector.zero(cuda_op(), a.vector[k], n);
    }
    backend->op.fill_metric(operator_of(c, backend), kind, (TalusMetricBlock *)a.vector[3]);
    a.state = (TalusAccelerated){.x = a.vector[0],
                                 .x_prev = a.vector[1],
                                 .g_prev = a.vector[2],
                                 .metric = (const TalusMetricBlock *)a.vector[3],
                                 .kind = kind,
                                 .exact = c->exact};
    a.momentum = (TalusMomentum){.norm = norm,
                                 .margin = 1.02,
                                 .theta = 1.0,
                                 .lag = c->exact ? 0.6 : 0.0,
                                 .max_theta = c->exact ? 6.0 : 0.0,
                                 .restart = true};
    return a;
}

/* The iterate measured last, as impulses. */
static void end(const Case *c, Accelerated *a, double *gamma)
{
    a->backend->op.scale(operator_of(c, a->backend), a->state.metric, false, a->state.x_prev);
    a->backend->vector.get(cuda_op(), gamma, a->state.x_prev, (size_t)c->n);
    for (int k = 0; k < 4; k++)
        a->backend->vector.release(a->vector[k]);
}

static TalusRun accelerate(const Case *c, const TalusBackend *backend, TalusMetric kind,
                           TalusRun run, double *gamma)
{
    /* Steps are measured against the norm where residuals are: seldom, it has to be large enough. */
    Accelerated a = begin(c, backend, kind, run.check <= 10 ? 3.0 : 60.0);
    CHECK_OK(talus_run_accelerate(backend, operator_of(c, backend), &a.state, &a.momentum, &run));
    end(c, &a, gamma);
    return run;
}

static TalusRun relax(const Case *c, const TalusBackend *backend, TalusRun run, double *gamma)
{
    double *x = NULL;
    size_t room = 0;
    CHECK_OK(backend->vector.reserve(cuda_op(), &x, &room, (size_t)c->n, "test"));
    backend->vector.zero(cuda_op(), x, (size_t)c->n);
    CHECK_OK(talus_run_jacobi(backend, operator_of(c, backend), 0.3, 0.9, x, &run));
    backend->vector.get(cuda_op(), gamma, x, (size_t)c->n);
    backend->vector.release(x);
    return run;
}

static double *vector(const Case *c)
{
    return calloc((size_t)c->n, sizeof(double));
}

static bool near(const double *a, const double *b, int n, double tolerance)
{
    double worst = 0.0, size = 0.0;
    for (int k = 0; k < n; k++) {
        worst = fmax(worst, fabs(a[k] - b[k]));
        size = fmax(size, fabs(b[k]));
    }
    return CHECK_NEAR(worst, 0.0, tolerance * size);
}

static bool same_run(const TalusRun *a, const TalusRun *b, double tolerance)
{
    bool ok = CHECK_INT(a->done, b->done);
    ok &= CHECK_NEAR(a->residual2, b->residual2, tolerance * b->residual2);
    ok &= CHECK_NEAR(a->residual_max, b->residual_max, tolerance * b->residual_max);
    return CHECK_NEAR(a->first2, b->first2, tolerance * b->first2) && ok;
}

static double residual2(const Case *c, const double *gamma)
{
    TalusResidualSums sums;
    cpu->op.residual(c->host, gamma, &sums, NULL);
    return sums.residual2;
}

/* Residual by the law itself. */
static double law_residual2(const Case *c, const double *gamma)
{
    TalusLawSums sums;
    cpu->law.measure_and_shift(c->host, gamma, 0.0, &sums, NULL);
    return sums.residual2;
}

/* ---- double precision ---- */

TEST(iterates_are_those_of_the_cpu)
{
    NEEDS_CUDA();
    FOR_CASES(c)
    {
        double *x[2] = {vector(&c), vector(&c)};
        for (int steps = 1; steps <= 20; steps += steps < 4 ? 1 : 8) {
            TalusRun run = {.iterations = steps, .check = 1};
            for (int k = 0; k < 8; k++) { /* both metrics, with and without measuring every step, */
                TalusMetric metric = (TalusMetric)(k % 2);
                run.check = k % 4 < 2 ? 1000 : 1;
                run.stepwise = k < 4; /* in many kernels and in one */
                TalusRun a = accelerate(&c, cpu, metric, run, x[0]);
                TalusRun b = accelerate(&c, cuda, metric, run, x[1]);
                bool ok = same_run(&b, &a, 1e-9);
                if (!near(x[1], x[0], c.n, 1e-10) || !ok)
                    printf("case %d, metric %d, check %d, %d steps\n", i, metric, run.check, steps);
                if (metric)
                    continue;
                a = relax(&c, cpu, run, x[0]);
                b = relax(&c, cuda, run, x[1]);
                ok = same_run(&b, &a, 1e-9);
                if (!near(x[1], x[0], c.n, 1e-10) || !ok)
                    printf("case %d, jacobi, check %d, %d steps\n", i, run.check, steps);
            }
        }
        free(x[0]);
        free(x[1]);
    }
}

/* Body velocities of impulses, from the host's operator. */
static double *velocities(const Case *c, const double *gamma)
{
    double(*v)[8] = calloc((size_t)c->host->bodies + 1, sizeof *v);
    cpu->op.body_velocities(c->host, gamma, true, v);
    return &v[0][0];
}

TEST(solutions_are_those_of_the_cpu)
{
    NEEDS_CUDA();
    for (int i = 0; i < CASES; i++) {
        Case c = open_case(i);
        if (c.host->pair) {
            TalusRun run = {.iterations = 3000, .check = 5};
            run.stop_rms = 1e-11 * sqrt(c.start / c.host->blocks);
            double *x[2] = {vector(&c), vector(&c)};
            TalusRun a = accelerate(&c, cpu, TALUS_METRIC_ANISOTROPIC, run, x[0]);
            TalusRun b = accelerate(&c, cuda, TALUS_METRIC_ANISOTROPIC, run, x[1]);
            double *v[2] = {velocities(&c, x[0]), velocities(&c, x[1])};
            bool ok = CHECK(a.done < run.iterations) && CHECK(b.done < run.iterations);
            if (!near(v[1], v[0], 8 * c.host->bodies, 1e-9) || !ok)
                printf("case %d: %d and %d iterations\n", i, a.done, b.done);
            free(v[0]);
            free(v[1]);
            free(x[0]);
            free(x[1]);
        }
        close_case(&c);
    }
}

/* Does pieces[count] iterations, run after run, from zero impulses; writes the result to x. Returns the last run. */
static TalusRun run_in_pieces(const Case *c, const TalusBackend *backend, TalusRun run,
                              const int *pieces, int count, double *x)
{
    Accelerated a = begin(c, backend, TALUS_METRIC_ANISOTROPIC, run.check <= 10 ? 3.0 : 8.0);
    for (int k = 0; k < count; k++) {
        run.iterations = pieces[k];
        CHECK_OK(talus_run_accelerate(backend, &c->device, &a.state, &a.momentum, &run));
        CHECK_INT(run.done, pieces[k]);
        run.since += run.done;
    }
    end(c, &a, x);
    return run;
}

/* A run in pieces is the run: momentum, step and the rhythm of measuring carry over, and what decides whether momentum
 * is dropped, also in runs that seldom measure. */
TEST(pieces_make_a_run)
{
    NEEDS_CUDA();
    static const int pieces[] = {1, 2, 57, 50, 50, 50}, whole[] = {210};
    const TalusBackend *backends[2] = {cuda, mixed};
    Case c = open_case(4);
    double *x[2] = {vector(&c), vector(&c)};
    for (int way = 0; way < 8; way++) { /* either precision, in many kernels and in one */
        const TalusBackend *backend = backends[way % 2];
        TalusRun run = {.check = way < 4 ? 5 : 1000, .stepwise = way % 4 < 2};
        TalusRun a = run_in_pieces(&c, backend, run, whole, 1, x[0]);
        TalusRun b = run_in_pieces(&c, backend, run, pieces, 6, x[1]);
        near(x[1], x[0], c.n, backend == cuda ? 1e-9 : 1e-4);
        CHECK_NEAR(b.residual2, a.residual2, (backend == cuda ? 1e-6 : 0.05) * a.residual2);
    }
    free(x[0]);
    free(x[1]);
    close_case(&c);
}

/* Coulomb's law in the step: the cpu's iterates in double precision, in many kernels and in one; in single
 * precision its solution. */
TEST(coulombs_law_is_that_of_the_cpu)
{
    NEEDS_CUDA();
    int exact = 0;
    for (int i = 0; i < CASES; i++) {
        Case c = open_exact(i);
        double *x[2] = {vector(&c), vector(&c)};
        exact += c.exact && !c.host->mixed_sets;
        for (int k = 0; c.exact && k < 8; k++) {
            TalusMetric metric = (TalusMetric)(k % 2);
            TalusRun run = {.iterations = 15, .check = k % 4 < 2 ? 1000 : 1, .stepwise = k < 4};
            TalusRun a = accelerate(&c, cpu, metric, run, x[0]);
            TalusRun b = accelerate(&c, cuda, metric, run, x[1]);
            bool ok = same_run(&b, &a, 1e-9);
            if (!near(x[1], x[0], c.n, 1e-10) || !ok)
                printf("case %d, metric %d, check %d\n", i, metric, run.check);
            if (k % 4 != 3)
                continue;
            run.iterations = 20000;
            run.stop_rms = 1e-8 * sqrt(c.start / c.host->blocks);
            b = accelerate(&c, mixed, metric, run, x[1]);
            ok = CHECK(b.done < run.iterations);
            ok &= CHECK_NEAR(law_residual2(&c, x[1]), b.residual2, 1e-3 * b.residual2);
            if (!ok)
                printf("case %d, stepwise %d: %d iterations\n", i, run.stepwise, b.done);
        }
        free(x[0]);
        free(x[1]);
        close_case(&c);
    }
    CHECK(exact >= 5);
}

/* ---- single precision with refinement ---- */

/* Residuals far below what impulses in single precision can have, as measured by the CPU. */
TEST(refinement_passes_the_floor_of_single_precision)
{
    NEEDS_CUDA();
    for (int k = 0; k < 2 * CASES; k++) {
        const int i = k / 2;
        Case c = open_case(i);
        double *x = vector(&c), *rounded = vector(&c);
        TalusRun run = {.iterations = 6000, .check = 5, .stepwise = k % 2};
        run.stop_rms = 5e-10 * sqrt(c.start / c.host->blocks);
        TalusRun done = accelerate(&c, mixed, TALUS_METRIC_ANISOTROPIC, run, x);
        for (int j = 0; j < c.n; j++)
            rounded[j] = (double)(float)x[j];
        bool ok = CHECK(done.done < run.iterations);
        ok &= CHECK(sqrt(residual2(&c, x) / c.start) <= 1e-9);
        ok &= CHECK(sqrt(residual2(&c, rounded) / c.start) > 1e-9 || !c.host->pair);
        if (!ok)
            printf("case %d: %d iterations, %g of the start, rounded %g\n", i, done.done,
                   sqrt(residual2(&c, x) / c.start), sqrt(residual2(&c, rounded) / c.start));
        free(x);
        free(rounded);
        close_case(&c);
    }
}

/* The same in runs of a few steps each, of which one may end where a refinement is due. */
TEST(refinement_is_not_lost_between_runs)
{
    NEEDS_CUDA();
    for (int k = 0; k < 4; k++) {
        Case c = open_case(k / 2 ? 4 : 0);
        double *x = vector(&c);
        Accelerated a = begin(&c, mixed, TALUS_METRIC_ANISOTROPIC, 3.0);
        TalusRun run = {.iterations = 5, .check = 5, .stepwise = k % 2};
        run.stop_rms = 5e-10 * sqrt(c.start / c.host->blocks);
        do {
            CHECK_OK(talus_run_accelerate(mixed, &c.device, &a.state, &a.momentum, &run));
            run.since += run.done;
        } while (run.since < 3000 && run.residual2 > c.start * 25e-20);
        end(&c, &a, x);
        if (!CHECK(sqrt(residual2(&c, x) / c.start) <= 1e-9))
            printf("case %d: %d iterations, %g of the start\n", k, run.since,
                   sqrt(residual2(&c, x) / c.start));
        free(x);
        close_case(&c);
    }
}

/* Jacobi's method is slow: its iterates are compared instead, up to the rounding of single precision. */
TEST(mixed_iterates_follow)
{
    NEEDS_CUDA();
    FOR_CASES(c)
    {
        double *x[2] = {vector(&c), vector(&c)};
        for (int k = 0; k < 2; k++) {
            TalusRun run = {.iterations = 50, .check = 5, .stepwise = k};
            TalusRun a = relax(&c, cuda, run, x[0]), b = relax(&c, mixed, run, x[1]);
            bool ok = same_run(&b, &a, 1e-3);
            ok &= near(x[1], x[0], c.n, 1e-5);
            run.iterations = 12;
            a = accelerate(&c, cuda, TALUS_METRIC_TRACE, run, x[0]);
            b = accelerate(&c, mixed, TALUS_METRIC_TRACE, run, x[1]);
            ok &= same_run(&b, &a, 1e-3);
            if (!near(x[1], x[0], c.n, 1e-5) || !ok)
                printf("case %d, stepwise %d\n", i, k);
        }
        free(x[0]);
        free(x[1]);
    }
}

/* Iterations that go on where nothing but rounding is left do not take it for curvature. */
TEST(rounding_is_no_curvature)
{
    NEEDS_CUDA();
    const TalusBackend *backends[2] = {cuda, mixed};
    for (int k = 0; k < 2 * CASES; k++) {
        Case c = open_case(k / 2);
        const TalusBackend *backend = backends[k % 2];
        double *x = vector(&c);
        TalusRun run = {.iterations = 3000, .check = 1};
        run.stop_rms = 1e-7 * sqrt(c.start / c.host->blocks);
        Accelerated a = begin(&c, backend, TALUS_METRIC_ANISOTROPIC, 3.0);
        CHECK_OK(talus_run_accelerate(backend, &c.device, &a.state, &a.momentum, &run));
        bool ok = CHECK(run.done < run.iterations);
        double norm = a.momentum.norm;
        run.since = run.done;
        run.iterations = 500;
        run.stop_rms = 0.0;
        CHECK_OK(talus_run_accelerate(backend, &c.device, &a.state, &a.momentum, &run));
        ok &= CHECK_INT(run.done, run.iterations);
        if (!CHECK(a.momentum.norm <= 1.1 * norm) || !ok)
            printf("case %d, %s: L went from %g to %g\n", k / 2, backend->name, norm,
                   a.momentum.norm);
        end(&c, &a, x);
        free(x);
        close_case(&c);
    }
}

/* ---- batches ---- */

/* Problems of different sizes one after the other, twice: the same bits, though batches of iterations are
 * kept from one to the next. */
TEST(the_same_bits_every_time)
{
    NEEDS_CUDA();
    static const int order[] = {0, 4, 0, 7, 4, 7};
    const TalusBackend *backends[4] = {cuda, mixed, cuda, mixed};
    for (int m = 0; m < 4; m++) {
        double *kept[CASES] = {NULL};
        int done[CASES] = {0};
        for (int k = 0; k < 6; k++) {
            Case c = open_case(order[k]);
            double *x = vector(&c);
            TalusRun run = {.iterations = 300, .check = order[k] == 4 ? 7 : 5};
            run.stepwise = m > 1;
            run.stop_rms = 1e-4 * sqrt(c.start / c.host->blocks);
            run = accelerate(&c, backends[m], TALUS_METRIC_ANISOTROPIC, run, x);
            if (kept[order[k]]) {
                CHECK_INT(run.done, done[order[k]]);
                CHECK(memcmp(x, kept[order[k]], (size_t)c.n * sizeof *x) == 0);
                free(x);
            } else {
                kept[order[k]] = x;
                done[order[k]] = run.done;
            }
            close_case(&c);
        }
        for (int k = 0; k < CASES; k++)
            free(kept[k]);
    }
}

/* Stops at the first residual that is small enough, not at a later one. */
TEST(stops_where_the_cpu_stops)
{
    NEEDS_CUDA();
    FOR_CASES(c)
    {
        double *x[2] = {vector(&c), vector(&c)};
        TalusRun run = {.iterations = 2000, .check = 5};
        run.stop_rms = 0.03 * sqrt(c.start / c.host->blocks);
        TalusRun a = relax(&c, cpu, run, x[0]), b = relax(&c, cuda, run, x[1]);
        bool ok = CHECK_INT(b.done, a.done) && CHECK((b.done - 1) % 5 == 0);
        ok &= near(x[1], x[0], c.n, 1e-9);
        run.stop_rms = 0.0;
        run.stop_max = 2.0 * a.residual_max;
        a = relax(&c, cpu, run, x[0]);
        b = relax(&c, mixed, run, x[1]);
        if (!CHECK_INT(b.done, a.done) || !ok)
            printf("case %d\n", i);
        free(x[0]);
        free(x[1]);
    }
}

/* A residual that is no number ends a run at once. */
TEST(stops_at_what_is_no_number)
{
    NEEDS_CUDA();
    Case c = open_case(0);
    double *x = vector(&c);
    TalusRun run = {.iterations = 500, .check = 5};
    double nan[8] = {NAN, NAN, NAN, 1.0, 0.0, 0.0, 0.0, 1.0};
    cuda->vector.put(cuda_op(), &c.device.body[0][0], nan, 8);
    TalusRun done = accelerate(&c, cuda, TALUS_METRIC_ANISOTROPIC, run, x);
    CHECK_INT(done.done, 1);
    CHECK(isnan(done.residual2));
    done = relax(&c, mixed, run, x);
    CHECK_INT(done.done, 1);
    CHECK(isnan(done.residual2));
    free(x);
    close_case(&c);
}

int main(void)
{
    cuda = talus_backend_find("cuda");
    mixed = talus_backend_find("cuda-mixed");
    RUN(iterates_are_those_of_the_cpu);
    RUN(coulombs_law_is_that_of_the_cpu);
    RUN(solutions_are_those_of_the_cpu);
    RUN(pieces_make_a_run);
    RUN(refinement_passes_the_floor_of_single_precision);
    RUN(refinement_is_not_lost_between_runs);
    RUN(mixed_iterates_follow);
    RUN(rounding_is_no_curvature);
    RUN(the_same_bits_every_time);
    RUN(stops_where_the_cpu_stops);
    RUN(stops_at_what_is_no_number);
    return cuda_test_result();
}

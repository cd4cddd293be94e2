/* Free joints eliminated on the cuda backend: the tests that the host passes; operations and runs against the host's. */
#include "eliminate_cases.h"

#include "backend/run.h"
#include "support/cuda.h"

#include <stdio.h>

/* ---- operations ---- */

/* The same problem without its joints here and there, and a vector on both. */
typedef struct Both {
    TestProblem def;
    TalusProblem *problem[2];
    TalusReduced r[2];
    double *x[2];
    size_t room[2];
    int n; /* of x, with joints */
} Both;

static double sum_of(const Both *b, int k, const double *x, double *host)
{
    double sum = 0.0;
    b->r[k].backend->vector.get(&b->r[k].op, host, x, (size_t)b->n);
    for (int i = 0; i < b->n; i++)
        sum += fabs(host[i]);
    return sum;
}

static Both open_both(TestProblem def)
{
    Both b = {.def = def};
    for (int k = 0; k < 2; k++) {
        CHECK_OK(talus_problem_create(&b.def.def, NULL, &b.problem[k]));
        eliminate_backend = k ? "cuda" : "cpu";
        open_reduced(b.problem[k], &b.r[k]);
        b.n = talus_problem_size(b.problem[k]);
        CHECK_OK(b.r[k].backend->vector.reserve(&b.r[k].op, &b.x[k], &b.room[k], (size_t)b.n, "x"));
        double *x = calloc((size_t)b.n, sizeof *x);
        for (int i = 0; i < b.n; i++)
            x[i] = 0.1 * ((i * 7) % 11 - 5);
        b.r[k].backend->vector.put(&b.r[k].op, b.x[k], x, (size_t)b.n);
        b.r[k].backend->block.project(&b.r[k].op, NULL, b.x[k]);
        free(x);
    }
    return b;
}

static void close_both(Both *b)
{
    for (int k = 0; k < 2; k++) {
        b->r[k].backend->vector.release(b->x[k]);
        talus_reduced_clear(&b->r[k]);
        talus_problem_destroy(b->problem[k]);
    }
    free_test_problem(&b->def);
}

static void check_same(const Both *b, double tolerance)
{
    double *host[2] = {calloc((size_t)b->n, sizeof(double)), calloc((size_t)b->n, sizeof(double))};
    for (int k = 0; k < 2; k++)
        CHECK(sum_of(b, k, b->x[k], host[k]) > 0.0);
    for (int i = 0; i < b->n; i++)
        CHECK_NEAR(host[1][i], host[0][i], tolerance);
    free(host[0]);
    free(host[1]);
}

/* Products, residuals, steps and the impulses of joints agree to rounding, redundant joints among them. */
TEST(operations_agree)
{
    for (int k = 0; k <= CASES; k++) {
        Both b = open_both(make_case(k));
        TalusResidualSums sums[2];
        double sum2[2], max[2], g[2][400];
        CHECK_INT(b.r[1].op.kinds, b.r[0].op.kinds);
        CHECK_INT(b.r[1].op.mixed_sets, b.r[0].op.mixed_sets);
        for (int question = 0; question < 3; question++) {
            double x[400];
            for (int i = 0; i < 400; i++)
                x[i] = 0.1 * ((i * 5) % 13 - 6);
            for (int s = 0; s < 2; s++)
                ask(&b.r[s], (Question)question, x, g[s]);
            for (int i = 0; i < b.r[0].op.rows * b.r[0].op.blocks; i++)
                CHECK_NEAR(g[1][i], g[0][i], 1e-11);
        }
        for (int s = 0; s < 2; s++) {
            const TalusBackend *backend = b.r[s].backend;
            backend->op.residual(&b.r[s].op, b.x[s], &sums[s], NULL);
            backend->step.jacobi(&b.r[s].op, 0.3, 0.8, b.x[s], &sum2[s], &max[s]);
            talus_reduced_recover_joints(&b.r[s], b.x[s]);
        }
        CHECK_NEAR(sums[1].residual2, sums[0].residual2, 1e-11 * sums[0].residual2);
        CHECK_NEAR(sum2[1], sum2[0], 1e-11 * sum2[0]);
        CHECK_NEAR(max[1], max[0], 1e-11 * max[0]);
        /* nothing says what each of two redundant rows bears */
        if (k == CASES || !cases[k].closed)
            check_same(&b, 1e-9);
        close_both(&b);
    }
}

/* ---- runs of iterations ---- */

/* A heap of spheres, each two neighbours of a row on a ball joint: runs find the diagonals of their contacts by
 * themselves, but where joints take from them. */
static TestProblem make_pairs(void)
{
    TestProblem p = make_heap(&(HeapOptions){.seed = 3, .nx = 4, .ny = 3, .nz = 2, .mu = 0.4});
    int count = p.def.contact_count, pairs = p.def.body_count / 2;
    TalusContactDef *contact = test_memory(&p, (size_t)(count + pairs), sizeof *contact);
    memcpy(contact, p.def.contacts, (size_t)count * sizeof *contact);
    for (int i = 0; i < pairs; i++)
        contact[count + i] =
            (TalusContactDef){.a = 2 * i,
                              .b = 2 * i + 1,
                              .normal = {1.0, 0.0, 0.0},
                              .arm_a = {0.02, 0.0, 0.01},
                              .arm_b = {-0.02, 0.0, 0.01},
                              .mu = INFINITY,
                              .model = {.section = TALUS_SECTION_JOINT, .sides = 7}};
    p.def.contacts = contact;
    p.def.contact_count = count + pairs;
    return p;
}

static TalusRun run_both(const Both *b, int k, bool momentum)
{
    const TalusBackend *backend = b->r[k].backend;
    const TalusOperator *op = &b->r[k].op;
    size_t n = (size_t)op->rows * (size_t)op->blocks, room[3] = {0};
    double *v[3] = {NULL};
    TalusRun run = {.iterations = 63, .check = 5, .stepwise = true};
    for (int i = 0; i < 3; i++)
        CHECK_OK(backend->vector.reserve(op, &v[i], &room[i], i < 2 ? n : 4 * n, "test"));
    if (momentum) {
        TalusMetricBlock *metric = (TalusMetricBlock *)v[2];
        TalusMomentum m = {.norm = 6.0, .margin = 1.02, .theta = 1.0, .restart = true};
        backend->op.fill_metric(op, TALUS_METRIC_ANISOTROPIC, metric);
        backend->op.scale(op, (const TalusMetricBlock *)metric, true, b->x[k]);
        backend->vector.copy(op, v[0], b->x[k], n);
        backend->vector.zero(op, v[1], n);
        TalusAccelerated a = {.x = b->x[k],
                              .x_prev = v[0],
                              .g_prev = v[1],
                              .metric = (const TalusMetricBlock *)metric,
                              .kind = TALUS_METRIC_ANISOTROPIC};
        CHECK_OK(talus_run_accelerate(backend, op, &a, &m, &run));
        if (a.x != b->x[k])
            backend->vector.copy(op, b->x[k], a.x, n);
        backend->op.scale(op, (const TalusMetricBlock *)metric, false, b->x[k]);
    } else {
        CHECK_OK(talus_run_jacobi(backend, op, 0.3, 0.8, b->x[k], &run));
    }
    for (int i = 0; i < 3; i++)
        backend->vector.release(v[i]);
    return run;
}

/* In graphs of kernels, where sets are cones. */
TEST(runs_agree)
{
    for (int method = 0; method < 4; method++) {
        Both b = open_both(method / 2 ? make_pairs() : make_joints(&cases[0]));
        CHECK(!b.r[1].op.mixed_sets);
        TalusRun run[2];
        for (int k = 0; k < 2; k++) {
            run[k] = run_both(&b, k, method % 2);
            talus_reduced_recover_joints(&b.r[k], b.x[k]);
        }
        CHECK_INT(run[1].done, run[0].done);
        CHECK_NEAR(run[1].residual2, run[0].residual2, 1e-8 * run[0].residual2);
        check_same(&b, 1e-10);
        close_both(&b);
    }
}

int main(void)
{
    cuda = talus_backend_find("cuda");
    if (!cuda) {
        printf("skipped: %s\n", talus_error());
        return 77;
    }
    RUN(operations_agree);
    RUN(runs_agree);
    eliminate_backend = "cuda";
    run_eliminate_cases();
    return cuda_test_result();
}

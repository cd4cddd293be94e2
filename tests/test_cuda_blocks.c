/* Block-by-block and fused operations of the cuda backend against those of the CPU: spheres and other
 * bodies, explicit matrices, one and three rows, in a metric and without, on blocks at the apex, on the
 * mantle, inside, without friction, huge and denormal. */

#include "support/problems.h"
#include "support/test.h"
#include "verify/verify.h"

#include "base/rng.h"
#include "problem/problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const TalusBackend *const cpu = &talus_backend_cpu;
static const TalusBackend *cuda; /* NULL: not here */

#define NEEDS_CUDA()             \
    do {                         \
        if (!cuda)               \
            SKIP(talus_error()); \
    } while (0)

/* ---- a problem on both backends, and vectors for it ---- */

typedef enum Kind { PLAIN, FACES, HUGE_ONES, KINDS } Kind;

typedef struct Case {
    TestProblem test;
    TalusProblem *problem;
    const TalusOperator *op; /* the host's */
    TalusOperator device;
    TalusMetricBlock *metric; /* NULL: none */
    double *device_metric;
    size_t metric_room;
    Kind kind;
    int rows, blocks, n;
    double *x, *g, *d; /* x in the set */
} Case;

/* A vector's two copies. */
typedef struct Both {
    double *host, *device;
    size_t room;
} Both;

static double *vector(int n)
{
    return calloc((size_t)n + 1, sizeof(double));
}

static const TalusMetricBlock *metric_of(const Case *c)
{
    return (const TalusMetricBlock *)c->metric;
}

static const TalusMetricBlock *device_metric_of(const Case *c)
{
    return (const TalusMetricBlock *)c->device_metric;
}

static double mu_of(const Case *c, int i)
{
    return c->rows == 1 ? 0.0 : c->metric ? c->metric[i][2] : c->op->mu[i];
}

/* Blocks of many sizes, with zeros, axes and signs of zero among them. */
static double *make_vector(const Case *c, uint64_t seed)
{
    TalusRng rng = talus_rng(seed);
    double *x = vector(c->n);
    for (int i = 0; i < c->blocks; i++)
        for (int k = 0; k < c->rows; k++) {
            double *e = &x[i * c->rows + k];
            *e = talus_rng_uniform(&rng) - 0.4;
            if (c->kind == PLAIN)
                continue;
            if (i % 7 == (int)(seed % 3))
                *e = i % 2 ? -0.0 : 0.0;
            else if (i % 11 == 1 && k > 0)
                *e = 0.0;
            else if (i % 13 == 2)
                *e *= 1e-310;
            else if (i % 13 == 3)
                *e *= 1e-150;
            else if (c->kind == HUGE_ONES && i % 13 == 4)
                *e *= 1e100;
        }
    return x;
}

static void make_metric(Case *c)
{
    TalusRng rng = talus_rng(77);
    c->metric = calloc((size_t)c->blocks, sizeof *c->metric);
    for (int i = 0; i < c->blocks; i++) {
        double *m = c->metric[i];
        m[0] = 0.5 + talus_rng_uniform(&rng);
        m[1] = 0.5 + talus_rng_uniform(&rng);
        m[2] = c->rows == 3 ? c->op->mu[i] * m[0] / m[1] : 0.0;
        m[3] = 1.0 / (1.0 + m[2] * m[2]);
    }
    size_t n = 4 * (size_t)c->blocks;
    CHECK_OK(cuda->reserve(&c->device_metric, &c->metric_room, n, "metric"));
    cuda->put(c->device_metric, c->metric[0], n);
}

static TestProblem make_problem(int rows, bool matrix)
{
    if (matrix)
        return make_explicit(52, 260, rows);
    TestProblem test = make_heap(&(HeapOptions){51, 5, 5, 4, rows == 3 ? 0.4 : 0.0, 0.02, 0.3});
    TalusContactDef *contacts = (TalusContactDef *)test.def.contacts;
    for (int i = 0; i < test.def.contact_count; i += 3)
        contacts[i].mu = 0.0;
    return test;
}

static Case make_case(int rows, bool matrix, bool scaled, Kind kind)
{
    Case c = {.test = make_problem(rows, matrix), .kind = kind};
    CHECK_OK(talus_problem_create(&c.test.def, NULL, &c.problem));
    c.op = talus_problem_operator(c.problem);
    c.rows = c.op->rows;
    c.blocks = c.op->blocks;
    c.n = c.rows * c.blocks;
    CHECK_INT(c.rows, rows);
    CHECK(c.blocks > 256); /* more than one block of threads */
    CHECK_OK(cuda->mirror(c.op, &c.device));
    CHECK_OK(cuda->scratch(&c.device));
    if (scaled)
        make_metric(&c);
    c.x = make_vector(&c, 61);
    c.g = make_vector(&c, 62);
    c.d = make_vector(&c, 63);
    for (int i = 0; i < c.blocks; i++)
        verify_project(rows, mu_of(&c, i), c.x + i * rows);
    return c;
}

static void free_case(Case *c)
{
    CHECK_OK(cuda->check());
    cuda->release(c->device_metric);
    cuda->mirror_clear(&c->device);
    talus_problem_destroy(c->problem);
    free_test_problem(&c->test);
    free(c->metric);
    free(c->x);
    free(c->g);
    free(c->d);
}

static void for_cases(bool only_scaled, void (*check)(Case *c))
{
    for (int form = 0; form < 8 * KINDS; form++) {
        bool scaled = form & 4;
        if (only_scaled && !scaled)
            continue;
        Case c = make_case(form & 1 ? 3 : 1, form & 2, scaled, (Kind)(form / 8));
        check(&c);
        free_case(&c);
    }
}

static Both make_both(const Case *c, const double *values)
{
    Both v = {.host = vector(c->n)};
    if (values)
        memcpy(v.host, values, (size_t)c->n * sizeof *values);
    CHECK_OK(cuda->reserve(&v.device, &v.room, (size_t)c->n, "test"));
    cuda->put(v.device, v.host, (size_t)c->n);
    return v;
}

static void free_both(Both *v)
{
    cuda->release(v->device);
    free(v->host);
}

/* Sets both copies to the host's. */
static void settle(const Case *c, const Both *v)
{
    cuda->put(v->device, v->host, (size_t)c->n);
}

/* ---- comparing ---- */

static double largest(const double *v, int n)
{
    double most = 0.0;
    for (int k = 0; k < n; k++)
        most = fmax(most, fabs(v[k]));
    return most;
}

/* Both copies, block by block, to 1e-12 of the block's numbers, of which a and b hold the rest; beside
 * that they may differ by `none`. */
static bool near_blocks(const Case *c, const Both *v, const double *a, const double *b, double none)
{
    double *got = vector(c->n), worst = 0.0;
    const int rows = c->rows;
    cuda->get(got, v->device, (size_t)c->n);
    for (int i = 0; i < c->blocks; i++) {
        const double *host = v->host + i * rows;
        double size = fmax(largest(host, rows),
                           fmax(largest(a + i * rows, rows), largest(b + i * rows, rows)));
        for (int k = 0; k < rows; k++) {
            double off = fabs(got[i * rows + k] - host[k]);
            if (!(off <= 1e-12 * size + none))
                worst = isnan(off) ? NAN : fmax(worst, off / size);
        }
    }
    free(got);
    return CHECK_NEAR(worst, 0.0, 1e-12);
}

static bool same_blocks(const Case *c, const Both *v, const double *a, const double *b)
{
    return near_blocks(c, v, a, b, 0.0);
}

/* Both copies to 1e-12 of the largest number in the vector: operations with a product. */
static bool same_vector(const Case *c, const Both *v)
{
    double *got = vector(c->n), worst = 0.0, size = largest(v->host, c->n);
    cuda->get(got, v->device, (size_t)c->n);
    for (int k = 0; k < c->n; k++) {
        double off = fabs(got[k] - v->host[k]);
        worst = isnan(off) || isnan(worst) ? NAN : fmax(worst, off);
    }
    free(got);
    return CHECK_NEAR(worst, 0.0, 1e-12 * size);
}

static bool same_sum(double got, double expected)
{
    return got == expected || CHECK_NEAR(got, expected, 1e-11 * fabs(expected));
}

/* ---- projections ---- */

static void check_project(Case *c)
{
    Both x = make_both(c, c->d);
    cpu->project(c->op, metric_of(c), x.host);
    cuda->project(&c->device, device_metric_of(c), x.device);
    same_blocks(c, &x, c->d, c->d);
    free_both(&x);
}

TEST(projection)
{
    NEEDS_CUDA();
    for_cases(false, check_project);
}

static void same_forward(const TalusForward *got, const TalusForward *expected)
{
    same_sum(got->r2, expected->r2);
    same_sum(got->rg, expected->rg);
    same_sum(got->residual2, expected->residual2);
    same_sum(got->residual_max, expected->residual_max);
}

static void check_forward(Case *c)
{
    const TalusMetricBlock *m = metric_of(c), *dm = device_metric_of(c);
    Both x = make_both(c, c->x), g = make_both(c, c->g);
    Both t = make_both(c, NULL), r = make_both(c, NULL);
    TalusForward expected, got, alone;
    cpu->forward_backward(c->op, m, x.host, g.host, 0.3, t.host, r.host, &expected);
    cuda->forward_backward(&c->device, dm, x.device, g.device, 0.3, t.device, r.device, &got);
    same_blocks(c, &t, c->x, c->g);
    same_blocks(c, &r, c->x, c->g);
    same_forward(&got, &expected);
    cuda->forward_backward(&c->device, dm, x.device, g.device, 0.3, NULL, NULL, &alone);
    CHECK(memcmp(&alone, &got, sizeof got) == 0);
    cuda->forward_backward(&c->device, dm, x.device, g.device, 0.3, x.device, NULL, &alone);
    CHECK(memcmp(&alone, &got, sizeof got) == 0);
    memcpy(x.host, t.host, (size_t)c->n * sizeof(double));
    same_blocks(c, &x, c->x, c->g);
    free_both(&x);
    free_both(&g);
    free_both(&t);
    free_both(&r);
}

TEST(forward_backward)
{
    NEEDS_CUDA();
    for_cases(false, check_forward);
}

/* ---- faces ---- */

static void check_split(Case *c)
{
    const TalusMetricBlock *m = metric_of(c), *dm = device_metric_of(c);
    Both x = make_both(c, c->x), g = make_both(c, c->g), part[3];
    TalusFace expected, got, alone;
    for (int k = 0; k < 3; k++)
        part[k] = make_both(c, NULL);
    memset(&got, 0, sizeof got);
    memset(&alone, 0, sizeof alone);
    cpu->split(c->op, m, x.host, g.host, 0.3, part[0].host, part[1].host, part[2].host, &expected);
    cuda->split(&c->device, dm, x.device, g.device, 0.3, part[0].device, part[1].device,
                part[2].device, &got);
    for (int k = 0; k < 3; k++)
        same_blocks(c, &part[k], c->x, c->g);
    same_sum(got.free2, expected.free2);
    same_sum(got.reduced_g, expected.reduced_g);
    same_sum(got.chopped_g, expected.chopped_g);
    same_sum(got.chopped2, expected.chopped2);
    same_sum(got.residual2, expected.residual2);
    same_sum(got.residual_max, expected.residual_max);
    CHECK_INT(got.active, expected.active);
    CHECK_INT(got.unbound, expected.unbound);
    CHECK(got.active > 0 && got.active < c->blocks && got.unbound > 0);
    cuda->split(&c->device, dm, x.device, g.device, 0.3, NULL, NULL, NULL, &alone);
    CHECK(memcmp(&alone, &got, sizeof got) == 0);
    cpu->mask(c->op, m, x.host, g.host);
    cuda->mask(&c->device, dm, x.device, g.device);
    same_blocks(c, &g, c->x, c->g);
    for (int k = 0; k < 3; k++)
        free_both(&part[k]);
    free_both(&x);
    free_both(&g);
}

TEST(split_and_mask)
{
    NEEDS_CUDA();
    for_cases(false, check_split);
}

static void check_tangent(Case *c)
{
    Both x = make_both(c, c->x), d = make_both(c, c->d), out = make_both(c, NULL);
    cpu->tangent(c->op, metric_of(c), x.host, d.host, out.host);
    cuda->tangent(&c->device, device_metric_of(c), x.device, d.device, out.device);
    same_blocks(c, &out, c->d, c->d);
    cuda->tangent(&c->device, device_metric_of(c), x.device, d.device, d.device); /* over d */
    memcpy(d.host, out.host, (size_t)c->n * sizeof(double));
    same_blocks(c, &d, c->d, c->d);
    free_both(&x);
    free_both(&d);
    free_both(&out);
}

TEST(tangent_cone)
{
    NEEDS_CUDA();
    for_cases(false, check_tangent);
}

static void check_feasible(Case *c)
{
    const TalusMetricBlock *m = metric_of(c), *dm = device_metric_of(c);
    Both x = make_both(c, c->x), p = make_both(c, c->d);
    for (int trial = 0; trial < 2; trial++) {
        cpu->mask(c->op, m, x.host, p.host);
        for (int k = 0; k < c->n; k++) /* others are the first to leave */
            p.host[k] *= k / c->rows % 2 == trial ? 1.0 : 1e-3;
        settle(c, &p);
        same_sum(cuda->feasible_step(&c->device, dm, x.device, p.device),
                 cpu->feasible_step(c->op, m, x.host, p.host));
        memcpy(p.host, c->d, (size_t)c->n * sizeof(double));
    }
    memset(p.host, 0, (size_t)c->n * sizeof(double));
    settle(c, &p);
    CHECK(cuda->feasible_step(&c->device, dm, x.device, p.device) == INFINITY);
    free_both(&x);
    free_both(&p);
}

TEST(feasible_step)
{
    NEEDS_CUDA();
    for_cases(false, check_feasible);
}

static void check_compare(Case *c)
{
    Both x = make_both(c, c->x), y = make_both(c, c->d);
    int active, changed, expected_active, expected_changed;
    cpu->project(c->op, metric_of(c), y.host);
    settle(c, &y);
    cpu->compare(c->op, metric_of(c), x.host, y.host, &expected_active, &expected_changed);
    cuda->compare(&c->device, device_metric_of(c), x.device, y.device, &active, &changed);
    CHECK_INT(active, expected_active);
    CHECK_INT(changed, expected_changed);
    CHECK(changed > 0 && active != changed);
    free_both(&x);
    free_both(&y);
}

TEST(compare)
{
    NEEDS_CUDA();
    for_cases(false, check_compare);
}

static void check_scale(Case *c)
{
    Both x = make_both(c, c->d);
    for (int into = 1; into >= 0; into--) {
        cpu->scale(c->op, metric_of(c), into, x.host);
        cuda->scale(&c->device, device_metric_of(c), into, x.device);
        same_blocks(c, &x, x.host, x.host);
    }
    free_both(&x);
}

TEST(scale)
{
    NEEDS_CUDA();
    for_cases(true, check_scale);
}

/* ---- the accelerated step ---- */

/* What the sum for a restart may be off by: its terms cancel. */
static double restart_size(const Case *c, const double *x_prev, const double *x, const double *next,
                           double beta)
{
    double size = 0.0;
    for (int k = 0; k < c->n; k++) {
        double y = x[k] + beta * (x[k] - x_prev[k]);
        size += (fabs(y) + fabs(next[k])) * (fabs(next[k]) + fabs(x[k]));
    }
    return size;
}

static void check_accelerate(Case *c)
{
    Both x = make_both(c, c->x), x_prev = make_both(c, c->x), g_prev = make_both(c, NULL);
    TalusAccelerated host = {.x = x.host,
                             .x_prev = x_prev.host,
                             .g_prev = g_prev.host,
                             .metric = metric_of(c),
                             .step = 0.2};
    TalusAccelerated device = {.x = x.device,
                               .x_prev = x_prev.device,
                               .g_prev = g_prev.device,
                               .metric = device_metric_of(c),
                               .step = 0.2};
    double *before = vector(c->n);
    for (int step = 0; step < 5; step++) {
        TalusStepSums got, expected;
        host.beta = device.beta = 0.3 * step;
        host.want_residual = device.want_residual = step != 2;
        if (step == 3) /* another x, of which nothing can be known */
            memcpy(host.x, c->x, (size_t)c->n * sizeof(double));
        if (step == 3)
            host.warm = device.warm = false;
        cuda->put(device.x, host.x, (size_t)c->n);
        memcpy(before, host.x_prev, (size_t)c->n * sizeof(double));
        cpu->accelerate(c->op, &host, &expected);
        cuda->accelerate(&c->device, &device, &got);
        CHECK(device.warm && device.x == (step % 2 ? x.device : x_prev.device));
        same_vector(c, &(Both){.host = host.x, .device = device.x});
        same_vector(c, &(Both){.host = host.x_prev, .device = device.x_prev});
        same_vector(c, &g_prev);
        CHECK_NEAR(got.restart, expected.restart,
                   1e-12 * restart_size(c, before, host.x_prev, host.x, host.beta));
        same_sum(got.dx2, expected.dx2);
        same_sum(got.dg2, expected.dg2);
        same_sum(got.residual2, expected.residual2);
        same_sum(got.residual_max, expected.residual_max);
        CHECK(step == 2 ? got.residual2 == 0.0 : got.residual2 > 0.0);
    }
    free(before);
    free_both(&x);
    free_both(&x_prev);
    free_both(&g_prev);
}

TEST(accelerated_step)
{
    NEEDS_CUDA();
    for_cases(true, check_accelerate);
}

/* ---- the optimised gradient method ---- */

static void check_ogm(Case *c)
{
    const double none = 1e-139; /* tangential impulses below a tenth of it are none there: lane.h */
    Both x = make_both(c, c->x), g = make_both(c, c->g), y = make_both(c, c->d);
    Both next = make_both(c, NULL);
    for (int want = 0; want < 2; want++) {
        TalusOgm host = {metric_of(c), x.host, g.host, y.host, next.host, 0.3, 0.7, 0.4, want};
        TalusOgm device = {
            device_metric_of(c), x.device, g.device, y.device, next.device, 0.3, 0.7, 0.4, want};
        double sum2 = NAN, max = NAN, expected2, expected_max;
        cpu->ogm_step(c->op, &host, &expected2, &expected_max);
        cuda->ogm_step(&c->device, &device, &sum2, &max);
        near_blocks(c, &y, c->x, c->g, none);
        near_blocks(c, &next, c->x, c->d, none);
        if (want) {
            same_sum(sum2, expected2);
            same_sum(max, expected_max);
        }
    }
    free_both(&x);
    free_both(&g);
    free_both(&y);
    free_both(&next);
}

TEST(optimised_gradient_step)
{
    NEEDS_CUDA();
    for_cases(true, check_ogm);
}

/* ---- the quasi-Newton step ---- */

/* Every vector of a TalusQuasi on both sides, and all pairs in full precision. */
enum {
    Q_X,
    Q_G,
    Q_R,
    Q_D,
    Q_X_NEXT,
    Q_G_NEXT,
    Q_R_NEXT,
    Q_SMOOTH_X,
    Q_SMOOTH_G,
    Q_SMOOTH_R,
    Q_ALL
};

typedef struct QuasiCase {
    Case *c;
    Both v[Q_ALL], pair[TALUS_PAIRS + 1];
    double *s[TALUS_PAIRS + 1], *y[TALUS_PAIRS + 1];
    TalusQuasi host, device;
} QuasiCase;

static TalusQuasi quasi_of(const TalusMetricBlock *metric, double *v[Q_ALL])
{
    return (TalusQuasi){.metric = metric,
                        .step = 0.3,
                        .unit = 0.125,
                        .x = v[Q_X],
                        .g = v[Q_G],
                        .r = v[Q_R],
                        .d = v[Q_D],
                        .x_next = v[Q_X_NEXT],
                        .g_next = v[Q_G_NEXT],
                        .r_next = v[Q_R_NEXT],
                        .smooth_x = v[Q_SMOOTH_X],
                        .smooth_g = v[Q_SMOOTH_G],
                        .smooth_r = v[Q_SMOOTH_R]};
}

static void make_quasi(QuasiCase *k, Case *c)
{
    double *host[Q_ALL], *device[Q_ALL];
    const double *start[Q_ALL] = {c->x, c->g, c->d};
    *k = (QuasiCase){.c = c};
    for (int i = 0; i < Q_ALL; i++) {
        k->v[i] = make_both(c, start[i]);
        host[i] = k->v[i].host;
        device[i] = k->v[i].device;
    }
    k->host = quasi_of(metric_of(c), host);
    k->device = quasi_of(device_metric_of(c), device);
    for (int p = 0; p <= TALUS_PAIRS; p++) {
        k->pair[p] = make_both(c, NULL);
        k->host.pair[p] = k->pair[p].host;
        k->device.pair[p] = k->pair[p].device;
        k->s[p] = vector(c->n);
        k->y[p] = vector(c->n);
    }
}

static void free_quasi(QuasiCase *k)
{
    for (int i = 0; i < Q_ALL; i++)
        free_both(&k->v[i]);
    for (int p = 0; p <= TALUS_PAIRS; p++) {
        free_both(&k->pair[p]);
        free(k->s[p]);
        free(k->y[p]);
    }
}

/* d against the formula; pairs are rounded to single precision. */
static void check_direction(QuasiCase *k)
{
    const int n = k->c->n, count = k->host.count;
    double weight[1 + 2 * TALUS_PAIRS] = {-0.9}, *got = vector(n);
    bool good = true;
    for (int i = 1; i <= 2 * count; i++)
        weight[i] = 0.3 - 0.017 * i;
    cpu->quasi_direction(k->c->op, &k->host, weight);
    cuda->quasi_direction(&k->c->device, &k->device, weight);
    cuda->get(got, k->device.d, (size_t)n);
    for (int e = 0; e < n; e++) {
        double sum = weight[0] * k->host.r[e], size = fabs(sum);
        for (int p = 0; p < count; p++) {
            double s = weight[1 + 2 * p] * k->s[p][e], y = weight[2 + 2 * p] * k->y[p][e];
            sum += s + y;
            size += fabs(s) + fabs(y);
        }
        good &= fabs(got[e] - sum) <= (count ? 1e-7 : 1e-15) * size + count * 1e-44;
    }
    CHECK(good);
    free(got);
    settle(k->c, &k->v[Q_D]); /* the step is compared from the same d */
}

/* a'r to the rounding of a in single precision. */
static void same_pair_sum(double got, const double *a, const double *r, int n)
{
    double sum = 0.0, size = 0.0;
    for (int e = 0; e < n; e++) {
        sum += a[e] * r[e];
        size += fabs(a[e] * r[e]);
    }
    CHECK_NEAR(got, sum, 2e-7 * size);
}

static void check_step(QuasiCase *k, bool halve)
{
    const int n = k->c->n, count = k->host.count;
    TalusQuasiSums expected, got;
    k->host.halve = k->device.halve = halve;
    cpu->quasi_step(k->c->op, &k->host, &expected);
    cuda->quasi_step(&k->c->device, &k->device, &got);
    for (int i = Q_D; i <= Q_R_NEXT; i++)
        same_vector(k->c, &k->v[i]);
    for (int e = 0; e < n; e++) {
        k->s[count][e] = k->host.unit * k->host.d[e];
        k->y[count][e] = k->host.unit * (k->host.r_next[e] - k->host.r[e]);
    }
    same_sum(got.r2, expected.r2);
    same_sum(got.dw, expected.dw);
    same_sum(got.dd, expected.dd);
    same_sum(got.ww, expected.ww);
    CHECK_NEAR(got.rg, expected.rg,
               1e-12 * (expected.r2 + sqrt(expected.r2 * expected.ww)) + 1e-11 * fabs(expected.rg));
    CHECK_NEAR(got.gd, expected.gd, 1e-11 * (fabs(expected.gd) + sqrt(expected.dd * expected.ww)));
    CHECK_NEAR(got.smooth, expected.smooth, 1e-11 * (fabs(expected.smooth) + expected.r2));
    same_pair_sum(got.sy, k->s[count], k->y[count], n);
    same_pair_sum(got.yy, k->y[count], k->y[count], n);
    for (int p = 0; p <= count; p++) {
        same_pair_sum(got.sr[p], k->s[p], k->host.r_next, n);
        same_pair_sum(got.yr[p], k->y[p], k->host.r_next, n);
    }
    for (int i = Q_D; i <= Q_R_NEXT; i++)
        settle(k->c, &k->v[i]);
}

static void check_smooth(QuasiCase *k, double eta)
{
    TalusSmoothSums expected, got;
    cpu->quasi_smooth(k->c->op, &k->host, eta, &expected);
    cuda->quasi_smooth(&k->c->device, &k->device, eta, &got);
    for (int i = Q_SMOOTH_X; i <= Q_SMOOTH_R; i++)
        same_vector(k->c, &k->v[i]);
    same_sum(got.x2, expected.x2);
    same_sum(got.r2, expected.r2);
    same_sum(got.residual2, expected.residual2);
    same_sum(got.residual_max, expected.residual_max);
}

/* x, g and r become what the step led to. */
static void accept_step(QuasiCase *k)
{
    for (int i = 0; i < 3; i++) {
        memcpy(k->v[i].host, k->v[Q_X_NEXT + i].host, (size_t)k->c->n * sizeof(double));
        settle(k->c, &k->v[i]);
    }
}

static void check_quasi(Case *c)
{
    QuasiCase k;
    const int counts[] = {0, 1, 6, TALUS_PAIRS}; /* pairs are taken five at a time */
    if (c->kind == HUGE_ONES) /* nothing of that size fits a pair; `unit` is there to avoid it */
        return;
    make_quasi(&k, c);
    memset(k.v[Q_SMOOTH_X].host, 0xff, (size_t)c->n * sizeof(double)); /* NaN: not to be read yet */
    settle(c, &k.v[Q_SMOOTH_X]);
    check_smooth(&k, 1.0);
    for (int i = 0; i < 4; i++) {
        while (k.host.count < counts[i]) {
            int p = k.host.count++;
            k.device.count = k.host.count;
            if (p + 1 < counts[i]) { /* the same pair once more */
                memcpy(k.s[p + 1], k.s[p], (size_t)c->n * sizeof(double));
                memcpy(k.y[p + 1], k.y[p], (size_t)c->n * sizeof(double));
                memcpy(k.host.pair[p + 1], k.host.pair[p], (size_t)c->n * sizeof(double));
                cuda->copy(k.device.pair[p + 1], k.device.pair[p], (size_t)c->n);
            }
        }
        check_direction(&k);
        check_step(&k, false);
        if (i % 2)
            check_step(&k, true);
        accept_step(&k);
        check_smooth(&k, 0.3);
    }
    free_quasi(&k);
}

TEST(quasi_newton_step)
{
    NEEDS_CUDA();
    for_cases(true, check_quasi);
}

/* ---- broken numbers, no blocks, many blocks ---- */

TEST(nan_reaches_the_residual)
{
    NEEDS_CUDA();
    Case c = make_case(3, false, false, PLAIN);
    TalusForward forward;
    TalusFace face;
    c.g[4] = NAN;
    Both x = make_both(&c, c.x), g = make_both(&c, c.g);
    cuda->forward_backward(&c.device, NULL, x.device, g.device, 0.2, NULL, NULL, &forward);
    cuda->split(&c.device, NULL, x.device, g.device, 0.2, NULL, NULL, NULL, &face);
    CHECK(isnan(forward.residual2) && isnan(forward.residual_max));
    CHECK(isnan(face.residual2) && isnan(face.residual_max));
    free_both(&x);
    free_both(&g);
    free_case(&c);
}

/* N = 1 with `blocks` blocks of one row. */
typedef struct Diagonal {
    TalusOperator op, device;
    int32_t *start, *column;
    double *values, (*diagonal)[2];
} Diagonal;

static void make_diagonal(Diagonal *m, int blocks)
{
    size_t n = (size_t)blocks + 1;
    *m = (Diagonal){.start = calloc(n, sizeof *m->start),
                    .column = calloc(n, sizeof *m->column),
                    .values = calloc(n, sizeof *m->values),
                    .diagonal = calloc(n, sizeof *m->diagonal)};
    for (int i = 0; i <= blocks; i++) {
        m->start[i] = m->column[i] = i;
        m->values[i] = m->diagonal[i][0] = 1.0;
    }
    m->op = (TalusOperator){.rows = 1,
                            .blocks = blocks,
                            .row_start = m->start,
                            .column = m->column,
                            .values = m->values,
                            .offset = m->values,
                            .diagonal = m->diagonal};
    CHECK_OK(cuda->mirror(&m->op, &m->device));
    CHECK_OK(cuda->scratch(&m->device));
}

static void free_diagonal(Diagonal *m)
{
    CHECK_OK(cuda->check());
    cuda->mirror_clear(&m->device);
    free(m->start);
    free(m->column);
    free(m->values);
    free(m->diagonal);
}

TEST(no_blocks)
{
    NEEDS_CUDA();
    Diagonal m;
    make_diagonal(&m, 0);
    double *none = NULL, *x = NULL;
    size_t room = 0;
    TalusForward forward = {NAN, NAN, NAN, NAN};
    int active = -1, changed = -1;
    CHECK_OK(cuda->reserve(&x, &room, 1, "test"));
    cuda->project(&m.device, NULL, none);
    cuda->forward_backward(&m.device, NULL, x, x, 0.2, NULL, NULL, &forward);
    cuda->compare(&m.device, NULL, x, x, &active, &changed);
    CHECK(forward.r2 == 0.0 && forward.residual2 == 0.0 && forward.residual_max == 0.0);
    CHECK(active == 0 && changed == 0);
    CHECK(cuda->feasible_step(&m.device, NULL, x, x) == INFINITY);
    cuda->release(x);
    free_diagonal(&m);
}

/* More than the threads of a kernel that sums: each takes several. */
TEST(more_blocks_than_threads)
{
    NEEDS_CUDA();
    const int n = 1056 * 256 + 1000;
    Diagonal m;
    make_diagonal(&m, n);
    double *x = vector(n), *device = NULL, *zero = NULL;
    size_t room = 0, zero_room = 0;
    int active, changed, expected = 0;
    for (int i = 0; i < n; i++) {
        x[i] = i % 3 == 0 || i == n - 1 ? 0.0 : 1.0;
        expected += x[i] == 0.0;
    }
    CHECK_OK(cuda->reserve(&device, &room, (size_t)n, "test"));
    CHECK_OK(cuda->reserve(&zero, &zero_room, (size_t)n, "test"));
    cuda->put(device, x, (size_t)n);
    cuda->zero(zero, (size_t)n);
    cuda->compare(&m.device, NULL, zero, device, &active, &changed);
    CHECK_INT(active, expected);
    CHECK_INT(changed, n - expected);
    cuda->release(device);
    cuda->release(zero);
    free(x);
    free_diagonal(&m);
}

int main(void)
{
    cuda = talus_backend_find("cuda");
    RUN(projection);
    RUN(forward_backward);
    RUN(split_and_mask);
    RUN(tangent_cone);
    RUN(feasible_step);
    RUN(compare);
    RUN(scale);
    RUN(accelerated_step);
    RUN(optimised_gradient_step);
    RUN(quasi_newton_step);
    RUN(nan_reaches_the_residual);
    RUN(no_blocks);
    RUN(more_blocks_than_threads);
    return talus_test_result();
}

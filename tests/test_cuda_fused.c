/* Fused steps of the cuda backend against those of the CPU. */

#include "cuda_blocks.h"

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
        host.lag = device.lag = step % 2 ? 0.6 : 0.0;
        host.want_residual = device.want_residual = step != 2;
        if (step == 3) /* another x, of which nothing can be known */
            memcpy(host.x, c->x, (size_t)c->n * sizeof(double));
        if (step == 3)
            host.warm = device.warm = false;
        cuda->vector.put(cuda_op(), device.x, host.x, (size_t)c->n);
        memcpy(before, host.x_prev, (size_t)c->n * sizeof(double));
        cpu->step.accelerate(c->op, &host, &expected);
        cuda->step.accelerate(&c->device, &device, &got);
        CHECK(device.warm && device.x == (step % 2 ? x.device : x_prev.device));
        same_vector(c, &(Both){.host = host.x, .device = device.x});
        same_vector(c, &(Both){.host = host.x_prev, .device = device.x_prev});
        same_vector(c, &g_prev);
        CHECK_NEAR(got.restart, expected.restart,
                   1e-12 * restart_size(c, before, host.x_prev, host.x, host.beta));
        same_sum(got.dx2, expected.dx2);
        same_sum(got.dg2, expected.dg2);
        same_sum(got.x2, expected.x2);
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
        cpu->step.ogm(c->op, &host, &expected2, &expected_max);
        cuda->step.ogm(&c->device, &device, &sum2, &max);
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
    cpu->step.quasi_direction(k->c->op, &k->host, weight);
    cuda->step.quasi_direction(&k->c->device, &k->device, weight);
    cuda->vector.get(cuda_op(), got, k->device.d, (size_t)n);
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
    cpu->step.quasi_step(k->c->op, &k->host, &expected);
    cuda->step.quasi_step(&k->c->device, &k->device, &got);
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
    cpu->step.quasi_smooth(k->c->op, &k->host, eta, &expected);
    cuda->step.quasi_smooth(&k->c->device, &k->device, eta, &got);
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
                cuda->vector.copy(cuda_op(), k.device.pair[p + 1], k.device.pair[p], (size_t)c->n);
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

int main(void)
{
    cuda = talus_backend_find("cuda");
    RUN(accelerated_step);
    RUN(optimised_gradient_step);
    RUN(quasi_newton_step);
    return cuda_test_result();
}

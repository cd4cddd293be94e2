/* measure.c - the metrics of docs/metrics.md, written down once more. */
#include "point.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double *verify_zeros(size_t count)
{
    double *block = calloc(count + 1, sizeof *block);
    if (!block) {
        fprintf(stderr, "verify: out of memory for %zu numbers\n", count);
        exit(1);
    }
    return block;
}

VerifyPoint verify_new_point(int blocks, int rows)
{
    size_t m = (size_t)blocks, n = m * (size_t)rows;
    VerifyPoint p = {.blocks = blocks, .rows = rows};
    p.mu = verify_zeros(m);
    p.normal = verify_zeros(m);
    p.tangential = verify_zeros(m);
    p.gamma = verify_zeros(n);
    p.q = verify_zeros(n);
    p.u = verify_zeros(n);
    p.g = verify_zeros(n);
    return p;
}

void verify_free(VerifyPoint *p)
{
    double *const owned[] = {p->mu, p->normal, p->tangential, p->gamma, p->q, p->u, p->g};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        free(owned[i]);
    *p = (VerifyPoint){0};
}

/* One block as three entries; a plane contact has no second tangent, a frictionless one none. */
typedef struct Block {
    double gamma[3], q[3], u[3], g[3], mu, d;
    bool friction;
} Block;

static void take(const double *all, int rows, int i, double out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = k < rows ? all[i * rows + k] : 0.0;
}

static Block block_of(const VerifyPoint *p, int i)
{
    Block b = {.mu = p->mu[i], .friction = p->rows > 1};
    take(p->gamma, p->rows, i, b.gamma);
    take(p->q, p->rows, i, b.q);
    take(p->u, p->rows, i, b.u);
    take(p->g, p->rows, i, b.g);
    b.d = b.friction ? (p->normal[i] + 2.0 * p->tangential[i]) / 3.0 : p->normal[i];
    return b;
}

static double length(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static void nearest(const Block *b, const double from[3], double to[3])
{
    memcpy(to, from, 3 * sizeof *to);
    verify_project(b->friction ? 3 : 1, b->mu, to);
}

/* |gamma - P(gamma - step w)| */
static double displacement(const Block *b, const double gamma[3], double step, const double w[3])
{
    double y[3], z[3];
    for (int k = 0; k < 3; k++)
        y[k] = gamma[k] - step * w[k];
    nearest(b, y, z);
    for (int k = 0; k < 3; k++)
        z[k] = gamma[k] - z[k];
    return length(z);
}

static void count_block(const Block *b, TalusMetrics *out)
{
    double t = hypot(b->gamma[1], b->gamma[2]);
    if (b->gamma[0] == 0.0 && t == 0.0)
        out->open++;
    else if (b->friction && t >= b->mu * b->gamma[0] * (1.0 - 1e-12))
        out->sliding++;
    else
        out->sticking++;
}

typedef struct Totals {
    double natural2, natural_max, zero2, gradient2, gap, gap_abs, gap2, q2, u2, gamma2, siconos2;
    double datum;
} Totals;

static void add(const VerifyPoint *p, int i, TalusMetrics *out, Totals *t)
{
    static const double none[3] = {0.0, 0.0, 0.0};
    Block b = block_of(p, i);
    double minus[3], pushed[3], shifted[3], gap = 0.0;
    double natural = b.d * displacement(&b, b.gamma, 1.0 / b.d, b.g);
    for (int k = 0; k < 3; k++) {
        gap += b.gamma[k] * b.g[k];
        minus[k] = -b.g[k];
        shifted[k] = b.u[k];
        out->objective += b.gamma[k] * (0.5 * (b.g[k] - b.q[k]) + b.q[k]);
        t->datum = fmax(t->datum, fabs(b.q[k]));
    }
    shifted[0] += b.mu * hypot(b.u[1], b.u[2]);
    nearest(&b, minus, pushed);
    t->natural2 += natural * natural;
    t->natural_max = fmax(t->natural_max, natural);
    t->zero2 += pow(b.d * displacement(&b, none, 1.0 / b.d, b.q), 2);
    t->gradient2 += pow(displacement(&b, b.gamma, out->tau_g, b.g) / out->tau_g, 2);
    t->siconos2 += pow(displacement(&b, b.gamma, 1.0, shifted), 2);
    t->gap += gap;
    t->gap_abs += fabs(gap);
    t->gap2 += gap * gap;
    t->q2 += pow(length(b.q), 2);
    t->u2 += pow(length(b.u), 2);
    t->gamma2 += pow(length(b.gamma), 2);
    t->datum = fmax(t->datum, fmax(p->normal[i], p->tangential[i]));
    out->complementarity_max = fmax(out->complementarity_max, fabs(gap));
    out->primal_infeasibility = fmax(out->primal_infeasibility, length(pushed));
    out->cone_violation = fmax(out->cone_violation, displacement(&b, b.gamma, 0.0, none));
    count_block(&b, out);
}

void verify_measure(const VerifyPoint *p, TalusMetrics *out)
{
    Totals t = {0};
    double largest = 0.0;
    for (int i = 0; i < p->blocks; i++)
        largest = fmax(largest, block_of(p, i).d);
    *out = (TalusMetrics){.tau_g = largest > 0.0 ? 1.0 / largest : 1.0};
    for (int i = 0; i < p->blocks; i++)
        add(p, i, out, &t);
    if (!p->blocks)
        return;
    out->natural = (TalusResidual){sqrt(t.natural2 / p->blocks), t.natural_max};
    out->natural_at_zero = sqrt(t.zero2 / p->blocks);
    out->natural_relative = t.natural2 == 0.0 ? 0.0 : sqrt(t.natural2 / t.zero2);
    out->projected_gradient = sqrt(t.gradient2);
    out->complementarity_mean = t.gap_abs / p->blocks;
    out->complementarity_std =
        sqrt(fmax(t.gap2 / p->blocks - pow(out->complementarity_mean, 2), 0.0));
    out->duality_gap = fabs(t.gap);
    out->duality_gap_scaled = t.datum > 0.0 ? fabs(t.gap) / t.datum : 0.0;
    double scale = fmax(t.q2, fmax(t.gamma2, t.u2));
    out->siconos = scale > 0.0 ? sqrt(t.siconos2 / scale) : 0.0;
    out->siconos_over_q = t.q2 > 0.0 ? sqrt(t.siconos2 / t.q2) : 0.0;
}

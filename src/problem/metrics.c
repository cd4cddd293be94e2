/* problem/metrics.c - all figures by which an iterate is judged, from one gradient. */
#include "problem/problem.h"

#include "base/memory.h"
#include "base/status.h"
#include "sets/cone.h"

#include <math.h>
#include <string.h>

typedef struct Sums {
    double gradient2, zero2, gap, gap_abs, gap2, gap_max, infeasible, outside;
    double siconos2, q2, gamma2, u2, datum;
} Sums;

static const double zeros[3] = {0.0, 0.0, 0.0};

static double norm_of(const double *x, int rows)
{
    double sum = 0.0;
    for (int k = 0; k < rows; k++)
        sum += x[k] * x[k];
    return sqrt(sum);
}

static void project(const TalusOperator *op, int i, double *x)
{
    if (op->rows == 1)
        x[0] = talus_project_nonneg(x[0]);
    else
        talus_project_cone(op->mu[i], op->mu[i], &x[0], &x[1], &x[2]);
}

/* Length of x - P(x - tau step). */
static double moved(const TalusOperator *op, int i, const double *x, double tau, const double *step)
{
    double y[3];
    for (int k = 0; k < op->rows; k++)
        y[k] = x[k] - tau * step[k];
    project(op, i, y);
    for (int k = 0; k < op->rows; k++)
        y[k] = x[k] - y[k];
    return norm_of(y, op->rows);
}

/* Distance from the dual cone, which is that of -g from the polar cone: the length of P(-g). */
static double dual_distance(const TalusOperator *op, int i, const double *g)
{
    double y[3];
    for (int k = 0; k < op->rows; k++)
        y[k] = -g[k];
    project(op, i, y);
    return norm_of(y, op->rows);
}

TalusBlockState talus_problem_state(const TalusProblem *p, int block, const double *gamma)
{
    const TalusOperator *op = &p->op;
    const double *x = gamma + (size_t)block * (size_t)op->rows;
    double t = op->rows == 3 ? norm_of(x + 1, 2) : 0.0;
    if (x[0] == 0.0 && t == 0.0)
        return TALUS_BLOCK_OPEN;
    bool mantle = op->rows == 3 && t >= op->mu[block] * x[0] * (1.0 - 1e-12);
    return mantle ? TALUS_BLOCK_SLIDING : TALUS_BLOCK_STICKING;
}

static void count_state(const TalusProblem *p, int i, const double *gamma, TalusMetrics *out)
{
    switch (talus_problem_state(p, i, gamma)) {
    case TALUS_BLOCK_OPEN: out->open++; break;
    case TALUS_BLOCK_SLIDING: out->sliding++; break;
    case TALUS_BLOCK_STICKING: out->sticking++; break;
    }
}

static void add_complementarity(const TalusOperator *op, int i, const double *gamma,
                                const double *g, Sums *s)
{
    double gap = 0.0;
    for (int k = 0; k < op->rows; k++)
        gap += gamma[k] * g[k];
    s->gap += gap;
    s->gap_abs += fabs(gap);
    s->gap2 += gap * gap;
    s->gap_max = fmax(s->gap_max, fabs(gap));
    s->infeasible = fmax(s->infeasible, dual_distance(op, i, g));
    s->outside = fmax(s->outside, moved(op, i, gamma, 0.0, zeros));
}

static void add_siconos(const TalusOperator *op, int i, const double *gamma, const double *g,
                        Sums *s)
{
    double u[3];
    memcpy(u, g, (size_t)op->rows * sizeof *u);
    if (op->compliance)
        u[0] -= op->compliance[i] * gamma[0];
    for (int k = 0; k < op->rows; k++) {
        s->gamma2 += gamma[k] * gamma[k];
        s->u2 += u[k] * u[k];
    }
    if (op->rows == 3)
        u[0] += op->mu[i] * norm_of(u + 1, 2);
    double r = moved(op, i, gamma, 1.0, u);
    s->siconos2 += r * r;
}

static void add_block(const TalusOperator *op, int i, const double *gamma, const double *g,
                      const double *q, double tau_g, Sums *s)
{
    double d = talus_block_scale(op, i);
    double r = moved(op, i, gamma, tau_g, g) / tau_g;
    double zero = d * moved(op, i, zeros, 1.0 / d, q);
    s->gradient2 += r * r;
    s->zero2 += zero * zero;
    for (int k = 0; k < op->rows; k++) {
        s->q2 += q[k] * q[k];
        s->datum = fmax(s->datum, fabs(q[k]));
    }
    s->datum = fmax(s->datum, fmax(op->diagonal[i][0], op->rows == 3 ? op->diagonal[i][1] : 0.0));
    add_complementarity(op, i, gamma, g, s);
    add_siconos(op, i, gamma, g, s);
}

static double smallest_step(const TalusOperator *op)
{
    double largest = 0.0;
    for (int i = 0; i < op->blocks; i++)
        largest = fmax(largest, talus_block_scale(op, i));
    return largest > 0.0 ? 1.0 / largest : 1.0;
}

static void finish(const Sums *s, int blocks, TalusMetrics *out)
{
    double scale = sqrt(fmax(s->q2, fmax(s->gamma2, s->u2)));
    out->projected_gradient = sqrt(s->gradient2);
    if (blocks) {
        double mean = s->gap_abs / blocks;
        out->natural_at_zero = sqrt(s->zero2 / blocks);
        out->complementarity_mean = mean;
        out->complementarity_std = sqrt(fmax(s->gap2 / blocks - mean * mean, 0.0));
    }
    out->complementarity_max = s->gap_max;
    out->primal_infeasibility = s->infeasible;
    out->cone_violation = s->outside;
    out->duality_gap = fabs(s->gap);
    out->duality_gap_scaled = s->datum > 0.0 ? fabs(s->gap) / s->datum : 0.0;
    out->siconos = scale > 0.0 ? sqrt(s->siconos2) / scale : 0.0;
    out->siconos_over_q = s->q2 > 0.0 ? sqrt(s->siconos2 / s->q2) : 0.0;
}

TalusStatus talus_problem_measure(TalusProblem *p, const double *gamma, TalusMetrics *out)
{
    const TalusOperator *op = &p->op;
    size_t n = (size_t)talus_problem_size(p);
    Sums sums = {0};
    TALUS_TRY(TALUS_RESERVE(p->gradient, p->gradient_room, 2 * n, 0, "gradient and offset"));
    double *g = p->gradient, *q = g + n;
    *out = (TalusMetrics){.tau_g = smallest_step(op)};
    talus_problem_offset(p, q);
    talus_problem_gradient(p, gamma, g);
    for (int i = 0; i < op->blocks; i++) {
        size_t at = (size_t)i * (size_t)op->rows;
        add_block(op, i, gamma + at, g + at, q + at, out->tau_g, &sums);
        count_state(p, i, gamma, out);
    }
    const TalusBackend *cpu = &talus_backend_cpu;
    out->objective = 0.5 * (cpu->dot(op, gamma, q) + cpu->dot(op, gamma, g));
    talus_problem_residual(p, gamma, &out->natural);
    finish(&sums, op->blocks, out);
    /* 0 over 0 is 0: zero impulses solve the problem, and so do these */
    out->natural_relative = out->natural.rms == 0.0 ? 0.0 : out->natural.rms / out->natural_at_zero;
    return TALUS_OK;
}

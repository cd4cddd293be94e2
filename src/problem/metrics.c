/* problem/metrics.c - the metrics of given impulses (TalusMetrics, docs/reference/metrics.md) and states of blocks. */
#include "problem/gather.h"
#include "problem/problem.h"

#include "backend/part.h"
#include "backend/sets.h"
#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

/* Over all blocks: sums (of squares if the name ends in 2), and the maxima gap_max, infeasible, outside and datum. */
typedef struct Sums {
    double gradient2, zero2;            /* projected gradient; natural residual at zero impulses */
    double gap, gap_abs, gap2, gap_max; /* complementarity gaps (add_complementarity) */
    double infeasible; /* distance of the velocity from the dual cone (dual_distance) */
    double outside;    /* distance of gamma from its set */
    double siconos2, q2, gamma2, u2; /* Siconos's residual, and what it is relative to */
    double datum;                    /* largest magnitude in q and on the diagonal of N + E */
    double dilation2, mismatch2;     /* errors of laws (add_law_errors) */
    int coulomb, fixed;              /* number of blocks under these laws */
} Sums;

/* One block: its set, law, scale d and rows of gamma, gradient g and offset q. */
typedef struct Block {
    int rows;
    TalusSet set; /* the cone, under TALUS_LAW_FIXED the prism, of a joint the box */
    bool coulomb;
    double scale;
    const double *gamma, *g, *q;
} Block;

static const double zeros[TALUS_ROWS] = {0.0};

/* Returns |x| of a block. */
static double block_norm(const double *x, int rows)
{
    double sum = 0.0;
    for (int k = 0; k < rows; k++)
        sum += x[k] * x[k];
    return sqrt(sum);
}

/* Returns |x - P(x - tau step)|, P the projection onto the set. */
static double projection_distance(int rows, const TalusSet *set, const double *x, double tau,
                                  const double *step)
{
    double y[TALUS_ROWS];
    for (int k = 0; k < rows; k++)
        y[k] = x[k] - tau * step[k];
    talus_block_project(rows, set, y);
    for (int k = 0; k < rows; k++)
        y[k] = x[k] - y[k];
    return block_norm(y, rows);
}

/* out = the velocity that is complementary to gamma under the block's law: g, under Coulomb's law with De Saxce's
 * shift added to the normal row. */
static void write_law_velocity(const Block *b, const double *g, double *out)
{
    memcpy(out, g, (size_t)b->rows * sizeof *out);
    if (b->coulomb)
        out[0] += talus_block_shift(b->rows, &b->set, g);
}

/* ---- the block's state ---- */

/* True if a row of a joint is at its bound or beyond, such as a motor at its maximum effort. */
static bool joint_is_at_bound(const TalusSet *set, const double *x)
{
    for (int k = 0; k < 3; k++) {
        double bound = talus_joint_bound(set, k);
        if (bound > 0.0 && bound < INFINITY && fabs(x[k]) >= bound * (1.0 - 1e-12))
            return true;
    }
    return false;
}

/* True if x is on a bound of its tangential impulse or moments, or beyond; of a joint, if a row is at its bound. Parts
 * without friction do not count. */
static bool is_at_bound(int rows, const TalusSet *set, const double *x)
{
    if (set->section == TALUS_SECTION_JOINT)
        return joint_is_at_bound(set, x);
    double size = talus_block_section_size(set, x) * (1.0 - 1e-12);
    for (int i = 0; i < talus_part_count(rows); i++) {
        TalusSet part = talus_set_of_part(set, i);
        TalusBounds bounds;
        double t[2];
        talus_part_get(i, x, t);
        if (talus_section_mu(&part) == 0.0 || (t[0] == 0.0 && t[1] == 0.0))
            continue;
        talus_section_bounds(&part, t, &bounds);
        for (int k = 0; k < 2; k++)
            if (bounds.met[k] && bounds.z[k] >= bounds.slope[k] * size)
                return true;
    }
    return false;
}

TalusBlockState talus_problem_state(const TalusProblem *p, int block, const double *gamma)
{
    const TalusOperator *op = &p->op;
    const double *x = gamma + (size_t)block * (size_t)op->rows;
    TalusSet set = talus_set_of_block(op, block, false, NULL);
    bool open = true;
    for (int k = 0; k < op->rows; k++)
        open = open && x[k] == 0.0;
    if (open)
        return TALUS_BLOCK_OPEN;
    return is_at_bound(op->rows, &set, x) ? TALUS_BLOCK_SLIDING : TALUS_BLOCK_STICKING;
}

/* Counts block i in open, sliding or sticking of *out. */
static void count_state(const TalusProblem *p, int i, const double *gamma, TalusMetrics *out)
{
    switch (talus_problem_state(p, i, gamma)) {
    case TALUS_BLOCK_OPEN: out->open++; break;
    case TALUS_BLOCK_SLIDING: out->sliding++; break;
    case TALUS_BLOCK_STICKING: out->sticking++; break;
    }
}

/* ---- sums over blocks ---- */

/* Returns the distance of g from the velocities at which the set's support function at -g is finite. For a cone these
 * velocities are the dual cone, and the distance is |P(-g)|, that of -g from the polar cone; for a prism they have g_n
 * >= 0, for a joint g = 0 in rows without bounds. */
static double dual_distance(const Block *b, const double *g)
{
    double y[TALUS_ROWS];
    if (b->set.prism)
        return fmax(-g[0], 0.0);
    for (int k = 0; k < b->rows; k++)
        y[k] = -g[k];
    talus_block_project_unbounded(b->rows, &b->set, y);
    return block_norm(y, b->rows);
}

/* Returns the support function at -g of a joint's rows with finite bounds. */
static double joint_support(const TalusSet *set, const double *g)
{
    double sum = 0.0;
    for (int k = 0; k < 3; k++) {
        double bound = talus_joint_bound(set, k);
        sum += bound < INFINITY ? bound * fabs(g[k]) : 0.0;
    }
    return sum;
}

/* Adds the block's complementarity gap: gamma . g plus the finite part of the set's support function at -g, which is 0
 * for a cone. Raises s->infeasible to dual_distance and s->outside to the distance of gamma from the block's set. */
static void add_complementarity(const Block *b, const double *g, Sums *s)
{
    double gap = 0.0;
    for (int k = 0; k < b->rows; k++)
        gap += b->gamma[k] * g[k];
    if (b->set.prism)
        gap += talus_prism_section_size(&b->set) * talus_block_shift(b->rows, &b->set, g);
    if (b->set.section == TALUS_SECTION_JOINT)
        gap += joint_support(&b->set, g);
    s->gap += gap;
    s->gap_abs += fabs(gap);
    s->gap2 += gap * gap;
    s->gap_max = fmax(s->gap_max, fabs(gap));
    s->infeasible = fmax(s->infeasible, dual_distance(b, g));
    s->outside = fmax(s->outside, projection_distance(b->rows, &b->set, b->gamma, 0.0, zeros));
}

/* Adds the block to the sums of Siconos's measure, which is by Coulomb's law on the cone of the section, whatever the
 * block's law is. Siconos has one matrix, compliance included, so its velocities are the gradient here. */
static void add_siconos(const Block *b, Sums *s)
{
    double u[TALUS_ROWS];
    TalusSet cone = b->set;
    cone.prism = false;
    memcpy(u, b->g, (size_t)b->rows * sizeof *u);
    for (int k = 0; k < b->rows; k++) {
        s->gamma2 += b->gamma[k] * b->gamma[k];
        s->u2 += u[k] * u[k];
    }
    u[0] += talus_block_shift(b->rows, &cone, u);
    double r = projection_distance(b->rows, &cone, b->gamma, 1.0, u);
    s->siconos2 += r * r;
}

/* Adds, of a block under Coulomb's law, the squared speed at which ccp would open it to dilation2; of a prism, the
 * squared error of its bound, as a velocity d mu (gamma_n - estimate), to mismatch2. Counts the block. */
static void add_law_errors(const Block *b, Sums *s)
{
    if (b->coulomb) {
        double opened = talus_block_shift(b->rows, &b->set, b->g);
        s->dilation2 += opened * opened;
        s->coulomb++;
    }
    if (b->set.prism) {
        double off = b->scale * b->set.mu * (b->gamma[0] - b->set.estimate);
        s->mismatch2 += off * off;
        s->fixed++;
    }
}

/* Adds one block to all sums; tau_g is the step of the projected gradient measure. */
static void add_block(const Block *b, double tau_g, Sums *s)
{
    double g[TALUS_ROWS], q[TALUS_ROWS], d = b->scale;
    write_law_velocity(b, b->g, g);
    write_law_velocity(b, b->q, q);
    double r = projection_distance(b->rows, &b->set, b->gamma, tau_g, g) / tau_g;
    double zero = d * projection_distance(b->rows, &b->set, zeros, 1.0 / d, q);
    s->gradient2 += r * r;
    s->zero2 += zero * zero;
    for (int k = 0; k < b->rows; k++) {
        s->q2 += b->q[k] * b->q[k];
        s->datum = fmax(s->datum, fabs(b->q[k]));
    }
    add_complementarity(b, g, s);
    add_siconos(b, s);
    add_law_errors(b, s);
}

/* Returns block i with its rows of the vectors gamma, g and q. */
static Block make_block(const TalusOperator *op, int i, const double *gamma, const double *g,
                        const double *q)
{
    size_t at = (size_t)i * (size_t)op->rows;
    return (Block){.rows = op->rows,
                   .set = talus_set_of_block(op, i, false, NULL),
                   .coulomb = op->model && op->model[i].law == TALUS_LAW_COULOMB,
                   .scale = talus_block_scale(op, i),
                   .gamma = gamma + at,
                   .g = g + at,
                   .q = q + at};
}

/* Returns the step of the projected gradient measure: 1 over the largest scale d of a block; 1 without blocks. */
static double gradient_step(const TalusOperator *op)
{
    double largest = 0.0;
    for (int i = 0; i < op->blocks; i++)
        largest = fmax(largest, talus_block_scale(op, i));
    return largest > 0.0 ? 1.0 / largest : 1.0;
}

/* Computes the metrics that follow from the sums; reads out->rounding. */
static void fill_metrics(const Sums *s, int blocks, TalusMetrics *out)
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
    out->siconos_rounding =
        scale > 0.0 ? TALUS_ROUNDING + out->rounding.rms * sqrt(blocks) / scale : 0.0;
    out->dilation = s->coulomb ? sqrt(s->dilation2 / s->coulomb) : 0.0;
    out->bound_mismatch = s->fixed ? sqrt(s->mismatch2 / s->fixed) : 0.0;
    out->siconos_over_q = s->q2 > 0.0 ? sqrt(s->siconos2 / s->q2) : 0.0;
}

static TalusStatus measure_whole(TalusProblem *p, const double *gamma, TalusMetrics *out)
{
    const TalusOperator *op = &p->op;
    size_t n = (size_t)talus_problem_size(p);
    Sums sums = {0};
    TALUS_TRY(TALUS_GROW(p->gradient, 2 * n, 0, "gradient and offset"));
    double *g = p->gradient, *q = g + n;
    *out = (TalusMetrics){.tau_g = gradient_step(op)};
    talus_problem_offset(p, q);
    talus_problem_gradient(p, gamma, g);
    for (int i = 0; i < op->blocks; i++) {
        Block block = make_block(op, i, gamma, g, q);
        double tangential = op->rows > 1 ? op->diagonal[i][1] : 0.0;
        sums.datum = fmax(sums.datum, fmax(op->diagonal[i][0], tangential));
        add_block(&block, out->tau_g, &sums);
        count_state(p, i, gamma, out);
    }
    const TalusBackend *cpu = &talus_backend_cpu;
    out->objective = 0.5 * (cpu->vector.dot(op, gamma, q) + cpu->vector.dot(op, gamma, g));
    talus_problem_residual_and_rounding(p, gamma, &out->natural, &out->rounding);
    fill_metrics(&sums, op->blocks, out);
    /* 0 / 0 counts as 0: both zero impulses and these impulses solve the problem */
    out->natural_relative = out->natural.rms == 0.0 ? 0.0 : out->natural.rms / out->natural_at_zero;
    return TALUS_OK;
}

/* The metrics of the whole problem, which rank 0 gathers and measures: their sums go from block to block. */
static TalusStatus measure_part(const TalusProblem *p, const double *gamma, TalusMetrics *out)
{
    TalusComm *comm = p->op.halo->comm;
    TalusGather *gather;
    TALUS_TRY(talus_gather_create(p, gamma, &gather));
    TalusStatus status = TALUS_OK;
    if (gather->whole)
        status = measure_whole(gather->whole, gather->whole->gamma, out);
    status = talus_comm_agree(comm, status);
    TALUS_THEN(status, talus_comm_broadcast(comm, 0, out, sizeof *out));
    talus_gather_destroy(gather);
    return status;
}

TalusStatus talus_problem_measure(TalusProblem *p, const double *gamma, TalusMetrics *out)
{
    return p->op.halo ? measure_part(p, gamma, out) : measure_whole(p, gamma, out);
}

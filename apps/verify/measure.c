/* measure.c - computes the metrics of docs/reference/metrics.md from the data of a VerifyPoint (verify.h). */
#include "point.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rounding error of N gamma + q, as the verifier computes it, over the magnitude of its terms. */
static const double ROUNDING = DBL_EPSILON;

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
    p.set = calloc(m + 1, sizeof *p.set);
    if (!p.set) {
        fprintf(stderr, "verify: out of memory for %zu sets\n", m);
        exit(1);
    }
    p.normal = verify_zeros(m);
    p.tangential = verify_zeros(m);
    p.gamma = verify_zeros(n);
    p.q = verify_zeros(n);
    p.u = verify_zeros(n);
    p.g = verify_zeros(n);
    p.terms = verify_zeros(m);
    p.offset_terms = verify_zeros(m);
    return p;
}

void verify_point_free(VerifyPoint *p)
{
    void *const owned[] = {p->set, p->normal, p->tangential, p->gamma,       p->q,
                           p->u,   p->g,      p->terms,      p->offset_terms};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        free(owned[i]);
    *p = (VerifyPoint){0};
}

void verify_point_set_estimate(VerifyPoint *p, const double *estimate)
{
    for (int i = 0; i < p->blocks; i++)
        p->set[i].estimate = estimate[i];
}

/* Data of one block, with zeros in rows that the problem does not have; d: mean diagonal entry of N + E. */
typedef struct Block {
    double gamma[VERIFY_ROWS], q[VERIFY_ROWS], u[VERIFY_ROWS], g[VERIFY_ROWS], d;
    VerifySet set;
} Block;

/* Copies the rows of block i from a vector with `rows` rows per block, 0 in the rows that it lacks. */
static void copy_block_rows(const double *all, int rows, int i, double *out)
{
    for (int k = 0; k < VERIFY_ROWS; k++)
        out[k] = k < rows ? all[i * rows + k] : 0.0;
}

/* Returns the data of block i. */
static Block get_block(const VerifyPoint *p, int i)
{
    Block b = {.set = p->set[i]};
    int others = b.set.rows - 1;
    copy_block_rows(p->gamma, p->rows, i, b.gamma);
    copy_block_rows(p->q, p->rows, i, b.q);
    copy_block_rows(p->u, p->rows, i, b.u);
    copy_block_rows(p->g, p->rows, i, b.g);
    b.d = (p->normal[i] + others * p->tangential[i]) / (1 + others);
    return b;
}

/* Euclidean length of a block. */
static double block_length(const double *v)
{
    double sum = 0.0;
    for (int k = 0; k < VERIFY_ROWS; k++)
        sum += v[k] * v[k];
    return sqrt(sum);
}

/* True if the set is a half line or a circular cone, for which verify_cone_project suffices. */
static bool is_plain_cone(const VerifySet *set)
{
    return set->rows <= 3 && set->model.section == TALUS_SECTION_DISC &&
           set->model.law != TALUS_LAW_FIXED;
}

/* Writes the projection of `from` onto the set to `to`. */
static void project_block(const VerifySet *set, const double *from, double *to)
{
    memcpy(to, from, VERIFY_ROWS * sizeof *to);
    if (is_plain_cone(set))
        verify_cone_project(set->rows, set->mu, to);
    else
        verify_set_project(set, to);
}

/* Returns |gamma - P(gamma - step w)|, with P the projection onto the set. */
static double displacement(const VerifySet *set, const double *gamma, double step, const double *w)
{
    double y[VERIFY_ROWS], z[VERIFY_ROWS];
    for (int k = 0; k < VERIFY_ROWS; k++)
        y[k] = gamma[k] - step * w[k];
    project_block(set, y, z);
    for (int k = 0; k < VERIFY_ROWS; k++)
        z[k] = gamma[k] - z[k];
    return block_length(z);
}

/* De Saxce's shift: the support function of the sections at -u, which is mu |u_t| for a circular cone. */
static double de_saxce_shift(const VerifySet *set, const double *u)
{
    double minus[VERIFY_ROWS];
    for (int k = 0; k < VERIFY_ROWS; k++)
        minus[k] = -u[k];
    return verify_section_support(set, minus);
}

/* Writes the vector that is complementary to gamma at a solution: g, under TALUS_LAW_COULOMB with De Saxce's shift in
 * the normal row. */
static void write_complement(const VerifySet *set, const double *g, double *out)
{
    memcpy(out, g, VERIFY_ROWS * sizeof *out);
    if (set->model.law == TALUS_LAW_COULOMB)
        out[0] += de_saxce_shift(set, g);
}

/* Counts the block as open, sliding or sticking. */
static void count_state(const Block *b, TalusMetrics *out)
{
    if (block_length(b->gamma) == 0.0)
        out->open++;
    else if (verify_set_slides(&b->set, b->gamma))
        out->sliding++;
    else
        out->sticking++;
}

/* Sums and maxima over blocks; a name that ends with 2 is a sum of squares, one with _max a maximum. */
typedef struct Totals {
    double natural2, natural_max; /* natural residual */
    double terms2, terms_max;     /* terms of the gradient, to which rounding is proportional */
    double zero2;                 /* natural residual at zero impulses */
    double gradient2;             /* projected gradient */
    /* complementarity (add_gap): sum, sum of magnitudes, of squares */
    double gap, gap_abs, gap2;
    double q2, g2, gamma2; /* the vectors q, g and gamma */
    double siconos2;       /* residual of Siconos */
    double datum;     /* largest of |q| and of the diagonal of N + E, tangential entries as means */
    double dilation2; /* dilation of blocks under Coulomb's law */
    double mismatch2; /* bounds of blocks under the law fixed, against their normal impulses */
    int coulomb, fixed; /* numbers of blocks under these laws */
} Totals;

/* Adds complementarity and primal infeasibility of a block; g is its complement (write_complement). gap: g'gamma minus
 * the minimum of g'x over x in the set, which is 0 for a cone. off: distance of g from the gradients for which this
 * minimum is finite; for a cone, from K*. */
static void add_gap(const Block *b, const double *g, TalusMetrics *out, Totals *t)
{
    double minus[VERIFY_ROWS], pushed[VERIFY_ROWS], gap = 0.0, off;
    for (int k = 0; k < VERIFY_ROWS; k++) {
        gap += b->gamma[k] * g[k];
        minus[k] = -g[k];
    }
    if (b->set.model.law == TALUS_LAW_FIXED) {
        gap += verify_section_scale(&b->set, b->gamma) * de_saxce_shift(&b->set, g);
        off = g[0] < 0.0 ? -g[0] : 0.0;
    } else if (verify_is_joint(&b->set)) {
        /* a row without bounds requires g = 0; a bounded row adds its bound times |g| to the gap */
        off = 0.0;
        for (int k = 0; k < 3; k++) {
            double max = verify_joint_max_effort(&b->set, k);
            if (isinf(max))
                off = hypot(off, g[k]);
            else
                gap += max * fabs(g[k]);
        }
    } else {
        project_block(&b->set, minus, pushed);
        off = block_length(pushed);
    }
    t->gap += gap;
    t->gap_abs += fabs(gap);
    t->gap2 += gap * gap;
    out->complementarity_max = fmax(out->complementarity_max, fabs(gap));
    out->primal_infeasibility = fmax(out->primal_infeasibility, off);
}

/* Adds the dilation of a block under Coulomb's law, and the mismatch of bounds under the law fixed. */
static void add_law(const Block *b, Totals *t)
{
    if (b->set.model.law == TALUS_LAW_COULOMB) {
        t->dilation2 += pow(de_saxce_shift(&b->set, b->u), 2);
        t->coulomb++;
    }
    if (b->set.model.law == TALUS_LAW_FIXED) {
        t->mismatch2 += pow(b->d * b->set.mu * (b->gamma[0] - b->set.estimate), 2);
        t->fixed++;
    }
}

/* Residual of a block as the Siconos library defines it: that of exact Coulomb friction, whatever the law of the block.
 * The matrix of Siconos contains the compliance, so g is used in place of the velocity u. */
static double siconos_residual(const Block *b)
{
    VerifySet cone = b->set;
    double shifted[VERIFY_ROWS];
    cone.model.law = TALUS_LAW_COULOMB;
    write_complement(&cone, b->g, shifted);
    return displacement(&cone, b->gamma, 1.0, shifted);
}

/* Adds block i to the totals, and its objective, violation and state to the metrics. */
static void add_block(const VerifyPoint *p, int i, TalusMetrics *out, Totals *t)
{
    static const double none[VERIFY_ROWS] = {0.0};
    Block b = get_block(p, i);
    double g[VERIFY_ROWS], q[VERIFY_ROWS];
    write_complement(&b.set, b.g, g);
    write_complement(&b.set, b.q, q);
    double natural = b.d * displacement(&b.set, b.gamma, 1.0 / b.d, g);
    for (int k = 0; k < VERIFY_ROWS; k++) {
        out->objective += b.gamma[k] * (0.5 * (b.g[k] - b.q[k]) + b.q[k]);
        t->datum = fmax(t->datum, fabs(b.q[k]));
    }
    t->natural2 += natural * natural;
    t->natural_max = fmax(t->natural_max, natural);
    /* under Coulomb's law an error of g enters De Saxce's shift too, times mu */
    double terms = fmax(p->terms[i], b.d * block_length(b.gamma)) *
                   (b.set.model.law == TALUS_LAW_COULOMB ? 1.0 + b.set.mu : 1.0);
    t->terms2 += terms * terms;
    t->terms_max = fmax(t->terms_max, terms);
    t->zero2 += pow(b.d * displacement(&b.set, none, 1.0 / b.d, q), 2);
    t->gradient2 += pow(displacement(&b.set, b.gamma, out->tau_g, g) / out->tau_g, 2);
    t->siconos2 += pow(siconos_residual(&b), 2);
    t->q2 += pow(block_length(b.q), 2);
    t->g2 += pow(block_length(b.g), 2);
    t->gamma2 += pow(block_length(b.gamma), 2);
    t->datum = fmax(t->datum, fmax(p->normal[i], p->tangential[i]));
    out->cone_violation = fmax(out->cone_violation, displacement(&b.set, b.gamma, 0.0, none));
    add_gap(&b, g, out, t);
    add_law(&b, t);
    count_state(&b, out);
}

void verify_measure(const VerifyPoint *p, TalusMetrics *out)
{
    Totals t = {0};
    double largest = 0.0;
    for (int i = 0; i < p->blocks; i++)
        largest = fmax(largest, get_block(p, i).d);
    *out = (TalusMetrics){.tau_g = largest > 0.0 ? 1.0 / largest : 1.0};
    for (int i = 0; i < p->blocks; i++)
        add_block(p, i, out, &t);
    if (!p->blocks)
        return;
    out->natural = (TalusResidual){sqrt(t.natural2 / p->blocks), t.natural_max};
    /* zero impulses are the solution: rounding of q does not matter */
    bool nothing = t.natural_max == 0.0 && t.gamma2 == 0.0;
    double hidden = nothing ? 0.0 : ROUNDING * sqrt(t.terms2);
    out->rounding =
        (TalusResidual){hidden / sqrt(p->blocks), nothing ? 0.0 : 2.0 * ROUNDING * t.terms_max};
    out->natural_at_zero = sqrt(t.zero2 / p->blocks);
    out->natural_relative = t.natural2 == 0.0 ? 0.0 : sqrt(t.natural2 / t.zero2);
    out->projected_gradient = sqrt(t.gradient2);
    out->complementarity_mean = t.gap_abs / p->blocks;
    out->complementarity_std =
        sqrt(fmax(t.gap2 / p->blocks - pow(out->complementarity_mean, 2), 0.0));
    out->duality_gap = fabs(t.gap);
    out->duality_gap_scaled = t.datum > 0.0 ? fabs(t.gap) / t.datum : 0.0;
    out->dilation = t.coulomb ? sqrt(t.dilation2 / t.coulomb) : 0.0;
    out->bound_mismatch = t.fixed ? sqrt(t.mismatch2 / t.fixed) : 0.0;
    double scale = fmax(t.q2, fmax(t.gamma2, t.g2));
    out->siconos = scale > 0.0 ? sqrt(t.siconos2 / scale) : 0.0;
    out->siconos_rounding = scale > 0.0 ? ROUNDING + hidden / sqrt(scale) : 0.0;
    out->siconos_over_q = t.q2 > 0.0 ? sqrt(t.siconos2 / t.q2) : 0.0;
}

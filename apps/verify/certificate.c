/* certificate.c - checks proofs of infeasibility (docs/reference/contact-problem.md, an infeasible step). */
#include "point.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ROUNDING: relative error up to which a figure counts as zero. BOUND: minimum of gain / balance for a proof. */
static const double ROUNDING = 64.0 * DBL_EPSILON, BOUND = 1e12;

/* Projects the block x onto the directions along which its impulses may grow without bound. Under laws fixed and
 * coulomb only the normal impulse may; of a joint, the rows without bounds. */
static void nearest_unbounded(const VerifySet *set, double *x)
{
    bool bounded = set->model.law == TALUS_LAW_FIXED || set->model.law == TALUS_LAW_COULOMB;
    if (verify_is_joint(set)) {
        for (int k = 0; k < VERIFY_ROWS; k++)
            x[k] = k < 3 && isinf(verify_joint_max_effort(set, k)) ? x[k] : 0.0;
    } else if (bounded || set->rows == 1) {
        memset(x + 1, 0, (VERIFY_ROWS - 1) * sizeof *x);
        x[0] = fmax(x[0], 0.0);
    } else {
        verify_set_project(set, x);
    }
}

/* Sums over blocks, of squares except `along`. outside2: d times the distance of delta from unbounded directions, d
 * being the block's mean diagonal entry; balance2: (N + E) delta; terms2: d delta, the scale of these two; q2, hidden2:
 * q and the terms by which its rounding scales, where delta is not 0; delta2: delta; along: q'delta. */
typedef struct Sums {
    double outside2, balance2, terms2, q2, hidden2, delta2, along;
} Sums;

static void add_block(const VerifyPoint *p, int i, Sums *s)
{
    const VerifySet *set = &p->set[i];
    double nearest[VERIFY_ROWS] = {0.0}, size2 = 0.0, away2 = 0.0, q2 = 0.0;
    double d = (p->normal[i] + (set->rows - 1) * p->tangential[i]) / set->rows;
    memcpy(nearest, p->gamma + i * p->rows, (size_t)p->rows * sizeof *nearest);
    nearest_unbounded(set, nearest);
    for (int k = 0; k < p->rows; k++) {
        double delta = p->gamma[i * p->rows + k], q = p->q[i * p->rows + k];
        size2 += delta * delta;
        away2 += pow(delta - nearest[k], 2);
        q2 += q * q;
        s->along += q * delta;
        s->balance2 += pow(p->g[i * p->rows + k] - q, 2);
    }
    s->outside2 += d * d * away2;
    s->terms2 += d * d * size2;
    s->delta2 += size2;
    s->q2 += size2 > 0.0 ? q2 : 0.0;
    s->hidden2 += size2 > 0.0 ? pow(p->offset_terms[i], 2) : 0.0;
}

VerifyCertificate verify_certificate(const VerifyPoint *p)
{
    Sums s = {0};
    for (int i = 0; i < p->blocks; i++)
        add_block(p, i, &s);
    VerifyCertificate c = {.outside = sqrt(s.outside2 / s.terms2),
                           .balance = sqrt(s.balance2 / s.terms2),
                           .gain = -s.along / sqrt(s.q2 * s.delta2),
                           .rounding = ROUNDING * sqrt(s.hidden2 / s.q2)};
    c.proof = s.terms2 > DBL_MIN / (DBL_EPSILON * DBL_EPSILON) && c.outside <= ROUNDING &&
              c.balance <= ROUNDING && c.gain > fmax(ROUNDING, c.rounding) &&
              c.gain >= BOUND * c.balance;
    return c;
}

double verify_certificate_scale(const VerifyPoint *p)
{
    double terms2 = 0.0, q2 = 0.0;
    int exponent = 0;
    for (int i = 0; i < p->blocks; i++) {
        int rows = p->set[i].rows;
        double d = (p->normal[i] + (rows - 1) * p->tangential[i]) / rows;
        for (int k = i * p->rows; k < (i + 1) * p->rows; k++) {
            terms2 += pow(d * p->gamma[k], 2);
            q2 += p->q[k] * p->q[k];
        }
    }
    if (terms2 > 0.0 && q2 > 0.0)
        frexp(sqrt(q2 / terms2), &exponent);
    return ldexp(1.0, exponent + 40);
}

/* certificate.c - checks directions that are to prove infeasibility (docs/reference/contact-problem.md, an infeasible
 * step). */
#include "point.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ROUNDING: relative size up to which a figure counts as zero. BOUND: least gain / balance of a proof. */
static const double ROUNDING = 64.0 * DBL_EPSILON, BOUND = 1e12;

/* Replaces the block x by the nearest direction along which the block's impulses may grow without bound. Under the laws
 * fixed and coulomb only the normal impulse may grow; of a joint, the rows without bounds. */
static void project_on_unbounded(const VerifySet *set, double *x)
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

/* Sums over blocks; delta is the direction, d the mean diagonal entry of a block of N + E. */
typedef struct Sums {
    double outside2; /* squares of d times the distance of delta from unbounded directions */
    double balance2; /* squares of (N + E) delta */
    double terms2;   /* squares of d delta, with which the two above are compared */
    double q2;       /* squares of q, of blocks where delta is not 0 */
    /* squares of offset_terms, of blocks where delta is not 0: for the rounding of q */
    double hidden2;
    double delta2; /* squares of delta */
    double along;  /* q'delta */
} Sums;

/* Adds block i to the sums. */
static void add_block(const VerifyPoint *p, int i, Sums *s)
{
    const VerifySet *set = &p->set[i];
    double nearest[VERIFY_ROWS] = {0.0}, size2 = 0.0, away2 = 0.0, q2 = 0.0;
    double d = (p->normal[i] + (set->rows - 1) * p->tangential[i]) / set->rows;
    memcpy(nearest, p->gamma + i * p->rows, (size_t)p->rows * sizeof *nearest);
    project_on_unbounded(set, nearest);
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

VerifyCertificate verify_certificate_check(const VerifyPoint *p)
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

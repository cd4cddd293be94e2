#include "support/qp_gap.h"

#include "linalg/sparse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void qp_velocity(const TalusQp *qp, const double *lambda, double *v)
{
    size_t unknowns = 3 * (size_t)qp->bodies.groups;
    memset(v, 0, unknowns * sizeof *v);
    talus_sparse_add_transposed(&qp->a, 1.0, lambda, v);
    talus_jacobian_divide_by_mass(&qp->bodies, v, v);
    for (size_t k = 0; k < unknowns; k++)
        v[k] += qp->bodies.free_velocity[k];
}

/* x'M x. */
static double weigh(const TalusJacobian *j, const double *x)
{
    double sum = 0.0;
    for (int g = 0; g < j->groups; g++) {
        TalusVec3 v = {x[3 * g], x[3 * g + 1], x[3 * g + 2]};
        sum += talus_dot(v, talus_sym3_mul(j->mass[g], v));
    }
    return sum;
}

static double normal_impulse(const TalusQp *qp, const double *lambda, int i)
{
    double sum = 0.0;
    for (int k = qp->first[i]; k < qp->first[i + 1]; k++)
        sum += lambda[k];
    return sum;
}

static double yielding(const TalusQp *qp, const double *lambda, int i)
{
    return qp->compliance ? qp->compliance[i] * normal_impulse(qp, lambda, i) : 0.0;
}

/* `slack`: A v - b. */
static double violation(const TalusQp *qp, const double *lambda, const double *slack)
{
    double most = 0.0;
    for (int i = 0; i < qp->blocks; i++)
        for (int k = qp->first[i]; k < qp->first[i + 1]; k++)
            most = fmax(most, -(slack[k] + yielding(qp, lambda, i)));
    return most;
}

QpGap qp_gap(const TalusQp *qp, const double *v, const double *lambda)
{
    const TalusJacobian *j = &qp->bodies;
    size_t unknowns = 3 * (size_t)j->groups, n = (size_t)qp->multipliers;
    double *moved = calloc(unknowns + n, sizeof *moved), *slack = moved + unknowns;
    double stored = 0.0, linear = 0.0;
    QpGap out;
    for (int i = 0; i < qp->blocks; i++)
        stored += yielding(qp, lambda, i) * normal_impulse(qp, lambda, i);
    for (size_t k = 0; k < unknowns; k++)
        moved[k] = v[k] - j->free_velocity[k];
    out.primal = 0.5 * (weigh(j, moved) + stored);
    qp_velocity(qp, lambda, moved);
    for (size_t k = 0; k < unknowns; k++)
        moved[k] -= j->free_velocity[k];
    for (size_t k = 0; k < n; k++) {
        linear += qp->kappa[k] * lambda[k];
        slack[k] = -qp->b[k];
    }
    out.dual = -0.5 * (weigh(j, moved) + stored) - linear;
    out.gap = out.primal - out.dual;
    out.datum = talus_qp_data_scale(qp, NULL);
    talus_sparse_add(&qp->a, 1.0, v, slack);
    out.infeasibility = violation(qp, lambda, slack);
    free(moved);
    return out;
}

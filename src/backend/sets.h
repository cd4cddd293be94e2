/* backend/sets.h - the admissible set of a block from the operator's arrays, for host and device. */
#ifndef TALUS_BACKEND_SETS_H
#define TALUS_BACKEND_SETS_H

#include "backend/operator.h"
#include "sets/set.h"

/* True if the block is a prism: its tangential bounds follow from an estimate of the normal impulse, not from the
 * impulse itself. `prisms` as in TalusOperator; model NULL: false. */
TALUS_INLINE bool talus_model_is_prism(const TalusBlockModel *model, bool prisms)
{
    return model && (model->law == TALUS_LAW_FIXED || (model->law == TALUS_LAW_COULOMB && prisms));
}

/* Returns the admissible set of x = gamma / s for a block with this friction model and these coefficients; s_n and s_t
 * are the first two numbers of `metric` (NULL: s = 1). Friction coefficients are multiplied by s_n / s_t, the estimate
 * is divided by s_n. A joint's bound mu, in N s, is divided by s_t for set.mu and by s_n for set.estimate. model NULL:
 * a disc under ccp; moment_mu NULL: no spinning or rolling friction. */
TALUS_INLINE TalusSet talus_set_in_metric(const TalusBlockModel *model, bool prisms, double mu,
                                          const double *moment_mu, double estimate,
                                          const double *metric)
{
    double ratio = metric ? metric[0] / metric[1] : 1.0;
    TalusSet set;
    set.sides = model ? (int)model->sides : 0;
    set.section = model ? (int)model->section : (int)TALUS_SECTION_DISC;
    set.prism = talus_model_is_prism(model, prisms);
    set.mu = set.section == TALUS_SECTION_NONE ? 0.0 : mu * ratio;
    set.spinning = moment_mu ? moment_mu[0] * ratio : 0.0;
    set.rolling = moment_mu ? moment_mu[1] * ratio : 0.0;
    set.estimate = !set.prism ? 0.0 : metric ? estimate / metric[0] : estimate;
    set.cos = 1.0;
    set.sin = 0.0;
    if (set.section == TALUS_SECTION_POLYGON)
        talus_polygon_angle(set.sides, &set.cos, &set.sin);
    if (set.section == TALUS_SECTION_JOINT) {
        set.mu = metric ? mu / metric[1] : mu;
        set.estimate = metric ? mu / metric[0] : mu;
    }
    return set;
}

/* Returns the admissible set of block i for x = gamma / s (metric NULL: for gamma itself). prisms: true if blocks under
 * Coulomb's law are to be prisms, as op->prisms. */
TALUS_INLINE TalusSet talus_set_of_block(const TalusOperator *op, int64_t i, bool prisms,
                                         const double *metric)
{
    const TalusBlockModel *model = op->model ? &op->model[i] : 0;
    return talus_set_in_metric(model, prisms, op->rows == 1 ? 0.0 : op->mu[i],
                               op->moment_mu ? op->moment_mu[i] : 0,
                               op->estimate ? op->estimate[i] : 0.0, metric);
}

#endif

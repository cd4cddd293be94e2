/* cli/commands/advise_plan.c - the settings that `talus advise` tries.
 *
 * The default and, from it, one change at a time: law and stiffness, tolerance, step. The last one is the most accurate:
 * it has whatever time is left. */
#include "advise.h"

#include <math.h>

/* soft: what TALUS_COMPLIANCE_AUTO means at the tolerances that are tried, unless masses are very uneven. */
static const double soft = 1e-2, stiffer = 1e-3;

bool advise_same(const TalusWorldChanges *a, const TalusWorldChanges *b)
{
    return a->law == b->law && a->compliance == b->compliance &&
           (a->compliance == 0.0 || a->elastic_overlap == b->elastic_overlap) &&
           a->tolerance == b->tolerance && a->step == b->step;
}

/* Returns the default of worlds, at the scene's step. */
static TalusWorldChanges base_of(const TalusWorldChanges *own)
{
    TalusWorldDef def = talus_world_def_default();
    TalusWorldChanges base = {
        .law = def.friction.law,
        .compliance = soft,
        .elastic_overlap = def.elastic_overlap,
        .tolerance = 1e-2,
        .step = own->step,
        .on_miss = TALUS_MISS_CONTINUE,
    };
    return base;
}

int advise_plan(const TalusWorldChanges *own, TalusWorldChanges *base_out,
                AdviseSetting out[ADVISE_SETTINGS])
{
    const struct {
        TalusFrictionLaw law;
        double compliance, tolerance, step; /* compliance below 0: the default's */
        int priority;
    } rows[] = {
        {TALUS_LAW_COULOMB, -1.0, 1e-2, 1.0, 0},    {TALUS_LAW_CCP, 0.0, 1e-2, 1.0, 0},
        {TALUS_LAW_COULOMB, 0.0, 1e-2, 1.0, 2},     {TALUS_LAW_COULOMB, stiffer, 1e-2, 1.0, 3},
        {TALUS_LAW_COULOMB, -1.0, 1e-1, 1.0, 5},    {TALUS_LAW_COULOMB, -1.0, 1e-3, 1.0, 1},
        {TALUS_LAW_COULOMB, -1.0, 1e-2, 2.0, 6},    {TALUS_LAW_COULOMB, -1.0, 1e-2, 0.5, 4},
        {TALUS_LAW_COULOMB, stiffer, 1e-3, 0.5, 0},
    };
    const TalusWorldChanges base = *base_out = base_of(own);
    int count = 0, found = -1;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        TalusWorldChanges with = base;
        with.law = rows[i].law;
        with.compliance = rows[i].compliance < 0.0 ? base.compliance : rows[i].compliance;
        with.tolerance = rows[i].tolerance;
        with.step = rows[i].step * base.step;
        bool same = advise_same(&with, own);
        found = same ? count : found;
        out[count++] = (AdviseSetting){with, same, same ? 0 : rows[i].priority};
    }
    if (found < 0) { /* the scene's own setting comes first */
        for (int i = count; i > 0; i--)
            out[i] = out[i - 1];
        out[0] = (AdviseSetting){*own, true, 0};
        out[0].with.on_miss = TALUS_MISS_CONTINUE;
        count++;
    }
    return count;
}

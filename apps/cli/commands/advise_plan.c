/* cli/commands/advise_plan.c - the settings that `talus advise` tries.
 *
 * The settings are the scene's own, the default and changes of it in one respect each: law and stiffness, tolerance, or
 * step. The last setting combines the accurate choices; its trial is the last of the plan, so that it has a large share
 * of the time that the others left. */
#include "advise.h"

#include "world/compliance.h"

#include <math.h>

/* Compliance of the settings with stiffer contacts, unless the default is rigid. */
static const double stiffer = 1e-3;

bool advise_same_setting(const TalusWorldChanges *a, const TalusWorldChanges *b)
{
    return a->law == b->law && a->compliance == b->compliance &&
           (a->compliance == 0.0 || a->elastic_overlap == b->elastic_overlap) &&
           a->tolerance == b->tolerance && a->step == b->step;
}

TalusWorldChanges advise_default_setting(const TalusWorld *world)
{
    TalusWorldDef def = talus_world_def_default();
    TalusWorldChanges base = {
        .law = def.friction.law,
        .compliance = talus_auto_compliance(world, def.tolerance),
        .elastic_overlap = def.elastic_overlap,
        .tolerance = def.tolerance,
        .step = talus_world_step_length(world),
        .on_miss = TALUS_MISS_CONTINUE,
    };
    return base;
}

static bool is_planned(const AdviseSetting *plan, int count, const TalusWorldChanges *setting)
{
    for (int i = 0; i < count; i++)
        if (advise_same_setting(&plan[i].changes, setting))
            return true;
    return false;
}

int advise_plan(const TalusWorldChanges *own, const TalusWorldChanges *base,
                AdviseSetting out[ADVISE_SETTINGS])
{
    const double stiff = base->compliance > 0.0 ? stiffer : 0.0;
    const struct {
        TalusFrictionLaw law;
        double compliance; /* below 0: the default's */
        double tolerance;
        double step; /* factor of the default's step */
        int priority;
    } rows[] = {
        {TALUS_LAW_COULOMB, -1.0, 1e-2, 1.0, 0},  {TALUS_LAW_CCP, 0.0, 1e-2, 1.0, 0},
        {TALUS_LAW_COULOMB, 0.0, 1e-2, 1.0, 2},   {TALUS_LAW_COULOMB, stiff, 1e-2, 1.0, 3},
        {TALUS_LAW_COULOMB, -1.0, 1e-1, 1.0, 5},  {TALUS_LAW_COULOMB, -1.0, 1e-3, 1.0, 1},
        {TALUS_LAW_COULOMB, -1.0, 1e-2, 2.0, 6},  {TALUS_LAW_COULOMB, -1.0, 1e-2, 0.5, 4},
        {TALUS_LAW_COULOMB, stiff, 1e-3, 0.5, 0},
    };
    int count = 0, found = -1;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        TalusWorldChanges setting = *base;
        setting.law = rows[i].law;
        setting.compliance = rows[i].compliance < 0.0 ? base->compliance : rows[i].compliance;
        setting.tolerance = rows[i].tolerance;
        setting.step = rows[i].step * base->step;
        if (is_planned(out, count, &setting)) /* where the default is rigid */
            continue;
        bool same = advise_same_setting(&setting, own);
        found = same ? count : found;
        out[count++] = (AdviseSetting){setting, same, same ? 0 : rows[i].priority};
    }
    if (found < 0) { /* the scene's own setting comes first */
        for (int i = count; i > 0; i--)
            out[i] = out[i - 1];
        out[0] = (AdviseSetting){*own, true, 0};
        out[0].changes.on_miss = TALUS_MISS_CONTINUE;
        count++;
    }
    return count;
}

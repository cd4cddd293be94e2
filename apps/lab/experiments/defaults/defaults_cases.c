/* lab/experiments/defaults/defaults_cases.c - settings, the list of cases and the figures of a case. */
#include "defaults.h"

#include "base/memory.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

/* A setting with a compliance that does not depend on the tolerance. */
#define FIXED_COMPLIANCE(text, value)                                                \
    {                                                                                \
        .name = "compliance-" text, .law = TALUS_LAW_COULOMB, .compliance = (value), \
        .elastic_overlap = 0.02, .only_if_overlap_shifts = true                      \
    }

const Setting defaults_settings[DEFAULTS_SETTINGS] = {
    [SETTING_DEFAULT] = {.name = "default", .all_defaults = true},
    [SETTING_RIGID_CCP] = {.name = "rigid-ccp", .law = TALUS_LAW_CCP},
    [SETTING_RIGID_COULOMB] = {.name = "rigid-coulomb", .law = TALUS_LAW_COULOMB},
    FIXED_COMPLIANCE("1e-2", 1e-2),
    FIXED_COMPLIANCE("1e-3", 1e-3),
    FIXED_COMPLIANCE("1e-4", 1e-4)};

void defaults_describe_setting(const Setting *setting, char text[LAB_TEXT])
{
    TalusWorldDef def = talus_world_def_default();
    if (!setting->all_defaults) {
        def.friction.law = setting->law;
        def.compliance = setting->compliance;
        def.elastic_overlap = setting->elastic_overlap;
    }
    if (def.compliance == TALUS_COMPLIANCE_AUTO)
        snprintf(text, LAB_TEXT, "law %s compliance auto %g elastic_overlap %g",
                 talus_law_name(def.friction.law), TALUS_COMPLIANCE_AUTO_LARGEST,
                 def.elastic_overlap);
    else if (def.compliance > 0.0)
        snprintf(text, LAB_TEXT, "law %s compliance %g elastic_overlap %g",
                 talus_law_name(def.friction.law), def.compliance, def.elastic_overlap);
    else
        snprintf(text, LAB_TEXT, "law %s rigid", talus_law_name(def.friction.law));
}

void defaults_assign(const Setting *setting, WorldsAssignments *sets)
{
    worlds_assign(sets, "defaults=%s", setting->all_defaults ? "exact" : "relaxed");
    if (setting->all_defaults)
        return;
    worlds_assign(sets, "law=%s", talus_law_name(setting->law));
    worlds_assign(sets, "compliance=%g", setting->compliance);
    if (setting->compliance > 0.0)
        worlds_assign(sets, "elastic_overlap=%g", setting->elastic_overlap);
}

/* ---- the list ---- */

static TalusStatus append_case(Cases *cases, const Case *c)
{
    size_t count = (size_t)cases->count;
    TALUS_TRY(TALUS_GROW(cases->item, count + 1, count, "cases"));
    cases->item[cases->count++] = *c;
    return TALUS_OK;
}

TalusStatus defaults_add_cases(Cases *cases, const Case *c, const char *format, ...)
{
    char path[DEFAULTS_NAME / 2];
    TALUS_FORMAT(path, format);
    for (int i = 0; i < DEFAULTS_SETTINGS; i++) {
        Case copy = *c;
        copy.setting = &defaults_settings[i];
        snprintf(copy.name, sizeof copy.name, "%s/%s/%s", c->part->name, path, copy.setting->name);
        if (!copy.setting->only_if_overlap_shifts || c->overlap_shifts)
            TALUS_TRY(append_case(cases, &copy));
    }
    return TALUS_OK;
}

const Case *defaults_find_case(const Cases *cases, int setting, const char *format, ...)
{
    char path[DEFAULTS_NAME / 2], name[DEFAULTS_NAME];
    TALUS_FORMAT(path, format);
    snprintf(name, sizeof name, "%s/%s", path, defaults_settings[setting].name);
    for (int i = 0; i < cases->count; i++)
        if (strcmp(cases->item[i].name, name) == 0)
            return &cases->item[i];
    return NULL;
}

/* ---- figures ---- */

void defaults_add_figure(Case *c, const char *name, double value)
{
    if (c->figures == DEFAULTS_FIGURES)
        return;
    Figure *f = &c->figure[c->figures++];
    snprintf(f->name, sizeof f->name, "%s", name);
    f->value = value;
}

double defaults_get_figure(const Case *c, const char *name)
{
    for (int i = 0; c && c->done && i < c->figures; i++)
        if (strcmp(c->figure[i].name, name) == 0)
            return c->figure[i].value;
    return NAN;
}

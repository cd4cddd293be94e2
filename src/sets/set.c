/* sets/set.c - the public names and projections of the admissible sets. */
#include <talus/set.h>

#include "sets/cone.h"

typedef struct SetRow {
    const char *name, *summary;
    int rows;
} SetRow;

static const SetRow sets[TALUS_SET_KINDS] = {
    [TALUS_SET_NONNEG] = {"nonneg", "normal impulse only, gamma_n >= 0 (no friction)", 1},
    [TALUS_SET_CONE] = {"cone", "circular friction cone, |gamma_t| <= mu gamma_n", 3},
};

const char *talus_set_name(TalusSetKind kind)
{
    return sets[kind].name;
}

const char *talus_set_summary(TalusSetKind kind)
{
    return sets[kind].summary;
}

int talus_set_rows(TalusSetKind kind)
{
    return sets[kind].rows;
}

void talus_set_project(TalusSetKind kind, double mu, double *gamma)
{
    if (kind == TALUS_SET_NONNEG)
        gamma[0] = talus_project_nonneg(gamma[0]);
    else
        talus_project_cone(mu, mu, &gamma[0], &gamma[1], &gamma[2]);
}

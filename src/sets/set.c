/* sets/set.c - public functions of talus/set.h (names, texts, checks, projection), and sets of models on the host. */
#include "sets/set.h"

#include "base/param.h"
#include "base/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

static const char *const section_names[TALUS_SECTIONS] = {
    [TALUS_SECTION_DISC] = "disc",       [TALUS_SECTION_SQUARE] = "square",
    [TALUS_SECTION_POLYGON] = "polygon", [TALUS_SECTION_NONE] = "none",
    [TALUS_SECTION_JOINT] = "joint",
};

static const char *const section_summaries[TALUS_SECTIONS] = {
    [TALUS_SECTION_DISC] = "|t| <= mu n: circular cone, cylinder under fixed",
    [TALUS_SECTION_SQUARE] = "|t1|, |t2| <= mu n, around the disc: pyramid, box under fixed",
    [TALUS_SECTION_POLYGON] = "regular, in the disc, as polygon:m with m corners, 3 to 64; prism",
    [TALUS_SECTION_NONE] = "no friction: n >= 0 alone",
    [TALUS_SECTION_JOINT] = "rows of a joint: free, or within +-mu",
};

static const char *const law_names[TALUS_LAWS] = {
    [TALUS_LAW_CCP] = "ccp",
    [TALUS_LAW_FIXED] = "fixed",
    [TALUS_LAW_COULOMB] = "coulomb",
};

static const char *const law_summaries[TALUS_LAWS] = {
    [TALUS_LAW_CCP] = "convex relaxation over the cone; a sliding contact opens by mu |u_t| h",
    [TALUS_LAW_FIXED] = "bounds from a frictionless presolve's normal impulses",
    [TALUS_LAW_COULOMB] = "exact: bounds from the normal impulses themselves, no opening",
};

const char *talus_section_name(TalusSection section)
{
    return section_names[section];
}

const char *talus_section_summary(TalusSection section)
{
    return section_summaries[section];
}

const char *talus_law_name(TalusFrictionLaw law)
{
    return law_names[law];
}

const char *talus_law_summary(TalusFrictionLaw law)
{
    return law_summaries[law];
}

/* ---- as text ---- */

/* Returns the index of `text` in names[count]; -1: not there. */
static int find_name(const char *text, const char *const *names, int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(text, names[i]) == 0)
            return i;
    return -1;
}

/* Fails because `text` is no name of a section or law (`what`); suggests the nearest name, else what was `expected`. */
static TalusStatus reject_name(const char *what, const char *text, const char *const *names,
                               int count, const char *expected)
{
    const char *near = talus_nearest_name(text, names, count);
    if (near)
        return talus_fail_key(what, TALUS_ERR_ARGUMENT, "there is no '%s'; did you mean '%s'?",
                              text, near);
    return talus_fail_key(what, TALUS_ERR_ARGUMENT, "there is no '%s'; expected %s", text,
                          expected);
}

TalusStatus talus_section_parse(const char *text, TalusFrictionModel *model)
{
    const char *polygon = section_names[TALUS_SECTION_POLYGON];
    size_t length = strlen(polygon);
    if (strncmp(text, polygon, length) == 0 && (text[length] == ':' || text[length] == '\0')) {
        const char *digits = text + length + (text[length] == ':');
        char *end = NULL;
        long sides = strtol(digits, &end, 10);
        if (*digits < '0' || *digits > '9' || *end || sides < TALUS_SIDES_MIN ||
            sides > TALUS_SIDES_MAX)
            return talus_fail_key("section", TALUS_ERR_ARGUMENT,
                                  "'%s' needs its number of sides, %d to %d, such as '%s:8'", text,
                                  TALUS_SIDES_MIN, TALUS_SIDES_MAX, polygon);
        model->section = TALUS_SECTION_POLYGON;
        model->sides = (int)sides;
        return TALUS_OK;
    }
    int found = find_name(text, section_names, TALUS_SECTION_JOINT);
    if (found < 0)
        return reject_name("section", text, section_names, TALUS_SECTION_JOINT,
                           "disc, square, polygon:m or none");
    model->section = (TalusSection)found;
    model->sides = 0;
    return TALUS_OK;
}

TalusStatus talus_law_parse(const char *text, TalusFrictionModel *model)
{
    int found = find_name(text, law_names, TALUS_LAWS);
    if (found < 0)
        return talus_error_key("law", reject_name("friction law", text, law_names, TALUS_LAWS,
                                                  "ccp, fixed or coulomb"));
    model->law = (TalusFrictionLaw)found;
    return TALUS_OK;
}

void talus_section_format(TalusFrictionModel model, char *text, size_t size)
{
    if (model.section == TALUS_SECTION_POLYGON || model.section == TALUS_SECTION_JOINT)
        snprintf(text, size, "%s:%d", section_names[model.section], model.sides);
    else
        snprintf(text, size, "%s", section_names[model.section]);
}

TalusStatus talus_model_check(TalusFrictionModel model)
{
    if ((int)model.section < 0 || model.section >= TALUS_SECTIONS || (int)model.law < 0 ||
        model.law >= TALUS_LAWS)
        return talus_reject("friction model: no section %d, law %d", (int)model.section,
                            (int)model.law);
    if (model.section == TALUS_SECTION_JOINT)
        return talus_reject("friction model: a joint is no section of friction");
    bool polygon = model.section == TALUS_SECTION_POLYGON;
    if (polygon ? model.sides < TALUS_SIDES_MIN || model.sides > TALUS_SIDES_MAX : model.sides)
        return talus_reject("friction model: %d sides; a polygon has %d to %d, "
                            "the other sections 0",
                            model.sides, TALUS_SIDES_MIN, TALUS_SIDES_MAX);
    return TALUS_OK;
}

/* ---- sets ---- */

TalusStatus talus_set_check(TalusFrictionModel model)
{
    if (model.section != TALUS_SECTION_JOINT)
        return talus_model_check(model);
    if (model.law == TALUS_LAW_CCP && model.sides >= 1 && model.sides <= TALUS_JOINT_ROWS)
        return TALUS_OK;
    return talus_reject("joint: rows %d under law %d; expected 1 to %d under ccp (%d)", model.sides,
                        (int)model.law, TALUS_JOINT_ROWS, (int)TALUS_LAW_CCP);
}

#define ANGLE(n, cosine, sine) [n] = {cosine, sine},
const double talus_polygon_angles[TALUS_SIDES_MAX + 1][2] = {TALUS_POLYGON_ANGLES(ANGLE)};

TalusSet talus_set_from_model(TalusFrictionModel model, double mu)
{
    TalusSet set = {.section = (int)model.section,
                    .sides = model.sides,
                    .prism = model.law == TALUS_LAW_FIXED,
                    .mu = mu,
                    .estimate = model.section == TALUS_SECTION_JOINT ? mu : 0.0};
    if (model.section == TALUS_SECTION_POLYGON)
        talus_polygon_angle(model.sides, &set.cos, &set.sin);
    return set;
}

void talus_set_project(TalusFrictionModel model, int rows, double mu, const double *moment_mu,
                       double estimate, double *gamma)
{
    TalusSet set = talus_set_from_model(model, mu);
    if (set.prism)
        set.estimate = estimate;
    if (moment_mu) {
        set.spinning = moment_mu[0];
        set.rolling = moment_mu[1];
    }
    talus_block_project(rows, &set, gamma);
}

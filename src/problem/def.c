/* problem/def.c - creation of a problem from a def, with the filling of matrix-free problems (explicit ones:
 * matrix.c); and replacement of the friction models of a problem. */
#include "problem/problem.h"

#include "base/memory.h"
#include "base/status.h"
#include "sets/set.h"

#include <math.h>
#include <string.h>

/* Returns the run of a contact: 0 two spheres, 1 a sphere and the fixed world, 2 general. A contact belongs to run 0
 * or 1 only if its arms are, bit for bit, the radius times the normal, negative for body b. */
static int run_of_contact(const TalusProblemDef *def, const TalusContactDef *c)
{
    if (c->model.section == TALUS_SECTION_JOINT)
        return 2;
    double ra = def->radius ? def->radius[c->a] : 0.0;
    double rb = def->radius && c->b >= 0 ? def->radius[c->b] : 0.0;
    TalusVec3 arm_a = talus_scale(ra, c->normal), arm_b = talus_scale(-rb, c->normal);
    bool compact_a = ra > 0.0 && memcmp(&arm_a, &c->arm_a, sizeof arm_a) == 0;
    if (compact_a && c->b < 0)
        return 1;
    return compact_a && rb > 0.0 && memcmp(&arm_b, &c->arm_b, sizeof arm_b) == 0 ? 0 : 2;
}

/* Returns the number of rows that a contact needs. TALUS_SECTION_NONE excludes friction of any kind. */
static int rows_needed(const TalusContactDef *c)
{
    if (c->model.section == TALUS_SECTION_NONE)
        return 1;
    if (c->model.section == TALUS_SECTION_JOINT)
        return 3;
    return c->spinning > 0.0 || c->rolling > 0.0 ? 6 : c->mu > 0.0 ? 3 : 1;
}

/* True if the contact is a joint whose impulses have no bounds. */
static bool is_free_joint(const TalusContactDef *c)
{
    return c->model.section == TALUS_SECTION_JOINT && isinf(c->mu);
}

static bool is_ccp_disc(TalusFrictionModel m)
{
    return m.section == TALUS_SECTION_DISC && m.law == TALUS_LAW_CCP;
}

/* Returns the sizes of the problem of a def. Blocks keep the caller's order, so contacts of spheres are stored without
 * arms only if they come first, sphere pairs before spheres on the fixed world. Otherwise, and always with six rows,
 * all contacts go into the general run, which takes any contact. */
static TalusProblemSizes sizes_of(const TalusProblemDef *def)
{
    TalusProblemSizes sizes = {.bodies = def->body_count, .rows = 1};
    int count[3] = {0, 0, 0}, last = 0;
    bool ordered = true;
    for (int i = 0; i < def->contact_count; i++) {
        const TalusContactDef *c = &def->contacts[i];
        int class = run_of_contact(def, c), rows = rows_needed(c);
        ordered = ordered && class >= last;
        last = class;
        count[class]++;
        sizes.rows = rows > sizes.rows ? rows : sizes.rows;
        sizes.compliance = sizes.compliance || c->compliance > 0.0;
        sizes.models = sizes.models || !is_ccp_disc(c->model);
        sizes.joints += is_free_joint(c);
    }
    bool compact = ordered && sizes.rows < 6;
    sizes.sphere_sphere = compact ? count[0] : 0;
    sizes.sphere_fixed = compact ? count[1] : 0;
    sizes.general = compact ? count[2] : def->contact_count;
    for (int run = 0; ordered && !compact && run < 2; run++)
        sizes.first_runs[run] = count[run];
    return sizes;
}

/* Fails if the coefficients of spinning and rolling or the length of contact i are not valid. */
static TalusStatus check_moments(const TalusContactDef *c, int i)
{
    if (!(c->spinning >= 0.0) || !(c->rolling >= 0.0) || !isfinite(c->spinning) ||
        !isfinite(c->rolling))
        return talus_reject(
            "contact %d: spinning %g and rolling %g must be finite and not negative", i,
            c->spinning, c->rolling);
    bool turns = c->spinning > 0.0 || c->rolling > 0.0;
    if (turns && (!(c->length > 0.0) || !isfinite(c->length)))
        return talus_reject(
            "contact %d: spinning %g and rolling %g need a length above 0, it is %g", i,
            c->spinning, c->rolling, c->length);
    return TALUS_OK;
}

/* Fails if contact i is a joint with spinning or rolling friction, or a free joint before a contact that is none:
 * elimination expects free joints last, and blocks keep the caller's order. */
static TalusStatus check_joint(const TalusProblemDef *def, int i)
{
    const TalusContactDef *c = &def->contacts[i];
    if (c->model.section == TALUS_SECTION_JOINT && (c->spinning > 0.0 || c->rolling > 0.0))
        return talus_reject("contact %d: spinning %g and rolling %g of a joint, expected 0", i,
                            c->spinning, c->rolling);
    if (is_free_joint(c) && i + 1 < def->contact_count && !is_free_joint(&def->contacts[i + 1]))
        return talus_reject(
            "contact %d: a free joint before contact %d, which is none; free joints "
            "come last",
            i, i + 1);
    return TALUS_OK;
}

/* Fails if contact i of the def is not valid. */
static TalusStatus check_contact(const TalusProblemDef *def, int i)
{
    const TalusContactDef *c = &def->contacts[i];
    double norm = talus_norm(c->normal);
    if (c->a < 0 || c->a >= def->body_count || c->b < -1 || c->b >= def->body_count || c->a == c->b)
        return talus_reject("contact %d: bodies %d and %d of %d", i, c->a, c->b, def->body_count);
    if (!(norm > 0.999999 && norm < 1.000001))
        return talus_reject("contact %d: normal has length %g, expected 1", i, norm);
    if (!(c->mu >= 0.0) || !(c->compliance >= 0.0) || (!isfinite(c->mu) && !is_free_joint(c)) ||
        !isfinite(c->compliance) || !isfinite(c->bias))
        return talus_reject("contact %d: mu %g and compliance %g must be finite and not negative, "
                            "bias %g finite",
                            i, c->mu, c->compliance, c->bias);
    if (def->inv_mass[c->a] <= 0.0 && (c->b < 0 || def->inv_mass[c->b] <= 0.0))
        return talus_reject("contact %d: neither body can move", i);
    TALUS_TRY(check_moments(c, i));
    TALUS_TRY(talus_problem_check_model(c->model, "contact", i));
    return check_joint(def, i);
}

/* Fills body i of the operator: its record, inverse inertia and length, converted from physical units. */
static void fill_body(TalusProblem *p, const TalusProblemDef *def, int i)
{
    TalusSym3 inv = def->inv_inertia[i];
    double l = def->radius && def->radius[i] > 0.0 ? def->radius[i] : 1.0;
    double *body = p->op.body[i];
    for (int k = 0; k < 3; k++) {
        body[k] = def->free_velocity[6 * i + k];
        body[4 + k] = l * def->free_velocity[6 * i + 3 + k];
    }
    body[3] = def->inv_mass[i];
    body[7] = l * l * ((inv.xx + inv.yy + inv.zz) / 3.0);
    p->length[i] = l;
    if (p->op.inverse_inertia) {
        TalusSym3 scaled = talus_sym3_scale(l * l, inv);
        memcpy(p->op.inverse_inertia[i], &scaled, sizeof scaled);
    }
}

/* Returns the length, m, by which a contact's moments are divided. If the def gives none, the contact has no moments,
 * and the length only makes its moment rows similar in scale to its other rows. */
static double moment_length(const TalusContactDef *c)
{
    double a = talus_norm(c->arm_a), b = c->b >= 0 ? talus_norm(c->arm_b) : 0.0;
    double length = a > 0.0 && b > 0.0 ? a * b / (a + b) : a + b;
    return c->length > 0.0 ? c->length : length > 0.0 ? length : 1.0;
}

/* Fills the moment coefficients and levers of contact i. */
static void fill_moments(TalusProblem *p, const TalusContactDef *c, int i)
{
    TalusOperator *op = &p->op;
    double length = moment_length(c);
    op->moment_mu[i][0] = c->spinning;
    op->moment_mu[i][1] = c->rolling;
    op->lever[i][0] = length / p->length[c->a];
    op->lever[i][1] = c->b >= 0 ? length / p->length[c->b] : 0.0;
}

/* Fills the operator's arrays of contact i, arms converted from physical units. */
static void fill_contact(TalusProblem *p, const TalusContactDef *c, int i)
{
    TalusOperator *op = &p->op;
    int general = i - op->sphere_sphere - op->sphere_fixed;
    op->pair[i][0] = c->a;
    op->pair[i][1] = c->b;
    talus_frame_from_normal(op->frame[i], c->normal.x, c->normal.y, c->normal.z);
    op->bias[i] = c->bias;
    op->mu[i] = c->mu;
    if (op->compliance)
        op->compliance[i] = c->compliance;
    if (op->model)
        op->model[i] = talus_block_model(c->model);
    if (op->moment_mu)
        fill_moments(p, c, i);
    if (general >= 0) {
        double lb = c->b >= 0 ? p->length[c->b] : 1.0;
        TalusVec3 arms[2] = {talus_scale(1.0 / p->length[c->a], c->arm_a),
                             talus_scale(1.0 / lb, c->arm_b)};
        memcpy(op->arm[general], arms, sizeof arms);
    }
}

/* Checks a def with contacts and fills p from it; keeps a copy of the def. */
static TalusStatus fill_from_contacts(TalusProblem *p, const TalusProblemDef *def)
{
    for (int i = 0; i < def->contact_count; i++)
        TALUS_TRY(check_contact(def, i));
    TalusProblemSizes sizes = sizes_of(def);
    TALUS_TRY(talus_problem_resize(p, &sizes));
    for (int i = 0; i < def->body_count; i++)
        fill_body(p, def, i);
    for (int i = 0; i < def->contact_count; i++)
        fill_contact(p, &def->contacts[i], i);
    TALUS_TRY(talus_problem_finish(p));
    return talus_problem_copy_def(p, def);
}

TalusStatus talus_problem_create(const TalusProblemDef *def, TalusPool *pool, TalusProblem **out)
{
    TalusProblem *p;
    *out = NULL;
    if (!def->contacts == !def->values)
        return talus_reject("problem: give either contacts or an explicit matrix, not %s",
                            def->contacts ? "both" : "neither");
    TALUS_TRY(talus_problem_create_empty(pool, &p));
    TalusStatus status =
        def->contacts ? fill_from_contacts(p, def) : talus_problem_fill_matrix(p, def);
    if (status != TALUS_OK) {
        talus_problem_destroy(p);
        return status;
    }
    memset(p->gamma, 0, (size_t)talus_problem_size(p) * sizeof *p->gamma);
    *out = p;
    return TALUS_OK;
}

/* ---- replacement of friction ---- */

/* Makes p the problem of `def`, with zero impulses and the same backend as before; p is unchanged on failure. */
static TalusStatus replace_content(TalusProblem *p, const TalusProblemDef *def)
{
    TalusProblem *fresh;
    TALUS_TRY(talus_problem_create(def, p->op.pool, &fresh));
    TalusProblem old = *p;
    *p = *fresh;
    *fresh = old;
    p->backend = old.backend;
    p->op.scratch = &p->scratch;
    fresh->op.scratch = &fresh->scratch;
    talus_problem_destroy(fresh);
    return TALUS_OK;
}

/* Gives all contacts with friction of some kind the model; joints and contacts without friction keep their models. */
static TalusStatus replace_contacts(TalusProblem *p, const TalusProblemDef *def,
                                    TalusFrictionModel model)
{
    TalusProblemDef changed = *def;
    size_t count = (size_t)def->contact_count;
    TalusContactDef *contacts;
    TALUS_TRY(TALUS_ALLOC(contacts, count, "contacts"));
    memcpy(contacts, def->contacts, count * sizeof *contacts);
    for (size_t i = 0; i < count; i++)
        if (contacts[i].model.section != TALUS_SECTION_JOINT &&
            (contacts[i].mu > 0.0 || contacts[i].spinning > 0.0 || contacts[i].rolling > 0.0))
            contacts[i].model = model;
    changed.contacts = contacts;
    TalusStatus status = replace_content(p, &changed);
    talus_release(contacts);
    return status;
}

/* Gives all blocks of an explicit problem but joints the model. */
static TalusStatus replace_models(TalusProblem *p, const TalusProblemDef *def,
                                  TalusFrictionModel model)
{
    TalusProblemDef changed = *def;
    TalusFrictionModel *models;
    TALUS_TRY(TALUS_ALLOC(models, (size_t)def->block_count, "friction models"));
    for (int i = 0; i < def->block_count; i++)
        models[i] =
            def->model && def->model[i].section == TALUS_SECTION_JOINT ? def->model[i] : model;
    changed.model = models;
    TalusStatus status = replace_content(p, &changed);
    talus_release(models);
    return status;
}

TalusStatus talus_problem_set_friction(TalusProblem *p, TalusFrictionModel model)
{
    TalusProblemDef def;
    TALUS_TRY(talus_model_check(model));
    TALUS_TRY(talus_problem_export(p, &def));
    return def.contacts ? replace_contacts(p, &def, model) : replace_models(p, &def, model);
}

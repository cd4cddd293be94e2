/* world/material.c - materials, the law of each pair of them, and shapes.
 *
 * A pair has the smaller friction, restitution, spinning, rolling and cohesion of the two unless they are set for the
 * pair. Two compliant materials act in series: 1/k = 1/k1 + 1/k2 and c = k^2 (c1/k1^2 + c2/k2^2), the damping of two
 * spring-dashpots in series at low frequency. A material of stiffness 0 adds no spring: its pair with another one has
 * the other's stiffness and damping. Pairs without any have the world's compliance. */
#include "world/material.h"
#include "world/state.h"

#include <string.h>

enum { PAIR_COOKIE = 0x7a10fa12 };

TalusMaterialDef talus_material_def_default(void)
{
    TalusMaterialDef def = {.name = "", .friction = 0.3, .density = 1000.0};
    return def;
}

TalusPairDef talus_pair_def_default(void)
{
    TalusPairDef def = {.cookie = PAIR_COOKIE,
                        .friction = -1.0,
                        .restitution = -1.0,
                        .spinning = -1.0,
                        .rolling = -1.0,
                        .cohesion = -1.0};
    return def;
}

/* ---- checks ---- */

static TalusStatus check_material(const TalusMaterialDef *def)
{
    struct {
        const char *key;
        double value;
    } fields[] = {{"friction", def->friction},       {"density", def->density},
                  {"stiffness", def->stiffness},     {"damping", def->damping},
                  {"restitution", def->restitution}, {"spinning", def->spinning},
                  {"rolling", def->rolling},         {"cohesion", def->cohesion}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (!(fields[i].value >= 0.0) || !isfinite(fields[i].value))
            return talus_reject("material: %s is %g; expected 0 or more", fields[i].key,
                                fields[i].value);
    if (def->restitution > 1.0)
        return talus_reject("material: restitution is %g; expected 0 to 1", def->restitution);
    if (def->damping > 0.0 && def->stiffness == 0.0)
        return talus_reject("material: damping %g needs a stiffness above 0", def->damping);
    if (def->restitution > 0.0 && def->stiffness > 0.0)
        return talus_reject(
            "material: restitution %g is for contacts without stiffness; with one, damping says how "
            "much of an impact is lost",
            def->restitution);
    return TALUS_OK;
}

static TalusStatus check_pair(const TalusMaterials *m, int a, int b, const TalusPairDef *def)
{
    struct {
        const char *key;
        double value;
    } fields[] = {{"friction", def->friction},
                  {"restitution", def->restitution},
                  {"spinning", def->spinning},
                  {"rolling", def->rolling},
                  {"cohesion", def->cohesion}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (!isfinite(fields[i].value))
            return talus_reject("pair: %s is %g; expected 0 or more, or below 0 for the rule",
                                fields[i].key, fields[i].value);
    if (def->restitution > 1.0)
        return talus_reject("pair: restitution is %g; expected 0 to 1", def->restitution);
    if (def->restitution > 0.0 && m->def[a].stiffness + m->def[b].stiffness > 0.0)
        return talus_reject(
            "pair: restitution %g is for contacts without stiffness; one of these materials has a stiffness",
            def->restitution);
    return def->own_model ? talus_model_check(def->model) : TALUS_OK;
}

/* ---- laws ---- */

/* Returns the pair's own value `set`; if that is negative, not set, the smaller of the two materials' values. */
static double pair_value(double set, double a, double b)
{
    return set >= 0.0 ? set : fmin(a, b);
}

/* Returns the law of a pair of materials. Section NONE makes mu, spinning and rolling 0. A pair without any of these
 * three keeps the model {0}, ccp on the disc. */
static TalusLaw pair_law(const TalusMaterialDef *a, const TalusMaterialDef *b,
                         const TalusPairDef *pair, const TalusFrictionModel *world_model)
{
    const TalusFrictionModel *model = pair->own_model ? &pair->model : world_model;
    TalusLaw law = {
        .mu = pair_value(pair->friction, a->friction, b->friction),
        .restitution = pair_value(pair->restitution, a->restitution, b->restitution),
        .spinning = pair_value(pair->spinning, a->spinning, b->spinning),
        .rolling = pair_value(pair->rolling, a->rolling, b->rolling),
        .cohesion = pair_value(pair->cohesion, a->cohesion, b->cohesion),
    };
    if (model->section == TALUS_SECTION_NONE)
        law.mu = law.spinning = law.rolling = 0.0;
    if (law.mu + law.spinning + law.rolling > 0.0)
        law.model = talus_block_model(*model);
    if (a->stiffness > 0.0 && b->stiffness > 0.0) {
        double share_a = b->stiffness / (a->stiffness + b->stiffness); /* k / k_a */
        double share_b = a->stiffness / (a->stiffness + b->stiffness);
        law.stiffness = a->stiffness * share_a;
        law.damping = share_a * share_a * a->damping + share_b * share_b * b->damping;
    } else {
        law.stiffness = a->stiffness + b->stiffness;
        law.damping = a->damping + b->damping;
    }
    return law;
}

void talus_materials_update(TalusWorld *world)
{
    TalusMaterials *m = &world->materials;
    m->max_friction = 0.0;
    m->any_compliance = m->any_models = m->any_restitution = false;
    m->any_moments = m->any_cohesion = false;
    for (int a = 0; a < m->count; a++)
        for (int b = 0; b < m->count; b++) {
            TalusLaw *law = &m->law[a * m->count + b];
            *law =
                pair_law(&m->def[a], &m->def[b], &m->pair[a * m->count + b], &world->def.friction);
            m->max_friction = fmax(m->max_friction, law->mu);
            m->any_compliance |= law->stiffness > 0.0;
            m->any_models |=
                law->model.law != TALUS_LAW_CCP || law->model.section != TALUS_SECTION_DISC;
            m->any_restitution |= law->restitution > 0.0;
            m->any_moments |= law->spinning + law->rolling > 0.0;
            m->any_cohesion |= law->cohesion > 0.0;
        }
    world->mirror.tables_dirty = true;
}

/* Adds a row and a column of defaults to the table of old x old pairs, in place; entries move up, last one first. */
static void widen_pair_table(TalusPairDef *table, int old)
{
    for (int a = old - 1; a >= 0; a--)
        for (int b = old - 1; b >= 0; b--)
            table[a * (old + 1) + b] = table[a * old + b];
    for (int a = 0; a <= old; a++)
        table[a * (old + 1) + old] = table[old * (old + 1) + a] = talus_pair_def_default();
}

TalusStatus talus_world_add_material(TalusWorld *world, const TalusMaterialDef *def, int *index)
{
    TALUS_TRY(check_material(def));
    TalusMaterials *m = &world->materials;
    size_t old = (size_t)m->count, wide = (old + 1) * (old + 1);
    TALUS_TRY(TALUS_GROW(m->def, old + 1, old, "materials"));
    TALUS_TRY(TALUS_GROW(m->law, wide, 0, "material pairs"));
    TALUS_TRY(TALUS_GROW(m->pair, wide, old * old, "material pairs"));
    char *name;
    TALUS_TRY(talus_copy_text(def->name, "material name", &name));
    m->def[old] = *def;
    m->def[old].name = name;
    widen_pair_table(m->pair, m->count);
    m->count++;
    talus_materials_update(world);
    if (index)
        *index = m->count - 1;
    return TALUS_OK;
}

TalusStatus talus_world_replace_material(TalusWorld *world, int index, const TalusMaterialDef *def)
{
    TalusMaterials *m = &world->materials;
    const char *name = m->def[index].name;
    TALUS_TRY(check_material(def));
    m->def[index] = *def;
    m->def[index].name = name;
    for (int k = 0; k < m->count; k++)
        m->pair[index * m->count + k] = m->pair[k * m->count + index] = talus_pair_def_default();
    talus_materials_update(world);
    return TALUS_OK;
}

/* Refuses properties that a pair with its own restitution cannot have. */
static TalusStatus check_pairs_of(const TalusMaterials *m, int index, const TalusMaterialDef *def)
{
    for (int k = 0; k < m->count; k++)
        if (m->pair[index * m->count + k].restitution > 0.0 && def->stiffness > 0.0)
            return talus_reject(
                "material %d: a pair of it has restitution %g, which is for contacts "
                "without stiffness; expected stiffness 0",
                index, m->pair[index * m->count + k].restitution);
    return TALUS_OK;
}

TalusStatus talus_material_change(TalusWorld *world, int index, const TalusMaterialDef *def)
{
    TalusMaterials *m = &world->materials;
    if (index < 0 || index >= m->count)
        return talus_reject("material %d; there are %d", index, m->count);
    TALUS_TRY(check_material(def));
    TALUS_TRY(check_pairs_of(m, index, def));
    const char *name = m->def[index].name;
    m->def[index] = *def;
    m->def[index].name = name;
    talus_materials_update(world);
    return TALUS_OK;
}

static TalusStatus check_indices(const TalusMaterials *m, int a, int b)
{
    if (a < 0 || b < 0 || a >= m->count || b >= m->count)
        return talus_reject("pair: materials %d and %d; there are %d", a, b, m->count);
    return TALUS_OK;
}

TalusStatus talus_world_set_pair(TalusWorld *world, int a, int b, const TalusPairDef *def)
{
    TalusMaterials *m = &world->materials;
    if (!def || def->cookie != PAIR_COOKIE)
        return talus_reject("pair: the def was not made by talus_pair_def_default()");
    TALUS_TRY(check_indices(m, a, b));
    TALUS_TRY(check_pair(m, a, b, def));
    m->pair[a * m->count + b] = m->pair[b * m->count + a] = *def;
    talus_materials_update(world);
    return TALUS_OK;
}

TalusStatus talus_world_set_friction(TalusWorld *world, int a, int b, double mu)
{
    const TalusMaterials *m = &world->materials;
    TALUS_TRY(check_indices(m, a, b));
    if (!(mu >= 0.0) || !isfinite(mu))
        return talus_reject("friction: mu is %g; expected 0 or more", mu);
    TalusPairDef pair = m->pair[a * m->count + b];
    pair.friction = mu;
    return talus_world_set_pair(world, a, b, &pair);
}

void talus_materials_clear(TalusMaterials *m)
{
    for (int i = 0; i < m->count; i++)
        talus_release((char *)m->def[i].name);
    TALUS_RELEASE(m->def, m->law, m->pair);
    *m = (TalusMaterials){0};
}

/* Computes the inertia per unit mass and its inverse; zero for spheres, whose radius differs from body to body, and
 * for shapes without mass (TALUS_TRAIT_WALL). */
static TalusStatus compute_gyration(const TalusShape *shape, TalusGyration *out)
{
    TalusShapeKind kind = shape->def.kind;
    *out = (TalusGyration){0};
    if (kind == TALUS_SHAPE_SPHERE || talus_shape_has(kind, TALUS_TRAIT_WALL))
        return TALUS_OK;
    TalusMassProperties unit;
    TALUS_TRY(talus_shape_mass_of_built(shape, 0.0, 1.0, &unit));
    out->inertia = talus_sym3_scale(1.0 / unit.mass, unit.inertia);
    out->inverse = talus_sym3_inverse(out->inertia);
    if (!isfinite(out->inverse.xx + out->inverse.yy + out->inverse.zz))
        return talus_reject("%s: so large or small that its inertia overflows",
                            talus_shape_name(kind));
    return TALUS_OK;
}

TalusStatus talus_world_add_shape(TalusWorld *world, const TalusShapeDef *def, int *index)
{
    size_t n = (size_t)world->shapes;
    TALUS_TRY(TALUS_GROW(world->shape, n + 1, n, "shapes"));
    TALUS_TRY(TALUS_GROW(world->gyration, n + 1, n, "shape inertia"));
    TALUS_TRY(talus_shape_init(&world->shape[n], def));
    TalusStatus status = compute_gyration(&world->shape[n], &world->gyration[n]);
    if (status != TALUS_OK) {
        talus_shape_clear(&world->shape[n]);
        return status;
    }
    world->shapes++;
    world->mirror.tables_dirty = true;
    if (index)
        *index = (int)n;
    return TALUS_OK;
}

TalusStatus talus_world_require_sphere_shape(TalusWorld *world, double radius, int *index)
{
    for (int i = 0; i < world->shapes; i++)
        if (world->shape[i].def.kind == TALUS_SHAPE_SPHERE) {
            *index = i;
            return TALUS_OK;
        }
    TalusShapeDef def = {.kind = TALUS_SHAPE_SPHERE, .radius = radius};
    return talus_world_add_shape(world, &def, index);
}

void talus_shapes_clear(TalusWorld *world)
{
    for (int i = 0; i < world->shapes; i++)
        talus_shape_clear(&world->shape[i]);
    TALUS_RELEASE(world->shape, world->gyration);
    world->shapes = 0;
}

int talus_world_shape_count(const TalusWorld *world)
{
    return world->shapes;
}

TalusShapeDef talus_world_shape(const TalusWorld *world, int index)
{
    return world->shape[index].def;
}

int talus_world_material_count(const TalusWorld *world)
{
    return world->materials.count;
}

TalusMaterialDef talus_world_material(const TalusWorld *world, int index)
{
    return world->materials.def[index];
}

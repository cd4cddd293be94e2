/* world/material.c - materials, the law of each pair of them, and shapes.
 *
 * Friction of a pair is the smaller of the two unless set for the pair. Two compliant materials act
 * in series: 1/k = 1/k1 + 1/k2, and c = k^2 (c1/k1^2 + c2/k2^2), which is the damping the series of
 * two spring-dashpots shows at low frequency. Stiffness 0 is rigid, so a pair with one rigid
 * material has the other's stiffness and damping. */
#include "world/internal.h"

#include <string.h>

TalusMaterialDef talus_material_def_default(void)
{
    TalusMaterialDef def = {.name = "", .friction = 0.3, .density = 1000.0};
    return def;
}

TalusStatus talus_copy_text(const char *text, const char *what, char **out)
{
    size_t length = strlen(text ? text : "");
    TALUS_TRY(TALUS_ALLOC(*out, length + 1, what));
    if (length)
        memcpy(*out, text, length);
    return TALUS_OK;
}

static TalusStatus check_material(const TalusMaterialDef *def)
{
    struct {
        const char *key;
        double value;
    } fields[] = {{"friction", def->friction},
                  {"density", def->density},
                  {"stiffness", def->stiffness},
                  {"damping", def->damping}};
    for (int i = 0; i < 4; i++)
        if (!(fields[i].value >= 0.0) || !isfinite(fields[i].value))
            return talus_fail(TALUS_ERR_ARGUMENT, "material: %s is %g; expected 0 or more",
                              fields[i].key, fields[i].value);
    if (def->damping > 0.0 && def->stiffness == 0.0)
        return talus_fail(TALUS_ERR_ARGUMENT, "material: damping %g needs a stiffness; 0 is rigid",
                          def->damping);
    return TALUS_OK;
}

static TalusLaw pair_law(const TalusMaterial *a, const TalusMaterial *b, double set)
{
    TalusLaw law = {.mu = set >= 0.0 ? set : fmin(a->friction, b->friction)};
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

static void update_laws(TalusMaterials *m)
{
    m->max_friction = 0.0;
    m->any_compliance = false;
    for (int a = 0; a < m->count; a++)
        for (int b = 0; b < m->count; b++) {
            TalusLaw *law = &m->law[a * m->count + b];
            *law = pair_law(&m->material[a], &m->material[b], m->friction[a * m->count + b]);
            m->max_friction = fmax(m->max_friction, law->mu);
            m->any_compliance |= law->stiffness > 0.0;
        }
}

/* Widens the square table of pair frictions by one, from the last entry down, in place. */
static void widen_friction(double *table, int old)
{
    for (int a = old - 1; a >= 0; a--)
        for (int b = old - 1; b >= 0; b--)
            table[a * (old + 1) + b] = table[a * old + b];
    for (int a = 0; a <= old; a++)
        table[a * (old + 1) + old] = table[old * (old + 1) + a] = -1.0;
}

TalusStatus talus_world_add_material(TalusWorld *world, const TalusMaterialDef *def, int *index)
{
    TALUS_TRY(check_material(def));
    TalusMaterials *m = &world->materials;
    size_t old = (size_t)m->count, wide = (old + 1) * (old + 1);
    TALUS_TRY(TALUS_RESERVE(m->material, m->capacity, old + 1, old, "materials"));
    TALUS_TRY(TALUS_RESERVE(m->law, m->law_capacity, wide, 0, "material pairs"));
    TALUS_TRY(TALUS_RESERVE(m->friction, m->friction_capacity, wide, old * old, "pair friction"));
    char *name;
    TALUS_TRY(talus_copy_text(def->name, "material name", &name));
    m->material[old] = (TalusMaterial){.name = name,
                                       .friction = def->friction,
                                       .density = def->density,
                                       .stiffness = def->stiffness,
                                       .damping = def->damping};
    widen_friction(m->friction, m->count);
    m->count++;
    update_laws(m);
    world->mirror.tables_ahead = world->engine != NULL;
    if (index)
        *index = m->count - 1;
    return TALUS_OK;
}

TalusStatus talus_world_set_friction(TalusWorld *world, int a, int b, double mu)
{
    TalusMaterials *m = &world->materials;
    if (a < 0 || b < 0 || a >= m->count || b >= m->count)
        return talus_fail(TALUS_ERR_ARGUMENT, "friction: materials %d and %d; there are %d", a, b,
                          m->count);
    if (!(mu >= 0.0) || !isfinite(mu))
        return talus_fail(TALUS_ERR_ARGUMENT, "friction: mu is %g; expected 0 or more", mu);
    m->friction[a * m->count + b] = m->friction[b * m->count + a] = mu;
    update_laws(m);
    world->mirror.tables_ahead = world->engine != NULL;
    return TALUS_OK;
}

void talus_materials_clear(TalusMaterials *m)
{
    for (int i = 0; i < m->count; i++)
        talus_release(m->material[i].name);
    talus_release(m->material);
    talus_release(m->law);
    talus_release(m->friction);
    *m = (TalusMaterials){0};
}

/* Inertia per unit mass; zero for spheres, whose radius the body brings, and for fixed shapes. */
static TalusStatus gyration_of(const TalusShapeDef *def, TalusGyration *out)
{
    *out = (TalusGyration){0};
    if (def->kind == TALUS_SHAPE_SPHERE || talus_shape_fixed_only(def->kind))
        return TALUS_OK;
    TalusMassProperties unit;
    TALUS_TRY(talus_shape_mass(def, 0.0, 1.0, &unit));
    out->inertia = talus_sym3_scale(1.0 / unit.mass, unit.inertia);
    out->inverse = talus_sym3_inverse(out->inertia);
    if (!isfinite(out->inverse.xx + out->inverse.yy + out->inverse.zz))
        return talus_fail(TALUS_ERR_ARGUMENT, "%s: so large or small that its inertia overflows",
                          talus_shape_name(def->kind));
    return TALUS_OK;
}

TalusStatus talus_world_add_shape(TalusWorld *world, const TalusShapeDef *def, int *index)
{
    size_t n = (size_t)world->shapes;
    TALUS_TRY(TALUS_RESERVE(world->shape, world->shape_capacity, n + 1, n, "shapes"));
    TALUS_TRY(TALUS_RESERVE(world->gyration, world->gyration_capacity, n + 1, n, "shape inertia"));
    TALUS_TRY(talus_shape_init(&world->shape[n], def));
    TalusStatus status = gyration_of(&world->shape[n].def, &world->gyration[n]);
    if (status != TALUS_OK) {
        talus_shape_clear(&world->shape[n]);
        return status;
    }
    world->shapes++;
    world->mirror.tables_ahead = world->engine != NULL;
    if (index)
        *index = (int)n;
    return TALUS_OK;
}

TalusStatus talus_sphere_shape(TalusWorld *world, double radius, int *index)
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
    talus_release(world->shape);
    talus_release(world->gyration);
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
    const TalusMaterial *m = &world->materials.material[index];
    TalusMaterialDef def = {.name = m->name,
                            .friction = m->friction,
                            .density = m->density,
                            .stiffness = m->stiffness,
                            .damping = m->damping};
    return def;
}

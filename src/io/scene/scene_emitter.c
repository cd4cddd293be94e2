/* io/scene/scene_emitter.c - emitters of a scene in its world.
 *
 * An emitter with species becomes one emitter for each of them, over the same box: with its part of the rate, by number, and of
 * the count, which is rounded so that the parts add up. */
#include "io/scene/scene_emitter.h"

#include "base/hash.h"
#include "base/memory.h"
#include "comm/comm.h"
#include "world/state.h"

#include <math.h>

/* Sets *index to the index in the world of the material `name`; NULL: the first of the scene, or the world's default. */
static TalusStatus find_material(const SceneEmitterPlace *p, const TalusJson *json,
                                 const char *name, int *index)
{
    int own;
    TALUS_TRY(talus_scene_find_material(p->scene, json, name, &own));
    *index = own < 0 ? 0 : p->material[own];
    return TALUS_OK;
}

/* Adds an emitter of spheres with these radii; size NULL: with the radius of the def. */
static TalusStatus add_sized(const SceneEmitter *e, const SceneSize *size, TalusEmitterDef *def,
                             TalusWorld *world)
{
    TalusSizeDef sizes;
    def->sizes = NULL;
    if (size) {
        sizes = talus_scene_size_def(size);
        def->sizes = &sizes;
    }
    return talus_json_error_at(e->json, talus_world_add_emitter(world, def));
}

/* Sets material, density, tag and radius of the def to those of a species. */
static TalusStatus set_species(const SceneEmitterPlace *p, const SceneEmitter *e,
                               const SceneSpecies *s, TalusEmitterDef *def)
{
    const SceneShape *shape;
    TALUS_TRY(talus_scene_resolve_shape(p->scene, s->shape, &shape));
    def->radius_min = def->radius_max = shape->def.radius;
    def->density = s->density > 0.0 ? s->density : e->def.density;
    def->tag = talus_json_get(s->json, "tag") ? s->tag : e->def.tag;
    return find_material(p, s->json, s->material ? s->material : e->material, &def->material);
}

/* Sets *mass to the mean mass of the spheres of a species over 4/3 pi; def: that of the species. */
static TalusStatus mean_mass(const SceneEmitterPlace *p, const SceneSpecies *s,
                             const TalusEmitterDef *def, const TalusWorld *world, double *mass)
{
    const SceneShape *shape;
    TalusSizeCurve curve;
    double density =
        def->density > 0.0 ? def->density : world->materials.def[def->material].density;
    TALUS_TRY(talus_scene_resolve_shape(p->scene, s->shape, &shape));
    TALUS_TRY(talus_scene_make_sizes(s->radius, shape, &curve));
    *mass = density * talus_size_curve_range(&curve).mean_cube;
    talus_size_curve_clear(&curve);
    return TALUS_OK;
}

/* Sets *shares to an array, which the caller releases, of the parts of the species by number. */
static TalusStatus find_shares(const SceneEmitterPlace *p, const SceneEmitter *e,
                               const TalusWorld *world, double **shares)
{
    const SceneSpecies *s = (const SceneSpecies *)e->species.items;
    TalusEmitterDef def = e->def;
    double *mass;
    *shares = NULL;
    TALUS_TRY(TALUS_ALLOC(mass, (size_t)e->species.count, "scene"));
    TalusStatus status = TALUS_ALLOC(*shares, (size_t)e->species.count, "scene");
    for (int i = 0; i < e->species.count; i++) {
        TALUS_THEN(status, set_species(p, e, &s[i], &def));
        TALUS_THEN(status, mean_mass(p, &s[i], &def, world, &mass[i]));
    }
    TALUS_THEN(status, talus_scene_species_shares(&e->species, e->by, mass, *shares));
    talus_release(mass);
    return status;
}

static TalusStatus add_all_species(const SceneEmitterPlace *p, const SceneEmitter *e,
                                   const TalusEmitterDef *all, const double *share,
                                   TalusWorld *world)
{
    const SceneSpecies *s = (const SceneSpecies *)e->species.items;
    TalusEmitterDef def = *all;
    int64_t before = 0;
    double below = 0.0;
    for (int i = 0; i < e->species.count; i++) {
        below += share[i];
        const int64_t until = i == e->species.count - 1
                                  ? all->count
                                  : (int64_t)floor(below * (double)all->count + 0.5);
        TALUS_TRY(set_species(p, e, &s[i], &def));
        def.seed = i == 0 ? all->seed : talus_hash_mix(all->seed + (uint64_t)i);
        def.rate = all->rate * share[i];
        def.count = until - before;
        before = until;
        TALUS_TRY(add_sized(e, s[i].radius, &def, world));
    }
    return TALUS_OK;
}

TalusStatus talus_scene_add_emitter(const SceneEmitterPlace *p, const SceneEmitter *e,
                                    TalusWorld *world)
{
    TalusEmitterDef def = e->def;
    double *share;
    def.seed = talus_scene_mix_seed(p->scene, (int64_t)def.seed);
    TALUS_TRY(talus_scene_find_group(p->scene, e->json, e->group, &def.group));
    TALUS_TRY(find_material(p, e->json, e->material, &def.material));
    def.copy = p->copy;
    def.lo = talus_add(def.lo, p->shift);
    def.hi = talus_add(def.hi, p->shift);
    if (e->species.count == 0)
        return add_sized(e, e->radius, &def, world);
    TalusStatus status = talus_comm_agree(p->comm, find_shares(p, e, world, &share));
    TALUS_THEN(status, add_all_species(p, e, &def, share, world));
    talus_release(share);
    return status;
}

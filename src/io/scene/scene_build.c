/* io/scene/scene_build.c - construction of a world from a scene. */
#include "io/scene/scene_copies.h"
#include "io/scene/scene_joint.h"
#include "io/scene/scene_start.h"

#include "backend/backend.h"
#include "base/memory.h"
#include "base/rng.h"
#include "geometry/bounds.h"
#include "world/source/generate.h"
#include "world/state.h"

/* Largest number of materials in a world of copies: the laws of all pairs are tabulated. */
enum { MOST_MATERIALS = 1000 };

/* A world under construction, and where the parts of the scene are in it. */
typedef struct Builder {
    const TalusScene *scene; /* the copy that is being added */
    TalusWorld *world;
    int copy;        /* number of this copy */
    TalusVec3 shift; /* where it stands, relative to copy 0, m */
    TalusVec3 width; /* extent of copy 0, m; known once copy 1 is added */
    /* Arrays of this copy, parts of `all`: */
    int *material;   /* [materials]: index in the world */
    int *shape;      /* [shapes]: 1 + index of the first form in the world; 0: not yet added */
    TalusBodyId *id; /* [entries]: the body, if the entry has exactly one and no `time` */
    int *count;      /* [entries]: number of bodies, delayed ones included */
    struct {
        int *material, *shape, *count;
        TalusBodyId *id;
        int *slot,
            *pending; /* [copies entries + 1]: first slot and first delayed batch of an entry */
    } all;            /* arrays of all copies, one after the other */
} Builder;

/* ---- world and materials ---- */

/* Returns the period of a scene; an axis is periodic if its key is given. */
static TalusPeriod make_period(const ScenePeriod *p)
{
    TalusPeriod period = {
        .lo = {p->x[0], p->y[0], p->z[0]},
        .hi = {p->x[1], p->y[1], p->z[1]},
        .on = {talus_json_get(p->json, "x") != NULL, talus_json_get(p->json, "y") != NULL,
               talus_json_get(p->json, "z") != NULL},
    };
    return period;
}

/* Adds to the error `status` of making a world its location in the scene: the key that the error's domain points to; if
 * the file lacks that key, or the domain points to none, the solver's object. Adds no location if the backend, threads
 * or solver of `choice` caused the error. */
static TalusStatus locate_error(const TalusScene *s, const TalusSceneChoice *choice,
                                TalusStatus status)
{
    static const TalusSceneChoice none;
    const TalusSceneChoice *c = choice ? choice : &none;
    const TalusJson *value = NULL;
    bool chosen;
    switch (talus_error_record()->domain) {
    case TALUS_DOMAIN_BACKEND:
    case TALUS_DOMAIN_DEVICE:
        chosen = c->backend != NULL;
        value = talus_json_get(s->json, "backend");
        break;
    case TALUS_DOMAIN_BASE:
        chosen = c->threads != 0;
        value = talus_json_get(s->json, "threads");
        break;
    case TALUS_DOMAIN_SOLVER:
        chosen = c->solver != NULL;
        value = talus_json_get(s->solver->json, "name");
        break;
    default: /* a number out of range, or a feature that the backend lacks (UNSUPPORTED) */
        chosen = c->backend && status == TALUS_ERR_UNSUPPORTED;
    }
    return chosen ? status : talus_json_error_at(value ? value : s->solver->json, status);
}

/* Creates the world, without content, from the scene and the caller's choice of backend, threads and solver. */
static TalusStatus create_world(Builder *b, const TalusSceneChoice *choice)
{
    const TalusScene *s = b->scene;
    TalusWorldDef def = s->def;
    def.tolerance = s->solver->tolerance;
    def.reference_speed = s->solver->reference_speed;
    def.norm = (TalusNorm)s->solver->norm;
    def.max_iterations = (int)s->solver->max_iterations;
    def.solver = choice && choice->solver ? choice->solver : s->solver->name;
    def.on_miss = (TalusMissPolicy)s->solver->on_miss;
    if (s->period)
        def.period = make_period(s->period);
    if (s->sleep) {
        def.sleep_speed = s->sleep->speed;
        def.sleep_steps = (int)s->sleep->steps;
    }
    TALUS_TRY(talus_scene_make_model(s, &def.friction));
    if (s->defaults == SCENE_RELAXED && !talus_json_get(s->json, "compliance"))
        def.compliance = 0.0;
    if (choice && choice->backend)
        def.backend = choice->backend;
    if (choice && choice->threads)
        def.threads = choice->threads == -1 ? 0 : choice->threads; /* 0: one per processor */
    return locate_error(s, choice, talus_world_create(&def, &b->world));
}

static TalusStatus add_materials(Builder *b)
{
    const SceneMaterial *materials = (const SceneMaterial *)b->scene->materials.items;
    for (int i = 0; i < b->scene->materials.count; i++) {
        const SceneMaterial *m = &materials[i];
        TalusMaterialDef def = m->def;
        def.name = m->json->key;
        TALUS_TRY(talus_json_error_at(m->json,
                                      talus_world_add_material(b->world, &def, &b->material[i])));
    }
    return TALUS_OK;
}

/* Sets *index to the index in the world of the material `name`; NULL: the first of the scene, or the world's
 * default. */
static TalusStatus find_world_material(const Builder *b, const TalusJson *json, const char *name,
                                       int *index)
{
    int own;
    TALUS_TRY(talus_scene_find_material(b->scene, json, name, &own));
    *index = own < 0 ? 0 : b->material[own]; /* 0: the default material of a world */
    return TALUS_OK;
}

/* Makes the definition of a pair. A number that the pair leaves out comes from its materials. The pair has a friction
 * model of its own if it gives law or section; the other of the two comes from the scene. */
static TalusStatus make_pair_def(const TalusScene *scene, const ScenePair *pair, TalusPairDef *def)
{
    *def = pair->def;
    def->own_model = talus_json_get(pair->json, "law") || pair->section;
    return talus_scene_make_pair_model(scene, pair, &def->model);
}

static TalusStatus add_pairs(Builder *b)
{
    const ScenePair *pairs = (const ScenePair *)b->scene->friction.items;
    for (int i = 0; i < b->scene->friction.count; i++) {
        const char *const *names = (const char *const *)pairs[i].between.items;
        TalusPairDef def;
        int first, second;
        TALUS_TRY(find_world_material(b, pairs[i].json, names[0], &first));
        TALUS_TRY(find_world_material(b, pairs[i].json, names[1], &second));
        TALUS_TRY(make_pair_def(b->scene, &pairs[i], &def));
        TALUS_TRY(talus_json_error_at(pairs[i].json,
                                      talus_world_set_pair(b->world, first, second, &def)));
    }
    return TALUS_OK;
}

/* ---- bodies ---- */

/* The forms (shapes in the world) that bodies of one entry may have, with their extents. */
typedef struct Forms {
    int *shape;        /* [extents.count]: index in the world */
    TalusVec3 *centre; /* [extents.count]: centre of mass relative to ScenePlacement.position */
    SceneForms extents;
} Forms;

static void free_forms(Forms *forms)
{
    TALUS_RELEASE(forms->shape, forms->centre, forms->extents.bound);
}

/* Adds a shape to the world, a named one only once; *first is the index of its first form. */
static TalusStatus add_shape_once(Builder *b, const SceneBody *body, const SceneShape *shape,
                                  int *first)
{
    const SceneShape *named = (const SceneShape *)b->scene->shapes.items;
    bool is_named = body->shapes.count > 0 || body->shape->name;
    int *known = is_named ? &b->shape[shape - named] : NULL;
    if (known && *known) {
        *first = *known - 1;
        return TALUS_OK;
    }
    double min, max;
    talus_scene_radius_range(body->radius, shape, &min, &max);
    TALUS_TRY(talus_scene_add_shape(b->scene, shape, max, b->world, first));
    if (known)
        *known = *first + 1;
    return TALUS_OK;
}

/* Sets two radii about the centre of mass within which a body stays: *across, horizontal, for rotations about z, and
 * *bound for any rotation. `half`: largest distances of its points from the centre of mass along the axes. */
static void find_form_radii(const TalusShape *shape, TalusVec3 half, double *across, double *bound)
{
    TalusShapeKind kind = shape->def.kind;
    bool axial = talus_shape_has(kind, TALUS_TRAIT_AXIAL);
    double corner = sqrt(half.x * half.x + half.y * half.y), all = shape->bounding_radius;
    *across = axial ? half.x : kind == TALUS_SHAPE_BOX ? corner : fmin(corner, all);
    *bound = kind == TALUS_SHAPE_SPHERE ? shape->def.radius : all;
    if (kind == TALUS_SHAPE_BOX || kind == TALUS_SHAPE_CYLINDER)
        *bound = sqrt(*across * *across + half.z * half.z);
}

/* Appends shape `index` of the world to the forms and enlarges their extents. by_origin: bodies are placed by the
 * origin of the shape, not by its centre of mass. */
static void append_form(Builder *b, Forms *f, int index, bool by_origin)
{
    const TalusShape *shape = &b->world->shape[index];
    SceneForms *extents = &f->extents;
    f->shape[extents->count] = index;
    f->centre[extents->count] = by_origin ? shape->centre : talus_vec3(0, 0, 0);
    if (!talus_shape_has(shape->def.kind, TALUS_TRAIT_WALL)) {
        TalusAabb box = talus_shape_bounds(shape, shape->def.radius, talus_vec3(0, 0, 0),
                                           talus_quat_identity());
        TalusVec3 half = talus_vec3(fmax(-box.lo.x, box.hi.x), fmax(-box.lo.y, box.hi.y),
                                    fmax(-box.lo.z, box.hi.z));
        double across;
        find_form_radii(shape, half, &across, &extents->bound[extents->count]);
        extents->across = fmax(extents->across, across);
        extents->half = talus_vec3(fmax(extents->half.x, half.x), fmax(extents->half.y, half.y),
                                   fmax(extents->half.z, half.z));
    }
    extents->count++;
}

/* Adds the shapes of an entry to the world and collects their forms in *f. */
static TalusStatus add_forms(Builder *b, const SceneBody *body, Forms *f)
{
    size_t capacity = 0;
    const SceneShape *shape;
    for (int k = 0; k < talus_scene_entry_shape_count(body); k++) {
        TALUS_TRY(talus_scene_entry_shape(b->scene, body, k, &shape));
        capacity += (size_t)talus_scene_form_count(shape);
    }
    TALUS_TRY(TALUS_ALLOC(f->shape, capacity, "scene"));
    TALUS_TRY(TALUS_ALLOC(f->centre, capacity, "scene"));
    TALUS_TRY(TALUS_ALLOC(f->extents.bound, capacity, "scene"));
    bool placed = body->at.count > 0 || body->file;
    for (int k = 0; k < talus_scene_entry_shape_count(body); k++) {
        int first;
        TALUS_TRY(talus_scene_entry_shape(b->scene, body, k, &shape));
        TALUS_TRY(add_shape_once(b, body, shape, &first));
        for (int i = 0; i < talus_scene_form_count(shape); i++)
            append_form(b, f, first + i, placed && shape->kind != SCENE_ROCK);
    }
    return TALUS_OK;
}

/* True if the entry gives the key `orientation` or `normal`. */
static bool has_orientation(const SceneBody *body)
{
    return body->orientation || talus_json_get(body->json, "normal");
}

/* Returns a random rotation, uniform over all rotations: points of the four-dimensional cube are drawn until one has a
 * distance of 0.1 to 1 from the centre, and normalised. */
static TalusQuat random_rotation(TalusRng *rng)
{
    for (;;) {
        double v[4], length = 0.0;
        for (int k = 0; k < 4; k++) {
            v[k] = 2.0 * talus_rng_uniform(rng) - 1.0;
            length += v[k] * v[k];
        }
        TalusQuat q = {v[0], v[1], v[2], v[3]};
        if (length > 0.01 && length <= 1.0)
            return talus_quat_normalize(q);
    }
}

/* Sets *out to `count` copies of one vector; leaves *out NULL, the world's default, if the vector is zero. */
static TalusStatus copy_vector_to_all(const double *value, int count, TalusVec3 **out)
{
    if (value[0] == 0.0 && value[1] == 0.0 && value[2] == 0.0)
        return TALUS_OK;
    TALUS_TRY(TALUS_ALLOC(*out, (size_t)count, "bodies of a scene"));
    for (int i = 0; i < count; i++)
        (*out)[i] = scene_vec3(value);
    return TALUS_OK;
}

/* Sets *out to the orientations of the bodies of an entry; leaves *out NULL, the world's default, if it gives none. */
static TalusStatus make_orientations(const SceneBody *body, int count, TalusQuat **out)
{
    if (!has_orientation(body))
        return TALUS_OK;
    TALUS_TRY(TALUS_ALLOC(*out, (size_t)count, "bodies of a scene"));
    TalusRng rng = talus_rng_from_seed((uint64_t)body->seed ^ UINT64_C(0x7475726e73));
    for (int i = 0; i < count; i++)
        (*out)[i] = !body->orientation
                        ? talus_quat_from_z(talus_scene_scale_direction(scene_vec3(body->normal)))
                    : body->orientation->random ? random_rotation(&rng)
                                                : talus_scene_make_rotation(body->orientation);
    return TALUS_OK;
}

/* Gives the bodies the prescribed motion of their entry. */
static TalusStatus drive_bodies(Builder *b, const SceneDrive *drive, const TalusBodyId *ids,
                                int count)
{
    TalusDriveDef def = drive->def;
    def.own_axis = talus_json_get(drive->json, "point") != NULL;
    def.point = talus_add(def.point, b->shift);
    for (int i = 0; i < count; i++)
        TALUS_TRY(talus_json_error_at(drive->json, talus_world_set_drive(b->world, ids[i], &def)));
    return TALUS_OK;
}

/* Adds a batch of an entry to the world: as a delayed batch if the entry has a `time`. Otherwise also gives the bodies
 * the drive of the entry, and sets b->id[entry] if the batch has one body. */
static TalusStatus add_batch(Builder *b, const SceneBody *body, const TalusBodyBatch *batch,
                             int entry)
{
    if (body->time > 0.0)
        return talus_json_error_at(body->json,
                                   talus_world_add_bodies_at(b->world, body->time, batch));
    TalusBodyId *ids;
    TALUS_TRY(TALUS_ALLOC(ids, (size_t)batch->count, "bodies of a scene"));
    TalusStatus status =
        talus_json_error_at(body->json, talus_world_add_bodies(b->world, batch, ids));
    if (status == TALUS_OK && batch->count == 1)
        b->id[entry] = ids[0];
    if (status == TALUS_OK && body->drive)
        status = drive_bodies(b, body->drive, ids, batch->count);
    talus_release(ids);
    return status;
}

/* Sets what all bodies of an entry have in common. */
static TalusStatus fill_batch(const Builder *b, const SceneBody *body, const SceneShape *shape,
                              TalusBodyBatch *batch)
{
    *batch = talus_body_batch_default();
    batch->fixed = body->fixed || body->drive || talus_scene_is_wall(shape);
    batch->density = body->density;
    batch->mass = body->mass;
    batch->tag = (int)body->tag;
    batch->copy = b->copy;
    batch->force = scene_vec3(body->force);
    batch->torque = scene_vec3(body->torque);
    TALUS_TRY(talus_scene_find_group(b->scene, body->json, body->group, &batch->group));
    return find_world_material(b, body->json, body->material, &batch->material);
}

/* States of the bodies of one entry; velocity, spin or orientation is NULL if all have the default. */
typedef struct EntryBodies {
    ScenePlacement places;
    TalusVec3 *velocity, *spin;
    TalusQuat *orientation;
} EntryBodies;

static void free_entry_bodies(EntryBodies *g)
{
    TALUS_RELEASE(g->velocity, g->spin, g->orientation);
    talus_scene_placement_clear(&g->places);
}

/* Converts positions of the shapes' origins to positions of the centres of mass, which the world needs: adds f->centre,
 * rotated with the body. Generated positions stay, since their f->centre is 0. */
static void move_positions_to_centres(const Forms *f, EntryBodies *g)
{
    for (int i = 0; i < g->places.count; i++) {
        TalusVec3 centre = f->centre[g->places.form ? g->places.form[i] : 0];
        if (talus_norm(centre) == 0.0) /* adding 0 would turn -0.0 into 0.0 */
            continue;
        if (g->orientation)
            centre = talus_rotate(g->orientation[i], centre);
        g->places.position[i] = talus_add(g->places.position[i], centre);
    }
}

/* Adds the bodies only[0] to only[count - 1] of an entry, which have the same form; only NULL: all its bodies. */
static TalusStatus add_form_bodies(Builder *b, const SceneBody *body, TalusBodyBatch *batch,
                                   EntryBodies *g, const int *only, int count, int entry)
{
    TalusVec3 *position = NULL;
    TalusQuat *orientation = NULL;
    TalusStatus status = TALUS_OK;
    batch->count = count;
    batch->position = g->places.position;
    batch->orientation = g->orientation;
    batch->radius = g->places.radius;
    batch->velocity = g->velocity; /* the same for all bodies */
    batch->spin = g->spin;
    if (only)
        status = TALUS_ALLOC(position, (size_t)count, "bodies of a scene");
    if (only && status == TALUS_OK && g->orientation)
        status = TALUS_ALLOC(orientation, (size_t)count, "bodies of a scene");
    if (only && status == TALUS_OK) {
        for (int i = 0; i < count; i++)
            position[i] = g->places.position[only[i]];
        for (int i = 0; orientation && i < count; i++)
            orientation[i] = g->orientation[only[i]];
        batch->position = position;
        batch->orientation = orientation;
    }
    TALUS_THEN(status, add_batch(b, body, batch, entry));
    TALUS_RELEASE(position, orientation);
    return status;
}

/* Adds the bodies of an entry, one batch for each form that occurs. */
static TalusStatus add_entry_bodies(Builder *b, const SceneBody *body, const Forms *f,
                                    TalusBodyBatch *batch, EntryBodies *g, int entry)
{
    if (!g->places.form) {
        batch->shape = f->shape[0];
        return add_form_bodies(b, body, batch, g, NULL, g->places.count, entry);
    }
    int *only;
    TALUS_TRY(TALUS_ALLOC(only, (size_t)g->places.count, "bodies of a scene"));
    TalusStatus status = TALUS_OK;
    for (int form = 0; form < f->extents.count && status == TALUS_OK; form++) {
        int count = 0;
        for (int i = 0; i < g->places.count; i++)
            if (g->places.form[i] == form)
                only[count++] = i;
        batch->shape = f->shape[form];
        if (count > 0)
            status = add_form_bodies(b, body, batch, g, only, count, entry);
    }
    talus_release(only);
    return status;
}

/* Sets positions, radii, forms, velocities, spins and orientations of the bodies of an entry. */
static TalusStatus make_entry_bodies(Builder *b, const SceneBody *body, const Forms *f,
                                     const SceneShape *shape, EntryBodies *g)
{
    TALUS_TRY(talus_scene_place_bodies(b->scene, body, shape, &f->extents, &g->places));
    TALUS_TRY(copy_vector_to_all(body->velocity, g->places.count, &g->velocity));
    TALUS_TRY(copy_vector_to_all(body->spin, g->places.count, &g->spin));
    TALUS_TRY(make_orientations(body, g->places.count, &g->orientation));
    move_positions_to_centres(f, g);
    for (int i = 0; b->copy > 0 && i < g->places.count; i++)
        g->places.position[i] = talus_add(g->places.position[i], b->shift);
    return TALUS_OK;
}

/* Adds the shapes and bodies of an entry of `bodies`; sets b->count[entry]. */
static TalusStatus add_entry(Builder *b, int entry)
{
    const SceneBody *body = (const SceneBody *)b->scene->bodies.items + entry;
    const SceneShape *shape;
    TalusBodyBatch batch;
    EntryBodies group = {0};
    Forms forms = {0};
    TALUS_TRY(talus_scene_entry_shape(b->scene, body, 0, &shape));
    TALUS_TRY(fill_batch(b, body, shape, &batch));
    TalusStatus status = add_forms(b, body, &forms);
    TALUS_THEN(status, make_entry_bodies(b, body, &forms, shape, &group));
    b->count[entry] = group.places.count;
    TALUS_THEN(status, add_entry_bodies(b, body, &forms, &batch, &group, entry));
    free_entry_bodies(&group);
    free_forms(&forms);
    return status;
}

/* ---- the rest ---- */

static TalusStatus add_emitter(Builder *b, const SceneEmitter *e)
{
    TalusEmitterDef def = e->def;
    talus_scene_radius_range(e->radius, NULL, &def.radius_min, &def.radius_max);
    TALUS_TRY(talus_scene_find_group(b->scene, e->json, e->group, &def.group));
    TALUS_TRY(find_world_material(b, e->json, e->material, &def.material));
    def.copy = b->copy;
    def.lo = talus_add(def.lo, b->shift);
    def.hi = talus_add(def.hi, b->shift);
    return talus_json_error_at(e->json, talus_world_add_emitter(b->world, &def));
}

/* Applies an item of `apart`: bodies of its two groups do not collide. */
static TalusStatus disable_group_collisions(Builder *b, const SceneApart *apart)
{
    const char *const *names = (const char *const *)apart->between.items;
    int group[2];
    for (int k = 0; k < 2; k++)
        TALUS_TRY(talus_scene_find_group(b->scene, apart->json, names[k], &group[k]));
    return talus_json_error_at(apart->json,
                               talus_world_set_groups(b->world, group[0], group[1], false));
}

/* Adds a probe of a region, or of the one body of an entry. */
static TalusStatus add_probe(Builder *b, const char *suffix, const SceneProbe *probe)
{
    TalusProbeDef def = {.kind = TALUS_PROBE_REGION, .copy = b->copy};
    if (probe->region) {
        def.lo = talus_add(scene_vec3(probe->region->lo), b->shift);
        def.hi = talus_add(scene_vec3(probe->region->hi), b->shift);
    } else {
        int entry = talus_scene_find_entry(b->scene, probe->body); /* exists: it was checked */
        if (b->count[entry] != 1)
            return talus_json_fail(talus_json_get(probe->json, "body"), 0,
                                   "bodies[%d] has %d bodies, expected one", entry,
                                   b->count[entry]);
        def.kind = TALUS_PROBE_BODY;
        def.body = b->id[entry];
    }
    char *name;
    int index;
    TALUS_TRY(talus_scene_join_texts(probe->name, suffix, &name));
    def.name = name;
    TalusStatus status =
        talus_json_error_at(probe->json, talus_world_add_probe(b->world, &def, &index));
    talus_release(name);
    return status;
}

/* ---- copies ---- */

/* Allocates the arrays of all copies. */
static TalusStatus allocate_arrays(Builder *b, const TalusScene *s)
{
    size_t copies = (size_t)talus_scene_copy_count(s), entries = copies * (size_t)s->bodies.count;
    TALUS_TRY(TALUS_ALLOC(b->all.material, copies * (size_t)s->materials.count, "scene"));
    TALUS_TRY(TALUS_ALLOC(b->all.shape, copies * (size_t)s->shapes.count, "scene"));
    TALUS_TRY(TALUS_ALLOC(b->all.id, entries, "scene"));
    TALUS_TRY(TALUS_ALLOC(b->all.count, entries, "scene"));
    TALUS_TRY(TALUS_ALLOC(b->all.slot, entries + 1, "scene"));
    return TALUS_ALLOC(b->all.pending, entries + 1, "scene");
}

/* Returns the extent along each axis of the bodies in the world, delayed ones included; planes count with their points,
 * so that four walls and what is between them have the extent of the box. */
static TalusVec3 find_extent(const TalusWorld *world)
{
    TalusSurvey survey;
    talus_world_survey(world, &survey);
    TalusAabb box = talus_aabb_join(survey.moving_bounds, survey.fixed_bounds);
    for (int i = 0; i < world->bodies.counts.slots; i++)
        box =
            talus_aabb_join(box, (TalusAabb){world->bodies.position[i], world->bodies.position[i]});
    TalusVec3 width = talus_sub(box.hi, box.lo);
    return talus_vec3(fmax(width.x, 0.0), fmax(width.y, 0.0), fmax(width.z, 0.0));
}

/* Makes copy k of the scene the one that is being added. Tables that an earlier copy has as well are shared with it. */
static TalusStatus begin_copy(Builder *b, const TalusScene *scene, int k)
{
    int shapes = talus_scene_copy_of_shapes(scene, k);
    int materials = talus_scene_copy_of_materials(scene, k);
    b->scene = talus_scene_copy(scene, k);
    b->copy = k;
    if (k == 1)
        b->width = find_extent(b->world);
    b->shift = talus_scene_copy_shift(scene, k, b->width);
    b->shape = b->all.shape + shapes * scene->shapes.count;
    b->material = b->all.material + materials * scene->materials.count;
    b->id = b->all.id + k * scene->bodies.count;
    b->count = b->all.count + k * scene->bodies.count;
    if (materials < k)
        return TALUS_OK;
    if (k > 0 && b->world->materials.count + scene->materials.count > MOST_MATERIALS)
        return talus_json_fail(
            scene->copies->json, 0,
            "copies up to number %d have more than %d different materials in all", k,
            MOST_MATERIALS);
    TALUS_TRY(add_materials(b));
    return add_pairs(b);
}

/* Adds bodies, joints, emitters and probes of the copy that is being added. */
static TalusStatus add_copy(Builder *b, const TalusScene *scene)
{
    const TalusScene *s = b->scene;
    for (int i = 0, entry = b->copy * s->bodies.count; i < s->bodies.count; i++, entry++) {
        TALUS_TRY(add_entry(b, i));
        b->all.slot[entry + 1] = b->world->bodies.counts.slots;
        b->all.pending[entry + 1] = b->world->sources.pendings;
    }
    char suffix[TALUS_SCENE_SUFFIX_BYTES];
    talus_scene_copy_suffix(scene, b->copy, suffix);
    SceneJointPlace place = {s, suffix, b->shift, b->id, b->count};
    TALUS_TRY(talus_scene_add_joints(&place, b->world));
    for (int i = 0; i < s->emitters.count; i++)
        TALUS_TRY(add_emitter(b, (const SceneEmitter *)s->emitters.items + i));
    for (int i = 0; i < s->probes.count; i++)
        TALUS_TRY(add_probe(b, suffix, (const SceneProbe *)s->probes.items + i));
    return TALUS_OK;
}

/* Makes the world and all in it, then checks its start (scene_start.c). */
static TalusStatus build_world(Builder *b, const TalusScene *scene, const TalusSceneChoice *choice)
{
    b->scene = scene;
    TALUS_TRY(allocate_arrays(b, scene));
    TALUS_TRY(create_world(b, choice));
    for (int k = 0; k < talus_scene_copy_count(scene); k++) {
        TALUS_TRY(talus_scene_name_copy(k, begin_copy(b, scene, k)));
        TALUS_TRY(talus_scene_name_copy(k, add_copy(b, scene)));
    }
    for (int i = 0; i < scene->apart.count; i++)
        TALUS_TRY(disable_group_collisions(b, (const SceneApart *)scene->apart.items + i));
    for (int i = 0; i < scene->sinks.count; i++) {
        const SceneSink *sink = (const SceneSink *)scene->sinks.items + i;
        TALUS_TRY(talus_json_error_at(sink->json,
                                      talus_world_add_sink(b->world, sink->axis, sink->below)));
    }
    SceneStart start = {.scene = scene,
                        .world = b->world,
                        .slot = b->all.slot,
                        .pending = b->all.pending,
                        .count = b->all.count,
                        .allow_overlap = choice && choice->allow_overlap};
    return talus_scene_check_start(&start);
}

TalusStatus talus_scene_build(const TalusScene *scene, const TalusSceneChoice *choice,
                              TalusWorld **out)
{
    Builder b = {0};
    TalusStatus status = build_world(&b, scene, choice);
    if (status != TALUS_OK) {
        talus_world_destroy(b.world);
        b.world = NULL;
    }
    *out = b.world;
    TALUS_RELEASE(b.all.material, b.all.shape, b.all.id, b.all.count, b.all.slot, b.all.pending);
    return status;
}

/* io/scene_build.c - a world from a scene. */
#include "io/scene.h"

#include "backend/backend.h"
#include "base/memory.h"
#include "world/generate.h"

#include <string.h>

typedef struct Builder {
    const TalusScene *scene;
    TalusWorld *world;
    int *material, *shape; /* indices in the world of the scene's own; shape 0: not yet, else 1 + */
    TalusBodyId *id;       /* by entry: of its one body */
    int *count;            /* by entry */
} Builder;

static TalusVec3 vec3(const double *v)
{
    return talus_vec3(v[0], v[1], v[2]);
}

/* A failure of the world is told with the place in the scene that led to it. */
static TalusStatus at(TalusStatus status, const TalusJson *json)
{
    if (status != TALUS_OK && status != TALUS_ERR_MEMORY)
        talus_json_fail(json, 0, "%s", talus_error());
    return status;
}

/* ---- world and materials ---- */

static TalusStatus create_world(Builder *b, const TalusSceneChoice *choice)
{
    const TalusScene *s = b->scene;
    TalusWorldDef def = talus_world_def_default();
    def.gravity = vec3(s->gravity);
    def.step = s->step;
    def.tolerance = s->solver->tolerance;
    def.reference_speed = s->solver->reference_speed;
    def.norm = (TalusNorm)s->solver->norm;
    def.max_iterations = (int)s->solver->max_iterations;
    def.solver = choice && choice->solver ? choice->solver : s->solver->name;
    def.on_miss = (TalusMissPolicy)s->solver->on_miss;
    def.envelope = s->envelope;
    def.recovery = s->recovery;
    def.restitution_threshold = s->restitution_threshold;
    def.cohesion_range = s->cohesion_range;
    TALUS_TRY(talus_scene_model(s, &def.friction));
    def.backend = choice && choice->backend ? choice->backend : s->backend;
    def.threads = choice && choice->threads ? choice->threads : (int)s->threads;
    if (choice && choice->threads == -1)
        def.threads = 0;
    TalusStatus status = talus_world_create(&def, &b->world);
    bool chosen = choice && (choice->solver || choice->backend || choice->threads);
    if (chosen)
        return status; /* the scene is not to blame for a choice */
    const TalusJson *backend = talus_json_get(s->json, "backend");
    if (!backend || talus_backend_find(s->backend))
        return at(status, s->solver->json);
    static const char prefix[] = "backend "; /* which the place says too */
    size_t skip = strncmp(talus_error(), prefix, strlen(prefix)) == 0 ? strlen(prefix) : 0;
    talus_json_fail(backend, 0, "%s", talus_error() + skip);
    return status;
}

static TalusStatus add_materials(Builder *b)
{
    const SceneMaterial *materials = (const SceneMaterial *)b->scene->materials.items;
    for (int i = 0; i < b->scene->materials.count; i++) {
        const SceneMaterial *m = &materials[i];
        TalusMaterialDef def = talus_material_def_default();
        def.name = m->json->key;
        def.friction = m->friction;
        def.density = m->density;
        def.stiffness = m->stiffness;
        def.damping = m->damping;
        def.restitution = m->restitution;
        def.spinning = m->spinning;
        def.rolling = m->rolling;
        def.cohesion = m->cohesion;
        TALUS_TRY(at(talus_world_add_material(b->world, &def, &b->material[i]), m->json));
    }
    return TALUS_OK;
}

static TalusStatus find_material(const Builder *b, const TalusJson *json, const char *name,
                                 int *index)
{
    int own;
    TALUS_TRY(talus_scene_material(b->scene, json, name, &own));
    *index = own < 0 ? 0 : b->material[own];
    return TALUS_OK;
}

/* What a pair leaves out stays with the materials and the scene. */
static TalusStatus pair_def(const TalusScene *scene, const ScenePair *pair, TalusPairDef *def)
{
    *def = talus_pair_def_default();
    const struct {
        const char *key;
        double value, *field;
    } fields[] = {{"mu", pair->mu, &def->friction},
                  {"restitution", pair->restitution, &def->restitution},
                  {"spinning", pair->spinning, &def->spinning},
                  {"rolling", pair->rolling, &def->rolling},
                  {"cohesion", pair->cohesion, &def->cohesion}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (talus_json_get(pair->json, fields[i].key))
            *fields[i].field = fields[i].value;
    def->own_model = talus_json_get(pair->json, "law") || pair->section;
    return talus_scene_pair_model(scene, pair, &def->model);
}

static TalusStatus add_pairs(Builder *b)
{
    const ScenePair *pairs = (const ScenePair *)b->scene->friction.items;
    for (int i = 0; i < b->scene->friction.count; i++) {
        const char *const *names = (const char *const *)pairs[i].between.items;
        TalusPairDef def;
        int first, second;
        TALUS_TRY(find_material(b, pairs[i].json, names[0], &first));
        TALUS_TRY(find_material(b, pairs[i].json, names[1], &second));
        TALUS_TRY(pair_def(b->scene, &pairs[i], &def));
        TALUS_TRY(at(talus_world_set_pair(b->world, first, second, &def), pairs[i].json));
    }
    return TALUS_OK;
}

/* ---- bodies ---- */

static TalusStatus add_shape(Builder *b, const SceneBody *body, const SceneShape *shape, int *index)
{
    int *known =
        body->shape->name ? &b->shape[shape - (const SceneShape *)b->scene->shapes.items] : NULL;
    if (known && *known) {
        *index = *known - 1;
        return TALUS_OK;
    }
    double min, max;
    talus_scene_sizes(body->radius, shape, &min, &max);
    TalusShapeDef def = {.kind = (TalusShapeKind)shape->kind,
                         .half = vec3(shape->half),
                         .radius = shape->kind == TALUS_SHAPE_SPHERE ? max : shape->radius,
                         .half_height = shape->half_height,
                         .profile = (const double *)shape->profile.items,
                         .point_count = shape->profile.count};
    TALUS_TRY(at(talus_world_add_shape(b->world, &def, index), body->shape->json));
    if (known)
        *known = *index + 1;
    return TALUS_OK;
}

static bool is_turned(const SceneBody *body)
{
    return body->orientation || talus_json_get(body->json, "normal");
}

static TalusQuat body_orientation(const SceneBody *body)
{
    const SceneOrientation *o = body->orientation;
    if (!o)
        return talus_quat_to(vec3(body->normal));
    if (talus_json_get(o->json, "axis"))
        return talus_quat_turn(vec3(o->axis), o->degrees / 360.0);
    TalusQuat q = {o->quaternion[0], o->quaternion[1], o->quaternion[2], o->quaternion[3]};
    return talus_quat_normalize(q);
}

/* `count` copies of one value; NULL where the world's default will do. */
static TalusStatus repeat_vector(const double *value, int count, TalusVec3 **out)
{
    if (value[0] == 0.0 && value[1] == 0.0 && value[2] == 0.0)
        return TALUS_OK;
    TALUS_TRY(TALUS_ALLOC(*out, (size_t)count, "bodies of a scene"));
    for (int i = 0; i < count; i++)
        (*out)[i] = vec3(value);
    return TALUS_OK;
}

static TalusStatus repeat_orientation(const SceneBody *body, int count, TalusQuat **out)
{
    if (!is_turned(body))
        return TALUS_OK;
    TALUS_TRY(TALUS_ALLOC(*out, (size_t)count, "bodies of a scene"));
    for (int i = 0; i < count; i++)
        (*out)[i] = body_orientation(body);
    return TALUS_OK;
}

static TalusStatus add_batch(Builder *b, const SceneBody *body, const TalusBodyBatch *batch,
                             int entry)
{
    if (body->time > 0.0)
        return at(talus_world_add_bodies_at(b->world, body->time, batch), body->json);
    TalusBodyId *ids = batch->count == 1 ? &b->id[entry] : NULL;
    return at(talus_world_add_bodies(b->world, batch, ids), body->json);
}

static TalusStatus fill_batch(const Builder *b, const SceneBody *body, const SceneShape *shape,
                              const ScenePlaces *places, TalusBodyBatch *batch)
{
    *batch = talus_body_batch_default();
    batch->count = places->count;
    batch->position = places->position;
    batch->radius = places->radius;
    batch->fixed =
        body->fixed || shape->kind == TALUS_SHAPE_PLANE || shape->kind == TALUS_SHAPE_REVOLVE;
    batch->density = body->density;
    batch->mass = body->mass;
    batch->tag = (int)body->tag;
    return find_material(b, body->json, body->material, &batch->material);
}

static TalusStatus add_entry(Builder *b, int entry)
{
    const SceneBody *body = (const SceneBody *)b->scene->bodies.items + entry;
    const SceneShape *shape;
    ScenePlaces places;
    TalusBodyBatch batch;
    TalusVec3 *velocity = NULL, *spin = NULL;
    TalusQuat *orientation = NULL;
    TALUS_TRY(talus_scene_shape(b->scene, body, &shape));
    TALUS_TRY(talus_scene_place(b->scene, body, shape, &places));
    TalusStatus status = fill_batch(b, body, shape, &places, &batch);
    if (status == TALUS_OK)
        status = add_shape(b, body, shape, &batch.shape);
    if (status == TALUS_OK)
        status = repeat_vector(body->velocity, places.count, &velocity);
    if (status == TALUS_OK)
        status = repeat_vector(body->spin, places.count, &spin);
    if (status == TALUS_OK)
        status = repeat_orientation(body, places.count, &orientation);
    batch.velocity = velocity;
    batch.spin = spin;
    batch.orientation = orientation;
    b->count[entry] = places.count;
    if (status == TALUS_OK)
        status = add_batch(b, body, &batch, entry);
    talus_release(velocity);
    talus_release(spin);
    talus_release(orientation);
    talus_scene_places_clear(&places);
    return status;
}

/* ---- the rest ---- */

static TalusStatus add_emitter(Builder *b, const SceneEmitter *e)
{
    TalusEmitterDef def = talus_emitter_def_default();
    def.lo = vec3(e->lo);
    def.hi = vec3(e->hi);
    def.rate = e->rate;
    def.start = e->start;
    def.count = e->count;
    talus_scene_sizes(e->radius, NULL, &def.radius_min, &def.radius_max);
    def.velocity = vec3(e->velocity);
    def.density = e->density;
    def.seed = (uint64_t)e->seed;
    def.tag = (int)e->tag;
    TALUS_TRY(find_material(b, e->json, e->material, &def.material));
    return at(talus_world_add_emitter(b->world, &def), e->json);
}

static TalusStatus add_probe(Builder *b, const SceneProbe *probe)
{
    const SceneBody *bodies = (const SceneBody *)b->scene->bodies.items;
    TalusProbeDef def = {.name = probe->name, .kind = TALUS_PROBE_REGION};
    if (probe->region) {
        def.lo = vec3(probe->region->lo);
        def.hi = vec3(probe->region->hi);
    } else {
        int entry = 0; /* the check has found it */
        while (!bodies[entry].name || strcmp(bodies[entry].name, probe->body) != 0)
            entry++;
        if (b->count[entry] != 1)
            return talus_json_fail(talus_json_get(probe->json, "body"), 0,
                                   "bodies[%d] has %d bodies, expected one", entry,
                                   b->count[entry]);
        def.kind = TALUS_PROBE_BODY;
        def.body = b->id[entry];
    }
    int index;
    return at(talus_world_add_probe(b->world, &def, &index), probe->json);
}

static TalusStatus build(Builder *b, const TalusSceneChoice *choice)
{
    const TalusScene *s = b->scene;
    TALUS_TRY(TALUS_ALLOC(b->material, (size_t)s->materials.count, "scene"));
    TALUS_TRY(TALUS_ALLOC(b->shape, (size_t)s->shapes.count, "scene"));
    TALUS_TRY(TALUS_ALLOC(b->id, (size_t)s->bodies.count, "scene"));
    TALUS_TRY(TALUS_ALLOC(b->count, (size_t)s->bodies.count, "scene"));
    TALUS_TRY(create_world(b, choice));
    TALUS_TRY(add_materials(b));
    TALUS_TRY(add_pairs(b));
    for (int i = 0; i < s->bodies.count; i++)
        TALUS_TRY(add_entry(b, i));
    for (int i = 0; i < s->emitters.count; i++)
        TALUS_TRY(add_emitter(b, (const SceneEmitter *)s->emitters.items + i));
    for (int i = 0; i < s->sinks.count; i++) {
        const SceneSink *sink = (const SceneSink *)s->sinks.items + i;
        TALUS_TRY(at(talus_world_add_sink(b->world, sink->axis, sink->below), sink->json));
    }
    for (int i = 0; i < s->probes.count; i++)
        TALUS_TRY(add_probe(b, (const SceneProbe *)s->probes.items + i));
    return TALUS_OK;
}

TalusStatus talus_scene_build(const TalusScene *scene, const TalusSceneChoice *choice,
                              TalusWorld **out)
{
    Builder b = {.scene = scene};
    TalusStatus status = build(&b, choice);
    if (status != TALUS_OK) {
        talus_world_destroy(b.world);
        b.world = NULL;
    }
    *out = b.world;
    talus_release(b.material);
    talus_release(b.shape);
    talus_release(b.id);
    talus_release(b.count);
    return status;
}

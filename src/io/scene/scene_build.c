/* io/scene/scene_build.c - construction of a world from a scene.
 *
 * Bodies are made piece by piece. On several ranks all of them read the scene; each makes the bodies that it owns or, of an
 * entry with several forms, all, of which it keeps its own. What may fail on one rank alone, such as memory or a file, is followed by talus_comm_agree before the ranks
 * next exchange. */
#include "io/scene/scene_avoid.h"
#include "io/scene/scene_copies.h"
#include "io/scene/scene_drive.h"
#include "io/scene/scene_emitter.h"
#include "io/scene/scene_entries.h"
#include "io/scene/scene_field.h"
#include "io/scene/scene_from.h"
#include "io/scene/scene_servo.h"
#include "io/scene/scene_start.h"

#include "backend/backend.h"
#include "base/memory.h"
#include "base/rng.h"
#include "geometry/bounds.h"
#include "world/state.h"

/* MOST_MATERIALS: largest number of materials in a world of copies, as the laws of all pairs are tabulated. PIECE_BODIES:
 * largest number of bodies that are made at once, before the world has them. */
enum { MOST_MATERIALS = 1000, PIECE_BODIES = 64 * BODY_GRAIN };

/* A world under construction, and where the parts of the scene are in it. */
typedef struct Builder {
    const TalusScene *scene; /* the copy that is being added */
    TalusComm *comm;         /* NULL: one rank */
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
        /* [copies entries + 1]: bodies created before those of an entry; its first delayed batch */
        uint64_t *created;
        int *pending;
    } all; /* arrays of all copies, one after the other */
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

/* Returns the cell of a scene that has one. */
static TalusCellDef make_cell(const SceneCell *c)
{
    const SceneCellRate *rate = c->rate;
    const SceneCellPressure *p = c->pressure;
    TalusCellDef def = {.on = true};
    if (rate)
        def.rate = (TalusGradient){rate->xx, rate->yy, rate->zz, rate->xy};
    for (int k = 0; p && k < 3; k++) {
        def.control[k] = talus_json_get(p->json, (const char *const[]){"x", "y", "z"}[k]) != NULL;
        def.pressure[k] = (const double[]){p->x, p->y, p->z}[k];
    }
    return def;
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
        if (s->cell && strcmp(talus_error_record()->key, "cell") == 0)
            value = s->cell->json;
        chosen = c->backend && status == TALUS_ERR_UNSUPPORTED;
        if (strcmp(talus_error_record()->key, "impacts") == 0)
            value = talus_json_get(s->json, "impacts");
    }
    return chosen ? status : talus_json_error_at(value ? value : s->solver->json, status);
}

/* Creates the world from the scene and the caller's choice of backend, threads and solver: without content, or with the
 * bodies of an earlier run. */
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
    def.comm = b->comm;
    if (s->period)
        def.period = make_period(s->period);
    if (s->cell)
        def.cell = make_cell(s->cell);
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
    if (s->from)
        return talus_scene_load_from(s, &def, &b->world);
    return locate_error(s, choice, talus_world_create(&def, &b->world));
}

static TalusStatus add_materials(Builder *b)
{
    const SceneMaterial *materials = (const SceneMaterial *)b->scene->materials.items;
    for (int i = 0; i < b->scene->materials.count; i++) {
        const SceneMaterial *m = &materials[i];
        TalusMaterialDef def = m->def;
        def.name = m->json->key;
        TALUS_TRY(talus_json_error_at(
            m->json, b->scene->from ? talus_scene_put_material(b->world, &def, &b->material[i])
                                    : talus_world_add_material(b->world, &def, &b->material[i])));
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
    int *kind;         /* [extents.count]: number of the form's shape among those of the entry */
    TalusVec3 *centre; /* [extents.count]: centre of mass relative to ScenePiece.position */
    SceneForms extents;
} Forms;

static void free_forms(Forms *forms)
{
    for (int i = 0; forms->extents.sizes && i < forms->extents.count; i++)
        talus_size_curve_clear(&forms->extents.sizes[i]);
    TALUS_RELEASE(forms->shape, forms->kind, forms->centre, forms->extents.bound,
                  forms->extents.sizes, forms->extents.below);
}

/* Returns the radii that an entry gives for its k-th shape; NULL: none. */
static const SceneSize *get_radii(const SceneBody *body, int k)
{
    return body->species.count > 0 ? ((const SceneSpecies *)body->species.items)[k].radius
                                   : body->radius;
}

/* Returns the largest size of a curve; 0 of an empty one. */
static double largest_size(const TalusSizeCurve *curve)
{
    return curve->classes > 0 ? curve->edge[curve->classes] : 0.0;
}

/* Adds a shape of an entry to the world, a named one without inertia of its own only once; *first is the index of its first
 * form. `radius` is that of a sphere, the largest. */
static TalusStatus add_shape_once(Builder *b, const SceneBody *body, const SceneShape *shape,
                                  double radius, int *first)
{
    const SceneShape *named = (const SceneShape *)b->scene->shapes.items;
    int *known = NULL;
    for (int i = 0; i < b->scene->shapes.count && body->inertia.count == 0; i++)
        known = shape == &named[i] ? &b->shape[i] : known;
    if (known && *known) {
        *first = *known - 1;
        return TALUS_OK;
    }
    TALUS_TRY(talus_scene_add_shape(b->scene, shape, radius, talus_scene_gyration(body), b->world,
                                    first));
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

/* Enlarges the extents of forms by a sphere of this radius, the bound of form k. */
static void add_sphere_extents(SceneForms *extents, int k, double radius)
{
    extents->bound[k] = radius;
    extents->across = fmax(extents->across, radius);
    extents->half = talus_vec3(fmax(extents->half.x, radius), fmax(extents->half.y, radius),
                               fmax(extents->half.z, radius));
}

/* Appends shape `index` of the world, the k-th of the entry, to the forms and enlarges their extents; the curve of its
 * sizes is set. by_origin: bodies are placed by the origin of the shape, not by its centre of mass. */
static void append_form(Builder *b, Forms *f, int k, int index, bool by_origin)
{
    const TalusShape *shape = &b->world->shape[index];
    SceneForms *extents = &f->extents;
    f->shape[extents->count] = index;
    f->kind[extents->count] = k;
    f->centre[extents->count] = by_origin ? shape->centre : talus_vec3(0, 0, 0);
    if (extents->sizes[extents->count].classes > 0) {
        add_sphere_extents(extents, extents->count, largest_size(&extents->sizes[extents->count]));
    } else if (!talus_shape_has(shape->def.kind, TALUS_TRAIT_WALL)) {
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

/* Adds the k-th shape of an entry to the world and appends its forms to *f. Spheres have sizes of their own, but of
 * several `shapes` that of the shape. */
static TalusStatus add_shape_forms(Builder *b, const SceneBody *body, int k, Forms *f)
{
    const SceneShape *shape;
    const bool placed = body->at.count > 0 || body->file;
    TalusSizeCurve *sizes = &f->extents.sizes[f->extents.count];
    int first;
    TALUS_TRY(talus_scene_entry_shape(b->scene, body, k, &shape));
    if (shape->kind == TALUS_SHAPE_SPHERE && body->shapes.count <= 1)
        TALUS_TRY(talus_scene_make_sizes(get_radii(body, k), shape, sizes));
    double radius = sizes->classes > 0 ? largest_size(sizes) : shape->def.radius;
    TalusStatus status = add_shape_once(b, body, shape, radius, &first);
    if (status != TALUS_OK)
        talus_size_curve_clear(sizes); /* of a form that is not counted */
    for (int i = 0; status == TALUS_OK && i < talus_scene_form_count(shape); i++)
        append_form(b, f, k, first + i, placed && shape->kind != SCENE_ROCK);
    return status;
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
    TALUS_TRY(TALUS_ALLOC(f->kind, capacity, "scene"));
    TALUS_TRY(TALUS_ALLOC(f->centre, capacity, "scene"));
    TALUS_TRY(TALUS_ALLOC(f->extents.bound, capacity, "scene"));
    TALUS_TRY(TALUS_ALLOC(f->extents.sizes, capacity, "scene"));
    for (int k = 0; k < talus_scene_entry_shape_count(body); k++)
        TALUS_TRY(add_shape_forms(b, body, k, f));
    return TALUS_OK;
}

/* Points the batch to a form: its shape and, of a species, material, density and tag where it gives them. */
static TalusStatus set_form(const Builder *b, const SceneBody *body, const Forms *forms, int form,
                            TalusBodyBatch *batch)
{
    batch->shape = forms->shape[form];
    if (body->species.count == 0)
        return TALUS_OK;
    const SceneSpecies *s = (const SceneSpecies *)body->species.items + forms->kind[form];
    const char *material = s->material ? s->material : body->material;
    batch->density = s->density > 0.0 ? s->density : body->density;
    batch->tag = talus_json_get(s->json, "tag") ? s->tag : (int)body->tag;
    return find_world_material(b, s->json, material, &batch->material);
}

/* Returns the mean mass of bodies of the form that the batch points to. */
static double mean_form_mass(const Builder *b, const Forms *forms, int form,
                             const TalusBodyBatch *batch)
{
    const TalusSizeCurve *sizes = &forms->extents.sizes[form];
    double volume = b->world->shape[batch->shape].unit.mass;
    if (sizes->classes > 0)
        volume = 4.0 / 3.0 * 3.14159265358979323846 * talus_size_curve_range(sizes).mean_cube;
    return batch->mass > 0.0 ? batch->mass : volume * talus_batch_density(b->world, batch);
}

/* Sets below[] of forms by the shares of their species; the forms of one species are alike. mass, share, number: memory
 * for each species. */
static TalusStatus share_forms_by(const Builder *b, const SceneBody *body, Forms *forms,
                                  TalusBodyBatch *batch, double *mass, double *share, int *number)
{
    double below = 0.0;
    for (int i = 0; i < forms->extents.count; i++)
        number[forms->kind[i]]++;
    for (int i = 0; i < forms->extents.count; i++) {
        TALUS_TRY(set_form(b, body, forms, i, batch));
        mass[forms->kind[i]] += mean_form_mass(b, forms, i, batch) / number[forms->kind[i]];
    }
    TALUS_TRY(talus_scene_species_shares(&body->species, body->by, mass, share));
    for (int i = 0; i < forms->extents.count; i++) {
        below += share[forms->kind[i]] / number[forms->kind[i]];
        forms->extents.below[i] = below;
    }
    return TALUS_OK;
}

/* Sets the shares of forms in the bodies of an entry, if it has species. */
static TalusStatus share_forms(const Builder *b, const SceneBody *body, TalusBodyBatch *batch,
                               Forms *forms)
{
    const size_t species = (size_t)body->species.count;
    double *numbers;
    int *number;
    if (species == 0)
        return TALUS_OK;
    TALUS_TRY(TALUS_ALLOC(forms->extents.below, (size_t)forms->extents.count, "scene"));
    TALUS_TRY(TALUS_ALLOC(numbers, 2 * species, "scene"));
    TalusStatus status = TALUS_ALLOC(number, species, "scene");
    TALUS_THEN(status, share_forms_by(b, body, forms, batch, numbers, numbers + species, number));
    TALUS_RELEASE(numbers, number);
    return status;
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

/* Gives a body the prescribed motions of its entry. */
static TalusStatus drive_body(Builder *b, const SceneBody *body, TalusBodyId id)
{
    const SceneDrive *drives = body->drive ? body->drive : (const SceneDrive *)body->drives.items;
    const int motions = body->drive ? 1 : body->drives.count;
    for (int k = 0; k < motions; k++)
        TALUS_TRY(talus_json_error_at(drives[k].json,
                                      talus_scene_add_drive(&drives[k], id, b->shift, b->world)));
    return TALUS_OK;
}

/* Gives the last `count` bodies the prescribed motions of their entry. */
static TalusStatus drive_bodies(Builder *b, const SceneBody *body, int count)
{
    const uint64_t before = b->world->bodies.counts.created - (uint64_t)count;
    for (int i = 0; i < count; i++)
        TALUS_TRY(drive_body(b, body, (TalusBodyId){before + 1 + (uint64_t)i}));
    return TALUS_OK;
}

/* Sets what all bodies of an entry have in common. */
static TalusStatus fill_batch(const Builder *b, const SceneBody *body, const SceneShape *shape,
                              TalusBodyBatch *batch)
{
    *batch = talus_body_batch_default();
    batch->fixed = body->fixed || talus_scene_is_driven(body) || talus_scene_is_wall(shape);
    batch->density = body->density;
    batch->mass = body->mass;
    batch->tag = (int)body->tag;
    batch->copy = b->copy;
    batch->force = scene_vec3(body->force);
    batch->torque = scene_vec3(body->torque);
    TALUS_TRY(talus_scene_find_group(b->scene, body->json, body->group, &batch->group));
    return find_world_material(b, body->json, body->material, &batch->material);
}

/* The bodies of one entry, made piece by piece. */
typedef struct EntryBodies {
    const SceneBody *body;
    const Forms *forms;
    int entry;
    ScenePlaces places;
    int room;                   /* bodies of a piece at most */
    TalusVec3 *velocity, *spin; /* [room]: the same for all bodies; NULL: 0, the world's default */
    /* The present piece: */
    int next, count; /* number of its first body; number of its bodies */
    ScenePiece piece;
    TalusQuat *orientation; /* [room]; NULL: the world's default */
    TalusRng turns;         /* of random orientations */
    /* Those of its bodies that have one form, if there are several forms: */
    TalusVec3 *form_position;
    TalusQuat *form_orientation;
    double *form_radius;
} EntryBodies;

static void free_entry_bodies(EntryBodies *g)
{
    TALUS_RELEASE(g->velocity, g->spin, g->orientation, g->form_position, g->form_orientation,
                  g->form_radius);
    talus_scene_piece_clear(&g->piece);
    talus_scene_places_clear(&g->places);
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

/* Allocates the arrays of a piece. A delayed batch, which the world stores as a whole, is one piece. */
static TalusStatus allocate_piece(EntryBodies *g)
{
    const int all = g->places.count;
    g->room = all < PIECE_BODIES || g->body->time > 0.0 ? all : PIECE_BODIES;
    const size_t room = (size_t)g->room;
    TALUS_TRY(talus_scene_allocate_piece(&g->places, g->room, &g->piece));
    TALUS_TRY(copy_vector_to_all(g->body->velocity, g->room, &g->velocity));
    TALUS_TRY(copy_vector_to_all(g->body->spin, g->room, &g->spin));
    if (has_orientation(g->body))
        TALUS_TRY(TALUS_ALLOC(g->orientation, room, "bodies of a scene"));
    if (!g->piece.form)
        return TALUS_OK;
    TALUS_TRY(TALUS_ALLOC(g->form_position, room, "bodies of a scene"));
    if (g->piece.radius)
        TALUS_TRY(TALUS_ALLOC(g->form_radius, room, "bodies of a scene"));
    return g->orientation ? TALUS_ALLOC(g->form_orientation, room, "bodies of a scene") : TALUS_OK;
}

/* Starts with the first piece again. */
static void rewind_pieces(EntryBodies *g)
{
    g->next = 0;
    g->turns = talus_rng_from_seed(g->places.seed ^ UINT64_C(0x7475726e73));
}

/* Makes the orientations of the piece, if the entry gives any. */
static void make_orientations(EntryBodies *g)
{
    const SceneBody *body = g->body;
    if (!g->orientation)
        return;
    for (int i = 0; i < g->count; i++)
        g->orientation[i] =
            !body->orientation
                ? talus_quat_from_z(talus_scene_scale_direction(scene_vec3(body->normal)))
            : body->orientation->random ? random_rotation(&g->turns)
                                        : talus_scene_make_rotation(body->orientation);
}

/* Converts positions of the shapes' origins to positions of the centres of mass, which the world needs: adds
 * Forms.centre, rotated with the body. Generated positions stay, since their Forms.centre is 0. */
static void move_positions_to_centres(EntryBodies *g)
{
    for (int i = 0; i < g->count; i++) {
        TalusVec3 centre = g->forms->centre[g->piece.form ? g->piece.form[i] : 0];
        if (talus_norm(centre) == 0.0) /* adding 0 would turn -0.0 into 0.0 */
            continue;
        if (g->orientation)
            centre = talus_rotate(g->orientation[i], centre);
        g->piece.position[i] = talus_add(g->piece.position[i], centre);
    }
}

/* Makes the piece of g->count bodies from g->next on. */
static void make_piece(const Builder *b, EntryBodies *g)
{
    talus_scene_get_piece(&g->places, g->next, g->count, &g->piece);
    make_orientations(g);
    move_positions_to_centres(g);
    for (int i = 0; b->copy > 0 && i < g->count; i++)
        g->piece.position[i] = talus_add(g->piece.position[i], b->shift);
}

/* Passes over g->count bodies from g->next on, which other ranks make. Their random orientations are drawn, as they take
 * more or fewer numbers. */
static void skip_piece(Builder *b, EntryBodies *g, TalusPieces *pieces)
{
    const SceneOrientation *o = g->body->orientation;
    for (int i = 0; o && o->random && i < g->count; i++)
        (void)random_rotation(&g->turns);
    talus_world_pass_over(b->world, g->count, pieces);
}

/* Points the batch to the bodies of the piece that have this form. */
static void select_form(EntryBodies *g, int form, TalusBodyBatch *batch)
{
    batch->velocity = g->velocity; /* the same for all bodies */
    batch->spin = g->spin;
    batch->count = g->count;
    batch->position = g->piece.position;
    batch->orientation = g->orientation;
    batch->radius = g->piece.radius;
    if (!g->piece.form)
        return;
    batch->count = 0;
    batch->position = g->form_position;
    batch->orientation = g->form_orientation;
    batch->radius = g->forms->extents.sizes[form].classes > 0 ? g->form_radius : NULL;
    for (int i = 0; i < g->count; i++) {
        if (g->piece.form[i] != form)
            continue;
        g->form_position[batch->count] = g->piece.position[i];
        if (g->orientation)
            g->form_orientation[batch->count] = g->orientation[i];
        if (batch->radius)
            g->form_radius[batch->count] = g->piece.radius[i];
        batch->count++;
    }
}

/* Adds the bodies of the present piece that have this form to the world: as a delayed batch if the entry has a `time`. */
static TalusStatus add_piece(Builder *b, EntryBodies *g, int form, TalusBodyBatch *batch,
                             TalusPieces *pieces)
{
    const TalusJson *json = g->body->json;
    make_piece(b, g);
    select_form(g, form, batch);
    if (batch->count == 0)
        return TALUS_OK;
    return talus_json_error_at(json, g->body->time > 0.0
                                         ? talus_world_add_bodies_at(b->world, g->body->time, batch)
                                         : talus_world_add_piece(b->world, batch, pieces));
}

/* Adds the bodies of an entry that have one of its forms. For each form all pieces are made anew: bodies are numbered form
 * by form, and to keep those of other forms would take an array of all. If there is one form alone, a body's number is known
 * before it is made, and a rank makes its own bodies only. */
static TalusStatus add_form_bodies(Builder *b, EntryBodies *g, int form, TalusBodyBatch *batch,
                                   TalusPieces *pieces)
{
    const bool numbered = !g->piece.form && !(g->body->time > 0.0);
    bool own = true;
    TALUS_TRY(set_form(b, g->body, g->forms, form, batch));
    rewind_pieces(g);
    for (; g->next < g->places.count; g->next += g->count) {
        const int left = g->places.count - g->next;
        g->count = left < g->room ? left : g->room;
        if (numbered)
            g->count = talus_world_count_next(b->world, g->count, &own);
        if (own)
            TALUS_TRY(add_piece(b, g, form, batch, pieces));
        else
            skip_piece(b, g, pieces);
    }
    return TALUS_OK;
}

/* Adds the bodies of an entry, form by form. If they are not delayed, also gives them the drive of the entry, and sets
 * b->id[entry] if there is one body. */
static TalusStatus add_entry_bodies(Builder *b, EntryBodies *g, TalusBodyBatch *batch)
{
    for (int form = 0; form < g->forms->extents.count; form++) {
        TalusPieces pieces = {0};
        TALUS_TRY(talus_comm_agree(b->comm, add_form_bodies(b, g, form, batch, &pieces)));
        talus_exchange_book(b->world, &pieces.exchange);
    }
    if (g->body->time > 0.0)
        return TALUS_OK;
    if (g->places.count == 1)
        b->id[g->entry] = (TalusBodyId){b->world->bodies.counts.created};
    return talus_scene_is_driven(g->body) ? drive_bodies(b, g->body, g->places.count) : TALUS_OK;
}

/* Makes the forms and places of an entry. */
static TalusStatus prepare_entry(Builder *b, Forms *forms, EntryBodies *g, TalusBodyBatch *batch)
{
    const SceneShape *shape;
    TALUS_TRY(talus_scene_entry_shape(b->scene, g->body, 0, &shape));
    TALUS_TRY(fill_batch(b, g->body, shape, batch));
    TALUS_TRY(add_forms(b, g->body, forms));
    TALUS_TRY(share_forms(b, g->body, batch, forms));
    return talus_scene_place_bodies(b->scene, g->body, shape, &forms->extents, &g->places);
}

/* Makes memory for the bodies of an entry. */
static TalusStatus reserve_entry(Builder *b, Forms *forms, EntryBodies *g, TalusBodyBatch *batch)
{
    TALUS_TRY(allocate_piece(g));
    TALUS_TRY(set_form(b, g->body, forms, 0, batch));
    if (g->body->time > 0.0)
        return TALUS_OK;
    return talus_json_error_at(g->body->json,
                               talus_world_begin_pieces(b->world, batch, g->places.count));
}

/* Gives bodies of the earlier run the name, group and motions of an entry; sets b->count[entry]. */
static TalusStatus adopt_entry(Builder *b, int entry)
{
    const SceneBody *body = (const SceneBody *)b->scene->bodies.items + entry;
    TalusBodyId *ids = NULL;
    int group;
    TALUS_TRY(talus_scene_find_group(b->scene, body->json, body->group, &group));
    TalusStatus status =
        talus_scene_adopt_bodies(body, group, b->all.created[0], b->world, &ids, &b->count[entry]);
    for (int k = 0; status == TALUS_OK && k < b->count[entry]; k++)
        status = drive_body(b, body, ids[k]);
    if (status == TALUS_OK && b->count[entry] == 1)
        b->id[entry] = ids[0];
    talus_release(ids);
    return status;
}

/* Adds the shapes and bodies of an entry of `bodies`; sets b->count[entry]. */
static TalusStatus add_entry(Builder *b, int entry)
{
    TalusBodyBatch batch;
    Forms forms = {0};
    EntryBodies g = {
        .body = (const SceneBody *)b->scene->bodies.items + entry, .forms = &forms, .entry = entry};
    TalusStatus status = talus_comm_agree(b->comm, prepare_entry(b, &forms, &g, &batch));
    if (g.body->avoid)
        TALUS_THEN(status, talus_scene_avoid_bodies(b->world, b->copy, b->shift, &g.places));
    if (status == TALUS_OK)
        status = talus_comm_agree(b->comm, reserve_entry(b, &forms, &g, &batch));
    b->count[entry] = g.places.count;
    TALUS_THEN(status, add_entry_bodies(b, &g, &batch));
    free_entry_bodies(&g);
    free_forms(&forms);
    return status;
}

/* ---- the rest ---- */

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

/* Adds a probe of a region, a plane, or the one body of an entry. */
static TalusStatus add_probe(Builder *b, const char *suffix, const SceneProbe *probe)
{
    TalusProbeDef def = {.kind = TALUS_PROBE_REGION, .copy = b->copy};
    if (probe->region) {
        def.lo = talus_add(scene_vec3(probe->region->lo), b->shift);
        def.hi = talus_add(scene_vec3(probe->region->hi), b->shift);
    } else if (probe->plane) {
        def.kind = TALUS_PROBE_PLANE;
        def.at = talus_add(scene_vec3(probe->plane->at), b->shift);
        def.normal = scene_vec3(probe->plane->normal);
        def.half = scene_vec3(probe->plane->half);
        def.radius = probe->plane->radius;
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
    TALUS_TRY(talus_comm_agree(b->comm, talus_scene_join_texts(probe->name, suffix, &name)));
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
    TALUS_TRY(TALUS_ALLOC(b->all.created, entries + 1, "scene"));
    return TALUS_ALLOC(b->all.pending, entries + 1, "scene");
}

/* Sets *width to the extent along each axis of the bodies in the world, delayed ones included; planes count with their
 * points, so that four walls and what is between them have the extent of the box. */
static TalusStatus find_extent(const TalusWorld *world, TalusVec3 *width)
{
    TalusSurvey survey;
    TALUS_TRY(talus_world_survey(world, &survey));
    TalusAabb box = talus_aabb_join(survey.moving_bounds, survey.fixed_bounds);
    box = talus_aabb_join(box, survey.centres);
    TalusVec3 d = talus_sub(box.hi, box.lo);
    *width = talus_vec3(fmax(d.x, 0.0), fmax(d.y, 0.0), fmax(d.z, 0.0));
    return TALUS_OK;
}

/* Makes copy k of the scene the one that is being added. Tables that an earlier copy has as well are shared with it. */
static TalusStatus begin_copy(Builder *b, const TalusScene *scene, int k)
{
    int shapes = talus_scene_copy_of_shapes(scene, k);
    int materials = talus_scene_copy_of_materials(scene, k);
    b->scene = talus_scene_copy(scene, k);
    b->copy = k;
    if (k == 1)
        TALUS_TRY(find_extent(b->world, &b->width));
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
    TalusStatus status = add_materials(b);
    TALUS_THEN(status, add_pairs(b));
    return talus_comm_agree(b->comm, status);
}

/* Adds bodies, joints, emitters and probes of the copy that is being added. */
static TalusStatus add_copy(Builder *b, const TalusScene *scene)
{
    const TalusScene *s = b->scene;
    for (int i = 0, entry = b->copy * s->bodies.count; i < s->bodies.count; i++, entry++) {
        const SceneBody *body = (const SceneBody *)s->bodies.items + i;
        TALUS_TRY(talus_scene_is_earlier(body) ? adopt_entry(b, i) : add_entry(b, i));
        b->all.created[entry + 1] = b->world->bodies.counts.created;
        b->all.pending[entry + 1] = b->world->sources.pendings;
    }
    char suffix[TALUS_SCENE_SUFFIX_BYTES];
    talus_scene_copy_suffix(scene, b->copy, suffix);
    SceneJointPlace place = {s, suffix, b->shift, b->id, b->count};
    SceneEmitterPlace emitters = {s, b->material, b->comm, b->copy, b->shift};
    TALUS_TRY(talus_scene_add_joints(&place, b->world));
    TALUS_TRY(talus_scene_add_servos(&place, b->world));
    for (int i = 0; i < s->emitters.count; i++)
        TALUS_TRY(talus_scene_add_emitter(&emitters, (const SceneEmitter *)s->emitters.items + i,
                                          b->world));
    for (int i = 0; i < s->probes.count; i++)
        if (!talus_scene_measures((const SceneProbe *)s->probes.items + i))
            TALUS_TRY(add_probe(b, suffix, (const SceneProbe *)s->probes.items + i));
    return TALUS_OK;
}

/* Makes the world and all in it, then checks its start (scene_start.c). Ranks deal the bodies in space first: those that a
 * rank has in blocks of numbers all over the world have neighbours almost everywhere. */
static TalusStatus build_world(Builder *b, const TalusScene *scene, const TalusSceneChoice *choice)
{
    b->scene = scene;
    TALUS_TRY(talus_comm_agree(b->comm, allocate_arrays(b, scene)));
    TALUS_TRY(talus_comm_agree(b->comm, create_world(b, choice)));
    b->all.created[0] = b->world->bodies.counts.created;
    for (int k = 0; k < talus_scene_copy_count(scene); k++) {
        TALUS_TRY(talus_scene_name_copy(k, begin_copy(b, scene, k)));
        TALUS_TRY(talus_scene_name_copy(k, add_copy(b, scene)));
    }
    for (int i = 0; i < scene->apart.count; i++)
        TALUS_TRY(disable_group_collisions(b, (const SceneApart *)scene->apart.items + i));
    for (int i = 0; i < scene->sinks.count; i++) {
        const SceneSink *sink = (const SceneSink *)scene->sinks.items + i;
        TALUS_TRY(talus_json_error_at(
            sink->json, talus_world_add_named_sink(b->world, sink->name, sink->axis, sink->below)));
    }
    TALUS_TRY(talus_ranks_balance(b->world));
    SceneStart start = {.scene = scene,
                        .world = b->world,
                        .created = b->all.created,
                        .pending = b->all.pending,
                        .count = b->all.count,
                        .allow_overlap = choice && choice->allow_overlap};
    TALUS_TRY(talus_scene_check_start(&start));
    if (!choice || !choice->entries)
        return TALUS_OK;
    return talus_comm_agree(b->comm,
                            talus_scene_list_entries(scene, b->all.created, choice->entries));
}

TalusStatus talus_scene_build(const TalusScene *scene, const TalusSceneChoice *choice,
                              TalusWorld **out)
{
    Builder b = {.comm = choice && talus_comm_size(choice->comm) > 1 ? choice->comm : NULL};
    TalusStatus status = build_world(&b, scene, choice);
    if (status != TALUS_OK) {
        talus_world_destroy(b.world);
        b.world = NULL;
    }
    *out = b.world;
    TALUS_RELEASE(b.all.material, b.all.shape, b.all.id, b.all.count, b.all.created, b.all.pending);
    return status;
}

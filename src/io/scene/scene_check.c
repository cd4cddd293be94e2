/* io/scene/scene_check.c - checks of a scene that the table of keys cannot express; friction models and groups. */
#include "io/scene/scene.h"
#include "io/scene/scene_field.h"
#include "io/scene/scene_servo.h"

#include "geometry/shape.h"
#include "geometry/traits.h"

#include <math.h>
#include <string.h>

/* Returns the name of the kind of a shape, for messages. */
static const char *kind_name(const SceneShape *shape)
{
    return shape->kind == SCENE_ROCK ? "rock" : talus_shape_name((TalusShapeKind)shape->kind);
}

static bool is_zero(const double *v, int n)
{
    for (int i = 0; i < n; i++)
        if (v[i] != 0.0)
            return false;
    return true;
}

/* Fails unless lo < hi along every axis, with a finite distance. */
static TalusStatus check_box(const TalusJson *json, const double *lo, const double *hi)
{
    for (int k = 0; k < 3; k++)
        if (!(lo[k] < hi[k]) || !isfinite(hi[k] - lo[k]))
            return talus_json_fail(talus_json_get_or_self(json, "hi"), 0,
                                   "%c: %g is not above %g, the same of 'lo'", "xyz"[k], hi[k],
                                   lo[k]);
    return TALUS_OK;
}

/* Fails if a profile has a negative radius or two equal points in succession. */
static TalusStatus check_profile(const SceneShape *shape)
{
    const TalusJson *json = talus_json_get(shape->json, "profile");
    const double *p = (const double *)shape->profile.items;
    for (const TalusJson *c = json ? json->first : NULL; c; c = c->next, p += 2) {
        if (p[0] < 0.0)
            return talus_json_fail(c, 0, "the radius %g is negative", p[0]);
        if (c->index > 0 && p[0] == p[-2] && p[1] == p[-1])
            return talus_json_fail(c, 0, "the same point as the one before");
    }
    return TALUS_OK;
}

/* Fails if the given quaternion or axis is zero, or `random` is given as false; o NULL: no orientation is given. */
static TalusStatus check_orientation(const SceneOrientation *o)
{
    if (o && !o->random && is_zero(o->quaternion, 4) && is_zero(o->axis, 3))
        return talus_json_fail(o->json, 0,
                               talus_json_get(o->json, "random")
                                   ? "no rotation: expected \"random\" to be true"
                                   : "the zero vector has no direction");
    return TALUS_OK;
}

static TalusStatus check_shape(const TalusScene *scene, const SceneShape *shape);

/* Checks a part of a compound: its shape must be convex and no rock, its orientation not random; a sphere must have a
 * radius. */
static TalusStatus check_part(const TalusScene *scene, const ScenePart *part)
{
    const SceneShape *shape;
    TALUS_TRY(talus_scene_resolve_shape(scene, part->shape, &shape));
    TALUS_TRY(check_orientation(part->orientation));
    if (talus_scene_size_varies(shape->scale))
        return talus_json_fail(part->shape->json, 0,
                               "a part has one size; a distribution is for the compound's `scale`");
    if (part->orientation && part->orientation->random)
        return talus_json_fail(part->orientation->json, 0, "for bodies only");
    if (shape->kind == SCENE_ROCK ||
        !talus_shape_has((TalusShapeKind)shape->kind, TALUS_TRAIT_CONVEX))
        return talus_json_fail(part->shape->json, 0, "a %s cannot be a part", kind_name(shape));
    if (shape->kind == TALUS_SHAPE_SPHERE && !(shape->def.radius > 0.0))
        return talus_json_fail(part->shape->json, 0,
                               "missing key 'radius': the size of the sphere");
    return part->shape->name ? TALUS_OK : check_shape(scene, shape);
}

/* Checks a shape that is defined here and, in a compound, its parts. */
static TalusStatus check_shape(const TalusScene *scene, const SceneShape *shape)
{
    const ScenePart *parts = (const ScenePart *)shape->parts.items;
    TALUS_TRY(check_profile(shape));
    if (shape->kind == TALUS_SHAPE_HULL && !shape->file && shape->points.count == 0)
        return talus_json_fail(shape->json, 0, "a hull needs the key 'points' or 'file'");
    if (shape->kind == TALUS_SHAPE_FIELD && !shape->file && shape->heights.count == 0)
        return talus_json_fail(shape->json, 0, "a field needs the key 'heights' or 'file'");
    TALUS_TRY(talus_scene_check_size(shape->scale));
    if (talus_scene_is_wall(shape) && talus_scene_size_varies(shape->scale))
        return talus_json_fail(shape->scale->json, 0, "a %s has one size, expected a number",
                               kind_name(shape));
    if (shape->spread >= 1.0)
        return talus_json_fail(talus_json_get_or_self(shape->json, "spread"), 0,
                               "expected less than 1: sizes must be positive");
    for (int k = 0; k < shape->parts.count; k++)
        TALUS_TRY(check_part(scene, &parts[k]));
    return TALUS_OK;
}

static TalusStatus check_shapes(const TalusScene *scene)
{
    const SceneShape *shapes = (const SceneShape *)scene->shapes.items;
    for (int i = 0; i < scene->shapes.count; i++) {
        if (shapes[i].name)
            return talus_json_fail(shapes[i].json, 0, "a named shape needs a 'kind' of its own");
        TALUS_TRY(check_shape(scene, &shapes[i]));
    }
    return TALUS_OK;
}

/* Sets the section of the model from its name, such as "disc"; section NULL: no change. Errors are located at the key
 * `section` of `json`. */
static TalusStatus read_section(const TalusJson *json, const char *section,
                                TalusFrictionModel *model)
{
    if (!section || talus_section_parse(section, model) == TALUS_OK)
        return TALUS_OK;
    return talus_json_error_at(talus_json_get_or_self(json, "section"), TALUS_ERR_FORMAT);
}

TalusStatus talus_scene_make_model(const TalusScene *scene, TalusFrictionModel *model)
{
    bool relaxed = scene->defaults == SCENE_RELAXED, given = talus_json_get(scene->json, "law");
    *model = (TalusFrictionModel){.law = given     ? (TalusFrictionLaw)scene->law
                                         : relaxed ? TALUS_LAW_CCP
                                                   : TALUS_LAW_COULOMB};
    return read_section(scene->json, scene->section, model);
}

TalusStatus talus_scene_make_pair_model(const TalusScene *scene, const ScenePair *pair,
                                        TalusFrictionModel *model)
{
    TALUS_TRY(talus_scene_make_model(scene, model));
    if (talus_json_get(pair->json, "law"))
        model->law = (TalusFrictionLaw)pair->law;
    return read_section(pair->json, pair->section, model);
}

/* Fails if an entry of `friction` before pairs[last] names the same two materials, in either order. */
static TalusStatus check_pair_unique(const ScenePair *pairs, int last)
{
    const char *const *names = (const char *const *)pairs[last].between.items;
    for (int i = 0; i < last; i++) {
        const char *const *others = (const char *const *)pairs[i].between.items;
        bool same = strcmp(names[0], others[0]) == 0 && strcmp(names[1], others[1]) == 0;
        bool turned = strcmp(names[0], others[1]) == 0 && strcmp(names[1], others[0]) == 0;
        if (same || turned)
            return talus_json_fail(talus_json_get(pairs[last].json, "between"), 0,
                                   "friction[%d] has this pair already", i);
    }
    return TALUS_OK;
}

/* Checks the friction models of the scene and of its pairs, and the materials that pairs name. */
static TalusStatus check_pairs(const TalusScene *scene)
{
    TalusFrictionModel model;
    TALUS_TRY(talus_scene_make_model(scene, &model));
    const ScenePair *pairs = (const ScenePair *)scene->friction.items;
    for (int i = 0; i < scene->friction.count; i++) {
        const char *const *names = (const char *const *)pairs[i].between.items;
        const TalusJson *json = talus_json_get(pairs[i].json, "between")->first;
        int index;
        for (int k = 0; k < 2; k++, json = json->next)
            TALUS_TRY(talus_scene_find_material(scene, json, names[k], &index));
        TALUS_TRY(talus_scene_make_pair_model(scene, &pairs[i], &model));
        TALUS_TRY(check_pair_unique(pairs, i));
    }
    return TALUS_OK;
}

/* ---- bodies ---- */

/* Fails if a wall is declared not fixed, or if an entry that is fixed, driven or a wall has a key that only moving
 * bodies have. */
static TalusStatus check_fixed_keys(const SceneBody *body, const SceneShape *shape)
{
    static const char *const moving[] = {"density", "mass",  "inertia", "velocity",
                                         "spin",    "force", "torque"};
    const TalusJson *given = talus_json_get(body->json, "fixed");
    if (talus_scene_is_wall(shape) && given && !body->fixed)
        return talus_json_fail(given, 0, "a %s is always fixed, expected true", kind_name(shape));
    if (!body->fixed && !talus_scene_is_driven(body) && !talus_scene_is_wall(shape))
        return TALUS_OK;
    for (size_t i = 0; i < sizeof moving / sizeof *moving; i++) {
        const TalusJson *key = talus_json_get(body->json, moving[i]);
        if (key)
            return talus_json_fail_key(key, "a fixed body has none");
    }
    return TALUS_OK;
}

/* Fails if an entry gives an inertia that no body has, or gives one to spheres or to bodies that are not all alike. */
static TalusStatus check_inertia(const SceneBody *body, const SceneShape *shape)
{
    const TalusJson *json = talus_json_get(body->json, "inertia");
    if (!json)
        return TALUS_OK;
    if (body->inertia.count != 3 && body->inertia.count != 6)
        return talus_json_fail(
            json, 0, "%d numbers; expected 3 principal moments, or 6: xx, yy, zz, xy, xz, yz",
            body->inertia.count);
    if (talus_scene_entry_shape_count(body) > 1 || talus_scene_form_count(shape) > 1)
        return talus_json_fail_key(json, "is for bodies of one shape and size");
    if (shape->kind == TALUS_SHAPE_SPHERE)
        return talus_json_fail_key(
            json, "spheres are uniform balls; a compound of one sphere may have another inertia");
    return talus_json_error_at(json,
                               talus_check_inertia(kind_name(shape), talus_scene_gyration(body)));
}

/* Fails unless the times of a table ascend. */
static TalusStatus check_table(const SceneDrive *drive, const char *key, const SceneList *table)
{
    const double(*row)[4] = (const double(*)[4])table->items;
    for (int i = 1; i < table->count; i++)
        if (!(row[i][0] > row[i - 1][0]))
            return talus_json_fail(talus_json_get(drive->json, key), 0,
                                   "row %d: time %g is not after %g", i, row[i][0], row[i - 1][0]);
    return TALUS_OK;
}

/* Fails if a motion stops before it starts, or the times of its table do not ascend. */
static TalusStatus check_motion(const SceneDrive *drive)
{
    const TalusJson *stop = talus_json_get(drive->json, "stop");
    if (stop && drive->def.stop < drive->def.start)
        return talus_json_fail(stop, 0, "%g is before 'start', %g", drive->def.stop,
                               drive->def.start);
    const double *first = (const double *)drive->displacements.items;
    if (drive->displacements.count > 0 && (first[1] != 0.0 || first[2] != 0.0 || first[3] != 0.0))
        return talus_json_fail(talus_json_get(drive->json, "displacements"), 0,
                               "the first displacement is not 0, where the body is placed");
    TALUS_TRY(check_table(drive, "displacements", &drive->displacements));
    return check_table(drive, "velocities", &drive->velocities);
}

/* Fails if a driven entry arrives after the start or is declared not fixed, or if one of its motions is not valid. */
static TalusStatus check_drive(const SceneBody *body)
{
    const TalusJson *fixed = talus_json_get(body->json, "fixed");
    if (!talus_scene_is_driven(body))
        return TALUS_OK;
    if (fixed && !body->fixed)
        return talus_json_fail(fixed, 0, "a driven body is fixed, expected true");
    if (body->time > 0.0)
        return talus_json_fail(talus_json_get(body->json, "time"), 0,
                               "a driven body is there from the start");
    for (int i = 0; i < body->drives.count; i++)
        TALUS_TRY(check_motion((const SceneDrive *)body->drives.items + i));
    return body->drive ? check_motion(body->drive) : TALUS_OK;
}

/* Fails if bodies other than spheres have the key `radius`, or spheres have a radius neither here nor elsewhere. */
static TalusStatus check_radius(const SceneBody *body, const SceneShape *shape)
{
    if (body->species.count > 0)
        return body->radius ? talus_json_fail_key(talus_json_get(body->json, "radius"),
                                                  "cannot be given together with 'species', which "
                                                  "have their own")
                            : TALUS_OK;
    if (shape->kind != TALUS_SHAPE_SPHERE)
        return body->radius ? talus_json_fail_key(talus_json_get(body->json, "radius"),
                                                  "for spheres only, but the shape is a %s",
                                                  kind_name(shape))
                            : TALUS_OK;
    if (body->radius)
        return talus_scene_check_size(body->radius);
    if (shape->def.radius == 0.0 && !body->file) /* a file may give radii */
        return talus_json_fail(body->json, 0, "missing key 'radius': the size of its spheres");
    return TALUS_OK;
}

/* Fails if `normal` or `orientation` of an entry gives no direction. */
static TalusStatus check_body_orientation(const SceneBody *body)
{
    const TalusJson *normal = talus_json_get(body->json, "normal");
    if (normal && is_zero(body->normal, 3))
        return talus_json_fail(normal, 0, "the zero vector has no direction");
    return check_orientation(body->orientation);
}

/* Fails if the keys by which an entry places its bodies lack `count`, contradict it or do not fit a wall, or if the box
 * of `fill` is empty. */
static TalusStatus check_placement(const SceneBody *body, const SceneShape *shape)
{
    const TalusJson *count = talus_json_get(body->json, "count");
    bool at = talus_json_get(body->json, "at");
    if (!at && talus_scene_is_wall(shape))
        return talus_json_fail(body->json, 0, "a %s is placed by 'at'", kind_name(shape));
    if (at && count)
        return talus_json_fail_key(count, "cannot be given together with 'at'");
    bool open = body->fill || (body->layers && !body->layers->repeat) ||
                (body->lattice && talus_json_get(body->lattice->json, "cells") &&
                 body->lattice->cells[2] == 0.0);
    if (open && !count)
        return talus_json_fail(body->json, 0, "missing key 'count': how many bodies");
    if (body->avoid && (body->file || at || body->time > 0.0))
        return talus_json_fail(talus_json_get(body->json, "avoid"), 0,
                               body->time > 0.0
                                   ? "nobody knows what is there when bodies arrive later"
                                   : "for lattice, layers and fill only");
    if (body->fill && !(body->fill->radius > 0.0))
        return check_box(body->fill->json, body->fill->lo, body->fill->hi);
    return TALUS_OK;
}

/* Fails if an earlier entry of `bodies` has the same name. */
static TalusStatus check_name_unique(const TalusScene *scene, int index)
{
    const SceneBody *body = (const SceneBody *)scene->bodies.items + index;
    int first = body->name ? talus_scene_find_entry(scene, body->name) : index;
    if (first < index)
        return talus_json_fail(talus_json_get(body->json, "name"), 0,
                               "bodies[%d] has this name already", first);
    return TALUS_OK;
}

/* Checks a shape defined in the entry itself. Fails if one of several named shapes is a wall, or a sphere that has no
 * radius or whose entry gives one too. */
static TalusStatus check_body_shapes(const TalusScene *scene, const SceneBody *body)
{
    const SceneSpecies *species = (const SceneSpecies *)body->species.items;
    const TalusJson *json = talus_json_get(body->json, "shapes");
    json = json ? json->first : NULL;
    for (int i = 0; i < body->species.count; i++)
        if (!species[i].shape->name)
            TALUS_TRY(check_shape(scene, species[i].shape));
    if (body->species.count > 0)
        return talus_scene_check_species(scene, &body->species, body->json, false);
    if (body->shapes.count == 0 && !body->shape->name)
        TALUS_TRY(check_shape(scene, body->shape));
    for (int k = 0; k < body->shapes.count; k++, json = json->next) {
        const SceneShape *shape;
        TALUS_TRY(talus_scene_entry_shape(scene, body, k, &shape));
        if (body->shapes.count > 1 && talus_scene_is_wall(shape))
            return talus_json_fail(json, 0, "a %s is always fixed, and not one of several shapes",
                                   kind_name(shape));
        if (body->shapes.count > 1 && shape->kind == TALUS_SHAPE_SPHERE &&
            (body->radius || !(shape->def.radius > 0.0)))
            return talus_json_fail(json, 0,
                                   "among several shapes a sphere has a radius of its own");
    }
    return TALUS_OK;
}

/* Checks an entry that names bodies of the earlier run: it has no key of what they are already. */
static TalusStatus check_earlier(const TalusScene *scene, const SceneBody *body)
{
    static const char *const allowed[] = {"name", "earlier", "group", "servo", "drive", "drives"};
    const TalusJson *earlier = talus_json_get(body->json, "earlier");
    if (!scene->from)
        return talus_json_fail_key(earlier, "needs the key 'from' of the scene, or --from");
    for (const TalusJson *key = body->json->first; key; key = key->next) {
        bool found = false;
        for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
            found = found || strcmp(key->key, allowed[i]) == 0;
        if (!found)
            return talus_json_fail_key(key, "bodies of the earlier run have theirs");
    }
    return check_drive(body);
}

static TalusStatus check_bodies(const TalusScene *scene)
{
    const SceneBody *bodies = (const SceneBody *)scene->bodies.items;
    for (int i = 0; i < scene->bodies.count; i++) {
        const SceneBody *body = &bodies[i];
        const SceneShape *shape;
        int material, group;
        TALUS_TRY(check_name_unique(scene, i));
        TALUS_TRY(talus_scene_find_group(scene, talus_json_get_or_self(body->json, "group"),
                                         body->group, &group));
        if (talus_scene_is_earlier(body)) {
            TALUS_TRY(check_earlier(scene, body));
            continue;
        }
        TALUS_TRY(check_body_shapes(scene, body));
        TALUS_TRY(talus_scene_entry_shape(scene, body, 0, &shape));
        TALUS_TRY(talus_scene_find_material(scene, talus_json_get_or_self(body->json, "material"),
                                            body->material, &material));
        TALUS_TRY(check_fixed_keys(body, shape));
        TALUS_TRY(check_inertia(body, shape));
        TALUS_TRY(check_drive(body));
        TALUS_TRY(check_radius(body, shape));
        TALUS_TRY(check_body_orientation(body));
        TALUS_TRY(check_placement(body, shape));
    }
    return TALUS_OK;
}

/* Returns the name of the collision group of the k-th entry, where `bodies` are counted before `emitters`; NULL:
 * none. */
static const char *group_name_of_entry(const TalusScene *scene, int k)
{
    const SceneBody *bodies = (const SceneBody *)scene->bodies.items;
    const SceneEmitter *emitters = (const SceneEmitter *)scene->emitters.items;
    return k < scene->bodies.count ? bodies[k].group : emitters[k - scene->bodies.count].group;
}

TalusStatus talus_scene_find_group(const TalusScene *scene, const TalusJson *json, const char *name,
                                   int *group)
{
    const char *known[TALUS_GROUPS];
    char shown[TALUS_JSON_PRINTABLE_BYTES];
    int entries = scene->bodies.count + scene->emitters.count, count = 1; /* group 0 has no name */
    *group = 0;
    if (!name)
        return TALUS_OK;
    for (int k = 0; k < entries; k++) {
        const char *given = group_name_of_entry(scene, k);
        int at = 1;
        while (given && at < count && strcmp(known[at], given) != 0)
            at++;
        if (given && at == TALUS_GROUPS)
            return talus_json_fail(json, 0, "there are more than %d groups", TALUS_GROUPS - 1);
        if (given && at == count)
            known[count++] = given;
        if (given && strcmp(given, name) == 0) {
            *group = at;
            return TALUS_OK;
        }
    }
    return talus_json_fail(json, 0, "no entry of `bodies` or `emitters` has the group '%s'",
                           talus_json_printable(name, shown));
}

/* ---- the rest ---- */

/* Fails if the box of an emitter is narrower than the largest sphere of a distribution of radii; size NULL: of the
 * shape's one radius. */
static TalusStatus check_emitter_box(const SceneEmitter *e, const SceneSize *size,
                                     const SceneShape *shape)
{
    const double *lo = &e->def.lo.x, *hi = &e->def.hi.x;
    double widest = shape ? 2.0 * shape->def.radius : 0.0;
    if (size) {
        const TalusSizeDef def = talus_scene_size_def(size);
        TalusSizeRange range;
        TALUS_TRY(talus_sizes_range(&def, &range));
        widest = 2.0 * range.max;
    }
    for (int k = 0; k < 3; k++)
        if (hi[k] - lo[k] < widest)
            return talus_json_fail(e->json, 0, "the box is %g wide in %c, less than a diameter, %g",
                                   hi[k] - lo[k], "xyz"[k], widest);
    return TALUS_OK;
}

/* Checks the box, radii, species and material of each emitter. */
static TalusStatus check_emitters(const TalusScene *scene)
{
    const SceneEmitter *emitters = (const SceneEmitter *)scene->emitters.items;
    for (int i = 0; i < scene->emitters.count; i++) {
        const SceneEmitter *e = &emitters[i];
        const SceneSpecies *species = (const SceneSpecies *)e->species.items;
        int material;
        TALUS_TRY(check_box(e->json, &e->def.lo.x, &e->def.hi.x));
        TALUS_TRY(talus_scene_check_size(e->radius));
        TALUS_TRY(talus_scene_find_material(scene, talus_json_get_or_self(e->json, "material"),
                                            e->material, &material));
        TALUS_TRY(talus_scene_check_species(scene, &e->species, e->json, true));
        if (e->radius)
            TALUS_TRY(check_emitter_box(e, e->radius, NULL));
        for (int k = 0; k < e->species.count; k++) {
            const SceneShape *shape;
            TALUS_TRY(talus_scene_resolve_shape(scene, species[k].shape, &shape));
            TALUS_TRY(check_emitter_box(e, species[k].radius, shape));
        }
    }
    return TALUS_OK;
}

/* Fails if a probe names an entry that does not exist or arrives after the start. */
static TalusStatus check_probe_body(const TalusScene *scene, const SceneProbe *probe)
{
    const SceneBody *bodies = (const SceneBody *)scene->bodies.items;
    const TalusJson *json = talus_json_get(probe->json, "body");
    char shown[TALUS_JSON_PRINTABLE_BYTES];
    int entry = talus_scene_find_entry(scene, probe->body);
    if (entry < 0)
        return talus_json_fail(json, 0, "no entry of `bodies` has the name '%s'",
                               talus_json_printable(probe->body, shown));
    if (bodies[entry].time > 0.0)
        return talus_json_fail(json, 0, "bodies[%d] arrives later and cannot be probed", entry);
    return TALUS_OK;
}

/* Fails if a plane has no direction. */
static TalusStatus check_plane(const ScenePlane *plane)
{
    if (!(talus_norm(scene_vec3(plane->normal)) > 0.0))
        return talus_json_fail(talus_json_get(plane->json, "normal"), 0,
                               "the normal is 0; expected a direction, such as [0, 0, 1]");
    return TALUS_OK;
}

/* Fails if the name at `json` is that of the earlier one, whose rows could not be told from those of this one. */
static TalusStatus check_other_name(const TalusJson *json, const char *name, const char *earlier,
                                    const char *list, int index)
{
    if (name && earlier && strcmp(name, earlier) == 0)
        return talus_json_fail(talus_json_get(json, "name"), 0, "%s[%d] has this name already",
                               list, index);
    return TALUS_OK;
}

static TalusStatus check_sinks(const TalusScene *scene)
{
    const SceneSink *sinks = (const SceneSink *)scene->sinks.items;
    for (int i = 0; i < scene->sinks.count; i++)
        for (int k = 0; k < i; k++)
            TALUS_TRY(check_other_name(sinks[i].json, sinks[i].name, sinks[k].name, "sinks", k));
    return TALUS_OK;
}

static TalusStatus check_probes(const TalusScene *scene)
{
    const SceneProbe *probes = (const SceneProbe *)scene->probes.items;
    for (int i = 0; i < scene->probes.count; i++) {
        for (int k = 0; k < i; k++)
            TALUS_TRY(
                check_other_name(probes[i].json, probes[i].name, probes[k].name, "probes", k));
        TALUS_TRY(talus_scene_check_field_probe(scene, &probes[i]));
        if (probes[i].region)
            TALUS_TRY(
                check_box(probes[i].region->json, probes[i].region->lo, probes[i].region->hi));
        else if (probes[i].plane)
            TALUS_TRY(check_plane(probes[i].plane));
        else
            TALUS_TRY(check_probe_body(scene, &probes[i]));
    }
    return TALUS_OK;
}

/* Fails if `apart` names a group that no entry has. */
static TalusStatus check_apart_groups(const TalusScene *scene)
{
    const SceneApart *aparts = (const SceneApart *)scene->apart.items;
    for (int i = 0; i < scene->apart.count; i++) {
        const char *const *names = (const char *const *)aparts[i].between.items;
        const TalusJson *json = talus_json_get(aparts[i].json, "between")->first;
        int group;
        for (int k = 0; k < 2; k++, json = json->next)
            TALUS_TRY(talus_scene_find_group(scene, json, names[k], &group));
    }
    return TALUS_OK;
}

/* ---- shapes that cannot collide ---- */

static bool has_group(const SceneBody *body, const char *name)
{
    return body->group && strcmp(body->group, name) == 0;
}

/* True if the key `apart` keeps the groups of the two entries from colliding. */
static bool are_apart(const TalusScene *scene, const SceneBody *a, const SceneBody *b)
{
    const SceneApart *aparts = (const SceneApart *)scene->apart.items;
    for (int i = 0; i < scene->apart.count; i++) {
        const char *const *names = (const char *const *)aparts[i].between.items;
        if ((has_group(a, names[0]) && has_group(b, names[1])) ||
            (has_group(a, names[1]) && has_group(b, names[0])))
            return true;
    }
    return false;
}

/* Returns the first shape of an entry that is not a sphere, or NULL. */
static const SceneShape *first_shape_not_sphere(const TalusScene *scene, const SceneBody *body)
{
    for (int k = 0; k < talus_scene_entry_shape_count(body); k++) {
        const SceneShape *shape;
        if (talus_scene_entry_shape(scene, body, k, &shape) == TALUS_OK &&
            shape->kind != TALUS_SHAPE_SPHERE)
            return shape;
    }
    return NULL;
}

/* Fails if bodies of entry `other` move, have a shape other than a sphere and may touch the wall of revolution of entry
 * `wall`: Talus cannot compute contacts of such a pair, and a run in which they meet stops. */
static TalusStatus check_revolve_contact(const TalusScene *scene, int wall, int other)
{
    const SceneBody *bodies = (const SceneBody *)scene->bodies.items, *body = &bodies[other];
    const SceneShape *shape = first_shape_not_sphere(scene, body);
    if (!shape || body->fixed || talus_scene_is_driven(body) || talus_scene_is_wall(shape) ||
        are_apart(scene, &bodies[wall], body))
        return TALUS_OK;
    const TalusJson *json = talus_json_get_or_self(
        body->json, talus_json_get(body->json, "shapes") ? "shapes" : "shape");
    return talus_json_fail(json, 0,
                           "a %s cannot touch the revolve of bodies[%d], which spheres alone can: "
                           "give that as a mesh, or name the groups of the two in `apart`",
                           kind_name(shape), wall);
}

/* Calls check_revolve_contact for each entry with a wall of revolution and every entry. */
static TalusStatus check_revolve_contacts(const TalusScene *scene)
{
    const SceneBody *bodies = (const SceneBody *)scene->bodies.items;
    for (int i = 0; i < scene->bodies.count; i++) {
        const SceneShape *shape = first_shape_not_sphere(scene, &bodies[i]);
        for (int k = 0; shape && shape->kind == TALUS_SHAPE_REVOLVE && k < scene->bodies.count; k++)
            TALUS_TRY(check_revolve_contact(scene, i, k));
    }
    return TALUS_OK;
}

static TalusStatus check_period(const ScenePeriod *period)
{
    static const char *const axes[] = {"x", "y", "z"};
    const double *interval[] = {period->x, period->y, period->z};
    for (int k = 0; k < 3; k++) {
        const TalusJson *json = talus_json_get(period->json, axes[k]);
        if (json && !(interval[k][0] < interval[k][1]))
            return talus_json_fail(json, 0, "%g is not above %g", interval[k][1], interval[k][0]);
    }
    return TALUS_OK;
}

TalusStatus talus_scene_check(const TalusScene *scene)
{
    if (scene->period)
        TALUS_TRY(check_period(scene->period));
    TALUS_TRY(check_apart_groups(scene));
    TALUS_TRY(check_shapes(scene));
    TALUS_TRY(check_pairs(scene));
    TALUS_TRY(check_bodies(scene));
    TALUS_TRY(check_revolve_contacts(scene));
    TALUS_TRY(check_emitters(scene));
    TALUS_TRY(talus_scene_check_joints(scene));
    TALUS_TRY(talus_scene_check_servos(scene));
    TALUS_TRY(check_sinks(scene));
    return check_probes(scene);
}

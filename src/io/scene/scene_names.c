/* io/scene/scene_names.c - finds the materials, shapes, entries and files that a scene names; computes directions,
 * rotations and seeds from values of the scene. */
#include "io/scene/scene.h"

#include "base/hash.h"
#include "base/param.h"
#include "geometry/shape.h"
#include "io/file/file.h"
#include "world/source/generate.h"

#include <math.h>
#include <string.h>

/* Sets *index to the position of `name` among the keys of the scene's object `map`. If the object has no such key,
 * fails with the location `json`; `what` ("shape") names the kind of thing in the message. */
static TalusStatus find_name(const TalusJson *scene, const char *map, const char *what,
                             const TalusJson *json, const char *name, int *index)
{
    const TalusJson *names = talus_json_get(scene, map);
    const char *near[TALUS_JSON_KEYS] = {0};
    int n = 0;
    for (const TalusJson *c = names ? names->first : NULL; c; c = c->next) {
        if (strcmp(c->key, name) == 0) {
            *index = c->index;
            return TALUS_OK;
        }
        near[n++] = c->key;
    }
    char shown[TALUS_JSON_PRINTABLE_BYTES];
    const char *best = talus_nearest_name(name, near, n);
    return talus_json_fail(json, 0, "no %s '%s' in `%s`%s%s%s", what,
                           talus_json_printable(name, shown), map, best ? "; did you mean '" : "",
                           best ? best : "", best ? "'?" : "");
}

TalusStatus talus_scene_find_material(const TalusScene *scene, const TalusJson *json,
                                      const char *name, int *index)
{
    *index = scene->materials.count > 0 ? 0 : -1;
    if (!name)
        return TALUS_OK;
    return find_name(scene->json, "materials", "material", json, name, index);
}

static TalusStatus find_named_shape(const TalusScene *scene, const TalusJson *json,
                                    const char *name, const SceneShape **shape)
{
    int index = 0;
    TALUS_TRY(find_name(scene->json, "shapes", "shape", json, name, &index));
    *shape = (const SceneShape *)scene->shapes.items + index;
    return TALUS_OK;
}

TalusStatus talus_scene_resolve_shape(const TalusScene *scene, const SceneShape *given,
                                      const SceneShape **shape)
{
    *shape = given;
    return given->name ? find_named_shape(scene, given->json, given->name, shape) : TALUS_OK;
}

int talus_scene_find_entry(const TalusScene *scene, const char *name)
{
    const SceneBody *bodies = (const SceneBody *)scene->bodies.items;
    for (int i = 0; i < scene->bodies.count; i++)
        if (bodies[i].name && strcmp(bodies[i].name, name) == 0)
            return i;
    return -1;
}

int talus_scene_entry_shape_count(const SceneBody *body)
{
    return body->species.count > 0  ? body->species.count
           : body->shapes.count > 0 ? body->shapes.count
                                    : 1;
}

TalusStatus talus_scene_entry_shape(const TalusScene *scene, const SceneBody *body, int k,
                                    const SceneShape **shape)
{
    if (body->species.count > 0)
        return talus_scene_resolve_shape(
            scene, ((const SceneSpecies *)body->species.items)[k].shape, shape);
    if (body->shapes.count == 0)
        return talus_scene_resolve_shape(scene, body->shape, shape);
    const TalusJson *json = talus_json_get(body->json, "shapes")->first;
    for (int i = 0; i < k; i++)
        json = json->next;
    return find_named_shape(scene, json, ((const char *const *)body->shapes.items)[k], shape);
}

bool talus_scene_is_wall(const SceneShape *shape)
{
    return shape->kind != SCENE_ROCK &&
           talus_shape_has((TalusShapeKind)shape->kind, TALUS_TRAIT_WALL);
}

TalusStatus talus_scene_resolve_path(const TalusScene *scene, const TalusJson *json,
                                     const char *file, char **path)
{
    /* A value given by --set has line 0: its path is relative to the current folder. */
    const char *folder = json->line == 0 || file[0] == '/' ? "" : scene->folder;
    return talus_path_format(path, "%s%s", folder, file);
}

/* Returns a factor s such that the squared length of s (s v) neither overflows nor underflows. s is a power of 2, so
 * that s (s v) has exactly the direction of v; it is 1 if the largest component of v[n] is between 1e-140 and 1e140. */
static double safe_scale(const double *v, int n)
{
    double largest = 0.0;
    int exponent;
    for (int k = 0; k < n; k++)
        largest = fmax(largest, fabs(v[k]));
    (void)frexp(largest, &exponent);
    return largest > 1e-140 && largest < 1e140 ? 1.0 : ldexp(1.0, -exponent / 2);
}

TalusVec3 talus_scene_scale_direction(TalusVec3 v)
{
    double s = safe_scale((const double[]){v.x, v.y, v.z}, 3); /* s s may overflow: 2^1072 */
    return talus_scale(s, talus_scale(s, v));
}

TalusQuat talus_scene_make_rotation(const SceneOrientation *o)
{
    const double *v = o->quaternion;
    if (talus_json_get(o->json, "axis"))
        return talus_quat_about(talus_scene_scale_direction(scene_vec3(o->axis)),
                                o->degrees / 360.0);
    double s = safe_scale(v, 4);
    TalusQuat q = {s * v[0] * s, s * v[1] * s, s * v[2] * s, s * v[3] * s};
    return talus_quat_normalize(q);
}

uint64_t talus_scene_mix_seed(const TalusScene *scene, int64_t own)
{
    return scene->seed == 0 ? (uint64_t)own
                            : talus_hash_mix((uint64_t)own ^ talus_hash_mix((uint64_t)scene->seed));
}

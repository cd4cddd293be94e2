/* io/scene/scene.c - loading a scene and asking it. */
#include "io/scene/scene.h"

#include "base/memory.h"
#include "base/param.h"
#include "geometry/shape.h"
#include "io/file/file.h"
#include "world/source/generate.h"

#include <math.h>
#include <string.h>

/* ---- loading ---- */

static TalusStatus read_text(TalusScene *scene, const char *text, size_t length, const char *name,
                             const char *const *overrides, int override_count)
{
    char *source;
    TalusJson *root;
    TALUS_TRY(talus_arena_text(&scene->arena, name, strlen(name), &source));
    TALUS_TRY(
        talus_json_parse_in(TALUS_DOMAIN_SCENE, &scene->arena, text, length, source, true, &root));
    if (root->kind != TALUS_JSON_OBJECT)
        return talus_json_fail(root, 0, "expected a scene, an object in braces, found %s",
                               talus_json_kind_name(root->kind));
    for (int i = 0; i < override_count; i++)
        TALUS_TRY(talus_scene_set(&scene->arena, root, overrides[i]));
    TALUS_TRY(talus_scene_read(scene, root));
    return talus_scene_check(scene);
}

/* Files named in a scene lie beside it. */
static TalusStatus set_folder(TalusScene *scene, const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder;
    TALUS_TRY(
        talus_arena_text(&scene->arena, path, slash ? (size_t)(slash - path) + 1 : 0, &folder));
    scene->folder = folder;
    return TALUS_OK;
}

TalusStatus talus_scene_parse(const char *text, size_t length, const char *name,
                              const char *const *overrides, int override_count, TalusScene **out)
{
    TalusScene *scene;
    *out = NULL;
    TALUS_TRY(TALUS_ALLOC(scene, 1, "scene"));
    TalusStatus status = set_folder(scene, name);
    TALUS_THEN(status, read_text(scene, text, length, name, overrides, override_count));
    if (status != TALUS_OK) {
        talus_scene_destroy(scene);
        return status;
    }
    *out = scene;
    return TALUS_OK;
}

TalusStatus talus_scene_load(const char *path, const char *const *overrides, int override_count,
                             TalusScene **out)
{
    char *text;
    size_t length;
    *out = NULL;
    TALUS_TRY(talus_read_file(path, SIZE_MAX, &text, &length));
    TalusStatus status = talus_scene_parse(text, length, path, overrides, override_count, out);
    talus_release(text);
    return status;
}

void talus_scene_destroy(TalusScene *scene)
{
    if (!scene)
        return;
    talus_arena_clear(&scene->arena);
    talus_release(scene);
}

/* ---- asking ---- */

const char *talus_scene_title(const TalusScene *scene)
{
    return scene->title;
}

double talus_scene_until(const TalusScene *scene)
{
    return scene->until;
}

double talus_scene_every(const TalusScene *scene)
{
    return scene->every > 0.0 ? scene->every : scene->until / 100.0;
}

int talus_scene_param_count(const TalusScene *scene)
{
    return scene->scope.count;
}

const char *talus_scene_param_name(const TalusScene *scene, int index)
{
    return scene->scope.names[index];
}

double talus_scene_param_value(const TalusScene *scene, int index)
{
    return scene->scope.values[index];
}

/* ---- names ---- */

/* Index of the child of `map` with this key; a failure at `json` names the nearest one. */
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
    char shown[TALUS_JSON_SHOWN];
    const char *best = talus_nearest(name, near, n);
    return talus_json_fail(json, 0, "no %s '%s' in `%s`%s%s%s", what, talus_json_show(name, shown),
                           map, best ? "; did you mean '" : "", best ? best : "", best ? "'?" : "");
}

TalusStatus talus_scene_material(const TalusScene *scene, const TalusJson *json, const char *name,
                                 int *index)
{
    *index = scene->materials.count > 0 ? 0 : -1;
    if (!name)
        return TALUS_OK;
    return find_name(scene->json, "materials", "material", json, name, index);
}

static TalusStatus named_shape(const TalusScene *scene, const TalusJson *json, const char *name,
                               const SceneShape **shape)
{
    int index = 0;
    TALUS_TRY(find_name(scene->json, "shapes", "shape", json, name, &index));
    *shape = (const SceneShape *)scene->shapes.items + index;
    return TALUS_OK;
}

TalusStatus talus_scene_shape(const TalusScene *scene, const SceneShape *given,
                              const SceneShape **shape)
{
    *shape = given;
    return given->name ? named_shape(scene, given->json, given->name, shape) : TALUS_OK;
}

int talus_scene_shapes(const SceneBody *body)
{
    return body->shapes.count > 0 ? body->shapes.count : 1;
}

TalusStatus talus_scene_body_shape(const TalusScene *scene, const SceneBody *body, int k,
                                   const SceneShape **shape)
{
    if (body->shapes.count == 0)
        return talus_scene_shape(scene, body->shape, shape);
    const TalusJson *json = talus_json_get(body->json, "shapes")->first;
    for (int i = 0; i < k; i++)
        json = json->next;
    return named_shape(scene, json, ((const char *const *)body->shapes.items)[k], shape);
}

bool talus_scene_is_wall(const SceneShape *shape)
{
    return shape->kind != SCENE_ROCK &&
           talus_shape_has((TalusShapeKind)shape->kind, TALUS_TRAIT_WALL);
}

TalusStatus talus_scene_path(const TalusScene *scene, const TalusJson *json, const char *file,
                             char **path)
{
    /* A path typed after --set means what it means in the shell. */
    const char *folder = json->line == 0 || file[0] == '/' ? "" : scene->folder;
    return talus_path(path, "%s%s", folder, file);
}

/* What to multiply numbers with so that their squares neither overflow nor vanish; 1 for all but extreme ones, which
 * leaves them their bits. A power of 2, so that nothing is rounded. */
static double taming(const double *v, int n)
{
    double most = 0.0;
    int exponent;
    for (int k = 0; k < n; k++)
        most = fmax(most, fabs(v[k]));
    (void)frexp(most, &exponent);
    return most > 1e-140 && most < 1e140 ? 1.0 : ldexp(1.0, -exponent / 2);
}

TalusVec3 talus_scene_direction(TalusVec3 v)
{
    double s = taming((const double[]){v.x, v.y, v.z}, 3); /* twice: 2^1074 is out of range */
    return talus_scale(s, talus_scale(s, v));
}

TalusQuat talus_scene_turn(const SceneOrientation *o)
{
    const double *v = o->quaternion;
    if (talus_json_get(o->json, "axis"))
        return talus_quat_turn(talus_scene_direction(scene_vec3(o->axis)), o->degrees / 360.0);
    double s = taming(v, 4);
    TalusQuat q = {s * v[0] * s, s * v[1] * s, s * v[2] * s, s * v[3] * s};
    return talus_quat_normalize(q);
}

void talus_scene_sizes(const SceneSize *size, const SceneShape *shape, double *min, double *max)
{
    if (!size) {
        *min = *max = shape ? shape->radius : 0.0;
    } else if (size->min > 0.0) {
        *min = size->min;
        *max = size->max;
    } else {
        *min = size->mean * (1.0 - size->spread);
        *max = size->mean * (1.0 + size->spread);
    }
}

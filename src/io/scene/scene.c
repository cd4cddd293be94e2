/* io/scene/scene.c - loading of a scene from a file or a text; its title, times and parameters. */
#include "io/scene/scene_copies.h"

#include "base/memory.h"
#include "io/file/file.h"

#include <string.h>

/* ---- loading ---- */

/* Parses the text, applies the overrides (--set), reads the scene with its copies and checks it. */
static TalusStatus parse_and_check(TalusScene *scene, const char *text, size_t length,
                                   const char *name, const char *const *overrides,
                                   int override_count)
{
    char *source;
    TalusJson *root;
    TALUS_TRY(talus_arena_copy_text(&scene->arena, name, strlen(name), &source));
    TALUS_TRY(
        talus_json_parse_in(TALUS_DOMAIN_SCENE, &scene->arena, text, length, source, true, &root));
    if (root->kind != TALUS_JSON_OBJECT)
        return talus_json_fail(root, 0, "expected a scene, an object in braces, found %s",
                               talus_json_kind_name(root->kind));
    for (int i = 0; i < override_count; i++)
        TALUS_TRY(talus_scene_apply_override(&scene->arena, root, overrides[i]));
    TALUS_TRY(talus_scene_read(scene, root, &scene->arena));
    TALUS_TRY(talus_scene_check(scene));
    return talus_scene_read_copies(scene, root);
}

/* Sets scene->folder to `path` up to its last '/', or to "" without a '/'. */
static TalusStatus set_folder(TalusScene *scene, const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder;
    TALUS_TRY(talus_arena_copy_text(&scene->arena, path, slash ? (size_t)(slash - path) + 1 : 0,
                                    &folder));
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
    TALUS_THEN(status, parse_and_check(scene, text, length, name, overrides, override_count));
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

/* ---- queries ---- */

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

int64_t talus_scene_seed(const TalusScene *scene)
{
    return scene->seed;
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

/* io/scene/scene_digest.c - a hash of all that a scene's run depends on; the names of its probes and joints.
 *
 * The tree of the scene is hashed after --set was applied: kinds, keys, numbers and texts in the order of the file, since
 * bodies and parameters have an order. Every text with the key `file` names a file, whose bytes are hashed. Of a run that the
 * scene starts from (`from`) the headers of both checkpoints are, which hold hashes of all that follows them. */
#include "io/scene/scene_digest.h"

#include "base/hash.h"
#include "base/memory.h"
#include "io/file/file.h"
#include "io/run/checkpoint.h"
#include "io/run/checkpoint_file.h"
#include "io/scene/scene_from.h"
#include "io/scene/scene_joint.h"

#include <string.h>

static void add_text(uint64_t *digest, const char *text)
{
    *digest = talus_hash(*digest, text, strlen(text));
}

static TalusStatus add_file(const TalusScene *scene, const TalusJson *json, uint64_t *digest)
{
    char *path, *bytes = NULL;
    size_t size;
    TALUS_TRY(talus_scene_resolve_path(scene, json, json->text, &path));
    const TalusStatus status =
        talus_json_error_at(json, talus_read_file(path, SIZE_MAX, &bytes, &size));
    if (status == TALUS_OK)
        *digest = talus_hash(*digest, bytes, size);
    talus_release(bytes);
    talus_release(path);
    return status;
}

/* True if the member of the scene describes it for people or editors alone. */
static bool is_label(const TalusScene *scene, const TalusJson *node)
{
    return node->parent == scene->json && node->key &&
           (strcmp(node->key, "$schema") == 0 || strcmp(node->key, "title") == 0 ||
            strcmp(node->key, "description") == 0);
}

/* Adds a node and all below it. */
static TalusStatus add_node(const TalusScene *scene, const TalusJson *node, uint64_t *digest)
{
    const int about[] = {(int)node->kind, node->count};
    if (is_label(scene, node))
        return TALUS_OK;
    *digest = talus_hash(*digest, about, sizeof about);
    if (node->key)
        add_text(digest, node->key);
    if (node->kind == TALUS_JSON_NUMBER)
        *digest = talus_hash(*digest, &node->number, sizeof node->number);
    if (node->kind == TALUS_JSON_STRING) {
        add_text(digest, node->text);
        if (node->key && strcmp(node->key, "file") == 0)
            TALUS_TRY(add_file(scene, node, digest));
    }
    for (const TalusJson *child = node->first; child; child = child->next)
        TALUS_TRY(add_node(scene, child, digest));
    return TALUS_OK;
}

/* Adds the headers of the checkpoints of the earlier run; a run without a checkpoint fails when it is read. */
static TalusStatus add_checkpoints(const TalusScene *scene, uint64_t *digest)
{
    static const char *const names[] = {TALUS_CHECKPOINT_A, TALUS_CHECKPOINT_B};
    char *dir;
    double time;
    TALUS_TRY(talus_scene_find_from(scene, &dir, &time));
    TalusStatus status = TALUS_OK;
    for (int i = 0; i < 2; i++) {
        char header[sizeof(TalusCheckpointHeader)], *path;
        TALUS_THEN(status, talus_path_format(&path, "%s/%s", dir, names[i]));
        if (status == TALUS_OK) {
            *digest = talus_hash(*digest, header, talus_read_start(path, header, sizeof header));
            talus_release(path);
        }
    }
    talus_release(dir);
    return status;
}

TalusStatus talus_scene_digest(const TalusScene *scene, uint64_t *digest)
{
    *digest = TALUS_HASH_SEED;
    TALUS_TRY(add_node(scene, scene->json, digest));
    return scene->from ? add_checkpoints(scene, digest) : TALUS_OK;
}

int talus_scene_probe_count(const TalusScene *scene)
{
    return scene->probes.count;
}

const char *talus_scene_probe_name(const TalusScene *scene, int index)
{
    return ((const SceneProbe *)scene->probes.items)[index].name;
}

int talus_scene_joint_count(const TalusScene *scene)
{
    return scene->joints.count;
}

const char *talus_scene_joint_name(const TalusScene *scene, int index)
{
    return ((const SceneJoint *)scene->joints.items)[index].def.name;
}

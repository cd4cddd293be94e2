/* io/scene/scene_digest.c - a hash of all that a scene's run depends on; what it has rows for in the tables of its runs.
 *
 * The tree of the scene is hashed after --set was applied: kinds, keys, numbers and texts in the order of the file, since
 * bodies and parameters have an order. Every text with the key `file` names a file, whose bytes are hashed. Of a run that the
 * scene starts from (`from`) the headers of both checkpoints are, which hold hashes of all that follows them, and all its
 * frames, if one of them is exact and may be the start. */
#include "io/scene/scene_digest.h"

#include "base/hash.h"
#include "base/memory.h"
#include "io/file/file.h"
#include "io/run/checkpoint.h"
#include "io/run/checkpoint_file.h"
#include "io/run/exact_start.h"
#include "io/scene/scene_from.h"
#include "io/scene/scene_joint.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Adds a text and its end, so that no text goes over into the next one. */
static void add_text(uint64_t *digest, const char *text)
{
    *digest = talus_hash(*digest, text, strlen(text) + 1);
}

static TalusStatus add_file(const TalusScene *scene, const TalusJson *json, uint64_t *digest)
{
    char *path, *bytes = NULL;
    size_t size;
    TALUS_TRY(talus_scene_resolve_path(scene, json, json->text, &path));
    const TalusStatus status =
        talus_json_error_at(json, talus_read_file(path, SIZE_MAX, &bytes, &size));
    if (status == TALUS_OK) {
        *digest = talus_hash(*digest, &size, sizeof size);
        *digest = talus_hash(*digest, bytes, size);
    }
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

/* Adds the bytes of a file that may be larger than memory. */
static TalusStatus add_large_file(const char *path, uint64_t *digest)
{
    char piece[1 << 14];
    size_t size;
    FILE *file = fopen(path, "rb");
    if (!file)
        return talus_fail_file(path, TALUS_ERR_IO, "cannot open: %s", strerror(errno));
    while ((size = fread(piece, 1, sizeof piece, file)) > 0)
        *digest = talus_hash(*digest, piece, size);
    const bool failed = ferror(file) != 0;
    fclose(file);
    return failed ? talus_fail_file(path, TALUS_ERR_IO, "cannot read") : TALUS_OK;
}

/* Adds the frames of the earlier run if one of them may be the start. */
static TalusStatus add_exact_frames(const char *dir, double time, uint64_t *digest)
{
    double found = NAN;
    char *path;
    TALUS_TRY(talus_exact_find(dir, time, &found));
    if (isnan(found))
        return TALUS_OK;
    TALUS_TRY(talus_path_format(&path, "%s/frames.talus", dir));
    const TalusStatus status = add_large_file(path, digest);
    talus_release(path);
    return status;
}

/* Adds the headers of the checkpoints of the earlier run and its exact frames; a run without a state fails when it is read. */
static TalusStatus add_earlier_run(const TalusScene *scene, uint64_t *digest)
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
    TALUS_THEN(status, add_exact_frames(dir, time, digest));
    talus_release(dir);
    return status;
}

TalusStatus talus_scene_digest(const TalusScene *scene, uint64_t *digest)
{
    *digest = TALUS_HASH_SEED;
    TALUS_TRY(add_node(scene, scene->json, digest));
    return scene->from ? add_earlier_run(scene, digest) : TALUS_OK;
}

/* Names under construction. */
typedef struct NameList {
    const char **name;
    int count, most;
} NameList;

static void add_name(NameList *list, const char *name)
{
    if (list->count < list->most)
        list->name[list->count] = name;
    list->count++;
}

/* Adds the probes of forces or, with `planes`, those of planes. */
static void add_probes(NameList *list, const TalusScene *scene, bool planes)
{
    const SceneProbe *probe = (const SceneProbe *)scene->probes.items;
    for (int i = 0; i < scene->probes.count; i++)
        if (probe[i].field.count == 0 && (probe[i].plane != NULL) == planes)
            add_name(list, probe[i].name);
}

static void add_sinks(NameList *list, const TalusScene *scene)
{
    for (int i = 0; i < scene->sinks.count; i++)
        add_name(list, ((const SceneSink *)scene->sinks.items)[i].name);
}

/* Adds the joints, those of servos among them. */
static void add_joints(NameList *list, const TalusScene *scene)
{
    const SceneBody *body = (const SceneBody *)scene->bodies.items;
    for (int i = 0; i < scene->joints.count; i++)
        add_name(list, ((const SceneJoint *)scene->joints.items)[i].def.name);
    for (int i = 0; i < scene->bodies.count; i++)
        if (body[i].servo && body[i].name)
            add_name(list, body[i].name);
}

int talus_scene_list_rows(const TalusScene *scene, const char *table, const char **name, int most)
{
    NameList list = {.name = name, .most = most};
    const bool flows = strcmp(table, "flows.csv") == 0;
    if (flows)
        add_sinks(&list, scene); /* before planes: a sink without a name is found by its place */
    if (strcmp(table, "joints.csv") == 0)
        add_joints(&list, scene);
    else
        add_probes(&list, scene, flows);
    return list.count;
}

const char *talus_scene_backend(const TalusScene *scene)
{
    return scene->def.backend;
}

bool talus_scene_has_cell(const TalusScene *scene)
{
    return scene->cell != NULL;
}

/* io/scene/scene_from.c - the bodies of an earlier run as the start of a scene.
 *
 * They come from a checkpoint of the run, with their contacts' impulses (world/save/start.c). All settings are the scene's, and
 * so are materials that have the same name in both. */
#include "io/scene/scene_from.h"

#include "base/memory.h"
#include "io/run/checkpoint.h"
#include "world/material.h"
#include "world/state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Cuts "@TIME" off the end of a directory and sets *time to it. Without such an end, nothing changes. */
static void cut_time(char *dir, double *time)
{
    char *at = strrchr(dir, '@'), *end;
    if (!at || !at[1])
        return;
    const double value = strtod(at + 1, &end);
    if (*end || !(value >= 0.0) || !isfinite(value))
        return;
    *time = value;
    *at = '\0';
}

/* Removes all bodies that do not move. On several ranks each removal is one of all. */
static TalusStatus remove_fixed(TalusWorld *world)
{
    const TalusBodies *b = &world->bodies;
    TalusComm *comm = world->ranks.comm;
    TalusInbox inbox = {0};
    uint64_t *own;
    int count = 0;
    TalusStatus status = TALUS_ALLOC(own, (size_t)b->counts.slots + 1, "fixed bodies");
    for (int i = 0; status == TALUS_OK && i < b->counts.slots; i++)
        if (b->shape[i] >= 0 && b->mobility[i] == TALUS_MOBILITY_FIXED)
            own[count++] = b->id[i];
    status = talus_comm_agree(comm, status);
    if (comm) {
        TALUS_THEN(status, talus_comm_gather(comm, own, (size_t)count * sizeof *own, &inbox));
        for (int m = 0; status == TALUS_OK && m < inbox.count; m++)
            for (size_t k = 0; status == TALUS_OK && k < inbox.message[m].bytes / sizeof *own;
                 k++) {
                const uint64_t *id = inbox.message[m].data;
                status = talus_world_remove_body(world, (TalusBodyId){id[k]});
            }
        talus_inbox_clear(&inbox);
    }
    for (int k = 0; !comm && status == TALUS_OK && k < count; k++)
        status = talus_world_remove_body(world, (TalusBodyId){own[k]});
    talus_release(own);
    return status;
}

TalusStatus talus_scene_find_from(const TalusScene *scene, char **dir, double *time)
{
    const SceneFrom *from = scene->from;
    const TalusJson *json = talus_json_get_or_self(from->json, "run");
    TALUS_TRY(talus_scene_resolve_path(scene, json, from->run, dir));
    *time = talus_json_get(from->json, "time") ? from->time : INFINITY;
    cut_time(*dir, time);
    return TALUS_OK;
}

TalusStatus talus_scene_load_from(const TalusScene *scene, const TalusWorldDef *def,
                                  TalusWorld **world)
{
    const SceneFrom *from = scene->from;
    const TalusJson *json = talus_json_get_or_self(from->json, "run");
    const TalusLoadDef load = {.start = def, .comm = def->comm};
    double time;
    char *dir;
    *world = NULL;
    TALUS_TRY(talus_comm_agree(def->comm, talus_scene_find_from(scene, &dir, &time)));
    TalusStatus status =
        talus_json_error_at(json, talus_checkpoint_read_before(dir, time, &load, world));
    talus_release(dir);
    if (status == TALUS_OK && !from->fixed)
        status = remove_fixed(*world);
    return status;
}

TalusStatus talus_scene_put_material(TalusWorld *world, const TalusMaterialDef *def, int *index)
{
    *index = -1;
    for (int i = 0; i < world->materials.count; i++) {
        if (strcmp(world->materials.def[i].name, def->name) != 0)
            continue;
        TALUS_TRY(talus_world_replace_material(world, i, def));
        *index = *index < 0 ? i : *index;
    }
    return *index < 0 ? talus_world_add_material(world, def, index) : TALUS_OK;
}

/* io/scene/scene_from.c - the bodies of an earlier run as the start of a scene.
 *
 * They come from a checkpoint of the run, with their contacts' impulses (world/save/start.c), or, if an exact frame is nearer to
 * the time that the scene asks for, from that frame, without impulses (io/run/exact_start.c). All settings are the scene's, and so
 * are materials that have the same name in both. */
#include "io/scene/scene_from.h"

#include "base/memory.h"
#include "io/run/checkpoint.h"
#include "io/run/exact_start.h"
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

/* ---- some of the bodies ---- */

/* Which bodies: those that do not move, or those with a tag and a number up to `last`. */
typedef struct Choice {
    bool fixed;
    int tag;
    uint64_t last;
} Choice;

static bool is_chosen(const TalusBodies *b, int slot, const Choice *choice)
{
    if (b->shape[slot] < 0)
        return false;
    return choice->fixed ? b->mobility[slot] == TALUS_MOBILITY_FIXED
                         : b->tag[slot] == choice->tag && b->id[slot] <= choice->last;
}

static int compare_ids(const void *a, const void *b)
{
    const uint64_t x = ((const TalusBodyId *)a)->number, y = ((const TalusBodyId *)b)->number;
    return (x > y) - (x < y);
}

/* Appends the ids of all ranks' messages. */
static TalusStatus join_ids(const TalusInbox *inbox, TalusBodyId **ids, int *count)
{
    size_t bytes = 0;
    for (int m = 0; m < inbox->count; m++)
        bytes += inbox->message[m].bytes;
    TALUS_TRY(TALUS_ALLOC(*ids, bytes / sizeof **ids + 1, "bodies of the earlier run"));
    for (int m = 0; m < inbox->count; m++) {
        memcpy(*ids + *count, inbox->message[m].data, inbox->message[m].bytes);
        *count += (int)(inbox->message[m].bytes / sizeof **ids);
    }
    return TALUS_OK;
}

/* Sets *ids, to be released, to the chosen bodies of all ranks, ascending. */
static TalusStatus find_bodies(TalusWorld *world, const Choice *choice, TalusBodyId **ids,
                               int *count)
{
    const TalusBodies *b = &world->bodies;
    TalusComm *comm = world->ranks.comm;
    TalusInbox inbox = {0};
    TalusBodyId *own = NULL;
    int owned = 0;
    *ids = NULL;
    *count = 0;
    TalusStatus status = TALUS_ALLOC(own, (size_t)b->counts.slots + 1, "bodies of the earlier run");
    for (int i = 0; status == TALUS_OK && i < b->counts.slots; i++)
        if (is_chosen(b, i, choice))
            own[owned++].number = b->id[i];
    status = talus_comm_agree(comm, status);
    if (comm) {
        TALUS_THEN(status, talus_comm_gather(comm, own, (size_t)owned * sizeof *own, &inbox));
        if (status == TALUS_OK)
            status = talus_comm_agree(comm, join_ids(&inbox, ids, count));
        talus_inbox_clear(&inbox);
        talus_release(own);
    } else {
        *ids = own;
        *count = owned;
    }
    if (status == TALUS_OK && *count > 1)
        qsort(*ids, (size_t)*count, sizeof **ids, compare_ids);
    return status;
}

/* Removes all bodies that do not move. On several ranks each removal is one of all. */
static TalusStatus remove_fixed(TalusWorld *world)
{
    const Choice choice = {.fixed = true};
    TalusBodyId *ids;
    int count;
    TalusStatus status = find_bodies(world, &choice, &ids, &count);
    for (int k = 0; k < count && status == TALUS_OK; k++)
        status = talus_world_remove_body(world, ids[k]);
    talus_release(ids);
    return status;
}

TalusStatus talus_scene_adopt_bodies(const SceneBody *body, int group, uint64_t last,
                                     TalusWorld *world, TalusBodyId **ids, int *count)
{
    const Choice choice = {.tag = (int)body->earlier, .last = last};
    const TalusJson *json = talus_json_get(body->json, "earlier");
    TALUS_TRY(find_bodies(world, &choice, ids, count));
    if (*count == 0)
        return talus_json_fail(json, 0, "no body of the earlier run has the tag %d", choice.tag);
    for (int k = 0; k < *count && body->group; k++)
        TALUS_TRY(talus_json_error_at(json, talus_world_set_group(world, (*ids)[k], group)));
    return TALUS_OK;
}

/* ---- the start ---- */

/* Sets *from_frame to whether the run has an exact frame at or before `time` that is later than its checkpoints up to then. With
 * `time` infinite, a checkpoint is taken if there is one. */
static TalusStatus choose_frame(const char *dir, double time, TalusComm *comm, bool *from_frame)
{
    double frame = NAN;
    const bool asks = talus_comm_rank(comm) == 0;
    const TalusStatus status = asks ? talus_exact_find(dir, time, &frame) : TALUS_OK;
    const double checkpoint = asks ? talus_checkpoint_time_before(dir, time) : NAN;
    const bool later = isfinite(time) && frame > checkpoint * (1.0 + 1e-9);
    const bool alone = !isnan(frame) && isnan(checkpoint);
    TALUS_TRY(talus_comm_agree(comm, status));
    *from_frame = talus_comm_any(comm, later || alone);
    return TALUS_OK;
}

/* Loads the world of the run's state at `time`; from a frame bodies that do not move only if `fixed`. */
static TalusStatus load_state(const char *dir, double time, bool fixed, const TalusWorldDef *def,
                              TalusWorld **world)
{
    const TalusLoadDef load = {.start = def, .comm = def->comm};
    bool from_frame;
    TALUS_TRY(choose_frame(dir, time, def->comm, &from_frame));
    return from_frame ? talus_exact_start(dir, time, fixed, def, world)
                      : talus_checkpoint_read_before(dir, time, &load, world);
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

/* Refuses bodies that do not move in a cell that deforms, as talus_world_add_bodies does. */
static TalusStatus check_cell(const TalusJson *json, TalusWorld *world)
{
    const Choice choice = {.fixed = true};
    TalusBodyId *ids;
    int count;
    if (!talus_world_cell_deforms(world))
        return TALUS_OK;
    TALUS_TRY(find_bodies(world, &choice, &ids, &count));
    talus_release(ids);
    return count == 0
               ? TALUS_OK
               : talus_json_fail(json, 0,
                                 "%d bod%s of the earlier run do%s not move with a cell that "
                                 "deforms; \"fixed\": false leaves such bodies behind",
                                 count, count > 1 ? "ies" : "y", count > 1 ? "" : "es");
}

TalusStatus talus_scene_load_from(const TalusScene *scene, const TalusWorldDef *def,
                                  TalusWorld **world)
{
    const SceneFrom *from = scene->from;
    const TalusJson *json = talus_json_get_or_self(from->json, "run");
    double time;
    char *dir;
    *world = NULL;
    TALUS_TRY(talus_comm_agree(def->comm, talus_scene_find_from(scene, &dir, &time)));
    TalusStatus status = talus_json_error_at(json, load_state(dir, time, from->fixed, def, world));
    talus_release(dir);
    if (status == TALUS_OK && !from->fixed)
        status = remove_fixed(*world);
    TALUS_THEN(status, check_cell(json, *world));
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

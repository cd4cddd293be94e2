/* io/run/exact_start.c - the bodies of an exact frame of a run as the start of another world. */
#include "io/run/exact_start.h"

#include "base/memory.h"
#include "io/file/file.h"
#include "io/frames/frames.h"
#include "world/cell.h"
#include "world/ranks/ranks.h"
#include "world/state.h"

#include <unistd.h>

/* Opens the frames of a run; *frames is NULL if it has none. */
static TalusStatus open_frames(const char *dir, TalusFrames **frames)
{
    char *path;
    *frames = NULL;
    TALUS_TRY(talus_path_format(&path, "%s/frames.talus", dir));
    const TalusStatus status = access(path, F_OK) == 0 ? talus_frames_open(path, frames) : TALUS_OK;
    talus_release(path);
    return status;
}

/* Returns the last exact frame at or before a time, -1: none. */
static int find_frame(const TalusFrames *frames, double time)
{
    int i = frames ? talus_frames_count(frames) - 1 : -1;
    while (i >= 0 && (talus_frames_info(frames, i).time > time * (1.0 + 1e-9) ||
                      !talus_frames_exact(frames, i)))
        i--;
    return i;
}

TalusStatus talus_exact_find(const char *dir, double time, double *found)
{
    TalusFrames *frames;
    *found = NAN;
    TALUS_TRY(open_frames(dir, &frames));
    const int i = find_frame(frames, time);
    if (i >= 0)
        *found = talus_frames_info(frames, i).time;
    talus_frames_close(frames);
    return TALUS_OK;
}

/* ---- the world ---- */

/* Adds shapes and materials under the numbers of the head. The default material of a world has number 0. */
static TalusStatus add_tables(TalusWorld *world, const TalusFramesHead *head)
{
    for (int i = 0; i < head->shape_count; i++)
        TALUS_TRY(talus_world_add_shape(world, &head->shapes[i], NULL));
    for (int i = 0; i < head->material_count; i++) {
        TalusMaterialDef def = talus_material_def_default();
        def.name = head->materials[i].name;
        def.friction = head->materials[i].friction;
        def.density = head->materials[i].density;
        TALUS_TRY(i == 0 ? talus_world_replace_material(world, 0, &def)
                         : talus_world_add_material(world, &def, NULL));
    }
    return TALUS_OK;
}

/* True if two bodies can be in one batch. */
static bool alike(const TalusSnapshot *s, int i, int j)
{
    return s->shape[i] == s->shape[j] && s->material[i] == s->material[j] &&
           s->tag[i] == s->tag[j] && s->fixed[i] == s->fixed[j];
}

/* Sets what the batch has derived, and might have rounded otherwise: masses and orientations. */
static TalusStatus set_bits(TalusWorld *world, const TalusSnapshot *s, int first, int count,
                            const TalusBodyId *id)
{
    for (int k = 0; k < count; k++) {
        int slot;
        TALUS_TRY(talus_ranks_find_body(world, id[k], &slot));
        if (slot < 0) /* another rank has the body */
            continue;
        world->bodies.orientation[slot] = s->orientation[first + k];
        world->bodies.mass[slot] = s->fixed[first + k] ? 0.0 : s->mass[first + k];
    }
    return TALUS_OK;
}

/* Adds the bodies [first, first + count), which are alike. */
static TalusStatus add_batch(TalusWorld *world, const TalusSnapshot *s, int first, int count,
                             TalusBodyId *id)
{
    TalusBodyBatch batch = talus_body_batch_default();
    batch.count = count;
    batch.shape = s->shape[first];
    batch.material = s->material[first];
    batch.tag = s->tag[first];
    batch.fixed = s->fixed[first];
    batch.mass = s->fixed[first] ? 0.0 : s->mass[first];
    batch.position = s->position + first;
    batch.orientation = s->orientation + first;
    batch.velocity = s->velocity + first;
    batch.spin = s->spin + first;
    batch.radius = s->radius + first;
    TALUS_TRY(talus_world_add_bodies(world, &batch, id));
    return set_bits(world, s, first, count, id);
}

/* Adds the bodies of the frame, those that do not move only if `fixed`. */
static TalusStatus add_bodies(TalusWorld *world, const TalusSnapshot *s, bool fixed)
{
    TalusBodyId *id;
    TalusStatus status = TALUS_ALLOC(id, (size_t)s->body_count + 1, "bodies");
    for (int first = 0, end; status == TALUS_OK && first < s->body_count; first = end) {
        for (end = first + 1; end < s->body_count && alike(s, first, end); end++)
            continue;
        if (fixed || !s->fixed[first])
            status = add_batch(world, s, first, end - first, id);
    }
    talus_release(id);
    world->exchange_kinetic = world->exchange_potential = 0.0; /* they were there before */
    return status;
}

/* Reads frame `index` and its head into `s` and *head, which `frames` owns. */
static TalusStatus read_frame(TalusFrames *frames, int index, TalusSnapshot *s,
                              const TalusFramesHead **head)
{
    TALUS_TRY(talus_frames_read_exact(frames, index, s));
    *head = talus_frames_head(frames, index);
    return *head ? TALUS_OK : talus_error_record()->code;
}

static TalusStatus read_start(const char *dir, double time, TalusFrames **frames, TalusSnapshot *s,
                              const TalusFramesHead **head)
{
    TALUS_TRY(open_frames(dir, frames));
    const int index = find_frame(*frames, time);
    if (index < 0)
        return talus_fail_file(dir, TALUS_ERR_ARGUMENT,
                               "no exact frame at or before t = %.15g s; talus run --frames exact "
                               "writes them",
                               time);
    return read_frame(*frames, index, s, head);
}

TalusStatus talus_exact_start(const char *dir, double time, bool fixed, const TalusWorldDef *def,
                              TalusWorld **world)
{
    const TalusFramesHead *head = NULL;
    TalusSnapshot snapshot = {0};
    TalusFrames *frames = NULL;
    *world = NULL;
    TalusStatus status =
        talus_comm_agree(def->comm, read_start(dir, time, &frames, &snapshot, &head));
    TALUS_THEN(status, talus_world_create(def, world));
    TALUS_THEN(status, add_tables(*world, head));
    TALUS_THEN(status, add_bodies(*world, &snapshot, fixed));
    if (status == TALUS_OK)
        talus_cell_continue(*world, &head->period, head->flow);
    talus_snapshot_free(&snapshot);
    talus_frames_close(frames);
    if (status != TALUS_OK) {
        talus_world_destroy(*world);
        *world = NULL;
    }
    return status;
}

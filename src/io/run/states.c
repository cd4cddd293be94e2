/* io/run/states.c - reads the states of a run from its checkpoint, its tables or its frames. Shapes and materials of
 * tables, which have their numbers alone, are those of frames.talus. */
#include "io/run/states.h"

#include "base/memory.h"
#include "io/file/file.h"
#include "io/formats/csv_frames.h"
#include "io/frames/frames.h"
#include "io/run/checkpoint.h"
#include "io/run/snapshot.h"
#include "world/state.h"

#include <unistd.h>

struct TalusStates {
    TalusStateSource source;
    char *dir;
    TalusCsvFrames *tables;
    TalusFrames *frames;
    TalusSnapshot snapshot, last; /* last: of the checkpoint */
    TalusHeadStore head;          /* of the checkpoint */
    double *mass;                 /* of the bodies of a frame */
    bool may_sleep;
};

const char *talus_state_source_name(TalusStateSource source)
{
    static const char *const names[] = {"checkpoint", "tables", "frames"};
    return names[source];
}

static bool has_file(const char *dir, const char *name)
{
    char *path;
    if (talus_path_format(&path, "%s/%s", dir, name) != TALUS_OK)
        return false;
    const bool exists = access(path, F_OK) == 0;
    talus_release(path);
    return exists;
}

bool talus_states_exist(const char *dir, TalusStateSource source)
{
    switch (source) {
    case TALUS_STATES_CHECKPOINT:
        return has_file(dir, TALUS_CHECKPOINT_A) || has_file(dir, TALUS_CHECKPOINT_B);
    case TALUS_STATES_TABLES: return has_file(dir, "frames.csv");
    default: return has_file(dir, "frames.talus");
    }
}

/* ---- opening ---- */

/* Reads bodies, contacts and head of the newest checkpoint. */
static TalusStatus read_checkpoint(TalusStates *s)
{
    TalusWorld *world = NULL;
    char *note = NULL;
    TalusStatus status = talus_checkpoint_read(s->dir, 1, "cpu", &world, &note);
    TALUS_THEN(status, talus_snapshot_take(&s->last, world,
                                           TALUS_SNAPSHOT_ALL & ~(unsigned)TALUS_SNAPSHOT_CHAINS));
    TALUS_THEN(status, talus_frames_head_of_world(world, NULL, NULL, &s->head));
    s->may_sleep = status == TALUS_OK && world->def.sleep_speed > 0.0;
    talus_free(note);
    talus_world_destroy(world);
    return status;
}

/* The same if there is one; one of another version, say, is left with a warning. */
static TalusStatus read_any_checkpoint(TalusStates *s)
{
    if (!talus_states_exist(s->dir, TALUS_STATES_CHECKPOINT))
        return TALUS_OK;
    const TalusStatus status = read_checkpoint(s);
    if (status != TALUS_ERR_FORMAT)
        return status;
    talus_log(TALUS_LOG_WARNING, "states.checkpoint", "%s: its checkpoint is not read: %s", s->dir,
              talus_error_reason());
    return TALUS_OK;
}

static TalusStatus open_frames(TalusStates *s)
{
    char *path;
    TALUS_TRY(talus_path_format(&path, "%s/frames.talus", s->dir));
    TalusStatus status = talus_frames_open(path, &s->frames);
    if (status == TALUS_OK && talus_frames_count(s->frames) == 0)
        status = talus_fail_file(path, TALUS_ERR_FORMAT, "there are no frames in it yet");
    talus_release(path);
    return status;
}

/* Without a checkpoint all masses of frames are unknown. */
static TalusStatus open_source(TalusStates *s)
{
    if (s->source == TALUS_STATES_CHECKPOINT)
        return read_checkpoint(s);
    TALUS_TRY(open_frames(s));
    TALUS_TRY(read_any_checkpoint(s));
    if (s->source == TALUS_STATES_FRAMES)
        return TALUS_OK;
    TALUS_TRY(talus_csv_frames_open(s->dir, &s->tables));
    return s->tables
               ? TALUS_OK
               : talus_fail_file(s->dir, TALUS_ERR_FORMAT, "there are no rows in frames.csv yet");
}

TalusStatus talus_states_open(const char *dir, TalusStateSource source, TalusStates **out)
{
    TalusStates *s = NULL;
    *out = NULL;
    TALUS_TRY(TALUS_ALLOC(s, 1, "states of a run"));
    s->source = source;
    TalusStatus status = talus_path_format(&s->dir, "%s", dir);
    TALUS_THEN(status, open_source(s));
    if (status == TALUS_OK)
        *out = s;
    else
        talus_states_close(s);
    return status;
}

void talus_states_close(TalusStates *s)
{
    if (!s)
        return;
    talus_csv_frames_close(s->tables);
    talus_frames_close(s->frames);
    talus_snapshot_free(&s->snapshot);
    talus_snapshot_free(&s->last);
    talus_frames_head_clear(&s->head);
    TALUS_RELEASE(s->dir, s->mass, s);
}

/* ---- reading ---- */

bool talus_states_may_sleep(const TalusStates *s)
{
    return s->may_sleep;
}

int talus_states_count(const TalusStates *s)
{
    return s->source == TALUS_STATES_CHECKPOINT ? 1
           : s->tables                          ? talus_csv_frames_count(s->tables)
                                                : talus_frames_count(s->frames);
}

double talus_states_time(const TalusStates *s, int index)
{
    return s->source == TALUS_STATES_CHECKPOINT ? s->last.time
           : s->tables                          ? talus_csv_frames_time(s->tables, index)
                                                : talus_frames_info(s->frames, index).time;
}

/* Sets the masses of the bodies of a frame; NAN for those that the checkpoint lacks. */
static TalusStatus find_masses(TalusStates *s)
{
    TALUS_TRY(TALUS_GROW(s->mass, (size_t)s->snapshot.body_count, 0, "masses"));
    for (int i = 0; i < s->snapshot.body_count; i++) {
        const int row = talus_snapshot_find(&s->last, s->snapshot.id[i].number);
        s->mass[i] = row < 0 ? NAN : s->last.mass[row];
    }
    s->snapshot.mass = s->mass;
    return TALUS_OK;
}

/* Fails if shapes or materials of a table's bodies are not in the head. */
static TalusStatus check_numbers(const TalusStates *s, const TalusFramesHead *head)
{
    for (int i = 0; i < s->snapshot.body_count; i++) {
        const int shape = s->snapshot.shape[i], material = s->snapshot.material[i];
        if (shape < 0 || shape >= head->shape_count || material < 0 ||
            material >= head->material_count)
            return talus_fail_file(s->dir, TALUS_ERR_FORMAT,
                                   "body %llu of the tables has shape %d and material %d, which "
                                   "frames.talus lacks",
                                   (unsigned long long)s->snapshot.id[i].number, shape, material);
    }
    return TALUS_OK;
}

bool talus_states_exact(const TalusStates *s, int index)
{
    return s->source != TALUS_STATES_FRAMES || talus_frames_exact(s->frames, index);
}

/* Reads a frame of frames.talus, as exactly as it is there. */
static TalusStatus read_stored(TalusStates *s, int index)
{
    if (talus_frames_exact(s->frames, index))
        return talus_frames_read_exact(s->frames, index, &s->snapshot);
    TALUS_TRY(talus_frames_read(s->frames, index, &s->snapshot));
    if (!s->snapshot.velocity) /* of lean frames: energies to six bits have no differences */
        s->snapshot.dissipated = NULL;
    return find_masses(s);
}

static TalusStatus read_frame(TalusStates *s, int index, const TalusFramesHead **head)
{
    const int frame = s->tables ? talus_frames_at(s->frames, talus_states_time(s, index)) : index;
    TALUS_TRY(s->tables ? talus_csv_frames_read(s->tables, index, &s->snapshot)
                        : read_stored(s, index));
    *head = talus_frames_head(s->frames, frame);
    if (!*head)
        return talus_error_record()->code;
    if (s->tables)
        talus_snapshot_place_branches(&s->snapshot, &(*head)->period);
    return s->tables ? check_numbers(s, *head) : TALUS_OK;
}

TalusStatus talus_states_read(TalusStates *s, int index, const TalusSnapshot **snapshot,
                              const TalusFramesHead **head)
{
    if (s->source == TALUS_STATES_CHECKPOINT) {
        *snapshot = &s->last;
        *head = &s->head.head;
        return TALUS_OK;
    }
    *snapshot = &s->snapshot;
    return read_frame(s, index, head);
}

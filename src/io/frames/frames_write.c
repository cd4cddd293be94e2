/* io/frames/frames_write.c - writer of a frames file; frames_read.c is the reader.
 *
 * A chunk is appended by one call, and a failed append is undone: between calls the file has whole chunks only. The
 * encoder commits a frame only after the frame is in the file, so that further frames can follow one that failed. */
#include "base/memory.h"
#include "io/file/growing.h"
#include "io/frames/frames.h"
#include "world/state.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* A part of lean frames: the bodies with these numbers. */
typedef struct Part {
    uint64_t number;
    TalusFrameState before, now; /* as in TalusFrameEncoder */
} Part;

struct TalusFramesWriter {
    TalusGrowing file;
    int version; /* format version of the file; a resumed file keeps its own */
    TalusDetail detail;
    TalusHeadStore named; /* has title and scene only; unless "", they replace those of new heads */
    TalusHeadStore head;  /* last head written */
    bool has_head, warned_clamped;
    TalusIndexRow *frame; /* [frames], rows of the index */
    int frames;
    TalusFrameEncoder encoder;
    bool in_parts; /* the last frame is: its state is in `part`, not in the encoder */
    Part *
        part; /* [parts], ascending: those of the last frame, and while a frame is added its own, too */
    int parts;
    TalusSnapshot snapshot; /* for talus_frames_add */
};

/* Frees the states of the parts from `first` on and forgets these parts. */
static void drop_parts(TalusFramesWriter *w, int first)
{
    for (int i = first; i < w->parts; i++) {
        talus_frame_state_clear(&w->part[i].before);
        talus_frame_state_clear(&w->part[i].now);
    }
    w->parts = w->parts < first ? w->parts : first;
}

static void free_writer(TalusFramesWriter *w)
{
    if (!w)
        return;
    talus_growing_close(&w->file);
    talus_release(w->frame);
    talus_frames_head_clear(&w->named);
    talus_frames_head_clear(&w->head);
    talus_frame_encoder_clear(&w->encoder);
    drop_parts(w, 0);
    talus_release(w->part);
    talus_snapshot_free(&w->snapshot);
    talus_release(w);
}

/* ---- the file ---- */

/* Empties the file and writes its first bytes; sets the version of the writer. */
static TalusStatus write_file_head(TalusFramesWriter *w)
{
    TalusFileHead head = {.version = TALUS_FRAMES_VERSION};
    w->version = TALUS_FRAMES_VERSION;
    memcpy(head.magic, TALUS_FRAMES_MAGIC, sizeof head.magic);
    TALUS_TRY(talus_growing_truncate(&w->file, 0));
    return talus_growing_append(&w->file, &head, sizeof head);
}

/* ---- opening ---- */

/* Sets the title and the scene that new heads get. */
static TalusStatus set_title_and_scene(TalusFramesWriter *w, const char *title, const char *scene)
{
    TalusFramesHead names = {.title = title, .scene = scene};
    return talus_frames_head_copy(&names, &w->named);
}

/* Sets title, scene and detail for a new file; `def` may be NULL. */
static TalusStatus set_title_and_detail(TalusFramesWriter *w, const TalusFramesDef *def)
{
    TALUS_TRY(set_title_and_scene(w, def ? def->title : NULL, def ? def->scene : NULL));
    w->detail = def ? def->detail : TALUS_DETAIL_AUTO;
    if ((unsigned)w->detail > TALUS_DETAIL_LEAN)
        return talus_reject("frames: detail %d; expected auto (0), full (1) or "
                            "lean (2)",
                            (int)w->detail);
    return TALUS_OK;
}

/* Creates the file in `dir` or, if that is NULL, at a path. */
static TalusStatus create_file(TalusFramesWriter *w, TalusDir *dir, const char *name,
                               const TalusFramesDef *def)
{
    TALUS_TRY(set_title_and_detail(w, def));
    TALUS_TRY(dir ? talus_growing_create(dir, name, &w->file)
                  : talus_growing_open_path(name, true, &w->file));
    return write_file_head(w);
}

/* Sets *out to the writer or, if `status` is a failure, frees it. Returns `status`. */
static TalusStatus return_or_free(TalusFramesWriter *w, TalusStatus status, TalusFramesWriter **out)
{
    if (status == TALUS_OK)
        *out = w;
    else
        free_writer(w);
    return status;
}

TalusStatus talus_frames_create_in(TalusDir *dir, const char *name, const TalusFramesDef *def,
                                   TalusFramesWriter **out)
{
    TalusFramesWriter *w;
    *out = NULL;
    TALUS_TRY(TALUS_ALLOC(w, 1, "frames"));
    return return_or_free(w, create_file(w, dir, name, def), out);
}

TalusStatus talus_frames_create(const char *path, const TalusFramesDef *def,
                                TalusFramesWriter **out)
{
    return talus_frames_create_in(NULL, path, def, out);
}

static TalusStatus add_index_row(TalusFramesWriter *w, const TalusIndexRow *row)
{
    size_t count = (size_t)w->frames;
    TALUS_TRY(TALUS_GROW(w->frame, count + 1, count, "frames"));
    w->frame[w->frames++] = *row;
    return TALUS_OK;
}

/* Adds rows for the first `count` frames of the old file to the index of the writer. */
static TalusStatus copy_index_rows(TalusFramesWriter *w, const TalusFrames *old, int count)
{
    for (int i = 0; i < count; i++) {
        TalusFrameInfo info = talus_frames_info(old, i);
        TalusIndexRow row = {.offset = info.offset,
                             .time = info.time,
                             .step = info.step,
                             .size = info.size,
                             .flags = info.key ? TALUS_CHUNK_KEY : 0,
                             .bodies = (uint32_t)info.bodies};
        TALUS_TRY(add_index_row(w, &row));
    }
    return TALUS_OK;
}

/* Appends an empty part to the list. */
static TalusStatus add_part(TalusFramesWriter *w, uint64_t number)
{
    size_t count = (size_t)w->parts;
    TALUS_TRY(TALUS_GROW(w->part, count + 1, count, "frames"));
    w->part[w->parts++] = (Part){.number = number};
    return TALUS_OK;
}

/* Takes the decoded frame out of `old`, as the last that the writer has written. */
static TalusStatus take_state(TalusFramesWriter *w, TalusFrames *old)
{
    TalusFrameState *state = &old->state[old->newest];
    w->in_parts = old->in_parts;
    if (!w->in_parts) {
        w->encoder.before = *state;
        *state = (TalusFrameState){0};
        return TALUS_OK;
    }
    for (int row = 0; row < state->count;) {
        const uint64_t number = talus_frame_part_of(state->id[row]);
        const TalusFrameState rows = talus_frame_state_part(state, number, &row);
        TALUS_TRY(add_part(w, number));
        TALUS_TRY(talus_frame_state_copy(&rows, &w->part[w->parts - 1].before));
    }
    return TALUS_OK;
}

/* Restores the state of a writer that has just written frame `last` and cuts off what follows. With last < 0, no frame
 * is kept: starts an empty file of the current version, with title, scene and detail of the old one. Takes the decoded
 * frame out of `old`. */
static TalusStatus continue_after(TalusFramesWriter *w, TalusFrames *old, int last)
{
    const TalusFramesHead *head = &old->loaded.head;
    TALUS_TRY(talus_frames_load_head(old, last < 0 ? 0 : last));
    TALUS_TRY(set_title_and_scene(w, head->title, head->scene));
    w->detail = head->lean ? TALUS_DETAIL_LEAN : TALUS_DETAIL_FULL;
    if (last < 0)
        return write_file_head(w);
    TALUS_TRY(talus_frames_head_copy(head, &w->head));
    w->has_head = true;
    w->version = (int)old->version;
    TALUS_TRY(copy_index_rows(w, old, last + 1));
    TALUS_TRY(talus_frames_decode(old, last, NULL));
    TALUS_TRY(take_state(w, old));
    return talus_growing_truncate(&w->file, w->frame[last].offset + w->frame[last].size);
}

/* Opens an existing file and continues it after its last frame that is not later than `time`. Fails if the file has no
 * frame at all. */
static TalusStatus resume_file(TalusFramesWriter *w, TalusDir *dir, const char *name, double time)
{
    TalusFrames *old;
    TALUS_TRY(dir ? talus_growing_open(dir, name, &w->file)
                  : talus_growing_open_path(name, false, &w->file));
    TALUS_TRY(talus_frames_open(w->file.path, &old));
    int last = talus_frames_count(old) - 1;
    while (last >= 0 && talus_frames_info(old, last).time > time)
        last--;
    TalusStatus status =
        talus_frames_count(old) > 0
            ? continue_after(w, old, last)
            : talus_fail_file(
                  w->file.path, TALUS_ERR_FORMAT,
                  "holds no frame to go on from; without the file the run can be resumed");
    talus_frames_close(old);
    return status;
}

TalusStatus talus_frames_resume_in(TalusDir *dir, const char *name, double time,
                                   TalusFramesWriter **out)
{
    TalusFramesWriter *w;
    *out = NULL;
    TALUS_TRY(TALUS_ALLOC(w, 1, "frames"));
    return return_or_free(w, resume_file(w, dir, name, time), out);
}

TalusStatus talus_frames_resume(const char *path, double time, TalusFramesWriter **out)
{
    return talus_frames_resume_in(NULL, path, time, out);
}

/* ---- heads ---- */

/* True if some body of the snapshot is not fixed. */
static bool has_moving_body(const TalusSnapshot *s)
{
    for (int i = 0; i < s->body_count; i++)
        if (!s->fixed[i])
            return true;
    return false;
}

/* True if frames are lean (speeds in place of velocities, no chains): as the last head says, which all heads of a file
 * agree on; before the first head, as w->detail says. AUTO means lean if the frames come from a lean file (`source`) or
 * have more than TALUS_LEAN_ABOVE bodies. */
static bool is_lean(const TalusFramesWriter *w, int64_t bodies, bool source)
{
    if (w->has_head)
        return w->head.head.lean;
    if (w->detail == TALUS_DETAIL_AUTO)
        return source || bodies > TALUS_LEAN_ABOVE;
    return w->detail == TALUS_DETAIL_LEAN;
}

/* True if a frame with this head needs no new head in the file, because the last one written is equal. If `head` has a
 * grid, as from a file, grid and radius must be equal too. The head of a world has no grid (quantum 0); then the last
 * grid must have been measured with moving bodies (floor is not NAN), unless the snapshot still has none. */
static bool last_head_applies(const TalusFramesWriter *w, const TalusFramesHead *head,
                              const TalusSnapshot *s)
{
    const TalusFramesHead *now = &w->head.head;
    if (!w->has_head || !talus_frames_heads_equal(now, head))
        return false;
    if (head->quantum > 0.0)
        return head->quantum == now->quantum && head->radius == now->radius &&
               memcmp(&head->origin, &now->origin, sizeof now->origin) == 0;
    return !isnan(now->floor) || !has_moving_body(s);
}

/* Makes the head to be written before a frame for which last_head_applies is false. If `head` has no grid, it gets
 * grid, radius and floor of the last head written. They are measured anew if there is no last head, or if that one was
 * measured without moving bodies and now there are some. */
static TalusStatus make_next_head(const TalusFramesWriter *w, const TalusFramesHead *head,
                                  const TalusSnapshot *s, TalusHeadStore *out)
{
    const TalusFramesHead *old = &w->head.head;
    TalusFramesHead next = *head;
    if (w->named.head.title[0])
        next.title = w->named.head.title;
    if (w->named.head.scene[0])
        next.scene = w->named.head.scene;
    next.lean = is_lean(w, s->body_count, head->lean);
    bool measured = w->has_head && (!isnan(old->floor) || !has_moving_body(s));
    if (!(head->quantum > 0.0) && measured) {
        next.radius = old->radius;
        next.quantum = old->quantum;
        next.origin = old->origin;
        next.floor = old->floor;
    } else if (!(head->quantum > 0.0)) {
        TALUS_TRY(talus_frames_head_set_grid(&next, s));
    }
    return talus_frames_head_copy(&next, out);
}

static TalusStatus append_head_chunk(TalusFramesWriter *w, const TalusFramesHead *head)
{
    TalusPacker packer = {0};
    TalusStatus status = talus_frames_head_pack(&packer, head, w->version);
    TALUS_THEN(status, talus_growing_append(&w->file, packer.bytes, packer.size));
    talus_packer_clear(&packer);
    return status;
}

/* ---- frames ---- */

/* Fails if the snapshot lacks fields that frames of this head store. */
static TalusStatus check_fields(const TalusFramesHead *head, const TalusSnapshot *s)
{
    bool contacts = s->fields & (TALUS_SNAPSHOT_CONTACTS | TALUS_SNAPSHOT_CHAINS);
    bool enough = s->force &&
                  (head->lean ? s->speed != NULL : s->velocity != NULL && s->touching && contacts);
    if (enough)
        return TALUS_OK;
    return talus_reject("frames: the snapshot has fields %#x; %s frames need %s", s->fields,
                        head->lean ? "lean" : "full",
                        head->lean ? "speeds and forces" : "velocities, forces and chains");
}

/* Logs a warning, once per writer, if bodies of the frame were outside the grid. */
static void warn_clamped(TalusFramesWriter *w, const TalusFramesHead *head, double time)
{
    if (w->encoder.clamped == 0 || w->warned_clamped)
        return;
    w->warned_clamped = true;
    talus_log(TALUS_LOG_WARNING, "frames.clamped",
              "%s: at time %g %d bodies are more than %g m from where the run began; their frames "
              "show them at that distance",
              w->file.path, time, w->encoder.clamped, head->quantum * 0x1p31);
}

/* ---- frames in parts ---- */

/* True if a frame can be in parts: lean, in a file of a version that has parts, with bodies by ascending ids. */
static bool can_be_in_parts(const TalusFramesWriter *w, const TalusFramesHead *head,
                            const TalusSnapshot *s)
{
    bool ascending = true;
    for (int i = 1; i < s->body_count; i++)
        ascending &= s->id[i - 1].number < s->id[i].number;
    return head->lean && w->version >= TALUS_FRAMES_PARTS_SINCE && ascending && s->body_count > 0;
}

/* Sets *at to the place of a part in the list, behind those of lower numbers; the part is added if it is not there. */
static TalusStatus find_part(TalusFramesWriter *w, uint64_t number, int *at)
{
    while (*at < w->parts && w->part[*at].number < number)
        ++*at;
    if (*at < w->parts && w->part[*at].number == number)
        return TALUS_OK;
    TALUS_TRY(add_part(w, number));
    const Part added = w->part[w->parts - 1];
    for (int i = w->parts - 1; i > *at; i--)
        w->part[i] = w->part[i - 1];
    w->part[*at] = added;
    return TALUS_OK;
}

/* Encodes one part by the encoder of all and appends its chunk. */
static TalusStatus append_part(TalusFramesWriter *w, const TalusFramesHead *head,
                               const TalusSnapshot *rows, Part *part, bool *key)
{
    TalusFrameEncoder *e = &w->encoder;
    const TalusFrameState before = e->before, now = e->now;
    e->before = part->before;
    e->now = part->now;
    TalusStatus status = talus_frame_encode_part(e, head, rows, part->number, key);
    part->before = e->before;
    part->now = e->now;
    e->before = before;
    e->now = now;
    TALUS_THEN(status, talus_growing_append(&w->file, e->packer.bytes, e->packer.size));
    return status;
}

/* Returns the rows [first, end) of a lean snapshot, in its memory. */
static TalusSnapshot snapshot_rows(const TalusSnapshot *s, int first, int end)
{
    TalusSnapshot rows = {.fields = s->fields,
                          .time = s->time,
                          .step = s->step,
                          .length = s->length,
                          .contact_total = s->contact_total};
    rows.body_count = end - first;
    rows.id = s->id + first;
    rows.position = s->position + first;
    rows.orientation = s->orientation + first;
    rows.radius = s->radius + first;
    rows.shape = s->shape + first;
    rows.material = s->material + first;
    rows.tag = s->tag + first;
    rows.fixed = s->fixed + first;
    rows.speed = s->speed + first;
    rows.force = s->force + first;
    rows.layer = s->layer ? s->layer + first : NULL;
    return rows;
}

/* Encodes and appends the parts of a frame and the chunk behind them. */
static TalusStatus append_parts(TalusFramesWriter *w, const TalusFramesHead *head,
                                const TalusSnapshot *s, bool *key)
{
    int parts = 0, at = 0, clamped = 0;
    for (int i = 0; i < w->parts; i++)
        w->part[i].now.count = 0;
    for (int first = 0, end = 0; first < s->body_count; first = end, parts++) {
        const uint64_t number = talus_frame_part_of(s->id[first]);
        while (end < s->body_count && talus_frame_part_of(s->id[end]) == number)
            end++;
        const TalusSnapshot rows = snapshot_rows(s, first, end);
        TALUS_TRY(find_part(w, number, &at));
        TALUS_TRY(append_part(w, head, &rows, &w->part[at], key));
        clamped += w->encoder.clamped;
    }
    w->encoder.clamped = clamped;
    TALUS_TRY(talus_frame_encode_end(&w->encoder.packer, s, parts, *key));
    return talus_growing_append(&w->file, w->encoder.packer.bytes, w->encoder.packer.size);
}

/* Makes the states of the parts those of the last frame; a part without bodies is forgotten. */
static void commit_parts(TalusFramesWriter *w)
{
    int kept = 0;
    for (int i = 0; i < w->parts; i++) {
        const Part part = w->part[i];
        w->part[i] = w->part[kept];
        w->part[kept] = (Part){.number = part.number, .before = part.now, .now = part.before};
        kept += part.now.count > 0;
    }
    drop_parts(w, kept);
}

/* ---- frames ---- */

/* Appends the frame's chunks. *key is set if only a key frame can store it. */
static TalusStatus append_frame_chunks(TalusFramesWriter *w, const TalusFramesHead *head,
                                       const TalusSnapshot *s, bool in_parts, bool *key)
{
    const uint64_t size = w->file.size;
    const uint32_t crc = w->file.crc;
    const bool asked = *key;
    if (!in_parts) {
        TALUS_TRY(talus_frame_encode(&w->encoder, head, s, key));
        return talus_growing_append(&w->file, w->encoder.packer.bytes, w->encoder.packer.size);
    }
    TALUS_TRY(append_parts(w, head, s, key));
    if (*key == asked)
        return TALUS_OK;
    talus_growing_undo_appends(&w->file, size,
                               crc); /* the parts before that one are no key frame's */
    if (w->file.size != size)
        return talus_fail_file(w->file.path, TALUS_ERR_IO, "cannot truncate");
    return append_parts(w, head, s, key);
}

/* Appends the frame to the file and its row to the index. */
static TalusStatus append_frame(TalusFramesWriter *w, const TalusFramesHead *head,
                                const TalusSnapshot *s, bool in_parts, bool key)
{
    TalusIndexRow row = {.offset = w->file.size,
                         .time = s->time,
                         .step = s->step,
                         .bodies = (uint32_t)s->body_count};
    TALUS_TRY(append_frame_chunks(w, head, s, in_parts, &key));
    row.size = w->file.size - row.offset;
    row.flags = key ? TALUS_CHUNK_KEY : 0;
    return add_index_row(w, &row);
}

/* Appends the head `fresh` (NULL: none) and the frame, or neither: if the frame fails, its head is removed. */
static TalusStatus append_head_and_frame(TalusFramesWriter *w, const TalusFramesHead *fresh,
                                         const TalusSnapshot *s, bool in_parts, bool key)
{
    const uint64_t size = w->file.size;
    const uint32_t crc = w->file.crc;
    TalusStatus status = fresh ? append_head_chunk(w, fresh) : TALUS_OK;
    TALUS_THEN(status, append_frame(w, fresh ? fresh : &w->head.head, s, in_parts, key));
    if (status != TALUS_OK && w->file.size != size)
        talus_growing_undo_appends(&w->file, size, crc);
    return status;
}

/* Takes note of the frame that is now the last of the file. */
static void commit_frame(TalusFramesWriter *w, bool in_parts)
{
    w->in_parts = in_parts;
    if (in_parts) {
        commit_parts(w);
        talus_frame_state_clear(&w->encoder.before);
    } else {
        talus_frame_encoder_commit(&w->encoder);
        drop_parts(w, 0);
    }
}

/* Appends a frame. `fresh` is a new head to write before it, which moves to w->head on success and leaves *fresh empty;
 * if empty on entry, the last head applies. */
static TalusStatus add_frame(TalusFramesWriter *w, TalusHeadStore *fresh, const TalusSnapshot *s)
{
    bool renewed = fresh->arena.blocks != NULL;
    const TalusFramesHead *head = renewed ? &fresh->head : &w->head.head;
    TALUS_TRY(check_fields(head, s));
    const bool in_parts = can_be_in_parts(w, head, s);
    const bool key = renewed || w->frames % TALUS_FRAMES_KEY_EVERY == 0 || in_parts != w->in_parts;
    TALUS_TRY(append_head_and_frame(w, renewed ? head : NULL, s, in_parts, key));
    warn_clamped(w, head, s->time);
    commit_frame(w, in_parts);
    if (renewed) {
        talus_frames_head_clear(&w->head);
        w->head = *fresh;
        *fresh = (TalusHeadStore){0};
        w->has_head = true;
    }
    return TALUS_OK;
}

TalusStatus talus_frames_add_snapshot(TalusFramesWriter *writer, const TalusFramesHead *head,
                                      const TalusSnapshot *snapshot)
{
    TalusHeadStore fresh = {0};
    if (writer->frames > 0 && !(snapshot->time >= writer->frame[writer->frames - 1].time))
        return talus_fail_file(writer->file.path, TALUS_ERR_ARGUMENT,
                               "a frame at time %g cannot follow one at %g", snapshot->time,
                               writer->frame[writer->frames - 1].time);
    if (!last_head_applies(writer, head, snapshot))
        TALUS_TRY(make_next_head(writer, head, snapshot, &fresh));
    TalusStatus status = add_frame(writer, &fresh, snapshot);
    talus_frames_head_clear(&fresh);
    return status;
}

TalusStatus talus_frames_add(TalusFramesWriter *writer, const TalusWorld *world)
{
    TalusHeadStore head = {0};
    bool lean = is_lean(writer, talus_world_body_count(world), false);
    TALUS_TRY(talus_snapshot_take(&writer->snapshot, world, talus_frame_fields(lean)));
    TALUS_TRY(talus_frames_head_of_world(world, NULL, NULL, &head));
    writer->encoder.packer.pool = world->pool;
    TalusStatus status = talus_frames_add_snapshot(writer, &head.head, &writer->snapshot);
    writer->encoder.packer.pool = NULL; /* the world may be freed before the next frame */
    talus_frames_head_clear(&head);
    return status;
}

TalusStatus talus_frames_sync(const TalusFramesWriter *writer)
{
    return talus_growing_sync(&writer->file);
}

TalusStatus talus_frames_check(const TalusFramesWriter *writer)
{
    return talus_growing_check(&writer->file);
}

const TalusFramesHead *talus_frames_writer_head(const TalusFramesWriter *writer)
{
    return writer->has_head ? &writer->head.head : NULL;
}

/* ---- the end ---- */

/* Packs the index chunk and the last bytes of the file. */
static TalusStatus pack_index(const TalusFramesWriter *w, TalusPacker *p)
{
    uint32_t counts[2] = {(uint32_t)w->frames, 0};
    TalusChunk chunk = {.magic = TALUS_CHUNK_MAGIC, .kind = TALUS_CHUNK_INDEX};
    chunk.size = sizeof counts + (uint64_t)w->frames * sizeof *w->frame;
    TALUS_TRY(talus_pack_bytes(p, NULL, sizeof chunk));
    TALUS_TRY(talus_pack_bytes(p, counts, sizeof counts));
    TALUS_TRY(talus_pack_bytes(p, w->frame, (size_t)w->frames * sizeof *w->frame));
    chunk.crc = talus_chunk_crc(&chunk, p->bytes + sizeof chunk);
    memcpy(p->bytes, &chunk, sizeof chunk);
    TalusFileEnd end = {.index = w->file.size};
    memcpy(end.magic, TALUS_FRAMES_END, sizeof end.magic);
    return talus_pack_bytes(p, &end, sizeof end);
}

/* Closes the file; fails if close(2) does, which may be the first report of a full disk on a network file system. */
static TalusStatus close_file(TalusFramesWriter *w)
{
    w->file.open = false;
    if (close(w->file.fd) != 0 && errno != EINTR)
        return talus_fail_file(w->file.path, TALUS_ERR_IO, "cannot write: %s", strerror(errno));
    return TALUS_OK;
}

TalusStatus talus_frames_finish(TalusFramesWriter *writer)
{
    TalusPacker packer = {0};
    if (!writer)
        return TALUS_OK;
    TalusStatus status = pack_index(writer, &packer);
    TALUS_THEN(status, talus_growing_append(&writer->file, packer.bytes, packer.size));
    TALUS_THEN(status, close_file(writer));
    talus_packer_clear(&packer);
    free_writer(writer);
    return status;
}

void talus_frames_abandon(TalusFramesWriter *writer)
{
    free_writer(writer);
}

/* io/frames/frames_write.c - writer of a frames file; frames_read.c is the reader.
 *
 * A chunk is appended by one call, and a failed append is undone: between calls the file has whole chunks only. The
 * encoder commits a frame only after the frame is in the file, so that further frames can follow one that failed. */
#include "base/memory.h"
#include "io/frames/frames_writer.h"
#include "world/state.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static TalusStatus create_writer(TalusFramesWriter **out)
{
    static atomic_uint_least64_t writers;
    TALUS_TRY(TALUS_ALLOC(*out, 1, "frames"));
    (*out)->number = atomic_fetch_add(&writers, 1) + 1;
    return TALUS_OK;
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
    talus_parts_clear(&w->parts);
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

/* Sets the title, scene and entries that new heads get. */
static TalusStatus set_names(TalusFramesWriter *w, const TalusFramesDef *def)
{
    TalusFramesHead names = {.title = def->title,
                             .scene = def->scene,
                             .entries = def->entries,
                             .entry_count = def->entry_count};
    return talus_frames_head_copy(&names, &w->named);
}

/* Sets names and detail for a new file; `def` may be NULL. */
static TalusStatus set_names_and_detail(TalusFramesWriter *w, const TalusFramesDef *def)
{
    const TalusFramesDef none = {0};
    TALUS_TRY(set_names(w, def ? def : &none));
    w->detail = def ? def->detail : TALUS_DETAIL_AUTO;
    w->exact = def && def->exact;
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
    TALUS_TRY(set_names_and_detail(w, def));
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
    TALUS_TRY(create_writer(&w));
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

/* Makes `w` a writer that has just written frame `last` and cuts off what follows; the frame itself is decoded when it is
 * needed. With last < 0, no frame is kept: starts an empty file of the current version, with names and detail of
 * the old one. */
static TalusStatus continue_after(TalusFramesWriter *w, TalusFrames *old, int last)
{
    const TalusFramesHead *head = &old->loaded.head;
    TALUS_TRY(talus_frames_load_head(old, last < 0 ? 0 : last));
    TALUS_TRY(set_names(w, &(TalusFramesDef){.title = head->title,
                                             .scene = head->scene,
                                             .entries = head->entries,
                                             .entry_count = head->entry_count}));
    w->detail = head->lean ? TALUS_DETAIL_LEAN : TALUS_DETAIL_FULL;
    w->exact = talus_frames_exact(old, last < 0 ? 0 : last);
    if (last < 0)
        return write_file_head(w);
    TALUS_TRY(talus_frames_head_copy(head, &w->head));
    w->has_head = true;
    w->version = (int)old->version;
    TALUS_TRY(copy_index_rows(w, old, last + 1));
    TALUS_TRY(talus_frames_verify(old, last));
    TALUS_TRY(talus_frames_in_parts(old, last, &w->in_parts));
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
    TALUS_TRY(create_writer(&w));
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

bool talus_writer_is_lean(const TalusFramesWriter *w, int64_t bodies, bool source)
{
    if (w->has_head)
        return w->head.head.lean;
    if (w->detail == TALUS_DETAIL_AUTO)
        return source || bodies > TALUS_LEAN_ABOVE;
    return w->detail == TALUS_DETAIL_LEAN;
}

bool talus_writer_head_applies(const TalusFramesWriter *w, const TalusFramesHead *head, bool moving)
{
    const TalusFramesHead *now = &w->head.head;
    if (!w->has_head || !talus_frames_heads_equal(now, head))
        return false;
    if (head->quantum > 0.0)
        return head->quantum == now->quantum && head->radius == now->radius &&
               memcmp(&head->origin, &now->origin, sizeof now->origin) == 0;
    return !isnan(now->floor) || !moving;
}

bool talus_writer_must_measure(const TalusFramesWriter *w, const TalusFramesHead *head, bool moving)
{
    const bool measured = w->has_head && (!isnan(w->head.head.floor) || !moving);
    return !(head->quantum > 0.0) && !measured;
}

TalusStatus talus_writer_make_head(const TalusFramesWriter *w, const TalusFramesHead *head,
                                   TalusHeadStore *out)
{
    const TalusFramesHead *old = &w->head.head;
    TalusFramesHead next = *head;
    if (w->named.head.title[0])
        next.title = w->named.head.title;
    if (w->named.head.scene[0])
        next.scene = w->named.head.scene;
    if (w->named.head.entry_count > 0) {
        next.entries = w->named.head.entries;
        next.entry_count = w->named.head.entry_count;
    }
    if (!(head->quantum > 0.0)) {
        next.radius = old->radius;
        next.quantum = old->quantum;
        next.origin = old->origin;
        next.floor = old->floor;
    }
    return talus_frames_head_copy(&next, out);
}

TalusStatus talus_writer_append_head(TalusFramesWriter *w, const TalusFramesHead *head)
{
    TalusPacker packer = {0};
    TalusStatus status = talus_frames_head_pack(&packer, head, w->version);
    TALUS_THEN(status, talus_growing_append(&w->file, packer.bytes, packer.size));
    talus_packer_clear(&packer);
    return status;
}

/* ---- what a frame needs ---- */

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

/* Logs a warning, once per writer, if bodies of the last frame were outside the grid. */
static void warn_clamped(TalusFramesWriter *w, int64_t bodies)
{
    if (bodies == 0 || w->warned_clamped)
        return;
    w->warned_clamped = true;
    talus_log(
        TALUS_LOG_WARNING, "frames.clamped",
        "%s: at time %g %lld bodies are more than %g m from where the run began; their frames "
        "show them at that distance",
        w->file.path, w->frame[w->frames - 1].time, (long long)bodies,
        w->head.head.quantum * 0x1p31);
}

/* ---- frames ---- */

TalusWriterStart talus_writer_start(const TalusFramesWriter *w)
{
    return (TalusWriterStart){w->file.size, w->file.crc};
}

void talus_writer_undo(TalusFramesWriter *w, TalusWriterStart start)
{
    if (w->file.size != start.size)
        talus_growing_undo_appends(&w->file, start.size, start.crc);
}

/* Appends the chunk that has been encoded. */
static TalusStatus append_chunk(TalusFramesWriter *w)
{
    return talus_growing_append(&w->file, w->encoder.packer.bytes, w->encoder.packer.size);
}

/* Appends the parts of a snapshot. */
static TalusStatus append_parts(TalusFramesWriter *w, const TalusFramesHead *head,
                                const TalusSnapshot *s, bool *key)
{
    talus_parts_begin(&w->parts);
    for (int first = 0; first < s->body_count;) {
        const TalusSnapshot rows = talus_snapshot_next_part(s, first);
        TALUS_TRY(talus_parts_encode(&w->parts, &w->encoder, head, &rows, key));
        TALUS_TRY(append_chunk(w));
        first += rows.body_count;
    }
    return TALUS_OK;
}

TalusStatus talus_writer_restart(TalusFramesWriter *w, TalusWriterStart start)
{
    talus_writer_undo(w, start);
    if (w->file.size != start.size)
        return talus_fail_file(w->file.path, TALUS_ERR_IO, "cannot truncate");
    return TALUS_OK;
}

/* Appends the frame's chunks. *key is set if only a key frame can store it. */
static TalusStatus append_chunks(TalusFramesWriter *w, const TalusFramesHead *head,
                                 const TalusSnapshot *s, bool in_parts, bool *key)
{
    const TalusWriterStart start = talus_writer_start(w);
    const bool asked = *key;
    if (!in_parts) {
        TALUS_TRY(talus_frame_encode(&w->encoder, head, s, key));
        return append_chunk(w);
    }
    TALUS_TRY(append_parts(w, head, s, key));
    if (*key != asked) {
        TALUS_TRY(talus_writer_restart(w, start));
        TALUS_TRY(append_parts(w, head, s, key));
    }
    TALUS_TRY(talus_parts_encode_end(&w->parts.made, &w->encoder.packer, s->time, s->step,
                                     s->contact_total, *key));
    return append_chunk(w);
}

TalusStatus talus_writer_index(TalusFramesWriter *w, uint64_t first, double time, int64_t step,
                               int64_t bodies, bool key)
{
    const TalusIndexRow row = {.offset = first,
                               .time = time,
                               .step = step,
                               .size = w->file.size - first,
                               .flags = key ? TALUS_CHUNK_KEY : 0,
                               .bodies = (uint32_t)bodies};
    return add_index_row(w, &row);
}

/* Appends the EXAC chunk of the frame, whose own chunks follow. */
static TalusStatus append_exact(TalusFramesWriter *w, const TalusSnapshot *s)
{
    TALUS_TRY(talus_frame_encode_exact(&w->encoder.packer, s));
    return append_chunk(w);
}

/* Appends the head `fresh` (NULL: none) and the frame. */
static TalusStatus append_frame(TalusFramesWriter *w, const TalusFramesHead *fresh,
                                const TalusSnapshot *s, bool in_parts, bool key)
{
    if (fresh)
        TALUS_TRY(talus_writer_append_head(w, fresh));
    if (w->exact)
        TALUS_TRY(append_exact(w, s));
    const uint64_t first = w->file.size;
    TALUS_TRY(append_chunks(w, fresh ? fresh : &w->head.head, s, in_parts, &key));
    return talus_writer_index(w, first, s->time, s->step, s->body_count, key);
}

void talus_writer_commit(TalusFramesWriter *w, TalusHeadStore *fresh, int64_t clamped,
                         bool in_parts)
{
    w->in_parts = in_parts;
    if (fresh->arena.blocks) {
        talus_frames_head_clear(&w->head);
        w->head = *fresh;
        *fresh = (TalusHeadStore){0};
        w->has_head = true;
    }
    warn_clamped(w, clamped);
}

/* Makes the frame that has just been encoded the state from which the next one is. */
static void commit_state(TalusFramesWriter *w)
{
    w->loaded = w->frames;
    if (w->in_parts) {
        talus_parts_commit(&w->parts);
        talus_frame_state_clear(&w->encoder.before);
    } else {
        talus_frame_encoder_commit(&w->encoder);
        talus_parts_clear(&w->parts);
    }
}

bool talus_writer_needs_key(const TalusFramesWriter *w, bool renewed, bool in_parts)
{
    return renewed || w->frames % TALUS_FRAMES_KEY_EVERY == 0 || in_parts != w->in_parts;
}

/* True if a frame can be in parts: lean, in a file of a version that has parts, with bodies by ascending ids. */
static bool can_be_in_parts(const TalusFramesWriter *w, const TalusFramesHead *head,
                            const TalusSnapshot *s)
{
    bool ascending = true;
    for (int i = 1; i < s->body_count; i++)
        ascending &= s->id[i - 1].number < s->id[i].number;
    return head->lean && w->version >= TALUS_FRAMES_PARTS_SINCE && ascending && s->body_count > 0;
}

/* Decodes the last frame, unless this writer has encoded it itself. */
static TalusStatus load_state(TalusFramesWriter *w)
{
    TalusFrames *old;
    if (w->loaded == w->frames)
        return TALUS_OK;
    talus_frame_state_clear(&w->encoder.before);
    talus_parts_clear(&w->parts);
    TALUS_TRY(talus_frames_open(w->file.path, &old));
    TalusStatus status = talus_frames_decode(old, w->frames - 1, NULL);
    TalusFrameState *state = &old->state[old->newest];
    if (w->in_parts) {
        TALUS_THEN(status, talus_parts_take(&w->parts, state));
    } else if (status == TALUS_OK) {
        w->encoder.before = *state;
        *state = (TalusFrameState){0};
    }
    talus_frames_close(old);
    if (status == TALUS_OK)
        w->loaded = w->frames;
    return status;
}

/* Appends a frame. `fresh` is a new head to write before it, which moves to w->head on success and leaves *fresh empty;
 * if empty on entry, the last head applies. If the frame fails, its head is removed. */
static TalusStatus add_frame(TalusFramesWriter *w, TalusHeadStore *fresh, const TalusSnapshot *s)
{
    const bool renewed = fresh->arena.blocks != NULL;
    const TalusFramesHead *head = renewed ? &fresh->head : &w->head.head;
    const TalusWriterStart start = talus_writer_start(w);
    TALUS_TRY(check_fields(head, s));
    TALUS_TRY(load_state(w));
    const bool in_parts = can_be_in_parts(w, head, s);
    const TalusStatus status = append_frame(w, renewed ? head : NULL, s, in_parts,
                                            talus_writer_needs_key(w, renewed, in_parts));
    if (status != TALUS_OK) {
        talus_writer_undo(w, start);
        return status;
    }
    talus_writer_commit(w, fresh, in_parts ? w->parts.made.clamped : w->encoder.clamped, in_parts);
    commit_state(w);
    return TALUS_OK;
}

TalusStatus talus_writer_check_time(const TalusFramesWriter *w, double time)
{
    if (w->frames > 0 && !(time >= w->frame[w->frames - 1].time))
        return talus_fail_file(w->file.path, TALUS_ERR_ARGUMENT,
                               "a frame at time %g cannot follow one at %g", time,
                               w->frame[w->frames - 1].time);
    return TALUS_OK;
}

TalusStatus talus_frames_add_snapshot(TalusFramesWriter *writer, const TalusFramesHead *head,
                                      const TalusSnapshot *snapshot)
{
    TalusHeadStore fresh = {0};
    const bool moving = has_moving_body(snapshot);
    TALUS_TRY(talus_writer_check_time(writer, snapshot->time));
    if (!talus_writer_head_applies(writer, head, moving)) {
        TalusFramesHead next = *head;
        next.lean = talus_writer_is_lean(writer, snapshot->body_count, head->lean);
        if (talus_writer_must_measure(writer, head, moving))
            TALUS_TRY(talus_frames_head_set_grid(&next, snapshot, NULL));
        TALUS_TRY(talus_writer_make_head(writer, &next, &fresh));
    }
    TalusStatus status = add_frame(writer, &fresh, snapshot);
    talus_frames_head_clear(&fresh);
    return status;
}

TalusStatus talus_frames_add(TalusFramesWriter *writer, const TalusWorld *world)
{
    TalusHeadStore head = {0};
    bool lean = talus_writer_is_lean(writer, talus_world_body_count(world), false);
    TALUS_TRY(talus_snapshot_take(&writer->snapshot, world,
                                  writer->exact ? TALUS_EXACT_FIELDS : talus_frame_fields(lean)));
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

bool talus_frames_writes_exact(const TalusFramesWriter *writer)
{
    return writer->exact;
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

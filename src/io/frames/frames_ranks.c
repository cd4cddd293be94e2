/* io/frames/frames_ranks.c - frames of a world on several ranks. Each rank makes every size-th part, from bodies that come to it,
 * and keeps its state for the next frame; the chunks go to rank 0, which writes the file. No rank has all bodies. */
#include "base/memory.h"
#include "comm/stream.h"
#include "io/frames/frames_writer.h"
#include "io/run/snapshot.h"
#include "world/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a rank keeps from frame to frame, in the world. */
typedef struct Share {
    uint64_t writer; /* whose last frame `parts` is of: TalusFramesWriter.number, 0: of none */
    int frames;      /* of that writer by then */
    TalusPartList parts;
    TalusFrameEncoder encoder;
    TalusSnapshot rows; /* bodies of a part */
} Share;

static void free_share(void *data)
{
    Share *share = data;
    talus_parts_clear(&share->parts);
    talus_frame_encoder_clear(&share->encoder);
    talus_snapshot_free(&share->rows);
    talus_release(share);
}

/* What rank 0 tells of the file. */
typedef struct Ticket {
    uint64_t writer;
    int32_t frames;
    bool in_parts;   /* the last frame is */
    char path[4096]; /* for ranks that lack their share of it */
} Ticket;

/* A frame being made. */
typedef struct RankFrame {
    TalusFramesWriter *writer; /* on rank 0 */
    TalusComm *comm;
    TalusGathering *gathering;
    Share *share;
    Ticket ticket;
    TalusHeadStore head;  /* of the world, with the grid that applies */
    TalusHeadStore fresh; /* on rank 0: the new one that the file gets, or empty */
    TalusPartCounts made; /* by all ranks */
    bool key;
} RankFrame;

bool talus_frames_has_parts(const TalusFramesWriter *writer, const TalusWorld *world)
{
    const int64_t bodies = talus_world_body_count(world);
    return writer->version >= TALUS_FRAMES_PARTS_SINCE && bodies > 0 && !writer->exact &&
           talus_writer_is_lean(writer, bodies, false);
}

/* ---- the last frame ---- */

/* Fills the ticket on rank 0. */
static TalusStatus write_ticket(RankFrame *f)
{
    const TalusFramesWriter *w = f->writer;
    char *path = realpath(w->file.path, NULL);
    const bool fits = path && strlen(path) < sizeof f->ticket.path;
    f->ticket = (Ticket){.writer = w->number, .frames = w->frames, .in_parts = w->in_parts};
    if (fits)
        strcpy(f->ticket.path, path);
    free(path);
    return fits ? TALUS_OK
                : talus_fail_file(w->file.path, TALUS_ERR_IO, "cannot find its absolute path");
}

/* Makes the share of this rank that of the last frame. */
static TalusStatus load_share(RankFrame *f)
{
    Share *share = f->share;
    const Ticket *ticket = &f->ticket;
    if (share->writer == ticket->writer && share->frames == ticket->frames)
        return TALUS_OK;
    share->writer = 0;
    talus_parts_clear(&share->parts);
    if (ticket->in_parts)
        TALUS_TRY(talus_frames_load_share(ticket->path, ticket->frames, talus_comm_rank(f->comm),
                                          talus_comm_size(f->comm), &share->parts));
    share->writer = ticket->writer;
    share->frames = ticket->frames;
    return TALUS_OK;
}

/* Creates the share of this rank, if there is none yet. */
static TalusStatus open_share(RankFrame *f, TalusWorld *world)
{
    if (!world->ranks.frames) {
        Share *share;
        TALUS_TRY(TALUS_ALLOC(share, 1, "frames"));
        world->ranks.frames = share;
        world->ranks.free_frames = free_share;
    }
    f->share = world->ranks.frames;
    f->share->encoder.packer.pool = world->pool;
    return f->writer ? write_ticket(f) : TALUS_OK;
}

static TalusStatus prepare_share(RankFrame *f, const TalusWorld *world)
{
    TALUS_TRY(talus_comm_agree(f->comm, open_share(f, (TalusWorld *)world)));
    TALUS_TRY(talus_comm_broadcast(f->comm, 0, &f->ticket, sizeof f->ticket));
    return talus_comm_agree(f->comm, load_share(f));
}

/* ---- the head ---- */

/* Measures the grid from the bodies of all ranks. */
static TalusStatus measure_grid(RankFrame *f)
{
    TalusSnapshot own = {0};
    TalusStatus status = talus_comm_agree(f->comm, talus_gathering_take_own(f->gathering, &own));
    TALUS_THEN(status, talus_frames_head_set_grid(&f->head.head, &own, f->comm));
    talus_snapshot_free(&own);
    return status;
}

/* Gives all ranks the numbers of the head that applies; shapes and materials are those of the world. */
static TalusStatus share_head(RankFrame *f)
{
    const TalusFramesWriter *w = f->writer;
    TalusFramesHead *head = &f->head.head;
    double grid[6];
    if (w) {
        const TalusFramesHead *h = f->fresh.arena.blocks ? &f->fresh.head : &w->head.head;
        const double values[6] = {h->radius,   h->quantum,  h->floor,
                                  h->origin.x, h->origin.y, h->origin.z};
        memcpy(grid, values, sizeof grid);
    }
    TALUS_TRY(talus_comm_broadcast(f->comm, 0, grid, sizeof grid));
    head->radius = grid[0];
    head->quantum = grid[1];
    head->floor = grid[2];
    head->origin = talus_vec3(grid[3], grid[4], grid[5]);
    return TALUS_OK;
}

/* Makes the new head, if there must be one, and sets f->head to the one that applies. */
static TalusStatus find_head(RankFrame *f, const TalusFramesDef *def, const TalusWorld *world)
{
    TalusFramesWriter *w = f->writer;
    TALUS_TRY(talus_comm_agree(f->comm, talus_frames_head_of_world(world, def, NULL, &f->head)));
    f->head.head.lean = true;
    const bool moving = talus_gathering_moves(f->gathering);
    const bool renew = w && !talus_writer_head_applies(w, &f->head.head, moving);
    if (talus_comm_any(f->comm, renew && talus_writer_must_measure(w, &f->head.head, moving)))
        TALUS_TRY(measure_grid(f));
    TALUS_TRY(talus_comm_agree(f->comm, renew ? talus_writer_make_head(w, &f->head.head, &f->fresh)
                                              : TALUS_OK));
    f->key = talus_comm_any(f->comm, w && talus_writer_needs_key(w, renew, true));
    return share_head(f);
}

/* ---- parts ---- */

static void fill_chunk(const void *context, int64_t first, int64_t count, void *out)
{
    const TalusPacker *packer = context;
    memcpy(out, packer->bytes + first, (size_t)count);
}

static TalusStatus put_chunk(void *context, const void *bytes, size_t size)
{
    TalusFramesWriter *w = context;
    return talus_growing_append(&w->file, bytes, size);
}

/* Encodes this rank's part of a round, if it has bodies, and appends those of all ranks, in order. */
static TalusStatus append_round(RankFrame *f, bool *key)
{
    Share *share = f->share;
    TalusSpan span = {0};
    const TalusByteSink sink = {put_chunk, f->writer};
    TalusStatus status = TALUS_OK;
    if (share->rows.body_count > 0) {
        status =
            talus_parts_encode(&share->parts, &share->encoder, &f->head.head, &share->rows, key);
        span.count = (int64_t)share->encoder.packer.size;
    }
    TALUS_TRY(talus_comm_agree(f->comm, status));
    TALUS_TRY(talus_comm_find_spans(f->comm, &span, 1));
    return talus_comm_agree(
        f->comm, talus_comm_stream(f->comm, span, 1, fill_chunk, &share->encoder.packer, &sink));
}

/* Brings the bodies of the parts of a round to their ranks: rank r makes part size * round + r. */
static TalusStatus take_round(const RankFrame *f, uint64_t round)
{
    const int size = talus_comm_size(f->comm);
    for (int r = 0; r < size; r++) {
        const uint64_t part = round * (uint64_t)size + (uint64_t)r;
        TALUS_TRY(talus_gathering_take(f->gathering, talus_frame_fields(true),
                                       part * TALUS_FRAMES_PART + 1,
                                       (part + 1) * TALUS_FRAMES_PART + 1, r, &f->share->rows));
    }
    return TALUS_OK;
}

/* Appends all parts, and sets f->made. *key is set if only a key frame can store one of them. */
static TalusStatus append_parts(RankFrame *f, bool *key)
{
    const uint64_t size = (uint64_t)talus_comm_size(f->comm);
    uint64_t number = 1;
    talus_parts_begin(&f->share->parts);
    for (;;) {
        TALUS_TRY(talus_gathering_find(f->gathering, number, &number));
        if (number == 0)
            break;
        const uint64_t round = talus_frame_part_of((TalusBodyId){number}) / size;
        TALUS_TRY(take_round(f, round));
        TALUS_TRY(append_round(f, key));
        number = (round + 1) * size * TALUS_FRAMES_PART + 1;
    }
    f->made = f->share->parts.made;
    *key = talus_comm_any(f->comm, *key);
    return talus_comm_add_counts(f->comm, &f->made.parts, sizeof f->made / sizeof f->made.parts);
}

/* ---- the frame ---- */

/* Appends what rank 0 adds to the parts. */
static TalusStatus append_end(RankFrame *f, const TalusWorld *world, uint64_t first)
{
    TalusFramesWriter *w = f->writer;
    TalusPacker *packer = &f->share->encoder.packer;
    const double time = talus_world_time(world);
    const int64_t step = talus_world_steps(world);
    TALUS_TRY(talus_parts_encode_end(&f->made, packer, time, step,
                                     talus_gathering_contacts(f->gathering), f->key));
    TALUS_TRY(talus_growing_append(&w->file, packer->bytes, packer->size));
    return talus_writer_index(w, first, time, step, f->made.bodies, f->key);
}

/* Appends head and frame. */
static TalusStatus append_frame(RankFrame *f, const TalusWorld *world)
{
    TalusFramesWriter *w = f->writer;
    bool key = f->key;
    TALUS_TRY(talus_comm_agree(
        f->comm, f->fresh.arena.blocks ? talus_writer_append_head(w, &f->fresh.head) : TALUS_OK));
    const TalusWriterStart start = w ? talus_writer_start(w) : (TalusWriterStart){0};
    TALUS_TRY(append_parts(f, &key));
    if (key != f->key) {
        f->key = key;
        TALUS_TRY(talus_comm_agree(f->comm, w ? talus_writer_restart(w, start) : TALUS_OK));
        TALUS_TRY(append_parts(f, &key));
    }
    return talus_comm_agree(f->comm, w ? append_end(f, world, start.size) : TALUS_OK);
}

/* Makes the frame the last one. */
static void commit(RankFrame *f)
{
    talus_parts_commit(&f->share->parts);
    f->share->frames = f->ticket.frames + 1;
    if (f->writer)
        talus_writer_commit(f->writer, &f->fresh, f->made.clamped, true);
}

/* Makes and appends the frame; the file is as before if any rank fails. */
static TalusStatus add_frame(RankFrame *f, const TalusFramesDef *def, const TalusWorld *world)
{
    TalusFramesWriter *w = f->writer;
    TALUS_TRY(talus_comm_agree(f->comm,
                               w ? talus_writer_check_time(w, talus_world_time(world)) : TALUS_OK));
    TALUS_TRY(prepare_share(f, world));
    TALUS_TRY(talus_gathering_open(world, &f->gathering));
    TALUS_TRY(find_head(f, def, world));
    const TalusWriterStart start = w ? talus_writer_start(w) : (TalusWriterStart){0};
    const TalusStatus status = append_frame(f, world);
    if (status == TALUS_OK)
        commit(f);
    else if (w)
        talus_writer_undo(w, start);
    return status;
}

TalusStatus talus_frames_add_from_ranks(TalusFramesWriter *writer, const TalusFramesDef *def,
                                        const TalusWorld *world)
{
    RankFrame *frame;
    TALUS_TRY(talus_comm_agree(world->ranks.comm, TALUS_ALLOC(frame, 1, "frames")));
    frame->writer = writer;
    frame->comm = world->ranks.comm;
    talus_world_refresh(world, true);
    const TalusStatus status = add_frame(frame, def, world);
    talus_gathering_close(frame->gathering);
    talus_frames_head_clear(&frame->head);
    talus_frames_head_clear(&frame->fresh);
    talus_release(frame);
    return status;
}

/* io/frames/frames_writer.h - what a writer of frames.talus is, for those who append frames: frames_write.c, frames_ranks.c. */
#ifndef TALUS_IO_FRAMES_FRAMES_WRITER_H
#define TALUS_IO_FRAMES_FRAMES_WRITER_H

#include "io/file/growing.h"
#include "io/frames/frames.h"

struct TalusFramesWriter {
    TalusGrowing file;
    uint64_t number; /* of this writer among all of the process, from 1 */
    int version;     /* format version of the file; a resumed file keeps its own */
    TalusDetail detail;
    TalusHeadStore
        named; /* has title, scene and entries only; they replace those of new heads unless empty */
    TalusHeadStore head; /* last head written */
    bool has_head, warned_clamped;
    bool exact;           /* frames have EXAC chunks */
    TalusIndexRow *frame; /* [frames], rows of the index */
    int frames;
    bool in_parts; /* the last frame is */
    /* State of the last frame, in `parts` or in the encoder, if frames == loaded; else another has it, or the file alone. */
    int loaded;
    TalusFrameEncoder encoder;
    TalusPartList parts;
    TalusSnapshot snapshot; /* for talus_frames_add */
};

/* Where a frame begins in the file. */
typedef struct TalusWriterStart {
    uint64_t size;
    uint32_t crc;
} TalusWriterStart;

TalusWriterStart talus_writer_start(const TalusFramesWriter *writer);
/* Removes what has been appended since. */
void talus_writer_undo(TalusFramesWriter *writer, TalusWriterStart start);
/* The same, for a key frame in place of the parts that are there; fails if they cannot be removed. */
TalusStatus talus_writer_restart(TalusFramesWriter *writer, TalusWriterStart start);

/* True if frames are lean (speeds in place of velocities, no chains): as the last head says, which all heads of a file
 * agree on; before the first head, as writer->detail says. AUTO means lean if the frames come from a lean file (`source`) or
 * have more than TALUS_LEAN_ABOVE bodies. */
bool talus_writer_is_lean(const TalusFramesWriter *writer, int64_t bodies, bool source);
/* Fails if a frame cannot come next. */
TalusStatus talus_writer_check_time(const TalusFramesWriter *writer, double time);
/* True if a frame with this head needs no new head in the file, because the last one written is equal. If `head` has a
 * grid, as from a file, grid and radius must be equal too. The head of a world has no grid (quantum 0); then the last
 * grid must have been measured with moving bodies (floor is not NAN), unless there are still none. */
bool talus_writer_head_applies(const TalusFramesWriter *writer, const TalusFramesHead *head,
                               bool moving);
/* True if a new head must have the grid measured: there is no last head, or it was measured without moving bodies and now there
 * are some. */
bool talus_writer_must_measure(const TalusFramesWriter *writer, const TalusFramesHead *head,
                               bool moving);
/* Makes the head to be written before a frame for which talus_writer_head_applies is false. If `head` has no grid, it gets
 * grid, radius and floor of the last head written. */
TalusStatus talus_writer_make_head(const TalusFramesWriter *writer, const TalusFramesHead *head,
                                   TalusHeadStore *out);
TalusStatus talus_writer_append_head(TalusFramesWriter *writer, const TalusFramesHead *head);
/* True if the next frame must be a key frame. */
bool talus_writer_needs_key(const TalusFramesWriter *writer, bool renewed, bool in_parts);
/* Adds the frame that has been appended from `first` on to the index. */
TalusStatus talus_writer_index(TalusFramesWriter *writer, uint64_t first, double time, int64_t step,
                               int64_t bodies, bool key);
/* Takes note of the frame that is now the last of the file, and of its head, if `fresh` is not empty; warns if bodies were
 * outside the grid (`clamped`). */
void talus_writer_commit(TalusFramesWriter *writer, TalusHeadStore *fresh, int64_t clamped,
                         bool in_parts);

#endif

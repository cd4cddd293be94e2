/* talus/frames.h - snapshots of a run: taken from a world, stored in one compact file, read back.
 *
 * A snapshot has the bodies and contacts at one time as plain arrays. Writers of pictures and of other programs' files
 * work on snapshots, taken from a world or read from a file (docs/reference/frames.md). */
#ifndef TALUS_FRAMES_H
#define TALUS_FRAMES_H

#include <talus/base.h>
#include <talus/math.h>
#include <talus/shape.h>
#include <talus/world.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- snapshots ---- */

/* Fields of a snapshot beyond id, position, orientation, radius, shape, material, tag and fixed. */
typedef enum TalusSnapshotField {
    TALUS_SNAPSHOT_VELOCITY = 1, /* velocity, and speed */
    TALUS_SNAPSHOT_SPEED = 2,    /* speed alone */
    TALUS_SNAPSHOT_SPIN = 4,
    TALUS_SNAPSHOT_FORCE = 8,     /* force, touching */
    TALUS_SNAPSHOT_CONTACTS = 16, /* every contact of the last step */
    TALUS_SNAPSHOT_CHAINS = 32,   /* only contacts with a normal force above the mean */
    TALUS_SNAPSHOT_MASS = 64,
    TALUS_SNAPSHOT_LAYER = 128,      /* only from a file */
    TALUS_SNAPSHOT_DISSIPATED = 256, /* of a world that sums it; others leave it out */
    TALUS_SNAPSHOT_ALL = 383         /* all that a world provides; contacts in full */
} TalusSnapshotField;

/* Arrays over living bodies, by ascending ids, those from a file in its order; NULL if not among `fields`. */
typedef struct TalusSnapshot {
    unsigned fields;
    double time;
    int64_t step;
    double length; /* s: of the last step or its last part; force is impulse / length */
    int body_count;
    TalusBodyId *id;
    TalusVec3 *position, *velocity, *spin;
    TalusQuat *orientation;
    double *speed;
    double *radius;     /* as TalusBodyState: 0 for unbounded shapes */
    double *mass;       /* 0 for fixed bodies */
    double *dissipated; /* J: as TalusBodyState */
    double *force;      /* sum of the normal contact forces on the body, as positive numbers, N */
    int *touching;      /* number of contacts with a normal impulse; NULL from lean frames */
    int *shape, *material, *tag;
    int *layer; /* starting height over head.floor, in units of 2 head.radius: 0 to 255 */
    bool *fixed;
    int contact_count;     /* in `contact` */
    int64_t contact_total; /* contacts of the step, stored or not */
    /* Chains from a file have gap 0, a point on the line of centres if b moves, a normal from the centre of a to that
     * point, and an impulse along it. */
    TalusContactState *contact;
    int *contact_a, *contact_b;         /* indices of the two bodies in the arrays above */
    void *body_memory, *contact_memory; /* the blocks that hold the arrays */
} TalusSnapshot;

/* Fills a snapshot and reuses its memory; a zeroed snapshot is empty. fields: bits of TALUS_SNAPSHOT_ALL. If memory is
 * lacking or a device fails, the snapshot is freed. On several ranks all of them call this, and rank 0 gets the snapshot;
 * those of others are freed. */
TALUS_API TalusStatus talus_snapshot_take(TalusSnapshot *snapshot, const TalusWorld *world,
                                          unsigned fields);
TALUS_API void talus_snapshot_free(TalusSnapshot *snapshot);

/* ---- data common to many frames ---- */

typedef struct TalusFramesMaterial {
    const char *name;
    double friction, density;
} TalusFramesMaterial;

/* Bodies of one origin: numbers first .. last. Several ranges may have one name. */
typedef struct TalusFramesEntry {
    const char *name;
    int64_t first, last; /* last 0: all from first on */
} TalusFramesEntry;

typedef struct TalusFramesHead {
    const char *title, *scene; /* "" where unknown */
    TalusVec3 gravity;
    TalusPeriod period; /* axes along which space repeats itself */
    /* 1/s: of a cell that deforms, 0 else: bodies that move with it have flow (x - c), c the middle of the period */
    TalusGradient flow;
    double step; /* h */
    /* Typical radius: the median over moving bodies, else over bodies with an extent, else 1. */
    double radius;
    double quantum; /* positions are `origin` plus multiples of this; 0: exact, as in a world */
    TalusVec3 origin;
    double floor; /* height (against gravity) of the lowest moving body; NAN if none moves */
    bool lean;    /* speeds instead of velocities, coarse forces, no chains */
    int shape_count, material_count;
    const TalusShapeDef *shapes;
    const TalusFramesMaterial *materials;
    int entry_count; /* 0: the origins of bodies are not known */
    const TalusFramesEntry *entries;
    const struct TalusFigure *figures; /* how to draw the shapes, from a file; may be NULL */
} TalusFramesHead;

/* ---- writing ---- */

typedef enum TalusDetail {
    TALUS_DETAIL_AUTO, /* lean above TALUS_LEAN_ABOVE bodies in the first frame */
    TALUS_DETAIL_FULL,
    TALUS_DETAIL_LEAN
} TalusDetail;

enum { TALUS_LEAN_ABOVE = 200000 };

typedef struct TalusFramesDef {
    const char *title, *scene; /* copied into the file; NULL or "": those of the snapshot's head */
    TalusDetail detail;
    /* Every frame also has all numbers of its snapshot, bit by bit, with all contacts: TALUS_SNAPSHOT_ALL but chains. */
    bool exact;
    const TalusFramesEntry *entries; /* copied into the file as well */
    int entry_count;
} TalusFramesDef;

typedef struct TalusFramesWriter TalusFramesWriter;

/* Creates or overwrites a file. */
TALUS_API TalusStatus talus_frames_create(const char *path, const TalusFramesDef *def,
                                          TalusFramesWriter **out);
/* Continues a file after its last frame at or before `time`. Later frames are cut off; the bytes that follow are those
 * of a writer that never stopped. Fails if the file has no frame. */
TALUS_API TalusStatus talus_frames_resume(const char *path, double time, TalusFramesWriter **out);
/* Appends a frame, readable as soon as the call returns. */
TALUS_API TalusStatus talus_frames_add(TalusFramesWriter *writer, const TalusWorld *world);
/* Appends a snapshot, such as one read from another file with that file's head. */
TALUS_API TalusStatus talus_frames_add_snapshot(TalusFramesWriter *writer,
                                                const TalusFramesHead *head,
                                                const TalusSnapshot *snapshot);
/* Writes the index, closes the file and frees the writer, also on failure; NULL is allowed. A file without an index is
 * readable but slower to open. */
TALUS_API TalusStatus talus_frames_finish(TalusFramesWriter *writer);
/* Closes without an index, as a crash would, and frees the writer; NULL is allowed. */
TALUS_API void talus_frames_abandon(TalusFramesWriter *writer);

/* ---- reading, also while the file is being written ---- */

typedef struct TalusFrames TalusFrames;

typedef struct TalusFrameInfo {
    double time;
    int64_t step;
    uint64_t offset, size; /* of the frame's chunks in the file */
    int64_t bodies;
    bool key; /* true if the frame is stored without reference to an earlier one */
} TalusFrameInfo;

/* Opens a file. A file that ends within a chunk is read up to that chunk. Other damage is reported by the call that
 * meets it: "FILE: frame N: what". */
TALUS_API TalusStatus talus_frames_open(const char *path, TalusFrames **out);
TALUS_API void talus_frames_close(TalusFrames *frames);
/* Adds the frames appended since the last call, or starts over if the file was cut or replaced. */
TALUS_API TalusStatus talus_frames_refresh(TalusFrames *frames);
TALUS_API int talus_frames_count(const TalusFrames *frames);
TALUS_API TalusFrameInfo talus_frames_info(const TalusFrames *frames, int index);
/* Returns the head of a frame; owned by `frames`, valid until the next call on it. NULL if missing or damaged;
 * talus_error() says why. */
TALUS_API const TalusFramesHead *talus_frames_head(TalusFrames *frames, int index);
/* Writes offset and size in the file of the chunk with a frame's head; 0 and 0 if there is none. */
TALUS_API void talus_frames_head_location(TalusFrames *frames, int index, uint64_t *offset,
                                          uint64_t *size);
/* True if the file ends with an index, hence its writer has finished. */
TALUS_API bool talus_frames_complete(const TalusFrames *frames);
/* Returns the index of the last frame at or before `time`; if there is none, of the first frame. */
TALUS_API int talus_frames_at(const TalusFrames *frames, double time);
/* Decodes a frame. Reading forward frame by frame decodes each frame once. */
TALUS_API TalusStatus talus_frames_read(TalusFrames *frames, int index, TalusSnapshot *snapshot);
/* True if a frame has exact numbers beside the rounded ones. */
TALUS_API bool talus_frames_exact(const TalusFrames *frames, int index);
/* Reads these: the snapshot that was written, with velocities, spins, masses, forces and all contacts. Fails if the frame has
 * none. No other frame is read. */
TALUS_API TalusStatus talus_frames_read_exact(TalusFrames *frames, int index,
                                              TalusSnapshot *snapshot);

#ifdef __cplusplus
}
#endif

#endif

/* talus/frames.h - moments of a run: taken from a world, kept in one compact file, read back.
 *
 * A snapshot is the bodies and contacts of one moment as plain arrays. Everything that writes
 * pictures or other programs' files works on snapshots, whether they were taken from a world or read
 * from a file. docs/reference/frames.md describes the file. */
#ifndef TALUS_FRAMES_H
#define TALUS_FRAMES_H

#include <talus/base.h>
#include <talus/math.h>
#include <talus/shape.h>
#include <talus/world.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- a moment ---- */

/* What a snapshot holds beyond id, position, orientation, radius, shape, material, tag and fixed. */
typedef enum TalusSnapshotField {
    TALUS_SNAPSHOT_VELOCITY = 1, /* velocity, and speed */
    TALUS_SNAPSHOT_SPEED = 2,    /* speed alone */
    TALUS_SNAPSHOT_SPIN = 4,
    TALUS_SNAPSHOT_FORCE = 8,     /* force, touching */
    TALUS_SNAPSHOT_CONTACTS = 16, /* every contact of the last step */
    TALUS_SNAPSHOT_CHAINS = 32,   /* the strong ones alone: normal force above the mean */
    TALUS_SNAPSHOT_MASS = 64,
    TALUS_SNAPSHOT_LAYER = 128, /* only from a file */
    TALUS_SNAPSHOT_ALL = 127    /* what a world can give; contacts in full */
} TalusSnapshotField;

/* Arrays over living bodies, in the order of talus_world_get_state; those that `fields` does not promise are NULL. */
typedef struct TalusSnapshot {
    unsigned fields;
    double time;
    int64_t step;
    double length; /* of a step: impulse / length is force */
    int body_count;
    TalusBodyId *id;
    TalusVec3 *position, *velocity, *spin;
    TalusQuat *orientation;
    double *speed;
    double *radius; /* as TalusBodyState: 0 for unbounded shapes */
    double *mass;   /* 0 for fixed bodies */
    double *force;  /* sum of the normal contact forces on the body, N */
    int *touching;  /* contacts with a normal impulse; NULL from lean frames */
    int *shape, *material, *tag;
    int *layer; /* where the body started: diameters above the head's floor, 0 to 255 */
    bool *fixed;
    int contact_count; /* in `contact` */
    int contact_total; /* of the step, whatever was kept of them */
    /* Chains from a file have gap 0, a point on the line of centres where b moves, a normal that
     * points from the centre of a to that point, and an impulse along it. */
    TalusContactState *contact;
    int *contact_a, *contact_b; /* the rows of the two bodies in the arrays above */
    void *body_memory, *contact_memory;
} TalusSnapshot;

/* Fills a snapshot, reusing the memory of an earlier one; a zeroed one is empty. */
TalusStatus talus_snapshot_take(TalusSnapshot *snapshot, const TalusWorld *world, unsigned fields);
void talus_snapshot_free(TalusSnapshot *snapshot);

/* ---- what stays the same from moment to moment ---- */

typedef struct TalusFramesMaterial {
    const char *name;
    double friction, density;
} TalusFramesMaterial;

typedef struct TalusFramesHead {
    const char *title, *scene; /* "" where unknown */
    TalusVec3 gravity;
    TalusPeriod period; /* along its axes space repeats itself */
    double step;        /* h */
    double
        radius; /* typical: the median over moving bodies, else over those with an extent, else 1 */
    double quantum; /* positions are `origin` plus multiples of this; 0: exact, as a world's are */
    TalusVec3 origin;
    double floor; /* height, against gravity, of the lowest moving body; NAN where nothing moves */
    bool lean;    /* speeds instead of velocities, coarse forces, no chains */
    int shape_count, material_count;
    const TalusShapeDef *shapes;
    const TalusFramesMaterial *materials;
    const struct TalusFigure *figures; /* how shapes are drawn, as a file tells it; may be NULL */
} TalusFramesHead;

/* ---- writing ---- */

typedef enum TalusDetail {
    TALUS_DETAIL_AUTO, /* lean above TALUS_LEAN_ABOVE bodies in the first frame */
    TALUS_DETAIL_FULL,
    TALUS_DETAIL_LEAN
} TalusDetail;

enum { TALUS_LEAN_ABOVE = 200000 };

typedef struct TalusFramesDef {
    const char *title, *scene; /* copied into the file; NULL or "": those of a snapshot's head */
    TalusDetail detail;
} TalusFramesDef;

typedef struct TalusFramesWriter TalusFramesWriter;

/* Starts a file anew. */
TalusStatus talus_frames_create(const char *path, const TalusFramesDef *def,
                                TalusFramesWriter **out);
/* Goes on with a file after its last frame at or before `time`: what comes later is cut off, and what
 * follows is byte for byte what a writer that never stopped would have written. */
TalusStatus talus_frames_resume(const char *path, double time, TalusFramesWriter **out);
/* Appends a frame; it can be read as soon as this returns. */
TalusStatus talus_frames_add(TalusFramesWriter *writer, const TalusWorld *world);
/* The same from a snapshot, such as one read from another file with that file's head. */
TalusStatus talus_frames_add_snapshot(TalusFramesWriter *writer, const TalusFramesHead *head,
                                      const TalusSnapshot *snapshot);
/* Writes the index and closes; without this the file stays readable, only slower to open. The writer
 * is freed in any case; NULL is fine. */
TalusStatus talus_frames_finish(TalusFramesWriter *writer);
/* Closes without an index, as a crash would. */
void talus_frames_abandon(TalusFramesWriter *writer);

/* ---- reading, also while the file is being written ---- */

typedef struct TalusFrames TalusFrames;

typedef struct TalusFrameInfo {
    double time;
    int64_t step;
    uint64_t offset, size; /* of the frame's chunk in the file */
    int bodies;
    bool key; /* needs no earlier frame */
} TalusFrameInfo;

/* A file that ends within a chunk is read up to there. Damage further in is told by the call that
 * meets it: "FILE: frame N: what". */
TalusStatus talus_frames_open(const char *path, TalusFrames **out);
void talus_frames_close(TalusFrames *frames);
/* Takes up what was appended since, and starts over where the file was cut or replaced; fine to call
 * at any time. */
TalusStatus talus_frames_refresh(TalusFrames *frames);
int talus_frames_count(const TalusFrames *frames);
TalusFrameInfo talus_frames_info(const TalusFrames *frames, int index);
/* The head that holds for a frame; owned by `frames`, valid until the next call on it. NULL where it
 * is missing or damaged; talus_error() says how. */
const TalusFramesHead *talus_frames_head(TalusFrames *frames, int index);
/* Where the chunk of that head stands in the file; 0 and 0 where there is none. */
void talus_frames_head_place(TalusFrames *frames, int index, uint64_t *offset, uint64_t *size);
/* Whether an index ends the file: its writer has finished. */
bool talus_frames_complete(const TalusFrames *frames);
/* The last frame at or before `time`, or the first. */
int talus_frames_at(const TalusFrames *frames, double time);
/* Decodes a frame; going forward frame by frame costs one decoding each. */
TalusStatus talus_frames_read(TalusFrames *frames, int index, TalusSnapshot *snapshot);

#ifdef __cplusplus
}
#endif

#endif

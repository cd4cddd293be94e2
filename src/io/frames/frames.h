/* io/frames/frames.h - the parts of a frames file (docs/reference/frames.md): its numbers, its arrays, a frame as
 * integers, its head. frames_write.c and frames_read.c put them together. */
#ifndef TALUS_IO_FRAMES_FRAMES_H
#define TALUS_IO_FRAMES_FRAMES_H

#include "base/pool.h"
#include "base/status.h"
#include "geometry/figure.h"
#include "io/file/dir.h"
#include "io/scene/scene_arena.h"
#include "io/text/json.h"
#include "io/text/text.h"

#include <talus/frames.h>

#define TALUS_FRAMES_MAGIC "TALUSFRM"
#define TALUS_FRAMES_END "TALUSEND"

enum {
    TALUS_FRAMES_VERSION =
        3, /* 1 has no figures in its heads, 1 and 2 slots and generations for ids */
    TALUS_FRAMES_KEY_EVERY = 16,
    TALUS_FRAMES_PER_BYTE = 8,         /* bodies and chains to a byte of a payload, at most */
    TALUS_FRAMES_HEAD_LIMIT = 1 << 26, /* bytes of a HEAD's JSON */
    TALUS_FRAMES_HEAD_MOST = 1 << 28,  /* bytes of a HEAD */
    TALUS_FIGURE_PER_BYTE = 8,         /* vertices, triangles and edges to a byte of a HEAD */
    TALUS_FRAMES_MOST =
        INT32_MAX / 4 /* bodies or chains: four numbers of each are counted by int */
};

/* ---- chunks ---- */

/* Four letters as they stand in the file. */
#define TALUS_CHUNK_WORD(a, b, c, d) \
    ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)
#define TALUS_CHUNK_MAGIC TALUS_CHUNK_WORD('T', 'C', 'H', 'K')
#define TALUS_CHUNK_HEAD TALUS_CHUNK_WORD('H', 'E', 'A', 'D')
#define TALUS_CHUNK_FRAME TALUS_CHUNK_WORD('F', 'R', 'A', 'M')
#define TALUS_CHUNK_INDEX TALUS_CHUNK_WORD('I', 'N', 'D', 'X')

enum { TALUS_CHUNK_KEY = 1 }; /* flag of a frame */

typedef struct TalusFileHead {
    char magic[8];
    uint32_t version, zero;
} TalusFileHead;

typedef struct TalusChunk {
    uint32_t magic, kind;
    uint64_t size;
    double time;
    int64_t step;
    uint32_t flags, crc;
} TalusChunk;

typedef struct TalusFrameHead {
    uint32_t bodies, contacts, arrays, zero;
} TalusFrameHead;

typedef struct TalusIndexRow {
    uint64_t offset;
    double time;
    int64_t step;
    uint64_t size;
    uint32_t flags, bodies;
} TalusIndexRow;

typedef struct TalusFileEnd {
    uint64_t index;
    char magic[8];
} TalusFileEnd;

_Static_assert(sizeof(TalusFileHead) == 16 && sizeof(TalusChunk) == 40 &&
                   sizeof(TalusFrameHead) == 16 && sizeof(TalusIndexRow) == 40 &&
                   sizeof(TalusFileEnd) == 16,
               "these are written as they lie in memory");

/* Bytes of a chunk in the file. */
static inline uint64_t talus_chunk_bytes(const TalusChunk *chunk)
{
    return sizeof *chunk + (chunk->size + 7) / 8 * 8;
}

uint32_t talus_chunk_crc(const TalusChunk *chunk, const void *payload);

/* ---- arrays: frames_pack.c, frames_unpack.c ---- */

enum {
    TALUS_ARRAY_INDEX = 1,
    TALUS_ARRAY_GENERATION,
    TALUS_ARRAY_POSITION,
    TALUS_ARRAY_VELOCITY,
    TALUS_ARRAY_SPEED,
    TALUS_ARRAY_ORIENTATION,
    TALUS_ARRAY_RADIUS,
    TALUS_ARRAY_SHAPE,
    TALUS_ARRAY_MATERIAL,
    TALUS_ARRAY_TAG,
    TALUS_ARRAY_FIXED,
    TALUS_ARRAY_LAYER,
    TALUS_ARRAY_FORCE,
    TALUS_ARRAY_TOUCHING,
    TALUS_ARRAY_CHAIN_A,
    TALUS_ARRAY_CHAIN_B,
    TALUS_ARRAY_CHAIN_FORCE,
    TALUS_ARRAY_CHAIN_POINT,
    TALUS_ARRAY_POINT, /* from here to PIECE: of figures, in a HEAD */
    TALUS_ARRAY_NORMAL,
    TALUS_ARRAY_TRIANGLE,
    TALUS_ARRAY_EDGE,
    TALUS_ARRAY_PIECE,
    TALUS_ARRAY_NUMBER, /* of bodies; in versions 1 and 2 INDEX and GENERATION */
    TALUS_ARRAYS        /* names are below this */
};

enum { TALUS_TYPE_INTEGER = 1, TALUS_TYPE_BF16, TALUS_TYPE_F32 };
enum { TALUS_CODING_STORED, TALUS_CODING_ZLIB };

typedef enum TalusPrediction {
    TALUS_PREDICT_NONE,
    TALUS_PREDICT_TUPLE, /* the tuple before */
    TALUS_PREDICT_BODY,  /* the same body in the frame before */
    TALUS_PREDICT_BEST   /* none or the tuple before, whichever looks shorter: never in a file */
} TalusPrediction;

typedef struct TalusArrayHead {
    uint8_t name, type, components, prediction, width, coding;
    uint16_t zero;
    uint32_t tuples, bytes;
} TalusArrayHead;

_Static_assert(sizeof(TalusArrayHead) == 16, "this is written as it lies in memory");

const char *talus_array_name(int name);

/* An array as planes of bytes, on its way into a chunk. */
typedef struct TalusPacked {
    TalusArrayHead head;
    bool other;           /* the array before it with another prediction: the shorter one is kept */
    bool repeats;         /* as the packer's */
    unsigned char *plane; /* [size] */
    unsigned char *data;  /* [used], deflated */
    size_t size, used;
    TalusStatus status;
} TalusPacked;

/* A chunk in the making. Arrays are taken one by one and deflated all at once, side by side in the threads
 * of `pool`; the bytes do not depend on it. */
typedef struct TalusPacker {
    TalusPool *pool; /* NULL: the calling thread alone */
    bool repeats;    /* arrays repeat themselves: search for it, however long it takes */
    unsigned char *bytes;
    size_t size;
    uint32_t arrays;
    uint32_t *code;                       /* values as they go into the planes */
    TalusPacked packed[2 * TALUS_ARRAYS]; /* kept from frame to frame for their memory */
    int taken;
} TalusPacker;

void talus_packer_clear(TalusPacker *packer);
/* Appends bytes; NULL appends zeros. */
TalusStatus talus_pack_bytes(TalusPacker *packer, const void *bytes, size_t size);
/* Deflates the arrays taken since the last call and appends them in the order they came in. */
TalusStatus talus_pack_arrays(TalusPacker *packer);
/* Takes an array; the values may change afterwards. Arrays without tuples are left out. `guess` has the
 * values that TALUS_PREDICT_BODY predicts. */
TalusStatus talus_pack_integers(TalusPacker *packer, int name, int components, int tuples,
                                TalusPrediction prediction, const int32_t *value,
                                const int32_t *guess);
TalusStatus talus_pack_halves(TalusPacker *packer, int name, int components, int tuples,
                              const uint16_t *value);
TalusStatus talus_pack_floats(TalusPacker *packer, int name, int components, int tuples,
                              const float *value);

/* The arrays of a frame where they stand; `head.tuples` is 0 for those that are not there. */
typedef struct TalusArrayView {
    TalusArrayHead head;
    const unsigned char *data;
} TalusArrayView;

typedef struct TalusUnpacker {
    TalusFrameHead head;
    TalusArrayView array[TALUS_ARRAYS];
    unsigned char *plane;
    uint32_t *code;
} TalusUnpacker;

void talus_unpacker_clear(TalusUnpacker *unpacker);
/* Checks the frame's head and finds its arrays. */
TalusStatus talus_unpack_table(TalusUnpacker *unpacker, const unsigned char *payload, size_t size);
/* Finds arrays that follow one another up to the end, or up to zeros. */
TalusStatus talus_unpack_views(TalusUnpacker *unpacker, const unsigned char *bytes, size_t size);
/* Each fails unless the array is there with exactly these tuples; 0 tuples are always there. */
TalusStatus talus_unpack_integers(TalusUnpacker *unpacker, int name, int components, int tuples,
                                  const int32_t *guess, int32_t *value);
TalusStatus talus_unpack_halves(TalusUnpacker *unpacker, int name, int components, int tuples,
                                uint16_t *value);
TalusStatus talus_unpack_floats(TalusUnpacker *unpacker, int name, int components, int tuples,
                                float *value);

/* The upper half of a single, rounded to nearest even with `drop` of its low bits zero. */
uint16_t talus_to_half(double value, int drop);
double talus_from_half(uint16_t half);

enum { TALUS_HALF_COARSE = 4 }; /* bits dropped in lean frames: 3 remain */

/* ---- snapshots: snapshot.c ---- */

/* Sets fields, counts and pointers; the arrays are not filled. */
TalusStatus talus_snapshot_shape(TalusSnapshot *snapshot, unsigned fields, int bodies,
                                 int contacts);

/* ---- a frame as integers: what the next one is predicted from: frames_state.c ---- */

typedef struct TalusFrameState {
    int count;
    TalusBodyId *id;
    int32_t (*position)[3];
    int16_t (*orientation)[4]; /* of bodies that are not spheres */
    float *radius;
    int32_t *shape, *material, *tag;
    uint8_t *fixed, *layer;
    char *memory;
} TalusFrameState;

TalusStatus talus_frame_state_size(TalusFrameState *state, int count);
void talus_frame_state_clear(TalusFrameState *state);
/* Bodies that stay keep their order, and those that come have numbers above all that were there. The largest of them
 * is `newest`. */
uint64_t talus_frame_newest(const TalusFrameState *state);
/* The row in the frame before of the next body, -1 for one that came since. `row` is the first to look at and goes past
 * what is found. False where the body should be there, and from `row` on it is not. */
bool talus_frame_find(const TalusFrameState *before, uint64_t newest, TalusBodyId id, int *row,
                      int32_t *match);
/* What the number of body i is told as the difference from: that of `row` of the frame before (NULL for a key frame);
 * beyond its end, that of the body before. */
uint64_t talus_frame_guess(const TalusFrameState *before, int row, const TalusBodyId *id, int i);

/* Spheres have no orientation in a file. */
static inline bool talus_head_is_sphere(const TalusFramesHead *head, int shape)
{
    return head->shapes[shape].kind == TALUS_SHAPE_SPHERE;
}

/* ---- heads: frames_head.c, frames_json.c ---- */

/* A head and the memory of all it points to. Zeroed, it is empty. */
typedef struct TalusHeadStore {
    TalusFramesHead head;
    TalusArena arena;
    TalusFigure *figure; /* [head.shape_count], or NULL */
} TalusHeadStore;

/* What a world has that a frames head tells: shapes, materials, gravity, periods, step. `def` (may be NULL)
 * gives title and scene. With `first`, radius and floor are measured on it. Quantum is 0. */
TalusStatus talus_frames_head_of_world(const TalusWorld *world, const TalusFramesDef *def,
                                       const TalusSnapshot *first, TalusHeadStore *out);
void talus_frames_head_clear(TalusHeadStore *store);
/* A deep copy; `out` is cleared first and may not own what `head` points to. */
TalusStatus talus_frames_head_copy(const TalusFramesHead *head, TalusHeadStore *out);
/* Whether two heads tell the same of shapes, materials, gravity, periods and step. */
bool talus_frames_head_same(const TalusFramesHead *a, const TalusFramesHead *b);
/* Radius, quantum, origin and floor from the bodies. */
TalusStatus talus_frames_head_measure(TalusFramesHead *head, const TalusSnapshot *first);
/* Against gravity; +z without any. */
TalusVec3 talus_frames_up(const TalusFramesHead *head);

/* Appends the HEAD chunk of a file of this version, and back from its payload. `source` is for messages. Of
 * version 1 the payload is JSON alone; since then zeros follow it up to a multiple of 8 bytes, at least one, and
 * the arrays of the figures. */
TalusStatus talus_frames_head_pack(TalusPacker *packer, const TalusFramesHead *head, int version);
TalusStatus talus_frames_head_read(const char *payload, size_t size, const char *source,
                                   TalusHeadStore *out);

/* ---- figures of a head: frames_figure.c ---- */

/* The figures of all shapes, made from the table of shapes; to be freed. */
TalusStatus talus_head_make_figures(const TalusFramesHead *head, TalusFigure **out);
void talus_head_free_figures(TalusFigure **figure, int count);

TalusStatus talus_head_pack_figures(TalusPacker *packer, const TalusFigure *figure, int count);
size_t talus_head_padding(const TalusFigure *figure, int count, size_t size);

typedef struct TalusHeadPayload {
    const char *source; /* for messages */
    const unsigned char *bytes;
    size_t size, arrays_at;
} TalusHeadPayload;

/* Of the shapes of a head's JSON, from the arrays behind it. */
TalusStatus talus_head_read_figures(const TalusJson *shapes, TalusHeadPayload payload,
                                    TalusFigure **out);

/* ---- shapes of a head: frames_shape.c ---- */

void talus_head_vector(TalusText *text, const char *key, TalusVec3 v);
/* Leaves the object open. */
void talus_head_shape(TalusText *text, const TalusShapeDef *shape);
void talus_head_figure(TalusText *text, const TalusFigure *figure);

/* Numbers of a head within this can be squared and added without overflow. */
#define TALUS_HEAD_MOST 1e100

/* The member of an object; fails where it is missing or of another kind. */
TalusStatus talus_head_member(const TalusJson *object, const char *key, TalusJsonKind kind,
                              const TalusJson **out);
TalusStatus talus_head_number(const TalusJson *object, const char *key, double *out);
TalusStatus talus_head_list(const TalusJson *node, int count, double *out);
TalusStatus talus_head_read_vector(const TalusJson *object, const char *key, TalusVec3 *out);
/* Fails unless it is a shape that a world would take. */
TalusStatus talus_head_read_shape(TalusArena *arena, const TalusJson *node, TalusShapeDef *out);

/* A deep copy; parts of compounds too. */
TalusStatus talus_head_copy_shape(TalusArena *arena, const TalusShapeDef *shape,
                                  TalusShapeDef *out);
bool talus_head_same_shape(const TalusShapeDef *a, const TalusShapeDef *b);

/* ---- frames: frames_encode.c, frames_decode.c ---- */

typedef struct TalusFrameEncoder {
    TalusPacker packer;
    TalusFrameState before, now;
    int clamped; /* bodies of the last frame beyond the grid */
    int32_t *match, *value, *guess;
    uint16_t *half;
    float *radius;
    int *chain; /* numbers of contacts */
} TalusFrameEncoder;

void talus_frame_encoder_clear(TalusFrameEncoder *encoder);
/* Makes the FRAM chunk in `packer`. The frame becomes `now`; talus_frame_encoder_commit makes it the
 * one that the next is predicted from. It becomes a key frame where its bodies are in another order. */
TalusStatus talus_frame_encode(TalusFrameEncoder *encoder, const TalusFramesHead *head,
                               const TalusSnapshot *snapshot, bool *key);
void talus_frame_encoder_commit(TalusFrameEncoder *encoder);

typedef struct TalusFrameDecoder {
    TalusUnpacker unpacker;
    int32_t *match, *value, *guess;
    uint16_t *half;
    float *radius;
} TalusFrameDecoder;

void talus_frame_decoder_clear(TalusFrameDecoder *decoder);
/* Decodes a payload that matches its checksum. `before` is the frame before (any for a key frame),
 * `now` becomes this one; `snapshot` may be NULL. Messages name neither file nor frame. */
TalusStatus talus_frame_decode(TalusFrameDecoder *decoder, const TalusFramesHead *head,
                               const TalusChunk *chunk, const unsigned char *payload,
                               const TalusFrameState *before, TalusFrameState *now,
                               TalusSnapshot *snapshot);

/* The head that holds for the last frame added, also after a resume; NULL before the first. */
const TalusFramesHead *talus_frames_writer_head(const TalusFramesWriter *writer);

/* As talus_frames_create and talus_frames_resume, in a directory that is open and outlives the writer; NULL: at
 * a path. */
TalusStatus talus_frames_create_in(TalusDir *dir, const char *name, const TalusFramesDef *def,
                                   TalusFramesWriter **out);
TalusStatus talus_frames_resume_in(TalusDir *dir, const char *name, double time,
                                   TalusFramesWriter **out);
/* Brings the frames to the disk; fails as talus_growing_sync and talus_growing_check do. */
TalusStatus talus_frames_sync(const TalusFramesWriter *writer);
TalusStatus talus_frames_check(const TalusFramesWriter *writer);

/* ---- the reader's parts: frames_scan.c, frames_read.c ---- */

/* Of the file's format. */
int talus_frames_version(const TalusFrames *frames);

typedef struct TalusHeadPlace {
    uint64_t offset, size;
} TalusHeadPlace;

struct TalusFrames {
    char *path;
    int fd;
    uint32_t version; /* of the file */
    TalusFrameInfo *frame;
    int *frame_head; /* number of the head of each frame, -1 without one */
    TalusHeadPlace *head;
    int count, heads;
    uint64_t end; /* of the last whole chunk that is not the index */
    bool complete;
    uint64_t torn;     /* where a last chunk without its bytes was left out; 0: nowhere */
    uint64_t warned;   /* where damage was found and told; 0: nowhere */
    uint32_t marks[2]; /* checksums of the last frame and its head, to know the file again by */

    TalusHeadStore loaded;
    int loaded_head; /* -1: none */
    TalusFrameDecoder decoder;
    TalusFrameState state[2]; /* state[newest] is frame `decoded`, the other the one before it */
    int newest, decoded;      /* -1: none */
    bool before_valid;
    unsigned char *payload;
};

/* Finds the chunks from `frames->end` on, or all of them anew. */
TalusStatus talus_frames_scan(TalusFrames *frames);
/* As if nothing of the file had been read. */
void talus_frames_forget(TalusFrames *frames);
/* Reads exactly these bytes of the file. */
TalusStatus talus_frames_bytes(const TalusFrames *frames, uint64_t offset, void *out, size_t size);
/* Reads a whole chunk into `payload` and checks it against its kind and checksum. */
TalusStatus talus_frames_chunk(TalusFrames *frames, uint64_t offset, uint32_t kind,
                               TalusChunk *chunk);
/* Makes `loaded` the head of a frame. */
TalusStatus talus_frames_load_head(TalusFrames *frames, int index);
/* Decodes a frame, `snapshot` may be NULL; state[newest] is then that frame. */
TalusStatus talus_frames_decode(TalusFrames *frames, int index, TalusSnapshot *snapshot);

#endif

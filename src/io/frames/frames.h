/* io/frames/frames.h - the parts of a frames file (docs/reference/frames.md): chunks, arrays, frames as integers,
 * heads. frames_write.c and frames_read.c combine them. */
#ifndef TALUS_IO_FRAMES_FRAMES_H
#define TALUS_IO_FRAMES_FRAMES_H

#include "base/arena.h"
#include "base/pool.h"
#include "base/status.h"
#include "geometry/figure.h"
#include "io/file/dir.h"
#include "io/text/json.h"
#include "io/text/text.h"

#include <talus/frames.h>

#define TALUS_FRAMES_MAGIC "TALUSFRM"
#define TALUS_FRAMES_END "TALUSEND"

enum {
    TALUS_FRAMES_VERSION = 3, /* 1: no figures in heads; 1 and 2: slots and generations for ids */
    TALUS_FRAMES_KEY_EVERY = 16,
    TALUS_FRAMES_PER_BYTE = 8,            /* maximum of bodies and chains per byte of a payload */
    TALUS_FRAMES_HEAD_JSON_MAX = 1 << 26, /* maximum bytes of a HEAD's JSON */
    TALUS_FRAMES_HEAD_MAX = 1 << 28,      /* maximum bytes of a HEAD */
    TALUS_FIGURE_PER_BYTE = 8, /* maximum of vertices, triangles and edges per byte of a HEAD */
    TALUS_FRAMES_COUNT_MAX =
        INT32_MAX / 4 /* maximum of bodies or chains: an int counts four numbers of each */
};

/* ---- chunks ---- */

/* Four letters in the order of their bytes in the file. */
#define TALUS_CHUNK_WORD(a, b, c, d) \
    ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)
#define TALUS_CHUNK_MAGIC TALUS_CHUNK_WORD('T', 'C', 'H', 'K')
#define TALUS_CHUNK_HEAD TALUS_CHUNK_WORD('H', 'E', 'A', 'D')
#define TALUS_CHUNK_FRAME TALUS_CHUNK_WORD('F', 'R', 'A', 'M')
#define TALUS_CHUNK_INDEX TALUS_CHUNK_WORD('I', 'N', 'D', 'X')

enum { TALUS_CHUNK_KEY = 1 }; /* flag of a frame */

/* Start of the file. */
typedef struct TalusFileHead {
    char magic[8];
    uint32_t version, zero;
} TalusFileHead;

/* Header of a chunk: a HEAD, a frame or the index. */
typedef struct TalusChunk {
    uint32_t magic, kind;
    uint64_t size;
    double time;
    int64_t step;
    uint32_t flags, crc;
} TalusChunk;

/* Start of a frame's payload. */
typedef struct TalusFrameHead {
    uint32_t bodies, contacts, arrays, zero;
} TalusFrameHead;

/* Row of the index: a frame and its location in the file. */
typedef struct TalusIndexRow {
    uint64_t offset;
    double time;
    int64_t step;
    uint64_t size;
    uint32_t flags, bodies;
} TalusIndexRow;

/* End of a complete file: the location of the index. */
typedef struct TalusFileEnd {
    uint64_t index;
    char magic[8];
} TalusFileEnd;

_Static_assert(sizeof(TalusFileHead) == 16 && sizeof(TalusChunk) == 40 &&
                   sizeof(TalusFrameHead) == 16 && sizeof(TalusIndexRow) == 40 &&
                   sizeof(TalusFileEnd) == 16,
               "these are written as they lie in memory");

/* Returns the bytes of a chunk in the file, with header and padding. */
static inline uint64_t talus_chunk_bytes(const TalusChunk *chunk)
{
    return sizeof *chunk + (chunk->size + 7) / 8 * 8;
}

/* Returns the checksum of a chunk's header, without its last field, and payload. */
uint32_t talus_chunk_crc(const TalusChunk *chunk, const void *payload);

/* ---- arrays: frames_pack.c, frames_unpack.c ---- */

/* Numbers of the arrays from 1, with their names for messages. Those from POINT to PIECE are figures in a HEAD.
 * NUMBER has the body numbers; versions 1 and 2 have INDEX and GENERATION instead. */
#define TALUS_ARRAY_TABLE(ROW)      \
    ROW(INDEX, "index")             \
    ROW(GENERATION, "generation")   \
    ROW(POSITION, "position")       \
    ROW(VELOCITY, "velocity")       \
    ROW(SPEED, "speed")             \
    ROW(ORIENTATION, "orientation") \
    ROW(RADIUS, "radius")           \
    ROW(SHAPE, "shape")             \
    ROW(MATERIAL, "material")       \
    ROW(TAG, "tag")                 \
    ROW(FIXED, "fixed")             \
    ROW(LAYER, "layer")             \
    ROW(FORCE, "force")             \
    ROW(TOUCHING, "touching")       \
    ROW(CHAIN_A, "chain_a")         \
    ROW(CHAIN_B, "chain_b")         \
    ROW(CHAIN_FORCE, "chain_force") \
    ROW(CHAIN_POINT, "chain_point") \
    ROW(POINT, "point")             \
    ROW(NORMAL, "normal")           \
    ROW(TRIANGLE, "triangle")       \
    ROW(EDGE, "edge")               \
    ROW(PIECE, "piece")             \
    ROW(NUMBER, "number")
#define TALUS_ARRAY_ENUM(number, name) TALUS_ARRAY_##number,
enum { TALUS_ARRAY_NONE, TALUS_ARRAY_TABLE(TALUS_ARRAY_ENUM) TALUS_ARRAYS };

enum { TALUS_TYPE_INTEGER = 1, TALUS_TYPE_BF16, TALUS_TYPE_F32 };
enum { TALUS_CODING_STORED, TALUS_CODING_ZLIB };

typedef enum TalusPrediction {
    TALUS_PREDICT_NONE,
    TALUS_PREDICT_TUPLE, /* previous tuple */
    TALUS_PREDICT_BODY,  /* same body in the previous frame */
    TALUS_PREDICT_BEST   /* NONE or TUPLE, whichever deflates better; never in a file */
} TalusPrediction;

/* Start of an array. */
typedef struct TalusArrayHead {
    uint8_t name, type, components, prediction, width, coding;
    uint16_t zero;
    uint32_t tuples, bytes;
} TalusArrayHead;

_Static_assert(sizeof(TalusArrayHead) == 16, "this is written as it lies in memory");

/* Returns the name of an array for messages; "unknown" for another number. */
const char *talus_array_name(int name);

/* An array split into byte planes, to be appended to a chunk. */
typedef struct TalusPacked {
    TalusArrayHead head;
    bool
        alternative; /* the previous entry with another prediction: the shorter of the two is used */
    bool thorough;   /* copy of the packer's */
    unsigned char *plane; /* [size] */
    unsigned char *data;  /* [used], deflated */
    size_t size, used;
    TalusStatus status;
} TalusPacked;

/* A chunk under construction. Arrays are added one by one and deflated together, in parallel by the threads of `pool`;
 * the bytes do not depend on their number. */
typedef struct TalusPacker {
    TalusPool *pool; /* NULL: calling thread only */
    bool thorough;   /* deflate searches for repeats; else for runs of one byte only */
    unsigned char *bytes;
    size_t size;
    uint32_t arrays;
    uint32_t *code;                       /* values to be split into planes */
    TalusPacked packed[2 * TALUS_ARRAYS]; /* memory is reused from frame to frame */
    int packed_count;
} TalusPacker;

void talus_packer_clear(TalusPacker *packer);
/* Appends bytes; NULL appends zeros. */
TalusStatus talus_pack_bytes(TalusPacker *packer, const void *bytes, size_t size);
/* Deflates the arrays added since the last call and appends them in order. */
TalusStatus talus_pack_arrays(TalusPacker *packer);
/* Add an array and copy its values. Arrays without tuples are omitted. `guess` has the values that TALUS_PREDICT_BODY
 * predicts. */
TalusStatus talus_pack_integers(TalusPacker *packer, int name, int components, int tuples,
                                TalusPrediction prediction, const int32_t *value,
                                const int32_t *guess);
TalusStatus talus_pack_bfloat16(TalusPacker *packer, int name, int components, int tuples,
                                const uint16_t *value);
TalusStatus talus_pack_floats(TalusPacker *packer, int name, int components, int tuples,
                              const float *value);

/* An array inside a payload; `head.tuples` is 0 if it is missing. */
typedef struct TalusArrayView {
    TalusArrayHead head;
    const unsigned char *data;
} TalusArrayView;

/* A payload under examination. */
typedef struct TalusUnpacker {
    TalusFrameHead head;
    TalusArrayView array[TALUS_ARRAYS];
    unsigned char *plane;
    uint32_t *code;
} TalusUnpacker;

void talus_unpacker_clear(TalusUnpacker *unpacker);
/* Checks the frame's head and locates its arrays. */
TalusStatus talus_unpack_table(TalusUnpacker *unpacker, const unsigned char *payload, size_t size);
/* Locates consecutive arrays up to the end or up to zeros. */
TalusStatus talus_unpack_views(TalusUnpacker *unpacker, const unsigned char *bytes, size_t size);
/* Each fails unless the array has exactly this number of tuples; 0 tuples always succeed. */
TalusStatus talus_unpack_integers(TalusUnpacker *unpacker, int name, int components, int tuples,
                                  const int32_t *guess, int32_t *value);
TalusStatus talus_unpack_bfloat16(TalusUnpacker *unpacker, int name, int components, int tuples,
                                  uint16_t *value);
TalusStatus talus_unpack_floats(TalusUnpacker *unpacker, int name, int components, int tuples,
                                float *value);

/* Returns the upper 16 bits of a float (bfloat16), rounded to nearest even with the lowest `drop` bits zero. */
uint16_t talus_to_bfloat16(double value, int drop);
double talus_from_bfloat16(uint16_t half);

enum { TALUS_BFLOAT16_DROPPED_LEAN = 4 }; /* bits dropped in lean frames; 3 remain */

/* ---- snapshots: snapshot.c ---- */

/* Sets fields, counts and pointers; does not fill the arrays. */
TalusStatus talus_snapshot_resize(TalusSnapshot *snapshot, unsigned fields, int bodies,
                                  int contacts);

/* ---- frames as integers, from which the next frame is predicted: frames_state.c ---- */

typedef struct TalusFrameState {
    int count;
    TalusBodyId *id;
    int32_t (*position)[3];
    int16_t (*orientation)[4]; /* of bodies other than spheres */
    float *radius;
    int32_t *shape, *material, *tag;
    uint8_t *fixed, *layer;
    char *memory;
} TalusFrameState;

/* Sets the number of bodies; the arrays are not filled. */
TalusStatus talus_frame_state_resize(TalusFrameState *state, int count);
void talus_frame_state_clear(TalusFrameState *state);
/* Returns the largest body number. Bodies keep their order from frame to frame, and new bodies have larger numbers. */
uint64_t talus_frame_largest_number(const TalusFrameState *state);
/* Finds a body in the previous frame: *match is its row, -1 for a new body. The search starts at *row, which moves
 * past the body found. False if the body is not new and not found. */
bool talus_frame_find(const TalusFrameState *before, uint64_t newest, TalusBodyId id, int *row,
                      int32_t *match);
/* Returns the number that the number of body i is stored relative to: that of `row` in the previous frame (NULL for a
 * key frame); past its end, that of body i - 1. */
uint64_t talus_frame_predict_number(const TalusFrameState *before, int row, const TalusBodyId *id,
                                    int i);

/* Returns the point of the grid of a head. */
static inline TalusVec3 talus_head_grid_point(const TalusFramesHead *head, const int32_t q[3])
{
    return talus_vec3(head->origin.x + head->quantum * q[0], head->origin.y + head->quantum * q[1],
                      head->origin.z + head->quantum * q[2]);
}

/* Returns the fields that frames store of a snapshot. */
static inline unsigned talus_frame_fields(bool lean)
{
    return TALUS_SNAPSHOT_FORCE |
           (lean ? TALUS_SNAPSHOT_SPEED : TALUS_SNAPSHOT_VELOCITY | TALUS_SNAPSHOT_CHAINS);
}

/* Files store no orientation of spheres. */
static inline bool talus_head_shape_is_sphere(const TalusFramesHead *head, int shape)
{
    return head->shapes[shape].kind == TALUS_SHAPE_SPHERE;
}

/* ---- heads: frames_head.c, frames_json.c ---- */

/* A head and the memory that it points to. A zeroed struct is empty. */
typedef struct TalusHeadStore {
    TalusFramesHead head;
    TalusArena arena;
    TalusFigure *figure; /* [head.shape_count], or NULL */
} TalusHeadStore;

/* Fills a head from a world: shapes, materials, gravity, periods, step. `def` (may be NULL) gives title and scene.
 * `first` (may be NULL) gives radius and floor. Quantum is 0. */
TalusStatus talus_frames_head_of_world(const TalusWorld *world, const TalusFramesDef *def,
                                       const TalusSnapshot *first, TalusHeadStore *out);
void talus_frames_head_clear(TalusHeadStore *store);
/* Makes a deep copy; `out` is cleared first and must not own what `head` points to. */
TalusStatus talus_frames_head_copy(const TalusFramesHead *head, TalusHeadStore *out);
/* True if two heads have equal shapes, materials, gravity, periods and step. */
bool talus_frames_heads_equal(const TalusFramesHead *a, const TalusFramesHead *b);
/* Computes radius, quantum, origin and floor from the bodies. */
TalusStatus talus_frames_head_measure(TalusFramesHead *head, const TalusSnapshot *first);
/* Returns the direction against gravity; +z without gravity. */
TalusVec3 talus_frames_up_direction(const TalusFramesHead *head);

/* Append the HEAD chunk for a file of this version; read a head from its payload. `source` is for messages. In version
 * 1 the payload is JSON only. Since version 2 at least one zero follows, up to a multiple of 8 bytes, and then the
 * arrays of the figures. */
TalusStatus talus_frames_head_pack(TalusPacker *packer, const TalusFramesHead *head, int version);
TalusStatus talus_frames_head_read(const char *payload, size_t size, const char *source,
                                   TalusHeadStore *out);

/* ---- figures of a head: frames_figure.c ---- */

/* Makes the figures of all shapes; free with talus_head_free_figures. */
TalusStatus talus_head_make_figures(const TalusFramesHead *head, TalusFigure **out);
void talus_head_free_figures(TalusFigure **figure, int count);

/* Adds the arrays of the figures to a chunk. */
TalusStatus talus_head_pack_figures(TalusPacker *packer, const TalusFigure *figure, int count);
/* Returns the number of zeros that must follow a payload of `size` bytes, so that a reader accepts so many numbers. */
size_t talus_head_padding(const TalusFigure *figure, int count, size_t size);

/* Payload of a HEAD: JSON, then arrays from `arrays_at` on. */
typedef struct TalusHeadPayload {
    const char *source; /* for messages */
    const unsigned char *bytes;
    size_t size, arrays_at;
} TalusHeadPayload;

/* Reads the figures of the shapes of a head's JSON from the arrays behind it. */
TalusStatus talus_head_read_figures(const TalusJson *shapes, TalusHeadPayload payload,
                                    TalusFigure **out);

/* ---- shapes of a head: frames_shape.c ---- */

/* Append a vector, a shape, a figure as JSON. The object of a shape stays open, so that its figure may follow. */
void talus_head_print_vector(TalusText *text, const char *key, TalusVec3 v);
void talus_head_print_shape(TalusText *text, const TalusShapeDef *shape);
void talus_head_print_figure(TalusText *text, const TalusFigure *figure);

/* Bound of numbers in a head, so that squares and sums do not overflow. */
#define TALUS_HEAD_NUMBER_MAX 1e100

/* Finds a member of an object; fails if it is missing or of another kind. */
TalusStatus talus_head_member(const TalusJson *object, const char *key, TalusJsonKind kind,
                              const TalusJson **out);
/* Read a number, a list of `count` numbers, a vector. */
TalusStatus talus_head_read_number(const TalusJson *object, const char *key, double *out);
TalusStatus talus_head_read_list(const TalusJson *node, int count, double *out);
TalusStatus talus_head_read_vector(const TalusJson *object, const char *key, TalusVec3 *out);
/* Fails if a world would refuse the shape. */
TalusStatus talus_head_read_shape(TalusArena *arena, const TalusJson *node, TalusShapeDef *out);

/* Makes a deep copy, with the parts of compounds. */
TalusStatus talus_head_copy_shape(TalusArena *arena, const TalusShapeDef *shape,
                                  TalusShapeDef *out);
/* True if two definitions make the same shape. */
bool talus_head_shapes_equal(const TalusShapeDef *a, const TalusShapeDef *b);

/* ---- frames: frames_encode.c, frames_decode.c ---- */

/* State of a writer of frames. */
typedef struct TalusFrameEncoder {
    TalusPacker packer;
    TalusFrameState before, now;
    int clamped;            /* number of bodies of the last frame outside the grid */
    int32_t *match;         /* [bodies]: row in the previous frame, -1 for a new body */
    int32_t *value, *guess; /* integers of an array, and those predicted for them */
    uint16_t *half;         /* bfloat16 numbers of an array */
    float *radius;
    int *chain; /* indices of contacts */
} TalusFrameEncoder;

void talus_frame_encoder_clear(TalusFrameEncoder *encoder);
/* Makes the FRAM chunk in `packer` and stores the frame in `now`; talus_frame_encoder_commit makes it the one that the
 * next frame is predicted from. If the order of bodies has changed, the frame becomes a key frame. */
TalusStatus talus_frame_encode(TalusFrameEncoder *encoder, const TalusFramesHead *head,
                               const TalusSnapshot *snapshot, bool *key);
void talus_frame_encoder_commit(TalusFrameEncoder *encoder);

/* Memory of a reader of frames; members as in the encoder. */
typedef struct TalusFrameDecoder {
    TalusUnpacker unpacker;
    int32_t *match, *value, *guess;
    uint16_t *half;
    float *radius;
} TalusFrameDecoder;

void talus_frame_decoder_clear(TalusFrameDecoder *decoder);
/* Decodes a payload whose checksum has been verified. `before` is the previous frame (unused for a key frame); `now`
 * receives this one. `snapshot` may be NULL. Messages name neither file nor frame. */
TalusStatus talus_frame_decode(TalusFrameDecoder *decoder, const TalusFramesHead *head,
                               const TalusChunk *chunk, const unsigned char *payload,
                               const TalusFrameState *before, TalusFrameState *now,
                               TalusSnapshot *snapshot);

/* Returns the head of the last frame added, also after a resume; NULL before the first frame. */
const TalusFramesHead *talus_frames_writer_head(const TalusFramesWriter *writer);

/* As talus_frames_create and talus_frames_resume, in an open directory that outlives the writer; NULL: `name` is a
 * path. */
TalusStatus talus_frames_create_in(TalusDir *dir, const char *name, const TalusFramesDef *def,
                                   TalusFramesWriter **out);
TalusStatus talus_frames_resume_in(TalusDir *dir, const char *name, double time,
                                   TalusFramesWriter **out);
/* Sync the frames to the disk, or check the file; fail as talus_growing_sync and talus_growing_check do. */
TalusStatus talus_frames_sync(const TalusFramesWriter *writer);
TalusStatus talus_frames_check(const TalusFramesWriter *writer);

/* ---- the reader: frames_scan.c, frames_read.c ---- */

/* Returns the format version of the file. */
int talus_frames_version(const TalusFrames *frames);

/* Location of a HEAD in the file. */
typedef struct TalusHeadLocation {
    uint64_t offset, size;
} TalusHeadLocation;

/* An open file of frames. */
struct TalusFrames {
    char *path;
    int fd;
    uint32_t version; /* format version of the file */
    TalusFrameInfo *frame;
    int *frame_head; /* index of each frame's head, -1 if none */
    TalusHeadLocation *head;
    int count, heads;
    uint64_t end; /* end of the last complete chunk before the index */
    bool complete;
    uint64_t torn;     /* offset of a last chunk dropped for lack of its bytes; 0: none */
    uint64_t warned;   /* offset of damage already reported; 0: none */
    uint32_t marks[2]; /* checksums of the last frame and its head, which identify the file */
    uint64_t replaced; /* how often frames found before were no longer in the file */

    TalusHeadStore loaded;
    int loaded_head; /* -1: none */
    TalusFrameDecoder decoder;
    TalusFrameState state[2]; /* state[newest] is frame `decoded`; the other is the frame before */
    int newest, decoded;      /* -1: none */
    bool before_valid;
    unsigned char *payload;
};

/* Opens frames (*frames NULL) or finds those written since, in a file that the caller has opened and hands over. `path`
 * is for messages. On failure closes *frames and sets it to NULL. */
TalusStatus talus_frames_follow(TalusFrames **frames, int fd, const char *path);
/* Finds the chunks from `frames->end` on, or all if the file was replaced. */
TalusStatus talus_frames_scan(TalusFrames *frames);
/* Discards everything read from the file. */
void talus_frames_forget(TalusFrames *frames);
/* Reads exactly `size` bytes of the file. */
TalusStatus talus_frames_read_bytes(const TalusFrames *frames, uint64_t offset, void *out,
                                    size_t size);
/* Reads a chunk into `payload` and checks its kind and checksum. */
TalusStatus talus_frames_read_chunk(TalusFrames *frames, uint64_t offset, uint32_t kind,
                                    TalusChunk *chunk);
/* Loads the head of a frame into `loaded`. */
TalusStatus talus_frames_load_head(TalusFrames *frames, int index);
/* Decodes a frame into state[newest]; `snapshot` may be NULL. */
TalusStatus talus_frames_decode(TalusFrames *frames, int index, TalusSnapshot *snapshot);

#endif

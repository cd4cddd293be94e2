/* io/frames/frames.h - the parts of a frames file (docs/reference/frames.md): chunks, arrays of numbers, quantised
 * frames, and heads (HEAD chunks: shapes, materials, grid). frames_write.c and frames_read.c combine them. */
#ifndef TALUS_IO_FRAMES_FRAMES_H
#define TALUS_IO_FRAMES_FRAMES_H

#include "base/arena.h"
#include "base/pool.h"
#include "base/status.h"
#include "comm/comm.h"
#include "geometry/figure.h"
#include "io/file/dir.h"
#include "io/text/json.h"
#include "io/text/text.h"

#include <talus/frames.h>

/* First bytes of every file; last bytes of a finished one. */
#define TALUS_FRAMES_MAGIC "TALUSFRM"
#define TALUS_FRAMES_END "TALUSEND"

/* The name, among those of formats, of exact frames in frames.talus. */
#define TALUS_FRAMES_EXACT "exact"

enum {
    /* 1 has no figures in heads; 1 and 2 have slots in place of ids; 1 to 3 have no parts */
    TALUS_FRAMES_VERSION = 4,
    TALUS_FRAMES_PARTS_SINCE = 4, /* the first version with frames in parts */
    TALUS_FRAMES_PART = 1 << 16,  /* numbers of bodies in a part */
    TALUS_FRAMES_KEY_EVERY = 16,  /* at least frames 0, 16, 32, ... of a file are key frames */
    TALUS_FRAMES_PER_BYTE = 8,    /* maximum of bodies and chains per byte of payload */
    TALUS_FRAMES_HEAD_JSON_MAX = 1 << 26, /* maximum bytes of a HEAD's JSON */
    TALUS_FRAMES_HEAD_MAX = 1 << 28,      /* maximum bytes of a HEAD */
    TALUS_FIGURE_PER_BYTE = 8, /* maximum of vertices, triangles, edges, pieces per HEAD byte */
    TALUS_FRAMES_COUNT_MAX = INT32_MAX / 4 /* bodies or chains: an int must count 4 numbers each */
};

/* Returns the number of the part that a body is in, if its frame is in parts. */
static inline uint64_t talus_frame_part_of(TalusBodyId id)
{
    return (id.number - 1) / TALUS_FRAMES_PART;
}

/* ---- chunks ---- */

/* Integer whose bytes in the file are these four letters. */
#define TALUS_CHUNK_WORD(a, b, c, d) \
    ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)
#define TALUS_CHUNK_MAGIC TALUS_CHUNK_WORD('T', 'C', 'H', 'K')
#define TALUS_CHUNK_HEAD TALUS_CHUNK_WORD('H', 'E', 'A', 'D')
#define TALUS_CHUNK_FRAME TALUS_CHUNK_WORD('F', 'R', 'A', 'M')
#define TALUS_CHUNK_PART TALUS_CHUNK_WORD('P', 'A', 'R', 'T')
#define TALUS_CHUNK_EXACT TALUS_CHUNK_WORD('E', 'X', 'A', 'C')
#define TALUS_CHUNK_INDEX TALUS_CHUNK_WORD('I', 'N', 'D', 'X')

enum { TALUS_CHUNK_KEY = 1 }; /* flag of a key frame, stored without reference to another */

/* First bytes of the file. */
typedef struct TalusFileHead {
    char magic[8];
    uint32_t version, zero;
} TalusFileHead;

/* Header of a chunk: a HEAD, a frame, a part of one or the index. time, step and flags are 0 in a HEAD and in the index. */
typedef struct TalusChunk {
    uint32_t magic, kind;
    uint64_t size; /* bytes of the payload, without padding */
    double time;
    int64_t step;
    uint32_t flags, crc; /* crc: talus_chunk_crc */
} TalusChunk;

/* First bytes of the payload of a frame or of a part: the numbers of bodies, of contacts and of arrays. All contacts of the
 * step count, though a full frame stores only those that are chains, and a lean frame none. A frame in parts, which comes
 * right behind them, counts the bodies of all parts and has no arrays. */
typedef struct TalusFrameHead {
    uint32_t bodies, contacts, arrays; /* contacts: 0 in a part */
    uint32_t
        part; /* of a part its number; of a frame how many parts it has, 0: it is not in parts */
} TalusFrameHead;

/* Row of the index: a frame, with its parts, and its location in the file. */
typedef struct TalusIndexRow {
    uint64_t offset;
    double time;
    int64_t step;
    uint64_t size; /* bytes in the file, with headers and padding */
    uint32_t flags, bodies;
} TalusIndexRow;

/* Last bytes of a complete file. */
typedef struct TalusFileEnd {
    uint64_t index; /* offset of the index chunk */
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

/* Returns the checksum of a chunk: of its header without the field crc, then of its payload. */
uint32_t talus_chunk_crc(const TalusChunk *chunk, const void *payload);

/* ---- arrays: frames_pack.c, frames_unpack.c ---- */

/* Kinds of arrays, numbered from 1 in this order, with their names for messages. POINT to PIECE are figures in a HEAD,
 * the others are in frames. NUMBER has the ids of bodies; versions 1 and 2 have INDEX (slot) and GENERATION instead.
 * Chains are contacts whose normal force exceeds the mean over loaded contacts. CHAIN_A has the row of the first body
 * in the frame, CHAIN_B the row of the second minus that of the first, CHAIN_POINT the contact point minus the position
 * of the first body, in grid steps, only for chains whose second body is fixed. CHAIN_END has the contact point minus the
 * position of the smaller body, only for chains between moving bodies of very different size (talus_chain_large_end). SPEED is in lean frames only; VELOCITY,
 * TOUCHING (number of loaded contacts of a body, at most 255) and chains are in full frames only. SPIN to LENGTH are in EXAC
 * chunks only, which have doubles under the names of the others, too. DISSIPATED is in frames of worlds that sum it. */
#define TALUS_ARRAY_TABLE(ROW)              \
    ROW(INDEX, "index")                     \
    ROW(GENERATION, "generation")           \
    ROW(POSITION, "position")               \
    ROW(VELOCITY, "velocity")               \
    ROW(SPEED, "speed")                     \
    ROW(ORIENTATION, "orientation")         \
    ROW(RADIUS, "radius")                   \
    ROW(SHAPE, "shape")                     \
    ROW(MATERIAL, "material")               \
    ROW(TAG, "tag")                         \
    ROW(FIXED, "fixed")                     \
    ROW(LAYER, "layer")                     \
    ROW(FORCE, "force")                     \
    ROW(TOUCHING, "touching")               \
    ROW(CHAIN_A, "chain_a")                 \
    ROW(CHAIN_B, "chain_b")                 \
    ROW(CHAIN_FORCE, "chain_force")         \
    ROW(CHAIN_POINT, "chain_point")         \
    ROW(POINT, "point")                     \
    ROW(NORMAL, "normal")                   \
    ROW(TRIANGLE, "triangle")               \
    ROW(EDGE, "edge")                       \
    ROW(PIECE, "piece")                     \
    ROW(NUMBER, "number")                   \
    ROW(CHAIN_END, "chain_end")             \
    ROW(SPIN, "spin")                       \
    ROW(MASS, "mass")                       \
    ROW(CONTACT_A, "contact_a")             \
    ROW(CONTACT_B, "contact_b")             \
    ROW(CONTACT_POINT, "contact_point")     \
    ROW(CONTACT_NORMAL, "contact_normal")   \
    ROW(CONTACT_IMPULSE, "contact_impulse") \
    ROW(CONTACT_GAP, "contact_gap")         \
    ROW(LENGTH, "length")                   \
    ROW(DISSIPATED, "dissipated")
#define TALUS_ARRAY_ENUM(number, name) TALUS_ARRAY_##number,
enum { TALUS_ARRAY_NONE, TALUS_ARRAY_TABLE(TALUS_ARRAY_ENUM) TALUS_ARRAYS };

/* A chain ends at the contact point of a body whose radius is more than this multiple of the other's. */
#define TALUS_CHAIN_LARGE 3.0

/* Returns which of two moving bodies of a chain, by their radii as the file has them, is large beside the other: 0 or 1;
 * -1: neither. */
static inline int talus_chain_large_end(float a, float b)
{
    return a > TALUS_CHAIN_LARGE * b ? 0 : b > TALUS_CHAIN_LARGE * a ? 1 : -1;
}

/* Types of the numbers of an array: integers of 1, 2 or 4 bytes, bfloat16, float, double. */
enum { TALUS_TYPE_INTEGER = 1, TALUS_TYPE_BF16, TALUS_TYPE_F32, TALUS_TYPE_F64 };
/* Codings of the byte planes of an array: as they are, or deflated. */
enum { TALUS_CODING_STORED, TALUS_CODING_ZLIB };

typedef enum TalusPrediction {
    TALUS_PREDICT_NONE,  /* values themselves are stored */
    TALUS_PREDICT_TUPLE, /* differences from the previous tuple, of the first tuple from 0 */
    TALUS_PREDICT_BODY,  /* differences from the same body in the previous frame, from 0 if new */
    TALUS_PREDICT_BEST   /* for a packer: NONE or TUPLE, whichever is shorter; never in a file */
} TalusPrediction;

/* Header of an array in a chunk. name: TALUS_ARRAY_*; width: bytes per number; bytes: size of the data that follow. */
typedef struct TalusArrayHead {
    uint8_t name, type, components, prediction, width, coding;
    uint16_t zero;
    uint32_t tuples, bytes;
} TalusArrayHead;

_Static_assert(sizeof(TalusArrayHead) == 16, "this is written as it lies in memory");

/* Returns the name of an array kind for messages; "unknown" for any other number. */
const char *talus_array_name(int name);

/* An array split into byte planes, to be appended to a chunk. */
typedef struct TalusPacked {
    TalusArrayHead head;
    bool alternative;     /* values of the entry before, predicted otherwise; the shorter is used */
    bool thorough;        /* copy of the packer's `thorough` */
    unsigned char *plane; /* [size], byte planes */
    unsigned char *data;  /* [used], deflated planes; unused if head.coding is STORED */
    size_t size, used;    /* used: bytes for the chunk; equal to `size` if stored */
    TalusStatus status;   /* of deflating */
} TalusPacked;

/* A chunk under construction. Arrays are added one by one and deflated together, in parallel by the threads of `pool`;
 * the bytes of the chunk do not depend on the number of threads. */
typedef struct TalusPacker {
    TalusPool *pool;      /* NULL: calling thread only */
    bool thorough;        /* deflate searches for any repeats; false: for runs of one byte only */
    unsigned char *bytes; /* [size], the chunk so far */
    size_t size;
    uint32_t arrays; /* number of arrays in `bytes` */
    uint32_t *code;  /* codes of the array being added: zigzag differences or float bits */
    TalusPacked packed[2 * TALUS_ARRAYS]; /* memory is reused from frame to frame */
    int packed_count;
} TalusPacker;

void talus_packer_clear(TalusPacker *packer);
/* Appends bytes; NULL appends zeros. */
TalusStatus talus_pack_bytes(TalusPacker *packer, const void *bytes, size_t size);
/* Deflates the arrays in `packed` and appends them to `bytes` in order; of two alternatives only the shorter. Empties
 * `packed`. */
TalusStatus talus_packer_append_arrays(TalusPacker *packer);
/* Add an array to `packed`, with a copy of its values; talus_packer_append_arrays puts it into the chunk. An array
 * without tuples is omitted. `guess` has the values that TALUS_PREDICT_BODY subtracts; other predictions ignore it.
 * talus_pack_bfloat16 fails if a value is not finite. */
TalusStatus talus_pack_integers(TalusPacker *packer, int name, int components, int tuples,
                                TalusPrediction prediction, const int32_t *value,
                                const int32_t *guess);
TalusStatus talus_pack_bfloat16(TalusPacker *packer, int name, int components, int tuples,
                                const uint16_t *value);
TalusStatus talus_pack_floats(TalusPacker *packer, int name, int components, int tuples,
                              const float *value);
/* Fails if a value is not finite. */
TalusStatus talus_pack_doubles(TalusPacker *packer, int name, int components, int tuples,
                               const double *value);

/* An array inside a payload; `head.tuples` is 0 if it is missing. */
typedef struct TalusArrayView {
    TalusArrayHead head;
    const unsigned char *data; /* in the payload, which must outlive the view */
} TalusArrayView;

/* A payload being read: the head of a frame (unused for a HEAD chunk), the arrays by name, and work space. */
typedef struct TalusUnpacker {
    TalusFrameHead head;
    TalusArrayView array[TALUS_ARRAYS];
    unsigned char *plane;
    uint32_t *code;
} TalusUnpacker;

void talus_unpacker_clear(TalusUnpacker *unpacker);
/* Copies the head of a frame's payload, checks its counts and fills unpacker->array with the locations of its
 * arrays. */
TalusStatus talus_unpacker_locate_frame_arrays(TalusUnpacker *unpacker,
                                               const unsigned char *payload, size_t size);
/* Fills unpacker->array with the locations of consecutive arrays, up to the end of `bytes` or to a byte 0 in place of
 * an array's name. */
TalusStatus talus_unpacker_locate_arrays(TalusUnpacker *unpacker, const unsigned char *bytes,
                                         size_t size);
/* Read an array into `value`. Fail unless it has exactly `tuples` tuples (a missing array has 0) of this type and
 * number of components; also if a float is not finite. `guess` has the values that TALUS_PREDICT_BODY adds; NULL: such
 * an array is refused. */
TalusStatus talus_unpack_integers(TalusUnpacker *unpacker, int name, int components, int tuples,
                                  const int32_t *guess, int32_t *value);
TalusStatus talus_unpack_bfloat16(TalusUnpacker *unpacker, int name, int components, int tuples,
                                  uint16_t *value);
TalusStatus talus_unpack_floats(TalusUnpacker *unpacker, int name, int components, int tuples,
                                float *value);
TalusStatus talus_unpack_doubles(TalusUnpacker *unpacker, int name, int components, int tuples,
                                 double *value);

/* Returns the value as bfloat16, the upper 16 bits of a float: rounded to nearest even at bit `drop`, the bits below it
 * zero. Values beyond +-3e38 are clamped, so that the result is finite; NaN stays NaN. */
uint16_t talus_to_bfloat16(double value, int drop);
/* Returns the value of a bfloat16. */
double talus_from_bfloat16(uint16_t half);

enum { TALUS_BFLOAT16_DROPPED_LEAN = 4 }; /* mantissa bits dropped in lean frames; 3 remain */

/* ---- snapshots: io/run/snapshot_arrays.c ---- */

/* Allocates the arrays of a snapshot for these TalusSnapshotField bits (velocities imply speeds) and numbers of bodies
 * and contacts; their values are not set. Zeroes the other members. Free with talus_snapshot_free, also on failure. */
TalusStatus talus_snapshot_resize(TalusSnapshot *snapshot, unsigned fields, int bodies,
                                  int contacts);
/* Sets the branch vectors of all contacts from points and positions; 0 to a body that the snapshot lacks. */
void talus_snapshot_place_branches(TalusSnapshot *snapshot, const TalusPeriod *period);

/* ---- quantised frames: frames_state.c ---- */

/* A frame with the quantised values that the file stores; the next frame stores differences from these values. */
typedef struct TalusFrameState {
    int count; /* bodies */
    TalusBodyId *id;
    int32_t (*position)[3];    /* in steps of the grid of the head */
    int16_t (*orientation)[4]; /* quaternion w x y z times 32767; 0 for spheres */
    float *radius;
    int32_t *shape, *material, *tag;
    uint8_t *fixed, *layer;
    char *memory; /* block that all arrays are in */
} TalusFrameState;

/* Sets the number of bodies and allocates the arrays; their values are not set. */
TalusStatus talus_frame_state_resize(TalusFrameState *state, int count);
void talus_frame_state_clear(TalusFrameState *state);
/* Returns the rows [first, first + count) of a state, in its memory. */
TalusFrameState talus_frame_state_rows(const TalusFrameState *state, int first, int count);
/* Copies a state, memory included; `out` is cleared on failure. */
TalusStatus talus_frame_state_copy(const TalusFrameState *state, TalusFrameState *out);
/* Returns the rows of the bodies of part `part` in a state whose parts ascend, and moves *row behind them. *row must not be
 * behind the first of them. */
TalusFrameState talus_frame_state_part(const TalusFrameState *state, uint64_t part, int *row);
/* Returns the largest id number of a body, 0 without bodies; in the next frame, bodies with larger numbers are new. */
uint64_t talus_frame_largest_number(const TalusFrameState *state);
/* Finds body `id` in the previous frame: sets *match to its row, or to -1 if its number is above `newest`, the largest
 * of that frame, so that it is new. Bodies keep their order, so the search starts at *row, which moves past the body
 * found. Returns false, with *match = -1, if an old body is not found. `before` may be NULL if newest is 0. */
bool talus_frame_match_body(const TalusFrameState *before, uint64_t newest, TalusBodyId id,
                            int *row, int32_t *match);
/* Returns the prediction of the number of body i, from which the file stores the difference: the number of the body in
 * `row` of the previous frame, the row after the last match; past its end, or in a key frame (before NULL), the number
 * of body i - 1 of this frame; 0 for i = 0. */
uint64_t talus_frame_predict_number(const TalusFrameState *before, int row, const TalusBodyId *id,
                                    int i);

/* Returns the position, m, of the point q of the head's grid. */
static inline TalusVec3 talus_head_grid_point(const TalusFramesHead *head, const int32_t q[3])
{
    return talus_vec3(head->origin.x + head->quantum * q[0], head->origin.y + head->quantum * q[1],
                      head->origin.z + head->quantum * q[2]);
}

/* Returns the TalusSnapshotField bits that frames store; lean frames have speeds instead of velocities, no chains. Energies
 * are there if the world sums them. */
static inline unsigned talus_frame_fields(bool lean)
{
    return TALUS_SNAPSHOT_FORCE | TALUS_SNAPSHOT_DISSIPATED |
           (lean ? TALUS_SNAPSHOT_SPEED : TALUS_SNAPSHOT_VELOCITY | TALUS_SNAPSHOT_CHAINS);
}

/* True if shape `shape` of the head is a sphere; files store no orientation for its bodies. */
static inline bool talus_head_shape_is_sphere(const TalusFramesHead *head, int shape)
{
    return head->shapes[shape].kind == TALUS_SHAPE_SPHERE;
}

/* ---- heads: frames_head.c, frames_json.c ---- */

/* A head and the memory that it points to. A zeroed struct is empty. */
typedef struct TalusHeadStore {
    TalusFramesHead head;
    TalusArena arena;
    TalusFigure *figure; /* [head.shape_count]: triangles of each shape, from a file; NULL: none */
} TalusHeadStore;

/* Fills a head from a world: shapes, materials, gravity, periods, step. `def` (NULL: "") gives title, scene and entries.
 * `first`, the first frame, gives radius, origin and floor; NULL: 0, 0 and NAN. Quantum is 0, as there is no grid.
 * `out` is cleared first, and empty on failure. */
TalusStatus talus_frames_head_of_world(const TalusWorld *world, const TalusFramesDef *def,
                                       const TalusSnapshot *first, TalusHeadStore *out);
void talus_frames_head_clear(TalusHeadStore *store);
/* Makes a deep copy, without figures; `out` is cleared first and must not own what `head` points to. */
TalusStatus talus_frames_head_copy(const TalusFramesHead *head, TalusHeadStore *out);
/* True if two heads have equal shapes, materials, gravity, periods and step; the rest, as the grid, may differ. */
bool talus_frames_heads_equal(const TalusFramesHead *a, const TalusFramesHead *b);
/* Sets the typical radius (median), the grid (quantum and origin) and the floor (height of the lowest centre of a
 * moving body; NAN if none moves) of the head from the bodies of the first frame, on several ranks from those of all: each has
 * its own in `first`. Uses gravity and `lean` of the head. */
TalusStatus talus_frames_head_set_grid(TalusFramesHead *head, const TalusSnapshot *first,
                                       TalusComm *comm);
/* Returns the direction against gravity; +z without gravity. */
TalusVec3 talus_frames_up_direction(const TalusFramesHead *head);

/* Appends a HEAD chunk of this file version. The payload is JSON; since version 2, 1 to 8 zeros, up to a multiple of 8
 * bytes, and the arrays of the figures follow. Makes the figures if head->figures is NULL. */
TalusStatus talus_frames_head_pack(TalusPacker *packer, const TalusFramesHead *head, int version);
/* Reads a head from the payload of a HEAD chunk; a payload of version 1 gives a head without figures. `source` is for
 * messages. `out` is cleared first, and empty on failure; it does not refer to the payload. */
TalusStatus talus_frames_head_read(const char *payload, size_t size, const char *source,
                                   TalusHeadStore *out);

/* ---- figures of a head: frames_figure.c ---- */

/* Makes the figures (triangles for drawing) of all shapes of a head; free with talus_head_free_figures. */
TalusStatus talus_head_make_figures(const TalusFramesHead *head, TalusFigure **out);
void talus_head_free_figures(TalusFigure **figure, int count);

/* Appends the arrays of the figures to a chunk. */
TalusStatus talus_head_pack_figures(TalusPacker *packer, const TalusFigure *figure, int count);
/* Returns the number of zeros to append to a payload of `size` bytes, so that the numbers of these figures are within
 * the limit TALUS_FIGURE_PER_BYTE of readers. */
size_t talus_head_figure_padding(const TalusFigure *figure, int count, size_t size);

/* Payload of a HEAD: JSON, then arrays from byte `arrays_at` on. */
typedef struct TalusHeadPayload {
    const char *source; /* for messages */
    const unsigned char *bytes;
    size_t size, arrays_at;
} TalusHeadPayload;

/* Reads the figures of all shapes: kinds and sizes from the JSON list `shapes`, numbers from the arrays of the payload.
 * Free with talus_head_free_figures. */
TalusStatus talus_head_read_figures(const TalusJson *shapes, TalusHeadPayload payload,
                                    TalusFigure **out);

/* ---- shapes of a head: frames_shape.c ---- */

/* Appends a JSON member "key": [x, y, z]. */
void talus_head_print_vector(TalusText *text, const char *key, TalusVec3 v);
/* Appends the JSON object of a shape without its closing brace, so that talus_head_print_figure may follow. */
void talus_head_print_shape(TalusText *text, const TalusShapeDef *shape);
/* Appends the JSON members "drawn" and "levels" of the figure of a shape. */
void talus_head_print_figure(TalusText *text, const TalusFigure *figure);

/* Bound on vectors, scales, periods and array elements that are read from a head, so that squares and sums do not
 * overflow. */
#define TALUS_HEAD_NUMBER_MAX 1e100

/* Sets *out to a member of an object; fails if the member is missing or of another kind. */
TalusStatus talus_head_find_member(const TalusJson *object, const char *key, TalusJsonKind kind,
                                   const TalusJson **out);
/* Reads a member that is a number. */
TalusStatus talus_head_read_number(const TalusJson *object, const char *key, double *out);
/* Reads a node that is a list of `count` numbers. */
TalusStatus talus_head_read_list(const TalusJson *node, int count, double *out);
/* Reads a member that is a list of 3 numbers, shorter than TALUS_HEAD_NUMBER_MAX as a vector. */
TalusStatus talus_head_read_vector(const TalusJson *object, const char *key, TalusVec3 *out);
/* Reads a shape; its arrays are in `arena`. Fails if a world would refuse the shape. A sphere gets radius 0. */
TalusStatus talus_head_read_shape(TalusArena *arena, const TalusJson *node, TalusShapeDef *out);

/* Copies a shape with its arrays and the parts of compounds into `arena`. */
TalusStatus talus_head_copy_shape(TalusArena *arena, const TalusShapeDef *shape,
                                  TalusShapeDef *out);
/* True if two definitions have the same kind and are equal in all members that define a shape of that kind. */
bool talus_head_shapes_equal(const TalusShapeDef *a, const TalusShapeDef *b);

/* ---- frames: frames_encode.c, frames_decode.c ---- */

/* What a writer keeps from frame to frame, and work space. */
typedef struct TalusFrameEncoder {
    TalusPacker packer;
    TalusFrameState before, now; /* previous frame; the one being encoded */
    int clamped;                 /* bodies of `now` outside the grid, moved to its edge */
    int32_t *match;              /* [bodies of now]: row in the previous frame, -1 for a new body */
    int32_t *value, *guess; /* integers of an array, and those predicted for them; or work space */
    uint16_t *half;         /* bfloat16 numbers of an array */
    float *real;            /* radii of new bodies, in a key frame of all; or energies */
    int *chain;             /* indices of the contacts that are chains */
} TalusFrameEncoder;

void talus_frame_encoder_clear(TalusFrameEncoder *encoder);
/* Makes the FRAM chunk in `packer` and stores the frame in `now`. The caller sets *key to true to ask for a key frame;
 * the call sets it to true if old bodies are not in the order of `before`, because only a key frame can store them
 * then. */
TalusStatus talus_frame_encode(TalusFrameEncoder *encoder, const TalusFramesHead *head,
                               const TalusSnapshot *snapshot, bool *key);
/* The same for a PART chunk; the snapshot has the bodies of this part alone, `before` those of the frame before. */
TalusStatus talus_frame_encode_part(TalusFrameEncoder *encoder, const TalusFramesHead *head,
                                    const TalusSnapshot *snapshot, uint64_t part, bool *key);
/* Makes the FRAM chunk behind the parts of a lean frame, all bodies and contacts of which `frame` counts. */
TalusStatus talus_frame_encode_end(TalusPacker *packer, const TalusFrameHead *frame, double time,
                                   int64_t step, bool key);
/* Starts a chunk with room for its headers, and ends one: sets its headers and appends the padding. */
TalusStatus talus_packer_open_chunk(TalusPacker *packer);
TalusStatus talus_packer_close_chunk(TalusPacker *packer, TalusChunk chunk,
                                     const TalusFrameHead *frame);
/* Appends zeros until the payload has at most TALUS_FRAMES_PER_BYTE bodies and contacts per byte; readers refuse more. */
TalusStatus talus_packer_pad_payload(TalusPacker *packer, int bodies, int contacts);
/* Exchanges `now` and `before`, so that the frame encoded last is the previous one. Call it once the chunk is in the
 * file. */
void talus_frame_encoder_commit(TalusFrameEncoder *encoder);

/* ---- exact frames: frames_exact.c ---- */

/* What exact frames have: all but chains. Dissipated energies are there if the world sums them. */
enum { TALUS_EXACT_FIELDS = TALUS_SNAPSHOT_ALL & ~(int)TALUS_SNAPSHOT_CHAINS };

/* Makes the EXAC chunk of a snapshot, which has the bits of all its numbers. Fails if the snapshot lacks fields. */
TalusStatus talus_frame_encode_exact(TalusPacker *packer, const TalusSnapshot *snapshot);
/* Decodes the payload of an EXAC chunk whose checksum has been verified. Shapes and materials must be among those of the head.
 * On failure the snapshot is freed. */
TalusStatus talus_frame_decode_exact(TalusUnpacker *unpacker, const TalusFramesHead *head,
                                     const TalusChunk *chunk, const unsigned char *payload,
                                     TalusSnapshot *snapshot);

/* ---- frames in parts: frames_parts.c ---- */

/* A part: the bodies with these numbers. */
typedef struct TalusFramePart {
    uint64_t number;
    TalusFrameState before, now; /* as in TalusFrameEncoder */
} TalusFramePart;

/* Numbers of parts that have been made for a frame, and in these of bodies outside the grid and of bodies. */
typedef struct TalusPartCounts {
    int64_t parts, clamped, bodies;
} TalusPartCounts;

/* The parts of the last frame, and while a frame is made its own, too. A zeroed struct is empty. */
typedef struct TalusPartList {
    TalusFramePart *part; /* [count], by ascending numbers */
    int count;
    int at; /* place of the last part of the frame being made */
    TalusPartCounts made;
} TalusPartList;

void talus_parts_clear(TalusPartList *list);
/* Adds the parts of a decoded frame, as those of the last one, to an empty list. */
TalusStatus talus_parts_take(TalusPartList *list, const TalusFrameState *state);
/* Starts a frame, or starts it anew. */
void talus_parts_begin(TalusPartList *list);
/* Makes the chunk of the next part in encoder->packer: `rows` are all bodies of it, and at least one. *key: as for
 * talus_frame_encode. */
TalusStatus talus_parts_encode(TalusPartList *list, TalusFrameEncoder *encoder,
                               const TalusFramesHead *head, const TalusSnapshot *rows, bool *key);
/* Makes the chunk behind the parts, which are so many on all ranks. */
TalusStatus talus_parts_encode_end(const TalusPartCounts *made, TalusPacker *packer, double time,
                                   int64_t step, int64_t contacts, bool key);
/* Makes the frame the last one. Call it once all chunks are in the file. */
void talus_parts_commit(TalusPartList *list);
/* Returns the rows of a lean snapshot, in its memory, that are of the same part as row `first` and behind it. */
TalusSnapshot talus_snapshot_next_part(const TalusSnapshot *snapshot, int first);

/* Work space of a reader of frames; members as in TalusFrameEncoder. */
typedef struct TalusFrameDecoder {
    TalusUnpacker unpacker;
    int32_t *match, *value, *guess;
    uint16_t *half;
    float *real; /* radii of new bodies, or energies */
} TalusFrameDecoder;

void talus_frame_decoder_clear(TalusFrameDecoder *decoder);
/* Decodes a payload whose checksum has been verified. `before` is the previous frame; a key frame does not use
 * it, and it may be NULL. Sets `now` to the quantised frame and fills `snapshot` (may be NULL). On failure
 * `now` is unspecified, `snapshot` unchanged or freed. Messages name neither file nor frame. */
TalusStatus talus_frame_decode(TalusFrameDecoder *decoder, const TalusFramesHead *head,
                               const TalusChunk *chunk, const unsigned char *payload,
                               const TalusFrameState *before, TalusFrameState *now,
                               TalusSnapshot *snapshot);

/* A frame in parts, while these are decoded one after the other. */
typedef struct TalusFrameParts {
    const TalusFrameState *before; /* the whole previous frame; NULL in a key frame */
    TalusFrameState *now;          /* the whole frame, of the size of all parts together */
    TalusSnapshot *snapshot;       /* the same; NULL: none is asked for */
    int row, before_row;           /* behind the parts decoded so far */
    int64_t next;                  /* the least number of the next part */
} TalusFrameParts;

/* Allocates the snapshot of a frame in parts, if there is one. */
TalusStatus talus_frame_parts_begin(TalusFrameParts *parts, const TalusFramesHead *head);
/* Decodes the payload of a PART chunk into the rows behind the parts before it. */
TalusStatus talus_frame_parts_decode(TalusFrameParts *parts, TalusFrameDecoder *decoder,
                                     const TalusFramesHead *head, const TalusChunk *chunk,
                                     const unsigned char *payload);
/* Checks that these `count` parts are all, and takes time, step and contacts from the FRAM chunk behind them. */
TalusStatus talus_frame_parts_end(const TalusFrameParts *parts, const TalusChunk *chunk,
                                  const unsigned char *payload, int count);

/* Returns the head of the last frame written; NULL before the first frame. */
const TalusFramesHead *talus_frames_writer_head(const TalusFramesWriter *writer);

/* True if frames have EXAC chunks. */
bool talus_frames_writes_exact(const TalusFramesWriter *writer);
/* True if ranks can write the next frame of this world without one that has all bodies: it is in parts (lean, with bodies, in a
 * file of a version that has parts) and not exact. */
bool talus_frames_has_parts(const TalusFramesWriter *writer, const TalusWorld *world);
/* Appends a frame of a world on several ranks, which all call this; `writer` is NULL on all but rank 0. Each rank makes every size-th part
 * part by part; talus_frames_has_parts must hold. `def`: as for talus_frames_head_of_world. */
TalusStatus talus_frames_add_from_ranks(TalusFramesWriter *writer, const TalusFramesDef *def,
                                        const TalusWorld *world);
/* As talus_frames_create and talus_frames_resume, in an open directory, which must outlive the writer. If `dir` is
 * NULL, `name` is a path. */
TalusStatus talus_frames_create_in(TalusDir *dir, const char *name, const TalusFramesDef *def,
                                   TalusFramesWriter **out);
TalusStatus talus_frames_resume_in(TalusDir *dir, const char *name, double time,
                                   TalusFramesWriter **out);
/* Syncs the frames to the disk. Fails as talus_frames_check does, or if another process changed the length of the
 * file. */
TalusStatus talus_frames_sync(const TalusFramesWriter *writer);
/* Fails if the file was removed, renamed or replaced; not noticed if the file was opened by path. */
TalusStatus talus_frames_check(const TalusFramesWriter *writer);

/* ---- the reader: frames_scan.c, frames_read.c ---- */

/* Returns the format version of the file. */
int talus_frames_version(const TalusFrames *frames);

/* Location of a HEAD chunk in the file: offset and size, with header and padding. */
typedef struct TalusHeadLocation {
    uint64_t offset, size;
} TalusHeadLocation;

/* An open file of frames. */
struct TalusFrames {
    char *path;
    int fd;
    uint32_t version;        /* format version of the file */
    TalusFrameInfo *frame;   /* [count], in file order */
    int *frame_head;         /* [count]: index in `head` of each frame's head, -1: none */
    uint64_t *exact;         /* [count]: offset of each frame's EXAC chunk, 0: none */
    uint64_t next_exact;     /* the same of the frame that is listed next */
    TalusHeadLocation *head; /* [heads] */
    int count, heads;        /* numbers of listed frames and heads */
    uint64_t end;      /* offset from which the next scan continues: end of the last whole chunk */
    bool complete;     /* the file has its index: the writer has finished */
    uint64_t torn;     /* offset of a last frame with a wrong checksum, not listed; 0: none */
    uint64_t warned;   /* offset of damage already reported; 0: none */
    uint32_t marks[2]; /* checksums of the last frame and its head, to notice a rewritten file */
    uint64_t replaced; /* how often a scan found listed frames truncated or rewritten */

    TalusHeadStore loaded; /* the head read last */
    int loaded_head;       /* index of `loaded` in `head`; -1: none */
    TalusFrameDecoder decoder;
    TalusFrameState state[2]; /* state[newest] is frame `decoded` */
    int newest, decoded;      /* newest: 0 or 1; decoded: -1: none */
    int share,
        shares; /* of frames in parts only each shares-th part is decoded, from `share` on; 0 of 0: all */
    bool before_valid;      /* state[!newest] is frame decoded - 1; false after a key frame */
    unsigned char *payload; /* of the last chunk read */
};

/* If *frames is NULL, creates a reader of the file `fd` at `path` and lists the frames. Else reads on from `fd`, in
 * place of the reader's descriptor, ignores `path`, and scans as talus_frames_scan does. The reader will close `fd`. On
 * failure closes `fd`, frees *frames and sets it NULL. */
TalusStatus talus_frames_open_or_rescan(TalusFrames **frames, int fd, const char *path);
/* Lists the frames and heads from the offset `frames->end` on; those of the whole file if no frame is listed yet, if
 * the last listed frame or its head has changed in the file, or if the file is shorter than `frames->end`. */
TalusStatus talus_frames_scan(TalusFrames *frames);
/* Empties the lists of frames and heads, so that the next scan starts at the first chunk; invalidates the loaded head
 * and the decoded frame. */
void talus_frames_forget(TalusFrames *frames);
/* Reads exactly `size` bytes of the file. */
TalusStatus talus_frames_read_bytes(const TalusFrames *frames, uint64_t offset, void *out,
                                    size_t size);
/* Reads a chunk: its header into *chunk, its payload into frames->payload. Fails if magic, kind, size or checksum are
 * wrong. */
TalusStatus talus_frames_read_chunk(TalusFrames *frames, uint64_t offset, uint32_t kind,
                                    TalusChunk *chunk);
/* Reads a chunk of a frame: a part of it or the FRAM chunk. */
TalusStatus talus_frames_read_frame_chunk(TalusFrames *frames, uint64_t offset, TalusChunk *chunk);
/* Reads the head of frame `index` into `loaded`, unless `loaded` has it already. */
TalusStatus talus_frames_load_head(TalusFrames *frames, int index);
/* Decodes frame `index` into state[newest] and `snapshot` (may be NULL). First decodes the frames that it depends on
 * and whose states are not stored: from its key frame or, if that is later, from the frame after `decoded`. On failure
 * `snapshot` is unchanged or freed. */
TalusStatus talus_frames_decode(TalusFrames *frames, int index, TalusSnapshot *snapshot);

/* Sets the list, which must be empty, to the parts of the last of `count` frames of a file: each size-th of them, from `rank`
 * on. */
TalusStatus talus_frames_load_share(const char *path, int count, int rank, int size,
                                    TalusPartList *out);

/* Sets *in_parts to whether a frame is. */
TalusStatus talus_frames_in_parts(const TalusFrames *frames, int index, bool *in_parts);

/* Fails if a chunk of a frame, or of one that it depends on, is damaged. */
TalusStatus talus_frames_verify(TalusFrames *frames, int index);

#endif

/* io/vtp.c - writes .vtp frames that ParaView and OVITO read.
 *
 * Inline base64, uncompressed: ParaView 5.11 as Debian builds it cannot read appended data, and
 * OVITO needs inline data with NumberOfVerts = NumberOfPoints. Each array is one base64 stream of
 * its byte count (UInt64) and its bytes. Positions are Float64, because a small grain far from the
 * origin needs it; the other fields are Float32. */
#include "io/vtp.h"

#include "base/memory.h"
#include "io/base64.h"
#include "io/file.h"

#include <string.h>

enum {
    CHUNK = 3072, /* values converted at a time; whole base64 groups */
    ARRAYS = 10,
    ALIGNMENT = 16
};

typedef struct Frame {
    TalusBodyState body;
    int count;
    void *block; /* holds all arrays */
} Frame;

/* ---- gathering ---- */

static void *take(char **cursor, size_t count, size_t element)
{
    void *array = *cursor;
    *cursor += (count * element + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return array;
}

/* One block for all arrays. */
static TalusStatus allocate(Frame *frame)
{
    TalusBodyState *body = &frame->body;
    size_t n = (size_t)frame->count;
    size_t per_body = sizeof *body->id + 3 * sizeof *body->position + sizeof *body->orientation +
                      sizeof *body->radius + 3 * sizeof *body->shape + sizeof *body->fixed;
    TALUS_TRY(talus_alloc(&frame->block, n * per_body + ARRAYS * ALIGNMENT, 1, "frame"));
    char *cursor = frame->block;
    body->id = take(&cursor, n, sizeof *body->id);
    body->position = take(&cursor, n, sizeof *body->position);
    body->velocity = take(&cursor, n, sizeof *body->velocity);
    body->spin = take(&cursor, n, sizeof *body->spin);
    body->orientation = take(&cursor, n, sizeof *body->orientation);
    body->radius = take(&cursor, n, sizeof *body->radius);
    body->shape = take(&cursor, n, sizeof *body->shape);
    body->material = take(&cursor, n, sizeof *body->material);
    body->tag = take(&cursor, n, sizeof *body->tag);
    body->fixed = take(&cursor, n, sizeof *body->fixed);
    return TALUS_OK;
}

/* Planes have no extent; a revolved wall has one, but as a ball it would hide all it contains. */
static bool is_drawn(const TalusWorld *world, int shape)
{
    TalusShapeKind kind = talus_world_shape(world, shape).kind;
    return kind != TALUS_SHAPE_PLANE && kind != TALUS_SHAPE_REVOLVE;
}

static void drop_walls(Frame *frame, const TalusWorld *world)
{
    TalusBodyState *body = &frame->body;
    int kept = 0;
    for (int i = 0; i < frame->count; i++) {
        if (!is_drawn(world, body->shape[i]))
            continue;
        body->id[kept] = body->id[i];
        body->position[kept] = body->position[i];
        body->velocity[kept] = body->velocity[i];
        body->spin[kept] = body->spin[i];
        body->orientation[kept] = body->orientation[i];
        body->radius[kept] = body->radius[i];
        body->shape[kept] = body->shape[i];
        body->material[kept] = body->material[i];
        body->tag[kept] = body->tag[i];
        body->fixed[kept] = body->fixed[i];
        kept++;
    }
    frame->count = kept;
}

static TalusStatus gather(Frame *frame, const TalusWorld *world)
{
    memset(frame, 0, sizeof *frame);
    frame->count = talus_world_body_count(world);
    TALUS_TRY(allocate(frame));
    talus_world_get_state(world, &frame->body);
    drop_walls(frame, world);
    return TALUS_OK;
}

/* ---- arrays ---- */

static TalusBase64 array_begin(TalusFile *file, const char *type, const char *name, int components,
                               uint64_t bytes)
{
    talus_file_print(
        file, "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"binary\">\n",
        type, name, components);
    TalusBase64 stream = talus_base64_begin(file);
    talus_base64_put(&stream, &bytes, sizeof bytes);
    return stream;
}

static void array_end(TalusBase64 *stream)
{
    talus_base64_end(stream);
    talus_file_print(stream->file, "\n</DataArray>\n");
}

static void array_raw(TalusFile *file, const char *type, const char *name, int components,
                      const void *values, size_t bytes)
{
    TalusBase64 stream = array_begin(file, type, name, components, bytes);
    talus_base64_put(&stream, values, bytes);
    array_end(&stream);
}

static void array_floats(TalusFile *file, const char *name, int components, const double *values,
                         int count)
{
    size_t left = (size_t)components * (size_t)count;
    float chunk[CHUNK];
    TalusBase64 stream = array_begin(file, "Float32", name, components, left * sizeof *chunk);
    while (left > 0) {
        size_t n = left < CHUNK ? left : CHUNK;
        for (size_t i = 0; i < n; i++)
            chunk[i] = (float)values[i];
        talus_base64_put(&stream, chunk, n * sizeof *chunk);
        values += n;
        left -= n;
    }
    array_end(&stream);
}

static void array_ints(TalusFile *file, const char *name, const int *values, int count)
{
    array_raw(file, "Int32", name, 1, values, (size_t)count * sizeof *values);
}

/* first, first + 1, ...: the cells of a cloud of points. */
static void array_sequence(TalusFile *file, const char *name, int32_t first, int count)
{
    int32_t chunk[CHUNK];
    TalusBase64 stream = array_begin(file, "Int32", name, 1, (uint64_t)count * sizeof *chunk);
    for (int done = 0; done < count;) {
        int n = count - done < CHUNK ? count - done : CHUNK;
        for (int i = 0; i < n; i++)
            chunk[i] = first + done + i;
        talus_base64_put(&stream, chunk, (size_t)n * sizeof *chunk);
        done += n;
    }
    array_end(&stream);
}

/* An index is used again after a body has gone; its generation, from 1, tells the two apart. */
static void array_ids(TalusFile *file, const TalusBodyId *ids, int count)
{
    TalusBase64 stream =
        array_begin(file, "Int64", "body_id", 1, (uint64_t)count * sizeof(int64_t));
    for (int i = 0; i < count; i++) {
        uint64_t id = (uint64_t)(ids[i].generation - 1) << 32 | ids[i].index;
        talus_base64_put(&stream, &id, sizeof id);
    }
    array_end(&stream);
}

static void array_flags(TalusFile *file, const char *name, const bool *values, int count)
{
    TalusBase64 stream = array_begin(file, "UInt8", name, 1, (uint64_t)count);
    for (int i = 0; i < count; i++) {
        uint8_t flag = values[i];
        talus_base64_put(&stream, &flag, 1);
    }
    array_end(&stream);
}

/* ---- the file ---- */

static void write_fields(TalusFile *file, const Frame *frame)
{
    const TalusBodyState *body = &frame->body;
    int n = frame->count;
    talus_file_print(file, "<PointData Scalars=\"radius\" Vectors=\"velocity\">\n");
    array_floats(file, "radius", 1, body->radius, n);
    array_floats(file, "velocity", 3, &body->velocity->x, n);
    array_floats(file, "angular_velocity", 3, &body->spin->x, n);
    array_floats(file, "orientation", 4, &body->orientation->w, n);
    array_ids(file, body->id, n);
    array_ints(file, "material_id", body->material, n);
    array_ints(file, "shape_id", body->shape, n);
    array_ints(file, "tag", body->tag, n);
    array_flags(file, "fixed", body->fixed, n);
    talus_file_print(file, "</PointData>\n");
}

static void write_geometry(TalusFile *file, const Frame *frame)
{
    int n = frame->count;
    talus_file_print(file, "<Points>\n");
    array_raw(file, "Float64", "Points", 3, frame->body.position,
              (size_t)n * sizeof *frame->body.position);
    talus_file_print(file, "</Points>\n<Verts>\n");
    array_sequence(file, "connectivity", 0, n);
    array_sequence(file, "offsets", 1, n);
    talus_file_print(file, "</Verts>\n");
}

static void write_frame(TalusFile *file, const Frame *frame, double time)
{
    talus_file_print(
        file,
        "<?xml version=\"1.0\"?>\n"
        "<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" "
        "header_type=\"UInt64\">\n"
        "<PolyData>\n"
        "<FieldData>\n"
        "<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">"
        "%.17g</DataArray>\n"
        "</FieldData>\n",
        time);
    talus_file_print(file,
                     "<Piece NumberOfPoints=\"%d\" NumberOfVerts=\"%d\" NumberOfLines=\"0\" "
                     "NumberOfStrips=\"0\" NumberOfPolys=\"0\">\n",
                     frame->count, frame->count);
    write_fields(file, frame);
    write_geometry(file, frame);
    talus_file_print(file, "</Piece>\n</PolyData>\n</VTKFile>\n");
}

TalusStatus talus_vtp_write(const char *path, const TalusWorld *world)
{
    Frame frame;
    TalusFile *file;
    TALUS_TRY(gather(&frame, world));
    TalusStatus status = talus_file_create(path, &file);
    if (status == TALUS_OK) {
        write_frame(file, &frame, talus_world_time(world));
        status = talus_file_commit(file);
    }
    talus_release(frame.block);
    return status;
}

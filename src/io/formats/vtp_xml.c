/* io/formats/vtp_xml.c - header, arrays and end of .vtp files. */
#include "io/formats/vtp_xml.h"

#include "base/memory.h"
#include "collide/period.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* CHUNK_BYTES: bytes of values that are encoded at a time. FILE_LIMIT: largest file that talus_vtp_read_key reads. */
enum { CHUNK_BYTES = 12288, FILE_LIMIT = INT_MAX };

/* Tag before the key in a file. */
#define KEY_MARK "<DataArray type=\"UInt64\" Name=\"key\" NumberOfTuples=\"1\" format=\"ascii\">"

static const char *type_name(TalusFieldType type)
{
    static const char *const names[] = {"Float64", "Float32", "Int64", "Int32", "UInt8"};
    return names[type];
}

/* Prints the arrays period_lo and period_hi if space is periodic, and period_tilt if that is not 0. */
static void print_period(TalusFile *file, const TalusPeriod *period)
{
    TalusVec3 side[2];
    if (!talus_has_period(period))
        return;
    talus_period_sides(period, side);
    for (int k = 0; k < 2; k++)
        talus_file_print(file,
                         "<DataArray type=\"Float64\" Name=\"period_%s\" NumberOfComponents=\"3\" "
                         "NumberOfTuples=\"1\" format=\"ascii\">%.17g %.17g %.17g</DataArray>\n",
                         k ? "hi" : "lo", side[k].x, side[k].y, side[k].z);
    if (period->tilt != 0.0)
        talus_file_print(file,
                         "<DataArray type=\"Float64\" Name=\"period_tilt\" NumberOfTuples=\"1\" "
                         "format=\"ascii\">%.17g</DataArray>\n",
                         period->tilt);
}

void talus_vtp_begin(TalusFile *file, const TalusFramesHead *head, double time, uint64_t key,
                     TalusVtpCounts counts)
{
    talus_file_print(
        file,
        "<?xml version=\"1.0\"?>\n"
        "<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" "
        "header_type=\"UInt64\">\n"
        "<PolyData>\n"
        "<FieldData>\n"
        "<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">"
        "%.17g</DataArray>\n",
        time);
    print_period(file, &head->period);
    if (key)
        talus_file_print(file, KEY_MARK "%" PRIu64 "</DataArray>\n", key);
    talus_file_print(file,
                     "</FieldData>\n"
                     "<Piece NumberOfPoints=\"%d\" NumberOfVerts=\"%d\" NumberOfLines=\"%d\" "
                     "NumberOfStrips=\"0\" NumberOfPolys=\"%d\">\n",
                     counts.points, counts.verts, counts.lines, counts.polys);
}

void talus_vtp_end(TalusFile *file)
{
    talus_file_print(file, "</Piece>\n</PolyData>\n</VTKFile>\n");
}

TalusStatus talus_vtp_read_key(const TalusDir *dir, const char *name, uint64_t *key)
{
    char *text;
    size_t size;
    TALUS_TRY(talus_dir_read_file(dir, name, FILE_LIMIT, &text, &size));
    const char *mark = strstr(text, KEY_MARK);
    *key = mark ? strtoull(mark + strlen(KEY_MARK), NULL, 10) : 0;
    talus_release(text);
    return TALUS_OK;
}

TalusBase64 talus_vtp_array_begin(TalusFile *file, TalusFieldType type, const char *name,
                                  int components, size_t tuples)
{
    uint64_t bytes = tuples * (uint64_t)components * talus_field_type_size(type);
    talus_file_print(
        file, "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"binary\">\n",
        type_name(type), name, components);
    TalusBase64 stream = talus_base64_begin(file);
    talus_base64_put(&stream, &bytes, sizeof bytes);
    return stream;
}

void talus_vtp_array_end(TalusBase64 *stream)
{
    talus_base64_end(stream);
    talus_file_print(stream->file, "\n</DataArray>\n");
}

void talus_vtp_write_field(TalusFile *file, const TalusField *field, const char *name,
                           const TalusFramesHead *head, const TalusSnapshot *snapshot,
                           const int *rows, int count)
{
    char chunk[CHUNK_BYTES];
    size_t used = 0;
    TalusBase64 stream = talus_vtp_array_begin(file, field->type, name ? name : field->name,
                                               talus_field_components(field), (size_t)count);
    for (int i = 0; i < count; i++) {
        used += talus_field_write(field, head, snapshot, rows ? rows[i] : i, chunk + used);
        if (used + TALUS_FIELD_BYTES > sizeof chunk || i + 1 == count) {
            talus_base64_put(&stream, chunk, used);
            used = 0;
        }
    }
    talus_vtp_array_end(&stream);
}

void talus_vtp_write_values(TalusFile *file, TalusFieldType type, const char *name, int components,
                            const void *values, size_t tuples)
{
    TalusBase64 stream = talus_vtp_array_begin(file, type, name, components, tuples);
    talus_base64_put(&stream, values, tuples * (size_t)components * talus_field_type_size(type));
    talus_vtp_array_end(&stream);
}

void talus_vtp_write_sequence(TalusFile *file, const char *name, int first, int stride, int count)
{
    int32_t chunk[CHUNK_BYTES / sizeof(int32_t)];
    const int capacity = (int)(sizeof chunk / sizeof *chunk);
    TalusBase64 stream = talus_vtp_array_begin(file, TALUS_FIELD_I32, name, 1, (size_t)count);
    for (int done = 0; done < count;) {
        int n = count - done < capacity ? count - done : capacity;
        for (int i = 0; i < n; i++)
            chunk[i] = first + stride * (done + i);
        talus_base64_put(&stream, chunk, (size_t)n * sizeof *chunk);
        done += n;
    }
    talus_vtp_array_end(&stream);
}

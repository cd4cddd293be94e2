/* io/formats/vtp_xml.h - writes the parts of a VTK PolyData file (.vtp).
 *
 * Arrays are written inline as uncompressed base64: Debian's ParaView 5.11 cannot read the appended form, and OVITO
 * needs the inline form and NumberOfVerts = NumberOfPoints. Each array is one base64 stream of its byte count (UInt64)
 * and its bytes. */
#ifndef TALUS_IO_FORMATS_VTP_XML_H
#define TALUS_IO_FORMATS_VTP_XML_H

#include "io/file/dir.h"
#include "io/formats/fields.h"
#include "io/text/base64.h"

/* Numbers of points and cells of a file. After talus_vtp_begin the caller writes the sections PointData, CellData,
 * Points and cells (Verts, Lines, Polys), in this order. */
typedef struct TalusVtpCounts {
    int points, verts, lines, polys;
} TalusVtpCounts;

/* Writes the start of a file. `key`, a hash to recognise the content, is stored as field data "key"; 0: none. If space
 * is periodic, "period_lo" and "period_hi" are stored too, both 0 along an axis without period. */
void talus_vtp_begin(TalusFile *file, const TalusFramesHead *head, double time, uint64_t key,
                     TalusVtpCounts counts);
/* Writes the closing tags of a file. */
void talus_vtp_end(TalusFile *file);
/* Reads the key that talus_vtp_begin stored in a file; 0 if the file has none. */
TalusStatus talus_vtp_read_key(const TalusDir *dir, const char *name, uint64_t *key);

/* Writes the start of an array of `tuples` x `components` values. The caller puts exactly the bytes of these values
 * into the stream returned, then calls talus_vtp_array_end. */
TalusBase64 talus_vtp_array_begin(TalusFile *file, TalusFieldType type, const char *name,
                                  int components, size_t tuples);
/* Ends the base64 text and writes the closing tag of the array. */
void talus_vtp_array_end(TalusBase64 *stream);

/* Writes a field of the bodies or contacts rows[count] (NULL: 0, 1, ...) as an array called `name` (NULL: called as the
 * field). */
void talus_vtp_write_field(TalusFile *file, const TalusField *field, const char *name,
                           const TalusFramesHead *head, const TalusSnapshot *snapshot,
                           const int *rows, int count);
/* Writes an array of `tuples` x `components` numbers; `values` has them in this type. */
void talus_vtp_write_values(TalusFile *file, TalusFieldType type, const char *name, int components,
                            const void *values, size_t tuples);
/* Writes an array of the `count` 32-bit integers first, first + stride, first + 2 stride, ... */
void talus_vtp_write_sequence(TalusFile *file, const char *name, int first, int stride, int count);

#endif

/* io/formats/vtp_xml.h - the pieces of a VTK PolyData file (.vtp).
 *
 * Inline base64, uncompressed: ParaView 5.11 as Debian builds it cannot read appended data, and
 * OVITO needs inline data with NumberOfVerts = NumberOfPoints. Each array is one base64 stream of
 * its byte count (UInt64) and its bytes. */
#ifndef TALUS_IO_FORMATS_VTP_XML_H
#define TALUS_IO_FORMATS_VTP_XML_H

#include "io/file/dir.h"
#include "io/formats/fields.h"
#include "io/text/base64.h"

/* What a file holds; to be followed by its sections in the order PointData, CellData, Points, cells. */
typedef struct TalusVtpCounts {
    int points, verts, lines, polys;
} TalusVtpCounts;

/* `key` is kept as the field data "key", and can be read back; 0: none. The period of `head` is kept as "period_lo" and
 * "period_hi", which are equal along an axis without one. */
void talus_vtp_begin(TalusFile *file, const TalusFramesHead *head, double time, uint64_t key,
                     TalusVtpCounts counts);
void talus_vtp_end(TalusFile *file);
/* The key of a file of ours, 0 if it has none. */
TalusStatus talus_vtp_key(const TalusDir *dir, const char *name, uint64_t *key);

/* An array is begun, its bytes are put into the stream, and it is ended. */
TalusBase64 talus_vtp_array(TalusFile *file, TalusFieldType type, const char *name, int components,
                            size_t tuples);
void talus_vtp_array_end(TalusBase64 *stream);

/* A field under another name or its own (NULL), for the given rows, or for rows 0, 1, ... (NULL). */
void talus_vtp_field(TalusFile *file, const TalusField *field, const char *name,
                     const TalusFramesHead *head, const TalusSnapshot *snapshot, const int *rows,
                     int count);
/* An array of numbers as they stand in memory. */
void talus_vtp_values(TalusFile *file, TalusFieldType type, const char *name, int components,
                      const void *values, size_t tuples);
/* first, first + stride, first + 2 stride, ... */
void talus_vtp_sequence(TalusFile *file, const char *name, int first, int stride, int count);

#endif

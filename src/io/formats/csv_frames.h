/* io/formats/csv_frames.h - reads the frames that format_csv.c wrote: exact, with all contacts. */
#ifndef TALUS_IO_FORMATS_CSV_FRAMES_H
#define TALUS_IO_FORMATS_CSV_FRAMES_H

#include <talus/frames.h>

typedef struct TalusCsvFrames TalusCsvFrames;

/* Reads DIR/frames.csv. If there is no such file, or it has no rows, *out is NULL without failure. */
TalusStatus talus_csv_frames_open(const char *dir, TalusCsvFrames **out);
void talus_csv_frames_close(TalusCsvFrames *frames);
int talus_csv_frames_count(const TalusCsvFrames *frames);
double talus_csv_frames_time(const TalusCsvFrames *frames, int index);

/* Reads the tables of a frame. Planes and surfaces are not in them: the body of such a contact has index -1. Impulses are
 * forces, and the length 1. */
TalusStatus talus_csv_frames_read(TalusCsvFrames *frames, int index, TalusSnapshot *snapshot);

#endif

/* io/formats/frame_files.h - numbered files of frames, DIR/frames/NAME-000000.EXT, and their collections.
 *
 * A collection DIR/NAME.pvd lists a series of .vtp files with their times; it is what ParaView
 * opens. It names only files that are there: it grows after its file and shrinks before. It has an
 * entry for every frame, because between two entries ParaView shows the later one. */
#ifndef TALUS_IO_FORMATS_FRAME_FILES_H
#define TALUS_IO_FORMATS_FRAME_FILES_H

#include "io/file/growing.h"

#define TALUS_FRAMES_FOLDER "frames"
enum { TALUS_FRAME_NAME_BYTES = 64 };

/* The name of a file in DIR/frames. */
void talus_frame_name(char out[TALUS_FRAME_NAME_BYTES], const char *name, int number,
                      const char *extension);
/* Brings the files of that name with numbers from `first` to before `end` to the disk, and the names
 * in DIR/frames: one file after the other is synced here and not when it is written, because a frame
 * of a small scene takes less time than a disk. Every one must be there. */
TalusStatus talus_frame_sync(const TalusDir *frames, const char *name, const char *extension,
                             int first, int end);
/* Cuts the files of that name back to *count, or to as many as the checkpoint that is resumed knows, where
 * that is more, for then what says how many there are was lost. *count is set to the number of the next
 * file, and the files that stay are entered in the directory's list. */
TalusStatus talus_frame_cut(TalusDir *frames, const char *name, const char *extension, int *count);

/* Removes the files of that name; no folder is fine. */
TalusStatus talus_frame_remove(const TalusDir *dir, const char *name, const char *extension);

/* A series of .vtp files with its collection; a zeroed one is closed. */
typedef struct TalusSeries {
    const char *name;
    TalusDir *dir, *frames;
    TalusGrowing list; /* the collection, once it has a frame */
    int count, files;  /* frames and files so far */
    int synced;        /* files that are on the disk */
} TalusSeries;

/* `frames` is the folder of that name in `dir`; these and `name` must outlive the series. With `resume`,
 * frames up to `time` stay; else none. */
TalusStatus talus_series_open(TalusSeries *series, TalusDir *dir, TalusDir *frames,
                              const char *name, bool resume, double time);
/* Starts the next file; `talus_series_add` enters its frame once it has been committed. */
TalusStatus talus_series_create(const TalusSeries *series, TalusFile **file);
TalusStatus talus_series_add(TalusSeries *series, double time);
/* Enters a frame that shows what the last one does. */
TalusStatus talus_series_repeat(TalusSeries *series, double time);
/* The key (io/formats/vtp_xml.h) of the last file; 0 if there is none. */
TalusStatus talus_series_key(const TalusSeries *series, uint64_t *key);
/* Brings the collection and its files to the disk. */
TalusStatus talus_series_sync(TalusSeries *series);
void talus_series_close(TalusSeries *series);
/* Removes the collection. */
TalusStatus talus_series_remove(const TalusDir *dir, const char *name);

#endif

/* io/frame_files.h - numbered files of frames, DIR/frames/NAME-000000.EXT, and their collections.
 *
 * A collection DIR/NAME.pvd lists a series of .vtp files with their times; it is what ParaView
 * opens. It names only files that are there: it grows after its file and shrinks before. It has an
 * entry for every frame, because between two entries ParaView shows the later one. */
#ifndef TALUS_IO_FRAME_FILES_H
#define TALUS_IO_FRAME_FILES_H

#include "base/status.h"

/* The path of a file; free with talus_release. */
TalusStatus talus_frame_path(char **out, const char *dir, const char *name, int number,
                             const char *extension);
/* Creates DIR and DIR/frames. */
TalusStatus talus_frame_directory(const char *dir);
/* Brings the files of that name with numbers from `first` to before `end` to the disk, and the names
 * in DIR/frames: one file after the other is synced here and not when it is written, because a frame
 * of a small scene takes less time than a disk. */
TalusStatus talus_frame_sync(const char *dir, const char *name, const char *extension, int first,
                             int end);
/* Removes the files of that name with numbers from `first` on. */
TalusStatus talus_frame_remove(const char *dir, const char *name, const char *extension, int first);
/* Removes DIR/NAME; a missing one is fine. */
TalusStatus talus_remove_file(const char *dir, const char *name);

/* A series of .vtp files with its collection; a zeroed one is closed. */
typedef struct TalusSeries {
    const char *name;
    char *dir, *path; /* path: of the collection */
    int fd;           /* of the collection while `open` */
    bool open;        /* once it has a frame */
    int64_t tail;     /* where the closing tags of the collection begin */
    int count, files; /* frames and files so far */
    int synced;       /* files that are on the disk */
} TalusSeries;

/* `name` must outlive the series. With `resume`, frames up to `time` stay; else none. */
TalusStatus talus_series_open(TalusSeries *series, const char *dir, const char *name, bool resume,
                              double time);
/* The path for the next file; free with talus_release. */
TalusStatus talus_series_next(const TalusSeries *series, char **path);
/* Enters a frame whose file has been written there. */
TalusStatus talus_series_add(TalusSeries *series, double time);
/* Enters a frame that shows what the last one does. */
TalusStatus talus_series_repeat(TalusSeries *series, double time);
/* The key (io/vtp_xml.h) of the last file; 0 if there is none. */
TalusStatus talus_series_key(const TalusSeries *series, uint64_t *key);
/* Brings the collection and its files to the disk. */
TalusStatus talus_series_sync(TalusSeries *series);
void talus_series_close(TalusSeries *series);
/* Removes the collection and its files. */
TalusStatus talus_series_remove(const char *dir, const char *name);

#endif

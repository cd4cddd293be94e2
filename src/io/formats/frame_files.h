/* io/formats/frame_files.h - numbered files of frames, DIR/frames/NAME-000000.EXT, and their collections.
 *
 * A collection DIR/NAME.pvd lists a series of .vtp files with their times; ParaView opens it. It lists existing files
 * only: an entry is added after its file and removed before it. Every frame has an entry, even if it shows the same
 * file as the frame before, because at a time between two entries ParaView shows the later one. */
#ifndef TALUS_IO_FORMATS_FRAME_FILES_H
#define TALUS_IO_FORMATS_FRAME_FILES_H

#include "io/file/growing.h"

#define TALUS_FRAMES_FOLDER "frames"
enum { TALUS_FRAME_NAME_BYTES = 64 };

/* Writes the name "NAME-000042.EXT" of a file in DIR/frames. */
void talus_frame_file_name(char out[TALUS_FRAME_NAME_BYTES], const char *name, int number,
                           const char *extension);
/* Syncs the files of that name with numbers in [first, end), which must exist, and the directory DIR/frames. Files are
 * not synced when written, because a sync takes longer than the steps between two frames of a small scene. */
TalusStatus talus_frame_files_sync(const TalusDir *frames, const char *name, const char *extension,
                                   int first, int end);
/* First raises *count, the caller's number of files, to 1 + the largest number of a file of that name in the resumed
 * checkpoint's list, if that is more: the caller may have lost or not counted its entries (format_csv.c). Then removes
 * the files from number *count on and adds the others to the directory's list. The next file has number *count. */
TalusStatus talus_frame_files_truncate(TalusDir *frames, const char *name, const char *extension,
                                       int *count);

/* Removes all files of that name from DIR/frames; succeeds if the folder is missing. */
TalusStatus talus_frame_files_remove(const TalusDir *dir, const char *name, const char *extension);

/* Series of .vtp files with its collection; a zeroed struct is closed. */
typedef struct TalusSeries {
    const char *name;
    TalusDir *dir, *frames;
    TalusGrowing list; /* the collection; closed before the first frame */
    int count, files;  /* number of frames; of the next file, less if frames share files */
    int synced;        /* files below this number are synced to the disk */
} TalusSeries;

/* Opens a series. `frames` is the folder "frames" of `dir`; both and `name` must outlive the series. With `resume`
 * frames up to `time` are kept, else none; files and entries of the others are removed. */
TalusStatus talus_series_open(TalusSeries *series, TalusDir *dir, TalusDir *frames,
                              const char *name, bool resume, double time);
/* Creates the next file. After its commit, talus_series_add adds the file to the collection as the frame at `time`. */
TalusStatus talus_series_create(const TalusSeries *series, TalusFile **file);
TalusStatus talus_series_add(TalusSeries *series, double time);
/* Adds a frame at `time` to the collection that shows the last file again. */
TalusStatus talus_series_repeat(TalusSeries *series, double time);
/* Reads the key of the last file, a hash of its content (io/formats/vtp_xml.h); 0 if there is no file or no key. */
TalusStatus talus_series_key(const TalusSeries *series, uint64_t *key);
/* Syncs the collection and the files added since the last call to the disk. */
TalusStatus talus_series_sync(TalusSeries *series);
void talus_series_close(TalusSeries *series);
/* Removes the collection, not its files. */
TalusStatus talus_series_remove(const TalusDir *dir, const char *name);

#endif

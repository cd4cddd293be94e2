/* io/formats/frame_files.h - numbered files of frames, DIR/frames/NAME-000000.EXT, and their collections.
 *
 * A collection DIR/NAME.pvd lists a series of .vtp files with their times; ParaView opens it. A collection lists
 * existing files only: an entry is added after its file is written, and removed before its file is. Every frame has an
 * entry, even if it shows the same file as the frame before, because at a time between two entries ParaView shows the
 * later one. */
#ifndef TALUS_IO_FORMATS_FRAME_FILES_H
#define TALUS_IO_FORMATS_FRAME_FILES_H

#include "io/file/growing.h"

#define TALUS_FRAMES_FOLDER "frames"
enum { TALUS_FRAME_NAME_BYTES = 64 }; /* size of a file name with its NUL; longer ones are cut */

/* Writes the name "NAME-000042.EXT" of a file in DIR/frames. */
void talus_frame_file_write_name(char out[TALUS_FRAME_NAME_BYTES], const char *name, int number,
                                 const char *extension);
/* Syncs the files of that name with numbers in [first, end), which must exist, and the directory DIR/frames. Files are
 * not synced when written, because a sync takes longer than the steps between two frames of a small scene. */
TalusStatus talus_frame_files_sync(const TalusDir *frames, const char *name, const char *extension,
                                   int first, int end);
/* Keeps the files with numbers below *count, and all that the checkpoint of a resumed run lists; removes the others of
 * that name. On entry, *count is the number of files that the caller knows of; it is raised to 1 + the largest number
 * in the checkpoint's list, if that is more (as in format_csv.c). Adds the files kept to the directory's list. The next
 * file has number *count. */
TalusStatus talus_frame_files_truncate(TalusDir *frames, const char *name, const char *extension,
                                       int *count);

/* Removes all files of that name from DIR/frames; succeeds if the folder is missing. */
TalusStatus talus_frame_files_remove(const TalusDir *dir, const char *name, const char *extension);

/* Series of .vtp files with its collection; a zeroed struct is closed. */
typedef struct TalusSeries {
    const char *name;
    TalusDir *dir, *frames;
    TalusGrowing list; /* the collection; closed before the first frame */
    int count;         /* number of frames */
    int files; /* number of files, less than `count` if frames share files; number of the next file */
    int synced; /* files with lower numbers are synced to the disk */
} TalusSeries;

/* Opens a series. `frames` is the folder "frames" of `dir`; both and `name` must outlive the series. With `resume`
 * keeps the frames up to `time`, else none; removes files and entries of the other frames. */
TalusStatus talus_series_open(TalusSeries *series, TalusDir *dir, TalusDir *frames,
                              const char *name, bool resume, double time);
/* Creates the next file, for the caller to write and commit. */
TalusStatus talus_series_create_file(const TalusSeries *series, TalusFile **file);
/* Adds the file committed last to the collection, as the frame at `time`. */
TalusStatus talus_series_add_file(TalusSeries *series, double time);
/* Adds the last file to the collection once more, as the frame at `time`. */
TalusStatus talus_series_repeat_file(TalusSeries *series, double time);
/* Reads the key of the last file, a hash of its content (io/formats/vtp_xml.h); 0 if there is no file or no key. */
TalusStatus talus_series_read_last_key(const TalusSeries *series, uint64_t *key);
/* Syncs the collection and the files added since the last call to the disk. */
TalusStatus talus_series_sync(TalusSeries *series);
void talus_series_close(TalusSeries *series);
/* Removes the collection, not its files. */
TalusStatus talus_series_remove_collection(const TalusDir *dir, const char *name);

#endif

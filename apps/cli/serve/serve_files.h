/* cli/serve/serve_files.h - what the server tells of a run's directory, kept up to date as the run goes on.
 *
 * Files are opened by their name in the directory's descriptor, never through a link, and only regular
 * ones: frames.talus, steps.csv, run.json. Nothing else of the disk can be read through here. All calls
 * but open and close may come from any thread. */
#ifndef TALUS_CLI_SERVE_FILES_H
#define TALUS_CLI_SERVE_FILES_H

#include "cli/json_out.h"

#include "io/frames/frames.h"

#include <talus/base.h>

enum { SERVE_INDEX_ROWS = 10000 }; /* frames in one answer at most */

#define SERVE_FRAMES_NAME "frames.talus"

/* Where the frames that a command was given are: DIR, DIR/frames.talus, or a frames file alone. */
typedef struct RunPlace {
    char *dir;  /* the run's directory, or the file's */
    char *name; /* of the frames file in it */
    bool alone; /* no run is known: the file has another name */
} RunPlace;

/* Fails where there is neither. Whether the frames are there is not looked at. */
TalusStatus run_place_find(const char *operand, RunPlace *place);
void run_place_clear(RunPlace *place);

typedef struct ServeFiles ServeFiles;

/* Fails where there are no frames, unless a run is at work in the directory that has not got that far. */
TalusStatus serve_files_open(const RunPlace *place, ServeFiles **out);
/* Accepts NULL. */
void serve_files_close(ServeFiles *files);

/* The frames file: a descriptor of the caller's, or -1. */
int serve_files_frames(ServeFiles *files, uint64_t *size);

/* Appends the HEAD chunk of this number as files of the present version have it: one of an earlier version gets
 * its figures here, so that the page knows one kind of head alone. */
TalusStatus serve_files_head(ServeFiles *files, int64_t number, TalusPacker *chunk);

/* Whole answers, as docs/reference/server.md has them. */
TalusStatus serve_files_status(ServeFiles *files, JsonOut *json);
TalusStatus serve_files_index(ServeFiles *files, int64_t from, JsonOut *json);
TalusStatus serve_files_steps(ServeFiles *files, int64_t from, int64_t stride, JsonOut *json);
/* The value that the page is made with. */
TalusStatus serve_files_run(ServeFiles *files, const char *token, JsonOut *json);

/* Tells the run what to do; `word` is one of dir.h. Fails where no process runs it. */
TalusStatus serve_files_control(ServeFiles *files, const char *word);

#endif

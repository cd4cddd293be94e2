/* cli/serve/serve_files.h - the server's view of a run's directory, kept up to date during the run.
 *
 * Reads only regular files, by name relative to the directory's descriptor, never through a link: the frames file,
 * steps.csv, ranks.csv, fields.csv, run.json, run.lock. Writes only `control`. Nothing else on the disk can be reached through this
 * interface.
 * All calls but open and close may come from any thread. */
#ifndef TALUS_CLI_SERVE_FILES_H
#define TALUS_CLI_SERVE_FILES_H

#include "cli/json_out.h"

#include "io/frames/frames.h"

#include <talus/base.h>

enum {
    SERVE_INDEX_ROWS = 10000,  /* maximum number of frames in one answer to /api/index */
    SERVE_FRAMES_MAX = 1000000 /* maximum number of frames, and of HEAD chunks, of a file */
};

#define SERVE_FRAMES_NAME "frames.talus"

/* Location of the frames that an operand names: DIR, DIR/frames.talus, or a frames file alone. */
typedef struct RunLocation {
    char *dir;  /* the run's directory, or that of the file */
    char *name; /* name of the frames file in `dir` */
    bool alone; /* the file has another name than frames.talus, so it belongs to no run */
} RunLocation;

/* Fills `location`, to be cleared with run_location_clear. Fails if the operand is neither a directory nor a regular
 * file. Does not check that frames exist. */
TalusStatus run_location_find(const char *operand, RunLocation *location);
void run_location_clear(RunLocation *location);

typedef struct ServeFiles ServeFiles;

/* Opens the directory and reads its files; copies `location`. Fails if there are no frames that can be read, unless a
 * run is active in the directory. */
TalusStatus serve_files_open(const RunLocation *location, ServeFiles **out);
/* Closes the files and releases the memory; accepts NULL. */
void serve_files_close(ServeFiles *files);

/* Opens the frames file; returns its descriptor, which the caller closes, or -1, and writes its size in bytes. */
int serve_files_open_frames(ServeFiles *files, uint64_t *size);

/* The same for ranks.csv, which runs on several ranks have. */
int serve_files_open_ranks(ServeFiles *files, uint64_t *size);

/* The same for fields.csv, a table of fields that `talus measure` has put there. */
int serve_files_open_fields(ServeFiles *files, uint64_t *size);

/* Appends HEAD chunk `number` (shapes and materials) of the frames file to `chunk`; a chunk of version 1 is converted
 * to the present version, with the triangles by which shapes are drawn. */
TalusStatus serve_files_pack_head(ServeFiles *files, int64_t number, TalusPacker *chunk);

/* Write the answers to /api/status, /api/index and /api/steps (docs/reference/server.md). */
TalusStatus serve_files_write_status(ServeFiles *files, JsonOut *json);
TalusStatus serve_files_write_index(ServeFiles *files, int64_t from, JsonOut *json);
TalusStatus serve_files_write_steps(ServeFiles *files, int64_t from, int64_t stride, JsonOut *json);
/* Writes the JSON value about the run that is inserted into the viewer's page; `token` authorises pause and stop. */
TalusStatus serve_files_write_run(ServeFiles *files, const char *token, JsonOut *json);

/* Sends the run a command word of dir.h. Fails with TALUS_ERR_ARGUMENT if no process executes the run. */
TalusStatus serve_files_send_command(ServeFiles *files, const char *word);

#endif

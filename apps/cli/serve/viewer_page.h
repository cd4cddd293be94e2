/* cli/serve/viewer_page.h - the viewer's page: template, data about the run, frames.
 *
 * An exported page contains frames and steps; a served page requests them from the server. */
#ifndef TALUS_CLI_VIEWER_PAGE_H
#define TALUS_CLI_VIEWER_PAGE_H

#include "cli/json_out.h"
#include "cli/run/steps.h"

#include <talus/base.h>

typedef struct ViewerRun {
    const char *title, *scene;
    const char *state; /* state of the run as the page names it (types.ts), such as "running" */
    const char *note;  /* text for the reader of the page; may be "" */
    const char *token; /* token that the server demands for control; NULL: page without a server */
    double until;      /* end of the run, simulated seconds; NAN: unknown */
    /* Index of steps.csv; at most STEPS_ROWS_MAX rows are written; NULL: none. */
    const Steps *steps;
    int steps_fd; /* descriptor of steps.csv */
} ViewerRun;

/* Writes the JSON value of the page's element "talus-run". */
TalusStatus viewer_write_run(const ViewerRun *run, JsonOut *json);

/* Returns the size of a page, bytes: template, JSON value of `run_bytes`, and `frame_bytes` of frames in base64. */
uint64_t viewer_page_size(uint64_t run_bytes, uint64_t frame_bytes);

/* Writes the page to `path`, with the first `bytes` of the frames file `frames`. The page appears whole or not at all;
 * frames are copied through a small buffer, so their size does not matter. */
TalusStatus viewer_page_write(const char *path, const ViewerRun *run, const char *frames,
                              uint64_t bytes);

#endif

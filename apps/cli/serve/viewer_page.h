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
    const char *state;  /* as in types.ts: "running" ... */
    const char *note;   /* text for the reader of the page; may be "" */
    const char *token;  /* token of the serving server; NULL: page without a server */
    double until;       /* NAN: unknown */
    const Steps *steps; /* rows of `steps_fd`, thinned to STEPS_ROWS_MAX; NULL: none */
    int steps_fd;
} ViewerRun;

/* Writes the value of the element "talus-run". */
TalusStatus viewer_run_json(const ViewerRun *run, JsonOut *json);

/* Bytes of a page whose run value has `run_bytes` and whose frames file has `frame_bytes`. */
uint64_t viewer_page_size(uint64_t run_bytes, uint64_t frame_bytes);

/* Writes the page with the first `bytes` of the frames file `frames`. The page appears whole or not at all; frames
 * pass through a small buffer, whatever their size. */
TalusStatus viewer_page_write(const char *path, const ViewerRun *run, const char *frames,
                              uint64_t bytes);

#endif

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
    const Steps
        *steps;   /* index of steps.csv; at most STEPS_ROWS_MAX rows are written; NULL: none */
    int steps_fd; /* descriptor of steps.csv */
} ViewerRun;

/* Writes the JSON value of the page's element "talus-run". */
TalusStatus viewer_run_json(const ViewerRun *run, JsonOut *json);

/* Returns the bytes of a page: template, JSON value of `run_bytes`, and frames file of `frame_bytes` in base64. */
uint64_t viewer_page_size(uint64_t run_bytes, uint64_t frame_bytes);

/* Writes the page with the first `bytes` of the file at path `frames`. The page appears whole or not at all; frames
 * pass through a small buffer, whatever their size. */
TalusStatus viewer_page_write(const char *path, const ViewerRun *run, const char *frames,
                              uint64_t bytes);

#endif

/* cli/serve/viewer_page.h - the viewer's page: its template, what it is to know of the run, and the frames.
 *
 * An exported page holds frames and steps; a served one asks the server for them. */
#ifndef TALUS_CLI_VIEWER_PAGE_H
#define TALUS_CLI_VIEWER_PAGE_H

#include "cli/json_out.h"
#include "cli/run/steps.h"

#include <talus/base.h>

typedef struct ViewerRun {
    const char *title, *scene;
    const char *state;  /* of types.ts: "running" ... */
    const char *note;   /* for the reader of the page; "" */
    const char *token;  /* of the server that the page comes from; NULL: it comes from none */
    double until;       /* NAN: not known */
    const Steps *steps; /* NULL: none; else of `steps_fd`, thinned to STEPS_ROWS_MAX rows */
    int steps_fd;
} ViewerRun;

/* The value of the element "talus-run". */
TalusStatus viewer_run_json(const ViewerRun *run, JsonOut *json);

/* Bytes of a page with a run's value of `run_bytes` and a frames file of `frame_bytes`. */
uint64_t viewer_page_size(uint64_t run_bytes, uint64_t frame_bytes);

/* Writes the page with the first `bytes` of the frames file `frames` in it. The page appears whole or not
 * at all; the frames go through a small buffer, whatever their size. */
TalusStatus viewer_page_write(const char *path, const ViewerRun *run, const char *frames,
                              uint64_t bytes);

#endif

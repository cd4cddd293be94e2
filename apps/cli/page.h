/* page.h - self-contained HTML pages with data, program and licences.
 *
 * A page is a built template with values inserted. docs/reference/report.md describes the value of the report,
 * docs/how-to/viewer.md those of the viewer. */
#ifndef TALUS_CLI_PAGE_H
#define TALUS_CLI_PAGE_H

#include "json_out.h"

#include <talus/base.h>

/* Piece of a template before, between or after inserted values; made by cmake/embed_page.cmake. */
typedef struct PagePiece {
    const unsigned char *bytes;
    size_t size;
} PagePiece;

extern const PagePiece page_report[2], page_viewer[3];

/* Writes the single value of the report. */
typedef void PageData(void *user, JsonOut *json);

/* Writes DIR/report.html and creates DIR if needed. The file appears whole or not at all; data is streamed. */
TalusStatus page_write(const char *dir, PageData *data, void *user);

#endif

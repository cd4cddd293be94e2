/* page.h - the pages: HTML files that hold their data, their program and their licences.
 *
 * A page is a built template with values put into it. docs/reference/report.md says what the value of the report
 * holds, docs/how-to/viewer.md what those of the viewer do. */
#ifndef TALUS_CLI_PAGE_H
#define TALUS_CLI_PAGE_H

#include "json_out.h"

#include <talus/base.h>

/* A template before, between and after the places of its values; made by cmake/embed_page.cmake. */
typedef struct PagePiece {
    const unsigned char *bytes;
    size_t size;
} PagePiece;

extern const PagePiece page_report[2], page_viewer[3];

/* Writes the report's one value. */
typedef void PageData(void *user, JsonOut *json);

/* Writes DIR/report.html, creating DIR where needed. The file appears whole or not at all; the data
 * goes through a small buffer, whatever its size. */
TalusStatus page_write(const char *dir, PageData *data, void *user);

#endif

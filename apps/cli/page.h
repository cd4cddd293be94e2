/* page.h - self-contained HTML pages with data, program and licences.
 *
 * A page is a template, made by the build, into which JSON values are inserted. docs/reference/report.md describes the
 * value of the report, docs/how-to/viewer.md those of the viewer. */
#ifndef TALUS_CLI_PAGE_H
#define TALUS_CLI_PAGE_H

#include "json_out.h"

#include <talus/base.h>

/* One of the pieces into which the places of insertion divide a template; made by cmake/embed_page.cmake. */
typedef struct PagePiece {
    const unsigned char *bytes;
    size_t size;
} PagePiece;

extern const PagePiece page_report[2], page_viewer[3];

/* Writes the JSON value that is inserted into the report's template. */
typedef void PageData(void *user, JsonOut *json);

/* Writes the page DIR/NAME with the value that `data` writes; creates DIR if needed. The file appears whole or not at
 * all; the value is streamed, so its size does not matter. */
TalusStatus page_write_report(const char *dir, const char *name, PageData *data, void *user);

/* Writes the first members of that value: version, title, kind, date and machine; threads 0: not said. */
void page_write_head(JsonOut *json, const char *title, const char *kind, int threads);

enum { PAGE_DATE = 32, PAGE_MACHINE = 256 }; /* bytes of these texts */

/* Writes system, number of processors and, if above 0, threads as one text. */
void page_format_machine(int threads, char text[PAGE_MACHINE]);
/* Writes the present time, UTC, as strftime does; "" if it is not known. */
void page_format_date(const char *format, char text[PAGE_DATE]);

#endif

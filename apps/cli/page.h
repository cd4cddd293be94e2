/* page.h - the report page: one HTML file that holds its data, its program and its licences.
 *
 * The page is the built template of apps/report with one JSON value put into it; docs/report.md says
 * what the value holds. */
#ifndef TALUS_CLI_PAGE_H
#define TALUS_CLI_PAGE_H

#include "json_out.h"

#include <talus/base.h>

/* Writes the page's one value. */
typedef void PageData(void *user, JsonOut *json);

/* Writes DIR/report.html, creating DIR where needed. The file appears whole or not at all; the data
 * goes through a small buffer, whatever its size. */
TalusStatus page_write(const char *dir, PageData *data, void *user);

#endif

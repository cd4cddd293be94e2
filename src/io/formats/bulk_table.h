/* io/formats/bulk_table.h - a table of bulk figures, a row per state (docs/how-to/measure.md). */
#ifndef TALUS_IO_FORMATS_BULK_TABLE_H
#define TALUS_IO_FORMATS_BULK_TABLE_H

#include "io/text/text.h"

#include <talus/measure.h>

/* Appends the names of the columns, and the line feed. */
void talus_bulk_table_header(TalusText *text);
/* Appends the row of an assembly; cells of figures that it does not give are empty. */
TalusStatus talus_bulk_table_row(TalusText *text, const TalusAssembly *assembly,
                                 const TalusBulkDef *def);

#endif

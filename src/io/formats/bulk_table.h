/* io/formats/bulk_table.h - a table of bulk figures, a row per state (docs/how-to/measure.md). */
#ifndef TALUS_IO_FORMATS_BULK_TABLE_H
#define TALUS_IO_FORMATS_BULK_TABLE_H

#include "io/text/text.h"

#include <talus/measure.h>

enum { TALUS_BULK_TABLE_MAX = 40 }; /* columns behind the time, at most */

/* Returns the number of columns behind the time; names and units of these columns. */
int talus_bulk_table_columns(void);
const char *talus_bulk_table_name(int column);
const char *talus_bulk_table_unit(int column);
/* Appends the names of the columns, the time first, and the line feed. */
void talus_bulk_table_header(TalusText *text);
/* Sets the numbers of the columns behind the time; NAN of figures that the assembly does not give. */
TalusStatus talus_bulk_table_measure(const TalusAssembly *assembly, const TalusBulkDef *def,
                                     double values[TALUS_BULK_TABLE_MAX]);
/* Appends a row; cells of numbers that are NAN are empty. */
void talus_bulk_table_row(TalusText *text, double time, const double *values);

#endif

/* io/formats/field_table.h - a table of continuum fields, a row per cell (docs/how-to/measure.md). */
#ifndef TALUS_IO_FORMATS_FIELD_TABLE_H
#define TALUS_IO_FORMATS_FIELD_TABLE_H

#include "io/text/text.h"

#include <talus/measure.h>

enum {
    TALUS_FIELD_TABLE_CELL = 4, /* columns before the fields: time and centre of the cell */
    TALUS_FIELD_TABLE_MAX = TALUS_FIELD_TABLE_CELL + TALUS_QUANTITIES * TALUS_QUANTITY_COMPONENTS
};

/* The fields of a table, in order. */
typedef struct TalusFieldTable {
    TalusQuantity quantity[TALUS_QUANTITIES];
    int count;
} TalusFieldTable;

/* Returns the bits of the fields, for talus_continuum_create. */
unsigned talus_field_table_bits(const TalusFieldTable *table);
/* Adds a field; false: it is there already. */
bool talus_field_table_add(TalusFieldTable *table, TalusQuantity quantity);
/* Sets *quantity from its name; returns false if there is none. */
bool talus_quantity_find(const char *name, TalusQuantity *quantity);
/* Appends the names of the columns, and the line feed. */
void talus_field_table_header(TalusText *text, const TalusFieldTable *table);
/* Sets `row` to the numbers of cell (i, j, k) and returns how many there are, TALUS_FIELD_TABLE_MAX at most. */
int talus_field_table_row(const TalusFieldTable *table, const TalusContinuum *continuum,
                          double time, int i, int j, int k, double *row);
/* Appends numbers as a line. */
void talus_field_table_print(TalusText *text, const double *row, int count);

#endif

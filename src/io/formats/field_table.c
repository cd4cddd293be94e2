/* io/formats/field_table.c - the columns of a table of continuum fields. */
#include "io/formats/field_table.h"

#include <string.h>

unsigned talus_field_table_bits(const TalusFieldTable *table)
{
    unsigned bits = 0;
    for (int q = 0; q < table->count; q++)
        bits |= 1u << table->quantity[q];
    return bits;
}

bool talus_field_table_add(TalusFieldTable *table, TalusQuantity quantity)
{
    if (talus_field_table_bits(table) & 1u << quantity)
        return false;
    table->quantity[table->count++] = quantity;
    return true;
}

bool talus_quantity_find(const char *name, TalusQuantity *quantity)
{
    for (int q = 0; q < TALUS_QUANTITIES; q++) {
        *quantity = (TalusQuantity)q;
        if (strcmp(talus_quantity_row(*quantity).name, name) == 0)
            return true;
    }
    return false;
}

void talus_field_table_header(TalusText *text, const TalusFieldTable *table)
{
    talus_text_print(text, "time,x,y,z");
    for (int q = 0; q < table->count; q++) {
        const TalusQuantityRow row = talus_quantity_row(table->quantity[q]);
        for (int c = 0; c < row.components; c++)
            talus_text_print(text, ",%s%s%s", row.name, row.components > 1 ? "_" : "",
                             talus_quantity_suffix(row.components, c));
    }
    talus_text_print(text, "\n");
}

int talus_field_table_row(const TalusFieldTable *table, const TalusContinuum *continuum,
                          double time, int i, int j, int k, double *row)
{
    const TalusGridDef def = talus_continuum_grid(continuum);
    const TalusVec3 side = talus_sub(def.hi, def.lo);
    double value[TALUS_QUANTITY_COMPONENTS];
    int count = TALUS_FIELD_TABLE_CELL;
    row[0] = time;
    row[1] = def.lo.x + (i + 0.5) * side.x / def.cells[0];
    row[2] = def.lo.y + (j + 0.5) * side.y / def.cells[1];
    row[3] = def.lo.z + (k + 0.5) * side.z / def.cells[2];
    for (int q = 0; q < table->count; q++) {
        const int components = talus_quantity_row(table->quantity[q]).components;
        talus_continuum_get(continuum, table->quantity[q], i, j, k, value);
        memcpy(row + count, value, (size_t)components * sizeof *row);
        count += components;
    }
    return count;
}

void talus_field_table_print(TalusText *text, const double *row, int count)
{
    for (int c = 0; c < count; c++)
        talus_text_print(text, "%s%.17g", c ? "," : "", row[c]);
    talus_text_print(text, "\n");
}

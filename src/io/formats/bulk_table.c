/* io/formats/bulk_table.c - the columns of a table of bulk figures. */
#include "io/formats/bulk_table.h"

#include <math.h>
#include <string.h>

/* Figures of a state. */
typedef struct Figures {
    TalusBulk bulk;
    TalusHeap heap;
    TalusMixing mixing;
    double solid;
} Figures;

/* A column of the table: a number of Figures, times a factor. */
typedef struct Column {
    const char *name;
    size_t offset;
    double factor;
} Column;

#define DEGREES 57.295779513082320877 /* 180 / pi */

#define SCALED(name, member, factor)            \
    {                                           \
        name, offsetof(Figures, member), factor \
    }
#define COLUMN(name, member) SCALED(name, member, 1.0)
#define BULK(name) COLUMN(#name, bulk.name)
#define VECTOR(name)                                                  \
    COLUMN(#name "_x", bulk.name.x), COLUMN(#name "_y", bulk.name.y), \
        COLUMN(#name "_z", bulk.name.z)

static const Column columns[] = {BULK(mass),
                                 BULK(volume),
                                 VECTOR(centre),
                                 VECTOR(velocity),
                                 BULK(translation),
                                 BULK(fluctuation),
                                 BULK(rotation),
                                 BULK(contacts),
                                 BULK(coordination),
                                 BULK(rattlers),
                                 BULK(backbone),
                                 BULK(mean_force),
                                 BULK(max_force),
                                 BULK(mean_overlap),
                                 BULK(max_overlap),
                                 SCALED("repose", heap.repose, DEGREES),
                                 COLUMN("repose_misfit", heap.repose_misfit),
                                 SCALED("slope", heap.slope, DEGREES),
                                 COLUMN("slope_misfit", heap.slope_misfit),
                                 COLUMN("fraction", mixing.fraction),
                                 COLUMN("lacey", mixing.lacey),
                                 COLUMN("segregation", mixing.segregation),
                                 COLUMN("solid", solid)};

enum { COLUMNS = sizeof columns / sizeof *columns };

void talus_bulk_table_header(TalusText *text)
{
    talus_text_print(text, "time,bodies");
    for (int i = 0; i < COLUMNS; i++)
        talus_text_print(text, ",%s", columns[i].name);
    talus_text_print(text, "\n");
}

/* Sets *region to the region whose packing fraction is known: that of the def or, where it has no limits along the axis of a
 * period, between the sides of the period. False if it is not finite. */
static bool find_finite(const TalusAssembly *assembly, const TalusBulkDef *def, TalusRegion *region)
{
    double *lo = &region->lo.x, *hi = &region->hi.x;
    *region = def->region;
    for (int k = 0; k < 3; k++) {
        if (isinf(lo[k]) && isinf(hi[k]) && assembly->period.on[k]) {
            lo[k] = talus_along(assembly->period.lo, k);
            hi[k] = talus_along(assembly->period.hi, k);
        }
        if (isinf(lo[k]) || isinf(hi[k]))
            return false;
    }
    return true;
}

static TalusStatus find_figures(const TalusAssembly *assembly, const TalusBulkDef *def,
                                Figures *out)
{
    TalusRegion region;
    out->solid =
        find_finite(assembly, def, &region) ? talus_packing_fraction(assembly, &region) : NAN;
    TALUS_TRY(talus_bulk_measure(assembly, def, &out->bulk));
    TALUS_TRY(talus_heap_measure(assembly, def, &out->heap));
    return talus_mixing_measure(assembly, def, &out->mixing);
}

/* Appends a number, nothing if it is unknown. */
static void write_number(TalusText *text, double value)
{
    if (isnan(value))
        talus_text_print(text, ",");
    else
        talus_text_print(text, ",%.17g", value);
}

TalusStatus talus_bulk_table_row(TalusText *text, const TalusAssembly *assembly,
                                 const TalusBulkDef *def)
{
    Figures figures;
    double value;
    TALUS_TRY(find_figures(assembly, def, &figures));
    talus_text_print(text, "%.17g,%lld", assembly->time, (long long)figures.bulk.bodies);
    for (int i = 0; i < COLUMNS; i++) {
        memcpy(&value, (const char *)&figures + columns[i].offset, sizeof value);
        write_number(text, columns[i].factor * value);
    }
    talus_text_print(text, "\n");
    return text->status;
}

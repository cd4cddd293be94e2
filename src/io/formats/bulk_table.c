/* io/formats/bulk_table.c - the columns of a table of bulk figures. */
#include "io/formats/bulk_table.h"

#include "measure/images.h"

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
    const char *name, *unit;
    size_t offset;
    double factor;
} Column;

#define DEGREES 57.295779513082320877 /* 180 / pi */

#define SCALED(name, unit, member, factor)            \
    {                                                 \
        name, unit, offsetof(Figures, member), factor \
    }
#define COLUMN(name, unit, member) SCALED(name, unit, member, 1.0)
#define BULK(name, unit) COLUMN(#name, unit, bulk.name)
#define VECTOR(name, unit)                                                        \
    COLUMN(#name "_x", unit, bulk.name.x), COLUMN(#name "_y", unit, bulk.name.y), \
        COLUMN(#name "_z", unit, bulk.name.z)

/* The columns behind time and number of bodies. */
static const Column columns[] = {BULK(mass, "kg"),
                                 BULK(volume, "m3"),
                                 VECTOR(centre, "m"),
                                 VECTOR(velocity, "m/s"),
                                 BULK(translation, "J"),
                                 BULK(fluctuation, "J"),
                                 BULK(rotation, "J"),
                                 BULK(contacts, ""),
                                 BULK(coordination, ""),
                                 BULK(rattlers, ""),
                                 BULK(backbone, ""),
                                 BULK(mean_force, "N"),
                                 BULK(max_force, "N"),
                                 BULK(mean_overlap, "m"),
                                 BULK(max_overlap, "m"),
                                 SCALED("repose", "degrees", heap.repose, DEGREES),
                                 COLUMN("repose_misfit", "m", heap.repose_misfit),
                                 SCALED("slope", "degrees", heap.slope, DEGREES),
                                 COLUMN("slope_misfit", "m", heap.slope_misfit),
                                 COLUMN("fraction", "", mixing.fraction),
                                 COLUMN("lacey", "", mixing.lacey),
                                 COLUMN("segregation", "", mixing.segregation),
                                 COLUMN("solid", "", solid),
                                 BULK(dissipated, "J"),
                                 BULK(dissipation, "W")};

enum { COLUMNS = sizeof columns / sizeof *columns };

_Static_assert(COLUMNS + 1 <= TALUS_BULK_TABLE_MAX, "callers have memory for so many columns");

int talus_bulk_table_columns(void)
{
    return COLUMNS + 1;
}

const char *talus_bulk_table_name(int column)
{
    return column == 0 ? "bodies" : columns[column - 1].name;
}

const char *talus_bulk_table_unit(int column)
{
    return column == 0 ? "" : columns[column - 1].unit;
}

void talus_bulk_table_header(TalusText *text)
{
    talus_text_print(text, "time");
    for (int i = 0; i < talus_bulk_table_columns(); i++)
        talus_text_print(text, ",%s", talus_bulk_table_name(i));
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
    const bool finite = find_finite(assembly, def, &region);
    if (finite && !talus_has_few_images(&assembly->period, region.lo, region.hi, 0.0))
        return talus_reject("region: it has more than %d images of each body; expected one of "
                            "fewer periods",
                            TALUS_IMAGES_MAX);
    out->solid = finite ? talus_packing_fraction(assembly, &region) : NAN;
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

TalusStatus talus_bulk_table_measure(const TalusAssembly *assembly, const TalusBulkDef *def,
                                     double values[TALUS_BULK_TABLE_MAX])
{
    Figures figures;
    double value;
    TALUS_TRY(find_figures(assembly, def, &figures));
    values[0] = (double)figures.bulk.bodies;
    for (int i = 0; i < COLUMNS; i++) {
        memcpy(&value, (const char *)&figures + columns[i].offset, sizeof value);
        values[1 + i] = columns[i].factor * value;
    }
    return TALUS_OK;
}

void talus_bulk_table_row(TalusText *text, double time, const double *values)
{
    talus_text_print(text, "%.17g", time);
    for (int i = 0; i < talus_bulk_table_columns(); i++)
        write_number(text, values[i]);
    talus_text_print(text, "\n");
}

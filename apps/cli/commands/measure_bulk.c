/* cli/commands/measure_bulk.c - bulk figures as a table with a row per state; histograms as a table with a row per state and
 * bin. */
#include "measure.h"

#include "base/memory.h"
#include "base/status.h"
#include "io/formats/bulk_table.h"

static TalusBulkDef bulk_def_of(const MeasureRequest *request)
{
    return (TalusBulkDef){{request->lo, request->hi, request->axis}, request->rattlers};
}

/* Moves the text into the file, and frees it. Returns `status` or the status of the text. */
static TalusStatus move_text(TalusFile *file, TalusText *text, TalusStatus status)
{
    TALUS_THEN(status, text->status);
    if (status == TALUS_OK)
        talus_file_put(file, text->bytes, text->size);
    talus_release(text->bytes);
    return status;
}

TalusStatus measure_bulk_header(TalusFile *file)
{
    TalusText text = {0};
    if (!file)
        return TALUS_OK;
    talus_bulk_table_header(&text);
    return move_text(file, &text, TALUS_OK);
}

TalusStatus measure_bulk_add(TalusFile *file, MeasureReport *report, const MeasureRequest *request,
                             const TalusAssembly *assembly)
{
    const TalusBulkDef def = bulk_def_of(request);
    double row[1 + TALUS_BULK_TABLE_MAX] = {assembly->time};
    TalusText text = {0};
    TALUS_TRY(talus_bulk_table_measure(assembly, &def, row + 1));
    if (report)
        TALUS_TRY(measure_report_add(report, row));
    if (!file)
        return TALUS_OK;
    talus_bulk_table_row(&text, row[0], row + 1);
    return move_text(file, &text, TALUS_OK);
}

TalusStatus measure_histogram_header(TalusFile *file)
{
    if (file)
        talus_file_print(file, "time,low,high,count,density\n");
    return TALUS_OK;
}

TalusStatus measure_histogram_add(TalusFile *file, MeasureReport *report,
                                  const MeasureRequest *request, const TalusAssembly *assembly)
{
    const TalusBulkDef def = bulk_def_of(request);
    TalusHistogram histogram;
    TALUS_TRY(talus_histogram_measure(assembly, &def, request->distribution, &histogram));
    const double width = (histogram.hi - histogram.lo) / TALUS_HISTOGRAM_BINS;
    for (int i = 0; i < TALUS_HISTOGRAM_BINS && histogram.total > 0; i++) {
        const double row[MEASURE_HISTOGRAM_COLUMNS] = {
            assembly->time, histogram.lo + i * width, histogram.lo + (i + 1) * width,
            (double)histogram.count[i],
            (double)histogram.count[i] / ((double)histogram.total * width)};
        if (report)
            TALUS_TRY(measure_report_add(report, row));
        if (file)
            talus_file_print(file, "%.17g,%.17g,%.17g,%.17g,%.17g\n", row[0], row[1], row[2],
                             row[3], row[4]);
    }
    return TALUS_OK;
}

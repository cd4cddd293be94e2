/* cli/commands/measure_fields.c - continuum fields as a table with a row per cell and state, or as images: one, or a series
 * NAME-000000.vti with its collection NAME.pvd. With --mean, one table or image of the mean over all states. */
#include "measure.h"

#include "base/memory.h"
#include "base/param.h"
#include "base/status.h"
#include "io/formats/vti.h"

#include <string.h>

struct MeasureFields {
    const MeasureRequest *request;
    MeasureReport *report; /* NULL: none */
    TalusText line;        /* of the table */
    TalusContinuum *continuum;
    bool images;
    TalusFile *table; /* NULL: none */
    TalusFile *collection;
    int states;
    double time; /* of the last state */
};

/* ---- the table ---- */

static TalusStatus write_header(MeasureFields *f)
{
    talus_field_table_header(&f->line, &f->request->fields);
    TALUS_TRY(f->line.status);
    talus_file_put(f->table, f->line.bytes, f->line.size);
    return TALUS_OK;
}

/* Writes the row of cell (i, j, k), with its centre, to the table and the report. */
static TalusStatus write_cell(MeasureFields *f, int i, int j, int k)
{
    double row[TALUS_FIELD_TABLE_MAX];
    const int count =
        talus_field_table_row(&f->request->fields, f->continuum, f->time, i, j, k, row);
    f->line.size = 0;
    talus_field_table_print(&f->line, row, count);
    TALUS_TRY(f->line.status);
    if (f->table)
        talus_file_put(f->table, f->line.bytes, f->line.size);
    return f->report ? measure_report_add(f->report, row) : TALUS_OK;
}

static TalusStatus write_rows(MeasureFields *f)
{
    const int *cells = f->request->cells;
    for (int k = 0; k < cells[2]; k++)
        for (int j = 0; j < cells[1]; j++)
            for (int i = 0; i < cells[0]; i++)
                TALUS_TRY(write_cell(f, i, j, k));
    return TALUS_OK;
}

/* ---- images ---- */

/* Returns the length of the name of the output without ".vti". */
static int stem_length(const MeasureFields *f)
{
    return (int)strlen(f->request->output) - (int)strlen(".vti");
}

static TalusStatus write_image(const MeasureFields *f, const char *path)
{
    return talus_vti_write(path, f->continuum, f->request->fields.quantity,
                           f->request->fields.count, f->time);
}

/* Writes the next image of a series, and its entry in the collection. */
static TalusStatus write_next_image(MeasureFields *f)
{
    const char *slash = strrchr(f->request->output, '/');
    const int folder = slash ? (int)(slash + 1 - f->request->output) : 0;
    char *path;
    if (!f->collection) {
        TALUS_TRY(cli_create_file(&f->collection, "%.*s.pvd", stem_length(f), f->request->output));
        talus_file_print(f->collection,
                         "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n"
                         "<Collection>\n");
    }
    TALUS_TRY(
        talus_path_format(&path, "%.*s-%06d.vti", stem_length(f), f->request->output, f->states));
    talus_file_print(f->collection, "<DataSet timestep=\"%.17g\" part=\"0\" file=\"%s\"/>\n",
                     f->time, path + folder);
    const TalusStatus status = write_image(f, path);
    talus_release(path);
    return status;
}

/* ---- all states ---- */

static TalusStatus open_output(MeasureFields *f)
{
    const MeasureRequest *request = f->request;
    const TalusGridDef def = {request->lo,
                              request->hi,
                              {request->cells[0], request->cells[1], request->cells[2]},
                              request->width};
    TALUS_TRY(
        talus_continuum_create(&def, talus_field_table_bits(&request->fields), &f->continuum));
    f->images = request->output && cli_ends_with(request->output, ".vti");
    if (f->images || (!request->output && request->report))
        return TALUS_OK;
    TALUS_TRY(cli_create_file(&f->table, "%s", request->output ? request->output : "/dev/stdout"));
    return write_header(f);
}

TalusStatus measure_fields_open(const MeasureRequest *request, MeasureReport *report,
                                MeasureFields **out)
{
    MeasureFields *f = NULL;
    *out = NULL;
    TALUS_TRY(TALUS_ALLOC(f, 1, "fields"));
    f->request = request;
    f->report = report;
    const TalusStatus status = open_output(f);
    if (status == TALUS_OK)
        *out = f;
    else
        (void)measure_fields_close(f, status);
    return status;
}

/* Writes the fields as they are now. */
static TalusStatus write_fields(MeasureFields *f, bool series)
{
    if (f->images)
        TALUS_TRY(series ? write_next_image(f) : write_image(f, f->request->output));
    return f->table || f->report ? write_rows(f) : TALUS_OK;
}

TalusStatus measure_fields_add(MeasureFields *f, const TalusAssembly *assembly, TalusPool *pool)
{
    f->time = assembly->time;
    TALUS_TRY(talus_continuum_add(f->continuum, assembly, pool));
    if (f->request->mean)
        return TALUS_OK;
    TALUS_TRY(write_fields(f, f->request->series));
    f->states++;
    talus_continuum_clear(f->continuum);
    return TALUS_OK;
}

/* Commits a file, or after a failure removes it; accepts NULL. */
static TalusStatus end_file(TalusFile *file, TalusStatus status)
{
    if (file && status == TALUS_OK)
        return talus_file_commit(file);
    if (file)
        talus_file_abandon(file);
    return status;
}

TalusStatus measure_fields_close(MeasureFields *f, TalusStatus status)
{
    if (!f)
        return status;
    if (f->request->mean)
        TALUS_THEN(status, write_fields(f, false));
    if (f->collection)
        talus_file_print(f->collection, "</Collection>\n</VTKFile>\n");
    status = end_file(f->table, status);
    status = end_file(f->collection, status);
    talus_continuum_destroy(f->continuum);
    TALUS_RELEASE(f->line.bytes, f);
    return status;
}

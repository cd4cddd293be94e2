/* io/formats/format_bulk.c - bulk figures of each frame, measured as the run goes on: DIR/bulk.csv with a row per frame. */
#include "base/memory.h"
#include "io/formats/bulk_table.h"
#include "io/formats/formats.h"
#include "io/text/csv.h"

#define TABLE_NAME "bulk.csv"

/* State of a writer. */
typedef struct Bulk {
    TalusGrowing table;
    TalusText text; /* of the last line */
} Bulk;

static TalusStatus open_bulk(void *state, TalusDir *dir, bool resume, double time)
{
    Bulk *bulk = state;
    talus_bulk_table_header(&bulk->text);
    TALUS_TRY(bulk->text.status);
    return resume ? talus_csv_resume(dir, TABLE_NAME, bulk->text.bytes, time, &bulk->table)
                  : talus_csv_create(dir, TABLE_NAME, bulk->text.bytes, &bulk->table);
}

static TalusStatus add_bulk(void *state, const TalusFramesHead *head, const TalusSnapshot *snapshot)
{
    const TalusBulkDef def = talus_bulk_def_default();
    Bulk *bulk = state;
    TalusAssembly assembly;
    bulk->text.size = 0;
    TALUS_TRY(talus_assembly_take(snapshot, head, TALUS_ANY_TAG, &assembly));
    double values[TALUS_BULK_TABLE_MAX];
    TalusStatus status = talus_bulk_table_measure(&assembly, &def, values);
    if (status == TALUS_OK)
        talus_bulk_table_row(&bulk->text, assembly.time, values);
    TALUS_THEN(status, bulk->text.status);
    TALUS_THEN(status, talus_growing_append(&bulk->table, bulk->text.bytes, bulk->text.size));
    talus_assembly_free(&assembly);
    return status;
}

static TalusStatus sync_bulk(void *state)
{
    return talus_growing_sync(&((Bulk *)state)->table);
}

static TalusStatus close_bulk(void *state)
{
    Bulk *bulk = state;
    talus_growing_close(&bulk->table);
    talus_release(bulk->text.bytes);
    return TALUS_OK;
}

static TalusStatus remove_bulk(TalusDir *dir)
{
    return talus_dir_remove_file(dir, TABLE_NAME);
}

const TalusFormat talus_format_bulk = {
    .name = "bulk",
    .fields = TALUS_SNAPSHOT_ALL & ~(unsigned)TALUS_SNAPSHOT_CHAINS,
    .state_size = sizeof(Bulk),
    .open = open_bulk,
    .add = add_bulk,
    .sync = sync_bulk,
    .close = close_bulk,
    .remove = remove_bulk,
};

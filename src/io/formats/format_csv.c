/* io/formats/format_csv.c - frames as tables: DIR/frames/bodies-000000.csv, contacts-000000.csv (if frames have all
 * contacts), and DIR/frames.csv with a row per frame. Reals have 17 digits, so that reading gives the same doubles. */
#include "io/formats/fields.h"
#include "io/formats/formats.h"
#include "io/formats/frame_files.h"
#include "io/text/csv.h"

#include <stdio.h>

#define INDEX_NAME "frames.csv"
#define INDEX_HEADER                                                             \
    "time,step,bodies,contacts,period_lo_x,period_lo_y,period_lo_z,period_hi_x," \
    "period_hi_y,period_hi_z\n"

enum { ROW_BYTES = 512 }; /* more than the bytes of a row of frames.csv */

/* State of a writer. */
typedef struct Csv {
    TalusDir frames;    /* DIR/frames */
    TalusGrowing index; /* frames.csv */
    TalusRows rows;     /* bodies in the table of the last frame */
    int count, synced;  /* number of frames; number of frames synced to the disk */
    bool contacts; /* true: the last frame and all unsynced frames have contacts; false: none has */
} Csv;

/* ---- one table ---- */

/* Writes the names of the columns, one for each component of each field that the snapshot has. */
static void write_header(TalusFile *file, const TalusFieldList *list, const TalusSnapshot *snapshot)
{
    const char *comma = "";
    for (int i = 0; i < list->count; i++) {
        const TalusField *field = &list->field[i];
        const char *letters = talus_field_letters(field);
        if (!talus_field_present(field, snapshot))
            continue;
        if (!*letters)
            talus_file_print(file, "%s%s", comma, field->name);
        comma = *letters ? comma : ",";
        for (; *letters; letters++, comma = ",")
            talus_file_print(file, "%s%s_%c", comma, field->name, *letters);
    }
    talus_file_put(file, "\n", 1);
}

/* Writes a line with the values of one body or contact. */
static void write_row(TalusFile *file, const TalusFieldList *list, const TalusFramesHead *head,
                      const TalusSnapshot *snapshot, int row)
{
    char text[TALUS_FIELD_TEXT];
    bool first = true;
    for (int i = 0; i < list->count; i++) {
        const TalusField *field = &list->field[i];
        if (!talus_field_present(field, snapshot))
            continue;
        if (!first)
            talus_file_put(file, ",", 1);
        first = false;
        talus_file_put(file, text, talus_field_print(field, head, snapshot, row, ',', text));
    }
    talus_file_put(file, "\n", 1);
}

/* Writes the rows rows[count] (NULL: 0, 1, ...) of a list of fields to the file NAME-NUMBER.csv of this frame. */
static TalusStatus write_table(Csv *csv, const char *name, const TalusFieldList *list,
                               const TalusFramesHead *head, const TalusSnapshot *snapshot,
                               const int *rows, int count)
{
    char file_name[TALUS_FRAME_NAME_BYTES];
    TalusFile *file;
    talus_frame_file_write_name(file_name, name, csv->count, "csv");
    TALUS_TRY(talus_dir_create_file(&csv->frames, file_name, &file));
    write_header(file, list, snapshot);
    for (int i = 0; i < count; i++)
        write_row(file, list, head, snapshot, rows ? rows[i] : i);
    return talus_file_commit_unsynced(file);
}

/* ---- the index ---- */

/* Creates frames.csv, or truncates it after the rows up to `time` and sets csv->count to their number. */
static TalusStatus open_index(Csv *csv, TalusDir *dir, bool resume, double time)
{
    TalusCsvRows kept;
    if (!resume || !talus_dir_has_name(dir, INDEX_NAME))
        return talus_csv_create(dir, INDEX_NAME, INDEX_HEADER, &csv->index);
    TALUS_TRY(talus_growing_open(dir, INDEX_NAME, &csv->index));
    TALUS_TRY(talus_csv_truncate(&csv->index, INDEX_HEADER, time, &kept));
    csv->count = kept.count;
    return TALUS_OK;
}

/* ---- the format ---- */

/* The two tables of a frame have the same number in their names. On resume the frames kept are those with files in the
 * checkpoint's list (talus_frame_files_truncate). If the checkpoint does not list frames.csv, or frames.csv has changed
 * since, its rows up to `time` are counted too (talus_csv_truncate), and the larger of the two numbers is used. */
static TalusStatus open_csv(void *state, TalusDir *dir, bool resume, double time)
{
    Csv *csv = state;
    TALUS_TRY(talus_dir_open_folder(dir, TALUS_FRAMES_FOLDER, &csv->frames));
    TALUS_TRY(open_index(csv, dir, resume, time));
    TALUS_TRY(talus_frame_files_truncate(&csv->frames, "bodies", "csv", &csv->count));
    TALUS_TRY(talus_frame_files_truncate(&csv->frames, "contacts", "csv", &csv->count));
    csv->synced = csv->count; /* all of them were synced before the checkpoint was written */
    return TALUS_OK;
}

/* Prints six columns, lo x y z and hi x y z of the period, empty for an axis without one. Returns the length. */
static int print_period_columns(const TalusPeriod *period, char *out, size_t capacity)
{
    const double *side[2] = {&period->lo.x, &period->hi.x};
    int n = 0;
    for (int k = 0; k < 6; k++)
        n += period->on[k % 3]
                 ? snprintf(out + n, capacity - (size_t)n, ",%.17g", side[k / 3][k % 3])
                 : snprintf(out + n, capacity - (size_t)n, ",");
    return n;
}

/* Appends the row of a frame to frames.csv. */
static TalusStatus append_index_row(Csv *csv, const TalusFramesHead *head,
                                    const TalusSnapshot *snapshot)
{
    char row[ROW_BYTES];
    int n =
        snprintf(row, sizeof row, "%.17g,%lld,%d,%lld", snapshot->time, (long long)snapshot->step,
                 csv->rows.count, (long long)snapshot->contact_total);
    n += print_period_columns(&head->period, row + n, sizeof row - (size_t)n);
    row[n++] = '\n';
    return talus_growing_append(&csv->index, row, (size_t)n);
}

static TalusStatus sync_csv(void *state)
{
    Csv *csv = state;
    TALUS_TRY(talus_frame_files_sync(&csv->frames, "bodies", "csv", csv->synced, csv->count));
    if (csv->contacts)
        TALUS_TRY(talus_frame_files_sync(&csv->frames, "contacts", "csv", csv->synced, csv->count));
    csv->synced = csv->count;
    return talus_growing_sync(&csv->index);
}

/* Writes the tables of a frame and its row of the index. Where frames begin or cease to have contacts, first syncs the
 * frames before, because csv->contacts holds for all unsynced frames. */
static TalusStatus add_csv(void *state, const TalusFramesHead *head, const TalusSnapshot *snapshot)
{
    Csv *csv = state;
    bool has_contacts = snapshot->fields & TALUS_SNAPSHOT_CONTACTS;
    if (has_contacts != csv->contacts && csv->count > csv->synced)
        TALUS_TRY(sync_csv(csv));
    csv->contacts = has_contacts;
    TALUS_TRY(talus_rows_collect_bodies(&csv->rows, head, snapshot));
    TALUS_TRY(write_table(csv, "bodies", &talus_fields_of_bodies, head, snapshot, csv->rows.row,
                          csv->rows.count));
    if (has_contacts)
        TALUS_TRY(write_table(csv, "contacts", &talus_fields_of_contacts, head, snapshot, NULL,
                              snapshot->contact_count));
    TALUS_TRY(append_index_row(csv, head, snapshot));
    csv->count++;
    return TALUS_OK;
}

static TalusStatus close_csv(void *state)
{
    Csv *csv = state;
    talus_growing_close(&csv->index);
    talus_dir_close(&csv->frames);
    talus_rows_free(&csv->rows);
    return TALUS_OK;
}

static TalusStatus remove_csv(TalusDir *dir)
{
    TALUS_TRY(talus_dir_remove_file(dir, INDEX_NAME));
    TALUS_TRY(talus_frame_files_remove(dir, "bodies", "csv"));
    return talus_frame_files_remove(dir, "contacts", "csv");
}

const TalusFormat talus_format_csv = {
    .name = "csv",
    .fields = TALUS_SNAPSHOT_ALL & ~(unsigned)TALUS_SNAPSHOT_CHAINS,
    .state_size = sizeof(Csv),
    .open = open_csv,
    .add = add_csv,
    .sync = sync_csv,
    .close = close_csv,
    .remove = remove_csv,
};

/* io/formats/csv_frames.c - reads frames.csv and the tables of its frames. Columns are found by their names, so that tables
 * may have more of them. */
#include "io/formats/csv_frames.h"

#include "base/memory.h"
#include "io/file/file.h"
#include "io/formats/frame_files.h"
#include "io/frames/frames.h"
#include "io/run/snapshot.h"
#include "io/text/numbers.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { COLUMNS_MAX = 64 };

struct TalusCsvFrames {
    char *dir;
    int count;
    double *time;
    int64_t *step;
};

/* ---- a table of numbers ---- */

/* A table being read, row by row. */
typedef struct Table {
    char *path, *text;
    TalusNumberLines lines;
    const char *header; /* the first line, without its end */
    size_t header_length;
    int rows;
} Table;

static void close_table(Table *table)
{
    TALUS_RELEASE(table->path, table->text, table->lines.value);
}

/* Counts the whole lines from `at` to `end`. */
static int count_lines(const char *at, const char *end)
{
    int count = 0;
    while (at < end && (at = memchr(at, '\n', (size_t)(end - at)))) {
        at++;
        count++;
    }
    return count;
}

/* Opens a table; the caller closes it, also on failure. */
static TalusStatus open_table(Table *table, const char *dir, const char *name)
{
    size_t size;
    TALUS_TRY(talus_path_format(&table->path, "%s/%s", dir, name));
    TALUS_TRY(talus_read_file(table->path, INT_MAX, &table->text, &size));
    const char *end = memchr(table->text, '\n', size);
    if (!end)
        return talus_fail_line(table->path, 1, TALUS_ERR_FORMAT, "expected a line of names");
    table->header = table->text;
    table->header_length = (size_t)(end - table->text);
    table->rows = count_lines(end + 1, table->text + size);
    table->lines = (TalusNumberLines){.path = table->path,
                                      .at = end + 1,
                                      .end = table->text + size,
                                      .separators = ",",
                                      .expected = "numbers with commas",
                                      .limit = COLUMNS_MAX,
                                      .line = 1};
    return TALUS_OK;
}

/* Sets *column to that of a name; false if the table has none. */
static bool has_column(const Table *table, const char *name, int *column)
{
    const size_t length = strlen(name);
    const char *at = table->header, *end = at + table->header_length;
    for (*column = 0; at < end; ++*column) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const size_t here = (size_t)((comma ? comma : end) - at);
        if (here == length && memcmp(at, name, length) == 0)
            return true;
        at += here + 1;
    }
    return false;
}

static TalusStatus find_columns(const Table *table, const char *const *name, int count, int *column)
{
    for (int i = 0; i < count; i++)
        if (!has_column(table, name[i], &column[i]))
            return talus_fail_line(table->path, 1, TALUS_ERR_FORMAT, "expected a column '%s'",
                                   name[i]);
    return TALUS_OK;
}

/* Reads the next row, and copies the values of these columns. */
static TalusStatus read_row(Table *table, const int *column, int count, double *value)
{
    TALUS_TRY(talus_number_lines_read(&table->lines));
    for (int i = 0; i < count; i++) {
        if ((size_t)column[i] >= table->lines.count)
            return talus_fail_line(table->path, table->lines.line, TALUS_ERR_FORMAT,
                                   "expected a number in column %d", column[i] + 1);
        value[i] = table->lines.value[column[i]];
    }
    return TALUS_OK;
}

/* ---- frames.csv ---- */

static TalusStatus read_index(TalusCsvFrames *f, Table *table)
{
    static const char *const name[] = {"time", "step"};
    int column[2];
    double value[2] = {0};
    TALUS_TRY(open_table(table, f->dir, "frames.csv"));
    TALUS_TRY(find_columns(table, name, 2, column));
    TALUS_TRY(TALUS_ALLOC(f->time, (size_t)table->rows, "frames.csv"));
    TALUS_TRY(TALUS_ALLOC(f->step, (size_t)table->rows, "frames.csv"));
    for (; f->count < table->rows; f->count++) {
        TALUS_TRY(read_row(table, column, 2, value));
        f->time[f->count] = value[0];
        f->step[f->count] = fabs(value[1]) < 9e15 ? (int64_t)value[1] : 0;
    }
    return TALUS_OK;
}

/* Opens the index; f->count is 0 if there is no file. */
static TalusStatus open_index(TalusCsvFrames *f, const char *dir)
{
    Table table = {0};
    char *path;
    TALUS_TRY(talus_path_format(&f->dir, "%s", dir));
    TALUS_TRY(talus_path_format(&path, "%s/frames.csv", dir));
    const bool exists = access(path, F_OK) == 0;
    talus_release(path);
    const TalusStatus status = exists ? read_index(f, &table) : TALUS_OK;
    close_table(&table);
    return status;
}

TalusStatus talus_csv_frames_open(const char *dir, TalusCsvFrames **out)
{
    TalusCsvFrames *f = NULL;
    *out = NULL;
    TALUS_TRY(TALUS_ALLOC(f, 1, "frames.csv"));
    const TalusStatus status = open_index(f, dir);
    if (status == TALUS_OK && f->count > 0)
        *out = f;
    else
        talus_csv_frames_close(f);
    return status;
}

void talus_csv_frames_close(TalusCsvFrames *f)
{
    if (f)
        TALUS_RELEASE(f->dir, f->time, f->step, f);
}

int talus_csv_frames_count(const TalusCsvFrames *f)
{
    return f->count;
}

double talus_csv_frames_time(const TalusCsvFrames *f, int index)
{
    return f->time[index];
}

/* ---- the tables of a frame ---- */

/* Returns the number of a body; 0, which no body has, if it is none. */
static TalusBodyId id_from(double value)
{
    const bool valid = value >= 1.0 && value < 9007199254740992.0; /* 2^53 */
    return (TalusBodyId){valid ? (uint64_t)value : 0};
}

/* Returns an integer; INT32_MIN if it is none of 32 bits. */
static int32_t integer_from(double value)
{
    return fabs(value) < 2147483648.0 ? (int32_t)value : INT32_MIN;
}

static TalusVec3 vector_at(const double *value)
{
    return talus_vec3(value[0], value[1], value[2]);
}

/* Columns of bodies, in the order of the enum. */
static const char *const body_column[] = {"body_id",
                                          "position_x",
                                          "position_y",
                                          "position_z",
                                          "radius",
                                          "velocity_x",
                                          "velocity_y",
                                          "velocity_z",
                                          "angular_velocity_x",
                                          "angular_velocity_y",
                                          "angular_velocity_z",
                                          "orientation_w",
                                          "orientation_x",
                                          "orientation_y",
                                          "orientation_z",
                                          "mass",
                                          "material_id",
                                          "shape_id",
                                          "tag",
                                          "fixed",
                                          "dissipated"};
enum {
    ID,
    POSITION,
    RADIUS = 4,
    VELOCITY,
    SPIN = 8,
    ORIENTATION = 11,
    MASS = 15,
    MATERIAL,
    SHAPE,
    TAG,
    FIXED,
    DISSIPATED, /* only of a world that sums it */
    BODY_COLUMNS
};

static void store_body(TalusSnapshot *s, int i, const double *value)
{
    const double *q = value + ORIENTATION;
    const TalusSentBody body = {.position = vector_at(value + POSITION),
                                .velocity = vector_at(value + VELOCITY),
                                .spin = vector_at(value + SPIN),
                                .orientation = {q[0], q[1], q[2], q[3]},
                                .mass = value[MASS],
                                .dissipated = value[DISSIPATED],
                                .radius = value[RADIUS],
                                .shape = integer_from(value[SHAPE]),
                                .material = integer_from(value[MATERIAL]),
                                .tag = integer_from(value[TAG]),
                                .fixed = value[FIXED] != 0.0};
    s->id[i] = id_from(value[ID]);
    talus_snapshot_store_body(s, i, &body);
}

/* Opens the table of bodies or contacts of a frame. */
static TalusStatus open_frame(Table *table, const TalusCsvFrames *f, const char *of, int index)
{
    char name[TALUS_FRAME_NAME_BYTES], path[TALUS_FRAME_NAME_BYTES + 16];
    talus_frame_file_write_name(name, of, index, "csv");
    snprintf(path, sizeof path, "%s/%s", TALUS_FRAMES_FOLDER, name);
    return open_table(table, f->dir, path);
}

static TalusStatus read_bodies(Table *table, const TalusCsvFrames *f, int index, TalusSnapshot *s)
{
    unsigned fields = TALUS_SNAPSHOT_VELOCITY | TALUS_SNAPSHOT_SPIN | TALUS_SNAPSHOT_MASS |
                      TALUS_SNAPSHOT_CONTACTS;
    int column[BODY_COLUMNS], columns = DISSIPATED;
    double value[BODY_COLUMNS] = {0};
    TALUS_TRY(open_frame(table, f, "bodies", index));
    TALUS_TRY(find_columns(table, body_column, DISSIPATED, column));
    if (has_column(table, body_column[DISSIPATED], &column[DISSIPATED])) {
        fields |= TALUS_SNAPSHOT_DISSIPATED;
        columns = BODY_COLUMNS;
    }
    TALUS_TRY(talus_snapshot_resize(s, fields, table->rows, 0));
    for (int i = 0; i < s->body_count; i++) {
        TALUS_TRY(read_row(table, column, columns, value));
        store_body(s, i, value);
    }
    return TALUS_OK;
}

static const char *const contact_column[] = {"id1",     "id2",      "point_x",  "point_y",
                                             "point_z", "normal_x", "normal_y", "normal_z",
                                             "force_x", "force_y",  "force_z",  "gap"};
enum { A, B, POINT, NORMAL = 5, FORCE = 8, GAP = 11, CONTACT_COLUMNS };

static void store_contact(TalusSnapshot *s, int i, const double *value)
{
    s->contact[i] = (TalusContactState){.a = id_from(value[A]),
                                        .b = id_from(value[B]),
                                        .point = vector_at(value + POINT),
                                        .normal = vector_at(value + NORMAL),
                                        .impulse = vector_at(value + FORCE),
                                        .gap = value[GAP]};
    s->contact_a[i] = talus_snapshot_find(s, s->contact[i].a.number);
    s->contact_b[i] = talus_snapshot_find(s, s->contact[i].b.number);
}

static TalusStatus read_contacts(Table *table, const TalusCsvFrames *f, int index, TalusSnapshot *s)
{
    int column[CONTACT_COLUMNS];
    double value[CONTACT_COLUMNS] = {0};
    TALUS_TRY(open_frame(table, f, "contacts", index));
    TALUS_TRY(find_columns(table, contact_column, CONTACT_COLUMNS, column));
    TALUS_TRY(talus_snapshot_resize_contacts(s, table->rows));
    for (int i = 0; i < s->contact_count; i++) {
        TALUS_TRY(read_row(table, column, CONTACT_COLUMNS, value));
        store_contact(s, i, value);
    }
    return TALUS_OK;
}

TalusStatus talus_csv_frames_read(TalusCsvFrames *f, int index, TalusSnapshot *snapshot)
{
    Table bodies = {0}, contacts = {0};
    TalusStatus status = read_bodies(&bodies, f, index, snapshot);
    TALUS_THEN(status, read_contacts(&contacts, f, index, snapshot));
    close_table(&bodies);
    close_table(&contacts);
    if (status != TALUS_OK) {
        talus_snapshot_free(snapshot);
        return status;
    }
    snapshot->time = f->time[index];
    snapshot->step = f->step[index];
    snapshot->length = 1.0;
    snapshot->contact_total = snapshot->contact_count;
    return TALUS_OK;
}

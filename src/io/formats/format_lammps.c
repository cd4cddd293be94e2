/* io/formats/format_lammps.c - frames as one text dump in the format of LAMMPS, for OVITO: DIR/bodies.dump.
 *
 * Columns have the names that OVITO maps to its properties. c_orient[1..4] is a quaternion x y z w. c_shape[1..3] is
 * OVITO's Aspherical Shape: half extents of a box; semi-axes of an ellipsoid; radius, radius and whole height of a
 * cylinder, a cone or the straight part of a capsule; zero for a sphere and for shapes that OVITO lacks. The type is
 * the index of the shape + 1, because OVITO chooses what to draw per type. Other columns have the names of fields.c. */
#include "base/memory.h"
#include "geometry/bounds.h"
#include "geometry/kinds.h"
#include "io/file/growing.h"
#include "io/formats/fields.h"
#include "io/formats/formats.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DUMP_NAME "bodies.dump"

enum {
    BUFFER_BYTES = 1 << 16, /* bytes collected before they are written */
    LINE_BYTES = 1024       /* more than the bytes of any line, and of any text for print_text */
};

/* Fields in the order of the dump with their column names; NULL: the field's own name. */
typedef struct Column {
    const char *field, *names;
} Column;

static const Column columns[] = {
    {"position", "x y z"},
    {"radius", NULL},
    {"velocity", "vx vy vz"},
    {"speed", NULL},
    {"angular_velocity", "omegax omegay omegaz"},
    {"mass", NULL},
    {"contact_force", NULL},
    {"contact_count", NULL},
    {"material_id", NULL},
    {"tag", NULL},
    {"fixed", NULL},
    {"layer", NULL},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

/* State of a writer. */
typedef struct Dump {
    TalusGrowing file;
    TalusRows rows;                   /* bodies in the dump of the last frame */
    const TalusField *field[COLUMNS]; /* [fields], columns of the frame being written */
    int fields;
    size_t used; /* bytes in the buffer */
    char buffer[BUFFER_BYTES];
} Dump;

/* ---- writing ---- */

/* Appends the buffer to the file and empties it. */
static TalusStatus flush_buffer(Dump *dump)
{
    size_t size = dump->used;
    dump->used = 0;
    return talus_growing_append(&dump->file, dump->buffer, size);
}

/* Appends text to the buffer; first writes the buffer to the file if the text does not fit. */
static TalusStatus put_bytes(Dump *dump, const char *text, size_t size)
{
    if (dump->used + size > sizeof dump->buffer)
        TALUS_TRY(flush_buffer(dump));
    memcpy(dump->buffer + dump->used, text, size);
    dump->used += size;
    return TALUS_OK;
}

/* Appends formatted text of fewer than LINE_BYTES bytes to the buffer, as put_bytes does. */
static TalusStatus print_text(Dump *dump, const char *format, ...) TALUS_PRINTF(2, 3);

static TalusStatus print_text(Dump *dump, const char *format, ...)
{
    char text[LINE_BYTES];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return put_bytes(dump, text, (size_t)n);
}

/* Returns the box of a frame, to which a viewer fits its window: along a periodic axis lo and hi of the period, along
 * other axes the bounds of the bodies in the dump, by their radii; 0 without bodies. */
static TalusAabb find_box(const Dump *dump, const TalusFramesHead *head,
                          const TalusSnapshot *snapshot)
{
    const TalusPeriod *p = &head->period;
    TalusAabb b = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    for (int i = 0; i < dump->rows.count; i++) {
        TalusVec3 x = snapshot->position[dump->rows.row[i]];
        double r = snapshot->radius[dump->rows.row[i]];
        TalusAabb one = talus_aabb_about(x, talus_vec3(r, r, r));
        b = i == 0 ? one : talus_aabb_join(b, one);
    }
    b.lo = talus_vec3(p->on[0] ? p->lo.x : b.lo.x, p->on[1] ? p->lo.y : b.lo.y,
                      p->on[2] ? p->lo.z : b.lo.z);
    b.hi = talus_vec3(p->on[0] ? p->hi.x : b.hi.x, p->on[1] ? p->hi.y : b.hi.y,
                      p->on[2] ? p->hi.z : b.hi.z);
    return b;
}

/* Returns LAMMPS's code for the boundary of the box along an axis: periodic or fixed. */
static const char *boundary_code(const TalusFramesHead *head, int axis)
{
    return head->period.on[axis] ? "pp" : "ff";
}

/* Writes the box. With a tilt, a triclinic one, whose bounds along x contain its tilted sides. */
static TalusStatus print_box(Dump *dump, const TalusFramesHead *head, TalusAabb b)
{
    const double tilt = head->period.tilt;
    const char *const *code = (const char *const[]){boundary_code(head, 0), boundary_code(head, 1),
                                                    boundary_code(head, 2)};
    if (tilt == 0.0)
        return print_text(
            dump, "ITEM: BOX BOUNDS %s %s %s\n%.17g %.17g\n%.17g %.17g\n%.17g %.17g\n", code[0],
            code[1], code[2], b.lo.x, b.hi.x, b.lo.y, b.hi.y, b.lo.z, b.hi.z);
    return print_text(dump,
                      "ITEM: BOX BOUNDS xy xz yz %s %s %s\n%.17g %.17g %.17g\n%.17g %.17g 0\n"
                      "%.17g %.17g 0\n",
                      code[0], code[1], code[2], b.lo.x + talus_min(tilt, 0.0),
                      b.hi.x + talus_max(tilt, 0.0), tilt, b.lo.y, b.hi.y, b.lo.z, b.hi.z);
}

/* Writes the header of a frame and sets dump->field to the columns of the frame. */
static TalusStatus write_header(Dump *dump, const TalusFramesHead *head,
                                const TalusSnapshot *snapshot)
{
    TalusAabb b = find_box(dump, head, snapshot);
    TALUS_TRY(print_text(dump,
                         "ITEM: TIME\n%.17g\nITEM: TIMESTEP\n%lld\nITEM: NUMBER OF ATOMS\n%d\n",
                         snapshot->time, (long long)snapshot->step, dump->rows.count));
    TALUS_TRY(print_box(dump, head, b));
    TALUS_TRY(print_text(dump, "ITEM: ATOMS id type"));
    dump->fields = 0;
    for (int i = 0; i < COLUMNS; i++) {
        const TalusField *field = talus_field_find(&talus_fields_of_bodies, columns[i].field);
        if (!talus_field_present(field, snapshot))
            continue;
        dump->field[dump->fields++] = field;
        TALUS_TRY(print_text(dump, " %s", columns[i].names ? columns[i].names : columns[i].field));
    }
    return print_text(dump, " c_orient[1] c_orient[2] c_orient[3] c_orient[4]"
                            " c_shape[1] c_shape[2] c_shape[3]\n");
}

/* Returns OVITO's Aspherical Shape of a shape, as described at the top of this file. */
static TalusVec3 aspherical_shape(const TalusShapeDef *shape)
{
    int uses = talus_shape_ops(shape->kind)->uses;
    if (uses & TALUS_USES_HALF)
        return shape->half;
    if (uses & TALUS_USES_HALF_HEIGHT)
        return talus_vec3(shape->radius, shape->radius, 2.0 * shape->half_height);
    return talus_vec3(0.0, 0.0, 0.0);
}

/* Writes the line of the body in this row of the snapshot. */
static TalusStatus write_body(Dump *dump, const TalusFramesHead *head,
                              const TalusSnapshot *snapshot, int row)
{
    char text[TALUS_FIELD_TEXT];
    TalusQuat q = snapshot->orientation[row];
    TalusVec3 size = aspherical_shape(&head->shapes[snapshot->shape[row]]);
    TALUS_TRY(
        print_text(dump, "%" PRIu64 " %d", snapshot->id[row].number, snapshot->shape[row] + 1));
    for (int i = 0; i < dump->fields; i++) {
        TALUS_TRY(put_bytes(dump, " ", 1));
        TALUS_TRY(put_bytes(dump, text,
                            talus_field_print(dump->field[i], head, snapshot, row, ' ', text)));
    }
    return print_text(dump, " %.17g %.17g %.17g %.17g %.17g %.17g %.17g\n", q.x, q.y, q.z, q.w,
                      size.x, size.y, size.z);
}

/* Writes a frame: its header and a line per body. */
static TalusStatus add_dump(void *state, const TalusFramesHead *head, const TalusSnapshot *snapshot)
{
    Dump *dump = state;
    TALUS_TRY(talus_rows_collect_bodies(&dump->rows, head, snapshot));
    TALUS_TRY(write_header(dump, head, snapshot));
    for (int i = 0; i < dump->rows.count; i++)
        TALUS_TRY(write_body(dump, head, snapshot, dump->rows.row[i]));
    return flush_buffer(dump);
}

/* ---- truncation ---- */

/* Reads a line without its newline and adds its length with the newline to *at. False at the end of the file or if the
 * newline is missing, as in an incomplete or overlong line. */
static bool read_line(FILE *file, char line[LINE_BYTES], int64_t *at)
{
    if (!fgets(line, LINE_BYTES, file))
        return false;
    size_t length = strlen(line);
    *at += (int64_t)length;
    if (length == 0 || line[length - 1] != '\n')
        return false;
    line[length - 1] = '\0';
    return true;
}

/* Reads the line `item` and the line after it, which it leaves in `line`. False if `item` does not come next. */
static bool read_item(FILE *file, const char *item, char line[LINE_BYTES], int64_t *at)
{
    return read_line(file, line, at) && strcmp(line, item) == 0 && read_line(file, line, at);
}

/* Skips one frame in the layout of add_dump and moves *at past it. False, with *at unspecified, if it is incomplete or
 * after time `limit`. */
static bool skip_frame(FILE *file, double limit, int64_t *at)
{
    char line[LINE_BYTES];
    if (!read_item(file, "ITEM: TIME", line, at) || !(strtod(line, NULL) <= limit))
        return false;
    if (!read_item(file, "ITEM: TIMESTEP", line, at) ||
        !read_item(file, "ITEM: NUMBER OF ATOMS", line, at))
        return false;
    const int before = 5; /* lines of the box and of the column names */
    for (long long left = before + strtoll(line, NULL, 10); left > 0; left--)
        if (!read_line(file, line, at))
            return false;
    return true;
}

/* Sets *keep to the offset of the end of the last whole frame up to `time`; 0 if there is none. */
static TalusStatus find_end_of_frames(const Dump *dump, double time, int64_t *keep)
{
    FILE *file;
    int64_t at = 0;
    *keep = 0;
    TALUS_TRY(talus_growing_open_stream(&dump->file, &file));
    while (skip_frame(file, time, &at))
        *keep = at;
    fclose(file);
    return TALUS_OK;
}

/* Truncates the dump to the length in the list of the checkpoint that the run resumed from. If the list lacks the file,
 * or the file has changed since, truncates after the last frame up to `time`. */
static TalusStatus truncate_dump(Dump *dump, const TalusDir *dir, double time)
{
    const TalusEntry *before = talus_dir_unchanged_entry(dir, DUMP_NAME);
    int64_t keep = before ? (int64_t)before->size : 0;
    if (!before)
        TALUS_TRY(find_end_of_frames(dump, time, &keep));
    return talus_growing_truncate(&dump->file, (uint64_t)keep);
}

/* ---- the format ---- */

/* Creates the dump; with `resume` opens it, if it exists, and truncates it after the frames up to `time`. */
static TalusStatus open_dump(void *state, TalusDir *dir, bool resume, double time)
{
    Dump *dump = state;
    if (!resume || !talus_dir_has_name(dir, DUMP_NAME))
        return talus_growing_create(dir, DUMP_NAME, &dump->file);
    TALUS_TRY(talus_growing_open(dir, DUMP_NAME, &dump->file));
    return truncate_dump(dump, dir, time);
}

static TalusStatus sync_dump(void *state)
{
    return talus_growing_sync(&((Dump *)state)->file);
}

static TalusStatus close_dump(void *state)
{
    Dump *dump = state;
    talus_growing_close(&dump->file);
    talus_rows_free(&dump->rows);
    return TALUS_OK;
}

static TalusStatus remove_dump(TalusDir *dir)
{
    return talus_dir_remove_file(dir, DUMP_NAME);
}

const TalusFormat talus_format_lammps = {
    .name = "lammps",
    .fields =
        TALUS_SNAPSHOT_VELOCITY | TALUS_SNAPSHOT_SPIN | TALUS_SNAPSHOT_FORCE | TALUS_SNAPSHOT_MASS,
    .state_size = sizeof(Dump),
    .open = open_dump,
    .add = add_dump,
    .sync = sync_dump,
    .close = close_dump,
    .remove = remove_dump,
};

/* io/formats/format_vtkhdf.c - frames as one temporal VTKHDF file, DIR/bodies.vtkhdf, for ParaView 5.12 and later.
 *
 * The file has version 2.0 of the format and type PolyData; each frame is one part. Extensible datasets have the points
 * of all frames one after the other, and the datasets of the group Steps have the row at which each frame begins. A
 * part of n cells has n + 1 rows in a dataset Offsets. Steps/CellOffsets counts cells only; readers add the index of
 * the part.
 *
 * A frame is flushed to the file before the attribute NSteps counts it, so that a killed run leaves whole frames. A
 * resumed run copies the frames that it keeps into a new file by the same calls that wrote them. Its bytes equal those
 * of an uninterrupted run, because datasets have no time stamps and unused rows of their chunks are 0. */
#include "base/crc.h"
#include "base/memory.h"
#include "collide/period.h"
#include "io/formats/fields.h"
#include "io/formats/formats.h"
#include "io/hdf5/hdf5_rows.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FILE_NAME "bodies.vtkhdf"
#define FRESH_NAME FILE_NAME ".tmp" /* new file of a resumed run, until it is renamed */
#define ROOT "/VTKHDF"

enum {
    TOPOLOGIES = 4,   /* number of kinds of cells */
    ROW_CHUNK = 4096, /* rows per chunk of datasets with a row per point or cell */
    STEP_CHUNK = 256, /* rows per chunk of datasets with a row per frame */
    PATH_BYTES = 96,  /* size of a path in the file, with its NUL */
    FIELDS_MAX = 32   /* maximum of fields of a frame */
};

/* Groups of the kinds of cells, in the order that the format prescribes. */
static const char *const topologies[TOPOLOGIES] = {"Vertices", "Lines", "Polygons", "Strips"};

/* The values of one frame in the types of the file, from a snapshot or from the file that a resumed run continues. */
typedef struct Frame {
    double time;
    hsize_t count;                       /* points, one per body */
    const TalusField *field[FIELDS_MAX]; /* [fields] */
    unsigned char *data[FIELDS_MAX];     /* [fields]: values of each field, [count] rows */
    int fields;
} Frame;

/* State of a writer. */
typedef struct Hdf {
    TalusDir *dir;
    char *path;    /* of the file, for HDF5 and messages */
    hid_t file;    /* negative: not open */
    int second_fd; /* second descriptor, to check that the name still leads to the file; -1: none */
    uint32_t crc;  /* checksum of the values of all frames (sum_frame) */
    int entry;     /* index in the list of files of `dir` */
    hsize_t steps, points; /* frames and points of all frames so far */
    TalusPeriod period;    /* from the first frame's head */
    TalusRows rows;        /* bodies of the last frame that are points of the file */
    Frame frame;           /* the frame being written or read */
    int64_t *indices;      /* [points of a frame + 1]: 0, 1, 2, ..., for Connectivity and Offsets */
    H5E_auto2_t report;    /* error handler of HDF5 before silence_hdf5 */
    void *report_to;       /* argument of `report` */
} Hdf;

static TalusStatus fail_hdf5(const Hdf *hdf, const char *what)
{
    return talus_fail_file(hdf->path, TALUS_ERR_IO, "HDF5 cannot %s", what);
}

static hid_t hdf5_type(TalusFieldType type)
{
    switch (type) {
    case TALUS_FIELD_F64: return H5T_IEEE_F64LE;
    case TALUS_FIELD_F32: return H5T_IEEE_F32LE;
    case TALUS_FIELD_I64: return H5T_STD_I64LE;
    case TALUS_FIELD_I32: return H5T_STD_I32LE;
    default: return H5T_STD_U8LE;
    }
}

/* Writes the path of a field's dataset: Points for positions, PointData/NAME for others. */
static void write_field_path(const TalusField *field, char path[PATH_BYTES])
{
    if (strcmp(field->name, "position") == 0)
        snprintf(path, PATH_BYTES, ROOT "/Points");
    else
        snprintf(path, PATH_BYTES, ROOT "/PointData/%s", field->name);
}

/* Returns the bytes of the values of a field in one row. */
static size_t row_bytes(const TalusField *field)
{
    return (size_t)talus_field_components(field) * talus_field_type_size(field->type);
}

/* ---- creation ---- */

/* Writes the attributes Version and Type; readers expect Type to be a string of fixed length without NUL. */
static bool put_root_attributes(hid_t file)
{
    static const char type_name[] = "PolyData";
    static const int64_t version[2] = {2, 0};
    hid_t type = H5Tcopy(H5T_C_S1);
    bool ok = H5Tset_size(type, strlen(type_name)) >= 0 &&
              H5Tset_strpad(type, H5T_STR_NULLPAD) >= 0 &&
              talus_hdf_put_attribute(file, ROOT, "Version", H5T_STD_I64LE, 2, version) &&
              talus_hdf_put_attribute(file, ROOT, "Type", type, 0, type_name);
    H5Tclose(type);
    return ok;
}

/* Datasets that each kind of cell has, with the number of rows in a chunk of the dataset. */
static const struct {
    const char *name;
    hsize_t chunk;
} topology_sets[] = {{"Connectivity", ROW_CHUNK},
                     {"Offsets", ROW_CHUNK},
                     {"NumberOfCells", STEP_CHUNK},
                     {"NumberOfConnectivityIds", STEP_CHUNK}};

/* Writes the path of the dataset `set` of a kind of cells; returns `path`. */
static const char *write_topology_path(int index, const char *set, char path[PATH_BYTES])
{
    snprintf(path, PATH_BYTES, ROOT "/%s/%s", topologies[index], set);
    return path;
}

/* Creates the group and the empty datasets of each kind of cell. */
static bool make_topologies(hid_t file)
{
    char path[PATH_BYTES];
    bool ok = true;
    for (int i = 0; i < TOPOLOGIES && ok; i++) {
        snprintf(path, sizeof path, ROOT "/%s", topologies[i]);
        ok = talus_hdf_make_group(file, path);
        for (size_t k = 0; ok && k < sizeof topology_sets / sizeof *topology_sets; k++)
            ok = talus_hdf_make_rows(file, write_topology_path(i, topology_sets[k].name, path),
                                     H5T_STD_I64LE, 0, topology_sets[k].chunk);
    }
    return ok;
}

/* Creates the group Steps with the attribute NSteps = 0 and its empty datasets. */
static bool make_step_datasets(hid_t file)
{
    static const int64_t none;
    return talus_hdf_make_group(file, ROOT "/Steps") &&
           talus_hdf_make_group(file, ROOT "/Steps/PointDataOffsets") &&
           talus_hdf_put_attribute(file, ROOT "/Steps", "NSteps", H5T_STD_I64LE, 0, &none) &&
           talus_hdf_make_rows(file, ROOT "/Steps/Values", H5T_IEEE_F64LE, 0, STEP_CHUNK) &&
           talus_hdf_make_rows(file, ROOT "/Steps/PartOffsets", H5T_STD_I64LE, 0, STEP_CHUNK) &&
           talus_hdf_make_rows(file, ROOT "/Steps/NumberOfParts", H5T_STD_I64LE, 0, STEP_CHUNK) &&
           talus_hdf_make_rows(file, ROOT "/Steps/PointOffsets", H5T_STD_I64LE, 0, STEP_CHUNK) &&
           talus_hdf_make_rows(file, ROOT "/Steps/CellOffsets", H5T_STD_I64LE, TOPOLOGIES,
                               STEP_CHUNK) &&
           talus_hdf_make_rows(file, ROOT "/Steps/ConnectivityIdOffsets", H5T_STD_I64LE, TOPOLOGIES,
                               STEP_CHUNK);
}

/* Creates the dataset of a field and, except for positions, the one of its start rows by frame. */
static bool make_field_datasets(hid_t file, const TalusField *field)
{
    char path[PATH_BYTES];
    int components = talus_field_components(field);
    write_field_path(field, path);
    if (!talus_hdf_make_rows(file, path, hdf5_type(field->type), components > 1 ? components : 0,
                             ROW_CHUNK))
        return false;
    if (strcmp(field->name, "position") == 0)
        return true;
    snprintf(path, sizeof path, ROOT "/Steps/PointDataOffsets/%s", field->name);
    return talus_hdf_make_rows(file, path, H5T_STD_I64LE, 0, STEP_CHUNK);
}

/* Writes the period, if there is one, as attributes of the root, since readers ignore unknown attributes there. */
static bool put_period(hid_t file, const TalusPeriod *period)
{
    TalusVec3 side[2];
    if (!talus_has_period(period))
        return true;
    talus_period_sides(period, side);
    return talus_hdf_put_attribute(file, ROOT, "period_lo", H5T_IEEE_F64LE, 3, &side[0]) &&
           talus_hdf_put_attribute(file, ROOT, "period_hi", H5T_IEEE_F64LE, 3, &side[1]);
}

/* Creates all groups and datasets, empty, for fields and period of the first frame. */
static TalusStatus make_datasets(Hdf *hdf)
{
    bool ok =
        talus_hdf_make_group(hdf->file, ROOT) && put_root_attributes(hdf->file) &&
        put_period(hdf->file, &hdf->period) &&
        talus_hdf_make_rows(hdf->file, ROOT "/NumberOfPoints", H5T_STD_I64LE, 0, STEP_CHUNK) &&
        make_topologies(hdf->file) && talus_hdf_make_group(hdf->file, ROOT "/PointData") &&
        make_step_datasets(hdf->file);
    for (int i = 0; i < hdf->frame.fields && ok; i++)
        ok = make_field_datasets(hdf->file, hdf->frame.field[i]);
    return ok ? TALUS_OK : fail_hdf5(hdf, "make the groups of the file");
}

/* Creates an empty file, open as hdf->file. */
static TalusStatus create_file(Hdf *hdf, const char *name)
{
    char *path;
    TALUS_TRY(talus_path_format(&path, "%s/%s", hdf->dir->path, name));
    hid_t access = talus_hdf_access_properties();
    hdf->file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Pclose(access);
    talus_release(path);
    return hdf->file >= 0 ? TALUS_OK : fail_hdf5(hdf, "create the file");
}

/* ---- appending ---- */

/* Sets hdf->indices to 0, 1, ..., count - 1. */
static TalusStatus fill_indices(Hdf *hdf, size_t count)
{
    TALUS_TRY(TALUS_GROW(hdf->indices, count, 0, "cells of a frame"));
    for (size_t i = 0; i < count; i++)
        hdf->indices[i] = (int64_t)i;
    return TALUS_OK;
}

/* Appends the cells of a frame of the kind topologies[i]: a vertex for each point; no lines, polygons and strips, of
 * which only Offsets gets a row, 0. */
static bool append_topology(Hdf *hdf, int i)
{
    char path[PATH_BYTES];
    hid_t file = hdf->file;
    hsize_t cells = i == 0 ? hdf->frame.count : 0;
    return talus_hdf_append_number(file, write_topology_path(i, "NumberOfCells", path), cells) &&
           talus_hdf_append_number(file, write_topology_path(i, "NumberOfConnectivityIds", path),
                                   cells) &&
           talus_hdf_append_rows(file, write_topology_path(i, "Connectivity", path),
                                 H5T_NATIVE_INT64, cells, hdf->indices) &&
           talus_hdf_append_rows(file, write_topology_path(i, "Offsets", path), H5T_NATIVE_INT64,
                                 cells + 1, hdf->indices);
}

/* Appends the values of all fields, and for each the row at which this frame begins. */
static bool append_fields(Hdf *hdf)
{
    const Frame *frame = &hdf->frame;
    char path[PATH_BYTES];
    bool ok = true;
    for (int i = 0; i < frame->fields && ok; i++) {
        const TalusField *field = frame->field[i];
        write_field_path(field, path);
        ok = talus_hdf_append_rows(hdf->file, path, hdf5_type(field->type), frame->count,
                                   frame->data[i]);
        if (strcmp(field->name, "position") == 0)
            continue;
        snprintf(path, sizeof path, ROOT "/Steps/PointDataOffsets/%s", field->name);
        ok = ok && talus_hdf_append_number(hdf->file, path, hdf->points);
    }
    return ok;
}

/* Appends the time of the frame and the rows at which its points and cells begin. */
static bool append_step_offsets(Hdf *hdf)
{
    /* only vertices have cells, one per point */
    int64_t offsets[TOPOLOGIES] = {(int64_t)hdf->points, 0, 0, 0};
    return talus_hdf_append_rows(hdf->file, ROOT "/Steps/Values", H5T_NATIVE_DOUBLE, 1,
                                 &hdf->frame.time) &&
           talus_hdf_append_number(hdf->file, ROOT "/Steps/PartOffsets", hdf->steps) &&
           talus_hdf_append_number(hdf->file, ROOT "/Steps/NumberOfParts", 1) &&
           talus_hdf_append_number(hdf->file, ROOT "/Steps/PointOffsets", hdf->points) &&
           talus_hdf_append_rows(hdf->file, ROOT "/Steps/CellOffsets", H5T_NATIVE_INT64, 1,
                                 offsets) &&
           talus_hdf_append_rows(hdf->file, ROOT "/Steps/ConnectivityIdOffsets", H5T_NATIVE_INT64,
                                 1, offsets);
}

/* Returns `crc` continued over time, number of points and values of a frame. */
static uint32_t sum_frame(uint32_t crc, const Frame *frame)
{
    uint64_t count = frame->count;
    crc = talus_crc32(crc, &frame->time, sizeof frame->time);
    crc = talus_crc32(crc, &count, sizeof count);
    for (int i = 0; i < frame->fields; i++)
        crc = talus_crc32(crc, frame->data[i], (size_t)count * row_bytes(frame->field[i]));
    return crc;
}

/* Appends hdf->frame to the file, flushed; creates the datasets before the first frame. Advances hdf->steps and
 * hdf->points, updates the checksum and the entry in the list of files. */
static TalusStatus append_frame(Hdf *hdf)
{
    if (hdf->steps == 0)
        TALUS_TRY(make_datasets(hdf));
    TALUS_TRY(fill_indices(hdf, (size_t)hdf->frame.count + 1));
    bool ok = talus_hdf_append_number(hdf->file, ROOT "/NumberOfPoints", hdf->frame.count);
    for (int i = 0; i < TOPOLOGIES && ok; i++)
        ok = append_topology(hdf, i);
    ok = ok && append_fields(hdf) && append_step_offsets(hdf) &&
         H5Fflush(hdf->file, H5F_SCOPE_GLOBAL) >= 0;
    if (!ok)
        return fail_hdf5(hdf, "write a frame; the disk may be full");
    int64_t steps = (int64_t)++hdf->steps;
    hdf->points += hdf->frame.count;
    if (!talus_hdf_put_attribute(hdf->file, ROOT "/Steps", "NSteps", H5T_NATIVE_INT64, 0, &steps) ||
        H5Fflush(hdf->file, H5F_SCOPE_GLOBAL) < 0)
        return fail_hdf5(hdf, "write the number of frames");
    hdf->crc = sum_frame(hdf->crc, &hdf->frame);
    talus_dir_update_entry(hdf->dir, hdf->entry, hdf->steps, hdf->crc);
    return TALUS_OK;
}

/* ---- a frame from a snapshot ---- */

/* Allocates the values of a field for frame->count points. */
static TalusStatus reserve_field(Frame *frame, int index)
{
    size_t size = (size_t)frame->count * row_bytes(frame->field[index]);
    return TALUS_GROW(frame->data[index], size, 0, "field of a frame");
}

/* Fills the values of a field from the snapshot. */
static TalusStatus fill_field(Frame *frame, int index, const TalusRows *rows,
                              const TalusFramesHead *head, const TalusSnapshot *snapshot)
{
    const TalusField *field = frame->field[index];
    TALUS_TRY(reserve_field(frame, index));
    unsigned char *out = frame->data[index];
    for (int i = 0; i < rows->count; i++)
        out += talus_field_write(field, head, snapshot, rows->row[i], out);
    return TALUS_OK;
}

/* Sets the fields of the frame to those that the snapshot has; fails if an earlier frame of the file has others. */
static TalusStatus choose_fields(Hdf *hdf, const TalusSnapshot *snapshot)
{
    const TalusField *present[FIELDS_MAX];
    int count = 0;
    for (int i = 0; i < talus_fields_of_bodies.count; i++)
        if (talus_field_present(&talus_fields_of_bodies.field[i], snapshot))
            present[count++] = &talus_fields_of_bodies.field[i];
    bool same = count == hdf->frame.fields &&
                memcmp(present, hdf->frame.field, (size_t)count * sizeof *present) == 0;
    if (hdf->steps > 0 && !same)
        return talus_fail_file(hdf->path, TALUS_ERR_ARGUMENT,
                               "the frame at t = %g s holds other fields than the first one",
                               snapshot->time);
    memcpy(hdf->frame.field, present, (size_t)count * sizeof *present);
    hdf->frame.fields = count;
    return TALUS_OK;
}

/* Copies the values of a snapshot to hdf->frame and appends them to the file. */
static TalusStatus add_hdf(void *state, const TalusFramesHead *head, const TalusSnapshot *snapshot)
{
    Hdf *hdf = state;
    TALUS_TRY(talus_rows_collect_bodies(&hdf->rows, head, snapshot));
    TALUS_TRY(choose_fields(hdf, snapshot));
    if (hdf->steps == 0)
        hdf->period = head->period;
    hdf->frame.time = snapshot->time;
    hdf->frame.count = (hsize_t)hdf->rows.count;
    for (int i = 0; i < hdf->frame.fields; i++)
        TALUS_TRY(fill_field(&hdf->frame, i, &hdf->rows, head, snapshot));
    return append_frame(hdf);
}

/* ---- continuation of a file ---- */

/* Sets the fields of the frame to those that the old file has. */
static void find_fields(hid_t old, Frame *frame)
{
    char path[PATH_BYTES];
    frame->fields = 0;
    for (int i = 0; i < talus_fields_of_bodies.count; i++) {
        write_field_path(&talus_fields_of_bodies.field[i], path);
        if (H5Lexists(old, path, H5P_DEFAULT) > 0)
            frame->field[frame->fields++] = &talus_fields_of_bodies.field[i];
    }
}

/* Reads the number of frames of the old file. */
static bool read_steps(hid_t old, int64_t *steps)
{
    hid_t attribute = H5Aopen_by_name(old, ROOT "/Steps", "NSteps", H5P_DEFAULT, H5P_DEFAULT);
    bool ok = attribute >= 0 && H5Aread(attribute, H5T_NATIVE_INT64, steps) >= 0 && *steps >= 0;
    H5Aclose(attribute);
    return ok;
}

/* Reads an attribute of three numbers of the old file; false if it is missing. */
static bool read_period_side(hid_t old, const char *name, double side[3])
{
    hid_t attribute = H5Aopen_by_name(old, ROOT, name, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Aget_space(attribute);
    bool ok = H5Sget_simple_extent_npoints(space) == 3 &&
              H5Aread(attribute, H5T_NATIVE_DOUBLE, side) >= 0;
    H5Sclose(space);
    H5Aclose(attribute);
    return ok;
}

/* Reads the period of the old file; none along an axis where the attributes are missing or equal. */
static void read_period(hid_t old, TalusPeriod *period)
{
    double lo[3], hi[3];
    *period = (TalusPeriod){0};
    if (!read_period_side(old, "period_lo", lo) || !read_period_side(old, "period_hi", hi))
        return;
    period->lo = talus_vec3(lo[0], lo[1], lo[2]);
    period->hi = talus_vec3(hi[0], hi[1], hi[2]);
    for (int k = 0; k < 3; k++)
        period->on[k] = lo[k] < hi[k];
}

static TalusStatus fail_damaged(const Hdf *hdf)
{
    return talus_fail_file(hdf->path, TALUS_ERR_FORMAT,
                           "is not a sound file of frames; remove it to resume");
}

/* Reads frame hdf->steps of the old file, whose points begin at row hdf->points, into hdf->frame. */
static TalusStatus read_frame(Hdf *hdf, hid_t old, double time)
{
    Frame *frame = &hdf->frame;
    int64_t count;
    char path[PATH_BYTES];
    if (!talus_hdf_read_rows(old, ROOT "/NumberOfPoints", H5T_NATIVE_INT64, hdf->steps, 1,
                             &count) ||
        count < 0 || count > INT32_MAX)
        return fail_damaged(hdf);
    frame->time = time;
    frame->count = (hsize_t)count;
    for (int i = 0; i < frame->fields; i++) {
        const TalusField *field = frame->field[i];
        TALUS_TRY(reserve_field(frame, i));
        write_field_path(field, path);
        if (!talus_hdf_read_rows(old, path, hdf5_type(field->type), hdf->points, frame->count,
                                 frame->data[i]))
            return fail_damaged(hdf);
    }
    return TALUS_OK;
}

/* Counts the frame in hdf->frame and adds it to the checksum, without writing it. */
static TalusStatus count_frame(Hdf *hdf)
{
    hdf->crc = sum_frame(hdf->crc, &hdf->frame);
    hdf->steps++;
    hdf->points += hdf->frame.count;
    return TALUS_OK;
}

/* Reads the frames of the old file up to time `limit`, at most `limit_frames`, one by one into hdf->frame, and calls
 * `use` (append_frame or count_frame) for each. `use` must advance hdf->steps and hdf->points. */
static TalusStatus read_frames(Hdf *hdf, hid_t old, double limit, uint64_t limit_frames,
                               TalusStatus (*use)(Hdf *))
{
    int64_t steps;
    if (H5Lexists(old, ROOT, H5P_DEFAULT) <= 0)
        return TALUS_OK; /* the run stopped before its first frame */
    if (!read_steps(old, &steps))
        return fail_damaged(hdf);
    find_fields(old, &hdf->frame);
    read_period(old, &hdf->period);
    for (int64_t i = 0; i < steps && (uint64_t)i < limit_frames; i++) {
        double time;
        if (!talus_hdf_read_rows(old, ROOT "/Steps/Values", H5T_NATIVE_DOUBLE, (hsize_t)i, 1,
                                 &time))
            return fail_damaged(hdf);
        if (!(time <= limit))
            break;
        TALUS_TRY(read_frame(hdf, old, time));
        TALUS_TRY(use(hdf));
    }
    return TALUS_OK;
}

/* Opens the file at hdf->path for reading. */
static TalusStatus open_old_file(const Hdf *hdf, hid_t *old)
{
    hid_t access = talus_hdf_access_properties();
    *old = H5Fopen(hdf->path, H5F_ACC_RDONLY, access);
    H5Pclose(access);
    return *old >= 0 ? TALUS_OK : fail_damaged(hdf);
}

/* Copies the frames up to `time` to a new file, which stays open as hdf->file, and renames it over the old one. */
static TalusStatus continue_file(Hdf *hdf, double time)
{
    hid_t old;
    TALUS_TRY(open_old_file(hdf, &old));
    TalusStatus status = talus_dir_remove_file(hdf->dir, FRESH_NAME);
    TALUS_THEN(status, create_file(hdf, FRESH_NAME));
    TALUS_THEN(status, read_frames(hdf, old, time, UINT64_MAX, append_frame));
    H5Fclose(old);
    TALUS_THEN(status, talus_dir_sync_file(hdf->dir, FRESH_NAME));
    if (status == TALUS_OK && renameat(hdf->dir->fd, FRESH_NAME, hdf->dir->fd, FILE_NAME) != 0)
        status = fail_hdf5(hdf, "put the resumed file in its place");
    if (status != TALUS_OK)
        (void)talus_dir_remove_file(hdf->dir, FRESH_NAME);
    return status;
}

/* ---- the format ---- */

/* Stores HDF5's error handler and replaces it by none, so that HDF5 prints no errors. */
static void silence_hdf5(Hdf *hdf)
{
    H5Eget_auto2(H5E_DEFAULT, &hdf->report, &hdf->report_to);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

/* HDF5 opens files by path only. Therefore the path is checked before and after: it must lead to the open directory
 * `dir`, and the name there to a regular file; before, the file may be missing. */
static TalusStatus open_hdf(void *state, TalusDir *dir, bool resume, double time)
{
    Hdf *hdf = state;
    hdf->file = -1;
    hdf->second_fd = -1;
    hdf->dir = dir;
    silence_hdf5(hdf);
    TALUS_TRY(talus_path_format(&hdf->path, "%s/" FILE_NAME, dir->path));
    TALUS_TRY(talus_dir_expect_file(dir, FILE_NAME));
    TALUS_TRY(talus_dir_check(dir));
    TALUS_TRY(
        talus_dir_add_entry(dir, FILE_NAME, (TalusEntry){.kind = TALUS_ENTRY_FRAMES}, &hdf->entry));
    TALUS_TRY(resume && talus_dir_has_name(dir, FILE_NAME) ? continue_file(hdf, time)
                                                           : create_file(hdf, FILE_NAME));
    TALUS_TRY(talus_dir_check(dir));
    return talus_dir_open_file(dir, FILE_NAME, O_RDONLY, &hdf->second_fd);
}

/* Fails if the name no longer leads to the open file; else syncs the file, to which every frame is flushed. */
static TalusStatus sync_hdf(void *state)
{
    Hdf *hdf = state;
    TALUS_TRY(talus_dir_check_file(hdf->dir, FILE_NAME, hdf->second_fd));
    return talus_dir_sync_file(hdf->dir, FILE_NAME);
}

/* Restores HDF5's error handler and frees all that `hdf` points to; does not close files. */
static void free_hdf(Hdf *hdf)
{
    H5Eclear2(H5E_DEFAULT);
    H5Eset_auto2(H5E_DEFAULT, hdf->report, hdf->report_to);
    for (int i = 0; i < FIELDS_MAX; i++)
        talus_release(hdf->frame.data[i]);
    talus_rows_free(&hdf->rows);
    TALUS_RELEASE(hdf->indices, hdf->path);
}

static TalusStatus close_hdf(void *state)
{
    Hdf *hdf = state;
    TalusStatus status = TALUS_OK;
    if (hdf->second_fd >= 0)
        close(hdf->second_fd);
    if (hdf->file >= 0 && H5Fclose(hdf->file) < 0)
        status = fail_hdf5(hdf, "close the file; the disk may be full");
    free_hdf(hdf);
    return status;
}

static TalusStatus remove_hdf(TalusDir *dir)
{
    return talus_dir_remove_file(dir, FILE_NAME);
}

/* Reads the first entry->size frames and computes the checksum of their values. */
static TalusStatus checksum_hdf(const TalusDir *dir, const TalusEntry *entry, uint32_t *crc)
{
    Hdf hdf = {.file = -1};
    hid_t old = -1;
    *crc = 0;
    silence_hdf5(&hdf);
    TalusStatus status = talus_path_format(&hdf.path, "%s/" FILE_NAME, dir->path);
    TALUS_THEN(status, open_old_file(&hdf, &old));
    TALUS_THEN(status, read_frames(&hdf, old, HUGE_VAL, entry->size, count_frame));
    if (status == TALUS_OK && hdf.steps != entry->size)
        status = fail_damaged(&hdf);
    if (old >= 0)
        H5Fclose(old);
    *crc = hdf.crc;
    free_hdf(&hdf);
    return status;
}

const TalusFormat talus_format_vtkhdf = {
    .name = "vtkhdf",
    .fields =
        TALUS_SNAPSHOT_VELOCITY | TALUS_SNAPSHOT_SPIN | TALUS_SNAPSHOT_FORCE | TALUS_SNAPSHOT_MASS,
    .state_size = sizeof(Hdf),
    .open = open_hdf,
    .add = add_hdf,
    .sync = sync_hdf,
    .close = close_hdf,
    .remove = remove_hdf,
    .checksum = checksum_hdf,
};

void talus_hdf5_skip_exit(void)
{
    H5dont_atexit();
}

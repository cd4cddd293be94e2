/* bodies.vtkhdf, read back through HDF5: the groups, datasets and offsets that ParaView 5.12 and
 * later expect of temporal PolyData, and the values in them. */
#include "support/test.h"

#if !defined(TALUS_HDF5)

TEST(needs_hdf5)
{
    SKIP("this build has no HDF5");
}

int main(void)
{
    RUN(needs_hdf5);
    return talus_test_result();
}

#else

#include "formats_world.h"

#include <hdf5.h>

enum { FRAMES = 6, BODIES = 10, ROOM = 1024 };

/* Reads a dataset that must have these dimensions (columns 0: a list), in a type of `size` bytes. */
static bool read_set(hid_t file, const char *path, hid_t stored, hid_t type, int rows, int columns,
                     void *out)
{
    hsize_t dims[2] = {0, 0}, most[2] = {0, 0};
    hid_t set = H5Dopen2(file, path, H5P_DEFAULT);
    if (!CHECK(set >= 0)) {
        printf("  %s is missing\n", path);
        return false;
    }
    hid_t space = H5Dget_space(set), is = H5Dget_type(set);
    int rank = H5Sget_simple_extent_dims(space, dims, most);
    bool ok = CHECK_INT(rank, columns ? 2 : 1) && CHECK_INT((long long)dims[0], rows) &&
              CHECK_INT((long long)dims[1], columns) && CHECK(most[0] == H5S_UNLIMITED) &&
              CHECK(H5Tequal(is, stored) > 0) &&
              CHECK(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) >= 0);
    if (!ok)
        printf("  in %s\n", path);
    H5Tclose(is);
    H5Sclose(space);
    H5Dclose(set);
    return ok;
}

static bool read_numbers(hid_t file, const char *path, int rows, int columns, int64_t *out)
{
    return read_set(file, path, H5T_STD_I64LE, H5T_NATIVE_INT64, rows, columns, out);
}

static int64_t attribute(hid_t file, const char *path, const char *name)
{
    int64_t value[2] = {-1, -1};
    hid_t at = H5Aopen_by_name(file, path, name, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(at >= 0 && H5Aread(at, H5T_NATIVE_INT64, value) >= 0);
    H5Aclose(at);
    return value[0];
}

TEST(head_says_what_it_is)
{
    write_whole("vtkhdf", "whole");
    hid_t file = H5Fopen("whole/bodies.vtkhdf", H5F_ACC_RDONLY, H5P_DEFAULT);
    REQUIRE(file >= 0);
    char type[16] = "";
    hid_t at = H5Aopen_by_name(file, "/VTKHDF", "Type", H5P_DEFAULT, H5P_DEFAULT);
    hid_t is = H5Aget_type(at);
    CHECK(H5Tget_class(is) == H5T_STRING && H5Tis_variable_str(is) == 0);
    CHECK_INT((long long)H5Tget_size(is), 8);
    CHECK(H5Aread(at, is, type) >= 0);
    CHECK_STR(type, "PolyData");
    H5Tclose(is);
    H5Aclose(at);
    CHECK_INT(attribute(file, "/VTKHDF", "Version"), 2);
    CHECK_INT(attribute(file, "/VTKHDF/Steps", "NSteps"), FRAMES);
    H5Fclose(file);
}

/* ---- periods ---- */

static void add_periodic(TalusFormatWriter *writer, const TalusWorld *world)
{
    TalusSnapshot snapshot = {0};
    TalusHeadStore head = {0};
    CHECK_OK(talus_frames_head_of_world(world, NULL, NULL, &head));
    head.head.period = (TalusPeriod){{-1.5, 0, 0}, {2.5, 0, 7}, {1, 0, 1}, 0.0};
    CHECK_OK(talus_snapshot_take(&snapshot, world, talus_format_fields(writer)));
    CHECK_OK(talus_format_add_frame(writer, &head.head, &snapshot));
    talus_frames_head_clear(&head);
    talus_snapshot_free(&snapshot);
}

static void check_side(hid_t file, const char *name, double x, double y, double z)
{
    double side[3] = {-1, -1, -1};
    hid_t at = H5Aopen_by_name(file, "/VTKHDF", name, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(at >= 0 && H5Aread(at, H5T_NATIVE_DOUBLE, side) >= 0);
    CHECK(side[0] == x && side[1] == y && side[2] == z);
    H5Aclose(at);
}

/* In a resumed file too, whose first frame is copied; a world without has none. */
TEST(periods_are_attributes)
{
    TalusFormatWriter *writer = NULL;
    TalusWorld *world = make_world();
    REQUIRE_OK(talus_format_open("vtkhdf", "period", false, 0.0, &writer));
    add_periodic(writer, world);
    CHECK_OK(talus_format_close(writer));
    REQUIRE_OK(talus_format_open("vtkhdf", "period", true, 0.0, &writer));
    CHECK_OK(talus_world_step(world, NULL));
    add_periodic(writer, world);
    CHECK_OK(talus_format_close(writer));
    talus_world_destroy(world);
    hid_t file = H5Fopen("period/bodies.vtkhdf", H5F_ACC_RDONLY, H5P_DEFAULT);
    REQUIRE(file >= 0);
    CHECK_INT(attribute(file, "/VTKHDF/Steps", "NSteps"), 2);
    check_side(file, "period_lo", -1.5, 0.0, 0.0);
    check_side(file, "period_hi", 2.5, 0.0, 7.0);
    H5Fclose(file);
    file = H5Fopen("whole/bodies.vtkhdf", H5F_ACC_RDONLY, H5P_DEFAULT);
    CHECK(H5Aexists_by_name(file, "/VTKHDF", "period_lo", H5P_DEFAULT) == 0);
    H5Fclose(file);
}

TEST(steps_say_where_frames_begin)
{
    static int64_t value[ROOM];
    double times[FRAMES];
    static const char *const zero[] = {"Lines", "Polygons", "Strips"};
    hid_t file = H5Fopen("whole/bodies.vtkhdf", H5F_ACC_RDONLY, H5P_DEFAULT);
    REQUIRE(file >= 0);
    CHECK(read_set(file, "/VTKHDF/Steps/Values", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, FRAMES, 0,
                   times));
    for (int i = 0; i < FRAMES; i++)
        CHECK_NEAR(times[i], 4.0 * i / 128.0, 1e-15);
    CHECK(read_numbers(file, "/VTKHDF/Steps/PartOffsets", FRAMES, 0, value));
    for (int i = 0; i < FRAMES; i++)
        CHECK_INT(value[i], i);
    CHECK(read_numbers(file, "/VTKHDF/Steps/NumberOfParts", FRAMES, 0, value));
    for (int i = 0; i < FRAMES; i++)
        CHECK_INT(value[i], 1);
    static const char *const by_point[] = {
        "/VTKHDF/Steps/PointOffsets", "/VTKHDF/Steps/PointDataOffsets/radius",
        "/VTKHDF/Steps/PointDataOffsets/velocity", "/VTKHDF/Steps/PointDataOffsets/body_id"};
    for (int k = 0; k < 4; k++) {
        CHECK(read_numbers(file, by_point[k], FRAMES, 0, value));
        for (int i = 0; i < FRAMES; i++)
            CHECK_INT(value[i], BODIES * i);
    }
    static const char *const by_topology[] = {"/VTKHDF/Steps/CellOffsets",
                                              "/VTKHDF/Steps/ConnectivityIdOffsets"};
    for (int k = 0; k < 2; k++) {
        CHECK(read_numbers(file, by_topology[k], FRAMES, 4, value));
        for (int i = 0; i < 4 * FRAMES; i++)
            CHECK_INT(value[i], i % 4 == 0 ? BODIES * (i / 4) : 0);
    }
    for (int k = 0; k < 3; k++) {
        char path[64];
        snprintf(path, sizeof path, "/VTKHDF/%s/NumberOfCells", zero[k]);
        CHECK(read_numbers(file, path, FRAMES, 0, value) && value[FRAMES - 1] == 0);
        snprintf(path, sizeof path, "/VTKHDF/%s/NumberOfConnectivityIds", zero[k]);
        CHECK(read_numbers(file, path, FRAMES, 0, value) && value[FRAMES - 1] == 0);
        snprintf(path, sizeof path, "/VTKHDF/%s/Connectivity", zero[k]);
        CHECK(read_numbers(file, path, 0, 0, value));
        snprintf(path, sizeof path, "/VTKHDF/%s/Offsets", zero[k]);
        CHECK(read_numbers(file, path, FRAMES, 0, value) && value[FRAMES - 1] == 0);
    }
    H5Fclose(file);
}

/* A part has one vertex per point, and an entry more than vertices in Offsets. */
TEST(vertices_are_the_points)
{
    static int64_t value[ROOM];
    hid_t file = H5Fopen("whole/bodies.vtkhdf", H5F_ACC_RDONLY, H5P_DEFAULT);
    REQUIRE(file >= 0);
    static const char *const counts[] = {"/VTKHDF/NumberOfPoints", "/VTKHDF/Vertices/NumberOfCells",
                                         "/VTKHDF/Vertices/NumberOfConnectivityIds"};
    for (int k = 0; k < 3; k++) {
        CHECK(read_numbers(file, counts[k], FRAMES, 0, value));
        for (int i = 0; i < FRAMES; i++)
            CHECK_INT(value[i], BODIES);
    }
    CHECK(read_numbers(file, "/VTKHDF/Vertices/Connectivity", FRAMES * BODIES, 0, value));
    for (int i = 0; i < FRAMES * BODIES; i++)
        CHECK_INT(value[i], i % BODIES);
    CHECK(read_numbers(file, "/VTKHDF/Vertices/Offsets", FRAMES * (BODIES + 1), 0, value));
    for (int i = 0; i < FRAMES * (BODIES + 1); i++)
        CHECK_INT(value[i], i % (BODIES + 1));
    H5Fclose(file);
}

TEST(values_are_the_bodies)
{
    static double at[3 * FRAMES * BODIES];
    static float velocity[3 * FRAMES * BODIES], radius[FRAMES * BODIES];
    static int64_t id[FRAMES * BODIES];
    static int fixed[FRAMES * BODIES];
    TalusSnapshot s = {0};
    TalusWorld *world = make_world();
    for (int i = 0; i < 20; i++)
        CHECK_OK(talus_world_step(world, NULL));
    REQUIRE_OK(talus_snapshot_take(&s, world, TALUS_SNAPSHOT_VELOCITY));
    hid_t file = H5Fopen("whole/bodies.vtkhdf", H5F_ACC_RDONLY, H5P_DEFAULT);
    REQUIRE(file >= 0);
    int n = FRAMES * BODIES, last = n - BODIES;
    CHECK(read_set(file, "/VTKHDF/Points", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, n, 3, at));
    CHECK(read_set(file, "/VTKHDF/PointData/velocity", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, n, 3,
                   velocity));
    CHECK(
        read_set(file, "/VTKHDF/PointData/radius", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, n, 0, radius));
    CHECK(read_numbers(file, "/VTKHDF/PointData/body_id", n, 0, id));
    CHECK(read_set(file, "/VTKHDF/PointData/fixed", H5T_STD_U8LE, H5T_NATIVE_INT, n, 0, fixed));
    for (int i = 0; i < BODIES; i++) {
        int row = i + BLOCK_BODY;
        CHECK(memcmp(&at[3 * (last + i)], &s.position[row], sizeof s.position[row]) == 0);
        CHECK(velocity[3 * (last + i) + 2] == (float)s.velocity[row].z);
        CHECK(radius[last + i] == (float)s.radius[row] && id[last + i] == FIRST_ID + row);
        CHECK_INT(fixed[last + i], row == BLOCK_BODY);
    }
    H5Fclose(file);
    talus_snapshot_free(&s);
    talus_world_destroy(world);
}

/* The kept frames are written anew by the same calls, so even the bytes are equal. */
TEST(resumed_file_equals_uninterrupted)
{
    char *a = NULL, *b = NULL;
    size_t size_a = 0, size_b = 0;
    write_in_parts("vtkhdf", "parts");
    REQUIRE_OK(talus_read_file("whole/bodies.vtkhdf", 1 << 26, &a, &size_a));
    REQUIRE_OK(talus_read_file("parts/bodies.vtkhdf", 1 << 26, &b, &size_b));
    CHECK_INT((long long)size_a, (long long)size_b);
    CHECK(size_a == size_b && memcmp(a, b, size_a) == 0);
    CHECK(!exists("parts/bodies.vtkhdf.tmp"));
    talus_release(a);
    talus_release(b);
}

/* What a killed process leaves can be opened after every frame, and gone on with. */
TEST(killed_run_leaves_whole_frames)
{
    TalusFormatWriter *writer;
    TalusWorld *world = make_world();
    REQUIRE_OK(talus_format_open("vtkhdf", "killed", false, 0.0, &writer));
    for (int i = 0; i < 3; i++) {
        char *bytes;
        size_t size;
        add_frame(writer, world, talus_format_fields(writer));
        REQUIRE_OK(talus_read_file("killed/bodies.vtkhdf", 1 << 26, &bytes, &size));
        TalusFile *copy;
        REQUIRE_OK(talus_file_create("killed/copy.vtkhdf", &copy));
        talus_file_put(copy, bytes, size);
        REQUIRE_OK(talus_file_commit(copy));
        talus_release(bytes);
        hid_t file = H5Fopen("killed/copy.vtkhdf", H5F_ACC_RDONLY, H5P_DEFAULT);
        REQUIRE(file >= 0);
        CHECK_INT(attribute(file, "/VTKHDF/Steps", "NSteps"), i + 1);
        H5Fclose(file);
        CHECK_OK(talus_world_step(world, NULL));
    }
    CHECK_OK(talus_format_close(writer));
    CHECK_OK(talus_make_directory("again"));
    CHECK(rename("killed/copy.vtkhdf", "again/bodies.vtkhdf") == 0);
    REQUIRE_OK(talus_format_open("vtkhdf", "again", true, 1.0 / 128.0, &writer));
    add_frame(writer, world, talus_format_fields(writer));
    CHECK_OK(talus_format_close(writer));
    hid_t file = H5Fopen("again/bodies.vtkhdf", H5F_ACC_RDONLY, H5P_DEFAULT);
    REQUIRE(file >= 0);
    CHECK_INT(attribute(file, "/VTKHDF/Steps", "NSteps"), 3);
    H5Fclose(file);
    talus_world_destroy(world);
}

TEST(wrong_frames_and_files_are_refused)
{
    TalusFormatWriter *writer;
    TalusSnapshot lean = {0};
    TalusHeadStore head = {0};
    TalusWorld *world = make_world();
    REQUIRE_OK(talus_format_open("vtkhdf", "wrong", false, 0.0, &writer));
    add_frame(writer, world, TALUS_SNAPSHOT_VELOCITY);
    REQUIRE_OK(talus_frames_head_of_world(world, NULL, NULL, &head));
    REQUIRE_OK(talus_snapshot_take(&lean, world, TALUS_SNAPSHOT_SPEED));
    CHECK(talus_format_add_frame(writer, &head.head, &lean) == TALUS_ERR_ARGUMENT);
    CHECK_STR(talus_error(),
              "wrong/bodies.vtkhdf: the frame at t = 0 s holds other fields than the first one");
    CHECK_OK(talus_format_close(writer));
    TalusFile *file;
    REQUIRE_OK(talus_file_create("wrong/bodies.vtkhdf", &file));
    talus_file_print(file, "not HDF5 at all");
    REQUIRE_OK(talus_file_commit(file));
    CHECK(talus_format_open("vtkhdf", "wrong", true, 0.0, &writer) == TALUS_ERR_FORMAT);
    CHECK_STR(talus_error(),
              "wrong/bodies.vtkhdf: is not a sound file of frames; remove it to resume");
    talus_frames_head_clear(&head);
    talus_snapshot_free(&lean);
    talus_world_destroy(world);
}

int main(void)
{
    RUN(head_says_what_it_is);
    RUN(periods_are_attributes);
    RUN(steps_say_where_frames_begin);
    RUN(vertices_are_the_points);
    RUN(values_are_the_bodies);
    RUN(resumed_file_equals_uninterrupted);
    RUN(killed_run_leaves_whole_frames);
    RUN(wrong_frames_and_files_are_refused);
    return talus_test_result();
}

#endif

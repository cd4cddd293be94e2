/* Frames for other programs: what stands in them, what is left out, how they are cut back. */
#include "formats_world.h"

#include "io/formats/fields.h"
#include "io/formats/frame_files.h"
#include "io/formats/vtp_surface.h"

#include <signal.h>
#include <sys/resource.h>

static char *read_text(const char *path)
{
    char *text = NULL;
    size_t size;
    CHECK_OK(talus_read_file(path, 1 << 26, &text, &size));
    return text;
}

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static void put_file(const char *path, const char *text)
{
    TalusFile *file = NULL;
    CHECK_OK(talus_file_create(path, &file));
    talus_file_put(file, text, strlen(text));
    CHECK_OK(talus_file_commit(file));
}

/* ---- the table ---- */

TEST(table_tells_what_there_is)
{
    TalusFormatWriter *writer;
    for (int i = 0; i < talus_format_count(); i++)
        CHECK_INT(talus_format_find(talus_format_name(i)), i);
    CHECK_INT(talus_format_find("vtk"), -1);
    CHECK(talus_format_open("vtk", "table", false, 0.0, &writer) == TALUS_ERR_ARGUMENT);
    CHECK_STR(talus_error(),
              "vtk: no such format of frames; there are: vtp, vtkhdf, lammps, csv, bulk");
    CHECK(!exists("table"));
    const char *missing = talus_format_missing(talus_format_find("vtkhdf"));
    if (missing) {
        CHECK_STR(missing, "HDF5 (Debian: libhdf5-dev)");
        CHECK(talus_format_open("vtkhdf", "table", false, 0.0, &writer) == TALUS_ERR_UNSUPPORTED);
    }
}

/* ---- whole runs and resumed ones ---- */

static void check_same_file(const char *name)
{
    char a[256], b[256], *bytes_a = NULL, *bytes_b = NULL;
    size_t size_a = 0, size_b = 0;
    snprintf(a, sizeof a, "whole/%s", name);
    snprintf(b, sizeof b, "parts/%s", name);
    CHECK_OK(talus_read_file(a, 1 << 26, &bytes_a, &size_a));
    CHECK_OK(talus_read_file(b, 1 << 26, &bytes_b, &size_b));
    if (!CHECK(size_a == size_b && bytes_a && bytes_b && memcmp(bytes_a, bytes_b, size_a) == 0))
        printf("  %s differs\n", name);
    talus_release(bytes_a);
    talus_release(bytes_b);
}

static void check_same_frames(const char *name, const char *extension, int count)
{
    char path[256];
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "frames/%s-%06d.%s", name, i, extension);
        check_same_file(path);
    }
    snprintf(path, sizeof path, "parts/frames/%s-%06d.%s", name, count, extension);
    CHECK(!exists(path));
}

TEST(resumed_files_equal_uninterrupted)
{
    static const char *const formats[] = {"vtp", "lammps", "csv"};
    static const char *const series[] = {"bodies", "contacts", "chains", "shapes"};
    for (int i = 0; i < 3; i++) {
        write_whole(formats[i], "whole");
        write_in_parts(formats[i], "parts");
    }
    for (int i = 0; i < 4; i++) {
        char path[64];
        snprintf(path, sizeof path, "%s.pvd", series[i]);
        check_same_file(path);
        check_same_frames(series[i], "vtp", 6);
    }
    check_same_file("walls.pvd");
    check_same_frames("walls", "vtp", 1);
    check_same_file("show_in_paraview.py");
    check_same_file("bodies.dump");
    check_same_file("frames.csv");
    check_same_frames("bodies", "csv", 6);
    check_same_frames("contacts", "csv", 6);
}

/* ---- .vtp ---- */

static int base64_value(char c)
{
    const char *alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(alphabet, c) : NULL;
    return at ? (int)(at - alphabet) : -1;
}

static size_t decode(const char *text, unsigned char *out, size_t room)
{
    size_t n = 0;
    uint32_t bits = 0;
    int held = 0;
    for (int v; (v = base64_value(*text)) >= 0 && n < room; text++) {
        bits = bits << 6 | (uint32_t)v;
        held += 6;
        if (held >= 8)
            out[n++] = (unsigned char)(bits >> (held -= 8));
    }
    return n;
}

/* The bytes of an array that is in the file once; 0 if it is not there as announced. */
static size_t array_bytes(const char *vtp, const char *type, const char *name, void *out,
                          size_t room)
{
    static unsigned char bytes[1 << 16];
    uint64_t announced;
    char mark[128];
    snprintf(mark, sizeof mark, "type=\"%s\" Name=\"%s\"", type, name);
    const char *p = strstr(vtp, mark);
    p = p ? strchr(p, '\n') : NULL;
    if (!p)
        return 0;
    size_t n = decode(p + 1, bytes, sizeof bytes);
    memcpy(&announced, bytes, sizeof announced);
    if (n != announced + sizeof announced || announced > room)
        return 0;
    memcpy(out, bytes + sizeof announced, announced);
    return announced;
}

enum { BODIES = 10 }; /* in the files: all but the plane and the cup */

/* One frame after `steps` steps; the world is the caller's to destroy. */
static TalusWorld *write_one(const char *dir, int steps, unsigned fields, TalusSnapshot *snapshot)
{
    TalusFormatWriter *writer = NULL;
    TalusWorld *world = make_world();
    for (int i = 0; i < steps; i++)
        CHECK_OK(talus_world_step(world, NULL));
    CHECK_OK(talus_format_open("vtp", dir, false, 0.0, &writer));
    add_frame(writer, world, fields);
    CHECK_OK(talus_format_close(writer));
    CHECK_OK(talus_snapshot_take(snapshot, world, fields));
    return world;
}

TEST(vtp_holds_the_bodies)
{
    TalusSnapshot s = {0};
    TalusWorld *world = write_one("one", 3, TALUS_SNAPSHOT_ALL, &s);
    TalusVec3 at[BODIES];
    float radius[BODIES], velocity[3 * BODIES], orientation[4 * BODIES], mass[BODIES];
    int32_t tag[BODIES], offsets[BODIES];
    int64_t id[BODIES];
    uint8_t kind[BODIES], fixed[BODIES];
    char *text = read_text("one/frames/bodies-000000.vtp");
    CHECK(strstr(text, "<Piece NumberOfPoints=\"10\" NumberOfVerts=\"10\" ") != NULL);
    CHECK(strstr(text, "header_type=\"UInt64\"") != NULL);
    CHECK(strstr(text, "appended") == NULL && strstr(text, "compressor") == NULL);
    CHECK_INT(array_bytes(text, "Float64", "Points", at, sizeof at), sizeof at);
    CHECK(memcmp(at, s.position + BLOCK_BODY, sizeof at) == 0);
    CHECK_INT(array_bytes(text, "Float32", "radius", radius, sizeof radius), sizeof radius);
    CHECK_INT(array_bytes(text, "Float32", "mass", mass, sizeof mass), sizeof mass);
    CHECK_INT(array_bytes(text, "Float32", "velocity", velocity, sizeof velocity), sizeof velocity);
    CHECK_INT(array_bytes(text, "Float32", "orientation", orientation, sizeof orientation),
              sizeof orientation);
    CHECK_INT(array_bytes(text, "Int32", "tag", tag, sizeof tag), sizeof tag);
    CHECK_INT(array_bytes(text, "Int32", "offsets", offsets, sizeof offsets), sizeof offsets);
    CHECK_INT(array_bytes(text, "Int64", "body_id", id, sizeof id), sizeof id);
    CHECK_INT(array_bytes(text, "UInt8", "shape_kind", kind, sizeof kind), sizeof kind);
    CHECK_INT(array_bytes(text, "UInt8", "fixed", fixed, sizeof fixed), sizeof fixed);
    for (int i = 0; i < BODIES; i++) {
        int row = i + BLOCK_BODY;
        CHECK(radius[i] == (float)s.radius[row] && mass[i] == (float)s.mass[row]);
        CHECK(velocity[3 * i + 2] == (float)s.velocity[row].z);
        CHECK(orientation[4 * i] == (float)s.orientation[row].w);
        CHECK(orientation[4 * i + 3] == (float)s.orientation[row].z);
        CHECK(tag[i] == s.tag[row] && offsets[i] == i + 1 && id[i] == FIRST_ID + row);
        CHECK(fixed[i] == (row == BLOCK_BODY));
    }
    CHECK(kind[0] == TALUS_SHAPE_BOX && kind[1] == TALUS_SHAPE_SPHERE &&
          kind[BODIES - 1] == TALUS_SHAPE_CYLINDER);
    talus_release(text);
    talus_snapshot_free(&s);
    talus_world_destroy(world);
}

TEST(vtp_holds_contacts_and_chains)
{
    enum { ROOM = 64 };
    TalusSnapshot s = {0};
    TalusWorld *world = write_one("one", 3, TALUS_SNAPSHOT_ALL, &s);
    TalusVec3 at[3 * ROOM];
    int64_t id1[ROOM], id2[ROOM];
    float force[3 * ROOM], normal_force[3 * ROOM], gap[ROOM];
    int32_t offset[ROOM];
    size_t n = (size_t)s.contact_count;
    int loaded = 0, points = 0;
    REQUIRE(n > SPHERES && n <= ROOM);
    char *text = read_text("one/frames/contacts-000000.vtp");
    CHECK_INT(array_bytes(text, "Float64", "Points", at, sizeof at), n * sizeof *at);
    CHECK_INT(array_bytes(text, "Int64", "id1", id1, sizeof id1), n * sizeof *id1);
    CHECK_INT(array_bytes(text, "Int64", "id2", id2, sizeof id2), n * sizeof *id2);
    CHECK_INT(array_bytes(text, "Float32", "force", force, sizeof force), 3 * n * sizeof *force);
    CHECK_INT(array_bytes(text, "Float32", "gap", gap, sizeof gap), n * sizeof *gap);
    for (size_t i = 0; i < n; i++) {
        const TalusContactState *c = &s.contact[i];
        CHECK(memcmp(&at[i], &c->point, sizeof *at) == 0);
        CHECK(id1[i] == (int64_t)c->a.number && id2[i] == (int64_t)c->b.number &&
              gap[i] == (float)c->gap);
        CHECK_NEAR(force[3 * i + 2], c->impulse.z * 128.0, 1e-6 * fabs(c->impulse.z * 128.0));
        double normal = talus_dot(c->impulse, c->normal);
        loaded += normal > 0.0;
        points += normal > 0.0 ? s.fixed[s.contact_b[i]] ? 2 : 3 : 0;
    }
    talus_release(text);

    text = read_text("one/frames/chains-000000.vtp");
    REQUIRE(loaded > 0 && loaded < (int)n); /* some contacts carry nothing and are no chains */
    CHECK_INT(array_bytes(text, "Float64", "Points", at, sizeof at), (size_t)points * sizeof *at);
    CHECK_INT(array_bytes(text, "Int32", "offsets", offset, sizeof offset),
              (size_t)loaded * sizeof *offset);
    CHECK_INT(offset[loaded - 1], points);
    CHECK_INT(array_bytes(text, "Float32", "normal_force", normal_force, sizeof normal_force),
              (size_t)points * sizeof *normal_force);
    for (int i = 0; i < points; i++)
        CHECK(normal_force[i] > 0.0F);
    /* the first contact is of the lowest two spheres: centre, contact point, centre */
    CHECK(s.contact_a[0] == FIRST_SPHERE && s.contact_b[0] == FIRST_SPHERE + 1 && offset[0] == 3);
    CHECK(memcmp(&at[0], &s.position[FIRST_SPHERE], sizeof *at) == 0);
    CHECK(memcmp(&at[2], &s.position[FIRST_SPHERE + 1], sizeof *at) == 0);
    talus_release(text);
    talus_snapshot_free(&s);
    talus_world_destroy(world);
}

static void check_extent(const double *points, int count, int axis, double lo, double hi)
{
    double least = INFINITY, most = -INFINITY;
    for (int i = 0; i < count; i++) {
        least = fmin(least, points[3 * i + axis]);
        most = fmax(most, points[3 * i + axis]);
    }
    CHECK_NEAR(least, lo, 1e-12);
    CHECK_NEAR(most, hi, 1e-12);
}

/* The box and the cylinder lie still on the floor at the start; shapes tell their true extents. */
TEST(vtp_holds_true_surfaces)
{
    static double points[1 << 12];
    static int64_t id[1 << 10];
    static int32_t corner[1 << 12];
    TalusSnapshot s = {0};
    TalusWorld *world = write_one("one", 0, TALUS_SNAPSHOT_ALL, &s);
    char *text = read_text("one/frames/shapes-000000.vtp");
    int count = (int)(array_bytes(text, "Float64", "Points", points, sizeof points) / 24);
    CHECK(count > 24);
    check_extent(points, count, 0, 2.9, 5.25);
    check_extent(points, count, 1, -0.25, 0.25);
    check_extent(points, count, 2, 0.0, 1.0);
    check_extent(points, 24, 2, 0.0, 0.6); /* the box comes first */
    size_t triangles = array_bytes(text, "Int64", "body_id", id, sizeof id) / sizeof *id;
    REQUIRE(triangles > 12);
    CHECK(id[0] == FIRST_ID + FIRST_SPHERE + SPHERES && id[triangles - 1] == id[0] + 1);
    CHECK_INT(array_bytes(text, "Int32", "connectivity", corner, sizeof corner),
              3 * triangles * sizeof *corner);
    for (size_t i = 0; i < 3 * triangles; i++) /* the box has 24 vertices, the others follow */
        CHECK(corner[i] >= (id[i / 3] == id[0] ? 0 : 24) &&
              corner[i] < (id[i / 3] == id[0] ? 24 : count));
    CHECK(strstr(text, "Name=\"velocity\"") && !strstr(text, "Name=\"radius\""));
    talus_release(text);

    text = read_text("one/frames/walls-000000.vtp");
    CHECK(strstr(text, "Name=\"Normals\"") && strstr(text, "Name=\"material_id\""));
    CHECK(!strstr(text, "Name=\"velocity\"") && !strstr(text, "Name=\"contact_force\""));
    talus_release(text);
    talus_snapshot_free(&s);
    talus_world_destroy(world);
}

/* The message tells which of the two counts is too large. */
TEST(surfaces_beyond_the_format_are_refused)
{
    TalusMesh mesh = {.vertex_count = 3, .triangle_count = 1 << 30};
    TalusSurfacePart part = {0};
    TalusVtpSurface surface = {.mesh = &mesh, .mesh_count = 1, .part = &part, .part_count = 1};
    TalusFramesHead head = {0};
    TalusSnapshot snapshot = {0};
    TalusFile *file;
    REQUIRE_OK(talus_file_create("large.vtp", &file));
    CHECK(talus_vtp_write_surface(&surface, file, &head, &snapshot, 0, false) ==
          TALUS_ERR_UNSUPPORTED);
    CHECK_STR(talus_error(), "the surfaces of the bodies have 3 points and 1073741824 triangles; a "
                             "frame in .vtp holds at most 2147483647 and 715827882");
    CHECK(!exists("large.vtp"));
}

/* Walls are written again only after one has gone; the key tells even a resumed writer. */
TEST(walls_are_written_when_they_change)
{
    TalusFormatWriter *writer;
    TalusWorld *world = make_world();
    TalusBodyId block = {FIRST_ID + BLOCK_BODY};
    REQUIRE_OK(talus_format_open("vtp", "walls", false, 0.0, &writer));
    add_frame(writer, world, TALUS_SNAPSHOT_VELOCITY);
    run_steps(writer, world, 4);
    CHECK(!exists("walls/frames/walls-000001.vtp"));
    CHECK_OK(talus_format_close(writer));
    REQUIRE_OK(talus_format_open("vtp", "walls", true, talus_world_time(world), &writer));
    run_steps(writer, world, 4);
    CHECK(!exists("walls/frames/walls-000001.vtp"));
    CHECK_OK(talus_world_remove_body(world, block));
    run_steps(writer, world, 8);
    CHECK(exists("walls/frames/walls-000001.vtp"));
    CHECK(!exists("walls/frames/walls-000002.vtp"));
    CHECK_OK(talus_format_close(writer));
    char *text = read_text("walls/walls.pvd");
    CHECK(strstr(text, "timestep=\"0\" part=\"0\" file=\"frames/walls-000000.vtp\"") != NULL);
    CHECK(strstr(text, "timestep=\"0.0625\" part=\"0\" file=\"frames/walls-000000.vtp\"") != NULL);
    CHECK(strstr(text, "timestep=\"0.09375\" part=\"0\" file=\"frames/walls-000001.vtp\"") != NULL);
    talus_release(text);
    talus_world_destroy(world);
}

/* ---- what a snapshot lacks ---- */

TEST(fields_that_are_missing_are_left_out)
{
    TalusFormatWriter *writer;
    TalusWorld *world = make_world();
    CHECK_OK(talus_world_step(world, NULL));
    REQUIRE_OK(talus_format_open("vtp", "lean", false, 0.0, &writer));
    add_frame(writer, world, TALUS_SNAPSHOT_SPEED);
    CHECK_OK(talus_format_close(writer));
    REQUIRE_OK(talus_format_open("csv", "lean", false, 0.0, &writer));
    add_frame(writer, world, TALUS_SNAPSHOT_SPEED);
    CHECK_OK(talus_format_close(writer));
    REQUIRE_OK(talus_format_open("lammps", "lean", false, 0.0, &writer));
    add_frame(writer, world, TALUS_SNAPSHOT_SPEED);
    CHECK_OK(talus_format_close(writer));
    char *text = read_text("lean/frames/bodies-000000.vtp");
    CHECK(strstr(text, "Name=\"speed\"") && !strstr(text, "Name=\"velocity\""));
    CHECK(!strstr(text, "Name=\"mass\"") && !strstr(text, "Name=\"contact_force\""));
    talus_release(text);
    CHECK(!exists("lean/contacts.pvd") && !exists("lean/chains.pvd"));
    CHECK(exists("lean/shapes.pvd") && !exists("lean/frames/contacts-000000.csv"));
    text = read_text("lean/frames/bodies-000000.csv");
    CHECK(starts_with(
        text, "body_id,position_x,position_y,position_z,radius,speed,orientation_w,"
              "orientation_x,orientation_y,orientation_z,material_id,shape_id,shape_kind,tag,"
              "fixed\n4503599627370499,0,-3,"));
    talus_release(text);
    text = read_text("lean/bodies.dump");
    CHECK(strstr(text, "ITEM: ATOMS id type x y z radius speed material_id tag fixed c_orient[1] "
                       "c_orient[2] c_orient[3] c_orient[4] c_shape[1] c_shape[2] c_shape[3]\n"));
    talus_release(text);
    talus_world_destroy(world);
}

/* A world that grows or shrinks may pass the size above which frames have no contacts. */
TEST(tables_of_contacts_may_come_and_go_between_syncs)
{
    TalusFormatWriter *writer;
    TalusWorld *world = make_world();
    CHECK_OK(talus_world_step(world, NULL));
    REQUIRE_OK(talus_format_open("csv", "some", false, 0.0, &writer));
    unsigned all = talus_format_fields(writer);
    for (int i = 0; i < 5; i++)
        add_frame(writer, world, i % 3 == 0 ? TALUS_SNAPSHOT_SPEED : all);
    CHECK_OK(talus_format_sync(writer));
    add_frame(writer, world, TALUS_SNAPSHOT_SPEED);
    CHECK_OK(talus_format_sync(writer));
    CHECK_OK(talus_format_close(writer));
    CHECK(!exists("some/frames/contacts-000000.csv") && exists("some/frames/contacts-000001.csv"));
    CHECK(!exists("some/frames/contacts-000003.csv") && exists("some/frames/contacts-000004.csv"));
    talus_world_destroy(world);
}

/* ---- text ---- */

TEST(dump_is_what_ovito_reads)
{
    TalusFormatWriter *writer;
    TalusWorld *world = make_world();
    REQUIRE_OK(talus_format_open("lammps", "dump", false, 0.0, &writer));
    add_frame(writer, world, talus_format_fields(writer));
    CHECK_OK(talus_format_close(writer));
    char *text = read_text("dump/bodies.dump");
    CHECK(starts_with(text, "ITEM: TIME\n0\nITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n10\n"
                            "ITEM: BOX BOUNDS ff ff ff\n"));
    CHECK(strstr(text, "ITEM: ATOMS id type x y z radius vx vy vz omegax omegay omegaz mass "
                       "contact_force contact_count material_id tag fixed c_orient[1] "));
    /* the fixed block: quaternion x y z w, half extents */
    CHECK(strstr(text, "\n4503599627370499 3 0 -3 0.25 ") && strstr(text, " 0 0 1 0 2 0.5 0.25\n"));
    /* the cylinder: radius, radius, whole height */
    CHECK(strstr(text, " 44 0 0 0 1 0 0.25 0.25 1\n"));
    /* a sphere has no shape of its own */
    CHECK(strstr(text, " 42 0 0 0 0 1 0 0 0\n"));
    talus_release(text);
    talus_world_destroy(world);
}

#define DUMP_FRAME(time)                                                                  \
    "ITEM: TIME\n" time "\nITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n2\nITEM: BOX BOUNDS" \
    " ff ff ff\n0 1\n0 1\n0 1\nITEM: ATOMS id\n0\n1\n"

static void check_dump_cut(const char *before, const char *after)
{
    TalusFormatWriter *writer;
    put_file("cut/bodies.dump", before);
    REQUIRE_OK(talus_format_open("lammps", "cut", true, 1.0, &writer));
    CHECK_OK(talus_format_close(writer));
    char *text = read_text("cut/bodies.dump");
    CHECK_STR(text, after);
    talus_release(text);
}

TEST(dump_is_cut_at_a_whole_frame)
{
    CHECK_OK(talus_make_directory("cut"));
    check_dump_cut("", "");
    check_dump_cut(DUMP_FRAME("0") DUMP_FRAME("1"), DUMP_FRAME("0") DUMP_FRAME("1"));
    check_dump_cut(DUMP_FRAME("0") DUMP_FRAME("1") DUMP_FRAME("1.5"),
                   DUMP_FRAME("0") DUMP_FRAME("1"));
    check_dump_cut(DUMP_FRAME("0") DUMP_FRAME("1") "ITEM: TIME\n1",
                   DUMP_FRAME("0") DUMP_FRAME("1"));
    check_dump_cut(DUMP_FRAME("0") "ITEM: TIME\n1\nITEM: TIMESTEP\n", DUMP_FRAME("0"));
    char text[1024];
    snprintf(text, sizeof text, "%s", DUMP_FRAME("0") DUMP_FRAME("1"));
    text[strlen(text) - 1] = '\0'; /* a last line without its end may be half a line */
    check_dump_cut(text, DUMP_FRAME("0"));
}

#define PVD_HEAD "<?xml version=\"1.0\"?>\n<VTKFile>\n<Collection>\n"
#define PVD_ENTRY(time, number) \
    "<DataSet timestep=\"" time "\" part=\"0\" file=\"frames/x-00000" number ".vtp\"/>\n"
#define PVD_TAIL "</Collection>\n</VTKFile>\n"

/* The directory of a series and the folder of its files. */
static TalusDir series_dir, series_frames;

static void open_series_dir(void)
{
    CHECK_OK(talus_dir_open("series", &series_dir));
    CHECK_OK(talus_dir_open_folder(&series_dir, TALUS_FRAMES_FOLDER, &series_frames));
}

static void close_series_dir(void)
{
    talus_dir_close(&series_frames);
    talus_dir_close(&series_dir);
}

TEST(collection_is_cut_at_a_whole_entry)
{
    TalusSeries series;
    open_series_dir();
    put_file("series/x.pvd", PVD_HEAD PVD_ENTRY("0", "0")
                                 PVD_ENTRY("1", "1") "<DataSet timestep=\"1\" part=\"0\" fi");
    put_file("series/frames/x-000001.vtp", "");
    put_file("series/frames/x-000002.vtp", "");
    put_file("series/frames/xx-000003.vtp", "");
    put_file("series/frames/x-3.vtp", "");
    put_file("series/frames/x-000003.csv", "");
    REQUIRE_OK(talus_series_open(&series, &series_dir, &series_frames, "x", true, 1.0));
    CHECK_INT(series.count, 2);
    CHECK_OK(talus_series_add_file(&series, 2.5));
    talus_series_close(&series);
    char *kept = read_text("series/x.pvd");
    CHECK_STR(kept,
              PVD_HEAD PVD_ENTRY("0", "0") PVD_ENTRY("1", "1") PVD_ENTRY("2.5", "2") PVD_TAIL);
    talus_release(kept);
    CHECK(exists("series/frames/x-000001.vtp") && !exists("series/frames/x-000002.vtp"));
    CHECK(exists("series/frames/xx-000003.vtp") && exists("series/frames/x-3.vtp"));
    CHECK(exists("series/frames/x-000003.csv"));
    REQUIRE_OK(talus_series_open(&series, &series_dir, &series_frames, "x", true, -1.0));
    CHECK_INT(series.count, 0);
    CHECK(!exists("series/x.pvd"));
    talus_series_close(&series);
    close_series_dir();
}

/* A foreign entry hides how many files the series has: nothing is removed. */
TEST(foreign_collection_removes_nothing)
{
    TalusSeries series;
    open_series_dir();
    put_file("series/y.pvd",
             PVD_HEAD "<DataSet timestep=\"0\" part=\"0\" file=\"mine.vtp\"/>\n" PVD_TAIL);
    put_file("series/frames/y-000000.vtp", "");
    CHECK(talus_series_open(&series, &series_dir, &series_frames, "y", true, 1.0) ==
          TALUS_ERR_FORMAT);
    CHECK_STR(talus_error(), "series/y.pvd: entry 1 is not a file frames/y-NUMBER.vtp");
    talus_series_close(&series);
    CHECK(exists("series/y.pvd") && exists("series/frames/y-000000.vtp"));
    close_series_dir();
}

/* ---- new runs ---- */

TEST(removing_leaves_other_files_alone)
{
    write_whole("vtp", "old");
    write_whole("csv", "old");
    write_whole("lammps", "old");
    put_file("old/steps.csv", "mine");
    put_file("old/frames/picture.vtp", "mine");
    put_file("old/bodies.vtkhdf", "an older build's");
    TalusDir dir;
    REQUIRE_OK(talus_dir_open("old", &dir));
    CHECK_OK(talus_format_remove_all(&dir));
    talus_dir_close(&dir);
    static const char *const gone[] = {"bodies.pvd",
                                       "walls.pvd",
                                       "show_in_paraview.py",
                                       "bodies.dump",
                                       "bodies.vtkhdf",
                                       "frames.csv",
                                       "chains.pvd",
                                       "frames/bodies-000000.vtp",
                                       "frames/walls-000000.vtp",
                                       "frames/contacts-000003.csv"};
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++) {
        char path[128];
        snprintf(path, sizeof path, "old/%s", gone[i]);
        CHECK(!exists(path));
    }
    CHECK(exists("old/steps.csv") && exists("old/frames/picture.vtp"));
    CHECK_OK(talus_dir_open("bare", &dir)); /* where there is nothing to remove */
    CHECK_OK(talus_format_remove_all(&dir));
    talus_dir_close(&dir);
}

/* ---- failures ---- */

/* Files may not grow beyond `bytes`: what a full disk looks like to a writer. */
static void limit_file_size(rlim_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
}

static TalusStatus try_frame(TalusFormatWriter *writer, const TalusFramesHead *head,
                             const TalusSnapshot *snapshot, rlim_t bytes)
{
    signal(SIGXFSZ, SIG_IGN);
    limit_file_size(bytes);
    TalusStatus status = talus_format_add_frame(writer, head, snapshot);
    limit_file_size(RLIM_INFINITY);
    return status;
}

TEST(full_disk_is_told)
{
    static const struct {
        const char *format, *message;
    } cases[] = {
        {"vtp", "full/frames/bodies-000000.vtp: cannot write: File too large"},
        {"lammps", "full/bodies.dump: cannot write: File too large"},
        {"csv", "full/frames/bodies-000000.csv: cannot write: File too large"},
        {"bulk", "full/bulk.csv: cannot write: File too large"},
    };
    TalusSnapshot snapshot = {0};
    TalusHeadStore head = {0};
    TalusWorld *world = make_world();
    REQUIRE_OK(talus_frames_head_of_world(world, NULL, NULL, &head));
    REQUIRE_OK(talus_snapshot_take(&snapshot, world, TALUS_SNAPSHOT_ALL));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        TalusFormatWriter *writer = NULL;
        CHECK_OK(talus_format_open(cases[i].format, "full", false, 0.0, &writer));
        CHECK(try_frame(writer, &head.head, &snapshot, 400) == TALUS_ERR_IO);
        CHECK_STR(talus_error(), cases[i].message);
        CHECK_OK(talus_format_close(writer));
        CHECK(!exists("full/bodies.pvd"));
    }
    put_file("plain", "x");
    TalusFormatWriter *writer = NULL;
    CHECK(talus_format_open("vtp", "plain/out", false, 0.0, &writer) == TALUS_ERR_IO);
    CHECK_STR(talus_error(), "plain: cannot create the directory: Not a directory");
    CHECK(writer == NULL);
    talus_frames_head_clear(&head);
    talus_snapshot_free(&snapshot);
    talus_world_destroy(world);
}

/* An entry that did not fit is taken back: what ParaView opens stays whole. */
TEST(full_disk_leaves_the_collection_whole)
{
    TalusSeries series;
    open_series_dir();
    REQUIRE_OK(talus_series_open(&series, &series_dir, &series_frames, "y", false, 0.0));
    for (int i = 0; i < 3; i++) {
        char *before = i ? read_text("series/y.pvd") : NULL;
        signal(SIGXFSZ, SIG_IGN);
        limit_file_size(before ? strlen(before) + 9 : 9);
        CHECK(talus_series_add_file(&series, 0.5 * i) == TALUS_ERR_IO);
        limit_file_size(RLIM_INFINITY);
        char *after = read_text("series/y.pvd");
        CHECK_STR(after, before ? before : "");
        talus_release(before);
        talus_release(after);
        CHECK_OK(talus_series_add_file(&series, 0.5 * i));
        CHECK_INT(series.count, i + 1);
    }
    talus_series_close(&series);
    REQUIRE_OK(talus_series_open(&series, &series_dir, &series_frames, "y", true, 0.5));
    CHECK_INT(series.count, 2);
    talus_series_close(&series);
    close_series_dir();
}

/* Every allocation fails in turn: no crash, no leak (the harness looks), no other status. */
TEST(memory_may_run_out_anywhere)
{
    TalusSnapshot snapshot = {0};
    TalusHeadStore head = {0};
    TalusWorld *world = make_world();
    REQUIRE_OK(talus_world_step(world, NULL));
    REQUIRE_OK(talus_frames_head_of_world(world, NULL, NULL, &head));
    REQUIRE_OK(talus_snapshot_take(&snapshot, world, TALUS_SNAPSHOT_ALL));
    for (int i = 0; i < talus_format_count(); i++) {
        TalusStatus status = TALUS_ERR_MEMORY;
        if (talus_format_missing(i))
            continue;
        for (int n = 1; n < 300 && status == TALUS_ERR_MEMORY; n++) {
            TalusFormatWriter *writer = NULL;
            talus_fail_allocation_in(n);
            status = talus_format_open(talus_format_name(i), "tight", false, 0.0, &writer);
            if (status == TALUS_OK)
                status = talus_format_add_frame(writer, &head.head, &snapshot);
            talus_fail_allocation_in(0);
            CHECK_OK(talus_format_close(writer));
        }
        CHECK_OK(status);
    }
    talus_frames_head_clear(&head);
    talus_snapshot_free(&snapshot);
    talus_world_destroy(world);
}

int main(void)
{
    RUN(table_tells_what_there_is);
    RUN(resumed_files_equal_uninterrupted);
    RUN(vtp_holds_the_bodies);
    RUN(vtp_holds_contacts_and_chains);
    RUN(vtp_holds_true_surfaces);
    RUN(surfaces_beyond_the_format_are_refused);
    RUN(walls_are_written_when_they_change);
    RUN(fields_that_are_missing_are_left_out);
    RUN(tables_of_contacts_may_come_and_go_between_syncs);
    RUN(dump_is_what_ovito_reads);
    RUN(dump_is_cut_at_a_whole_frame);
    RUN(collection_is_cut_at_a_whole_entry);
    RUN(foreign_collection_removes_nothing);
    RUN(removing_leaves_other_files_alone);
    RUN(full_disk_is_told);
    RUN(full_disk_leaves_the_collection_whole);
    RUN(memory_may_run_out_anywhere);
    return talus_test_result();
}

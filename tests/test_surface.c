/* Surfaces from STL and OBJ files: what is read, what is repaired, what is refused. */
#include "base/memory.h"
#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <talus/io.h>
#include <unistd.h>

/* ---- what the log says ---- */

static char log_text[1024];

static void note(void *user, TalusLogLevel level, const char *id, const char *text)
{
    (void)user;
    (void)level;
    size_t used = strlen(log_text);
    snprintf(log_text + used, sizeof log_text - used, "[%s] %s\n", id, text);
}

static TalusStatus parse(const char *name, const void *bytes, size_t size, TalusSurface *s)
{
    log_text[0] = '\0';
    talus_set_log(note, NULL);
    TalusStatus status = talus_surface_parse(name, bytes, size, s);
    talus_set_log(NULL, NULL);
    return status;
}

static TalusStatus parse_text(const char *name, const char *text, TalusSurface *s)
{
    return parse(name, text, strlen(text), s);
}

static void check_refused(const char *name, const char *text, const char *message)
{
    TalusSurface s;
    CHECK(parse_text(name, text, &s) == TALUS_ERR_FORMAT);
    if (!CHECK(strstr(talus_error(), message)))
        printf("  said: %s\n", talus_error());
    CHECK(!s.vertex && s.triangle_count == 0);
}

static void check_said(const char *message)
{
    if (!CHECK(strstr(log_text, message)))
        printf("  said: %s\n", log_text);
}

/* ---- a cube, in every format ---- */

static const double corner[8][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0},
                                    {0, 0, 1}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}};
static const int facet[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                                 {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};

/* Binary STL of some of the cube's facets; bit k of `turned` turns facet k round. Returns the size. */
static size_t binary_cube(unsigned char *out, int first, int count, unsigned turned)
{
    uint32_t n = (uint32_t)count;
    memset(out, 0, 84);
    memcpy(out, "solid written by a program that does not care", 45);
    memcpy(out + 80, &n, 4);
    for (int t = 0; t < count; t++) {
        float x[12] = {0};
        bool turn = turned >> (first + t) & 1;
        for (int k = 0; k < 3; k++)
            for (int axis = 0; axis < 3; axis++)
                x[3 + 3 * k + axis] =
                    (float)(2.0 * corner[facet[first + t][turn && k ? 3 - k : k]][axis] + 5.0);
        memcpy(out + 84 + 50 * t, x, 48);
        memset(out + 84 + 50 * t + 48, 0, 2);
    }
    return 84 + 50 * (size_t)count;
}

static void text_cube(char *out, size_t room)
{
    size_t used = (size_t)snprintf(out, room, "solid facet of a cube\n");
    for (int t = 0; t < 12; t++) {
        used +=
            (size_t)snprintf(out + used, room - used, " FACET normal nan nan nan\n  outer loop\n");
        for (int k = 0; k < 3; k++)
            used += (size_t)snprintf(out + used, room - used, "   vertex %.1f %.6e %+g\r\n",
                                     corner[facet[t][k]][0], corner[facet[t][k]][1],
                                     corner[facet[t][k]][2]);
        used += (size_t)snprintf(out + used, room - used, "  endloop\n endfacet\n");
    }
    snprintf(out + used, room - used, "endsolid\n");
}

static const char quads[] = "# a cube of quads\nmtllib none.mtl\no cube\n"
                            "v 0 0 0\nv 1 0 0\nv 0 1 0 1.0\nv 1 1 0 0.5 0.5 0.5\n"
                            "v 0 0 1\nv 1 0 1\nv 0 1 1\nv 1. 1 1e0\n"
                            "vn 0 0 1\nvt 0 0\ns off\nusemtl x\n"
                            "f 1/1/1 3/1/1 4/1/1 2/1/1\nf -4//1 -3//1 -1//1 -2//1 # top\n"
                            "f 1 2 6 \\\n 5\nf 3/1 7/1 8/1 4/1\nf 1 5 7 3\r\nf 2 4 8 6\n";

static void check_cube(const TalusSurface *s, double edge)
{
    CHECK_INT(s->vertex_count, 8);
    CHECK_INT(s->triangle_count, 12);
    CHECK_NEAR(s->volume, edge * edge * edge, 1e-12 * edge * edge * edge);
    CHECK_INT(s->open_edges + s->crowded_edges, 0);
    CHECK_INT(s->parts, 1);
    CHECK_INT(s->closed_parts, 1);
    CHECK_NEAR(s->hi.x - s->lo.x, edge, 0.0);
}

TEST(all_formats_give_the_same_cube)
{
    TalusSurface s;
    unsigned char bytes[84 + 50 * 12];
    char text[8192];
    size_t size = binary_cube(bytes, 0, 12, 0);
    REQUIRE_OK(parse("cube.STL", bytes, size, &s));
    check_cube(&s, 2.0);
    CHECK_STR(log_text, "");
    CHECK_INT(s.joined, 36 - 8);
    talus_surface_free(&s);
    REQUIRE_OK(parse("no-suffix", bytes, size, &s)); /* "solid" in a binary file */
    check_cube(&s, 2.0);
    talus_surface_free(&s);
    text_cube(text, sizeof text);
    REQUIRE_OK(parse_text("cube.stl", text, &s));
    check_cube(&s, 1.0);
    talus_surface_free(&s);
    REQUIRE_OK(parse_text("cube.obj", quads, &s));
    check_cube(&s, 1.0);
    CHECK_INT(s.joined + s.turned + s.degenerate, 0);
    talus_surface_free(&s);
}

TEST(reads_from_a_file)
{
    TalusSurface s;
    char path[] = "surface-XXXXXX";
    int fd = mkstemp(path);
    REQUIRE(fd >= 0);
    CHECK(write(fd, quads, sizeof quads - 1) == (ssize_t)sizeof quads - 1);
    close(fd);
    REQUIRE_OK(talus_surface_read(path, &s));
    check_cube(&s, 1.0);
    talus_surface_free(&s);
    remove(path);
    CHECK(talus_surface_read(path, &s) == TALUS_ERR_IO);
}

/* ---- repairs ---- */

TEST(windings_are_made_to_agree)
{
    TalusSurface s;
    unsigned char bytes[84 + 50 * 12];
    size_t size = binary_cube(bytes, 0, 12, 1u << 3 | 1u << 8);
    REQUIRE_OK(parse("two.stl", bytes, size, &s));
    check_cube(&s, 2.0);
    CHECK_INT(s.turned, 2);
    CHECK(!s.inverted);
    check_said("[surface.repaired] two.stl: 2 triangles turned to agree with the neighbours");
    talus_surface_free(&s);

    size = binary_cube(bytes, 0, 12, 0xfff & ~(1u << 3)); /* facet 3 alone is right */
    REQUIRE_OK(parse("eleven.stl", bytes, size, &s));
    check_cube(&s, 2.0);
    CHECK_INT(s.turned, 11);
    CHECK(!s.inverted);
    check_said("[surface.repaired] eleven.stl: 11 triangles turned to agree with the neighbours");
    talus_surface_free(&s);

    size = binary_cube(bytes, 0, 12, 0xfff);
    REQUIRE_OK(parse("inverted.stl", bytes, size, &s));
    check_cube(&s, 2.0);
    CHECK_INT(s.turned, 0);
    CHECK(s.inverted);
    check_said("turned inside out, as it enclosed a negative volume");
    double six = 0.0; /* six times the volume, from the triangles as they are now */
    for (int t = 0; t < s.triangle_count; t++) {
        const int32_t *v = s.triangle + 3 * t;
        six += talus_dot(s.vertex[v[0]], talus_cross(s.vertex[v[1]], s.vertex[v[2]]));
    }
    CHECK_NEAR(six, 6.0 * 8.0, 1e-9);
    talus_surface_free(&s);
}

/* Around a cavity triangles look inward; that is no mistake. */
TEST(a_cavity_stays_one)
{
    TalusSurface s;
    char text[4096] = "";
    size_t used = 0;
    for (int k = 0; k < 8; k++)
        used += (size_t)snprintf(text + used, sizeof text - used, "v %g %g %g\n",
                                 4.0 * corner[k][0], 4.0 * corner[k][1], 4.0 * corner[k][2]);
    for (int k = 0; k < 8; k++)
        used += (size_t)snprintf(text + used, sizeof text - used, "v %g %g %g\n",
                                 1.0 + corner[k][0], 1.0 + corner[k][1], 1.0 + corner[k][2]);
    for (int t = 0; t < 24; t++) {
        const int *f = facet[t % 12];
        int shift = t < 12 ? 1 : 9;
        used += (size_t)snprintf(text + used, sizeof text - used, "f %d %d %d\n", f[0] + shift,
                                 f[t < 12 ? 1 : 2] + shift, f[t < 12 ? 2 : 1] + shift);
    }
    REQUIRE_OK(parse_text("shell.obj", text, &s));
    CHECK_INT(s.turned, 0);
    CHECK(!s.inverted);
    CHECK_INT(s.closed_parts, 2);
    CHECK_NEAR(s.volume, 64.0 - 1.0, 1e-12);
    talus_surface_free(&s);
}

/* Two cubes that share one edge, of four triangles; bit t of `turned` turns triangle t round. */
static void two_cubes(char *out, size_t room, unsigned turned)
{
    size_t used = 0;
    for (int k = 0; k < 16; k++) {
        double shift = k < 8 ? 0.0 : 1.0;
        used += (size_t)snprintf(out + used, room - used, "v %g %g %g\n", corner[k % 8][0] + shift,
                                 corner[k % 8][1] + shift, corner[k % 8][2]);
    }
    for (int t = 0; t < 24; t++) {
        const int *f = facet[t % 12];
        int shift = t < 12 ? 1 : 9, turn = (int)(turned >> t & 1);
        used += (size_t)snprintf(out + used, room - used, "f %d %d %d\n", f[0] + shift,
                                 f[1 + turn] + shift, f[2 - turn] + shift);
    }
}

/* Whether cubes at a common edge are closed follows from the repaired windings, not from those of the file. */
TEST(solids_at_a_common_edge_are_closed)
{
    TalusSurface s;
    char text[4096];
    for (int t = -1; t < 24; t++) {
        two_cubes(text, sizeof text, t < 0 ? 0 : 1u << t);
        REQUIRE_OK(parse_text("cubes.obj", text, &s));
        CHECK_INT(s.crowded_edges, 1);
        CHECK_INT(s.parts, 2);
        CHECK_INT(s.closed_parts, 2);
        CHECK_INT(s.turned, t >= 0);
        CHECK_NEAR(s.volume, 2.0, 1e-12);
        talus_surface_free(&s);
    }
    two_cubes(text, sizeof text,
              0xfffu << 12 & ~(1u << 20)); /* the second: only facet 8 is right */
    REQUIRE_OK(parse_text("cubes.obj", text, &s));
    CHECK_INT(s.closed_parts, 2);
    CHECK_INT(s.turned, 11);
    CHECK_NEAR(s.volume, 2.0, 1e-12);
    talus_surface_free(&s);
}

/* Four tents over one triangle bound two solids, one above the other, though none is closed by itself. The second faces
 * down, as the lower side of the upper solid, and stays so when one of its triangles is repaired. */
TEST(parts_that_are_closed_together_keep_their_sides)
{
    TalusSurface s;
    REQUIRE_OK(parse_text("tents.obj",
                          "v 0 0 0\nv 1 0 0\nv 0 1 0\nv .2 .2 4\nv .2 .2 3\nv .2 .2 2\nv .2 .2 1\n"
                          "f 1 2 4\nf 2 3 4\nf 3 1 4\n"
                          "f 2 1 5\nf 3 2 5\nf 3 1 5\n" /* the last one is turned */
                          "f 1 2 6\nf 2 3 6\nf 3 1 6\n"
                          "f 2 1 7\nf 3 2 7\nf 1 3 7\n",
                          &s));
    CHECK_INT(s.crowded_edges, 3);
    CHECK_INT(s.parts, 4);
    CHECK_INT(s.closed_parts, 4);
    CHECK_INT(s.turned, 1);
    CHECK_NEAR(s.volume, (4.0 - 3.0 + 2.0 - 1.0) / 6.0, 1e-12);
    talus_surface_free(&s);
}

TEST(useless_triangles_are_dropped)
{
    TalusSurface s;
    char text[sizeof quads + 200];
    snprintf(text, sizeof text, "%s%s", quads,
             "f 1 1 2\nf 1 2 2\n"           /* two corners the same */
             "v 0.5 0 0\nf 1 2 9\n"         /* corners in a line */
             "f 4 2 1\nf 1 2 4\n"           /* there before, either way round */
             "v 1e-8 -1e-8 0\nf 10 3 4\n"); /* nearly vertex 1, and then there before */
    REQUIRE_OK(parse_text("untidy.obj", text, &s));
    check_cube(&s, 1.0);
    CHECK_INT(s.degenerate, 3);
    CHECK_INT(s.duplicate, 3);
    CHECK_INT(s.joined, 2);
    check_said("3 triangles without area dropped, 3 duplicate triangles dropped");
    talus_surface_free(&s);
}

TEST(open_surfaces_are_told)
{
    TalusSurface s;
    unsigned char bytes[84 + 50 * 12];
    size_t size = binary_cube(bytes, 2, 10, 0);
    REQUIRE_OK(parse("open.stl", bytes, size, &s));
    CHECK_INT(s.open_edges, 4);
    CHECK_INT(s.closed_parts, 0);
    CHECK(s.volume == 0.0);
    check_said("[surface.open] open.stl: 1 of 1 part is not closed (4 open edges)");
    talus_surface_free(&s);
    /* three triangles on one edge, and a strip with one side */
    REQUIRE_OK(parse_text(
        "fins.obj", "v 0 0 0\nv 0 0 1\nv 1 0 0\nv 0 1 0\nv -1 -1 0\nf 1 2 3\nf 1 2 4\nf 1 2 5\n",
        &s));
    CHECK_INT(s.crowded_edges, 1);
    CHECK_INT(s.open_edges, 6);
    talus_surface_free(&s);
    REQUIRE_OK(parse_text("strip.obj",
                          "v 1 0 0\nv 1 0 1\nv -1 1 0\nv -1 1 1\nv -1 -1 0\nv -1 -1 1\n"
                          "f 1 2 4 3\nf 3 4 6 5\nf 5 6 1 2\n",
                          &s));
    CHECK_INT(s.twisted, 1);
    check_said("1 part left whose triangles cannot all agree");
    talus_surface_free(&s);
}

/* A polygon that is not convex keeps its area. */
TEST(polygons_are_cut)
{
    TalusSurface s;
    REQUIRE_OK(parse_text("L.obj",
                          "v 0 0 0\nv 2 0 0\nv 2 1 0\nv 1 1 0\nv 1 2 0\nv 0 2 0\nf 4 5 6 1 2 3\n"
                          "v 0 0 1\nv 2 0 1\nv 0.5 0.5 1\nv 0 2 1\nf 7 8 9 10\n",
                          &s));
    double area[2] = {0.0, 0.0};
    for (int t = 0; t < s.triangle_count; t++) {
        const int32_t *v = s.triangle + 3 * t;
        TalusVec3 n = talus_cross(talus_sub(s.vertex[v[1]], s.vertex[v[0]]),
                                  talus_sub(s.vertex[v[2]], s.vertex[v[0]]));
        CHECK(n.z > 0.0);
        area[s.vertex[v[0]].z > 0.5] += 0.5 * n.z;
    }
    CHECK_INT(s.triangle_count, 6);
    CHECK_NEAR(area[0], 3.0, 1e-12);
    CHECK_NEAR(area[1], 1.0, 1e-12);
    talus_surface_free(&s);
}

/* ---- refusals ---- */

TEST(bad_binary_files_are_refused)
{
    TalusSurface s;
    unsigned char bytes[84 + 50 * 12];
    size_t size = binary_cube(bytes, 0, 12, 0);
    uint32_t absurd = 4000000000u;
    float nan = NAN, inf = -INFINITY;
    memcpy(bytes + 80, &absurd, 4);
    CHECK(parse("absurd.stl", bytes + 0, size, &s) == TALUS_ERR_FORMAT);
    /* "solid" and no zero bytes would be text; this has zeros */
    CHECK(strstr(talus_error(), "absurd.stl: byte 80 tells of 4000000000 triangles, which take "
                                "200000000084 bytes; the file has 684"));
    size = binary_cube(bytes, 0, 12, 0);
    memcpy(bytes + 84 + 50 * 3 + 12 + 4 * 5, &nan, 4);
    CHECK(parse("nan.stl", bytes, size, &s) == TALUS_ERR_FORMAT);
    CHECK(strstr(talus_error(), "nan.stl: triangle 3 (byte 266): coordinate z of corner 1 is"));
    memcpy(bytes + 84 + 12, &inf, 4);
    CHECK(parse("inf.stl", bytes, size, &s) == TALUS_ERR_FORMAT);
    CHECK(strstr(talus_error(), "inf.stl: triangle 0 (byte 96): coordinate x of corner 0 is -inf"));
    size = binary_cube(bytes, 0, 0, 0);
    CHECK(parse("none.stl", bytes, size, &s) == TALUS_ERR_FORMAT);
    CHECK(strstr(talus_error(), "none.stl: has no triangles"));
    size = binary_cube(bytes, 0, 11, 0);
    REQUIRE_OK(parse("long.stl", bytes, size + 50, &s));
    check_said("[surface.trailing] long.stl: 50 bytes after the last triangle are not read");
    talus_surface_free(&s);
    CHECK(parse("", bytes, 0, &s) == TALUS_ERR_FORMAT);
}

TEST(bad_texts_are_refused)
{
    check_refused("a.stl", "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 nan\n",
                  "a.stl:4: coordinate z is \"nan\"; it must be a finite number");
    check_refused("a.stl", "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 1e999 0\n",
                  "a.stl:4: coordinate y is \"1e999\"");
    check_refused("a.stl", "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 1 0\nvertex 1",
                  "a.stl:5: the file ends where coordinate y is expected");
    check_refused("a.stl", "solid x\nfacet normal 0 0 1\nouter lop\n",
                  "a.stl:3: \"lop\" where \"loop\" is expected");
    check_refused("a.stl", "solid x\nendsolid x\nfacet", "a.stl:3: \"facet\" where \"solid\"");
    check_refused("a.stl", "solid x\n", "the file ends where \"facet\" or \"endsolid\"");
    check_refused("a.stl", "solid x\nendsolid x\n", "a.stl: has no triangles");
    check_refused("a.stl", "solid", "ends where");
    check_refused("a.stl", "what", "a.stl: has 4 bytes; a binary STL file has at least 84");
    check_refused("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n",
                  "a.obj:4: a face has vertex 4; there are 3 so far");
    check_refused("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 -4\n",
                  "a.obj:4: a face has vertex -4");
    check_refused("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 0\n", "\"0\" is not the number of");
    check_refused("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 1e99\n", "a.obj:4: a face has vertex");
    check_refused("a.obj", "v 0 0 0\nf 1 1\n", "a.obj:2: a face of 2 vertices");
    check_refused("a.obj", "v 0 0\n", "a.obj:1: a vertex of 2 coordinates");
    check_refused("a.obj", "\n\nv 0 inf 0\n", "a.obj:3: coordinate y is \"inf\"");
    check_refused("a.obj", "v 0 0 0\n", "a.obj: has no triangles (1 vertices)");
    check_refused("a.obj", "v 0 0 0\nv 1 1 1\nv 2 2 2\nf 1 2 3\n",
                  "a.obj: none of its 1 triangles has an area");
    check_refused("a.obj", "v 0 0 0\nv 1e-50 0 0\nv 0 1e-50 0\nf 1 2 3\n",
                  "too small for a surface");
    check_refused("text", "not a surface", "text: has no triangles");
}

/* Every allocation fails in turn. */
TEST(memory_runs_out)
{
    TalusSurface s;
    TalusStatus status = TALUS_ERR_MEMORY;
    for (long n = 1; n < 100 && status == TALUS_ERR_MEMORY; n++) {
        talus_fail_allocation_in(n);
        status = parse_text("cube.obj", quads, &s);
        talus_fail_allocation_in(0);
    }
    CHECK_OK(status);
    talus_surface_free(&s);
}

int main(void)
{
    RUN(all_formats_give_the_same_cube);
    RUN(reads_from_a_file);
    RUN(windings_are_made_to_agree);
    RUN(a_cavity_stays_one);
    RUN(solids_at_a_common_edge_are_closed);
    RUN(parts_that_are_closed_together_keep_their_sides);
    RUN(useless_triangles_are_dropped);
    RUN(open_surfaces_are_told);
    RUN(polygons_are_cut);
    RUN(bad_binary_files_are_refused);
    RUN(bad_texts_are_refused);
    RUN(memory_runs_out);
    return talus_test_result();
}

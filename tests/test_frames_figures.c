/* Figures in heads: as they were made, refused where they are damaged, and made for files of the first version. */
#include "all_shapes.h"
#include "base/deflate.h"
#include "draw/draw.h"
#include "frames_scene.h"

#include <stdlib.h>

static const TalusFramesHead all_head = {.title = "",
                                         .scene = "",
                                         .step = 0.01,
                                         .radius = 1.0,
                                         .quantum = 0.5,
                                         .floor = NAN,
                                         .shapes = all_shapes,
                                         .shape_count = ALL_SHAPES};

/* Arrays without entries may be NULL. */
static bool same_bytes(const void *a, const void *b, size_t size)
{
    return size == 0 || memcmp(a, b, size) == 0;
}

static bool same_mesh(const TalusMesh *a, const TalusMesh *b)
{
    return a->vertex_count == b->vertex_count && a->triangle_count == b->triangle_count &&
           a->edge_count == b->edge_count && a->piece_count == b->piece_count &&
           same_bytes(a->vertex, b->vertex, (size_t)a->vertex_count * sizeof *a->vertex) &&
           same_bytes(a->normal, b->normal, (size_t)a->vertex_count * sizeof *a->normal) &&
           same_bytes(a->triangle, b->triangle, 3 * (size_t)a->triangle_count * sizeof(int)) &&
           same_bytes(a->edge, b->edge, 2 * (size_t)a->edge_count * sizeof(int)) &&
           same_bytes(a->piece, b->piece, (size_t)a->piece_count * sizeof(int));
}

static bool same_figure(const TalusFigure *a, const TalusFigure *b)
{
    bool same = a->drawn == b->drawn && a->levels == b->levels &&
                memcmp(&a->box, &b->box, sizeof a->box) == 0;
    for (int k = 0; k < a->levels && same; k++)
        same = same_mesh(&a->level[k], &b->level[k]);
    return same;
}

TEST(figures_come_back)
{
    TalusPacker packer = {0};
    TalusHeadStore back = {0};
    REQUIRE_OK(talus_frames_head_pack(&packer, &all_head, TALUS_FRAMES_VERSION));
    REQUIRE_OK(talus_frames_head_read((const char *)packer.bytes + sizeof(TalusChunk),
                                      packer.size - sizeof(TalusChunk), "head", &back));
    REQUIRE(back.head.figures != NULL);
    for (int k = 0; k < ALL_SHAPES; k++) {
        TalusFigure made;
        REQUIRE_OK(talus_figure_of_shape(&back.head.shapes[k], &made));
        CHECK(same_figure(&made, &back.head.figures[k]));
        talus_figure_free(&made);
    }
    talus_packer_clear(&packer);
    talus_frames_head_clear(&back);
}

/* ---- damage ---- */

#define TEXT(levels)                                                                              \
    "{\"title\": \"\", \"scene\": \"\", \"gravity\": [0, 0, -9], \"step\": 0.01, \"radius\": 1, " \
    "\"quantum\": 0.5, \"origin\": [0, 0, 0], \"floor\": 0, \"detail\": \"full\", \"shapes\": [{" \
    "\"kind\": \"box\", \"half\": [1, 1, 1], " levels "}], \"materials\": []}"

/* Arrays of one tetrahedron, to be spoiled. */
typedef struct Arrays {
    float point[12];
    int32_t normal[12], triangle[12], edge[2], piece[1];
    int edges;
} Arrays;

static const Arrays sound = {.point = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1},
                             .normal = {32767, 0, 0, 32767, 0, 0, 32767, 0, 0, 32767, 0, 0},
                             .triangle = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3},
                             .edge = {0, 1},
                             .piece = {4},
                             .edges = 1};

static void pack_arrays(TalusPacker *p, const Arrays *a)
{
    REQUIRE_OK(talus_pack_floats(p, TALUS_ARRAY_POINT, 3, 4, a->point));
    REQUIRE_OK(
        talus_pack_integers(p, TALUS_ARRAY_NORMAL, 3, 4, TALUS_PREDICT_NONE, a->normal, NULL));
    REQUIRE_OK(
        talus_pack_integers(p, TALUS_ARRAY_TRIANGLE, 3, 4, TALUS_PREDICT_NONE, a->triangle, NULL));
    REQUIRE_OK(
        talus_pack_integers(p, TALUS_ARRAY_EDGE, 2, a->edges, TALUS_PREDICT_NONE, a->edge, NULL));
    REQUIRE_OK(talus_pack_integers(p, TALUS_ARRAY_PIECE, 1, 1, TALUS_PREDICT_NONE, a->piece, NULL));
    REQUIRE_OK(talus_packer_append_arrays(p));
}

/* NULL: it is read. `cut` bytes are missing at the end. */
static void check_head(const char *text, const Arrays *arrays, size_t cut, const char *message)
{
    TalusPacker p = {0};
    TalusHeadStore store = {0};
    REQUIRE_OK(talus_pack_bytes(&p, text, strlen(text)));
    REQUIRE_OK(talus_pack_bytes(&p, NULL, 8 - p.size % 8));
    pack_arrays(&p, arrays);
    TalusStatus status =
        talus_frames_head_read((const char *)p.bytes, p.size - cut, "head", &store);
    CHECK(status == (message ? TALUS_ERR_FORMAT : TALUS_OK));
    if (message && !CHECK(strstr(talus_error(), message) && strncmp(talus_error(), "head", 4) == 0))
        printf("  %s\n  expected %s\n", talus_error(), message);
    talus_packer_clear(&p);
    talus_frames_head_clear(&store);
}

#define SOLID(levels) TEXT("\"drawn\": \"solid\", \"levels\": " levels)

TEST(wrong_sizes_are_refused)
{
    check_head(SOLID("[[4, 4, 1, 1]]"), &sound, 0, NULL);
    check_head(TEXT("\"levels\": [[4, 4, 1, 1]]"), &sound, 0, "lacks \"drawn\"");
    check_head(TEXT("\"drawn\": \"painted\", \"levels\": []"), &sound, 0, "is not a way to draw");
    check_head(TEXT("\"drawn\": \"solid\""), &sound, 0, "lacks \"levels\"");
    check_head(SOLID("[]"), &sound, 0, "has 0 levels; expected 1 to 4");
    check_head(TEXT("\"drawn\": \"sphere\", \"levels\": [[4, 4, 1, 1]]"), &sound, 0,
               "has 1 levels; expected none");
    check_head(SOLID("[[4, 4, 1, 1], [0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 1]]"),
               &sound, 0, "has 5 levels");
    check_head(SOLID("[[4, 4, 1]]"), &sound, 0, "list of 4 numbers");
    check_head(SOLID("[[4, -4, 1, 1]]"), &sound, 0, "where a count should be");
    check_head(SOLID("[[4, 4.5, 1, 1]]"), &sound, 0, "where a count should be");
    check_head(SOLID("[[4, 1e30, 1, 1]]"), &sound, 0, "where a count should be");
    check_head(SOLID("[[4, 4, 1, 1], [0, 0, 0, 0]]"), &sound, 0, "more or fewer pieces");
    check_head(SOLID("[[5, 4, 1, 1]]"), &sound, 0, "point: 4 tuples; expected 5");
    check_head(SOLID("[[4, 5, 1, 1]]"), &sound, 0, "triangle: 4 tuples; expected 5");
    check_head(SOLID("[[4, 4, 0, 1]]"), &sound, 0, "edge: 1 tuples; expected 0");
    check_head(SOLID("[[4, 100000000, 1, 1]]"), &sound, 0, "there may be 8 to a byte");
}

TEST(wrong_arrays_are_refused)
{
    Arrays a = sound;
    a.triangle[11] = 4;
    check_head(SOLID("[[4, 4, 1, 1]]"), &a, 0, "triangle: has vertex 4; there are 4");
    a = sound;
    a.triangle[0] = -1;
    check_head(SOLID("[[4, 4, 1, 1]]"), &a, 0, "triangle: has vertex -1");
    a = sound;
    a.edge[1] = 9;
    check_head(SOLID("[[4, 4, 1, 1]]"), &a, 0, "edge: has vertex 9");
    a = sound;
    a.point[5] = INFINITY;
    check_head(SOLID("[[4, 4, 1, 1]]"), &a, 0, "point: a value is not finite");
    a = sound;
    a.normal[0] = 1 << 30;
    check_head(SOLID("[[4, 4, 1, 1]]"), &a, 0, "is not a unit");
    a = sound;
    a.piece[0] = 3;
    check_head(SOLID("[[4, 4, 1, 1]]"), &a, 0, "piece: has 3 of 4 triangles");
    a.piece[0] = 0;
    check_head(SOLID("[[4, 4, 1, 1]]"), &a, 0, "piece: has 0 triangles");
    check_head(TEXT("\"drawn\": \"sheet\", \"levels\": [[4, 4, 1, 1]]"), &sound, 0,
               "piece: has 4 of 4 triangles");
    check_head(SOLID("[[4, 4, 1, 1]]"), &sound, 8, "head: ");
    check_head(SOLID("[[4, 4, 1, 1]]"), &sound, 24, "piece: 0 tuples; expected 1");
    check_head(SOLID("[[4, 4, 1, 1]]"), &sound, 20, "ends within an array");
}

/* ---- the first version ---- */

enum { OLD_KINDS = TALUS_SHAPE_FIELD + 1 }; /* that there were then */

static const char *old_file(void)
{
    static char path[1024];
    const char *source = getenv("TALUS_SOURCE_DIR");
    snprintf(path, sizeof path, "%s/tests/frames/version-1.talus", source ? source : ".");
    return path;
}

static void draw_frame(const char *path, int index, TalusImage *image)
{
    TalusFrames *frames;
    TalusSnapshot s = {0};
    TalusDrawDef def = talus_draw_def_default();
    def.width = 160;
    def.height = 120;
    REQUIRE_OK(talus_frames_open(path, &frames));
    REQUIRE_OK(talus_frames_read(frames, index, &s));
    REQUIRE_OK(talus_draw(talus_frames_head(frames, index), &s, &def, NULL, image));
    talus_snapshot_free(&s);
    talus_frames_close(frames);
}

static void copy_frames(const char *from, const char *to)
{
    TalusFrames *frames;
    TalusFramesWriter *writer;
    TalusSnapshot s = {0};
    REQUIRE_OK(talus_frames_open(from, &frames));
    REQUIRE_OK(talus_frames_create(to, NULL, &writer));
    for (int k = 0; k < talus_frames_count(frames); k++) {
        REQUIRE_OK(talus_frames_read(frames, k, &s));
        REQUIRE_OK(talus_frames_add_snapshot(writer, talus_frames_head(frames, k), &s));
    }
    REQUIRE_OK(talus_frames_finish(writer));
    talus_snapshot_free(&s);
    talus_frames_close(frames);
}

/* One shape of each kind, written before heads had figures. */
TEST(old_files_are_read)
{
    if (!talus_deflate_available())
        SKIP("no zlib in this build, with which the file is compressed");
    TalusFrames *old, *fresh;
    TalusImage a, b;
    copy_frames(old_file(), "fresh.talus");
    REQUIRE_OK(talus_frames_open(old_file(), &old));
    REQUIRE_OK(talus_frames_open("fresh.talus", &fresh));
    CHECK_INT(talus_frames_version(old), 1);
    CHECK_INT(talus_frames_version(fresh), TALUS_FRAMES_VERSION);
    const TalusFramesHead *p = talus_frames_head(old, 0), *q = talus_frames_head(fresh, 0);
    REQUIRE(p && q);
    CHECK_INT(p->shape_count, OLD_KINDS);
    CHECK(!p->figures && q->figures);
    CHECK(talus_frames_heads_equal(p, q));
    for (int k = 0; k < OLD_KINDS; k++)
        CHECK_INT((int)p->shapes[k].kind, k);
    talus_frames_close(old);
    talus_frames_close(fresh);
    draw_frame(old_file(), 1, &a);
    draw_frame("fresh.talus", 1, &b);
    CHECK(a.width == b.width &&
          memcmp(a.pixel, b.pixel, (size_t)a.channels * (size_t)a.width * (size_t)a.height) == 0);
    talus_image_free(&a);
    talus_image_free(&b);
}

/* A file that was begun in the first version stays one, heads that are added too. */
TEST(old_files_are_gone_on_with)
{
    if (!talus_deflate_available())
        SKIP("no zlib in this build, with which the file is compressed");
    Bytes bytes = read_bytes(old_file());
    TalusWorld *world = rain_world(0.0, true);
    TalusFramesWriter *writer;
    TalusFrames *frames;
    write_bytes("old.talus", bytes.bytes, bytes.size);
    REQUIRE_OK(talus_frames_resume("old.talus", 0.005, &writer));
    step_world(world, 4);
    REQUIRE_OK(talus_frames_add(writer, world));
    REQUIRE_OK(talus_frames_finish(writer));
    REQUIRE_OK(talus_frames_open("old.talus", &frames));
    CHECK_INT(talus_frames_version(frames), 1);
    CHECK_INT(talus_frames_count(frames), 3);
    const TalusFramesHead *head = talus_frames_head(frames, 2);
    REQUIRE(head != NULL);
    CHECK(!head->figures && head->shape_count != OLD_KINDS);
    talus_frames_close(frames);
    talus_world_destroy(world);
    talus_release(bytes.bytes);
}

int main(void)
{
    RUN(figures_come_back);
    RUN(wrong_sizes_are_refused);
    RUN(wrong_arrays_are_refused);
    RUN(old_files_are_read);
    RUN(old_files_are_gone_on_with);
    return talus_test_result();
}

/* Every kind of shape in frames and in files for other programs: as it went in, and refused where it is none. */
#include "all_shapes.h"
#include "frames_scene.h"
#include "io/formats/formats.h"
#include "io/formats/vtp_surface.h"
#include "io/text/base64.h"

static bool is_fixed(int shape)
{
    return shape == TRAY || shape == HILL;
}

static TalusWorld *all_world(void)
{
    TalusWorldDef def = talus_world_def_default();
    TalusWorld *world = NULL;
    def.threads = 1;
    CHECK_OK(talus_world_create(&def, &world));
    for (int k = 0; k < ALL_SHAPES; k++)
        CHECK_OK(add_body(world, all_shapes[k], talus_vec3(5.0 * k, 0.0, 0.0), is_fixed(k), k));
    return world;
}

/* The head of the file tells the world's shapes, to the last bit. */
TEST(shapes_come_back)
{
    TalusWorld *world = all_world();
    TalusFrames *frames;
    TalusSnapshot s = {0};
    write_frames("shapes.talus", world, TALUS_DETAIL_FULL, 2, 1);
    REQUIRE_OK(talus_frames_open("shapes.talus", &frames));
    const TalusFramesHead *head = talus_frames_head(frames, 1);
    REQUIRE(head != NULL);
    REQUIRE_OK(talus_frames_read(frames, 1, &s));
    CHECK_INT(s.body_count, ALL_SHAPES);
    for (int k = 0; k < ALL_SHAPES; k++) {
        TalusShapeDef mine = talus_world_shape(world, s.shape[k]);
        CHECK(mine.kind == all_shapes[k].kind);
        CHECK(talus_head_shapes_equal(&mine, &head->shapes[s.shape[k]]));
        CHECK(s.tag[k] == k && s.fixed[k] == is_fixed(k) && s.radius[k] > 0.0);
        for (int j = 0; j < ALL_SHAPES; j++) /* and no two of them are the same */
            CHECK(talus_head_shapes_equal(&mine, &head->shapes[s.shape[j]]) == (j == k));
    }
    talus_snapshot_free(&s);
    talus_frames_close(frames);
    talus_world_destroy(world);
}

/* A change of the least bit is another shape. */
TEST(shapes_that_differ_are_told_apart)
{
    TalusVec3 points[11];
    double heights[12];
    TalusShapePart parts[3];
    TalusShapeDef ball = dumbbell_ball;
    memcpy(points, stone_points, sizeof points);
    memcpy(heights, hill_heights, sizeof heights);
    memcpy(parts, dumbbell_parts, sizeof parts);
    TalusShapeDef stone = all_shapes[STONE], hill = all_shapes[HILL], bell = all_shapes[DUMBBELL];
    stone.vertex = points;
    hill.height = heights;
    bell.part = parts;
    CHECK(talus_head_shapes_equal(&stone, &all_shapes[STONE]));
    CHECK(talus_head_shapes_equal(&hill, &all_shapes[HILL]));
    CHECK(talus_head_shapes_equal(&bell, &all_shapes[DUMBBELL]));
    points[3].y += 0x1p-53;
    heights[11] = 0x1p-1000;
    ball.radius += 0x1p-53;
    parts[2].shape = &ball;
    CHECK(!talus_head_shapes_equal(&stone, &all_shapes[STONE]));
    CHECK(!talus_head_shapes_equal(&hill, &all_shapes[HILL]));
    CHECK(!talus_head_shapes_equal(&bell, &all_shapes[DUMBBELL]));
}

TEST(base64_goes_both_ways)
{
    unsigned char bytes[40], back[40];
    char text[64];
    for (size_t n = 0; n <= sizeof bytes; n++) {
        size_t size = 99, length = talus_base64_encoded_length(n);
        for (size_t k = 0; k < n; k++)
            bytes[k] = (unsigned char)(251 * k + n);
        talus_base64_encode(bytes, n, text);
        CHECK(talus_base64_decoded_size(text, length, &size) && size == n);
        CHECK(talus_base64_decode(text, length, back) && memcmp(bytes, back, n) == 0);
    }
    size_t size;
    CHECK(!talus_base64_decoded_size("AAA", 3, &size));
    CHECK(!talus_base64_decode("AA?A", 4, back) && !talus_base64_decode("A=AA", 4, back));
    CHECK(!talus_base64_decode("QU=C", 4, back) && !talus_base64_decode("Q===", 4, back));
}

/* ---- heads that are wrong ---- */

#define HEAD_WITH(shape)                                                                               \
    "{\"title\": \"\", \"scene\": \"\", \"gravity\": [0, 0, -9], \"step\": 0.01, \"radius\": 1, "      \
    "\"quantum\": 0.5, \"origin\": [0, 0, 0], \"floor\": 0, \"detail\": \"full\", \"shapes\": [" shape \
    "], \"materials\": []}"

static void check_shape(const char *text, const char *message)
{
    TalusHeadStore store = {0};
    TalusStatus status = talus_frames_head_read(text, strlen(text), "head", &store);
    CHECK(status == (message ? TALUS_ERR_FORMAT : TALUS_OK));
    if (message && !CHECK(strstr(talus_error(), message) != NULL))
        printf("  %s\n", talus_error());
    talus_frames_head_clear(&store);
}

/* 24 zero bytes, and three indices 0 1 7 */
#define POINT "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
#define BALL(position, turn, more) \
    "{\"position\": " position ", \"orientation\": " turn ", \"shape\": {\"kind\": " more "}}"

TEST(wrong_shapes_are_refused)
{
    check_shape(HEAD_WITH("{\"kind\": \"capsule\", \"radius\": 1, \"half_height\": 1}"), NULL);
    check_shape(HEAD_WITH("{\"kind\": \"capsule\", \"radius\": 1}"), "lacks \"half_height\"");
    check_shape(HEAD_WITH("{\"kind\": \"cone\", \"radius\": -1, \"half_height\": 1}"),
                "cone: radius");
    check_shape(HEAD_WITH("{\"kind\": \"ellipsoid\", \"half\": [1, 1, 0]}"), "ellipsoid: ");
    check_shape(HEAD_WITH("{\"kind\": \"hull\", \"vertex\": 3}"), "expected a string");
    check_shape(HEAD_WITH("{\"kind\": \"hull\", \"vertex\": \"AAA\"}"), "is not base64");
    check_shape(HEAD_WITH("{\"kind\": \"hull\", \"vertex\": \"AAAA\"}"), "of 24 bytes each");
    check_shape(HEAD_WITH("{\"kind\": \"hull\", \"vertex\": \"AAAAAAAAAAAAAAAAAAAAAAAAAAAA*AAA\"}"),
                "is not base64");
    check_shape(HEAD_WITH("{\"kind\": \"hull\", \"vertex\": \"" POINT "\"}"), "hull: ");
    check_shape(HEAD_WITH("{\"kind\": \"hull\", \"vertex\": \"AAAAAAAA+H8AAAAAAAAAAAAAAAAAAAAA\"}"),
                "for number 0");
    check_shape(HEAD_WITH("{\"kind\": \"mesh\", \"vertex\": \"" POINT
                          "\", \"triangle\": \"AAAAAAEAAAAHAAAA\"}"),
                "has vertex 1; there are 1");
    check_shape(HEAD_WITH("{\"kind\": \"field\", \"columns\": 2, \"rows\": 2, \"spacing\": 1, "
                          "\"height\": \"" POINT "\"}"),
                "has 3 heights for 2 columns and 2 rows");
    check_shape(HEAD_WITH("{\"kind\": \"field\", \"columns\": 1.5, \"rows\": 2, \"spacing\": 1, "
                          "\"height\": \"" POINT "\"}"),
                "has 3 heights for 1.5 columns");
}

TEST(wrong_parts_are_refused)
{
    check_shape(HEAD_WITH("{\"kind\": \"compound\", \"parts\": [" BALL(
                    "[0, 0, 0]", "[1, 0, 0, 0]", "\"sphere\", \"radius\": 1") "]}"),
                NULL);
    check_shape(HEAD_WITH("{\"kind\": \"compound\", \"parts\": []}"), "compound: ");
    check_shape(HEAD_WITH("{\"kind\": \"compound\", \"parts\": [3]}"), "is not a part");
    check_shape(HEAD_WITH("{\"kind\": \"compound\", \"parts\": [" BALL("[0, 0, 0]", "[1, 0, 0, 0]",
                                                                       "\"sphere\"") "]}"),
                "lacks \"radius\"");
    check_shape(HEAD_WITH("{\"kind\": \"compound\", \"parts\": [" BALL(
                    "[0, 0, 0]", "[1, 1, 0, 0]", "\"sphere\", \"radius\": 1") "]}"),
                "is not a unit quaternion");
    check_shape(HEAD_WITH("{\"kind\": \"compound\", \"parts\": [" BALL(
                    "[0, 0]", "[1, 0, 0, 0]", "\"sphere\", \"radius\": 1") "]}"),
                "list of 3 numbers");
    check_shape(HEAD_WITH("{\"kind\": \"compound\", \"parts\": [" BALL("[0, 0, 0]", "[1, 0, 0, 0]",
                                                                       "\"plane\"") "]}"),
                "compound: ");
}

TEST(reading_survives_every_failed_allocation)
{
    TalusFramesHead head = {.title = "",
                            .scene = "",
                            .step = 0.01,
                            .radius = 1.0,
                            .quantum = 0.5,
                            .floor = NAN,
                            .shapes = all_shapes,
                            .shape_count = ALL_SHAPES};
    TalusStatus status = TALUS_ERR_MEMORY;
    for (long n = 1; status != TALUS_OK && n < 1000; n++) {
        TalusHeadStore copy = {0}, back = {0};
        TalusPacker packer = {0};
        talus_fail_allocation_in(n);
        status = talus_frames_head_copy(&head, &copy);
        if (status == TALUS_OK)
            status = talus_frames_head_pack(&packer, &copy.head, TALUS_FRAMES_VERSION);
        if (status == TALUS_OK)
            status = talus_frames_head_read((const char *)packer.bytes + sizeof(TalusChunk),
                                            packer.size - sizeof(TalusChunk), "head", &back);
        talus_fail_allocation_in(0);
        CHECK(status == TALUS_OK || status == TALUS_ERR_MEMORY);
        if (status == TALUS_OK)
            CHECK(talus_frames_heads_equal(&head, &back.head));
        talus_packer_clear(&packer);
        talus_frames_head_clear(&copy);
        talus_frames_head_clear(&back);
    }
    CHECK(status == TALUS_OK);
}

/* ---- other programs ---- */

/* Moving bodies are shapes, fixed ones walls; a mesh or a field is no point with a radius. */
TEST(surfaces_are_those_of_the_bodies)
{
    TalusWorld *world = all_world();
    TalusSnapshot s = {0};
    TalusHeadStore store = {0};
    TalusVtpSurface shapes = {0}, walls = {0};
    TalusRows rows = {0};
    REQUIRE_OK(talus_snapshot_take(&s, world, TALUS_SNAPSHOT_ALL));
    REQUIRE_OK(talus_frames_head_of_world(world, NULL, &s, &store));
    REQUIRE_OK(talus_vtp_collect_shapes(&shapes, &store.head, &s));
    REQUIRE_OK(talus_vtp_collect_walls(&walls, &store.head, &s));
    REQUIRE_OK(talus_rows_collect_bodies(&rows, &store.head, &s));
    CHECK_INT(shapes.part_count, TRAY);
    CHECK_INT(walls.part_count, ALL_SHAPES - TRAY);
    CHECK_INT(rows.count, TRAY);
    for (int k = 0; k < shapes.part_count; k++)
        CHECK(shapes.mesh[shapes.part[k].mesh].triangle_count > 10);
    CHECK_INT(walls.mesh[walls.part[0].mesh].triangle_count, 10);
    CHECK_INT(walls.mesh[walls.part[1].mesh].triangle_count, 12);
    TalusFile *file;
    REQUIRE_OK(talus_file_create("shapes.vtp", &file));
    CHECK_OK(talus_vtp_write_surface(&shapes, file, &store.head, &s, 0, false));
    REQUIRE_OK(talus_file_create("walls.vtp", &file));
    CHECK_OK(talus_vtp_write_surface(&walls, file, &store.head, &s, 0, true));
    talus_vtp_surface_free(&shapes);
    talus_vtp_surface_free(&walls);
    talus_rows_free(&rows);
    talus_frames_head_clear(&store);
    talus_snapshot_free(&s);
    talus_world_destroy(world);
}

int main(void)
{
    RUN(shapes_come_back);
    RUN(shapes_that_differ_are_told_apart);
    RUN(base64_goes_both_ways);
    RUN(wrong_shapes_are_refused);
    RUN(wrong_parts_are_refused);
    RUN(reading_survives_every_failed_allocation);
    RUN(surfaces_are_those_of_the_bodies);
    return talus_test_result();
}

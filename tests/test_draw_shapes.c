/* Pictures of capsules, cones, ellipsoids, hulls, compounds, meshes and fields. */
#include "all_shapes.h"
#include "base/memory.h"
#include "base/pool.h"
#include "draw_scene.h"
#include "geometry/kinds.h"
#include "support/test.h"

#include <stdio.h>

static Scene scene;
static TalusFramesHead head;

/* The shapes of all_shapes.h, then balls. */
enum { BALLS = ALL_SHAPES };
static TalusShapeDef shapes[ALL_SHAPES + 4];

static void begin(void)
{
    memcpy(shapes, all_shapes, sizeof all_shapes);
    shapes[BALLS] = (TalusShapeDef){.kind = TALUS_SHAPE_SPHERE};
    head = scene_head;
    head.shapes = shapes;
    head.shape_count = ALL_SHAPES + 1;
    scene_clear(&scene);
}

static void draw(const TalusDrawDef *def, TalusImage *image)
{
    REQUIRE_OK(talus_draw(&head, &scene.s, def, NULL, image));
}

static const unsigned char *pixel(const TalusImage *image, int x, int y)
{
    return image->pixel + (size_t)image->channels * ((size_t)y * (size_t)image->width + (size_t)x);
}

static double row_width(const TalusImage *image, int y)
{
    double sum = 0.0;
    for (int x = 0; x < image->width; x++)
        sum += pixel(image, x, y)[3] / 255.0;
    return sum;
}

/* Rows of a transparent picture that hold anything. */
static double height(const TalusImage *image)
{
    double sum = 0.0;
    for (int y = 0; y < image->height; y++)
        sum += pixel(image, image->width / 2, y)[3] / 255.0;
    return sum;
}

/* Pixels that differ by more than a few numbers, of all that are covered. */
static double difference(const TalusImage *a, const TalusImage *b)
{
    int differ = 0, covered = 0;
    for (int y = 0; y < a->height; y++)
        for (int x = 0; x < a->width; x++) {
            const unsigned char *p = pixel(a, x, y), *q = pixel(b, x, y);
            int most = 0;
            for (int c = 0; c < 4; c++) {
                int d = p[c] > q[c] ? p[c] - q[c] : q[c] - p[c];
                most = d > most ? d : most;
            }
            covered += p[3] > 0 || q[3] > 0;
            differ += most > 8;
        }
    return covered ? (double)differ / covered : 1.0;
}

/* Widths over heights, at two parts of the height from the top, are as those of the shape but for the perspective. */
typedef struct Outline {
    int shape;
    double high, at[2], wide[2], tolerance;
} Outline;

static void check_outline(const Outline *o)
{
    TalusDrawDef def = scene_def();
    TalusImage image;
    begin();
    def.width = def.height = 120;
    scene_add(&scene, o->shape, talus_vec3(2, 3, 4), 1.5);
    draw(&def, &image);
    double h = height(&image);
    CHECK(h > 90.0 && h < 110.0);
    for (int k = 0; k < 2; k++) {
        double seen = row_width(&image, (int)(0.5 * (120 - h) + o->at[k] * h)) / h;
        if (!CHECK_NEAR(seen, o->wide[k] / o->high, o->tolerance))
            printf("  shape %d\n", o->shape);
    }
    talus_image_free(&image);
}

TEST(shapes_have_their_outlines)
{
    static const Outline outlines[] = {
        {PILL, 1.8, {0.5, 0.2 / 1.8}, {0.8, 0.8 * 0.8660254}, 0.015}, /* half a radius down */
        {HAT, 1.6, {0.75, 0.25}, {0.9, 0.3}, 0.04},
        {EGG, 1.8, {0.5, 0.25}, {1.0, 0.8660254}, 0.015},
        {STONE, 2.1, {0.6, 0.9}, {1.0, 1.0}, 0.015},
        {DUMBBELL, 2.2, {0.3 / 2.2, 0.5}, {0.6, 0.2}, 0.015},
    };
    for (int k = 0; k < 5; k++)
        check_outline(&outlines[k]);
}

/* ---- the same thing said otherwise ---- */

static void picture_of(int shape, TalusQuat q, bool clip, TalusImage *image)
{
    TalusDrawDef def = scene_def();
    scene_clear(&scene);
    scene.orientation[scene_add(&scene, shape, talus_vec3(0, 0, 0), 1.5)] = q;
    def.azimuth = -50.0;
    def.elevation = 25.0;
    def.clip = clip;
    def.clip_axis = 1;
    draw(&def, image);
}

/* A hull of a box's corners is the box; a compound of one part is that part. Whole, and cut open. */
TEST(shapes_that_are_the_same_look_the_same)
{
    static TalusVec3 corner[8];
    static const TalusShapeDef box = {.kind = TALUS_SHAPE_BOX, .half = {0.5, 0.7, 0.9}};
    static const TalusShapePart part = {&box, {1, 2, 3}, {1, 0, 0, 0}};
    TalusQuat q = talus_quat_normalize((TalusQuat){1.0, 0.3, -0.2, 0.4});
    begin();
    for (int k = 0; k < 8; k++)
        corner[k] = talus_vec3(k & 1 ? 0.5 : -0.5, k & 2 ? 0.7 : -0.7, k & 4 ? 0.9 : -0.9);
    shapes[0] = box;
    shapes[1] = (TalusShapeDef){.kind = TALUS_SHAPE_HULL, .vertex = corner, .vertex_count = 8};
    shapes[2] = (TalusShapeDef){.kind = TALUS_SHAPE_COMPOUND, .part = &part, .part_count = 1};
    for (int clip = 0; clip < 2; clip++) {
        TalusImage a, b;
        for (int k = 0; k < 3; k++) {
            picture_of(k, q, clip != 0, &b);
            if (k > 0) {
                if (!CHECK(difference(&a, &b) < 0.01))
                    printf("  shape %d, cut %d: %g\n", k, clip, difference(&a, &b));
                talus_image_free(&a);
            }
            a = b;
        }
        talus_image_free(&a);
    }
}

/* A cut that takes nothing away leaves a hull as it is, though it is drawn by planes then and not by faces; one that
 * takes all leaves nothing. */
TEST(a_cut_hull_is_the_hull)
{
    TalusDrawDef def = scene_def();
    TalusImage whole, cut, none;
    begin();
    scene.orientation[scene_add(&scene, STONE, talus_vec3(0, 0, 0), 1.5)] =
        talus_quat_normalize((TalusQuat){1.0, 0.5, 0.2, -0.3});
    draw(&def, &whole);
    def.clip = true;
    def.clip_axis = 1;
    def.clip_at = -50.0;
    draw(&def, &cut);
    def.clip_at = 50.0;
    draw(&def, &none);
    CHECK(difference(&whole, &cut) < 0.01);
    CHECK(height(&whole) > 50.0 && height(&none) == 0.0);
    talus_image_free(&whole);
    talus_image_free(&cut);
    talus_image_free(&none);
}

/* ---- containers ---- */

static int count_tag(const TalusImage *image, int tag)
{
    uint32_t rgb = talus_palette_category(tag, false);
    int sum = 0, blue = (int)(rgb & 255) > (int)(rgb >> 16);
    for (int y = 0; y < image->height; y++)
        for (int x = 0; x < image->width; x++) {
            const unsigned char *p = pixel(image, x, y);
            sum += p[3] > 200 && (blue ? p[2] > p[0] + 40 : p[0] > p[2] + 40);
        }
    return sum;
}

/* A ball in a tray is seen through its front wall as a ghost and where it is shown, a ball behind a shown tray is not. */
TEST(a_mesh_is_looked_into)
{
    TalusDrawDef def = scene_def();
    TalusImage image;
    int seen[3];
    def.azimuth = -90.0;
    def.elevation = 10.0;
    for (int k = 0; k < 3; k++) {
        begin();
        scene_add(&scene, BALLS, talus_vec3(0, k == 2 ? 1.6 : 0.0, 0.5), 0.4);
        scene.radius[scene_wall(&scene, TRAY, talus_vec3(0, 0, 0))] = 2.0;
        def.container = k ? TALUS_CONTAINER_SHOWN : TALUS_CONTAINER_GHOST;
        draw(&def, &image);
        seen[k] = count_tag(&image, 0);
        talus_image_free(&image);
    }
    CHECK(seen[0] > 200 && seen[1] > 200);
    CHECK(seen[2] < seen[1] / 4);
}

/* A field is drawn as it is: it hides what is below, takes a shadow, and goes with the container. */
TEST(a_field_is_the_ground)
{
    TalusDrawDef def = scene_def();
    TalusImage image;
    int seen[3];
    def.elevation = 70.0;
    for (int k = 0; k < 3; k++) {
        begin();
        scene_add(&scene, BALLS, talus_vec3(0, 0, k == 1 ? -1.0 : 1.0), 0.3);
        scene.radius[scene_wall(&scene, HILL, talus_vec3(0, 0, 0))] = 2.0;
        def.container = k < 2 ? TALUS_CONTAINER_GHOST : TALUS_CONTAINER_HIDDEN;
        draw(&def, &image);
        seen[k] = count_tag(&image, 0);
        if (k == 0) { /* the middle of the picture is the ground, in light and in shadow */
            int bright = 0, dim = 0;
            for (int y = 0; y < image.height; y++)
                for (int x = 0; x < image.width; x++) {
                    const unsigned char *p = pixel(&image, x, y);
                    bool grey = p[3] == 255 && p[0] < p[2] + 30 && p[2] < p[0] + 5;
                    bright += grey && p[0] > 160;
                    dim += grey && p[0] < 150;
                }
            CHECK(bright > 1000);
            CHECK(dim > 60 && dim < bright / 8);
        }
        talus_image_free(&image);
    }
    CHECK(seen[0] > 50);
    CHECK_INT(seen[1], 0);
    CHECK(seen[2] > 1000); /* alone it fills the picture */
}

/* ---- how ---- */

static void pile(void)
{
    begin();
    for (int k = 0; k < 30; k++) {
        TalusVec3 at = {1.7 * (k % 4), 1.7 * (k / 4 % 4), 1.7 * (k / 16)};
        int row = scene_add(&scene, k % TRAY, at, 1.0);
        scene.tag[row] = k;
        scene.orientation[row] =
            talus_quat_normalize((TalusQuat){1.0, at.x - at.y, 0.3 * at.z, 0.2 * at.x});
    }
    scene.radius[scene_wall(&scene, TRAY, talus_vec3(2, 2, -2))] = 2.0;
    scene.radius[scene_wall(&scene, HILL, talus_vec3(2, 2, -3))] = 2.0;
    scene.radius[scene_wall(&scene, STONE, talus_vec3(2, 8, 0))] = 2.0;
}

TEST(threads_do_not_show)
{
    TalusDrawDef def = scene_def();
    TalusImage one, four;
    TalusPool *pool;
    pile();
    def.container = TALUS_CONTAINER_GHOST;
    def.azimuth = -55.0;
    def.elevation = 20.0;
    draw(&def, &one);
    REQUIRE_OK(talus_pool_create(4, &pool));
    CHECK_OK(talus_draw(&head, &scene.s, &def, pool, &four));
    talus_pool_destroy(pool);
    CHECK(memcmp(one.pixel, four.pixel, (size_t)4 * 120 * 90) == 0);
    talus_image_free(&one);
    talus_image_free(&four);
}

TEST(every_allocation_may_fail)
{
    TalusDrawDef def = scene_def();
    pile();
    def.width = def.height = 16;
    def.container = TALUS_CONTAINER_SHOWN;
    check_draw_memory(&head, &scene.s, &def, 4000, 3);
}

int main(void)
{
    RUN(shapes_have_their_outlines);
    RUN(shapes_that_are_the_same_look_the_same);
    RUN(a_cut_hull_is_the_hull);
    RUN(a_mesh_is_looked_into);
    RUN(a_field_is_the_ground);
    RUN(threads_do_not_show);
    RUN(every_allocation_may_fail);
    return talus_test_result();
}

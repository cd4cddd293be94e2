/* Pictures: what is seen of what, from where. */
#include "draw_scene.h"
#include "geometry/kinds.h"
#include "support/test.h"

#include <stdlib.h>

static Scene scene;

static const unsigned char *pixel(const TalusImage *image, int x, int y)
{
    return image->pixel + (size_t)image->channels * ((size_t)y * (size_t)image->width + (size_t)x);
}

/* Of a transparent picture: how many pixels are covered. */
static double area(const TalusImage *image)
{
    double sum = 0.0;
    for (int y = 0; y < image->height; y++)
        for (int x = 0; x < image->width; x++)
            sum += pixel(image, x, y)[3] / 255.0;
    return sum;
}

static bool is_blue(const unsigned char *p)
{
    return p[2] > 60 && p[2] > p[0] + 40;
}

static bool is_red(const unsigned char *p)
{
    return p[0] > 60 && p[0] > p[2] + 40;
}

static int count(const TalusImage *image, bool (*is)(const unsigned char *))
{
    int sum = 0;
    for (int y = 0; y < image->height; y++)
        for (int x = 0; x < image->width; x++)
            sum += is(pixel(image, x, y));
    return sum;
}

static bool draw(const TalusDrawDef *def, TalusImage *image)
{
    return CHECK_OK(talus_draw(&scene_head, &scene.s, def, NULL, image));
}

/* ---- silhouettes ---- */

/* A single sphere in the middle is a disc that leaves the margin free. */
TEST(a_sphere_has_the_area_of_its_disc)
{
    for (int zoomed = 0; zoomed < 2; zoomed++) {
        TalusDrawDef def = scene_def();
        TalusImage image;
        def.zoom = zoomed ? 0.5 : 1.0;
        scene_clear(&scene);
        scene_add(&scene, BALL, talus_vec3(3, -7, 11), 0.37);
        REQUIRE(draw(&def, &image));
        double radius = (0.5 - TALUS_FIT_MARGIN) * def.height * def.zoom;
        CHECK_NEAR(area(&image), TALUS_PI * radius * radius, 0.01 * TALUS_PI * radius * radius);
        talus_image_free(&image);
    }
}

/* Off the axis a sphere is an ellipse: with its distance d, the depth z of its middle and the focal
 * length f the area is pi f^2 r^2 sqrt(d^2 - r^2) / (z^2 - r^2)^(3/2). */
TEST(a_sphere_off_the_axis_is_an_ellipse)
{
    TalusDrawDef def = scene_def();
    TalusImage image;
    double slope = tan(0.5 * TALUS_FIELD_OF_VIEW * TALUS_PI / 180.0);
    def.width = def.height = 240;
    scene_clear(&scene);
    scene_add(&scene, BALL, talus_vec3(-6, 0, 0), 1.0);
    scene_add(&scene, BALL, talus_vec3(6, 0, 0), 1.0);
    REQUIRE(draw(&def, &image));
    double s = 0.5 * def.height / slope, t = (0.5 - TALUS_FIT_MARGIN) * def.width / s;
    double depth = (6.0 + sqrt(1.0 + t * t)) / t, d2 = depth * depth + 36.0;
    double z2 = depth * depth - 1.0, expected = TALUS_PI * s * s * sqrt(d2 - 1.0) / (z2 * sqrt(z2));
    CHECK_NEAR(area(&image), 2.0 * expected, 0.01 * 2.0 * expected);
    talus_image_free(&image);
}

/* Seen from the front, a box is its front face. */
TEST(a_box_has_its_outline)
{
    TalusDrawDef def = scene_def();
    TalusImage image;
    def.width = def.height = 200;
    scene_clear(&scene);
    scene_add(&scene, BRICK, talus_vec3(0, 0, 0), 1.5);
    REQUIRE(draw(&def, &image));
    double high = (1.0 - 2.0 * TALUS_FIT_MARGIN) * def.height, wide = high * 0.5 / 0.9;
    CHECK_NEAR(area(&image), high * wide, 0.01 * high * wide);
    talus_image_free(&image);
}

/* The front of a cylinder's rim tells its distance, and that the width at the middle: 2 f h / (d - r)
 * high, 2 f r / sqrt(d^2 - r^2) wide. */
TEST(a_cylinder_has_its_outline)
{
    TalusDrawDef def = scene_def();
    TalusImage image;
    def.width = def.height = 300;
    scene_clear(&scene);
    scene_add(&scene, DRUM, talus_vec3(0, 0, 0), 1.5);
    REQUIRE(draw(&def, &image));
    double f = 0.5 * def.height / tan(0.5 * TALUS_FIELD_OF_VIEW * TALUS_PI / 180.0);
    double high = 0.0, wide = 0.0, r = 0.6, h = 0.8;
    for (int k = 0; k < 300; k++) {
        high += pixel(&image, 150, k)[3] / 255.0;
        wide += pixel(&image, k, 150)[3] / 255.0;
    }
    double d = r + 2.0 * f * h / high;
    CHECK(high > 200.0);
    CHECK_NEAR(wide, 2.0 * f * r / sqrt(d * d - r * r), 0.01 * wide);
    talus_image_free(&image);
}

TEST(the_nearer_hides_the_farther)
{
    for (int behind = 0; behind < 2; behind++) {
        TalusDrawDef def = scene_def();
        TalusImage image;
        scene_clear(&scene);
        scene.tag[scene_add(&scene, BALL, talus_vec3(0, -4, 0), 1.0)] = 0; /* blue */
        scene.tag[scene_add(&scene, BALL, talus_vec3(0, 4, 0), 1.0)] = 1;  /* red */
        def.azimuth = behind ? 90.0 : -90.0;
        REQUIRE(draw(&def, &image));
        int blue = count(&image, is_blue), red = count(&image, is_red);
        CHECK((behind ? red : blue) > 1000);
        CHECK_INT(behind ? blue : red, 0);
        talus_image_free(&image);
    }
}

/* Up is against gravity, whichever way that is. */
TEST(up_is_against_gravity)
{
    static const TalusVec3 down[] = {{0, 0, -1}, {0, 0, 1}, {-1, 0, 0}, {0, 3, 0}};
    for (int k = 0; k < 4; k++) {
        TalusDrawDef def = scene_def();
        TalusFramesHead head = scene_head;
        TalusImage image;
        TalusVec3 up = talus_scale(-1.5 / talus_norm(down[k]), down[k]);
        head.gravity = down[k];
        scene_clear(&scene);
        scene.tag[scene_add(&scene, BALL, up, 1.0)] = 0;
        scene.tag[scene_add(&scene, BALL, talus_neg(up), 1.0)] = 1;
        REQUIRE(talus_draw(&head, &scene.s, &def, NULL, &image) == TALUS_OK);
        CHECK(is_blue(pixel(&image, 60, 25)));
        CHECK(is_red(pixel(&image, 60, 65)));
        talus_image_free(&image);
    }
}

TEST(views_have_their_sides)
{
    TalusDrawDef def = scene_def();
    TalusImage image;
    scene_clear(&scene);
    scene.tag[scene_add(&scene, BALL, talus_vec3(-2, 0, 0), 1.0)] = 0;
    scene.tag[scene_add(&scene, BALL, talus_vec3(2, 0, 0), 1.0)] = 1;
    REQUIRE(draw(&def, &image)); /* front: x goes to the right */
    CHECK(is_blue(pixel(&image, 30, 45)) && is_red(pixel(&image, 90, 45)));
    talus_image_free(&image);
    def.azimuth = 0.0; /* side: from +x, the red one in front */
    REQUIRE(draw(&def, &image));
    CHECK(is_red(pixel(&image, 60, 45)));
    CHECK_INT(count(&image, is_blue), 0);
    talus_image_free(&image);
    def.azimuth = -90.0;
    def.elevation = 90.0; /* top: x still to the right */
    REQUIRE(draw(&def, &image));
    CHECK(is_blue(pixel(&image, 30, 45)) && is_red(pixel(&image, 90, 45)));
    talus_image_free(&image);
}

/* ---- clipping, containers, chains ---- */

TEST(clipping_removes_the_half)
{
    TalusDrawDef def = scene_def();
    TalusImage whole, half;
    scene_clear(&scene);
    scene_add(&scene, BALL, talus_vec3(0, 0, 1), 1.0);
    REQUIRE(draw(&def, &whole));
    def.clip = true;
    def.clip_axis = 2;
    def.clip_at = 1.0;
    REQUIRE(draw(&def, &half));
    CHECK_NEAR(area(&half), 0.5 * area(&whole), 0.02 * area(&whole));
    CHECK(pixel(&half, 60, 30)[3] == 0 && pixel(&half, 60, 60)[3] == 255);
    talus_image_free(&half);
    def.clip_axis = 1; /* towards the viewer: a flat face, all of one light */
    def.clip_at = 0.0;
    REQUIRE(draw(&def, &half));
    const unsigned char *a = pixel(&half, 45, 45), *b = pixel(&half, 70, 30);
    CHECK(abs(a[2] - b[2]) <= 2);
    a = pixel(&whole, 45, 45), b = pixel(&whole, 70, 70);
    CHECK(abs(a[2] - b[2]) > 5);
    talus_image_free(&half);
    def.clip_at = -2.0; /* all of it lies beyond */
    REQUIRE(draw(&def, &half));
    CHECK_NEAR(area(&half), area(&whole), 1e-9);
    talus_image_free(&half);
    def.clip_at = 2.0; /* all of it lies on the camera's side */
    REQUIRE(draw(&def, &half));
    CHECK(area(&half) == 0.0);
    talus_image_free(&half);
    talus_image_free(&whole);
}

/* Beyond the zenith the camera stays there, and the cut leaves the same half as there. */
TEST(the_cut_is_seen_from_the_camera)
{
    TalusDrawDef def = scene_def();
    TalusImage zenith, beyond;
    scene_clear(&scene);
    scene_add(&scene, BRICK, talus_vec3(0, 0, 0), 1.0);
    def.azimuth = 90.0;
    def.elevation = 90.0;
    def.clip = true;
    def.clip_axis = 1;
    REQUIRE(draw(&def, &zenith));
    def.elevation = 120.0;
    REQUIRE(draw(&def, &beyond));
    CHECK(memcmp(zenith.pixel, beyond.pixel, (size_t)zenith.width * (size_t)zenith.height * 4) ==
          0);
    talus_image_free(&zenith);
    talus_image_free(&beyond);
}

static int ghost_wall(TalusContainerStyle look, TalusImage *image)
{
    TalusDrawDef def = scene_def();
    def.container = look;
    def.elevation = 15.0;
    scene_clear(&scene);
    scene.tag[scene_add(&scene, BALL, talus_vec3(0, 0, 0), 0.8)] = 1;
    scene_wall(&scene, CUP, talus_vec3(0, 0, 0));
    return draw(&def, image) ? count(image, is_red) : -1;
}

/* The ghost hides nothing, and is seen itself. */
TEST(a_ghost_lets_grains_be_seen)
{
    TalusImage hidden, ghost, shown;
    int without = ghost_wall(TALUS_CONTAINER_HIDDEN, &hidden);
    int inside = ghost_wall(TALUS_CONTAINER_GHOST, &ghost);
    int opaque = ghost_wall(TALUS_CONTAINER_SHOWN, &shown);
    CHECK(inside > 200 && opaque > 200);
    CHECK(without > 2 * inside); /* the vessel makes the picture larger, the grain smaller */
    double bare = area(&hidden), faint = area(&ghost), full = area(&shown);
    CHECK(faint > 1.2 * inside && full > 1.5 * faint && bare > 0.0);
    const unsigned char *middle = pixel(&ghost, 60, 45), *wall = pixel(&ghost, 32, 40);
    CHECK(is_red(middle) && middle[3] == 255);
    CHECK(wall[3] > 5 && wall[3] < 200);
    talus_image_free(&hidden);
    talus_image_free(&ghost);
    talus_image_free(&shown);
}

/* A ball above a plane darkens the ground below it, and not far from it. */
TEST(shadows_fall_on_the_ground)
{
    TalusDrawDef def = scene_def();
    TalusImage image;
    def.container = TALUS_CONTAINER_GHOST;
    def.elevation = 30.0;
    def.zoom = 0.4;
    scene_clear(&scene);
    scene_wall(&scene, GROUND, talus_vec3(0, 0, 0));
    scene_add(&scene, BALL, talus_vec3(0, 0, 1), 1.0);
    REQUIRE(draw(&def, &image));
    CHECK(pixel(&image, 2, 2)[3] < 4);
    int darkest = 0;
    for (int y = 0; y < image.height; y++)
        for (int x = 0; x < image.width; x++) {
            const unsigned char *p = pixel(&image, x, y);
            if (p[0] == 0 && p[1] == 0 && p[2] == 0 && p[3] > darkest)
                darkest = p[3];
        }
    CHECK(darkest > 40 && darkest < 140);
    talus_image_free(&image);
}

TEST(chains_show_through_bodies)
{
    TalusDrawDef def = scene_def();
    TalusImage image;
    scene_clear(&scene);
    scene_add(&scene, BALL, talus_vec3(-1, 0, 0), 1.0);
    scene_add(&scene, BALL, talus_vec3(1, 0, 0), 1.0);
    def.chains = true;
    CHECK(talus_draw(&scene_head, &scene.s, &def, NULL, &image) == TALUS_ERR_ARGUMENT);
    CHECK(strstr(talus_error(), "holds no contacts") != NULL);
    scene.s.contact = scene.contact;
    scene.s.contact_a = scene.contact_a;
    scene.s.contact_b = scene.contact_b;
    scene.s.contact_count = 1;
    scene.contact_b[0] = 1;
    scene.contact[0].normal = talus_vec3(1, 0, 0);
    scene.contact[0].impulse = talus_vec3(0.1, 0, 0);
    REQUIRE(draw(&def, &image));
    const unsigned char *chain = pixel(&image, 35, 45); /* inside a body: yellow through the veil */
    CHECK(chain[3] == 255 && chain[0] > chain[2] + 30);
    CHECK(pixel(&image, 30, 25)[3] > 20 && pixel(&image, 30, 25)[3] < 120); /* the veil */
    talus_image_free(&image);
}

/* Two balls that press on each other, 3 m behind the middle of a cup that is shown, or within it. */
static int chain_pixels(double y, TalusImage *image)
{
    TalusDrawDef def = scene_def();
    def.chains = true;
    def.container = TALUS_CONTAINER_SHOWN;
    scene_clear(&scene);
    scene_wall(&scene, CUP, talus_vec3(0, 0, 0));
    scene_add(&scene, BALL, talus_vec3(-0.5, y, 0), 0.5);
    scene_add(&scene, BALL, talus_vec3(0.5, y, 0), 0.5);
    scene.s.contact = scene.contact;
    scene.s.contact_a = scene.contact_a;
    scene.s.contact_b = scene.contact_b;
    scene.s.contact_count = 1;
    scene.contact_a[0] = 1;
    scene.contact_b[0] = 2;
    scene.contact[0].normal = talus_vec3(1, 0, 0);
    scene.contact[0].impulse = talus_vec3(0.1, 0, 0);
    return draw(&def, image) ? count(image, is_red) : -1;
}

TEST(walls_hide_chains_behind_them)
{
    TalusImage within, behind;
    CHECK(chain_pixels(0.0, &within) > 100);
    CHECK_INT(chain_pixels(3.0, &behind), 0);
    CHECK(is_red(pixel(&within, 60, 45)));
    CHECK_INT(pixel(&within, 42, 52)[3], 255); /* the veil of a ball, and the wall behind it */
    talus_image_free(&within);
    talus_image_free(&behind);
}

/* ---- sizes and odd inputs ---- */

TEST(sizes_from_one_pixel_to_8k)
{
    static const int sizes[][2] = {{1, 1}, {1, 7}, {64, 64}, {65, 63}, {7680, 4}, {3, 4320}};
    scene_clear(&scene);
    scene_add(&scene, BALL, talus_vec3(0, 0, 1), 1.0);
    scene_wall(&scene, GROUND, talus_vec3(0, 0, 0));
    for (int k = 0; k < 6; k++) {
        TalusDrawDef def = scene_def();
        TalusImage image;
        def.container = TALUS_CONTAINER_GHOST;
        def.plain = false;
        def.width = sizes[k][0];
        def.height = sizes[k][1];
        REQUIRE(draw(&def, &image));
        CHECK_INT(image.width, def.width);
        CHECK_INT(image.height, def.height);
        talus_image_free(&image);
    }
    TalusDrawDef def = scene_def();
    TalusImage image;
    def.width = 0;
    CHECK(talus_draw(&scene_head, &scene.s, &def, NULL, &image) == TALUS_ERR_ARGUMENT);
    CHECK_STR(talus_error(), "picture: 0x90; sides are 1 to 16384 pixels");
}

TEST(nothing_is_a_picture_too)
{
    TalusDrawDef def = scene_def();
    TalusImage image;
    def.transparent = false;
    scene_clear(&scene);
    REQUIRE(draw(&def, &image));
    CHECK(pixel(&image, 60, 45)[0] == 0xff && pixel(&image, 60, 45)[2] == 0xfb);
    talus_image_free(&image);
    def.dark = true;
    scene_wall(&scene, GROUND, talus_vec3(0, 0, 0)); /* a plane alone has no extent */
    def.container = TALUS_CONTAINER_SHOWN;
    REQUIRE(draw(&def, &image));
    CHECK(pixel(&image, 2, 2)[0] == 0x17 && pixel(&image, 2, 2)[2] == 0x16);
    talus_image_free(&image);
}

/* One body that has flown off does not make the others dots; a NaN does no harm. */
TEST(outliers_do_not_count)
{
    TalusDrawDef def = scene_def();
    TalusImage with, without;
    scene_clear(&scene);
    for (int k = 0; k < 64; k++)
        scene_add(&scene, BALL, talus_vec3(2 * (k % 4), 2 * (k / 4 % 4), 2 * (k / 16)), 1.0);
    REQUIRE(draw(&def, &without));
    scene_add(&scene, BALL, talus_vec3(0, 0, -1e5), 1.0);
    scene_add(&scene, BALL, talus_vec3(NAN, 0, 0), 1.0);
    REQUIRE(draw(&def, &with));
    CHECK_NEAR(area(&with), area(&without), 0.01 * area(&without));
    talus_image_free(&with);
    talus_image_free(&without);
}

/* A flat bed has no height of its own to measure another body's by. */
TEST(above_a_flat_bed_counts)
{
    TalusDrawDef def = scene_def();
    TalusImage image;
    scene_clear(&scene);
    for (int k = 0; k < 64; k++)
        scene_add(&scene, BALL, talus_vec3(2 * (k % 8), 2 * (k / 8), 0), 1.0);
    scene.tag[scene_add(&scene, BALL, talus_vec3(7, 7, 9), 1.0)] = 1;
    REQUIRE(draw(&def, &image));
    CHECK(count(&image, is_red) > 20);
    talus_image_free(&image);
}

/* A few fixed balls are glass, the ground of many is not: each costs thousands of triangles. */
TEST(many_fixed_bodies_are_solid)
{
    TalusDrawDef def = scene_def();
    def.container = TALUS_CONTAINER_GHOST;
    def.elevation = 40.0;
    for (int side = 3; side <= 6; side += 3) {
        TalusImage image;
        int opaque = 0;
        scene_clear(&scene);
        for (int k = 0; k < side * side; k++)
            scene.fixed[scene_add(&scene, BALL, talus_vec3(2 * (k % side), 2 * (k / side), 0),
                                  1.0)] = true;
        REQUIRE(draw(&def, &image));
        for (int k = 0; k < image.width * image.height; k++)
            opaque += image.pixel[4 * k + 3] == 255;
        CHECK(side == 3 ? opaque == 0 : opaque > 1000);
        talus_image_free(&image);
    }
}

TEST(colours_that_a_frame_does_not_hold)
{
    TalusDrawDef def = scene_def();
    TalusImage image;
    scene_clear(&scene);
    scene_add(&scene, BALL, talus_vec3(0, 0, 0), 1.0);
    def.colour = TALUS_COLOUR_LAYER;
    CHECK(talus_draw(&scene_head, &scene.s, &def, NULL, &image) == TALUS_ERR_ARGUMENT);
    CHECK_STR(talus_error(),
              "colour by layer: this frame does not hold it; those of a run with --out do");
    def.colour = TALUS_COLOUR_SPEED;
    def.low = 2.0;
    def.high = 1.0;
    CHECK(talus_draw(&scene_head, &scene.s, &def, NULL, &image) == TALUS_ERR_ARGUMENT);
    CHECK_STR(talus_error(), "range 2:1; the first must be below the second");
    def.low = NAN; /* 0 */
    def.high = -1.0;
    CHECK(talus_draw(&scene_head, &scene.s, &def, NULL, &image) == TALUS_ERR_ARGUMENT);
    CHECK_STR(talus_error(), "range 0:-1; the first must be below the second");
    def.high = 0.0;
    CHECK(talus_draw(&scene_head, &scene.s, &def, NULL, &image) == TALUS_ERR_ARGUMENT);
    def.high = INFINITY;
    CHECK(talus_draw(&scene_head, &scene.s, &def, NULL, &image) == TALUS_ERR_ARGUMENT);
    CHECK_STR(talus_error(), "range 0:inf; expected two finite numbers");
    def.high = 1.0;
    CHECK_OK(talus_draw(&scene_head, &scene.s, &def, NULL, &image));
    talus_image_free(&image);
}

/* The scale's ends are the palette's, whatever the light. */
TEST(values_become_colours)
{
    TalusDrawDef def = scene_def();
    TalusImage image;
    scene_clear(&scene);
    scene.speed[scene_add(&scene, BALL, talus_vec3(-2, 0, 0), 1.0)] = 3.0;
    scene.speed[scene_add(&scene, BALL, talus_vec3(2, 0, 0), 1.0)] = 5.0;
    def.colour = TALUS_COLOUR_SPEED;
    def.low = 3.0;
    def.high = 5.0;
    REQUIRE(draw(&def, &image));
    const unsigned char *slow = pixel(&image, 30, 40), *fast = pixel(&image, 90, 40);
    CHECK(is_blue(slow));
    CHECK(fast[0] > 180 && fast[1] > 160 && fast[2] < fast[1] - 60); /* yellow */
    talus_image_free(&image);
}

int main(void)
{
    RUN(a_sphere_has_the_area_of_its_disc);
    RUN(a_sphere_off_the_axis_is_an_ellipse);
    RUN(a_box_has_its_outline);
    RUN(a_cylinder_has_its_outline);
    RUN(the_nearer_hides_the_farther);
    RUN(up_is_against_gravity);
    RUN(views_have_their_sides);
    RUN(clipping_removes_the_half);
    RUN(the_cut_is_seen_from_the_camera);
    RUN(a_ghost_lets_grains_be_seen);
    RUN(shadows_fall_on_the_ground);
    RUN(chains_show_through_bodies);
    RUN(walls_hide_chains_behind_them);
    RUN(sizes_from_one_pixel_to_8k);
    RUN(nothing_is_a_picture_too);
    RUN(outliers_do_not_count);
    RUN(above_a_flat_bed_counts);
    RUN(many_fixed_bodies_are_solid);
    RUN(colours_that_a_frame_does_not_hold);
    RUN(values_become_colours);
    return talus_test_result();
}

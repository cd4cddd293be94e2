/* Narrow phase: where two shapes touch, pair by pair. */
#include "base/rng.h"
#include "collide/narrow.h"
#include "geometry/bounds.h"
#include "support/test.h"

#include <string.h>

enum { MAX_TOUCHES = 16 };

typedef struct Touches {
    int count;
    TalusManifoldPoint touch[MAX_TOUCHES];
} Touches;

static void take(void *context, const TalusManifoldPoint *touch)
{
    Touches *t = context;
    if (t->count < MAX_TOUCHES)
        t->touch[t->count] = *touch;
    t->count++;
}

/* What holds for every touch: unit normal, surface points `gap` apart along it, own feature. */
static Touches meet(const TalusPose *a, const TalusPose *b, double reach)
{
    Touches t = {0};
    CHECK(talus_narrow(a, b, reach, take, &t));
    CHECK(t.count <= MAX_TOUCHES);
    for (int i = 0; i < t.count && i < MAX_TOUCHES; i++) {
        const TalusManifoldPoint *c = &t.touch[i];
        TalusVec3 on_a = talus_add(a->position, c->arm_a), on_b = talus_add(b->position, c->arm_b);
        TalusVec3 d = talus_sub(on_b, on_a);
        CHECK_NEAR(talus_norm(c->normal), 1.0, 1e-14);
        CHECK_NEAR(talus_dot(d, c->normal), c->gap, 1e-13);
        CHECK_NEAR(talus_norm(talus_madd(d, -c->gap, c->normal)), 0.0, 1e-13);
        CHECK(c->gap < reach);
        for (int j = 0; j < i; j++)
            CHECK(t.touch[j].feature != c->feature);
    }
    return t;
}

static TalusPose pose(const TalusShape *shape, double radius, TalusVec3 x, TalusQuat q)
{
    TalusPose p = {shape, shape->def.kind == TALUS_SHAPE_SPHERE ? radius : shape->bounding_radius,
                   x, q};
    return p;
}

static TalusShape ball, ground, brick, drum, slab, stick;

static void make_shapes(void)
{
    const TalusShapeDef balls = {.kind = TALUS_SHAPE_SPHERE}, grounds = {.kind = TALUS_SHAPE_PLANE};
    const TalusShapeDef bricks = {.kind = TALUS_SHAPE_BOX, .half = {0.5, 0.5, 0.5}};
    const TalusShapeDef slabs = {.kind = TALUS_SHAPE_BOX, .half = {2.0, 2.0, 0.1}};
    const TalusShapeDef sticks = {.kind = TALUS_SHAPE_BOX, .half = {1.0, 0.1, 0.1}};
    const TalusShapeDef drums = {.kind = TALUS_SHAPE_CYLINDER, .radius = 0.5, .half_height = 0.75};
    CHECK_OK(talus_shape_init(&ball, &balls));
    CHECK_OK(talus_shape_init(&ground, &grounds));
    CHECK_OK(talus_shape_init(&brick, &bricks));
    CHECK_OK(talus_shape_init(&slab, &slabs));
    CHECK_OK(talus_shape_init(&stick, &sticks));
    CHECK_OK(talus_shape_init(&drum, &drums));
}

static TalusQuat turn(double w, double x, double y, double z)
{
    TalusQuat q = {w, x, y, z};
    return talus_quat_normalize(q);
}

static const TalusQuat upright = {1.0, 0.0, 0.0, 0.0};

static TalusVec3 in_cube(TalusRng *rng)
{
    double x = 2.0 * talus_rng_uniform(rng) - 1.0, y = 2.0 * talus_rng_uniform(rng) - 1.0;
    return talus_vec3(x, y, 2.0 * talus_rng_uniform(rng) - 1.0);
}

static TalusQuat random_turn(TalusRng *rng)
{
    TalusVec3 v = in_cube(rng);
    return turn(talus_rng_uniform(rng) + 0.1, v.x, v.y, v.z);
}

/* ---- spheres --------------------------------------------------------------------------------- */

/* A point of the solid nearest to p, by a grid of samples in the solid's frame. */
static double sampled_distance(const TalusPose *solid, TalusVec3 p)
{
    enum { N = 24 };
    const TalusShapeDef *def = &solid->shape->def;
    bool box = def->kind == TALUS_SHAPE_BOX;
    double least = INFINITY;
    for (int k = 0; k < (N + 1) * (N + 1) * (N + 1); k++) {
        double u = 2.0 * (k % (N + 1)) / N - 1.0, v = 2.0 * (k / (N + 1) % (N + 1)) / N - 1.0;
        double w = 2.0 * (k / (N + 1) / (N + 1)) / N - 1.0;
        double disc = fmax(fabs(u), fabs(v)) / fmax(1e-300, sqrt(u * u + v * v)); /* to a circle */
        TalusVec3 s =
            box ? talus_vec3(u * def->half.x, v * def->half.y, w * def->half.z)
                : talus_vec3(u * disc * def->radius, v * disc * def->radius, w * def->half_height);
        TalusVec3 x = talus_add(solid->position, talus_rotate(solid->orientation, s));
        least = fmin(least, talus_norm(talus_sub(p, x)));
    }
    return least;
}

static void check_sphere_with(const TalusShape *shape)
{
    TalusRng rng = talus_rng_from_seed(21);
    int outside = 0;
    for (int k = 0; k < 60; k++) {
        TalusPose solid = pose(shape, 0.0, in_cube(&rng), random_turn(&rng));
        TalusPose sphere = pose(&ball, 0.2, talus_scale(1.5, in_cube(&rng)), upright);
        double expected = sampled_distance(&solid, sphere.position);
        Touches t = meet(&sphere, &solid, 10.0);
        REQUIRE(t.count == 1);
        double distance = t.touch[0].gap + sphere.radius;
        outside += distance > 0.0;
        CHECK_NEAR(fmax(distance, 0.0), expected, 0.06); /* the samples' distance */
        CHECK(fmax(distance, 0.0) <= expected + 1e-14);
        Touches swapped = meet(&solid, &sphere, 10.0);
        REQUIRE(swapped.count == 1);
        CHECK(swapped.touch[0].gap == t.touch[0].gap);
        CHECK(swapped.touch[0].normal.x == -t.touch[0].normal.x);
    }
    CHECK(outside > 20);
}

TEST(sphere_with_box_and_cylinder)
{
    check_sphere_with(&brick);
    check_sphere_with(&drum);
    TalusPose box = pose(&brick, 0.0, talus_vec3(0, 0, 0), upright);
    TalusPose sphere = pose(&ball, 0.2, talus_vec3(0.1, 0.2, 0.69), upright);
    Touches t = meet(&sphere, &box, 0.01);
    REQUIRE(t.count == 1);
    CHECK_NEAR(t.touch[0].gap, -0.01, 1e-15);
    CHECK(t.touch[0].normal.z == -1.0 && t.touch[0].normal.x == 0.0);
    sphere.position.z = 0.45; /* centre inside: out through the nearest face */
    t = meet(&sphere, &box, 0.01);
    CHECK_NEAR(t.touch[0].gap, -0.25, 1e-15);
    CHECK(t.touch[0].normal.z == -1.0);
}

TEST(sphere_with_plane)
{
    TalusQuat q = turn(1.0, 0.4, -0.3, 0.2);
    TalusPose plane = pose(&ground, 0.0, talus_vec3(1, 2, 3), q);
    TalusVec3 up = talus_rotate(q, talus_vec3(0, 0, 1)),
              along = talus_rotate(q, talus_vec3(5, -7, 0));
    TalusVec3 x = talus_add(talus_madd(plane.position, 0.19, up), along);
    TalusPose sphere = pose(&ball, 0.2, x, upright);
    Touches t = meet(&sphere, &plane, 0.0);
    REQUIRE(t.count == 1);
    CHECK_NEAR(t.touch[0].gap, -0.01, 1e-14);
    CHECK_NEAR(talus_dot(t.touch[0].normal, up), -1.0, 1e-15);
}

TEST(sphere_with_revolve)
{
    const double cup[] = {0.0, 0.0, 1.0, 0.0, 1.0, 2.0};
    TalusShapeDef def = {.kind = TALUS_SHAPE_REVOLVE, .profile = cup, .point_count = 3};
    TalusShape vessel;
    REQUIRE_OK(talus_shape_init(&vessel, &def));
    TalusQuat q = turn(1.0, 0.4, -0.3, 0.2);
    TalusPose wall = pose(&vessel, 0.0, talus_vec3(1, 2, 3), q);
    TalusVec3 local = {0.0, 0.81, 0.195};
    TalusPose sphere = pose(&ball, 0.2, talus_add(wall.position, talus_rotate(q, local)), upright);
    Touches t = meet(&sphere, &wall, 0.01);
    REQUIRE(t.count == 2);
    CHECK_NEAR(t.touch[0].gap, -0.005, 1e-14);
    CHECK_NEAR(t.touch[1].gap, -0.01, 1e-14);
    CHECK_NEAR(talus_rotate_back(q, t.touch[0].normal).z, -1.0, 1e-14);
    CHECK_NEAR(talus_rotate_back(q, t.touch[1].normal).y, 1.0, 1e-14);

    Touches none = {0}; /* a shape with no function for the wall, inside it but away from it */
    TalusPose box = pose(&stick, 0.0,
                         talus_add(wall.position, talus_rotate(q, talus_vec3(0, 0, 1.1))), upright);
    CHECK(!talus_narrow(&box, &wall, 0.01, take, &none)); /* bounding sphere reaches the wall */
    box.radius = 0.9;
    CHECK(talus_narrow(&box, &wall, 0.01, take, &none));
    CHECK_INT(none.count, 0);
    talus_shape_clear(&vessel);
}

/* ---- planes ---------------------------------------------------------------------------------- */

TEST(box_on_plane)
{
    TalusPose plane = pose(&ground, 0.0, talus_vec3(0, 0, 0), upright);
    TalusPose box = pose(&brick, 0.0, talus_vec3(3, 4, 0.49), upright);
    Touches t = meet(&box, &plane, 0.05);
    REQUIRE(t.count == 4);
    for (uint32_t k = 0; k < 4; k++) {
        CHECK(t.touch[k].feature == k && t.touch[k].normal.z == -1.0);
        CHECK_NEAR(t.touch[k].gap, -0.01, 1e-15);
    }
    box.orientation = turn(1.0, 0.02, 0.0, 0.0); /* tilted by 0.04: one edge leaves the envelope */
    box.position.z = 0.51;
    CHECK_INT(meet(&box, &plane, 0.01).count, 2);
    box.orientation = turn(1.0, 0.4, 0.2, 0.0); /* on a corner */
    TalusAabb bounds = talus_shape_bounds(&brick, 0.0, talus_vec3(0, 0, 0), box.orientation);
    box.position.z = bounds.hi.z + 0.003;
    t = meet(&box, &plane, 0.01);
    REQUIRE(t.count == 1);
    CHECK_NEAR(t.touch[0].gap, 0.003, 1e-14);
}

TEST(cylinder_on_plane)
{
    TalusPose plane = pose(&ground, 0.0, talus_vec3(0, 0, 0), upright);
    TalusPose can = pose(&drum, 0.0, talus_vec3(3, 4, 0.749), upright);
    Touches t = meet(&can, &plane, 0.01);
    REQUIRE(t.count == 4); /* standing: spread over the rim */
    TalusVec3 sum = {0, 0, 0};
    for (uint32_t k = 0; k < 4; k++) {
        CHECK(t.touch[k].feature == k);
        CHECK_NEAR(t.touch[k].gap, -0.001, 1e-15);
        sum = talus_add(sum, t.touch[k].arm_a);
    }
    CHECK_NEAR(sum.x, 0.0, 1e-15);
    CHECK_NEAR(sum.y, 0.0, 1e-15);

    can.orientation = turn(1.0, 1.0, 0.0, 0.0);
    can.position.z = 0.502;
    t = meet(&can, &plane, 0.01);
    REQUIRE(t.count == 2); /* lying: one point per rim */
    CHECK(t.touch[0].feature == 0 && t.touch[1].feature == 4);
    CHECK_NEAR(t.touch[0].gap, 0.002, 1e-15);
    CHECK_NEAR(t.touch[1].gap, 0.002, 1e-15);

    can.orientation = turn(1.0, 0.2, 0.1, 0.3);
    TalusAabb bounds = talus_shape_bounds(&drum, 0.0, talus_vec3(0, 0, 0), can.orientation);
    can.position.z = bounds.hi.z - 0.004;
    t = meet(&can, &plane, 0.01);
    REQUIRE(t.count == 1); /* on its rim, at the exact lowest point */
    CHECK_NEAR(t.touch[0].gap, -0.004, 1e-14);
}

/* ---- two boxes ------------------------------------------------------------------------------- */

static void check_resting(const TalusPose *lower, const TalusPose *upper, int least, double gap)
{
    Touches t = meet(lower, upper, 0.05);
    CHECK(t.count >= least && t.count <= 4);
    for (int k = 0; k < t.count && k < MAX_TOUCHES; k++) {
        CHECK_NEAR(t.touch[k].gap, gap, 1e-14);
        CHECK_NEAR(t.touch[k].normal.z, 1.0, 1e-14);
    }
    Touches u = meet(upper, lower, 0.05);
    CHECK_INT(u.count, t.count);
    CHECK_NEAR(u.touch[0].normal.z, -1.0, 1e-14);
}

TEST(boxes_face_to_face)
{
    TalusPose lower = pose(&brick, 0.0, talus_vec3(0, 0, 0), upright);
    TalusPose upper = pose(&brick, 0.0, talus_vec3(0, 0, 0.999), upright);
    check_resting(&lower, &upper, 4, -0.001);
    upper.position = talus_vec3(0.3, -0.2, 1.002);
    check_resting(&lower, &upper, 4, 0.002);
    upper.orientation = turn(1.0, 0.0, 0.0, 0.4142135623730951); /* by 45 degrees: an octagon */
    upper.position = talus_vec3(0.0, 0.0, 1.0);
    check_resting(&lower, &upper, 4, 0.0);
    TalusPose table = pose(&slab, 0.0, talus_vec3(0, 0, -0.1), upright);
    upper.position = talus_vec3(1.0, 0.7, 0.5);
    check_resting(&table, &upper, 4, 0.0);
    upper.position = talus_vec3(0.0, 0.0, 2.0);
    CHECK_INT(meet(&lower, &upper, 0.05).count, 0);
}

/* Two equal boxes exactly over each other keep their features when rounding moves them. */
TEST(stacked_boxes_keep_features)
{
    TalusRng rng = talus_rng_from_seed(8);
    TalusPose lower = pose(&brick, 0.0, talus_vec3(0, 0, 0), upright);
    TalusPose upper = pose(&brick, 0.0, talus_vec3(0, 0, 1.0), upright);
    Touches first = meet(&lower, &upper, 0.05);
    REQUIRE(first.count == 4);
    for (int k = 0; k < 1000; k++) {
        upper.position = talus_madd(talus_vec3(0, 0, 1.0), 1e-4, in_cube(&rng));
        TalusVec3 v = talus_scale(1e-4, in_cube(&rng));
        upper.orientation = turn(1.0, v.x, v.y, v.z);
        Touches t = meet(&lower, &upper, 0.05);
        REQUIRE(t.count == 4);
        for (int i = 0; i < 4; i++)
            CHECK(t.touch[i].feature == first.touch[i].feature);
    }
}

TEST(boxes_edge_to_edge)
{
    TalusPose lower = pose(&stick, 0.0, talus_vec3(0, 0, 0), turn(1.0, 0.4142135623730951, 0, 0));
    TalusQuat across = talus_quat_mul(turn(1.0, 0, 0, 1.0), lower.orientation);
    double height = 0.2 * sqrt(2.0); /* of two sticks, each on its edge */
    TalusPose upper = pose(&stick, 0.0, talus_vec3(0.3, 0.2, height - 0.002), across);
    Touches t = meet(&lower, &upper, 0.01);
    REQUIRE(t.count == 1);
    CHECK_NEAR(t.touch[0].gap, -0.002, 1e-14);
    CHECK_NEAR(t.touch[0].normal.z, 1.0, 1e-14);
    CHECK_NEAR(t.touch[0].arm_a.x, 0.3, 1e-14);
    CHECK_NEAR(t.touch[0].arm_a.y, 0.0, 1e-14);
    upper.position.z = height + 0.004;
    t = meet(&lower, &upper, 0.01);
    REQUIRE(t.count == 1);
    CHECK_NEAR(t.touch[0].gap, 0.004, 1e-14);
}

/* Corner on face, at random: the deepest touch has the gap of the lowest corner. */
TEST(boxes_corner_on_face)
{
    TalusRng rng = talus_rng_from_seed(4);
    TalusPose table = pose(&slab, 0.0, talus_vec3(0, 0, -0.1), upright);
    for (int k = 0; k < 500; k++) {
        TalusQuat q = random_turn(&rng);
        double low = talus_shape_bounds(&brick, 0.0, talus_vec3(0, 0, 0), q).hi.z;
        TalusPose box = pose(&brick, 0.0, talus_vec3(0.2, -0.3, low - 0.001), q);
        Touches t = meet(&table, &box, 0.01);
        REQUIRE(t.count >= 1 && t.count <= 8);
        double least = INFINITY;
        for (int i = 0; i < t.count; i++) {
            CHECK_NEAR(t.touch[i].normal.z, 1.0, 1e-3);
            least = fmin(least, t.touch[i].gap);
        }
        CHECK_NEAR(least, -0.001, 1e-3);
    }
}

/* Boxes that are apart by more than the reach never touch, whichever way they lie. */
TEST(boxes_apart_do_not_touch)
{
    TalusRng rng = talus_rng_from_seed(14);
    for (int k = 0; k < 2000; k++) {
        TalusPose a = pose(&brick, 0.0, talus_vec3(0, 0, 0), random_turn(&rng));
        TalusPose b = pose(&stick, 0.0, talus_scale(1.5, in_cube(&rng)), random_turn(&rng));
        Touches t = meet(&a, &b, 0.2);
        for (int i = 0; i < t.count && i < MAX_TOUCHES; i++) {
            TalusVec3 normal = t.touch[i].normal,
                      point = talus_madd(t.touch[i].arm_a, 1e-9, normal);
            TalusVec3 on_b = talus_rotate_back(b.orientation, t.touch[i].arm_b);
            TalusVec3 on_a = talus_rotate_back(a.orientation, point);
            double slack = 0.01; /* clipping keeps points a little outside of the face */
            CHECK(fabs(on_a.x) < 0.5 + slack && fabs(on_a.y) < 0.5 + slack &&
                  fabs(on_a.z) < 0.5 + slack);
            CHECK(fabs(on_b.x) < 1.0 + slack && fabs(on_b.y) < 0.1 + slack &&
                  fabs(on_b.z) < 0.1 + slack);
        }
    }
}

int main(void)
{
    make_shapes();
    RUN(sphere_with_box_and_cylinder);
    RUN(sphere_with_plane);
    RUN(sphere_with_revolve);
    RUN(box_on_plane);
    RUN(cylinder_on_plane);
    RUN(boxes_face_to_face);
    RUN(stacked_boxes_keep_features);
    RUN(boxes_edge_to_edge);
    RUN(boxes_corner_on_face);
    RUN(boxes_apart_do_not_touch);
    return talus_test_result();
}

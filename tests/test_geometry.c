/* Shapes: mass properties, bounds, distances and refusals, against sums over many points. */
#include "base/rng.h"
#include "geometry/bounds.h"
#include "geometry/closest.h"
#include "geometry/shape.h"
#include "support/test.h"

#include <stdio.h>
#include <string.h>

static const double profile[] = {0.0, -1.0, 0.4, -1.0, 0.9, -0.2, 0.9, 0.8, 1.3, 1.2};

static const TalusShapeDef ball = {.kind = TALUS_SHAPE_SPHERE};
static const TalusShapeDef brick = {.kind = TALUS_SHAPE_BOX, .half = {0.3, 0.5, 0.9}};
static const TalusShapeDef drum = {
    .kind = TALUS_SHAPE_CYLINDER, .radius = 0.6, .half_height = 0.35};
static const TalusShapeDef vessel = {
    .kind = TALUS_SHAPE_REVOLVE, .profile = profile, .point_count = 5};
static const TalusShapeDef ground = {.kind = TALUS_SHAPE_PLANE};

static bool contains(const TalusShapeDef *def, TalusVec3 p)
{
    TalusVec3 normal;
    if (def->kind == TALUS_SHAPE_SPHERE)
        return talus_norm(p) < 0.7;
    if (def->kind == TALUS_SHAPE_BOX)
        return talus_box_distance(def->half, p, &normal) < 0.0;
    return talus_cylinder_distance(def->radius, def->half_height, p, &normal) < 0.0;
}

static void check_mass(const TalusShapeDef *def)
{
    enum { N = 120 };
    double cell = 2.0 / N, density = 2.5, dm = density * cell * cell * cell;
    double mass = 0.0, xx = 0.0, zz = 0.0;
    for (int k = 0; k < N * N * N; k++) {
        TalusVec3 p = talus_vec3((k % N + 0.5) * cell - 1.0, (k / N % N + 0.5) * cell - 1.0,
                                 (k / N / N + 0.5) * cell - 1.0);
        if (!contains(def, p))
            continue;
        mass += dm;
        xx += dm * (p.y * p.y + p.z * p.z);
        zz += dm * (p.x * p.x + p.y * p.y);
    }
    TalusMassProperties m;
    REQUIRE_OK(talus_shape_mass(def, 0.7, density, &m));
    CHECK_NEAR(m.mass, mass, 0.01 * mass);
    CHECK_NEAR(m.inertia.xx, xx, 0.02 * xx);
    CHECK_NEAR(m.inertia.zz, zz, 0.02 * zz);
    CHECK(m.inertia.xy == 0.0 && m.inertia.xz == 0.0 && m.inertia.yz == 0.0);
}

TEST(mass_properties_equal_sums)
{
    check_mass(&ball);
    check_mass(&brick);
    check_mass(&drum);
}

TEST(mass_needs_volume_and_density)
{
    TalusMassProperties m;
    CHECK(talus_shape_mass(&ground, 0.0, 1.0, &m) == TALUS_ERR_ARGUMENT);
    CHECK_STR(talus_error(), "plane: has no volume, so it can only be fixed or driven");
    CHECK(talus_shape_mass(&vessel, 0.0, 1.0, &m) == TALUS_ERR_ARGUMENT);
    CHECK(talus_shape_mass(&brick, 0.0, -1.0, &m) == TALUS_ERR_ARGUMENT);
    CHECK_STR(talus_error(), "box: density is -1; it must be positive");
    CHECK(talus_shape_mass(&ball, 0.0, 1.0, &m) == TALUS_ERR_ARGUMENT);
    CHECK_STR(talus_error(), "sphere: radius is 0; it must be a positive length");
}

/* ---- bounds ---------------------------------------------------------------------------------- */

static TalusVec3 in_cube(TalusRng *rng)
{
    double x = 2.0 * talus_rng_uniform(rng) - 1.0, y = 2.0 * talus_rng_uniform(rng) - 1.0;
    return talus_vec3(x, y, 2.0 * talus_rng_uniform(rng) - 1.0);
}

static TalusVec3 in_circle(TalusRng *rng)
{
    TalusVec3 p = in_cube(rng);
    p.z = 0.0;
    return talus_normalize(p, talus_vec3(1, 0, 0));
}

/* A random point of the surface, extreme ones often. */
static TalusVec3 surface_point(const TalusShapeDef *def, double radius, TalusRng *rng)
{
    TalusVec3 p = in_cube(rng);
    if (def->kind == TALUS_SHAPE_SPHERE)
        return talus_scale(radius, talus_normalize(p, talus_vec3(1, 0, 0)));
    if (def->kind == TALUS_SHAPE_BOX)
        return talus_vec3(p.x < 0 ? -def->half.x : def->half.x,
                          p.y < 0 ? -def->half.y : def->half.y, p.z * def->half.z);
    TalusVec3 circle = in_circle(rng);
    if (def->kind == TALUS_SHAPE_CYLINDER)
        return talus_madd(talus_scale(def->radius, circle),
                          p.z < 0 ? -def->half_height : def->half_height, talus_vec3(0, 0, 1));
    int k = (int)talus_rng_below(rng, (uint64_t)def->point_count);
    return talus_madd(talus_scale(def->profile[2 * k], circle), def->profile[2 * k + 1],
                      talus_vec3(0, 0, 1));
}

/* All points inside, and the bounds no larger than needed. */
static void check_bounds(const TalusShapeDef *def, TalusQuat q)
{
    TalusShape shape;
    TalusRng rng = talus_rng_from_seed(5);
    TalusVec3 at = {3.0, -2.0, 1.0};
    REQUIRE_OK(talus_shape_init(&shape, def));
    TalusAabb box = talus_shape_bounds(&shape, 0.7, at, q);
    TalusVec3 hi = {-INFINITY, -INFINITY, -INFINITY};
    bool inside = true;
    for (int k = 0; k < 20000; k++) {
        TalusVec3 local = surface_point(def, 0.7, &rng);
        TalusVec3 p = talus_add(at, talus_rotate(q, local));
        inside = inside && p.x >= box.lo.x - 1e-14 && p.x <= box.hi.x + 1e-14 &&
                 p.y >= box.lo.y - 1e-14 && p.y <= box.hi.y + 1e-14 && p.z >= box.lo.z - 1e-14 &&
                 p.z <= box.hi.z + 1e-14;
        hi = talus_vec3(fmax(hi.x, p.x), fmax(hi.y, p.y), fmax(hi.z, p.z));
        if (def->kind != TALUS_SHAPE_SPHERE)
            CHECK(talus_norm(local) <= shape.bounding_radius * (1.0 + 1e-14));
    }
    CHECK(inside);
    CHECK_NEAR(hi.x, box.hi.x, 0.02);
    CHECK_NEAR(hi.y, box.hi.y, 0.02);
    CHECK_NEAR(hi.z, box.hi.z, 0.02);
    talus_shape_clear(&shape);
}

TEST(bounds_are_tight)
{
    TalusQuat turned = talus_quat_normalize((TalusQuat){0.7, 0.3, -0.5, 0.4});
    const TalusShapeDef *def[] = {&ball, &brick, &drum, &vessel};
    for (int k = 0; k < 4; k++) {
        check_bounds(def[k], talus_quat_identity());
        check_bounds(def[k], turned);
    }
    TalusShape plane;
    REQUIRE_OK(talus_shape_init(&plane, &ground));
    TalusAabb box = talus_shape_bounds(&plane, 0.0, talus_vec3(0, 0, 0), turned);
    CHECK(box.lo.x == -INFINITY && box.hi.z == INFINITY);
    talus_shape_clear(&plane);
}

/* ---- distances ------------------------------------------------------------------------------- */

static double distance_to(const TalusShapeDef *def, TalusVec3 p, TalusVec3 *normal)
{
    return def->kind == TALUS_SHAPE_BOX
               ? talus_box_distance(def->half, p, normal)
               : talus_cylinder_distance(def->radius, def->half_height, p, normal);
}

/* The foot of p lies on the surface, no sampled surface point is nearer, and the normal is a unit
 * vector that leads out. */
static void check_distance(const TalusShapeDef *def)
{
    TalusRng rng = talus_rng_from_seed(11);
    for (int k = 0; k < 2000; k++) {
        TalusVec3 p = talus_scale(1.2, in_cube(&rng)), normal, at_foot;
        double d = distance_to(def, p, &normal);
        TalusVec3 foot = talus_madd(p, -d, normal);
        CHECK_NEAR(talus_norm(normal), 1.0, 1e-14);
        CHECK_NEAR(distance_to(def, foot, &at_foot), 0.0, 1e-14);
        CHECK(distance_to(def, talus_madd(foot, 1e-3, normal), &at_foot) > 0.0);
        for (int j = 0; j < 100; j++) {
            TalusVec3 s = surface_point(def, 0.0, &rng);
            CHECK(talus_norm(talus_sub(p, s)) >= fabs(d) - 1e-14);
        }
    }
}

TEST(distance_to_solids)
{
    check_distance(&brick);
    check_distance(&drum);
    TalusVec3 normal;
    CHECK_NEAR(talus_cylinder_distance(0.6, 2.0, talus_vec3(0, 0, 0), &normal), -0.6, 0.0);
    CHECK_NEAR(talus_norm(normal), 1.0, 0.0); /* on the axis too */
}

/* ---- revolve --------------------------------------------------------------------------------- */

typedef struct Visits {
    int count;
    uint32_t feature[16];
    TalusVec3 normal[16];
    double distance[16];
} Visits;

static void visit(Visits *v, uint32_t feature, TalusVec3 normal, double distance)
{
    if (v->count < 16) {
        v->feature[v->count] = feature;
        v->normal[v->count] = normal;
        v->distance[v->count] = distance;
    }
    v->count++;
}

#define TALUS_REVOLVE_SINK Visits
#define TALUS_REVOLVE_RECEIVE visit
#include "geometry/revolve.h"

static Visits visits(const double *points, int count, TalusVec3 p, double reach)
{
    Visits v = {0};
    talus_revolve_visit(points, count, p, reach, &v);
    return v;
}

/* Distance from p to the wall, by samples along the profile and around the axis. */
static double sampled_distance(const double *points, int count, TalusVec3 p)
{
    enum { ALONG = 200, AROUND = 360 };
    double sine[AROUND], cosine[AROUND], least = INFINITY;
    for (int j = 0; j < AROUND; j++) {
        cosine[j] = cos(j * 6.283185307179586 / AROUND);
        sine[j] = sin(j * 6.283185307179586 / AROUND);
    }
    for (int k = 0; k + 1 < count; k++) {
        for (int i = 0; i <= ALONG; i++) {
            double t = (double)i / ALONG;
            double r = points[2 * k] + t * (points[2 * k + 2] - points[2 * k]);
            double z = points[2 * k + 1] + t * (points[2 * k + 3] - points[2 * k + 1]);
            for (int j = 0; j < AROUND; j++) {
                double dx = p.x - r * cosine[j], dy = p.y - r * sine[j], dz = p.z - z;
                least = fmin(least, dx * dx + dy * dy + dz * dz);
            }
        }
    }
    return sqrt(least);
}

TEST(revolve_distance_equals_sampling)
{
    TalusRng rng = talus_rng_from_seed(3);
    for (int k = 0; k < 150; k++) {
        TalusVec3 p = talus_scale(1.6, in_cube(&rng));
        double expected = sampled_distance(profile, 5, p);
        Visits v = visits(profile, 5, p, 10.0);
        double least = INFINITY;
        REQUIRE(v.count >= 1 && v.count <= 16);
        for (int i = 0; i < v.count; i++) {
            least = fmin(least, v.distance[i]);
            CHECK_NEAR(talus_norm(v.normal[i]), 1.0, 1e-14);
            if (v.feature[i] >> 30)
                continue; /* a tangent plane seen from across the axis: its foot is not exact */
            TalusVec3 foot = talus_madd(p, -v.distance[i], v.normal[i]);
            CHECK(talus_revolve_is_near(profile, 5, foot, 1e-13));
        }
        CHECK_NEAR(least, expected, 0.013); /* half the distance between samples */
        CHECK(least <= expected + 1e-14);
        CHECK(talus_revolve_is_near(profile, 5, p, least * (1.0 + 1e-12)));
        CHECK(!talus_revolve_is_near(profile, 5, p, least * (1.0 - 1e-12)));
    }
}

TEST(revolve_corners_and_edges)
{
    const double cup[] = {0.0, 0.0, 1.0, 0.0, 1.0, 2.0}; /* floor, wall, free rim */
    Visits v = visits(cup, 3, talus_vec3(0.0, 0.91, 0.08), 0.1);
    REQUIRE(v.count == 2); /* the concave corner: floor and wall */
    CHECK(v.feature[0] == 1 && v.feature[1] == 3);
    CHECK_NEAR(v.distance[0], 0.08, 1e-15);
    CHECK_NEAR(v.distance[1], 0.09, 1e-15);
    CHECK(v.normal[0].z == 1.0 && v.normal[1].y == -1.0);

    v = visits(cup, 3, talus_vec3(1.05, 0.0, -0.05), 0.1);
    REQUIRE(v.count == 1); /* the same corner from its convex side: the circle */
    CHECK(v.feature[0] == 2);
    CHECK_NEAR(v.distance[0], sqrt(0.005), 1e-15);

    v = visits(cup, 3, talus_vec3(1.05, 0.0, 1.0), 0.1);
    REQUIRE(v.count == 1); /* outside of the wall */
    CHECK(v.feature[0] == 3 && v.normal[0].x == 1.0);

    v = visits(cup, 3, talus_vec3(0.98, 0.0, 2.03), 0.1);
    REQUIRE(v.count == 1); /* the rim */
    CHECK(v.feature[0] == 4);

    v = visits(cup, 3, talus_vec3(0.0, 0.0, 0.05), 0.1);
    REQUIRE(v.count == 1); /* the middle of the floor, on the axis */
    CHECK(v.feature[0] == 1 && v.normal[0].z == 1.0);
}

/* Rolling over a joint between collinear segments: one contact, always, and a face. */
TEST(revolve_straight_joints_do_not_show)
{
    const double wall[] = {0.3, 0.1, 0.6, 0.4, 0.7, 0.5, 1.3, 1.1};
    for (int k = -2000; k <= 2000; k++) {
        double s = 0.7 + k * 1e-5, across = 0.05;
        TalusVec3 p = talus_vec3(s - across, 0.0, s - 0.2 + across);
        Visits v = visits(wall, 4, p, 0.1);
        REQUIRE(v.count == 1);
        CHECK(v.feature[0] & 1);
        CHECK_NEAR(v.distance[0], sqrt(2.0) * across, 1e-14);
    }
    double joint[] = {0.7, 0.5}; /* exactly over the joint as well */
    Visits v = visits(wall, 4, talus_vec3(joint[0], 0.0, joint[1]), 0.1);
    CHECK_INT(v.count, 1);
}

TEST(revolve_on_the_axis)
{
    const double funnel[] = {0.0, 0.0, 1.0, 1.0}, tip[] = {0.0, 0.0, 1.0, -1.0};
    Visits v = visits(tip, 2, talus_vec3(0.0, 0.0, 0.3), 0.31);
    REQUIRE(v.count == 1); /* over the tip of a cone */
    CHECK(v.feature[0] == 0 && v.normal[0].z == 1.0);

    v = visits(funnel, 2, talus_vec3(0.0, 0.0, 0.3), 0.25);
    REQUIRE(v.count == 3); /* in the funnel: three points of the ring, in balance */
    TalusVec3 sum = talus_add(v.normal[0], talus_add(v.normal[1], v.normal[2]));
    CHECK_NEAR(sum.x, 0.0, 1e-15);
    CHECK_NEAR(sum.y, 0.0, 1e-15);
    CHECK_NEAR(sum.z, 3.0 * sqrt(0.5), 1e-15);
    v = visits(funnel, 2, talus_vec3(0.05, 0.0, 0.3), 0.2);
    CHECK_INT(v.count, 1); /* off the axis the ring opens */
}

/* ---- init ------------------------------------------------------------------------------------ */

static void check_refused(const TalusShapeDef *def, const char *message)
{
    TalusShape shape;
    CHECK(talus_shape_init(&shape, def) == TALUS_ERR_ARGUMENT);
    CHECK_STR(talus_error(), message);
    talus_shape_clear(&shape);
}

TEST(bad_shapes_are_refused)
{
    const double one[] = {1.0, 0.0}, negative[] = {1.0, 0.0, -1.0, 0.0};
    const double twice[] = {1.0, 0.0, 2.0, 1.0, 2.0, 1.0}, axis[] = {0.0, 0.0, 0.0, 1.0};
    TalusShapeDef def = {.kind = TALUS_SHAPE_BOX, .half = {1.0, 0.0, 1.0}};
    check_refused(&def, "box: half.y is 0; it must be a positive length");
    def = (TalusShapeDef){.kind = TALUS_SHAPE_CYLINDER, .radius = 1.0, .half_height = INFINITY};
    check_refused(&def, "cylinder: half_height is inf; it must be a positive length");
    def = (TalusShapeDef){.kind = TALUS_SHAPE_REVOLVE, .profile = one, .point_count = 1};
    check_refused(&def, "revolve: profile has 1 points; it needs at least 2");
    def = (TalusShapeDef){.kind = TALUS_SHAPE_REVOLVE, .profile = negative, .point_count = 2};
    check_refused(&def, "revolve: profile point 1 is (-1, 0); it must be (radius, height), finite "
                        "and with radius >= 0");
    def = (TalusShapeDef){.kind = TALUS_SHAPE_REVOLVE, .profile = twice, .point_count = 3};
    check_refused(&def, "revolve: profile points 1 and 2 are both (2, 1); neighbours must differ");
    def = (TalusShapeDef){.kind = TALUS_SHAPE_REVOLVE, .profile = axis, .point_count = 2};
    check_refused(&def, "revolve: profile points 0 and 1 both have radius 0; a segment along the "
                        "axis has no surface");
    def = (TalusShapeDef){.kind = (TalusShapeKind)77};
    char message[64];
    snprintf(message, sizeof message, "shape: kind 77 is not one of 0 to %d",
             TALUS_SHAPE_KINDS - 1);
    check_refused(&def, message);
}

TEST(shapes_own_their_profile)
{
    double points[] = {1.0, 0.0, 1.0, 2.0};
    TalusShapeDef def = {.kind = TALUS_SHAPE_REVOLVE, .profile = points, .point_count = 2};
    TalusShape shape;
    REQUIRE_OK(talus_shape_init(&shape, &def));
    points[0] = 9.0;
    CHECK(shape.def.profile[0] == 1.0);
    CHECK(talus_shape_has(TALUS_SHAPE_REVOLVE, TALUS_TRAIT_WALL));
    CHECK(!talus_shape_has(TALUS_SHAPE_BOX, TALUS_TRAIT_WALL));
    CHECK_STR(talus_shape_name(TALUS_SHAPE_REVOLVE), "revolve");
    CHECK(strlen(talus_shape_summary(TALUS_SHAPE_SPHERE)) > 0);
    talus_shape_clear(&shape);
}

int main(void)
{
    RUN(mass_properties_equal_sums);
    RUN(mass_needs_volume_and_density);
    RUN(bounds_are_tight);
    RUN(distance_to_solids);
    RUN(revolve_distance_equals_sampling);
    RUN(revolve_corners_and_edges);
    RUN(revolve_straight_joints_do_not_show);
    RUN(revolve_on_the_axis);
    RUN(bad_shapes_are_refused);
    RUN(shapes_own_their_profile);
    return talus_test_result();
}

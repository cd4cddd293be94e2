/* Meshes of shapes: closed, turned outward, and as large as the shapes they stand for. */
#include "base/memory.h"
#include "geometry/kinds.h"
#include "mesh_sound.h"

static const double cup[] = {0.0, -1.0, 0.8, -1.0, 0.8, 0.5, 1.1, 0.9};
static const double spindle[] = {0.0, 0.0, 0.5, 0.7, 0.0, 1.6}; /* both ends on the axis */

static const TalusShapeDef ball = {.kind = TALUS_SHAPE_SPHERE};
static const TalusShapeDef brick = {.kind = TALUS_SHAPE_BOX, .half = {0.3, 0.5, 0.9}};
static const TalusShapeDef drum = {
    .kind = TALUS_SHAPE_CYLINDER, .radius = 0.6, .half_height = 0.35};
static const TalusShapeDef vessel = {.kind = TALUS_SHAPE_REVOLVE, .profile = cup, .point_count = 4};
static const TalusShapeDef closed = {
    .kind = TALUS_SHAPE_REVOLVE, .profile = spindle, .point_count = 3};
static const TalusShapeDef ground = {.kind = TALUS_SHAPE_PLANE};

static bool same(TalusVec3 a, TalusVec3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

/* How often the way from p to q is the side of a triangle. */
static int sides(const TalusMesh *mesh, TalusVec3 p, TalusVec3 q)
{
    int count = 0;
    for (int k = 0; k < 3 * mesh->triangle_count; k++) {
        int next = k % 3 == 2 ? k - 2 : k + 1;
        count +=
            same(mesh->vertex[mesh->triangle[k]], p) && same(mesh->vertex[mesh->triangle[next]], q);
    }
    return count;
}

/* Every side is met once, by the triangle beyond, the other way round. */
static bool is_closed(const TalusMesh *mesh)
{
    for (int k = 0; k < 3 * mesh->triangle_count; k++) {
        TalusVec3 p = mesh->vertex[mesh->triangle[k]];
        TalusVec3 q = mesh->vertex[mesh->triangle[k % 3 == 2 ? k - 2 : k + 1]];
        if (sides(mesh, p, q) != 1 || sides(mesh, q, p) != 1)
            return false;
    }
    return true;
}

TEST(solids_are_closed)
{
    const TalusShapeDef *solid[] = {&ball, &brick, &drum, &closed};
    for (int k = 0; k < 4; k++) {
        TalusMesh mesh;
        REQUIRE_OK(talus_mesh_of_shape(solid[k], 0.0, 12, &mesh));
        check_sound(&mesh);
        CHECK(is_closed(&mesh));
        CHECK_NEAR(opening(&mesh), 0.0, 1e-13);
        CHECK(volume(&mesh) > 0.0);
        talus_mesh_free(&mesh);
    }
}

/* The error of a quantity with n and 2n segments: both small, and falling four times. */
static void check_converges(const TalusShapeDef *def, double (*measure)(const TalusMesh *),
                            double exact)
{
    double error[2];
    for (int k = 0; k < 2; k++) {
        TalusMesh mesh;
        REQUIRE_OK(talus_mesh_of_shape(def, 0.0, 64 << k, &mesh));
        check_sound(&mesh);
        error[k] = fabs(measure(&mesh) - exact) / exact;
        talus_mesh_free(&mesh);
    }
    CHECK(error[0] < 5e-3);
    CHECK(error[0] < 1e-12 || fabs(error[0] / error[1] - 4.0) < 0.1);
}

/* Of the faces of a profile: pi (r1 + r2) times the length of each. */
static double turned_area(const TalusShapeDef *def)
{
    double sum = 0.0;
    for (int k = 0; k + 1 < def->point_count; k++) {
        const double *p = def->profile + 2 * k;
        double dr = p[2] - p[0], dz = p[3] - p[1];
        sum += TALUS_PI * (p[0] + p[2]) * sqrt(dr * dr + dz * dz);
    }
    return sum;
}

TEST(areas_and_volumes_converge)
{
    check_converges(&ball, area, 4.0 * TALUS_PI);
    check_converges(&ball, volume, 4.0 / 3.0 * TALUS_PI);
    check_converges(&brick, area, 8.0 * (0.3 * 0.5 + 0.3 * 0.9 + 0.5 * 0.9));
    check_converges(&brick, volume, 8.0 * 0.3 * 0.5 * 0.9);
    check_converges(&drum, area, 2.0 * TALUS_PI * 0.6 * (0.6 + 0.7));
    check_converges(&drum, volume, TALUS_PI * 0.6 * 0.6 * 0.7);
    check_converges(&vessel, area, turned_area(&vessel));
    check_converges(&closed, area, turned_area(&closed));
    check_converges(&closed, volume, TALUS_PI / 3.0 * 0.25 * 1.6);
}

TEST(a_sphere_is_on_its_sphere)
{
    TalusMesh mesh;
    REQUIRE_OK(talus_mesh_of_shape(&ball, 0.0, 20, &mesh));
    double worst = 0.0;
    for (int k = 0; k < mesh.vertex_count; k++) {
        worst = fmax(worst, fabs(talus_norm(mesh.vertex[k]) - 1.0));
        worst = fmax(worst, talus_norm(talus_sub(mesh.vertex[k], mesh.normal[k])));
    }
    CHECK_NEAR(worst, 0.0, 1e-14);
    CHECK_INT(mesh.edge_count, 0);
    talus_mesh_free(&mesh);
}

/* The way a profile is written does not turn its wall inside out. */
TEST(revolve_looks_away_from_the_axis)
{
    double down[8];
    for (int k = 0; k < 4; k++) {
        down[2 * k] = cup[2 * (3 - k)];
        down[2 * k + 1] = cup[2 * (3 - k) + 1];
    }
    TalusShapeDef reversed = vessel;
    reversed.profile = down;
    const TalusShapeDef *defs[] = {&vessel, &reversed};
    for (int d = 0; d < 2; d++) {
        TalusMesh mesh;
        REQUIRE_OK(talus_mesh_of_shape(defs[d], 0.0, 16, &mesh));
        check_sound(&mesh);
        double inward = 0.0;
        for (int k = 0; k < mesh.vertex_count; k++) {
            TalusVec3 p = mesh.vertex[k], n = mesh.normal[k];
            inward = fmin(inward, n.x * p.x + n.y * p.y);
        }
        CHECK(inward == 0.0);
        CHECK_NEAR(area(&mesh), turned_area(&vessel), 0.03 * turned_area(&vessel));
        /* A fan about the axis, bands elsewhere; bottom rim, bend and free rim are lines. */
        CHECK_INT(mesh.triangle_count, 16 * (1 + 2 + 2));
        CHECK_INT(mesh.edge_count, 16 * 3);
        talus_mesh_free(&mesh);
    }
}

/* A curve of many points is shaded as a curve, and has no lines but its rims. */
TEST(gentle_bends_are_smooth)
{
    double arc[2 * 9];
    for (int k = 0; k < 9; k++) {
        double t = 0.2 * (k - 4);
        arc[2 * k] = 2.0 - 0.5 * t * t;
        arc[2 * k + 1] = t;
    }
    TalusShapeDef barrel = {.kind = TALUS_SHAPE_REVOLVE, .profile = arc, .point_count = 9};
    TalusMesh mesh;
    REQUIRE_OK(talus_mesh_of_shape(&barrel, 0.0, 8, &mesh));
    check_sound(&mesh);
    CHECK_INT(mesh.edge_count, 2 * 8);
    int equal = 0;
    for (int k = 0; k + 1 < 8; k++) /* the end of a band and the start of the next */
        equal += same(mesh.normal[16 * k + 8], mesh.normal[16 * k + 16]);
    CHECK_INT(equal, 7);
    talus_mesh_free(&mesh);
}

TEST(plane_is_a_square)
{
    TalusMesh mesh;
    REQUIRE_OK(talus_mesh_of_shape(&ground, 2.5, 4, &mesh));
    check_sound(&mesh);
    CHECK_NEAR(area(&mesh), 25.0, 1e-12);
    CHECK(same(mesh.normal[0], talus_vec3(0, 0, 1)));
    CHECK_INT(mesh.triangle_count, 2);
    CHECK_INT(mesh.edge_count, 4);
    talus_mesh_free(&mesh);
}

/* An open box of five planes: the floor is the box's, the walls end at the bounds. */
TEST(planes_cut_one_another)
{
    static const TalusMeshPlane planes[] = {{{0, 0, 0}, {0, 0, 1}},
                                            {{-1, 0, 0}, {1, 0, 0}},
                                            {{1, 0, 0}, {-1, 0, 0}},
                                            {{0, -2, 0}, {0, 1, 0}},
                                            {{0, 2, 0}, {0, -1, 0}}};
    TalusAabb bounds = {{-5, -5, -5}, {5, 5, 3}};
    static const double expected[] = {8.0, 12.0, 12.0, 6.0, 6.0};
    for (int k = 0; k < 5; k++) {
        TalusMesh mesh;
        REQUIRE_OK(talus_mesh_of_plane(planes, 5, k, bounds, &mesh));
        check_sound(&mesh);
        CHECK_NEAR(area(&mesh), expected[k], 1e-6);
        CHECK_INT(mesh.edge_count, 4);
        CHECK(talus_dot(mesh.normal[0], planes[k].normal) == 1.0);
        talus_mesh_free(&mesh);
    }
    TalusMesh alone;
    REQUIRE_OK(talus_mesh_of_plane(planes, 1, 0, bounds, &alone));
    CHECK_NEAR(area(&alone), 100.0, 1e-6);
    talus_mesh_free(&alone);
    TalusAabb above = {{-5, -5, 1}, {5, 5, 3}};
    REQUIRE_OK(talus_mesh_of_plane(planes, 5, 0, above, &alone));
    CHECK_INT(alone.triangle_count, 0);
    talus_mesh_free(&alone);
}

/* A floor among many walls has a corner for each. */
TEST(many_planes)
{
    enum { WALLS = 96 };
    TalusMeshPlane planes[WALLS + 1] = {{{0, 0, 0}, {0, 0, 1}}};
    TalusMesh circle, floor;
    REQUIRE_OK(talus_mesh_of_shape(&drum, 0.0, WALLS, &circle));
    for (int k = 0; k < WALLS; k++) {
        TalusVec3 n = circle.normal[k];
        planes[k + 1] = (TalusMeshPlane){n, talus_neg(n)};
    }
    TalusAabb bounds = {{-5, -5, -5}, {5, 5, 3}};
    REQUIRE_OK(talus_mesh_of_plane(planes, WALLS + 1, 0, bounds, &floor));
    CHECK_INT(floor.edge_count, WALLS);
    CHECK_NEAR(area(&floor), TALUS_PI, 0.01);
    talus_mesh_free(&circle);
    talus_mesh_free(&floor);
}

TEST(refuses_what_is_no_shape)
{
    TalusMesh mesh;
    TalusShapeDef flat = {.kind = TALUS_SHAPE_BOX, .half = {1, 0, 1}};
    CHECK(talus_mesh_of_shape(&flat, 1.0, 8, &mesh) == TALUS_ERR_ARGUMENT);
    CHECK_INT(mesh.vertex_count, 0);
    CHECK(talus_mesh_of_shape(&ground, 0.0, 8, &mesh) == TALUS_ERR_ARGUMENT);
    CHECK_STR(talus_error(), "plane: extent is 0; it must be a positive length");
    CHECK(talus_mesh_of_shape(&ball, 1.0, 6, &mesh) == TALUS_ERR_ARGUMENT);
    CHECK_STR(talus_error(), "mesh: 6 segments; expected 4, 8, 12, ...");
}

TEST(every_allocation_may_fail)
{
    const TalusShapeDef *shapes[] = {&ball, &brick, &drum, &vessel, &ground};
    TalusMeshPlane plane = {{0, 0, 0}, {0, 0, 1}};
    TalusAabb bounds = {{-1, -1, -1}, {1, 1, 1}};
    for (int s = 0; s <= 5; s++) {
        TalusStatus status = TALUS_ERR_MEMORY;
        for (long n = 1; status != TALUS_OK && n < 20; n++) {
            TalusMesh mesh;
            talus_fail_allocation_in(n);
            status = s < 5 ? talus_mesh_of_shape(shapes[s], 1.0, 8, &mesh)
                           : talus_mesh_of_plane(&plane, 1, 0, bounds, &mesh);
            talus_fail_allocation_in(0);
            CHECK(status == TALUS_OK || status == TALUS_ERR_MEMORY);
            talus_mesh_free(&mesh);
        }
        CHECK(status == TALUS_OK);
    }
}

int main(void)
{
    RUN(solids_are_closed);
    RUN(areas_and_volumes_converge);
    RUN(a_sphere_is_on_its_sphere);
    RUN(revolve_looks_away_from_the_axis);
    RUN(gentle_bends_are_smooth);
    RUN(plane_is_a_square);
    RUN(planes_cut_one_another);
    RUN(many_planes);
    RUN(refuses_what_is_no_shape);
    RUN(every_allocation_may_fail);
    return talus_test_result();
}

/* Meshes of capsules, cones, ellipsoids, hulls, compounds, triangles and fields. */
#include "all_shapes.h"
#include "base/memory.h"
#include "geometry/kinds.h"
#include "mesh_sound.h"

static void check_solid(int shape, double exact_area, double exact_volume)
{
    double error[2];
    for (int k = 0; k < 2; k++) {
        TalusMesh mesh;
        REQUIRE_OK(talus_mesh_of_shape(&all_shapes[shape], 0.0, 64 << k, &mesh));
        check_sound(&mesh);
        CHECK_NEAR(opening(&mesh), 0.0, 1e-12);
        CHECK_NEAR(area(&mesh), exact_area, 4e-3 * exact_area);
        error[k] = fabs(volume(&mesh) - exact_volume) / exact_volume;
        talus_mesh_free(&mesh);
    }
    CHECK(error[0] < 5e-3);
    CHECK(error[0] < 1e-12 || fabs(error[0] / error[1] - 4.0) < 0.1);
}

TEST(solids_have_their_size)
{
    double r = 0.4, h = 0.5, third = 1.0 / 3.0;
    check_solid(PILL, 4 * TALUS_PI * r * (h + r), TALUS_PI * r * r * (2 * h + 4 * third * r));
    r = 0.6;
    check_solid(HAT, TALUS_PI * r * (r + sqrt(r * r + 2.56)), TALUS_PI * third * r * r * 1.6);
    check_solid(STONE, 2 * (2.52 + 1.8) + 1.4 + 2 * 0.15 + 2.8 * sqrt(0.34), 2.52 + 0.21);
    TalusMesh egg;
    REQUIRE_OK(talus_mesh_of_shape(&all_shapes[EGG], 0.0, 64, &egg));
    check_sound(&egg);
    CHECK_NEAR(opening(&egg), 0.0, 1e-12);
    CHECK_NEAR(volume(&egg), 4 * third * TALUS_PI * 0.5 * 0.7 * 0.9, 6e-3);
    double worst = 0.0; /* on the surface, with the gradient for a normal */
    for (int k = 0; k < egg.vertex_count; k++) {
        TalusVec3 p = egg.vertex[k], g = {p.x / 0.25, p.y / 0.49, p.z / 0.81};
        worst = fmax(worst, fabs(talus_dot(p, g) - 1.0));
        worst = fmax(worst, talus_norm(talus_sub(talus_normalize(g, g), egg.normal[k])));
    }
    CHECK_NEAR(worst, 0.0, 1e-12);
    talus_mesh_free(&egg);
}

/* Flat faces of a hull have one normal, and every edge of it is a line: 15 of a box with a roof, whose gable ends are
 * pentagons. The point within is no corner. */
TEST(a_hull_has_its_faces)
{
    TalusMesh mesh;
    REQUIRE_OK(talus_mesh_of_shape(&all_shapes[STONE], 0.0, 8, &mesh));
    CHECK_INT(mesh.triangle_count, 3 * 2 + 2 * 3 + 2 * 2);
    CHECK_INT(mesh.vertex_count, 3 * 4 + 2 * 5 + 2 * 4);
    CHECK_INT(mesh.edge_count, 15);
    double low = INFINITY, high = -INFINITY;
    for (int k = 0; k < mesh.vertex_count; k++) {
        low = fmin(low, mesh.vertex[k].z);
        high = fmax(high, mesh.vertex[k].z);
    }
    /* about the centre of mass, 1/13 above the middle of the box: (0.21 / 2.73) (0.9 + 0.1) */
    CHECK_NEAR(low, -0.9 - 1.0 / 13.0, 1e-12);
    CHECK_NEAR(high, 1.2 - 1.0 / 13.0, 1e-12);
    talus_mesh_free(&mesh);
}

TEST(a_compound_has_its_parts)
{
    TalusMesh mesh, ball, rod;
    REQUIRE_OK(talus_mesh_of_shape(&all_shapes[DUMBBELL], 0.0, 16, &mesh));
    REQUIRE_OK(talus_mesh_of_shape(&dumbbell_ball, 0.0, 16, &ball)); /* the unit sphere */
    REQUIRE_OK(talus_mesh_of_shape(&dumbbell_rod, 0.0, 16, &rod));
    check_sound(&mesh);
    CHECK_INT(mesh.triangle_count, 2 * ball.triangle_count + rod.triangle_count);
    CHECK_INT(mesh.edge_count, rod.edge_count);
    CHECK_NEAR(volume(&mesh), 2 * 0.027 * volume(&ball) + volume(&rod), 1e-12);
    double reach = 0.0;
    for (int k = 0; k < mesh.vertex_count; k++)
        reach = fmax(reach, mesh.vertex[k].z);
    CHECK_NEAR(reach, 1.1, 1e-12);
    talus_mesh_free(&mesh);
    talus_mesh_free(&ball);
    talus_mesh_free(&rod);
}

/* Right angles stay sharp, diagonals of flat faces are no lines: 4 at the bottom, 4 upright, 4 free. */
TEST(triangles_have_lines_where_they_are_sharp)
{
    TalusMesh mesh;
    REQUIRE_OK(talus_mesh_of_shape(&all_shapes[TRAY], 0.0, 8, &mesh));
    check_sound(&mesh);
    CHECK_INT(mesh.triangle_count, 10);
    CHECK_INT(mesh.edge_count, 12);
    CHECK_NEAR(area(&mesh), 4.0 + 8.0, 1e-12);
    double turned = 0.0; /* all normals are those of the faces */
    for (int k = 0; k < 3 * mesh.triangle_count; k++) {
        TalusVec3 s = spread(&mesh, k / 3);
        turned = fmax(turned, 1.0 - talus_dot(mesh.normal[mesh.triangle[k]], s) / talus_norm(s));
    }
    CHECK_NEAR(turned, 0.0, 1e-12);
    talus_mesh_free(&mesh);
}

TEST(a_field_is_a_surface)
{
    TalusMesh mesh;
    REQUIRE_OK(talus_mesh_of_shape(&all_shapes[HILL], 0.0, 8, &mesh));
    check_sound(&mesh);
    CHECK_INT(mesh.vertex_count, 12);
    CHECK_INT(mesh.triangle_count, 2 * 3 * 2);
    CHECK_INT(mesh.edge_count, 2 * (3 + 2));
    CHECK(mesh.vertex[0].x == -1.5 && mesh.vertex[0].y == -1.0);
    CHECK(mesh.vertex[5].x == -0.5 && mesh.vertex[5].y == 0.0 && mesh.vertex[5].z == 0.5);
    /* as much area below it as the grid has, seen from above */
    TalusVec3 sum = talus_vec3(0, 0, 0);
    for (int t = 0; t < mesh.triangle_count; t++)
        sum = talus_madd(sum, 0.5, spread(&mesh, t));
    CHECK_NEAR(sum.z, 6.0, 1e-12);
    talus_mesh_free(&mesh);
}

TEST(every_allocation_may_fail)
{
    for (int s = 0; s < ALL_SHAPES; s++) {
        TalusStatus status = TALUS_ERR_MEMORY;
        for (long n = 1; status != TALUS_OK && n < 400; n++) {
            TalusMesh mesh;
            talus_fail_allocation_in(n);
            status = talus_mesh_of_shape(&all_shapes[s], 1.0, 8, &mesh);
            talus_fail_allocation_in(0);
            CHECK(status == TALUS_OK || status == TALUS_ERR_MEMORY);
            talus_mesh_free(&mesh);
        }
        CHECK(status == TALUS_OK);
    }
}

int main(void)
{
    RUN(solids_have_their_size);
    RUN(a_hull_has_its_faces);
    RUN(a_compound_has_its_parts);
    RUN(triangles_have_lines_where_they_are_sharp);
    RUN(a_field_is_a_surface);
    RUN(every_allocation_may_fail);
    return talus_test_result();
}

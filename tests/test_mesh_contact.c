/* Contact with meshes and height fields: spheres. */
#include "geometry/facets.h"
#include "mesh_cases.h"

static Soup soup;
static TalusShape ball, ground;

static void make_shapes(void)
{
    const TalusShapeDef balls = {.kind = TALUS_SHAPE_SPHERE}, grounds = {.kind = TALUS_SHAPE_PLANE};
    CHECK_OK(talus_shape_init(&ball, &balls));
    CHECK_OK(talus_shape_init(&ground, &grounds));
}

static double hills(double x, double y)
{
    return 0.3 * x * x - 0.4 * y * y + 0.2 * x * y;
}

/* ---- shapes ---- */

static void check_refused(const TalusShapeDef *def, const char *message)
{
    TalusShape shape;
    CHECK(talus_shape_init(&shape, def) == TALUS_ERR_ARGUMENT);
    if (!CHECK(strstr(talus_error(), message)))
        CHECK_STR(talus_error(), message);
}

TEST(bad_shapes_are_refused)
{
    TalusVec3 vertex[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {2, 0, 0}};
    int32_t triangle[6] = {0, 1, 2, 0, 1, 3};
    double height[4] = {0, 0, 0, 0};
    TalusShapeDef mesh = {.kind = TALUS_SHAPE_MESH,
                          .vertex = vertex,
                          .vertex_count = 4,
                          .triangle = triangle,
                          .triangle_count = 2};
    check_refused(&mesh, "mesh: triangle 1 has no area");
    triangle[5] = 4;
    check_refused(&mesh, "mesh: corner 2 of triangle 1 is vertex 4; there are 4");
    mesh.triangle_count = 0;
    check_refused(&mesh, "mesh: has 4 vertices and 0 triangles");
    mesh.triangle_count = 1;
    vertex[2].y = NAN;
    check_refused(&mesh, "mesh: vertex 2 is (0, nan, 0)");
    mesh.triangle_count = TALUS_MAX_FACETS + 1;
    check_refused(&mesh, "at most 8388608 are possible");
    TalusShapeDef field = {.kind = TALUS_SHAPE_FIELD, .height = height, .columns = 2, .rows = 2};
    check_refused(&field, "field: spacing is 0; it must be a positive length");
    field.spacing = 1.0;
    height[2] = INFINITY;
    check_refused(&field, "field: the height in column 0 of row 1 is inf");
    field.rows = 1;
    check_refused(&field, "field: has 2 columns and 1 rows");
    field.columns = field.rows = 5000; /* told before a height is looked at */
    check_refused(&field, "make more than 8388608 triangles");
}

/* The walk finds what a look at every facet finds. */
TEST(walk_finds_all)
{
    TalusShape shape;
    TalusRng rng = talus_rng_from_seed(3);
    make_sheet(&soup, 20, 1.0, 0.5, 7, hills);
    make_mesh(&soup, &shape);
    for (int k = 0; k < 200; k++) {
        TalusAabb box = talus_box_around(in_cube(&rng), between(&rng, 0.0, 0.3));
        int found = 0, expected = 0;
        TalusFacetWalk walk = talus_facets_in_box(&shape, box);
        for (int32_t t = talus_next_facet(&walk), last = -1; t >= 0; t = talus_next_facet(&walk)) {
            CHECK(t != last);
            last = t;
            found++;
        }
        for (int t = 0; t < soup.triangles; t++) {
            TalusAabb own = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
            for (int c = 0; c < 3; c++) {
                TalusVec3 x = soup.vertex[soup.triangle[3 * t + c]];
                own.lo = talus_vec3(fmin(own.lo.x, x.x), fmin(own.lo.y, x.y), fmin(own.lo.z, x.z));
                own.hi = talus_vec3(fmax(own.hi.x, x.x), fmax(own.hi.y, x.y), fmax(own.hi.z, x.z));
            }
            expected += box.lo.x <= own.hi.x && box.hi.x >= own.lo.x && box.lo.y <= own.hi.y &&
                        box.hi.y >= own.lo.y && box.lo.z <= own.hi.z && box.hi.z >= own.lo.z;
        }
        CHECK_INT(found, expected);
    }
    talus_shape_clear(&shape);
}

/* ---- spheres ---- */

static void check_like_plane(const TalusShape *sheet, TalusVec3 x)
{
    TalusPose sphere = pose(&ball, 0.1, x, upright),
              mesh = pose(sheet, 0.0, talus_vec3(0, 0, 0), upright),
              plane = pose(&ground, 0.0, talus_vec3(0, 0, 0), upright);
    Touches t = meet(&sphere, &mesh, 0.01), u = meet(&sphere, &plane, 0.01);
    REQUIRE(t.count == u.count);
    if (t.count == 1) {
        CHECK_NEAR(t.touch[0].gap, u.touch[0].gap, 1e-16);
        CHECK_NEAR(t.touch[0].normal.z, -1.0, 1e-16);
        CHECK_NEAR(t.touch[0].arm_b.x, x.x, 1e-15);
    }
}

/* Also exactly over edges and vertices. */
TEST(flat_mesh_is_a_plane_to_a_sphere)
{
    TalusShape sheet;
    TalusRng rng = talus_rng_from_seed(5);
    make_sheet(&soup, 16, 1.0, 0.6, 9, NULL);
    make_mesh(&soup, &sheet);
    for (int k = 0; k < 2000; k++)
        check_like_plane(&sheet, talus_vec3(between(&rng, -0.9, 0.9), between(&rng, -0.9, 0.9),
                                            between(&rng, 0.05, 0.12)));
    for (int t = 0; t < soup.triangles; t++) {
        TalusVec3 a = soup.vertex[soup.triangle[3 * t]], b = soup.vertex[soup.triangle[3 * t + 1]];
        TalusVec3 x = talus_scale(0.5, talus_add(a, b));
        if (fmax(fabs(x.x), fabs(x.y)) > 0.9)
            continue;
        check_like_plane(&sheet, talus_vec3(a.x, a.y, 0.0999));
        TalusPose sphere = pose(&ball, 0.1, talus_vec3(x.x, x.y, 0.0999), upright),
                  mesh = pose(&sheet, 0.0, talus_vec3(0, 0, 0), upright);
        Touches u = meet(&sphere, &mesh, 0.01); /* in the middle of an edge as it is rounded */
        REQUIRE(u.count >= 1 && u.count <= 2);
        for (int i = 0; i < u.count; i++) {
            CHECK_NEAR(u.touch[i].gap, -0.0001, 1e-15);
            CHECK_NEAR(u.touch[i].normal.z, -1.0, 1e-15);
        }
    }
    talus_shape_clear(&sheet);
}

/* A closed mesh of a box touches as the box does, outside and inside. */
TEST(closed_mesh_is_a_solid)
{
    TalusShape brick, block;
    TalusRng rng = talus_rng_from_seed(11);
    const TalusVec3 half = {0.5, 0.4, 0.3};
    const TalusShapeDef bricks = {.kind = TALUS_SHAPE_BOX, .half = half};
    CHECK_OK(talus_shape_init(&brick, &bricks));
    make_block(&soup, 4, half);
    make_mesh(&soup, &block);
    for (int t = 0; t < soup.triangles; t++)
        CHECK(block.mesh.mark[t] & TALUS_MARK_SOLID);
    int inside = 0;
    for (int k = 0; k < 3000; k++) {
        TalusQuat q = random_turn(&rng);
        TalusPose sphere = pose(&ball, 0.35, in_cube(&rng), upright);
        TalusPose a = pose(&brick, 0.0, talus_vec3(0.1, 0.2, 0.3), q), b = a;
        b.shape = &block;
        Touches t = meet(&sphere, &a, 0.05), u = meet(&sphere, &b, 0.05);
        CHECK_INT(u.count, t.count);
        if (t.count != 1 || u.count != 1)
            continue;
        inside += t.touch[0].gap < -0.35;
        CHECK_NEAR(u.touch[0].gap, t.touch[0].gap, 1e-14);
        CHECK_NEAR(talus_dot(u.touch[0].normal, t.touch[0].normal), 1.0, 1e-12);
    }
    CHECK(inside > 50);
    talus_shape_clear(&brick);
    talus_shape_clear(&block);
}

/* A sheet is touched from the side that the centre is on, at its rim too. */
TEST(open_mesh_has_two_sides)
{
    TalusShape sheet;
    make_sheet(&soup, 6, 1.0, 0.4, 2, NULL);
    make_mesh(&soup, &sheet);
    TalusPose wall = pose(&sheet, 0.0, talus_vec3(0, 0, 0), upright);
    for (int side = -1; side <= 1; side += 2) {
        TalusPose sphere = pose(&ball, 0.1, talus_vec3(0.21, 0.37, 0.098 * side), upright);
        Touches t = meet(&sphere, &wall, 0.01);
        REQUIRE(t.count == 1);
        CHECK_NEAR(t.touch[0].gap, -0.002, 1e-15);
        CHECK_NEAR(t.touch[0].normal.z, -side, 1e-15);
    }
    TalusPose beside = pose(&ball, 0.1, talus_vec3(1.06, 0.3, 0.08), upright);
    Touches t = meet(&beside, &wall, 0.01);
    REQUIRE(t.count == 1);
    CHECK_NEAR(t.touch[0].gap, 0.0, 1e-15);
    CHECK_NEAR(t.touch[0].normal.x, -0.6, 1e-14);
    talus_shape_clear(&sheet);
}

/* The least gap is the distance from all triangles; each touch is a minimum of its own. */
TEST(sphere_over_hills)
{
    TalusShape shape;
    TalusRng rng = talus_rng_from_seed(17);
    make_sheet(&soup, 24, 1.0, 0.5, 4, hills);
    make_mesh(&soup, &shape);
    int touched = 0, several = 0;
    for (int k = 0; k < 2000; k++) {
        TalusVec3 x = in_cube(&rng);
        TalusPose sphere = pose(&ball, 0.2, x, upright),
                  mesh = pose(&shape, 0.0, talus_vec3(0, 0, 0), upright);
        Touches t = meet(&sphere, &mesh, 0.02);
        double least = INFINITY;
        for (int i = 0; i < soup.triangles; i++) {
            TalusFacet f = talus_get_facet(&shape.def, i);
            least = fmin(least, talus_norm(talus_facet_closest(&f, x).from));
        }
        CHECK((t.count > 0) == (least - 0.2 < 0.02));
        if (t.count > 0)
            CHECK_NEAR(least_gap(&t), least - 0.2, 1e-14);
        touched += t.count > 0;
        several += t.count > 1;
    }
    CHECK(touched > 300 && several > 5);
    talus_shape_clear(&shape);
}

/* ---- fields ---- */

enum { COLUMNS = 25, ROWS = 31 };
static double height[COLUMNS * ROWS];

static void make_field(TalusShape *field, TalusShape *mesh)
{
    const double spacing = 0.08;
    TalusShapeDef def = {.kind = TALUS_SHAPE_FIELD,
                         .height = height,
                         .columns = COLUMNS,
                         .rows = ROWS,
                         .spacing = spacing};
    for (int j = 0; j < ROWS; j++)
        for (int i = 0; i < COLUMNS; i++)
            height[j * COLUMNS + i] =
                hills((i - 0.5 * (COLUMNS - 1)) * spacing, (j - 0.5 * (ROWS - 1)) * spacing);
    CHECK_OK(talus_shape_init(field, &def));
    soup.vertices = soup.triangles = 0;
    for (int j = 0; j < ROWS; j++)
        for (int i = 0; i < COLUMNS; i++)
            soup.vertex[soup.vertices++] = talus_field_vertex(&field->def, i, j);
    for (int32_t t = 0; t < 2 * (COLUMNS - 1) * (ROWS - 1); t++)
        add_triangle(&soup, talus_facet_vertex(&field->def, t, 0),
                     talus_facet_vertex(&field->def, t, 1), talus_facet_vertex(&field->def, t, 2));
    make_mesh(&soup, mesh);
}

/* The topology that is computed is that which is found. */
TEST(field_has_the_topology_of_its_mesh)
{
    TalusShape field, mesh;
    make_field(&field, &mesh);
    for (int32_t t = 0; t < soup.triangles; t++) {
        for (int k = 0; k < 3; k++) {
            CHECK_INT(talus_side_across(&field, 3 * t + k), mesh.mesh.across[3 * t + k]);
            CHECK(talus_facet_owns_edge(&field, t, k) == talus_facet_owns_edge(&mesh, t, k));
            CHECK(talus_facet_owns_vertex(&field, t, k) == talus_facet_owns_vertex(&mesh, t, k));
        }
        CHECK(talus_get_facet(&field.def, t).normal.z > 0.0);
    }
    talus_shape_clear(&field);
    talus_shape_clear(&mesh);
}

TEST(field_is_touched_as_its_mesh)
{
    TalusShape field, mesh;
    TalusRng rng = talus_rng_from_seed(23);
    make_field(&field, &mesh);
    int touched = 0;
    for (int k = 0; k < 2000; k++) {
        TalusVec3 x = in_cube(&rng);
        x.z = hills(x.x, x.y) + between(&rng, 0.02, 0.15);
        TalusPose sphere = pose(&ball, 0.1, x, upright),
                  a = pose(&field, 0.0, talus_vec3(0, 0, 0), upright), b = a;
        b.shape = &mesh;
        Touches t = meet(&sphere, &a, 0.01), u = meet(&sphere, &b, 0.01);
        REQUIRE(t.count == u.count);
        touched += t.count > 0;
        CHECK(t.count == 0 || least_gap(&t) == least_gap(&u));
    }
    CHECK(touched > 500);
    talus_shape_clear(&field);
    talus_shape_clear(&mesh);
}

/* However deep, the way out is up. */
TEST(field_is_solid_below)
{
    TalusShape field, mesh;
    make_field(&field, &mesh);
    TalusPose b = pose(&field, 0.0, talus_vec3(0, 0, 0), upright);
    for (int k = 1; k <= 40; k++) {
        TalusVec3 x = talus_vec3(0.31, 0.17, hills(0.31, 0.17) - 0.05 * k);
        TalusPose sphere = pose(&ball, 0.1, x, upright);
        Touches t = meet(&sphere, &b, 0.01);
        REQUIRE(t.count == 1);
        CHECK(t.touch[0].normal.z < -0.8);
        CHECK(t.touch[0].gap < -0.1 - 0.03 * k);
    }
    TalusPose beside = pose(&ball, 0.1, talus_vec3(0.96 + 0.09, 0.0, -0.5), upright);
    CHECK_INT(meet(&beside, &b, 0.01).count, 0);
    talus_shape_clear(&field);
    talus_shape_clear(&mesh);
}

int main(void)
{
    make_shapes();
    RUN(bad_shapes_are_refused);
    RUN(walk_finds_all);
    RUN(flat_mesh_is_a_plane_to_a_sphere);
    RUN(closed_mesh_is_a_solid);
    RUN(open_mesh_has_two_sides);
    RUN(sphere_over_hills);
    RUN(field_has_the_topology_of_its_mesh);
    RUN(field_is_touched_as_its_mesh);
    RUN(field_is_solid_below);
    return talus_test_result();
}

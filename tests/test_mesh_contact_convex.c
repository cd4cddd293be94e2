/* Contact with meshes and height fields: boxes, cylinders and other convex bodies. */
#include "mesh_cases.h"

enum { BOX, CYLINDER, CAPSULE, CONE, ELLIPSOID, HULL, BODIES };

static Soup soup;
static TalusShape body[BODIES], ground, sheet, block, brick;

static void make_shapes(void)
{
    TalusRng rng = talus_rng_from_seed(77);
    TalusVec3 rock[20];
    for (int k = 0; k < 20; k++)
        rock[k] = talus_scale(0.2, in_cube(&rng));
    const TalusShapeDef def[BODIES] = {
        {.kind = TALUS_SHAPE_BOX, .half = {0.2, 0.15, 0.1}},
        {.kind = TALUS_SHAPE_CYLINDER, .radius = 0.15, .half_height = 0.1},
        {.kind = TALUS_SHAPE_CAPSULE, .radius = 0.1, .half_height = 0.15},
        {.kind = TALUS_SHAPE_CONE, .radius = 0.15, .half_height = 0.15},
        {.kind = TALUS_SHAPE_ELLIPSOID, .half = {0.2, 0.15, 0.1}},
        {.kind = TALUS_SHAPE_HULL, .vertex = rock, .vertex_count = 20},
    };
    for (int k = 0; k < BODIES; k++)
        CHECK_OK(talus_shape_init(&body[k], &def[k]));
    const TalusShapeDef grounds = {.kind = TALUS_SHAPE_PLANE};
    const TalusShapeDef bricks = {.kind = TALUS_SHAPE_BOX, .half = {0.5, 0.4, 0.3}};
    CHECK_OK(talus_shape_init(&ground, &grounds));
    CHECK_OK(talus_shape_init(&brick, &bricks));
    make_sheet(&soup, 16, 1.0, 0.6, 9, NULL);
    make_mesh(&soup, &sheet);
    make_block(&soup, 4, bricks.half);
    make_mesh(&soup, &block);
}

static void clear_shapes(void)
{
    for (int k = 0; k < BODIES; k++)
        talus_shape_clear(&body[k]);
    talus_shape_clear(&sheet);
    talus_shape_clear(&block);
}

static TalusVec3 origin(void)
{
    return talus_vec3(0.0, 0.0, 0.0);
}

/* ---- flat ---- */

/* Whether t has a touch at the point of b where c is. */
static bool has_point(const Touches *t, const TalusManifoldPoint *c, double tolerance)
{
    for (int k = 0; k < t->count; k++)
        if (talus_norm(talus_sub(t->touch[k].arm_b, c->arm_b)) < tolerance &&
            fabs(t->touch[k].gap - c->gap) < tolerance)
            return true;
    return false;
}

/* Body k, some way up, hovering, touching or sunk in a little: its touches with a flat surface are those with
 * the plane. */
static void meet_flat(int k, const TalusPose *surface, const TalusPose *plane, TalusRng *rng,
                      Touches *t, Touches *u)
{
    TalusPose x = pose(&body[k % BODIES], 0.0, origin(), random_turn(rng));
    double low = talus_shape_bounds(x.shape, 0.0, x.position, x.orientation).lo.z;
    double across = between(rng, -0.6, 0.6), along = between(rng, -0.6, 0.6);
    x.position = talus_vec3(across, along, -low + 0.01 * between(rng, -1.0, 0.9));
    *t = meet(&x, surface, 0.01);
    *u = meet(&x, plane, 0.01);
    CHECK(t->count >= 1 && u->count >= 1);
    CHECK_NEAR(least_gap(t), least_gap(u), 1e-8);
    for (int i = 0; i < t->count; i++)
        CHECK_NEAR(t->touch[i].normal.z, -1.0, 1e-15);
}

/* Over triangles smaller than the body. */
TEST(flat_mesh_is_a_plane)
{
    TalusRng rng = talus_rng_from_seed(31);
    TalusPose mesh = pose(&sheet, 0.0, origin(), upright),
              plane = pose(&ground, 0.0, origin(), upright);
    for (int k = 0; k < 200 * BODIES; k++) {
        Touches t, u;
        meet_flat(k, &mesh, &plane, &rng, &t, &u);
        if (k % BODIES == BOX) {
            CHECK_INT(t.count, u.count);
            for (int i = 0; i < u.count; i++)
                CHECK(has_point(&t, &u.touch[i], 1e-14));
        }
        CHECK(t.count <= 4);
    }
}

/* Lying flat: the corners, whichever triangles they are over, with the same features all the way. */
TEST(box_slides_over_seams)
{
    TalusPose mesh = pose(&sheet, 0.0, origin(), upright),
              plane = pose(&ground, 0.0, origin(), upright);
    TalusQuat turn = talus_quat_normalize((TalusQuat){1.0, 0.0, 0.0, 0.3});
    uint32_t feature[4] = {0};
    for (int k = 0; k <= 400; k++) {
        TalusPose x = pose(&body[BOX], 0.0, talus_vec3(-0.6 + 0.003 * k, 0.1, 0.0999), turn);
        Touches t = meet(&x, &mesh, 0.01), u = meet(&x, &plane, 0.01);
        REQUIRE(t.count == 4 && u.count == 4);
        for (int i = 0; i < 4; i++) {
            CHECK(has_point(&t, &u.touch[i], 1e-14));
            uint32_t smallest = UINT32_MAX; /* i-th in order */
            int below = -1;
            for (int j = 0; j < 4; j++) {
                int less = 0;
                for (int l = 0; l < 4; l++)
                    less += t.touch[l].feature < t.touch[j].feature;
                if (less == i) {
                    smallest = t.touch[j].feature;
                    below = j;
                }
            }
            CHECK(below >= 0 && (k == 0 || smallest == feature[i]));
            feature[i] = smallest;
        }
    }
}

/* A field of one height, too. */
TEST(flat_field_is_a_plane)
{
    TalusShape field;
    static double height[21 * 21];
    const TalusShapeDef def = {
        .kind = TALUS_SHAPE_FIELD, .height = height, .columns = 21, .rows = 21, .spacing = 0.1};
    CHECK_OK(talus_shape_init(&field, &def));
    TalusRng rng = talus_rng_from_seed(41);
    TalusPose mesh = pose(&field, 0.0, origin(), upright),
              plane = pose(&ground, 0.0, origin(), upright);
    for (int k = 0; k < 50 * BODIES; k++) {
        Touches t, u;
        meet_flat(k, &mesh, &plane, &rng, &t, &u);
    }
    talus_shape_clear(&field);
}

/* ---- solids ---- */

/* A block of triangles is as far away as the box that it is, from every side, edge and corner, and is touched
 * where it is in reach and nowhere else. */
TEST(block_is_a_box)
{
    TalusRng rng = talus_rng_from_seed(53);
    int touched = 0, edges = 0;
    for (int k = 0; k < 400 * BODIES; k++) {
        TalusPose x = pose(&body[k % BODIES], 0.0, in_cube(&rng), random_turn(&rng));
        TalusPose a = pose(&brick, 0.0, origin(), upright), b = a;
        b.shape = &block;
        Touches t = meet(&x, &a, 0.05);
        if (t.count > 0 && least_gap(&t) < -0.01) /* a tenth of the bodies' size */
            continue;
        Touches u = meet(&x, &b, 0.05);
        CHECK(fabs(least_gap(&t) - 0.05) < 1e-6 || (t.count > 0) == (u.count > 0));
        if (t.count == 0 || u.count == 0)
            continue;
        touched++;
        int nearest = 0, other = 0;
        for (int i = 0; i < t.count; i++)
            nearest = t.touch[i].gap < t.touch[nearest].gap ? i : nearest;
        for (int i = 0; i < u.count; i++)
            other = u.touch[i].gap < u.touch[other].gap ? i : other;
        TalusVec3 n = t.touch[nearest].normal;
        edges += fmax(fmax(fabs(n.x), fabs(n.y)), fabs(n.z)) < 0.99;
        CHECK_NEAR(u.touch[other].gap, t.touch[nearest].gap, 1e-6 * 0.1);
        CHECK_NEAR(talus_dot(u.touch[other].normal, n), 1.0, 1e-6);
    }
    CHECK(touched > 100 && edges > 30);
}

/* A box with its middle over the rim of a table rests on what of the table is under it. */
TEST(box_over_an_edge)
{
    TalusPose x = pose(&body[BOX], 0.0, talus_vec3(0.5, 0.1, 0.3999), upright),
              table = pose(&block, 0.0, origin(), upright);
    Touches t = meet(&x, &table, 0.01);
    CHECK(t.count >= 4 && t.count <= 8);
    double left = INFINITY, right = -INFINITY;
    for (int k = 0; k < t.count; k++) {
        CHECK_NEAR(t.touch[k].normal.z, -1.0, 1e-9);
        CHECK_NEAR(t.touch[k].gap, -0.0001, 1e-9);
        left = fmin(left, t.touch[k].arm_b.x);
        right = fmax(right, t.touch[k].arm_b.x);
    }
    CHECK_NEAR(left, 0.3, 1e-12);
    CHECK_NEAR(right, 0.5, 1e-9);
}

/* Beside a step, and a little into it, the step pushes sideways and not up. */
TEST(box_beside_a_step)
{
    TalusPose x = pose(&body[BOX], 0.0, talus_vec3(0.5 + 0.2 - 1e-5, 0.1, 0.3 + 0.1 - 0.005),
                       upright),
              table = pose(&block, 0.0, origin(), upright);
    Touches t = meet(&x, &table, 0.01);
    REQUIRE(t.count >= 1);
    for (int k = 0; k < t.count; k++) {
        CHECK_NEAR(t.touch[k].normal.x, -1.0, 1e-6);
        CHECK_NEAR(t.touch[k].gap, -1e-5, 1e-9);
    }
}

/* Sunk in deeper than the triangles are wide, over a plane and not along it. */
TEST(deep_overlap_leads_out)
{
    for (int k = 0; k < BODIES; k++) {
        TalusPose x = pose(&body[k], 0.0, origin(), upright),
                  mesh = pose(&sheet, 0.0, origin(), upright),
                  table = pose(&block, 0.0, origin(), upright);
        double low = talus_shape_bounds(x.shape, 0.0, x.position, x.orientation).lo.z;
        x.position = talus_vec3(0.03, 0.02, -low - 0.03);
        Touches t = meet(&x, &mesh, 0.01);
        REQUIRE(t.count >= 1);
        CHECK_NEAR(least_gap(&t), -0.03, 1e-9);
        x.position.z += 0.3;
        Touches u = meet(&x, &table, 0.01);
        REQUIRE(u.count >= 1);
        CHECK_NEAR(least_gap(&u), -0.03, 1e-9);
        for (int i = 0; i < t.count; i++)
            CHECK_NEAR(t.touch[i].normal.z, -1.0, 1e-12);
        for (int i = 0; i < u.count; i++)
            CHECK_NEAR(u.touch[i].normal.z, -1.0, 1e-12);
    }
}

/* ---- hollows ---- */

static double trough(double x, double y)
{
    (void)y;
    return 0.5 * fabs(x);
}

/* In a trough a body is held from both sides, by their own normals. */
TEST(body_in_a_trough)
{
    TalusShape shape;
    make_sheet(&soup, 16, 1.0, 0.0, 0, trough);
    make_mesh(&soup, &shape);
    TalusPose mesh = pose(&shape, 0.0, origin(), upright);
    double slope = 1.0 / sqrt(1.25);
    for (int k = 0; k < BODIES; k++) {
        TalusPose x = pose(&body[k], 0.0, talus_vec3(0.0, 0.07, 1.0), upright);
        double least = INFINITY; /* lowered until it touches, by bisection */
        for (double high = 1.0, low = 0.0; high - low > 1e-9;) {
            x.position.z = 0.5 * (high + low);
            Touches t = meet(&x, &mesh, 1.0);
            least = least_gap(&t);
            if (least > 0.0)
                high = x.position.z;
            else
                low = x.position.z;
        }
        CHECK_NEAR(least, 0.0, 1e-7);
        Touches t = meet(&x, &mesh, 0.001);
        REQUIRE(t.count >= 1);
        int left = 0, right = 0;
        for (int i = 0; i < t.count; i++) {
            CHECK_NEAR(t.touch[i].normal.z, -slope, 1e-7);
            left += t.touch[i].normal.x > 0.0;
            right += t.touch[i].normal.x < 0.0;
        }
        CHECK(k == HULL ? left + right > 0 : left > 0 && right > 0);
    }
    talus_shape_clear(&shape);
}

/* A box in the corner of a hollow block is held by three walls, with four touches each at most. */
TEST(box_in_a_corner)
{
    TalusShape hollow;
    make_block(&soup, 5, talus_vec3(0.5, 0.4, 0.3));
    for (int t = 0; t < soup.triangles; t++) { /* inside out */
        int32_t first = soup.triangle[3 * t];
        soup.triangle[3 * t] = soup.triangle[3 * t + 1];
        soup.triangle[3 * t + 1] = first;
    }
    make_mesh(&soup, &hollow);
    TalusPose b = pose(&hollow, 0.0, origin(), upright);
    const double gaps[4] = {1e-5, -1e-7, -1e-5, -0.002};
    for (int k = 0; k < 4; k++) {
        double gap = gaps[k];
        TalusPose x =
            pose(&body[BOX], 0.0, talus_vec3(-0.3 + gap, -0.25 + gap, -0.2 + gap), upright);
        Touches t = meet(&x, &b, 0.001);
        int wall[3] = {0, 0, 0};
        for (int i = 0; i < t.count; i++) {
            TalusVec3 n = t.touch[i].normal;
            CHECK_NEAR(t.touch[i].gap, gap, 1e-9);
            wall[0] += n.x < -1.0 + 1e-9;
            wall[1] += n.y < -1.0 + 1e-9;
            wall[2] += n.z < -1.0 + 1e-9;
        }
        CHECK_INT(wall[0] + wall[1] + wall[2], t.count);
        for (int i = 0; i < 3; i++)
            CHECK_INT(wall[i], 4);
    }
    talus_shape_clear(&hollow);
}

/* ---- many facets ---- */

/* A plate on a hundred peaks of one height touches every one, once. */
TEST(plate_on_many_peaks)
{
    TalusShape plate, shape[2];
    static double height[41 * 41];
    const TalusShapeDef flat = {.kind = TALUS_SHAPE_BOX, .half = {0.48, 0.48, 0.02}},
                        field = {.kind = TALUS_SHAPE_FIELD,
                                 .height = height,
                                 .columns = 41,
                                 .rows = 41,
                                 .spacing = 0.05};
    make_sheet(&soup, 40, 1.0, 0.0, 0, NULL);
    for (int v = 0; v < 41 * 41; v++) {
        bool peak = v % 41 % 2 == 1 && v / 41 % 2 == 1;
        height[v] = soup.vertex[v].z = peak ? 0.0 : -0.05;
    }
    make_mesh(&soup, &shape[0]);
    CHECK_OK(talus_shape_init(&shape[1], &field));
    CHECK_OK(talus_shape_init(&plate, &flat));
    for (int k = 0; k < 4; k++) {
        double gap = k & 1 ? -1e-6 : 1e-4;
        TalusPose x = pose(&plate, 0.0, talus_vec3(0.001, -0.002, 0.02 + gap), upright),
                  b = pose(&shape[k / 2], 0.0, origin(), upright);
        Touches t = meet(&x, &b, 0.001);
        REQUIRE(t.count == 100);
        for (int i = 0; i < t.count; i++) {
            CHECK_NEAR(t.touch[i].gap, gap, 1e-9);
            CHECK_NEAR(t.touch[i].normal.z, -1.0, 1e-9);
        }
    }
    talus_shape_clear(&shape[0]);
    talus_shape_clear(&shape[1]);
}

/* A plate across four flat strips of many triangles each touches at the corners of what is over them. */
TEST(plate_on_many_patches)
{
    TalusShape plate, disc, strips;
    const TalusShapeDef def = {.kind = TALUS_SHAPE_BOX, .half = {0.42, 0.32, 0.05}},
                        round = {.kind = TALUS_SHAPE_CYLINDER, .radius = 0.47, .half_height = 0.05};
    make_sheet(&soup, 40, 1.0, 0.0, 0, NULL);
    int kept = 0;
    for (int t = 0; t < soup.triangles; t++) { /* of five columns of squares two go */
        if (t / 2 % 5 < 3)
            memcpy(soup.triangle + 3 * kept++, soup.triangle + 3 * t, 3 * sizeof(int32_t));
    }
    soup.triangles = kept;
    make_mesh(&soup, &strips);
    CHECK_OK(talus_shape_init(&plate, &def));
    TalusPose x = pose(&plate, 0.0, talus_vec3(0.0, 0.01, 0.05 - 1e-6), upright),
              b = pose(&strips, 0.0, origin(), upright);
    Touches t = meet(&x, &b, 0.001);
    const double border[8] = {-0.42, -0.35, -0.25, -0.1, 0.0, 0.15, 0.25, 0.4};
    CHECK_INT(t.count, 16);
    for (int k = 0; k < 16; k++) {
        double y = 0.01 + (k & 1 ? 0.32 : -0.32);
        TalusManifoldPoint corner = {.arm_b = {border[k / 2], y, 0.0}, .gap = -1e-6};
        CHECK(has_point(&t, &corner, 1e-12));
    }
    /* an octagon stands for the disc; along the borders of strips it has a corner at each triangle */
    CHECK_OK(talus_shape_init(&disc, &round));
    x = pose(&disc, 0.0, x.position, upright);
    Touches u = meet(&x, &b, 0.001);
    for (int k = 2; k < 7; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int i = 0; i < u.count; i++) {
            bool here = fabs(u.touch[i].arm_b.x - border[k]) < 0.03;
            low = here ? fmin(low, u.touch[i].arm_b.y) : low;
            high = here ? fmax(high, u.touch[i].arm_b.y) : high;
        }
        double half = 0.9 * sqrt(0.47 * 0.47 - border[k] * border[k]);
        CHECK(low < 0.01 - half && high > 0.01 + half);
    }
    talus_shape_clear(&strips);
}

/* ---- sides ---- */

/* A body is pushed out of a thin wall to the side that it is on, also where another wall has moved it beyond. */
TEST(wedge_of_thin_walls)
{
    TalusShape wedge;
    soup.vertices = soup.triangles = 0;
    for (int k = 0; k < 6; k++) { /* two walls that meet along y, 40 degrees apart, open above */
        double side = k < 2 ? 0.0 : k < 4 ? 1.0 : -1.0;
        soup.vertex[soup.vertices++] =
            talus_vec3(side * 2.0 * 0.34202014, k & 1 ? 1.0 : -1.0, fabs(side) * 2.0 * 0.93969262);
    }
    add_triangle(&soup, 0, 1, 3);
    add_triangle(&soup, 0, 3, 2);
    add_triangle(&soup, 0, 4, 5);
    add_triangle(&soup, 0, 5, 1);
    make_mesh(&soup, &wedge);
    TalusPose b = pose(&wedge, 0.0, origin(), upright);
    for (int k = 0; k < BODIES; k++) {
        for (int step = 0; step < 20; step++) {
            TalusPose x = pose(&body[k], 0.0, talus_vec3(0.004 * step, 0.0, 0.25), upright);
            Touches t = meet(&x, &b, 0.01);
            CHECK(t.count >= 1);
            for (int i = 0; i < t.count; i++) /* towards the middle, and up */
                CHECK(t.touch[i].normal.z < 0.0 &&
                      t.touch[i].normal.x * t.touch[i].arm_b.x > -1e-9);
        }
    }
    talus_shape_clear(&wedge);
}

/* Wherever a body is below a field, the surface above leads out. */
TEST(body_under_a_field)
{
    TalusShape field;
    static double height[21 * 21];
    const TalusShapeDef def = {
        .kind = TALUS_SHAPE_FIELD, .height = height, .columns = 21, .rows = 21, .spacing = 0.1};
    CHECK_OK(talus_shape_init(&field, &def));
    for (int k = 0; k < BODIES; k++) {
        TalusPose x = pose(&body[k], 0.0, origin(), upright),
                  b = pose(&field, 0.0, origin(), upright);
        TalusAabb box = talus_shape_bounds(x.shape, 0.0, x.position, x.orientation);
        const double top[4] = {0.01, -1e-9, -0.01, -1.0}; /* of the body, over the field */
        for (int i = 0; i < 4; i++) {
            x.position = talus_vec3(0.03, 0.02, top[i] - box.hi.z);
            Touches t = meet(&x, &b, 0.01);
            REQUIRE(t.count >= 1);
            CHECK_NEAR(least_gap(&t), top[i] - (box.hi.z - box.lo.z), 1e-9);
            for (int j = 0; j < t.count; j++)
                CHECK_NEAR(t.touch[j].normal.z, -1.0, 1e-12);
        }
    }
    talus_shape_clear(&field);
}

int main(void)
{
    make_shapes();
    RUN(flat_mesh_is_a_plane);
    RUN(box_slides_over_seams);
    RUN(flat_field_is_a_plane);
    RUN(block_is_a_box);
    RUN(box_over_an_edge);
    RUN(box_beside_a_step);
    RUN(deep_overlap_leads_out);
    RUN(body_in_a_trough);
    RUN(box_in_a_corner);
    RUN(plate_on_many_peaks);
    RUN(plate_on_many_patches);
    RUN(wedge_of_thin_walls);
    RUN(body_under_a_field);
    clear_shapes();
    return talus_test_result();
}

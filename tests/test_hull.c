/* Convex hulls: every one is a closed convex polyhedron of its points that has them all within, whatever the points. */
#include "base/memory.h"
#include "geometry/bounds.h"
#include "geometry/shape.h"
#include "geometry/support.h"
#include "hull_clouds.h"
#include "support/test.h"

#include <stdio.h>
#include <string.h>

#define TOLERANCE 0x1p-21 /* of the extent: what is dropped within 2^-22, twice over */

static double extent_of(const TalusShape *s)
{
    TalusVec3 d = talus_sub(s->box.hi, s->box.lo);
    return fmax(d.x, fmax(d.y, d.z));
}

static TalusVec3 plane_normal(const TalusShape *s, int face)
{
    const double *p = s->hull.plane[face];
    return talus_vec3(p[0], p[1], p[2]);
}

static int face_size(const TalusShape *s, int face)
{
    return s->hull.loop_start[face + 1] - s->hull.loop_start[face];
}

static TalusVec3 loop_point(const TalusShape *s, int face, int k)
{
    return s->def.vertex[s->hull.loop[s->hull.loop_start[face] + k % face_size(s, face)]];
}

/* ---- what makes a hull ---- */

/* Faces: flat, convex, looking outwards. */
static int wrong_faces(const TalusShape *s)
{
    double slack = TOLERANCE * extent_of(s);
    int wrong = 0;
    for (int f = 0; f < s->hull.faces; f++) {
        TalusVec3 n = plane_normal(s, f);
        wrong += fabs(talus_norm(n) - 1.0) > 1e-14 || face_size(s, f) < 3;
        for (int k = 0; k < face_size(s, f); k++) {
            TalusVec3 a = loop_point(s, f, k), b = loop_point(s, f, k + 1);
            TalusVec3 c = loop_point(s, f, k + 2), chord = talus_sub(c, a);
            double off = talus_dot(n, a) - s->hull.plane[f][3];
            double turn = talus_dot(n, talus_cross(talus_sub(b, a), chord));
            wrong +=
                off > 1e-11 * extent_of(s) || off < -slack || turn < -slack * talus_norm(chord);
        }
        for (int v = 0; v < s->def.vertex_count; v++)
            wrong += talus_dot(n, s->def.vertex[v]) > s->hull.plane[f][3] + 1e-11 * extent_of(s);
    }
    return wrong;
}

/* Whether the loop of a face goes from a to b. */
static bool has_side(const TalusShape *s, int face, int a, int b)
{
    const int32_t *loop = s->hull.loop + s->hull.loop_start[face];
    for (int k = 0, n = face_size(s, face); k < n; k++)
        if (loop[k] == a && loop[(k + 1) % n] == b)
            return true;
    return false;
}

static bool is_neighbour(const TalusShape *s, int a, int b)
{
    for (int k = s->hull.neighbour_start[a]; k < s->hull.neighbour_start[a + 1]; k++)
        if (s->hull.neighbour[k] == b)
            return true;
    return false;
}

/* Edges: two faces each, once in either direction, and Euler's formula. */
static int wrong_edges(const TalusShape *s)
{
    const TalusHull *h = &s->hull;
    int wrong = s->def.vertex_count - h->edges + h->faces != 2;
    wrong += 2 * h->edges != h->loop_start[h->faces];
    for (int e = 0; e < h->edges; e++) {
        const int32_t *edge = h->edge[e];
        wrong += edge[2] == edge[3];
        wrong += !has_side(s, edge[2], edge[0], edge[1]) || !has_side(s, edge[3], edge[1], edge[0]);
        wrong += !is_neighbour(s, edge[0], edge[1]) || !is_neighbour(s, edge[1], edge[0]);
    }
    return wrong;
}

static double depth(const TalusShape *s, TalusVec3 p)
{
    double most = -INFINITY;
    for (int f = 0; f < s->hull.faces; f++)
        most = fmax(most, talus_dot(plane_normal(s, f), p) - s->hull.plane[f][3]);
    return most;
}

/* All points within, and all vertices among the points. */
static int wrong_points(const TalusShape *s, const TalusVec3 *point, int count)
{
    double slack = TOLERANCE * extent_of(s);
    double rounding = 1e-12 * (extent_of(s) + talus_norm(s->centre));
    int wrong = 0;
    for (int k = 0; k < count; k++)
        wrong += depth(s, talus_sub(point[k], s->centre)) > slack;
    for (int v = 0; v < s->def.vertex_count; v++) {
        double nearest = INFINITY;
        for (int k = 0; k < count; k++)
            nearest = fmin(nearest,
                           talus_norm(talus_sub(talus_sub(point[k], s->centre), s->def.vertex[v])));
        wrong += nearest > rounding;
    }
    return wrong;
}

static void check_hull(const TalusShape *s, const TalusVec3 *point, int count, const char *what,
                       uint64_t seed)
{
    int faces = wrong_faces(s), edges = wrong_edges(s), points = wrong_points(s, point, count);
    if (!CHECK(faces + edges + points == 0))
        printf("    %s, seed %llu, %d points: %d faces, %d edges, %d points are wrong\n", what,
               (unsigned long long)seed, count, faces, edges, points);
}

/* Made again from its own definition it has the same bits. */
static bool is_settled(const TalusShape *s)
{
    TalusShape again;
    if (!CHECK_OK(talus_shape_init(&again, &s->def)))
        return false;
    bool same =
        again.block_size == s->block_size && memcmp(again.block, s->block, s->block_size) == 0 &&
        talus_norm(again.centre) == 0.0 && memcmp(&again.unit, &s->unit, sizeof s->unit) == 0;
    talus_shape_clear(&again);
    return same;
}

TEST(hulls_of_hard_clouds)
{
    static const char *const names[CLOUD_KINDS] = {"cube",   "sphere", "lattice", "prism",
                                                   "single", "shell",  "needle",  "cap"};
    TalusVec3 point[300];
    for (int kind = 0; kind < CLOUD_KINDS; kind++)
        for (uint64_t seed = 0; seed < 160; seed++) {
            int count = seed < 150 ? 5 + (int)(seed % 60) : 250;
            cloud_fill(kind, seed, count, point);
            TalusShapeDef def = {.kind = TALUS_SHAPE_HULL, .vertex = point, .vertex_count = count};
            TalusShape s;
            TalusStatus status = talus_shape_init(&s, &def);
            if (status != TALUS_OK) { /* five points of a lattice may lie in a plane */
                CHECK(status == TALUS_ERR_ARGUMENT && count < 20);
                continue;
            }
            check_hull(&s, point, count, names[kind], seed);
            CHECK(is_settled(&s));
            talus_shape_clear(&s);
        }
}

/* ---- faces ---- */

/* A box of points: corners, some of them more than once, edges, faces and inside. */
static int box_points(TalusVec3 half, TalusQuat turn, TalusVec3 at, bool single, TalusVec3 *point)
{
    int n = 0;
    for (int k = 0; k < 5 * 5 * 5; k++) {
        TalusVec3 p = talus_vec3(half.x * (k % 5 - 2) / 2, half.y * (k / 5 % 5 - 2) / 2,
                                 half.z * (k / 25 - 2) / 2);
        p = talus_add(at, talus_rotate(turn, p));
        if (single)
            p = talus_vec3((float)p.x, (float)p.y, (float)p.z);
        point[n++] = p;
        if (k % 3 == 0)
            point[n++] = p;
    }
    return n;
}

TEST(a_box_of_points_is_a_box)
{
    TalusRng rng = talus_rng_from_seed(7);
    TalusVec3 half = talus_vec3(0.3, 0.5, 0.9), point[200];
    TalusShapeDef box = {.kind = TALUS_SHAPE_BOX, .half = half};
    TalusMassProperties expected, m;
    REQUIRE_OK(talus_shape_mass(&box, 0.0, 2.0, &expected));
    for (int k = 0; k < 100; k++) {
        bool single = k % 2;
        TalusQuat turn = cloud_turn(&rng);
        TalusVec3 at = talus_scale(3.0, cloud_in_cube(&rng));
        int count = box_points(half, turn, at, single, point);
        double slack = single ? 3e-6 : 1e-13;
        TalusShapeDef def = {.kind = TALUS_SHAPE_HULL, .vertex = point, .vertex_count = count};
        TalusShape s;
        REQUIRE_OK(talus_shape_init(&s, &def));
        check_hull(&s, point, count, "box", (uint64_t)k);
        CHECK_INT(s.def.vertex_count, 8);
        CHECK_INT(s.hull.faces, 6);
        CHECK_INT(s.hull.edges, 12);
        CHECK_NEAR(s.size, 0.3, slack);
        CHECK_NEAR(s.bounding_radius, talus_norm(half), slack);
        CHECK_NEAR(talus_norm(talus_sub(s.centre, at)), 0.0, slack);
        REQUIRE_OK(talus_shape_mass_of_built(&s, 0.0, 2.0, &m));
        TalusSym3 i = talus_sym3_rotate(turn, expected.inertia);
        CHECK_NEAR(m.mass, expected.mass, slack);
        CHECK_NEAR(m.inertia.xx, i.xx, slack);
        CHECK_NEAR(m.inertia.zz, i.zz, slack);
        CHECK_NEAR(m.inertia.xy, i.xy, slack);
        CHECK_NEAR(m.inertia.yz, i.yz, slack);
        talus_shape_clear(&s);
    }
}

/* ---- mass ---- */

TEST(mass_of_a_tetrahedron)
{
    /* Of the corner of a cube: volume 1/6, centre (1/4, 1/4, 1/4), Ixx = m 3/40 and Ixy = m/80 about it. */
    static const TalusVec3 point[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    TalusShapeDef def = {.kind = TALUS_SHAPE_HULL, .vertex = point, .vertex_count = 4};
    TalusMassProperties m;
    TalusVec3 centre;
    REQUIRE_OK(talus_shape_mass(&def, 0.0, 6.0, &m));
    REQUIRE_OK(talus_shape_centre(&def, &centre));
    CHECK_NEAR(m.mass, 1.0, 1e-15);
    CHECK_NEAR(m.inertia.xx, 3.0 / 40.0, 1e-15);
    CHECK_NEAR(m.inertia.zz, 3.0 / 40.0, 1e-15);
    CHECK_NEAR(m.inertia.xy, 1.0 / 80.0, 1e-15);
    CHECK_NEAR(centre.x, 0.25, 1e-15);
    CHECK_NEAR(centre.z, 0.25, 1e-15);
}

/* Against the sum over a grid of points within all planes. */
TEST(mass_of_a_rock)
{
    enum { N = 64 };
    TalusVec3 point[40];
    cloud_fill(CLOUD_SPHERE, 3, 40, point);
    TalusShapeDef def = {.kind = TALUS_SHAPE_HULL, .vertex = point, .vertex_count = 40};
    TalusShape s;
    REQUIRE_OK(talus_shape_init(&s, &def));
    double r = s.bounding_radius, cell = 2.0 * r / N, dm = cell * cell * cell;
    double mass = 0.0, xx = 0.0, yz = 0.0;
    TalusVec3 first = talus_vec3(0, 0, 0);
    for (int k = 0; k < N * N * N; k++) {
        TalusVec3 p = talus_vec3((k % N + 0.5) * cell - r, (k / N % N + 0.5) * cell - r,
                                 (k / N / N + 0.5) * cell - r);
        if (depth(&s, p) > 0.0)
            continue;
        mass += dm;
        first = talus_madd(first, dm, p);
        xx += dm * (p.y * p.y + p.z * p.z);
        yz -= dm * p.y * p.z;
    }
    CHECK_NEAR(s.unit.mass, mass, 0.003 * mass);
    CHECK_NEAR(s.unit.inertia.xx, xx, 0.005 * xx);
    CHECK_NEAR(s.unit.inertia.yz, yz, 0.005 * xx);
    CHECK_NEAR(talus_norm(first) / mass, 0.0, 0.003 * r);
    talus_shape_clear(&s);
}

/* ---- support ---- */

TEST(climbing_finds_the_farthest)
{
    static TalusVec3 point[2000];
    TalusRng rng = talus_rng_from_seed(5);
    for (int kind = 0; kind < CLOUD_KINDS; kind++) {
        cloud_fill(kind, 11, 2000, point);
        TalusShapeDef def = {.kind = TALUS_SHAPE_HULL, .vertex = point, .vertex_count = 2000};
        TalusShape s;
        REQUIRE_OK(talus_shape_init(&s, &def));
        double worst = 0.0;
        for (int k = 0; k < 500; k++) {
            TalusVec3 d = talus_normalize(cloud_in_cube(&rng), talus_vec3(1, 0, 0));
            if (k < s.hull.faces) /* and square to a face, where all its corners lie equally far */
                d = plane_normal(&s, k);
            int best = talus_hull_search_all(s.def.vertex, s.def.vertex_count, d);
            double far = talus_dot(s.def.vertex[best], d);
            worst = fmax(worst, far - talus_dot(talus_support(&s, 0.0, d), d));
            worst = fmax(worst,
                         far - talus_dot(s.def.vertex[talus_hull_climb_to_farthest(&s, d, 0)], d));
        }
        CHECK(worst <= 1e-11 * extent_of(&s));
        talus_shape_clear(&s);
    }
}

/* ---- bits ---- */

TEST(scaled_by_a_power_of_two)
{
    TalusVec3 point[100], scaled[100];
    for (int kind = 0; kind < CLOUD_KINDS; kind++) {
        cloud_fill(kind, 4, 100, point);
        for (int k = 0; k < 100; k++)
            scaled[k] = talus_scale(0x1p-7, point[k]);
        TalusShapeDef def = {.kind = TALUS_SHAPE_HULL, .vertex = point, .vertex_count = 100};
        TalusShapeDef small = {.kind = TALUS_SHAPE_HULL, .vertex = scaled, .vertex_count = 100};
        TalusShape a, b;
        REQUIRE_OK(talus_shape_init(&a, &def));
        REQUIRE_OK(talus_shape_init(&b, &small));
        CHECK_INT(a.hull.faces, b.hull.faces);
        CHECK_INT(a.def.vertex_count, b.def.vertex_count);
        int differ = a.size != 0x1p7 * b.size || a.unit.mass != 0x1p21 * b.unit.mass ||
                     a.unit.inertia.xy != 0x1p35 * b.unit.inertia.xy;
        for (int k = 0; k < a.def.vertex_count; k++)
            differ +=
                talus_norm(talus_sub(a.def.vertex[k], talus_scale(0x1p7, b.def.vertex[k]))) > 0.0;
        differ += memcmp(a.hull.loop, b.hull.loop,
                         (size_t)a.hull.loop_start[a.hull.faces] * sizeof *a.hull.loop) != 0;
        CHECK_INT(differ, 0);
        talus_shape_clear(&a);
        talus_shape_clear(&b);
    }
}

/* ---- refusals ---- */

TEST(refuses_what_has_no_volume)
{
    TalusVec3 point[50];
    TalusShapeDef def = {.kind = TALUS_SHAPE_HULL, .vertex = point, .vertex_count = 50};
    TalusShape s;
    TalusRng rng = talus_rng_from_seed(1);
    TalusQuat turn = cloud_turn(&rng);
    for (int flat = 0; flat < 4;
         flat++) { /* one point, a line, a plane, a plane of rounding errors */
        for (int k = 0; k < 50; k++) {
            TalusVec3 p = cloud_in_cube(&rng);
            p = flat == 0   ? talus_vec3(1, 2, 3)
                : flat == 1 ? talus_vec3(p.x, 0, 0)
                : flat == 2 ? talus_vec3(p.x, p.y, 0)
                            : talus_vec3(p.x, p.y, 1e-7 * p.z);
            point[k] = flat == 0 ? p : talus_rotate(turn, p);
        }
        CHECK(talus_shape_init(&s, &def) == TALUS_ERR_ARGUMENT);
        CHECK(s.block == NULL);
    }
    CHECK_STR(talus_error(), "hull: its 50 points lie in one plane, or nearly; a body needs a "
                             "thickness of 4e-6 of its length at least");
    def.vertex_count = 3;
    CHECK(talus_shape_init(&s, &def) == TALUS_ERR_ARGUMENT);
    CHECK_STR(talus_error(), "hull: 3 points; it needs at least 4");
    def.vertex_count = 50;
    cloud_fill(CLOUD_CUBE, 1, 50, point);
    point[17].y = NAN;
    CHECK(talus_shape_init(&s, &def) == TALUS_ERR_ARGUMENT);
    CHECK(strstr(talus_error(), "hull: point 17 is (") != NULL);
    for (int k = 0; k < 50; k++)
        point[k] = talus_scale(1e80, cloud_in_cube(&rng));
    CHECK(talus_shape_init(&s, &def) == TALUS_ERR_ARGUMENT);
    for (int k = 0; k < 50; k++)
        point[k] = talus_scale(1e-300, cloud_in_cube(&rng));
    CHECK(talus_shape_init(&s, &def) == TALUS_ERR_ARGUMENT);
}

TEST(every_allocation_may_fail)
{
    TalusVec3 point[30];
    cloud_fill(CLOUD_LATTICE, 2, 30, point);
    TalusShapeDef def = {.kind = TALUS_SHAPE_HULL, .vertex = point, .vertex_count = 30};
    TalusShape s;
    TalusStatus status = TALUS_ERR_MEMORY;
    for (long n = 1; status != TALUS_OK && n < 500; n++) {
        talus_fail_allocation_in(n);
        status = talus_shape_init(&s, &def);
        talus_fail_allocation_in(0);
        CHECK(status == TALUS_OK || status == TALUS_ERR_MEMORY);
    }
    REQUIRE(status == TALUS_OK);
    talus_shape_clear(&s);
}

int main(void)
{
    RUN(hulls_of_hard_clouds);
    RUN(a_box_of_points_is_a_box);
    RUN(mass_of_a_tetrahedron);
    RUN(mass_of_a_rock);
    RUN(climbing_finds_the_farthest);
    RUN(scaled_by_a_power_of_two);
    RUN(refuses_what_has_no_volume);
    RUN(every_allocation_may_fail);
    return talus_test_result();
}

/* Rays, moving spheres and overlaps (collide/cast.c, world/cast.c): closed forms, and every shape against the triangles that
 * it is drawn with, met by brute force. */
#include "all_shapes.h"

#include "base/rng.h"
#include "geometry/facets.h"
#include "geometry/mesh.h"
#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <talus/talus.h>

static const TalusVec3 zero = {0.0, 0.0, 0.0};

static TalusWorld *make_world(void)
{
    TalusWorldDef def = talus_world_def_default();
    TalusWorld *world = NULL;
    def.threads = 2;
    CHECK_OK(talus_world_create(&def, &world));
    return world;
}

static TalusBodyId add(TalusWorld *world, TalusShapeDef shape, bool fixed, int group, TalusVec3 x,
                       TalusQuat e)
{
    TalusBodyId id = {0};
    TalusBodyBatch batch = talus_body_batch_default();
    CHECK_OK(talus_world_add_shape(world, &shape, &batch.shape));
    batch.count = 1;
    batch.fixed = fixed;
    batch.group = group;
    batch.position = &x;
    batch.orientation = &e;
    CHECK_OK(talus_world_add_bodies(world, &batch, &id));
    return id;
}

static TalusHit cast(const TalusWorld *world, TalusVec3 from, TalusVec3 direction, double radius)
{
    const TalusRay ray = {from, direction, INFINITY, radius};
    TalusHit hit = {{7}, 7.0, zero, zero};
    CHECK_OK(talus_world_cast(world, NULL, &ray, 1, &hit));
    return hit;
}

/* ---- closed forms ---- */

static const TalusQuat upright = {1.0, 0.0, 0.0, 0.0};

TEST(a_ray_meets_a_sphere_a_box_and_a_plane)
{
    TalusWorld *world = make_world();
    const TalusShapeDef ball = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.5};
    const TalusShapeDef box = {.kind = TALUS_SHAPE_BOX, .half = {1.0, 2.0, 3.0}};
    TalusBodyId a = add(world, ball, false, 0, talus_vec3(0, 0, 5), upright);
    TalusBodyId b = add(world, box, false, 0, talus_vec3(10, 0, 5), upright);
    TalusBodyId c = add(world, (TalusShapeDef){.kind = TALUS_SHAPE_PLANE}, true, 0, zero, upright);

    TalusHit hit = cast(world, talus_vec3(-4, 0.3, 5), talus_vec3(2, 0, 0), 0.0);
    CHECK(hit.body.number == a.number);
    CHECK_NEAR(hit.distance, 4.0 - 0.4, 1e-15);
    CHECK_NEAR(hit.point.x, -0.4, 1e-15);
    CHECK_NEAR(hit.normal.x, -0.8, 1e-15);
    CHECK_NEAR(hit.normal.y, 0.6, 1e-15);

    hit = cast(world, talus_vec3(4, 1.5, 7), talus_vec3(1, 0, 0), 0.0);
    CHECK(hit.body.number == b.number);
    CHECK_NEAR(hit.distance, 5.0, 1e-6);
    CHECK_NEAR(hit.normal.x, -1.0, 1e-9);

    /* a sphere of 0.25 stops before the edge at x = 9, y = 2: 0.15 beside it, 0.2 before */
    hit = cast(world, talus_vec3(4, 2.15, 7), talus_vec3(1, 0, 0), 0.25);
    CHECK_NEAR(hit.distance, 5.0 - 0.2, 1e-6);
    CHECK_NEAR(hit.normal.x, -0.8, 1e-5);
    CHECK_NEAR(hit.point.y, 2.0, 1e-6);

    hit = cast(world, talus_vec3(100, 0, 3), talus_vec3(3, 0, -4), 0.5);
    CHECK(hit.body.number == c.number);
    CHECK_NEAR(hit.distance, 2.5 / 0.8, 1e-13);
    CHECK_NEAR(hit.point.z, 0.0, 1e-13);
    CHECK(hit.normal.z == 1.0);

    /* off everything; from inside a box; a way that ends before */
    hit = cast(world, talus_vec3(0, 0, 20), talus_vec3(0, 1, 0), 0.0);
    CHECK(hit.body.number == 0 && hit.distance == 0.0);
    hit = cast(world, talus_vec3(10, 0, 5), talus_vec3(0, 1, 0), 0.0);
    CHECK(hit.body.number == b.number && hit.distance == 0.0 && hit.normal.y == -1.0);
    TalusRay ray = {talus_vec3(-4, 0, 5), talus_vec3(1, 0, 0), 3.49, 0.0};
    CHECK_OK(talus_world_cast(world, NULL, &ray, 1, &hit));
    CHECK(hit.body.number == 0);
    ray.length = 3.51;
    CHECK_OK(talus_world_cast(world, NULL, &ray, 1, &hit));
    CHECK(hit.body.number == a.number);
    talus_world_destroy(world);
}

TEST(filters_and_overlaps)
{
    TalusWorld *world = make_world();
    const TalusShapeDef ball = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.5};
    TalusBodyId id[4], found[4];
    for (int i = 0; i < 4; i++)
        id[i] = add(world, ball, i == 1, i, talus_vec3(i, 0, 1), upright);
    int64_t count;
    TalusQueryFilter filter = talus_query_filter_default();
    CHECK_OK(talus_world_overlap(world, NULL, talus_vec3(1.5, 0, 1), 0.1, found, 4, &count));
    CHECK(count == 2 && found[0].number == id[1].number && found[1].number == id[2].number);
    CHECK_OK(talus_world_overlap(world, NULL, talus_vec3(1.5, 0, 1), 5.0, found, 1, &count));
    CHECK(count == 4 && found[0].number == id[0].number);
    CHECK_OK(talus_world_overlap(world, NULL, talus_vec3(3.2, 0, 1), 0.0, NULL, 0, &count));
    CHECK(count == 1);
    CHECK_OK(talus_world_overlap(world, NULL, talus_vec3(0, 0, 2), 0.4, NULL, 0, &count));
    CHECK(count == 0);

    const TalusRay ray = {talus_vec3(-5, 0, 1), talus_vec3(1, 0, 0), 100.0, 0.0};
    TalusHit hit;
    filter.ignore = id[0];
    CHECK_OK(talus_world_cast(world, &filter, &ray, 1, &hit));
    CHECK(hit.body.number == id[1].number);
    filter.fixed = false;
    CHECK_OK(talus_world_cast(world, &filter, &ray, 1, &hit));
    CHECK(hit.body.number == id[2].number);
    filter.groups = 1u << 3;
    CHECK_OK(talus_world_cast(world, &filter, &ray, 1, &hit));
    CHECK(hit.body.number == id[3].number);

    TalusQueryFilter none = {0};
    CHECK(talus_world_cast(world, &none, &ray, 1, &hit) == TALUS_ERR_ARGUMENT);
    TalusRay bad = {zero, zero, 1.0, 0.0};
    CHECK(talus_world_cast(world, NULL, &bad, 1, &hit) == TALUS_ERR_ARGUMENT);
    CHECK(strstr(talus_error(), "ray 0"));
    CHECK(talus_world_overlap(world, NULL, zero, -1.0, NULL, 0, &count) == TALUS_ERR_ARGUMENT);
    talus_world_destroy(world);
}

TEST(space_that_repeats_itself_is_refused)
{
    TalusWorldDef def = talus_world_def_default();
    TalusWorld *world;
    const TalusRay ray = {zero, {1, 0, 0}, 1.0, 0.0};
    TalusHit hit;
    def.period = (TalusPeriod){.hi = {1, 1, 1}, .on = {1, 0, 0}};
    REQUIRE_OK(talus_world_create(&def, &world));
    CHECK(talus_world_cast(world, NULL, &ray, 1, &hit) == TALUS_ERR_UNSUPPORTED);
    talus_world_destroy(world);
}

/* ---- all shapes ---- */

static const double profile[] = {0.0, -0.5, 0.6, 0.0, 0.4, 0.7};

/* The shapes of all_shapes.h, and those that are missing there. */
static TalusShapeDef shape_number(int k)
{
    const TalusShapeDef more[] = {
        {.kind = TALUS_SHAPE_BOX, .half = {0.4, 0.5, 0.9}},
        {.kind = TALUS_SHAPE_CYLINDER, .radius = 0.5, .half_height = 0.6},
        {.kind = TALUS_SHAPE_REVOLVE, .profile = profile, .point_count = 3},
    };
    return k < ALL_SHAPES ? all_shapes[k] : more[k - ALL_SHAPES];
}

enum { SHAPES = ALL_SHAPES + 3 };

static bool is_flat(TalusShapeKind kind)
{
    return kind == TALUS_SHAPE_BOX || kind == TALUS_SHAPE_HULL || kind == TALUS_SHAPE_MESH ||
           kind == TALUS_SHAPE_FIELD;
}

static bool is_wall(TalusShapeKind kind)
{
    return kind == TALUS_SHAPE_MESH || kind == TALUS_SHAPE_FIELD || kind == TALUS_SHAPE_REVOLVE;
}

static TalusFacet facet_of(const TalusMesh *mesh, int t)
{
    TalusFacet f = {.normal = zero};
    for (int k = 0; k < 3; k++)
        f.corner[k] = mesh->vertex[mesh->triangle[3 * t + k]];
    const TalusVec3 n =
        talus_cross(talus_sub(f.corner[1], f.corner[0]), talus_sub(f.corner[2], f.corner[0]));
    f.normal = talus_normalize(n, talus_vec3(0, 0, 1));
    return f;
}

/* Where a ray first meets a triangle, by Cramer's rule; infinite: nowhere. */
static double meet(const TalusMesh *mesh, TalusVec3 from, TalusVec3 d)
{
    double best = INFINITY;
    for (int t = 0; t < mesh->triangle_count; t++) {
        const TalusFacet f = facet_of(mesh, t);
        const TalusVec3 e1 = talus_sub(f.corner[1], f.corner[0]),
                        e2 = talus_sub(f.corner[2], f.corner[0]), s = talus_sub(from, f.corner[0]),
                        q = talus_cross(d, e2);
        const double det = talus_dot(e1, q);
        if (det == 0.0)
            continue;
        const double u = talus_dot(s, q) / det, v = talus_dot(d, talus_cross(s, e1)) / det;
        const double way = talus_dot(e2, talus_cross(s, e1)) / det;
        if (u >= 0.0 && v >= 0.0 && u + v <= 1.0 && way >= 0.0)
            best = fmin(best, way);
    }
    return best;
}

static double distance_to(const TalusMesh *mesh, TalusVec3 p)
{
    double best = INFINITY;
    for (int t = 0; t < mesh->triangle_count; t++) {
        const TalusFacet f = facet_of(mesh, t);
        best = fmin(best, talus_norm(talus_facet_closest(&f, p).from));
    }
    return best;
}

static double noise(TalusRng *rng)
{
    return 2.0 * talus_rng_uniform(rng) - 1.0;
}

/* A shape in some pose, with its triangles. */
typedef struct Target {
    TalusWorld *world;
    TalusMesh mesh;
    TalusVec3 at;
    TalusQuat e;
    double tolerance; /* m: of the triangles */
} Target;

static Target make_target(int k, TalusRng *rng)
{
    const TalusShapeDef shape = shape_number(k);
    Target t = {.world = make_world(),
                .at = talus_vec3(noise(rng), noise(rng), noise(rng)),
                .e = talus_quat_normalize(
                    (TalusQuat){1.5 + noise(rng), noise(rng), noise(rng), noise(rng)}),
                .tolerance = is_flat(shape.kind) ? 2e-6 : 6e-4};
    add(t.world, shape, is_wall(shape.kind), 0, t.at, t.e);
    CHECK_OK(talus_mesh_of_shape(&shape, 0.0, is_flat(shape.kind) ? 8 : 128, &t.mesh));
    return t;
}

static void drop_target(Target *t)
{
    talus_mesh_free(&t->mesh);
    talus_world_destroy(t->world);
}

/* A ray of length 1 of direction from afar, towards somewhere near the middle. */
static TalusRay make_ray(const Target *t, TalusRng *rng, double radius)
{
    TalusVec3 out =
        talus_normalize(talus_vec3(noise(rng), noise(rng), noise(rng)), talus_vec3(0, 0, 1));
    TalusVec3 from = talus_madd(t->at, 6.0, out);
    TalusVec3 to = talus_add(t->at, talus_vec3(noise(rng), noise(rng), noise(rng)));
    return (TalusRay){from, talus_normalize(talus_sub(to, from), out), INFINITY, radius};
}

static TalusVec3 into(const Target *t, TalusVec3 p)
{
    return talus_rotate_back(t->e, talus_sub(p, t->at));
}

TEST(rays_meet_every_shape_where_its_triangles_are)
{
    enum { RAYS = 400 };
    for (int k = 0; k < SHAPES; k++) {
        TalusRng rng = talus_rng_from_seed(17 + (uint64_t)k);
        Target t = make_target(k, &rng);
        TalusRay ray[RAYS];
        TalusHit hit[RAYS];
        int hits = 0, odd = 0;
        for (int i = 0; i < RAYS; i++)
            ray[i] = make_ray(&t, &rng, 0.0);
        REQUIRE_OK(talus_world_cast(t.world, NULL, ray, RAYS, hit));
        for (int i = 0; i < RAYS; i++) {
            const double way =
                meet(&t.mesh, into(&t, ray[i].from), talus_rotate_back(t.e, ray[i].direction));
            const double slope = fmax(0.05, fabs(talus_dot(hit[i].normal, ray[i].direction)));
            hits += hit[i].body.number != 0;
            if ((hit[i].body.number != 0) != isfinite(way) ||
                (isfinite(way) && fabs(hit[i].distance - way) > t.tolerance / slope))
                odd++; /* a ray that grazes a curved shape passes its triangles */
            if (hit[i].body.number == 0)
                continue;
            CHECK(talus_dot(hit[i].normal, ray[i].direction) < 1e-6);
            CHECK_NEAR(talus_norm(hit[i].normal), 1.0, 1e-12);
        }
        CHECK(hits > RAYS / 8);
        CHECK(odd <= (is_flat(shape_number(k).kind) ? 0 : RAYS / 100));
        if (odd > 0)
            printf("%s: %d of %d rays are met elsewhere\n", talus_shape_name(shape_number(k).kind),
                   odd, hits);
        drop_target(&t);
    }
}

/* At the hit the centre is at the radius from the triangles; before it, nowhere nearer. */
TEST(spheres_stop_where_they_touch_every_shape)
{
    enum { RAYS = 30, SAMPLES = 8 };
    for (int k = 0; k < SHAPES; k++) {
        TalusRng rng = talus_rng_from_seed(99 + (uint64_t)k);
        Target t = make_target(k, &rng);
        int hits = 0;
        for (int i = 0; i < RAYS; i++) {
            const double radius = i % 2 ? 0.3 : 0.05;
            const TalusRay ray = make_ray(&t, &rng, radius);
            TalusHit hit;
            REQUIRE_OK(talus_world_cast(t.world, NULL, &ray, 1, &hit));
            const double end = hit.body.number ? hit.distance : 12.0;
            for (int j = 0; j <= SAMPLES; j++) {
                const TalusVec3 x = talus_madd(ray.from, end * j / SAMPLES, ray.direction);
                CHECK(distance_to(&t.mesh, into(&t, x)) >= radius - t.tolerance);
            }
            if (!hit.body.number)
                continue;
            hits++;
            const TalusVec3 centre = talus_madd(ray.from, hit.distance, ray.direction);
            CHECK_NEAR(distance_to(&t.mesh, into(&t, centre)), radius, t.tolerance);
            CHECK_NEAR(distance_to(&t.mesh, into(&t, hit.point)), 0.0, 2.0 * t.tolerance);
            CHECK_NEAR(talus_norm(talus_sub(centre, hit.point)), radius, 1e-9);
        }
        CHECK(hits > RAYS / 6);
        drop_target(&t);
    }
}

/* Whatever the number of threads, and far away as near by. */
TEST(far_starts_cost_no_accuracy)
{
    TalusWorld *world = make_world();
    add(world, shape_number(ALL_SHAPES), false, 0, zero, upright);
    TalusHit hit = cast(world, talus_vec3(1e6, 0.1, 0.2), talus_vec3(-1, 0, 0), 0.0);
    CHECK_NEAR(hit.distance, 1e6 - 0.4, 1e-6);
    CHECK_NEAR(hit.point.x, 0.4, 1e-6);
    talus_world_destroy(world);
}

int main(void)
{
    RUN(a_ray_meets_a_sphere_a_box_and_a_plane);
    RUN(filters_and_overlaps);
    RUN(space_that_repeats_itself_is_refused);
    RUN(rays_meet_every_shape_where_its_triangles_are);
    RUN(spheres_stop_where_they_touch_every_shape);
    RUN(far_starts_cost_no_accuracy);
    return talus_test_result();
}

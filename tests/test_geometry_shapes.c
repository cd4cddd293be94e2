/* Capsule, cone, ellipsoid, hull and compound: mass, support, bounds and bits, against sums over many points. */
#include "base/memory.h"
#include "geometry/bounds.h"
#include "geometry/shape.h"
#include "geometry/support.h"
#include "hull_clouds.h"
#include "support/test.h"

#include <string.h>

static const TalusVec3 wedge_points[] = {{0, 0, 0},   {1, 0, 0},   {0, 0.8, 0},
                                         {1, 0.8, 0}, {0, 0, 0.6}, {0, 0.8, 0.6}};
static const TalusShapeDef pill = {.kind = TALUS_SHAPE_CAPSULE, .radius = 0.3, .half_height = 0.4};
static const TalusShapeDef hat = {.kind = TALUS_SHAPE_CONE, .radius = 0.5, .half_height = 0.45};
static const TalusShapeDef egg = {.kind = TALUS_SHAPE_ELLIPSOID, .half = {0.3, 0.5, 0.8}};
static const TalusShapeDef ball = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.3};
static const TalusShapeDef brick = {.kind = TALUS_SHAPE_BOX, .half = {0.2, 0.25, 0.3}};
static const TalusShapeDef drum = {
    .kind = TALUS_SHAPE_CYLINDER, .radius = 0.6, .half_height = 0.35};
static const TalusShapeDef wedge = {
    .kind = TALUS_SHAPE_HULL, .vertex = wedge_points, .vertex_count = 6};

/* Nothing overlaps; the second part is turned a third about the diagonal: x to y, y to z, z to x. */
static const TalusShapePart parts[] = {{&ball, {1.0, 0.5, 0.0}, {1, 0, 0, 0}},
                                       {&brick, {2.0, 0.5, 0.1}, {0.5, 0.5, 0.5, 0.5}},
                                       {&wedge, {1.5, 1.0, -0.3}, {1, 0, 0, 0}},
                                       {&hat, {1.5, -0.4, 0.2}, {0, 1, 0, 0}}};
static const TalusShapeDef clump = {.kind = TALUS_SHAPE_COMPOUND, .part = parts, .part_count = 4};

static const TalusShapeDef *const all[] = {&ball, &brick, &drum, &pill, &hat, &egg, &wedge, &clump};
enum { KINDS = 8 };

/* Whether p is within a convex shape, by closed forms that know nothing of its support. */
static bool contains_simple(const TalusShape *s, TalusVec3 p)
{
    const TalusShapeDef *d = &s->def;
    double rho = sqrt(p.x * p.x + p.y * p.y);
    switch (d->kind) {
    case TALUS_SHAPE_SPHERE: return talus_norm(p) < d->radius;
    case TALUS_SHAPE_BOX:
        return fabs(p.x) < d->half.x && fabs(p.y) < d->half.y && fabs(p.z) < d->half.z;
    case TALUS_SHAPE_CYLINDER: return rho < d->radius && fabs(p.z) < d->half_height;
    case TALUS_SHAPE_CAPSULE:
        p.z = fmax(0.0, fabs(p.z) - d->half_height);
        return talus_norm(p) < d->radius;
    case TALUS_SHAPE_CONE: /* apex at 3/2, base at -1/2 of the half height */
        return p.z > -0.5 * d->half_height &&
               rho < d->radius * (1.5 * d->half_height - p.z) / (2.0 * d->half_height);
    case TALUS_SHAPE_ELLIPSOID:
        return talus_norm(talus_vec3(p.x / d->half.x, p.y / d->half.y, p.z / d->half.z)) < 1.0;
    default: /* the wedge: z < 0.6 (1 - x) within a box, about its centre of mass */
        p = talus_add(p, s->centre);
        return p.x > 0.0 && p.y > 0.0 && p.y < 0.8 && p.z > 0.0 && p.z < 0.6 * (1.0 - p.x);
    }
}

static bool contains(const TalusShape *s, TalusVec3 p)
{
    if (s->def.kind != TALUS_SHAPE_COMPOUND)
        return contains_simple(s, p);
    for (int k = 0; k < s->def.part_count; k++) {
        const TalusChild *c = &s->child[k];
        /* the wedge was recentred by its own init, and its part says so */
        TalusShape part = c->shape;
        if (contains_simple(&part, talus_rotate_back(c->orientation, talus_sub(p, c->position))))
            return true;
    }
    return false;
}

/* ---- mass ---- */

TEST(mass_properties_equal_sums)
{
    enum { N = 96 };
    TalusRng rng = talus_rng_from_seed(1);
    for (int k = 0; k < KINDS; k++) {
        TalusShape s;
        TalusMassProperties m;
        REQUIRE_OK(talus_shape_init(&s, all[k]));
        REQUIRE_OK(talus_shape_mass_of_built(&s, s.def.radius, 2.5, &m));
        double r = s.def.kind == TALUS_SHAPE_SPHERE ? s.def.radius : s.bounding_radius;
        double cell = 2.0 * r / N, dm = 2.5 * cell * cell * cell, mass = 0.0;
        TalusVec3 first = talus_vec3(0, 0, 0);
        TalusSym3 i = {0};
        for (int n = 0; n < N * N * N; n++) {
            /* anywhere in its cell, so that faces along the grid do no harm */
            TalusVec3 u = cloud_in_cube(&rng);
            TalusVec3 p = talus_vec3((n % N + 0.5 + 0.5 * u.x) * cell - r,
                                     (n / N % N + 0.5 + 0.5 * u.y) * cell - r,
                                     (n / N / N + 0.5 + 0.5 * u.z) * cell - r);
            if (!contains(&s, p))
                continue;
            mass += dm;
            first = talus_madd(first, dm, p);
            i.xx += dm * (p.y * p.y + p.z * p.z);
            i.yy += dm * (p.x * p.x + p.z * p.z);
            i.zz += dm * (p.x * p.x + p.y * p.y);
            i.xy -= dm * p.x * p.y;
            i.xz -= dm * p.x * p.z;
            i.yz -= dm * p.y * p.z;
        }
        double slack = 0.006 * i.xx; /* four deviations or more */
        CHECK_NEAR(m.mass, mass, 0.005 * mass);
        CHECK_NEAR(talus_norm(first), 0.0, 0.002 * r * mass);
        CHECK_NEAR(m.inertia.xx, i.xx, slack);
        CHECK_NEAR(m.inertia.yy, i.yy, slack);
        CHECK_NEAR(m.inertia.zz, i.zz, slack);
        CHECK_NEAR(m.inertia.xy, i.xy, slack);
        CHECK_NEAR(m.inertia.xz, i.xz, slack);
        CHECK_NEAR(m.inertia.yz, i.yz, slack);
        talus_shape_clear(&s);
    }
}

/* Two boxes side by side are one box. */
TEST(parts_add_up)
{
    TalusShapeDef half = {.kind = TALUS_SHAPE_BOX, .half = {0.5, 0.4, 0.3}};
    TalusShapeDef whole = {.kind = TALUS_SHAPE_BOX, .half = {1.0, 0.4, 0.3}};
    TalusShapePart two[] = {{&half, {3.5, 1, 2}, {1, 0, 0, 0}}, {&half, {4.5, 1, 2}, {1, 0, 0, 0}}};
    TalusShapeDef both = {.kind = TALUS_SHAPE_COMPOUND, .part = two, .part_count = 2};
    TalusMassProperties a, b;
    TalusVec3 centre;
    TalusShape s;
    REQUIRE_OK(talus_shape_mass(&whole, 0.0, 3.0, &a));
    REQUIRE_OK(talus_shape_mass(&both, 0.0, 3.0, &b));
    REQUIRE_OK(talus_shape_centre(&both, &centre));
    CHECK_NEAR(b.mass, a.mass, 1e-14);
    CHECK_NEAR(b.inertia.xx, a.inertia.xx, 1e-14);
    CHECK_NEAR(b.inertia.yy, a.inertia.yy, 1e-14);
    CHECK_NEAR(b.inertia.zz, a.inertia.zz, 1e-14);
    CHECK_NEAR(talus_norm(talus_sub(centre, talus_vec3(4, 1, 2))), 0.0, 1e-14);
    REQUIRE_OK(talus_shape_init(&s, &both));
    CHECK_NEAR(s.bounding_radius, talus_norm(whole.half), 1e-14);
    CHECK_NEAR(s.size, 0.3, 0.0);
    talus_shape_clear(&s);
}

/* ---- support and bounds ---- */

static TalusVec3 random_inside(const TalusShape *s, TalusRng *rng)
{
    double r = s->def.kind == TALUS_SHAPE_SPHERE ? s->def.radius : s->bounding_radius;
    for (;;) {
        TalusVec3 p = talus_scale(r, cloud_in_cube(rng));
        if (contains(s, p))
            return p;
    }
}

/* No point within lies farther along; and the point itself is of the shape, as it is hardly beyond. */
TEST(support_is_the_farthest_point)
{
    TalusRng rng = talus_rng_from_seed(2);
    for (int k = 0; k < KINDS - 1; k++) { /* not the compound */
        TalusShape s;
        int wrong = 0;
        REQUIRE_OK(talus_shape_init(&s, all[k]));
        for (int n = 0; n < 400; n++) {
            TalusVec3 d = cloud_in_cube(&rng);
            if (n < 6) /* the axes, either way */
                d = talus_vec3(n % 3 == 0, n % 3 == 1, n % 3 == 2);
            d = talus_scale(n >= 3 && n < 6 ? -3.0 : 2.0, d);
            TalusVec3 p = talus_support(&s, s.def.radius, d);
            for (int j = 0; j < 20; j++)
                wrong += talus_dot(d, random_inside(&s, &rng)) > talus_dot(d, p) + 1e-14;
            wrong += !contains(&s, talus_scale(1.0 - 1e-9, p));
            wrong += talus_norm(p) > fmax(s.bounding_radius, s.def.radius) + 1e-14 && k > 0;
        }
        CHECK_INT(wrong, 0);
        talus_shape_clear(&s);
    }
}

TEST(bounds_are_those_of_the_support)
{
    TalusRng rng = talus_rng_from_seed(3);
    for (int k = 0; k < KINDS - 1; k++) {
        TalusShape s;
        REQUIRE_OK(talus_shape_init(&s, all[k]));
        double worst = 0.0;
        for (int n = 0; n < 200; n++) {
            TalusQuat q = cloud_turn(&rng);
            TalusVec3 at = cloud_in_cube(&rng);
            TalusAabb b = talus_shape_bounds(&s, s.def.radius, at, q);
            const double hi[3] = {b.hi.x, b.hi.y, b.hi.z}, lo[3] = {b.lo.x, b.lo.y, b.lo.z};
            const double x[3] = {at.x, at.y, at.z};
            for (int a = 0; a < 3; a++) {
                TalusVec3 d = talus_rotate_back(q, talus_vec3(a == 0, a == 1, a == 2)),
                          e = talus_neg(d);
                double up = talus_dot(d, talus_support(&s, s.def.radius, d));
                double down = talus_dot(e, talus_support(&s, s.def.radius, e));
                worst = fmax(worst, fabs(hi[a] - x[a] - up) + fabs(x[a] - lo[a] - down));
            }
        }
        CHECK_NEAR(worst, 0.0, 1e-14);
        talus_shape_clear(&s);
    }
}

TEST(bounds_of_a_compound)
{
    TalusRng rng = talus_rng_from_seed(4);
    TalusShape s;
    REQUIRE_OK(talus_shape_init(&s, &clump));
    int outside = 0;
    double reach = 0.0;
    TalusVec3 far = talus_vec3(0, 0, 0);
    for (int n = 0; n < 2000; n++) {
        TalusQuat q = n % 50 ? talus_quat_identity() : cloud_turn(&rng);
        TalusAabb b = talus_shape_bounds(&s, 0.0, talus_vec3(0, 0, 0), q);
        TalusVec3 inside = random_inside(&s, &rng), p = talus_rotate(q, inside);
        outside += p.x < b.lo.x || p.y < b.lo.y || p.z < b.lo.z || p.x > b.hi.x || p.y > b.hi.y ||
                   p.z > b.hi.z;
        reach = fmax(reach, talus_norm(p));
        if (n % 50)
            far.x = fmax(far.x, p.x);
    }
    CHECK_INT(outside, 0);
    CHECK(reach <= s.bounding_radius && reach > 0.85 * s.bounding_radius);
    CHECK(far.x <= s.box.hi.x && far.x > 0.85 * s.box.hi.x);
    talus_shape_clear(&s);
}

/* ---- bits ---- */

/* A shape made from its own definition, and one copied with its block, are the same in every bit that counts. */
TEST(copies_are_the_same)
{
    for (int k = 0; k < KINDS; k++) {
        TalusShape s, again, copy;
        REQUIRE_OK(talus_shape_init(&s, all[k]));
        REQUIRE_OK(talus_shape_init(&again, &s.def));
        CHECK(memcmp(&again.unit, &s.unit, sizeof s.unit) == 0);
        CHECK(again.size == s.size && again.bounding_radius == s.bounding_radius);
        CHECK(talus_norm(again.centre) == 0.0);
        CHECK(memcmp(&again.box, &s.box, sizeof s.box) == 0);
        unsigned char *block;
        copy = again;
        REQUIRE_OK(TALUS_ALLOC(block, again.block_size + 1, "copy"));
        if (again.block_size)
            memcpy(block, again.block, again.block_size);
        talus_shape_rebase(&copy, block, block);
        if (again.block_size)
            memset(again.block, 0xa5, again.block_size); /* which the copy must not need */
        TalusQuat q = {0.5, 0.5, -0.5, 0.5};
        TalusAabb a = talus_shape_bounds(&s, 0.3, talus_vec3(1, 2, 3), q);
        TalusAabb b = talus_shape_bounds(&copy, 0.3, talus_vec3(1, 2, 3), q);
        CHECK(memcmp(&a, &b, sizeof a) == 0);
        talus_release(block);
        talus_shape_clear(&again);
        talus_shape_clear(&s);
    }
}

/* ---- refusals ---- */

TEST(bad_shapes_are_refused)
{
    TalusShape s;
    TalusShapeDef flat = hat;
    flat.half_height = 0.0;
    CHECK(talus_shape_init(&s, &flat) == TALUS_ERR_ARGUMENT);
    CHECK_STR(talus_error(), "cone: half_height is 0; it must be a positive length");
    TalusShapeDef thin = pill;
    thin.radius = -1.0;
    CHECK(talus_shape_init(&s, &thin) == TALUS_ERR_ARGUMENT);
    CHECK_STR(talus_error(), "capsule: radius is -1; it must be a positive length");
    TalusShapeDef plate = egg;
    plate.half.y = INFINITY;
    CHECK(talus_shape_init(&s, &plate) == TALUS_ERR_ARGUMENT);
    TalusShapeDef none = {.kind = TALUS_SHAPE_COMPOUND};
    CHECK(talus_shape_init(&s, &none) == TALUS_ERR_ARGUMENT);
    CHECK_STR(talus_error(), "compound: 0 parts; it needs at least 1");
    TalusShapePart nested = {&clump, {0, 0, 0}, {1, 0, 0, 0}};
    TalusShapeDef tower = {.kind = TALUS_SHAPE_COMPOUND, .part = &nested, .part_count = 1};
    CHECK(talus_shape_init(&s, &tower) == TALUS_ERR_ARGUMENT);
    CHECK_STR(talus_error(), "compound: part 0 is a compound; expected a sphere, box, cylinder, "
                             "capsule, cone, ellipsoid or hull");
    TalusShapePart bad = {&flat, {0, 0, 0}, {1, 0, 0, 0}};
    tower.part = &bad;
    CHECK(talus_shape_init(&s, &tower) == TALUS_ERR_ARGUMENT);
    CHECK_STR(talus_error(),
              "compound: part 0: cone: half_height is 0; it must be a positive length");
}

TEST(every_allocation_may_fail)
{
    TalusShape s;
    TalusStatus status = TALUS_ERR_MEMORY;
    for (long n = 1; status != TALUS_OK && n < 500; n++) {
        talus_fail_allocation_in(n);
        status = talus_shape_init(&s, &clump);
        talus_fail_allocation_in(0);
        CHECK(status == TALUS_OK || status == TALUS_ERR_MEMORY);
    }
    REQUIRE(status == TALUS_OK);
    talus_shape_clear(&s);
}

int main(void)
{
    RUN(mass_properties_equal_sums);
    RUN(parts_add_up);
    RUN(support_is_the_farthest_point);
    RUN(bounds_are_those_of_the_support);
    RUN(bounds_of_a_compound);
    RUN(copies_are_the_same);
    RUN(bad_shapes_are_refused);
    RUN(every_allocation_may_fail);
    return talus_test_result();
}

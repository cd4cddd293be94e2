/* The table of shapes says of each kind what its functions do. */
#include "geometry/bounds.h"
#include "geometry/facets.h"
#include "geometry/kinds.h"
#include "geometry/traits.h"
#include "support/test.h"

#include "all_shapes.h"

#include <stdio.h>
#include <string.h>

static const double profile[] = {0.0, -1.5, 1.5, -1.5, 1.5, 1.5};

/* One shape of each kind, in the order of the kinds; three different extents where a kind has three. */
static TalusShapeDef sample(TalusShapeKind kind)
{
    for (int k = 0; k < ALL_SHAPES; k++)
        if (all_shapes[k].kind == kind)
            return all_shapes[k];
    TalusShapeDef def = {
        .kind = kind, .half = {0.5, 0.7, 0.9}, .profile = profile, .point_count = 3};
    for (int i = 0; i < TALUS_LENGTHS; i++)
        talus_shape_set_length(&def, i, 0.6 + 0.2 * i);
    return def;
}

static TalusShape shapes[TALUS_SHAPE_KINDS];

static void make_all(void)
{
    for (int k = 0; k < TALUS_SHAPE_KINDS; k++) {
        TalusShapeDef def = sample((TalusShapeKind)k);
        REQUIRE_OK(talus_shape_init(&shapes[k], &def));
    }
}

static bool has(int kind, int trait)
{
    return talus_shape_has((TalusShapeKind)kind, trait);
}

static void check_each(int trait, bool (*is)(const TalusShape *shape))
{
    for (int k = 0; k < TALUS_SHAPE_KINDS; k++)
        if (!CHECK(has(k, trait) == is(&shapes[k])))
            printf("  %s\n", talus_shape_name((TalusShapeKind)k));
}

static TalusAabb bounds(const TalusShape *shape, TalusQuat q)
{
    return talus_shape_bounds(shape, 0.6, talus_vec3(0, 0, 0), q);
}

static double along(TalusVec3 p, int axis)
{
    return axis == 0 ? p.x : axis == 1 ? p.y : p.z;
}

/* The support function reaches the bounds on all six sides. */
static bool is_supported(const TalusShape *shape)
{
    TalusAabb b = bounds(shape, talus_quat_identity());
    bool same = shape->def.kind != TALUS_SHAPE_PLANE;
    for (int axis = 0; axis < 3; axis++) {
        TalusVec3 d = talus_vec3(axis == 0, axis == 1, axis == 2);
        TalusVec3 high = talus_support(shape, 0.6, d),
                  low = talus_support(shape, 0.6, talus_neg(d));
        same &= fabs(along(high, axis) - along(b.hi, axis)) < 1e-12;
        same &= fabs(along(low, axis) - along(b.lo, axis)) < 1e-12;
    }
    return same;
}

static bool is_massless(const TalusShape *shape)
{
    TalusMassProperties p;
    return talus_shape_mass_of_built(shape, 0.6, 1000.0, &p) != TALUS_OK;
}

static bool is_unbounded(const TalusShape *shape)
{
    return !isfinite(bounds(shape, talus_quat_identity()).hi.x);
}

static bool has_tree(const TalusShape *shape)
{
    return shape->tree.nodes > 0 || shape->def.height;
}

/* Of convex kinds: bounds do not change while it turns about z. */
static bool is_axial(const TalusShape *shape)
{
    TalusAabb a = bounds(shape, talus_quat_identity());
    TalusAabb b = bounds(shape, talus_quat_normalize((TalusQuat){1.0, 0.0, 0.0, 0.3}));
    return has((int)shape->def.kind, TALUS_TRAIT_CONVEX) && fabs(a.hi.x - b.hi.x) < 1e-12 &&
           fabs(a.hi.y - b.hi.y) < 1e-12;
}

TEST(traits_are_what_shapes_do)
{
    make_all();
    check_each(TALUS_TRAIT_CONVEX, is_supported);
    check_each(TALUS_TRAIT_WALL, is_massless);
    check_each(TALUS_TRAIT_HALF_SPACE, is_unbounded);
    check_each(TALUS_TRAIT_FACETS, has_tree);
    check_each(TALUS_TRAIT_AXIAL, is_axial);
    for (int k = 0; k < TALUS_SHAPE_KINDS; k++)
        talus_shape_clear(&shapes[k]);
}

/* Of those that have a closed form of their own, it is the same. */
TEST(bounds_follow_from_the_support_function)
{
    TalusQuat q = talus_quat_normalize((TalusQuat){1.0, 0.5, -0.2, 0.3});
    TalusVec3 at = {3.0, -2.0, 1.0};
    make_all();
    for (int k = 0; k < TALUS_SHAPE_KINDS; k++) {
        if (!has(k, TALUS_TRAIT_CONVEX) || k == TALUS_SHAPE_SPHERE)
            continue;
        TalusAabb a = talus_shape_bounds(&shapes[k], 0.0, at, q);
        TalusAabb b = talus_support_bounds(&shapes[k], at, q);
        CHECK(talus_norm(talus_sub(a.lo, b.lo)) < 1e-12 &&
              talus_norm(talus_sub(a.hi, b.hi)) < 1e-12);
    }
    for (int k = 0; k < TALUS_SHAPE_KINDS; k++)
        talus_shape_clear(&shapes[k]);
}

TEST(summaries_name_what_a_wall_may_be)
{
    for (int k = 0; k < TALUS_SHAPE_KINDS; k++) {
        const char *summary = talus_shape_summary((TalusShapeKind)k);
        if (!CHECK(has(k, TALUS_TRAIT_WALL) ==
                   (strstr(summary, "; fixed or driven bodies only") != NULL)))
            printf("  %s: %s\n", talus_shape_name((TalusShapeKind)k), summary);
    }
}

TEST(a_trait_is_one_of_several)
{
    for (int k = 0; k < TALUS_SHAPE_KINDS; k++) {
        bool convex = has(k, TALUS_TRAIT_CONVEX), wall = has(k, TALUS_TRAIT_WALL);
        CHECK(!(convex && wall));
        CHECK(has(k, TALUS_TRAIT_CONVEX | TALUS_TRAIT_WALL) == (convex || wall));
        CHECK(!has(k, TALUS_TRAIT_ROLLS) || convex);
        CHECK(!has(k, TALUS_TRAIT_HALF_SPACE | TALUS_TRAIT_VESSEL | TALUS_TRAIT_GROUND) || wall);
        CHECK(!has(k, 0));
    }
    CHECK(!has(TALUS_SHAPE_KINDS, TALUS_TRAIT_WALL)); /* a kind of scenes: rock */
}

int main(void)
{
    RUN(traits_are_what_shapes_do);
    RUN(bounds_follow_from_the_support_function);
    RUN(summaries_name_what_a_wall_may_be);
    RUN(a_trait_is_one_of_several);
    return talus_test_result();
}

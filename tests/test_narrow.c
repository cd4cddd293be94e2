/* Narrow phase: any two convex shapes near each other, apart, touching and deep; compounds. */
#include "narrow_oracle.h"

#include <stdio.h>

static TalusQuat about(double x, double y, double z)
{
    TalusQuat q = {1.0, 0.5 * x, 0.5 * y, 0.5 * z};
    return talus_quat_normalize(q);
}

/* ---- distance -------------------------------------------------------------------------------- */

/* Every distance is proven by points and a plane, or tried by directions (narrow_oracle.h). */
TEST(distances_are_right)
{
    const OracleEffort effort = {20, 60};
    TalusRng rng = talus_rng_from_seed(1);
    oracle_open(1.0);
    for (int i = 0; i < ORACLE_SHAPES; i++) {
        for (int j = 0; j < ORACLE_SHAPES; j++) {
            OracleErrors worst = {0.0, 0.0, 0.0, 0.0};
            for (int k = 0; k < 150; k++) {
                OraclePair p = oracle_pair(i, j, &rng);
                double distance;
                OracleErrors e = oracle_check(&p, 0.1 * p.size, effort, true, &rng, &distance);
                oracle_worst(&worst, &e);
            }
            bool fine = CHECK_NEAR(worst.over, 0.0, 1e-6) && CHECK_NEAR(worst.under, 0.0, 1e-6) &&
                        CHECK_NEAR(worst.touch, 0.0, 1e-6) && CHECK_NEAR(worst.broken, 0.0, 1e-13);
            if (!fine)
                printf("  %s against %s\n", oracle_name[i], oracle_name[j]);
        }
    }
    oracle_close();
}

/* A body swallowed by another, centres together, and flat on flat exactly. */
TEST(centres_may_coincide)
{
    const OracleEffort effort = {50, 200};
    TalusRng rng = talus_rng_from_seed(2);
    oracle_open(1.0);
    for (int i = 0; i < ORACLE_SHAPES; i++) {
        for (int j = 0; j < ORACLE_SHAPES; j++) {
            OraclePair p = {oracle_pose(i), oracle_pose(j), 0.0};
            p.size = fmin(p.a.shape->size > 0.0 ? p.a.shape->size : p.a.radius,
                          p.b.shape->size > 0.0 ? p.b.shape->size : p.b.radius);
            double distance;
            OracleErrors e = oracle_check(&p, 0.1 * p.size, effort, true, &rng, &distance);
            CHECK(distance < 0.0);
            CHECK_NEAR(e.under, 0.0, 1e-6);
            CHECK_NEAR(e.touch, 0.0, 1e-6);
        }
    }
    oracle_close();
}

/* No axis tells the distance of boxes whose edges or corners face each other. */
TEST(boxes_meet_by_edges_and_corners)
{
    const OracleEffort effort = {0, 0};
    TalusRng rng = talus_rng_from_seed(8);
    oracle_open(1.0);
    for (int k = 0; k < 3000; k++) {
        OraclePair p = {oracle_pose(CUBE), oracle_pose(CUBE), 0.3};
        TalusVec3 h = p.a.shape->def.half;
        double room[3], free2 = 0.0;
        for (int n = 0; n < 3; n++) {
            room[n] =
                k % 3 == n ? -0.2 : oracle_in(&rng, 0.001, 0.02); /* along one axis they overlap */
            if (k & 1)
                room[n] = oracle_in(&rng, 0.001, 0.02); /* along none */
            free2 += room[n] > 0.0 ? room[n] * room[n] : 0.0;
        }
        p.b.position = talus_vec3(2.0 * h.x + room[0], -2.0 * h.y - room[1], 2.0 * h.z + room[2]);
        double tilt = oracle_hair(&rng), distance;
        p.b.orientation = about(tilt, -tilt, 0.5 * tilt);
        OracleErrors e = oracle_check(&p, 0.05, effort, false, &rng, &distance);
        CHECK_NEAR(e.over, 0.0, 1e-6);
        CHECK_NEAR(e.under, 0.0, 1e-6);
        CHECK_NEAR(e.touch, 0.0, 1e-6);
        if (tilt == 0.0)
            CHECK_NEAR(distance, sqrt(free2), 1e-12);
    }
    oracle_close();
}

/* ---- symmetry and scale ---------------------------------------------------------------------- */

TEST(swapping_bodies_turns_touches_round)
{
    TalusRng rng = talus_rng_from_seed(3);
    oracle_open(1.0);
    for (int k = 0; k < 4000; k++) {
        int i = (int)talus_rng_below(&rng, ORACLE_SHAPES),
            j = (int)talus_rng_below(&rng, ORACLE_SHAPES);
        OraclePair p = oracle_pair(i, j, &rng), q = {p.b, p.a, p.size};
        double reach = 0.1 * p.size;
        OracleTouches t = oracle_meet(&p, reach), u = oracle_meet(&q, reach);
        if (t.count == 0 || u.count == 0) {
            double gap = t.count ? t.touch[t.lowest].gap : u.count ? u.touch[u.lowest].gap : reach;
            CHECK_NEAR(gap, reach, 1e-6 * p.size);
            continue;
        }
        CHECK_NEAR(t.touch[t.lowest].gap, u.touch[u.lowest].gap, 1e-6 * p.size);
        if (p.a.shape->def.kind == p.b.shape->def.kind)
            continue;
        REQUIRE(t.count == u.count); /* the same function in either order: the same bits */
        for (int n = 0; n < t.count; n++) {
            CHECK(t.touch[n].gap == u.touch[n].gap && t.touch[n].feature == u.touch[n].feature);
            CHECK(t.touch[n].normal.x == -u.touch[n].normal.x);
            CHECK(t.touch[n].arm_a.y == u.touch[n].arm_b.y);
        }
    }
    oracle_close();
}

enum { SCALED = 6000 };

TEST(a_power_of_two_changes_no_bit)
{
    static OracleTouches kept[SCALED];
    const double scale = 0x1p-13;
    for (int round = 0; round < 2; round++) {
        TalusRng rng = talus_rng_from_seed(4);
        oracle_open(round ? scale : 1.0);
        for (int k = 0; k < SCALED; k++) {
            int i = (int)talus_rng_below(&rng, ORACLE_SHAPES),
                j = (int)talus_rng_below(&rng, ORACLE_SHAPES);
            OraclePair p = oracle_pair(i, j, &rng);
            OracleTouches t = oracle_meet(&p, 0.1 * p.size);
            if (!round) {
                kept[k] = t;
                continue;
            }
            REQUIRE(t.count == kept[k].count);
            for (int n = 0; n < t.count; n++) {
                const TalusManifoldPoint *x = &t.touch[n], *y = &kept[k].touch[n];
                CHECK(x->gap == scale * y->gap && x->feature == y->feature);
                CHECK(x->normal.x == y->normal.x && x->normal.z == y->normal.z);
                CHECK(x->arm_a.x == scale * y->arm_a.x && x->arm_b.z == scale * y->arm_b.z);
            }
        }
        oracle_close();
    }
}

/* ---- manifolds ------------------------------------------------------------------------------- */

/* `above` rests on `below`, both upright: so many touches, and their features stay while it trembles. */
static void check_rest(int below, int above, TalusQuat turn, TalusVec3 slide, int touches)
{
    OraclePair p = {oracle_pose(below), oracle_pose(above), 0.0};
    p.b.orientation = turn;
    TalusVec3 up = talus_vec3(0.0, 0.0, 1.0);
    p.b.position = talus_madd(slide, -oracle_space(&p.a, &p.b, up), up);
    p.size = fmin(p.a.shape->size, p.b.shape->size);
    TalusVec3 rest = p.b.position;
    TalusRng rng = talus_rng_from_seed(5);
    OracleTouches first = oracle_meet(&p, 0.05 * p.size);
    CHECK_INT(first.count, touches);
    double u[2] = {INFINITY, -INFINITY}, v[2] = {INFINITY, -INFINITY};
    for (int k = 0; k < first.count; k++) {
        const TalusManifoldPoint *c = &first.touch[k];
        CHECK_NEAR(c->gap, 0.0, 1e-12);
        CHECK_NEAR(c->normal.z, 1.0, 1e-12);
        u[0] = fmin(u[0], c->arm_b.x);
        u[1] = fmax(u[1], c->arm_b.x);
        v[0] = fmin(v[0], c->arm_b.y);
        v[1] = fmax(v[1], c->arm_b.y);
    }
    if (touches == 4) { /* the centre of mass is between them */
        CHECK(u[0] < -0.1 * p.size && u[1] > 0.1 * p.size);
        CHECK(v[0] < -0.1 * p.size && v[1] > 0.1 * p.size);
    }
    for (int k = 0; k < 200; k++) {
        p.b.position = talus_madd(rest, 1e-8 * p.size, oracle_direction(&rng));
        TalusVec3 d = talus_scale(1e-8, oracle_direction(&rng));
        p.b.orientation = talus_quat_mul(about(d.x, d.y, d.z), turn);
        OracleTouches t = oracle_meet(&p, 0.05 * p.size);
        REQUIRE(t.count == first.count);
        for (int n = 0; n < t.count; n++) {
            CHECK(t.touch[n].feature == first.touch[n].feature);
            CHECK_NEAR(talus_norm(talus_sub(t.touch[n].arm_a, first.touch[n].arm_a)), 0.0, 1e-6);
        }
    }
}

TEST(bodies_rest_on_four_touches)
{
    const TalusQuat upright = talus_quat_identity(), lying = {0.5, 0.5, 0.5, 0.5};
    const TalusVec3 none = {0.0, 0.0, 0.0}, aside = {0.13, 0.07, 0.0};
    oracle_open(1.0);
    check_rest(CUBE, CUBE, upright, none, 4);
    check_rest(CUBE, CUBE, about(0.0, 0.0, 0.7), aside, 4);
    check_rest(PLATE, CUBE, about(0.0, 0.0, 0.3), aside, 4);
    check_rest(PLATE, TABLET, upright, aside, 4);
    check_rest(TABLET, TABLET, upright, none, 4);
    check_rest(TABLET, TABLET, about(0.0, 0.0, 0.3), aside, 4);
    check_rest(TABLET, DRUM, about(0.0, 0.0, 0.3), aside, 4);
    check_rest(CUBE, DRUM, upright, aside, 4);
    check_rest(PLATE, SPIKE, upright, none, 4);
    check_rest(PLATE, WEDGE, about(0.0, 0.0, 0.2), none, 4);
    check_rest(CUBE, DRUM, lying, none, 2);
    check_rest(PLATE, PILL, lying, none, 2);
    check_rest(CUBE, PEBBLE, upright, none, 1);
    oracle_close();
}

static TalusQuat about_z(double angle)
{
    TalusQuat q = {cos(0.5 * angle), 0.0, 0.0, sin(0.5 * angle)};
    return q;
}

/* Two unit cubes, one over the other. */
static OraclePair two_cubes(TalusShape *shape, TalusQuat below, TalusQuat above)
{
    const TalusShapeDef cube = {.kind = TALUS_SHAPE_BOX, .half = {0.5, 0.5, 0.5}};
    CHECK_OK(talus_shape_init(shape, &cube));
    OraclePair p = {{shape, shape->bounding_radius, {0.0, 0.0, 0.0}, below},
                    {shape, shape->bounding_radius, {0.0, 0.0, 1.0}, above},
                    shape->size};
    return p;
}

/* A cube turned by 45 degrees over another, one of them inclined towards an edge: they overlap in an octagon, two
 * corners of which touch. Without both, the cubes would turn about the one that is held, and the other would go in. */
TEST(inclined_boxes_touch_along_their_edge)
{
    const double quarter = 0.78539816339744831; /* of pi */
    for (int k = 0; k < 8; k++) {
        TalusQuat turned = about_z(quarter * (2 * (k / 2) + 1));
        TalusQuat above = k % 2 ? turned : talus_quat_mul(about(0.0, 0.2, 0.0), turned);
        TalusQuat below = k % 2 ? about(0.0, -0.2, 0.0) : talus_quat_identity();
        TalusShape shape;
        OraclePair p = two_cubes(&shape, below, above);
        OracleTouches t = oracle_meet(&p, 0.5);
        double least = INFINITY;
        int lowest = 0;
        for (int n = 0; n < t.count; n++)
            least = fmin(least, t.touch[n].gap);
        for (int n = 0; n < t.count; n++)
            lowest += t.touch[n].gap < least + 1e-9;
        CHECK_INT(t.count, 4);
        CHECK_INT(lowest, 2);
        talus_shape_clear(&shape);
    }
}

/* True if the normal of the contacts is that of a face of one of two cubes. */
static bool touch_by_a_face(const OraclePair *p, const OracleTouches *t)
{
    TalusVec3 a = talus_rotate_back(p->a.orientation, t->touch[0].normal);
    TalusVec3 b = talus_rotate_back(p->b.orientation, t->touch[0].normal);
    return fmax(a.z, b.z) > 1.0 - 1e-12;
}

static int count_common_features(const OracleTouches *s, const OracleTouches *t)
{
    int common = 0;
    for (int m = 0; m < s->count; m++)
        for (int n = 0; n < t->count; n++)
            common += s->touch[m].feature == t->touch[n].feature;
    return common;
}

/* A cube wobbles on another, so that the best axis changes between the normal of a face and the product of two edges:
 * contacts keep their features, and thereby their impulses. */
TEST(features_outlive_the_change_from_a_face_to_edges)
{
    int changes = 0, kept = 0;
    OracleTouches last = {0};
    bool last_face = false;
    for (int k = 0; k < 2000; k++) {
        double angle = 0.0031415926 * k;
        TalusShape shape;
        TalusQuat above =
            talus_quat_mul(about(0.1 * cos(angle), 0.1 * sin(angle), 0.0), about_z(0.5));
        OraclePair p = two_cubes(&shape, talus_quat_identity(), above);
        OracleTouches now = oracle_meet(&p, 0.5);
        REQUIRE(now.count > 0);
        bool face = touch_by_a_face(&p, &now);
        if (k > 0 && face != last_face) {
            changes++;
            kept += count_common_features(&last, &now) >= 2;
        }
        last = now;
        last_face = face;
        talus_shape_clear(&shape);
    }
    CHECK(changes >= 8);
    CHECK(2 * kept >= changes);
}

/* ---- compounds ------------------------------------------------------------------------------- */

TEST(compounds_touch_as_their_parts_do)
{
    const TalusShapeDef arm = {.kind = TALUS_SHAPE_BOX, .half = {0.5, 0.125, 0.125}};
    const TalusShapeDef knob = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.25};
    const TalusShapePart part[2] = {{&arm, {0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}},
                                    {&knob, {0.5, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}}};
    const TalusShapeDef def = {.kind = TALUS_SHAPE_COMPOUND, .part = part, .part_count = 2};
    TalusShape club;
    oracle_open(1.0);
    REQUIRE_OK(talus_shape_init(&club, &def));
    TalusRng rng = talus_rng_from_seed(6);
    int touching = 0;
    for (int k = 0; k < 500; k++) {
        OraclePair p = oracle_pair(BALL, (int)talus_rng_below(&rng, ORACLE_SHAPES), &rng);
        p.a.shape = &club;
        p.a.radius = club.bounding_radius;
        OracleTouches whole = oracle_meet(&p, 0.02), turned;
        OraclePair back = {p.b, p.a, p.size};
        turned = oracle_meet(&back, 0.02);
        CHECK_INT(turned.count, whole.count);
        int at = 0;
        for (int n = 0; n < 2; n++) {
            const TalusChild *child = &club.child[n];
            OraclePair q = p;
            TalusVec3 offset = talus_rotate(p.a.orientation, child->position);
            q.a.shape = &child->shape;
            q.a.radius = n ? 0.25 : child->shape.bounding_radius;
            q.a.position = talus_add(p.a.position, offset);
            q.a.orientation = talus_quat_mul(p.a.orientation, child->orientation);
            OracleTouches t = oracle_meet(&q, 0.02);
            for (int m = 0; m < t.count && at < whole.count; m++, at++) {
                CHECK(whole.touch[at].gap == t.touch[m].gap);
                CHECK_NEAR(oracle_broken(&p, &whole.touch[at]), 0.0, 1e-12);
            }
        }
        CHECK_INT(at, whole.count);
        for (int m = 0; m < whole.count; m++) {
            for (int n = 0; n < m; n++)
                CHECK(whole.touch[m].feature != whole.touch[n].feature);
        }
        touching += whole.count > 0;
    }
    CHECK(touching > 100);
    talus_shape_clear(&club);
    oracle_close();
}

/* ---- planes ---------------------------------------------------------------------------------- */

TEST(every_shape_lies_on_a_plane)
{
    const TalusShapeDef def = {.kind = TALUS_SHAPE_PLANE};
    TalusShape ground;
    TalusRng rng = talus_rng_from_seed(7);
    oracle_open(1.0);
    REQUIRE_OK(talus_shape_init(&ground, &def));
    TalusPose plane = {&ground, 0.0, {0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}};
    for (int k = 0; k < 2000; k++) {
        TalusPose body = oracle_pose(k % ORACLE_SHAPES);
        double size = body.shape->size > 0.0 ? body.shape->size : body.radius;
        body.orientation = k % 3 ? oracle_turn(&rng) : oracle_square(&rng, oracle_hair(&rng));
        plane.orientation = oracle_turn(&rng);
        TalusVec3 up = talus_rotate(plane.orientation, talus_vec3(0.0, 0.0, 1.0));
        double gap = size * (k % 2 ? oracle_hair(&rng) : oracle_in(&rng, -0.5, 0.2)),
               reach = 0.1 * size;
        double low = talus_dot(up, oracle_support(&body, talus_neg(up)));
        body.position = talus_scale(gap - low, up);
        OraclePair p = {body, plane, size};
        OracleTouches t = oracle_meet(&p, reach);
        if (gap > reach + 1e-6 * size)
            CHECK_INT(t.count, 0);
        if (gap > reach - 1e-6 * size)
            continue;
        REQUIRE(t.count > 0 && t.count <= 8);
        CHECK_NEAR(t.touch[t.lowest].gap, gap, 1e-6 * size);
        for (int n = 0; n < t.count; n++) {
            CHECK_NEAR(oracle_broken(&p, &t.touch[n]), 0.0, 1e-12);
            CHECK_NEAR(oracle_off(&body, t.touch[n].arm_a), 0.0, 1e-12);
        }
    }
    talus_shape_clear(&ground);
    oracle_close();
}

int main(void)
{
    RUN(distances_are_right);
    RUN(centres_may_coincide);
    RUN(boxes_meet_by_edges_and_corners);
    RUN(swapping_bodies_turns_touches_round);
    RUN(a_power_of_two_changes_no_bit);
    RUN(bodies_rest_on_four_touches);
    RUN(inclined_boxes_touch_along_their_edge);
    RUN(features_outlive_the_change_from_a_face_to_edges);
    RUN(compounds_touch_as_their_parts_do);
    RUN(every_shape_lies_on_a_plane);
    return talus_test_result();
}

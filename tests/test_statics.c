/* Piles that should stand still, and some that should not: short versions of bench/statics.sh, from the scenes that
 * ship. Drift is the distance of the farthest moved point of any body from where it began. docs/explanation/statics.md has the
 * long runs. */

#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <talus/talus.h>

enum { MOST = 256 };

typedef struct Poses {
    int count;
    TalusVec3 position[MOST];
    TalusQuat orientation[MOST];
    double radius[MOST];
    bool fixed[MOST];
} Poses;

static void read_poses(const TalusWorld *world, Poses *p)
{
    p->count = talus_world_body_count(world);
    if (!CHECK(p->count <= MOST))
        exit(1);
    TalusBodyState state = {.position = p->position,
                            .orientation = p->orientation,
                            .radius = p->radius,
                            .fixed = p->fixed};
    talus_world_get_state(world, &state);
}

/* The centre's way and, by the turn, the farthest point's: 2 r sin(angle / 2). */
static double moved(const Poses *a, const Poses *b, int i)
{
    TalusVec3 d = talus_sub(b->position[i], a->position[i]);
    TalusQuat p = a->orientation[i], q = b->orientation[i];
    TalusVec3 turn = {p.w * q.x - p.x * q.w - p.y * q.z + p.z * q.y,
                      p.w * q.y - p.y * q.w - p.z * q.x + p.x * q.z,
                      p.w * q.z - p.z * q.w - p.x * q.y + p.y * q.x};
    return sqrt(talus_dot(d, d)) + 2.0 * a->radius[i] * sqrt(talus_dot(turn, turn));
}

static TalusWorld *load(const char *name, const char *const *set)
{
    char path[1024];
    const char *root = getenv("TALUS_SOURCE_DIR");
    snprintf(path, sizeof path, "%s/scenes/%s.json", root != NULL ? root : "..", name);
    int sets = 0;
    while (set[sets] != NULL)
        sets++;
    TalusScene *scene = NULL;
    TalusWorld *world = NULL;
    if (!CHECK_OK(talus_scene_load(path, set, sets, &scene)))
        return NULL;
    TalusSceneChoice choice = {.threads = 1};
    CHECK_OK(talus_scene_build(scene, &choice, &world));
    talus_scene_destroy(scene);
    return world;
}

static int missed; /* steps of the last run */

/* The largest drift while the scene runs for so many steps; of bodies that are there from the beginning. */
static double drift(const char *name, int steps, const char *const *set)
{
    static Poses start, now;
    TalusWorld *world = load(name, set);
    if (world == NULL)
        return NAN;
    read_poses(world, &start);
    double most = 0.0;
    missed = 0;
    for (int k = 0; k < steps; k++) {
        TalusStepInfo info;
        if (!CHECK_OK(talus_world_step(world, &info)))
            break;
        missed += info.missed;
        CHECK(fabs(info.ledger.imbalance) <= 1e-9 * (info.ledger.potential + info.ledger.kinetic));
        read_poses(world, &now);
        for (int i = 0; i < start.count; i++)
            if (!now.fixed[i])
                most = fmax(most, moved(&start, &now, i));
    }
    talus_world_destroy(world);
    printf("%-12s %-16s %-12s drift %.3g m in %d steps, %d missed\n", name, set[0], set[1], most,
           steps, missed);
    return most;
}

/* Of rigid contacts under the relaxation, which move by the tolerance alone; of the default, which sinks in a little. */
#define DRIFT(name, steps, ...) \
    drift(name, steps, (const char *const[]){"defaults=relaxed", __VA_ARGS__, NULL})
#define DEFAULT_DRIFT(name, steps, ...) \
    drift(name, steps, (const char *const[]){"defaults=exact", __VA_ARGS__, NULL})

/* Sides of 0.5 m. Nothing accumulates: in a minute they drift no farther (bench/statics.sh). */
TEST(twenty_boxes_stand)
{
    CHECK(DRIFT("box-stack", 200, "bodies=20", "h=0.005", "solver.tolerance=1e-4") < 0.5 * 2e-6);
}

TEST(a_brick_wall_stands)
{
    CHECK(DRIFT("brick-wall", 60, "courses=6", "bricks=6", "solver.tolerance=1e-5") < 0.065 * 1e-5);
}

TEST(heavy_boxes_stand_on_light_ones)
{
    CHECK(DRIFT("heavy-stack", 100, "pairs=1") < 0.5 * 1e-6);
    CHECK(DRIFT("heavy-stack", 60, "pairs=5") < 0.5 * 1e-6);
    CHECK(DRIFT("heavy-stack", 60, "pairs=5", "solver.tolerance=1e-4") < 0.5 * 1e-5);
    CHECK_INT(missed, 0);
    static const char *const ratios[] = {"ratio=1e5", "ratio=1e6", "ratio=1e7", "ratio=1e8"};
    for (int i = 0; i < 4; i++) {
        CHECK(DRIFT("heavy-stack", 40, ratios[i], "pairs=5", "solver.tolerance=1e-2") < 0.5 * 1e-3);
        CHECK_INT(missed, 0);
    }
}

/* The line of thrust of 32 straight wedges fits in the arch from t/R = 0.10720 on. What stands moves by the
 * tolerance; what falls has begun to. */
TEST(an_arch_stands_or_falls_as_its_thickness_says)
{
    CHECK(DRIFT("arch", 60, "t=0.12") < 1e-5);
    CHECK(DRIFT("arch", 60, "t=0.1075") < 1e-5);
    CHECK(DRIFT("arch", 60, "t=0.1069") > 1e-3);
    CHECK(DRIFT("arch", 60, "t=0.09") > 1e-2);
}

/* The edge of one card slips along the face of the other where friction is less than the tangent of the angle by
 * which they lean, 2 q / (1 - q^2) = 0.307. */
TEST(cards_stand_by_friction)
{
    CHECK(DRIFT("card-house", 100, "mu=0.5") < 1e-7);
    CHECK(DRIFT("card-house", 100, "mu=0.31") < 1e-7);
    CHECK(DRIFT("card-house", 100, "mu=0.30") > 1e-4);
}

/* Contacts are springs, the stiffer the smaller the tolerance. */
TEST(structures_stand_by_default)
{
    CHECK(DEFAULT_DRIFT("box-stack", 200, "bodies=20", "h=0.005", "solver.tolerance=1e-4") < 5e-4);
    CHECK(DEFAULT_DRIFT("brick-wall", 60, "courses=6", "bricks=6", "solver.tolerance=1e-5") < 1e-5);
    CHECK(DEFAULT_DRIFT("arch", 60, "t=0.109") < 1e-4);
    CHECK(DEFAULT_DRIFT("arch", 60, "t=0.1069") > 1e-3);
    CHECK(DEFAULT_DRIFT("card-house", 100, "mu=0.31") < 1e-5);
    CHECK(DEFAULT_DRIFT("card-house", 100, "mu=0.30") > 1e-4);
    static const char *const ratios[] = {"ratio=1e3", "ratio=1e5", "ratio=1e6", "ratio=1e8"};
    for (int i = 0; i < 4; i++) {
        /* ten contacts of half width 0.25 m, each within its limit */
        CHECK(DEFAULT_DRIFT("heavy-stack", 40, ratios[i], "pairs=5", "solver.tolerance=1e-2") <
              10 * 0.25 * 1.15 * 0.02 + 1e-3);
        CHECK_INT(missed, 0);
    }
}

TEST(a_ball_breaks_the_wall)
{
    double most = DRIFT("brick-wall", 60, "courses=6", "bricks=6", "strike=0", "ball=0.05",
                        "solver.tolerance=1e-2");
    CHECK(most > 0.05);
    CHECK(most < 3.0);
}

int main(void)
{
    RUN(twenty_boxes_stand);
    RUN(a_brick_wall_stands);
    RUN(heavy_boxes_stand_on_light_ones);
    RUN(an_arch_stands_or_falls_as_its_thickness_says);
    RUN(cards_stand_by_friction);
    RUN(structures_stand_by_default);
    RUN(a_ball_breaks_the_wall);
    return talus_test_result();
}

/* Heavy bodies on light ones, by the default solver at the default tolerance: every step converges, nothing sinks. */

#include "joint_world.h"

#include <talus/set.h>

/* `count` bodies of 1 kg, 2 m high, on the ground, each turned by `turn` more than the one below, the last `ratio` times
 * as heavy. */
typedef struct Stack {
    TalusShapeDef shape;
    double turn, ratio;
    int count;
    TalusFrictionLaw law;
    bool compliant;
} Stack;

static TalusWorld *build_stack(const Stack *stack)
{
    TalusWorldDef def = stack->compliant ? talus_world_def_default() : talus_world_def_relaxed();
    def.step = 0.01;
    def.threads = 1;
    def.friction.law = stack->law;
    TalusWorld *world = joint_world(&def);
    add_body(world, (Body){.shape = {.kind = TALUS_SHAPE_PLANE}});
    for (int i = 0; i < stack->count; i++) {
        double half = 0.5 * stack->turn * (i + 1);
        add_body(world,
                 (Body){stack->shape, .x = {0, 0, 1.0 + 2.0 * i}, .e = {cos(half), 0, 0, sin(half)},
                        .mass = i == stack->count - 1 ? stack->ratio : 1.0});
    }
    return world;
}

/* A hundred steps: none is missed, none is called infeasible, and nothing sinks, or by no more than the limit. */
static void stand_once(Stack stack)
{
    TalusWorld *world = build_stack(&stack);
    int missed = 0, softened = 0;
    double deepest = 0.0;
    for (int i = 0; i < 100; i++) {
        TalusStepInfo info;
        CHECK_OK(talus_world_step(world, &info));
        missed += info.missed;
        softened += info.solve.outcome == TALUS_OUTCOME_INFEASIBLE;
        deepest = fmax(deepest, info.penetration_max);
    }
    double limit = stack.compliant ? 1.15 * talus_world_def_default().elastic_overlap : 0.01;
    if (!CHECK(missed == 0 && softened == 0 && deepest < limit))
        printf(
            "    shape %d, %d bodies turned by %g, ratio %g, law %d%s: %d missed, %d infeasible, overlap %g\n",
            (int)stack.shape.kind, stack.count, stack.turn, stack.ratio, (int)stack.law,
            stack.compliant ? ", compliant" : "", missed, softened, deepest);
    talus_world_destroy(world);
}

static void stand(Stack stack)
{
    stand_once(stack);
    stack.compliant = true;
    if (stack.law == TALUS_LAW_COULOMB)
        stand_once(stack);
}

TEST(balls_of_any_ratio_stand)
{
    for (double ratio = 1.0; ratio < 2e8; ratio *= 10.0)
        for (int law = 0; law < 3; law++) {
            stand((Stack){ball(1.0), 0.0, ratio, 2, (TalusFrictionLaw)law, false});
            stand((Stack){ball(1.0), 0.0, ratio, 6, (TalusFrictionLaw)law, false});
        }
}

/* Four contacts or more to a face, whose impulses are not unique. First order alone missed one to five of the hundred
 * steps at any ratio; at 1e8 interior points from one start, in one form of their linear systems, up to 68. */
TEST(boxes_and_cylinders_stand)
{
    for (double ratio = 1.0; ratio < 2e8; ratio *= 1e4)
        for (int count = 2; count <= 10; count += 4)
            for (int law = 0; law < 3; law++) {
                stand((Stack){box(1.0, 1.0, 1.0), 0.0, ratio, count, (TalusFrictionLaw)law, false});
                stand((Stack){box(1.0, 1.0, 1.0), 0.1, ratio, count, (TalusFrictionLaw)law, false});
                stand((Stack){rod(1.0, 1.0), 0.0, ratio, count, (TalusFrictionLaw)law, false});
            }
}

/* A heavy rod on light ones: their faces touch at four of their corners, and a tiny turn chooses others. The load goes
 * on with them: it stays within the limit of elastic overlap, and the rod is not thrown up, as by 1160 J. */
TEST(rods_do_not_lose_their_load)
{
    for (double ratio = 1e4; ratio < 2e6; ratio *= 10.0)
        for (int count = 2; count <= 6; count += 4)
            stand_once((Stack){rod(1.0, 1.0), 0.0, ratio, count, TALUS_LAW_COULOMB, true});
    TalusWorld *world = build_stack(&(Stack){rod(1.0, 1.0), 0.0, 1e4, 2, TALUS_LAW_COULOMB, true});
    double most = 0.0;
    for (int i = 0; i < 150; i++) {
        TalusStepInfo info;
        CHECK_OK(talus_world_step(world, &info));
        most = i < 50 ? 0.0 : fmax(most, info.ledger.kinetic);
    }
    if (!CHECK(most < 50.0)) /* 0.1 m/s */
        printf("    %g J\n", most);
    talus_world_destroy(world);
}

int main(void)
{
    RUN(balls_of_any_ratio_stand);
    RUN(boxes_and_cylinders_stand);
    RUN(rods_do_not_lose_their_load);
    return talus_test_result();
}

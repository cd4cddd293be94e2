/* Every solver: the steps of a world do not depend on the slots of its bodies, nor on slots without bodies. */

#include "shuffled_world.h"

#include <stdio.h>
#include <talus/solver.h>

enum { BODIES = WALLS + 2 * LAYER, HOLES = 40, STEPS = 24 };

static int plain_order[MAX_BODIES], other_order[MAX_BODIES];

/* Friction that a solver may take, from the most to the least general. */
static const TalusFrictionModel models[] = {
    {TALUS_SECTION_DISC, TALUS_LAW_COULOMB, 0},
    {TALUS_SECTION_SQUARE, TALUS_LAW_CCP, 0},
    {TALUS_SECTION_NONE, TALUS_LAW_CCP, 0},
};

/* Steps two worlds of one kind. Returns false if the solver does not take their contacts. */
static bool compare_slots(const char *solver, Kind kind, TalusFrictionModel friction)
{
    Recipe plain = {kind, BODIES, plain_order, quick_def(1), 0}, other;
    plain.def.solver = solver;
    plain.def.friction = friction;
    plain.def.max_iterations = 200;
    other = plain;
    other.order = other_order;
    other.holes = HOLES;
    TalusWorld *a = make_recipe(&plain), *b = make_recipe(&other);
    TalusStatus status = TALUS_OK;
    bool same = true;
    for (int k = 0; k < STEPS && status == TALUS_OK && same; k++) {
        status = talus_world_step(a, NULL);
        CHECK_INT(talus_world_step(b, NULL), status);
        same = CHECK_INT(count_different(a, b), 0) &&
               CHECK(talus_world_hash(a) == talus_world_hash(b));
    }
    if (!same)
        printf("solver %s, kind %d, section %d\n", solver, (int)kind, (int)friction.section);
    CHECK(status != TALUS_OK || a->contact_count > LAYER / 2);
    talus_world_destroy(a);
    talus_world_destroy(b);
    return status != TALUS_ERR_UNSUPPORTED;
}

TEST(every_solver_in_any_slots)
{
    make_order(plain_order, BODIES, 0);
    make_order(other_order, BODIES + HOLES, 17);
    for (int i = 0; i < talus_solver_count(); i++) {
        const TalusSolverRow solver = talus_solver_row(i);
        bool taken = solver.missing != NULL;
        for (size_t m = 0; m < sizeof models / sizeof *models && !taken; m++)
            for (int kind = SPHERES; kind <= SHAPES; kind++)
                taken = compare_slots(solver.name, (Kind)kind, models[m]) || taken;
        if (!CHECK(taken))
            printf("solver %s takes none of the worlds\n", solver.name);
    }
}

int main(void)
{
    RUN(every_solver_in_any_slots);
    return talus_test_result();
}

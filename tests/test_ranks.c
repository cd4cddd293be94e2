/* Worlds on several ranks (world/ranks): each step gives the bits of one rank. Under mpirun its processes are the ranks
 * (tests/comm_mpi.sh). */
#include "ranks_world.h"

enum { STEPS = SANITIZED ? 5 : 16 };

/* Compares a world on all numbers of ranks and threads. */
static void compare(RanksCase of)
{
    static const RanksGrid grid = {6, {1, 1, 2, 3, 5, 8}, {1, 2, 1, 2, 1, 1}};
    of.grid = SANITIZED ? NULL : &grid;
    of.steps = talus_mpi_is_launched() ? 4 : of.steps;
    CHECK(compare_ranks(&of).contacts > 100 || !is_first_process());
}

TEST(a_heap_of_spheres_has_the_same_bits_on_any_ranks)
{
    compare((RanksCase){.name = "spheres", .make = make_heap, .steps = STEPS});
}

TEST(products_alone_give_the_same_bits_on_any_ranks)
{
    compare((RanksCase){
        .name = "spheres by apgd", .make = make_heap, .solver = "apgd", .steps = STEPS / 2});
}

static TalusStatus make_relaxed(TalusWorldDef *def, TalusWorld **world)
{
    def->friction.law = TALUS_LAW_CCP;
    def->compliance = 0.0;
    return make_heap(def, world);
}

TEST(a_relaxed_rigid_heap_has_the_same_bits_on_any_ranks)
{
    compare((RanksCase){.name = "relaxed", .make = make_relaxed, .steps = STEPS});
}

static TalusStatus make_periodic(TalusWorldDef *def, TalusWorld **world)
{
    const Grains grains = heap_of_spheres(1.0);
    const double side = HEAP_ACROSS * grains.spacing;
    def->period = (TalusPeriod){.on = {true, true, false}, .hi = {side, side, 0.0}};
    def->gravity = (TalusVec3){4.0, 0.0, -9.0};
    TALUS_TRY(talus_world_create(def, world));
    TALUS_TRY(add_plane(*world, talus_vec3(0, 0, 0), talus_vec3(0, 0, 1), NULL));
    return add_grains(*world, &grains, NULL);
}

TEST(a_periodic_flow_has_the_same_bits_on_any_ranks)
{
    compare((RanksCase){.name = "periodic", .make = make_periodic, .steps = STEPS});
}

/* By a solver that needs the whole problem: rank 0 gathers it. */
static TalusStatus make_for_one_rank(TalusWorldDef *def, TalusWorld **world)
{
    def->max_iterations = 3;
    return make_heap(def, world);
}

TEST(problems_that_rank_0_gathers_have_the_same_bits_on_any_ranks)
{
    compare((RanksCase){
        .name = "spheres by prox", .make = make_for_one_rank, .solver = "prox", .steps = 4});
}

static TalusStatus make_boxes(TalusWorldDef *def, TalusWorld **world)
{
    Grains grains = heap_of_spheres(1.5);
    grains.shape = (TalusShapeDef){.kind = TALUS_SHAPE_BOX, .half = {0.008, 0.006, 0.005}};
    grains.spacing = 0.026;
    grains.radius = 0.0112;
    grains.spread = 0.0;
    TALUS_TRY(talus_world_create(def, world));
    TALUS_TRY(add_container(*world, HEAP_ACROSS * grains.spacing));
    return add_grains(*world, &grains, NULL);
}

TEST(a_heap_of_boxes_has_the_same_bits_on_any_ranks)
{
    compare((RanksCase){.name = "boxes", .make = make_boxes, .steps = STEPS});
}

int main(void)
{
    RUN(a_heap_of_spheres_has_the_same_bits_on_any_ranks);
    RUN(products_alone_give_the_same_bits_on_any_ranks);
    RUN(a_relaxed_rigid_heap_has_the_same_bits_on_any_ranks);
    RUN(a_periodic_flow_has_the_same_bits_on_any_ranks);
    RUN(problems_that_rank_0_gathers_have_the_same_bits_on_any_ranks);
    RUN(a_heap_of_boxes_has_the_same_bits_on_any_ranks);
    return talus_test_result();
}

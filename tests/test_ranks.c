/* Worlds on several ranks (world/ranks): each step gives the bits of one rank. */
#include "ranks_world.h"

/* Numbers of ranks and threads of each; with a sanitizer few, since each exchange then takes long. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
static const int grid[][2] = {{1, 1}, {3, 2}};
enum { STEPS = 6 };
#else
static const int grid[][2] = {{1, 1}, {1, 2}, {2, 1}, {3, 2}, {5, 1}, {8, 1}};
enum { STEPS = 30 };
#endif
enum { RUNS = sizeof grid / sizeof *grid };

/* Compares a world on all numbers of ranks and threads. */
static void compare(const char *name, MakeWorldFn *make, int steps)
{
    CHECK(compare_ranks(name, make, NULL, steps, grid, RUNS).contacts > 100);
}

/* ---- worlds ---- */

static TalusStatus make_spheres(TalusWorldDef *def, TalusWorld **world)
{
    const TalusShapeDef shape = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.01};
    int index;
    TalusStatus status = talus_world_create(def, world);
    status = status == TALUS_OK ? add_container(*world, 0.023 * ACROSS) : status;
    status = status == TALUS_OK ? talus_world_add_shape(*world, &shape, &index) : status;
    return status == TALUS_OK ? add_lattice(*world, index, 0.023, 0.01, 1.5) : status;
}

static TalusStatus make_relaxed(TalusWorldDef *def, TalusWorld **world)
{
    def->friction.law = TALUS_LAW_CCP;
    def->compliance = 0.0;
    return make_spheres(def, world);
}

static TalusStatus make_periodic(TalusWorldDef *def, TalusWorld **world)
{
    const double side = 0.023 * ACROSS;
    const TalusShapeDef plane = {.kind = TALUS_SHAPE_PLANE};
    const TalusShapeDef shape = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.01};
    TalusBodyBatch floor = talus_body_batch_default();
    const TalusVec3 origin = {0, 0, 0};
    int index;
    def->period = (TalusPeriod){.on = {true, true, false}, .hi = {side, side, 0.0}};
    def->gravity = (TalusVec3){4.0, 0.0, -9.0};
    TalusStatus status = talus_world_create(def, world);
    floor.count = 1;
    floor.fixed = true;
    floor.position = &origin;
    status = status == TALUS_OK ? talus_world_add_shape(*world, &plane, &floor.shape) : status;
    status = status == TALUS_OK ? talus_world_add_bodies(*world, &floor, NULL) : status;
    status = status == TALUS_OK ? talus_world_add_shape(*world, &shape, &index) : status;
    return status == TALUS_OK ? add_lattice(*world, index, 0.023, 0.01, 1.0) : status;
}

static TalusStatus make_boxes(TalusWorldDef *def, TalusWorld **world)
{
    const TalusShapeDef shape = {.kind = TALUS_SHAPE_BOX, .half = {0.008, 0.006, 0.005}};
    int index;
    TalusStatus status = talus_world_create(def, world);
    status = status == TALUS_OK ? add_container(*world, 0.026 * ACROSS) : status;
    status = status == TALUS_OK ? talus_world_add_shape(*world, &shape, &index) : status;
    return status == TALUS_OK ? add_lattice(*world, index, 0.026, 0.0112, 1.5) : status;
}

TEST(a_heap_of_spheres_has_the_same_bits_on_any_ranks)
{
    compare("spheres", make_spheres, STEPS);
}

TEST(a_relaxed_rigid_heap_has_the_same_bits_on_any_ranks)
{
    compare("relaxed", make_relaxed, STEPS);
}

TEST(a_periodic_flow_has_the_same_bits_on_any_ranks)
{
    compare("periodic", make_periodic, STEPS);
}

TEST(a_heap_of_boxes_has_the_same_bits_on_any_ranks)
{
    compare("boxes", make_boxes, STEPS);
}

int main(void)
{
    RUN(a_heap_of_spheres_has_the_same_bits_on_any_ranks);
    RUN(a_relaxed_rigid_heap_has_the_same_bits_on_any_ranks);
    RUN(a_periodic_flow_has_the_same_bits_on_any_ranks);
    RUN(a_heap_of_boxes_has_the_same_bits_on_any_ranks);
    return talus_test_result();
}

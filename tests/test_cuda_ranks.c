/* Worlds on several ranks on the cuda backends: each step gives the bits of one rank there. */
#include "ranks_world.h"

#include "base/status.h"

#include "support/cuda.h"

#include <talus/joint.h>

static const int grid[][2] = {{1, 1}, {2, 1}, {3, 1}};
enum { RUNS = sizeof grid / sizeof *grid, STEPS = 4 };

static const char *backend, *solver; /* of the worlds that are made */

static void set_def(TalusWorldDef *def)
{
    def->backend = backend;
    def->solver = solver;
    def->max_iterations = 60;
}

static void compare_on(const char *name, MakeWorldFn *make, ActFn *act, int least)
{
    CHECK(compare_ranks(name, make, act, STEPS, grid, RUNS).contacts > least);
}

/* Compares a world on all numbers of ranks, on both backends. */
static void compare(const char *name, const char *by, MakeWorldFn *make, ActFn *act, int least)
{
    static const char *const backends[] = {"cuda", "cuda-mixed"};
    solver = by;
    for (int k = 0; k < 2; k++) {
        backend = backends[k];
        compare_on(name, make, act, least);
    }
}

/* ---- worlds ---- */

static TalusStatus make_spheres(TalusWorldDef *def, TalusWorld **world)
{
    const TalusShapeDef shape = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.01};
    int index;
    set_def(def);
    TalusStatus status = talus_world_create(def, world);
    TALUS_THEN(status, add_container(*world, 0.0215 * ACROSS));
    TALUS_THEN(status, talus_world_add_shape(*world, &shape, &index));
    TALUS_THEN(status, add_lattice(*world, index, 0.0215, 0.01, 1.5));
    return status;
}

static TalusStatus make_relaxed(TalusWorldDef *def, TalusWorld **world)
{
    def->friction.law = TALUS_LAW_CCP;
    def->compliance = 0.0;
    return make_spheres(def, world);
}

static TalusStatus make_boxes(TalusWorldDef *def, TalusWorld **world)
{
    const TalusShapeDef shape = {.kind = TALUS_SHAPE_BOX, .half = {0.008, 0.006, 0.005}};
    int index;
    set_def(def);
    TalusStatus status = talus_world_create(def, world);
    TALUS_THEN(status, add_container(*world, 0.0215 * ACROSS));
    TALUS_THEN(status, talus_world_add_shape(*world, &shape, &index));
    TALUS_THEN(status, add_lattice(*world, index, 0.0215, 0.0112, 1.5));
    return status;
}

TEST(spheres_have_the_bits_of_one_rank)
{
    NEEDS_CUDA();
    compare("spheres", "apgd", make_spheres, NULL, 100);
    compare("relaxed spheres", "apgd", make_relaxed, NULL, 100);
}

TEST(boxes_have_the_bits_of_one_rank)
{
    NEEDS_CUDA();
    compare("boxes", "apgd", make_boxes, NULL, 100);
}

TEST(other_solvers_give_the_bits_of_one_rank)
{
    NEEDS_CUDA();
    compare("spheres by jacobi", "jacobi", make_relaxed, NULL, 100);
    compare("spheres by lbfgs-fb", "lbfgs-fb", make_relaxed, NULL, 100);
}

int main(void)
{
    cuda = talus_backend_find("cuda");
    RUN(spheres_have_the_bits_of_one_rank);
    RUN(boxes_have_the_bits_of_one_rank);
    RUN(other_solvers_give_the_bits_of_one_rank);
    return cuda_test_result();
}

/* test_balance.c - the transient balance of momentum of coarse-grained fields: over one step the change of the momentum in a
 * cell is that of what flows through its faces, of stress, of the boundary and of gravity, up to an error that falls with h. */
#include "support/test.h"

#include <math.h>
#include <talus/talus.h>

enum { SPHERES = 12 };

static const double gravity = 9.81;

/* Spheres that slide and begin to roll on a plane, each with a velocity of its own. */
static TalusWorld *make_world(double step)
{
    TalusWorldDef def = talus_world_def_default();
    TalusVec3 at[SPHERES], velocity[SPHERES], origin = {0, 0, 0};
    TalusWorld *world;
    int plane, sphere;
    def.threads = 1;
    def.step = step;
    def.tolerance = 1e-10;
    def.compliance = 0.0;
    CHECK_OK(talus_world_create(&def, &world));
    CHECK_OK(talus_world_add_shape(world, &(TalusShapeDef){.kind = TALUS_SHAPE_PLANE}, &plane));
    CHECK_OK(talus_world_add_shape(
        world, &(TalusShapeDef){.kind = TALUS_SHAPE_SPHERE, .radius = 0.1}, &sphere));
    for (int i = 0; i < SPHERES; i++) {
        at[i] = talus_vec3(0.3 * (i % 4), 0.3 * (i / 4), 0.1);
        velocity[i] = talus_vec3(1.0 + 0.05 * i, 0.3 - 0.02 * i, 0.0);
    }
    TalusBodyBatch batch = talus_body_batch_default();
    batch.count = 1;
    batch.shape = plane;
    batch.fixed = true;
    batch.position = &origin;
    CHECK_OK(talus_world_add_bodies(world, &batch, NULL));
    batch = talus_body_batch_default();
    batch.count = SPHERES;
    batch.shape = sphere;
    batch.position = at;
    batch.velocity = velocity;
    batch.density = 1000.0;
    CHECK_OK(talus_world_add_bodies(world, &batch, NULL));
    return world;
}

static void take(const TalusWorld *world, TalusAssembly *out)
{
    TalusSnapshot snapshot = {0};
    const TalusShapeDef shapes[] = {talus_world_shape(world, 0), talus_world_shape(world, 1)};
    const TalusFramesMaterial material = {"", 0.3, 1000.0};
    const TalusFramesHead head = {
        .shape_count = 2, .material_count = 1, .shapes = shapes, .materials = &material};
    CHECK_OK(talus_snapshot_take(&snapshot, world, TALUS_SNAPSHOT_ALL));
    CHECK_OK(talus_assembly_take(&snapshot, &head, TALUS_ANY_TAG, out));
    talus_snapshot_free(&snapshot);
}

/* Writes a field in a grid of one cell. */
static void measure(const TalusAssembly *a, TalusVec3 lo, TalusVec3 hi, TalusQuantity quantity,
                    double out[9])
{
    const TalusGridDef def = {lo, hi, {1, 1, 1}, 0.25};
    TalusContinuum *c;
    CHECK_OK(talus_continuum_create(&def, 1u << quantity, &c));
    CHECK_OK(talus_continuum_add(c, a, NULL));
    talus_continuum_get(c, quantity, 0, 0, 0, out);
    talus_continuum_destroy(c);
}

/* Adds `sign` times what flows through a face at x = lo.x or so, a cell that is thin along the axis: the momentum flux rho V V
 * less the kinetic stress, times the axis. */
static void add_face(const TalusAssembly *a, TalusVec3 lo, TalusVec3 hi, int axis, double at,
                     double scale, double out[3])
{
    static const int symmetric[3][3] = {{0, 3, 5}, {3, 1, 4}, {5, 4, 2}};
    const double thin = 1e-5;
    double momentum[9], velocity[9], stress[9];
    *(axis == 0 ? &lo.x : axis == 1 ? &lo.y : &lo.z) = at - thin;
    *(axis == 0 ? &hi.x : axis == 1 ? &hi.y : &hi.z) = at + thin;
    measure(a, lo, hi, TALUS_QUANTITY_MOMENTUM, momentum);
    measure(a, lo, hi, TALUS_QUANTITY_VELOCITY, velocity);
    measure(a, lo, hi, TALUS_QUANTITY_KINETIC_STRESS, stress);
    for (int k = 0; k < 3; k++)
        out[k] += scale * (momentum[k] * velocity[axis] - stress[symmetric[k][axis]]);
}

/* Writes what changes the momentum in a cell, per volume and time. */
static void find_sources(const TalusAssembly *a, TalusVec3 lo, TalusVec3 hi, double out[3])
{
    double density[9], boundary[9], divergence[9];
    measure(a, lo, hi, TALUS_QUANTITY_DENSITY, density);
    measure(a, lo, hi, TALUS_QUANTITY_BOUNDARY_FORCE, boundary);
    measure(a, lo, hi, TALUS_QUANTITY_DIVERGENCE, divergence);
    for (int k = 0; k < 3; k++)
        out[k] = divergence[k] + boundary[k] - (k == 2 ? gravity * density[0] : 0.0);
    for (int axis = 0; axis < 3; axis++) {
        const double from = talus_along(lo, axis), to = talus_along(hi, axis);
        add_face(a, lo, hi, axis, to, -1.0 / (to - from), out);
        add_face(a, lo, hi, axis, from, 1.0 / (to - from), out);
    }
}

/* Returns the error of the balance at 0.1 s, over the largest term. */
static double find_error(double step)
{
    const TalusVec3 lo = {0.3, 0.1, 0.0}, hi = {0.8, 0.5, 0.2};
    TalusWorld *world = make_world(step);
    TalusAssembly before, after;
    double first[9], last[9], sources[3], worst = 0.0, largest = 0.0;
    for (int i = (int)(0.1 / step + 0.5); i > 0; i--)
        CHECK_OK(talus_world_step(world, NULL));
    take(world, &before);
    CHECK_OK(talus_world_step(world, NULL));
    take(world, &after);
    measure(&before, lo, hi, TALUS_QUANTITY_MOMENTUM, first);
    measure(&after, lo, hi, TALUS_QUANTITY_MOMENTUM, last);
    find_sources(&after, lo, hi, sources);
    for (int k = 0; k < 3; k++) {
        const double change = (last[k] - first[k]) / step;
        worst = fmax(worst, fabs(change - sources[k]));
        largest = fmax(largest, fabs(change));
    }
    talus_assembly_free(&before);
    talus_assembly_free(&after);
    talus_world_destroy(world);
    return worst / largest;
}

TEST(momentum_balance_converges_with_h)
{
    const double error[] = {find_error(4e-3), find_error(2e-3), find_error(1e-3)};
    CHECK(error[0] > 0.0 && error[0] < 0.1);
    CHECK_NEAR(error[0] / error[1], 2.0, 0.2);
    CHECK_NEAR(error[1] / error[2], 2.0, 0.2);
}

int main(void)
{
    RUN(momentum_balance_converges_with_h);
    return talus_test_result();
}

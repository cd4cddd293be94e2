/* test_assembly.c - assemblies from snapshots: who flows, arms across periods, masses, energies of spins; a world's momentum
 * balance; failing allocations. */
#include "base/memory.h"
#include "base/status.h"
#include "support/test.h"

#include <math.h>
#include <string.h>
#include <talus/talus.h>

enum { BODIES = 4, CONTACTS = 3 };

/* A floor, two spheres and a box, with three contacts. */
typedef struct Scene {
    TalusSnapshot snapshot;
    TalusFramesHead head;
    TalusBodyId id[BODIES];
    TalusVec3 position[BODIES], velocity[BODIES], spin[BODIES];
    TalusQuat orientation[BODIES];
    double radius[BODIES], mass[BODIES], dissipated[BODIES];
    int shape[BODIES], material[BODIES], tag[BODIES];
    bool fixed[BODIES];
    TalusContactState contact[CONTACTS];
    int contact_a[CONTACTS], contact_b[CONTACTS];
    TalusShapeDef shapes[3];
    TalusFramesMaterial materials[1];
} Scene;

static void connect_scene(Scene *s)
{
    s->snapshot = (TalusSnapshot){.fields = TALUS_SNAPSHOT_ALL,
                                  .time = 2.0,
                                  .length = 0.5,
                                  .body_count = BODIES,
                                  .id = s->id,
                                  .position = s->position,
                                  .velocity = s->velocity,
                                  .spin = s->spin,
                                  .orientation = s->orientation,
                                  .radius = s->radius,
                                  .mass = s->mass,
                                  .dissipated = s->dissipated,
                                  .shape = s->shape,
                                  .material = s->material,
                                  .tag = s->tag,
                                  .fixed = s->fixed,
                                  .contact_count = CONTACTS,
                                  .contact = s->contact,
                                  .contact_a = s->contact_a,
                                  .contact_b = s->contact_b};
    s->head = (TalusFramesHead){
        .shape_count = 3, .material_count = 1, .shapes = s->shapes, .materials = s->materials};
}

static void make_scene(Scene *s)
{
    static const int shape[BODIES] = {1, 0, 0, 2};
    *s = (Scene){.shapes = {{.kind = TALUS_SHAPE_SPHERE},
                            {.kind = TALUS_SHAPE_PLANE},
                            {.kind = TALUS_SHAPE_BOX, .half = {0.5, 1.0, 1.5}}},
                 .materials = {{"stone", 0.3, 2000.0}},
                 .fixed = {true}};
    connect_scene(s);
    for (int i = 0; i < BODIES; i++) {
        s->id[i].number = (uint64_t)i + 1;
        s->orientation[i] = talus_quat_identity();
        s->shape[i] = shape[i];
        s->radius[i] = i == 1 || i == 2 ? 0.5 : 0.0;
        s->position[i] = talus_vec3(0.1, 0.2, i);
        s->velocity[i] = talus_vec3(i, 0, 0);
        s->spin[i] = talus_vec3(0, 0, 2);
        s->mass[i] = i;
        s->dissipated[i] = 4.0 * i;
        s->tag[i] = i == 2 ? 7 : 0;
    }
    s->contact_a[0] = 1; /* sphere on the floor */
    s->contact_a[1] = s->contact_a[2] = 1;
    s->contact_b[1] = s->contact_b[2] = 2; /* two points of one pair */
    for (int i = 0; i < CONTACTS; i++) {
        s->contact[i] = (TalusContactState){.a = s->id[s->contact_a[i]],
                                            .b = s->id[s->contact_b[i]],
                                            .point = talus_vec3(0.1, 0.2, i ? 1.5 : 0.5),
                                            .normal = talus_vec3(0, 0, i ? 1 : -1),
                                            .impulse = talus_vec3(0.5, 0, i ? 2 : -3),
                                            .gap = -0.01};
    }
}

TEST(what_is_not_fixed_flows)
{
    static Scene s;
    TalusAssembly a;
    make_scene(&s);
    REQUIRE_OK(talus_assembly_take(&s.snapshot, &s.head, TALUS_ANY_TAG, &a));
    CHECK_INT(a.body_count, 3);
    CHECK_INT(a.contact_count, 3);
    CHECK_INT(a.pair_count, 2);
    CHECK(a.data == (TALUS_ASSEMBLY_VELOCITY | TALUS_ASSEMBLY_SPIN | TALUS_ASSEMBLY_CONTACTS));
    CHECK_NEAR(a.time, 2.0, 0.0);
    CHECK_NEAR(a.volume[0], 4.0 / 3.0 * acos(-1.0) * 0.125, 1e-15);
    CHECK_NEAR(a.volume[2], 6.0, 1e-14);
    CHECK_INT(a.contact[0].a, 0);
    CHECK_INT(a.contact[0].b, -1);
    CHECK_NEAR(a.contact[0].arm_a.z, -0.5, 1e-15);
    CHECK_NEAR(a.contact[0].force.z, -6.0, 1e-15); /* on the floor */
    CHECK_INT(a.contact[1].b, 1);
    CHECK_NEAR(a.contact[1].arm_b.z, -0.5, 1e-15);
    CHECK_INT(a.contact[1].pair, 1);
    CHECK_INT(a.contact[2].pair, 1);
    talus_assembly_free(&a);
}

/* With the second sphere alone, it is body a, and forces and normals turn round. */
TEST(other_tags_are_boundary)
{
    static Scene s;
    TalusAssembly a;
    make_scene(&s);
    REQUIRE_OK(talus_assembly_take(&s.snapshot, &s.head, 7, &a));
    CHECK_INT(a.body_count, 1);
    REQUIRE(a.contact_count == 2);
    CHECK_INT(a.contact[0].a, 0);
    CHECK_INT(a.contact[0].b, -1);
    CHECK_NEAR(a.contact[0].arm_a.z, -0.5, 1e-15);
    CHECK_NEAR(a.contact[0].normal.z, -1.0, 0.0);
    CHECK_NEAR(a.contact[0].force.z, -4.0, 1e-15); /* on the boundary, below */
    talus_assembly_free(&a);
}

TEST(arms_cross_periods)
{
    static Scene s;
    TalusAssembly a;
    make_scene(&s);
    s.head.period = (TalusPeriod){{0, 0, 0}, {4, 4, 4}, {1, 1, 1}, 0.0};
    s.position[2] = talus_vec3(0.1, 0.2, 0.2);
    s.position[1] = talus_vec3(0.1, 0.2, 3.2);
    s.contact[1].point = talus_vec3(0.1, 0.2, 3.7);
    REQUIRE_OK(talus_assembly_take(&s.snapshot, &s.head, TALUS_ANY_TAG, &a));
    CHECK_NEAR(a.contact[1].arm_a.z, 0.5, 1e-14);
    CHECK_NEAR(a.contact[1].arm_b.z, -0.5, 1e-14);
    talus_assembly_free(&a);
}

/* Body 3 comes between the states: all that it has dissipated is of this time. */
TEST(powers_are_those_since_an_earlier_state)
{
    static Scene s;
    TalusAssembly a, earlier;
    TalusBulk bulk;
    const TalusBulkDef everywhere = talus_bulk_def_default();
    make_scene(&s);
    s.snapshot.time = 1.5;
    s.fixed[2] = true;
    REQUIRE_OK(talus_assembly_take(&s.snapshot, &s.head, TALUS_ANY_TAG, &earlier));
    s.snapshot.time = 2.0;
    s.fixed[2] = false;
    s.dissipated[3] = 15.0;
    REQUIRE_OK(talus_assembly_take(&s.snapshot, &s.head, TALUS_ANY_TAG, &a));
    REQUIRE_OK(talus_assembly_compare(&a, NULL));
    CHECK_NEAR(a.power[0], 4.0 / 2.0, 0.0); /* since time 0 */
    REQUIRE_OK(talus_assembly_compare(&a, &earlier));
    CHECK(a.data & TALUS_ASSEMBLY_POWER);
    CHECK_NEAR(a.power[0], 0.0, 0.0);
    CHECK_NEAR(a.power[1], 8.0 / 0.5, 0.0);
    CHECK_NEAR(a.power[2], 3.0 / 0.5, 0.0);
    REQUIRE_OK(talus_bulk_measure(&a, &everywhere, &bulk));
    CHECK_NEAR(bulk.dissipated, 27.0, 0.0);
    CHECK_NEAR(bulk.dissipation, 22.0, 0.0);
    earlier.time = 2.0; /* no time has passed */
    talus_assembly_free(&a);
    REQUIRE_OK(talus_assembly_take(&s.snapshot, &s.head, TALUS_ANY_TAG, &a));
    REQUIRE_OK(talus_assembly_compare(&a, &earlier));
    CHECK(!a.power && !(a.data & TALUS_ASSEMBLY_POWER));
    talus_assembly_free(&a);
    talus_assembly_free(&earlier);
}

/* The spheres, of 1 and 2 kg, move along x; the box of 3 kg is not there before. */
TEST(flux_counts_who_has_changed_sides)
{
    static Scene s;
    TalusAssembly before, after;
    TalusFluxDef def = {0, 0.5, {-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
    TalusFlux flux;
    make_scene(&s);
    s.fixed[3] = true;
    REQUIRE_OK(talus_assembly_take(&s.snapshot, &s.head, TALUS_ANY_TAG, &before));
    s.fixed[3] = false;
    s.position[1] = talus_vec3(0.6, 0.8, 1.0); /* crosses at y = 0.68 */
    s.position[2].x = 0.5;                     /* on the plane is beyond it */
    s.position[3].x = 5.0;
    REQUIRE_OK(talus_assembly_take(&s.snapshot, &s.head, TALUS_ANY_TAG, &after));
    REQUIRE_OK(talus_flux_measure(&before, &after, &def, &flux));
    CHECK_INT(flux.bodies, 2);
    CHECK_NEAR(flux.mass, 3.0, 0.0);
    REQUIRE_OK(talus_flux_measure(&after, &before, &def, &flux));
    CHECK_NEAR(flux.mass, -3.0, 0.0);
    def.lo.y = 0.67;
    def.hi.y = 0.69;
    REQUIRE_OK(talus_flux_measure(&before, &after, &def, &flux));
    CHECK_NEAR(flux.mass, 1.0, 0.0);
    /* along a period of 0.9 they go from 0.1 back to 0.6 and on to 0.5, the shorter ways being -0.4 and 0.4 */
    before.period = after.period = (TalusPeriod){.lo = {0, 0, 0}, .hi = {0.9, 1, 1}, .on = {true}};
    def = (TalusFluxDef){0, 0.7, {-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
    REQUIRE_OK(talus_flux_measure(&before, &after, &def, &flux));
    CHECK_NEAR(flux.mass, -1.0, 0.0);
    after.period.hi.x = 1.0;
    CHECK_INT(talus_flux_measure(&before, &after, &def, &flux), TALUS_ERR_ARGUMENT);
    talus_assembly_free(&before);
    talus_assembly_free(&after);
}

/* 0.7 + (0.1 - 0.7) is less than 0.1: a body that comes to rest on the plane is beyond it, and leaves it once. */
TEST(flux_counts_a_body_on_the_plane_once)
{
    static Scene s;
    TalusAssembly state[3];
    const double x[3] = {0.7, 0.1, 0.0};
    TalusFluxDef def = {0, 0.1, {-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
    TalusFlux flux;
    make_scene(&s);
    for (int k = 0; k < 3; k++) {
        s.position[1].x = x[k];
        REQUIRE_OK(talus_assembly_take(&s.snapshot, &s.head, TALUS_ANY_TAG, &state[k]));
    }
    for (int k = 0; k < 2; k++) {
        REQUIRE_OK(talus_flux_measure(&state[k], &state[k + 1], &def, &flux));
        CHECK_INT(flux.bodies, -k);
    }
    for (int k = 0; k < 3; k++)
        talus_assembly_free(&state[k]);
}

TEST(unknown_masses_are_those_of_materials)
{
    static Scene s;
    TalusAssembly a;
    make_scene(&s);
    s.mass[3] = NAN;
    REQUIRE_OK(talus_assembly_take(&s.snapshot, &s.head, TALUS_ANY_TAG, &a));
    CHECK_INT(a.assumed_masses, 1);
    CHECK_NEAR(a.mass[1], 2.0, 0.0);
    CHECK_NEAR(a.mass[2], 12000.0, 1e-9);
    talus_assembly_free(&a);
    s.snapshot.mass = NULL;
    REQUIRE_OK(talus_assembly_take(&s.snapshot, &s.head, TALUS_ANY_TAG, &a));
    CHECK_INT(a.assumed_masses, 3);
    talus_assembly_free(&a);
}

TEST(spins_have_energy)
{
    static Scene s;
    TalusAssembly a;
    make_scene(&s);
    /* the box is turned: its long axis z points along x, so that it spins about its short one, x */
    s.orientation[3] = (TalusQuat){sqrt(0.5), 0.0, sqrt(0.5), 0.0};
    REQUIRE_OK(talus_assembly_take(&s.snapshot, &s.head, TALUS_ANY_TAG, &a));
    CHECK_NEAR(a.rotation[0], 0.5 * 0.4 * 1.0 * 0.25 * 4.0, 1e-15);
    CHECK_NEAR(a.rotation[2], 0.5 * 3.0 / 3.0 * (1.0 + 2.25) * 4.0, 1e-13);
    talus_assembly_free(&a);
    s.snapshot.spin = s.snapshot.velocity = NULL;
    s.snapshot.fields &= ~(unsigned)TALUS_SNAPSHOT_CONTACTS;
    REQUIRE_OK(talus_assembly_take(&s.snapshot, &s.head, TALUS_ANY_TAG, &a));
    CHECK(a.data == 0 && !a.spin && !a.velocity && !a.rotation);
    talus_assembly_free(&a);
}

/* ---- a world ---- */

/* Spheres that fall on a plane, in a period along x and y. */
static TalusWorld *make_world(void)
{
    TalusWorldDef def = talus_world_def_default();
    TalusWorld *world;
    int plane, sphere;
    TalusVec3 at[27], origin = {0, 0, 0};
    def.threads = 1;
    def.step = 0.01;
    def.period = (TalusPeriod){{0, 0, 0}, {3, 3, 0}, {1, 1, 0}, 0.0};
    CHECK_OK(talus_world_create(&def, &world));
    const TalusShapeDef planes = {.kind = TALUS_SHAPE_PLANE};
    const TalusShapeDef spheres = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.45};
    CHECK_OK(talus_world_add_shape(world, &planes, &plane));
    CHECK_OK(talus_world_add_shape(world, &spheres, &sphere));
    for (int i = 0; i < 27; i++)
        at[i] = talus_vec3(i % 3 + 0.05 * (i % 7), i / 3 % 3 + 0.04 * (i % 5), 0.5 + i / 9);
    TalusBodyBatch batch = talus_body_batch_default();
    batch.count = 1;
    batch.shape = plane;
    batch.fixed = true;
    batch.position = &origin;
    CHECK_OK(talus_world_add_bodies(world, &batch, NULL));
    batch = talus_body_batch_default();
    batch.count = 27;
    batch.shape = sphere;
    batch.position = at;
    batch.density = 1000.0;
    CHECK_OK(talus_world_add_bodies(world, &batch, NULL));
    return world;
}

/* Takes the assembly of a world whose two shapes and material are known. */
static TalusStatus take_world(const TalusWorld *world, TalusAssembly *out)
{
    TalusSnapshot snapshot = {0};
    const TalusShapeDef shapes[] = {talus_world_shape(world, 0), talus_world_shape(world, 1)};
    const TalusFramesMaterial material = {"", 0.3, 1000.0};
    const TalusFramesHead head = {.period = talus_world_period(world),
                                  .shape_count = 2,
                                  .material_count = 1,
                                  .shapes = shapes,
                                  .materials = &material};
    TALUS_TRY(talus_snapshot_take(&snapshot, world, TALUS_SNAPSHOT_ALL));
    const TalusStatus status = talus_assembly_take(&snapshot, &head, TALUS_ANY_TAG, out);
    talus_snapshot_free(&snapshot);
    return status;
}

/* The change of momentum over a step is that by the boundary's forces and by gravity: of all, and in each layer of a profile
 * the forces are the divergence of the stress. */
TEST(momentum_of_a_world_balances)
{
    TalusWorld *world = make_world();
    const TalusGridDef def = {{0, 0, -1}, {3, 3, 5}, {1, 1, 1}, 0.7};
    TalusAssembly before, after;
    TalusContinuum *c;
    double force[9], x[9];
    for (int i = 0; i < 30; i++)
        CHECK_OK(talus_world_step(world, NULL));
    REQUIRE_OK(take_world(world, &before));
    CHECK_OK(talus_world_step(world, NULL));
    REQUIRE_OK(take_world(world, &after));
    REQUIRE_OK(talus_continuum_create(
        &def, 1u << TALUS_QUANTITY_BOUNDARY_FORCE | 1u << TALUS_QUANTITY_CONTACT_FORCE, &c));
    CHECK_OK(talus_continuum_add(c, &after, NULL));
    talus_continuum_get(c, TALUS_QUANTITY_BOUNDARY_FORCE, 0, 0, 0, force);
    talus_continuum_get(c, TALUS_QUANTITY_CONTACT_FORCE, 0, 0, 0, x);
    double change = 0.0, weight = 0.0;
    for (int i = 0; i < 27; i++) {
        change += after.mass[i] * (after.velocity[i].z - before.velocity[i].z) / 0.01;
        weight += after.mass[i] * 9.81;
    }
    CHECK(after.contact_count > 27);
    CHECK_NEAR(54.0 * force[2], change + weight, 1e-10 * weight);
    CHECK_NEAR(54.0 * x[2], change + weight, 1e-10 * weight);
    talus_continuum_destroy(c);
    talus_assembly_free(&before);
    talus_assembly_free(&after);
    talus_world_destroy(world);
}

/* ---- memory ---- */

static TalusStatus measure_all(const Scene *s)
{
    const TalusGridDef def = {{-3, -3, -3}, {3, 3, 6}, {2, 3, 4}, 0.7};
    const TalusBulkDef bulk_def = talus_bulk_def_default();
    TalusContinuum *c = NULL;
    TalusAssembly a;
    TalusBulk bulk;
    const TalusFluxDef flux_def = {.axis = 2};
    TalusFlux flux;
    TalusStatus status = talus_assembly_take(&s->snapshot, &s->head, TALUS_ANY_TAG, &a);
    if (status != TALUS_OK)
        return status;
    status = talus_assembly_compare(&a, NULL);
    if (status == TALUS_OK)
        status = talus_continuum_create(&def, (1u << TALUS_QUANTITIES) - 1, &c);
    if (status == TALUS_OK)
        status = talus_continuum_add(c, &a, NULL);
    if (status == TALUS_OK)
        status = talus_bulk_measure(&a, &bulk_def, &bulk);
    if (status == TALUS_OK)
        status = talus_flux_measure(&a, &a, &flux_def, &flux);
    talus_continuum_destroy(c);
    talus_assembly_free(&a);
    return status;
}

TEST(failing_allocations_are_reported)
{
    static Scene s;
    int failures = 0;
    make_scene(&s);
    for (long n = 1; n < 100; n++) {
        talus_fail_allocation_in(n);
        const TalusStatus status = measure_all(&s);
        talus_fail_allocation_in(0);
        if (status == TALUS_OK)
            break;
        CHECK_INT(status, TALUS_ERR_MEMORY);
        failures++;
    }
    CHECK(failures > 15);
}

int main(void)
{
    RUN(what_is_not_fixed_flows);
    RUN(other_tags_are_boundary);
    RUN(arms_cross_periods);
    RUN(powers_are_those_since_an_earlier_state);
    RUN(flux_counts_who_has_changed_sides);
    RUN(flux_counts_a_body_on_the_plane_once);
    RUN(unknown_masses_are_those_of_materials);
    RUN(spins_have_energy);
    RUN(momentum_of_a_world_balances);
    RUN(failing_allocations_are_reported);
    return talus_test_result();
}

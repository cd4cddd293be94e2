/* Driven bodies, large fixed ones and pairs that do not collide, in worlds on several ranks (world/ranks): each step gives
 * the bits of one rank. */
#include "ranks_world.h"

enum { STEPS = SANITIZED ? 6 : 12 };

static const TalusVec3 up = {0.0, 0.0, 1.0};

static Grains spheres(int x, int y, int z, TalusVec3 lo, double speed)
{
    return (Grains){.shape = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.01},
                    .across = {x, y, z},
                    .lo = lo,
                    .spacing = 0.023,
                    .radius = 0.01,
                    .speed = speed};
}

/* ---- a drum of boxes ---- */

enum { STAVES = 16 };

/* Adds a ring of driven boxes around the y axis, which turn about it and shake, and two planes as lids. */
static TalusStatus add_ring(TalusWorld *world, double radius, double depth)
{
    const double half_width = 1.1 * radius * tan(3.14159265358979 / STAVES), half_wall = 0.02;
    const TalusShapeDef box = {.kind = TALUS_SHAPE_BOX, .half = {half_width, depth, half_wall}};
    TalusDriveDef turn = talus_drive_def_default(), shake = turn;
    turn.spin = talus_vec3(0.0, 6.0, 0.0);
    turn.own_axis = true;
    shake.amplitude = talus_vec3(0.002, 0.0, 0.003);
    shake.frequency = 9.0;
    TalusStatus status =
        add_plane(world, talus_vec3(0.0, -0.5 * depth, 0.0), talus_vec3(0.0, 1.0, 0.0), NULL);
    if (status == TALUS_OK)
        status =
            add_plane(world, talus_vec3(0.0, 0.5 * depth, 0.0), talus_vec3(0.0, -1.0, 0.0), NULL);
    for (int k = 0; k < STAVES && status == TALUS_OK; k++) {
        const double angle = 2.0 * 3.14159265358979 * k / STAVES;
        const TalusVec3 out = {sin(angle), 0.0, cos(angle)};
        const TalusQuat facing = {cos(0.5 * angle), 0.0, sin(0.5 * angle), 0.0};
        TalusBodyId id;
        status = add_fixed(world, &box, talus_scale(radius + half_wall, out), facing, &id);
        status = status == TALUS_OK ? talus_world_set_drive(world, id, &turn) : status;
        status = status == TALUS_OK ? talus_world_add_drive(world, id, &shake) : status;
    }
    return status;
}

static TalusStatus make_ring(TalusWorldDef *def, TalusWorld **world)
{
    const Grains grains = spheres(9, 6, 9, talus_vec3(-0.1035, -0.069, -0.1035), 0.8);
    TalusStatus status = talus_world_create(def, world);
    status = status == TALUS_OK ? add_ring(*world, 0.16, 0.15) : status;
    return status == TALUS_OK ? add_grains(*world, &grains, NULL) : status;
}

TEST(a_drum_of_driven_boxes_has_the_same_bits_on_any_ranks)
{
    const RanksCase of = {.name = "ring", .make = make_ring, .solver = "apgd", .steps = STEPS};
    TalusStepInfo last = compare_ranks(&of);
    CHECK(last.contacts > 100);
    CHECK(last.ledger.driven != 0.0);
}

/* ---- a mill of triangles ---- */

enum { SIDES = 12 };

/* Adds a turning shell of triangles about the y axis, open at its ends; every second edge is nearer to it. */
static TalusStatus add_mill(TalusWorld *world, double radius, double depth)
{
    TalusVec3 vertex[2 * SIDES];
    int32_t triangle[2 * SIDES][3];
    for (int k = 0; k < SIDES; k++) {
        const double angle = 2.0 * 3.14159265358979 * k / SIDES, r = k % 2 ? radius : 0.8 * radius;
        const int32_t next = (k + 1) % SIDES;
        vertex[k] = talus_vec3(r * sin(angle), -0.5 * depth, r * cos(angle));
        vertex[SIDES + k] = talus_vec3(r * sin(angle), 0.5 * depth, r * cos(angle));
        memcpy(triangle[2 * k], (int32_t[3]){k, next, SIDES + k}, sizeof *triangle);
        memcpy(triangle[2 * k + 1], (int32_t[3]){next, SIDES + next, SIDES + k}, sizeof *triangle);
    }
    const TalusShapeDef mesh = {.kind = TALUS_SHAPE_MESH,
                                .vertex = vertex,
                                .vertex_count = 2 * SIDES,
                                .triangle = triangle[0],
                                .triangle_count = 2 * SIDES};
    TalusDriveDef turn = talus_drive_def_default();
    turn.spin = talus_vec3(0.0, -5.0, 0.0);
    turn.amplitude = talus_vec3(0.002, 0.0, 0.001);
    turn.frequency = 20.0;
    TalusBodyId id;
    TalusStatus status =
        add_fixed(world, &mesh, talus_vec3(0.0, 0.0, 0.0), talus_quat_identity(), &id);
    return status == TALUS_OK ? talus_world_set_drive(world, id, &turn) : status;
}

static TalusStatus make_mill(TalusWorldDef *def, TalusWorld **world)
{
    const Grains grains = {.shape = {.kind = TALUS_SHAPE_BOX, .half = {0.008, 0.006, 0.005}},
                           .across = {8, 6, 8},
                           .lo = {-0.1, -0.0675, -0.1},
                           .spacing = 0.0225,
                           .radius = 0.0112,
                           .speed = 0.8};
    const TalusVec3 y = {0.0, 1.0, 0.0};
    TalusStatus status = talus_world_create(def, world);
    status = status == TALUS_OK ? add_mill(*world, 0.2, 0.16) : status;
    status = status == TALUS_OK ? add_plane(*world, talus_scale(-0.08, y), y, NULL) : status;
    status =
        status == TALUS_OK ? add_plane(*world, talus_scale(0.08, y), talus_neg(y), NULL) : status;
    return status == TALUS_OK ? add_grains(*world, &grains, NULL) : status;
}

TEST(a_driven_mesh_has_the_same_bits_on_any_ranks)
{
    const RanksCase of = {.name = "mill", .make = make_mill, .solver = "apgd", .steps = STEPS};
    TalusStepInfo last = compare_ranks(&of);
    CHECK(last.contacts > 100);
    /* sanitizers take too few steps for the mesh to push a grain */
    CHECK(last.ledger.driven != 0.0 || STEPS < 16);
}

/* ---- drives that begin, change and end ---- */

static TalusBodyId piston_id(void)
{
    return (TalusBodyId){2};
}

/* A heap beside a box that is driven later. */
static TalusStatus make_piston(TalusWorldDef *def, TalusWorld **world)
{
    const double side = 9 * 0.023;
    const TalusShapeDef box = {.kind = TALUS_SHAPE_BOX, .half = {0.02, side, 0.2}};
    const Grains grains = spheres(9, 9, 8, talus_vec3(0.0, 0.0, 0.002), 1.0);
    TalusStatus status = talus_world_create(def, world);
    status = status == TALUS_OK ? add_plane(*world, talus_vec3(0, 0, 0), up, NULL) : status;
    if (status == TALUS_OK)
        status = add_fixed(*world, &box, talus_vec3(-0.02, 0.5 * side, 0.2), talus_quat_identity(),
                           NULL);
    return status == TALUS_OK ? add_grains(*world, &grains, NULL) : status;
}

static TalusStatus drive_piston(TalusWorld *world, int k)
{
    TalusDriveDef push = talus_drive_def_default();
    push.velocity = talus_vec3(0.5, 0.0, 0.0);
    push.start = 0.03;
    push.stop = 0.08;
    if (k == 2)
        return talus_world_set_drive(world, piston_id(), &push);
    if (k == STEPS / 2) {
        push.velocity = talus_vec3(-0.1, 0.0, 0.2);
        push.start = 0.0;
        return talus_world_set_drive(world, piston_id(), &push);
    }
    if (k == STEPS - 4)
        return talus_world_set_drive(world, piston_id(), NULL);
    return TALUS_OK;
}

TEST(drives_that_change_have_the_same_bits_on_any_ranks)
{
    const RanksCase of = {.name = "piston",
                          .make = make_piston,
                          .act = drive_piston,
                          .solver = "apgd",
                          .steps = STEPS};
    CHECK(compare_ranks(&of).contacts > 100);
}

/* Calls that are wrong fail on all ranks alike. */
static TalusStatus call_wrongly(TalusComm *comm, void *context)
{
    TalusWorldDef def = talus_world_def_default();
    TalusDriveDef drive = talus_drive_def_default();
    TalusWorld *world = NULL;
    int *failures = context;
    def.comm = comm;
    def.threads = 1;
    TalusStatus status = make_piston(&def, &world);
    if (status == TALUS_OK) {
        int failed = talus_world_set_drive(world, (TalusBodyId){5}, &drive) != TALUS_OK;
        failed += talus_world_set_drive(world, (TalusBodyId){9999}, &drive) != TALUS_OK;
        failed += talus_world_exclude(world, (TalusBodyId){5}, (TalusBodyId){9999}) != TALUS_OK;
        failed += talus_world_exclude(world, (TalusBodyId){5}, (TalusBodyId){5}) != TALUS_OK;
        drive.spin = up;
        failed += talus_world_set_drive(world, (TalusBodyId){1}, &drive) != TALUS_OK;
        failures[talus_comm_rank(comm)] = failed;
    }
    talus_world_destroy(world);
    return status;
}

TEST(wrong_calls_fail_on_all_ranks)
{
    int failures[3] = {0};
    CHECK_OK(talus_ranks_run(3, call_wrongly, failures));
    for (int r = 0; r < 3; r++)
        CHECK_INT(failures[r], 5);
}

/* ---- pairs that do not collide ---- */

enum { PAIRED = 9 * 9 * 8 };

/* Excludes, and later includes, pairs of neighbours along z, which fall into each other. */
static TalusStatus exclude_some(TalusWorld *world, int k)
{
    TalusStatus status = TALUS_OK;
    for (int i = 0; i + 81 < PAIRED && status == TALUS_OK; i += 3) {
        const TalusBodyId a = {(uint64_t)i + 3}, b = {(uint64_t)i + 84};
        if (k == 0 || (k == 3 && i % 2))
            status = talus_world_exclude(world, a, b);
        if (k == STEPS / 2)
            status = talus_world_include(world, b, a);
    }
    return status;
}

TEST(excluded_pairs_have_the_same_bits_on_any_ranks)
{
    const RanksCase of = {.name = "exclusions",
                          .make = make_piston,
                          .act = exclude_some,
                          .solver = "apgd",
                          .steps = STEPS};
    CHECK(compare_ranks(&of).contacts > 100);
}

/* ---- friction against spinning and rolling ---- */

/* Spheres and boxes on a plane, with contacts in all runs of the list, all of which have six rows. */
static TalusStatus make_rolling(TalusWorldDef *def, TalusWorld **world)
{
    const Grains balls = spheres(9, 9, 8, talus_vec3(0.0, 0.0, 0.002), 1.0);
    const Grains boxes = {.shape = {.kind = TALUS_SHAPE_BOX, .half = {0.008, 0.006, 0.005}},
                          .across = {9, 9, 2},
                          .lo = {0.0, 0.0, 0.19},
                          .spacing = 0.023,
                          .radius = 0.0112,
                          .speed = 1.0};
    TalusPairDef pair = talus_pair_def_default();
    pair.rolling = 0.05;
    pair.spinning = 0.02;
    TalusStatus status = talus_world_create(def, world);
    status = status == TALUS_OK ? talus_world_set_pair(*world, 0, 0, &pair) : status;
    status = status == TALUS_OK ? add_plane(*world, talus_vec3(0, 0, 0), up, NULL) : status;
    status = status == TALUS_OK ? add_grains(*world, &balls, NULL) : status;
    return status == TALUS_OK ? add_grains(*world, &boxes, NULL) : status;
}

TEST(rolling_friction_has_the_same_bits_on_any_ranks)
{
    const RanksCase of = {
        .name = "rolling", .make = make_rolling, .solver = "apgd", .steps = STEPS};
    const RanksCase swept = {
        .name = "rolling, gs", .make = make_rolling, .solver = "gs", .steps = STEPS};
    CHECK(compare_ranks(&of).contacts > 100);
    CHECK(compare_ranks(&swept).contacts > 100);
}

int main(void)
{
    RUN(a_drum_of_driven_boxes_has_the_same_bits_on_any_ranks);
    RUN(a_driven_mesh_has_the_same_bits_on_any_ranks);
    RUN(drives_that_change_have_the_same_bits_on_any_ranks);
    RUN(wrong_calls_fail_on_all_ranks);
    RUN(excluded_pairs_have_the_same_bits_on_any_ranks);
    RUN(rolling_friction_has_the_same_bits_on_any_ranks);
    return talus_test_result();
}

/* piston.c - a piston under force control: a program changes the force that presses grains together, and reads how far they
 * give way.
 *
 *     cc -std=c17 piston.c $(pkg-config --cflags --libs talus) -lm -o piston
 *     ./piston */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <talus/talus.h>

enum { ACROSS = 5, GRAINS = ACROSS * ACROSS * 6 };

static const double radius = 0.01, side = 0.105;

static void must(TalusStatus status)
{
    if (status == TALUS_OK)
        return;
    fprintf(stderr, "%s: %s\n", talus_status_name(status), talus_error());
    exit(1);
}

static void add_walls(TalusWorld *world)
{
    static const double h = 0.70710678118654752; /* turns of a quarter */
    const double w = 0.5 * side;
    TalusQuat turn[5] = {{1, 0, 0, 0}, {h, 0, h, 0}, {h, 0, -h, 0}, {h, -h, 0, 0}, {h, h, 0, 0}};
    TalusVec3 at[5] = {{0, 0, 0}, {-w, 0, 0}, {w, 0, 0}, {0, -w, 0}, {0, w, 0}};
    TalusShapeDef plane = {.kind = TALUS_SHAPE_PLANE};
    TalusBodyBatch walls = talus_body_batch_default();
    must(talus_world_add_shape(world, &plane, &walls.shape));
    walls.fixed = true, walls.count = 5, walls.position = at, walls.orientation = turn;
    must(talus_world_add_bodies(world, &walls, NULL));
}

static void add_grains(TalusWorld *world)
{
    TalusShapeDef ball = {.kind = TALUS_SHAPE_SPHERE, .radius = radius};
    TalusBodyBatch batch = talus_body_batch_default();
    TalusVec3 at[GRAINS];
    must(talus_world_add_shape(world, &ball, &batch.shape));
    for (int i = 0; i < GRAINS; i++)
        at[i] = talus_vec3(0.0205 * (i % ACROSS) - 0.041 + 0.0005 * (i / 25 % 2),
                           0.0205 * (i / ACROSS % ACROSS) - 0.041, 0.01 + 0.0201 * (i / 25));
    batch.count = GRAINS, batch.position = at, batch.density = 2600.0;
    must(talus_world_add_bodies(world, &batch, NULL));
}

/* A plate of 0.5 kg that slides along z. */
static TalusBodyId add_plate(TalusWorld *world)
{
    TalusShapeDef box = {.kind = TALUS_SHAPE_BOX, .half = {0.052, 0.052, 0.005}};
    TalusBodyBatch batch = talus_body_batch_default();
    TalusVec3 at = {0.0, 0.0, 0.13};
    TalusBodyId id;
    must(talus_world_add_shape(world, &box, &batch.shape));
    batch.count = 1, batch.position = &at, batch.mass = 0.5;
    must(talus_world_add_bodies(world, &batch, &id));
    TalusJointDef joint = talus_joint_def_default();
    joint.name = "piston";
    joint.kind = TALUS_JOINT_PRISMATIC;
    joint.a = id;
    joint.point = at;
    joint.axis = talus_vec3(0.0, 0.0, 1.0);
    must(talus_world_add_joint(world, &joint, NULL));
    return id;
}

int main(void)
{
    TalusWorldDef def = talus_world_def_default();
    TalusWorld *world;
    must(talus_world_create(&def, &world));
    add_walls(world);
    add_grains(world);
    TalusBodyId plate = add_plate(world);
    TalusProbeDef probe = {.name = "plate", .kind = TALUS_PROBE_BODY, .body = plate};
    must(talus_world_add_probe(world, &probe, NULL));

    const double force[] = {20.0, 100.0, 20.0};
    for (int k = 0; k < 3; k++) {
        must(talus_world_set_force(world, plate, talus_vec3(0.0, 0.0, -force[k]),
                                   talus_vec3(0.0, 0.0, 0.0)));
        double borne = 0.0;
        for (int i = 0; i < 60; i++) {
            must(talus_world_step(world, NULL));
            borne += i < 30 ? 0.0 : talus_world_probe_value(world, 0).force.z / 30.0;
        }
        TalusBody body;
        must(talus_world_get_body(world, plate, &body));
        printf("pressed with %5.1f N and its weight, 4.9 N: the grains bear %.1f N, at %.2f mm\n",
               force[k], borne, 1e3 * body.position.z);
    }
    TalusJointId joint;
    TalusJointState state;
    must(talus_world_find_joint(world, "piston", &joint));
    must(talus_world_get_joint(world, joint, &state));
    printf("the piston has moved by %.1f mm\n", 1e3 * state.coordinate);
    talus_world_destroy(world);
    return 0;
}

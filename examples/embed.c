/* embed.c - libtalus inside another program: ten boxes are dropped and come to rest as a stack.
 *
 *     cc -std=c17 -Iinclude examples/embed.c build/release/libtalus.a -lm -lpthread -ldl -o embed
 *     ./embed */
#include <stdio.h>
#include <stdlib.h>
#include <talus/talus.h>

static void must(TalusStatus status)
{
    if (status == TALUS_OK)
        return;
    fprintf(stderr, "%s: %s\n", talus_status_name(status), talus_error());
    exit(1);
}

int main(void)
{
    /* 9.81 m/s2 along -z, h = 5 ms, solver "auto", exact friction, slightly compliant contacts */
    TalusWorldDef def = talus_world_def_default();
    TalusWorld *world;
    must(talus_world_create(&def, &world));

    TalusShapeDef shapes[] = {{.kind = TALUS_SHAPE_PLANE},
                              {.kind = TALUS_SHAPE_BOX, .half = {0.1, 0.1, 0.1}}};
    TalusBodyBatch floor = talus_body_batch_default(), boxes = talus_body_batch_default();
    must(talus_world_add_shape(world, &shapes[0], &floor.shape));
    must(talus_world_add_shape(world, &shapes[1], &boxes.shape));

    TalusVec3 at[11] = {{0.0, 0.0, 0.0}}; /* the floor, then the boxes */
    for (int i = 1; i <= 10; i++)
        at[i] = talus_vec3(0.0, 0.0, 0.25 * i);
    floor.fixed = true, floor.count = 1, floor.position = &at[0];
    boxes.count = 10, boxes.position = &at[1];
    must(talus_world_add_bodies(world, &floor, NULL));
    must(talus_world_add_bodies(world, &boxes, NULL));

    TalusStepInfo info;
    do
        must(talus_world_step(world, &info));
    while (info.time < 2.0);

    TalusBodyState state = {.position = at}; /* in the order of adding; any array may be left out */
    talus_world_get_state(world, &state);
    printf("t = %g s, %lld contacts, residual %.1e m/s; the top box is at z = %.4f m\n", info.time,
           (long long)info.contacts, info.solve.residual.rms, at[10].z);
    talus_world_destroy(world);
    return 0;
}

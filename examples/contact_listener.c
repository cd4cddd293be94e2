/* contact_listener.c - a program that hears of contacts: three balls drop onto a floor and onto each other, and each touch is told.
 *
 *     cc -std=c17 contact_listener.c $(pkg-config --cflags --libs talus) -o contact_listener
 *     ./contact_listener */
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
    TalusWorldDef def = talus_world_def_default();
    TalusWorld *world;
    TalusWatch *watch;
    must(talus_world_create(&def, &world));
    must(talus_watch_create(&watch));

    TalusShapeDef shapes[] = {{.kind = TALUS_SHAPE_PLANE},
                              {.kind = TALUS_SHAPE_SPHERE, .radius = 0.05}};
    TalusBodyBatch floor = talus_body_batch_default(), balls = talus_body_batch_default();
    must(talus_world_add_shape(world, &shapes[0], &floor.shape));
    must(talus_world_add_shape(world, &shapes[1], &balls.shape));
    TalusVec3 origin = {0.0, 0.0, 0.0};
    TalusVec3 at[3] = {{0.0, 0.0, 0.1}, {0.01, 0.0, 0.4}, {-0.01, 0.005, 0.7}};
    static const char *name[3] = {"lowest", "middle", "highest"};
    TalusBodyId id[3];
    floor.fixed = true, floor.count = 1, floor.position = &origin;
    balls.count = 3, balls.position = at;
    must(talus_world_add_bodies(world, &floor, NULL));
    must(talus_world_add_bodies(world, &balls, id));
    for (int i = 0; i < 3; i++)
        must(talus_world_set_user(world, id[i], (void *)name[i]));

    int begun = 0, ended = 0;
    while (talus_world_time(world) < 2.0) {
        const TalusContactEvent *event;
        int64_t count;
        must(talus_world_step(world, NULL));
        must(talus_watch_update(watch, world, &event, &count));
        for (int64_t i = 0; i < count; i++) {
            const char *a = talus_world_get_user(world, event[i].state.a);
            const char *b = talus_world_get_user(world, event[i].state.b);
            begun += event[i].change == TALUS_CONTACT_BEGINS;
            ended += event[i].change == TALUS_CONTACT_ENDS;
            if (event[i].change != TALUS_CONTACT_PERSISTS)
                printf("%.3f s: %s and %s %s\n", talus_world_time(world), a ? a : "the floor",
                       b ? b : "the floor",
                       event[i].change == TALUS_CONTACT_BEGINS ? "touch" : "part");
        }
    }
    printf("%d contacts have begun and %d have ended; %d are left\n", begun, ended, begun - ended);
    talus_watch_destroy(watch);
    talus_world_destroy(world);
    return 0;
}

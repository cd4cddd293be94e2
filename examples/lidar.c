/* lidar.c - rays over gravel: a bed of stones settles, and a scanner above it measures its height along lines.
 *
 *     cc -std=c17 lidar.c $(pkg-config --cflags --libs talus) -o lidar
 *     ./lidar */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <talus/talus.h>

enum { STONES = 6 * 6 * 3, LINES = 40, POINTS = 40 };

static void must(TalusStatus status)
{
    if (status == TALUS_OK)
        return;
    fprintf(stderr, "%s: %s\n", talus_status_name(status), talus_error());
    exit(1);
}

/* A floor and four walls, 0.36 m apart; the solid half space of a plane lies below its own z axis. */
static void add_box(TalusWorld *world)
{
    static const double h = 0.70710678118654752; /* turns of a quarter */
    TalusQuat turn[5] = {{1, 0, 0, 0}, {h, 0, h, 0}, {h, 0, -h, 0}, {h, -h, 0, 0}, {h, h, 0, 0}};
    TalusVec3 at[5] = {{0, 0, 0}, {-0.18, 0, 0}, {0.18, 0, 0}, {0, -0.18, 0}, {0, 0.18, 0}};
    TalusShapeDef plane = {.kind = TALUS_SHAPE_PLANE};
    TalusBodyBatch walls = talus_body_batch_default();
    must(talus_world_add_shape(world, &plane, &walls.shape));
    walls.fixed = true, walls.count = 5, walls.position = at, walls.orientation = turn;
    must(talus_world_add_bodies(world, &walls, NULL));
}

static void add_stones(TalusWorld *world)
{
    static const TalusVec3 corner[] = {{0.02, 0.0, 0.0},   {-0.02, 0.004, 0.0}, {0.0, 0.025, 0.003},
                                       {0.003, -0.025, 0}, {0.0, 0.0, 0.018},   {0.0, 0.002, -0.016}};
    TalusShapeDef stone = {.kind = TALUS_SHAPE_HULL, .vertex = corner, .vertex_count = 6};
    TalusBodyBatch batch = talus_body_batch_default();
    TalusVec3 at[STONES];
    must(talus_world_add_shape(world, &stone, &batch.shape));
    for (int i = 0; i < STONES; i++)
        at[i] = talus_vec3(0.058 * (i % 6) - 0.145, 0.058 * (i / 6 % 6) - 0.145,
                           0.05 + 0.055 * (i / 36));
    batch.count = STONES, batch.position = at, batch.density = 2600.0;
    must(talus_world_add_bodies(world, &batch, NULL));
}

int main(void)
{
    TalusWorldDef def = talus_world_def_default();
    TalusWorld *world;
    must(talus_world_create(&def, &world));
    add_box(world);
    add_stones(world);
    while (talus_world_time(world) < 0.6)
        must(talus_world_step(world, NULL));

    /* the scanner turns about the y axis, 0.5 m above the middle, and sees the stones alone */
    static TalusRay ray[LINES * POINTS];
    static TalusHit hit[LINES * POINTS];
    for (int i = 0; i < LINES * POINTS; i++) {
        const double x = 0.3 * (i % POINTS) / (POINTS - 1) - 0.15;
        const double y = 0.3 * (i / POINTS) / (LINES - 1) - 0.15;
        ray[i].from = talus_vec3(0.0, y, 0.5);
        ray[i].direction = talus_vec3(x, 0.0, -0.5);
        ray[i].length = 2.0;
    }
    TalusQueryFilter stones = talus_query_filter_default();
    stones.fixed = false;
    must(talus_world_cast(world, &stones, ray, LINES * POINTS, hit));

    int hits = 0;
    double sum = 0.0, highest = 0.0;
    for (int i = 0; i < LINES * POINTS; i++)
        if (hit[i].body.number) {
            hits++;
            sum += hit[i].point.z;
            highest = fmax(highest, hit[i].point.z);
        }
    printf("%d of %d rays meet a stone; the bed is %.1f mm high on average and %.1f mm at most\n",
           hits, LINES * POINTS, 1e3 * sum / hits, 1e3 * highest);
    talus_world_destroy(world);
    return 0;
}

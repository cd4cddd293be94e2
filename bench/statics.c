/* bench/statics.c - how far the bodies of a scene that should stand still move.
 *
 *     talus_bench_statics SCENE SECONDS [SIZE [NAME=VALUE ...]]
 *
 * Runs the scene and prints one line: moving bodies, steps, the largest distance of any point of a body from
 * where it began over SIZE (a length, 1 by default), then the same at each tenth of the way, iterations a step,
 * steps that missed the tolerance, the deepest overlap and milliseconds a step. */
#include "base/memory.h"
#include "base/timer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <talus/talus.h>

static void must(TalusStatus status)
{
    if (status == TALUS_OK)
        return;
    fprintf(stderr, "talus_bench_statics: %s\n", talus_error());
    exit(1);
}

typedef struct Poses {
    int64_t count;
    TalusVec3 *position;
    TalusQuat *orientation;
    double *radius;
    bool *fixed;
} Poses;

static Poses read_poses(const TalusWorld *world)
{
    Poses p = {.count = talus_world_body_count(world)};
    must(TALUS_ALLOC(p.position, (size_t)p.count, "places"));
    must(TALUS_ALLOC(p.orientation, (size_t)p.count, "turns"));
    must(TALUS_ALLOC(p.radius, (size_t)p.count, "radii"));
    must(TALUS_ALLOC(p.fixed, (size_t)p.count, "kinds"));
    TalusBodyState state = {
        .position = p.position, .orientation = p.orientation, .radius = p.radius, .fixed = p.fixed};
    talus_world_get_state(world, &state);
    return p;
}

static void free_poses(Poses *p)
{
    talus_release(p->position);
    talus_release(p->orientation);
    talus_release(p->radius);
    talus_release(p->fixed);
}

/* A bound of how far any point of the body has moved: its centre, and its farthest point by the turn,
 * 2 r sin(angle / 2). */
static double moved(const Poses *a, const Poses *b, int i)
{
    TalusVec3 d = talus_sub(b->position[i], a->position[i]);
    TalusQuat p = a->orientation[i], q = b->orientation[i];
    TalusVec3 turn = {p.w * q.x - p.x * q.w - p.y * q.z + p.z * q.y,
                      p.w * q.y - p.y * q.w - p.z * q.x + p.x * q.z,
                      p.w * q.z - p.z * q.w - p.x * q.y + p.y * q.x};
    return sqrt(talus_dot(d, d)) + 2.0 * a->radius[i] * sqrt(talus_dot(turn, turn));
}

static double drift(const TalusWorld *world, const Poses *start)
{
    Poses now = read_poses(world);
    double most = 0.0;
    for (int64_t i = 0; i < start->count && i < now.count; i++)
        if (!now.fixed[i])
            most = fmax(most, moved(start, &now, i));
    free_poses(&now);
    return most;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: talus_bench_statics SCENE SECONDS [SIZE [NAME=VALUE ...]]\n");
        return 2;
    }
    double seconds = atof(argv[2]), size = argc > 3 ? atof(argv[3]) : 1.0;
    TalusScene *scene = NULL;
    TalusWorld *world = NULL;
    must(talus_scene_load(argv[1], (const char *const *)argv + 4, argc > 4 ? argc - 4 : 0, &scene));
    TalusSceneChoice choice = {.threads = 1};
    must(talus_scene_build(scene, &choice, &world));
    Poses start = read_poses(world);
    int64_t steps = (int64_t)round(seconds / talus_world_step_length(world)), missed = 0, sum = 0;
    double deepest = 0.0, tenth[10] = {0.0}, begin = talus_now();
    int64_t contacts = 0;
    for (int64_t k = 1; k <= steps; k++) {
        TalusStepInfo info;
        must(talus_world_step(world, &info));
        missed += info.missed;
        sum += info.solve.iterations;
        contacts = info.contacts;
        deepest = fmax(deepest, info.penetration_max);
        if (k * 10 / steps != (k - 1) * 10 / steps)
            tenth[k * 10 / steps - 1] = drift(world, &start) / size;
    }
    double wall = talus_now() - begin;
    printf("%-12s bodies %lld contacts %lld steps %lld drift", talus_scene_title(scene),
           (long long)start.count, (long long)contacts, (long long)steps);
    for (int i = 0; i < 10; i++)
        printf(" %.2e", tenth[i]);
    printf("  iterations %.1f  missed %lld  overlap %.1e  ms %.3f\n", (double)sum / (double)steps,
           (long long)missed, deepest, 1e3 * wall / (double)steps);
    free_poses(&start);
    talus_world_destroy(world);
    talus_scene_destroy(scene);
    return 0;
}

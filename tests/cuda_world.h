/* Worlds on the cuda backend beside the same worlds on the host. Both are solved so tightly that what
 * differs is rounding, which collisions then enlarge step by step. */
#ifndef TALUS_TEST_CUDA_WORLD_H
#define TALUS_TEST_CUDA_WORLD_H

#include "test_world_scene.h"

#include "backend/backend.h"

#include <stdio.h>

enum { MOST = 4000 };

static const double tight = 1e-12; /* of the reference speed */

/* A world's state, read as a caller would. */
typedef struct State {
    int count;
    TalusVec3 x[MOST], v[MOST], w[MOST];
    TalusQuat e[MOST];
} State;

static State host_state, cuda_state; /* static: they are large */

static inline void read_state(const TalusWorld *world, State *s)
{
    TalusBodyState arrays = {.position = s->x, .velocity = s->v, .spin = s->w, .orientation = s->e};
    s->count = talus_world_body_count(world);
    if (CHECK(s->count <= MOST))
        talus_world_get_state(world, &arrays);
}

static inline double distance(TalusVec3 a, TalusVec3 b)
{
    return talus_norm(talus_sub(a, b));
}

/* The largest differences of positions and velocities between the two, positions over `length`,
 * velocities and surface speeds over the reference speed or the fastest body's. */
static inline void differences(const TalusWorld *host, const TalusWorld *cuda, double length,
                               double *dx, double *dv)
{
    const State *a = &host_state, *b = &cuda_state;
    double fast = host->reference_speed;
    read_state(host, &host_state);
    read_state(cuda, &cuda_state);
    *dx = *dv = INFINITY;
    if (!CHECK_INT(a->count, b->count))
        return;
    *dx = *dv = 0.0;
    for (int i = 0; i < a->count; i++)
        fast = fmax(fast, talus_norm(a->v[i]));
    for (int i = 0; i < a->count; i++) {
        double turned = fabs(a->e[i].w - b->e[i].w) + fabs(a->e[i].x - b->e[i].x) +
                        fabs(a->e[i].y - b->e[i].y) + fabs(a->e[i].z - b->e[i].z);
        *dx = fmax(*dx, fmax(distance(a->x[i], b->x[i]) / length, turned));
        *dv = fmax(*dv, distance(a->v[i], b->v[i]) / fast);
        *dv = fmax(*dv, length * distance(a->w[i], b->w[i]) / fast);
    }
}

static inline void make_tight(TalusWorld *world)
{
    CHECK_OK(talus_world_set_accuracy(world, tight, 100000));
}

/* The world as it is, on another backend. */
static inline TalusWorld *moved_to(const TalusWorld *world, const char *backend)
{
    void *bytes;
    size_t size;
    TalusWorld *out = NULL;
    if (CHECK_OK(talus_world_save(world, &bytes, &size))) {
        CHECK_OK(talus_world_load(bytes, size, 1, backend, &out));
        talus_free(bytes);
    }
    return out;
}

/* Forces and torques within `accuracy` of what weighs on the heaviest probe. */
static inline void compare_probes(const TalusWorld *host, const TalusWorld *cuda, double accuracy)
{
    double weight = 0.0;
    for (int i = 0; i < talus_world_probe_count(host); i++)
        weight = fmax(weight, 9.81 * talus_world_probe_value(host, i).mass);
    for (int i = 0; i < talus_world_probe_count(host); i++) {
        TalusProbeValue p = talus_world_probe_value(host, i), q = talus_world_probe_value(cuda, i);
        double force = fmax(talus_norm(p.force), weight), speed = 1.0;
        CHECK(distance(p.force, q.force) <= accuracy * force);
        CHECK(distance(p.torque, q.torque) <= accuracy * force * 1.0);
        CHECK(distance(p.momentum, q.momentum) <= accuracy * speed * fmax(p.mass, 1.0));
        CHECK_INT(p.bodies, q.bodies);
        CHECK(fabs(p.mass - q.mass) <= 1e-12 * fabs(p.mass));
        CHECK_INT(p.total_bodies, q.total_bodies);
    }
}

/* False where there is no such backend: the test is to end with 77. */
static inline bool have_cuda(void)
{
    test_backend = "cuda";
    if (talus_backend_find("cuda"))
        return true;
    printf("skipped: %s\n", talus_error());
    return false;
}

#endif

/* backend/cpu/sweep_chaotic.c - sweeps in chaotic order, negrut-2009's update on a GPU: each thread takes contacts one
 * after the other, with the velocities of their bodies that it happens to see.
 *
 * Changes of velocities are added by atomic operations, so that none is lost; the six numbers of a velocity may come
 * from different moments. With more than one thread results are not repeatable; with one the impulses of a sweep are
 * those of the order forward. */
#include "backend/cpu/sweep.h"

#include <math.h>

/* Contacts that a thread takes at a time. */
enum { CHAOTIC_GRAIN = 64 };

/* Adds to a number that other threads change at the same time. */
KERNEL void add_shared(double *number, double change)
{
    double seen, next;
    __atomic_load(number, &seen, __ATOMIC_RELAXED);
    do
        next = seen + change;
    while (
        !__atomic_compare_exchange(number, &seen, &next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

/* Returns a copy of the velocity record of a body, which other threads may be changing. */
KERNEL const double *body_velocity(const TalusSweep *sweep, int body, double copy[8])
{
    for (int k = 0; k < 8; k++)
        __atomic_load(&sweep->velocity[body][k], &copy[k], __ATOMIC_RELAXED);
    return copy;
}

/* Applies the impulse sign * dp at `arm` (over l) to a body. */
KERNEL void add_impulse(TalusSweep *sweep, int body, double sign, const double arm[3],
                        const double dp[3])
{
    double *v = sweep->velocity[body];
    double change[8] = {[3] = v[3], [7] = v[7]}; /* masses, which are constant */
    talus_body_add_impulse(sweep->op, body, sign, arm, dp, change);
    for (int k = 0; k < 7; k++)
        if (k != 3 && change[k] != 0.0)
            add_shared(&v[k], change[k]);
}

/* Returns the unit of speeds, m/s. */
KERNEL double speed_unit(const TalusSweep *sweep)
{
    (void)sweep;
    return 1.0;
}

#define Real double
#include "backend/cpu/sweep_items.h"

typedef struct ChaoticLoop {
    TalusSweep *sweep;
    double change2; /* sum of the squared velocity changes */
} ChaoticLoop;

static void chaotic_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    ChaoticLoop *loop = context;
    TalusSweep *sweep = loop->sweep;
    double sum = 0.0;
    (void)chunk;
    for (int64_t i = begin; i < end; i++) {
        double u[3], dp[3];
        item_velocity(sweep, &sweep->item[i], u);
        step_item(&sweep->item[i], sweep->options.rho, u, dp);
        apply_change(sweep, &sweep->item[i], dp);
        sum += item_change2(sweep, &sweep->item[i], dp);
    }
    add_shared(&loop->change2, sum);
}

double talus_sweep_chaotic(TalusSweep *sweep)
{
    ChaoticLoop loop = {sweep, 0.0};
    talus_parallel(sweep->op->pool, sweep->op->blocks, CHAOTIC_GRAIN, chaotic_chunk, &loop);
    return loop.change2;
}

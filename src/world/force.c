/* world/force.c - forces and torques that the user applies to bodies.
 *
 * They enter the free velocities: v_f = v + h g + h f / m and w_f = w + h I^-1 t. The ledger has their work
 * along the motion, h f'v' + h t'w', as `applied`; what lies between that and their work on velocities,
 * h f'(v + v_f)/2 + h t'(w + w_f)/2, is of first order in h and joins that of gravity in `gravity_error`. */
#include "world/internal.h"

TalusStatus talus_forces_reserve(TalusWorld *world, size_t slots)
{
    TalusForces *f = &world->forces;
    size_t have = (size_t)f->count;
    TALUS_TRY(TALUS_RESERVE(f->force, f->force_capacity, slots, have, "applied forces"));
    return TALUS_RESERVE(f->torque, f->torque_capacity, slots, have, "applied forces");
}

TalusStatus talus_slot_push(TalusWorld *world, int slot, TalusVec3 force, TalusVec3 torque)
{
    TalusForces *f = &world->forces;
    TalusVec3 zero = {0.0, 0.0, 0.0};
    if (slot >= f->count) {
        if (talus_norm(force) == 0.0 && talus_norm(torque) == 0.0)
            return TALUS_OK;
        TALUS_TRY(talus_forces_reserve(world, (size_t)slot + 1));
        for (; f->count <= slot; f->count++)
            f->force[f->count] = f->torque[f->count] = zero;
    }
    f->force[slot] = force;
    f->torque[slot] = torque;
    world->mirror.forces_ahead = world->engine != NULL;
    return TALUS_OK;
}

TalusStatus talus_world_set_force(TalusWorld *world, TalusBodyId id, TalusVec3 force,
                                  TalusVec3 torque)
{
    int slot = talus_slot_of(world, id);
    if (slot < 0)
        return talus_no_such_body(id);
    if (!talus_slot_loose(&world->bodies, slot))
        return talus_fail(TALUS_ERR_ARGUMENT, "body %u does not move freely: no force acts on it",
                          id.index);
    if (!isfinite(talus_norm(force)) || !isfinite(talus_norm(torque)))
        return talus_fail(TALUS_ERR_ARGUMENT, "body %u: the force is not finite", id.index);
    talus_slot_wake(world, slot);
    return talus_slot_push(world, slot, force, torque);
}

typedef struct ForceContext {
    TalusWorld *world;
    const double (*free)[8], (*solved)[8];
    const double *length;
    double h;
} ForceContext;

/* Partials: work on velocities less that of the linear part, which integrate.c has in gravity's; work along
 * the motion. */
static void sum_works(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const ForceContext *c = context;
    const TalusBodies *b = &c->world->bodies;
    double turning = 0.0, applied = 0.0;
    for (int64_t i = begin; i < end; i++) {
        if (!talus_slot_moves(b, (int)i))
            continue;
        const double *f = c->free[i], *v = c->solved[i];
        double per_length = 1.0 / c->length[i];
        TalusVec3 force = c->world->forces.force[i], torque = c->world->forces.torque[i];
        TalusVec3 both = talus_madd(b->spin[i], per_length, talus_vec3(f[4], f[5], f[6]));
        turning += 0.5 * c->h * talus_dot(torque, both);
        applied += c->h * talus_dot(force, talus_vec3(v[0], v[1], v[2])) +
                   c->h * per_length * talus_dot(torque, talus_vec3(v[4], v[5], v[6]));
    }
    c->world->partial[chunk][0] = turning;
    c->world->partial[chunk][1] = applied;
}

void talus_forces_ledger(TalusWorld *world, double h)
{
    int count = world->forces.count;
    if (count == 0)
        return;
    ForceContext c = {
        .world = world,
        .free = (const double(*)[8])talus_problem_operator(world->problem)->body,
        .solved = world->solved,
        .length = talus_problem_lengths(world->problem),
        .h = h,
    };
    double sum[2];
    talus_parallel(world->pool, count, TALUS_GRAIN, sum_works, &c);
    talus_sum_partials(world, count, 2, sum);
    world->info.ledger.applied += sum[1];
    world->info.ledger.gravity_error += sum[0] - sum[1];
}

void talus_forces_clear(TalusWorld *world)
{
    talus_release(world->forces.force);
    talus_release(world->forces.torque);
    world->forces = (TalusForces){0};
}

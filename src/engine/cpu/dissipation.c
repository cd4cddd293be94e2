/* engine/cpu/dissipation.c - energy that contacts dissipate, summed body by body.
 *
 * In a step, or a part of it, a contact with impulse gamma dissipates
 *     minus gamma' (u + u')/2, less the elastic energy that it stores,
 * u and u' being its velocities before and after. The ledger (ledger.c) has the free velocities u_f in the place of u, which
 * contain gravity and loads: so a contact that carries a body at rest does a work there, of the order h, that gravity_error
 * takes back. With u it does none, and over all contacts of a step without joints, loads and cohesion
 *     sum of losses = -(friction + impact + stabilisation + gravity_error) + sum over bodies of m h g' (v - v')/2,
 * where the last term does not grow from step to step: it adds up to the first velocities less the last ones. The
 * speed that undoes an overlap gives energy back, so that a loss may be below 0.
 *
 * A body gets all of the loss at contacts with bodies that impulses do not move and half of that at others, in the order
 * of its contacts, which depends on ids alone. */
#include "engine/cpu/engine.h"

#include <string.h>

TalusStatus cpu_reserve_dissipation(CpuEngine *e)
{
    if (!e->bodies.dissipated)
        return TALUS_OK;
    TALUS_TRY(TALUS_GROW(e->mean_motion, (size_t)e->bodies.slots, 0, "dissipated energies"));
    return TALUS_GROW(e->loss, (size_t)e->contacts->count, 0, "dissipated energies");
}

/* Fills the records of a chunk of slots; those of bodies that are not free are the problem's. */
static void average_motion(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    CpuEngine *e = context;
    const TalusOperator *op = talus_problem_operator(e->problem);
    const double *length = talus_problem_lengths(e->problem);
    (void)chunk;
    for (int64_t i = begin; i < end; i++) {
        double *mean = e->mean_motion[i];
        memcpy(mean, op->body[i], sizeof *e->mean_motion);
        if (!cpu_is_free(e, i))
            continue;
        const TalusVec3 v = e->bodies.velocity[i], s = talus_scale(length[i], e->bodies.spin[i]);
        const double old[8] = {v.x, v.y, v.z, 0.0, s.x, s.y, s.z, 0.0};
        for (int j = 0; j < 7; j++)
            if (j != 3)
                mean[j] = 0.5 * (old[j] + e->solved[i][j]);
    }
}

void cpu_average_motion(CpuEngine *e)
{
    const int bodies = talus_problem_operator(e->problem)->bodies;
    talus_parallel(e->pool, bodies, CPU_GRAIN, average_motion, e);
}

/* Returns the contact of an entry of op->incidence, which may be a part of a joint. */
static int block_of(const TalusOperator *op, int32_t entry)
{
    const int record = entry >> 1, spheres = op->sphere_sphere + op->sphere_fixed;
    return record < spheres ? record : spheres + (record - spheres) / 2;
}

/* Returns the losses of a body's contacts that are its own. */
static double sum_losses(const CpuEngine *e, const TalusOperator *op, int64_t body)
{
    double sum = 0.0;
    for (int k = op->incidence_start[body]; k < op->incidence_start[body + 1]; k++) {
        const int i = block_of(op, op->incidence[k]), side = op->incidence[k] & 1;
        if (i < e->contacts->count)
            sum += talus_body_yields(op, op->pair[i][1 - side]) ? 0.5 * e->loss[i] : e->loss[i];
    }
    return sum;
}

static void add_losses(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    CpuEngine *e = context;
    const TalusOperator *op = talus_problem_operator(e->problem);
    (void)chunk;
    for (int64_t i = begin; i < end; i++)
        if (cpu_is_moved_here(e, i))
            e->bodies.dissipated[i] += sum_losses(e, op, i);
}

void cpu_add_losses(CpuEngine *e)
{
    const int bodies = talus_problem_operator(e->problem)->bodies;
    talus_parallel(e->pool, bodies, CPU_GRAIN, add_losses, e);
}

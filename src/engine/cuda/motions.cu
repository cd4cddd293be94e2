/* engine/cuda/motions.cu - the velocities and spins that detection uses; on several ranks those of other ranks' bodies
 * after a solve, which come by way of the host. */
#include "backend/cuda/device/reduce.h"
#include "backend/cuda/ops/operator.h"
#include "engine/cuda/material.h"

extern "C" {
#include "engine/body.h"
}

/* ---- velocities ---- */

/* Writes to out[slots] the free velocities or, if `solved` is not NULL, the solved ones
 * (cu_write_detection_motions); `given`: out has them already. change: h times gravity. Totals 0 and 1 are those of
 * cu_write_detection_motions. */
static __global__ void write_velocities(CuTallies tallies, double *totals, CuBodies b,
                                        TalusVec3 change, double h, const CuRecord *solved,
                                        const int32_t *problem_index, bool given, TalusVec3 *out)
{
    sum_items<0, 2>(tallies, totals, 0, b.slots, -HUGE_VAL, [&](int64_t i, double(&v)[2]) {
        TalusVec3 u = talus_vec3(0.0, 0.0, 0.0);
        if (cu_is_free(b.shape, b.mobility, i)) {
            if (given) {
                u = out[i];
            } else if (solved) {
                double r[4];
                load_packs<4>(solved[problem_index[i]], r);
                u = talus_vec3(r[0], r[1], r[2]);
            } else {
                u = talus_add(b.velocity[i], change);
                if (i < b.force_count)
                    u = talus_madd(u, h / b.mass[i], b.force[i]);
            }
            if (talus_state_fault(b.position[i], u, b.spin[i]) != 0.0)
                v[0] = -(double)i;
            v[1] = -b.size[i];
        } else if (given) {
            return;
        } else if (cu_is_driven(b, i)) {
            u = b.velocity[i];
        }
        out[i] = u;
    });
}

/* Writes the solved spins of free bodies, and the spins of the others, by slot. */
static __global__ void write_spins(CuBodies b, const CuRecord *solved, const int32_t *problem_index,
                                   TalusVec3 *out)
{
    int64_t i = item_index();
    if (i >= b.slots)
        return;
    TalusVec3 spin = b.spin[i];
    if (cu_is_free(b.shape, b.mobility, i)) {
        const double *r = solved[problem_index[i]];
        spin = talus_scale(1.0 / cu_body_length(b, i), talus_vec3(r[4], r[5], r[6]));
    }
    out[i] = spin;
}

/* Writes e->solved_spin and makes it e->detection_spin. */
static TalusStatus write_solved_spins(TalusEngine *e)
{
    TALUS_TRY(e->solved_spin.reserve(e->bodies.slots, "solved velocities"));
    launch(e->cu, write_spins, blocks_for(e->bodies.slots), THREADS, e->bodies,
           cu_solved_records(e), cu_current_list(e)->problem_index.at, e->solved_spin.at);
    e->detection_spin = e->solved_spin;
    return TALUS_OK;
}

/* Uploads the solved motions that the host has. */
static TalusStatus put_motions(TalusEngine *e)
{
    const int slots = e->bodies.slots;
    TALUS_TRY(cu_upload(e, &e->solved_velocity, e->motions.velocity, slots, "solved velocities"));
    return cu_upload(e, &e->solved_spin, e->motions.spin, slots, "solved velocities");
}

TalusStatus cu_write_detection_motions(TalusEngine *e, double h, TalusVec3 gravity, bool again)
{
    CuArray<TalusVec3> *to = again ? &e->solved_velocity : &e->free_velocity;
    const bool given = again && e->motions_stored;
    int slots = e->bodies.slots;
    TALUS_TRY(to->reserve(slots, again ? "solved velocities" : "free velocities"));
    if (given)
        TALUS_TRY(put_motions(e));
    launch_own_sums(e->cu, write_velocities, slots, e->cu->totals, e->bodies,
                    talus_scale(h, gravity), h, again ? cu_solved_records(e) : nullptr,
                    cu_current_list(e)->problem_index.at, given, to->at);
    e->detection_velocity = to->at;
    e->detection_spin = given ? e->solved_spin : e->bodies.spin;
    return again && !given ? write_solved_spins(e) : TALUS_OK;
}

/* ---- solved motions of all ranks ---- */

/* Enlarges the host's arrays of solved motions to all slots. */
static TalusStatus reserve_motions(TalusEngine *e)
{
    TalusSolvedMotions *m = &e->motions;
    const size_t slots = (size_t)e->bodies.slots, own = (size_t)e->bodies.own;
    const size_t had = TALUS_CAPACITY(m->changed), kept = had < own ? had : own;
    TALUS_TRY(TALUS_GROW(m->velocity, slots, kept, "solved velocities"));
    TALUS_TRY(TALUS_GROW(m->spin, slots, kept, "solved velocities"));
    return TALUS_GROW(m->changed, slots, kept, "solved velocities");
}

TalusStatus cu_engine_store_motions(TalusEngine *e, double limit)
{
    const TalusVec3 *used = e->detection_velocity;
    const size_t own = (size_t)e->bodies.own;
    (void)limit; /* all bodies are searched */
    e->motions_stored = false;
    TALUS_TRY(reserve_motions(e));
    TalusStatus status =
        cu_write_detection_motions(e, e->step.options.h, talus_vec3(0.0, 0.0, 0.0), true);
    e->detection_velocity = used;
    TALUS_TRY(status);
    cu_get(e->cu, e->motions.velocity, e->solved_velocity, own * sizeof *e->motions.velocity);
    cu_get(e->cu, e->motions.spin, e->solved_spin, own * sizeof *e->motions.spin);
    memset(e->motions.changed, 1, own);
    e->motions_stored = true;
    return cu_check(e->cu);
}

TalusStatus cu_engine_solved_motions(TalusEngine *e, TalusSolvedMotions *out)
{
    TALUS_TRY(reserve_motions(e));
    *out = e->motions;
    return TALUS_OK;
}

void cu_motions_clear(TalusEngine *e)
{
    for (void *array :
         {(void *)e->motions.velocity, (void *)e->motions.spin, (void *)e->motions.changed})
        talus_release(array);
}

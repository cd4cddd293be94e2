/* engine/cuda/motions.cu - the velocities and spins that detection uses; on several ranks those of other ranks' bodies
 * after a solve come from there (exchange.cu). */
#include "backend/cuda/device/reduce.h"
#include "backend/cuda/ops/operator.h"
#include "engine/cuda/exchange.h"
#include "engine/cuda/material.h"

extern "C" {
#include "engine/body.h"
}

/* ---- velocities ---- */

/* Returns the free velocity of a free body. change: h times gravity. */
static __device__ inline TalusVec3 free_velocity_of(const CuBodies &b, TalusVec3 change, double h,
                                                    int64_t i)
{
    const TalusVec3 u = talus_add(b.velocity[i], change);
    return i < b.force_count ? talus_madd(u, h / b.mass[i], b.force[i]) : u;
}

/* Writes to out[slots] the free velocities or, if `solved` is not NULL, the solved ones
 * (cu_write_detection_motions), those of bodies that have joined the halo since the detection, in slots from `listed` on, being
 * free ones; `given`: out has them already, those of the halo included. change: h times gravity.
 * Totals 0 and 1 are those of cu_write_detection_motions. */
static __global__ void write_velocities(CuTallies tallies, double *totals, CuBodies b,
                                        TalusVec3 change, double h, const CuRecord *solved,
                                        const int32_t *problem_index, int listed, bool given,
                                        TalusVec3 *out)
{
    sum_items<0, 2>(tallies, totals, 0, b.slots, -HUGE_VAL, [&](int64_t i, double(&v)[2]) {
        TalusVec3 u = talus_vec3(0.0, 0.0, 0.0);
        if (cu_is_free(b.shape, b.mobility, i)) {
            if (given) {
                u = out[i];
            } else if (solved && i < listed) {
                double r[4];
                load_packs<4>(solved[problem_index[i]], r);
                u = talus_vec3(r[0], r[1], r[2]);
            } else {
                u = free_velocity_of(b, change, h, i);
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

/* Writes the free velocities of the halo's free bodies. */
static __global__ void write_halo_velocities(CuBodies b, TalusVec3 change, double h, TalusVec3 *out)
{
    const int64_t i = b.own + item_index();
    if (i < b.slots && cu_is_free(b.shape, b.mobility, i))
        out[i] = free_velocity_of(b, change, h, i);
}

/* Adds the free velocities of bodies that have joined the halo since the detection: the problem needs them after another
 * detection. */
static TalusStatus widen_free_velocities(TalusEngine *e)
{
    const bool solved = cu_detects_solved(e);
    const int own = e->bodies.own;
    TALUS_TRY(cu_grow(e, &e->free_velocity, e->bodies.slots, own, "free velocities"));
    launch(e->cu, write_halo_velocities, blocks_for(e->bodies.slots - own), THREADS, e->bodies,
           e->free_change, e->free_h, e->free_velocity.at);
    cu_detect_with(e, solved);
    return TALUS_OK;
}

/* Writes the solved spins of free bodies in slots below `listed`, and the spins of the others, by slot. */
static __global__ void write_spins(CuBodies b, const CuRecord *solved, const int32_t *problem_index,
                                   int listed, TalusVec3 *out)
{
    int64_t i = item_index();
    if (i >= b.slots)
        return;
    TalusVec3 spin = b.spin[i];
    if (i < listed && cu_is_free(b.shape, b.mobility, i)) {
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
           cu_solved_records(e), cu_current_list(e)->problem_index.at, cu_current_list(e)->slots,
           e->solved_spin.at);
    e->detection_spin = e->solved_spin;
    return TALUS_OK;
}

TalusStatus cu_write_detection_motions(TalusEngine *e, double h, TalusVec3 gravity, bool again)
{
    CuArray<TalusVec3> *to = again ? &e->solved_velocity : &e->free_velocity;
    const bool given = again && e->motions_stored;
    int slots = e->bodies.slots;
    TALUS_TRY(to->reserve(slots, again ? "solved velocities" : "free velocities"));
    if (given)
        TALUS_TRY(widen_free_velocities(e));
    if (!again) {
        e->free_change = talus_scale(h, gravity);
        e->free_h = h;
    }
    launch_own_sums(e->cu, write_velocities, slots, e->cu->totals, e->bodies,
                    talus_scale(h, gravity), h, again ? cu_solved_records(e) : nullptr,
                    cu_current_list(e)->problem_index.at, cu_current_list(e)->slots, given, to->at);
    e->detection_velocity = to->at;
    e->detection_spin = given ? e->solved_spin : e->bodies.spin;
    return again && !given ? write_solved_spins(e) : TALUS_OK;
}

/* ---- solved motions of all ranks ---- */

/* Returns how many elements a larger array keeps: those of own bodies, as far as there are any. Arrays of small elements have
 * room for more of them. */
static size_t count_kept(const TalusEngine *e, size_t capacity)
{
    const size_t own = (size_t)e->bodies.own;
    return capacity < own ? capacity : own;
}

/* Enlarges the host's arrays of solved motions to all slots. */
static TalusStatus reserve_motions(TalusEngine *e)
{
    TalusSolvedMotions *m = &e->motions;
    const size_t slots = (size_t)e->bodies.slots;
    TALUS_TRY(TALUS_GROW(m->velocity, slots, count_kept(e, TALUS_CAPACITY(m->velocity)),
                         "solved velocities"));
    TALUS_TRY(
        TALUS_GROW(m->spin, slots, count_kept(e, TALUS_CAPACITY(m->spin)), "solved velocities"));
    return TALUS_GROW(m->changed, slots, count_kept(e, TALUS_CAPACITY(m->changed)),
                      "solved velocities");
}

TalusStatus cu_engine_store_motions(TalusEngine *e, double limit)
{
    const bool solved = cu_detects_solved(e);
    (void)limit; /* all bodies are searched */
    e->motions_stored = false;
    TalusStatus status =
        cu_write_detection_motions(e, e->step.options.h, talus_vec3(0.0, 0.0, 0.0), true);
    cu_detect_with(e, solved);
    TALUS_TRY(status);
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

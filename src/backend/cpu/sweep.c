/* backend/cpu/sweep.c - Gauss-Seidel sweeps over contacts (negrut-2009, Algorithm 1, step 4).
 *
 * Each contact in turn gets the impulse gamma + rho (gamma' - gamma) with gamma' = P(gamma - omega B^-1 g), g = u +
 * bias + E gamma, u from the current velocities of the bodies, and P the projection in the metric B. The change of the
 * impulse is applied to the bodies at once; only heavy contacts (colour.h) change together. B = diag(b_n, b_t, b_t),
 * see StepRule. For spheres with omega 1 and the anisotropic metric, B is the contact's whole block of N + E, so that
 * the step solves the contact's own problem exactly. With options.coulomb P first makes n >= 0, then shortens t to mu
 * n. */
#include "backend/cpu/sweep.h"

#include "backend/cpu/sphere_lanes.h"
#include "backend/part.h"
#include "base/memory.h"
#include "base/status.h"

#include <math.h>

/* ---- two sphere contacts ---- */

/* u = contact velocities of a pack, world frame. The records of a and b are combined before the transposition into
 * lanes, which halves the number of shuffles. */
KERNEL void write_velocity(const SpherePack *pack, const double (*velocity)[8], bool fixed,
                           Lane u[3])
{
    const int32_t pair[2][2] = {{pack->a[0], pack->b[0]}, {pack->a[1], pack->b[1]}};
    Lane spin[3];
    lanes_relative_motion(velocity, pair, fixed, u, spin);
    lanes_subtract_spin_velocity(pack->normal, spin, u);
}

/* Returns the normal velocities with bias and compliance; u without these, gamma_n the normal impulses. */
KERNEL Lane opening(const SpherePack *pack, const Lane u[3], Lane gamma_n)
{
    return lane_dot(pack->normal, u) + pack->bias + pack->compliance * gamma_n;
}

/* Adds sign times (impulse p, torque t) to a velocity record v; p and t are {x, y}, {z, 0}. */
KERNEL void change_record(double *v, double sign, const Lane p[2], const Lane t[2])
{
    Lane pz = lane_load(v + 2), tz = lane_load(v + 6);
    Lane inv_mass = sign * lane_high(pz, pz), k = lane_high(tz, tz);
    lane_store(v, lane_load(v) + inv_mass * p[0]);
    lane_store(v + 2, pz + inv_mass * p[1]);
    lane_store(v + 4, lane_load(v + 4) - k * t[0]);
    lane_store(v + 6, tz - k * t[1]);
}

/* Applies the changes dp of the impulses of a pack to its bodies: -dp to a, dp to b. */
KERNEL void change_velocities(const SpherePack *pack, bool fixed, const Lane dp[3],
                              double (*velocity)[8])
{
    const Lane zero = lane(0.0);
    Lane turn[3];
    lane_cross(pack->normal, dp, turn);
    const Lane p[LANES][2] = {{lane_low(dp[0], dp[1]), lane_low(dp[2], zero)},
                              {lane_high(dp[0], dp[1]), lane_high(dp[2], zero)}};
    const Lane t[LANES][2] = {{lane_low(turn[0], turn[1]), lane_low(turn[2], zero)},
                              {lane_high(turn[0], turn[1]), lane_high(turn[2], zero)}};
    for (int k = 0; k < LANES; k++) {
        change_record(velocity[pack->a[k]], -1.0, p[k], t[k]);
        if (!fixed)
            change_record(velocity[pack->b[k]], 1.0, p[k], t[k]);
    }
}

/* ---- bodies of one contact ---- */

/* Returns the velocity record of a body. */
KERNEL const double *body_velocity(const TalusSweep *sweep, int body, double copy[8])
{
    (void)copy;
    return sweep->velocity[body];
}

/* Applies the impulse sign * dp at `arm` (over l) to a body. */
KERNEL void add_impulse(TalusSweep *sweep, int body, double sign, const double arm[3],
                        const double dp[3])
{
    talus_body_add_impulse(sweep->op, body, sign, arm, dp, sweep->velocity[body]);
}

/* Returns the unit of speeds, m/s. */
KERNEL double speed_unit(const TalusSweep *sweep)
{
    (void)sweep;
    return 1.0;
}

#define Real double
#define Vector Lane
#define Bits Mask
#define WIDTH LANES
#define SMALLEST2 TINY2
#define OP(name) lane_##name
#define OP_SPREAD(a) lane(a)
#define Pack SpherePack
#define ARRAYS(sweep) (sweep)
#define SLIP(sweep) ((const Lane(*)[3])(sweep)->slip)
#include "backend/cpu/sweep_loops.h"

/* Does one sweep in sequence. Returns the sum of the squared velocity changes; of a symmetric sweep, that of its
 * backward half alone. */
static double sweep_in_sequence(TalusSweep *sweep)
{
    double sum = 0.0, term;
    if (sweep->options.order == TALUS_ORDER_RANDOM)
        talus_sweep_shuffle(sweep);
    for (int i = 0; i < sweep->op->blocks; i++) {
        sweep_items(sweep, &sweep->item[sweep->order[i]], 1, 0.0, &term);
        sum += term;
    }
    if (sweep->options.order != TALUS_ORDER_SYMMETRIC)
        return sum;
    sum = 0.0;
    for (int i = sweep->op->blocks - 1; i >= 0; i--) {
        sweep_items(sweep, &sweep->item[sweep->order[i]], 1, 0.0, &term);
        sum += term;
    }
    return sum;
}

/* ---- the contract ---- */

static TalusStatus reserve_sweep(TalusSweep **sweep)
{
    return *sweep ? TALUS_OK : TALUS_ALLOC(*sweep, 1, "sweep plan");
}

TalusStatus talus_cpu_sweep_prepare(const TalusOperator *op, const TalusSweepOptions *options,
                                    const double *gamma, TalusSweep **sweep)
{
    if (options->order == TALUS_ORDER_CHAOTIC && !op->pair)
        return talus_fail(TALUS_ERR_UNSUPPORTED,
                          "gs: order=chaotic works on the velocities of bodies, and this problem "
                          "is a matrix without bodies; use order=coloured");
    if (options->order == TALUS_ORDER_CHAOTIC && op->mixed_sets)
        return talus_fail(TALUS_ERR_UNSUPPORTED,
                          "gs: order=chaotic knows circular cones alone, and this problem has "
                          "other sets; use order=coloured");
    if (op->halo && options->order != TALUS_ORDER_COLOURED)
        return talus_fail(TALUS_ERR_UNSUPPORTED,
                          "gs: this rank has a part of the problem, which order=coloured alone "
                          "sweeps");
    TALUS_TRY(talus_comm_agree(talus_operator_comm(op), reserve_sweep(sweep)));
    (*sweep)->op = op;
    (*sweep)->options = *options;
    (*sweep)->ended = NULL;
    (*sweep)->packed = false;
    (*sweep)->is_single = false;
    (*sweep)->rng = talus_rng_from_seed(options->seed);
    if (op->pair) {
        (*sweep)->velocity = op->scratch->velocity;
        talus_cpu_op_body_velocities(op, gamma, true, op->scratch->velocity);
    }
    if (options->local != TALUS_ONE_PROJECT)
        return talus_sweep_prepare_local(*sweep, gamma);
    return talus_sweep_is_by_block(*sweep) ? talus_sweep_prepare_by_block(*sweep, gamma)
                                           : talus_sweep_fill_items(*sweep, gamma);
}

/* Does one sweep in single precision; the next one is in double precision if this one came near the rounding of floats.
 * Returns the sum of the squared velocity changes. */
static double sweep_in_single(TalusSweep *sweep)
{
    double change2 = talus_single_sweep(sweep);
    sweep->ended = NULL;
    if (talus_single_is_spent(sweep, change2))
        talus_sweep_widen(sweep);
    return change2;
}

/* Does one sweep. First recomputes the velocities if other operations may have overwritten them (sweep->ended).
 * Returns the sum of the squared velocity changes. */
static double sweep_once(TalusSweep *sweep)
{
    double largest;
    if (sweep->is_single)
        return sweep_in_single(sweep);
    if (sweep->op->pair && sweep->ended)
        talus_cpu_op_body_velocities(sweep->op, sweep->ended, true, sweep->velocity);
    sweep->ended = NULL;
    if (talus_sweep_is_by_block(sweep))
        return talus_sweep_run_by_block(sweep);
    return sweep->options.order == TALUS_ORDER_COLOURED  ? sweep_colours(sweep, &largest)
           : sweep->options.order == TALUS_ORDER_CHAOTIC ? talus_sweep_chaotic(sweep)
                                                         : sweep_in_sequence(sweep);
}

double talus_cpu_sweep_run(TalusSweep *sweep, int sweeps)
{
    double change2 = 0.0;
    for (int k = 0; k < sweeps; k++)
        change2 = sweep_once(sweep);
    return change2;
}

void talus_cpu_sweep_get_impulses(TalusSweep *sweep, double *gamma)
{
    sweep->ended = gamma;
    if (talus_sweep_is_by_block(sweep))
        memcpy(gamma, sweep->gamma,
               (size_t)sweep->op->blocks * (size_t)sweep->op->rows * sizeof *gamma);
    else
        talus_sweep_read_items(sweep, gamma);
}

void talus_cpu_sweep_destroy(TalusSweep *sweep)
{
    if (!sweep)
        return;
    talus_colouring_clear(&sweep->colouring);
    talus_sweep_part_destroy(sweep->part);
    TALUS_RELEASE(sweep->term, sweep->partial, sweep->pack, sweep->slip_store, sweep->item,
                  sweep->change, sweep->split, sweep->order, sweep->gamma, sweep->local,
                  sweep->single.velocity, sweep->single.arms, sweep->single.inertia, sweep);
}

/* engine/cuda/integrate.cu - after a solve: solved velocities, how much they have changed, the energy ledger, and the
 * state at the end of the step. The counterpart of engine/cpu/integrate.c and ledger.c, with the formulas of
 * engine/body.h and contact_terms.h.
 *
 * Bodies and contacts change only if every solved velocity leads to a finite state. Later kernels read the result of
 * this check on the device, so that the host waits once, for the sums of all kernels. */
#include "backend/cuda/device/reduce.h"
#include "backend/cuda/ops/operator.h"
#include "engine/cuda/material.h"

extern "C" {
#include "collide/period.h"
#include "engine/body.h"
#include "engine/overlap.h"
}

/* ---- velocity changes ---- */

/* Total 0: number of free bodies whose solved velocity differs from seen[slot], the velocity that detection used, by
 * more than sqrt(limit2). */
static __global__ void count_velocity_changes(CuTallies tallies, double *totals, CuBodies b,
                                              const TalusVec3 *seen, const CuRecord *solved,
                                              const int32_t *problem_index, double limit2)
{
    sum_items<1, 0>(tallies, totals, 0, b.own, 0.0, [&](int64_t i, double(&v)[1]) {
        if (!cu_is_free(b.shape, b.mobility, i))
            return;
        double r[4];
        load_packs<4>(solved[problem_index[i]], r);
        TalusVec3 change = talus_sub(talus_vec3(r[0], r[1], r[2]), seen[i]);
        v[0] = talus_dot(change, change) > limit2;
    });
}

/* Total 0: largest ratio, over contacts with relative compliance, of the overlap after the step to its limit; 0:
 * none. */
static __global__ void find_largest_strain(CuTallies tallies, double *totals, CuLawInputs f,
                                           TalusOperator op, const double *gamma)
{
    const TalusBuildOptions &o = f.options;
    sum_items<0, 1>(tallies, totals, 0, f.list.counts.contacts, 0.0, [&](int64_t i, double(&v)[1]) {
        const TalusLaw *law = cu_contact_law(f, i);
        if (law->stiffness > 0.0 || op.compliance[i] == 0.0)
            return;
        double size = cu_contact_size(f, i);
        TalusHardening s = talus_hardening(&op, i, law, &o, f.list.gap[i], size, f.list.impulse[i]);
        v[0] = larger(v[0],
                      talus_contact_overlap_ratio(&o, &s, f.list.gap[i], size, gamma[op.rows * i]));
    });
}

TalusStatus cu_engine_compute_velocities(TalusEngine *e, double limit, bool *changed,
                                         double *overlap_ratio)
{
    const TalusOperator *op = &e->step.op;
    double found[2] = {0.0, 0.0};
    cu_op_body_velocities(op, e->step.gamma, true, (double(*)[8])cu_solved_records(e));
    e->motions_stored = false;
    launch_body_sums(e->cu, count_velocity_changes, e->bodies.own, e->cu->totals, e->bodies,
                     e->detection_velocity, cu_solved_records(e),
                     cu_current_list(e)->problem_index.at, limit * limit);
    bool soft = e->step.options.compliance > 0.0;
    if (soft)
        launch_sums(e->cu, find_largest_strain, op->blocks, e->cu->totals + 1, cu_law_inputs(e),
                    *op, e->step.gamma.at);
    cu_totals_get(e->cu, soft ? 2 : 1, found);
    *changed = found[0] > 0.0;
    *overlap_ratio = found[1];
    return cu_check(e->cu);
}

/* ---- the end of the step ---- */

/* Indices in the context's totals at which the kernels below leave their sums. */
enum {
    FAULTS,        /* number of free bodies whose next state would not be finite */
    GRAVITY_WORK,  /* of gravity and applied forces on free bodies */
    CONTACT_WORKS, /* TALUS_WORK_SUMS numbers */
    OVERLAP = CONTACT_WORKS +
              TALUS_WORK_SUMS, /* of loaded contacts, overlap over size: sum, then maximum */
    MOTION_SUMS = OVERLAP + 2,
    DRIVEN_WORK = MOTION_SUMS + TALUS_BODY_SUMS,
    TORQUE_WORK,  /* of torques, by the mean of old and free spin */
    APPLIED_WORK, /* of forces and torques along the motion, by solved velocities */
    TOTALS
};
static_assert((int)TALUS_OVERLAP_BINS == (int)CU_COUNTS, "one count per bin");
static_assert((int)TOTALS <= (int)CU_PROBES && CU_PROBES + CU_PROBE_TOTALS < CU_TOTALS,
              "totals overlap");

/* Kernel argument: problem and result of a solved step. */
struct SolvedStep : CuLawInputs {
    TalusOperator op;
    const CuRecord *solved; /* cu_solved_records */
    const double *gamma;    /* solved impulses */
    double h;
    TalusVec3 gravity;
};

/* For each free body: counts in FAULTS those whose solved velocity leads to no finite state; sums in GRAVITY_WORK the
 * work of gravity and applied forces, m (v_f^2 - v^2)/2; overwrites the free velocity in the body's record by its mean
 * with the solved one, which finish_contacts needs. Other ranks' bodies only get the mean. */
static __global__ void check_and_average_velocities(CuTallies tallies, double *totals, SolvedStep m)
{
    const CuBodies &b = m.b;
    sum_items<2, 0>(tallies, totals + FAULTS, 0, m.list.slots, 0.0, [&](int64_t i, double(&v)[2]) {
        if (!cu_is_free(b.shape, b.mobility, i))
            return;
        int32_t problem_index = m.list.problem_index[i];
        double now[8], r[8];
        load_packs<8>(m.solved[problem_index], now);
        load_packs<8>(m.op.body[problem_index], r);
        TalusVec3 old = b.velocity[i], free = talus_vec3(r[0], r[1], r[2]);
        if (i < b.own) {
            v[0] += talus_motion_fault(b.position[i], m.h, b.radius[i], now) != 0.0;
            v[1] += 0.5 * b.mass[i] * talus_dot(talus_sub(free, old), talus_add(free, old));
        }
        for (int j = 0; j < 8; j++)
            r[j] = 0.5 * (r[j] + now[j]);
        store_packs<8>(r, m.op.body[problem_index]);
    });
}

/* Returns the offset by which the problem undoes the overlap of contact i; 0 without overlap. That is the contact's
 * bias, unless its law has restitution. rebounds: some law has restitution. */
static __device__ inline double recovery_offset(const SolvedStep &m, int64_t i, bool rebounds)
{
    double gap = m.list.gap[i];
    if (!(gap < 0.0))
        return 0.0;
    if (!rebounds)
        return m.op.bias[i];
    const TalusBuildOptions &o = m.options;
    return talus_contact_bias(cu_contact_law(m, i), o.h, o.recovery, o.gravity, gap,
                              cu_contact_size(m, i));
}

/* If contact i is elastic, adds its elastic energies to v. Returns the (negative) offset that undoes its overlap,
 * without the part that is elastic. */
static __device__ inline double add_elastic_energies(const SolvedStep &m, int64_t i, bool rebounds,
                                                     double *v)
{
    const TalusLaw *law = cu_contact_law(m, i);
    if (!m.op.compliance || !talus_is_elastic(&m.op, i, law, &m.options))
        return recovery_offset(m, i, rebounds);
    return talus_add_elastic_energy(&m.op, i, law, &m.options, m.list.gap[i], cu_contact_size(m, i),
                                    m.list.impulse[i], m.gamma[m.op.rows * i], v);
}

/* If contact i is loaded: counts it in the block's histogram of overlaps, adds its overlap over size to v[0] and raises
 * v[1] to it. */
static __device__ inline void add_overlap(const SolvedStep &m, int64_t i, uint32_t *count,
                                          double *v)
{
    double gap = m.list.gap[i], depth = 0.0;
    if (!(m.gamma[m.op.rows * i] > 0.0))
        return;
    if (gap < 0.0)
        depth = -gap / cu_contact_size(m, i);
    atomicAdd(&count[talus_overlap_bin(depth)], 1u);
    v[0] += depth;
    v[1] = larger(v[1], depth);
}

/* Adds the histogram of a block of threads to the context's counts, which are 0 before the kernel. All threads of the
 * block call it. */
static __device__ inline void add_block_counts(const uint32_t *count, uint32_t *counts)
{
    __syncthreads();
    for (unsigned k = threadIdx.x; k < TALUS_OVERLAP_BINS; k += blockDim.x)
        if (count[k])
            atomicAdd(&counts[k], count[k]);
}

/* Unless some body is counted in FAULTS: sums the works of the contacts, stores their impulses in the list, and counts
 * and sums the overlaps of loaded contacts. LAWS: some law has restitution or cohesion. */
template <bool LAWS>
static __global__ void finish_contacts(CuTallies tallies, double *totals, SolvedStep m,
                                       uint32_t *counts)
{
    __shared__ uint32_t count[TALUS_OVERLAP_BINS];
    if (totals[FAULTS] != 0.0)
        return;
    for (unsigned k = threadIdx.x; k < TALUS_OVERLAP_BINS; k += blockDim.x)
        count[k] = 0;
    __syncthreads();
    sum_items<TALUS_WORK_SUMS + 1, 1>(
        tallies, totals + CONTACT_WORKS, 0, m.list.counts.contacts, 0.0,
        [&](int64_t i, double(&v)[TALUS_WORK_SUMS + 2]) {
            double recovery = add_elastic_energies(m, i, LAWS && m.tables.restitution, v);
            if (!tallies.counted || tallies.counted[i])
                add_overlap(m, i, count, v + TALUS_WORK_SUMS);
            m.list.impulse[i] = talus_add_block_work(&m.op, m.gamma, i, recovery,
                                                     LAWS ? cu_attractive_impulse(m, i) : 0.0, v);
        });
    add_block_counts(count, counts);
}

/* ---- driven bodies and applied forces ---- */

/* Returns the work that b, if driven, does on a at contact i, J: minus the work of the contact on b. 0 if b is not
 * driven. */
static __device__ double driven_work(const SolvedStep &m, int64_t i)
{
    int2 pair = m.list.pair[i];
    if (pair.y < 0 || !cu_is_driven(m.b, m.list.slot_b[i]))
        return 0.0;
    TalusVec3 impulse = talus_block_impulse(&m.op, m.gamma, i), moment = {0.0, 0.0, 0.0};
    CuFrame f = m.list.frame[i];
    impulse = talus_madd(impulse, -cu_attractive_impulse(m, i), talus_vec3(f.x, f.y, f.z));
    if (m.op.rows == 6) {
        double t[3];
        talus_frame_to_world(m.op.frame[i], m.gamma + 6 * i + 3, t);
        moment = talus_vec3(t[0], t[1], t[2]);
    }
    return -talus_side_work(&m.op, i, 1, impulse, moment);
}

/* Sums the works of driven bodies on the others, over all general contacts; a driven body has no other contacts. */
static __global__ void sum_driven_works(CuTallies tallies, double *totals, SolvedStep m)
{
    int64_t first = m.op.sphere_sphere + m.op.sphere_fixed;
    sum_items<1, 0>(tallies, totals + DRIVEN_WORK, first, m.list.counts.contacts, 0.0,
                    [&](int64_t i, double(&v)[1]) { v[0] = driven_work(m, i); });
}

/* Sums the works of applied forces and torques, as cpu_force_works of engine/cpu/ledger.c. Runs before
 * check_and_average_velocities overwrites the free velocities. */
static __global__ void sum_applied_works(CuTallies tallies, double *totals, SolvedStep m)
{
    const CuBodies &b = m.b;
    sum_items<2, 0>(tallies, totals + TORQUE_WORK, 0, b.own, 0.0, [&](int64_t i, double(&v)[2]) {
        if (i >= b.force_count || !cu_is_free(b.shape, b.mobility, i))
            return;
        int32_t problem_index = m.list.problem_index[i];
        const double *f = m.op.body[problem_index], *now = m.solved[problem_index];
        double per_length = 1.0 / b.radius[i];
        TalusVec3 both = talus_madd(b.spin[i], per_length, talus_vec3(f[4], f[5], f[6]));
        v[0] += 0.5 * m.h * talus_dot(b.torque[i], both);
        v[1] += m.h * talus_dot(b.force[i], talus_vec3(now[0], now[1], now[2])) +
                m.h * per_length * talus_dot(b.torque[i], talus_vec3(now[4], now[5], now[6]));
    });
}

/* ---- motion ---- */

/* Moves free body i by the step, from its solved record, and adds its energies and works to sum[TALUS_BODY_SUMS]. */
static __device__ void move_body(const SolvedStep &m, int64_t i, double *sum)
{
    const CuBodies &b = m.b;
    int shape = b.shape[i];
    bool sphere = m.tables.shape[shape].def.kind == TALUS_SHAPE_SPHERE;
    TalusMotion motion = {b.position[i], b.velocity[i], b.spin[i], b.orientation[i]};
    double now[8];
    load_packs<8>(m.solved[m.list.problem_index[i]], now);
    talus_move_body(&motion, b.mass[i], b.radius[i], sphere ? nullptr : &m.tables.gyration[shape],
                    m.h, m.gravity, now, sum);
    b.position[i] = motion.position;
    b.velocity[i] = motion.velocity;
    b.spin[i] = motion.spin;
    b.orientation[i] = motion.orientation;
}

/* Moves all free bodies, unless some body is counted in FAULTS, and writes the totals MOTION_SUMS. */
static __global__ void move_bodies(CuTallies tallies, double *totals, SolvedStep m)
{
    if (totals[FAULTS] != 0.0)
        return;
    sum_items<TALUS_BODY_SUMS, 0>(tallies, totals + MOTION_SUMS, 0, m.b.own, 0.0,
                                  [&](int64_t i, double(&v)[TALUS_BODY_SUMS]) {
                                      if (cu_is_free(m.b.shape, m.b.mobility, i))
                                          move_body(m, i, v);
                                  });
}

/* Finds a free body whose speed (talus_record_speed) is not below 1e150. Total 0: minus the lowest such slot; -infinity
 * if there is none. */
static __global__ void find_fast_body(CuTallies tallies, double *totals, SolvedStep m)
{
    sum_items<0, 1>(tallies, totals, 0, m.b.own, -HUGE_VAL, [&](int64_t i, double(&v)[1]) {
        if (cu_is_free(m.b.shape, m.b.mobility, i) &&
            !(talus_record_speed(m.solved[m.list.problem_index[i]]) < 1e150))
            v[0] = -(double)i;
    });
}

/* Fails, with a message that names a body with too large a speed if there is one. */
static TalusStatus report_fault(TalusEngine *e, const SolvedStep &m, long long step)
{
    double slot;
    launch_own_sums(e->cu, find_fast_body, m.b.own, e->cu->totals, m);
    cu_totals_get(e->cu, 1, &slot);
    if (!(slot > -HUGE_VAL))
        return talus_fail(TALUS_ERR_NUMERIC, "step %lld: the next state would not be finite", step);
    int32_t problem_index;
    double record[8];
    cu_get(e->cu, &problem_index, m.list.problem_index + (int)-slot, sizeof problem_index);
    cu_get(e->cu, record, m.solved[problem_index], sizeof record);
    return talus_fail(TALUS_ERR_NUMERIC, "step %lld: the solve gave body %llu a speed of %g", step,
                      (unsigned long long)e->id[(int)-slot], talus_record_speed(record));
}

/* Fills the ledger from the totals and the counts of all kernels of a step. */
static void fill_ledger(bool driven, bool forces, const double *total, const uint32_t *counts,
                        TalusEngineLedger *ledger)
{
    *ledger = {};
    const double *work = total + CONTACT_WORKS, *motion = total + MOTION_SUMS;
    ledger->kinetic = motion[TALUS_BODY_KINETIC_END];
    ledger->potential = motion[TALUS_BODY_POTENTIAL_END];
    ledger->kinetic_change = motion[TALUS_BODY_KINETIC_CHANGE] + motion[TALUS_BODY_SPIN_CHANGE];
    ledger->potential_change = motion[TALUS_BODY_POTENTIAL_CHANGE];
    ledger->gravity_error = total[GRAVITY_WORK] + motion[TALUS_BODY_POTENTIAL_CHANGE];
    ledger->spin = motion[TALUS_BODY_SPIN_CHANGE];
    ledger->friction = work[TALUS_WORK_TANGENTIAL];
    ledger->stabilisation = work[TALUS_WORK_STABILISATION];
    ledger->elastic_start = work[TALUS_WORK_ELASTIC_START];
    ledger->elastic = work[TALUS_WORK_ELASTIC_END];
    ledger->impact = work[TALUS_WORK_NORMAL] - work[TALUS_WORK_STABILISATION] +
                     (ledger->elastic - ledger->elastic_start);
    ledger->cohesion = work[TALUS_WORK_COHESION];
    ledger->driven = driven ? total[DRIVEN_WORK] : 0.0;
    ledger->applied = forces ? total[APPLIED_WORK] : 0.0;
    if (forces)
        ledger->gravity_error += total[TORQUE_WORK] - total[APPLIED_WORK];
    int64_t overlaps[TALUS_OVERLAP_BINS];
    for (int k = 0; k < TALUS_OVERLAP_BINS; k++)
        overlaps[k] = counts[k];
    ledger->overlap = talus_overlap_summary(overlaps, total[OVERLAP], total[OVERLAP + 1]);
}

/* Replaces the numbers of loaded contacts by those of all ranks. */
static TalusStatus add_counts(TalusComm *comm, uint32_t *counts)
{
    int64_t all[CU_COUNTS];
    if (!comm)
        return TALUS_OK;
    for (int k = 0; k < CU_COUNTS; k++)
        all[k] = counts[k];
    TALUS_TRY(talus_comm_add_counts(comm, all, CU_COUNTS));
    for (int k = 0; k < CU_COUNTS; k++)
        counts[k] = (uint32_t)all[k];
    return TALUS_OK;
}

TalusStatus cu_engine_integrate(TalusEngine *e, double h, TalusVec3 gravity, long long step,
                                TalusEngineLedger *ledger)
{
    const TalusOperator *op = &e->step.op;
    SolvedStep m = {cu_law_inputs(e), *op, cu_solved_records(e), e->step.gamma.at, h, gravity};
    bool laws = e->tables.restitution || e->tables.cohesion;
    const int own = e->bodies.own;
    const bool forces = talus_comm_any(e->comm, e->bodies.force_count > 0);
    const bool driven = talus_comm_any(e->comm, e->bodies.driven);
    double total[CU_TOTALS], *totals = e->cu->totals;
    uint32_t counts[CU_COUNTS];
    if (e->tables.cohesion || e->joints.motor_changes)
        cu_fill_body_records(
            e); /* without attraction and motors, which the problem's free velocities contain */
    if (forces)
        launch_body_sums(e->cu, sum_applied_works, own, totals, m);
    launch_body_sums(e->cu, check_and_average_velocities, m.list.slots, totals, m);
    cu_zero(e->cu, e->cu->counts, sizeof counts);
    launch_sums(e->cu, laws ? finish_contacts<true> : finish_contacts<false>, op->blocks, totals, m,
                e->cu->counts);
    if (driven)
        launch_sums(e->cu, sum_driven_works, op->blocks, totals, m);
    launch_body_sums(e->cu, move_bodies, own, totals, m);
    cu_totals_and_counts_get(e->cu, total, counts);
    TALUS_TRY(add_counts(e->comm, counts));
    memcpy(e->downloaded_probes, total + CU_PROBES, sizeof e->downloaded_probes);
    e->probes_downloaded = true;
    TALUS_TRY(cu_check(e->cu));
    if (total[FAULTS] != 0.0)
        return report_fault(e, m, step);
    fill_ledger(driven, forces, total, counts, ledger);
    return TALUS_OK;
}

/* ---- periodic space ---- */

/* Moves free bodies that have left the period back into it; sums the change of their potential energy. */
static __global__ void wrap_bodies(CuTallies tallies, double *totals, CuBodies b,
                                   const TalusPeriod *period, TalusVec3 gravity)
{
    sum_items<1, 0>(tallies, totals, 0, b.own, 0.0, [&](int64_t i, double(&v)[1]) {
        if (cu_is_free(b.shape, b.mobility, i))
            v[0] = talus_wrap_body(period, b.mass[i], gravity, &b.position[i]);
    });
}

TalusStatus cu_engine_wrap_bodies(TalusEngine *e, TalusVec3 gravity, double *lifted)
{
    launch_body_sums(e->cu, wrap_bodies, e->bodies.own, e->cu->totals, e->bodies, e->period.at,
                     gravity);
    cu_totals_get(e->cu, 1, lifted);
    return cu_check(e->cu);
}

/* engine/cuda/joints.cu - blocks of joints, after the blocks of contacts, in the problem of a step.
 *
 * The host makes the blocks (world/joint/joint_transfer.c): they are few and need the poses of few bodies.
 * cu_engine_put_joints uploads them; in a build cu_joints_extend_operator, cu_joints_fill_blocks and
 * cu_joints_add_motors_and_impulses enter them into the problem; cu_engine_get_joint_results downloads the impulses.
 * Pairs and frames are copies of the list's, with those of the joints appended. The entries of a body in `incidence`
 * are those of its contacts, then those of its joints. In worlds without joints no kernel of this file runs. */
#include "backend/cuda/device/primitives.h"
#include "backend/cuda/ops/operator.h"
#include "engine/cuda/material.h"

int cu_joint_block_count(const TalusEngine *e)
{
    return e->joints.bounded + e->joints.free;
}

TalusStatus cu_engine_put_joints(TalusEngine *e, const TalusEngineJoints *from)
{
    CuJoints *j = &e->joints;
    j->bounded = j->free = j->motor_changes = 0;
    if (!from)
        return TALUS_OK;
    int blocks = from->bounded + from->free;
    TALUS_TRY(cu_upload(e, &j->block, from->block, blocks, "joint blocks"));
    TALUS_TRY(cu_upload(e, &j->motor_change, from->motor_change, from->motor_changes, "motors"));
    j->bounded = from->bounded;
    j->free = from->free;
    j->motor_changes = from->motor_changes;
    j->compliance = from->compliance;
    return cu_check(e->cu);
}

/* ---- each body's blocks ---- */

/* Kernel argument: incidence of contacts alone, and incidence of contacts and joints, made from it. */
struct IncidenceMerge {
    CuBodies b;
    const int32_t *problem_index; /* by slot */
    const TalusEngineJoint *block;
    int blocks, problem_bodies; /* numbers of joint blocks and of problem bodies */
    int contacts, compact;      /* number of contacts; of the first two runs */
    const int32_t *contact_start,
        *contact_incidence;     /* incidence_start and incidence of contacts alone */
    int32_t *start, *incidence; /* incidence_start and incidence of contacts and joints */
    uint32_t *ends_before; /* [problem_bodies + 1]: number of joint ends at all bodies before */
};

/* Returns the problem index of the body at joint end t = 2 k + side, of block k; -1 if impulses do not move that
 * body. */
static __device__ inline int32_t index_of_end(const IncidenceMerge &m, int64_t t)
{
    int32_t slot = m.block[t / 2].slot[t % 2];
    return slot >= 0 && cu_is_free(m.b.shape, m.b.mobility, slot) ? m.problem_index[slot] : -1;
}

/* ends_before[p] = number of joint ends at body p; a prefix sum then turns it into the number at all bodies before
 * p. */
static __global__ void count_joint_ends(IncidenceMerge m)
{
    int64_t t = item_index();
    int32_t problem_index = t < 2 * (int64_t)m.blocks ? index_of_end(m, t) : -1;
    if (problem_index >= 0)
        atomicAdd(&m.ends_before[problem_index], 1u);
}

/* Writes `start`, and copies the entries of each body's contacts to the body's new range, which has space for the
 * entries of its joints behind them. */
static __global__ void copy_contact_incidences(IncidenceMerge m)
{
    int64_t p = item_index();
    if (p > m.problem_bodies)
        return;
    m.start[p] = m.contact_start[p] + (int32_t)m.ends_before[p];
    for (int32_t k = m.contact_start[p]; p < m.problem_bodies && k < m.contact_start[p + 1]; k++)
        m.incidence[k + (int32_t)m.ends_before[p]] = m.contact_incidence[k];
}

/* Appends the joint ends, as incidences 2 * record + side, to the ranges of their bodies, in the order of blocks. Each
 * thread counts the ends before its own at the same body in one loop over all of them: joints are few. */
static __global__ void append_joint_incidences(IncidenceMerge m)
{
    int64_t t = item_index();
    int32_t problem_index = t < 2 * (int64_t)m.blocks ? index_of_end(m, t) : -1;
    if (problem_index < 0)
        return;
    int32_t at = m.contact_start[problem_index + 1] + (int32_t)m.ends_before[problem_index];
    for (int64_t before = 0; before < t; before++)
        at += index_of_end(m, before) == problem_index;
    int64_t general = m.contacts - m.compact + t / 2;
    m.incidence[at] = (int32_t)(2 * (m.compact + 2 * general + t % 2) + t % 2);
}

/* Makes incidence_start and incidence of contacts and joints, and sets the operator's pointers to them. */
static TalusStatus merge_incidences(TalusEngine *e)
{
    CuJoints *j = &e->joints;
    TalusOperator *op = &e->step.op;
    const CuList *list = cu_current_list(e);
    int64_t starts = (int64_t)op->bodies + 1;
    TALUS_TRY(j->start.reserve(starts, "body contacts"));
    TALUS_TRY(j->incidence.reserve(2 * (int64_t)op->blocks, "body contacts"));
    TALUS_TRY(j->ends_before.reserve(starts, "body contacts"));
    IncidenceMerge m = {e->bodies,
                        list->problem_index,
                        j->block,
                        cu_joint_block_count(e),
                        op->bodies,
                        (int)list->counts.contacts,
                        op->sphere_sphere + op->sphere_fixed,
                        op->incidence_start,
                        op->incidence,
                        j->start,
                        j->incidence,
                        j->ends_before};
    unsigned ends = blocks_for(2 * (int64_t)m.blocks);
    cu_zero(e->cu, m.ends_before, (size_t)starts * sizeof *m.ends_before);
    launch(e->cu, count_joint_ends, ends, THREADS, m);
    TALUS_TRY(cu_scan(e->cu, m.ends_before, m.ends_before, starts));
    launch(e->cu, copy_contact_incidences, blocks_for(starts), THREADS, m);
    launch(e->cu, append_joint_incidences, ends, THREADS, m);
    op->incidence_start = m.start;
    op->incidence = m.incidence;
    return TALUS_OK;
}

/* Writes the problem indices of the bodies of each joint block behind the pairs of contacts. */
static __global__ void write_joint_pairs(int blocks, const TalusEngineJoint *block,
                                         const int32_t *problem_index, int2 *pair)
{
    int64_t k = item_index();
    if (k >= blocks)
        return;
    const int32_t *slot = block[k].slot;
    pair[k] = make_int2(slot[0] < 0 ? -1 : problem_index[slot[0]],
                        slot[1] < 0 ? -1 : problem_index[slot[1]]);
}

TalusStatus cu_joints_extend_operator(TalusEngine *e)
{
    CuJoints *j = &e->joints;
    TalusOperator *op = &e->step.op;
    const CuList *list = cu_current_list(e);
    size_t contacts = (size_t)list->counts.contacts;
    op->joints = j->free;
    if (cu_joint_block_count(e) == 0)
        return TALUS_OK;
    TALUS_TRY(j->pair.reserve(op->blocks, "contacts"));
    TALUS_TRY(j->frame.reserve(op->blocks, "contacts"));
    cu_copy(e->cu, j->pair, list->pair, contacts * sizeof *j->pair.at);
    cu_copy(e->cu, j->frame, list->frame, contacts * sizeof *j->frame.at);
    launch(e->cu, write_joint_pairs, blocks_for(cu_joint_block_count(e)), THREADS,
           cu_joint_block_count(e), j->block.at, list->problem_index.at, j->pair + contacts);
    op->pair = (int32_t(*)[2])j->pair.at;
    op->frame = (double(*)[4])j->frame.at;
    return merge_incidences(e);
}

/* ---- blocks ---- */

/* Kernel argument: uploaded blocks of joints and motor changes, and the operator and gamma that they are written to. */
struct JointBlocks {
    TalusOperator op;
    const TalusEngineJoint *block;
    const TalusMotorChange *motor_change;
    const int32_t *problem_index;
    int first, count, motor_changes; /* first: index in the operator of the first joint block */
    double soften; /* TalusBuildOptions.soften, which limits of joints obey as contacts do */
    double *gamma; /* the problem's impulses */
};

/* Returns the argument for the current step. */
static JointBlocks joint_blocks(TalusEngine *e)
{
    const CuJoints *j = &e->joints;
    const CuList *list = cu_current_list(e);
    return JointBlocks{e->step.op,
                       j->block,
                       j->motor_change,
                       list->problem_index,
                       (int)list->counts.contacts,
                       cu_joint_block_count(e),
                       j->motor_changes,
                       e->step.options.soften,
                       e->step.gamma};
}

/* Writes each block of a joint to the operator, with its diagonal and with zero impulses. */
template <int ROWS> static __global__ void fill_joint_blocks(JointBlocks b)
{
    int64_t k = item_index();
    if (k >= b.count)
        return;
    const TalusOperator *op = &b.op;
    const TalusEngineJoint &from = b.block[k];
    int i = b.first + (int)k, general = i - op->sphere_sphere - op->sphere_fixed;
    for (int m = 0; m < 4; m++)
        op->frame[i][m] = from.frame[m];
    for (int m = 0; m < 6; m++)
        op->arm[general][m] = from.arm[m];
    op->bias[i] = from.bias;
    op->mu[i] = from.mu;
    op->model[i] = from.model;
    if (op->compliance)
        op->compliance[i] = from.compliance;
    for (int side = 0; ROWS == 6 && side < 2; side++) {
        op->moment_mu[i][side] = 0.0;
        op->lever[i][side] = from.lever[side];
    }
    for (int m = 0; m < op->rows; m++)
        b.gamma[(int64_t)op->rows * i + m] = 0.0;
    cu_fill_general_diagonal<ROWS>(op, i);
    if (b.soften > 0.0 && from.model.section != TALUS_SECTION_JOINT) { /* the limit of a joint */
        op->compliance[i] += b.soften * op->diagonal[i][0];
        cu_fill_general_diagonal<ROWS>(op, i);
    }
}

void cu_joints_fill_blocks(TalusEngine *e)
{
    bool turns = e->step.op.rows == 6;
    launch(e->cu, turns ? fill_joint_blocks<6> : fill_joint_blocks<3>,
           blocks_for(cu_joint_block_count(e)), THREADS, joint_blocks(e));
}

/* Writes the initial impulses of joints, in the first three rows of each block; moments stay 0. */
static __global__ void write_initial_impulses(JointBlocks b)
{
    int64_t k = item_index();
    if (k >= b.count)
        return;
    for (int m = 0; m < 3; m++)
        b.gamma[(int64_t)b.op.rows * (b.first + k) + m] = b.block[k].gamma[m];
}

/* Adds the changes by torque motors to the records of bodies; one thread, because two motors may act on one body. */
static __global__ void add_motor_changes(JointBlocks b)
{
    for (int k = 0; item_index() == 0 && k < b.motor_changes; k++) {
        double *record = b.op.body[b.problem_index[b.motor_change[k].slot]];
        for (int m = 0; m < 8; m++)
            record[m] += b.motor_change[k].change[m];
    }
}

void cu_joints_add_motors_and_impulses(TalusEngine *e)
{
    JointBlocks b = joint_blocks(e);
    if (b.motor_changes)
        launch(e->cu, add_motor_changes, 1, 1, b);
    launch(e->cu, write_initial_impulses, blocks_for(b.count), THREADS, b);
}

/* ---- download ---- */

/* out[3 k .. 3 k + 2] = impulses of the first three rows of joint block k. */
static __global__ void gather_joint_impulses(JointBlocks b, double *out)
{
    int64_t k = item_index();
    if (k >= b.count)
        return;
    for (int m = 0; m < 3; m++)
        out[3 * k + m] = b.gamma[(int64_t)b.op.rows * (b.first + k) + m];
}

/* out[k] = record in the problem, op->body, of the body in slot[k]. */
static __global__ void gather_body_records(JointBlocks b, const int32_t *slot, int count,
                                           CuRecord *out)
{
    int64_t k = item_index();
    if (k >= count)
        return;
    for (int m = 0; m < 8; m++)
        out[k][m] = b.op.body[b.problem_index[slot[k]]][m];
}

TalusStatus cu_engine_get_joint_results(TalusEngine *e, double *gamma, const int32_t *slot,
                                        double (*record)[8], int count)
{
    CuJoints *j = &e->joints;
    JointBlocks b = joint_blocks(e);
    size_t rows = 3 * (size_t)b.count;
    TALUS_TRY(j->impulse.reserve((int64_t)rows, "joint impulses"));
    TALUS_TRY(j->record.reserve(count, "states of bodies"));
    TALUS_TRY(cu_upload(e, &e->subset, slot, count, "states of bodies"));
    launch(e->cu, gather_joint_impulses, blocks_for(b.count), THREADS, b, j->impulse.at);
    cu_get(e->cu, gamma, j->impulse, rows * sizeof *gamma);
    if (count) {
        launch(e->cu, gather_body_records, blocks_for(count), THREADS, b, e->subset.at, count,
               j->record.at);
        cu_get(e->cu, record, j->record, (size_t)count * sizeof *record);
    }
    return cu_check(e->cu);
}

void cu_joints_clear(TalusEngine *e)
{
    CuJoints *j = &e->joints;
    cu_clear(j->block, j->motor_change, j->pair, j->frame, j->ends_before, j->start, j->incidence,
             j->impulse, j->record);
}

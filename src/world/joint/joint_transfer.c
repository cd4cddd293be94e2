/* world/joint/joint_transfer.c - transfers between joints, which the host computes, and the engine.
 *
 * The engine provides the states of jointed bodies. The host makes the blocks of joints and sums their works in a
 * problem of its own without contacts (exchange.problem), and projects the bodies. Each part of a step transfers some
 * hundred bytes per block and body; states of bodies only if the engine has memory of its own. */
#include "world/ids.h"
#include "world/state.h"

#include <stdlib.h>

/* ---- the bodies ---- */

static int compare_slots(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Lists the slots of jointed bodies, each once: moving ones in ascending order, then driven ones. */
static TalusStatus list_jointed_bodies(TalusWorld *world)
{
    TalusJointExchange *x = &world->joints.exchange;
    const TalusJoints *joints = &world->joints;
    size_t limit = TALUS_JOINT_BODIES * (size_t)joints->count;
    TALUS_TRY(TALUS_GROW(x->slot, limit, 0, "jointed bodies"));
    TALUS_TRY(TALUS_GROW(x->motion, limit, 0, "jointed bodies"));
    TALUS_TRY(TALUS_GROW(x->record, limit, 0, "jointed bodies"));
    x->moving = x->bodies = 0;
    for (int driven = 0; driven < 2; driven++) {
        int first = x->bodies, count = first;
        for (int i = 0; i < joints->count; i++) {
            const TalusJointDef *def = &joints->joint[i].def;
            const int bodies = talus_joint_lives(world, &joints->joint[i]) ? TALUS_JOINT_BODIES : 0;
            for (int k = 0; k < bodies; k++) {
                int slot = talus_ranks_slot_near(world, talus_joint_body(def, k));
                if (slot >= 0 && (driven ? talus_slot_is_driven(&world->bodies, slot)
                                         : talus_slot_is_free(&world->bodies, slot)))
                    x->slot[count++] = slot;
            }
        }
        if (count > first)
            qsort(x->slot + first, (size_t)(count - first), sizeof *x->slot, compare_slots);
        for (int i = first; i < count; i++)
            if (i == first || x->slot[i] != x->slot[i - 1])
                x->slot[x->bodies++] = x->slot[i];
        if (!driven)
            x->moving = x->bodies;
    }
    return TALUS_OK;
}

/* Driven bodies are not downloaded: the host computes their motion. */
TalusStatus talus_joints_download_bodies(TalusWorld *world)
{
    TalusJointExchange *x = &world->joints.exchange;
    if (x->moving == 0 || talus_world_shares_arrays(world))
        return TALUS_OK;
    TALUS_TRY(world->engine.ops->get_states(world->engine.self, x->slot, x->motion, x->moving));
    talus_bodies_scatter(&world->bodies, x->slot, x->moving, x->motion);
    return TALUS_OK;
}

/* Uploads the states of moving bodies with joints; no effect with a shared engine. */
static TalusStatus upload_states(TalusWorld *world)
{
    TalusJointExchange *x = &world->joints.exchange;
    if (x->moving == 0 || talus_world_shares_arrays(world))
        return TALUS_OK;
    talus_bodies_gather(&world->bodies, x->slot, x->moving, x->motion);
    return world->engine.ops->put_states(world->engine.self, x->slot, x->motion, x->moving);
}

/* ---- the blocks ---- */

/* Resizes exchange.problem and the staging arrays to the blocks of this part. */
static TalusStatus resize_exchange(TalusWorld *world)
{
    TalusJoints *joints = &world->joints;
    TalusJointExchange *x = &joints->exchange;
    int blocks = joints->bounded + joints->free;
    TalusProblemSizes sizes = {
        .bodies = world->bodies.counts.slots + world->ranks.halo,
        .general = blocks,
        .joints = joints->free,
        .rows = 3,
        .compliance = true,
        .models = true,
    };
    if (!x->problem)
        TALUS_TRY(talus_problem_create_empty(world->pool, &x->problem));
    TALUS_TRY(TALUS_GROW(x->block, (size_t)blocks, 0, "joint blocks"));
    TALUS_TRY(TALUS_GROW(x->motor_change, 2 * (size_t)joints->count, 0, "joint blocks"));
    return talus_problem_resize(x->problem, &sizes);
}

/* Sets lengths, and records with inverse masses and zero velocities, of jointed bodies. */
static void fill_bodies(TalusWorld *world)
{
    TalusJointExchange *x = &world->joints.exchange;
    const TalusBodies *b = &world->bodies;
    TalusOperator *op = talus_problem_operator(x->problem);
    double *length = talus_problem_lengths(x->problem);
    for (int k = 0; k < x->bodies; k++) {
        int i = x->slot[k];
        length[i] = b->radius[i] > 0.0 ? b->radius[i] : 1.0;
        for (int j = 0; j < 8; j++)
            op->body[i][j] = 0.0;
        op->body[i][3] = k < x->moving ? 1.0 / b->mass[i] : 0.0;
    }
}

/* Returns block k of exchange.problem in the engine's form. */
static TalusEngineJoint engine_block(const TalusWorld *world, int k)
{
    const TalusJointExchange *x = &world->joints.exchange;
    const TalusOperator *op = talus_problem_operator(x->problem);
    const double *length = talus_problem_lengths(x->problem),
                 *gamma = talus_problem_gamma(x->problem) + 3 * (size_t)k;
    double l = world->joints.joint[world->joints.block[k].joint].length;
    TalusEngineJoint out = {.bias = op->bias[k],
                            .mu = op->mu[k],
                            .compliance = op->compliance[k],
                            .gamma = {gamma[0], gamma[1], gamma[2]}};
    for (int side = 0; side < 2; side++) {
        int slot = op->pair[k][side];
        out.slot[side] = slot;
        out.lever[side] = slot < 0 ? 0.0 : l / length[slot];
    }
    for (int j = 0; j < 4; j++)
        out.frame[j] = op->frame[k][j];
    for (int j = 0; j < 6; j++)
        out.arm[j] = op->arm[k][j];
    if (op->model[k].section == TALUS_SECTION_JOINT) /* limits are half lines without a model */
        out.model = op->model[k];
    return out;
}

static TalusStatus upload_blocks(TalusWorld *world, double h)
{
    TalusJoints *joints = &world->joints;
    TalusJointExchange *x = &joints->exchange;
    TALUS_TRY(list_jointed_bodies(world));
    TALUS_TRY(talus_joints_download_bodies(world));
    TALUS_TRY(talus_joints_make_blocks(world, h));
    int blocks = joints->bounded + joints->free;
    if (blocks == 0 && !joints->any_torque_motor)
        return world->engine.ops->put_joints(world->engine.self, NULL);
    TALUS_TRY(resize_exchange(world));
    fill_bodies(world);
    talus_joints_fill_problem(world, world->build_options.impulse_ratio);
    for (int k = 0; k < blocks; k++)
        x->block[k] = engine_block(world, k);
    TalusEngineJoints all = {.block = x->block,
                             .bounded = joints->bounded,
                             .free = joints->free,
                             .compliance = joints->any_compliance,
                             .motor_change = x->motor_change,
                             .motor_changes =
                                 talus_joints_motor_changes(world, h, x->motor_change)};
    return world->engine.ops->put_joints(world->engine.self, &all);
}

TalusStatus talus_joints_upload(TalusWorld *world, double h)
{
    return talus_comm_agree(world->ranks.comm, upload_blocks(world, h));
}

/* ---- after a solve ---- */

/* Downloads the impulses of the blocks and, if `records`, the engine's records of jointed bodies into
 * exchange.problem. */
static TalusStatus download_solved(TalusWorld *world, bool records)
{
    TalusJointExchange *x = &world->joints.exchange;
    TalusOperator *op = talus_problem_operator(x->problem);
    int count = records ? x->bodies : 0;
    TALUS_TRY(world->engine.ops->get_joint_results(
        world->engine.self, talus_problem_gamma(x->problem), x->slot, x->record, count));
    for (int k = 0; k < count; k++)
        for (int j = 0; j < 8; j++)
            op->body[x->slot[k]][j] = x->record[k][j];
    return TALUS_OK;
}

/* True if joints act in this part of the step: by blocks or by torque motors. */
static bool has_blocks_or_motors(const TalusWorld *world)
{
    const TalusJoints *joints = &world->joints;
    return joints->bounded + joints->free > 0 || joints->any_torque_motor;
}

TalusStatus talus_joints_download_impulses(TalusWorld *world)
{
    if (!has_blocks_or_motors(world))
        return TALUS_OK;
    TALUS_TRY(download_solved(world, false));
    talus_joints_update_warm_starts(world);
    return TALUS_OK;
}

/* Sums the results of the joints' blocks, and projects the bodies, whose present states the host has. */
static TalusStatus finish_blocks(TalusWorld *world, double h)
{
    if (has_blocks_or_motors(world)) {
        TALUS_TRY(download_solved(world, true));
        world->info.ledger.joints += talus_joints_sum_results(world, h);
        talus_drives_add_joint_work(world);
    }
    TALUS_TRY(talus_joints_project(world, h));
    talus_joints_update_angles(world);
    return world->def.projection ? upload_states(world) : TALUS_OK;
}

TalusStatus talus_joints_finish_part(TalusWorld *world, double h)
{
    TalusComm *comm = world->ranks.comm;
    TALUS_TRY(talus_comm_agree(comm, talus_joints_download_bodies(world)));
    TALUS_TRY(talus_joints_renew_copies(world));
    return talus_comm_agree(comm, finish_blocks(world, h));
}

void talus_exchange_clear(TalusJointExchange *x)
{
    talus_problem_destroy(x->problem);
    TALUS_RELEASE(x->slot, x->own, x->motion, x->record, x->block, x->motor_change);
    *x = (TalusJointExchange){0};
}

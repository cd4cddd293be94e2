/* world/engine_joints.c - joints of a world that lives on an engine.
 *
 * They stay with the host: the engine gives the states of the bodies that they hold, the host makes their blocks
 * and counts their works in a problem of its own, the desk, which has no contacts, and projects positions. What
 * goes back and forth is some hundred bytes for each block and body, in each part of a step. */
#include "world/internal.h"

#include "backend/backend.h"

#include <stdlib.h>

static const TalusEngineOps *ops_of(const TalusWorld *world)
{
    return world->backend->engine;
}

/* ---- the bodies ---- */

static int by_slot(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Slots of the bodies that joints hold, those that move by themselves first, then driven ones. */
static TalusStatus list_bodies(TalusWorld *world)
{
    TalusDesk *desk = &world->joints.desk;
    const TalusJoints *joints = &world->joints;
    size_t most = 2 * (size_t)joints->living;
    TALUS_TRY(TALUS_RESERVE(desk->slot, desk->slot_capacity, most, 0, "jointed bodies"));
    TALUS_TRY(TALUS_RESERVE(desk->motion, desk->motion_capacity, most, 0, "jointed bodies"));
    TALUS_TRY(TALUS_RESERVE(desk->record, desk->record_capacity, most, 0, "jointed bodies"));
    desk->moving = desk->bodies = 0;
    for (int driven = 0; driven < 2; driven++) {
        int first = desk->bodies, count = first;
        for (int i = 0; i < joints->slots; i++) {
            const TalusJointDef *def = &joints->joint[i].def;
            const TalusBodyId id[2] = {def->a, def->b};
            for (int k = 0; k < 2 && talus_joint_lives(world, &joints->joint[i]); k++) {
                int slot = (int)id[k].index;
                if (id[k].generation && (driven ? talus_slot_driven(&world->bodies, slot)
                                                : talus_slot_moves(&world->bodies, slot)))
                    desk->slot[count++] = slot;
            }
        }
        if (count > first)
            qsort(desk->slot + first, (size_t)(count - first), sizeof *desk->slot, by_slot);
        for (int i = first; i < count; i++)
            if (i == first || desk->slot[i] != desk->slot[i - 1])
                desk->slot[desk->bodies++] = desk->slot[i];
        if (!driven)
            desk->moving = desk->bodies;
    }
    return TALUS_OK;
}

/* Driven ones are the host's own. */
TalusStatus talus_desk_fetch(TalusWorld *world)
{
    TalusDesk *desk = &world->joints.desk;
    TalusBodies *b = &world->bodies;
    if (desk->moving == 0)
        return TALUS_OK;
    TALUS_TRY(ops_of(world)->get_states(world->engine, desk->slot, desk->motion, desk->moving));
    for (int k = 0; k < desk->moving; k++) {
        int i = desk->slot[k];
        b->position[i] = desk->motion[k].position;
        b->velocity[i] = desk->motion[k].velocity;
        b->spin[i] = desk->motion[k].spin;
        b->orientation[i] = desk->motion[k].orientation;
    }
    return TALUS_OK;
}

static TalusStatus send_states(TalusWorld *world)
{
    TalusDesk *desk = &world->joints.desk;
    const TalusBodies *b = &world->bodies;
    if (desk->moving == 0)
        return TALUS_OK;
    for (int k = 0; k < desk->moving; k++) {
        int i = desk->slot[k];
        desk->motion[k] =
            (TalusMotion){b->position[i], b->velocity[i], b->spin[i], b->orientation[i]};
    }
    return ops_of(world)->put_states(world->engine, desk->slot, desk->motion, desk->moving);
}

/* ---- the blocks ---- */

static TalusStatus resize_desk(TalusWorld *world)
{
    TalusJoints *joints = &world->joints;
    TalusDesk *desk = &joints->desk;
    int blocks = joints->kept + joints->free;
    TalusProblemSizes sizes = {
        .bodies = world->bodies.counts.slots,
        .general = blocks,
        .joints = joints->free,
        .rows = 3,
        .compliance = true,
        .models = true,
    };
    if (!desk->problem)
        TALUS_TRY(talus_problem_create_empty(world->pool, &desk->problem));
    joints->at = desk->problem;
    TALUS_TRY(TALUS_RESERVE(desk->block, desk->block_capacity, (size_t)blocks, 0, "joint blocks"));
    TALUS_TRY(
        TALUS_RESERVE(desk->push, desk->push_capacity, (size_t)desk->moving, 0, "joint blocks"));
    return talus_problem_resize(desk->problem, &sizes);
}

/* Records at rest: what motors push them by is what they hold then. */
static void fill_bodies(TalusWorld *world)
{
    TalusDesk *desk = &world->joints.desk;
    const TalusBodies *b = &world->bodies;
    TalusOperator *op = talus_problem_operator(desk->problem);
    double *length = talus_problem_lengths(desk->problem);
    for (int k = 0; k < desk->bodies; k++) {
        int i = desk->slot[k];
        length[i] = b->radius[i] > 0.0 ? b->radius[i] : 1.0;
        for (int j = 0; j < 8; j++)
            op->body[i][j] = 0.0;
        op->body[i][3] = k < desk->moving ? 1.0 / b->mass[i] : 0.0;
    }
}

static TalusEngineJoint block_of(const TalusWorld *world, int k)
{
    const TalusDesk *desk = &world->joints.desk;
    const TalusOperator *op = talus_problem_operator(desk->problem);
    const double *length = talus_problem_lengths(desk->problem),
                 *gamma = talus_problem_gamma(desk->problem) + 3 * (size_t)k;
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

static int list_pushes(TalusWorld *world)
{
    TalusDesk *desk = &world->joints.desk;
    const TalusOperator *op = talus_problem_operator(desk->problem);
    int count = 0;
    for (int k = 0; world->joints.any_push && k < desk->moving; k++) {
        TalusEnginePush *push = &desk->push[count++];
        push->slot = desk->slot[k];
        for (int j = 0; j < 8; j++)
            push->change[j] = j % 4 == 3 ? 0.0 : op->body[push->slot][j];
    }
    return count;
}

TalusStatus talus_desk_send(TalusWorld *world, double h)
{
    TalusJoints *joints = &world->joints;
    TalusDesk *desk = &joints->desk;
    TALUS_TRY(list_bodies(world));
    TALUS_TRY(talus_desk_fetch(world));
    TALUS_TRY(talus_joints_prepare(world, h));
    int blocks = joints->kept + joints->free;
    if (blocks == 0 && !joints->any_push)
        return ops_of(world)->put_joints(world->engine, NULL);
    TALUS_TRY(resize_desk(world));
    fill_bodies(world);
    talus_joints_fill(world, 0);
    talus_joints_push(world, h);
    talus_joints_warm(world, 0, world->built.warm);
    for (int k = 0; k < blocks; k++)
        desk->block[k] = block_of(world, k);
    TalusEngineJoints all = {.block = desk->block,
                             .kept = joints->kept,
                             .free = joints->free,
                             .compliance = joints->any_compliance,
                             .push = desk->push,
                             .pushes = list_pushes(world)};
    return ops_of(world)->put_joints(world->engine, &all);
}

/* ---- after a solve ---- */

/* Impulses of the blocks and, if `records`, the velocities that the problem's bodies hold. */
static TalusStatus fetch_solved(TalusWorld *world, bool records)
{
    TalusDesk *desk = &world->joints.desk;
    TalusOperator *op = talus_problem_operator(desk->problem);
    int count = records ? desk->bodies : 0;
    TALUS_TRY(ops_of(world)->get_joints(world->engine, talus_problem_gamma(desk->problem),
                                        desk->slot, desk->record, count));
    for (int k = 0; k < count; k++)
        for (int j = 0; j < 8; j++)
            op->body[desk->slot[k]][j] = desk->record[k][j];
    return TALUS_OK;
}

static bool has_blocks(const TalusWorld *world)
{
    const TalusJoints *joints = &world->joints;
    return joints->kept + joints->free > 0 || joints->any_push;
}

TalusStatus talus_desk_store(TalusWorld *world)
{
    if (!has_blocks(world))
        return TALUS_OK;
    TALUS_TRY(fetch_solved(world, false));
    talus_joints_store(world, 0);
    return TALUS_OK;
}

TalusStatus talus_desk_close(TalusWorld *world, double h)
{
    if (has_blocks(world)) {
        TALUS_TRY(fetch_solved(world, true));
        world->info.ledger.joints += talus_joints_work(world, 0, h);
        talus_ledger_driven_joints(world);
    }
    TALUS_TRY(talus_desk_fetch(world));
    TALUS_TRY(talus_joints_project(world, h));
    talus_joints_moved(world);
    return world->def.projection ? send_states(world) : TALUS_OK;
}

void talus_desk_clear(TalusDesk *desk)
{
    talus_problem_destroy(desk->problem);
    talus_release(desk->slot);
    talus_release(desk->motion);
    talus_release(desk->record);
    talus_release(desk->block);
    talus_release(desk->push);
    *desk = (TalusDesk){0};
}

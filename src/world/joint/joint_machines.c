/* world/joint/joint_machines.c - machines (bodies connected by joints), and the convergence of their projection.
 *
 * A round of the projection leaves a fraction of a machine's largest error. If that fraction is at most max_ratio, the
 * machine gets another round; otherwise it falls back (joint_project.c), or counts as closed if the error before the
 * round was at most `rounding`. max_ratio is lower for machines that contacts push. The contact impulse on a body is
 * its total impulse in the step less the impulses of joints,
 *     m (v - v_free) - sum of joints' impulses,
 * which the host can compute for every engine without the contact list. */
#include "world/joint/joint_project.h"

const double talus_joint_closed = 1e-9;
/* fraction of the largest error that a round may leave: [0] without contacts that push the machine, [1] with */
static const double max_ratio[2] = {0.8, 0.1};
/* error over joint length that counts as closed where it falls no further */
static const double rounding = 1e-7;
/* largest contact impulse that does not count as a push, over ImpulseBalance.size */
static const double pushed = 1e-6;

/* ---- search ---- */

void talus_machines_find(TalusProjection *p)
{
    for (int r = 0; r < p->rows; r++)
        for (int side = 0; side < 2; side++)
            if (p->row[r].body[side] >= 0)
                p->root[p->row[r].body[side]] = -1;
    p->jointed_count = 0;
    for (int r = 0; r < p->rows; r++) {
        const int32_t *body = p->row[r].body;
        for (int side = 0; side < 2; side++)
            if (body[side] >= 0 && p->root[body[side]] < 0) {
                p->root[body[side]] = body[side];
                p->jointed[p->jointed_count++] = body[side];
            }
        if (body[0] >= 0 && body[1] >= 0)
            p->root[talus_slot_root(p->root, body[0])] = talus_slot_root(p->root, body[1]);
    }
    for (int i = 0; i < p->jointed_count; i++)
        p->root[p->jointed[i]] = talus_slot_root(p->root, p->jointed[i]);
}

/* ---- contacts ---- */

/* Subtracts a joint's impulse on the body in `slot` from the body's impulse balance. */
static void subtract_joint_impulse(TalusProjection *p, int slot, TalusVec3 impulse)
{
    if (slot < 0)
        return;
    p->balance[slot].rest = talus_sub(p->balance[slot].rest, impulse);
    p->balance[slot].size += talus_norm(impulse);
}

/* Returns the balance of a free body before joints are subtracted: the impulse m (v - v_free) of contacts and
 * joints. */
static ImpulseBalance total_impulse(const TalusWorld *world, int slot)
{
    const TalusBodies *b = &world->bodies;
    /* mean of v_free and v */
    const double *mean = talus_problem_operator(world->joints.exchange.problem)->body[slot];
    TalusVec3 half = talus_sub(b->velocity[slot], talus_vec3(mean[0], mean[1], mean[2]));
    TalusVec3 all = talus_scale(2.0 * b->mass[slot], half);
    return (ImpulseBalance){all, talus_norm(all)};
}

/* Sets `balance` of all bodies with joints, and contact_pushed of the machines in which contacts push a body. */
static void find_contact_pushes(const TalusWorld *world, TalusProjection *p)
{
    const TalusJoints *joints = &world->joints;
    int blocks = joints->bounded + joints->free;
    for (int k = 0; k < blocks; k++)
        for (int side = 0; side < 2; side++)
            if (joints->block[k].slot[side] >= 0)
                p->balance[joints->block[k].slot[side]] = (ImpulseBalance){{0.0, 0.0, 0.0}, 0.0};
    for (int i = 0; i < p->jointed_count; i++)
        p->balance[p->jointed[i]] = total_impulse(world, p->jointed[i]);
    for (int k = 0; k < blocks; k++) {
        const TalusJointBlock *block = &joints->block[k];
        TalusVec3 impulse = joints->joint[block->joint].warm_start.impulse[block->part];
        subtract_joint_impulse(p, block->slot[0], talus_neg(impulse));
        subtract_joint_impulse(p, block->slot[1], impulse);
    }
    for (int i = 0; i < p->jointed_count; i++) {
        const ImpulseBalance *balance = &p->balance[p->jointed[i]];
        machine_of_slot(p, p->jointed[i])->contact_pushed |=
            talus_norm(balance->rest) > pushed * balance->size;
    }
}

/* ---- convergence ---- */

/* Returns the length of the joint of row r, m. */
static double joint_length(const TalusWorld *world, const TalusProjection *p, int r)
{
    return world->joints.joint[p->source[r].joint].length;
}

/* Sets error_after of each machine to the largest error of its rows over the joint's length. */
static void measure_errors(const TalusWorld *world, TalusProjection *p)
{
    for (int i = 0; i < p->jointed_count; i++)
        p->machine[p->jointed[i]].error_after = 0.0;
    for (int r = 0; r < p->rows; r++) {
        double *worst = &machine_of_row(p, r)->error_after;
        *worst = fmax(*worst, fabs(p->error[r]) / joint_length(world, p, r));
    }
}

/* Returns the next state of an open machine after a round; `last`: no round follows. */
static MachineState next_state(const Machine *machine, bool last)
{
    if (machine->error_after <= talus_joint_closed)
        return MACHINE_CLOSED;
    if (machine->error_after <= max_ratio[machine->contact_pushed] * machine->error_before && !last)
        return MACHINE_OPEN;
    return machine->error_before <= rounding ? MACHINE_CLOSED : MACHINE_FELL_BACK;
}

bool talus_machines_init(const TalusWorld *world, TalusProjection *p)
{
    bool any = false;
    for (int i = 0; i < p->jointed_count; i++)
        p->machine[p->jointed[i]] = (Machine){.min_length = INFINITY};
    for (int r = 0; r < p->rows; r++) {
        double *min_length = &machine_of_row(p, r)->min_length;
        *min_length = fmin(*min_length, joint_length(world, p, r));
    }
    measure_errors(world, p);
    for (int i = 0; i < p->jointed_count; i++) {
        Machine *machine = &p->machine[p->jointed[i]];
        bool open = machine->error_after > talus_joint_closed;
        machine->state = open ? MACHINE_OPEN : MACHINE_CLOSED;
        any |= open;
    }
    if (any)
        find_contact_pushes(world, p);
    return any;
}

bool talus_machines_update(const TalusWorld *world, TalusProjection *p, bool last)
{
    bool any = false;
    for (int i = 0; i < p->jointed_count; i++)
        p->machine[p->jointed[i]].error_before = p->machine[p->jointed[i]].error_after;
    measure_errors(world, p);
    for (int i = 0; i < p->jointed_count; i++) {
        Machine *machine = &p->machine[p->jointed[i]];
        if (machine->state == MACHINE_OPEN)
            machine->state = next_state(machine, last);
        any |= machine->state == MACHINE_OPEN;
    }
    return any;
}

double talus_machines_fallback_error(const TalusWorld *world, const TalusProjection *p,
                                     double *worst)
{
    double sum = 0.0;
    *worst = 0.0;
    for (int r = 0; r < p->rows; r++) {
        if (machine_of_row(p, r)->state != MACHINE_FELL_BACK)
            continue;
        sum += p->error[r] * p->error[r];
        *worst = fmax(*worst, fabs(p->error[r]) / joint_length(world, p, r));
    }
    return sum;
}

/* world/joint_project.c - the bodies brought back to where their joints hold.
 *
 * A step on velocities leaves errors of order (w h)^2/2 of a joint's size, which add up; and the velocity at
 * its end, which is tangent to where the step began, loses as much of itself when the next step takes it to
 * its own tangent. Both are mended by an impulse more in the directions D of the step's start, so that the
 * joints hold at its end: with C the errors of all rows that hold bodies together once the bodies have moved,
 *     (D' M^-1 D) x = C,    poses -= M^-1 D x,    momenta -= D x / h,
 * again until no error exceeds 1e-9 of its joint's length. The matrix is that of the start, factored once:
 * each round leaves about (w h)^2 of the error. This is SHAKE (Ryckaert, Ciccotti and Berendsen 1977) beside
 * the solve: without contacts and motors energy is kept and motions are of second order.
 *
 * In a machine (what hangs together by joints) that turns so far in a step, or is pulled so taut, that a round
 * leaves more than a tenth of the error, momenta stay as the solve left them: an explicit method would be
 * unstable there, and the loss of the velocity-level scheme is what keeps it quiet. What is left of the errors is
 * taken from the poses alone, by Newton's method at the end of the step.
 *
 * What kinetic and potential energy change by is the ledger's `projection`. */
#include "world/internal.h"
#include "world/joint.h"

#include <string.h>

#include "backend/cpu/eliminate.h"

static const double closed = 1e-9; /* of a joint's length */
static const double longest = 0.5; /* of the least length: how far a round may move a body */
static const double trusted = 0.1; /* of the error: what a round may leave where momenta change */
enum { ROUNDS = 4, LAST_ROUNDS = 12, TRIALS = 6 };

/* What a row of the elimination belongs to. */
typedef struct RowPlace {
    int joint;
    TalusVec3 axis, offset; /* of the row; of its point from the joint's on the mover */
    TalusVec3 in_base;      /* the axis, in the frame of the base */
} RowPlace;

/* Of one body: shift, turn, impulse and moment. */
typedef struct Delta {
    TalusVec3 shift, turn, impulse, moment;
} Delta;

typedef struct Kept {
    TalusVec3 position, spin;
    TalusQuat orientation;
} Kept;

typedef struct TalusProjection {
    TalusElimination *elimination;
    TalusJointRow *row; /* the elimination's */
    int rows;
    RowPlace *place; /* [rows] */
    double *error;   /* [rows] */
    double *x;       /* [rows]: of the last round */
    size_t place_capacity, error_capacity, x_capacity;
    Delta *delta; /* [slots], of touched bodies */
    int *touched; /* slots, in the order of joints */
    int touched_count;
    int *machine;      /* [slots]: of touched bodies, the body that stands for their machine */
    double (*turn)[2]; /* [slots], of those: worst error over length, before a round and after */
    size_t delta_capacity, touched_capacity, machine_capacity, turn_capacity;
    Kept *kept; /* [touched], in their order: where a line search began */
    size_t kept_capacity;
    double worst; /* error over length */
    double sum2;  /* of all errors */
    double least; /* length */
} TalusProjection;

void talus_projection_destroy(TalusProjection *p)
{
    if (!p)
        return;
    talus_elimination_destroy(p->elimination);
    talus_release(p->place);
    talus_release(p->error);
    talus_release(p->delta);
    talus_release(p->touched);
    talus_release(p->x);
    talus_release(p->machine);
    talus_release(p->kept);
    talus_release(p->turn);
    talus_release(p);
}

static TalusStatus open_projection(TalusJoints *joints)
{
    if (!joints->projection)
        TALUS_TRY(TALUS_ALLOC(joints->projection, 1, "projection"));
    if (!joints->projection->elimination)
        TALUS_TRY(talus_elimination_create(&joints->projection->elimination));
    return TALUS_OK;
}

/* ---- rows ---- */

static TalusQuat base_of(const TalusWorld *world, const TalusJointBlock *block)
{
    return block->slot[0] < 0 ? talus_quat_identity() : world->bodies.orientation[block->slot[0]];
}

/* The rows' axes of a block: its frame's, which turns with the base. */
static void axes_of(const TalusWorld *world, const TalusJointBlock *block, TalusVec3 axis[3])
{
    TalusQuat base = base_of(world, block);
    TalusVec3 n = talus_rotate_back(base, block->normal);
    double frame[4], out[3];
    talus_frame_set(frame, n.x, n.y, n.z);
    for (int k = 1; k < 3; k++) {
        const double local[3] = {0.0, k == 1 ? 1.0 : 0.0, k == 2 ? 1.0 : 0.0};
        talus_frame_world(frame, local, out);
        axis[k] = talus_rotate(base, talus_vec3(out[0], out[1], out[2]));
    }
    axis[0] = block->normal;
}

/* One side of a row: the derivative along `axis` at `arm`, and what an impulse there moves. */
static void fill_side(const TalusWorld *world, int slot, TalusVec3 arm, TalusVec3 axis, double sign,
                      TalusJointRow *row, int side)
{
    row->body[side] = -1;
    if (slot < 0 || !talus_slot_moves(&world->bodies, slot))
        return;
    double inv_mass = 1.0 / world->bodies.mass[slot], l = world->bodies.radius[slot];
    TalusSym3 inertia = talus_body_inertia(talus_slot_gyration(world, slot), inv_mass, l,
                                           world->bodies.orientation[slot]);
    TalusVec3 force = talus_scale(sign, axis), moment = talus_cross(arm, force);
    TalusVec3 shift = talus_scale(inv_mass, force);
    TalusVec3 turn = talus_scale(1.0 / (l * l), talus_sym3_mul(inertia, moment));
    const double arms[6] = {force.x, force.y, force.z, moment.x, moment.y, moment.z};
    const double pushes[6] = {shift.x, shift.y, shift.z, turn.x, turn.y, turn.z};
    row->body[side] = slot;
    memcpy(row->arm[side], arms, sizeof arms);
    memcpy(row->push[side], pushes, sizeof pushes);
}

/* The block's rows from p->rows on: their errors, and if `anew` the rows themselves. Axes are chosen once, so that
 * a row is the same before and after the bodies move: a frame may jump where its normal changes by rounding. That of
 * a rod is the line between two points. */
static void add_rows(const TalusWorld *world, TalusProjection *p, const TalusJointBlock *block,
                     bool anew)
{
    TalusVec3 axis[3] = {block->normal};
    TalusQuat base = base_of(world, block);
    double length = world->joints.joint[block->joint].length;
    if (anew)
        axes_of(world, block, axis);
    for (int k = 0; k < 3; k++) {
        if (!(block->mask >> k & 1))
            continue;
        TalusJointRow *row = &p->row[p->rows];
        if (!anew && block->mask != 1)
            axis[k] = talus_rotate(base, p->place[p->rows].in_base);
        if (anew) {
            *row = (TalusJointRow){0};
            fill_side(world, block->slot[0], block->arm[0], axis[k], -1.0, row, 0);
            fill_side(world, block->slot[1], block->arm[1], axis[k], 1.0, row, 1);
            p->place[p->rows] =
                (RowPlace){block->joint, axis[k], block->offset, talus_rotate_back(base, axis[k])};
        }
        double error = talus_dot(block->error, axis[k]);
        p->error[p->rows++] = error;
        p->worst = fmax(p->worst, fabs(error) / length);
        p->sum2 += error * error;
    }
}

static void fill_rows(TalusWorld *world, TalusProjection *p, bool anew)
{
    const TalusJoints *joints = &world->joints;
    p->rows = 0;
    p->worst = p->sum2 = 0.0;
    p->least = INFINITY;
    for (int i = 0; i < joints->slots; i++) {
        const TalusJoint *joint = &joints->joint[i];
        if (!talus_joint_lives(world, joint))
            continue;
        TalusJointPose pose = talus_joint_pose(world, joint);
        TalusJointBlock block[3];
        int count = talus_joint_holds(joint, &pose, block);
        for (int k = 0; k < count; k++) {
            block[k].joint = i;
            block[k].offset = talus_sub(block[k].arm[1], pose.arm[1]);
            add_rows(world, p, &block[k], anew);
        }
        p->least = fmin(p->least, joint->length);
    }
}

/* ---- machines ---- */

/* Shortens the way as it goes. */
static int machine_of(const TalusProjection *p, int slot)
{
    int *machine = p->machine;
    while (machine[slot] != slot)
        slot = machine[slot] = machine[machine[slot]];
    return slot;
}

static int row_machine(const TalusProjection *p, int r)
{
    const int32_t *body = p->row[r].body;
    return machine_of(p, body[body[0] < 0]); /* one of the two moves */
}

/* Which bodies rows move, and which of them hang together. */
static void find_machines(TalusProjection *p)
{
    for (int r = 0; r < p->rows; r++)
        for (int side = 0; side < 2; side++)
            if (p->row[r].body[side] >= 0)
                p->machine[p->row[r].body[side]] = -1;
    p->touched_count = 0;
    for (int r = 0; r < p->rows; r++) {
        const int32_t *body = p->row[r].body;
        for (int side = 0; side < 2; side++)
            if (body[side] >= 0 && p->machine[body[side]] < 0) {
                p->machine[body[side]] = body[side];
                p->touched[p->touched_count++] = body[side];
            }
        if (body[0] >= 0 && body[1] >= 0)
            p->machine[machine_of(p, body[0])] = machine_of(p, body[1]);
    }
    for (int i = 0; i < p->touched_count; i++) /* short ways from now on */
        p->machine[p->touched[i]] = machine_of(p, p->touched[i]);
}

/* The worst error of each machine: `when` 0 before a round, 1 after it. */
static void measure(const TalusWorld *world, TalusProjection *p, int when)
{
    for (int i = 0; i < p->touched_count; i++)
        p->turn[p->touched[i]][when] = 0.0;
    for (int r = 0; r < p->rows; r++) {
        double *worst = &p->turn[row_machine(p, r)][when];
        double length = world->joints.joint[p->place[r].joint].length;
        *worst = fmax(*worst, fabs(p->error[r]) / length);
    }
}

static bool is_trusted(const TalusProjection *p, int machine)
{
    const double *turn = p->turn[machine];
    return turn[1] <= trusted * turn[0] || turn[1] <= closed;
}

static bool all_trusted(const TalusProjection *p)
{
    for (int i = 0; i < p->touched_count; i++)
        if (!is_trusted(p, p->machine[p->touched[i]]))
            return false;
    return true;
}

static TalusStatus reserve(TalusWorld *world, TalusProjection *p)
{
    const TalusJoints *joints = &world->joints;
    size_t slots = (size_t)world->bodies.counts.slots;
    int rows = 0;
    for (int i = 0; i < joints->slots; i++)
        if (talus_joint_lives(world, &joints->joint[i]))
            rows += talus_joint_hold_rows(&joints->joint[i].def);
    TALUS_TRY(TALUS_RESERVE(p->place, p->place_capacity, (size_t)rows, 0, "projection"));
    TALUS_TRY(TALUS_RESERVE(p->error, p->error_capacity, (size_t)rows, 0, "projection"));
    TALUS_TRY(TALUS_RESERVE(p->delta, p->delta_capacity, slots, 0, "projection"));
    TALUS_TRY(TALUS_RESERVE(p->touched, p->touched_capacity, slots, 0, "projection"));
    TALUS_TRY(TALUS_RESERVE(p->x, p->x_capacity, (size_t)rows, 0, "projection"));
    TALUS_TRY(TALUS_RESERVE(p->machine, p->machine_capacity, slots, 0, "projection"));
    TALUS_TRY(TALUS_RESERVE(p->turn, p->turn_capacity, slots, 0, "projection"));
    TALUS_TRY(TALUS_RESERVE(p->kept, p->kept_capacity, slots, 0, "projection"));
    return talus_elimination_rows(p->elimination, rows, &p->row);
}

/* Rows of the bodies where they are, factored. */
static TalusStatus factor(TalusWorld *world, TalusProjection *p)
{
    TALUS_TRY(reserve(world, p));
    fill_rows(world, p, true);
    find_machines(p);
    return p->rows > 0
               ? talus_elimination_factor(p->elimination, world->pool, world->bodies.counts.slots)
               : TALUS_OK;
}

/* ---- bodies ---- */

static TalusVec3 less(TalusVec3 a, double s, const double b[3])
{
    return talus_madd(a, -s, talus_vec3(b[0], b[1], b[2]));
}

/* -M^-1 D x and -D x, shortened where bodies would move so far that derivatives do not hold. */
static void find_delta(const TalusWorld *world, TalusProjection *p)
{
    for (int i = 0; i < p->touched_count; i++)
        p->delta[p->touched[i]] = (Delta){0};
    for (int r = 0; r < p->rows; r++)
        for (int side = 0; side < 2; side++) {
            const TalusJointRow *row = &p->row[r];
            if (row->body[side] < 0)
                continue;
            Delta *d = &p->delta[row->body[side]];
            d->shift = less(d->shift, p->x[r], &row->push[side][0]);
            d->turn = less(d->turn, p->x[r], &row->push[side][3]);
            d->impulse = less(d->impulse, p->x[r], &row->arm[side][0]);
            d->moment = less(d->moment, p->x[r], &row->arm[side][3]);
        }
    double far = 0.0;
    for (int i = 0; i < p->touched_count; i++) {
        const Delta *d = &p->delta[p->touched[i]];
        far = fmax(far, talus_norm(d->shift));
        far = fmax(far, world->bodies.radius[p->touched[i]] * talus_norm(d->turn));
    }
    double scale = far > longest * p->least ? longest * p->least / far : 1.0;
    for (int r = 0; scale < 1.0 && r < p->rows; r++)
        p->x[r] *= scale;
    for (int i = 0; scale < 1.0 && i < p->touched_count; i++) {
        Delta *d = &p->delta[p->touched[i]];
        *d = (Delta){talus_scale(scale, d->shift), talus_scale(scale, d->turn),
                     talus_scale(scale, d->impulse), talus_scale(scale, d->moment)};
    }
}

static TalusVec3 momentum_of(const TalusWorld *world, int slot) /* angular, per unit mass */
{
    const TalusBodies *b = &world->bodies;
    const TalusGyration *gyration = talus_slot_gyration(world, slot);
    if (!gyration)
        return talus_scale(0.4 * b->radius[slot] * b->radius[slot], b->spin[slot]);
    return talus_turned_mul(b->orientation[slot], gyration->inertia, b->spin[slot]);
}

static TalusVec3 spin_of(const TalusWorld *world, int slot, TalusVec3 momentum)
{
    const TalusBodies *b = &world->bodies;
    const TalusGyration *gyration = talus_slot_gyration(world, slot);
    if (!gyration)
        return talus_scale(2.5 / (b->radius[slot] * b->radius[slot]), momentum);
    return talus_turned_mul(b->orientation[slot], gyration->inverse, momentum);
}

/* Energies that change, for the ledger. */
typedef struct Change {
    double kinetic, potential;
} Change;

/* Moves a body by `scale` of its delta; its momenta are what they were. */
static void move_body(TalusWorld *world, int slot, const Delta *d, double scale, Change *change)
{
    TalusBodies *b = &world->bodies;
    double before = talus_slot_kinetic(world, slot);
    TalusVec3 x = b->position[slot], momentum = momentum_of(world, slot);
    b->position[slot] = talus_madd(x, scale, d->shift);
    b->orientation[slot] = talus_turned(b->orientation[slot], scale, d->turn);
    if (talus_slot_gyration(world, slot))
        b->spin[slot] = spin_of(world, slot, momentum);
    change->kinetic += talus_slot_kinetic(world, slot) - before;
    change->potential -=
        b->mass[slot] * talus_dot(world->def.gravity, talus_sub(b->position[slot], x));
}

/* Gives it the impulses that would have moved it so within h. */
static void push_body(TalusWorld *world, int slot, const Delta *d, double h, Change *change)
{
    TalusBodies *b = &world->bodies;
    double before = talus_slot_kinetic(world, slot), rate = 1.0 / (h * b->mass[slot]);
    b->velocity[slot] = talus_madd(b->velocity[slot], rate, d->impulse);
    b->spin[slot] = spin_of(world, slot, talus_madd(momentum_of(world, slot), rate, d->moment));
    change->kinetic += talus_slot_kinetic(world, slot) - before;
}

/* These impulses are the joints' too. */
static void add_forces(TalusWorld *world, const TalusProjection *p, double h)
{
    for (int r = 0; r < p->rows; r++) {
        if (!is_trusted(p, row_machine(p, r)))
            continue;
        const RowPlace *place = &p->place[r];
        TalusJointSums *sums = &world->joints.joint[place->joint].sums;
        TalusVec3 impulse = talus_scale(-p->x[r] / h, place->axis);
        sums->force = talus_add(sums->force, impulse);
        sums->torque = talus_add(sums->torque, talus_cross(place->offset, impulse));
    }
}

static void note(TalusWorld *world, const Change *change)
{
    TalusLedger *ledger = &world->info.ledger;
    ledger->kinetic += change->kinetic;
    ledger->kinetic_change += change->kinetic;
    ledger->potential += change->potential;
    ledger->potential_change += change->potential;
    ledger->projection += change->kinetic + change->potential;
}

/* ---- rounds ---- */

static void find_x(TalusWorld *world, TalusProjection *p)
{
    memcpy(p->x, p->error, (size_t)p->rows * sizeof *p->x);
    talus_elimination_solve(p->elimination, p->x);
    find_delta(world, p);
}

/* Takes the errors off the poses; then they are what is left. */
static void move_all(TalusWorld *world, TalusProjection *p, double scale, Change *change)
{
    for (int i = 0; i < p->touched_count; i++)
        move_body(world, p->touched[i], &p->delta[p->touched[i]], scale, change);
    fill_rows(world, p, false);
}

/* Newton's step, shortened until the sum of squares falls as it should: it falls along the step at first. Slack
 * of a taut chain goes into a zigzag whose height is the square root of it, which steps of full length miss. */
static void search_line(TalusWorld *world, TalusProjection *p)
{
    TalusBodies *b = &world->bodies;
    double before = p->sum2, scale = 1.0;
    find_x(world, p);
    for (int i = 0; i < p->touched_count; i++) {
        int slot = p->touched[i];
        p->kept[i] = (Kept){b->position[slot], b->spin[slot], b->orientation[slot]};
    }
    for (int trial = 0;; trial++) {
        Change change = {0.0, 0.0};
        move_all(world, p, scale, &change);
        if (trial == TRIALS || p->sum2 <= (1.0 - 0.5 * scale) * before) {
            note(world, &change);
            return;
        }
        for (int i = 0; i < p->touched_count; i++) {
            int slot = p->touched[i];
            b->position[slot] = p->kept[i].position;
            b->spin[slot] = p->kept[i].spin;
            b->orientation[slot] = p->kept[i].orientation;
        }
        /* the parabola through the value and slope at 0 and the value here */
        scale =
            fmax(0.1 * scale, scale * scale * before / (p->sum2 - before + 2.0 * scale * before));
    }
}

static void push_all(TalusWorld *world, TalusProjection *p, double h)
{
    Change change = {0.0, 0.0};
    for (int i = 0; i < p->touched_count; i++)
        if (is_trusted(p, p->machine[p->touched[i]]))
            push_body(world, p->touched[i], &p->delta[p->touched[i]], h, &change);
    add_forces(world, p, h);
    note(world, &change);
}

static bool projects(const TalusWorld *world)
{
    return world->joints.living > 0 && world->def.projection;
}

TalusStatus talus_joints_aim(TalusWorld *world)
{
    if (!projects(world))
        return TALUS_OK;
    TALUS_TRY(open_projection(&world->joints));
    return factor(world, world->joints.projection);
}

TalusStatus talus_joints_project(TalusWorld *world, double h)
{
    TalusProjection *p = world->joints.projection;
    if (!projects(world) || p->rows == 0)
        return TALUS_OK;
    fill_rows(world, p, false);
    bool go = p->worst > closed;
    for (int round = 0; go && round < ROUNDS; round++) {
        Change change = {0.0, 0.0};
        measure(world, p, 0);
        find_x(world, p);
        move_all(world, p, 1.0, &change);
        note(world, &change);
        measure(world, p, 1);
        push_all(world, p, h);
        go = p->worst > closed && all_trusted(p);
    }
    for (int round = 0; p->worst > closed && round < LAST_ROUNDS; round++) {
        TALUS_TRY(factor(world, p));
        search_line(world, p);
    }
    return TALUS_OK;
}

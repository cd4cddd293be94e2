/* world/joint_project.c - the bodies brought back to where their joints hold.
 *
 * A step on velocities leaves errors of order (w h)^2/2 of a joint's size, which add up; and the velocity at
 * its end, which is tangent to where the step began, loses as much of itself when the next step takes it to
 * its own tangent. Both are mended by an impulse more in the directions D of the step's start, so that the
 * joints hold at its end: with C the errors of all rows that hold bodies together once the bodies have moved,
 *     (D' M^-1 D) x = C,    poses -= M^-1 D x,    momenta -= D x / h,
 * again until no error exceeds 1e-9 of its joint's length. The matrix is that of the start, factored once:
 * each round leaves about (w h)^2 of the error. This is SHAKE (Ryckaert, Ciccotti and Berendsen 1977) beside
 * the solve: without contacts and motors energy is kept and motions are of second order. What is left after a
 * few rounds, where bodies turn far in a step, is taken from the poses alone, by Newton's method at the end.
 *
 * What kinetic and potential energy change by is the ledger's `projection`. */
#include "world/internal.h"
#include "world/joint.h"

#include <string.h>

#include "backend/cpu/eliminate.h"

static const double closed = 1e-9; /* of a joint's length */
static const double longest = 0.1; /* of the least length: how far a round may move a body */
enum { ROUNDS = 5, LAST_ROUNDS = 3 };

/* What a row of the elimination belongs to. */
typedef struct RowPlace {
    int joint;
    TalusVec3 axis, offset; /* of the row; of its point from the joint's on the mover */
} RowPlace;

/* Of one body: shift, turn, impulse and moment. */
typedef struct Delta {
    TalusVec3 shift, turn, impulse, moment;
} Delta;

typedef struct TalusProjection {
    TalusElimination *elimination;
    TalusJointRow *row; /* the elimination's */
    int rows;
    RowPlace *place; /* [rows] */
    double *error;   /* [rows]; then x */
    size_t place_capacity, error_capacity;
    Delta *delta; /* [slots], of touched bodies */
    int *touched; /* slots, in the order of joints */
    int touched_count;
    uint8_t *mark; /* [slots] */
    size_t delta_capacity, touched_capacity, mark_capacity;
    double worst; /* error over length */
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
    talus_release(p->mark);
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

/* The rows' axes of a block: its frame's, which turns with the base, so that a row is the same before and
 * after the bodies move. */
static void axes_of(const TalusWorld *world, const TalusJointBlock *block, TalusVec3 axis[3])
{
    TalusQuat base =
        block->slot[0] < 0 ? talus_quat_identity() : world->bodies.orientation[block->slot[0]];
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

/* The block's rows from p->rows on: their errors, and if `anew` the rows themselves. */
static void add_rows(const TalusWorld *world, TalusProjection *p, const TalusJointBlock *block,
                     bool anew)
{
    TalusVec3 axis[3];
    double length = world->joints.joint[block->joint].length;
    axes_of(world, block, axis);
    for (int k = 0; k < 3; k++) {
        if (!(block->mask >> k & 1))
            continue;
        TalusJointRow *row = &p->row[p->rows];
        if (anew) {
            *row = (TalusJointRow){0};
            fill_side(world, block->slot[0], block->arm[0], axis[k], -1.0, row, 0);
            fill_side(world, block->slot[1], block->arm[1], axis[k], 1.0, row, 1);
            p->place[p->rows] = (RowPlace){block->joint, axis[k], block->offset};
        }
        double error = talus_dot(block->error, axis[k]);
        p->error[p->rows++] = error;
        p->worst = fmax(p->worst, fabs(error) / length);
    }
}

static void fill_rows(TalusWorld *world, TalusProjection *p, bool anew)
{
    const TalusJoints *joints = &world->joints;
    p->rows = 0;
    p->worst = 0.0;
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

static void find_touched(TalusProjection *p)
{
    for (int r = 0; r < p->rows; r++)
        for (int side = 0; side < 2; side++)
            if (p->row[r].body[side] >= 0)
                p->mark[p->row[r].body[side]] = 0;
    p->touched_count = 0;
    for (int r = 0; r < p->rows; r++)
        for (int side = 0; side < 2; side++) {
            int slot = p->row[r].body[side];
            if (slot < 0 || p->mark[slot])
                continue;
            p->mark[slot] = 1;
            p->touched[p->touched_count++] = slot;
        }
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
    TALUS_TRY(TALUS_RESERVE(p->mark, p->mark_capacity, slots, 0, "projection"));
    return talus_elimination_rows(p->elimination, rows, &p->row);
}

/* Rows of the bodies where they are, factored. */
static TalusStatus factor(TalusWorld *world, TalusProjection *p)
{
    TALUS_TRY(reserve(world, p));
    fill_rows(world, p, true);
    find_touched(p);
    return p->rows > 0
               ? talus_elimination_factor(p->elimination, world->pool, world->bodies.counts.slots)
               : TALUS_OK;
}

/* ---- bodies ---- */

static TalusVec3 less(TalusVec3 a, double s, const double b[3])
{
    return talus_madd(a, -s, talus_vec3(b[0], b[1], b[2]));
}

/* -M^-1 D x and -D x; returns the factor that keeps bodies from moving far, where derivatives do not hold. */
static double find_delta(const TalusWorld *world, TalusProjection *p)
{
    for (int i = 0; i < p->touched_count; i++)
        p->delta[p->touched[i]] = (Delta){0};
    for (int r = 0; r < p->rows; r++)
        for (int side = 0; side < 2; side++) {
            const TalusJointRow *row = &p->row[r];
            if (row->body[side] < 0)
                continue;
            Delta *d = &p->delta[row->body[side]];
            d->shift = less(d->shift, p->error[r], &row->push[side][0]);
            d->turn = less(d->turn, p->error[r], &row->push[side][3]);
            d->impulse = less(d->impulse, p->error[r], &row->arm[side][0]);
            d->moment = less(d->moment, p->error[r], &row->arm[side][3]);
        }
    double far = 0.0;
    for (int i = 0; i < p->touched_count; i++) {
        const Delta *d = &p->delta[p->touched[i]];
        far = fmax(far, talus_norm(d->shift));
        far = fmax(far, world->bodies.radius[p->touched[i]] * talus_norm(d->turn));
    }
    return far > longest * p->least ? longest * p->least / far : 1.0;
}

/* Moves a body by scale times its delta and gives it `rate` times the impulses; its angular momentum is else
 * what it was. Changes of kinetic and potential energy are added to `change`. */
static void move_body(TalusWorld *world, int slot, const Delta *d, double scale, double rate,
                      double change[2])
{
    TalusBodies *b = &world->bodies;
    const TalusGyration *gyration = talus_slot_gyration(world, slot);
    double before = talus_slot_kinetic(world, slot), inv_mass = 1.0 / b->mass[slot];
    double l2 = b->radius[slot] * b->radius[slot];
    TalusVec3 x = b->position[slot], momentum = b->spin[slot]; /* per unit mass */
    momentum = gyration ? talus_turned_mul(b->orientation[slot], gyration->inertia, momentum)
                        : talus_scale(0.4 * l2, momentum);
    momentum = talus_madd(momentum, rate * inv_mass, d->moment);
    b->position[slot] = talus_madd(x, scale, d->shift);
    b->velocity[slot] = talus_madd(b->velocity[slot], rate * inv_mass, d->impulse);
    b->orientation[slot] = talus_turned(b->orientation[slot], scale, d->turn);
    b->spin[slot] = gyration ? talus_turned_mul(b->orientation[slot], gyration->inverse, momentum)
                             : talus_scale(2.5 / l2, momentum);
    change[0] += talus_slot_kinetic(world, slot) - before;
    change[1] -= b->mass[slot] * talus_dot(world->def.gravity, talus_sub(b->position[slot], x));
}

/* The impulses are the joints' too. */
static void add_forces(TalusWorld *world, const TalusProjection *p, double rate)
{
    for (int r = 0; r < p->rows; r++) {
        const RowPlace *place = &p->place[r];
        TalusJointSums *sums = &world->joints.joint[place->joint].sums;
        TalusVec3 impulse = talus_scale(-rate * p->error[r], place->axis);
        sums->force = talus_add(sums->force, impulse);
        sums->torque = talus_add(sums->torque, talus_cross(place->offset, impulse));
    }
}

/* One round; `rate` is 1/h where momenta change as well, else 0. */
static void project_once(TalusWorld *world, TalusProjection *p, double rate)
{
    double change[2] = {0.0, 0.0};
    TalusLedger *ledger = &world->info.ledger;
    talus_elimination_solve(p->elimination, p->error);
    double scale = find_delta(world, p);
    for (int i = 0; i < p->touched_count; i++)
        move_body(world, p->touched[i], &p->delta[p->touched[i]], scale, rate * scale, change);
    add_forces(world, p, rate * scale);
    ledger->kinetic += change[0];
    ledger->kinetic_change += change[0];
    ledger->potential += change[1];
    ledger->potential_change += change[1];
    ledger->projection += change[0] + change[1];
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
    for (int round = 0; round < ROUNDS; round++) {
        fill_rows(world, p, false);
        if (!(p->worst > closed))
            return TALUS_OK;
        project_once(world, p, 1.0 / h);
    }
    for (int round = 0; round < LAST_ROUNDS; round++) {
        TALUS_TRY(factor(world, p));
        if (!(p->worst > closed))
            return TALUS_OK;
        project_once(world, p, 0.0);
    }
    return TALUS_OK;
}

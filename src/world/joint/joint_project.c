/* world/joint/joint_project.c - projection of bodies onto their joints.
 *
 * A step on velocities leaves joint errors of order (w h)^2/2 of a joint's size, with w the spin, which accumulate. The
 * velocity at its end is tangent to the constraints at its start and loses (w h)^2/2 of itself when the next step
 * projects it onto the new tangent. A further impulse in the directions D of the step's start corrects both, so that
 * the joints hold at its end. With C the errors of all constraint rows after the bodies have moved,
 *     (D' M^-1 D) x = C,    poses -= M^-1 D x,    momenta -= D x / h,
 * repeated until no error exceeds 1e-9 of its joint's length. The matrix is that of the start, factored once. A body
 * that turns by an angle a = w h in the step leaves 1 - cos a of the error to the next round, so the number of rounds
 * varies. This is SHAKE (Ryckaert, Ciccotti and Berendsen 1977) besides the solve: without contacts and motors energy
 * is conserved and motions are of second order, whatever a is, up to a right angle.
 *
 * A machine is a set of bodies connected by joints; each has rounds of its own. A machine falls back if a round leaves
 * too much of the error (joint_machines.c): it turns too far, or is so taut that an explicit method is unstable. Its
 * momenta then are those of the solve, which loses (w h)^2/2 of a speed, and only its poses are closed, by Newton's
 * method at the end of the step. The step's info counts these machines. The bound is lower for machines that contacts
 * push: the projection ignores contacts, and the loss calms, for example, a deck struck by crates.
 *
 * The changes of kinetic and potential energy are the ledger's `projection`. */
#include "world/joint/joint_project.h"
#include "engine/body.h"
#include "world/bodies.h"

#include <string.h>

/* largest motion in a round, over the smallest joint length */
static const double max_round_motion = 0.5;
/* MAX_ROUNDS: rounds in which machines are closed by impulses. MAX_POSE_ROUNDS: Newton steps on the poses of machines
 * that fell back. MAX_TRIALS: shortenings of a Newton step. */
enum { MAX_ROUNDS = 100, MAX_POSE_ROUNDS = 12, MAX_TRIALS = 6 };

void talus_projection_destroy(TalusProjection *p)
{
    if (!p)
        return;
    talus_elimination_destroy(p->elimination);
    TALUS_RELEASE(p->source, p->error, p->delta, p->jointed, p->x, p->root, p->saved, p->momenta,
                  p->balance, p->sum, p->machine, p);
}

/* Creates joints->projection with its elimination, unless they exist. */
static TalusStatus create_projection(TalusJoints *joints)
{
    if (!joints->projection)
        TALUS_TRY(TALUS_ALLOC(joints->projection, 1, "projection"));
    if (!joints->projection->elimination)
        TALUS_TRY(talus_elimination_create(&joints->projection->elimination));
    return TALUS_OK;
}

/* ---- rows ---- */

/* Returns the orientation of the block's base. */
static TalusQuat base_orientation(const TalusWorld *world, const TalusJointBlock *block)
{
    return block->slot[0] < 0 ? talus_quat_identity() : world->bodies.orientation[block->slot[0]];
}

/* Computes the axes of a block's rows: those of its frame, which rotates with the base. */
static void row_axes(const TalusWorld *world, const TalusJointBlock *block, TalusVec3 axis[3])
{
    TalusQuat base = base_orientation(world, block);
    TalusVec3 n = talus_rotate_back(base, block->normal);
    double frame[4], out[3];
    talus_frame_from_normal(frame, n.x, n.y, n.z);
    for (int k = 1; k < 3; k++) {
        const double local[3] = {0.0, k == 1 ? 1.0 : 0.0, k == 2 ? 1.0 : 0.0};
        talus_frame_to_world(frame, local, out);
        axis[k] = talus_rotate(base, talus_vec3(out[0], out[1], out[2]));
    }
    axis[0] = block->normal;
}

/* Fills one side of a row: derivative of the error (sign * axis at `arm`) with respect to the body's pose (row->arm),
 * and change of the pose by a unit impulse there (row->push). Body -1 if it does not move freely. */
static void fill_side(const TalusWorld *world, int slot, TalusVec3 arm, TalusVec3 axis, double sign,
                      TalusJointRow *row, int side)
{
    row->body[side] = -1;
    if (slot < 0 || !talus_slot_is_free(&world->bodies, slot))
        return;
    double inv_mass = 1.0 / world->bodies.mass[slot], l = world->bodies.radius[slot];
    TalusSym3 inertia = talus_body_inverse_inertia(talus_slot_gyration(world, slot), inv_mass, l,
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

/* Computes the errors of the block's rows from p->rows on and, if `anew`, the rows themselves with their axes. After
 * that the axes rotate with the base, so that a row is the same before and after the bodies move: new tangents might
 * jump where the normal changes by rounding. A rod has one row, along its present normal. */
static void add_rows(const TalusWorld *world, TalusProjection *p, const TalusJointBlock *block,
                     bool anew)
{
    TalusVec3 axis[3] = {block->normal};
    TalusQuat base = base_orientation(world, block);
    if (anew)
        row_axes(world, block, axis);
    for (int k = 0; k < 3; k++) {
        if (!(block->mask >> k & 1))
            continue;
        TalusJointRow *row = &p->row[p->rows];
        if (!anew && block->mask != 1)
            axis[k] = talus_rotate(base, p->source[p->rows].in_base);
        if (anew) {
            *row = (TalusJointRow){0};
            fill_side(world, block->slot[0], block->arm[0], axis[k], -1.0, row, 0);
            fill_side(world, block->slot[1], block->arm[1], axis[k], 1.0, row, 1);
            p->source[p->rows] =
                (RowSource){block->joint, axis[k], block->offset, talus_rotate_back(base, axis[k])};
        }
        p->error[p->rows++] = talus_dot(block->error, axis[k]);
    }
}

/* Runs add_rows over the constraint blocks of all joints that are alive, at the current poses. */
static void fill_rows(TalusWorld *world, TalusProjection *p, bool anew)
{
    const TalusJoints *joints = &world->joints;
    p->rows = 0;
    for (int i = 0; i < joints->count; i++) {
        const TalusJoint *joint = &joints->joint[i];
        if (!talus_joint_lives(world, joint))
            continue;
        TalusJointPose pose = talus_joint_pose(world, joint);
        TalusJointBlock block[3];
        int count = talus_joint_constraint_blocks(joint, &pose, block);
        for (int k = 0; k < count; k++) {
            block[k].joint = i;
            block[k].offset = talus_sub(block[k].arm[1], pose.arm[1]);
            add_rows(world, p, &block[k], anew);
        }
    }
}

/* Reserves all arrays for the rows of joints that are alive and for all slots. */
static TalusStatus reserve_projection(TalusWorld *world, TalusProjection *p)
{
    const TalusJoints *joints = &world->joints;
    size_t slots = (size_t)(world->bodies.counts.slots + world->ranks.halo);
    int rows = 0;
    for (int i = 0; i < joints->count; i++)
        if (talus_joint_lives(world, &joints->joint[i]))
            rows += talus_joint_constraint_rows(&joints->joint[i].def);
    TALUS_TRY(TALUS_GROW(p->source, (size_t)rows, 0, "projection"));
    TALUS_TRY(TALUS_GROW(p->error, (size_t)rows, 0, "projection"));
    TALUS_TRY(TALUS_GROW(p->delta, slots, 0, "projection"));
    TALUS_TRY(TALUS_GROW(p->jointed, slots, 0, "projection"));
    TALUS_TRY(TALUS_GROW(p->x, (size_t)rows, 0, "projection"));
    TALUS_TRY(TALUS_GROW(p->root, slots, 0, "projection"));
    TALUS_TRY(TALUS_GROW(p->machine, slots, 0, "projection"));
    TALUS_TRY(TALUS_GROW(p->balance, slots, 0, "projection"));
    TALUS_TRY(TALUS_GROW(p->momenta, slots, 0, "projection"));
    TALUS_TRY(TALUS_GROW(p->sum, (size_t)rows, 0, "projection"));
    TALUS_TRY(TALUS_GROW(p->saved, slots, 0, "projection"));
    return talus_elimination_reserve_rows(p->elimination, rows, &p->row);
}

/* Fills the rows at the current poses, finds the machines and factors the matrix of the rows. */
static TalusStatus factor_rows(TalusWorld *world, TalusProjection *p)
{
    TALUS_TRY(reserve_projection(world, p));
    fill_rows(world, p, true);
    talus_machines_find(p);
    return p->rows > 0 ? talus_elimination_factor(p->elimination, world->pool,
                                                  world->bodies.counts.slots + world->ranks.halo)
                       : TALUS_OK;
}

/* ---- bodies ---- */

/* Returns a - s b. */
static TalusVec3 subtract_scaled(TalusVec3 a, double s, const double b[3])
{
    return talus_madd(a, -s, talus_vec3(b[0], b[1], b[2]));
}

/* Sets the delta of all jointed bodies: -M^-1 D x for poses, -D x for momenta times h. */
static void set_deltas(TalusProjection *p)
{
    for (int i = 0; i < p->jointed_count; i++)
        p->delta[p->jointed[i]] = (Delta){0};
    for (int r = 0; r < p->rows; r++)
        for (int side = 0; side < 2; side++) {
            const TalusJointRow *row = &p->row[r];
            if (row->body[side] < 0)
                continue;
            Delta *d = &p->delta[row->body[side]];
            d->shift = subtract_scaled(d->shift, p->x[r], &row->push[side][0]);
            d->turn = subtract_scaled(d->turn, p->x[r], &row->push[side][3]);
            d->impulse = subtract_scaled(d->impulse, p->x[r], &row->arm[side][0]);
            d->moment = subtract_scaled(d->moment, p->x[r], &row->arm[side][3]);
        }
}

/* Returns the factor, at most 1, by which a machine's round is shortened. */
static double round_scale(const Machine *machine)
{
    double limit = max_round_motion * machine->min_length;
    return machine->max_motion > limit ? limit / machine->max_motion : 1.0;
}

/* Shortens the round of a machine whose bodies would move too far for the derivatives to hold. */
static void shorten_rounds(const TalusWorld *world, TalusProjection *p)
{
    for (int i = 0; i < p->jointed_count; i++)
        p->machine[p->jointed[i]].max_motion = 0.0;
    for (int i = 0; i < p->jointed_count; i++) {
        const Delta *d = &p->delta[p->jointed[i]];
        double turn = world->bodies.radius[p->jointed[i]] * talus_norm(d->turn);
        Machine *machine = machine_of_slot(p, p->jointed[i]);
        machine->max_motion = fmax(machine->max_motion, fmax(talus_norm(d->shift), turn));
    }
    for (int r = 0; r < p->rows; r++)
        p->x[r] *= round_scale(machine_of_row(p, r));
    for (int i = 0; i < p->jointed_count; i++) {
        double scale = round_scale(machine_of_slot(p, p->jointed[i]));
        Delta *d = &p->delta[p->jointed[i]];
        if (scale < 1.0)
            *d = (Delta){talus_scale(scale, d->shift), talus_scale(scale, d->turn),
                         talus_scale(scale, d->impulse), talus_scale(scale, d->moment)};
    }
}

/* Returns the angular momentum of a body per unit mass. */
static TalusVec3 angular_momentum(const TalusWorld *world, int slot)
{
    const TalusBodies *b = &world->bodies;
    const TalusGyration *gyration = talus_slot_gyration(world, slot);
    if (!gyration)
        return talus_scale(0.4 * b->radius[slot] * b->radius[slot], b->spin[slot]);
    return talus_sym3_mul_rotated(b->orientation[slot], gyration->inertia, b->spin[slot]);
}

/* Returns the spin of a body with this angular momentum per unit mass. */
static TalusVec3 spin_from_momentum(const TalusWorld *world, int slot, TalusVec3 momentum)
{
    const TalusBodies *b = &world->bodies;
    const TalusGyration *gyration = talus_slot_gyration(world, slot);
    if (!gyration)
        return talus_scale(2.5 / (b->radius[slot] * b->radius[slot]), momentum);
    return talus_sym3_mul_rotated(b->orientation[slot], gyration->inverse, momentum);
}

/* Changes of energy for the ledger, J. */
typedef struct EnergyChange {
    double kinetic, potential;
} EnergyChange;

/* Moves a body by `scale` of its delta and adapts its spin, so that its angular momentum stays. */
static void move_body(TalusWorld *world, int slot, const Delta *d, double scale,
                      EnergyChange *change)
{
    TalusBodies *b = &world->bodies;
    double before = talus_slot_kinetic(world, slot);
    TalusVec3 x = b->position[slot], momentum = angular_momentum(world, slot);
    b->position[slot] = talus_madd(x, scale, d->shift);
    b->orientation[slot] = talus_quat_advance(b->orientation[slot], scale, d->turn);
    if (talus_slot_gyration(world, slot))
        b->spin[slot] = spin_from_momentum(world, slot, momentum);
    change->kinetic += talus_slot_kinetic(world, slot) - before;
    change->potential -=
        b->mass[slot] * talus_dot(world->def.gravity, talus_sub(b->position[slot], x));
}

/* Adds the impulses that would have moved the body by its delta within h. */
static void add_round_impulse(TalusWorld *world, int slot, const Delta *d, double h,
                              EnergyChange *change)
{
    TalusBodies *b = &world->bodies;
    double before = talus_slot_kinetic(world, slot), rate = 1.0 / (h * b->mass[slot]);
    b->velocity[slot] = talus_madd(b->velocity[slot], rate, d->impulse);
    b->spin[slot] =
        spin_from_momentum(world, slot, talus_madd(angular_momentum(world, slot), rate, d->moment));
    change->kinetic += talus_slot_kinetic(world, slot) - before;
}

/* Adds the impulses of all rounds to the sums of the joints, except in machines that fell back. */
static void add_joint_forces(TalusWorld *world, const TalusProjection *p, double h)
{
    for (int r = 0; r < p->rows; r++) {
        if (machine_of_row(p, r)->state == MACHINE_FELL_BACK)
            continue;
        const RowSource *source = &p->source[r];
        TalusJointSums *sums = &world->joints.joint[source->joint].sums;
        TalusVec3 impulse = talus_scale(-p->sum[r] / h, source->axis);
        sums->force = talus_add(sums->force, impulse);
        sums->torque = talus_add(sums->torque, talus_cross(source->offset, impulse));
    }
}

/* Adds the changes of energy by the projection to the step's ledger. */
static void add_to_ledger(TalusWorld *world, const EnergyChange *change)
{
    TalusLedger *ledger = &world->info.ledger;
    ledger->kinetic += change->kinetic;
    ledger->kinetic_change += change->kinetic;
    ledger->potential += change->potential;
    ledger->potential_change += change->potential;
    ledger->projection += change->kinetic + change->potential;
}

/* ---- rounds ---- */

/* Computes x and delta of a round for the machines in this state, with the factored matrix; 0 for all others. */
static void solve_round(TalusWorld *world, TalusProjection *p, MachineState state)
{
    for (int r = 0; r < p->rows; r++)
        p->x[r] = machine_of_row(p, r)->state == state ? p->error[r] : 0.0;
    talus_elimination_solve(p->elimination, p->x);
    set_deltas(p);
    shorten_rounds(world, p);
}

/* Moves the bodies of machines in this state by `scale` of their delta; then recomputes the errors. */
static void move_machines(TalusWorld *world, TalusProjection *p, MachineState state, double scale,
                          EnergyChange *change)
{
    for (int i = 0; i < p->jointed_count; i++)
        if (machine_of_slot(p, p->jointed[i])->state == state)
            move_body(world, p->jointed[i], &p->delta[p->jointed[i]], scale, change);
    fill_rows(world, p, false);
}

/* Adds the impulses of the round to the bodies of open machines, and x to `sum`. */
static void add_round_impulses(TalusWorld *world, TalusProjection *p, double h,
                               EnergyChange *change)
{
    for (int i = 0; i < p->jointed_count; i++)
        if (machine_of_slot(p, p->jointed[i])->state == MACHINE_OPEN)
            add_round_impulse(world, p->jointed[i], &p->delta[p->jointed[i]], h, change);
    for (int r = 0; r < p->rows; r++)
        p->sum[r] += p->x[r];
}

/* Restores the momenta of the solve in machines that fell back; counts these machines. */
static void restore_momenta(TalusWorld *world, TalusProjection *p, EnergyChange *change)
{
    TalusBodies *b = &world->bodies;
    for (int i = 0; i < p->jointed_count; i++) {
        int slot = p->jointed[i];
        if (machine_of_slot(p, slot)->state != MACHINE_FELL_BACK)
            continue;
        double before = talus_slot_kinetic(world, slot);
        b->velocity[slot] = p->momenta[i].velocity;
        b->spin[slot] = spin_from_momentum(world, slot, p->momenta[i].angular);
        change->kinetic += talus_slot_kinetic(world, slot) - before;
        world->info.projection_fallbacks += p->root[slot] == slot;
    }
}

/* Stores the momenta of the solve, for restore_momenta. */
static void snapshot_momenta(const TalusWorld *world, TalusProjection *p)
{
    for (int i = 0; i < p->jointed_count; i++) {
        int slot = p->jointed[i];
        p->momenta[i] = (Momenta){world->bodies.velocity[slot], angular_momentum(world, slot)};
    }
}

/* Runs rounds with the directions of the start until each machine is closed or falls back. */
static void close_machines(TalusWorld *world, TalusProjection *p, double h)
{
    EnergyChange change = {0.0, 0.0};
    bool open = talus_machines_init(world, p);
    if (!open)
        return;
    snapshot_momenta(world, p);
    for (int r = 0; r < p->rows; r++)
        p->sum[r] = 0.0;
    for (int round = 1; open; round++) {
        solve_round(world, p, MACHINE_OPEN);
        move_machines(world, p, MACHINE_OPEN, 1.0, &change);
        add_round_impulses(world, p, h, &change);
        open = talus_machines_update(world, p, round == MAX_ROUNDS);
    }
    restore_momenta(world, p, &change);
    add_joint_forces(world, p, h);
    add_to_ledger(world, &change);
}

/* ---- poses alone ---- */

/* Makes a step of Newton's method on the poses of machines that fell back, shortened until the sum of squared errors
 * decreases enough, but at most MAX_TRIALS times: the last length is taken in any case. Full steps fail for a taut
 * chain, whose slack s must become a zigzag of height of order sqrt(s). */
static void newton_step(TalusWorld *world, TalusProjection *p)
{
    TalusBodies *b = &world->bodies;
    double worst, before = talus_machines_fallback_error(world, p, &worst), scale = 1.0;
    solve_round(world, p, MACHINE_FELL_BACK);
    for (int i = 0; i < p->jointed_count; i++) {
        int slot = p->jointed[i];
        p->saved[i] = (SavedState){b->position[slot], b->spin[slot], b->orientation[slot]};
    }
    for (int trial = 0;; trial++) {
        EnergyChange change = {0.0, 0.0};
        move_machines(world, p, MACHINE_FELL_BACK, scale, &change);
        double now = talus_machines_fallback_error(world, p, &worst);
        if (trial == MAX_TRIALS || now <= (1.0 - 0.5 * scale) * before) {
            add_to_ledger(world, &change);
            return;
        }
        for (int i = 0; i < p->jointed_count; i++) {
            int slot = p->jointed[i];
            b->position[slot] = p->saved[i].position;
            b->spin[slot] = p->saved[i].spin;
            b->orientation[slot] = p->saved[i].orientation;
        }
        /* minimum of the parabola through value and slope at 0 and the value here */
        scale = fmax(0.1 * scale, scale * scale * before / (now - before + 2.0 * scale * before));
    }
}

/* True if the world projects joints and has some. */
static bool is_projected(const TalusWorld *world)
{
    return world->joints.count > 0 && world->def.projection;
}

TalusStatus talus_joints_prepare_projection(TalusWorld *world)
{
    if (!is_projected(world))
        return TALUS_OK;
    TALUS_TRY(create_projection(&world->joints));
    return factor_rows(world, world->joints.projection);
}

TalusStatus talus_joints_project(TalusWorld *world, double h)
{
    TalusProjection *p = world->joints.projection;
    if (!is_projected(world) || p->rows == 0)
        return TALUS_OK;
    fill_rows(world, p, false);
    close_machines(world, p, h);
    for (int round = 0; round < MAX_POSE_ROUNDS; round++) {
        double worst;
        talus_machines_fallback_error(world, p, &worst);
        if (worst <= talus_joint_closed)
            break;
        TALUS_TRY(factor_rows(world, p));
        newton_step(world, p);
    }
    return TALUS_OK;
}

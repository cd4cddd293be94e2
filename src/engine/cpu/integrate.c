/* engine/cpu/integrate.c - from solved velocities to the state at the end of a part of a step.
 *
 * Positions: x' = x + h v'. Rotations: engine/body.h.
 *
 * The loops over bodies also sum the bodies' side of the energy ledger; ledger.c has the contacts' side. */
#include "engine/cpu/engine.h"

#include "collide/period.h"

#include <inttypes.h>
#include <math.h>

typedef struct IntegrateContext {
    CpuEngine *engine;
    int bodies;                  /* of the problem: further slots were added after it was built */
    const double (*velocity)[8]; /* solved */
    double (*before)[8]; /* free velocities, after check_and_average their means with solved */
    const double *length;
    double h;
    TalusVec3 gravity;
} IntegrateContext;

/* ---- check before anything changes ---- */

/* For each free body of a group: checks the solved velocity and the state to which it leads; sums the work of gravity
 * and forces, m (v_f^2 - v^2)/2; overwrites the free velocity in the record by the mean of free and solved velocity, at
 * which contacts do their works. Other ranks' bodies only get the mean. Partials: 0, or NaN if a check failed; the work
 * of gravity and forces. */
static void check_and_average(void *context, int64_t begin, int64_t end, int64_t group)
{
    const IntegrateContext *c = context;
    const TalusBodyArrays *b = &c->engine->bodies;
    double bad = 0.0, gravity = 0.0;
    for (int64_t rank = begin; rank < end; rank++) {
        int64_t i = cpu_slot_of_rank(c->engine, rank);
        if (i >= c->bodies || !cpu_is_free(c->engine, i))
            continue;
        const double *v = c->velocity[i];
        double *r = c->before[i];
        TalusVec3 x = b->position[i], old = b->velocity[i], free = talus_vec3(r[0], r[1], r[2]);
        if (cpu_is_moved_here(c->engine, i)) {
            bad += talus_motion_fault(x, c->h, c->length[i], v);
            gravity += 0.5 * b->mass[i] * talus_dot(talus_sub(free, old), talus_add(free, old));
        }
        for (int j = 0; j < 8; j++)
            r[j] = 0.5 * (r[j] + v[j]);
    }
    c->engine->partial[group][0] = bad;
    c->engine->partial[group][1] = gravity;
}

/* Returns TALUS_ERR_NUMERIC; the message has the id of the first free body whose speed is not below 1e150, if any. */
static TalusStatus fail_on_bad_velocity(const IntegrateContext *c)
{
    const CpuEngine *e = c->engine;
    for (int i = 0; i < cpu_own_slots(e); i++) {
        double size = talus_record_speed(c->velocity[i]);
        if (cpu_is_free(e, i) && !(size < 1e150))
            return talus_fail(TALUS_ERR_NUMERIC,
                              "step %lld: the solve gave body %" PRIu64 " a speed of %g", e->step,
                              e->bodies.id[i], size);
    }
    return talus_fail(TALUS_ERR_NUMERIC, "step %lld: the next state would not be finite", e->step);
}

/* Runs check_and_average over all bodies, adds the work of gravity and forces to gravity_error, and fails if the next
 * state would not be finite. */
static TalusStatus check_solved_motion(IntegrateContext *c, TalusEngineLedger *ledger)
{
    CpuEngine *e = c->engine;
    double sum[2];
    cpu_sum_bodies(e, check_and_average, c, 2, sum);
    ledger->gravity_error += sum[1];
    return sum[0] == 0.0 ? TALUS_OK : talus_comm_agree(e->bodies.comm, fail_on_bad_velocity(c));
}

/* ---- all bodies ---- */

/* Moves the free bodies of a group. Partials: TALUS_BODY_SUMS. */
static void integrate_bodies(void *context, int64_t begin, int64_t end, int64_t group)
{
    const IntegrateContext *c = context;
    CpuEngine *e = c->engine;
    TalusBodyArrays *b = &e->bodies;
    double sum[TALUS_BODY_SUMS] = {0.0};
    for (int64_t rank = begin; rank < end; rank++) {
        int64_t i = cpu_slot_of_rank(e, rank);
        if (!cpu_is_moved_here(e, i))
            continue;
        TalusMotion motion = {b->position[i], b->velocity[i], b->spin[i], b->orientation[i]};
        talus_move_body(&motion, b->mass[i], c->length[i], cpu_gyration(e, i), c->h, c->gravity,
                        c->velocity[i], sum);
        b->position[i] = motion.position;
        b->velocity[i] = motion.velocity;
        b->spin[i] = motion.spin;
        b->orientation[i] = motion.orientation;
    }
    for (int j = 0; j < TALUS_BODY_SUMS; j++)
        e->partial[group][j] = sum[j];
}

/* Moves all free bodies and adds their energies to the ledger. */
static void integrate_and_sum(IntegrateContext *c, TalusEngineLedger *ledger)
{
    CpuEngine *e = c->engine;
    double sum[TALUS_BODY_SUMS];
    cpu_sum_bodies(e, integrate_bodies, c, TALUS_BODY_SUMS, sum);
    ledger->kinetic = sum[TALUS_BODY_KINETIC_END];
    ledger->potential = sum[TALUS_BODY_POTENTIAL_END];
    ledger->kinetic_change += sum[TALUS_BODY_KINETIC_CHANGE] + sum[TALUS_BODY_SPIN_CHANGE];
    ledger->potential_change += sum[TALUS_BODY_POTENTIAL_CHANGE];
    /* the change of potential energy is minus gravity's work along the motion */
    ledger->gravity_error += sum[TALUS_BODY_POTENTIAL_CHANGE];
    ledger->spin += sum[TALUS_BODY_SPIN_CHANGE];
}

TalusStatus cpu_integrate(TalusEngine *engine, double h, TalusVec3 gravity, long long step,
                          TalusEngineLedger *ledger)
{
    CpuEngine *e = cpu_engine(engine);
    IntegrateContext c = {
        .engine = e,
        .bodies = talus_problem_operator(e->problem)->bodies,
        .velocity = e->solved,
        .before = talus_problem_operator(e->problem)->body,
        .length = talus_problem_lengths(e->problem),
        .h = h,
        .gravity = gravity,
    };
    e->step = step;
    *ledger = (TalusEngineLedger){0};
    if (e->tables.cohesion || e->joints.motor_changes > 0)
        cpu_fill_bodies(e); /* the problem's free velocities contain attraction and motors */
    cpu_add_force_works(e, h, ledger);
    TALUS_TRY(check_solved_motion(&c, ledger));
    TALUS_TRY(cpu_finish_contacts(e, ledger));
    cpu_add_driven_works(e, ledger);
    cpu_add_cell_works(e, ledger);
    cpu_compute_probes(e, h);
    integrate_and_sum(&c, ledger);
    return TALUS_OK;
}

/* ---- periodic space ---- */

typedef struct WrapContext {
    CpuEngine *engine;
    TalusVec3 gravity;
} WrapContext;

/* Partial: change of potential energy of the bodies that were moved back into the period. */
static void wrap_bodies(void *context, int64_t begin, int64_t end, int64_t group)
{
    const WrapContext *c = context;
    CpuEngine *e = c->engine;
    TalusBodyArrays *b = &e->bodies;
    double lifted = 0.0;
    for (int64_t rank = begin; rank < end; rank++) {
        int64_t i = cpu_slot_of_rank(e, rank);
        if (cpu_is_moved_here(e, i))
            lifted += talus_wrap_body(&e->period, b->mass[i], c->gravity, &b->position[i]);
    }
    e->partial[group][0] = lifted;
}

TalusStatus cpu_wrap_bodies(TalusEngine *engine, TalusVec3 gravity, double *lifted)
{
    CpuEngine *e = cpu_engine(engine);
    WrapContext c = {e, gravity};
    cpu_sum_bodies(e, wrap_bodies, &c, 1, lifted);
    return TALUS_OK;
}

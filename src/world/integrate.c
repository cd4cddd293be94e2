/* world/integrate.c - from solved velocities to the state at the end of the step.
 *
 * Positions: x' = x + h v'. How bodies turn is in backend/body.h.
 *
 * The loops over bodies also sum their side of the energy ledger; per body they read and write
 * about 500 bytes and run at memory speed. */
#include "world/internal.h"

#include "base/timer.h"
#include "collide/period.h"

typedef struct IntegrateContext {
    TalusWorld *world;
    const double (*velocity)[8]; /* solved */
    double (*before)[8];         /* free; then the mean of free and solved, for the ledger */
    const double *length;
    double h;
} IntegrateContext;

/* ---- check before anything changes ---- */

/* Looks at every velocity and at where it leads, sums gravity's work on velocities, and puts the
 * mean velocity in the place of the free one, which has served: contacts gather one record, not
 * two. */
static void check_velocities(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const IntegrateContext *c = context;
    const TalusBodies *b = &c->world->bodies;
    double bad = 0.0, gravity = 0.0;
    for (int64_t i = begin; i < end; i++) {
        if (!talus_slot_moves(b, (int)i))
            continue;
        const double *v = c->velocity[i];
        double *r = c->before[i];
        TalusVec3 x = b->position[i], old = b->velocity[i], free = talus_vec3(r[0], r[1], r[2]);
        bad += talus_motion_fault(x, c->h, c->length[i], v);
        gravity += 0.5 * b->mass[i] * talus_dot(talus_sub(free, old), talus_add(free, old));
        for (int j = 0; j < 8; j++)
            r[j] = 0.5 * (r[j] + v[j]);
    }
    c->world->partial[chunk][0] = bad;
    c->world->partial[chunk][1] = gravity;
}

static TalusStatus check_finite(IntegrateContext *c)
{
    TalusWorld *world = c->world;
    int slots = world->bodies.counts.slots;
    talus_parallel(world->pool, slots, TALUS_GRAIN, check_velocities, c);
    double sum[2];
    talus_sum_partials(world, slots, 2, sum);
    world->info.ledger.gravity_error += sum[1];
    if (sum[0] == 0.0)
        return TALUS_OK;
    for (int i = 0; i < slots; i++) {
        const double *v = c->velocity[i];
        double size = talus_record_speed(v);
        if (talus_slot_moves(&world->bodies, i) && !(size < 1e150))
            return talus_fail(TALUS_ERR_NUMERIC,
                              "step %lld: the solve gave body %d (generation %u) a speed of %g",
                              (long long)world->steps + 1, i, world->bodies.generation[i], size);
    }
    return talus_fail(TALUS_ERR_NUMERIC, "step %lld: the next state would not be finite",
                      (long long)world->steps + 1);
}

/* ---- all bodies ---- */

static void integrate_bodies(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const IntegrateContext *c = context;
    TalusBodies *b = &c->world->bodies;
    double sum[TALUS_BODY_SUMS] = {0.0};
    for (int64_t i = begin; i < end; i++) {
        if (!talus_slot_moves(b, (int)i))
            continue;
        TalusMotion motion = {b->position[i], b->velocity[i], b->spin[i], b->orientation[i]};
        talus_move_body(&motion, b->mass[i], c->length[i], talus_slot_gyration(c->world, (int)i),
                        c->h, c->world->def.gravity, c->velocity[i], sum);
        b->position[i] = motion.position;
        b->velocity[i] = motion.velocity;
        b->spin[i] = motion.spin;
        b->orientation[i] = motion.orientation;
    }
    for (int j = 0; j < TALUS_BODY_SUMS; j++)
        c->world->partial[chunk][j] = sum[j];
}

static void integrate_and_sum(IntegrateContext *c)
{
    TalusWorld *world = c->world;
    int slots = world->bodies.counts.slots;
    talus_parallel(world->pool, slots, TALUS_GRAIN, integrate_bodies, c);
    double sum[TALUS_BODY_SUMS];
    talus_sum_partials(world, slots, TALUS_BODY_SUMS, sum);
    TalusLedger *ledger = &world->info.ledger;
    ledger->kinetic = sum[TALUS_BODY_KINETIC_END];
    ledger->potential = sum[TALUS_BODY_POTENTIAL_END] + talus_sleep_potential(world);
    ledger->kinetic_change += sum[TALUS_BODY_WORK] + sum[TALUS_BODY_SPIN];
    ledger->potential_change += sum[TALUS_BODY_POTENTIAL];
    ledger->gravity_error += sum[TALUS_BODY_POTENTIAL]; /* on top of the work on velocities */
    ledger->spin += sum[TALUS_BODY_SPIN];
}

/* ---- space that repeats itself ---- */

static void wrap_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    TalusWorld *world = context;
    TalusBodies *b = &world->bodies;
    double lifted = 0.0;
    for (int64_t i = begin; i < end; i++) {
        if (!talus_slot_moves(b, (int)i))
            continue;
        TalusVec3 x = talus_wrap(&world->def.period, b->position[i]);
        lifted -= b->mass[i] * talus_dot(world->def.gravity, talus_sub(x, b->position[i]));
        b->position[i] = x;
    }
    world->partial[chunk][0] = lifted;
}

/* Gravity may have a part along a period, as on a slope: a body that goes around is lifted, and that energy
 * is exchanged with nobody knows whom. */
static void wrap_bodies(TalusWorld *world)
{
    int slots = world->bodies.counts.slots;
    double lifted;
    talus_parallel(world->pool, slots, TALUS_GRAIN, wrap_chunk, world);
    talus_sum_partials(world, slots, 1, &lifted);
    TalusLedger *ledger = &world->info.ledger;
    ledger->potential += lifted;
    ledger->potential_change += lifted;
    ledger->exchange += lifted;
}

TalusStatus talus_step_integrate(TalusWorld *world, double h)
{
    double start = talus_now();
    TalusOperator *op = talus_problem_operator(world->problem);
    IntegrateContext c = {
        .world = world,
        .velocity = world->solved,
        .before = op->body,
        .length = talus_problem_lengths(world->problem),
        .h = h,
    };
    if (world->materials.any_cohesion || world->joints.any_push)
        talus_fill_bodies(world); /* the problem's free velocities have impulses in them */
    talus_forces_ledger(world, h);
    TALUS_TRY(check_finite(&c));
    talus_ledger_contacts(world);
    world->info.ledger.joints += talus_joints_work(world, world->contacts->count, h);
    talus_ledger_driven(world);
    talus_probes_collect(world, c.velocity);
    TALUS_TRY(talus_joints_aim(world));
    integrate_and_sum(&c);
    talus_drives_arrive(world);
    TALUS_TRY(talus_joints_project(world, h));
    talus_joints_moved(world);
    if (talus_periodic(&world->def.period))
        wrap_bodies(world);
    world->impulse_step = h;
    world->info.integrate_seconds += talus_now() - start;
    return TALUS_OK;
}

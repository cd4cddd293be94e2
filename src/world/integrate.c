/* world/integrate.c - from solved velocities to the state at the end of the step.
 *
 * Positions: x' = x + h v'. Orientations, by the Cayley map (talus/math.h):
 *   spheres  e' = cay(h w') e
 *   others   with L = I(e) w' after the solve, kept exactly:
 *            e_half = cay(h/2 w') e,  w_mid = I(e_half)^-1 L,  e' = cay(h w_mid) e,
 *            w'' = I(e')^-1 L
 * The midpoint rule on orientation alone: angular momentum is conserved to rounding, energy to
 * order h^2 without drift in one direction, where an explicit gyroscopic torque gains energy.
 *
 * The loops over bodies also sum their side of the energy ledger; per body they read and write
 * about 500 bytes and run at memory speed. */
#include "world/internal.h"

#include "base/timer.h"

typedef struct IntegrateContext {
    TalusWorld *world;
    const double (*velocity)[8]; /* solved */
    double (*before)[8];         /* free; then the mean of free and solved, for the ledger */
    const double *length;
    double h;
} IntegrateContext;

double talus_spin_energy(const TalusGyration *gyration, TalusQuat orientation, TalusVec3 spin)
{
    TalusVec3 w = talus_rotate_back(orientation, spin);
    return 0.5 * talus_dot(w, talus_sym3_mul(gyration->inertia, w));
}

/* m a in the body's frame, seen from the world */
static TalusVec3 turned_mul(TalusQuat orientation, TalusSym3 m, TalusVec3 a)
{
    return talus_rotate(orientation, talus_sym3_mul(m, talus_rotate_back(orientation, a)));
}

/* cay(h w) e, normalised once, at the end */
static TalusQuat turn(TalusQuat orientation, double h, TalusVec3 spin)
{
    TalusVec3 half = talus_scale(0.5 * h, spin);
    TalusQuat step = {1.0, half.x, half.y, half.z};
    return talus_quat_normalize(talus_quat_mul(step, orientation));
}

void talus_rotate_body(const TalusGyration *gyration, double h, TalusQuat *orientation,
                       TalusVec3 *spin)
{
    TalusQuat e = *orientation;
    TalusVec3 momentum = turned_mul(e, gyration->inertia, *spin); /* per unit mass */
    TalusVec3 middle = turned_mul(turn(e, 0.5 * h, *spin), gyration->inverse, momentum);
    *orientation = turn(e, h, middle);
    *spin = turned_mul(*orientation, gyration->inverse, momentum);
}

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
        double angle = c->h / c->length[i] * (fabs(v[4]) + fabs(v[5]) + fabs(v[6]));
        double sum = (x.x + c->h * v[0]) + (x.y + c->h * v[1]) + (x.z + c->h * v[2]) +
                     (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) + angle * angle;
        bad += sum - sum; /* not 0 for a NaN and an infinity */
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
        double size = fabs(v[0]) + fabs(v[1]) + fabs(v[2]) + fabs(v[4]) + fabs(v[5]) + fabs(v[6]);
        if (talus_slot_moves(&world->bodies, i) && !(size < 1e150))
            return talus_fail(TALUS_ERR_NUMERIC,
                              "step %lld: the solve gave body %d (generation %u) a speed of %g",
                              (long long)world->steps + 1, i, world->bodies.generation[i], size);
    }
    return talus_fail(TALUS_ERR_NUMERIC, "step %lld: the next state would not be finite",
                      (long long)world->steps + 1);
}

/* ---- one body ---- */

enum { WORK, POTENTIAL, SPIN, KINETIC_END, POTENTIAL_END, SUMS };

/* Rotation of one body: new orientation and spin, energies per unit mass into `sum`. */
static void integrate_spin(const IntegrateContext *c, int i, double mass, double *sum)
{
    TalusBodies *b = &c->world->bodies;
    const double *s = &c->velocity[i][4];
    double l = c->length[i];
    TalusVec3 old = talus_scale(l, b->spin[i]), new = talus_vec3(s[0], s[1], s[2]);
    TalusVec3 change = talus_sub(new, old), both = talus_add(new, old);
    b->spin[i] = talus_scale(1.0 / l, new);
    if (talus_slot_is_sphere(c->world, i)) {
        sum[WORK] += mass * 0.2 * talus_dot(change, both);
        sum[KINETIC_END] += mass * 0.2 * talus_dot(new, new);
        b->orientation[i] = turn(b->orientation[i], c->h, b->spin[i]);
        return;
    }
    const TalusGyration *gyration = &c->world->gyration[b->shape[i]];
    TalusVec3 turned = turned_mul(b->orientation[i], gyration->inertia, both);
    sum[WORK] += mass * 0.5 * talus_dot(change, turned) / (l * l);
    double before = talus_spin_energy(gyration, b->orientation[i], b->spin[i]);
    talus_rotate_body(gyration, c->h, &b->orientation[i], &b->spin[i]);
    double after = talus_spin_energy(gyration, b->orientation[i], b->spin[i]);
    sum[SPIN] += mass * (after - before);
    sum[KINETIC_END] += mass * after;
}

static void integrate_bodies(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const IntegrateContext *c = context;
    TalusBodies *b = &c->world->bodies;
    TalusVec3 g = c->world->def.gravity;
    double sum[SUMS] = {0.0};
    for (int64_t i = begin; i < end; i++) {
        if (!talus_slot_moves(b, (int)i))
            continue;
        const double *r = c->velocity[i];
        double m = b->mass[i];
        TalusVec3 old = b->velocity[i], v = talus_vec3(r[0], r[1], r[2]);
        TalusVec3 x = b->position[i], moved = talus_madd(x, c->h, v);
        sum[WORK] += 0.5 * m * talus_dot(talus_sub(v, old), talus_add(v, old));
        sum[POTENTIAL] -= m * talus_dot(g, talus_sub(moved, x));
        sum[KINETIC_END] += 0.5 * m * talus_dot(v, v);
        sum[POTENTIAL_END] -= m * talus_dot(g, moved);
        b->velocity[i] = v;
        b->position[i] = moved;
        integrate_spin(c, (int)i, m, sum);
    }
    for (int j = 0; j < SUMS; j++)
        c->world->partial[chunk][j] = sum[j];
}

static void integrate_and_sum(IntegrateContext *c)
{
    TalusWorld *world = c->world;
    int slots = world->bodies.counts.slots;
    talus_parallel(world->pool, slots, TALUS_GRAIN, integrate_bodies, c);
    double sum[SUMS];
    talus_sum_partials(world, slots, SUMS, sum);
    TalusLedger *ledger = &world->info.ledger;
    ledger->kinetic = sum[KINETIC_END];
    ledger->potential = sum[POTENTIAL_END];
    ledger->kinetic_change += sum[WORK] + sum[SPIN];
    ledger->potential_change += sum[POTENTIAL];
    ledger->gravity_error += sum[POTENTIAL]; /* on top of the work on velocities */
    ledger->spin += sum[SPIN];
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
    TALUS_TRY(check_finite(&c));
    talus_ledger_contacts(world);
    talus_probes_collect(world, c.velocity);
    integrate_and_sum(&c);
    world->impulse_step = h;
    world->info.integrate_seconds += talus_now() - start;
    return TALUS_OK;
}

/* Analytic motions under material laws that take few steps, for worlds on any backend. */
#ifndef TALUS_TEST_MATERIAL_CASES_H
#define TALUS_TEST_MATERIAL_CASES_H

#include "material_world.h"

/* ---- restitution ---- */

/* Faster than 2 g h a contact rebounds, slower it does not. */
TEST(the_threshold_is_relative_to_gravity_and_step)
{
    for (int fast = 0; fast < 2; fast++) {
        const double h = 0.01, speed = (fast ? 2.1 : 1.9) * g * h;
        TalusWorldDef def = tight_def(h);
        TalusPairDef pair = talus_pair_def_default();
        pair.restitution = 0.5;
        TalusWorld *world = make_world(&def, &pair);
        add_floor(world);
        add_body(world, sphere(0.1), 1.0, talus_vec3(0, 0, 0.1), talus_vec3(0, 0, -speed), zero);
        State s = step(world);
        CHECK_NEAR(s.v.z, fast ? 0.5 * speed : 0.0, 1e-9);
        talus_world_destroy(world);
    }
}

/* Exact friction leaves Newton's law alone: a ball that comes in at an angle leaves the floor at e times the
 * normal speed it came with, while friction, sliding all the way, takes mu times what the normal gave. */
TEST(friction_does_not_change_a_rebound)
{
    const double h = 0.001, mu = 0.1, e = 0.5, down = 1.0;
    TalusWorldDef def = tight_def(h);
    def.friction.law = TALUS_LAW_COULOMB;
    TalusPairDef pair = talus_pair_def_default();
    pair.friction = mu;
    pair.restitution = e;
    TalusWorld *world = make_world(&def, &pair);
    add_floor(world);
    add_body(world, sphere(0.1), 1.0, talus_vec3(0, 0, 0.1), talus_vec3(2.0, 0, -down), zero);
    State s = step(world);
    CHECK_NEAR(s.v.z, e * down, 1e-9);
    CHECK_NEAR(s.v.x, 2.0 - mu * ((1.0 + e) * down + g * h), 1e-9);
    talus_world_destroy(world);
}

/* An overlap is undone at the recovery speed, an impact returned by e: the faster of the two, not both. */
TEST(recovery_and_rebound_do_not_add_up)
{
    const double h = 0.01, radius = 0.1, limit = 0.2 * sqrt(g * radius);
    for (int fast = 0; fast < 2; fast++) {
        double speed = fast ? 10.0 * limit : 0.5 * limit;
        TalusWorldDef def = tight_def(h);
        def.restitution_threshold = 0.1;
        TalusPairDef pair = talus_pair_def_default();
        pair.restitution = 0.5;
        TalusWorld *world = make_world(&def, &pair);
        add_floor(world);
        add_body(world, sphere(radius), 1.0, talus_vec3(0, 0, 0.5 * radius),
                 talus_vec3(0, 0, -speed), zero);
        State s = step(world);
        CHECK_NEAR(s.v.z, fast ? 0.5 * speed : limit, 1e-9);
        double impulse = s.v.z + speed + g * h; /* what undoes overlap is told apart from rebound */
        CHECK_NEAR(info.ledger.stabilisation, impulse * limit, 1e-9);
        talus_world_destroy(world);
    }
}

/* Applied forces count as gravity does: a ball that is pressed down leaves by e times the speed that it had before the
 * step, and bodies at rest stay at rest under a force, and under a torque too weak to tip them. */
TEST(an_applied_force_is_no_impact)
{
    const double h = 0.01, e = 0.5, speed[] = {0.0, 1.0, 0.0}, half = 0.1;
    for (int k = 0; k < 3; k++) {
        TalusWorldDef def = tight_def(h);
        def.restitution_threshold = 0.1;
        TalusPairDef pair = talus_pair_def_default();
        pair.restitution = e;
        TalusWorld *world = make_world(&def, &pair);
        add_floor(world);
        TalusBodyId id = add_body(world, k < 2 ? sphere(half) : box(half, half, half), 1.0,
                                  talus_vec3(0, 0, half), talus_vec3(0, 0, -speed[k]), zero);
        TalusVec3 force = {0.0, 0.0, k < 2 ? -10.0 * g : 0.0};
        TalusVec3 torque = {0.0, k < 2 ? 0.0 : 0.5 * g * half, 0.0};
        CHECK_OK(talus_world_set_force(world, id, force, torque));
        for (int i = 0; i < (k == 1 ? 1 : 4); i++) {
            State s = step(world);
            CHECK_NEAR(s.v.z, e * speed[k], 1e-8);
            CHECK(talus_norm(s.w) < 1e-7);
        }
        talus_world_destroy(world);
    }
}

/* ---- spinning ---- */

/* (2/5) m R^2 dw/dt = -spinning R m g: w falls by 5/2 spinning g / R a second and is 0 at
 * (2/5) R w / (spinning g); an implicit step has constant decelerations exactly. */
TEST(a_spinning_sphere_stops_when_it_should)
{
    const double h = 0.005, radius = 0.1, spinning = 0.05, speed = 10.0;
    const double rate = 2.5 * spinning * g / radius, stop = speed / rate;
    TalusWorldDef def = tight_def(h);
    def.friction.law = TALUS_LAW_COULOMB;
    TalusPairDef pair = talus_pair_def_default();
    pair.spinning = spinning;
    TalusWorld *world = make_world(&def, &pair);
    add_floor(world);
    add_body(world, sphere(radius), 1.0, talus_vec3(0, 0, radius), zero, talus_vec3(0, 0, speed));
    double stopped = 0.0;
    for (int i = 1; i * h < 1.2 * stop; i++) {
        State s = step(world);
        CHECK_NEAR(s.w.z, fmax(0.0, speed - rate * i * h), 1e-6);
        CHECK(fabs(s.v.x) + fabs(s.v.y) < 1e-8);
        if (s.w.z > 1e-6)
            stopped = talus_world_time(world);
    }
    CHECK(stopped <= stop && stopped > stop - 1.001 * h);
    talus_world_destroy(world);
}

/* Two equal spheres, one above the other, spin against each other: L is half a radius there. */
TEST(two_spheres_turn_on_their_reduced_radius)
{
    const double h = 0.002, radius = 0.1, spinning = 0.05, speed = 20.0;
    TalusWorldDef def = tight_def(h);
    def.friction.law = TALUS_LAW_COULOMB;
    TalusPairDef pair = talus_pair_def_default();
    pair.spinning = spinning;
    TalusWorld *world = make_world(&def, &pair);
    int probe = -1;
    add_body(world, sphere(radius), 0.0, zero, zero, zero);
    TalusBodyId top = add_body(world, sphere(radius), 2.0, talus_vec3(0, 0, 2.0 * radius), zero,
                               talus_vec3(0, 0, speed));
    TalusProbeDef look = {.name = "top", .body = top};
    REQUIRE_OK(talus_world_add_probe(world, &look, &probe));
    State s = step(world);
    double moment = spinning * 0.5 * radius * 2.0 * g;
    CHECK_NEAR(s.w.z, speed - h * moment / (0.4 * 2.0 * radius * radius), 1e-7);
    TalusProbeValue value = talus_world_probe_value(world, probe);
    CHECK_NEAR(value.torque.z, -moment, 1e-6 * moment); /* probes see moments, too */
    CHECK_NEAR(value.force.z, 2.0 * g, 1e-6);
    talus_world_destroy(world);
}

/* Two equal spheres meet head-on in free space while they spin against each other: the impulse is
 * (1 + e) m u / 2, the moment's spinning L times that, on both alike. */
TEST(two_spheres_in_flight_share_rebound_and_moment)
{
    const double radius = 0.1, e = 0.5, speed = 2.0, spinning = 0.05, turn = 40.0;
    TalusWorldDef def = tight_def(0.001);
    def.gravity = zero;
    def.reference_speed = 0.01;
    def.friction.law = TALUS_LAW_COULOMB;
    TalusPairDef pair = talus_pair_def_default();
    pair.restitution = e;
    pair.spinning = spinning;
    TalusWorld *world = make_world(&def, &pair);
    add_body(world, sphere(radius), 1.0, talus_vec3(0.2, 0, 0), zero, talus_vec3(-turn, 0, 0));
    add_body(world, sphere(radius), 1.0, zero, talus_vec3(speed, 0, 0), talus_vec3(turn, 0, 0));
    State s = step(world);
    double impulse = 0.5 * (1.0 + e) * speed, moment = spinning * 0.5 * radius * impulse;
    double change = moment / (0.4 * radius * radius);
    CHECK_NEAR(s.v.x, speed - impulse, 1e-9);
    CHECK_NEAR(s.w.x, turn - change, 1e-7);
    CHECK_NEAR(info.ledger.kinetic,
               0.5 * (impulse * impulse + s.v.x * s.v.x) +
                   0.4 * radius * radius * (turn - change) * (turn - change),
               1e-8);
    talus_world_destroy(world);
}

/* ---- rolling ---- */

/* Adds a solid cylinder of 1 kg whose axis is along y, touching z = 0 and rolling along x. */
static void add_roller(TalusWorld *world, double radius, double half_height, double speed)
{
    TalusShapeDef shape = {
        .kind = TALUS_SHAPE_CYLINDER, .radius = radius, .half_height = half_height};
    TalusVec3 x = {0.0, 0.0, radius}, v = {speed, 0.0, 0.0}, w = {0.0, speed / radius, 0.0};
    TalusQuat lying = {sqrt(0.5), sqrt(0.5), 0.0, 0.0};
    TalusBodyBatch batch = talus_body_batch_default();
    CHECK_OK(talus_world_add_shape(world, &shape, &batch.shape));
    batch.count = 1;
    batch.mass = 1.0;
    batch.position = &x;
    batch.orientation = &lying;
    batch.velocity = &v;
    batch.spin = &w;
    CHECK_OK(talus_world_add_bodies(world, &batch, NULL));
}

/* A solid cylinder rolls on its rim without slip against the moment M = rolling R m g. With F the friction at the
 * contacts, m a = F and (1/2) m R a = M / R - F, so a = 2/3 rolling g, whether it is a coin or a roller. */
TEST(a_cylinder_rolls_on_its_radius)
{
    const double h = 0.002, radius = 0.1, rolling = 0.1, speed = 0.5, half_height[] = {0.02, 0.3};
    for (int k = 0; k < 2; k++) {
        TalusWorldDef def = tight_def(h);
        def.friction.law = TALUS_LAW_COULOMB;
        TalusPairDef pair = talus_pair_def_default();
        pair.friction = 0.5;
        pair.rolling = rolling;
        TalusWorld *world = make_world(&def, &pair);
        add_floor(world);
        add_roller(world, radius, half_height[k], speed);
        for (int i = 1; i <= 50; i++) {
            State s = step(world);
            CHECK_NEAR(s.v.x, speed - 2.0 / 3.0 * rolling * g * i * h, 1e-6);
            CHECK_NEAR(s.w.y, s.v.x / radius, 1e-5);
        }
        talus_world_destroy(world);
    }
}

/* ---- cohesion ---- */

/* A ball of 2 kg under a ceiling: how far it hangs below it after 0.2 s. */
static double hang(double cohesion, double range, double *force)
{
    TalusWorldDef def = tight_def(0.002);
    def.cohesion_range = range;
    def.gravity = talus_vec3(0, 0, g); /* the floor is a ceiling */
    TalusPairDef pair = talus_pair_def_default();
    pair.cohesion = cohesion;
    TalusWorld *world = make_world(&def, &pair);
    int probe = -1;
    add_floor(world);
    TalusBodyId ball = add_body(world, sphere(0.1), 2.0, talus_vec3(0, 0, 0.1), zero, zero);
    TalusProbeDef look = {.name = "ball", .body = ball};
    CHECK_OK(talus_world_add_probe(world, &look, &probe));
    for (int i = 0; i < 100; i++) {
        step(world);
        if (i == 1)
            *force = talus_world_probe_value(world, probe).force.z;
    }
    double distance = state_of(world).x.z - 0.1;
    talus_world_destroy(world);
    return distance;
}

TEST(a_contact_holds_up_to_its_cohesion)
{
    double force;
    CHECK(fabs(hang(1.001 * 2.0 * g, 0.01, &force)) < 1e-9);
    CHECK_NEAR(force, -2.0 * g, 1e-6);       /* what it carries, not what it could */
    CHECK(info.solve.start_residual < 1e-9); /* and where it is carried, the next step begins */
    CHECK(hang(0.999 * 2.0 * g, 0.01, &force) > 1e-5);
    CHECK_NEAR(force, -0.999 * 2.0 * g, 1e-6);
    /* at half its weight it is held back by g/2 as far as cohesion reaches, then falls freely */
    for (int wide = 0; wide < 2; wide++) {
        double range = wide ? 0.1 : 0.01, reach = 0.1 * range;
        double t = sqrt(2.0 * reach / (0.5 * g)), v = 0.5 * g * t, rest = 0.2 - t;
        double fall = reach + v * rest + 0.5 * g * rest * rest, h = 0.002;
        CHECK_NEAR(hang(0.5 * 2.0 * g, range, &force), fall + 0.5 * h * g * 0.2, h * g * 0.1);
    }
}

/* Drift of a box of 1 kg on four corners, each pressed by m g / 4 and by its cohesion, in 0.1 s. */
static double push(double cohesion, double pull)
{
    TalusWorldDef def = tight_def(0.002);
    def.friction.law = TALUS_LAW_COULOMB;
    def.gravity = talus_vec3(pull, 0, -g);
    TalusPairDef pair = talus_pair_def_default();
    pair.friction = 0.4;
    pair.cohesion = cohesion;
    TalusWorld *world = make_world(&def, &pair);
    add_floor(world);
    add_body(world, box(0.2, 0.2, 0.02), 1.0, talus_vec3(0, 0, 0.02), zero, zero);
    for (int i = 0; i < 50; i++)
        step(world);
    double drift = state_of(world).x.x;
    talus_world_destroy(world);
    return drift;
}

TEST(friction_is_bounded_by_load_and_cohesion)
{
    const double cohesion = 3.0, bound = 0.4 * (g + 4.0 * cohesion);
    CHECK(fabs(push(cohesion, 0.99 * bound)) < 1e-9);
    CHECK_NEAR(push(cohesion, 1.5 * bound), 0.5 * 0.5 * bound * 0.1 * 0.1 * (1.0 + 1.0 / 50.0),
               1e-6);
}

static inline void run_material_cases(void)
{
    RUN(the_threshold_is_relative_to_gravity_and_step);
    RUN(friction_does_not_change_a_rebound);
    RUN(recovery_and_rebound_do_not_add_up);
    RUN(an_applied_force_is_no_impact);
    RUN(a_spinning_sphere_stops_when_it_should);
    RUN(two_spheres_turn_on_their_reduced_radius);
    RUN(two_spheres_in_flight_share_rebound_and_moment);
    RUN(a_cylinder_rolls_on_its_radius);
    RUN(a_contact_holds_up_to_its_cohesion);
    RUN(friction_is_bounded_by_load_and_cohesion);
}

#endif

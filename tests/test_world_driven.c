/* Bodies that move as they are told: what they carry, what they do, and that they do not drift. */
#include "material_world.h"

static TalusBodyId drive(TalusWorld *world, TalusBodyId id, const TalusDriveDef *def)
{
    CHECK_OK(talus_world_set_drive(world, id, def));
    return id;
}

static void set_friction(TalusWorld *world, double mu)
{
    CHECK_OK(talus_world_set_friction(world, 0, 0, mu));
}

static TalusVec3 position_of(const TalusWorld *world, int index)
{
    TalusVec3 x[8];
    TalusBodyState arrays = {.position = x};
    talus_world_get_state(world, &arrays);
    return x[index];
}

/* A floor that runs at 1 m/s takes a block along: friction accelerates it at mu g until they go together.
 * The drive's work is force times way of the floor, whatever the block does. */
TEST(a_moving_floor_takes_a_block_along)
{
    const double mu = 0.3, speed = 1.0, h = 1e-3;
    TalusWorldDef def = tight_def(h);
    TalusWorld *world = make_world(&def, NULL);
    TalusPairDef pair = talus_pair_def_default();
    pair.own_model = true;
    pair.model.law = TALUS_LAW_COULOMB; /* the relaxed law lifts what slides */
    REQUIRE_OK(talus_world_set_pair(world, 0, 0, &pair));
    set_friction(world, mu);
    TalusDriveDef run = talus_drive_def_default();
    run.velocity = talus_vec3(speed, 0.0, 0.0);
    TalusBodyId floor = drive(world, add_floor(world), &run);
    add_body(world, box(0.1, 0.1, 0.1), 2.0, talus_vec3(0, 0, 0.1), zero, zero);
    TalusProbeDef probe = {.name = "floor", .kind = TALUS_PROBE_BODY, .body = floor};
    REQUIRE_OK(talus_world_add_probe(world, &probe, NULL));
    double driven = 0.0, friction = 0.0;
    for (int i = 1; i <= 500; i++) {
        State s = step(world);
        double t = i * h, expected = fmin(mu * g * t, speed);
        CHECK_NEAR(s.v.x, expected, 1e-6);
        bool slides = t < 0.9 * speed / (mu * g);
        if (slides) {
            CHECK_NEAR(info.ledger.driven, 2.0 * mu * g * h * speed, 1e-6);
            TalusProbeValue value = talus_world_probe_value(world, 0);
            CHECK_NEAR(value.force.x, -2.0 * mu * g, 1e-5);
            CHECK_NEAR(value.force.z, -2.0 * g, 1e-5);
        }
        driven += info.ledger.driven;
        friction += info.ledger.friction;
    }
    /* half of what the drive gives is kinetic, half is lost in sliding */
    CHECK_NEAR(driven, 2.0 * speed * speed, 1e-5);
    CHECK_NEAR(friction, -1.0 * speed * speed, 0.01);
    CHECK_NEAR(position_of(world, 0).x, 0.5 * speed, 1e-12);
    talus_world_destroy(world);
}

/* A plate that shakes with less than g keeps its ball; one that shakes harder throws it. */
TEST(a_vibrating_plate_throws_a_ball_above_g)
{
    for (int hard = 0; hard < 2; hard++) {
        const double f = 5.0, a = (hard ? 1.5 : 0.9) * g / (4.0 * M_PI * M_PI * f * f);
        TalusWorldDef def = tight_def(5e-4);
        TalusWorld *world = make_world(&def, NULL);
        TalusDriveDef shake = talus_drive_def_default();
        shake.amplitude = talus_vec3(0.0, 0.0, a);
        shake.frequency = f;
        drive(world, add_floor(world), &shake);
        add_body(world, sphere(0.01), 0.01, talus_vec3(0, 0, 0.01), zero, zero);
        double widest = 0.0;
        for (int i = 1; i <= 800; i++) {
            State s = step(world);
            TalusVec3 plate = position_of(world, 0);
            CHECK_NEAR(plate.z, a * sin(2.0 * M_PI * f * i * 5e-4), 1e-12);
            widest = fmax(widest, s.x.z - 0.01 - plate.z);
            CHECK(s.x.z - 0.01 - plate.z > -1e-6);
        }
        if (hard)
            CHECK(widest > 0.1 * a);
        else
            CHECK(widest < 2e-3 * a);
        talus_world_destroy(world);
    }
}

static const double drum_profile[] = {0.0, -0.05, 0.2, -0.05, 0.2, 0.05, 0.0, 0.05};

static TalusWorld *make_drum(int threads, double spin)
{
    TalusWorldDef def = talus_world_def_default();
    def.step = 1e-3;
    def.threads = threads;
    def.solver = "gs";
    TalusWorld *world = make_world(&def, NULL);
    TalusShapeDef revolve = {
        .kind = TALUS_SHAPE_REVOLVE, .profile = drum_profile, .point_count = 4};
    TalusBodyBatch batch = talus_body_batch_default();
    TalusQuat lying = {sqrt(0.5), sqrt(0.5), 0.0, 0.0}; /* its axis along -y */
    TalusBodyId id;
    CHECK_OK(talus_world_add_shape(world, &revolve, &batch.shape));
    batch.count = 1;
    batch.fixed = true;
    batch.position = &zero;
    batch.orientation = &lying;
    CHECK_OK(talus_world_add_bodies(world, &batch, &id));
    TalusDriveDef turn = talus_drive_def_default();
    turn.spin = talus_vec3(0.0, spin, 0.0);
    drive(world, id, &turn);
    for (int i = 0; i < 24; i++)
        add_body(world, sphere(0.015), 0.05,
                 talus_vec3(0.04 * (i % 6) - 0.1, 0.0, 0.04 * (i / 6) - 0.1), zero, zero);
    return world;
}

/* Grains go up with the drum's wall: the torque on it is against its spin, and its work is that times the
 * spin. The same bits for any number of threads and after a restart, on contacts that share one body. */
TEST(a_drum_lifts_grains_and_its_work_closes_the_ledger)
{
    TalusWorld *one = make_drum(1, 3.0), *two = make_drum(4, 3.0), *loaded = NULL;
    TalusProbeDef probe = {.name = "drum", .kind = TALUS_PROBE_BODY, .body = {1}};
    REQUIRE_OK(talus_world_add_probe(one, &probe, NULL));
    double work = 0.0, torque = 0.0;
    for (int i = 0; i < 500; i++) {
        CHECK_OK(talus_world_step(one, &info));
        CHECK_OK(talus_world_step(two, NULL));
        const TalusLedger *l = &info.ledger;
        CHECK(fabs(l->imbalance) < 1e-12 * (l->kinetic + fabs(l->driven) + 1.0));
        work += l->driven;
        torque += talus_world_probe_value(one, 0).torque.y;
        /* no wall moves along its normal, so all work is the torque's */
        CHECK_NEAR(l->driven, -3.0 * 1e-3 * talus_world_probe_value(one, 0).torque.y, 1e-12);
        if (i == 249) {
            void *bytes;
            size_t size;
            REQUIRE_OK(talus_world_save(one, &bytes, &size));
            REQUIRE_OK(talus_world_load(bytes, size, 2, NULL, &loaded));
            talus_free(bytes);
        }
    }
    CHECK(work > 0.05 && torque < 0.0);
    CHECK(talus_world_hash(one) == talus_world_hash(two));
    for (int i = 0; loaded && i < 250; i++)
        CHECK_OK(talus_world_step(loaded, NULL));
    CHECK(loaded && talus_world_hash(one) == talus_world_hash(loaded));
    talus_world_destroy(one);
    talus_world_destroy(two);
    talus_world_destroy(loaded);
}

TEST(a_rotation_does_not_drift_in_a_hundred_thousand_steps)
{
    TalusWorldDef def = tight_def(1e-3);
    TalusWorld *world = make_world(&def, NULL);
    TalusDriveDef turn = talus_drive_def_default();
    turn.spin = talus_vec3(0.0, 0.0, 2.0);
    turn.own_axis = true;
    turn.point = talus_vec3(1.0, 0.0, 0.0);
    TalusBodyId id = add_body(world, box(0.1, 0.2, 0.3), 0.0, zero, zero, zero);
    drive(world, id, &turn);
    for (int i = 0; i < 100000; i++)
        REQUIRE_OK(talus_world_step(world, NULL));
    TalusVec3 x, v;
    TalusQuat q;
    TalusBodyState state = {.position = &x, .orientation = &q, .velocity = &v};
    talus_world_get_state(world, &state);
    CHECK_NEAR(x.x, 1.0 - cos(200.0), 1e-12);
    CHECK_NEAR(x.y, -sin(200.0), 1e-12);
    CHECK_NEAR(q.w, cos(100.0), 1e-12);
    CHECK_NEAR(q.z, sin(100.0), 1e-12);
    CHECK_NEAR(talus_norm(v), 2.0, 1e-6); /* the chord of the step */
    talus_world_destroy(world);
}

TEST(a_drive_starts_and_stops_and_is_taken_away)
{
    TalusWorldDef def = tight_def(1e-2);
    TalusWorld *world = make_world(&def, NULL);
    TalusDriveDef move = talus_drive_def_default();
    move.velocity = talus_vec3(1.0, 0.0, 0.0);
    move.start = 0.105;
    move.stop = 0.305;
    TalusBodyId id = drive(world, add_body(world, box(1, 1, 1), 0.0, zero, zero, zero), &move);
    for (int i = 0; i < 10; i++)
        CHECK_OK(talus_world_step(world, NULL));
    CHECK(position_of(world, 0).x == 0.0);
    CHECK_OK(talus_world_step(world, NULL));
    CHECK_NEAR(position_of(world, 0).x, 0.005, 1e-15);
    for (int i = 0; i < 40; i++)
        CHECK_OK(talus_world_step(world, NULL));
    CHECK_NEAR(position_of(world, 0).x, 0.2, 1e-15);
    CHECK_OK(talus_world_set_drive(world, id, NULL));
    CHECK_OK(talus_world_step(world, NULL));
    CHECK_NEAR(position_of(world, 0).x, 0.2, 1e-15);
    talus_world_destroy(world);
}

/* A box at x = 1 turns faster and faster about itself, is pushed outwards ever faster, and all that turns about the z axis:
 * in closed form, with the velocities that lead there, and with the same bits after a restart. */
TEST(each_motion_moves_what_those_before_it_have_moved)
{
    const double h = 1e-3;
    TalusWorldDef def = tight_def(h);
    TalusWorld *world = make_world(&def, NULL);
    TalusDriveDef own = talus_drive_def_default(), push = own, round = own;
    own.spin = talus_vec3(0.0, 0.0, 2.0);
    own.spin_acceleration = talus_vec3(0.0, 0.0, 1.0);
    push.acceleration = talus_vec3(1.0, 0.0, 0.0);
    round.spin = talus_vec3(0.0, 0.0, 3.0);
    round.own_axis = true;
    TalusBodyId other = add_body(world, box(1, 1, 1), 0.0, talus_vec3(0, 9, 0), zero, zero);
    TalusBodyId id = add_body(world, box(0.1, 0.1, 0.1), 0.0, talus_vec3(1, 0, 0), zero, zero);
    drive(world, id, &own);
    drive(world, other, &push);
    CHECK_OK(talus_world_add_drive(world, id, &push));
    CHECK_OK(talus_world_add_drive(world, id, &round));
    TalusVec3 before = {0}, x[2], v[2], w[2];
    TalusQuat e[2];
    TalusBodyState state = {.position = x, .velocity = v, .spin = w, .orientation = e};
    for (int i = 1; i <= 700; i++) {
        CHECK_OK(talus_world_step(world, NULL));
        talus_world_get_state(world, &state);
        const double t = i * h, out = 1.0 + 0.5 * t * t, half = 0.5 * (5.0 * t + 0.5 * t * t);
        CHECK_NEAR(x[0].x, 0.5 * t * t, 1e-12);
        CHECK_NEAR(x[1].x, out * cos(3.0 * t), 1e-12);
        CHECK_NEAR(x[1].y, out * sin(3.0 * t), 1e-12);
        CHECK_NEAR(e[1].w, cos(half), 1e-12);
        CHECK_NEAR(e[1].z, sin(half), 1e-12);
        CHECK_NEAR(w[1].z, 5.0 + t - 0.5 * h, 1e-12);
        if (i > 1)
            CHECK_NEAR(v[1].x * h, x[1].x - before.x, 1e-14);
        before = x[1];
    }
    void *bytes = NULL;
    size_t size;
    TalusWorld *again = NULL;
    CHECK_OK(talus_world_save(world, &bytes, &size));
    REQUIRE_OK(talus_world_load(bytes, size, 2, NULL, &again));
    talus_free(bytes);
    for (int i = 0; i < 20; i++) {
        CHECK_OK(talus_world_step(world, NULL));
        CHECK_OK(talus_world_step(again, NULL));
    }
    CHECK(talus_world_hash(world) == talus_world_hash(again));
    CHECK_OK(talus_world_set_drive(again, id, NULL)); /* all motions of this body alone */
    CHECK_OK(talus_world_step(again, NULL));
    talus_world_get_state(again, &state);
    CHECK(talus_norm(v[1]) == 0.0 && talus_norm(w[1]) == 0.0 && v[0].x > 0.7);
    talus_world_destroy(again);
    talus_world_destroy(world);
}

/* Halved steps see the parts of the motion in their order, and a step that fails leaves no trace. */
TEST(halved_and_failed_steps_keep_to_the_motion)
{
    for (int stop = 0; stop < 2; stop++) {
        TalusWorldDef def = tight_def(1e-2);
        def.max_iterations = 1;
        def.tolerance = 1e-12;
        def.on_miss = stop ? TALUS_MISS_STOP : TALUS_MISS_HALVE;
        TalusWorld *world = make_world(&def, NULL);
        TalusDriveDef shake = talus_drive_def_default();
        shake.amplitude = talus_vec3(0.1, 0.0, 0.0);
        shake.frequency = 3.0;
        drive(world, add_floor(world), &shake);
        add_body(world, box(0.1, 0.1, 0.1), 1.0, talus_vec3(0, 0, 0.1), zero, zero);
        uint64_t hash = talus_world_hash(world);
        if (stop) {
            CHECK_INT(talus_world_step(world, NULL), TALUS_ERR_TOLERANCE);
            CHECK(talus_world_hash(world) == hash);
        } else {
            for (int i = 0; i < 7; i++)
                CHECK_OK(talus_world_step(world, &info));
            CHECK(info.halvings > 0);
            CHECK_NEAR(position_of(world, 0).x, 0.1 * sin(2.0 * M_PI * 0.21), 1e-14);
        }
        talus_world_destroy(world);
    }
}

/* A ball thrown at a wall that comes towards it leaves with e times the relative speed, plus the wall's. */
TEST(a_moving_wall_returns_a_ball_by_newtons_law)
{
    TalusWorldDef def = tight_def(1e-3);
    TalusPairDef pair = talus_pair_def_default();
    pair.restitution = 0.5;
    TalusWorld *world = make_world(&def, &pair);
    TalusDriveDef rise = talus_drive_def_default();
    rise.velocity = talus_vec3(0.0, 0.0, 2.0);
    drive(world, add_floor(world), &rise);
    add_body(world, sphere(0.1), 1.0, talus_vec3(0, 0, 0.3), talus_vec3(0, 0, -4.0), zero);
    double before = 0.0, after = -1.0;
    for (int i = 0; i < 60 && after <= 2.0; i++) {
        before = state_of(world).v.z;
        after = step(world).v.z;
    }
    CHECK_NEAR(after, 2.0 - 0.5 * (before - 2.0), 1e-8);
    talus_world_destroy(world);
}

TEST(what_cannot_be_driven_is_refused)
{
    TalusWorldDef def = tight_def(1e-2);
    TalusWorld *world = make_world(&def, NULL);
    TalusBodyId floor = add_floor(world), none = {8};
    TalusBodyId ball = add_body(world, sphere(1.0), 1.0, talus_vec3(0, 0, 2), zero, zero);
    TalusDriveDef turn = talus_drive_def_default(), zeroed = {0};
    turn.spin = talus_vec3(1, 0, 0);
    CHECK_INT(talus_world_set_drive(world, floor, &turn), TALUS_ERR_ARGUMENT);
    CHECK(strstr(talus_error(), "a plane has no end"));
    CHECK_INT(talus_world_set_drive(world, ball, &turn), TALUS_ERR_ARGUMENT);
    CHECK_INT(talus_world_set_drive(world, none, &turn), TALUS_ERR_ARGUMENT);
    CHECK_INT(talus_world_set_drive(world, floor, &zeroed), TALUS_ERR_ARGUMENT);
    turn.spin_acceleration = talus_vec3(0, 1, 0);
    CHECK_INT(talus_world_add_drive(world, floor, &turn), TALUS_ERR_ARGUMENT);
    CHECK(strstr(talus_error(), "not parallel"));
    turn.spin.x = NAN;
    CHECK_INT(talus_world_set_drive(world, floor, &turn), TALUS_ERR_ARGUMENT);
    talus_world_destroy(world);
}

int main(void)
{
    RUN(a_moving_floor_takes_a_block_along);
    RUN(a_vibrating_plate_throws_a_ball_above_g);
    RUN(a_drum_lifts_grains_and_its_work_closes_the_ledger);
    RUN(a_rotation_does_not_drift_in_a_hundred_thousand_steps);
    RUN(a_drive_starts_and_stops_and_is_taken_away);
    RUN(each_motion_moves_what_those_before_it_have_moved);
    RUN(halved_and_failed_steps_keep_to_the_motion);
    RUN(a_moving_wall_returns_a_ball_by_newtons_law);
    RUN(what_cannot_be_driven_is_refused);
    return talus_test_result();
}

/* Analytic motions, with the order of the error in h where there is one.
 *
 * Steps are solved far below the error that is measured (tolerance 1e-9 of g h), so that what is
 * seen is the time discretisation. */

#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <talus/world.h>

static const double g = 9.81;

static bool
    relaxed; /* the friction of tight_def: convex relaxation, else the default, Coulomb's law */

static TalusWorldDef tight_def(double h)
{
    TalusWorldDef def = relaxed ? talus_world_def_relaxed() : talus_world_def_default();
    def.step = h;
    def.tolerance = 1e-9;
    def.norm = TALUS_NORM_MAX;
    def.max_iterations = 200000;
    def.threads = 1;
    return def;
}

static TalusWorld *make_world(const TalusWorldDef *def)
{
    TalusWorld *world = NULL;
    CHECK_OK(talus_world_create(def, &world));
    return world;
}

static TalusBodyId add_body(TalusWorld *world, TalusShapeDef shape, TalusVec3 x, TalusVec3 v,
                            TalusVec3 w, bool fixed)
{
    TalusBodyId id = {0};
    int index = 0;
    CHECK_OK(talus_world_add_shape(world, &shape, &index));
    TalusBodyBatch batch = talus_body_batch_default();
    batch.count = 1;
    batch.shape = index;
    batch.fixed = fixed;
    batch.position = &x;
    batch.velocity = &v;
    batch.spin = &w;
    CHECK_OK(talus_world_add_bodies(world, &batch, &id));
    return id;
}

static const TalusVec3 zero = {0.0, 0.0, 0.0};

static TalusShapeDef sphere(double radius)
{
    TalusShapeDef def = {.kind = TALUS_SHAPE_SPHERE, .radius = radius};
    return def;
}

static TalusShapeDef box(double x, double y, double z)
{
    TalusShapeDef def = {.kind = TALUS_SHAPE_BOX, .half = {x, y, z}};
    return def;
}

static void add_floor(TalusWorld *world)
{
    TalusShapeDef plane = {.kind = TALUS_SHAPE_PLANE};
    add_body(world, plane, zero, zero, zero, true);
}

static void set_friction(TalusWorld *world, double mu)
{
    CHECK_OK(talus_world_set_friction(world, 0, 0, mu));
}

typedef struct State {
    TalusVec3 x, v, w;
    TalusQuat e;
} State;

/* Of the body with this place among the living. */
static State state_of(const TalusWorld *world, int index)
{
    int n = talus_world_body_count(world);
    TalusVec3 *x = malloc((size_t)n * sizeof *x), *v = malloc((size_t)n * sizeof *v);
    TalusVec3 *w = malloc((size_t)n * sizeof *w);
    TalusQuat *e = malloc((size_t)n * sizeof *e);
    TalusBodyState all = {.position = x, .velocity = v, .spin = w, .orientation = e};
    talus_world_get_state(world, &all);
    State state = {x[index], v[index], w[index], e[index]};
    free(x);
    free(v);
    free(w);
    free(e);
    return state;
}

static void run(TalusWorld *world, int steps)
{
    for (int i = 0; i < steps; i++) {
        TalusStepInfo info;
        CHECK_OK(talus_world_step(world, &info));
        if (!CHECK(!info.missed))
            return;
    }
}

/* Observed order from errors at h, h/2, h/4 (the finer pair). */
static double order_of(const double error[3])
{
    return log2(fabs(error[1]) / fabs(error[2]));
}

TEST(free_flight_is_first_order_and_exactly_semi_implicit)
{
    double error[3];
    for (int k = 0; k < 3; k++) {
        double h = 0.02 / (1 << k), t = 1.0;
        TalusWorldDef def = tight_def(h);
        TalusWorld *world = make_world(&def);
        TalusVec3 x0 = {0.0, 0.0, 10.0}, v0 = {3.0, -1.0, 2.0}, w0 = {0.5, 1.0, -2.0};
        add_body(world, sphere(0.1), x0, v0, w0, false);
        int steps = 50 << k;
        run(world, steps);
        State s = state_of(world, 0);
        CHECK_NEAR(s.x.x, x0.x + v0.x * t, 1e-13);
        CHECK_NEAR(s.x.y, x0.y + v0.y * t, 1e-13);
        CHECK_NEAR(s.x.z, x0.z + v0.z * t - g * t * (t + h) / 2.0, 1e-13);
        CHECK_NEAR(s.v.z, v0.z - g * t, 1e-13);
        CHECK(memcmp(&s.w, &w0, sizeof w0) == 0 || talus_norm(talus_sub(s.w, w0)) < 1e-14);
        CHECK_NEAR(talus_world_time(world), t, 1e-15);
        error[k] = s.x.z - (x0.z + v0.z * t - g * t * t / 2.0);
        talus_world_destroy(world);
    }
    CHECK_NEAR(order_of(error), 1.0, 0.001);
}

TEST(momentum_is_conserved_in_collisions)
{
    TalusWorldDef def = tight_def(0.01);
    def.gravity = zero;
    def.reference_speed = 1.0;
    TalusWorld *world = make_world(&def);
    TalusVec3 total = zero;
    double scale = 0.0, mass[12];
    for (int i = 0; i < 12; i++) { /* towards the middle from all sides */
        double angle = 0.7 * i, height = 0.3 * (i % 4) - 0.45;
        TalusVec3 x = {cos(angle), sin(angle), height};
        TalusVec3 v = {-2.0 * x.x + 0.1 * i, -2.0 * x.y, -height}, w = {0.3 * i, 1.0, -2.0};
        add_body(world, i % 3 ? sphere(0.15) : box(0.1, 0.15, 0.12), x, v, w, false);
    }
    TalusBodyState state = {.mass = mass};
    talus_world_get_state(world, &state);
    for (int i = 0; i < 12; i++) {
        total = talus_madd(total, mass[i], state_of(world, i).v);
        scale += mass[i] * talus_norm(state_of(world, i).v);
    }
    int64_t touched = 0;
    for (int n = 0; n < 100; n++) {
        TalusStepInfo info;
        REQUIRE_OK(talus_world_step(world, &info));
        touched += info.contacts;
        TalusVec3 now = zero;
        for (int i = 0; i < 12; i++)
            now = talus_madd(now, mass[i], state_of(world, i).v);
        CHECK(talus_norm(talus_sub(now, total)) <= 1e-14 * (n + 1) * scale);
    }
    CHECK(touched > 50);
    talus_world_destroy(world);
}

/* ---- torque-free spin ---- */

static const TalusVec3 spin_half = {0.1, 0.2, 0.35};

/* Principal moments per unit mass of the box above. */
static TalusVec3 moments(void)
{
    TalusVec3 a = spin_half;
    return talus_vec3((a.y * a.y + a.z * a.z) / 3.0, (a.x * a.x + a.z * a.z) / 3.0,
                      (a.x * a.x + a.y * a.y) / 3.0);
}

static TalusVec3 scaled(TalusVec3 i, TalusVec3 w)
{
    return talus_vec3(i.x * w.x, i.y * w.y, i.z * w.z);
}

static TalusVec3 euler_rate(TalusVec3 w)
{
    TalusVec3 i = moments(), torque = talus_cross(scaled(i, w), w);
    return talus_vec3(torque.x / i.x, torque.y / i.y, torque.z / i.z);
}

/* Euler's equations in the body frame by Runge-Kutta of order 4 with a tiny step. */
static TalusVec3 euler_reference(TalusVec3 w, double t)
{
    int n = 20000;
    double h = t / n;
    for (int i = 0; i < n; i++) {
        TalusVec3 k1 = euler_rate(w), k2 = euler_rate(talus_madd(w, 0.5 * h, k1));
        TalusVec3 k3 = euler_rate(talus_madd(w, 0.5 * h, k2)),
                  k4 = euler_rate(talus_madd(w, h, k3));
        TalusVec3 sum = talus_add(talus_add(k1, k4), talus_scale(2.0, talus_add(k2, k3)));
        w = talus_madd(w, h / 6.0, sum);
    }
    return w;
}

TEST(torque_free_spin_keeps_momentum_and_is_second_order)
{
    TalusVec3 w0 = {0.2, 5.0, 0.1}; /* near the unstable middle axis: it tumbles */
    TalusVec3 i = moments();
    double energy0 = talus_dot(w0, scaled(i, w0)), momentum0 = talus_norm(scaled(i, w0));
    double energy_error[3], path_error[3], t = 4.0;
    TalusVec3 expected = euler_reference(w0, t);
    for (int k = 0; k < 3; k++) {
        double h = 0.01 / (1 << k);
        TalusWorldDef def = tight_def(h);
        def.gravity = zero;
        def.reference_speed = 1.0;
        TalusWorld *world = make_world(&def);
        add_body(world, box(spin_half.x, spin_half.y, spin_half.z), zero, zero, w0, false);
        energy_error[k] = 0.0;
        double flip = 0.0;
        TalusVec3 w = w0;
        for (int n = 0; n < (400 << k); n++) {
            run(world, 1);
            State s = state_of(world, 0);
            w = talus_rotate_back(s.e, s.w);
            TalusVec3 momentum = talus_rotate(s.e, scaled(i, w));
            CHECK(talus_norm(talus_sub(momentum, scaled(i, w0))) < 1e-13 * (n + 1) * momentum0);
            double energy = talus_dot(w, scaled(i, w));
            energy_error[k] = fmax(energy_error[k], fabs(energy - energy0) / energy0);
            flip = fmin(flip, w.y);
        }
        CHECK(flip < -4.0); /* it did tumble */
        path_error[k] = talus_norm(talus_sub(w, expected));
        talus_world_destroy(world);
    }
    CHECK(energy_error[2] < 1e-4);
    CHECK_NEAR(order_of(energy_error), 2.0, 0.1);
    CHECK_NEAR(order_of(path_error), 2.0, 0.2);
}

/* ---- friction ---- */

/* A box on a plane, gravity tilted by atan(slope); velocity down the slope after t. */
static double slide_down(double slope, double mu, double h, double t, double *moved)
{
    TalusWorldDef def = tight_def(h);
    double c = 1.0 / sqrt(1.0 + slope * slope);
    def.gravity = talus_vec3(g * slope * c, 0.0, -g * c);
    TalusWorld *world = make_world(&def);
    set_friction(world, mu);
    add_floor(world);
    add_body(world, box(0.1, 0.1, 0.05), talus_vec3(0.0, 0.0, 0.05), zero, zero, false);
    run(world, (int)lround(t / h));
    State s = state_of(world, 1);
    *moved = s.x.x;
    talus_world_destroy(world);
    return s.v.x;
}

TEST(incline_sticks_above_and_slides_below_the_threshold)
{
    double slope = 0.5, c = 1.0 / sqrt(1.25), t = 1.0, moved;
    CHECK_NEAR(slide_down(slope, 0.501, 0.01, t, &moved), 0.0, 1e-6);
    CHECK_NEAR(moved, 0.0, 1e-6);
    double error[3], mu = 0.499;
    double a = g * c * (slope - mu);
    for (int k = 0; k < 3; k++) {
        double v = slide_down(slope, mu, 0.01 / (1 << k), t, &moved);
        CHECK_NEAR(v, a * t, 0.02 * a * t);
        CHECK(moved > 0.4 * a * t * t);
    }
    mu = 0.3;
    a = g * c * (slope - mu);
    for (int k = 0; k < 3; k++)
        error[k] = slide_down(slope, mu, 0.01 / (1 << k), t, &moved) - a * t;
    if (relaxed) { /* a sliding contact opens */
        CHECK_NEAR(error[2], 0.0, 1e-3 * a * t);
        CHECK_NEAR(order_of(error), 1.0, 0.02);
    }
    for (int k = 0; k < 3 && !relaxed; k++)
        CHECK_NEAR(error[k], 0.0, 1e-6 * a * t);
}

/* Slip speed of a sphere at its contact with the floor, sliding along x. */
static double slip(State s, double r)
{
    return s.v.x - r * s.w.y;
}

TEST(sliding_sphere_rolls_in_time_with_five_sevenths_of_its_speed)
{
    double v0 = 2.0, mu = 0.2, r = 0.1, error[3];
    double rolls_at = 2.0 * v0 / (7.0 * mu * g);
    for (int k = 0; k < 3; k++) {
        double h = 0.005 / (1 << k);
        TalusWorldDef def = tight_def(h);
        TalusWorld *world = make_world(&def);
        set_friction(world, mu);
        add_floor(world);
        /* The convex friction law keeps a sliding contact open by h mu |u_t|: start from there, so
         * that the first step does not throw the sphere up. */
        double gap = relaxed ? h * mu * v0 : 0.0;
        add_body(world, sphere(r), talus_vec3(0.0, 0.0, r + gap), talus_vec3(v0, 0.0, 0.0), zero,
                 false);
        double last = 0.0, before = 0.0, when = 0.0;
        for (int n = 1; n * h < 2.0 * rolls_at; n++) {
            run(world, 1);
            double now = slip(state_of(world, 1), r);
            if (n * h < 0.9 * rolls_at) { /* while it slides: two values for a line */
                before = last;
                last = now;
                when = n * h;
            }
        }
        State s = state_of(world, 1);
        CHECK_NEAR(s.v.x, 5.0 / 7.0 * v0, 1e-7);
        CHECK_NEAR(slip(s, r), 0.0, 1e-7);
        double zero_at = when + h * last / (before - last);
        CHECK_NEAR(zero_at, rolls_at, h * 10.0);
        error[k] = zero_at - rolls_at;
        talus_world_destroy(world);
    }
    if (relaxed)
        CHECK_NEAR(order_of(error), 1.0, 0.02);
    for (int k = 0; k < 3 && !relaxed; k++)
        CHECK_NEAR(error[k], 0.0, 1e-6 * rolls_at);
}

/* ---- weight ---- */

TEST(stack_weight_arrives_at_the_floor)
{
    TalusWorldDef def = tight_def(0.01);
    def.tolerance = 1e-7;
    TalusWorld *world = make_world(&def);
    add_floor(world);
    double side = 0.1, weight = 0.0;
    for (int i = 0; i < 5; i++)
        add_body(world, box(side, side, side), talus_vec3(0.0, 0.0, (2 * i + 1) * side), zero, zero,
                 false);
    double mass[6];
    TalusBodyId id[6];
    TalusBodyState state = {.mass = mass, .id = id};
    talus_world_get_state(world, &state);
    for (int i = 0; i < 6; i++)
        weight += mass[i] * g;
    TalusProbeDef floor = {.name = "floor", .kind = TALUS_PROBE_BODY, .body = id[0]};
    TalusProbeDef upper = {.name = "upper",
                           .kind = TALUS_PROBE_REGION,
                           .lo = {-1.0, -1.0, 4.0 * side},
                           .hi = {1.0, 1.0, 2.0}};
    REQUIRE_OK(talus_world_add_probe(world, &floor, NULL));
    REQUIRE_OK(talus_world_add_probe(world, &upper, NULL));
    run(world, 50);
    TalusProbeValue on_floor = talus_world_probe_value(world, 0);
    CHECK_NEAR(on_floor.force.z, -weight, 1e-5 * weight);
    CHECK_NEAR(on_floor.force.x, 0.0, 1e-5 * weight);
    CHECK_NEAR(on_floor.torque.x, 0.0, 1e-5 * weight * side);
    TalusProbeValue on_upper = talus_world_probe_value(world, 1);
    CHECK_INT(on_upper.bodies, 3);
    CHECK_NEAR(on_upper.force.z, 0.6 * weight, 1e-5 * weight);
    CHECK_NEAR(on_upper.mass * g, 0.6 * weight, 1e-9 * weight);
    talus_world_destroy(world);
}

/* ---- scale ---- */

static TalusWorld *scaled_scene(double scale)
{
    TalusWorldDef def = talus_world_def_default();
    def.gravity = talus_vec3(0.5 * scale, 0.0, -9.75 * scale);
    def.threads = 1;
    TalusWorld *world = make_world(&def);
    add_floor(world);
    for (int i = 0; i < 40; i++) {
        TalusVec3 x = {(0.21 * (i % 4) + 0.01 * i) * scale, 0.22 * (i / 4 % 4) * scale,
                       (0.15 + 0.25 * (i / 16)) * scale};
        TalusVec3 v = {0.0, 0.125 * scale, -0.5 * scale}, w = {1.0, 0.0, 0.5};
        TalusShapeDef shape = i % 3 ? sphere((0.08 + 0.0005 * i) * scale)
                                    : box(0.09 * scale, 0.08 * scale, 0.07 * scale);
        add_body(world, shape, x, v, w, false);
    }
    return world;
}

static bool equal_scaled(TalusVec3 a, TalusVec3 b, double scale)
{
    TalusVec3 s = talus_scale(scale, a);
    return memcmp(&s, &b, sizeof s) == 0;
}

TEST(motion_is_bitwise_the_same_at_other_scales)
{
    static const double scales[2] = {1024.0, 1.0 / 1024.0};
    for (int k = 0; k < 2; k++) {
        TalusWorld *one = scaled_scene(1.0), *other = scaled_scene(scales[k]);
        for (int n = 0; n < 100; n++) {
            TalusStepInfo a, b;
            CHECK_OK(talus_world_step(one, &a));
            CHECK_OK(talus_world_step(other, &b));
            if (!CHECK_INT(a.contacts, b.contacts) ||
                !CHECK_INT(a.solve.iterations, b.solve.iterations))
                break;
        }
        for (int i = 0; i < talus_world_body_count(one); i++) {
            State p = state_of(one, i), q = state_of(other, i);
            CHECK(equal_scaled(p.x, q.x, scales[k]) && equal_scaled(p.v, q.v, scales[k]));
            CHECK(equal_scaled(p.w, q.w, 1.0) && memcmp(&p.e, &q.e, sizeof p.e) == 0);
        }
        talus_world_destroy(one);
        talus_world_destroy(other);
    }
}

int main(void)
{
    RUN(free_flight_is_first_order_and_exactly_semi_implicit);
    RUN(momentum_is_conserved_in_collisions);
    RUN(torque_free_spin_keeps_momentum_and_is_second_order);
    for (int k = 0; k < 2; k++) {
        relaxed = k == 1;
        RUN(incline_sticks_above_and_slides_below_the_threshold);
        RUN(sliding_sphere_rolls_in_time_with_five_sevenths_of_its_speed);
        RUN(stack_weight_arrives_at_the_floor);
        RUN(motion_is_bitwise_the_same_at_other_scales);
    }
    return talus_test_result();
}

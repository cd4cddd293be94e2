/* Laws of materials against analytic motions, with the order of the error in h where there is one.
 *
 * Steps are solved far below the error that is measured, as in test_physics.c. */
#include "material_cases.h"

/* ---- pairs ---- */

TEST(a_pair_has_the_smaller_numbers_or_its_own)
{
    TalusWorldDef def = tight_def(0.01);
    TalusWorld *world = make_world(&def, NULL);
    TalusMaterialDef bouncy = talus_material_def_default(), soft = bouncy, bad = bouncy;
    int a, b;
    bouncy.restitution = 0.9;
    soft.stiffness = 1e4;
    REQUIRE_OK(talus_world_add_material(world, &bouncy, &a));
    REQUIRE_OK(talus_world_add_material(world, &soft, &b));
    CHECK(talus_world_material(world, a).restitution == 0.9);
    TalusPairDef pair = talus_pair_def_default(), zeroed = {0};
    pair.restitution = 0.5;
    CHECK_OK(talus_world_set_pair(world, 0, a, &pair));
    CHECK_INT(talus_world_set_pair(world, 0, 3, &pair), TALUS_ERR_ARGUMENT);
    CHECK_INT(talus_world_set_pair(world, 0, 0, &zeroed), TALUS_ERR_ARGUMENT);
    CHECK_INT(talus_world_set_pair(world, a, b, &pair), TALUS_ERR_ARGUMENT);
    CHECK(strstr(talus_error(), "without stiffness") != NULL);
    pair.restitution = 1.5;
    CHECK_INT(talus_world_set_pair(world, 0, a, &pair), TALUS_ERR_ARGUMENT);
    pair = talus_pair_def_default();
    pair.cohesion = NAN;
    CHECK_INT(talus_world_set_pair(world, 0, a, &pair), TALUS_ERR_ARGUMENT);
    pair = talus_pair_def_default();
    pair.own_model = true;
    pair.model.section = TALUS_SECTION_POLYGON;
    CHECK_INT(talus_world_set_pair(world, 0, a, &pair), TALUS_ERR_ARGUMENT);
    bad.restitution = 1.1;
    CHECK_INT(talus_world_add_material(world, &bad, NULL), TALUS_ERR_ARGUMENT);
    bad.restitution = 0.5;
    bad.stiffness = 1.0;
    CHECK_INT(talus_world_add_material(world, &bad, NULL), TALUS_ERR_ARGUMENT);
    bad.restitution = bad.stiffness = 0.0;
    bad.rolling = -0.1;
    CHECK_INT(talus_world_add_material(world, &bad, NULL), TALUS_ERR_ARGUMENT);
    talus_world_destroy(world);
}

TEST(materials_survive_a_save)
{
    TalusWorldDef def = tight_def(0.01);
    def.restitution_threshold = 3.0;
    TalusWorld *world = make_world(&def, NULL), *copy = NULL;
    TalusMaterialDef rigid = {.name = "rigid",
                              .friction = 0.1,
                              .density = 2.0,
                              .restitution = 0.3,
                              .spinning = 0.4,
                              .rolling = 0.5,
                              .cohesion = 6.0};
    TalusMaterialDef soft = {.name = "soft", .density = 1.0, .stiffness = 7.0, .damping = 8.0};
    CHECK_OK(talus_world_add_material(world, &rigid, NULL));
    CHECK_OK(talus_world_add_material(world, &soft, NULL));
    void *bytes;
    size_t size;
    REQUIRE_OK(talus_world_save(world, &bytes, &size));
    REQUIRE_OK(talus_world_load(bytes, size, 1, NULL, &copy));
    talus_free(bytes);
    for (int i = 0; i < 3; i++) {
        TalusMaterialDef a = talus_world_material(world, i), b = talus_world_material(copy, i);
        CHECK_STR(a.name, b.name);
        a.name = b.name = NULL;
        CHECK(memcmp(&a, &b, sizeof a) == 0);
    }
    talus_world_destroy(copy);
    talus_world_destroy(world);
}

/* ---- restitution ---- */

enum { MOST_STEPS = 100000 };

/* The apex, above the floor, of the first rebound of a ball that falls from `height`. */
static double rebound(double h, double height, double e)
{
    TalusWorldDef def = tight_def(h);
    TalusPairDef pair = talus_pair_def_default();
    pair.restitution = e;
    TalusWorld *world = make_world(&def, &pair);
    const double radius = 0.1;
    add_floor(world);
    add_body(world, sphere(radius), 1.0, talus_vec3(0, 0, height + radius), zero, zero);
    State s = step(world);
    for (int i = 0; i < MOST_STEPS && s.v.z < 0.0; i++)
        s = step(world);
    double apex = 0.0;
    for (int i = 0; i < MOST_STEPS && s.v.z > 0.0; i++) {
        apex = s.x.z - radius;
        s = step(world);
    }
    talus_world_destroy(world);
    return apex;
}

/* A ball rises to e^2 of its height. It turns a part of its last step's way above the floor, and this part
 * p in [0, h v) stays: heights are chosen for parts spread evenly, whatever h. To first order the error is
 * p (1 - e^2) + h v e (1 - e) / 2, on average h v (1 - e) (1 + 2 e) / 2. */
TEST(bounce_heights_are_first_order)
{
    const double e = 0.7, fall = 0.32, speed = g * fall;
    double error[3] = {0.0};
    for (int k = 0; k < 3; k++) {
        double h = 0.004 / (1 << k), steps = fall / h;
        for (int i = 0; i < 4; i++) {
            double part = (i + 0.5) / 4.0 * (steps + 1.0) * g * h * h;
            double height = 0.5 * g * h * h * steps * (steps + 1.0) + part;
            error[k] += 0.25 * fabs(rebound(h, height, e) - e * e * height);
        }
        CHECK_NEAR(error[k], 0.5 * h * speed * (1.0 - e) * (1.0 + 2.0 * e), 0.02 * error[k]);
    }
    CHECK_NEAR(order(error[0], error[1]), 1.0, 0.05);
    CHECK_NEAR(order(error[1], error[2]), 1.0, 0.05);
    CHECK_NEAR(rebound(0.001, 0.5, 1.0), 0.5, 1e-9); /* nothing is lost, nothing gained */
}

/* Rebounds become faster and smaller without end (Zeno); the threshold ends them. */
TEST(a_bouncing_ball_comes_to_rest)
{
    const double h = 0.002, e = 0.8, height = 0.3, radius = 0.1;
    TalusWorldDef def = tight_def(h);
    TalusPairDef pair = talus_pair_def_default();
    pair.restitution = e;
    TalusWorld *world = make_world(&def, &pair);
    add_floor(world);
    add_body(world, sphere(radius), 1.0, talus_vec3(0, 0, height + radius), zero, zero);
    double fall = sqrt(2.0 * height / g), zeno = fall * (1.0 + e) / (1.0 - e), rest = 0.0;
    int rebounds = 0;
    for (int i = 0; i * h < 1.5 * zeno; i++) {
        double before = state_of(world).v.z;
        State s = step(world);
        rebounds += before < 0.0 && s.v.z > 1e-6 * g * h; /* slower: what the tolerance leaves */
        if (fabs(s.v.z) > 1e-6 * g * h)
            rest = talus_world_time(world);
    }
    State s = state_of(world);
    CHECK(fabs(s.v.z) < 1e-8 && fabs(s.x.z - radius) < 1e-8);
    CHECK(rebounds > 8 && rebounds < 40);
    CHECK_NEAR(rest, zeno, 0.1 * zeno);
    talus_world_destroy(world);
}

/* ---- rolling and spinning ---- */

/* A solid sphere rolls without slip against the moment M = rolling R m g. With F the friction at the contact,
 * m a = F and (2/5) m R a = M - F R, so a = 5/7 rolling g, and it stops after v^2 / (2 a). */
static double rolling_distance(double h, TalusFrictionLaw law, double rolling, double speed)
{
    const double radius = 0.1;
    TalusWorldDef def = tight_def(h);
    def.friction.law = law;
    TalusPairDef pair = talus_pair_def_default();
    pair.friction = 0.5;
    pair.rolling = rolling;
    TalusWorld *world = make_world(&def, &pair);
    add_floor(world);
    add_body(world, sphere(radius), 1.0, talus_vec3(0, 0, radius), talus_vec3(speed, 0, 0),
             talus_vec3(0, speed / radius, 0));
    State s = state_of(world);
    for (int i = 0; i < MOST_STEPS && s.v.x > 1e-7; i++)
        s = step(world);
    CHECK(fabs(s.w.y) < 1e-5);
    talus_world_destroy(world);
    return s.x.x;
}

TEST(a_rolling_sphere_stops_where_it_should)
{
    const double rolling = 0.1, speed = 0.5,
                 exact = speed * speed / (2.0 * 5.0 / 7.0 * rolling * g);
    for (int k = 0; k < 2; k++) {
        TalusFrictionLaw law = k ? TALUS_LAW_COULOMB : TALUS_LAW_CCP;
        double coarse = fabs(rolling_distance(0.008, law, rolling, speed) - exact);
        double fine = fabs(rolling_distance(0.004, law, rolling, speed) - exact);
        double finest = fabs(rolling_distance(0.002, law, rolling, speed) - exact);
        CHECK(coarse < 0.02 * exact);
        CHECK_NEAR(order(coarse, fine), 1.0, 0.15);
        CHECK_NEAR(order(fine, finest), 1.0, 0.15);
    }
}

/* ---- stiffness ---- */

/* Where a ball on a spring and dashpot, started off its rest, is at the end of a second. */
static double oscillate(double h, double stiffness, double damping)
{
    TalusWorldDef def = tight_def(h);
    def.tolerance =
        1e-9; /* the spring's two terms of 280 m/s cancel: 1e-10 of g h is 2 roundings */
    TalusWorld *world = make_world(&def, NULL);
    TalusMaterialDef soft = talus_material_def_default();
    soft.stiffness = stiffness;
    soft.damping = damping;
    TalusShapeDef shape = sphere(0.1);
    TalusBodyBatch batch = talus_body_batch_default();
    CHECK_OK(talus_world_add_material(world, &soft, &batch.material));
    CHECK_OK(talus_world_add_shape(world, &shape, &batch.shape));
    add_floor(world);
    TalusVec3 x = {0, 0, 0.1 - 2.0 * g / stiffness + 0.01};
    batch.count = 1;
    batch.mass = 2.0;
    batch.position = &x;
    CHECK_OK(talus_world_add_bodies(world, &batch, NULL));
    for (int i = 0; i * h < 1.0 - 0.5 * h; i++)
        step(world);
    double z = state_of(world).x.z - (0.1 - 2.0 * g / stiffness);
    talus_world_destroy(world);
    return z;
}

/* m z'' = -k z - c z' about the rest at -m g / k: z = a e^(-d t) (cos w t + d/w sin w t). */
TEST(a_soft_contact_is_a_damped_oscillator)
{
    const double k = 800.0, m = 2.0; /* rest at -25 mm, amplitude 10 mm: it never opens */
    for (int damped = 0; damped < 2; damped++) {
        double c = damped ? 8.0 : 0.0, d = c / (2.0 * m), w = sqrt(k / m - d * d);
        double exact = 0.01 * exp(-d) * (cos(w) + d / w * sin(w)), error[3];
        for (int i = 0; i < 3; i++)
            error[i] = fabs(oscillate(0.0005 / (1 << i), k, c) - exact);
        CHECK(error[0] < 2e-3);
        CHECK_NEAR(order(error[0], error[1]), 1.0, 0.15);
        CHECK_NEAR(order(error[1], error[2]), 1.0, 0.15);
    }
}

int main(void)
{
    RUN(a_pair_has_the_smaller_numbers_or_its_own);
    RUN(materials_survive_a_save);
    RUN(bounce_heights_are_first_order);
    RUN(a_bouncing_ball_comes_to_rest);
    RUN(a_rolling_sphere_stops_where_it_should);
    RUN(a_soft_contact_is_a_damped_oscillator);
    run_material_cases();
    return talus_test_result();
}

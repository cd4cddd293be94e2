/* lab/validate/impacts.c - a ball that bounces, a row of balls, impacts that propagate, Painleve's bar.
 *
 * Restitution. Newton's law reverses the speed in the step that finds the contact, so up to one step's travel v h above
 * the floor: the apex is high by up to (1 - e^2) v h, and the first-order flight takes up to (e^2 + e)/2 v h off it.
 *
 * Painleve's bar slides on its lower edge, pushed into the floor. With the edge at r from the centre, N_nn = 1/m + r_x^2/I
 * and N_tn = r_x r_z/I in size: from mu = N_nn/N_tn on, no force lets the bar go on sliding, and an impulse at the edge
 * stops the edge at once (an impact without collision). The momentum about the edge is conserved. Below that, a step
 * still stops the edge if the slip it takes away, some N_tt g h/(N_nn - mu N_tn), exceeds the speed. */
#include "validate.h"

#include <math.h>

/* ---- bounce ---- */

static const double ball_radius = 0.1, fall_height = 1.0;
static const double restitution[] = {0.5, 0.9};

static void expect_bounce(double h, ValidateQuantity *q)
{
    static const char *const names[] = {"apex, e 0.5", "apex, e 0.9"};
    double speed = sqrt(2.0 * validate_gravity * fall_height);
    q[0] = (ValidateQuantity){.name = "time of fall",
                              .unit = "s",
                              .expected = speed / validate_gravity,
                              .bound = h,
                              .order = 1};
    for (int i = 0; i < LAB_COUNT(restitution); i++)
        q[1 + i] = (ValidateQuantity){.name = names[i],
                                      .unit = "m",
                                      .expected = restitution[i] * restitution[i] * fall_height,
                                      .bound = speed * h,
                                      .order = 1};
}

/* Drops a ball; writes the time of the step in which it turns and the next apex above z = 0. */
static TalusStatus drop_ball(const ValidateSetup *setup, double e, double *time, double *apex)
{
    TalusWorld *world = NULL;
    ValidateState s = {.velocity = {0.0, 0.0, -1.0}};
    ValidateBody ball = {.shape = validate_sphere(ball_radius),
                         .mass = 1.0,
                         .position = {0.0, 0.0, fall_height + ball_radius}};
    TalusStatus status = validate_create(setup, 0.0, 0.0, &world);
    TALUS_THEN(status, validate_set_pair(setup, world, 0.0, 0.0, e));
    TALUS_THEN(status, validate_add_floor(setup, world));
    TALUS_THEN(status, validate_add_body(world, &ball, NULL));
    for (*apex = 0.0, *time = NAN; status == TALUS_OK && !(*time > 0.0 && s.velocity.z < 0.0);) {
        status = validate_step(world);
        s = status == TALUS_OK ? validate_read(world, 1) : s;
        if (isnan(*time) && s.velocity.z > 0.0)
            *time = talus_world_time(world);
        if (!isnan(*time))
            *apex = fmax(*apex, s.position.z - ball_radius);
        if (talus_world_time(world) > 10.0)
            break;
    }
    talus_world_destroy(world);
    return status;
}

static TalusStatus measure_bounce(const ValidateSetup *setup, double *found)
{
    for (int i = 0; i < LAB_COUNT(restitution); i++)
        TALUS_TRY(drop_ball(setup, restitution[i], &found[0], &found[1 + i]));
    return TALUS_OK;
}

/* ---- cradle ---- */

enum { CRADLE = 5 };

static const double cradle_radius = 0.05, cradle_gap = 0.0055, cradle_speed = 1.0;

static void expect_cradle(double h, ValidateQuantity *q)
{
    (void)h;
    q[0] = (ValidateQuantity){.name = "last ball, balls apart",
                              .unit = "m/s",
                              .expected = cradle_speed,
                              .bound = 1e-6 * cradle_speed};
    q[1] =
        (ValidateQuantity){.name = "last ball, balls touching",
                           .unit = "m/s",
                           .expected = cradle_speed,
                           .bound = 1e-6 * cradle_speed,
                           .fails = "impacts that share a step are solved as one, pair by pair "
                                    "by Newton's law, and not one after the other, unless impacts "
                                    "propagate"};
}

/* Sends the first of a row of elastic balls at the others and writes the speed of the last one. */
static TalusStatus strike_cradle(const ValidateSetup *setup, double gap, double *out)
{
    TalusWorld *world = NULL;
    TalusStatus status = validate_create_weightless(setup, &world);
    TALUS_THEN(status, validate_set_pair(setup, world, 0.0, 0.0, 1.0));
    for (int i = 0; status == TALUS_OK && i < CRADLE; i++) {
        ValidateBody ball = {.shape = validate_sphere(cradle_radius),
                             .mass = 1.0,
                             .position = {i * (2.0 * cradle_radius + gap), 0.0, 0.0}};
        if (i == 0) {
            ball.position.x -= cradle_gap;
            ball.velocity.x = cradle_speed;
        }
        status = validate_add_body(world, &ball, NULL);
    }
    TALUS_THEN(status, validate_advance(world, 2.0 * CRADLE * cradle_gap / cradle_speed));
    if (status == TALUS_OK)
        *out = validate_read(world, CRADLE - 1).velocity.x;
    talus_world_destroy(world);
    return status;
}

static TalusStatus measure_cradle(const ValidateSetup *setup, double *found)
{
    TALUS_TRY(strike_cradle(setup, cradle_gap, &found[0]));
    return strike_cradle(setup, 0.0, &found[1]);
}

/* ---- impacts that propagate ---- */

enum { HALVES = 5 };

static const double strike_speed = 1.0, superball_mass = 0.1;

/* Elastic impacts of two: of a body of mass a that strikes one of mass b at rest, the latter gets 2 a/(a + b) of the
 * speed. In a row of halves each gets 4/3 of the one before. */
static void expect_reflections(double h, ValidateQuantity *q)
{
    const char *const name[] = {"last ball of the cradle", "last of a row of halves",
                                "ball on a ball", "ball after a break"};
    const double speed[] = {1.0, pow(4.0 / 3.0, HALVES - 1),
                            (3.0 - superball_mass) / (1.0 + superball_mass), -0.2};
    (void)h;
    for (int i = 0; i < 4; i++)
        q[i] = (ValidateQuantity){.name = name[i],
                                  .unit = "m/s",
                                  .expected = strike_speed * speed[i],
                                  .bound = 1e-6 * strike_speed};
}

/* Sends the first of a touching row of balls, each of half the mass of the one before, at the others. */
static TalusStatus strike_halves(const ValidateSetup *setup, double *out)
{
    TalusWorld *world = NULL;
    TalusStatus status = validate_create_weightless(setup, &world);
    TALUS_THEN(status, validate_set_pair(setup, world, 0.0, 0.0, 1.0));
    for (int i = 0; status == TALUS_OK && i < HALVES; i++) {
        ValidateBody ball = {.shape = validate_sphere(cradle_radius),
                             .mass = ldexp(1.0, -i),
                             .position = {2.0 * i * cradle_radius, 0.0, 0.0}};
        ball.velocity.x = i == 0 ? strike_speed : 0.0;
        status = validate_add_body(world, &ball, NULL);
    }
    TALUS_THEN(status, validate_step(world));
    if (status == TALUS_OK)
        *out = validate_read(world, HALVES - 1).velocity.x;
    talus_world_destroy(world);
    return status;
}

/* Two balls, one on the other, fall on the floor; writes the speed of the upper one, which is lighter. */
static TalusStatus drop_two(const ValidateSetup *setup, double *out)
{
    TalusWorld *world = NULL;
    TalusStatus status = validate_create_weightless(setup, &world);
    TALUS_THEN(status, validate_set_pair(setup, world, 0.0, 0.0, 1.0));
    TALUS_THEN(status, validate_add_floor(setup, world));
    for (int i = 0; status == TALUS_OK && i < 2; i++) {
        ValidateBody ball = {.shape = validate_sphere(cradle_radius),
                             .mass = i == 0 ? 1.0 : superball_mass,
                             .position = {0.0, 0.0, (1.0 + 2.0 * i) * cradle_radius},
                             .velocity = {0.0, 0.0, -strike_speed}};
        status = validate_add_body(world, &ball, NULL);
    }
    TALUS_THEN(status, validate_advance(world, 0.02));
    if (status == TALUS_OK)
        *out = validate_read(world, 2).velocity.z;
    talus_world_destroy(world);
    return status;
}

/* A ball strikes two touching ones at once; writes its speed after. */
static TalusStatus strike_two(const ValidateSetup *setup, double *out)
{
    TalusWorld *world = NULL;
    TalusStatus status = validate_create_weightless(setup, &world);
    TALUS_THEN(status, validate_set_pair(setup, world, 0.0, 0.0, 1.0));
    for (int i = 0; status == TALUS_OK && i < 3; i++) {
        ValidateBody ball = {.shape = validate_sphere(cradle_radius), .mass = 1.0};
        if (i > 0)
            ball.position = talus_vec3(sqrt(3.0) * cradle_radius, (2 * i - 3) * cradle_radius, 0.0);
        else
            ball.velocity.x = strike_speed;
        status = validate_add_body(world, &ball, NULL);
    }
    TALUS_THEN(status, validate_step(world));
    if (status == TALUS_OK)
        *out = validate_read(world, 0).velocity.x;
    talus_world_destroy(world);
    return status;
}

static TalusStatus measure_reflections(const ValidateSetup *setup, double *found)
{
    ValidateSetup propagating = *setup;
    propagating.impacts = TALUS_IMPACTS_PROPAGATING;
    TALUS_TRY(strike_cradle(&propagating, 0.0, &found[0]));
    TALUS_TRY(strike_halves(&propagating, &found[1]));
    TALUS_TRY(drop_two(&propagating, &found[2]));
    return strike_two(&propagating, &found[3]);
}

/* ---- Painleve's bar ---- */

static const double bar_x = 0.01, bar_y = 0.1, bar_z = 0.5; /* half extents, m */
static const double bar_lean = 0.78539816339744831, bar_speed = 10.0, jam_mu = 2.5;

/* Returns the bar's lower edge from its centre; y is 0. */
static TalusVec3 get_edge(void)
{
    double c = cos(bar_lean), s = sin(bar_lean);
    return talus_vec3(bar_x * c - bar_z * s, 0.0, -bar_x * s - bar_z * c);
}

/* Returns the bar's inertia about y over its mass. */
static double get_bar_inertia(void)
{
    return (bar_x * bar_x + bar_z * bar_z) / 3.0;
}

static void expect_painleve(double h, ValidateQuantity *q)
{
    TalusVec3 r = get_edge();
    double share = 3.0 * validate_gravity * h / bar_speed; /* of gravity in the step */
    double mu = (get_bar_inertia() + r.x * r.x) / (r.x * r.z);
    double spin = bar_speed * r.z / (get_bar_inertia() + r.x * r.x + r.z * r.z);
    q[0] = (ValidateQuantity){.name = "least friction that jams",
                              .unit = "",
                              .expected = mu,
                              .bound = share * mu,
                              .order = 1};
    q[1] = (ValidateQuantity){.name = "spin after the jam",
                              .unit = "rad/s",
                              .expected = spin,
                              .bound = share * fabs(spin),
                              .order = 1};
}

/* Makes one step of the bar, which slides along -x; writes its spin and the speed of its edge along x. */
static TalusStatus slide_bar(const ValidateSetup *setup, double mu, double *spin,
                             double *edge_speed)
{
    TalusWorld *world = NULL;
    TalusVec3 r = get_edge();
    ValidateBody bar = {.shape = validate_box(bar_x, bar_y, bar_z),
                        .mass = 1.0,
                        .position = {0.0, 0.0, -r.z},
                        .velocity = {-bar_speed, 0.0, 0.0},
                        .orientation = validate_turn_about_y(bar_lean)};
    TalusStatus status = validate_create(setup, 0.0, mu, &world);
    TALUS_THEN(status, validate_add_floor(setup, world));
    TALUS_THEN(status, validate_add_body(world, &bar, NULL));
    TALUS_THEN(status, validate_step(world));
    if (status == TALUS_OK) {
        ValidateState s = validate_read(world, 1);
        *spin = s.spin.y;
        *edge_speed = s.velocity.x + s.spin.y * r.z;
    }
    talus_world_destroy(world);
    return status;
}

static TalusStatus jams(const ValidateSetup *setup, double mu, bool *out)
{
    double spin, edge_speed = 0.0;
    TALUS_TRY(slide_bar(setup, mu, &spin, &edge_speed));
    *out = fabs(edge_speed) < 1e-6 * bar_speed;
    return TALUS_OK;
}

static TalusStatus measure_painleve(const ValidateSetup *setup, double *found)
{
    double edge_speed;
    TALUS_TRY(validate_bisect(setup, jams, 1.0, 3.0, &found[0]));
    return slide_bar(setup, jam_mu, &found[1], &edge_speed);
}

const ValidateCase validate_impacts[] = {
    {.name = "bounce",
     .shows = "a ball dropped from H falls for sqrt(2 H/g) and rises to e^2 H",
     .source = "Newton's restitution",
     .reason =
         "time: one step; apex: one step's travel v h, because the speed turns up to v h above "
         "the floor, so that the apex is high by up to (1 - e^2) v h",
     .step = 0.001,
     .quantities = 3,
     .expect = expect_bounce,
     .measure = measure_bounce},
    {.name = "cradle",
     .shows = "of a row of elastic balls the last one takes the whole speed of the first",
     .source = "textbook: elastic impacts of equal masses, one after the other",
     .reason = "impacts one after the other are exact; those that share a step are a known limit",
     .step = 0.001,
     .quantities = 2,
     .expect = expect_cradle,
     .measure = measure_cradle},
    {.name = "reflections",
     .shows = "under `\"impacts\": \"propagating\"` elastic balls that touch pass an impact on as "
              "balls apart do, and share one that meets two at once",
     .source = "textbook: elastic impacts, one after the other; two at once by symmetry",
     .reason = "impacts propagate before the step: rounding alone",
     .step = 0.001,
     .quantities = 4,
     .expect = expect_reflections,
     .measure = measure_reflections},
    {.name = "painleve",
     .shows =
         "a leaning bar that slides into its lean jams at once from mu = N_nn/N_tn on, and turns "
         "about its edge",
     .source = "Painleve 1895; impact without collision: Stewart, SIAM Review 42 (2000) 3",
     .reason = "gravity acts for a step: 3 g h over the speed, of threshold and spin",
     .step = 0.001,
     .quantities = 2,
     .expect = expect_painleve,
     .measure = measure_painleve}};
const int validate_impacts_count = LAB_COUNT(validate_impacts);

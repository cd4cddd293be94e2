/* lab/validate/rolling.c - round bodies: on an incline, from sliding to rolling, and stopped by rolling friction.
 *
 * A sphere of inertia k m R^2, k = 2/5, rolls down a slope with g sin a/(1 + k) if mu is at least k/(1 + k) tan a; a
 * cylinder likewise with k = 1/2. */
#include "validate.h"

#include <math.h>

static const double radius = 0.1, slope = 0.5, rolling_mu = 0.3, run_time = 1.0;

/* Returns the acceleration of gravity along the incline. */
static double downhill(void)
{
    return validate_gravity * slope / sqrt(1.0 + slope * slope);
}

/* Returns the speed of a sphere's surface at the floor. */
static double get_slip(const ValidateState *s)
{
    return s->velocity.x - radius * s->spin.y;
}

/* Lets a body run down the incline from rest for `run_time` and writes its state. */
static TalusStatus run_down(const ValidateSetup *setup, const ValidateBody *body, double mu,
                            ValidateState *out)
{
    TalusWorld *world = NULL;
    TalusStatus status = validate_create(setup, slope, mu, &world);
    TALUS_THEN(status, validate_add_floor(setup, world));
    TALUS_THEN(status, validate_add_body(world, body, NULL));
    TALUS_THEN(status, validate_advance(world, run_time));
    if (status == TALUS_OK)
        *out = validate_read(world, 1);
    talus_world_destroy(world);
    return status;
}

/* ---- sphere on an incline ---- */

static const double slippery_mu = 0.05;

static ValidateBody get_sphere(void)
{
    return (ValidateBody){
        .shape = validate_sphere(radius), .mass = 1.0, .position = {0.0, 0.0, radius}};
}

static void expect_incline(double h, ValidateQuantity *q)
{
    double rolling = downhill() / 1.4, sliding = downhill() * (1.0 - slippery_mu / slope);
    q[0] = (ValidateQuantity){
        .name = "least friction to roll", .unit = "", .expected = 2.0 / 7.0 * slope, .bound = 1e-3};
    q[1] = (ValidateQuantity){.name = "rolling acceleration",
                              .unit = "m/s2",
                              .expected = rolling,
                              .bound = 1e-6 * rolling};
    q[2] = (ValidateQuantity){.name = "sliding acceleration",
                              .unit = "m/s2",
                              .expected = sliding,
                              .bound = 1e-6 * sliding,
                              .relaxed_bound =
                                  2.0 * slippery_mu * slippery_mu * h / run_time * sliding};
}

static TalusStatus rolls_on_incline(const ValidateSetup *setup, double mu, bool *out)
{
    ValidateState s;
    ValidateBody sphere = get_sphere();
    TALUS_TRY(run_down(setup, &sphere, mu, &s));
    *out = fabs(get_slip(&s)) < 1e-3;
    return TALUS_OK;
}

static TalusStatus measure_incline(const ValidateSetup *setup, double *found)
{
    ValidateState rolling, sliding;
    ValidateBody sphere = get_sphere();
    TALUS_TRY(validate_bisect(setup, rolls_on_incline, 0.0, 0.5, &found[0]));
    TALUS_TRY(run_down(setup, &sphere, rolling_mu, &rolling));
    TALUS_TRY(run_down(setup, &sphere, slippery_mu, &sliding));
    found[1] = rolling.velocity.x / run_time;
    found[2] = sliding.velocity.x / run_time;
    return TALUS_OK;
}

/* ---- cylinder on an incline ---- */

static void expect_cylinder(double h, ValidateQuantity *q)
{
    double rolling = downhill() / 1.5;
    (void)h;
    q[0] = (ValidateQuantity){.name = "rolling acceleration",
                              .unit = "m/s2",
                              .expected = rolling,
                              .bound = 1e-6 * rolling};
}

static TalusStatus measure_cylinder(const ValidateSetup *setup, double *found)
{
    ValidateState s;
    ValidateBody cylinder = {.shape = validate_cylinder(radius, 2.0 * radius),
                             .mass = 1.0,
                             .position = {0.0, 0.0, radius},
                             .orientation = {sqrt(0.5), sqrt(0.5), 0.0, 0.0}};
    TALUS_TRY(run_down(setup, &cylinder, rolling_mu, &s));
    found[0] = s.velocity.x / run_time;
    return TALUS_OK;
}

/* ---- from sliding to rolling ---- */

static const double thrown_speed = 2.0, thrown_mu = 0.2;

/* Returns the time at which a sphere thrown without spin begins to roll. */
static double get_roll_time(void)
{
    return 2.0 * thrown_speed / (7.0 * thrown_mu * validate_gravity);
}

static void expect_thrown(double h, ValidateQuantity *q)
{
    double time = get_roll_time(), speed = 5.0 / 7.0 * thrown_speed;
    q[0] = (ValidateQuantity){.name = "time until it rolls",
                              .unit = "s",
                              .expected = time,
                              .bound = 1e-6 * time,
                              .relaxed_bound = h};
    q[1] = (ValidateQuantity){
        .name = "final speed", .unit = "m/s", .expected = speed, .bound = 1e-6 * speed};
    q[2] = (ValidateQuantity){
        .name = "lift",
        .unit = "m",
        .bound = 1e-5 * radius,
        .relaxed_fails = "thrown up by the opening of its sliding contact, whatever the step"};
}

/* Makes steps until the slip is a tenth of what it was, and extrapolates it to 0; writes the lift until then. */
static TalusStatus find_roll_time(TalusWorld *world, double *time, double *lift)
{
    double before, slip = thrown_speed, end = 6.0 * get_roll_time();
    *lift = 0.0;
    do {
        TALUS_TRY(validate_step(world));
        ValidateState s = validate_read(world, 1);
        before = slip;
        slip = get_slip(&s);
        *lift = fmax(*lift, s.position.z - radius);
    } while (slip > 0.1 * thrown_speed && talus_world_time(world) < end);
    *time = talus_world_time(world) + talus_world_step_length(world) * slip / (before - slip);
    return TALUS_OK;
}

static TalusStatus measure_thrown(const ValidateSetup *setup, double *found)
{
    TalusWorld *world = NULL;
    ValidateBody sphere = get_sphere();
    sphere.velocity.x = thrown_speed;
    TalusStatus status = validate_create(setup, 0.0, thrown_mu, &world);
    TALUS_THEN(status, validate_add_floor(setup, world));
    TALUS_THEN(status, validate_add_body(world, &sphere, NULL));
    TALUS_THEN(status, find_roll_time(world, &found[0], &found[2]));
    TALUS_THEN(status, validate_advance(world, 5.0 * get_roll_time()));
    if (status == TALUS_OK)
        found[1] = validate_read(world, 1).velocity.x;
    talus_world_destroy(world);
    return status;
}

/* ---- rolling friction ---- */

static const double rolled_speed = 0.5, rolled_mu = 0.5, rolling_friction = 0.1;

/* The moment M = rolling R m g and the friction F at the contact: m a = F, k m R a = M - F R, so that the sphere slows
 * down by 5/7 rolling g. */
static double get_rolling_distance(void)
{
    return rolled_speed * rolled_speed / (2.0 * 5.0 / 7.0 * rolling_friction * validate_gravity);
}

static void expect_stop(double h, ValidateQuantity *q)
{
    q[0] = (ValidateQuantity){.name = "distance",
                              .unit = "m",
                              .expected = get_rolling_distance(),
                              .bound = rolled_speed * h,
                              .order = 1};
}

static TalusStatus measure_stop(const ValidateSetup *setup, double *found)
{
    TalusWorld *world = NULL;
    ValidateState s = {0};
    ValidateBody sphere = get_sphere();
    double end = 4.0 * get_rolling_distance() / rolled_speed;
    sphere.velocity.x = rolled_speed;
    sphere.spin.y = rolled_speed / radius;
    TalusStatus status = validate_create(setup, 0.0, rolled_mu, &world);
    TALUS_THEN(status, validate_set_pair(setup, world, rolled_mu, rolling_friction, 0.0));
    TALUS_THEN(status, validate_add_floor(setup, world));
    TALUS_THEN(status, validate_add_body(world, &sphere, NULL));
    do {
        TALUS_THEN(status, validate_step(world));
        if (status == TALUS_OK)
            s = validate_read(world, 1);
    } while (status == TALUS_OK && s.velocity.x > 1e-7 && talus_world_time(world) < end);
    found[0] = s.position.x;
    talus_world_destroy(world);
    return status;
}

const ValidateCase validate_rolling[] = {
    {.name = "incline-sphere",
     .shows = "a sphere on an incline of slope 0.5 rolls with 5/7 g sin a from mu = 2/7 tan a on, "
              "and slides with g (sin a - mu cos a) below",
     .source = "textbook: rolling of a solid sphere",
     .reason = "threshold: a slip of 1 mm/s after 1 s; accelerations: the scheme is exact; under "
               "ccp twice the opening's h mu^2, as for the block",
     .step = 0.01,
     .quantities = 3,
     .expect = expect_incline,
     .measure = measure_incline},
    {.name = "incline-cylinder",
     .shows = "a solid cylinder rolls down an incline with 2/3 g sin a",
     .source = "textbook: rolling of a solid cylinder",
     .reason = "the scheme is exact",
     .step = 0.01,
     .quantities = 1,
     .expect = expect_cylinder,
     .measure = measure_cylinder},
    {.name = "slide-to-roll",
     .shows =
         "a sphere thrown at 2 m/s without spin rolls after 2 v/(7 mu g), at 5/7 v, and does not lift",
     .source = "textbook (Coriolis 1835): momentum about the contact is conserved",
     .reason =
         "the scheme is exact while it slides, and conserves the momentum; under ccp one step",
     .step = 0.005,
     .quantities = 3,
     .expect = expect_thrown,
     .measure = measure_thrown},
    {.name = "rolling-stop",
     .shows = "a sphere that rolls at 0.5 m/s stops after v^2/(2 a), a = 5/7 rolling g",
     .source = "momentum balance, docs/reference/scenes.md (`rolling`)",
     .reason = "one step's travel v h, of which the scheme loses half",
     .step = 0.002,
     .quantities = 1,
     .expect = expect_stop,
     .measure = measure_stop}};
const int validate_rolling_count = LAB_COUNT(validate_rolling);

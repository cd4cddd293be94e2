/* lab/validate/sliding.c - blocks that slide: an incline, and a block struck while at rest.
 *
 * Under the convex relaxation a contact that slides at speed u opens by h mu u. On an incline, where u grows from 0, the
 * opening adds the normal velocity h mu du/dt once, whose friction takes h mu^2 du/dt off the speed: an error of first
 * order. A block that slides suddenly is thrown up at mu u/(1 + mu^2), whatever the step. It stops where it should all
 * the same: friction is mu times the normal impulse, of which half acts at the throw and half at the landing, so that
 * the mean speed between is that of a block that stays down. */
#include "validate.h"

#include <math.h>

static const double half_side = 0.1, half_height = 0.05; /* of the blocks, m */

/* ---- incline ---- */

static const double slope = 0.5, incline_mu = 0.3, slide_time = 1.0;

/* Returns the acceleration of a body that slides down the incline. */
static double slide_acceleration(void)
{
    return validate_gravity * (slope - incline_mu) / sqrt(1.0 + slope * slope);
}

static void expect_incline(double h, ValidateQuantity *q)
{
    double a = slide_acceleration();
    q[0] = (ValidateQuantity){
        .name = "least friction that holds", .unit = "", .expected = slope, .bound = 1e-3};
    q[1] = (ValidateQuantity){.name = "acceleration",
                              .unit = "m/s2",
                              .expected = a,
                              .bound = 1e-6 * a,
                              .relaxed_bound = 2.0 * incline_mu * incline_mu * h / slide_time * a};
}

/* Writes the speed of a block down the incline after `seconds`. */
static TalusStatus slide_down(const ValidateSetup *setup, double mu, double seconds, double *speed)
{
    TalusWorld *world = NULL;
    ValidateBody block = {.shape = validate_box(half_side, half_side, half_height),
                          .mass = 1.0,
                          .position = {0.0, 0.0, half_height}};
    TalusStatus status = validate_create(setup, slope, mu, &world);
    TALUS_THEN(status, validate_add_floor(setup, world));
    TALUS_THEN(status, validate_add_body(world, &block, NULL));
    TALUS_THEN(status, validate_advance(world, seconds));
    if (status == TALUS_OK)
        *speed = validate_read(world, 1).velocity.x;
    talus_world_destroy(world);
    return status;
}

static TalusStatus holds_on_incline(const ValidateSetup *setup, double mu, bool *out)
{
    double speed = 0.0;
    TALUS_TRY(slide_down(setup, mu, 0.5 * slide_time, &speed));
    *out = fabs(speed) < 1e-3;
    return TALUS_OK;
}

static TalusStatus measure_incline(const ValidateSetup *setup, double *found)
{
    TALUS_TRY(validate_bisect(setup, holds_on_incline, 0.0, 1.0, &found[0]));
    TALUS_TRY(slide_down(setup, incline_mu, slide_time, &found[1]));
    found[1] /= slide_time;
    return TALUS_OK;
}

/* ---- block struck while at rest ---- */

static const double struck_mu = 0.3, struck_speed = 3.0, rest_time = 0.25;

static void expect_struck(double h, ValidateQuantity *q)
{
    q[0] = (ValidateQuantity){.name = "lift",
                              .unit = "m",
                              .bound = 1e-5 * half_side,
                              .relaxed_fails = "thrown up at mu v/(1 + mu^2), whatever the step"};
    q[1] = (ValidateQuantity){.name = "sliding distance",
                              .unit = "m",
                              .expected = struck_speed * struck_speed /
                                          (2.0 * struck_mu * validate_gravity),
                              .bound = struck_speed * h,
                              .order = 1};
}

/* Makes steps until the block stands still, at most for three times its expected time; writes its largest height. */
static TalusStatus slide_to_rest(TalusWorld *world, double *highest)
{
    double end = talus_world_time(world) + 3.0 * struck_speed / (struck_mu * validate_gravity);
    ValidateState s;
    do {
        TALUS_TRY(validate_step(world));
        s = validate_read(world, 1);
        *highest = fmax(*highest, s.position.z);
    } while (s.velocity.x > 1e-6 && talus_world_time(world) < end);
    return TALUS_OK;
}

static TalusStatus measure_struck(const ValidateSetup *setup, double *found)
{
    TalusWorld *world = NULL;
    TalusBodyId id = {0};
    TalusVec3 velocity = {struck_speed, 0.0, 0.0}, spin = {0.0, 0.0, 0.0};
    ValidateState rest = {0};
    ValidateBody block = {.shape = validate_box(half_side, half_side, half_side),
                          .mass = 1.0,
                          .position = {0.0, 0.0, half_side}};
    TalusStatus status = validate_create(setup, 0.0, struck_mu, &world);
    TALUS_THEN(status, validate_add_floor(setup, world));
    TALUS_THEN(status, validate_add_body(world, &block, &id));
    TALUS_THEN(status, validate_advance(world, rest_time));
    if (status == TALUS_OK)
        rest = validate_read(world, 1);
    double highest = rest.position.z;
    TALUS_THEN(status, talus_world_set_velocity(world, id, velocity, spin));
    TALUS_THEN(status, slide_to_rest(world, &highest));
    if (status == TALUS_OK) {
        found[0] = highest - rest.position.z;
        found[1] = validate_read(world, 1).position.x - rest.position.x;
    }
    talus_world_destroy(world);
    return status;
}

const ValidateCase validate_sliding[] = {
    {.name = "incline-block",
     .shows = "a block on an incline of slope 0.5 sticks from mu = tan a on, and slides with "
              "g (sin a - mu cos a)",
     .source = "textbook: Coulomb's law on an incline",
     .reason = "threshold: a speed of 1 mm/s after 0.5 s is reached 2e-4 below it; acceleration: "
               "the scheme is exact; under ccp the opening costs h mu^2 of a second's speed, and "
               "twice that is allowed",
     .step = 0.01,
     .quantities = 2,
     .expect = expect_incline,
     .measure = measure_incline},
    {.name = "struck-block",
     .shows = "a block at rest that gets 3 m/s does not lift, and stops after v^2/(2 mu g)",
     .source =
         "textbook: Coulomb friction; lift of the relaxation: docs/explanation/default-law.md",
     .reason = "lift: 1e-5 of half the side; distance: one step's travel v h, of which the scheme "
               "loses half",
     .step = 0.002,
     .quantities = 2,
     .expect = expect_struck,
     .measure = measure_struck}};
const int validate_sliding_count = LAB_COUNT(validate_sliding);

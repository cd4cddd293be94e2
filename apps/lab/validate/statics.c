/* lab/validate/statics.c - thresholds of rest: a box that topples, a ladder, a heap of three spheres.
 *
 * Ladder. Half width a, half length c, leaning at the angle t from the vertical against a smooth wall: the moment about
 * its foot gives the wall's push over the weight, (tan t - a/c)/2, which friction at the foot must balance.
 *
 * Three spheres. Two on the floor touch, the third lies on both. A lower sphere does not turn, so friction F is the same
 * at the floor and at the upper sphere, where N sin 30 = F (1 + cos 30): it holds from mu = F/N = tan 15 on. */
#include "validate.h"

#include <math.h>

/* ---- topple ---- */

static const double narrow = 0.1, tall = 0.2; /* half width and half height of the box, m */

static void expect_topple(double h, ValidateQuantity *q)
{
    (void)h;
    q[0] = (ValidateQuantity){
        .name = "least slope that topples", .unit = "", .expected = narrow / tall, .bound = 1e-3};
}

static TalusStatus topples(const ValidateSetup *setup, double slope, bool *out)
{
    TalusWorld *world = NULL;
    ValidateBody box = {
        .shape = validate_box(narrow, narrow, tall), .mass = 1.0, .position = {0.0, 0.0, tall}};
    TalusStatus status = validate_create(setup, slope, 1.0, &world);
    TALUS_THEN(status, validate_add_floor(setup, world));
    TALUS_THEN(status, validate_add_body(world, &box, NULL));
    TALUS_THEN(status, validate_advance(world, 1.0));
    if (status == TALUS_OK)
        *out = fabs(validate_read(world, 1).orientation.y) > 0.005;
    talus_world_destroy(world);
    return status;
}

static TalusStatus measure_topple(const ValidateSetup *setup, double *found)
{
    return validate_bisect(setup, topples, 0.3, 0.7, &found[0]);
}

/* ---- ladder ---- */

static const double rail = 0.01, rail_width = 0.1, rail_length = 0.5; /* half extents, m */
static const double lean_tangent = 0.8, watch_time = 0.5;

static void expect_ladder(double h, ValidateQuantity *q)
{
    (void)h;
    q[0] = (ValidateQuantity){.name = "least friction that holds",
                              .unit = "",
                              .expected = 0.5 * (lean_tangent - rail / rail_length),
                              .bound = 1e-3};
}

/* Adds floor, smooth wall and ladder, whose edges touch both. */
static TalusStatus add_ladder(const ValidateSetup *setup, TalusWorld *world)
{
    double lean = atan(lean_tangent), c = cos(lean), s = sin(lean);
    TalusMaterialDef smooth = talus_material_def_default();
    smooth.friction = 0.0;
    ValidateBody ladder = {
        .shape = validate_box(rail, rail_width, rail_length),
        .mass = 1.0,
        .position = {rail * c + rail_length * s, 0.0, rail * s + rail_length * c},
        .orientation = validate_turn_about_y(-lean)};
    TALUS_TRY(talus_world_add_material(world, &smooth, NULL));
    TALUS_TRY(validate_add_floor(setup, world));
    TALUS_TRY(validate_add_wall(setup, world, 1));
    return validate_add_body(world, &ladder, NULL);
}

static TalusStatus ladder_holds(const ValidateSetup *setup, double mu, bool *out)
{
    TalusWorld *world = NULL;
    TalusStatus status = validate_create(setup, 0.0, mu, &world);
    TALUS_THEN(status, add_ladder(setup, world));
    TALUS_THEN(status, validate_advance(world, watch_time));
    if (status == TALUS_OK)
        *out = talus_norm(validate_read(world, 2).velocity) < 1e-3;
    talus_world_destroy(world);
    return status;
}

static TalusStatus measure_ladder(const ValidateSetup *setup, double *found)
{
    return validate_bisect(setup, ladder_holds, 0.0, 1.0, &found[0]);
}

/* ---- three spheres ---- */

static const double heap_radius = 0.1;

static void expect_heap(double h, ValidateQuantity *q)
{
    (void)h;
    q[0] = (ValidateQuantity){.name = "least friction that holds",
                              .unit = "",
                              .expected = 2.0 - sqrt(3.0),
                              .bound = 1e-3};
}

static TalusStatus add_heap(const ValidateSetup *setup, TalusWorld *world)
{
    const double r = heap_radius;
    const TalusVec3 places[] = {{-r, 0.0, r}, {r, 0.0, r}, {0.0, 0.0, r + sqrt(3.0) * r}};
    TALUS_TRY(validate_add_floor(setup, world));
    for (int i = 0; i < LAB_COUNT(places); i++) {
        ValidateBody sphere = {.shape = validate_sphere(r), .mass = 1.0, .position = places[i]};
        TALUS_TRY(validate_add_body(world, &sphere, NULL));
    }
    return TALUS_OK;
}

static TalusStatus heap_holds(const ValidateSetup *setup, double mu, bool *out)
{
    TalusWorld *world = NULL;
    TalusStatus status = validate_create(setup, 0.0, mu, &world);
    TALUS_THEN(status, add_heap(setup, world));
    TALUS_THEN(status, validate_advance(world, watch_time));
    if (status == TALUS_OK)
        *out = talus_norm(validate_read(world, 3).velocity) < 1e-3;
    talus_world_destroy(world);
    return status;
}

static TalusStatus measure_heap(const ValidateSetup *setup, double *found)
{
    return validate_bisect(setup, heap_holds, 0.0, 1.0, &found[0]);
}

const ValidateCase validate_statics[] = {
    {.name = "topple",
     .shows =
         "a box of half width b and half height c on a rough incline topples from tan a = b/c on",
     .source = "textbook: the weight passes the lower edge",
     .reason =
         "a slope 2e-4 above the threshold turns the box by 0.01 rad within the second of the run",
     .step = 0.005,
     .quantities = 1,
     .expect = expect_topple,
     .measure = measure_topple},
    {.name = "ladder",
     .shows = "a ladder that leans against a smooth wall stands from mu = (tan t - a/c)/2 on",
     .source = "textbook: moments about the foot",
     .reason = "a speed of 1 mm/s after 0.5 s is reached some 2e-4 below the threshold",
     .step = 0.005,
     .quantities = 1,
     .expect = expect_ladder,
     .measure = measure_ladder},
    {.name = "three-spheres",
     .shows = "a sphere lies on two others that touch, from mu = tan 15 degrees on",
     .source = "textbook: balance of forces and moments",
     .reason = "a speed of 1 mm/s after 0.5 s is reached some 5e-4 below the threshold",
     .step = 0.005,
     .quantities = 1,
     .expect = expect_heap,
     .measure = measure_heap}};
const int validate_statics_count = LAB_COUNT(validate_statics);

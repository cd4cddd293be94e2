/* lab/validate/slopes.c - steady flows under a slope: down a rough incline (Bagnold), and in a turning drum. */
#include "flow.h"

#include <math.h>

/* ---- incline ----
 *
 * 720 spheres, a layer of about 14 d, on a base of fixed spheres in a box that is periodic along x and y. Gravity is tilted
 * towards +x. After 120 sqrt(d/g) the flow is steady, and fields are means over the next 100. */

/* clang-format off */
static const char incline_scene[] = FLOW_SCENE({
    "params": {"d": 0.01, "g": 9.81, "h": 0.001, "mu": 0.5, "wide": 1, "slope": 0.4, "count": 720, "u": 0,
               "side": "=7*d*wide", "gx": "=g*slope/sqrt(1+slope^2)", "gz": "=g/sqrt(1+slope^2)"},
    "step": "=h", "gravity": ["=gx", 0, "=-gz"],
    "period": {"x": [0, "=side"], "y": [0, "=side"]},
    "materials": {"grain": {"friction": "=mu", "density": 2500}},
    "bodies": [
        {"shape": {"kind": "plane"}, "at": [0, 0, "=-d"]},
        {"radius": "=d/2", "fixed": true, "count": 36,
         "lattice": {"lo": [0, 0, "=-d/2"], "cells": [6, 6, 1], "spacing": ["=side/6", "=side/6", "=1.4*d"], "jitter": 1}},
        {"radius": {"mean": "=d/2", "spread": 0.1}, "count": "=count", "velocity": ["=u", 0, 0],
         "lattice": {"lo": [0, 0, "=1.1*d"], "cells": [6, 6, 0], "spacing": "=side/6", "jitter": 0.9}}
    ],
    "probes": [{"name": "grains", "region": {"lo": [0, 0, "=-0.7*d"], "hi": ["=side", "=side", "=60*d"]}}]
});
/* clang-format on */

enum { CELLS = 30 };
static const double incline_slope = 0.44522869, /* tan 24 degrees */
    stop_slope = 0.32491970;                    /* tan 18 degrees */

/* Creates fields over the layer, in cells of d/2 along z. */
static TalusStatus create_profile(double side, TalusContinuum **fields)
{
    const TalusGridDef def = {.lo = {0.0, 0.0, 0.0},
                              .hi = {side, side, 0.5 * CELLS * flow_d},
                              .cells = {1, 1, CELLS},
                              .width = flow_d};
    return talus_continuum_create(&def,
                                  1u << TALUS_QUANTITY_SOLID | 1u << TALUS_QUANTITY_DENSITY |
                                      1u << TALUS_QUANTITY_VELOCITY | 1u << TALUS_QUANTITY_STRESS,
                                  fields);
}

static double get_component(const TalusContinuum *fields, TalusQuantity quantity, int cell,
                            int component)
{
    double value[TALUS_QUANTITY_COMPONENTS] = {0.0};
    talus_continuum_get(fields, quantity, 0, 0, cell, value);
    return value[component];
}

/* found: exponent of the velocity profile, solid fraction, inertial number; of the cells from 3 d above the base to 3 d
 * below the surface. Depth is the mass above over that of a layer, which does not need the height of the surface. */
static void read_profile(const TalusContinuum *fields, double *found)
{
    double depth[CELLS], rate[CELLS], above = 0.0, solid = 0.0, number = 0.0;
    int count = 0;
    const double cell = 0.5 * flow_d;
    for (int i = CELLS - 2; i > 6; i--) {
        const double rho = get_component(fields, TALUS_QUANTITY_DENSITY, i, 0);
        const double middle = (above + 0.5 * cell * rho) / (0.58 * flow_density);
        above += cell * rho;
        if (middle < 3.0 * flow_d)
            continue;
        const double shear = (get_component(fields, TALUS_QUANTITY_VELOCITY, i + 1, 0) -
                              get_component(fields, TALUS_QUANTITY_VELOCITY, i - 1, 0)) /
                             (2.0 * cell);
        const double pressure = -get_component(fields, TALUS_QUANTITY_STRESS, i, 8);
        solid += get_component(fields, TALUS_QUANTITY_SOLID, i, 0);
        number += shear * flow_d / sqrt(pressure / flow_density);
        depth[count] = log(middle);
        rate[count++] = log(shear);
    }
    found[0] = 1.0 + flow_fit_slope(depth, rate, count);
    found[1] = solid / count;
    found[2] = number / count;
}

/* Averages fields and the force on the grains over 100 sqrt(d/g). */
static TalusStatus average_profile(Flow *flow, TalusContinuum *fields, TalusVec3 *force)
{
    *force = talus_vec3(0.0, 0.0, 0.0);
    for (int i = 0; i < 100; i++) {
        TalusVec3 part;
        TALUS_TRY(flow_average_forces(flow, 1.0, 1, &part));
        *force = talus_madd(*force, 0.01, part);
        TALUS_TRY(flow_add_fields(flow, fields));
    }
    return TALUS_OK;
}

/* Measures the steady flow: profile, and the weight that the base bears. */
static TalusStatus measure_steady(const ValidateSetup *setup, double *found)
{
    const FlowParam params[] = {{"slope", incline_slope}, {NULL, 0.0}};
    Flow flow;
    TalusContinuum *fields = NULL;
    TalusVec3 force, position, velocity;
    double mass;
    TalusStatus status = flow_begin(setup, incline_scene, 0.5, params, &flow);
    TALUS_THEN(status, create_profile(7.0 * flow_d * (1.0 + setup->widening), &fields));
    TALUS_THEN(status, flow_advance(&flow, 120.0));
    TALUS_THEN(status, average_profile(&flow, fields, &force));
    TALUS_THEN(status, flow_find_mean(&flow, &position, &velocity, &mass));
    TALUS_THEN(status, flow_find_sliding(&flow, &found[5]));
    TALUS_THEN(status, flow_check(&flow));
    if (status == TALUS_OK) {
        read_profile(fields, found);
        found[3] = force.z * sqrt(1.0 + incline_slope * incline_slope) / (mass * flow_g);
    }
    talus_continuum_destroy(fields);
    flow_end(&flow);
    return status;
}

/* Measures how fast grains that start at 2 sqrt(g d) still are after 120 sqrt(d/g) on 18 degrees, over sqrt(g d). */
static TalusStatus measure_stop(const ValidateSetup *setup, double *found)
{
    const FlowParam params[] = {
        {"slope", stop_slope}, {"u", 2.0 * sqrt(flow_g * flow_d)}, {NULL, 0.0}};
    Flow flow;
    TalusVec3 position, velocity;
    double mass;
    TalusStatus status = flow_begin(setup, incline_scene, 0.5, params, &flow);
    TALUS_THEN(status, flow_advance(&flow, 120.0));
    TALUS_THEN(status, flow_find_mean(&flow, &position, &velocity, &mass));
    if (status == TALUS_OK)
        *found = velocity.x / sqrt(flow_g * flow_d);
    flow_end(&flow);
    return status;
}

static TalusStatus measure_incline(const ValidateSetup *setup, double *found)
{
    TALUS_TRY(measure_steady(setup, found));
    return measure_stop(setup, &found[4]);
}

static void expect_incline(double h, ValidateQuantity *q)
{
    (void)h;
    q[0] = (ValidateQuantity){
        .name = "exponent of the profile, 24 degrees", .unit = "", .expected = 1.5, .bound = 0.45};
    q[1] =
        (ValidateQuantity){.name = "solid fraction", .unit = "", .expected = 0.575, .bound = 0.025};
    q[2] =
        (ValidateQuantity){.name = "inertial number", .unit = "", .expected = 0.1, .bound = 0.03};
    q[3] = (ValidateQuantity){
        .name = "load of the base over the weight", .unit = "", .expected = 1.0, .bound = 0.01};
    q[4] = (ValidateQuantity){
        .name = "speed left, 18 degrees", .unit = "sqrt(gd)", .expected = 0.0, .bound = 0.01};
    q[5] = flow_expect_sliding(0.5);
}

/* ---- drum ----
 *
 * 720 spheres fill a third of a drum of 20 d with smooth lids 6 d apart, turned at a Froude number of 0.01. The bed's angle is
 * that of its centre of mass about the axis, its torque the drum's; means from 40 to 100 sqrt(d/g). */

/* clang-format off */
static const char drum_scene[] = FLOW_SCENE({
    "params": {"d": 0.01, "g": 9.81, "h": 0.001, "mu": 0.5, "wide": 1, "drum": "=10*d*wide", "t": "=sqrt(0.01/9.81)"},
    "step": "=h", "gravity": [0, 0, "=-g"],
    "materials": {"grain": {"friction": "=mu", "density": 2500}, "wall": {"friction": 1}, "glass": {"friction": 0}},
    "friction": [{"between": ["grain", "wall"], "mu": 1}],
    "bodies": [
        {"name": "drum", "material": "wall", "normal": [0, -1, 0], "at": [0, 0, 0],
         "shape": {"kind": "revolve", "profile": [["=drum", "=-4*d"], ["=drum", "=4*d"]]},
         "drive": {"spin": [0, "=0.0316228/t", 0]}},
        {"shape": {"kind": "plane"}, "material": "glass", "at": [0, "=-3*d", 0], "normal": [0, 1, 0]},
        {"shape": {"kind": "plane"}, "material": "glass", "at": [0, "=3*d", 0], "normal": [0, -1, 0]},
        {"radius": {"mean": "=d/2", "spread": 0.1}, "material": "grain", "count": 720,
         "lattice": {"lo": ["=-6.7*d", "=-2.9*d", "=-6.7*d"], "cells": [12, 5, 0], "spacing": "=1.12*d"}}
    ],
    "probes": [{"name": "drum", "body": "drum"}]
});
/* clang-format on */

static TalusStatus measure_drum(const ValidateSetup *setup, double *found)
{
    enum { PARTS = 60 };
    Flow flow;
    TalusVec3 x, velocity;
    double mass = 0.0, lever = 0.0, angle = 0.0, torque = 0.0;
    TalusStatus status = flow_begin(setup, drum_scene, 0.5, NULL, &flow);
    TALUS_THEN(status, flow_advance(&flow, 40.0));
    for (int i = 0; i < PARTS && status == TALUS_OK; i++) {
        const int64_t steps = cli_steps_until(flow_time, talus_world_step_length(flow.world));
        for (int64_t k = 0; k < steps && status == TALUS_OK; k++) {
            status = flow_advance(&flow, talus_world_step_length(flow.world) / flow_time);
            torque += talus_world_probe_value(flow.world, 0).torque.y / (double)(steps * PARTS);
        }
        TALUS_THEN(status, flow_find_mean(&flow, &x, &velocity, &mass));
        lever += x.x / PARTS;
        angle += 57.295779513 * atan2(fabs(x.x), -x.z) / PARTS;
    }
    TALUS_THEN(status, flow_check(&flow));
    TALUS_THEN(status, flow_find_sliding(&flow, &found[2]));
    if (status == TALUS_OK) {
        found[0] = angle;
        found[1] = fabs(torque / (mass * flow_g * lever));
    }
    flow_end(&flow);
    return status;
}

static void expect_drum(double h, ValidateQuantity *q)
{
    (void)h;
    q[0] = (ValidateQuantity){
        .name = "angle of the bed", .unit = "degrees", .expected = 26.0, .bound = 5.0};
    q[1] = (ValidateQuantity){
        .name = "torque over that of the weight", .unit = "", .expected = 1.0, .bound = 0.01};
    q[2] = flow_expect_sliding(0.5);
}

const ValidateCase validate_slopes[] = {
    {.name = "incline",
     .shows = "steady flow down a rough slope of 24 degrees, and none on 18 degrees",
     .source =
         "Bagnold's profile, v ~ H^(3/2) - (H - z)^(3/2), and uniform fraction: Silbert et al. 2001, Phys. "
         "Rev. E 64, 051302; inertial number: 0.09 by Jop et al. 2006, Nature 441, 727, 0.11 by Weinhart et al. "
         "2012, Granul. Matter 14, 531",
     .reason =
         "0.45: 8 d of a layer of 14 d; excludes the straight line of thin layers, 1, and the parabola of a viscous "
         "fluid, 2; 0.025 and 0.03: the spread of published flows; 0.01: balance of forces; 0.005: Coulomb's law",
     .step = FLOW_STEP,
     .coulomb_alone = true,
     .slow = true,
     .quantities = 6,
     .expect = expect_incline,
     .measure = measure_incline},
    {.name = "drum",
     .shows = "grains in a turning drum without friction of the lids",
     .source =
         "between 21 degrees, where layers of spheres of friction 0.5 stop, and 31, where none is steady, give or "
         "take 1 (Silbert et al. 2001; GDR MiDi 2004, Eur. Phys. J. E 14, 341); torque = weight times lever",
     .reason =
         "5 degrees: that range; 0.01: balance of moments over sixty sqrt(d/g); 0.005: Coulomb's law",
     .step = FLOW_STEP,
     .coulomb_alone = true,
     .slow = true,
     .quantities = 3,
     .expect = expect_drum,
     .measure = measure_drum}};
const int validate_slopes_count = LAB_COUNT(validate_slopes);

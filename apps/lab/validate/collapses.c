/* lab/validate/collapses.c - grains set in motion at once: columns that collapse (Lube), a ball that makes a crater
 * (Uehara). */
#include "flow.h"

#include <math.h>

/* ---- columns ----
 *
 * Spheres settle in a cylinder of 20 d on a rough base, fixed spheres on a plane; then the cylinder is gone. After
 * 40 sqrt(d/g) the deposit ends where its thickness, by the number of grains in rings 1 d wide at a solid fraction of 0.58,
 * first falls below d/2. */

/* clang-format off */
static const char column_scene[] = FLOW_SCENE({
    "params": {"d": 0.01, "g": 9.81, "h": 0.001, "mu": 0.5, "wide": 1, "column": "=10*d*wide", "count": 100},
    "step": "=h", "gravity": [0, 0, "=-g"],
    "materials": {"grain": {"friction": "=mu", "density": 2500}},
    "bodies": [
        {"name": "cylinder", "shape": {"kind": "revolve", "profile": [["=column", "=-d"], ["=column", "=90*d"]]}, "at": [0, 0, 0]},
        {"shape": {"kind": "plane"}, "at": [0, 0, "=-d/2"]},
        {"radius": "=d/2", "fixed": true, "count": 3481,
         "lattice": {"lo": ["=-36*d", "=-36*d", "=-d"], "cells": [59, 59, 1], "spacing": ["=72*d/59", "=72*d/59", "=d"], "jitter": 1}},
        {"radius": {"mean": "=d/2", "spread": 0.1}, "count": "=count",
         "layers": {"bottom": [0, 0, "=0.6*d"], "radius": "=column", "spacing": "=1.15*d", "jitter": 0.9}}
    ]
});
/* clang-format on */

enum { RINGS = 40, COLUMNS = 3 };
/* Numbers of grains: columns of about 0.6, 1.2 and 2 times the radius. */
static const double column_grains[COLUMNS] = {2150.0, 4300.0, 7200.0};
static const double column_radius = 10.0; /* d */

/* Returns the radius, in d, at which the deposit ends, between rings by linear interpolation. */
static double find_edge(const TalusAssembly *a)
{
    int count[RINGS] = {0};
    double before = INFINITY;
    for (int i = 0; i < a->body_count; i++) {
        const double r = hypot(a->position[i].x, a->position[i].y) / flow_d;
        if (r < RINGS)
            count[(int)r]++;
    }
    for (int k = 0; k < RINGS; k++) {
        const double area = 3.14159265358979323846 * (2 * k + 1); /* d2 */
        const double thickness = count[k] * 3.14159265358979323846 / 6.0 / (0.58 * area);
        if (thickness < 0.5)
            return k + 0.5 - (0.5 - thickness) / (before - thickness);
        before = thickness;
    }
    return NAN; /* beyond the rough base */
}

/* Lube's law: run-out over the initial radius, of a column of this aspect ratio. */
static double get_runout(double aspect)
{
    return aspect < 1.7 ? 1.24 * aspect : 1.6 * sqrt(aspect);
}

/* Sets *found to the run-out over Lube's. */
static TalusStatus measure_column(const ValidateSetup *setup, double grains, double *found)
{
    const FlowParam params[] = {{"count", grains}, {NULL, 0.0}};
    const TalusBodyId cylinder = {1};
    Flow flow;
    FlowState state = {0};
    TalusVec3 mean, velocity;
    double mass;
    TalusStatus status = flow_begin(setup, column_scene, 0.5, params, &flow);
    TALUS_THEN(status, flow_advance(&flow, 25.0));
    TALUS_THEN(status, flow_find_mean(&flow, &mean, &velocity, &mass));
    TALUS_THEN(status, talus_world_remove_body(flow.world, cylinder));
    TALUS_THEN(status, flow_advance(&flow, 40.0));
    TALUS_THEN(status, flow_check(&flow));
    TALUS_THEN(status, flow_take(&flow, &state));
    if (status == TALUS_OK)
        *found = (find_edge(&state.assembly) / column_radius - 1.0) /
                 get_runout(2.0 * mean.z / (column_radius * flow_d));
    flow_clear(&state);
    flow_end(&flow);
    return status;
}

static TalusStatus measure_columns(const ValidateSetup *setup, double *found)
{
    for (int i = 0; i < COLUMNS; i++)
        TALUS_TRY(measure_column(setup, column_grains[i], &found[i]));
    return TALUS_OK;
}

static void expect_columns(double h, ValidateQuantity *q)
{
    static const char *const names[COLUMNS] = {
        "run-out over Lube's, a 0.6", "run-out over Lube's, a 1.2", "run-out over Lube's, a 2"};
    (void)h;
    for (int i = 0; i < COLUMNS; i++)
        q[i] = (ValidateQuantity){.name = names[i], .unit = "", .expected = 1.0, .bound = 0.25};
}

/* ---- craters ----
 *
 * A ball of 4 d, of the grains' density, falls into 4,800 settled spheres in a box of 20 d that is periodic along x and y. The
 * depth is that of the ball's lowest point below the surface that was, 25 sqrt(d/g) later; H is the whole height of its fall,
 * the depth included. The surface is the highest for which the bed has its bulk density. */

/* clang-format off */
static const char crater_scene[] = FLOW_SCENE({
    "params": {"d": 0.01, "g": 9.81, "h": 0.001, "mu": 0.5, "wide": 1, "side": "=20*d*wide"},
    "step": "=h", "gravity": [0, 0, "=-g"],
    "period": {"x": [0, "=side"], "y": [0, "=side"]},
    "materials": {"grain": {"friction": "=mu", "density": 2500}},
    "bodies": [
        {"shape": {"kind": "plane"}, "at": [0, 0, 0]},
        {"radius": {"mean": "=d/2", "spread": 0.1}, "count": 4800,
         "lattice": {"cells": [17, 17, 0], "spacing": "=side/17", "jitter": 0.9}}
    ]
});
/* clang-format on */

enum { DROPS = 3 };
static const double drops[DROPS] = {8.0, 24.0, 72.0}; /* d, to the surface */
static const double ball_diameter = 4.0;              /* d */

/* Sets the height of the surface, m, and the bulk density, kg/m3, of a settled bed on z = 0. */
static TalusStatus measure_bed(const Flow *flow, double side, double *surface, double *density)
{
    FlowState state = {0};
    TalusVec3 mean, velocity;
    double mass;
    const TalusRegion core = {
        .lo = {0.0, 0.0, 1.5 * flow_d}, .hi = {side, side, 7.5 * flow_d}, .axis = -1};
    TALUS_TRY(flow_find_mean(flow, &mean, &velocity, &mass));
    TalusStatus status = flow_take(flow, &state);
    if (status == TALUS_OK) {
        *density = flow_density * talus_packing_fraction(&state.assembly, &core);
        *surface = mass / (side * side * *density);
    }
    flow_clear(&state);
    return status;
}

/* Adds the ball just above the surface, at the speed of its fall. */
static TalusStatus add_ball(const ValidateSetup *setup, TalusWorld *world, double surface,
                            double side, double drop, TalusBodyId *ball)
{
    const double r = 0.5 * ball_diameter * flow_d;
    const TalusShapeDef sphere = {.kind = TALUS_SHAPE_SPHERE, .radius = r};
    const TalusVec3 at = {0.5 * side, 0.5 * side, surface + r + flow_d};
    const TalusVec3 velocity = {0.0, 0.0,
                                -sqrt(2.0 * flow_g * setup->gravity * (drop - 1.0) * flow_d)};
    TalusBodyBatch batch = talus_body_batch_default();
    TALUS_TRY(talus_world_add_shape(world, &sphere, &batch.shape));
    batch.count = 1;
    batch.material = talus_world_material_count(world) - 1;
    batch.position = &at;
    batch.velocity = &velocity;
    batch.density = flow_density;
    return talus_world_add_bodies(world, &batch, ball);
}

/* Sets the depth, m, that the ball reaches in a settled bed. */
static TalusStatus measure_drop(const ValidateSetup *setup, const void *bytes, size_t size,
                                double surface, double side, double drop, double *depth)
{
    Flow flow = {.threads = setup->threads ? setup->threads : 1};
    FlowState state = {0};
    TalusBodyId ball;
    TALUS_TRY(talus_world_load(bytes, size, flow.threads, NULL, &flow.world));
    TalusStatus status = add_ball(setup, flow.world, surface, side, drop, &ball);
    TALUS_THEN(status, flow_advance(&flow, 25.0));
    TALUS_THEN(status, flow_check(&flow));
    TALUS_THEN(status, flow_take(&flow, &state));
    if (status == TALUS_OK) /* the ball is the last of the bodies, by ids */
        *depth = surface - (state.assembly.position[state.assembly.body_count - 1].z -
                            0.5 * ball_diameter * flow_d);
    flow_clear(&state);
    flow_end(&flow);
    return status;
}

/* found: prefactor, mean of the drops, and exponent. */
static void fit_uehara(const double depth[DROPS], double density, double *found)
{
    double x[DROPS], y[DROPS];
    const double repose =
        0.45; /* tangent of the angle of repose of spheres of friction 0.5, 24 degrees */
    found[0] = 0.0;
    for (int i = 0; i < DROPS; i++) {
        const double height = drops[i] * flow_d + depth[i];
        const double scale = sqrt(flow_density / density) * pow(ball_diameter * flow_d, 2.0 / 3.0) *
                             cbrt(height) / repose;
        found[0] += depth[i] / scale / DROPS;
        x[i] = log(height);
        y[i] = log(depth[i]);
    }
    found[1] = flow_fit_slope(x, y, DROPS);
}

static TalusStatus measure_crater(const ValidateSetup *setup, double *found)
{
    const double side = 20.0 * flow_d * (1.0 + setup->widening);
    Flow flow;
    void *bytes = NULL;
    size_t size = 0;
    double surface = 0.0, density = 0.0, depth[DROPS] = {0.0};
    TalusStatus status = flow_begin(setup, crater_scene, 0.5, NULL, &flow);
    TALUS_THEN(status, flow_advance(&flow, 25.0));
    TALUS_THEN(status, measure_bed(&flow, side, &surface, &density));
    TALUS_THEN(status, talus_world_save(flow.world, &bytes, &size));
    flow_end(&flow);
    for (int i = 0; i < DROPS; i++)
        TALUS_THEN(status, measure_drop(setup, bytes, size, surface, side, drops[i], &depth[i]));
    talus_free(bytes);
    if (status == TALUS_OK)
        fit_uehara(depth, density, found);
    return status;
}

static void expect_crater(double h, ValidateQuantity *q)
{
    (void)h;
    q[0] = (ValidateQuantity){
        .name = "prefactor of the depth", .unit = "", .expected = 0.14, .bound = 0.035};
    q[1] = (ValidateQuantity){
        .name = "exponent of H", .unit = "", .expected = 1.0 / 3.0, .bound = 0.08};
}

const ValidateCase validate_collapses[] = {
    {.name = "column",
     .shows = "columns of 20 diameters across collapse on a rough base",
     .source =
         "run-out over radius 1.24 a for a < 1.7, else 1.6 sqrt(a) (Lube et al. 2004, J. Fluid Mech. "
         "508, 175; Lajeunesse et al. 2004, Phys. Fluids 16, 2371, agree)",
     .reason =
         "25 %: grains of experiments are no spheres, and the edge of a deposit 20 grains across is a matter "
         "of definition",
     .step = FLOW_STEP,
     .coulomb_alone = true,
     .slow = true,
     .quantities = 3,
     .expect = expect_columns,
     .measure = measure_columns},
    {.name = "crater",
     .shows = "how deep a ball falls into grains",
     .source =
         "depth = 0.14/mu (rho_b/rho_g)^(1/2) D^(2/3) H^(1/3), mu the tangent of the angle of repose (Uehara et al. "
         "2003, Phys. Rev. Lett. 90, 194301)",
     .reason =
         "0.035: a quarter, for spheres of one size and a ball of 4 diameters; 0.08: a bed of 10 diameters",
     .step = FLOW_STEP,
     .coulomb_alone = true,
     .slow = true,
     .seeds = 2,
     .quantities = 2,
     .expect = expect_crater,
     .measure = measure_crater}};
const int validate_collapses_count = LAB_COUNT(validate_collapses);

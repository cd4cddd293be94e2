/* lab/validate/shearing.c - spheres in plane shear at a constant pressure: mu(I), without walls and gravity.
 *
 * 512 spheres fill a periodic cell with the images of Lees and Edwards; the pressure across the shear is kept at rho g d, so
 * that d sqrt(rho/p) is sqrt(d/g). mu is the mean shear stress over the mean pressure, of contacts and motion together. */
#include "flow.h"

#include <math.h>

/* clang-format off */
static const char shear_scene[] = FLOW_SCENE({
    "params": {"d": 0.01, "g": 9.81, "h": 0.001, "mu": 0.5, "wide": 1, "rate": 1, "edge": "=8.88*d*wide"},
    "step": "=h", "gravity": [0, 0, 0],
    "solver": {"reference_speed": "=h*g", "tolerance": 0.003},
    "period": {"x": [0, "=edge"], "y": [0, "=edge"], "z": [0, "=edge"]},
    "cell": {"rate": {"xy": "=rate"}, "pressure": {"y": "=2500*g*d"}},
    "materials": {"grain": {"friction": "=mu", "density": 2500}},
    "bodies": [
        {"radius": {"mean": "=d/2", "spread": 0.1}, "count": 512,
         "lattice": {"cells": [8, 8, 8], "spacing": "=1.11*d", "jitter": 1}}
    ]
});
/* clang-format on */

/* Means over a steady shear. */
typedef struct Shear {
    double mu, fraction;
    double pressure; /* over the one that is kept */
    double sliding;  /* largest friction that a contact mobilises at the end */
} Shear;

/* Averages the cell over so long, in units of sqrt(d/g). */
static TalusStatus average_cell(Flow *flow, double times, double grain_volume, Shear *shear)
{
    const double h = talus_world_step_length(flow->world);
    const int64_t steps = cli_steps_until(times * flow_time, h);
    double stress = 0.0, pressure = 0.0, inverse = 0.0;
    for (int64_t i = 0; i < steps; i++) {
        TALUS_TRY(flow_advance(flow, h / flow_time));
        const TalusCellState cell = talus_world_cell(flow->world);
        const TalusVec3 side = talus_sub(cell.period.hi, cell.period.lo);
        stress += cell.contact_stress.xy + cell.kinetic_stress.xy;
        pressure -= cell.contact_stress.yy + cell.kinetic_stress.yy;
        inverse += 1.0 / (side.x * side.y * side.z);
    }
    shear->mu = stress / pressure;
    shear->fraction = grain_volume * inverse / (double)steps;
    shear->pressure = pressure / ((double)steps * flow_density * flow_g * flow_d);
    return TALUS_OK;
}

/* Shears at this inertial number, and averages between two strains. */
static TalusStatus measure_shear(const ValidateSetup *setup, double number, double from, double to,
                                 Shear *shear)
{
    const FlowParam params[] = {{"rate", number / flow_time}, {NULL, 0.0}};
    Flow flow;
    TalusVec3 position, velocity;
    double mass = 0.0;
    TalusStatus status = flow_begin(setup, shear_scene, 0.5, params, &flow);
    TALUS_THEN(status, flow_find_mean(&flow, &position, &velocity, &mass));
    TALUS_THEN(status, flow_advance(&flow, from / number));
    TALUS_THEN(status, average_cell(&flow, (to - from) / number, mass / flow_density, shear));
    TALUS_THEN(status, flow_find_sliding(&flow, &shear->sliding));
    TALUS_THEN(status, flow_check(&flow));
    flow_end(&flow);
    return status;
}

static TalusStatus measure_plane_shear(const ValidateSetup *setup, double *found)
{
    Shear fast, slow;
    TALUS_TRY(measure_shear(setup, 0.1, 4.0, 12.0, &fast));
    TALUS_TRY(measure_shear(setup, 0.01, 1.5, 3.5, &slow));
    found[0] = fast.mu;
    found[1] = slow.mu;
    found[2] = slow.fraction;
    found[3] = slow.pressure;
    found[4] = fast.sliding;
    return TALUS_OK;
}

static void expect_plane_shear(double h, ValidateQuantity *q)
{
    (void)h;
    q[0] =
        (ValidateQuantity){.name = "mu at I = 0.1", .unit = "", .expected = 0.443, .bound = 0.03};
    q[1] =
        (ValidateQuantity){.name = "mu at I = 0.01", .unit = "", .expected = 0.386, .bound = 0.035};
    q[2] = (ValidateQuantity){
        .name = "solid fraction at I = 0.01", .unit = "", .expected = 0.587, .bound = 0.01};
    q[3] = (ValidateQuantity){
        .name = "pressure over the one that is kept", .unit = "", .expected = 1.0, .bound = 0.01};
    q[4] = flow_expect_sliding(0.5);
}

const ValidateCase validate_shearing[] = {
    {.name = "plane-shear",
     .shows = "spheres sheared in a periodic cell at constant pressure: mu(I)",
     .source =
         "mu = 0.38 + 0.26/(1 + 0.279/I) (Jop et al. 2006, Nature 441, 727); 0.382 + 0.37/(1 + (0.32/I)^1.5), fraction "
         "0.587 (Chialvo et al. 2012, Phys. Rev. E 85, 021305); from memory",
     .reason =
         "0.03, 0.035 and 0.01: the two differ by 0.012, spheres of other size ranges by as much again; 0.01: the "
         "cell's control; 0.005: Coulomb's law. Figures of docs/how-to/periodic-cell.md were known",
     .step = 2.0 * FLOW_STEP,
     .coulomb_alone = true,
     .slow = true,
     .seeds = 2,
     .quantities = 5,
     .expect = expect_plane_shear,
     .measure = measure_plane_shear}};
const int validate_shearing_count = LAB_COUNT(validate_shearing);

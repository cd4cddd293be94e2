/* lab/validate/flow.h - worlds of the cases of grains: built from the text of a scene, stepped as scenes are by default, and
 * measured.
 *
 * Every scene has the params d (diameter of a grain, m), g (m/s2), h (s), mu and wide, 1 more than the setup's widening,
 * and no other randomness than its key `seed`. */
#ifndef TALUS_LAB_VALIDATE_FLOW_H
#define TALUS_LAB_VALIDATE_FLOW_H

#include "validate.h"

#include "io/frames/frames.h"

#include <talus/measure.h>

/* Length, gravity and density of all cases, and sqrt(d/g), s. */
extern const double flow_d, flow_g, flow_density, flow_time;
/* The step of all cases, s: 0.05 sqrt(d/g). */
#define FLOW_STEP 1.5963771e-3

/* The text of a scene, written as JSON in C. */
#define FLOW_SCENE(...) #__VA_ARGS__

/* A param of a scene beside those above. */
typedef struct FlowParam {
    const char *name; /* NULL ends the list */
    double value;
} FlowParam;

/* A world, and how many of its steps missed their tolerance. */
typedef struct Flow {
    TalusWorld *world;
    int threads;
    int64_t steps, missed;
} Flow;

/* Builds the scene. `params` may be NULL. flow->world is NULL on failure; the caller calls flow_end. */
TalusStatus flow_begin(const ValidateSetup *setup, const char *scene, double mu,
                       const FlowParam *params, Flow *flow);
void flow_end(Flow *flow);
/* Makes steps for so long, in units of sqrt(d/g). Fails if a signal requests a stop. */
TalusStatus flow_advance(Flow *flow, double times);
/* Fails if more than a hundredth of the steps missed their tolerance. */
TalusStatus flow_check(const Flow *flow);

/* Returns the world's probe of this name; there must be one. */
int flow_find_probe(const Flow *flow, const char *name);
/* Makes steps for so long; mean[i] is the mean force of probe i over them, N, of the first `count` probes. */
TalusStatus flow_average_forces(Flow *flow, double times, int count, TalusVec3 *mean);

/* The grains, with velocities, masses and contacts: bodies that are neither fixed nor driven. */
typedef struct FlowState {
    TalusSnapshot snapshot;
    TalusHeadStore head;
    TalusAssembly assembly;
} FlowState;

/* Takes the state, to be cleared by flow_clear also after a failure; starts as zeros. */
TalusStatus flow_take(const Flow *flow, FlowState *state);
void flow_clear(FlowState *state);
/* Adds the present state to the fields. */
TalusStatus flow_add_fields(const Flow *flow, TalusContinuum *fields);
/* Writes the mean position and velocity of the grains and their mass, kg. */
TalusStatus flow_find_mean(const Flow *flow, TalusVec3 *position, TalusVec3 *velocity,
                           double *mass);

/* Sets the largest tangential over normal force of the contacts of two grains, of those with at least a tenth of the mean
 * normal force: in a flow some slide, and it is their friction. 0 without contacts. */
TalusStatus flow_find_sliding(const Flow *flow, double *out);
/* The quantity of that, which is mu by Coulomb's law, whatever the flow. */
ValidateQuantity flow_expect_sliding(double mu);
/* Returns the force of the grains on all other bodies, N. */
TalusVec3 flow_find_boundary_force(const TalusAssembly *assembly);

/* Returns the slope of the least-squares line through (x[i], y[i]). */
double flow_fit_slope(const double *x, const double *y, int count);

#endif

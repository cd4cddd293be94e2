/* lab/experiments/shear.h - the flow of `talus bench shear`, for other experiments (worlds_shear.c). */
#ifndef TALUS_LAB_SHEAR_H
#define TALUS_LAB_SHEAR_H

#include "worlds.h"

/* A bed of spheres in an upright cylinder whose upper part is turned about the axis. */
typedef struct Shear {
    int bodies;
    /* Numbers of steps: without rotation; then with it; measured in a run, after as many that are not. */
    int settle, begin, steps;
    int samples, every;       /* number of problems that are extracted; steps between two of them */
    double radius, vat, turn; /* radius of a sphere, of the cylinder, m; speed of the plug, rad/s */
    double level;             /* height above which spheres belong to the plug, m */
} Shear;

/* Cost of solves (samples) or of whole steps (runs) under one law to one tolerance. */
typedef struct ShearCost {
    /* Sums of products with the operator and of seconds; maximum of the residual over its tolerance. */
    double products, seconds, worst;
    int count, missed; /* solves or steps; of these, not to the tolerance */
} ShearCost;

/* A run of steps under one law. */
typedef struct ShearRun {
    ShearCost cost;
    /* Mean height of centres at the end, m; overlap over the radius, mean over contacts and steps, and largest. */
    double height, overlap, deepest;
} ShearRun;

/* Makes the settled bed of the scene settle-cylinder with these assignments and sets shear->level. */
TalusStatus shear_settle(const Worlds *w, Shear *shear, const WorldsAssignments *sets,
                         TalusWorld **out, TalusSnapshot *g);
/* Gives the plug's spheres the horizontal velocities and spins of a rigid rotation about z; vertical velocities stay.
 * Takes a snapshot into g. */
TalusStatus shear_drive(TalusWorld *world, const Shear *shear, TalusSnapshot *g);
/* Sets the friction law between bodies of the scene's one material. */
TalusStatus shear_set_law(TalusWorld *world, const TalusSnapshot *g, TalusFrictionLaw law);
/* Takes steps with the plug driven; adds their cost and overlap to `run` unless it is NULL. */
TalusStatus shear_flow(const Worlds *w, TalusWorld *world, const Shear *shear, int steps,
                       TalusSnapshot *g, ShearRun *run);
/* Takes shear->steps steps that are not measured, which make warm starts of the world's law and tolerance, then as many
 * that are. */
TalusStatus shear_run(const Worlds *w, TalusWorld *world, const Shear *shear, TalusSnapshot *g,
                      ShearRun *run);

#endif

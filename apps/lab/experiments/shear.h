/* lab/experiments/shear.h - the flow of `talus bench shear`, for other experiments (worlds_shear.c). */
#ifndef TALUS_LAB_EXPERIMENTS_SHEAR_H
#define TALUS_LAB_EXPERIMENTS_SHEAR_H

#include "worlds.h"

/* A bed of spheres in an upright cylinder. The upper part of the bed, the plug, is turned about the cylinder's axis. */
typedef struct Shear {
    int bodies;
    int settle_steps;    /* steps without rotation */
    int turning_steps;   /* steps with rotation before runs and samples */
    int measured_steps;  /* measured steps of a run; as many that are not measured precede them */
    int samples;         /* number of problems that are extracted */
    int sample_interval; /* steps between two of these problems */
    double radius;       /* of a sphere, m */
    double cylinder_radius; /* m */
    double plug_spin;       /* angular velocity of the plug, rad/s */
    double plug_height;     /* height above which spheres belong to the plug, m */
} Shear;

/* Cost of solves (samples) or of whole steps (runs) under one law to one tolerance. */
typedef struct ShearCost {
    double products, seconds; /* sums over solves or steps */
    double worst;             /* maximum of the residual over its tolerance */
    int count;                /* number of solves or steps */
    int missed;               /* number of those that missed the tolerance */
} ShearCost;

/* A run of steps under one law. */
typedef struct ShearRun {
    ShearCost cost;
    double height;  /* mean height of the spheres' centres at the end, m */
    double overlap; /* over the radius, mean over contacts and steps */
    double deepest; /* largest overlap over the radius */
} ShearRun;

/* Builds the scene settle-cylinder with these assignments and with bodies and cylinder of `shear` and friction 0.5,
 * lets the bed settle and sets shear->plug_height. `snapshot` receives the settled state. The caller destroys *out,
 * also after a failure. */
TalusStatus shear_settle(const Worlds *w, Shear *shear, const WorldsAssignments *sets,
                         TalusWorld **out, TalusSnapshot *snapshot);
/* Sets the horizontal velocities and spins of the plug's spheres to those of a rigid rotation about z; vertical
 * velocities stay. `snapshot` receives the state before. */
TalusStatus shear_drive(TalusWorld *world, const Shear *shear, TalusSnapshot *snapshot);
/* Sets the friction law of contacts between bodies of material snapshot->material[0], the only one of the scene. */
TalusStatus shear_set_law(TalusWorld *world, const TalusSnapshot *snapshot, TalusFrictionLaw law);
/* Makes steps, with shear_drive before each; adds their cost and mean overlap to `run`, and raises run->deepest, unless
 * `run` is NULL. */
TalusStatus shear_flow(const Worlds *w, TalusWorld *world, const Shear *shear, int steps,
                       TalusSnapshot *snapshot, ShearRun *run);
/* Makes shear->measured_steps steps that are not measured, so that warm starts suit the world's law and tolerance, then
 * as many measured steps, and fills `run`, which must be 0 before. */
TalusStatus shear_run(const Worlds *w, TalusWorld *world, const Shear *shear,
                      TalusSnapshot *snapshot, ShearRun *run);

#endif

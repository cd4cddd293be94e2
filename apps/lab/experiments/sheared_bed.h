/* lab/experiments/sheared_bed.h - a bed of spheres in an upright cylinder whose top is turned as one plug.
 *
 * The spheres settle with friction 0.5; then those above `level` rotate about the axis, by velocities set before each
 * step, while floor and wall hold the others back. Contacts are rigid, whatever the scene's defaults are. */
#ifndef TALUS_CLI_SHEARED_BED_H
#define TALUS_CLI_SHEARED_BED_H

#include "worlds.h"

typedef struct ShearedBed {
    int bodies;
    int settle;               /* steps without rotation, under ccp */
    double radius, vat, turn; /* radius of a sphere, of the cylinder, m; speed of the plug, rad/s */
    double level;             /* height above which spheres belong to the plug, m */
} ShearedBed;

/* Returns a bed of so many spheres in a cylinder of radius `vat`; its level is set once it has settled. */
ShearedBed sheared_bed(int bodies, double vat);

/* Makes the world, lets it settle, sets bed->level, and the law of what follows: coulomb. Takes a snapshot into g. */
TalusStatus sheared_bed_settle(ShearedBed *bed, const Worlds *w, TalusWorld **out,
                               TalusSnapshot *g);
/* Gives the plug's spheres the horizontal velocities and spins of a rigid rotation about z; vertical velocities stay.
 * To be called before each step; takes a snapshot into g. */
TalusStatus sheared_bed_drive(const ShearedBed *bed, TalusWorld *world, TalusSnapshot *g);
/* Sets the friction law between all bodies, which have one material. */
TalusStatus sheared_bed_set_law(TalusWorld *world, const TalusSnapshot *g, TalusFrictionLaw law);
/* Mean height of the spheres' centres, m. */
double sheared_bed_height(const TalusSnapshot *g);

#endif

/* lab/experiments/packing.h - the packing of `talus bench packing`, for other experiments (worlds_packing.c). */
#ifndef TALUS_LAB_PACKING_H
#define TALUS_LAB_PACKING_H

#include "worlds.h"

enum { PACKING_STAGES = 3, PACKING_SHARES = 4, PACKING_JUDGED = 1 };

typedef struct PackingBed {
    int bodies, side, steps[PACKING_STAGES]; /* side: cells of the initial lattice across the box */
    /* Width of a cell, m; least distance of the core from walls, floor and surface, m; tolerances over g h. */
    double spacing, margin, tolerance[PACKING_STAGES];
    double mu; /* friction; with it a sphere needs two contacts to be no rattler, without it four */
    int budget; /* iterations of a step */
} PackingBed;

typedef struct Packing {
    double fraction;
    /* Contacts per sphere of the core, without rattlers, that bear more than a share of the mean force. */
    double contacts[PACKING_SHARES];
    double rattlers; /* share of rattlers in the core, at share PACKING_JUDGED */
    int core;        /* number of spheres with their centre in the core */
    double speed;    /* rms speed of the spheres, over sqrt(g d) */
    double overlap;  /* mean over overlapping contacts, relative to the smaller sphere's radius */
    WorldsStep last; /* medians over the steps of the last stage */
} Packing;

/* Lets spheres of the scene settle-box, with these assignments, come to rest and measures the packing. */
TalusStatus packing_settle(const Worlds *w, const PackingBed *bed, const WorldsAssignments *sets,
                           int seed, Packing *out);

#endif

/* lab/experiments/packing.h - a packing of spheres, for `talus bench packing` and `talus bench default`
 * (worlds_packing.c). */
#ifndef TALUS_LAB_EXPERIMENTS_PACKING_H
#define TALUS_LAB_EXPERIMENTS_PACKING_H

#include "worlds.h"

/* Stages of settling; shares of the mean force that contacts must exceed; index of the share by which the packing is
 * judged. */
enum { PACKING_STAGES = 3, PACKING_SHARES = 4, PACKING_JUDGED = 1 };

typedef struct PackingBed {
    int bodies;
    int side;                         /* cells of the initial lattice across the box */
    double spacing;                   /* width of a cell, m */
    double margin;                    /* distance of the core from walls, floor and surface, m */
    int steps[PACKING_STAGES];        /* number of steps of each stage */
    double tolerance[PACKING_STAGES]; /* of each stage, over g h */
    /* Friction coefficient. A sphere with fewer than two contacts is a rattler; if mu is 0, one with fewer than
     * four. */
    double mu;
    int budget; /* maximum iterations of a step */
} PackingBed;

typedef struct Packing {
    double fraction; /* packing fraction of the core */
    /* Contacts per sphere of the core, without rattlers; contacts count whose force exceeds a share of the mean
     * force. */
    double contacts[PACKING_SHARES];
    /* Part of the core's spheres that are rattlers, at share number PACKING_JUDGED. */
    double rattlers;
    int core;        /* number of spheres with their centre in the core */
    double speed;    /* rms speed of the spheres, over sqrt(g d) */
    double overlap;  /* mean over overlapping contacts, relative to the smaller sphere's radius */
    WorldsStep last; /* medians over the steps of the last stage */
} Packing;

/* Builds the scene settle-box with these assignments and those of `bed` and `seed`, lets its spheres come to rest in
 * PACKING_STAGES stages of tighter tolerance, and measures the packing after one more step. */
TalusStatus packing_settle(const Worlds *w, const PackingBed *bed, const WorldsAssignments *sets,
                           int seed, Packing *out);

#endif

/* lab/experiments/janssen.h - the silo of `talus bench janssen`, for other experiments (worlds_janssen.c). */
#ifndef TALUS_LAB_EXPERIMENTS_JANSSEN_H
#define TALUS_LAB_EXPERIMENTS_JANSSEN_H

#include "worlds.h"

enum { JANSSEN_BATCHES = 8 }; /* maximum number of batches */

typedef struct Silo {
    int batch;         /* spheres per batch */
    int batches;       /* number of batches, at most JANSSEN_BATCHES */
    double radius;     /* of the silo, m */
    double descent;    /* of the bottom plate per step, m */
    int settle_steps;  /* steps in which a batch falls */
    int sink_steps;    /* steps in which the plate descends */
    int average_steps; /* steps over which the loads before and after the descent are averaged */
} Silo;

/* Loads after some batches; weights and loads are relative to the weight of a batch. */
typedef struct SiloLoad {
    double weight;                /* of all spheres */
    double before, bottom, after; /* load of the bottom before, during and after the descent */
    double wall;                  /* load of the wall during the descent */
    double height;                /* of the column, over R, the radius of the silo */
} SiloLoad;

/* A fit of the loads by the law at the top of worlds_janssen.c. */
typedef struct SiloLaw {
    double free_weight; /* A of the fit: weight that the wall does not help to bear */
    double saturation;  /* S of the fit */
    double scatter;     /* root of (sum of squared errors / degrees of freedom), over A + S */
    double lambda;      /* height of a column of weight S, over R */
    double k;           /* Janssen's K, ratio of horizontal and vertical stress */
} SiloLaw;

typedef struct SiloFill {
    SiloLoad load[JANSSEN_BATCHES];
    int count;
    SiloLaw plain, with_free; /* Janssen's law, A = 0; the form of Vanel and Clement */
    WorldsStep worst;         /* maximum residuals over all steps; other fields are 0 */
} SiloFill;

/* Fills the scene silo, with these assignments, by batches, lowers its bottom after each, and fits the loads. */
TalusStatus janssen_fill(const Worlds *w, const Silo *silo, const WorldsAssignments *sets,
                         SiloFill *fill);

#endif

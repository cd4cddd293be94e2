/* lab/experiments/janssen.h - the silo of `talus bench janssen`, for other experiments (worlds_janssen.c). */
#ifndef TALUS_LAB_JANSSEN_H
#define TALUS_LAB_JANSSEN_H

#include "worlds.h"

enum { JANSSEN_BATCHES = 8 };

typedef struct Silo {
    int batch, batches; /* spheres per batch; number of batches */
    double silo, down;  /* radius of the silo; descent of the plate per step; m */
    /* Numbers of steps: in which a batch falls; of the descent; over which loads before and after it are averaged. */
    int settle, sink, last;
} Silo;

/* State after some batches; weights and loads are relative to the weight of a batch. */
typedef struct SiloLoad {
    double weight; /* of all spheres */
    /* Load of the bottom before, during (`bottom`) and after the descent; load of the wall during it. */
    double before, bottom, after, wall;
    double height; /* of the column, over R, the radius of the silo */
} SiloLoad;

/* A fit of the loads. */
typedef struct SiloLaw {
    double free, saturation; /* A and S of the fit */
    double scatter;          /* root of (sum of squared errors / degrees of freedom), over A + S */
    double lambda, k;        /* height lambda, relative to R; Janssen's K */
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

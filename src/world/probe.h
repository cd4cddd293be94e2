/* world/probe.h - probes of forces and of flow. */
#ifndef TALUS_WORLD_PROBE_H
#define TALUS_WORLD_PROBE_H

#include "engine/engine.h"

#include <talus/world.h>

typedef struct TalusProbe {
    char *name; /* owned; def.name points to it */
    TalusProbeDef def;
    TalusProbeValue value; /* of the last step */
    TalusProbeValue next;  /* of the current step; force and torque are impulses, N s and N m s */
} TalusProbe;

/* Probes in the engine's form, and their sums. Probes of removed bodies are left out; their value is 0. On several ranks
 * all ranks have all probes, since they add up the sums together. */
typedef struct TalusProbeStaging {
    TalusEngineProbe *probe;
    TalusProbeSums *sums;
    int *index; /* [count]: index into TalusWorld.probe */
    int count;
} TalusProbeStaging;

/* Starts a step: zeroes `next` of all probes. */
void talus_probes_begin_step(TalusWorld *world);
/* Before the bodies move: tells the engine which sums to compute. */
TalusStatus talus_probes_request_sums(TalusWorld *world);
/* After the bodies have moved: downloads the sums of this part of the step. Adds impulses and torques to `next`;
 * numbers, mass and momentum replace those of an earlier part. */
TalusStatus talus_probes_add_sums(TalusWorld *world);
/* Ends a step of length h: sets `value` from `next`, with impulses divided by h. */
void talus_probes_finish_step(TalusWorld *world, double h);
void talus_probes_clear(TalusWorld *world);
/* Fails if a def is wrong in itself; whether there is a body of its number is not checked. */
TalusStatus talus_probe_check(const TalusProbeDef *def);
/* Adds a probe without checking its def. *index is set unless `index` is NULL. */
TalusStatus talus_probe_append(TalusWorld *world, const TalusProbeDef *def, int *index);

#endif

/* world/probe.h - force probes. */
#ifndef TALUS_WORLD_PROBE_H
#define TALUS_WORLD_PROBE_H

#include "engine/engine.h"

#include <talus/world.h>

typedef struct TalusProbe {
    char *name;
    TalusProbeDef def;
    TalusProbeValue value;
    TalusProbeValue next; /* of the current step; force and torque as impulses, N s and N m s */
} TalusProbe;

/* Probes for the engine, and their results. Probes of removed bodies are left out. */
typedef struct TalusProbeStaging {
    TalusEngineProbe *probe;
    TalusProbeSums *sums;
    int *index; /* [count]: index of the probe in the world */
    int count;
} TalusProbeStaging;

void talus_probes_begin(TalusWorld *world);
/* Request the sums before the bodies move; download them after. */
TalusStatus talus_probes_start_sums(TalusWorld *world);
TalusStatus talus_probes_collect(TalusWorld *world);
void talus_probes_close(TalusWorld *world, double h);
void talus_probes_clear(TalusWorld *world);
TalusStatus talus_probe_append(TalusWorld *world, const TalusProbeDef *def, int *index);

#endif

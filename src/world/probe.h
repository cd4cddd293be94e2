/* world/probe.h - force probes. */
#ifndef TALUS_WORLD_PROBE_H
#define TALUS_WORLD_PROBE_H

#include "engine/engine.h"

#include <talus/world.h>

typedef struct TalusProbe {
    char *name;
    TalusProbeDef def;
    TalusProbeValue value;
    TalusProbeValue next; /* of the step under way, force and torque still as impulses */
} TalusProbe;

/* Probes on their way to an engine and back; those of bodies that are gone stay at home. */
typedef struct TalusProbeMail {
    TalusEngineProbe *probe;
    TalusProbeSums *sums;
    int *index; /* of the probe in the world */
    int count;
} TalusProbeMail;

void talus_probes_begin(TalusWorld *world);
/* Asks the engine before the bodies move, and has the answer after. */
TalusStatus talus_probes_ask(TalusWorld *world);
TalusStatus talus_probes_take(TalusWorld *world);
void talus_probes_close(TalusWorld *world, double h);
void talus_probes_clear(TalusWorld *world);
TalusStatus talus_probe_append(TalusWorld *world, const TalusProbeDef *def, int *index);

#endif

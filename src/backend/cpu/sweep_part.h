/* backend/cpu/sweep_part.h - coloured sweeps over a rank's part of a problem (sweep_part.c). */
#ifndef TALUS_BACKEND_CPU_SWEEP_PART_H
#define TALUS_BACKEND_CPU_SWEEP_PART_H

#include "comm/comm.h"

#include <stdint.h>

/* Bodies whose velocities are sent, or received, before each phase: those for neighbour k of the halo before phase p are
 * body[start[p * neighbours + k]] to body[start[p * neighbours + k + 1] - 1]. */
typedef struct SweepBodies {
    int32_t *start, *body;
} SweepBodies;

/* The phases of a sweep: its colours, then the levels of the contacts without a colour that are swept one after the other,
 * then the heavy contacts that change together. */
typedef struct SweepPart {
    int phases, colours, levels;
    int64_t *exchanges; /* [phases]: bodies that all ranks send before the phase */
    SweepBodies send, receive;
    TalusMessage *message;   /* work space: [2 neighbours] */
    unsigned char *out, *in; /* velocities of one phase's messages */
    int32_t *neighbour;      /* [bodies]: neighbour of the halo that owns the body; -1: none does */
    int32_t *phase;          /* [blocks]: phase in which the contact is swept */
    /* Contacts swept one after the other: entries of tail, items or places in TalusSweep.order, by level. */
    int32_t *tail, *tail_start; /* [..], [levels + 1] */
    bool has_heavy;             /* some rank has heavy contacts that change together */
    int32_t *uncounted;         /* places of the terms that other ranks count */
    int uncounted_count;
} SweepPart;

#endif

/* backend/host.h - shared by loops over an operator in host memory: those of the CPU backend and of the problem. */
#ifndef TALUS_BACKEND_HOST_H
#define TALUS_BACKEND_HOST_H

#include "backend/arms.h"

#include <math.h>
#include <stddef.h>

/* Number of blocks, bodies or vector entries per chunk of a parallel loop, so small that a chunk's intermediate values
 * stay in the first-level cache. BLOCK_GRAIN and BODY_GRAIN also limit the groups by which sums are formed
 * (groups.h). */
enum { BLOCK_GRAIN = 512, BODY_GRAIN = 256, VECTOR_GRAIN = 4096 };

/* Groups of contacts or bodies (groups.h): group g has contacts, or bodies, start[g] to start[g + 1] - 1. The owner
 * frees `start`. */
typedef struct TalusGroups {
    int32_t *start; /* [count + 1] */
    int count;
} TalusGroups;

/* The order in which a rank computes its part of a product (cpu/border.c). */
typedef struct TalusBorder {
    int32_t *body; /* [bodies]: own bodies; first the `sent` ones that other ranks need */
    int bodies, sent;
    int32_t *group; /* [number of groups]: first the `inner` ones, without bodies of the halo */
    int inner;
    uint8_t *is_sent; /* work space */
} TalusBorder;

/* Work arrays of an operator in host memory (TalusOperator.scratch). op.reserve_scratch of the CPU backend grows the
 * arrays; the operator's owner frees them. */
typedef struct TalusHostScratch {
    double (*record)[6];   /* wrenches of contacts on bodies (contact.c); index: `incidence` */
    double (*velocity)[8]; /* [bodies + 1]: velocities of bodies, overwritten by most operations */
    /* The impulses of which `velocity` has the velocities v_f + M^-1 D gamma, with terms or without
     * (talus_cpu_update_velocities), if nothing has changed `velocity` since then; else NULL. Whoever changes the
     * impulses or the bodies sets it to NULL. */
    const double *velocity_of;
    double *product, *unscaled; /* explicit operator: N gamma + q, gamma */
    bool full_blocks;           /* explicit operator: N consists of full 3 x 3 blocks */
    TalusGroups groups;         /* of contacts; the free joints, the last blocks, are in none */
    TalusBorder border;         /* of an operator with a halo */
    double *partial;            /* [sum][group]: up to PARTIALS sums (cpu/cpu.h) of each group */
    double *vector_partial;     /* likewise, up to TALUS_VECTORS sums */
    unsigned char *single;      /* memory of cpu/accelerate_single.c; NULL before its first use */
} TalusHostScratch;

/* *max = the larger of *max and value; NaN if either is. */
static inline void update_max(double *max, double value)
{
    if (!(value <= *max || isnan(*max)))
        *max = value;
}

static inline double dot3(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

#endif

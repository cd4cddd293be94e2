/* engine/cuda/material.h - in the kernels of a step: the contact law of a contact's two materials, its size, its
 * attraction. engine/contact_terms.h has the terms that follow from a law. */
#ifndef TALUS_ENGINE_CUDA_MATERIAL_H
#define TALUS_ENGINE_CUDA_MATERIAL_H

#include "engine/cuda/engine.h"

extern "C" {
#include "engine/contact_terms.h"
}

/* Kernel argument: data that determine a contact's law, size and attraction. */
struct CuLawInputs {
    CuBodies b;
    CuTables tables;
    CuList list;
    TalusBuildOptions options;
};

static inline CuLawInputs cu_law_inputs(TalusEngine *e)
{
    return CuLawInputs{e->bodies, e->tables, *cu_list(e), e->step.options};
}

/* Returns the law of the bodies in slots a and b. */
static __device__ inline const TalusLaw *cu_law(const CuLawInputs &s, uint32_t a, uint32_t b)
{
    const int materials = s.tables.materials;
    return materials == 1 ? s.tables.law.at
                          : &s.tables.law[s.b.material[a] * materials + s.b.material[b]];
}

static __device__ inline const TalusLaw *cu_contact_law(const CuLawInputs &s, int64_t i)
{
    return cu_law(s, s.list.slot[s.list.pair[i].x], s.list.other[i]);
}

/* Returns the smaller size of contact i's bodies; b counts only if it is free or asleep (talus_contact_size). A b with
 * an index in the pair is free, asleep or driven; one without is fixed, or asleep and so large that it is a wall. */
static __device__ inline double cu_contact_size(const CuLawInputs &s, int64_t i)
{
    int2 pair = s.list.pair[i];
    uint32_t b = s.list.other[i];
    double size = s.b.size[s.list.slot[pair.x]];
    bool counts = pair.y >= 0 ? !cu_driven(s.b, b) : s.b.mobility[b] == TALUS_MOBILITY_ASLEEP;
    return counts ? fmin(size, s.b.size[b]) : size;
}

/* Returns the attractive impulse of contact i, N s; 0 without cohesion. */
static __device__ inline double cu_attractive_impulse(const CuLawInputs &s, int64_t i)
{
    if (!s.tables.cohesion)
        return 0.0;
    return talus_attractive_impulse(cu_contact_law(s, i), &s.options, s.list.gap[i],
                                    cu_contact_size(s, i));
}

/* Fills op->diagonal and op->coupling of a block of the general run. ROWS: 6 if op->rows is, else 3. */
template <int ROWS>
static __device__ inline void cu_general_diagonal(const TalusOperator *op, int i)
{
    double block[ROWS * ROWS];
    talus_block_fill_general(op, i, ROWS, block);
    talus_block_fill_diagonal(op, i, ROWS, block,
                              &op->coupling[i - op->sphere_sphere - op->sphere_fixed]);
}

/* material.cu: writes the most rows that a contact of the list needs (1 without contacts) and the contacts' kinds of
 * friction (TalusOperator.kinds). Scans the contacts only if the laws differ in these. */
TalusStatus cu_contact_needs(TalusEngine *e, int *rows, uint32_t *kinds);
/* Writes the list's incidence, renumbered for a problem whose contacts are all general, into `to`. */
void cu_manifold_general(TalusEngine *e, int32_t *to);
/* Adds the attractive impulses to the free velocities in the records, and to the contacts' initial impulses, at least
 * 0. */
void cu_attract(TalusEngine *e);

/* build.cu: fills the bodies' records with free velocities: without contacts, attraction and motors. */
void cu_fill_bodies(TalusEngine *e);

#endif

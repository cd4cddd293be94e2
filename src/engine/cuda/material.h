/* engine/cuda/material.h - for the kernels of a step: law, size and attractive impulse of a contact.
 * engine/contact_terms.h has the terms that follow from a law. */
#ifndef TALUS_ENGINE_CUDA_MATERIAL_H
#define TALUS_ENGINE_CUDA_MATERIAL_H

#include "engine/cuda/engine.h"

extern "C" {
#include "engine/contact_terms.h"
}

/* Kernel argument: data that determine law, size and attractive impulse of each contact. */
struct CuLawInputs {
    CuBodies b;
    CuTables tables;
    CuList list;
    TalusBuildOptions options;
};

/* Returns the kernel argument for the current list and the last build's options. */
static inline CuLawInputs cu_law_inputs(TalusEngine *e)
{
    return CuLawInputs{e->bodies, e->tables, *cu_current_list(e), e->step.options};
}

/* Returns the law of the materials of the bodies in slots a and b. */
static __device__ inline const TalusLaw *cu_law_of_bodies(const CuLawInputs &s, uint32_t a,
                                                          uint32_t b)
{
    const int materials = s.tables.materials;
    return materials == 1 ? s.tables.law.at
                          : &s.tables.law[s.b.material[a] * materials + s.b.material[b]];
}

/* Returns the law of contact i of the list. */
static __device__ inline const TalusLaw *cu_contact_law(const CuLawInputs &s, int64_t i)
{
    return cu_law_of_bodies(s, s.list.slot[s.list.pair[i].x], s.list.slot_b[i]);
}

/* Returns the smaller size of contact i's bodies, m; b counts only if it is free or asleep (talus_contact_size). If b
 * has a problem index in the pair, b is free, asleep or driven; else b is fixed, or asleep and a large wall. */
static __device__ inline double cu_contact_size(const CuLawInputs &s, int64_t i)
{
    int2 pair = s.list.pair[i];
    uint32_t b = s.list.slot_b[i];
    double size = s.b.size[s.list.slot[pair.x]];
    bool counts = pair.y >= 0 ? !cu_is_driven(s.b, b) : s.b.mobility[b] == TALUS_MOBILITY_ASLEEP;
    return counts ? fmin(size, s.b.size[b]) : size;
}

/* Returns the attractive impulse of contact i during the step, N s, at least 0; 0 without cohesion. */
static __device__ inline double cu_attractive_impulse(const CuLawInputs &s, int64_t i)
{
    if (!s.tables.cohesion)
        return 0.0;
    return talus_attractive_impulse(cu_contact_law(s, i), &s.options, s.list.gap[i],
                                    cu_contact_size(s, i));
}

/* Fills op->diagonal and op->coupling of block i, a general one. ROWS: 6 if op->rows is 6, else 3. */
template <int ROWS>
static __device__ inline void cu_fill_general_diagonal(const TalusOperator *op, int i)
{
    double block[ROWS * ROWS];
    talus_block_fill_general(op, i, ROWS, block);
    talus_block_fill_diagonal(op, i, ROWS, block,
                              &op->coupling[i - op->sphere_sphere - op->sphere_fixed]);
}

/* material.cu: writes the largest number of rows that a contact of the list needs (1 without contacts) and the bits of
 * the contacts' friction kinds (TalusOperator.kinds), 0 if no law has a friction model (CuTables.models). Scans the
 * contacts, and waits for the result, only if the laws differ in these. */
TalusStatus cu_find_rows_and_kinds(TalusEngine *e, int *rows, uint32_t *kinds);
/* Writes the current list's incidence to to[2 * contacts], renumbered for a problem whose contacts are all general. */
void cu_renumber_incidence(TalusEngine *e, int32_t *to);
/* Changes the free velocities in the problem's records by the attractive impulses of the contacts. Then writes the
 * initial impulses of the contacts to gamma: those of the list plus the attractive ones, normal impulses at least 0.
 * Overwrites the operator's scratch. */
void cu_add_attraction(TalusEngine *e);

/* build.cu: fills the records of the problem's bodies, and their inverse inertias if there are general blocks. Free
 * velocities are those after gravity and applied loads, without attraction and motors. */
void cu_fill_body_records(TalusEngine *e);

#endif

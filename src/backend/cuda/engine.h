/* backend/cuda/engine.h - a world on the device: what the files of its step share.
 *
 *     engine.cu      create, tables, bodies and contacts in and out, backup      (backend/engine.h)
 *     grid.cu        bodies in cells: places
 *     pairs.cu       which bodies meet; touches of other shapes; the list of contacts and of each body's
 *     carry.cu       impulses from the old list by key
 *     build.cu       the problem of a step
 *     integrate.cu   solved velocities, ledger, the state at the end
 *
 * Bodies are kept by slot. For each step those of the grid (moving bodies and small fixed ones) are put in
 * the order of their cells: a body's index there is its place, and places are the problem's bodies, so
 * that neighbours in space are neighbours in memory. Contacts are ordered by run, then by the place of a,
 * then that of b (or b's slot, where b is fixed), then feature. a and b themselves are as in
 * collide/contact.h, chosen by slots, so contact, normal and impulse are those of the host. */
#ifndef TALUS_BACKEND_CUDA_ENGINE_H
#define TALUS_BACKEND_CUDA_ENGINE_H

#include "backend/cuda/device.h"

extern "C" {
#include "backend/engine.h"
}

/* A TalusShape without pointers. */
struct CuShape {
    TalusShapeKind kind;
    int profile, points; /* the profile starts at profile doubles into CuTables.profile */
    TalusVec3 half;
    double radius, half_height, bounding_radius, size;
};

struct CuTables {
    CuArray<CuShape> shape;
    CuArray<double> profile;
    CuArray<TalusGyration> gyration;
    CuArray<TalusLaw> law;
    int shapes, materials;
    bool compliance;
};

/* Arrays by slot. */
struct CuBodies {
    int slots;
    CuArray<TalusVec3> position, velocity, spin;
    CuArray<TalusQuat> orientation;
    CuArray<double> mass, radius, size;
    CuArray<int32_t> shape, material;
    CuArray<uint8_t> fixed;
};

/* One step's contacts and the order they are in. */
struct CuList {
    TalusEngineCounts counts;
    int places;
    CuArray<uint32_t> slot;    /* [places] */
    CuArray<int32_t> place;    /* [slots]; -1 for dead slots and walls */
    CuArray<int2> pair;        /* [contacts]: places of a and b; b is -1 where it is fixed */
    CuArray<uint32_t> other;   /* [contacts]: slot of b */
    CuArray<uint32_t> feature; /* [sphere_fixed + general]; 0 for two spheres */
    CuArray<double4> frame;    /* [contacts]: normal, c (backend/frame.h) */
    CuArray<double> gap;
    CuArray<TalusArms> arms;             /* [general], in metres */
    CuArray<TalusVec3> impulse;          /* [contacts]: on b, world frame */
    CuArray<int32_t> touch_start, touch; /* as in backend/operator.h */
};

struct TalusEngine {
    CuTables tables;
    CuBodies bodies;
    CuList list[2];
    int now; /* which of them is the last detection's */
    CuArray<TalusVec3>
        seen; /* [slots]: velocities that contacts are looked for with; 0 where fixed */
    CuArray<TalusVec3> free; /* [slots]: v + h g; 0 where fixed */
    struct CuGrid *grid;     /* detection's own (grid.cu) */
    struct CuStep *step;     /* of build.cu and integrate.cu: operator, gamma, solved velocities */
    struct CuBackup *backup; /* engine.cu */
};

static inline CuList *cu_list(TalusEngine *e)
{
    return &e->list[e->now];
}

/* grid.cu, pairs.cu, carry.cu: the contacts for e->seen; the new list becomes the current one unless it
 * fails. least_size of the counts is the caller's. */
TalusStatus cu_detect_contacts(TalusEngine *e, const TalusDetectOptions *options);
void cu_detect_clear(TalusEngine *e);

/* build.cu, integrate.cu */
void cu_step_clear(TalusEngine *e);

#endif

/* engine/cuda/engine.h - the device's engine: declarations shared by its files.
 *
 *     engine.cu      creation, tables, upload and download of bodies, snapshot   (engine/engine.h)
 *     extra.cu       shapes, filters, forces, states of a subset of bodies
 *     contacts.cu    upload and download of contacts in the host's order; impulses stored after a solve
 *     detect.cu      collision detection: the contact list and each body's contacts (detect.h names its files)
 *     build.cu       velocities before the solve; the problem of a step
 *     material.cu    additions of laws beyond the circular cone of ccp (material.h)
 *     joints.cu      blocks of joints, made on the host
 *     probe.cu       sums of probes
 *     integrate.cu   solved velocities, ledger, the state at the end
 *
 * Bodies are stored by slot. Walls are planes, revolves, meshes, fields, and large bodies that are not free; all other
 * bodies are in the grid. In each step the bodies of the grid are sorted by cell, small sizes first, followed by driven
 * walls. A body's index in this order is its problem index, so that neighbours in space are neighbours in the problem's
 * memory; walls that are not driven have none. Contacts are ordered by run, then by the lower problem index of a and b
 * (a's, if b has none), then as the search from that body finds the other, then by feature. The order depends on the
 * state and on ids alone, for bodies of one cell are in the order of their ids. a and b themselves are chosen by ids as in
 * collide/contact.h, so contact, normal and impulse are those of the host. */
#ifndef TALUS_ENGINE_CUDA_ENGINE_H
#define TALUS_ENGINE_CUDA_ENGINE_H

#include "backend/cuda/device/device.h"

extern "C" {
#include "engine/cuda/table.h"
}

/* Elements of the operator's arrays (backend/operator.h). */
typedef double CuRecord[8];
typedef double CuSym3[6];
typedef double CuArm[6];
typedef double CuPair[2];
/* An element of TalusOperator.frame (x, y, z: normal; w: c), aligned so that two loads of 16 bytes take it. */
struct alignas(16) CuFrame {
    double x, y, z, w;
};

struct CuTables {
    CuArray<TalusShape> shape;    /* as the host's, with pointers into `block` */
    CuArray<unsigned char> block; /* arrays of all shapes (vertices, facets, ..), concatenated */
    bool ragged;                  /* some shape is not a sphere, plane or revolve */
    bool facets;                  /* some shape is a mesh or a field */
    CuArray<TalusGyration> gyration;
    CuArray<TalusLaw> law;
    int shapes, materials;
    bool compliance, models, restitution, cohesion; /* as in TalusTables */
    int min_rows, max_rows; /* fewest and most rows that a contact needs under the laws */
    uint32_t kinds;         /* kinds of friction among the laws, as in TalusOperator */
};

/* Arrays by slot. */
struct CuBodies {
    int slots;
    CuArray<TalusVec3> position, velocity, spin;
    CuArray<TalusQuat> orientation;
    CuArray<double> mass, radius, size;
    CuArray<int32_t> shape, material;
    CuArray<uint8_t> mobility;
    bool named; /* some id is not the slot + 1: `id` holds them */
    CuArray<uint64_t> id;
    bool ranked; /* ids do not ascend with slots: rank and at_rank are as in TalusBodyView */
    CuArray<uint32_t> rank, at_rank;
    int driven; /* 1: some body is driven; else 0 */
    int pushed; /* number of entries of force and torque: slots from there on have none */
    CuArray<TalusVec3> force, torque;
};

/* If the sums of all probes fit into CU_PROBE_TOTALS numbers, they are in the context's totals from CU_PROBES on, and
 * downloaded with the step's other sums; else in TalusEngine.probe_sums. */
enum { CU_PROBES = 32, CU_PROBE_TOTALS = 84 };

/* The contacts of one step and their order. */
struct CuList {
    TalusEngineCounts counts;
    int problem_bodies, slots;
    CuArray<uint32_t> slot; /* [problem_bodies]: slot of each problem body */
    /* [slots]; -1: no body, or a wall that is not driven; in a list uploaded from the host: not free */
    CuArray<int32_t> problem_index;
    /* [contacts]: problem indices of a and b; -1 if b is fixed or has none */
    CuArray<int2> pair;
    CuArray<uint32_t> other;                     /* [contacts]: slot of b */
    CuArray<uint32_t> feature;                   /* [sphere_fixed + general]; 0 for two spheres */
    CuArray<CuFrame> frame;                      /* [contacts]: normal, c (backend/frame.h) */
    CuArray<double> gap;                         /* [contacts] */
    CuArray<TalusArms> arms;                     /* [general], in metres */
    CuArray<TalusVec3> impulse;                  /* [contacts]: on b, world frame */
    CuArray<int32_t> incidence_start, incidence; /* as in backend/operator.h */
};

/* The contact problem of a step. Pairs, frames and incidence are the list's own arrays, but CuJoints' with joints, and
 * `incidence` below with moment rows. Solved velocities (cu_solved) are in the operator's scratch, which is otherwise
 * unused between solve and integration. */
struct CuStep {
    TalusOperator op;
    /* [problem_bodies]: free; after integrate.cu the mean of free and solved */
    CuArray<CuRecord> body;
    CuArray<CuSym3> inertia;  /* [problem_bodies]; only with general contacts */
    CuArray<CuArm> arm;       /* [general] */
    CuArray<double> coupling; /* [general] */
    CuArray<double> bias, mu, compliance, gamma;
    CuArray<CuPair> diagonal;
    /* only with joints or with friction other than ccp on the disc */
    CuArray<TalusBlockModel> model;
    /* estimate: only with law fixed; base, TalusOperator.unshifted: only with law coulomb */
    CuArray<double> estimate, base;
    CuArray<CuPair> moment_mu, lever; /* only with moment rows */
    /* only with moment rows: the list's incidence, rewritten for contacts that are all general */
    CuArray<int32_t> incidence;
    TalusBuildOptions options; /* options of the last build */
};

/* Blocks of joints, after the contacts of a step (joints.cu). */
struct CuJoints {
    CuArray<TalusEngineJoint> block;
    CuArray<TalusMotorChange> push;
    int kept, free, pushes;
    bool compliance;
    /* pair, frame, incidence_start and incidence of the operator: contacts, then joints */
    CuArray<int2> pair;
    CuArray<CuFrame> frame;
    CuArray<int32_t> start, incidence;
    CuArray<uint32_t> shift;  /* work space (Merge in joints.cu) */
    CuArray<double> impulse;  /* waits for the download */
    CuArray<CuRecord> record; /* likewise */
};

struct TalusEngine {
    CuContext *cu;               /* owned by the world */
    CuArray<TalusPeriod> period; /* one element in periodic space, else empty */
    CuTables tables;
    CuBodies bodies;
    const uint64_t *id; /* by slot; host memory, for messages */
    CuList list[2];
    int now;                        /* index of the last detection's list */
    const TalusVec3 *seen_velocity; /* [slots]: velocities used in detection, one of the next two */
    CuArray<TalusVec3> free_velocity;   /* [slots]: v + h g + h f/m if free, v if driven, else 0 */
    CuArray<TalusVec3> solved_velocity; /* [slots]: solved velocities, for redetection */
    CuArray<uint8_t> dropped;           /* [slots]: argument of put_bodies */
    TalusFilter filter;                 /* device pointers; group NULL: all pairs collide */
    CuArray<uint8_t> group;             /* memory of filter.group */
    CuArray<uint32_t> apart;            /* memory of filter.meets, then of filter.excluded */
    CuArray<int32_t> subset;            /* slots whose states are uploaded or downloaded */
    CuArray<TalusMotion> motion;        /* states of these slots */
    CuArray<double> probe_sums; /* if there are more probes than fit into the totals (probe.cu) */
    bool probes_here;           /* integrate.cu has downloaded the sums into probe_here */
    double probe_here[CU_PROBE_TOTALS];
    struct CuGrid *grid;     /* memory of detection (grid.cu) */
    struct CuBackup *backup; /* the snapshot (engine.cu) */
    CuStep step;
    CuJoints joints;
};

/* Returns the list of the last detection. */
static inline CuList *cu_list(TalusEngine *e)
{
    return &e->list[e->now];
}

/* Copies `count` elements from the host into `to`, which grows if needed. */
template <class T>
static inline TalusStatus cu_upload(TalusEngine *e, CuArray<T> *to, const T *from, int64_t count,
                                    const char *what)
{
    TALUS_TRY(to->reserve(count, what));
    cu_put(e->cu, to->at, from, (size_t)count * sizeof *from);
    return TALUS_OK;
}

/* detect.cu: detects contacts with e->seen_velocity, directly after cu_predict_velocities, whose totals it reads. The
 * new list becomes the current one. Fails as the operation `detect` (engine/operations.h). */
TalusStatus cu_detect_contacts(TalusEngine *e, const TalusDetectOptions *options);
void cu_detect_clear(TalusEngine *e);

/* extra.cu: uploads shapes with their blocks. */
TalusStatus cu_put_shapes(TalusEngine *e, const TalusTables *tables);

/* joints.cu, in the order of a build: the number of joint blocks; merge makes room for them in pairs and frames of the
 * operator, whose sizes are set, and completes its incidence; fill writes the blocks, with zero impulses; begin, after
 * cu_attract, writes initial impulses and adds what torque motors do to the bodies' records. */
int cu_joint_blocks(const TalusEngine *e);
TalusStatus cu_joints_merge(TalusEngine *e);
void cu_joints_fill(TalusEngine *e);
void cu_joints_begin(TalusEngine *e);
void cu_joints_clear(TalusEngine *e);

/* build.cu: writes the free velocities or, if `again`, the solved ones, and sets e->seen_velocity to them. Totals 0 and
 * 1 of the context are then, over free bodies, minus the lowest slot whose state is not finite (-infinity: none) and
 * minus the least size (-infinity: no body is free). */
TalusStatus cu_predict_velocities(TalusEngine *e, double h, TalusVec3 gravity, bool again);
void cu_step_clear(TalusEngine *e);
/* material.cu: returns the records with solved velocities, [problem_bodies], in the operator's scratch. */
const CuRecord *cu_solved(const TalusEngine *e);

/* True if the body is driven: it has a problem index and a velocity, and no impulse moves it. */
static __device__ inline bool cu_driven(const CuBodies &b, int64_t slot)
{
    return b.driven && b.shape[slot] >= 0 && b.mobility[slot] == TALUS_MOBILITY_DRIVEN;
}

/* Returns the length l of a body, which scales its arms and spin in the problem: its radius, 1 m if that is 0. */
static __device__ inline double cu_length(const CuBodies &b, int64_t slot)
{
    double radius = b.radius[slot];
    return radius > 0.0 ? radius : 1.0;
}

/* Returns the slot at a place in the order of ids, in which sums over bodies go. */
static __device__ inline int64_t cu_slot_at(const CuBodies &b, int64_t place)
{
    return b.ranked ? (int64_t)b.at_rank[place] : place;
}

/* True if the slot holds a free body. */
static __device__ inline bool cu_moves(const int32_t *shape, const uint8_t *mobility, int64_t slot)
{
    return shape[slot] >= 0 && mobility[slot] == TALUS_MOBILITY_FREE;
}

#endif

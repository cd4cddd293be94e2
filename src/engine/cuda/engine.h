/* engine/cuda/engine.h - a world on the device: what the files of its step share.
 *
 *     engine.cu      create, tables, bodies in and out, backup                   (engine/engine.h)
 *     extra.cu       shapes; filters, forces, states of a few bodies
 *     contacts.cu    contacts in and out in the host's order; impulses of a solve into the list
 *     detect.cu      collision detection: the list of contacts and of each body's (detect.h names its files)
 *     build.cu       velocities before the solve; the problem of a step
 *     material.cu    what laws beyond the circular cone of ccp add to it (material.h)
 *     joints.cu      blocks of joints, which the host makes
 *     probe.cu       sums of force probes
 *     integrate.cu   solved velocities, ledger, the state at the end
 *
 * Bodies are kept by slot. For each step those of the grid (moving bodies and small fixed ones) are put in
 * the order of their cells, small sizes first, and walls that are driven behind them: a body's index there is
 * its place, and places are the problem's bodies, so that neighbours in space are neighbours in memory. Contacts are ordered by run, then
 * by the lower of the places of a and b (that of a, where b has none), then as the search from there finds
 * b, then by feature. All of that depends on the state alone. a and b themselves are as in
 * collide/contact.h, chosen by slots, so contact, normal and impulse are those of the host. */
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
/* Of its frame, which it can be read as; aligned, so that it is loaded in two pieces. */
struct alignas(16) CuFrame {
    double x, y, z, w;
};

struct CuTables {
    CuArray<TalusShape> shape;    /* as the host's, with arrays in `block` */
    CuArray<unsigned char> block; /* the blocks of all shapes, one after the other */
    bool ragged;                  /* some shape is other than sphere, plane and revolve */
    bool facets;                  /* some is a mesh or a field */
    CuArray<TalusGyration> gyration;
    CuArray<TalusLaw> law;
    int shapes, materials;
    bool compliance, models, restitution, cohesion; /* as in TalusTables */
    int min_rows, max_rows;                         /* that a contact needs under the laws */
    uint32_t kinds;                                 /* of friction among them */
};

/* Of TalusBodyView.fixed. */
enum { CU_AT_REST = 1, CU_DRIVEN };

/* Arrays by slot. */
struct CuBodies {
    int slots;
    CuArray<TalusVec3> position, velocity, spin;
    CuArray<TalusQuat> orientation;
    CuArray<double> mass, radius, size;
    CuArray<int32_t> shape, material;
    CuArray<uint8_t> fixed;
    int driven; /* bodies with fixed 2 among them */
    int pushed; /* slots that have a force and a torque: */
    CuArray<TalusVec3> force, torque;
};

/* Sums of a few probes lie in the totals, from CU_PROBES on, and are fetched with the step's other numbers. */
enum { CU_PROBES = 32, CU_PROBE_TOTALS = 84 };

/* One step's contacts and the order they are in. */
struct CuList {
    TalusEngineCounts counts;
    int places, slots;
    CuArray<uint32_t> slot; /* [places] */
    CuArray<int32_t>
        place;          /* [slots]; -1 for dead slots and walls at rest. In a list from the host,
                                  whose contacts are in order of a, for fixed bodies too */
    CuArray<int2> pair; /* [contacts]: places of a and b; b is -1 where it is at rest */
    CuArray<uint32_t> other;   /* [contacts]: slot of b */
    CuArray<uint32_t> feature; /* [sphere_fixed + general]; 0 for two spheres */
    CuArray<CuFrame> frame;    /* [contacts]: normal, c (backend/frame.h) */
    CuArray<double> gap;
    CuArray<TalusArms> arms;               /* [general], in metres */
    CuArray<TalusVec3> impulse;            /* [contacts]: on b, world frame */
    CuArray<int32_t> contact_start, touch; /* as in backend/operator.h */
};

/* The problem of a step. Pairs, frames and each body's contacts are the list's own arrays; solved
 * velocities are in the operator's scratch, which nothing else needs between solve and integration. */
struct CuStep {
    TalusOperator op;
    CuArray<CuRecord>
        body; /* [places]: free; integrate.cu leaves the mean of free and solved here */
    CuArray<CuSym3> inertia;  /* [places]; with general contacts only */
    CuArray<CuArm> arm;       /* [general] */
    CuArray<double> coupling; /* [general] */
    CuArray<double> bias, mu, compliance, gamma;
    CuArray<CuPair> diagonal;
    CuArray<TalusBlockModel> model; /* where laws differ from ccp and disc: this, */
    CuArray<double> estimate, base; /*   and where one is fixed or Coulomb's these */
    CuArray<CuPair> turning, lever; /* rows of moments only: this, */
    CuArray<int32_t> touch;         /*   and the list's touches as those of general contacts */
    TalusBuildOptions options;      /* that it was built with */
};

/* Blocks of joints behind the contacts of a step (joints.cu). */
struct CuJoints {
    CuArray<TalusEngineJoint> block;
    CuArray<TalusEnginePush> push;
    int kept, free, pushes;
    bool compliance;
    CuArray<int2> pair; /* the operator's, with the list's in front; likewise: */
    CuArray<CuFrame> frame;
    CuArray<int32_t> start, touch;
    CuArray<uint32_t> shift;
    CuArray<double> impulse; /* on their way to the host */
    CuArray<CuRecord> record;
};

struct TalusEngine {
    CuContext *cu;               /* the world's */
    CuArray<TalusPeriod> period; /* one, where space repeats itself */
    CuTables tables;
    CuBodies bodies;
    const uint64_t *id; /* by slot; the host's, for messages */
    CuList list[2];
    int now; /* which of them is the last detection's */
    const TalusVec3
        *seen; /* [slots]: velocities that contacts are looked for with; 0 where fixed */
    CuArray<TalusVec3> free; /* [slots]: v + h g; 0 where fixed; seen points here, */
    CuArray<TalusVec3> look; /* [slots]: or, on a second look, to the solved ones here */
    CuArray<uint8_t> dropped;
    TalusFilter filter;          /* all meet where there is no group */
    CuArray<uint8_t> group;      /* what the filter points at: this, */
    CuArray<uint32_t> apart;     /*   and here groups, then pairs */
    CuArray<int32_t> few;        /* slots whose states are put or fetched, */
    CuArray<TalusMotion> motion; /*   and these */
    CuArray<double>
        probe_sums;   /* probe.cu: where there are more probes than totals have room for */
    bool probes_here; /* integrate.cu has fetched the others' sums: */
    double probe_here[CU_PROBE_TOTALS];
    struct CuGrid *grid;     /* detection's own (grid.cu) */
    struct CuBackup *backup; /* engine.cu */
    CuStep step;
    CuJoints joints;
};

static inline CuList *cu_list(TalusEngine *e)
{
    return &e->list[e->now];
}

/* detect.cu: the contacts for e->seen, straight after cu_predict_velocities; the new list becomes the current one
 * unless it fails, as it does where a body's state is not finite. */
TalusStatus cu_detect_contacts(TalusEngine *e, const TalusDetectOptions *options);
void cu_detect_clear(TalusEngine *e);

/* extra.cu: shapes with their blocks. */
TalusStatus cu_put_shapes(TalusEngine *e, const TalusTables *tables);
void cu_extra_clear(TalusEngine *e);

/* joints.cu: pairs, frames and touches of the operator with joints, once its sizes and touches are there; their
 * blocks; when all else is filled, the impulses to start from and what motors push. */
int cu_joint_blocks(const TalusEngine *e);
TalusStatus cu_joints_merge(TalusEngine *e);
void cu_joints_fill(TalusEngine *e);
void cu_joints_begin(TalusEngine *e);
void cu_joints_clear(TalusEngine *e);

/* build.cu: v + h g, or the solved velocities, as e->seen. Leaves in the totals minus the lowest slot whose
 * state is not finite, or minus infinity, and minus the least size of moving bodies. */
TalusStatus cu_predict_velocities(TalusEngine *e, double h, TalusVec3 gravity, bool again);
void cu_step_clear(TalusEngine *e);
/* integrate.cu: [places], by the places of the list that was solved. */
const CuRecord *cu_solved(const TalusEngine *e);

/* A driven body has a place and a velocity, and no impulse moves it. */
static __device__ inline bool cu_driven(const CuBodies &b, int64_t slot)
{
    return b.driven && b.shape[slot] >= 0 && b.fixed[slot] == CU_DRIVEN;
}

/* What arms and spins of a body are measured by in the problem; walls have no radius. */
static __device__ inline double cu_length(const CuBodies &b, int64_t slot)
{
    double radius = b.radius[slot];
    return radius > 0.0 ? radius : 1.0;
}

static __device__ inline bool cu_moves(const int32_t *shape, const uint8_t *fixed, int64_t slot)
{
    return shape[slot] >= 0 && !fixed[slot];
}

/* Blocks of a kernel that goes over n items in steps of the grid and ends in reduce_grid: enough to fill
 * the device, few enough that adding their partial sums costs nothing. One even without items, so that
 * the totals are always written. */
static inline unsigned cu_sum_blocks(int64_t n)
{
    unsigned blocks = blocks_for(n);
    return blocks == 0 ? 1 : blocks < 1056 ? blocks : 1056; /* 8 on each of 132 processors */
}

#endif

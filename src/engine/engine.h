/* engine/engine.h - the contract of all engines. An engine carries out the stages of a world's step.
 *
 * An engine holds bodies and contacts. The world decides what happens in a step (world/step/step.c) and calls its
 * engine for each stage: detect, build, solve, integrate. A shared engine works on the world's own arrays. An engine
 * with memory of its own has copies; the world's arrays are then downloaded when they are read (world/step/mirror.c).
 *
 * A body keeps its slot, its index in the world's arrays. In the contact problem of a step the engine may order bodies
 * and contacts differently, as long as the order follows from the state and from ids alone. Results that the engine
 * gives to the world are indexed by slot; contacts are in the order (a, b, feature) of collide/contact.h. */
#ifndef TALUS_ENGINE_ENGINE_H
#define TALUS_ENGINE_ENGINE_H

#include "backend/backend.h"
#include "base/pool.h"
#include "collide/cell.h"
#include "collide/contact.h"
#include "comm/comm.h"
#include "engine/reach.h"

#include <talus/math.h>

#include <stdbool.h>

/* Inertia of a shape about its centre of mass, per unit mass, body frame, m2; and its inverse, 1/m2. */
typedef struct TalusGyration {
    TalusSym3 inertia, inverse;
} TalusGyration;

/* Contact law of a pair of materials. */
typedef struct TalusLaw {
    double mu, stiffness, damping; /* stiffness 0: a rigid contact */
    double restitution;            /* Newton's e; rigid contacts only */
    double spinning, rolling;      /* largest moment over (contact length times normal impulse) */
    double cohesion;       /* attractive force, N; range: TalusBuildOptions.cohesion_range */
    TalusBlockModel model; /* friction model */
} TalusLaw;

/* Arrays of a world's bodies, by slot. SI units; spin in rad/s, orientation from body to world frame. */
typedef struct TalusBodyArrays {
    int slots;
    /* id by slot; rank and at_rank: the order of slots by ids, as in TalusBodyView. Valid until the next put_bodies.
     * last_id: highest id at the last detection. */
    const uint64_t *id;
    const uint32_t *rank, *at_rank;
    uint64_t last_id;
    TalusVec3 *position, *velocity, *spin;
    TalusQuat *orientation;
    /* radius: that of a sphere, else the bounding radius; 0: unbounded. size: that of a sphere its radius, else the
     * smallest half extent; it scales margins */
    double *mass, *radius, *size;
    double *dissipated;        /* J: as in TalusBodyState; NULL: not summed */
    int32_t *shape, *material; /* shape: index into TalusTables.shape; -1: no body in this slot */
    uint8_t *mobility;         /* TALUS_MOBILITY_* */
    bool driven;               /* true if some body is driven */
    /* On several ranks: the last slots, `halo` in number, have bodies that other ranks own, owner[k] that of slot
     * slots - halo + k. comm NULL: there is one rank. */
    int halo;
    const int32_t *owner;
    TalusComm *comm;
} TalusBodyArrays;

/* True if the slot holds a body that is free or asleep. */
TALUS_INLINE bool talus_is_dynamic(const int32_t *shape, const uint8_t *mobility, uint32_t slot)
{
    return shape[slot] >= 0 &&
           (mobility[slot] == TALUS_MOBILITY_FREE || mobility[slot] == TALUS_MOBILITY_ASLEEP);
}

/* Returns the smaller size of a contact's two bodies; b counts only if it is free or asleep. */
TALUS_INLINE double talus_contact_size(const double *size, const int32_t *shape,
                                       const uint8_t *mobility, const TalusContact *c)
{
    double a = size[c->a], b = size[c->b];
    return talus_is_dynamic(shape, mobility, c->b) && b < a ? b : a;
}

/* State of one body; units as in TalusBodyArrays. */
typedef struct TalusMotion {
    TalusVec3 position, velocity, spin;
    TalusQuat orientation;
} TalusMotion;

/* Shapes and laws. They change rarely and are always set as a whole. */
typedef struct TalusTables {
    const TalusShape *shape;
    const TalusGyration *gyration; /* [shapes] */
    int shapes;
    const TalusLaw *law; /* [materials * materials]: of materials i and j at i * materials + j */
    int materials;
    bool compliance; /* true if some law has stiffness */
    bool models;     /* true if some law has friction other than the circular cone of ccp */
    /* true if some law has friction, restitution, moments (spinning or rolling friction), cohesion */
    bool friction, restitution, moments, cohesion;
} TalusTables;

/* Results of the last detection. From detect and redetect `contacts` and `clipped_bodies` are of all ranks, from get_counts of
 * this one. */
typedef struct TalusEngineCounts {
    int sphere_sphere, sphere_fixed, general; /* contacts by run */
    int64_t contacts;                         /* number of all contacts */
    double min_size; /* smallest size of a free body; infinite if none is free */
    int64_t
        clipped_bodies; /* number of bodies and walls so fast that in periodic space a contact may be missing */
} TalusEngineCounts;

typedef struct TalusBuildOptions {
    double h; /* s: length of the part of the step */
    /* initial impulses over the impulses of the contact list: h over the length of the step that gave these; 0: cold
     * start */
    double impulse_ratio;
    /* largest speed at which overlap is undone: recovery sqrt(gravity size), or recovery, m/s, if gravity is 0;
     * recovery 0: no limit */
    double recovery;
    double gravity; /* |g|, m/s2 */
    /* Relative compliance, for contacts whose law has no stiffness (TalusHardening): springs with the compliance
     * `compliance` times N_nn, which harden as their overlap approaches elastic_overlap times the smaller size. They
     * harden up to the impulse impulse_limit, N s, or up to hardening_ratio times the impulse of a linear spring at
     * that overlap, if that is larger. */
    double compliance, elastic_overlap, impulse_limit, hardening_ratio;
    double soften; /* addition to the compliance of contacts and joint limits, over (N + E)_nn */
    TalusVec3 gravity_change; /* h g, contained in the free velocities of free bodies */
    double rebound_speed;     /* m/s: restitution acts on contacts that close faster than this */
    double cohesion_range;    /* largest gap at which cohesion acts, over the smaller size */
} TalusBuildOptions;

typedef struct TalusBuildReport {
    /* overlap over the smaller body's size: mean and maximum over the contacts that overlap; 0 if there are none */
    double penetration_mean, penetration_max;
} TalusBuildReport;

/* One block of a joint. Body a, slot[0], is free; b, slot[1], is a body that is not fixed, or -1: the fixed world. */
typedef struct TalusEngineJoint {
    int32_t slot[2];
    double frame[4], arm[6], lever[2]; /* as in TalusOperator */
    double bias, mu, compliance; /* as in TalusOperator; mu: largest |impulse|, N s; limits: 0 */
    TalusBlockModel model;       /* all zeros for a limit */
    double gamma[3];             /* initial impulses, N s: normal, tangents; moments start from 0 */
} TalusEngineJoint;

/* Change of the free velocity and spin in a body's record (backend/operator.h) by a torque motor. Several changes of
 * one body are added in the order of the array. */
typedef struct TalusMotorChange {
    int32_t slot;
    double change[8];
} TalusMotorChange;

/* Joints of a problem. The arrays belong to the world and must stay valid until the next put_joints. */
typedef struct TalusEngineJoints {
    const TalusEngineJoint *block; /* [bounded + free], free blocks last */
    int bounded, free;             /* blocks with bounds; blocks without, which may be eliminated */
    bool compliance;               /* true if some block has compliance */
    const TalusMotorChange *motor_change;
    int motor_changes;
} TalusEngineJoints;

/* Number of loaded contacts, and mean, 99th percentile and maximum of their overlaps over size (engine/overlap.h). */
typedef struct TalusEngineOverlap {
    int64_t loaded;
    double mean, p99, max;
} TalusEngineOverlap;

/* Energies and works of a step, J, and a summary of overlaps. engine/cpu/ledger.c derives the works. */
typedef struct TalusEngineLedger {
    double kinetic, potential; /* at the end of the step */
    /* gravity_error: work of gravity and loads at the mean of old and free velocities, minus the work of the same
     * forces along the motion, h times the solved velocity. spin: change of rotational energy by the rotation without
     * torque. */
    double kinetic_change, potential_change, gravity_error, spin;
    /* Works of contacts. friction: of tangential impulses and moments. stabilisation: of normal impulses, at the speed
     * that undoes overlap. impact: the rest of the work of normal impulses. cohesion: of attractive impulses. */
    double friction, stabilisation, impact, cohesion;
    double elastic_start, elastic; /* energy in overlaps of compliant contacts, before and after */
    /* driven: work of driven bodies on the others. applied: work of applied forces and torques along the motion. */
    double driven, applied;
    /* cell: work of a cell that deforms, but for that of bodies crossing its sides (TalusCellSums). virial: sum over contacts
     * of impulse on b times branch, N s m, symmetrised. Both are 0 without such a cell. */
    double cell;
    TalusSym3 virial;
    TalusVec3
        stiffness; /* J: sum over loaded elastic contacts of (n d)^2/(h^2 E) along x, y and z, d the branch */
    TalusEngineOverlap overlap;
} TalusEngineLedger;

/* Sums of wrap_in_cell. */
typedef struct TalusCellSums {
    double lifted;    /* J: change of potential energy of bodies that crossed sides */
    double kinetic;   /* J: change of their kinetic energy */
    double mass;      /* kg: of all free bodies */
    TalusSym3 moment; /* J: sum of m c x c at the end, c the velocities relative to the flow */
} TalusCellSums;

/* A probe sums over the contacts of one body, or over contacts between bodies in a region and all others; or it sums over
 * the bodies that cross a plane. */
typedef struct TalusEngineProbe {
    bool region, plane;
    int slot;         /* of the body, of others -1. On several ranks -1: the body is elsewhere */
    TalusVec3 lo, hi; /* corners of the region, an axis-aligned box */
    int copy;         /* of the bodies in the region, or that cross the plane */
    /* The plane: a point of it, its unit normal, and which of it counts: points no further than `half` along each axis and
     * `radius` in all from `at`, m; infinite: no limit. */
    TalusVec3 at, normal, half;
    double radius;
} TalusEngineProbe;

typedef struct TalusProbeSums {
    TalusVec3 impulse, torque; /* on the body or the region's content; N s, N m s */
    double contacts;           /* number of summed contacts whose impulse is not 0 */
    /* Number and mass of the bodies inside, or of the one body; of a plane, of the bodies that cross it along its normal,
     * less those that cross it against it. */
    double bodies, mass;
    TalusVec3 momentum; /* momentum of these bodies, from the solved velocities */
} TalusProbeSums;

/* Impacts that propagate (engine/cpu/impact.c). */
typedef struct TalusImpactOptions {
    double h;           /* s: length of the part of the step */
    double least_speed; /* m/s: contacts that close more slowly are no impacts */
} TalusImpactOptions;

typedef struct TalusEngineImpacts {
    int64_t contacts; /* contacts that closed in some round */
    int64_t rounds;
    int64_t
        unsettled; /* contacts of components that were compressed under the relaxation, once per round */
    int64_t left;                    /* contacts that still closed when the rounds ended */
    double kinetic_change;           /* J */
    double impact, friction, driven; /* works as in TalusEngineLedger, J */
} TalusEngineImpacts;

/* Optional capabilities. Creation of a world fails if the world needs one and its engine lacks it. */
enum {
    TALUS_ENGINE_SHARED = 1 << 0,      /* works on the world's arrays, without upload or download */
    TALUS_ENGINE_PERIODS = 1 << 1,     /* periodic space */
    TALUS_ENGINE_SLEEP = 1 << 2,       /* sleeping bodies, TALUS_MOBILITY_ASLEEP */
    TALUS_ENGINE_CELL = 1 << 3,        /* a periodic cell that deforms (collide/cell.h) */
    TALUS_ENGINE_IMPACTS = 1 << 4,     /* impacts that propagate, on one rank */
    TALUS_ENGINE_DISSIPATION = 1 << 5, /* TalusBodyArrays.dissipated */
};

/* Solved velocities and spins of all slots, and whether they differ from those of the detection by more than a limit. */
typedef struct TalusSolvedMotions {
    TalusVec3 *velocity, *spin;
    uint8_t *changed;
} TalusSolvedMotions;

/* Slots of a contact list: the first `kept` stay, slot kept + k becomes slot[k], -1: its body is not here any more. Then
 * there are `slots`. */
typedef struct TalusSlotChange {
    int kept, count, slots;
    const int32_t *slot; /* [count] */
} TalusSlotChange;

/* Bodies of which ranks tell each other, by slots: own ones that are sent, and those of the halo. */
typedef struct TalusHaloLists {
    const int32_t *send, *receive;
    int sends, receives;
} TalusHaloLists;

/* Solved motion of a body as it is sent. */
typedef struct TalusSolvedMotion {
    TalusVec3 velocity, spin;
} TalusSolvedMotion;

/* Memory for messages: records of `bytes` bytes, TalusMotion or TalusSolvedMotion, in the order of TalusHaloLists. */
typedef struct TalusHaloRecords {
    void *out, *in;
    size_t bytes;
} TalusHaloRecords;

struct TalusProblem;

/* Objects that an engine uses but does not own. */
typedef struct TalusEngineSetup {
    TalusContext *context; /* from the world's backend */
    TalusPool *pool;
    struct TalusProblem *problem; /* the world's; a shared engine builds in it, others ignore it */
    const TalusPeriod *period;
} TalusEngineSetup;

typedef struct TalusEngine TalusEngine;

typedef struct TalusEngineOps {
    uint32_t capabilities; /* TALUS_ENGINE_* */
#define OPERATION(result, name, arguments) result(*name) arguments;
#include "engine/operations.h"
} TalusEngineOps;

/* An engine with its operations. */
typedef struct TalusEngineHandle {
    const TalusEngineOps *ops;
    TalusEngine *self;
} TalusEngineHandle;

#ifdef TALUS_HAVE_CUDA
extern const TalusEngineOps talus_engine_cuda;
#endif

/* Returns the operations of a backend's engine; those of the host's engine for a backend that works in host memory. */
const TalusEngineOps *talus_engine_ops(const TalusBackend *backend);
/* Returns the operations of the host's engine. */
const TalusEngineOps *talus_engine_host(void);

/* True if the engine has all TALUS_ENGINE_ bits of `capability`. */
static inline bool talus_engine_can(TalusEngineHandle on, uint32_t capability)
{
    return (on.ops->capabilities & capability) == capability;
}

#endif

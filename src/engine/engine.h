/* engine/engine.h - the contract of all engines. An engine carries out the stages of a world's step.
 *
 * An engine holds bodies and contacts. The world decides what happens in a step (world/step/step.c) and calls its
 * engine for each stage: detect, build, solve, integrate. A shared engine works on the world's own arrays. An engine
 * with memory of its own has copies; the world's arrays are then downloaded when they are read (world/step/mirror.c).
 *
 * A body keeps its slot, its index in the world's arrays. In the contact problem of a step the engine may order bodies
 * and contacts as it likes, by the state and by ids alone. What it gives to the world is indexed by slot, contacts in the
 * order (a, b, feature) of collide/contact.h. */
#ifndef TALUS_ENGINE_ENGINE_H
#define TALUS_ENGINE_ENGINE_H

#include "backend/backend.h"
#include "base/pool.h"
#include "collide/contact.h"

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
    /* The order of bodies by ids, as in TalusBodyView; valid until the next put_bodies. last_id: highest at the last
     * detection. */
    const uint64_t *id;
    const uint32_t *rank, *at_rank;
    uint64_t last_id;
    TalusVec3 *position, *velocity, *spin;
    TalusQuat *orientation;
    /* radius: of the sphere, or bounding; 0: unbounded. size: scale of margins, the sphere's radius, else the smallest
     * half extent */
    double *mass, *radius, *size;
    int32_t *shape, *material; /* shape: index into TalusTables.shape; -1: no body in this slot */
    uint8_t *mobility;         /* TALUS_MOBILITY_* */
    bool driven;               /* some body is driven */
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
    bool compliance; /* some law has stiffness */
    bool models;     /* some law has friction other than the circular cone of ccp */
    /* some law has it; moments: spinning or rolling friction */
    bool friction, restitution, moments, cohesion;
} TalusTables;

typedef struct TalusEngineCounts {
    int sphere_sphere, sphere_fixed, general; /* contacts by run */
    int contacts;                             /* their sum */
    double min_size; /* smallest size of a free body; infinite if none is free */
    int clipped;     /* bodies so fast that in periodic space a contact may be missed */
} TalusEngineCounts;

typedef struct TalusBuildOptions {
    double h;
    double impulse_ratio; /* factor of the list's impulses as start: h over theirs; 0: cold start */
    /* limits the speed at which overlap is undone: recovery sqrt(gravity size), or recovery, m/s, if gravity is 0;
     * recovery 0: no limit */
    double recovery;
    double gravity; /* |g|, m/s2 */
    /* of contacts whose law has no stiffness: springs of compliance N_nn that harden towards an overlap of
     * elastic_overlap times the smaller size, up to the impulse impulse_limit, N s, or hardening_ratio (TalusHardening) */
    double compliance, elastic_overlap, impulse_limit, hardening_ratio;
    double soften; /* compliance of contacts and joint limits grows by this times (N + E)_nn */
    TalusVec3 gravity_change; /* h g, contained in the free velocities of moving bodies */
    double rebound_speed;     /* m/s: only contacts that close faster rebound (restitution) */
    double cohesion_range;    /* largest gap at which cohesion acts, over the smaller size */
} TalusBuildOptions;

typedef struct TalusBuildReport {
    /* overlap over the smaller body's size: mean and maximum of the overlapping contacts; 0 if none */
    double penetration_mean, penetration_max;
} TalusBuildReport;

/* One block of a joint. Body a, slot[0], is free; b, slot[1], is a body that is not fixed, or -1: the fixed world. */
typedef struct TalusEngineJoint {
    int32_t slot[2];
    double frame[4], arm[6], lever[2]; /* as in TalusOperator */
    double bias, mu, compliance;
    TalusBlockModel model;
    double gamma[3]; /* initial impulses, N s: normal, tangents; moments start from 0 */
} TalusEngineJoint;

/* What a torque motor adds to a body's record (backend/operator.h) in the problem: to the free velocity and the spin.
 * Several changes of one body are added in the order of the array. */
typedef struct TalusMotorChange {
    int32_t slot;
    double change[8];
} TalusMotorChange;

typedef struct TalusEngineJoints {
    const TalusEngineJoint *block; /* [kept + free], free ones last */
    int bounded, free;             /* blocks with bounds; blocks without, which may be eliminated */
    bool compliance;               /* some block has compliance */
    const TalusMotorChange *motor_change;
    int motor_changes;
} TalusEngineJoints;

/* Overlaps over size of the contacts that bear load (engine/overlap.h). */
typedef struct TalusEngineOverlap {
    int loaded;
    double mean, p99, max;
} TalusEngineOverlap;

/* Energies and works of a step, J, which engine/cpu/ledger.c derives, and a summary of overlaps. */
typedef struct TalusEngineLedger {
    double kinetic, potential; /* at the end of the step */
    /* gravity_error: works of gravity and loads by the mean of old and free velocities, minus their works along the
     * motion, h times the solved velocity. spin: change of rotational energy by the rotation itself, without torque. */
    double kinetic_change, potential_change, gravity_error, spin;
    /* Works of contacts: of tangential impulses and moments; of normal impulses at the speed that undoes overlap; the
     * rest of the normal impulses' work; of attractive impulses. */
    double friction, stabilisation, impact, cohesion;
    double elastic_start, elastic; /* energy in overlaps of compliant contacts, before and after */
    /* Works of driven bodies on the others; of applied forces and torques along the motion. */
    double driven, applied;
    TalusEngineOverlap overlap;
} TalusEngineLedger;

/* A probe sums over the contacts of one body, or over contacts between bodies in a region and all others. */
typedef struct TalusEngineProbe {
    bool region;
    int slot;         /* of the body; without region */
    TalusVec3 lo, hi; /* corners of the region, an axis-aligned box */
} TalusEngineProbe;

typedef struct TalusProbeSums {
    TalusVec3 impulse, torque; /* on the body or the region's content; N s, N m s */
    double contacts;           /* number of summed contacts whose impulse is not 0 */
    double bodies, mass;       /* number and mass of the bodies inside, or of the one body */
    TalusVec3 momentum;        /* theirs, from the solved velocities */
} TalusProbeSums;

/* Optional capabilities. A world that needs periods or sleep and has an engine without is refused at creation. */
enum {
    TALUS_ENGINE_SHARED = 1 << 0,  /* works on the world's arrays, without upload or download */
    TALUS_ENGINE_PERIODS = 1 << 1, /* periodic space */
    TALUS_ENGINE_SLEEP = 1 << 2,   /* bodies with TALUS_MOBILITY_ASLEEP */
};

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

/* Returns the engine of a backend; the host's engine for a backend that works in host memory. */
const TalusEngineOps *talus_engine_ops(const TalusBackend *backend);
/* Returns the host's engine. */
const TalusEngineOps *talus_engine_host(void);

/* True if the engine has all of these TALUS_ENGINE_ bits. */
static inline bool talus_engine_can(TalusEngineHandle on, uint32_t capability)
{
    return (on.ops->capabilities & capability) == capability;
}

#endif

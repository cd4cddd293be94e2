/* engine/engine.h - the contract of all engines. An engine carries out the stages of a world's step.
 *
 * An engine holds bodies and contacts. The world decides what happens in a step (world/step/step.c) and calls its
 * engine for each stage. A shared engine works on the world's own arrays. For any other engine these arrays are a
 * mirror, downloaded when they are read (world/step/mirror.c).
 *
 * Bodies keep their slots. Contacts and bodies of the problem are in an order of the engine's own, which depends on
 * the state alone: problem body p is the body in slot slot_of[p]. Data that leaves the engine is indexed by slot and
 * in the canonical order of collide/contact.h. */
#ifndef TALUS_ENGINE_ENGINE_H
#define TALUS_ENGINE_ENGINE_H

#include "backend/backend.h"
#include "base/pool.h"
#include "collide/contact.h"

#include <talus/math.h>

#include <stdbool.h>

/* Inertia about the centre of mass per unit mass, body frame, of a shape that may move; m2. */
typedef struct TalusGyration {
    TalusSym3 inertia, inverse;
} TalusGyration;

/* Contact law of a pair of materials. */
typedef struct TalusLaw {
    double mu, stiffness, damping; /* stiffness 0: a rigid contact */
    double restitution;            /* Newton's e; rigid contacts only */
    double spinning, rolling; /* bounds of the moments, over contact length and normal impulse */
    double cohesion;          /* N; acts while the gap is within TalusBuildOptions.cohesion_range */
    TalusBlockModel model;    /* friction model */
} TalusLaw;

/* Arrays of a world's bodies, by slot (world/bodies.h). */
typedef struct TalusBodyArrays {
    int slots;
    const uint64_t *id; /* for messages; must stay valid until the next put_bodies */
    TalusVec3 *position, *velocity, *spin;
    TalusQuat *orientation;
    double *mass, *radius, *size;
    int32_t *shape, *material;
    uint8_t *mobility; /* TALUS_MOBILITY_* */
    bool driven;       /* some body is driven */
} TalusBodyArrays;

/* True if the body is free or asleep. */
TALUS_INLINE bool talus_is_dynamic(const int32_t *shape, const uint8_t *mobility, uint32_t slot)
{
    return shape[slot] >= 0 &&
           (mobility[slot] == TALUS_MOBILITY_FREE || mobility[slot] == TALUS_MOBILITY_ASLEEP);
}

/* Size of the smaller of a contact's two bodies; only bodies that are free or asleep count. */
TALUS_INLINE double talus_contact_size(const double *size, const int32_t *shape,
                                       const uint8_t *mobility, const TalusContact *c)
{
    double a = size[c->a], b = size[c->b];
    return talus_is_dynamic(shape, mobility, c->b) && b < a ? b : a;
}

/* State of one body. */
typedef struct TalusMotion {
    TalusVec3 position, velocity, spin;
    TalusQuat orientation;
} TalusMotion;

/* Shapes and laws. They change rarely and are always set as a whole. */
typedef struct TalusTables {
    const TalusShape *shape;
    const TalusGyration *gyration; /* [shapes] */
    int shapes;
    const TalusLaw *law; /* [materials * materials] */
    int materials;
    bool compliance; /* some law has stiffness */
    bool models;     /* some law has friction other than the circular cone of ccp */
    bool friction, restitution, moments,
        cohesion; /* some law has it; moments: spinning or rolling friction */
} TalusTables;

typedef struct TalusEngineCounts {
    int sphere_sphere, sphere_fixed, general; /* contacts by run */
    int contacts;                             /* their sum */
    double min_size; /* smallest size of a moving body; infinite if none moves */
    int clipped;     /* bodies so fast that a period may hide contacts (talus_detector_clipped) */
} TalusEngineCounts;

typedef struct TalusBuildOptions {
    double h;
    double impulse_ratio; /* factor of the transferred impulses: ratio of the step lengths */
    double recovery;      /* v_rec = recovery sqrt(gravity size), or recovery if gravity is 0 */
    double gravity;
    double soften;            /* > 0: every contact's compliance grows by this times N_nn */
    TalusVec3 gravity_change; /* h g, contained in the free velocities of moving bodies */
    double rebound_speed;     /* m/s: contacts that close faster rebound by their restitution */
    double cohesion_range;    /* largest gap at which cohesion acts, over the smaller size */
} TalusBuildOptions;

typedef struct TalusBuildReport {
    double penetration_mean, penetration_max; /* over size; overlapping contacts only */
} TalusBuildReport;

/* One block of a joint (world/joint/joint_build.c). Body a moves; body b moves, is driven, or is the fixed world
 * (-1). */
typedef struct TalusEngineJoint {
    int32_t slot[2];
    double frame[4], arm[6], lever[2]; /* as in the operator */
    double bias, mu, compliance;
    TalusBlockModel model;
    double gamma[3]; /* initial impulses */
} TalusEngineJoint;

/* Change of a body's record by a torque motor. Several changes of one body are added in the order of the array. */
typedef struct TalusEnginePush {
    int32_t slot;
    double change[8];
} TalusEnginePush;

typedef struct TalusEngineJoints {
    const TalusEngineJoint *block; /* [kept + free], free ones last */
    int kept, free;                /* kept: iterated on; free: may be eliminated */
    bool compliance;               /* some block has compliance */
    const TalusEnginePush *push;
    int pushes;
} TalusEngineJoints;

/* Energy sums of a step, J, as defined in engine/cpu/integrate.c and ledger.c; always in double precision. */
typedef struct TalusEngineLedger {
    double kinetic, potential; /* at the end of the step */
    double kinetic_change, potential_change, gravity_error, spin;
    double friction, stabilisation, impact, cohesion;
    double driven, applied;
} TalusEngineLedger;

/* A probe (world/probe.c): sums over the contacts of one body, or over the contacts across the border of a region. */
typedef struct TalusEngineProbe {
    bool region;
    int slot;         /* of the body; without region */
    TalusVec3 lo, hi; /* corners of the region */
} TalusEngineProbe;

typedef struct TalusProbeSums {
    TalusVec3 impulse, torque; /* on the body or the region's content; N s, N m s */
    double contacts;           /* number of contacts with an impulse */
    double bodies, mass;
    TalusVec3 momentum; /* from the solved velocities */
} TalusProbeSums;

/* Optional capabilities. A world that needs a missing one is refused at creation. */
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
    struct TalusProblem *problem; /* filled if shared; else it borrows the engine's operator */
    const TalusPeriod *period;
} TalusEngineSetup;

typedef struct TalusEngine TalusEngine;

typedef struct TalusEngineOps {
    uint32_t capabilities; /* TALUS_ENGINE_* */
#define OPERATION(result, name, arguments) result(*name) arguments;
#include "engine/operations.h"
} TalusEngineOps;

typedef struct TalusEngineHandle {
    const TalusEngineOps *ops;
    TalusEngine *self;
} TalusEngineHandle;

#ifdef TALUS_HAVE_CUDA
extern const TalusEngineOps talus_engine_cuda;
#endif

/* Returns the engine of a backend; the host's engine for a backend that works in host memory. */
const TalusEngineOps *talus_engine_ops(const TalusBackend *backend);
const TalusEngineOps *talus_engine_host(void);

static inline bool talus_engine_can(TalusEngineHandle on, uint32_t capability)
{
    return (on.ops->capabilities & capability) == capability;
}

#endif

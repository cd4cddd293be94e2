/* engine/engine.h - what carries out the stages of a world's step: the contract of all engines.
 *
 * An engine holds bodies and contacts. The world decides what happens in a step (world/step/step.c) and asks its
 * engine for each stage. An engine in the host's memory works on the world's own arrays; of any other one these
 * are a mirror, downloaded when someone reads them (world/step/mirror.c).
 *
 * Bodies keep their slots. Contacts and the problem's bodies are in an order of the engine's own, which
 * depends on the state alone: problem body p is the body in slot slot_of[p]. Whatever leaves the engine
 * is in slots and in the canonical order of collide/contact.h. */
#ifndef TALUS_ENGINE_ENGINE_H
#define TALUS_ENGINE_ENGINE_H

#include "backend/backend.h"
#include "base/pool.h"
#include "collide/contact.h"

#include <talus/math.h>

#include <stdbool.h>

/* Inertia about the centre per unit mass, body frame, of shapes that may move. */
typedef struct TalusGyration {
    TalusSym3 inertia, inverse;
} TalusGyration;

/* What a contact between two materials follows; stiffness 0 is rigid. */
typedef struct TalusLaw {
    double mu, stiffness, damping;
    double restitution; /* Newton's e, of rigid contacts */
    double spinning,
        rolling;           /* times the contact's length and normal impulse: the largest moments */
    double cohesion;       /* N, of a contact in touch */
    TalusBlockModel model; /* of friction */
} TalusLaw;

/* How a body moves: by itself, not at all, as it is driven; or not for now (world/step/sleep.c). */
enum { TALUS_MOTION_FREE, TALUS_MOTION_FIXED, TALUS_MOTION_DRIVEN, TALUS_MOTION_ASLEEP };

/* The arrays of a world's bodies, by slot (world/bodies.h). */
typedef struct TalusBodyArrays {
    int slots;
    const uint64_t *id; /* for messages; stays where it is until bodies are put again */
    TalusVec3 *position, *velocity, *spin;
    TalusQuat *orientation;
    double *mass, *radius, *size;
    int32_t *shape, *material;
    uint8_t *fixed; /* TALUS_MOTION_* */
    bool driven;    /* some are */
} TalusBodyArrays;

/* Whether a body moves by itself, now or when it wakes. */
static inline bool talus_is_loose(const int32_t *shape, const uint8_t *fixed, uint32_t slot)
{
    return shape[slot] >= 0 &&
           (fixed[slot] == TALUS_MOTION_FREE || fixed[slot] == TALUS_MOTION_ASLEEP);
}

/* The smaller size of a contact's two bodies, of those that move. */
static inline double talus_contact_size(const double *size, const int32_t *shape,
                                        const uint8_t *fixed, const TalusContact *c)
{
    double a = size[c->a], b = size[c->b];
    return talus_is_loose(shape, fixed, c->b) && b < a ? b : a;
}

/* The state of one body. */
typedef struct TalusMotion {
    TalusVec3 position, velocity, spin;
    TalusQuat orientation;
} TalusMotion;

/* Shapes and laws change rarely; they are given whole. */
typedef struct TalusTables {
    const TalusShape *shape;
    const TalusGyration *gyration; /* [shapes] */
    int shapes;
    const TalusLaw *law; /* [materials * materials] */
    int materials;
    bool compliance; /* some law has stiffness */
    bool models;     /* some law is neither frictionless nor the circular cone of ccp */
    bool friction, restitution, turning, cohesion; /* some law has it */
} TalusTables;

typedef struct TalusEngineCounts {
    int sphere_sphere, sphere_fixed, general; /* contacts by run */
    int contacts;                             /* their sum */
    double least_size;                        /* of the moving bodies; infinite without any */
    int clipped; /* bodies too fast for the images of a period: talus_detector_clipped */
} TalusEngineCounts;

typedef struct TalusBuildOptions {
    double h;
    double warm; /* factor of carried-over impulses: ratio of the steps */
    double
        recovery; /* as in world/step/stages.c: v_rec = recovery sqrt(scale size), or recovery alone */
    double scale;
    double soften;  /* > 0: this times N_nn is added to every contact's compliance */
    TalusVec3 kick; /* h g, which the free velocities of moving bodies hold */
    double bounce;  /* m/s: contacts that close faster rebound by their restitution */
    double reach;   /* cohesion acts up to this part of the smaller size beyond touch */
} TalusBuildOptions;

typedef struct TalusBuildReport {
    double penetration_mean, penetration_max; /* over size, of overlapping contacts */
} TalusBuildReport;

/* A block of a joint (world/joint/joint_build.c) in a problem: a of its bodies moves; b is driven, moves or, -1, does
 * neither. */
typedef struct TalusEngineJoint {
    int32_t slot[2];
    double frame[4], arm[6], lever[2]; /* as in the operator */
    double bias, mu, compliance;
    TalusBlockModel model;
    double gamma[3]; /* to start from */
} TalusEngineJoint;

/* What a torque motor changes of a body's record in a problem. A body may have several, added up in this order. */
typedef struct TalusEnginePush {
    int32_t slot;
    double change[8];
} TalusEnginePush;

typedef struct TalusEngineJoints {
    const TalusEngineJoint *block; /* [kept + free]: free ones last */
    int kept, free;
    bool compliance; /* some have it */
    const TalusEnginePush *push;
    int pushes;
} TalusEngineJoints;

/* What integration sums up, as in engine/cpu/integrate.c and ledger.c; all in double precision. */
typedef struct TalusEngineLedger {
    double kinetic, potential; /* at the end */
    double kinetic_change, potential_change, gravity_error, spin;
    double friction, stabilisation, impact, cohesion;
    double driven, applied;
} TalusEngineLedger;

/* A probe of world/probe.c: over the contacts of one body, or those across the border of a region. */
typedef struct TalusEngineProbe {
    bool region;
    int slot;         /* of the body */
    TalusVec3 lo, hi; /* of the region */
} TalusEngineProbe;

typedef struct TalusProbeSums {
    TalusVec3 impulse, torque; /* on the body, or on what is inside; of impulses, N s and N m s */
    double contacts;           /* with an impulse */
    double bodies, mass;
    TalusVec3 momentum; /* with the solved velocities */
} TalusProbeSums;

/* What an engine can do beyond the least; a world that asks for more is refused when it is made. */
enum {
    TALUS_ENGINE_SHARED =
        1 << 0, /* works on the world's arrays: nothing is uploaded or downloaded */
    TALUS_ENGINE_PERIODS = 1 << 1, /* space that repeats itself */
    TALUS_ENGINE_SLEEP = 1 << 2,   /* bodies of TALUS_MOTION_ASLEEP */
};

struct TalusProblem;

/* What an engine is made with and does not own. */
typedef struct TalusEngineSetup {
    TalusContext *context; /* of the world's backend */
    TalusPool *pool;
    struct TalusProblem *problem; /* a shared engine fills it; others lend theirs to it */
    const TalusPeriod *period;
} TalusEngineSetup;

typedef struct TalusEngine TalusEngine;

typedef struct TalusEngineOps {
    uint32_t capabilities; /* TALUS_ENGINE_* */
    TalusStatus (*create)(const TalusEngineSetup *setup, TalusEngine **out);
    void (*destroy)(TalusEngine *engine);

    /* Bodies: all arrays in; positions, velocities, spins and orientations out. `forgotten` [slots] may
     * be NULL: slots whose contacts lose their impulses. */
    TalusStatus (*tables)(TalusEngine *engine, const TalusTables *tables);
    TalusStatus (*put_bodies)(TalusEngine *engine, const TalusBodyArrays *bodies,
                              const uint8_t *forgotten);
    TalusStatus (*get_bodies)(TalusEngine *engine, TalusBodyArrays *bodies);
    /* States of a few bodies, in and out. */
    TalusStatus (*put_states)(TalusEngine *engine, const int32_t *slot, const TalusMotion *motion,
                              int count);
    TalusStatus (*get_states)(TalusEngine *engine, const int32_t *slot, TalusMotion *motion,
                              int count);
    /* Which pairs do not meet, NULL: all do; forces and torques on the bodies of the first `count` slots. */
    TalusStatus (*put_filter)(TalusEngine *engine, const TalusFilter *filter, int slots);
    TalusStatus (*put_forces)(TalusEngine *engine, const TalusVec3 *force, const TalusVec3 *torque,
                              int count);
    /* The contact list of the last detection with its impulses, in and out; `get` writes into arrays of
     * the size that `counts` says (contact, arms, impulse of `list` are the caller's). */
    TalusStatus (*put_contacts)(TalusEngine *engine, const TalusContactList *list);
    TalusStatus (*get_contacts)(TalusEngine *engine, TalusContactList *list);
    /* Shared engines alone: the list itself; and a body whose contacts lose their impulses. */
    TalusContactList *(*contacts)(TalusEngine *engine);
    void (*forget)(TalusEngine *engine, int slot);
    void (*counts)(const TalusEngine *engine, TalusEngineCounts *counts);

    /* How many moving bodies have their centre below `below` along `axis`. */
    TalusStatus (*below)(TalusEngine *engine, int axis, double below, int64_t *count);

    /* Contacts for a part of step number `step` of length options->h, with the velocities v + h g. Impulses are
     * carried over by key. Fails as talus_detect does, list unchanged; only where memory does not hold old and
     * new list at once may it be empty then, and the next step starts cold. */
    TalusStatus (*detect)(TalusEngine *engine, const TalusDetectOptions *options, TalusVec3 gravity,
                          long long step, TalusEngineCounts *counts);
    /* The same with the solved velocities, after `missed` where the engine has that. */
    TalusStatus (*redetect)(TalusEngine *engine, const TalusDetectOptions *options,
                            TalusVec3 gravity, TalusEngineCounts *counts);
    /* Joints of the problems built from now on; NULL: none. */
    TalusStatus (*put_joints)(TalusEngine *engine, const TalusEngineJoints *joints);
    /* Their impulses, three each, after a solve; and what the problem's records of some bodies hold. */
    TalusStatus (*get_joints)(TalusEngine *engine, double *gamma, const int32_t *slot,
                              double (*record)[8], int count);
    /* The problem of the step, in the backend's memory: op and gamma, lent until the next detect. rows is 3
     * where some contact has friction, 6 where some has friction against turning; models, bounds and
     * offsets are as talus_problem_finish leaves them. A shared engine fills the problem of its setup, and *op is
     * NULL. */
    TalusStatus (*build)(TalusEngine *engine, const TalusBuildOptions *options, TalusOperator **op,
                         double **gamma, TalusBuildReport *report);
    /* After a solve: velocities v_f + M^-1 D gamma, kept for what follows. `changed`: a moving body's velocity
     * differs by more than `limit` from that which contacts were detected with. */
    TalusStatus (*solved)(TalusEngine *engine, double limit, bool *changed);
    /* Where that is so: whether detection missed a touch that closes faster than `tolerance`. `redetect` then has
     * these ready. NULL: the engine takes it that one was missed. */
    TalusStatus (*missed)(TalusEngine *engine, const TalusDetectOptions *options, double limit,
                          double tolerance, bool *missed);
    /* What probes see of the solved step: begun before the bodies move, fetched after. */
    TalusStatus (*sum_probes)(TalusEngine *engine, const TalusEngineProbe *probe, int count);
    TalusStatus (*get_probes)(TalusEngine *engine, TalusProbeSums *sums, int count);
    /* gamma back into the contact list, as impulses in the world frame. */
    TalusStatus (*store_impulses)(TalusEngine *engine);
    /* Checks that the solved velocities lead to a finite state (TALUS_ERR_NUMERIC names the slot in the
     * message otherwise, and nothing has changed), stores impulses, moves the bodies by h. The problem's records
     * hold the mean of free and solved velocities then. */
    TalusStatus (*integrate)(TalusEngine *engine, double h, TalusVec3 gravity, long long step,
                             TalusEngineLedger *ledger);

    /* Brings bodies that have left the period back into it; *lifted: what that adds to their potential energy.
     * Engines with TALUS_ENGINE_PERIODS alone. */
    TalusStatus (*wrap)(TalusEngine *engine, TalusVec3 gravity, double *lifted);

    /* A copy of bodies and contacts in the engine, and the way back to it, once, for halved steps. */
    TalusStatus (*snapshot)(TalusEngine *engine);
    TalusStatus (*rollback)(TalusEngine *engine);
} TalusEngineOps;

/* An engine with its operations. */
typedef struct TalusEngineHandle {
    const TalusEngineOps *ops;
    TalusEngine *engine;
} TalusEngineHandle;

#ifdef TALUS_HAVE_CUDA
extern const TalusEngineOps talus_engine_cuda;
#endif

/* The operations of a backend's engine; those of the host's for a backend that works in its memory. */
const TalusEngineOps *talus_engine_ops(const TalusBackend *backend);
const TalusEngineOps *talus_engine_host(void);

static inline bool talus_engine_can(TalusEngineHandle on, uint32_t capability)
{
    return (on.ops->capabilities & capability) == capability;
}

#endif

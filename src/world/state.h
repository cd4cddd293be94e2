/* world/state.h - the state of a world. */
#ifndef TALUS_WORLD_STATE_H
#define TALUS_WORLD_STATE_H

#include "base/memory.h"
#include "base/pool.h"
#include "base/status.h"
#include "problem/build.h"
#include "world/bodies.h"
#include "world/cell.h"
#include "world/compliance.h"
#include "world/drive.h"
#include "world/filter.h"
#include "world/force.h"
#include "world/id_order.h"
#include "world/joint/joint.h"
#include "world/material.h"
#include "world/probe.h"
#include "world/ranks/ranks.h"
#include "world/source/emit.h"
#include "world/source/journal.h"
#include "world/source/source.h"
#include "world/step/mirror.h"
#include "world/step/outside.h"
#include "world/step/sleep.h"
#include "world/user.h"

/* Items per chunk of a parallel loop: fixed, so that sums by chunk do not depend on the number of threads. */
enum { TALUS_GRAIN = 1024 };

/* What the world keeps of the engine's snapshot at the start of the step. */
typedef struct TalusStepSnapshot {
    bool contacts;       /* true if the engine has a snapshot of the contacts of this step */
    bool states;         /* true if it has one of the states of bodies, too */
    double impulse_step; /* TalusWorld.impulse_step when the snapshot of contacts was taken */
} TalusStepSnapshot;

struct TalusWorld {
    TalusWorldDef def;
    char *solver_spec, *backend_name; /* memory of the strings in def */
    const TalusBackend *backend;
    TalusContext *context; /* of the backend; NULL if the CPU engine takes the steps */
    TalusLog log;          /* if it has no function, messages go to the thread's log */
    /* engine takes the steps; host is the CPU engine that holds the contacts for queries. Both are the same engine
     * unless a device takes the steps. */
    TalusEngineHandle engine, host;
    TalusMirror mirror;
    double gravity_norm;    /* m/s2 */
    double reference_speed; /* m/s, scale of tolerances: max(|gravity| step, def.reference_speed) */
    int64_t steps;          /* steps completed */
    /* Time and step count from which whole steps are counted: 0, or those at the end of the last shortened step. */
    double base_time;
    int64_t base_steps;
    int64_t missed_steps;   /* number of steps that missed the tolerance */
    int64_t clipped_bodies; /* TalusEngineCounts.clipped_bodies of the last detection */
    bool start_reported;    /* true if info has contacts and penetration of the first solved part */
    /* true if the warning has been logged; part of a saved state */
    bool said_missed, said_infeasible;
    /* true if the warning has been logged; not saved: a resumed run may repeat these warnings */
    bool said_fallback, said_overlap, said_jammed, said_clipped, said_soft, said_impacts;
    bool said_friction, said_servo;

    TalusPool *pool;
    TalusProblem *problem;
    TalusSolver *solver;
    TalusOutside outside;

    TalusBodies bodies;
    TalusIdOrder id_order;   /* of the bodies at the last call of talus_mirror_upload */
    TalusShape *shape;       /* [shapes] */
    TalusGyration *gyration; /* [shapes]: inertia per unit mass; 0 for spheres and walls */
    int shapes;
    TalusMaterials materials;
    TalusSources sources;
    TalusJournal journal;
    TalusEmitCandidates candidates;
    TalusForces forces;
    TalusFilters filters;
    TalusUsers users;
    TalusDrive *drive; /* [drives]: motions of driven bodies, those of a body one after the other */
    int drives;
    TalusSleep sleep;
    TalusJoints joints;
    TalusRanks ranks;
    TalusWorldCell cell;
    TalusProbe *probe; /* [probes] */
    int probes;
    TalusProbeStaging probe_staging;

    /* J, energy exchanged since the last step: energy of added bodies, less that of removed bodies, plus changes by
     * talus_world_set_velocity, less the kinetic energy of bodies that fell asleep */
    double exchange_kinetic, exchange_potential;
    /* J: energy of compliant contacts and kinetic energy at the end of the last step or part; *_before: at the start of
     * the current step, for a rollback */
    double elastic, kinetic, elastic_before, kinetic_before;
    /* rough_first: true if the last part found missing contacts and took many iterations, so the next part begins with
     * a rough solve if its contacts are compliant (step.c). rough_first_before: rough_first at the start of the current
     * step, for a rollback */
    bool rough_first, rough_first_before;
    /* compliance of the last successful step; below 0: there was none, or no contact (compliance.c) */
    double last_compliance;
    TalusMasses masses; /* of the bodies when mass_created had been created and mass_living lived */
    uint64_t mass_created;
    int64_t mass_living;

    /* the current step */
    double part_time;     /* s: start of the current part of the step */
    double compliance;    /* of the step's contacts (talus_world_compliance) */
    double overlap_ratio; /* largest elastic overlap over its limit (compute_velocities) */
    /* true if the solve changed some velocity by more than talus_velocity_change_limit */
    bool velocities_changed;
    double min_size;       /* m: smallest size of a free body; infinite if there is none */
    int64_t contact_count; /* of the last detection or redetection */
    TalusBuildOptions build_options; /* options of the step's problem */
    double impulse_step; /* s: length of the part that gave the impulses; 0: no impulses */
    double penetration_mean, penetration_max; /* over size, of overlapping contacts */
    double *partial;                          /* sums by chunk of a parallel loop */
    TalusStepSnapshot snapshot;
    TalusOverlapSummary overlap; /* of the last successful step */
    unsigned char *solver_state; /* at the start of the step, for a rollback */
    size_t solver_state_size;    /* bytes; 0: the solver has no state */
    TalusStepInfo info;          /* of the current step; parts add to it */
};

/* True if all three components are finite. */
static inline bool talus_finite3(TalusVec3 a)
{
    return isfinite(a.x) && isfinite(a.y) && isfinite(a.z);
}

/* Returns the time of the world, s: steps times their length, because adding up steps would accumulate rounding. */
static inline double talus_time(const TalusWorld *world)
{
    return world->base_time + (double)(world->steps - world->base_steps) * world->def.step;
}

static inline bool talus_slot_is_sphere(const TalusWorld *world, int slot)
{
    return world->shape[world->bodies.shape[slot]].def.kind == TALUS_SHAPE_SPHERE;
}

/* Returns the inertia per unit mass of the shape of the body in `slot`; NULL for a sphere. */
static inline const TalusGyration *talus_slot_gyration(const TalusWorld *world, int slot)
{
    return talus_slot_is_sphere(world, slot) ? NULL : &world->gyration[world->bodies.shape[slot]];
}

/* True if the engine works on the world's own arrays, without upload or download. */
static inline bool talus_world_shares_arrays(const TalusWorld *world)
{
    return talus_engine_can(world->engine, TALUS_ENGINE_SHARED);
}

/* Refuses gravity that is too large or not finite, or none in a world without a reference speed. */
TalusStatus talus_world_check_gravity(TalusVec3 gravity, double reference_speed);
/* Refuses several ranks to what one rank alone can compute; for worlds being created and states being loaded. */
TalusStatus talus_world_check_ranks(const TalusWorldDef *def, const TalusComm *comm);

#endif

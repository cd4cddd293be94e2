/* world/state.h - all that a world holds. */
#ifndef TALUS_WORLD_STATE_H
#define TALUS_WORLD_STATE_H

#include "base/memory.h"
#include "base/pool.h"
#include "base/status.h"
#include "problem/build.h"
#include "world/bodies.h"
#include "world/drive.h"
#include "world/filter.h"
#include "world/force.h"
#include "world/joint/joint.h"
#include "world/material.h"
#include "world/probe.h"
#include "world/source/emit.h"
#include "world/source/journal.h"
#include "world/source/source.h"
#include "world/step/mirror.h"
#include "world/step/sleep.h"

/* Items per chunk of a parallel loop: fixed, so that sums by chunk never depend on the threads. */
enum { TALUS_GRAIN = 1024 };

/* Whether the engine has a snapshot of the state that the step found, and what goes with it. */
typedef struct TalusStepSnapshot {
    bool taken;
    double impulse_step;
} TalusStepSnapshot;

struct TalusWorld {
    TalusWorldDef def;
    char *solver_spec, *backend_name; /* def points at these */
    const TalusBackend *backend;
    TalusContext *context; /* of its backend; NULL on the host */
    TalusLog log;          /* without a function: the thread's */
    TalusEngineHandle on,
        host; /* where steps are taken; in the host's memory: the same one, or a mirror */
    TalusMirror mirror;
    double gravity_norm;
    double reference_speed;
    int64_t steps;
    /* Whole steps began last at grid_time, after grid_steps steps: at the end of a shortened one, or at 0. */
    double grid_time;
    int64_t grid_steps;
    int64_t missed_steps;
    int clipped;         /* of the last detection: TalusEngineCounts */
    bool start_reported; /* while a step is taken: contacts and penetration at its start */
    bool said_missed, said_infeasible;
    /* not saved: a run that is resumed may say these again */
    bool said_fallback, said_overlap, said_jammed, said_clipped;

    TalusPool *pool;
    TalusProblem *problem;
    TalusSolver *solver;

    TalusBodies bodies;
    TalusShape *shape;
    TalusGyration *gyration;
    int shapes;
    TalusMaterials materials;
    TalusSources sources;
    TalusJournal journal;
    TalusNursery nursery;
    TalusForces forces;
    TalusFilters filters;
    TalusDrive *drive; /* one at most for a slot, of bodies that are still there and others */
    int drives;
    TalusSleep sleep;
    TalusJoints joints;
    TalusProbe *probe;
    int probes;
    TalusProbeMail probe_mail;

    /* energy of bodies added less that of bodies removed since the last step */
    double exchange_kinetic, exchange_potential;

    /* the step under way */
    double part_time;        /* when its part under way began */
    bool velocities_changed; /* by the solve, so much that contacts may be missing */
    double least_size;       /* of the moving bodies */
    int contact_count;
    TalusBuildOptions built; /* of the step's problem */
    double impulse_step;     /* length of the step that made the contacts' impulses; 0: none */
    double penetration_mean, penetration_max; /* over size, of overlapping contacts */
    double *partial;                          /* sums by chunk */
    TalusStepSnapshot snapshot;
    unsigned char *solver_state; /* as the step found it */
    size_t solver_state_size;
    TalusStepInfo info;
};

static inline bool talus_finite3(TalusVec3 a)
{
    return isfinite(a.x) && isfinite(a.y) && isfinite(a.z);
}

/* A product does not drift as a sum would. */
static inline double talus_time(const TalusWorld *world)
{
    return world->grid_time + (double)(world->steps - world->grid_steps) * world->def.step;
}

static inline bool talus_slot_is_sphere(const TalusWorld *world, int slot)
{
    return world->shape[world->bodies.shape[slot]].def.kind == TALUS_SHAPE_SPHERE;
}

/* NULL for a sphere. */
static inline const TalusGyration *talus_slot_gyration(const TalusWorld *world, int slot)
{
    return talus_slot_is_sphere(world, slot) ? NULL : &world->gyration[world->bodies.shape[slot]];
}

/* Whether steps are taken on the world's own arrays: then nothing is uploaded or downloaded. */
static inline bool talus_world_is_shared(const TalusWorld *world)
{
    return talus_engine_can(world->on, TALUS_ENGINE_SHARED);
}

#endif

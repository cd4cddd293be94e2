/* world/internal.h - the world's data and the calls between the files of this folder.
 *
 * Body state is a structure of arrays over slots. A dead slot has shape -1 and is used again,
 * lowest first, with generation + 1. A sphere costs 146 bytes; other shapes cost no more, because
 * the inertia of a body is its mass times its shape's inertia per unit mass. */
#ifndef TALUS_WORLD_INTERNAL_H
#define TALUS_WORLD_INTERNAL_H

#include "base/memory.h"
#include "base/pool.h"
#include "base/rng.h"
#include "base/status.h"
#include "collide/contact.h"
#include "engine/body.h"
#include "engine/contact.h"
#include "engine/engine.h"
#include "problem/build.h"
#include "world/joint/joint.h"

#include <talus/world.h>

/* Items per chunk of a parallel loop: fixed, so that sums by chunk never depend on the threads. */
enum { TALUS_GRAIN = 1024, TALUS_PARTIALS = 8 };

typedef struct TalusBodyCounts {
    int slots;      /* in use so far, dead ones included */
    int living;     /* fixed ones included */
    int general;    /* living, moving, not spheres */
    int first_free; /* no dead slot lies below */
} TalusBodyCounts;

typedef struct TalusBodies {
    TalusBodyCounts counts;
    TalusVec3 *position, *velocity, *spin;
    TalusQuat *orientation;
    double *mass;   /* 0 for fixed bodies */
    double *radius; /* sphere radius; bounding radius of other shapes; 0 where unbounded */
    double *size;   /* sphere radius; smallest half extent; 0 for plane and revolve */
    int32_t *shape; /* -1 for a dead slot */
    int32_t *material, *tag;
    uint32_t *generation; /* 1 for the first body of a slot */
    uint8_t *fixed;       /* TALUS_MOTION_* */
    uint8_t *group;
} TalusBodies;

/* Bodies that settle (sleep.c); nothing unless def.sleep_speed is above 0. */
typedef struct TalusSleep {
    int slots;         /* that the arrays know */
    int32_t *calm;     /* steps that a body has been slow for */
    int32_t *island;   /* of sleeping bodies: what falls asleep together wakes together */
    uint8_t *restless; /* scratch, as is `jointed` */
    int (*jointed)[2];
    int asleep;
} TalusSleep;

/* Applied forces (force.c), by slot; of slots beyond `count` there are none. */
typedef struct TalusForces {
    TalusVec3 *force, *torque;
    int count;
} TalusForces;

/* A driven body (drive.c). */
typedef struct TalusDrive {
    TalusDriveDef def;
    int slot;
    TalusVec3 position; /* where the motion began */
    TalusQuat orientation;
    TalusVec3 next_position; /* at the end of the part of a step that is under way */
    TalusQuat next_orientation;
    TalusVec3 velocity_before, spin_before; /* for a step that fails */
} TalusDrive;

/* Which pairs do not meet (filter.c). */
typedef struct TalusFilters {
    uint32_t meets[TALUS_GROUPS];
    bool apart;              /* some groups do not meet */
    uint32_t (*excluded)[2]; /* pairs of slots, smaller one first, in order */
    int *times;              /* how often each is excluded */
    int count;
    TalusFilter view; /* as the detector is given it */
} TalusFilters;

typedef struct TalusMaterials {
    int count;
    TalusMaterialDef *def; /* [count], with names of their own */
    TalusLaw *law;         /* [count * count], symmetric */
    TalusPairDef *pair;    /* [count * count]: what was set for pairs */
    double max_friction;
    bool any_compliance, any_models, any_restitution, any_turning, any_cohesion;
} TalusMaterials;

typedef struct TalusEmitter {
    TalusEmitterDef def;
    int shape;
    /* Radii are drawn in order and wait until a free spot is found, so that a crowded region does
     * not favour small bodies. drawn - waiting bodies have been placed. */
    TalusRng rng;
    int64_t drawn;
    int waiting;
    double *radius; /* [waiting] */
    /* as above at the start of the step, for a step that fails */
    TalusRng rng_before;
    int64_t drawn_before;
    int waiting_before;
    double *radius_before;
} TalusEmitter;

/* A batch that waits for its time, with copies of its arrays. */
typedef struct TalusPending {
    double time;
    TalusBodyBatch batch;
    bool added; /* in the step now under way; dropped when that step succeeds */
} TalusPending;

typedef struct TalusSink {
    int axis;
    double below;
} TalusSink;

/* One change of a body slot by arrivals and sinks, to be taken back if the step fails. */
typedef struct TalusJournalEntry {
    int32_t slot;
    int32_t shape; /* before; -1: the body was added */
} TalusJournalEntry;

typedef struct TalusSources {
    TalusEmitter *emitter;
    int emitters;
    TalusPending *pending;
    int pendings;
    TalusSink *sink;
    int sinks;

    bool recording;
    TalusJournalEntry *journal;
    int journal_count;
    TalusBodyCounts counts_before;
    double kinetic_before, potential_before; /* of the exchange */
} TalusSources;

/* Bodies near an emitter and the spheres it would like to place (source.c). */
typedef struct TalusNursery {
    TalusDetector *detector;
    int near, count; /* the first `near` are there already, the rest are candidates */
    TalusVec3 *position, *velocity;
    TalusQuat *orientation;
    double *radius, *size;
    int32_t *shape;
    uint8_t *fixed, *taken;
    int placed;
    TalusVec3 *placed_position;
    double *placed_radius;
} TalusNursery;

typedef struct TalusProbe {
    char *name;
    TalusProbeDef def;
    TalusProbeValue value;
    TalusProbeValue next; /* of the step under way, force and torque still as impulses */
} TalusProbe;

/* Probes on their way to an engine and back; those of bodies that are gone stay at home. */
typedef struct TalusProbeMail {
    TalusEngineProbe *probe;
    TalusProbeSums *sums;
    int *index; /* of the probe in the world */
    int count;
} TalusProbeMail;

/* Where the engine does not share the host's memory, the arrays of the world's bodies and the contacts of the
 * host's engine are a mirror: either side may know more than the other, and mirror.c brings it across when it is
 * asked for. Nothing is ever behind otherwise. */
typedef struct TalusMirror {
    bool bodies_behind, contacts_behind; /* the engine has moved on */
    bool bodies_ahead, contacts_ahead;   /* the host has changes that the engine has not */
    bool tables_ahead;                   /* the same of shapes and materials, */
    bool forces_ahead, filters_ahead;    /*   of applied forces, and of which bodies meet */
    int slots_sent;
    bool any_forgotten;
    uint8_t *forgotten; /* by slot: contacts that lose their impulses with the next bodies sent */
    TalusContactList list; /* on its way to the host's engine */
    int32_t *few;          /* slots of driven bodies, and their states, on their way */
    TalusMotion *motion;
} TalusMirror;

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
    double (*partial)[TALUS_PARTIALS];
    TalusStepSnapshot snapshot;
    unsigned char *solver_state; /* as the step found it */
    size_t solver_state_size;
    TalusStepInfo info;
};

/* ---- bodies.c ---- */
static inline bool talus_slot_moves(const TalusBodies *bodies, int slot)
{
    return bodies->shape[slot] >= 0 && !bodies->fixed[slot];
}

static inline bool talus_slot_asleep(const TalusBodies *bodies, int slot)
{
    return bodies->shape[slot] >= 0 && bodies->fixed[slot] == TALUS_MOTION_ASLEEP;
}

/* Whether it moves by itself, now or when it wakes. */
static inline bool talus_slot_loose(const TalusBodies *bodies, int slot)
{
    return talus_slot_moves(bodies, slot) || talus_slot_asleep(bodies, slot);
}

static inline bool talus_slot_driven(const TalusBodies *bodies, int slot)
{
    return bodies->shape[slot] >= 0 && bodies->fixed[slot] == TALUS_MOTION_DRIVEN;
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

static inline TalusBodyId talus_slot_id(const TalusBodies *bodies, uint32_t slot)
{
    TalusBodyId id = {slot, bodies->generation[slot]};
    return id;
}

/* The arrays of TalusBodies as a table: grown, copied and saved by one loop each. */
typedef struct TalusBodyField {
    const char *name;
    size_t offset, element;
} TalusBodyField;

enum { TALUS_BODY_FIELDS = 13 };
extern const TalusBodyField talus_body_fields[TALUS_BODY_FIELDS];
void *talus_body_array(const TalusBodies *bodies, int field);

TalusStatus talus_bodies_reserve(TalusBodies *bodies, size_t slots);
void talus_bodies_clear(TalusBodies *bodies);
/* Whether the batch can be added to this world; the message says what is wrong. */
TalusStatus talus_batch_check(const TalusWorld *world, const TalusBodyBatch *batch);
/* Marks the slot dead and keeps its data, so that a journal can bring it back. */
void talus_slot_remove(TalusWorld *world, int slot);
/* The slot of a living body, or -1. */
int talus_slot_of(const TalusWorld *world, TalusBodyId id);
double talus_slot_kinetic(const TalusWorld *world, int slot);

TalusStatus talus_no_such_body(TalusBodyId id);

/* ---- force.c ---- */
TalusStatus talus_forces_reserve(TalusWorld *world, size_t slots);
TalusStatus talus_slot_push(TalusWorld *world, int slot, TalusVec3 force, TalusVec3 torque);
void talus_forces_clear(TalusWorld *world);

/* ---- filter.c ---- */
void talus_filters_init(TalusFilters *filters);
TalusStatus talus_pair_exclude(TalusWorld *world, int slot_a, int slot_b);
void talus_pair_include(TalusWorld *world, int slot_a, int slot_b);
/* Forgets all exclusions of a slot that another body takes. */
void talus_slot_include(TalusWorld *world, int slot);
/* NULL where all bodies meet. */
const TalusFilter *talus_filter_view(TalusWorld *world);
void talus_filters_clear(TalusFilters *filters);

/* ---- drive.c ---- */
/* Poses at the end of a part of length h that begins at part_time, and the velocities that lead there, into
 * the bodies. */
void talus_drives_aim(TalusWorld *world, double h);
void talus_drives_arrive(TalusWorld *world);
/* A step begins; it has failed. */
void talus_drives_begin(TalusWorld *world);
void talus_drives_undo(TalusWorld *world);
/* Forgets the drive of a slot that another body takes. */
void talus_slot_stop(TalusWorld *world, int slot);
/* What driven bodies did through joints. */
void talus_ledger_driven_joints(TalusWorld *world);
/* Takes a drive as it was saved. */
TalusStatus talus_drive_admit(TalusWorld *world, const TalusDrive *drive);

/* ---- sleep.c ---- */
TalusStatus talus_sleep_reserve(TalusWorld *world);
/* Wakes a body's island; all of them. */
void talus_slot_wake(TalusWorld *world, int slot);
void talus_wake_all(TalusWorld *world);
/* After a detection: wakes what is touched by bodies that are not calm; whether there was any. */
TalusStatus talus_sleep_disturb(TalusWorld *world, bool *woken);
/* At the end of a step. */
void talus_sleep_update(TalusWorld *world);
double talus_sleep_potential(const TalusWorld *world);
void talus_sleep_clear(TalusWorld *world);

/* ---- material.c ---- */
void talus_materials_clear(TalusMaterials *materials);
void talus_shapes_clear(TalusWorld *world);
/* Index of a sphere shape, added if there is none. */
TalusStatus talus_sphere_shape(TalusWorld *world, double radius, int *index);
TalusStatus talus_copy_text(const char *text, const char *what, char **out);

/* ---- source.c: arrivals and sinks, as one change that can be taken back ---- */
TalusStatus talus_sources_apply(TalusWorld *world);
void talus_sources_keep(TalusWorld *world);
void talus_sources_undo(TalusWorld *world);
void talus_sources_clear(TalusWorld *world);
void talus_pending_clear(TalusPending *pending);
/* Both do nothing unless a step is under way. Room is made before anything changes. */
TalusStatus talus_journal_reserve(TalusWorld *world, int entries);
void talus_journal_note(TalusWorld *world, int slot, int shape_before);

/* ---- emit.c ---- */
TalusStatus talus_emit(TalusWorld *world, TalusEmitter *emitter);
/* A random position in the emitter's box. */
TalusVec3 talus_emitter_spot(const TalusEmitterDef *def, TalusRng *rng);
void talus_nursery_clear(TalusNursery *nursery);

/* ---- arrival.c ---- */
/* At the end of a step that succeeded: tells of batches that arrived deep inside other bodies, once. */
void talus_arrivals_tell(TalusWorld *world);

/* ---- stages.c ---- */
/* Contacts for a part of a step of length h. */
TalusStatus talus_stage_detect(TalusWorld *world, double h);
/* The problem of these contacts; `soften` adds normal compliance to every contact. */
TalusStatus talus_stage_build(TalusWorld *world, double h, bool soften);
/* Takes the velocities of a solve. */
TalusStatus talus_stage_solved(TalusWorld *world, double h);
/* Whether the solve changed some velocity so much that detection missed a contact. */
TalusStatus talus_stage_missed(TalusWorld *world, double h, bool *missed);
/* Detects contacts again with the solved velocities; impulses are carried over. */
TalusStatus talus_stage_redetect(TalusWorld *world, double h);
/* Checks the velocities, then moves the world by h. Nothing has changed if it fails, but see step.c for joints. */
TalusStatus talus_stage_integrate(TalusWorld *world, double h);
TalusStatus talus_stage_snapshot(TalusWorld *world);
void talus_stage_rollback(TalusWorld *world);
TalusDetectOptions talus_detect_options(const TalusWorld *world, double h);
/* The change of a velocity from which contacts may be missing, m/s. */
double talus_change_limit(const TalusWorld *world, double h);
/* The bodies as a detector sees them, with these velocities by slot; `spin` may be NULL. */
TalusBodyView talus_world_view(TalusWorld *world, const TalusVec3 *velocity, const TalusVec3 *spin);

/* Whether steps are taken on the world's own arrays: then nothing is uploaded or downloaded. */
static inline bool talus_world_is_shared(const TalusWorld *world)
{
    return talus_engine_can(world->on, TALUS_ENGINE_SHARED);
}

/* ---- mirror.c: nothing to do where the engine shares the host's memory ---- */
/* Brings the host's bodies, or contacts, up to date. Functions that are const to their callers call
 * these as well: what the world holds does not change by being looked at. Those that cannot fail use
 * talus_world_see, which tells a failure as a warning; the next step meets it too. */
TalusStatus talus_world_look(const TalusWorld *world);
TalusStatus talus_world_look_contacts(const TalusWorld *world);
void talus_world_see(const TalusWorld *world, bool contacts);
/* To be called before the host's bodies change: brings them up to date and marks them as newer. */
TalusStatus talus_world_touch(TalusWorld *world);
/* Forgets the impulses of a body's contacts. */
void talus_world_forget(TalusWorld *world, int slot);
/* Gives the engine what the host has changed. */
TalusStatus talus_mirror_send(TalusWorld *world);
/* States of driven bodies, which are the host's to say, to the engine; and back where a step is taken back. */
TalusStatus talus_mirror_send_driven(TalusWorld *world);
TalusStatus talus_mirror_fetch_driven(TalusWorld *world);
/* The engine has changed bodies, or contacts. */
void talus_mirror_bodies_changed(TalusWorld *world);
void talus_mirror_contacts_changed(TalusWorld *world);
/* The contacts of the last step, once they have been looked at. */
TalusContactList *talus_world_contacts(const TalusWorld *world);
void talus_mirror_clear(TalusMirror *mirror);

/* ---- ledger.c ---- */
/* Sums the first `columns` columns over the partials of a loop of `count` items, chunk by chunk. */
void talus_sum_partials(const TalusWorld *world, int64_t count, int columns, double *sum);
void talus_ledger_close(TalusWorld *world);

/* ---- probe.c ---- */
void talus_probes_begin(TalusWorld *world);
/* Asks the engine before the bodies move, and has the answer after. */
TalusStatus talus_probes_ask(TalusWorld *world);
TalusStatus talus_probes_take(TalusWorld *world);
void talus_probes_close(TalusWorld *world, double h);
void talus_probes_clear(TalusWorld *world);
TalusStatus talus_probe_append(TalusWorld *world, const TalusProbeDef *def, int *index);
/* Arms of contact i: from each body's centre to its contact point, as the step used them. */

/* ---- save_motion.c, save_contacts.c ---- */
struct TalusArchive;
/* Groups, exclusions, applied forces, drives. */
void talus_archive_motion(struct TalusArchive *archive, TalusWorld *world);
void talus_archive_contacts(struct TalusArchive *archive, TalusWorld *world);
/* Shape `index`, which loading adds. */
void talus_archive_shape(struct TalusArchive *archive, TalusWorld *world, int index);

#endif

/* talus/world.h - bodies, materials and the time step.
 *
 * One step detects contacts, builds the contact problem, solves it and integrates. Bulk calls come first: one call
 * adds a million grains, one reads them back as arrays. Results are bitwise the same for any number of threads, run
 * to run, and after a save and load. */
#ifndef TALUS_WORLD_H
#define TALUS_WORLD_H

#include <talus/base.h>
#include <talus/math.h>
#include <talus/problem.h>
#include <talus/shape.h>
#include <talus/solver.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TalusWorld TalusWorld;

/* Bodies are numbered from 1 in order of creation, without reuse. 0: no body; in a joint, the fixed world. */
typedef struct TalusBodyId {
    uint64_t number;
} TalusBodyId;

typedef enum TalusMissPolicy {
    TALUS_MISS_CONTINUE, /* continue and warn; every step reports the residual that it reached */
    TALUS_MISS_STOP,     /* talus_world_step fails with TALUS_ERR_TOLERANCE, state unchanged */
    /* replace the step by two of half its length, at most four times over; not if bodies are wedged */
    TALUS_MISS_HALVE
} TalusMissPolicy;

typedef struct TalusWorldDef {
    uint32_t cookie; /* set by the functions below that make a def; catches a zeroed one */
    TalusVec3 gravity;
    double step;            /* h, seconds */
    double tolerance;       /* of the velocity residual, relative to the reference speed */
    double reference_speed; /* the reference speed is max(|gravity| h, this) */
    TalusNorm norm;         /* RMS or MAX */
    /* Budget of a step. With a tolerance, each of at most four solves after redetection has a quarter of it at least. */
    int max_iterations;
    const char *solver; /* NAME[:key=value,...], copied */
    TalusMissPolicy on_miss;
    /* Largest gap of a contact: this fraction of the smaller size, plus h times the sum of the closing and spinning
     * speeds of the pair, friction times its sliding speed and twice the reference speed. */
    double envelope;
    /* Largest speed at which overlap is undone, in units of sqrt(|gravity| size), size that of the smaller body, or of
     * the reference speed without gravity; 0: no limit. */
    double recovery;
    /* Compliance of contacts between materials without stiffness, over N_nn, the normal velocity that a unit impulse
     * gives them: a small normal impulse gamma holds an overlap of h compliance N_nn gamma, so a body at rest on one
     * contact sinks by compliance |gravity| h^2. 0: rigid. A contact that rebounds (restitution) is rigid in that
     * step. TALUS_COMPLIANCE_AUTO, the default: 0.01; below a tolerance of 1e-3 in proportion to it, 10 tolerance, so
     * that contacts are as stiff as steps are accurate; 0.01 with a tolerance of 0, which asks for a number of
     * iterations; 0 while the masses of free bodies differ by more than a factor of 1e6. Where bodies or tolerance
     * change, the value follows by at most 1 % per step (231 steps for a factor of ten), and a bed at rest stays so.
     * talus_world_compliance tells the value. */
    double compliance;
    /* Limit of the overlap that this compliance causes, over the smaller size: contacts harden with load. Above 0, at
     * most TALUS_ELASTIC_OVERLAP_MAX; 0.02 by default. No limit of other overlap: what a missed step leaves, and that of
     * materials with a stiffness. */
    double elastic_overlap;
    TalusFrictionModel friction; /* of pairs of materials without a model of their own */
    /* In units of |gravity| h: contacts that close more slowly do not rebound. */
    double restitution_threshold;
    /* Largest gap at which cohesion acts, as a fraction of the smaller size. */
    double cohesion_range;
    /* Axes along which the world repeats itself: what leaves on one side enters on the other. A period is longer
     * than four times the radius of every body, margins included. */
    TalusPeriod period;
    /* Joints are closed after each step (talus/joint.h); else they drift by (w h)^2/2 of their size per step. */
    bool projection;
    /* Bodies slower than this times the reference speed may sleep; 0 disables. */
    double sleep_speed;
    /* Steps after which a slow island falls asleep, until something disturbs it. Probes and contact lists omit contacts
     * between sleeping bodies. */
    int sleep_steps;
    /* "cpu" or another of talus_backend_row. One with its own memory keeps the world there; downloads on demand. */
    const char *backend;
    int threads; /* 0: one per processor */
} TalusWorldDef;

/* Largest component of gravity, m/s2: its square stays finite. */
#define TALUS_GRAVITY_MAX 1e100

#define TALUS_COMPLIANCE_AUTO (-1.0)       /* by the rule at TalusWorldDef.compliance */
#define TALUS_COMPLIANCE_AUTO_LARGEST 0.01 /* what that is at most */
/* Largest elastic_overlap, over the size: contacts of bodies that overlap by more are no longer reliable. */
#define TALUS_ELASTIC_OVERLAP_MAX 0.5

/* The default: Coulomb's law, TALUS_COMPLIANCE_AUTO, elastic_overlap 0.02. */
TalusWorldDef talus_world_def_default(void);
/* The default but for its contacts: rigid (compliance 0) under the convex relaxation (ccp), which opens those that
 * slide. */
TalusWorldDef talus_world_def_relaxed(void);
TalusStatus talus_world_create(const TalusWorldDef *def, TalusWorld **out);
void talus_world_destroy(TalusWorld *world);

/* Sets the log function of this world's steps, whichever thread steps it. NULL, the default: the log function of the
 * stepping thread (talus_set_log). Two threads may use two worlds at the same time. */
void talus_world_set_log(TalusWorld *world, TalusLogFn *fn, void *user);

/* Material 0 is the default, with friction 0.3. A pair of materials has the smaller friction, restitution, spinning,
 * rolling and cohesion of the two, unless set for the pair; stiffnesses and dampings act in series. */
typedef struct TalusMaterialDef {
    const char *name; /* copied; "" allowed */
    double friction;
    double density; /* kg/m3, for bodies that give neither mass nor density */
    /* Per contact, N/m and N s/m. Stiffness 0: none of its own, TalusWorldDef.compliance holds. */
    double stiffness, damping;
    /* Newton's coefficient, 0 to 1, of contacts without material stiffness; those with one rebound by their spring. */
    double restitution;
    /* Bounds of the moments about the normal and about the tangents, over L times the normal force. L is the size of
     * the round body (a sphere's radius), r_a r_b / (r_a + r_b) of two round bodies, else the smaller size. */
    double spinning, rolling;
    double cohesion; /* N: largest pull that a closed contact bears */
} TalusMaterialDef;

TalusMaterialDef talus_material_def_default(void);
TalusStatus talus_world_add_material(TalusWorld *world, const TalusMaterialDef *def, int *index);

/* Properties of a pair of materials. A number below 0: the rule of TalusMaterialDef holds. */
typedef struct TalusPairDef {
    uint32_t cookie;
    double friction, restitution, spinning, rolling, cohesion;
    bool own_model; /* use `model` instead of the world's */
    TalusFrictionModel model;
} TalusPairDef;

TalusPairDef talus_pair_def_default(void);
/* Sets all properties of a pair, or its friction alone. */
TalusStatus talus_world_set_pair(TalusWorld *world, int material_a, int material_b,
                                 const TalusPairDef *def);
TalusStatus talus_world_set_friction(TalusWorld *world, int material_a, int material_b, double mu);

TalusStatus talus_world_add_shape(TalusWorld *world, const TalusShapeDef *def, int *index);

/* A batch of bodies. Arrays with a default may be NULL. */
typedef struct TalusBodyBatch {
    uint32_t cookie;
    int count;
    int shape; /* index from talus_world_add_shape */
    int material;
    bool fixed;                   /* cannot move; required for plane, revolve, mesh and field */
    const TalusVec3 *position;    /* required */
    const TalusQuat *orientation; /* default identity */
    const TalusVec3 *velocity;    /* default 0 */
    const TalusVec3 *spin;        /* angular velocity, world frame, default 0 */
    const double *radius;         /* of spheres; default the shape's */
    double density;               /* 0: the material's */
    double mass;                  /* > 0: kg, overrides density and scales the inertia */
    int tag;                      /* the user's number, stored and written out */
    int group;                    /* 0 to 31, for talus_world_set_groups */
    TalusVec3 force, torque;      /* N and N m on each body, world frame, until set again */
} TalusBodyBatch;

TalusBodyBatch talus_body_batch_default(void);
/* `ids` may be NULL. */
TalusStatus talus_world_add_bodies(TalusWorld *world, const TalusBodyBatch *batch,
                                   TalusBodyId *ids);
TalusStatus talus_world_remove_body(TalusWorld *world, TalusBodyId id);

/* Sets the force through the centre and the torque, world frame; both act until set again. */
TalusStatus talus_world_set_force(TalusWorld *world, TalusBodyId id, TalusVec3 force,
                                  TalusVec3 torque);

/* Sets whether bodies of two groups, or of one group, collide; by default all do. */
enum { TALUS_GROUPS = 32 };
TalusStatus talus_world_set_groups(TalusWorld *world, int group_a, int group_b, bool meet);
/* Excludes or includes collisions of two bodies. Exclusions are counted: as many inclusions undo them. */
TalusStatus talus_world_exclude(TalusWorld *world, TalusBodyId a, TalusBodyId b);
TalusStatus talus_world_include(TalusWorld *world, TalusBodyId a, TalusBodyId b);

/* Prescribed motion of a fixed body, whatever the body meets. For t between start and stop, with s = t - start,
 *     shift(s) = velocity s + amplitude (sin 2 pi (frequency s + phase) - sin 2 pi phase)
 *     x(t) = point + shift(s) + R (x0 - point),    e(t) = R e0,    R = rotation by spin s
 * Poses follow these formulas and do not drift. Contacts see the mean velocity over a step. */
typedef struct TalusDriveDef {
    uint32_t cookie;
    TalusVec3 velocity;  /* m/s */
    TalusVec3 amplitude; /* m */
    double frequency;    /* 1/s */
    double phase;        /* turns */
    TalusVec3 spin;      /* rad/s */
    bool own_axis;       /* the axis passes through `point` at the start; else through the centre */
    TalusVec3 point;
    double start, stop; /* s */
} TalusDriveDef;

TalusDriveDef talus_drive_def_default(void);
/* Starts the motion at the body's present pose; NULL makes the body fixed again. Planes cannot rotate. */
TalusStatus talus_world_set_drive(TalusWorld *world, TalusBodyId id, const TalusDriveDef *def);

/* Source of bodies during the run. Each emission places as many spheres as the rate demands at random free locations
 * of the box [lo, hi]. Spheres for which no location is free wait for a later emission, so nothing overlaps. */
typedef struct TalusEmitterDef {
    uint32_t cookie;
    TalusVec3 lo, hi;
    double rate; /* bodies per second */
    double start;
    int64_t count;                 /* in all */
    double radius_min, radius_max; /* uniform between */
    TalusVec3 velocity;
    int material;
    double density;
    uint64_t seed;
    int tag, group;
} TalusEmitterDef;

TalusEmitterDef talus_emitter_def_default(void);
TalusStatus talus_world_add_emitter(TalusWorld *world, const TalusEmitterDef *def);

/* Copies the batch now and adds it at the first step that starts at or after `time`. */
TalusStatus talus_world_add_bodies_at(TalusWorld *world, double time, const TalusBodyBatch *batch);

/* Removes bodies whose centre passes below `below` along the coordinate `axis` (0, 1 or 2). */
TalusStatus talus_world_add_sink(TalusWorld *world, int axis, double below);

/* Probes sum over the contacts of one step. */
typedef enum TalusProbeKind { TALUS_PROBE_BODY, TALUS_PROBE_REGION } TalusProbeKind;

typedef struct TalusProbeDef {
    const char *name; /* copied */
    TalusProbeKind kind;
    TalusBodyId body; /* PROBE_BODY: contact force on this body, moving or fixed (a wall) */
    TalusVec3 lo, hi; /* PROBE_REGION: moving bodies whose centres lie in the box */
} TalusProbeDef;

typedef struct TalusProbeValue {
    TalusVec3 force;  /* N: net contact force on the body, or from outside on the region's bodies */
    TalusVec3 torque; /* N m: about the body's centre, or the region's middle */
    int contacts;     /* contacts with an impulse: of the body, or across the region's border */
    int bodies;       /* in the region; 1 for a body */
    double mass;
    TalusVec3 momentum;
} TalusProbeValue;

TalusStatus talus_world_add_probe(TalusWorld *world, const TalusProbeDef *def, int *index);
int talus_world_probe_count(const TalusWorld *world);
const char *talus_world_probe_name(const TalusWorld *world, int index);
TalusProbeValue talus_world_probe_value(const TalusWorld *world, int index);

/* Energy ledger of one step, joule: kinetic_change + potential_change + elastic_change is the sum of the columns from
 * `friction` to `exchange`, plus `imbalance`. */
typedef struct TalusLedger {
    double kinetic, potential; /* at the end of the step */
    double elastic; /* in overlaps of compliant contacts of awake bodies, at the end of the step */
    double kinetic_change, potential_change, elastic_change;
    double friction; /* work of tangential impulses and of moments, <= 0 up to the solver's error */
    double
        impact; /* work of normal impulses, plus the elastic energy they store, less `stabilisation` */
    /* work of undoing the overlap of rigid contacts, and that of compliant ones which no load explains */
    double stabilisation;
    /* Elastic energy at the start of the step less that at the end of the last one: contacts have become stiffer or
     * softer, have come or gone, or overlap otherwise than the last step's linear motion said. */
    double stiffening;
    double cohesion;      /* work of attractive impulses */
    double gravity_error; /* error of the first-order scheme in gravity and applied forces */
    double spin;          /* change of rotational energy by torque-free rotation, not of spheres */
    double joints;        /* work of joints, their limits, motors and springs */
    double driven;        /* work that driven bodies do on others */
    double applied;       /* work of applied forces and torques */
    double projection;    /* work of the position projection of joints */
    double exchange;      /* bodies added or removed, or wrapped around a period against gravity */
    double imbalance;     /* changes minus sum; rounding only */
} TalusLedger;

/* Overlaps over size of the contacts that bear load, in the last part of a halved step: contacts of the step's problem
 * with a normal impulse above 0, and their overlap at the start of the step, 0 where the bodies were apart. Size: of
 * the smaller body, or of the free one (TalusOverlap). */
typedef struct TalusOverlapSummary {
    int loaded;       /* number of these contacts */
    double mean, max; /* 0 without such contacts */
    double p99;       /* one in a hundred overlaps more; at most 1/16 above the exact value */
    /* Stiffness number: 1 over the mean of overlap over diameter, 2/mean; infinite where nothing overlaps. */
    double kappa;
} TalusOverlapSummary;

typedef struct TalusStepInfo {
    int64_t step; /* steps completed */
    double time;
    double length; /* s: of the whole step if halved, the actual length if shortened */
    int bodies, contacts;
    /* All solves of the step. Costs are summed, including parts that were repeated in halves; memory, residuals and
     * outcome are the worst of the parts. */
    TalusSolveInfo solve;
    double reference_speed;
    double tolerance; /* of this step's residual, m/s */
    bool missed;      /* the tolerance was not reached */
    int halvings;
    /* Machines (bodies connected by joints) whose joints no impulse could close; they lost energy
     * (docs/how-to/joints.md). */
    int projection_fallbacks;
    /* Bodies that move so far in a period, even in a sixteenth of the step, that contacts may have been missed. */
    int clipped;
    /* Overlap over size, mean and maximum of the overlapping contacts at the start. */
    double penetration_mean, penetration_max;
    TalusOverlapSummary overlap; /* of the contacts that bear load */
    int asleep;                  /* sleeping bodies */
    double sleep_speed; /* m/s: slower motion is neglected where bodies sleep; 0 if none sleeps */
    TalusLedger ledger;
    double detect_seconds, build_seconds, solve_seconds, integrate_seconds;
} TalusStepInfo;

/* Makes one step; `info` may be NULL. On failure the state is as before the step. */
TalusStatus talus_world_step(TalusWorld *world, TalusStepInfo *info);
/* Makes one step towards the future `time`. A step is shortened where whole steps would pass `time` by more than
 * 1e-6 of a step: the last step then ends at `time` exactly, and if it would be shorter than half a step, the last
 * two are made equal. Later steps are whole again. */
TalusStatus talus_world_step_to(TalusWorld *world, double time, TalusStepInfo *info);
/* Length of that step, s; 0 if `time` is reached, within 2e-6 of a step. */
double talus_world_next_length(const TalusWorld *world, double time);

/* Detects and builds the problem of the next step, owned by the world and valid until the world changes. */
TalusStatus talus_world_build(TalusWorld *world, TalusProblem **problem);

/* Sets the def's tolerance and max_iterations from the next step on. TALUS_COMPLIANCE_AUTO follows gradually. */
TalusStatus talus_world_set_accuracy(TalusWorld *world, double tolerance, int max_iterations);

double talus_world_time(const TalusWorld *world);
int64_t talus_world_steps(const TalusWorld *world);
double talus_world_step_length(const TalusWorld *world);
/* The model of pairs of materials without one of their own. */
TalusFrictionModel talus_world_friction(const TalusWorld *world);
/* TalusWorldDef.compliance; of TALUS_COMPLIANCE_AUTO, the value in the next step. */
double talus_world_compliance(const TalusWorld *world);
int talus_world_body_count(const TalusWorld *world); /* living bodies, fixed ones included */
int talus_world_threads(const TalusWorld *world);
const char *talus_world_backend(const TalusWorld *world); /* owned by the world */
TalusVec3 talus_world_gravity(const TalusWorld *world);
TalusPeriod talus_world_period(const TalusWorld *world);

/* State as arrays over living bodies; any may be NULL. The order is fixed until a body is added or removed. */
typedef struct TalusBodyState {
    TalusBodyId *id;
    TalusVec3 *position, *velocity, *spin;
    TalusQuat *orientation;
    double *radius; /* sphere radius; bounding radius of other shapes; 0 for unbounded ones */
    double *mass;   /* 0 for fixed bodies */
    int *shape, *material, *tag;
    bool *fixed; /* driven bodies included */
} TalusBodyState;

void talus_world_get_state(const TalusWorld *world, TalusBodyState *state);
TalusStatus talus_world_set_velocity(TalusWorld *world, TalusBodyId id, TalusVec3 velocity,
                                     TalusVec3 spin);

/* A contact of the last step. */
typedef struct TalusContactState {
    TalusBodyId a, b;
    TalusVec3 point, normal;
    TalusVec3 impulse; /* on b, world frame, N s */
    double gap;
} TalusContactState;

/* Write at most `count` contacts and return how many there are: all, or those whose normal impulse exceeds `least`. */
int talus_world_get_contacts(const TalusWorld *world, TalusContactState *out, int count);
int talus_world_get_strong_contacts(const TalusWorld *world, double least, TalusContactState *out,
                                    int count);

/* The deepest overlap of two bodies in the present state. A run that starts with deep overlaps, or with bodies
 * beyond a wall, throws bodies apart; scenes refuse such a start. */
typedef struct TalusOverlap {
    TalusBodyId a, b; /* a moves */
    double depth;     /* m; 0: no two bodies overlap */
    /* m: size of the smaller body, or of a if b is fixed; radius of a sphere, smallest half width of other shapes. */
    double size;
    int pairs; /* number of overlapping pairs */
} TalusOverlap;

/* Finds the pair with the largest depth / size, at most at the cost of one detection; the world does not change. */
TalusStatus talus_world_worst_overlap(const TalusWorld *world, TalusOverlap *out);

/* Returns the summary of the last step that this world object has made; before the first one all figures are 0. */
TalusOverlapSummary talus_world_get_overlap(const TalusWorld *world);

/* Summary of the normal forces of the last step. */
typedef struct TalusForceSummary {
    double length;       /* s: of the step that the impulses belong to; force is impulse / length */
    int contacts;        /* between bodies that still exist */
    int loaded;          /* of these, with a normal impulse above 0 */
    double mean_impulse; /* N s: mean normal impulse of the loaded contacts */
} TalusForceSummary;

/* Sums `force` (N) and `touching` (number of loaded contacts) over the contacts of each living body, in the order of
 * talus_world_get_state; either may be NULL. */
TalusStatus talus_world_get_forces(const TalusWorld *world, double *force, int *touching,
                                   TalusForceSummary *summary);

/* Shapes and materials, for writers and viewers. The world owns profiles and names. */
int talus_world_shape_count(const TalusWorld *world);
TalusShapeDef talus_world_shape(const TalusWorld *world, int index);
int talus_world_material_count(const TalusWorld *world);
TalusMaterialDef talus_world_material(const TalusWorld *world, int index);

/* Saves the whole state as bytes, which the caller frees with talus_free. */
TalusStatus talus_world_save(const TalusWorld *world, void **bytes, size_t *size);
/* Loads a saved world. `backend` NULL: the one it was saved on, where later steps have the same bits; on another
 * backend they meet the same tolerances. */
TalusStatus talus_world_load(const void *bytes, size_t size, int threads, const char *backend,
                             TalusWorld **out);
void talus_free(void *bytes);

/* Hash of the dynamic state (positions, orientations, velocities of living bodies, time). */
uint64_t talus_world_hash(const TalusWorld *world);

#ifdef __cplusplus
}
#endif

#endif

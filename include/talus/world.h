/* talus/world.h - bodies, materials and the time step.
 *
 * One step detects contacts, builds the contact problem, solves it and integrates. Bulk calls come first: one call
 * adds a million grains, one reads them back as arrays. Results are bitwise the same for any number of threads, run
 * to run, and after a save and load. */
#ifndef TALUS_WORLD_H
#define TALUS_WORLD_H

#include <talus/base.h>
#include <talus/comm.h>
#include <talus/math.h>
#include <talus/problem.h>
#include <talus/shape.h>
#include <talus/sizes.h>
#include <talus/solver.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TalusWorld TalusWorld;

/* Bodies are numbered from 1 in order of creation, without reuse. 0: no body; in a joint, the fixed world. */
typedef struct TalusBodyId {
    uint64_t number;
} TalusBodyId;

/* What a step does whose solve misses the tolerance. */
typedef enum TalusMissPolicy {
    TALUS_MISS_CONTINUE, /* continue and warn once; every step reports the residual that it reached */
    TALUS_MISS_STOP,     /* talus_world_step fails with TALUS_ERR_TOLERANCE, state unchanged */
    /* replace the step by two steps of half its length, each of which may be halved again, down to a sixteenth; there,
     * and if bodies are wedged, continue */
    TALUS_MISS_HALVE
} TalusMissPolicy;

/* How a periodic cell deforms: all images move with a velocity gradient. */
typedef struct TalusCellDef {
    bool on;
    TalusGradient rate; /* 1/s; 0 along axes whose pressure is controlled */
    bool control[3];    /* along x, y, z: the rate follows the pressure, and `rate` is 0 */
    double pressure
        [3]; /* Pa: mean over a step of contact and kinetic pressure, to be reached and kept */
} TalusCellDef;

/* How contacts with restitution rebound when several close in one step. */
typedef enum TalusImpactLaw {
    /* all at once, in the problem of the step: each by Newton's law from its own approach speed. Exact for impacts that
     * share no body within a step */
    TALUS_IMPACTS_SIMULTANEOUS,
    /* before the problem of the step, one after the other: the closing contacts are compressed without restitution,
     * their impulses are returned times it, and what closes thereby follows. Never adds energy. Not with joints or
     * cells that deform, on several ranks or on devices */
    TALUS_IMPACTS_PROPAGATING
} TalusImpactLaw;

typedef struct TalusWorldDef {
    uint32_t cookie;   /* set by talus_world_def_default and _relaxed, not in a zeroed struct */
    TalusVec3 gravity; /* m/s2 */
    double step;       /* h, seconds */
    double tolerance;  /* of the residual, over the reference speed; 0: use the whole budget */
    double reference_speed; /* m/s; the reference speed is max(|gravity| h, this), above 0 */
    TalusNorm norm;         /* RMS or MAX */
    /* Budget of iterations of a step, or of each part of a halved step. If the tolerance is above 0, each of the solves
     * after redetection, at most four, gets at least a quarter of this number. A solve for wedged bodies gets the whole
     * number again. */
    int max_iterations;
    const char *solver; /* NAME[:key=value,...], copied */
    TalusMissPolicy on_miss;
    /* Largest gap of a contact: this fraction of the smaller size (cohesion_range if that is larger and some materials
     * cohere), plus h times the sum of the closing and spinning speeds of the pair, friction (at most 1) times its
     * sliding speed and twice the reference speed. */
    double envelope;
    /* Largest speed at which overlap is undone, in units of sqrt(|gravity| size), size that of the smaller body, or of
     * the reference speed without gravity; 0: no limit. */
    double recovery;
    /* Compliance of contacts between materials without stiffness, over N_nn, the normal velocity that a unit impulse
     * gives the contact. A small normal impulse gamma causes an overlap of h compliance N_nn gamma, so a body at rest
     * on one contact sinks by compliance |gravity| h^2. 0: rigid. A contact that rebounds (restitution) is rigid in
     * that step. TALUS_COMPLIANCE_AUTO, the default: 0.01; below a tolerance of 1e-3 in proportion to it, 10 tolerance,
     * so that contacts are as stiff as steps are accurate; 0.01 with a tolerance of 0, which asks for a number of
     * iterations; 0 while the masses of free and sleeping bodies differ by more than a factor of 1e6. Where bodies or
     * tolerance change, the value follows by at most 1 % per step (232 steps for a factor of ten), so that a bed at
     * rest is not thrown up, and no body sleeps meanwhile. It changes at once after a step without contacts, and where
     * it is at most 1e-4 times the least over the largest mass. talus_world_compliance tells the value. */
    double compliance;
    /* Limit of the overlap that `compliance` causes, over the smaller size: contacts harden as their overlap approaches
     * it. Above 0, at most TALUS_ELASTIC_OVERLAP_MAX; 0.02 by default. Overlap that a missed step leaves and overlap of
     * materials with a stiffness are not limited. */
    double elastic_overlap;
    TalusFrictionModel friction; /* of pairs of materials without a model of their own */
    /* Speed in units of |gravity| h: contacts that close more slowly do not rebound. */
    double restitution_threshold;
    TalusImpactLaw impacts;
    /* Largest gap at which cohesion acts, as a fraction of the smaller size. */
    double cohesion_range;
    /* Axes along which space repeats itself: a body that leaves on one side enters on the other. A period must be
     * longer than four times the radius of every body, margins included. */
    TalusPeriod period;
    /* The periods form a cell that deforms. It has free bodies alone, without joints, sleep and gravity, on backend cpu. */
    TalusCellDef cell;
    /* True: joints are closed after each step (talus/joint.h). False: joints drift by (w h)^2/2 of their size per step,
     * w being the spin. */
    bool projection;
    /* The energy that contacts dissipate is summed body by body (TalusBodyState.dissipated). With simultaneous impacts, on
     * backend cpu. */
    bool dissipation;
    /* Bodies whose |velocity| + radius |spin| is below this times the reference speed may sleep; 0 disables. */
    double sleep_speed;
    /* Steps after which a slow island without joints falls asleep, until something disturbs it. Probes and contact
     * lists omit contacts between sleeping bodies. */
    int sleep_steps;
    /* "cpu" or another name of talus_backend_row. A backend with memory of its own keeps the world there, and results
     * are downloaded on demand. */
    const char *backend;
    int threads; /* 0: one per processor */
    /* Ranks that make the world together (talus/comm.h), each with a part of its bodies; NULL: this process alone. A
     * backend with memory of its own then has the solvers that work by products alone. A call that names a body acts where
     * the body is, and every rank gets the same status and the same answer. Queries give every rank the bodies and contacts
     * of all. */
    TalusComm *comm;
} TalusWorldDef;

/* Largest component of gravity, m/s2: its square stays finite. */
#define TALUS_GRAVITY_MAX 1e100

#define TALUS_COMPLIANCE_AUTO (-1.0)       /* by the rule at TalusWorldDef.compliance */
#define TALUS_COMPLIANCE_AUTO_LARGEST 0.01 /* largest compliance by that rule */
/* Largest elastic_overlap, over the size: contacts of bodies that overlap by more are no longer reliable. */
#define TALUS_ELASTIC_OVERLAP_MAX 0.5

/* The default: Coulomb's law, TALUS_COMPLIANCE_AUTO, elastic_overlap 0.02. */
TALUS_API TalusWorldDef talus_world_def_default(void);
/* As talus_world_def_default, but with rigid contacts (compliance 0) and the convex relaxation (ccp), which opens
 * sliding contacts. */
TALUS_API TalusWorldDef talus_world_def_relaxed(void);
/* Creates a world with the default material; *out is NULL on failure. NULL may be destroyed. */
TALUS_API TalusStatus talus_world_create(const TalusWorldDef *def, TalusWorld **out);
TALUS_API void talus_world_destroy(TalusWorld *world);

/* Sets the log function of this world's steps, whichever thread steps it. NULL, the default: the log function of the
 * stepping thread (talus_set_log). Two threads may use two worlds at the same time. */
TALUS_API void talus_world_set_log(TalusWorld *world, TalusLogFn *fn, void *user);

/* Material 0 is the default, with friction 0.3. A pair of materials has the smaller friction, restitution, spinning,
 * rolling and cohesion of the two, unless set for the pair; stiffnesses and dampings act in series. */
typedef struct TalusMaterialDef {
    const char *name; /* copied; "" allowed */
    double friction;
    double density; /* kg/m3, for bodies that give neither mass nor density */
    /* Stiffness and damping of a contact, N/m and N s/m. Stiffness 0: TalusWorldDef.compliance applies. */
    double stiffness, damping;
    /* Newton's coefficient, 0 to 1, for contacts without stiffness; contacts with stiffness rebound by their spring. */
    double restitution;
    /* Bounds of the moments about the normal and about the tangents, over L times the normal force. L is the size of
     * the round body (a sphere's radius), r_a r_b / (r_a + r_b) of two round bodies, else the smaller size. */
    double spinning, rolling;
    double cohesion; /* N: largest pull that a closed contact bears */
} TalusMaterialDef;

TALUS_API TalusMaterialDef talus_material_def_default(void);
/* Adds a material; `index` may be NULL. */
TALUS_API TalusStatus talus_world_add_material(TalusWorld *world, const TalusMaterialDef *def,
                                               int *index);

/* Properties of a pair of materials. A number below 0: the property follows from the two materials
 * (TalusMaterialDef). */
typedef struct TalusPairDef {
    uint32_t cookie;
    double friction, restitution, spinning, rolling, cohesion;
    bool own_model; /* use `model` instead of the world's */
    TalusFrictionModel model;
} TalusPairDef;

TALUS_API TalusPairDef talus_pair_def_default(void);
/* Sets all properties of a pair, or its friction alone. */
TALUS_API TalusStatus talus_world_set_pair(TalusWorld *world, int material_a, int material_b,
                                           const TalusPairDef *def);
TALUS_API TalusStatus talus_world_set_friction(TalusWorld *world, int material_a, int material_b,
                                               double mu);

/* Adds a shape, with copies of the def's arrays; `index` may be NULL. */
TALUS_API TalusStatus talus_world_add_shape(TalusWorld *world, const TalusShapeDef *def,
                                            int *index);

/* A batch of bodies. Arrays with a default may be NULL. */
typedef struct TalusBodyBatch {
    uint32_t cookie;
    int count;
    int shape; /* index from talus_world_add_shape */
    int material;
    bool fixed;                   /* cannot move; required for plane, revolve, mesh and field */
    const TalusVec3 *position;    /* required */
    const TalusQuat *orientation; /* default identity */
    const TalusVec3 *velocity;    /* default 0; in a cell that deforms relative to its flow */
    const TalusVec3 *spin;        /* angular velocity, world frame, default 0 */
    const double *radius;         /* of spheres; default the shape's */
    double density;               /* 0: the material's */
    double mass;                  /* > 0: kg, overrides density and scales the inertia */
    int tag;                      /* the user's number, stored and written out */
    int group;                    /* 0 to 31, for talus_world_set_groups */
    int copy; /* 0 to TALUS_COPIES - 1: copy of a scene that the bodies belong to; bodies of different copies
               * never collide */
    TalusVec3 force, torque; /* N and N m on each body, world frame, until set again */
} TalusBodyBatch;

TALUS_API TalusBodyBatch talus_body_batch_default(void);
/* Adds the bodies of the batch and writes their ids to ids[count], unless `ids` is NULL. Adds all bodies or, on
 * failure, none. Fixed bodies get velocity 0. */
TALUS_API TalusStatus talus_world_add_bodies(TalusWorld *world, const TalusBodyBatch *batch,
                                             TalusBodyId *ids);
/* Removes a body with its joints and wakes all sleeping bodies. */
TALUS_API TalusStatus talus_world_remove_body(TalusWorld *world, TalusBodyId id);

/* Sets the force, N, through the centre of a free or sleeping body, and the torque, N m, in the world frame; both act
 * until set again. Wakes the body's island. */
TALUS_API TalusStatus talus_world_set_force(TalusWorld *world, TalusBodyId id, TalusVec3 force,
                                            TalusVec3 torque);

/* Sets whether bodies of two groups, or of one group, collide (`meet`); by default all do. */
enum { TALUS_GROUPS = 32, TALUS_COPIES = 2048 };
TALUS_API TalusStatus talus_world_set_groups(TalusWorld *world, int group_a, int group_b,
                                             bool meet);
/* Moves a body to another group, and wakes its island. */
TALUS_API TalusStatus talus_world_set_group(TalusWorld *world, TalusBodyId id, int group);
/* talus_world_exclude excludes two bodies from collision; talus_world_include undoes one exclusion. Exclusions are
 * counted: the bodies collide again after as many inclusions as exclusions. */
TALUS_API TalusStatus talus_world_exclude(TalusWorld *world, TalusBodyId a, TalusBodyId b);
TALUS_API TalusStatus talus_world_include(TalusWorld *world, TalusBodyId a, TalusBodyId b);

/* Prescribed motion of a fixed body, whatever the body meets. For t between start and stop, with s = t - start,
 *     shift(s) = velocity s + acceleration s^2/2 + amplitude (sin 2 pi (frequency s + phase) - sin 2 pi phase)
 *     x(t) = point + shift(s) + R (x0 - point),    e(t) = R e0,    R = rotation by spin s + spin_acceleration s^2/2
 * Of several motions of a body each moves the pose x0, e0 that the ones before it give; without own_axis `point` is that
 * x0. Poses follow these formulas and do not drift. Contacts see the mean velocity over a step. */
typedef struct TalusDriveDef {
    uint32_t cookie;
    TalusVec3 velocity;          /* m/s */
    TalusVec3 acceleration;      /* m/s2 */
    TalusVec3 amplitude;         /* m */
    double frequency;            /* 1/s */
    double phase;                /* turns */
    TalusVec3 spin;              /* rad/s */
    TalusVec3 spin_acceleration; /* rad/s2, parallel to spin unless one of them is 0 */
    bool own_axis;      /* the axis passes through `point` at the start; else through the centre */
    TalusVec3 point;    /* m, world frame; used if own_axis, else the body's centre */
    double start, stop; /* s */
} TalusDriveDef;

TALUS_API TalusDriveDef talus_drive_def_default(void);
/* Replaces the motion of a fixed or driven body by one from its present pose (x0, e0); NULL makes the body fixed.
 * Planes cannot rotate. If memory is lacking, the call fails and the body is fixed. */
TALUS_API TalusStatus talus_world_set_drive(TalusWorld *world, TalusBodyId id,
                                            const TalusDriveDef *def);
/* Adds a motion behind those of a driven body, from the pose (x0, e0) of the first; of a fixed body it is the first. */
TALUS_API TalusStatus talus_world_add_drive(TalusWorld *world, TalusBodyId id,
                                            const TalusDriveDef *def);

/* Source of spheres during the run. At the start of each step from `start` on it places as many spheres as the rate
 * demands, with centres at random free locations of the box [lo, hi]. Spheres for which no location is free wait for a
 * later step, so nothing overlaps. */
typedef struct TalusEmitterDef {
    uint32_t cookie;
    TalusVec3 lo, hi;
    double rate;                   /* bodies per second */
    double start;                  /* s */
    int64_t count;                 /* in all */
    double radius_min, radius_max; /* m: uniform between; ignored with `sizes` */
    const TalusSizeDef *sizes;     /* of the radii, m; copied; NULL: uniform by number */
    TalusVec3 velocity;            /* m/s: of the new spheres, as TalusBodyBatch.velocity */
    int material;
    double density;       /* kg/m3; 0: the material's */
    uint64_t seed;        /* of radii and locations */
    int tag, group, copy; /* as in TalusBodyBatch */
} TalusEmitterDef;

TALUS_API TalusEmitterDef talus_emitter_def_default(void);
TALUS_API TalusStatus talus_world_add_emitter(TalusWorld *world, const TalusEmitterDef *def);

/* Copies the batch now and adds it at the first step that starts at or after `time`. */
TALUS_API TalusStatus talus_world_add_bodies_at(TalusWorld *world, double time,
                                                const TalusBodyBatch *batch);

/* Adds a sink: at the start of each step, free bodies (not fixed, driven or sleeping ones) are removed whose centre has
 * a coordinate along `axis` (0, 1 or 2) below `below`, m. A body below several sinks is taken by the first of them. The
 * second one also names the sink; the name is copied. Without one it is "sink" and the sink's number, from 0. */
TALUS_API TalusStatus talus_world_add_sink(TalusWorld *world, int axis, double below);
TALUS_API TalusStatus talus_world_add_named_sink(TalusWorld *world, const char *name, int axis,
                                                 double below);

/* Bodies that went through a plane or into a sink. The mass of several bodies is rounded once in a step, and does not
 * depend on their order. */
typedef struct TalusFlow {
    int64_t bodies;       /* in the last step; of a plane along its normal less those against it */
    double mass;          /* kg: of these bodies */
    int64_t total_bodies; /* since plane or sink was added */
    double total_mass;    /* kg */
} TalusFlow;

TALUS_API int talus_world_sink_count(const TalusWorld *world);
TALUS_API const char *talus_world_sink_name(const TalusWorld *world,
                                            int index); /* owned by the world */
/* Returns what sink `index` has taken. */
TALUS_API TalusFlow talus_world_sink_flow(const TalusWorld *world, int index);

/* Probes sum over the contacts of one step, or over the bodies that cross a plane in it. */
typedef enum TalusProbeKind {
    TALUS_PROBE_BODY,
    TALUS_PROBE_REGION,
    TALUS_PROBE_PLANE
} TalusProbeKind;

typedef struct TalusProbeDef {
    const char *name; /* copied */
    TalusProbeKind kind;
    TalusBodyId body; /* PROBE_BODY: contact force on this body, moving or fixed (a wall) */
    TalusVec3 lo, hi; /* PROBE_REGION: free and sleeping bodies whose centres lie in the box */
    int copy; /* PROBE_REGION, PROBE_PLANE: copy of the scene that the bodies belong to (TalusBodyBatch) */
    /* PROBE_PLANE: free bodies whose centres go through the plane at `at`. Of the plane, points count that are no further
     * from `at` than `radius` (a disc) and than `half` along each axis (a rectangle), m; 0: no limit. In periodic space
     * the nearest image of `at` counts; with a cell that deforms there are no planes. The motion by which joints are closed after a step is not seen. */
    TalusVec3 at, normal; /* the normal need not have length 1 */
    double radius;
    TalusVec3 half;
} TalusProbeDef;

/* Means over the last step; of a halved step, numbers, mass and momentum are those of its last part. All 0 if the body
 * was removed or no step was made. Of a plane, forces, torques and contacts are 0, and numbers, mass and momentum are of
 * the bodies that crossed it in the whole step along its normal, less those that crossed it against it. */
typedef struct TalusProbeValue {
    TalusVec3 force;  /* N: net contact force on the body, or from outside on the region's bodies */
    TalusVec3 torque; /* N m: about the body's centre, or the region's middle */
    int64_t contacts; /* contacts with an impulse: of the body, or across the region's border */
    int64_t bodies;   /* in the region at the start of the step; 1 for a body */
    double mass;      /* kg: of these bodies, 0 for a fixed or driven body */
    TalusVec3 momentum;   /* N s: of these bodies, at the end of the step */
    int64_t total_bodies; /* PROBE_PLANE: since the probe was added, of `bodies`; of others 0 */
    double total_mass;    /* of `mass`, likewise */
} TalusProbeValue;

/* Adds a probe; `index` may be NULL. */
TALUS_API TalusStatus talus_world_add_probe(TalusWorld *world, const TalusProbeDef *def,
                                            int *index);
TALUS_API int talus_world_probe_count(const TalusWorld *world);
TALUS_API const char *talus_world_probe_name(const TalusWorld *world,
                                             int index); /* owned by the world */
TALUS_API TalusProbeKind talus_world_probe_kind(const TalusWorld *world, int index);
TALUS_API TalusProbeValue talus_world_probe_value(const TalusWorld *world, int index);

/* Energy ledger of one step, joule: kinetic_change + potential_change + elastic_change is the sum of the columns from
 * `friction` to `exchange`, plus `imbalance`. */
typedef struct TalusLedger {
    double kinetic, potential; /* at the end of the step */
    double elastic; /* in overlaps of compliant contacts of awake bodies, at the end of the step */
    double kinetic_change, potential_change, elastic_change;
    double friction; /* work of tangential impulses and of moments, <= 0 up to the solver's error */
    double impact;   /* work of normal impulses plus stored elastic energy, less stabilisation */
    /* work of normal impulses at the speed that undoes overlap: of rigid contacts, and of compliant contacts the
     * overlap beyond the one that their impulses cause */
    double stabilisation;
    /* Elastic energy at the start of the step less that at the end of the last step. They differ where contacts became
     * stiffer or softer, appeared or vanished, or have another overlap than the last step's linear motion predicted. */
    double stiffening;
    double cohesion;      /* work of attractive impulses */
    double gravity_error; /* error of the first-order scheme in gravity and applied forces */
    double spin;          /* change of rotational energy by torque-free rotation, not of spheres */
    double joints;        /* work of joints, their limits, motors and springs */
    double driven;        /* work that driven bodies do on others */
    double applied;       /* work of applied forces and torques */
    double cell;          /* work of a periodic cell that deforms */
    double projection;    /* work of the position projection of joints */
    /* energy of bodies added, less that of bodies removed; changes by talus_world_set_velocity, by falling asleep, and
     * by periods along gravity */
    double exchange;
    double imbalance; /* the three changes minus the sum of the columns; rounding only */
} TalusLedger;

/* Overlaps over size of the loaded contacts: contacts of the step's problem with a normal impulse above 0. The overlap
 * is that at the start of the step, 0 where the bodies were apart. Size: of the smaller body, or of the free one
 * (TalusOverlap). Of a halved step, the last part counts. */
typedef struct TalusOverlapSummary {
    int64_t loaded;   /* number of loaded contacts */
    double mean, max; /* 0 without loaded contacts */
    double p99; /* 99th percentile, at most 1/16 above the exact value; the maximum if above 4 */
    /* Stiffness number: 1 over the mean of overlap over diameter, 2/mean; infinite where nothing overlaps. */
    double kappa;
} TalusOverlapSummary;

/* Impacts that propagate, of all parts of a step; all 0 under TALUS_IMPACTS_SIMULTANEOUS. */
typedef struct TalusImpactSummary {
    int64_t contacts; /* contacts that closed */
    int64_t rounds;   /* of impacts one after the other */
    /* Contacts that were stopped without rebound, because the rounds ended (1,000 and 100 per contact that closed) or
     * the impacts kept meeting new contacts (32 detections), or whose compression missed its accuracy. */
    int64_t inexact;
} TalusImpactSummary;

/* Report of one step. Numbers of bodies and contacts are of all ranks. A part is the whole step or, if the step was halved, a half, quarter, eighth or sixteenth of
 * it. */
typedef struct TalusStepInfo {
    int64_t step;   /* steps completed, this one included */
    double time;    /* s: at the end of the step */
    double length;  /* s: of the whole step if halved, the actual length if shortened */
    int64_t bodies; /* living bodies at the end of the step, fixed ones included */
    int64_t
        contacts; /* of the first part that was solved, whether or not it was halved after a missed tolerance */
    /* All solves of the step. Costs are summed, including parts that were repeated in halves; memory is the largest of
     * all solves; residuals and outcome are the worst of the parts that were kept. */
    TalusSolveInfo solve;
    /* Of `solve`, the cost of the first solve of each part; the rest is of solves after redetection. */
    int first_iterations, first_products;
    double reference_speed; /* m/s */
    double tolerance;       /* of this step's residual, m/s */
    bool missed;  /* true if some solve did not converge; tolerance 0: a spent budget is no miss */
    int halvings; /* depth: the shortest part was length / 2^halvings; 0: the step was not halved */
    /* Machines (bodies connected by joints) whose joints no impulse could close; they lost energy
     * (docs/how-to/joints.md). */
    int projection_fallbacks;
    /* Number of bodies and walls that move so far in periodic space, even in a sixteenth of the step, that contacts may
     * be missing: radius plus motion exceeds a quarter of a period, or a wall and the body beside it exceed half of it.
     * The largest number of all parts; 0 if shorter parts saw all contacts. */
    int64_t clipped;
    /* Overlap over size at the start of the step: mean and maximum over the contacts that overlap. */
    double penetration_mean, penetration_max;
    TalusOverlapSummary overlap; /* of the loaded contacts */
    TalusImpactSummary impacts;
    int64_t asleep;     /* sleeping bodies */
    double sleep_speed; /* m/s: slower motion is neglected where bodies sleep; 0 if none sleeps */
    TalusLedger ledger;
    double detect_seconds, build_seconds, solve_seconds,
        integrate_seconds; /* wall time of all parts, by stage */
} TalusStepInfo;

/* Makes one step; `info` may be NULL. On failure the state is as before the step, and *info is not written. */
TALUS_API TalusStatus talus_world_step(TalusWorld *world, TalusStepInfo *info);
/* Makes one step towards `time`; fails if talus_world_next_length is 0. A step is shortened where whole steps would
 * pass `time` by more than 1e-6 of a step: the last step then ends at `time` exactly, and if it would be shorter than
 * half a step, the last two are made equal. Later steps are whole again. */
TALUS_API TalusStatus talus_world_step_to(TalusWorld *world, double time, TalusStepInfo *info);
/* Returns the length of the step that talus_world_step_to would make, s; 0 if `time` is reached, within 2e-6 of a
 * step. */
TALUS_API double talus_world_next_length(const TalusWorld *world, double time);

/* Detects contacts and builds the problem of the next whole step, without the bodies that would enter or leave at its
 * start; on the host for every backend. Impacts that propagate are not made before it. *problem is the world's own, valid until the world changes or makes a step. */
TALUS_API TalusStatus talus_world_build(TalusWorld *world, TalusProblem **problem);

/* Sets the def's tolerance and max_iterations from the next step on. TALUS_COMPLIANCE_AUTO follows gradually. */
TALUS_API TalusStatus talus_world_set_accuracy(TalusWorld *world, double tolerance,
                                               int max_iterations);

/* Sets gravity, m/s2, from the next step on; the change of potential energy counts as `exchange` in the ledger. Wakes all
 * bodies. Without gravity the def's reference_speed must be above 0. */
TALUS_API TalusStatus talus_world_set_gravity(TalusWorld *world, TalusVec3 gravity);
/* Sets the length of steps, s. Contacts without stiffness of their own get stiffer in proportion to 1/step^2, and a bed
 * that rests on them may move: change it by small factors. Not with a cell that deforms. */
TALUS_API TalusStatus talus_world_set_step(TalusWorld *world, double step);
/* Sets the solver, NAME[:key=value,...], copied; it starts without the state of the one before. */
TALUS_API TalusStatus talus_world_set_solver(TalusWorld *world, const char *solver);
/* Sets the friction model of pairs of materials without one of their own. Wakes all bodies. */
TALUS_API TalusStatus talus_world_set_friction_model(TalusWorld *world, TalusFrictionModel model);
/* Changes the properties of a material, but for its name; pairs keep what was set for them, and bodies their masses. Wakes
 * all bodies. */
TALUS_API TalusStatus talus_world_set_material(TalusWorld *world, int index,
                                               const TalusMaterialDef *def);
/* Sets *index to the first material of this name; fails if there is none. */
TALUS_API TalusStatus talus_world_find_material(const TalusWorld *world, const char *name,
                                                int *index);

TALUS_API double talus_world_time(const TalusWorld *world);        /* s */
TALUS_API int64_t talus_world_steps(const TalusWorld *world);      /* steps completed */
TALUS_API double talus_world_step_length(const TalusWorld *world); /* TalusWorldDef.step, s */
/* Returns the friction model of pairs of materials without a model of their own. */
TALUS_API TalusFrictionModel talus_world_friction(const TalusWorld *world);
/* Returns TalusWorldDef.compliance; if that is TALUS_COMPLIANCE_AUTO, the value in the next step. */
TALUS_API double talus_world_compliance(const TalusWorld *world);
TALUS_API int64_t
talus_world_body_count(const TalusWorld *world); /* living bodies, fixed ones included */
TALUS_API int
talus_world_threads(const TalusWorld *world); /* actual number, also if the def has 0 */
TALUS_API const char *talus_world_backend(const TalusWorld *world); /* owned by the world */
TALUS_API TalusVec3 talus_world_gravity(const TalusWorld *world);
/* Returns the periods as they are now: those of a cell that deforms change. */
TALUS_API TalusPeriod talus_world_period(const TalusWorld *world);

/* A cell that deforms, after the last step. Stresses are positive in tension; a positive rate of shear gives a positive xy. */
typedef struct TalusCellState {
    TalusPeriod period; /* with its tilt */
    TalusGradient rate; /* 1/s: of the last step */
    double strain[3];   /* log of each side over its length at the start */
    double shear;       /* sum of h times the rate of shear */
    /* Pa: minus the sum over contacts of force on b times branch from a to b, over the volume; mean of the step, symmetrised */
    TalusSym3 contact_stress;
    /* Pa: minus the sum over bodies of m c c over the volume, c relative to the flow; at the end */
    TalusSym3 kinetic_stress;
    double work;       /* J: of the cell in the last step (TalusLedger.cell) */
    double total_work; /* J: of the cell since the start */
} TalusCellState;

/* True if the periods are a cell that deforms (TalusWorldDef.cell). */
TALUS_API bool talus_world_cell_deforms(const TalusWorld *world);
/* Returns the state of the cell; all 0 in a world without a cell that deforms. */
TALUS_API TalusCellState talus_world_cell(const TalusWorld *world);
/* Sets the rates of the axes without a controlled pressure, and of shear, from the next step on. Bodies move with the cell
 * from its first part on: the change is work of the cell. */
TALUS_API TalusStatus talus_world_set_cell_rate(TalusWorld *world, TalusGradient rate);

/* State of all living bodies, in arrays of the caller; arrays that are not wanted are NULL. The order of bodies is
 * fixed until a body is added or removed; on several ranks it is that of ids. */
typedef struct TalusBodyState {
    TalusBodyId *id;
    TalusVec3 *position, *velocity, *spin;
    TalusQuat *orientation;
    double *radius; /* sphere radius; bounding radius of other shapes; 0 for unbounded ones */
    double *mass;   /* 0 for fixed bodies */
    int *shape, *material, *tag;
    bool *fixed; /* driven bodies included */
    /* J: what contacts of the body have dissipated since it was added, if TalusWorldDef.dissipation is set, else 0: all of
     * contacts with bodies that do not move freely, half of others (src/engine/cpu/dissipation.c) */
    double *dissipated;
} TalusBodyState;

/* Fills the arrays of `state` that are not NULL; each must hold talus_world_body_count elements. If a device or another
 * rank fails, nothing is written. */
TALUS_API TalusStatus talus_world_get_state(const TalusWorld *world, TalusBodyState *state);
/* The world's own arrays of bodies, to read without a copy. Rows with shape >= 0 are living bodies, in the order of
 * talus_world_get_state; other rows have none. */
typedef struct TalusBodyRows {
    int count; /* length of the arrays */
    const uint64_t *id;
    const TalusVec3 *position, *velocity, *spin;
    const TalusQuat *orientation;
    const double *radius, *mass; /* as in TalusBodyState */
    const int32_t *shape, *material, *tag;
} TalusBodyRows;

/* Lends the arrays, valid until the next call that may change the world, such as a step. Downloads them from a device.
 * Fails in a world on several ranks, each of which has a part of the bodies. */
TALUS_API TalusStatus talus_world_view_bodies(const TalusWorld *world, TalusBodyRows *rows);
/* Sets velocity, m/s, and spin, rad/s, of a free or sleeping body in the world frame; wakes its island. */
TALUS_API TalusStatus talus_world_set_velocity(TalusWorld *world, TalusBodyId id,
                                               TalusVec3 velocity, TalusVec3 spin);

/* A contact of the last detection: of the last step, or of talus_world_build. */
typedef struct TalusContactState {
    TalusBodyId a, b;
    TalusVec3 point;   /* middle of the gap, at the present position of a */
    TalusVec3 normal;  /* from a to b, at the start of the step */
    TalusVec3 impulse; /* on b, world frame, N s */
    double gap;        /* m: at the start of the step; below 0: overlap */
    /* Branch vectors: from the present positions of a and b, in their images nearest to it, to `point`. The contact stress in a
     * volume is the sum of force times branch_b less that of force times branch_a, over the volume. */
    TalusVec3 branch_a, branch_b;
} TalusContactState;

/* Write at most `count` contacts to `out`, which may be NULL, and return the number of contacts between bodies that
 * still exist: of all, or of those whose normal impulse exceeds `least`, N s. */
TALUS_API int64_t talus_world_get_contacts(const TalusWorld *world, TalusContactState *out,
                                           int64_t count);
TALUS_API int64_t talus_world_get_strong_contacts(const TalusWorld *world, double least,
                                                  TalusContactState *out, int64_t count);

/* The overlap of two bodies with the largest depth / size in the present state. A run that starts with deep overlaps,
 * or with bodies beyond a wall, throws bodies apart; scenes refuse such a start. */
typedef struct TalusOverlap {
    TalusBodyId a, b; /* a is free; 0: no two bodies overlap */
    double depth;     /* m; 0: no two bodies overlap */
    /* m: size of the smaller body, or of a if b is fixed; radius of a sphere, smallest half width of other shapes. */
    double size;
    /* Number of overlapping pairs. Bodies whose centre is so deep inside a solid mesh that they have no contact with it
     * do not count, but `pairs` is 1 if nothing else overlaps. */
    int64_t pairs;
} TalusOverlap;

/* Finds the pair with the largest depth / size; the world does not change. Without solid meshes the call costs at most
 * one detection. */
TALUS_API TalusStatus talus_world_worst_overlap(const TalusWorld *world, TalusOverlap *out);

/* Returns the summary of the last step that this world object has made; before the first step all figures are 0. */
TALUS_API TalusOverlapSummary talus_world_get_overlap(const TalusWorld *world);

/* Summary of the normal forces of the last step; of a halved step, of its last part. */
typedef struct TalusForceSummary {
    double length;       /* s: of the step or part of the impulses; force is impulse / length */
    int64_t contacts;    /* number of contacts between bodies that still exist */
    int64_t loaded;      /* number of these contacts with a normal impulse above 0 */
    double mean_impulse; /* N s: mean normal impulse of the loaded contacts */
} TalusForceSummary;

/* Sums `force` (N: normal forces, as positive numbers) and `touching` (number of loaded contacts) over the contacts of
 * each living body, in the order of talus_world_get_state; any of the three may be NULL. */
TALUS_API TalusStatus talus_world_get_forces(const TalusWorld *world, double *force, int *touching,
                                             TalusForceSummary *summary);

/* Shapes and materials, for writers and viewers. The world owns the arrays and names in the defs. */
TALUS_API int talus_world_shape_count(const TalusWorld *world);
TALUS_API TalusShapeDef talus_world_shape(const TalusWorld *world, int index);
TALUS_API int talus_world_material_count(const TalusWorld *world);
TALUS_API TalusMaterialDef talus_world_material(const TalusWorld *world, int index);

/* Saves the whole state as bytes, which the caller frees with talus_free. On several ranks all of them call it, and rank 0
 * gets the bytes, those of one rank; others get NULL. */
TALUS_API TalusStatus talus_world_save(const TalusWorld *world, void **bytes, size_t *size);
/* Loads a saved world. `threads` as in TalusWorldDef. `backend` NULL: the backend on which the world was saved; later
 * steps then have the same bits. On another backend later steps meet the same tolerances. *out is NULL on failure. */
TALUS_API TalusStatus talus_world_load(const void *bytes, size_t size, int threads,
                                       const char *backend, TalusWorld **out);
/* Frees memory that the library gave to the caller: talus_world_save, and the note of talus_checkpoint_read. */
TALUS_API void talus_free(void *bytes);

/* Divides a world that every rank has as a whole, such as a loaded one, among the ranks of `comm`: each keeps its part.
 * All ranks call this together. */
TALUS_API TalusStatus talus_world_divide(TalusWorld *world, TalusComm *comm);
/* Makes a copy of a divided world on rank 0, as a whole, to save or to look at; *whole becomes NULL on other ranks. All
 * ranks call this together. */
TALUS_API TalusStatus talus_world_gather(TalusWorld *world, TalusWorld **whole);

/* Returns a hash of the dynamic state: time, and ids, positions, orientations, velocities and spins of living bodies. It
 * does not depend on where bodies are in memory. */
TALUS_API uint64_t talus_world_hash(const TalusWorld *world);

#ifdef __cplusplus
}
#endif

#endif

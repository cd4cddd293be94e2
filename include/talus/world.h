/* talus/world.h - bodies, materials and the time step.
 *
 * One step: detect contacts, build the contact problem, solve it, integrate. Bulk calls come first:
 * a million grains are added by one call and read back as arrays. All results are bitwise the same
 * for any number of threads, run to run, and after a save and load. */
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

/* Bodies are numbered from 1 in the order of their creation, and no number is given twice. 0: no body; of a joint,
 * the fixed world. */
typedef struct TalusBodyId {
    uint64_t number;
} TalusBodyId;

typedef enum TalusMissPolicy {
    TALUS_MISS_CONTINUE, /* go on and warn; every step reports what it reached */
    TALUS_MISS_STOP,     /* talus_world_step fails with TALUS_ERR_TOLERANCE, state unchanged */
    TALUS_MISS_HALVE     /* repeat the step as two of half the length, up to four times over */
} TalusMissPolicy;

typedef struct TalusWorldDef {
    uint32_t cookie; /* set by talus_world_def_default; catches a zeroed def */
    TalusVec3 gravity;
    double step;            /* h, seconds */
    double tolerance;       /* of the velocity residual, relative to the reference speed */
    double reference_speed; /* the reference speed is max(|gravity| h, this) */
    TalusNorm norm;
    int max_iterations;
    const char *solver; /* NAME[:key=value,...], copied */
    TalusMissPolicy on_miss;
    double envelope; /* contacts are kept up to this fraction of the smaller size beyond touch, plus
                        what the pair's speed can close within a step */
    double recovery; /* overlap is undone at most this fast, in units of sqrt(|gravity| size);
                        without gravity, in units of the reference speed; 0: no limit */
    TalusFrictionModel friction;  /* of pairs of materials that are not given another */
    double restitution_threshold; /* contacts that close more slowly do not rebound, in units of
                                     |gravity| h */
    double cohesion_range;        /* cohesion acts up to this fraction of the smaller size beyond
                                     touch */
    TalusPeriod period; /* along its axes the world repeats itself: what leaves on one side
                                     enters on the other. Its length is more than four times the radius
                                     of every body, margins included */
    bool projection;    /* joints are closed again after each step (talus/joint.h); else they drift
                            apart by (w h)^2/2 of their size in a step */
    double sleep_speed; /* islands of bodies that are slower than this times the reference speed */
    int sleep_steps; /* for so many steps are left out until something stirs them; 0: none is. Probes
                           and lists of contacts know nothing of contacts between sleeping bodies */
    const char *backend; /* "cpu", or another of talus_backend_row; one with memory of its own keeps
                            the world there, and what is asked for is fetched when it is asked for */
    int threads;         /* 0: one per processor */
} TalusWorldDef;

/* m/s2 along an axis, at most: squares of it stay finite. */
#define TALUS_GRAVITY_MAX 1e100

TalusWorldDef talus_world_def_default(void);
TalusStatus talus_world_create(const TalusWorldDef *def, TalusWorld **out);
void talus_world_destroy(TalusWorld *world);

/* Warnings of this world's steps go to `fn`, whichever thread steps it; NULL, as at first: to the log function of the
 * thread that does (talus_set_log). Two worlds may be used at once, by two threads. */
void talus_world_set_log(TalusWorld *world, TalusLogFn *fn, void *user);

/* Materials: the default material is index 0 with friction 0.3. A pair has the smaller friction,
 * restitution, spinning, rolling and cohesion of the two unless they are set for the pair; stiffnesses
 * and dampings act in series. */
typedef struct TalusMaterialDef {
    const char *name; /* copied; "" allowed */
    double friction;
    double density;            /* used when a body gives neither mass nor density */
    double stiffness, damping; /* per contact, N/m and N s/m; 0: rigid */
    double restitution; /* Newton's, 0 to 1; of rigid contacts: soft ones rebound by their spring */
    double spinning,
        rolling;     /* the moment about the normal, about the tangents, is at most this times
                                  L times the normal force. L is a round body's size (a sphere's radius),
                                  r_a r_b / (r_a + r_b) for two of them, the smaller size where none is */
    double cohesion; /* N: how hard each contact in touch can be pulled */
} TalusMaterialDef;

TalusMaterialDef talus_material_def_default(void);
TalusStatus talus_world_add_material(TalusWorld *world, const TalusMaterialDef *def, int *index);

/* What two materials do together. A number below 0 is left to the rule above. */
typedef struct TalusPairDef {
    uint32_t cookie;
    double friction, restitution, spinning, rolling, cohesion;
    bool own_model; /* `model` holds for the pair; else the world's */
    TalusFrictionModel model;
} TalusPairDef;

TalusPairDef talus_pair_def_default(void);
/* All of a pair anew, or its friction alone. */
TalusStatus talus_world_set_pair(TalusWorld *world, int material_a, int material_b,
                                 const TalusPairDef *def);
TalusStatus talus_world_set_friction(TalusWorld *world, int material_a, int material_b, double mu);

TalusStatus talus_world_add_shape(TalusWorld *world, const TalusShapeDef *def, int *index);

/* A batch of bodies. Arrays may be NULL where a default is given. */
typedef struct TalusBodyBatch {
    uint32_t cookie;
    int count;
    int shape; /* index from talus_world_add_shape; sphere radii come from `radius` */
    int material;
    bool fixed;                   /* cannot move; required for plane and revolve */
    const TalusVec3 *position;    /* required */
    const TalusQuat *orientation; /* default identity */
    const TalusVec3 *velocity;    /* default 0 */
    const TalusVec3 *spin;        /* angular velocity, world frame, default 0 */
    const double *radius;         /* spheres; default the shape's radius */
    double density;               /* 0: the material's */
    double mass;                  /* > 0 overrides density, inertia scaled with it */
    int tag;                      /* the user's own number, kept and written out */
    int group;                    /* 0 to 31, for talus_world_set_groups */
    TalusVec3 force, torque;      /* applied to each of them until set anew, world frame */
} TalusBodyBatch;

TalusBodyBatch talus_body_batch_default(void);
/* `ids` may be NULL. */
TalusStatus talus_world_add_bodies(TalusWorld *world, const TalusBodyBatch *batch,
                                   TalusBodyId *ids);
TalusStatus talus_world_remove_body(TalusWorld *world, TalusBodyId id);

/* Force through the centre and torque, world frame, from now on and until set again. */
TalusStatus talus_world_set_force(TalusWorld *world, TalusBodyId id, TalusVec3 force,
                                  TalusVec3 torque);

/* Which bodies meet. Bodies of two groups do unless it is said otherwise here; the two may be the same. */
enum { TALUS_GROUPS = 32 };
TalusStatus talus_world_set_groups(TalusWorld *world, int group_a, int group_b, bool meet);
/* The same for two bodies. A pair excluded twice is to be included twice. */
TalusStatus talus_world_exclude(TalusWorld *world, TalusBodyId a, TalusBodyId b);
TalusStatus talus_world_include(TalusWorld *world, TalusBodyId a, TalusBodyId b);

/* A prescribed motion of a fixed body, which nothing can stop: for t between start and stop, with
 * s = t - start,
 *     shift(s) = velocity s + amplitude (sin 2 pi (frequency s + phase) - sin 2 pi phase)
 *     x(t) = point + shift(s) + R (x0 - point),    e(t) = R e0,    R = rotation by spin s
 * Poses are taken from these and do not drift. Contacts see the mean velocity over a step. */
typedef struct TalusDriveDef {
    uint32_t cookie;
    TalusVec3 velocity;  /* m/s */
    TalusVec3 amplitude; /* m */
    double frequency;    /* 1/s */
    double phase;        /* turns */
    TalusVec3 spin;      /* rad/s */
    bool own_axis; /* the axis passes through `point`, at the start; else through the centre */
    TalusVec3 point;
    double start, stop; /* s */
} TalusDriveDef;

TalusDriveDef talus_drive_def_default(void);
/* From where the body is now; NULL: it is fixed again. Planes do not turn. */
TalusStatus talus_world_set_drive(TalusWorld *world, TalusBodyId id, const TalusDriveDef *def);

/* Bodies that arrive while the world runs. Each emission places as many spheres as the rate asks
 * for at random free spots of the box region [lo, hi]; spots taken by other bodies are left out and
 * made up for later, so nothing overlaps. */
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

/* The batch is copied now and added at the first step that starts at or after `time`. */
TalusStatus talus_world_add_bodies_at(TalusWorld *world, double time, const TalusBodyBatch *batch);

/* Bodies whose centre passes below height z (along -gravity's axis: coordinate 0, 1 or 2) go. */
TalusStatus talus_world_add_sink(TalusWorld *world, int axis, double below);

/* Probes: sums over the contacts of one step. */
typedef enum TalusProbeKind { TALUS_PROBE_BODY, TALUS_PROBE_REGION } TalusProbeKind;

typedef struct TalusProbeDef {
    const char *name; /* copied */
    TalusProbeKind kind;
    TalusBodyId body; /* PROBE_BODY: contact force on this body, moving or fixed (a wall) */
    TalusVec3 lo, hi; /* PROBE_REGION: bodies whose centres lie in the box */
} TalusProbeDef;

typedef struct TalusProbeValue {
    TalusVec3 force;  /* net contact force on the body, or on the region's bodies from outside it */
    TalusVec3 torque; /* about the body's centre; about the region's middle */
    int contacts;     /* contacts with an impulse on the body; across the region's border */
    int bodies;       /* in the region; 1 for a body */
    double mass;
    TalusVec3 momentum;
} TalusProbeValue;

TalusStatus talus_world_add_probe(TalusWorld *world, const TalusProbeDef *def, int *index);
int talus_world_probe_count(const TalusWorld *world);
const char *talus_world_probe_name(const TalusWorld *world, int index);
TalusProbeValue talus_world_probe_value(const TalusWorld *world, int index);

/* Energy ledger of one step, joule. kinetic + potential change by exactly the sum of the others:
 * `gravity_error` is what the first-order scheme loses or gains in gravity and with applied forces,
 * `spin` what the rotation of general bodies changes. Bodies added or removed appear in `exchange`, and
 * what is wrapped around a period against gravity. */
typedef struct TalusLedger {
    double kinetic, potential; /* at the end of the step */
    double kinetic_change, potential_change;
    double friction; /* work of tangential impulses and of moments, <= 0 up to the solver's error */
    double impact;   /* work of normal impulses, less the next */
    double stabilisation; /* work done by undoing overlap */
    double cohesion;      /* work of attractive impulses */
    double gravity_error;
    double spin;
    double joints;     /* work of joints, their limits, motors and springs */
    double driven;     /* work that driven bodies do on others */
    double applied;    /* work of applied forces and torques */
    double projection; /* work of the position projection of joints */
    double exchange;
    double imbalance; /* changes minus sum; rounding only */
} TalusLedger;

typedef struct TalusStepInfo {
    int64_t step; /* steps completed */
    double time;
    double length; /* of this step (halved steps report the whole, shortened ones what they have) */
    int bodies, contacts;
    /* All solves of the step: what they cost adds up, that of parts given up for halves included; memory, residuals
     * and outcome are the worst of its parts. */
    TalusSolveInfo solve;
    double reference_speed;
    double tolerance; /* of this step's residual, m/s */
    bool missed;      /* it was not reached */
    int halvings;
    /* Machines (bodies that joints hold together) that no impulse could close: they lost energy (docs/how-to/joints.md). */
    int projection_fallbacks;
    /* Bodies that even a sixteenth of the step moves so far in a period that some of their contacts may have been
     * missed. */
    int clipped;
    double penetration_mean, penetration_max; /* over radius, over overlapping contacts at start */
    int asleep;                               /* bodies that sleep now */
    double
        sleep_speed; /* m/s: motion up to this is neglected where bodies sleep; 0 where none does */
    TalusLedger ledger;
    double detect_seconds, build_seconds, solve_seconds, integrate_seconds;
} TalusStepInfo;

/* One step; `info` may be NULL. On failure the state is as before the step. */
TalusStatus talus_world_step(TalusWorld *world, TalusStepInfo *info);
/* One step towards `time`, which lies ahead. It is shortened where whole steps would pass `time` by more than 1e-6 of
 * themselves: the last one to end at `time` exactly, and that before it too where the last would be shorter than half
 * a step, so that both are equal. Whole steps go on from there. */
TalusStatus talus_world_step_to(TalusWorld *world, double time, TalusStepInfo *info);
/* The length of that step; 0 where `time` is reached, up to 2e-6 of a step. */
double talus_world_next_length(const TalusWorld *world, double time);

/* The stages one at a time: detect and build the next step's problem and lend it. It belongs to the
 * world and is valid until the next call that changes the world. */
TalusStatus talus_world_build(TalusWorld *world, TalusProblem **problem);

/* The def's tolerance and budget from the next step on. */
TalusStatus talus_world_set_accuracy(TalusWorld *world, double tolerance, int max_iterations);

double talus_world_time(const TalusWorld *world);
int64_t talus_world_steps(const TalusWorld *world);
double talus_world_step_length(const TalusWorld *world);
/* Of pairs of materials that have no model of their own. */
TalusFrictionModel talus_world_friction(const TalusWorld *world);
int talus_world_body_count(const TalusWorld *world); /* living bodies, fixed ones included */
int talus_world_threads(const TalusWorld *world);
const char *talus_world_backend(const TalusWorld *world); /* owned by the world */
TalusVec3 talus_world_gravity(const TalusWorld *world);
TalusPeriod talus_world_period(const TalusWorld *world);

/* State as arrays over living bodies; their order is the same in all calls until a body comes or goes. Any pointer
 * may be NULL. */
typedef struct TalusBodyState {
    TalusBodyId *id;
    TalusVec3 *position, *velocity, *spin;
    TalusQuat *orientation;
    double *radius; /* sphere radius; bounding radius of other shapes; 0 for unbounded ones */
    double *mass;   /* 0 for fixed bodies */
    int *shape, *material, *tag;
    bool *fixed; /* driven ones too */
} TalusBodyState;

void talus_world_get_state(const TalusWorld *world, TalusBodyState *state);
TalusStatus talus_world_set_velocity(TalusWorld *world, TalusBodyId id, TalusVec3 velocity,
                                     TalusVec3 spin);

/* Contacts of the last step. `count` contacts are written at most; returns how many there are. */
typedef struct TalusContactState {
    TalusBodyId a, b;
    TalusVec3 point, normal;
    TalusVec3 impulse; /* on b, world frame, N s */
    double gap;
} TalusContactState;

int talus_world_get_contacts(const TalusWorld *world, TalusContactState *out, int count);

/* The same for contacts whose normal impulse exceeds `least` alone. */
int talus_world_get_strong_contacts(const TalusWorld *world, double least, TalusContactState *out,
                                    int count);

/* The deepest overlap of two bodies as they are now, at most the cost of a step's detection; the world stays as it is.
 * A run that starts with bodies deep in each other or beyond a wall throws them about: scenes refuse it. */
typedef struct TalusOverlap {
    TalusBodyId a, b; /* a moves */
    double depth;     /* m; 0: no two bodies overlap */
    /* m: radius of a sphere, least half width of other shapes; of the smaller of the two, or of a where b is fixed. */
    double size;
    int pairs; /* that overlap in all */
} TalusOverlap;

/* The pair of the largest depth / size. */
TalusStatus talus_world_worst_overlap(const TalusWorld *world, TalusOverlap *out);

/* Normal forces of the last step, without a list of its contacts. */
typedef struct TalusForceSummary {
    double length;       /* of the step that the impulses are from: impulse / length is force */
    int contacts;        /* between bodies that are still there */
    int loaded;          /* of these, pressed together: with a normal impulse above 0 */
    double mean_impulse; /* normal, of the loaded ones */
} TalusForceSummary;

/* `force` (N) and `touching` (loaded contacts) are summed over each living body's contacts, in the
 * order of talus_world_get_state; either may be NULL. */
TalusStatus talus_world_get_forces(const TalusWorld *world, double *force, int *touching,
                                   TalusForceSummary *summary);

/* Shapes and materials, for writers and viewers. Profiles and names stay owned by the world. */
int talus_world_shape_count(const TalusWorld *world);
TalusShapeDef talus_world_shape(const TalusWorld *world, int index);
int talus_world_material_count(const TalusWorld *world);
TalusMaterialDef talus_world_material(const TalusWorld *world, int index);

/* The whole state as bytes. The buffer is malloc'ed by the library: free with talus_free. */
TalusStatus talus_world_save(const TalusWorld *world, void **bytes, size_t *size);
/* `backend` may be another than the world was saved on; NULL: that one. Then steps go on to the same tolerances, but
 * only on the same backend to the same bits. */
TalusStatus talus_world_load(const void *bytes, size_t size, int threads, const char *backend,
                             TalusWorld **out);
void talus_free(void *bytes);

/* Hash of the dynamic state (positions, orientations, velocities of living bodies, time). */
uint64_t talus_world_hash(const TalusWorld *world);

#ifdef __cplusplus
}
#endif

#endif

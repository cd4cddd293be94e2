/* engine/cpu/engine.h - the host's engine: declarations shared by its files.
 *
 *     engine.c      bodies, tables, contacts and joints from the world; snapshot and rollback
 *     detect.c      free velocities, detection, redetection
 *     build.c       the contact problem of a step, or of a part of a halved step
 *     integrate.c   integration: from solved velocities to the state at the end
 *     impact.c      impacts that propagate, before the problem is built
 *     dissipation.c what contacts dissipate, body by body
 *     ledger.c      works of contacts, forces and driven bodies; storage of impulses in the contact list
 *     cell.c        a periodic cell that deforms: slips of contacts, stress, work; bodies that cross its sides
 *     probe.c       sums of probes
 *     sums.c        sums over bodies and contacts
 *     halo.c        on several ranks: what the problem of a step exchanges
 *
 * Parallel loops run over chunks of CPU_GRAIN items. Sums run over groups of bodies or of contacts (backend/groups.h),
 * so that their results depend neither on the number of threads nor on the slots of bodies. */
#ifndef TALUS_ENGINE_CPU_ENGINE_H
#define TALUS_ENGINE_CPU_ENGINE_H

#include "backend/groups.h"
#include "base/memory.h"
#include "base/status.h"
#include "collide/cell.h"
#include "engine/body.h"
#include "engine/contact_terms.h"
#include "engine/engine.h"
#include "engine/overlap.h"
#include "problem/build.h"

/* CPU_GRAIN: items (slots or contacts) per chunk. CPU_PARTIALS: largest number of sums per chunk or group. */
enum { CPU_GRAIN = BODY_GRAIN, CPU_PARTIALS = 10 };

/* Copies for a rollback: states of bodies, once a step has needed them, and contacts. */
typedef struct CpuSnapshot {
    TalusVec3 *position, *velocity, *spin;
    TalusQuat *orientation;
    double *dissipated;
    TalusContactList list;
} CpuSnapshot;

typedef struct CpuEngine {
    TalusPool *pool;
    TalusProblem *problem;
    TalusPeriod period;
    TalusCell cell;  /* as of the last put_cell */
    bool has_cell;   /* put_cell has been called */
    bool cell_moves; /* the gradient of the cell is, or was in the part before, not 0 */
    TalusDetector *detector;
    TalusContactList *contacts; /* owned by the detector */

    /* owned by the world */
    TalusBodyArrays bodies;
    TalusTables tables;
    const TalusFilter *filter;
    const TalusVec3 *force, *torque;
    int forces; /* number of entries of force and torque; further slots have no applied force */
    TalusEngineJoints joints;

    /* the current step, or part of a halved step */
    long long step;             /* number of the step, for messages */
    int clipped_bodies;         /* as in TalusEngineCounts */
    double min_size;            /* as in TalusEngineCounts */
    TalusVec3 *free_velocity;   /* [slots]: v + h g + h f/m if free, v if driven, else 0 */
    TalusVec3 *solved_velocity; /* [slots], for redetection */
    TalusVec3
        *relative_velocity; /* [slots], relative to the flow of a cell that moves; for detection */
    TalusVec3 *solved_spin; /* [slots], likewise */
    uint8_t *changed;    /* [slots]: 1 if the velocity changed beyond the limit of find_missing */
    bool motions_stored; /* store_motions has run since the last solve */
    double h;            /* s: length of the present part of the step */
    TalusVec3 gravity_change;            /* h g */
    const TalusVec3 *detection_velocity; /* last detection: free_velocity or solved_velocity */
    const double (*solved)[8];           /* records of the last solve, in the problem's memory */
    bool missing_searched;               /* find_missing has searched since the last solve */
    TalusBuildOptions build_options;     /* options of the last build */
    /* [contacts], filled if build_options.compliance > 0: TalusHardening.overlap_rate; -1: the contact has no relative
     * compliance */
    double *overlap_rate;
    /* with TalusBodyArrays.dissipated: mean of the velocities before and after the step, as records [bodies]; what each
     * contact dissipates, J */
    double (*mean_motion)[8];
    double *loss;
    TalusGroups groups;              /* of the contacts of the last build */
    TalusGroups body_groups;         /* of the bodies of the last detection, in the order of ids */
    double (*partial)[CPU_PARTIALS]; /* sums of each chunk, or group, of a loop */
    uint16_t (*overlaps)[TALUS_OVERLAP_BINS]; /* histogram of each group of contacts */

    const TalusEngineProbe *probe; /* owned by the world */
    TalusProbeSums *probe_sums;
    int probes;

    struct CpuImpacts *impacts; /* work arrays of impact.c; NULL before the first search */

    CpuSnapshot snapshot;
} CpuEngine;

extern const TalusEngineOps cpu_engine_ops;

/* Declarations of the operations of engine/operations.h, as cpu_NAME. */
#define OPERATION(result, name, arguments) result cpu_##name arguments;
#define OWN_ONLY(result, name, arguments)
#include "engine/operations.h"

static inline CpuEngine *cpu_engine(TalusEngine *engine)
{
    return (CpuEngine *)engine;
}

/* ---- bodies and contacts ---- */
/* True if the slot holds a free body: not fixed, driven or asleep. */
static inline bool cpu_is_free(const CpuEngine *e, int64_t slot)
{
    return e->bodies.shape[slot] >= 0 && e->bodies.mobility[slot] == TALUS_MOBILITY_FREE;
}

/* Returns the number of slots of this rank's own bodies; those of other ranks' bodies follow. */
static inline int cpu_own_slots(const CpuEngine *e)
{
    return e->bodies.slots - e->bodies.halo;
}

/* True if the slot holds a free body that this rank owns, and moves. */
static inline bool cpu_is_moved_here(const CpuEngine *e, int64_t slot)
{
    return slot < cpu_own_slots(e) && cpu_is_free(e, slot);
}

/* True if the slot holds a driven body. */
static inline bool cpu_is_driven(const CpuEngine *e, int64_t slot)
{
    return e->bodies.shape[slot] >= 0 && e->bodies.mobility[slot] == TALUS_MOBILITY_DRIVEN;
}

/* True if force[slot] and torque[slot] exist; both may be 0. */
static inline bool cpu_has_force(const CpuEngine *e, int64_t slot)
{
    return slot < e->forces;
}

/* Returns the inertia per unit mass, and its inverse, of the body's shape; NULL for a sphere. */
static inline const TalusGyration *cpu_gyration(const CpuEngine *e, int64_t slot)
{
    int32_t shape = e->bodies.shape[slot];
    bool sphere = e->tables.shape[shape].def.kind == TALUS_SHAPE_SPHERE;
    return sphere ? NULL : &e->tables.gyration[shape];
}

/* Returns the law of the materials of the contact's bodies. */
static inline const TalusLaw *cpu_contact_law(const CpuEngine *e, const TalusContact *c)
{
    const int32_t *material = e->bodies.material;
    return &e->tables.law[material[c->a] * e->tables.materials + material[c->b]];
}

/* Returns the smaller size of the contact's two bodies; b counts only if it is free or asleep. */
static inline double cpu_contact_size(const CpuEngine *e, const TalusContact *c)
{
    return talus_contact_size(e->bodies.size, e->bodies.shape, e->bodies.mobility, c);
}

/* Returns the attractive impulse of contact i, N s, by the options of the last build. */
static inline double cpu_attractive_impulse(const CpuEngine *e, int64_t i)
{
    const TalusContact *c = &e->contacts->contact[i];
    return talus_attractive_impulse(cpu_contact_law(e, c), &e->build_options, c->gap,
                                    cpu_contact_size(e, c));
}

/* Returns the linearised spring that the last build gave contact i; compliance 0: the contact has no relative
 * compliance. build_options.compliance must be above 0, and the list must hold the impulses of that build. */
static inline TalusHardening cpu_hardening(const CpuEngine *e, const TalusOperator *op, int64_t i)
{
    const TalusContactList *list = e->contacts;
    const TalusContact *c = &list->contact[i];
    TalusHardening none = {0};
    if (e->build_options.soften > 0.0) { /* op->compliance is larger than that of the spring */
        const TalusLaw *law = cpu_contact_law(e, c);
        return law->stiffness > 0.0 ? none
                                    : talus_hardening(op, i, law, &e->build_options, c->gap,
                                                      cpu_contact_size(e, c), list->impulse[i]);
    }
    if (e->overlap_rate[i] < 0.0)
        return none;
    double pull = e->tables.cohesion ? cpu_attractive_impulse(e, i) : 0.0;
    return (TalusHardening){
        .warm = talus_warm_normal_impulse(op, i, &e->build_options, list->impulse[i], pull),
        .overlap_rate = e->overlap_rate[i],
        .compliance = op->compliance[i]};
}

/* ---- sums.c ---- */
/* Reserves `rows` rows of e->partial, one for each chunk or group of a loop. */
static inline TalusStatus cpu_reserve_partials(CpuEngine *e, int64_t rows)
{
    return TALUS_GROW(e->partial, (size_t)rows, 0, "partial sums");
}

/* Divides the contacts into groups (backend/groups.h) and reserves a row of partials for each group and each chunk. */
TalusStatus cpu_group_contacts(CpuEngine *e);

/* Writes to sum[columns] the sums of the first `columns` columns over the first `rows` rows of the partials, of all
 * ranks. */
void cpu_sum_partials(const CpuEngine *e, int64_t rows, int columns, double *sum);

/* True if this rank counts a group of contacts: it owns their first bodies. */
static inline bool cpu_counts_group(const CpuEngine *e, int64_t group)
{
    return (int)e->contacts->contact[e->groups.start[group]].a < cpu_own_slots(e);
}

/* Clears the partials of the groups of contacts that other ranks count. */
void cpu_drop_foreign_groups(CpuEngine *e);

/* Writes to sum[columns] the sums of the partials of a loop over all slots in chunks of CPU_GRAIN. Chunks depend on
 * slots: only for exact sums, such as counts. */
static inline void cpu_sum_slots(const CpuEngine *e, int columns, double *sum)
{
    cpu_sum_partials(e, talus_chunks(e->bodies.slots, CPU_GRAIN), columns, sum);
}

/* Divides the bodies into groups (backend/groups.h) and reserves a row of partials for each. */
TalusStatus cpu_group_bodies(CpuEngine *e);

/* Calls fn in parallel for each group of bodies; fn gets the ranks of the bodies (cpu_slot_of_rank) and writes its sums
 * to a row of the partials. Then writes to sum[columns] the sums of the first `columns` columns over all groups. */
#define cpu_sum_bodies(e, fn, context, columns, sum) \
    cpu_sum_bodies_named((e), (fn), (context), (columns), (sum), TALUS_LOOP_NAME(fn))
void cpu_sum_bodies_named(CpuEngine *e, TalusLoopFn *fn, void *context, int columns, double *sum,
                          const char *name);

/* Returns the slot of a rank: the slot's place in the order of ids. */
static inline int64_t cpu_slot_of_rank(const CpuEngine *e, int64_t rank)
{
    return e->bodies.at_rank ? (int64_t)e->bodies.at_rank[rank] : rank;
}

/* Calls fn in parallel for each group of contacts; fn writes its sums to a row of the partials. Then writes to
 * sum[columns] the sums of the first `columns` columns over all groups. */
#define cpu_sum_contacts(e, fn, context, columns, sum) \
    cpu_sum_contacts_named((e), (fn), (context), (columns), (sum), TALUS_LOOP_NAME(fn))
void cpu_sum_contacts_named(CpuEngine *e, TalusLoopFn *fn, void *context, int columns, double *sum,
                            const char *name);

/* ---- build.c ---- */
/* Writes records, lengths and inverse inertias of all bodies of the problem; slots may have been added since it was built,
 * behind those. The records have the free velocities
 * without attraction and motors. */
void cpu_fill_bodies(CpuEngine *e);
/* Returns, after a solve, `overlap_ratio` of the operation compute_velocities. */
double cpu_largest_overlap_ratio(CpuEngine *e);

/* ---- halo.c ---- */
/* On several ranks, when the contacts of the problem are filled: gives it the halo, whose velocities products exchange,
 * and the numbers that concern all ranks. */
TalusStatus cpu_link_problem(CpuEngine *e);

/* ---- dissipation.c ---- */
/* Reserves memory for the sums of the problem that is being built. */
TalusStatus cpu_reserve_dissipation(CpuEngine *e);
/* Fills mean_motion; the problem's records must hold the mean of free and solved velocities, bodies their old ones. */
void cpu_average_motion(CpuEngine *e);
/* Adds the losses of contacts to TalusBodyArrays.dissipated. */
void cpu_add_losses(CpuEngine *e);

/* ---- ledger.c ---- */
/* Adds the works of contacts and their elastic energies to the ledger, stores the solved impulses in the contact list
 * and summarises the overlaps in the ledger. The problem's records must hold the mean of free and solved velocities. */
TalusStatus cpu_finish_contacts(CpuEngine *e, TalusEngineLedger *ledger);
/* Adds the work of applied forces and torques to the ledger. The problem's records must hold the free velocities. */
void cpu_add_force_works(CpuEngine *e, double h, TalusEngineLedger *ledger);
/* Adds the work that driven bodies do at contacts to the ledger. The problem's records must hold the mean of free and
 * solved velocities. */
void cpu_add_driven_works(CpuEngine *e, TalusEngineLedger *ledger);

/* ---- cell.c ---- */
/* Returns `velocity` relative to the flow of the cell or, if it stands still, `velocity` itself. */
TalusStatus cpu_relative_velocities(CpuEngine *e, const TalusVec3 *velocity,
                                    const TalusVec3 **relative);
/* Returns the velocity of the contact's image of b relative to b, world frame. */
static inline TalusVec3 cpu_image_velocity(const CpuEngine *e, const TalusContact *c)
{
    return talus_image_velocity(&e->cell, e->bodies.position[c->a], e->bodies.position[c->b]);
}
/* Returns the normal part of cpu_image_velocity, which the offset of contact i contains; 0 if the cell stands still. */
static inline double cpu_image_closing(const CpuEngine *e, int64_t i)
{
    if (!e->cell_moves)
        return 0.0;
    const TalusContact *c = &e->contacts->contact[i];
    return talus_dot(c->normal, cpu_image_velocity(e, c));
}
/* Adds the cell's works at contacts and by its change of velocities to the ledger, and fills its virial. The problem's
 * records must hold the mean of free and solved velocities, the list its impulses; bodies have not moved yet. */
void cpu_add_cell_works(CpuEngine *e, TalusEngineLedger *ledger);

/* ---- impact.c ---- */
void cpu_clear_impacts(CpuEngine *e);

/* ---- probe.c ---- */
/* Computes force sums of the requested probes for impulses of impacts, on b in the world frame. The contacts must be in
 * groups (cpu_group_contacts). */
void cpu_compute_impact_probes(CpuEngine *e, const TalusVec3 *impulse);
/* Computes the sums of the requested probes (request_probes), after the list has its impulses and before the bodies
 * move. */
void cpu_compute_probes(CpuEngine *e, double h);

#endif

/* engine/cpu/engine.h - the host's engine: declarations shared by its files.
 *
 *     engine.c      bodies, tables, contacts and joints from the world; snapshot and rollback
 *     detect.c      free velocities, detection, redetection
 *     build.c       the contact problem of a step, or of a part of a halved step
 *     integrate.c   from solved velocities to the state at the end
 *     ledger.c      works of contacts, forces and driven bodies; impulses stored in the contacts
 *     probe.c       sums of probes
 *     sums.c        sums over bodies and contacts
 *
 * Loops run over chunks of CPU_GRAIN items. A sum is over groups of bodies or of contacts (backend/groups.h): it depends
 * neither on threads, nor on slots, nor on which groups are handled together. */
#ifndef TALUS_ENGINE_CPU_ENGINE_H
#define TALUS_ENGINE_CPU_ENGINE_H

#include "backend/groups.h"
#include "base/memory.h"
#include "base/status.h"
#include "engine/body.h"
#include "engine/contact_terms.h"
#include "engine/engine.h"
#include "engine/overlap.h"
#include "problem/build.h"

/* Items (slots, contacts) per chunk: the bodies whose contacts are grouped together. Maximum number of sums per chunk. */
enum { CPU_GRAIN = BODY_GRAIN, CPU_PARTIALS = 8 };

/* Copy of bodies and contacts for a rollback. */
typedef struct CpuSnapshot {
    TalusVec3 *position, *velocity, *spin;
    TalusQuat *orientation;
    TalusContactList list;
} CpuSnapshot;

typedef struct CpuEngine {
    TalusPool *pool;
    TalusProblem *problem;
    TalusPeriod period;
    TalusDetector *detector;
    TalusContactList *contacts; /* owned by the detector */

    /* owned by the world */
    TalusBodyArrays bodies;
    TalusTables tables;
    const TalusFilter *filter;
    const TalusVec3 *force, *torque;
    int forces; /* number of entries of force and torque: slots from there on have none */
    TalusEngineJoints joints;

    /* the current step, or part of a halved step */
    long long step;                 /* its number, for messages */
    int clipped;                    /* as in TalusEngineCounts */
    double min_size;                /* likewise */
    TalusVec3 *free_velocity;       /* [slots]: v + h g + h f/m if free, v if driven, else 0 */
    TalusVec3 *solved_velocity;     /* [slots], for redetection */
    TalusVec3 *solved_spin;         /* [slots], likewise */
    uint8_t *changed;               /* [slots]: velocity changed beyond the limit of find_missed */
    const TalusVec3 *seen_velocity; /* of the last detection: free_velocity or solved_velocity */
    const double (*solved)[8];      /* records of the last solve, in the problem's memory */
    bool missed_known;              /* the detector holds the contacts that find_missed found */
    TalusBuildOptions built;        /* options of the last build */
    /* [contacts], if `built` has a compliance: TalusHardening.load; -1: none */
    double *elastic_load;
    TalusGroups groups;              /* of the contacts of the last build */
    TalusGroups body_groups;         /* of the bodies of the last detection, in the order of ids */
    double (*partial)[CPU_PARTIALS]; /* sums of each chunk, or group, of a loop */
    uint16_t (*overlaps)[TALUS_OVERLAP_BINS]; /* histogram of each group of contacts */

    const TalusEngineProbe *probe; /* owned by the world */
    TalusProbeSums *probe_sums;
    int probes;

    CpuSnapshot snapshot;
} CpuEngine;

extern const TalusEngineOps cpu_engine_ops;

/* The operations: cpu_NAME. */
#define OPERATION(result, name, arguments) result cpu_##name arguments;
#define OWN_ONLY(result, name, arguments)
#include "engine/operations.h"

static inline CpuEngine *cpu_engine(TalusEngine *engine)
{
    return (CpuEngine *)engine;
}

/* ---- bodies ---- */
/* True if the slot holds a free body. */
static inline bool cpu_moves(const CpuEngine *e, int64_t slot)
{
    return e->bodies.shape[slot] >= 0 && e->bodies.mobility[slot] == TALUS_MOBILITY_FREE;
}

static inline bool cpu_driven(const CpuEngine *e, int64_t slot)
{
    return e->bodies.shape[slot] >= 0 && e->bodies.mobility[slot] == TALUS_MOBILITY_DRIVEN;
}

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

static inline const TalusLaw *cpu_law(const CpuEngine *e, const TalusContact *c)
{
    const int32_t *material = e->bodies.material;
    return &e->tables.law[material[c->a] * e->tables.materials + material[c->b]];
}

static inline double cpu_contact_size(const CpuEngine *e, const TalusContact *c)
{
    return talus_contact_size(e->bodies.size, e->bodies.shape, e->bodies.mobility, c);
}

/* Returns the attractive impulse of contact i, N s, by the options of the last build. */
static inline double cpu_attraction(const CpuEngine *e, int64_t i)
{
    const TalusContact *c = &e->contacts->contact[i];
    return talus_contact_pull(cpu_law(e, c), &e->built, c->gap, cpu_contact_size(e, c));
}

/* Returns the tangent that the last build, which has a relative compliance, gave contact i; compliance 0: none. The list
 * must have the impulses of that build. */
static inline TalusHardening cpu_hardening(const CpuEngine *e, const TalusOperator *op, int64_t i)
{
    const TalusContactList *list = e->contacts;
    const TalusContact *c = &list->contact[i];
    TalusHardening none = {0};
    if (e->built.soften > 0.0) { /* op->compliance exceeds that of the tangent */
        const TalusLaw *law = cpu_law(e, c);
        return law->stiffness > 0.0 ? none
                                    : talus_hardening(op, i, law, &e->built, c->gap,
                                                      cpu_contact_size(e, c), list->impulse[i]);
    }
    if (e->elastic_load[i] < 0.0)
        return none;
    double pull = e->tables.cohesion ? cpu_attraction(e, i) : 0.0;
    return (TalusHardening){.warm = talus_warm_normal(op, i, &e->built, list->impulse[i], pull),
                            .load = e->elastic_load[i],
                            .compliance = op->compliance[i]};
}

/* ---- sums.c ---- */
static inline TalusStatus cpu_reserve_partials(CpuEngine *e, int64_t rows)
{
    return TALUS_GROW(e->partial, (size_t)rows, 0, "partial sums");
}

/* Cuts the groups of the contacts and reserves partials for them. */
TalusStatus cpu_group_contacts(CpuEngine *e);

/* sum[columns] = sums of the first `columns` columns of the first `rows` partials. */
void cpu_sum_partials(const CpuEngine *e, int64_t rows, int columns, double *sum);

/* The same after a loop over all slots in chunks of CPU_GRAIN: for sums that are exact, as counts are. */
static inline void cpu_sum_slots(const CpuEngine *e, int columns, double *sum)
{
    cpu_sum_partials(e, talus_chunks(e->bodies.slots, CPU_GRAIN), columns, sum);
}

/* Cuts the groups of the bodies and reserves partials for them. */
TalusStatus cpu_group_bodies(CpuEngine *e);

/* Calls fn for each group of bodies, given by places in the order of ids (cpu_slot_at), in parallel; each leaves its sums
 * in a row of the partials. Then sum[columns] = sums of the first `columns` columns. */
void cpu_sum_bodies(CpuEngine *e, TalusLoopFn *fn, void *context, int columns, double *sum);

/* Returns the slot at a place in the order of ids. */
static inline int64_t cpu_slot_at(const CpuEngine *e, int64_t place)
{
    return e->bodies.at_rank ? (int64_t)e->bodies.at_rank[place] : place;
}

/* Calls fn for each group of contacts, in parallel; each leaves its sums in a row of the partials. Then sum[columns] =
 * sums of the first `columns` columns. */
void cpu_sum_contacts(CpuEngine *e, TalusLoopFn *fn, void *context, int columns, double *sum);

/* ---- build.c ---- */
/* Writes the problem's body records and lengths anew, with the free velocities: without attraction and motors. */
void cpu_fill_bodies(CpuEngine *e);
/* After a solve: largest overlap by relative compliance over its limit, as the operation `compute_velocities`
 * reports it. */
double cpu_strain(CpuEngine *e);

/* ---- ledger.c ---- */
/* Add works to the ledger; cpu_contact_works also stores the impulses in the list and summarises the overlaps. cpu_force_works runs first, while
 * the problem's records hold free velocities; the other two run when they hold the mean of free and solved ones. */
void cpu_contact_works(CpuEngine *e, TalusEngineLedger *ledger);
void cpu_force_works(CpuEngine *e, double h, TalusEngineLedger *ledger);
void cpu_driven_works(CpuEngine *e, TalusEngineLedger *ledger);

/* ---- probe.c ---- */
/* Computes the requested sums. Runs after the list has its impulses and before the bodies move. */
void cpu_run_probes(CpuEngine *e);

#endif

/* engine/cuda/engine.h - the device's engine: declarations shared by its files.
 *
 *     engine.cu      creation, tables, upload and download of bodies, snapshot   (engine/engine.h)
 *     extra.cu       shapes, filters, forces, states of a subset of bodies
 *     contacts.cu    upload and download of contacts in the host's order; impulses stored after a solve
 *     detect.cu      collision detection: the contact list and each body's contacts (detect.h names its files)
 *     motions.cu     velocities and spins that detection uses
 *     build.cu       the problem of a step
 *     material.cu    what laws beyond the circular cone of ccp add to the problem (material.h)
 *     joints.cu      blocks of joints, which the host makes, in the problem; results of joints
 *     probe.cu       sums of probes
 *     halo.cu        on several ranks: the halo of a problem, numbers of contacts
 *     reach.cu       on several ranks: where own bodies may touch others, which are near others' bodies
 *     exchange.cu    on several ranks: states and solved motions of the halo, in messages
 *     slots.cu       on several ranks: bodies of a new halo, contacts that get other slots with it
 *     integrate.cu   solved velocities, ledger, the state at the end of the step
 *
 * Bodies are stored by slot. Walls are planes, revolves, meshes, fields, and large bodies that are not free, unless
 * there are more than TALUS_LARGE_WALLS of these; all other bodies are in the grid. Each detection sorts the bodies of
 * the grid by cell, small sizes first, and puts driven walls behind them. A body's index in this order is its problem
 * index, so that neighbours in space are neighbours in the problem's memory; walls that are not driven have none.
 * Contacts are ordered by run, then by the lower problem index of a and b (a's, if b has none), then in the order in
 * which the search from that body finds its partners, then by feature. This order depends on the state and on ids
 * alone, for bodies of one cell are in the order of their ids. Which body of a contact is a and which is b follows from
 * their ids as in collide/contact.h, so normals and impulses have the signs that they have on the host. */
#ifndef TALUS_ENGINE_CUDA_ENGINE_H
#define TALUS_ENGINE_CUDA_ENGINE_H

#include "backend/cuda/device/device.h"

extern "C" {
#include "engine/cuda/table.h"
}

/* Elements of the operator's arrays (backend/operator.h). */
typedef double CuRecord[8]; /* of body: velocity, 1/m, spin times l, k */
typedef double CuSym3[6];   /* of inverse_inertia */
typedef double CuArm[6];    /* of arm: arm of a, arm of b */
typedef double CuPair[2];   /* of diagonal, moment_mu and lever */
/* An element of TalusOperator.frame: normal (x, y, z) and c, in w; aligned, so that two loads of 16 bytes take it. */
struct alignas(16) CuFrame {
    double x, y, z, w;
};

/* Shapes and laws of the world: TalusTables on the device. */
struct CuTables {
    CuArray<TalusShape> shape;       /* the host's shapes, with pointers into `block` */
    CuArray<unsigned char> block;    /* arrays of all shapes (vertices, facets, ..), concatenated */
    bool complex_shapes;             /* some shape is no sphere, plane or revolve */
    bool facets;                     /* some shape is a mesh or a field */
    CuArray<TalusGyration> gyration; /* [shapes] */
    CuArray<TalusLaw> law;           /* [materials][materials] */
    int shapes, materials;           /* numbers */
    bool compliance, models, restitution, cohesion; /* as in TalusTables */
    int min_rows, max_rows; /* smallest and largest number of rows of a law; 1 without laws */
    uint32_t kinds;         /* bits of the friction kinds of all laws, as TalusOperator.kinds */
};

/* The bodies: arrays by slot, as in TalusBodyArrays. */
struct CuBodies {
    int slots; /* number, empty ones included */
    int own; /* number of this rank's slots, the first ones; the others have a halo (TalusBodyArrays) */
    CuArray<TalusVec3> position, velocity, spin;
    CuArray<TalusQuat> orientation;
    CuArray<double> mass, radius, size;
    CuArray<int32_t> shape, material;
    CuArray<uint8_t> mobility;
    bool ids_differ; /* some id is not its slot + 1; else `id` is not filled */
    CuArray<uint64_t> id;
    bool ranked; /* ids do not ascend with slots; else rank (TalusBodyView) is not filled */
    CuArray<uint32_t> rank;
    int free_bodies; /* number, of this rank */
    int driven;      /* 1: some body is driven; else 0 */
    int force_count; /* entries of force and torque; bodies in slots from this number on have none */
    CuArray<TalusVec3> force, torque; /* applied to bodies during a step; N, N m */
};

/* If the sums of all probes are at most CU_PROBE_TOTALS numbers, they are in the context's totals from index CU_PROBES
 * on, and integrate.cu downloads them with the step's other sums; else they are in TalusEngine.probe_sums. */
enum { CU_PROBES = 32, CU_PROBE_TOTALS = 84 };

/* The contacts of one detection, in the order given at the top of this file. */
struct CuList {
    TalusEngineCounts counts; /* numbers of contacts, and other results of the detection */
    int problem_bodies;       /* number of bodies with a problem index */
    int slots;                /* number of slots at the detection */
    CuArray<uint32_t> slot;   /* [problem_bodies]: slot of each problem body */
    /* [slots]; -1: no body, or a wall that is not driven. In a list uploaded from the host -1: the body is not free */
    CuArray<int32_t> problem_index;
    /* [contacts]: problem indices of a and b; -1 for b if b is fixed or has no problem index */
    CuArray<int2> pair;
    CuArray<uint32_t> slot_b;                    /* [contacts]: slot of b */
    CuArray<uint32_t> feature;                   /* [sphere_fixed + general]; 0 for two spheres */
    CuArray<CuFrame> frame;                      /* [contacts]: normal, c (backend/frame.h) */
    CuArray<double> gap;                         /* [contacts], m */
    CuArray<TalusArms> arms;                     /* [general]: from centres to the contact, m */
    CuArray<TalusVec3> impulse;                  /* [contacts]: on b, world frame, N s */
    CuArray<int32_t> incidence_start, incidence; /* as in backend/operator.h */
};

/* The contact problem of a step. The operator's arrays pair, frame, incidence_start and incidence are those of the list
 * (with moment rows op.incidence is `incidence` below) or, with joints, those of CuJoints. The solved velocities
 * (cu_solved_records) are in the operator's scratch, which nothing else uses between compute_velocities and
 * integrate. */
struct CuStep {
    TalusOperator op;
    /* [problem_bodies]: records with free velocities; after integration with the mean of free and solved ones */
    CuArray<CuRecord> body;
    CuArray<CuSym3> inverse_inertia; /* [problem_bodies]; only with general contacts */
    CuArray<CuArm> arm;              /* [general]: arms over the lengths of their bodies */
    CuArray<double> coupling;        /* [general] */
    CuArray<double> bias;            /* [blocks] */
    CuArray<double> mu;              /* [blocks]; only with friction */
    CuArray<double> compliance;      /* [blocks]; only if some block has it */
    CuArray<double> gamma;           /* [rows * blocks]: impulses, initial and then solved */
    CuArray<CuPair> diagonal;        /* [blocks] */
    /* only with joints or with friction other than ccp on the disc */
    CuArray<TalusBlockModel> model;
    /* estimate: only with law fixed; unshifted: only with law coulomb */
    CuArray<double> estimate, unshifted;
    CuArray<CuPair> moment_mu, lever; /* only with moment rows */
    /* only with moment rows: the list's incidence, renumbered because all contacts are then general */
    CuArray<int32_t> incidence;
    TalusBuildOptions options; /* options of the last build */
};

/* Blocks of joints in the problem of a step; they follow the blocks of contacts (joints.cu). */
struct CuJoints {
    CuArray<TalusEngineJoint> block;
    CuArray<TalusMotorChange> motor_change;
    int bounded, free,
        motor_changes; /* as in TalusEngineJoints: numbers of blocks and of motor changes */
    bool compliance;   /* some block has compliance */
    /* the operator's pair, frame, incidence_start and incidence, with contacts first, then joints */
    CuArray<int2> pair;
    CuArray<CuFrame> frame;
    CuArray<int32_t> start, incidence;
    CuArray<uint32_t> ends_before; /* work space (IncidenceMerge in joints.cu) */
    CuArray<double> impulse;       /* [3 blocks]: impulses of joints, staged for the download */
    CuArray<CuRecord> record;      /* [bodies asked for]: records, staged for the download */
};

/* Page-locked memory of the host (exchange.h). */
struct CuPinned {
    void *at;
    size_t bytes;
};

/* What ranks tell each other of the halo's bodies (exchange.cu). */
struct CuExchange {
    CuArray<int32_t> send, receive; /* slots: [sends], [receives] */
    int sends, receives;
    CuArray<char> record; /* records of one of the two lists */
    CuPinned out, in;     /* messages */
};

/* Own bodies of which other ranks have copies, by slots, then those of the halo (halo.cu); in host memory. */
struct CuLink {
    int own, bodies; /* numbers: of the former, of all */
    int32_t *slot;
    uint64_t *number;
    uint32_t *
        order; /* the bodies by ascending numbers, unless they are in this order (`ordered` false) */
    bool ordered;
    int32_t *
        owner; /* in a problem: rank of the owner; all that nothing touches count as this rank's own */
};

/* In TalusContactList's place of a slot: the body is not here any more (slots.cu). */
enum : uint32_t { CU_GONE = 0xffffffffu };

struct TalusEngine {
    CuContext *cu;               /* owned by the world */
    CuArray<TalusPeriod> period; /* one element in periodic space, else empty */
    CuTables tables;
    CuBodies bodies;
    const uint64_t *id; /* ids by slot, in host memory, for messages */
    /* as in TalusBodyArrays, in host memory; comm NULL: there is one rank */
    TalusComm *comm;
    const int32_t *owner;
    const uint32_t *at_rank;
    int64_t all_contacts[2]; /* of all ranks: contacts, and general ones among them */
    /* on several ranks: solved motions of some bodies in host memory; `motions_stored`: solved_velocity and solved_spin
     * have those of all bodies, for find_missing and redetect */
    TalusSolvedMotions motions;
    bool motions_stored;
    /* on several ranks: reaches of own bodies when the halo was made, [reaches] */
    CuArray<TalusReach> reach;
    int reaches;
    CuArray<double> reach_sums; /* work space of note_reaches */
    CuArray<uint32_t> near_bit; /* [TALUS_NEAR_WORDS]: cells that are touched */
    CuArray<uint32_t> near;     /* [own + 1]: work space of find_near */
    CuPinned near_slot;         /* what find_near lends */
    CuExchange exchange;
    CuLink link;
    CuList list[2];
    int current; /* index in `list` of the last detection's or upload's list; the other is work space */
    const TalusVec3
        *detection_velocity; /* [slots]: free_velocity or solved_velocity, which detection used */
    CuArray<TalusVec3> free_velocity;   /* [slots]: v + h g + h f/m if free, v if driven, else 0 */
    TalusVec3 free_change;              /* h g of these */
    double free_h;                      /* h */
    CuArray<TalusVec3> solved_velocity; /* [slots]: solved v if free, v if driven, else 0 */
    const TalusVec3 *detection_spin;    /* [slots]: bodies.spin or solved_spin */
    CuArray<TalusVec3> solved_spin;     /* [slots]: solved spin if free, else that of the body */
    CuArray<uint8_t>
        dropped;        /* [slots]: argument `dropped` of put_bodies or move_contacts, if given */
    TalusFilter filter; /* device pointers; group NULL: all pairs collide */
    CuArray<uint16_t> group;        /* filter.group */
    CuArray<uint32_t> filter_pairs; /* filter.meets, then filter.excluded */
    CuArray<int32_t> subset;        /* slots whose states or records are uploaded or downloaded */
    CuArray<TalusMotion> motion;    /* states of these slots */
    CuArray<double> probe_sums; /* sums of probes, if they do not fit into the totals (probe.cu) */
    CuArray<uint8_t> probe_counted; /* on several ranks: CuTallies.counted of probes */
    bool probes_downloaded; /* integrate.cu has filled downloaded_probes since the last request */
    double downloaded_probes[CU_PROBE_TOTALS]; /* host copy of the probes' totals */
    struct CuGrid *grid;                       /* memory of detection (detect.h) */
    struct CuBackup *backup;                   /* the snapshot (engine.cu) */
    CuStep step;
    CuJoints joints;
};

/* Returns the list of the last detection. */
static inline CuList *cu_current_list(TalusEngine *e)
{
    return &e->list[e->current];
}

/* True if detection uses, or has used, the solved velocities; cu_detect_with sets it. */
static inline bool cu_detects_solved(const TalusEngine *e)
{
    return e->solved_velocity.at && e->detection_velocity == e->solved_velocity.at;
}

static inline void cu_detect_with(TalusEngine *e, bool solved)
{
    e->detection_velocity = solved ? e->solved_velocity.at : e->free_velocity.at;
}

/* Uploads `count` elements of the host's array `from` to the start of `to`, which grows if needed, and waits for the
 * copy. Fails only for lack of memory; cu_check reports a failed copy. `what` names the array in messages. */
template <class T>
static inline TalusStatus cu_upload(TalusEngine *e, CuArray<T> *to, const T *from, int64_t count,
                                    const char *what)
{
    TALUS_TRY(to->reserve(count, what));
    cu_put(e->cu, to->at, from, (size_t)count * sizeof *from);
    return TALUS_OK;
}

/* detect.cu: makes a new contact list with the velocities e->detection_velocity, transfers the impulses of the current
 * list to it and makes it the current list. Call it directly after cu_write_detection_motions, whose totals it
 * reads. Fails as the operation `detect` (engine/operations.h). */
TalusStatus cu_detect_contacts(TalusEngine *e, const TalusDetectOptions *options);
/* detect.cu: sets *missing to whether a contact is missing (collide/missing.h) in the current list, at the velocities
 * e->detection_velocity and e->detection_spin. Call it directly after cu_write_detection_motions. */
TalusStatus cu_find_missing_contacts(TalusEngine *e, const TalusDetectOptions *options,
                                     double tolerance, bool *missing);
/* Frees the memory of detection, e->grid. */
void cu_detection_clear(TalusEngine *e);

/* engine.cu: zeroes the impulses of the contacts of bodies with dropped[slot] nonzero; dropped[slots] has all slots of the
 * current list. */
TalusStatus cu_drop_impulses(TalusEngine *e, const uint8_t *dropped, int slots);
/* extra.cu: motion[k] = state of the body in slot[k], and the reverse, all on the device. */
void cu_gather_states(TalusEngine *e, const int32_t *slot, TalusMotion *motion, int count);
void cu_scatter_states(TalusEngine *e, const int32_t *slot, const TalusMotion *motion, int count);

/* extra.cu: uploads the shapes and the arrays that they point to; sets complex_shapes and facets of the tables. */
TalusStatus cu_put_shapes(TalusEngine *e, const TalusTables *tables);

/* joints.cu, in the order of a build. */
/* Returns the number of joint blocks in the problem. */
int cu_joint_block_count(const TalusEngine *e);
/* Sets op->joints, the number of free joint blocks. If there are joint blocks, replaces pair, frame, incidence_start
 * and incidence of the operator, whose sizes are set, by copies: pair and frame with space for joints, incidence with
 * the joints' entries. */
TalusStatus cu_joints_extend_operator(TalusEngine *e);
/* Writes the blocks of joints to the operator, with zero impulses. */
void cu_joints_fill_blocks(TalusEngine *e);
/* Adds the velocity changes by torque motors to the bodies' records and writes the initial impulses of joints to gamma.
 * Call it after cu_add_attraction, which needs the impulses of joints in gamma to be 0. */
void cu_joints_add_motors_and_impulses(TalusEngine *e);
/* Frees the memory of e->joints. */
void cu_joints_clear(TalusEngine *e);

/* motions.cu: makes the free velocities and the present spins of bodies or, if `again`, the solved ones
 * e->detection_velocity and e->detection_spin, by slot; spins of spheres matter, too, because envelopes contain speeds of
 * sliding. Driven bodies have their own velocity, other bodies that are not free 0. Also writes totals 0 and 1 of the
 * context, over free bodies: minus the lowest slot with a bad state (talus_state_fault; -infinity: none), and minus the
 * smallest size (-infinity: no body is free). */
TalusStatus cu_write_detection_motions(TalusEngine *e, double h, TalusVec3 gravity, bool again);
/* halo.cu: after a detection counts the contacts of all ranks (e->all_contacts). cu_link_problem makes the halo of the
 * problem, whose operator is prepared, on several ranks; cu_clear_halo frees it. motions.cu: cu_motions_clear frees
 * e->motions. */
TalusStatus cu_count_all_contacts(TalusEngine *e);
TalusStatus cu_link_problem(TalusEngine *e);
/* halo.cu: sets e->link for new lists of what is sent and received. */
TalusStatus cu_link_bodies(TalusEngine *e, const TalusHaloLists *lists);
void cu_link_clear(TalusEngine *e);
void cu_clear_halo(TalusEngine *e);
void cu_motions_clear(TalusEngine *e);
/* reach.cu, exchange.cu: free what they keep in the engine. */
void cu_reaches_clear(TalusEngine *e);
void cu_exchange_clear(TalusEngine *e);
/* Frees the memory of e->step. */
void cu_step_clear(TalusEngine *e);
/* material.cu: returns the records with solved velocities, [problem_bodies], in the operator's scratch; valid from the
 * operation compute_velocities until another operation uses the scratch. */
const CuRecord *cu_solved_records(const TalusEngine *e);

/* True if the slot holds a driven body: one with a problem index and a velocity that impulses do not change. */
static __device__ inline bool cu_is_driven(const CuBodies &b, int64_t slot)
{
    return b.driven && b.shape[slot] >= 0 && b.mobility[slot] == TALUS_MOBILITY_DRIVEN;
}

/* Returns the length l of a body, which scales its arms and spin in the problem: its radius, 1 m if that is 0. */
static __device__ inline double cu_body_length(const CuBodies &b, int64_t slot)
{
    double radius = b.radius[slot];
    return radius > 0.0 ? radius : 1.0;
}

/* True if the slot holds a free body. */
static __device__ inline bool cu_is_free(const int32_t *shape, const uint8_t *mobility,
                                         int64_t slot)
{
    return shape[slot] >= 0 && mobility[slot] == TALUS_MOBILITY_FREE;
}

#endif

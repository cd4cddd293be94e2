/* engine/cuda/detect.h - collision detection on the device: declarations shared by its files.
 *
 *     grid.cu        bodies in cells (collide/grid.h); walls (engine.h) in a list of their own
 *     pairs.cu       the search: contacts of moving spheres; all other near pairs become candidates
 *     narrow.cu      contacts of the candidates (collide/pair_table.h)
 *     incidence.cu   incidence: each body's contacts
 *     transfer.cu    impulses from the old list
 *     detect.cu      sequence of these, memory, refusals
 *
 * Bytes of detection alone, besides the lists of engine.h: 68 per slot (fat radius 4, cell starts 8, sorted copy 36,
 * counts 8, scratch 12), 16 per candidate, and 16 more with shapes other than spheres, planes and revolves. */
#ifndef TALUS_ENGINE_CUDA_DETECT_H
#define TALUS_ENGINE_CUDA_DETECT_H

#include "engine/cuda/engine.h"

extern "C" {
#include "collide/fit.h"
}

#define CU_NONE UINT32_MAX

enum {
    CU_CLASSES = 512,    /* size classes, by powers of two: enough for fat radii as floats */
    CU_CLASS_ZERO = 767, /* class 0 here is this one of talus_size_class (collide/grid_level.h) */
    CU_SPARE_CELLS = 27 * TALUS_MAX_LEVELS + 2 /* cells besides two per body */
};

/* Kinds of candidates without a closed form of spheres: with a plane, two convex bodies, with a mesh or field, with a
 * compound. The narrow phase groups them, so that neighbouring threads do the same kind of work. */
enum { CU_KIND_PLANE, CU_KIND_CONVEX, CU_KIND_FACETS, CU_KIND_PARTS, CU_KINDS };

/* Results for the host. fault, bad, odd and loose are the lowest slot with that fault, or CU_NONE. */
struct CuFound {
    uint32_t fault;  /* its state is not finite (cu_predict_velocities) */
    double min_size; /* smallest size of a free body (cu_predict_velocities) */
    /* not finite, or the fat radius is out of range; sphere of size != radius; free body with the shape of a wall */
    uint32_t bad, odd, loose;
    uint32_t unbounded;      /* number of walls that are planes, revolves, meshes or fields */
    uint32_t members;        /* bodies in the grid, the first of the problem */
    uint32_t problem_bodies; /* bodies in the grid and driven walls */
    TalusFit fit;            /* limits of periodic space (collide/fit.h) */
    /* numbers: contacts of two free spheres; candidates; contacts of spheres with fixed bodies; general contacts */
    double spheres, candidates, fixed, general;
    uint32_t rest[CU_KINDS];        /* numbers of candidates by CU_KIND */
    unsigned long long unsupported; /* lowest pair without contact function: a << 32 | b */
};

/* The grid's shape, computed on the device. Lengths in metres except fat radii. */
struct CuGridShape {
    CuFound found;
    int moving; /* free bodies in the sample; 0: none, or found.fault: the grid is then empty */
    bool again; /* bodies are measured again without drift, so that they fit into the period */
    TalusVec3 drift, low, high; /* mean velocity of the sample, m/s; corners of the grid's box */
    double unit; /* unit of fat radii (radius plus margin), m: a power of two near their mean */
    double edge_factor; /* scales the cell edges of all size classes */
    float large;        /* bodies that are not free and have a larger fat radius are walls */
    uint32_t large_walls, large_wall[TALUS_LARGE_WALLS]; /* their number; slots of the first ones */
    int walls, levels;
    TalusLevel level[TALUS_MAX_LEVELS]; /* coarsest first; cells are numbered finest level first */
    uint32_t size_class[CU_CLASSES];    /* number of the grid's bodies in each class */
    uint8_t level_of_class[CU_CLASSES];
};

/* Position and radius of a body in the search, m; two loads of 16 bytes. */
struct alignas(16) CuBall {
    double x, y, z, radius;
};

/* Two bodies, by slot, for the narrow phase; a and b as in collide/contact.h. */
struct CuCandidate {
    uint32_t a, b;
};

/* Arguments of detection's kernels. */
struct CuDetect {
    CuContext *cu;        /* host only */
    TalusBodyView bodies; /* device pointers */
    TalusDetectOptions options;
    TalusFilter filter;
    CuGridShape *grid;
    int64_t slots;
    TalusWall *wall;     /* in metres */
    uint32_t *wall_slot; /* [wall_capacity]: walls by shape (found.unbounded), in any order */
    uint32_t wall_capacity;
    /* by slot: fat radius in units, negated unless a free sphere; 0: wall by shape, or no body */
    float *fat;
    uint32_t *cell, *rank, *temp; /* by slot; scratch */
    uint64_t *mask;               /* by problem index; shares memory with cell and rank */
    uint32_t *start;              /* first problem index of each cell */
    uint32_t *slot;               /* by problem index */
    int32_t *problem_index;       /* by slot */
    CuBall *ball;                 /* by problem index: position and radius */
    float *ball_fat;              /* by problem index: as `fat` */
    /* [2][slots + 1] by problem index: numbers of contacts of two free spheres, and of candidates, that the search from
     * a body finds; then prefix sums over both rows, so that candidates count from found.spheres on */
    uint32_t *count;
    CuCandidate *candidate;
    bool driven;         /* some body is driven */
    bool ragged, facets; /* as in CuTables */
    uint32_t *rest;      /* [CU_KINDS][candidates]: indices of the candidates of a kind */
};

/* Memory of detection; CuDetect points into it. */
struct CuGrid {
    CuArray<CuGridShape> grid;
    CuArray<TalusWall> wall;
    CuArray<uint32_t> wall_slot, scratch, start, count, contact_count;
    CuArray<float> fat, ball_fat;
    CuArray<CuBall> ball;
    CuArray<CuCandidate> candidate;
    CuArray<uint32_t> rest;
};

/* Returns the size class of a fat radius. */
static __device__ inline int cu_class_of(float fat, double edge_factor)
{
    int k = talus_size_class(fabs((double)fat), 1.0 / edge_factor) - CU_CLASS_ZERO;
    return k < 0 ? 0 : k < CU_CLASSES ? k : CU_CLASSES - 1;
}

/* True if the body is a large wall: not free (so that fat < 0), with a fat radius above grid->large. */
static __device__ inline bool cu_large(const CuDetect &d, uint32_t slot, float fat)
{
    return d.bodies.mobility[slot] != TALUS_MOBILITY_FREE && -fat > d.grid->large;
}

/* grid.cu: sorts bodies into cells and fills d from wall to ball_fat. Reads the totals of cu_predict_velocities. */
TalusStatus cu_grid_build(const CuDetect *d);
/* pairs.cu: count fills d->count and d->mask, and spheres and candidates in `found`; write fills d->candidate and the
 * pairs of the list's run 1, contacts of two free spheres; frames fills frames and gaps of run 1. */
TalusStatus cu_pairs_count(const CuDetect *d);
void cu_pairs_write(const CuDetect *d, const CuList *list, int spheres);
void cu_sphere_frames(const CuDetect *d, const CuList *list, int spheres);
/* narrow.cu: count fills count, [2][candidates + 1], with the contacts of each candidate in runs 2 (sphere-fixed) and 3
 * (general), then prefix sums over both rows, and fixed and general in `found`; write fills these contacts. */
TalusStatus cu_manifolds_count(const CuDetect *d, int candidates, uint32_t *count);
void cu_manifolds_write(const CuDetect *d, int candidates, uint32_t *count, const CuList *list);
/* incidence.cu: fills incidence_start and incidence of a list that is complete except for its impulses, whose memory
 * serves as scratch. */
TalusStatus cu_list_body_contacts(const CuDetect *d, const CuList *list);
/* transfer.cu: fills list->impulse from the old contacts with the same (a, b, feature), else 0. begin: work space,
 * [3 old->problem_bodies]. */
void cu_transfer_impulses(CuContext *cu, const CuList *old, const CuList *list, uint32_t *begin);

#endif

/* engine/cuda/detect.h - collision detection on the device: what its files share.
 *
 *     grid.cu      bodies in cells (collide/grid.h says how), walls aside
 *     pairs.cu     the search: contacts of moving spheres, candidates for all others
 *     narrow.cu    touches of the candidates (collide/pair_table.h)
 *     manifolds.cu   each body's contacts
 *     transfer.cu     impulses from the old list
 *     detect.cu    one after the other, memory, refusals
 *
 * Bytes of detection alone, beside the lists of engine.h: 68 per slot (fat radius 4, cell starts 8, sorted
 * copy 36, counts 8, scratch 12), 16 per candidate, and 16 more where there are shapes other than spheres,
 * planes and revolves. */
#ifndef TALUS_ENGINE_CUDA_DETECT_H
#define TALUS_ENGINE_CUDA_DETECT_H

#include "engine/cuda/engine.h"

extern "C" {
#include "collide/fit.h"
}

#define CU_NONE UINT32_MAX

enum {
    CU_CLASSES = 512,    /* size classes: fat radii are floats in units near 1 */
    CU_CLASS_ZERO = 767, /* collide/level.h's number of the first of them */
    CU_SPARE_CELLS = 27 * TALUS_MAX_LEVELS + 2 /* beyond two per body */
};

/* Candidates that the narrow phase sets aside, so that neighbouring threads do the same kind of work. */
enum { CU_KIND_PLANE, CU_KIND_CONVEX, CU_KIND_FACETS, CU_KIND_PARTS, CU_KINDS };

/* What the host gets to know; slots are the lowest ones, or CU_NONE. */
struct CuFound {
    uint32_t fault;           /* a slot whose state is not finite, */
    double min_size;          /*   and the least size, as cu_predict_velocities found them */
    uint32_t bad, odd, loose; /* slots that talus_refuse_... names */
    uint32_t unbounded;       /* walls that are planes, revolves, meshes or fields */
    uint32_t members;         /* bodies in the grid: the first places */
    uint32_t places;          /* with those of driven walls */
    TalusFit fit;             /* where space repeats itself */
    double spheres, candidates, fixed, general;
    uint32_t rest[CU_KINDS];        /* candidates set aside, by CU_KIND */
    unsigned long long unsupported; /* slots of a and b of the lowest pair, a in the upper half */
};

/* The grid's shape, made on the device. Lengths are metres but for fat radii. */
struct CuGridShape {
    CuFound found;
    int moving; /* bodies in the sample that move; none: nothing can touch */
    bool again; /* bodies are measured again, without drift, so that they fit into the period */
    TalusVec3 drift, low, high;
    double unit; /* of fat radii: a power of two near the typical one */
    double phase;
    float large; /* fixed bodies with a larger fat radius are walls */
    uint32_t large_walls, large_wall[TALUS_LARGE_WALLS];
    int walls, levels;
    TalusLevel
        level[TALUS_MAX_LEVELS]; /* coarsest first; cells and places run from the finest on */
    uint32_t size_class[CU_CLASSES];
    uint8_t level_of_class[CU_CLASSES];
};

/* A body as the search sees it; two loads of 16 bytes. */
struct alignas(16) CuBall {
    double x, y, z, radius;
};

/* Two bodies, by slot, whose touches the narrow phase finds; a and b as in collide/contact.h. */
struct CuCandidate {
    uint32_t a, b;
};

/* Detection as kernels see it. */
struct CuDetect {
    CuContext *cu;        /* for the host */
    TalusBodyView bodies; /* device pointers */
    TalusDetectOptions options;
    TalusFilter filter;
    CuGridShape *grid;
    int64_t slots;
    TalusWall *wall;     /* in metres */
    uint32_t *wall_slot; /* [wall_room]: planes and others without a size, as they are met */
    uint32_t wall_room;
    float *fat;                   /* by slot, in units; 0 outside the grid, negative if not a
                                     moving sphere */
    uint32_t *cell, *rank, *temp; /* by slot; scratch */
    uint64_t *mask;               /* by place; in the place of cell and rank */
    uint32_t *start;              /* first place of each cell */
    uint32_t *slot;               /* by place */
    int32_t *place;               /* by slot */
    CuBall *ball;                 /* by place: position and radius */
    float *ball_fat;              /* by place */
    uint32_t *count; /* [2 (slots + 1)]: contacts of spheres found from each place, then candidates;
                        sums of those before, once scanned */
    CuCandidate *candidate;
    bool driven;         /* some bodies are */
    bool ragged, facets; /* as CuTables */
    uint32_t *rest;      /* [CU_KINDS][candidates]: those that are dearer than spheres, by kind */
};

struct CuGrid {
    CuArray<CuGridShape> grid;
    CuArray<TalusWall> wall;
    CuArray<uint32_t> wall_slot, scratch, start, count, touch_count;
    CuArray<float> fat, ball_fat;
    CuArray<CuBall> ball;
    CuArray<CuCandidate> candidate;
    CuArray<uint32_t> rest;
};

static __device__ inline int cu_class_of(float fat, double phase)
{
    int k = talus_size_class(fabs((double)fat), 1.0 / phase) - CU_CLASS_ZERO;
    return k < 0 ? 0 : k < CU_CLASSES ? k : CU_CLASSES - 1;
}

static __device__ inline bool cu_large(const CuDetect &d, uint32_t slot, float fat)
{
    return d.bodies.fixed[slot] && -fat > d.grid->large;
}

/* grid.cu: bodies into cells, from nothing to ball and ball_fat. The totals hold what cu_predict_velocities left
 * there. */
TalusStatus cu_grid_build(const CuDetect *d);
/* pairs.cu: counts into d->count, totals into found; then all of it written, run 1 into the list; normals
 * and gaps of run 1. */
TalusStatus cu_pairs_count(const CuDetect *d);
void cu_pairs_write(const CuDetect *d, const CuList *list, int spheres);
void cu_sphere_frames(const CuDetect *d, const CuList *list, int spheres);
/* narrow.cu: counts of runs 2 and 3 by candidate, [2 (candidates + 1)], totals into found; then contacts. */
TalusStatus cu_manifolds_count(const CuDetect *d, int candidates, uint32_t *count);
void cu_manifolds_write(const CuDetect *d, int candidates, uint32_t *count, const CuList *list);
/* manifolds.cu: contact_start and touch of a list that is otherwise complete but for its impulses, whose
 * memory serves as scratch. */
TalusStatus cu_list_body_contacts(const CuDetect *d, const CuList *list);
/* transfer.cu: impulses of the list, by key from the old one. begin: [3 old->places], scratch. */
void cu_transfer_impulses(CuContext *cu, const CuList *old, const CuList *list, uint32_t *begin);

#endif

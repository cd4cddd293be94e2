/* engine/cuda/detect.h - collision detection on the device: declarations shared by its files.
 *
 *     grid.cu        bodies in cells (collide/grid.h); walls (engine.h) in a list of their own
 *     pairs.cu       search for near pairs: contacts of two free spheres; all other pairs become candidates
 *     narrow.cu      contacts of the candidates (collide/pair_table.h)
 *     incidence.cu   incidence: the list of each body's contacts
 *     transfer.cu    impulses of the old list, transferred to the new one
 *     missing.cu     after a solve: contacts that the list lacks, for the check of near pairs (CuCheck)
 *     detect.cu      sequence of these stages, memory, refusals
 *
 * Bytes of detection alone, besides the lists of engine.h: 68 per slot (fat radius 4, cell starts 8, sorted copy 36,
 * counts 8, scratch 12), 16 per candidate, and 16 more with shapes other than spheres, planes and revolves. */
#ifndef TALUS_ENGINE_CUDA_DETECT_H
#define TALUS_ENGINE_CUDA_DETECT_H

#include "engine/cuda/engine.h"

extern "C" {
#include "collide/fit.h"
}

/* No slot, or no cell. */
#define CU_NONE UINT32_MAX

enum {
    CU_CLASSES = 512, /* number of size classes, one per power of two, enough for all of float */
    CU_CLASS_ZERO =
        767, /* size class 0 here is class 767 of talus_size_class (collide/grid_level.h) */
    CU_SPARE_CELLS = 27 * TALUS_MAX_LEVELS + 2 /* capacity of cell_start: 2 per slot and these */
};

/* Kinds of grouped candidates, those without a sphere in closed form: with a plane, two convex bodies, with a mesh or
 * field, with a compound. The narrow phase groups candidates by kind, so that neighbouring threads run the same
 * code. */
enum { CU_KIND_PLANE, CU_KIND_CONVEX, CU_KIND_FACETS, CU_KIND_PARTS, CU_KINDS };
/* Behind the kinds, those grouped candidates that have contacts. The count finds them, and only they are computed again
 * when contacts are written: most near pairs do not touch. */
enum { CU_TOUCHING = CU_KINDS, CU_GROUPS };

/* Results of the kernels of detection, downloaded by the host. Each of bad_state, bad_radius, bad_sphere and free_wall
 * is the lowest slot of a body with that fault; CU_NONE: no body has it. */
struct CuFound {
    uint32_t bad_state; /* total 0 of cu_write_detection_motions: the state is not finite */
    double min_size;    /* smallest size of a free body, m; infinity: no body is free */
    uint32_t
        bad_radius; /* talus_body_is_finite is false, or the fat radius is out of float's range */
    uint32_t bad_sphere;  /* sphere of size != radius */
    uint32_t free_wall;   /* free body with the shape of a wall */
    uint32_t shape_walls; /* number of walls by shape: planes, revolves, meshes, fields */
    uint32_t members;     /* number of bodies in the grid; they have the lowest problem indices */
    uint32_t problem_bodies; /* number of bodies in the grid and driven walls */
    TalusFit fit;            /* limits of periodic space (collide/fit.h) */
    /* numbers of contacts of two free spheres, of candidates, of contacts of spheres with fixed bodies, and of general
     * contacts */
    unsigned long long sphere_sphere, candidates, sphere_fixed, general;
    unsigned long long
        missing_spheres; /* number of contacts that cu_count_missing_spheres has found */
    uint32_t
        grouped[CU_GROUPS]; /* number of grouped candidates of each CU_KIND_, and of CU_TOUCHING */
    unsigned long long
        unsupported; /* lowest pair of slots, a << 32 | b, whose shapes have no contact function; ~0: none */
};

/* What choose_grid finds out about the sample, stage by stage. On several ranks it runs once for each stage; between the
 * runs the host replaces what the stage has found by the sums or maxima over the samples of all ranks, which the later
 * stages read. SAMPLE_ALONE: there is one rank, and one run does all stages. */
enum {
    SAMPLE_ALONE = -1,
    SAMPLE_RANGES,     /* 7 maxima */
    SAMPLE_MOTIONS,    /* 7 sums */
    SAMPLE_DEVIATIONS, /* 3 sums, 1 maximum */
    SAMPLE_SIZES,      /* 1 sum */
    SAMPLE_HISTOGRAM,  /* TALUS_EDGE_FACTORS sums */
    SAMPLE_STAGES
};

/* Cell sizes, levels, box and walls of the grid, and results of detection, computed on the device. Lengths are in
 * metres, large_radius is in `unit`. */
struct CuGridLayout {
    CuFound found;
    uint32_t drawn, sample[TALUS_GRID_SAMPLE]; /* number and slots of the bodies of draw_sample */
    double agreed[SAMPLE_STAGES][TALUS_EDGE_FACTORS]; /* on several ranks: results of the stages */
    int sampled; /* number of free bodies in the sample; 0 also if found.bad_state is set. 0: the grid is empty */
    bool
        again; /* bodies are measured a second time, without drift, so that they fit into the period */
    TalusVec3 drift, low, high; /* mean velocity of the sample, m/s; corners of the grid's box */
    double unit; /* unit of CuDetect.fat and ball_fat, m: a power of two near the mean fat radius */
    double edge_factor; /* scales the cell edges of all size classes */
    float large_radius; /* a body that is not free and has a larger fat radius is a large wall */
    uint32_t large_walls,
        large_wall[TALUS_LARGE_WALLS]; /* number of large walls; slots, in any order, if they fit */
    uint32_t own_large_walls;          /* number of this rank's among them */
    int walls, levels;                 /* number of walls in CuDetect.wall; number of levels */
    TalusLevel level[TALUS_MAX_LEVELS]; /* coarsest first; cells are numbered finest level first */
    uint32_t class_count[CU_CLASSES];   /* number of the grid's bodies in each size class */
    uint8_t level_of_class[CU_CLASSES]; /* index in `level`; set for classes that have bodies */
};

/* Position and radius of a body in the search, m; aligned, so that two loads of 16 bytes take it. */
struct alignas(16) CuBall {
    double x, y, z, radius;
};

/* Two bodies, by slot, for the narrow phase; a and b as in collide/contact.h. */
struct CuCandidate {
    uint32_t a, b;
};

/* For a check after a solve: near pairs are sought as in a detection, but the narrow phase counts only the contacts
 * that are missing (collide/missing.h) in a list. */
struct CuCheck {
    bool on; /* false: the detection makes a list */
    CuList list;
    double tolerance; /* m/s */
};

/* Arguments of detection's kernels; pointers are to device memory. */
struct CuDetect {
    CuContext *cu;        /* host only */
    TalusBodyView bodies; /* device pointers */
    TalusDetectOptions options;
    TalusFilter filter; /* group NULL: all pairs collide */
    CuGridLayout *grid;
    int64_t slots; /* number, empty ones included */
    /* On several ranks all choose the grid of all bodies, so that bodies and contacts have the order that they have on
     * one rank. Bodies of a halo, in the slots from `own` on, are in the grid but count on their own rank alone. */
    TalusComm *comm; /* NULL: one rank */
    int64_t own;
    int64_t cells;         /* capacity of cell_start */
    uint64_t sample_limit; /* talus_sample_limit */
    TalusWall *wall;       /* [grid->walls], in the order of ids; lengths in metres */
    uint16_t
        *wall_group; /* [grid->walls]: filter.group of the walls, side by side; 0 without filters */
    uint32_t *wall_slot; /* [wall_capacity]: slots of the walls by shape, in any order */
    uint32_t wall_capacity;
    /* by slot: fat radius in grid->unit, negated unless the body is a free sphere; 0: not in the grid, and no large
     * wall (measure_body) */
    float *fat;
    uint32_t *cell,
        *number_in_cell;   /* by slot: cell of the body; its number among the cell's bodies */
    uint32_t *cell_bodies; /* slots of the bodies, cell by cell, in any order within a cell */
    uint64_t *mask; /* by problem index (pairs.cu); in the memory of cell and number_in_cell */
    uint32_t
        *cell_start; /* first problem index of each cell; until cu_scan, number of its bodies */
    uint32_t *slot;  /* of the new list, by problem index */
    int32_t *problem_index; /* of the new list, by slot */
    CuBall *ball;           /* by problem index, of bodies in the grid: position and radius */
    float *ball_fat;        /* by problem index: as `fat` */
    /* [2][slots + 1] by problem index: number of contacts of two free spheres, and number of candidates, that the
     * search from a body finds; then prefix sums over both rows, so that candidates are numbered from
     * found.sphere_sphere on */
    uint32_t *count;
    CuCandidate *candidate;      /* [found.candidates] */
    bool driven;                 /* some body is driven */
    bool complex_shapes, facets; /* as in CuTables */
    uint32_t *
        grouped; /* [CU_GROUPS][candidates]: indices of the grouped candidates of each kind, and of CU_TOUCHING */
    CuCheck check;
};

/* Memory of detection; the pointers of CuDetect with these names point into it. scratch: cell, number_in_cell and
 * cell_bodies of CuDetect, and work space of later stages (reserve_grid in detect.cu). contact_count: `count` of
 * cu_manifolds_count. */
struct CuGrid {
    CuArray<CuGridLayout> grid;
    CuArray<TalusWall> wall;
    CuArray<uint16_t> wall_group;
    CuArray<uint32_t> wall_slot, scratch, cell_start, count, contact_count;
    CuArray<float> fat, ball_fat;
    CuArray<CuBall> ball;
    CuArray<CuCandidate> candidate;
    CuArray<uint32_t> grouped;
};

/* Returns the size class, 0 to CU_CLASSES - 1, of a fat radius in grid->unit; its sign does not count. */
static __host__ __device__ inline int cu_size_class(float fat, double edge_factor)
{
    int k = talus_size_class(fabs((double)fat), 1.0 / edge_factor) - CU_CLASS_ZERO;
    return k < 0 ? 0 : k < CU_CLASSES ? k : CU_CLASSES - 1;
}

/* True if the body in this slot, with CuDetect.fat `fat`, is a large wall: not free, with a fat radius above
 * grid->large_radius. */
static __device__ inline bool cu_is_large_wall(const CuDetect &d, uint32_t slot, float fat)
{
    return d.bodies.mobility[slot] != TALUS_MOBILITY_FREE && -fat > d.grid->large_radius;
}

/* grid.cu: chooses the cells, sorts the bodies into them and fills *d->grid and the arrays of d from `wall` to
 * `ball_fat`, except `mask`. Reads the totals of cu_write_detection_motions. If the walls by shape
 * (found.shape_walls) are more than d->wall_capacity, walls are missing. */
TalusStatus cu_grid_build(const CuDetect *d);
/* pairs.cu, the search for partners. cu_pairs_count fills d->count and d->mask, and sphere_sphere and candidates of
 * CuFound. cu_pairs_write fills d->candidate and, for run 1 of the list, the contacts of two free spheres, `pair` and
 * `slot_b`. It reads d->mask and d->count, and may be called again. cu_fill_sphere_frames fills `frame` and `gap` of
 * run 1. `spheres`: number of contacts in run 1. */
TalusStatus cu_pairs_count(const CuDetect *d);
void cu_pairs_write(const CuDetect *d, const CuList *list, int spheres);
void cu_fill_sphere_frames(const CuDetect *d, const CuList *list, int spheres);
/* narrow.cu, contacts of the candidates. cu_manifolds_count fills count, [2][candidates + 1]: the number of contacts of
 * each candidate in run 2 (sphere-fixed) and in run 3 (general), turned into prefix sums over both rows; d->grouped;
 * and sphere_fixed, general, grouped and unsupported of CuFound; with d->check these are numbers of missing contacts.
 * cu_manifolds_write, with this `count`, writes the
 * contacts to all arrays of the list but impulse and incidence. */
TalusStatus cu_manifolds_count(const CuDetect *d, int candidates, uint32_t *count);
void cu_manifolds_write(const CuDetect *d, int candidates, uint32_t *count, const CuList *list);
/* incidence.cu: fills incidence_start and incidence of a list whose other arrays are complete, except the impulses:
 * their memory, and that of d->cell_bodies, serve as scratch. */
TalusStatus cu_fill_incidence(const CuDetect *d, const CuList *list);
/* transfer.cu: fills list->impulse: a contact gets the impulse of the old contact with the same key (a, b, feature) or,
 * if there is none, a share of the impulses of its pair's old contacts whose keys are gone. begin: work space, [3
 * old->problem_bodies]. */
void cu_transfer_impulses(CuContext *cu, const CuList *old, const CuList *list, uint32_t *begin);

/* missing.cu: counts in found.missing_spheres the contacts that are missing in d->check.list, among the `spheres` pairs
 * of two free spheres that cu_pairs_write has written to `list`. */
void cu_count_missing_spheres(const CuDetect *d, const CuList *list, int spheres);

#endif

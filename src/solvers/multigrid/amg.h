/* solvers/multigrid/amg.h - the parts of projected algebraic multigrid (amg.c): preclik-2009 section 3.4.
 *
 * Level 0 is the problem itself: minimise x'Ax/2 + q'x over lower <= x <= upper. The unknown of a coarser level is a
 * correction e of the next finer level's x, which becomes x + P e. With C the finer level's rows that the coarser level
 * also has, the coarser level's matrix A_H, offset q_H and bounds on e are
 *     A_H = P'AP (23),   q_H = P'(A x + q),   (lower - x)_C <= e <= (upper - x)_C (24).
 * Eq. (24) as printed in the paper has x - x for both bounds and x^H for e^H. */
#ifndef TALUS_SOLVERS_MULTIGRID_AMG_H
#define TALUS_SOLVERS_MULTIGRID_AMG_H

#include "linalg/sparse.h"

#include <stdbool.h>

/* Largest number of levels. */
enum { TALUS_AMG_LEVELS = 24 };

/* Values of the parameters of the same names; the table in amg.c says what each does. */
typedef enum TalusAmgTransfer { AMG_IMPULSE, AMG_VELOCITY } TalusAmgTransfer;
typedef enum TalusAmgStrength { AMG_NEGATIVE, AMG_ABSOLUTE } TalusAmgStrength;
typedef enum TalusAmgCorrection { AMG_REJECT, AMG_PROJECT, AMG_SEARCH } TalusAmgCorrection;
typedef enum TalusAmgTruncate { AMG_OFF, AMG_ON, AMG_LATE } TalusAmgTruncate;
typedef enum TalusAmgBounds { AMG_INJECT, AMG_NONE } TalusAmgBounds;

/* Parameters of the solver, one field per key of the table in amg.c. */
typedef struct TalusAmgParams {
    int cycle; /* 0: V, 1: W */
    int pre, post, correction, bounds;
    int truncate, transfer, strong, passes, cluster, coarsest, warm;
    double theta, refresh;
} TalusAmgParams;

/* Clusters of fine rows (transfer=velocity) with the factors of their matrices A_FF. No entry of A couples two
 * clusters. */
typedef struct TalusAmgClusters {
    int count;            /* number of clusters; 0: none, as with transfer=impulse */
    int32_t *start, *row; /* cluster k: row[start[k]] to row[start[k + 1] - 1]; one allocation */
    size_t *factor_start; /* [count + 1]: index in `factor` at which each cluster's factors begin */
    double *factor; /* factors of A_FF: (number of the cluster's rows)^2 entries per cluster */
    double *packed; /* in the allocation of `factor`; a vector's entries in one cluster's rows */
} TalusAmgClusters;

typedef struct TalusAmgLevel {
    TalusSparse a;   /* matrix; on level 0: N + E */
    TalusSparse p;   /* interpolation P from the next, coarser level; none on the coarsest */
    int32_t *coarse; /* [rows]: index of the row on the next level; -1: fine row, not there */
    uint8_t *kind; /* [rows]: 0 normal, 1 tangential; classical weights interpolate within a kind */
    uint8_t *taken;                /* [rows]: 1 if the row takes part in the coarsening, else 0 */
    double *diagonal;              /* [rows]: diagonal entries of a */
    double *x, *q, *lower, *upper; /* [rows] */
    double *g;                     /* [rows]: A x + q at the last talus_amg_gradient */
    double *d;                     /* [rows]: correction of x from the next level */
    double *memory; /* the allocation that diagonal, x, q, g, d, lower and upper are parts of */
    TalusAmgClusters clusters;
} TalusAmgLevel;

/* The hierarchy of levels. Its unit of cost is one product with the finest matrix: multiplications with entries of any
 * matrix are counted, in part by estimates, and divided by the number of entries of the finest matrix. */
typedef struct TalusAmg {
    const TalusAmgParams *params;
    TalusAmgLevel level[TALUS_AMG_LEVELS];
    int levels;                    /* number of levels in use; 0: not built */
    bool truncate;                 /* rows at their bounds take no part in coarser levels */
    double *dense;                 /* matrix of the coarsest level, if it is small enough */
    double *factor, *dense_vector; /* work space of talus_amg_dense_minimise */
    uint8_t *state;                /* work space of talus_amg_dense_minimise */
    double cost;                   /* cost so far, in products with the finest matrix */
    double finest_entries;         /* number of entries of the finest matrix */
} TalusAmg;

/* ---- amg_coarsen.c: choice of the rows of the next level; *count gets their number ---- */

/* Writes to `out` the strong couplings: the entries a_ij between two rows of one kind that both take part in the
 * coarsening, whose strength, -a_ij or |a_ij| by the parameter `strong`, is positive and at least theta times the
 * largest of row i. */
TalusStatus talus_amg_find_strong(const TalusAmgLevel *l, const TalusAmgParams *p,
                                  TalusSparse *out);
/* Writes l->coarse by Ruge and Stueben's splitting, in one pass or two. */
TalusStatus talus_amg_split_rows(TalusAmgLevel *l, const TalusSparse *strong, int passes,
                                 int *count);
/* Writes l->coarse so that the fine rows form clusters of at most `size` rows, and no entry of A couples two clusters.
 * cluster[i] gets the number of row i's cluster; -1: the row is coarse, or takes no part in the coarsening. */
TalusStatus talus_amg_form_clusters(TalusAmgLevel *l, int size, int32_t *cluster, int *count);

/* ---- amg_interpolate.c ---- */

/* Writes the interpolation of Eq. (22), with Ruge and Stueben's weights, to p, with `count` columns. Adds the length of
 * every row of A that it distributes to *cost. */
TalusStatus talus_amg_interpolate_classical(const TalusAmgLevel *l, const TalusSparse *strong,
                                            int count, TalusSparse *p, double *cost);
/* ---- amg_rigid.c ---- */

/* Writes to l->p the interpolation that minimises e'Ae within each cluster: e_F = -A_FF^+ A_FC e_C. Stores clusters and
 * factors of A_FF in l->clusters. Adds about the number of multiplications to *cost. */
TalusStatus talus_amg_interpolate_rigid(TalusAmgLevel *l, const int32_t *cluster, int count,
                                        double *cost);
/* Releases the memory of the clusters and sets all members to 0. */
void talus_amg_clusters_clear(TalusAmgClusters *c);
/* Adds to l->d the correction -A_FF^+ g_F of every cluster's own rows; l->g must be current. Returns the number of
 * multiplications. */
double talus_amg_clusters_correct(TalusAmgLevel *l);

/* ---- amg_galerkin.c ---- */

/* Writes P'AP, A symmetric, columns of each row in rising order, to `out`, whose former contents are not released. Adds
 * the number of multiplications to *cost. */
TalusStatus talus_amg_coarse_matrix(const TalusSparse *a, const TalusSparse *p, TalusSparse *out,
                                    double *cost);

/* ---- amg_dense.c: small dense systems ---- */

/* Factorises the symmetric n x n matrix a, stored by rows, as L D L' in place: reads and overwrites the lower triangle,
 * D on the diagonal. A pivot up to 1e-10 of its diagonal entry means that the row depends linearly on the rows before
 * it: the pivot is set to 0, and talus_amg_dense_substitute then sets the solution in this row to 0. */
void talus_amg_dense_factor(int n, double *a);
/* Solves A y = x with the factors of talus_amg_dense_factor and writes y over x. */
void talus_amg_dense_substitute(int n, const double *factor, double *x);
/* Minimises x'Ax/2 + q'x over lower <= x <= upper by an active-set method, which starts from x = 0 and takes at most 4
 * n + 4 rounds; 0 must be within the bounds. Writes x, whatever it was. Work space: `factor` n^2, `work` 3 n, `state` n
 * entries. Returns about the number of multiplications. */
double talus_amg_dense_minimise(int n, const double *a, const double *q, const double *lower,
                                const double *upper, double *x, double *factor, double *work,
                                uint8_t *state);

/* ---- amg_setup.c ---- */

/* Rebuilds all coarser levels from the rows of level 0 that have taken[i] set. Level 0 must have a, kind and diagonal.
 * Adds to amg->cost, on failure what was spent until then; amg->levels is then 0: no coarser level is left. */
TalusStatus talus_amg_build_levels(TalusAmg *amg);
/* Allocates the arrays [rows] of a level whose matrix is known, all zero except `diagonal`, which is copied from the
 * matrix. */
TalusStatus talus_amg_level_allocate(TalusAmgLevel *l);
/* Releases all levels from `first` on, interpolation and clusters of level first - 1, and the dense coarsest matrix.
 * Sets amg->levels to 0: not built. */
void talus_amg_clear_levels(TalusAmg *amg, int first);

/* ---- amg_cycle.c ---- */

/* Runs one projected Gauss-Seidel sweep on x of a level, from the last row on if `backward`. Adds to amg->cost. Skips
 * rows without a positive diagonal entry: their bodies cannot move. */
void talus_amg_sweep(TalusAmg *amg, int level, bool backward);
/* Computes g = A x + q of a level. Adds to amg->cost. */
void talus_amg_gradient(TalusAmg *amg, int level);
/* Improves x of level 0 by one V or W cycle; the levels must have been built (talus_amg_build_levels), and x must be
 * within its bounds. Adds to amg->cost. */
void talus_amg_cycle(TalusAmg *amg);
/* True if x of row i is strictly between its bounds. */
static inline bool talus_amg_is_inside(const TalusAmgLevel *l, int i)
{
    return l->x[i] > l->lower[i] && l->x[i] < l->upper[i];
}

#endif

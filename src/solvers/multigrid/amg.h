/* solvers/multigrid/amg.h - the parts of projected algebraic multigrid (amg.c): preclik-2009 section 3.4.
 *
 * Level 0 is the problem itself, minimise x'Ax/2 + q'x over lower <= x <= upper. Every other level is the problem of a
 * correction e to the next finer one, x + P e, with C the rows of that one which are on the coarser level:
 *     A_H = P'AP (23),   q_H = P'(A x + q),   (lower - x)_C <= e <= (upper - x)_C (24).
 * (24) as printed has x - x for both bounds and x^H for e^H. */
#ifndef TALUS_SOLVERS_MULTIGRID_AMG_H
#define TALUS_SOLVERS_MULTIGRID_AMG_H

#include "linalg/sparse.h"

#include <stdbool.h>

enum { TALUS_AMG_LEVELS = 24 };

/* Choices of parameters, which the table in amg.c explains. */
typedef enum TalusAmgTransfer { AMG_IMPULSE, AMG_VELOCITY } TalusAmgTransfer;
typedef enum TalusAmgStrength { AMG_NEGATIVE, AMG_ABSOLUTE } TalusAmgStrength;
typedef enum TalusAmgCorrection { AMG_REJECT, AMG_PROJECT, AMG_SEARCH } TalusAmgCorrection;
typedef enum TalusAmgTruncate { AMG_OFF, AMG_ON, AMG_LATE } TalusAmgTruncate;
typedef enum TalusAmgBounds { AMG_INJECT, AMG_NONE } TalusAmgBounds;

typedef struct TalusAmgParams {
    int cycle; /* 0: V, 1: W */
    int pre, post, correction, bounds;
    int truncate, transfer, strong, passes, cluster, coarsest, warm;
    double theta, refresh;
} TalusAmgParams;

/* Clusters of fine rows (AMG_VELOCITY) with the factors of their matrices A_FF. A does not couple two clusters. */
typedef struct TalusAmgClusters {
    int count;
    int32_t *start, *row; /* rows of cluster k: row[start[k]] on */
    size_t *place;        /* [count + 1]: index of each cluster's factors in `factor` */
    double *factor;       /* rows * rows for each */
    double *packed;       /* a cluster's part of a vector */
} TalusAmgClusters;

typedef struct TalusAmgLevel {
    TalusSparse a;    /* matrix; on level 0: N + E */
    TalusSparse p;    /* interpolation P from the next, coarser level; none on the coarsest */
    int32_t *coarse;  /* [rows]: index on the next level, or -1 */
    uint8_t *kind;    /* [rows]: 0 normal, 1 tangential; classical weights join one kind */
    uint8_t *taken;   /* [rows]: true if it took part in the coarsening */
    double *diagonal; /* [rows] */
    double *x, *q, *g, *d, *lower, *upper; /* [rows]; g: A x + q, d: a correction */
    double *memory;
    TalusAmgClusters clusters;
} TalusAmgLevel;

/* Work is counted in products with the finest matrix: entries used of any matrix, over the entries of the finest. */
typedef struct TalusAmg {
    const TalusAmgParams *params;
    TalusAmgLevel level[TALUS_AMG_LEVELS];
    int levels;                            /* 0: not built */
    bool truncate;                         /* rows at their bounds take no part in coarser levels */
    double *dense, *factor, *dense_vector; /* of the coarsest level, if it is small enough */
    uint8_t *state;                        /* work of talus_amg_box */
    double work, unit;                     /* work so far; entries of the finest matrix */
} TalusAmg;

/* ---- amg_coarsen.c: which rows are on the next level; their number goes to *count ---- */

/* Writes to `out` the strong couplings a_ij between rows of one kind that take part in the coarsening: -a_ij (or
 * |a_ij|) at least theta times the largest of row i. */
TalusStatus talus_amg_strong(const TalusAmgLevel *l, const TalusAmgParams *p, TalusSparse *out);
/* Writes l->coarse by Ruge and Stueben's splitting, in one pass or two. */
TalusStatus talus_amg_split(TalusAmgLevel *l, const TalusSparse *strong, int passes, int *count);
/* Writes l->coarse so that the fine rows form clusters of at most `size` rows, not coupled to each other. cluster[]
 * gets the cluster of each row; -1: coarse, or not taken. */
TalusStatus talus_amg_clusters(TalusAmgLevel *l, int size, int32_t *cluster, int *count);

/* ---- amg_interpolate.c ---- */

/* Writes the interpolation of Eq. (22), with Ruge and Stueben's weights, to p. Adds the multiplications to *work. */
TalusStatus talus_amg_classical(const TalusAmgLevel *l, const TalusSparse *strong, int count,
                                TalusSparse *p, double *work);
/* Writes into l->p the interpolation that minimises e'Ae within each cluster: e_F = -A_FF^+ A_FC e_C. Keeps the factors
 * of A_FF in l->clusters. Adds the multiplications to *work. */
TalusStatus talus_amg_rigid(TalusAmgLevel *l, const int32_t *cluster, int count, double *work);
void talus_amg_clusters_clear(TalusAmgClusters *c);
/* Adds -A_FF^+ g_F of every cluster to l->d. Returns the number of multiplications. */
double talus_amg_clusters_solve(TalusAmgLevel *l);

/* ---- amg_galerkin.c ---- */

/* Computes P'AP, columns rising. Adds the multiplications to *work. */
TalusStatus talus_amg_galerkin(const TalusSparse *a, const TalusSparse *p, TalusSparse *out,
                               double *work);

/* ---- amg_dense.c: small dense systems ---- */

/* Factorises a symmetric n x n as L D L' in place, rows `n` apart. A pivot below 1e-10 of its diagonal entry belongs to
 * a row that the others determine: it becomes 0, and so does the solution there. */
void talus_amg_factor(int n, double *a);
/* x = A^-1 x by the factors of talus_amg_factor. */
void talus_amg_substitute(int n, const double *factor, double *x);
/* Minimises x'Ax/2 + q'x over lower <= x <= upper by an active-set method from x = 0, which must be within the bounds;
 * at most 4 n + 4 rounds. Memory: `factor` n^2, `work` 3 n, `state` n entries. Returns the number of
 * multiplications. */
double talus_amg_box(int n, const double *a, const double *q, const double *lower,
                     const double *upper, double *x, double *factor, double *work, uint8_t *state);

/* ---- amg_setup.c ---- */

/* Builds the coarser levels from the rows of level 0 with taken[]; level 0 must have a, kind and diagonal. */
TalusStatus talus_amg_build(TalusAmg *amg);
/* Allocates the vectors of a level whose matrix is known. */
TalusStatus talus_amg_level_vectors(TalusAmgLevel *l);
/* Releases all levels from `first` on, the interpolation to level first - 1 and the dense coarsest matrix; the
 * hierarchy is then not built. */
void talus_amg_clear_levels(TalusAmg *amg, int first);

/* ---- amg_cycle.c ---- */

/* One projected Gauss-Seidel sweep on x of a level. */
void talus_amg_sweep(TalusAmg *amg, int level, bool backward);
/* g = A x + q of a level. */
void talus_amg_gradient(TalusAmg *amg, int level);
/* Runs one cycle on level 0 from its x; the hierarchy must be built (talus_amg_build). */
void talus_amg_cycle(TalusAmg *amg);
/* True if row i of a level is strictly between its bounds. */
static inline bool talus_amg_inside(const TalusAmgLevel *l, int i)
{
    return l->x[i] > l->lower[i] && l->x[i] < l->upper[i];
}

#endif

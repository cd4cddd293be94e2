/* backend/operator.h - the data of one contact problem as a backend sees it.
 *
 * An operator is matrix-free or explicit. Matrix-free (pair != NULL): contacts in three runs (collide/contact.h),
 * bodies as records
 *     body[i] = { v_x v_y v_z, 1/m,  s_x s_y s_z, k }      s = l w, the spin in m/s
 * with l the body's length (a sphere's radius) and k = l^2 / I for spherical bodies. Arms are divided by l, so a
 * sphere's arm is its normal and a compact contact is only (a, b, frame). Contact velocity of b relative to a, world
 * frame:
 *     spheres  u = v_b - v_a - (s_a + s_b) x n
 *     general  u = v_b + s_b x arm_b - v_a - s_a x arm_a
 * An impulse p on b adds p/m to v_b and inertia * (arm x p) to s_b, and the opposite to a. Explicit (values != NULL):
 * compressed rows of a symmetric N, and q.
 *
 * The gradient is g = (N + E) gamma + q; with bodies q = D' v_f + bias on normal rows. */
#ifndef TALUS_BACKEND_OPERATOR_H
#define TALUS_BACKEND_OPERATOR_H

#include "base/pool.h"

#include <stdbool.h>
#include <stdint.h>
#include <talus/set.h>

/* Bits TALUS_KIND (talus/set.h) of all sections under one law. */
#define TALUS_KINDS_OF(law) (((1u << TALUS_SECTIONS) - 1u) << ((law)*TALUS_SECTIONS))

/* Friction model (talus/set.h) of one block. */
typedef struct TalusBlockModel {
    uint8_t section, law; /* TalusSection, TalusFrictionLaw */
    uint16_t sides;       /* of a polygon; for a joint, bit k is set if row k exists */
    uint32_t unused;
    double cos, sin; /* of pi / sides; polygon only */
} TalusBlockModel;

/* Maximum number of rows of a block. */
enum { TALUS_ROWS = 6 };

/* State of a backend for one user, a world or a problem: streams, work space, the first error. Defined by the
 * backend; NULL if it has no state, as on the cpu. Contexts may be used concurrently, each by one thread at a time. */
typedef struct TalusContext TalusContext;

typedef struct TalusOperator {
    TalusPool *pool;
    TalusContext *context; /* context that the operations run in */
    /* Rows per block: 1 (nonneg), 3 (friction) or 6: normal, two tangents, the moment about the normal, the moments
     * about the tangents. Moments are divided by the block's length L. */
    int rows;
    int blocks;

    /* matrix-free */
    int bodies;
    int sphere_sphere, sphere_fixed, general; /* lengths of the runs; their sum is `blocks` */
    /* Number of blocks of free joints (TALUS_SECTION_JOINT, mu infinite), which end the general run. They can be
     * eliminated (heyn-2012 Eq. 5). */
    int joints;
    int32_t (*pair)[2]; /* [blocks]: a, b; b is -1 for the fixed world */
    double (*frame)[4]; /* [blocks]: normal and c (backend/frame.h) */
    double (*arm)[6];   /* [general]: arm_a / l_a, arm_b / l_b */
    double (*lever)[2]; /* [general]: L / l_a, L / l_b; NULL unless rows is 6 */
    double (*body)[8];  /* [bodies]: free velocities and inverse masses, as above */
    /* [bodies]: l^2 I^-1 (xx yy zz xy xz yz); NULL without general contacts */
    double (*inertia)[6];
    double *bias; /* [blocks]: added to the normal row */
    /* [bodies + 1]: ranges of `incidence`; empty for a body that impulses do not move */
    int32_t *incidence_start;
    int32_t *incidence; /* each body's contacts in contact order: 2 * record + (1 on side b) */

    /* explicit */
    const int32_t *row_start, *column;
    const double *values;
    double *offset;

    /* both */
    /* True if some block is neither a half line nor, with 3 rows, a circular cone |t| <= mu n, or laws are mixed. The
     * fast loops know those sets only; varied blocks are handled one by one (sets/set.h). */
    bool varied;
    /* Friction kinds that occur: bits TALUS_KIND(law, section); 0 means discs under ccp only. */
    uint32_t kinds;
    bool prisms; /* Coulomb blocks are prisms on `estimate`; else cones with shifted offsets */
    TalusBlockModel *model; /* [blocks]; NULL: all disc and ccp */
    double *estimate;       /* [blocks]: normal impulses that bound the prisms; NULL: no prisms */
    double (*moment_mu)[2]; /* [blocks]: spinning and rolling friction; NULL unless rows is 6 */
    /* [blocks]: normal offsets without De Saxce's shift, which bias or offset contain during a solve. NULL unless
     * some block is Coulomb's. */
    double *unshifted;

    double *mu;            /* [blocks]; unused when rows is 1 */
    double *compliance;    /* [blocks]: E on the normal row; NULL when rigid */
    double (*diagonal)[2]; /* [blocks]: (N + E)_nn, mean of the other diagonal entries of N */
    /* [general], or [blocks] when explicit: a factor >= 1; coupling times the diagonal bounds every eigenvalue of the
     * block. */
    double *coupling;

    /* Joints to satisfy whenever velocities are gathered (problem/eliminate.h); NULL: none. */
    struct TalusElimination *elimination;

    struct TalusHostScratch *scratch; /* private to the CPU backend */
    void *device;                     /* private data of a backend with its own memory */
} TalusOperator;

/* True if impulses move the body: not for the fixed world (-1) or a body without inverse mass and inertia. */
static inline bool talus_body_yields(const TalusOperator *op, int body)
{
    if (body < 0)
        return false;
    const double *r = op->body[body], *i = op->inertia ? op->inertia[body] : NULL;
    return r[3] != 0.0 || r[7] != 0.0 || (i && (i[0] != 0.0 || i[1] != 0.0 || i[2] != 0.0));
}

/* Returns the block's scale d, which scales the natural residual: the mean of its diagonal entries of N + E. */
static inline double talus_block_scale(const TalusOperator *op, int block)
{
    const double *d = op->diagonal[block];
    if (op->rows == 6)
        return (d[0] + 5.0 * d[1]) * (1.0 / 6.0);
    return op->rows == 1 ? d[0] : (d[0] + 2.0 * d[1]) * (1.0 / 3.0);
}

/* Returns the value of `varied` for blocks of these kinds. */
static inline bool talus_kinds_varied(int rows, uint32_t kinds, bool prisms)
{
    const uint32_t cones = TALUS_KIND(TALUS_LAW_CCP, TALUS_SECTION_DISC);
    const uint32_t exact = TALUS_KIND(TALUS_LAW_COULOMB, TALUS_SECTION_DISC);
    bool known = kinds == 0 || kinds == cones || (kinds == exact && !prisms);
    return rows == 6 || !known;
}

#endif

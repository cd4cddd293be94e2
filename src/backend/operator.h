/* backend/operator.h - one contact problem's data as a backend sees it.
 *
 * Either matrix-free (pair != NULL): contacts in three runs (collide/contact.h), bodies as records
 *     body[i] = { v_x v_y v_z, 1/m,  s_x s_y s_z, k }      s = l w, the spin in m/s
 * with l the body's length (a sphere's radius) and k = l^2 / I for spherical bodies; arms are divided
 * by l, so a sphere's arm is its normal and the compact contact is just (a, b, frame).
 * Contact velocity of b relative to a, world frame:
 *     spheres  u = v_b - v_a - (s_a + s_b) x n
 *     general  u = v_b + s_b x arm_b - v_a - s_a x arm_a
 * An impulse p on b adds p/m to v_b and inertia * (arm x p) to s_b, and the opposite to a.
 * Or explicit (values != NULL): compressed rows of a symmetric N, and q.
 *
 * The gradient is g = (N + E) gamma + q; with bodies q = D' v_f + bias on normal rows. */
#ifndef TALUS_BACKEND_OPERATOR_H
#define TALUS_BACKEND_OPERATOR_H

#include "base/pool.h"

#include <stdbool.h>
#include <stdint.h>
#include <talus/set.h>

/* The bits TALUS_KIND (talus/set.h) of one law. */
#define TALUS_KINDS_OF(law) (((1u << TALUS_SECTIONS) - 1u) << ((law)*TALUS_SECTIONS))

/* The friction model (talus/set.h) of one block. */
typedef struct TalusBlockModel {
    uint8_t section, law; /* TalusSection, TalusFrictionLaw */
    uint16_t sides;       /* rows of a joint */
    uint32_t unused;
    double cos, sin; /* of pi / sides; polygon only */
} TalusBlockModel;

/* No block has more rows than this. */
enum { TALUS_ROWS = 6 };

/* What one user of a backend, a world or a problem, has of it: streams, work space, the first error. The backend's
 * own; NULL where it keeps nothing, as the cpu. Contexts may be used at once, each by one thread at a time. */
typedef struct TalusContext TalusContext;

typedef struct TalusOperator {
    TalusPool *pool;
    TalusContext *context; /* that its operations run in */
    int rows; /* per block: 1 (nonneg), 3 (friction) or 6: normal, two tangents, the moment about the
                 normal, the moments about the tangents. Moments are divided by the block's length L */
    int blocks;

    /* matrix-free */
    int bodies;
    int sphere_sphere, sphere_fixed, general; /* lengths of the runs; their sum is `blocks` */
    int joints; /* of the general run, the last: blocks of free joints (TALUS_SECTION_JOINT, mu infinite),
                   which can be eliminated (heyn-2012 Eq. 5) */
    int32_t (*pair)[2]; /* [blocks]: a, b; b is -1 for the fixed world */
    double (*frame)[4]; /* [blocks]: normal and c (backend/frame.h) */
    double (*arm)[6];   /* [general]: arm_a / l_a, arm_b / l_b */
    double (*lever)[2]; /* [general]: L / l_a, L / l_b; NULL unless rows is 6 */
    double (*body)[8];  /* [bodies]: free velocities and inverse masses, as above */
    double (
        *inertia)[6]; /* [bodies]: l^2 I^-1 (xx yy zz xy xz yz); NULL without general contacts */
    double *bias;     /* [blocks]: added to the normal row */
    int32_t *contact_start; /* [bodies + 1]: each body's contacts, if impulses move it, */
    int32_t *touch;         /*   as 2 * record + (1 on side b); in contact order */

    /* explicit */
    const int32_t *row_start, *column;
    const double *values;
    double *offset;

    /* both */
    bool
        varied; /* some block is other than a half line or, with 3 rows, a circular cone |t| <= mu n, all
                    under one law, which is what the fast loops know: the general way is block by block
                    (sets/set.h) */
    uint32_t
        kinds; /* which friction occurs: bit TALUS_KIND(law, section); 0 stands for discs under ccp */
    bool moving; /* Coulomb blocks are prisms on `estimate`; else cones with shifted offsets */
    TalusBlockModel *model; /* [blocks]; NULL: all disc and ccp */
    double *estimate; /* [blocks]: normal impulses that fix the bounds of prisms; NULL: none are */
    double (*turning)[2]; /* [blocks]: spinning and rolling friction; NULL unless rows is 6 */
    double *
        base; /* [blocks]: normal offsets without De Saxce's shift, which is in bias or offset while
                     a solve is under way; NULL unless some block is Coulomb's */

    double *mu;         /* [blocks]; unused when rows is 1 */
    double *compliance; /* [blocks]: E on the normal row; NULL when rigid */
    double (
        *diagonal)[2]; /* [blocks]: (N + E)_nn and the mean of the other entries of N's diagonal */
    double
        *coupling; /* [general], or [blocks] when explicit: >= 1, with coupling times the diagonal
                         above every eigenvalue of the block */

    struct TalusElimination *
        elimination; /* joints to satisfy whenever velocities are gathered (problem/eliminate.h); NULL: none */

    struct TalusHostScratch *scratch; /* the CPU backend's own */
    void *device; /* what a backend with its own memory keeps beside the arrays */
} TalusOperator;

/* Whether impulses move a body: not the fixed world (-1), not one without inverse mass and inertia. */
static inline bool talus_body_yields(const TalusOperator *op, int body)
{
    if (body < 0)
        return false;
    const double *r = op->body[body], *i = op->inertia ? op->inertia[body] : NULL;
    return r[3] != 0.0 || r[7] != 0.0 || (i && (i[0] != 0.0 || i[1] != 0.0 || i[2] != 0.0));
}

/* The scaling of the one residual: mean of the block's diagonal entries of N + E. */
static inline double talus_block_scale(const TalusOperator *op, int block)
{
    const double *d = op->diagonal[block];
    if (op->rows == 6)
        return (d[0] + 5.0 * d[1]) * (1.0 / 6.0);
    return op->rows == 1 ? d[0] : (d[0] + 2.0 * d[1]) * (1.0 / 3.0);
}

/* What `varied` is for blocks of these kinds. */
static inline bool talus_kinds_varied(int rows, uint32_t kinds, bool moving)
{
    const uint32_t cones = TALUS_KIND(TALUS_LAW_CCP, TALUS_SECTION_DISC);
    const uint32_t exact = TALUS_KIND(TALUS_LAW_COULOMB, TALUS_SECTION_DISC);
    bool known = kinds == 0 || kinds == cones || (kinds == exact && !moving);
    return rows == 6 || !known;
}

#endif

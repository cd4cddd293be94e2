/* backend/operator.h - the data of one contact problem as a backend sees it.
 *
 * An operator is matrix-free or explicit. Matrix-free (pair != NULL): contacts in three runs (two spheres; a sphere
 * and a fixed body; general), bodies as records
 *     body[i] = { v_x v_y v_z, 1/m,  s_x s_y s_z, k }      s = l w, the spin in m/s
 * with l the body's length (a sphere's radius, else the bounding radius), w its angular velocity and k = l^2 / I for
 * spheres, else the mean diagonal entry of l^2 I^-1. Arms, from a body's centre to the contact, are divided by l, so
 * that a sphere's arm is the normal or its negative and a contact of the first two runs needs only (a, b, frame).
 * Contact velocity of b relative to a, world frame:
 *     spheres  u = v_b - v_a - (s_a + s_b) x n
 *     general  u = v_b + s_b x arm_b - v_a - s_a x arm_a
 * An impulse p on b adds p/m to v_b and l^2 I^-1 (arm_b x p) to s_b; body a gets the impulse -p at arm_a. Explicit
 * (values != NULL): N as compressed rows, symmetric unless all friction is Coulomb's, and the offset q.
 *
 * The gradient is g = (N + E) gamma + q; with bodies q = D' v_f + bias on normal rows and + slip on tangential ones. */
#ifndef TALUS_BACKEND_OPERATOR_H
#define TALUS_BACKEND_OPERATOR_H

#include "base/pool.h"

#include <stdbool.h>
#include <stdint.h>
#include <talus/math.h>
#include <talus/set.h>

/* The bits TALUS_KIND(law, section) of TalusOperator.kinds of all sections under one law. */
#define TALUS_KINDS_OF(law) (((1u << TALUS_SECTIONS) - 1u) << ((law)*TALUS_SECTIONS))

/* Friction model of one block: the shape of its tangential impulses, and how the normal impulse bounds them. Blocks of
 * joints, other than limits, have TALUS_SECTION_JOINT. */
typedef struct TalusBlockModel {
    uint8_t section, law; /* TalusSection, TalusFrictionLaw */
    uint16_t sides; /* number of a polygon's sides; of a joint: bit k is set if it has row k */
} TalusBlockModel;

/* Maximum number of rows of a block. */
enum { TALUS_ROWS = 6 };

/* State of a backend for one user, a world or a problem: streams, work space, the first error. Defined by the
 * backend; NULL if it has no state, as on the cpu. Contexts may be used concurrently, each by one thread at a time. */
typedef struct TalusContext TalusContext;

/* Where to find the numbers of bodies, which do not depend on a body's position in a list: the body at `index` has the
 * number id[slot[index]]. slot NULL: the slot is the index; id NULL: the number is the slot + 1. */
typedef struct TalusBodyNumbers {
    const uint64_t *id;
    const uint32_t *slot;
} TalusBodyNumbers;

/* Returns the body's number; 0 for the fixed world (-1). */
TALUS_INLINE uint64_t talus_body_number(const TalusBodyNumbers *numbers, int32_t body)
{
    if (body < 0)
        return 0;
    uint32_t slot = numbers->slot ? numbers->slot[body] : (uint32_t)body;
    return numbers->id ? numbers->id[slot] : (uint64_t)slot + 1;
}

/* The data of one contact problem. Arrays are in the memory of the backend; [n] gives the length of an array. */
typedef struct TalusOperator {
    TalusPool *pool;       /* worker threads; cpu only */
    TalusContext *context; /* context that the operations run in */
    /* Rows per block, the same for all: 1 (normal), 3 (with two tangents) or 6 (with the moment about the normal and
     * those about the tangents). Moments are divided by the contact's length L, m, so that all rows are in N s. */
    int rows;
    int blocks; /* number of blocks: contacts and parts of joints */

    /* matrix-free */
    int bodies;                               /* number of bodies */
    int sphere_sphere, sphere_fixed, general; /* lengths of the runs; their sum is `blocks` */
    /* Ends of the first two runs of the contact list from which the problem was made: those of the runs above but, with
     * six rows, when the contacts of all runs of the list are general. Sums and colours depend on them. */
    int list_end[2];
    /* Number of blocks of free joints (TALUS_SECTION_JOINT, impulses without bounds), the last of the general run.
     * They can be eliminated (heyn-2012 Eq. 5). */
    int joints;
    int32_t (*pair)[2]; /* [blocks]: a, b; b is -1 for the fixed world */
    double (*frame)[4]; /* [blocks]: normal from a to b; c, which gives the tangents (frame.h) */
    double (*arm)[6];   /* [general]: arm_a, arm_b as above, each over its body's l */
    double (*lever)[2]; /* [general]: L / l_a, L / l_b; NULL unless rows is 6 */
    double (*body)[8];  /* [bodies]: free velocities and inverse masses, as above */
    /* [bodies]: l^2 I^-1 (xx yy zz xy xz yz); NULL without general blocks */
    double (*inverse_inertia)[6];
    double *bias; /* [blocks]: added to the normal row of q, m/s */
    /* [blocks]: added to the tangential rows of q, m/s; NULL: 0. Only worlds whose periodic cell deforms have it
     * (collide/cell.h), on the cpu, without parts, joints or moment rows of their own. */
    double (*slip)[2];
    TalusBodyNumbers numbers; /* numbers of the bodies; has id[bodies] where slot is NULL */
    /* [bodies + 1]: body i has the entries incidence_start[i] to incidence_start[i + 1] - 1 of `incidence`. A body that
     * impulses do not move has none; a sleeping body on the device may have some, which have no effect. */
    int32_t *incidence_start;
    /* Each body's contacts in contact order, as 2 * record + (1 if the body is b). A record is an index into the array
     * of wrenches that a product makes. A contact of the first two runs has one record, its index; general contact j
     * has two: 2 j (a) and 2 j + 1 (b) after those of spheres. */
    int32_t *incidence;

    /* explicit: compressed rows of N, and q */
    const int32_t *row_start, *column; /* [rows * blocks + 1], [entries] */
    const double *values;              /* [entries] */
    double *offset;                    /* [rows * blocks] */

    /* both */
    /* False if all blocks are half lines (1 row), or all are circular cones |t| <= mu n (3 rows) under one law, for
     * which there are fast loops. True: sets may differ from block to block, and loops call the functions of
     * sets/set.h. */
    bool mixed_sets;
    /* Bits TALUS_KIND(law, section) of all pairs of law and section that blocks with friction have. 0: no block has
     * friction, or there is no `model` array and all are discs under ccp. */
    uint32_t kinds;
    bool prisms; /* Coulomb blocks are prisms, bounded by `estimate`; else cones with shifts */
    TalusBlockModel *model; /* [blocks]; NULL: all disc and ccp */
    double *estimate;       /* [blocks]: normal impulses that bound the prisms; NULL: no prisms */
    double (*moment_mu)[2]; /* [blocks]: spinning and rolling friction; NULL unless rows is 6 */
    /* [blocks]: normal offsets without De Saxce's shift, which bias or offset contain during a solve. NULL unless
     * some block is Coulomb's. */
    double *unshifted;

    double *mu;         /* [blocks]; unused when rows is 1 */
    double *compliance; /* [blocks]: E on the normal row, 1/kg; NULL when all are rigid */
    /* [blocks]: (N + E)_nn; mean of the block's other diagonal entries, without effect when rows is 1 */
    double (*diagonal)[2];
    /* [general], or [blocks] when explicit; for sweeps: a factor c >= 1 such that c diag - B is positive semidefinite
     * for the block B of N + E, diag as in `diagonal`. A projected step divided by c diag never raises the
     * objective. */
    double *coupling;

    /* Factored equations of joints that are not among the blocks (problem/eliminate.h): every computation of the
     * bodies' velocities ends by changing them so that they satisfy these joints. NULL: no such joints. */
    struct TalusElimination *elimination;

    /* Which part of a larger problem this is, on one of several ranks (comm/halo.h): `bodies` and `blocks` are those that the
     * rank has, and operations that return sums return those of all ranks. NULL: the problem is whole. */
    struct TalusHalo *halo;

    struct TalusHostScratch *scratch; /* work arrays (host.h), private to the CPU backend */
    void *device;                     /* private data of a backend with its own memory */
} TalusOperator;

/* True if impulses move the body: not for the fixed world (-1) or a body without inverse mass and inertia. */
static inline bool talus_body_yields(const TalusOperator *op, int body)
{
    if (body < 0)
        return false;
    const double *r = op->body[body], *i = op->inverse_inertia ? op->inverse_inertia[body] : NULL;
    return r[3] != 0.0 || r[7] != 0.0 || (i && (i[0] != 0.0 || i[1] != 0.0 || i[2] != 0.0));
}

/* Returns the block's scale d, the mean of its diagonal entries of N + E; it scales the natural residual. */
static inline double talus_block_scale(const TalusOperator *op, int block)
{
    const double *d = op->diagonal[block];
    if (op->rows == 6)
        return (d[0] + 5.0 * d[1]) * (1.0 / 6.0);
    return op->rows == 1 ? d[0] : (d[0] + 2.0 * d[1]) * (1.0 / 3.0);
}

/* Returns TalusOperator.mixed_sets for blocks of `rows` rows and these `kinds`, with `prisms` as in the operator. */
static inline bool talus_sets_are_mixed(int rows, uint32_t kinds, bool prisms)
{
    const uint32_t cones = TALUS_KIND(TALUS_LAW_CCP, TALUS_SECTION_DISC);
    const uint32_t exact = TALUS_KIND(TALUS_LAW_COULOMB, TALUS_SECTION_DISC);
    bool known = kinds == 0 || kinds == cones || (kinds == exact && !prisms);
    return rows == 6 || !known;
}

#endif

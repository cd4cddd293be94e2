/* backend/cpu/sweep.h - the plan of a Gauss-Seidel sweep: contacts, or blocks of an explicit matrix, in the order and
 * layout in which the sweep visits them. */
#ifndef TALUS_BACKEND_CPU_SWEEP_H
#define TALUS_BACKEND_CPU_SWEEP_H

#include "backend/cpu/colour.h"
#include "backend/cpu/single.h"
#include "backend/cpu/sweep_part.h"
#include "base/profile.h"
#include "base/rng.h"

/* Least number of packs per chunk of a parallel loop, and number up to which one thread takes them all; number of items,
 * or blocks in a sweep block by block, per chunk. */
enum { PACK_GRAIN = 32, FEW_PACKS = 128, ITEM_GRAIN = 64 };

/* Constants of one block's projected step in the metric B = diag(b_n, b_t, ..), which is `coupling` times the block's
 * diagonal or, with metric trace, times the mean of its diagonal. With one row inv_t, mu and kappa are 0 and mantle is
 * 1. With options.coulomb kappa is 0 and mantle is 1: the projection makes n >= 0 and shortens t to mu n. */
typedef struct StepRule {
    double inv_n, inv_t; /* omega / b_n, omega / b_t */
    double mu, kappa;    /* kappa = mu b_t / b_n */
    double mantle;       /* 1 / (1 + mu kappa), factor of projections onto the mantle */
    double scale; /* d, mean diagonal entry; converts an impulse change to a velocity change */
} StepRule;

/* A pack: two contacts of one colour and one run of spheres, one per lane. The impulse gamma is in the world frame, so
 * no tangents are needed. Fields as in SweepItem and StepRule. */
typedef struct SpherePack {
    Lane normal[3], gamma[3];
    Lane bias, compliance;
    Lane inv_n, inv_t, mu, kappa, mantle, scale;
    int32_t a[LANES], b[LANES];
} SpherePack;

/* A pack of sweeps in single precision: four contacts, in their SingleUnits. */
typedef struct SinglePack {
    Lane4 normal[3], gamma[3];
    Lane4
        offset[3]; /* contact velocity at the start, world frame, plus the bias along the normal */
    Lane4 compliance, inv_n, inv_t, mu, kappa, mantle, scale;
    int32_t a[LANES4], b[LANES4];
} SinglePack;

/* Arms of a pack of four general contacts, which is a SinglePack in all else. */
typedef struct PackArms {
    Lane4 a[3], b[3];      /* over l, as in operator.h */
    uint8_t moves[LANES4]; /* PACK_MOVES_A, PACK_MOVES_B: impulses move that body of the lane */
} PackArms;
enum { PACK_MOVES_A = 1, PACK_MOVES_B = 2 };

/* An item: one contact of any run; the impulse gamma is in the world frame. */
typedef struct SweepItem {
    double normal[3], gamma[3], arm_a[3], arm_b[3]; /* arms over l, as in operator.h */
    double bias, compliance;                        /* of the normal row */
    double offset
        [3]; /* contact velocity that sweep->velocity lacks: the slip, and that at the start if `is_single` */
    StepRule rule;
    int32_t a, b; /* b is -1 for the fixed world */
} SweepItem;

/* A contact or explicit block whose own problem is solved (sweep_block.c), with A its block of N + E. An explicit block
 * has only scale, inv_n, inv_t, mu, friction_bound, block and one. */
typedef struct LocalItem {
    double frame[4], bias, slip[2], compliance, scale;
    double inv_n, inv_t;       /* for a round item: 1 / A_nn, 1 / A_tt */
    double mu, friction_bound; /* as in `one` */
    int32_t block;
    int32_t a, b; /* b is -1 for the fixed world */
    bool round;   /* two spheres, or a sphere and a fixed body */
    TalusOneContact one;
    double arm_a[3], arm_b[3];
} LocalItem;

/* State of sweeps in single precision (sweep_single.c). */
typedef struct SingleState {
    SingleUnits unit;
    /* [bodies + 1]: as TalusOperator.body, but the change of the velocities since the start, and inverse masses, in
     * their units */
    float (*velocity)[8];
    SinglePack *pack; /* in the memory of TalusSweep.pack */
    /* With packs of general contacts (TalusSweep.packs_general): arms by the index of the pack, and [bodies + 1] the
     * columns of inverse inertias, each (x, y, z, 0), in units of inverse masses. */
    PackArms *arms;
    float (*inertia)[12];
    float *term; /* in the memory of TalusSweep.term, in units of speed^2 */
    /* Bound of the speeds that are rounded, m/s: contact velocities at the start and impulses times the diagonal. */
    double bound;
} SingleState;

/* Plan and state of sweeps; the array of a kind of sweep that is not planned may hold old contents. */
struct TalusSweep {
    const TalusOperator *op;   /* the caller's */
    TalusSweepOptions options; /* those of sweep.prepare; `coulomb` is set if `packed` */
    TalusRng rng;              /* of random orders */

    double (*velocity)[8]; /* of the operator's scratch; entry [bodies] is a dummy for idle lanes */
    /* gamma of the last get_impulses, from which the next sweep recomputes `velocity`, since other operations may have
     * overwritten it; NULL if `velocity` is up to date */
    const double *ended;
    /* Squared velocity change of each contact of the packs, then of each item; in a coloured sweep block by block, of
     * each entry of `order`. */
    double *term;
    double *partial; /* by chunk: largest of the terms, then their sum */
    bool is_single;  /* `single` is in use, in place of `velocity`, `term` and `pack` */
    SingleState single;

    /* coloured: packs by colour and run, items by colour, then overflow, then heavy */
    TalusColouring colouring;
    bool packs_general; /* general contacts with a colour are in packs, in single precision */
    SpherePack *pack;   /* all packs */
    Lane (*slip)[3];    /* slips of the packs, world frame; NULL: they are 0 */
    Lane (*slip_store)[3];
    /* sphere-sphere from [0], sphere-fixed from [1], general from [2], to [3] */
    int pack_start[COLOURS][4];
    SweepItem *item;
    int item_start[CLASSES + 1]; /* first item of each class */
    double (*change)[3];         /* impulse change of each heavy item in this sweep */
    int32_t *split;              /* [bodies]: number of heavy items that share the body */

    /* In sequence: item[order[0]], item[order[1]], .. are visited in turn. Block by block: the arguments of `step` in
     * visiting order, which are blocks or, if `local` is used, indices into `local`. */
    int32_t *order;

    /* Block by block (sweep_sparse.c): takes the step of one entry of `order`; returns its squared velocity change. */
    double (*step)(struct TalusSweep *sweep, int block);
    double *gamma; /* impulses in contact frames */
    /* First entry in `order` of each colour, then of uncoloured blocks, then the end. */
    int colour_start[COLOURS + 2];
    int colour;       /* colour being swept */
    bool packed;      /* options.local is a solver, and packs give its results */
    LocalItem *local; /* [blocks], in visiting order; if not coloured, by block */

    SweepPart *part; /* coloured, of a rank's part of a problem; else unused */
};

/* Returns the step rule of a block of `rows` rows with diagonal (nn, tt, tt, ..) and this TalusOperator.coupling. */
static inline StepRule talus_step_rule(const TalusSweepOptions *options, int rows, double nn,
                                       double tt, double coupling, double mu)
{
    double d = rows == 1   ? nn
               : rows == 6 ? (nn + 5.0 * tt) * (1.0 / 6.0)
                           : (nn + 2.0 * tt) * (1.0 / 3.0);
    if (options->ignore_coupling)
        coupling = 1.0;
    double bn = coupling * (options->metric == TALUS_METRIC_TRACE ? d : nn);
    double bt = coupling * (options->metric == TALUS_METRIC_TRACE ? d : tt);
    StepRule rule = {.inv_n = options->omega / bn, .scale = d, .mantle = 1.0};
    if (rows > 1) {
        rule.inv_t = options->omega / bt;
        rule.mu = mu;
        if (!options->coulomb) {
            rule.kappa = mu * (bt / bn);
            rule.mantle = 1.0 / (1.0 + mu * rule.kappa);
        }
    }
    return rule;
}

/* Adds to v, the velocity record of `body`, the effect of the impulse sign * dp at `arm` (over l). Does nothing if
 * impulses do not move the body. */
static inline void talus_body_add_impulse(const TalusOperator *op, int body, double sign,
                                          const double arm[3], const double dp[3], double v[8])
{
    double torque[3], turn[3];
    if (v[3] == 0.0 && !talus_body_yields(op, body))
        return; /* other threads may read this body at the same time */
    talus_cross3(arm, dp, torque);
    talus_spin_change(op, body, v[7], torque, turn);
    for (int k = 0; k < 3; k++) {
        v[k] += sign * (v[3] * dp[k]);
        v[4 + k] += sign * turn[k];
    }
}

/* v = velocity of b relative to a at a contact with these arms (over l), from sweep->velocity, world frame; b is -1 for
 * the fixed world. */
static inline void talus_sweep_general_velocity(const TalusSweep *sweep, const int32_t pair[2],
                                                const double arm_a[3], const double arm_b[3],
                                                double v[3])
{
    const double *a = sweep->velocity[pair[0]];
    double turn[3];
    talus_cross3(a + 4, arm_a, turn);
    for (int c = 0; c < 3; c++)
        v[c] = -a[c] - turn[c];
    if (pair[1] < 0)
        return;
    const double *b = sweep->velocity[pair[1]];
    talus_cross3(b + 4, arm_b, turn);
    for (int c = 0; c < 3; c++)
        v[c] += b[c] + turn[c];
}

/* sweep_plan.c: finds the classes of the contacts, with the memory of the scratch's wrenches as work space. */
TalusStatus talus_sweep_colour(TalusSweep *sweep);
/* Fills the packs and items of the sweep from the operator and gamma. */
TalusStatus talus_sweep_fill_items(TalusSweep *sweep, const double *gamma);
/* Writes the impulses of packs and items to gamma, in contact frames. */
void talus_sweep_read_items(TalusSweep *sweep, double *gamma);
/* Turns a plan in single precision into one in double precision that starts from its impulses. */
void talus_sweep_widen(TalusSweep *sweep);

/* sweep_part.c: after the colours are known, plans what ranks exchange; called by all. heavy_together: heavy contacts
 * change together, else one after the other. A whole problem needs no plan. */
TalusStatus talus_sweep_plan_part(TalusSweep *sweep, bool heavy_together);
/* Lists the contacts that are swept one after the other by level: contact[k], in the order of the list, has the entry
 * first + k. */
void talus_sweep_sort_tail(TalusSweep *sweep, const int32_t *contact, int count, int32_t first);
/* Before a phase, brings the velocities that it needs from other ranks; those of body k are `bytes` k bytes after
 * `velocity`. Does nothing on a whole problem. */
void talus_sweep_bring(const TalusSweep *sweep, int phase, void *velocity, size_t bytes);
void talus_sweep_part_destroy(SweepPart *part);

/* sweep_single.c: chooses the units from the operator's bodies and sweep->velocity, and sets the velocity changes to
 * 0. */
void talus_single_start(TalusSweep *sweep);
/* Does one sweep in single precision. Returns the sum of the squared velocity changes. */
double talus_single_sweep(TalusSweep *sweep);
/* True if the rounding of floats may disturb sweeps after one with this sum of squared velocity changes. */
bool talus_single_is_spent(const TalusSweep *sweep, double change2);

/* True if the sweep goes block by block on impulses in contact frames (sweep_sparse.c), not over packs and items: for
 * an explicit operator, for mixed sets, and if options.local solves the contacts' own problems, unless packs do so. */
static inline bool talus_sweep_is_by_block(const TalusSweep *sweep)
{
    const TalusOperator *op = sweep->op;
    bool local = sweep->options.local != TALUS_ONE_PROJECT && !sweep->packed;
    return !op->pair || op->mixed_sets || local;
}

/* sweep_chaotic.c: does one sweep in chaotic order. Returns the sum of the squared velocity changes. */
double talus_sweep_chaotic(TalusSweep *sweep);

/* sweep_sparse.c: a = the diagonal block of N + E of block i, without moment rows. A contact has all 3 x 3 entries
 * even if op->rows is 1; a block of an explicit matrix with one row has one entry, and the others are 0. */
void talus_sweep_get_block(const TalusOperator *op, int i, double a[3][3]);
/* sweep_sum.c: reserves sweep->term for `count` terms, and sweep->partial for the chunks of any loop over them. */
TalusStatus talus_sweep_reserve_terms(TalusSweep *sweep, int64_t count);
/* Returns the largest of partial[0] to partial[chunks - 1], 0 if none is positive; NaNs are passed over. */
double talus_sweep_largest(const TalusSweep *sweep, int64_t chunks);
/* Returns the sum of the first `count` terms, each rounded (sweep_sum.c), of all ranks; `largest`, the largest of these, if
 * that is above 1e300. Overwrites sweep->partial and, on several ranks, the terms that others count. */
double talus_sweep_sum(TalusSweep *sweep, int64_t count, double largest);
/* Makes sweep->order a new random permutation. */
void talus_sweep_shuffle(TalusSweep *sweep);
/* sweep_sparse.c: makes the plan of sweeps block by block that start from a copy of gamma. */
TalusStatus talus_sweep_prepare_by_block(TalusSweep *sweep, const double *gamma);
/* Does one sweep block by block. Returns the sum of the squared velocity changes; of a symmetric sweep, that of its
 * backward half. */
double talus_sweep_run_by_block(TalusSweep *sweep);
/* sweep_block.c: makes the plan of sweeps that solve each contact's own problem by options.local. Such a sweep is done
 * by talus_sweep_run_by_block or, if sweep->packed is set, over packs. */
TalusStatus talus_sweep_prepare_local(TalusSweep *sweep, const double *gamma);

#endif

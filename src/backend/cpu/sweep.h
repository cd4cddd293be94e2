/* backend/cpu/sweep.h - the plan of a Gauss-Seidel sweep: contacts, or blocks of an explicit matrix, in the order and
 * layout in which it visits them. */
#ifndef TALUS_BACKEND_CPU_SWEEP_H
#define TALUS_BACKEND_CPU_SWEEP_H

#include "backend/cpu/colour.h"
#include "backend/cpu/cpu.h"
#include "base/lane.h"
#include "base/rng.h"

/* Packs per chunk of a parallel loop; items, or blocks in a sweep block by block, per chunk. */
enum { PACK_GRAIN = 128, ITEM_GRAIN = 64 };

/* One block's projected step in the metric B = diag(b_n, b_t, ..): coupling times the block's diagonal, or times its
 * mean with metric trace. These numbers are constant over sweeps. With one row inv_t, mu and kappa are 0, mantle 1. With
 * options.coulomb kappa is 0 and mantle 1: the projection leaves n >= 0 as it is and shortens t to mu n. */
typedef struct StepRule {
    double inv_n, inv_t; /* omega / b_n, omega / b_t */
    double mu, kappa;    /* kappa = mu b_t / b_n */
    double mantle;       /* 1 / (1 + mu kappa), factor of projections onto the mantle */
    double scale; /* d, mean diagonal entry; converts an impulse change to a velocity change */
} StepRule;

/* Two contacts of one colour and one sphere run, one per lane; impulses in the world frame, so no tangents are needed.
 * Fields as in SweepItem and StepRule. */
typedef struct SpherePack {
    Lane normal[3], gamma[3];
    Lane bias, compliance;
    Lane inv_n, inv_t, mu, kappa, mantle, scale;
    int32_t a[LANES], b[LANES];
} SpherePack;

/* Any contact, by itself; impulse in the world frame. */
typedef struct SweepItem {
    double normal[3], gamma[3], arm_a[3], arm_b[3];
    double bias, compliance;
    StepRule rule;
    int32_t a, b; /* b is -1 for the fixed world */
} SweepItem;

/* A contact or explicit block whose own problem is solved (sweep_block.c), with A its block of N + E. An explicit block
 * has only scale, inv_n, inv_t, mu, friction_bound, block and one. */
typedef struct LocalItem {
    double frame[4], bias, compliance, scale;
    double inv_n, inv_t;       /* for a round item: 1 / A_nn, 1 / A_tt */
    double mu, friction_bound; /* as in `one` */
    int32_t block;
    int32_t a, b; /* b is -1 for the fixed world */
    bool round;   /* two spheres, or a sphere and a fixed body */
    TalusOneContact one;
    double arm_a[3], arm_b[3];
} LocalItem;

struct TalusSweep {
    const TalusOperator *op;
    TalusSweepOptions options;
    TalusRng rng;

    double (*velocity)[8]; /* the operator's scratch; [bodies] is a dummy body for an idle lane */
    /* gamma of the last `end`, to recompute velocity, which others may have overwritten since; else NULL */
    const double *ended;
    double *term;    /* squared velocity change of each lane and item, or block */
    double *partial; /* largest of these, or a sum over them, by chunk */

    /* coloured: packs by colour and run, items by colour, then overflow, then heavy */
    TalusColouring colouring;
    SpherePack *pack;
    int pack_start[COLOURS][3]; /* sphere-sphere from [0], sphere-fixed from [1], to [2] */
    SweepItem *item;
    int item_start[CLASSES + 1]; /* first item of each class */
    double (*change)[3];         /* impulse change of each heavy item in this sweep */
    int32_t *split;              /* [bodies]: number of heavy items that share the body */

    /* in sequence: item[block], visited as order[0], order[1], ..; block by block: arguments of `step` in visiting
     * order, which are blocks or, with `local`, indices into that */
    int32_t *order;

    /* block by block (sweep_sparse.c): `step` steps one entry of `order`, returns its squared velocity change */
    double (*step)(struct TalusSweep *sweep, int block);
    double *gamma;                 /* impulses in contact frames */
    int colour_start[COLOURS + 2]; /* into order; the last class is swept in sequence */
    int colour;                    /* colour being swept */
    bool packed;                   /* contacts' own problems are solved, and packs can do it */
    LocalItem *local;              /* [blocks], in visiting order; if not coloured, by block */
};

/* Returns the step rule of a block of `rows` rows with diagonal (nn, tt, tt, ..) and this TalusOperator.coupling. */
StepRule talus_step_rule(const TalusSweepOptions *options, int rows, double nn, double tt,
                         double coupling, double mu);

/* Adds the effect of the impulse sign * dp at `arm` (over l) to v, the velocity record of `body`; none if impulses do
 * not move the body. */
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

/* Fills packs and items from the operator and gamma. */
TalusStatus talus_sweep_fill_items(TalusSweep *sweep, const double *gamma);
/* Writes the impulses of packs and items to gamma, in contact frames. */
void talus_sweep_read_items(TalusSweep *sweep, double *gamma);

/* True if the sweep works block by block on impulses in the contact frames: for an explicit operator, mixed sets,
 * and contacts whose own problem is solved, unless packs do that. */
static inline bool talus_sweep_is_by_block(const TalusSweep *sweep)
{
    const TalusOperator *op = sweep->op;
    bool local = sweep->options.local != TALUS_ONE_PROJECT && !sweep->packed;
    return !op->pair || op->mixed_sets || local;
}

/* sweep_sparse.c: a = the block of N + E of block i, without moment rows: a contact's 3 x 3 entries even if op->rows is
 * 1; of an explicit matrix with one row its one entry, the others 0. */
void talus_sweep_get_block(const TalusOperator *op, int i, double a[3][3]);
/* sweep_sum.c: reserves memory for `count` terms, of which loops leave the largest of each chunk in `partial`; returns the
 * largest of these; returns the sum of all terms. */
TalusStatus talus_sweep_reserve_terms(TalusSweep *sweep, int64_t count);
double talus_sweep_largest(const TalusSweep *sweep, int64_t chunks);
double talus_sweep_sum(TalusSweep *sweep, int64_t count, double largest);
/* Draws the next permutation of a random sweep. */
void talus_sweep_shuffle(TalusSweep *sweep);
/* Plan and one sweep block by block; run returns the squared velocity change. */
TalusStatus talus_sweep_prepare_by_block(TalusSweep *sweep, const double *gamma);
double talus_sweep_run_by_block(TalusSweep *sweep);
/* sweep_block.c: plan with a solver of each contact's own problem; the sweep is talus_sweep_run_by_block. */
TalusStatus talus_sweep_prepare_local(TalusSweep *sweep, const double *gamma);

#endif

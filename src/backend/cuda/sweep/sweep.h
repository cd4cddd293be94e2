/* backend/cuda/sweep/sweep.h - the plan of a Gauss-Seidel sweep on the device.
 *
 * Contacts are ordered by class: first contacts of spheres by colour, then items by colour, then heavy items. An item
 * is a contact that is general or heavy (of a body with many contacts, or without a free colour); a plan stores its
 * arms and its step. A coloured sweep takes colour after colour, the spheres of a colour and then its items, and last
 * the heavy items. `place` and `at` are indices in this order. No block of an explicit matrix is an item; its class is
 * a colour or CLASS_HEAVY. */
#ifndef TALUS_BACKEND_CUDA_SWEEP_SWEEP_H
#define TALUS_BACKEND_CUDA_SWEEP_SWEEP_H

#include "backend/cuda/ops/operator.h"

/* A body with more than HEAVY_CONTACTS contacts would need a colour for each: its contacts are heavy, as on the host
 * (cpu/colour.h). The two bodies of any other contact have at most 39 further contacts each, or impulses do not move
 * them and they need no colours, so that 79 colours suffice. */
enum {
    HEAVY_CONTACTS = 40,
    CLASS_HEAVY = 80, /* classes 0..79 are colours */
    CLASS_NONE = 127, /* not coloured yet */
    CLASS_ITEM = 128, /* bit that is set in the class of every item */
    CLASSES = 256
};

/* SWEEP_THREADS: threads per block of a sweep's kernels, few, so that a colour of a small problem still uses most
 * processors. SWEEP_TALLIES: tallies among which these blocks are dealt out, so that few wait for each other. */
enum { SWEEP_THREADS = 64, SWEEP_TALLIES = 16 };

/* The order of a sweep: the contacts of class c, ascending, are at places start[c] to start[c + 1] - 1. */
struct SweepOrder {
    CuArray<uint32_t> class_of; /* [contacts] */
    CuArray<uint32_t> contact;  /* [contacts]: contact at each place */
    /* [contacts]: place of each heavy contact, undefined for others; while the order is made, work space */
    CuArray<uint32_t> place;
    CuArray<uint32_t> sorted;               /* [contacts]: work space */
    CuArray<unsigned long long> best, used; /* [bodies], [2 bodies]: work space */
    CuArray<int32_t> start_at; /* `start` on the device; while colouring, [0] and [1] are flags */
    int start[CLASSES + 1];    /* first place of each class; [CLASSES]: number of contacts */
};

/* Colours and orders op's contacts; `coloured` false puts contacts of spheres in class 0 and general ones in
 * CLASS_ITEM, except heavy ones. The order of threads has no influence on the result. */
TalusStatus cu_order_contacts(const TalusOperator *op, bool coloured, SweepOrder *order);
/* Colours and orders the blocks of an explicit matrix, symmetric or not: no two of a colour are coupled. Blocks without
 * a colour get CLASS_HEAVY and are swept one by one. */
TalusStatus cu_order_blocks(const TalusOperator *op, SweepOrder *order);
/* Frees the arrays of the order. */
void cu_order_clear(SweepOrder *order);

/* Kernel argument: plan of a sweep over cones or half lines; arrays are in sweep order. Component k of place i is at
 * [k * n + i], a plane of n numbers per component, so that reads of neighbouring threads coalesce; planes over items or
 * heavy items have one number for each of these. */
struct SweepPlan {
    int64_t n;       /* number of contacts */
    int first_item;  /* place of the first item */
    int2 *pair;      /* bodies a and b; b -1: the fixed world */
    double *normal;  /* 3 planes, world frame */
    double *impulse; /* 3 planes, world frame; with one row 1 plane of normal impulses */
    double *bias, *mu, *compliance; /* mu: three rows only; compliance NULL: all are rigid */
    double *arm;           /* 6 planes over the items: arm of a, arm of b, each over its body's l */
    double (*step)[4];     /* [items]: the numbers of SweepStep */
    double *change;        /* 3 planes over the heavy items: changes of impulses in this sweep */
    double (*velocity)[8]; /* current velocities, as records of TalusOperator.body */
    const double (*inverse_inertia)[6]; /* as in TalusOperator; NULL: spheres alone */
    double omega, rho;                  /* as in TalusSweepOptions */
    bool trace;                         /* the metric is TALUS_METRIC_TRACE */
    bool coulomb, ignore_coupling;      /* as in TalusSweepOptions */
};

/* Plan and state of sweeps over a problem. */
struct TalusSweep {
    const TalusOperator *op; /* not owned */
    TalusSweepOptions options;
    SweepOrder order;
    SweepPlan plan;     /* for cones and half lines; not used by blockwise and sparse sweeps */
    CuArray<int2> pair; /* SweepPlan.pair */
    /* arrays of SweepPlan with these names */
    CuArray<double> normal, impulse, bias, mu, compliance, arm, step, change, velocity;
    CuArray<int32_t> heavy_count; /* [bodies]: number of heavy items of the body */
    CuArray<double> gamma; /* impulses in contact frames; coloured sweeps over `plan` need none */
    CuArray<double>
        own; /* [9 blocks]: each block of N + E on the diagonal (cu_sweep_fill_own_blocks) */
    CuArray<CuTally> tally; /* [SWEEP_TALLIES]: squared velocity changes of the sweep that runs */
    int sweeps;             /* number launched since cu_sweep_prepare */
    cudaGraphExec_t graph;  /* one sweep; NULL: not captured yet */
};

/* ---- shared by kernels ---- */

/* Returns the tally of the calling block; tally: TalusSweep.tally. */
static __device__ inline CuTally *block_tally(CuTally *tally)
{
    return &tally[blockIdx.x % SWEEP_TALLIES];
}

/* Adds the squared velocity changes of a block's threads, which all call it, to the sweep's sum. */
static __device__ inline void add_changes(double change, CuTally *tally)
{
    CuSums<1, 0> sums;
    sums.add(&change);
    add_block_sums<SWEEP_THREADS>(sums, block_tally(tally));
}

/* One contact's step in the metric diag(b_n, b_t, b_t), constant over sweeps: omega / b_n, omega / b_t, kappa = mu b_t
 * / b_n or, with p.coulomb, 0: n >= 0 then stays as it is and t is shortened to mu n; `scale` is d, the mean diagonal
 * entry, which converts an impulse change to a velocity change. */
struct SweepStep {
    double inv_n, inv_t, kappa, scale;
};

/* Returns the step of a contact with diagonal (nn, tt, tt): b_n and b_t are `coupling` (TalusOperator.coupling) times
 * nn and tt or, with p.trace, times d; without `coupling` if p.ignore_coupling. inv_t and kappa are 0 with one row. */
template <int ROWS>
static __device__ inline SweepStep make_step(const SweepPlan &p, double nn, double tt,
                                             double coupling, double mu)
{
    double d = ROWS == 1 ? nn : (nn + 2.0 * tt) * (1.0 / 3.0);
    if (p.ignore_coupling)
        coupling = 1.0;
    double bn = coupling * (p.trace ? d : nn), bt = coupling * (p.trace ? d : tt);
    SweepStep s = {p.omega / bn, 0.0, 0.0, d};
    if (ROWS == 3) {
        s.inv_t = p.omega / bt;
        s.kappa = p.coulomb ? 0.0 : mu * (bt / bn);
    }
    return s;
}

/* A contact in a thread's registers. */
template <int ROWS> struct SweepContact {
    int2 pair;
    double n[3], gamma[ROWS]; /* normal and impulse, world frame; one row: the normal impulse */
    double mu, compliance;    /* mu is 0 with one row */
};

/* Loads the contact at place `at`. */
template <int ROWS>
static __device__ inline SweepContact<ROWS> load_contact(const SweepPlan &p, int64_t at)
{
    SweepContact<ROWS> c;
    c.pair = p.pair[at];
    for (int k = 0; k < 3; k++)
        c.n[k] = p.normal[k * p.n + at];
    for (int k = 0; k < ROWS; k++)
        c.gamma[k] = p.impulse[k * p.n + at];
    c.mu = ROWS == 3 ? p.mu[at] : 0.0;
    c.compliance = p.compliance ? p.compliance[at] : 0.0;
    return c;
}

static __device__ inline double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* True if impulses move a body with this record, as talus_body_yields (backend/operator.h). inverse_inertia NULL: of a
 * sphere. */
static __device__ inline bool impulses_move(const double record[8], const double *inverse_inertia)
{
    return record[3] != 0.0 || record[7] != 0.0 ||
           (inverse_inertia &&
            (inverse_inertia[0] != 0.0 || inverse_inertia[1] != 0.0 || inverse_inertia[2] != 0.0));
}

/* turn = sign times the change of a body's spin by an angular impulse `torque`: k times it or, with p.inverse_inertia,
 * the body's matrix times it. */
static __device__ inline void spin_change(const SweepPlan &p, int body, double k,
                                          const double torque[3], double sign, double turn[3])
{
    if (!p.inverse_inertia) {
        for (int i = 0; i < 3; i++)
            turn[i] = sign * (k * torque[i]);
        return;
    }
    const double *m = p.inverse_inertia[body], *t = torque;
    turn[0] = sign * (m[0] * t[0] + m[3] * t[1] + m[4] * t[2]);
    turn[1] = sign * (m[3] * t[0] + m[1] * t[1] + m[5] * t[2]);
    turn[2] = sign * (m[4] * t[0] + m[5] * t[1] + m[2] * t[2]);
}

/* ---- sweep_plan.cu, sweep_sparse.cu ---- */

/* Returns the places of classes first to end - 1: .x to .y - 1. */
static inline int2 class_places(const TalusSweep *s, int first, int end)
{
    return make_int2(s->order.start[first], s->order.start[end]);
}

/* Returns the place of the first heavy contact (.x) and the number of heavy contacts (.y); not for an explicit
 * matrix. */
static inline int2 heavy_places(const TalusSweep *s)
{
    int2 range = class_places(s, CLASS_ITEM | CLASS_HEAVY, (CLASS_ITEM | CLASS_HEAVY) + 1);
    return make_int2(range.x, range.y - range.x);
}

/* cu_sweep_plan orders the contacts (cu_order_contacts), fills the plan from the operator and gamma, and computes the
 * bodies' velocities; cu_sweep_write_gamma writes the plan's impulses to gamma, in contact frames. For cones and half
 * lines, coloured or chaotic. */
TalusStatus cu_sweep_plan(TalusSweep *sweep, const double *gamma);
void cu_sweep_write_gamma(TalusSweep *sweep, double *gamma);
/* Reserves and empties sweep->tally. */
TalusStatus cu_sweep_reserve_sums(TalusSweep *sweep);

/* Make the plan for an explicit matrix from gamma; launch one coloured sweep, which changes sweep->gamma and appends
 * its changes to sweep->tally. */
TalusStatus cu_sweep_plan_sparse(TalusSweep *sweep, const double *gamma);
void cu_sweep_sparse(TalusSweep *sweep);

/* sweep_block.cu: plan and coloured sweep with impulses in contact frames (sweep->gamma). cu_sweep_is_blockwise: true
 * if the sweep takes them: over contacts with mixed sets, or if it solves each contact's own problem. */
static inline bool cu_sweep_is_blockwise(const TalusSweep *s)
{
    return s->op->pair && (s->op->mixed_sets || s->options.local != TALUS_ONE_PROJECT);
}
TalusStatus cu_sweep_plan_blockwise(TalusSweep *sweep, const double *gamma);
void cu_sweep_blockwise(TalusSweep *sweep);
/* Reserves and fills sweep->own if blocks' own problems are solved or if there are joints (joint_step); else does
 * nothing. */
TalusStatus cu_sweep_fill_own_blocks(TalusSweep *sweep);

#endif

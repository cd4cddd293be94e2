/* backend/cuda/sweep/sweep.h - the plan of a Gauss-Seidel sweep on the device.
 *
 * Contacts are ordered by class: first contacts of spheres by colour, then items by colour, then heavy items. An item
 * is a contact that is general or heavy (of a body with many contacts); a plan stores its arms and its step. A coloured
 * sweep takes colour after colour, the spheres of a colour and then its items, and last the heavy items. `place` and
 * `at` are indices in this order. Blocks of an explicit matrix have no items: a colour, or CLASS_HEAVY. */
#ifndef TALUS_BACKEND_CUDA_SWEEP_SWEEP_H
#define TALUS_BACKEND_CUDA_SWEEP_SWEEP_H

#include "backend/cuda/ops/operator.h"

/* A body with more than HEAVY_CONTACTS contacts would need a colour for each: its contacts are heavy, as on the host
 * (cpu/colour.h). The two bodies of any other contact have at most 39 further contacts each, or are not moved by
 * impulses and need no colours, so 79 colours suffice. */
enum {
    HEAVY_CONTACTS = 40,
    CLASS_HEAVY = 80, /* classes 0..79 are colours */
    CLASS_NONE = 127, /* not coloured yet */
    CLASS_ITEM = 128, /* bit that is set in the class of every item */
    CLASSES = 256
};

/* SWEEP_THREADS: threads per block of a sweep's kernels, few, so that a colour of a small problem still uses most
 * processors. ADD_BLOCKS: most blocks of the kernel that adds up their sums (add_partials). */
enum { SWEEP_THREADS = 64, ADD_BLOCKS = 64 };

/* The order of a sweep: the contacts of class c, ascending, are at places start[c] to start[c + 1] - 1. */
struct SweepOrder {
    CuArray<uint32_t> class_of; /* [contacts] */
    CuArray<uint32_t> contact;  /* [contacts]: contact at each place */
    /* [contacts]: place of each heavy contact, undefined for others; while the order is made, work space */
    CuArray<uint32_t> place;
    CuArray<uint32_t> sorted;               /* work space */
    CuArray<unsigned long long> best, used; /* [bodies], [2 bodies]: work space */
    CuArray<int32_t> start_at; /* `start` on the device; while colouring, [0] is a flag */
    int start[CLASSES + 1];
};

/* Colours and orders op's contacts; `coloured` false puts all but the heavy ones in class 0, items in CLASS_ITEM. The
 * order of threads has no influence on the result. */
TalusStatus cu_order_contacts(const TalusOperator *op, bool coloured, SweepOrder *order);
/* Colours and orders the blocks of an explicit matrix, symmetric or not: no two of a colour are coupled. Blocks without
 * a colour get CLASS_HEAVY and are swept one by one. */
TalusStatus cu_order_blocks(const TalusOperator *op, SweepOrder *order);
void cu_order_clear(SweepOrder *order);

/* Kernel arguments of a plan for cones or half lines: arrays in sweep order. Component k of place i is at [k * n + i],
 * a plane of n numbers per component, so that reads of neighbouring threads coalesce. */
struct SweepPlan {
    int64_t n;      /* number of contacts */
    int first_item; /* place of the first item */
    int2 *pair;
    double *normal, *impulse; /* 3 planes each, world frame; one row: 1 plane of normal impulses */
    double *bias, *mu, *compliance;
    double *arm;           /* 6 planes over the items: arm of a, arm of b, each over its body's l */
    double (*step)[4];     /* [items]: the numbers of SweepStep */
    double *change;        /* 3 planes over the heavy items: changes of impulses in this sweep */
    double (*velocity)[8]; /* current velocities, as records of TalusOperator.body */
    const double (*inverse_inertia)[6];
    double omega, rho;
    bool trace;   /* TALUS_METRIC_TRACE */
    bool coulomb; /* as in TalusSweepOptions */
};

struct TalusSweep {
    const TalusOperator *op;
    TalusSweepOptions options;
    SweepOrder order;
    SweepPlan plan;
    CuArray<int2> pair;
    CuArray<double> normal, impulse, bias, mu, compliance, arm, step, change, velocity;
    CuArray<int32_t> split; /* [bodies]: number of heavy items of the body */
    CuArray<double> gamma;  /* impulses in contact frames; coloured sweeps over `plan` need none */
    CuArray<double>
        own; /* [9 blocks]: each block of N + E on the diagonal (cu_sweep_fill_own_blocks) */
    CuArray<double> partial;   /* squared velocity changes, one sum per block of threads */
    int partials;              /* number of these sums in the last launched sweep */
    CuArray<double> added;     /* partial sums of the kernel that adds up `partial` */
    CuArray<unsigned> arrived; /* CuPartials.arrived of that kernel */
    int sweeps;                /* number since cu_sweep_prepare */
    cudaGraphExec_t graph;
};

/* ---- shared by kernels ---- */

/* One contact's step in the metric diag(b_n, b_t, b_t), constant over sweeps: omega / b_n, omega / b_t, kappa = mu b_t
 * / b_n or, with p.coulomb, 0: n >= 0 then stays as it is and t is shortened to mu n; `scale` is d, the mean diagonal
 * entry, which converts an impulse change to a velocity change. */
struct SweepStep {
    double inv_n, inv_t, kappa, scale;
};

/* Returns the step of a contact with diagonal (nn, tt, tt): b_n and b_t are `coupling` (TalusOperator.coupling) times
 * nn and tt or, with p.trace, times d. inv_t and kappa are 0 with one row. */
template <int ROWS>
static __device__ inline SweepStep make_step(const SweepPlan &p, double nn, double tt,
                                             double coupling, double mu)
{
    double d = ROWS == 1 ? nn : (nn + 2.0 * tt) * (1.0 / 3.0);
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
    double n[3], gamma[ROWS];
    double mu, compliance;
};

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

/* Returns the place of the first heavy contact (.x) and their number (.y). */
static inline int2 heavy_places(const TalusSweep *s)
{
    int2 range = class_places(s, CLASS_ITEM | CLASS_HEAVY, (CLASS_ITEM | CLASS_HEAVY) + 1);
    return make_int2(range.x, range.y - range.x);
}

/* cu_sweep_plan fills the plan from the operator and gamma and computes the bodies' velocities; cu_sweep_write_gamma
 * writes the plan's impulses to gamma. For cones and half lines, coloured or chaotic. */
TalusStatus cu_sweep_plan(TalusSweep *sweep, const double *gamma);
void cu_sweep_write_gamma(TalusSweep *sweep, double *gamma);
/* Reserves memory for `partials` sums of blocks of threads. The memory belongs to the sweep, because a captured graph
 * keeps its address and the memory of the context may move. */
TalusStatus cu_sweep_reserve_sums(TalusSweep *sweep, int64_t partials);

/* Make the plan for an explicit matrix; launch one coloured sweep over it. */
TalusStatus cu_sweep_plan_sparse(TalusSweep *sweep, const double *gamma);
void cu_sweep_sparse(TalusSweep *sweep);

/* sweep_block.cu: plan and coloured sweep with impulses in contact frames, for contacts with mixed sets, or if a sweep
 * solves each contact's own problem. */
static inline bool cu_sweep_is_blockwise(const TalusSweep *s)
{
    return s->op->pair && (s->op->mixed_sets || s->options.local != TALUS_ONE_PROJECT);
}
TalusStatus cu_sweep_plan_blockwise(TalusSweep *sweep, const double *gamma);
void cu_sweep_blockwise(TalusSweep *sweep);
/* Fills sweep->own if blocks' own problems are solved or if there are joints (joint_step); else does nothing. */
TalusStatus cu_sweep_fill_own_blocks(TalusSweep *sweep);

#endif

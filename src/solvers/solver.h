/* solvers/solver.h - what one algorithm provides, and what the driver provides to it. */
#ifndef TALUS_SOLVERS_SOLVER_H
#define TALUS_SOLVERS_SOLVER_H

#include "backend/backend.h"
#include "base/param.h"
#include "base/status.h"
#include "problem/problem.h"

#include <talus/solver.h>

typedef struct TalusSolve TalusSolve;

/* talus_fail for a solver by its name: the text begins with "solver NAME: ". */
#define talus_solver_fail(name, ...) \
    talus_fail_at(talus_locate(TALUS_DOMAIN_SOLVER, NULL, 0, name), __VA_ARGS__)

typedef struct TalusSolverType {
    const char *name, *summary, *reference;
    uint32_t takes; /* bits TALUS_TAKES_... */
    bool
        through_products; /* it sees the operator through products, residuals and the sets of blocks alone:
                              free joints are eliminated (problem/eliminate.h) */
    const TalusParam *params;
    int param_count;
    size_t param_size; /* of the parameter struct */
    size_t state_size; /* of what is carried from solve to solve and saved; starts as zeros */
    size_t work_size;  /* of the workspace struct; starts as zeros, keeps its vectors */
    TalusStatus (*solve)(TalusSolve *solve);
    /* Gives back what the workspace holds; its vectors are those of `backend`. */
    void (*clear)(void *work, const TalusBackend *backend);
    /* What with these parameters works on the host's arrays alone, or NULL; NULL: nothing ever does. */
    const char *(*on_host)(const void *params);
    /* What this build lacks for it and how to get it, or NULL where it can run; NULL: it always can. */
    const char *(*missing)(void);
    /* Brings in what it needs from outside, before the clock of a solve starts; NULL: nothing. */
    TalusStatus (*load)(void);
} TalusSolverType;

/* What is done around an algorithm for laws beyond ccp (outer.h). */
typedef struct TalusOuterPlan {
    bool beyond;        /* some block is under such a law: the residual is the law's */
    bool exact;         /* Coulomb blocks, which the algorithm takes as they are */
    bool bounds;        /* fixed blocks: their bounds are estimated */
    bool shift, tresca; /* Coulomb blocks, which the algorithm takes as cones or as prisms; neither:
                           there are none, or it is exact */
} TalusOuterPlan;

/* One solve under way. An algorithm improves gamma in place and asks talus_solve_continue after each
 * iteration whose residual it knows. */
struct TalusSolve {
    TalusProblem *problem;
    const TalusBackend *backend;
    const TalusOperator *op;          /* this and gamma are in the backend's memory */
    const TalusSolveOptions *options; /* those of a stretch while an outer loop runs */
    const TalusSolverType *type;
    const void *params;
    void *state, *work;
    double *gamma;
    struct TalusReduced *
        reduced; /* where op has no free joints and the problem has: gamma has room for them, behind */

    /* kept by the driver */
    TalusSolveInfo *info;
    double strictness; /* estimates must beat tolerance times this; lowered when one was too rosy */
    double began, paused, deadline; /* clock: start, time given to observers, end of the budget */
    bool started;                   /* a first residual has been seen */
    bool stopped;                   /* by a monitor or an observer */
    bool
        stuck; /* set by an exact algorithm that gave up for want of progress, to have outer loops tried */
    TalusOuterPlan plan;
    struct TalusWatch *watch;
    struct TalusShow *show;
};

/* Counts one iteration with `products` products. */
void talus_solve_count(TalusSolve *solve, int products);

/* True while the iteration should go on. rms and max are estimates of the residual (max may be
 * NaN where unknown: then rms stands for it). Sets info->outcome when it ends. */
bool talus_solve_continue(TalusSolve *solve, double rms, double max);

/* True if the budget allows another iteration; for iterations whose residual is not known. */
bool talus_solve_within_budget(TalusSolve *solve);

/* True when talus_solve_show has a use for the iterate now; at other times it need not be at hand. */
bool talus_solve_wants_iterate(const TalusSolve *solve);

/* Shows the current iterate, gamma = s x (metric NULL: x is gamma), to the observer and to the watch
 * for infeasible problems. False when the solve is to end: the observer asked for it, or the problem
 * proves infeasible. Uses the operator's scratch. */
bool talus_solve_show(TalusSolve *solve, const double *x, const TalusMetricBlock *metric,
                      double rms);

/* Has the watch look at the next iterate that is shown, whatever the count of iterations: for methods
 * whose iterates grow faster than their number. */
void talus_solve_suspect(TalusSolve *solve);

/* The usual end of an iteration: counts it with its products, shows the iterate, and asks whether to
 * go on, given the sums of a residual. */
bool talus_solve_next(TalusSolve *solve, int products, const double *x,
                      const TalusMetricBlock *metric, double residual2, double residual_max);

/* Room for a metric, in the backend's memory, and the metric s of a solver (backend.h). */
TalusStatus talus_metric_reserve(const TalusSolve *solve, TalusMetricBlock **metric, size_t *room);
void talus_solver_metric(const TalusSolve *solve, TalusMetric kind, TalusMetricBlock *out);
void talus_metric_release(const TalusBackend *backend, TalusMetricBlock *metric);

/* The largest eigenvalue of S (N + E) S (metric NULL: of N + E) by power iteration: an estimate from
 * below, to be used with a margin and a test on gradients. `x` and `y` are work vectors. Counts its
 * products. */
double talus_operator_norm(TalusSolve *solve, const TalusMetricBlock *metric, int iterations,
                           double *x, double *y);

/* A bound of that from below without a product, for no norm is below a diagonal entry: 1 in a metric, else the
 * largest scale of a block (talus_block_scale). */
double talus_least_norm(const TalusSolve *solve, const TalusMetricBlock *metric);

/* Every row of solvers/table.h is defined in a file of its own. */
#define TALUS_SOLVER(name) extern const TalusSolverType talus_solver_##name;
#include "solvers/table.h"
#undef TALUS_SOLVER

#endif

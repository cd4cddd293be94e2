/* solvers/driver/solver.h - what one algorithm provides, and what the driver provides to it. */
#ifndef TALUS_SOLVERS_DRIVER_SOLVER_H
#define TALUS_SOLVERS_DRIVER_SOLVER_H

#include "backend/backend.h"
#include "base/param.h"
#include "base/status.h"
#include "problem/problem.h"

#include <talus/solver.h>

typedef struct TalusSolve TalusSolve;

/* talus_fail for a solver by its name: the text begins with "solver NAME: ". */
#define talus_solver_fail(name, ...) \
    talus_fail_at(talus_locate(TALUS_DOMAIN_SOLVER, NULL, 0, name), __VA_ARGS__)

/* A solver that another one hands over to. */
typedef struct TalusPart {
    const char *spec; /* name and parameters; NULL ends the list */
    bool keeps_state; /* its state is saved with that of the whole; else a handover zeroes it */
} TalusPart;

/* A stage of a solve: one solver, from the impulses that the stage before has left. A stage ends when the problem is solved
 * or at its limit. A trial may fail and leaves half of the remaining iterations to the stages that follow; unless it solves
 * the problem, its impulses are dropped where those it began with are better. */
typedef struct TalusStage {
    int part;           /* of the solver that plans the stages */
    int max_iterations; /* of this stage; INT_MAX: all that remain */
    bool trial;
} TalusStage;

enum { TALUS_MAX_STAGES = 3 };

typedef struct TalusSolverType {
    const char *name, *summary, *reference;
    uint32_t takes; /* bits TALUS_TAKES_... */
    /* True if the solver sees the operator through products, residuals and the sets of blocks alone: free joints are then
     * eliminated (problem/eliminate.h). */
    bool through_products;
    const TalusParam *params;
    int param_count;
    size_t param_size;      /* of the parameter struct */
    size_t state_size;      /* of what is carried from solve to solve and saved; starts as zeros */
    size_t work_size;       /* of the workspace struct; starts as zeros, keeps its vectors */
    const TalusPart *parts; /* solvers that it hands over to; NULL: none */
    TalusStatus (*solve)(TalusSolve *solve);
    /* Takes the place of `solve` in a solver whose parts do all the work: writes the stages and returns their number.
     * Stages follow from problem and options alone. */
    int (*plan)(TalusProblem *problem, const TalusSolveOptions *options,
                TalusStage stage[TALUS_MAX_STAGES]);
    /* Gives back what the workspace holds; its vectors are those of `backend`. */
    void (*clear)(void *work, const TalusBackend *backend);
    /* What of it works on the host's arrays alone; NULL: nothing does. */
    const char *on_host;
    /* True if that is needed with these parameters; NULL: with all. */
    bool (*is_on_host)(const void *params);
    /* What this build lacks for it and how to get it, or NULL where it can run; NULL: it always can. */
    const char *(*missing)(void);
    /* Brings in what it needs from outside, with the clock of the solve stopped; NULL: nothing. */
    TalusStatus (*load)(void);
} TalusSolverType;

/* A table of parameters, and the struct that it is of, in a TalusSolverType. */
#define TALUS_PARAMS(table, Struct) \
    .params = table, .param_count = sizeof table / sizeof *table, .param_size = sizeof(Struct)

/* What is done around an algorithm for laws beyond ccp (outer.h). */
typedef struct TalusOuterPlan {
    bool beyond;        /* some block is under such a law: the residual is the law's */
    bool exact;         /* Coulomb blocks, which the algorithm takes as they are */
    bool bounds;        /* fixed blocks: their bounds are estimated */
    bool shift, tresca; /* Coulomb blocks, which the algorithm takes as cones or as prisms; neither:
                           there are none, or it is exact */
} TalusOuterPlan;

/* A solve session: one problem with its counts, clock and observers, through all stages (driver.c). An algorithm
 * improves gamma in place and asks talus_solve_continue after each iteration whose residual it knows. */
struct TalusSolve {
    TalusProblem *problem;
    const TalusBackend *backend;
    /* Those of the caller with the limits of the stage; while an outer loop runs, with those of its inner solve. */
    const TalusSolveOptions *options;
    TalusSolveInfo *info;

    /* the present stage */
    const TalusOperator *op; /* this and gamma are in the backend's memory */
    double *gamma;
    struct TalusReduced *reduced; /* free joints that op lacks; their impulses end gamma */
    TalusSolver *solver;          /* the one that runs */
    const TalusSolverType *type;
    const void *params;
    void *state, *work;
    TalusOuterPlan plan;
    double strictness; /* estimates must beat tolerance times this; lowered when one was too rosy */
    bool resumed; /* called again after such an estimate: what the last call set up still holds */
    bool stuck;   /* set by an exact algorithm that makes no progress: outer loops are tried */

    /* kept by the driver */
    const TalusSolveOptions *wanted; /* those of the caller */
    TalusSolveOptions limited;       /* the same with the limits of the stage */
    double began, paused;            /* clock: start, time it was stopped for */
    bool started;                    /* a first residual has been seen */
    bool stopped;                    /* by a monitor or an observer */
    struct TalusInfeasibility *infeasibility;
    struct TalusObserved *observed;
};

/* Counts one iteration with `products` products. */
void talus_solve_count(TalusSolve *solve, int products);

/* Notes the residual at the start of the solve, unless one is known. */
void talus_solve_note_start(TalusSolve *solve, double rms);

/* True while the iteration should go on. rms and max are estimates of the residual (max may be
 * NaN where unknown: then rms stands for it). Sets info->outcome when it ends. */
bool talus_solve_continue(TalusSolve *solve, double rms, double max);

/* True if the budget allows another iteration; for iterations whose residual is not known. */
bool talus_solve_within_budget(TalusSolve *solve);

/* True when talus_solve_observe has a use for the iterate now; at other times it need not be at hand. */
bool talus_solve_wants_iterate(const TalusSolve *solve);

/* Reports the current iterate, gamma = s x (metric NULL: x is gamma), to the observer and to the infeasibility
 * monitor. False when the solve is to end: the observer asked for it, or the problem proves infeasible. Uses
 * the operator's scratch. */
bool talus_solve_observe(TalusSolve *solve, const double *x, const TalusMetricBlock *metric,
                         double rms);

/* Has the infeasibility monitor check the next iterate that is reported, whatever the count of iterations: for
 * methods whose iterates grow faster than their number. */
void talus_solve_suspect(TalusSolve *solve);

/* Runs a part of the present solver on the same problem, from gamma and within the same limits, and returns when it has
 * ended. `resumed`: the part goes on with what its last call in this stage has set up. */
TalusStatus talus_solve_hand_over(TalusSolve *solve, int part, bool resumed);

/* The usual end of an iteration: counts it with its products, reports the iterate, and asks whether to
 * go on, given the sums of a residual. */
bool talus_solve_next(TalusSolve *solve, int products, const double *x,
                      const TalusMetricBlock *metric, double residual2, double residual_max);

/* Memory for a metric, in the backend, and the metric s of a solver (backend.h). */
TalusStatus talus_metric_reserve(const TalusSolve *solve, TalusMetricBlock **metric,
                                 size_t *capacity);
void talus_solver_metric(const TalusSolve *solve, TalusMetric kind, TalusMetricBlock *out);
void talus_metric_release(const TalusBackend *backend, TalusMetricBlock *metric);

/* The largest eigenvalue of S (N + E) S (metric NULL: of N + E) by power iteration: an estimate from
 * below, to be used with a margin and a test on gradients. `x` and `y` are work vectors. Counts its
 * products. */
double talus_operator_norm(TalusSolve *solve, const TalusMetricBlock *metric, int iterations,
                           double *x, double *y);

/* A bound of that from below without a product, for no norm is below a diagonal entry: 1 in a metric, else the
 * largest scale of a block (talus_block_scale). */
double talus_norm_lower_bound(const TalusSolve *solve, const TalusMetricBlock *metric);

/* A solver of a type that need not be in the table. */
TalusStatus talus_solver_create_type(const TalusSolverType *type, const char *params,
                                     TalusSolver **out);

/* Every row of solvers/driver/table.h is defined in a file of its own. */
#define TALUS_SOLVER(name) extern const TalusSolverType talus_solver_##name;
#include "solvers/driver/table.h"
#undef TALUS_SOLVER

#endif

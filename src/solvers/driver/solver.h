/* solvers/driver/solver.h - interface between algorithms and the driver: what a solver type defines (TalusSolverType),
 * and what a running solve offers its algorithm (TalusSolve). */
#ifndef TALUS_SOLVERS_DRIVER_SOLVER_H
#define TALUS_SOLVERS_DRIVER_SOLVER_H

#include "backend/backend.h"
#include "base/param.h"
#include "base/status.h"
#include "problem/problem.h"

#include <stddef.h>
#include <talus/solver.h>

typedef struct TalusSolve TalusSolve;

/* talus_fail for a named solver: the message begins with "solver NAME: ". */
#define talus_solver_fail(name, ...) \
    talus_fail_at(talus_locate(TALUS_DOMAIN_SOLVER, NULL, 0, name), __VA_ARGS__)

/* A solver that another solver hands over to. */
typedef struct TalusPart {
    const char *spec; /* name and parameters; NULL ends the list */
    bool keeps_state; /* saved with the whole solver; else zeroed by a new handover */
} TalusPart;

/* A stage of a solve: one solver, which starts from the impulses of the stage before. It ends when the solver
 * converges, proves the problem infeasible, gives up or reaches the limit. A trial gets at most half of the remaining
 * iterations; a trial that fails (is_refusal in driver.c) does not end the solve. After a trial that neither converged
 * nor proved infeasibility, the impulses from before it are restored if their rms residual is less. */
typedef struct TalusStage {
    int part;           /* index among the parts of the planning solver */
    int max_iterations; /* limit of this stage; INT_MAX: all remaining iterations */
    bool trial;         /* the stage may fail without ending the solve; see above */
    /* The stage ends when its solver is stuck (TalusSolve.stuck); otherwise the loop of shifts continues the stage. */
    bool until_stuck;
} TalusStage;

/* Largest number of stages that a solver may plan. */
enum { TALUS_MAX_STAGES = 9 };

typedef struct TalusSolverType {
    const char *name, *summary, *reference; /* for lists and messages; reference: paper or page */
    uint32_t takes;                         /* bits TALUS_TAKES_... */
    /* True if the solver accesses the operator only through products, residuals and block sets. Free joints of a
     * matrix-free problem are then eliminated (problem/eliminate.h), unless the options have keep_joints. */
    bool through_products;
    /* True if iterations are runs of the backend (TalusRunOps.accelerate, .jacobi). */
    bool in_runs;
    const TalusParam *params; /* [param_count]: table of the parameters; NULL: none */
    int param_count;
    size_t param_size;      /* bytes of the parameter struct */
    size_t state_size;      /* bytes of the state, which is saved and starts as zeros */
    size_t work_size;       /* bytes of the workspace: zeros at first and for each new backend */
    const TalusPart *parts; /* solvers to hand over to; NULL: none */
    /* Improves solve->gamma in place until the driver ends the solve (talus_solve_continue) or no progress is left. */
    TalusStatus (*solve)(TalusSolve *solve);
    const void *variant; /* data that differs between solvers with the same `solve`; NULL: none */
    /* Replaces `solve` in a solver whose parts do all the work. Writes the stages and returns their number. Stages
     * depend only on problem and options. */
    int (*plan)(TalusProblem *problem, const TalusSolveOptions *options,
                TalusStage stage[TALUS_MAX_STAGES]);
    /* Releases what the workspace holds except TalusVectors; NULL: nothing. */
    void (*clear)(void *work);
    /* True if the solver, with these parameters, works on a rank's part of a problem (problem/part.h) as it does on the
     * whole, though not through products alone; NULL: it does not. */
    bool (*on_parts)(const void *params);
    /* Name of the solver's feature that needs arrays in host memory, for messages; NULL: no feature does. */
    const char *on_host;
    /* True if the feature `on_host` is used with these parameters; NULL: it is always used. */
    bool (*is_on_host)(const void *params);
    /* Returns a text that says what this build lacks for the solver and how to get it, or NULL if the solver can
     * run. A NULL pointer in place of the function: the solver can always run. */
    const char *(*missing)(void);
    /* Loads external libraries, with the clock of the solve stopped; NULL: nothing to load. */
    TalusStatus (*load)(void);
} TalusSolverType;

/* Rows of a parameter table (base/param.h): the key of a parameter is the name of its field in Struct. */
#define TALUS_ROW(Struct, field, kind, ...)                                                       \
    {                                                                                             \
        .key = #field, .type = TALUS_PARAM_##kind, .offset = offsetof(Struct, field), __VA_ARGS__ \
    }
#define TALUS_REAL(Struct, field, value, low, high, text) \
    TALUS_ROW(Struct, field, REAL, .preset = value, .min = low, .max = high, .help = text)
#define TALUS_INT(Struct, field, value, low, high, text) \
    TALUS_ROW(Struct, field, INT, .preset = value, .min = low, .max = high, .help = text)
#define TALUS_CHOICE(Struct, field, value, names, text) \
    TALUS_ROW(Struct, field, CHOICE, .preset = value, .choices = names, .help = text)
#define TALUS_FLAG(Struct, field, value, text) \
    TALUS_ROW(Struct, field, FLAG, .preset = value, .max = 1, .help = text)

/* Fields of a TalusSolverType that describe its parameters: the table and the size of their struct. */
#define TALUS_PARAMS(table, Struct) \
    .params = table, .param_count = sizeof table / sizeof *table, .param_size = sizeof(Struct)

/* How an algorithm is extended to laws beyond ccp (outer.h). */
typedef struct TalusOuterPlan {
    /* Some block is under `fixed` or `coulomb`: the residual is measured under these laws. */
    bool beyond;
    bool exact;  /* the algorithm itself solves blocks under Coulomb's law */
    bool bounds; /* some block is under `fixed`: its bounds may need a presolve */
    /* Outer loop for Coulomb blocks: De Saxce's shifts of cones, or Tresca's prisms. Both false: no outer loop. */
    bool shift, tresca;
} TalusOuterPlan;

/* A solve session: one problem with its counts, clock and observers, through all stages (driver.c). An algorithm
 * improves gamma in place and calls talus_solve_continue, mostly through talus_solve_report or talus_solve_next, after
 * each iteration whose residual it knows. */
struct TalusSolve {
    TalusProblem *problem;
    const TalusBackend *backend;
    /* The caller's options with the limits of the stage and a tolerance in m/s; inside an outer loop, with limits and
     * tolerance of the inner solve. */
    const TalusSolveOptions *options;
    TalusSolveInfo *info; /* counts and outcome, which the caller of the solve gets */

    /* current stage */
    const TalusOperator *op;      /* operator; like gamma in the backend's memory */
    double *gamma;                /* impulses: start, then result; eliminated joints come last */
    struct TalusReduced *reduced; /* owner of op if joints are eliminated; else NULL */
    TalusSolver *solver;          /* current solver */
    const TalusSolverType *type;
    const void *params;
    void *state, *work;
    TalusOuterPlan plan;
    double tolerance_factor; /* on the tolerance; lowered if an estimated residual was too small */
    bool resumed; /* called again since the estimated residual was too small; the setup is valid */
    /* The algorithm has been called before in this stage, resumed or by an outer loop, for the same problem except for
     * offsets and bounds. */
    bool called;
    /* Set by an exact algorithm without progress: the loop of shifts is tried next, unless until_stuck. */
    bool stuck;
    bool until_stuck; /* copy of TalusStage.until_stuck: the stage ends once `stuck` is set */
    /* Residual and rounding that run_without_loop (outer.c) measured of the present gamma, so that the driver need not
     * measure again; has_measured is false if gamma or the problem changed since. */
    TalusResidual measured, measured_rounding;
    bool has_measured;

    /* managed by the driver */
    const TalusSolveOptions *wanted; /* options of the caller */
    TalusSolveOptions limited;       /* memory of `options` outside outer loops */
    double began, paused;            /* clock: start, and total time stopped; s */
    bool started;                    /* a first residual is known */
    bool stopped;                    /* a monitor or an observer ended the solve */
    bool start_observed;             /* the observer has seen the start of the solve */
    struct TalusInfeasibility *infeasibility;
    struct TalusObserved *observed;
};

/* Counts one iteration with `products` products. */
void talus_solve_count(TalusSolve *solve, int products);

/* Stores rms as info->start_residual, the residual at the start of the solve, unless an earlier call has stored one. */
void talus_solve_note_start(TalusSolve *solve, double rms);

/* Returns true if the algorithm should go on; else sets info->outcome. rms and max are estimates of the residual; in
 * norm max, rms replaces a max that is NaN (unknown). Stores the first rms of the solve as its starting residual; calls
 * the monitor unless the solve converged or rms is not finite. */
bool talus_solve_continue(TalusSolve *solve, double rms, double max);

/* True if iterations and time allow another iteration; else sets info->outcome to budget. For iterations whose residual
 * is unknown; talus_solve_continue calls it too. */
bool talus_solve_within_budget(TalusSolve *solve);

/* True if the solver may iterate in single precision while that suffices: in steps of worlds, whose reference speed says
 * how many digits the tolerance needs, and which may have a budget of a few iterations in place of a tolerance. Other problems are solved in double precision throughout. */
bool talus_solve_takes_single(const TalusSolve *solve);

/* True if talus_solve_observe needs the iterate now; at other times the iterate need not be formed. */
bool talus_solve_wants_iterate(const TalusSolve *solve);

/* Reports the current iterate, gamma = s x (metric NULL: x is gamma), to the observer and to the infeasibility monitor,
 * each where it is due. Returns false, with info->outcome set, if the solve must end: the observer asked for it, or the
 * problem is infeasible. Uses op's scratch. */
bool talus_solve_observe(TalusSolve *solve, const double *x, const TalusMetricBlock *metric,
                         double rms);

/* Makes the infeasibility monitor check the next reported iterate instead of waiting for its next scheduled iteration:
 * for methods whose iterates grow quickly within few iterations. */
void talus_solve_request_infeasibility_check(TalusSolve *solve);

/* Searches near `direction`, impulses that can grow without bound as far as the method knows, for a proof that the
 * problem has no solution: for methods that find such directions themselves. Returns true, with info->outcome set, if
 * there is a proof, which is stored with the problem. Uses op's scratch. */
bool talus_solve_prove_infeasible(TalusSolve *solve, const double *direction);

/* Runs a part of the current solver to its end, on the same problem, from gamma and within the same limits. `resumed`:
 * the part reuses the setup of its last call in this stage; false: its state is zeroed first, unless it keeps_state. */
TalusStatus talus_solve_hand_over(TalusSolve *solve, int part, bool resumed);

/* Calls talus_solve_observe and, unless that ends the solve, talus_solve_continue for an iterate whose iteration is
 * already counted; residual2 and residual_max: sum of squares and maximum of its residual over blocks. Returns true to
 * go on. */
bool talus_solve_report(TalusSolve *solve, const double *x, const TalusMetricBlock *metric,
                        double residual2, double residual_max);
/* Ends an iteration: counts it with its products and reports its iterate. Returns true to go on. */
bool talus_solve_next(TalusSolve *solve, int products, const double *x,
                      const TalusMetricBlock *metric, double residual2, double residual_max);

/* Vectors of a workspace: one block of the backend's memory, divided into vectors. The struct starts as zeros. The
 * solver object has a list of these structs and releases their blocks. */
typedef struct TalusVectors {
    double *block;             /* NULL: nothing reserved */
    size_t capacity;           /* number of entries that `block` has space for */
    bool is_listed;            /* in the list of the solver object */
    struct TalusVectors *next; /* in the list of the solver object */
} TalusVectors;

/* Reserves `count` vectors of the problem's size (eliminated joints included), contents undefined, and writes their
 * addresses to `vector`. `what` names them in the message of a failure. */
TalusStatus talus_vectors_reserve(TalusSolve *solve, TalusVectors *vectors, int count,
                                  double **vector, const char *what);
/* The same for pointers that are not in one array: TALUS_RESERVE_VECTORS(solve, vectors, "what", &a, &b). */
TalusStatus talus_vectors_reserve_each(TalusSolve *solve, TalusVectors *vectors, const char *what,
                                       int count, double **const *pointer);
#define TALUS_RESERVE_VECTORS(solve, vectors, what, ...)                                    \
    talus_vectors_reserve_each(solve, vectors, what,                                        \
                               sizeof((double **const[]){__VA_ARGS__}) / sizeof(double **), \
                               (double **const[]){__VA_ARGS__})
/* Releases the block. `vectors` stays in the list of the solver object and can be reserved again. */
void talus_vectors_release(const TalusBackend *backend, TalusVectors *vectors);

/* Exchanges two pointers to vectors; no entry is copied. */
static inline void talus_vector_swap(double **a, double **b)
{
    double *old = *a;
    *a = *b;
    *b = old;
}

/* to = from */
void talus_vector_copy(TalusSolve *solve, const double *from, double *to);

/* Names of TalusMetric, for parameters. */
extern const char *const talus_metric_names[];
/* Reserves a solver's metric s (backend.h) of the given kind in the backend's memory, fills it from the operator's
 * diagonal and writes its address to *out. */
TalusStatus talus_solver_make_metric(TalusSolve *solve, TalusMetric kind, TalusVectors *vectors,
                                     const TalusMetricBlock **out);

/* Usual number of power iterations. */
enum { TALUS_POWER_ITERATIONS = 12 };

/* Estimates the largest eigenvalue of S (N + E) S (metric NULL: of N + E) by power iteration. The estimate is from
 * below, except that in a metric 0.1 is the least value returned (norm.c): multiply it by a margin, and raise it where
 * gradients show more curvature. `x` and `y` are work vectors. Counts its products. */
double talus_operator_norm(TalusSolve *solve, const TalusMetricBlock *metric, int iterations,
                           double *x, double *y);

/* State of a solver that keeps the estimate of talus_operator_norm from solve to solve. */
typedef struct TalusNormState {
    double norm; /* of the last solve; 0 before the first */
} TalusNormState;

/* Sets state->norm for the solve that begins: `forget` times that of the last solve, which may be too large for this
 * one; in the first solve `margin` times a new estimate, for which x and y are work vectors. */
void talus_norm_renew(TalusSolve *solve, TalusNormState *state, const TalusMetricBlock *metric,
                      double forget, double margin, double *x, double *y);

/* Returns a lower bound of the largest eigenvalue of S (N + E) S, without a product: the largest mean of diagonal
 * entries over one block, since no diagonal entry exceeds that eigenvalue. In a metric this is 1, else the largest
 * block scale (talus_block_scale). */
double talus_norm_lower_bound(const TalusSolve *solve, const TalusMetricBlock *metric);

/* Creates a solver of a type that need not be in the table. params: "key=value,key=value" or "". */
TalusStatus talus_solver_create_type(const TalusSolverType *type, const char *params,
                                     TalusSolver **out);

/* Every row of solvers/driver/table.h is defined in a file of its own. */
#define TALUS_SOLVER(name) extern const TalusSolverType talus_solver_##name;
#include "solvers/driver/table.h"
#undef TALUS_SOLVER

#endif

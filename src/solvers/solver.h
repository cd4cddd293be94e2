/* solvers/solver.h - what one algorithm provides, and what the driver provides to it. */
#ifndef TALUS_SOLVERS_SOLVER_H
#define TALUS_SOLVERS_SOLVER_H

#include "backend/backend.h"
#include "base/param.h"
#include "problem/problem.h"

#include <talus/solver.h>

typedef struct TalusSolve TalusSolve;

typedef struct TalusSolverType {
    const char *name, *summary, *reference, *accepts;
    const TalusParam *params;
    int param_count;
    size_t param_size; /* of the parameter struct */
    size_t state_size; /* of what is carried from solve to solve and saved; starts as zeros */
    size_t work_size;  /* of the workspace struct; starts as zeros, keeps its vectors */
    TalusStatus (*solve)(TalusSolve *solve);
    void (*clear)(void *work);
} TalusSolverType;

/* One solve under way. An algorithm improves gamma in place and asks talus_solve_continue after each
 * iteration whose residual it knows. */
struct TalusSolve {
    TalusProblem *problem;
    const TalusOperator *op;
    const TalusBackend *backend;
    const TalusSolveOptions *options;
    const void *params;
    void *state, *work;
    double *gamma;

    /* kept by the driver */
    TalusSolveInfo *info;
    double strictness; /* estimates must beat tolerance times this; lowered when one was too rosy */
    double deadline;
    bool started; /* a first residual has been seen */
    struct TalusWatch *watch;
};

/* Counts one iteration with `products` products. */
void talus_solve_count(TalusSolve *solve, int products);

/* True while the iteration should go on. rms and max are estimates of the residual (max may be
 * NaN where unknown: then rms stands for it). Sets info->outcome when it ends. */
bool talus_solve_continue(TalusSolve *solve, double rms, double max);

/* True if the budget allows another iteration; for iterations whose residual is not known. */
bool talus_solve_within_budget(TalusSolve *solve);

/* True at the iterations at which talus_solve_infeasible would look: gamma need not be at hand at
 * the others. */
bool talus_solve_watching(const TalusSolve *solve);

/* To be called now and then with the current iterate, gamma = s x (metric NULL: x is gamma):
 * true when the problem proves infeasible. */
bool talus_solve_infeasible(TalusSolve *solve, const double *x, const TalusMetricBlock *metric,
                            double rms);

/* The largest eigenvalue of S (N + E) S by power iteration: an estimate from below. `x` and `y` are
 * work vectors. Counts its products. */
double talus_operator_norm(TalusSolve *solve, const TalusMetricBlock *metric, int iterations,
                           double *x, double *y);

extern const TalusSolverType talus_solver_jacobi, talus_solver_gs, talus_solver_apgd;

#endif

/* talus/solver.h - solvers of contact problems, chosen by name, judged by one residual. */
#ifndef TALUS_SOLVER_H
#define TALUS_SOLVER_H

#include <talus/base.h>
#include <talus/problem.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TalusSolver TalusSolver;

typedef enum TalusOutcome {
    /* the recomputed residual plus its estimated rounding error is within the tolerance */
    TALUS_OUTCOME_CONVERGED,
    TALUS_OUTCOME_BUDGET, /* iterations or time used up; see the residual */
    /* the constraints contradict each other (a wedged body); see talus_problem_certificate */
    TALUS_OUTCOME_INFEASIBLE,
    /* a NaN, an infinity, or a residual above 1,000 times those of the start and of zero impulses; gamma is set to
     * zero */
    TALUS_OUTCOME_DIVERGED
} TalusOutcome;

typedef enum TalusNorm {
    TALUS_NORM_RMS,
    TALUS_NORM_MAX,
    TALUS_NORM_SICONOS /* TalusMetrics.siconos, dimensionless; coulomb x disc only */
} TalusNorm;

typedef struct TalusSolveInfo {
    TalusOutcome outcome;
    const char *solver; /* the algorithm that ran last; differs from the request only for "auto" */
    int iterations;
    int products;           /* operator products or sweeps */
    int updates;            /* updates of shifts or bounds; 0 if the law needs none */
    int factorisations;     /* factorisations of matrices of the problem's size */
    TalusResidual residual; /* recomputed from gamma, in double precision */
    double rounding; /* estimated rounding error of the residual, in the norm of the tolerance */
    /* Under Coulomb's law: true if the relaxation was found to have no solution, as friction clamps bodies between
     * others. The law itself may have a solution, in which they slide. */
    bool jammed;
    double start_residual; /* rms of the first estimate: at the start; gs: in the first sweep */
    /* Outcome diverged: rms residual of the impulses that zero impulses replaced, which may be NaN; else 0. */
    double rejected_residual;
    double seconds; /* without the time of observers */
    /* Peak memory of the solve beside the problem: vectors, plans, factors; what other threads allocate meanwhile
     * counts too, device memory in steps of a world does not. */
    size_t memory_bytes;
} TalusSolveInfo;

/* Called after each iteration whose residual is known; in an outer loop the residual is that of the current convex
 * problem. Returning false stops the solve (outcome budget). The monitor must not call functions of the problem, whose
 * work space is in use. */
typedef bool TalusMonitor(void *user, int iteration, int products, double residual);

/* An iterate of a running solve, for an observer. The observer is called at the start, after every iteration at first,
 * later each time the number of iterations has grown by 2 %, and at the end; methods that measure their residual less
 * often report at those iterations. The clock is stopped during the call. The observer may query the problem
 * (talus_problem_measure) but not change gamma. If it returns false, the solve stops. */
typedef struct TalusObservation {
    int iteration, products;
    double seconds;
    const double *gamma;
} TalusObservation;

typedef bool TalusObserver(void *user, const TalusObservation *observation);

/* How a solver of convex problems treats the laws beyond ccp. */
typedef enum TalusOuterKind {
    /* none if the solver takes Coulomb's law itself; else shift, or Tresca if it takes only prisms */
    TALUS_OUTER_AUTO,
    /* De Saxce's shift in the offsets of Coulomb blocks, updated while the solver runs */
    TALUS_OUTER_SHIFT,
    TALUS_OUTER_TRESCA /* Coulomb blocks as prisms with bounds updated after each inner solve */
} TalusOuterKind;

typedef struct TalusOuter {
    TalusOuterKind kind;
    int every; /* inner iterations between two updates; 0: chosen by the solver */
    /* Fraction (0, 1] of the change of shifts or bounds that an update applies; 0: all of it. */
    double share;
    /* Blocks under TALUS_LAW_FIXED: number of new estimates of the bounds after the presolve; -1: no presolve, bounds
     * from talus_problem_estimate. */
    int refresh;
} TalusOuter;

typedef struct TalusSolveOptions {
    double tolerance;       /* m/s (SICONOS: no unit), in `norm`; 0 runs the whole budget */
    double reference_speed; /* m/s, to which "auto" compares the tolerance; 0: unknown */
    TalusNorm norm;
    int max_iterations; /* > 0 */
    double max_seconds; /* 0: no limit (a limit makes results depend on the machine) */
    TalusMonitor *monitor;
    void *monitor_user;
    TalusObserver *observer;
    void *observer_user;
    TalusOuter outer;
    bool keep_joints; /* true: free joints are not eliminated, for comparison */
} TalusSolveOptions;

TALUS_API TalusSolveOptions talus_solve_options_default(void);
TALUS_API const char *talus_outcome_name(TalusOutcome outcome);

/* Creates a solver from `spec`, NAME or NAME:key=value,key=value. The error of a wrong name or key has the nearest
 * valid one; that of a solver missing in this build (TALUS_ERR_UNSUPPORTED) says how to get it.
 *
 * "auto" under Coulomb's law, the default of worlds, begins with apgd or, if contacts are compliant, mostly of spheres,
 * and the tolerance is at least 0.5 % of the reference speed (10 % on a device), with gs-coulomb (omega 1.5) and then
 * apgd. Under other laws it begins with gs (omega 1.5) if the tolerance is at least 10 % of the speed, with apgd if it
 * is at least 1e-4 of it, else, or if the speed is unknown, with lbfgs-fb. With free joints it never begins with
 * sweeps, which do not have them eliminated. On the host, for a tolerance above 0, a direct method takes over within
 * the same budget after as many iterations as it is worth: ipm-soc (no friction, ccp on the disc), ipm-chol (ccp on
 * squares and polygons) or prox (coulomb on the disc; in small steps after half of the budget at the latest); fixed
 * bounds go to lbfgs-fb in the same way. The direct method comes first if the speed is unknown, there are at most 300
 * blocks and the tolerance is below 1e-7 of the residual at the start; under Coulomb's law, for matrices of at most
 * 1,000 blocks. If it fails, the first method continues; under Coulomb's law without a reference speed, continuation
 * comes before that. Small steps with very different masses have other rules (docs/reference/solvers.md). */
TALUS_API TalusStatus talus_solver_create(const char *spec, TalusSolver **out);
TALUS_API void talus_solver_destroy(TalusSolver *solver);

/* Returns TALUS_OK if the solver takes this problem; else talus_error() has the reason. */
TALUS_API TalusStatus talus_solver_supports(const TalusSolver *solver, const TalusProblem *problem);

/* Solves from the problem's gamma and leaves the result there. TALUS_OK for every outcome, which *info reports. */
TALUS_API TalusStatus talus_solver_solve(TalusSolver *solver, TalusProblem *problem,
                                         const TalusSolveOptions *options, TalusSolveInfo *info);

/* State of a solver that persists from step to step (norm estimates, random state), for exact restart: its size in
 * bytes, 0 if the solver has none; copied to bytes[size]; loaded again by a solver of the same spec. */
TALUS_API size_t talus_solver_state_size(const TalusSolver *solver);
TALUS_API void talus_solver_state_save(const TalusSolver *solver, void *bytes);
TALUS_API TalusStatus talus_solver_state_load(TalusSolver *solver, const void *bytes, size_t size);

/* Problems that a solver takes, as bits: without friction, with moments against spinning and rolling, with friction by
 * law and section; fixed means prisms with given bounds. For a solver without `coulomb`, outer loops replace it by
 * cones under ccp with shifts, or by prisms. */
#define TALUS_TAKES_NONNEG (1u << 16)
#define TALUS_TAKES_MOMENTS (1u << 17)
#define TALUS_TAKES(law, section) TALUS_KIND(TALUS_LAW_##law, TALUS_SECTION_##section)
#define TALUS_TAKES_SECTIONS(law) \
    (TALUS_TAKES(law, DISC) | TALUS_TAKES(law, SQUARE) | TALUS_TAKES(law, POLYGON))
#define TALUS_TAKES_CONE TALUS_TAKES(CCP, DISC)    /* circular cones */
#define TALUS_TAKES_BOX TALUS_TAKES(FIXED, SQUARE) /* boxes */
#define TALUS_TAKES_JOINT TALUS_TAKES(CCP, JOINT)  /* joints, free and with bounds */
/* Every problem, as outer loops reduce `coulomb` to these. */
#define TALUS_TAKES_CONVEX                                                  \
    (TALUS_TAKES_NONNEG | TALUS_TAKES_MOMENTS | TALUS_TAKES_SECTIONS(CCP) | \
     TALUS_TAKES_SECTIONS(FIXED) | TALUS_TAKES_JOINT)
#define TALUS_TAKES_ALL (TALUS_TAKES_CONVEX | TALUS_TAKES_SECTIONS(COULOMB))

/* The table of solvers, for listings and documentation. */
typedef struct TalusSolverRow {
    const char *name, *summary, *reference;
    uint32_t takes;      /* bits TALUS_TAKES_... */
    char accepts[96];    /* `takes` in words */
    const char *missing; /* what this build lacks and how to get it; NULL: available */
} TalusSolverRow;

TALUS_API int talus_solver_count(void);
TALUS_API TalusSolverRow talus_solver_row(int index);
/* Returns the index of the solver that a spec, NAME or NAME:key=value, names; -1: none. */
TALUS_API int talus_solver_find(const char *spec);
/* Calls `line` once per parameter of solver `index`. */
TALUS_API void talus_solver_describe(int index, void (*line)(void *user, const char *text),
                                     void *user);

#ifdef __cplusplus
}
#endif

#endif

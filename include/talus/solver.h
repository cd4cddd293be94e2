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
    TALUS_OUTCOME_CONVERGED, /* the recomputed residual and what rounding may hide of it are, added,
                                within the tolerance */
    TALUS_OUTCOME_BUDGET,    /* iterations or time used up; the residual says what was reached */
    TALUS_OUTCOME_INFEASIBLE, /* the constraints contradict each other (a wedged body); the proof is in
                                 talus_problem_certificate */
    TALUS_OUTCOME_DIVERGED    /* a NaN, an infinity or a residual a thousand times that of zero
                                 impulses; gamma is set to zero */
} TalusOutcome;

typedef enum TalusNorm {
    TALUS_NORM_RMS,
    TALUS_NORM_MAX,
    TALUS_NORM_SICONOS /* TalusMetrics.siconos, which has no unit; coulomb x disc alone */
} TalusNorm;

typedef struct TalusSolveInfo {
    TalusOutcome outcome;
    const char *solver; /* the algorithm that ran, last; differs from the request only for "auto" */
    int iterations;
    int products;           /* operator products or sweeps */
    int updates;            /* of shifts or bounds; 0 where the law needs none */
    int factorisations;     /* of matrices of the problem's size; 0 in methods without */
    TalusResidual residual; /* recomputed from gamma, in double precision */
    double rounding;        /* what rounding may hide of it, in the norm of the tolerance */
    /* Under Coulomb's law: the relaxation has no solution, bodies being held between others by friction. The law may
     * have one, in which they slide. */
    bool jammed;
    double start_residual; /* the first estimate: rms at the start; for gs, of the first sweep */
    double seconds;        /* without what an observer took */
    size_t memory_bytes; /* most the solve held beside the problem: vectors, plans, factors; counts
                               what other threads allocate meanwhile */
} TalusSolveInfo;

/* Called after each iteration whose residual is known, within an outer loop that of its present convex
 * problem; returning false stops the solve (budget). It
 * must not call the problem: the solve is using its work space. */
typedef bool TalusMonitor(void *user, int iteration, int products, double residual);

/* An iterate on its way, shown at the start, then at every iteration at first and later at every
 * 2 % more of them, and at the end. Meanwhile the clock stands still, and the observer may ask the
 * problem anything (talus_problem_measure); gamma must stay as it is. Methods that measure
 * themselves only now and then are shown at those iterations. Returning false stops the solve. */
typedef struct TalusObservation {
    int iteration, products;
    double seconds;
    const double *gamma;
} TalusObservation;

typedef bool TalusObserver(void *user, const TalusObservation *observation);

/* How a solver of convex problems is brought to the laws beyond ccp. */
typedef enum TalusOuterKind {
    TALUS_OUTER_AUTO, /* none where the solver takes Coulomb's law itself; else shift or, where it takes
                         prisms alone, Tresca */
    TALUS_OUTER_SHIFT, /* De Saxce's shift in the offsets of Coulomb blocks, moved while the solver runs */
    TALUS_OUTER_TRESCA /* Coulomb blocks as prisms whose bounds are refreshed after each inner solve */
} TalusOuterKind;

typedef struct TalusOuter {
    TalusOuterKind kind;
    int every;    /* inner iterations between two updates; 0: the solver's own choice */
    double share; /* of the way that an update moves shifts or bounds, (0, 1]; 0: all of it */
    int refresh; /* blocks under TALUS_LAW_FIXED: how often their bounds are estimated anew after the
                    presolve; -1: no presolve, bounds as they are in talus_problem_estimate */
} TalusOuter;

typedef struct TalusSolveOptions {
    double tolerance; /* m/s (Siconos's measure: no unit), in `norm`; 0 runs the whole budget */
    double
        reference_speed; /* what the tolerance is small against, m/s; 0: unknown. Only "auto" asks */
    TalusNorm norm;
    int max_iterations; /* > 0 */
    double max_seconds; /* 0: no limit (a limit makes results depend on the machine) */
    TalusMonitor *monitor;
    void *monitor_user;
    TalusObserver *observer;
    void *observer_user;
    TalusOuter outer;
    bool keep_joints; /* free joints stay among the unknowns of every solver: for comparison */
} TalusSolveOptions;

TalusSolveOptions talus_solve_options_default(void);
const char *talus_outcome_name(TalusOutcome outcome);

/* `spec` is NAME or NAME:key=value,key=value. A wrong name or key fails with the nearest valid one in
 * the message, a solver that this build lacks with how to get it (TALUS_ERR_UNSUPPORTED).
 * "auto" is gs with omega 1.5 where the tolerance is at least 10 % of the reference speed and apgd where it is
 * at least 0.01 %. Below, or where that speed is not known, it is lbfgs-fb, under Coulomb's law apgd, and
 * on the host, once that has taken as many iterations as a direct method is worth, ipm-soc (no friction, ccp on
 * the disc), ipm-chol (ccp on squares and polygons) or prox (coulomb on the disc), within the same budget; fixed
 * bounds go to lbfgs-fb in the same way. The direct method begins where the speed is not known, there are at most
 * 300 blocks, and the tolerance is below 1e-7 of the residual at the start; and under Coulomb's law for matrices of
 * at most 1,000 blocks. One that fails hands back. With tolerance 0 none is tried. Problems with free joints
 * begin with apgd or lbfgs-fb on the host whatever the tolerance: these have joints eliminated. */
TalusStatus talus_solver_create(const char *spec, TalusSolver **out);
void talus_solver_destroy(TalusSolver *solver);

/* Whether the solver takes this problem; if not, talus_error() has the reason. */
TalusStatus talus_solver_supports(const TalusSolver *solver, const TalusProblem *problem);

TalusStatus talus_solver_solve(TalusSolver *solver, TalusProblem *problem,
                               const TalusSolveOptions *options, TalusSolveInfo *info);

/* What a solver carries from step to step (norm estimates, random state), for exact restart. */
size_t talus_solver_state_size(const TalusSolver *solver);
void talus_solver_state_save(const TalusSolver *solver, void *bytes);
TalusStatus talus_solver_state_load(TalusSolver *solver, const void *bytes, size_t size);

/* What a solver takes, as bits: problems without friction, moments against spinning and rolling, and friction by
 * law and section, where fixed stands for prisms with given bounds. What a solver lacks under `coulomb` outer loops
 * make of cones under ccp, by shifts, or of prisms. */
#define TALUS_TAKES_NONNEG (1u << 16)
#define TALUS_TAKES_TURNING (1u << 17)
#define TALUS_TAKES(law, section) TALUS_KIND(TALUS_LAW_##law, TALUS_SECTION_##section)
#define TALUS_TAKES_SECTIONS(law) \
    (TALUS_TAKES(law, DISC) | TALUS_TAKES(law, SQUARE) | TALUS_TAKES(law, POLYGON))
#define TALUS_TAKES_CONE TALUS_TAKES(CCP, DISC)    /* circular cones */
#define TALUS_TAKES_BOX TALUS_TAKES(FIXED, SQUARE) /* boxes */
#define TALUS_TAKES_JOINT TALUS_TAKES(CCP, JOINT)  /* joints, free and with bounds */
/* Every problem, for those under coulomb are brought to these. */
#define TALUS_TAKES_CONVEX                                                  \
    (TALUS_TAKES_NONNEG | TALUS_TAKES_TURNING | TALUS_TAKES_SECTIONS(CCP) | \
     TALUS_TAKES_SECTIONS(FIXED) | TALUS_TAKES_JOINT)
#define TALUS_TAKES_ALL (TALUS_TAKES_CONVEX | TALUS_TAKES_SECTIONS(COULOMB))

/* The table of solvers, for listings and documentation. */
typedef struct TalusSolverRow {
    const char *name, *summary, *reference;
    uint32_t takes;      /* bits TALUS_TAKES_... */
    char accepts[96];    /* these in words */
    const char *missing; /* what this build lacks for it and how to get it; NULL: it can run */
} TalusSolverRow;

int talus_solver_count(void);
TalusSolverRow talus_solver_row(int index);
/* The index of the solver that a spec, NAME or NAME:key=value, names; -1: there is none. */
int talus_solver_find(const char *spec);
/* Writes one line per parameter of solver `index` into the callback. */
void talus_solver_describe(int index, void (*line)(void *user, const char *text), void *user);

#ifdef __cplusplus
}
#endif

#endif

/* lab/experiments/petra.h - shared by the experiments of petra-2009. worlds_petra.c runs worlds and solves single steps,
 * petra_runs.c evaluates the runs, petra_tables.c shows them, and petra_claims.c judges the paper's statements; petra.c
 * is the experiment on one problem. */
#ifndef TALUS_LAB_EXPERIMENTS_PETRA_H
#define TALUS_LAB_EXPERIMENTS_PETRA_H

#include "worlds.h"

/* Number of sizes (numbers of pebbles) in the paper; maximum number of runs. */
enum { PETRA_SIZES = 3, PETRA_RUNS = 48 };

/* Contacts per pebble in the larger of the paper's two problems: 20,942 contacts among 1,000 pebbles. */
#define PETRA_DENSITY 20.942

/* Labels of the methods that stand for the paper's. */
#define PETRA_CHOL "ipm-chol"
#define PETRA_MA27 "ipm-aug"
#define PETRA_BLMVM "tao-blmvm, paper's rule"
#define PETRA_TRON "tao-tron, paper's rule"
#define PETRA_MOSEK "ipm-hsd, MOSEK's rule"

typedef struct PetraMethod {
    const char *label, *spec; /* name in tables; solver as NAME[:key=value,...] */
    const char *form; /* what it solves: "dual", or "both" for the primal and the dual together */
    double tolerance; /* of the residual, relative to g h; 0: the solver's own stopping rule */
    double seconds[PETRA_SIZES]; /* limit of processor time of a run with each size; 0: no run */
} PetraMethod;

typedef struct PetraStep {
    double time, kinetic; /* simulated time, s; kinetic energy, J */
    double seconds;       /* processor time of the whole step */
    double memory;        /* peak memory of world and solver, bytes */
    double residual;      /* rms, m/s */
    int64_t contacts;
    int iterations;
} PetraStep;

/* Simulation of a vessel until the pebbles rest or a limit is reached. */
typedef struct PetraRun {
    const PetraMethod *method;
    bool nudged; /* the start is perturbed: the pebbles, of radius 1, start 1e-9 higher */
    int pebbles;
    double limit;         /* of processor time, s */
    double threshold;     /* kinetic energy below which the run is at rest, J */
    PetraStep *step;      /* [count] */
    int count, missed;    /* steps; steps that missed their tolerance */
    bool rested;          /* false: ended by the limit of steps or processor time, or failed */
    bool failed;          /* a step ended with an error */
    double infeasibility; /* metric primal_infeasibility of the step after the last, m/s */
} PetraRun;

/* Solution of the problem of one step, by solve_next of worlds_petra.c. */
typedef struct PetraSolve {
    const PetraMethod *method;
    TalusOutcome outcome;
    int iterations;
    double seconds;       /* processor time */
    double memory;        /* peak memory of the solver alone, bytes */
    double infeasibility; /* metric primal_infeasibility, m/s */
    double residual;      /* rms, m/s */
    bool cut_off;         /* a limit of iterations or seconds ended the solve */
    bool failed;          /* the solve ended with the error `why`; the figures above are 0 */
    char why[LAB_TEXT];
} PetraSolve;

typedef struct Petra {
    Worlds *w;
    PetraRun run[PETRA_RUNS];
    int runs;
    /* The wide step: one step with the paper's number of contacts per pebble, solved by every method. */
    PetraSolve wide[PETRA_RUNS];
    int wide_count;   /* number of solutions */
    int wide_pebbles; /* the most that the paper has */
    int wide_contacts;
    double wide_envelope; /* TalusWorldDef.envelope that gives these contacts */
    double wide_time;     /* simulated time of the step, s */
} Petra;

/* ---- evaluation (petra_runs.c) ---- */

/* Returns the run of the method `label` with this number of pebbles that is not nudged; NULL: none. */
const PetraRun *petra_find_run(const Petra *p, const char *label, int pebbles);
/* Returns the solution of the wide step by the method `label`; NULL: none. */
const PetraSolve *petra_find_wide(const Petra *p, const char *label);
/* Returns the processor time of all steps, s. */
double petra_total_seconds(const PetraRun *run);
/* Returns the mean processor time of a step, s; NAN without steps. */
double petra_mean_seconds(const PetraRun *run);
/* Returns the processor time of the longest step, s. */
double petra_longest_step(const PetraRun *run);
/* Returns the run of lowest cost among those of this size that reached rest and are not nudged; NULL: none. */
const PetraRun *petra_find_quickest(const Petra *p, int pebbles,
                                    double (*cost)(const PetraRun *run));

/* Figures of a step: simulated time, s; kinetic energy, J; dual unknowns, three per contact; processor time, s; memory,
 * 2^20 bytes. */
typedef enum PetraFigure {
    PETRA_TIME,
    PETRA_ENERGY,
    PETRA_UNKNOWNS,
    PETRA_SECONDS,
    PETRA_MEGABYTES
} PetraFigure;

/* Returns a figure of step k. */
double petra_get_figure(const PetraRun *run, PetraFigure figure, int k);
/* Returns the maximum of a figure over the run's steps. */
double petra_get_max(const PetraRun *run, PetraFigure figure);

/* Returns the run with which `run` is compared; NULL: none. For a nudged run: the run of the same method that is not
 * nudged. Otherwise: the first run with the same number of pebbles, which may be `run` itself. With the paper's sizes
 * that is the run by ipm-chol, the most accurate method, if the build has it. */
const PetraRun *petra_find_reference(const Petra *p, const PetraRun *run);
/* Returns |E_a - E_b| / E_b, with E the kinetic energy after step k. */
double petra_energy_difference(const PetraRun *a, const PetraRun *b, int k);

/* Largest relative difference of kinetic energies that the paper finds. */
#define PETRA_MAX_DIFFERENCE 0.015

/* How far the kinetic energies of run a and its reference b differ, relative to b's, over the steps that both have. */
typedef struct PetraDivergence {
    /* Maximum until b's energy, after its peak, falls below 10 %, 1 % and 0.1 % of the peak. */
    double largest[3];
    bool below[3];  /* b's energy fell below that share of its peak */
    double to_rest; /* maximum over all steps that both have */
    /* Maximum of |E_a - E_b| over b's peak energy, not over b's energy at that step. */
    double of_peak;
    double
        time; /* time at which the difference first exceeds PETRA_MAX_DIFFERENCE, s; NAN: never */
    double share; /* b's energy at that time over its peak */
} PetraDivergence;

PetraDivergence petra_compare_energies(const PetraRun *a, const PetraRun *b);

/* Growth of the cost of a method's steps with its sizes, by least squares of logarithms. */
typedef struct PetraGrowth {
    int sizes; /* number of them; for fewer than two the exponents are NAN */
    /* Exponents of the number of pebbles: of the most unknowns, the mean time, the longest step, the most memory. */
    double unknowns, mean, longest, memory;
    double mean_of_unknowns; /* exponent of the most unknowns: of the mean time */
} PetraGrowth;

/* Fits the runs of the method `label` that are not nudged, over the steps that all of these have. Left out are runs that
 * failed or have fewer than half of the steps of Cholesky's run with as many pebbles: their steps are not alike. */
PetraGrowth petra_fit_growth(const Petra *p, const char *label);

/* ---- the paper's results ---- */

/* A row of the paper's Tables 1 to 3. */
typedef struct PetraPaperRow {
    int pebbles;
    const char *label;
    const char *name;     /* in the paper */
    const char *end;      /* "crash" or "stopped" in place of the figures; NULL: none of these */
    double infeasibility; /* as the paper gives it; 0 for interior point methods */
    int steps;            /* until rest */
    double total;         /* seconds */
    double average;       /* seconds per step */
    double kinetic;       /* kinetic energy at the end, J; NAN: the paper does not give it */
} PetraPaperRow;

/* Row `index`; NULL beyond the last (petra_runs.c). */
const PetraPaperRow *petra_get_paper_row(int index);
/* NULL: the paper has no such run. */
const PetraPaperRow *petra_find_paper_row(int pebbles, const char *label);
/* Returns the exponent of the number of pebbles of the paper's average times; NAN for fewer than two. */
double petra_fit_paper(const char *label);

/* The paper's Tables 4 and 5, one for each step length (petra.c). */
enum { PETRA_PAPER_STEPS = 2, PETRA_PAPER_SOLVES = 5 };

typedef struct PetraPaperSolve {
    const char *solver, *name;         /* solver of petra-opt; name in the paper */
    int iterations[PETRA_PAPER_STEPS]; /* 0: crashed */
    double average[PETRA_PAPER_STEPS]; /* seconds of an iteration */
    double total[PETRA_PAPER_STEPS];   /* seconds */
} PetraPaperSolve;

extern const PetraPaperSolve petra_paper_solves[PETRA_PAPER_SOLVES];
extern const int petra_paper_unknowns[PETRA_PAPER_STEPS]; /* of the dual */

/* ---- report ---- */

/* Adds tables, figures, verdicts and statements of all runs to the set of results (petra_tables.c). */
void petra_report(const Petra *p);
/* Adds verdicts on the figures that have a target, and the paper's statements (petra_claims.c). */
void petra_judge(const Petra *p);

#endif

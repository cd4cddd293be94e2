/* solvers/driver/auto.c - "auto": chooses the solvers of a problem, and when one hands over to the next.
 *
 * Steps of worlds have a reference speed and start from the impulses of the last step. They use sweeps for tolerances
 * down to LOOSE of that speed (apgd if joints are eliminated) and apgd down to TIGHT. Tighter tolerances, and problems
 * without a reference speed, begin with lbfgs-fb, the first-order method of fewest products. Steps under `fixed` with
 * heavy bodies among light ones use admm alone. Coulomb's law begins with apgd, or with prox for an explicit matrix of
 * at most PROX_BLOCKS blocks. In steps of worlds whose contacts are compliant, Coulomb's law begins at loose tolerances
 * with sweeps that solve the law itself (sweeps_suit); apgd follows if SWEEPS sweeps do not suffice.
 *
 * Steps with friction coefficients above TALUS_HIGH_FRICTION under Coulomb's law have a plan of their own (plan_high_friction). There a
 * change of one normal impulse changes the friction of that contact by mu times as much and, through the bodies, other
 * normal impulses: over-relaxed sweeps and gradient steps amplify it, and contacts with little load alternate between
 * open and sticking. Damped sweeps settle all but some of these contacts, and from there prox, which fails from the
 * impulses of the last step, needs few Newton steps.
 *
 * A direct method that takes the problem (find_trial; for prisms lbfgs-fb takes its place) follows after about as many
 * first-order iterations as cost the same on a bed of spheres. Easy and hard beds then both take at most about twice
 * the time of the method that suits them best. Tall stacks, on which a first-order method may exhaust the budget at any
 * tolerance, are solved. Small problems without a reference speed that need many digits go to the direct method at
 * once. Most steps of worlds are too easy to begin with the direct method; in small steps with heavy bodies among light
 * ones, the first-order method gets at most an eighth of the budget. Measurements are in
 * docs/explanation/default-solver.md.
 *
 * Problems without a reference speed under Coulomb's law may have several solutions, between which first-order methods
 * and prox wander. If prox and continuation take such a problem, the first-order stage ends as soon as it is stuck,
 * prox ends after PROX_TRIAL iterations, and continuation follows, which passes folds of the solution path. Steps of
 * worlds need few digits and go on with the first-order method instead.
 *
 * Problems with free joints begin with a first-order method, for which the joints are eliminated (driver.c), unless the
 * options keep joints.
 *
 * The stage of a direct method is a trial: if the method lacks memory or progress, the first-order method goes on in
 * the same budget. */
#include "solvers/driver/auto.h"

#include "backend/part.h"
#include "solvers/driver/solver.h"

#include <limits.h>
#include <math.h>

static const TalusPart parts[] = {
    [TALUS_AUTO_LBFGS_FB] = {"lbfgs-fb", true},
    [TALUS_AUTO_GS] = {"gs:omega=1.5", true},
    [TALUS_AUTO_APGD] = {"apgd", true},
    [TALUS_AUTO_PROX] = {"prox", true},
    [TALUS_AUTO_IPM_SOC] = {"ipm-soc", true},
    [TALUS_AUTO_IPM_CHOL] = {"ipm-chol", true},
    [TALUS_AUTO_ADMM] = {"admm", true},
    /* without state: coloured sweeps have none, and saved worlds keep their size */
    [TALUS_AUTO_GS_COULOMB] = {"gs-coulomb:omega=1.5", false},
    [TALUS_AUTO_CONTINUATION] = {"continuation", true},
    [TALUS_AUTO_GS_EXACT] = {"gs-coulomb:omega=1", false},
    [TALUS_AUTO_GS_DAMPED] = {"gs-coulomb:omega=0.5", false},
    {NULL, false}};

/* Tolerances, relative to the reference speed, that separate the first methods (find_first). */
static const double LOOSE = 0.1, TIGHT = 1e-4;

/* Sweeps under Coulomb's law. LOOSE_COMPLIANT: least tolerance, relative to the reference speed, at which they are
 * used if most contacts are of spheres; otherwise it is LOOSE. SWEEPS: number of sweeps after which apgd takes over. */
static const double LOOSE_COMPLIANT = 0.005;
enum { SWEEPS = 300 };

/* High friction. GRADIENT_TO: largest coefficient for which apgd is part of it, if prox is, too;
 * GRADIENT_ALONE_TO: where apgd does all without prox. EXACT_SWEEPS, GRADIENT_STEPS, DAMPED_SWEEPS, NEWTON_STEPS: iterations
 * of the stages. ROUNDS: number of times that damped sweeps and prox are tried in turn. FEW: see there. Measurements are in docs/explanation/friction.md. */
static const double GRADIENT_TO = 1.2, GRADIENT_ALONE_TO = 2.0;
enum {
    EXACT_SWEEPS = 200,
    GRADIENT_STEPS = 400,
    DAMPED_SWEEPS = 200,
    NEWTON_STEPS = 40,
    ROUNDS = 3,
    FEW = 30
};

/* Without a reference speed and except under Coulomb's law, the direct method runs at once for at most SMALL blocks and
 * a tolerance below DIGITS times the starting residual. SMALL also limits uneven steps (is_uneven_step). */
enum { SMALL = 300 };
static const double DIGITS = 1e-7;

/* Mass ratio above which a small step counts as uneven. UNEVEN: all blocks are under ccp; UNEVEN_BEYOND: other laws
 * occur. In an uneven step first-order methods get less of the budget, and problems with prisms get admm. Other steps
 * start well from impulses that a first-order method left in the last step, and less well from those of a direct
 * method. */
static const double UNEVEN = 1e3, UNEVEN_BEYOND = 30.0;

/* PROX_BLOCKS: under Coulomb's law prox runs at once for explicit matrices of at most this many blocks. The others
 * apply where continuation follows prox. PROX_TRIAL: limit of the iterations of prox. FOLDED_SHARE: the first-order
 * stage gets at most 1 / FOLDED_SHARE of the budget. Continuation gets what a trial may take, half of the rest: beds
 * of 1,000 spheres have paths of over 20,000 points. */
enum { PROX_BLOCKS = 1000, PROX_TRIAL = 100, FOLDED_SHARE = 4 };

/* A method that runs as a trial after the first-order stage: a direct method, or lbfgs-fb for prisms. */
typedef struct TrialMethod {
    int part;                    /* index in `parts` */
    const TalusSolverType *type; /* type of that part, for its `takes` */
    double base, each; /* the method costs as much as base + each x blocks first-order iterations */
    int max_blocks;    /* largest number of blocks for which the method runs; more take gigabytes */
    int max_iterations; /* limit of the stage */
} TrialMethod;

/* Methods for problems of one row per block; for Coulomb's law; for Coulomb's law in uneven steps. */
static const TrialMethod frictionless = {
    TALUS_AUTO_IPM_SOC, &talus_solver_ipm_soc, 500, 0.5, 50000, 200};
static const TrialMethod exact = {TALUS_AUTO_PROX, &talus_solver_prox, 500, 10, 3000, 500};
static const TrialMethod uneven_exact = {
    TALUS_AUTO_IPM_SOC, &talus_solver_ipm_soc, 500, 10, SMALL, 500}; /* Coulomb's law by shifts */
/* Methods for ccp and `fixed`, in order of preference. */
static const TrialMethod convex[] = {
    {TALUS_AUTO_IPM_SOC, &talus_solver_ipm_soc, 500, 1.5, 20000, 200},
    {TALUS_AUTO_PROX, &talus_solver_prox, 500, 10, 3000, 500}, /* takes cones with joints */
    {TALUS_AUTO_IPM_CHOL, &talus_solver_ipm_chol, 300, 1, 20000, 200},
    /* prisms, which no direct method takes; lbfgs-fb is not direct, but mass ratios hardly slow it */
    {TALUS_AUTO_LBFGS_FB, &talus_solver_lbfgs_fb, 500, 1.5, 20000, 10000},
};

/* True if the method takes all these kinds, bits TALUS_KIND(law, section). */
static bool takes_kinds(const TrialMethod *trial, uint32_t kinds)
{
    return !(kinds & ~trial->type->takes);
}

/* True if some moving body is more than `ratio` times as heavy as another, of all ranks; false for an explicit matrix. */
static bool is_uneven(const TalusOperator *op, double ratio)
{
    double least = INFINITY, largest = 0.0;
    for (int i = 0; op->pair && i < op->bodies; i++) {
        double inverse = op->body[i][3];
        least = inverse > 0.0 ? fmin(least, inverse) : least;
        largest = fmax(largest, inverse);
    }
    talus_comm_find_minima(talus_operator_comm(op), &least, 1);
    talus_comm_find_maxima(talus_operator_comm(op), &largest, 1);
    return largest > ratio * least;
}

/* Returns the number of blocks of all ranks. */
static double count_blocks(const TalusProblem *problem)
{
    return talus_all_blocks(&problem->op);
}

/* True for small steps of worlds with heavy bodies among light ones, on which first-order methods stall. False if the
 * backend cannot factorise. */
static bool is_uneven_step(const TalusProblem *problem, const TalusSolveOptions *options)
{
    bool beyond = talus_problem_kinds(problem) & ~TALUS_KINDS_OF(TALUS_LAW_CCP);
    return options->reference_speed > 0.0 && count_blocks(problem) <= SMALL &&
           talus_backend_can(problem->backend, TALUS_CAP_FACTORISES) &&
           is_uneven(&problem->op, beyond ? UNEVEN_BEYOND : UNEVEN);
}

/* Returns the first method of `convex` that takes all these kinds, or NULL. */
static const TrialMethod *find_convex(uint32_t kinds)
{
    for (size_t i = 0; i < sizeof convex / sizeof *convex; i++)
        if (takes_kinds(&convex[i], kinds))
            return &convex[i];
    return NULL;
}

/* Returns the method for discs under Coulomb's law: ipm-soc with shifts for uneven steps without joints, else prox.
 * NULL if the options choose an outer loop, or if prox does not take some block. */
static const TrialMethod *find_coulomb(const TalusProblem *problem, uint32_t kinds,
                                       const TalusSolveOptions *options)
{
    if (options->outer.kind != TALUS_OUTER_AUTO || !takes_kinds(&exact, kinds))
        return NULL;
    bool joints = kinds & TALUS_TAKES_JOINT;
    return !joints && is_uneven_step(problem, options) ? &uneven_exact : &exact;
}

/* Returns the trial method for a problem. NULL if none takes its kinds or so many blocks, if blocks have six rows, if
 * the backend cannot factorise, or if the tolerance is 0. */
static const TrialMethod *find_trial(const TalusProblem *problem, uint32_t kinds,
                                     const TalusSolveOptions *options)
{
    const TrialMethod *found = &frictionless;
    int rows = talus_problem_rows(problem);
    if (!talus_backend_can(problem->backend, TALUS_CAP_FACTORISES) || !(options->tolerance > 0.0) ||
        rows > 3)
        return NULL;
    if (rows > 1)
        found = kinds & TALUS_KINDS_OF(TALUS_LAW_COULOMB) ? find_coulomb(problem, kinds, options)
                                                          : find_convex(kinds);
    return found && count_blocks(problem) <= found->max_blocks ? found : NULL;
}

/* True if the problem has free joints and the options do not keep them. Joints are then eliminated for first-order
 * methods, but not for sweeps (problem/eliminate.h). */
static bool eliminates_joints(const TalusProblem *problem, const TalusSolveOptions *options)
{
    return talus_problem_counts(problem)->joints > 0 && !options->keep_joints;
}

/* True for a small problem without reference speed and without joints to eliminate, whose tolerance is below DIGITS
 * times the starting residual. */
static bool needs_many_digits(TalusProblem *problem, const TalusSolveOptions *options)
{
    TalusResidual start;
    if (count_blocks(problem) > SMALL || options->reference_speed > 0.0 ||
        eliminates_joints(problem, options))
        return false;
    talus_problem_residual(problem, problem->gamma, &start);
    return options->tolerance < DIGITS * (options->norm == TALUS_NORM_MAX ? start.max : start.rms);
}

/* Returns the number of first-order iterations that cost as much as the trial method. In an uneven step the number is
 * at most an eighth of the budget, at least 1. In another small step of a world with prox as the trial method, it is at
 * most half of a budget above `base`: by cost alone prox would come after the usual budget, and tall stacks would miss
 * their tolerance. */
static int iterations_worth(const TrialMethod *trial, const TalusProblem *problem,
                            const TalusSolveOptions *options)
{
    int worth = (int)(trial->base + trial->each * count_blocks(problem));
    bool small = options->reference_speed > 0.0 && count_blocks(problem) <= SMALL;
    int share = worth;
    if (is_uneven_step(problem, options))
        share = options->max_iterations > 8 ? options->max_iterations / 8 : 1;
    else if (small && trial == &exact && options->max_iterations > trial->base)
        share = options->max_iterations / 2;
    return share < worth ? share : worth;
}

/* True if the problem is to begin with sweeps that solve Coulomb's law. Conditions: it is matrix-free with compliance,
 * without which sweeps stall; all blocks are discs under Coulomb's law; the tolerance is loose, and looser if more than
 * half of the contacts are general, for which sweeps take shorter steps; the backend is the host's (on an H200 apgd
 * takes a quarter to a third of the time of sweeps). */
static bool sweeps_suit(const TalusProblem *problem, uint32_t kinds,
                        const TalusSolveOptions *options)
{
    const TalusOperator *op = &problem->op;
    double share = 2.0 * talus_all_general(op) > talus_all_blocks(op) ? LOOSE : LOOSE_COMPLIANT;
    double least = share * options->reference_speed;
    return least > 0.0 && options->tolerance >= least && op->pair && op->compliance &&
           talus_backend_can(problem->backend, TALUS_CAP_HOST_MEMORY) &&
           kinds == TALUS_KIND(TALUS_LAW_COULOMB, TALUS_SECTION_DISC) &&
           talus_problem_rows(problem) == 3 && !is_uneven_step(problem, options);
}

/* Returns the first method: sweeps for a loose tolerance unless joints are to be eliminated; apgd for a tighter one and
 * for Coulomb's law, unless the options choose an outer loop or sweeps solve that law (sweeps_suit); lbfgs-fb for the
 * tightest and without a reference speed. Uneven steps with prisms, which no direct method takes, get admm, which mass
 * ratios hardly slow. */
static int find_first(const TalusProblem *problem, uint32_t kinds, const TalusSolveOptions *options)
{
    double speed = options->reference_speed;
    bool tight = !(speed > 0.0) || options->tolerance < TIGHT * speed;
    if (kinds & TALUS_KINDS_OF(TALUS_LAW_COULOMB) && options->outer.kind == TALUS_OUTER_AUTO)
        return sweeps_suit(problem, kinds, options) ? TALUS_AUTO_GS_COULOMB : TALUS_AUTO_APGD;
    if (kinds & TALUS_KINDS_OF(TALUS_LAW_FIXED) && is_uneven_step(problem, options))
        return TALUS_AUTO_ADMM;
    if (tight)
        return TALUS_AUTO_LBFGS_FB;
    return options->tolerance >= LOOSE * speed && !eliminates_joints(problem, options)
               ? TALUS_AUTO_GS
               : TALUS_AUTO_APGD;
}

/* Returns the first-order iterations, sweeps included, before the trial method; 0: the trial method begins. */
static int iterations_before_trial(TalusProblem *problem, uint32_t kinds, const TrialMethod *trial,
                                   const TalusSolveOptions *options)
{
    bool coulomb =
        kinds & TALUS_KINDS_OF(TALUS_LAW_COULOMB) && options->outer.kind == TALUS_OUTER_AUTO;
    bool matrix = coulomb && problem->op.values && count_blocks(problem) <= PROX_BLOCKS;
    bool at_once = matrix || (!coulomb && needs_many_digits(problem, options));
    return at_once ? 0 : iterations_worth(trial, problem, options);
}

/* True if continuation follows the trial method, which is then prox. */
static bool continuation_follows(const TrialMethod *trial, uint32_t kinds,
                                 const TalusSolveOptions *options)
{
    return trial == &exact && !(options->reference_speed > 0.0) &&
           !(kinds & ~talus_solver_continuation.takes);
}

/* ---- high friction ---- */

/* Returns the largest friction coefficient of all ranks. */
static double largest_friction(const TalusProblem *problem)
{
    const TalusOperator *op = &problem->op;
    double largest = 0.0;
    for (int i = 0; i < talus_first_joint(op); i++)
        largest = fmax(largest, op->mu[i]);
    talus_comm_find_maxima(talus_operator_comm(op), &largest, 1);
    return largest;
}

/* True for steps of worlds under Coulomb's law with some friction coefficient above TALUS_HIGH_FRICTION, which is written to *mu.
 * False for uneven steps and free joints, where sweeps are slow, and on backends that own their memory. */
static bool has_high_friction(const TalusProblem *problem, uint32_t kinds,
                              const TalusSolveOptions *options, double *mu)
{
    if (!(kinds & TALUS_KINDS_OF(TALUS_LAW_COULOMB)) || kinds & TALUS_TAKES_JOINT ||
        talus_problem_rows(problem) == 1 || !problem->op.pair ||
        !(options->reference_speed > 0.0) || options->outer.kind != TALUS_OUTER_AUTO ||
        !talus_backend_can(problem->backend, TALUS_CAP_HOST_MEMORY) ||
        is_uneven_step(problem, options))
        return false;
    *mu = largest_friction(problem);
    return *mu > TALUS_HIGH_FRICTION;
}

/* Writes the stages for friction up to `mu` and returns their number: exact sweeps, apgd, or both, then damped sweeps
 * and, if prox takes the problem, prox in turn. Sweeps begin where they suit; else apgd begins if mu is at most
 * GRADIENT_TO or there is no prox. Ends with damped sweeps, which leave no deep overlap, if the budget reaches them.
 * Returns 0, for the plan of lower friction, where that begins with apgd and either prox cannot help and mu is at most
 * GRADIENT_ALONE_TO, or there are at most FEW blocks: where few contacts have several solutions, apgd finds the jam of a bar
 * that is pushed along a floor (case painleve of `talus validate`), and sweeps find another one. */
static int plan_high_friction(const TalusProblem *problem, uint32_t kinds, double mu,
                              const TalusSolveOptions *options, TalusStage stage[TALUS_MAX_STAGES])
{
    const bool newton = find_trial(problem, kinds, options) == &exact;
    const bool suit = sweeps_suit(problem, kinds, options);
    const bool gradient = mu <= GRADIENT_TO || (!suit && !newton);
    int count = 0;
    if (!suit && (count_blocks(problem) <= FEW || (!newton && mu <= GRADIENT_ALONE_TO)))
        return 0;
    if (suit || !gradient)
        stage[count++] = (TalusStage){TALUS_AUTO_GS_EXACT, EXACT_SWEEPS, false, false};
    if (gradient)
        stage[count++] = (TalusStage){TALUS_AUTO_APGD, GRADIENT_STEPS, false, true};
    for (int k = 0; k < ROUNDS && newton; k++) {
        stage[count++] = (TalusStage){TALUS_AUTO_GS_DAMPED, DAMPED_SWEEPS, false, false};
        stage[count++] = (TalusStage){TALUS_AUTO_PROX, NEWTON_STEPS, true, false};
    }
    stage[count++] = (TalusStage){TALUS_AUTO_GS_DAMPED, INT_MAX, false, false};
    return count;
}

/* `plan` of the solver type: sweeps if they suit, the first-order method, the trial method and continuation as trials
 * where they apply, then the first-order method for the rest of the budget. Sweeps need a reference speed, continuation
 * needs none, so there are at most four stages; with high friction there are at most 2 + 2 ROUNDS + 1. */
static int plan_stages(TalusProblem *problem, const TalusSolveOptions *options,
                       TalusStage stage[TALUS_MAX_STAGES])
{
    uint32_t kinds = talus_problem_kinds(problem);
    double mu = 0.0;
    int count = has_high_friction(problem, kinds, options, &mu)
                    ? plan_high_friction(problem, kinds, mu, options, stage)
                    : 0;
    if (count > 0)
        return count;
    int first = find_first(problem, kinds, options);
    const TrialMethod *trial = find_trial(problem, kinds, options);
    int swept = first == TALUS_AUTO_GS_COULOMB ? SWEEPS : 0;
    if (swept) {
        stage[count++] = (TalusStage){first, swept, false, false};
        first = TALUS_AUTO_APGD;
    }
    if (trial && trial->part != first && first != TALUS_AUTO_ADMM) {
        int before = iterations_before_trial(problem, kinds, trial, options) - swept;
        bool folds = continuation_follows(trial, kinds, options);
        if (folds && before > options->max_iterations / FOLDED_SHARE)
            before = options->max_iterations / FOLDED_SHARE;
        if (before > 0)
            stage[count++] = (TalusStage){first, before, false, folds};
        stage[count++] =
            (TalusStage){trial->part, folds ? PROX_TRIAL : trial->max_iterations, true, false};
        if (folds)
            stage[count++] = (TalusStage){TALUS_AUTO_CONTINUATION, INT_MAX, true, false};
    }
    stage[count++] = (TalusStage){first, INT_MAX, false, false};
    return count;
}

const TalusSolverType talus_solver_auto = {
    .name = "auto",
    .summary =
        "sweeps at loose tolerances (gs or gs-coulomb), apgd down to 0.01 % of the reference speed, "
        "else lbfgs-fb or apgd; then a direct method",
    .reference = "docs/reference/solvers.md",
    .takes = TALUS_TAKES_ALL,
    .parts = parts,
    .plan = plan_stages,
};

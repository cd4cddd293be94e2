/* solvers/newton/gs_ssn.c - sweeps that find the active set and Newton steps that finish, the hybrid proposed in the
 * conclusion of preclik-2009.
 *
 * Over-relaxed projected Gauss-Seidel sweeps run over the rows of N + E until no row has reached or left a bound in
 * `quiet` sweeps, or `sweeps` are done. Newton steps (ssn_step.h) on a proximal problem follow, regularised about a
 * constant centre. They are full steps: with constant bounds and an active set that is wrong in a few rows, a line
 * search crawls from kink to kink. A step that leaves the active set unchanged solves the proximal problem. Its
 * solution becomes the next centre, and the next step reuses the factor, since the matrix is the same. With the right
 * active set such steps converge linearly at a rate of about `regularise` over the smallest eigenvalue of the matrix of
 * the free rows, scaled to a unit diagonal. With an active set whose equations contradict each other all steps are
 * equal; their length is doubled until a row changes sides. Under Coulomb's law steps use a line search.
 *
 * Newton steps go on while the residual halves within `patience` factorisations and no line search ends at `step_min`.
 * Otherwise sweeps follow, from the better of Newton's start and end: twice as many as before, at most LONGER times the
 * parameter `sweeps`. Then Newton steps follow, with a larger `regularise` as long as the number of sweeps grows too.
 *
 * A sweep over the matrix, which Newton needs anyway, costs about one product. A factorisation costs tens of products
 * and, on deep beds, thousands. An iteration is a sweep or a Newton step. */
#include "solvers/newton/ssn_step.h"

#include "base/status.h"

#include <math.h>

/* Parameters of the solver; the table `params` says what each does. */
typedef struct Params {
    TalusSsnParams newton;
    double omega;
    int sweeps, quiet, patience;
} Params;

static const TalusParam params[] = {
    TALUS_SSN_PARAM_ROWS(TALUS_SSN_MOVING, 1e-4),
    TALUS_INT(Params, quiet, 4, 1, 1000000,
              "sweeps end after so many in a row in which no row changed sides"),
    TALUS_REAL(Params, omega, 1.6, 1e-6, 1.99, "over-relaxation of the sweeps"),
    TALUS_INT(Params, sweeps, 100, 1, 1000000, "at most so many before the first Newton step"),
    TALUS_INT(Params, patience, 6, 1, 1000000, "Newton steps within which the residual must halve"),
};

enum { LONGER = 4 }; /* maximum number of sweeps in a row, over the parameter `sweeps` */

/* FALL: factor by which the residual must fall within `patience` factorisations. STIFFEN: factor on `regularise` after
 * a round of Newton steps that did not end the solve. */
static const double FALL = 0.5, STIFFEN = 5.0;
static const double DRIFT = 16.0; /* step length from which impulses may grow without bound */

typedef struct Work {
    TalusSsn newton;
    TalusVectors vectors;
    double *newton_start; /* impulses before the Newton steps of a round */
} Work;

typedef struct Run {
    TalusSolve *s;
    const Params *p;
    Work *w;
    size_t n;                  /* number of rows */
    TalusForwardSums residual; /* residual of gamma at the last measurement */
    int sweeps;                /* maximum number of sweeps in a row */
    /* number of sweeps in a row without a change of sides that ends the sweeps */
    int quiet;
    bool line_search; /* Newton steps use a line search */
} Run;

/* Reports the measured residual to the driver without counting an iteration. False if the solve must end. */
static bool report_residual(Run *run)
{
    TalusSolve *s = run->s;
    return talus_solve_continue(s, sqrt(run->residual.residual2 / s->op->blocks),
                                run->residual.residual_max);
}

/* Measures the residual of gamma and counts the product. */
static void measure_gamma(Run *run)
{
    talus_ssn_measure(&run->w->newton, run->s, &run->residual);
    run->s->info->products++;
}

/* Runs at most run->sweeps sweeps; stops after run->quiet sweeps in a row in which no row changed sides. False if the
 * solve must end: budget, observer or infeasibility. */
static bool run_sweeps(Run *run)
{
    TalusSolve *s = run->s;
    int quiet = 0;
    for (int done = 0; done < run->sweeps && quiet < run->quiet; done++) {
        double sum = talus_ssn_sweep(&run->w->newton, s, run->p->omega);
        talus_solve_count(s, 1);
        if (!talus_solve_observe(s, s->gamma, NULL, sqrt(sum / s->op->blocks)) ||
            !talus_solve_within_budget(s))
            return false;
        quiet = run->w->newton.changed ? 0 : quiet + 1;
    }
    return true;
}

/* Returns how the next Newton step is to be taken. If the last step changed no row's side, gamma becomes the centre of
 * the regularisation. If the new centre changes no side either, the step reuses the factor; its length is twice the
 * last one if the last step reused the factor too and the residual did not halve; `before`: sum of squares of the
 * residual before that step. From length DRIFT on, the infeasibility monitor checks the iterate. */
static TalusSsnMove choose_next_move(Run *run, const TalusSsnMove *last, double before)
{
    TalusSsn *w = &run->w->newton;
    TalusSsnMove move = {.search = run->line_search, .length = 1.0};
    if (talus_ssn_update_sides(w, run->s) > 0)
        return move;
    move.reuse = talus_ssn_set_centre(w, run->s) == 0;
    if (last->reuse && move.reuse && run->residual.residual2 > FALL * FALL * before)
        move.length = 2.0 * last->length;
    if (move.length >= DRIFT)
        talus_solve_request_infeasibility_check(run->s);
    return move;
}

/* Runs the Newton steps of a round. *go: false if the solve must end. Otherwise restores the impulses of the start if
 * the Newton steps have not lowered their residual. */
static TalusStatus run_newton_steps(Run *run, bool *go)
{
    TalusSolve *s = run->s;
    TalusSsnMove move = {.search = run->line_search, .length = 1.0};
    double first = run->residual.residual2, mark = first;
    s->backend->vector.copy(s->op, run->w->newton_start, s->gamma, run->n);
    talus_ssn_set_centre(&run->w->newton, s);
    for (int since = 0; since < run->p->patience;) {
        double before = run->residual.residual2;
        TALUS_TRY(talus_ssn_step(&run->w->newton, s, &move));
        measure_gamma(run);
        *go = talus_solve_next(s, 1, s->gamma, NULL, run->residual.residual2,
                               run->residual.residual_max);
        if (!*go)
            return TALUS_OK;
        since += !move.reuse;
        if (move.search && move.length <= run->p->newton.step_min)
            break;
        if (run->residual.residual2 <= FALL * FALL * mark) {
            mark = run->residual.residual2;
            since = 0;
        }
        move = choose_next_move(run, &move, before);
    }
    if (!(run->residual.residual2 < first))
        s->backend->vector.copy(s->op, s->gamma, run->w->newton_start, run->n);
    return TALUS_OK;
}

/* Doubles the numbers of sweeps and raises `regularise` for the next round; does nothing once the maximum number of
 * sweeps in a row is LONGER times the parameter `sweeps`. */
static void prepare_next_round(Run *run)
{
    TalusSsn *w = &run->w->newton;
    if (run->sweeps >= LONGER * run->p->sweeps)
        return;
    run->sweeps *= 2;
    run->quiet *= 2;
    w->regularise = fmin(STIFFEN * w->regularise, 1.0);
}

/* Runs rounds of sweeps and Newton steps until the solve ends. Leaves gamma projected onto the sets. */
static TalusStatus run_rounds(Run *run)
{
    TalusSolve *s = run->s;
    talus_ssn_set_iterate(&run->w->newton, s);
    talus_ssn_measure(&run->w->newton, s, &run->residual);
    bool go =
        talus_solve_next(s, 1, s->gamma, NULL, run->residual.residual2, run->residual.residual_max);
    while (go) {
        s->backend->block.project(s->op, NULL, s->gamma);
        if (!run_sweeps(run))
            break;
        talus_ssn_set_iterate(&run->w->newton, s);
        measure_gamma(run);
        if (!report_residual(run))
            break;
        TALUS_TRY(run_newton_steps(run, &go));
        prepare_next_round(run);
    }
    s->backend->block.project(s->op, NULL, s->gamma);
    return TALUS_OK;
}

/* Solves the problem from s->gamma, in place; a line search is used if some block is under Coulomb's law. */
static TalusStatus solve_gs_ssn(TalusSolve *s)
{
    Work *w = s->work;
    Run run = {.s = s, .p = s->params, .w = w, .n = (size_t)s->op->rows * (size_t)s->op->blocks};
    run.sweeps = run.p->sweeps;
    run.quiet = run.p->quiet;
    TALUS_TRY(TALUS_RESERVE_VECTORS(s, &w->vectors, "impulses", &w->newton_start));
    TalusStatus status = talus_ssn_begin(&w->newton, s, &run.p->newton);
    run.line_search = w->newton.coulomb;
    TALUS_THEN(status, run_rounds(&run));
    TalusStatus ended = talus_ssn_end(&w->newton, s);
    return status == TALUS_OK ? ended : status;
}

const TalusSolverType talus_solver_gs_ssn = {
    .name = "gs-ssn",
    .summary = "sweeps find the active set, semismooth Newton ends it: boxes and pyramids",
    .reference = "preclik-2009 section 5",
    .takes = TALUS_TAKES_NONNEG | TALUS_TAKES_BOX | TALUS_TAKES(COULOMB, SQUARE),
    TALUS_PARAMS(params, Params),
    .work_size = sizeof(Work),
    .solve = solve_gs_ssn,
    .clear = talus_ssn_clear,
    .on_host = "the factorisation of the free rows",
};

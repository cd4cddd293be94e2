/* solvers/newton/gs_ssn.c - sweeps that find the active set and Newton steps that finish, the hybrid proposed in the
 * conclusion of preclik-2009.
 *
 * Over-relaxed projected Gauss-Seidel sweeps run over the rows of N + E until no row has reached or left a bound in
 * `quiet` sweeps, or `sweeps` are done. Newton steps (ssn_step.h) on a proximal problem follow, regularised about a
 * constant centre. They are full steps: with constant bounds and an active set that is wrong in a few rows, a line
 * search crawls from kink to kink. A step that leaves the set unchanged solves the proximal problem. Its solution is
 * the next centre, and the next step reuses the factor, since the matrix is the same. With the right set such steps
 * converge linearly at a rate of about `regularise` over the smallest eigenvalue of the free rows, scaled to a unit
 * diagonal. With a set whose equations contradict each other all steps are equal, and are doubled until a row changes
 * sides. Under Coulomb's law steps use a line search.
 *
 * Newton goes on while the residual halves within `patience` factorisations and no line search ends at `step_min`.
 * Otherwise sweeps follow, from the better of Newton's start and end: twice as many as before, at most LONGER times the
 * first number, then a more regularised Newton.
 *
 * A sweep over the matrix, which Newton needs anyway, costs about one product. A factorisation costs tens of products
 * and, on deep beds, thousands. An iteration is a sweep or a Newton step. */
#include "solvers/newton/ssn_step.h"

#include "base/status.h"

#include <math.h>

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

enum { LONGER = 4 }; /* maximum sweeps in a row, relative to the first run */

/* FALL: fall of the residual that is asked within `patience`. STIFFEN: factor on `regularise` after a failed round. */
static const double FALL = 0.5, STIFFEN = 5.0;
static const double DRIFT = 16.0; /* step length from which impulses may grow without bound */

typedef struct Work {
    TalusSsn newton;
    TalusVectors vectors;
    double *kept; /* impulses at the start of Newton's method */
} Work;

typedef struct Run {
    TalusSolve *s;
    const Params *p;
    Work *w;
    size_t n;
    TalusForwardSums at; /* residual of gamma */
    int sweeps;          /* maximum sweeps in a row */
    int quiet;           /* sweeps without a change that end a run of sweeps */
    bool careful;        /* Newton's steps use a line search */
} Run;

/* False if the solve must end. */
static bool goes_on(Run *run)
{
    TalusSolve *s = run->s;
    return talus_solve_continue(s, sqrt(run->at.residual2 / s->op->blocks), run->at.residual_max);
}

static void measure(Run *run)
{
    talus_ssn_measure(&run->w->newton, run->s, &run->at);
    run->s->info->products++;
}

/* Runs sweeps, at most run->sweeps or until run->quiet of them in a row change no side. False if the solve must end:
 * budget, observer or infeasibility. */
static bool sweep(Run *run)
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

/* Returns the next Newton move. If no row has changed sides, gamma becomes the centre; if none does by that either, the
 * move reuses the factor, with twice the last length if the last move did so too and the residual did not halve. */
static TalusSsnMove next_move(Run *run, const TalusSsnMove *last, double before)
{
    TalusSsn *w = &run->w->newton;
    TalusSsnMove move = {.search = run->careful, .length = 1.0};
    if (talus_ssn_update_sides(w, run->s) > 0)
        return move;
    move.again = talus_ssn_anchor(w, run->s) == 0;
    if (last->again && move.again && run->at.residual2 > FALL * FALL * before)
        move.length = 2.0 * last->length;
    if (move.length >= DRIFT)
        talus_solve_suspect(run->s);
    return move;
}

/* Runs Newton steps. *go: false if the solve must end; else sweeps follow, from the impulses at the start if Newton has
 * not improved them. */
static TalusStatus newton(Run *run, bool *go)
{
    TalusSolve *s = run->s;
    TalusSsnMove move = {.search = run->careful, .length = 1.0};
    double first = run->at.residual2, mark = first;
    s->backend->vector.copy(s->op, run->w->kept, s->gamma, run->n);
    talus_ssn_anchor(&run->w->newton, s);
    for (int since = 0; since < run->p->patience;) {
        double before = run->at.residual2;
        TALUS_TRY(talus_ssn_step(&run->w->newton, s, &move));
        measure(run);
        *go = talus_solve_next(s, 1, s->gamma, NULL, run->at.residual2, run->at.residual_max);
        if (!*go)
            return TALUS_OK;
        since += !move.again;
        if (move.search && move.length <= run->p->newton.step_min)
            break;
        if (run->at.residual2 <= FALL * FALL * mark) {
            mark = run->at.residual2;
            since = 0;
        }
        move = next_move(run, &move, before);
    }
    if (!(run->at.residual2 < first))
        s->backend->vector.copy(s->op, s->gamma, run->w->kept, run->n);
    return TALUS_OK;
}

/* Changes the parameters after a failed round: longer sweeps and a more regularised Newton method. */
static void prepare_return(Run *run)
{
    TalusSsn *w = &run->w->newton;
    if (run->sweeps >= LONGER * run->p->sweeps)
        return;
    run->sweeps *= 2;
    run->quiet *= 2;
    w->regularise = fmin(STIFFEN * w->regularise, 1.0);
}

static TalusStatus iterate(Run *run)
{
    TalusSolve *s = run->s;
    talus_ssn_set_iterate(&run->w->newton, s);
    talus_ssn_measure(&run->w->newton, s, &run->at);
    bool go = talus_solve_next(s, 1, s->gamma, NULL, run->at.residual2, run->at.residual_max);
    while (go) {
        s->backend->block.project(s->op, NULL, s->gamma);
        if (!sweep(run))
            break;
        talus_ssn_set_iterate(&run->w->newton, s);
        measure(run);
        if (!goes_on(run))
            break;
        TALUS_TRY(newton(run, &go));
        prepare_return(run);
    }
    s->backend->block.project(s->op, NULL, s->gamma);
    return TALUS_OK;
}

static TalusStatus solve_gs_ssn(TalusSolve *s)
{
    Work *w = s->work;
    Run run = {.s = s, .p = s->params, .w = w, .n = (size_t)s->op->rows * (size_t)s->op->blocks};
    run.sweeps = run.p->sweeps;
    run.quiet = run.p->quiet;
    TALUS_TRY(TALUS_VECTORS(s, &w->vectors, "impulses", &w->kept));
    TalusStatus status = talus_ssn_begin(&w->newton, s, &run.p->newton);
    run.careful = w->newton.coulomb;
    TALUS_THEN(status, iterate(&run));
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

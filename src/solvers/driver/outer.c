/* solvers/driver/outer.c - outer loops that extend algorithms for convex sets to laws beyond ccp.
 *
 * fixed    A frictionless solve (zero bounds) gives normal impulses, from which bounds follow for a second solve. This
 *          repeats from the last impulses `refresh` times; with refresh -1 there is one solve, with given bounds.
 * coulomb  By De Saxce's shift: gamma solves the exact law if it solves the convex problem whose normal offsets are
 *          raised by s = sigma(-u_t), with u its own velocity (for the disc, mu |u_t|). After each inner solve, s moves
 *          by a share of the way to sigma; the first s is sigma at the start, 0 for zero impulses. The shifts of all
 *          blocks move: if only shifts of active blocks moved, the loop would cycle. An algorithm that solves the exact
 *          law itself but is stuck is continued by these shifts.
 * coulomb  By Tresca's problem: a prism on the estimate of each normal impulse. After each inner solve the estimates
 *          move to the impulses, or by a share of the way (preclik-2009, its outer fixed point).
 * share    `share` of the options. If 0: the full way until the law's residual has not fallen for PATIENCE updates,
 *          then 0.3 of the way, finally 0.09. Damping from the start costs products where inner solves are coarse;
 *          exact inner solves (interior points) cycle without damping (docs/reference/contact-problem.md).
 * An inner solve ends when its residual is below a share of the law's residual at its start: more accuracy is wasted
 * while shifts or bounds are still wrong. */
#include "solvers/driver/outer.h"

#include "backend/part.h"
#include "base/status.h"
#include "problem/eliminate.h"
#include "solvers/driver/infeasibility.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Inner tolerance: INNER times the law's residual at the start of the inner solve, at least LAST times the tolerance of
 * the whole solve, which leaves the rest to the remaining error of shifts or bounds. */
static const double INNER = 0.3, LAST = 0.7;

/* ---- laws and sets that a solver takes ---- */

/* Appends `part`, after ", " unless the text is empty; cuts what exceeds the array. */
static void append_item(char text[TALUS_TAKES_TEXT], const char *part)
{
    size_t length = strlen(text);
    snprintf(text + length, TALUS_TAKES_TEXT - length, "%s%s", length ? ", " : "", part);
}

/* Writes "law x section" of a kind, the number law * TALUS_SECTIONS + section. */
static void name_kind(int kind, char *text, size_t size)
{
    snprintf(text, size, "%s x %s", talus_law_name((TalusFrictionLaw)(kind / TALUS_SECTIONS)),
             talus_section_name((TalusSection)(kind % TALUS_SECTIONS)));
}

/* Appends a law and the sections taken with it; a law alone means all sections. */
static void append_law(char text[TALUS_TAKES_TEXT], uint32_t takes, int law)
{
    uint32_t all = TALUS_KIND(law, TALUS_SECTION_DISC) | TALUS_KIND(law, TALUS_SECTION_SQUARE) |
                   TALUS_KIND(law, TALUS_SECTION_POLYGON);
    if ((takes & all) == all) {
        append_item(text, talus_law_name((TalusFrictionLaw)law));
        return;
    }
    for (int section = 0; section < TALUS_SECTION_JOINT; section++)
        if (takes & TALUS_KIND(law, section)) {
            char part[40];
            name_kind(law * TALUS_SECTIONS + section, part, sizeof part);
            append_item(text, part);
        }
}

void talus_outer_describe_takes(uint32_t takes, char text[TALUS_TAKES_TEXT])
{
    text[0] = '\0';
    if (takes & TALUS_TAKES_NONNEG)
        append_item(text, "nonneg");
    for (int law = 0; law < TALUS_LAWS; law++)
        append_law(text, takes, law);
    if (takes & TALUS_TAKES_MOMENTS)
        append_item(text, "moments");
    if (takes & TALUS_TAKES_JOINT)
        append_item(text, "joints");
}

/* Fails with a message that names what the solver takes and what the problem has. */
static TalusStatus refuse_problem(const TalusSolverType *type, const char *has)
{
    char text[TALUS_TAKES_TEXT];
    talus_outer_describe_takes(type->takes, text);
    return talus_solver_fail(type->name, TALUS_ERR_UNSUPPORTED, "takes %s; this problem has %s",
                             text, has);
}

/* Fails with the name of the first kind in `lacking`, bits of the kinds that the solver does not take. Joints are named
 * first, since another section would not help. For a solver without friction the message says just that. */
static TalusStatus refuse_kind(const TalusSolverType *type, uint32_t lacking)
{
    char has[96];
    int kind = 0;
    if (lacking & TALUS_TAKES_JOINT)
        return refuse_problem(type, "joints");
    while (!(lacking & (1u << kind)))
        kind++;
    name_kind(kind, has, sizeof has);
    if (type->takes == TALUS_TAKES_NONNEG)
        return talus_solver_fail(type->name, TALUS_ERR_UNSUPPORTED,
                                 "takes problems without friction, this one has it");
    size_t length = strlen(has);
    if (kind % TALUS_SECTIONS == TALUS_SECTION_DISC &&
        type->takes & TALUS_KIND(kind / TALUS_SECTIONS, TALUS_SECTION_POLYGON))
        snprintf(has + length, sizeof has - length, ", which section polygon:8 would approximate");
    return refuse_problem(type, has);
}

/* Plans how the kinds in `coulomb`, bits TALUS_KIND(law, section), are solved. `cones` and `prisms` are the same
 * sections under ccp and under `fixed`: the solver must take the former for shifts, the latter for Tresca's loop. */
static TalusStatus plan_coulomb(const TalusSolverType *type, uint32_t coulomb, TalusOuterKind kind,
                                TalusOuterPlan *plan)
{
    uint32_t cones = coulomb >> ((TALUS_LAW_COULOMB - TALUS_LAW_CCP) * TALUS_SECTIONS);
    uint32_t prisms = coulomb >> ((TALUS_LAW_COULOMB - TALUS_LAW_FIXED) * TALUS_SECTIONS);
    bool direct = !(coulomb & ~type->takes);
    plan->exact = kind == TALUS_OUTER_AUTO && direct;
    if (plan->exact)
        return TALUS_OK;
    if (kind == TALUS_OUTER_SHIFT && direct)
        return talus_solver_fail(type->name, TALUS_ERR_UNSUPPORTED,
                                 "solves Coulomb's law itself; shifts are for solvers of the "
                                 "relaxation");
    if (plan->bounds && kind == TALUS_OUTER_TRESCA)
        return talus_solver_fail(type->name, TALUS_ERR_UNSUPPORTED,
                                 "bounds that move beside bounds that are fixed; take shifts "
                                 "for problems with both laws");
    plan->shift = kind != TALUS_OUTER_TRESCA && !(cones & ~type->takes);
    plan->tresca =
        kind != TALUS_OUTER_SHIFT && !plan->shift && !plan->bounds && !(prisms & ~type->takes);
    if (plan->shift || plan->tresca)
        return TALUS_OK;
    if (direct)
        return talus_solver_fail(type->name, TALUS_ERR_UNSUPPORTED,
                                 "solves Coulomb's law itself; Tresca's loop is for solvers "
                                 "that take fixed bounds");
    return refuse_kind(type, coulomb);
}

TalusStatus talus_outer_plan(const TalusSolverType *type, const TalusProblem *problem,
                             TalusOuterKind kind, TalusOuterPlan *plan)
{
    bool frictionless = talus_problem_is_frictionless(problem);
    uint32_t kinds = frictionless ? 0 : talus_problem_kinds(problem);
    uint32_t coulomb = kinds & TALUS_KINDS_OF(TALUS_LAW_COULOMB);
    *plan = (TalusOuterPlan){.beyond = (kinds & ~TALUS_KINDS_OF(TALUS_LAW_CCP)) != 0,
                             .bounds = (kinds & TALUS_KINDS_OF(TALUS_LAW_FIXED)) != 0};
    if (talus_problem_rows(problem) == 1 && !(type->takes & TALUS_TAKES_NONNEG))
        return talus_solver_fail(type->name, TALUS_ERR_UNSUPPORTED,
                                 "takes problems with friction, this one has none");
    if (frictionless && !(type->takes & TALUS_TAKES_SECTIONS(CCP)))
        return refuse_problem(type, "three rows per contact, though friction at none");
    if ((kinds & ~coulomb) & ~type->takes)
        return refuse_kind(type, (kinds & ~coulomb) & ~type->takes);
    TALUS_TRY(coulomb ? plan_coulomb(type, coulomb, kind, plan) : TALUS_OK);
    if (talus_problem_rows(problem) == 6 && !(type->takes & TALUS_TAKES_MOMENTS))
        return refuse_problem(type, "friction against turning");
    return TALUS_OK;
}

/* ---- measuring and inner solves ---- */

void talus_outer_measure(const TalusSolve *s, double *gamma, TalusResidual *out,
                         TalusResidual *rounding)
{
    if (s->reduced)
        talus_reduced_recover_joints(s->reduced, gamma);
    talus_residual_measure(s->backend, s->reduced ? s->reduced->whole : s->op, s->plan.beyond,
                           gamma, out, rounding);
}

/* The law's residual in the requested norm. */
static double law_residual(const TalusSolve *s, const TalusLawSums *sums)
{
    return s->options->norm == TALUS_NORM_MAX ? sums->residual_max
                                              : sqrt(sums->residual2 / talus_all_blocks(s->op));
}

/* True if an outer loop must go on from gamma, whose residual under the law is in `sums`; else sets the outcome. Counts
 * the product that gave `sums`, and stores the starting residual of the solve. */
static bool outer_goes_on(TalusSolve *s, const TalusLawSums *sums)
{
    double now = law_residual(s, sums);
    s->info->products++;
    talus_solve_note_start(s, sqrt(sums->residual2 / talus_all_blocks(s->op)));
    if (!isfinite(now)) {
        s->info->outcome = TALUS_OUTCOME_DIVERGED;
        return false;
    }
    if (s->options->tolerance > 0.0 && now <= s->options->tolerance * s->tolerance_factor) {
        s->info->outcome = TALUS_OUTCOME_CONVERGED;
        return false;
    }
    return talus_solve_within_budget(s);
}

static TalusStatus call_algorithm(TalusSolve *s)
{
    TalusStatus status = s->type->solve(s);
    s->called = true;
    return status;
}

/* Runs the algorithm until its own residual is within `tolerance`, for at most `iterations` more. *go: the outer loop
 * may go on, that is, the solve was not stopped and the problem is not infeasible nor the iterate diverged. */
static TalusStatus run_inner(TalusSolve *s, double tolerance, int iterations, bool *go)
{
    const TalusSolveOptions *whole = s->options;
    const double tolerance_factor = s->tolerance_factor;
    const bool resumed = s->resumed;
    TalusSolveOptions part = *whole;
    int left = whole->max_iterations - s->info->iterations;
    part.tolerance = tolerance;
    part.max_iterations = s->info->iterations + (iterations < left ? iterations : left);
    s->options = &part;
    s->tolerance_factor = 1.0;
    s->resumed = false;
    TalusStatus status = call_algorithm(s);
    s->options = whole;
    s->tolerance_factor = tolerance_factor;
    s->resumed = resumed;
    *go = !s->stopped &&
          (s->info->outcome == TALUS_OUTCOME_CONVERGED || s->info->outcome == TALUS_OUTCOME_BUDGET);
    return status;
}

/* Returns the tolerance of an inner solve that starts at the law's residual `reached`. */
static double inner_tolerance(const TalusSolve *s, double reached)
{
    return fmax(INNER * reached, LAST * s->options->tolerance * s->tolerance_factor);
}

/* ---- Coulomb's law ---- */

/* Returns the limit of iterations of one inner solve: the option outer.every, or the whole budget if that is 0. */
static int inner_max_iterations(const TalusSolve *s)
{
    return s->options->outer.every > 0 ? s->options->outer.every : s->options->max_iterations;
}

/* PATIENCE: updates without progress before the share is reduced. PROGRESS: the residual has fallen if it is below this
 * times its minimum so far. LESS: factor of the reduction. LEAST_SHARE: shares at or below this are not reduced. */
enum { PATIENCE = 5 };
static const double PROGRESS = 0.9, LESS = 0.3, LEAST_SHARE = 0.1;

typedef struct Damping {
    double share, least; /* least: minimum residual of the law so far */
    int idle;            /* updates since the residual fell */
} Damping;

/* Returns the damping at the start of an outer loop: the share of the options, or the full way. */
static Damping init_damping(const TalusSolve *s)
{
    double given = s->options->outer.share;
    return (Damping){.share = given > 0.0 ? given : 1.0, .least = INFINITY};
}

/* Returns the share of the next update and updates *d; `now` is the law's residual. A share given in the options does
 * not change. */
static double next_share(const TalusSolve *s, Damping *d, double now)
{
    bool fell = now < PROGRESS * d->least;
    d->least = fmin(d->least, now);
    d->idle = fell ? 0 : d->idle + 1;
    if (d->idle >= PATIENCE && !(s->options->outer.share > 0.0) && d->share > LEAST_SHARE) {
        d->share *= LESS;
        d->idle = 0;
    }
    return d->share;
}

/* Runs inner solves with De Saxce's shifts, updated before each. Removes the shifts at the end. */
static TalusStatus run_shift_loop(TalusSolve *s)
{
    TalusStatus status = TALUS_OK;
    Damping damping = init_damping(s);
    double share = damping.share;
    bool cold = !(s->backend->vector.dot(s->op, s->gamma, s->gamma) > 0.0), go = true;
    for (int k = 0; go && status == TALUS_OK; k++) {
        TalusLawSums sums;
        s->backend->law.measure_and_shift(s->op, s->gamma,
                                          k > 0  ? share
                                          : cold ? 0.0
                                                 : 1.0,
                                          &sums, NULL);
        if (!outer_goes_on(s, &sums))
            break;
        share = next_share(s, &damping, law_residual(s, &sums));
        s->info->updates++;
        status =
            run_inner(s, inner_tolerance(s, law_residual(s, &sums)), inner_max_iterations(s), &go);
    }
    s->backend->law.clear_shifts(s->op);
    return status;
}

/* Runs inner solves on prisms, which Coulomb blocks already are; updates the estimates of their normal impulses before
 * each. Switches the infeasibility monitor off. */
static TalusStatus run_tresca_loop(TalusSolve *s)
{
    Damping damping = init_damping(s);
    bool go = true;
    s->infeasibility->off = true;
    for (int k = 0; go; k++) {
        TalusLawSums sums;
        s->backend->law.measure_and_shift(s->op, s->gamma, 0.0, &sums, NULL);
        if (!outer_goes_on(s, &sums))
            return TALUS_OK;
        double share = next_share(s, &damping, law_residual(s, &sums));
        s->backend->law.move_estimates(s->op, NULL, s->gamma, k > 0 ? share : 1.0);
        s->info->updates++;
        TALUS_TRY(
            run_inner(s, inner_tolerance(s, law_residual(s, &sums)), inner_max_iterations(s), &go));
    }
    return TALUS_OK;
}

/* ---- all laws ---- */

/* Runs the algorithm without an outer loop until the recomputed residual is within the tolerance or the algorithm ends
 * without convergence. If the algorithm is stuck under Coulomb's law, plan.shift is set, so that the loop of shifts
 * continues, unless the stage is to end (until_stuck). */
static TalusStatus run_without_loop(TalusSolve *s)
{
    const TalusResidual *r = &s->measured;
    for (bool go = true; go;) {
        s->has_measured = false;
        TALUS_TRY(call_algorithm(s));
        if (s->info->outcome != TALUS_OUTCOME_CONVERGED)
            break;
        talus_outer_measure(s, s->gamma, &s->measured, &s->measured_rounding);
        TALUS_TRY(s->backend->check(s->op->context));
        s->has_measured = true;
        if ((s->options->norm == TALUS_NORM_MAX ? r->max : r->rms) <= s->options->tolerance)
            break;
        talus_outer_tighten(s, 0.5);
        go = talus_solve_within_budget(s);
    }
    s->has_measured = s->has_measured && !s->stuck;
    s->plan.shift = s->stuck && !s->until_stuck;
    s->plan.exact = s->plan.exact && !s->plan.shift;
    return TALUS_OK;
}

/* Unless outer.refresh is -1: solves without friction at fixed blocks, with at most half of the remaining iterations,
 * and sets their bounds from the result. *go is false if this solve was stopped, infeasible (then the problem is, too)
 * or diverged; else the infeasibility monitor is switched off, as the prisms have bounds now. */
static TalusStatus presolve_bounds(TalusSolve *s, bool *go)
{
    int left = s->options->max_iterations - s->info->iterations;
    if (s->options->outer.refresh >= 0) {
        s->backend->vector.zero(s->op, s->op->estimate, (size_t)s->op->blocks);
        TALUS_TRY(run_inner(s, s->options->tolerance, left > 1 ? left / 2 : 1, go));
        if (!*go)
            return TALUS_OK;
        s->backend->law.move_estimates(s->op, NULL, s->gamma, 1.0);
        s->info->updates++;
    }
    s->infeasibility->off = true;
    return TALUS_OK;
}

/* Estimates bounds again from the last solution, if that converged, the budget lasts and more refreshes are requested.
 * True if it did. */
static bool refresh_bounds(TalusSolve *s, int refreshed)
{
    const TalusOuter *outer = &s->options->outer;
    if (refreshed >= outer->refresh || s->info->outcome != TALUS_OUTCOME_CONVERGED ||
        !talus_solve_within_budget(s))
        return false;
    s->backend->law.move_estimates(s->op, NULL, s->gamma, outer->share > 0.0 ? outer->share : 1.0);
    s->info->updates++;
    s->has_measured = false;
    return true;
}

TalusStatus talus_outer_run(TalusSolve *s)
{
    bool go = true;
    if (s->plan.bounds)
        TALUS_TRY(presolve_bounds(s, &go));
    for (int k = 0; go; k++) {
        if (!s->plan.shift && !s->plan.tresca)
            TALUS_TRY(run_without_loop(s));
        if (s->plan.tresca)
            TALUS_TRY(run_tresca_loop(s));
        else if (s->plan.shift)
            TALUS_TRY(run_shift_loop(s));
        go = s->plan.bounds && refresh_bounds(s, k);
    }
    return TALUS_OK;
}

/* lab/experiments/preclik_newton.c - judges what preclik-2009 states about Newton's method by the results of the
 * experiment. Newton is SSN_PLAIN, which has the fewest changes of the paper's method with which it runs; `ssn`,
 * regularised and scaled, is beside it. Three statements are judged by `ssn` instead: that on sweeps before Newton
 * (claim_hybrid) and those on local minima (claim_local_minima), by `ssn` with moving and with frozen bounds. */
#include "preclik.h"

#include <math.h>

/* ---- residual and velocity error ---- */

/* Median of the states' figures; NAN if one is. */
static double find_median(const double value[STATES])
{
    _Static_assert(STATES == 3, "the median is that of three values");
    const double a = value[0], b = value[1], c = value[2];
    return isnan(a + b + c) ? NAN : fmax(fmin(a, b), fmin(fmax(a, b), c));
}

/* Medians over the states of the figures of Coupling. */
static Coupling find_median_coupling(const LabSet *set, const char *solver)
{
    double levels[STATES], changes[STATES], spread[STATES];
    for (int state = 0; state < STATES; state++) {
        const LabResult *r = preclik_find_result(set, BOX, state, solver);
        Coupling c = r ? preclik_find_coupling(r) : (Coupling){NAN, NAN, NAN};
        levels[state] = c.levels;
        changes[state] = c.changes;
        spread[state] = c.spread;
    }
    return (Coupling){find_median(levels), find_median(changes), find_median(spread)};
}

/* Judges the statement that error and residual of PGS and CPG are "closely coupled". */
static void claim_close_coupling(LabSet *set)
{
    const Coupling p = find_median_coupling(set, preclik_compared[PGS]);
    const Coupling c = find_median_coupling(set, preclik_compared[CPG]);
    claims_add(set,
               &(Claim){.statement = "velocity errors of PGS and CPG are closely coupled to their "
                                     "residuals",
                        .rule = "levels correlate by at least 0.95 in both, median of the states; "
                                "in part: in one"},
               isnan(p.levels + c.levels) ? CLAIM_UNJUDGED
                                          : claim_if_whole(fmin(p.levels, c.levels) >= 0.95,
                                                           fmax(p.levels, c.levels) >= 0.95),
               "levels correlate by %.2f and %.2f, changes by %.2f and %.2f", p.levels, c.levels,
               p.changes, c.changes);
}

/* Judges the statement that Newton's error and residual are "only loosely related". */
static void claim_loose_coupling(LabSet *set, int newton, const char *statement)
{
    Coupling n = find_median_coupling(set, preclik_compared[newton]);
    Coupling p = find_median_coupling(set, preclik_compared[PGS]);
    Coupling c = find_median_coupling(set, preclik_compared[CPG]);
    bool loose = n.levels < 0.7, looser = n.levels < fmin(p.levels, c.levels);
    bool wider = n.spread > fmax(p.spread, c.spread);
    claims_add(set,
               &(Claim){.statement = statement,
                        .rule = "levels correlate by less than 0.7 and less than those of PGS and "
                                "CPG, with a wider spread; in part: all but the 0.7"},
               isnan(n.levels + p.levels + c.levels)
                   ? CLAIM_UNJUDGED
                   : claim_if_whole(loose && looser && wider, looser && wider),
               "levels correlate by %.2f (PGS %.2f, CPG %.2f), changes by %.2f (%.2f, "
               "%.2f); spread %.2g (%.2g, %.2g)",
               n.levels, p.levels, c.levels, n.changes, p.changes, c.changes, n.spread, p.spread,
               c.spread);
}

/* Returns the last row of the trace within `seconds`, the first row if there is none. */
static const double *find_row_within(const LabResult *r, double seconds)
{
    int k = 0;
    while (k + 1 < r->trace.count && r->trace.row[k + 1][LAB_SECONDS] <= seconds)
        k++;
    return r->trace.row[k];
}

/* A figure of Newton, PGS and CPG on the box: its medians over the states, and the numbers of states in which all three
 * are known and in which Newton's is more than `times` that of each other. */
typedef struct Rivals {
    double newton, pgs, cpg;
    int states, more;
} Rivals;

/* Returns the figure of a result beside Newton's result in the same state. */
typedef double Figure(const LabResult *r, const LabResult *newton);

static Rivals compare_rivals(const LabSet *set, Figure *get, double times)
{
    static const int compared[] = {PLAIN, PGS, CPG};
    double value[3][STATES];
    Rivals rivals = {0};
    for (int state = 0; state < STATES; state++) {
        const LabResult *newton = preclik_find_result(set, BOX, state, SSN_PLAIN);
        for (int s = 0; s < 3; s++) {
            const LabResult *r =
                preclik_find_result(set, BOX, state, preclik_compared[compared[s]]);
            value[s][state] = newton && r ? get(r, newton) : NAN;
        }
        rivals.states += !isnan(value[0][state] + value[1][state] + value[2][state]);
        rivals.more += value[0][state] > times * fmax(value[1][state], value[2][state]);
    }
    rivals.newton = find_median(value[0]);
    rivals.pgs = find_median(value[1]);
    rivals.cpg = find_median(value[2]);
    return rivals;
}

static double get_error_at_half_time(const LabResult *r, const LabResult *newton)
{
    return find_row_within(r, 0.5 * newton->seconds)[LAB_VELOCITY_ERROR];
}

/* Judges Newton before its "sharp drop-off", which comes with its last iterations: at half of its time. */
static void claim_before_drop(LabSet *set)
{
    const Rivals error = compare_rivals(set, get_error_at_half_time, 10.0);
    claims_add(set,
               &(Claim){.subject = "box",
                        .statement = "until its sharp drop Newton is by far inferior",
                        .rule = "at half of its time its velocity error is more than ten times "
                                "those of PGS and CPG at that time, in all states; in part: in "
                                "some"},
               claim_if_all(error.more, error.states, STATES),
               "in %d of %d states; medians %.0e, PGS %.0e, CPG %.0e", error.more, STATES,
               error.newton, error.pgs, error.cpg);
}

/* ---- speed ---- */

/* True if Newton is worse than PGS and CPG on a model in a state: if it converges, slower than each of them that does,
 * if one does; else because one of them converges or, where none does, because both end with smaller residuals. */
static bool is_inferior(const LabResult *newton, const LabResult *pgs, const LabResult *cpg)
{
    const bool p = pgs->outcome == LAB_CONVERGED, c = cpg->outcome == LAB_CONVERGED;
    if (newton->outcome != LAB_CONVERGED)
        return p || c ||
               preclik_final_residual(newton) >
                   fmax(preclik_final_residual(pgs), preclik_final_residual(cpg));
    return (p || c) && !(p && newton->seconds <= pgs->seconds) &&
           !(c && newton->seconds <= cpg->seconds);
}

/* A method in all states of a model. */
typedef struct States {
    int converged;
    double seconds, end; /* sum of seconds; largest preclik_final_residual */
} States;

static void add_state(States *s, const LabResult *r)
{
    s->converged += r->outcome == LAB_CONVERGED;
    s->seconds += r->seconds;
    s->end = fmax(s->end, preclik_final_residual(r));
}

/* Judges whether Newton is inferior. */
static void claim_newton(LabSet *set)
{
    for (int model = FRICTIONLESS; model <= PYRAMID; model++) {
        int inferior = 0, states = 0;
        States newton = {0}, pgs = {0}, cpg = {0};
        for (int state = 0; state < STATES; state++) {
            const LabResult *n = preclik_find_result(set, model, state, SSN_PLAIN);
            const LabResult *p = preclik_find_result(set, model, state, "pgs");
            const LabResult *c = preclik_find_result(set, model, state, CPG_PAPER);
            if (!n || !p || !c)
                continue;
            states++;
            inferior += is_inferior(n, p, c);
            add_state(&newton, n);
            add_state(&pgs, p);
            add_state(&cpg, c);
        }
        const Claim claim = {.subject = preclik_models[model],
                             .statement = "Newton is inferior",
                             .rule = "in all states it fails where PGS or CPG converges to 1e-9, "
                                     "takes longer than those that converge or, if none does, ends "
                                     "with a larger residual than both; in part: in some"};
        if (states < STATES)
            claims_add(set, &claim, CLAIM_UNJUDGED, "a result is missing");
        else
            claims_add(set, &claim, claim_if_all(inferior, states, STATES),
                       "in %d of %d states; Newton (plain), PGS, CPG converge in %d, %d, %d; "
                       "%.2g, %.2g, %.2g s; worst end %.0e, %.0e, %.0e",
                       inferior, STATES, newton.converged, pgs.converged, cpg.converged,
                       newton.seconds, pgs.seconds, cpg.seconds, newton.end, pgs.end, cpg.end);
    }
}

/* ---- the active set ---- */

/* Returns the last row of the trace in which a contact has changed its state since the row before. */
static const double *find_last_change(const LabResult *r)
{
    int last = 0;
    for (int k = 1; k < r->trace.count; k++)
        if (r->trace.row[k][LAB_STATE_CHANGES] > 0.0)
            last = k;
    return r->trace.row[last];
}

/* Returns the iterations of a result since the last change of a contact's state: those that began with the set of the
 * solution; -1: not known, because the trace does not have a row for each iteration. */
static int count_with_set(const LabResult *r)
{
    if (r->trace.count <= r->iterations)
        return -1;
    return r->iterations - (int)find_last_change(r)[LAB_ITERATION];
}

/* Judges whether one iteration with the right active set ends Newton's method. An iteration that changes the set did not
 * begin with the right one: runs whose last iteration does so say nothing of the statement. */
static void claim_last_iteration(LabSet *set)
{
    int converged = 0, none = 0, one = 0, runs = 0;
    bool unknown = false;
    for (int model = FRICTIONLESS; model <= BOX; model++)
        for (int state = 0; state < STATES; state++) {
            const LabResult *r = preclik_find_result(set, model, state, SSN_PLAIN);
            if (!r)
                continue;
            runs++;
            if (r->outcome != LAB_CONVERGED)
                continue;
            const int with_set = count_with_set(r);
            converged++;
            none += with_set == 0;
            one += with_set == 1;
            unknown = unknown || with_set < 0;
        }
    claims_add(set,
               &(Claim){.statement = "with the correct active set Newton has the solution within a "
                                     "single iteration",
                        .rule = "frictionless and box: wherever it converges, one iteration began "
                                "with the set of the solution; in part: in half of the runs in "
                                "which any did; not judged if none did"},
               runs < 2 * STATES || none == converged || unknown
                   ? CLAIM_UNJUDGED
                   : claim_if_whole(one == converged, 2 * one >= converged - none),
               "of %d runs that converge, one iteration in %d, none in %d: their last iteration "
               "still changes the set",
               converged, one, none);
}

static double get_seconds_to_set(const LabResult *r, const LabResult *newton)
{
    (void)newton;
    return find_last_change(r)[LAB_SECONDS];
}

/* Judges how long the methods take to find the active set, in seconds. */
static void claim_slow_set(LabSet *set)
{
    const Rivals seconds = compare_rivals(set, get_seconds_to_set, 1.0);
    claims_add(set,
               &(Claim){.subject = "box",
                        .statement = "Newton is slow at finding the active set, unlike CPG and PGS",
                        .rule = "its last change of a contact's state is later, in seconds, than "
                                "those of both in all states; in part: in some"},
               claim_if_all(seconds.more, seconds.states, STATES),
               "in %d of %d states; medians %.2g s, PGS %.2g s, CPG %.2g s", seconds.more, STATES,
               seconds.newton, seconds.pgs, seconds.cpg);
}

/* Judges how the changes of states decay. Counts for each solver the states in which the decay that the paper states
 * fits better: linear for Newton, exponential for PGS and CPG. */
static void claim_decay(LabSet *set)
{
    int as_stated[COMPARED] = {0};
    bool missing = false;
    for (int state = 0; state < STATES; state++)
        for (int s = 0; s < COMPARED; s++) {
            const LabResult *r = preclik_find_result(set, BOX, state, preclik_compared[s]);
            if (!r) {
                missing = true;
                continue;
            }
            const Decay d = preclik_find_decay(r);
            const bool newton = s == PLAIN || s == SSN;
            as_stated[s] += newton ? d.linear > d.exponential : d.exponential > d.linear;
        }
    claims_add(set,
               &(Claim){.statement = "changes of the active set fall exponentially in PGS and CPG",
                        .rule = "an exponential fits better than a line in all states; in part: in "
                                "some"},
               missing ? CLAIM_UNJUDGED
                       : claim_if_whole(as_stated[PGS] + as_stated[CPG] == 2 * STATES,
                                        as_stated[PGS] + as_stated[CPG] > 0),
               "in %d and %d of %d states; CPG with our parameters in %d", as_stated[PGS],
               as_stated[CPG], STATES, as_stated[CPG_OURS]);
    claims_add(set,
               &(Claim){.statement = "and only linearly in Newton",
                        .rule = "a line fits better than an exponential in all states; in part: in "
                                "some"},
               missing ? CLAIM_UNJUDGED
                       : claim_if_whole(as_stated[PLAIN] == STATES, as_stated[PLAIN] > 0),
               "in %d of %d states; regularised and scaled in %d", as_stated[PLAIN], STATES,
               as_stated[SSN]);
}

/* ---- variants ---- */

/* Judges the two statements about local minima on the pyramid: that Newton can be caught in one while there is a
 * solution, and that bounds frozen in each iteration ease that. */
static void claim_local_minima(LabSet *set)
{
    int caught = 0, eased = 0, states = 0;
    double frozen = 0.0, moving = 0.0;
    for (int state = 0; state < STATES; state++) {
        const LabResult *m = preclik_find_result(set, PYRAMID, state, "ssn:bounds=moving");
        const LabResult *f = preclik_find_result(set, PYRAMID, state, "ssn");
        const LabResult *solved = preclik_find_result(set, PYRAMID, state, "gs-ssn");
        if (!m || !f || !solved)
            continue;
        states++;
        caught += m->outcome != LAB_CONVERGED && solved->outcome == LAB_CONVERGED;
        eased += preclik_final_residual(f) < preclik_final_residual(m);
        frozen = fmax(frozen, preclik_final_residual(f));
        moving = fmax(moving, preclik_final_residual(m));
    }
    claims_add(set,
               &(Claim){.subject = "pyramid",
                        .statement = "Newton can get caught in local minima",
                        .rule = "with the Jacobian of moving bounds it does not converge in some "
                                "state that another method (gs-ssn) solves"},
               states < STATES ? CLAIM_UNJUDGED : claim_if(caught > 0),
               "in %d of %d states; it ends at %.0e", caught, STATES, moving);
    claims_add(set,
               &(Claim){.subject = "pyramid",
                        .statement = "bounds that are frozen in each iteration ease that",
                        .rule = "a smaller residual at the end than with moving bounds in all "
                                "states; in part: in some"},
               claim_if_all(eased, states, STATES),
               "in %d of %d states; worst end %.0e against %.0e", eased, STATES, frozen, moving);
}

/* Judges the cost of the complementarity problems in Pang's method, which semismooth methods avoid. */
static void claim_pang(LabSet *set)
{
    double ratio[STATES];
    int dearer = 0;
    for (int state = 0; state < STATES; state++) {
        const LabResult *pang = preclik_find_result(set, FRICTIONLESS, state, "newton-pang");
        const LabResult *plain = preclik_find_result(set, FRICTIONLESS, state, SSN_PLAIN);
        ratio[state] = pang && plain
                           ? pang->seconds / pang->iterations / (plain->seconds / plain->iterations)
                           : NAN;
        dearer += ratio[state] > 2.0;
    }
    claims_add(set,
               &(Claim){.subject = "frictionless",
                        .statement = "semismooth Newton avoids expensive complementarity problems",
                        .rule = "an iteration of Pang's method takes more than twice the seconds "
                                "in all states; in part: in some"},
               isnan(find_median(ratio)) ? CLAIM_UNJUDGED
                                         : claim_if_whole(dearer == STATES, dearer > 0),
               "%.0f times, median of the states", find_median(ratio));
}

/* Judges whether sweeps before Newton (gs-ssn) help. Compares factorisations in each state, but times as sums over the
 * states, because other programs may disturb times. */
static void claim_hybrid(LabSet *set)
{
    for (int model = FRICTIONLESS; model <= PYRAMID; model++) {
        int fewer = 0, lost = 0;
        double newton = 0.0, hybrid = 0.0;
        for (int state = 0; state < STATES; state++) {
            const LabResult *n = preclik_find_result(set, model, state, "ssn");
            const LabResult *h = preclik_find_result(set, model, state, "gs-ssn");
            if (!n || !h) {
                lost = -1;
                break;
            }
            bool solved = h->outcome == LAB_CONVERGED, alone = n->outcome != LAB_CONVERGED;
            lost += alone;
            fewer += solved && (alone || h->factorisations < n->factorisations);
            newton += n->seconds;
            hybrid += solved ? h->seconds : INFINITY;
        }
        claims_add(
            set,
            &(Claim){.subject = preclik_models[model],
                     .statement = "sweeps before Newton are of advantage",
                     .rule = "fewer factorisations in all states and less time over all; in part: "
                             "one of these, or some states"},
            lost < 0 ? CLAIM_UNJUDGED
                     : claim_if_whole(fewer == STATES && hybrid < newton, fewer || hybrid < newton),
            "fewer factorisations in %d of %d states, %.1f times as fast over all; "
            "Newton alone fails on %d",
            fewer, STATES, newton / hybrid, lost);
    }
}

void preclik_add_newton_claims(LabSet *set)
{
    claim_close_coupling(set);
    claim_loose_coupling(set, PLAIN, "Newton's residual says little about its velocity error");
    claim_loose_coupling(set, SSN, "the same of Newton regularised and scaled");
    claim_newton(set);
    claim_before_drop(set);
    claim_slow_set(set);
    claim_last_iteration(set);
    claim_decay(set);
    claim_hybrid(set);
    claim_local_minima(set);
    claim_pang(set);
}

/* lab/experiments/preclik_claims.c - judges the statements of preclik-2009 by the results of the experiment. */
#include "correlation.h"
#include "preclik.h"

#include <math.h>

/* ---- evaluation of results ---- */

const char *const preclik_models[MODELS] = {
    "frictionless", "box", "pyramid", "circular cone", "convex pyramid", "convex cone"};

const LabResult *preclik_find_result(const LabSet *set, int model, int state, const char *solver)
{
    int problem = preclik_case_index(model, state);
    return problem < set->problem_count ? experiment_find_result(set, problem, solver) : NULL;
}

const double preclik_marks[] = {1e-2, 1e-4, 1e-6}; /* relative to the residual of zero impulses */

double preclik_count_iterations(const LabResult *r, double mark)
{
    const double *row =
        r ? experiment_find_row_below(r, LAB_NATURAL_MAX, mark * r->trace.row[0][LAB_NATURAL_MAX])
          : NULL;
    if (!r)
        return NAN;
    return row ? fmax(row[LAB_ITERATION], 1.0) : INFINITY;
}

int preclik_count_sweeps(const LabResult *r)
{
    return r->iterations - r->factorisations;
}

double preclik_final_residual(const LabResult *r)
{
    return r->trace.row[r->trace.count - 1][LAB_NATURAL_MAX] / r->trace.row[0][LAB_NATURAL_MAX];
}

const char *const preclik_compared[] = {"pgs", "cpg", "ssn", SSN_PLAIN};

/* True if row k of the trace is after iteration 1, has an error above 0, and a residual above 1e-6 of that of row 0. */
static bool is_in_fig_3(const LabResult *r, int k)
{
    static const double enough = 1e-6;
    const double *first = r->trace.row[0], *row = r->trace.row[k];
    return row[LAB_ITERATION] > 1.0 && row[LAB_VELOCITY_ERROR] > 0.0 &&
           row[LAB_NATURAL_MAX] > enough * first[LAB_NATURAL_MAX];
}

Coupling preclik_find_coupling(const LabResult *r)
{
    Correlation levels = {0}, changes = {0};
    double min = INFINITY, max = 0.0, before[2] = {NAN, NAN};
    for (int k = 0; k < r->trace.count; k++) {
        if (!is_in_fig_3(r, k))
            continue;
        double residual = r->trace.row[k][LAB_NATURAL_MAX];
        double error = r->trace.row[k][LAB_VELOCITY_ERROR];
        double x = log10(residual), y = log10(error);
        correlation_add(&levels, x, y);
        if (!isnan(before[0]))
            correlation_add(&changes, x - before[0], y - before[1]);
        before[0] = x;
        before[1] = y;
        min = fmin(min, error / residual);
        max = fmax(max, error / residual);
    }
    return (Coupling){correlation_get(&levels), correlation_get(&changes), max / min};
}

/* Up to iteration 50 the trace has a row for each iteration, so that a row's changes are those of one iteration. */
Decay preclik_find_decay(const LabResult *r)
{
    enum { FIRST = 3, LAST = 50 };
    Correlation logs = {0}, plain = {0};
    for (int k = 1; k < r->trace.count; k++) {
        const double *row = r->trace.row[k];
        if (row[LAB_ITERATION] < FIRST || row[LAB_ITERATION] > LAST)
            continue;
        correlation_add(&plain, row[LAB_ITERATION], row[LAB_STATE_CHANGES]);
        correlation_add(&logs, row[LAB_ITERATION], log(row[LAB_STATE_CHANGES] + 0.5));
    }
    double e = correlation_get(&logs), l = correlation_get(&plain);
    return (Decay){e * e, l * l};
}

/* ---- ratios of iterations ---- */

/* Ratios of iterations, or other figures. A ratio is infinite or 0 if one of the two solvers never reaches the mark,
 * and NAN if neither does or a result is missing; NAN is not counted. */
typedef struct SortedRatios {
    double value[STATES * PRECLIK_MARKS];
    int count;     /* of values, finite and in ascending order */
    int unreached; /* number of ratios that are infinite or 0 */
} SortedRatios;

/* Inserts a ratio in order, or counts it as unreached; ignores NAN. */
static void add_ratio(SortedRatios *r, double ratio)
{
    if (isnan(ratio))
        return;
    if (!isfinite(ratio) || ratio == 0.0) {
        r->unreached++;
        return;
    }
    int place = r->count++;
    for (; place > 0 && r->value[place - 1] > ratio; place--)
        r->value[place] = r->value[place - 1];
    r->value[place] = ratio;
}

static double get_min(const SortedRatios *r)
{
    return r->count ? r->value[0] : NAN;
}

/* Returns the median; if the count is even, the upper one of the two middle values. */
static double get_median(const SortedRatios *r)
{
    return r->count ? r->value[r->count / 2] : NAN;
}

static double get_max(const SortedRatios *r)
{
    return r->count ? r->value[r->count - 1] : NAN;
}

/* Returns the iterations of solver a on model_a over those of solver b on model_b, for all states and marks. */
static SortedRatios compare_iterations(const LabSet *set, int model_a, const char *a, int model_b,
                                       const char *b)
{
    SortedRatios ratios = {0};
    for (int state = 0; state < STATES; state++)
        for (int m = 0; m < PRECLIK_MARKS; m++)
            add_ratio(&ratios,
                      preclik_count_iterations(preclik_find_result(set, model_a, state, a),
                                               preclik_marks[m]) /
                          preclik_count_iterations(preclik_find_result(set, model_b, state, b),
                                                   preclik_marks[m]));
    return ratios;
}

/* ---- the paper's statements ---- */

/* Adds a statement about ratios: it holds if all are in [low, high] and none is unreached; else in part if the median
 * is in [low, 2 high]. */
static void claim_ratio(LabSet *set, const char *statement, const SortedRatios *r, double low,
                        double high)
{
    bool all = r->count && !r->unreached && get_min(r) >= low && get_max(r) <= high;
    char lost[LAB_TEXT] = "", rule[LAB_TEXT];
    snprintf(rule, sizeof rule,
             "%g to %g times at all marks and states; in part: the median is %g to %g times", low,
             high, low, 2.0 * high);
    if (r->unreached)
        snprintf(lost, sizeof lost, "; %d of %d pairs lack one that gets there", r->unreached,
                 r->unreached + r->count);
    claims_add(set, &(Claim){.statement = statement, .rule = rule},
               r->count + r->unreached == 0
                   ? CLAIM_UNJUDGED
                   : claim_if_whole(all, get_median(r) >= low && get_median(r) <= 2.0 * high),
               "%.1f times, from %.1f to %.1f%s", get_median(r), get_min(r), get_max(r), lost);
}

/* Judges the statements about how many more iterations one solver or model needs than another. */
static void claim_speed(LabSet *set)
{
    SortedRatios r = compare_iterations(set, FRICTIONLESS, "pgs", FRICTIONLESS, CPG_PAPER);
    claim_ratio(set, "frictionless: PGS needs twice the iterations of CPG", &r, 1.5, 3.0);
    r = compare_iterations(set, BOX, "pgs", BOX, CPG_PAPER);
    claim_ratio(set, "box: PGS needs twice the iterations of CPG", &r, 1.5, 3.0);
    r = compare_iterations(set, BOX, "pgs", BOX, "cpg");
    claim_ratio(set, "the same with CPG in our metric, one product", &r, 1.5, 3.0);
    r = compare_iterations(set, BOX, CPG_PAPER, FRICTIONLESS, CPG_PAPER);
    claim_ratio(set, "CPG needs three times as many on the box as without friction", &r, 2.0, 4.5);
    r = compare_iterations(set, BOX, "pgs", FRICTIONLESS, "pgs");
    claim_ratio(set, "PGS likewise", &r, 2.0, 4.5);
    r = compare_iterations(set, PYRAMID, "pgs", CONE, "gs-disc");
    claim_ratio(set, "PGS on the pyramid takes slightly more than gs-disc on the circular cone", &r,
                1.0, 1.5);
}

/* Returns the products per iteration of CPG_PAPER in the first state. */
static double products_per_iteration(const LabSet *set, int model)
{
    const LabResult *r = preclik_find_result(set, model, 0, CPG_PAPER);
    return r ? (double)r->products / r->iterations : NAN;
}

/* Judges whether CPG's advantage over PGS is less than half as large on the pyramid as on the box. */
static void claim_pyramid(LabSet *set)
{
    SortedRatios box = compare_iterations(set, BOX, "pgs", BOX, CPG_PAPER);
    SortedRatios pyramid = compare_iterations(set, PYRAMID, "pgs", PYRAMID, CPG_PAPER);
    claims_add(
        set,
        &(Claim){.statement = "strong friction spoils CPG on the pyramid",
                 .rule = "its advantage over PGS there is less than half of that on the box"},
        pyramid.count && box.count ? claim_if(get_median(&pyramid) < 0.5 * get_median(&box))
                                   : CLAIM_UNJUDGED,
        "PGS needs %.1f times CPG's iterations there, %.1f times on the box; %.1f and "
        "%.1f products each",
        get_median(&pyramid), get_median(&box), products_per_iteration(set, PYRAMID),
        products_per_iteration(set, BOX));
}

/* Judges the paper's statement about errors "in the beginning", taken as the first three iterations. */
static void claim_beginning(LabSet *set)
{
    enum { BEGINNING = 3 };
    int faster = 0, states = 0;
    for (int state = 0; state < STATES; state++) {
        const LabResult *pgs = preclik_find_result(set, BOX, state, "pgs");
        const LabResult *cpg = preclik_find_result(set, BOX, state, CPG_PAPER);
        if (!pgs || !cpg)
            continue;
        states++;
        faster += experiment_find_row_at(pgs, BEGINNING)[LAB_VELOCITY_ERROR] <
                  experiment_find_row_at(cpg, BEGINNING)[LAB_VELOCITY_ERROR];
    }
    claims_add(set,
               &(Claim){.statement = "at first PGS's velocity error falls faster than CPG's",
                        .rule = "smaller after three iterations in all states; in part: in some"},
               states ? claim_if_whole(faster == states, faster > 0) : CLAIM_UNJUDGED,
               "after %d iterations in %d of %d states", BEGINNING, faster, states);
}

/* Medians over the states of the figures of Coupling. */
static Coupling find_median_coupling(const LabSet *set, const char *solver)
{
    SortedRatios levels = {0}, changes = {0}, spread = {0};
    for (int state = 0; state < STATES; state++) {
        const LabResult *r = preclik_find_result(set, BOX, state, solver);
        Coupling c = r ? preclik_find_coupling(r) : (Coupling){NAN, NAN, NAN};
        add_ratio(&levels, c.levels);
        add_ratio(&changes, c.changes);
        add_ratio(&spread, c.spread);
    }
    return (Coupling){get_median(&levels), get_median(&changes), get_median(&spread)};
}

/* Judges the statement that Newton's error and residual are "only loosely related". */
static void claim_loose_coupling(LabSet *set, int newton, const char *statement)
{
    Coupling n = find_median_coupling(set, preclik_compared[newton]),
             p = find_median_coupling(set, "pgs");
    Coupling c = find_median_coupling(set, "cpg");
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
               "%.2f); spread %.0f (%.0f, %.0f)",
               n.levels, p.levels, c.levels, n.changes, p.changes, c.changes, n.spread, p.spread,
               c.spread);
}

/* Returns the seconds over all states; INFINITY unless the solver converged in each, NAN if a state has no result. */
static double sum_seconds(const LabSet *set, int model, const char *solver)
{
    double seconds = 0.0;
    for (int state = 0; state < STATES; state++) {
        const LabResult *r = preclik_find_result(set, model, state, solver);
        seconds += !r ? NAN : r->outcome == LAB_CONVERGED ? r->seconds : INFINITY;
    }
    return seconds;
}

/* Largest preclik_final_residual over all states; NAN if a state has no result. */
static double find_worst_residual(const LabSet *set, int model, const char *solver)
{
    double worst = 0.0;
    for (int state = 0; state < STATES; state++) {
        const LabResult *r = preclik_find_result(set, model, state, solver);
        if (!r)
            return NAN;
        worst = fmax(worst, preclik_final_residual(r));
    }
    return worst;
}

/* Judges whether Newton (ssn) is inferior. Without friction and on the box by times: in part within a factor of two,
 * because other programs may disturb the times. On the pyramid by final residuals, unless one is missing. */
static void claim_newton(LabSet *set)
{
    for (int model = FRICTIONLESS; model <= BOX; model++) {
        double ssn = sum_seconds(set, model, "ssn"), pgs = sum_seconds(set, model, "pgs");
        double cpg = sum_seconds(set, model, "cpg"), best = fmin(pgs, cpg);
        claims_add(
            set,
            &(Claim){.subject = preclik_models[model],
                     .statement = "Newton is inferior",
                     .rule = "more than twice the seconds of the better of PGS and CPG; in part: "
                             "more than half of them (inf: not converged in all states)"},
            isnan(ssn + pgs + cpg) || (isinf(ssn) && isinf(best))
                ? CLAIM_UNJUDGED
                : claim_if_whole(ssn > 2.0 * best, !(ssn < 0.5 * best)),
            "seconds to 1e-9, all states: Newton %.2f, PGS %.2f, CPG %.2f; with the "
            "least of our own it ends at %.0e",
            ssn, pgs, cpg, find_worst_residual(set, model, SSN_PLAIN));
    }
    double ssn = find_worst_residual(set, PYRAMID, "ssn"),
           pgs = find_worst_residual(set, PYRAMID, "pgs");
    const Claim claim = {.subject = "pyramid",
                         .statement = "Newton is inferior",
                         .rule = "its worst residual at the end, of all states, is above PGS's"};
    if (isnan(ssn) || isnan(pgs))
        claims_add(set, &claim, CLAIM_UNJUDGED, "a result is missing");
    else
        claims_add(set, &claim, claim_if(ssn > pgs),
                   "worst end: Newton %.0e, PGS %.0e, which has 25 times as many iterations", ssn,
                   pgs);
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

/* Judges how the changes of states decay. Counts for each solver the states in which the decay that the paper states
 * fits better: linear for Newton, exponential for PGS and CPG. */
static void claim_decay(LabSet *set)
{
    int as_stated[COMPARED] = {0}, states = 0;
    bool missing = false;
    for (int state = 0; state < STATES; state++, states++)
        for (int s = 0; s < COMPARED; s++) {
            const LabResult *r = preclik_find_result(set, BOX, state, preclik_compared[s]);
            if (!r) {
                missing = true;
                continue;
            }
            Decay d = preclik_find_decay(r);
            as_stated[s] += s >= SSN ? d.linear > d.exponential : d.exponential > d.linear;
        }
    claims_add(set,
               &(Claim){.statement = "changes of the active set fall exponentially in PGS and CPG",
                        .rule = "an exponential fits better than a line in all states; in part: in "
                                "some"},
               missing ? CLAIM_UNJUDGED
                       : claim_if_whole(as_stated[PGS] + as_stated[CPG] == 2 * states,
                                        as_stated[PGS] + as_stated[CPG] > 0),
               "in %d and %d of %d states", as_stated[PGS], as_stated[CPG], states);
    claims_add(set,
               &(Claim){.statement = "and only linearly in Newton",
                        .rule = "a line fits better than an exponential in all states; in part: in "
                                "some"},
               missing ? CLAIM_UNJUDGED
                       : claim_if_whole(as_stated[SSN] == states, as_stated[SSN] > 0),
               "in %d of %d states; with the least of our own in %d", as_stated[SSN], states,
               as_stated[PLAIN]);
}

/* Writes "pgs 1e-03, ...": the final residuals of the solvers on a case, by preclik_final_residual; returns true if one
 * of them has converged. `text` must be "". */
static bool list_final_residuals(const LabSet *set, int problem, const char *const *solvers,
                                 int count, char text[LAB_TEXT])
{
    bool solved = false;
    size_t used = 0;
    for (int s = 0; s < count; s++) {
        const LabResult *r = experiment_find_result(set, problem, solvers[s]);
        if (!r)
            continue;
        solved = solved || r->outcome == LAB_CONVERGED;
        used += (size_t)snprintf(text + used, LAB_TEXT - used, "%s%.7s %.0e", used ? ", " : "",
                                 solvers[s], preclik_final_residual(r));
    }
    return solved;
}

/* Judges whether all solvers fail on the cases with mu 3. */
static void claim_failure_at_strong_friction(LabSet *set)
{
    static const char *const on_pyramid[] = {"pgs", CPG_PAPER, "ssn"}, *const on_cone = "gs-disc";
    char pyramid[LAB_TEXT] = "", cone[LAB_TEXT] = "";
    if (set->problem_count <= STRONG_CONE)
        return;
    bool solved =
        list_final_residuals(set, STRONG_PYRAMID, on_pyramid, LAB_COUNT(on_pyramid), pyramid);
    solved = list_final_residuals(set, STRONG_CONE, &on_cone, 1, cone) || solved;
    claims_add(set,
               &(Claim){.statement = "all solvers can fail on cones if friction is strong enough",
                        .rule = "at mu 3 no solver of pyramid or cone converges"},
               pyramid[0] && cone[0] ? claim_if(!solved) : CLAIM_UNJUDGED,
               "at mu 3 they end at %s, %s", pyramid, cone);
}

/* Judges the statements about the convex cone and about enumeration. */
static void claim_convex(LabSet *set)
{
    SortedRatios r = compare_iterations(set, CONVEX_CONE, "lbfgs-fb", BOX, "lbfgs-fb");
    claim_ratio(set, "solvers of the convex cone should converge like those of the box", &r, 0.0,
                2.0);
    r = compare_iterations(set, PYRAMID, "bgs-enum", PYRAMID, "pgs");
    claim_ratio(set, "spheres: enumerating each contact's cases is the same as PGS", &r, 1.0, 1.0);
}

void preclik_add_claims(LabSet *set)
{
    claim_speed(set);
    claim_pyramid(set);
    claim_beginning(set);
    claim_loose_coupling(set, SSN, "Newton's residual says little about its velocity error");
    claim_loose_coupling(set, PLAIN, "the same of Newton with the least of our own");
    claim_newton(set);
    claim_hybrid(set);
    claim_decay(set);
    claim_failure_at_strong_friction(set);
    claim_convex(set);
}

/* lab/experiments/preclik_claims.c - judges the statements of preclik-2009 by the results of the experiment; those about
 * Newton's method are in preclik_newton.c. Where both are there, solvers have the paper's parameters; Newton is SSN_PLAIN.
 * That all solvers fail under strong friction is judged by all that ran. */
#include "correlation.h"
#include "preclik.h"

#include <math.h>
#include <string.h>

/* ---- evaluation of results ---- */

const char *const preclik_models[MODELS] = {
    "frictionless", "box", "pyramid", "circular cone", "convex pyramid", "convex cone"};

const LabResult *preclik_find_result(const LabSet *set, int model, int state, const char *solver)
{
    int problem = preclik_case_index(model, state);
    return problem < set->problem_count ? experiment_find_result(set, problem, solver) : NULL;
}

const double preclik_marks[] = {1e-2, 1e-4, 1e-6}; /* relative to the residual of zero impulses */

/* Returns the entry in `column`, at least 1, where the residual first is at most `mark` times that of zero impulses;
 * INFINITY: never; NAN: r is NULL. */
static double count_until(const LabResult *r, LabColumn column, double mark)
{
    if (!r)
        return NAN;
    const double *row =
        experiment_find_row_below(r, LAB_NATURAL_MAX, mark * r->trace.row[0][LAB_NATURAL_MAX]);
    return row ? fmax(row[column], 1.0) : INFINITY;
}

double preclik_count_iterations(const LabResult *r, double mark)
{
    return count_until(r, LAB_ITERATION, mark);
}

int preclik_count_sweeps(const LabResult *r)
{
    return r->iterations - r->factorisations;
}

double preclik_final_residual(const LabResult *r)
{
    return r->trace.row[r->trace.count - 1][LAB_NATURAL_MAX] / r->trace.row[0][LAB_NATURAL_MAX];
}

const char *const preclik_compared[] = {"pgs", CPG_PAPER, SSN_PLAIN, "cpg", "ssn"};

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

/* Ratios of iterations, or other figures, of pairs of solvers. A ratio is infinite if only the second of the two reaches
 * the mark, 0 if only the first does. */
typedef struct SortedRatios {
    double value[STATES * PRECLIK_MARKS];
    int count;     /* of values, in ascending order */
    int unreached; /* number of values that are infinite or 0 */
    int neither;   /* number of pairs without a ratio because neither solver reaches the mark */
    int missing;   /* number of pairs without a ratio because a result is missing */
} SortedRatios;

/* Inserts a / b in order. INFINITY: never reached; NAN: missing. */
static void add_ratio(SortedRatios *r, double a, double b)
{
    const double ratio = a / b;
    if (isinf(a) && isinf(b)) {
        r->neither++;
        return;
    }
    if (isnan(ratio)) {
        r->missing++;
        return;
    }
    r->unreached += isinf(ratio) || ratio == 0.0;
    int place = r->count++;
    for (; place > 0 && r->value[place - 1] > ratio; place--)
        r->value[place] = r->value[place - 1];
    r->value[place] = ratio;
}

/* True if there are ratios and no result is missing. */
static bool is_complete(const SortedRatios *r)
{
    return r->count > 0 && r->missing == 0;
}

/* Writes how many pairs lack a solver that reaches the mark; "" if none does. */
static void describe_pairs(const SortedRatios *r, char text[LAB_TEXT])
{
    const int pairs = r->count + r->neither;
    size_t used = 0;
    text[0] = '\0';
    if (r->unreached)
        used = (size_t)snprintf(text, LAB_TEXT, "; %d of %d pairs lack one that gets there",
                                r->unreached, pairs);
    if (r->neither)
        snprintf(text + used, LAB_TEXT - used, "; %d of %d judged, neither gets there in the rest",
                 r->count, pairs);
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

/* Returns the iterations (or another column) of solver a on model_a over those of solver b on model_b, for all states
 * and marks. */
static SortedRatios compare(const LabSet *set, LabColumn column, int model_a, const char *a,
                            int model_b, const char *b)
{
    SortedRatios ratios = {0};
    for (int state = 0; state < STATES; state++)
        for (int m = 0; m < PRECLIK_MARKS; m++)
            add_ratio(
                &ratios,
                count_until(preclik_find_result(set, model_a, state, a), column, preclik_marks[m]),
                count_until(preclik_find_result(set, model_b, state, b), column, preclik_marks[m]));
    return ratios;
}

static SortedRatios compare_iterations(const LabSet *set, int model_a, const char *a, int model_b,
                                       const char *b)
{
    return compare(set, LAB_ITERATION, model_a, a, model_b, b);
}

static SortedRatios compare_products(const LabSet *set, int model, const char *a, const char *b)
{
    return compare(set, LAB_PRODUCTS, model, a, model, b);
}

/* ---- the paper's statements ---- */

/* Adds a statement about ratios: it holds if all are in [low, high] and none is unreached; else in part if the median
 * is in [low, 2 high]. */
static void claim_ratio(LabSet *set, const char *statement, const SortedRatios *r, double low,
                        double high)
{
    const bool all = is_complete(r) && !r->unreached && get_min(r) >= low && get_max(r) <= high;
    char pairs[LAB_TEXT], rule[LAB_TEXT];
    snprintf(rule, sizeof rule,
             "%g to %g times at all marks and states; in part: the median is %g to %g times", low,
             high, low, 2.0 * high);
    describe_pairs(r, pairs);
    claims_add(set, &(Claim){.statement = statement, .rule = rule},
               !is_complete(r)
                   ? CLAIM_UNJUDGED
                   : claim_if_whole(all, get_median(r) >= low && get_median(r) <= 2.0 * high),
               "%.1f times, from %.1f to %.1f%s", get_median(r), get_min(r), get_max(r), pairs);
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

/* Judges CPG on the pyramid by the case with mu 3. The paper calls mu 0.8 strong already (caption of Fig. 2), so that
 * the statement holds as a whole only if it does there, too. */
static void claim_pyramid(LabSet *set)
{
    const Claim claim = {.statement = "strong friction spoils CPG on the pyramid",
                         .rule = "at mu 3 it does not converge and ends with a larger residual "
                                 "than PGS, which took no more products, and at mu 0.8 its "
                                 "advantage is less than half of that on the box; in part: at mu "
                                 "3 alone"};
    const LabResult *cpg = experiment_find_result(set, STRONG_PYRAMID, CPG_PAPER);
    const LabResult *pgs = experiment_find_result(set, STRONG_PYRAMID, "pgs");
    if (!cpg || !pgs) {
        claims_add(set, &claim, CLAIM_UNJUDGED, "a result is missing");
        return;
    }
    const SortedRatios box = compare_iterations(set, BOX, "pgs", BOX, CPG_PAPER);
    const SortedRatios pyramid = compare_iterations(set, PYRAMID, "pgs", PYRAMID, CPG_PAPER);
    const double c = preclik_final_residual(cpg), p = preclik_final_residual(pgs);
    const bool at_3 = cpg->outcome != LAB_CONVERGED && c > p && pgs->products <= cpg->products;
    const bool at_08 = get_median(&pyramid) < 0.5 * get_median(&box);
    claims_add(set, &claim,
               isnan(c) || isnan(p) || !is_complete(&pyramid) || !is_complete(&box)
                   ? CLAIM_UNJUDGED
                   : claim_if_whole(at_3 && at_08, at_3),
               "at mu 3 CPG ends at %.1e after %d products, PGS at %.1e after %d; at mu 0.8 PGS "
               "needs %.1f times CPG's iterations, on the box %.1f times",
               c, cpg->products, p, pgs->products, get_median(&pyramid), get_median(&box));
}

/* Judges what the paper says of residual or velocity error "in the beginning", taken as the first three iterations. */
static void claim_beginning(LabSet *set, const char *statement, LabColumn column)
{
    enum { BEGINNING = 3 };
    int faster = 0, states = 0;
    for (int state = 0; state < STATES; state++) {
        const LabResult *pgs = preclik_find_result(set, BOX, state, "pgs");
        const LabResult *cpg = preclik_find_result(set, BOX, state, CPG_PAPER);
        if (!pgs || !cpg)
            continue;
        const double p = experiment_find_row_at(pgs, BEGINNING)[column];
        const double c = experiment_find_row_at(cpg, BEGINNING)[column];
        states += !isnan(p) && !isnan(c);
        faster += p < c;
    }
    claims_add(set,
               &(Claim){.subject = "box",
                        .statement = statement,
                        .rule = "smaller after three iterations in all states; in part: in some"},
               claim_if_all(faster, states, STATES), "after %d iterations in %d of %d states",
               BEGINNING, faster, STATES);
}

/* Judges the cost of CPG's iterations, and whether it has an advantage in spite of it. A sweep of PGS costs a product. */
static void claim_products(LabSet *set)
{
    for (int model = FRICTIONLESS; model <= BOX; model++) {
        SortedRatios each = {0};
        for (int state = 0; state < STATES; state++) {
            const LabResult *r = preclik_find_result(set, model, state, CPG_PAPER);
            add_ratio(&each, r ? r->products : NAN, r ? r->iterations : NAN);
        }
        char statement[LAB_TEXT], pairs[LAB_TEXT];
        snprintf(statement, sizeof statement, "%s: CPG's iterations are roughly twice as expensive",
                 preclik_models[model]);
        claim_ratio(set, statement, &each, 1.5, 2.5);
        SortedRatios all = compare_products(set, model, "pgs", CPG_PAPER);
        describe_pairs(&all, pairs);
        claims_add(
            set,
            &(Claim){.subject = preclik_models[model],
                     .statement = "so CPG cannot benefit from its lower number of iterations",
                     .rule = "PGS reaches all marks in all states with no more products than CPG "
                             "(a sweep counts as one); in part: the median"},
            !is_complete(&all)
                ? CLAIM_UNJUDGED
                : claim_if_whole(!all.neither && get_max(&all) <= 1.0, get_median(&all) <= 1.0),
            "PGS has %.1f times CPG's products, from %.1f to %.1f%s", get_median(&all),
            get_min(&all), get_max(&all), pairs);
        SortedRatios one = compare_products(set, model, CPG_PAPER, CPG_ONE);
        describe_pairs(&one, pairs);
        claims_add(set,
                   &(Claim){.subject = preclik_models[model],
                            .statement =
                                "CPG without the second product would perform considerably better",
                            .rule =
                                "fewer products (cpg:metric=none) to all marks in all states, the "
                                "median by a third; in part: the median is smaller"},
                   !is_complete(&one) ? CLAIM_UNJUDGED
                                      : claim_if_whole(one.unreached == 0 && get_min(&one) > 1.0 &&
                                                           get_median(&one) >= 1.5,
                                                       get_median(&one) > 1.0),
                   "with the second product %.1f times as many, from %.1f to %.1f%s",
                   get_median(&one), get_min(&one), get_max(&one), pairs);
    }
}

/* Judges whether a solver needs more on the pyramid than without friction and on the box. A mark that it reaches on none
 * of the models is not counted. */
static void claim_quadratic(LabSet *set)
{
    static const char *const solvers[] = {"pgs", CPG_PAPER, SSN_PLAIN};
    int pairs = 0, easier = 0;
    bool missing = false;
    for (int s = 0; s < LAB_COUNT(solvers); s++)
        for (int model = FRICTIONLESS; model <= BOX; model++)
            for (int state = 0; state < STATES; state++)
                for (int m = 0; m < PRECLIK_MARKS; m++) {
                    double quadratic = preclik_count_iterations(
                        preclik_find_result(set, model, state, solvers[s]), preclik_marks[m]);
                    double cone = preclik_count_iterations(
                        preclik_find_result(set, PYRAMID, state, solvers[s]), preclik_marks[m]);
                    missing = missing || isnan(quadratic) || isnan(cone);
                    if (isinf(quadratic) && isinf(cone))
                        continue;
                    pairs++;
                    easier += quadratic < cone;
                }
    claims_add(set,
               &(Claim){.statement = "all solvers solve frictionless and box models more "
                                     "efficiently than the pyramid",
                        .rule = "PGS, CPG and Newton (plain) need fewer iterations to all marks "
                                "in all states; in part: to half of them"},
               missing || pairs == 0 ? CLAIM_UNJUDGED
                                     : claim_if_whole(easier == pairs, 2 * easier >= pairs),
               "in %d of %d pairs", easier, pairs);
}

/* Judges whether Gauss-Seidel methods solve every model. */
static void claim_range(LabSet *set)
{
    int reached[2] = {0}, states = 0;
    bool missing = false;
    for (int model = FRICTIONLESS; model <= CONE; model++)
        for (int state = 0; state < STATES; state++, states++) {
            const LabResult *r =
                preclik_find_result(set, model, state, model == CONE ? "gs-disc" : "pgs");
            missing = missing || !r;
            for (int m = 0; m < 2; m++)
                reached[m] += preclik_count_iterations(r, preclik_marks[m]) < INFINITY;
        }
    claims_add(set,
               &(Claim){.statement = "Gauss-Seidel solvers can solve the whole range of models",
                        .rule = "PGS without friction, on box and pyramid, gs-disc on the circular "
                                "cone: to 1e-4 within 5,000 iterations in all states; in part: to "
                                "1e-2"},
               missing ? CLAIM_UNJUDGED
                       : claim_if_whole(reached[1] == states, reached[0] == states),
               "to 1e-2 in %d, to 1e-4 in %d of %d", reached[0], reached[1], states);
}

/* Judges the price of the circular cone in time, by iteration. */
static void claim_disc_cost(LabSet *set)
{
    SortedRatios r = {0};
    int dearer = 0;
    for (int state = 0; state < STATES; state++) {
        const LabResult *disc = preclik_find_result(set, CONE, state, "gs-disc");
        const LabResult *pgs = preclik_find_result(set, PYRAMID, state, "pgs");
        const double d = disc ? disc->seconds / disc->iterations : NAN;
        const double p = pgs ? pgs->seconds / pgs->iterations : NAN;
        add_ratio(&r, d, p);
        dearer += d > p;
    }
    claims_add(set,
               &(Claim){.statement = "the subproblems of gs-disc on the circular cone are more "
                                     "expensive than those of PGS on the pyramid",
                        .rule = "more seconds per iteration in all states; in part: in some"},
               r.count - r.unreached < STATES ? CLAIM_UNJUDGED
                                              : claim_if_whole(dearer == STATES, dearer > 0),
               "%.1f times the seconds, from %.1f to %.1f", get_median(&r), get_min(&r),
               get_max(&r));
}

/* Returns the work of a solver until a mark, as count_until does. */
static double find_work(const LabSet *set, int model, int state, const char *solver, int mark)
{
    return count_until(preclik_find_result(set, model, state, solver), LAB_PRODUCTS,
                       preclik_marks[mark]);
}

/* True if a solver that has a result needs more than `work` to a mark: it gets there with more, or has not got there with
 * at least as much. */
static bool needs_more(const LabSet *set, int model, int state, const char *solver, int mark,
                       double work)
{
    const LabResult *r = preclik_find_result(set, model, state, solver);
    const double own = find_work(set, model, state, solver, mark);
    return isinf(own) ? r->products >= work : own > work;
}

/* Marks at which multigrid is compared with PGS. */
typedef struct Multigrid {
    int lost, judged;
    int unjudged;       /* marks of PGS that multigrid does not reach within its smaller work */
    int paper, ours;    /* marks reached with the paper's parameters and with ours */
    bool is_incomplete; /* a result is missing */
} Multigrid;

/* Compares the better of the paper's two ways to treat corrections that violate bounds with PGS. */
static void add_mark(Multigrid *g, const LabSet *set, int model, int state, int mark)
{
    const double reject = find_work(set, model, state, AMG_REJECT, mark),
                 project = find_work(set, model, state, AMG_PROJECT, mark),
                 ours = find_work(set, model, state, "amg", mark),
                 pgs = find_work(set, model, state, "pgs", mark), paper = fmin(reject, project);
    if (isnan(reject + project + ours + pgs)) {
        g->is_incomplete = true;
        return;
    }
    g->paper += paper < INFINITY;
    g->ours += ours < INFINITY;
    if (isinf(paper) && isinf(pgs))
        return;
    const bool lost = needs_more(set, model, state, AMG_REJECT, mark, pgs) &&
                      needs_more(set, model, state, AMG_PROJECT, mark, pgs);
    g->lost += lost;
    g->judged += lost || paper <= pgs;
    g->unjudged += !lost && paper > pgs;
}

/* Judges whether multigrid is of no use: its work, with the making of levels, against that of the sweeps alone. Its runs
 * end after fewer products than those of PGS, so that it may not have had those that PGS needed. */
static void claim_multigrid(LabSet *set)
{
    for (int model = FRICTIONLESS; model <= BOX; model++) {
        Multigrid g = {0};
        for (int state = 0; state < STATES; state++)
            for (int m = 0; m < PRECLIK_MARKS; m++)
                add_mark(&g, set, model, state, m);
        const SortedRatios ratio = compare_products(set, model, "amg", "pgs");
        claims_add(
            set,
            &(Claim){.subject = preclik_models[model],
                     .statement = "multigrid does not improve on Gauss-Seidel",
                     .rule = "amg with the paper's corrections (reject or project, truncate=off) "
                             "needs more work than PGS, levels included, to all marks that one "
                             "reaches and for which amg had the products of PGS; in part: to half "
                             "of them"},
            g.is_incomplete || g.judged == 0
                ? CLAIM_UNJUDGED
                : claim_if_whole(g.lost == g.judged, 2 * g.lost >= g.judged),
            "to %d of %d marks, %d more not judged; it reaches %d; with our parameters it reaches "
            "%d, with %.1f times the products of PGS",
            g.lost, g.judged, g.unjudged, g.paper, g.ours, get_median(&ratio));
    }
}

/* Judges the cost of levels: that of the first cycle with them, in row 2 of the trace after the start in row 1, against a
 * later cycle. */
static void claim_levels(LabSet *set)
{
    SortedRatios work = {0};
    for (int model = FRICTIONLESS; model <= BOX; model++)
        for (int state = 0; state < STATES; state++) {
            const LabResult *r = preclik_find_result(set, model, state, AMG_REJECT);
            if (!r || r->trace.count < 4)
                continue;
            double(*row)[LAB_COLUMNS] = r->trace.row;
            add_ratio(&work, (row[2][LAB_PRODUCTS] - row[1][LAB_PRODUCTS]),
                      row[3][LAB_PRODUCTS] - row[2][LAB_PRODUCTS]);
        }
    claims_add(set,
               &(Claim){.statement = "the setup costs of multigrid are high",
                        .rule = "the first cycle, with the making of levels, has more than twice "
                                "the work of the next, frictionless and box, in all states; in "
                                "part: in half of them"},
               work.count - work.unreached < 2 * STATES
                   ? CLAIM_UNJUDGED
                   : claim_if_whole(get_min(&work) > 2.0, get_median(&work) > 2.0),
               "%.1f times, from %.1f to %.1f", get_median(&work), get_min(&work), get_max(&work));
}

/* The runs of a case: how many have measured results, how many of these converge, and the names of those that do. */
typedef struct Outcomes {
    int runs, converged;
    char names[LAB_TEXT];
} Outcomes;

static void add_outcomes(Outcomes *o, const LabSet *set, int problem)
{
    for (int i = 0; i < set->result_count; i++) {
        const LabResult *r = &set->results[i];
        if (r->problem != problem || experiment_find_result(set, problem, r->solver) != r)
            continue;
        o->runs++;
        if (r->outcome != LAB_CONVERGED)
            continue;
        const size_t used = strlen(o->names);
        snprintf(o->names + used, sizeof o->names - used, "%s%.12s", o->converged++ ? ", " : "",
                 r->solver);
    }
}

/* Returns the final residual of a solver on a case; NAN: no result. */
static double find_end(const LabSet *set, int problem, const char *solver)
{
    const LabResult *r = experiment_find_result(set, problem, solver);
    return r ? preclik_final_residual(r) : NAN;
}

/* Judges whether all solvers fail on the cases with mu 3: those of the paper, whose residuals are shown, and all others
 * that ran. */
static void claim_failure_at_strong_friction(LabSet *set)
{
    Outcomes all = {0};
    add_outcomes(&all, set, STRONG_PYRAMID);
    add_outcomes(&all, set, STRONG_CONE);
    const double pgs = find_end(set, STRONG_PYRAMID, "pgs");
    const double cpg = find_end(set, STRONG_PYRAMID, CPG_PAPER);
    const double newton = find_end(set, STRONG_PYRAMID, SSN_PLAIN);
    const double disc = find_end(set, STRONG_CONE, "gs-disc");
    claims_add(set,
               &(Claim){.statement = "all solvers can fail on cones if friction is strong enough",
                        .rule = "at mu 3 no solver that ran on pyramid or cone converges"},
               isnan(pgs + cpg + newton + disc) ? CLAIM_UNJUDGED : claim_if(all.converged == 0),
               "at mu 3 %d of %d runs do not converge; PGS ends at %.0e, CPG %.0e, Newton (plain) "
               "%.0e, gs-disc %.0e%s%s",
               all.runs - all.converged, all.runs, pgs, cpg, newton, disc,
               all.converged ? "; converged: " : "", all.names);
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
    claim_products(set);
    claim_pyramid(set);
    claim_disc_cost(set);
    claim_quadratic(set);
    claim_range(set);
    claim_beginning(set, "at first PGS's residual falls faster than CPG's", LAB_NATURAL_MAX);
    claim_beginning(set, "at first PGS's velocity error falls faster than CPG's",
                    LAB_VELOCITY_ERROR);
    claim_failure_at_strong_friction(set);
    claim_convex(set);
    claim_multigrid(set);
    claim_levels(set);
}

/* lab/experiments/petra_claims.c - verdicts on the figures of the simulation experiment of petra-2009 that have a
 * target, and on the paper's statements on its simulations (sections 4.3 to 5). Times of two methods are compared over
 * the steps that both have made. */
#include "correlation.h"
#include "petra.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- targets ---- */

enum { REST = -1, PEAK = -2 }; /* values of `until` of find_worst_difference */
enum { HUNDREDTH = 1 };        /* of the peak: index into PetraDivergence.largest and below */

/* Returns the other run of the pair whose energies are compared; NULL: the run is not compared. */
static const PetraRun *find_partner(const Petra *p, const PetraRun *run)
{
    const PetraRun *reference = petra_find_reference(p, run);
    return run->nudged || reference == run ? NULL : reference;
}

/* Returns the maximum over all runs that are not nudged of a field of PetraDivergence: largest[until], for REST to_rest,
 * for PEAK of_peak. NAN: there are no two runs to compare. */
static double find_worst_difference(const Petra *p, int until)
{
    double worst = NAN; /* fmax takes the other number */
    for (int i = 0; i < p->runs; i++) {
        const PetraRun *run = &p->run[i], *partner = find_partner(p, run);
        if (!partner)
            continue;
        PetraDivergence found = petra_compare_energies(run, partner);
        worst = fmax(worst, until == REST   ? found.to_rest
                            : until == PEAK ? found.of_peak
                                            : found.largest[until]);
    }
    return worst;
}

static bool has_converged(const PetraSolve *s)
{
    return !s->failed && s->outcome == TALUS_OUTCOME_CONVERGED;
}

/* Returns the fastest converged solution of the step with the paper's number of contacts; NULL: none. */
static const PetraSolve *find_quickest_wide(const Petra *p)
{
    const PetraSolve *best = NULL;
    for (int i = 0; i < p->wide_count; i++) {
        const PetraSolve *s = &p->wide[i];
        if (has_converged(s) && (!best || s->seconds < best->seconds))
            best = s;
    }
    return best;
}

/* Adds verdicts on speed. Targets are fractions of the paper's average for a step of 3,200 pebbles by OOQP-CHOL: a tenth
 * for ipm-chol, a two-hundredth for the quickest method. Each target is applied to the longest step of a run and to the
 * step with the paper's number of contacts. */
static void add_speed_verdicts(const Petra *p)
{
    const double average = petra_find_paper_row(3200, PETRA_CHOL)->average;
    const double tenth = average / 10.0, fast = average / 200.0;
    const PetraRun *chol = petra_find_run(p, PETRA_CHOL, p->wide_pebbles);
    const PetraRun *best = petra_find_quickest(p, p->wide_pebbles, petra_longest_step);
    const PetraSolve *wide_chol = petra_find_wide(p, PETRA_CHOL), *wide = find_quickest_wide(p);
    if (chol)
        worlds_add_verdict(p->w, petra_longest_step(chol), tenth, "s", NULL,
                           "longest step of 3,200 pebbles, ipm-chol");
    if (best)
        worlds_add_verdict(p->w, petra_longest_step(best), fast, "s", NULL,
                           "longest step of 3,200 pebbles, %s", best->method->label);
    if (wide_chol)
        worlds_add_verdict(p->w, has_converged(wide_chol) ? wide_chol->seconds : HUGE_VAL, tenth,
                           "s", NULL, "the step with the paper's contacts, ipm-chol");
    if (wide)
        worlds_add_verdict(p->w, wide->seconds, fast, "s", NULL,
                           "the step with the paper's contacts, %s", wide->method->label);
}

static void add_verdicts(const Petra *p)
{
    static const struct {
        int until;
        const char *text;
    } ends[] = {{0, "to 10 % of the peak"},
                {1, "to 1 % of the peak"},
                {REST, "to rest"},
                {PEAK, "to rest, of the peak"}};
    for (int i = 0; i < LAB_COUNT(ends); i++)
        worlds_add_verdict(p->w, 100.0 * find_worst_difference(p, ends[i].until), 1.5, "%", NULL,
                           "difference of energies %s", ends[i].text);
    for (int i = 0; i < p->runs; i++) {
        const char *label = p->run[i].method->label;
        PetraGrowth growth = petra_fit_growth(p, label);
        if (p->run[i].nudged || p->run[i].pebbles != p->run[0].pebbles || growth.sizes < 2)
            continue;
        worlds_add_verdict(p->w, growth.mean, 1.5, "", NULL, "exponent of time, %s", label);
        worlds_add_verdict(p->w, growth.memory, 1.25, "", NULL, "exponent of memory, %s", label);
    }
    add_speed_verdicts(p);
}

/* ---- statements on energies and accuracy ---- */

/* Returns the number of compared pairs of runs of which both came to rest; *slowed: of those that came to a hundredth of
 * the peak together. */
static int count_rested_pairs(const Petra *p, int *slowed)
{
    int rested = 0;
    *slowed = 0;
    for (int i = 0; i < p->runs; i++) {
        const PetraRun *run = &p->run[i], *partner = find_partner(p, run);
        if (!partner)
            continue;
        rested += run->rested && partner->rested;
        *slowed += petra_compare_energies(run, partner).below[HUNDREDTH];
    }
    return rested;
}

/* Judges the energies of Fig. 3. A run that its time ended cannot make the statement hold, but its steps count against
 * it. Steps before the pebbles slow down say nothing for it: pebbles that fall have the same energy by every solver. */
static void claim_energies(const Petra *p)
{
    double to_rest = find_worst_difference(p, REST), early = find_worst_difference(p, HUNDREDTH);
    int slowed, rested = count_rested_pairs(p, &slowed);
    const bool agree = to_rest < PETRA_MAX_DIFFERENCE, agree_early = early < PETRA_MAX_DIFFERENCE;
    claims_add(p->w->set,
               &(Claim){.statement = "energies by all solvers differ by less than 1.5 % until rest",
                        .rule = "in all steps that two runs have, and both of a pair came to rest; "
                                "in part: in the steps until a hundredth of the peak is left; not "
                                "judged if energies agree and no pair comes so far"},
               isnan(to_rest) || (agree_early && rested == 0 && slowed == 0)
                   ? CLAIM_UNJUDGED
                   : claim_if_whole(rested > 0 && agree, agree_early),
               "%.2g %% in all steps, %.2g %% until a hundredth of the peak is left, to which %d "
               "pairs come; both at rest in %d pairs",
               100.0 * to_rest, 100.0 * early, slowed, rested);
}

/* Judges whether a tiny difference of the start grows exponentially, section 4.3, by the nudged run. */
static void claim_chaos(const Petra *p)
{
    const Claim claim = {
        .statement = "chaos: the tiniest difference in position is amplified exponentially in time",
        .rule =
            "energies of a run whose pebbles start 1e-9 higher: the logarithm of their relative "
            "difference correlates with time by at least 0.7, and grows more than a thousand "
            "times; in part: one of these"};
    Correlation c = {0};
    double first = NAN, largest = NAN;
    for (int i = 0; i < p->runs; i++) {
        const PetraRun *run = &p->run[i], *other = petra_find_reference(p, run);
        for (int k = 0; run->nudged && other && k < run->count && k < other->count; k++) {
            double d = petra_energy_difference(run, other, k);
            if (!(d > 0.0))
                continue;
            first = isnan(first) ? d : first;
            largest = fmax(largest, d);
            correlation_add(&c, run->step[k].time, log(d));
        }
    }
    double r = correlation_get(&c);
    if (isnan(r)) {
        claims_add(p->w->set, &claim, CLAIM_UNJUDGED, "no nudged run, or no difference");
        return;
    }
    bool straight = r >= 0.7, grown = largest > 1e3 * first;
    claims_add(p->w->set, &claim, claim_if_whole(straight && grown, straight || grown),
               "from %.1e to %.1e, correlation %.2f", first, largest, r);
}

/* Writes the numbers of pebbles that are no more than the paper's most, in the order of the runs. Returns true if they
 * are as many as in the paper. */
static bool list_sizes(const Petra *p, int sizes[PETRA_SIZES])
{
    int count = 0;
    for (int i = 0; i < p->runs; i++) {
        bool listed = p->run[i].pebbles > p->wide_pebbles;
        for (int s = 0; s < count; s++)
            listed = listed || sizes[s] == p->run[i].pebbles;
        if (!listed && count < PETRA_SIZES)
            sizes[count++] = p->run[i].pebbles;
    }
    return count == PETRA_SIZES;
}

/* Returns the infeasibility of a run; NAN: it is missing or failed. */
static double get_infeasibility(const Petra *p, const char *label, int pebbles)
{
    const PetraRun *run = petra_find_run(p, label, pebbles);
    return run && !run->failed ? run->infeasibility : NAN;
}

/* Judges the infeasibilities of Tables 1 to 3. TRON has none with the most pebbles, with which the paper did not try
 * it. */
static void claim_precision(const Petra *p)
{
    const Claim claim = {
        .statement = "interior points achieve far higher precision than BLMVM and TRON",
        .rule = "infeasibility after the last step by Cholesky and MA27's system at most a "
                "thousandth, each size, TRON without the most pebbles; in part: by Cholesky than "
                "by BLMVM; not judged if one of them is missing"};
    int sizes[PETRA_SIZES];
    double least_blmvm = HUGE_VAL, least_tron = HUGE_VAL, most_chol = 0.0, most_ma27 = 0.0;
    bool known = list_sizes(p, sizes), all = true, by_chol = true;
    for (int s = 0; known && s < PETRA_SIZES; s++) {
        bool tried = sizes[s] < p->wide_pebbles;
        double chol = get_infeasibility(p, PETRA_CHOL, sizes[s]);
        double ma27 = get_infeasibility(p, PETRA_MA27, sizes[s]);
        double blmvm = get_infeasibility(p, PETRA_BLMVM, sizes[s]);
        double tron = tried ? get_infeasibility(p, PETRA_TRON, sizes[s]) : blmvm;
        known = isfinite(chol) && isfinite(ma27) && isfinite(blmvm) && isfinite(tron);
        by_chol = by_chol && chol <= 1e-3 * blmvm;
        all = all && fmax(chol, ma27) <= 1e-3 * fmin(blmvm, tron);
        least_blmvm = fmin(least_blmvm, blmvm);
        least_tron = tried ? fmin(least_tron, tron) : least_tron;
        most_chol = fmax(most_chol, chol);
        most_ma27 = fmax(most_ma27, ma27);
    }
    if (!known)
        claims_add(p->w->set, &claim, CLAIM_UNJUDGED, "no infeasibility of all four, each size");
    else
        claims_add(p->w->set, &claim, claim_if_whole(all, by_chol),
                   "BLMVM at least %.1e m/s, TRON %.1e; Cholesky at most %.1e, MA27's system %.1e",
                   least_blmvm, least_tron, most_chol, most_ma27);
}

/* ---- statements on time ---- */

/* Returns the time of `a` over that of `b` for the steps that both have; NAN if one of them is missing. */
static double compare_times(const PetraRun *a, const PetraRun *b)
{
    double sum_a = 0.0, sum_b = 0.0;
    for (int k = 0; a && b && k < a->count && k < b->count; k++) {
        sum_a += a->step[k].seconds;
        sum_b += b->step[k].seconds;
    }
    return sum_b > 0.0 ? sum_a / sum_b : NAN;
}

/* Judges whether a step of `other` takes `low` to `high` times as long as one of ipm-chol; in part: longer. */
static void claim_ratio(const Petra *p, const Claim *claim, const char *other, int pebbles,
                        double low, double high)
{
    double ratio =
        compare_times(petra_find_run(p, other, pebbles), petra_find_run(p, PETRA_CHOL, pebbles));
    if (isnan(ratio))
        claims_add(p->w->set, claim, CLAIM_UNJUDGED, "no run of %s or ipm-chol", other);
    else
        claims_add(p->w->set, claim, claim_if_whole(ratio >= low && ratio <= high, ratio > 1.0),
                   "%.2f times, %d pebbles", ratio, pebbles);
}

/* Judges the ratios of Tables 1 and 3, which are in the statements. */
static void claim_ratios(const Petra *p)
{
    int least = p->run[0].pebbles, most = p->wide_pebbles;
    claim_ratio(p,
                &(Claim){.statement =
                             "a step by MA27's augmented system takes 6.4 times as long as "
                             "by Cholesky",
                         .rule = "within a factor 2, 3.2 to 12.8 times, fewest pebbles; in part: "
                                 "longer"},
                PETRA_MA27, least, 3.2, 12.8);
    claim_ratio(p,
                &(Claim){.statement =
                             "with 3,200 pebbles it takes more than 20 times as long, and was "
                             "ended",
                         .rule = "at least 20 times, most pebbles, steps of both; in part: longer"},
                PETRA_MA27, most, 20.0, HUGE_VAL);
    claim_ratio(p,
                &(Claim){.statement = "a step by BLMVM takes 1.2 times as long as by Cholesky",
                         .rule = "1.1 to 2.4 times, at most twice the paper's, fewest pebbles, by "
                                 "the paper's rule of stopping; in part: longer"},
                PETRA_BLMVM, least, 1.1, 2.4);
    claim_ratio(p,
                &(Claim){.statement = "a step by TRON takes 23 times as long as by Cholesky",
                         .rule = "within a factor 2, 11.5 to 46 times, fewest pebbles, steps of "
                                 "both; in part: longer"},
                PETRA_TRON, least, 11.5, 46.0);
    claim_ratio(p,
                &(Claim){.statement = "a step by MOSEK takes 109 times as long as by Cholesky",
                         .rule = "ipm-hsd, MOSEK's algorithm and rule: within a factor 2, 54.5 to "
                                 "218 times, fewest pebbles, steps of both; in part: longer"},
                PETRA_MOSEK, least, 54.5, 218.0);
}

/* Least and most of a figure over the paper's numbers of pebbles; NAN: a run is missing. */
typedef struct Range {
    double least, most;
} Range;

/* Compares the runs of two methods with each of the paper's numbers of pebbles. */
static Range compare_sizes(const Petra *p, const char *a, const char *b,
                           double (*compare)(const PetraRun *a, const PetraRun *b))
{
    int sizes[PETRA_SIZES];
    Range range = {HUGE_VAL, 0.0};
    bool known = list_sizes(p, sizes);
    for (int s = 0; known && s < PETRA_SIZES; s++) {
        double ratio = compare(petra_find_run(p, a, sizes[s]), petra_find_run(p, b, sizes[s]));
        known = isfinite(ratio);
        range = (Range){fmin(range.least, ratio), fmax(range.most, ratio)};
    }
    return known ? range : (Range){NAN, NAN};
}

/* Judges section 4.5 on the two systems of equations, over all sizes. */
static void claim_factor(const Petra *p)
{
    const Claim claim = {
        .statement = "Cholesky is consistently 7 times faster than MA27's system, and sometimes "
                     "more than 20 times",
        .rule = "steps of both, each of the paper's numbers of pebbles: at least 6 times for each, "
                "at most 14, twice the paper's, for one, and 20 to 40 for one; in part: faster for "
                "each"};
    const Range ratio = compare_sizes(p, PETRA_MA27, PETRA_CHOL, compare_times);
    const double low = ratio.least, high = ratio.most;
    if (isnan(low))
        claims_add(p->w->set, &claim, CLAIM_UNJUDGED, "no runs of ipm-aug and ipm-chol, each size");
    else
        claims_add(
            p->w->set, &claim,
            claim_if_whole(low >= 6.0 && low <= 14.0 && high >= 20.0 && high <= 40.0, low > 1.0),
            "from %.2f to %.2f times", low, high);
}

/* The paper's ranking, fastest first. */
static const char *const ranking[] = {PETRA_CHOL, PETRA_BLMVM, PETRA_MA27, PETRA_TRON, PETRA_MOSEK};

enum { RANKS = sizeof ranking / sizeof *ranking };

/* Judges the paper's ranking by time over the steps that each method and ipm-chol have in common. */
static void claim_ranking(const Petra *p)
{
    const Claim claim = {
        .statement = "ranking by time: Cholesky, BLMVM, MA27, TRON, MOSEK",
        .rule = "times over Cholesky's, steps of both, fewest pebbles, ipm-hsd for MOSEK; in part: "
                "Cholesky first"};
    double ratio[RANKS] = {1.0};
    for (int i = 1; i < RANKS; i++) {
        ratio[i] = compare_times(petra_find_run(p, ranking[i], p->run[0].pebbles),
                                 petra_find_run(p, PETRA_CHOL, p->run[0].pebbles));
        if (isnan(ratio[i])) {
            claims_add(p->w->set, &claim, CLAIM_UNJUDGED, "no run of %s or ipm-chol", ranking[i]);
            return;
        }
    }
    claims_add(p->w->set, &claim, claim_if_rising(ratio, RANKS),
               "BLMVM %.2f, MA27's system %.2f, TRON %.2f, ipm-hsd %.2f times", ratio[1], ratio[2],
               ratio[3], ratio[4]);
}

/* ---- the spread of Figs. 5 and 6 ---- */

/* Bins of unknowns, each wider than the one before by this factor, and the fewest steps of a method in a bin. */
#define BIN_FACTOR 1.25
enum { BINS = 80, BIN_STEPS = 5 };

/* Writes the times of the method's steps in a bin, over all runs that are not nudged, in ascending order; returns their
 * number. `times` has room for all steps. */
static int collect_times(const Petra *p, const char *label, int bin, double *times)
{
    int count = 0;
    for (int i = 0; i < p->runs; i++) {
        const PetraRun *run = &p->run[i];
        if (run->nudged || strcmp(run->method->label, label) != 0)
            continue;
        for (int k = 0; k < run->count; k++)
            if (run->step[k].contacts > 0 &&
                (int)(log(3.0 * run->step[k].contacts) / log(BIN_FACTOR)) == bin)
                times[count++] = run->step[k].seconds;
    }
    if (count > 0)
        worlds_median(times, count); /* sorts them */
    return count;
}

/* Counts the bins in which both methods have BIN_STEPS steps, and those of them in which the third quartile of the
 * times of `a` is below the first of those of `b`. */
static void compare_bins(const Petra *p, const char *a, const char *b, int *both, int *faster)
{
    size_t room = 1;
    for (int i = 0; i < p->runs; i++)
        room += (size_t)p->run[i].count;
    double *times_a = cli_check_memory(calloc(2 * room, sizeof *times_a)),
           *times_b = times_a + room;
    *both = *faster = 0;
    for (int bin = 0; bin < BINS; bin++) {
        int n = collect_times(p, a, bin, times_a), m = collect_times(p, b, bin, times_b);
        if (n < BIN_STEPS || m < BIN_STEPS)
            continue;
        (*both)++;
        *faster += times_a[(3 * n - 1) / 4] < times_b[m / 4];
    }
    free(times_a);
}

/* Judges whether the ranking holds for the same size of the dual, with its spread, section 4.5. */
static void claim_spread(const Petra *p)
{
    const Claim claim = {
        .statement = "the ranking holds for the same size of the dual as well, spread included",
        .rule =
            "neighbours in the ranking, steps in bins of unknowns 1.25 wide: the third quartile "
            "of times is below the first of the next, all bins of both; in part: all of a pair"};
    char text[LAB_TEXT] = "";
    size_t used = 0;
    bool all = true, some = false;
    for (int i = 0; i + 1 < RANKS; i++) {
        static const char *const names[RANKS] = {"Cholesky", "BLMVM", "MA27's system", "TRON",
                                                 "ipm-hsd"};
        int both, faster;
        compare_bins(p, ranking[i], ranking[i + 1], &both, &faster);
        if (both == 0) {
            claims_add(p->w->set, &claim, CLAIM_UNJUDGED, "no steps of like size of %s and %s",
                       names[i], names[i + 1]);
            return;
        }
        all = all && faster == both;
        some = some || faster == both;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s before %s in %d of %d",
                                 i ? "; " : "", names[i], names[i + 1], faster, both);
    }
    claims_add(p->w->set, &claim, claim_if_whole(all, some), "%s", text);
}

/* Judges whether the cost of a step follows its size, sections 4.5 and 5 and the abstract. */
static void claim_predictable(const Petra *p)
{
    const Claim claim = {
        .statement = "time and memory of Cholesky are predictable from the size of the problem",
        .rule = "logarithms of time and of memory of all its steps correlate with that of the "
                "unknowns by at least 0.95; in part: by 0.8"};
    Correlation time = {0}, memory = {0}, blmvm = {0};
    for (int i = 0; i < p->runs; i++) {
        const PetraRun *run = &p->run[i];
        bool chol = strcmp(run->method->label, PETRA_CHOL) == 0;
        if (run->nudged || (!chol && strcmp(run->method->label, PETRA_BLMVM) != 0))
            continue;
        for (int k = 0; k < run->count; k++) {
            const PetraStep *s = &run->step[k];
            if (s->contacts == 0)
                continue;
            correlation_add(chol ? &time : &blmvm, log(s->contacts), log(s->seconds));
            if (chol)
                correlation_add(&memory, log(s->contacts), log(s->memory));
        }
    }
    double t = correlation_get(&time), m = correlation_get(&memory);
    if (isnan(t) || isnan(m))
        claims_add(p->w->set, &claim, CLAIM_UNJUDGED, "no run of ipm-chol");
    else
        claims_add(p->w->set, &claim, claim_if_whole(t >= 0.95 && m >= 0.95, t >= 0.8 && m >= 0.8),
                   "time %.3f, memory %.3f; time of BLMVM %.3f", t, m, correlation_get(&blmvm));
}

/* ---- statements on failures, growth and memory ---- */

/* Judges TRON, which failed for want of memory in the paper once the dual grew. The wide step has more unknowns. */
static void claim_tron(const Petra *p, int pebbles)
{
    const Claim claim = {
        .statement = "TRON crashes with 1,600 pebbles, when the dual grows",
        .rule = "its run fails; in part: the step with the paper's contacts does; not judged if "
                "neither had nine tenths of the most unknowns of Cholesky's run"};
    const PetraRun *run = petra_find_run(p, PETRA_TRON, pebbles);
    const PetraRun *chol = petra_find_run(p, PETRA_CHOL, pebbles);
    const PetraSolve *wide = petra_find_wide(p, PETRA_TRON);
    if (!run) {
        claims_add(p->w->set, &claim, CLAIM_UNJUDGED, "no run of TRON");
        return;
    }
    double enough = chol ? 0.9 * petra_get_max(chol, PETRA_UNKNOWNS) : HUGE_VAL;
    bool grown = petra_get_max(run, PETRA_UNKNOWNS) >= enough;
    bool wide_grown = wide && 3 * p->wide_contacts >= enough;
    char wider[LAB_TEXT] = "";
    if (wide)
        snprintf(wider, sizeof wider, "; %d unknowns at once: %s, %.0f MB", 3 * p->wide_contacts,
                 wide->failed ? "an error" : "no error", wide->memory / 1048576.0);
    claims_add(p->w->set, &claim,
               !run->failed && !(wide && wide->failed) && !grown && !wide_grown
                   ? CLAIM_UNJUDGED
                   : claim_if_whole(run->failed, wide && wide->failed),
               "%s after %d steps with up to %d unknowns and %.0f MB, in %.0f s%s",
               run->failed   ? "failed"
               : run->rested ? "at rest"
                             : "ended by its limit",
               run->count, (int)petra_get_max(run, PETRA_UNKNOWNS),
               petra_get_max(run, PETRA_MEGABYTES), petra_total_seconds(run), wider);
}

/* Judges MOSEK, which failed in the paper before its first step was done. */
static void claim_mosek(const Petra *p, int pebbles)
{
    const Claim claim = {.statement = "MOSEK crashes with 1,600 pebbles, in the first step",
                         .rule = "ipm-hsd's first step fails; in part: a later one"};
    const PetraRun *run = petra_find_run(p, PETRA_MOSEK, pebbles);
    if (!run || (run->count == 0 && !run->failed))
        claims_add(p->w->set, &claim, CLAIM_UNJUDGED, "no run of ipm-hsd");
    else
        claims_add(p->w->set, &claim, claim_if_whole(run->failed && run->count == 0, run->failed),
                   "%d steps%s, with up to %d unknowns and %.0f MB", run->count,
                   run->failed ? ", then an error" : "", (int)petra_get_max(run, PETRA_UNKNOWNS),
                   petra_get_max(run, PETRA_MEGABYTES));
}

/* Returns the most memory of `a` over that of `b` in the steps that both have; NAN if one of them is missing. */
static double compare_memory(const PetraRun *a, const PetraRun *b)
{
    double most_a = 0.0, most_b = 0.0;
    for (int k = 0; a && b && k < a->count && k < b->count; k++) {
        most_a = fmax(most_a, a->step[k].memory);
        most_b = fmax(most_b, b->step[k].memory);
    }
    return most_b > 0.0 ? most_a / most_b : NAN;
}

/* Judges the memory of interior points beside BLMVM's, which the paper reads from its Fig. 4. */
static void claim_memory(const Petra *p)
{
    const Claim claim = {.statement = "both interior points need 2 to 3 times the memory of BLMVM",
                         .rule = "most memory by Cholesky and by MA27's system over that by BLMVM, "
                                 "steps of both, each of the paper's numbers of pebbles: 1.5, the "
                                 "paper's least by a third wider, to 3; in part: more, at most 10"};
    const Range chol = compare_sizes(p, PETRA_CHOL, PETRA_BLMVM, compare_memory),
                ma27 = compare_sizes(p, PETRA_MA27, PETRA_BLMVM, compare_memory);
    const double least = fmin(chol.least, ma27.least), most = fmax(chol.most, ma27.most);
    if (isnan(chol.least) || isnan(ma27.least))
        claims_add(p->w->set, &claim, CLAIM_UNJUDGED,
                   "no runs of BLMVM, ipm-chol and ipm-aug, each size");
    else
        claims_add(p->w->set, &claim,
                   claim_if_whole(least >= 1.5 && most <= 3.0, least > 1.0 && most <= 10.0),
                   "at most %.1f times by Cholesky, %.1f by MA27's system; at least %.1f",
                   chol.most, ma27.most, least);
}

/* Returns the memory of a method for this many pebbles, GB: that of its run with the paper's most pebbles, continued by
 * its growth. NAN if its runs are missing. */
static double extrapolate_memory(const Petra *p, const char *label, double pebbles)
{
    const PetraRun *run = petra_find_run(p, label, p->wide_pebbles);
    PetraGrowth growth = petra_fit_growth(p, label);
    return run ? petra_get_max(run, PETRA_MEGABYTES) * pow(pebbles / run->pebbles, growth.memory) *
                     1.048576e-3
               : NAN;
}

/* Judges whether so many GB hold so many pebbles. */
static void claim_capacity(const Petra *p, const char *statement, const char *rule, double pebbles,
                           double gigabytes)
{
    const Claim claim = {.statement = statement, .rule = rule};
    double needed = extrapolate_memory(p, PETRA_CHOL, pebbles);
    if (isnan(needed))
        claims_add(p->w->set, &claim, CLAIM_UNJUDGED, "no runs of ipm-chol with two sizes");
    else
        claims_add(p->w->set, &claim, claim_if(needed <= gigabytes),
                   "%.1f GB, by the power %.2f; BLMVM %.1f GB, by %.2f", needed,
                   petra_fit_growth(p, PETRA_CHOL).memory,
                   extrapolate_memory(p, PETRA_BLMVM, pebbles),
                   petra_fit_growth(p, PETRA_BLMVM).memory);
}

/* Judges the growth of a method's time with the number of pebbles. */
static void claim_time(const Petra *p, const char *statement, const char *label)
{
    const Claim claim = {.statement = statement,
                         .rule = "mean time of the steps that all sizes have, at most the power "
                                 "1.25 of the number of pebbles; in part: 1.5"};
    PetraGrowth growth = petra_fit_growth(p, label);
    char paper[LAB_TEXT] = "";
    if (!p->w->quick)
        snprintf(paper, sizeof paper, "; the paper's own averages: %.2f", petra_fit_paper(label));
    if (isnan(growth.mean))
        claims_add(p->w->set, &claim, CLAIM_UNJUDGED, "no runs of %s with two sizes", label);
    else
        claims_add(p->w->set, &claim, claim_if_whole(growth.mean <= 1.25, growth.mean <= 1.5),
                   "the power %.2f, %d sizes, and %.2f of the unknowns%s", growth.mean,
                   growth.sizes, growth.mean_of_unknowns, paper);
}

/* Judges the growth of memory that lies in the paper's two extrapolations. */
static void claim_memory_growth(const Petra *p)
{
    const Claim claim = {
        .statement = "four times the pebbles need eight times the memory (4 GB, 32 GB)",
        .rule = "most memory by Cholesky and by BLMVM, at most the power 1.5 of the number of "
                "pebbles, log 8 over log 4; in part: one of them"};
    double chol = petra_fit_growth(p, PETRA_CHOL).memory;
    double blmvm = petra_fit_growth(p, PETRA_BLMVM).memory;
    if (isnan(chol) || isnan(blmvm))
        claims_add(p->w->set, &claim, CLAIM_UNJUDGED,
                   "no runs of BLMVM or ipm-chol with two sizes");
    else
        claims_add(p->w->set, &claim,
                   claim_if_whole(chol <= 1.5 && blmvm <= 1.5, chol <= 1.5 || blmvm <= 1.5),
                   "Cholesky the power %.2f, BLMVM %.2f", chol, blmvm);
}

/* ---- the whole ---- */

void petra_judge(const Petra *p)
{
    const int failing = p->w->quick ? p->run[0].pebbles : 1600; /* pebbles of the paper's crashes */
    add_verdicts(p);
    claim_energies(p);
    claim_chaos(p);
    claim_precision(p);
    claim_ratios(p);
    claim_factor(p);
    claim_ranking(p);
    claim_spread(p);
    claim_predictable(p);
    claim_tron(p, failing);
    claim_mosek(p, failing);
    claim_memory(p);
    claim_capacity(p, "4 GB hold 150,000 pebbles",
                   "most memory by Cholesky, continued by its growth: at most 4 GB", 150000.0, 4.0);
    claim_capacity(p, "32 GB hold 600,000 pebbles",
                   "most memory by Cholesky, continued by its growth: at most 32 GB", 600000.0,
                   32.0);
    claim_memory_growth(p);
    claim_time(p, "time by Cholesky grows close to linearly with the size of the problem",
               PETRA_CHOL);
    claim_time(p, "time by BLMVM grows close to linearly with the size of the problem",
               PETRA_BLMVM);
    claim_time(p, "time by MA27's system grows close to linearly with the size of the problem",
               PETRA_MA27);
}

/* lab/experiments/heyn_claims.c - judges what heyn-2012 states about the beds of heyn-2 and heyn-3, by the results of
 * jacobi, gpminres, spg (the paper's SPG-FB) and kucera. A statement is judged by runs with the paper's parameters; what
 * runs with ours give is said beside it. A gap is that of the objective from the optimum, the smallest objective of all
 * runs of the case, relative. */
#include "heyn.h"

#include "base/status.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

/* ---- findings ---- */

HeynFinding heyn_make_finding(ClaimVerdict verdict, const char *format, ...)
{
    HeynFinding finding = {.verdict = verdict};
    TALUS_FORMAT(finding.text, format);
    return finding;
}

HeynFinding heyn_find_missing_run(void)
{
    return heyn_make_finding(CLAIM_UNJUDGED, "a run is missing");
}

void heyn_add_claim(LabSet *set, const Claim *claim, const HeynFinding *paper,
                    const HeynFinding *ours)
{
    claims_add(set, claim, paper->verdict, "(paper): %s; our parameters: %s, %s", paper->text,
               claim_verdict_name(ours->verdict), ours->text);
}

/* ---- compared methods ---- */

/* Compared methods; the parameters they run with. */
enum { JACOBI, GPMINRES, SPG, KUCERA, COMPARED };
enum { PAPER, OURS, FAMILIES };

enum { CASES = 3 }; /* of an experiment */

static const char *const method_names[COMPARED] = {"jacobi", "gpminres", "spg", "kucera"};
static const char *const compared_labels[FAMILIES][COMPARED] = {
    [PAPER] = {"jacobi", "gpminres (paper)", "spg (paper)", "kucera (paper)"},
    [OURS] = {"jacobi", "gpminres", "spg", "kucera"},
};

/* Results of the compared methods with one family of parameters; NULL: missing. */
typedef struct Comparison {
    const LabSet *set;
    int divisor;
    double judged_gap; /* at which methods are ranked */
    const LabResult *r[CASES][COMPARED];
} Comparison;

/* Takes the results of both families. With --quick methods have too few iterations for the gap that the rules of verdicts
 * name: a note says which one is judged. */
static void compare_families(LabSet *set, int divisor, Comparison c[FAMILIES])
{
    const bool quick = divisor > 1;
    for (int f = 0; f < FAMILIES; f++) {
        c[f] = (Comparison){.set = set, .divisor = divisor, .judged_gap = quick ? 1e-2 : 1e-4};
        for (int p = 0; p < set->problem_count; p++)
            for (int i = 0; i < COMPARED; i++)
                c[f].r[p][i] = experiment_find_result(set, p, compared_labels[f][i]);
    }
    if (quick)
        lab_set_add_note(set, "Gaps of 1e-4 in rules of verdicts are 1e-2 here.");
}

enum { ALL_CASES = -1 };

/* True if the results of case p, of all cases if p is ALL_CASES, exist. */
static bool has_results(const Comparison *c, int p)
{
    for (int i = 0; i < CASES * COMPARED; i++)
        if ((p == ALL_CASES || i / COMPARED == p) && !c->r[i / COMPARED][i % COMPARED])
            return false;
    return true;
}

/* Judges a statement on case p, or on all cases if p is ALL_CASES; the results exist. */
typedef HeynFinding Judge(const Comparison *c, int p);

/* Adds a claim on case p or ALL_CASES, judged with both families. */
static void claim_by_families(LabSet *set, const Comparison c[FAMILIES], int p, Judge *judge,
                              const Claim *claim)
{
    HeynFinding finding[FAMILIES];
    Claim named = *claim;
    for (int f = 0; f < FAMILIES; f++)
        finding[f] = has_results(&c[f], p) ? judge(&c[f], p) : heyn_find_missing_run();
    named.subject = p == ALL_CASES ? NULL : set->problems[p].name;
    heyn_add_claim(set, &named, &finding[PAPER], &finding[OURS]);
}

/* ---- heyn-2: spheres in a cylinder ---- */

/* Whether all other compared solvers end with a smaller objective and residual (24) than jacobi. */
static HeynFinding judge_better_than_jacobi(const Comparison *c, int p)
{
    const LabResult *const *r = c->r[p], *jacobi = r[JACOBI];
    int better = 0;
    for (int i = JACOBI + 1; i < COMPARED; i++)
        better +=
            r[i]->objective < jacobi->objective &&
            r[i]->residual[LAB_R_PROJECTED_GRADIENT] < jacobi->residual[LAB_R_PROJECTED_GRADIENT];
    return heyn_make_finding(claim_if_whole(better == COMPARED - 1, better > 0), "%d of 3 do",
                             better);
}

/* Returns the method with the smallest residual (24) at this iteration. */
static int find_leader_at(const LabResult *const r[COMPARED], int iteration)
{
    int first = 0;
    for (int i = 1; i < COMPARED; i++)
        if (heyn_find_returned_row(r[i], iteration)[LAB_PROJECTED_GRADIENT] <
            heyn_find_returned_row(r[first], iteration)[LAB_PROJECTED_GRADIENT])
            first = i;
    return first;
}

/* Writes "spg at 10, gpminres at 30, ...": the method with the smallest residual (24) at each of `heyn_marks`. */
static void list_leaders(const Comparison *c, int p, char *text, size_t size)
{
    size_t used = 0;
    for (int m = 0; m < HEYN_MARKS && used < size; m++) {
        int iteration = heyn_marks[m] / c->divisor;
        used += (size_t)snprintf(text + used, size - used, "%s%s at %d", m ? ", " : "",
                                 method_names[find_leader_at(c->r[p], iteration)], iteration);
    }
}

/* Whether spg leads at the first of `heyn_marks` and gpminres ends with a smaller residual (24) than spg. */
static HeynFinding judge_ranking(const Comparison *c, int p)
{
    char leaders[LAB_TEXT];
    const LabResult *const *r = c->r[p];
    bool passes = r[GPMINRES]->residual[LAB_R_PROJECTED_GRADIENT] <
                  r[SPG]->residual[LAB_R_PROJECTED_GRADIENT];
    const bool leads = find_leader_at(r, heyn_marks[0] / c->divisor) == SPG;
    list_leaders(c, p, leaders, sizeof leaders);
    return heyn_make_finding(claim_if_whole(leads && passes, leads || passes), "%s", leaders);
}

/* Whether the number of open contacts jumps more in kucera than in gpminres. */
static HeynFinding judge_active(const Comparison *c, int p)
{
    double gpminres = heyn_find_largest_jump(c->r[p][GPMINRES]),
           kucera = heyn_find_largest_jump(c->r[p][KUCERA]);
    return heyn_make_finding(claim_if(kucera > gpminres), "largest jump %.0f against %.0f", kucera,
                             gpminres);
}

/* Whether the number of open contacts is settled sooner in gpminres than in kucera. */
static HeynFinding judge_settling(const Comparison *c, int p)
{
    double gpminres = heyn_find_settled_iteration(c->r[p][GPMINRES]),
           kucera = heyn_find_settled_iteration(c->r[p][KUCERA]);
    return heyn_make_finding(claim_if(gpminres < kucera), "after %.0f iterations against %.0f",
                             gpminres, kucera);
}

/* What happens to the open contacts of a result once its gap is at most the judged one. */
typedef struct Unrest {
    bool reached; /* the gap; else there is nothing to measure */
    double range; /* of their number */
    int swaps;    /* rows of the trace with as many of them as the row before, but others */
} Unrest;

static Unrest measure_unrest(const LabResult *r, double best, double judged_gap)
{
    double least = INFINITY, most = -INFINITY;
    Unrest unrest = {.reached = false};
    const double from = heyn_count_iterations_to(r, best, judged_gap);
    if (!isfinite(from))
        return unrest;
    unrest.reached = true;
    for (int k = 0; k < r->trace.count; k++) {
        const double *row = r->trace.row[k];
        if (row[LAB_ITERATION] < from)
            continue;
        unrest.swaps += most > -INFINITY && row[LAB_OPEN] == r->trace.row[k - 1][LAB_OPEN] &&
                        row[LAB_STATE_CHANGES] > 0.0;
        least = fmin(least, row[LAB_OPEN]);
        most = fmax(most, row[LAB_OPEN]);
    }
    unrest.range = fmax(most - least, 0.0);
    return unrest;
}

/* Measures gpminres and kucera on each bed: the larger range and all swaps of the two. Returns true if both reach the
 * judged gap on each. */
static bool measure_unrest_of_beds(const Comparison *c, Unrest unrest[CASES])
{
    bool reached = true;
    for (int p = 0; p < CASES; p++) {
        double best = experiment_best_objective(c->set, p);
        Unrest gpminres = measure_unrest(c->r[p][GPMINRES], best, c->judged_gap),
               kucera = measure_unrest(c->r[p][KUCERA], best, c->judged_gap);
        unrest[p] = (Unrest){gpminres.reached && kucera.reached, fmax(gpminres.range, kucera.range),
                             gpminres.swaps + kucera.swaps};
        reached = reached && unrest[p].reached;
    }
    return reached;
}

static HeynFinding find_missing_gap(const Comparison *c)
{
    return heyn_make_finding(CLAIM_UNJUDGED, "not all come to a gap of %g", c->judged_gap);
}

/* Whether the number of open contacts still changes near the optimum, and more on the largest bed. */
static HeynFinding judge_unsettled(const Comparison *c, int p)
{
    Unrest unrest[CASES];
    int changing = 0;
    if (!measure_unrest_of_beds(c, unrest))
        return find_missing_gap(c);
    for (p = 0; p < CASES; p++)
        changing += unrest[p].range > 0.0;
    return heyn_make_finding(
        claim_if_whole(changing == CASES && unrest[CASES - 1].range > unrest[0].range,
                       changing > 0),
        "ranges over %.0f, %.0f, %.0f contacts", unrest[0].range, unrest[1].range, unrest[2].range);
}

/* Whether other contacts are open near the optimum while their number stays: one such row is enough, but where there is
 * none all must have been near. */
static HeynFinding judge_contents(const Comparison *c, int p)
{
    Unrest unrest[CASES];
    bool reached = measure_unrest_of_beds(c, unrest);
    int swaps = 0;
    for (p = 0; p < CASES; p++)
        swaps += unrest[p].swaps;
    if (!reached && swaps == 0)
        return find_missing_gap(c);
    return heyn_make_finding(claim_if(swaps > 0), "%d, %d, %d rows", unrest[0].swaps,
                             unrest[1].swaps, unrest[2].swaps);
}

/* Returns the gap that jacobi comes to on every bed; NAN if that of a bed is unknown. */
static double get_common_gap(const Comparison *c)
{
    double common = 0.0;
    for (int p = 0; p < CASES; p++) {
        const LabResult *jacobi = c->r[p][JACOBI];
        double gap = heyn_get_gap(jacobi, jacobi->iterations, experiment_best_objective(c->set, p));
        common = gap > common || isnan(gap) ? gap : common;
    }
    return common;
}

/* Returns the iterations of a method to this gap on the largest bed, over those on the smallest; NAN if it does not
 * come to it on each bed. */
static double get_growth(const Comparison *c, int method, double gap)
{
    double iterations[CASES];
    for (int p = 0; p < CASES; p++) {
        iterations[p] =
            heyn_count_iterations_to(c->r[p][method], experiment_best_objective(c->set, p), gap);
        if (!isfinite(iterations[p]))
            return NAN;
    }
    return iterations[CASES - 1] / fmax(iterations[0], 1.0);
}

/* Whether jacobi needs more and more iterations with the size, far more than the others, to the gap that it comes to on
 * every bed. */
static HeynFinding judge_scaling(const Comparison *c, int p)
{
    double gap = get_common_gap(c), growth[COMPARED], other = 0.0;
    (void)p; /* all cases */
    for (int i = 0; i < COMPARED; i++) {
        growth[i] = get_growth(c, i, gap);
        if (isnan(growth[i]))
            return heyn_make_finding(CLAIM_UNJUDGED,
                                     "%s does not come to a gap of %.2g on each bed",
                                     method_names[i], gap);
        other = i == JACOBI ? other : fmax(other, growth[i]);
    }
    return heyn_make_finding(
        claim_if_whole(growth[JACOBI] >= 2.0 * other, growth[JACOBI] > other),
        "to a gap of %.2g: jacobi %.2g times, gpminres %.2g, spg %.2g, kucera %.2g", gap,
        growth[JACOBI], growth[GPMINRES], growth[SPG], growth[KUCERA]);
}

/* Returns the number of rises, by more than 1e-9 of the value, of a figure from row to row of what the solver would
 * return. */
static int count_rises(const LabResult *r, LabColumn column)
{
    int rises = 0;
    for (int k = 1; k < r->trace.count; k++) {
        double now = heyn_find_returned_row(r, (int)r->trace.row[k][LAB_ITERATION])[column];
        double before = heyn_find_returned_row(r, (int)r->trace.row[k - 1][LAB_ITERATION])[column];
        rises += now > before + 1e-9 * fabs(before);
    }
    return rises;
}

/* Whether jacobi and spg are monotone in objective and residual. The residual of what spg returns is, by construction,
 * and does not count. */
static HeynFinding judge_monotone(const Comparison *c, int p)
{
    int jacobi = count_rises(c->r[p][JACOBI], LAB_OBJECTIVE);
    int residual = count_rises(c->r[p][JACOBI], LAB_PROJECTED_GRADIENT);
    int spg = count_rises(c->r[p][SPG], LAB_OBJECTIVE);
    return heyn_make_finding(
        claim_if_whole(!jacobi && !residual && !spg, !jacobi + !residual + !spg == 2),
        "rises: Jacobi's objective %d, its residual %d, SPG-FB's objective %d", jacobi, residual,
        spg);
}

/* Whether the mean complementarity of the three is far below Jacobi's at the end (Fig. 9). */
static HeynFinding judge_feasibility(const Comparison *c, int p)
{
    double jacobi = c->r[p][JACOBI]->residual[LAB_R_COMPLEMENTARITY_MEAN], worst = 0.0;
    for (int i = JACOBI + 1; i < COMPARED; i++)
        worst = fmax(worst, c->r[p][i]->residual[LAB_R_COMPLEMENTARITY_MEAN]);
    return heyn_make_finding(claim_if_whole(worst <= 0.01 * jacobi, worst < jacobi),
                             "at most %.1e J against %.1e J", worst, jacobi);
}

static const struct {
    Judge *judge;
    Claim claim;
} bed_claims[] = {
    {judge_better_than_jacobi,
     {.statement = "all three beat Jacobi in objective and residual at the end",
      .rule = "each has both smaller; in part: one or two do"}},
    {judge_ranking,
     {.statement = "SPG-FB has the smallest residual at first, GPMINRES passes it later",
      .rule = "SPG-FB, by its best iterate, leads at the first mark, and GPMINRES ends below it; "
              "in part: one of the two"}},
    {judge_monotone,
     {.statement = "Jacobi and SPG-FB are monotone in objective and residual",
      .rule = "no rise above 1e-9 of the value, of SPG-FB of the objective of its best iterate, "
              "whose residual cannot rise; in part: one rises"}},
    {judge_feasibility,
     {.statement = "the mean of |gamma g| at the end is far below Jacobi's",
      .rule = "at most a hundredth, for all three; in part: smaller"}},
    {judge_active,
     {.statement = "the active set changes more in Kucera's method than in GPMINRES",
      .rule =
          "a larger jump from one iterate of the trace to the next, after ten iterations; those "
          "of GPMINRES are a face apart"}},
    {judge_settling,
     {.statement = "GPMINRES settles on an active set more quickly than Kucera's method",
      .rule = "fewer iterations until its size, which the paper's Fig. 10 shows, stays within 1 % "
              "of that at the end"}},
};

/* Statements on all beds together. */
static const struct {
    Judge *judge;
    Claim claim;
} claims_of_sizes[] = {
    {judge_scaling,
     {.statement = "Jacobi scales much worse with the size than the other three",
      .rule = "from the smallest to the largest bed its iterations grow by at least twice the "
              "factor of each other, to the gap that it ends with on the worst bed; in part: by "
              "the largest factor"}},
    {judge_unsettled,
     {.statement = "the size of the active set can be unsettled even as the objective approaches "
                   "the minimum, best seen on larger beds",
      .rule = "of GPMINRES or Kucera's method it still changes after a gap of 1e-4 on each bed, "
              "and over more contacts on the largest than on the smallest; in part: it does on one "
              "bed"}},
    {judge_contents,
     {.statement = "even while its size is constant, the contents of the active set can change",
      .rule = "after a gap of 1e-4 a row of the trace of GPMINRES or Kucera's method has as many "
              "contacts without impulse as the row before, but others"}},
};

void heyn_add_bed_claims(LabSet *set, int divisor)
{
    Comparison c[FAMILIES];
    compare_families(set, divisor, c);
    for (int p = 0; p < set->problem_count; p++)
        for (int i = 0; i < LAB_COUNT(bed_claims); i++)
            claim_by_families(set, c, p, bed_claims[i].judge, &bed_claims[i].claim);
    for (int i = 0; i < LAB_COUNT(claims_of_sizes); i++)
        claim_by_families(set, c, ALL_CASES, claims_of_sizes[i].judge, &claims_of_sizes[i].claim);
}

/* ---- heyn-3: a heavy body on light ones ---- */

/* Whether gpminres is the first to reach the judged gap. */
static HeynFinding judge_first_to_gap(const Comparison *c, int p)
{
    double best = experiment_best_objective(c->set, p), iterations[COMPARED];
    char leaders[LAB_TEXT];
    int first = 0;
    for (int i = 0; i < COMPARED; i++) {
        iterations[i] = heyn_count_iterations_to(c->r[p][i], best, c->judged_gap);
        first = iterations[i] < iterations[first] ? i : first;
    }
    bool reached = isfinite(iterations[first]);
    list_leaders(c, p, leaders, sizeof leaders);
    return heyn_make_finding(claim_if(reached && first == GPMINRES),
                             "first: %s; smallest residual: %s",
                             reached ? method_names[first] : "none", leaders);
}

/* Traces have a row every 2 % of the iterations, or after a face of ten, so that a difference of 5 % says nothing. */
static const double margin = 0.05;

/* Returns the iterations of a method to the judged gap at the heaviest mass, over those at the lightest. INFINITY if
 * the gap is not reached at the heaviest, NAN if not at the lightest. */
static double get_degradation(const Comparison *c, int method)
{
    const int last = CASES - 1;
    double heaviest = heyn_count_iterations_to(
               c->r[last][method], experiment_best_objective(c->set, last), c->judged_gap),
           lightest = heyn_count_iterations_to(c->r[0][method],
                                               experiment_best_objective(c->set, 0), c->judged_gap);
    return isfinite(lightest) ? heaviest / lightest : NAN;
}

/* Whether gpminres degrades least. Leaves out jacobi, which does not reach the judged gap in 1,000 iterations. */
static HeynFinding judge_degradation(const Comparison *c, int p)
{
    double gpminres = get_degradation(c, GPMINRES), spg = get_degradation(c, SPG);
    double kucera = get_degradation(c, KUCERA);
    (void)p; /* all cases */
    if (!isfinite(gpminres) || isnan(spg) || isnan(kucera))
        return find_missing_gap(c);
    double other = fmin(spg, kucera);
    return heyn_make_finding(
        claim_if_whole(gpminres < (1.0 - margin) * other, gpminres < (1.0 + margin) * other),
        "%.2f times (gpminres), %.2f (spg), %.2f (kucera)", gpminres, spg, kucera);
}

/* Whether all solvers are further from the optimum after 100 iterations for each larger mass, and jacobi is the
 * furthest. */
static HeynFinding judge_all_degrade(const Comparison *c, int p)
{
    enum { AFTER = 100, LAST = CASES - 1 };
    double gap[COMPARED][CASES];
    int worse = 0, most = 0;
    for (int s = 0; s < COMPARED; s++) {
        for (p = 0; p < CASES; p++)
            gap[s][p] =
                heyn_get_gap(c->r[p][s], AFTER / c->divisor, experiment_best_objective(c->set, p));
        for (p = 1; p < CASES; p++)
            worse += gap[s][p] > gap[s][p - 1];
        most = gap[s][LAST] > gap[most][LAST] ? s : most;
    }
    return heyn_make_finding(claim_if_whole(worse == COMPARED * LAST && most == JACOBI,
                                            worse == COMPARED * LAST || most == JACOBI),
                             "jacobi %.2g, gpminres %.2g, spg %.2g, kucera %.2g; %d of %d grow",
                             gap[JACOBI][LAST], gap[GPMINRES][LAST], gap[SPG][LAST],
                             gap[KUCERA][LAST], worse, COMPARED * LAST);
}

/* Returns the gap at which two runs are compared: `judged_gap` or, if neither comes to it, ten or a hundred times that. */
static double get_gap_of_either(const LabResult *a, const LabResult *b, double best,
                                double judged_gap)
{
    double gap = judged_gap;
    for (int k = 0; k < 2 && !isfinite(heyn_count_iterations_to(a, best, gap)) &&
                    !isfinite(heyn_count_iterations_to(b, best, gap));
         k++)
        gap *= 10.0;
    return gap;
}

/* Whether the diagonal preconditioner makes spg faster, the other parameters equal. */
static void claim_diagonal(LabSet *set, const Comparison c[FAMILIES])
{
    int faster = 0, missing = 0;
    char text[LAB_TEXT] = "";
    size_t used = 0;
    for (int p = 0; p < set->problem_count && used < sizeof text; p++) {
        const LabResult *plain = c[PAPER].r[p][SPG], *scaled = c[OURS].r[p][SPG];
        double best = experiment_best_objective(set, p);
        if (!plain || !scaled) {
            missing++;
            continue;
        }
        const double gap = get_gap_of_either(plain, scaled, best, c->judged_gap);
        double without = heyn_count_iterations_to(plain, best, gap),
               with = heyn_count_iterations_to(scaled, best, gap);
        missing += !isfinite(with) && !isfinite(without);
        faster += with < (1.0 - margin) * without;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.0f against %.0f",
                                 p ? ", " : "", with, without);
    }
    claims_add(set,
               &(Claim){.statement = "the diagonal preconditioner improves P-SPG-FB, especially "
                                     "with many light objects and few heavy ones",
                        .rule = "with it fewer iterations to a gap of 1e-4 at each mass, by more "
                                "than 5 %, or to 1e-3 or 1e-2 where neither comes to that; in "
                                "part: at one"},
               missing ? CLAIM_UNJUDGED : claim_if_whole(faster == set->problem_count, faster > 0),
               "iterations: %s", text);
}

void heyn_add_mass_claims(LabSet *set, int divisor)
{
    Comparison c[FAMILIES];
    compare_families(set, divisor, c);
    for (int p = 0; p < set->problem_count; p++)
        claim_by_families(set, c, p, judge_first_to_gap,
                          &(Claim){.statement = "GPMINRES performs best",
                                   .rule = "it is the first to a gap of 1e-4"});
    claim_by_families(set, c, ALL_CASES, judge_degradation,
                      &(Claim){.statement = "from 1,000 to 16,000 kg GPMINRES loses least",
                               .rule = "its iterations to a gap of 1e-4 grow by the smallest "
                                       "factor, by more than 5 %; in part: within 5 % of it"});
    claim_by_families(set, c, ALL_CASES, judge_all_degrade,
                      &(Claim){.statement = "all solvers lose with the mass, Jacobi most",
                               .rule = "larger gaps after 100 iterations for each larger mass, "
                                       "Jacobi's the largest at 16,000 kg; in part: one of the "
                                       "two"});
    claim_diagonal(set, c);
}

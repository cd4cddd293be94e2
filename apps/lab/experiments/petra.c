/* lab/experiments/petra.c - the optimisation experiment of petra-2009, section 4.4.2: the quadratic program of one step
 * of 1,000 pebbles, 800 at the bottom of the vessel and 200 falling, 3.3 s after release, for two step lengths h.
 *
 * The paper's problems have 62,826 and 62,760 dual unknowns, three per contact: 21 contacts per pebble. They contain
 * all pairs up to some distance, which the paper does not give. Here it is chosen to give the same numbers.
 *
 * The paper has triangles as friction sections. It says of polygons that their error decreases like 1 / p^2 with the
 * number p of their sides (section 2.1), and leaves friction cones that are not approximated to future work (section 4.5).
 * For both the step with the longer h is solved on discs and on polygons of more sides, too. */
#include "petra.h"

#include "experiment.h"

#include "problem/qp.h"
#include "solvers/ipm/pointed.h"

#include <math.h>
#include <string.h>

/* ---- cases ---- */

/* Indices of the cases: the paper's two step lengths, and the longer one on other sections; their number. */
enum { SHORT, LONG, DISCS, HEXAGONS, DODECAGONS, CASES };
enum { STEPS = DISCS }; /* number of the paper's cases */

static const TalusFrictionModel disc = {.law = TALUS_LAW_CCP, .section = TALUS_SECTION_DISC},
                                hexagon = {.law = TALUS_LAW_CCP,
                                           .section = TALUS_SECTION_POLYGON,
                                           .sides = 6},
                                dodecagon = {.law = TALUS_LAW_CCP,
                                             .section = TALUS_SECTION_POLYGON,
                                             .sides = 12};

/* The problem with the longer h and other sections. */
#define LONG_ON(plural, section_model)                                                         \
    {                                                                                          \
        .name = "1,000 pebbles, h 0.05, " plural, .quick_name = "60 pebbles, h 0.05, " plural, \
        .scene = "pebble-drop", .at = 3.3, .quick_at = 2.5, .set = {"h=0.05"},                 \
        .quick_set = {"h=0.05", "resting=50", "falling=10"}, .contacts = 20920,                \
        .quick_contacts = 500, .model = &(section_model)                                       \
    }

static const BenchCase cases[CASES] = {
    [SHORT] = {.name = "1,000 pebbles, h 0.01",
               .quick_name = "60 pebbles, h 0.01",
               .scene = "pebble-drop",
               .at = 3.3,
               .quick_at = 2.5,
               .set = {"h=0.01"},
               .quick_set = {"h=0.01", "resting=50", "falling=10"},
               .contacts = 20942,
               .quick_contacts = 500},
    [LONG] = {.name = "1,000 pebbles, h 0.05",
              .quick_name = "60 pebbles, h 0.05",
              .scene = "pebble-drop",
              .at = 3.3,
              .quick_at = 2.5,
              .set = {"h=0.05"},
              .quick_set = {"h=0.05", "resting=50", "falling=10"},
              .contacts = 20920,
              .quick_contacts = 500},
    [DISCS] = LONG_ON("discs", disc),
    [HEXAGONS] = LONG_ON("hexagons", hexagon),
    [DODECAGONS] = LONG_ON("dodecagons", dodecagon),
};

/* ---- runs: with the paper's stopping rules, and to the same residual ---- */

#define CHOL "ipm-chol:stop=ooqp"
#define AUGMENTED "ipm-aug:stop=ooqp"
#define BLMVM "tao-blmvm:stop=paper"
#define TRON "tao-tron:stop=paper"
/* The algorithm that the paper names as MOSEK's, with MOSEK's tolerances; MOSEK itself is not free. */
#define HOMOGENEOUS "ipm-hsd:stop=mosek"

#define ON_TRIANGLES (1u << SHORT | 1u << LONG)
#define ON_DISCS (1u << DISCS)

/* Omitted is tao-bqpip, which factorises the whole dual matrix in every iteration. */
static const BenchRun runs[] = {
    {CHOL, 1000, 0.0, false, ON_TRIANGLES, NULL},
    {AUGMENTED, 1000, 0.0, false, ON_TRIANGLES, NULL},
    {HOMOGENEOUS, 1000, 0.0, false, ON_TRIANGLES | ON_DISCS, NULL},
    {BLMVM, 100000, 0.0, false, ON_TRIANGLES, NULL},
    {TRON, 100000, 0.0, false, ON_TRIANGLES, NULL},
    {"ipm-chol", 1000, 1e-6, false, ON_TRIANGLES, NULL},
    {"ipm-aug", 1000, 1e-6, false, ON_TRIANGLES, NULL},
    {"ipm-hsd", 1000, 1e-6, false, 0, NULL},
    {"ipm-soc", 1000, 1e-6, false, ON_DISCS, NULL},
    {"tao-blmvm", 100000, 1e-6, false, ON_TRIANGLES, NULL},
    {"tao-tron", 100000, 1e-6, false, ON_TRIANGLES, NULL},
    {"tao-gpcg", 100000, 1e-6, false, ON_TRIANGLES, NULL},
    {"apgd", 100000, 1e-6, false, ON_TRIANGLES, NULL},
    {"lbfgs-fb", 100000, 1e-6, false, ON_TRIANGLES, NULL},
    {"auto", 100000, 1e-6, false, ON_TRIANGLES, NULL},
};

/* ---- the paper's results ---- */

const int petra_paper_unknowns[PETRA_PAPER_STEPS] = {62826, 62760};

const PetraPaperSolve petra_paper_solves[PETRA_PAPER_SOLVES] = {
    {CHOL, "OOQP-CHOL", {33, 31}, {3.115, 3.016}, {102.812, 93.500}},
    {BLMVM, "BLMVM", {2501, 1729}, {0.127, 0.128}, {318.016, 221.640}},
    {AUGMENTED, "OOQP-MA27", {33, 31}, {21.120, 21.351}, {696.984, 661.881}},
    {HOMOGENEOUS, "MOSEK", {24, 24}, {465.362, 456.534}, {11168.688, 10956.832}},
    {TRON, "TRON", {0, 0}, {NAN, NAN}, {NAN, NAN}},
};

static const PetraPaperSolve *find_paper_solve(const char *solver)
{
    for (int i = 0; i < PETRA_PAPER_SOLVES; i++)
        if (strcmp(petra_paper_solves[i].solver, solver) == 0)
            return &petra_paper_solves[i];
    return NULL;
}

/* Adds iterations, average and total seconds of the paper, "crash", or "-" if the paper has no such row. */
static void add_paper_cells(LabTable *t, const PetraPaperSolve *row, int c)
{
    if (row && row->iterations[c] > 0)
        lab_table_add_cells(t, "%d\t%.3f\t%.3f", row->iterations[c], row->average[c],
                            row->total[c]);
    else
        lab_table_add_cells(t, row ? "crash\tcrash\tcrash" : "-\t-\t-");
}

/* ---- Tables 4 and 5 ---- */

/* Sizes of the quadratic program of a case. */
typedef struct QpScale {
    /* Largest magnitude in its data, OOQP's scale; NAN: no such program. */
    double datum;
    int primal, dual; /* numbers of unknowns */
} QpScale;

static QpScale find_scale(const LabSet *set, int c)
{
    TalusQp qp = {0};
    QpScale scale = {.datum = NAN};
    if (talus_qp_fill(&qp, set->problems[c].problem) == TALUS_OK)
        scale = (QpScale){talus_qp_data_scale(&qp, NULL), 3 * qp.bodies.groups, qp.multipliers};
    talus_qp_clear(&qp);
    return scale;
}

/* True if the solver stopped by a rule of its own: it had no tolerance and reached neither limit, of iterations or of
 * seconds. Its outcome is then LAB_BUDGET, as for a solver that gives up. */
static bool stopped_by_own_rule(const LabResult *r)
{
    return r->outcome == LAB_BUDGET && r->tolerance == 0.0 && r->iterations < r->max_iterations &&
           !(r->seconds >= r->max_seconds);
}

/* Writes how a solve ended: "by its rule" or the name of its outcome. */
static const char *name_end(const LabResult *r)
{
    return stopped_by_own_rule(r) ? "by its rule" : lab_outcome_name(r->outcome);
}

static void add_result_cells(LabTable *t, const LabResult *r, const QpScale *scale)
{
    const bool explained = r->reason[0] && !stopped_by_own_rule(r);
    lab_table_add_cell(t, "%s", r->solver);
    lab_table_add_cell(t, "%s%s%s", name_end(r), explained ? ": " : "", explained ? r->reason : "");
    lab_table_add_cell(t, "%d", r->iterations);
    if (!lab_outcome_is_measured(r->outcome)) {
        lab_table_add_cells(t, "-\t-\t-\t-\t-\t-\t-");
        return;
    }
    lab_table_add_cells(t, "%.4f\t%.2f\t%.1f\t%.1e\t%.1e\t%.1e\t%d",
                        r->iterations > 0 ? r->seconds / r->iterations : 0.0, r->seconds,
                        r->memory_bytes / 1048576.0, r->residual[LAB_R_DUALITY_GAP] / scale->datum,
                        r->residual[LAB_R_PRIMAL_INFEASIBILITY],
                        r->residual[LAB_R_NATURAL_RELATIVE], r->open);
}

/* Headings of add_result_cells. */
#define RESULT_COLUMNS                                                             \
    "solver\toutcome\titerations\taverage, s\ttotal, s\tmemory, MB\tgap / datum\t" \
    "infeasibility, m/s\tresidual\topen contacts"

/* Adds our results in the form of the paper's Table 4 (c = 0) or 5 (c = 1); `full`: with the paper's figures beside
 * them. */
static void add_case_table(LabSet *set, int c, bool full)
{
    char title[2 * LAB_TEXT];
    QpScale scale = find_scale(set, c);
    snprintf(title, sizeof title, "Table %d: %s, %d unknowns in the primal, %d in the dual", 4 + c,
             set->problems[c].name, scale.primal, scale.dual);
    LabTable *t = lab_set_add_table(set, title, RESULT_COLUMNS);
    if (full)
        lab_table_add_columns(t, "paper: iterations\tpaper: average, s\tpaper: total, s");
    for (int i = 0; i < LAB_COUNT(runs); i++) {
        const LabResult *r = experiment_find_any_result(set, c, runs[i].solver);
        if (!r)
            continue;
        add_result_cells(t, r, &scale);
        if (full)
            add_paper_cells(t, find_paper_solve(runs[i].solver), c);
    }
    snprintf(
        t->note, sizeof t->note,
        "stop=...: by the paper's rule, the others to 1e-6 of the residual of zero impulses; all "
        "within %g s. Gap over OOQP's scale, the largest magnitude in the data, here %.3g; "
        "residual: natural, relative. Open: without any impulse. Unknowns of the primal are those of "
        "pebbles in contact.",
        petra_opt.seconds, scale.datum);
}

/* Adds the step on other sections, after the solves of the same step on triangles that they are compared with. */
static void add_section_table(LabSet *set)
{
    static const struct {
        int c;
        const char *solver;
    } rows[] = {{LONG, CHOL},          {LONG, HOMOGENEOUS},    {LONG, "ipm-hsd"},
                {DISCS, HOMOGENEOUS},  {DISCS, "ipm-hsd"},     {DISCS, "ipm-soc"},
                {HEXAGONS, "ipm-hsd"}, {DODECAGONS, "ipm-hsd"}};
    LabTable *t = lab_set_add_table(set, "Section 4.5: the step of Table 5 on other sections",
                                    "section\t" RESULT_COLUMNS);
    lab_table_add_columns(t, "objective, J");
    for (int i = 0; i < LAB_COUNT(rows); i++) {
        const LabResult *r = experiment_find_any_result(set, rows[i].c, rows[i].solver);
        if (!r)
            continue;
        QpScale scale = find_scale(set, rows[i].c);
        lab_table_add_cell(t, "%s", r->section);
        add_result_cells(t, r, &scale);
        lab_table_add_cells(t, "%.3f", r->objective);
    }
    snprintf(t->note, sizeof t->note,
             "Columns as in Table 5. The gap of discs is not compared with OOQP's scale, which is "
             "of quadratic programs.");
}

/* ---- statements ---- */

/* Returns NULL if the result is missing or not measured. */
static const LabResult *find_measured(const LabSet *set, int c, const char *solver)
{
    const LabResult *r = experiment_find_any_result(set, c, solver);
    return r && lab_outcome_is_measured(r->outcome) ? r : NULL;
}

/* Finds the results of a solver for both steps. Returns false, after adding the claim as not judged, if one of them is
 * missing or not measured. */
static bool find_both(LabSet *set, const Claim *claim, const char *solver,
                      const LabResult *r[STEPS])
{
    for (int c = 0; c < STEPS; c++) {
        r[c] = find_measured(set, c, solver);
        if (!r[c]) {
            claims_add(set, claim, CLAIM_UNJUDGED, "no result of %s", solver);
            return false;
        }
    }
    return true;
}

/* Finds the seconds of a solver over those of CHOL for both steps. Returns false, after adding the claim as not judged,
 * if a result is missing or not measured. */
static bool find_ratios(LabSet *set, const Claim *claim, const char *solver, double ratio[STEPS])
{
    const LabResult *r[STEPS], *chol[STEPS];
    if (!find_both(set, claim, solver, r) || !find_both(set, claim, CHOL, chol))
        return false;
    for (int c = 0; c < STEPS; c++)
        ratio[c] = r[c]->seconds / chol[c]->seconds;
    return true;
}

/* Judges whether CHOL ends by OOQP's rule, a mean product of at most 1e-8, within the paper's iterations. */
static void claim_gap(LabSet *set)
{
    const Claim claim = {
        .statement = "interior point by Cholesky: OOQP's rule holds within 33 and 31 iterations",
        .rule = "a mean product of at most 1e-8 J within as many iterations, h 0.01 and 0.05"};
    const LabResult *r[STEPS];
    bool holds = true;
    char text[LAB_TEXT] = "";
    size_t used = 0;
    if (!find_both(set, &claim, CHOL, r))
        return;
    for (int c = 0; c < STEPS; c++) {
        double mean = r[c]->residual[LAB_R_DUALITY_GAP] / find_scale(set, c).dual;
        holds = holds && mean <= 1e-8 && r[c]->iterations <= find_paper_solve(CHOL)->iterations[c];
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%s%d iterations, mean product %.1e",
                             c ? "; " : "", r[c]->iterations, mean);
    }
    claims_add(set, &claim, claim_if(holds), "%s", text);
}

/* Judges whether the homogeneous method ends by MOSEK's tolerances within 30 iterations for both steps. */
static void claim_homogeneous(LabSet *set)
{
    const Claim claim = {.statement =
                             "MOSEK, a homogeneous interior point, needs no more than some 24 "
                             "iterations",
                         .rule = "ipm-hsd meets MOSEK's tolerances within 30, both steps"};
    const LabResult *r[STEPS];
    bool holds = true;
    if (!find_both(set, &claim, HOMOGENEOUS, r))
        return;
    for (int c = 0; c < STEPS; c++)
        holds = holds && stopped_by_own_rule(r[c]) && r[c]->iterations <= 30;
    claims_add(set, &claim, claim_if(holds), "%d and %d iterations", r[SHORT]->iterations,
               r[LONG]->iterations);
}

/* Judges the seconds of solver `other` over those of CHOL: the claim holds if from `low` to `high` for both steps, in
 * part if above `part` for both. */
static void claim_ratio(LabSet *set, const Claim *claim, const char *other, double low, double high,
                        double part)
{
    double ratio[STEPS];
    if (find_ratios(set, claim, other, ratio))
        claims_add(set, claim,
                   claim_if_whole(fmin(ratio[SHORT], ratio[LONG]) >= low &&
                                      fmax(ratio[SHORT], ratio[LONG]) <= high,
                                  ratio[SHORT] > part && ratio[LONG] > part),
                   "%.2f and %.2f times", ratio[SHORT], ratio[LONG]);
}

/* Judges the paper's ranking of those that did not crash. */
static void claim_ranking(LabSet *set)
{
    static const char *const order[] = {CHOL, BLMVM, AUGMENTED, HOMOGENEOUS};
    const Claim claim = {
        .statement = "ranking by time: Cholesky, BLMVM, MA27, MOSEK",
        .rule = "seconds by the paper's rules rise in this order, ipm-hsd for MOSEK, both steps; "
                "in part: Cholesky first for both"};
    double s[STEPS][LAB_COUNT(order)];
    for (int i = 0; i < LAB_COUNT(order); i++) {
        const LabResult *r[STEPS];
        if (!find_both(set, &claim, order[i], r))
            return;
        for (int c = 0; c < STEPS; c++)
            s[c][i] = r[c]->seconds;
    }
    const ClaimVerdict at_short = claim_if_rising(s[SHORT], LAB_COUNT(order)),
                       at_long = claim_if_rising(s[LONG], LAB_COUNT(order));
    claims_add(set, &claim, at_short > at_long ? at_short : at_long, /* the worse of the two */
               "h 0.01: %.2f, %.2f, %.2f, %.2f s; h 0.05: %.2f, %.2f, %.2f, %.2f s", s[SHORT][0],
               s[SHORT][1], s[SHORT][2], s[SHORT][3], s[LONG][0], s[LONG][1], s[LONG][2],
               s[LONG][3]);
}

/* Judges what the paper expects of MOSEK's conic solver, section 4.5: the same program, with triangles, its energy
 * written as a rotated cone. The homogeneous method stands for that solver. Discs are another program and not judged. */
static void claim_conic(LabSet *set)
{
    const Claim claim = {
        .statement = "a conic form of the program is comparable in efficiency to Cholesky",
        .rule = "ipm-hsd, homogeneous, ends by MOSEK's rule on the same triangles, and its whole "
                "solve takes half to twice Cholesky's seconds, both steps; in part: at most five "
                "times"};
    double ratio[STEPS];
    bool comparable = true, near = true;
    if (!find_ratios(set, &claim, HOMOGENEOUS, ratio))
        return;
    for (int c = 0; c < STEPS; c++) {
        near = near && stopped_by_own_rule(find_measured(set, c, HOMOGENEOUS)) && ratio[c] <= 5.0;
        comparable = comparable && near && ratio[c] >= 0.5 && ratio[c] <= 2.0;
    }
    claims_add(set, &claim, claim_if_whole(comparable, near), "%.2f and %.2f times", ratio[SHORT],
               ratio[LONG]);
}

/* Returns the objective of the step with the longer h on the sections of a case, J; NAN if it was not solved. */
static double get_objective(const LabSet *set, int c)
{
    const LabResult *r = experiment_find_any_result(set, c, "ipm-hsd");
    return r && r->outcome == LAB_CONVERGED ? r->objective : NAN;
}

/* Judges how fast polygons approach the disc. */
static void claim_polygons(LabSet *set)
{
    const Claim claim = {
        .statement = "the error of the polygonal approximation decreases like 1 / p^2",
        .rule = "of the objective, against discs: falls at least threefold, four would be 1 / p^2, "
                "from 3 to 6 and from 6 to 12 sides; in part: twofold"};
    double exact = get_objective(set, DISCS);
    double error[] = {get_objective(set, LONG) - exact, get_objective(set, HEXAGONS) - exact,
                      get_objective(set, DODECAGONS) - exact};
    double first = error[0] / error[1], second = error[1] / error[2];
    if (isnan(first) || isnan(second))
        claims_add(set, &claim, CLAIM_UNJUDGED, "a result of ipm-hsd is missing");
    else
        claims_add(set, &claim,
                   claim_if_whole(first >= 3.0 && second >= 3.0, first >= 2.0 && second >= 2.0),
                   "%.3g, %.3g and %.3g J of %.4g: by factors of %.2f and %.2f", error[0], error[1],
                   error[2], fabs(exact), first, second);
}

/* Judges whether the friction cones are pointed, section 2.3. */
static void claim_pointed(LabSet *set)
{
    const Claim claim = {.statement =
                             "jamming, a friction cone that is not pointed, does not occur",
                         .rule = "some velocity opens all contacts at once, both steps; in part: "
                                 "in one"};
    int pointed = 0;
    TalusPointed cone[STEPS];
    for (int c = 0; c < STEPS; c++) {
        if (talus_qp_pointed(set->problems[c].problem, &cone[c], NULL) != TALUS_OK) {
            claims_add(set, &claim, CLAIM_UNJUDGED, "%s", talus_error());
            return;
        }
        pointed += cone[c].pointed;
    }
    claims_add(set, &claim, claim_if_all(pointed, STEPS, STEPS),
               "in %d of %d, by margins of at least %.1e and %.1e", pointed, STEPS,
               cone[SHORT].lower, cone[LONG].lower);
}

/* Judges the statement that TRON crashes, in the paper for want of memory and for both steps. */
static void claim_crash(LabSet *set)
{
    const Claim claim = {.statement = "TRON crashes",
                         .rule = "its solves end with an error for both steps; in part: for one"};
    int crashed = 0, failed = 0, all = 0;
    const LabResult *tron[STEPS];
    for (int c = 0; c < STEPS; c++) {
        tron[c] = experiment_find_any_result(set, c, TRON);
        if (!tron[c]) {
            claims_add(set, &claim, CLAIM_UNJUDGED, "no result of %s", TRON);
            return;
        }
        crashed += tron[c]->outcome == LAB_FAILED;
        for (int i = 0; i < LAB_COUNT(runs); i++) {
            const LabResult *r = experiment_find_any_result(set, c, runs[i].solver);
            all += r != NULL;
            failed += r && !lab_outcome_is_measured(r->outcome);
        }
    }
    claims_add(set, &claim, claim_if_all(crashed, STEPS, STEPS),
               "%d of %d runs end without a result; TRON: %s and %s", failed, all,
               name_end(tron[SHORT]), name_end(tron[LONG]));
}

/* Judges whether all methods find the same optimum: the largest difference of the objectives of runs that converged to
 * the tolerance of their table, over their size. */
static void claim_agreement(LabSet *set)
{
    double worst = 0.0;
    int compared = 0;
    for (int c = 0; c <= DISCS; c++) {
        double best = experiment_best_objective(set, c);
        for (int i = 0; i < set->result_count; i++) {
            const LabResult *r = &set->results[i];
            if (r->problem != c || r->outcome != LAB_CONVERGED || !(r->tolerance > 0.0))
                continue;
            worst = fmax(worst, (r->objective - best) / fabs(best));
            compared++;
        }
    }
    claims_add(set,
               &(Claim){.statement = "all solvers give comparable results",
                        .rule = "objectives of runs to 1e-6 of the residual differ by at most 1e-6 "
                                "of their size"},
               compared ? claim_if(worst <= 1e-6) : CLAIM_UNJUDGED, "%.1e, over %d runs", worst,
               compared);
}

static void conclude(LabSet *set, int divisor)
{
    for (int c = 0; c < STEPS; c++)
        add_case_table(set, c, divisor == 1);
    add_section_table(set);
    claim_gap(set);
    claim_ratio(set,
                &(Claim){.statement = "the augmented system takes 7 times as long as Cholesky",
                         .rule = "5 to 14 times, at most twice the paper's, both steps; in part: "
                                 "longer in both"},
                AUGMENTED, 5.0, 14.0, 1.0);
    claim_ratio(set,
                &(Claim){.statement = "BLMVM takes 2 to 3 times as long as Cholesky",
                         .rule = "2 to 4 times, the paper's most by a third more, both steps; in "
                                 "part: longer in both"},
                BLMVM, 2.0, 4.0, 1.0);
    claim_homogeneous(set);
    claim_ratio(set,
                &(Claim){.statement = "MOSEK takes 109 and 117 times as long as Cholesky",
                         .rule = "ipm-hsd, MOSEK's algorithm: within a factor 2 of both, 59 to 217 "
                                 "times, both steps; in part: more than 10 times"},
                HOMOGENEOUS, 59.0, 217.0, 10.0);
    claim_crash(set);
    claim_ranking(set);
    claim_conic(set);
    claim_polygons(set);
    claim_pointed(set);
    claim_agreement(set);
}

const Experiment petra_opt = {
    .name = "petra-opt",
    .summary = "one quadratic program of 1,000 pebbles, 62,800 unknowns in the dual",
    .source = "petra-2009 Tables 4 and 5, sections 2.1, 2.3 and 4.5",
    EXPERIMENT_RUNS(cases, runs),
    .seconds = 300.0,
    .conclude = conclude};

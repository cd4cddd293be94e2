/* lab/experiments/heyn.c - the three test problems of heyn-2012, section 5: frictionless beds of spheres; jacobi
 * against gpminres, spg (the paper's SPG-FB) and kucera, all from zero impulses.
 *
 * Each method but jacobi, whose defaults are the paper's parameters, runs twice: with the paper's parameters, "(paper)"
 * in its label, and with those of this library. Statements are judged by the paper's parameters; what ours give is said
 * beside it. Parameters that the paper does not give (mu, eta1 and eta2 of GPMINRES, tau_g, xi and sigma of SPG-FB) are
 * ours in both.
 *
 * The paper gives neither step nor stabilisation nor collision envelope. Here h is 5 ms, and the envelope is chosen to
 * give about the paper's numbers of contacts. Objectives are compared relative to the optimum, which is the smallest
 * objective of all runs of the case. */
#include "heyn.h"

#include "base/status.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- runs ---- */

/* The paper's GPMINRES: the first step along the whole gradient, unscaled, projection steps until (17) or (18) holds, no
 * rule on null spaces, and MINRES steps are the iterations, as in its Table I. */
#define GP_PAPER "line=whole,metric=none,projections=100000,null_exit=off,count=krylov"
#define GPMINRES_PAPER "gpminres:" GP_PAPER
#define FACTORS_PAPER "gpminres-p:factor=lu," GP_PAPER
#define SPG_PAPER "spg:precondition=off"
#define KUCERA_PAPER "kucera:metric=none"

#define RUN(spec, name, count)                                   \
    {                                                            \
        .solver = (spec), .label = (name), .iterations = (count) \
    }

/* Finds the optimum. */
#define RUN_OPTIMUM                                               \
    {                                                             \
        .solver = "apgd", .iterations = 30000, .tolerance = 1e-10 \
    }

/* Compared methods; the parameters they run with. */
enum { JACOBI, GPMINRES, SPG, KUCERA, COMPARED };
enum { PAPER, OURS, FAMILIES };

static const char *const method_names[COMPARED] = {"jacobi", "gpminres", "spg", "kucera"};
static const char *const compared_labels[FAMILIES][COMPARED] = {
    [PAPER] = {"jacobi", "gpminres (paper)", "spg (paper)", "kucera (paper)"},
    [OURS] = {"jacobi", "gpminres", "spg", "kucera"},
};
/* All labels once, the two of a method together. */
static const char *const all_labels[] = {"jacobi", "gpminres (paper)", "gpminres", "spg (paper)",
                                         "spg",    "kucera (paper)",   "kucera"};

static void add_paper_note(LabSet *set)
{
    lab_set_add_note(set, "(paper): with the paper's parameters. Iterations of gpminres are then "
                          "its MINRES steps alone; else also its projection steps. The defaults of "
                          "jacobi are the paper's.");
}

/* ---- statements, judged by both families of parameters ---- */

typedef struct Finding {
    ClaimVerdict verdict;
    char text[LAB_TEXT];
} Finding;

CLI_PRINTF(2, 3) static Finding make_finding(ClaimVerdict verdict, const char *format, ...)
{
    Finding finding = {.verdict = verdict};
    TALUS_FORMAT(finding.text, format);
    return finding;
}

static Finding find_missing_run(void)
{
    return make_finding(CLAIM_UNJUDGED, "a run is missing");
}

/* Adds a claim judged by the paper's parameters, with what ours give. */
static void add_claim(LabSet *set, const Claim *claim, const Finding *paper, const Finding *ours)
{
    claims_add(set, claim, paper->verdict, "(paper): %s; our parameters: %s, %s", paper->text,
               claim_verdict_name(ours->verdict), ours->text);
}

/* ---- tables of all experiments ---- */

static const char *get_case_name(const LabSet *set, int problem)
{
    return set->problems[problem].name;
}

/* Returns the iterations until the gap of the objective from the optimum `best` is at most `gap`; INFINITY: never. */
static double count_iterations_to(const LabResult *r, double best, double gap)
{
    for (int k = 0; k < r->trace.count; k++)
        if (heyn_get_gap(r, (int)r->trace.row[k][LAB_ITERATION], best) <= gap)
            return r->trace.row[k][LAB_ITERATION];
    return INFINITY;
}

static const double gaps[] = {1e-2, 1e-4, 1e-6}; /* objective above the optimum, relative */
static double judged_gap = 1e-4; /* gap at which solvers are ranked; choose_judged_gap */

/* Adds a table of iterations until each of `gaps`: a row per solver and case, the cases of a solver together, so that
 * the growth from case to case is visible. */
static void add_iterations_table(LabSet *set, const char *const *labels, int count)
{
    LabTable *t = lab_set_add_table(
        set, "Ranking: iterations until the objective is near the optimum", "solver\tcase");
    for (int g = 0; g < LAB_COUNT(gaps); g++)
        lab_table_add_columns(t, "gap %g", gaps[g]);
    for (int s = 0; s < count; s++)
        for (int p = 0; p < set->problem_count; p++) {
            const LabResult *r = experiment_find_result(set, p, labels[s]);
            if (!r)
                continue;
            lab_table_add_cells(t, "%s\t%s", r->solver, get_case_name(set, p));
            for (int g = 0; g < LAB_COUNT(gaps); g++) {
                double iterations =
                    count_iterations_to(r, experiment_best_objective(set, p), gaps[g]);
                lab_table_add_cells(t, "%.0f", isfinite(iterations) ? iterations : NAN);
            }
        }
}

/* Adds a table of the sizes of the problems beside the paper's numbers of contacts, which a quick version (divisor > 1)
 * leaves out. */
static void add_problems_table(LabSet *set, const int *paper_contacts, int divisor)
{
    LabTable *t = lab_set_add_table(set, "Problems", "case\tbodies\tcontacts\tunknowns");
    if (divisor == 1)
        lab_table_add_columns(t, "paper: contacts");
    for (int p = 0; p < set->problem_count; p++) {
        const TalusProblem *problem = set->problems[p].problem;
        lab_table_add_cells(t, "%s\t%d\t%d\t%d", get_case_name(set, p),
                            talus_problem_bodies(problem), talus_problem_blocks(problem),
                            talus_problem_size(problem));
        if (divisor == 1)
            lab_table_add_cells(t, "%d", paper_contacts[p]);
    }
    snprintf(t->note, sizeof t->note, "bodies: with fixed ones, such as walls");
}

/* ---- heyn-1 ---- */

static const BenchCase cases_1[] = {
    {.name = "1,000 spheres in a box",
     .quick_name = "125 spheres in a box",
     .scene = "settle-box",
     .at = 3.0,
     .quick_at = 1.0,
     .set = {"bodies=1000", "mu=0", "envelope=0.05"},
     .quick_set = {"bodies=125", "mu=0", "envelope=0.05"}},
};

/* Runs of heyn-1 and rows of Table I. LU and POSITIVE differ in the factors of a face alone. */
enum {
    SHORT,
    LONG,
    OUR_SHORT,
    OUR_LONG,
    LU,
    POSITIVE,
    OUR_FACTORS,
    JACOBI_1000,
    JACOBI_10000,
    JACOBI_43000,
    JACOBI_100000,
    ROWS_1 = JACOBI_100000 + 5
};

#define NUMBERED(spec, name, count)                                                        \
    {                                                                                      \
        .solver = (spec), .label = (name), .iterations = (count), .label_iterations = true \
    }

static const BenchRun runs_1[] = {
    [SHORT] = NUMBERED(GPMINRES_PAPER, "gpminres (paper)", 1000),
    [LONG] = NUMBERED(GPMINRES_PAPER, "gpminres (paper)", 10000),
    [OUR_SHORT] = NUMBERED("gpminres", NULL, 1000),
    [OUR_LONG] = NUMBERED("gpminres", NULL, 10000),
    [LU] = NUMBERED(FACTORS_PAPER, "gpminres-p (paper)", 100),
    [POSITIVE] = NUMBERED("gpminres-p:" GP_PAPER, "gpminres-p (paper, LDL')", 100),
    [OUR_FACTORS] = NUMBERED("gpminres-p", NULL, 100),
    [JACOBI_1000] = NUMBERED("jacobi", NULL, 1000),
    [JACOBI_10000] = NUMBERED("jacobi", NULL, 10000),
    [JACOBI_43000] = NUMBERED("jacobi", NULL, 43000),
    [JACOBI_100000] = NUMBERED("jacobi", NULL, 100000),
    NUMBERED(SPG_PAPER, "spg (paper)", 1000),
    NUMBERED("spg", NULL, 1000),
    NUMBERED(KUCERA_PAPER, "kucera (paper)", 1000),
    NUMBERED("kucera", NULL, 1000),
    [ROWS_1] = RUN_OPTIMUM,
};

/* The paper's Table I: final objective, largest impulse, seconds. Row LONG has the smallest objective. Rows with an
 * objective of 0 are not in the paper. */
static const struct {
    double objective, largest, seconds;
} paper_1[ROWS_1] = {
    [SHORT] = {-2.9035, 7.7487, 6.70},          [LONG] = {-2.9045, 8.2002, 61.07},
    [LU] = {-2.8854, 6.8551, 1675.0},           [JACOBI_1000] = {-2.5077, 4.4961, 3.66},
    [JACOBI_10000] = {-2.8983, 7.4953, 24.66},  [JACOBI_43000] = {-2.9035, 7.9254, 95.41},
    [JACOBI_100000] = {-2.9043, 8.0619, 231.7},
};

static const int paper_contacts_1[] = {3525};

static double get_final_gap(const LabResult *r, double best)
{
    return (r->objective - best) / fabs(best);
}

/* Returns the gap of a row of the paper's table from its smallest objective. */
static double get_paper_gap(int row)
{
    double best = paper_1[LONG].objective;
    return (paper_1[row].objective - best) / fabs(best);
}

/* Adds the paper's figures of a row of Table I, "-" where it has none. */
static void add_paper_cells(LabTable *t, int row)
{
    if (paper_1[row].objective == 0.0)
        lab_table_add_cells(t, "-\t-\t-\t-");
    else
        lab_table_add_cells(t, "%.4f\t%.1e\t%.4f\t%.2f", paper_1[row].objective, get_paper_gap(row),
                            paper_1[row].largest, paper_1[row].seconds);
}

/* Writes the label of run `run` of runs_1. */
static void format_label_1(int run, int divisor, char label[LAB_TEXT])
{
    experiment_format_label(&runs_1[run], divisor, label);
}

/* Returns the result of run `run` of runs_1; NULL: none. */
static const LabResult *find_heyn_1_result(const LabSet *set, int run, int divisor)
{
    char label[LAB_TEXT];
    format_label_1(run, divisor, label);
    return experiment_find_result(set, 0, label);
}

static void add_table_1(LabSet *set, int divisor, double best)
{
    LabTable *t = lab_set_add_table(
        set, "Table I", "method\titerations\tobjective\tgap\tmin impulse\tmax impulse\ts");
    if (divisor == 1)
        lab_table_add_columns(t, "paper: objective\tgap\tmax impulse\ts");
    for (int i = 0; i < ROWS_1; i++) {
        const LabResult *r = find_heyn_1_result(set, i, divisor);
        if (!r)
            continue;
        int last = r->impulse_count - 1;
        lab_table_add_cells(t, "%s\t%d\t%.9g\t%.1e\t%.4g\t%.4g\t%.3f", r->solver, r->iterations,
                            r->objective, get_final_gap(r, best), last >= 0 ? r->impulse[0] : NAN,
                            last >= 0 ? r->impulse[last] : NAN, r->seconds);
        if (divisor == 1)
            add_paper_cells(t, i);
    }
}

/* How much sooner `solver` reaches the final objective of jacobi: half of the paper's factors, 43 of iterations and 14
 * of time, are asked for. */
static Finding judge_overtaking(const LabResult *solver, const LabResult *jacobi)
{
    if (!solver || !jacobi)
        return find_missing_run();
    const double *row = experiment_find_row_below(solver, LAB_OBJECTIVE, jacobi->objective);
    if (!row)
        return make_finding(CLAIM_FAILS, "not reached in %d iterations", solver->iterations);
    double fewer = jacobi->iterations / fmax(row[LAB_ITERATION], 1.0);
    double faster = jacobi->seconds / row[LAB_SECONDS];
    return make_finding(claim_if_whole(fewer >= 21.5 && faster >= 7.0, fewer > 1.0 && faster > 1.0),
                        "after %.0f iterations of %d: %.0f times fewer, %.1f times faster",
                        row[LAB_ITERATION], jacobi->iterations, fewer, faster);
}

static Finding judge_faster(const LabResult *plain, const LabResult *with)
{
    if (!plain || !with)
        return find_missing_run();
    return make_finding(claim_if(plain->seconds < with->seconds), "%.3f s against %.3f s",
                        plain->seconds, with->seconds);
}

static Finding judge_more_accurate(const LabResult *plain, const LabResult *with, double best)
{
    if (!plain || !with)
        return find_missing_run();
    return make_finding(claim_if(plain->objective < with->objective), "gap %.1e against %.1e",
                        get_final_gap(plain, best), get_final_gap(with, best));
}

/* Compares 1,000 iterations without preconditioner with 100 iterations with one. The paper's is an LU that loses its
 * accuracy in faces with a null space; the finding also says what positive factors give in its place. */
static void claim_preconditioner(LabSet *set, int divisor, double best)
{
    const LabResult *plain = find_heyn_1_result(set, SHORT, divisor),
                    *lu = find_heyn_1_result(set, LU, divisor),
                    *positive = find_heyn_1_result(set, POSITIVE, divisor);
    const LabResult *our_plain = find_heyn_1_result(set, OUR_SHORT, divisor),
                    *our_factors = find_heyn_1_result(set, OUR_FACTORS, divisor);
    Finding paper = judge_faster(plain, lu), ours = judge_faster(our_plain, our_factors);
    add_claim(
        set,
        &(Claim){.statement = "1,000 iterations of GPMINRES are faster than 100 of GPMINRES-P",
                 .rule = "fewer seconds"},
        &paper, &ours);
    Finding accurate = judge_more_accurate(plain, lu, best),
            replaced = judge_more_accurate(plain, positive, best);
    claims_add(set,
               &(Claim){.statement =
                            "1,000 iterations of GPMINRES are more accurate than 100 of GPMINRES-P",
                        .rule = "a smaller objective, GPMINRES-P with the paper's LU"},
               accurate.verdict,
               "(paper): %s; with L D L' made positive in place of the LU: %s, %s", accurate.text,
               claim_verdict_name(replaced.verdict), replaced.text);
}

/* Compares the cost of an iteration in two runs. */
static Finding judge_dearer(const LabResult *solver, const LabResult *jacobi)
{
    if (!solver || !jacobi)
        return find_missing_run();
    double one = solver->seconds / solver->iterations, other = jacobi->seconds / jacobi->iterations;
    return make_finding(claim_if(one > other), "%.2g ms against %.2g ms", 1e3 * one, 1e3 * other);
}

static void claim_dearer(LabSet *set, int divisor)
{
    const LabResult *jacobi = find_heyn_1_result(set, JACOBI_1000, divisor);
    Finding paper = judge_dearer(find_heyn_1_result(set, SHORT, divisor), jacobi),
            ours = judge_dearer(find_heyn_1_result(set, OUR_SHORT, divisor), jacobi);
    add_claim(
        set,
        &(Claim){.statement = "one iteration of GPMINRES is more expensive than one Jacobi sweep",
                 .rule = "more seconds per iteration in runs of 1,000"},
        &paper, &ours);
}

/* Judges whether the solution grows sharper: the largest impulse rises with Jacobi's iterations. */
static void claim_sharper(LabSet *set, const LabResult *const jacobi[], int count)
{
    bool rises = true, missing = false;
    char text[LAB_TEXT] = "";
    size_t used = 0;
    double before = 0.0;
    for (int i = 0; i < count; i++) {
        const LabResult *r = jacobi[i];
        double largest = r && r->impulse_count ? r->impulse[r->impulse_count - 1] : NAN;
        missing = missing || isnan(largest);
        rises = rises && largest >= before * (1.0 - 1e-6);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.4g", i ? ", " : "", largest);
        before = largest;
    }
    claims_add(set,
               &(Claim){.statement = "the largest impulse rises towards its value",
                        .rule = "never smaller, by more than 1e-6 of it, in Jacobi's longer runs"},
               missing ? CLAIM_UNJUDGED : claim_if(rises), "%s N s", text);
}

static void claim_overtakes(LabSet *set, int divisor)
{
    const LabResult *jacobi = find_heyn_1_result(set, JACOBI_43000, divisor);
    Finding paper = judge_overtaking(find_heyn_1_result(set, LONG, divisor), jacobi),
            ours = judge_overtaking(find_heyn_1_result(set, OUR_LONG, divisor), jacobi);
    add_claim(set,
              &(Claim){.statement = "GPMINRES has Jacobi's 43,000-iteration objective in 43 "
                                    "times fewer iterations, 14 times faster",
                       .rule = "half of each: at least 21.5 times fewer iterations and 7 times "
                               "faster; in part: fewer and faster"},
              &paper, &ours);
}

/* Adds the paper's objectives of Table I to Fig. 4, above the smallest of them, row LONG. */
static void add_paper_objectives(LabFigure *f)
{
    static const struct {
        const char *name;
        int first, last; /* rows */
    } methods[] = {{"Table I: gpminres", SHORT, SHORT},
                   {"Table I: gpminres-p", LU, LU},
                   {"Table I: jacobi", JACOBI_1000, JACOBI_100000}};
    for (int m = 0; m < LAB_COUNT(methods); m++) {
        double x[ROWS_1], y[ROWS_1];
        int points = 0;
        for (int row = methods[m].first; row <= methods[m].last; row++, points++) {
            x[points] = runs_1[row].iterations;
            y[points] = get_paper_gap(row);
        }
        lab_figure_add(f, methods[m].name, x, y, points);
    }
    snprintf(f->note, sizeof f->note,
             "Table I: the paper's objectives, above the smallest of them, which 10,000 iterations "
             "of its GPMINRES reach.");
}

/* Adds Fig. 5, the impulses of the runs of Table I, and at the paper's number of contacts the largest ones of its
 * table. */
static void add_figure_5(LabSet *set, int divisor)
{
    char text[JACOBI_100000 + 1][LAB_TEXT];
    const char *labels[LAB_COUNT(text)];
    for (int i = 0; i < LAB_COUNT(text); i++) {
        format_label_1(i, divisor, text[i]);
        labels[i] = text[i];
    }
    LabFigure *f = heyn_add_impulse_figure(set, labels, LAB_COUNT(text));
    for (int i = 0; i < LAB_COUNT(text) && divisor == 1; i++) {
        char name[LAB_TEXT + 16];
        double rank = paper_contacts_1[0];
        if (paper_1[i].objective == 0.0)
            continue;
        snprintf(name, sizeof name, "Table I: %s", labels[i]);
        lab_figure_add(f, name, &rank, &paper_1[i].largest, 1);
    }
    if (divisor == 1)
        snprintf(f->note, sizeof f->note,
                 "Table I: the paper's largest impulses, of another bed than ours.");
}

static void conclude_1(LabSet *set, int divisor)
{
    static const int curves[] = {LONG, OUR_LONG, LU, POSITIVE, OUR_FACTORS, JACOBI_100000};
    char text[LAB_COUNT(curves)][LAB_TEXT];
    const char *labels[LAB_COUNT(curves)];
    LabFigure *course;
    const LabResult *jacobis[JACOBI_100000 - JACOBI_1000 + 1];
    double best = experiment_best_objective(set, 0);
    for (int i = 0; i < LAB_COUNT(curves); i++) {
        format_label_1(curves[i], divisor, text[i]);
        labels[i] = text[i];
    }
    for (int i = 0; i < LAB_COUNT(jacobis); i++)
        jacobis[i] = find_heyn_1_result(set, JACOBI_1000 + i, divisor);
    add_table_1(set, divisor, best);
    add_problems_table(set, paper_contacts_1, divisor);
    add_iterations_table(set, labels, LAB_COUNT(curves));
    course = heyn_add_gap_figure(set, 0, "Fig. 4", labels, LAB_COUNT(curves));
    if (divisor == 1)
        add_paper_objectives(course);
    add_figure_5(set, divisor);
    claim_overtakes(set, divisor);
    claim_dearer(set, divisor);
    claim_preconditioner(set, divisor, best);
    heyn_add_faces(set, FACTORS_PAPER, divisor);
    claim_sharper(set, jacobis, LAB_COUNT(jacobis));
    add_paper_note(set);
}

const Experiment heyn_1 = {.name = "heyn-1",
                           .summary = "1,000 settled spheres: gpminres against jacobi",
                           .source = "heyn-2012 Table I, Figs. 4-5",
                           EXPERIMENT_RUNS(cases_1, runs_1),
                           .other_iterations = 1000,
                           .conclude = conclude_1};

/* ---- heyn-2 and heyn-3: the same four solvers ---- */

static const BenchRun runs_23[] = {
    RUN("jacobi", NULL, 1000),   RUN(GPMINRES_PAPER, "gpminres (paper)", 1000),
    RUN("gpminres", NULL, 1000), RUN(SPG_PAPER, "spg (paper)", 1000),
    RUN("spg", NULL, 1000),      RUN(KUCERA_PAPER, "kucera (paper)", 1000),
    RUN("kucera", NULL, 1000),   RUN_OPTIMUM,
};

enum { ITERATIONS = 1000, CASES = 3 }; /* iterations of each run; cases of an experiment */

static const int marks[] = {10, 30, 100, 300, ITERATIONS}; /* iterations that tables show */

/* Results of the compared methods with one family of parameters; NULL: missing. */
typedef struct Comparison {
    const LabSet *set;
    int divisor;
    const LabResult *r[CASES][COMPARED];
} Comparison;

static Comparison compare_family(const LabSet *set, int family, int divisor)
{
    Comparison c = {.set = set, .divisor = divisor};
    for (int p = 0; p < set->problem_count; p++)
        for (int i = 0; i < COMPARED; i++)
            c.r[p][i] = experiment_find_result(set, p, compared_labels[family][i]);
    return c;
}

/* True if the results of case p, of all cases if p is ALL_CASES, exist. */
enum { ALL_CASES = -1 };
static bool has_results(const Comparison *c, int p)
{
    for (int i = 0; i < CASES * COMPARED; i++)
        if ((p == ALL_CASES || i / COMPARED == p) && !c->r[i / COMPARED][i % COMPARED])
            return false;
    return true;
}

/* Judges a statement on case p, or on all cases if p is ALL_CASES; the results exist. */
typedef Finding Judge(const Comparison *c, int p);

/* Adds a claim on case p or ALL_CASES, judged with both families. */
static void claim_by_families(LabSet *set, int divisor, int p, Judge *judge, const Claim *claim)
{
    Finding finding[FAMILIES];
    Claim named = *claim;
    for (int f = 0; f < FAMILIES; f++) {
        Comparison c = compare_family(set, f, divisor);
        finding[f] = has_results(&c, p) ? judge(&c, p) : find_missing_run();
    }
    named.subject = p == ALL_CASES ? NULL : get_case_name(set, p);
    add_claim(set, &named, &finding[PAPER], &finding[OURS]);
}

/* Adds a column "WHAT at N" for each N of `marks`. */
static void add_mark_columns(LabTable *t, const char *what, int divisor)
{
    for (int m = 0; m < LAB_COUNT(marks); m++)
        lab_table_add_columns(t, "%s at %d", what, marks[m] / divisor);
}

/* Adds the gap and the residual (24) of a result at each of `marks`, its products and seconds. */
static void add_course_row(LabTable *t, const LabResult *r, double best, int divisor)
{
    lab_table_add_cells(t, "%s", r->solver);
    for (int m = 0; m < LAB_COUNT(marks); m++)
        lab_table_add_cells(t, "%.2e", heyn_get_gap(r, marks[m] / divisor, best));
    for (int m = 0; m < LAB_COUNT(marks); m++)
        lab_table_add_cells(t, "%.2e",
                            heyn_find_returned_row(r, marks[m] / divisor)[LAB_PROJECTED_GRADIENT]);
    lab_table_add_cells(t, "%d\t%.3f", r->products, r->seconds);
}

/* Adds a table with the course of all solvers on a problem: gaps of the objective, and the paper's residual (24), the
 * projected gradient. */
static void add_course_table(LabSet *set, int problem, const char *figure, int divisor)
{
    char title[LAB_TEXT * 2];
    snprintf(title, sizeof title, "%s: %s, %d contacts", figure, get_case_name(set, problem),
             talus_problem_blocks(set->problems[problem].problem));
    LabTable *t = lab_set_add_table(set, title, "solver");
    double best = experiment_best_objective(set, problem);
    add_mark_columns(t, "gap", divisor);
    add_mark_columns(t, "(24)", divisor);
    lab_table_add_columns(t, "products\ts");
    for (int i = 0; i < set->result_count; i++) {
        const LabResult *r = &set->results[i];
        if (r->problem == problem && r->trace.count)
            add_course_row(t, r, best, divisor);
    }
    snprintf(t->note, sizeof t->note,
             "gap: objective above the optimum over the optimum's size; (24): m/s");
}

/* ---- heyn-2 ---- */

#define CYLINDER(bodies, quick)                                                                \
    {                                                                                          \
        .name = bodies " spheres", .quick_name = quick " spheres", .scene = "settle-cylinder", \
        .at = 3.0, .quick_at = 1.0, .set = {"bodies=" bodies, "envelope=0.1"}, .quick_set = {  \
            "bodies=" quick,                                                                   \
            "vat=0.8",                                                                         \
            "envelope=0.1"                                                                     \
        }                                                                                      \
    }

static const BenchCase cases_2[] = {CYLINDER("1000", "100"), CYLINDER("2000", "200"),
                                    CYLINDER("4000", "400")};
static const int paper_contacts_2[] = {3634, 8507, 17161};

/* Adds a table of the complementarity errors of all solvers on the first case, as in the paper's Fig. 9. */
static void add_complementarity_table(LabSet *set)
{
    LabTable *t = lab_set_add_table(set, "Fig. 9: complementarity at the end, first case",
                                    "solver\tmean f\tstd f\tmax f");
    for (int i = 0; i < set->result_count; i++) {
        const LabResult *r = &set->results[i];
        if (r->problem == 0 && lab_outcome_is_measured(r->outcome))
            lab_table_add_cells(
                t, "%s\t%.2e\t%.2e\t%.2e", r->solver, r->residual[LAB_R_COMPLEMENTARITY_MEAN],
                r->residual[LAB_R_COMPLEMENTARITY_STD], r->residual[LAB_R_COMPLEMENTARITY_MAX]);
    }
    snprintf(t->note, sizeof t->note, "f_i = |gamma_i g_i|, J; zero where solved");
}

/* Returns the maximum change of the number of open contacts from one row of the trace to the next, after iteration
 * 10. */
static double find_largest_jump(const LabResult *r)
{
    double jump = 0.0;
    for (int k = 1; k < r->trace.count; k++)
        if (r->trace.row[k][LAB_ITERATION] > 10.0)
            jump = fmax(jump, fabs(r->trace.row[k][LAB_OPEN] - r->trace.row[k - 1][LAB_OPEN]));
    return jump;
}

/* Returns the first iteration of the trace from which on the number of open contacts stays within 1 % of that at the
 * end. */
static double find_settled_iteration(const LabResult *r)
{
    int k = r->trace.count - 1;
    double last = r->trace.row[k][LAB_OPEN];
    while (k > 0 && fabs(r->trace.row[k - 1][LAB_OPEN] - last) <= 0.01 * last)
        k--;
    return r->trace.row[k][LAB_ITERATION];
}

/* The methods of Fig. 10. */
static const char *const active_labels[] = {"gpminres (paper)", "gpminres", "kucera (paper)",
                                            "kucera"};

/* Adds a table of the number of open contacts at each of `marks`, for gpminres and kucera. */
static void add_active_table(LabSet *set, int divisor)
{
    LabTable *t = lab_set_add_table(set, "Fig. 10: size of the active set", "solver\tcase");
    add_mark_columns(t, "active", divisor);
    lab_table_add_columns(t, "changes\tlargest jump\tsettled at");
    for (int p = 0; p < set->problem_count; p++)
        for (int s = 0; s < LAB_COUNT(active_labels); s++) {
            const LabResult *r = experiment_find_result(set, p, active_labels[s]);
            double changes = 0.0;
            if (!r)
                continue;
            lab_table_add_cells(t, "%s\t%s", r->solver, get_case_name(set, p));
            for (int m = 0; m < LAB_COUNT(marks); m++)
                lab_table_add_cells(t, "%.0f",
                                    experiment_find_row_at(r, marks[m] / divisor)[LAB_OPEN]);
            for (int k = 0; k < r->trace.count; k++)
                changes += r->trace.row[k][LAB_STATE_CHANGES];
            lab_table_add_cells(t, "%.0f\t%.0f\t%.0f", changes, find_largest_jump(r),
                                find_settled_iteration(r));
        }
    snprintf(t->note, sizeof t->note,
             "active: contacts without impulse; changes: contacts that opened or closed between "
             "rows of the trace; settled at: the iteration from which on their number stays within "
             "1 %% of that at the end");
}

/* Whether all other compared solvers end with a smaller objective and residual (24) than jacobi. */
static Finding judge_better_than_jacobi(const Comparison *c, int p)
{
    const LabResult *const *r = c->r[p], *jacobi = r[JACOBI];
    int better = 0;
    for (int i = JACOBI + 1; i < COMPARED; i++)
        better +=
            r[i]->objective < jacobi->objective &&
            r[i]->residual[LAB_R_PROJECTED_GRADIENT] < jacobi->residual[LAB_R_PROJECTED_GRADIENT];
    return make_finding(claim_if_whole(better == COMPARED - 1, better > 0), "%d of 3 do", better);
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

/* Writes "spg at 10, gpminres at 30, ...": the method with the smallest residual (24) at each of `marks`. */
static void list_leaders(const Comparison *c, int p, char *text, size_t size)
{
    size_t used = 0;
    for (int m = 0; m < LAB_COUNT(marks) && used < size; m++) {
        int iteration = marks[m] / c->divisor;
        used += (size_t)snprintf(text + used, size - used, "%s%s at %d", m ? ", " : "",
                                 method_names[find_leader_at(c->r[p], iteration)], iteration);
    }
}

/* Whether spg leads at the first of `marks` and gpminres ends with a smaller residual (24) than spg. */
static Finding judge_ranking(const Comparison *c, int p)
{
    char leaders[LAB_TEXT];
    const LabResult *const *r = c->r[p];
    bool passes = r[GPMINRES]->residual[LAB_R_PROJECTED_GRADIENT] <
                  r[SPG]->residual[LAB_R_PROJECTED_GRADIENT];
    const bool leads = find_leader_at(r, marks[0] / c->divisor) == SPG;
    list_leaders(c, p, leaders, sizeof leaders);
    return make_finding(claim_if_whole(leads && passes, leads || passes), "%s", leaders);
}

/* Whether the number of open contacts jumps more in kucera than in gpminres. */
static Finding judge_active(const Comparison *c, int p)
{
    double gpminres = find_largest_jump(c->r[p][GPMINRES]),
           kucera = find_largest_jump(c->r[p][KUCERA]);
    return make_finding(claim_if(kucera > gpminres), "largest jump %.0f against %.0f", kucera,
                        gpminres);
}

/* Whether the number of open contacts is settled sooner in gpminres than in kucera. */
static Finding judge_settling(const Comparison *c, int p)
{
    double gpminres = find_settled_iteration(c->r[p][GPMINRES]),
           kucera = find_settled_iteration(c->r[p][KUCERA]);
    return make_finding(claim_if(gpminres < kucera), "after %.0f iterations against %.0f", gpminres,
                        kucera);
}

/* What happens to the open contacts of a result once its gap is at most the judged one. */
typedef struct Unrest {
    bool reached; /* the gap; else there is nothing to measure */
    double range; /* of their number */
    int swaps;    /* rows of the trace with as many of them as the row before, but others */
} Unrest;

static Unrest measure_unrest(const LabResult *r, double best)
{
    double least = INFINITY, most = -INFINITY;
    Unrest unrest = {.reached = false};
    const double from = count_iterations_to(r, best, judged_gap);
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
        Unrest gpminres = measure_unrest(c->r[p][GPMINRES], best),
               kucera = measure_unrest(c->r[p][KUCERA], best);
        unrest[p] = (Unrest){gpminres.reached && kucera.reached, fmax(gpminres.range, kucera.range),
                             gpminres.swaps + kucera.swaps};
        reached = reached && unrest[p].reached;
    }
    return reached;
}

static Finding find_missing_gap(void)
{
    return make_finding(CLAIM_UNJUDGED, "not all come to a gap of %g", judged_gap);
}

/* Whether the number of open contacts still changes near the optimum, and more on the largest bed. */
static Finding judge_unsettled(const Comparison *c, int p)
{
    Unrest unrest[CASES];
    int changing = 0;
    if (!measure_unrest_of_beds(c, unrest))
        return find_missing_gap();
    for (p = 0; p < CASES; p++)
        changing += unrest[p].range > 0.0;
    return make_finding(
        claim_if_whole(changing == CASES && unrest[CASES - 1].range > unrest[0].range,
                       changing > 0),
        "ranges over %.0f, %.0f, %.0f contacts", unrest[0].range, unrest[1].range, unrest[2].range);
}

/* Whether other contacts are open near the optimum while their number stays: one such row is enough, but where there is
 * none all must have been near. */
static Finding judge_contents(const Comparison *c, int p)
{
    Unrest unrest[CASES];
    bool reached = measure_unrest_of_beds(c, unrest);
    int swaps = 0;
    for (p = 0; p < CASES; p++)
        swaps += unrest[p].swaps;
    if (!reached && swaps == 0)
        return find_missing_gap();
    return make_finding(claim_if(swaps > 0), "%d, %d, %d rows", unrest[0].swaps, unrest[1].swaps,
                        unrest[2].swaps);
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
            count_iterations_to(c->r[p][method], experiment_best_objective(c->set, p), gap);
        if (!isfinite(iterations[p]))
            return NAN;
    }
    return iterations[CASES - 1] / fmax(iterations[0], 1.0);
}

/* Whether jacobi needs more and more iterations with the size, far more than the others, to the gap that it comes to on
 * every bed. */
static Finding judge_scaling(const Comparison *c, int p)
{
    double gap = get_common_gap(c), growth[COMPARED], other = 0.0;
    (void)p; /* all cases */
    for (int i = 0; i < COMPARED; i++) {
        growth[i] = get_growth(c, i, gap);
        if (isnan(growth[i]))
            return make_finding(CLAIM_UNJUDGED, "%s does not come to a gap of %.2g on each bed",
                                method_names[i], gap);
        other = i == JACOBI ? other : fmax(other, growth[i]);
    }
    return make_finding(claim_if_whole(growth[JACOBI] >= 2.0 * other, growth[JACOBI] > other),
                        "to a gap of %.2g: jacobi %.2g times, gpminres %.2g, spg %.2g, kucera %.2g",
                        gap, growth[JACOBI], growth[GPMINRES], growth[SPG], growth[KUCERA]);
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
static Finding judge_monotone(const Comparison *c, int p)
{
    int jacobi = count_rises(c->r[p][JACOBI], LAB_OBJECTIVE);
    int residual = count_rises(c->r[p][JACOBI], LAB_PROJECTED_GRADIENT);
    int spg = count_rises(c->r[p][SPG], LAB_OBJECTIVE);
    return make_finding(
        claim_if_whole(!jacobi && !residual && !spg, !jacobi + !residual + !spg == 2),
        "rises: Jacobi's objective %d, its residual %d, SPG-FB's objective %d", jacobi, residual,
        spg);
}

/* Whether the mean complementarity of the three is far below Jacobi's at the end (Fig. 9). */
static Finding judge_feasibility(const Comparison *c, int p)
{
    double jacobi = c->r[p][JACOBI]->residual[LAB_R_COMPLEMENTARITY_MEAN], worst = 0.0;
    for (int i = JACOBI + 1; i < COMPARED; i++)
        worst = fmax(worst, c->r[p][i]->residual[LAB_R_COMPLEMENTARITY_MEAN]);
    return make_finding(claim_if_whole(worst <= 0.01 * jacobi, worst < jacobi),
                        "at most %.1e J against %.1e J", worst, jacobi);
}

static const struct {
    Judge *judge;
    Claim claim;
} claims_2[] = {
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

/* With --quick methods have too few iterations for the gap of the full version. */
static void choose_judged_gap(LabSet *set, int divisor)
{
    judged_gap = divisor > 1 ? 1e-2 : 1e-4;
    if (divisor > 1)
        lab_set_add_note(set, "Gaps of 1e-4 in rules of verdicts are 1e-2 here.");
}

static void conclude_2(LabSet *set, int divisor)
{
    static const char *const figures[] = {"Fig. 6", "Fig. 7", "Fig. 8"};
    choose_judged_gap(set, divisor);
    add_problems_table(set, paper_contacts_2, divisor);
    for (int p = 0; p < set->problem_count; p++) {
        add_course_table(set, p, figures[p], divisor);
        heyn_add_gap_figure(set, p, figures[p], all_labels, LAB_COUNT(all_labels));
        heyn_add_residual_figure(set, p, figures[p], all_labels, LAB_COUNT(all_labels));
    }
    add_iterations_table(set, all_labels, LAB_COUNT(all_labels));
    add_complementarity_table(set);
    heyn_add_complementarity_figure(set, all_labels, LAB_COUNT(all_labels));
    add_active_table(set, divisor);
    for (int p = 0; p < set->problem_count; p++)
        heyn_add_active_figure(set, p, active_labels, LAB_COUNT(active_labels));
    for (int p = 0; p < set->problem_count; p++)
        for (int i = 0; i < LAB_COUNT(claims_2); i++)
            claim_by_families(set, divisor, p, claims_2[i].judge, &claims_2[i].claim);
    for (int i = 0; i < LAB_COUNT(claims_of_sizes); i++)
        claim_by_families(set, divisor, ALL_CASES, claims_of_sizes[i].judge,
                          &claims_of_sizes[i].claim);
    add_paper_note(set);
}

const Experiment heyn_2 = {.name = "heyn-2",
                           .summary = "spheres in a cylinder of radius 2 m: 1,000, 2,000, 4,000",
                           .source = "heyn-2012 Figs. 6-10",
                           EXPERIMENT_RUNS(cases_2, runs_23),
                           .other_iterations = 1000,
                           .conclude = conclude_2};

/* ---- heyn-3 ---- */

/* A case with another mass of the heavy body. The mass is changed in the extracted problem, so that all three cases
 * have the same positions and contacts; the paper gives one number of contacts for all. */
#define HEAVY(kilograms)                                                                    \
    {                                                                                       \
        .name = #kilograms " kg", .quick_name = #kilograms " kg, quick",                    \
        .scene = "heavy-on-light", .at = 3.0, .quick_at = 2.0, .set = {"envelope=0.24"},    \
        .quick_set = {"bodies=100", "vat=0.7", "envelope=0.24"}, .heaviest_mass = kilograms \
    }

static const BenchCase cases_3[] = {HEAVY(1000), HEAVY(4000), HEAVY(16000)};
static const int paper_contacts_3[] = {4295, 4295, 4295};

/* Adds a table of objectives over the magnitude of the optimum of each mass. */
static void add_normalised_table(LabSet *set, int divisor)
{
    LabTable *t = lab_set_add_table(set, "Fig. 12: objective, -1 at the optimum of each mass",
                                    "solver\tmass");
    add_mark_columns(t, "objective", divisor);
    for (int s = 0; s < LAB_COUNT(all_labels); s++)
        for (int p = 0; p < set->problem_count; p++) {
            const LabResult *r = experiment_find_result(set, p, all_labels[s]);
            if (!r)
                continue;
            lab_table_add_cells(t, "%s\t%s", r->solver, get_case_name(set, p));
            for (int m = 0; m < LAB_COUNT(marks); m++)
                lab_table_add_cells(
                    t, "%.7f",
                    heyn_get_gap(r, marks[m] / divisor, experiment_best_objective(set, p)) - 1.0);
        }
}

/* Whether gpminres is the first to reach the judged gap. */
static Finding judge_first_to_gap(const Comparison *c, int p)
{
    double best = experiment_best_objective(c->set, p), iterations[COMPARED];
    char leaders[LAB_TEXT];
    int first = 0;
    for (int i = 0; i < COMPARED; i++) {
        iterations[i] = count_iterations_to(c->r[p][i], best, judged_gap);
        first = iterations[i] < iterations[first] ? i : first;
    }
    bool reached = isfinite(iterations[first]);
    list_leaders(c, p, leaders, sizeof leaders);
    return make_finding(claim_if(reached && first == GPMINRES), "first: %s; smallest residual: %s",
                        reached ? method_names[first] : "none", leaders);
}

/* Traces have a row every 2 % of the iterations, or after a face of ten, so that a difference of 5 % says nothing. */
static const double margin = 0.05;

/* Returns the iterations of a method to the judged gap at the heaviest mass, over those at the lightest. INFINITY if
 * the gap is not reached at the heaviest, NAN if not at the lightest. */
static double get_degradation(const Comparison *c, int method)
{
    const int last = CASES - 1;
    double heaviest = count_iterations_to(c->r[last][method],
                                          experiment_best_objective(c->set, last), judged_gap),
           lightest = count_iterations_to(c->r[0][method], experiment_best_objective(c->set, 0),
                                          judged_gap);
    return isfinite(lightest) ? heaviest / lightest : NAN;
}

/* Whether gpminres degrades least. Leaves out jacobi, which does not reach the judged gap in 1,000 iterations. */
static Finding judge_degradation(const Comparison *c, int p)
{
    double gpminres = get_degradation(c, GPMINRES), spg = get_degradation(c, SPG);
    double kucera = get_degradation(c, KUCERA);
    (void)p; /* all cases */
    if (!isfinite(gpminres) || isnan(spg) || isnan(kucera))
        return find_missing_gap();
    double other = fmin(spg, kucera);
    return make_finding(
        claim_if_whole(gpminres < (1.0 - margin) * other, gpminres < (1.0 + margin) * other),
        "%.2f times (gpminres), %.2f (spg), %.2f (kucera)", gpminres, spg, kucera);
}

/* Whether all solvers are further from the optimum after 100 iterations for each larger mass, and jacobi is the
 * furthest. */
static Finding judge_all_degrade(const Comparison *c, int p)
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
    return make_finding(claim_if_whole(worse == COMPARED * LAST && most == JACOBI,
                                       worse == COMPARED * LAST || most == JACOBI),
                        "jacobi %.2g, gpminres %.2g, spg %.2g, kucera %.2g; %d of %d grow",
                        gap[JACOBI][LAST], gap[GPMINRES][LAST], gap[SPG][LAST], gap[KUCERA][LAST],
                        worse, COMPARED * LAST);
}

/* Returns the gap at which two runs are compared: judged_gap or, if neither comes to it, ten or a hundred times that. */
static double get_gap_of_either(const LabResult *a, const LabResult *b, double best)
{
    double gap = judged_gap;
    for (int k = 0; k < 2 && !isfinite(count_iterations_to(a, best, gap)) &&
                    !isfinite(count_iterations_to(b, best, gap));
         k++)
        gap *= 10.0;
    return gap;
}

/* Whether the diagonal preconditioner makes spg faster, the other parameters equal. */
static void claim_diagonal(LabSet *set)
{
    int faster = 0, missing = 0;
    char text[LAB_TEXT] = "";
    size_t used = 0;
    for (int p = 0; p < set->problem_count && used < sizeof text; p++) {
        const LabResult *plain = experiment_find_result(set, p, compared_labels[PAPER][SPG]),
                        *scaled = experiment_find_result(set, p, compared_labels[OURS][SPG]);
        double best = experiment_best_objective(set, p);
        if (!plain || !scaled) {
            missing++;
            continue;
        }
        const double gap = get_gap_of_either(plain, scaled, best);
        double without = count_iterations_to(plain, best, gap),
               with = count_iterations_to(scaled, best, gap);
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

static void conclude_3(LabSet *set, int divisor)
{
    choose_judged_gap(set, divisor);
    add_problems_table(set, paper_contacts_3, divisor);
    for (int p = 0; p < set->problem_count; p++) {
        add_course_table(set, p, "Figs. 12-13", divisor);
        heyn_add_gap_figure(set, p, "Fig. 12", all_labels, LAB_COUNT(all_labels));
        heyn_add_residual_figure(set, p, "Fig. 13", all_labels, LAB_COUNT(all_labels));
    }
    add_normalised_table(set, divisor);
    add_iterations_table(set, all_labels, LAB_COUNT(all_labels));
    lab_set_add_note(set, "The wall is a prism of twelve planes about a circle of radius 1.5 m.");
    for (int p = 0; p < set->problem_count; p++)
        claim_by_families(set, divisor, p, judge_first_to_gap,
                          &(Claim){.statement = "GPMINRES performs best",
                                   .rule = "it is the first to a gap of 1e-4"});
    claim_by_families(set, divisor, ALL_CASES, judge_degradation,
                      &(Claim){.statement = "from 1,000 to 16,000 kg GPMINRES loses least",
                               .rule = "its iterations to a gap of 1e-4 grow by the smallest "
                                       "factor, by more than 5 %; in part: within 5 % of it"});
    claim_by_families(set, divisor, ALL_CASES, judge_all_degrade,
                      &(Claim){.statement = "all solvers lose with the mass, Jacobi most",
                               .rule = "larger gaps after 100 iterations for each larger mass, "
                                       "Jacobi's the largest at 16,000 kg; in part: one of the "
                                       "two"});
    claim_diagonal(set);
    add_paper_note(set);
}

const Experiment heyn_3 = {.name = "heyn-3",
                           .summary = "one to sixteen tonnes on 1,000 spheres of 6.28 kg",
                           .source = "heyn-2012 Figs. 12-13",
                           EXPERIMENT_RUNS(cases_3, runs_23),
                           .other_iterations = 1000,
                           .quick_divisor = 2, /* a gap of 1e-4 at 16,000 kg takes hundreds */
                           .conclude = conclude_3};

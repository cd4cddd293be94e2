/* lab/experiments/heyn.c - the three test problems of heyn-2012, section 5: frictionless beds of spheres; jacobi
 * against gpminres, spg (the paper's SPG-FB) and kucera, all from zero impulses.
 *
 * Each method but jacobi, whose defaults are the paper's parameters, runs twice: with the paper's parameters, "(paper)"
 * in its label, and with those of this library. Statements are judged by the paper's parameters; what ours give is said
 * beside it. Parameters that the paper does not give (mu, eta1 and eta2 of GPMINRES, tau_g, xi and sigma of SPG-FB) are
 * ours in both.
 *
 * Here are the runs, the tables and the statements of heyn-1; heyn_claims.c judges those of the other two.
 *
 * The paper gives neither step nor stabilisation nor collision envelope. Here h is 5 ms, and the envelope is chosen to
 * give about the paper's numbers of contacts. Objectives are compared relative to the optimum, which is the smallest
 * objective of all runs of the case. */
#include "heyn.h"

#include <math.h>
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

/* All labels once, the two of a method together. */
static const char *const all_labels[] = {"jacobi", "gpminres (paper)", "gpminres", "spg (paper)",
                                         "spg",    "kucera (paper)",   "kucera"};

static void add_paper_note(LabSet *set)
{
    lab_set_add_note(set, "(paper): with the paper's parameters. Iterations of gpminres are then "
                          "its MINRES steps alone; else also its projection steps. The defaults of "
                          "jacobi are the paper's.");
}

/* ---- tables of all experiments ---- */

static const char *get_case_name(const LabSet *set, int problem)
{
    return set->problems[problem].name;
}

static const double gaps[] = {1e-2, 1e-4, 1e-6}; /* objective above the optimum, relative */

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
                    heyn_count_iterations_to(r, experiment_best_objective(set, p), gaps[g]);
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
static HeynFinding judge_overtaking(const LabResult *solver, const LabResult *jacobi)
{
    if (!solver || !jacobi)
        return heyn_find_missing_run();
    const double *row = experiment_find_row_below(solver, LAB_OBJECTIVE, jacobi->objective);
    if (!row)
        return heyn_make_finding(CLAIM_FAILS, "not reached in %d iterations", solver->iterations);
    double fewer = jacobi->iterations / fmax(row[LAB_ITERATION], 1.0);
    double faster = jacobi->seconds / row[LAB_SECONDS];
    return heyn_make_finding(
        claim_if_whole(fewer >= 21.5 && faster >= 7.0, fewer > 1.0 && faster > 1.0),
        "after %.0f iterations of %d: %.0f times fewer, %.1f times faster", row[LAB_ITERATION],
        jacobi->iterations, fewer, faster);
}

static HeynFinding judge_faster(const LabResult *plain, const LabResult *with)
{
    if (!plain || !with)
        return heyn_find_missing_run();
    return heyn_make_finding(claim_if(plain->seconds < with->seconds), "%.3f s against %.3f s",
                             plain->seconds, with->seconds);
}

static HeynFinding judge_more_accurate(const LabResult *plain, const LabResult *with, double best)
{
    if (!plain || !with)
        return heyn_find_missing_run();
    return heyn_make_finding(claim_if(plain->objective < with->objective), "gap %.1e against %.1e",
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
    HeynFinding paper = judge_faster(plain, lu), ours = judge_faster(our_plain, our_factors);
    heyn_add_claim(
        set,
        &(Claim){.statement = "1,000 iterations of GPMINRES are faster than 100 of GPMINRES-P",
                 .rule = "fewer seconds"},
        &paper, &ours);
    HeynFinding accurate = judge_more_accurate(plain, lu, best),
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
static HeynFinding judge_dearer(const LabResult *solver, const LabResult *jacobi)
{
    if (!solver || !jacobi)
        return heyn_find_missing_run();
    double one = solver->seconds / solver->iterations, other = jacobi->seconds / jacobi->iterations;
    return heyn_make_finding(claim_if(one > other), "%.2g ms against %.2g ms", 1e3 * one,
                             1e3 * other);
}

static void claim_dearer(LabSet *set, int divisor)
{
    const LabResult *jacobi = find_heyn_1_result(set, JACOBI_1000, divisor);
    HeynFinding paper = judge_dearer(find_heyn_1_result(set, SHORT, divisor), jacobi),
                ours = judge_dearer(find_heyn_1_result(set, OUR_SHORT, divisor), jacobi);
    heyn_add_claim(
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
    HeynFinding paper = judge_overtaking(find_heyn_1_result(set, LONG, divisor), jacobi),
                ours = judge_overtaking(find_heyn_1_result(set, OUR_LONG, divisor), jacobi);
    heyn_add_claim(set,
                   &(Claim){.statement = "GPMINRES has Jacobi's 43,000-iteration objective in 43 "
                                         "times fewer iterations, 14 times faster",
                            .rule =
                                "half of each: at least 21.5 times fewer iterations and 7 times "
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

/* Adds a column "WHAT at N" for each N of `heyn_marks`. */
static void add_mark_columns(LabTable *t, const char *what, int divisor)
{
    for (int m = 0; m < HEYN_MARKS; m++)
        lab_table_add_columns(t, "%s at %d", what, heyn_marks[m] / divisor);
}

/* Adds the gap and the residual (24) of a result at each of `heyn_marks`, its products and seconds. */
static void add_course_row(LabTable *t, const LabResult *r, double best, int divisor)
{
    lab_table_add_cells(t, "%s", r->solver);
    for (int m = 0; m < HEYN_MARKS; m++)
        lab_table_add_cells(t, "%.2e", heyn_get_gap(r, heyn_marks[m] / divisor, best));
    for (int m = 0; m < HEYN_MARKS; m++)
        lab_table_add_cells(
            t, "%.2e", heyn_find_returned_row(r, heyn_marks[m] / divisor)[LAB_PROJECTED_GRADIENT]);
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

/* The methods of Fig. 10. */
static const char *const active_labels[] = {"gpminres (paper)", "gpminres", "kucera (paper)",
                                            "kucera"};

/* Adds a table of the number of open contacts at each of `heyn_marks`, for gpminres and kucera. */
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
            for (int m = 0; m < HEYN_MARKS; m++)
                lab_table_add_cells(t, "%.0f",
                                    experiment_find_row_at(r, heyn_marks[m] / divisor)[LAB_OPEN]);
            for (int k = 0; k < r->trace.count; k++)
                changes += r->trace.row[k][LAB_STATE_CHANGES];
            lab_table_add_cells(t, "%.0f\t%.0f\t%.0f", changes, heyn_find_largest_jump(r),
                                heyn_find_settled_iteration(r));
        }
    snprintf(t->note, sizeof t->note,
             "active: contacts without impulse; changes: contacts that opened or closed between "
             "rows of the trace; settled at: the iteration from which on their number stays within "
             "1 %% of that at the end");
}

static void conclude_2(LabSet *set, int divisor)
{
    static const char *const figures[] = {"Fig. 6", "Fig. 7", "Fig. 8"};
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
    heyn_add_bed_claims(set, divisor);
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
            for (int m = 0; m < HEYN_MARKS; m++)
                lab_table_add_cells(
                    t, "%.7f",
                    heyn_get_gap(r, heyn_marks[m] / divisor, experiment_best_objective(set, p)) -
                        1.0);
        }
}

static void conclude_3(LabSet *set, int divisor)
{
    add_problems_table(set, paper_contacts_3, divisor);
    for (int p = 0; p < set->problem_count; p++) {
        add_course_table(set, p, "Figs. 12-13", divisor);
        heyn_add_gap_figure(set, p, "Fig. 12", all_labels, LAB_COUNT(all_labels));
        heyn_add_residual_figure(set, p, "Fig. 13", all_labels, LAB_COUNT(all_labels));
    }
    add_normalised_table(set, divisor);
    add_iterations_table(set, all_labels, LAB_COUNT(all_labels));
    lab_set_add_note(set, "The wall is a prism of twelve planes about a circle of radius 1.5 m.");
    heyn_add_mass_claims(set, divisor);
    add_paper_note(set);
}

const Experiment heyn_3 = {.name = "heyn-3",
                           .summary = "one to sixteen tonnes on 1,000 spheres of 6.28 kg",
                           .source = "heyn-2012 Figs. 12-13",
                           EXPERIMENT_RUNS(cases_3, runs_23),
                           .other_iterations = 1000,
                           .quick_divisor = 2, /* a gap of 1e-4 at 16,000 kg takes hundreds */
                           .conclude = conclude_3};

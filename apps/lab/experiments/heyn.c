/* lab/experiments/heyn.c - the three test problems of heyn-2012, section 5: frictionless beds of spheres; jacobi
 * against gpminres and, in heyn-2 and heyn-3, spg (the paper's P-SPG-FB) and kucera, all from zero impulses.
 *
 * The paper gives neither step nor stabilisation nor collision envelope. Here h is 5 ms, and the envelope is chosen to
 * give about the paper's numbers of contacts. Objectives are compared relative to the optimum, which is the smallest
 * objective of all runs of the case. */
#include "experiment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns the row of the trace with the iterate that the solver would return after this iteration: of spg the one of
 * smallest residual (24) so far, as P-SPG-FB returns its best iterate; of others the last. */
static const double *find_returned_row(const LabResult *r, int iteration)
{
    const double *last = experiment_find_row_at(r, iteration), *best = r->trace.row[0];
    if (strncmp(r->solver, "spg", 3) != 0)
        return last;
    for (int k = 1; k < r->trace.count && r->trace.row[k][LAB_ITERATION] <= iteration; k++)
        if (r->trace.row[k][LAB_PROJECTED_GRADIENT] < best[LAB_PROJECTED_GRADIENT])
            best = r->trace.row[k];
    return best;
}

/* Returns the gap: objective at an iteration minus the optimum `best`, over the optimum's magnitude. */
static double get_gap(const LabResult *r, int iteration, double best)
{
    return (find_returned_row(r, iteration)[LAB_OBJECTIVE] - best) / fabs(best);
}

static const char *get_case_name(const LabSet *set, int problem)
{
    return set->problems[problem].name;
}

/* Returns the iterations until the gap of the objective from the optimum `best` is at most `gap`; INFINITY: never. */
static double count_iterations_to(const LabResult *r, double best, double gap)
{
    for (int k = 0; k < r->trace.count; k++)
        if (get_gap(r, (int)r->trace.row[k][LAB_ITERATION], best) <= gap)
            return r->trace.row[k][LAB_ITERATION];
    return INFINITY;
}

static const double gaps[] = {1e-2, 1e-4, 1e-6}; /* objective above the optimum, relative */
static const double judged_gap = 1e-4;           /* gap at which solvers are ranked */

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

/* Adds a figure of the gaps of solvers on a problem over their iterations. */
static void add_gap_figure(LabSet *set, int problem, const char *figure, const char *const *labels,
                           int count)
{
    char title[LAB_TEXT * 2];
    snprintf(title, sizeof title, "%s: objective above the optimum, %s", figure,
             get_case_name(set, problem));
    LabFigure *f = lab_set_add_figure(set, title, "iterations", "gap, relative");
    double best = experiment_best_objective(set, problem);
    f->x_log = f->y_log = true;
    for (int s = 0; s < count; s++) {
        const LabResult *r = experiment_find_result(set, problem, labels[s]);
        int points = r ? r->trace.count : 0;
        double *x = cli_check_memory(calloc(2 * (size_t)points + 1, sizeof *x)), *y = x + points;
        for (int k = 0; k < points; k++) {
            x[k] = fmax(r->trace.row[k][LAB_ITERATION], 1.0);
            y[k] = fmax(get_gap(r, (int)r->trace.row[k][LAB_ITERATION], best), 1e-16);
        }
        if (r)
            lab_figure_add(f, r->solver, x, y, points);
        free(x);
    }
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

static const BenchRun runs_1[] = {
    {"gpminres", 1000, 0.0, true, 0},  {"gpminres", 10000, 0.0, true, 0},
    {"gpminres-p", 100, 0.0, true, 0}, {"jacobi", 1000, 0.0, true, 0},
    {"jacobi", 10000, 0.0, true, 0},   {"jacobi", 43000, 0.0, true, 0},
    {"jacobi", 100000, 0.0, true, 0},  {"apgd", 30000, 1e-10, false, 0}, /* finds the optimum */
};

/* The paper's Table I: final objective, largest impulse, seconds; rows as in runs_1. Row 1, the second, has the
 * smallest objective. */
static const struct {
    double objective, largest, seconds;
} paper_1[] = {
    {-2.9035, 7.7487, 6.70},  {-2.9045, 8.2002, 61.07}, {-2.8854, 6.8551, 1675.0},
    {-2.5077, 4.4961, 3.66},  {-2.8983, 7.4953, 24.66}, {-2.9035, 7.9254, 95.41},
    {-2.9043, 8.0619, 231.7},
};

/* Adds a result to the table; `row` is its row in the paper's Table I, -1: none. */
static void add_table_1_row(LabTable *t, const LabResult *r, double best, int row)
{
    double paper_best = paper_1[1].objective;
    int last = r->impulse_count - 1;
    lab_table_add_cells(t, "%s\t%d\t%.9g\t%.1e\t%.4g\t%.4g\t%.3f", r->solver, r->iterations,
                        r->objective, (r->objective - best) / fabs(best),
                        last >= 0 ? r->impulse[0] : NAN, last >= 0 ? r->impulse[last] : NAN,
                        r->seconds);
    if (row >= 0)
        lab_table_add_cells(t, "%.4f\t%.1e\t%.4f\t%.2f", paper_1[row].objective,
                            (paper_1[row].objective - paper_best) / fabs(paper_best),
                            paper_1[row].largest, paper_1[row].seconds);
}

/* Returns the result of run `run` of runs_1; NULL: none. */
static const LabResult *find_heyn_1_result(const LabSet *set, int run, int divisor)
{
    char label[LAB_TEXT];
    experiment_format_label(&runs_1[run], divisor, label);
    return experiment_find_result(set, 0, label);
}

static void add_table_1(LabSet *set, int divisor, double best)
{
    LabTable *t = lab_set_add_table(
        set, "Table I", "method\titerations\tobjective\tgap\tmin impulse\tmax impulse\ts");
    if (divisor == 1)
        lab_table_add_columns(t, "paper: objective\tgap\tmax impulse\ts");
    for (int i = 0; i < LAB_COUNT(paper_1); i++) {
        const LabResult *r = find_heyn_1_result(set, i, divisor);
        if (r)
            add_table_1_row(t, r, best, divisor == 1 ? i : -1);
    }
}

/* Judges how much sooner `solver` reaches the final objective of jacobi: the statement holds if it takes at most a
 * twentieth of the iterations and less time. */
static void claim_overtakes(LabSet *set, const LabResult *solver, const LabResult *jacobi)
{
    const double *row = experiment_find_row_below(solver, LAB_OBJECTIVE, jacobi->objective);
    const Claim claim = {.statement = "GPMINRES has Jacobi's 43,000-iteration objective in 43 "
                                      "times fewer iterations, 14 times faster",
                         .rule = "at least 20 times fewer iterations, and faster; in part: fewer"};
    if (!row) {
        claims_add(set, &claim, CLAIM_FAILS, "not reached in %d iterations", solver->iterations);
        return;
    }
    double fewer = jacobi->iterations / fmax(row[LAB_ITERATION], 1.0);
    double faster = jacobi->seconds / row[LAB_SECONDS];
    claims_add(set, &claim, claim_if_whole(fewer >= 20.0 && faster > 1.0, fewer > 1.0),
               "after %.0f iterations of %d: %.0f times fewer, %.1f times faster",
               row[LAB_ITERATION], jacobi->iterations, fewer, faster);
}

/* Compares 1,000 iterations without preconditioner (`plain`) with 100 iterations with one (`with`). */
static void claim_preconditioner(LabSet *set, const LabResult *plain, const LabResult *with)
{
    claims_add(
        set,
        &(Claim){.statement = "1,000 iterations of GPMINRES are faster than 100 of GPMINRES-P",
                 .rule = "fewer seconds"},
        claim_if(plain->seconds < with->seconds), "%.3f s against %.3f s", plain->seconds,
        with->seconds);
    claims_add(set,
               &(Claim){.statement =
                            "1,000 iterations of GPMINRES are more accurate than 100 of GPMINRES-P",
                        .rule = "a smaller objective"},
               claim_if(plain->objective < with->objective), "objective %.9g against %.9g",
               plain->objective, with->objective);
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

static void conclude_1(LabSet *set, int divisor)
{
    char labels[2][LAB_TEXT];
    experiment_format_label(&runs_1[1], divisor, labels[0]);
    experiment_format_label(&runs_1[6], divisor, labels[1]);
    add_table_1(set, divisor, experiment_best_objective(set, 0));
    add_iterations_table(set, (const char *const[]){labels[0], labels[1]}, 2);
    add_gap_figure(set, 0, "Fig. 4", (const char *const[]){labels[0], labels[1]}, 2);
    const LabResult *short_run = find_heyn_1_result(set, 0, divisor),
                    *long_run = find_heyn_1_result(set, 1, divisor);
    const LabResult *with = find_heyn_1_result(set, 2, divisor),
                    *jacobi = find_heyn_1_result(set, 5, divisor);
    const LabResult *const jacobis[] = {find_heyn_1_result(set, 3, divisor),
                                        find_heyn_1_result(set, 4, divisor), jacobi,
                                        find_heyn_1_result(set, 6, divisor)};
    if (long_run && jacobi)
        claim_overtakes(set, long_run, jacobi);
    if (short_run && with)
        claim_preconditioner(set, short_run, with);
    claim_sharper(set, jacobis, LAB_COUNT(jacobis));
    if (divisor == 1)
        lab_set_add_note(set, "Contacts: %d here, 3,525 in the paper.",
                         talus_problem_blocks(set->problems[0].problem));
}

const Experiment heyn_1 = {.name = "heyn-1",
                           .summary = "1,000 settled spheres: gpminres against jacobi",
                           .source = "heyn-2012 Table I, Figs. 4-5",
                           EXPERIMENT_RUNS(cases_1, runs_1),
                           .other_iterations = 1000,
                           .conclude = conclude_1};

/* ---- heyn-2 and heyn-3: the same four solvers ---- */

static const BenchRun runs_23[] = {
    {"jacobi", 1000, 0.0, false, 0},  {"gpminres", 1000, 0.0, false, 0},
    {"spg", 1000, 0.0, false, 0},     {"kucera", 1000, 0.0, false, 0},
    {"apgd", 30000, 1e-10, false, 0}, /* finds the optimum */
};

static const char *const compared_solvers[] = {"jacobi", "gpminres", "spg", "kucera"};

/* Number of compared solvers and their indices; iterations of each. */
enum { COMPARED = 4, JACOBI = 0, GPMINRES = 1, SPG = 2, KUCERA = 3, ITERATIONS = 1000 };

static const int marks[] = {10, 30, 100, 300, ITERATIONS}; /* iterations that tables show */

/* Writes the results of the four compared solvers for a case, NULL for a missing one; returns false if one is
 * missing. */
static bool find_compared_results(const LabSet *set, int problem, const LabResult *out[COMPARED])
{
    bool all = true;
    for (int i = 0; i < COMPARED; i++) {
        out[i] = experiment_find_result(set, problem, compared_solvers[i]);
        all = all && out[i];
    }
    return all;
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
        lab_table_add_cells(t, "%.2e", get_gap(r, marks[m] / divisor, best));
    for (int m = 0; m < LAB_COUNT(marks); m++)
        lab_table_add_cells(t, "%.2e",
                            find_returned_row(r, marks[m] / divisor)[LAB_PROJECTED_GRADIENT]);
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

static void add_contacts_table(LabSet *set)
{
    LabTable *t = lab_set_add_table(set, "Contacts", "case\there\tpaper");
    for (int p = 0; p < set->problem_count; p++)
        lab_table_add_cells(t, "%s\t%d\t%d", get_case_name(set, p),
                            talus_problem_blocks(set->problems[p].problem), paper_contacts_2[p]);
}

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

/* Adds a table of the number of open contacts at each of `marks`, for gpminres and kucera. */
static void add_active_table(LabSet *set, int divisor)
{
    LabTable *t = lab_set_add_table(set, "Fig. 10: size of the active set", "solver\tcase");
    add_mark_columns(t, "active", divisor);
    lab_table_add_columns(t, "changes\tlargest jump");
    for (int p = 0; p < set->problem_count; p++)
        for (int s = GPMINRES; s <= KUCERA; s += KUCERA - GPMINRES) {
            const LabResult *r = experiment_find_result(set, p, compared_solvers[s]);
            double changes = 0.0;
            if (!r)
                continue;
            lab_table_add_cells(t, "%s\t%s", r->solver, get_case_name(set, p));
            for (int m = 0; m < LAB_COUNT(marks); m++)
                lab_table_add_cells(t, "%.0f",
                                    experiment_find_row_at(r, marks[m] / divisor)[LAB_OPEN]);
            for (int k = 0; k < r->trace.count; k++)
                changes += r->trace.row[k][LAB_STATE_CHANGES];
            lab_table_add_cells(t, "%.0f\t%.0f", changes, find_largest_jump(r));
        }
    snprintf(t->note, sizeof t->note,
             "active: contacts without impulse; changes: contacts that opened or closed between "
             "rows of the trace");
}

/* Judges whether all other compared solvers end with a smaller objective and residual (24) than jacobi. */
static void claim_better_than_jacobi(LabSet *set, int p, const LabResult *const r[COMPARED])
{
    const LabResult *jacobi = r[JACOBI];
    int better = 0;
    for (int i = JACOBI + 1; i < COMPARED; i++)
        better +=
            r[i]->objective < jacobi->objective &&
            r[i]->residual[LAB_R_PROJECTED_GRADIENT] < jacobi->residual[LAB_R_PROJECTED_GRADIENT];
    claims_add(set,
               &(Claim){.subject = get_case_name(set, p),
                        .statement = "all three beat Jacobi in objective and residual at the end",
                        .rule = "each has both smaller; in part: one or two do"},
               claim_if_whole(better == COMPARED - 1, better > 0), "%d of 3 do", better);
}

/* Index in compared_solvers of the solver with the smallest residual (24) at this iteration. */
static int find_leader_at(const LabResult *const r[COMPARED], int iteration)
{
    int first = 0;
    for (int i = 1; i < COMPARED; i++)
        if (find_returned_row(r[i], iteration)[LAB_PROJECTED_GRADIENT] <
            find_returned_row(r[first], iteration)[LAB_PROJECTED_GRADIENT])
            first = i;
    return first;
}

/* Writes "spg at 10, gpminres at 30, ...": the solver with the smallest residual (24) at each of `marks`. */
static void list_leaders(const LabResult *const r[COMPARED], int divisor, char *text, size_t size)
{
    size_t used = 0;
    for (int m = 0; m < LAB_COUNT(marks) && used < size; m++)
        used += (size_t)snprintf(text + used, size - used, "%s%s at %d", m ? ", " : "",
                                 compared_solvers[find_leader_at(r, marks[m] / divisor)],
                                 marks[m] / divisor);
}

/* Judges whether spg leads at the first of `marks` and gpminres ends with a smaller residual (24) than spg. */
static void claim_ranking(LabSet *set, int p, const LabResult *const r[COMPARED], int divisor)
{
    char leaders[LAB_TEXT];
    bool passes = r[GPMINRES]->residual[LAB_R_PROJECTED_GRADIENT] <
                  r[SPG]->residual[LAB_R_PROJECTED_GRADIENT];
    const bool leads = find_leader_at(r, marks[0] / divisor) == SPG;
    list_leaders(r, divisor, leaders, sizeof leaders);
    claims_add(set,
               &(Claim){.subject = get_case_name(set, p),
                        .statement = "SPG-FB has the smallest residual at first, GPMINRES passes "
                                     "it later",
                        .rule =
                            "SPG-FB, by its best iterate, leads at the first mark, and GPMINRES "
                            "ends below it; in part: one of the two"},
               claim_if_whole(leads && passes, leads || passes), "%s", leaders);
}

/* Judges whether the number of open contacts jumps more in kucera than in gpminres. */
static void claim_active(LabSet *set, int p, const LabResult *const r[COMPARED])
{
    double gpminres = find_largest_jump(r[GPMINRES]), kucera = find_largest_jump(r[KUCERA]);
    claims_add(set,
               &(Claim){.subject = get_case_name(set, p),
                        .statement = "the active set changes more in Kucera's method than in "
                                     "GPMINRES",
                        .rule = "a larger jump from one iteration to the next, after ten"},
               claim_if(kucera > gpminres), "largest jump %.0f against %.0f", kucera, gpminres);
}

/* Returns the number of rises, by more than 1e-9 of the value, of a figure from row to row of what the solver would
 * return. */
static int count_rises(const LabResult *r, LabColumn column)
{
    int rises = 0;
    for (int k = 1; k < r->trace.count; k++) {
        double now = find_returned_row(r, (int)r->trace.row[k][LAB_ITERATION])[column];
        double before = find_returned_row(r, (int)r->trace.row[k - 1][LAB_ITERATION])[column];
        rises += now > before + 1e-9 * fabs(before);
    }
    return rises;
}

/* Judges whether jacobi and spg are monotone in objective and residual. The residual of what spg returns is, by
 * construction, and does not count. */
static void claim_monotone(LabSet *set, int p, const LabResult *const r[COMPARED])
{
    int jacobi = count_rises(r[JACOBI], LAB_OBJECTIVE);
    int residual = count_rises(r[JACOBI], LAB_PROJECTED_GRADIENT);
    int spg = count_rises(r[SPG], LAB_OBJECTIVE);
    claims_add(set,
               &(Claim){.subject = get_case_name(set, p),
                        .statement = "Jacobi and SPG-FB are monotone in objective and residual",
                        .rule =
                            "no rise above 1e-9 of the value, of SPG-FB of the objective of its "
                            "best iterate, whose residual cannot rise; in part: one rises"},
               claim_if_whole(!jacobi && !residual && !spg, !jacobi + !residual + !spg == 2),
               "rises: Jacobi's objective %d, its residual %d, SPG-FB's objective %d", jacobi,
               residual, spg);
}

/* Judges whether the mean complementarity of the three is far below Jacobi's at the end (Fig. 9). */
static void claim_feasibility(LabSet *set, int p, const LabResult *const r[COMPARED])
{
    double jacobi = r[JACOBI]->residual[LAB_R_COMPLEMENTARITY_MEAN], worst = 0.0;
    for (int i = JACOBI + 1; i < COMPARED; i++)
        worst = fmax(worst, r[i]->residual[LAB_R_COMPLEMENTARITY_MEAN]);
    claims_add(set,
               &(Claim){.subject = get_case_name(set, p),
                        .statement = "the mean of |gamma g| at the end is far below Jacobi's",
                        .rule = "at most a hundredth, for all three; in part: smaller"},
               claim_if_whole(worst <= 0.01 * jacobi, worst < jacobi),
               "at most %.1e J against %.1e J", worst, jacobi);
}

static void conclude_2(LabSet *set, int divisor)
{
    static const char *const figures[] = {"Fig. 6", "Fig. 7", "Fig. 8"};
    if (divisor == 1)
        add_contacts_table(set);
    for (int p = 0; p < set->problem_count; p++) {
        add_course_table(set, p, figures[p], divisor);
        add_gap_figure(set, p, figures[p], compared_solvers, COMPARED);
    }
    add_iterations_table(set, compared_solvers, COMPARED);
    add_complementarity_table(set);
    add_active_table(set, divisor);
    for (int p = 0; p < set->problem_count; p++) {
        const LabResult *r[COMPARED];
        if (!find_compared_results(set, p, r))
            continue;
        claim_better_than_jacobi(set, p, r);
        claim_ranking(set, p, r, divisor);
        claim_monotone(set, p, r);
        claim_feasibility(set, p, r);
        claim_active(set, p, r);
    }
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

/* Adds a table of objectives over the magnitude of the optimum of each mass. */
static void add_normalised_table(LabSet *set, int divisor)
{
    LabTable *t = lab_set_add_table(set, "Fig. 12: objective, -1 at the optimum of each mass",
                                    "solver\tmass");
    add_mark_columns(t, "objective", divisor);
    for (int s = 0; s < COMPARED; s++)
        for (int p = 0; p < set->problem_count; p++) {
            const LabResult *r = experiment_find_result(set, p, compared_solvers[s]);
            if (!r)
                continue;
            lab_table_add_cells(t, "%s\t%s", r->solver, get_case_name(set, p));
            for (int m = 0; m < LAB_COUNT(marks); m++)
                lab_table_add_cells(
                    t, "%.7f",
                    get_gap(r, marks[m] / divisor, experiment_best_objective(set, p)) - 1.0);
        }
}

/* Judges whether gpminres is the first to reach the judged gap. */
static void claim_first_to_gap(LabSet *set, int p, const LabResult *const r[COMPARED], int divisor)
{
    double best = experiment_best_objective(set, p);
    char leaders[LAB_TEXT];
    int first = 0;
    for (int i = 1; i < COMPARED; i++)
        if (count_iterations_to(r[i], best, judged_gap) <
            count_iterations_to(r[first], best, judged_gap))
            first = i;
    bool reached = isfinite(count_iterations_to(r[first], best, judged_gap));
    list_leaders(r, divisor, leaders, sizeof leaders);
    claims_add(set,
               &(Claim){.subject = get_case_name(set, p),
                        .statement = "GPMINRES performs best",
                        .rule = "it is the first to a gap of 1e-4"},
               claim_if(reached && first == GPMINRES),
               "%s is the first to a gap of %g; smallest residual: %s",
               reached ? compared_solvers[first] : "none", judged_gap, leaders);
}

/* Returns the iterations of a solver to the judged gap at the heaviest mass, over those at the lightest; both results
 * must exist. INFINITY or NAN if the gap is not reached. */
static double get_degradation(const LabSet *set, int solver)
{
    int last = set->problem_count - 1;
    const LabResult *light = experiment_find_result(set, 0, compared_solvers[solver]);
    const LabResult *heavy = experiment_find_result(set, last, compared_solvers[solver]);
    return count_iterations_to(heavy, experiment_best_objective(set, last), judged_gap) /
           count_iterations_to(light, experiment_best_objective(set, 0), judged_gap);
}

/* Judges whether gpminres degrades least. Leaves out jacobi, which does not reach the judged gap in 1,000
 * iterations. */
static void claim_degradation(LabSet *set)
{
    double gpminres = get_degradation(set, GPMINRES), spg = get_degradation(set, SPG);
    double kucera = get_degradation(set, KUCERA);
    const Claim claim = {.statement = "from 1,000 to 16,000 kg GPMINRES loses least",
                         .rule = "its iterations to a gap of 1e-4 grow by the smallest factor"};
    if (!isfinite(gpminres) || isnan(spg) || isnan(kucera))
        claims_add(set, &claim, CLAIM_UNJUDGED, "not all come to a gap of %g", judged_gap);
    else
        claims_add(set, &claim, claim_if(gpminres < spg && gpminres < kucera),
                   "iterations to a gap of %g grow %.2f times (gpminres), %.2f (spg), %.2f "
                   "(kucera)",
                   judged_gap, gpminres, spg, kucera);
}

/* Judges whether all solvers are further from the optimum after 100 iterations for each larger mass, and jacobi is the
 * furthest. */
static void claim_all_degrade(LabSet *set, int divisor)
{
    enum { AFTER = 100 };
    double gap[COMPARED][3];
    int worse = 0, most = 0, last = set->problem_count - 1;
    for (int s = 0; s < COMPARED; s++) {
        for (int p = 0; p <= last; p++)
            gap[s][p] = get_gap(experiment_find_result(set, p, compared_solvers[s]),
                                AFTER / divisor, experiment_best_objective(set, p));
        for (int p = 1; p <= last; p++)
            worse += gap[s][p] > gap[s][p - 1];
        most = gap[s][last] > gap[most][last] ? s : most;
    }
    claims_add(set,
               &(Claim){.statement = "all solvers lose with the mass, Jacobi most",
                        .rule = "larger gaps after 100 iterations for each larger mass, Jacobi's "
                                "the largest at 16,000 kg; in part: one of the two"},
               claim_if_whole(worse == COMPARED * last && most == JACOBI,
                              worse == COMPARED * last || most == JACOBI),
               "gaps at 16,000 kg: jacobi %.2g, gpminres %.2g, spg %.2g, kucera %.2g; %d of %d "
               "grow",
               gap[JACOBI][last], gap[GPMINRES][last], gap[SPG][last], gap[KUCERA][last], worse,
               COMPARED * last);
}

static void conclude_3(LabSet *set, int divisor)
{
    bool all = true;
    for (int p = 0; p < set->problem_count; p++) {
        add_course_table(set, p, "Figs. 12-13", divisor);
        add_gap_figure(set, p, "Fig. 12", compared_solvers, COMPARED);
    }
    add_normalised_table(set, divisor);
    add_iterations_table(set, compared_solvers, COMPARED);
    lab_set_add_note(set, "The wall is a prism of twelve planes about a circle of radius 1.5 m.");
    for (int p = 0; p < set->problem_count; p++) {
        const LabResult *r[COMPARED];
        if (find_compared_results(set, p, r))
            claim_first_to_gap(set, p, r, divisor);
        else
            all = false;
    }
    if (all) {
        claim_degradation(set);
        claim_all_degrade(set, divisor);
    }
    if (divisor == 1)
        lab_set_add_note(set, "Contacts: %d here, 4,295 in the paper.",
                         talus_problem_blocks(set->problems[0].problem));
}

const Experiment heyn_3 = {.name = "heyn-3",
                           .summary = "one to sixteen tonnes on 1,000 spheres of 6.28 kg",
                           .source = "heyn-2012 Figs. 12-13",
                           EXPERIMENT_RUNS(cases_3, runs_23),
                           .other_iterations = 1000,
                           .conclude = conclude_3};

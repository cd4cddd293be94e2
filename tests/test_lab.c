/* The laboratory: deadlines of benchmarks that run worlds, and their verdicts; what experiments conclude about the
 * statements of papers; which points of long curves pages show. */
#include "lab/experiments/preclik.h"
#include "lab/experiments/worlds.h"
#include "lab/widen.h"
#include "support/problems.h"
#include "support/test.h"

#include "base/memory.h"
#include "base/timer.h"
#include "io/file/file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- cells of tables ---- */

/* Returns the cell in the row whose first cell is `name`, of the table with this title; "" if there is none. */
static const char *cell_of(const LabSet *set, const char *title, const char *name, int column)
{
    for (int i = 0; i < set->table_count; i++) {
        const LabTable *t = set->tables[i];
        if (strcmp(t->title, title) != 0)
            continue;
        for (int k = t->columns; k + column < t->cells; k += t->columns)
            if (strcmp(t->cell[k], name) == 0)
                return t->cell[k + column];
    }
    return "";
}

/* ---- deadlines ---- */

enum { ROWS = 3 };

static double start[ROWS];     /* of each row, as talus_now */
static double time_left[ROWS]; /* until the row's deadline, at its start, s */
static int begun;

static TalusStatus take_time(Worlds *w)
{
    const struct timespec pause = {.tv_nsec = 300000000};
    start[begun] = talus_now();
    time_left[begun] = w->deadline - start[begun];
    begun++;
    nanosleep(&pause, NULL);
    return TALUS_OK;
}

static const WorldsRow without_share = {
    .name = "a", .summary = "", .source = "", .share = 0.0, .run = take_time};
static const WorldsRow two_shares = {
    .name = "b", .summary = "", .source = "", .share = 2.0, .run = take_time};
static const WorldsRow one_share = {
    .name = "c", .summary = "", .source = "", .share = 1.0, .run = take_time};

static void run_rows(const WorldsRow *const *rows, int count)
{
    static LabSet set;
    static Worlds w;
    set = (LabSet){0};
    w = (Worlds){.limit = 300.0, .quiet = true, .set = &set};
    begun = 0;
    CHECK_INT(worlds_run_rows(&w, rows, count), CLI_OK);
    CHECK_INT(begun, count);
    lab_set_clear(&set);
}

TEST(a_row_without_a_share_has_no_deadline)
{
    const WorldsRow *const rows[] = {&two_shares, &without_share, &one_share};
    run_rows(rows + 1, 1);
    CHECK(time_left[0] == HUGE_VAL);
    run_rows(rows, 3);
    CHECK_NEAR(time_left[0], 200.0, 0.1);
    CHECK(time_left[1] == HUGE_VAL);
    CHECK_NEAR(time_left[2], 300.0 - (start[1] - start[0]), 0.1); /* a's time is not of the limit */
}

/* ---- verdicts ---- */

static TalusStatus judge_three(Worlds *w)
{
    const WorldsStep known = {.rms = 1e-4, .relative = 2e-3},
                     relative = {.rms = NAN, .relative = 3e-3};
    worlds_add_verdict(w, 1.0, 1.5, "s", &known, "residual");
    worlds_add_verdict(w, 1.0, 0.5, "s", &relative, "relative residual");
    worlds_add_verdict(w, 1.0, 1.5, "s", NULL, "no residual");
    return TALUS_OK;
}

TEST(verdicts_show_the_residuals_that_are_known)
{
    static const WorldsRow row = {.name = "a", .summary = "", .source = "", .run = judge_three};
    static const char *const expected[][4] = {{"residual", "1.00e-04", "2.00e-03", "held"},
                                              {"relative residual", "-", "3.00e-03", "missed"},
                                              {"no residual", "-", "-", "held"}};
    static LabSet set;
    static Worlds w = {.quiet = true, .set = &set};
    const WorldsRow *const rows[] = {&row};
    CHECK_INT(worlds_run_rows(&w, rows, 1), CLI_OK);
    for (int i = 0; i < 3; i++)
        for (int k = 1; k < 4; k++)
            CHECK_STR(cell_of(&set, "Targets", expected[i][0], k + 2), expected[i][k]);
    lab_set_clear(&set);
}

/* ---- statements of papers ---- */

static const char claims[] = "What the paper states, and what is found here";

static void make_set(LabSet *set, int problems, int max_results)
{
    *set = (LabSet){.problem_count = problems};
    CHECK_OK(TALUS_ALLOC(set->problems, (size_t)problems, "problems"));
    CHECK_OK(TALUS_ALLOC(set->results, (size_t)max_results, "results"));
}

/* Adds a result whose residual fell from 1 to `end`. */
static void add_result(LabSet *set, int problem, const char *solver, LabOutcome outcome, double end)
{
    LabResult *r = &set->results[set->result_count++];
    *r = (LabResult){.problem = problem, .outcome = outcome, .iterations = 1};
    snprintf(r->solver, sizeof r->solver, "%s", solver);
    r->trace = (LabTrace){.row = calloc(2, sizeof *r->trace.row), .count = 2, .capacity = 2};
    r->trace.row[0][LAB_NATURAL_MAX] = 1.0;
    r->trace.row[1][LAB_NATURAL_MAX] = end;
    r->trace.row[1][LAB_ITERATION] = 1.0;
}

/* What petra-opt says about TRON, which ended like this in its two cases, if ipm-aug crashed in both. */
static void check_crash(LabOutcome first, LabOutcome second, const char *holds, const char *found)
{
    static LabSet set;
    TestProblem heap = make_heap(&(HeapOptions){1, 2, 1, 1, 0.3, 0.0, 0.0});
    make_set(&set, 2, 4);
    for (int c = 0; c < 2; c++) {
        CHECK_OK(talus_problem_create(&heap.def, NULL, &set.problems[c].problem));
        add_result(&set, c, "ipm-aug:stop=ooqp", LAB_FAILED, 1.0);
        if (first < LAB_OUTCOMES)
            add_result(&set, c, "tao-tron:stop=paper", c ? second : first, 1.0);
    }
    petra_opt.conclude(&set, 1);
    CHECK_STR(cell_of(&set, claims, "TRON crashes", 1), holds);
    CHECK_STR(cell_of(&set, claims, "TRON crashes", 2), found);
    lab_set_clear(&set);
    free_test_problem(&heap);
}

TEST(tron_crashes_only_if_it_does_itself)
{
    check_crash(LAB_BUDGET, LAB_CONVERGED, "does not hold",
                "2 of 4 runs end without a result; TRON: budget and converged");
    check_crash(LAB_FAILED, LAB_BUDGET, "holds in part",
                "3 of 4 runs end without a result; TRON: failed and budget");
    check_crash(LAB_FAILED, LAB_FAILED, "holds",
                "4 of 4 runs end without a result; TRON: failed and failed");
    check_crash(LAB_UNSUPPORTED, LAB_UNSUPPORTED, "does not hold",
                "4 of 4 runs end without a result; TRON: unsupported and unsupported");
    check_crash(LAB_OUTCOMES, LAB_OUTCOMES, "not judged", "no result of tao-tron:stop=paper");
}

/* A result of preclik: how it ended, its residual at the end and its seconds. */
typedef struct End {
    LabOutcome outcome;
    double residual, seconds;
} End;

/* What preclik says about Newton's method on a model if the methods end like this in each state, but Newton in state 0
 * like `first`. missing: the state in which Newton has no result; -1: it has all. */
static void check_newton(int model, End first, End newton, End pgs, End cpg, int missing,
                         const char *holds)
{
    static LabSet set;
    char statement[LAB_TEXT];
    make_set(&set, MODELS * STATES, 3 * STATES);
    for (int state = 0; state < STATES; state++) {
        const End ends[] = {state ? newton : first, pgs, cpg};
        static const char *const solvers[] = {SSN_PLAIN, "pgs", CPG_PAPER};
        for (int s = state == missing; s < 3; s++) {
            add_result(&set, preclik_case_index(model, state), solvers[s], ends[s].outcome,
                       ends[s].residual);
            set.results[set.result_count - 1].seconds = ends[s].seconds;
        }
    }
    preclik_add_newton_claims(&set);
    snprintf(statement, sizeof statement, "%s: Newton is inferior", preclik_models[model]);
    CHECK_STR(cell_of(&set, claims, statement, 1), holds);
    if (missing >= 0)
        CHECK_STR(cell_of(&set, claims, statement, 2), "a result is missing");
    lab_set_clear(&set);
}

TEST(newton_is_judged_by_what_converges)
{
    const End fast = {LAB_CONVERGED, 1e-9, 1.0}, slow = {LAB_CONVERGED, 1e-9, 3.0};
    const End medium = {LAB_CONVERGED, 1e-9, 2.0};
    const End failed = {LAB_BUDGET, 0.1, 1.0}, nearer = {LAB_BUDGET, 1e-3, 2.0};
    check_newton(BOX, slow, slow, fast, medium, -1, "holds");
    check_newton(BOX, failed, failed, fast, nearer, -1, "holds");
    check_newton(BOX, failed, fast, slow, medium, -1, "holds in part");
    check_newton(BOX, fast, fast, slow, failed, -1, "does not hold");
    check_newton(BOX, medium, medium, fast, slow, -1, "does not hold"); /* between the two */
    check_newton(BOX, fast, fast, failed, failed, -1, "does not hold");
    check_newton(PYRAMID, failed, failed, nearer, nearer, -1, "holds");
    check_newton(PYRAMID, nearer, nearer, nearer, failed, -1, "does not hold");
    for (int state = 0; state < STATES; state++)
        check_newton(PYRAMID, failed, failed, nearer, nearer, state, "not judged");
}

/* Multigrid that has the sweeps' products and does not get to a mark does not improve on the sweeps that do; one that
 * needs fewer products does. One that had fewer products and did not get there is not judged. */
TEST(multigrid_is_judged_by_its_work)
{
    static const char statement[] = "box: multigrid does not improve on Gauss-Seidel";
    static const struct {
        double products, project; /* of multigrid, and its residual at the end */
        const char *holds;
    } cases[] = {{30.0, 0.5, "holds"}, {10.0, 1e-9, "does not hold"}, {10.0, 0.5, "not judged"}};
    for (int k = 0; k < 3; k++) {
        static LabSet set;
        make_set(&set, MODELS * STATES, 4 * STATES);
        for (int state = 0; state < STATES; state++) {
            static const char *const solvers[] = {"pgs", AMG_REJECT, AMG_PROJECT, "amg"};
            const double ends[] = {1e-9, 0.5, cases[k].project, 1e-9};
            for (int s = 0; s < 4; s++) {
                const double products = s ? cases[k].products : 20.0;
                add_result(&set, preclik_case_index(BOX, state), solvers[s], LAB_CONVERGED,
                           ends[s]);
                set.results[set.result_count - 1].trace.row[1][LAB_PRODUCTS] = products;
                set.results[set.result_count - 1].products = (int)products;
            }
        }
        preclik_add_claims(&set);
        CHECK_STR(cell_of(&set, claims, statement, 1), cases[k].holds);
        lab_set_clear(&set);
    }
}

/* Adds results of CPG and PGS on the pyramid at mu 3, at the end of which CPG's residual is this. */
static void check_strong_friction(double cpg, int products, const char *holds)
{
    static const char statement[] = "strong friction spoils CPG on the pyramid";
    static LabSet set;
    make_set(&set, STRONG_CONE + 1, 4 * STATES + 2);
    for (int state = 0; state < STATES; state++)
        for (int model = BOX; model <= PYRAMID; model++) {
            add_result(&set, preclik_case_index(model, state), "pgs", LAB_CONVERGED, 1e-9);
            add_result(&set, preclik_case_index(model, state), CPG_PAPER, LAB_CONVERGED, 1e-9);
        }
    add_result(&set, STRONG_PYRAMID, "pgs", LAB_BUDGET, 0.1);
    set.results[set.result_count - 1].products = 10;
    add_result(&set, STRONG_PYRAMID, CPG_PAPER, LAB_BUDGET, cpg);
    set.results[set.result_count - 1].products = products;
    preclik_add_claims(&set);
    CHECK_STR(cell_of(&set, claims, statement, 1), holds);
    lab_set_clear(&set);
}

/* At mu 0.8 CPG is as good on the pyramid as on the box, so that the statement cannot hold as a whole. */
TEST(strong_friction_is_judged_at_mu_3)
{
    check_strong_friction(0.2, 20, "holds in part");
    check_strong_friction(0.2, 9, "does not hold");
    check_strong_friction(0.01, 20, "does not hold");
    check_strong_friction(NAN, 20, "not judged");
}

/* Newton that converges in two iterations: in the first runs none of them begins with the set of the solution, in the next
 * runs one, in the others both. */
static void check_last_iteration(int none, int one, const char *holds)
{
    static const char statement[] =
        "with the correct active set Newton has the solution within a single iteration";
    static LabSet set;
    make_set(&set, MODELS * STATES, 2 * STATES);
    for (int model = FRICTIONLESS; model <= BOX; model++)
        for (int state = 0; state < STATES; state++) {
            add_result(&set, preclik_case_index(model, state), SSN_PLAIN, LAB_CONVERGED, 1e-9);
            LabResult *r = &set.results[set.result_count - 1];
            free(r->trace.row);
            r->trace = (LabTrace){.row = calloc(3, sizeof *r->trace.row), 3, 3};
            r->iterations = 2;
            r->trace.row[0][LAB_NATURAL_MAX] = 1.0;
            for (int k = 1; k < 3; k++)
                r->trace.row[k][LAB_ITERATION] = k;
            const int last = set.result_count <= none ? 2 : set.result_count <= none + one ? 1 : 0;
            r->trace.row[last][LAB_STATE_CHANGES] = 1.0;
        }
    preclik_add_newton_claims(&set);
    CHECK_STR(cell_of(&set, claims, statement, 1), holds);
    lab_set_clear(&set);
}

TEST(newton_with_the_right_set_is_judged_by_iterations_that_had_it)
{
    enum { RUNS = 2 * STATES };
    check_last_iteration(0, RUNS, "holds");
    check_last_iteration(1, RUNS - 1, "holds in part"); /* one says nothing of the statement */
    check_last_iteration(2, 2, "holds in part");
    check_last_iteration(2, 1, "does not hold");
    check_last_iteration(RUNS - 1, 0, "does not hold");
    check_last_iteration(RUNS, 0, "not judged");
}

/* The plots are of the first state, without values whose logarithm does not exist. */
TEST(plots_of_preclik_have_the_curves_of_its_figures)
{
    static LabSet set;
    make_set(&set, MODELS * STATES, 2);
    add_result(&set, preclik_case_index(BOX, 0), "pgs", LAB_CONVERGED, 1e-9);
    add_result(&set, preclik_case_index(BOX, 1), CPG_PAPER, LAB_CONVERGED, 1e-9);
    preclik_add_figures(&set);
    if (!CHECK_INT(set.figure_count, MODELS + 4))
        return;
    const LabFigure *two = set.figures[0], *three = set.figures[MODELS + 1];
    CHECK_STR(two->title, "Fig. 2: residual by model");
    if (CHECK_INT(two->curves, 1)) {
        CHECK_STR(two->curve[0].name, "PGS, box");
        CHECK_INT(two->curve[0].count, 1); /* the axis of iterations has no zero */
        CHECK_NEAR(two->curve[0].y[0], 1e-9, 0.0);
    }
    if (CHECK_INT(three->curves, 1)) /* the error is 0 */
        CHECK_STR(three->curve[0].name, "pgs: residual");
    lab_set_clear(&set);
}

/* Without results nothing holds or does not hold: no claim may take their absence for an answer. */
TEST(without_results_nothing_is_judged)
{
    static LabSet set;
    int counts[CLAIM_VERDICTS];
    make_set(&set, STRONG_CONE + 1, 1);
    preclik_add_claims(&set);
    preclik_add_newton_claims(&set);
    claims_count(&set, counts);
    CHECK_INT(counts[CLAIM_HOLDS] + counts[CLAIM_IN_PART] + counts[CLAIM_FAILS], 0);
    CHECK(counts[CLAIM_UNJUDGED] > 40);
    lab_set_clear(&set);
}

/* ---- statements of heyn-2012 on the three beds ---- */

enum { BEDS = 3, METHODS = 4 };

static const char *const heyn_methods[METHODS] = {"jacobi", "gpminres (paper)", "spg (paper)",
                                                  "kucera (paper)"};

/* Adds a result of three rows: the start, `reach` with the objective `end`, ten iterations later. The number of open
 * contacts changes by `range` between the last two. */
static void add_course(LabSet *set, int bed, const char *solver, int reach, double end, int range)
{
    add_result(set, bed, solver, LAB_BUDGET, 0.0);
    LabResult *r = &set->results[set->result_count - 1];
    free(r->trace.row);
    r->trace = (LabTrace){.row = calloc(3, sizeof *r->trace.row), .count = 3, .capacity = 3};
    for (int k = 0; k < 3; k++) {
        double *row = r->trace.row[k];
        row[LAB_ITERATION] = k == 0 ? 0.0 : k == 1 ? reach : reach + 10.0;
        row[LAB_OBJECTIVE] = k ? end : 0.0;
        row[LAB_PROJECTED_GRADIENT] = 1.0 / (1.0 + k);
        row[LAB_OPEN] = k == 2 ? 10.0 + range : 10.0;
    }
    r->iterations = reach + 10;
    r->objective = end;
}

/* How a method fares on the beds: it comes near the optimum, stays far from it or has no result. */
typedef enum Fate { NEAR, FAR, ABSENT } Fate;

/* What heyn-2 says if all methods come near but `method`, which fares like this on the smallest and the largest bed.
 * The objective at the optimum is -1; jacobi, four times slower on the largest bed, ends at -0.9. */
static void check_beds(int method, Fate smallest, Fate largest, const char *scales,
                       const char *unsettled, const char *contents)
{
    static LabSet set;
    TestProblem heap = make_heap(&(HeapOptions){1, 2, 1, 1, 0.3, 0.0, 0.0});
    make_set(&set, BEDS, BEDS * (METHODS + 1));
    for (int bed = 0; bed < BEDS; bed++) {
        CHECK_OK(talus_problem_create(&heap.def, NULL, &set.problems[bed].problem));
        add_result(&set, bed, "apgd", LAB_CONVERGED, 0.0);
        set.results[set.result_count - 1].objective = -1.0;
        for (int m = 0; m < METHODS; m++) {
            const Fate fate = m != method       ? NEAR
                              : bed == 0        ? smallest
                              : bed == BEDS - 1 ? largest
                                                : NEAR;
            if (fate != ABSENT)
                add_course(&set, bed, heyn_methods[m], m ? 50 : 50 << bed,
                           fate == FAR ? -0.5
                           : m         ? -1.0
                                       : -0.9,
                           bed + 1);
        }
    }
    heyn_2.conclude(&set, 1);
    CHECK_STR(
        cell_of(&set, claims, "Jacobi scales much worse with the size than the other three", 1),
        scales);
    CHECK_STR(
        cell_of(&set, claims,
                "the size of the active set can be unsettled even as the objective approaches "
                "the minimum, best seen on larger beds",
                1),
        unsettled);
    CHECK_STR(cell_of(&set, claims,
                      "even while its size is constant, the contents of the active set can change",
                      1),
              contents);
    lab_set_clear(&set);
    free_test_problem(&heap);
}

/* A method that does not come near on a bed says nothing about growth from bed to bed, nor about what happens there. */
TEST(beds_are_compared_only_where_all_come_near)
{
    static const char unjudged[] = "not judged", holds[] = "holds", fails[] = "does not hold";
    enum { GPMINRES = 1, SPG, KUCERA };
    check_beds(GPMINRES, NEAR, NEAR, holds, holds, fails);
    for (int bed = 0; bed < 3; bed++) { /* the smallest, the largest, both */
        const Fate first = bed == 1 ? NEAR : FAR, last = bed == 0 ? NEAR : FAR;
        check_beds(GPMINRES, first, last, unjudged, unjudged, unjudged);
        check_beds(SPG, first, last, unjudged, holds, fails);
        check_beds(KUCERA, first, last, unjudged, unjudged, unjudged);
    }
    for (int m = 0; m < METHODS; m++)
        check_beds(m, NEAR, ABSENT, unjudged, unjudged, unjudged);
}

/* ---- widened worlds ---- */

/* Three spheres in a row, a tenth of their radius apart: two contacts, and those of a rigid world are rigid. */
TEST(a_widened_world_keeps_its_compliance)
{
    static const double compliance[] = {0.0, 1e-3, TALUS_COMPLIANCE_AUTO};
    const TalusVec3 row[3] = {{0, 0, 0}, {0.21, 0, 0}, {0.42, 0, 0}};
    for (int k = 0; k < 3; k++) {
        TalusWorldDef def = talus_world_def_default();
        TalusBodyBatch batch = talus_body_batch_default();
        TalusWorld *world = NULL, *wide = NULL;
        double envelope;
        def.threads = 1;
        def.compliance = compliance[k];
        REQUIRE_OK(talus_world_create(&def, &world));
        REQUIRE_OK(talus_world_add_shape(
            world, &(TalusShapeDef){.kind = TALUS_SHAPE_SPHERE, .radius = 0.1}, &batch.shape));
        batch.count = 3;
        batch.position = row;
        CHECK_OK(talus_world_add_bodies(world, &batch, NULL));
        CHECK_OK(widen_world(world, 2, &wide, &envelope));
        CHECK(wide && talus_world_compliance(wide) == talus_world_compliance(world));
        talus_world_destroy(wide);
        talus_world_destroy(world);
    }
}

/* ---- long curves ---- */

enum { LONG = 10000 };

static double long_x[LONG], long_y[LONG];

/* A wave with one peak up and one down, drawn from point 1 on where the axis of x is logarithmic. */
static void make_long_curve(LabFigure *figure)
{
    for (int k = 0; k < LONG; k++) {
        long_x[k] = k;
        long_y[k] = 2.0 + sin(1e-3 * k);
    }
    long_y[3333] = 7.0;
    long_y[7777] = 0.5;
    lab_figure_add(figure, "wave", long_x, long_y, LONG);
}

/* The number of points with this y. */
static int count_of(const LabCurve *curve, double y)
{
    int count = 0;
    for (int k = 0; k < curve->count; k++)
        count += curve->y[k] == y;
    return count;
}

/* True if all points are of the long curve, in its order. */
static bool is_part(const LabCurve *curve)
{
    int at = -1;
    for (int k = 0; k < curve->count; k++) {
        const int point = (int)curve->x[k];
        if (point <= at || memcmp(&curve->y[k], &long_y[point], sizeof long_y[point]) != 0)
            return false;
        at = point;
    }
    return true;
}

static void thin_long_curve(LabFigure *figure, LabCurve *out)
{
    *out = (LabCurve){0};
    CHECK(lab_curve_thin(figure, &figure->curve[0], out));
    CHECK(out->count <= LAB_SHOWN);
    CHECK(out->count > LAB_SHOWN / 3);
    CHECK(is_part(out));
    CHECK(out->x[0] == long_x[0] && out->x[out->count - 1] == long_x[LONG - 1]);
    CHECK_INT(count_of(out, 7.0), 1);
    CHECK_INT(count_of(out, 0.5), 1);
    free(out->x);
    free(out->y);
}

TEST(thinned_curves_keep_their_extremes)
{
    static LabFigure figure;
    LabCurve out;
    make_long_curve(&figure);
    thin_long_curve(&figure, &out);
    figure.y_log = true;
    thin_long_curve(&figure, &out);
    CHECK_STR(out.name, "wave");
    figure.curve[0].count = LAB_SHOWN;
    CHECK(!lab_curve_thin(&figure, &figure.curve[0], &out)); /* not long */
    lab_figure_clear(&figure);
}

/* On a logarithmic axis the first hundred of ten thousand points take half of the width. */
TEST(thinned_curves_keep_the_first_decades)
{
    static LabFigure figure;
    LabCurve out;
    int early = 0;
    make_long_curve(&figure);
    figure.x_log = true;
    REQUIRE(lab_curve_thin(&figure, &figure.curve[0], &out));
    CHECK(out.count <= LAB_SHOWN && is_part(&out));
    CHECK_INT(count_of(&out, 7.0) + count_of(&out, 0.5), 2);
    while (early < out.count && out.x[early] < 100.0)
        early++;
    CHECK_INT(early, 100);
    free(out.x);
    free(out.y);
    lab_figure_clear(&figure);
}

/* Points that are not drawn break the line of what is kept, too; where x falls, pieces have as many points each. */
TEST(thinned_curves_keep_their_gaps)
{
    static LabFigure figure;
    LabCurve out;
    make_long_curve(&figure);
    LabCurve *curve = &figure.curve[0];
    curve->y[5000] = NAN;
    for (int k = 6000; k < 7000; k++)
        curve->y[k] = NAN;
    REQUIRE(lab_curve_thin(&figure, curve, &out));
    int gaps = 0, first = -1, last = -1;
    for (int k = 0; k < out.count; k++)
        if (isnan(out.y[k])) {
            gaps++;
            first = first < 0 ? (int)out.x[k] : first;
            last = (int)out.x[k];
        }
    CHECK_INT(first, 5000);
    CHECK(last > 6900 && gaps > 10 && gaps < 100);
    free(out.x);
    free(out.y);
    for (int k = 0; k < LONG; k++) {
        curve->x[k] = -curve->x[k];
        curve->y[k] = long_y[k];
    }
    REQUIRE(lab_curve_thin(&figure, curve, &out));
    CHECK(out.count <= LAB_SHOWN && out.count > LAB_SHOWN / 3);
    CHECK_INT(count_of(&out, 7.0) + count_of(&out, 0.5), 2);
    free(out.x);
    free(out.y);
    lab_figure_clear(&figure);
}

TEST(pages_are_thinned_and_stores_are_not)
{
    static LabSet set, read;
    bool found = false;
    char *page;
    size_t size;
    set = (LabSet){.title = "long", .kind = "bench", .dir = "long", .complete = true};
    REQUIRE_OK(lab_set_open(&set, true));
    lab_set_add_table(&set, "a table", "a");
    LabFigure *figure = lab_set_add_figure(&set, "a figure", "x", "y");
    make_long_curve(figure);
    lab_figure_add(figure, "digits", (double[]){1234567, 1e-9 / 3}, (double[]){2.0 / 3, NAN}, 2);
    CHECK_OK(lab_store_write(&set));
    CHECK_OK(lab_page_write(&set));
    read = (LabSet){.title = "long", .dir = "long"};
    CHECK_OK(lab_store_read_shown(&read, &found));
    REQUIRE(found && read.figure_count == 1);
    CHECK_INT(read.figures[0]->curve[0].count, LONG);
    CHECK(read.figures[0]->curve[1].y[0] == 2.0 / 3);
    REQUIRE_OK(talus_read_file("long/report.html", 1 << 24, &page, &size));
    const char *x = strstr(page, "\"wave\""), *end = x ? strchr(x, ']') : NULL;
    int commas = 0;
    REQUIRE(end);
    for (; x < end; x++)
        commas += *x == ',';
    CHECK(commas > LAB_SHOWN / 3 && commas <= LAB_SHOWN);
    CHECK(strstr(page, "\"digits\",\n\"x\": [1234567,3.3333e-10],\n\"y\": [0.66667,null]"));
    talus_release(page);
    lab_set_clear(&set);
    lab_set_clear(&read);
}

int main(void)
{
    RUN(thinned_curves_keep_their_extremes);
    RUN(thinned_curves_keep_the_first_decades);
    RUN(thinned_curves_keep_their_gaps);
    RUN(pages_are_thinned_and_stores_are_not);
    RUN(a_row_without_a_share_has_no_deadline);
    RUN(verdicts_show_the_residuals_that_are_known);
    RUN(tron_crashes_only_if_it_does_itself);
    RUN(newton_is_judged_by_what_converges);
    RUN(multigrid_is_judged_by_its_work);
    RUN(strong_friction_is_judged_at_mu_3);
    RUN(newton_with_the_right_set_is_judged_by_iterations_that_had_it);
    RUN(plots_of_preclik_have_the_curves_of_its_figures);
    RUN(without_results_nothing_is_judged);
    RUN(beds_are_compared_only_where_all_come_near);
    RUN(a_widened_world_keeps_its_compliance);
    return talus_test_result();
}

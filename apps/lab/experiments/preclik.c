/* lab/experiments/preclik.c - the experiments of preclik-2009, section 4: spheres settling in a box at mu = 0.8,
 * solved under every friction model of the paper and, as the paper's conclusion proposes, under the convex cones.
 *
 * The paper gives 1,702 contacts, but neither the number of spheres nor the time. Here 726 spheres have fallen for
 * 0.6 s and have about 1,700 contacts, in three states from different random offsets of the initial lattice. All
 * solvers start from zero impulses. The friction bounds of the model `box` come from one frictionless solution for all
 * solvers. Residuals are in the maximum norm, as in the paper, relative to the residual of zero impulses. */
#include "preclik.h"

#include <math.h>
#include <string.h>

/* ---- cases: every model on every state ---- */

static const TalusFrictionModel models[MODELS] = {
    [FRICTIONLESS] = {TALUS_SECTION_NONE, TALUS_LAW_CCP, 0},
    [BOX] = {TALUS_SECTION_SQUARE, TALUS_LAW_FIXED, 0},
    [PYRAMID] = {TALUS_SECTION_SQUARE, TALUS_LAW_COULOMB, 0},
    [CONE] = {TALUS_SECTION_DISC, TALUS_LAW_COULOMB, 0},
    [CONVEX_PYRAMID] = {TALUS_SECTION_SQUARE, TALUS_LAW_CCP, 0},
    [CONVEX_CONE] = {TALUS_SECTION_DISC, TALUS_LAW_CCP, 0},
};

#define SCENE(bodies, mu, seed)                                 \
    {                                                           \
        "bodies=" bodies, "mu=" mu, "bodies[grains].seed=" seed \
    }
#define SIZED_CASE(title, bodies, quick_bodies, mu, seed, index, solver)                \
    {                                                                                   \
        .name = title, .quick_name = title ", quick", .scene = "settle-box", .at = 0.6, \
        .quick_at = 0.4, .set = SCENE(bodies, mu, seed),                                \
        .quick_set = SCENE(quick_bodies, mu, seed), .model = &models[index],            \
        .reference_solver = solver                                                      \
    }
#define CASE(title, mu, seed, index, solver) SIZED_CASE(title, "726", "64", mu, seed, index, solver)
#define SMALL(title, seed, index) SIZED_CASE(title seed, "64", "27", "0.8", seed, index, NULL)
#define STATE(seed)                                                             \
    CASE("frictionless, state " seed, "0.8", seed, FRICTIONLESS, "ssn"),        \
        CASE("box, state " seed, "0.8", seed, BOX, "ssn"),                      \
        CASE("pyramid, state " seed, "0.8", seed, PYRAMID, NULL),               \
        CASE("circular cone, state " seed, "0.8", seed, CONE, NULL),            \
        CASE("convex pyramid, state " seed, "0.8", seed, CONVEX_PYRAMID, NULL), \
        CASE("convex cone, state " seed, "0.8", seed, CONVEX_CONE, NULL)

static const BenchCase cases[] = {STATE("1"),
                                  STATE("2"),
                                  STATE("3"),
                                  CASE("pyramid at mu 3", "3", "1", PYRAMID, NULL),
                                  CASE("circular cone at mu 3", "3", "1", CONE, NULL),
                                  SMALL("small pyramid, state ", "1", PYRAMID),
                                  SMALL("small pyramid, state ", "2", PYRAMID),
                                  SMALL("small pyramid, state ", "3", PYRAMID),
                                  SMALL("small convex pyramid, state ", "1", CONVEX_PYRAMID),
                                  SMALL("small convex pyramid, state ", "2", CONVEX_PYRAMID),
                                  SMALL("small convex pyramid, state ", "3", CONVEX_PYRAMID)};

/* Bits of the cases of this model in all three states. */
#define ALL_STATES(model) (1u << (model) | 1u << ((model) + MODELS) | 1u << ((model) + 2 * MODELS))
#define BOUNDS (ALL_STATES(FRICTIONLESS) | ALL_STATES(BOX))
#define PYRAMIDS (ALL_STATES(PYRAMID) | 1u << STRONG_PYRAMID)
#define CONES (ALL_STATES(CONE) | 1u << STRONG_CONE)
/* Methods that pivot take the linear complementarity problem of pyramids only where it is small. */
#define SMALL_STATES(first) (1u << (first) | 1u << ((first) + 1) | 1u << ((first) + 2))
#define PIVOTED \
    (ALL_STATES(FRICTIONLESS) | SMALL_STATES(SMALL_PYRAMID) | SMALL_STATES(SMALL_CONVEX))
#define CONVEX (ALL_STATES(CONVEX_PYRAMID) | ALL_STATES(CONVEX_CONE))

#define RUN(solver, iterations, cases)               \
    {                                                \
        solver, iterations, 1e-9, false, cases, NULL \
    }

static const BenchRun runs[] = {
    RUN("cpg", 5000, BOUNDS | PYRAMIDS),
    RUN(CPG_PAPER, 5000, BOUNDS | PYRAMIDS),
    RUN(CPG_ONE, 5000, BOUNDS),
    RUN("pgs", 5000, BOUNDS | PYRAMIDS),
    RUN("ssn", 200, BOUNDS | PYRAMIDS),
    RUN(SSN_PLAIN, 200, BOUNDS | PYRAMIDS),
    RUN("ssn:map=normal", 200, BOUNDS | PYRAMIDS),
    RUN("ssn:bounds=moving", 200, PYRAMIDS | SMALL_STATES(SMALL_PYRAMID)),
    RUN("lemke", 10000, PIVOTED),
    RUN("newton-pang", 300, PIVOTED),
    RUN("newton-path", 10000, PIVOTED),
    RUN("gs-ssn", 5000, BOUNDS | PYRAMIDS | SMALL_STATES(SMALL_PYRAMID)),
    RUN("gs-ssn:sweeps=200", 5000, ALL_STATES(PYRAMID)),
    RUN("gs-ssn:omega=1.3", 5000, ALL_STATES(PYRAMID)),
    RUN("newton-al", 200, ALL_STATES(FRICTIONLESS)),
    RUN("amg", 300, BOUNDS),
    RUN(AMG_REJECT, 300, BOUNDS),
    RUN(AMG_PROJECT, 300, BOUNDS),
    RUN("bgs-enum", 5000, PYRAMIDS),
    RUN("gs-disc", 5000, CONES),
    RUN("prox", 200, CONES),
    RUN("gs", 5000, CONVEX),
    RUN("apgd", 5000, CONVEX | SMALL_STATES(SMALL_CONVEX)),
    RUN("lbfgs-fb", 5000, ALL_STATES(BOX) | PYRAMIDS | CONES | CONVEX),
};

/* ---- Fig. 2 ---- */

/* Adds a cell such as "20 18 -": for each state the iterations until the residual is at most `mark`; "-": never. */
static void add_iterations_cell(LabTable *t, const LabSet *set, int model, const char *solver,
                                double mark)
{
    char text[LAB_TEXT] = "";
    size_t used = 0;
    for (int state = 0; state < STATES; state++) {
        double n = preclik_count_iterations(preclik_find_result(set, model, state, solver), mark);
        const char *space = state ? " " : "";
        used += (size_t)(isfinite(n) ? snprintf(text + used, sizeof text - used, "%s%.0f", space, n)
                                     : snprintf(text + used, sizeof text - used, "%s-", space));
    }
    lab_table_add_cell(t, "%s", text);
}

/* Adds iterations to each mark, the worst final residual and the seconds of all states. */
static void add_fig_2_row(LabTable *t, const LabSet *set, int model, const char *solver)
{
    double end = 0.0, seconds = 0.0;
    for (int state = 0; state < STATES; state++) {
        const LabResult *r = preclik_find_result(set, model, state, solver);
        end = r ? fmax(end, preclik_final_residual(r)) : end;
        seconds += r ? r->seconds : 0.0;
    }
    lab_table_add_cells(t, "%s\t%s", preclik_models[model], solver);
    for (int m = 0; m < PRECLIK_MARKS; m++)
        add_iterations_cell(t, set, model, solver, preclik_marks[m]);
    lab_table_add_cells(t, "%.0e\t%.2f", end, seconds);
}

/* Returns the contacts of a state, the same for every model. */
static int count_contacts(const LabSet *set, int state)
{
    return talus_problem_blocks(set->problems[preclik_case_index(BOX, state)].problem);
}

static void add_fig_2_table(LabSet *set, bool like_paper)
{
    LabTable *t = lab_set_add_table(
        set, "Fig. 2: iterations until the residual has fallen, state by state", "model\tsolver");
    for (int m = 0; m < PRECLIK_MARKS; m++)
        lab_table_add_columns(t, "to %g", preclik_marks[m]);
    lab_table_add_columns(t, "worst end\ts");
    for (int model = 0; model < MODELS; model++)
        for (int i = 0; i < LAB_COUNT(runs); i++)
            if (runs[i].cases >> model & 1u && preclik_find_result(set, model, 0, runs[i].solver))
                add_fig_2_row(t, set, model, runs[i].solver);
    snprintf(t->note, sizeof t->note,
             "%d, %d and %d contacts%s; maximum norm, relative to zero impulses; worst end: the "
             "largest at the end of the runs, which stop at 1e-9 in the mean square; s: of all "
             "states together",
             count_contacts(set, 0), count_contacts(set, 1), count_contacts(set, 2),
             like_paper ? ", in the paper 1,702" : "");
}

/* ---- Fig. 3: residual and velocity error on the box ---- */

/* Returns the velocity error when the residual is first at most `mark` times that of zero impulses; NAN: never. */
static double get_error_at(const LabResult *r, double mark)
{
    const double *row =
        experiment_find_row_below(r, LAB_NATURAL_MAX, mark * r->trace.row[0][LAB_NATURAL_MAX]);
    return row ? row[LAB_VELOCITY_ERROR] : NAN;
}

static void add_fig_3_table(LabSet *set)
{
    LabTable *t = lab_set_add_table(set, "Fig. 3: residual and velocity error on the box",
                                    "solver\tstate\tlevels\tchanges\tspread\terror to 0.1\t"
                                    "error to 1e-2\terror to 1e-4");
    for (int s = 0; s < COMPARED; s++)
        for (int state = 0; state < STATES; state++) {
            const LabResult *r = preclik_find_result(set, BOX, state, preclik_compared[s]);
            if (!r)
                continue;
            Coupling c = preclik_find_coupling(r);
            lab_table_add_cells(t, "%s\t%d\t%.3f\t%.3f\t%.1f\t%.1e\t%.1e\t%.1e",
                                preclik_compared[s], state + 1, c.levels, c.changes, c.spread,
                                get_error_at(r, 0.1), get_error_at(r, preclik_marks[0]),
                                get_error_at(r, preclik_marks[1]));
        }
    snprintf(t->note, sizeof t->note,
             "levels, changes: correlation of log residual with log error, and of their changes "
             "from row to row of the trace; spread: largest over smallest error per residual, all "
             "down to 1e-6; error to: |u - u_exact| / |q| when the residual first is there");
}

/* ---- Fig. 4: changes of the active set on the box ---- */

/* Returns the mean number of contacts that change their state per iteration, from iteration `from` to the last row of
 * the trace before iteration `to`; NAN: no row is in this range. */
static double mean_state_changes(const LabResult *r, int from, int to)
{
    double changes = 0.0, last = from - 1, at = NAN;
    for (int k = 1; k < r->trace.count; k++) {
        const double *row = r->trace.row[k];
        if (row[LAB_ITERATION] < from || row[LAB_ITERATION] >= to)
            continue;
        changes += row[LAB_STATE_CHANGES];
        at = row[LAB_ITERATION];
    }
    return changes / (at - last);
}

static void add_fig_4_table(LabSet *set)
{
    static const int from[] = {1, 3, 5, 9, 17, 33, 65};
    LabTable *t = lab_set_add_table(
        set, "Fig. 4: changes of the active set per iteration on the box", "solver\tstate");
    for (int c = 0; c + 1 < LAB_COUNT(from); c++)
        lab_table_add_columns(t, "%d to %d", from[c], from[c + 1] - 1);
    lab_table_add_columns(t, "exponential\tlinear");
    for (int s = 0; s < COMPARED; s++)
        for (int state = 0; state < STATES; state++) {
            const LabResult *r = preclik_find_result(set, BOX, state, preclik_compared[s]);
            if (!r)
                continue;
            lab_table_add_cells(t, "%s\t%d", preclik_compared[s], state + 1);
            for (int c = 0; c + 1 < LAB_COUNT(from); c++)
                lab_table_add_cells(t, "%.1f", mean_state_changes(r, from[c], from[c + 1]));
            lab_table_add_cells(t, "%.2f\t%.2f", preclik_find_decay(r).exponential,
                                preclik_find_decay(r).linear);
        }
    snprintf(t->note, sizeof t->note,
             "contacts that change between open, sliding and sticking; exponential, linear: share "
             "of the variance that a line through log(changes + 1/2), through the changes, "
             "explains, iterations 3 to 50");
}

/* ---- the paper's proposal: sweeps before Newton ---- */

/* Adds factorisations and milliseconds of a result that converged, else "-". */
static void add_newton_cells(LabTable *t, const LabResult *r)
{
    if (r && r->outcome == LAB_CONVERGED)
        lab_table_add_cells(t, "%d\t%.1f", r->factorisations, 1e3 * r->seconds);
    else
        lab_table_add_cells(t, "-\t-");
}

/* Adds a table of ssn beside gs-ssn, the paper's proposal. */
static void add_hybrid_table(LabSet *set)
{
    LabTable *t = lab_set_add_table(set, "Newton and sweeps: factorisations and time",
                                    "model\tstate\tssn\tms\tgs-ssn\tms\tsweeps\tend\tratio");
    for (int model = FRICTIONLESS; model <= PYRAMID; model++)
        for (int state = 0; state < STATES; state++) {
            const LabResult *newton = preclik_find_result(set, model, state, "ssn");
            const LabResult *hybrid = preclik_find_result(set, model, state, "gs-ssn");
            if (!newton || !hybrid)
                continue;
            bool both = newton->outcome == LAB_CONVERGED && hybrid->outcome == LAB_CONVERGED;
            lab_table_add_cells(t, "%s\t%d", preclik_models[model], state + 1);
            add_newton_cells(t, newton);
            add_newton_cells(t, hybrid);
            lab_table_add_cells(t, "%d\t%.0e\t%.2f", preclik_count_sweeps(hybrid),
                                preclik_final_residual(hybrid),
                                both ? newton->seconds / hybrid->seconds : NAN);
        }
    snprintf(t->note, sizeof t->note,
             "to 1e-9 in the mean square; -: not within 200 iterations (gs-ssn: 5,000); sweeps: "
             "iterations of gs-ssn without a factorisation; ratio: of times");
}

/* ---- Pang's method and the normal map: small problems ---- */

/* Adds a row of a solver on the small cases from `first` on: states in which it converges, iterations, factorisations,
 * worst residual and seconds of all. */
static void add_small_row(LabTable *t, const LabSet *set, int first, const char *model,
                          const char *solver)
{
    char iterations[LAB_TEXT] = "", factorisations[LAB_TEXT] = "";
    double end = 0.0, seconds = 0.0;
    int converged = 0;
    for (int state = 0; state < STATES; state++) {
        const LabResult *r = experiment_find_result(set, first + state, solver);
        if (!r)
            return;
        size_t a = strlen(iterations), b = strlen(factorisations);
        snprintf(iterations + a, sizeof iterations - a, "%s%d", state ? " " : "", r->iterations);
        snprintf(factorisations + b, sizeof factorisations - b, "%s%d", state ? " " : "",
                 r->factorisations);
        converged += r->outcome == LAB_CONVERGED;
        end = fmax(end, preclik_final_residual(r));
        seconds += r->seconds;
    }
    lab_table_add_cells(t, "%s\t%s\t%d\t%s\t%s\t%.0e\t%.2f", model, solver, converged, iterations,
                        factorisations, end, seconds);
}

/* Adds a table of the solvers of the small cases. */
static void add_small_table(LabSet *set)
{
    LabTable *t =
        lab_set_add_table(set, "Mixed LCPs and pivotal paths: small problems",
                          "model\tsolver\tconverged\titerations\tfactorisations\tworst end\ts");
    if (set->problem_count < LAB_COUNT(cases))
        return;
    for (int i = 0; i < LAB_COUNT(runs); i++)
        if (runs[i].cases >> SMALL_PYRAMID & 1u)
            add_small_row(t, set, SMALL_PYRAMID, "pyramid", runs[i].solver);
    for (int i = 0; i < LAB_COUNT(runs); i++)
        if (runs[i].cases >> SMALL_CONVEX & 1u)
            add_small_row(t, set, SMALL_CONVEX, "convex pyramid", runs[i].solver);
    snprintf(
        t->note, sizeof t->note,
        "%d, %d and %d contacts; converged: in how many of the three states, to 1e-9 in the mean "
        "square; iterations of lemke are pivots, those of newton-path steps of its crash and "
        "pivots; worst end: in the maximum norm, relative to zero impulses",
        talus_problem_blocks(set->problems[SMALL_PYRAMID].problem),
        talus_problem_blocks(set->problems[SMALL_PYRAMID + 1].problem),
        talus_problem_blocks(set->problems[SMALL_PYRAMID + 2].problem));
}

static void conclude(LabSet *set, int divisor)
{
    add_fig_2_table(set, divisor == 1);
    add_fig_3_table(set);
    add_fig_4_table(set);
    add_hybrid_table(set);
    add_small_table(set);
    preclik_add_figures(set);
    preclik_add_claims(set);
    preclik_add_newton_claims(set);
}

const Experiment preclik = {.name = "preclik",
                            .summary = "settling spheres at mu 0.8: every friction model",
                            .source = "preclik-2009 Figs. 2-4",
                            EXPERIMENT_RUNS(cases, runs),
                            .conclude = conclude};

// The JSON of `talus solve`: every key of its schema, on problems with and without friction, for every
// solver of the table; figures that agree with the problem measured here.
#include "support/test.h"

#include "io/text/json.h"

#include <talus/talus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OUTPUT_MAX = 1 << 20 };

static char output[OUTPUT_MAX];
static TalusArena arena;

// Runs "$TALUS ARGUMENTS", parses what it prints.
static TalusJson *run(const char *arguments)
{
    char command[2048];
    TalusJson *root = NULL;
    snprintf(command, sizeof command, "\"$TALUS\" %s", arguments);
    FILE *pipe = popen(command, "r");
    if (!CHECK(pipe != NULL))
        return NULL;
    size_t size = fread(output, 1, sizeof output, pipe);
    CHECK_INT(pclose(pipe), 0);
    talus_arena_clear(&arena);
    CHECK_OK(talus_json_parse(&arena, output, size, "output", true, &root));
    return root;
}

static bool extract(const char *arguments)
{
    char command[2048];
    snprintf(command, sizeof command, "\"$TALUS\" extract %s >extract.log", arguments);
    return system(command) == 0;
}

static const TalusJson *get(const TalusJson *object, const char *key, TalusJsonKind kind)
{
    const TalusJson *value = object ? talus_json_get(object, key) : NULL;
    if (!value || value->kind != kind) {
        fprintf(stderr, "key %s: expected %s\n", key, talus_json_kind_name(kind));
        CHECK(value && value->kind == kind);
        return NULL;
    }
    return value;
}

static double number(const TalusJson *object, const char *key)
{
    const TalusJson *value = get(object, key, TALUS_JSON_NUMBER);
    return value ? value->number : NAN;
}

static const char *text(const TalusJson *object, const char *key)
{
    const TalusJson *value = get(object, key, TALUS_JSON_STRING);
    return value ? value->text : "";
}

static const char *const figures[] = {"iterations", "applies",   "updates",
                                      "seconds",    "objective", "memory_bytes"};
static const char *const residuals[] = {
    "projected_gradient",   "natural",     "complementarity_max",
    "primal_infeasibility", "siconos",     "siconos_over_q",
    "natural_relative",     "natural_max", "dilation",
    "bound_mismatch"};

enum {
    FIGURES = sizeof figures / sizeof *figures,
    RESIDUALS = sizeof residuals / sizeof *residuals
};

// A solver that refuses has its reason, and null for every figure.
static void check_refusal(const TalusJson *result)
{
    const TalusJson *residual = get(result, "residual", TALUS_JSON_OBJECT);
    CHECK(strlen(text(result, "reason")) > 10);
    for (int i = 0; i < FIGURES; i++)
        get(result, figures[i], TALUS_JSON_NULL);
    for (int i = 0; i < RESIDUALS; i++)
        get(residual, residuals[i], TALUS_JSON_NULL);
}

static void check_result(const TalusJson *result, double tolerance)
{
    const char *outcome = text(result, "outcome");
    const TalusJson *residual = get(result, "residual", TALUS_JSON_OBJECT);
    get(residual, "velocity_error", TALUS_JSON_NULL);
    for (int i = 0; i < FIGURES; i++)
        CHECK(isfinite(number(result, figures[i])));
    for (int i = 0; i < RESIDUALS; i++)
        CHECK(number(residual, residuals[i]) >= 0.0);
    CHECK(number(result, "iterations") >= 1.0 && number(result, "applies") >= 1.0);
    CHECK(number(result, "objective") < 0.0);
    bool converged = strcmp(outcome, "converged") == 0;
    CHECK(converged || strcmp(outcome, "budget") == 0);
    CHECK((number(residual, "natural_relative") <= tolerance) == converged);
}

// What the call below asked for.
static void check_terms(const TalusJson *result, bool friction)
{
    CHECK_STR(text(result, "law"), "ccp");
    CHECK_STR(text(result, "section"), friction ? "disc" : "none");
    CHECK(number(result, "tolerance") == 1e-4);
    CHECK_INT((int)number(result, "max_iterations"), 400);
    get(result, "max_seconds", TALUS_JSON_NULL);
    CHECK_STR(text(result, "start"), "zero");
    CHECK(number(result, "threads") >= 1.0);
}

static TalusJson *solve_all(const char *path)
{
    char arguments[256];
    snprintf(arguments, sizeof arguments,
             "solve %s --solver all --json --quiet --tol 1e-4 --max-iter 400", path);
    return run(arguments);
}

static void check_problem(const TalusJson *root, const char *path)
{
    const TalusJson *about = get(root, "problem", TALUS_JSON_OBJECT);
    TalusProblem *problem;
    REQUIRE_OK(talus_problem_read(path, NULL, &problem));
    CHECK_INT((int)number(about, "contacts"), talus_problem_blocks(problem));
    CHECK_INT((int)number(about, "rows"), talus_problem_size(problem));
    CHECK_INT((int)number(about, "bodies"), talus_problem_bodies(problem));
    talus_problem_destroy(problem);
}

// The next row of the table that this build has.
static int next_row(int row)
{
    do
        row++;
    while (row < talus_solver_count() && talus_solver_row(row).missing);
    return row;
}

// Every solver of this build is there, once, in the table's order; "auto" is none of its own.
static void check_all(const char *path, bool friction)
{
    const TalusJson *root = solve_all(path);
    REQUIRE(root && root->kind == TALUS_JSON_OBJECT);
    check_problem(root, path);
    const TalusJson *results = get(root, "results", TALUS_JSON_ARRAY);
    REQUIRE(results != NULL);
    int row = 0;
    for (const TalusJson *result = results->first; result; result = result->next) {
        row = next_row(row);
        REQUIRE(row < talus_solver_count());
        TalusSolverRow about = talus_solver_row(row);
        CHECK_STR(text(result, "solver"), about.name);
        bool takes = about.takes & (friction ? TALUS_TAKES_CONE : TALUS_TAKES_NONNEG);
        bool refused = strcmp(text(result, "outcome"), "unsupported") == 0;
        CHECK(refused == !takes);
        check_terms(result, friction);
        if (refused)
            check_refusal(result);
        else
            check_result(result, 1e-4);
    }
    CHECK_INT(next_row(row), talus_solver_count());
}

TEST(every_solver_without_friction)
{
    REQUIRE(extract(
        "settle-cylinder --set defaults=relaxed --set bodies=40 --set vat=0.6 --at 0.3 -o smooth.talus"));
    check_all("smooth.talus", false);
}

TEST(every_solver_with_friction)
{
    REQUIRE(extract("settle-box --set defaults=relaxed --set bodies=27 --at 0.4 -o rough.talus"));
    check_all("rough.talus", true);
}

// Several problems make an array, in the order given.
TEST(several_problems)
{
    const TalusJson *root =
        run("solve rough.talus smooth.talus --solver gs --json --quiet --tol 1e-2");
    REQUIRE(root && root->kind == TALUS_JSON_ARRAY);
    REQUIRE(root->count == 2);
    CHECK_STR(text(get(root->first, "problem", TALUS_JSON_OBJECT), "name"), "rough");
    CHECK_STR(text(get(root->last, "problem", TALUS_JSON_OBJECT), "name"), "smooth");
}

// Figures of a solve are those of the library for the same solve.
TEST(figures_agree_with_the_library)
{
    TalusProblem *problem;
    TalusSolver *solver;
    TalusSolveInfo info;
    TalusMetrics metrics;
    TalusSolveOptions options = talus_solve_options_default();
    REQUIRE_OK(talus_problem_read("rough.talus", NULL, &problem));
    double *gamma = talus_problem_gamma(problem);
    memset(gamma, 0, (size_t)talus_problem_size(problem) * sizeof *gamma);
    REQUIRE_OK(talus_problem_measure(problem, gamma, &metrics));
    options.tolerance = 1e-3 * metrics.natural_at_zero;
    REQUIRE_OK(talus_solver_create("apgd", &solver));
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    CHECK_OK(talus_problem_measure(problem, gamma, &metrics));
    const TalusJson *root = run("solve rough.talus --solver apgd --tol 1e-3 --json --quiet");
    const TalusJson *results = get(root, "results", TALUS_JSON_ARRAY);
    const TalusJson *result = results ? results->first : NULL;
    const TalusJson *residual = result ? get(result, "residual", TALUS_JSON_OBJECT) : NULL;
    CHECK_INT((int)number(result, "iterations"), info.iterations);
    CHECK_INT((int)number(result, "applies"), info.products);
    CHECK(number(result, "objective") == metrics.objective);
    CHECK(number(residual, "natural") == metrics.natural.rms);
    CHECK(number(residual, "projected_gradient") == metrics.projected_gradient);
    CHECK(number(residual, "siconos") == metrics.siconos);
    talus_solver_destroy(solver);
    talus_problem_destroy(problem);
}

// Another law: what was asked for is told, and the figures are those of the library under it.
TEST(another_law)
{
    const TalusFrictionModel model = {
        .law = TALUS_LAW_COULOMB, .section = TALUS_SECTION_POLYGON, .sides = 6};
    TalusProblem *problem;
    TalusFclib *fclib;
    TalusSolver *solver;
    TalusSolveInfo info;
    TalusMetrics metrics;
    TalusSolveOptions options = talus_solve_options_default();
    REQUIRE_OK(talus_problem_open("rough.talus", &model, NULL, &problem, &fclib));
    double *gamma = talus_problem_gamma(problem);
    memset(gamma, 0, (size_t)talus_problem_size(problem) * sizeof *gamma);
    REQUIRE_OK(talus_problem_measure(problem, gamma, &metrics));
    options.tolerance = 1e-5 * metrics.natural_at_zero;
    options.outer = (TalusOuter){.kind = TALUS_OUTER_SHIFT, .every = 40, .share = 0.75};
    REQUIRE_OK(talus_solver_create("lbfgs-fb", &solver));
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    CHECK_OK(talus_problem_measure(problem, gamma, &metrics));
    const TalusJson *root =
        run("solve rough.talus --solver lbfgs-fb --tol 1e-5 --json --quiet "
            "--law coulomb --section polygon:6 --outer shift:share=0.75,every=40");
    const TalusJson *results = get(root, "results", TALUS_JSON_ARRAY);
    const TalusJson *result = results ? results->first : NULL;
    const TalusJson *residual = result ? get(result, "residual", TALUS_JSON_OBJECT) : NULL;
    CHECK_STR(text(result, "law"), "coulomb");
    CHECK_STR(text(result, "section"), "polygon:6");
    CHECK_STR(text(result, "outer"), "shift:every=40,share=0.75");
    CHECK_INT((int)number(result, "iterations"), info.iterations);
    CHECK_INT((int)number(result, "updates"), info.updates);
    CHECK(info.updates > 0);
    CHECK(number(residual, "natural") == metrics.natural.rms);
    CHECK(number(residual, "dilation") == metrics.dilation);
    talus_solver_destroy(solver);
    talus_problem_destroy(problem);
}

int main(void)
{
    if (!getenv("TALUS"))
        setenv("TALUS", "talus", 1);
    RUN(every_solver_without_friction);
    RUN(every_solver_with_friction);
    RUN(several_problems);
    RUN(figures_agree_with_the_library);
    RUN(another_law);
    talus_arena_clear(&arena);
    return talus_test_result();
}

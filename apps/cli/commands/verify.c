/* cli/commands/verify.c - talus verify: recomputes every metric of a solution from the problem's raw data.
 *
 * The arithmetic is in apps/verify, which shares no code with the solvers; the library only reads the files. */
#include "cli/cli.h"

#include "cli/json_out.h"
#include "lab/lab.h"
#include "verify/verify.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Options {
    const char *group; /* FCLIB group of the solution; NULL: a problem file */
    const char *reference;
    const char *law, *section;
    double tol;
    bool json;
    TalusFrictionModel model; /* from --law and --section */
} Options;

typedef struct Findings {
    TalusMetrics metrics;
    int contacts, rows;
    double *bounds;        /* stored normal impulses that bound friction; NULL: none */
    int bounded;           /* their number */
    double stored_u;       /* |u - u of the solution's file| / |q|; NAN without */
    double velocity_error; /* |u - u of the reference| / |q|; NAN without a reference */
    double as_stored;      /* Siconos's error with W as stored; NAN unless W is unsymmetric */
    double *direction;     /* stored proof that there is no solution; NULL: none */
    int directed;          /* its size */
    VerifyCertificate certificate; /* NAN without a direction */
} Findings;

/* ---- measuring ---- */

static double distance(const double *a, const double *b, int n)
{
    double sum = 0.0;
    for (int k = 0; k < n; k++)
        sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sqrt(sum);
}

static void measure(VerifyPoint *point, Findings *found)
{
    if (found->bounds && found->bounded == point->blocks)
        verify_set_estimate(point, found->bounds);
    verify_measure(point, &found->metrics);
    found->contacts = point->blocks;
    found->rows = point->rows;
    found->stored_u = found->velocity_error = found->as_stored = NAN;
    found->certificate = (VerifyCertificate){NAN, NAN, NAN, NAN, false};
}

/* Siconos's error with W as stored: another u, which is also g, because an FCLIB file has no compliance. */
static double error_as_stored(const TalusFclib *problem, const VerifyPoint *point,
                              const double *as_stored)
{
    VerifyPoint other = *point;
    TalusMetrics metrics;
    double *u = calloc((size_t)(point->blocks * point->rows) + 1, sizeof *u);
    if (!u)
        return NAN;
    for (int i = 0; i < point->blocks; i++)
        memcpy(u + i * point->rows, as_stored + i * problem->dimension,
               (size_t)point->rows * sizeof *u);
    other.u = other.g = u;
    verify_measure(&other, &metrics);
    free(u);
    return metrics.siconos;
}

/* |u - u_ref| with the reference in the rows of the file. */
static double distance_from(const TalusFclib *problem, const VerifyPoint *point,
                            const double *u_ref)
{
    double sum = 0.0;
    for (int i = 0; i < point->blocks; i++)
        sum += pow(
            distance(point->u + i * point->rows, u_ref + i * problem->dimension, point->rows), 2);
    return sqrt(sum);
}

/* Returns delta times `scale` in the rows of an FCLIB problem. */
static double *scaled_rows(const TalusFclib *problem, const Findings *found, int rows, double scale)
{
    int dimension = problem->dimension;
    double *r = cli_must(calloc((size_t)(problem->contacts * dimension) + 1, sizeof *r));
    for (int i = 0; i < problem->contacts; i++)
        for (int k = 0; k < rows && k < dimension; k++)
            r[i * dimension + k] = scale * found->direction[i * rows + k];
    return r;
}

/* Checks the certificate of an FCLIB problem at the direction itself, then at a large multiple. */
static bool certify_fclib(const TalusFclib *problem, TalusFrictionModel model, Findings *found)
{
    const char *reason = "";
    double scale = 1.0;
    int rows = problem->contacts ? found->directed / problem->contacts : 0;
    bool good = rows > 0 && rows * problem->contacts == found->directed;
    for (int k = 0; k < 2 && good; k++) {
        VerifyPoint point;
        double *r = scaled_rows(problem, found, rows, scale);
        good = verify_fclib_point(problem, model, r, &point, NULL, &reason);
        free(r);
        if (!good)
            break;
        scale = verify_certificate_scale(&point);
        found->certificate = verify_certificate(&point);
        verify_free(&point);
    }
    return good;
}

/* As certify_fclib, for a problem file. */
static bool certify_def(const TalusProblemDef *def, Findings *found)
{
    int n = verify_size(def);
    double scale = 1.0, *delta = cli_must(calloc((size_t)n + 1, sizeof *delta));
    bool good = n == found->directed;
    for (int k = 0; k < 2 && good; k++) {
        for (int i = 0; i < n; i++)
            delta[i] = scale * found->direction[i];
        VerifyPoint point = verify_def_point(def, delta);
        scale = verify_certificate_scale(&point);
        found->certificate = verify_certificate(&point);
        verify_free(&point);
    }
    free(delta);
    return good;
}

static int refuse_direction(void)
{
    return cli_fail("verify: the certificate stored with the solution is of another problem");
}

static int verify_fclib(const TalusFclib *problem, TalusFrictionModel model,
                        const TalusFclibPoint *solution, const double *u_ref, Findings *found)
{
    int n = problem->contacts * problem->dimension;
    const char *reason = "";
    VerifyPoint point;
    double *as_stored = calloc((size_t)n + 1, sizeof *as_stored), asymmetry = 0.0, q = 0.0;
    if (!as_stored ||
        !verify_fclib_point(problem, model, solution->r, &point, as_stored, &reason)) {
        free(as_stored);
        return cli_fail("verify: %s", *reason ? reason : "out of memory");
    }
    measure(&point, found);
    for (int k = 0; k < point.blocks * point.rows; k++)
        q += point.q[k] * point.q[k];
    if (solution->u && q > 0.0)
        found->stored_u = distance(as_stored, solution->u, n) / sqrt(q);
    if (u_ref && q > 0.0)
        found->velocity_error = distance_from(problem, &point, u_ref) / sqrt(q);
    if (talus_fclib_asymmetry(problem, &asymmetry) == TALUS_OK && asymmetry > 0.0)
        found->as_stored = error_as_stored(problem, &point, as_stored);
    verify_free(&point);
    free(as_stored);
    return found->direction && !certify_fclib(problem, model, found) ? refuse_direction() : CLI_OK;
}

/* ---- reading ---- */

/* Chooses --group, else /solution, else /ccp_solution. Prints the choice if the file has /ccp_solution. */
static const char *choose_group(const char *path, const char *given)
{
    if (given)
        return given;
    if (!talus_fclib_has(path, "ccp_solution"))
        return "solution";
    bool both = talus_fclib_has(path, "solution");
    if (both)
        fprintf(stderr,
                "talus: %s: /solution; the file also has /ccp_solution: "
                "--group ccp_solution\n",
                path);
    else
        fprintf(stderr, "talus: %s: /ccp_solution, for it has no /solution\n", path);
    return both ? "solution" : "ccp_solution";
}

/* Returns the impulses of a problem file in the rows of the FCLIB problem; the file has all of these rows or the
 * normal ones alone. NULL with a message; release with free(). */
static double *own_in_rows_of(const TalusFclib *problem, const char *path)
{
    TalusProblem *solution;
    double *r = NULL;
    if (talus_problem_read(path, NULL, &solution) != TALUS_OK) {
        cli_fail_library();
        return NULL;
    }
    int rows = talus_problem_rows(solution), dimension = problem->dimension;
    const double *gamma = talus_problem_gamma(solution);
    if (talus_problem_blocks(solution) != problem->contacts)
        cli_fail("%s: holds impulses of %d contacts, expected %d", path,
                 talus_problem_blocks(solution), problem->contacts);
    else
        r = cli_must(calloc((size_t)(problem->contacts * dimension) + 1, sizeof *r));
    for (int i = 0; r && i < problem->contacts; i++)
        for (int k = 0; k < rows && k < dimension; k++)
            r[i * dimension + k] = gamma[i * rows + k];
    talus_problem_destroy(solution);
    return r;
}

/* Reads the certificate of a problem file. */
static void read_certificate(const TalusProblem *solution, Findings *found)
{
    const double *stored = talus_problem_certificate(solution);
    if (!stored)
        return;
    found->directed = talus_problem_size(solution);
    found->direction = cli_must(calloc((size_t)found->directed + 1, sizeof *stored));
    memcpy(found->direction, stored, (size_t)found->directed * sizeof *stored);
}

/* Reads bounds under law fixed and the certificate of a problem file. Reading the impulses later reports a bad file. */
static void read_extras(const char *path, Findings *found)
{
    TalusProblem *solution;
    if (talus_problem_read(path, NULL, &solution) != TALUS_OK)
        return;
    const double *stored = talus_problem_estimate(solution);
    size_t blocks = (size_t)talus_problem_blocks(solution);
    if (stored) {
        found->bounds = cli_must(calloc(blocks + 1, sizeof *stored));
        found->bounded = (int)blocks;
        memcpy(found->bounds, stored, blocks * sizeof *stored);
    }
    read_certificate(solution, found);
    talus_problem_destroy(solution);
}

/* Verifies an FCLIB problem with a solution of either kind. */
static int with_fclib(const char *problem_path, const char *solution_path, const Options *options,
                      Findings *found)
{
    TalusFclib *problem = NULL;
    TalusFclibPoint solution = {0}, reference = {0};
    double *own = NULL;
    int code = CLI_FAILED;
    if (talus_fclib_read(problem_path, &problem) != TALUS_OK ||
        (options->group &&
         talus_fclib_read_point(solution_path, options->group, problem, &solution) != TALUS_OK) ||
        (options->reference &&
         cli_read_reference(options->reference, options->model.law == TALUS_LAW_COULOMB, problem,
                            &reference) != TALUS_OK))
        cli_fail_library();
    else if (options->group && !solution.r)
        cli_fail("%s: /%s has no r, the impulses to verify", solution_path, options->group);
    else if (options->reference && !reference.u)
        cli_fail("%s: its solution has no velocities u", options->reference);
    else if (options->group)
        code = verify_fclib(problem, options->model, &solution, reference.u, found);
    else if ((own = own_in_rows_of(problem, solution_path)) != NULL)
        code =
            verify_fclib(problem, options->model, &(TalusFclibPoint){.r = own}, reference.u, found);
    free(own);
    talus_fclib_free_point(&solution);
    talus_fclib_free_point(&reference);
    talus_fclib_destroy(problem);
    return code;
}

/* Reads impulses of an FCLIB file for a problem file, which has one row per contact, not three, without friction. */
static bool fclib_impulses(const char *path, const char *group, const TalusProblem *problem,
                           double *gamma)
{
    TalusFclib *file = NULL;
    TalusFclibPoint solution = {0};
    bool good = false;
    int rows = talus_problem_rows(problem), contacts = talus_problem_blocks(problem);
    if (talus_fclib_read(path, &file) != TALUS_OK ||
        talus_fclib_read_point(path, group, file, &solution) != TALUS_OK)
        cli_fail_library();
    else if (!solution.r || file->contacts != contacts || file->dimension != 3)
        cli_fail("%s: holds %s of %d contacts in %d rows each, expected %d contacts in space", path,
                 solution.r ? "impulses" : "no impulses", file->contacts, file->dimension,
                 contacts);
    else
        good = true;
    for (int i = 0; good && i < contacts * rows; i++)
        gamma[i] = solution.r[rows == 3 ? i : 3 * i];
    talus_fclib_free_point(&solution);
    talus_fclib_destroy(file);
    return good;
}

static bool own_impulses(const char *path, const TalusProblem *problem, double *gamma)
{
    TalusProblem *solution = NULL;
    int n = talus_problem_size(problem);
    bool good = false;
    if (talus_problem_read(path, NULL, &solution) != TALUS_OK)
        cli_fail_library();
    else if (talus_problem_size(solution) != n)
        cli_fail("%s: holds %d impulses, the problem has %d rows", path,
                 talus_problem_size(solution), n);
    else
        good = true;
    if (good)
        memcpy(gamma, talus_problem_gamma(solution), (size_t)n * sizeof *gamma);
    talus_problem_destroy(solution);
    return good;
}

/* Verifies a problem file under its own friction models, unless options give others. */
static int with_own(const char *problem_path, const char *solution_path, const Options *options,
                    Findings *found)
{
    const char *group = options->group;
    bool changed = options->law || options->section;
    TalusProblem *problem = NULL;
    TalusProblemDef def;
    int code = CLI_FAILED;
    if (talus_problem_read(problem_path, NULL, &problem) != TALUS_OK ||
        (changed && talus_problem_set_friction(problem, options->model) != TALUS_OK) ||
        talus_problem_export(problem, &def) != TALUS_OK) {
        code = cli_fail_library();
    } else {
        double *gamma = talus_problem_gamma(problem);
        if (group ? fclib_impulses(solution_path, group, problem, gamma)
                  : own_impulses(solution_path, problem, gamma)) {
            VerifyPoint point = verify_def_point(&def, gamma);
            measure(&point, found);
            verify_free(&point);
            code = found->direction && !certify_def(&def, found) ? refuse_direction() : CLI_OK;
        }
    }
    talus_problem_destroy(problem);
    return code;
}

/* ---- output ---- */

typedef struct Figure {
    const char *key, *unit, *meaning;
    double value;
} Figure;

enum { FIGURES = 28 };

static void list_figures(const Findings *f, Figure out[FIGURES])
{
    const TalusMetrics *m = &f->metrics;
    const Figure all[FIGURES] = {
        {"objective", "J", "1/2 gamma'(N + E) gamma + q'gamma", m->objective},
        {"natural", "m/s", "natural residual, root mean square over contacts", m->natural.rms},
        {"natural_max", "m/s", "its maximum", m->natural.max},
        {"natural_relative", "", "over that of zero impulses", m->natural_relative},
        {"rounding", "m/s", "what rounding may hide of the natural residual", m->rounding.rms},
        {"rounding_max", "m/s", "and of its maximum", m->rounding.max},
        {"projected_gradient", "m/s", "heyn-2012 (24)", m->projected_gradient},
        {"tau_g", "1/kg", "its step", m->tau_g},
        {"complementarity_mean", "J", "|gamma_i . g_i + sigma_i(-g_i)| per contact",
         m->complementarity_mean},
        {"complementarity_std", "J", "its standard deviation", m->complementarity_std},
        {"complementarity_max", "J", "its maximum", m->complementarity_max},
        {"primal_infeasibility", "m/s", "largest distance of g_i from the dual set",
         m->primal_infeasibility},
        {"cone_violation", "N s", "largest distance of gamma_i from its set", m->cone_violation},
        {"duality_gap", "J", "|gamma . g + sigma(-g)|", m->duality_gap},
        {"duality_gap_scaled", "", "over the largest datum", m->duality_gap_scaled},
        {"siconos", "", "Siconos's error, exact Coulomb", m->siconos},
        {"siconos_over_q", "", "the same over |q|", m->siconos_over_q},
        {"siconos_rounding", "", "what rounding may hide of it", m->siconos_rounding},
        {"siconos_as_stored", "", "with W as stored, not (W + W')/2", f->as_stored},
        {"dilation", "m/s", "what ccp would open Coulomb's contacts by", m->dilation},
        {"bound_mismatch", "m/s", "of the bounds of law fixed, in velocity", m->bound_mismatch},
        {"velocity_error", "", "|u - u of the reference| / |q|", f->velocity_error},
        {"stored_velocity_error", "", "|u - stored u| / |q|", f->stored_u},
        {"natural_at_zero", "m/s", "natural residual of zero impulses", m->natural_at_zero},
        {"certificate_outside", "", "of the stored certificate: distance from its cone",
         f->certificate.outside},
        {"certificate_balance", "", "|(N + E) delta| over the size of its terms",
         f->certificate.balance},
        {"certificate_gain", "", "-q'delta / (|q| |delta|)", f->certificate.gain},
        {"certificate_rounding", "", "what that of q may hide of the gain",
         f->certificate.rounding},
    };
    memcpy(out, all, sizeof all);
}

static void print_text(const Findings *f)
{
    const TalusMetrics *m = &f->metrics;
    Figure figure[FIGURES];
    list_figures(f, figure);
    printf("%d contacts of %d row%s each: %d open, %d sliding, %d sticking\n", f->contacts, f->rows,
           f->rows == 1 ? "" : "s", m->open, m->sliding, m->sticking);
    for (int i = 0; i < FIGURES; i++)
        if (!isnan(figure[i].value))
            printf("  %-22s %14.6e %-4s  %s\n", figure[i].key, figure[i].value, figure[i].unit,
                   figure[i].meaning);
    if (f->direction)
        printf("the stored certificate %s\n",
               f->certificate.proof ? "proves that the problem has no solution" : "proves nothing");
}

static void print_json(const Findings *f)
{
    JsonOut json;
    Figure figure[FIGURES];
    list_figures(f, figure);
    json_start(&json, json_to_stream, stdout);
    json_open_object(&json, NULL);
    json_int(&json, "contacts", f->contacts);
    json_int(&json, "rows", f->rows);
    json_int(&json, "open", f->metrics.open);
    json_int(&json, "sliding", f->metrics.sliding);
    json_int(&json, "sticking", f->metrics.sticking);
    for (int i = 0; i < FIGURES; i++)
        json_real(&json, figure[i].key, figure[i].value);
    if (f->direction)
        json_bool(&json, "infeasible", f->certificate.proof);
    json_close_object(&json);
    json_finish(&json);
    putchar('\n');
}

/* Judges --tol and the stored certificate. */
static int judge(const Findings *found, const char *solution, double tol)
{
    const TalusMetrics *m = &found->metrics;
    double relative = m->natural_relative;
    bool within = m->natural.rms + m->rounding.rms <= tol * m->natural_at_zero;
    if (found->direction && !found->certificate.proof)
        return cli_fail("%s: its certificate proves nothing: distance from the cone %.1e, balance "
                        "%.1e, gain %.1e; expected at most 1e-14 and 1e-14, and a gain 1e12 times "
                        "the balance and above the rounding of q, %.1e",
                        solution, found->certificate.outside, found->certificate.balance,
                        found->certificate.gain, found->certificate.rounding);
    if (isnan(tol) || within || (relative <= tol && m->rounding.rms == 0.0))
        return CLI_OK;
    if (!(relative <= tol))
        return cli_fail("%s: natural residual %g of that of zero impulses, more than %g", solution,
                        relative, tol);
    return cli_fail("%s: natural residual %g of that of zero impulses, but rounding may hide %g: "
                    "impulses so large that velocities are lost in them; together more than %g",
                    solution, relative, m->rounding.rms / m->natural_at_zero, tol);
}

static int verify_main(int argc, char **argv)
{
    Options options = {.tol = NAN};
    CliList operands;
    Findings found = {0};
    int code;
    if (!cli_parse(&cli_verify, argc, argv, &options, &operands, &code))
        return code;
    if (lab_model_parse(options.law, options.section, &options.model) != TALUS_OK)
        return cli_usage(&cli_verify, "%s", talus_error());
    const char *problem = operands.item[0], *solution = operands.item[1];
    bool fclib = talus_fclib_is(problem);
    if (options.reference && !fclib)
        return cli_usage(&cli_verify, "--reference goes with an FCLIB file for PROBLEM");
    if (talus_fclib_is(solution))
        options.group = choose_group(solution, options.group);
    else if (options.group)
        return cli_usage(&cli_verify, "--group goes with an FCLIB file for SOLUTION");
    if (cli_refuse_scene(problem) || cli_refuse_scene(solution))
        return CLI_FAILED;
    if (!options.group)
        read_extras(solution, &found);
    code = fclib ? with_fclib(problem, solution, &options, &found)
                 : with_own(problem, solution, &options, &found);
    if (code == CLI_OK) {
        if (options.json)
            print_json(&found);
        else
            print_text(&found);
        code = judge(&found, solution, options.tol);
    }
    free(found.bounds);
    free(found.direction);
    return code;
}

static const CliOption verify_options[] = {
    {"group", 0, CLI_TEXT, offsetof(Options, group), "NAME",
     "where an FCLIB file has the solution: solution, ccp_solution,\n"
     "guesses/1, ...; solution by default, or else ccp_solution"},
    {"law", 0, CLI_TEXT, offsetof(Options, law), "LAW",
     "friction law: ccp, fixed or coulomb; under fixed the bounds are\n"
     "those stored with the solution, or else of its own normal impulses"},
    {"section", 0, CLI_TEXT, offsetof(Options, section), "SECTION",
     "disc, square, polygon:m or none; without --law and --section a\n"
     "problem's own, or ccp and disc"},
    {"reference", 0, CLI_TEXT, offsetof(Options, reference), "FILE",
     "FCLIB file whose /ccp_solution, or else /solution, has the\n"
     "contact velocities to compare with; /solution first under coulomb"},
    {"tol", 0, CLI_REAL, offsetof(Options, tol), "X",
     "fail unless the natural residual, with what rounding may hide of it,\n"
     "is at most X times that of zero impulses"},
    {"json", 0, CLI_FLAG, offsetof(Options, json), NULL, "the figures as JSON"},
};

const CliCommand cli_verify = {
    .name = "verify",
    .summary = "Recomputes every metric of a solution from the problem's raw data.",
    .operands = "PROBLEM SOLUTION",
    .operands_min = 2,
    .operands_max = 2,
    .details =
        "PROBLEM and SOLUTION are each an FCLIB file (.hdf5) or a problem file of Talus's own\n"
        "kind, whose impulses are then the solution. The arithmetic shares no code with the\n"
        "solvers; docs/reference/metrics.md defines the figures. Where W is not symmetric, the matrix is\n"
        "(W + W')/2, or W as stored under law coulomb.\n",
    CLI_OPTIONS(verify_options),
    .main = verify_main};

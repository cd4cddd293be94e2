/* cli/commands/verify.c - talus verify: recomputes every metric of a solution from the problem's raw data.
 *
 * The arithmetic is in apps/verify, which shares no code with the solvers; the library only reads the files. */
#include "cli/cli.h"

#include "base/status.h"
#include "cli/json_out.h"
#include "lab/lab.h"
#include "verify/verify.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Values of the options, which the table at the end describes. NULL, NAN: not given. */
typedef struct Options {
    const char *group; /* FCLIB group of the solution; NULL: a problem file */
    const char *reference;
    const char *law, *section;
    double tol;
    bool json;
    TalusFrictionModel model; /* from --law and --section */
} Options;

static Options options = {.tol = NAN};

typedef struct Findings {
    TalusMetrics metrics;
    int contacts, rows;
    /* |u - u of the solution's file| / |q|; NAN: the file has no u, PROBLEM is no FCLIB file, or q is 0. */
    double stored_velocity_error;
    double velocity_error;    /* |u - u of the reference| / |q|; NAN: no reference, or q is 0 */
    double stored_siconos;    /* Siconos's error with W as stored; NAN unless W is unsymmetric */
    double asymmetry;         /* |W - W'| / |W|; NAN without a stored W */
    int matrix_rows, entries; /* of the stored W; 0 without one */
    const double *direction;  /* stored proof that there is no solution; NULL: none */
    VerifyCertificate certificate; /* check of that proof; figures NAN without a direction */
} Findings;

/* A problem, of an FCLIB file or a problem file. */
typedef struct Source {
    TalusFclib *fclib;     /* NULL: a problem file */
    TalusProblem *problem; /* NULL: an FCLIB file */
    TalusProblemDef def;   /* of `problem` */
    int contacts, rows;    /* rows per contact in the file */
} Source;

/* A solution, of an FCLIB file or a problem file. */
typedef struct Solution {
    TalusProblem *problem;  /* NULL: an FCLIB file */
    TalusFclib *fclib;      /* the solution's file, read only if PROBLEM is not FCLIB; else NULL */
    TalusFclibPoint point;  /* impulses and velocities of an FCLIB file */
    const double *impulses; /* in `point` or `problem`, `rows` per contact; NULL: none */
    int contacts, rows;     /* rows per contact in the file */
} Solution;

/* ---- measuring ---- */

/* Copies values with `rows` rows per contact, times `scale`, to `wanted` rows per contact; missing rows become zero.
 * Release with free(). */
static double *change_rows(const double *values, int contacts, int rows, int wanted, double scale)
{
    double *out = cli_check_memory(calloc((size_t)(contacts * wanted) + 1, sizeof *out));
    for (int i = 0; i < contacts; i++)
        for (int k = 0; k < rows && k < wanted; k++)
            out[i * wanted + k] = scale * values[i * rows + k];
    return out;
}

/* Returns |a - b|; `b` NULL: |a|. */
static double norm_of_difference(const double *a, const double *b, int n)
{
    double sum = 0.0;
    for (int k = 0; k < n; k++)
        sum += (a[k] - (b ? b[k] : 0.0)) * (a[k] - (b ? b[k] : 0.0));
    return sqrt(sum);
}

/* Returns Siconos's error at the point with `u`, the velocities with W as stored, in place of its own. W of an FCLIB
 * file contains the compliance, if any, so `u` is also the gradient g. */
static double measure_stored_error(const VerifyPoint *point, double *u)
{
    VerifyPoint other = *point;
    TalusMetrics metrics;
    other.u = other.g = u;
    verify_measure(&other, &metrics);
    return metrics.siconos;
}

/* Fills `point`, which the caller frees, with the problem at `impulses`, in the rows of its file; of FCLIB, also
 * `stored_w_velocities`, those with W as stored (may be NULL). Returns false with a reason if verify_fclib_point
 * fails. */
static bool evaluate_problem(const Source *source, TalusFrictionModel model, const double *impulses,
                             VerifyPoint *point, double *stored_w_velocities, const char **reason)
{
    if (source->fclib)
        return verify_fclib_point(source->fclib, model, impulses, point, stored_w_velocities,
                                  reason);
    *point = verify_def_point(&source->def, impulses);
    return true;
}

/* Checks whether the stored direction proves that the problem is infeasible, and fills found->certificate. Evaluates
 * the problem at the direction, to find a large factor, then at the direction times this factor. */
static void check_certificate(const Source *source, TalusFrictionModel model,
                              const Solution *solution, Findings *found)
{
    const char *reason;
    double scale = 1.0;
    for (int k = 0; k < 2; k++) {
        VerifyPoint point;
        double *r =
            change_rows(found->direction, source->contacts, solution->rows, source->rows, scale);
        if (evaluate_problem(source, model, r, &point, NULL, &reason)) {
            scale = verify_certificate_scale(&point);
            found->certificate = verify_certificate_check(&point);
            verify_point_free(&point);
        }
        free(r);
    }
}

/* For an FCLIB problem: compares the velocities with those stored in the solution and those of the reference, and, if W
 * is unsymmetric, measures Siconos's error with W as stored. */
static void compare_velocities(const Source *source, const VerifyPoint *point,
                               const double *stored_w_velocities, const double *stored,
                               const double *u_ref, Findings *found)
{
    int contacts = source->contacts, rows = source->rows, n = point->blocks * point->rows;
    double q = norm_of_difference(point->q, NULL, n), asymmetry = 0.0;
    if (stored && q > 0.0)
        found->stored_velocity_error =
            norm_of_difference(stored_w_velocities, stored, contacts * rows) / q;
    if (u_ref && q > 0.0) {
        double *u = change_rows(u_ref, contacts, rows, point->rows, 1.0);
        found->velocity_error = norm_of_difference(point->u, u, n) / q;
        free(u);
    }
    if (talus_fclib_asymmetry(source->fclib, &asymmetry) == TALUS_OK && asymmetry > 0.0) {
        double *u = change_rows(stored_w_velocities, contacts, rows, point->rows, 1.0);
        found->stored_siconos = measure_stored_error(point, u);
        free(u);
    }
}

/* Sets asymmetry, rows and entries of the stored W. */
static void measure_matrix(const TalusFclib *f, Findings *found)
{
    found->asymmetry = verify_fclib_asymmetry(f);
    found->matrix_rows = f->W.rows;
    found->entries = f->W.start[f->W.rows];
}

/* Fills `found` with the figures of the solution. Returns the exit code. */
static int measure_solution(const Source *source, TalusFrictionModel model,
                            const Solution *solution, const double *u_ref, Findings *found)
{
    int contacts = source->contacts, rows = source->rows;
    const char *reason = "";
    VerifyPoint point;
    double *impulses = change_rows(solution->impulses, contacts, solution->rows, rows, 1.0);
    double *stored_w_velocities =
        cli_check_memory(calloc((size_t)(contacts * rows) + 1, sizeof *stored_w_velocities));
    bool good = evaluate_problem(source, model, impulses, &point, stored_w_velocities, &reason);
    if (good) {
        TalusProblem *stored = solution->problem;
        if (stored && talus_problem_estimate(stored))
            verify_point_set_estimate(&point, talus_problem_estimate(stored));
        verify_measure(&point, &found->metrics);
        found->contacts = point.blocks;
        found->rows = point.rows;
        found->direction = stored ? talus_problem_certificate(stored) : NULL;
        if (source->fclib && !source->fclib->global)
            measure_matrix(source->fclib, found);
        if (source->fclib)
            compare_velocities(source, &point, stored_w_velocities, solution->point.u, u_ref,
                               found);
        verify_point_free(&point);
        if (found->direction)
            check_certificate(source, model, solution, found);
    }
    free(stored_w_velocities);
    free(impulses);
    return good ? CLI_OK : cli_fail("verify: %s", reason);
}

/* ---- reading ---- */

/* Returns the FCLIB group of the solution: --group, else /solution, else /ccp_solution. Prints the choice if the file
 * has /ccp_solution. */
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

/* Sets the friction model of an FCLIB problem if options give none: lab_fclib_model, or ccp if the solution is of the
 * group ccp_solution. */
static void choose_model(Options *o)
{
    bool relaxed = o->group && strcmp(o->group, "ccp_solution") == 0;
    if (!o->law && !o->section && !relaxed)
        o->model = lab_fclib_model;
}

/* Opens PROBLEM. A problem file has its own friction models, unless options give others. */
static TalusStatus open_source(const char *path, const Options *o, Source *out)
{
    if (talus_fclib_is_hdf5(path)) {
        TALUS_TRY(talus_fclib_read(path, &out->fclib));
        out->contacts = out->fclib->contacts;
        out->rows = out->fclib->dimension;
        return TALUS_OK;
    }
    TALUS_TRY(talus_problem_read(path, NULL, &out->problem));
    if (o->law || o->section)
        TALUS_TRY(talus_problem_set_friction(out->problem, o->model));
    out->contacts = talus_problem_blocks(out->problem);
    out->rows = talus_problem_rows(out->problem);
    return talus_problem_export(out->problem, &out->def);
}

/* Opens SOLUTION: an FCLIB file if `group` is not NULL, else a problem file, whose impulses are the solution. */
static TalusStatus open_solution(const char *path, const char *group, const Source *source,
                                 Solution *out)
{
    const TalusFclib *f = source->fclib;
    if (group) {
        if (!f)
            TALUS_TRY(talus_fclib_read(path, &out->fclib));
        f = f ? f : out->fclib;
        out->contacts = f->contacts;
        out->rows = f->dimension;
        TALUS_TRY(talus_fclib_read_point(path, group, f, &out->point));
        out->impulses = out->point.r;
        return TALUS_OK;
    }
    TALUS_TRY(talus_problem_read(path, NULL, &out->problem));
    out->contacts = talus_problem_blocks(out->problem);
    out->rows = talus_problem_rows(out->problem);
    out->impulses = talus_problem_gamma(out->problem);
    return TALUS_OK;
}

/* Fails unless the solution has impulses and as many contacts and rows as the problem. If PROBLEM is an FCLIB file,
 * with three rows per contact in three dimensions, rows may differ: a problem file without friction has normal rows
 * only. */
static int check_sizes(const char *path, const char *group, const Source *source,
                       const Solution *solution)
{
    int rows = group ? 3 : source->rows;
    if (!solution->impulses)
        return cli_fail("%s: /%s has no r, the impulses to verify", path, group);
    if (solution->contacts != source->contacts || (!source->fclib && solution->rows != rows))
        return cli_fail("%s: holds impulses of %d contacts in %d rows each, expected %d contacts "
                        "in %d rows each",
                        path, solution->contacts, solution->rows, source->contacts, rows);
    return CLI_OK;
}

/* ---- output ---- */

/* A row of the output. */
typedef struct Figure {
    const char *key, *unit, *meaning;
    double value;
} Figure;

enum { FIGURES = 29 };

/* Writes the rows of the output; the value of a figure that is not known is NAN. */
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
        {"siconos_as_stored", "", "with W as stored, not (W + W')/2", f->stored_siconos},
        {"asymmetry", "", "|W - W'| / |W| of the W that the file has", f->asymmetry},
        {"dilation", "m/s", "what ccp would open Coulomb's contacts by", m->dilation},
        {"bound_mismatch", "m/s", "of the bounds of law fixed, in velocity", m->bound_mismatch},
        {"velocity_error", "", "|u - u of the reference| / |q|", f->velocity_error},
        {"stored_velocity_error", "", "|u - stored u| / |q|", f->stored_velocity_error},
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

static void print_findings(const Findings *f)
{
    const TalusMetrics *m = &f->metrics;
    Figure figure[FIGURES];
    list_figures(f, figure);
    printf("%d contacts of %d row%s each: %d open, %d sliding, %d sticking\n", f->contacts, f->rows,
           f->rows == 1 ? "" : "s", m->open, m->sliding, m->sticking);
    if (!isnan(f->asymmetry))
        printf("W of %d rows, %d entries, %s\n", f->matrix_rows, f->entries,
               f->asymmetry > 0.0 ? "not symmetric" : "symmetric");
    for (int i = 0; i < FIGURES; i++)
        if (!isnan(figure[i].value))
            printf("  %-22s %14.6e %-4s  %s\n", figure[i].key, figure[i].value, figure[i].unit,
                   figure[i].meaning);
    if (f->direction)
        printf("the stored certificate %s\n",
               f->certificate.proof ? "proves that the problem has no solution" : "proves nothing");
}

static void print_findings_json(const Findings *f)
{
    JsonOut json;
    Figure figure[FIGURES];
    list_figures(f, figure);
    json_start(&json, json_to_stream, stdout);
    json_open_object(&json, NULL);
    json_write_int(&json, "contacts", f->contacts);
    json_write_int(&json, "rows", f->rows);
    json_write_int(&json, "open", f->metrics.open);
    json_write_int(&json, "sliding", f->metrics.sliding);
    json_write_int(&json, "sticking", f->metrics.sticking);
    for (int i = 0; i < FIGURES; i++)
        json_write_real(&json, figure[i].key, figure[i].value);
    if (f->direction)
        json_write_bool(&json, "infeasible", f->certificate.proof);
    json_close_object(&json);
    json_finish(&json);
}

/* Returns the exit code: failure if the stored certificate is no proof, or if the natural residual, with what rounding
 * may hide, exceeds --tol times that of zero impulses. */
static int judge_solution(const Findings *found, const char *solution, double tol)
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

/* Prints the findings as text or JSON; returns the exit code of judge_solution. */
static int print_and_judge(const Findings *found, const char *solution, const Options *o)
{
    if (o->json)
        print_findings_json(found);
    else
        print_findings(found);
    return judge_solution(found, solution, o->tol);
}

/* ---- the command ---- */

/* Opens problem, solution and reference, fills `found`, prints and judges. Returns the exit code. */
static int verify_files(const char *problem, const char *path, const Options *o, Findings *found)
{
    Source source = {0};
    Solution solution = {0};
    TalusFclibPoint reference = {0};
    int code = CLI_FAILED;
    if (open_source(problem, o, &source) != TALUS_OK ||
        open_solution(path, o->group, &source, &solution) != TALUS_OK ||
        (o->reference && cli_read_reference(o->reference, o->model.law == TALUS_LAW_COULOMB,
                                            source.fclib, &reference) != TALUS_OK))
        cli_fail_library();
    else if (o->reference && !reference.u)
        cli_fail("%s: its solution has no velocities u", o->reference);
    else if (check_sizes(path, o->group, &source, &solution) == CLI_OK)
        code = measure_solution(&source, o->model, &solution, reference.u, found);
    if (code == CLI_OK)
        code = print_and_judge(found, path, o);
    talus_fclib_free_point(&reference);
    talus_fclib_free_point(&solution.point);
    talus_fclib_destroy(solution.fclib);
    talus_problem_destroy(solution.problem);
    talus_fclib_destroy(source.fclib);
    talus_problem_destroy(source.problem);
    return code;
}

static int verify_main(const CliList *operands)
{
    const char *problem = operands->item[0], *solution = operands->item[1];
    Findings found = {.stored_velocity_error = NAN,
                      .velocity_error = NAN,
                      .stored_siconos = NAN,
                      .asymmetry = NAN,
                      .certificate = {NAN, NAN, NAN, NAN, false}};
    if (lab_model_parse(options.law, options.section, &options.model) != TALUS_OK)
        return cli_fail_usage(&cli_verify, "%s", talus_error());
    if (options.reference && !talus_fclib_is_hdf5(problem))
        return cli_fail_usage(&cli_verify, "--reference goes with an FCLIB file for PROBLEM");
    if (talus_fclib_is_hdf5(solution))
        options.group = choose_group(solution, options.group);
    else if (options.group)
        return cli_fail_usage(&cli_verify, "--group goes with an FCLIB file for SOLUTION");
    if (cli_refuse_scene(problem) || cli_refuse_scene(solution))
        return CLI_FAILED;
    if (talus_fclib_is_hdf5(problem))
        choose_model(&options);
    return verify_files(problem, solution, &options, &found);
}

static const CliOption verify_options[] = {
    {"group", 0, CLI_TEXT, &options.group, "NAME",
     "where an FCLIB file has the solution: solution, ccp_solution,\n"
     "guesses/1, ...; solution by default, or else ccp_solution"},
    {"law", 0, CLI_TEXT, &options.law, "LAW",
     "friction law: ccp, fixed or coulomb; under fixed the bounds are\n"
     "those stored with the solution, or else of its own normal impulses"},
    {"section", 0, CLI_TEXT, &options.section, "SECTION",
     "disc, square, polygon:m or none; without --law and --section a\n"
     "problem's own, or of an FCLIB file coulomb on disc (ccp for\n"
     "ccp_solution); else ccp or disc"},
    {"reference", 0, CLI_TEXT, &options.reference, "FILE",
     "FCLIB file whose /ccp_solution, or else /solution, has the\n"
     "contact velocities to compare with; /solution first under coulomb"},
    {"tol", 0, CLI_REAL, &options.tol, "X",
     "fail unless the natural residual, with what rounding may hide of it,\n"
     "is at most X times that of zero impulses"},
    {"json", 0, CLI_FLAG, &options.json, NULL, "the figures as JSON"},
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

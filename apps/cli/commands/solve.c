/* cli/commands/solve.c - talus solve: compares solvers on contact problems by the same measures. */
#include "lab/lab.h"

#include "base/memory.h"
#include "base/status.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Values of the options, which the table at the end describes. NULL, NAN, -1: not given. */
typedef struct Options {
    const char *solver, *backend, *trace, *save, *report, *reference;
    const char *law, *section, *outer, *measure;
    double tol, budget;
    int max_iter, threads, starts;
    bool warm, json, quiet, fresh;
} Options;

static Options options = {
    .solver = "auto", .tol = 1e-6, .budget = NAN, .max_iter = -1, .threads = -1, .starts = -1};

/* State of one call of the command. */
typedef struct Session {
    Options options;
    TalusFrictionModel model; /* from --law and --section */
    TalusOuter outer;
    LabList solvers;
    LabSet set;
    TalusPool *pool;
    double *best; /* impulses of the best result so far, for --save */
    /* Normal impulses by which law fixed bounds friction in the best result so far; NULL: none. */
    double *bounds;
    double *certificate;        /* proof that the problem has no solution; NULL: none found */
    double best_residual;       /* natural residual of `best`, m/s */
    char best_solver[LAB_TEXT]; /* name of the result `best` */
    char title[LAB_TEXT];       /* memory of set.title for several problems */
    /* Of the present problem: the last solver that missed the tolerance, "" if none; whether some solver reached the
     * tolerance or proved the problem infeasible. */
    char missed[LAB_TEXT];
    bool reached;
    bool failed;    /* some solve ended with an error */
    bool supported; /* at least one solver supported and ran a problem */
} Session;

/* ---- checks and opening ---- */

/* Returns false after a message if the folder of `path` is not writable. */
static bool check_folder_writable(const char *path)
{
    char folder[CLI_PATH_MAX];
    const char *slash = strrchr(path, '/');
    int length = slash ? (int)(slash - path) : 1;
    snprintf(folder, sizeof folder, "%.*s", length, slash ? path : ".");
    if (access(folder[0] ? folder : "/", W_OK) == 0)
        return true;
    cli_fail("%s: cannot write there: %s", path, strerror(errno));
    return false;
}

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* True if the option is --reference exact. */
static bool asks_exact_reference(const Options *o)
{
    return o->reference && strcmp(o->reference, "exact") == 0;
}

/* Checks that options are valid, go together and name files in writable folders. Returns the exit code. */
static int check_options(const Options *o, const CliList *operands)
{
    if (o->tol == 0.0 && o->max_iter < 0 && isnan(o->budget))
        return cli_fail_usage(&cli_solve, "--tol 0 runs the whole budget: expected --max-iter or "
                                          "--budget with it");
    if (o->max_iter == 0 || o->budget == 0.0)
        return cli_fail_usage(&cli_solve, "%s 0: expected more than 0",
                              o->max_iter == 0 ? "--max-iter" : "--budget");
    if (o->starts == 0 || o->starts == 1)
        return cli_fail_usage(&cli_solve, "--starts %d: expected 2 or more", o->starts);
    if (o->starts > 1 && (o->warm || !(o->tol > 0.0)))
        return cli_fail_usage(&cli_solve,
                              "--starts goes with a tolerance above 0 and without --warm");
    if (operands->count > 1 && o->save)
        return cli_fail_usage(&cli_solve, "--save goes with one PROBLEM, not with %d",
                              operands->count);
    bool reads_reference = o->reference && !asks_exact_reference(o);
    if (operands->count > 1 && reads_reference && !is_folder(o->reference))
        return cli_fail_usage(&cli_solve,
                              "--reference with %d PROBLEMs is a folder of NAME.ref.hdf5",
                              operands->count);
    bool save_fclib = o->save && cli_is_fclib_name(o->save);
    if ((save_fclib || reads_reference) && !talus_fclib_available())
        return cli_fail("--%s: FCLIB files are not in this build: %s",
                        save_fclib ? "save" : "reference", talus_fclib_build_hint());
    if ((o->trace && !check_folder_writable(o->trace)) ||
        (o->save && !check_folder_writable(o->save)))
        return CLI_FAILED;
    return cli_check_backend(&cli_solve, o->backend);
}

/* True if the option is --measure siconos. */
static bool measures_siconos(const Options *o)
{
    return o->measure && strcmp(o->measure, "siconos") == 0;
}

/* Parses --law, --section and --outer into the session and checks --measure. Returns the exit code. */
static int parse_friction(Session *session)
{
    const Options *o = &session->options;
    TalusStatus status = lab_model_parse(o->law, o->section, &session->model);
    if (status == TALUS_OK && o->outer)
        status = lab_outer_parse(o->outer, &session->outer);
    if (status != TALUS_OK)
        return cli_fail_by_domain(&cli_solve);
    if (o->measure && strcmp(o->measure, "natural") != 0 && !measures_siconos(o))
        return cli_fail_usage(&cli_solve, "--measure %s: expected natural or siconos", o->measure);
    return CLI_OK;
}

/* For --reference exact: solves each problem accurately and takes the velocities as reference. */
static int compute_references(LabSet *set)
{
    for (int i = 0; i < set->problem_count; i++)
        if (lab_problem_solve_reference(&set->problems[i], NULL) != TALUS_OK)
            return cli_fail("--reference exact: %s", talus_error());
    return CLI_OK;
}

/* Reads the reference velocities of each problem. `path` is one file for all, or a folder with a file NAME.ref.hdf5 for
 * each problem; in a folder some may be missing. */
static int read_references(LabSet *set, const char *path, bool quiet)
{
    bool folder = is_folder(path);
    for (int i = 0; i < set->problem_count; i++) {
        char file[CLI_PATH_MAX];
        snprintf(file, sizeof file, folder ? "%s/%s.ref.hdf5" : "%s", path, set->problems[i].name);
        if (folder && access(file, F_OK) != 0) {
            if (!quiet)
                fprintf(stderr, "talus: %s: no %s, so no velocity error\n", set->problems[i].name,
                        file);
            continue;
        }
        if (lab_problem_read_reference(&set->problems[i], file) != TALUS_OK)
            return cli_fail_library();
    }
    return CLI_OK;
}

/* Renames problems that have the same file name to their paths. */
static void make_names_unique(LabSet *set)
{
    for (int i = 0; i < set->problem_count; i++) {
        LabProblem *p = &set->problems[i];
        bool alone = true;
        for (int k = i + 1; k < set->problem_count; k++)
            if (strcmp(set->problems[k].name, p->name) == 0) {
                lab_problem_name_by_path(&set->problems[k]);
                alone = false;
            }
        if (!alone)
            lab_problem_name_by_path(p);
    }
}

/* True if some normal impulse of the problem's estimate, which bounds friction under law fixed, is positive. */
static bool has_stored_bounds(const LabProblem *p)
{
    const double *bounds = talus_problem_estimate(p->problem);
    for (int i = 0; bounds && i < talus_problem_blocks(p->problem); i++)
        if (bounds[i] > 0.0)
            return true;
    return false;
}

/* True if contacts of the problem are under `law`. `words` and `section` are its law and section in words
 * (lab_friction_format); with law "mixed", true for every law. If no contact has friction, true if `asked`, the value
 * of --law, is `law`. */
static bool is_under(const char *law, const char *words, const char *section, const char *asked)
{
    bool smooth = strcmp(section, "none") == 0;
    return smooth ? asked && strcmp(asked, law) == 0
                  : strcmp(words, "mixed") == 0 || strcmp(words, law) == 0;
}

/* Checks that the measure and the outer loop apply to this problem. */
static int check_friction(const Session *session, const LabProblem *p)
{
    const TalusOuter *outer = &session->outer;
    const char *asked = session->options.law;
    char law[LAB_WORD], section[LAB_WORD];
    lab_friction_format(p->problem, law, section);
    bool smooth = strcmp(section, "none") == 0;
    bool loops = outer->kind != TALUS_OUTER_AUTO || outer->every || outer->share > 0.0;
    if (measures_siconos(&session->options) && !p->all_coulomb && !smooth)
        return cli_fail("--measure siconos is of exact Coulomb friction, and %s is under another "
                        "law: expected --law coulomb",
                        p->path);
    if (measures_siconos(&session->options) && strcmp(section, "disc") != 0 && !smooth)
        return cli_fail("--measure siconos is of exact Coulomb friction on the disc, and %s has "
                        "section %s: expected --section disc",
                        p->path, section);
    if (loops && !is_under("coulomb", law, section, asked))
        return cli_fail("--outer %s is how solvers reach exact Coulomb friction, and %s is under "
                        "another law: expected --law coulomb",
                        session->options.outer, p->path);
    if (outer->refresh && !is_under("fixed", law, section, asked))
        return cli_fail("--outer %s: refresh is of bounds, and %s has none: expected --law fixed",
                        session->options.outer, p->path);
    if (outer->refresh < 0 && !smooth && !has_stored_bounds(p))
        return cli_fail("--outer %s: the bounds that %s stores are all zero; without refresh=-1 "
                        "they are estimated",
                        session->options.outer, p->path);
    return CLI_OK;
}

/* Opens and checks all problems, with their references, in the session's set. Returns the exit code. */
static int open_problems(Session *session, const CliList *operands)
{
    const Options *o = &session->options;
    LabSet *set = &session->set;
    TalusStatus status = talus_pool_create(o->threads >= 0 ? o->threads : 0, &session->pool);
    TALUS_THEN(status, TALUS_ALLOC(set->problems, (size_t)operands->count, "problems"));
    if (status != TALUS_OK)
        return cli_fail_by_domain(&cli_solve);
    set->threads = talus_pool_threads(session->pool);
    for (int i = 0; i < operands->count; i++) {
        LabProblem *p = &set->problems[set->problem_count++];
        if (cli_refuse_scene(operands->item[i]))
            return CLI_FAILED;
        if (lab_problem_open(operands->item[i], o->law || o->section ? &session->model : NULL,
                             session->pool, p) != TALUS_OK)
            return cli_fail_library();
        if (check_friction(session, p) != CLI_OK)
            return CLI_FAILED;
        if (o->warm && !p->start)
            return cli_fail("--warm: %s stores no impulses to start from", p->path);
    }
    if (asks_exact_reference(o) && compute_references(set) != CLI_OK)
        return CLI_FAILED;
    if (o->reference && !asks_exact_reference(o) &&
        read_references(set, o->reference, o->quiet) != CLI_OK)
        return CLI_FAILED; /* before make_names_unique, because references are found by file names */
    make_names_unique(set);
    return CLI_OK;
}

/* Fails if none of the named solvers supports any of the problems. */
static int check_support(const Session *session)
{
    const LabSet *set = &session->set;
    for (int p = 0; p < set->problem_count; p++)
        for (int s = 0; s < session->solvers.count; s++)
            if (cli_supports(session->solvers.item[s], set->problems[p].problem))
                return CLI_OK;
    return cli_fail_unsupported(set->problems[0].problem);
}

/* Sets title and directory of the set of results, and reads results of an earlier call unless --fresh or --save: stored
 * results have no impulses to save. */
static int open_set(Session *session)
{
    const Options *o = &session->options;
    LabSet *set = &session->set;
    snprintf(session->title, sizeof session->title, "%d contact problems", set->problem_count);
    set->title = set->problem_count == 1 ? set->problems[0].name : session->title;
    set->kind = "solve";
    set->dir = o->report;
    return lab_set_open(set, o->fresh || o->save) == TALUS_OK ? CLI_OK : cli_fail_library();
}

/* ---- solving ---- */

/* For --save: keeps the impulses, and the bounds of law fixed, of the result with the smallest natural residual. */
static TalusStatus store_best(Session *session, LabProblem *problem, const LabResult *result)
{
    size_t n = (size_t)talus_problem_size(problem->problem);
    if (!session->options.save || !lab_outcome_is_measured(result->outcome) ||
        (session->best && result->residual[LAB_R_NATURAL] >= session->best_residual))
        return TALUS_OK;
    if (!session->best && TALUS_ALLOC(session->best, n, "best impulses") != TALUS_OK)
        return TALUS_ERR_MEMORY;
    memcpy(session->best, talus_problem_gamma(problem->problem), n * sizeof *session->best);
    const double *bounds = talus_problem_estimate(problem->problem);
    size_t blocks = (size_t)talus_problem_blocks(problem->problem);
    if (bounds && !session->bounds && TALUS_ALLOC(session->bounds, blocks, "bounds") != TALUS_OK)
        return TALUS_ERR_MEMORY;
    if (bounds)
        memcpy(session->bounds, bounds, blocks * sizeof *bounds);
    session->best_residual = result->residual[LAB_R_NATURAL];
    strcpy(session->best_solver, result->solver);
    return TALUS_OK;
}

/* For --save: keeps the first proof that the problem has no solution, whichever solver found it. */
static TalusStatus copy_certificate(Session *session, const LabProblem *problem)
{
    const double *found = talus_problem_certificate(problem->problem);
    size_t n = (size_t)talus_problem_size(problem->problem);
    if (!session->options.save || !found || session->certificate)
        return TALUS_OK;
    TALUS_TRY(TALUS_ALLOC(session->certificate, n, "certificate"));
    memcpy(session->certificate, found, n * sizeof *found);
    return TALUS_OK;
}

/* Returns the job of this solver with the terms that the options give. */
static LabJob make_job(const Session *session, const char *solver)
{
    const Options *o = &session->options;
    return (LabJob){.solver = solver,
                    .backend = o->backend ? o->backend : "cpu",
                    .tolerance = o->tol,
                    .siconos = measures_siconos(o),
                    .outer = session->outer,
                    .max_iterations = o->max_iter > 0 ? o->max_iter : 10000,
                    .max_seconds = isnan(o->budget) ? 0.0 : o->budget,
                    .warm = o->warm,
                    .trace = o->trace || o->report};
}

/* Runs a solver on a problem, or reuses its stored result, and notes the outcome in the session. */
static TalusStatus solve_one(Session *session, int problem, const char *solver)
{
    const Options *o = &session->options;
    LabJob job = make_job(session, solver);
    LabResult *result;
    bool reused;
    TalusStatus status = lab_set_run_job(&session->set, problem, &job, o->quiet, &result, &reused);
    if (status != TALUS_OK)
        return status;
    session->failed |= result->outcome == LAB_FAILED;
    session->reached |= result->outcome == LAB_CONVERGED || result->outcome == LAB_INFEASIBLE;
    if (result->outcome == LAB_BUDGET && !reused)
        strcpy(session->missed, result->solver);
    session->supported |= result->outcome != LAB_UNSUPPORTED;
    if (reused && !o->quiet)
        fprintf(stderr, "talus: %s on %s: kept from an earlier call\n", result->solver,
                session->set.problems[problem].name);
    if (reused)
        return TALUS_OK;
    TALUS_TRY(copy_certificate(session, &session->set.problems[problem]));
    return store_best(session, &session->set.problems[problem], result);
}

/* If solvers ran and none reached the tolerance under exact Coulomb friction: adds and prints a table that says whether
 * the shift map repels at the last result. Where it repels, more iterations of the shift loop do not help. */
static void explain_missed_tolerance(Session *session, int problem)
{
    const Options *o = &session->options;
    LabSet *set = &session->set;
    const LabTable *table;
    if (session->reached || !session->missed[0] || !(o->tol > 0.0) || cli_stop_signal() ||
        !lab_has_shift_map(&set->problems[problem]))
        return;
    if (lab_explain_missed_tolerance(set, problem, session->missed, &table) != TALUS_OK) {
        if (!o->quiet)
            fprintf(stderr, "talus: %s: %s\n", set->problems[problem].name, talus_error());
        return;
    }
    if (o->quiet)
        return;
    lab_table_print(table, o->json ? stderr : stdout);
    fputc('\n', o->json ? stderr : stdout);
}

/* For --starts: solves from several starts with every solver that supports the problem, and prints the solutions. */
static TalusStatus solve_from_starts(Session *session, int problem)
{
    const Options *o = &session->options;
    for (int s = 0; o->starts > 1 && s < session->solvers.count && !cli_stop_signal(); s++) {
        const LabSearch *found;
        LabTable table;
        LabJob job = make_job(session, session->solvers.item[s]);
        if (!cli_supports(job.solver, session->set.problems[problem].problem))
            continue;
        TALUS_TRY(lab_set_search(&session->set, problem, &job, o->starts, &found));
        if (o->quiet)
            continue;
        lab_search_make_table(&session->set, found, &table);
        lab_table_print(&table, o->json ? stderr : stdout);
        lab_table_clear(&table);
        fputc('\n', o->json ? stderr : stdout);
    }
    return TALUS_OK;
}

/* Solves every problem with every solver and prints the tables. Returns the exit code. */
static int solve_all(Session *session)
{
    const Options *o = &session->options;
    LabSet *set = &session->set;
    for (int p = 0; p < set->problem_count && !cli_stop_signal(); p++) {
        session->missed[0] = '\0';
        session->reached = false;
        for (int s = 0; s < session->solvers.count && !cli_stop_signal(); s++)
            if (solve_one(session, p, session->solvers.item[s]) != TALUS_OK)
                return cli_fail_library();
        if (!o->quiet)
            lab_print_results(set, p, o->json ? stderr : stdout);
        explain_missed_tolerance(session, p);
        if (solve_from_starts(session, p) != TALUS_OK)
            return cli_fail_library();
    }
    if (set->problem_count > 1) {
        const LabTable *summary = lab_set_add_summary(set);
        if (!o->quiet)
            lab_table_print(summary, o->json ? stderr : stdout);
    }
    return CLI_OK;
}

/* ---- the end ---- */

/* For --save: writes the problem with the best impulses, bounds and certificate. Returns the exit code. */
static int save_best(Session *session)
{
    const Options *o = &session->options;
    if (!session->best)
        return cli_fail("%s: not written: no solver has a result", o->save);
    LabProblem *p = &session->set.problems[0];
    if (session->bounds)
        memcpy(talus_problem_estimate(p->problem), session->bounds,
               (size_t)talus_problem_blocks(p->problem) * sizeof *session->bounds);
    if (talus_problem_set_certificate(p->problem, session->certificate) != TALUS_OK ||
        lab_problem_save(p, session->best, o->save) != TALUS_OK)
        return cli_fail_library();
    if (!o->quiet)
        fprintf(stderr, "talus: %s: the result of %s, which has the smallest residual\n", o->save,
                session->best_solver);
    if (!o->quiet && cli_is_fclib_name(o->save) && talus_problem_bodies(p->problem) > 0)
        cli_print_fclib_form(stderr, "talus: ", o->save, p->fclib, p->problem);
    if (!o->quiet && session->certificate)
        fprintf(stderr, "talus: %s: %s the proof that the problem has no solution\n", o->save,
                cli_is_fclib_name(o->save)
                    ? "FCLIB has no place for, and a file not named .hdf5 or .h5 would hold,"
                    : "holds");
    return CLI_OK;
}

/* Writes the outputs of --json, --trace, --report and --save. Returns the exit code of the command. */
static int write_results(Session *session)
{
    const Options *o = &session->options;
    LabSet *set = &session->set;
    set->complete = !cli_stop_signal();
    if (o->json)
        lab_print_solve_json(set);
    if (o->trace && lab_write_traces(set, o->trace) != TALUS_OK)
        return cli_fail_library();
    if (o->report && lab_set_write(set) != TALUS_OK)
        return cli_fail_library();
    if (o->save) {
        int code = save_best(session);
        if (code != CLI_OK)
            return code;
    }
    if (cli_stop_signal()) {
        fprintf(stderr, "talus: stopped by %s%s\n", cli_stop_name(),
                o->report ? "; the same command goes on" : "");
        return 128 + cli_stop_signal();
    }
    if (!session->supported) /* outer loop or backend refused: check_support checks only sets */
        return cli_fail("no solver named takes any of the problems; %s: %s", set->results[0].solver,
                        set->results[0].reason);
    return session->failed ? CLI_FAILED : CLI_OK;
}

/* Parses the options, opens the problems, solves them and writes the results. Returns the exit code. */
static int solve_session(Session *session, const CliList *operands)
{
    int code = check_options(&session->options, operands);
    if (code == CLI_OK)
        code = parse_friction(session);
    if (code != CLI_OK)
        return code;
    TalusStatus status = lab_list_parse(session->options.solver, &session->solvers);
    if (status != TALUS_OK)
        return cli_fail_by_domain(&cli_solve);
    if (session->solvers.twice && !session->options.quiet)
        fprintf(stderr, "talus: --solver: %s is named twice and runs once\n",
                session->solvers.twice);
    cli_catch_signals();
    code = open_problems(session, operands);
    if (code == CLI_OK)
        code = check_support(session);
    if (code == CLI_OK)
        code = open_set(session);
    if (code != CLI_OK)
        return cli_stop_signal() ? 128 + cli_stop_signal() : code;
    code = solve_all(session);
    return code == CLI_OK ? write_results(session) : code;
}

static int solve_main(const CliList *operands)
{
    static Session session; /* static because its tables are large */
    session.options = options;
    int code = solve_session(&session, operands);
    lab_set_clear(&session.set);
    lab_list_clear(&session.solvers);
    TALUS_RELEASE(session.best, session.bounds, session.certificate);
    talus_pool_destroy(session.pool);
    return code;
}

static const CliOption solve_options[] = {
    {"solver", 0, CLI_TEXT, &options.solver, "LIST",
     "NAME[:key=value,...][,NAME...], or all: every algorithm of\n"
     "`talus list solvers`; auto by default, which chooses one"},
    {"law", 0, CLI_TEXT, &options.law, "LAW",
     "friction law of all contacts that have friction: ccp (convex\n"
     "relaxation), fixed (bounds estimated) or coulomb (exact);\n"
     "without --law and --section the file's own, or coulomb for\n"
     "FCLIB; else ccp"},
    {"section", 0, CLI_TEXT, &options.section, "SECTION",
     "of their friction sets: disc, square, polygon:M with M\n"
     "sides, or none; the file's own or disc, likewise"},
    {"outer", 0, CLI_TEXT, &options.outer, "LOOP",
     "how solvers of convex problems reach law coulomb: shift or\n"
     "tresca, then :every=N,share=X for iterations between updates\n"
     "and the share of each; :refresh=N is for law fixed, how often\n"
     "bounds are estimated anew, -1 for those stored in the file"},
    {"measure", 0, CLI_TEXT, &options.measure, "NAME",
     "what --tol is of: natural, the default, or siconos, Siconos's\n"
     "error of exact Coulomb friction"},
    {"tol", 0, CLI_REAL, &options.tol, "X",
     "the rms natural residual is to fall to X times its value\n"
     "at zero impulses, or Siconos's error to X; 1e-6 by default;\n"
     "0 runs the whole budget"},
    {"max-iter", 0, CLI_COUNT, &options.max_iter, "N",
     "iterations of each solver at most; 10000 by default"},
    {"budget", 0, CLI_REAL, &options.budget, "SECONDS",
     "time of each solver at most; no limit by default"},
    {"warm", 0, CLI_FLAG, &options.warm, NULL,
     "start from the solution, or else the guess, stored in the\nfile; without it all start from zero"},
    {"starts", 0, CLI_COUNT, &options.starts, "N",
     "then solve from N starts, zero and random ones, and count the\n"
     "distinct solutions: exact Coulomb friction may have several"},
    {"reference", 0, CLI_TEXT, &options.reference, "FILE|FOLDER|exact",
     "FCLIB file whose /ccp_solution, or else /solution, has the\n"
     "contact velocities to compare with, under law coulomb that of\n"
     "/solution; or a folder of such files, NAME.ref.hdf5 for the\n"
     "problem NAME; or exact: found first, by ipm-soc to 1e-11, under\n"
     "coulomb by prox"},
    {"trace", 0, CLI_TEXT, &options.trace, "FILE",
     "write a CSV row per iterate shown: every one of the first\n"
     "50, then those 2 % apart"},
    {"save", 0, CLI_TEXT, &options.save, "FILE",
     "write the problem with the best solution: FCLIB if it ends\n"
     "in .hdf5 or .h5, else Talus's own format"},
    {"report", 0, CLI_TEXT, &options.report, "DIR",
     "write report.html, results.json and trace.csv; a second\n"
     "call with the same arguments runs only what is missing"},
    {"fresh", 0, CLI_FLAG, &options.fresh, NULL,
     "run everything anew, whatever is in the report's folder"},
    {"backend", 0, CLI_TEXT, &options.backend, "NAME",
     "where solvers work; `talus list backends`; results are\nmeasured on the host, whatever is named here"},
    {"threads", 0, CLI_COUNT, &options.threads, "N",
     "threads to use, 0 for one per processor; results do not\ndepend on it"},
    {"json", 0, CLI_FLAG, &options.json, NULL,
     "standard output holds the results as JSON and nothing else;\ntables go to standard error"},
    {"quiet", 0, CLI_FLAG, &options.quiet, NULL, "no tables and no progress"},
};

const CliCommand cli_solve = {
    .name = "solve",
    .summary = "Solves contact problems with solvers side by side.",
    .operands = "PROBLEM...",
    .operands_min = 1,
    .operands_max = INT_MAX,
    .details =
        "PROBLEM is a file of `talus extract` or an FCLIB file. Every result is measured from its\n"
        "impulses, alike for all solvers; one that misses the tolerance is a result, too, and no\n"
        "failure. Ctrl-C ends the solver at work and reports what was reached.\n"
        "docs/how-to/laboratory.md tells what the figures mean.\n",
    CLI_OPTIONS(solve_options),
    .main = solve_main};

/* cli/commands/bench.c - talus bench: runs an experiment from its scenes to its tables.
 *
 * An experiment solves problems (experiment.h) or runs worlds (worlds.h). If it solves problems, their files are stored
 * in DIR beside the results. The file names contain a hash of all that defines a problem, so that a stopped experiment
 * can continue without simulating its scenes again. */
#include "lab/experiments/experiment.h"
#include "lab/experiments/worlds.h"

#include "backend/backend.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/timer.h"
#include "io/file/file.h"
#include "lab/widen.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Values of the options, which the table at the end describes. NULL, -1: not given. */
typedef struct Options {
    const char *out, *backend;
    int threads, repeat, steps;
    bool quick, json, quiet, fresh;
} Options;

static Options options = {.threads = -1, .repeat = -1, .steps = -1};

typedef struct Session {
    Options options;
    const Experiment *experiment;            /* NULL: benchmarks that run worlds */
    char dir[CLI_PATH_MAX], title[LAB_TEXT]; /* memory of set.dir and set.title */
    int divisor; /* number by which iterations are divided: 1, or 10 with --quick */
    LabSet set;
    char **path; /* paths of the problem files, one per case */
    TalusPool *pool;
} Session;

/* Time limit of a solver that the experiment does not name, s. */
static const double others_seconds = 20.0;

/* ---- the problems ---- */

/* Returns the case, or its quick version with --quick. */
static BenchCase get_case(const Session *session, int index)
{
    BenchCase c = session->experiment->cases[index];
    if (session->options.quick) {
        c.name = c.quick_name;
        c.at = c.quick_at;
        c.contacts = c.quick_contacts;
        memcpy(c.set, c.quick_set, sizeof c.set);
    }
    return c;
}

/* Returns the number of assignments in `set`, which NULL ends. */
static int count_assignments(const char *const *set)
{
    int count = 0;
    while (count < BENCH_ASSIGNMENTS && set[count])
        count++;
    return count;
}

/* Hashes what defines the problem of a case: the scene's text, its parameters, time, mass of the heaviest body, number
 * of contacts, and the version. */
static TalusStatus hash_case(const BenchCase *c, const char *scene, uint64_t *out)
{
    double numbers[] = {c->at, c->heaviest_mass};
    char *text;
    size_t size;
    TALUS_TRY(talus_read_file(scene, 1 << 24, &text, &size));
    *out = talus_hash(TALUS_HASH_SEED, text, size);
    talus_release(text);
    for (int i = 0; i < count_assignments(c->set); i++)
        *out = talus_hash(*out, c->set[i], strlen(c->set[i]));
    *out = talus_hash(*out, numbers, sizeof numbers);
    if (c->contacts > 0)
        *out = talus_hash(*out, &c->contacts, sizeof c->contacts);
    *out = talus_hash(*out, talus_version(), strlen(talus_version()));
    return TALUS_OK;
}

/* Makes steps up to the time of the case, or until a signal; shows the time on a terminal. */
static TalusStatus settle_world(const Session *session, TalusWorld *world, const BenchCase *c)
{
    double last = 0.0;
    bool draw = !session->options.quiet && isatty(STDERR_FILENO);
    int64_t steps = cli_steps_until(c->at, talus_world_step_length(world));
    while (talus_world_steps(world) < steps && !cli_stop_signal()) {
        TALUS_TRY(talus_world_step(world, NULL));
        if (draw && talus_now() - last > 0.2) {
            last = talus_now();
            fprintf(stderr, "\r\033[K%s: settling, t = %.2f of %g s", c->name,
                    talus_world_time(world), c->at);
            fflush(stderr);
        }
    }
    if (last > 0.0)
        fputs("\r\033[K", stderr);
    return TALUS_OK;
}

/* Creates a copy of the problem in which the heaviest body that is free to move has the given mass, kg, and its inertia
 * in proportion. The caller destroys *out. */
static TalusStatus change_heaviest_mass(TalusProblem *problem, double mass, TalusProblem **out)
{
    TalusProblemDef def;
    TALUS_TRY(talus_problem_export(problem, &def));
    size_t bodies = (size_t)def.body_count, at = 0;
    double *inv_mass = NULL;
    TalusSym3 *inv_inertia = NULL;
    TalusStatus status = TALUS_ALLOC(inv_mass, bodies, "masses");
    TALUS_THEN(status, TALUS_ALLOC(inv_inertia, bodies, "inertias"));
    if (status == TALUS_OK) {
        memcpy(inv_mass, def.inv_mass, bodies * sizeof *inv_mass);
        memcpy(inv_inertia, def.inv_inertia, bodies * sizeof *inv_inertia);
        for (size_t i = 0; i < bodies; i++)
            if (inv_mass[i] > 0.0 && (inv_mass[at] == 0.0 || inv_mass[i] < inv_mass[at]))
                at = i;
        double ratio = 1.0 / (mass * inv_mass[at]);
        TalusSym3 *s = &inv_inertia[at];
        double *entries[] = {&s->xx, &s->yy, &s->zz, &s->xy, &s->xz, &s->yz};
        for (int k = 0; k < 6; k++)
            *entries[k] *= ratio;
        inv_mass[at] *= ratio;
        def.inv_mass = inv_mass;
        def.inv_inertia = inv_inertia;
        status = talus_problem_create(&def, NULL, out);
    }
    TALUS_RELEASE(inv_mass, inv_inertia);
    return status;
}

/* Writes the problem, with another mass of the heaviest body if the case gives one. */
static TalusStatus write_problem(TalusProblem *problem, const BenchCase *c, const char *path)
{
    TalusProblem *changed;
    if (!(c->heaviest_mass > 0.0))
        return talus_problem_write(path, problem);
    TALUS_TRY(change_heaviest_mass(problem, c->heaviest_mass, &changed));
    TalusStatus status = talus_problem_write(path, changed);
    talus_problem_destroy(changed);
    return status;
}

/* Writes the problem of the world's next step to `path`, with the number of contacts and the heaviest mass that the
 * case gives, if any. */
static TalusStatus write_next_problem(const Session *session, const BenchCase *c, TalusWorld *world,
                                      const char *path)
{
    TalusWorld *wide = NULL;
    TalusProblem *problem;
    double envelope;
    if (c->contacts > 0)
        TALUS_TRY(widen_world(world, c->contacts, &wide, &envelope));
    TalusStatus status = talus_world_build(wide ? wide : world, &problem);
    TALUS_THEN(status, write_problem(problem, c, path));
    if (status == TALUS_OK && wide && !session->options.quiet)
        fprintf(stderr, "talus: %s: %d contacts in an envelope of %.6f sizes\n", c->name,
                talus_problem_blocks(problem), envelope);
    talus_world_destroy(wide);
    return status;
}

/* Simulates the scene to the time of the case and writes the problem of the next step to `path`; writes nothing if a
 * signal stops the simulation. */
static TalusStatus make_problem_file(const Session *session, const BenchCase *c,
                                     const char *scene_path, const char *path)
{
    TalusScene *scene = NULL;
    TalusWorld *world = NULL;
    TalusSceneChoice choice = {.threads = session->set.threads};
    double begun = talus_now();
    /* rigid and under ccp, as in the papers, unless the case says otherwise */
    const char *set[1 + BENCH_ASSIGNMENTS] = {"defaults=relaxed"};
    int sets = count_assignments(c->set);
    memcpy(&set[1], c->set, (size_t)sets * sizeof *set);
    TalusStatus status = talus_scene_load(scene_path, set, 1 + sets, &scene);
    TALUS_THEN(status, talus_scene_build(scene, &choice, &world));
    TALUS_THEN(status, settle_world(session, world, c));
    if (status == TALUS_OK && !cli_stop_signal())
        status = write_next_problem(session, c, world, path);
    if (status == TALUS_OK && !cli_stop_signal() && !session->options.quiet)
        fprintf(stderr, "talus: %s: settled until %g s, in %.1f s\n", c->name,
                talus_world_time(world), talus_now() - begun);
    talus_world_destroy(world);
    talus_scene_destroy(scene);
    return status;
}

/* Sets the path of the case's problem file. If an earlier case has the same hash, because it differs in its friction
 * model alone, its path is used and *shared is true. */
static TalusStatus set_problem_path(Session *session, int index, uint64_t hash, bool *shared)
{
    char ending[32];
    snprintf(ending, sizeof ending, "-%016" PRIx64 ".talus", hash);
    *shared = false;
    for (int i = 0; i < index; i++) {
        const char *path = session->path[i];
        *shared = strcmp(path + strlen(path) - strlen(ending), ending) == 0;
        if (*shared)
            return talus_path_format(&session->path[index], "%s", path);
    }
    return talus_path_format(&session->path[index], "%s/problem-%d%s", session->dir, index + 1,
                             ending);
}

/* Opens the problem of the case as next problem of the set; makes its file first if it is missing. */
static TalusStatus open_case(Session *session, int index)
{
    const BenchCase c = get_case(session, index);
    LabSet *set = &session->set;
    char scene[CLI_PATH_MAX];
    uint64_t hash;
    bool shared;
    if (!cli_find_scene(c.scene, scene, sizeof scene))
        return talus_fail(TALUS_ERR_IO, "%s: its scene %s is missing", session->experiment->name,
                          c.scene);
    TALUS_TRY(hash_case(&c, scene, &hash));
    TALUS_TRY(set_problem_path(session, index, hash, &shared));
    const char *path = session->path[index];
    if (access(path, F_OK) != 0 || (session->options.fresh && !shared))
        TALUS_TRY(make_problem_file(session, &c, scene, path));
    if (cli_stop_signal())
        return TALUS_OK;
    LabProblem *p = &set->problems[set->problem_count++];
    TALUS_TRY(lab_problem_open(path, c.model, session->pool, p));
    snprintf(p->name, sizeof p->name, "%s", c.name);
    return c.reference_solver ? lab_problem_solve_reference(p, c.reference_solver) : TALUS_OK;
}

/* ---- the runs ---- */

/* Runs one solver of the experiment on a problem, or reuses its stored result, and prints the result. */
static TalusStatus run_solver(Session *session, int problem, const BenchRun *run, double seconds)
{
    char label[LAB_TEXT];
    const BenchCase *c = &session->experiment->cases[problem];
    bool bounded = c->reference_solver && c->model && c->model->law == TALUS_LAW_FIXED;
    experiment_format_label(run, session->divisor, label);
    LabJob job = {.solver = run->solver,
                  .label = label,
                  .backend = "cpu",
                  .tolerance = run->tolerance,
                  .max_iterations = run->iterations / session->divisor,
                  .max_seconds = seconds,
                  .outer = {.refresh = bounded ? -1 : 0}, /* -1: bounds of the reference solve */
                  .trace = true};
    LabResult *result;
    bool reused;
    TALUS_TRY(
        lab_set_run_job(&session->set, problem, &job, session->options.quiet, &result, &reused));
    if (session->options.quiet)
        return TALUS_OK;
    fprintf(stderr, "talus: %s, %s: ", session->set.problems[problem].name, label);
    if (lab_outcome_is_measured(result->outcome))
        fprintf(stderr, "%d iterations, residual %.1e, %.2f s%s\n", result->iterations,
                result->residual[LAB_R_NATURAL_RELATIVE], result->seconds, reused ? " (kept)" : "");
    else
        fprintf(stderr, "%s: %s\n", lab_outcome_name(result->outcome), result->reason);
    return TALUS_OK;
}

/* True if some run of the experiment is by the solver with this index. */
static bool is_named_by_runs(const Experiment *e, int solver)
{
    for (int i = 0; i < e->run_count; i++)
        if (talus_solver_find(e->runs[i].solver) == solver)
            return true;
    return false;
}

/* True if the run is to be done on the case with this index. */
static bool runs_on_case(const BenchRun *run, int problem)
{
    return !run->cases || run->cases >> problem & 1u;
}

/* Runs the experiment's solvers on a problem, then, if it asks for others, all other solvers of this build. */
static TalusStatus run_case(Session *session, int problem)
{
    const Experiment *e = session->experiment;
    for (int i = 0; i < e->run_count && !cli_stop_signal(); i++)
        if (runs_on_case(&e->runs[i], problem) && lab_has_solver(e->runs[i].solver))
            TALUS_TRY(run_solver(session, problem, &e->runs[i], e->seconds));
    for (int i = 0; e->other_iterations && i < talus_solver_count() && !cli_stop_signal(); i++) {
        BenchRun other = {.solver = talus_solver_row(i).name, .iterations = e->other_iterations};
        if (strcmp(other.solver, "auto") != 0 && !talus_solver_row(i).missing &&
            !is_named_by_runs(e, i))
            TALUS_TRY(run_solver(session, problem, &other, others_seconds));
    }
    return TALUS_OK;
}

/* Adds notes about missing solvers, then opens and runs all cases, until a signal. */
static TalusStatus run_cases(Session *session)
{
    const Experiment *e = session->experiment;
    for (int i = 0; i < e->run_count; i++)
        lab_set_note_missing_solver(&session->set, e->runs[i].solver);
    for (int i = 0; i < e->case_count && !cli_stop_signal(); i++) {
        TALUS_TRY(open_case(session, i));
        if (!cli_stop_signal())
            TALUS_TRY(run_case(session, i));
    }
    return TALUS_OK;
}

/* ---- the end ---- */

/* Prints which signal has stopped the experiment; returns the exit code. */
static int report_stop(const Session *session)
{
    fprintf(stderr, "talus: stopped by %s; the same command goes on from what is in %s\n",
            cli_stop_name(), session->dir);
    return 128 + cli_stop_signal();
}

/* Prints results, tables, notes and directory unless --quiet; with --json, prints them to standard error, and the
 * results as JSON to standard output. */
static void print_set(const Session *session)
{
    const Options *o = &session->options;
    const LabSet *set = &session->set;
    FILE *out = o->json ? stderr : stdout;
    if (!o->quiet) {
        for (int i = 0; i < set->problem_count; i++)
            lab_print_results(set, i, out);
        for (int i = 0; i < set->table_count; i++) {
            lab_table_print(set->tables[i], out);
            fputc('\n', out);
        }
        for (int i = 0; i < set->note_count; i++)
            fprintf(out, "%s\n", set->notes[i]);
        fprintf(out, "results in %s\n", session->dir);
    }
    if (o->json)
        lab_print_bench_json(set);
}

/* Adds the experiment's tables and notes, writes the results and prints them; after a signal, writes the results alone
 * and reports the stop. Returns the exit code. */
static int conclude_experiment(Session *session)
{
    LabSet *set = &session->set;
    set->complete = !cli_stop_signal();
    if (cli_stop_signal())
        return lab_set_write(set) == TALUS_OK ? report_stop(session) : cli_fail_library();
    session->experiment->conclude(set, session->divisor);
    if (lab_set_write(set) != TALUS_OK || lab_set_write_tables(set) != TALUS_OK)
        return cli_fail_library();
    print_set(session);
    return CLI_OK;
}

/* Sets title, directory and experiment of the set of results. */
static void describe_set(Session *session, const char *name, const char *experiment)
{
    const Options *o = &session->options;
    LabSet *set = &session->set;
    snprintf(session->title, sizeof session->title, "%s%s", experiment, o->quick ? ", quick" : "");
    if (o->out)
        snprintf(session->dir, sizeof session->dir, "%s", o->out);
    else
        snprintf(session->dir, sizeof session->dir, "out/%s%s", name, o->quick ? "-quick" : "");
    set->title = session->title;
    set->experiment = experiment;
    set->kind = "bench";
    set->dir = session->dir;
}

/* ---- experiments that run worlds ---- */

/* True if the first operand is a benchmark to which the other operands are names of its cases. */
static bool takes_names(const CliList *operands)
{
    const WorldsRow *row = worlds_find_row(operands->item[0]);
    return row && row->takes_names;
}

/* Lists the benchmarks to run: those that the operands name, or all of the group `gpu` if no name follows it. Returns
 * the exit code; a name that is unknown or given twice is wrong usage. */
static int choose_rows(const CliList *operands, const WorldsRow *rows[WORLDS_ROWS], int *count)
{
    bool all = strcmp(operands->item[0], "gpu") == 0;
    *count = 0;
    if (takes_names(operands)) {
        rows[(*count)++] = worlds_find_row(operands->item[0]);
        return CLI_OK;
    }
    if (all && operands->count == 1)
        for (int i = 0; worlds_get_row(i); i++)
            if (worlds_get_row(i)->share > 0.0)
                rows[(*count)++] = worlds_get_row(i);
    for (int i = all ? 1 : 0; i < operands->count; i++) {
        const char *name = operands->item[i];
        const WorldsRow *row = worlds_find_row(name);
        if (!row)
            return cli_fail_usage(&cli_bench, "no row '%s'; `talus list experiments` names them",
                                  name);
        for (int k = 0; k < *count; k++)
            if (rows[k] == row)
                return cli_fail_usage(&cli_bench, "row '%s' is named twice", name);
        rows[(*count)++] = row;
    }
    return CLI_OK;
}

/* Removes files table-N.csv that an earlier call with more tables has left; N is at most 24, more than any experiment
 * has. */
static void remove_old_tables(const LabSet *set)
{
    const int most = 24;
    for (int i = set->table_count; i < most; i++) {
        char path[CLI_PATH_MAX + 32];
        struct stat about;
        snprintf(path, sizeof path, "%s/table-%d.csv", set->dir, i + 1);
        if (lstat(path, &about) == 0 && S_ISREG(about.st_mode))
            unlink(path);
    }
}

/* Runs the benchmarks of worlds that the operands name. Returns the exit code. */
static int bench_worlds(Session *session, const CliList *operands)
{
    const WorldsRow *rows[WORLDS_ROWS];
    static Worlds w;
    const Options *o = &session->options;
    bool gpu = strcmp(operands->item[0], "gpu") == 0;
    int count;
    if (o->fresh && !takes_names(operands))
        return cli_fail_usage(&cli_bench, "--fresh: %s always runs anew", operands->item[0]);
    int code = choose_rows(operands, rows, &count);
    if (code == CLI_OK)
        code = cli_check_backend(&cli_bench, o->backend);
    if (code != CLI_OK)
        return code;
    w = (Worlds){.backend = {o->backend ? o->backend
                             : gpu      ? "cuda-mixed"
                                        : "cpu",
                             "cuda"},
                 .backends = gpu && !o->backend ? 2 : 1,
                 .threads = o->threads,
                 .repeat = o->repeat > 0 ? o->repeat : 0,
                 .steps = o->steps > 0 ? o->steps : 0,
                 .limit = gpu && !o->quick ? WORLDS_SECONDS : 0.0,
                 .quick = o->quick,
                 .quiet = o->quiet,
                 .dir = session->dir,
                 .names = operands->item + 1,
                 .name_count = operands->count - 1,
                 .fresh = o->fresh,
                 .any_backend = !o->backend,
                 .set = &session->set};
    if (!talus_backend_find(w.backend[0]))
        return cli_fail("%s; `talus bench %s --backend cpu --quick` runs everywhere", talus_error(),
                        operands->item[0]);
    describe_set(session, operands->item[0], operands->item[0]);
    if (lab_set_open(&session->set, true) != TALUS_OK)
        return cli_fail_library();
    cli_catch_signals();
    code = worlds_run_rows(&w, rows, count);
    session->set.complete = true;
    if (lab_store_write(&session->set) != TALUS_OK || lab_page_write(&session->set) != TALUS_OK ||
        lab_set_write_tables(&session->set) != TALUS_OK)
        return cli_fail_library();
    remove_old_tables(&session->set);
    print_set(session);
    return cli_stop_signal() ? 128 + cli_stop_signal() : code;
}

/* ---- experiments that solve problems ---- */

/* Runs the experiment `name`, which solves problems. Returns the exit code. */
static int bench_problems(Session *session, const char *name)
{
    const Options *o = &session->options;
    LabSet *set = &session->set;
    session->experiment = experiment_find(&cli_bench, name);
    if (!session->experiment)
        return CLI_USAGE;
    const Experiment *e = session->experiment;
    if (o->backend || o->repeat >= 0 || o->steps >= 0)
        return cli_fail_usage(
            &cli_bench, "--backend, --repeat and --steps are for experiments that run worlds: "
                        "`talus list experiments` names them from shear on");
    session->divisor = o->quick ? 10 : 1;
    describe_set(session, name, e->name);
    TalusStatus status = talus_pool_create(o->threads >= 0 ? o->threads : 1, &session->pool);
    TALUS_THEN(status, TALUS_ALLOC(set->problems, (size_t)e->case_count, "problems"));
    TALUS_THEN(status, TALUS_ALLOC(session->path, (size_t)e->case_count, "paths"));
    if (status != TALUS_OK)
        return cli_fail_by_domain(&cli_bench);
    set->threads = talus_pool_threads(session->pool);
    lab_set_add_note(set, "%s: %s.", e->source, e->summary);
    if (o->quick)
        lab_set_add_note(set,
                         "Quick version: about a tenth of the bodies and of the iterations, so the "
                         "paper's figures and statements are left out.");
    if (lab_set_open(set, o->fresh) != TALUS_OK)
        return cli_fail_library();
    if (set->stored_title[0] && strcmp(set->stored_title, set->title) != 0)
        return cli_fail(
            "%s: holds the results of '%s', not of '%s': give another folder by --out, or "
            "--fresh to replace them",
            session->dir, set->stored_title, set->title);
    cli_catch_signals();
    return run_cases(session) == TALUS_OK ? conclude_experiment(session) : cli_fail_library();
}

static int bench_main(const CliList *operands)
{
    static Session session; /* static because its tables are large */
    const char *name = operands->item[0];
    int code;
    session.options = options;
    if (strcmp(name, "gpu") == 0 || worlds_find_row(name))
        code = bench_worlds(&session, operands);
    else if (operands->count > 1)
        code = cli_fail_usage(&cli_bench, "%s has no rows: expected one NAME", name);
    else
        code = bench_problems(&session, name);
    lab_set_clear(&session.set);
    for (int i = 0; session.path && i < session.experiment->case_count; i++)
        talus_release(session.path[i]);
    talus_release(session.path);
    talus_pool_destroy(session.pool);
    return code;
}

static const CliOption bench_options[] = {
    {"out", 0, CLI_TEXT, &options.out, "DIR",
     "where report.html, results.json, trace.csv, the tables and\n"
     "the problems go; out/NAME by default, out/NAME-quick with\n"
     "--quick"},
    {"quick", 0, CLI_FLAG, &options.quick, NULL,
     "a small version: a tenth of the bodies and iterations, and\n"
     "nothing of the paper beside it"},
    {"fresh", 0, CLI_FLAG, &options.fresh, NULL, "run everything anew, whatever is in DIR"},
    {"backend", 0, CLI_TEXT, &options.backend, "NAME",
     "where worlds run; for gpu cuda-mixed, and cuda beside it,\n"
     "else cpu"},
    {"repeat", 0, CLI_COUNT, &options.repeat, "N",
     "steps that a median is taken over, of million and\nten-million"},
    {"steps", 0, CLI_COUNT, &options.steps, "N",
     "only so many steps of hourglass and pospisil: a trial,\nwhose time is not judged"},
    {"threads", 0, CLI_COUNT, &options.threads, "N",
     "threads to use, 0 for one per processor; by default 1,\n"
     "which gives the steadiest times, and for worlds all"},
    {"json", 0, CLI_FLAG, &options.json, NULL,
     "standard output holds one JSON object and nothing else;\ntables go to standard error"},
    {"quiet", 0, CLI_FLAG, &options.quiet, NULL, "no tables and no progress"},
};

const CliCommand cli_bench = {
    .name = "bench",
    .summary = "Runs an experiment of the literature and compares.",
    .operands = "NAME [ROW...]",
    .operands_min = 1,
    .operands_max = INT_MAX,
    .details =
        "`talus list experiments` names them. Settles the scenes, takes the problems out, solves\n"
        "them with the paper's solvers and all others, and prints tables beside the paper's\n"
        "figures. Ctrl-C stops; the same command goes on. docs/how-to/laboratory.md tells more.\n"
        "`shear`, `packing` and `janssen` run worlds instead: docs/explanation/friction.md. So does\n"
        "`petra-sim`: docs/papers/petra-2009.md. So does `default`, whose cases names select:\n"
        "docs/explanation/default-law.md. So does `gpu`, all its rows or those named: speed,\n"
        "agreement with the cpu, physics. docs/how-to/gpu.md has the target of each figure.\n",
    CLI_OPTIONS(bench_options),
    .main = bench_main};

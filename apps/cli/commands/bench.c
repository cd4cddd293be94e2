/* cli/commands/bench.c - talus bench: runs an experiment from its scenes to its tables.
 *
 * An experiment solves problems (experiment.h) or runs worlds (worlds.h). */
#include "lab/experiments/experiment.h"
#include "lab/experiments/worlds.h"

#include "backend/backend.h"

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
    char dir[CLI_PATH_MAX], title[LAB_TEXT]; /* memory of set.dir and set.title */
    LabSet set;
    ExperimentSession problems; /* experiment NULL: benchmarks that run worlds */
} Session;

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
    if (experiment_conclude(&session->problems) != TALUS_OK)
        return cli_fail_library();
    if (cli_stop_signal())
        return report_stop(session);
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
    const Experiment *e = experiment_find(&cli_bench, name);
    if (!e)
        return CLI_USAGE;
    if (o->backend || o->repeat >= 0 || o->steps >= 0)
        return cli_fail_usage(
            &cli_bench, "--backend, --repeat and --steps are for experiments that run worlds: "
                        "`talus list experiments` names them from shear on");
    session->problems = (ExperimentSession){.experiment = e,
                                            .set = set,
                                            .threads = o->threads >= 0 ? o->threads : 1,
                                            .quick = o->quick,
                                            .quiet = o->quiet,
                                            .fresh = o->fresh};
    describe_set(session, name, e->name);
    if (experiment_open(&session->problems) != TALUS_OK)
        return cli_fail_by_domain(&cli_bench);
    if (lab_set_open(set, o->fresh) != TALUS_OK)
        return cli_fail_library();
    if (set->stored_title[0] && strcmp(set->stored_title, set->title) != 0)
        return cli_fail(
            "%s: holds the results of '%s', not of '%s': give another folder by --out, or "
            "--fresh to replace them",
            session->dir, set->stored_title, set->title);
    cli_catch_signals();
    return experiment_run_cases(&session->problems) == TALUS_OK ? conclude_experiment(session)
                                                                : cli_fail_library();
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
    experiment_close(&session.problems);
    return code;
}

static const CliOption bench_options[] = {
    {"out", 0, CLI_TEXT, &options.out, "DIR",
     "where report.html, results.json, trace.csv, the tables and\n"
     "the problems go; out/NAME by default, out/NAME-quick with\n"
     "--quick"},
    {"quick", 0, CLI_FLAG, &options.quick, NULL,
     "a small version: a tenth of the bodies, fewer iterations, and\n"
     "none of the paper's figures beside it"},
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

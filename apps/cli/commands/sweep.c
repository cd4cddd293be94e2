/* cli/commands/sweep.c - talus sweep: runs a scene at many points and with many seeds, and tabulates what is measured. */
#include "cli/study/results.h"

#include <math.h>
#include <string.h>

typedef struct Options {
    StudyOptions study;
    bool dry_run, json;
} Options;

static Options options = {.study = {.command = &cli_sweep,
                                    .seed = -1,
                                    .seeds = -1,
                                    .threads = -1,
                                    .jobs = -1,
                                    .from = NAN,
                                    .until = NAN,
                                    .every = NAN,
                                    .checkpoint_every = NAN}};

static const char *plural(int count)
{
    return count == 1 ? "" : "s";
}

/* Prints what would be run: a line for each key with its values, then the numbers. */
static void print_plan(const Study *study)
{
    for (int a = 0; a < study->grid.axes; a++) {
        const StudyAxis *axis = &study->grid.axis[a];
        printf("  %s:", axis->key);
        for (int i = 0; i < axis->count; i++)
            printf("%s %s", i ? "," : "", axis->value[i]);
        printf("\n");
    }
    printf("  measured:");
    for (int f = 0; f < study->figures; f++)
        printf("%s %s", f ? "," : "", study->figure[f].text);
    int whole = 0;
    for (int i = 0; i < study->runs; i++)
        whole += study_is_whole(study, &study->run[i]);
    printf("\n%d point%s, %d seed%s each: %d run%s, of which %d %s there; %d at a time\n",
           study->points, plural(study->points), study->seeds, plural(study->seeds), study->runs,
           plural(study->runs), whole, whole == 1 ? "is" : "are", study_job_count(study));
    printf("results would be in %s\n", study->dir);
}

/* Prints the table, or all as JSON, and where the results are. */
static void print_results(const Study *study)
{
    JsonOut json;
    FILE *out = options.json ? stderr : stdout;
    if (!options.study.quiet) {
        study_print_table(study, out);
        fprintf(out, "results in %s: report.html, table.csv, runs.csv, sweep.json\n", study->dir);
    }
    if (options.json) {
        json_start(&json, json_to_stream, stdout);
        study_write_json(study, &json);
        json_finish(&json);
    }
}

/* Says that a signal has stopped the sweep; returns the exit code. */
static int report_stop(const Study *study)
{
    fprintf(stderr, "talus: stopped by %s with %d of %d runs finished; the same command goes on\n",
            cli_stop_name(), study_count(study, STUDY_FINISHED), study->runs);
    return 128 + cli_stop_signal();
}

static int run_study(Study *study)
{
    int code = study_open_store(study);
    if (code != CLI_OK)
        return code;
    study_run_all(study);
    if (cli_stop_signal())
        return report_stop(study);
    if (study_write_results(study) != TALUS_OK || study_write_page(study) != TALUS_OK)
        return cli_fail_library();
    print_results(study);
    const int failed = study_count(study, STUDY_FAILED);
    return failed ? cli_fail("%d of %d run%s failed: %s/runs.csv says why", failed, study->runs,
                             plural(study->runs), study->dir)
                  : CLI_OK;
}

static int sweep_main(const CliList *operands)
{
    Study study;
    options.study.scene = operands->item[0];
    cli_catch_signals();
    int code = study_open(&study, &options.study);
    if (code == CLI_OK && cli_stop_signal())
        code = report_stop(&study);
    if (code == CLI_OK && options.dry_run)
        print_plan(&study);
    else if (code == CLI_OK)
        code = run_study(&study);
    study_close(&study);
    return code;
}

#define STUDY options.study

static const CliOption sweep_options[] = {
    {"vary", 0, CLI_LIST, &STUDY.vary, "KEY=VALUES",
     "values of a parameter or key, as for --set: FIRST:LAST:N,\n"
     "FIRST:LAST:N:log or V1,V2,...; several make a grid"},
    {"paired", 0, CLI_FLAG, &STUDY.paired, NULL,
     "no grid: the first values of all keys together, then the\nsecond ones, and so on"},
    {"measure", 'm', CLI_LIST, &STUDY.measure, "FIGURE",
     "what to tabulate, below; may be repeated"},
    {"seeds", 0, CLI_COUNT, &STUDY.seeds, "N", "samples of each point, by seeds 1 to N"},
    {"seed", 0, CLI_COUNT, &STUDY.seed, "N", "the first seed (default: 1)"},
    {"from", 0, CLI_REAL, &STUDY.from, "T",
     "means over the time from T on, s, not values at the end"},
    {"set", 0, CLI_LIST, &STUDY.set, "NAME=VALUE", "as for talus run, in all runs"},
    {"until", 0, CLI_REAL, &STUDY.until, "T", "simulated seconds at which runs end"},
    {"every", 0, CLI_REAL, &STUDY.every, "DT",
     "simulated seconds between frames, and between the times\nat which figures of talus measure "
     "are taken"},
    {"solver", 0, CLI_TEXT, &STUDY.solver, "NAME[:K=V,...]", "as for talus run"},
    {"backend", 0, CLI_TEXT, &STUDY.backend, "NAME", "where to compute; `talus list backends`"},
    {"devices", 0, CLI_TEXT, &STUDY.devices, "N,N,...",
     "numbers of the GPUs among which runs are divided"},
    {"threads", 0, CLI_COUNT, &STUDY.threads, "N", "threads of each run (default: 1)"},
    {"jobs", 'j', CLI_COUNT, &STUDY.jobs, "N",
     "runs at a time (default: as many as there are processors\n"
     "for, on a GPU one for each device)"},
    {"checkpoint-every", 0, CLI_REAL, &STUDY.checkpoint_every, "SECONDS",
     "wall-clock seconds between checkpoints of a run (default:\n60)"},
    {"out", 'o', CLI_TEXT, &STUDY.out, "DIR", "where results go (default: out/NAME-sweep)"},
    {"dry-run", 'n', CLI_FLAG, &options.dry_run, NULL, "check everything, print the plan and end"},
    {"json", 0, CLI_FLAG, &options.json, NULL,
     "standard output holds one JSON object and nothing else"},
    {"quiet", 0, CLI_FLAG, &STUDY.quiet, NULL, "no progress and no table"},
};

const CliCommand cli_sweep = {
    .name = "sweep",
    .summary = "Runs a scene with many values and seeds, and tabulates.",
    .operands = "SCENE",
    .operands_min = 1,
    .operands_max = 1,
    .details =
        "FIGURE is a bulk figure of talus measure (repose, coordination, solid), or a column of a\n"
        "table of the run: steps:kinetic, probe:NAME.force_z, flow:NAME.total_mass,\n"
        "joint:NAME.effort, cell:shear; or, of a region or group, a column of a probe of fields of\n"
        "the scene: field:NAME.coordination. It is taken at the end; with --from T or FIGURE@T the\n"
        "mean from time T on is.\n"
        "Each run is a process in DIR/runs; one that is there already is not computed again. A sweep\n"
        "that was stopped, whatever the way, goes on by the same command, to the same table, byte for\n"
        "byte. Exit code 1: a run has failed. docs/how-to/sweep.md tells more.\n",
    CLI_OPTIONS(sweep_options),
    .main = sweep_main};

/* cli/commands/reproduce.c - talus reproduce: every experiment of the five papers, on one page, with a verdict on every
 * statement.
 *
 * A part is an experiment of a paper; its results are in DIR/NAME, as `talus bench NAME` would leave them. A part that
 * solves problems goes on from the solves that are stored there. A part that runs worlds is taken from there if it was
 * complete, else it goes on from its finished runs. */
#include "lab/experiments/experiment.h"
#include "lab/experiments/worlds.h"

#include "backend/backend.h"
#include "base/timer.h"
#include "cli/page.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* Values of the options, which the table at the end describes. NULL, -1: not given. */
typedef struct Options {
    const char *out, *backend;
    int threads;
    bool quick, quiet, fresh;
} Options;

static Options options = {.threads = -1};

typedef struct Part {
    const char *paper, *experiment;
    /* Rough seconds of one core, in full and with --quick, from which the time left is estimated. */
    double seconds, quick_seconds;
} Part;

static const Part parts[] = {
    {"heyn-2012", "heyn-1", 150.0, 1.5},     {"heyn-2012", "heyn-2", 400.0, 10.0},
    {"heyn-2012", "heyn-3", 400.0, 4.0},     {"negrut-2009", "negrut", 250.0, 4.0},
    {"petra-2009", "petra-opt", 270.0, 2.0}, {"petra-2009", "petra-sim", 8500.0, 10.0},
    {"pospisil-2015", "mprgp", 900.0, 0.5},  {"preclik-2009", "preclik", 120.0, 2.0},
};

enum { PARTS = sizeof parts / sizeof *parts };

typedef struct Session {
    const char *backend;
    char dir[CLI_PATH_MAX];
    LabSet set;           /* the page: statements, and tables and figures of all parts */
    LabTable *verdicts;   /* number of statements by paper and verdict */
    LabTable *statements; /* all of them */
    bool chosen[PARTS];
    int failures;
} Session;

/* ---- parts ---- */

enum { ABOUT = LAB_TERMS + PAGE_MACHINE };

/* Writes what gives the results of a part now: command, date, machine. */
static void format_about(const Session *session, const Part *part, const LabSet *set,
                         char about[ABOUT])
{
    char date[PAGE_DATE], machine[PAGE_MACHINE], device[LAB_TEXT] = "", threads[32] = "";
    const bool worlds = worlds_find_row(part->experiment);
    const bool on_device = worlds && strcmp(session->backend, "cpu") != 0;
    page_format_date("%Y-%m-%d", date);
    page_format_machine(set->threads, machine);
    if (options.threads >= 0)
        snprintf(threads, sizeof threads, " --threads %d", options.threads);
    if (on_device)
        worlds_describe_backend(session->backend, device);
    snprintf(about, ABOUT, "`talus reproduce %s%s%s%s%s`, %s, %s%s%s", part->paper,
             options.quick ? " --quick" : "", worlds ? " --backend " : "",
             worlds ? session->backend : "", threads, date, machine, on_device ? "; " : "", device);
}

/* Reads that line of a part whose tables are stored; false if there are none. */
static bool read_about(const char *dir, char about[ABOUT])
{
    char path[CLI_PATH_MAX + 48];
    snprintf(path, sizeof path, "%s/tables.md", dir);
    FILE *file = fopen(path, "r");
    const bool found = file && fgets(about, ABOUT, file);
    if (file)
        fclose(file);
    if (found)
        about[strcspn(about, "\n")] = '\0';
    return found;
}

/* Writes the tables of a part to its tables.md, which docs/papers are made from (bench/papers.sh). Results that are all
 * stored ones keep the line that says where they come from. */
static TalusStatus write_markdown(const Session *session, const Part *part, const LabSet *set,
                                  bool stored)
{
    char about[ABOUT];
    if (!stored || !read_about(set->dir, about))
        format_about(session, part, set, about);
    return lab_set_write_markdown(set, about);
}

/* Runs a part that solves problems. */
static TalusStatus run_problems(const Session *session, const Part *part, LabSet *set)
{
    ExperimentSession e = {.experiment = experiment_find(&cli_reproduce, part->experiment),
                           .set = set,
                           .threads = options.threads >= 0 ? options.threads : 1,
                           .quick = options.quick,
                           .quiet = true,
                           .fresh = options.fresh};
    TalusStatus status = experiment_open(&e);
    TALUS_THEN(status, lab_set_open(set, options.fresh));
    TALUS_THEN(status, experiment_run_cases(&e));
    TALUS_THEN(status, experiment_conclude(&e));
    if (status == TALUS_OK && !cli_stop_signal())
        status = write_markdown(session, part, set, e.solved == 0);
    /* the problems refer to the threads that experiment_close ends */
    for (int i = 0; i < set->problem_count; i++)
        lab_problem_close(&set->problems[i]);
    set->problem_count = 0;
    experiment_close(&e);
    return status;
}

/* Writes the title of a part: what its results depend on. Those of problems do not depend on a backend, NULL. */
static void format_title(const Part *part, const char *backend, char title[LAB_TEXT])
{
    int at = snprintf(title, LAB_TEXT, "%s%s%s%s", part->experiment, backend ? ", " : "",
                      backend ? backend : "", options.quick ? ", quick" : "");
    if (backend && options.threads >= 0) /* times and unsynchronised updates depend on it */
        snprintf(title + at, (size_t)(LAB_TEXT - at), ", threads %d", options.threads);
}

/* Takes what an earlier call has stored of a part that runs worlds. Unless --backend is given, the results may be of
 * another backend, and so of another machine. */
static TalusStatus read_stored(const Part *part, LabSet *set, bool *found)
{
    const char *own = set->title;
    char title[LAB_TEXT];
    TalusStatus status = lab_store_read_shown(set, found);
    for (int i = 0; status == TALUS_OK && !*found && !options.backend && i < talus_backend_count();
         i++) {
        format_title(part, talus_backend_row(i).name, title);
        set->title = title;
        status = lab_store_read_shown(set, found);
    }
    set->title = own;
    return status;
}

/* Runs a part that runs worlds, or takes what an earlier call has stored. */
static TalusStatus run_worlds(const Session *session, const Part *part, const WorldsRow *row,
                              LabSet *set)
{
    static Worlds w;
    int simulated = 0;
    bool found = false;
    TALUS_TRY(lab_set_open(set, true));
    if (!options.fresh)
        TALUS_TRY(read_stored(part, set, &found));
    if (found)
        return TALUS_OK;
    if (options.fresh)
        worlds_forget_runs(set->dir);
    /* small worlds are faster on one thread */
    w = (Worlds){.backend = {session->backend},
                 .backends = 1,
                 .threads = options.threads >= 0 ? options.threads
                            : options.quick      ? 1
                                                 : -1,
                 .quick = options.quick,
                 .quiet = options.quiet || options.quick,
                 .dir = set->dir,
                 .keep_runs = true,
                 .simulated = &simulated,
                 .set = set};
    const int code = worlds_run_rows(&w, &row, 1);
    if (cli_stop_signal())
        return TALUS_OK;
    if (code != CLI_OK)
        return TALUS_ERR_CANCELLED; /* it has printed why */
    set->complete = true;
    TALUS_TRY(lab_page_write(set));
    TALUS_TRY(write_markdown(session, part, set, simulated == 0));
    return lab_store_write(set); /* at last: a later call takes what is stored for the whole */
}

/* Copies the claims of a part to the table of all statements. */
static void add_statements(Session *session, const Part *part, const LabSet *set)
{
    const LabTable *claims = set->claims;
    for (int i = claims ? claims->columns : 0; claims && i < claims->cells; i += claims->columns) {
        lab_table_add_cell(session->statements, "%s", part->paper);
        lab_table_add_cell(session->statements, "%s", part->experiment);
        for (int c = 0; c < claims->columns; c++)
            lab_table_add_cell(session->statements, "%s", claims->cell[i + c]);
    }
}

/* Adds a note that says what the part is and where its results come from. */
static void describe_part(Session *session, const Part *part, const WorldsRow *row, const char *dir)
{
    const Experiment *e = row ? NULL : experiment_find(&cli_reproduce, part->experiment);
    char about[ABOUT] = "";
    const bool known = read_about(dir, about);
    lab_set_add_note(&session->set, "%s: %s (%s)%s%s; all of it is in %s/report.html.",
                     part->experiment, row ? row->summary : e->summary,
                     row ? row->source : e->source, known ? ". " : "", about, part->experiment);
}

/* Runs a part and moves what it shows to the page. */
static TalusStatus run_part(Session *session, const Part *part, int counts[CLAIM_VERDICTS])
{
    char dir[CLI_PATH_MAX + 32], title[LAB_TEXT];
    const WorldsRow *row = worlds_find_row(part->experiment);
    LabSet set = {.kind = "bench", .experiment = part->experiment, .dir = dir, .title = title};
    snprintf(dir, sizeof dir, "%s/%s", session->dir, part->experiment);
    format_title(part, row ? session->backend : NULL, title);
    TalusStatus status =
        row ? run_worlds(session, part, row, &set) : run_problems(session, part, &set);
    if (status == TALUS_OK && !cli_stop_signal()) {
        claims_count(&set, counts);
        add_statements(session, part, &set);
        lab_set_move_shown(&set, &session->set, part->experiment);
        describe_part(session, part, row, dir);
    }
    lab_set_clear(&set);
    return status;
}

/* ---- progress ---- */

static double get_part_seconds(const Part *part)
{
    return options.quick ? part->quick_seconds : part->seconds;
}

/* Prints which part begins and the time that is left, by the rough times of the parts and the speed so far. */
static void print_progress(const Session *session, int index, double elapsed)
{
    double done = 0.0, left = 0.0;
    int number = 0, all = 0;
    for (int i = 0; i < PARTS; i++) {
        if (!session->chosen[i])
            continue;
        all++;
        number += i <= index;
        *(i < index ? &done : &left) += get_part_seconds(&parts[i]);
    }
    double estimate = done > 0.0 ? left * elapsed / done : left;
    const char *unit = estimate > 90.0 ? "min" : "s";
    if (!options.quiet)
        fprintf(stderr, "talus: %s, %s (%d of %d); about %.0f %s left\n", parts[index].paper,
                parts[index].experiment, number, all, estimate > 90.0 ? estimate / 60.0 : estimate,
                unit);
}

/* ---- the whole ---- */

static void add_verdict_row(Session *session, const Part *part, const int counts[CLAIM_VERDICTS])
{
    int all = 0;
    for (int v = 0; v < CLAIM_VERDICTS; v++)
        all += counts[v];
    lab_table_add_cells(session->verdicts, "%s\t%s\t%d", part->paper, part->experiment, all);
    for (int v = 0; v < CLAIM_VERDICTS; v++)
        lab_table_add_cells(session->verdicts, "%d", counts[v]);
}

/* Runs the chosen parts until a signal; a part that fails does not stop the others. */
static void run_parts(Session *session)
{
    double begun = talus_now();
    for (int i = 0; i < PARTS && !cli_stop_signal(); i++) {
        int counts[CLAIM_VERDICTS] = {0};
        if (!session->chosen[i])
            continue;
        print_progress(session, i, talus_now() - begun);
        TalusStatus status = run_part(session, &parts[i], counts);
        if (status != TALUS_OK && !cli_stop_signal()) {
            session->failures++;
            if (!worlds_find_row(parts[i].experiment) || status != TALUS_ERR_CANCELLED)
                cli_fail("%s: %s", parts[i].experiment, talus_error());
            lab_set_add_note(&session->set, "%s failed: %s", parts[i].experiment, talus_error());
        } else if (!cli_stop_signal()) {
            add_verdict_row(session, &parts[i], counts);
        }
    }
    lab_set_add_note(&session->set, "Made in %.1f s; what was stored is not run again.",
                     talus_now() - begun);
}

static void begin_page(Session *session)
{
    LabSet *set = &session->set;
    set->title = options.quick ? "Five papers, reproduced: quick" : "Five papers, reproduced";
    set->kind = "bench";
    set->dir = session->dir;
    session->verdicts = lab_set_add_table(set, "Statements of the papers, by verdict",
                                          "paper\texperiment\tstatements");
    for (int v = 0; v < CLAIM_VERDICTS; v++)
        lab_table_add_columns(session->verdicts, "%s", claim_verdict_name((ClaimVerdict)v));
    session->statements =
        lab_set_add_table(set, "Statements of the papers",
                          "paper\texperiment\tstatement\tverdict\tfound\trule of the verdict");
    if (options.quick)
        lab_set_add_note(set, "Quick: small problems and worlds, and fewer iterations. "
                              "Verdicts are on these, not on the papers' sizes.");
}

/* Prints the verdicts and where the page is. */
static void print_page(const Session *session)
{
    const LabTable *t = session->statements;
    if (options.quiet)
        return;
    for (int i = t->columns; i < t->cells; i += t->columns)
        printf("%-13s  %-9s  %s\n", t->cell[i + 3], t->cell[i + 1], t->cell[i + 2]);
    printf("\n");
    lab_table_print(session->verdicts, stdout);
    printf("\nthe page is %s/report.html\n", session->dir);
}

/* Marks the parts that the operands name, by paper or experiment, or all. Returns the exit code. */
static int choose_parts(Session *session, const CliList *operands)
{
    for (int i = 0; i < PARTS; i++)
        session->chosen[i] = operands->count == 0;
    for (int k = 0; k < operands->count; k++) {
        const char *names[PARTS];
        bool known = false;
        for (int i = 0; i < PARTS; i++) {
            names[i] = parts[i].paper;
            bool same = strcmp(operands->item[k], parts[i].paper) == 0 ||
                        strcmp(operands->item[k], parts[i].experiment) == 0;
            session->chosen[i] = session->chosen[i] || same;
            known = known || same;
        }
        if (!known)
            return cli_fail_usage(&cli_reproduce, "no paper '%s'%s", operands->item[k],
                                  cli_did_you_mean(operands->item[k], names, PARTS,
                                                   "; heyn-2012, negrut-2009, petra-2009, "
                                                   "pospisil-2015 and preclik-2009 are known"));
    }
    return CLI_OK;
}

static int reproduce_main(const CliList *operands)
{
    static Session session; /* static because its tables are large */
    int code = choose_parts(&session, operands);
    if (code == CLI_OK)
        code = cli_check_backend(&cli_reproduce, options.backend);
    if (code != CLI_OK)
        return code;
    session.backend = options.backend                    ? options.backend
                      : talus_backend_find("cuda-mixed") ? "cuda-mixed"
                                                         : "cpu";
    if (!talus_backend_find(session.backend))
        return cli_fail_library();
    snprintf(session.dir, sizeof session.dir, "%s",
             options.out     ? options.out
             : options.quick ? "out/reproduce-quick"
                             : "out/reproduce");
    begin_page(&session);
    if (lab_set_open(&session.set, true) != TALUS_OK)
        return cli_fail_library();
    cli_catch_signals();
    run_parts(&session);
    session.set.complete = !cli_stop_signal() && !session.failures;
    if (lab_store_write(&session.set) != TALUS_OK || lab_page_write(&session.set) != TALUS_OK)
        code = cli_fail_library();
    print_page(&session);
    if (cli_stop_signal())
        fprintf(stderr, "talus: stopped by %s; the same command goes on from what is in %s\n",
                cli_stop_name(), session.dir);
    lab_set_clear(&session.set);
    return cli_stop_signal() ? 128 + cli_stop_signal() : session.failures ? CLI_FAILED : code;
}

static const CliOption reproduce_options[] = {
    {"out", 0, CLI_TEXT, &options.out, "DIR",
     "where report.html goes, and a folder for each experiment;\n"
     "out/reproduce by default, out/reproduce-quick with --quick"},
    {"quick", 0, CLI_FLAG, &options.quick, NULL,
     "small problems and worlds, two minutes in all; without it\nhours, most of them for petra-2009"},
    {"fresh", 0, CLI_FLAG, &options.fresh, NULL, "run everything anew, whatever is in DIR"},
    {"backend", 0, CLI_TEXT, &options.backend, "NAME",
     "where worlds run: cuda-mixed if there is one, else cpu,\nwith fewer bodies than the papers"},
    {"threads", 0, CLI_COUNT, &options.threads, "N",
     "threads to use, 0 for one per processor; by default 1 for\n"
     "problems and for --quick, all for worlds"},
    {"quiet", 0, CLI_FLAG, &options.quiet, NULL, "no progress and no tables"},
};

const CliCommand cli_reproduce = {
    .name = "reproduce",
    .summary = "Runs the experiments of five papers and judges their statements.",
    .operands = "[PAPER...]",
    .operands_max = INT_MAX,
    .details =
        "Papers: heyn-2012, negrut-2009, petra-2009, pospisil-2015, preclik-2009, or names of\n"
        "their experiments; all of them if none is named. Every statement gets a verdict by a\n"
        "rule that the page shows. Ctrl-C stops; the same command goes on. docs/papers has a\n"
        "page for each paper.\n",
    CLI_OPTIONS(reproduce_options),
    .main = reproduce_main};

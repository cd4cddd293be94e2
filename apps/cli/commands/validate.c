/* cli/commands/validate.c - talus validate: motions with a closed form and bulk flows, judged at two steps and under
 * two laws. */
#include "lab/validate/validate.h"

#include "base/memory.h"
#include "cli/page.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Values of the options, which the table at the end describes. NULL: not given. */
typedef struct Options {
    const char *out, *plant;
    bool list, quick, json, quiet;
    int threads;
} Options;

static Options options = {.threads = 1};

typedef struct Session {
    LabSet set;
    ValidateRow *rows; /* [validate_case_count() VALIDATE_ROWS] */
    int row_count;
} Session;

static void print_list(void)
{
    for (int i = 0; i < validate_case_count(); i++) {
        const ValidateCase *c = validate_get_case(i);
        printf("  %-18s%s\n", c->name, c->shows);
        printf("  %-18s%s%s\n", "", c->source, c->slow ? "; left out by --quick" : "");
    }
}

/* Returns CLI_OK if all operands name cases. */
static int check_names(const CliList *operands)
{
    enum { NAMES = 64 };
    const char *names[NAMES];
    int count = 0;
    for (int i = 0; i < validate_case_count() && count < NAMES; i++)
        names[count++] = validate_get_case(i)->name;
    for (int i = 0; i < operands->count; i++)
        if (!validate_find_case(operands->item[i]))
            return cli_fail_usage(&cli_validate, "no case '%s'%s", operands->item[i],
                                  cli_did_you_mean(operands->item[i], names, count,
                                                   "; `talus validate --list` names them"));
    return CLI_OK;
}

/* True if the operands name the case, or name none and --quick does not leave it out. */
static bool is_chosen(const ValidateCase *c, const CliList *operands)
{
    for (int i = 0; i < operands->count; i++)
        if (validate_find_case(operands->item[i]) == c)
            return true;
    return operands->count == 0 && !(options.quick && c->slow);
}

/* Sets the error of --plant in the setup. Returns CLI_OK if there is none or it is sound. */
static int plant_error(ValidateSetup *setup)
{
    char name[16], rest;
    double value;
    if (!options.plant)
        return CLI_OK;
    if (sscanf(options.plant, "%15[a-z]=%lf%c", name, &value, &rest) != 2 || !isfinite(value))
        return cli_fail_usage(&cli_validate, "--plant %s: expected NAME=VALUE", options.plant);
    if (strcmp(name, "gravity") == 0 && value > 0.0)
        setup->gravity = value;
    else if (strcmp(name, "friction") == 0 && value >= 0.0)
        setup->friction = value;
    else if (strcmp(name, "width") == 0 && value > 0.0)
        setup->widening = value - 1.0;
    else if (strcmp(name, "walls") == 0)
        setup->shift = value;
    else
        return cli_fail_usage(&cli_validate,
                              "--plant %s: expected gravity or width above 0, friction of at least "
                              "0, or walls",
                              options.plant);
    return CLI_OK;
}

/* Judges the chosen cases, until a signal. */
static void judge_cases(Session *session, const ValidateSetup *setup, const CliList *operands)
{
    for (int i = 0; i < validate_case_count() && !cli_stop_signal(); i++) {
        const ValidateCase *c = validate_get_case(i);
        if (!is_chosen(c, operands))
            continue;
        if (!options.quiet)
            fprintf(stderr, "talus: %s\n", c->name);
        session->row_count += validate_judge(c, setup, session->rows + session->row_count);
    }
}

static int count_red(const Session *session)
{
    int red = 0;
    for (int i = 0; i < session->row_count; i++)
        red += validate_is_red(session->rows[i].verdict);
    return red;
}

/* Prints the table of verdicts and the notes; with --json to standard error, and all as JSON to standard output. */
static void print_set(const Session *session, int red)
{
    FILE *out = options.json ? stderr : stdout;
    if (!options.quiet) {
        lab_table_print(session->set.tables[0], out);
        fputc('\n', out);
        for (int i = 0; i < session->set.note_count; i++)
            fprintf(out, "%s\n", session->set.notes[i]);
        fprintf(out, "%d of %d rows red\n", red, session->row_count);
    }
    if (options.json)
        lab_print_bench_json(&session->set);
}

/* Writes the command and the machine of the results. */
static void format_about(const CliList *operands, char *text, size_t size)
{
    char machine[PAGE_MACHINE], names[LAB_TEXT] = "";
    size_t used = 0;
    for (int i = 0; i < operands->count && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, " %s", operands->item[i]);
    page_format_machine(1, machine);
    snprintf(text, size, "`talus validate%s%s%s%s`, %s", names, options.quick ? " --quick" : "",
             options.plant ? " --plant " : "", options.plant ? options.plant : "", machine);
}

/* Writes report.html, results.json and tables.md to --out. */
static TalusStatus write_results(Session *session, const CliList *operands)
{
    char about[PAGE_MACHINE + 2 * LAB_TEXT];
    if (!options.out)
        return TALUS_OK;
    format_about(operands, about, sizeof about);
    TALUS_TRY(lab_set_open(&session->set, true));
    TALUS_TRY(lab_store_write(&session->set));
    TALUS_TRY(lab_page_write(&session->set));
    TALUS_TRY(lab_set_write_markdown(&session->set, about));
    return TALUS_OK;
}

/* Runs the cases, prints and writes the results. Returns the exit code. */
static int run_session(Session *session, const ValidateSetup *setup, const CliList *operands)
{
    cli_catch_signals();
    judge_cases(session, setup, operands);
    if (cli_stop_signal()) {
        fprintf(stderr, "talus: stopped by %s\n", cli_stop_name());
        return 128 + cli_stop_signal();
    }
    validate_add_tables(&session->set, session->rows, session->row_count);
    session->set.complete = true;
    const int red = count_red(session);
    print_set(session, red);
    if (write_results(session, operands) != TALUS_OK)
        return cli_fail_library();
    return red > 0 ? CLI_FAILED : CLI_OK;
}

static int validate_main(const CliList *operands)
{
    Session session = {.set = {.title = options.quick ? "Validation: quick" : "Validation",
                               .kind = "bench",
                               .experiment = "validate",
                               .dir = options.out}};
    if (options.list) {
        print_list();
        return CLI_OK;
    }
    ValidateSetup setup = {
        .gravity = 1.0, .friction = 1.0, .threads = cli_convert_threads(options.threads)};
    int code = check_names(operands);
    if (code == CLI_OK)
        code = plant_error(&setup);
    if (code != CLI_OK)
        return code;
    if (TALUS_ALLOC(session.rows, (size_t)(validate_case_count() * VALIDATE_ROWS), "rows") !=
        TALUS_OK)
        return cli_fail_library();
    code = run_session(&session, &setup, operands);
    talus_release(session.rows);
    lab_set_clear(&session.set);
    return code;
}

static const CliOption validate_options[] = {
    {"list", 0, CLI_FLAG, &options.list, NULL, "list the cases and end"},
    {"quick", 0, CLI_FLAG, &options.quick, NULL, "only the cases of seconds"},
    {"out", 0, CLI_TEXT, &options.out, "DIR",
     "write report.html, results.json and tables.md there"},
    {"threads", 0, CLI_COUNT, &options.threads, "N",
     "threads of the cases of grains, 0 for one per processor; by\n"
     "default 1. No result depends on it"},
    {"plant", 0, CLI_TEXT, &options.plant, "NAME=VALUE",
     "plant an error, to see which cases turn red: a factor of\n"
     "gravity, friction or width (of openings, silos, drums,\n"
     "columns, discs and beds), or walls, m by which floors and\n"
     "walls are too far"},
    {"json", 0, CLI_FLAG, &options.json, NULL, "print the tables as JSON"},
    {"quiet", 0, CLI_FLAG, &options.quiet, NULL, "no progress and no tables"},
};

const CliCommand cli_validate = {
    .name = "validate",
    .summary = "Holds motions to closed forms, and bulk flows to what is known of them.",
    .operands = "[CASE...]",
    .operands_max = INT_MAX,
    .details =
        "Every case runs at its step and at half of it, and where bodies touch under the laws\n"
        "coulomb (the default) and ccp. Exit code 1: a quantity that must hold does not, or one\n"
        "that the relaxation is expected to miss holds.\n",
    CLI_OPTIONS(validate_options),
    .main = validate_main};

/* cli/commands/extract.c - talus extract: writes the contact problem of one step to a file. */
#include "cli/cli.h"

#include "base/status.h"
#include "lab/lab.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Values of the options, which the table at the end describes. NULL, NAN, -1: not given. */
typedef struct Options {
    CliList set;
    const char *solver, *output, *form;
    int threads;
    double at;
} Options;

static Options options = {.at = NAN, .threads = -1};

/* Makes whole steps until the world has reached `time`, s. */
static TalusStatus advance_world(TalusWorld *world, double time)
{
    int64_t steps = cli_steps_until(time, talus_world_step_length(world));
    while (talus_world_steps(world) < steps) {
        TalusStatus status = talus_world_step(world, NULL);
        if (status != TALUS_OK)
            return status;
    }
    return TALUS_OK;
}

/* ---- writing ---- */

/* Values of --form, by TalusFclibForm. */
static const char *const form_names[] = {
    [TALUS_FCLIB_AUTO] = "auto", [TALUS_FCLIB_GLOBAL] = "global", [TALUS_FCLIB_LOCAL] = "local"};

/* Returns the TalusFclibForm with this name, TALUS_FCLIB_AUTO for NULL; -1: no such form. */
static int find_form(const char *name)
{
    if (!name)
        return TALUS_FCLIB_AUTO;
    for (int i = 0; i < (int)(sizeof form_names / sizeof *form_names); i++)
        if (strcmp(name, form_names[i]) == 0)
            return i;
    return -1;
}

/* Converts the problem to FCLIB in the form that --form names, titles it by scene and time, and writes it. */
static TalusStatus write_fclib(const Options *o, TalusProblem *problem, const TalusScene *scene,
                               double time, TalusFclib **fclib)
{
    char title[256];
    const char *name = talus_scene_title(scene);
    snprintf(title, sizeof title, "%s%sthe step after t = %g s", name, *name ? ", " : "", time);
    TALUS_TRY(
        talus_fclib_from_problem_as(problem, (TalusFclibForm)find_form(o->form), title, fclib));
    return talus_fclib_write(o->output, *fclib);
}

/* Writes the problem to o->output. If that is an FCLIB file, *fclib receives its content, which the caller destroys. */
static TalusStatus write_problem(const Options *o, TalusProblem *problem, const TalusScene *scene,
                                 double time, TalusFclib **fclib)
{
    return cli_is_fclib_name(o->output) ? write_fclib(o, problem, scene, time, fclib)
                                        : talus_problem_write(o->output, problem);
}

/* ---- the report ---- */

/* Returns the number of blocks that belong to joints. */
static int count_joints(const TalusProblem *problem)
{
    int joints = 0;
    for (int i = 0; i < talus_problem_blocks(problem); i++)
        joints += talus_problem_friction(problem, i).section == TALUS_SECTION_JOINT;
    return joints;
}

/* Prints sizes and friction law of the written problem and, of FCLIB, its form and what it lacks. */
static void print_report(const char *path, TalusProblem *problem, const TalusFclib *fclib,
                         double time)
{
    int rows = talus_problem_rows(problem), joints = count_joints(problem);
    char law[LAB_WORD], section[LAB_WORD];
    lab_friction_format(problem, law, section);
    bool friction = strcmp(section, talus_section_name(TALUS_SECTION_NONE)) != 0;
    printf("%s: %d contacts", path, talus_problem_blocks(problem) - joints);
    if (joints > 0)
        printf(" and %d blocks of joints", joints);
    printf(" of %d row%s each, %d bodies, at t = %g s", rows, rows == 1 ? "" : "s",
           talus_problem_bodies(problem), time);
    printf(friction ? ", law %s\n" : "\n", law);
    if (!fclib)
        return;
    cli_print_fclib_form(stdout, "", path, fclib, problem);
    if (friction && strcmp(law, "mixed") == 0)
        printf("%s: FCLIB stores no friction law, and the contacts have several\n", path);
    else if (friction && strcmp(law, talus_law_name(lab_fclib_model.law)) != 0)
        printf("%s: FCLIB stores no friction law: `talus solve` takes --law %s\n", path, law);
}

/* ---- the command ---- */

/* Simulates the scene to o->at, writes the problem of the next step to o->output and prints a report. */
static TalusStatus extract_problem(const char *path, const Options *o)
{
    TalusScene *scene = NULL;
    TalusWorld *world = NULL;
    TalusProblem *problem = NULL;
    TalusFclib *fclib = NULL;
    TalusSceneChoice choice = {.solver = o->solver, .threads = cli_convert_threads(o->threads)};
    TalusStatus status = talus_scene_load(path, o->set.item, o->set.count, &scene);
    TALUS_THEN(status, talus_scene_build(scene, &choice, &world));
    TALUS_THEN(status, advance_world(world, o->at));
    TALUS_THEN(status, talus_world_build(world, &problem));
    TALUS_THEN(status, write_problem(o, problem, scene, talus_world_time(world), &fclib));
    if (status == TALUS_OK)
        print_report(o->output, problem, fclib, talus_world_time(world));
    talus_fclib_destroy(fclib);
    talus_world_destroy(world);
    talus_scene_destroy(scene);
    return status;
}

static int extract_main(const CliList *operands)
{
    char path[CLI_PATH_MAX];
    if (isnan(options.at) || !options.output)
        return cli_fail_usage(&cli_extract, "expected %s",
                              isnan(options.at) ? "--at T" : "-o FILE");
    if (find_form(options.form) < 0)
        return cli_fail_usage(&cli_extract, "--form %s: expected auto, global or local",
                              options.form);
    if (options.form && !cli_is_fclib_name(options.output))
        return cli_fail_usage(&cli_extract,
                              "--form goes with an FCLIB file: expected -o FILE.hdf5");
    if (cli_is_fclib_name(options.output) && !talus_fclib_available())
        return cli_fail("%s: this build of Talus has no HDF5, which FCLIB files need; %s",
                        options.output, talus_fclib_build_hint());
    if (!cli_find_scene(operands->item[0], path, sizeof path) || cli_refuse_problem(path))
        return CLI_FAILED;
    int code = cli_check_solver(&cli_extract, options.solver);
    if (code != CLI_OK)
        return code;
    return extract_problem(path, &options) == TALUS_OK ? CLI_OK : cli_fail_by_domain(&cli_extract);
}

static const CliOption extract_options[] = {
    {"at", 0, CLI_REAL, &options.at, "T",
     "simulated seconds to run before; 0 gives the first step"},
    {"output", 'o', CLI_TEXT, &options.output, "FILE",
     "the file to write: FCLIB if it ends in .hdf5 or .h5, else\nTalus's own format"},
    {"form", 0, CLI_TEXT, &options.form, "FORM",
     "of an FCLIB file: global (bodies and contacts), local (the matrix W\nof all contacts) or auto: "
     "local if contacts have compliance"},
    {"set", 0, CLI_LIST, &options.set, "NAME=VALUE",
     "a parameter of the scene, or any key path; may be repeated"},
    {"solver", 0, CLI_TEXT, &options.solver, "NAME[:K=V,...]", "solver of the steps before"},
    {"threads", 0, CLI_COUNT, &options.threads, "N", "threads to use, 0 for one per processor"},
};

const CliCommand cli_extract = {
    .name = "extract",
    .summary = "Writes the contact problem of one step of a scene to a file.",
    .operands = "SCENE",
    .operands_min = 1,
    .operands_max = 1,
    .details =
        "Runs the scene to the time T, in whole steps, and writes the problem of the one that follows, with\n"
        "the impulses it would start from. FCLIB (HDF5) is what other contact solvers read, and\n"
        "needs a build with HDF5; Talus's own format keeps every bit, and the friction law.\n"
        "FCLIB holds compliance in its local form, on the diagonal of W.\n"
        "docs/reference/fclib.md and docs/reference/problem-file.md describe the files.\n",
    CLI_OPTIONS(extract_options),
    .main = extract_main};

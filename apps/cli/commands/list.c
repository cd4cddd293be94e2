/* cli/commands/list.c - talus list: lists scenes, solvers, backends and other choices. */
#include "cli/cli.h"
#include "cli/serve/serve.h"
#include "lab/experiments/experiment.h"
#include "lab/experiments/worlds.h"

#include "backend/backend.h"
#include "base/deflate.h"
#include "comm/mpi.h"
#include "linalg/direct.h"
#include "solvers/tao/tao.h"

#include <stdio.h>
#include <string.h>

enum { NAME_WIDTH = 16 }; /* width of the column of names */

static void print_row(const char *name, const char *text)
{
    printf("  %-*s%s\n", NAME_WIDTH, name, text);
}

/* Callback of talus_solver_describe: prints the text of a parameter. */
static void print_parameter(void *user, const char *text)
{
    (void)user;
    printf("  %*s%s\n", NAME_WIDTH, "", text);
}

static void list_solvers(void)
{
    for (int i = 0; i < talus_solver_count(); i++) {
        TalusSolverRow row = talus_solver_row(i);
        print_row(row.name, row.summary);
        printf("  %*saccepts %s", NAME_WIDTH, "", row.accepts);
        printf("%s%s\n", row.reference[0] ? "; " : "", row.reference);
        if (row.missing)
            printf("  %*snot in this build: %s\n", NAME_WIDTH, "", row.missing);
        talus_solver_describe(i, print_parameter, NULL);
    }
    for (int k = 0; k < TALUS_DIRECT_KINDS; k++) {
        const char *missing = talus_direct_missing((TalusDirectKind)k);
        if (missing)
            printf("not in this build: linear=%s; linear=auto does without it: %s\n",
                   talus_direct_name((TalusDirectKind)k), missing);
    }
}

/* Prints the sections of friction sets and the friction laws. */
static void list_sets(void)
{
    puts("sections of the friction set, --section:");
    for (int i = 0; i < TALUS_SECTION_JOINT; i++)
        print_row(talus_section_name((TalusSection)i), talus_section_summary((TalusSection)i));
    puts("friction laws, --law:");
    for (int i = 0; i < TALUS_LAWS; i++)
        print_row(talus_law_name((TalusFrictionLaw)i), talus_law_summary((TalusFrictionLaw)i));
}

/* Callback of cli_visit_scenes: prints title and parameters of a scene. */
static void list_scene(void *user, const char *name, const char *path)
{
    TalusScene *scene;
    (void)user;
    if (talus_scene_load(path, NULL, 0, &scene) != TALUS_OK) {
        print_row(name, talus_error());
        return;
    }
    print_row(name, talus_scene_title(scene));
    if (talus_scene_param_count(scene) > 0) {
        printf("  %*s", NAME_WIDTH, "");
        for (int i = 0; i < talus_scene_param_count(scene); i++)
            printf("  %s=%g", talus_scene_param_name(scene, i), talus_scene_param_value(scene, i));
        putchar('\n');
    }
    talus_scene_destroy(scene);
}

static void list_scenes(void)
{
    cli_visit_scenes(list_scene, NULL);
}

static void list_backends(void)
{
    for (int i = 0; i < talus_backend_count(); i++) {
        TalusBackendRow row = talus_backend_row(i);
        print_row(row.name, row.summary);
        if (!row.available)
            printf("  %*snot in this build: %s\n", NAME_WIDTH, "", row.how);
        else if (!talus_backend_find(row.name))
            printf("  %*snot available here: %s\n", NAME_WIDTH, "", talus_error());
    }
}

static void list_shapes(void)
{
    for (int i = 0; i < TALUS_SHAPE_KINDS; i++)
        print_row(talus_shape_name((TalusShapeKind)i), talus_shape_summary((TalusShapeKind)i));
}

/* Prints the benchmarks that run worlds: those of `talus bench gpu` if `gpu`, else those that run by their own name
 * only. */
static void print_worlds(bool gpu)
{
    for (int i = 0; worlds_get_row(i); i++)
        if ((worlds_get_row(i)->share > 0.0) == gpu) {
            print_row(worlds_get_row(i)->name, worlds_get_row(i)->summary);
            printf("  %*s%s\n", NAME_WIDTH, "", worlds_get_row(i)->source);
        }
}

static void list_experiments(void)
{
    for (int i = 0; i < experiment_count(); i++) {
        const Experiment *e = experiment_get(i);
        print_row(e->name, e->summary);
        printf("  %*s%s\n", NAME_WIDTH, "", e->source);
    }
    print_worlds(false);
    print_row("gpu", "all that follow, on a GPU: speed, agreement, physics");
    print_worlds(true);
}

/* Prints a feature and, unless available, how to get a build with it. */
static void print_feature(const char *name, const char *text, bool available, const char *how)
{
    print_row(name, text);
    if (!available)
        printf("  %*snot in this build: %s\n", NAME_WIDTH, "", how);
}

/* Prints whether CUDA is compiled in; `talus list backends` prints whether there is a GPU. */
static void print_cuda_feature(void)
{
    for (int i = 0; i < talus_backend_count(); i++) {
        TalusBackendRow row = talus_backend_row(i);
        if (strcmp(row.name, "cuda") == 0)
            print_feature("cuda", "worlds and solvers on an NVIDIA GPU", row.available, row.how);
    }
}

static void print_direct_feature(TalusDirectKind kind, const char *text)
{
    const char *missing = talus_direct_missing(kind);
    print_feature(talus_direct_name(kind), text, !missing, missing);
}

static void print_mpi_feature(void)
{
    const char *missing = talus_mpi_missing(), *package = talus_mpi_package();
    char text[128];
    snprintf(text, sizeof text, "ranks as processes of mpirun, loaded when first used%s%s%s",
             *package ? " (" : "", package, *package ? ")" : "");
    print_feature("mpi", text, !missing, missing);
}

static void list_features(void)
{
    print_direct_feature(
        TALUS_DIRECT_CHOLMOD,
        "Cholesky factors for ipm-chol, ipm-soc and newton-al; parts under the GPL");
    print_feature("civetweb", "the server of talus view", serve_available(), serve_build_hint());
    print_cuda_feature();
    print_feature("hdf5", "FCLIB problem files (.hdf5); frames as .vtkhdf", talus_fclib_available(),
                  talus_fclib_build_hint());
    print_mpi_feature();
    print_direct_feature(TALUS_DIRECT_MUMPS,
                         "factors of indefinite matrices for ipm-aug and ipm-soc");
    print_feature("petsc", "the solvers tao-*, loaded when first used", !talus_tao_missing(),
                  talus_tao_missing());
    print_feature("zlib", "compressed frames and pictures", talus_deflate_available(),
                  "install zlib1g-dev, then configure without TALUS_CORE_ONLY and build");
}

static const struct {
    const char *name;
    void (*list)(void);
} kinds[] = {{"solvers", list_solvers},        {"sets", list_sets},     {"scenes", list_scenes},
             {"backends", list_backends},      {"shapes", list_shapes}, {"features", list_features},
             {"experiments", list_experiments}};

enum { KINDS = sizeof kinds / sizeof *kinds };

#define OPERANDS "solvers|sets|scenes|backends|shapes|features|experiments"

static int list_main(const CliList *operands)
{
    const char *names[KINDS], *word = operands->item[0];
    for (int i = 0; i < KINDS; i++) {
        names[i] = kinds[i].name;
        if (strcmp(names[i], word) == 0) {
            kinds[i].list();
            return CLI_OK;
        }
    }
    return cli_fail_usage(&cli_list, "cannot list '%s'%s", word,
                          cli_did_you_mean(word, names, KINDS, "; expected " OPERANDS));
}

const CliCommand cli_list = {
    .name = "list",
    .summary = "Lists what there is to choose from.",
    .operands = OPERANDS,
    .operands_min = 1,
    .operands_max = 1,
    .details = "Solvers come with their parameters as key=default, for --solver NAME:key=value;\n"
               "scenes with theirs as name=value, for --set name=value.\n"
               "Sets are the sections and laws that friction may have.\n"
               "Features are the optional parts of this build.\n",
    .main = list_main};

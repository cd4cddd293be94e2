/* main.c - dispatches to a command; talus help [COMMAND]. */
#include "cli.h"

#include "io/formats/formats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int help_main(const CliList *operands);

static const CliCommand help = {.name = "help",
                                .summary = "Shows the commands, or the help of one.",
                                .operands = "[COMMAND]",
                                .operands_max = 1,
                                .details = "",
                                .main = help_main};

/* Commands, in the order of the help text. */
static const CliCommand *const commands[] = {
    &cli_run,   &cli_advise,  &cli_view,   &cli_render,    &cli_export,   &cli_measure,
    &cli_sweep, &cli_solve,   &cli_bench,  &cli_reproduce, &cli_validate, &cli_list,
    &cli_info,  &cli_extract, &cli_verify, &help};
enum { COMMANDS = sizeof commands / sizeof *commands };

static const CliCommand *find_command(const char *word)
{
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i]->name, word) == 0)
            return commands[i];
    return NULL;
}

/* Returns "; did you mean 'NAME'?" with the command nearest to `word`, or `otherwise` if none is near. */
static const char *suggest_command(const char *word, const char *otherwise)
{
    const char *names[COMMANDS];
    for (int i = 0; i < COMMANDS; i++)
        names[i] = commands[i]->name;
    return cli_did_you_mean(word, names, COMMANDS, otherwise);
}

static void print_overview(void)
{
    printf("usage: talus COMMAND [arguments]\n\n"
           "Simulates large systems of rigid bodies in frictional contact.\n\ncommands:\n");
    for (int i = 0; i < COMMANDS; i++)
        printf("  %-10s%s\n", commands[i]->name, commands[i]->summary);
    printf("\noptions:\n");
    cli_print_option("version", 0, NULL, "the version of the program");
    cli_print_option("help", 'h', NULL, "this text; after a command, that command's");
    printf("\nexit codes: 0 success, 1 failure, 2 wrong usage, 128 + N stopped by signal N\n"
           "To begin with: talus run hourglass --out out/hourglass\n");
}

static int help_main(const CliList *operands)
{
    const char *word = operands->count ? operands->item[0] : NULL;
    const CliCommand *command = word ? find_command(word) : NULL;
    if (word && !command)
        return cli_fail_usage(&help, "no command '%s'%s", word, suggest_command(word, ""));
    if (command)
        cli_print_help(command);
    else
        print_overview();
    return CLI_OK;
}

/* Runs the command that argv[1] names, or prints version or overview. Returns the exit code. */
static int run_arguments(int argc, char **argv)
{
    if (argc < 2) {
        cli_fail("expected a command; `talus help` names them");
        return CLI_USAGE;
    }
    const char *word = argv[1];
    if (strcmp(word, "--version") == 0) {
        printf("talus %s\n", talus_version());
        return CLI_OK;
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        print_overview();
        return CLI_OK;
    }
    cli_enable_warnings();
    const CliCommand *command = find_command(word);
    if (command)
        return cli_run_command(command, argc - 1, argv + 1);
    cli_fail("unknown command '%s'%s", word, suggest_command(word, "; `talus help` names them"));
    return CLI_USAGE;
}

/* setenv must precede the first thread: the variable keeps OpenBLAS, if present, from starting threads of its own
 * (linalg/package.h). */
int main(int argc, char **argv)
{
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    talus_hdf5_skip_exit();
    int code = run_arguments(argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        cli_fail("standard output: cannot write");
        return code == CLI_OK ? CLI_FAILED : code;
    }
    return code;
}

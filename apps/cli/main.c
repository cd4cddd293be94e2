/* main.c - dispatches to a command. */
#include "cli/help/help.h"

#include "io/formats/formats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
        help_print_overview();
        return CLI_OK;
    }
    cli_enable_warnings();
    const CliCommand *command = help_find_command(word);
    if (command)
        return cli_run_command(command, argc - 1, argv + 1);
    cli_fail("unknown command '%s'%s", word,
             help_suggest_command(word, "; `talus help` names them"));
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

/* main.c - finds the command and hands over. */
#include "cli.h"

#include "base/param.h"
#include "io/formats/formats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const CliCommand *const cli_commands[] = {&cli_run,     &cli_view,   &cli_render, &cli_export,
                                          &cli_solve,   &cli_bench,  &cli_list,   &cli_info,
                                          &cli_extract, &cli_verify, &cli_help,   NULL};

static int unknown_command(const char *word)
{
    const char *names[16];
    int count = 0;
    for (; cli_commands[count]; count++)
        names[count] = cli_commands[count]->name;
    const char *near = talus_nearest(word, names, count);
    if (near)
        cli_fail("unknown command '%s'; did you mean '%s'?", word, near);
    else
        cli_fail("unknown command '%s'; `talus help` names them", word);
    return CLI_USAGE;
}

static int dispatch(int argc, char **argv)
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
        cli_print_overview();
        return CLI_OK;
    }
    cli_show_warnings();
    for (int i = 0; cli_commands[i]; i++)
        if (strcmp(cli_commands[i]->name, word) == 0)
            return cli_commands[i]->main(argc - 1, argv + 1);
    return unknown_command(word);
}

/* Before any thread: OpenBLAS, should a package bring it, starts none of its own (linalg/package.h). */
int main(int argc, char **argv)
{
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    talus_hdf5_skip_exit();
    int code = dispatch(argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        cli_fail("standard output: cannot write");
        return code == CLI_OK ? CLI_FAILED : code;
    }
    return code;
}

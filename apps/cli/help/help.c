/* cli/help/help.c - talus help: the overview, the help of a command, manual pages and completions of shells. */
#include "cli/help/help.h"

#include <stdio.h>
#include <string.h>

static const CliCommand help;

/* In the order of the overview; NULL behind the last one. */
static const CliCommand *const commands[] = {
    &cli_run,   &cli_advise,  &cli_view,   &cli_render,    &cli_export,   &cli_measure,
    &cli_sweep, &cli_solve,   &cli_bench,  &cli_reproduce, &cli_validate, &cli_list,
    &cli_info,  &cli_extract, &cli_verify, &help,          NULL};
enum { COMMANDS = sizeof commands / sizeof *commands - 1 };

const CliCommand *help_find_command(const char *name)
{
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

const char *help_suggest_command(const char *word, const char *otherwise)
{
    const char *names[COMMANDS];
    for (int i = 0; i < COMMANDS; i++)
        names[i] = commands[i]->name;
    return cli_did_you_mean(word, names, COMMANDS, otherwise);
}

void help_print_overview(void)
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

/* ---- the command ---- */

static struct {
    const char *man, *completion;
} options;

static int print_completion(const char *shell)
{
    const char *names[8], *name;
    int count = 0;
    if (help_print_completion(commands, shell))
        return CLI_OK;
    while ((name = help_shell(count)) != NULL)
        names[count++] = name;
    return cli_fail_usage(&help, "no completion for '%s'%s", shell,
                          cli_did_you_mean(shell, names, count, "; expected bash, zsh or fish"));
}

static int help_main(const CliList *operands)
{
    const char *word = operands->count ? operands->item[0] : NULL;
    const CliCommand *command = word ? help_find_command(word) : NULL;
    if (word && (options.man || options.completion))
        return cli_fail_usage(
            &help, "--man and --completion are of all commands; '%s' is one too many", word);
    if (options.man && options.completion)
        return cli_fail_usage(&help, "give --man or --completion, not both");
    if (options.man)
        return help_write_manual(commands, options.man);
    if (options.completion)
        return print_completion(options.completion);
    if (word && !command)
        return cli_fail_usage(&help, "no command '%s'%s", word, help_suggest_command(word, ""));
    if (command)
        cli_print_help(command);
    else
        help_print_overview();
    return CLI_OK;
}

static const CliOption help_options[] = {
    {"man", 0, CLI_TEXT, &options.man, "DIR", "write the manual pages of all commands to DIR"},
    {"completion", 0, CLI_TEXT, &options.completion, "SHELL",
     "print what completes commands in bash, zsh or fish"},
};

static const CliCommand help = {
    .name = "help",
    .summary = "Shows the commands, or the help of one.",
    .operands = "[COMMAND]",
    .operands_max = 1,
    .details = "An installed Talus has manual pages and completions already. Elsewhere:\n"
               "  talus help --man ~/.local/share/man/man1\n"
               "  talus help --completion bash > ~/.local/share/bash-completion/completions/talus\n"
               "  talus help --completion fish > ~/.config/fish/completions/talus.fish\n"
               "  talus help --completion zsh > DIR/_talus, with DIR in fpath\n",
    CLI_OPTIONS(help_options),
    .main = help_main};

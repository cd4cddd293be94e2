/* cli/help/help.h - what is made of the tables of commands and options beside the help texts (options.c): manual pages and
 * completions of shells. */
#ifndef TALUS_CLI_HELP_H
#define TALUS_CLI_HELP_H

#include "cli/cli.h"

/* Returns the command of this name; NULL: there is none. */
const CliCommand *help_find_command(const char *name);
/* Returns "; did you mean 'NAME'?" with the command nearest to `word`, or `otherwise` if none is near. */
const char *help_suggest_command(const char *word, const char *otherwise);
void help_print_overview(void);

/* Writes talus.1, and talus-COMMAND.1 of each command up to a NULL, to the directory, which is made if needed. Returns the
 * exit code. */
int help_write_manual(const CliCommand *const *commands, const char *dir);

/* Returns a shell for which there is a completion; NULL behind the last one. */
const char *help_shell(int index);
/* Prints the completion of the commands, up to a NULL, for such a shell; false: there is none of this name. */
bool help_print_completion(const CliCommand *const *commands, const char *shell);

#endif

/* help.c - talus help [COMMAND] */
#include "cli.h"

#include "base/param.h"

#include <string.h>

static int help_main(int argc, char **argv)
{
    CliList operands;
    char none;
    int code;
    if (!cli_parse(&cli_help, argc, argv, &none, &operands, &code))
        return code;
    if (operands.count == 0) {
        cli_print_overview();
        return CLI_OK;
    }
    const char *names[16];
    int count = 0;
    for (; cli_commands[count]; count++) {
        names[count] = cli_commands[count]->name;
        if (strcmp(names[count], operands.item[0]) == 0) {
            cli_print_help(cli_commands[count]);
            return CLI_OK;
        }
    }
    const char *near = talus_nearest(operands.item[0], names, count);
    return cli_usage(&cli_help, "no command '%s'%s%s%s", operands.item[0],
                     near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

const CliCommand cli_help = {.name = "help",
                             .summary = "Shows the commands, or the help of one.",
                             .operands = "[COMMAND]",
                             .operands_max = 1,
                             .details = "",
                             .main = help_main};

/* options.c - option parser and help text, both driven by the commands' tables. */
#include "cli.h"

#include "base/param.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OPTIONS = 32 }; /* maximum number of options of a command */

/* State of one pass over the arguments. */
typedef struct Parser {
    const CliCommand *command;
    int argc;
    int next; /* index in argv of the next argument */
    char **argv;
    bool seen[MAX_OPTIONS]; /* options given so far, by index in the command's table */
} Parser;

int cli_fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("talus: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return CLI_FAILED;
}

int cli_fail_library(void)
{
    return cli_fail("%s", talus_error());
}

void *cli_check_memory(void *memory)
{
    if (!memory)
        exit(cli_fail("out of memory"));
    return memory;
}

int cli_fail_usage(const CliCommand *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "talus: %s: ", command->name);
    vfprintf(stderr, format, args);
    fprintf(stderr, "\ntalus: `talus help %s` tells more\n", command->name);
    va_end(args);
    return CLI_USAGE;
}

const char *cli_did_you_mean(const char *word, const char *const *names, int count,
                             const char *otherwise)
{
    static char text[128];
    const char *near = talus_nearest_name(word, names, count);
    snprintf(text, sizeof text, "; did you mean '%s'?", near ? near : "");
    return near ? text : otherwise;
}

void cli_list_add(CliList *list, const char *item)
{
    size_t count = (size_t)list->count + 1;
    list->item = cli_check_memory(realloc(list->item, count * sizeof *list->item));
    list->item[list->count++] = item;
}

/* ---- values ---- */

/* Parses a finite number that is not negative. */
static bool read_real(const char *text, double *out)
{
    char *end;
    double x = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(x) || x < 0.0)
        return false;
    *out = x;
    return true;
}

/* Parses a whole number from 0 to 1e9. */
static bool read_count(const char *text, int *out)
{
    double x;
    if (!read_real(text, &x) || x != floor(x) || x > 1e9)
        return false;
    *out = (int)x;
    return true;
}

/* Converts the text to the kind of the option and stores it in the option's field. Returns the exit code. */
static int store_value(Parser *parser, const CliOption *option, const char *text)
{
    void *field = option->field;
    switch (option->kind) {
    case CLI_FLAG: *(bool *)field = true; return CLI_OK;
    case CLI_TEXT: *(const char **)field = text; return CLI_OK;
    case CLI_REAL:
        if (!read_real(text, field))
            return cli_fail_usage(parser->command,
                                  "--%s %s: expected a number that is not negative", option->name,
                                  text);
        return CLI_OK;
    case CLI_COUNT:
        if (!read_count(text, field))
            return cli_fail_usage(parser->command, "--%s %s: expected a whole number, 0 or more",
                                  option->name, text);
        return CLI_OK;
    case CLI_LIST: cli_list_add(field, text); return CLI_OK;
    }
    return CLI_OK;
}

/* ---- names ---- */

/* Prints a message that suggests the nearest option; returns CLI_USAGE. */
static int fail_unknown_option(const Parser *parser, const char *word)
{
    const CliCommand *command = parser->command;
    const char *names[MAX_OPTIONS + 1];
    for (int i = 0; i < command->option_count; i++)
        names[i] = command->options[i].name;
    names[command->option_count] = "help";
    const char *bare = word + strspn(word, "-");
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(bare, "="), bare);
    const char *near = talus_nearest_name(name, names, command->option_count + 1);
    if (near)
        return cli_fail_usage(command, "unknown option '%s'; did you mean '--%s'?", word, near);
    return cli_fail_usage(command, "unknown option '%s'", word);
}

/* True if `word` is "--NAME" or "--NAME=VALUE" of the option, or "-X" with its letter. */
static bool names_option(const CliOption *option, const char *word)
{
    if (strncmp(word, "--", 2) != 0)
        return option->letter && word[1] == option->letter && word[2] == '\0';
    size_t length = strcspn(word + 2, "=");
    return strlen(option->name) == length && strncmp(option->name, word + 2, length) == 0;
}

/* Returns the index of the option that `word` names; -1: none. */
static int find_option(const CliCommand *command, const char *word)
{
    for (int i = 0; i < command->option_count; i++)
        if (names_option(&command->options[i], word))
            return i;
    return -1;
}

/* Stores the value of the option `word`, which follows "=" or is the next argument. Returns the exit code. */
static int parse_option(Parser *parser, const char *word)
{
    int index = find_option(parser->command, word);
    if (index < 0)
        return fail_unknown_option(parser, word);
    const CliOption *option = &parser->command->options[index];
    if (parser->seen[index] && option->kind != CLI_LIST)
        return cli_fail_usage(parser->command, "--%s: given twice", option->name);
    parser->seen[index] = true;
    const char *value = strncmp(word, "--", 2) == 0 ? strchr(word, '=') : NULL;
    if (option->kind == CLI_FLAG)
        return value ? cli_fail_usage(parser->command, "--%s: takes no value", option->name)
                     : store_value(parser, option, NULL);
    if (value)
        return store_value(parser, option, value + 1);
    if (parser->next == parser->argc)
        return cli_fail_usage(parser->command, "--%s: expected %s after it", option->name,
                              option->value);
    return store_value(parser, option, parser->argv[parser->next++]);
}

/* Checks the number of operands. Returns the exit code, after a message if it is wrong. */
static int check_operands(const CliCommand *command, const CliList *operands)
{
    if (operands->count < command->operands_min)
        return cli_fail_usage(command, "expected %s", command->operands);
    if (operands->count > command->operands_max)
        return cli_fail_usage(command, "unexpected argument '%s'",
                              operands->item[command->operands_max]);
    return CLI_OK;
}

int cli_run_command(const CliCommand *command, int argc, char **argv)
{
    static CliList operands;
    Parser parser = {.command = command, .argc = argc, .next = 1, .argv = argv};
    bool options = true; /* false after "--", which makes all that follows operands */
    int code = CLI_OK;
    while (parser.next < argc && code == CLI_OK) {
        const char *word = argv[parser.next++];
        if (options && strcmp(word, "--") == 0) {
            options = false;
        } else if (options && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)) {
            cli_print_help(command);
            return CLI_OK;
        } else if (options && word[0] == '-' && word[1] != '\0') {
            code = parse_option(&parser, word);
        } else {
            cli_list_add(&operands, word);
        }
    }
    if (code == CLI_OK)
        code = check_operands(command, &operands);
    return code == CLI_OK ? command->main(&operands) : code;
}

/* ---- help ---- */

enum { HELP_COLUMN = 28 }; /* column at which the texts of options begin, from 0 */

void cli_print_option(const char *name, char letter, const char *value, const char *help)
{
    char left[64];
    int n = letter ? snprintf(left, sizeof left, "  -%c, --%s", letter, name)
                   : snprintf(left, sizeof left, "  --%s", name);
    if (value)
        snprintf(left + n, sizeof left - (size_t)n, " %s", value);
    printf("%-*s", HELP_COLUMN, left);
    if (strlen(left) >= HELP_COLUMN)
        printf("\n%*s", HELP_COLUMN, "");
    for (; *help; help++) {
        putchar(*help);
        if (*help == '\n')
            printf("%*s", HELP_COLUMN, "");
    }
    putchar('\n');
}

void cli_print_help(const CliCommand *command)
{
    printf("usage: talus %s %s%s[options]\n\n%s\n\noptions:\n", command->name, command->operands,
           command->operands[0] ? " " : "", command->summary);
    for (int i = 0; i < command->option_count; i++) {
        const CliOption *o = &command->options[i];
        cli_print_option(o->name, o->letter, o->value, o->help);
    }
    cli_print_option("help", 'h', NULL, "this text");
    if (command->details[0])
        printf("\n%s", command->details);
}

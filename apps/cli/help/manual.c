/* cli/help/manual.c - manual pages, in the macros of man(7), from the tables of commands and options. */
#include "cli/help/help.h"

#include "base/status.h"
#include "io/file/file.h"

#include <stdio.h>
#include <string.h>

/* ---- text ---- */

/* Prints a text, whose lines must not be taken for requests and whose dashes are those of options. */
static void print_text(TalusFile *out, const char *text)
{
    bool starts_line = true;
    for (; *text; text++) {
        if (starts_line && (*text == '.' || *text == '\''))
            talus_file_print(out, "\\&");
        if (*text == '-')
            talus_file_print(out, "\\-");
        else if (*text == '\\')
            talus_file_print(out, "\\e");
        else
            talus_file_put(out, text, 1);
        starts_line = *text == '\n';
    }
}

/* Prints a text of several lines, as they are. */
static void print_lines(TalusFile *out, const char *text)
{
    talus_file_print(out, ".nf\n");
    print_text(out, text);
    talus_file_print(out, "%s.fi\n", text[0] && text[strlen(text) - 1] == '\n' ? "" : "\n");
}

static void print_option(TalusFile *out, const char *name, char letter, const char *value,
                         const char *text)
{
    talus_file_print(out, ".TP\n.B ");
    if (letter)
        talus_file_print(out, "\\-%c, ", letter);
    talus_file_print(out, "\\-\\-");
    print_text(out, name);
    if (value) {
        talus_file_print(out, " \\fI");
        print_text(out, value);
        talus_file_print(out, "\\fR");
    }
    talus_file_print(out, "\n");
    print_text(out, text);
    talus_file_print(out, "\n");
}

/* Prints the title, name and synopsis of a page. */
static void print_head(TalusFile *out, const char *page, const char *summary, const char *synopsis)
{
    talus_file_print(out, ".TH ");
    for (const char *c = page; *c; c++)
        talus_file_print(out, "%c", *c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
    talus_file_print(out, " 1 \"\" \"talus %s\" \"Talus\"\n.SH NAME\n", talus_version());
    print_text(out, page);
    talus_file_print(out, " \\- ");
    print_text(out, summary);
    talus_file_print(out, "\n.SH SYNOPSIS\n.B ");
    print_text(out, synopsis);
    talus_file_print(out, "\n");
}

static void print_exit_status(TalusFile *out)
{
    talus_file_print(
        out,
        ".SH EXIT STATUS\n0 success, 1 failure, 2 wrong usage, 128 + N stopped by signal N.\n");
}

/* ---- pages ---- */

static void print_overview(TalusFile *out, const CliCommand *const *commands)
{
    print_head(out, "talus", "large systems of rigid bodies in frictional contact",
               "talus COMMAND [arguments]");
    talus_file_print(
        out,
        ".SH DESCRIPTION\nEach command has a page of its own, such as\n.BR talus\\-run (1).\n");
    talus_file_print(out,
                     "To begin with: talus run hourglass \\-\\-out out/hourglass\n.SH COMMANDS\n");
    for (int i = 0; commands[i]; i++) {
        talus_file_print(out, ".TP\n.B ");
        print_text(out, commands[i]->name);
        talus_file_print(out, "\n");
        print_text(out, commands[i]->summary);
        talus_file_print(out, "\n");
    }
    talus_file_print(out, ".SH OPTIONS\n");
    print_option(out, "version", 0, NULL, "the version of the program");
    print_option(out, "help", 'h', NULL, "the commands; after a command, that command's help");
    print_exit_status(out);
}

static void print_command(TalusFile *out, const CliCommand *command)
{
    char page[64], synopsis[256];
    snprintf(page, sizeof page, "talus-%s", command->name);
    snprintf(synopsis, sizeof synopsis, "talus %s %s%s[options]", command->name, command->operands,
             command->operands[0] ? " " : "");
    print_head(out, page, command->summary, synopsis);
    talus_file_print(out, ".SH OPTIONS\n");
    for (int i = 0; i < command->option_count; i++) {
        const CliOption *o = &command->options[i];
        print_option(out, o->name, o->letter, o->value, o->help);
    }
    print_option(out, "help", 'h', NULL, "the help of this command");
    if (command->details[0]) {
        talus_file_print(out, ".SH NOTES\n");
        print_lines(out, command->details);
    }
    print_exit_status(out);
    talus_file_print(out, ".SH SEE ALSO\n.BR talus (1)\n");
}

/* Creates the file of a page; name "": talus.1. */
static TalusStatus create_page(const char *dir, const char *name, TalusFile **out)
{
    return cli_create_file(out, "%s/talus%s%s.1", dir, name[0] ? "-" : "", name);
}

static TalusStatus write_overview(const char *dir, const CliCommand *const *commands)
{
    TalusFile *file;
    TALUS_TRY(create_page(dir, "", &file));
    print_overview(file, commands);
    return talus_file_commit(file);
}

static TalusStatus write_command(const char *dir, const CliCommand *command)
{
    TalusFile *file;
    TALUS_TRY(create_page(dir, command->name, &file));
    print_command(file, command);
    return talus_file_commit(file);
}

int help_write_manual(const CliCommand *const *commands, const char *dir)
{
    TalusStatus status = talus_make_directory(dir);
    TALUS_THEN(status, write_overview(dir, commands));
    for (int i = 0; commands[i]; i++)
        TALUS_THEN(status, write_command(dir, commands[i]));
    return status == TALUS_OK ? CLI_OK : cli_fail_library();
}

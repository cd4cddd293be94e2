/* cli.h - what the commands share: option tables, messages, finding scenes.
 *
 * A command is a row: its name, its texts, its options and its function. One table of options feeds
 * the parser, the help text and the suggestions for misspelt ones. */
#ifndef TALUS_CLI_H
#define TALUS_CLI_H

#include <talus/talus.h>

#if defined(__GNUC__)
#define CLI_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define CLI_PRINTF(text, first)
#endif

enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2 };
enum { CLI_LIST_MAX = 256, CLI_PATH_MAX = 4096 };

typedef struct CliList {
    const char *item[CLI_LIST_MAX];
    int count;
} CliList;

typedef enum CliKind {
    CLI_FLAG,  /* bool */
    CLI_TEXT,  /* const char *; NULL: not given */
    CLI_REAL,  /* double, finite and not negative; NAN: not given */
    CLI_COUNT, /* int, not negative; -1: not given */
    CLI_LIST   /* CliList; may be given again and again */
} CliKind;

typedef struct CliOption {
    const char *name; /* without the dashes */
    char letter;      /* of its short form; 0: none */
    CliKind kind;
    size_t offset;     /* of the field in the command's options */
    const char *value; /* what the help calls its value; NULL for a flag */
    const char *help;  /* lines */
} CliOption;

typedef struct CliCommand {
    const char *name, *summary;
    const char *operands; /* for the usage line, such as "SCENE" */
    int operands_min, operands_max;
    const char *details; /* whole lines after the options; may be "" */
    const CliOption *options;
    int option_count;
    int (*main)(int argc, char **argv); /* argv[0] is the command's name; returns the exit code */
} CliCommand;

/* The two members of a table of options. */
#define CLI_OPTIONS(table) .options = (table), .option_count = sizeof(table) / sizeof *(table)

extern const CliCommand cli_run, cli_view, cli_render, cli_export, cli_solve, cli_verify, cli_bench,
    cli_list, cli_info, cli_extract;

/* Writes the values given into `values` (whose unset fields keep their preset) and the rest into
 * `operands`. False: the command is to end with *code (help was asked for, or wrong usage). */
bool cli_parse(const CliCommand *command, int argc, char **argv, void *values, CliList *operands,
               int *code);

void cli_print_help(const CliCommand *command);
void cli_print_option(const char *name, char letter, const char *value, const char *help);

/* "talus: MESSAGE" on standard error; the return value is the exit code. */
int cli_fail(const char *format, ...) CLI_PRINTF(1, 2);
/* The same for wrong usage of `command`, with a pointer to its help. */
int cli_usage(const CliCommand *command, const char *format, ...) CLI_PRINTF(2, 3);
/* Reports talus_error(). */
int cli_fail_library(void);
/* The same where the error may lie in what the command line chose, such as a solver's parameter or --set: that is
 * wrong usage. What lies in the file of a scene is not. */
int cli_fail_choice(const CliCommand *command);
/* The pointer, unless it is NULL: then there is no memory, and the program ends. */
void *cli_must(void *memory);
/* Prints the library's warnings to standard error, each kind once. */
void cli_show_warnings(void);

/* The file of a scene: a path, or the name of one that ships. False with a message if there is
 * none; a misspelt name is told the nearest. */
bool cli_find_scene(const char *name, char *path, size_t size);
/* The same without a message. */
bool cli_has_scene(const char *name, char *path, size_t size);
/* Whether two paths lead to one directory. */
bool cli_same_dir(const char *a, const char *b);
/* Calls `fn` for every scene that ships, by name. */
void cli_each_scene(void (*fn)(void *user, const char *name, const char *path), void *user);

/* Whether the file begins with these characters, 8 at most. */
bool cli_starts_with(const char *path, const char *magic);
/* Whether a file of this name is to be written as FCLIB. */
bool cli_wants_fclib(const char *path);
/* Whether the file is a contact problem of either kind. */
bool cli_is_problem(const char *path);
/* True with a message where a contact problem stands for a scene, or a scene for a problem. */
bool cli_refuse_problem(const char *path);
bool cli_refuse_scene(const char *name);

/* Contact velocities to compare with, of an FCLIB file: /solution for the exact law; for the relaxation
 * /ccp_solution, or else /solution. */
TalusStatus cli_read_reference(const char *path, bool exact, const TalusFclib *problem,
                               TalusFclibPoint *out);

/* CLI_OK if NULL or a solver with its parameters; else a message, and the exit code. */
int cli_check_solver(const CliCommand *command, const char *spec);
/* Reports talus_error(), why a solver does not take the problem, and names those that do. */
int cli_fail_unsupported(const TalusProblem *problem);

/* CLI_OK for NULL and for a backend that can be used here; else a code and a message. */
int cli_check_backend(const CliCommand *command, const char *name);

/* The value of --threads (-1: not given, 0: one per processor) as TalusSceneChoice has it. */
int cli_threads(int option);

/* From now on SIGINT and SIGTERM are requests to stop: cli_stop_signal is their number, 0 before. A
 * second one, a second later, ends the program at once. */
void cli_catch_signals(void);
int cli_stop_signal(void);
const char *cli_stop_name(void);

/* The steps from the start up to `time`, the last of which may be shortened; `time` may be a multiple of the step
 * up to rounding. */
int64_t cli_steps_until(double time, double step);

#endif

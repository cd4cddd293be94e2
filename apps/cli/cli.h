/* cli.h - shared by all commands: option tables, messages, search for scenes, kinds of files, signals.
 *
 * A command is a table row with name, texts, options and function. One table of options feeds the parser, the help
 * text and the suggestions for misspelt options. */
#ifndef TALUS_CLI_H
#define TALUS_CLI_H

#include <stdio.h>
#include <talus/talus.h>

#if defined(__GNUC__)
#define CLI_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define CLI_PRINTF(text, first)
#endif

/* Exit codes; CLI_USAGE: wrong arguments. */
enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2 };
enum { CLI_PATH_MAX = 4096 }; /* bytes of a path */

typedef struct CliList {
    const char **item; /* grows with every cli_list_add; the lists of options are never freed */
    int count;
} CliList;

typedef enum CliKind {
    CLI_FLAG,  /* bool */
    CLI_TEXT,  /* const char *; NULL: not given */
    CLI_REAL,  /* double, finite and not negative; NAN: not given */
    CLI_COUNT, /* int, not negative; -1: not given */
    CLI_LIST   /* CliList; the option may be repeated */
} CliKind;

typedef struct CliOption {
    const char *name; /* without the dashes */
    char letter;      /* short form; 0: none */
    CliKind kind;
    void *field;       /* variable that receives the value; holds the default before */
    const char *value; /* name of the value in the help; NULL for a flag */
    const char *help;  /* one or more lines */
} CliOption;

typedef struct CliCommand {
    const char *name, *summary;
    const char *operands;           /* names of the operands in the usage line, such as "SCENE" */
    int operands_min, operands_max; /* INT_MAX: any number */
    const char *details;            /* whole lines after the options; may be "" */
    const CliOption *options;
    int option_count;
    int (*main)(
        const CliList *operands); /* runs after the options are parsed; returns the exit code */
} CliCommand;

/* Initialises the two members of CliCommand that describe its options. */
#define CLI_OPTIONS(table) .options = (table), .option_count = sizeof(table) / sizeof *(table)

extern const CliCommand cli_run, cli_view, cli_render, cli_export, cli_solve, cli_verify, cli_bench,
    cli_list, cli_info, cli_extract, cli_advise, cli_reproduce, cli_measure, cli_validate,
    cli_sweep;

/* Parses the arguments, argv[0] being the command's name, and runs the command unless help was requested or usage was
 * wrong. Returns the exit code. */
int cli_run_command(const CliCommand *command, int argc, char **argv);

/* Appends an item to the list, which keeps the pointer; ends the program if there is no memory. */
void cli_list_add(CliList *list, const char *item);

void cli_print_help(const CliCommand *command);
/* Prints an option's line of a help text; letter 0 and value NULL: none. */
void cli_print_option(const char *name, char letter, const char *value, const char *help);

/* Prints "talus: MESSAGE" to standard error and returns CLI_FAILED. */
int cli_fail(const char *format, ...) CLI_PRINTF(1, 2);
/* Returns "; did you mean 'NAME'?" with the name nearest to `word`, valid until the next call, or `otherwise` if none
 * is near. */
const char *cli_did_you_mean(const char *word, const char *const *names, int count,
                             const char *otherwise);
/* As cli_fail, for wrong usage of `command`: refers to its help and returns CLI_USAGE. */
int cli_fail_usage(const CliCommand *command, const char *format, ...) CLI_PRINTF(2, 3);
/* Prints talus_error() and returns CLI_FAILED. */
int cli_fail_library(void);
/* Prints talus_error(). Returns CLI_USAGE if the error is in a choice of the command line, such as a solver parameter
 * or --set, and CLI_FAILED otherwise, as for an error in a scene file. */
int cli_fail_by_domain(const CliCommand *command);
/* Returns the pointer; ends the program with a message if it is NULL (out of memory). */
void *cli_check_memory(void *memory);
/* From now on the library's warnings are printed to standard error; of several warnings with the same id, such as
 * "step.missed", only the first. */
void cli_enable_warnings(void);

/* Writes the path of a scene's file; `name` is a path, or the name of a scene that ships or is in the folder `scenes`.
 * Returns false if there is no such file, after a message that suggests the nearest name. */
bool cli_find_scene(const char *name, char *path, size_t size);
/* As cli_find_scene, also writes the path, but prints no message. */
bool cli_has_scene(const char *name, char *path, size_t size);
/* True if both paths exist and lead to the same directory (or file). */
bool cli_same_dir(const char *a, const char *b);
/* Calls `fn` for every scene that has a name for cli_find_scene, in order of name. */
void cli_visit_scenes(void (*fn)(void *user, const char *name, const char *path), void *user);

struct TalusFile;
/* Creates an output file whose path is the formatted text (page.c); the caller ends it with talus_file_commit. */
TalusStatus cli_create_file(struct TalusFile **out, const char *format, ...) CLI_PRINTF(2, 3);

bool cli_ends_with(const char *text, const char *end);
/* True if the name ends with ".stl" or ".obj", in small or capital letters. */
bool cli_is_surface_name(const char *path);
/* True if the content of the file at `path` begins with `magic`, at most 8 characters. */
bool cli_file_starts_with(const char *path, const char *magic);
/* True if a file of this name is to be written as FCLIB: it ends with ".hdf5" or ".h5". */
bool cli_is_fclib_name(const char *path);
/* True if the file is a contact problem, as a problem file or as FCLIB. */
bool cli_is_problem(const char *path);
/* cli_refuse_problem: true, after a message, if the file is a contact problem where a scene is expected.
 * cli_refuse_scene: true, after a message, if the name is a scene where a contact problem is expected. */
bool cli_refuse_problem(const char *path);
bool cli_refuse_scene(const char *name);

/* Prints in which form of FCLIB the problem was written to `path` and, if contacts have compliance, why the form is
 * local; `prefix` starts each line. */
void cli_print_fclib_form(FILE *out, const char *prefix, const char *path, const TalusFclib *fclib,
                          TalusProblem *problem);

/* Reads reference contact velocities from a group of an FCLIB file: /solution if `exact` (Coulomb's law); otherwise
 * /ccp_solution or, if the file has no such group, /solution. Release *out with talus_fclib_free_point. */
TalusStatus cli_read_reference(const char *path, bool exact, const TalusFclib *problem,
                               TalusFclibPoint *out);

/* Returns CLI_OK if `spec` is NULL or a valid solver; otherwise prints a message and returns the exit code. */
int cli_check_solver(const CliCommand *command, const char *spec);
/* True if `spec` is a valid solver and supports the problem; else talus_error() says why not. */
bool cli_supports(const char *spec, const TalusProblem *problem);
/* After cli_supports has returned false: prints the reason, talus_error(), and the names of solvers that do support
 * the problem. Returns CLI_FAILED. */
int cli_fail_unsupported(const TalusProblem *problem);

/* Returns CLI_OK if `name` is NULL or a backend usable here; otherwise prints a message and returns the exit code. */
int cli_check_backend(const CliCommand *command, const char *name);

/* Converts the value of --threads (-1: not given, 0: one per processor) to that of TalusSceneChoice.threads (0: the
 * scene's number, -1: one per processor). */
int cli_convert_threads(int option);

/* From now on SIGINT and SIGTERM are only noted, for cli_stop_signal; another signal, more than a second after the
 * first, ends the program at once. Also ignores SIGXFSZ, so that a write above the file-size limit fails with an
 * error. */
void cli_catch_signals(void);
/* Returns the number of the signal that was noted first; 0: none yet. */
int cli_stop_signal(void);
/* Returns the name of that signal, "SIGINT" or "SIGTERM"; there must be one. */
const char *cli_stop_name(void);

/* Returns the number of steps of length `step` until `time`: time / step rounded up, where a quotient that exceeds an
 * integer by at most 1e-6, as rounding does, counts as that integer. At most 2^62. */
int64_t cli_steps_until(double time, double step);

#endif

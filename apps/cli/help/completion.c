/* cli/help/completion.c - completion in bash, zsh and fish, from the tables of commands, options, scenes, solvers, backends,
 * experiments and cases. A script of words alone: it starts no program when a key is pressed. */
#include "cli/help/help.h"
#include "lab/experiments/experiment.h"
#include "lab/experiments/worlds.h"
#include "lab/validate/validate.h"

#include <stdio.h>
#include <string.h>

static const CliCommand *const *commands; /* up to a NULL */

/* ---- words ---- */

/* Receives one word. */
typedef void WordReceiver(const char *word);

static void scene_word(void *receive, const char *name, const char *path)
{
    WordReceiver *const *fn = receive;
    (void)path;
    (*fn)(name);
}

static void scene_words(WordReceiver *receive)
{
    cli_visit_scenes(scene_word, &receive);
}

static void solver_words(WordReceiver *receive)
{
    for (int i = 0; i < talus_solver_count(); i++)
        receive(talus_solver_row(i).name);
}

static void backend_words(WordReceiver *receive)
{
    for (int i = 0; i < talus_backend_count(); i++)
        receive(talus_backend_row(i).name);
}

static void law_words(WordReceiver *receive)
{
    for (int i = 0; i < TALUS_LAWS; i++)
        receive(talus_law_name((TalusFrictionLaw)i));
}

static void section_words(WordReceiver *receive)
{
    for (int i = 0; i < TALUS_SECTION_JOINT; i++)
        receive(talus_section_name((TalusSection)i));
}

static void experiment_words(WordReceiver *receive)
{
    for (int i = 0; i < experiment_count(); i++)
        receive(experiment_get(i)->name);
    receive("gpu");
    for (int i = 0; worlds_get_row(i); i++)
        receive(worlds_get_row(i)->name);
}

static void case_words(WordReceiver *receive)
{
    for (int i = 0; i < validate_case_count(); i++)
        receive(validate_get_case(i)->name);
}

static void command_words(WordReceiver *receive)
{
    for (int i = 0; commands[i]; i++)
        receive(commands[i]->name);
}

static void shell_words(WordReceiver *receive)
{
    for (int i = 0; help_shell(i); i++)
        receive(help_shell(i));
}

/* Words for the value of an option of this name, or for an operand of a command. Where a file may stand as well, shells
 * complete files, too. */
typedef struct Words {
    const char *option; /* name; NULL: operands */
    const char *command,
        *operand; /* of operands: a command, or an operand's text; the other is NULL */
    void (*list)(WordReceiver *receive);
    bool or_files;
} Words;

static const Words words[] = {
    {.option = "solver", .list = solver_words},
    {.option = "backend", .list = backend_words},
    {.option = "law", .list = law_words},
    {.option = "section", .list = section_words},
    {.option = "completion", .list = shell_words},
    {.command = "bench", .list = experiment_words},
    {.command = "validate", .list = case_words},
    {.command = "help", .list = command_words},
    {.command = "info", .list = scene_words, .or_files = true},
    {.operand = "SCENE", .list = scene_words, .or_files = true},
    {.operand = "DIR|FRAMES|SCENE", .list = scene_words, .or_files = true},
};
enum { WORDS = sizeof words / sizeof *words };

/* Returns the words for the values of an option; NULL: there are none. */
static const Words *find_values(const CliOption *option)
{
    for (int i = 0; i < WORDS; i++)
        if (words[i].option && strcmp(words[i].option, option->name) == 0)
            return &words[i];
    return NULL;
}

/* The same for the operands of a command. */
static const Words *find_operands(const CliCommand *command)
{
    for (int i = 0; i < WORDS; i++)
        if (!words[i].option &&
            ((words[i].command && strcmp(words[i].command, command->name) == 0) ||
             (words[i].operand && strcmp(words[i].operand, command->operands) == 0)))
            return &words[i];
    return NULL;
}

/* True if the operands are one of the words that their text names, as those of `talus list`. */
static bool names_its_operands(const CliCommand *command)
{
    return strchr(command->operands, '|') && !find_operands(command);
}

/* Prints the words with a blank behind each. */
static void print_word(const char *word)
{
    printf("%s ", word);
}

static void print_operand_words(const CliCommand *command)
{
    const Words *of = find_operands(command);
    if (of)
        of->list(print_word);
    for (const char *c = command->operands; names_its_operands(command) && *c; c++)
        putchar(*c == '|' ? ' ' : *c);
}

static bool takes_files(const CliCommand *command)
{
    const Words *of = find_operands(command);
    return of ? of->or_files : !names_its_operands(command);
}

/* What the value of an option is by the name that it has in the help. */
typedef enum ValueKind { VALUE_NONE, VALUE_WORDS, VALUE_FOLDER, VALUE_FILE, VALUE_OTHER } ValueKind;

static ValueKind find_kind(const CliOption *option)
{
    static const char *const files[] = {"FILE", "PAGE", "OUT"};
    if (!option->value)
        return VALUE_NONE;
    if (find_values(option))
        return VALUE_WORDS;
    if (strncmp(option->value, "DIR", 3) == 0)
        return VALUE_FOLDER;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strncmp(option->value, files[i], strlen(files[i])) == 0)
            return VALUE_FILE;
    return VALUE_OTHER;
}

/* Prints the first line of a text, at most to its first semicolon, for a shell that quotes by '; `also`: characters that get
 * a backslash. */
static void print_quoted(const char *text, const char *also)
{
    for (; *text && *text != '\n' && *text != ';'; text++) {
        if (*text == '\'')
            fputs("'\\''", stdout);
        else if (*text == '\\')
            fputs("\\\\", stdout);
        else {
            if (strchr(also, *text))
                putchar('\\');
            putchar(*text);
        }
    }
}

/* ---- bash ---- */

/* Prints the line of the `case` for the values of an option. */
static void print_bash_option(const CliCommand *command, const CliOption *option)
{
    if (!option->value)
        return;
    printf("    %s:--%s) ", command->name, option->name);
    switch (find_kind(option)) {
    case VALUE_WORDS:
        printf("COMPREPLY=($(compgen -W '");
        find_values(option)->list(print_word);
        printf("' -- \"$word\")); return ;;\n");
        break;
    case VALUE_FOLDER:
    case VALUE_FILE:
        printf("compopt -o filenames; COMPREPLY=($(compgen -%c -- \"$word\")); return ;;\n",
               find_kind(option) == VALUE_FOLDER ? 'd' : 'f');
        break;
    default: printf("return ;;\n");
    }
}

static void print_bash_command(const CliCommand *command)
{
    printf("    %s) options='", command->name);
    for (int k = 0; k < command->option_count; k++)
        printf("--%s ", command->options[k].name);
    printf("--help' operands='");
    print_operand_words(command);
    printf("' files=%d ;;\n", takes_files(command));
}

static void print_bash(void)
{
    printf("# bash completion of talus\n_talus()\n{\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
           "    local options= operands= files=0\n"
           "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        COMPREPLY=($(compgen -W '");
    command_words(print_word);
    printf(
        "--version --help' -- \"$word\"))\n        return\n    fi\n    case ${COMP_WORDS[1]}:$before in\n");
    for (int i = 0; commands[i]; i++)
        for (int k = 0; k < commands[i]->option_count; k++)
            print_bash_option(commands[i], &commands[i]->options[k]);
    printf("    esac\n    case ${COMP_WORDS[1]} in\n");
    for (int i = 0; commands[i]; i++)
        print_bash_command(commands[i]);
    printf("    esac\n    case $word in\n"
           "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) ;;\n"
           "    *)\n        COMPREPLY=($(compgen -W \"$operands\" -- \"$word\"))\n"
           "        if [ \"$files\" -eq 1 ]; then\n            compopt -o filenames\n"
           "            COMPREPLY+=($(compgen -f -- \"$word\"))\n        fi ;;\n    esac\n}\n"
           "complete -F _talus talus\n");
}

/* ---- zsh ---- */

static void print_zsh_words(void (*list)(WordReceiver *receive))
{
    putchar('(');
    list(print_word);
    putchar(')');
}

static void print_zsh_option(const CliOption *o)
{
    printf("            %s'--%s[", o->kind == CLI_LIST ? "\\*" : "", o->name);
    print_quoted(o->help, "[]");
    putchar(']');
    if (o->value) {
        putchar(':');
        print_quoted(o->value, ":");
        putchar(':');
        if (find_kind(o) == VALUE_WORDS)
            print_zsh_words(find_values(o)->list);
        else if (find_kind(o) != VALUE_OTHER)
            printf(find_kind(o) == VALUE_FOLDER ? "_files -/" : "_files");
    }
    printf("' \\\n");
}

static void print_zsh_command(const CliCommand *command)
{
    printf("    %s)\n        _arguments \\\n", command->name);
    for (int k = 0; k < command->option_count; k++)
        print_zsh_option(&command->options[k]);
    printf("            '--help[this help]' \\\n            '*:operand:{ compadd -- ");
    print_operand_words(command);
    printf("%s }' ;;\n", takes_files(command) ? "; _files" : "");
}

static void print_zsh(void)
{
    printf("#compdef talus\n# zsh completion of talus\n_talus() {\n    local -a commands\n"
           "    commands=(\n");
    for (int i = 0; commands[i]; i++) {
        printf("        '%s:", commands[i]->name);
        print_quoted(commands[i]->summary, ":");
        printf("'\n");
    }
    printf("    )\n    if (( CURRENT == 2 )); then\n        _describe command commands\n"
           "        return\n    fi\n    local command=$words[2]\n    shift words\n"
           "    (( CURRENT-- ))\n    case $command in\n");
    for (int i = 0; commands[i]; i++)
        print_zsh_command(commands[i]);
    printf("    esac\n}\n_talus \"$@\"\n");
}

/* ---- fish ---- */

static void print_fish_option(const CliCommand *command, const CliOption *o)
{
    printf("complete -c talus -n '__fish_seen_subcommand_from %s' -l %s ", command->name, o->name);
    if (o->letter)
        printf("-s %c ", o->letter);
    switch (find_kind(o)) {
    case VALUE_NONE: break;
    case VALUE_WORDS:
        printf("-x -a '");
        find_values(o)->list(print_word);
        printf("' ");
        break;
    case VALUE_FOLDER: printf("-x -a '(__fish_complete_directories)' "); break;
    default: printf(find_kind(o) == VALUE_FILE ? "-r " : "-x ");
    }
    printf("-d '");
    print_quoted(o->help, "");
    printf("'\n");
}

static void print_fish(void)
{
    printf("# fish completion of talus\ncomplete -c talus -f -n __fish_use_subcommand\n");
    for (int i = 0; commands[i]; i++) {
        const CliCommand *command = commands[i];
        printf("complete -c talus -n __fish_use_subcommand -a %s -d '", command->name);
        print_quoted(command->summary, "");
        printf("'\n");
        for (int k = 0; k < command->option_count; k++)
            print_fish_option(command, &command->options[k]);
        printf("complete -c talus -n '__fish_seen_subcommand_from %s' %s-a '", command->name,
               takes_files(command) ? "" : "-f ");
        print_operand_words(command);
        printf("'\n");
    }
}

/* ---- shells ---- */

static const struct {
    const char *name;
    void (*print)(void);
} shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};

const char *help_shell(int index)
{
    return index < (int)(sizeof shells / sizeof *shells) ? shells[index].name : NULL;
}

bool help_print_completion(const CliCommand *const *of, const char *shell)
{
    commands = of;
    for (int i = 0; help_shell(i); i++)
        if (strcmp(help_shell(i), shell) == 0) {
            shells[i].print();
            return true;
        }
    return false;
}

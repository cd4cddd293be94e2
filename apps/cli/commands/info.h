/* cli/commands/info.h - the parts of `talus info`. */
#ifndef TALUS_CLI_INFO_H
#define TALUS_CLI_INFO_H

#include "cli/cli.h"

/* Prints a line with a name and the formatted text in two columns. */
void info_print_fact(const char *name, const char *format, ...) CLI_PRINTF(2, 3);
/* As info_print_fact with the first line of `text` that is not blank, without leading blanks, cut to 79 bytes, control
 * characters replaced by spaces. Prints nothing if there is no such line or `text` is NULL. */
void info_print_line(const char *name, const char *text);

/* Prints a description of a checkpoint. Returns the exit code, as do info_print_frames and info_print_surface. */
int info_print_checkpoint(const char *path);
/* Prints a description of a frames file; `alone`: with its path, title and scene, as it is not part of a run. */
int info_print_frames(const char *path, bool alone);
/* Prints a description of a run's directory and writes the exit code. Returns false, with nothing printed or written,
 * if `dir` has neither steps.csv nor frames.talus. */
bool info_print_run(const char *dir, int *code);

/* Prints a description of an STL or OBJ file. */
int info_print_surface(const char *path);

/* Prints bounds, sizes, masses and overlaps of a world before its first step (info_scene.c). */
void info_print_start(const TalusWorld *world);

#endif

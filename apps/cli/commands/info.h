/* cli/commands/info.h - the parts of `talus info`. */
#ifndef TALUS_CLI_INFO_H
#define TALUS_CLI_INFO_H

#include "cli/cli.h"

/* Prints "  name             text". */
void info_fact(const char *name, const char *format, ...) CLI_PRINTF(2, 3);
/* Prints the first nonempty line of `text`, if any (NULL: none), without control characters. */
void info_line(const char *name, const char *text);

int info_checkpoint(const char *path);
/* Describes a frames file, with its name and title if it is `alone` and not part of a run. */
int info_frames(const char *path, bool alone);
/* Describes a run's directory. Returns false, without output, if `dir` is not one. */
bool info_run(const char *dir, int *code);

int info_surface(const char *path);

/* Prints bounds, sizes, masses and overlaps of a world before its first step (info_scene.c). */
void info_start(const TalusWorld *world);

#endif

/* cli/commands/info.h - the parts of `talus info`. */
#ifndef TALUS_CLI_INFO_H
#define TALUS_CLI_INFO_H

#include "cli/cli.h"

/* "  name             text" */
void info_fact(const char *name, const char *format, ...) CLI_PRINTF(2, 3);
/* Text of a file may hold anything: the first line that has something, no control characters. NULL or
 * an empty one is left out. */
void info_line(const char *name, const char *text);

int info_checkpoint(const char *path);
/* A frames file. */
int info_frames(const char *path);
/* A run's directory. False: it is none, and nothing was said. */
bool info_run(const char *dir, int *code);

/* An STL or OBJ file, known by its suffix. */
bool info_is_surface(const char *path);
int info_surface(const char *path);

/* Bounds, sizes, masses and overlaps of a world that has not begun (info_scene.c). */
void info_start(const TalusWorld *world);

#endif

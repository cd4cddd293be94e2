/* cli/commands/render_film.h - talus render --film: draws many frames of a run into one film, or into numbered pictures. */
#ifndef TALUS_CLI_RENDER_FILM_H
#define TALUS_CLI_RENDER_FILM_H

#include "cli/commands/convert.h"

#include "draw/draw.h"

typedef struct FilmDef {
    const char *output; /* FILE.png, FILE.mp4, FILE.webm, or DIR/ for numbered pictures */
    FrameRange range;
    double rate; /* frames per second */
    int threads;
} FilmDef;

/* Returns CLI_OK, or CLI_USAGE after a message if `output` names no kind of film, or the pictures do not suit it. */
int film_check(const CliCommand *command, const FilmDef *film, const TalusDrawDef *def);

/* Draws the frames of the file `path`. Camera and colour scale hold for the whole film: they are made to suit all of its
 * frames, unless `def` sets them. Returns the exit code. */
int film_draw(const char *path, const FilmDef *film, const TalusDrawDef *def);

#endif

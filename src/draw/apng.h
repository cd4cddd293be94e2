/* draw/apng.h - animated PNG files (third edition of PNG, chunks acTL, fcTL, fdAT): films that browsers and picture
 * viewers show. The first frame is the picture for readers that do not know about animation. */
#ifndef TALUS_DRAW_APNG_H
#define TALUS_DRAW_APNG_H

#include "draw/image.h"

typedef struct TalusApng TalusApng;

typedef struct TalusApngDef {
    int width, height, channels; /* of every frame */
    int frames;                  /* exactly as many must be added */
    double rate;                 /* frames per second, TALUS_APNG_RATE_MIN to TALUS_APNG_RATE_MAX */
} TalusApngDef;

#define TALUS_APNG_RATE_MIN 0.02
#define TALUS_APNG_RATE_MAX 1000.0

/* Begins a file that plays again and again. It appears at `path` when it is finished, whole. */
TalusStatus talus_apng_create(const char *path, const TalusApngDef *def, TalusApng **out);
/* Adds a frame. The file holds the rectangle of the pixels that differ from the frame before. */
TalusStatus talus_apng_add(TalusApng *apng, const TalusImage *image);
/* Ends the file, and frees `apng`, also on failure. Fails if frames are missing. */
TalusStatus talus_apng_finish(TalusApng *apng);
/* Removes the file and frees `apng`; NULL is allowed. */
void talus_apng_abandon(TalusApng *apng);

#endif

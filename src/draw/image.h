/* draw/image.h - a finished picture, and conversion between linear light and sRGB. */
#ifndef TALUS_DRAW_IMAGE_H
#define TALUS_DRAW_IMAGE_H

#include <talus/base.h>

enum { TALUS_IMAGE_SIDE_MAX = 16384 }; /* largest width or height, pixels */

typedef struct TalusImage {
    int width, height;
    int channels;         /* 3: red, green, blue; 4: and opacity, not premultiplied */
    unsigned char *pixel; /* rows from the top */
} TalusImage;

/* Allocates an image of zeros with sides of 1 to TALUS_IMAGE_SIDE_MAX and 3 or 4 channels; free with talus_image_free.
 * On failure the image is empty. */
TalusStatus talus_image_create(int width, int height, int channels, TalusImage *out);
/* Releases the pixels and zeroes the image; accepts a zeroed one. */
void talus_image_free(TalusImage *image);

/* Returns the linear light, 0 to 1, of an sRGB number 0 to 255. */
float talus_srgb_decode(unsigned number);
/* Returns the sRGB number 0 to 255 of linear light, which is clamped to 0 to 1. */
unsigned char talus_srgb_encode(float light);

#endif

/* draw/image.c - pictures in memory and the sRGB transfer function. */
#include "draw/image.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

TalusStatus talus_image_create(int width, int height, int channels, TalusImage *out)
{
    memset(out, 0, sizeof *out);
    if (width < 1 || height < 1 || width > TALUS_IMAGE_SIDE_MAX || height > TALUS_IMAGE_SIDE_MAX)
        return talus_reject("picture: %dx%d; sides are 1 to %d pixels", width, height,
                            TALUS_IMAGE_SIDE_MAX);
    size_t size = (size_t)width * (size_t)height * (size_t)channels;
    TALUS_TRY(TALUS_ALLOC(out->pixel, size, "picture"));
    out->width = width;
    out->height = height;
    out->channels = channels;
    return TALUS_OK;
}

void talus_image_free(TalusImage *image)
{
    talus_release(image->pixel);
    memset(image, 0, sizeof *image);
}

float talus_srgb_decode(unsigned number)
{
    float x = (float)number / 255.0f;
    return x <= 0.04045f ? x / 12.92f : powf((x + 0.055f) / 1.055f, 2.4f);
}

unsigned char talus_srgb_encode(float light)
{
    float x = fminf(fmaxf(light, 0.0f), 1.0f);
    x = x <= 0.0031308f ? 12.92f * x : 1.055f * powf(x, 1.0f / 2.4f) - 0.055f;
    return (unsigned char)(255.0f * x + 0.5f);
}

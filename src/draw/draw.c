/* draw/draw.c - renders a snapshot to a finished picture: prepares it, exposes it (light.c), converts it to sRGB. */
#include "draw/draw.h"

#include "base/memory.h"
#include "base/pool.h"
#include "base/status.h"
#include "draw/picture.h"
#include "geometry/bounds.h"

#include <math.h>

TalusDrawDef talus_draw_def_default(void)
{
    TalusDrawDef r = {.width = 1600,
                      .height = 1200,
                      .colour = TALUS_COLOUR_SPEED,
                      .low = NAN,
                      .high = NAN,
                      .azimuth = -60.0,
                      .elevation = 18.0,
                      .zoom = 1.0,
                      .container = TALUS_CONTAINER_GHOST};
    return r;
}

/* ---- conversion to sRGB ---- */

/* Arguments of convert_rows. */
typedef struct SrgbConversion {
    const float *light; /* as talus_picture_expose describes it */
    TalusImage *image;
    float background[3]; /* linear light */
} SrgbConversion;

/* Converts rows of linear light to sRGB: with 3 channels over the background, with 4 divided by the opacity. */
static void convert_rows(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const SrgbConversion *d = context;
    size_t width = (size_t)d->image->width;
    int channels = d->image->channels;
    (void)chunk;
    for (size_t k = (size_t)begin * width; k < (size_t)end * width; k++) {
        const float *light = d->light + 4 * k;
        unsigned char *pixel = d->image->pixel + (size_t)channels * k;
        for (int c = 0; c < 3; c++) {
            float x = channels == 3     ? light[c] + (1.0f - light[3]) * d->background[c]
                      : light[3] > 0.0f ? light[c] / light[3]
                                        : 0.0f;
            pixel[c] = talus_srgb_encode(x);
        }
        if (channels == 4)
            pixel[3] = (unsigned char)(255.0f * fminf(light[3], 1.0f) + 0.5f);
    }
}

/* Converts the linear light of all pixels to the image. */
static void convert_to_srgb(const TalusPicture *picture, TalusPool *pool, const float *light,
                            TalusImage *image)
{
    SrgbConversion d = {.light = light, .image = image};
    for (int c = 0; c < 3; c++)
        d.background[c] = talus_srgb_decode(picture->theme->background >> (16 - 8 * c) & 255);
    talus_parallel(pool, image->height, 16, convert_rows, &d);
}

/* ---- rendering ---- */

/* Fails unless the ends of the colour scale that are given are finite and in order. */
static TalusStatus check_range(const TalusDrawDef *def)
{
    double low = isnan(def->low) ? 0.0 : def->low, high = def->high;
    if (isnan(def->low) && isnan(high))
        return TALUS_OK;
    if (!isfinite(low) || !isfinite(high))
        return talus_reject("range %g:%g; expected two finite numbers", low, high);
    return low < high ? TALUS_OK
                      : talus_reject("range %g:%g; the first must be below the second", low, high);
}

/* Fails if zoom, range or angles are invalid. */
static TalusStatus check_draw_def(const TalusDrawDef *def)
{
    if (!(def->zoom > 0.0 && def->zoom <= 1e6))
        return talus_reject("zoom %g; expected a number above 0, a million at most", def->zoom);
    TALUS_TRY(check_range(def));
    if (!isfinite(def->azimuth) || !isfinite(def->elevation))
        return talus_reject("camera: azimuth %g, elevation %g; expected degrees", def->azimuth,
                            def->elevation);
    return TALUS_OK;
}

/* Sets all members of the picture from the snapshot, up to the camera. */
static TalusStatus compose_picture(TalusPicture *picture)
{
    talus_picture_set_axes(picture);
    TALUS_TRY(talus_picture_prepare_shapes(picture));
    talus_picture_set_bounds(picture);
    picture->fixed_solid = talus_container_is_solid(picture);
    TALUS_TRY(talus_picture_set_scale(picture));
    TALUS_TRY(talus_picture_add_bodies(picture));
    if (picture->def->chains)
        TALUS_TRY(talus_picture_add_chains(picture));
    TALUS_TRY(talus_picture_add_container(picture));
    talus_picture_set_camera(picture);
    return TALUS_OK;
}

/* Exposes the picture and converts its light to the image. */
static TalusStatus expose_and_convert(const TalusPicture *picture, TalusPool *pool,
                                      TalusImage *image)
{
    float *light;
    TALUS_TRY(TALUS_ALLOC(light, 4 * (size_t)image->width * (size_t)image->height, "light"));
    TalusStatus status = talus_picture_expose(picture, pool, light);
    if (status == TALUS_OK)
        convert_to_srgb(picture, pool, light, image);
    talus_release(light);
    return status;
}

/* Sets the members of the picture from which bounds and colour scale follow. */
static TalusStatus prepare_to_measure(TalusPicture *picture)
{
    talus_picture_set_axes(picture);
    TALUS_TRY(talus_picture_prepare_shapes(picture));
    talus_picture_set_bounds(picture);
    picture->fixed_solid = talus_container_is_solid(picture);
    TALUS_TRY(talus_picture_set_scale(picture));
    return picture->def->chains ? talus_picture_add_chains(picture) : TALUS_OK;
}

TalusStatus talus_draw_measure(const TalusFramesHead *head, const TalusSnapshot *snapshot,
                               const TalusDrawDef *def, bool first, TalusDrawSpan *span)
{
    TalusPicture picture = {
        .head = head, .snapshot = snapshot, .def = def, .theme = talus_theme_of(def->dark)};
    TALUS_TRY(check_draw_def(def));
    TalusStatus status = prepare_to_measure(&picture);
    if (status == TALUS_OK && first)
        *span = (TalusDrawSpan){picture.bounds, picture.measured_high};
    else if (status == TALUS_OK)
        *span = (TalusDrawSpan){talus_aabb_join(span->room, picture.bounds),
                                fmax(span->high, picture.measured_high)};
    talus_picture_clear(&picture);
    return status;
}

TalusStatus talus_draw(const TalusFramesHead *head, const TalusSnapshot *snapshot,
                       const TalusDrawDef *def, TalusPool *pool, TalusImage *out)
{
    TalusPicture picture = {
        .head = head, .snapshot = snapshot, .def = def, .theme = talus_theme_of(def->dark)};
    TALUS_TRY(check_draw_def(def));
    TALUS_TRY(talus_image_create(def->width, def->height, def->transparent ? 4 : 3, out));
    TalusStatus status = compose_picture(&picture);
    TALUS_THEN(status, expose_and_convert(&picture, pool, out));
    if (status == TALUS_OK && !def->plain)
        status = talus_caption_draw(&picture, out);
    talus_picture_clear(&picture);
    if (status != TALUS_OK)
        talus_image_free(out);
    return status;
}

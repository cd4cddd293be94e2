/* draw/apng.c - animated PNG encoder: acTL behind the head; for each frame fcTL, and its rectangle in IDAT (the first) or
 * fdAT. Chunks fcTL and fdAT are numbered in one sequence. */
#include "draw/apng.h"

#include "base/memory.h"
#include "base/status.h"
#include "draw/png.h"
#include "io/file/file.h"

#include <math.h>
#include <string.h>

enum {
    ANIMATION_CONTROL = 8, /* bytes of data of acTL */
    FRAME_CONTROL = 26     /* bytes of data of fcTL */
};

struct TalusApng {
    TalusApngDef def;
    TalusFile *file;
    int added;         /* frames */
    uint32_t sequence; /* number of the next fcTL or fdAT */
    TalusImage before; /* the last frame */
};

/* A part of a picture, pixels. */
typedef struct Rectangle {
    int x, y, width, height;
} Rectangle;

/* ---- opening and closing ---- */

static void free_apng(TalusApng *apng)
{
    talus_image_free(&apng->before);
    talus_release(apng);
}

static TalusStatus check_def(const TalusApngDef *def)
{
    if (!(def->rate >= TALUS_APNG_RATE_MIN && def->rate <= TALUS_APNG_RATE_MAX))
        return talus_reject("film: %g frames per second; expected %g to %g", def->rate,
                            TALUS_APNG_RATE_MIN, TALUS_APNG_RATE_MAX);
    return def->frames > 0 ? TALUS_OK : talus_reject("film: no frames");
}

/* Writes the head of the file and the chunk acTL: the number of frames, and 0 for a film without an end. */
static void put_head(TalusApng *apng)
{
    unsigned char bytes[TALUS_PNG_HEAD + TALUS_PNG_CHUNK + ANIMATION_CONTROL];
    const TalusApngDef *def = &apng->def;
    unsigned char *at = talus_png_write_head(bytes, def->width, def->height, def->channels);
    talus_png_write_u32(at + 8, (uint32_t)def->frames);
    talus_png_write_u32(at + 12, 0);
    talus_png_finish_chunk(at, "acTL", ANIMATION_CONTROL);
    talus_file_put(apng->file, bytes, sizeof bytes);
}

TalusStatus talus_apng_create(const char *path, const TalusApngDef *def, TalusApng **out)
{
    TalusApng *apng;
    *out = NULL;
    TALUS_TRY(check_def(def));
    TALUS_TRY(TALUS_ALLOC(apng, 1, "film"));
    apng->def = *def;
    TalusStatus status = talus_image_create(def->width, def->height, def->channels, &apng->before);
    TALUS_THEN(status, talus_file_create(path, &apng->file));
    if (status != TALUS_OK) {
        free_apng(apng);
        return status;
    }
    put_head(apng);
    *out = apng;
    return TALUS_OK;
}

TalusStatus talus_apng_finish(TalusApng *apng)
{
    unsigned char end[TALUS_PNG_CHUNK];
    TalusStatus status = TALUS_OK;
    if (apng->added != apng->def.frames)
        status = talus_reject("film: %d of %d frames were added", apng->added, apng->def.frames);
    if (status != TALUS_OK) {
        talus_apng_abandon(apng);
        return status;
    }
    talus_png_finish_chunk(end, "IEND", 0);
    talus_file_put(apng->file, end, sizeof end);
    status = talus_file_commit(apng->file);
    free_apng(apng);
    return status;
}

void talus_apng_abandon(TalusApng *apng)
{
    if (!apng)
        return;
    talus_file_abandon(apng->file);
    free_apng(apng);
}

/* ---- frames ---- */

/* True if a row of the rectangle's width differs between two pictures. */
static bool rows_differ(const TalusImage *a, const TalusImage *b, int y)
{
    size_t size = (size_t)a->width * (size_t)a->channels, at = (size_t)y * size;
    return memcmp(a->pixel + at, b->pixel + at, size) != 0;
}

/* True if column x differs between two pictures in any of the rows y0 .. y1 - 1. */
static bool columns_differ(const TalusImage *a, const TalusImage *b, int x, int y0, int y1)
{
    size_t step = (size_t)a->channels, size = (size_t)a->width * step;
    for (int y = y0; y < y1; y++) {
        size_t at = (size_t)y * size + (size_t)x * step;
        if (memcmp(a->pixel + at, b->pixel + at, step) != 0)
            return true;
    }
    return false;
}

/* Returns the smallest rectangle with all pixels that differ; one pixel if none does, as a frame cannot be empty. */
static Rectangle find_difference(const TalusImage *a, const TalusImage *b)
{
    int x0 = 0, y0 = 0, x1 = a->width, y1 = a->height;
    while (y0 < y1 && !rows_differ(a, b, y0))
        y0++;
    if (y0 == y1)
        return (Rectangle){0, 0, 1, 1};
    while (!rows_differ(a, b, y1 - 1))
        y1--;
    while (!columns_differ(a, b, x0, y0, y1))
        x0++;
    while (!columns_differ(a, b, x1 - 1, y0, y1))
        x1--;
    return (Rectangle){x0, y0, x1 - x0, y1 - y0};
}

/* Copies a rectangle of a picture into a new one. */
static TalusStatus crop_image(const TalusImage *image, Rectangle r, TalusImage *out)
{
    size_t step = (size_t)image->channels, from = (size_t)image->width * step,
           to = (size_t)r.width * step;
    TALUS_TRY(talus_image_create(r.width, r.height, image->channels, out));
    for (int y = 0; y < r.height; y++)
        memcpy(out->pixel + (size_t)y * to,
               image->pixel + (size_t)(r.y + y) * from + (size_t)r.x * step, to);
    return TALUS_OK;
}

static void write_u16(unsigned char *at, unsigned x)
{
    at[0] = (unsigned char)(x >> 8);
    at[1] = (unsigned char)x;
}

/* Writes how long a frame is shown, as a fraction of a second: 1 / rate for a whole rate, else in milliseconds. */
static void write_delay(unsigned char *at, double rate)
{
    bool whole = rate == floor(rate);
    write_u16(at, whole ? 1 : (unsigned)(1000.0 / rate + 0.5));
    write_u16(at + 2, whole ? (unsigned)rate : 1000);
}

/* Writes the chunk fcTL of the next frame: the rectangle replaces what was there, and stays. */
static void put_frame_control(TalusApng *apng, Rectangle r)
{
    unsigned char chunk[TALUS_PNG_CHUNK + FRAME_CONTROL] = {0}, *at = chunk + 8;
    talus_png_write_u32(at, apng->sequence++);
    talus_png_write_u32(at + 4, (uint32_t)r.width);
    talus_png_write_u32(at + 8, (uint32_t)r.height);
    talus_png_write_u32(at + 12, (uint32_t)r.x);
    talus_png_write_u32(at + 16, (uint32_t)r.y);
    write_delay(at + 20, apng->def.rate);
    talus_png_finish_chunk(chunk, "fcTL", FRAME_CONTROL);
    talus_file_put(apng->file, chunk, sizeof chunk);
}

/* Writes the pixels of the next frame: IDAT, or fdAT with its number before them. */
static TalusStatus put_frame_data(TalusApng *apng, const TalusImage *part)
{
    bool first = apng->added == 0;
    size_t room = first ? 8 : 12, size;
    unsigned char *stream;
    TALUS_TRY(talus_png_compress(part, room, &stream, &size));
    if (!first)
        talus_png_write_u32(stream + 8, apng->sequence++);
    unsigned char *end = talus_png_finish_chunk(stream, first ? "IDAT" : "fdAT", room - 8 + size);
    talus_file_put(apng->file, stream, (size_t)(end - stream));
    talus_release(stream);
    return TALUS_OK;
}

TalusStatus talus_apng_add(TalusApng *apng, const TalusImage *image)
{
    const TalusApngDef *def = &apng->def;
    TalusImage part;
    if (image->width != def->width || image->height != def->height ||
        image->channels != def->channels)
        return talus_reject("film: a frame of %d x %d pixels; the others have %d x %d",
                            image->width, image->height, def->width, def->height);
    if (apng->added == def->frames)
        return talus_reject("film: more than %d frames", def->frames);
    Rectangle all = {0, 0, def->width, def->height};
    Rectangle r = apng->added ? find_difference(image, &apng->before) : all;
    TALUS_TRY(crop_image(image, r, &part));
    put_frame_control(apng, r);
    TalusStatus status = put_frame_data(apng, &part);
    talus_image_free(&part);
    if (status != TALUS_OK)
        return status;
    size_t size = (size_t)def->width * (size_t)def->height * (size_t)def->channels;
    memcpy(apng->before.pixel, image->pixel, size);
    apng->added++;
    return TALUS_OK;
}

/* draw/text.c - draws glyphs as strokes. The opacity of a pixel grows from 0, if the nearest stroke ends half a pixel
 * before the middle of the pixel, to 1, if it ends half a pixel beyond. */
#include "draw/text.h"

#include <math.h>
#include <stdlib.h>

enum {
    ARC_STEPS = 8,    /* lines of a quarter ellipse */
    STROKES_MAX = 160 /* maximum number of segments of a glyph */
};
/* On the glyphs' grid: width of a stroke, and additional space between letters. */
#define STROKE 3.1
#define TRACKING 1

typedef struct Point {
    double x, y;
} Point;

typedef struct Segment {
    Point a, b;
} Segment;

/* Segments of a glyph, on its grid. */
typedef struct Strokes {
    Segment segment[STROKES_MAX];
    int count;
} Strokes;

/* ---- pixels ---- */

void talus_image_blend_pixel(TalusImage *image, int x, int y, uint32_t rgb, double opacity)
{
    if (x < 0 || y < 0 || x >= image->width || y >= image->height || !(opacity > 0.0))
        return;
    size_t at = (size_t)y * (size_t)image->width + (size_t)x;
    unsigned char *pixel = image->pixel + (size_t)image->channels * at;
    float top = opacity < 1.0 ? (float)opacity : 1.0f;
    float below = image->channels == 4 ? (float)pixel[3] / 255.0f * (1.0f - top) : 1.0f - top;
    for (int c = 0; c < 3; c++) {
        float new = talus_srgb_decode(rgb >> (16 - 8 * c) & 255), old = talus_srgb_decode(pixel[c]);
        pixel[c] = talus_srgb_encode((top * new + below *old) / (top + below));
    }
    if (image->channels == 4)
        pixel[3] = (unsigned char)(255.0f * (top + below) + 0.5f);
}

/* Returns the share of pixel k that lies between `low` and `high`. */
static double covered_share(int k, double low, double high)
{
    double part = fmin(high, k + 1.0) - fmax(low, k);
    return part > 0.0 ? part : 0.0;
}

void talus_image_fill_box(TalusImage *image, double x0, double y0, double x1, double y1,
                          uint32_t rgb)
{
    for (int y = (int)floor(y0); y < y1; y++)
        for (int x = (int)floor(x0); x < x1; x++)
            talus_image_blend_pixel(image, x, y, rgb,
                                    covered_share(x, x0, x1) * covered_share(y, y0, y1));
}

void talus_image_fill_disc(TalusImage *image, double x, double y, double radius, uint32_t rgb)
{
    for (int j = (int)floor(y - radius - 1.0); j <= y + radius + 1.0; j++)
        for (int i = (int)floor(x - radius - 1.0); i <= x + radius + 1.0; i++) {
            double dx = i + 0.5 - x, dy = j + 0.5 - y;
            talus_image_blend_pixel(image, i, j, rgb, radius + 0.5 - sqrt(dx * dx + dy * dy));
        }
}

/* ---- glyphs ---- */

/* Adds a line to the strokes; beyond STROKES_MAX nothing is added. */
static void add_segment(Strokes *strokes, Point a, Point b)
{
    if (strokes->count < STROKES_MAX)
        strokes->segment[strokes->count++] = (Segment){a, b};
}

/* Adds a quarter ellipse as lines: corner + (from - corner) (1 - sin t) + (to - corner) (1 - cos t), 0 <= t <= pi/2. */
static void add_arc(Strokes *strokes, Point from, Point corner, Point to)
{
    Point last = from;
    for (int k = 1; k <= ARC_STEPS; k++) {
        double t = 1.5707963267948966 * k / ARC_STEPS, u = 1.0 - sin(t), v = 1.0 - cos(t);
        Point p = {corner.x + (from.x - corner.x) * u + (to.x - corner.x) * v,
                   corner.y + (from.y - corner.y) * u + (to.y - corner.y) * v};
        if (k == ARC_STEPS)
            p = to;
        add_segment(strokes, last, p);
        last = p;
    }
}

/* Reads two numbers from a path and moves *path past them. */
static Point read_point(const char **path)
{
    char *end;
    Point p;
    p.x = (double)strtol(*path, &end, 10);
    p.y = (double)strtol(end, &end, 10);
    *path = end;
    return p;
}

/* Converts the path of a glyph to segments. */
static void trace_path(const char *path, Strokes *strokes)
{
    Point at = {0.0, 0.0};
    strokes->count = 0;
    while (*path) {
        char kind = *path++;
        Point p = read_point(&path), from = at;
        at = kind == 'R' ? read_point(&path) : p;
        if (kind == 'L')
            add_segment(strokes, from, at);
        else if (kind == 'R')
            add_arc(strokes, from, p, at);
    }
}

/* Distance of p from a segment, in grid units. */
static double distance_to_segment(const Segment *s, Point p)
{
    double dx = s->b.x - s->a.x, dy = s->b.y - s->a.y, dd = dx * dx + dy * dy;
    double px = p.x - s->a.x, py = p.y - s->a.y;
    double t = dd > 0.0 ? fmin(fmax((px * dx + py * dy) / dd, 0.0), 1.0) : 0.0;
    double ox = px - t * dx, oy = py - t * dy;
    return sqrt(ox * ox + oy * oy);
}

/* Draws a glyph with its left end at x; unit: pixels per unit of the glyphs' grid. */
static void draw_glyph(TalusImage *image, const TalusGlyph *glyph, double x, double baseline,
                       double unit, uint32_t rgb)
{
    Strokes strokes;
    trace_path(glyph->path, &strokes);
    int left = (int)floor(x - 3.0 * unit - 1.0), right = (int)ceil(x + (glyph->advance + 3) * unit);
    int top = (int)floor(baseline - 34.0 * unit), bottom = (int)ceil(baseline + 11.0 * unit);
    for (int j = top; j <= bottom && strokes.count; j++)
        for (int i = left; i <= right; i++) {
            Point p = {(i + 0.5 - x) / unit, (baseline - j - 0.5) / unit};
            double nearest = INFINITY;
            for (int k = 0; k < strokes.count; k++)
                nearest = fmin(nearest, distance_to_segment(&strokes.segment[k], p));
            talus_image_blend_pixel(image, i, j, rgb,
                                    fmin(0.5 + (0.5 * STROKE - nearest) * unit, 1.0));
        }
}

/* Returns the glyph of the next character and moves *text past it; a UTF-8 sequence counts as one '?'. */
static const TalusGlyph *next_glyph(const char **text)
{
    unsigned char c = (unsigned char)*(*text)++;
    if (c >= 0x80)
        while (((unsigned char)**text & 0xc0) == 0x80)
            ++*text;
    if (c < TALUS_FONT_FIRST || c > TALUS_FONT_LAST)
        c = '?';
    return &talus_font[c - TALUS_FONT_FIRST];
}

double talus_text_width(const char *text, double size)
{
    int sum = 0;
    while (*text)
        sum += next_glyph(&text)->advance + TRACKING;
    return sum * size / TALUS_FONT_EM;
}

void talus_text_draw(TalusImage *image, double x, double baseline, double size, uint32_t rgb,
                     const char *text)
{
    double unit = size / TALUS_FONT_EM;
    while (*text) {
        const TalusGlyph *glyph = next_glyph(&text);
        draw_glyph(image, glyph, x, baseline, unit, rgb);
        x += (glyph->advance + TRACKING) * unit;
    }
}

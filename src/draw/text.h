/* draw/text.h - text on a picture, in a built-in stroked sans-serif font. */
#ifndef TALUS_DRAW_TEXT_H
#define TALUS_DRAW_TEXT_H

#include "draw/image.h"

/* One glyph: strokes on a grid where capitals are 28 high, small letters 20, and descenders reach -8; y is up. `path`
 * has commands: M x y begins a stroke, L x y draws a line, R a b x y draws a quarter of an ellipse to (x, y) whose
 * tangents at both ends pass through the corner (a, b). */
typedef struct TalusGlyph {
    int advance; /* width with spacing, grid units */
    const char *path;
} TalusGlyph;

enum {
    TALUS_FONT_FIRST = 32, /* first character of the font */
    TALUS_FONT_LAST = 126, /* last character */
    TALUS_FONT_EM = 40     /* grid units of an em, the font size */
};
/* By character, from TALUS_FONT_FIRST on. */
extern const TalusGlyph talus_font[TALUS_FONT_LAST - TALUS_FONT_FIRST + 1];

/* Returns the width of a line of text in pixels, with `size` pixels per em; each UTF-8 character that is not printable
 * ASCII counts as '?'. */
double talus_text_width(const char *text, double size);
/* Draws a line of text, as measured by talus_text_width, in an sRGB colour from x to the right; `baseline` in pixels
 * from the top. */
void talus_text_draw(TalusImage *image, double x, double baseline, double size, uint32_t rgb,
                     const char *text);

/* Blends an sRGB colour over a pixel in linear light; opacity is clamped to 0 to 1, and raises the pixel's own where
 * the image has one. Does nothing outside the picture. */
void talus_image_blend_pixel(TalusImage *image, int x, int y, uint32_t rgb, double opacity);
/* Fills a rectangle with antialiased edges; coordinates in pixels from the upper left corner. */
void talus_image_fill_box(TalusImage *image, double x0, double y0, double x1, double y1,
                          uint32_t rgb);
/* Fills a disc with an antialiased edge. */
void talus_image_fill_disc(TalusImage *image, double x, double y, double radius, uint32_t rgb);

#endif

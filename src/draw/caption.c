/* draw/caption.c - caption at the bottom: title, time and bodies on the left, meaning of colours on the right. */
#include "draw/picture.h"
#include "draw/text.h"

#include "base/status.h"

#include <stdio.h>
#include <string.h>

enum {
    LEAST_WIDTH = 240,   /* pixels: narrower pictures have no caption */
    LEAST_HEIGHT = 180,  /* pixels: lower pictures have no caption */
    TEXT_CAPACITY = 160, /* bytes of a text, with the final zero; longer ones are cut */
    MAX_ENTRIES = 6      /* of the legend */
};

/* Lengths in ems (font sizes). */
#define STRIP 3.3       /* height of the caption */
#define SIDE 1.6        /* distance from the picture's edge */
#define BAR_LENGTH 11.0 /* of the colour scale */
#define GAP 2.0         /* minimum distance between the left and the right side */

typedef struct Caption {
    const TalusPicture *picture;
    TalusImage *image;
    double em;            /* font size, pixels */
    double first, second; /* baselines of the two lines, pixels from the top */
} Caption;

/* Font size of the caption of a picture of this size, pixels. */
static double font_size_for(const TalusDrawDef *def)
{
    return fmax(fmin(def->height / 44.0, def->width / 40.0), 8.0);
}

int talus_caption_height(const TalusDrawDef *def)
{
    if (def->plain || def->width < LEAST_WIDTH || def->height < LEAST_HEIGHT)
        return 0;
    return (int)(STRIP * font_size_for(def) + 0.5);
}

/* ---- numbers ---- */

/* Inserts commas between the thousands of the unsigned integer that `text` begins with, as far as `size` allows. */
static void group_thousands(char *text, size_t size)
{
    size_t length = strlen(text), digits = strspn(text, "0123456789");
    for (size_t k = digits; k > 3 && length + 1 < size; length++) {
        k -= 3;
        memmove(text + k + 1, text + k, length - k + 1);
        text[k] = ',';
    }
}

/* Writes x with three significant digits; if 1000 <= |x| < 1e7, as an integer with commas. */
static void print_value(char *text, size_t size, double x)
{
    bool whole = fabs(x) >= 1000.0 && fabs(x) < 1e7;
    snprintf(text, size, whole ? "%.0f" : "%.3g", x);
    if (whole)
        group_thousands(text, size);
}

/* Number of bodies that are not fixed. */
static int count_moving_bodies(const TalusSnapshot *s)
{
    int count = 0;
    for (int i = 0; i < s->body_count; i++)
        count += !s->fixed[i];
    return count;
}

/* ---- the right-hand side ---- */

/* Draws the colour scale as "LOW bar HIGH", right-aligned at `right`, the label below the bar. Returns its left end. */
static double draw_scale(const Caption *c, double right)
{
    const TalusPicture *p = c->picture;
    const char *label = p->def->chains ? "force chains, N" : talus_colour_label(p->def->colour);
    char text[TEXT_CAPACITY];
    print_value(text, sizeof text, p->high);
    right -= talus_text_width(text, c->em);
    talus_text_draw(c->image, right, c->first, c->em, p->theme->muted, text);
    right -= 0.5 * c->em;
    double left = right - BAR_LENGTH * c->em, top = c->first - 0.6 * c->em;
    for (int x = (int)floor(left); x < right; x++)
        talus_image_fill_box(c->image, fmax(x, left), top, fmin(x + 1.0, right), top + 0.5 * c->em,
                             talus_palette_sequential((x + 0.5 - left) / (right - left)));
    double middle = 0.5 * (left + right - talus_text_width(label, c->em));
    talus_text_draw(c->image, middle, c->second, c->em, p->theme->muted, label);
    print_value(text, sizeof text, p->low);
    left -= 0.5 * c->em + talus_text_width(text, c->em);
    talus_text_draw(c->image, left, c->first, c->em, p->theme->muted, text);
    return left;
}

/* The first MAX_ENTRIES different materials or tags among the moving bodies. */
typedef struct Legend {
    int number[MAX_ENTRIES];
    int count, more; /* number of entries; 1 if there are other materials or tags */
} Legend;

/* Collects the materials or tags of moving bodies, whichever the colours show. */
static Legend collect_legend(const TalusPicture *p)
{
    const TalusSnapshot *s = p->snapshot;
    Legend legend = {{0}, 0, 0};
    for (int i = 0; i < s->body_count; i++) {
        int number = p->def->colour == TALUS_COLOUR_TAG ? s->tag[i] : s->material[i], k = 0;
        if (s->fixed[i])
            continue;
        while (k < legend.count && legend.number[k] != number)
            k++;
        if (k < legend.count)
            continue;
        if (legend.count < MAX_ENTRIES)
            legend.number[legend.count++] = number;
        else
            legend.more = 1;
    }
    return legend;
}

/* Writes the name of a material or tag to text[TEXT_CAPACITY]. */
static void print_entry_name(const TalusPicture *p, int number, char *text)
{
    const TalusFramesHead *head = p->head;
    if (p->def->colour == TALUS_COLOUR_TAG)
        snprintf(text, TEXT_CAPACITY, "tag %d", number);
    else if (number >= 0 && number < head->material_count && head->materials[number].name[0])
        snprintf(text, TEXT_CAPACITY, "%s", head->materials[number].name);
    else
        snprintf(text, TEXT_CAPACITY, "material %d", number);
}

/* Draws the legend from its last entry to its first, right-aligned at `right`. Returns its left end. */
static double draw_legend(const Caption *c, double right)
{
    const TalusPicture *p = c->picture;
    Legend legend = collect_legend(p);
    char text[TEXT_CAPACITY];
    if (legend.more) {
        right -= talus_text_width("...", c->em);
        talus_text_draw(c->image, right, c->second, c->em, p->theme->muted, "...");
        right -= c->em;
    }
    for (int k = legend.count - 1; k >= 0; k--) {
        print_entry_name(p, legend.number[k], text);
        right -= talus_text_width(text, c->em);
        talus_text_draw(c->image, right, c->second, c->em, p->theme->muted, text);
        right -= 0.7 * c->em;
        talus_image_fill_disc(c->image, right, c->second - 0.33 * c->em, 0.36 * c->em,
                              talus_palette_category(legend.number[k], p->def->dark));
        right -= 1.2 * c->em;
    }
    return right;
}

/* ---- the left-hand side ---- */

/* Shortens text, with dots at its end, to at most the width `most`, but not below three dots. */
static void shorten_to_width(char *text, double size, double most)
{
    size_t length = strlen(text);
    while (length > 3 && talus_text_width(text, size) > most)
        strcpy(text + --length - 3, "...");
}

/* Draws the title from `left` on, shortened to end before `right`, and below it time and number of moving bodies. */
static void draw_title_and_state(const Caption *c, double left, double right)
{
    const TalusPicture *p = c->picture;
    char text[TEXT_CAPACITY], count[24];
    const char *title = p->head->title && p->head->title[0] ? p->head->title : p->head->scene;
    snprintf(text, sizeof text, "%s", title ? title : "");
    shorten_to_width(text, 1.12 * c->em, right - left);
    talus_text_draw(c->image, left, c->first, 1.12 * c->em, p->theme->ink, text);
    int bodies = count_moving_bodies(p->snapshot);
    snprintf(count, sizeof count, "%d", bodies);
    group_thousands(count, sizeof count);
    snprintf(text, sizeof text, "t = %.4g s, %s %s", p->snapshot->time, count,
             bodies == 1 ? "body" : "bodies");
    talus_text_draw(c->image, left, c->second, c->em, p->theme->muted, text);
}

TalusStatus talus_caption_draw(const TalusPicture *picture, TalusImage *image)
{
    if (talus_caption_height(picture->def) == 0)
        return TALUS_OK;
    double em = font_size_for(picture->def), left = SIDE * em, right = image->width - SIDE * em;
    Caption c = {picture, image, em, image->height - 2.65 * em, image->height - 1.3 * em};
    double begins = right;
    bool scale = picture->def->chains || talus_colour_has_scale(picture->def->colour);
    if (scale)
        begins = draw_scale(&c, right);
    else if (picture->def->colour != TALUS_COLOUR_ID)
        begins = draw_legend(&c, right);
    draw_title_and_state(&c, left, begins - GAP * em);
    return TALUS_OK;
}

/* draw/palette.h - all constants of the look: colours, light and camera.
 *
 * docs/how-to/render.md has the same numbers as tables, for the viewer. Colours are sRGB, 0x00rrggbb. */
#ifndef TALUS_DRAW_PALETTE_H
#define TALUS_DRAW_PALETTE_H

#include <talus/base.h>
#include <talus/world.h>

/* Property by which bodies are coloured. */
typedef enum TalusColourBy {
    TALUS_COLOUR_SPEED,
    TALUS_COLOUR_FORCE,    /* normal force */
    TALUS_COLOUR_TOUCHING, /* number of contacts */
    TALUS_COLOUR_ID,
    TALUS_COLOUR_LAYER, /* starting height, in typical diameters */
    TALUS_COLOUR_MATERIAL,
    TALUS_COLOUR_TAG,
    TALUS_COLOUR_DISSIPATED, /* energy that contacts have dissipated */
    TALUS_COLOUR_COUNT       /* number of the values above */
} TalusColourBy;

/* Returns the name as in options, such as "speed". */
const char *talus_colour_name(TalusColourBy by);
/* Returns the text below the colour scale, with the unit, such as "speed, m/s"; "" for colours without a scale. */
const char *talus_colour_label(TalusColourBy by);
/* True if the colours are a scale of numbers; false for id, material and tag, which have one colour per value. */
bool talus_colour_has_scale(TalusColourBy by);

/* Returns the colour of x on a scale from dark blue (0) through violet and red to yellow (1); x is clamped, NAN is 0.
 * Perceptually uniform, with rising lightness, so that the scale reads in grey and for the colour-blind. */
uint32_t talus_palette_sequential(double x);
/* Colour of a material or tag by its number: seven colours, repeated. */
uint32_t talus_palette_category(int number, bool dark);
/* Returns one of 32 colours by a hash of a body's id, so that bodies created one after the other differ. */
uint32_t talus_palette_identity(TalusBodyId id);

typedef struct TalusTheme {
    uint32_t background, ink, muted; /* --ground, --text, --muted of apps/look/tokens.css */
    uint32_t fixed;                  /* colour of fixed bodies */
    uint32_t ghost;                  /* colour of ghost containers */
    uint32_t veil;                   /* colour of moving bodies in a picture with chains */
    /* opacity of a ghost wall seen face on, seen edge on, and of the lines along its edges */
    float ghost_face, ghost_edge, ghost_line;
} TalusTheme;

/* Returns the dark or the light theme. */
const TalusTheme *talus_theme_of(bool dark);

/* ---- light ---- */

#define TALUS_KEY_AZIMUTH -40.0  /* of the key light minus that of the camera, degrees */
#define TALUS_KEY_ELEVATION 52.0 /* degrees */
#define TALUS_KEY_SPREAD 3.5     /* half angle of the light's disc, degrees: softness of shadows */
#define TALUS_KEY_LIGHT 0.82f    /* on an unobstructed face towards the light */
#define TALUS_SKY_LIGHT 0.50f    /* on an unobstructed face upwards */
#define TALUS_GROUND_LIGHT 0.32f /* on an unobstructed face downwards */
#define TALUS_LEAST_LIGHT 0.04f  /* added everywhere, in full shadow too */
#define TALUS_GLOSS 0.10f        /* brightest reflection of the key light */
#define TALUS_SHADOW_ON_GROUND 0.50f /* opacity of a full shadow */

/* Sharp edges of polyhedra are drawn as lines with this share of the light removed. */
#define TALUS_EDGE_SHADE 0.40f
#define TALUS_EDGE_WIDTH 1.1 /* on either side of the edge, pixels of a picture 1200 high */

/* ---- containers ---- */

#define TALUS_GHOST_LINE_WIDTH 1.5 /* pixels of a picture 1200 high */
#define TALUS_BOUNDS_MARGIN 0.04   /* planes exceed the bodies' box by this share of its diagonal */

/* ---- chains ---- */

/* Radius of a chain's tube, in typical radii of bodies, from the force at the upper end of the colour scale on; below
 * it the radius is proportional to the root of the force. */
#define TALUS_CHAIN_RADIUS 0.32
#define TALUS_VEIL_OPACITY 0.22f /* of bodies in a picture with chains */

/* ---- camera ---- */

#define TALUS_FIELD_OF_VIEW 28.0 /* degrees, vertical */
#define TALUS_FIT_MARGIN 0.06 /* left free at each side, in shares of the picture's smaller side */

#endif

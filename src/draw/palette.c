/* draw/palette.c - tables of colours. */
#include "draw/palette.h"

#include <math.h>

/* A path in OKLCh (lightness, chroma, hue) from (0.52, 0.125, 256 deg) by (0.65, 0.185, 352 deg) to (0.91, 0.13,
 * 100 deg), divided into steps of equal length in OKLab. */
static const uint32_t sequential[] = {
    0x3369af, 0x4268ba, 0x5167c3, 0x6065c9, 0x6e62cd, 0x7c60cf, 0x8a5dcf, 0x975acd, 0xa358ca,
    0xaf56c5, 0xba55be, 0xc454b6, 0xce53ae, 0xd754a5, 0xdf559b, 0xe65891, 0xec5b87, 0xf1607e,
    0xf56674, 0xf96d6b, 0xfc7562, 0xfe7d5b, 0xff8655, 0xff9052, 0xff994f, 0xffa24d, 0xffab4b,
    0xffb54b, 0xffbe49, 0xfec74a, 0xfbd156, 0xf8da66, 0xf5e378,
};
enum { STEPS = sizeof sequential / sizeof *sequential - 1 };

/* As in apps/look: after Okabe and Ito's colours, darker for the light theme [0], lighter for the dark theme [1]. */
static const uint32_t categories[2][7] = {
    {0x0064ad, 0xd04a02, 0x00845f, 0xb24a8c, 0xc08400, 0x3d9fd6, 0x3a3a3a},
    {0x6aa9ff, 0xff8b52, 0x35c79c, 0xe790c4, 0xf0c04a, 0x86d3ff, 0xdcdcdc},
};

/* OKLCh hues in 32 steps, with three lightnesses in turn. */
static const uint32_t identities[32] = {
    0xa44869, 0xc56373, 0xe5807d, 0xa74c38, 0xc36b42, 0xdc8c4e, 0x985c00, 0xae7b10,
    0xc09d36, 0x7a6d00, 0x888d22, 0x92ae51, 0x4a7b29, 0x4e9a57, 0x53b982, 0x007f61,
    0x0a9c89, 0x0ab9b4, 0x067b82, 0x0096ae, 0x2ab1dc, 0x0074a5, 0x3f8bcd, 0x70a2ef,
    0x5066b4, 0x7a7ccf, 0xa492e9, 0x7c57a6, 0xa26dba, 0xca85cb, 0x984c85, 0xbc6492,
};

/* Light theme [0], dark theme [1]. */
static const TalusTheme themes[2] = {
    {0xfffffb, 0x1c1c1a, 0x66655f, 0xb4b2a8, 0x6b7f95, 0xc9c8c2, 0.045f, 0.45f, 0.50f},
    {0x171716, 0xe6e4dd, 0xa09e96, 0x6a6963, 0x9fb2c8, 0x8b8a86, 0.012f, 0.20f, 0.30f},
};

/* What talus_colour_name, talus_colour_label and talus_colour_has_scale return. */
static const struct {
    const char *name, *label;
    bool scale;
} colours[TALUS_COLOUR_COUNT] = {
    [TALUS_COLOUR_SPEED] = {"speed", "speed, m/s", true},
    [TALUS_COLOUR_FORCE] = {"force", "normal force, N", true},
    [TALUS_COLOUR_TOUCHING] = {"touching", "contacts", true},
    [TALUS_COLOUR_ID] = {"id", "", false},
    [TALUS_COLOUR_LAYER] = {"layer", "starting layer", true},
    [TALUS_COLOUR_MATERIAL] = {"material", "", false},
    [TALUS_COLOUR_TAG] = {"tag", "", false},
    [TALUS_COLOUR_DISSIPATED] = {"dissipated", "dissipated energy, J", true},
};

const char *talus_colour_name(TalusColourBy by)
{
    return colours[by].name;
}

const char *talus_colour_label(TalusColourBy by)
{
    return colours[by].label;
}

bool talus_colour_has_scale(TalusColourBy by)
{
    return colours[by].scale;
}

/* Interpolates the channel at bit `shift` between colours a (t = 0) and b (t = 1). */
static uint32_t mix_channel(uint32_t a, uint32_t b, double t, int shift)
{
    double x = (double)(a >> shift & 255), y = (double)(b >> shift & 255);
    return (uint32_t)(x + t * (y - x) + 0.5) << shift;
}

uint32_t talus_palette_sequential(double x)
{
    double at = fmin(fmax(x, 0.0), 1.0) * STEPS; /* NaN becomes 0 */
    int k = at < STEPS ? (int)at : STEPS - 1;
    uint32_t a = sequential[k], b = sequential[k + 1];
    double t = at - (double)k;
    return mix_channel(a, b, t, 16) | mix_channel(a, b, t, 8) | mix_channel(a, b, t, 0);
}

uint32_t talus_palette_category(int number, bool dark)
{
    return categories[dark][(number % 7 + 7) % 7];
}

uint32_t talus_palette_identity(TalusBodyId id)
{
    return identities[(uint32_t)(id.number * UINT32_C(2654435761) + UINT32_C(1640572038)) >> 27];
}

const TalusTheme *talus_theme_of(bool dark)
{
    return &themes[dark];
}

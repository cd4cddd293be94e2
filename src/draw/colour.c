/* draw/colour.c - colours of bodies by their values. */
#include "draw/picture.h"

#include "base/memory.h"
#include "base/order.h"
#include "base/status.h"

#include <stdlib.h>

/* ---- values ---- */

/* Array of a snapshot by whose values bodies are coloured on a scale: real or whole numbers. Both NULL if the snapshot
 * lacks the array, or if the colours are no scale. */
typedef struct ScaleValues {
    const double *real;
    const int *whole;
} ScaleValues;

/* The array of the snapshot for this colouring. */
static ScaleValues scale_values_of(const TalusSnapshot *s, TalusColourBy by)
{
    switch (by) {
    case TALUS_COLOUR_SPEED: return (ScaleValues){.real = s->speed};
    case TALUS_COLOUR_FORCE: return (ScaleValues){.real = s->force};
    case TALUS_COLOUR_TOUCHING: return (ScaleValues){.whole = s->touching};
    case TALUS_COLOUR_LAYER: return (ScaleValues){.whole = s->layer};
    case TALUS_COLOUR_DISSIPATED: return (ScaleValues){.real = s->dissipated};
    default: return (ScaleValues){0};
    }
}

/* Value of the body in this row; one of the two arrays is not NULL. */
static double value_at(ScaleValues values, int row)
{
    return values.real ? values.real[row] : values.whole[row];
}

/* End of the error message for values that a frame lacks. */
static const char *hint_why_missing(TalusColourBy by)
{
    switch (by) {
    case TALUS_COLOUR_TOUCHING: return "; those of large runs leave it out";
    case TALUS_COLOUR_LAYER: return "; those of a run with --out do";
    case TALUS_COLOUR_DISSIPATED:
        return "; those of a scene with \"dissipation\": true (--set dissipation=true) do";
    default: return "";
    }
}

uint32_t talus_picture_colour(const TalusPicture *picture, int row)
{
    const TalusSnapshot *s = picture->snapshot;
    bool dark = picture->def->dark;
    if (s->fixed[row])
        return picture->theme->fixed;
    if (picture->def->chains)
        return picture->theme->veil;
    switch (picture->def->colour) {
    case TALUS_COLOUR_ID: return talus_palette_identity(s->id[row]);
    case TALUS_COLOUR_MATERIAL: return talus_palette_category(s->material[row], dark);
    case TALUS_COLOUR_TAG: return talus_palette_category(s->tag[row], dark);
    default: break;
    }
    double value = value_at(scale_values_of(s, picture->def->colour), row);
    return talus_palette_sequential((value - picture->low) / (picture->high - picture->low));
}

/* ---- scales ---- */

double talus_round_up_nice(double x)
{
    static const double steps[] = {1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0};
    double ten = pow(10.0, floor(log10(x)));
    for (int k = 0; k < 9; k++)
        if (steps[k] * ten >= x * (1.0 - 1e-9))
            return steps[k] * ten;
    return 10.0 * ten;
}

double talus_percentile_99(double *value, size_t count)
{
    if (count == 0)
        return 0.0;
    qsort(value, count, sizeof *value, talus_compare_doubles);
    return value[(99 * count + 99) / 100 - 1];
}

/* Finds the 99th percentile and the maximum of the finite values of moving bodies; both 0 if there are none. */
static TalusStatus find_percentile_and_largest(const TalusSnapshot *s, ScaleValues values,
                                               double *percentile, double *largest)
{
    double *value;
    size_t count = 0;
    TALUS_TRY(TALUS_ALLOC(value, (size_t)s->body_count, "values"));
    for (int i = 0; i < s->body_count; i++)
        if (!s->fixed[i] && isfinite(value_at(values, i)))
            value[count++] = value_at(values, i);
    *percentile = talus_percentile_99(value, count);
    *largest = count ? value[count - 1] : 0.0;
    talus_release(value);
    return TALUS_OK;
}

/* Returns the upper end of the colour scale when none is given, from the percentile and the largest of the values; 12
 * for numbers of contacts; 0 if no value is above 0. */
static double default_high(const TalusFramesHead *head, TalusColourBy by, double percentile,
                           double largest)
{
    switch (by) {
    case TALUS_COLOUR_SPEED: { /* at least sqrt(g d) / 4, with gravity g and the typical diameter d */
        double least = 0.25 * sqrt(talus_norm(head->gravity) * 2.0 * head->radius);
        double high = fmax(percentile, least);
        return high > 0.0 ? talus_round_up_nice(high) : 0.0;
    }
    case TALUS_COLOUR_FORCE:
    case TALUS_COLOUR_DISSIPATED: return percentile > 0.0 ? talus_round_up_nice(percentile) : 0.0;
    case TALUS_COLOUR_TOUCHING: return 12.0;
    default: return fmax(largest, 1.0);
    }
}

void talus_picture_set_high(TalusPicture *picture, double high)
{
    picture->measured_high = high > 0.0 ? high : NAN;
    picture->high = high > 0.0 ? high : 1.0;
}

TalusStatus talus_picture_set_scale(TalusPicture *picture)
{
    const TalusDrawDef *def = picture->def;
    picture->low = isnan(def->low) ? 0.0 : def->low;
    picture->high = picture->measured_high = def->high;
    if (def->chains || !talus_colour_has_scale(def->colour))
        return TALUS_OK;
    ScaleValues values = scale_values_of(picture->snapshot, def->colour);
    if (!values.real && !values.whole)
        return talus_reject("colour by %s: this frame does not hold it%s",
                            talus_colour_name(def->colour), hint_why_missing(def->colour));
    if (isnan(def->high)) {
        double percentile, largest;
        TALUS_TRY(find_percentile_and_largest(picture->snapshot, values, &percentile, &largest));
        talus_picture_set_high(picture,
                               default_high(picture->head, def->colour, percentile, largest));
        if (!(picture->high > picture->low))
            picture->high = picture->low + 1.0;
    }
    return TALUS_OK;
}

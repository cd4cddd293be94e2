/* cli/commands/info_scene.c - talus info of the bodies of a scene before the first step. */
#include "info.h"

#include "world/source/survey.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* Prints the corners of a box; `whose` is "moving" or "fixed", `more` ends the line. */
static void print_box(const char *name, const char *whose, const TalusAabb *box, const char *more)
{
    info_print_fact(name, "%s from (%.4g, %.4g, %.4g) to (%.4g, %.4g, %.4g) m%s", whose, box->lo.x,
                    box->lo.y, box->lo.z, box->hi.x, box->hi.y, box->hi.z, more);
}

/* Prints the bounds of moving and of fixed bodies and the number of planes. */
static void print_bounds(const TalusSurvey *s)
{
    char planes[40] = "";
    bool moving = s->moving > 0, walls = s->fixed > s->unbounded;
    if (moving)
        print_box("bounds", "moving", &s->moving_bounds, "");
    if (s->unbounded > 0)
        snprintf(planes, sizeof planes, ", and %" PRId64 " plane%s", s->unbounded,
                 s->unbounded == 1 ? "" : "s");
    if (walls)
        print_box(moving ? "" : "bounds", "fixed", &s->fixed_bounds, planes);
    else if (s->unbounded > 0)
        info_print_fact(moving ? "" : "bounds", "fixed without end: %" PRId64 " plane%s",
                        s->unbounded, s->unbounded == 1 ? "" : "s");
}

/* Prints "LOW to HIGH UNIT", or one value if both are equal; `more` ends the line. */
static void print_range(const char *name, double low, double high, const char *unit,
                        const char *more)
{
    if (low == high)
        info_print_fact(name, "%.4g %s%s", low, unit, more);
    else
        info_print_fact(name, "%.4g to %.4g %s%s", low, high, unit, more);
}

static void print_overlap(const TalusWorld *world)
{
    TalusOverlap o;
    if (talus_world_worst_overlap(world, &o) != TALUS_OK)
        info_print_fact("overlap", "not known: %s", talus_error());
    else if (o.depth > 0.0)
        info_print_fact("overlap", "%lld pair%s, at most %.3g m, %.3g of the smaller size",
                        (long long)o.pairs, o.pairs == 1 ? "" : "s", o.depth, o.depth / o.size);
    else
        info_print_fact("overlap", "none");
}

/* Prints the step over the time in which a body falls by half its width, and what it means for flows. */
static void print_step(double step, const TalusSurvey *s)
{
    const double ratio = step / s->fall_time, limit = 0.05;
    if (isfinite(s->fall_time))
        info_print_fact(
            "step", "h is %.3g of sqrt(d/g) = %.3g s, d = %.3g m being the least width%s", ratio,
            s->fall_time, 2.0 * s->thinnest.size,
            ratio > limit ? "; flows need at most 0.05: at 0.125 a hopper ran 8 % too slowly"
                          : ", enough for flows, which need at most 0.05");
}

void info_print_start(const TalusWorld *world)
{
    TalusSurvey s;
    char more[64];
    (void)talus_world_survey(world, &s); /* does not fail on one rank */
    print_bounds(&s);
    if (s.moving == 0)
        return;
    print_range("radii", s.smallest.radius, s.largest.radius, "m",
                s.thinnest.size < s.smallest.radius ? ", about the centres" : "");
    print_range("masses", s.lightest.mass, s.heaviest.mass, "kg",
                (snprintf(more, sizeof more, ", %.4g kg in all", s.mass), more));
    info_print_fact("fill", "%.3g of the box around what moves", talus_survey_packing(&s));
    print_step(talus_world_step_length(world), &s);
    print_overlap(world);
}

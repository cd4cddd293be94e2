/* measure/ball.c - the volume of a ball in a box or a cylinder, by its discs. */
#include "measure/ball.h"

#include "base/order.h"
#include "measure/kernel.h"
#include "measure/region.h"

#include <stdlib.h>

enum { PARTS = 4 }; /* of a piece, each with Gauss's nodes */

static const double pi = 3.14159265358979323846;

/* Returns the area of the part x < a of the disc around 0; |a| <= radius. */
static double area_left_of(double radius, double a)
{
    const double half = sqrt(talus_max(0.0, radius * radius - a * a));
    return radius * radius * (0.5 * pi + asin(a / radius)) + a * half;
}

/* Returns the area of the part x < a, y < b of the disc. */
static double area_below(double radius, double a, double b)
{
    a = talus_max(-radius, talus_min(a, radius));
    b = talus_max(-radius, talus_min(b, radius));
    const double disc = pi * radius * radius;
    const double left = area_left_of(radius, a), below = area_left_of(radius, b);
    if (a * a + b * b < radius * radius) /* the corner (a, b) is in the disc */
        return a * b + 0.5 * (left + below) - 0.25 * disc;
    if (a < 0.0 && b < 0.0)
        return 0.0;
    return a < 0.0 ? left : b < 0.0 ? below : left + below - disc;
}

/* What the discs of a ball are cut by, seen from their axis: a rectangle or, if `radius` is above 0, a circle. */
typedef struct Section {
    double x[2], y[2];
    double distance, radius; /* of the circle */
} Section;

/* Returns the angle of this cosine, which rounding may have brought beyond 1. */
static double angle_of(double cosine)
{
    return acos(talus_max(-1.0, talus_min(cosine, 1.0)));
}

/* Returns the area of the disc in the circle. */
static double area_in_circle(double r, double distance, double radius)
{
    const double d = distance, least = talus_min(r, radius);
    if (d >= r + radius)
        return 0.0;
    if (d <= fabs(r - radius))
        return pi * least * least;
    const double p = (d * d + r * r - radius * radius) / (2.0 * d); /* to the common chord */
    return r * r * angle_of(p / r) + radius * radius * angle_of((d - p) / radius) -
           d * sqrt(talus_max(0.0, r * r - p * p));
}

/* Returns the area of the disc in the section. */
static double area_in(double radius, const Section *s)
{
    if (!(radius > 0.0))
        return 0.0;
    if (s->radius > 0.0)
        return area_in_circle(radius, s->distance, s->radius);
    return area_below(radius, s->x[1], s->y[1]) - area_below(radius, s->x[0], s->y[1]) -
           area_below(radius, s->x[1], s->y[0]) + area_below(radius, s->x[0], s->y[0]);
}

/* Returns the integral of the area of the ball's discs from z = a to b, between which it is smooth. */
static double integrate_piece(double radius, const Section *section, double a, double b)
{
    const double middle = 0.5 * (a + b), half = 0.5 * (b - a);
    double sum = 0.0;
    for (int n = 0; n < PARTS * TALUS_GAUSS_NODES; n++) {
        const int part = n / TALUS_GAUSS_NODES, node = n % TALUS_GAUSS_NODES;
        const double s = (talus_gauss_node[node] + 1.0 + 2.0 * part) / PARTS - 1.0;
        const double z = middle + half * 0.5 * s * (3.0 - s * s);
        const double disc = sqrt(talus_max(0.0, radius * radius - z * z));
        sum += talus_gauss_weight[node] / PARTS * 1.5 * (1.0 - s * s) * area_in(disc, section);
    }
    return half * sum;
}

/* Writes the radii of discs that begin or cease to cross the section; returns their number, at most 8. */
static int find_radii(const Section *s, double out[8])
{
    int count = 0;
    if (s->radius > 0.0) {
        out[count++] = fabs(s->distance - s->radius);
        out[count++] = s->distance + s->radius;
        return count;
    }
    for (int i = 0; i < 2; i++) {
        out[count++] = fabs(s->x[i]);
        out[count++] = fabs(s->y[i]);
        for (int j = 0; j < 2; j++)
            out[count++] = sqrt(s->x[i] * s->x[i] + s->y[j] * s->y[j]);
    }
    return count;
}

/* Returns the volume of the discs of a ball in the section, from z = low to high, seen from its centre. */
static double integrate_discs(double radius, const Section *section, double low, double high)
{
    double cut[18] = {low, high}, disc[8], volume = 0.0;
    int cuts = 2;
    for (int n = find_radii(section, disc) - 1; n >= 0; n--) {
        const double z = sqrt(talus_max(0.0, radius * radius - disc[n] * disc[n]));
        cut[cuts++] = talus_max(low, talus_min(-z, high));
        cut[cuts++] = talus_max(low, talus_min(z, high));
    }
    qsort(cut, (size_t)cuts, sizeof *cut, talus_compare_doubles);
    for (int n = 0; n + 1 < cuts; n++)
        if (cut[n] < cut[n + 1])
            volume += integrate_piece(radius, section, cut[n], cut[n + 1]);
    return volume;
}

double talus_ball_in_region(TalusVec3 centre, double radius, const TalusRegion *region)
{
    const int axis = region->axis < 0 ? 2 : region->axis, u = (axis + 1) % 3, v = (axis + 2) % 3;
    const TalusVec3 lo = talus_sub(region->lo, centre), hi = talus_sub(region->hi, centre);
    const double low = talus_max(talus_along(lo, axis), -radius);
    const double high = talus_min(talus_along(hi, axis), radius);
    Section section = {.x = {talus_along(lo, u), talus_along(hi, u)},
                       .y = {talus_along(lo, v), talus_along(hi, v)}};
    if (region->axis >= 0) {
        const TalusRegionCircle circle = talus_region_circle(region);
        const double du = circle.middle[0] - talus_along(centre, u);
        const double dv = circle.middle[1] - talus_along(centre, v);
        section.distance = sqrt(du * du + dv * dv);
        section.radius = circle.radius;
    }
    return low < high ? integrate_discs(radius, &section, low, high) : 0.0;
}

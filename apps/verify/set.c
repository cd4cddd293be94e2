/* set.c - sets of blocks and projections onto them.
 *
 * A section is the set of tangential impulses (or moments) that a unit normal impulse allows: a disc, or a polygon
 * given by its corners. The nearest point of a polygon is found by a search along all its sides. The set of a contact
 * is a cone over its sections, which share the normal impulse n. The squared distance of x = (x_n, t) from the elements
 * of the cone with normal impulse n is convex in n. Half its derivative is
 *     n - x_n - sum over sections of sigma(t - p),   p the point of the section scaled by n that is nearest to t,
 * with sigma the support function of the unscaled section. Its root is found by bisection. */
#include "point.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

/* ---- sections ---- */

/* Part of a block that has one section: rows `row` to row + width - 1 are in a section of radius mu n. */
typedef struct Part {
    int row, width, corners; /* 0 corners: a disc (width 2) or an interval (width 1) */
    double mu;
    double corner[VERIFY_SIDES][2]; /* of the section of radius 1, anticlockwise */
} Part;

/* Returns the part of tangential impulses, with its section. */
static Part friction_part(const VerifySet *set)
{
    Part part = {.row = 1, .width = 2, .mu = set->mu};
    bool square = set->model.section == TALUS_SECTION_SQUARE;
    part.corners = square ? 4 : set->model.sides;
    for (int k = 0; k < part.corners; k++) {
        double angle = 2.0 * PI * (square ? k + 0.5 : k) / part.corners;
        part.corner[k][0] = (square ? sqrt(2.0) : 1.0) * cos(angle);
        part.corner[k][1] = (square ? sqrt(2.0) : 1.0) * sin(angle);
    }
    return part;
}

bool verify_is_joint(const VerifySet *set)
{
    return set->model.section == TALUS_SECTION_JOINT;
}

double verify_joint_max_effort(const VerifySet *set, int k)
{
    static const int bit[3] = {1, 2, 4}; /* bit k of `sides`: the joint constrains row k */
    return k < 3 && set->model.sides & bit[k] ? set->mu : 0.0;
}

/* Projects the block of a joint: clamps every row to [-max, max]. */
static void project_on_joint(const VerifySet *set, double *x)
{
    for (int k = 0; k < set->rows; k++) {
        double max = verify_joint_max_effort(set, k);
        if (fabs(x[k]) > max)
            x[k] = copysign(max, x[k]);
    }
}

/* Writes the parts of a block (friction; spinning; rolling) and returns their number: 3 with six rows, 1 with three, 0
 * with one and for a joint. */
static int get_parts(const VerifySet *set, Part part[3])
{
    if (set->rows == 1 || verify_is_joint(set))
        return 0;
    part[0] = friction_part(set);
    if (set->rows == 3)
        return 1;
    part[1] = (Part){.row = 3, .width = 1, .mu = set->spinning};
    part[2] = (Part){.row = 4, .width = 2, .mu = set->rolling};
    return 3;
}

/* Copies the rows of a part from the block x; t[1] is 0 if the part has one row. */
static void copy_from_block(const Part *part, const double *x, double t[2])
{
    t[0] = x[part->row];
    t[1] = part->width == 2 ? x[part->row + 1] : 0.0;
}

/* Copies the rows of a part into the block x. */
static void copy_to_block(const Part *part, const double t[2], double *x)
{
    memcpy(x + part->row, t, (size_t)part->width * sizeof *x);
}

/* Support function of a part: maximum of v . t over t in the section of radius mu. */
static double part_support(const Part *part, const double v[2])
{
    double max = part->corners ? -INFINITY : hypot(v[0], v[1]);
    for (int k = 0; k < part->corners; k++)
        max = fmax(max, part->corner[k][0] * v[0] + part->corner[k][1] * v[1]);
    return part->mu * max;
}

/* Writes side k of the section of radius 1: its first corner, and the vector from there to the next corner. */
static void get_side(const Part *part, int k, double from[2], double along[2])
{
    const double *next = part->corner[(k + 1) % part->corners];
    for (int c = 0; c < 2; c++) {
        from[c] = part->corner[k][c];
        along[c] = next[c] - from[c];
    }
}

/* Returns the distance of t from the line of a side, positive outside the section. `from` is the side's first corner,
 * scaled to the section's radius; `along` has the direction to the next corner. */
static double distance_beyond_side(const double t[2], const double from[2], const double along[2])
{
    double x = t[0] - from[0], y = t[1] - from[1];
    return (x * along[1] - y * along[0]) / hypot(along[0], along[1]);
}

/* Projects t onto the section of radius mu n, in place. */
static void project_on_section(const Part *part, double n, double t[2])
{
    double r = part->mu * n, best = INFINITY, found[2] = {0.0, 0.0};
    bool inside = true;
    if (!part->corners) {
        double length = hypot(t[0], t[1]), shrink = length > r ? r / length : 1.0;
        t[0] *= shrink;
        t[1] *= shrink;
        return;
    }
    for (int k = 0; k < part->corners; k++) {
        double from[2], along[2];
        get_side(part, k, from, along);
        double start[2] = {r * from[0], r * from[1]}, x = t[0] - start[0], y = t[1] - start[1];
        double length2 = along[0] * along[0] + along[1] * along[1];
        double share = fmin(fmax((x * along[0] + y * along[1]) / length2, 0.0), r);
        double foot[2] = {start[0] + share * along[0], start[1] + share * along[1]};
        double distance = hypot(t[0] - foot[0], t[1] - foot[1]);
        inside = inside && distance_beyond_side(t, start, along) <= 0.0;
        if (distance < best) {
            best = distance;
            memcpy(found, foot, sizeof found);
        }
    }
    if (!inside)
        memcpy(t, found, sizeof found);
}

/* ---- sets ---- */

/* True if the bounds of the set do not depend on the normal impulse. */
static bool is_prism(const VerifySet *set)
{
    return set->model.law == TALUS_LAW_FIXED;
}

double verify_section_scale(const VerifySet *set, const double *x)
{
    return is_prism(set) ? fmax(set->estimate, 0.0) : x[0];
}

double verify_section_support(const VerifySet *set, const double *v)
{
    Part part[3];
    double sum = 0.0;
    for (int i = 0; i < get_parts(set, part); i++) {
        double t[2];
        copy_from_block(&part[i], v, t);
        sum += part_support(&part[i], t);
    }
    return sum;
}

/* Half the derivative by n of the squared distance of x from the elements of the cone with normal impulse n. */
static double slope_at(int parts, const Part *part, const double *x, double n)
{
    double slope = n - x[0];
    for (int i = 0; i < parts; i++) {
        double t[2], p[2];
        copy_from_block(&part[i], x, t);
        copy_from_block(&part[i], x, p);
        project_on_section(&part[i], n, p);
        t[0] -= p[0];
        t[1] -= p[1];
        slope -= part_support(&part[i], t);
    }
    return slope;
}

/* Returns the normal impulse of the cone's element nearest to x: the root of slope_at, 0 at the apex. */
static double find_nearest_normal(int parts, const Part *part, const double *x)
{
    double low = 0.0, high = fabs(x[0]);
    for (int i = 0; i < parts; i++) {
        double t[2];
        copy_from_block(&part[i], x, t);
        high += 2.0 * part[i].mu * hypot(t[0], t[1]);
    }
    if (!(slope_at(parts, part, x, 0.0) < 0.0))
        return 0.0;
    for (double middle = 0.5 * high; middle > low && middle < high; middle = 0.5 * (low + high)) {
        if (slope_at(parts, part, x, middle) < 0.0)
            low = middle;
        else
            high = middle;
    }
    return high;
}

void verify_set_project(const VerifySet *set, double *x)
{
    Part part[3];
    if (verify_is_joint(set)) {
        project_on_joint(set, x);
        return;
    }
    int parts = get_parts(set, part);
    double n = is_prism(set) ? fmax(x[0], 0.0) : find_nearest_normal(parts, part, x);
    if (isnan(x[0]))
        n = NAN;
    for (int i = 0; i < parts; i++) {
        double t[2];
        copy_from_block(&part[i], x, t);
        project_on_section(&part[i], is_prism(set) ? verify_section_scale(set, x) : n, t);
        copy_to_block(&part[i], t, x);
    }
    x[0] = n;
}

/* The factor 1 - 1e-12 counts impulses as on the boundary that are inside by rounding alone. */
bool verify_set_slides(const VerifySet *set, const double *x)
{
    Part part[3];
    double size = verify_section_scale(set, x) * (1.0 - 1e-12);
    bool slides = false;
    for (int k = 0; verify_is_joint(set) && k < 3; k++) {
        double max = verify_joint_max_effort(set, k);
        slides = slides || (max > 0.0 && isfinite(max) && fabs(x[k]) >= max * (1.0 - 1e-12));
    }
    for (int i = 0; i < get_parts(set, part); i++) {
        double t[2], r = part[i].mu * size;
        copy_from_block(&part[i], x, t);
        if (part[i].mu == 0.0 || (t[0] == 0.0 && t[1] == 0.0))
            continue;
        slides = slides || (!part[i].corners && hypot(t[0], t[1]) >= r);
        for (int k = 0; k < part[i].corners; k++) {
            double from[2], along[2];
            get_side(&part[i], k, from, along);
            double start[2] = {r * from[0], r * from[1]};
            slides = slides || distance_beyond_side(t, start, along) >= 0.0;
        }
    }
    return slides;
}

/* ---- the circular cone ---- */

void verify_cone_project(int rows, double mu, double *block)
{
    if (rows == 1) {
        block[0] = fmax(block[0], 0.0);
        return;
    }
    double t = hypot(block[1], block[2]);
    if (block[0] >= 0.0 && t <= mu * block[0])
        return;
    /* the nearest point is on the generator (1, mu t / |t|) or is the apex */
    double ray[3] = {1.0, t > 0.0 ? mu * block[1] / t : 0.0, t > 0.0 ? mu * block[2] / t : 0.0};
    double along = fmax(block[0] + ray[1] * block[1] + ray[2] * block[2], 0.0) /
                   (1.0 + ray[1] * ray[1] + ray[2] * ray[2]);
    for (int k = 0; k < 3; k++)
        block[k] = along * ray[k];
}

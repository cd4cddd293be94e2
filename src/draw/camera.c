/* draw/camera.c - bounds of the scene and placement of the camera. */
#include "draw/picture.h"

#include "base/order.h"
#include "geometry/bounds.h"
#include "geometry/kinds.h"

#include <stdlib.h>

/* Box that contains no point; joined with another, it gives the other. */
static const TalusAabb nothing = {{INFINITY, INFINITY, INFINITY},
                                  {-INFINITY, -INFINITY, -INFINITY}};

/* ---- extents ---- */

/* Adds the middle of the rotated figure's box to *middle, and sets *extent to the half extents of the box. Uses the
 * finest level of walls, of which there are few, and the coarsest level of solids, of which there may be many. */
static void find_figure_extent(const TalusFigure *figure, TalusQuat q, TalusVec3 *middle,
                               TalusVec3 *extent)
{
    const TalusMesh *mesh =
        &figure->level[figure->drawn == TALUS_DRAWN_SOLID ? 0 : figure->levels - 1];
    TalusAabb b = nothing;
    for (int k = 0; k < mesh->vertex_count; k++) {
        TalusVec3 p = talus_rotate(q, mesh->vertex[k]);
        b = talus_aabb_join(b, (TalusAabb){p, p});
    }
    *middle = talus_madd(*middle, 0.5, talus_add(b.lo, b.hi));
    *extent = talus_scale(0.5, talus_sub(b.hi, b.lo));
}

bool talus_find_body_extent(const TalusPicture *picture, int row, TalusVec3 *middle,
                            TalusVec3 *extent)
{
    const TalusSnapshot *s = picture->snapshot;
    const TalusFigure *figure = talus_picture_figure(picture, row);
    *middle = s->position[row];
    if (figure->drawn == TALUS_DRAWN_HALF_SPACE)
        return false;
    if (figure->drawn == TALUS_DRAWN_SPHERE)
        *extent = talus_vec3(s->radius[row], s->radius[row], s->radius[row]);
    else
        find_figure_extent(figure, s->orientation[row], middle, extent);
    return isfinite(talus_norm(*middle)) && isfinite(talus_norm(*extent));
}

/* ---- bounds ---- */

enum { MAX_SAMPLES = 4096 }; /* bodies from which find_usual_range finds a range */

/* Finds the range of the coordinates of moving bodies along one axis, without the outermost 1 % and one body more on
 * either side. Samples at most MAX_SAMPLES bodies. Returns false if fewer than 20 of the sampled bodies move: too few
 * to leave any out. */
static bool find_usual_range(const TalusSnapshot *snapshot, int axis, double *low, double *high)
{
    double value[MAX_SAMPLES];
    int count = 0, stride = snapshot->body_count / MAX_SAMPLES + 1;
    for (int i = 0; i < snapshot->body_count; i += stride) {
        double x = talus_along(snapshot->position[i], axis);
        if (!snapshot->fixed[i] && isfinite(x))
            value[count++] = x;
    }
    if (count < 20)
        return false;
    qsort(value, (size_t)count, sizeof *value, talus_compare_doubles);
    int tail = count / 100 + 1;
    *low = value[tail];
    *high = value[count - 1 - tail];
    return true;
}

/* Sets the range outside of which moving bodies are ignored by bounds and camera: find_usual_range of each axis,
 * enlarged on either side by the largest of the three widths; unlimited for few bodies. Without it, one body far away
 * would make all others tiny in the picture. */
static void set_inlier_range(TalusPicture *picture)
{
    double *low = picture->inlier_low, *high = picture->inlier_high, reach = 0.0;
    for (int axis = 0; axis < 3; axis++) {
        if (!find_usual_range(picture->snapshot, axis, &low[axis], &high[axis]))
            reach = INFINITY;
        else
            reach = fmax(reach, high[axis] - low[axis]);
    }
    for (int axis = 0; axis < 3; axis++) {
        low[axis] = isfinite(reach) ? low[axis] - reach : -INFINITY;
        high[axis] = isfinite(reach) ? high[axis] + reach : INFINITY;
    }
}

/* Enlarges the bounds to contain the box middle -+ extent. */
static void join_box(TalusAabb *bounds, TalusVec3 middle, TalusVec3 extent)
{
    *bounds = talus_aabb_join(*bounds, talus_aabb_about(middle, extent));
}

static const TalusAabb cube = {{-1, -1, -1}, {1, 1, 1}}; /* if nothing has an extent */

/* Finds middle and half extents of a body's box. False for a body without a finite box, and for a moving body whose
 * middle is outside the inlier range. */
static bool find_inlier_extent(const TalusPicture *picture, int row, TalusVec3 *middle,
                               TalusVec3 *extent)
{
    const TalusSnapshot *s = picture->snapshot;
    bool is_inlier = talus_find_body_extent(picture, row, middle, extent);
    for (int axis = 0; axis < 3 && !s->fixed[row]; axis++)
        is_inlier &= talus_along(*middle, axis) >= picture->inlier_low[axis] &&
                     talus_along(*middle, axis) <= picture->inlier_high[axis];
    return is_inlier;
}

/* Sets picture->bounds and picture->moving, and the inlier range. */
static void find_bounds(TalusPicture *picture)
{
    const TalusSnapshot *s = picture->snapshot;
    set_inlier_range(picture);
    picture->bounds = picture->moving = nothing;
    for (int i = 0; i < s->body_count; i++) {
        TalusVec3 middle, extent;
        if (!find_inlier_extent(picture, i, &middle, &extent))
            continue;
        if (!s->fixed[i])
            join_box(&picture->moving, middle, extent);
        if (!s->fixed[i] || picture->def->container != TALUS_CONTAINER_HIDDEN)
            join_box(&picture->bounds, middle, extent);
    }
    if (picture->def->room)
        picture->bounds = *picture->def->room;
    if (!(picture->bounds.lo.x <= picture->bounds.hi.x))
        picture->bounds = cube;
    if (!(picture->moving.lo.x <= picture->moving.hi.x))
        picture->moving = picture->bounds;
}

/* ---- frame ---- */

/* Sets up (against gravity; z without gravity), east and north. East is the first of the axes x, y, z that is more than
 * 30 degrees from the vertical, projected to the horizontal. */
void talus_picture_set_axes(TalusPicture *picture)
{
    static const TalusVec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    TalusVec3 up = talus_normalize(talus_neg(picture->head->gravity), axes[2]), along = axes[0];
    for (int k = 2; k >= 0; k--)
        if (fabs(talus_dot(axes[k], up)) < 0.8660254037844386)
            along = axes[k];
    picture->up = up;
    picture->east = talus_normalize(talus_madd(along, -talus_dot(along, up), up), along);
    picture->north = talus_cross(up, picture->east);
}

void talus_picture_set_bounds(TalusPicture *picture)
{
    find_bounds(picture);
    picture->origin = talus_scale(0.5, talus_add(picture->bounds.lo, picture->bounds.hi));
}

TalusVec3 talus_picture_direction(const TalusPicture *picture, double azimuth, double elevation)
{
    double a = azimuth * TALUS_PI / 180.0, e = elevation * TALUS_PI / 180.0;
    TalusVec3 level = talus_scale(cos(a), picture->east);
    level = talus_madd(level, sin(a), picture->north);
    return talus_madd(talus_scale(cos(e), level), sin(e), picture->up);
}

TalusVec3 talus_picture_camera_direction(const TalusPicture *picture)
{
    const TalusDrawDef *def = picture->def;
    double elevation = fmin(fmax(def->elevation, -90.0), 90.0);
    return talus_picture_direction(picture, def->azimuth, elevation);
}

/* ---- camera ---- */

/* Fit of the eye along one direction of the picture, right or up. A point has the coordinate a in this direction and c
 * towards the camera; the eye has the coordinates A and C. The point is visible if |a - A| <= slope (C - c). The
 * smallest C with which all points are visible is (left + right) / 2, with A = slope (right - left) / 2. */
typedef struct FitSpan {
    double left, right; /* maximum of c - a / slope and of c + a / slope */
    double slope;       /* tangent of half the field of view */
} FitSpan;

/* Includes a sphere in the span; a and c are the coordinates of its centre (FitSpan). */
static void include_in_span(FitSpan *span, double a, double c, double radius)
{
    double more = radius * sqrt(1.0 + span->slope * span->slope);
    double left = c - (a - more) / span->slope, right = c + (a + more) / span->slope;
    if (left > span->left)
        span->left = left;
    if (right > span->right)
        span->right = right;
}

/* Range of the picture that bodies cover in one direction: slopes of rays from the eye relative to the view axis. */
typedef struct CoveredRange {
    double low, high;
} CoveredRange;

/* Extends the range to the rays that touch a sphere. `across`, `along`: coordinates of its centre across and along the
 * view axis. */
static void include_in_range(CoveredRange *seen, double across, double along, double radius)
{
    double below = along * along - radius * radius;
    double reach = radius * sqrt(fmax(across * across + below, 0.0));
    seen->low = fmin(seen->low, (across * along - reach) / below);
    seen->high = fmax(seen->high, (across * along + reach) / below);
}

/* Fit of the camera in two passes over all that is drawn. First pass (placed false): x and y collect the bounds that
 * determine the eye. Second pass (placed true): wide (to the right) and high (up) collect the range that bodies
 * cover. */
typedef struct CameraFit {
    TalusVec3 right, above, back; /* axes of the camera; back: from the scene to the eye */
    FitSpan x, y;
    bool placed;
    TalusVec3 eye;
    CoveredRange wide, high;
} CameraFit;

/* Includes a sphere in the current pass of the fit. */
static void fit_sphere(CameraFit *fit, TalusVec3 p, double radius)
{
    if (fit->placed) {
        TalusVec3 q = talus_sub(p, fit->eye);
        double along = -talus_dot(fit->back, q);
        include_in_range(&fit->wide, talus_dot(fit->right, q), along, radius);
        include_in_range(&fit->high, talus_dot(fit->above, q), along, radius);
    } else {
        include_in_span(&fit->x, talus_dot(fit->right, p), talus_dot(fit->back, p), radius);
        include_in_span(&fit->y, talus_dot(fit->above, p), talus_dot(fit->back, p), radius);
    }
}

/* Includes the corners of a box in the current pass of the fit. */
static void fit_box(CameraFit *fit, TalusVec3 middle, TalusVec3 extent)
{
    for (int k = 0; k < 8; k++) {
        TalusVec3 p = talus_vec3(k & 1 ? extent.x : -extent.x, k & 2 ? extent.y : -extent.y,
                                 k & 4 ? extent.z : -extent.z);
        fit_sphere(fit, talus_add(middle, p), 0.0);
    }
}

/* Converts a vector to double precision. */
static TalusVec3 to_double(TalusF3 p)
{
    return talus_vec3(p.x, p.y, p.z);
}

/* Runs one pass of the fit over the room that the picture is to show. */
static void fit_room(CameraFit *fit, const TalusPicture *picture)
{
    const TalusAabb *room = &picture->bounds; /* picture->origin is its middle */
    fit_box(fit, talus_vec3(0, 0, 0), talus_scale(0.5, talus_sub(room->hi, room->lo)));
}

/* Runs one pass of the fit over bodies without outliers, walls and lines; over a cube if there are none. */
static void fit_drawn(CameraFit *fit, const TalusPicture *picture)
{
    const TalusSnapshot *s = picture->snapshot;
    TalusVec3 middle, extent;
    for (int i = 0; i < s->body_count; i++) {
        if (!talus_is_in_bodies(picture, i) || !find_inlier_extent(picture, i, &middle, &extent))
            continue;
        middle = talus_sub(middle, picture->origin);
        if (talus_is_drawn_as(picture, i, TALUS_DRAWN_SPHERE))
            fit_sphere(fit, middle, s->radius[i]);
        else
            fit_box(fit, middle, extent);
    }
    for (int k = 0; k < 3 * picture->walls.count; k++)
        fit_sphere(fit,
                   to_double(talus_f3_add(picture->walls.solid[k / 3].centre,
                                          picture->walls.form[k / 3].axis[k % 3])),
                   0.0);
    for (int k = 0; k < picture->line_count; k++) {
        fit_sphere(fit, to_double(picture->line[k].from), 0.0);
        fit_sphere(fit, to_double(picture->line[k].to), 0.0);
    }
    if (!isfinite(fit->placed ? fit->wide.low : fit->x.left)) /* nothing is visible */
        fit_box(fit, talus_vec3(0, 0, 0), talus_vec3(1, 1, 1));
}

static void fit_all(CameraFit *fit, const TalusPicture *picture)
{
    if (picture->def->room)
        fit_room(fit, picture);
    else
        fit_drawn(fit, picture);
}

/* Ends the first pass: places the eye as near as all fits, and starts the second pass. */
static void place_eye(CameraFit *fit)
{
    double depth = 0.5 * fmax(fit->x.left + fit->x.right, fit->y.left + fit->y.right);
    fit->eye = talus_scale(depth, fit->back);
    fit->eye = talus_madd(fit->eye, 0.5 * (fit->x.right - fit->x.left) * fit->x.slope, fit->right);
    fit->eye = talus_madd(fit->eye, 0.5 * (fit->y.right - fit->y.left) * fit->y.slope, fit->above);
    fit->placed = true;
    fit->wide = fit->high = (CoveredRange){INFINITY, -INFINITY};
}

/* Sets the camera so that, at zoom 1, all bodies fit into the picture above the caption. In the direction in which the
 * picture has space to spare, bodies are centred by moving cx or cy (a lens shift). */
void talus_picture_set_camera(TalusPicture *picture)
{
    const TalusDrawDef *def = picture->def;
    double margin = TALUS_FIT_MARGIN * fmin(def->width, def->height);
    double free_x = 0.5 * def->width - margin;
    double free_y = 0.5 * (def->height - talus_caption_height(def)) - margin;
    double scale = 0.5 * def->height / tan(0.5 * TALUS_FIELD_OF_VIEW * TALUS_PI / 180.0);
    CameraFit fit = {.x = {-INFINITY, -INFINITY, free_x / scale},
                     .y = {-INFINITY, -INFINITY, free_y / scale}};
    fit.back = talus_picture_camera_direction(picture);
    fit.right = talus_picture_direction(picture, def->azimuth + 90.0, 0.0);
    fit.above = talus_cross(fit.back, fit.right);
    fit_all(&fit, picture);
    place_eye(&fit);
    fit_all(&fit, picture);
    scale *= def->zoom;
    double shift_x = -0.5 * (fit.wide.low + fit.wide.high) * scale;
    double shift_y = 0.5 * (fit.high.low + fit.high.high) * scale;
    picture->camera = (TalusView){.perspective = true,
                                  .eye = talus_f3_from_vec3(fit.eye),
                                  .right = talus_f3_from_vec3(fit.right),
                                  .down = talus_f3_from_vec3(talus_neg(fit.above)),
                                  .forward = talus_f3_from_vec3(talus_neg(fit.back)),
                                  .scale = (float)scale,
                                  .cx = (float)(0.5 * def->width + shift_x),
                                  .cy = (float)(margin + free_y + shift_y),
                                  .width = def->width,
                                  .height = def->height};
}

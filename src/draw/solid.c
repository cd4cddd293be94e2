/* draw/solid.c - rays against spheres, boxes and cylinders. */
#include "draw/solid.h"

/* A stretch of a ray, and the normal where it begins. */
typedef struct Span {
    float t0, t1;
    TalusF3 normal;
} Span;

TalusCut talus_cut_in_view(const TalusCut *cut, const TalusView *view)
{
    TalusCut r = *cut;
    r.normal = talus_view_turn(view, cut->normal);
    r.offset = cut->offset - talus_f3_dot(cut->normal, view->eye);
    return r;
}

/* From the foot of the perpendicular on the ray, which loses no digits to the distance. */
static bool sphere_span(TalusF3 centre, float radius, TalusRay ray, Span *out)
{
    TalusF3 c = talus_f3_sub(centre, ray.o);
    float dd = talus_f3_dot(ray.d, ray.d), t = talus_f3_dot(c, ray.d) / dd;
    TalusF3 off = talus_f3_madd(c, -t, ray.d);
    float h2 = radius * radius - talus_f3_dot(off, off);
    if (!(h2 > 0.0f))
        return false;
    float half = sqrtf(h2 / dd);
    out->t0 = t - half;
    out->t1 = t + half;
    TalusF3 at = talus_f3_madd(ray.o, out->t0, ray.d);
    out->normal = talus_f3_scale(1.0f / radius, talus_f3_sub(at, centre));
    return true;
}

/* Cuts the span to the slab -half <= o + t d <= half of one axis. */
static bool slab(float o, float d, float half, TalusF3 axis, Span *span)
{
    if (d == 0.0f)
        return fabsf(o) < half;
    float a = (-half - o) / d, b = (half - o) / d;
    float enter = fminf(a, b), leave = fmaxf(a, b);
    if (enter > span->t0) {
        span->t0 = enter;
        span->normal = d > 0.0f ? talus_f3_scale(-1.0f, axis) : axis;
    }
    span->t1 = fminf(span->t1, leave);
    return span->t0 < span->t1;
}

/* The round side of a cylinder about z: the same as a sphere's, in two dimensions. */
static bool side(TalusF3 o, TalusF3 d, float radius, const TalusF3 axis[3], Span *span)
{
    float dd = d.x * d.x + d.y * d.y;
    if (dd == 0.0f)
        return o.x * o.x + o.y * o.y < radius * radius;
    float t = -(o.x * d.x + o.y * d.y) / dd;
    float x = o.x + t * d.x, y = o.y + t * d.y, h2 = radius * radius - x * x - y * y;
    if (!(h2 > 0.0f))
        return false;
    float half = sqrtf(h2 / dd);
    if (t - half > span->t0) {
        span->t0 = t - half;
        x = (o.x + span->t0 * d.x) / radius;
        y = (o.y + span->t0 * d.y) / radius;
        span->normal = talus_f3_madd(talus_f3_scale(x, axis[0]), y, axis[1]);
    }
    span->t1 = fminf(span->t1, t + half);
    return span->t0 < span->t1;
}

static bool form_span(const TalusPlaced *form, TalusRay ray, Span *out)
{
    const TalusF3 *axis = form->axis;
    TalusF3 from = talus_f3_sub(ray.o, form->centre);
    TalusF3 o = {talus_f3_dot(axis[0], from), talus_f3_dot(axis[1], from),
                 talus_f3_dot(axis[2], from)};
    TalusF3 d = {talus_f3_dot(axis[0], ray.d), talus_f3_dot(axis[1], ray.d),
                 talus_f3_dot(axis[2], ray.d)};
    *out = (Span){-INFINITY, INFINITY, {0.0f, 0.0f, -1.0f}};
    if (!slab(o.z, d.z, form->half.z, axis[2], out))
        return false;
    if (form->kind == TALUS_FORM_CYLINDER)
        return side(o, d, form->half.x, axis, out);
    return slab(o.x, d.x, form->half.x, axis[0], out) && slab(o.y, d.y, form->half.y, axis[1], out);
}

static bool cut_span(const TalusCut *cut, TalusRay ray, Span *span)
{
    float along = talus_f3_dot(cut->normal, ray.d);
    float room = cut->offset - talus_f3_dot(cut->normal, ray.o);
    if (along == 0.0f)
        return room >= 0.0f;
    float t = room / along;
    if (along > 0.0f) {
        span->t1 = fminf(span->t1, t);
    } else if (t > span->t0) {
        span->t0 = t;
        span->normal = cut->normal;
    }
    return span->t0 < span->t1;
}

TalusPlaced talus_solid_place(const TalusSolids *solids, int index, const TalusView *view)
{
    const TalusSolid *solid = &solids->solid[index];
    TalusPlaced r = {
        .centre = talus_view_point(view, solid->centre), .radius = solid->radius, .kind = -1};
    if (solid->form >= 0) {
        const TalusForm *form = &solids->form[solid->form];
        r.kind = (int)form->kind;
        r.half = form->half;
        for (int k = 0; k < 3; k++)
            r.axis[k] = talus_view_turn(view, form->axis[k]);
    }
    return r;
}

bool talus_placed_hit(const TalusPlaced *solid, const TalusCut *cut, TalusRay ray, float *t,
                      TalusF3 *normal)
{
    Span span;
    if (solid->kind < 0 ? !sphere_span(solid->centre, solid->radius, ray, &span)
                        : !form_span(solid, ray, &span))
        return false;
    if (cut->on && !cut_span(cut, ray, &span))
        return false;
    if (!(span.t0 > 0.0f))
        return false;
    *t = span.t0;
    *normal = span.normal;
    return true;
}

/* Of the distances to the faces the least is that of the face the point is on, the next the edge's. */
float talus_placed_edge(const TalusPlaced *solid, TalusF3 at)
{
    if (solid->kind < 0)
        return INFINITY;
    TalusF3 p = talus_f3_sub(at, solid->centre), h = solid->half;
    float x = talus_f3_dot(solid->axis[0], p), y = talus_f3_dot(solid->axis[1], p);
    float z = h.z - fabsf(talus_f3_dot(solid->axis[2], p));
    if (solid->kind == TALUS_FORM_CYLINDER)
        return fmaxf(z, h.x - sqrtf(x * x + y * y));
    x = h.x - fabsf(x);
    y = h.y - fabsf(y);
    return fmaxf(fminf(x, y), fminf(fmaxf(x, y), z)); /* the middle one */
}

/* draw/solid.c - intersects rays with spheres, tubes and triangles; chooses levels of polyhedra. */
#include "draw/solid.h"

/* Interval t0 < t < t1 in which a ray is inside a solid, and the outward unit normal where it enters. */
typedef struct RaySpan {
    float t0, t1;
    TalusF3 normal;
} RaySpan;

TalusCut talus_cut_in_view(const TalusCut *cut, const TalusView *view)
{
    TalusCut r = *cut;
    r.normal = talus_view_direction_from_world(view, cut->normal);
    r.offset = cut->offset - talus_f3_dot(cut->normal, view->eye);
    return r;
}

/* Finds the interval in which a ray is inside a sphere; false if it misses. Starts from the point of the ray nearest to
 * the centre, which avoids cancellation if the sphere is far away. */
static bool find_sphere_span(TalusF3 centre, float radius, TalusRay ray, RaySpan *out)
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

/* Clips the span to the slab -half <= o + t d <= half of one axis; false if nothing remains. The normal stays
 * unchanged, since the flat ends of a tube are hidden in the spheres there. */
static bool clip_span_to_slab(float o, float d, float half, RaySpan *span)
{
    if (d == 0.0f)
        return fabsf(o) < half;
    float a = (-half - o) / d, b = (half - o) / d;
    span->t0 = fmaxf(span->t0, fminf(a, b));
    span->t1 = fminf(span->t1, fmaxf(a, b));
    return span->t0 < span->t1;
}

/* A ray in the axes of a form, relative to its centre. The origin is moved along the ray by `shift` (in t) to the point
 * nearest to the centre, which avoids cancellation if the form is far away. */
typedef struct LocalRay {
    TalusF3 o, d;
    float shift;
} LocalRay;

/* Transforms a ray to the axes of a form. */
static LocalRay make_local_ray(const TalusViewedSolid *form, TalusRay ray)
{
    TalusF3 from = talus_f3_sub(ray.o, form->centre);
    LocalRay r = {.shift = -talus_f3_dot(from, ray.d) / talus_f3_dot(ray.d, ray.d)};
    from = talus_f3_madd(from, r.shift, ray.d);
    r.o = talus_viewed_to_axes(form, from);
    r.d = talus_viewed_to_axes(form, ray.d);
    return r;
}

/* Finds the interval of a ray inside a tube, false if it misses: find_sphere_span of the ray projected along the tube's
 * axis, where the tube is a disc, clipped to the tube's length. */
static bool find_tube_span(const TalusViewedSolid *form, TalusRay ray, RaySpan *out)
{
    static const TalusF3 axis = {0.0f, 0.0f, 0.0f};
    LocalRay l = make_local_ray(form, ray);
    TalusRay across = {{l.o.x, l.o.y, 0.0f}, {l.d.x, l.d.y, 0.0f}};
    if (!find_sphere_span(axis, form->half.x, across, out) ||
        !clip_span_to_slab(l.o.z, l.d.z, form->half.z, out))
        return false;
    out->normal = talus_viewed_from_axes(form, out->normal);
    out->t0 += l.shift;
    out->t1 += l.shift;
    return true;
}

/* Intersects a ray with a triangle from either side; the normal is interpolated between the corners and turned towards
 * the eye. Triangles are slightly enlarged, so that rounding leaves no gap between neighbours. */
static bool hit_triangle(const TalusViewedSolid *form, TalusRay ray, float *t, TalusF3 *normal)
{
    const float slack = -1e-4f;
    TalusF3 from = talus_f3_sub(ray.o, form->centre);
    float shift = -talus_f3_dot(from, ray.d) / talus_f3_dot(ray.d, ray.d);
    from = talus_f3_sub(talus_f3_madd(from, shift, ray.d), form->axis[0]);
    TalusF3 e = talus_f3_sub(form->axis[1], form->axis[0]);
    TalusF3 f = talus_f3_sub(form->axis[2], form->axis[0]), across = talus_f3_cross(ray.d, f);
    float det = talus_f3_dot(e, across);
    if (det == 0.0f)
        return false;
    TalusF3 turned = talus_f3_cross(from, e);
    float u = talus_f3_dot(from, across) / det, v = talus_f3_dot(ray.d, turned) / det;
    if (!(u >= slack && v >= slack && u + v <= 1.0f - slack))
        return false;
    *t = talus_f3_dot(f, turned) / det + shift;
    TalusF3 n = talus_f3_scale(1.0f - u - v, form->normal[0]);
    n = talus_f3_madd(talus_f3_madd(n, u, form->normal[1]), v, form->normal[2]);
    n = talus_view_direction_from_world(form->view, talus_f3_normalize(n));
    *normal = talus_f3_dot(n, ray.d) > 0.0f ? talus_f3_scale(-1.0f, n) : n;
    return *t > 0.0f;
}

/* Shortens the span to the half space that the cut leaves; false if nothing remains. */
static bool clip_span_by_cut(const TalusCut *cut, TalusRay ray, RaySpan *span)
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

/* Maximum deviation in pixels of a polyhedron's level from the round shape: in pictures (perspective) and in depth
 * maps, where shadows are blurred anyway. The coarsest level within it is used, else the finest. */
#define MAX_DEVIATION_PICTURE 0.25f
#define MAX_DEVIATION_MAP 1.0f

/* Chooses the level of a polyhedron by its size in the view. */
static const TalusPolyhedron *choose_level(const TalusSolids *solids, const TalusForm *form,
                                           const TalusView *view, TalusF3 centre, float radius)
{
    float pixels = radius * view->scale / (view->perspective ? fmaxf(centre.z, radius) : 1.0f);
    float fine = view->perspective ? MAX_DEVIATION_PICTURE : MAX_DEVIATION_MAP;
    const TalusPolyhedron *level = solids->polyhedron + form->item;
    for (int k = 1; k < form->levels && level->deviation * pixels > fine; k++)
        level++;
    return level;
}

TalusViewedSolid talus_solid_in_view(const TalusSolids *solids, int index, const TalusView *view)
{
    const TalusSolid *solid = &solids->solid[index];
    TalusViewedSolid r = {.centre = talus_view_point_from_world(view, solid->centre),
                          .radius = solid->radius,
                          .kind = -1};
    if (solid->form >= 0) {
        const TalusForm *form = &solids->form[solid->form];
        r.kind = (int)form->kind;
        r.half = form->half;
        r.opaque_from = form->opaque_from;
        r.view = view;
        if (form->kind == TALUS_FORM_POLYHEDRON)
            r.polyhedron = choose_level(solids, form, view, r.centre, r.radius);
        r.normal = form->kind == TALUS_FORM_TRIANGLE ? solids->normal + form->item : NULL;
        for (int k = 0; k < 3; k++)
            r.axis[k] = talus_view_direction_from_world(view, form->axis[k]);
    }
    return r;
}

bool talus_viewed_find_hit(const TalusViewedSolid *solid, const TalusCut *cut, TalusRay ray,
                           float *t, TalusF3 *normal)
{
    RaySpan span = {0};
    if (solid->kind == TALUS_FORM_TRIANGLE)
        return hit_triangle(solid, ray, t, normal);
    if (solid->kind < 0 ? !find_sphere_span(solid->centre, solid->radius, ray, &span)
                        : !find_tube_span(solid, ray, &span))
        return false;
    if (cut->on && !clip_span_by_cut(cut, ray, &span))
        return false;
    if (!(span.t0 > 0.0f))
        return false;
    *t = span.t0;
    *normal = span.normal;
    return true;
}

bool talus_viewed_is_opaque(const TalusViewedSolid *triangle)
{
    const TalusF3 *n = triangle->normal;
    TalusF3 sum = talus_f3_add(talus_f3_add(n[0], n[1]), n[2]);
    float along =
        talus_f3_dot(talus_view_direction_from_world(triangle->view, sum), triangle->centre);
    return triangle->opaque_from == TALUS_OPAQUE_FROM_BOTH ||
           (triangle->opaque_from == TALUS_OPAQUE_FROM_FRONT ? along < 0.0f : along > 0.0f);
}

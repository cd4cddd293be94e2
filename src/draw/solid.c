/* draw/solid.c - rays against spheres, boxes, round forms, hulls and triangles. */
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

/* A ray in the axes of a form, `shift` of t on from where it began: near the form, so that no digits are
 * lost to the distance. */
typedef struct Local {
    TalusF3 o, d;
    float shift;
} Local;

static Local local_ray(const TalusPlaced *form, TalusRay ray)
{
    TalusF3 from = talus_f3_sub(ray.o, form->centre);
    Local r = {.shift = -talus_f3_dot(from, ray.d) / talus_f3_dot(ray.d, ray.d)};
    from = talus_f3_madd(from, r.shift, ray.d);
    r.o = talus_f3(talus_f3_dot(form->axis[0], from), talus_f3_dot(form->axis[1], from),
                   talus_f3_dot(form->axis[2], from));
    r.d = talus_f3(talus_f3_dot(form->axis[0], ray.d), talus_f3_dot(form->axis[1], ray.d),
                   talus_f3_dot(form->axis[2], ray.d));
    return r;
}

static TalusF3 out_of_axes(const TalusF3 axis[3], TalusF3 a)
{
    TalusF3 r = talus_f3_scale(a.x, axis[0]);
    return talus_f3_madd(talus_f3_madd(r, a.y, axis[1]), a.z, axis[2]);
}

/* A union of convex parts that is convex itself is entered with the first and left with the last. */
static void join(Span *all, const Span *part)
{
    if (part->t0 < all->t0) {
        all->t0 = part->t0;
        all->normal = part->normal;
    }
    all->t1 = fmaxf(all->t1, part->t1);
}

/* The straight part, and a ball at either end. */
static bool capsule_span(const TalusPlaced *form, Local l, Span *out)
{
    float radius = form->half.x, straight = form->half.z - radius;
    Span part = {-INFINITY, INFINITY, {0.0f, 0.0f, -1.0f}};
    *out = (Span){INFINITY, -INFINITY, {0.0f, 0.0f, -1.0f}};
    if (slab(l.o.z, l.d.z, straight, form->axis[2], &part) &&
        side(l.o, l.d, radius, form->axis, &part))
        join(out, &part);
    for (int end = -1; end <= 1; end += 2) {
        TalusF3 middle = {0.0f, 0.0f, (float)end * straight};
        if (sphere_span(middle, radius, (TalusRay){l.o, l.d}, &part)) {
            part.normal = out_of_axes(form->axis, part.normal);
            join(out, &part);
        }
    }
    return out->t0 < out->t1;
}

/* In coordinates divided by the semi-axes it is the unit sphere. */
static bool ellipsoid_span(const TalusPlaced *form, Local l, Span *out)
{
    TalusF3 h = form->half;
    TalusRay ray = {{l.o.x / h.x, l.o.y / h.y, l.o.z / h.z},
                    {l.d.x / h.x, l.d.y / h.y, l.d.z / h.z}};
    if (!sphere_span(talus_f3(0.0f, 0.0f, 0.0f), 1.0f, ray, out))
        return false;
    TalusF3 n = {out->normal.x / h.x, out->normal.y / h.y, out->normal.z / h.z};
    out->normal = out_of_axes(form->axis, talus_f3_unit(n));
    return true;
}

/* The stretch within x^2 + y^2 <= k^2 z^2, z <= 0: the nappe below an apex at the origin. With
 * a t^2 + 2 b t + c <= 0: a > 0 between the roots, of one nappe; a < 0 outside them, a nappe each. */
static bool nappe(TalusF3 o, TalusF3 d, float k, float *enter, float *leave)
{
    float kk = k * k, a = d.x * d.x + d.y * d.y - kk * d.z * d.z;
    float b = o.x * d.x + o.y * d.y - kk * o.z * d.z, c = o.x * o.x + o.y * o.y - kk * o.z * o.z;
    float root = b * b - a * c;
    if (a == 0.0f) /* along the mantle: one root */
        a = 1e-12f * (d.x * d.x + d.y * d.y + d.z * d.z);
    if (root < 0.0f && a > 0.0f)
        return false;
    root = sqrtf(fmaxf(root, 0.0f));
    float q = b > 0.0f ? -b - root : -b + root, t0 = q / a, t1 = q != 0.0f ? c / q : t0;
    float low = fminf(t0, t1), high = fmaxf(t0, t1);
    if (a > 0.0f) {
        *enter = low;
        *leave = high;
        return o.z + 0.5f * (low + high) * d.z <= 0.0f;
    }
    *enter = d.z > 0.0f ? -INFINITY : high;
    *leave = d.z > 0.0f ? low : INFINITY;
    return true;
}

static bool cone_span(const TalusPlaced *form, Local l, Span *out)
{
    float h = form->half.z, k = 0.5f * form->half.x / h, enter, leave;
    *out = (Span){-INFINITY, INFINITY, {0.0f, 0.0f, -1.0f}};
    if (!slab(l.o.z, l.d.z, h, form->axis[2], out) ||
        !nappe(talus_f3(l.o.x, l.o.y, l.o.z - h), l.d, k, &enter, &leave))
        return false;
    if (enter > out->t0) {
        out->t0 = enter;
        float x = l.o.x + enter * l.d.x, y = l.o.y + enter * l.d.y, r = sqrtf(x * x + y * y);
        TalusF3 n = r > 0.0f ? talus_f3(x / r, y / r, k) : talus_f3(0.0f, 0.0f, 1.0f);
        out->normal = out_of_axes(form->axis, talus_f3_unit(n));
    }
    out->t1 = fminf(out->t1, leave);
    return out->t0 < out->t1;
}

static bool hull_span(const TalusPlaced *form, Local l, Span *out)
{
    int entered = -1;
    *out = (Span){-INFINITY, INFINITY, {0.0f, 0.0f, -1.0f}};
    for (int k = 0; k < form->facet_count; k++) {
        const TalusFacet *f = &form->facet[k];
        float along = talus_f3_dot(f->normal, l.d), room = f->offset - talus_f3_dot(f->normal, l.o);
        if (along == 0.0f) {
            if (room < 0.0f)
                return false;
            continue;
        }
        float t = room / along;
        if (along > 0.0f) {
            out->t1 = fminf(out->t1, t);
        } else if (t > out->t0) {
            out->t0 = t;
            entered = k;
        }
    }
    if (entered >= 0)
        out->normal = out_of_axes(form->axis, form->facet[entered].normal);
    return out->t0 < out->t1;
}

static bool form_span(const TalusPlaced *form, TalusRay ray, Span *out)
{
    Local l = local_ray(form, ray);
    bool met;
    switch (form->kind) {
    case TALUS_FORM_CAPSULE: met = capsule_span(form, l, out); break;
    case TALUS_FORM_CONE: met = cone_span(form, l, out); break;
    case TALUS_FORM_ELLIPSOID: met = ellipsoid_span(form, l, out); break;
    case TALUS_FORM_HULL: met = hull_span(form, l, out); break;
    default:
        *out = (Span){-INFINITY, INFINITY, {0.0f, 0.0f, -1.0f}};
        met = slab(l.o.z, l.d.z, form->half.z, form->axis[2], out);
        if (form->kind == TALUS_FORM_CYLINDER)
            met = met && side(l.o, l.d, form->half.x, form->axis, out);
        else
            met = met && slab(l.o.x, l.d.x, form->half.x, form->axis[0], out) &&
                  slab(l.o.y, l.d.y, form->half.y, form->axis[1], out);
    }
    out->t0 += l.shift;
    out->t1 += l.shift;
    return met;
}

/* Both sides are seen. Neighbours overlap a little, so that rounding leaves no gap between them. */
static bool triangle_hit(const TalusPlaced *form, TalusRay ray, float *t, TalusF3 *normal)
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
    n = talus_view_turn(form->view, talus_f3_unit(n));
    *normal = talus_f3_dot(n, ray.d) > 0.0f ? talus_f3_scale(-1.0f, n) : n;
    return *t > 0.0f;
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
        r.view = view;
        if (form->kind == TALUS_FORM_HULL) {
            const TalusPolyhedron *hull = &solids->hull[form->item];
            r.facet = hull->facet;
            r.corner = hull->corner;
            r.loop = hull->loop;
            r.facet_count = hull->facets;
            r.corner_count = hull->corners;
            r.round = hull->round;
        }
        r.normal = form->kind == TALUS_FORM_TRIANGLE ? solids->normal + form->item : NULL;
        for (int k = 0; k < 3; k++)
            r.axis[k] = talus_view_turn(view, form->axis[k]);
    }
    return r;
}

bool talus_placed_hit(const TalusPlaced *solid, const TalusCut *cut, TalusRay ray, float *t,
                      TalusF3 *normal)
{
    Span span;
    if (solid->kind == TALUS_FORM_TRIANGLE)
        return triangle_hit(solid, ray, t, normal);
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

/* On the face f, the edge with another face lies at its distance over the sine of the angle between the two;
 * blunt edges are none. */
static float hull_edge(const TalusPlaced *solid, TalusF3 p)
{
    const float blunt = 0.94f; /* cosine: 20 degrees */
    int on = 0;
    float least = INFINITY, edge2 = INFINITY;
    for (int k = 0; k < solid->facet_count; k++) {
        float room = fabsf(solid->facet[k].offset - talus_f3_dot(solid->facet[k].normal, p));
        if (room < least) {
            least = room;
            on = k;
        }
    }
    TalusF3 n = solid->facet[on].normal;
    for (int k = 0; k < solid->facet_count; k++) {
        float room = solid->facet[k].offset - talus_f3_dot(solid->facet[k].normal, p);
        float c = talus_f3_dot(n, solid->facet[k].normal), sine2 = 1.0f - c * c;
        if (k != on && c < blunt && room * room < edge2 * sine2)
            edge2 = room * room / sine2;
    }
    return sqrtf(edge2);
}

/* Of the distances to the faces the least is that of the face the point is on, the next the edge's. */
float talus_placed_edge(const TalusPlaced *solid, TalusF3 at)
{
    TalusF3 p = talus_f3_sub(at, solid->centre), h = solid->half;
    float x = talus_f3_dot(solid->axis[0], p), y = talus_f3_dot(solid->axis[1], p);
    float up = talus_f3_dot(solid->axis[2], p), z = h.z - fabsf(up);
    switch (solid->kind) {
    case TALUS_FORM_BOX:
        x = h.x - fabsf(x);
        y = h.y - fabsf(y);
        return fmaxf(fminf(x, y), fminf(fmaxf(x, y), z)); /* the middle one */
    case TALUS_FORM_CYLINDER: return fmaxf(z, h.x - sqrtf(x * x + y * y));
    case TALUS_FORM_CONE: return fmaxf(h.z + up, h.x - sqrtf(x * x + y * y)); /* its rim */
    case TALUS_FORM_HULL: return hull_edge(solid, talus_f3(x, y, up));
    default: return INFINITY;
    }
}

/* collide/narrow.c - the table of narrow-phase functions, and the short ones. */
#include "collide/narrow.h"

#include "geometry/closest.h"

static TalusNarrowFn sphere_sphere, sphere_plane, sphere_box, sphere_cylinder, sphere_revolve,
    box_plane, cylinder_plane;

/* [first shape][second shape]; a pair not found is looked up the other way round. */
static TalusNarrowFn *const table[TALUS_SHAPE_KINDS][TALUS_SHAPE_KINDS] = {
    [TALUS_SHAPE_SPHERE] = {[TALUS_SHAPE_SPHERE] = sphere_sphere,
                            [TALUS_SHAPE_PLANE] = sphere_plane,
                            [TALUS_SHAPE_BOX] = sphere_box,
                            [TALUS_SHAPE_CYLINDER] = sphere_cylinder,
                            [TALUS_SHAPE_REVOLVE] = sphere_revolve},
    [TALUS_SHAPE_BOX] = {[TALUS_SHAPE_PLANE] = box_plane, [TALUS_SHAPE_BOX] = talus_narrow_box_box},
    [TALUS_SHAPE_CYLINDER] = {[TALUS_SHAPE_PLANE] = cylinder_plane},
};

void talus_touch_add(TalusTouchSink *sink, const TalusTouch *touch)
{
    if (!sink->swapped) {
        sink->fn(sink->context, touch);
        return;
    }
    TalusTouch t = {touch->feature, talus_neg(touch->normal), touch->gap, touch->arm_b,
                    touch->arm_a};
    sink->fn(sink->context, &t);
}

static bool revolve_within(const TalusPose *body, const TalusPose *wall, double reach)
{
    const TalusShapeDef *def = &wall->shape->def;
    TalusVec3 p = talus_rotate_back(wall->orientation, talus_sub(body->position, wall->position));
    return talus_revolve_near(def->profile, def->point_count, p, body->radius + reach);
}

/* Whether two shapes without a function of their own may touch. */
static bool within(const TalusPose *a, const TalusPose *b, double reach)
{
    if (a->shape->def.kind == TALUS_SHAPE_REVOLVE)
        return revolve_within(b, a, reach);
    if (b->shape->def.kind == TALUS_SHAPE_REVOLVE)
        return revolve_within(a, b, reach);
    TalusAabb p = talus_shape_bounds(a->shape, a->radius, a->position, a->orientation);
    TalusAabb q = talus_shape_bounds(b->shape, b->radius, b->position, b->orientation);
    return p.lo.x - q.hi.x < reach && q.lo.x - p.hi.x < reach && p.lo.y - q.hi.y < reach &&
           q.lo.y - p.hi.y < reach && p.lo.z - q.hi.z < reach && q.lo.z - p.hi.z < reach;
}

bool talus_narrow(const TalusPose *a, const TalusPose *b, double reach, TalusTouchFn *fn,
                  void *context)
{
    TalusShapeKind ka = a->shape->def.kind, kb = b->shape->def.kind;
    TalusTouchSink sink = {fn, context, !table[ka][kb]};
    if (table[ka][kb])
        table[ka][kb](a, b, reach, &sink);
    else if (table[kb][ka])
        table[kb][ka](b, a, reach, &sink);
    else
        return !within(a, b, reach);
    return true;
}

/* ---- sphere ---------------------------------------------------------------------------------- */

/* The sphere a against a surface whose outward normal at the nearest point is `out` (world frame),
 * `distance` from the sphere's centre. */
static void touch_sphere(const TalusPose *a, const TalusPose *b, uint32_t feature, TalusVec3 out,
                         double distance, double reach, TalusTouchSink *sink)
{
    double gap = distance - a->radius;
    if (!(gap < reach))
        return;
    TalusVec3 on_b = talus_madd(a->position, -distance, out);
    TalusTouch touch = {feature, talus_neg(out), gap, talus_scale(-a->radius, out),
                        talus_sub(on_b, b->position)};
    talus_touch_add(sink, &touch);
}

static void sphere_sphere(const TalusPose *a, const TalusPose *b, double reach,
                          TalusTouchSink *sink)
{
    TalusVec3 d = talus_sub(a->position, b->position);
    TalusVec3 out = talus_normalize(d, talus_vec3(0.0, 0.0, 1.0));
    touch_sphere(a, b, 0, out, talus_norm(d) - b->radius, reach, sink);
}

static void sphere_plane(const TalusPose *a, const TalusPose *b, double reach, TalusTouchSink *sink)
{
    TalusVec3 out = talus_rotate(b->orientation, talus_vec3(0.0, 0.0, 1.0));
    double height = talus_dot(out, talus_sub(a->position, b->position));
    touch_sphere(a, b, 0, out, height, reach, sink);
}

static TalusVec3 into_frame(const TalusPose *frame, TalusVec3 x)
{
    return talus_rotate_back(frame->orientation, talus_sub(x, frame->position));
}

static void sphere_box(const TalusPose *a, const TalusPose *b, double reach, TalusTouchSink *sink)
{
    TalusVec3 out;
    double distance = talus_box_distance(b->shape->def.half, into_frame(b, a->position), &out);
    touch_sphere(a, b, 0, talus_rotate(b->orientation, out), distance, reach, sink);
}

static void sphere_cylinder(const TalusPose *a, const TalusPose *b, double reach,
                            TalusTouchSink *sink)
{
    const TalusShapeDef *def = &b->shape->def;
    TalusVec3 out;
    double distance =
        talus_cylinder_distance(def->radius, def->half_height, into_frame(b, a->position), &out);
    touch_sphere(a, b, 0, talus_rotate(b->orientation, out), distance, reach, sink);
}

typedef struct RevolveCall {
    const TalusPose *a, *b;
    double reach;
    TalusTouchSink *sink;
} RevolveCall;

static void touch_revolve(void *context, uint32_t feature, TalusVec3 normal, double distance)
{
    const RevolveCall *call = context;
    touch_sphere(call->a, call->b, feature, talus_rotate(call->b->orientation, normal), distance,
                 call->reach, call->sink);
}

static void sphere_revolve(const TalusPose *a, const TalusPose *b, double reach,
                           TalusTouchSink *sink)
{
    const TalusShapeDef *def = &b->shape->def;
    RevolveCall call = {a, b, reach, sink};
    talus_revolve_visit(def->profile, def->point_count, into_frame(b, a->position),
                        a->radius + reach, touch_revolve, &call);
}

/* ---- plane ----------------------------------------------------------------------------------- */

/* A point of body a, given by its arm, against the plane b. */
static void touch_plane(const TalusPose *a, const TalusPose *b, uint32_t feature, TalusVec3 up,
                        TalusVec3 arm, double reach, TalusTouchSink *sink)
{
    TalusVec3 from_b = talus_add(talus_sub(a->position, b->position), arm);
    double gap = talus_dot(up, from_b);
    if (!(gap < reach))
        return;
    TalusTouch touch = {feature, talus_neg(up), gap, arm, talus_madd(from_b, -gap, up)};
    talus_touch_add(sink, &touch);
}

/* The feature is the vertex: bits 0, 1, 2 tell the positive x, y, z side. */
static void box_plane(const TalusPose *a, const TalusPose *b, double reach, TalusTouchSink *sink)
{
    TalusVec3 up = talus_rotate(b->orientation, talus_vec3(0.0, 0.0, 1.0));
    TalusVec3 h = a->shape->def.half;
    for (uint32_t v = 0; v < 8; v++) {
        TalusVec3 corner = talus_vec3(v & 1 ? h.x : -h.x, v & 2 ? h.y : -h.y, v & 4 ? h.z : -h.z);
        touch_plane(a, b, v, up, talus_rotate(a->orientation, corner), reach, sink);
    }
}

/* Four points of each rim: its lowest and the three a quarter turn apart from there. A cylinder
 * that lies touches with one point per rim, one that stands with four. Upright the lowest point is
 * lost in rounding, and points fixed to the body take its place. The feature is 4 rim + quarter. */
static void cylinder_plane(const TalusPose *a, const TalusPose *b, double reach,
                           TalusTouchSink *sink)
{
    const double upright = 0x1p-16; /* sine of the tilt */
    const TalusShapeDef *def = &a->shape->def;
    TalusVec3 up = talus_rotate(b->orientation, talus_vec3(0.0, 0.0, 1.0));
    TalusVec3 axis = talus_rotate(a->orientation, talus_vec3(0.0, 0.0, 1.0));
    TalusVec3 down = talus_sub(talus_scale(talus_dot(up, axis), axis), up);
    double tilt = talus_norm(down);
    TalusVec3 lowest = tilt > upright ? talus_scale(1.0 / tilt, down)
                                      : talus_rotate(a->orientation, talus_vec3(1.0, 0.0, 0.0));
    TalusVec3 across = talus_cross(axis, lowest);
    for (uint32_t rim = 0; rim < 2; rim++) {
        TalusVec3 centre = talus_scale(rim ? def->half_height : -def->half_height, axis);
        for (uint32_t quarter = 0; quarter < 4; quarter++) {
            double r = quarter < 2 ? def->radius : -def->radius;
            TalusVec3 arm = talus_madd(centre, r, quarter & 1 ? across : lowest);
            touch_plane(a, b, 4 * rim + quarter, up, arm, reach, sink);
        }
    }
}

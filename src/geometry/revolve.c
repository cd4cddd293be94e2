/* geometry/revolve.c - a thin wall: a polyline (radius, height) turned about the z axis.
 *
 * On every circle of the wall the point nearest to p has p's own azimuth, so the nearest points of
 * the surface are those of the polyline in the half plane through p and the axis. There:
 *   - p is over a segment if it projects between its ends: a face contact
 *   - p belongs to a vertex if it lies beyond the segment before it and before the segment after
 *     it, which happens on the convex side only; free ends need one of the two
 * Both are decided at the vertex, once, from the same numbers: no gap and no overlap is left
 * between neighbours. Where two segments continue each other the vertex plays no part at all. */
#include "base/status.h"
#include "geometry/closest.h"
#include "geometry/kinds.h"

/* sin^2 of the angle below which a joint counts as straight. */
static const double STRAIGHT = 0x1p-40;

typedef struct Point {
    double r, z;
} Point;

static Point point(const double *profile, int k)
{
    Point p = {profile[2 * k], profile[2 * k + 1]};
    return p;
}

static Point minus(Point a, Point b)
{
    Point p = {a.r - b.r, a.z - b.z};
    return p;
}

static double dot(Point a, Point b)
{
    return a.r * b.r + a.z * b.z;
}

static double cross(Point a, Point b)
{
    return a.r * b.z - a.z * b.r;
}

static TalusStatus check_point(const double *profile, int k)
{
    Point p = point(profile, k);
    if (!(p.r >= 0.0 && p.r < INFINITY && fabs(p.z) < INFINITY))
        return talus_fail(TALUS_ERR_ARGUMENT,
                          "revolve: profile point %d is (%g, %g); it must be (radius, height), "
                          "finite and with radius >= 0",
                          k, p.r, p.z);
    if (k == 0)
        return TALUS_OK;
    Point before = point(profile, k - 1);
    if (p.r == before.r && p.z == before.z)
        return talus_fail(TALUS_ERR_ARGUMENT,
                          "revolve: profile points %d and %d are both (%g, %g); neighbours must "
                          "differ",
                          k - 1, k, p.r, p.z);
    if (p.r == 0.0 && before.r == 0.0)
        return talus_fail(TALUS_ERR_ARGUMENT,
                          "revolve: profile points %d and %d both have radius 0; a segment along "
                          "the axis has no surface",
                          k - 1, k);
    return TALUS_OK;
}

static TalusStatus check(const TalusShapeDef *def)
{
    if (def->point_count < 2 || !def->profile)
        return talus_fail(TALUS_ERR_ARGUMENT, "revolve: profile has %d points; it needs at least 2",
                          def->profile ? def->point_count : 0);
    for (int k = 0; k < def->point_count; k++)
        TALUS_TRY(check_point(def->profile, k));
    return TALUS_OK;
}

static void measure(TalusShape *shape)
{
    double largest = 0.0;
    for (int k = 0; k < shape->def.point_count; k++) {
        Point p = point(shape->profile, k);
        largest = fmax(largest, dot(p, p));
    }
    shape->bounding_radius = sqrt(largest);
    shape->size = 0.0;
}

/* Along a world axis whose component on the shape's axis is u, the circle (r, z) spans
 * u z -+ r sqrt(1 - u^2). */
static void span(const TalusShape *shape, double u, double *lo, double *hi)
{
    double across = sqrt(fmax(0.0, 1.0 - u * u));
    *lo = INFINITY;
    *hi = -INFINITY;
    for (int k = 0; k < shape->def.point_count; k++) {
        Point p = point(shape->profile, k);
        *lo = fmin(*lo, u * p.z - across * p.r);
        *hi = fmax(*hi, u * p.z + across * p.r);
    }
}

static TalusAabb bounds(const TalusShape *shape, double radius, TalusVec3 position,
                        TalusQuat orientation)
{
    (void)radius;
    TalusVec3 u = talus_rotate(orientation, talus_vec3(0.0, 0.0, 1.0));
    TalusVec3 lo, hi;
    span(shape, u.x, &lo.x, &hi.x);
    span(shape, u.y, &lo.y, &hi.y);
    span(shape, u.z, &lo.z, &hi.z);
    TalusAabb r = {talus_add(position, lo), talus_add(position, hi)};
    return r;
}

bool talus_revolve_near(const double *profile, int points, TalusVec3 p, double reach)
{
    double limit = reach * reach;
    Point c = {sqrt(p.x * p.x + p.y * p.y), p.z};
    Point from = minus(c, point(profile, 0));
    if (dot(from, from) < limit)
        return true;
    for (int k = 0; k + 1 < points; k++) {
        Point direction = minus(point(profile, k + 1), point(profile, k));
        double length2 = dot(direction, direction), along = dot(from, direction);
        double off = cross(direction, from);
        if (along > 0.0 && along < length2 && off * off < limit * length2)
            return true;
        from = minus(c, point(profile, k + 1));
        if (dot(from, from) < limit)
            return true;
    }
    return false;
}

/* One half plane through the axis and what is asked of it. */
typedef struct Query {
    const double *profile;
    int points;
    Point c;           /* p projected into the half plane */
    double off_plane2; /* squared distance of p from it */
    TalusVec3 radial;  /* its direction */
    uint32_t turn;     /* 0: p lies in the half plane */
    double reach;
    TalusRevolveFn *fn;
    void *context;
} Query;

static void report(const Query *q, uint32_t feature, TalusVec3 normal, double distance)
{
    q->fn(q->context, feature + (q->turn << 30), normal, distance);
}

static void visit_face(const Query *q, int k)
{
    Point start = point(q->profile, k);
    Point direction = minus(point(q->profile, k + 1), start);
    double length2 = dot(direction, direction);
    double off = cross(direction, minus(q->c, start)); /* length times height over the segment */
    if (!(off * off < q->reach * q->reach * length2))
        return;
    double side = off < 0.0 ? -1.0 : 1.0, length = sqrt(length2);
    Point n = {-side * direction.z / length, side * direction.r / length};
    if (q->turn) { /* a ring forms only where p is inside, on the side towards the axis */
        Point own = {-2.0 * q->c.r, q->c.z};
        if (!(n.r < 0.0 && side * cross(direction, minus(own, start)) >= 0.0))
            return;
    }
    TalusVec3 normal = talus_vec3(n.r * q->radial.x, n.r * q->radial.y, n.z);
    report(q, 2 * (uint32_t)k + 1, normal, fabs(off) / length);
}

static void visit_circle(const Query *q, int k, TalusVec3 p)
{
    Point v = point(q->profile, k);
    Point d = minus(q->c, v);
    double distance2 = dot(d, d) + q->off_plane2;
    if (!(distance2 < q->reach * q->reach) || (q->turn && v.r == 0.0))
        return;
    double distance = sqrt(distance2);
    TalusVec3 from = talus_sub(p, talus_vec3(v.r * q->radial.x, v.r * q->radial.y, v.z));
    report(q, 2 * (uint32_t)k, talus_normalize(from, talus_vec3(0.0, 0.0, 1.0)), distance);
}

static bool straight(Point a, Point b)
{
    double sine = cross(a, b);
    return sine * sine <= STRAIGHT * dot(a, a) * dot(b, b) && dot(a, b) > 0.0;
}

static void visit_half_plane(const Query *q, TalusVec3 p)
{
    int last = q->points - 2;
    Point direction = minus(point(q->profile, 1), point(q->profile, 0));
    bool before = dot(minus(q->c, point(q->profile, 0)), direction) < 0.0;
    if (before)
        visit_circle(q, 0, p);
    for (int k = 0; k <= last; k++) {
        Point from = minus(q->c, point(q->profile, k + 1));
        double along = dot(from, direction);
        bool beyond = along > 0.0, before_next = true;
        if (k < last) {
            Point next = minus(point(q->profile, k + 2), point(q->profile, k + 1));
            before_next = straight(direction, next) ? !beyond : dot(from, next) <= 0.0;
            direction = next;
        }
        if (!before && !beyond)
            visit_face(q, k);
        if (beyond && before_next)
            visit_circle(q, k + 1, p);
        before = before_next;
    }
}

void talus_revolve_visit(const double *profile, int points, TalusVec3 p, double reach,
                         TalusRevolveFn *fn, void *context)
{
    double rho = sqrt(p.x * p.x + p.y * p.y);
    TalusVec3 radial =
        rho > 0.0 ? talus_vec3(p.x / rho, p.y / rho, 0.0) : talus_vec3(1.0, 0.0, 0.0);
    Query q = {profile, points, {rho, p.z}, 0.0, radial, 0, reach, fn, context};
    visit_half_plane(&q, p);
    if (rho > 2.0 * reach) /* then no point at 120 degrees can be in reach */
        return;
    const double sine = 0.8660254037844386; /* of 120 degrees; the cosine is -1/2 */
    q.c.r = -0.5 * rho;
    q.off_plane2 = 0.75 * rho * rho;
    for (q.turn = 1; q.turn <= 2; q.turn++) {
        double s = q.turn == 1 ? sine : -sine;
        q.radial = talus_vec3(-0.5 * radial.x - s * radial.y, s * radial.x - 0.5 * radial.y, 0.0);
        visit_half_plane(&q, p);
    }
}

const TalusShapeOps talus_revolve_ops = {
    .name = "revolve",
    .summary =
        "a thin wall: a profile of (radius, height) points turned about z; fixed bodies only",
    .fixed_only = true,
    .check = check,
    .measure = measure,
    .bounds = bounds,
};

/* geometry/revolve.h - contacts of a ball with a thin wall of revolution about z; for host and device.
 *
 * p is the centre of the ball. On every circle of the wall the point nearest to p has p's azimuth, so the nearest
 * points of the surface are those of the polyline in the half plane through p and the axis. In that half plane:
 *   - if p projects between the ends of a segment, the face of the segment has a contact
 *   - if p lies beyond the segment before a vertex and before the segment after it, which happens on the convex side
 *     only, the circle of the vertex has a contact; at a free end one of the two conditions suffices
 * Both are decided once, at the vertex, from the same numbers, so that no position of p is left out or counted twice. A
 * vertex between collinear segments never has a contact.
 *
 * The including file defines the sink of the nearest points, so that no function is called through a pointer:
 *     TALUS_REVOLVE_SINK                                      a type
 *     TALUS_REVOLVE_RECEIVE(sink, feature, normal, distance)  receives each point; the unit `normal` points from
 *                                                             the wall to p, on either side */
#ifndef TALUS_GEOMETRY_REVOLVE_H
#define TALUS_GEOMETRY_REVOLVE_H

#include "geometry/closest.h"

#if !defined(TALUS_REVOLVE_SINK) || !defined(TALUS_REVOLVE_RECEIVE)
#error "define TALUS_REVOLVE_SINK and TALUS_REVOLVE_RECEIVE before including geometry/revolve.h"
#endif

/* Search in one half plane through the axis. */
typedef struct TalusHalfPlaneQuery {
    const double *profile;
    int points;
    TalusProfilePoint c; /* p projected into the plane of the half plane; r < 0 if turned */
    double off_plane2;   /* squared distance of p from the half plane */
    TalusVec3 radial;    /* direction of the half plane */
    uint32_t turn;       /* 0: half plane through p; 1, 2: half plane turned by 120, 240 degrees */
    double reach;        /* upper limit of distances from p */
    TALUS_REVOLVE_SINK *sink;
} TalusHalfPlaneQuery;

/* Considers the face from profile point k to k + 1: passes its point in this half plane that is nearest to p to the
 * sink, if in reach. In a turned half plane only if p is on the side of the face towards the axis. */
TALUS_INLINE void talus_revolve_visit_face(const TalusHalfPlaneQuery *q, int k)
{
    TalusProfilePoint start = talus_profile_point(q->profile, k);
    TalusProfilePoint direction =
        talus_profile_difference(talus_profile_point(q->profile, k + 1), start);
    double length2 = talus_profile_dot(direction, direction);
    /* length times height over the segment */
    double off = talus_profile_cross(direction, talus_profile_difference(q->c, start));
    if (!(off * off < q->reach * q->reach * length2))
        return;
    double side = off < 0.0 ? -1.0 : 1.0, length = sqrt(length2);
    TalusProfilePoint n = {-side * direction.z / length, side * direction.r / length};
    if (q->turn) { /* a ring forms only if p is inside, on the side towards the axis */
        TalusProfilePoint own = {-2.0 * q->c.r, q->c.z};
        if (!(n.r < 0.0 &&
              side * talus_profile_cross(direction, talus_profile_difference(own, start)) >= 0.0))
            return;
    }
    TalusVec3 normal = talus_vec3(n.r * q->radial.x, n.r * q->radial.y, n.z);
    TALUS_REVOLVE_RECEIVE(q->sink, 2 * (uint32_t)k + 1 + (q->turn << 30), normal,
                          fabs(off) / length);
}

/* Considers the circle of profile point k: passes its point in this half plane to the sink, if in reach of p. A turned
 * half plane passes no point of the axis, because the half plane through p has passed it. */
TALUS_INLINE void talus_revolve_visit_circle(const TalusHalfPlaneQuery *q, int k, TalusVec3 p)
{
    TalusProfilePoint v = talus_profile_point(q->profile, k);
    TalusProfilePoint d = talus_profile_difference(q->c, v);
    double distance2 = talus_profile_dot(d, d) + q->off_plane2;
    if (!(distance2 < q->reach * q->reach) || (q->turn && v.r == 0.0))
        return;
    double distance = sqrt(distance2);
    TalusVec3 from = talus_sub(p, talus_vec3(v.r * q->radial.x, v.r * q->radial.y, v.z));
    TalusVec3 normal = talus_normalize(from, talus_vec3(0.0, 0.0, 1.0));
    TALUS_REVOLVE_RECEIVE(q->sink, 2 * (uint32_t)k + (q->turn << 30), normal, distance);
}

/* True if two successive segments with the directions a and b are collinear. */
TALUS_INLINE bool talus_profile_is_straight(TalusProfilePoint a, TalusProfilePoint b)
{
    const double straight = 0x1p-40; /* sin^2 of the angle below which segments are collinear */
    double sine = talus_profile_cross(a, b);
    return sine * sine <= straight * talus_profile_dot(a, a) * talus_profile_dot(b, b) &&
           talus_profile_dot(a, b) > 0.0;
}

/* Passes all contacts of the ball at p with the profile in this half plane (file head) to the sink. */
TALUS_INLINE void talus_revolve_visit_half_plane(const TalusHalfPlaneQuery *q, TalusVec3 p)
{
    int last = q->points - 2;
    TalusProfilePoint first = talus_profile_point(q->profile, 0);
    TalusProfilePoint direction =
        talus_profile_difference(talus_profile_point(q->profile, 1), first);
    bool before = talus_profile_dot(talus_profile_difference(q->c, first), direction) < 0.0;
    if (before)
        talus_revolve_visit_circle(q, 0, p);
    for (int k = 0; k <= last; k++) {
        TalusProfilePoint end = talus_profile_point(q->profile, k + 1);
        TalusProfilePoint from = talus_profile_difference(q->c, end);
        double along = talus_profile_dot(from, direction);
        bool beyond = along > 0.0, before_next = true;
        if (k < last) {
            TalusProfilePoint next =
                talus_profile_difference(talus_profile_point(q->profile, k + 2), end);
            before_next = talus_profile_is_straight(direction, next)
                              ? !beyond
                              : talus_profile_dot(from, next) <= 0.0;
            direction = next;
        }
        if (!before && !beyond)
            talus_revolve_visit_face(q, k);
        if (beyond && before_next)
            talus_revolve_visit_circle(q, k + 1, p);
        before = before_next;
    }
}

/* Passes every contact of a ball at p with the wall nearer than `reach` to the sink:
 *   - a face that p projects onto: one point; in a concave corner one per face
 *   - an edge or a free rim whose circle is nearer than the faces beside it: one point
 *   - if the ball fills the wall (p near the axis of a tube, funnel or hole), also the points of that face or
 *     circle at 120 and 240 degrees from p that are nearer than `reach`: one point of a ring cannot hold the ball
 * `profile` has `points` pairs (radius, height). The feature is 2k for the circle of point k, 2k + 1 for the face from
 * point k to k + 1, plus the turn (0, 1, 2) times 2^30. */
TALUS_INLINE void talus_revolve_visit(const double *profile, int points, TalusVec3 p, double reach,
                                      TALUS_REVOLVE_SINK *sink)
{
    double rho = sqrt(p.x * p.x + p.y * p.y);
    TalusVec3 radial =
        rho > 0.0 ? talus_vec3(p.x / rho, p.y / rho, 0.0) : talus_vec3(1.0, 0.0, 0.0);
    TalusHalfPlaneQuery q = {profile, points, {rho, p.z}, 0.0, radial, 0, reach, sink};
    talus_revolve_visit_half_plane(&q, p);
    if (rho > 2.0 * reach) /* then no point at 120 degrees can be in reach */
        return;
    const double sine = 0.8660254037844386; /* of 120 degrees; the cosine is -1/2 */
    q.c.r = -0.5 * rho;
    q.off_plane2 = 0.75 * rho * rho;
    for (q.turn = 1; q.turn <= 2; q.turn++) {
        double s = q.turn == 1 ? sine : -sine;
        q.radial = talus_vec3(-0.5 * radial.x - s * radial.y, s * radial.x - 0.5 * radial.y, 0.0);
        talus_revolve_visit_half_plane(&q, p);
    }
}

#endif

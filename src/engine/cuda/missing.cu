/* engine/cuda/missing.cu - contacts that the list lacks: after a solve, among the near pairs at the solved velocities,
 * those that end the step overlapping without a contact in the list. As collide/missed.c does on the host. */
#include "backend/cuda/device/reduce.h"
#include "engine/cuda/detect.h"

extern "C" {
#include "collide/narrow.h"
}

/* Kernel argument: the list that is checked, and the velocity at which an overlap counts. */
struct Check {
    CuList list;
    double tolerance; /* m/s */
};

/* Returns the contact that an incidence belongs to (incidence.cu): a general contact has two records. */
TALUS_INLINE int64_t contact_of_incidence(const TalusEngineCounts &n, int32_t incidence)
{
    int64_t record = incidence / 2, compact = n.sphere_sphere + n.sphere_fixed;
    return record < compact ? record : compact + (record - compact) / 2;
}

/* Returns the number of contacts of the body with this problem index; INT32_MAX for -1, no index. */
TALUS_INLINE int32_t contact_count(const CuList &list, int32_t problem_index)
{
    if (problem_index < 0)
        return INT32_MAX;
    return list.incidence_start[problem_index + 1] - list.incidence_start[problem_index];
}

/* True if the list has a contact of slots a and b with this feature. a is free; the search is in the contacts of a or,
 * if b is free and has fewer, of b. */
TALUS_INLINE bool has_contact(const CuList &list, const uint8_t *mobility, uint32_t a, uint32_t b,
                              uint32_t feature)
{
    int32_t p = list.problem_index[a];
    int32_t q = mobility[b] == TALUS_MOBILITY_FREE ? list.problem_index[b] : -1;
    if (contact_count(list, q) < contact_count(list, p))
        p = q;
    for (int32_t k = list.incidence_start[p]; k < list.incidence_start[p + 1]; k++) {
        int64_t i = contact_of_incidence(list.counts, list.incidence[k]);
        if (list.slot_b[i] != b || list.slot[list.pair[i].x] != a)
            continue;
        if (i < list.counts.sphere_sphere || list.feature[i - list.counts.sphere_sphere] == feature)
            return true;
    }
    return false;
}

/* ---- two free spheres ---- */

/* True if two free spheres, at the ends of an element of CuList.pair of the new pairs, end the step overlapping by more
 * than h times the tolerance. */
static __device__ inline bool spheres_end_overlapping(const CuDetect &d, int2 pair,
                                                      double tolerance)
{
    const TalusBodyView *v = &d.bodies;
    uint32_t a = d.slot[pair.x], b = d.slot[pair.y];
    TalusVec3 between = talus_vector_between(v, a, b);
    double distance = talus_norm(between);
    double gap = distance - (d.ball[pair.x].radius + d.ball[pair.y].radius);
    if (distance > 0.0)
        gap +=
            d.options.h / distance * talus_dot(between, talus_sub(v->velocity[b], v->velocity[a]));
    return gap < -d.options.h * tolerance;
}

static __global__ void count_missing_spheres(CuDetect d, const int2 *pair, int spheres, Check check)
{
    int64_t i = item_index();
    double missing[1] = {0.0};
    if (i < spheres && spheres_end_overlapping(d, pair[i], check.tolerance))
        missing[0] =
            !has_contact(check.list, d.bodies.mobility, d.slot[pair[i].x], d.slot[pair[i].y], 0);
    add_block_counts(missing, {&d.grid->found.missing});
}

/* ---- candidates ---- */

/* Receives the contact points of a candidate. */
struct CuMissingSink {
    TalusManifoldRoute route;
    const CuDetect *d;
    const Check *check;
    CuCandidate pair;
    int missing; /* number of missing contacts so far */
};

/* Velocity of the point of a body at the end of its arm; 0 unless the body is free or driven. */
TALUS_INLINE TalusVec3 point_velocity(const TalusBodyView &v, uint32_t body, TalusVec3 arm)
{
    TalusVec3 u = talus_body_velocity(&v, body);
    return v.mobility[body] == TALUS_MOBILITY_FIXED ? u
                                                    : talus_add(u, talus_cross(v.spin[body], arm));
}

/* Counts a contact point at which the bodies end the step overlapping by more than h times the tolerance, unless the
 * list has the contact. */
TALUS_INLINE void count_if_missing(CuMissingSink *s, const TalusManifoldPoint *point)
{
    const TalusBodyView &v = s->d->bodies;
    double h = s->d->options.h;
    TalusVec3 u = talus_sub(point_velocity(v, s->pair.b, point->arm_b),
                            point_velocity(v, s->pair.a, point->arm_a));
    if (point->gap + h * talus_dot(point->normal, u) < -h * s->check->tolerance)
        s->missing +=
            !has_contact(s->check->list, v.mobility, s->pair.a, s->pair.b, point->feature);
}

#define TALUS_MANIFOLD_SINK CuMissingSink
#define TALUS_MANIFOLD_RECEIVE count_if_missing
#include "collide/pair_table.h"

/* Returns the number of missing contacts of a candidate, which has a sphere. */
static __device__ inline int count_missing_of(const CuDetect &d, CuCandidate c, const Check &check)
{
    const TalusBodyView *v = &d.bodies;
    bool swapped = talus_table_order_swapped(talus_body_kind(v, c.a), talus_body_kind(v, c.b));
    TalusPose a = talus_pose_of(v, c.a), b = talus_pose_of_nearest_image(v, c.a, c.b);
    double reach = talus_envelope_reach(talus_envelope_base(v, &d.options, c.a, c.b), d.options.h,
                                        talus_body_velocity(v, c.a), talus_body_velocity(v, c.b));
    CuMissingSink s = {TalusManifoldRoute{}, &d, &check, c, 0};
    s.route.swapped = swapped;
    talus_manifold_of_sphere(swapped ? &b : &a, swapped ? &a : &b, reach, &s);
    return s.missing;
}

static __global__ void count_missing_candidates(CuDetect d, int candidates, Check check)
{
    int64_t k = item_index();
    double missing[1] = {0.0};
    if (k < candidates)
        missing[0] = count_missing_of(d, d.candidate[k], check);
    add_block_counts(missing, {&d.grid->found.missing});
}

void cu_count_missing(const CuDetect *d, const CuList *list, const CuList *old,
                      const CuFound *found, double tolerance)
{
    Check check = {*old, tolerance};
    int spheres = (int)found->sphere_sphere, candidates = (int)found->candidates;
    launch_block(d->cu, count_missing_spheres, blocks_for(spheres), THREADS, *d, list->pair.at,
                 spheres, check);
    if (candidates)
        launch_block(d->cu, count_missing_candidates, blocks_for(candidates), THREADS, *d,
                     candidates, check);
}

/* backend/cuda/narrow.cu - contacts of all pairs that are not two moving spheres.
 *
 * One thread finds the touches of one candidate, with the host's own functions (collide/touch.h): first to
 * count them, then, when every candidate knows its place, to write them. */
#include "backend/cuda/detect.h"
#include "backend/cuda/primitives.h"
#include "backend/cuda/reduce.h"

extern "C" {
#include "backend/frame.h"
#include "collide/narrow.h"
}

/* Counts the touches of a pair within the envelope, and writes them if there is a place. */
struct CuTouchSink {
    TalusTouchRoute route;
    TalusVec3 va, vb;
    double rest, h; /* rest: envelope without closing speed */
    int count;
    int64_t at; /* of the first, in the list; -1: count only */
    const CuList *list;
    int2 pair;
    uint32_t other;
};

TALUS_INLINE void take_touch(CuTouchSink *s, const TalusTouch *touch)
{
    double closing =
        talus_closing_speed(talus_dot(s->va, touch->normal), talus_dot(s->vb, touch->normal));
    if (!(touch->gap < s->rest + s->h * closing))
        return;
    int64_t i = s->at + s->count++;
    if (s->at < 0)
        return;
    const CuList *list = s->list;
    double f[4];
    talus_frame_set(f, touch->normal.x, touch->normal.y, touch->normal.z);
    list->pair[i] = s->pair;
    list->other[i] = s->other;
    list->feature[i - list->counts.sphere_sphere] = touch->feature;
    list->frame[i] = CuFrame{f[0], f[1], f[2], f[3]};
    list->gap[i] = touch->gap;
    int64_t general = i - list->counts.sphere_sphere - list->counts.sphere_fixed;
    if (general >= 0)
        list->arms[general] = TalusArms{touch->arm_a, touch->arm_b};
}

#define TALUS_TOUCH_SINK CuTouchSink
#define TALUS_TOUCH_TAKE take_touch
#include "collide/touch.h"

static __device__ inline TalusPose pose_of(const TalusBodyView *v, uint32_t i)
{
    return TalusPose{&v->shapes[v->shape[i]], v->radius[i], v->position[i], v->orientation[i]};
}

/* False if the two shapes have no contact function and are within reach. */
static __device__ inline bool find_touches(const CuDetect &d, CuCandidate c, CuTouchSink *s)
{
    const TalusBodyView *v = &d.bodies;
    TalusPose a = pose_of(v, c.a), b = pose_of(v, c.b);
    s->route = TalusTouchRoute{};
    s->count = 0;
    s->h = d.options.h;
    s->va = talus_body_velocity(v, c.a);
    s->vb = talus_body_velocity(v, c.b);
    s->rest = talus_envelope_at_rest(v, &d.options, c.a, c.b);
    double reach = s->rest + d.options.h * (talus_norm(s->va) + talus_norm(s->vb));
    return talus_touches(&a, &b, reach, s);
}

/* Of the second run rather than the third. */
static __device__ inline bool sphere_fixed(const CuDetect &d, CuCandidate c)
{
    return d.bodies.fixed[c.b] && talus_body_kind(&d.bodies, c.a) == TALUS_SHAPE_SPHERE;
}

/* ---- count ---- */

static __global__ void count_touches(CuDetect d, int candidates, uint32_t *count,
                                     CuPartials partials)
{
    int64_t k = item();
    double total[2] = {0.0, 0.0};
    if (k <= candidates) {
        bool fixed = true;
        CuTouchSink s;
        s.at = -1;
        s.count = 0;
        if (k < candidates) {
            CuCandidate c = d.candidate[k];
            fixed = sphere_fixed(d, c);
            if (!find_touches(d, c, &s))
                atomicMin(&d.grid->found.unsupported, (unsigned long long)c.a << 32 | c.b);
        }
        count[k] = fixed ? (uint32_t)s.count : 0;
        count[candidates + 1 + k] = fixed ? 0 : (uint32_t)s.count;
        total[fixed ? 0 : 1] = s.count;
    }
    if (reduce_grid<2, 0>(partials, total)) {
        d.grid->found.fixed = total[0];
        d.grid->found.general = total[1];
    }
}

TalusStatus cu_touches_count(const CuDetect *d, int candidates, uint32_t *count)
{
    unsigned blocks = blocks_for((int64_t)candidates + 1, 128);
    TALUS_TRY(cu_partials_reserve(blocks, 2));
    launch_block(count_touches, blocks, 128, *d, candidates, count, cu_partials());
    return cu_scan(count, count, 2 * ((int64_t)candidates + 1));
}

/* ---- write ---- */

template <class T> static __device__ inline void exchange(T *array, int64_t i, int64_t j)
{
    T t = array[i];
    array[i] = array[j];
    array[j] = t;
}

/* Puts a pair's few contacts in order of features. */
static __device__ void order_features(const CuList &list, int64_t first, int count)
{
    int64_t spheres = list.counts.sphere_sphere, compact = spheres + list.counts.sphere_fixed;
    const uint32_t *feature = list.feature;
    for (int64_t i = first + 1; i < first + count; i++) {
        for (int64_t j = i; j > first && feature[j - 1 - spheres] > feature[j - spheres]; j--) {
            exchange(list.feature.at, j - 1 - spheres, j - spheres);
            exchange(list.frame.at, j - 1, j);
            exchange(list.gap.at, j - 1, j);
            if (j > compact)
                exchange(list.arms.at, j - 1 - compact, j - compact);
        }
    }
}

static __global__ void write_touches(CuDetect d, int candidates, const uint32_t *count, CuList list)
{
    int64_t k = item();
    if (k >= candidates)
        return;
    CuCandidate c = d.candidate[k];
    uint32_t at = count[sphere_fixed(d, c) ? k : candidates + 1 + k]; /* general ones come after all
                                                                         of the second run */
    CuTouchSink s;
    s.at = list.counts.sphere_sphere + (int64_t)at;
    s.list = &list;
    s.pair = make_int2(list.place[c.a], d.bodies.fixed[c.b] ? -1 : list.place[c.b]);
    s.other = c.b;
    find_touches(d, c, &s);
    order_features(list, s.at, s.count);
}

void cu_touches_write(const CuDetect *d, int candidates, const uint32_t *count, const CuList *list)
{
    launch(write_touches, blocks_for(candidates, 128), 128, *d, candidates, count, *list);
}

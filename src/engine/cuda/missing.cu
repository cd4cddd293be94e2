/* engine/cuda/missing.cu - contacts of two free spheres that the list lacks after a solve. */
#include "engine/cuda/missing.h"

#include "backend/cuda/device/reduce.h"

/* True if the two free spheres of a new pair (CuList.pair, by problem index) would end the step overlapping by more than
 * h times the tolerance. */
static __device__ inline bool spheres_end_overlapping(const CuDetect &d, int2 pair)
{
    const TalusBodyView *v = &d.bodies;
    uint32_t a = d.slot[pair.x], b = d.slot[pair.y];
    double h = d.options.h;
    TalusVec3 between = talus_vector_between(v, a, b);
    TalusVec3 u = talus_sub(v->velocity[b], v->velocity[a]);
    double distance = talus_norm(between);
    double gap = distance - (d.ball[pair.x].radius + d.ball[pair.y].radius);
    double opening = distance > 0.0 ? talus_dot(between, u) / distance : 0.0;
    return gap + h * opening < -h * d.check.tolerance;
}

static __global__ void count_missing_spheres(CuDetect d, const int2 *pair, int spheres)
{
    int64_t i = item_index();
    double missing[1] = {0.0};
    if (i < spheres && spheres_end_overlapping(d, pair[i]))
        missing[0] = !cu_has_contact(d.check.list, d.bodies.mobility, d.slot[pair[i].x],
                                     d.slot[pair[i].y], CU_ANY_FEATURE);
    add_block_counts(missing, {&d.grid->found.missing_spheres});
}

void cu_count_missing_spheres(const CuDetect *d, const CuList *list, int spheres)
{
    launch_block(d->cu, count_missing_spheres, blocks_for(spheres), THREADS, *d, list->pair.at,
                 spheres);
}

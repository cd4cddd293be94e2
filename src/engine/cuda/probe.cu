/* engine/cuda/probe.cu - sums of probes over a step; engine/probe.h has what one contact or body adds to them.
 *
 * One launch per probe covers contacts and bodies, after the solve and before the bodies move. Impulses come from the
 * solver's vector, because the list receives them only when the step succeeds. If the sums of all probes fit into the
 * totals, integrate.cu downloads them with its own; else cu_engine_get_probes does. */
#include "backend/cuda/device/reduce.h"
#include "engine/cuda/material.h"

extern "C" {
#include "collide/period.h"
#include "engine/probe.h"
}

/* Number of sums of a probe. */
enum { SUMS = sizeof(TalusProbeSums) / sizeof(double) };

/* Arguments of a probe's kernel. */
struct CuProbe : CuLawInputs {
    TalusEngineProbe def;
    TalusOperator op;
    const CuRecord *solved;    /* cu_solved_records */
    const double *gamma;       /* solved impulses */
    const TalusPeriod *period; /* NULL: space is not periodic */
    const uint16_t *group;     /* of the filter; NULL: there is only one copy */
};

/* True if the probe is of the body in this slot, or the body is in the region of the probe. */
static __device__ bool probe_covers(const CuProbe &p, uint32_t slot)
{
    return talus_probe_includes(&p.def, p.b.shape, p.b.mobility, p.b.position, p.group, slot);
}

/* Returns the vectors from the centres of a and b to the contact point, m; slots a and b. */
static __device__ TalusArms arms_of(const CuProbe &p, int64_t i, uint32_t a, uint32_t b)
{
    int64_t general = i - p.list.counts.sphere_sphere - p.list.counts.sphere_fixed;
    if (general >= 0)
        return p.list.arms[general];
    CuFrame f = p.list.frame[i];
    TalusVec3 n = talus_vec3(f.x, f.y, f.z);
    TalusArms arms;
    arms.a = talus_scale(p.b.radius[a], n);
    if (i < p.list.counts.sphere_sphere)
        arms.b = talus_scale(-p.b.radius[b], n);
    else
        arms.b = talus_sub(talus_madd(talus_add(p.b.position[a], arms.a), p.list.gap[i], n),
                           p.b.position[b]);
    if (p.period)
        arms.b = talus_nearest_image_vector(p.period, arms.b);
    return arms;
}

/* Returns the impulse of contact i on b, less the attractive impulse, world frame. */
static __device__ TalusVec3 net_impulse(const CuProbe &p, int64_t i)
{
    double local[3], world[3];
    talus_block_gamma(&p.op, p.gamma, i, local);
    local[0] -= cu_attractive_impulse(p, i);
    talus_frame_to_world(p.op.frame[i], local, world);
    return talus_vec3(world[0], world[1], world[2]);
}

/* Returns the moment, N m s, of spinning and rolling friction of contact i on b, world frame; 0 without moment rows. */
static __device__ TalusVec3 friction_moment(const CuProbe &p, int64_t i, uint32_t a)
{
    double m[3];
    if (p.op.rows != 6)
        return talus_vec3(0.0, 0.0, 0.0);
    talus_frame_to_world(p.op.frame[i], p.gamma + 6 * i + 3, m);
    return talus_scale(p.op.lever[i][0] * p.b.radius[a], talus_vec3(m[0], m[1], m[2]));
}

/* Adds contact i to the sums if the probe covers exactly one of its bodies and its impulse is not 0. */
static __device__ void add_contact(const CuProbe &p, int64_t i, double *sum)
{
    uint32_t a = p.list.slot[p.list.pair[i].x], b = p.list.slot_b[i];
    bool on_a = probe_covers(p, a);
    if (on_a == probe_covers(p, b))
        return;
    TalusVec3 impulse = net_impulse(p, i);
    if (impulse.x == 0.0 && impulse.y == 0.0 && impulse.z == 0.0)
        return;
    TalusArms arms = arms_of(p, i, a, b);
    talus_probe_add_contact(&p.def, p.b.position[on_a ? a : b], on_a ? arms.a : arms.b, on_a,
                            impulse, friction_moment(p, i, a), sum);
}

/* Adds the free body in a slot to the sums if it crosses the plane. */
static __device__ void add_crossing(const CuProbe &p, uint32_t slot, double *sum)
{
    if (p.group && talus_copy_of_group(p.group[slot]) != p.def.copy)
        return;
    const double *solved = p.solved[p.list.problem_index[slot]];
    int sign = talus_probe_crossing(&p.def, p.period, p.b.position[slot], solved, p.options.h);
    if (sign)
        talus_probe_add_crossing(sign, p.b.mass[slot], solved, sum);
}

/* Adds the body in a slot, with its solved momentum if it is free, to the sums if the probe covers it; of a plane, if it
 * crosses the plane. */
static __device__ void add_body(const CuProbe &p, uint32_t slot, double *sum)
{
    bool moves = cu_is_free(p.b.shape, p.b.mobility, slot);
    if (p.def.plane && moves)
        add_crossing(p, slot, sum);
    if (probe_covers(p, slot))
        talus_probe_add_body(p.b.mass[slot], moves ? p.solved[p.list.problem_index[slot]] : nullptr,
                             sum);
}

/* Writes the TalusProbeSums of one probe to out. */
static __global__ void sum_probe(CuTallies tallies, double *out, CuProbe p)
{
    int64_t contacts = p.list.counts.contacts;
    sum_items<SUMS, 0>(tallies, out, 0, contacts + p.b.own, 0.0, [&](int64_t i, double(&v)[SUMS]) {
        if (i < contacts)
            add_contact(p, i, v);
        else
            add_body(p, (uint32_t)(i - contacts), v + TALUS_PROBE_CONTACT_SUMS);
    });
}

static __global__ void fill_ones(int count, uint8_t *to)
{
    int64_t i = item_index();
    if (i < count)
        to[i] = 1;
}

/* True if the sums of `count` probes fit into the context's totals. */
static bool sums_fit_totals(int count)
{
    return count * SUMS <= CU_PROBE_TOTALS;
}

/* Returns the device address of the sums of `count` probes: in the totals, or e->probe_sums. */
static double *probe_sums_at(const TalusEngine *e, int count)
{
    return sums_fit_totals(count) ? e->cu->totals + CU_PROBES : e->probe_sums.at;
}

/* Sets *tallies to what counts in the sums of probes: on several ranks the contacts that this rank counts, then its own
 * bodies. */
static TalusStatus choose_counted(TalusEngine *e, CuTallies *tallies)
{
    const CuPart *part = e->cu->part;
    const size_t contacts = (size_t)cu_current_list(e)->counts.contacts;
    *tallies = CuTallies{nullptr, nullptr, part != nullptr};
    if (!part)
        return TALUS_OK;
    TALUS_TRY(e->probe_counted.reserve((int64_t)contacts + e->bodies.own, "probes"));
    cu_copy(e->cu, e->probe_counted, part->counted, contacts);
    launch(e->cu, fill_ones, blocks_for(e->bodies.own), THREADS, e->bodies.own,
           e->probe_counted.at + contacts);
    tallies->counted = e->probe_counted;
    return TALUS_OK;
}

TalusStatus cu_engine_request_probes(TalusEngine *e, const TalusEngineProbe *probe, int count)
{
    int64_t items = (int64_t)cu_current_list(e)->counts.contacts + e->bodies.own;
    CuTallies tallies;
    TALUS_TRY(talus_comm_agree(e->comm, choose_counted(e, &tallies)));
    if (!sums_fit_totals(count))
        TALUS_TRY(e->probe_sums.reserve((int64_t)count * SUMS, "probes"));
    e->probes_downloaded = false;
    CuProbe p = {cu_law_inputs(e), {},           e->step.op,     cu_solved_records(e),
                 e->step.gamma.at, e->period.at, e->filter.group};
    for (int i = 0; i < count; i++) {
        p.def = probe[i];
        launch_tallied(e->cu, tallies, sum_probe, items, probe_sums_at(e, count) + i * SUMS, p);
    }
    return cu_check(e->cu);
}

TalusStatus cu_engine_get_probes(TalusEngine *e, TalusProbeSums *sums, int count)
{
    if (e->probes_downloaded && sums_fit_totals(count))
        memcpy(sums, e->downloaded_probes, (size_t)count * sizeof *sums);
    else
        cu_get(e->cu, sums, probe_sums_at(e, count), (size_t)count * sizeof *sums);
    return cu_check(e->cu);
}

/* engine/cpu/probe.c - sums of probes over a solved part of a step; world/probe.c defines them.
 *
 * One pass over contacts (and bodies, for regions) per probe: meant for tens of probes. */
#include "engine/cpu/engine.h"

#include "collide/arms.h"

typedef struct ProbeContext {
    CpuEngine *engine;
    const TalusEngineProbe *probe;
    TalusVec3 middle;
} ProbeContext;

enum {
    CONTACT_SUMS = 7, /* force 3, torque 3, number */
    BODY_SUMS = 5     /* number, mass, momentum */
};

/* ---- contacts ---- */

/* Returns the moment of contact i on b, world frame, besides that of its force. */
static TalusVec3 contact_moment(const CpuEngine *e, int i)
{
    const TalusOperator *op = talus_problem_operator(e->problem);
    double m[3];
    if (op->rows != 6)
        return talus_vec3(0.0, 0.0, 0.0);
    talus_frame_world(op->frame[i], talus_problem_gamma(e->problem) + 6 * (int64_t)i + 3, m);
    double length = op->lever[i][0] * talus_problem_lengths(e->problem)[op->pair[i][0]];
    return talus_scale(length, talus_vec3(m[0], m[1], m[2]));
}

static void add_force(double *sum, TalusVec3 force, TalusVec3 moment, TalusVec3 arm)
{
    TalusVec3 torque = talus_add(talus_cross(arm, force), moment);
    double values[6] = {force.x, force.y, force.z, torque.x, torque.y, torque.z};
    for (int j = 0; j < 6; j++)
        sum[j] += values[j];
    sum[6] += 1.0;
}

static bool is_inside(const ProbeContext *c, uint32_t slot)
{
    const TalusBodyArrays *b = &c->engine->bodies;
    TalusVec3 x = b->position[slot], lo = c->probe->lo, hi = c->probe->hi;
    return talus_is_dynamic(b->shape, b->mobility, slot) && x.x >= lo.x && x.x <= hi.x &&
           x.y >= lo.y && x.y <= hi.y && x.z >= lo.z && x.z <= hi.z;
}

static bool is_on(const ProbeContext *c, uint32_t slot)
{
    return c->probe->region ? is_inside(c, slot) : slot == (uint32_t)c->probe->slot;
}

static void probe_contact(const ProbeContext *c, int i, double *sum)
{
    const CpuEngine *e = c->engine;
    const TalusContactList *list = e->contacts;
    const TalusVec3 *position = e->bodies.position;
    const TalusContact *contact = &list->contact[i];
    TalusVec3 p = list->impulse[i];
    bool on_a = is_on(c, contact->a), on_b = is_on(c, contact->b);
    if (on_a == on_b || (p.x == 0.0 && p.y == 0.0 && p.z == 0.0))
        return;
    TalusArms arms = talus_contact_arms(list, i, position, e->bodies.radius, &e->period);
    TalusVec3 arm = on_a ? arms.a : arms.b;
    if (c->probe->region)
        arm = talus_add(arm, talus_sub(position[on_a ? contact->a : contact->b], c->middle));
    TalusVec3 moment = contact_moment(e, i);
    add_force(sum, on_a ? talus_neg(p) : p, on_a ? talus_neg(moment) : moment, arm);
}

static void probe_contacts(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const ProbeContext *c = context;
    double sum[CONTACT_SUMS] = {0.0};
    for (int64_t i = begin; i < end; i++)
        probe_contact(c, (int)i, sum);
    for (int j = 0; j < CONTACT_SUMS; j++)
        c->engine->partial[chunk][j] = sum[j];
}

/* ---- bodies ---- */

static void add_body(const CpuEngine *e, int64_t i, double sum[BODY_SUMS])
{
    double m = e->bodies.mass[i];
    sum[0] += 1.0;
    sum[1] += m;
    for (int j = 0; j < 3; j++)
        sum[2 + j] += m * e->solved[i][j];
}

static void probe_bodies(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const ProbeContext *c = context;
    double sum[BODY_SUMS] = {0.0};
    for (int64_t i = begin; i < end; i++)
        if (is_inside(c, (uint32_t)i))
            add_body(c->engine, i, sum);
    for (int j = 0; j < BODY_SUMS; j++)
        c->engine->partial[chunk][j] = sum[j];
}

static void run_probe(CpuEngine *e, const TalusEngineProbe *probe, TalusProbeSums *out)
{
    ProbeContext c = {e, probe, talus_scale(0.5, talus_add(probe->lo, probe->hi))};
    double sum[CONTACT_SUMS], body[BODY_SUMS] = {0.0};
    talus_parallel(e->pool, e->contacts->count, CPU_GRAIN, probe_contacts, &c);
    cpu_sum_partials(e, e->contacts->count, CONTACT_SUMS, sum);
    if (probe->region) {
        talus_parallel(e->pool, e->bodies.slots, CPU_GRAIN, probe_bodies, &c);
        cpu_sum_partials(e, e->bodies.slots, BODY_SUMS, body);
    } else {
        add_body(e, probe->slot, body);
    }
    *out = (TalusProbeSums){.impulse = talus_vec3(sum[0], sum[1], sum[2]),
                            .torque = talus_vec3(sum[3], sum[4], sum[5]),
                            .contacts = sum[6],
                            .bodies = body[0],
                            .mass = body[1],
                            .momentum = talus_vec3(body[2], body[3], body[4])};
}

/* ---- requested before the bodies move, downloaded after ---- */

TalusStatus cpu_sum_probes(TalusEngine *engine, const TalusEngineProbe *probe, int count)
{
    CpuEngine *e = cpu_engine(engine);
    e->probe = probe;
    e->probes = 0;
    TALUS_TRY(TALUS_GROW(e->probe_sums, (size_t)count, 0, "probes"));
    e->probes = count;
    return TALUS_OK;
}

void cpu_run_probes(CpuEngine *e)
{
    for (int i = 0; i < e->probes; i++)
        run_probe(e, &e->probe[i], &e->probe_sums[i]);
}

TalusStatus cpu_get_probes(TalusEngine *engine, TalusProbeSums *sums, int count)
{
    CpuEngine *e = cpu_engine(engine);
    for (int i = 0; i < count; i++)
        sums[i] = e->probe_sums[i];
    e->probes = 0;
    return TALUS_OK;
}

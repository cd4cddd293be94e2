/* engine/cpu/probe.c - sums of probes over a solved step or part of it; engine/probe.h has the terms of one contact and
 * one body. A body or region takes a pass over all contacts, a region or plane one over all bodies: meant for tens of
 * probes. */
#include "engine/cpu/engine.h"

#include "collide/contact_arms.h"
#include "engine/probe.h"

typedef struct ProbeContext {
    CpuEngine *engine;
    const TalusEngineProbe *probe;
    const TalusPeriod *period; /* NULL: space is not periodic */
    double h;                  /* s, of the part of the step */
    const TalusVec3 *impulse;  /* [contacts]: on b, world frame */
    bool moments;              /* the solved problem's moments of contacts count */
} ProbeContext;

/* True if the probe sums over the body in `slot`. */
static bool has_body(const ProbeContext *c, uint32_t slot)
{
    const TalusBodyArrays *b = &c->engine->bodies;
    const TalusFilter *f = c->engine->filter;
    return talus_probe_includes(c->probe, b->shape, b->mobility, b->position, f ? f->group : NULL,
                                slot);
}

/* ---- contacts ---- */

/* Returns the moment, N m s, of spinning and rolling friction of contact i on b, world frame; 0 without moment rows. */
static TalusVec3 contact_moment(const CpuEngine *e, int i)
{
    const TalusOperator *op = talus_problem_operator(e->problem);
    double m[3];
    if (op->rows != 6)
        return talus_vec3(0.0, 0.0, 0.0);
    talus_frame_to_world(op->frame[i], talus_problem_gamma(e->problem) + 6 * (int64_t)i + 3, m);
    double length = op->lever[i][0] * talus_problem_lengths(e->problem)[op->pair[i][0]];
    return talus_scale(length, talus_vec3(m[0], m[1], m[2]));
}

/* Adds contact i to `sum` if the probe includes one of its bodies, not both, and its impulse is not 0. */
static void add_probe_contact(const ProbeContext *c, int i, double *sum)
{
    const CpuEngine *e = c->engine;
    const TalusContactList *list = e->contacts;
    const TalusVec3 *position = e->bodies.position;
    const TalusContact *contact = &list->contact[i];
    TalusVec3 p = c->impulse[i], moment = {0.0, 0.0, 0.0};
    bool on_a = has_body(c, contact->a);
    if (on_a == has_body(c, contact->b) || (p.x == 0.0 && p.y == 0.0 && p.z == 0.0))
        return;
    TalusArms arms = talus_contact_arms(list, i, position, e->bodies.radius, &e->period);
    if (c->moments)
        moment = contact_moment(e, i);
    talus_probe_add_contact(c->probe, position[on_a ? contact->a : contact->b],
                            on_a ? arms.a : arms.b, on_a, p, moment, sum);
}

/* Partials: sums of the probe over the contacts of a group, TALUS_PROBE_CONTACT_SUMS. */
static void sum_probe_contacts(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const ProbeContext *c = context;
    double sum[TALUS_PROBE_CONTACT_SUMS] = {0.0};
    for (int64_t i = begin; i < end; i++)
        add_probe_contact(c, (int)i, sum);
    for (int j = 0; j < TALUS_PROBE_CONTACT_SUMS; j++)
        c->engine->partial[chunk][j] = sum[j];
}

/* ---- bodies ---- */

/* Partials: sums of the probe over the bodies of a group, TALUS_PROBE_BODY_SUMS. */
static void sum_probe_bodies(void *context, int64_t begin, int64_t end, int64_t group)
{
    const ProbeContext *c = context;
    const CpuEngine *e = c->engine;
    double sum[TALUS_PROBE_BODY_SUMS] = {0.0};
    for (int64_t rank = begin; rank < end; rank++) {
        int64_t i = cpu_slot_of_rank(e, rank);
        if (i < cpu_own_slots(e) && has_body(c, (uint32_t)i))
            talus_probe_add_body(e->bodies.mass[i], e->solved[i], sum);
    }
    for (int j = 0; j < TALUS_PROBE_BODY_SUMS; j++)
        e->partial[group][j] = sum[j];
}

/* Adds the body in `slot` to `sum` if it crosses the plane. */
static void add_crossing(const ProbeContext *c, int64_t slot, double *sum)
{
    const CpuEngine *e = c->engine;
    const TalusFilter *f = e->filter;
    if (!cpu_is_moved_here(e, slot) ||
        (f && f->group && talus_copy_of_group(f->group[slot]) != c->probe->copy))
        return;
    const double *solved = e->solved[slot];
    int sign = talus_probe_crossing(c->probe, c->period, e->bodies.position[slot], solved, c->h);
    if (sign)
        talus_probe_add_crossing(sign, e->bodies.mass[slot], solved, sum);
}

/* Partials: sums over the bodies of a group that cross the plane, TALUS_PROBE_BODY_SUMS. */
static void sum_crossings(void *context, int64_t begin, int64_t end, int64_t group)
{
    const ProbeContext *c = context;
    double sum[TALUS_PROBE_BODY_SUMS] = {0.0};
    for (int64_t rank = begin; rank < end; rank++)
        add_crossing(c, cpu_slot_of_rank(c->engine, rank), sum);
    for (int j = 0; j < TALUS_PROBE_BODY_SUMS; j++)
        c->engine->partial[group][j] = sum[j];
}

/* Writes to sum[] the terms of the probe's own body, which its owner knows. */
static void get_probe_body(CpuEngine *e, int slot, double sum[TALUS_PROBE_BODY_SUMS])
{
    TalusSum term[TALUS_PROBE_BODY_SUMS] = {0};
    if (slot >= 0 && slot < cpu_own_slots(e))
        talus_probe_add_body(e->bodies.mass[slot], e->solved[slot], sum);
    for (int j = 0; j < TALUS_PROBE_BODY_SUMS; j++)
        talus_sum_add(&term[j], &sum[j], 1);
    talus_comm_add_sums(e->bodies.comm, term, TALUS_PROBE_BODY_SUMS);
    for (int j = 0; e->bodies.comm && j < TALUS_PROBE_BODY_SUMS; j++)
        sum[j] = talus_sum_value(&term[j]);
}

/* Computes the sums of one probe. */
static void compute_probe(CpuEngine *e, const TalusEngineProbe *probe, double h,
                          TalusProbeSums *out)
{
    ProbeContext c = {
        e, probe, talus_has_period(&e->period) ? &e->period : NULL, h, e->contacts->impulse, true};
    double sum[TALUS_PROBE_CONTACT_SUMS] = {0.0}, body[TALUS_PROBE_BODY_SUMS] = {0.0};
    if (!probe->plane)
        cpu_sum_contacts(e, sum_probe_contacts, &c, TALUS_PROBE_CONTACT_SUMS, sum);
    if (probe->plane) {
        cpu_sum_bodies(e, sum_crossings, &c, TALUS_PROBE_BODY_SUMS, body);
    } else if (probe->region) {
        cpu_sum_bodies(e, sum_probe_bodies, &c, TALUS_PROBE_BODY_SUMS, body);
    } else {
        get_probe_body(e, probe->slot, body);
    }
    *out = (TalusProbeSums){.impulse = talus_vec3(sum[0], sum[1], sum[2]),
                            .torque = talus_vec3(sum[3], sum[4], sum[5]),
                            .contacts = sum[6],
                            .bodies = body[0],
                            .mass = body[1],
                            .momentum = talus_vec3(body[2], body[3], body[4])};
}

/* ---- requested before the bodies move, downloaded after ---- */

TalusStatus cpu_request_probes(TalusEngine *engine, const TalusEngineProbe *probe, int count)
{
    CpuEngine *e = cpu_engine(engine);
    e->probe = probe;
    e->probes = 0;
    TALUS_TRY(TALUS_GROW(e->probe_sums, (size_t)count, 0, "probes"));
    e->probes = count;
    return TALUS_OK;
}

void cpu_compute_probes(CpuEngine *e, double h)
{
    for (int i = 0; i < e->probes; i++)
        compute_probe(e, &e->probe[i], h, &e->probe_sums[i]);
}

void cpu_compute_impact_probes(CpuEngine *e, const TalusVec3 *impulse)
{
    for (int i = 0; i < e->probes; i++) {
        ProbeContext c = {.engine = e, .probe = &e->probe[i], .impulse = impulse};
        double sum[TALUS_PROBE_CONTACT_SUMS] = {0.0};
        if (!c.probe->plane) /* a plane counts bodies, which do not move in impacts */
            cpu_sum_contacts(e, sum_probe_contacts, &c, TALUS_PROBE_CONTACT_SUMS, sum);
        e->probe_sums[i] = (TalusProbeSums){.impulse = talus_vec3(sum[0], sum[1], sum[2]),
                                            .torque = talus_vec3(sum[3], sum[4], sum[5])};
    }
}

TalusStatus cpu_get_probes(TalusEngine *engine, TalusProbeSums *sums, int count)
{
    CpuEngine *e = cpu_engine(engine);
    for (int i = 0; i < count; i++)
        sums[i] = e->probe_sums[i];
    e->probes = 0;
    return TALUS_OK;
}

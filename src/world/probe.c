/* world/probe.c - force probes: sums over the contacts of one step.
 *
 * A body probe sums what its contacts do to it. A region probe sums over contacts between a moving
 * body inside and any other body: fixed bodies count as outside wherever their origin lies, so
 * that a wall's force on the region is seen. Who is inside, and the arms of torques, are taken at
 * the start of the step, where the contacts are; momentum at its end. A halved step adds up the
 * impulses of its parts and divides by the whole length.
 *
 * One pass over contacts (and bodies, for regions) per probe: meant for tens of probes. */
#include "world/internal.h"

#include "backend/backend.h"
#include "collide/period.h"

typedef struct ProbeContext {
    TalusWorld *world;
    const TalusProbe *probe;
    int slot; /* body probes */
    TalusVec3 middle;
    const double (*velocity)[8];
} ProbeContext;

TalusStatus talus_probe_append(TalusWorld *world, const TalusProbeDef *def, int *index)
{
    size_t n = (size_t)world->probes;
    TALUS_TRY(TALUS_RESERVE(world->probe, world->probe_capacity, n + 1, n, "probes"));
    TalusProbe *probe = &world->probe[n];
    *probe = (TalusProbe){.def = *def};
    TALUS_TRY(talus_copy_text(def->name, "probe name", &probe->name));
    probe->def.name = probe->name;
    world->probes++;
    if (index)
        *index = (int)n;
    return TALUS_OK;
}

TalusStatus talus_world_add_probe(TalusWorld *world, const TalusProbeDef *def, int *index)
{
    if (def->kind == TALUS_PROBE_BODY) {
        if (talus_slot_of(world, def->body) < 0)
            return talus_fail(TALUS_ERR_ARGUMENT,
                              "probe \"%s\": there is no body %u, generation %u",
                              def->name ? def->name : "", def->body.index, def->body.generation);
    } else if (def->kind == TALUS_PROBE_REGION) {
        TalusVec3 d = talus_sub(def->hi, def->lo);
        if (!(d.x >= 0.0 && d.y >= 0.0 && d.z >= 0.0) || !isfinite(d.x + d.y + d.z))
            return talus_fail(TALUS_ERR_ARGUMENT, "probe \"%s\": hi is below lo, or not finite",
                              def->name ? def->name : "");
    } else {
        return talus_fail(TALUS_ERR_ARGUMENT, "probe: kind %d; expected body (0) or region (1)",
                          (int)def->kind);
    }
    return talus_probe_append(world, def, index);
}

void talus_probes_clear(TalusWorld *world)
{
    for (int i = 0; i < world->probes; i++)
        talus_release(world->probe[i].name);
    talus_release(world->probe);
    talus_release(world->probe_mail.probe);
    talus_release(world->probe_mail.sums);
    talus_release(world->probe_mail.index);
    world->probe_mail = (TalusProbeMail){0};
    world->probe = NULL;
    world->probes = 0;
}

int talus_world_probe_count(const TalusWorld *world)
{
    return world->probes;
}

const char *talus_world_probe_name(const TalusWorld *world, int index)
{
    return world->probe[index].name;
}

TalusProbeValue talus_world_probe_value(const TalusWorld *world, int index)
{
    return world->probe[index].value;
}

TalusArms talus_contact_arms(const TalusWorld *world, const TalusContactList *list, int i)
{
    const TalusBodies *b = &world->bodies;
    const TalusContact *c = &list->contact[i];
    if (i >= list->sphere_sphere + list->sphere_fixed)
        return list->arms[c->general];
    TalusArms arms = {.a = talus_scale(b->radius[c->a], c->normal)};
    if (i < list->sphere_sphere)
        arms.b = talus_scale(-b->radius[c->b], c->normal);
    else
        arms.b = talus_image(
            &world->def.period,
            talus_sub(talus_madd(talus_add(b->position[c->a], arms.a), c->gap, c->normal),
                      b->position[c->b]));
    return arms;
}

/* ---- sums ---- */

enum {
    CONTACT_SUMS = 7,
    /* force 3, torque 3, number */ BODY_SUMS = 5 /* number, mass, momentum */
};

/* The moment that a contact with friction against turning has beside its force, on b, world frame. */
static TalusVec3 contact_moment(const TalusWorld *world, int i)
{
    const TalusOperator *op = talus_problem_operator(world->problem);
    if (op->rows != 6)
        return talus_vec3(0.0, 0.0, 0.0);
    double m[3];
    talus_frame_world(op->frame[i], talus_problem_gamma(world->problem) + 6 * (int64_t)i + 3, m);
    double length = op->lever[i][0] * talus_problem_lengths(world->problem)[op->pair[i][0]];
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

static bool inside(const ProbeContext *c, uint32_t slot)
{
    const TalusBodies *b = &c->world->bodies;
    TalusVec3 x = b->position[slot], lo = c->probe->def.lo, hi = c->probe->def.hi;
    return talus_slot_loose(b, (int)slot) && x.x >= lo.x && x.x <= hi.x && x.y >= lo.y &&
           x.y <= hi.y && x.z >= lo.z && x.z <= hi.z;
}

static void probe_contact(const ProbeContext *c, int i, double *sum)
{
    const TalusContactList *list = c->world->contacts;
    const TalusVec3 *position = c->world->bodies.position;
    const TalusContact *contact = &list->contact[i];
    TalusVec3 p = list->impulse[i];
    bool on_a, on_b;
    if (c->probe->def.kind == TALUS_PROBE_BODY) {
        on_a = contact->a == (uint32_t)c->slot;
        on_b = contact->b == (uint32_t)c->slot;
    } else {
        on_a = inside(c, contact->a);
        on_b = inside(c, contact->b);
    }
    if (on_a == on_b || (p.x == 0.0 && p.y == 0.0 && p.z == 0.0))
        return;
    TalusArms arms = talus_contact_arms(c->world, list, i);
    TalusVec3 arm = on_a ? arms.a : arms.b;
    if (c->probe->def.kind == TALUS_PROBE_REGION)
        arm = talus_add(arm, talus_sub(position[on_a ? contact->a : contact->b], c->middle));
    TalusVec3 moment = contact_moment(c->world, i);
    add_force(sum, on_a ? talus_neg(p) : p, on_a ? talus_neg(moment) : moment, arm);
}

static void probe_contacts(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const ProbeContext *c = context;
    double sum[CONTACT_SUMS] = {0.0};
    for (int64_t i = begin; i < end; i++)
        probe_contact(c, (int)i, sum);
    for (int j = 0; j < CONTACT_SUMS; j++)
        c->world->partial[chunk][j] = sum[j];
}

static void probe_bodies(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const ProbeContext *c = context;
    double sum[BODY_SUMS] = {0.0};
    for (int64_t i = begin; i < end; i++) {
        if (!inside(c, (uint32_t)i))
            continue;
        double m = c->world->bodies.mass[i];
        sum[0] += 1.0;
        sum[1] += m;
        for (int j = 0; j < 3; j++)
            sum[2 + j] += m * c->velocity[i][j];
    }
    for (int j = 0; j < BODY_SUMS; j++)
        c->world->partial[chunk][j] = sum[j];
}

static void collect_bodies(ProbeContext *c, TalusProbeValue *value)
{
    TalusWorld *world = c->world;
    int slots = world->bodies.counts.slots;
    double sum[BODY_SUMS] = {0.0};
    if (c->probe->def.kind == TALUS_PROBE_BODY) {
        double m = world->bodies.mass[c->slot];
        sum[0] = 1.0;
        sum[1] = m;
        for (int j = 0; j < 3; j++)
            sum[2 + j] = m * c->velocity[c->slot][j];
    } else {
        talus_parallel(world->pool, slots, TALUS_GRAIN, probe_bodies, c);
        talus_sum_partials(world, slots, BODY_SUMS, sum);
    }
    value->bodies = (int)sum[0];
    value->mass = sum[1];
    value->momentum = talus_vec3(sum[2], sum[3], sum[4]);
}

static void collect(TalusWorld *world, TalusProbe *probe, const double (*velocity)[8])
{
    ProbeContext c = {
        .world = world,
        .probe = probe,
        .slot = talus_slot_of(world, probe->def.body),
        .middle = talus_scale(0.5, talus_add(probe->def.lo, probe->def.hi)),
        .velocity = velocity,
    };
    if (probe->def.kind == TALUS_PROBE_BODY && c.slot < 0)
        return; /* removed: the value stays 0 */
    int64_t count = world->contacts->count;
    talus_parallel(world->pool, count, TALUS_GRAIN, probe_contacts, &c);
    double sum[CONTACT_SUMS];
    talus_sum_partials(world, count, CONTACT_SUMS, sum);
    TalusProbeValue *next = &probe->next;
    next->force = talus_add(next->force, talus_vec3(sum[0], sum[1], sum[2]));
    next->torque = talus_add(next->torque, talus_vec3(sum[3], sum[4], sum[5]));
    next->contacts = (int)sum[6];
    collect_bodies(&c, next);
}

void talus_probes_begin(TalusWorld *world)
{
    for (int i = 0; i < world->probes; i++)
        world->probe[i].next = (TalusProbeValue){0};
}

void talus_probes_collect(TalusWorld *world, const double (*velocity)[8])
{
    for (int i = 0; i < world->probes; i++)
        collect(world, &world->probe[i], velocity);
}

/* ---- on an engine ---- */

TalusStatus talus_probes_ask(TalusWorld *world)
{
    TalusProbeMail *mail = &world->probe_mail;
    size_t most = (size_t)world->probes;
    mail->count = 0;
    if (most == 0)
        return TALUS_OK;
    TALUS_TRY(TALUS_RESERVE(mail->probe, mail->probe_capacity, most, 0, "probes"));
    TALUS_TRY(TALUS_RESERVE(mail->sums, mail->sums_capacity, most, 0, "probes"));
    TALUS_TRY(TALUS_RESERVE(mail->index, mail->index_capacity, most, 0, "probes"));
    for (int i = 0; i < world->probes; i++) {
        const TalusProbeDef *def = &world->probe[i].def;
        bool region = def->kind == TALUS_PROBE_REGION;
        int slot = region ? -1 : talus_slot_of(world, def->body);
        if (!region && slot < 0)
            continue; /* removed: the value stays 0 */
        mail->probe[mail->count] = (TalusEngineProbe){region, slot, def->lo, def->hi};
        mail->index[mail->count++] = i;
    }
    return world->backend->engine->sum_probes(world->engine, mail->probe, mail->count);
}

TalusStatus talus_probes_take(TalusWorld *world)
{
    const TalusProbeMail *mail = &world->probe_mail;
    if (mail->count == 0)
        return TALUS_OK;
    TALUS_TRY(world->backend->engine->get_probes(world->engine, mail->sums, mail->count));
    for (int i = 0; i < mail->count; i++) {
        const TalusProbeSums *sum = &mail->sums[i];
        TalusProbeValue *next = &world->probe[mail->index[i]].next;
        next->force = talus_add(next->force, sum->impulse);
        next->torque = talus_add(next->torque, sum->torque);
        next->contacts = (int)sum->contacts;
        next->bodies = (int)sum->bodies;
        next->mass = sum->mass;
        next->momentum = sum->momentum;
    }
    return TALUS_OK;
}

void talus_probes_close(TalusWorld *world, double h)
{
    for (int i = 0; i < world->probes; i++) {
        TalusProbeValue *value = &world->probe[i].value;
        *value = world->probe[i].next;
        value->force = talus_scale(1.0 / h, value->force);
        value->torque = talus_scale(1.0 / h, value->torque);
    }
}

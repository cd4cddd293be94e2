/* world/probe.c - probes: sums over the contacts of one step, or over the bodies that cross a plane in it.
 *
 * A body probe sums the impulses that contacts exert on its body. A region probe sums over contacts between a body
 * inside and a body outside the region. Inside are free and sleeping bodies with their centre in the region; fixed and
 * driven bodies count as outside wherever their centre lies, so that a wall's force on the region is included. Bodies
 * inside and arms of torques are those at the start of the step, like the contacts; momentum is that of the solved
 * velocities. A halved step adds the impulses of its parts and divides by the whole length; numbers, mass and momentum
 * are those of its last part.
 *
 * A plane probe sums over the free bodies whose centres go from one side of a plane to the other (engine/probe.h); the
 * parts of a halved step add up.
 *
 * Engines compute the sums (engine/cpu/probe.c). */
#include "world/probe.h"
#include "world/ids.h"
#include "world/state.h"

#include <inttypes.h>

TalusStatus talus_probe_append(TalusWorld *world, const TalusProbeDef *def, int *index)
{
    size_t n = (size_t)world->probes;
    TALUS_TRY(TALUS_GROW(world->probe, n + 1, n, "probes"));
    TalusProbe *probe = &world->probe[n];
    *probe = (TalusProbe){.def = *def};
    TALUS_TRY(talus_copy_text(def->name, "probe name", &probe->name));
    probe->def.name = probe->name;
    world->probes++;
    if (index)
        *index = (int)n;
    return TALUS_OK;
}

static TalusStatus check_copy(const TalusProbeDef *def)
{
    if (def->copy < 0 || def->copy >= TALUS_COPIES)
        return talus_reject("probe \"%s\": copy %d; expected 0 to %d", def->name ? def->name : "",
                            def->copy, TALUS_COPIES - 1);
    return TALUS_OK;
}

static TalusStatus check_plane(const TalusProbeDef *def)
{
    const char *name = def->name ? def->name : "";
    double length = talus_norm(def->normal);
    if (!talus_finite3(def->at))
        return talus_reject("probe \"%s\": the point of the plane is not finite", name);
    if (!(length > 0.0) || !isfinite(length))
        return talus_reject("probe \"%s\": the normal of the plane is 0, or not finite", name);
    if (!(def->radius >= 0.0) || !(def->half.x >= 0.0 && def->half.y >= 0.0 && def->half.z >= 0.0))
        return talus_reject("probe \"%s\": radius or half is below 0", name);
    return check_copy(def);
}

TalusStatus talus_probe_check(const TalusProbeDef *def)
{
    TalusVec3 d = talus_sub(def->hi, def->lo);
    switch (def->kind) {
    case TALUS_PROBE_BODY: return TALUS_OK;
    case TALUS_PROBE_REGION:
        if (!(d.x >= 0.0 && d.y >= 0.0 && d.z >= 0.0) || !isfinite(d.x + d.y + d.z))
            return talus_reject("probe \"%s\": hi is below lo, or not finite",
                                def->name ? def->name : "");
        return check_copy(def);
    case TALUS_PROBE_PLANE: return check_plane(def);
    }
    return talus_reject("probe: kind %d; expected body (0), region (1) or plane (2)",
                        (int)def->kind);
}

TalusStatus talus_world_add_probe(TalusWorld *world, const TalusProbeDef *def, int *index)
{
    TALUS_TRY(talus_probe_check(def));
    if (def->kind == TALUS_PROBE_PLANE && talus_world_cell_deforms(world))
        return talus_reject(
            "probe \"%s\": a plane does not move with a cell that deforms; expected a "
            "body or a region",
            def->name ? def->name : "");
    if (def->kind == TALUS_PROBE_BODY &&
        !talus_comm_any(world->ranks.comm, talus_slot_of(world, def->body) >= 0))
        return talus_reject("probe \"%s\": there is no body %" PRIu64, def->name ? def->name : "",
                            def->body.number);
    return talus_comm_agree(world->ranks.comm, talus_probe_append(world, def, index));
}

void talus_probes_clear(TalusWorld *world)
{
    for (int i = 0; i < world->probes; i++)
        talus_release(world->probe[i].name);
    TALUS_RELEASE(world->probe, world->probe_staging.probe, world->probe_staging.sums,
                  world->probe_staging.index);
    world->probe_staging = (TalusProbeStaging){0};
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

TalusProbeKind talus_world_probe_kind(const TalusWorld *world, int index)
{
    return world->probe[index].def.kind;
}

TalusProbeValue talus_world_probe_value(const TalusWorld *world, int index)
{
    return world->probe[index].value;
}

/* ---- a step ---- */

void talus_probes_begin_step(TalusWorld *world)
{
    for (int i = 0; i < world->probes; i++)
        world->probe[i].next = (TalusProbeValue){0};
}

/* Returns a length, or infinity for 0, which stands for no limit. */
static double get_limit(double length)
{
    return length > 0.0 ? length : INFINITY;
}

/* Returns the probe in the engine's form; slot: of its body. */
static TalusEngineProbe make_engine_probe(const TalusProbeDef *def, int slot)
{
    TalusEngineProbe probe = {.region = def->kind == TALUS_PROBE_REGION,
                              .plane = def->kind == TALUS_PROBE_PLANE,
                              .slot = slot,
                              .lo = def->lo,
                              .hi = def->hi,
                              .copy = def->copy};
    if (!probe.plane)
        return probe;
    probe.at = def->at;
    probe.normal = talus_normalize(def->normal, talus_vec3(0.0, 0.0, 1.0));
    probe.radius = get_limit(def->radius);
    probe.half = talus_vec3(get_limit(def->half.x), get_limit(def->half.y), get_limit(def->half.z));
    return probe;
}

TalusStatus talus_probes_request_sums(TalusWorld *world)
{
    TalusProbeStaging *staging = &world->probe_staging;
    size_t most = (size_t)world->probes;
    staging->count = 0;
    if (most == 0)
        return TALUS_OK;
    TALUS_TRY(TALUS_GROW(staging->probe, most, 0, "probes"));
    TALUS_TRY(TALUS_GROW(staging->sums, most, 0, "probes"));
    TALUS_TRY(TALUS_GROW(staging->index, most, 0, "probes"));
    for (int i = 0; i < world->probes; i++) {
        const TalusProbeDef *def = &world->probe[i].def;
        bool body = def->kind == TALUS_PROBE_BODY;
        int slot = body ? talus_ranks_slot_near(world, def->body) : -1;
        if (body && slot < 0 && !talus_world_is_dealt(world))
            continue; /* removed: the value stays 0 */
        staging->probe[staging->count] = make_engine_probe(def, slot);
        staging->index[staging->count++] = i;
    }
    return world->engine.ops->request_probes(world->engine.self, staging->probe, staging->count);
}

TalusStatus talus_probes_add_sums(TalusWorld *world)
{
    const TalusProbeStaging *staging = &world->probe_staging;
    if (staging->count == 0)
        return TALUS_OK;
    TALUS_TRY(world->engine.ops->get_probes(world->engine.self, staging->sums, staging->count));
    for (int i = 0; i < staging->count; i++) {
        const TalusProbeSums *sum = &staging->sums[i];
        TalusProbeValue *next = &world->probe[staging->index[i]].next;
        if (staging->probe[i].plane) {
            next->bodies += (int64_t)sum->bodies;
            next->mass += sum->mass;
            next->momentum = talus_add(next->momentum, sum->momentum);
            continue;
        }
        next->force = talus_add(next->force, sum->impulse);
        next->torque = talus_add(next->torque, sum->torque);
        next->contacts = (int64_t)sum->contacts;
        next->bodies = (int64_t)sum->bodies;
        next->mass = sum->mass;
        next->momentum = sum->momentum;
    }
    return TALUS_OK;
}

void talus_probes_finish_step(TalusWorld *world, double h)
{
    for (int i = 0; i < world->probes; i++) {
        TalusProbeValue *value = &world->probe[i].value, before = *value;
        *value = world->probe[i].next;
        if (world->probe[i].def.kind == TALUS_PROBE_PLANE) {
            value->total_bodies = before.total_bodies + value->bodies;
            value->total_mass = before.total_mass + value->mass;
        }
        value->force = talus_scale(1.0 / h, value->force);
        value->torque = talus_scale(1.0 / h, value->torque);
    }
}

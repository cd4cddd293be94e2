/* world/source/source.c - bodies that enter and leave during the run: delayed batches, emitters, sinks.
 *
 * Sources act at the start of a step in this order: due batches, emitters, sinks. A journal records the bodies that
 * enter and leave until the step has succeeded, so that a failed step can be undone. Sinks come last, so that a slot
 * that a sink frees is not reused before the next detection, and no impulse passes from a removed body to a new one. */
#include "world/source/source.h"
#include "base/rng.h"
#include "world/state.h"

#include "backend/backend.h"
#include "base/sum.h"

#include <stdio.h>
#include <string.h>

enum { EMITTER_COOKIE = 0x7a10e317 };

/* ---- rollback ---- */

/* Copies the emitter's state to its *_before fields. */
static TalusStatus snapshot_emitter(TalusEmitter *e)
{
    size_t waiting = (size_t)e->waiting;
    TALUS_TRY(TALUS_GROW(e->radius_before, waiting, 0, "emitter"));
    e->rng_before = e->rng;
    e->drawn_before = e->drawn;
    e->waiting_before = e->waiting;
    if (waiting)
        memcpy(e->radius_before, e->radius, waiting * sizeof *e->radius);
    return TALUS_OK;
}

/* Takes snapshots of the emitters and starts the journal. */
static TalusStatus begin_recording(TalusWorld *world)
{
    TalusSources *s = &world->sources;
    for (int i = 0; i < s->emitters; i++)
        TALUS_TRY(snapshot_emitter(&s->emitter[i]));
    talus_journal_begin(world);
    return TALUS_OK;
}

void talus_sources_rollback(TalusWorld *world)
{
    TalusSources *s = &world->sources;
    if (!world->journal.recording)
        return;
    talus_journal_undo(world);
    for (int i = 0; i < s->emitters; i++) {
        TalusEmitter *e = &s->emitter[i];
        e->rng = e->rng_before;
        e->drawn = e->drawn_before;
        e->waiting = e->waiting_before;
        if (e->waiting)
            memcpy(e->radius, e->radius_before, (size_t)e->waiting * sizeof *e->radius);
    }
    for (int i = 0; i < s->pendings; i++)
        s->pending[i].added = false;
}

/* Sets the sink's flow from that of the step, which has succeeded. */
static void book_flow(TalusSink *sink)
{
    sink->flow.bodies = sink->next.bodies;
    sink->flow.mass = sink->next.mass;
    sink->flow.total_bodies += sink->next.bodies;
    sink->flow.total_mass += sink->next.mass;
}

void talus_sources_commit(TalusWorld *world)
{
    TalusSources *s = &world->sources;
    int left = 0;
    for (int i = 0; i < s->pendings; i++) {
        if (s->pending[i].added)
            talus_pending_clear(&s->pending[i]);
        else
            s->pending[left++] = s->pending[i];
    }
    s->pendings = left;
    world->journal.recording = false;
    for (int i = 0; i < s->sinks; i++)
        book_flow(&s->sink[i]);
}

/* ---- delayed batches ---- */

/* Sets *to to a copy of the array, which the caller releases; NULL if `from` is NULL. */
static TalusStatus copy_array(const void *from, int count, size_t element, const void **to)
{
    *to = NULL;
    if (!from)
        return TALUS_OK;
    void *block;
    TALUS_TRY(talus_alloc(&block, (size_t)count, element, "arrivals"));
    if (count > 0)
        memcpy(block, from, (size_t)count * element);
    *to = block;
    return TALUS_OK;
}

/* Copies a batch with its arrays. After a failure some arrays are copied; the others are NULL. */
static TalusStatus copy_batch(const TalusBodyBatch *from, TalusBodyBatch *to)
{
    int n = from->count;
    *to = *from;
    to->position = to->velocity = to->spin = NULL;
    to->orientation = NULL;
    to->radius = NULL;
    TALUS_TRY(copy_array(from->position, n, sizeof(TalusVec3), (const void **)&to->position));
    TALUS_TRY(copy_array(from->orientation, n, sizeof(TalusQuat), (const void **)&to->orientation));
    TALUS_TRY(copy_array(from->velocity, n, sizeof(TalusVec3), (const void **)&to->velocity));
    TALUS_TRY(copy_array(from->spin, n, sizeof(TalusVec3), (const void **)&to->spin));
    return copy_array(from->radius, n, sizeof(double), (const void **)&to->radius);
}

void talus_pending_clear(TalusPending *pending)
{
    const TalusBodyBatch *b = &pending->batch;
    TALUS_RELEASE((void *)b->position, (void *)b->orientation, (void *)b->velocity, (void *)b->spin,
                  (void *)b->radius);
}

TalusStatus talus_world_add_bodies_at(TalusWorld *world, double time, const TalusBodyBatch *batch)
{
    TALUS_TRY(talus_batch_check(world, batch));
    if (!isfinite(time))
        return talus_reject("bodies: time is %g; expected seconds", time);
    TalusSources *s = &world->sources;
    size_t n = (size_t)s->pendings;
    TALUS_TRY(
        talus_comm_agree(world->ranks.comm, TALUS_GROW(s->pending, n + 1, n, "delayed bodies")));
    TalusPending *pending = &s->pending[n];
    *pending = (TalusPending){.time = time};
    TalusStatus status = talus_comm_agree(world->ranks.comm, copy_batch(batch, &pending->batch));
    if (status != TALUS_OK)
        talus_pending_clear(pending);
    else
        s->pendings++;
    return status;
}

/* True if `time` is at most 1e-6 steps, for rounding, after the start of this step. */
static bool is_due(const TalusWorld *world, double time)
{
    return time <= talus_time(world) + 1e-6 * world->def.step;
}

/* Adds the bodies of all due batches and marks the batches as added. */
static TalusStatus add_due_batches(TalusWorld *world)
{
    TalusSources *s = &world->sources;
    for (int i = 0; i < s->pendings; i++) {
        if (!is_due(world, s->pending[i].time))
            continue;
        TALUS_TRY(talus_world_add_bodies(world, &s->pending[i].batch, NULL));
        s->pending[i].added = true;
    }
    return TALUS_OK;
}

/* ---- emitters ---- */

TalusEmitterDef talus_emitter_def_default(void)
{
    TalusEmitterDef def = {.cookie = EMITTER_COOKIE, .count = INT64_MAX};
    return def;
}

static TalusStatus check_emitter(const TalusWorld *world, const TalusEmitterDef *def)
{
    if (!def || def->cookie != EMITTER_COOKIE)
        return talus_reject("emitter: the def was not made by talus_emitter_def_default()");
    TalusVec3 d = talus_sub(def->hi, def->lo);
    if (!(d.x >= 0.0 && d.y >= 0.0 && d.z >= 0.0) || !isfinite(d.x + d.y + d.z))
        return talus_reject("emitter: hi is below lo, or not finite");
    if (!(def->rate > 0.0) || !isfinite(def->rate))
        return talus_reject("emitter: rate is %g; expected more than 0 bodies per second",
                            def->rate);
    if (!def->sizes && (!(def->radius_min > 0.0) || !(def->radius_max >= def->radius_min) ||
                        !isfinite(def->radius_max)))
        return talus_reject("emitter: radii from %g to %g; expected 0 < radius_min <= radius_max",
                            def->radius_min, def->radius_max);
    if (!isfinite(def->start) || def->count < 0 || !isfinite(talus_norm(def->velocity)))
        return talus_reject("emitter: start %g, count %lld or the velocity is out of range",
                            def->start, (long long)def->count);
    if (def->material < 0 || def->material >= world->materials.count)
        return talus_reject("emitter: material %d; there are %d", def->material,
                            world->materials.count);
    if (def->group < 0 || def->group >= TALUS_GROUPS)
        return talus_reject("emitter: group %d; expected 0 to %d", def->group, TALUS_GROUPS - 1);
    if (def->copy < 0 || def->copy >= TALUS_COPIES)
        return talus_reject("emitter: copy %d; expected 0 to %d", def->copy, TALUS_COPIES - 1);
    if (!(def->density >= 0.0) || !isfinite(def->density) ||
        (def->density == 0.0 && world->materials.def[def->material].density == 0.0))
        return talus_reject("emitter: density is %g and the material has none", def->density);
    return TALUS_OK;
}

static void clear_emitter(TalusEmitter *e)
{
    talus_size_curve_clear(&e->curve);
    TALUS_RELEASE((void *)e->sizes.sieve, e->radius, e->radius_before);
}

/* Copies the def's sizes, or makes those from radius_min to radius_max, and their curve. */
static TalusStatus set_sizes(TalusEmitter *e, const TalusEmitterDef *def)
{
    TalusSizeDef uniform = talus_size_def_default();
    uniform.min = def->radius_min;
    uniform.max = def->radius_max;
    const TalusSizeDef *sizes = def->sizes ? def->sizes : &uniform;
    TALUS_TRY(talus_size_curve_make(sizes, &e->curve)); /* checks the def */
    const TalusSizeRange range = talus_size_curve_range(&e->curve);
    const void *sieve = NULL;
    if (sizes->kind == TALUS_SIZES_SIEVE)
        TALUS_TRY(copy_array(sizes->sieve, sizes->sieve_count, 2 * sizeof(double), &sieve));
    e->sizes = *sizes;
    e->sizes.sieve = sieve;
    e->sizes.sieve_count = sieve ? sizes->sieve_count : 0;
    e->def.sizes = NULL;
    e->def.radius_min = range.min;
    e->def.radius_max = range.max;
    return TALUS_OK;
}

TalusStatus talus_world_add_emitter(TalusWorld *world, const TalusEmitterDef *def)
{
    TALUS_TRY(check_emitter(world, def));
    TalusSources *s = &world->sources;
    size_t n = (size_t)s->emitters;
    TalusEmitter e = {.def = *def, .rng = talus_rng_from_seed(def->seed)};
    TalusStatus status = TALUS_GROW(s->emitter, n + 1, n, "emitters");
    TALUS_THEN(status, set_sizes(&e, def));
    TALUS_THEN(status, talus_world_require_sphere_shape(world, e.def.radius_max, &e.shape));
    status = talus_comm_agree(world->ranks.comm, status);
    if (status != TALUS_OK)
        clear_emitter(&e);
    else
        s->emitter[s->emitters++] = e;
    return status;
}

/* ---- sinks ---- */

/* Copies the name of sink `number` to *out; without one, "sink" and the number. */
static TalusStatus copy_sink_name(const char *name, int number, char **out)
{
    char numbered[32];
    snprintf(numbered, sizeof numbered, "sink %d", number);
    return talus_copy_text(name ? name : numbered, "sink name", out);
}

TalusStatus talus_world_add_named_sink(TalusWorld *world, const char *name, int axis, double below)
{
    if (axis < 0 || axis > 2 || !isfinite(below))
        return talus_reject("sink: axis %d below %g; expected axis 0, 1 or 2 and a finite number",
                            axis, below);
    TalusSources *s = &world->sources;
    TalusSink sink = {.axis = axis, .below = below};
    size_t n = (size_t)s->sinks;
    TalusStatus status = TALUS_GROW(s->sink, n + 1, n, "sinks");
    TALUS_THEN(status, copy_sink_name(name, s->sinks, &sink.name));
    status = talus_comm_agree(world->ranks.comm, status);
    if (status != TALUS_OK)
        talus_release(sink.name);
    else
        s->sink[s->sinks++] = sink;
    return status;
}

TalusStatus talus_world_add_sink(TalusWorld *world, int axis, double below)
{
    return talus_world_add_named_sink(world, NULL, axis, below);
}

int talus_world_sink_count(const TalusWorld *world)
{
    return world->sources.sinks;
}

const char *talus_world_sink_name(const TalusWorld *world, int index)
{
    return world->sources.sink[index].name;
}

TalusFlow talus_world_sink_flow(const TalusWorld *world, int index)
{
    return world->sources.sink[index].flow;
}

void talus_sink_set_flow(TalusWorld *world, int index, const TalusFlow *flow)
{
    world->sources.sink[index].flow = *flow;
}

/* Returns the index of the first sink that takes the body in the slot, a free one below it; -1: none does. */
static int find_sink(const TalusWorld *world, int slot)
{
    const TalusBodies *b = &world->bodies;
    if (!talus_slot_is_free(b, slot))
        return -1;
    TalusVec3 x = b->position[slot];
    const double at[3] = {x.x, x.y, x.z};
    for (int j = 0; j < world->sources.sinks; j++)
        if (at[world->sources.sink[j].axis] < world->sources.sink[j].below)
            return j;
    return -1;
}

/* Writes the number of free bodies below sinks, in a chunk of slots, to world->partial. */
static void count_below_sinks(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    TalusWorld *world = context;
    double number = 0.0;
    for (int64_t i = begin; i < end; i++)
        number += find_sink(world, (int)i) >= 0;
    world->partial[chunk] = number;
}

/* Sets *any: true if the host must search for bodies below sinks. If the host's copy of the bodies is stale, the engine
 * counts the bodies below sinks, and all bodies are downloaded if it finds some. If the copy is current, *any is true
 * whenever there are sinks. */
static TalusStatus must_search_sinks(TalusWorld *world, bool *any)
{
    const TalusSources *s = &world->sources;
    *any = s->sinks > 0;
    if (!*any || !world->mirror.bodies_stale)
        return TALUS_OK;
    int64_t total = 0, count;
    for (int j = 0; j < s->sinks; j++) {
        TALUS_TRY(world->engine.ops->count_below(world->engine.self, s->sink[j].axis,
                                                 s->sink[j].below, &count));
        total += count;
    }
    *any = total > 0;
    return *any ? talus_world_download_bodies(world) : TALUS_OK;
}

/* Counts the free bodies of this rank below sinks, and reserves memory for their removal. */
static TalusStatus prepare_removal(TalusWorld *world, int64_t *count)
{
    int slots = world->bodies.counts.slots;
    size_t chunks = (size_t)talus_chunks(slots, TALUS_GRAIN);
    TALUS_TRY(TALUS_GROW(world->partial, chunks, 0, "partial sums"));
    talus_parallel(world->pool, slots, TALUS_GRAIN, count_below_sinks, world);
    for (size_t k = 0; k < chunks; k++)
        *count += (int64_t)world->partial[k];
    if (*count == 0)
        return TALUS_OK;
    TALUS_TRY(talus_journal_reserve(world, (int)*count));
    return talus_world_mark_bodies_dirty(world);
}

/* Sets the sink's flow in this step, of all ranks: its bodies are still there. The sum of masses is exact, so that it
 * depends on no order. */
static TalusStatus count_taken(TalusWorld *world, int index)
{
    TalusSink *sink = &world->sources.sink[index];
    TalusSum mass = {0};
    int64_t bodies = 0;
    for (int i = 0; i < world->bodies.counts.slots; i++)
        if (find_sink(world, i) == index) {
            talus_sum_add(&mass, &world->bodies.mass[i], 1);
            bodies++;
        }
    TALUS_TRY(talus_comm_add_counts(world->ranks.comm, &bodies, 1));
    talus_comm_add_sums(world->ranks.comm, &mass, 1);
    sink->next.bodies = bodies;
    sink->next.mass = talus_sum_value(&mass);
    return TALUS_OK;
}

/* Removes all free bodies below sinks. */
static TalusStatus apply_sinks(TalusWorld *world)
{
    TalusExchange exchange = {0};
    int64_t here = 0;
    bool any;
    TALUS_TRY(must_search_sinks(world, &any));
    if (!any)
        return TALUS_OK;
    TALUS_TRY(talus_comm_agree(world->ranks.comm, prepare_removal(world, &here)));
    int64_t all = here;
    TALUS_TRY(talus_comm_add_counts(world->ranks.comm, &all, 1));
    if (all == 0)
        return TALUS_OK;
    for (int j = 0; j < world->sources.sinks; j++)
        TALUS_TRY(count_taken(world, j));
    for (int i = 0; here > 0 && i < world->bodies.counts.slots; i++)
        if (find_sink(world, i) >= 0)
            talus_slot_remove(world, i, &exchange);
    world->ranks.elsewhere -= all - here;
    talus_exchange_book(world, &exchange);
    return TALUS_OK;
}

/* ---- all sources ---- */

TalusStatus talus_sources_apply(TalusWorld *world)
{
    TalusSources *s = &world->sources;
    if (s->emitters + s->pendings + s->sinks == 0)
        return TALUS_OK;
    TALUS_TRY(talus_comm_agree(world->ranks.comm, begin_recording(world)));
    for (int i = 0; i < s->sinks; i++)
        s->sink[i].next = (TalusFlow){0};
    TALUS_TRY(add_due_batches(world));
    for (int i = 0; i < s->emitters; i++)
        if (is_due(world, s->emitter[i].def.start))
            TALUS_TRY(talus_emitter_emit(world, &s->emitter[i]));
    return apply_sinks(world);
}

void talus_sources_clear(TalusWorld *world)
{
    TalusSources *s = &world->sources;
    for (int i = 0; i < s->emitters; i++)
        clear_emitter(&s->emitter[i]);
    for (int i = 0; i < s->pendings; i++)
        talus_pending_clear(&s->pending[i]);
    for (int i = 0; i < s->sinks; i++)
        talus_release(s->sink[i].name);
    TALUS_RELEASE(s->emitter, s->pending, s->sink, world->journal.entry);
    *s = (TalusSources){0};
    world->journal = (TalusJournal){0};
}

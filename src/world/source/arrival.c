/* world/source/arrival.c - overlaps of arriving bodies, of delayed batches and emitters, with other bodies.
 *
 * Before the run, the future positions of free and driven bodies are unknown, so only fixed bodies and simultaneous
 * arrivals count (survey.h). The contacts of the step in which a batch arrives show the remaining overlaps. */
#include "base/rng.h"
#include "world/source/emit.h"
#include "world/source/overlap.h"
#include "world/source/source.h"
#include "world/source/survey.h"
#include "world/step/mirror.h"

#include "collide/period.h"

#include <inttypes.h>
#include <string.h>

/* ---- bodies for a detector ---- */

/* A set of bodies for a detector, and the world's name of each. On several ranks a set has the fixed bodies of this rank:
 * each overlap with a fixed body is found by the rank that has it. */
typedef struct BodySet {
    TalusBodies bodies;
    TalusBodyRef *who; /* by slot */
} BodySet;

static void body_set_clear(BodySet *c)
{
    talus_bodies_clear(&c->bodies);
    talus_release(c->who);
}

/* Appends a body to the set, which has the capacity. */
static void body_set_add(BodySet *c, const TalusSurveyBody *body)
{
    TalusBodies *b = &c->bodies;
    int at = b->counts.slots++;
    b->position[at] = body->position;
    b->velocity[at] = talus_vec3(0.0, 0.0, 0.0);
    b->orientation[at] = body->orientation;
    b->radius[at] = body->radius;
    b->size[at] = body->size;
    b->shape[at] = body->shape_index;
    b->mobility[at] = body->fixed ? TALUS_MOBILITY_FIXED : TALUS_MOBILITY_FREE;
    b->group[at] = (uint16_t)body->group;
    c->who[at] = body->who;
}

/* True if the slot has a fixed body, not a driven one. */
static bool is_fixed(const TalusWorld *world, int slot)
{
    return world->bodies.shape[slot] >= 0 && world->bodies.mobility[slot] == TALUS_MOBILITY_FIXED;
}

/* Reserves capacity for the world's fixed bodies and `more` others, and appends the fixed bodies, not driven ones. The
 * set must be cleared even after a failure. */
static TalusStatus body_set_add_fixed(BodySet *c, const TalusWorld *world, size_t more)
{
    size_t capacity = more + 1;
    for (int i = 0; i < world->bodies.counts.slots; i++)
        capacity += is_fixed(world, i);
    TALUS_TRY(talus_bodies_reserve(&c->bodies, capacity));
    TALUS_TRY(TALUS_ALLOC(c->who, capacity, "arrivals"));
    for (int i = 0; i < world->bodies.counts.slots; i++) {
        if (!is_fixed(world, i))
            continue;
        TalusSurveyBody body = talus_survey_body(world, (TalusBodyRef){-1, i});
        body_set_add(c, &body);
    }
    return TALUS_OK;
}

/* ---- batches ---- */

/* Appends the bodies of the k-th batch and of all batches after it in the list with the same time. */
static void add_simultaneous(BodySet *c, const TalusWorld *world, int k)
{
    const TalusSources *s = &world->sources;
    for (int i = k; i < s->pendings; i++)
        for (int j = 0; s->pending[i].time == s->pending[k].time && j < s->pending[i].batch.count;
             j++) {
            TalusSurveyBody body = talus_survey_body(world, (TalusBodyRef){i, j});
            body_set_add(c, &body);
        }
}

/* Finds this rank's worst overlap of the batches that arrive with the k-th. */
static TalusStatus find_here(TalusWorld *world, BodySet *c, int k, TalusOverlapPair *worst)
{
    int before = c->bodies.counts.slots;
    add_simultaneous(c, world, k);
    TalusFilter groups = {.group = c->bodies.group, .meets = world->filters.meets};
    TalusBodyView view = talus_bodies_view(world, &c->bodies, &groups);
    TalusStatus status = talus_view_worst_overlap(world->pool, &view, worst);
    c->bodies.counts.slots = before;
    return status;
}

/* Gets the body, which `rank` has, on all ranks. */
static TalusStatus share_body(const TalusWorld *world, int rank, TalusSurveyBody *body)
{
    TALUS_TRY(talus_comm_broadcast(world->ranks.comm, rank, body, sizeof *body));
    body->shape = &world->shape[body->shape_index]; /* of this rank */
    return TALUS_OK;
}

/* Sets *out to the deepest overlap of the batches that arrive with the k-th, if its depth over size exceeds *out's. */
static TalusStatus find_arrival_overlap(TalusWorld *world, BodySet *c, int k,
                                        TalusArrivalOverlap *out)
{
    TalusComm *comm = world->ranks.comm;
    TalusSurveyBody a = {0}, b = {0};
    TalusNumberedOverlap worst;
    int rank = 0;
    memset(&worst, 0, sizeof worst); /* padding, too: it is sent */
    TALUS_TRY(talus_comm_agree(comm, find_here(world, c, k, &worst.pair)));
    if (worst.pair.a >= 0) {
        a = talus_survey_body(world, c->who[worst.pair.a]);
        b = talus_survey_body(world, c->who[worst.pair.b]);
    }
    worst.number[0] = a.number;
    worst.number[1] = b.number;
    TALUS_TRY(talus_overlap_share(comm, &worst, &rank));
    const TalusOverlapPair *p = &worst.pair;
    if (p->a < 0 || p->depth * out->size <= out->depth * p->size)
        return TALUS_OK;
    TALUS_TRY(share_body(world, rank, &a));
    TALUS_TRY(share_body(world, rank, &b));
    *out = (TalusArrivalOverlap){a, b, p->depth, p->size, world->sources.pending[k].time};
    return TALUS_OK;
}

/* True if no earlier batch in the list has the time of the k-th. */
static bool is_first_at_its_time(const TalusSources *s, int k)
{
    for (int i = 0; i < k; i++)
        if (s->pending[i].time == s->pending[k].time)
            return false;
    return true;
}

TalusStatus talus_world_arrival_overlap(TalusWorld *world, TalusArrivalOverlap *out)
{
    const TalusSources *s = &world->sources;
    BodySet set = {0};
    size_t most = 0;
    *out = (TalusArrivalOverlap){.size = 1.0};
    if (s->pendings == 0)
        return TALUS_OK;
    for (int k = 0; k < s->pendings; k++)
        most += (size_t)s->pending[k].batch.count;
    TalusStatus status = talus_comm_agree(world->ranks.comm, body_set_add_fixed(&set, world, most));
    for (int k = 0; status == TALUS_OK && k < s->pendings; k++)
        if (is_first_at_its_time(s, k))
            status = find_arrival_overlap(world, &set, k, out);
    body_set_clear(&set);
    return status;
}

/* Returns talus_contact_size of the contact. */
static double smaller_size(const TalusWorld *world, const TalusContact *c)
{
    const TalusBodies *b = &world->bodies;
    return talus_contact_size(b->size, b->shape, b->mobility, c);
}

/* A contact of a body that the step added. ratio: overlap over the smaller size; 0: there is none. */
typedef struct NewContact {
    double ratio, overlap;
    uint64_t a, b;
    int tag_a, tag_b;
} NewContact;

/* Returns, of the contacts of bodies that the step added, the one with the largest overlap over the smaller size. */
static NewContact deepest_new_contact(const TalusWorld *world)
{
    const TalusContactList *list = talus_world_contacts(world);
    const TalusBodies *b = &world->bodies;
    const uint64_t first = world->journal.counts_before.created + 1;
    NewContact worst;
    memset(&worst, 0, sizeof worst); /* padding, too: it is sent */
    for (int i = 0; i < list->count; i++) {
        const TalusContact *c = &list->contact[i];
        double r = -c->gap / smaller_size(world, c);
        if (r > worst.ratio && (b->id[c->a] >= first || b->id[c->b] >= first)) {
            worst.ratio = r;
            worst.overlap = -c->gap;
            worst.a = b->id[c->a];
            worst.b = b->id[c->b];
            worst.tag_a = b->tag[c->a];
            worst.tag_b = b->tag[c->b];
        }
    }
    return worst;
}

/* Sets *worst to the deepest of all ranks; of equal ones, to that with the smallest numbers. */
static TalusStatus share_deepest(const TalusWorld *world, NewContact *worst)
{
    TalusInbox inbox = {0};
    if (!talus_world_is_dealt(world))
        return TALUS_OK;
    TalusStatus status = talus_comm_gather(world->ranks.comm, worst, sizeof *worst, &inbox);
    for (int k = 0; status == TALUS_OK && k < inbox.count; k++) {
        const NewContact *c = inbox.message[k].data;
        const bool before = c->a < worst->a || (c->a == worst->a && c->b < worst->b);
        if (c->ratio > worst->ratio || (c->ratio == worst->ratio && before))
            *worst = *c;
    }
    talus_inbox_clear(&inbox);
    return status;
}

void talus_arrivals_report(TalusWorld *world)
{
    const TalusSources *s = &world->sources;
    bool any = false;
    for (int i = 0; i < s->pendings; i++)
        any = any || s->pending[i].added;
    if (!any || world->said_overlap || !(world->info.penetration_max > TALUS_DEEP_OVERLAP) ||
        talus_world_download_contacts(world) != TALUS_OK)
        return;
    NewContact c = deepest_new_contact(world);
    if (share_deepest(world, &c) != TALUS_OK || !(c.ratio > TALUS_DEEP_OVERLAP))
        return;
    world->said_overlap = true;
    talus_log_to(&world->log, TALUS_LOG_WARNING, "step.overlap",
                 "step %lld: bodies arrive where others are: body %" PRIu64
                 " (tag %d) and body %" PRIu64
                 " (tag %d) overlap by %.3g m, %.3g of the smaller size (said once)",
                 (long long)world->steps + 1, c.a, c.tag_a, c.b, c.tag_b, c.overlap, c.ratio);
}

/* ---- emitters ---- */

/* Appends `tries` spheres of the emitter's smallest radius at random positions in its box, in group 1 of the emitter's copy. */
static void add_candidates(BodySet *c, const TalusWorld *world, const TalusEmitter *e, int tries)
{
    const TalusEmitterDef *def = &e->def;
    TalusRng rng = talus_rng_from_seed(def->seed);
    for (int i = 0; i < tries; i++) {
        TalusVec3 at = talus_emitter_random_position(def, &rng);
        TalusSurveyBody body = {.shape_index = e->shape,
                                .group = TALUS_GROUPS * def->copy + 1,
                                .position = talus_wrap_position(&world->def.period, at),
                                .orientation = talus_quat_identity(),
                                .radius = def->radius_min,
                                .size = def->radius_min};
        body_set_add(c, &body);
    }
}

/* Sets overlaps[k] to 1 for each candidate k, in slot first + k, that overlaps a fixed body of the set. Fixed bodies are in
 * group 0 of their copies, candidates in 1, so that candidates do not collide with each other. The world's groups are
 * ignored. */
static TalusStatus mark_overlapping(TalusWorld *world, BodySet *c, int first, int64_t *overlaps)
{
    static const uint32_t meets[TALUS_GROUPS] = {[0] = 3, [1] = 1};
    TalusFilter filter = {.group = c->bodies.group, .meets = meets};
    TalusBodyView view = talus_bodies_view(world, &c->bodies, &filter);
    TalusDetectOptions options = {0};
    TalusDetector *detector;
    TalusContactList *list;
    TALUS_TRY(talus_detector_create(&detector));
    TalusStatus status = talus_detect(detector, world->pool, &view, &options, &list);
    for (int i = 0; status == TALUS_OK && i < list->count; i++)
        if (list->contact[i].gap < 0.0)
            overlaps[(int)list->contact[i].a - first] = 1;
    talus_detector_destroy(detector);
    return status;
}

/* Does so for `tries` candidates in the emitter's box. */
static TalusStatus try_candidates(TalusWorld *world, const TalusEmitter *emitter, int tries,
                                  int64_t *overlaps)
{
    BodySet set = {0};
    TalusStatus status = body_set_add_fixed(&set, world, (size_t)tries);
    int first = set.bodies.counts.slots;
    for (int i = 0; status == TALUS_OK && i < first; i++)
        set.bodies.group[i] -= set.bodies.group[i] % TALUS_GROUPS;
    if (status == TALUS_OK) {
        add_candidates(&set, world, emitter, tries);
        status = mark_overlapping(world, &set, first, overlaps);
    }
    body_set_clear(&set);
    return status;
}

TalusStatus talus_emitter_count_free(TalusWorld *world, const TalusEmitter *emitter, int tries,
                                     int *free)
{
    TalusComm *comm = world->ranks.comm;
    int64_t *overlaps; /* [tries]: number of ranks on which the candidate overlaps */
    *free = 0;
    TalusStatus status = TALUS_ALLOC(overlaps, (size_t)tries, "emitter");
    TALUS_THEN(status, try_candidates(world, emitter, tries, overlaps));
    status = talus_comm_agree(comm, status);
    TALUS_THEN(status, talus_comm_add_counts(comm, overlaps, tries));
    for (int k = 0; status == TALUS_OK && k < tries; k++)
        *free += overlaps[k] == 0;
    talus_release(overlaps);
    return status;
}

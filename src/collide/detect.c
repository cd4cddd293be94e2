/* collide/detect.c - makes a contact list in canonical order from bodies.
 *
 *   1. broad phase: sorted pairs for the three runs; every pair of the first run is a contact
 *   2. count the contacts of each chunk of pairs of the second and third run, which gives the index of the chunk's
 *      first contact in the new list
 *   3. transfer the old impulses to contacts of the first run with the same key, then write these contacts over the
 *      old list
 *   4. write the contacts of the other runs, and transfer the old impulses by key (share_lost_impulse for new keys)
 * Manifold points of the third run are expensive. Step 2 therefore stores up to 128 contacts of each chunk of 64 pairs,
 * of the first 2^20 pairs, in a draft, from which step 4 copies them. Contacts of chunks with more contacts, of later
 * chunks and of the second run are computed twice. On one thread, and if there is only the third run, the drafts follow
 * each other without gaps: then step 4 exchanges them for the old list and copies nothing.
 *
 * Up to step 3 the old list is unchanged but for dropped impulses, which are zeroed, so a failed call keeps it. */
#include "collide/detector.h"
#include "collide/errors.h"

#include "base/memory.h"
#include "base/status.h"

#include <string.h>

enum {
    PAIR_GRAIN = 64,      /* pairs of a chunk */
    CONTACT_GRAIN = 4096, /* contacts of a chunk */
    /* pairs between the one that is computed and the one whose bodies are fetched */
    PAIRS_AHEAD = 3,
    DRAFT = 2 * PAIR_GRAIN, /* contacts that the draft of a chunk has capacity for */
    DRAFT_CHUNKS = 1 << 14  /* maximum number of chunks with a draft */
};

TalusStatus talus_detector_create(TalusDetector **out)
{
    return TALUS_ALLOC(*out, 1, "detector");
}

void talus_detector_destroy(TalusDetector *d)
{
    if (!d)
        return;
    TALUS_RELEASE(d->list.contact, d->list.arms, d->list.impulse, d->spare, d->old_key, d->chunk,
                  d->draft, d->draft_arms, d->spin_speeds, d->dropped, d->missing);
    talus_broad_clear(&d->broad);
    talus_release(d);
}

/* Sets the lengths of the three runs and their sum. */
static void set_counts(TalusContactList *list, int64_t spheres, int64_t fixed, int64_t general)
{
    list->sphere_sphere = (int)spheres;
    list->sphere_fixed = (int)fixed;
    list->general = (int)general;
    list->count = (int)(spheres + fixed + general);
}

/* ---- dropped impulses ------------------------------------------------------------------------ */

/* Sets the impulses of dropped bodies' contacts to zero (talus_detector_drop_impulses). */
static void zero_dropped_impulses(TalusDetector *d)
{
    if (!d->any_dropped)
        return;
    for (int i = 0; i < d->list.count; i++) {
        const TalusContact *c = &d->list.contact[i];
        if (d->dropped[c->a] || d->dropped[c->b])
            d->list.impulse[i] = talus_vec3(0.0, 0.0, 0.0);
    }
    memset(d->dropped, 0, TALUS_CAPACITY(d->dropped));
    d->any_dropped = false;
}

TalusContactList *talus_detector_contacts(TalusDetector *d)
{
    zero_dropped_impulses(d);
    return &d->list;
}

int talus_detector_count_clipped(const TalusDetector *d)
{
    return d->broad.grid.fit.clipped;
}

void talus_detector_drop_impulses(TalusDetector *d, uint32_t body)
{
    if (body >= TALUS_CAPACITY(d->dropped))
        return; /* no contact of the list has that body */
    d->dropped[body] = 1;
    d->any_dropped = true;
}

/* Makes d->dropped large enough for the number of bodies. Applies the marks set so far before it grows. */
static TalusStatus reserve_dropped(TalusDetector *d, size_t bodies)
{
    if (bodies <= TALUS_CAPACITY(d->dropped))
        return TALUS_OK;
    zero_dropped_impulses(d);
    TALUS_TRY(TALUS_GROW(d->dropped, bodies, 0, "dropped bodies"));
    memset(d->dropped, 0, TALUS_CAPACITY(d->dropped));
    return TALUS_OK;
}

/* ---- contacts of bodies that are gone -------------------------------------------------------- */

/* True if the body now in the slot took part in the detection that made the list. */
static bool was_detected_before(const TalusBodyView *v, uint32_t slot)
{
    return slot < (uint32_t)v->count && v->id[slot] <= v->last_id;
}

/* If bodies have ranks: removes contacts of slots that another body has taken or that no longer exist, because the old
 * list is sorted by the rank of the former body. Arms are not moved: from here on only keys and impulses of the list
 * are used. */
static void remove_contacts_of_replaced(TalusDetector *d)
{
    TalusContactList *l = &d->list;
    const int sphere_end = l->sphere_sphere, fixed_end = sphere_end + l->sphere_fixed;
    int kept = 0, left[TALUS_RUNS] = {0};
    for (int i = 0; d->bodies->rank && i < l->count; i++) {
        const TalusContact *c = &l->contact[i];
        if (!was_detected_before(d->bodies, c->a) || !was_detected_before(d->bodies, c->b))
            continue;
        left[i < sphere_end ? 0 : i < fixed_end ? 1 : 2]++;
        l->contact[kept] = *c;
        l->impulse[kept++] = l->impulse[i];
    }
    if (d->bodies->rank)
        set_counts(l, left[0], left[1], left[2]);
}

void talus_detector_renumber(TalusDetector *d, const int32_t *slot)
{
    TalusContactList *l = talus_detector_contacts(d);
    const int sphere_end = l->sphere_sphere, fixed_end = sphere_end + l->sphere_fixed;
    int kept = 0, left[TALUS_RUNS] = {0};
    for (int i = 0; i < l->count; i++) {
        TalusContact c = l->contact[i];
        const int32_t a = slot[c.a], b = slot[c.b];
        if (a < 0 || b < 0)
            continue;
        c.a = (uint32_t)a;
        c.b = (uint32_t)b;
        left[i < sphere_end ? 0 : i < fixed_end ? 1 : 2]++;
        l->contact[kept] = c;
        l->impulse[kept++] = l->impulse[i];
    }
    set_counts(l, left[0], left[1], left[2]);
}

/* ---- first run ------------------------------------------------------------------------------- */

/* Writes to spare[] the impulses of old contacts of the same pairs, 0 for new pairs, for pairs begin .. end - 1 of the
 * first run. Both lists are sorted. */
static void transfer_sphere_impulses(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    (void)chunk;
    const TalusDetector *d = context;
    const TalusPair *pair = d->broad.run[TALUS_RUN_SPHERES].pair;
    const TalusContact *old = d->list.contact;
    int64_t high = d->old.sphere_sphere;
    const uint32_t *rank = d->bodies->rank;
    TalusKey first = talus_pair_key(rank, pair[begin].a, pair[begin].b, 0);
    int64_t at = talus_find_key(old, rank, 0, high, first);
    for (int64_t i = begin; i < end; i++) {
        TalusKey key = talus_pair_key(rank, pair[i].a, pair[i].b, 0);
        while (at < high && talus_key_less(talus_contact_key(rank, &old[at]), key))
            at++;
        bool known = at < high && talus_key_equal(talus_contact_key(rank, &old[at]), key);
        d->spare[i] = known ? d->list.impulse[at] : talus_vec3(0.0, 0.0, 0.0);
    }
}

/* Writes the contacts of pairs begin .. end - 1 of the first run to the list. If two centres coincide, the normal is
 * +z. */
static void write_spheres(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    (void)chunk;
    const TalusDetector *d = context;
    const TalusPair *pair = d->broad.run[TALUS_RUN_SPHERES].pair;
    const double *radius = d->bodies->radius;
    for (int64_t i = begin; i < end; i++) {
        uint32_t a = pair[i].a, b = pair[i].b;
        TalusVec3 between = talus_vector_between(d->bodies, a, b);
        double distance = talus_norm(between);
        TalusContact contact = {a, b, 0, 0, {0.0, 0.0, 1.0}, distance - (radius[a] + radius[b])};
        if (distance > 0.0)
            contact.normal = talus_scale(1.0 / distance, between);
        d->list.contact[i] = contact;
    }
}

/* ---- other runs ------------------------------------------------------------------------------ */

/* Receiver of the manifold points of a pair (a, b) with velocities va, vb: counts the points within the envelope, and
 * writes them to contact[] and arms[] while there is capacity. With capacity 0 it only counts. */
typedef struct ContactWriter {
    const TalusDetector *d;
    uint32_t a, b;
    TalusVec3 va, vb;
    double envelope_base; /* envelope without closing speed, m */
    int64_t count;        /* points of the current pair */
    int64_t capacity;     /* elements that contact[] and arms[] can still take */
    TalusContact *contact;
    TalusArms *arms; /* NULL in the second run */
} ContactWriter;

/* Counts a manifold point and writes it, if its gap is below the envelope along its normal. */
static void write_point(void *context, const TalusManifoldPoint *touch)
{
    ContactWriter *w = context;
    double closing =
        talus_closing_speed(talus_dot(w->va, touch->normal), talus_dot(w->vb, touch->normal));
    if (!(touch->gap < w->envelope_base + w->d->options->h * closing))
        return;
    int64_t at = w->count++;
    if (at >= w->capacity)
        return;
    TalusContact contact = {w->a, w->b, touch->feature, 0, touch->normal, touch->gap};
    w->contact[at] = contact;
    if (w->arms) {
        w->arms[at].a = touch->arm_a;
        w->arms[at].b = touch->arm_b;
    }
}

/* Passes the manifold points of a pair to write_point. False if the narrow phase has no contact function for the
 * pair. */
static bool write_pair(ContactWriter *w, TalusPair pair)
{
    const TalusBodyView *v = w->d->bodies;
    TalusPose a = talus_pose_of(v, pair.a), b = talus_pose_of_nearest_image(v, pair.a, pair.b);
    w->a = pair.a;
    w->b = pair.b;
    w->va = talus_body_velocity(v, pair.a);
    w->vb = talus_body_velocity(v, pair.b);
    w->envelope_base = talus_envelope_base_of(v, w->d->options, pair.a, pair.b, w->va, w->vb,
                                              w->d->spin_speeds[pair.a], w->d->spin_speeds[pair.b]);
    double reach = talus_envelope_reach(w->envelope_base, w->d->options->h, w->va, w->vb);
    return talus_narrow(&a, &b, reach, write_point, w);
}

/* Sorts the contacts of a pair by feature. */
static void sort_by_feature(TalusContact *contact, TalusArms *arms, int64_t count)
{
    for (int64_t i = 1; i < count; i++) {
        for (int64_t j = i; j > 0 && contact[j - 1].feature > contact[j].feature; j--) {
            TalusContact c = contact[j];
            contact[j] = contact[j - 1];
            contact[j - 1] = c;
            if (arms) {
                TalusArms r = arms[j];
                arms[j] = arms[j - 1];
                arms[j - 1] = r;
            }
        }
    }
}

/* Lowers d->unsupported to the index of a pair without a contact function. */
static void note_unsupported(TalusDetector *d, long long pair)
{
    long long now = atomic_load(&d->unsupported);
    while (pair < now && !atomic_compare_exchange_weak(&d->unsupported, &now, pair))
        ;
}

/* Fetches what write_pair reads of a body. Second bodies of pairs are scattered. */
static inline void prefetch_body(const TalusDetector *d, uint32_t i)
{
    const TalusBodyView *v = d->bodies;
    __builtin_prefetch(&v->position[i]);
    __builtin_prefetch(&v->orientation[i]);
    __builtin_prefetch(&v->velocity[i]);
    __builtin_prefetch(&d->spin_speeds[i]);
}

/* Finds the contacts of pairs begin .. end - 1 of the current run, and writes them in canonical order. If the writer's
 * capacity is too small, contacts from some pair on are counted but not written. Returns the number of contacts. Stops
 * at a pair without a contact function, and notes it. */
static int64_t write_pairs(ContactWriter *w, TalusDetector *d, int64_t begin, int64_t end)
{
    const TalusPair *pair = d->broad.run[d->run].pair;
    int64_t total = 0;
    for (int64_t i = begin; i < end; i++) {
        w->count = 0;
        if (i + PAIRS_AHEAD < end)
            prefetch_body(d, pair[i + PAIRS_AHEAD].b);
        if (!write_pair(w, pair[i])) {
            note_unsupported(d, i);
            break;
        }
        total += w->count;
        if (w->count > w->capacity) {
            w->capacity = 0;
            continue;
        }
        sort_by_feature(w->contact, w->arms, w->count);
        w->capacity -= w->count;
        w->contact += w->count;
        w->arms = w->arms ? w->arms + w->count : NULL;
    }
    return total;
}

/* True if step 2 stores contacts of this chunk of the current run in a draft. */
static bool has_draft(const TalusDetector *d, int64_t chunk)
{
    return d->run == TALUS_RUN_GENERAL && chunk < d->drafts;
}

/* count_chunk_contacts if the drafts follow each other: chunks come in their order. From the first chunk on that exceeds
 * the memory no chunk has a draft. */
static void draft_next_chunk(TalusDetector *d, int64_t begin, int64_t end, int64_t chunk)
{
    int64_t first = d->drafted, room = (int64_t)TALUS_CAPACITY(d->draft) - first;
    int64_t arms_room = (int64_t)TALUS_CAPACITY(d->draft_arms) - first;
    ContactWriter w = {.d = d};
    if (chunk < d->drafts) {
        w.capacity = room < arms_room ? room : arms_room;
        w.contact = d->draft + first;
        w.arms = d->draft_arms + first;
    }
    int64_t capacity = w.capacity, count = write_pairs(&w, d, begin, end);
    d->run_chunk[chunk] = count;
    if (count > capacity) {
        d->drafts = chunk < d->drafts ? chunk : d->drafts;
        return;
    }
    for (int64_t k = first; k < first + count; k++)
        d->draft[k].general = (uint32_t)k;
    d->drafted += count;
}

/* Sets run_chunk[chunk] to the number of contacts of the chunk, and fills the draft of the chunk if it has one. */
static void count_chunk_contacts(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    TalusDetector *d = context;
    if (d->run == TALUS_RUN_GENERAL && d->joined) {
        draft_next_chunk(d, begin, end, chunk);
        return;
    }
    ContactWriter w = {.d = d};
    if (has_draft(d, chunk)) {
        w.capacity = DRAFT;
        w.contact = d->draft + chunk * DRAFT;
        w.arms = d->draft_arms + chunk * DRAFT;
    }
    d->run_chunk[chunk] = write_pairs(&w, d, begin, end);
}

/* Index of the first contact of the current run, the second or third. */
static int64_t first_of_run(const TalusDetector *d)
{
    return d->list.sphere_sphere + (d->run == TALUS_RUN_GENERAL ? d->list.sphere_fixed : 0);
}

/* Writes the contacts of a chunk to the list: copied from the draft of the chunk, or computed again. */
static void write_chunk_contacts(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    TalusDetector *d = context;
    bool general = d->run == TALUS_RUN_GENERAL;
    int64_t place = d->run_chunk[chunk], count = d->run_chunk[chunk + 1] - place;
    TalusContact *contact = d->list.contact + first_of_run(d) + place;
    TalusArms *arms = general ? d->list.arms + place : NULL;
    if (has_draft(d, chunk) && (d->joined || count <= DRAFT)) {
        int64_t first = d->joined ? place : chunk * DRAFT;
        memcpy(contact, d->draft + first, (size_t)count * sizeof *contact);
        memcpy(arms, d->draft_arms + first, (size_t)count * sizeof *arms);
    } else {
        ContactWriter w = {.d = d, .capacity = count, .contact = contact, .arms = arms};
        write_pairs(&w, d, begin, end);
    }
    for (int64_t k = 0; k < count && general; k++)
        contact[k].general = (uint32_t)(place + k);
}

/* Returns the error for a pair without a contact function. */
static TalusStatus refuse_unsupported_pair(const TalusDetector *d, TalusPair pair)
{
    return talus_refuse_pair(talus_body_kind(d->bodies, pair.a), pair.a,
                             talus_body_kind(d->bodies, pair.b), pair.b);
}

/* Makes `run`, the second or third, current: sets d->run, and d->run_chunk to the part of d->chunk for that run.
 * d->chunk has a number for each chunk of the second run and one for the end of the run, then the same for the third
 * run. */
static void select_run(TalusDetector *d, int run)
{
    int64_t before = talus_chunks(d->broad.run[TALUS_RUN_SPHERE_FIXED].count, PAIR_GRAIN) + 1;
    d->run = run;
    d->run_chunk = d->chunk + (run == TALUS_RUN_GENERAL ? before : 0);
}

/* Sets *count to the number of contacts of a run, and run_chunk[] to the index within the run of each chunk's first
 * contact. Makes the run current. */
static TalusStatus count_run(TalusDetector *d, TalusPool *pool, int run, int64_t *count)
{
    const TalusPairList *pairs = &d->broad.run[run];
    select_run(d, run);
    atomic_store(&d->unsupported, INT64_MAX);
    talus_parallel(pool, pairs->count, PAIR_GRAIN, count_chunk_contacts, d);
    if (atomic_load(&d->unsupported) != INT64_MAX)
        return refuse_unsupported_pair(d, pairs->pair[atomic_load(&d->unsupported)]);
    int64_t chunks = talus_chunks(pairs->count, PAIR_GRAIN);
    *count = 0;
    for (int64_t c = 0; c < chunks; c++) {
        int64_t contacts = d->run_chunk[c];
        d->run_chunk[c] = *count;
        *count += contacts;
    }
    d->run_chunk[chunks] = *count;
    return TALUS_OK;
}

/* True if two keys belong to the same pair of bodies. */
static bool same_pair(TalusKey x, TalusKey y)
{
    return x.a == y.a && x.b == y.b;
}

/* Returns the warm start of contact i, whose key is new. Old contacts of the pair whose keys are gone, as when the
 * points of a manifold are chosen anew, leave impulses: their sum is divided evenly among the new keys of the pair.
 * Otherwise the force between the bodies would vanish for one step, and with it the elastic overlap that it explains
 * (engine/contact_terms.h). [low, high): old keys of the run; at: the first old key that is not below the key of i. */
static TalusVec3 share_lost_impulse(const TalusDetector *d, int64_t i, int64_t low, int64_t at,
                                    int64_t high)
{
    const TalusContact *contact = d->list.contact;
    const uint32_t *rank = d->bodies->rank;
    const TalusVec3 *impulse = d->list.impulse + d->old.sphere_sphere;
    TalusKey key = talus_contact_key(rank, &contact[i]);
    TalusVec3 lost = talus_vec3(0.0, 0.0, 0.0);
    int64_t first = i, end = first_of_run(d);
    end += d->run == TALUS_RUN_GENERAL ? d->list.general : d->list.sphere_fixed;
    while (first > first_of_run(d) && same_pair(talus_contact_key(rank, &contact[first - 1]), key))
        first--;
    while (at > low && same_pair(d->old_key[at - 1], key))
        at--;
    int64_t fresh = 0;
    bool known = false;
    for (; first < end && same_pair(talus_contact_key(rank, &contact[first]), key); first++) {
        TalusKey next = talus_contact_key(rank, &contact[first]);
        bool repeated =
            known && talus_key_equal(talus_contact_key(rank, &contact[first - 1]), next);
        for (; at < high && talus_key_less(d->old_key[at], next); at++)
            lost = talus_add(lost, impulse[at]);
        known = repeated || (at < high && talus_key_equal(d->old_key[at], next));
        while (at < high && talus_key_equal(d->old_key[at], next))
            at++;
        fresh += !known;
    }
    for (; at < high && same_pair(d->old_key[at], key); at++)
        lost = talus_add(lost, impulse[at]);
    return talus_scale(1.0 / (double)fresh, lost);
}

/* Returns the index in [low, high) of the first old key that is not below `least`; high if there is none. */
static int64_t find_old_key(const TalusDetector *d, TalusKey least, int64_t low, int64_t high)
{
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (talus_key_less(d->old_key[middle], least))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Writes to spare[] the warm starts of contacts begin .. end - 1 of the current run: the impulse of the old contact
 * with the same key; for new keys share_lost_impulse, which is equal for all new keys of a pair. */
static void transfer_impulses(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    (void)chunk;
    const TalusDetector *d = context;
    const TalusKey *old = d->old_key;
    const uint32_t *rank = d->bodies->rank;
    const TalusVec3 *impulse = d->list.impulse + d->old.sphere_sphere;
    bool general = d->run == TALUS_RUN_GENERAL;
    int64_t first = first_of_run(d), lowest = general ? d->old.sphere_fixed : 0;
    int64_t high = d->old.sphere_fixed + (general ? d->old.general : 0);
    TalusKey least = talus_contact_key(rank, &d->list.contact[first + begin]), pair = least;
    int64_t low = find_old_key(d, least, lowest, high);
    bool has_share = false; /* `share` is that of new keys of `pair` */
    TalusVec3 share = {0.0, 0.0, 0.0};
    for (int64_t i = first + begin; i < first + end; i++) {
        TalusKey key = talus_contact_key(rank, &d->list.contact[i]);
        while (low < high && talus_key_less(old[low], key))
            low++;
        bool known = low < high && talus_key_equal(old[low], key);
        if (!known && !(has_share && same_pair(pair, key))) {
            share = share_lost_impulse(d, i, lowest, low, high);
            pair = key;
            has_share = true;
        }
        d->spare[i] = known ? impulse[low] : share;
    }
}

/* ---- detection ------------------------------------------------------------------------------- */

/* True, after contacts have been counted, if the drafts together are the new list. */
static bool drafts_are_list(const TalusDetector *d)
{
    return d->joined &&
           d->drafts == talus_chunks(d->broad.run[TALUS_RUN_GENERAL].count, PAIR_GRAIN);
}

/* Grows the arrays of the list to the new lengths without losing the old list. Grows old_key to the keys of runs 2 and
 * 3 of the old or the new list, whichever are more. */
static TalusStatus reserve_list(TalusDetector *d, int64_t fixed, int64_t general)
{
    int64_t count = d->broad.run[TALUS_RUN_SPHERES].count + fixed + general;
    size_t need = (size_t)count, old_count = (size_t)d->list.count;
    size_t keys = (size_t)(fixed + general), old_keys = old_count - (size_t)d->list.sphere_sphere;
    TALUS_TRY(talus_check_contact_count((double)count, INT32_MAX));
    if (!drafts_are_list(d)) {
        TALUS_TRY(TALUS_GROW(d->list.contact, need, old_count, "contacts"));
        TALUS_TRY(
            TALUS_GROW(d->list.arms, (size_t)general, (size_t)d->list.general, "contact arms"));
    }
    TALUS_TRY(TALUS_GROW(d->list.impulse, need, old_count, "impulses"));
    TALUS_TRY(TALUS_GROW(d->spare, need, 0, "impulses"));
    return TALUS_GROW(d->old_key, keys > old_keys ? keys : old_keys, 0, "contact keys");
}

/* Sets spin_speeds of slots begin .. end - 1. */
static void measure_spins(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    TalusDetector *d = context;
    const TalusSpinSpeeds none = {0.0, 0.0};
    (void)chunk;
    for (int64_t i = begin; i < end; i++)
        d->spin_speeds[i] =
            d->bodies->shape[i] < 0 ? none : talus_spin_speeds(d->bodies, (uint32_t)i);
}

/* Sets spin_speeds if there are pairs of the second or third run. */
static TalusStatus prepare_spin_speeds(TalusDetector *d, TalusPool *pool)
{
    if (d->broad.run[TALUS_RUN_SPHERE_FIXED].count + d->broad.run[TALUS_RUN_GENERAL].count == 0)
        return TALUS_OK;
    TALUS_TRY(TALUS_GROW(d->spin_speeds, (size_t)d->bodies->count, 0, "spin speeds"));
    talus_parallel(pool, d->bodies->count, CONTACT_GRAIN, measure_spins, d);
    return TALUS_OK;
}

/* Sets d->drafts and d->joined; reserves d->chunk, with a number more for the end of each run, and the memory of drafts.
 * Drafts that follow each other have room for the contacts of the old list and a quarter more, at least. */
static TalusStatus reserve_chunks(TalusDetector *d, const TalusPool *pool)
{
    int64_t fixed = talus_chunks(d->broad.run[TALUS_RUN_SPHERE_FIXED].count, PAIR_GRAIN);
    int64_t general = talus_chunks(d->broad.run[TALUS_RUN_GENERAL].count, PAIR_GRAIN);
    d->drafts = general < DRAFT_CHUNKS ? general : DRAFT_CHUNKS;
    d->drafted = 0;
    d->joined = talus_pool_threads(pool) == 1 && d->broad.run[TALUS_RUN_SPHERES].count == 0 &&
                fixed == 0 && general > 0 && general <= DRAFT_CHUNKS;
    size_t drafts = (size_t)d->drafts * DRAFT, old = (size_t)d->list.general;
    if (d->joined && drafts < old + old / 4)
        drafts = old + old / 4;
    TALUS_TRY(TALUS_GROW(d->chunk, (size_t)(fixed + general + 2), 0, "contact counts"));
    TALUS_TRY(TALUS_GROW(d->draft, drafts, 0, "drafts of contacts"));
    return TALUS_GROW(d->draft_arms, drafts, 0, "drafts of contacts");
}

/* Makes the drafts the new list, and the memory of the old list that of drafts. */
static void exchange_list_and_drafts(TalusDetector *d)
{
    TalusContact *contact = d->list.contact;
    TalusArms *arms = d->list.arms;
    d->list.contact = d->draft;
    d->list.arms = d->draft_arms;
    d->draft = contact;
    d->draft_arms = arms;
}

/* Writes the contacts of a run, `contacts` in number, to the list, and their transferred impulses to spare[]. */
static void write_run(TalusDetector *d, TalusPool *pool, int run, int64_t contacts)
{
    select_run(d, run);
    if (run == TALUS_RUN_GENERAL && drafts_are_list(d))
        exchange_list_and_drafts(d);
    else
        talus_parallel(pool, d->broad.run[run].count, PAIR_GRAIN, write_chunk_contacts, d);
    talus_parallel(pool, contacts, CONTACT_GRAIN, transfer_impulses, d);
}

/* Steps 3 and 4: replaces the old list by the new one. Nothing can fail here. */
static void replace_list(TalusDetector *d, TalusPool *pool, int64_t fixed, int64_t general)
{
    int64_t spheres = d->broad.run[TALUS_RUN_SPHERES].count;
    remove_contacts_of_replaced(d);
    d->old = d->list;
    for (int64_t i = d->old.sphere_sphere; i < d->old.count; i++)
        d->old_key[i - d->old.sphere_sphere] =
            talus_contact_key(d->bodies->rank, &d->list.contact[i]);
    talus_parallel(pool, spheres, CONTACT_GRAIN, transfer_sphere_impulses, d);
    set_counts(&d->list, spheres, fixed, general);
    talus_parallel(pool, spheres, CONTACT_GRAIN, write_spheres, d);
    write_run(d, pool, TALUS_RUN_SPHERE_FIXED, fixed);
    write_run(d, pool, TALUS_RUN_GENERAL, general);
    TalusVec3 *impulse = d->list.impulse; /* exchanged with spare[], which has the new impulses */
    d->list.impulse = d->spare;
    d->spare = impulse;
}

TalusStatus talus_detect(TalusDetector *d, TalusPool *pool, const TalusBodyView *bodies,
                         const TalusDetectOptions *options, TalusContactList **out)
{
    *out = &d->list;
    TALUS_TRY(talus_check_detect_options(options));
    zero_dropped_impulses(d);
    TALUS_TRY(reserve_dropped(d, (size_t)bodies->count));
    d->bodies = bodies;
    d->options = options;
    TALUS_TRY(talus_broad_find(&d->broad, pool, bodies, options));
    TALUS_TRY(prepare_spin_speeds(d, pool));
    TALUS_TRY(reserve_chunks(d, pool));
    int64_t fixed, general;
    TALUS_TRY(count_run(d, pool, TALUS_RUN_SPHERE_FIXED, &fixed));
    TALUS_TRY(count_run(d, pool, TALUS_RUN_GENERAL, &general));
    TALUS_TRY(reserve_list(d, fixed, general));
    replace_list(d, pool, fixed, general);
    return TALUS_OK;
}

void talus_detector_exchange_spare(TalusDetector *d, TalusVec3 **memory)
{
    TalusVec3 *spare = d->spare;
    d->spare = *memory;
    *memory = spare;
}

void talus_detector_exchange_scratch(TalusDetector *d, unsigned char **memory)
{
    unsigned char *block = d->broad.scratch.block;
    d->broad.scratch.block = *memory;
    *memory = block;
}

TalusStatus talus_detector_restore(TalusDetector *d, const TalusContactList *list)
{
    size_t count = (size_t)list->count, general = (size_t)list->general, bodies = 0;
    for (size_t i = 0; i < count; i++) {
        const TalusContact *c = &list->contact[i];
        bodies = c->a >= bodies ? (size_t)c->a + 1 : bodies;
        bodies = c->b >= bodies ? (size_t)c->b + 1 : bodies;
    }
    zero_dropped_impulses(d);
    TALUS_TRY(reserve_dropped(d, bodies));
    set_counts(&d->list, 0, 0, 0);
    TALUS_TRY(TALUS_GROW(d->list.contact, count, 0, "contacts"));
    TALUS_TRY(TALUS_GROW(d->list.arms, general, 0, "contact arms"));
    TALUS_TRY(TALUS_GROW(d->list.impulse, count, 0, "impulses"));
    if (count) {
        memcpy(d->list.contact, list->contact, count * sizeof *list->contact);
        memcpy(d->list.impulse, list->impulse, count * sizeof *list->impulse);
    }
    if (general)
        memcpy(d->list.arms, list->arms, general * sizeof *list->arms);
    set_counts(&d->list, list->sphere_sphere, list->sphere_fixed, list->general);
    return TALUS_OK;
}

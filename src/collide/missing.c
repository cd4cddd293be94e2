/* collide/missing.c - redetection around a subset of bodies after a solve: finds contacts that the list lacks. */
#include "collide/detector.h"

#include "base/memory.h"
#include "base/status.h"
#include "collide/errors.h"
#include "collide/missing.h"

#include <stdlib.h>

enum {
    PAIR_GRAIN = 64,       /* pairs of a chunk */
    INITIAL_CAPACITY = 256 /* of TalusDetector.missing */
};

/* The pair whose manifold points are checked. */
typedef struct PairCheck {
    TalusDetector *d;
    uint32_t a, b; /* slots */
} PairCheck;

/* Sets start[run] to the index of the first contact of each run, and start[TALUS_RUNS] to the number of contacts. */
static void find_run_starts(const TalusContactList *l, int start[TALUS_RUNS + 1])
{
    start[TALUS_RUN_SPHERES] = 0;
    start[TALUS_RUN_SPHERE_FIXED] = l->sphere_sphere;
    start[TALUS_RUN_GENERAL] = l->sphere_sphere + l->sphere_fixed;
    start[TALUS_RUNS] = l->count;
}

/* Returns the index of the first contact of a run of the list whose key is not below `key`; the end of the run if there
 * is none. */
static int64_t find_insert_index(const TalusDetector *d, int run, TalusKey key)
{
    int start[TALUS_RUNS + 1];
    find_run_starts(&d->list, start);
    return talus_find_key(d->list.contact, d->bodies->rank, start[run], start[run + 1], key);
}

/* Returns the first contact of the current run of the list whose key is not below `key`; NULL: none. */
static const TalusContact *find_first_not_below(const TalusDetector *d, TalusKey key)
{
    int start[TALUS_RUNS + 1];
    find_run_starts(&d->list, start);
    int64_t at = find_insert_index(d, d->run, key);
    return at < start[d->run + 1] ? &d->list.contact[at] : NULL;
}

/* True if the current run of the list has a contact with this key. */
static bool is_listed(const TalusDetector *d, TalusKey key)
{
    const TalusContact *c = find_first_not_below(d, key);
    return c && talus_key_equal(talus_contact_key(d->bodies->rank, c), key);
}

/* True if the pair has a contact in the list that guards it (talus_one_contact_guards). */
static bool has_guarding_contact(const TalusDetector *d, TalusPair pair)
{
    TalusKey key = talus_pair_key(d->bodies->rank, pair.a, pair.b, 0);
    if (!talus_one_contact_guards(d->bodies, pair.a, pair.b))
        return false;
    const TalusContact *c = find_first_not_below(d, key);
    return c && c->a == pair.a && c->b == pair.b;
}

/* Stores a manifold point that is missing (missing.h). Points of the first run have feature 0. */
static void store_if_missing(void *context, const TalusManifoldPoint *touch)
{
    const PairCheck *l = context;
    TalusDetector *d = l->d;
    TalusContact contact = {l->a, l->b, touch->feature, 0, touch->normal, touch->gap};
    TalusKey key = talus_contact_key(d->bodies->rank, &contact);
    if (!talus_ends_overlapping(d->bodies, l->a, l->b, touch, d->options->h,
                                d->subset->tolerance) ||
        is_listed(d, key))
        return;
    size_t at = (size_t)atomic_fetch_add(&d->found, 1);
    if (at >= TALUS_CAPACITY(d->missing))
        return; /* still counted: the search is repeated with enough capacity */
    TalusMissing missing = {d->run, key, 0, contact, {touch->arm_a, touch->arm_b}};
    d->missing[at] = missing;
}

/* True if the bounding spheres are farther apart than `reach`; false if a body is unbounded (radius 0). */
static bool are_apart(const TalusPose *a, const TalusPose *b, double reach)
{
    TalusVec3 d = talus_sub(b->position, a->position);
    double limit = (a->radius + b->radius + reach) * (1.0 + 0x1p-40);
    return a->radius > 0.0 && b->radius > 0.0 && talus_dot(d, d) > limit * limit;
}

/* Passes the manifold points of pairs begin .. end - 1 of the run to store_if_missing, up to the gap that may close
 * within h. Skips pairs without a body of the subset, and pairs with a guarding contact (has_guarding_contact). */
static void check_pairs(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    TalusDetector *d = context;
    const TalusBodyView *v = d->bodies;
    PairCheck l = {.d = d};
    (void)chunk;
    for (int64_t i = begin; i < end; i++) {
        TalusPair pair = d->broad.run[d->run].pair[i];
        if (pair.a == pair.b || !(d->subset->around[pair.a] || d->subset->around[pair.b]))
            continue;
        double reach = talus_closable_gap(v, d->options->h, pair.a, pair.b);
        TalusPose a = talus_pose_of(v, pair.a), b = talus_pose_of_nearest_image(v, pair.a, pair.b);
        if (are_apart(&a, &b, reach) || has_guarding_contact(d, pair))
            continue;
        l.a = pair.a;
        l.b = pair.b;
        (void)talus_narrow(&a, &b, reach, store_if_missing,
                           &l); /* detection has refused unsupported pairs */
    }
}

/* ---- merge into the list ---- */

/* Order by run, then key, for qsort. */
static int compare_missing(const void *x, const void *y)
{
    const TalusMissing *p = x, *q = y;
    if (p->run != q->run)
        return p->run < q->run ? -1 : 1;
    return talus_key_less(p->key, q->key) ? -1 : talus_key_less(q->key, p->key) ? 1 : 0;
}

/* Sorts missing contacts by run and key, and removes duplicates. Returns the number that remains. */
static int64_t sort_missing(TalusMissing *missing, int64_t count)
{
    int64_t kept = 0;
    if (count > 1)
        qsort(missing, (size_t)count, sizeof *missing, compare_missing);
    for (int64_t k = 0; k < count; k++)
        if (k == 0 || compare_missing(&missing[k], &missing[kept - 1]) != 0)
            missing[kept++] = missing[k];
    return kept;
}

/* Grows the arrays of the list by `missing` contacts, so that talus_detector_add_missing cannot fail. */
static TalusStatus reserve_merged(TalusDetector *d, int64_t missing)
{
    TalusContactList *l = &d->list;
    size_t count = (size_t)l->count, general = (size_t)l->general, more = (size_t)missing;
    TALUS_TRY(talus_check_contact_count((double)(count + more), INT32_MAX));
    TALUS_TRY(TALUS_GROW(l->contact, count + more, count, "contacts"));
    TALUS_TRY(TALUS_GROW(l->arms, general + more, general, "contact arms"));
    return TALUS_GROW(l->impulse, count + more, count, "impulses");
}

TalusStatus talus_detector_find_missing(TalusDetector *d, TalusPool *pool,
                                        const TalusBodyView *bodies,
                                        const TalusDetectOptions *options,
                                        const TalusRedetectSubset *subset, int *missing)
{
    *missing = 0;
    d->bodies = bodies;
    d->options = options;
    d->subset = subset;
    TALUS_TRY(TALUS_GROW(d->missing, INITIAL_CAPACITY, 0, "missing contacts"));
    TALUS_TRY(talus_broad_find_around(&d->broad, pool, bodies, options, subset->around));
    int64_t found = 0;
    for (bool enough = false; !enough;) {
        atomic_store(&d->found, 0);
        for (d->run = 0; d->run < TALUS_RUNS; d->run++)
            talus_parallel(pool, d->broad.run[d->run].count, PAIR_GRAIN, check_pairs, d);
        found = atomic_load(&d->found);
        enough = (size_t)found <= TALUS_CAPACITY(d->missing);
        TALUS_TRY(TALUS_GROW(d->missing, (size_t)found, 0, "missing contacts"));
    }
    d->missing_count = sort_missing(d->missing, found);
    for (int64_t k = 0; k < d->missing_count; k++)
        d->missing[k].before = find_insert_index(d, d->missing[k].run, d->missing[k].key);
    TALUS_TRY(reserve_merged(d, d->missing_count));
    *missing = (int)d->missing_count;
    return TALUS_OK;
}

/* Merges from the end of the list, so that every contact moves to a location that is no longer needed. */
void talus_detector_add_missing(TalusDetector *d)
{
    TalusContactList *l = &d->list;
    int64_t missing = d->missing_count;
    int start[TALUS_RUNS + 1], more[TALUS_RUNS] = {0};
    find_run_starts(l, start);
    for (int64_t k = 0; k < missing; k++)
        more[d->missing[k].run]++;
    int64_t from = l->count - 1, to = l->count + missing - 1, m = missing - 1;
    int64_t first = start[TALUS_RUN_GENERAL] + more[0] + more[1]; /* of the new third run */
    for (; m >= 0; to--) {
        bool take = d->missing[m].before > from;
        TalusContact contact = take ? d->missing[m].contact : l->contact[from];
        if (to >= first) {
            l->arms[to - first] = take ? d->missing[m].arms : l->arms[contact.general];
            contact.general = (uint32_t)(to - first);
        }
        l->impulse[to] = take ? talus_vec3(0.0, 0.0, 0.0) : l->impulse[from];
        l->contact[to] = contact;
        from -= !take;
        m -= take;
    }
    l->sphere_sphere += more[TALUS_RUN_SPHERES];
    l->sphere_fixed += more[TALUS_RUN_SPHERE_FIXED];
    l->general += more[TALUS_RUN_GENERAL];
    l->count += (int)missing;
    d->missing_count = 0;
}

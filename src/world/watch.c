/* world/watch.c - contacts that begin, persist and end: two sorted lists, merged. */
#include <talus/watch.h>

#include "world/contacts.h"
#include "world/state.h"

#include <stdlib.h>

struct TalusWatch {
    TalusContactEvent *seen, *now; /* [seen_count], [now_count]: contacts, sorted by keys */
    TalusContactEvent *event;
    int64_t seen_count, now_count;
};

TalusStatus talus_watch_create(TalusWatch **out)
{
    return TALUS_ALLOC(*out, 1, "watch");
}

void talus_watch_destroy(TalusWatch *watch)
{
    if (watch)
        TALUS_RELEASE(watch->seen, watch->now, watch->event, watch);
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_keys(const void *x, const void *y)
{
    const TalusContactEvent *a = x, *b = y;
    int order = compare_numbers(a->state.a.number, b->state.a.number);
    order = order ? order : compare_numbers(a->state.b.number, b->state.b.number);
    return order ? order : compare_numbers(a->feature, b->feature);
}

/* Sets watch->now to the loaded contacts of the world. */
static TalusStatus list_contacts(TalusWatch *watch, const TalusWorld *world)
{
    const TalusContactList *list = talus_world_contacts(world);
    TALUS_TRY(TALUS_GROW(watch->now, (size_t)list->count + 1, 0, "contacts"));
    watch->now_count = 0;
    for (int i = 0; i < list->count; i++) {
        const TalusContact *c = &list->contact[i];
        if (!talus_contact_lives(&world->bodies, c) || !(talus_normal_impulse(list, i) > 0.0))
            continue;
        TalusContactState state = talus_contact_state(world, list, i, world->bodies.id[c->b]);
        state.branch_b =
            talus_branch(&world->def.period, world->bodies.position[c->b], state.point);
        watch->now[watch->now_count++] = (TalusContactEvent){.feature = c->feature, .state = state};
    }
    if (watch->now_count > 0)
        qsort(watch->now, (size_t)watch->now_count, sizeof *watch->now, compare_keys);
    return TALUS_OK;
}

static TalusContactEvent end_of(const TalusContactEvent *seen)
{
    return (TalusContactEvent){.change = TALUS_CONTACT_ENDS,
                               .feature = seen->feature,
                               .state = {.a = seen->state.a, .b = seen->state.b}};
}

/* Merges both lists into watch->event, which has capacity for all of both. */
static int64_t merge(TalusWatch *watch)
{
    int64_t i = 0, j = 0, count = 0;
    while (i < watch->seen_count || j < watch->now_count) {
        const int order = i == watch->seen_count  ? 1
                          : j == watch->now_count ? -1
                                                  : compare_keys(&watch->seen[i], &watch->now[j]);
        if (order < 0) {
            watch->event[count++] = end_of(&watch->seen[i++]);
            continue;
        }
        watch->event[count] = watch->now[j++];
        watch->event[count++].change = order == 0 ? TALUS_CONTACT_PERSISTS : TALUS_CONTACT_BEGINS;
        i += order == 0;
    }
    return count;
}

TalusStatus talus_watch_update(TalusWatch *watch, const TalusWorld *world,
                               const TalusContactEvent **event, int64_t *count)
{
    TALUS_TRY(talus_ranks_refuse(world, "watch of contacts"));
    TALUS_TRY(talus_world_download_bodies(world));
    TALUS_TRY(talus_world_download_contacts(world));
    TALUS_TRY(list_contacts(watch, world));
    const size_t all = (size_t)(watch->seen_count + watch->now_count);
    TALUS_TRY(TALUS_GROW(watch->event, all + 1, 0, "contact events"));
    *count = merge(watch);
    *event = watch->event;
    TalusContactEvent *seen = watch->seen;
    watch->seen = watch->now;
    watch->seen_count = watch->now_count;
    watch->now = seen;
    return TALUS_OK;
}

/* world/filter.c - collision filters: groups and excluded pairs. */
#include "world/filter.h"
#include "world/ids.h"
#include "world/state.h"
#include "world/step/wake.h"

#include <inttypes.h>
#include <string.h>

void talus_filters_init(TalusFilters *filters)
{
    memset(filters->meets, 0xff, sizeof filters->meets);
}

TalusStatus talus_world_set_groups(TalusWorld *world, int a, int b, bool meet)
{
    TalusFilters *f = &world->filters;
    if (a < 0 || a >= TALUS_GROUPS || b < 0 || b >= TALUS_GROUPS)
        return talus_reject("groups %d and %d; expected 0 to %d", a, b, TALUS_GROUPS - 1);
    talus_wake_all(world);
    uint32_t bit_a = UINT32_C(1) << a, bit_b = UINT32_C(1) << b;
    f->meets[a] = meet ? f->meets[a] | bit_b : f->meets[a] & ~bit_b;
    f->meets[b] = meet ? f->meets[b] | bit_a : f->meets[b] & ~bit_a;
    world->mirror.filters_dirty = true;
    f->groups_apart = false;
    for (int g = 0; g < TALUS_GROUPS; g++)
        f->groups_apart |= f->meets[g] != UINT32_MAX;
    return TALUS_OK;
}

/* Writes the slots a and b to `pair`, smaller first. *there: true if that pair is excluded. Returns the index of the
 * pair in f->excluded, or the index at which to insert it. */
static int find_exclusion(const TalusFilters *f, int a, int b, uint32_t pair[2], bool *there)
{
    int low = 0, high = f->count;
    pair[0] = (uint32_t)(a < b ? a : b);
    pair[1] = (uint32_t)(a < b ? b : a);
    while (low < high) {
        int middle = low + (high - low) / 2;
        const uint32_t *at = f->excluded[middle];
        if (at[0] < pair[0] || (at[0] == pair[0] && at[1] < pair[1]))
            low = middle + 1;
        else
            high = middle;
    }
    *there = low < f->count && f->excluded[low][0] == pair[0] && f->excluded[low][1] == pair[1];
    return low;
}

TalusStatus talus_pair_exclude(TalusWorld *world, int slot_a, int slot_b)
{
    TalusFilters *f = &world->filters;
    uint32_t pair[2];
    bool there;
    int at = find_exclusion(f, slot_a, slot_b, pair, &there);
    if (there) {
        f->exclusions[at]++;
        return TALUS_OK;
    }
    size_t n = (size_t)f->count, after = (size_t)(f->count - at);
    TALUS_TRY(TALUS_GROW(f->excluded, n + 1, n, "excluded pairs"));
    TALUS_TRY(TALUS_GROW(f->exclusions, n + 1, n, "excluded pairs"));
    memmove(f->excluded + at + 1, f->excluded + at, after * sizeof *f->excluded);
    memmove(f->exclusions + at + 1, f->exclusions + at, after * sizeof *f->exclusions);
    memcpy(f->excluded[at], pair, sizeof pair);
    f->exclusions[at] = 1;
    f->count++;
    world->mirror.filters_dirty = true;
    return TALUS_OK;
}

/* Removes the pair at index `at` from the excluded pairs. */
static void remove_exclusion(TalusWorld *world, int at)
{
    TalusFilters *f = &world->filters;
    size_t after = (size_t)(f->count - at - 1);
    memmove(f->excluded + at, f->excluded + at + 1, after * sizeof *f->excluded);
    memmove(f->exclusions + at, f->exclusions + at + 1, after * sizeof *f->exclusions);
    f->count--;
    world->mirror.filters_dirty = true;
}

/* Removes one exclusion of two slots, if there is one. */
static void include_pair(TalusWorld *world, int slot_a, int slot_b)
{
    TalusFilters *f = &world->filters;
    uint32_t pair[2];
    bool there;
    int at = find_exclusion(f, slot_a, slot_b, pair, &there);
    if (there && --f->exclusions[at] == 0)
        remove_exclusion(world, at);
}

TalusStatus talus_bodies_exclude(TalusWorld *world, TalusBodyId a, TalusBodyId b)
{
    talus_wake_all(world);
    if (talus_world_is_dealt(world))
        return talus_ranks_exclude(world, a, b);
    return talus_pair_exclude(world, talus_slot_of(world, a), talus_slot_of(world, b));
}

void talus_bodies_include(TalusWorld *world, TalusBodyId a, TalusBodyId b)
{
    talus_wake_all(world);
    if (talus_world_is_dealt(world))
        talus_ranks_include(world, a, b);
    else
        include_pair(world, talus_slot_of(world, a), talus_slot_of(world, b));
}

void talus_slot_clear_exclusions(TalusWorld *world, int slot)
{
    TalusFilters *f = &world->filters;
    if (talus_world_is_dealt(world))
        return; /* pairs are known by ids, which are not used again */
    for (int i = f->count - 1; i >= 0; i--)
        if (f->excluded[i][0] == (uint32_t)slot || f->excluded[i][1] == (uint32_t)slot)
            remove_exclusion(world, i);
}

/* Fails if one of two bodies does not exist or both are the same body. */
static TalusStatus check_two_bodies(const TalusWorld *world, TalusBodyId a, TalusBodyId b)
{
    TalusBodyRecord body;
    TALUS_TRY(talus_ranks_get_body(world, a, &body));
    TALUS_TRY(talus_ranks_get_body(world, b, &body));
    if (a.number == b.number)
        return talus_reject("body %" PRIu64 " does not meet itself; expected two bodies", a.number);
    return TALUS_OK;
}

TalusStatus talus_world_exclude(TalusWorld *world, TalusBodyId a, TalusBodyId b)
{
    TALUS_TRY(check_two_bodies(world, a, b));
    return talus_bodies_exclude(world, a, b);
}

TalusStatus talus_world_include(TalusWorld *world, TalusBodyId a, TalusBodyId b)
{
    TALUS_TRY(check_two_bodies(world, a, b));
    talus_bodies_include(world, a, b);
    return TALUS_OK;
}

const TalusFilter *talus_filter_view(TalusWorld *world)
{
    TalusFilters *f = &world->filters;
    if (!f->groups_apart && !f->copies_apart && f->count == 0)
        return NULL;
    f->view = (TalusFilter){
        .group = world->bodies.group,
        .meets = f->meets,
        .excluded = (const uint32_t(*)[2])f->excluded,
        .excluded_count = f->count,
    };
    return &f->view;
}

void talus_filters_clear(TalusFilters *f)
{
    TALUS_RELEASE(f->excluded, f->exclusions);
}

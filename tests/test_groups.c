/* backend/groups.h: groups of contacts, and sums over them, when bodies are handled in several places. */

#include "support/test.h"

#include "backend/cpu/cpu.h"
#include "backend/groups.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/sum.h"

#include <stdlib.h>
#include <string.h>

enum { BODIES = 9000, MOST = 40000, PLACES = 5, RUNS = 3 };

/* Contacts in three runs, each sorted by the first body; x and y: vectors of three entries for each. */
typedef struct Contacts {
    int count, run_end[RUNS];
    int32_t (*pair)[2];
    double *x, *y;
} Contacts;

static void append(Contacts *c, int32_t a, TalusRng *rng)
{
    c->pair[c->count][0] = a;
    c->pair[c->count][1] = a + 1;
    for (int k = 3 * c->count; k < 3 * c->count + 3; k++) {
        c->x[k] = talus_rng_uniform(rng) - 0.5;
        c->y[k] = talus_rng_uniform(rng) - 0.5;
    }
    c->count++;
}

static Contacts no_contacts(void)
{
    Contacts c = {.pair = calloc(MOST, sizeof *c.pair)};
    c.x = calloc(3 * (size_t)MOST, sizeof *c.x);
    c.y = calloc(3 * (size_t)MOST, sizeof *c.y);
    return c;
}

/* Many contacts per body in the first run, few in the second; bodies without a contact in each. */
static Contacts random_contacts(uint64_t seed)
{
    const uint64_t most[RUNS] = {6, 2, 4};
    TalusRng rng = talus_rng_from_seed(seed);
    Contacts c = no_contacts();
    for (int run = 0; run < RUNS; run++) {
        for (int32_t a = 0; a < BODIES; a++)
            for (uint64_t k = talus_rng_below(&rng, most[run]); k > 0 && c.count < MOST; k--)
                append(&c, a, &rng);
        c.run_end[run] = c.count;
    }
    return c;
}

static void clear(Contacts *c)
{
    free(c->pair);
    free(c->x);
    free(c->y);
}

/* Returns the contacts whose first bodies' blocks are handled in `place`, in their order. */
static Contacts part_of(const Contacts *all, const int *place_of, int place)
{
    Contacts c = no_contacts();
    for (int i = 0, run = 0; run < RUNS; run++) {
        for (; i < all->run_end[run]; i++) {
            if (place_of[all->pair[i][0] / BODY_GRAIN] != place)
                continue;
            memcpy(c.pair[c.count], all->pair[i], sizeof *c.pair);
            memcpy(c.x + 3 * c.count, all->x + 3 * i, 3 * sizeof *c.x);
            memcpy(c.y + 3 * c.count, all->y + 3 * i, 3 * sizeof *c.y);
            c.count++;
        }
        c.run_end[run] = c.count;
    }
    return c;
}

/* Returns x'y by the CPU backend and adds its groups' sums to *sum. numbers: of the bodies. */
static double dot_of(const Contacts *c, TalusBodyNumbers numbers, TalusPool *pool, TalusSum *sum)
{
    TalusHostScratch scratch = {0};
    const TalusOperator op = {.pool = pool,
                              .rows = 3,
                              .blocks = c->count,
                              .bodies = BODIES,
                              .sphere_sphere = c->run_end[0],
                              .list_end = {c->run_end[0], c->run_end[1]},
                              .sphere_fixed = c->run_end[1] - c->run_end[0],
                              .general = c->run_end[2] - c->run_end[1],
                              .pair = c->pair,
                              .numbers = numbers,
                              .scratch = &scratch};
    double result = 0.0;
    if (CHECK_OK(talus_cpu_op_reserve_scratch(&op))) {
        result = talus_cpu_vector_dot(&op, c->x, c->y);
        talus_sum_add(sum, scratch.partial, talus_cpu_group_count(&op));
    }
    TALUS_RELEASE(scratch.record, scratch.velocity, scratch.partial, scratch.vector_partial,
                  scratch.groups.start);
    return result;
}

static double dot(const Contacts *c, TalusPool *pool, TalusSum *sum)
{
    return dot_of(c, (TalusBodyNumbers){NULL, NULL}, pool, sum);
}

TEST(groups_are_cut_by_bodies)
{
    Contacts c = random_contacts(1);
    TalusGroups g = {0};
    const TalusFirstBodies first = {c.pair, sizeof *c.pair, {NULL, NULL}};
    REQUIRE_OK(talus_groups_cut_contacts(&g, &first, c.run_end));
    bool short_enough = true, of_one_run = true, of_one_block = true;
    CHECK_INT(g.start[0], 0);
    CHECK_INT(g.start[g.count], c.count);
    for (int k = 0; k < g.count; k++) {
        int from = g.start[k], last = g.start[k + 1] - 1;
        short_enough = short_enough && last >= from && last - from < BLOCK_GRAIN;
        for (int run = 0; run < RUNS; run++)
            of_one_run = of_one_run && (from < c.run_end[run]) == (last < c.run_end[run]);
        of_one_block = of_one_block && c.pair[from][0] / BODY_GRAIN == c.pair[last][0] / BODY_GRAIN;
    }
    CHECK(short_enough);
    CHECK(of_one_run);
    CHECK(of_one_block);
    TALUS_RELEASE(g.start);
    clear(&c);
}

/* Blocks of bodies are dealt out to places at random. Every place sums its own contacts; the sums merge, in any order, to
 * that of all contacts in one place, bit for bit. */
TEST(sums_do_not_depend_on_the_place_of_bodies)
{
    TalusRng rng = talus_rng_from_seed(3);
    int place_of[BODIES / BODY_GRAIN + 1];
    for (uint64_t seed = 1; seed <= 5; seed++) {
        Contacts all = random_contacts(seed);
        TalusSum whole = {0}, merged = {0}, sum[PLACES];
        memset(sum, 0, sizeof sum);
        double expected = dot(&all, NULL, &whole);
        for (int k = 0; k <= BODIES / BODY_GRAIN; k++)
            place_of[k] = (int)talus_rng_below(&rng, PLACES);
        for (int p = 0; p < PLACES; p++) {
            Contacts part = part_of(&all, place_of, p);
            dot(&part, NULL, &sum[p]);
            clear(&part);
        }
        for (int p = PLACES - 1; p >= 0; p--)
            talus_sum_merge(&merged, &sum[p]);
        double found = talus_sum_value(&merged);
        CHECK(memcmp(&found, &expected, sizeof found) == 0);
        clear(&all);
    }
}

/* Bodies in other places of the list of bodies, with gaps among them; their numbers are what they were. */
TEST(sums_do_not_depend_on_places_in_the_list_of_bodies)
{
    static uint64_t id[2 * BODIES];
    static int32_t place[BODIES];
    TalusRng rng = talus_rng_from_seed(8);
    Contacts c = random_contacts(6);
    TalusSum sum = {0}, other = {0};
    double expected = dot(&c, NULL, &sum);
    for (int b = 0; b < BODIES; b++) {
        do
            place[b] = (int32_t)talus_rng_below(&rng, 2 * BODIES);
        while (id[place[b]]);
        id[place[b]] = (uint64_t)b + 1;
    }
    for (int i = 0; i < c.count; i++)
        for (int side = 0; side < 2; side++)
            c.pair[i][side] = c.pair[i][side] < BODIES ? place[c.pair[i][side]] : 0;
    double found = dot_of(&c, (TalusBodyNumbers){id, NULL}, NULL, &other);
    CHECK(memcmp(&found, &expected, sizeof found) == 0);
    clear(&c);
}

/* Groups of bodies: of one block of numbers each, whichever numbers are missing. */
TEST(bodies_are_cut_by_numbers)
{
    static uint64_t id[BODIES];
    static uint32_t slot[BODIES];
    TalusRng rng = talus_rng_from_seed(5);
    TalusGroups g = {0}, h = {0};
    uint64_t number = UINT64_C(1) << 40;
    bool sound = true;
    for (int k = 0; k < BODIES; k++) {
        slot[k] = (uint32_t)(BODIES - 1 - k);
        id[slot[k]] = number += 1 + talus_rng_below(&rng, k % 100 == 0 ? 5000 : 3);
    }
    REQUIRE_OK(talus_groups_cut_bodies(&g, id, slot, BODIES));
    for (int k = 0; k < g.count; k++) {
        uint64_t first = id[slot[g.start[k]]] - 1, last = id[slot[g.start[k + 1] - 1]] - 1;
        sound = sound && first / BODY_GRAIN == last / BODY_GRAIN;
        sound =
            sound && (k == 0 || (id[slot[g.start[k] - 1]] - 1) / BODY_GRAIN < first / BODY_GRAIN);
    }
    CHECK(sound);
    CHECK_INT(g.start[g.count], BODIES);
    for (int k = 0; k < BODIES; k++)
        id[k] = (uint64_t)k + 1;
    REQUIRE_OK(talus_groups_cut_bodies(&h, id, NULL, BODIES));
    CHECK_INT(h.count, (int)talus_chunks(BODIES, BODY_GRAIN));
    TALUS_RELEASE(g.start, h.start);
}

TEST(sums_do_not_depend_on_threads)
{
    Contacts c = random_contacts(7);
    TalusSum sum = {0};
    double expected = dot(&c, NULL, &sum);
    for (int threads = 2; threads <= 8; threads += 3) {
        TalusPool *pool = NULL;
        REQUIRE_OK(talus_pool_create(threads, &pool));
        double found = dot(&c, pool, &sum);
        CHECK(memcmp(&found, &expected, sizeof found) == 0);
        talus_pool_destroy(pool);
    }
    clear(&c);
}

/* A list in no order makes groups of BLOCK_GRAIN, not one for each contact. */
TEST(unsorted_contacts_make_large_groups)
{
    Contacts c = random_contacts(2);
    TalusRng rng = talus_rng_from_seed(4);
    TalusGroups g = {0};
    for (int i = 0; i < c.count; i++)
        c.pair[i][0] = (int32_t)talus_rng_below(&rng, BODIES);
    const TalusFirstBodies first = {c.pair, sizeof *c.pair, {NULL, NULL}};
    REQUIRE_OK(talus_groups_cut_contacts(&g, &first, c.run_end));
    CHECK(g.count <= c.count / BLOCK_GRAIN + 3 * (BODIES / BODY_GRAIN + 2));
    CHECK_INT(g.start[g.count], c.count);
    TALUS_RELEASE(g.start);
    clear(&c);
}

TEST(no_contacts_no_groups)
{
    TalusGroups g = {0};
    const int none[RUNS] = {0, 0, 0};
    const TalusFirstBodies first = {NULL, 8, {NULL, NULL}};
    REQUIRE_OK(talus_groups_cut_contacts(&g, &first, none));
    CHECK_INT(g.count, 0);
    REQUIRE_OK(talus_groups_cut_bodies(&g, NULL, NULL, 0));
    CHECK_INT(g.count, 0);
    CHECK_NEAR(talus_groups_sum(0, NULL), 0.0, 0.0);
    TALUS_RELEASE(g.start);
}

int main(void)
{
    RUN(groups_are_cut_by_bodies);
    RUN(sums_do_not_depend_on_the_place_of_bodies);
    RUN(sums_do_not_depend_on_places_in_the_list_of_bodies);
    RUN(bodies_are_cut_by_numbers);
    RUN(sums_do_not_depend_on_threads);
    RUN(unsorted_contacts_make_large_groups);
    RUN(no_contacts_no_groups);
    return talus_test_result();
}

/* Colours of contacts on the CPU (backend/cpu/colour.h): first fit by falling priority, from contact keys alone. */

#include "support/test.h"

#include "backend/cpu/colour.h"
#include "backend/priority.h"
#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

enum { BODIES = 900, FIXED_EVERY = 50, HEAVY_BODY = 3, MOST = 6 * BODIES + 100, TIED = 30 };

/* A graph of contacts: the fields of an operator that colouring reads, and for each contact who it is. */
typedef struct Graph {
    TalusOperator op;
    int32_t pair[MOST][2], incidence_start[BODIES + 1];
    double body[BODIES][8];
    uint64_t id[BODIES];
    int who[MOST]; /* index of the contact in the graph that this one was made from */
} Graph;

static uint64_t rotated(uint64_t x)
{
    return x << 32 | x >> 32;
}

static void count_incidences(Graph *g)
{
    memset(g->incidence_start, 0, sizeof g->incidence_start);
    for (int i = 0; i < g->op.blocks; i++)
        for (int side = 0; side < 2; side++)
            if (talus_body_yields(&g->op, g->pair[i][side]))
                g->incidence_start[g->pair[i][side] + 1]++;
    for (int b = 0; b < BODIES; b++)
        g->incidence_start[b + 1] += g->incidence_start[b];
}

static void bind(Graph *g)
{
    g->op.bodies = BODIES;
    g->op.pair = g->pair;
    g->op.body = g->body;
    g->op.incidence_start = g->incidence_start;
    count_incidences(g);
}

/* Adds `count` contacts of bodies a < b (b -1: the fixed world), which follow each other. */
static void add(Graph *g, int a, int b, int count)
{
    for (int k = 0; k < count && g->op.blocks < MOST; k++) {
        g->who[g->op.blocks] = g->op.blocks;
        g->pair[g->op.blocks][0] = a;
        g->pair[g->op.blocks++][1] = b;
    }
}

/* Spheres, then general contacts, some of them several to a pair; bodies that nothing moves; one body with very many. */
static Graph *random_graph(uint64_t seed)
{
    TalusRng rng = talus_rng_from_seed(seed);
    Graph *g = calloc(1, sizeof *g);
    for (int b = 0; b < BODIES; b++)
        g->body[b][3] = g->body[b][7] = b % FIXED_EVERY ? 1.0 : 0.0;
    for (int a = 1; a + 40 < BODIES; a++)
        for (int k = 1; k <= 2; k++)
            add(g, a, a + 1 + (int)talus_rng_below(&rng, 12) + 13 * (k - 1), a % FIXED_EVERY != 0);
    g->op.sphere_sphere = g->op.blocks;
    for (int a = 1; a < BODIES; a += 7)
        add(g, a, -1, a % FIXED_EVERY != 0);
    g->op.sphere_fixed = g->op.blocks - g->op.sphere_sphere;
    for (int a = 5; a < BODIES; a++)
        add(g, HEAVY_BODY, a, a % 15 == 0);
    for (int a = 5; a + 40 < BODIES; a++)
        add(g, a, a + 1 + (int)talus_rng_below(&rng, 30), 1 + (int)talus_rng_below(&rng, 4));
    g->op.general = g->op.blocks - g->op.sphere_sphere - g->op.sphere_fixed;
    bind(g);
    return g;
}

static TalusColouring colour(const Graph *g)
{
    TalusColouring c = {0};
    CHECK_OK(talus_colour_contacts(&g->op, &c));
    return c;
}

/* True if loops over a colour write the body. */
static bool is_written(const TalusOperator *op, int i, int side)
{
    bool spheres = i < op->sphere_sphere + op->sphere_fixed;
    return op->pair[i][side] >= 0 && (spheres || talus_body_yields(op, op->pair[i][side]));
}

TEST(contacts_of_a_colour_share_no_body)
{
    Graph *g = random_graph(1);
    TalusColouring c = colour(g);
    static uint8_t seen[BODIES][COLOURS];
    memset(seen, 0, sizeof seen);
    int heavy = 0;
    for (int i = 0; i < g->op.blocks; i++) {
        bool is_heavy = g->pair[i][0] == HEAVY_BODY || g->pair[i][1] == HEAVY_BODY;
        heavy += c.class_of[i] == CLASS_HEAVY;
        CHECK_INT(c.class_of[i] == CLASS_HEAVY, is_heavy);
        CHECK(is_heavy || c.class_of[i] < COLOURS);
        for (int side = 0; side < 2 && !is_heavy; side++)
            if (is_written(&g->op, i, side))
                CHECK_INT(seen[g->pair[i][side]][c.class_of[i]]++, 0);
    }
    CHECK(heavy > HEAVY_CONTACTS);
    CHECK(c.colours < 25);
    talus_colouring_clear(&c);
    free(g);
}

static uint64_t priority(const Graph *g, int i)
{
    const TalusContactKeys keys = talus_contact_keys(&g->op);
    return talus_contact_priority(&keys, i);
}

/* A contact's colour is the lowest that no neighbour of higher priority has; where a pair's contacts in the list are apart,
 * as joints can be, priorities are equal, and the first contact comes first. */
TEST(first_fit_by_falling_priority)
{
    Graph *g = random_graph(2);
    TalusColouring c = colour(g);
    const int32_t(*pair)[2] = (const int32_t(*)[2])g->pair;
    const TalusContactKeys keys = talus_contact_keys(&g->op);
    for (int i = 0; i < g->op.blocks; i++) {
        uint64_t mine = priority(g, i), taken = 0;
        for (int j = 0; j < g->op.blocks && c.class_of[i] < COLOURS; j++) {
            bool shares = false;
            for (int k = 0; k < 4; k++)
                shares = shares || (pair[i][k / 2] == pair[j][k % 2] &&
                                    is_written(&g->op, i, k / 2) && is_written(&g->op, j, k % 2));
            uint64_t other = priority(g, j);
            bool before = other > mine || (other == mine && talus_tie_comes_first(&keys, j, i));
            if (j != i && shares && before && c.class_of[j] < COLOURS)
                taken |= UINT64_C(1) << c.class_of[j];
        }
        if (c.class_of[i] < COLOURS)
            CHECK_INT(c.class_of[i], __builtin_ctzll(~taken));
    }
    talus_colouring_clear(&c);
    free(g);
}

/* Moves the contacts of pairs, as wholes, to other places of their run. */
static void shuffle_run(const Graph *from, Graph *to, int begin, int end, TalusRng *rng)
{
    int32_t *first = calloc((size_t)(end - begin) + 1, sizeof *first);
    int pairs = 0;
    for (int i = begin; i < end; i++)
        if (i == begin || memcmp(from->pair[i], from->pair[i - 1], sizeof *from->pair) != 0)
            first[pairs++] = i;
    for (int k = pairs - 1; k > 0; k--) {
        int other = (int)talus_rng_below(rng, (uint64_t)k + 1);
        int32_t swap = first[k];
        first[k] = first[other];
        first[other] = swap;
    }
    for (int k = 0; k < pairs; k++)
        for (int i = first[k]; i < end && (i == first[k] || memcmp(from->pair[i], from->pair[i - 1],
                                                                   sizeof *from->pair) == 0);
             i++) {
            memcpy(to->pair[begin], from->pair[i], sizeof *to->pair);
            to->who[begin++] = from->who[i];
        }
    free(first);
}

/* Returns the graph with its bodies and contacts in random order; bodies keep their numbers. */
static Graph *shuffled(const Graph *from, uint64_t seed)
{
    TalusRng rng = talus_rng_from_seed(seed);
    Graph *g = malloc(sizeof *g);
    int place[BODIES], spheres = from->op.sphere_sphere + from->op.sphere_fixed;
    *g = *from;
    shuffle_run(from, g, 0, from->op.sphere_sphere, &rng);
    shuffle_run(from, g, from->op.sphere_sphere, spheres, &rng);
    shuffle_run(from, g, spheres, from->op.blocks, &rng);
    for (int b = 0; b < BODIES; b++)
        place[b] = b;
    for (int b = BODIES - 1; b > 0; b--) {
        int other = (int)talus_rng_below(&rng, (uint64_t)b + 1), swap = place[b];
        place[b] = place[other];
        place[other] = swap;
    }
    for (int b = 0; b < BODIES; b++) {
        g->id[place[b]] = from->op.numbers.id ? from->id[b] : (uint64_t)b + 1;
        memcpy(g->body[place[b]], from->body[b], sizeof *g->body);
    }
    for (int i = 0; i < g->op.blocks; i++)
        for (int side = 0; side < 2; side++)
            g->pair[i][side] = g->pair[i][side] < 0 ? -1 : place[g->pair[i][side]];
    bind(g);
    g->op.numbers.id = g->id;
    return g;
}

TEST(colours_do_not_depend_on_places_in_lists)
{
    for (uint64_t seed = 1; seed <= 10; seed++) {
        Graph *g = random_graph(seed), *other = shuffled(g, seed);
        TalusColouring c = colour(g), d = colour(other);
        int differ = 0;
        for (int i = 0; i < g->op.blocks; i++)
            differ += d.class_of[i] != c.class_of[other->who[i]];
        CHECK_INT(differ, 0);
        CHECK_INT(d.colours, c.colours);
        talus_colouring_clear(&c);
        talus_colouring_clear(&d);
        free(g);
        free(other);
    }
}

/* Chains of bodies with such numbers that all contacts of a chain have the same priority: a ^ rotated b is the same for
 * (a, b) and the next pair (b, c). Some pairs have two contacts. */
static Graph *tied_graph(uint64_t seed)
{
    TalusRng rng = talus_rng_from_seed(seed);
    Graph *g = calloc(1, sizeof *g);
    for (int b = 0; b < BODIES; b++) {
        uint64_t same = b % TIED > 1 ? g->id[b - 2] ^ rotated(g->id[b - 1]) : 0;
        g->id[b] = b % TIED > 1 ? rotated(same ^ g->id[b - 1])
                                : talus_rng_below(&rng, UINT64_MAX >> 1) + 1;
        g->body[b][3] = g->body[b][7] = 1.0;
        if (b % TIED)
            add(g, b - 1, b, 1 + (b % 7 == 0));
    }
    g->op.general = g->op.blocks;
    g->op.numbers.id = g->id;
    bind(g);
    return g;
}

/* Equal priorities are ordered by the numbers of bodies, never by places in the list. */
TEST(ties_are_broken_by_keys)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        Graph *g = tied_graph(seed), *other = shuffled(g, seed);
        TalusColouring c = colour(g), d = colour(other);
        int differ = 0, tied = 0;
        for (int i = 0; i < g->op.blocks; i++) {
            differ += d.class_of[i] != c.class_of[other->who[i]];
            tied += i > 0 && priority(g, i) == priority(g, i - 1);
        }
        CHECK(tied > g->op.blocks / 2);
        CHECK_INT(differ, 0);
        talus_colouring_clear(&c);
        talus_colouring_clear(&d);
        free(g);
        free(other);
    }
}

/* Several threads give the classes and places that one thread gives. */
TEST(threads_give_the_same_colours)
{
    TalusPool *pool;
    REQUIRE_OK(talus_pool_create(4, &pool));
    for (uint64_t seed = 1; seed <= 40; seed++) {
        Graph *g = random_graph(seed);
        TalusColouring one = colour(g), several = colour(g); /* which allocates what both need */
        size_t blocks = (size_t)g->op.blocks;
        memset(several.class_of, 0, blocks);
        memset(several.place, 0, blocks * sizeof *several.place);
        g->op.pool = pool;
        CHECK_OK(talus_colour_in_parallel(&g->op, &several));
        CHECK(memcmp(one.class_of, several.class_of, blocks) == 0);
        CHECK(memcmp(one.place, several.place, blocks * sizeof *one.place) == 0);
        CHECK(memcmp(one.count, several.count, sizeof one.count) == 0);
        CHECK_INT(several.colours, one.colours);
        talus_colouring_clear(&one);
        talus_colouring_clear(&several);
        free(g);
    }
    talus_pool_destroy(pool);
}

/* The places within a class and run are 0, 1, .., in contact order. */
TEST(places_follow_contact_order)
{
    Graph *g = random_graph(4);
    TalusColouring c = colour(g);
    int next[CLASSES][3] = {{0}}, spheres = g->op.sphere_sphere + g->op.sphere_fixed;
    for (int i = 0; i < g->op.blocks; i++) {
        int class_of = c.class_of[i];
        int run = class_of >= COLOURS || i >= spheres ? 2 : i >= g->op.sphere_sphere;
        CHECK_INT(c.place[i], next[class_of][run]++);
    }
    CHECK(memcmp(next, c.count, sizeof next) == 0);
    talus_colouring_clear(&c);
    free(g);
}

/* A plate with 100,000 contacts on the ground: an index for each would take their square. Those of bodies with few
 * contacts differ. */
TEST(index_within_a_pair_is_bounded)
{
    enum { MANY = 100000 };
    int32_t(*pair)[2] = malloc(MANY * sizeof *pair);
    REQUIRE(pair != NULL);
    for (int i = 0; i < MANY; i++) {
        pair[i][0] = i < 50 ? 0 : 1;
        pair[i][1] = -1;
    }
    const TalusContactKeys keys = {.pair = (const int32_t(*)[2])pair};
    for (int i = 0; i < 50; i++)
        CHECK_INT(talus_pair_index(&keys, i), i);
    for (int i = 50; i < MANY; i++) {
        int index = i - 50 < TALUS_PAIR_INDICES ? i - 50 : TALUS_PAIR_INDICES;
        if (!CHECK_INT(talus_pair_index(&keys, i), index))
            break;
    }
    free(pair);
}

/* A sphere on a plane and on a mesh has contacts with the fixed world in two runs. Whether these follow each other depends
 * on which other bodies are in the list, and so on the ranks: the index must not. */
TEST(index_within_a_pair_counts_one_run)
{
    const int32_t pair[5][2] = {{7, 8}, {7, -1}, {7, -1}, {7, -1}, {7, -1}};
    const int index[5] = {0, 0, 1, 0, 1};
    const TalusContactKeys keys = {.pair = pair, .list_end = {1, 3}};
    for (int i = 0; i < 5; i++)
        CHECK_INT(talus_pair_index(&keys, i), index[i]);
}

TEST(no_contacts)
{
    Graph *g = calloc(1, sizeof *g);
    bind(g);
    TalusColouring c = colour(g);
    CHECK_INT(c.colours, 0);
    talus_colouring_clear(&c);
    free(g);
}

int main(void)
{
    RUN(contacts_of_a_colour_share_no_body);
    RUN(first_fit_by_falling_priority);
    RUN(colours_do_not_depend_on_places_in_lists);
    RUN(ties_are_broken_by_keys);
    RUN(threads_give_the_same_colours);
    RUN(places_follow_contact_order);
    RUN(index_within_a_pair_is_bounded);
    RUN(index_within_a_pair_counts_one_run);
    RUN(no_contacts);
    return talus_test_result();
}

/* Save and load: bitwise the same run, and nothing harmful gets in. */
#include "test_world_scene.h"

#include "base/hash.h"
#include "geometry/kinds.h"

TEST(a_loaded_world_goes_on_bitwise_as_the_saved_one)
{
    TalusWorld *world = make_full(2);
    for (int part = 0; part < 5; part++) {
        void *bytes, *again;
        size_t size, size_again;
        REQUIRE_OK(talus_world_save(world, &bytes, &size));
        TalusWorld *copy;
        REQUIRE_OK(talus_world_load(bytes, size, 1, NULL, &copy));
        CHECK(talus_world_hash(copy) == talus_world_hash(world));
        REQUIRE_OK(talus_world_save(copy, &again, &size_again));
        CHECK(size == size_again && memcmp(bytes, again, size) == 0);
        talus_free(bytes);
        talus_free(again);
        run(copy, 20);
        run(world, 20);
        CHECK(talus_world_hash(copy) == talus_world_hash(world));
        CHECK_INT(talus_world_body_count(copy), talus_world_body_count(world));
        TalusProbeValue p = talus_world_probe_value(copy, 0);
        TalusProbeValue q = talus_world_probe_value(world, 0);
        CHECK(memcmp(&p, &q, sizeof p) == 0);
        talus_world_destroy(copy);
    }
    talus_world_destroy(world);
}

TEST(a_world_saved_after_a_removal_goes_on_the_same)
{
    TalusWorld *world = make_heap(1, 60), *copy;
    run(world, 80);
    CHECK_OK(talus_world_remove_body(world, talus_slot_id(&world->bodies, 5)));
    CHECK_OK(talus_world_remove_body(world, talus_slot_id(&world->bodies, 50)));
    void *bytes;
    size_t size;
    REQUIRE_OK(talus_world_save(world, &bytes, &size));
    REQUIRE_OK(talus_world_load(bytes, size, 1, NULL, &copy));
    talus_free(bytes);
    CHECK_INT(talus_world_get_contacts(copy, NULL, 0), talus_world_get_contacts(world, NULL, 0));
    CHECK_OK(add_one(world, ball, talus_vec3(0.3, 0.3, 2.0), NULL));
    CHECK_OK(add_one(copy, ball, talus_vec3(0.3, 0.3, 2.0), NULL));
    run(world, 40);
    run(copy, 40);
    CHECK(talus_world_hash(copy) == talus_world_hash(world));
    talus_world_destroy(world);
    talus_world_destroy(copy);
}

static void sign(unsigned char *bytes, size_t size)
{
    uint64_t total = size, hash;
    memcpy(bytes + 16, &total, sizeof total);
    hash = talus_hash(TALUS_HASH_SEED, bytes, size - sizeof hash);
    memcpy(bytes + size - sizeof hash, &hash, sizeof hash);
}

TEST(damaged_bytes_are_refused_and_never_harm)
{
    TalusWorld *world = make_full(1), *out;
    run(world, 50);
    unsigned char *bytes;
    void *block;
    size_t size;
    REQUIRE_OK(talus_world_save(world, &block, &size));
    talus_world_destroy(world);
    bytes = malloc(size);
    for (size_t cut = 0; cut < size; cut += cut < 200 ? 1 : size / 50) {
        CHECK_INT(talus_world_load(block, cut, 1, NULL, &out), TALUS_ERR_FORMAT);
        memcpy(bytes, block, cut);
        if (cut < 32)
            continue;
        sign(bytes, cut);
        CHECK_INT(talus_world_load(bytes, cut, 1, NULL, &out), TALUS_ERR_FORMAT);
        CHECK(out == NULL && said("saved state, byte "));
    }
    TalusRng rng = talus_rng_from_seed(1);
    int accepted = 0;
    for (int k = 0; k < 1500; k++) {
        memcpy(bytes, block, size);
        size_t at = talus_rng_below(&rng, k % 2 ? size : 2000);
        bytes[at] ^= (unsigned char)(1u << talus_rng_below(&rng, 8));
        CHECK_INT(talus_world_load(bytes, size, 1, NULL, &out), TALUS_ERR_FORMAT);
        sign(bytes, size);
        TalusStatus status = talus_world_load(bytes, size, 1, NULL, &out);
        CHECK(status == TALUS_OK || status == TALUS_ERR_FORMAT);
        if (status == TALUS_OK && ++accepted % 20 == 0) /* what is accepted can be stepped */
            (void)talus_world_step(out, NULL);
        talus_world_destroy(out);
    }
    CHECK(accepted > 100); /* positions and the like: nothing can tell */
    free(bytes);
    talus_free(block);
}

/* A backend may be chosen; one that is not there is no fault of the bytes. */
TEST(a_backend_is_chosen)
{
    TalusWorld *world = make_heap(1, 4), *out;
    void *bytes;
    size_t size;
    run(world, 10);
    REQUIRE_OK(talus_world_save(world, &bytes, &size));
    CHECK_INT(talus_world_load(bytes, size, 1, "abacus", &out), TALUS_ERR_UNSUPPORTED);
    CHECK(out == NULL && said("abacus"));
    CHECK_STR(talus_error_record()->key, "abacus");
    REQUIRE_OK(talus_world_load(bytes, size, 1, "cpu", &out));
    run(world, 10);
    run(out, 10);
    CHECK(talus_world_hash(world) == talus_world_hash(out));
    talus_free(bytes);
    talus_world_destroy(world);
    talus_world_destroy(out);
}

/* A state of a backend that is not available here is sound; one of no backend at all is not. */
TEST(a_state_of_an_absent_backend_is_told_from_damage)
{
    TalusWorld *world = make_heap(1, 4), *out;
    char *own = world->backend_name, absent[] = "cuda-mixed", unknown[] = "abacus";
    void *bytes;
    size_t size;
    world->backend_name = absent;
    REQUIRE_OK(talus_world_save(world, &bytes, &size));
    if (!talus_backend_find("cuda-mixed")) {
        CHECK_INT(talus_world_load(bytes, size, 1, NULL, &out), TALUS_ERR_UNSUPPORTED);
        CHECK(out == NULL && said("saved on backend cuda-mixed, which is not available here"));
    }
    REQUIRE_OK(talus_world_load(bytes, size, 1, "cpu", &out));
    CHECK(talus_world_hash(world) == talus_world_hash(out));
    talus_world_destroy(out);
    talus_free(bytes);
    world->backend_name = unknown;
    REQUIRE_OK(talus_world_save(world, &bytes, &size));
    CHECK_INT(talus_world_load(bytes, size, 1, NULL, &out), TALUS_ERR_FORMAT);
    CHECK(out == NULL && said("saved state, byte "));
    talus_free(bytes);
    world->backend_name = own;
    talus_world_destroy(world);
}

/* The key of what is wrong in a state is that of the def. */
TEST(what_is_refused_has_its_key)
{
    TalusWorld *world = make_heap(1, 4), *out;
    void *bytes;
    size_t size;
    world->def.step = 0.0;
    REQUIRE_OK(talus_world_save(world, &bytes, &size));
    CHECK_INT(talus_world_load(bytes, size, 1, NULL, &out), TALUS_ERR_FORMAT);
    CHECK(out == NULL && said("saved state, byte "));
    CHECK(said(": world: step is 0; expected seconds, more than 0"));
    CHECK_STR(talus_error_record()->key, "step");
    CHECK_INT(talus_error_record()->code, TALUS_ERR_FORMAT);
    talus_free(bytes);
    talus_world_destroy(world);
}

TEST(an_older_version_is_refused_by_name)
{
    TalusWorld *world = make_heap(1, 4), *out;
    void *bytes;
    size_t size;
    REQUIRE_OK(talus_world_save(world, &bytes, &size));
    ((unsigned char *)bytes)[8] = 3;
    CHECK_INT(talus_world_load(bytes, size, 1, NULL, &out), TALUS_ERR_FORMAT);
    CHECK(out == NULL && said("before version 5"));
    talus_free(bytes);
    talus_world_destroy(world);
}

/* Returns the offset of the number of lengths of the box `half`. */
static size_t find_lengths(const unsigned char *state, size_t size, TalusVec3 half)
{
    size_t at = 0;
    while (at + sizeof half < size && memcmp(state + at, &half, sizeof half) != 0)
        at++;
    return at + sizeof half;
}

/* Removes the upper bytes of the groups of all slots, which versions before 12 do not have; the groups follow the other
 * arrays of bodies, of which positions are the first. last: position of the last slot's body. Returns the new size. */
static size_t narrow_groups(unsigned char *state, size_t size, int slots, TalusVec3 last)
{
    enum { BEFORE = 3 * 24 + 32 + 3 * 8 + 3 * 4 + 8 + 1 }; /* bytes of a slot in the other arrays */
    size_t at = 0, n = (size_t)slots;
    while (at + sizeof last < size && memcmp(state + at, &last, sizeof last) != 0)
        at++;
    unsigned char *group = state + at - (n - 1) * sizeof last + n * BEFORE;
    for (size_t i = 0; i < n; i++) {
        CHECK(group[2 * i + 1] == 0);
        group[i] = group[2 * i];
    }
    memmove(group + n, group + 2 * n, size - (size_t)(group + 2 * n - state));
    return size - n;
}

/* Returns where `bytes` end in a state, from `at` on. */
static size_t find_end(const unsigned char *state, size_t size, size_t at, const void *bytes,
                       size_t count)
{
    while (at + count < size && memcmp(state + at, bytes, count) != 0)
        at++;
    return at + count;
}

/* Removes `count` bytes at `at`. Returns the new size. */
static size_t cut(unsigned char *state, size_t size, size_t at, size_t count)
{
    memmove(state + at, state + at + count, size - at - count);
    return size - count;
}

/* Removes what states of one shape, a box, before version 15 do not have: whether dissipated energies are summed (17), the law
 * of impacts (16), the def of a cell, the flag that there is one, and the shape's gyration (15). Returns the new size. */
static size_t drop_later(unsigned char *state, size_t size, const TalusWorld *world)
{
    enum { PERIOD = 4 + 6 * 8 + 3 * 4, CELL = 4 + 4 * 8 + 3 * (4 + 8) }; /* with sleep_steps */
    const TalusWorldDef *def = &world->def;
    const double before[3] = {def->restitution_threshold, def->cohesion_range, def->sleep_speed};
    size_t at = find_end(state, size, 0, before, sizeof before);
    size = cut(state, size, at, sizeof(uint32_t));
    size = cut(state, size, at + PERIOD, CELL);
    size = cut(state, size, at + PERIOD + sizeof(uint32_t),
               sizeof(uint32_t)); /* projection is before */
    at = find_end(state, size, at + PERIOD, def->backend, strlen(def->backend));
    at = find_end(state, size, at, &world->steps, sizeof world->steps);
    size = cut(state, size, at, sizeof(uint32_t));
    const TalusVec3 half = world->shape[0].def.half;
    at = find_end(state, size, at, &half, sizeof half);
    at += sizeof(uint32_t) + (TALUS_LENGTHS + 1) * sizeof(double); /* with the spacing */
    size = cut(state, size, at, sizeof(TalusSym3));
    /* the flag of dissipated energies is before the positions, the first array of bodies */
    const int slots = world->bodies.counts.slots;
    const TalusVec3 *last = &world->bodies.position[slots - 1];
    at = find_end(state, size, 0, last, sizeof *last) - (size_t)slots * sizeof *last;
    return cut(state, size, at - sizeof(uint32_t), sizeof(uint32_t));
}

/* Copies a state of a box to `out` with `count` lengths, all 0, in place of its own, as a version of the format has
 * them; their number is at `at`. Returns the size of the copy. */
static size_t put_lengths(const unsigned char *state, size_t size, size_t at, uint32_t count,
                          unsigned char version, unsigned char *out)
{
    size_t rest = at + sizeof count + TALUS_LENGTHS * sizeof(double), end = at;
    memcpy(out, state, at);
    out[8] = version;
    if (version > 10) {
        memcpy(out + end, &count, sizeof count);
        end += sizeof count;
    }
    memset(out + end, 0, count * sizeof(double));
    end += count * sizeof(double);
    memcpy(out + end, state + rest, size - rest);
    return end + size - rest;
}

/* Signs a state and checks that its world is `world`. */
static void check_same_world(unsigned char *state, size_t size, const TalusWorld *world)
{
    TalusWorld *copy;
    sign(state, size);
    if (!CHECK_OK(talus_world_load(state, size, 1, NULL, &copy)))
        return;
    CHECK(talus_world_hash(copy) == talus_world_hash(world));
    talus_world_destroy(copy);
}

/* A box uses none of the lengths, so all of them are 0. */
TEST(a_state_may_have_fewer_lengths_of_a_shape_but_not_more)
{
    const TalusShapeDef box = {.kind = TALUS_SHAPE_BOX, .half = {0.11, 0.22, 0.33}};
    TalusWorldDef def = quick_def(1);
    TalusWorld *world = make_world(&def), *out;
    void *state;
    size_t size;
    REQUIRE_OK(add_one(world, box, talus_vec3(0.0, 0.0, 5.0), NULL));
    run(world, 3);
    REQUIRE_OK(talus_world_save(world, &state, &size));
    unsigned char *other = malloc(size + sizeof(double));
    size = drop_later(state, size, world);
    size_t at = find_lengths(state, size, box.half);
    REQUIRE(at < size && ((unsigned char *)state)[at] == TALUS_LENGTHS);
    for (uint32_t count = 0; count <= TALUS_LENGTHS; count++)
        check_same_world(other, put_lengths(state, size, at, count, 12, other), world);
    const int slots = world->bodies.counts.slots;
    for (unsigned char version = 10; version < 12; version++) {
        size_t older = put_lengths(state, size, at, 2, version, other);
        older = narrow_groups(other, older, slots, world->bodies.position[slots - 1]);
        check_same_world(other, older, world);
    }
    size_t longer = put_lengths(state, size, at, TALUS_LENGTHS + 1, 12, other);
    sign(other, longer);
    CHECK_INT(talus_world_load(other, longer, 1, NULL, &out), TALUS_ERR_FORMAT);
    CHECK(out == NULL && said("saved by a later version of the library"));
    free(other);
    talus_free(state);
    talus_world_destroy(world);
}

TEST(saving_and_loading_survive_failed_allocations)
{
    TalusWorld *world = make_full(1), *copy;
    run(world, 20);
    void *bytes, *lost;
    size_t size;
    REQUIRE_OK(talus_world_save(world, &bytes, &size));
    TalusStatus status = TALUS_ERR_MEMORY;
    for (long n = 1; status != TALUS_OK; n++) {
        talus_fail_allocation_in(n);
        status = talus_world_save(world, &lost, &size);
        talus_fail_allocation_in(0);
        CHECK(status == TALUS_OK || (status == TALUS_ERR_MEMORY && lost == NULL));
        talus_free(lost);
        REQUIRE(n < 100);
    }
    REQUIRE_OK(talus_world_save(world, &lost, &size));
    talus_free(lost);
    status = TALUS_ERR_MEMORY;
    for (long n = 1; status != TALUS_OK; n++) {
        talus_fail_allocation_in(n);
        status = talus_world_load(bytes, size, 1, NULL, &copy);
        talus_fail_allocation_in(0);
        CHECK(status == TALUS_OK || (status == TALUS_ERR_MEMORY && copy == NULL));
        REQUIRE(n < 500);
    }
    CHECK(talus_world_hash(copy) == talus_world_hash(world));
    talus_world_destroy(copy);
    talus_world_destroy(world);
    talus_free(bytes);
}

int main(void)
{
    RUN(a_loaded_world_goes_on_bitwise_as_the_saved_one);
    RUN(a_world_saved_after_a_removal_goes_on_the_same);
    RUN(damaged_bytes_are_refused_and_never_harm);
    RUN(a_backend_is_chosen);
    RUN(a_state_of_an_absent_backend_is_told_from_damage);
    RUN(what_is_refused_has_its_key);
    RUN(an_older_version_is_refused_by_name);
    RUN(a_state_may_have_fewer_lengths_of_a_shape_but_not_more);
    RUN(saving_and_loading_survive_failed_allocations);
    return talus_test_result();
}

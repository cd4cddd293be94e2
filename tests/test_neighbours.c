/* collide/neighbours.h: detection with a kept list of neighbours finds what a search of the grid finds, to the bit,
 * whatever happens to the bodies in between. */
#include "collide_scene.h"

#include "base/memory.h"
#include "collide/detector.h"

#include <stdlib.h>

enum { BODIES = 300, ROUNDS = 60, MAX_SLOTS = MAX_BODIES };

/* A scene in motion, and the detector that is kept. */
typedef struct Motion {
    Scene scene;
    TalusRng rng;
    TalusDetector *kept;
    TalusFilter filter;
    uint16_t group[MAX_SLOTS];
    uint32_t meets[32];
    uint64_t id[MAX_SLOTS], next_id;
    uint32_t rank[MAX_SLOTS], at_rank[MAX_SLOTS];
    int missing; /* missing contacts found */
    int served;  /* detections by a list that an earlier detection had made */
} Motion;

static const uint64_t *ids_to_sort;

static int by_id(const void *x, const void *y)
{
    uint64_t p = ids_to_sort[*(const uint32_t *)x], q = ids_to_sort[*(const uint32_t *)y];
    return p < q ? -1 : p > q;
}

/* Ranks the slots by the ids of their bodies. */
static void rank_bodies(Motion *m)
{
    uint32_t slots = (uint32_t)m->scene.view.count;
    for (uint32_t i = 0; i < slots; i++)
        m->at_rank[i] = i;
    ids_to_sort = m->id;
    qsort(m->at_rank, slots, sizeof *m->at_rank, by_id);
    for (uint32_t k = 0; k < slots; k++)
        m->rank[m->at_rank[k]] = k;
    m->scene.view.rank = m->rank;
    m->scene.view.at_rank = m->at_rank;
    m->scene.view.id = m->id;
}

static int random_slot(Motion *m)
{
    return (int)talus_rng_below(&m->rng, (uint64_t)m->scene.view.count);
}

/* All bodies move, and their velocities change. */
static void move_bodies(Motion *m, double change)
{
    Scene *s = &m->scene;
    for (int i = 0; i < s->view.count; i++) {
        if (s->fixed[i] == TALUS_MOBILITY_FIXED || s->fixed[i] == TALUS_MOBILITY_ASLEEP)
            continue;
        s->position[i] = talus_madd(s->position[i], s->options.h, s->velocity[i]);
        s->velocity[i] = talus_add(s->velocity[i], random_vector(&m->rng, change));
    }
}

/* A body falls asleep or wakes up; another takes up driven motion, or is free again. */
static void change_mobility(Motion *m)
{
    const uint8_t other[2] = {TALUS_MOBILITY_ASLEEP, TALUS_MOBILITY_DRIVEN};
    for (int k = 0; k < 2; k++) {
        uint8_t *mobility = &m->scene.fixed[random_slot(m)];
        if (*mobility == TALUS_MOBILITY_FREE)
            *mobility = other[k];
        else if (*mobility == other[k])
            *mobility = TALUS_MOBILITY_FREE;
    }
}

/* A free body dies; its slot stays empty, or a new one takes it, in the same place or nearby. */
static void replace_body(Motion *m)
{
    Scene *s = &m->scene;
    int i = random_slot(m);
    if (s->shape_of[i] < 0 || s->fixed[i] != TALUS_MOBILITY_FREE)
        return;
    int what = (int)talus_rng_below(&m->rng, 4);
    talus_detector_drop_impulses(m->kept, (uint32_t)i);
    if (what == 0)
        s->shape_of[i] = -1;
    else if (what == 1)
        s->position[i] = talus_add(s->position[i], random_vector(&m->rng, 0.3));
    m->id[i] = m->next_id++;
    if (s->view.rank)
        rank_bodies(m);
}

/* A dead slot gets a plane below the bed, or one beside it that was there goes. */
static void change_walls(Motion *m)
{
    Scene *s = &m->scene;
    int i = 0;
    while (i < s->view.count && s->shape_of[i] >= 0 &&
           (s->shape_of[i] != PLANE || m->id[i] < 10000))
        i++;
    if (i == s->view.count)
        return;
    bool plane = s->shape_of[i] < 0;
    talus_detector_drop_impulses(m->kept, (uint32_t)i);
    s->shape_of[i] = plane ? PLANE : -1;
    s->fixed[i] = TALUS_MOBILITY_FIXED;
    s->radius[i] = s->size[i] = 0.0;
    s->position[i] = talus_vec3(0.0, 0.0, -1.5);
    s->velocity[i] = s->spin[i] = talus_vec3(0.0, 0.0, 0.0);
    m->id[i] = m->next_id++;
    if (s->view.rank)
        rank_bodies(m);
}

/* Two groups no longer meet, or do so again. */
static void change_filter(Motion *m)
{
    m->scene.view.filter = &m->filter;
    m->meets[1] ^= 4u;
    m->meets[2] ^= 2u;
}

static Motion *open_motion(uint64_t seed, double drift)
{
    Motion *m = NULL;
    CHECK_OK(TALUS_ALLOC(m, 1, "motion"));
    scene_open(&m->scene);
    add_mixture(&m->scene, BODIES);
    m->scene.options.h = 2e-4; /* the smallest body moves by a few per cent of its size in a step */
    m->rng = talus_rng_from_seed(seed);
    for (int i = 0; i < m->scene.view.count; i++) {
        m->group[i] = (uint16_t)(i % 3);
        m->id[i] = (uint64_t)i + 1;
        m->scene.velocity[i].z -= drift;
    }
    m->next_id = 10000; /* ids of bodies and walls that come later */
    for (int k = 0; k < 32; k++)
        m->meets[k] = UINT32_MAX;
    m->filter = (TalusFilter){.group = m->group, .meets = m->meets};
    CHECK_OK(talus_detector_create(&m->kept));
    return m;
}

static void close_motion(Motion *m)
{
    talus_detector_destroy(m->kept);
    scene_close(&m->scene);
    talus_release(m);
}

/* Some velocities change after the solve: both detectors must find the same missing contacts. */
static void check_missing(Motion *m, TalusPool *pool, TalusDetector *fresh)
{
    Scene *s = &m->scene;
    static uint8_t around[MAX_SLOTS];
    static TalusVec3 solved[MAX_SLOTS];
    int missing[2];
    memcpy(solved, s->velocity, sizeof solved);
    for (int i = 0; i < s->view.count; i++) {
        around[i] = talus_rng_below(&m->rng, 4) == 0 && s->fixed[i] == TALUS_MOBILITY_FREE;
        if (around[i])
            solved[i] = talus_add(solved[i], random_vector(&m->rng, 400.0));
    }
    TalusBodyView view = s->view;
    view.velocity = solved;
    TalusRedetectSubset subset = {around, 1e-3};
    CHECK_OK(talus_detector_find_missing(m->kept, pool, &view, &s->options, &subset, &missing[0]));
    CHECK_OK(talus_detector_find_missing(fresh, pool, &view, &s->options, &subset, &missing[1]));
    CHECK_INT(missing[0], missing[1]);
    m->missing += missing[0];
    talus_detector_add_missing(m->kept);
    talus_detector_add_missing(fresh);
    CHECK(same_contacts(talus_detector_contacts(m->kept), talus_detector_contacts(fresh)));
}

/* Detects with the kept detector, and by a search of the grid; compares the lists. */
static void check_round(Motion *m, TalusPool *pool)
{
    const Scene *s = &m->scene;
    TalusContactList *list, *searched;
    TalusDetector *fresh;
    CHECK_OK(talus_detector_create(&fresh));
    fresh->broad.neighbours.pause = 2; /* makes no list in its one detection */
    CHECK_OK(talus_detector_restore(fresh, talus_detector_contacts(m->kept)));
    CHECK_OK(talus_detect(fresh, pool, &s->view, &s->options, &searched));
    CHECK_INT(fresh->broad.neighbours.slots, 0);
    CHECK_OK(talus_detect(m->kept, pool, &s->view, &s->options, &list));
    CHECK(same_contacts(list, searched));
    CHECK(list->sphere_sphere > 0 && list->sphere_fixed > 0 && list->general > 0);
    m->served += m->kept->broad.neighbours.slots > 0 && m->kept->broad.neighbours.uses > 1;
    mark_all(list);
    mark_all(searched);
    check_missing(m, pool, fresh);
    talus_detector_destroy(fresh);
}

TEST(a_kept_list_finds_what_a_search_finds)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        Motion *m = open_motion(seed, 0.0);
        for (int round = 0; round < ROUNDS; round++) {
            check_round(m, NULL);
            move_bodies(m, 0.2);
        }
        CHECK(m->served > ROUNDS / 2 && m->missing > 0);
        close_motion(m);
    }
}

TEST(a_kept_list_notices_bodies_that_change)
{
    TalusPool *pool;
    CHECK_OK(talus_pool_create(3, &pool));
    for (uint64_t seed = 1; seed <= 3; seed++) {
        Motion *m = open_motion(seed, 0.0);
        if (seed > 1)
            rank_bodies(m);
        for (int round = 0; round < ROUNDS; round++) {
            m->scene.view.last_id = m->next_id - 1;
            if (round % 5 == 1)
                change_mobility(m);
            if (round % 7 == 2)
                replace_body(m);
            if (round % 6 == 3)
                change_filter(m);
            if (round % 8 == 4)
                change_walls(m);
            check_round(m, pool);
            move_bodies(m, 0.2);
        }
        CHECK(m->served > ROUNDS / 4);
        close_motion(m);
    }
    talus_pool_destroy(pool);
}

/* Longer steps and faster bodies: fat radii grow beyond the skin without any motion. */
TEST(a_kept_list_notices_wider_envelopes)
{
    Motion *m = open_motion(5, 0.0);
    for (int round = 0; round < 30; round++) {
        m->scene.options.h *= round % 4 == 0 ? 1.5 : 1.0;
        m->scene.options.h *= round % 4 == 2 ? 0.5 : 1.0;
        check_round(m, NULL);
        m->scene.velocity[random_slot(m)] = random_vector(&m->rng, 60.0);
    }
    CHECK(m->served > 0);
    close_motion(m);
}

/* A bed that falls at 1500 m/s moves by 0.3 m in each step: the list falls with it while all its bodies are free. */
TEST(a_list_falls_with_its_bed)
{
    for (int fixed = 0; fixed <= 1; fixed++) {
        Motion *m = open_motion(6, 1500.0);
        for (int i = 0; i < m->scene.view.count; i++)
            if (m->scene.fixed[i] == TALUS_MOBILITY_FIXED && m->scene.shape_of[i] == SPHERE &&
                (!fixed || i > 20))
                m->scene.shape_of[i] = -1;
        add(&m->scene, PLANE, 0.0, talus_vec3(0, 0, -2.0), talus_vec3(0, 0, 0));
        m->id[m->scene.view.count - 1] = m->next_id++;
        int served = 0;
        for (int round = 0; round < 20; round++) {
            TalusContactList *list;
            CHECK_OK(talus_detect(m->kept, NULL, &m->scene.view, &m->scene.options, &list));
            served += m->kept->broad.neighbours.slots > 0 && m->kept->broad.neighbours.uses > 1;
            move_bodies(m, 0.02);
        }
        CHECK(fixed ? served == 0 : served > 10);
        close_motion(m);
    }
}

/* Three spheres touch. Bodies that come later take slots, until ids ascend with slots again: there are ranks in between,
 * and the list was made with these. */
TEST(a_kept_list_notices_ids_that_ascend_again)
{
    const uint64_t ids[3][3] = {{1, 2, 3}, {4, 2, 3}, {4, 5, 6}};
    Motion *m = NULL;
    CHECK_OK(TALUS_ALLOC(m, 1, "motion"));
    scene_open(&m->scene);
    for (int k = 0; k < 3; k++)
        add(&m->scene, SPHERE, 1.0, talus_vec3(k, k == 1 ? 1.7 : 0.0, 0.0), talus_vec3(0, 0, 0));
    CHECK_OK(talus_detector_create(&m->kept));
    for (int stage = 0; stage < 3; stage++) {
        memcpy(m->id, ids[stage], sizeof ids[stage]);
        if (stage == 1)
            rank_bodies(m);
        else
            m->scene.view.rank = m->scene.view.at_rank = NULL;
        m->scene.view.last_id = stage == 2 ? 4 : 3;
        for (int k = 0; k < 6; k++) {
            TalusContactList *list;
            CHECK_OK(talus_detect(m->kept, NULL, &m->scene.view, &m->scene.options, &list));
            REQUIRE(list->count == 3);
            for (int i = 0; i < 3; i++) {
                TalusKey key = talus_contact_key(m->scene.view.rank, &list->contact[i]);
                CHECK(key.a == (i == 2) && key.b == (i == 0 ? 1u : 2u));
            }
        }
        CHECK(m->kept->broad.neighbours.slots == 3);
    }
    close_motion(m);
}

/* Wherever memory is lacking, the old list stays or the new one is whole. */
TEST(a_list_survives_lack_of_memory)
{
    int failures = 0;
    for (int n = 1; n < 40; n++) {
        Motion *m = open_motion(8, 0.0);
        TalusContactList *list;
        for (int k = 0; k < 3; k++)
            CHECK_OK(talus_detect(m->kept, NULL, &m->scene.view, &m->scene.options, &list));
        for (int k = 0; k < 12; k++)
            move_bodies(m, 30.0); /* more contacts, a new list and longer arrays */
        m->scene.options.h *= 4.0;
        talus_fail_allocation_in(n);
        TalusStatus status = talus_detect(m->kept, NULL, &m->scene.view, &m->scene.options, &list);
        talus_fail_allocation_in(0);
        CHECK(status == TALUS_OK || status == TALUS_ERR_MEMORY);
        failures += status != TALUS_OK;
        m->scene.view.last_id = UINT64_MAX;
        check_round(m, NULL);
        close_motion(m);
    }
    CHECK(failures > 0 && failures < 39);
}

/* Bodies of a group that does not meet itself, all in one place, have no contacts, and no list of all their pairs. */
TEST(bodies_that_do_not_meet_have_no_long_list)
{
    Motion *m = open_motion(9, 0.0);
    TalusContactList *list;
    for (int i = 0; i < m->scene.view.count; i++) {
        m->group[i] = 1;
        m->scene.position[i] = random_vector(&m->rng, 0.05);
    }
    m->meets[1] = 0;
    m->scene.view.filter = &m->filter;
    for (int k = 0; k < 4; k++) {
        CHECK_OK(talus_detect(m->kept, NULL, &m->scene.view, &m->scene.options, &list));
        CHECK_INT(list->count, 0);
        CHECK_INT(m->kept->broad.neighbours.slots, 0);
    }
    CHECK(TALUS_CAPACITY(m->kept->broad.run[TALUS_RUN_SPHERES].pair) < 10000);
    close_motion(m);
}

/* No body, a plane alone, and one body upon it. */
TEST(small_scenes_have_lists_too)
{
    static Scene s;
    TalusContactList *list;
    TalusDetector *d;
    scene_open(&s);
    CHECK_OK(talus_detector_create(&d));
    CHECK_OK(talus_detect(d, NULL, &s.view, &s.options, &list));
    CHECK_INT(list->count, 0);
    add(&s, PLANE, 0.0, talus_vec3(0, 0, 0), talus_vec3(0, 0, 0));
    CHECK_OK(talus_detect(d, NULL, &s.view, &s.options, &list));
    int ball = add(&s, SPHERE, 1.0, talus_vec3(0, 0, 1.0), talus_vec3(0, 0, 0));
    for (int k = 0; k < 3; k++) {
        CHECK_OK(talus_detect(d, NULL, &s.view, &s.options, &list));
        CHECK_INT(list->sphere_fixed, 1);
    }
    s.position[ball].z = NAN; /* a faulty body is refused with a list, too */
    CHECK(talus_detect(d, NULL, &s.view, &s.options, &list) == TALUS_ERR_NUMERIC);
    s.position[ball].z = 1.0;
    CHECK_OK(talus_detect(d, NULL, &s.view, &s.options, &list));
    CHECK_INT(list->sphere_fixed, 1);
    talus_detector_destroy(d);
    scene_close(&s);
}

int main(void)
{
    RUN(a_kept_list_finds_what_a_search_finds);
    RUN(a_kept_list_notices_bodies_that_change);
    RUN(a_kept_list_notices_wider_envelopes);
    RUN(a_list_falls_with_its_bed);
    RUN(a_kept_list_notices_ids_that_ascend_again);
    RUN(a_list_survives_lack_of_memory);
    RUN(bodies_that_do_not_meet_have_no_long_list);
    RUN(small_scenes_have_lists_too);
    return talus_test_result();
}

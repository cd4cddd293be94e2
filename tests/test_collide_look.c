/* What another look would find: overlaps to come, of given bodies, that the contact list does not know. */
#include "collide_scene.h"

static Scene s;
static TalusDetector *detector;
static uint8_t around[MAX_BODIES];

static void open_scene(void)
{
    scene_open(&s);
    memset(around, 0, sizeof around);
    CHECK_OK(talus_detector_create(&detector));
}

static void close_scene(void)
{
    talus_detector_destroy(detector);
    scene_close(&s);
}

static int contacts(void)
{
    TalusContactList *list;
    CHECK_OK(talus_detect(detector, NULL, &s.view, &s.options, &list));
    return list->count;
}

static bool misses(double tolerance)
{
    TalusRedetectSubset look = {around, tolerance};
    int found = -1;
    CHECK_OK(talus_detector_find_missing(detector, NULL, &s.view, &s.options, &look, &found));
    return found > 0;
}

/* Two boxes 0.3 apart, of which the first is pushed after detection. */
TEST(a_body_that_is_pushed_is_seen)
{
    open_scene();
    int a = add(&s, BOX, 0.0, talus_vec3(0, 0, 0), talus_vec3(0, 0, 0));
    int b = add(&s, BOX, 0.0, talus_vec3(1.3, 0.2, 0.1), talus_vec3(0, 0, 0));
    CHECK(contacts() == 0);
    around[a] = 1;
    CHECK(!misses(0.0));
    s.velocity[a] = talus_vec3(310.0, 0, 0); /* 0.31 in a step */
    CHECK(misses(0.0));
    CHECK(misses(9.0));
    CHECK(!misses(11.0)); /* 0.01 too far is 10 times the step */
    around[a] = 0;
    CHECK(!misses(0.0)); /* nobody asks */
    around[b] = 1;
    CHECK(misses(0.0));
    s.velocity[a] = talus_vec3(290.0, 0, 0); /* comes near */
    CHECK(!misses(0.0));
    close_scene();
}

TEST(turning_closes_gaps)
{
    open_scene();
    int a = add(&s, BOX, 0.0, talus_vec3(0, 0, 0), talus_vec3(0, 0, 0));
    add(&s, BOX, 0.0, talus_vec3(1.1, 0.0, 0.0), talus_vec3(0, 0, 0));
    CHECK(contacts() == 0);
    around[a] = 1;
    s.spin[a] = talus_vec3(0, 0, 150.0); /* corners at 75 along the normal: 0.075 in a step */
    CHECK(!misses(0.0));
    s.spin[a] = talus_vec3(0, 0, 250.0);
    CHECK(misses(0.0));
    close_scene();
}

/* A view without spins is one of bodies that do not rotate. */
TEST(spins_may_be_absent)
{
    open_scene();
    int a = add(&s, BOX, 0.0, talus_vec3(0, 0, 0), talus_vec3(0, 0, 0));
    add(&s, BOX, 0.0, talus_vec3(1.3, 0.2, 0.1), talus_vec3(0, 0, 0));
    s.view.spin = NULL;
    CHECK(contacts() == 0);
    around[a] = 1;
    s.velocity[a] = talus_vec3(310.0, 0, 0);
    CHECK(misses(0.0));
    s.velocity[a] = talus_vec3(290.0, 0, 0);
    CHECK(!misses(0.0));
    close_scene();
}

TEST(contacts_of_the_list_are_not_missing)
{
    open_scene();
    int a = add(&s, BOX, 0.0, talus_vec3(0, 0, 0), talus_vec3(100.0, 0, 0));
    add(&s, BOX, 0.0, talus_vec3(1.05, 0.0, 0.0), talus_vec3(0, 0, 0));
    CHECK(contacts() == 4);
    around[a] = 1;
    s.velocity[a] = talus_vec3(400.0, 0, 0);
    CHECK(!misses(0.0));
    close_scene();
}

/* Bodies of other sizes, which the grid keeps apart, walls, and spheres. */
TEST(all_kinds_of_partners_are_seen)
{
    open_scene();
    int ball = add(&s, SPHERE, 0.02, talus_vec3(0.8, 0, 0), talus_vec3(0, 0, 0));
    int box = add(&s, BOX, 0.0, talus_vec3(0, 0, 0), talus_vec3(0, 0, 0));
    add(&s, SPHERE, 0.02, talus_vec3(0.9, 0, 0), talus_vec3(0, 0, 0));
    add(&s, PLANE, 0.0, talus_vec3(0, 0, -0.7), talus_vec3(0, 0, 0));
    for (int k = 0; k < 200; k++) /* make a level of small ones */
        add(&s, SPHERE, 0.02, talus_vec3(5.0 + 0.1 * k, 3.0, 0.0), talus_vec3(0, 0, 0));
    CHECK(contacts() == 0);
    around[box] = 1;
    s.velocity[box] = talus_vec3(300.0, 0, 0);
    CHECK(misses(0.0)); /* the ball, which is small */
    s.velocity[box] = talus_vec3(0, 0, -150.0);
    CHECK(!misses(0.0));
    s.velocity[box] = talus_vec3(0, 0, -250.0);
    CHECK(misses(0.0)); /* the floor */
    s.velocity[box] = talus_vec3(0, 0, 0);
    around[box] = 0;
    around[ball] = 1;
    s.velocity[ball] = talus_vec3(-300.0, 0, 0);
    CHECK(misses(0.0)); /* the box, which is large */
    s.velocity[ball] = talus_vec3(70.0, 0, 0);
    CHECK(misses(0.0)); /* the other ball */
    s.velocity[ball] = talus_vec3(50.0, 0, 0);
    CHECK(!misses(0.0));
    close_scene();
}

/* Touches of all three runs come into the list where they belong. */
TEST(missing_touches_join_the_list)
{
    open_scene();
    int ball = add(&s, SPHERE, 0.5, talus_vec3(0, 0, 0.8), talus_vec3(0, 0, 0));
    add(&s, SPHERE, 0.5, talus_vec3(1.3, 0, 0.8), talus_vec3(0, 0, 0));
    int box = add(&s, BOX, 0.0, talus_vec3(0, 1.3, 0.7), talus_vec3(0, 0, 0));
    add(&s, BOX, 0.0, talus_vec3(-3.0, 0, 0.5), talus_vec3(0, 0, 0)); /* on the floor */
    add(&s, SPHERE, 0.5, talus_vec3(-6.0, 0, 0.5), talus_vec3(0, 0, 0));
    add(&s, PLANE, 0.0, talus_vec3(0, 0, 0), talus_vec3(0, 0, 0));
    CHECK(contacts() == 5);
    TalusContactList *list = talus_detector_contacts(detector);
    mark_all(list);
    around[ball] = around[box] = 1;
    s.velocity[ball] = talus_vec3(400.0, 0, -400.0);
    s.velocity[box] = talus_vec3(0, -400.0, -400.0);
    CHECK(misses(0.0));
    CHECK(list->count == 5);
    talus_detector_add_missing(detector);
    CHECK(list->sphere_sphere == 1 && list->sphere_fixed == 2);
    CHECK(list->general == 4 + 4 + 1); /* the box that lies, the one that falls, ball and box */
    CHECK(list->count == 12);
    for (int i = 0; i < list->count; i++) {
        const TalusContact *c = &list->contact[i], *before = i > 0 ? c - 1 : NULL;
        TalusVec3 m = mark(c), zero = {0, 0, 0};
        bool old = c->a > 2;
        CHECK(!memcmp(&list->impulse[i], old ? &m : &zero, sizeof m));
        if (i < list->sphere_sphere + list->sphere_fixed)
            continue;
        CHECK((int)c->general == i - list->sphere_sphere - list->sphere_fixed);
        const TalusArms *arms = &list->arms[c->general];
        TalusVec3 on_a = talus_add(s.position[c->a], arms->a);
        TalusVec3 on_b = talus_add(s.position[c->b], arms->b);
        CHECK_NEAR(talus_dot(c->normal, talus_sub(on_b, on_a)), c->gap, 1e-12);
        if (c->general > 0)
            CHECK(before->a < c->a || (before->a == c->a && before->b < c->b) ||
                  (before->a == c->a && before->b == c->b && before->feature < c->feature));
    }
    CHECK(!misses(0.0));
    close_scene();
}

int main(void)
{
    RUN(a_body_that_is_pushed_is_seen);
    RUN(turning_closes_gaps);
    RUN(spins_may_be_absent);
    RUN(contacts_of_the_list_are_not_missing);
    RUN(all_kinds_of_partners_are_seen);
    RUN(missing_touches_join_the_list);
    return talus_test_result();
}

/* Contact lists: complete, in order, independent of threads and scale; impulses carried over. */
#include "collide_scene.h"

#include "base/memory.h"
#include "collide/narrow.h"

#include <stdlib.h>

/* ---- against all pairs ----------------------------------------------------------------------- */

typedef struct Expected {
    uint32_t a, b;
    double gap;
    bool seen;
} Expected;

static double sliding_bound(const Scene *s, int a, int b)
{
    TalusVec3 v = s->velocity[a];
    double surface = talus_norm(s->spin[a]) * s->radius[a];
    if (b >= 0 && !s->fixed[b]) {
        v = talus_sub(v, s->velocity[b]);
        surface += talus_norm(s->spin[b]) * s->radius[b];
    }
    return talus_norm(v) + surface;
}

static bool expect_pair(const Scene *s, int i, int j, Expected *out)
{
    if (s->shape_of[i] < 0 || s->shape_of[j] < 0 || (s->fixed[i] && s->fixed[j]))
        return false;
    int a = s->fixed[i] ? j : i, b = s->fixed[i] ? i : j;
    TalusVec3 d = talus_sub(s->position[b], s->position[a]), zero = {0, 0, 0};
    TalusVec3 vb = s->fixed[b] ? zero : s->velocity[b];
    double distance = talus_norm(d);
    double along_a = talus_dot(s->velocity[a], d) / distance, along_b = talus_dot(vb, d) / distance;
    double closing = fmax(fmax(along_a - along_b, 0.0), fmax(along_a, -along_b));
    double gap = distance - (s->radius[a] + s->radius[b]);
    double limit = s->options.envelope * fmin(s->size[a], s->size[b]) +
                   s->options.h * (closing + s->options.friction * sliding_bound(s, a, b) +
                                   2.0 * s->options.reference_speed);
    Expected e = {(uint32_t)a, (uint32_t)b, gap, false};
    *out = e;
    return gap < limit;
}

static int by_key(const void *x, const void *y)
{
    const Expected *p = x, *q = y;
    return p->a != q->a ? (p->a < q->a ? -1 : 1) : p->b < q->b ? -1 : p->b > q->b;
}

static int all_pairs(const Scene *s, bool fixed, Expected *out)
{
    int count = 0;
    for (int i = 0; i < s->view.count; i++) {
        for (int j = i + 1; j < s->view.count; j++) {
            if ((s->fixed[i] || s->fixed[j]) == fixed)
                count += expect_pair(s, i, j, &out[count]);
        }
    }
    qsort(out, (size_t)count, sizeof *out, by_key);
    return count;
}

static void check_run(const Expected *expected, int count, const TalusContact *contact, int found,
                      const Scene *s)
{
    CHECK_INT(found, count);
    int wrong = 0;
    for (int i = 0; i < found && i < count; i++) {
        const TalusContact *c = &contact[i];
        TalusVec3 d = talus_sub(s->position[c->b], s->position[c->a]);
        double along = talus_dot(d, c->normal) - s->radius[c->a] - s->radius[c->b];
        wrong += c->a != expected[i].a || c->b != expected[i].b ||
                 fabs(c->gap - expected[i].gap) > 1e-12 || fabs(along - c->gap) > 1e-12;
    }
    CHECK_INT(wrong, 0);
}

static void check_against_all_pairs(int count, double ratio, uint64_t seed)
{
    static Scene s;
    static Expected expected[200000];
    TalusDetector *detector;
    TalusContactList *list;
    scene_open(&s);
    add_spheres(&s, count, ratio, seed);
    REQUIRE_OK(talus_detector_create(&detector));
    REQUIRE_OK(talus_detect(detector, NULL, &s.view, &s.options, &list));
    CHECK(list->sphere_sphere > 0);
    CHECK_INT(list->count, list->sphere_sphere + list->sphere_fixed);
    check_run(expected, all_pairs(&s, false, expected), list->contact, list->sphere_sphere, &s);
    check_run(expected, all_pairs(&s, true, expected), list->contact + list->sphere_sphere,
              list->sphere_fixed, &s);
    talus_detector_destroy(detector);
    scene_close(&s);
}

TEST(equals_all_pairs)
{
    check_against_all_pairs(3000, 1.0, 1);
    check_against_all_pairs(3000, 15.0, 2);
    check_against_all_pairs(4000, 100.0, 3);
    check_against_all_pairs(4000, 1000.0, 4);
    check_against_all_pairs(40, 3.0, 5);
}

/* Contacts of a pair by the narrow phase alone. */
typedef struct Count {
    const Scene *s;
    uint32_t a;
    int count;
} Count;

static void count_touch(void *context, const TalusManifoldPoint *touch)
{
    Count *c = context;
    double closing = fmax(talus_dot(c->s->velocity[c->a], touch->normal), 0.0);
    double size = c->s->size[c->a]; /* all fixed bodies are larger or have none */
    c->count += touch->gap <
                c->s->options.envelope * size +
                    c->s->options.h * (2.0 * c->s->options.reference_speed + closing +
                                       c->s->options.friction * sliding_bound(c->s, (int)c->a, -1));
}

static int count_by_narrow_phase(const Scene *s)
{
    Count count = {s, 0, 0};
    for (int i = 0; i < s->view.count; i++) {
        for (int j = 0; j < s->view.count; j++) {
            if (s->shape_of[i] != SPHERE || s->fixed[i] || s->shape_of[j] < 0 || !s->fixed[j])
                continue;
            TalusPose a = {&s->shape[SPHERE], s->radius[i], s->position[i], s->orientation[i]};
            TalusPose b = {&s->shape[s->shape_of[j]], s->radius[j], s->position[j],
                           s->orientation[j]};
            count.a = (uint32_t)i;
            CHECK(talus_narrow(&a, &b, 10.0, count_touch, &count));
        }
    }
    return count.count;
}

/* Few large fixed bodies are walls, many go into the grid: both must miss nothing. */
static void check_walls(int slabs)
{
    static Scene s;
    TalusDetector *detector;
    TalusContactList *list;
    TalusRng rng = talus_rng_from_seed(33);
    TalusVec3 none = {0, 0, 0};
    scene_open(&s);
    for (int k = 0; k < 2000; k++)
        add(&s, SPHERE, 0.1 + 0.1 * talus_rng_uniform(&rng), random_vector(&rng, 12.0),
            random_vector(&rng, 30.0));
    for (int k = 0; k < slabs; k++) {
        int i = add(&s, SLAB, 0.0, random_vector(&rng, 12.0), none);
        TalusQuat q = {1.0, talus_rng_uniform(&rng), talus_rng_uniform(&rng), -0.3};
        s.orientation[i] = talus_quat_normalize(q);
    }
    add(&s, PLANE, 0.0, talus_vec3(0, 0, -5.5), none);
    int vessel = add(&s, VESSEL, 0.0, talus_vec3(0.3, 0.2, 0.1), none);
    s.orientation[vessel] = talus_quat_normalize((TalusQuat){1.0, 0.2, 0.1, 0.0});
    REQUIRE_OK(talus_detector_create(&detector));
    REQUIRE_OK(talus_detect(detector, NULL, &s.view, &s.options, &list));
    CHECK(list->sphere_fixed > 200);
    CHECK_INT(list->sphere_fixed, count_by_narrow_phase(&s));
    talus_detector_destroy(detector);
    scene_close(&s);
}

TEST(walls_miss_nothing)
{
    check_walls(6);
    check_walls(100);
}

/* ---- same list however it is made ------------------------------------------------------------ */

TEST(equal_for_any_threads)
{
    static Scene s;
    TalusDetector *serial, *parallel;
    TalusContactList *expected, *list;
    scene_open(&s);
    add_mixture(&s, 3000);
    REQUIRE_OK(talus_detector_create(&serial));
    REQUIRE_OK(talus_detect(serial, NULL, &s.view, &s.options, &expected));
    CHECK(expected->sphere_sphere > 100 && expected->sphere_fixed > 100 && expected->general > 100);
    for (int threads = 1; threads <= 8; threads *= 2) {
        TalusPool *pool;
        REQUIRE_OK(talus_pool_create(threads, &pool));
        REQUIRE_OK(talus_detector_create(&parallel));
        for (int call = 0; call < 2; call++) {
            REQUIRE_OK(talus_detect(parallel, pool, &s.view, &s.options, &list));
            CHECK(same_contacts(list, expected));
        }
        talus_detector_destroy(parallel);
        talus_pool_destroy(pool);
    }
    talus_detector_destroy(serial);
    scene_close(&s);
}

static void scale_scene(Scene *s, double factor)
{
    TalusVec3 half = talus_scale(factor, talus_vec3(0.5, 0.5, 0.5));
    TalusShapeDef def = {.kind = TALUS_SHAPE_BOX, .half = half};
    talus_shape_clear(&s->shape[BOX]);
    CHECK_OK(talus_shape_init(&s->shape[BOX], &def));
    for (int i = 0; i < s->view.count; i++) {
        s->position[i] = talus_scale(factor, s->position[i]);
        s->velocity[i] = talus_scale(factor, s->velocity[i]);
        s->radius[i] *= factor;
        s->size[i] *= factor;
    }
    s->options.reference_speed *= factor;
}

static void unscale_list(TalusContactList *list, double factor)
{
    for (int i = 0; i < list->count; i++)
        list->contact[i].gap /= factor;
    for (int i = 0; i < list->general; i++) {
        list->arms[i].a = talus_scale(1.0 / factor, list->arms[i].a);
        list->arms[i].b = talus_scale(1.0 / factor, list->arms[i].b);
    }
}

TEST(scales_exactly)
{
    static Scene s;
    TalusDetector *first, *scaled;
    TalusContactList *expected, *list;
    for (int k = -10; k <= 10; k += 20) {
        double factor = ldexp(1.0, k);
        scene_open(&s);
        add_mixture(&s, 2000);
        REQUIRE_OK(talus_detector_create(&first));
        REQUIRE_OK(talus_detector_create(&scaled));
        REQUIRE_OK(talus_detect(first, NULL, &s.view, &s.options, &expected));
        scale_scene(&s, factor);
        REQUIRE_OK(talus_detect(scaled, NULL, &s.view, &s.options, &list));
        unscale_list(list, factor);
        CHECK(same_contacts(list, expected));
        talus_detector_destroy(first);
        talus_detector_destroy(scaled);
        scene_close(&s);
    }
}

TEST(warm_call_allocates_nothing)
{
    static Scene s;
    TalusDetector *detector;
    TalusContactList *list;
    scene_open(&s);
    add_mixture(&s, 2000);
    REQUIRE_OK(talus_detector_create(&detector));
    REQUIRE_OK(talus_detect(detector, NULL, &s.view, &s.options, &list));
    uint64_t before = talus_allocation_count();
    for (int call = 0; call < 3; call++)
        REQUIRE_OK(talus_detect(detector, NULL, &s.view, &s.options, &list));
    CHECK(talus_allocation_count() == before);
    talus_detector_destroy(detector);
    scene_close(&s);
}

TEST(every_allocation_may_fail)
{
    static Scene s;
    TalusContactList *list;
    scene_open(&s);
    add_mixture(&s, 200);
    for (long n = 1;; n++) {
        TalusDetector *detector;
        REQUIRE_OK(talus_detector_create(&detector));
        talus_fail_allocation_in(n);
        TalusStatus status = talus_detect(detector, NULL, &s.view, &s.options, &list);
        talus_fail_allocation_in(0);
        CHECK(status == TALUS_OK || status == TALUS_ERR_MEMORY);
        CHECK(status == TALUS_OK || talus_detector_contacts(detector)->count == 0);
        if (status != TALUS_OK)
            CHECK_OK(talus_detect(detector, NULL, &s.view, &s.options, &list));
        CHECK(list->count > 0);
        talus_detector_destroy(detector);
        if (status == TALUS_OK)
            break;
    }
    scene_close(&s);
}

/* ---- warm start ------------------------------------------------------------------------------ */

static bool is(TalusVec3 x, TalusVec3 y)
{
    return x.x == y.x && x.y == y.y && x.z == y.z;
}

/* Number of impulses that are those of their key; all others must be zero. */
static int count_marked(const TalusContactList *list)
{
    int marked = 0;
    for (int i = 0; i < list->count; i++) {
        bool same = is(list->impulse[i], mark(&list->contact[i]));
        CHECK(same || is(list->impulse[i], talus_vec3(0, 0, 0)));
        marked += same;
    }
    return marked;
}

/* Contacts of `list` whose key is in `keys`. */
static int count_common(const TalusContactList *list, const TalusContact *keys, int count)
{
    int common = 0;
    for (int i = 0; i < list->count; i++) {
        for (int k = 0; k < count; k++)
            common += list->contact[i].a == keys[k].a && list->contact[i].b == keys[k].b &&
                      list->contact[i].feature == keys[k].feature;
    }
    return common;
}

static bool has_key(const TalusContact *keys, int count, const TalusContact *c)
{
    for (int k = 0; k < count; k++)
        if (keys[k].a == c->a && keys[k].b == c->b && keys[k].feature == c->feature)
            return true;
    return false;
}

/* Share of contact i, whose key is not in `old`, in the marks of its pair whose keys are not in `list`. */
static TalusVec3 expected_share(const TalusContactList *list, int i, const TalusContact *old,
                                int old_count)
{
    const TalusContact *contact = list->contact, *c = &contact[i];
    TalusVec3 lost = {0.0, 0.0, 0.0};
    int fresh = 0;
    for (int k = 0; k < old_count; k++)
        if (old[k].a == c->a && old[k].b == c->b && !has_key(contact, list->count, &old[k]))
            lost = talus_add(lost, mark(&old[k]));
    for (int k = 0; k < list->count; k++)
        fresh +=
            contact[k].a == c->a && contact[k].b == c->b && !has_key(old, old_count, &contact[k]);
    return talus_scale(1.0 / fresh, lost);
}

/* Checks the impulses of new keys. Returns the number of those that are not zero. */
static int check_shares(const TalusContactList *list, const TalusContact *old, int old_count)
{
    int shares = 0;
    for (int i = 0; i < list->count; i++) {
        if (has_key(old, old_count, &list->contact[i]))
            continue;
        TalusVec3 share = expected_share(list, i, old, old_count);
        CHECK(is(list->impulse[i], share));
        shares += !is(share, talus_vec3(0, 0, 0));
    }
    return shares;
}

/* What a pair loses with old keys goes to its new ones. */
TEST(impulses_follow_their_keys)
{
    static Scene s;
    static TalusContact old[20000];
    TalusDetector *detector;
    TalusContactList *list;
    scene_open(&s);
    add_mixture(&s, 2000);
    REQUIRE_OK(talus_detector_create(&detector));
    CHECK_INT(talus_detector_contacts(detector)->count, 0);
    REQUIRE_OK(talus_detect(detector, NULL, &s.view, &s.options, &list));
    CHECK_INT(count_marked(list), 0);
    mark_all(list);
    int old_count = list->count;
    REQUIRE(old_count < 20000);
    memcpy(old, list->contact, (size_t)old_count * sizeof *old);
    shake(&s);
    REQUIRE_OK(talus_detect(detector, NULL, &s.view, &s.options, &list));
    int common = count_common(list, old, old_count);
    CHECK(common > old_count / 2 && common < old_count);
    CHECK(check_shares(list, old, old_count) > 10);
    /* a share, the mean of some marks, may equal the mark of its new key */
    for (int i = 0; i < list->count; i++)
        common -= has_key(old, old_count, &list->contact[i]) &&
                  is(list->impulse[i], mark(&list->contact[i]));
    CHECK_INT(common, 0);
    talus_detector_destroy(detector);
    scene_close(&s);
}

static int contacts_of(const TalusContactList *list, uint32_t body)
{
    int count = 0;
    for (int i = 0; i < list->count; i++)
        count += list->contact[i].a == body || list->contact[i].b == body;
    return count;
}

TEST(forgets_a_body)
{
    static Scene s;
    TalusDetector *detector;
    TalusContactList *list;
    scene_open(&s);
    add_mixture(&s, 500);
    REQUIRE_OK(talus_detector_create(&detector));
    REQUIRE_OK(talus_detect(detector, NULL, &s.view, &s.options, &list));
    mark_all(list);
    uint32_t body = list->contact[list->sphere_sphere / 2].b;
    talus_detector_drop_impulses(detector, body);
    talus_detector_drop_impulses(detector, 1000000); /* unknown: nothing to forget */
    int rest = list->count - contacts_of(list, body);
    CHECK(rest < list->count);
    CHECK_INT(count_marked(talus_detector_contacts(detector)), rest);
    REQUIRE_OK(talus_detect(detector, NULL, &s.view, &s.options, &list));
    CHECK_INT(count_marked(list), rest);
    talus_detector_drop_impulses(detector, body); /* and straight before a detection */
    REQUIRE_OK(talus_detect(detector, NULL, &s.view, &s.options, &list));
    CHECK_INT(count_marked(list), rest);
    talus_detector_destroy(detector);
    scene_close(&s);
}

TEST(restores_a_list)
{
    static Scene s;
    TalusDetector *first, *second;
    TalusContactList *list, *other;
    scene_open(&s);
    add_mixture(&s, 500);
    REQUIRE_OK(talus_detector_create(&first));
    REQUIRE_OK(talus_detector_create(&second));
    REQUIRE_OK(talus_detect(first, NULL, &s.view, &s.options, &list));
    mark_all(list);
    REQUIRE_OK(talus_detector_restore(second, list));
    CHECK(same_contacts(talus_detector_contacts(second), list));
    shake(&s);
    REQUIRE_OK(talus_detect(first, NULL, &s.view, &s.options, &list));
    REQUIRE_OK(talus_detect(second, NULL, &s.view, &s.options, &other));
    CHECK(same_contacts(list, other));
    talus_detector_destroy(first);
    talus_detector_destroy(second);
    scene_close(&s);
}

/* ---- refusals -------------------------------------------------------------------------------- */

TEST(unsupported_pairs_are_named)
{
    static Scene s;
    TalusDetector *detector;
    TalusContactList *list;
    TalusVec3 none = {0, 0, 0};
    scene_open(&s);
    int box = add(&s, BOX, 0.0, none, none);
    add(&s, VESSEL, 0.0, none, none);
    REQUIRE_OK(talus_detector_create(&detector));
    CHECK_OK(talus_detect(detector, NULL, &s.view, &s.options, &list)); /* inside, but apart */
    s.position[box].z = -2.5;
    CHECK(talus_detect(detector, NULL, &s.view, &s.options, &list) == TALUS_ERR_UNSUPPORTED);
    CHECK_STR(talus_error(),
              "detect: a box (slot 0) meets a revolve (slot 1), and contact between these two "
              "shapes is not available; a revolve is met by spheres alone, and as a mesh by every "
              "shape that moves");
    s.fixed[0] = s.fixed[1] = 1;
    CHECK_OK(talus_detect(detector, NULL, &s.view, &s.options, &list));
    talus_detector_destroy(detector);
    scene_close(&s);
}

TEST(a_wall_that_is_free_is_refused)
{
    static Scene s;
    TalusDetector *detector;
    TalusContactList *list;
    TalusVec3 none = {0, 0, 0};
    scene_open(&s);
    int vessel = add(&s, VESSEL, 0.0, none, none);
    REQUIRE_OK(talus_detector_create(&detector));
    s.fixed[vessel] = TALUS_MOBILITY_FREE;
    CHECK(talus_detect(detector, NULL, &s.view, &s.options, &list) == TALUS_ERR_ARGUMENT);
    CHECK_STR(talus_error(), "slot 0: a revolve can only be fixed or driven");
    s.fixed[vessel] = TALUS_MOBILITY_DRIVEN;
    CHECK_OK(talus_detect(detector, NULL, &s.view, &s.options, &list));
    talus_detector_destroy(detector);
    scene_close(&s);
}

TEST(numbers_must_be_finite)
{
    static Scene s;
    TalusDetector *detector;
    TalusContactList *list;
    scene_open(&s);
    add_spheres(&s, 100, 2.0, 3);
    REQUIRE_OK(talus_detector_create(&detector));
    s.position[70].y = NAN;
    s.velocity[17].x = INFINITY;
    CHECK(talus_detect(detector, NULL, &s.view, &s.options, &list) == TALUS_ERR_NUMERIC);
    CHECK_STR(talus_error(), "detect: slot 17 has a position, orientation, velocity or radius that "
                             "is not a finite number, or out of all proportion to the others");
    s.options.h = -1.0;
    CHECK(talus_detect(detector, NULL, &s.view, &s.options, &list) == TALUS_ERR_ARGUMENT);
    talus_detector_destroy(detector);
    scene_close(&s);
}

/* So fast that the sample, which does not hold it, gives a unit it cannot be measured in. */
TEST(a_body_out_of_all_proportion_is_named)
{
    static Scene s;
    TalusDetector *detector;
    TalusContactList *list;
    scene_open(&s);
    add_spheres(&s, 4000, 2.0, 3);
    REQUIRE_OK(talus_detector_create(&detector));
    CHECK_OK(talus_detect(detector, NULL, &s.view, &s.options, &list));
    int refused = 0;
    for (int i = 0; i < 20 && refused == 0; i++) {
        s.velocity[i].z = 1e60;
        refused += talus_detect(detector, NULL, &s.view, &s.options, &list) == TALUS_ERR_NUMERIC;
        s.velocity[i].z = 0.0;
    }
    CHECK(refused > 0);
    talus_detector_destroy(detector);
    scene_close(&s);
}

TEST(empty_views_are_fine)
{
    static Scene s;
    TalusDetector *detector;
    TalusContactList *list;
    TalusVec3 none = {0, 0, 0};
    scene_open(&s);
    REQUIRE_OK(talus_detector_create(&detector));
    CHECK_OK(talus_detect(detector, NULL, &s.view, &s.options, &list));
    CHECK_INT(list->count, 0);
    add(&s, PLANE, 0.0, none, none);
    CHECK_OK(talus_detect(detector, NULL, &s.view, &s.options, &list));
    int i = add(&s, SPHERE, 1.0, talus_vec3(0, 0, 1.01), none);
    CHECK_OK(talus_detect(detector, NULL, &s.view, &s.options, &list));
    CHECK_INT(list->sphere_fixed, 1);
    s.shape_of[i] = -1;
    CHECK_OK(talus_detect(detector, NULL, &s.view, &s.options, &list));
    CHECK_INT(list->count, 0);
    talus_detector_destroy(detector);
    scene_close(&s);
}

int main(void)
{
    RUN(equals_all_pairs);
    RUN(walls_miss_nothing);
    RUN(equal_for_any_threads);
    RUN(scales_exactly);
    RUN(warm_call_allocates_nothing);
    RUN(every_allocation_may_fail);
    RUN(impulses_follow_their_keys);
    RUN(forgets_a_body);
    RUN(restores_a_list);
    RUN(unsupported_pairs_are_named);
    RUN(a_wall_that_is_free_is_refused);
    RUN(numbers_must_be_finite);
    RUN(a_body_out_of_all_proportion_is_named);
    RUN(empty_views_are_fine);
    return talus_test_result();
}

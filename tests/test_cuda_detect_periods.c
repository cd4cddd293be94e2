/* Detection on the device in space that repeats itself: the host's contacts to the bit, with impulses carried over, the
 * same number of bodies that are too fast, the same refusals. */
#include "shape_scene.h"

static TalusPeriod cube(double lo, double length, int axes)
{
    TalusPeriod p = {{lo, lo, lo},
                     {lo + length, lo + length, lo + length},
                     {axes & 1, axes >> 1 & 1, axes >> 2 & 1},
                     0.0};
    return p;
}

/* The scene within the period, whatever it was made in. */
static void repeat(Scene *s, const TalusPeriod *period)
{
    s->view.period = period;
    for (int i = 0; i < s->view.count; i++)
        s->position[i] = talus_wrap_position(period, s->position[i]);
}

/* The same, with bodies anywhere. */
static void scatter(Scene *s, const TalusPeriod *period)
{
    TalusRng rng = talus_rng_from_seed(4);
    for (int i = 0; i < s->view.count; i++)
        s->position[i] = random_vector(&rng, period->hi.x - period->lo.x);
    repeat(s, period);
}

/* Contacts across a side. */
static int across(const Scene *s, const TalusContactList *list)
{
    int count = 0;
    for (int i = 0; i < list->count; i++) {
        const TalusContact *c = &list->contact[i];
        TalusVec3 d = talus_sub(s->position[c->b], s->position[c->a]);
        count += talus_norm(talus_sub(talus_nearest_image_vector(s->view.period, d), d)) > 0.0;
    }
    return count;
}

static void check_scene(Scene *s, int least, int least_across)
{
    Both b;
    if (open_both(&b, s)) {
        detect_thrice(&b, s);
        CHECK(b.device.count >= least && across(s, &b.device) >= least_across);
    }
    close_both(&b);
    scene_close(s);
}

/* ---- spheres ---- */

TEST(spheres_along_all_axes)
{
    NEEDS_CUDA();
    static Scene s;
    for (int axes = 1; axes < 8; axes++) {
        TalusPeriod period = cube(-1.3, 5.0, axes);
        scene_open(&s);
        add_spheres(&s, 600, axes & 1 ? 4.0 : 2.0, (uint64_t)axes);
        scatter(&s, &period);
        check_scene(&s, 100, 20);
    }
}

/* So many that a sample of them is looked at. */
TEST(many_spheres_of_many_sizes)
{
    NEEDS_CUDA();
    static Scene s;
    TalusPeriod period = cube(100.0, 5.0, 7);
    scene_open(&s);
    add_spheres(&s, 2500, 8.0, 3);
    scatter(&s, &period);
    check_scene(&s, 1000, 100);
}

/* Four radii and their margins just fit. */
TEST(a_period_as_short_as_can_be)
{
    NEEDS_CUDA();
    static Scene s;
    TalusRng rng = talus_rng_from_seed(21);
    TalusPeriod period = cube(0.0, 1.0, 7);
    scene_open(&s);
    s.options = (TalusDetectOptions){1e-3, 0.01, 1e-3, 0.4};
    for (int k = 0; k < 12; k++) {
        TalusVec3 x = random_vector(&rng, 1.0), v = random_vector(&rng, 0.1);
        add(&s, SPHERE, 0.2485, x, v);
    }
    repeat(&s, &period);
    check_scene(&s, 20, 10);
}

/* ---- speeds ---- */

/* `common` is a velocity that all have. Detected once: nothing is shaken. */
static int clipped_at(double h, double speed, double common, bool spins)
{
    static Scene s;
    Both b;
    TalusEngineCounts n = {0};
    TalusRng rng = talus_rng_from_seed(17);
    TalusPeriod period = cube(-2.0, 5.0, 7);
    open_scene(&s);
    s.options.h = h;
    add_bodies(&s, 60, 2.4, 0.0, &rng);
    for (int k = 0; k < 200; k++)
        add(&s, SPHERE, 0.1 + 0.2 * talus_rng_uniform(&rng), random_vector(&rng, 5.0),
            random_vector(&rng, k % 9 ? 1.0 : speed));
    for (int i = 0; i < s.view.count; i++) {
        s.velocity[i].y += common;
        if (spins)
            s.spin[i] = random_vector(&rng, 3000.0);
    }
    repeat(&s, &period);
    if (open_both(&b, &s)) {
        detect(&b, &s);
        talus_engine_ops(cuda)->get_counts(b.engine, &n);
        CHECK(n.contacts > 100);
    }
    close_both(&b);
    scene_close(&s);
    return n.clipped_bodies;
}

TEST(fast_bodies_are_clipped_as_on_the_host)
{
    NEEDS_CUDA();
    CHECK_INT(clipped_at(1e-3, 1.0, 0.0, false), 0);
    CHECK_INT(clipped_at(1e-3, 1.0, 500.0, false), 0); /* the drift takes half of it */
    CHECK(clipped_at(1e-3, 1.0, 3000.0, false) > 200);
    CHECK(clipped_at(1e-3, 1e4, 0.0, false) > 10);
    CHECK(clipped_at(1e-3, 1e4, 100.0, false) > 10);
    CHECK(clipped_at(1e-3, 1.0, 0.0, true) > 20);
}

/* ---- other shapes ---- */

TEST(all_kinds_of_shapes)
{
    NEEDS_CUDA();
    static Scene s;
    for (int axes = 3; axes < 8; axes += 4) {
        TalusRng rng = talus_rng_from_seed(2);
        TalusPeriod period = cube(-1.0, 4.5, axes);
        open_scene(&s);
        add_bodies(&s, 130, 2.2, 0.0, &rng);
        for (int k = 0; k < 16; k++) /* small fixed ones, and two that are driven */
            turn(&s, add_fixed(&s, k % 2 ? HULL : CAPSULE, random_vector(&rng, 4.0)), &rng);
        s.fixed[s.view.count - 1] = s.fixed[s.view.count - 2] = 2;
        s.velocity[s.view.count - 1] = talus_vec3(1.0, 2.0, -1.0);
        if (axes == 3)
            add(&s, PLANE, 0.0, talus_vec3(0.4, 0, -1), talus_vec3(0, 0, 0));
        repeat(&s, &period);
        check_scene(&s, 200, 40);
    }
}

/* Walls across a side: a mesh, a field, a vessel, a slab that its bounds let pass, and one that is driven. */
TEST(walls)
{
    NEEDS_CUDA();
    static const int wall[] = {HOUSE, HILLS, VESSEL, SLAB, HOUSE};
    static Scene s;
    for (int k = 0; k < 5; k++) {
        TalusRng rng = talus_rng_from_seed((uint64_t)(30 + k));
        TalusPeriod period = cube(-1.0, k == 1 || k == 3 ? 30.0 : 11.0, k == 1 ? 3 : 7);
        open_scene(&s);
        int i = add_fixed(&s, wall[k], talus_vec3(-0.5, -0.8, -0.3));
        if (k == 4) {
            s.fixed[i] = 2;
            s.velocity[i] = talus_vec3(0.5, -0.3, 0.2);
            s.spin[i] = talus_vec3(0.0, 0.0, 1.0);
        }
        for (int n = 0; n < 400; n++) {
            TalusVec3 x = random_vector(&rng, 9.0), v = random_vector(&rng, 3.0);
            add(&s, SPHERE, 0.25, x, v);
        }
        if (k != 2)
            add_bodies(&s, 80, 4.5, 0.0, &rng);
        repeat(&s, &period);
        check_scene(&s, 100, 20);
    }
}

TEST(filters_across_sides)
{
    NEEDS_CUDA();
    static Scene s;
    static uint16_t group[MAX_BODIES];
    uint32_t meets[32];
    TalusPeriod period = cube(0.0, 5.0, 7);
    scene_open(&s);
    add_spheres(&s, 600, 4.0, 9);
    for (int k = 0; k < 32; k++)
        meets[k] = UINT32_MAX;
    for (int i = 0; i < s.view.count; i++)
        group[i] = (uint16_t)(i % 3);
    meets[1] &= ~(1u << 1);
    TalusFilter filter = {group, meets, NULL, 0};
    s.view.filter = &filter;
    repeat(&s, &period);
    check_scene(&s, 100, 20);
}

/* ---- refusals ---- */

static void expect_refusal(int shape, double radius, const char *text)
{
    static Scene s;
    Both b;
    TalusRng rng = talus_rng_from_seed(5);
    TalusPeriod period = cube(-3.0, 6.0, 1);
    TalusQuat across = {sqrt(0.5), 0.0, sqrt(0.5), 0.0};
    scene_open(&s);
    for (int k = 0; k < 200; k++) {
        TalusVec3 x = random_vector(&rng, 5.0), v = random_vector(&rng, 1.0);
        add(&s, SPHERE, 0.2, x, v);
    }
    repeat(&s, &period);
    if (open_both(&b, &s)) {
        detect(&b, &s);
        mark_both(&b);
        int last = add(&s, shape, radius, talus_vec3(0, 0, 0), talus_vec3(0, 0, 0));
        if (shape == PLANE)
            s.orientation[last] = across;
        check_refused(&b, &s, TALUS_ERR_UNSUPPORTED);
        CHECK(strstr(talus_error(), text));
        s.shape_of[last] = -1;
        detect(&b, &s);
        CHECK_INT(impulses(&b.device), b.device.count);
    }
    close_both(&b);
    scene_close(&s);
}

TEST(what_would_meet_itself_is_refused)
{
    NEEDS_CUDA();
    expect_refusal(SPHERE, 1.6, "the largest body has");
    expect_refusal(SLAB, 0.0, "a box, reaches");
    expect_refusal(PLANE, 0.0, "is not parallel");
}

int main(void)
{
    cuda = talus_backend_find("cuda");
    RUN(spheres_along_all_axes);
    RUN(many_spheres_of_many_sizes);
    RUN(a_period_as_short_as_can_be);
    RUN(fast_bodies_are_clipped_as_on_the_host);
    RUN(all_kinds_of_shapes);
    RUN(walls);
    RUN(filters_across_sides);
    RUN(what_would_meet_itself_is_refused);
    return cuda_test_result();
}

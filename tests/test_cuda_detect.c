/* Collision detection on the device: the same contacts, to the bit, as on the host, the same impulses carried
 * over, the same refusals; and each body's contacts in order. */
#include "detect_both.h"

/* ---- spheres ---- */

static void check_spheres(int count, double ratio, uint64_t seed)
{
    static Scene s;
    Both b;
    scene_open(&s);
    add_spheres(&s, count, ratio, seed);
    if (open_both(&b, &s)) {
        detect_thrice(&b, &s);
        CHECK(b.device.sphere_sphere > 0);
    }
    close_both(&b);
    scene_close(&s);
}

TEST(equal_sizes)
{
    NEEDS_CUDA();
    check_spheres(2000, 1.0, 1);
    check_spheres(40, 3.0, 5);
}

TEST(many_sizes)
{
    NEEDS_CUDA();
    check_spheres(2000, 15.0, 2);
    check_spheres(2000, 100.0, 3);
    check_spheres(2000, 1000.0, 4);
}

/* Common velocity, spins, and speeds that reach over several bodies. */
TEST(fast_bodies)
{
    NEEDS_CUDA();
    static Scene s;
    Both b;
    TalusRng rng = talus_rng_from_seed(8);
    scene_open(&s);
    add_spheres(&s, 1500, 2.0, 9);
    for (int i = 0; i < s.view.count; i++) {
        s.velocity[i] =
            talus_add(random_vector(&rng, i % 50 ? 40.0 : 4000.0), talus_vec3(0, 0, -90));
        s.spin[i] = random_vector(&rng, 60.0);
    }
    if (open_both(&b, &s))
        detect_thrice(&b, &s);
    close_both(&b);
    scene_close(&s);
}

/* One ball that touches thousands: its contacts are many, and found from the small ones. */
TEST(a_body_with_many_contacts)
{
    NEEDS_CUDA();
    static Scene s;
    Both b;
    TalusRng rng = talus_rng_from_seed(10);
    TalusVec3 none = {0, 0, 0};
    scene_open(&s);
    for (int k = 0; k < 1000; k++)
        add(&s, SPHERE, 0.02, talus_normalize(random_vector(&rng, 1.0), talus_vec3(0, 0, 1)), none);
    add(&s, SPHERE, 0.98, none, none);
    for (int k = 0; k < 1000; k++)
        add(&s, SPHERE, 0.02, talus_normalize(random_vector(&rng, 1.0), talus_vec3(0, 0, 1)), none);
    if (open_both(&b, &s)) {
        detect(&b, &s);
        CHECK(b.device.sphere_sphere > 2000);
        detect_thrice(&b, &s);
    }
    close_both(&b);
    scene_close(&s);
}

TEST(coincident_centres)
{
    NEEDS_CUDA();
    static Scene s;
    Both b;
    scene_open(&s);
    for (int k = 0; k < 240; k++) /* more partners than the search remembers */
        add(&s, SPHERE, 0.5, talus_vec3(k % 4, 0.0, 0.0), talus_vec3(0.0, k, 0.0));
    if (open_both(&b, &s)) {
        detect(&b, &s);
        mark_both(&b);
        detect(&b, &s);
        CHECK_INT(impulses(&b.device), b.device.count);
    }
    close_both(&b);
    scene_close(&s);
}

/* ---- other shapes ---- */

TEST(boxes_and_planes)
{
    NEEDS_CUDA();
    static Scene s;
    Both b;
    scene_open(&s);
    add_mixture(&s, 1200);
    if (open_both(&b, &s)) {
        detect_thrice(&b, &s);
        CHECK(b.device.sphere_fixed > 100 && b.device.general > 100);
    }
    close_both(&b);
    scene_close(&s);
}

static void turn(Scene *s, int i, TalusRng *rng)
{
    TalusQuat q = {1.0, talus_rng_uniform(rng), talus_rng_uniform(rng), -0.3};
    s->orientation[i] = talus_quat_normalize(q);
}

/* Few large fixed bodies are walls, many go into the grid; small fixed ones are always in it. */
static void check_walls(int slabs, int planes)
{
    static Scene s;
    Both b;
    TalusRng rng = talus_rng_from_seed(33);
    TalusVec3 none = {0, 0, 0};
    scene_open(&s);
    for (int k = 0; k < 800; k++)
        add(&s, SPHERE, 0.1 + 0.1 * talus_rng_uniform(&rng), random_vector(&rng, 9.0),
            random_vector(&rng, 30.0));
    for (int k = 0; k < slabs; k++)
        turn(&s, add(&s, SLAB, 0.0, random_vector(&rng, 9.0), none), &rng);
    for (int k = 0; k < 30; k++) {
        int i = add(&s, CYLINDER, 0.0, random_vector(&rng, 9.0), none);
        s.fixed[i] = 1;
        turn(&s, i, &rng);
    }
    for (int k = 0; k < planes; k++)
        turn(&s, add(&s, PLANE, 0.0, talus_vec3(0, 0, -4.0 - 0.01 * k), none), &rng);
    turn(&s, add(&s, VESSEL, 0.0, talus_vec3(0.3, 0.2, 0.1), none), &rng);
    if (open_both(&b, &s)) {
        detect_thrice(&b, &s);
        CHECK(b.device.sphere_fixed > 200);
    }
    close_both(&b);
    scene_close(&s);
}

TEST(walls)
{
    NEEDS_CUDA();
    check_walls(6, 1);
    check_walls(100, 80); /* more planes than there is room for at first */
}

TEST(cylinders_on_a_plane)
{
    NEEDS_CUDA();
    static Scene s;
    Both b;
    TalusRng rng = talus_rng_from_seed(3);
    TalusVec3 none = {0, 0, 0};
    scene_open(&s);
    add(&s, PLANE, 0.0, none, none);
    for (int k = 0; k < 40; k++) {
        int i = add(&s, CYLINDER, 0.0, talus_vec3(3.0 * k, 0.0, 0.5), random_vector(&rng, 3.0));
        if (k % 2)
            turn(&s, i, &rng);
        add(&s, SPHERE, 0.3, talus_vec3(3.0 * k, 0.2, 1.3), random_vector(&rng, 3.0));
    }
    if (open_both(&b, &s))
        detect_thrice(&b, &s);
    close_both(&b);
    scene_close(&s);
}

/* ---- bodies come and go ---- */

TEST(more_bodies_each_time)
{
    NEEDS_CUDA();
    static Scene s;
    Both b;
    TalusVec3 none = {0, 0, 0};
    scene_open(&s);
    if (open_both(&b, &s)) {
        detect(&b, &s); /* no body at all */
        add(&s, PLANE, 0.0, none, none);
        detect(&b, &s); /* none that moves */
        for (int k = 0; k < 5; k++) {
            for (int i = 0; i < 100 << k; i++)
                add(&s, SPHERE, 0.5, talus_vec3(0.99 * (i % 20), 0.98 * (i / 20), 0.5 + 0.97 * k),
                    none);
            s.shape_of[7 * k + 3] = -1;
            detect(&b, &s);
            mark_both(&b);
        }
        CHECK(b.device.sphere_sphere > 1000 && b.device.sphere_fixed > 50);
    }
    close_both(&b);
    scene_close(&s);
}

/* ---- each body's contacts ---- */

static int contact_of(const TalusOperator *op, int incidence)
{
    int record = incidence / 2, compact = op->sphere_sphere + op->sphere_fixed;
    return record < compact ? record : compact + (record - compact) / 2;
}

static void *fetch_array(const void *from, size_t bytes)
{
    double *to = calloc(bytes / sizeof *to + 1, sizeof *to);
    size_t whole = bytes / sizeof *to;
    cuda->vector.get(cuda_op(), to, from, whole);
    return to;
}

/* Ascending, of the right body, and as many as the pairs say; none of a body that impulses do not move. */
static void check_incidences(const TalusOperator *op)
{
    double(*body)[8] = fetch_array(op->body, (size_t)op->bodies * sizeof *body);
    size_t even_bodies = ((size_t)op->bodies + 2) & ~(size_t)1; /* whole doubles */
    int32_t(*pair)[2] = fetch_array(op->pair, (size_t)op->blocks * sizeof *pair);
    int32_t *start = fetch_array(op->incidence_start, even_bodies * sizeof *start);
    int32_t *incidence = fetch_array(op->incidence, 2 * (size_t)op->blocks * sizeof *incidence);
    int wrong = 0, ends = 0;
    for (int i = 0; i < op->blocks; i++)
        ends += 1 + (pair[i][1] >= 0 && body[pair[i][1]][3] > 0.0);
    CHECK_INT(start[op->bodies], ends);
    for (int p = 0; p < op->bodies; p++)
        for (int k = start[p]; k < start[p + 1]; k++)
            wrong += pair[contact_of(op, incidence[k])][incidence[k] & 1] != p ||
                     (k > start[p] && incidence[k - 1] >= incidence[k]);
    CHECK_INT(wrong, 0);
    free(body);
    free(pair);
    free(start);
    free(incidence);
}

static void put_to_sleep(Scene *s, int every)
{
    for (int i = 0; i < s->view.count; i += every)
        if (s->fixed[i] == TALUS_MOBILITY_FREE) {
            s->fixed[i] = TALUS_MOBILITY_ASLEEP;
            s->velocity[i] = s->spin[i] = talus_vec3(0.0, 0.0, 0.0);
        }
}

static void check_mixture(bool asleep)
{
    static Scene s;
    Both b;
    TalusOperator *op;
    TalusBuildOptions options = {.h = 1e-3, .impulse_ratio = 1.0, .recovery = 1.0, .gravity = 1.0};
    TalusBuildReport report;
    double *gamma;
    scene_open(&s);
    add_mixture(&s, 1000);
    add(&s, SPHERE, 3.0, talus_vec3(0, 0, 0), talus_vec3(0, 0, 0)); /* with many contacts */
    if (asleep)
        put_to_sleep(&s, 7);
    if (open_both(&b, &s)) {
        detect(&b, &s);
        if (CHECK_OK(talus_engine_ops(cuda)->build(b.engine, &options, &op, &gamma, &report))) {
            CHECK_INT(op->blocks, b.host->count);
            check_incidences(op);
        }
    }
    close_both(&b);
    scene_close(&s);
}

TEST(each_body_knows_its_contacts)
{
    NEEDS_CUDA();
    check_mixture(false);
    check_mixture(true);
}

/* ---- refusals ---- */

TEST(unsupported_pairs_are_named)
{
    NEEDS_CUDA();
    static Scene s;
    Both b;
    TalusVec3 none = {0, 0, 0};
    scene_open(&s);
    for (int k = 0; k < 3; k++) { /* in the way of the lowest pair */
        add(&s, BOX, 0.0, talus_vec3(30.0 - 10.0 * k, 0, 0), none);
        add(&s, VESSEL, 0.0, talus_vec3(30.0 - 10.0 * k, 0, 0), none);
    }
    add(&s, SPHERE, 0.5, talus_vec3(30.0, 0, -2.49), none);
    if (open_both(&b, &s)) {
        detect(&b, &s); /* within, but apart */
        CHECK(b.device.count > 0);
        mark_both(&b);
        s.position[2].z = s.position[4].z = -2.5;
        check_refused(&b, &s, TALUS_ERR_UNSUPPORTED);
        s.position[2].z = s.position[4].z = 0.0;
        detect(&b, &s);
        CHECK_INT(impulses(&b.device), b.device.count);
    }
    close_both(&b);
    scene_close(&s);
}

TEST(bad_bodies_are_named)
{
    NEEDS_CUDA();
    static Scene s;
    Both b;
    scene_open(&s);
    add_spheres(&s, 300, 2.0, 3);
    if (open_both(&b, &s)) {
        detect(&b, &s);
        s.radius[70] = NAN;
        s.radius[17] = INFINITY;
        check_refused(&b, &s, TALUS_ERR_NUMERIC);
        s.radius[17] = s.size[17];
        s.radius[70] = 2.0 * s.size[70];
        check_refused(&b, &s, TALUS_ERR_ARGUMENT);
        s.radius[70] = s.size[70];
        s.options.h = -1.0;
        check_refused(&b, &s, TALUS_ERR_ARGUMENT);
        s.options.h = 1e-3;
        detect(&b, &s);
    }
    close_both(&b);
    scene_close(&s);
}

int main(void)
{
    cuda = talus_backend_find("cuda");
    RUN(equal_sizes);
    RUN(many_sizes);
    RUN(fast_bodies);
    RUN(a_body_with_many_contacts);
    RUN(coincident_centres);
    RUN(boxes_and_planes);
    RUN(walls);
    RUN(cylinders_on_a_plane);
    RUN(more_bodies_each_time);
    RUN(each_body_knows_its_contacts);
    RUN(unsupported_pairs_are_named);
    RUN(bad_bodies_are_named);
    return cuda_test_result();
}

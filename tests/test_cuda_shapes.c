/* Detection on the device with every kind of shape: the host's contacts to the bit, with impulses carried over;
 * and with filters and driven bodies. */
#include "detect_both.h"

enum { CAPSULE = SHAPES, CONE, ELLIPSOID, HULL, CLUMP, HOUSE, HILLS, ALL_SHAPES, COLUMNS = 12 };

/* ---- shapes ---- */

static void add_shape(Scene *s, const TalusShapeDef *def)
{
    if (CHECK(s->view.shape_count < MAX_SHAPES))
        CHECK_OK(talus_shape_init(&s->shape[s->view.shape_count++], def));
}

static void add_hull(Scene *s)
{
    TalusRng rng = talus_rng(12);
    TalusVec3 point[20];
    for (int k = 0; k < 20; k++)
        point[k] = talus_scale(0.6, talus_normalize(random_vector(&rng, 1.0), talus_vec3(0, 0, 1)));
    TalusShapeDef def = {.kind = TALUS_SHAPE_HULL, .vertex = point, .vertex_count = 20};
    add_shape(s, &def);
}

/* A ball, a turned box and a hull in one. */
static void add_clump(Scene *s)
{
    TalusShapeDef ball = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.3};
    TalusShapeDef box = {.kind = TALUS_SHAPE_BOX, .half = {0.3, 0.2, 0.25}};
    TalusQuat turn = talus_quat_normalize((TalusQuat){1.0, 0.2, -0.4, 0.1}), none = {1, 0, 0, 0};
    TalusShapePart part[3] = {{&ball, {0.3, 0.0, 0.0}, none},
                              {&box, {-0.2, 0.1, 0.0}, turn},
                              {&s->shape[HULL].def, {0.0, -0.3, 0.2}, turn}};
    TalusShapeDef def = {.kind = TALUS_SHAPE_COMPOUND, .part = part, .part_count = 3};
    add_shape(s, &def);
}

/* A closed box of triangles, 6 x 6 x 2, and hills. */
static void add_grounds(Scene *s)
{
    static const int32_t triangle[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                         2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
    TalusVec3 vertex[8];
    double height[COLUMNS * COLUMNS];
    TalusRng rng = talus_rng(14);
    for (int k = 0; k < 8; k++)
        vertex[k] = talus_vec3(k & 1 ? 3.0 : -3.0, k & 2 ? 3.0 : -3.0, k & 4 ? 1.0 : -1.0);
    for (int k = 0; k < COLUMNS * COLUMNS; k++)
        height[k] = 0.4 * talus_rng_uniform(&rng);
    TalusShapeDef house = {.kind = TALUS_SHAPE_MESH,
                           .vertex = vertex,
                           .vertex_count = 8,
                           .triangle = triangle,
                           .triangle_count = 12};
    TalusShapeDef hills = {.kind = TALUS_SHAPE_FIELD,
                           .height = height,
                           .columns = COLUMNS,
                           .rows = COLUMNS,
                           .spacing = 1.0};
    add_shape(s, &house);
    add_shape(s, &hills);
}

static void open_scene(Scene *s)
{
    const TalusShapeDef round[] = {
        {.kind = TALUS_SHAPE_CAPSULE, .radius = 0.3, .half_height = 0.4},
        {.kind = TALUS_SHAPE_CONE, .radius = 0.5, .half_height = 0.5},
        {.kind = TALUS_SHAPE_ELLIPSOID, .half = {0.6, 0.4, 0.3}},
    };
    scene_open(s);
    for (int k = 0; k < 3; k++)
        add_shape(s, &round[k]);
    add_hull(s);
    add_clump(s);
    add_grounds(s);
    CHECK_INT(s->view.shape_count, ALL_SHAPES);
}

static void turn(Scene *s, int i, TalusRng *rng)
{
    TalusVec3 v = random_vector(rng, 2.0);
    TalusQuat q = {talus_rng_uniform(rng), v.x, v.y, v.z};
    s->orientation[i] = talus_quat_normalize(q);
}

/* `count` bodies of all kinds that move, in a box of this half edge. */
static void add_bodies(Scene *s, int count, double edge, double above, TalusRng *rng)
{
    static const int kind[] = {SPHERE, BOX, CYLINDER, CAPSULE, CONE, ELLIPSOID, HULL, CLUMP};
    for (int k = 0; k < count; k++) {
        TalusVec3 x = random_vector(rng, 2.0 * edge);
        x.z += above;
        int i = add(s, kind[k % 8], 0.4, x, random_vector(rng, 3.0));
        turn(s, i, rng);
        s->spin[i] = random_vector(rng, 4.0);
    }
}

static int add_fixed(Scene *s, int shape, TalusVec3 x)
{
    int i = add(s, shape, 0.4, x, talus_vec3(0, 0, 0));
    s->fixed[i] = 1;
    return i;
}

static void detect_scene(Scene *s, int least_fixed, int least_general)
{
    Both b;
    if (open_both(&b, s)) {
        detect_thrice(&b, s);
        CHECK(b.device.sphere_fixed >= least_fixed && b.device.general >= least_general);
    }
    close_both(&b);
}

/* ---- tests ---- */

TEST(all_kinds_among_themselves)
{
    NEEDS_CUDA();
    static Scene s;
    TalusRng rng = talus_rng(2);
    open_scene(&s);
    add_bodies(&s, 120, 1.9, 0.0, &rng);
    for (int k = 0; k < 16; k++) /* small fixed ones */
        turn(&s, add_fixed(&s, k % 2 ? HULL : CAPSULE, random_vector(&rng, 3.0)), &rng);
    detect_scene(&s, 5, 200);
    scene_close(&s);
}

TEST(on_a_plane_and_on_large_bodies)
{
    NEEDS_CUDA();
    static Scene s;
    TalusRng rng = talus_rng(3);
    open_scene(&s);
    add_bodies(&s, 100, 3.0, 0.0, &rng);
    add(&s, PLANE, 0.0, talus_vec3(0, 0, -1), talus_vec3(0, 0, 0));
    turn(&s, add(&s, SLAB, 0.0, talus_vec3(0, 0, 1.0), talus_vec3(0, 0, 0)), &rng);
    detect_scene(&s, 10, 100);
    scene_close(&s);
}

TEST(on_a_mesh)
{
    NEEDS_CUDA();
    static Scene s;
    TalusRng rng = talus_rng(4);
    open_scene(&s);
    add_bodies(&s, 120, 2.5, 1.5, &rng);
    turn(&s, add_fixed(&s, HOUSE, talus_vec3(0.1, -0.2, 0.0)), &rng);
    detect_scene(&s, 3, 100);
    scene_close(&s);
}

/* Some lie below it, which are always near. */
TEST(on_a_field)
{
    NEEDS_CUDA();
    static Scene s;
    TalusRng rng = talus_rng(5);
    open_scene(&s);
    add_bodies(&s, 80, 3.0, 2.0, &rng);
    add_bodies(&s, 3, 1.0, -20.0, &rng);
    add_fixed(&s, HILLS, talus_vec3(0.3, 0.2, 0.0));
    detect_scene(&s, 1, 30);
    scene_close(&s);
}

/* Contacts of driven bodies are general ones, of spheres too: of small bodies, of planes and of meshes. */
TEST(driven_bodies)
{
    NEEDS_CUDA();
    static Scene s;
    TalusRng rng = talus_rng(6);
    open_scene(&s);
    add_bodies(&s, 60, 2.0, 1.0, &rng);
    for (int k = 0; k < 40; k++)
        add(&s, SPHERE, 0.3, random_vector(&rng, 4.0), random_vector(&rng, 1.0));
    int driven[] = {add_fixed(&s, CAPSULE, talus_vec3(0.2, 0.1, 1.0)),
                    add_fixed(&s, SPHERE, talus_vec3(-0.8, 0.1, 0.6)),
                    add_fixed(&s, PLANE, talus_vec3(0, 0, -1.5)),
                    add_fixed(&s, HOUSE, talus_vec3(0, 0, -1.2)),
                    add_fixed(&s, VESSEL, talus_vec3(40.0, 0, 0))};
    for (int k = 0; k < 5; k++) {
        s.fixed[driven[k]] = 2;
        s.velocity[driven[k]] = talus_vec3(0.3, -0.2, 0.5 * k);
        s.spin[driven[k]] = talus_vec3(0.0, 0.1 * (driven[k] != driven[2]), 0.0);
    }
    add(&s, PLANE, 0.0, talus_vec3(0, 0, -1.6), talus_vec3(0, 0, 0));
    add(&s, SPHERE, 0.5, talus_vec3(40.0, 0, -2.49), talus_vec3(0, 0, 0));
    detect_scene(&s, 1, 60);
    scene_close(&s);
}

TEST(filters)
{
    NEEDS_CUDA();
    static Scene s;
    static uint8_t group[MAX_BODIES];
    uint32_t meets[32], excluded[40][2];
    TalusRng rng = talus_rng(7);
    open_scene(&s);
    add_bodies(&s, 80, 1.6, 0.0, &rng);
    for (int k = 0; k < 300; k++)
        add(&s, SPHERE, 0.1, random_vector(&rng, 3.2), random_vector(&rng, 1.0));
    add(&s, PLANE, 0.0, talus_vec3(0, 0, -1.0), talus_vec3(0, 0, 0));
    for (int k = 0; k < 32; k++)
        meets[k] = UINT32_MAX;
    for (int i = 0; i < s.view.count; i++)
        group[i] = (uint8_t)(i % 5);
    meets[1] &= ~(1u << 3 | 1u << 1);
    meets[3] &= ~(1u << 1);
    for (uint32_t k = 0; k < 40; k++) {
        excluded[k][0] = 2 * k;
        excluded[k][1] = (uint32_t)s.view.count - 1 - (k % 3);
    }
    TalusFilter filter = {group, meets, (const uint32_t(*)[2])excluded, 40};
    Both b;
    if (open_both(&b, &s)) {
        detect(&b, &s);
        int all = b.device.count, spheres = b.device.sphere_sphere;
        s.view.filter = &filter;
        detect_thrice(&b, &s);
        CHECK(b.device.count < all && b.device.sphere_sphere < spheres && b.device.count > all / 2);
        s.view.filter = NULL;
        detect(&b, &s);
    }
    close_both(&b);
    scene_close(&s);
}

int main(void)
{
    cuda = talus_backend_find("cuda");
    RUN(all_kinds_among_themselves);
    RUN(on_a_plane_and_on_large_bodies);
    RUN(on_a_mesh);
    RUN(on_a_field);
    RUN(driven_bodies);
    RUN(filters);
    return cuda_test_result();
}

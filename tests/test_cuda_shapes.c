/* Detection on the device with every kind of shape: the host's contacts to the bit, with impulses carried over;
 * and with filters and driven bodies. */
#include "shape_scene.h"

TEST(all_kinds_among_themselves)
{
    NEEDS_CUDA();
    static Scene s;
    TalusRng rng = talus_rng_from_seed(2);
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
    TalusRng rng = talus_rng_from_seed(3);
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
    TalusRng rng = talus_rng_from_seed(4);
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
    TalusRng rng = talus_rng_from_seed(5);
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
    TalusRng rng = talus_rng_from_seed(6);
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
    static uint16_t group[MAX_BODIES];
    uint32_t meets[32], excluded[40][2];
    TalusRng rng = talus_rng_from_seed(7);
    open_scene(&s);
    add_bodies(&s, 80, 1.6, 0.0, &rng);
    for (int k = 0; k < 300; k++)
        add(&s, SPHERE, 0.1, random_vector(&rng, 3.2), random_vector(&rng, 1.0));
    add(&s, PLANE, 0.0, talus_vec3(0, 0, -1.0), talus_vec3(0, 0, 0));
    for (int k = 0; k < 32; k++)
        meets[k] = UINT32_MAX;
    for (int i = 0; i < s.view.count; i++)
        group[i] = (uint16_t)(i % 5);
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

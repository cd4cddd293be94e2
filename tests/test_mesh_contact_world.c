/* Bodies that move over meshes: a tessellated plane is felt as a plane, walls hold what flies at them. */
#include "mesh_cases.h"

#include <talus/world.h>

static Soup soup;
static const TalusVec3 zero = {0.0, 0.0, 0.0};

static int add_shape(TalusWorld *world, const TalusShapeDef *def)
{
    int index = 0;
    CHECK_OK(talus_world_add_shape(world, def, &index));
    return index;
}

static void add_body(TalusWorld *world, int shape, TalusVec3 x, TalusVec3 v, TalusVec3 w,
                     TalusQuat e, bool fixed)
{
    TalusBodyBatch batch = talus_body_batch_default();
    TalusBodyId id;
    batch.count = 1;
    batch.shape = shape;
    batch.fixed = fixed;
    batch.position = &x;
    batch.velocity = &v;
    batch.spin = &w;
    batch.orientation = &e;
    CHECK_OK(talus_world_add_bodies(world, &batch, &id));
}

static TalusShapeDef soup_def(void)
{
    TalusShapeDef def = {.kind = TALUS_SHAPE_MESH,
                         .vertex = soup.vertex,
                         .vertex_count = soup.vertices,
                         .triangle = soup.triangle,
                         .triangle_count = soup.triangles};
    return def;
}

/* A world with a ground and one body on it, which the state of is kept. */
typedef struct Run {
    TalusWorld *world;
    TalusVec3 x, v, w;
} Run;

static void start(Run *run, const TalusShapeDef *ground, const TalusShapeDef *body, TalusVec3 x,
                  TalusVec3 v, TalusVec3 w)
{
    TalusWorldDef def = talus_world_def_default();
    TalusQuat e = {1.0, 0.0, 0.0, 0.2};
    def.step = 2e-3;
    def.tolerance = 1e-10;
    def.compliance = 0.01; /* shares the load of four corners, on which their friction depends */
    def.max_iterations = 100000;
    def.threads = 1;
    CHECK_OK(talus_world_create(&def, &run->world));
    CHECK_OK(talus_world_set_friction(run->world, 0, 0, 0.3));
    add_body(run->world, add_shape(run->world, ground), zero, zero, zero, upright, true);
    add_body(run->world, add_shape(run->world, body), x, v, w, talus_quat_normalize(e), false);
}

static void step(Run *run)
{
    TalusVec3 x[2], v[2], w[2];
    TalusBodyState state = {.position = x, .velocity = v, .spin = w};
    CHECK_OK(talus_world_step(run->world, NULL));
    talus_world_get_state(run->world, &state);
    run->x = x[1];
    run->v = v[1];
    run->w = w[1];
}

static double apart(TalusVec3 a, TalusVec3 b)
{
    return talus_norm(talus_sub(a, b));
}

/* The same motion on a plane and on triangles: rolling and sliding over a hundred seams. */
static void check_same_motion(const TalusShapeDef *body, TalusVec3 x, TalusVec3 v, TalusVec3 w,
                              double tolerance)
{
    const TalusShapeDef plane = {.kind = TALUS_SHAPE_PLANE};
    Run a, b;
    double most = 0.0;
    make_sheet(&soup, 40, 1.5, 0.6, 9, NULL);
    TalusShapeDef mesh = soup_def();
    start(&a, &plane, body, x, v, w);
    start(&b, &mesh, body, x, v, w);
    for (int k = 0; k < 400; k++) {
        step(&a);
        step(&b);
        most = fmax(most, fmax(apart(a.x, b.x), fmax(apart(a.v, b.v), apart(a.w, b.w))));
    }
    CHECK(a.x.x > x.x + 0.5);
    CHECK_NEAR(most, 0.0, tolerance);
    talus_world_destroy(a.world);
    talus_world_destroy(b.world);
}

TEST(ball_rolls_as_on_a_plane)
{
    const TalusShapeDef ball = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.1};
    check_same_motion(&ball, talus_vec3(-1.0, 0.13, 0.1), talus_vec3(2.0, 0.1, 0.0),
                      talus_vec3(0.0, 20.0, 0.0), 1e-9);
    check_same_motion(&ball, talus_vec3(-1.0, 0.0, 0.1), talus_vec3(2.0, 0.0, 0.0), zero, 1e-9);
}

TEST(box_slides_as_on_a_plane)
{
    const TalusShapeDef box = {.kind = TALUS_SHAPE_BOX, .half = {0.2, 0.15, 0.1}};
    check_same_motion(&box, talus_vec3(-1.0, 0.13, 0.1), talus_vec3(2.5, 0.1, 0.0),
                      talus_vec3(0.0, 0.0, 1.0), 1e-8);
}

/* A ball at 40 m/s, 80 times its radius in a step, does not pass a sheet; nor does one from behind. */
TEST(thin_wall_holds)
{
    make_sheet(&soup, 20, 2.0, 0.6, 3, NULL);
    TalusShapeDef mesh = soup_def();
    const TalusShapeDef body[2] = {{.kind = TALUS_SHAPE_SPHERE, .radius = 1e-3},
                                   {.kind = TALUS_SHAPE_BOX, .half = {2e-3, 1e-3, 1e-3}}};
    for (int k = 0; k < 4; k++) {
        Run run;
        double side = k & 1 ? -1.0 : 1.0;
        start(&run, &mesh, &body[k / 2], talus_vec3(0.1, 0.2, 0.35 * side),
              talus_vec3(1.0, 0.0, -40.0 * side), talus_vec3(3.0, 2.0, 1.0));
        for (int i = 0; i < 8; i++)
            step(&run);
        CHECK(side * run.x.z > 0.0);
        CHECK(fabs(run.x.z) < 0.3);
        talus_world_destroy(run.world);
    }
}

int main(void)
{
    RUN(ball_rolls_as_on_a_plane);
    RUN(box_slides_as_on_a_plane);
    RUN(thin_wall_holds);
    return talus_test_result();
}

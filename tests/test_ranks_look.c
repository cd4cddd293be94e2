/* Worlds on several ranks: queries give every rank what they give one. */
#include "ranks_world.h"

enum { LOOKS = 4, STEPS = 5, RANKS = 5, ROOM = 2000 };

/* A body as callers see it, without padding. */
typedef struct Seen {
    TalusBodyId id;
    TalusVec3 position, velocity, spin;
    TalusQuat orientation;
    double radius, mass, force;
    int64_t shape, material, tag, touching, fixed;
} Seen;

/* All that a query gives. */
typedef struct Look {
    int64_t bodies, contacts, strong;
    Seen body[ROOM];
    TalusContactState contact[8 * ROOM];
    TalusForceSummary forces;
    TalusOverlap overlap;
} Look;

static int compare_seen(const void *a, const void *b)
{
    const uint64_t x = ((const Seen *)a)->id.number, y = ((const Seen *)b)->id.number;
    return (x > y) - (x < y);
}

/* Fills the bodies of a look, by ascending ids: one rank has them in the order of slots. */
static TalusStatus look_at_bodies(const TalusWorld *world, Look *look)
{
    enum { N = ROOM };
    static _Thread_local TalusBodyId id[N];
    static _Thread_local TalusVec3 position[N], velocity[N], spin[N];
    static _Thread_local TalusQuat orientation[N];
    static _Thread_local double radius[N], mass[N], force[N];
    static _Thread_local int shape[N], material[N], tag[N], touching[N];
    static _Thread_local bool fixed[N];
    TalusBodyState state = {.id = id,
                            .position = position,
                            .velocity = velocity,
                            .spin = spin,
                            .orientation = orientation,
                            .radius = radius,
                            .mass = mass,
                            .shape = shape,
                            .material = material,
                            .tag = tag,
                            .fixed = fixed};
    look->bodies = talus_world_body_count(world);
    talus_world_get_state(world, &state);
    TalusStatus status = talus_world_get_forces(world, force, touching, &look->forces);
    for (int i = 0; i < look->bodies; i++) {
        Seen *s = &look->body[i];
        s->id = id[i];
        s->position = position[i];
        s->velocity = velocity[i];
        s->spin = spin[i];
        s->orientation = orientation[i];
        s->radius = radius[i];
        s->mass = mass[i];
        s->force = force[i];
        s->shape = shape[i];
        s->material = material[i];
        s->tag = tag[i];
        s->touching = touching[i];
        s->fixed = fixed[i];
    }
    qsort(look->body, (size_t)look->bodies, sizeof *look->body, compare_seen);
    return status;
}

static TalusStatus look_at_world(const TalusWorld *world, Look *look)
{
    TalusForceSummary alone;
    TalusStatus status = look_at_bodies(world, look);
    look->contacts = talus_world_get_contacts(world, look->contact, 8 * ROOM);
    look->strong = talus_world_get_strong_contacts(world, 3.0 * look->forces.mean_impulse, NULL, 0);
    status = status == TALUS_OK ? talus_world_get_forces(world, NULL, NULL, &alone) : status;
    CHECK(status != TALUS_OK || memcmp(&alone, &look->forces, sizeof alone) == 0);
    return status == TALUS_OK ? talus_world_worst_overlap(world, &look->overlap) : status;
}

/* Adds boxes, each half inside a sphere. */
static TalusStatus add_boxes(TalusWorld *world)
{
    const TalusShapeDef shape = {.kind = TALUS_SHAPE_BOX, .half = {0.008, 0.006, 0.005}};
    TalusBodyBatch batch = talus_body_batch_default();
    TalusVec3 position[20];
    for (int k = 0; k < 20; k++)
        position[k] = (TalusVec3){0.02 + 0.009 * k, 0.03 + 0.008 * k, 0.02 + 0.01 * k};
    batch.count = 20;
    batch.tag = 7;
    batch.position = position;
    batch.density = 1000.0;
    TalusStatus status = talus_world_add_shape(world, &shape, &batch.shape);
    return status == TALUS_OK ? talus_world_add_bodies(world, &batch, NULL) : status;
}

/* A heap with boxes, from which bodies have been removed so that slots are used again. */
static TalusStatus make_mixed_heap(TalusWorldDef *def, TalusWorld **world)
{
    TALUS_TRY(make_heap(def, world));
    for (uint64_t k = 10; k < 800; k += 37)
        TALUS_TRY(talus_world_remove_body(*world, (TalusBodyId){k}));
    return add_boxes(*world);
}

typedef struct Looks {
    int threads;
    Look (*look)[LOOKS]; /* [ranks] */
} Looks;

/* Looks at the start, after steps, after bodies have been added and removed, and after the worst overlap is excluded. */
static TalusStatus look_around(TalusComm *comm, void *context)
{
    Looks *looks = context;
    Look *look = looks->look[talus_comm_rank(comm)];
    TalusWorldDef def = talus_world_def_default();
    TalusWorld *world = NULL;
    def.comm = comm;
    def.threads = looks->threads;
    def.solver = "apgd";
    TalusStatus status = make_mixed_heap(&def, &world);
    status = status == TALUS_OK ? look_at_world(world, &look[0]) : status;
    for (int k = 0; k < STEPS && status == TALUS_OK; k++)
        status = talus_world_step(world, NULL);
    status = status == TALUS_OK ? look_at_world(world, &look[1]) : status;
    status = status == TALUS_OK ? add_boxes(world) : status;
    for (uint64_t k = 20; k < 900 && status == TALUS_OK; k += 53)
        if (k % 37 != 10) /* not removed before */
            status = talus_world_remove_body(world, (TalusBodyId){k});
    status = status == TALUS_OK ? look_at_world(world, &look[2]) : status;
    if (status == TALUS_OK)
        status = talus_world_exclude(world, look[2].overlap.a, look[2].overlap.b);
    status = status == TALUS_OK ? look_at_world(world, &look[3]) : status;
    uint64_t hash = 0;
    if (status == TALUS_OK) {
        status = talus_world_step(world, NULL); /* looking has changed nothing */
        hash = talus_world_hash(world);
    }
    look[3].strong ^= (int64_t)hash;
    talus_world_destroy(world);
    return status;
}

static void compare_overlaps(const TalusOverlap *a, const TalusOverlap *one)
{
    CHECK_INT(a->a.number, one->a.number);
    CHECK_INT(a->b.number, one->b.number);
    CHECK(a->depth == one->depth && a->size == one->size);
    CHECK_INT(a->pairs, one->pairs);
}

static void compare_looks(const Look *a, const Look *one)
{
    CHECK_INT(a->bodies, one->bodies);
    CHECK_INT(a->contacts, one->contacts);
    CHECK_INT(a->strong, one->strong);
    CHECK(memcmp(a->body, one->body, sizeof *a->body * (size_t)one->bodies) == 0);
    CHECK(memcmp(a->contact, one->contact, sizeof *a->contact * (size_t)one->contacts) == 0);
    CHECK(memcmp(&a->forces, &one->forces, sizeof a->forces) == 0);
    compare_overlaps(&a->overlap, &one->overlap);
}

TEST(every_rank_sees_bodies_contacts_forces_and_the_worst_overlap_of_all)
{
    const RanksGrid *grid = SANITIZED ? &sanitized_grid : &usual_grid;
    Look(*one)[LOOKS] = calloc(1, sizeof *one), (*look)[LOOKS] = calloc(RANKS, sizeof *look);
    Looks looks = {1, one};
    CHECK_OK(talus_ranks_run(1, look_around, &looks));
    CHECK(one[0][0].overlap.pairs > 5 && one[0][1].contacts > 500 && one[0][2].contacts > 400);
    for (int g = 1; g < grid->count; g++) {
        looks = (Looks){grid->threads[g], look};
        CHECK_OK(talus_ranks_run(grid->ranks[g], look_around, &looks));
        for (int k = 0; k < LOOKS * grid->ranks[g]; k++)
            compare_looks(&look[k / LOOKS][k % LOOKS], &one[0][k % LOOKS]);
    }
    free(one);
    free(look);
}

/* ---- inside a mesh ---- */

/* A closed box as a mesh around some of the spheres of a lattice. */
static TalusStatus make_buried(const TalusWorldDef *def, TalusWorld **world)
{
    static const TalusVec3 corner[8] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0},
                                        {0, 0, 1}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}};
    static const int32_t triangle[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                         2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
    const TalusShapeDef mesh = {.kind = TALUS_SHAPE_MESH,
                                .vertex = corner,
                                .vertex_count = 8,
                                .triangle = triangle,
                                .triangle_count = 12};
    const Grains grains = heap_of_spheres(0.0);
    TALUS_TRY(talus_world_create(def, world));
    TALUS_TRY(add_fixed(*world, &mesh, talus_vec3(-0.4, -0.4, -0.4), talus_quat_identity(), NULL));
    return add_grains(*world, &grains, NULL);
}

static TalusStatus look_inside(TalusComm *comm, void *context)
{
    TalusOverlap *overlap = context;
    TalusWorldDef def = talus_world_def_default();
    TalusWorld *world = NULL;
    def.comm = comm;
    def.threads = 1;
    TalusStatus status = make_buried(&def, &world);
    if (status == TALUS_OK)
        status = talus_world_worst_overlap(world, &overlap[talus_comm_rank(comm)]);
    talus_world_destroy(world);
    return status;
}

TEST(bodies_inside_a_mesh_of_another_rank_are_found)
{
    TalusOverlap one = {0}, overlap[RANKS] = {0};
    CHECK_OK(talus_ranks_run(1, look_inside, &one));
    CHECK_OK(talus_ranks_run(RANKS, look_inside, overlap));
    CHECK(one.depth > 0.1);
    for (int r = 0; r < RANKS; r++)
        compare_overlaps(&overlap[r], &one);
}

int main(void)
{
    RUN(every_rank_sees_bodies_contacts_forces_and_the_worst_overlap_of_all);
    RUN(bodies_inside_a_mesh_of_another_rank_are_found);
    return talus_test_result();
}

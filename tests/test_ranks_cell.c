/* A periodic cell that deforms on several ranks: the bits of one rank in each step and in saved states, and a halo that
 * serves while the cell moves. */
#include "ranks_world.h"

#include "base/memory.h"
#include "base/rng.h"
#include "world/save/save.h"
#include "world/state.h"

enum { STEPS = SANITIZED ? 8 : 24, SLOW_STEPS = 60 };

/* ---- worlds ---- */

/* Makes a cell with lower corner off the origin, for `slabs` lattices along x. */
static TalusStatus open_cell(TalusWorldDef *def, const Grains *g, int slabs, TalusWorld **world)
{
    const TalusVec3 lo = {-0.05, 0.02, 0.0};
    const TalusVec3 sides = {slabs * g->across[0] * g->spacing, g->across[1] * g->spacing,
                             g->across[2] * g->spacing};
    TalusPairDef pair = talus_pair_def_default();
    pair.friction = 0.5;
    def->gravity = talus_vec3(0.0, 0.0, 0.0);
    def->period = (TalusPeriod){lo, talus_add(lo, sides), {1, 1, 1}, 0.0};
    def->cell.on = true;
    TALUS_TRY(talus_world_create(def, world));
    return talus_world_set_pair(*world, 0, 0, &pair);
}

/* Fills the cell. Ranks own bodies with numbers near each other: of several slabs, pieces along x; of one, layers. */
static TalusStatus fill_cell(TalusWorld *world, const Grains *grains, int slabs)
{
    Grains g = *grains;
    g.lo = talus_world_period(world).lo;
    for (int k = 0; k < slabs; k++, g.lo.x += g.across[0] * g.spacing)
        TALUS_TRY(add_grains(world, &g, NULL));
    return TALUS_OK;
}

static TalusStatus make_cell(TalusWorldDef *def, const Grains *grains, TalusWorld **world)
{
    TALUS_TRY(open_cell(def, grains, 1, world));
    return fill_cell(*world, grains, 1);
}

static Grains spheres(double spread)
{
    return (Grains){.shape = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.01},
                    .across = {12, 9, 10},
                    .spacing = 0.0205,
                    .radius = 0.01,
                    .speed = 0.05,
                    .spread = spread,
                    .spin = 3.0};
}

/* A shear strain of 0.04 in a step: 0.96 in all, so that the tilt jumps back by a period. */
static TalusStatus make_sheared(TalusWorldDef *def, TalusWorld **world)
{
    const Grains grains = spheres(0.1);
    def->step = 2e-3;
    def->reference_speed = 0.02;
    def->cell.rate = (TalusGradient){-1.0, 0.3, -1.0, 20.0};
    return make_cell(def, &grains, world);
}

/* Rates follow sums over contacts and bodies. */
static TalusStatus make_pressed(TalusWorldDef *def, TalusWorld **world)
{
    const Grains grains = spheres(0.3);
    def->step = 5e-4;
    def->reference_speed = 0.02;
    def->cell.rate = (TalusGradient){0.0, 0.0, -14.0, -30.0};
    for (int k = 0; k < 3; k++) {
        def->cell.control[k] = k != 2;
        def->cell.pressure[k] = 1000.0;
    }
    return make_cell(def, &grains, world);
}

/* Contacts of several points, which redetection looks for one by one. */
static TalusStatus make_boxes(TalusWorldDef *def, TalusWorld **world)
{
    const Grains grains = {.shape = {.kind = TALUS_SHAPE_BOX, .half = {0.01, 0.008, 0.006}},
                           .across = {8, 5, 7},
                           .spacing = 0.0225,
                           .radius = 0.01,
                           .speed = 0.3,
                           .spin = 10.0};
    def->step = 2e-3;
    def->reference_speed = 0.02;
    def->cell.rate = (TalusGradient){-3.0, -3.0, -3.0, -8.0};
    return make_cell(def, &grains, world);
}

/* A cell along which ranks own pieces. It has a tilt when the bodies come, so that what is above a piece is far from it: later
 * each rank's bodies lean as the cell does. */
static TalusStatus make_flat(TalusWorldDef *def, TalusWorld **world)
{
    Grains grains = spheres(0.0);
    grains.across[0] = 2;
    grains.across[1] = grains.across[2] = 5;
    grains.spacing = 0.022;
    def->step = 2e-3;
    def->reference_speed = 0.02;
    def->cell.rate.xy = 400.0;
    TALUS_TRY(open_cell(def, &grains, 24, world));
    for (int k = 0; k < 3; k++)
        TALUS_TRY(talus_world_step(*world, NULL));
    TALUS_TRY(talus_world_set_cell_rate(*world, (TalusGradient){-1.0, 0.0, 0.0, 40.0}));
    return fill_cell(*world, &grains, 24);
}

/* Contacts under load after a few steps. */
static TalusStatus make_dense(TalusWorldDef *def, TalusWorld **world)
{
    Grains grains = spheres(0.0);
    grains.across[0] = 8;
    grains.across[1] = grains.across[2] = 6;
    grains.spacing = 0.0202;
    def->step = 2e-3;
    def->reference_speed = 0.02;
    def->cell.rate = (TalusGradient){-2.0, -2.0, -2.0, 10.0};
    return make_cell(def, &grains, world);
}

static TalusStatus make_slow(TalusWorldDef *def, TalusWorld **world)
{
    TALUS_TRY(make_sheared(def, world));
    return talus_world_set_cell_rate(*world, (TalusGradient){0.0, 0.0, 0.0, 1.0});
}

/* ---- steps ---- */

TEST(spheres_in_shear_thread)
{
    const RanksCase of = {.name = "sheared", .make = make_sheared, .steps = STEPS};
    const TalusStepInfo last = compare_ranks(&of);
    CHECK(!is_first_process() || SANITIZED || last.contacts > 1000);
}

TEST(controlled_pressures_thread)
{
    const RanksCase of = {.name = "pressed", .make = make_pressed, .steps = 18};
    const TalusStepInfo last = compare_ranks(&of);
    CHECK(!is_first_process() || SANITIZED || last.contacts > 200);
}

TEST(boxes_in_shear_thread)
{
    const RanksCase of = {.name = "boxes", .make = make_boxes, .steps = 10};
    const TalusStepInfo last = compare_ranks(&of);
    CHECK(!is_first_process() || SANITIZED || last.contacts > 500);
}

TEST(a_flat_cell_thread)
{
    const RanksCase of = {.name = "flat", .make = make_flat, .steps = 14};
    const TalusStepInfo last = compare_ranks(&of);
    CHECK(!is_first_process() || SANITIZED || last.contacts > 1000);
}

/* Sweeps, in parts, and a method that has the whole problem on one rank: each has slips in a place of its own. */
TEST(solvers_see_the_same_slip_thread)
{
    static const char *const solver[] = {"gs-coulomb:order=forward", "gs-coulomb:order=coloured",
                                         "apgd"};
    static const RanksGrid grid = {2, {1, 3}, {1, 1}};
    for (int k = 0; k < 3; k++) {
        const RanksCase of = {
            .name = solver[k], .make = make_dense, .solver = solver[k], .steps = 5, .grid = &grid};
        const TalusStepInfo last = compare_ranks(&of);
        CHECK(!is_first_process() || last.overlap.loaded > 100);
    }
}

/* ---- the halo ---- */

/* What a run gave on rank 0. */
typedef struct HaloRun {
    uint64_t hash;
    int64_t searches;
    double shear;
} HaloRun;

static TalusStatus run_slow(TalusComm *comm, void *context)
{
    TalusWorldDef def = talus_world_def_default();
    TalusWorld *world = NULL;
    def.comm = comm;
    def.threads = 1;
    TalusStatus status = make_slow(&def, &world);
    for (int k = 0; status == TALUS_OK && k < SLOW_STEPS; k++)
        status = talus_world_step(world, NULL);
    const uint64_t hash = status == TALUS_OK ? talus_world_hash(world) : 0;
    if (status == TALUS_OK && talus_comm_rank(comm) == 0)
        *(HaloRun *)context = (HaloRun){hash, world->ranks.searches, talus_world_cell(world).shear};
    talus_world_destroy(world);
    return status;
}

/* Images across the cell move by 22 mm, more than a grain, and bodies with them by up to 11 mm, far beyond their skins. */
TEST(a_cell_that_moves_keeps_its_halo_thread)
{
    HaloRun one = {0}, three = {0};
    CHECK_OK(talus_ranks_run(1, run_slow, &one));
    CHECK_OK(talus_ranks_run(3, run_slow, &three));
    CHECK(one.hash != 0 && one.hash == three.hash);
    CHECK_NEAR(three.shear, 0.12, 1e-12);
    CHECK(three.searches >= 1);
    CHECK(three.searches <= SLOW_STEPS / 7);
}

/* Whatever the deformation: points that are near each other now were no further apart then than `stretch` allows, and a
 * body that moves with the cell, or its image, has not moved. */
TEST(space_since_the_halo)
{
    TalusRng rng = talus_rng_from_seed(4);
    const TalusVec3 centre = {0.5, 1.0, 0.4};
    double tightest = 0.0;
    for (int k = 0; k < 2000; k++) {
        double u[7];
        for (int i = 0; i < 7; i++)
            u[i] = talus_rng_uniform(&rng) - 0.5;
        const TalusGradient rate = {u[0], u[1], 0.1 * u[2], 3.0 * u[3]};
        TalusCell cell = {
            .period = {{0, 0, 0}, {1, 2, 0.8}, {1, 1, 1}, u[4]}, .centre = centre, .now = rate};
        const TalusPeriod then = cell.period;
        talus_move_cell(&cell, 0.4);
        const TalusReachSpace space = talus_reach_space(&then, &cell.period, centre);
        TalusVec3 x = {u[5] + 0.5, 2.0 * u[6] + 1.0, 0.3};
        const TalusReach was = {.position = x, .length = 0.1, .id = 1};
        /* the cell's own deformation, which may be the space's but for a period */
        x = talus_add(x, talus_scale(0.4, talus_flow_at(&rate, centre, x)));
        if (fabs(0.4 * rate.xy * 2.0) < 0.4)
            CHECK_NEAR(talus_norm(talus_reach_moved(&space, &was, x)), 0.0, 1e-14);
        const TalusVec3 image = talus_period_vector(&cell.period, talus_vec3(2, -1, 1));
        CHECK_NEAR(talus_norm(talus_sub(talus_reach_moved(&space, &was, talus_add(x, image)),
                                        talus_reach_moved(&space, &was, x))),
                   0.0, 1e-13);
        for (int i = 0; i < 8; i++) {
            const TalusVec3 d = {talus_rng_uniform(&rng) - 0.5, talus_rng_uniform(&rng) - 0.5,
                                 talus_rng_uniform(&rng) - 0.5};
            const TalusVec3 moved = talus_add(d, talus_gradient_velocity(&space.strain, d));
            const double ratio = talus_norm(d) / talus_norm(moved);
            CHECK(ratio <= space.stretch * (1.0 + 1e-14));
            tightest = fmax(tightest, ratio / space.stretch);
        }
    }
    CHECK(tightest > 0.999);
}

/* ---- saved states ---- */

/* Bytes of a state, which ranks load together. */
typedef struct Saved {
    const void *start; /* NULL: a new world */
    size_t start_size, at;
    int steps;
    uint64_t hash;
    void *bytes; /* at the end */
    size_t size;
} Saved;

static TalusStatus get_bytes(void *context, void *bytes, size_t size)
{
    Saved *s = context;
    memcpy(bytes, (const char *)s->start + s->at, size);
    s->at += size;
    return TALUS_OK;
}

static TalusStatus begin(const Saved *s, TalusComm *comm, TalusWorld **world)
{
    Saved reading = *s;
    const TalusByteSource source = {get_bytes, &reading};
    const TalusLoadDef load = {.threads = 1, .comm = comm};
    const bool first = talus_comm_rank(comm) == 0;
    TalusWorldDef def = talus_world_def_default();
    def.comm = comm;
    def.threads = 1;
    if (!s->start)
        return make_pressed(&def, world);
    return talus_world_load_from(first ? &source : NULL, first ? s->start_size : 0, &load, world);
}

static TalusStatus run_and_save(TalusComm *comm, void *context)
{
    Saved *s = context;
    TalusWorld *world = NULL;
    void *bytes = NULL;
    size_t size = 0;
    TalusStatus status = begin(s, comm, &world);
    for (int k = 0; status == TALUS_OK && k < s->steps; k++)
        status = talus_world_step(world, NULL);
    const uint64_t hash = status == TALUS_OK ? talus_world_hash(world) : 0;
    TALUS_THEN(status, talus_world_save(world, &bytes, &size));
    if (talus_comm_rank(comm) == 0) {
        s->hash = hash;
        s->bytes = bytes;
        s->size = size;
    } else {
        talus_free(bytes);
    }
    talus_world_destroy(world);
    return status;
}

static Saved run_on(int ranks, Saved s)
{
    CHECK_OK(talus_ranks_run(ranks, run_and_save, &s));
    return s;
}

static void check_same(const Saved *a, const Saved *b)
{
    CHECK(a->hash == b->hash);
    CHECK_INT(a->size, b->size);
    CHECK(a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0);
}

/* A state of three ranks is that of one; two, five and one go on from it. */
TEST(other_ranks_go_on_from_a_saved_cell_thread)
{
    static const int ranks[3] = {2, 5, 1};
    Saved one = run_on(1, (Saved){.steps = 12}), three = run_on(3, (Saved){.steps = 12});
    check_same(&three, &one);
    const Saved state = {.start = three.bytes, .start_size = three.size, .steps = 8};
    Saved through = run_on(1, (Saved){.steps = 20});
    for (int k = 0; k < 3; k++) {
        Saved next = run_on(ranks[k], state);
        check_same(&next, &through);
        talus_free(next.bytes);
    }
    talus_free(through.bytes);
    talus_free(one.bytes);
    talus_free(three.bytes);
}

/* A whole world that is divided, and gathered again. */
TEST(a_cell_is_divided_and_gathered_thread)
{
    const RanksCase of = {.name = "parts", .make = make_pressed, .steps = 15};
    compare_parts(&of);
}

/* A step that fails on several ranks leaves the cell as it was, and the next one goes on with a halo that may be of a later
 * part. */
static TalusStatus fail_and_go_on(TalusComm *comm, void *context)
{
    TalusWorldDef def = talus_world_def_default();
    TalusWorld *world = NULL;
    TalusStatus expected = TALUS_ERR_TOLERANCE;
    def.comm = comm;
    def.threads = 1;
    def.on_miss = TALUS_MISS_STOP;
    TalusStatus status = make_sheared(&def, &world);
    for (int k = 0; status == TALUS_OK && k < 20; k++) {
        if (k % 5 == 4) {
            TALUS_THEN(status, talus_world_set_accuracy(world, 1e-14, 1));
            const TalusStatus missed = talus_world_step(world, NULL);
            expected = missed == TALUS_ERR_TOLERANCE ? expected : missed;
            TALUS_THEN(status, talus_world_set_accuracy(world, 1e-2, 1000));
        }
        TALUS_THEN(status, talus_world_step(world, NULL));
    }
    const uint64_t hash = status == TALUS_OK ? talus_world_hash(world) : 0;
    if (talus_comm_rank(comm) == 0) {
        CHECK_INT(expected, TALUS_ERR_TOLERANCE);
        *(uint64_t *)context = hash;
    }
    talus_world_destroy(world);
    return status;
}

TEST(failed_steps_leave_the_cell_thread)
{
    uint64_t one = 0, three = 1;
    CHECK_OK(talus_ranks_run(1, fail_and_go_on, &one));
    CHECK_OK(talus_ranks_run(3, fail_and_go_on, &three));
    CHECK(one != 0 && one == three);
}

int main(void)
{
    RUN(spheres_in_shear_thread);
    RUN(controlled_pressures_thread);
    RUN(boxes_in_shear_thread);
    RUN(a_flat_cell_thread);
    RUN(solvers_see_the_same_slip_thread);
    RUN(a_cell_that_moves_keeps_its_halo_thread);
    RUN(space_since_the_halo);
    RUN(other_ranks_go_on_from_a_saved_cell_thread);
    RUN(a_cell_is_divided_and_gathered_thread);
    RUN(failed_steps_leave_the_cell_thread);
    return talus_test_result();
}

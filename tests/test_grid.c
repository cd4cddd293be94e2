/* collide/grid.h: the choice of the grid does not depend on the slots of bodies. tests/test_collide.c has what is found
 * in it. */

#include "collide_scene.h"

#include "base/memory.h"
#include "collide/grid.h"

/* Moves the bodies of `from` to random slots of `to`, with their ids, among slots without bodies. The id of a body is
 * its slot in `from`, plus 1; dead slots have the ids of bodies that are gone. */
static void scatter(const Scene *from, Scene *to, uint64_t *id, int slots, uint64_t seed)
{
    TalusRng rng = talus_rng_from_seed(seed);
    static int slot[MAX_BODIES];
    scene_open(to);
    for (int k = 0; k < slots; k++)
        slot[k] = k;
    for (int k = slots - 1; k > 0; k--) {
        int other = (int)talus_rng_below(&rng, (uint64_t)k + 1), swap = slot[k];
        slot[k] = slot[other];
        slot[other] = swap;
    }
    for (int k = 0; k < slots; k++) {
        int i = slot[k];
        id[i] = (uint64_t)k + 1;
        to->shape_of[i] = -1;
        if (k >= from->view.count)
            continue;
        to->position[i] = from->position[k];
        to->velocity[i] = from->velocity[k];
        to->orientation[i] = from->orientation[k];
        to->spin[i] = from->spin[k];
        to->radius[i] = from->radius[k];
        to->size[i] = from->size[k];
        to->shape_of[i] = from->shape_of[k];
        to->fixed[i] = from->fixed[k];
    }
    to->view.count = slots;
    to->view.id = id;
}

static TalusGrid build(const Scene *s)
{
    TalusGrid grid = {0};
    TalusScratch scratch = {0};
    CHECK_OK(talus_grid_build(&grid, NULL, &scratch, &s->view, &s->options, false));
    talus_release(scratch.block);
    talus_sorter_clear(&scratch.sorter);
    return grid;
}

static bool same_vectors(TalusVec3 a, TalusVec3 b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static void check_same_grid(const TalusGrid *a, const TalusGrid *b)
{
    CHECK_INT(a->sampled, b->sampled);
    CHECK(same_vectors(a->drift, b->drift));
    CHECK(same_vectors(a->low, b->low) && same_vectors(a->high, b->high));
    CHECK(a->unit == b->unit && a->edge_factor == b->edge_factor && a->large == b->large);
    CHECK_INT(a->walls, b->walls);
    CHECK(a->members == b->members && a->cells == b->cells);
    if (CHECK_INT(a->levels, b->levels))
        CHECK(memcmp(a->level, b->level, (size_t)a->levels * sizeof *a->level) == 0);
}

/* All free bodies are sampled, or a part of them; bodies of several sizes move at up to 10 m/s in all directions. */
TEST(the_grid_does_not_depend_on_slots)
{
    static Scene plain, other;
    static uint64_t id[MAX_BODIES];
    const int count[] = {10, 40, 700, 1400, 3000};
    for (size_t k = 0; k < sizeof count / sizeof *count; k++) {
        scene_open(&plain);
        add_mixture(&plain, count[k]);
        TalusGrid expected = build(&plain);
        CHECK(expected.sampled > 0 && expected.sampled <= TALUS_GRID_SAMPLE);
        for (uint64_t seed = 1; seed <= 4; seed++) {
            int slots = seed == 1 ? plain.view.count : MAX_BODIES;
            scatter(&plain, &other, id, slots, seed);
            TalusGrid grid = build(&other);
            check_same_grid(&grid, &expected);
            talus_grid_clear(&grid);
            scene_close(&other);
        }
        talus_grid_clear(&expected);
        scene_close(&plain);
    }
}

/* The sample is a fair part of the free bodies, however few of the slots have one. */
TEST(the_sample_is_neither_empty_nor_full)
{
    static Scene s;
    for (int fixed_part = 2; fixed_part <= 5; fixed_part++) {
        int free_bodies = 0;
        scene_open(&s);
        for (int i = 0; i < MAX_BODIES; i++) {
            add(&s, SPHERE, 0.5, talus_vec3(i % 16, i / 16 % 16, i / 256), talus_vec3(0, 0, 0));
            s.fixed[i] = i % 6 < fixed_part;
            free_bodies += !s.fixed[i];
        }
        TalusGrid grid = build(&s);
        int expected = free_bodies <= TALUS_GRID_SAMPLE ? free_bodies : TALUS_GRID_SAMPLE * 3 / 4;
        CHECK_NEAR(grid.sampled, expected, free_bodies <= TALUS_GRID_SAMPLE ? 0.0 : 100.0);
        CHECK_NEAR(grid.low.z * grid.unit, 0.0, 1.0);
        CHECK_NEAR(grid.high.z * grid.unit, 15.0, 1.0);
        talus_grid_clear(&grid);
        scene_close(&s);
    }
}

/* Terms of any size: sums of rounded ones are the same in any order, and near the true sum. */
TEST(rounded_terms_add_up_exactly)
{
    enum { TERMS = TALUS_GRID_SAMPLE };
    static double x[TERMS];
    for (int size = -1060; size <= 1000; size += 20) {
        TalusRng rng = talus_rng_from_seed((uint64_t)(size + 2000));
        double largest = 0.0, up = 0.0, down = 0.0, plain = 0.0;
        for (int i = 0; i < TERMS; i++) {
            x[i] = ldexp(talus_rng_uniform(&rng) - 0.1, size - (int)talus_rng_below(&rng, 30));
            largest = fmax(largest, fabs(x[i]));
            plain += x[i];
        }
        double rounder = talus_term_rounder(largest);
        for (int i = 0; i < TERMS; i++) {
            up += talus_round_term(x[i], rounder);
            down += talus_round_term(x[TERMS - 1 - i], rounder);
        }
        CHECK(up == down);
        CHECK_NEAR(up, plain, ldexp(largest, -30));
    }
}

/* Of bodies that all have the same x, the rounded mean may lie beyond all of them. */
TEST(a_level_has_three_cells_along_each_axis)
{
    TalusLevel level = {.edge = 0.5, .per_edge = 2.0, .bodies = 7};
    talus_lay_out_level(&level, talus_vec3(1.0, 0.0, 0.0), talus_vec3(1.0 - 0x1p-53, 0.0, 3.0));
    CHECK_INT(level.cells[0], 3);
    CHECK_INT(level.cells[1], 3);
    CHECK(level.cells[2] >= 3);
}

int main(void)
{
    RUN(the_grid_does_not_depend_on_slots);
    RUN(the_sample_is_neither_empty_nor_full);
    RUN(rounded_terms_add_up_exactly);
    RUN(a_level_has_three_cells_along_each_axis);
    return talus_test_result();
}

/* The cells by which ranks ask each other for bodies (world/ranks/cells.h). */
#include "world/ranks/cells.h"

#include "base/rng.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BODIES = 2000, LARGE_AT = 4 };

static TalusReachBox random_box(TalusRng *rng, double side, double width)
{
    const double x = side * talus_rng_uniform(rng), y = side * talus_rng_uniform(rng),
                 z = side * talus_rng_uniform(rng);
    const double w = width * (0.5 + talus_rng_uniform(rng));
    return (TalusReachBox){{x - w, y - w, z - w}, {x + w, y + w, z + w}};
}

/* True if two intervals overlap, the second one moved by `by`. */
static bool meet(double a_lo, double a_hi, double b_lo, double b_hi, double by)
{
    return a_lo <= b_hi + by && b_lo + by <= a_hi;
}

/* True if two intervals overlap in space that repeats itself at `length`; 0: in space that does not. */
static bool meet_images(double a_lo, double a_hi, double b_lo, double b_hi, double length)
{
    for (int k = -3; k <= 3; k++)
        if (meet(a_lo, a_hi, b_lo, b_hi, k * length))
            return true;
    return false;
}

static bool boxes_meet(const TalusPeriod *p, const TalusReachBox *a, const TalusReachBox *b)
{
    const double length[3] = {p->on[0] ? p->hi.x - p->lo.x : 0.0,
                              p->on[1] ? p->hi.y - p->lo.y : 0.0,
                              p->on[2] ? p->hi.z - p->lo.z : 0.0};
    if (!meet_images(a->lo.z, a->hi.z, b->lo.z, b->hi.z, length[2]))
        return false;
    for (int k = -2; k <= 2; k++)
        if (meet(a->lo.y, a->hi.y, b->lo.y, b->hi.y, k * length[1]) &&
            meet_images(a->lo.x, a->hi.x, b->lo.x + k * p->tilt, b->hi.x + k * p->tilt, length[0]))
            return true;
    return false;
}

/* Marks the bodies of `of` that touch cells which `asking` asks for within `bounds`. */
static int64_t mark_asked(const TalusCellTable *asking, const TalusCellTable *of,
                          const TalusReachBox *bounds, uint8_t *asked)
{
    uint64_t *key = malloc(((size_t)asking->cells + 1) * sizeof *key);
    const int64_t cells = talus_cell_table_ask(asking, bounds, key);
    for (int64_t c = 0; c < cells; c++) {
        const int32_t *body = NULL;
        const int32_t count = talus_cell_table_find(of, key[c], &body);
        for (int32_t k = 0; k < count; k++)
            asked[body[k]] = 1;
    }
    free(key);
    return cells;
}

/* Bodies of one rank ask for those of another: all that they may touch come, and not many others. */
static void check_space(TalusPeriod period, double side)
{
    static TalusReachBox a[BODIES], b[BODIES];
    static uint8_t asked[BODIES];
    const TalusReachBox all = {{-side, -side, -side}, {2.0 * side, 2.0 * side, 2.0 * side}};
    TalusRng rng = talus_rng_from_seed(3);
    TalusCellTable asking = {.grid = talus_cell_grid_make(&period, 0.1)}, of = asking;
    int needed = 0, sent = 0;
    memset(asked, 0, sizeof asked);
    for (int i = 0; i < BODIES; i++) {
        a[i] = random_box(&rng, side, 0.02);
        b[i] = random_box(&rng, side, 0.02);
        CHECK_OK(talus_cell_table_add(&asking, i, i % LARGE_AT != 0, &a[i]));
        CHECK_OK(talus_cell_table_add(&of, i, false, &b[i]));
    }
    CHECK_OK(talus_cell_table_list(&asking));
    CHECK_OK(talus_cell_table_list(&of));
    CHECK(mark_asked(&asking, &of, &all, asked) > 0);
    for (int i = 0; i < BODIES; i++) {
        bool need = false;
        for (int k = 0; k < BODIES && !need; k++)
            need = k % LARGE_AT != 0 && boxes_meet(&period, &a[k], &b[i]);
        CHECK(!need || asked[i]);
        needed += need;
        sent += asked[i];
    }
    CHECK(needed > 100 && sent < BODIES && sent < 20 * needed);
    CHECK_INT(mark_asked(&of, &asking, &all, asked), 0); /* no body of `of` is free */
    talus_cell_table_clear(&asking);
    talus_cell_table_clear(&of);
}

TEST(bodies_that_may_touch_are_asked_for)
{
    check_space((TalusPeriod){0}, 2.0);
    check_space((TalusPeriod){{-1.0, 0.0, 0.0}, {1.03, 0.0, 1.9}, {1, 0, 1}, 0.0}, 2.0);
    for (int k = -2; k <= 2; k++) /* a sheared cell */
        check_space((TalusPeriod){{-1.0, 0.1, 0.0}, {1.03, 1.8, 1.9}, {1, 1, 1}, 0.507 * k}, 2.0);
}

/* Only cells within the bounds are asked for, along axes that do not repeat. */
TEST(cells_are_asked_for_within_bounds)
{
    const TalusPeriod period = {{0.0, 0.0, 0.0}, {0.0, 2.0, 0.0}, {0, 1, 0}, 0.0};
    const TalusReachBox body = {{0.0, 0.0, 0.0}, {0.95, 0.05, 0.05}};
    const TalusReachBox part = {{0.45, 1.0, -1.0}, {0.55, 1.0, 1.0}};
    const TalusReachBox away = {{0.0, 0.0, 0.5}, {1.0, 2.0, 1.0}};
    TalusCellTable t = {.grid = talus_cell_grid_make(&period, 0.1)};
    uint64_t key[32];
    CHECK_OK(talus_cell_table_add(&t, 0, true, &body));
    CHECK_OK(talus_cell_table_list(&t));
    CHECK_INT(t.cells, 10);
    CHECK_INT(talus_cell_table_ask(&t, &body, key), 10);
    CHECK_INT(talus_cell_table_ask(&t, &part, key), 2);
    CHECK_INT(talus_cell_table_ask(&t, &away, key), 0);
    talus_cell_table_clear(&t);
}

TEST(boxes_of_many_cells_are_large)
{
    const TalusPeriod period = {{0.0, 0.0, 0.0}, {2.0, 2.0, 2.0}, {1, 1, 0}, 0.0};
    const TalusCellGrid grid = talus_cell_grid_make(&period, 0.1);
    const TalusReachBox unbounded = {{-INFINITY, -INFINITY, -INFINITY},
                                     {INFINITY, INFINITY, INFINITY}};
    const TalusReachBox flat = {{-9.0, -9.0, 0.01}, {9.0, 9.0, 0.02}};
    const TalusReachBox small = {{0.01, 0.01, 0.01}, {0.22, 0.02, 0.12}};
    TalusCellRange range = talus_cells_of_box(&grid, &unbounded);
    CHECK_INT(talus_count_cells(&range), TALUS_MANY_CELLS);
    range = talus_cells_of_box(&grid, &flat);
    CHECK_INT(talus_count_cells(&range), 400);
    range = talus_cells_of_box(&grid, &small);
    CHECK_INT(talus_count_cells(&range), 6);
}

int main(void)
{
    RUN(bodies_that_may_touch_are_asked_for);
    RUN(cells_are_asked_for_within_bounds);
    RUN(boxes_of_many_cells_are_large);
    return talus_test_result();
}

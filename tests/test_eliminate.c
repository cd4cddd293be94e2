// Direct elimination of joints: the factorisation on rows, machine by machine.
#include "support/dense.h"
#include "support/test.h"

#include "base/memory.h"
#include "base/rng.h"
#include "linalg/eliminate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BODIES = 40, ROWS = 240 };

/* Rows with their bodies' inverse masses (1/m, then a full inverse inertia, 3 x 3). */
typedef struct Rows {
    int count, bodies;
    TalusJointRow row[ROWS];
    double mass[BODIES], spin[BODIES][9];
    TalusRng rng;
} Rows;

static double draw(Rows *r)
{
    return 2.0 * talus_rng_uniform(&r->rng) - 1.0;
}

static void start_rows(Rows *r, int bodies, uint64_t seed)
{
    memset(r, 0, sizeof *r);
    r->rng = talus_rng_from_seed(seed);
    r->bodies = bodies;
    for (int b = 0; b < bodies; b++) {
        double f[9];
        r->mass[b] = 0.2 + talus_rng_uniform(&r->rng);
        for (int k = 0; k < 9; k++)
            f[k] = draw(r);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                r->spin[b][3 * i + j] = i == j ? 0.3 : 0.0;
                for (int k = 0; k < 3; k++)
                    r->spin[b][3 * i + j] += f[3 * i + k] * f[3 * j + k];
            }
    }
}

static void fix_body(Rows *r, int body)
{
    r->mass[body] = 0.0;
    memset(r->spin[body], 0, sizeof r->spin[body]);
}

static void set_push(const Rows *r, int body, const double arm[6], double push[6])
{
    for (int k = 0; k < 3; k++) {
        push[k] = r->mass[body] * arm[k];
        push[3 + k] = 0.0;
        for (int l = 0; l < 3; l++)
            push[3 + k] += r->spin[body][3 * k + l] * arm[3 + l];
    }
}

/* The velocity of b at `at_b` from its centre less that of a at `at_a`, along `axis`. */
static void add_row(Rows *r, int a, int b, const double at_a[3], const double at_b[3],
                    const double axis[3], double compliance)
{
    TalusJointRow *row = &r->row[r->count++];
    memset(row, 0, sizeof *row);
    row->body[0] = a;
    row->body[1] = b;
    row->compliance = compliance;
    for (int side = 0; side < 2; side++) {
        const double *at = side ? at_b : at_a, sign = side ? 1.0 : -1.0;
        if (row->body[side] < 0)
            continue;
        for (int k = 0; k < 3; k++) {
            int l = (k + 1) % 3, m = (k + 2) % 3;
            row->arm[side][k] = sign * axis[k];
            row->arm[side][3 + k] = sign * (at[l] * axis[m] - at[m] * axis[l]);
        }
        set_push(r, row->body[side], row->arm[side], row->push[side]);
    }
}

/* `rows` of a ball joint at random places. */
static void add_ball(Rows *r, int a, int b, int rows, double compliance)
{
    double at_a[3], at_b[3];
    for (int k = 0; k < 3; k++) {
        at_a[k] = draw(r);
        at_b[k] = draw(r);
    }
    for (int k = 0; k < rows; k++)
        add_row(r, a, b, at_a, at_b, (const double[3]){k == 0, k == 1, k == 2}, compliance);
}

/* ---- densely ---- */

/* A = D' M^-1 D + E, n x n. */
static void dense(const Rows *r, double *a)
{
    int n = r->count;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = i == j ? r->row[i].compliance : 0.0;
            for (int s = 0; s < 2; s++)
                for (int t = 0; t < 2; t++)
                    if (r->row[i].body[s] >= 0 && r->row[i].body[s] == r->row[j].body[t])
                        for (int k = 0; k < 6; k++)
                            sum += r->row[i].arm[s][k] * r->row[j].push[t][k];
            a[i * n + j] = sum;
        }
}

static double largest(const double *x, int n)
{
    double most = 0.0;
    for (int i = 0; i < n; i++)
        most = isnan(x[i]) ? INFINITY : fmax(most, fabs(x[i]));
    return most;
}

/* D'v of every row. */
static double row_velocity(const TalusJointRow *row, double (*v)[8])
{
    double sum = 0.0;
    for (int side = 0; side < 2; side++)
        for (int k = 0; k < 3 && row->body[side] >= 0; k++)
            sum += row->arm[side][k] * v[row->body[side]][k] +
                   row->arm[side][3 + k] * v[row->body[side]][4 + k];
    return sum;
}

static TalusStatus factor(TalusElimination *e, const Rows *r, TalusPool *pool)
{
    TalusJointRow *row;
    TalusStatus status = talus_elimination_reserve_rows(e, r->count, &row);
    if (status != TALUS_OK)
        return status;
    memcpy(row, r->row, (size_t)r->count * sizeof *row);
    return talus_elimination_factor(e, pool, r->bodies);
}

/* Solutions and reduced inverse masses against dense ones. */
static void compare(Rows *r, TalusEliminationFacts *facts)
{
    TalusElimination *e;
    int n = r->count;
    double *a = malloc(sizeof(double) * (size_t)(n * n)), x[ROWS], y[ROWS];
    REQUIRE_OK(talus_elimination_create(&e));
    CHECK_OK(factor(e, r, NULL));
    for (int i = 0; i < n; i++)
        x[i] = y[i] = draw(r);
    talus_elimination_solve(e, x);
    dense(r, a);
    solve_dense(n, a, n, y);
    double size = largest(y, n);
    for (int i = 0; i < n; i++)
        y[i] -= x[i];
    CHECK(largest(y, n) <= 1e-10 * size);

    talus_elimination_invert(e);
    for (int b = 0; b < r->bodies; b++) {
        double inverse[36] = {0.0}, column[ROWS];
        int vertex = talus_elimination_body_vertices(e)[b];
        bool moved = false;
        if (vertex >= 0)
            memcpy(inverse, talus_elimination_reductions(e)[vertex], sizeof inverse);
        for (int c = 0; c < 6; c++) {
            for (int i = 0; i < n; i++)
                for (int s = 0; s < 2; s++)
                    if (s == 0 || r->row[i].body[1] == b) {
                        bool here = r->row[i].body[s] == b;
                        column[i] = here ? r->row[i].push[s][c] : s == 0 ? 0.0 : column[i];
                        moved = moved || (here && column[i] != 0.0);
                    }
            dense(r, a);
            solve_dense(n, a, n, column);
            for (int k = 0; k < 6; k++) {
                double sum = 0.0;
                for (int i = 0; i < n; i++)
                    for (int s = 0; s < 2; s++)
                        if (r->row[i].body[s] == b)
                            sum += r->row[i].push[s][k] * column[i];
                CHECK_NEAR(inverse[6 * k + c], sum, 1e-9);
            }
        }
        CHECK((vertex >= 0) == moved);
    }
    *facts = talus_elimination_facts(e);
    talus_elimination_destroy(e);
    free(a);
}

TEST(chain_and_world)
{
    static Rows r;
    TalusEliminationFacts facts;
    start_rows(&r, 12, 1);
    add_ball(&r, 0, -1, 3, 0.0);
    for (int b = 1; b < 12; b++)
        add_ball(&r, b - 1, b, 3, 0.0);
    compare(&r, &facts);
    CHECK_INT(facts.machines, 1);
    CHECK_INT(facts.redundant, 0);
    CHECK_INT(facts.entries, 12 * 9 + 11 * 9); /* no fill */
}

/* Joints of 1 to 9 rows, in any order, around a hub and along a loop that fits: fill, but few rows more than
 * a body has, so that all are independent. */
TEST(trees_and_loops)
{
    static Rows r;
    TalusEliminationFacts facts;
    for (uint64_t seed = 0; seed < 8; seed++) {
        start_rows(&r, 14, seed);
        for (int b = 1; b < 14; b++)
            add_ball(&r, (int)talus_rng_below(&r.rng, (uint64_t)b), b, 1 + (b + (int)seed) % 3,
                     0.0);
        for (int loop = 0; loop < 4; loop++)
            add_ball(&r, (int)talus_rng_below(&r.rng, 7), 7 + (int)talus_rng_below(&r.rng, 7), 1,
                     0.0);
        compare(&r, &facts);
        CHECK_INT(facts.machines, 1);
        CHECK_INT(facts.redundant, 0);
    }
}

/* A tree's joints all at one body, and a long chain, named from its middle: no fill either way. */
TEST(no_fill)
{
    static Rows r;
    TalusEliminationFacts facts;
    start_rows(&r, 9, 3);
    for (int b = 8; b > 0; b--)
        add_ball(&r, 0, b, 3, 0.0);
    compare(&r, &facts);
    CHECK_INT(facts.entries, 9 * (8 + 7 * 8 / 2));
    start_rows(&r, 40, 4);
    for (int k = 0; k < 39; k++) {
        int b = (k * 16 + 20) % 39;
        add_ball(&r, b, b + 1, 3, 0.0);
    }
    compare(&r, &facts);
    CHECK_INT(facts.entries, 39 * 9 + 38 * 9);
}

/* Rows named over and over between two bodies: more than a node holds, compliance making them independent. */
TEST(soft_rows)
{
    static Rows r;
    TalusEliminationFacts facts;
    start_rows(&r, 3, 5);
    for (int k = 0; k < 5; k++)
        add_ball(&r, 0, 1, 3, 0.01);
    add_ball(&r, 1, 2, 3, 0.0);
    compare(&r, &facts);
    CHECK_INT(facts.nodes, 4);
    CHECK_INT(facts.redundant, 0);
}

/* Two machines that meet at bodies which do not move are two; a row between such bodies has x = 0. */
TEST(separate_machines)
{
    static Rows r;
    TalusElimination *e;
    double x[ROWS], alone[ROWS];
    start_rows(&r, 8, 6);
    fix_body(&r, 3);
    fix_body(&r, 7);
    add_ball(&r, 0, 1, 3, 0.0);
    add_ball(&r, 4, 5, 3, 0.0);
    add_ball(&r, 1, 3, 3, 0.0);
    add_ball(&r, 3, 4, 3, 0.0);
    add_ball(&r, 3, 7, 2, 0.0);
    REQUIRE_OK(talus_elimination_create(&e));
    CHECK_OK(factor(e, &r, NULL));
    CHECK_INT(talus_elimination_facts(e).machines, 3);
    for (int i = 0; i < r.count; i++)
        x[i] = alone[i] = i + 1.0;
    talus_elimination_solve(e, x);
    CHECK(x[12] == 0.0 && x[13] == 0.0);
    r.count = 12;
    double *a = malloc(sizeof(double) * 144);
    dense(&r, a);
    solve_dense(12, a, 12, alone);
    for (int i = 0; i < 12; i++)
        CHECK_NEAR(x[i], alone[i], 1e-10 * largest(alone, 12));
    free(a);
    talus_elimination_destroy(e);
}

/* ---- redundant rows ---- */

/* A four-bar of hinges: planar, so that in space three of its twenty rows are redundant. */
static void add_hinge(Rows *r, int a, int b, const double at[3], double (*centre)[3])
{
    double at_a[3] = {0}, at_b[3] = {0}, second_a[3], second_b[3];
    for (int k = 0; k < 3; k++) {
        at_a[k] = a >= 0 ? at[k] - centre[a][k] : 0.0;
        at_b[k] = b >= 0 ? at[k] - centre[b][k] : 0.0;
        second_a[k] = at_a[k] + (k == 2);
        second_b[k] = at_b[k] + (k == 2);
    }
    for (int k = 0; k < 3; k++)
        add_row(r, a, b, at_a, at_b, (const double[3]){k == 0, k == 1, k == 2}, 0.0);
    for (int k = 0; k < 2; k++)
        add_row(r, a, b, second_a, second_b, (const double[3]){k == 0, k == 1, 0.0}, 0.0);
}

static void four_bar(Rows *r)
{
    double at[4][3] = {{0, 0, 0}, {0.3, 1.0, 0}, {1.9, 1.2, 0}, {2.0, 0, 0}}, centre[3][3];
    start_rows(r, 3, 7);
    for (int b = 0; b < 3; b++)
        for (int k = 0; k < 3; k++)
            centre[b][k] = 0.5 * (at[b][k] + at[b + 1][k]);
    add_hinge(r, -1, 0, at[0], centre);
    add_hinge(r, 0, 1, at[1], centre);
    add_hinge(r, 1, 2, at[2], centre);
    add_hinge(r, 2, -1, at[3], centre);
}

TEST(redundant_rows)
{
    static Rows r;
    TalusElimination *e;
    double v[3][8], before[3][8], x[ROWS];
    four_bar(&r);
    REQUIRE_OK(talus_elimination_create(&e));
    CHECK_OK(factor(e, &r, NULL));
    TalusEliminationFacts facts = talus_elimination_facts(e);
    CHECK_INT(facts.redundant, 1);
    CHECK(facts.rounds >= 1 && facts.rounds <= 3);
    for (int b = 0; b < 3; b++)
        for (int k = 0; k < 8; k++)
            v[b][k] = before[b][k] = draw(&r);
    talus_elimination_apply(e, false, v);
    talus_elimination_get_solution(e, x);
    double moved = 0.0;
    for (int i = 0; i < r.count; i++)
        CHECK_NEAR(row_velocity(&r.row[i], v), 0.0, 1e-13);
    for (int b = 0; b < 3;
         b++) /* one degree of freedom is left, and impulses are what changed it */
        for (int k = 0; k < 8; k++) {
            double push = 0.0;
            for (int i = 0; i < r.count && k % 4 < 3; i++)
                for (int s = 0; s < 2; s++)
                    if (r.row[i].body[s] == b)
                        push += r.row[i].push[s][k < 4 ? k : k - 1] * x[i];
            CHECK_NEAR(v[b][k], before[b][k] - push, 1e-12);
            moved = fmax(moved, k % 4 < 3 ? fabs(v[b][k]) : 0.0);
        }
    CHECK(moved > 0.01);
    talus_elimination_destroy(e);
}

/* A joint given twice: both carry half, but for what rounding does over the shift. */
TEST(redundant_rows_share)
{
    static Rows r;
    TalusElimination *e;
    double v[2][8], x[ROWS];
    start_rows(&r, 2, 11);
    add_ball(&r, 0, 1, 3, 0.0);
    memcpy(r.row + 3, r.row, 3 * sizeof *r.row);
    r.count = 6;
    REQUIRE_OK(talus_elimination_create(&e));
    CHECK_OK(factor(e, &r, NULL));
    for (int b = 0; b < 2; b++)
        for (int k = 0; k < 8; k++)
            v[b][k] = draw(&r);
    talus_elimination_apply(e, false, v);
    talus_elimination_get_solution(e, x);
    for (int k = 0; k < 3; k++) {
        CHECK_NEAR(x[k], x[3 + k], 1e-5 * largest(x, 6));
        CHECK_NEAR(row_velocity(&r.row[k], v), 0.0, 1e-14);
    }
    talus_elimination_destroy(e);
}

/* Lengths halved, masses kept: the same bits, halved where they are velocities. */
TEST(units_do_not_matter)
{
    static Rows r;
    double x[2][ROWS];
    int rounds[2];
    for (int k = 0; k < 2; k++) {
        TalusElimination *e;
        four_bar(&r);
        for (int i = 0; i < r.count && k; i++)
            for (int s = 0; s < 2; s++)
                for (int c = 3; c < 6; c++) {
                    r.row[i].arm[s][c] *= 0.5;
                    r.row[i].push[s][c] *= 2.0;
                }
        REQUIRE_OK(talus_elimination_create(&e));
        CHECK_OK(factor(e, &r, NULL));
        rounds[k] = talus_elimination_facts(e).rounds;
        for (int i = 0; i < r.count; i++)
            x[k][i] = k ? 0.5 * sin(i) : sin(i);
        talus_elimination_solve(e, x[k]);
        talus_elimination_destroy(e);
    }
    CHECK_INT(rounds[0], rounds[1]);
    for (int i = 0; i < r.count; i++)
        CHECK(0.5 * x[0][i] == x[1][i]);
}

/* With and without a row given twice, so that solutions are refined. */
static void check_apply(bool twice)
{
    static Rows r;
    TalusElimination *e;
    double v[4][8], x[ROWS];
    start_rows(&r, 4, 8);
    fix_body(&r, 3);
    add_ball(&r, 0, 1, 3, 0.0);
    add_ball(&r, 1, 2, 1, 0.7);
    add_ball(&r, 2, 3, 3, 0.0); /* a driven body: it has a velocity and keeps it */
    if (twice)
        r.row[r.count++] = r.row[1];
    for (int i = 0; i < r.count; i++)
        r.row[i].bias = i < 7 ? draw(&r) : r.row[1].bias;
    REQUIRE_OK(talus_elimination_create(&e));
    CHECK_OK(factor(e, &r, NULL));
    for (int b = 0; b < 4; b++)
        for (int k = 0; k < 8; k++)
            v[b][k] = draw(&r);
    double driven = v[3][0];
    talus_elimination_apply(e, true, v);
    talus_elimination_get_solution(e, x);
    for (int i = 0; i < r.count; i++)
        CHECK_NEAR(row_velocity(&r.row[i], v) + r.row[i].bias - r.row[i].compliance * x[i], 0.0,
                   1e-13);
    CHECK(v[3][0] == driven);
    talus_elimination_destroy(e);
}

TEST(offsets_and_compliance_in_apply)
{
    check_apply(false);
    check_apply(true);
}

/* ---- memory, threads, numbers that are none ---- */

TEST(keeps_memory_and_pattern)
{
    static Rows r;
    TalusElimination *e;
    start_rows(&r, 20, 9);
    for (int b = 1; b < 20; b++)
        add_ball(&r, b / 2, b, 3, 0.0);
    REQUIRE_OK(talus_elimination_create(&e));
    CHECK_OK(factor(e, &r, NULL));
    size_t held = talus_memory_now();
    talus_memory_reset_peak();
    CHECK_OK(factor(e, &r, NULL));
    talus_elimination_invert(e);
    CHECK(talus_memory_peak() == held);
    CHECK_INT(talus_elimination_facts(e).analyses, 1);
    fix_body(&r, 5);
    for (int i = 0; i < r.count; i++)
        for (int s = 0; s < 2; s++)
            if (r.row[i].body[s] == 5)
                memset(r.row[i].push[s], 0, sizeof r.row[i].push[s]);
    CHECK_OK(factor(e, &r, NULL));
    CHECK_INT(talus_elimination_facts(e).analyses, 2);
    CHECK_INT(talus_elimination_facts(e).machines, 3);
    r.row[4].push[0][1] = NAN;
    CHECK_INT(factor(e, &r, NULL), TALUS_ERR_NUMERIC);
    talus_elimination_destroy(e);
}

TEST(same_bits_for_any_threads)
{
    static Rows r;
    TalusElimination *e;
    TalusPool *pool;
    double x[2][ROWS], taken[2][BODIES][36];
    start_rows(&r, 40, 12);
    for (int b = 0; b < 40; b++)
        add_ball(&r, b, b % 4 ? b - 1 : -1, 3, 0.0);
    REQUIRE_OK(talus_elimination_create(&e));
    REQUIRE_OK(talus_pool_create(3, &pool));
    for (int k = 0; k < 2; k++) {
        CHECK_OK(factor(e, &r, k ? pool : NULL));
        CHECK_INT(talus_elimination_facts(e).machines, 10);
        talus_elimination_invert(e);
        for (int i = 0; i < r.count; i++)
            x[k][i] = sin(i);
        talus_elimination_solve(e, x[k]);
        for (int b = 0; b < 40; b++)
            memcpy(taken[k][b],
                   talus_elimination_reductions(e)[talus_elimination_body_vertices(e)[b]],
                   sizeof taken[k][b]);
    }
    CHECK(memcmp(x[0], x[1], sizeof(double) * (size_t)r.count) == 0);
    CHECK(memcmp(taken[0], taken[1], sizeof taken[0]) == 0);
    talus_pool_destroy(pool);
    talus_elimination_destroy(e);
}

TEST(fails_without_memory)
{
    static Rows r;
    start_rows(&r, 6, 10);
    for (int b = 1; b < 6; b++)
        add_ball(&r, b - 1, b, 3, 0.0);
    for (int n = 1; n < 60; n++) {
        TalusElimination *e = NULL;
        talus_fail_allocation_in(n);
        TalusStatus status = talus_elimination_create(&e);
        if (status == TALUS_OK)
            status = factor(e, &r, NULL);
        talus_fail_allocation_in(0);
        talus_elimination_destroy(status == TALUS_OK || e ? e : NULL);
        if (status == TALUS_OK)
            return;
        CHECK_INT(status, TALUS_ERR_MEMORY);
    }
    CHECK(!"an end");
}

int main(void)
{
    RUN(chain_and_world);
    RUN(trees_and_loops);
    RUN(no_fill);
    RUN(soft_rows);
    RUN(separate_machines);
    RUN(redundant_rows);
    RUN(redundant_rows_share);
    RUN(units_do_not_matter);
    RUN(offsets_and_compliance_in_apply);
    RUN(keeps_memory_and_pattern);
    RUN(same_bits_for_any_threads);
    RUN(fails_without_memory);
    return talus_test_result();
}

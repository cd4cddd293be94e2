/* Lemke's method on small linear complementarity problems: by hand, degenerate ones, rays, the worst case. */
#include "support/test.h"

#include "base/rng.h"
#include "solvers/pivot/lemke_pivot.h"

#include <math.h>

enum { MOST = 12 };

typedef struct Small {
    int n;
    double m[MOST][MOST], q[MOST], cover[MOST];
    double z[MOST], w[MOST];
    int pivots;
} Small;

typedef struct Sparse {
    int32_t start[MOST + 1], row[MOST * MOST];
    double value[MOST * MOST];
} Sparse;

/* M by columns, in *s. */
static TalusLcp sparse_of(Small *p, Sparse *s)
{
    int32_t at = 0;
    for (int j = 0; j < p->n; j++) {
        s->start[j] = at;
        for (int i = 0; i < p->n; i++)
            if (p->m[i][j] != 0.0) {
                s->row[at] = i;
                s->value[at++] = p->m[i][j];
            }
    }
    s->start[p->n] = at;
    return (TalusLcp){p->n, s->start, s->row, s->value, p->q};
}

/* w and z of the end, or of the ray. */
static TalusLemkeState pivot_small(Small *p, TalusLemkeTies ties, int most)
{
    Sparse sparse;
    TalusLemkeState state = TALUS_LEMKE_GOING;
    TalusLcp lcp = sparse_of(p, &sparse);
    TalusLemke lemke = {.ties = ties, .refactor = 100};
    CHECK_OK(talus_lemke_begin(&lemke, &lcp, p->cover, &state));
    for (p->pivots = 1; state == TALUS_LEMKE_GOING && p->pivots < most; p->pivots++)
        CHECK_OK(talus_lemke_pivot(&lemke, &state));
    if (state == TALUS_LEMKE_RAY)
        talus_lemke_get_ray(&lemke, p->z);
    else
        talus_lemke_get_point(&lemke, p->z);
    talus_lemke_clear(&lemke);
    for (int i = 0; i < p->n; i++) {
        p->w[i] = state == TALUS_LEMKE_RAY ? 0.0 : p->q[i];
        for (int j = 0; j < p->n; j++)
            p->w[i] += p->m[i][j] * p->z[j];
    }
    return state;
}

/* Kostreva 1979: with ties broken by position the path returns to where it was. */
TEST(lexicographic_rule_ends_a_cycle)
{
    Small p = {
        .n = 3, .m = {{1, 2, 0}, {0, 1, 2}, {2, 0, 1}}, .q = {-1, -1, -1}, .cover = {1, 1, 1}};
    CHECK_INT(pivot_small(&p, TALUS_TIES_FIRST, 5000), TALUS_LEMKE_GOING);
    CHECK_INT(pivot_small(&p, TALUS_TIES_LEXICOGRAPHIC, 5000), TALUS_LEMKE_SOLVED);
    for (int i = 0; i < 3; i++)
        CHECK_NEAR(p.z[i], 1.0 / 3.0, 1e-15);
}

static bool is_solution(const Small *p)
{
    double size = 1.0;
    bool ok = true;
    for (int i = 0; i < p->n; i++)
        size = fmax(size, p->z[i]);
    for (int i = 0; i < p->n; i++)
        ok &= p->z[i] >= 0.0 && fabs(fmin(p->w[i], p->z[i])) <= 1e-12 * size;
    return ok;
}

/* Small integers: ties everywhere. */
TEST(degenerate_problems_end)
{
    TalusRng rng = talus_rng_from_seed(5);
    int cycles = 0, solved = 0;
    for (int trial = 0; trial < 20000; trial++) {
        Small p = {.n = 3 + trial % 4};
        for (int i = 0; i < p.n; i++) {
            for (int j = 0; j < p.n; j++)
                p.m[i][j] = i == j ? (double)talus_rng_below(&rng, 3)
                                   : (double)talus_rng_below(&rng, 5) - 2.0;
            p.q[i] = -(double)talus_rng_below(&rng, 2);
            p.cover[i] = 1.0;
        }
        cycles += pivot_small(&p, TALUS_TIES_FIRST, 400) == TALUS_LEMKE_GOING;
        TalusLemkeState state = pivot_small(&p, TALUS_TIES_LEXICOGRAPHIC, 400);
        CHECK(state == TALUS_LEMKE_SOLVED || state == TALUS_LEMKE_RAY);
        solved += state == TALUS_LEMKE_SOLVED;
        CHECK(state == TALUS_LEMKE_RAY || is_solution(&p));
    }
    CHECK(cycles > 50 && solved > 1000);
}

/* Found among millions: what rounding leaves of zeros in x and in the entering column led these round in
 * circles. */
TEST(rounding_does_not_hide_ties)
{
    Small cases[] = {{.n = 5,
                      .m = {{0, 0, -2, 0, 1},
                            {-1, 1, -1, 1, 0},
                            {2, -2, 2, 0, 1},
                            {0, 0, 0, 0, 2},
                            {-2, -1, 0, -1, 0}},
                      .q = {-1, -1, -1, -1, 0},
                      .cover = {1, 1, 1, 1, 1}},
                     {.n = 5,
                      .m = {{1, -1, 0, -2, -1},
                            {-1, 2, 2, -2, 2},
                            {1, -1, 1, 0, 2},
                            {-2, -1, 0, 0, -1},
                            {-1, 2, 2, -1, 1}},
                      .q = {-1, -1, -1, 0, -1},
                      .cover = {1, 1, 1, 1, 1}},
                     {.n = 5,
                      .m = {{0, -2, -2, -2, 1},
                            {0, 0, 0, -1, 1},
                            {-1, 1, 0, 0, 0},
                            {-2, 1, -1, 2, -2},
                            {1, -1, -1, -1, 1}},
                      .q = {0, -1, -1, -1, -1},
                      .cover = {1, 1, 1, 1, 1}},
                     {.n = 5,
                      .m = {{2, -1, 1, 0, 1},
                            {2, 2, -2, -2, 0},
                            {0, 2, 1, -2, -2},
                            {-2, 2, 1, 0, 1},
                            {1, 2, 0, 2, 1}},
                      .q = {0, -1, -1, -1, -1},
                      .cover = {1, 1, 1, 1, 1}}};
    const TalusLemkeState ends[] = {TALUS_LEMKE_RAY, TALUS_LEMKE_RAY, TALUS_LEMKE_RAY,
                                    TALUS_LEMKE_SOLVED};
    for (int k = 0; k < 4; k++)
        CHECK_INT(pivot_small(&cases[k], TALUS_TIES_LEXICOGRAPHIC, 400), ends[k]);
}

/* M = G'G of low rank: solved, or a ray with G z = 0 and q'z < 0, which proves that there is no solution. */
TEST(semidefinite_problems_are_decided)
{
    TalusRng rng = talus_rng_from_seed(6);
    int rays = 0, solved = 0;
    for (int trial = 0; trial < 3000; trial++) {
        Small p = {.n = 4 + trial % 8};
        double g[3][MOST], energy = 0.0, gain = 0.0;
        for (int i = 0; i < p.n; i++) {
            for (int k = 0; k < 3; k++)
                g[k][i] = (double)talus_rng_below(&rng, 5) - 2.0;
            p.q[i] = (double)talus_rng_below(&rng, 7) - 3.0;
            p.cover[i] = 1.0;
        }
        for (int i = 0; i < p.n; i++)
            for (int j = 0; j < p.n; j++)
                for (int k = 0; k < 3; k++)
                    p.m[i][j] += g[k][i] * g[k][j];
        TalusLemkeState state = pivot_small(&p, TALUS_TIES_LEXICOGRAPHIC, 1000);
        for (int i = 0; i < p.n; i++) {
            energy += p.z[i] * p.w[i];
            gain -= p.q[i] * p.z[i];
        }
        CHECK(state == TALUS_LEMKE_SOLVED
                  ? is_solution(&p)
                  : state == TALUS_LEMKE_RAY && energy < 1e-12 && gain > 0.1);
        rays += state == TALUS_LEMKE_RAY;
        solved += state == TALUS_LEMKE_SOLVED;
    }
    CHECK(rays > 100 && solved > 100);
}

/* Murty 1978: 2^n pivots. */
TEST(worst_case_is_exponential)
{
    Small p = {.n = 10};
    for (int i = 0; i < p.n; i++) {
        p.cover[i] = 1.0;
        p.q[i] = -1024.0;
        for (int j = 0; j < i; j++)
            p.q[i] -= (double)(512 >> j);
        for (int j = 0; j <= i; j++)
            p.m[i][j] = i == j ? 1.0 : 2.0;
    }
    CHECK_INT(pivot_small(&p, TALUS_TIES_LEXICOGRAPHIC, 5000), TALUS_LEMKE_SOLVED);
    CHECK_INT(p.pivots, 1024);
    CHECK(is_solution(&p));
}

/* ---- paths from other bases ---- */

/* M = G'G + I/10 and random q. */
static void make_definite(Small *p, TalusRng *rng, int n)
{
    double g[3][MOST];
    *p = (Small){.n = n};
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < 3; k++)
            g[k][i] = 2.0 * talus_rng_uniform(rng) - 1.0;
        p->q[i] = 2.0 * talus_rng_uniform(rng) - 1.0;
        p->cover[i] = 1.0;
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            p->m[i][j] = i == j ? 0.1 : 0.0;
            for (int k = 0; k < 3; k++)
                p->m[i][j] += g[k][i] * g[k][j];
        }
}

/* Entry i of the normal map M x+ + q + x - x+ at z and w of the basis, x = z - w. */
static double normal_map(const Small *p, const TalusBasis *b, int i)
{
    double sum = p->q[i] - (b->position_of[i] < 0 ? 0.0 : b->x[b->position_of[i]]);
    for (int j = 0; j < p->n; j++)
        sum += b->position_of[p->n + j] < 0 ? 0.0 : p->m[i][j] * b->x[b->position_of[p->n + j]];
    return sum;
}

/* From a random basis and point: at every pivot the normal map is z_0 times what it was, z_0 falls from 1 to 0, and the
 * end is the solution, from whose own basis no pivot is left. */
TEST(path_of_the_normal_map)
{
    TalusRng rng = talus_rng_from_seed(21);
    int pivots = 0;
    for (int trial = 0; trial < 300; trial++) {
        Small p;
        Sparse sparse;
        bool has_z[MOST];
        double start[MOST], cover[MOST], last = 1.0;
        TalusLemke lemke = {.ties = TALUS_TIES_LEXICOGRAPHIC, .refactor = 100};
        TalusLemkeState state;
        make_definite(&p, &rng, 5 + trial % 7);
        TalusLcp lcp = sparse_of(&p, &sparse);
        for (int i = 0; i < p.n; i++) {
            has_z[i] = talus_rng_below(&rng, 2) == 1;
            start[i] = 0.1 + talus_rng_uniform(&rng);
        }
        REQUIRE_OK(talus_lemke_begin_at(&lemke, &lcp, has_z, start, cover, &state));
        for (; state == TALUS_LEMKE_GOING; pivots++) {
            double z0 = talus_lemke_get_artificial(&lemke);
            CHECK(z0 > 0.0 && z0 <= last + 1e-12);
            last = z0;
            for (int i = 0; i < p.n; i++)
                CHECK_NEAR(normal_map(&p, &lemke.basis, i), -z0 * cover[i], 1e-12);
            REQUIRE_OK(talus_lemke_pivot(&lemke, &state));
        }
        CHECK_INT(state, TALUS_LEMKE_SOLVED);
        CHECK(talus_lemke_get_artificial(&lemke) == 0.0);
        talus_lemke_get_point(&lemke, p.z);
        CHECK_INT(pivot_small(&p, TALUS_TIES_LEXICOGRAPHIC, 400), TALUS_LEMKE_SOLVED);
        for (int i = 0; i < p.n; i++) {
            double z = lemke.basis.position_of[p.n + i] < 0
                           ? 0.0
                           : lemke.basis.x[lemke.basis.position_of[p.n + i]];
            CHECK_NEAR(p.z[i], z, 1e-11);
            has_z[i] = p.z[i] > 0.0;
        }
        REQUIRE_OK(talus_lemke_begin_at(&lemke, &lcp, has_z, start, cover, &state));
        CHECK_INT(state, TALUS_LEMKE_SOLVED);
        talus_lemke_clear(&lemke);
    }
    CHECK(pivots > 600);
}

TEST(singular_first_basis_is_broken)
{
    Small p = {.n = 2, .m = {{1, 1}, {1, 1}}, .q = {-1, -1}};
    Sparse sparse;
    const bool both[2] = {true, true}, one[2] = {true, false};
    const double start[2] = {1, 1};
    double cover[2];
    TalusLemke lemke = {.ties = TALUS_TIES_LEXICOGRAPHIC, .refactor = 100};
    TalusLemkeState state;
    TalusLcp lcp = sparse_of(&p, &sparse);
    REQUIRE_OK(talus_lemke_begin_at(&lemke, &lcp, both, start, cover, &state));
    CHECK_INT(state, TALUS_LEMKE_BROKEN);
    REQUIRE_OK(talus_lemke_begin_at(&lemke, &lcp, one, start, cover, &state));
    CHECK_INT(state, TALUS_LEMKE_SOLVED);
    talus_lemke_clear(&lemke);
}

int main(void)
{
    RUN(lexicographic_rule_ends_a_cycle);
    RUN(degenerate_problems_end);
    RUN(rounding_does_not_hide_ties);
    RUN(semidefinite_problems_are_decided);
    RUN(worst_case_is_exponential);
    RUN(path_of_the_normal_map);
    RUN(singular_first_basis_is_broken);
    return talus_test_result();
}

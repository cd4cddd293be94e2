/* Newton directions of the min map: the mixed LCP by its definition and by directional derivatives, singular equations,
 * mixed LCPs without a solution. */
#include "support/test.h"

#include "base/rng.h"
#include "solvers/pivot/lcp_newton.h"

#include <math.h>

enum { N = 9, RANK = 4 };

typedef struct Small {
    int32_t start[N + 1], row[N * N];
    double value[N * N], q[N], z[N], w[N];
    TalusLcp lcp;
    TalusLcpPoint at;
} Small;

static double signed_uniform(TalusRng *rng)
{
    return 2.0 * talus_rng_uniform(rng) - 1.0;
}

/* M = G'G of the given rank, plus `extra` I, at a random point where every third index is tied. */
static void make_small(Small *p, TalusRng *rng, int rank, double extra)
{
    double g[N][N];
    for (int k = 0; k < rank; k++)
        for (int i = 0; i < N; i++)
            g[k][i] = signed_uniform(rng);
    for (int j = 0; j < N; j++) {
        p->start[j] = j * N;
        for (int i = 0; i < N; i++) {
            p->row[j * N + i] = i;
            p->value[j * N + i] = i == j ? extra : 0.0;
            for (int k = 0; k < rank; k++)
                p->value[j * N + i] += g[k][i] * g[k][j];
        }
        p->z[j] = signed_uniform(rng);
        p->q[j] = 0.0;
    }
    p->start[N] = N * N;
    p->lcp = (TalusLcp){N, p->start, p->row, p->value, p->q};
    p->at = (TalusLcpPoint){p->z, p->w, 0.0};
    talus_lcp_point_evaluate(&p->at, &p->lcp);
    for (int i = 0; i < N; i++)
        p->q[i] = (i % 3 == 0 ? p->z[i] : signed_uniform(rng)) - p->w[i];
    talus_lcp_point_evaluate(&p->at, &p->lcp);
}

/* Row i of M z + q + r (z - centre). */
static double velocity_at(const Small *p, const double *z, double r, int i)
{
    double sum = p->q[i] + r * (z[i] - p->z[i]);
    for (int j = 0; j < N; j++)
        sum += p->value[j * N + i] * z[j];
    return sum;
}

/* Checks the equations, zeros and tied pairs of z+ one by one. */
static void check_mixed(const Small *p, const double *target, double r)
{
    for (int i = 0; i < N; i++) {
        double w = velocity_at(p, target, r, i), ahead = p->z[i] - p->w[i];
        if (i % 3 == 0)
            CHECK_NEAR(fmin(target[i], w), 0.0, 1e-9);
        else if (ahead > 0.0)
            CHECK_NEAR(w, 0.0, 1e-9);
        else
            CHECK(target[i] == 0.0);
    }
}

TEST(direction_solves_the_mixed_lcp)
{
    TalusRng rng = talus_rng_from_seed(11);
    TalusLcpNewton newton = {0};
    for (int trial = 0; trial < 500; trial++) {
        Small p;
        TalusLcpNewtonOptions options = {1e-3, 1e-12};
        TalusLcpStep step;
        make_small(&p, &rng, RANK, 0.0);
        REQUIRE_OK(talus_lcp_newton_find(&newton, &p.lcp, &p.at, &options, &step));
        CHECK_INT(step, TALUS_LCP_STEP_FOUND);
        CHECK_INT(newton.tied_count, N / 3);
        check_mixed(&p, newton.target, options.regularise);
    }
    CHECK(newton.pivots > 300); /* the tied indices are not decided by chance */
    CHECK_INT(newton.factorisations, 500);
    talus_lcp_newton_clear(&newton);
}

/* Without regularisation H(z) + H'(z; d) = 0, with the derivative as a difference; choosing a side of the ties instead
 * misses this. */
TEST(direction_is_pangs)
{
    const double small = 1e-6;
    TalusRng rng = talus_rng_from_seed(12);
    TalusLcpNewton newton = {0};
    int missed = 0;
    for (int trial = 0; trial < 200; trial++)
        for (int k = 0; k < 2; k++) {
            Small p;
            TalusLcpNewtonOptions options = {0.0, k ? -1.0 : 1e-12};
            TalusLcpStep step;
            make_small(&p, &rng, RANK, 0.5);
            REQUIRE_OK(talus_lcp_newton_find(&newton, &p.lcp, &p.at, &options, &step));
            double z[N], worst = 0.0;
            for (int i = 0; i < N; i++)
                z[i] = p.z[i] + small * (newton.target[i] - p.z[i]);
            for (int i = 0; i < N; i++) {
                double h = fmin(p.z[i], p.w[i]);
                double change = fmin(z[i], velocity_at(&p, z, 0.0, i)) - h;
                worst = fmax(worst, fabs(h + change / small));
            }
            if (k == 0)
                CHECK(worst < 1e-8);
            else
                missed += worst > 1e-3;
        }
    CHECK(missed > 100);
    talus_lcp_newton_clear(&newton);
}

/* More equations than the rank of M: singular without regularisation. */
TEST(singular_equations_are_said_to_be)
{
    TalusRng rng = talus_rng_from_seed(13);
    TalusLcpNewton newton = {0};
    Small p;
    TalusLcpStep step;
    make_small(&p, &rng, 2, 0.0);
    for (int i = 0; i < N; i++)
        p.q[i] -= 10.0; /* all are equations */
    talus_lcp_point_evaluate(&p.at, &p.lcp);
    REQUIRE_OK(
        talus_lcp_newton_find(&newton, &p.lcp, &p.at, &(TalusLcpNewtonOptions){0.0, 1e-12}, &step));
    CHECK_INT(step, TALUS_LCP_STEP_SINGULAR);
    REQUIRE_OK(talus_lcp_newton_find(&newton, &p.lcp, &p.at, &(TalusLcpNewtonOptions){1e-3, 1e-12},
                                     &step));
    CHECK_INT(step, TALUS_LCP_STEP_FOUND);
    talus_lcp_newton_clear(&newton);
}

/* z = w = -1 and M = 0: no z+ >= 0 makes w+ = -1 >= 0. */
TEST(unsolvable_ties_are_said_to_be)
{
    int32_t start[2] = {0, 0};
    double q = -1.0, z = -1.0, w;
    TalusLcp lcp = {1, start, NULL, NULL, &q};
    TalusLcpPoint at = {&z, &w, 0.0};
    TalusLcpNewton newton = {0};
    TalusLcpStep step;
    talus_lcp_point_evaluate(&at, &lcp);
    REQUIRE_OK(
        talus_lcp_newton_find(&newton, &lcp, &at, &(TalusLcpNewtonOptions){0.0, 0.0}, &step));
    CHECK_INT(step, TALUS_LCP_STEP_RAY);
    talus_lcp_newton_clear(&newton);
}

int main(void)
{
    RUN(direction_solves_the_mixed_lcp);
    RUN(direction_is_pangs);
    RUN(singular_equations_are_said_to_be);
    RUN(unsolvable_ties_are_said_to_be);
    return talus_test_result();
}

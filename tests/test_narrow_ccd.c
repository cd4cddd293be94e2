/* Narrow phase against libccd: who overlaps, and how deep. Where the two differ, the better way out is right: a direction
 * proves the depth along it. */
#include "narrow_ccd.h"

TEST(libccd_agrees)
{
    if (!have_ccd)
        SKIP("this build has no libccd (Debian: libccd-dev)");
    TalusRng rng = talus_rng_from_seed(11);
    int compared = 0, alike = 0, wrong_of_ccd = 0;
    oracle_open(1.0);
    for (int k = 0; k < 6000; k++) {
        int i = (int)talus_rng_below(&rng, ORACLE_SHAPES);
        OraclePair p = oracle_pair(i, (int)talus_rng_below(&rng, ORACLE_SHAPES), &rng);
        TalusManifoldPoint nearest = oracle_nearest(&p);
        double depth;
        bool meets = ccd_depth(&p, &depth);
        if (fabs(nearest.gap) < 1e-6 * p.size)
            continue;
        compared++;
        if (meets !=
            (nearest.gap < 0.0)) { /* ours is proven by the plane between them, or by a search */
            CHECK(nearest.gap < 0.0 ||
                  oracle_space(&p.a, &p.b, nearest.normal) > nearest.gap - 1e-6 * p.size);
            wrong_of_ccd++;
            continue;
        }
        CHECK(!meets || depth > -nearest.gap - 1e-6 * p.size);
        alike += !meets || fabs(depth + nearest.gap) < 1e-6 * p.size;
    }
    CHECK(compared > 5000);
    CHECK(alike > compared - compared / 5); /* its way out of curved bodies is often a rough one */
    CHECK(wrong_of_ccd < compared / 100);
    oracle_close();
}

int main(void)
{
    RUN(libccd_agrees);
    return talus_test_result();
}

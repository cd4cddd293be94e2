/* test_ball.c - the volume of a ball in a box or a cylinder: caps, octants, pieces of any division of space, counted
 * points. */
#include "measure/ball.h"
#include "support/test.h"

#include <math.h>

static const double far = 1e3;
static const double full = 4.0 / 3.0 * 3.14159265358979323846;

static double in_box(TalusVec3 centre, double radius, TalusVec3 lo, TalusVec3 hi)
{
    return talus_ball_in_region(centre, radius, &(TalusRegion){lo, hi, -1});
}

TEST(inside_and_outside)
{
    const TalusVec3 lo = {-2, -2, -2}, hi = {2, 2, 2};
    CHECK_NEAR(in_box(talus_vec3(0, 0.5, -1), 1.0, lo, hi), full, 1e-10);
    CHECK_NEAR(in_box(talus_vec3(3.1, 0, 0), 1.0, lo, hi), 0.0, 0.0);
    CHECK_NEAR(in_box(talus_vec3(0, 0, 3.1), 1.0, lo, hi), 0.0, 0.0);
    CHECK_NEAR(in_box(talus_vec3(2.9, 2.9, 0), 1.0, lo, hi), 0.0, 1e-12); /* beside an edge */
    CHECK_NEAR(in_box(talus_vec3(0, 0, 0), 5.0, lo, hi), 64.0, 1e-9);
}

TEST(caps_and_octants)
{
    const double h = 0.7, cap = 3.14159265358979323846 * h * h * (3.0 - h) / 3.0;
    for (int axis = 0; axis < 3; axis++) {
        TalusVec3 lo = {-far, -far, -far}, hi = {far, far, far};
        *(axis == 0 ? &lo.x : axis == 1 ? &lo.y : &lo.z) = 1.0 - h;
        CHECK_NEAR(in_box(talus_vec3(0, 0, 0), 1.0, lo, hi), cap, 1e-10);
    }
    CHECK_NEAR(in_box(talus_vec3(1, 2, 3), 2.0, talus_vec3(1, 2, -far), talus_vec3(far, far, 3)),
               full, 1e-9);
}

/* Space divided by two planes across each axis: the parts of a ball add up to it. */
TEST(parts_add_up)
{
    const double cut[3][4] = {
        {-far, -0.61, 0.13, far}, {-far, -0.2, 0.72, far}, {-far, -0.34, 0.05, far}};
    double sum = 0.0;
    for (int n = 0; n < 27; n++) {
        const int i = n % 3, j = n / 3 % 3, k = n / 9;
        const double part =
            in_box(talus_vec3(0, 0, 0), 1.0, talus_vec3(cut[0][i], cut[1][j], cut[2][k]),
                   talus_vec3(cut[0][i + 1], cut[1][j + 1], cut[2][k + 1]));
        CHECK(part >= -1e-12);
        sum += part;
    }
    CHECK_NEAR(sum, full, 1e-9);
}

/* A corner of the box in the ball, against points counted on a grid. */
TEST(corner_is_as_counted)
{
    enum { N = 200 };
    const TalusVec3 lo = {0.1, -0.3, 0.25}, hi = {2, 0.5, 2};
    int count = 0;
    for (int n = 0; n < N * N * N; n++) {
        const double x = lo.x + (n % N + 0.5) / N * 0.9, y = lo.y + (n / N % N + 0.5) / N * 0.8;
        const double z = lo.z + (n / (N * N) + 0.5) / N * 0.75;
        count += x * x + y * y + z * z < 1.0;
    }
    CHECK_NEAR(in_box(talus_vec3(0, 0, 0), 1.0, lo, hi),
               0.9 * 0.8 * 0.75 * count / ((double)N * N * N), 1e-4);
}

/* A cylinder along each axis, of radius 0.8 around (0.3, -0.2) across, from -0.5 to 0.7 along. */
TEST(cylinder_is_as_counted)
{
    enum { N = 200 };
    const double along[2] = {-0.5, 0.7};
    int count = 0;
    for (int n = 0; n < N * N * N; n++) {
        const double u = 0.3 + ((n % N + 0.5) / N * 2.0 - 1.0) * 0.8;
        const double v = -0.2 + ((n / N % N + 0.5) / N * 2.0 - 1.0) * 0.8;
        const double z = along[0] + (n / (N * N) + 0.5) / N * 1.2;
        const double du = u - 0.3, dv = v + 0.2;
        count += u * u + v * v + z * z < 1.0 && du * du + dv * dv < 0.64;
    }
    const double counted = 1.6 * 1.6 * 1.2 * count / ((double)N * N * N);
    for (int axis = 0; axis < 3; axis++) {
        double lo[3], hi[3];
        lo[axis] = along[0];
        hi[axis] = along[1];
        lo[(axis + 1) % 3] = 0.3 - 0.8;
        hi[(axis + 1) % 3] = 0.3 + 0.8;
        lo[(axis + 2) % 3] = -0.2 - 0.8;
        hi[(axis + 2) % 3] = -0.2 + 0.8;
        const TalusRegion region = {{lo[0], lo[1], lo[2]}, {hi[0], hi[1], hi[2]}, axis};
        CHECK_NEAR(talus_ball_in_region(talus_vec3(0, 0, 0), 1.0, &region), counted, 1e-3);
    }
}

/* A ball around the axis of a narrower cylinder: two caps and a cylinder. */
TEST(cylinder_on_the_axis)
{
    const TalusRegion region = {{-0.6, -0.6, -5}, {0.6, 0.6, 5}, 2};
    const double pi = 3.14159265358979323846, cap = pi * 0.04 * 2.8 / 3.0;
    CHECK_NEAR(talus_ball_in_region(talus_vec3(0, 0, 0), 1.0, &region), 2.0 * cap + pi * 0.36 * 1.6,
               1e-10);
    CHECK_NEAR(talus_ball_in_region(talus_vec3(1.6, 0, 0), 1.0, &region), 0.0, 0.0);
    CHECK_NEAR(talus_ball_in_region(talus_vec3(0.1, 0, 0), 0.5, &region), full / 8.0, 1e-10);
}

int main(void)
{
    RUN(inside_and_outside);
    RUN(caps_and_octants);
    RUN(parts_add_up);
    RUN(corner_is_as_counted);
    RUN(cylinder_is_as_counted);
    RUN(cylinder_on_the_axis);
    return talus_test_result();
}

/* Generators: bodies inside their region, none overlapping, the same every time. */
#include "world/source/generate.h"

#include "support/test.h"

#include <stdlib.h>
#include <string.h>

enum { N = 1200 };
static TalusVec3 x[N], again[N];
static double radius[N];

/* Smallest distance of two centres over the sum of their radii, less 1. */
static double worst_gap(int count)
{
    double worst = 1e9;
    for (int i = 0; i < count; i++)
        for (int j = 0; j < i; j++) {
            double gap = talus_norm(talus_sub(x[i], x[j])) / (radius[i] + radius[j]) - 1.0;
            worst = gap < worst ? gap : worst;
        }
    return worst;
}

static void equal_radii(double r)
{
    for (int i = 0; i < N; i++)
        radius[i] = r;
}

TEST(turns)
{
    double c, s, worst = 0.0;
    for (int i = -4000; i <= 4000; i++) {
        talus_cos_sin_turns(i / 1000.0, &c, &s);
        double angle = 2.0 * 3.14159265358979323846 * ((i + 4000) % 1000 / 1000.0);
        double error = fabs(c - cos(angle)) + fabs(s - sin(angle));
        worst = error > worst ? error : worst;
    }
    CHECK_NEAR(worst, 0.0, 4e-15); /* of which half is the rounding of `angle` */
    talus_cos_sin_turns(0.25, &c, &s);
    CHECK(c == 0.0 && s == 1.0);
    talus_cos_sin_turns(-0.5, &c, &s);
    CHECK(c == -1.0 && s == 0.0);
}

TEST(rotations)
{
    TalusVec3 n = talus_normalize(talus_vec3(1, -2, 0.5), talus_vec3(0, 0, 1));
    TalusVec3 z = talus_rotate(talus_quat_from_z(n), talus_vec3(0, 0, 1));
    CHECK_NEAR(talus_norm(talus_sub(z, n)), 0.0, 1e-15);
    z = talus_rotate(talus_quat_from_z(talus_vec3(0, 0, -2)), talus_vec3(0, 0, 1));
    CHECK(z.x == 0.0 && z.y == 0.0 && z.z == -1.0);
    TalusVec3 y = talus_rotate(talus_quat_about(talus_vec3(0, 0, 3), 0.25), talus_vec3(1, 0, 0));
    CHECK_NEAR(talus_norm(talus_sub(y, talus_vec3(0, 1, 0))), 0.0, 1e-15);
}

TEST(lattice_jitter_never_overlaps)
{
    TalusLattice l = {.lo = {-1, 2, 0},
                      .spacing = {0.22, 0.22, 0.22},
                      .half = {0.1, 0.1, 0.1},
                      .cells = {10, 10, 10},
                      .jitter = 1.0,
                      .seed = 5};
    equal_radii(0.1);
    talus_generate_lattice(&l, 0, 1000, x);
    CHECK(worst_gap(1000) > -1e-14);
    for (int i = 0; i < 1000; i++)
        CHECK(x[i].x >= -0.9 && x[i].x <= 1.1 && x[i].y >= 2.1 && x[i].z >= 0.1 && x[i].z <= 2.1);
    talus_generate_lattice(&l, 0, 1000, again);
    CHECK(memcmp(x, again, 1000 * sizeof *x) == 0);
}

static void check_layers(TalusLayers l)
{
    talus_generate_layers(&l, 0, N, x);
    CHECK(worst_gap(N) > -1e-14);
    int64_t places = talus_layers_capacity(&l, 1);
    CHECK(places > 0);
    for (int i = 0; i < N; i++) {
        TalusVec3 p = talus_sub(x[i], l.bottom);
        CHECK(p.z >= l.rise * (double)(i / places) + l.height - 1e-14);
        p.z = 0.0;
        if (l.radius > 0.0)
            CHECK(talus_norm(p) <= l.radius - l.size + 1e-14);
        else
            CHECK(fabs(p.x) <= l.half[0] - l.size + 1e-14 &&
                  fabs(p.y) <= l.half[1] - l.size + 1e-14);
    }
}

TEST(layers)
{
    TalusLayers l = {.bottom = {1, 2, 3},
                     .radius = 2.0,
                     .spacing = 0.21,
                     .rise = 0.2,
                     .size = 0.1,
                     .height = 0.1};
    equal_radii(0.1);
    check_layers(l);
    l.jitter = 1.0;
    l.rise = 0.25;
    check_layers(l);
    l.spacing = 0.2; /* touching circles */
    check_layers(l);
    l.radius = 0.0;
    l.half[0] = 1.0;
    l.half[1] = 0.5;
    check_layers(l);
    CHECK_INT(talus_layers_capacity(&l, 1), 50);
}

TEST(fill_box_with_sizes)
{
    TalusFill f = {.lo = {0, 0, 0}, .hi = {2, 1, 1}, .seed = 9};
    int64_t placed;
    for (int i = 0; i < 500; i++) /* largest first */
        radius[i] = 0.05 - 0.03 * i / 500.0;
    REQUIRE_OK(talus_generate_fill(&f, 500, radius, x, &placed));
    REQUIRE(placed == 500);
    CHECK(worst_gap(500) >= 0.0);
    for (int i = 0; i < 500; i++)
        CHECK(x[i].x >= radius[i] && x[i].x <= 2.0 - radius[i] && x[i].z >= radius[i] &&
              x[i].z <= 1.0 - radius[i]);
    REQUIRE_OK(talus_generate_fill(&f, 500, radius, again, &placed));
    CHECK(memcmp(x, again, 500 * sizeof *x) == 0);
}

TEST(fill_cylinder_until_full)
{
    TalusFill f = {.lo = {5, 5, 0}, .hi = {5, 5, 1}, .radius = 0.5, .seed = 1};
    int64_t placed;
    equal_radii(0.1);
    REQUIRE_OK(talus_generate_fill(&f, N, radius, x, &placed));
    CHECK(placed > 40 && placed < 75); /* random places saturate near 0.38 of the volume */
    CHECK(worst_gap((int)placed) >= 0.0);
    for (int i = 0; i < placed; i++) {
        TalusVec3 p = talus_sub(x[i], f.lo);
        CHECK(p.x * p.x + p.y * p.y <= 0.4 * 0.4 * (1 + 1e-14));
    }
    equal_radii(0.6);
    REQUIRE_OK(talus_generate_fill(&f, 1, radius, x, &placed));
    CHECK_INT(placed, 0);
}

/* ---- pieces ---- */

/* Writes `count` bodies from number `first` on. */
typedef void PieceFn(const void *from, int64_t first, int64_t count, void *out);

static void lattice_piece(const void *from, int64_t first, int64_t count, void *out)
{
    talus_generate_lattice(from, first, count, out);
}

static void layers_piece(const void *from, int64_t first, int64_t count, void *out)
{
    talus_generate_layers(from, first, count, out);
}

/* Pieces of any length, also from the middle on, have the bits of the whole. */
static void check_pieces(PieceFn *generate, const void *from, size_t element)
{
    static const int lengths[] = {1, 7, 64, 601, N - 1};
    char *whole = malloc(N * element), *parts = malloc(N * element);
    generate(from, 0, N, whole);
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        memset(parts, 0, N * element);
        for (int at = 0; at < N; at += lengths[k]) {
            const int count = N - at < lengths[k] ? N - at : lengths[k];
            generate(from, at, count, parts + (size_t)at * element);
        }
        CHECK(memcmp(parts, whole, N * element) == 0);
    }
    generate(from, 977, 100, parts);
    CHECK(memcmp(parts, whole + 977 * element, 100 * element) == 0);
    generate(from, 500, 0, parts);
    free(whole);
    free(parts);
}

TEST(pieces_have_the_bits_of_the_whole)
{
    TalusLattice lattice = {.spacing = {0.3, 0.25, 0.22},
                            .half = {0.1, 0.1, 0.1},
                            .cells = {11, 9, 20},
                            .jitter = 0.7,
                            .seed = 5};
    TalusLayers layers = {.radius = 0.93,
                          .half = {0.6, 0.4},
                          .spacing = 0.21,
                          .rise = 0.25,
                          .size = 0.1,
                          .height = 0.1,
                          .jitter = 0.8,
                          .seed = 6};
    for (int k = 0; k < 2; k++) {
        check_pieces(lattice_piece, &lattice, sizeof(TalusVec3));
        check_pieces(layers_piece, &layers, sizeof(TalusVec3)); /* circles */
        layers.radius = 0.0;
        check_pieces(layers_piece, &layers, sizeof(TalusVec3)); /* a grid */
        layers.radius = 0.93;
        lattice.jitter = layers.jitter = 0.0;
    }
}

int main(void)
{
    RUN(turns);
    RUN(rotations);
    RUN(lattice_jitter_never_overlaps);
    RUN(layers);
    RUN(fill_box_with_sizes);
    RUN(fill_cylinder_until_full);
    RUN(pieces_have_the_bits_of_the_whole);
    return talus_test_result();
}

/* Whether a friction cone is pointed: against grooves whose limit is known, walls, cages and heaps. */
#include "support/problems.h"
#include "support/test.h"

#include "base/memory.h"
#include "solvers/ipm/pointed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 8 };

static TalusFrictionModel polygon(int sides)
{
    return (TalusFrictionModel){TALUS_SECTION_POLYGON, TALUS_LAW_CCP, sides};
}

/* D gamma = 0 but for rounding, gamma in K, normal parts that add up to 1. */
static void check_certificate(TalusProblem *p, const double *gamma)
{
    int rows = talus_problem_rows(p), n = talus_problem_size(p);
    double *moved = calloc((size_t)n, sizeof *moved), sum = 0.0, most = 0.0;
    talus_problem_apply(p, gamma, moved);
    for (int i = 0; i < talus_problem_blocks(p); i++) {
        double near[3];
        for (int r = 0; r < rows; r++)
            near[r] = gamma[i * rows + r];
        talus_set_project(talus_problem_friction(p, i), rows,
                          rows == 1 ? 0.0 : talus_problem_mu(p, i), NULL, 0.0, near);
        for (int r = 0; r < rows; r++) {
            CHECK_NEAR(near[r], gamma[i * rows + r], 1e-14);
            most = fmax(most, fabs(moved[i * rows + r]) / talus_problem_diagonal(p, i));
        }
        sum += gamma[i * rows];
    }
    CHECK_NEAR(sum, 1.0, 1e-13);
    CHECK(most <= 1e-5);
    free(moved);
}

/* What is found, and a proof of it. */
static TalusPointed examine(const TalusProblemDef *def, TalusFrictionModel model)
{
    TalusProblem *p = NULL;
    TalusPointed out = {.lower = -1.0};
    if (!CHECK_OK(talus_problem_create(def, NULL, &p)))
        return out;
    CHECK_OK(talus_problem_set_friction(p, model));
    double *gamma = calloc((size_t)talus_problem_size(p) + 1, sizeof *gamma);
    CHECK_OK(talus_qp_pointed(p, &out, gamma));
    CHECK(out.lower <= out.upper * (1.0 + 1e-12));
    if (out.pointed)
        CHECK(out.bearing == 0 && (talus_problem_size(p) == 0 || gamma[0] == 0.0));
    else
        check_certificate(p, gamma);
    free(gamma);
    talus_problem_destroy(p);
    return out;
}

/* A sphere of 2 kg among planes with these inward normals. */
static TalusPointed among(int planes, const TalusVec3 *inward, double mu, TalusFrictionModel model)
{
    const double inv_mass = 0.5, radius = 0.3, still[6] = {0};
    const double k = 2.5 * inv_mass / (radius * radius);
    const TalusSym3 inertia = {k, k, k, 0, 0, 0};
    TalusContactDef contacts[MOST] = {0};
    for (int i = 0; i < planes; i++) {
        TalusVec3 n = talus_scale(-1.0 / talus_norm(inward[i]), inward[i]);
        contacts[i] =
            (TalusContactDef){.b = -1, .normal = n, .arm_a = talus_scale(radius, n), .mu = mu};
    }
    TalusProblemDef def = {.body_count = 1,
                           .inv_mass = &inv_mass,
                           .inv_inertia = &inertia,
                           .radius = &radius,
                           .free_velocity = still,
                           .contact_count = planes,
                           .contacts = contacts};
    return examine(&def, model);
}

TEST(parallel_walls_jam_whatever_the_friction)
{
    const TalusVec3 walls[] = {{1.0, 0.0, 0.0}, {-1.0, 0.0, 0.0}};
    for (int i = 0; i < 4; i++) {
        TalusPointed p = among(2, walls, (double[]){0.0, 1e-3, 0.3, 2.0}[i], polygon(3 + i));
        CHECK(!p.pointed);
        CHECK_INT(p.bearing, 2);
    }
}

TEST(one_plane_is_pointed)
{
    const TalusVec3 floor = {0.0, 0.0, 1.0};
    for (int i = 0; i < 4; i++) {
        TalusPointed p = among(1, &floor, (double[]){0.0, 0.5, 1.0, 10.0}[i], polygon(3));
        CHECK(p.pointed);
        CHECK(p.lower > 1e-3);
    }
}

/* Normals at +-theta from the vertical. Two contacts hold each other in balance where the line that joins them
 * lies in both cones: mu >= cot theta. An inscribed polygon of 64 corners needs at most 0.13 % more. */
TEST(groove_jams_beyond_its_angle)
{
    for (int i = 0; i < 3; i++) {
        double theta = (double[]){0.6, 1.0, 1.4}[i], limit = cos(theta) / sin(theta);
        const TalusVec3 walls[] = {{sin(theta), 0.1, cos(theta)}, {-sin(theta), -0.1, cos(theta)}};
        const TalusVec3 plain[] = {{sin(theta), 0.0, cos(theta)}, {-sin(theta), 0.0, cos(theta)}};
        CHECK(among(2, plain, 0.99 * limit, polygon(64)).pointed);
        CHECK(!among(2, plain, 1.002 * limit, polygon(64)).pointed);
        CHECK(among(2, walls, 0.9 * limit, polygon(64)).pointed);
        CHECK(among(2, plain, 0.0, polygon(64)).pointed);
    }
}

TEST(cages_jam_without_friction)
{
    const TalusVec3 cage[] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
    TalusPointed all = among(4, cage, 0.0, polygon(3)), three = among(3, cage, 0.0, polygon(3));
    CHECK(!all.pointed);
    CHECK_INT(all.bearing, 4);
    CHECK(three.pointed);
    CHECK(!among(4, cage, 0.2, (TalusFrictionModel){.section = TALUS_SECTION_SQUARE}).pointed);
}

TEST(heaps_are_pointed_and_wedged_rows_are_not)
{
    for (int i = 0; i < 4; i++) {
        TestProblem heap = make_heap(&(HeapOptions){.seed = 5,
                                                    .nx = 4,
                                                    .ny = 4,
                                                    .nz = 4,
                                                    .mu = i & 1 ? 0.1 : 0.0,
                                                    .general = i & 2 ? 0.3 : 0.0});
        TestProblem wedge = make_wedge(i & 1 ? 0.3 : 0.0, 5);
        TestProblem both = make_union(&heap.def, &wedge.def);
        TestProblem matrix = make_dense_copy(&wedge.def);
        CHECK(examine(&heap.def, polygon(4)).pointed);
        CHECK(!examine(&wedge.def, polygon(4)).pointed);
        CHECK(!examine(&matrix.def, polygon(4)).pointed);
        CHECK_INT(examine(&both.def, polygon(4)).bearing, 6);
        free_test_problem(&matrix);
        free_test_problem(&both);
        free_test_problem(&heap);
        free_test_problem(&wedge);
    }
}

/* A compliant contact gives way in the problem, but the cone is that of the rigid one. */
TEST(compliance_does_not_count)
{
    TestProblem wedge = make_wedge(0.3, 3);
    TalusContactDef *contacts = (TalusContactDef *)wedge.def.contacts;
    for (int i = 0; i < wedge.def.contact_count; i++)
        contacts[i].compliance = 0.1;
    CHECK(!examine(&wedge.def, polygon(3)).pointed);
    free_test_problem(&wedge);
}

TEST(no_contacts_are_pointed)
{
    CHECK(among(0, NULL, 0.3, polygon(3)).pointed);
}

TEST(failed_allocation_leaves_nothing)
{
    TestProblem wedge = make_wedge(0.4, 4);
    TalusProblem *p = NULL;
    TalusPointed out;
    TalusStatus status = TALUS_ERR_MEMORY;
    REQUIRE_OK(talus_problem_create(&wedge.def, NULL, &p));
    REQUIRE_OK(talus_problem_set_friction(p, polygon(3)));
    size_t before = talus_memory_now();
    long n = 1;
    for (; n < 200 && status != TALUS_OK; n++) {
        talus_fail_allocation_in(n);
        status = talus_qp_pointed(p, &out, NULL);
        talus_fail_allocation_in(0);
        CHECK(status == TALUS_OK || status == TALUS_ERR_MEMORY);
        CHECK(talus_memory_now() == before);
    }
    CHECK(n > 20 && status == TALUS_OK && !out.pointed);
    talus_problem_destroy(p);
    free_test_problem(&wedge);
}

int main(void)
{
    RUN(parallel_walls_jam_whatever_the_friction);
    RUN(one_plane_is_pointed);
    RUN(groove_jams_beyond_its_angle);
    RUN(cages_jam_without_friction);
    RUN(heaps_are_pointed_and_wedged_rows_are_not);
    RUN(compliance_does_not_count);
    RUN(no_contacts_are_pointed);
    RUN(failed_allocation_leaves_nothing);
    return talus_test_result();
}

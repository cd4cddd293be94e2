/* Sweeps in single precision (src/backend/cpu/sweep_single.c): they follow those in double precision, go over to them
 * before rounding shows, and have the same bits for any number of threads and in any power of two of the units. */
#include "support/models.h"
#include "support/test.h"

#include "backend/cpu/cpu.h"
#include "problem/build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const TalusBackend *const cpu = &talus_backend_cpu;

static const TalusSweepOptions over_relaxed = {
    .order = TALUS_ORDER_COLOURED, .single = true, .omega = 1.5, .rho = 1.0};

/* Part of the bodies that are no spheres from which on most contacts are general, and in packs too. */
#define MOST 0.8

/* A heap of spheres, some other bodies among them if `general` is not 0, under ccp or Coulomb's law. */
static ModelCase make_case(double mu, double general, int law, TalusPool *pool)
{
    return make_model_case(
        &(ModelOptions){.heap = {90, 8, 8, 7, mu, 0.02, general}, .rows = 3, .law = law}, pool);
}

static double *zeros(int n)
{
    return calloc((size_t)n, sizeof(double));
}

static double largest(const double *x, int n)
{
    double most = 0.0;
    for (int k = 0; k < n; k++)
        most = isnan(x[k]) ? NAN : fmax(most, fabs(x[k]));
    return most;
}

/* Sweeps from the impulses gamma, which become those after the sweeps. Returns the last velocity change. */
static double sweep(const TalusOperator *op, TalusSweepOptions options, int sweeps, double *gamma)
{
    TalusSweep *plan = NULL;
    double change2 = NAN;
    if (CHECK_OK(cpu->sweep.prepare(op, &options, gamma, &plan))) {
        change2 = cpu->sweep.run(plan, sweeps);
        cpu->sweep.get_impulses(plan, gamma);
    }
    cpu->sweep.destroy(plan);
    return change2;
}

/* True if no impulse is out of its friction cone but by the rounding of doubles. */
static bool all_in_cones(const TalusOperator *op, const double *gamma)
{
    for (int i = 0; i < op->blocks; i++) {
        const double *g = gamma + 3 * i;
        if (!(hypot(g[1], g[2]) <= op->mu[i] * g[0] * (1.0 + 1e-14)))
            return false;
    }
    return true;
}

static void check_alike(const TalusOperator *op, TalusSweepOptions options, int sweeps)
{
    const int n = op->rows * op->blocks;
    double *one = zeros(n), *two = zeros(n), off = 0.0;
    double change = sweep(op, options, sweeps, one);
    if (op->rows == 3 && options.coulomb && !op->general)
        CHECK(all_in_cones(op, one));
    options.single = false;
    double expected = sweep(op, options, sweeps, two);
    for (int k = 0; k < n; k++)
        off = isnan(one[k]) ? NAN : fmax(off, fabs(one[k] - two[k]));
    CHECK_NEAR(off, 0.0, 1e-5 * largest(two, n));
    CHECK_NEAR(change, expected, 1e-5 * expected);
    CHECK(memcmp(one, two, (size_t)n * sizeof *one) != 0); /* single precision was in use */
    free(one);
    free(two);
}

/* The same for a problem with this number of rows, which is freed. */
static void check_problem_alike(TestProblem *p, int rows)
{
    TalusProblem *problem = NULL;
    REQUIRE_OK(talus_problem_create(&p->def, NULL, &problem));
    CHECK_INT(talus_problem_rows(problem), rows);
    check_alike(talus_problem_operator(problem), over_relaxed, 6);
    talus_problem_destroy(problem);
    free_test_problem(p);
}

TEST(single_follows_double)
{
    static const double general[] = {0.0, 0.3, MOST};
    for (int form = 0; form < 12; form++) {
        TalusSweepOptions options = over_relaxed;
        int law = form % 2 ? TALUS_LAW_COULOMB : TALUS_LAW_CCP;
        ModelCase c = make_case(0.4, general[form / 4], law, NULL);
        CHECK(!c.op->mixed_sets);
        options.coulomb = law == TALUS_LAW_COULOMB;
        options.rho = form / 2 % 2 ? 0.9 : 1.0;
        options.metric = form / 2 % 2 ? TALUS_METRIC_TRACE : TALUS_METRIC_ANISOTROPIC;
        for (int sweeps = 1; sweeps <= 9; sweeps += 4)
            check_alike(c.op, options, sweeps);
        free_model_case(&c);
    }
}

TEST(contacts_without_friction)
{
    for (int form = 0; form < 2; form++) {
        TestProblem p = make_heap(&(HeapOptions){91, 8, 8, 7, 0.0, 0.02, form * MOST});
        check_problem_alike(&p, 1);
    }
}

/* Where general contacts are few they are items, in double precision; where they are the most they are in packs. */
TEST(general_contacts_are_the_most)
{
    ModelCase few = make_case(0.4, 0.3, TALUS_LAW_CCP, NULL);
    ModelCase most = make_case(0.4, MOST, TALUS_LAW_CCP, NULL);
    CHECK(few.op->general > 0 && few.op->general < few.op->sphere_sphere + few.op->sphere_fixed);
    CHECK(most.op->general > most.op->sphere_sphere + most.op->sphere_fixed);
    free_model_case(&few);
    free_model_case(&most);
}

/* Contacts of a heavy body are items, which change together; the others, in packs, share its velocities. */
TEST(a_heavy_body_among_packs)
{
    TestProblem p = make_bowl(300, 0.4, 0.01);
    check_problem_alike(&p, 3);
}

/* Bodies that move at 1 km/s together: rounding is relative to what the sweeps change, not to their speeds. */
static void check_fast_bodies(double general)
{
    TestProblem p = make_heap(&(HeapOptions){92, 8, 8, 7, 0.4, 0.02, general});
    double(*velocity)[6] = (double(*)[6])p.def.free_velocity;
    TalusContactDef *contacts = (TalusContactDef *)p.def.contacts;
    int count = 0;
    for (int i = 0; i < p.def.contact_count; i++) /* none with the floor, which does not move */
        if (contacts[i].b >= 0)
            contacts[count++] = contacts[i];
    p.def.contact_count = count;
    for (int i = 0; i < p.def.body_count; i++) {
        velocity[i][0] += 1000.0;
        velocity[i][1] -= 300.0;
    }
    check_problem_alike(&p, 3);
}

TEST(speed_of_all_bodies_does_not_show)
{
    check_fast_bodies(0.0);
    check_fast_bodies(MOST);
}

/* Sweeps that begin in single precision reach what double precision reaches. */
TEST(tight_tolerances_are_reached)
{
    static const double general[] = {0.0, 0.3, MOST};
    for (int form = 0; form < 3; form++) {
        ModelCase c = make_case(0.4, general[form], TALUS_LAW_CCP, NULL);
        double *gamma = zeros(c.n);
        TalusResidualSums first, last;
        cpu->op.residual(c.op, gamma, &first, NULL);
        TalusSweepOptions options = over_relaxed;
        options.omega = form ? 1.0 : 1.5;
        sweep(c.op, options, form ? 9000 : 4000, gamma);
        cpu->op.residual(c.op, gamma, &last, NULL);
        CHECK(last.residual2 <= 1e-16 * first.residual2);
        free(gamma);
        free_model_case(&c);
    }
}

/* Impulses may be read between sweeps, and other operations may run. */
static void check_reading(double general)
{
    ModelCase c = make_case(0.4, general, TALUS_LAW_CCP, NULL);
    double *one = zeros(c.n), *two = zeros(c.n);
    TalusSweep *plan = NULL;
    TalusResidualSums sums;
    sweep(c.op, over_relaxed, 6, one);
    REQUIRE_OK(cpu->sweep.prepare(c.op, &over_relaxed, two, &plan));
    for (int k = 0; k < 3; k++) {
        cpu->sweep.run(plan, 2);
        cpu->sweep.get_impulses(plan, two);
        cpu->op.residual(c.op, two, &sums, NULL);
    }
    CHECK(memcmp(one, two, (size_t)c.n * sizeof *one) == 0);
    cpu->sweep.destroy(plan);
    free(one);
    free(two);
    free_model_case(&c);
}

TEST(reading_changes_nothing)
{
    check_reading(0.3);
    check_reading(MOST);
}

/* The sweeps are so many that the last ones are in double precision. */
static void check_threads(double general)
{
    static const int threads[] = {1, 3, 8};
    double *gamma[3] = {NULL}, change2[3];
    int n = 0;
    for (int t = 0; t < 3; t++) {
        TalusPool *pool = NULL;
        REQUIRE_OK(talus_pool_create(threads[t], &pool));
        ModelCase c = make_case(0.4, general, TALUS_LAW_CCP, pool);
        n = c.n;
        gamma[t] = zeros(n);
        change2[t] = sweep(c.op, over_relaxed, 8, gamma[t]);
        change2[t] += sweep(c.op, over_relaxed, 1500, gamma[t]);
        free_model_case(&c);
        talus_pool_destroy(pool);
    }
    for (int t = 1; t < 3; t++) {
        CHECK(memcmp(gamma[t], gamma[0], (size_t)n * sizeof(double)) == 0);
        CHECK(change2[t] == change2[0]);
    }
    for (int t = 0; t < 3; t++)
        free(gamma[t]);
}

TEST(threads_do_not_show)
{
    check_threads(0.3);
    check_threads(MOST);
}

/* Bodies nearly at rest, at overlaps that push them apart far faster. */
TEST(biases_beyond_all_speeds)
{
    TestProblem p = make_heap(&(HeapOptions){94, 8, 8, 7, 0.4, 0.02, 0.0});
    double(*velocity)[6] = (double(*)[6])p.def.free_velocity;
    TalusContactDef *contacts = (TalusContactDef *)p.def.contacts;
    for (int i = 0; i < p.def.body_count; i++)
        for (int k = 0; k < 6; k++)
            velocity[i][k] *= 1e-30;
    for (int i = 0; i < p.def.contact_count; i++)
        contacts[i].bias = -0.1;
    TalusProblem *problem = NULL;
    REQUIRE_OK(talus_problem_create(&p.def, NULL, &problem));
    int n = talus_problem_size(problem);
    double *gamma[2] = {zeros(n), zeros(n)};
    TalusSweepOptions in_double = over_relaxed;
    in_double.single = false;
    sweep(talus_problem_operator(problem), over_relaxed, 3, gamma[0]);
    sweep(talus_problem_operator(problem), in_double, 3, gamma[1]);
    double size = largest(gamma[1], n);
    CHECK(size > 0.0);
    for (int k = 0; k < n; k++)
        CHECK_NEAR(gamma[0][k], gamma[1][k], 1e-5 * size);
    talus_problem_destroy(problem);
    free_test_problem(&p);
    free(gamma[0]);
    free(gamma[1]);
}

/* Masses 2^-80 times as large and speeds 2^-50 times: impulses are 2^-130 times as large, below the smallest floats,
 * and else the same bits. */
TEST(units_do_not_show)
{
    const double mass = 0x1p-80, speed = 0x1p-50;
    double *gamma[2] = {NULL}, change2[2];
    int n = 0;
    for (int scaled = 0; scaled < 2; scaled++) {
        TestProblem p = make_heap(&(HeapOptions){93, 8, 8, 7, 0.4, 0.02, 0.0});
        TalusContactDef *contacts = (TalusContactDef *)p.def.contacts;
        double *inv_mass = (double *)p.def.inv_mass;
        double(*velocity)[6] = (double(*)[6])p.def.free_velocity;
        TalusSym3 *inertia = (TalusSym3 *)p.def.inv_inertia;
        for (int i = 0; scaled && i < p.def.body_count; i++) {
            inv_mass[i] /= mass;
            inertia[i] = (TalusSym3){
                inertia[i].xx / mass, inertia[i].yy / mass, inertia[i].zz / mass, 0.0, 0.0, 0.0};
            for (int k = 0; k < 6; k++)
                velocity[i][k] *= speed;
        }
        for (int i = 0; scaled && i < p.def.contact_count; i++) {
            contacts[i].bias *= speed;
            contacts[i].compliance /= mass;
        }
        TalusProblem *problem = NULL;
        REQUIRE_OK(talus_problem_create(&p.def, NULL, &problem));
        n = talus_problem_size(problem);
        gamma[scaled] = zeros(n);
        change2[scaled] = sweep(talus_problem_operator(problem), over_relaxed, 5, gamma[scaled]);
        talus_problem_destroy(problem);
        free_test_problem(&p);
    }
    for (int k = 0; k < n; k++)
        gamma[1][k] /= mass * speed;
    CHECK(largest(gamma[0], n) > 0.0);
    CHECK(memcmp(gamma[0], gamma[1], (size_t)n * sizeof(double)) == 0);
    CHECK(change2[0] == change2[1] / (speed * speed));
    free(gamma[0]);
    free(gamma[1]);
}

int main(void)
{
    RUN(single_follows_double);
    RUN(contacts_without_friction);
    RUN(general_contacts_are_the_most);
    RUN(a_heavy_body_among_packs);
    RUN(speed_of_all_bodies_does_not_show);
    RUN(tight_tolerances_are_reached);
    RUN(reading_changes_nothing);
    RUN(threads_do_not_show);
    RUN(biases_beyond_all_speeds);
    RUN(units_do_not_show);
    return talus_test_result();
}

/* Parts of a problem on several ranks (problem/part.c): solvers give the bits of the whole problem. Under mpirun its
 * processes are the ranks (tests/comm_mpi.sh). */
#include "problem/part.h"

#include "backend/cpu/colour.h"
#include "backend/cpu/cpu.h"
#include "problem/problem.h"

#include "support/problems.h"
#include "support/ranks.h"
#include "support/test.h"

#include <talus/solver.h>

#include <math.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of ranks, most of which share a processor here: with a sanitizer few, since each exchange then takes long. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
static const int ranks[] = {1, 3};
enum { SHORT = 6, CONVERGE = 200 };
#else
static const int ranks[] = {1, 2, 3, 5};
enum { SHORT = 12, CONVERGE = 1200 };
#endif
enum { RANKS = sizeof ranks / sizeof *ranks };

/* What one solve gives. */
typedef struct Result {
    TalusSolveInfo info;
    double *gamma; /* [size] of the whole problem */
} Result;

static bool is_first;           /* this process has the results, set by main */
static int short_solve = SHORT; /* iterations; fewer under mpirun */

/* A solve of parts. */
typedef struct Job {
    const TalusProblem *whole;
    const char *solver;
    const TalusSolveOptions *options;
    Result *result;
    int threads;
    bool late; /* messages are never here before they are waited for */
} Job;

static bool come_late(TalusComm *comm)
{
    (void)comm;
    return false;
}

static TalusStatus solve_part_by(TalusComm *comm, void *context)
{
    const Job *job = context;
    TalusProblem *part = NULL;
    TalusSolver *solver = NULL;
    TalusSolveInfo info;
    TalusPool *pool = NULL;
    TalusStatus status = talus_pool_create(job->threads, &pool);
    status = status == TALUS_OK ? talus_part_create(job->whole, comm, pool, &part) : status;
    status = status == TALUS_OK ? talus_solver_create(job->solver, &solver) : status;
    status = status == TALUS_OK ? talus_solver_solve(solver, part, job->options, &info) : status;
    status = status == TALUS_OK ? talus_part_collect(part, job->result->gamma) : status;
    if (status == TALUS_OK && talus_comm_rank(comm) == 0)
        job->result->info = info;
    talus_solver_destroy(solver);
    talus_problem_destroy(part);
    talus_pool_destroy(pool);
    return status;
}

/* solve_part_by with messages as they come, or late ones. */
static TalusStatus solve_part(TalusComm *comm, void *context)
{
    const TalusCommOps *own = comm->ops;
    TalusCommOps late = *own;
    late.advance_exchange = come_late;
    comm->ops = ((const Job *)context)->late ? &late : own;
    const TalusStatus status = solve_part_by(comm, context);
    comm->ops = own;
    return status;
}

static bool is_same(const Result *a, const Result *b, size_t size)
{
    bool same = CHECK_INT(a->info.iterations, b->info.iterations);
    same = CHECK_INT(a->info.outcome, b->info.outcome) && same;
    same = CHECK(a->info.residual.rms == b->info.residual.rms) && same;
    same = CHECK(a->info.residual.max == b->info.residual.max) && same;
    same = CHECK(a->info.rounding == b->info.rounding) && same;
    return CHECK(memcmp(a->gamma, b->gamma, size * sizeof *a->gamma) == 0) && same;
}

/* Solves the whole problem and its parts by a solver and compares the bits. */
static void compare_solves(const char *name, TalusProblem *whole, const char *solver,
                           const TalusSolveOptions *options)
{
    const size_t size = (size_t)talus_problem_size(whole);
    TalusSolver *s = NULL;
    Result expected = {.gamma = malloc(size * sizeof(double))};
    Result found = {.gamma = malloc(size * sizeof(double))};
    memset(talus_problem_gamma(whole), 0, size * sizeof(double));
    if (talus_solver_create(solver, &s) != TALUS_OK ||
        talus_solver_supports(s, whole) != TALUS_OK) {
        talus_solver_destroy(s);
        free(expected.gamma);
        free(found.gamma);
        return;
    }
    CHECK_OK(talus_solver_solve(s, whole, options, &expected.info));
    memcpy(expected.gamma, talus_problem_gamma(whole), size * sizeof(double));
    memset(talus_problem_gamma(whole), 0, size * sizeof(double));
    const int runs = talus_mpi_is_launched() ? 1 : RANKS;
    for (int r = 0; r < runs; r++) {
        Job job = {whole, solver, options, &found, 1 + r % 2, r % 2};
        memset(found.gamma, 0xff, size * sizeof(double));
        if (!CHECK_OK(run_ranks(ranks[r], solve_part, &job)) ||
            (is_first && !is_same(&found, &expected, size)))
            printf("    %s, %s, %d ranks\n", name, solver, ranks[r]);
    }
    talus_solver_destroy(s);
    free(expected.gamma);
    free(found.gamma);
}

/* Returns the run in which a contact is stored: of spheres, of a sphere and the fixed world, or general. */
static int run_of(const TalusProblemDef *def, const TalusContactDef *c)
{
    const double *radius = def->radius;
    if (!radius || !(radius[c->a] > 0.0) || (c->b >= 0 && !(radius[c->b] > 0.0)))
        return 2;
    return c->b < 0;
}

/* Puts the contacts in the order of their runs, then of their first bodies, as ranks need them. */
static void put_in_order(TestProblem *p)
{
    TalusContactDef *all = test_memory(p, (size_t)p->def.contact_count, sizeof *all), *next = all;
    for (int run = 0; run < 3; run++)
        for (int body = 0; body < p->def.body_count; body++)
            for (int i = 0; i < p->def.contact_count; i++)
                if (p->def.contacts[i].a == body && run_of(&p->def, &p->def.contacts[i]) == run)
                    *next++ = p->def.contacts[i];
    p->def.contacts = all;
}

static const char *const solvers[] = {"apgd",
                                      "jacobi",
                                      "spg",
                                      "lbfgs-fb",
                                      "anderson",
                                      "mprgp",
                                      "kucera",
                                      "pgd",
                                      "gs",
                                      "gs:omega=1.5",
                                      "gs:metric=trace,coupling=off,rho=0.9",
                                      "gs-coulomb",
                                      "bgs",
                                      "gs-disc",
                                      "nscd"};

static void compare_all(const char *name, const TestProblem *p, TalusFrictionLaw law,
                        const TalusSolveOptions *options)
{
    TalusProblem *whole;
    TalusFrictionModel model = {.section = TALUS_SECTION_DISC, .law = law};
    REQUIRE_OK(talus_problem_create(&p->def, NULL, &whole));
    if (law != TALUS_LAW_CCP)
        REQUIRE_OK(talus_problem_set_friction(whole, model));
    for (size_t s = 0; s < sizeof solvers / sizeof *solvers; s++)
        compare_solves(name, whole, solvers[s], options);
    talus_problem_destroy(whole);
}

TEST(spheres_on_ranks_of_threads)
{
    TestProblem p = make_heap(&(HeapOptions){41, 10, 10, 9, 0.4, 1e-3, 0.0});
    TalusSolveOptions options = talus_solve_options_default();
    put_in_order(&p);
    options.max_iterations = short_solve;
    compare_all("spheres", &p, TALUS_LAW_CCP, &options);
    free_test_problem(&p);
}

TEST(exact_friction_on_ranks_of_threads)
{
    TestProblem p = make_heap(&(HeapOptions){42, 10, 10, 8, 0.4, 1e-3, 0.0});
    TalusSolveOptions options = talus_solve_options_default();
    put_in_order(&p);
    options.max_iterations = short_solve;
    compare_all("coulomb", &p, TALUS_LAW_COULOMB, &options);
    free_test_problem(&p);
}

/* As a world solves: to a tolerance that allows single precision. */
TEST(single_precision_on_ranks_of_threads)
{
    TestProblem p = make_heap(&(HeapOptions){43, 10, 10, 9, 0.4, 1e-3, 0.0});
    TalusSolveOptions options = talus_solve_options_default();
    TalusProblem *whole;
    put_in_order(&p);
    options.reference_speed = 0.05;
    options.tolerance = 1e-4 * options.reference_speed;
    options.max_iterations = 20 * short_solve;
    REQUIRE_OK(talus_problem_create(&p.def, NULL, &whole));
    compare_solves("single", whole, "apgd", &options);
    compare_solves("single", whole, "lbfgs-fb", &options);
    compare_solves("single", whole, "gs", &options);
    compare_solves("single", whole, "gs:omega=1.5", &options);
    talus_problem_destroy(whole);
    free_test_problem(&p);
}

TEST(bodies_of_any_shape_on_ranks_of_threads)
{
    TestProblem p = make_heap(&(HeapOptions){44, 10, 10, 8, 0.4, 0.0, 0.3});
    TestProblem q = make_heap(&(HeapOptions){45, 10, 10, 8, 0.0, 0.0, 0.3});
    TalusSolveOptions options = talus_solve_options_default();
    put_in_order(&p);
    options.max_iterations = short_solve;
    compare_all("general", &p, TALUS_LAW_CCP, &options);
    compare_all("frictionless", &q, TALUS_LAW_CCP, &options);
    free_test_problem(&p);
    free_test_problem(&q);
}

/* ---- contacts that need more than colours ---- */

/* What touches all small bodies: one heavy body, or two that nothing moves; general: all contacts have arms. */
typedef struct Crowd {
    const char *name;
    bool moves, general;
    int count; /* small bodies */
} Crowd;

static TalusVec3 direction(int k)
{
    const double z = 0.9 * cos(0.37 * k), r = sqrt(1.0 - z * z);
    return talus_vec3(r * cos(2.4 * k), r * sin(2.4 * k), z);
}

/* Writes the contact of bodies a and b with this normal; arms follow from the radii. */
static void set_contact(const TestProblem *p, TalusContactDef *c, int a, int b, TalusVec3 normal)
{
    const double *radius = p->def.radius;
    *c = (TalusContactDef){.a = a,
                           .b = b,
                           .normal = normal,
                           .arm_a = talus_scale(radius[a], normal),
                           .arm_b = talus_scale(b >= 0 ? -radius[b] : 0.0, normal),
                           .mu = 0.3 + 0.01 * (a % 7),
                           .bias = -0.002 * (a % 5),
                           .compliance = 1e-3};
}

/* Bodies 0 and 1 touch each small body; the small ones touch the next one and the fixed world. */
static TestProblem make_crowd(const Crowd *o)
{
    TestProblem p = {.name = o->name};
    const int bodies = o->count + 2, first = o->moves ? 1 : 2;
    double *inverse = test_memory(&p, (size_t)bodies, sizeof *inverse);
    double *radius = test_memory(&p, (size_t)bodies, sizeof *radius);
    double *velocity = test_memory(&p, 6 * (size_t)bodies, sizeof *velocity);
    TalusSym3 *inertia = test_memory(&p, (size_t)bodies, sizeof *inertia);
    TalusContactDef *c = test_memory(&p, 4 * (size_t)bodies, sizeof *c), *next = c;
    for (int b = 0; b < bodies; b++) {
        const bool big = b < first;
        radius[b] = big ? 1.0 : 0.05;
        inverse[b] = !big ? 1.0 + 0.1 * (b % 3) : o->moves ? 0.01 : 0.0;
        const double k = 2.5 * inverse[b] / (radius[b] * radius[b]);
        inertia[b] = (TalusSym3){k, k, k, 0.0, 0.0, 0.0};
        velocity[6 * b] = 0.01 * (b % 11) - 0.05;
        velocity[6 * b + 2] = -0.03;
    }
    p.def = (TalusProblemDef){.body_count = bodies,
                              .inv_mass = inverse,
                              .inv_inertia = inertia,
                              .radius = radius,
                              .free_velocity = velocity,
                              .contacts = c};
    for (int a = 0; a < first; a++)
        for (int b = first; b < bodies; b++)
            set_contact(&p, next++, a, b, direction(b + 3 * a));
    for (int b = first; b + 1 < bodies; b++)
        set_contact(&p, next++, b, b + 1, direction(7 * b));
    for (int b = first; b < bodies; b += 2)
        set_contact(&p, next++, b, -1, talus_vec3(0.0, 0.0, -1.0));
    p.def.contact_count = (int)(next - c);
    if (o->general)
        p.def.radius = NULL;
    put_in_order(&p);
    return p;
}

/* Returns the number of contacts of a class of the whole problem. */
static int count_class(TalusProblem *whole, int class)
{
    TalusColouring c = {0};
    int count = 0;
    CHECK_OK(talus_colour_contacts(&whole->op, &c));
    for (int i = 0; i < whole->op.blocks; i++)
        count += c.class_of[i] == class;
    talus_colouring_clear(&c);
    return count;
}

TEST(contacts_without_a_colour_on_ranks_of_threads)
{
    static const Crowd crowds[] = {{"heavy sphere", true, false, 600},
                                   {"heavy body", true, true, 600},
                                   {"spheres that stay", false, false, 600},
                                   {"bodies that stay", false, true, 600}};
    TalusSolveOptions options = talus_solve_options_default();
    options.max_iterations = 4;
    for (int k = 0; k < 4; k++) {
        TestProblem p = make_crowd(&crowds[k]);
        TalusProblem *whole;
        REQUIRE_OK(talus_problem_create(&p.def, NULL, &whole));
        CHECK_INT(count_class(whole, CLASS_HEAVY) > 100, crowds[k].moves);
        CHECK_INT(count_class(whole, CLASS_OVERFLOW) > 100, !crowds[k].moves && !crowds[k].general);
        compare_solves(crowds[k].name, whole, "gs", &options);
        compare_solves(crowds[k].name, whole, "gs:omega=1.3,rho=0.9", &options);
        compare_solves(crowds[k].name, whole, "bgs", &options);
        options.reference_speed = 0.1; /* single precision */
        compare_solves(crowds[k].name, whole, "gs", &options);
        options.reference_speed = 0.0;
        talus_problem_destroy(whole);
        free_test_problem(&p);
    }
}

/* Steps of worlds with fewer bodies than one block of numbers: one rank has all, the others nothing. */
TEST(ranks_without_bodies_of_threads)
{
    TestProblem all[EXTRACTED_PROBLEMS];
    TalusSolveOptions options = talus_solve_options_default();
    options.max_iterations = short_solve;
    make_extracted(all);
    for (int i = 0; i < EXTRACTED_PROBLEMS; i++) {
        TalusProblem *whole;
        REQUIRE_OK(talus_problem_create(&all[i].def, NULL, &whole));
        compare_solves(all[i].name, whole, "apgd", &options);
        talus_problem_destroy(whole);
        free_test_problem(&all[i]);
    }
}

/* ---- all solvers ---- */

/* What is solved: under this law, with bodies of any shape if general. */
typedef struct Small {
    const char *name;
    TalusFrictionLaw law;
    double mu, general;
} Small;

/* More than one block of numbers, so that several ranks have bodies. */
static TalusProblem *make_small(const Small *o, TestProblem *p)
{
    TalusProblem *whole = NULL;
    *p = make_heap(&(HeapOptions){47, 12, 11, 2, o->mu, 1e-3, o->general});
    put_in_order(p);
    CHECK_OK(talus_problem_create(&p->def, NULL, &whole));
    if (o->law != TALUS_LAW_CCP)
        CHECK_OK(talus_problem_set_friction(
            whole, (TalusFrictionModel){.section = TALUS_SECTION_DISC, .law = o->law}));
    return whole;
}

static const Small small[] = {{"spheres", TALUS_LAW_CCP, 0.4, 0.0},
                              {"general", TALUS_LAW_CCP, 0.4, 0.3},
                              {"coulomb", TALUS_LAW_COULOMB, 0.4, 0.3},
                              {"fixed", TALUS_LAW_FIXED, 0.4, 0.3},
                              {"frictionless", TALUS_LAW_CCP, 0.0, 0.3}};

TEST(all_solvers_on_ranks_of_threads)
{
    for (size_t k = 0; k < sizeof small / sizeof *small; k++) {
        TestProblem p;
        TalusProblem *whole = make_small(&small[k], &p);
        TalusSolveOptions options = talus_solve_options_default();
        options.max_iterations = 3;
        for (int s = 0; s < talus_solver_count(); s++)
            compare_solves(small[k].name, whole, talus_solver_row(s).name, &options);
        options.max_iterations =
            CONVERGE; /* through all stages of auto, then as a step of a world */
        compare_solves(small[k].name, whole, "auto", &options);
        options.tolerance = 1e-3;
        options.reference_speed = 0.05;
        compare_solves(small[k].name, whole, "auto", &options);
        talus_problem_destroy(whole);
        free_test_problem(&p);
    }
}

/* ---- metrics ---- */

typedef struct Measuring {
    const TalusProblem *whole;
    const TalusMetrics *expected;
    _Atomic int differing; /* ranks that found other metrics */
} Measuring;

static TalusStatus measure_part(TalusComm *comm, void *context)
{
    Measuring *m = context;
    TalusProblem *part;
    TalusMetrics found = {0};
    TalusStatus status = talus_part_create(m->whole, comm, NULL, &part);
    if (status == TALUS_OK)
        status = talus_problem_measure(part, talus_problem_gamma(part), &found);
    if (status == TALUS_OK && memcmp(&found, m->expected, sizeof found) != 0)
        m->differing++;
    talus_problem_destroy(part);
    return status;
}

TEST(metrics_on_ranks_of_threads)
{
    for (size_t k = 0; k < sizeof small / sizeof *small; k++) {
        TestProblem p;
        TalusProblem *whole = make_small(&small[k], &p);
        double *gamma = talus_problem_gamma(whole);
        TalusMetrics expected = {0};
        Measuring measuring = {whole, &expected, 0};
        for (int i = 0; i < talus_problem_size(whole); i++)
            gamma[i] = i % 3 == 0 ? 0.01 * (i % 7) : 0.001 * (i % 5);
        REQUIRE_OK(talus_problem_measure(whole, gamma, &expected));
        for (int r = 0; r < RANKS; r++)
            CHECK_OK(talus_ranks_run(ranks[r], measure_part, &measuring));
        CHECK_INT(measuring.differing, 0);
        talus_problem_destroy(whole);
        free_test_problem(&p);
    }
}

/* ---- velocities of the halo, behind the work ---- */

/* What a rank has done in a loop over groups; the velocity record of a body has its number in all entries. */
typedef struct Visits {
    const TalusOperator *op;
    _Atomic int *group;  /* calls for each group */
    _Atomic int strange; /* velocities that were not as expected */
    int looks;           /* at the messages */
    bool late;           /* messages are not here before they are waited for */
    bool fails;          /* the halo does not come */
    bool waited;
} Visits;

static _Thread_local Visits *visits; /* of this rank, for its communicator */
static _Thread_local const TalusCommOps *carrier;

/* True if all bodies of the group are own. */
static bool group_is_inner(const TalusOperator *op, int group)
{
    const TalusGroups *groups = &op->scratch->groups;
    for (int i = groups->start[group]; i < groups->start[group + 1]; i++)
        for (int side = 0; side < 2; side++)
            if (op->pair[i][side] >= 0 && !op->halo->owned[op->pair[i][side]])
                return false;
    return true;
}

static bool note_look(TalusComm *comm)
{
    visits->looks++;
    return carrier->advance_exchange(comm) && !visits->late;
}

/* Before a rank waits for a late halo it has gone over its inner groups and no others. */
static bool check_before_wait(TalusComm *comm)
{
    for (int g = 0; g < visits->op->scratch->groups.count; g++) {
        const bool inner = group_is_inner(visits->op, g);
        CHECK_INT(visits->group[g], inner && (visits->late || visits->group[g]));
    }
    visits->waited = true;
    return carrier->finish_exchange(comm);
}

/* Writes the records of bodies [begin, end), which must be own. */
static void write_numbers(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    Visits *v = context;
    (void)chunk;
    for (int64_t i = begin; i < end; i++)
        for (int k = 0; k < 8; k++) {
            v->strange += !v->op->halo->owned[i];
            v->op->scratch->velocity[i][k] =
                (double)talus_body_number(&v->op->numbers, (int32_t)i) + k;
        }
}

/* Reads the records of the bodies of a group. */
static void visit_group(void *context, int64_t begin, int64_t end, int64_t group)
{
    Visits *v = context;
    const TalusOperator *op = v->op;
    v->group[group]++;
    for (int64_t i = begin; i < end; i++)
        for (int side = 0; side < 2; side++) {
            const int body = op->pair[i][side];
            if (body < 0)
                continue;
            const double seen = op->scratch->velocity[body][7];
            v->strange += v->fails && !op->halo->owned[body]
                              ? !isnan(seen)
                              : seen != (double)talus_body_number(&op->numbers, body) + 7;
        }
}

/* A product's loops on a part, with another function in each place. */
static void check_order(TalusProblem *part, TalusComm *comm, bool late, bool fails)
{
    const TalusOperator *op = &part->op;
    const int groups = op->scratch->groups.count;
    Visits v = {.op = op,
                .group = calloc((size_t)groups + 1, sizeof *v.group),
                .late = late,
                .fails = fails};
    TalusCommOps spy = *comm->ops;
    int inner = 0;
    carrier = comm->ops;
    visits = &v;
    spy.advance_exchange = note_look;
    spy.finish_exchange = check_before_wait;
    comm->ops = &spy;
    memset(op->scratch->velocity, 0, (size_t)op->bodies * sizeof *op->scratch->velocity);
    talus_cpu_compute_and_send(op, write_numbers, &v, op->scratch->velocity,
                               sizeof *op->scratch->velocity);
    talus_cpu_for_each_group_when_ready(op, visit_group, &v);
    comm->ops = carrier;
    for (int g = 0; g < groups; g++) {
        CHECK_INT(v.group[g], 1);
        inner += group_is_inner(op, g);
    }
    CHECK_INT(v.strange, 0);
    CHECK_INT(v.waited, talus_comm_size(comm) > 1);
    CHECK(v.looks > 0 || talus_comm_size(comm) == 1);
    CHECK(inner > 0); /* the problem is large enough for both kinds */
    CHECK(inner < groups || talus_comm_size(comm) == 1);
    free(v.group);
}

static TalusStatus visit_part(TalusComm *comm, void *context)
{
    TalusProblem *part = NULL;
    TalusPool *pool = NULL;
    TalusStatus status = talus_pool_create(1 + talus_comm_rank(comm) % 2, &pool);
    status = status == TALUS_OK ? talus_part_create(context, comm, pool, &part) : status;
    for (int k = 0; k < 4 && status == TALUS_OK; k++)
        check_order(part, comm, k != 1, false);
    if (status == TALUS_OK && talus_comm_size(comm) > 1) { /* then rank 0 fails */
        if (talus_comm_rank(comm) == 0)
            status = talus_fail(TALUS_ERR_IO, "rank 0 fails");
        else if (!talus_mpi_is_launched()) /* other processes may have all they need */
            check_order(part, comm, true, true);
    }
    talus_problem_destroy(part);
    talus_pool_destroy(pool);
    return status;
}

TEST(inner_groups_come_before_the_halo_of_threads)
{
    TestProblem p = make_heap(&(HeapOptions){48, 10, 10, 36, 0.4, 1e-3, 0.0});
    TalusProblem *whole;
    put_in_order(&p);
    REQUIRE_OK(talus_problem_create(&p.def, NULL, &whole));
    for (int r = 0; r < RANKS && ranks[r] <= 3; r++)
        CHECK_INT(run_ranks(ranks[r], visit_part, whole),
                  ranks[r] > 1 || talus_mpi_is_launched() ? TALUS_ERR_IO : TALUS_OK);
    talus_problem_destroy(whole);
    free_test_problem(&p);
}

/* ---- what parts refuse ---- */

static void check_refused(TalusProblem *whole, const char *solver, const TalusSolveOptions *options,
                          const char *words)
{
    Result none = {.gamma = NULL};
    Job job = {whole, solver, options, &none, 1, false};
    CHECK_INT(run_ranks(2, solve_part, &job), TALUS_ERR_UNSUPPORTED);
    if (!CHECK(strstr(talus_error(), words) != NULL))
        printf("    %s\n", talus_error());
}

static bool sees(void *user, const TalusObservation *seen)
{
    (void)user;
    (void)seen;
    return true;
}

TEST(what_parts_refuse_is_said)
{
    TestProblem p = make_heap(&(HeapOptions){46, 8, 8, 6, 0.4, 0.0, 0.0});
    TestProblem matrix = make_explicit(3, 20, 3);
    TalusSolveOptions options = talus_solve_options_default(), observed = options;
    TalusProblem *whole, *given;
    observed.observer = sees;
    REQUIRE_OK(talus_problem_create(&p.def, NULL, &whole));
    REQUIRE_OK(talus_problem_create(&matrix.def, NULL, &given));
    check_refused(whole, "ipm-chol", &observed, "sees a part");
    check_refused(given, "apgd", &options, "explicit matrix");
    talus_problem_destroy(whole);
    talus_problem_destroy(given);
    free_test_problem(&p);
    free_test_problem(&matrix);
}

/* ---- shares ---- */

TEST(shares_have_about_equal_weight)
{
    const int64_t weight[] = {5, 5, 5, 5, 0, 0, 40, 0, 1, 1};
    int64_t first[4];
    talus_cut_by_weight(10, weight, 0, 3, first);
    CHECK_INT(first[0], 0);
    CHECK_INT(first[3], 10);
    for (int p = 0; p < 3; p++)
        CHECK(first[p] <= first[p + 1]);
    talus_cut_by_weight(4, weight, 0, 2, first);
    CHECK_INT(first[1], 2);
    talus_cut_by_weight(0, weight, 1, 3, first);
    CHECK_INT(first[3], 0);
}

int main(void)
{
    is_first = is_first_process();
    short_solve = talus_mpi_is_launched() ? 6 : SHORT;
    RUN(spheres_on_ranks_of_threads);
    RUN(exact_friction_on_ranks_of_threads);
    RUN(single_precision_on_ranks_of_threads);
    RUN(bodies_of_any_shape_on_ranks_of_threads);
    RUN(contacts_without_a_colour_on_ranks_of_threads);
    RUN(ranks_without_bodies_of_threads);
    RUN(all_solvers_on_ranks_of_threads);
    RUN(metrics_on_ranks_of_threads);
    RUN(inner_groups_come_before_the_halo_of_threads);
    RUN(what_parts_refuse_is_said);
    RUN(shares_have_about_equal_weight);
    return talus_test_result();
}

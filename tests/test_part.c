/* Parts of a problem on several ranks (problem/part.c): solvers give the bits of the whole problem. Under mpirun its
 * processes are the ranks (tests/comm_mpi.sh). */
#include "problem/part.h"

#include "support/problems.h"
#include "support/ranks.h"
#include "support/test.h"

#include <talus/solver.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of ranks, most of which share a processor here: with a sanitizer few, since each exchange then takes long. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
static const int ranks[] = {1, 3};
enum { SHORT = 10 };
#else
static const int ranks[] = {1, 2, 3, 5, 8};
enum { SHORT = 60 };
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
} Job;

static TalusStatus solve_part(TalusComm *comm, void *context)
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
    REQUIRE_OK(talus_solver_create(solver, &s));
    if (talus_solver_supports(s, whole) != TALUS_OK) {
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
        Job job = {whole, solver, options, &found, 1 + r % 2};
        memset(found.gamma, 0xff, size * sizeof(double));
        if (!CHECK_OK(run_ranks(ranks[r], solve_part, &job)) ||
            (is_first && !is_same(&found, &expected, size)))
            printf("    %s, %s, %d ranks\n", name, solver, ranks[r]);
    }
    talus_solver_destroy(s);
    free(expected.gamma);
    free(found.gamma);
}

/* Puts contacts with the fixed world last, so that those of spheres are stored as such. */
static void put_walls_last(TestProblem *p)
{
    TalusContactDef *all = test_memory(p, (size_t)p->def.contact_count, sizeof *all);
    int count = 0;
    for (int wall = 0; wall < 2; wall++)
        for (int i = 0; i < p->def.contact_count; i++)
            if ((p->def.contacts[i].b < 0) == (wall == 1))
                all[count++] = p->def.contacts[i];
    p->def.contacts = all;
}

static const char *const solvers[] = {"apgd",     "jacobi", "spg",    "lbfgs-fb",
                                      "anderson", "mprgp",  "kucera", "pgd"};

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
    put_walls_last(&p);
    options.max_iterations = short_solve;
    compare_all("spheres", &p, TALUS_LAW_CCP, &options);
    free_test_problem(&p);
}

TEST(exact_friction_on_ranks_of_threads)
{
    TestProblem p = make_heap(&(HeapOptions){42, 10, 10, 8, 0.4, 1e-3, 0.0});
    TalusSolveOptions options = talus_solve_options_default();
    put_walls_last(&p);
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
    put_walls_last(&p);
    options.reference_speed = 0.05;
    options.tolerance = 1e-4 * options.reference_speed;
    options.max_iterations = 20 * short_solve;
    REQUIRE_OK(talus_problem_create(&p.def, NULL, &whole));
    compare_solves("single", whole, "apgd", &options);
    compare_solves("single", whole, "lbfgs-fb", &options);
    talus_problem_destroy(whole);
    free_test_problem(&p);
}

TEST(bodies_of_any_shape_on_ranks_of_threads)
{
    TestProblem p = make_heap(&(HeapOptions){44, 10, 10, 8, 0.4, 0.0, 0.3});
    TestProblem q = make_heap(&(HeapOptions){45, 10, 10, 8, 0.0, 0.0, 0.3});
    TalusSolveOptions options = talus_solve_options_default();
    options.max_iterations = short_solve;
    compare_all("general", &p, TALUS_LAW_CCP, &options);
    compare_all("frictionless", &q, TALUS_LAW_CCP, &options);
    free_test_problem(&p);
    free_test_problem(&q);
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

/* ---- what parts refuse ---- */

static void check_refused(TalusProblem *whole, const char *solver, const char *words)
{
    TalusSolveOptions options = talus_solve_options_default();
    Result none = {.gamma = NULL};
    Job job = {whole, solver, &options, &none, 1};
    CHECK_INT(run_ranks(2, solve_part, &job), TALUS_ERR_UNSUPPORTED);
    if (!CHECK(strstr(talus_error(), words) != NULL))
        printf("    %s\n", talus_error());
}

TEST(solvers_that_need_the_whole_problem_say_so)
{
    TestProblem p = make_heap(&(HeapOptions){46, 8, 8, 6, 0.4, 0.0, 0.0});
    TestProblem matrix = make_explicit(3, 20, 3);
    TalusProblem *whole, *given;
    REQUIRE_OK(talus_problem_create(&p.def, NULL, &whole));
    REQUIRE_OK(talus_problem_create(&matrix.def, NULL, &given));
    check_refused(whole, "gs", "needs the whole problem");
    check_refused(whole, "prox", "needs the whole problem");
    check_refused(whole, "auto", "needs the whole problem");
    check_refused(given, "apgd", "explicit matrix");
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
    RUN(ranks_without_bodies_of_threads);
    RUN(solvers_that_need_the_whole_problem_say_so);
    RUN(shares_have_about_equal_weight);
    return talus_test_result();
}

/* Parts of a problem on several ranks, on the cuda backends: solvers give the bits of the whole problem there. */
#include "problem/part.h"

#include "problem/problem.h"

#include "support/cuda.h"
#include "support/problems.h"
#include "support/test.h"

#include <talus/solver.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int ranks[] = {2, 3};
enum { RANKS = sizeof ranks / sizeof *ranks, SHORT = 7, LONG = 60 };

/* What one solve gives. */
typedef struct Result {
    TalusSolveInfo info;
    double *gamma; /* [size] of the whole problem */
} Result;

/* A solve of parts. */
typedef struct Job {
    const TalusProblem *whole;
    const char *solver, *backend;
    const TalusSolveOptions *options;
    Result *result;
} Job;

static TalusStatus solve_part(TalusComm *comm, void *context)
{
    const Job *job = context;
    TalusProblem *part = NULL;
    TalusSolver *solver = NULL;
    TalusSolveInfo info;
    TalusStatus status = talus_part_create(job->whole, comm, NULL, &part);
    TALUS_THEN(status, talus_problem_set_backend(part, job->backend));
    TALUS_THEN(status, talus_solver_create(job->solver, &solver));
    TALUS_THEN(status, talus_solver_solve(solver, part, job->options, &info));
    TALUS_THEN(status, talus_part_collect(part, job->result->gamma));
    if (status == TALUS_OK && talus_comm_rank(comm) == 0)
        job->result->info = info;
    talus_solver_destroy(solver);
    talus_problem_destroy(part);
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

/* Solves the whole problem and its parts by a solver on a backend and compares the bits. */
static void compare_solves(const char *name, TalusProblem *whole, const char *backend,
                           const char *solver, const TalusSolveOptions *options)
{
    const size_t size = (size_t)talus_problem_size(whole);
    TalusSolver *s = NULL;
    Result expected = {.gamma = malloc(size * sizeof(double))};
    Result found = {.gamma = malloc(size * sizeof(double))};
    memset(talus_problem_gamma(whole), 0, size * sizeof(double));
    REQUIRE_OK(talus_problem_set_backend(whole, backend));
    REQUIRE_OK(talus_solver_create(solver, &s));
    CHECK_OK(talus_solver_solve(s, whole, options, &expected.info));
    memcpy(expected.gamma, talus_problem_gamma(whole), size * sizeof(double));
    memset(talus_problem_gamma(whole), 0, size * sizeof(double));
    REQUIRE_OK(talus_problem_set_backend(whole, "cpu"));
    for (int r = 0; r < RANKS; r++) {
        Job job = {whole, solver, backend, options, &found};
        memset(found.gamma, 0xff, size * sizeof(double));
        if (!CHECK_OK(talus_ranks_run(ranks[r], solve_part, &job)) ||
            !is_same(&found, &expected, size))
            printf("    %s, %s on %s, %d ranks\n", name, solver, backend, ranks[r]);
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

/* What is solved: under this law, with bodies of any shape if general. */
typedef struct Case {
    const char *name;
    TalusFrictionLaw law;
    double mu, general;
} Case;

static const Case cases[] = {{"spheres", TALUS_LAW_CCP, 0.4, 0.0},
                             {"general", TALUS_LAW_CCP, 0.4, 0.3},
                             {"coulomb", TALUS_LAW_COULOMB, 0.4, 0.3},
                             {"fixed", TALUS_LAW_FIXED, 0.4, 0.3},
                             {"frictionless", TALUS_LAW_CCP, 0.0, 0.3}};
enum { CASES = sizeof cases / sizeof *cases };

/* More than one block of numbers, so that several ranks have bodies. */
static TalusProblem *make_case(const Case *o, TestProblem *p)
{
    TalusProblem *whole = NULL;
    *p = make_heap(&(HeapOptions){47, 12, 11, 5, o->mu, 1e-3, o->general});
    put_in_order(p);
    CHECK_OK(talus_problem_create(&p->def, NULL, &whole));
    if (o->law != TALUS_LAW_CCP)
        CHECK_OK(talus_problem_set_friction(
            whole, (TalusFrictionModel){.section = TALUS_SECTION_DISC, .law = o->law}));
    return whole;
}

static void compare_case(const Case *o, const char *const *solver, int solvers, int iterations)
{
    TestProblem p;
    TalusProblem *whole = make_case(o, &p);
    TalusSolveOptions options = talus_solve_options_default();
    options.max_iterations = iterations;
    for (int k = 0; k < solvers; k++) {
        compare_solves(o->name, whole, "cuda", solver[k], &options);
        compare_solves(o->name, whole, "cuda-mixed", solver[k], &options);
    }
    talus_problem_destroy(whole);
    free_test_problem(&p);
}

/* Solvers whose iterations are runs on the device. */
TEST(runs_on_ranks)
{
    static const char *const solver[] = {"apgd", "jacobi", "apgd:metric=trace"};
    NEEDS_CUDA();
    for (int k = 0; k < CASES; k++)
        compare_case(&cases[k], solver, cases[k].law == TALUS_LAW_CCP ? 3 : 1, LONG);
}

/* Solvers by single operations, and those for which rank 0 gathers the whole problem. */
TEST(operations_on_ranks)
{
    static const char *const any[] = {"lbfgs-fb", "spg", "anderson", "gs:order=coloured"};
    static const char *const convex[] = {"kucera"};
    NEEDS_CUDA();
    for (int k = 0; k < CASES; k++) {
        compare_case(&cases[k], any, 4, SHORT);
        if (cases[k].law == TALUS_LAW_CCP)
            compare_case(&cases[k], convex, 1, SHORT);
    }
}

int main(void)
{
    cuda = talus_backend_find("cuda");
    RUN(runs_on_ranks);
    RUN(operations_on_ranks);
    return cuda_test_result();
}

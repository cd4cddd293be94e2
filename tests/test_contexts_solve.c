/* Problems of one process that are solved at once get the bits of being solved alone, on the host and, where there is
 * such a backend, on the device, each in a context of its own; errors stay where they were met. */
#include "support/cuda.h"
#include "support/problems.h"
#include "support/test.h"

#include "base/memory.h"

#include <math.h>
#include <pthread.h>
#include <string.h>
#include <talus/problem.h>
#include <talus/solver.h>

enum { WORKERS = 6, ROUNDS = 3 };

static const char *const backends[] = {"cpu", "cuda", "cuda-mixed"};

typedef struct Solve {
    const char *backend, *solver;
    TestProblem test;
    TalusProblem *problem;
    TalusStatus status;
} Solve;

static void *solve(void *user)
{
    Solve *s = user;
    TalusSolver *solver = NULL;
    TalusSolveOptions options = talus_solve_options_default();
    TalusSolveInfo info;
    options.max_iterations = 300;
    s->status = talus_solver_create(s->solver, &solver);
    if (s->status == TALUS_OK)
        s->status = talus_problem_set_backend(s->problem, s->backend);
    if (s->status == TALUS_OK)
        s->status = talus_solver_solve(solver, s->problem, &options, &info);
    talus_solver_destroy(solver);
    return NULL;
}

/* Methods whose iterations a device runs by itself twice each, so that these meet. */
static Solve make_solve(const char *backend, int k)
{
    static const char *const solvers[WORKERS] = {"apgd",  "mprgp", "lbfgs-fb",
                                                 "mprgp", "apgd",  "gs:order=coloured"};
    Solve s = {.backend = backend, .solver = solvers[k]};
    s.test = make_heap(&(HeapOptions){
        .seed = (uint64_t)(k + 1), .nx = 3, .ny = 3 + k % 2, .nz = 2, .mu = 0.4, .general = 0.2});
    CHECK_OK(talus_problem_create(&s.test.def, NULL, &s.problem));
    return s;
}

static void close_solve(Solve *s)
{
    talus_problem_destroy(s->problem);
    free_test_problem(&s->test);
}

static void solve_at_once(const char *backend, const Solve *alone)
{
    Solve s[WORKERS];
    pthread_t thread[WORKERS];
    for (int k = 0; k < WORKERS; k++)
        s[k] = make_solve(backend, k);
    for (int k = 0; k < WORKERS; k++)
        REQUIRE(pthread_create(&thread[k], NULL, solve, &s[k]) == 0);
    for (int k = 0; k < WORKERS; k++) {
        pthread_join(thread[k], NULL);
        CHECK_INT(s[k].status, TALUS_OK);
        CHECK(memcmp(talus_problem_gamma(s[k].problem), talus_problem_gamma(alone[k].problem),
                     (size_t)talus_problem_size(s[k].problem) * sizeof(double)) == 0);
        close_solve(&s[k]);
    }
}

TEST(problems_on_threads_are_solved_as_if_alone)
{
    for (int b = 0; b < 3; b++) {
        Solve alone[WORKERS];
        if (!talus_backend_find(backends[b]))
            continue;
        for (int k = 0; k < WORKERS; k++) {
            alone[k] = make_solve(backends[b], k);
            solve(&alone[k]);
            CHECK_INT(alone[k].status, TALUS_OK);
        }
        for (int round = 0; round < ROUNDS; round++)
            solve_at_once(backends[b], alone);
        for (int k = 0; k < WORKERS; k++)
            close_solve(&alone[k]);
    }
}

/* The first sum in a context takes memory, which is refused: that context alone says so. */
TEST(an_error_belongs_to_a_context)
{
    NEEDS_CUDA();
    TalusContext *good, *bad;
    double *x = NULL;
    size_t room = 0;
    REQUIRE_OK(cuda->context_create(&good));
    REQUIRE_OK(cuda->context_create(&bad));
    TalusOperator there = {.context = good, .rows = 1, .blocks = 3};
    TalusOperator failing = {.context = bad, .rows = 1, .blocks = 3};
    REQUIRE_OK(cuda->vector.reserve(&there, &x, &room, 3, "test"));
    cuda->vector.put(&there, x, (const double[3]){1.0, 2.0, 3.0}, 3);
    talus_fail_allocation_in(1);
    CHECK(isnan(cuda->vector.dot(&failing, x, x)));
    talus_fail_allocation_in(0);
    CHECK(cuda->vector.dot(&there, x, x) == 14.0);
    CHECK_OK(cuda->check(good));
    CHECK(cuda->check(bad) != TALUS_OK);
    CHECK(strstr(talus_error(), "partial sums"));
    CHECK(cuda->vector.dot(&failing, x, x) == 14.0);
    CHECK_OK(cuda->check(bad));
    cuda->vector.release(x);
    cuda->context_destroy(good);
    cuda->context_destroy(bad);
}

int main(void)
{
    cuda = talus_backend_find("cuda");
    RUN(problems_on_threads_are_solved_as_if_alone);
    RUN(an_error_belongs_to_a_context);
    return cuda_test_result();
}

/* Parts of a problem on several ranks, on the cuda backends: solvers and runs give the bits of the whole problem there, by
 * windows as by messages; which problems are gathered; what happens to the others if a rank leaves. */
#include "problem/part.h"

#include "backend/run.h"
#include "base/status.h"
#include "problem/problem.h"
#include "solvers/driver/gathered.h"

#include "support/cuda.h"
#include "support/problems.h"
#include "support/test.h"

#include <talus/solver.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int ranks[] = {1, 2, 3};
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
    bool by_messages; /* as between processes */
} Job;

/* Makes a rank's communicator one of ranks that do not share memory. */
static void hide_memory(TalusComm *comm, TalusCommOps *ops)
{
    *ops = *comm->ops;
    ops->shares_memory = false;
    comm->ops = ops;
}

static TalusStatus solve_part(TalusComm *comm, void *context)
{
    const Job *job = context;
    TalusProblem *part = NULL;
    TalusSolver *solver = NULL;
    TalusSolveInfo info;
    TalusCommOps ops;
    const TalusCommOps *const own = comm->ops;
    if (job->by_messages)
        hide_memory(comm, &ops);
    TalusStatus status = talus_part_create(job->whole, comm, NULL, &part);
    TALUS_THEN(status, talus_problem_set_backend(part, job->backend));
    TALUS_THEN(status, talus_solver_create(job->solver, &solver));
    TALUS_THEN(status, talus_solver_solve(solver, part, job->options, &info));
    TALUS_THEN(status, talus_part_collect(part, job->result->gamma));
    if (status == TALUS_OK && talus_comm_rank(comm) == 0)
        job->result->info = info;
    talus_solver_destroy(solver);
    talus_problem_destroy(part);
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
    for (int k = 0; k <= RANKS; k++) {
        const int r = k < RANKS ? k : RANKS - 1;
        Job job = {whole, solver, backend, options, &found, k == RANKS};
        memset(found.gamma, 0xff, size * sizeof(double));
        if (!CHECK_OK(talus_ranks_run(ranks[r], solve_part, &job)) ||
            !is_same(&found, &expected, size))
            printf("    %s, %s on %s, %d ranks%s\n", name, solver, backend, ranks[r],
                   job.by_messages ? ", by messages" : "");
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

/* ---- runs in parts ---- */

/* A run from zero impulses, without the single kernel, as of a problem for which that is too small. */
typedef struct RunJob {
    const TalusProblem *whole;
    const char *backend;
    bool jacobi, by_messages;
    int iterations;
    bool stops;      /* at a residual that is reached before the last iteration */
    double stop_rms; /* TalusRun */
    TalusRun run;    /* out, on rank 0 */
    double *gamma;   /* out: [size] of the whole problem */
} RunJob;

/* Runs on solver_op of an uploaded problem; the result goes to solver_gamma. */
static TalusStatus run_on(const RunJob *job, TalusProblem *p, TalusRun *run)
{
    const TalusBackend *b = p->backend;
    const TalusOperator *op = p->solver_op;
    const size_t n = (size_t)talus_problem_size(p);
    double *v[2] = {NULL, NULL};
    size_t capacity[2] = {0, 0};
    *run = (TalusRun){
        .iterations = job->iterations, .check = 5, .stepwise = true, .stop_rms = job->stop_rms};
    if (job->jacobi)
        return talus_run_jacobi(b, op, 0.3, 0.9, p->solver_gamma, run);
    TalusStatus status = b->vector.reserve(op, &v[0], &capacity[0], n, "test");
    TALUS_THEN(status, b->vector.reserve(op, &v[1], &capacity[1], n, "test"));
    TalusAccelerated a = {
        .x = p->solver_gamma, .x_prev = v[0], .g_prev = v[1], .kind = TALUS_METRIC_ANISOTROPIC};
    TalusMomentum momentum = {.norm = 3.0, .margin = 1.02, .theta = 1.0, .restart = true};
    if (status == TALUS_OK) {
        b->vector.zero(op, v[0], n);
        b->vector.zero(op, v[1], n);
        status = talus_run_accelerate(b, op, &a, &momentum, run);
    }
    if (status == TALUS_OK && a.x != p->solver_gamma)
        b->vector.copy(op, p->solver_gamma, a.x, n);
    b->vector.release(v[0]);
    b->vector.release(v[1]);
    return status;
}

static TalusStatus run_problem(const RunJob *job, TalusProblem *p, TalusRun *run)
{
    memset(talus_problem_gamma(p), 0, (size_t)talus_problem_size(p) * sizeof(double));
    TALUS_TRY(talus_problem_set_backend(p, job->backend));
    TALUS_TRY(talus_problem_upload(p));
    TalusStatus status = run_on(job, p, run);
    talus_problem_download(p);
    return status;
}

static TalusStatus run_part(TalusComm *comm, void *context)
{
    RunJob *job = context;
    TalusProblem *part = NULL;
    TalusRun run;
    TalusCommOps ops;
    const TalusCommOps *const own = comm->ops;
    if (job->by_messages)
        hide_memory(comm, &ops);
    TalusStatus status = talus_part_create(job->whole, comm, NULL, &part);
    TALUS_THEN(status, run_problem(job, part, &run));
    TALUS_THEN(status, talus_part_collect(part, job->gamma));
    if (status == TALUS_OK && talus_comm_rank(comm) == 0)
        job->run = run;
    talus_problem_destroy(part);
    comm->ops = own;
    return status;
}

/* Five ranks: more than there are slots for arguments (backend/cuda/iterate/iterate.cu). */
static void compare_runs(TalusProblem *whole, RunJob job, const char *name)
{
    static const int numbers[] = {1, 2, 5};
    const size_t size = (size_t)talus_problem_size(whole);
    double *expected = malloc(size * sizeof *expected);
    TalusRun of_one;
    job.whole = whole;
    job.gamma = malloc(size * sizeof *job.gamma);
    REQUIRE_OK(run_problem(&job, whole, &of_one));
    if (job.stops) {
        job.stop_rms = 1.5 * sqrt(of_one.residual2 / talus_problem_blocks(whole));
        REQUIRE_OK(run_problem(&job, whole, &of_one));
    }
    CHECK((of_one.done < job.iterations) == job.stops);
    memcpy(expected, talus_problem_gamma(whole), size * sizeof *expected);
    REQUIRE_OK(talus_problem_set_backend(whole, "cpu"));
    for (int k = 0; k < 6; k++) {
        job.by_messages = k % 2;
        memset(job.gamma, 0xff, size * sizeof *job.gamma);
        bool ok = CHECK_OK(talus_ranks_run(numbers[k / 2], run_part, &job));
        ok = ok && CHECK_INT(job.run.done, of_one.done);
        ok = ok && CHECK(job.run.residual2 == of_one.residual2);
        ok = ok && CHECK(job.run.residual_max == of_one.residual_max);
        if (!ok || !CHECK(memcmp(job.gamma, expected, size * sizeof *expected) == 0))
            printf("    %s, %s on %s, %d ranks%s\n", name, job.jacobi ? "jacobi" : "apgd",
                   job.backend, numbers[k / 2], k % 2 ? ", by messages" : "");
    }
    free(expected);
    free(job.gamma);
}

/* To their last iteration, and to a residual that is reached earlier. */
TEST(runs_in_parts)
{
    NEEDS_CUDA();
    for (int k = 0; k < 2; k++) {
        TestProblem p;
        TalusProblem *whole = make_case(&cases[k], &p);
        for (int way = 0; way < 8; way++)
            compare_runs(whole,
                         (RunJob){.backend = way % 2 ? "cuda-mixed" : "cuda",
                                  .jacobi = way & 2,
                                  .iterations = way & 4 ? 80 : 23,

                                  .stops = way & 4},
                         cases[k].name);
        talus_problem_destroy(whole);
        free_test_problem(&p);
    }
}

/* ---- which problems are gathered ---- */

typedef struct Question {
    const TalusProblem *whole;
    const char *solver, *backend;
    int64_t limit; /* TalusBackend.gathered_blocks; < 0: that of the backend */
    bool observed; /* rank 0 has an observer */
    bool gathers;
} Question;

static bool observe(void *context, const TalusObservation *iterate)
{
    (void)context;
    (void)iterate;
    return true;
}

static TalusStatus ask(TalusComm *comm, void *context)
{
    Question *q = context;
    TalusProblem *part = NULL;
    TalusSolver *solver = NULL;
    TalusBackend other;
    TalusSolveOptions options = talus_solve_options_default();
    if (q->observed && talus_comm_rank(comm) == 0)
        options.observer = observe;
    TalusStatus status = talus_part_create(q->whole, comm, NULL, &part);
    TALUS_THEN(status, talus_problem_set_backend(part, q->backend));
    TALUS_THEN(status, talus_solver_create(q->solver, &solver));
    if (status == TALUS_OK) {
        const TalusBackend *own = part->backend;
        other = *own;
        other.gathered_blocks = q->limit < 0 ? own->gathered_blocks : q->limit;
        part->backend = &other;
        const bool gathers = talus_solver_gathers(solver, part, &options);
        part->backend = own;
        if (talus_comm_rank(comm) == 0)
            q->gathers = gathers;
        CHECK(talus_comm_any(comm, gathers) == gathers);
    }
    talus_solver_destroy(solver);
    talus_problem_destroy(part);
    return status;
}

static bool gathers(Question q)
{
    CHECK_OK(talus_ranks_run(3, ask, &q));
    return q.gathers;
}

TEST(small_problems_are_gathered)
{
    TestProblem p;
    NEEDS_CUDA();
    TalusProblem *whole = make_case(&cases[0], &p);
    const int64_t blocks = talus_problem_blocks(whole);
    CHECK(
        gathers((Question){.whole = whole, .solver = "apgd", .backend = "cuda", .limit = blocks}));
    CHECK(gathers(
        (Question){.whole = whole, .solver = "jacobi", .backend = "cuda-mixed", .limit = blocks}));
    CHECK(!gathers(
        (Question){.whole = whole, .solver = "apgd", .backend = "cuda", .limit = blocks - 1}));
    CHECK(!gathers((Question){
        .whole = whole, .solver = "apgd", .backend = "cuda", .limit = blocks, .observed = true}));
    CHECK(!gathers(
        (Question){.whole = whole, .solver = "lbfgs-fb", .backend = "cuda", .limit = blocks}));
    CHECK(gathers((Question){.whole = whole, .solver = "gs", .backend = "cuda", .limit = 0}));
    CHECK(!gathers((Question){.whole = whole, .solver = "apgd", .backend = "cpu", .limit = -1}));
    CHECK(cuda->gathered_blocks > 0);
    talus_problem_destroy(whole);
    free_test_problem(&p);
}

/* ---- a rank that leaves ---- */

static TalusStatus run_or_leave(TalusComm *comm, void *context)
{
    RunJob *job = context;
    TalusProblem *part = NULL;
    TalusRun run;
    TalusStatus status = talus_part_create(job->whole, comm, NULL, &part);
    TALUS_THEN(status, talus_problem_set_backend(part, job->backend));
    TALUS_THEN(status, talus_problem_upload(part));
    if (status == TALUS_OK && talus_comm_rank(comm) == 1)
        status = talus_fail(TALUS_ERR_NUMERIC, "rank 1 leaves");
    TALUS_THEN(status, run_on(job, part, &run));
    talus_problem_destroy(part);
    return status;
}

/* The others end with an error of their own, and the team has that of the rank. */
TEST(a_rank_leaves_before_a_run)
{
    TestProblem p;
    NEEDS_CUDA();
    TalusProblem *whole = make_case(&cases[1], &p);
    RunJob job = {.whole = whole, .backend = "cuda", .iterations = 50};
    for (int k = 0; k < 2; k++, job.jacobi = true) {
        CHECK_INT(talus_ranks_run(3, run_or_leave, &job), TALUS_ERR_NUMERIC);
        CHECK(strstr(talus_error(), "leaves"));
    }
    talus_problem_destroy(whole);
    free_test_problem(&p);
}

int main(void)
{
    cuda = talus_backend_find("cuda");
    RUN(runs_on_ranks);
    RUN(operations_on_ranks);
    RUN(runs_in_parts);
    RUN(small_problems_are_gathered);
    RUN(a_rank_leaves_before_a_run);
    return cuda_test_result();
}

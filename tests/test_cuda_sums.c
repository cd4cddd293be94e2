/* Sums on the cuda backend do not depend on the order of contacts, nor on which contacts are summed together
 * (backend/cuda/device/reduce.h, base/bins.h). */

#include "support/problems.h"
#include "support/test.h"

#include "base/bins.h"
#include "base/rng.h"
#include "problem/problem.h"
#include "support/cuda.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <talus/solver.h>

enum { BLOCKS = 7000, ROWS = 3, N = ROWS * BLOCKS, PARTS = 5 };

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* ---- inner products ---- */

static double x[N], y[N];

static void fill_vectors(uint64_t seed)
{
    TalusRng rng = talus_rng_from_seed(seed);
    for (int i = 0; i < N; i++) {
        double size = ldexp(1.0, (int)talus_rng_below(&rng, 60) - 30);
        x[i] = size * (talus_rng_uniform(&rng) - 0.5);
        y[i] = talus_rng_uniform(&rng) - 0.5;
    }
}

/* Returns x'y over the given blocks, by the device. */
static double device_dot(const int *block, int count)
{
    const TalusOperator op = {.context = cuda_context(), .rows = ROWS, .blocks = count};
    static double part[2][N];
    double *vector[2] = {NULL, NULL}, sum;
    for (int i = 0; i < count; i++) {
        memcpy(&part[0][ROWS * i], &x[ROWS * block[i]], ROWS * sizeof *x);
        memcpy(&part[1][ROWS * i], &y[ROWS * block[i]], ROWS * sizeof *y);
    }
    for (int k = 0; k < 2; k++) {
        size_t capacity = 0, n = ROWS * (size_t)count;
        CHECK_OK(cuda->vector.reserve(&op, &vector[k], &capacity, n, "test"));
        cuda->vector.put(&op, vector[k], part[k], n);
    }
    sum = cuda->vector.dot(&op, vector[0], vector[1]);
    cuda->vector.release(vector[0]);
    cuda->vector.release(vector[1]);
    CHECK_OK(cuda->check(cuda_context()));
    return sum;
}

/* Adds the terms of x'y of the given blocks, by the host. */
static void add_terms(TalusBinnedSum *sum, const int *block, int count)
{
    for (int i = 0; i < count; i++) {
        const double *a = &x[ROWS * block[i]], *b = &y[ROWS * block[i]];
        TalusShortSum term = {{0}, 0};
        talus_short_sum_add(&term, a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
        talus_binned_sum_add(sum, &term);
    }
}

static void shuffle(int *block, int count, TalusRng *rng)
{
    for (int i = count - 1; i > 0; i--) {
        int j = (int)talus_rng_below(rng, (uint64_t)i + 1), swap = block[i];
        block[i] = block[j];
        block[j] = swap;
    }
}

TEST(sums_do_not_depend_on_the_order_of_contacts)
{
    NEEDS_CUDA();
    static int block[BLOCKS];
    TalusRng rng = talus_rng_from_seed(1);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        fill_vectors(seed);
        for (int i = 0; i < BLOCKS; i++)
            block[i] = i;
        double sum = device_dot(block, BLOCKS);
        for (int k = 0; k < 3; k++) {
            shuffle(block, BLOCKS, &rng);
            CHECK(same_bits(device_dot(block, BLOCKS), sum));
        }
    }
}

/* Contacts are dealt out to places at random. Each place sums its own; the sums merge, bin by bin, to that of all
 * contacts in one place, bit for bit. */
TEST(sums_of_parts_merge_to_the_sum)
{
    NEEDS_CUDA();
    static int all[BLOCKS], part[PARTS][BLOCKS];
    TalusRng rng = talus_rng_from_seed(2);
    for (uint64_t seed = 4; seed <= 6; seed++) {
        int count[PARTS] = {0};
        TalusBinnedSum merged = {{0}, 0};
        fill_vectors(seed);
        for (int i = 0; i < BLOCKS; i++) {
            int p = (int)talus_rng_below(&rng, PARTS);
            all[i] = part[p][count[p]++] = i;
        }
        for (int p = 0; p < PARTS; p++) {
            TalusBinnedSum sum = {{0}, 0};
            shuffle(part[p], count[p], &rng);
            add_terms(&sum, part[p], count[p]);
            CHECK(same_bits(device_dot(part[p], count[p]), talus_binned_sum_value(&sum)));
            talus_binned_sum_merge(&merged, &sum);
        }
        CHECK(same_bits(device_dot(all, BLOCKS), talus_binned_sum_value(&merged)));
    }
}

/* ---- solves ---- */

/* Two heaps without contacts between them. */
typedef struct Heaps {
    TestProblem heap[2];
} Heaps;

/* Solves a problem from zero, 40 iterations, and writes the impulses to gamma. */
static TalusSolveInfo solve(TalusSolver *solver, const TalusProblemDef *def, const char *backend,
                            double *gamma)
{
    TalusProblem *problem = NULL;
    TalusSolveInfo info = {0};
    TalusSolveOptions options = talus_solve_options_default();
    options.tolerance = 1e-30;
    options.max_iterations = 40;
    if (CHECK_OK(talus_problem_create(def, NULL, &problem)) &&
        CHECK_OK(talus_problem_set_backend(problem, backend)) &&
        CHECK_OK(talus_solver_solve(solver, problem, &options, &info)))
        memcpy(gamma, talus_problem_gamma(problem),
               (size_t)talus_problem_size(problem) * sizeof *gamma);
    talus_problem_destroy(problem);
    return info;
}

/* Solves both heaps as one problem, heap[first] first in its lists, and writes the impulses of heap[0] and then of
 * heap[1] to gamma. A solve of heap[0] before gives the solver its norm, which would else come from a vector of random
 * numbers in the order of contacts. */
static TalusSolveInfo solve_union(const Heaps *h, int first, const char *backend, const char *spec,
                                  double *gamma)
{
    TestProblem both = make_union(&h->heap[first].def, &h->heap[1 - first].def);
    const size_t of_first = ROWS * (size_t)h->heap[first].def.contact_count;
    const size_t of_second = ROWS * (size_t)h->heap[1 - first].def.contact_count;
    double *found = calloc(of_first + of_second, sizeof *found);
    TalusSolver *solver = NULL;
    TalusSolveInfo info = {0};
    if (CHECK_OK(talus_solver_create(spec, &solver))) {
        solve(solver, &h->heap[0].def, backend, found);
        info = solve(solver, &both.def, backend, found);
        memcpy(gamma + (first ? of_second : 0), found, of_first * sizeof *gamma);
        memcpy(gamma + (first ? 0 : of_first), found + of_first, of_second * sizeof *gamma);
    }
    talus_solver_destroy(solver);
    free(found);
    free_test_problem(&both);
    return info;
}

/* Either order of the heaps gives the same impulses and residuals: within a heap nothing is in another order, and sums
 * over both heaps do not depend on it. */
static void compare_orders(const Heaps *h, const char *backend, const char *spec)
{
    size_t n = ROWS * (size_t)(h->heap[0].def.contact_count + h->heap[1].def.contact_count);
    double *a = calloc(n, sizeof *a), *b = calloc(n, sizeof *b);
    TalusSolveInfo one = solve_union(h, 0, backend, spec, a);
    TalusSolveInfo other = solve_union(h, 1, backend, spec, b);
    CHECK_INT(one.iterations, other.iterations);
    CHECK(one.iterations > 10);
    CHECK(same_bits(one.residual.rms, other.residual.rms));
    if (!CHECK(memcmp(a, b, n * sizeof *a) == 0))
        printf("    %s on %s\n", spec, backend);
    free(a);
    free(b);
}

/* Heaps of spheres, or of general bodies; the larger ones do not fit the one kernel of small problems. */
TEST(solves_do_not_depend_on_the_order_of_contacts)
{
    NEEDS_CUDA();
    const char *const specs[] = {"apgd", "apgd:check=1", "jacobi", "lbfgs-fb", "mprgp", "spg"};
    for (int large = 0; large < 2; large++)
        for (int general = 0; general < 2; general++) {
            int nx = large ? 7 : 3;
            Heaps h = {{make_heap(&(HeapOptions){31, nx, 3, 3, 0.4, 0.01, 0.5 * general}),
                        make_heap(&(HeapOptions){32, 4, nx, 2, 0.6, 0.0, 0.5 * general})}};
            for (size_t k = 0; k < sizeof specs / sizeof *specs; k++)
                compare_orders(&h, "cuda", specs[k]);
            compare_orders(&h, "cuda-mixed", "apgd");
            compare_orders(&h, "cuda-mixed", "jacobi");
            free_test_problem(&h.heap[0]);
            free_test_problem(&h.heap[1]);
        }
}

int main(void)
{
    cuda = talus_backend_find("cuda");
    RUN(sums_do_not_depend_on_the_order_of_contacts);
    RUN(sums_of_parts_merge_to_the_sum);
    RUN(solves_do_not_depend_on_the_order_of_contacts);
    return cuda_test_result();
}

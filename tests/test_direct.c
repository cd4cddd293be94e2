/* Direct solvers of every make that this build has: against dense elimination, on the matrices of contact
 * problems, with matrices that they must refuse, and without memory. */
#include "support/problems.h"
#include "support/test.h"

#include "base/memory.h"
#include "base/rng.h"
#include "linalg/direct.h"
#include "problem/jacobian.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 60 };

static TalusRng rng;

static double uniform(void)
{
    return 2.0 * talus_rng_uniform(&rng) - 1.0;
}

static bool has(TalusDirectKind kind)
{
    return !talus_direct_missing(kind);
}

/* ---- matrices ---- */

typedef struct Entries {
    size_t count, room;
    int32_t *row, *column;
    double *value;
} Entries;

static void add(Entries *e, int i, int j, double value)
{
    if (e->count == e->room) {
        e->room = 2 * e->room + 64;
        e->row = realloc(e->row, e->room * sizeof *e->row);
        e->column = realloc(e->column, e->room * sizeof *e->column);
        e->value = realloc(e->value, e->room * sizeof *e->value);
    }
    e->row[e->count] = i > j ? i : j;
    e->column[e->count] = i > j ? j : i;
    e->value[e->count++] = value;
}

static TalusSparse finish(Entries *e, int rows)
{
    TalusSparse out;
    TalusTriplets t = {rows, rows, e->count, e->row, e->column, e->value};
    CHECK_OK(talus_sparse_from_triplets(&t, &out, "test"));
    free(e->row), free(e->column), free(e->value);
    return out;
}

/* Entries at random, the diagonal large enough and of sign[i]: quasi-definite. */
static TalusSparse make_random(int n, int couplings, const int8_t *sign)
{
    Entries e = {0};
    double most[MOST] = {0};
    for (int k = 0; k < couplings; k++) {
        int i = (int)talus_rng_below(&rng, (uint64_t)n),
            j = (int)talus_rng_below(&rng, (uint64_t)n);
        double value = uniform();
        if (i == j)
            continue;
        add(&e, i, j, value);
        if (sign[i] == sign[j]) {
            most[i] += fabs(value);
            most[j] += fabs(value);
        }
    }
    for (int i = 0; i < n; i++)
        add(&e, i, i, sign[i] * (most[i] + 0.1));
    return finish(&e, n);
}

/* Differences on a cube of side^3 points, `shift` more on the diagonal: singular at 0. */
static TalusSparse make_grid(int side, double shift)
{
    Entries e = {0};
    int step[3] = {1, side, side * side}, rows = side * side * side;
    for (int i = 0; i < rows; i++)
        for (int d = 0; d < 3; d++)
            if (i / step[d] % side + 1 < side) {
                add(&e, i, i, 1.0);
                add(&e, i, i + step[d], -1.0);
                add(&e, i + step[d], i + step[d], 1.0);
            }
    for (int i = 0; i < rows; i++)
        add(&e, i, i, shift);
    return finish(&e, rows);
}

/* [M D; D' -S] of a heap, S small and diagonal; signs in `sign`. */
static TalusSparse make_augmented(int side, int8_t **sign)
{
    Entries e = {0};
    TestProblem p =
        make_heap(&(HeapOptions){.seed = 5, .nx = side, .ny = side, .nz = side, .mu = 0.4});
    TalusProblem *problem = NULL;
    TalusJacobian j = {0};
    CHECK_OK(talus_problem_create(&p.def, NULL, &problem));
    CHECK_OK(talus_jacobian_fill(&j, problem));
    int n = 3 * j.groups, m = j.transposed.rows;
    for (int g = 0; g < j.groups; g++) {
        TalusSym3 a = j.mass[g];
        double lower[6] = {a.xx, a.xy, a.yy, a.xz, a.yz, a.zz};
        for (int r = 0, k = 0; r < 3; r++)
            for (int c = 0; c <= r; c++, k++)
                add(&e, 3 * g + r, 3 * g + c, lower[k]);
    }
    for (int i = 0; i < m; i++) {
        for (int32_t k = j.transposed.start[i]; k < j.transposed.start[i + 1]; k++)
            add(&e, n + i, j.transposed.column[k], j.transposed.value[k]);
        add(&e, n + i, n + i, -1e-3);
    }
    *sign = malloc((size_t)(n + m));
    for (int i = 0; i < n + m; i++)
        (*sign)[i] = i < n ? 1 : -1;
    talus_jacobian_clear(&j);
    talus_problem_destroy(problem);
    free_test_problem(&p);
    return finish(&e, n + m);
}

/* |A x - b| / (|A| |x| + |b|) in maximum norms. */
static double backward_error(const TalusSparse *a, const double *x, const double *b)
{
    size_t n = (size_t)a->rows;
    double *r = calloc(n, sizeof *r), *sum = calloc(n, sizeof *sum);
    double worst = 0.0, norm = 0.0, length = 0.0, right = 0.0;
    for (int i = 0; i < a->rows; i++)
        for (int32_t e = a->start[i]; e < a->start[i + 1]; e++) {
            int j = a->column[e];
            r[i] += a->value[e] * x[j];
            sum[i] += fabs(a->value[e]);
            if (i != j) {
                r[j] += a->value[e] * x[i];
                sum[j] += fabs(a->value[e]);
            }
        }
    for (size_t i = 0; i < n; i++) {
        worst = isfinite(r[i]) ? fmax(worst, fabs(r[i] - b[i])) : INFINITY;
        norm = fmax(norm, sum[i]);
        length = fmax(length, fabs(x[i]));
        right = fmax(right, fabs(b[i]));
    }
    free(r), free(sum);
    return worst / (norm * length + right);
}

static double *right_side(int rows)
{
    double *b = malloc((size_t)rows * sizeof *b);
    for (int i = 0; i < rows; i++)
        b[i] = sin(1.0 + 3.7 * i);
    return b;
}

/* Analyses, factorises, solves for right_side; the caller frees. NULL after a failure. */
static double *solution(TalusDirect *d, const TalusSparse *a, const int8_t *sign)
{
    double *x = right_side(a->rows);
    if (CHECK_OK(talus_direct_analyse(d, a, sign)) && CHECK_OK(talus_direct_factor(d, a)) &&
        CHECK_OK(talus_direct_solve(d, x)))
        return x;
    free(x);
    return NULL;
}

static void check_solves(TalusDirect *d, const TalusSparse *a, const int8_t *sign, double tolerance)
{
    double *x = solution(d, a, sign), *b = right_side(a->rows);
    if (x && !CHECK(backward_error(a, x, b) <= tolerance))
        printf("    %d rows: %g\n", a->rows, backward_error(a, x, b));
    free(x), free(b);
}

/* ---- what they solve ---- */

TEST(random_matrices)
{
    int8_t plus[MOST], mixed[MOST];
    rng = talus_rng_from_seed(1);
    memset(plus, 1, sizeof plus);
    for (int kind = 0; kind < TALUS_DIRECT_KINDS; kind++) {
        TalusDirect *d;
        if (!has(kind))
            continue;
        REQUIRE_OK(talus_direct_create(kind, &d));
        for (int trial = 0; trial < 60; trial++) {
            int n = 1 + (int)talus_rng_below(&rng, MOST);
            for (int i = 0; i < n; i++)
                mixed[i] = uniform() > 0.0 ? 1 : -1;
            const int8_t *sign = kind == TALUS_DIRECT_CHOLMOD ? plus : mixed;
            TalusSparse a = make_random(n, trial % 5 * n, sign);
            check_solves(d, &a, sign, 1e-13);
            talus_sparse_clear(&a);
        }
        talus_direct_destroy(d);
    }
}

TEST(contact_problems)
{
    int8_t *sign;
    TalusSparse a = make_augmented(4, &sign), grid = make_grid(9, 0.01);
    for (int kind = 0; kind < TALUS_DIRECT_KINDS; kind++) {
        TalusDirect *d;
        if (!has(kind))
            continue;
        REQUIRE_OK(talus_direct_create(kind, &d));
        if (kind != TALUS_DIRECT_CHOLMOD)
            check_solves(d, &a, sign, 1e-14);
        check_solves(d, &grid, NULL, 1e-14);
        TalusDirectFacts facts = talus_direct_facts(d);
        CHECK_INT(facts.analyses, kind == TALUS_DIRECT_CHOLMOD ? 1 : 2);
        CHECK_INT(facts.factorisations, facts.analyses);
        CHECK(facts.fill > talus_sparse_entries(&grid) && facts.fill < 40000); /* 265,000 if full */
        CHECK(facts.bytes >= 8 * (size_t)facts.fill);
        CHECK(talus_memory_now() >= facts.bytes);
        talus_direct_destroy(d);
    }
    talus_sparse_clear(&a);
    talus_sparse_clear(&grid);
    free(sign);
}

/* The order of ldl: CHOLMOD's, by AMD, has 151,653 entries on the grid, that of MUMPS 180,806. Rows that
 * become alike must be eliminated together for it, which would be 162,798 otherwise. */
TEST(fill_is_low)
{
    TalusDirect *d;
    TalusSparse grid = make_grid(14, 1.0);
    REQUIRE_OK(talus_direct_create(TALUS_DIRECT_LDL, &d));
    CHECK_OK(talus_direct_analyse(d, &grid, NULL));
    CHECK(talus_direct_facts(d).fill < 160000);
    talus_direct_destroy(d);
    talus_sparse_clear(&grid);
}

TEST(no_rows_and_one)
{
    for (int kind = 0; kind < TALUS_DIRECT_KINDS; kind++) {
        TalusDirect *d;
        TalusSparse none = {0}, one;
        Entries e = {0};
        double x = 6.0, residual;
        if (!has(kind))
            continue;
        REQUIRE_OK(talus_direct_create(kind, &d));
        CHECK_OK(talus_direct_analyse(d, &none, NULL));
        CHECK_OK(talus_direct_factor(d, &none));
        CHECK_OK(talus_direct_solve(d, NULL));
        CHECK_OK(talus_direct_solve_refined(d, &none, NULL, 2, &residual));
        CHECK(residual == 0.0);
        add(&e, 0, 0, 4.0);
        one = finish(&e, 1);
        CHECK_OK(talus_direct_analyse(d, &one, NULL));
        CHECK_OK(talus_direct_factor(d, &one));
        CHECK_OK(talus_direct_solve_refined(d, &one, &x, 2, &residual));
        CHECK(x == 1.5 && residual == 0.0);
        CHECK_OK(talus_direct_analyse(d, &none, NULL));
        CHECK_OK(talus_direct_factor(d, &none));
        talus_sparse_clear(&one);
        talus_direct_destroy(d);
    }
}

/* One of the kind asked for is kept with its analysis, one of another kind replaced. */
TEST(kinds_are_ensured)
{
    TalusDirect *d = NULL;
    TalusSparse a = make_grid(3, 0.01);
    for (int kind = 0; kind < TALUS_DIRECT_KINDS; kind++) {
        if (!has(kind))
            continue;
        REQUIRE_OK(talus_direct_ensure(kind, &d));
        CHECK_INT(talus_direct_facts(d).analyses, 0);
        CHECK_OK(talus_direct_analyse(d, &a, NULL));
        TalusDirect *first = d;
        CHECK_OK(talus_direct_ensure(kind, &d));
        CHECK(d == first && talus_direct_facts(d).analyses == 1);
    }
    talus_sparse_clear(&a);
    talus_direct_destroy(d);
}

TEST(refinement)
{
    for (int kind = 0; kind < TALUS_DIRECT_KINDS; kind++) {
        TalusDirect *d;
        TalusSparse a = make_grid(5, 0.01);
        int n = a.rows, last = a.start[n] - 1;
        double *x = right_side(n), *b = right_side(n), residual = 1.0;
        if (has(kind) && CHECK_OK(talus_direct_create(kind, &d))) {
            CHECK_OK(talus_direct_analyse(d, &a, NULL));
            CHECK_OK(talus_direct_factor(d, &a));
            a.value[last] *= 1.01; /* the factor is now of another matrix, but a near one */
            CHECK_OK(talus_direct_solve_refined(d, &a, x, 0, &residual));
            CHECK(residual > 1e-4);
            memcpy(x, b, (size_t)n * sizeof *x);
            CHECK_OK(talus_direct_solve_refined(d, &a, x, 10, &residual));
            CHECK(residual < 1e-12);
            CHECK(backward_error(&a, x, b) < 1e-14);
            talus_direct_destroy(d);
        }
        free(x), free(b);
        talus_sparse_clear(&a);
    }
}

/* ---- the same again ---- */

TEST(patterns_are_kept)
{
    int8_t minus[1000];
    memset(minus, -1, sizeof minus);
    for (int kind = 0; kind < TALUS_DIRECT_KINDS; kind++) {
        TalusDirect *d;
        if (!has(kind))
            continue;
        TalusSparse a = make_grid(6, 0.1), b = make_grid(6, 2.0), c = make_grid(5, 1.0);
        REQUIRE_OK(talus_direct_create(kind, &d));
        double *first = solution(d, &a, NULL), *other = solution(d, &b, NULL);
        CHECK_INT(talus_direct_facts(d).analyses, 1);
        CHECK_INT(talus_direct_factor(d, &c), TALUS_ERR_ARGUMENT);
        CHECK_INT(talus_direct_solve(d, other), TALUS_ERR_ARGUMENT);
        double *again = solution(d, &a, NULL);
        CHECK(memcmp(first, again, (size_t)a.rows * sizeof *first) == 0);
        CHECK_INT(talus_direct_facts(d).analyses, 1);
        free(solution(d, &c, NULL));
        CHECK_INT(talus_direct_facts(d).analyses, 2);
        free(again);
        again = solution(d, &a, NULL);
        CHECK(memcmp(first, again, (size_t)a.rows * sizeof *first) == 0);
        CHECK_OK(talus_direct_analyse(d, &a, minus));
        CHECK_INT(talus_direct_facts(d).analyses, 4);
        CHECK_INT(talus_direct_solve(d, again), TALUS_ERR_ARGUMENT); /* of the last pattern */
        free(first), free(other), free(again);
        talus_sparse_clear(&a);
        talus_sparse_clear(&b);
        talus_sparse_clear(&c);
        talus_direct_destroy(d);
    }
}

/* ---- what they refuse ---- */

static void check_refuses(TalusDirect *d, const TalusSparse *a, const char *word)
{
    CHECK_OK(talus_direct_analyse(d, a, NULL));
    CHECK_INT(talus_direct_factor(d, a), TALUS_ERR_NUMERIC);
    if (!CHECK(strstr(talus_error(), word) != NULL))
        printf("    %s\n", talus_error());
    double x[MOST] = {0};
    CHECK_INT(talus_direct_solve(d, x), TALUS_ERR_ARGUMENT);
}

/* A matrix for which only one entry need be changed: row 7 is coupled to rows 3 and 11. */
static TalusSparse make_small(double diagonal)
{
    Entries e = {0};
    for (int i = 0; i < 20; i++)
        add(&e, i, i, i == 7 ? diagonal : 4.0);
    add(&e, 7, 3, 0.0);
    add(&e, 11, 7, 0.0);
    return finish(&e, 20);
}

TEST(bad_matrices)
{
    const double bad[] = {0.0, -4.0, NAN, INFINITY};
    for (int kind = 0; kind < TALUS_DIRECT_KINDS; kind++) {
        TalusDirect *d;
        if (!has(kind))
            continue;
        REQUIRE_OK(talus_direct_create(kind, &d));
        for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
            TalusSparse a = make_small(bad[k]), good = make_small(4.0);
            if (kind == TALUS_DIRECT_MUMPS && bad[k] == -4.0)
                check_solves(d, &a, NULL, 1e-15);
            else
                check_refuses(d, &a,
                              kind == TALUS_DIRECT_MUMPS && bad[k] == 0.0 ? "singular" : "row 7");
            check_solves(d, &good, NULL, 1e-15);
            CHECK_INT(talus_direct_facts(d).analyses, 1);
            talus_sparse_clear(&a);
            talus_sparse_clear(&good);
        }
        talus_direct_destroy(d);
    }
}

/* Singular but for rounding: refused, or a solution that the residual shows to be none. */
TEST(rank_deficient)
{
    for (int kind = 0; kind < TALUS_DIRECT_KINDS; kind++) {
        TalusDirect *d;
        TalusSparse a = make_grid(6, 0.0), regular = make_grid(6, 0.1);
        double *x = right_side(a.rows), residual = 0.0;
        if (has(kind) && CHECK_OK(talus_direct_create(kind, &d))) {
            CHECK_OK(talus_direct_analyse(d, &a, NULL));
            TalusStatus status = talus_direct_factor(d, &a);
            if (status == TALUS_OK)
                status = talus_direct_solve_refined(d, &a, x, 3, &residual);
            CHECK(status == TALUS_ERR_NUMERIC || (status == TALUS_OK && residual > 1e-6));
            check_solves(d, &regular, NULL, 1e-14);
            talus_direct_destroy(d);
        }
        free(x);
        talus_sparse_clear(&a);
        talus_sparse_clear(&regular);
    }
}

TEST(bad_shapes)
{
    TalusDirect *d;
    int32_t start[] = {0, 1, 3}, above[] = {1, 0, 1}, twice[] = {0, 1, 1};
    double value[] = {1.0, 1.0, 1.0};
    REQUIRE_OK(talus_direct_create(TALUS_DIRECT_LDL, &d));
    CHECK_INT(talus_direct_analyse(d, &(TalusSparse){2, 2, start, above, value}, NULL),
              TALUS_ERR_ARGUMENT);
    CHECK_INT(talus_direct_analyse(d, &(TalusSparse){2, 2, start, twice, value}, NULL),
              TALUS_ERR_ARGUMENT);
    CHECK_INT(talus_direct_analyse(d, &(TalusSparse){2, 3, start, twice, value}, NULL),
              TALUS_ERR_ARGUMENT);
    talus_direct_destroy(d);
}

TEST(missing_makes)
{
    for (int kind = 0; kind < TALUS_DIRECT_KINDS; kind++) {
        TalusDirect *d;
        if (has(kind))
            continue;
        CHECK(kind != TALUS_DIRECT_LDL);
        CHECK_INT(talus_direct_create(kind, &d), TALUS_ERR_UNSUPPORTED);
        CHECK(d == NULL && strstr(talus_error(), "-dev") != NULL);
    }
}

/* ---- no memory ---- */

TEST(limit_on_fill)
{
    TalusSparse a = make_grid(6, 0.1);
    for (int kind = 0; kind < TALUS_DIRECT_KINDS; kind++) {
        TalusDirect *d;
        if (!has(kind))
            continue;
        REQUIRE_OK(talus_direct_create(kind, &d));
        talus_direct_set_limit(d, 1000.0);
        CHECK_OK(talus_direct_analyse(d, &a, NULL));
        CHECK_INT(talus_direct_factor(d, &a), TALUS_ERR_UNSUPPORTED);
        talus_direct_set_limit(d, 0.0);
        check_solves(d, &a, NULL, 1e-14);
        talus_direct_destroy(d);
    }
    talus_sparse_clear(&a);
}

/* Without a factor neither solve changes x, however much of the analysis there is. */
static void check_refuses_to_solve(TalusDirect *d, const TalusSparse *a)
{
    double *x = right_side(a->rows), *b = right_side(a->rows), residual;
    CHECK_INT(talus_direct_solve(d, x), TALUS_ERR_ARGUMENT);
    CHECK_INT(talus_direct_solve_refined(d, a, x, 2, &residual), TALUS_ERR_ARGUMENT);
    CHECK(memcmp(x, b, (size_t)a->rows * sizeof *x) == 0);
    free(x), free(b);
}

/* Of what goes through the library's own memory, every allocation in turn. */
TEST(failing_allocations)
{
    TalusSparse a = make_grid(4, 0.1);
    for (int kind = 0; kind < TALUS_DIRECT_KINDS; kind++) {
        int failures = 0;
        for (long n = 1; has(kind); n++, failures++) {
            TalusDirect *d = NULL;
            talus_fail_allocation_in(n);
            TalusStatus status = talus_direct_create(kind, &d);
            if (status == TALUS_OK)
                status = talus_direct_analyse(d, &a, NULL);
            if (status == TALUS_OK)
                status = talus_direct_factor(d, &a);
            talus_fail_allocation_in(0);
            CHECK(status == TALUS_OK || status == TALUS_ERR_MEMORY);
            if (d && status != TALUS_OK)
                check_refuses_to_solve(d, &a);
            if (d)
                check_solves(d, &a, NULL, 1e-14);
            talus_direct_destroy(d);
            if (status == TALUS_OK)
                break;
        }
        CHECK(!has(kind) || failures >= (kind == TALUS_DIRECT_LDL ? 30 : 5));
    }
    talus_sparse_clear(&a);
}

static size_t address_space(void)
{
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%lu", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* In a process of its own. Exit status: 0, or the number of the step that went wrong. */
static int exhaust(TalusDirectKind kind)
{
    TalusDirect *d;
    TalusSparse small = make_grid(6, 0.1), large = make_grid(22, 0.1);
    if (talus_direct_create(kind, &d) != TALUS_OK)
        return 1;
    free(solution(d, &small, NULL)); /* BLAS has its buffers now */
    if (talus_direct_analyse(d, &large, NULL) != TALUS_OK)
        return 2;
    struct rlimit limit;
    getrlimit(RLIMIT_AS, &limit);
    struct rlimit tight = {address_space() + (2u << 20), limit.rlim_max};
    setrlimit(RLIMIT_AS, &tight);
    TalusStatus status = talus_direct_factor(d, &large);
    setrlimit(RLIMIT_AS, &limit);
    if (status != TALUS_ERR_MEMORY)
        return 3;
    double *x = solution(d, &large, NULL), *b = right_side(large.rows);
    return x && backward_error(&large, x, b) < 1e-13 ? 0 : 4;
}

TEST(exhausted_memory)
{
    const char *sanitizers = getenv("TALUS_SANITIZE");
    if (sanitizers && sanitizers[0])
        SKIP("a sanitizer's own memory is beyond any limit");
    if (address_space() == 0)
        SKIP("no /proc to tell the size of a process");
    for (int kind = 0; kind < TALUS_DIRECT_KINDS; kind++) {
        int status = -1;
        if (!has(kind))
            continue;
        fflush(stdout);
        pid_t child = fork();
        if (child == 0)
            _exit(exhaust(kind));
        waitpid(child, &status, 0);
        if (!CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0))
            printf("    %s: status %d\n", talus_direct_name(kind), status);
    }
}

int main(void)
{
    RUN(random_matrices);
    RUN(contact_problems);
    RUN(fill_is_low);
    RUN(no_rows_and_one);
    RUN(kinds_are_ensured);
    RUN(refinement);
    RUN(patterns_are_kept);
    RUN(bad_matrices);
    RUN(rank_deficient);
    RUN(bad_shapes);
    RUN(missing_makes);
    RUN(limit_on_fill);
    RUN(failing_allocations);
    RUN(exhausted_memory);
    return talus_test_result();
}

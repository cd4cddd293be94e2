/* N + E written out as a matrix: the same as the verifier's, symmetric, for any number of threads. */
#include "support/problems.h"
#include "support/test.h"
#include "support/verified.h"

#include "base/memory.h"
#include "problem/problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static TalusProblem *create(const TalusProblemDef *def, TalusPool *pool)
{
    TalusProblem *problem = NULL;
    CHECK_OK(talus_problem_create(def, pool, &problem));
    return problem;
}

/* Columns rise, every entry is the dense one's, and the matrix of contacts is its own transpose. */
static void check_matrix(const TalusProblemDef *def, const TalusSparse *a)
{
    int n = verify_size(def);
    size_t all = (size_t)n * (size_t)n;
    double *dense = calloc(all, sizeof *dense), *seen = calloc(all, sizeof *seen);
    double largest = 0.0, wrong = 0.0;
    TalusSparse transposed;
    CHECK_INT(a->rows, n);
    CHECK_INT(a->columns, n);
    verify_matrix(def, dense);
    for (int i = 0; i < n; i++)
        for (int32_t k = a->start[i]; k < a->start[i + 1]; k++) {
            CHECK(k == a->start[i] || a->column[k] > a->column[k - 1]);
            seen[(size_t)i * (size_t)n + (size_t)a->column[k]] = a->value[k];
        }
    for (size_t k = 0; k < all; k++) {
        largest = fmax(largest, fabs(dense[k]));
        wrong = fmax(wrong, fabs(seen[k] - dense[k]));
    }
    CHECK_NEAR(wrong, 0.0, 1e-14 * largest);
    CHECK_OK(talus_sparse_transpose(a, &transposed));
    CHECK(!def->contacts || talus_sparse_equal(a, &transposed));
    talus_sparse_clear(&transposed);
    free(dense);
    free(seen);
}

static void check_problem(TestProblem *p)
{
    TalusProblem *problem = create(&p->def, NULL);
    TalusSparse a;
    CHECK_OK(talus_problem_assemble(problem, &a));
    check_matrix(&p->def, &a);
    talus_sparse_clear(&a);
    talus_problem_destroy(problem);
    free_test_problem(p);
}

TEST(contacts_give_the_verifiers_matrix)
{
    for (int i = 0; i < 8; i++) {
        double mu = i % 2 ? 0.3 : 0.0, compliance = i & 2 ? 0.05 : 0.0, general = i & 4 ? 0.4 : 0.0;
        TestProblem p =
            make_heap(&(HeapOptions){50 + (uint64_t)i, 3, 4, 3, mu, compliance, general});
        check_problem(&p);
    }
}

/* Contacts that share both bodies, and a body that cannot move but has a number: it couples nothing,
 * however many contacts it has. */
TEST(shared_and_fixed_bodies)
{
    TestProblem p = make_heap(&(HeapOptions){61, 3, 3, 2, 0.3, 0.0, 0.5});
    TalusContactDef *c = (TalusContactDef *)p.def.contacts;
    for (int i = 0; i + 1 < p.def.contact_count; i += 2) {
        c[i + 1].a = c[i].a;
        c[i + 1].b = c[i].b;
    }
    check_problem(&p);
    p = make_bowl(30, 0.3, 0.0);
    ((double *)p.def.inv_mass)[0] = 0.0;
    ((TalusSym3 *)p.def.inv_inertia)[0] = (TalusSym3){0};
    TalusProblem *problem = create(&p.def, NULL);
    TalusSparse a;
    CHECK_OK(talus_problem_assemble(problem, &a));
    CHECK(talus_sparse_entries(&a) <= 9 * 30 * 4);
    check_matrix(&p.def, &a);
    talus_sparse_clear(&a);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

/* An explicit matrix comes back sorted, its doubled entries added up. */
TEST(given_matrix_is_sorted)
{
    const int32_t start[] = {0, 3, 6}, column[] = {1, 0, 1, 1, 0, 1};
    const double values[] = {0.5, 4.0, 0.25, 1.0, 0.75, 2.0}, q[] = {1.0, 1.0};
    TalusProblemDef def = {.block_count = 2,
                           .rows = 1,
                           .row_start = start,
                           .column = column,
                           .values = values,
                           .offset = q};
    TalusProblem *problem = create(&def, NULL);
    TalusSparse a;
    CHECK_OK(talus_problem_assemble(problem, &a));
    const double expected[] = {4.0, 0.75, 0.75, 3.0};
    CHECK_INT(talus_sparse_entries(&a), 4);
    CHECK(memcmp(a.value, expected, sizeof expected) == 0);
    CHECK(a.column[0] == 0 && a.column[1] == 1 && a.column[2] == 0 && a.column[3] == 1);
    talus_sparse_clear(&a);
    talus_problem_destroy(problem);
    TestProblem p = make_explicit(62, 12, 3);
    check_problem(&p);
}

TEST(threads_do_not_show)
{
    TestProblem p = make_heap(&(HeapOptions){63, 9, 9, 9, 0.3, 0.01, 0.3});
    TalusPool *pool = NULL;
    CHECK_OK(talus_pool_create(3, &pool));
    TalusProblem *one = create(&p.def, NULL), *many = create(&p.def, pool);
    TalusSparse a, b;
    CHECK_OK(talus_problem_assemble(one, &a));
    CHECK_OK(talus_problem_assemble(many, &b));
    CHECK(talus_sparse_equal(&a, &b));
    talus_sparse_clear(&a);
    talus_sparse_clear(&b);
    talus_problem_destroy(one);
    talus_problem_destroy(many);
    talus_pool_destroy(pool);
    free_test_problem(&p);
}

TEST(failed_allocation_leaves_nothing)
{
    TestProblem heap = make_heap(&(HeapOptions){64, 2, 2, 2, 0.3, 0.0, 0.0});
    TestProblem sparse = make_explicit(65, 6, 1);
    TestProblem *both[] = {&heap, &sparse};
    for (int i = 0; i < 2; i++) {
        TalusProblem *problem = create(&both[i]->def, NULL);
        TalusStatus status = TALUS_ERR_MEMORY;
        size_t before = talus_memory_now();
        for (long n = 1; n < 20 && status != TALUS_OK; n++) {
            TalusSparse a = {0};
            talus_fail_allocation_in(n);
            status = talus_problem_assemble(problem, &a);
            talus_fail_allocation_in(0);
            CHECK(status == TALUS_OK || status == TALUS_ERR_MEMORY);
            talus_sparse_clear(&a);
            CHECK(talus_memory_now() == before);
        }
        CHECK(status == TALUS_OK);
        talus_problem_destroy(problem);
        free_test_problem(both[i]);
    }
}

int main(void)
{
    RUN(contacts_give_the_verifiers_matrix);
    RUN(shared_and_fixed_bodies);
    RUN(given_matrix_is_sorted);
    RUN(threads_do_not_show);
    RUN(failed_allocation_leaves_nothing);
    return talus_test_result();
}

/* D' and M of a problem with bodies: N = D' M^-1 D is the matrix that is assembled, and the operator's. */
#include "support/problems.h"
#include "support/test.h"

#include "problem/jacobian.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* |D' M^-1 D x + E x - (N + E) x| relative to the size. */
static void compare(TestProblem p)
{
    TalusProblem *problem = NULL;
    TalusJacobian j = {0};
    TalusSparse n;
    REQUIRE_OK(talus_problem_create(&p.def, NULL, &problem));
    REQUIRE_OK(talus_jacobian_fill(&j, problem));
    REQUIRE_OK(talus_problem_assemble(problem, &n));
    size_t size = (size_t)talus_problem_size(problem), unknowns = 3 * (size_t)j.groups;
    double *x = calloc(size, sizeof *x), *y = calloc(size, sizeof *y), *z = calloc(size, sizeof *z);
    double *v = calloc(unknowns, sizeof *v), largest = 0.0, worst = 0.0;
    for (size_t k = 0; k < size; k++)
        x[k] = sin(1.0 + 3.7 * (double)k);
    talus_sparse_add_transposed(&j.transposed, 1.0, x, v);
    talus_jacobian_divide_by_mass(&j, v, v);
    talus_sparse_add(&j.transposed, 1.0, v, y);
    talus_sparse_add(&n, 1.0, x, z);
    for (size_t k = 0; k < size; k++) {
        const TalusContactDef *c = &p.def.contacts[k / (size_t)talus_problem_rows(problem)];
        bool normal = k % (size_t)talus_problem_rows(problem) == 0;
        largest = fmax(largest, fabs(z[k]));
        worst = fmax(worst, fabs(y[k] + (normal ? c->compliance * x[k] : 0.0) - z[k]));
    }
    if (!CHECK(worst <= 1e-13 * largest))
        printf("    %s: %g of %g\n", p.name, worst, largest);
    for (int g = 0; g < j.groups; g++) {
        const double *free_velocity = j.free_velocity + 3 * g;
        TalusVec3 momentum = talus_sym3_mul(
            j.mass[g], talus_vec3(free_velocity[0], free_velocity[1], free_velocity[2]));
        memcpy(v + 3 * g, &momentum.x, 3 * sizeof *v);
    }
    talus_jacobian_divide_by_mass(&j, v, v);
    for (size_t k = 0; k < unknowns; k++)
        CHECK(fabs(v[k] - j.free_velocity[k]) <= 1e-13 * fabs(j.free_velocity[k]));
    for (int k = 0; k < j.transposed.rows; k++)
        for (int32_t e = j.transposed.start[k] + 1; e < j.transposed.start[k + 1]; e++)
            CHECK(j.transposed.column[e - 1] < j.transposed.column[e]);
    free(x), free(y), free(z), free(v);
    talus_sparse_clear(&n);
    talus_jacobian_clear(&j);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

TEST(product_is_the_operators)
{
    for (int i = 0; i < 8; i++)
        compare(make_heap(&(HeapOptions){.seed = 3,
                                         .nx = 3,
                                         .ny = 3,
                                         .nz = 3,
                                         .mu = i & 1 ? 0.4 : 0.0,
                                         .general = i & 2 ? 0.5 : 0.0,
                                         .compliance = i & 4 ? 0.1 : 0.0}));
}

int main(void)
{
    RUN(product_is_the_operators);
    return talus_test_result();
}

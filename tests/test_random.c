/* backend/random.h: random numbers that belong to contacts, and the norm that power iterations find from them. */

#include "support/problems.h"
#include "support/test.h"

#include "backend/cpu/cpu.h"
#include "backend/random.h"
#include "base/rng.h"
#include "problem/problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BODIES = 500, PER_BODY = 6, MOST = 2 * PER_BODY * BODIES, ROWS = 3, POWER = 12 };

/* ---- contacts in any order and in several places ---- */

/* Contacts of bodies that have these ids. `pair` names bodies by their indices in the list of bodies. */
typedef struct Contacts {
    uint64_t id[BODIES];
    int32_t pair[MOST][2];
    int count;
} Contacts;

/* Every body has up to two contacts with each of PER_BODY later ones; the last bodies have them with the fixed world. */
static Contacts *random_contacts(uint64_t seed)
{
    TalusRng rng = talus_rng_from_seed(seed);
    Contacts *c = calloc(1, sizeof *c);
    for (int a = 0; a < BODIES; a++) {
        c->id[a] = (a ? c->id[a - 1] : 0) + 1 + talus_rng_below(&rng, 9);
        for (int k = 0; k < PER_BODY; k++) {
            int32_t b = a + 1 + 7 * k + (int32_t)talus_rng_below(&rng, 7);
            for (uint64_t same = talus_rng_below(&rng, 3); same > 0; same--, c->count++) {
                c->pair[c->count][0] = a;
                c->pair[c->count][1] = b < BODIES ? b : -1;
            }
        }
    }
    return c;
}

/* Fills x with the numbers of the contacts. */
static void fill_numbers(const Contacts *c, double *x)
{
    TalusOperator op = {.rows = ROWS, .blocks = c->count, .bodies = BODIES};
    op.pair = (int32_t(*)[2])c->pair;
    op.numbers.id = c->id;
    talus_backend_cpu.vector.randomise(&op, x);
}

/* Returns the contacts whose body a has an index of which the remainder by `places` is `place`. Bodies have other indices
 * than in `all`, pairs are in reverse order; contacts of a pair stay as they are. from[i]: index of contact i in
 * `all`. */
static Contacts *part_of(const Contacts *all, int place, int places, int *from)
{
    Contacts *c = calloc(1, sizeof *c);
    for (int b = 0; b < BODIES; b++)
        c->id[(7 * b + 3) % BODIES] = all->id[b];
    for (int end = all->count; end > 0;) {
        const int32_t *pair = all->pair[end - 1];
        int begin = end - 1;
        while (begin > 0 && memcmp(all->pair[begin - 1], pair, sizeof *all->pair) == 0)
            begin--;
        for (int i = begin; i < end && pair[0] % places == place; i++) {
            for (int side = 0; side < 2; side++)
                c->pair[c->count][side] = pair[side] < 0 ? -1 : (7 * pair[side] + 3) % BODIES;
            from[c->count++] = i;
        }
        end = begin;
    }
    return c;
}

TEST(numbers_belong_to_contacts)
{
    static double x[ROWS * MOST], y[ROWS * MOST];
    static int from[MOST];
    for (uint64_t seed = 1; seed <= 3; seed++) {
        Contacts *all = random_contacts(seed);
        int found = 0, places = (int)seed;
        fill_numbers(all, x);
        for (int place = 0; place < places; place++) {
            Contacts *part = part_of(all, place, places, from);
            fill_numbers(part, y);
            for (int i = 0; i < part->count; i++)
                found += memcmp(&y[ROWS * i], &x[ROWS * from[i]], ROWS * sizeof *x) == 0;
            free(part);
        }
        CHECK(all->count > 2 * BODIES);
        CHECK_INT(found, all->count);
        free(all);
    }
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Mean 0, variance 1/12, no two alike; neighbours in the list are not correlated. */
TEST(numbers_look_random)
{
    static double x[ROWS * MOST];
    Contacts *c = random_contacts(4);
    int n = ROWS * c->count, alike = 0;
    double sum = 0.0, squares = 0.0, products = 0.0;
    fill_numbers(c, x);
    for (int i = 0; i < n; i++) {
        sum += x[i];
        squares += x[i] * x[i];
        products += i > 0 ? x[i] * x[i - 1] : 0.0;
        CHECK(x[i] >= -0.5 && x[i] < 0.5);
    }
    double deviation = 4.0 / sqrt(n);
    CHECK_NEAR(sum / n, 0.0, sqrt(1.0 / 12.0) * deviation);
    CHECK_NEAR(squares / n, 1.0 / 12.0, sqrt(1.0 / 180.0) * deviation);
    CHECK_NEAR(products / n, 0.0, deviation / 12.0);
    qsort(x, (size_t)n, sizeof *x, compare_numbers);
    for (int i = 1; i < n; i++)
        alike += x[i] == x[i - 1];
    CHECK_INT(alike, 0);
    free(c);
}

/* ---- power iteration ---- */

/* Returns the estimate of the norm of N + E after some power iterations. */
static double estimate_norm(const TalusOperator *op, int iterations)
{
    size_t n = (size_t)op->rows * (size_t)op->blocks;
    double *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y), norm = 0.0;
    const TalusBackend *cpu = &talus_backend_cpu;
    cpu->vector.randomise(op, x);
    for (int k = 0; k < iterations; k++) {
        cpu->vector.axpby(op, 0.0, x, 1.0 / sqrt(cpu->vector.dot(op, x, x)), x);
        cpu->op.gradient(op, NULL, x, false, y);
        norm = sqrt(cpu->vector.dot(op, y, y));
        memcpy(x, y, n * sizeof *x);
    }
    free(x);
    free(y);
    return norm;
}

/* Lattices of spheres, whose dominant eigenvectors are regular, a column, and an explicit matrix. */
TEST(few_power_iterations_come_near_the_norm)
{
    TestProblem problem[] = {
        make_heap(&(HeapOptions){1, 12, 12, 12, 0.5, 0.0, 0.0}),
        make_heap(&(HeapOptions){2, 30, 30, 2, 0.0, 0.0, 0.0}),
        make_heap(&(HeapOptions){3, 8, 8, 8, 0.5, 0.01, 0.5}),
        make_column(100, 1.0, 0.5),
        make_explicit(5, 300, ROWS),
    };
    for (size_t i = 0; i < sizeof problem / sizeof *problem; i++) {
        TalusProblem *p = NULL;
        REQUIRE_OK(talus_problem_create(&problem[i].def, NULL, &p));
        const TalusOperator *op = talus_problem_operator(p);
        double norm = estimate_norm(op, 100 * POWER), estimate = estimate_norm(op, POWER);
        CHECK(estimate > 0.85 * norm);
        CHECK(estimate <= (1.0 + 1e-12) * norm);
        talus_problem_destroy(p);
        free_test_problem(&problem[i]);
    }
}

int main(void)
{
    RUN(numbers_belong_to_contacts);
    RUN(numbers_look_random);
    RUN(few_power_iterations_come_near_the_norm);
    return talus_test_result();
}

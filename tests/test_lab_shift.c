/* The shift map of Coulomb's law in the laboratory: eigenvalues of Hessenberg matrices; those of the map, of contacts
 * with a closed form; problems that it does not take; the explanation of a missed tolerance. */
#include "lab/lab.h"
#include "lab/lab_eigenvalues.h"
#include "support/test.h"

#include "base/rng.h"

#include <math.h>
#include <string.h>

static const TalusFrictionModel exact = {.law = TALUS_LAW_COULOMB};

/* ---- eigenvalues ---- */

static double distance_to_nearest(double complex value, const double complex *found, int count)
{
    double least = INFINITY;
    for (int i = 0; i < count; i++)
        least = fmin(least, cabs(found[i] - value));
    return least;
}

/* Companion matrix of (x - 3) (x + 1) (x^2 - 2 x + 5): eigenvalues 3, -1, 1 + 2i, 1 - 2i. Entries below the subdiagonal
 * are not read. */
TEST(eigenvalues_of_a_companion_matrix)
{
    const double nan = NAN;
    const double h[4][5] = {{4.0, -6.0, 4.0, 15.0, 0.0},
                            {1.0, 0.0, 0.0, 0.0, 0.0},
                            {nan, 1.0, 0.0, 0.0, 0.0},
                            {nan, nan, 1.0, 0.0, 0.0}};
    const double complex expected[4] = {3.0, -1.0, 1.0 + 2.0 * I, 1.0 - 2.0 * I};
    double complex found[4];
    REQUIRE_OK(lab_find_eigenvalues(h[0], 5, 4, found));
    for (int i = 0; i < 4; i++)
        CHECK(distance_to_nearest(expected[i], found, 4) < 1e-12);
}

/* A cyclic shift, on which unshifted QR steps stand still: the roots of unity. */
TEST(eigenvalues_of_a_cyclic_shift)
{
    enum { N = 7 };
    double h[N][N] = {{0}};
    double complex found[N];
    h[0][N - 1] = 1.0;
    for (int i = 1; i < N; i++)
        h[i][i - 1] = 1.0;
    REQUIRE_OK(lab_find_eigenvalues(h[0], N, N, found));
    for (int i = 0; i < N; i++)
        CHECK(distance_to_nearest(cexp(I * (2.0 * 3.141592653589793 * i / N)), found, N) < 1e-12);
}

/* Random matrices: the sum of eigenvalues is the trace, that of their squares the trace of the square. */
TEST(eigenvalues_keep_traces)
{
    enum { N = 40 };
    double h[N][N];
    double complex found[N], sum = 0.0, squares = 0.0;
    double trace = 0.0, trace_of_square = 0.0;
    TalusRng rng = talus_rng(5);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            h[i][j] = i <= j + 1 ? talus_rng_uniform(&rng) - 0.5 : 0.0;
    REQUIRE_OK(lab_find_eigenvalues(h[0], N, N, found));
    for (int i = 0; i < N; i++) {
        sum += found[i];
        squares += found[i] * found[i];
        trace += h[i][i];
        for (int j = 0; j < N; j++)
            trace_of_square += h[i][j] * h[j][i];
    }
    CHECK(cabs(sum - trace) < 1e-11 && cabs(squares - trace_of_square) < 1e-11);
}

/* ---- the map ---- */

static LabProblem lab_problem(TalusProblem *problem)
{
    LabProblem p = {.name = "problem", .all_coulomb = true, .problem = problem};
    TalusMetrics m;
    CHECK_OK(talus_problem_measure(problem, talus_problem_gamma(problem), &m));
    p.natural_at_zero = m.natural_at_zero;
    return p;
}

/* Contacts that do not touch each other and slide along tangent 1, N_i = [a b_i 0; b_i d 0; 0 0 d]: with n the normal
 * impulse and u_t < 0,
 *     (a + 2 mu b + mu^2 d) n = -(q_n + s + mu q_t),   u_t = (b + mu d) n + q_t,
 * so the new shift, -mu u_t, changes by mu (b + mu d) / (a + 2 mu b + mu^2 d) times the change of s. */
enum { MAX_CONTACTS = 3 };
static const double A = 1.0, D = 3.0, MU = 1.0, Q[3] = {-0.1, -4.0, 0.0};

static double eigenvalue_of(double b)
{
    return MU * (b + MU * D) / (A + 2.0 * MU * b + MU * MU * D);
}

static TalusProblem *open_contacts(const double *b, int count)
{
    double values[9 * MAX_CONTACTS], q[3 * MAX_CONTACTS], mu[MAX_CONTACTS];
    int32_t start[3 * MAX_CONTACTS + 1], column[9 * MAX_CONTACTS];
    TalusFrictionModel model[MAX_CONTACTS];
    TalusProblem *problem = NULL;
    for (int i = 0; i < count; i++) {
        const double n[9] = {A, b[i], 0.0, b[i], D, 0.0, 0.0, 0.0, D};
        memcpy(values + 9 * i, n, sizeof n);
        memcpy(q + 3 * i, Q, sizeof Q);
        mu[i] = MU;
        model[i] = exact;
    }
    for (int k = 0; k < 9 * count; k++)
        column[k] = 3 * (k / 9) + k % 3;
    for (int k = 0; k <= 3 * count; k++)
        start[k] = 3 * k;
    TalusProblemDef def = {.block_count = count,
                           .rows = 3,
                           .row_start = start,
                           .column = column,
                           .values = values,
                           .offset = q,
                           .mu = mu,
                           .model = model};
    CHECK_OK(talus_problem_create(&def, NULL, &problem));
    return problem;
}

/* The map where all contacts bear and slide. */
static LabShiftMap map_of(const double *b, int count)
{
    LabShiftMap map = {0};
    TalusProblem *problem = open_contacts(b, count);
    LabProblem p = lab_problem(problem);
    for (int i = 0; i < count; i++)
        talus_problem_gamma(problem)[3 * i] = talus_problem_gamma(problem)[3 * i + 1] = 0.9;
    CHECK(lab_has_shift_map(&p));
    CHECK_OK(lab_analyse_shift_map(&p, &map));
    talus_problem_destroy(problem);
    return map;
}

/* b < -a / mu, the coupling of normal and tangent in Painleve's example, makes the map repel. */
TEST(eigenvalues_of_single_contacts_are_those_of_the_formula)
{
    const double repels[] = {-1.5}, settles[] = {0.5}, three[] = {0.5, -1.2, -1.5};
    LabShiftMap map = map_of(repels, 1);
    CHECK(eigenvalue_of(-1.5) > 1.4);
    CHECK_NEAR(map.largest, eigenvalue_of(-1.5), 1e-6);
    CHECK_INT(map.above, 1);
    map = map_of(settles, 1);
    CHECK_NEAR(map.largest, eigenvalue_of(0.5), 1e-6);
    CHECK_INT(map.above, 0);
    map = map_of(three, 3);
    CHECK_NEAR(map.largest, fmax(eigenvalue_of(-1.5), eigenvalue_of(-1.2)), 1e-6);
    CHECK_INT(map.above, 2);
    CHECK_INT(map.vectors, 3);
}

/* Contacts that stick or open have no shift. */
TEST(a_map_without_sliding_contacts_is_constant)
{
    const double b[] = {0.0};
    TalusProblem *problem = open_contacts(b, 1);
    LabProblem p = lab_problem(problem);
    LabShiftMap map;
    p.natural_at_zero *= 1e9; /* so that every speed counts as 0 */
    CHECK_OK(lab_analyse_shift_map(&p, &map));
    CHECK_INT(map.above, 0);
    CHECK_NEAR(map.largest, 0.0, 1e-12);
    talus_problem_destroy(problem);
}

TEST(problems_under_another_law_are_not_taken)
{
    const double b[] = {-1.5};
    TalusProblem *problem = open_contacts(b, 1);
    LabProblem p = lab_problem(problem);
    p.all_coulomb = false;
    CHECK(!lab_has_shift_map(&p));
    p.all_coulomb = true;
    REQUIRE_OK(talus_problem_set_friction(
        problem, (TalusFrictionModel){.law = TALUS_LAW_COULOMB, .section = TALUS_SECTION_SQUARE}));
    CHECK(!lab_has_shift_map(&p));
    talus_problem_destroy(problem);
}

TEST(a_missed_tolerance_is_explained)
{
    const double b[] = {-1.5};
    static LabSet set;
    const LabTable *table = NULL;
    TalusProblem *problem = open_contacts(b, 1);
    LabProblem p = lab_problem(problem);
    talus_problem_gamma(problem)[0] = talus_problem_gamma(problem)[1] = 0.9;
    set = (LabSet){.problems = &p, .problem_count = 1};
    REQUIRE_OK(lab_explain_missed_tolerance(&set, 0, "apgd", &table));
    CHECK_STR(table->title, "problem: shift map where apgd ended");
    CHECK_STR(table->cell[2], "1");
    CHECK_STR(table->cell[3], "1.5");
    CHECK(strstr(table->note, "the shift map repels there: 1 eigenvalue of its Jacobian") != NULL);
    set.problems = NULL;
    set.problem_count = 0;
    lab_set_clear(&set);
    talus_problem_destroy(problem);
}

int main(void)
{
    RUN(eigenvalues_of_a_companion_matrix);
    RUN(eigenvalues_of_a_cyclic_shift);
    RUN(eigenvalues_keep_traces);
    RUN(eigenvalues_of_single_contacts_are_those_of_the_formula);
    RUN(a_map_without_sliding_contacts_is_constant);
    RUN(problems_under_another_law_are_not_taken);
    RUN(a_missed_tolerance_is_explained);
    return talus_test_result();
}

/* Real problems: every shared file is read, and what it is condensed to has the reference solution
 * and the figures of the manifest; and a step of a scene goes into a file and comes back. */
#include "support/test.h"

#include "base/memory.h"
#include "base/rng.h"

#include <talus/talus.h>

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *shared(void)
{
    const char *folder = getenv("TALUS_SHARED");
    return folder ? folder : "";
}

static double norm(const double *x, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

/* N is symmetric to the bit. */
static void check_symmetric(TalusProblem *problem)
{
    TalusProblemDef def;
    int wrong = 0, n = talus_problem_size(problem);
    REQUIRE_OK(talus_problem_export(problem, &def));
    for (int i = 0; i < n; i++)
        for (int32_t k = def.row_start[i]; k < def.row_start[i + 1]; k++) {
            int32_t j = def.column[k], low = def.row_start[j], high = def.row_start[j + 1];
            while (low < high) { /* columns rise */
                int32_t middle = low + (high - low) / 2;
                if (def.column[middle] < i)
                    low = middle + 1;
                else
                    high = middle;
            }
            wrong += low == def.row_start[j + 1] || def.column[low] != i ||
                     def.values[low] != def.values[k];
        }
    CHECK_INT(wrong, 0);
}

/* ---- the manifest ---- */

enum { NAME = 0, FILE_NAME = 2, CONTACTS = 6, ASYMMETRY = 15, NORM_Q = 16, CCP_ERROR = 30 };
enum { EXACT_ERROR_OVER_Q = 21, CCP_OBJECTIVE = 31, FIELDS = 32 };

/* Splits a line in place; commas within quotes do not count. */
static int split(char *line, char *field[FIELDS])
{
    int count = 0;
    bool quoted = false;
    field[count++] = line;
    for (char *p = line; *p && count < FIELDS; p++) {
        quoted = quoted != (*p == '"');
        if (*p == ',' && !quoted) {
            *p = '\0';
            field[count++] = p + 1;
        }
    }
    return count;
}

/* The reference impulses solve the problem, and give the reference velocities. */
static void check_reference(const TalusFclib *f, TalusProblem *problem, char *field[FIELDS])
{
    char path[1024];
    TalusFclibPoint reference;
    TalusMetrics metrics;
    int n = talus_problem_size(problem);
    double *work, q_norm = atof(field[NORM_Q]), objective = atof(field[CCP_OBJECTIVE]);
    snprintf(path, sizeof path, "%s/problems/reference/%s.ref.hdf5", shared(), field[NAME]);
    REQUIRE_OK(talus_fclib_read_point(path, "ccp_solution", f, &reference));
    REQUIRE_OK(TALUS_ALLOC(work, 2 * (size_t)n, "test"));
    double *gamma = work, *u = work + n;
    talus_problem_offset(problem, u);
    CHECK_NEAR(norm(u, n) / q_norm, 1.0, 1e-10);
    REQUIRE_OK(talus_fclib_impulses(f, problem, &reference, gamma));
    REQUIRE_OK(talus_problem_measure(problem, gamma, &metrics));
    CHECK_NEAR(metrics.natural.max / q_norm, 0.0, 1e-9);
    CHECK_NEAR(metrics.objective / objective, 1.0, 1e-9);
    talus_problem_velocity(problem, gamma, u);
    for (int i = 0; i < n; i++)
        u[i] -= reference.u[i];
    CHECK_NEAR(norm(u, n) / q_norm, 0.0, 1e-12);
    talus_release(work);
    talus_fclib_free_point(&reference);
}

/* The same under Coulomb's law, for W as stored. */
static void check_exact_reference(const char *problem_path, char *field[FIELDS])
{
    const TalusFrictionModel coulomb = {.law = TALUS_LAW_COULOMB};
    char path[1024];
    TalusFclib *f;
    TalusProblem *problem;
    TalusFclibPoint reference;
    TalusMetrics metrics;
    double *work, q_norm = atof(field[NORM_Q]);
    snprintf(path, sizeof path, "%s/problems/reference/%s.ref.hdf5", shared(), field[NAME]);
    REQUIRE_OK(talus_problem_open(problem_path, &coulomb, NULL, &problem, &f));
    REQUIRE_OK(talus_fclib_read_point(path, "solution", f, &reference));
    int n = talus_problem_size(problem);
    REQUIRE_OK(TALUS_ALLOC(work, 2 * (size_t)n, "test"));
    double *gamma = work, *u = work + n;
    REQUIRE_OK(talus_fclib_impulses(f, problem, &reference, gamma));
    REQUIRE_OK(talus_problem_measure(problem, gamma, &metrics));
    CHECK_NEAR(metrics.siconos_over_q, atof(field[EXACT_ERROR_OVER_Q]), 1e-13);
    talus_problem_velocity(problem, gamma, u);
    for (int i = 0; i < n; i++)
        u[i] -= reference.u[i];
    CHECK_NEAR(norm(u, n) / q_norm, 0.0, 1e-12);
    talus_release(work);
    talus_fclib_free_point(&reference);
    talus_problem_destroy(problem);
    talus_fclib_destroy(f);
}

static void check_row(char *field[FIELDS])
{
    char path[1024];
    TalusFclib *f;
    TalusProblem *problem;
    double asymmetry, expected = atof(field[ASYMMETRY]);
    snprintf(path, sizeof path, "%s/problems/%s", shared(), field[FILE_NAME]);
    if (!CHECK_OK(talus_problem_open(path, NULL, NULL, &problem, &f)))
        return;
    CHECK_INT(f->contacts, atoi(field[CONTACTS]));
    CHECK_INT(talus_problem_rows(problem), 3);
    check_symmetric(problem);
    CHECK_OK(talus_fclib_asymmetry(f, &asymmetry));
    if (field[ASYMMETRY][0])
        CHECK_NEAR(asymmetry, expected, 1e-6 * expected + 1e-11);
    if (field[CCP_ERROR][0] && atof(field[CCP_ERROR]) < 1e-12)
        check_reference(f, problem, field);
    if (field[EXACT_ERROR_OVER_Q][0])
        check_exact_reference(path, field);
    talus_problem_destroy(problem);
    talus_fclib_destroy(f);
}

TEST(problems_with_references)
{
    char path[1024], line[8192], *field[FIELDS];
    int rows = 0;
    if (!talus_fclib_available())
        SKIP("this build has no HDF5");
    snprintf(path, sizeof path, "%s/problems/manifest.csv", shared());
    FILE *file = fopen(path, "r");
    if (!file)
        SKIP("no problems in the shared folder");
    CHECK(fgets(line, sizeof line, file) != NULL); /* the header */
    while (fgets(line, sizeof line, file))
        if (CHECK_INT(split(line, field), FIELDS)) {
            check_row(field);
            rows++;
        }
    fclose(file);
    CHECK(rows >= 30);
}

TEST(beds)
{
    char path[1024];
    int found = 0;
    if (!talus_fclib_available())
        SKIP("this build has no HDF5");
    snprintf(path, sizeof path, "%s/beds", shared());
    DIR *folder = opendir(path);
    if (!folder)
        SKIP("no beds in the shared folder");
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        TalusFclib *f;
        TalusProblem *problem;
        if (!strstr(entry->d_name, ".hdf5"))
            continue;
        found++;
        snprintf(path, sizeof path, "%s/beds/%s", shared(), entry->d_name);
        if (!CHECK_OK(talus_problem_open(path, NULL, NULL, &problem, &f)))
            continue;
        CHECK_INT(talus_problem_rows(problem), strstr(entry->d_name, "mu0") ? 1 : 3);
        check_symmetric(problem);
        talus_problem_destroy(problem);
        talus_fclib_destroy(f);
    }
    closedir(folder);
    CHECK(found > 0);
}

/* ---- steps of scenes ---- */

static TalusWorld *make_world(const char *name, const char *const *overrides, int count, int steps)
{
    char path[1024];
    TalusScene *scene = NULL;
    TalusWorld *world = NULL;
    TalusSceneChoice choice = {.threads = 1};
    snprintf(path, sizeof path, "%s/%s.json", TALUS_SCENE_DIR, name);
    CHECK_OK(talus_scene_load(path, overrides, count, &scene));
    CHECK_OK(talus_scene_build(scene, &choice, &world));
    for (int i = 0; world && i < steps; i++)
        CHECK_OK(talus_world_step(world, NULL));
    talus_scene_destroy(scene);
    return world;
}

static double solve(TalusProblem *problem)
{
    TalusSolver *solver;
    TalusSolveOptions options = talus_solve_options_default();
    TalusSolveInfo info;
    double objective = NAN;
    options.tolerance = 1e-9;
    options.max_iterations = 20000;
    if (CHECK_OK(talus_solver_create("apgd", &solver))) {
        CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
        CHECK_INT(info.outcome, TALUS_OUTCOME_CONVERGED);
        CHECK_OK(talus_problem_objective(problem, talus_problem_gamma(problem), &objective));
        talus_solver_destroy(solver);
    }
    return objective;
}

/* The same N and q to rounding, by products with random vectors; and the same starting impulses. */
static void compare(TalusProblem *a, TalusProblem *b, const TalusFclib *f)
{
    int n = talus_problem_size(a);
    double *x, scale = 0.0;
    REQUIRE(n == talus_problem_size(b));
    REQUIRE_OK(TALUS_ALLOC(x, 3 * (size_t)n, "test"));
    double *p = x + n, *q = p + n;
    TalusRng rng = talus_rng_from_seed(8);
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < n; i++)
            x[i] = 2.0 * talus_rng_uniform(&rng) - 1.0;
        (k ? talus_problem_apply : talus_problem_velocity)(a, x, p);
        (k ? talus_problem_apply : talus_problem_velocity)(b, x, q);
        scale = norm(p, n);
        for (int i = 0; i < n; i++)
            p[i] -= q[i];
        CHECK_NEAR(norm(p, n) / scale, 0.0, 1e-13);
    }
    REQUIRE(f->guess_count == 1 && f->guesses[0].r && f->guesses[0].u && f->guesses[0].v);
    REQUIRE_OK(talus_fclib_impulses(f, b, &f->guesses[0], x));
    CHECK(memcmp(x, talus_problem_gamma(a), (size_t)n * sizeof *x) == 0);
    talus_problem_velocity(a, talus_problem_gamma(a), p);
    int rows = talus_problem_rows(a);
    for (int i = 0; i < talus_problem_blocks(a); i++)
        for (int r = 0; r < rows; r++)
            CHECK_NEAR(f->guesses[0].u[3 * i + r], p[i * rows + r], 1e-12);
    talus_release(x);
}

static void check_scene(const char *name, const char *const *overrides, int count, int steps)
{
    TalusWorld *world = make_world(name, overrides, count, steps);
    TalusProblem *problem, *back;
    TalusFclib *f, *read;
    REQUIRE(world != NULL);
    REQUIRE_OK(talus_world_build(world, &problem));
    CHECK(talus_problem_blocks(problem) > 10);
    REQUIRE_OK(talus_fclib_from_problem(problem, name, &f));
    REQUIRE_OK(talus_fclib_write("scene.hdf5", f));
    REQUIRE_OK(talus_problem_open("scene.hdf5", NULL, NULL, &back, &read));
    CHECK_STR(read->title, name);
    CHECK(read->global);
    compare(problem, back, read);
    double first = solve(problem), second = solve(back);
    CHECK_NEAR(second / first, 1.0, 1e-7);
    talus_problem_destroy(back);
    talus_fclib_destroy(f);
    talus_fclib_destroy(read);
    talus_world_destroy(world);
}

TEST(spheres_with_friction)
{
    static const char *const overrides[] = {"bodies=60", "side=4", "law=ccp", "compliance=0"};
    if (!talus_fclib_available())
        SKIP("this build has no HDF5");
    check_scene("settle-box", overrides, 4, 40);
}

TEST(spheres_without_friction)
{
    static const char *const overrides[] = {"bodies=60", "law=ccp", "compliance=0"};
    if (!talus_fclib_available())
        SKIP("this build has no HDF5");
    check_scene("settle-cylinder", overrides, 3, 40);
}

TEST(boxes)
{
    static const char *const overrides[] = {"bodies=5", "law=ccp", "compliance=0"};
    if (!talus_fclib_available())
        SKIP("this build has no HDF5");
    check_scene("dominoes", overrides, 3, 30);
}

/* ---- unusual problems ---- */

static TalusProblem *two_bodies(double mu)
{
    /* The second body moves as it likes and turns freely; the first is driven along x. */
    static const double inv_mass[2] = {0.0, 0.5};
    static const TalusSym3 inertia[2] = {{0, 0, 0, 0, 0, 0}, {2.0, 3.0, 4.0, 0.5, 0.25, -0.5}};
    static const double velocity[12] = {1.5, 0, 0, 0, 0, 0.5, -1.0, 0.25, 0.5, 0.1, 0.2, 0.3};
    TalusContactDef contacts[2] = {
        {.a = 1,
         .b = 0,
         .normal = {-0.6, 0.0, 0.8},
         .arm_a = {-0.5, 0.2, 0.1},
         .arm_b = {0.3, 0.1, -0.2},
         .mu = mu,
         .bias = 0.125},
        {.a = 1, .b = -1, .normal = {0.0, 0.0, -1.0}, .arm_a = {0.0, 0.3, -0.5}, .mu = 0.5 * mu}};
    TalusProblemDef def = {.body_count = 2,
                           .inv_mass = inv_mass,
                           .inv_inertia = inertia,
                           .free_velocity = velocity,
                           .contact_count = 2,
                           .contacts = contacts};
    TalusProblem *problem = NULL;
    CHECK_OK(talus_problem_create(&def, NULL, &problem));
    return problem;
}

/* A body that cannot move has no degrees of freedom, but its velocity counts. */
static void check_two_bodies(double mu)
{
    TalusProblem *problem = two_bodies(mu), *back;
    TalusFclib *f;
    REQUIRE_OK(talus_fclib_from_problem(problem, "", &f));
    CHECK_INT(talus_fclib_dofs(f), 6);
    REQUIRE_OK(talus_fclib_problem(f, NULL, NULL, &back));
    compare(problem, back, f);
    talus_problem_destroy(problem);
    talus_problem_destroy(back);
    talus_fclib_destroy(f);
}

TEST(immovable_bodies)
{
    check_two_bodies(0.3);
    check_two_bodies(0.0);
}

/* An explicit problem becomes a local one, and again the same problem. */
static void check_explicit(double mu)
{
    TalusProblem *bodies = two_bodies(mu), *problem, *back;
    TalusProblemDef first, second;
    TalusFclib *global, *local;
    REQUIRE_OK(talus_fclib_from_problem(bodies, "", &global));
    REQUIRE_OK(talus_fclib_problem(global, NULL, NULL, &problem));
    REQUIRE_OK(talus_fclib_from_problem(problem, "", &local));
    CHECK(!local->global);
    REQUIRE_OK(talus_fclib_problem(local, NULL, NULL, &back));
    REQUIRE_OK(talus_problem_export(problem, &first));
    REQUIRE_OK(talus_problem_export(back, &second));
    int n = talus_problem_size(problem);
    REQUIRE(n == talus_problem_size(back) && first.row_start[n] == second.row_start[n]);
    CHECK(memcmp(first.values, second.values, (size_t)first.row_start[n] * sizeof(double)) == 0);
    CHECK(memcmp(first.offset, second.offset, (size_t)n * sizeof(double)) == 0);
    talus_problem_destroy(bodies);
    talus_problem_destroy(problem);
    talus_problem_destroy(back);
    talus_fclib_destroy(global);
    talus_fclib_destroy(local);
}

TEST(explicit_problems)
{
    check_explicit(0.3);
    check_explicit(0.0);
}

int main(void)
{
    RUN(problems_with_references);
    RUN(beds);
    RUN(spheres_with_friction);
    RUN(spheres_without_friction);
    RUN(boxes);
    RUN(immovable_bodies);
    RUN(explicit_problems);
    return talus_test_result();
}

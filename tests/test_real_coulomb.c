/* Exact Coulomb friction on every problem in space of ../shared/problems: "auto" solves each to 1e-8 in
 * Siconos's measure, which the verifier confirms from the file's raw data, and finds the velocities of the
 * reference. */
#include "real_problem.h"
#include "verify/verify.h"

#include <talus/talus.h>

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double TOLERANCE = 1e-8, VELOCITIES = 1e-6;
static const TalusFrictionModel coulomb = {.law = TALUS_LAW_COULOMB};

/* The figure that was promised, from W, or M and H, as stored. */
static void check_claim(const char *name, TalusFclib *f, TalusProblem *problem)
{
    const char *reason = "";
    VerifyPoint point;
    TalusMetrics found;
    REQUIRE_OK(talus_fclib_set_solution(f, problem, talus_problem_gamma(problem)));
    REQUIRE(verify_fclib_point(f, coulomb, f->solution.r, &point, NULL, &reason));
    verify_measure(&point, &found);
    if (!CHECK(found.siconos <= TOLERANCE))
        printf("         %s: %g in Siconos's measure\n", name, found.siconos);
    CHECK(found.cone_violation <= 1e-12 * norm(point.gamma, point.blocks * point.rows));
    verify_point_free(&point);
}

static void check_solve(const char *name, TalusFclib *f, TalusProblem *problem)
{
    /* several exact solutions, of different velocities (../shared/problems/README.md) */
    bool unique = strcmp(name, "OneObject-i1028-138") != 0;
    TalusSolveOptions options = talus_solve_options_default();
    TalusSolveInfo info;
    TalusSolver *solver;
    options.norm = TALUS_NORM_SICONOS;
    options.tolerance = TOLERANCE;
    options.max_iterations = 1000000;
    REQUIRE_OK(talus_solver_create("auto", &solver));
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    if (!CHECK(info.outcome == TALUS_OUTCOME_CONVERGED))
        printf("         %s: %s after %d iterations\n", name, talus_outcome_name(info.outcome),
               info.iterations);
    talus_solver_destroy(solver);
    check_claim(name, f, problem);
    if (unique)
        check_velocities(name, f, problem, "solution", VELOCITIES);
}

static void check_file(const char *file)
{
    char path[PATH], name[256];
    TalusFclib *f = NULL;
    TalusProblem *problem = NULL;
    snprintf(path, sizeof path, "%s/problems/problems/%s", shared(), file);
    snprintf(name, sizeof name, "%.*s", (int)(strrchr(file, '.') - file), file);
    REQUIRE_OK(talus_problem_open(path, &coulomb, NULL, &problem, &f));
    if (f->contacts <= largest(1000))
        check_solve(name, f, problem);
    talus_problem_destroy(problem);
    talus_fclib_destroy(f);
}

TEST(all_problems_in_space)
{
    char path[PATH];
    int files = 0;
    if (!talus_fclib_available())
        SKIP("this build has no HDF5");
    snprintf(path, sizeof path, "%s/problems/problems", shared());
    DIR *dir = opendir(path);
    if (!dir)
        SKIP("no shared problems beside the source tree");
    for (struct dirent *entry; (entry = readdir(dir));)
        if (strstr(entry->d_name, ".hdf5")) {
            check_file(entry->d_name);
            files++;
        }
    closedir(dir);
    CHECK(files >= 30);
}

int main(void)
{
    RUN(all_problems_in_space);
    return talus_test_result();
}

/* Every solver on every real problem of ../shared/problems: what it claims is what the verifier finds
 * in the file's raw data, nothing is NaN, and the convex velocities are those of the reference, by two
 * algorithms at least. */
#include "support/test.h"
#include "verify/verify.h"

#include <talus/talus.h>

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH = 1024, SHORT = 300, LONG = 20000 };

static const char *shared(void)
{
    const char *folder = getenv("TALUS_SHARED");
    return folder ? folder : "";
}

/* Sanitizers slow everything down by ten: there the small problems do. */
static int largest(void)
{
    const char *sanitizers = getenv("TALUS_SANITIZE");
    return sanitizers && *sanitizers ? 60 : 1000;
}

static double distance(const double *a, const double *b, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

static double norm(const double *a, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += a[i] * a[i];
    return sqrt(sum);
}

/* ---- claims ---- */

static bool near(double a, double b, double scale)
{
    return fabs(a - b) <= 1e-9 * fmax(fabs(b), scale);
}

/* The metrics of the problem that was solved, against those of the file. Each has a noise of about
 * 1e-16 times the data that go into it: velocities d |gamma|, energies those times impulses. */
static void check_claims(const char *name, const char *solver, TalusFclib *f, TalusProblem *problem)
{
    TalusMetrics claimed, found;
    VerifyPoint point;
    const char *reason = "";
    const double *gamma = talus_problem_gamma(problem);
    REQUIRE_OK(talus_problem_measure(problem, gamma, &claimed));
    REQUIRE_OK(talus_fclib_set_solution(f, problem, gamma));
    REQUIRE(verify_fclib_point(f, (TalusFrictionModel){0}, f->solution.r, &point, NULL, &reason));
    verify_measure(&point, &found);
    int n = point.blocks * point.rows;
    double speed = 0.0, impulse = norm(point.gamma, n);
    for (int i = 0; i < point.blocks; i++)
        speed = fmax(speed, fmax(point.normal[i], point.tangential[i]) * impulse);
    double q = norm(point.q, n), mixed = 1e-4 * impulse / q; /* Siconos's adds N s to m/s */
    speed = 1e-4 * (speed + q); /* noise of 1e-13 against the tolerance of 1e-9 */
    bool good = near(claimed.natural.rms, found.natural.rms, speed) &&
                near(claimed.natural.max, found.natural.max, speed) &&
                near(claimed.natural_at_zero, found.natural_at_zero, speed) &&
                near(claimed.projected_gradient, found.projected_gradient, speed) &&
                near(claimed.primal_infeasibility, found.primal_infeasibility, speed) &&
                near(claimed.objective, found.objective, speed * impulse) &&
                near(claimed.complementarity_max, found.complementarity_max, speed * impulse) &&
                near(claimed.duality_gap, found.duality_gap, speed * impulse) &&
                near(claimed.siconos_over_q, found.siconos_over_q, fmax(1e-3, mixed)) &&
                near(claimed.siconos, found.siconos, 1e-3);
    if (!CHECK(good))
        printf("         %s, %s: natural %.9g, found %.9g\n", name, solver, claimed.natural.rms,
               found.natural.rms);
    if (!CHECK(found.cone_violation <= 1e-12 * (impulse + 1e-300)))
        printf("         %s, %s: outside its cone by %g\n", name, solver, found.cone_violation);
    verify_point_free(&point);
}

static TalusStatus solve(const char *solver_name, TalusProblem *problem, double tolerance,
                         int iterations, TalusSolveInfo *info)
{
    TalusSolver *solver = NULL;
    TalusSolveOptions options = talus_solve_options_default();
    TalusStatus status = talus_solver_create(solver_name, &solver);
    TalusMetrics zero;
    double *gamma = talus_problem_gamma(problem);
    memset(gamma, 0, (size_t)talus_problem_size(problem) * sizeof *gamma);
    if (status == TALUS_OK)
        status = talus_solver_supports(solver, problem);
    if (status == TALUS_OK)
        status = talus_problem_measure(problem, gamma, &zero);
    if (status == TALUS_OK) {
        options.tolerance = tolerance * zero.natural_at_zero;
        options.max_iterations = iterations;
        status = talus_solver_solve(solver, problem, &options, info);
    }
    talus_solver_destroy(solver);
    return status;
}

/* Every solver of the table for a while. */
static void check_all_solvers(const char *name, TalusFclib *f, TalusProblem *problem)
{
    for (int s = 1; s < talus_solver_count(); s++) { /* 0 is auto, which is one of the others */
        const char *solver = talus_solver_row(s).name;
        TalusSolveInfo info;
        TalusStatus status = solve(solver, problem, 1e-8, SHORT, &info);
        if (status == TALUS_ERR_UNSUPPORTED)
            continue;
        REQUIRE_OK(status);
        CHECK(isfinite(info.residual.rms) && isfinite(info.residual.max));
        check_claims(name, solver, f, problem);
    }
}

/* ---- the reference ---- */

static bool agrees(TalusProblem *problem, const TalusFclibPoint *reference, double tolerance)
{
    int n = talus_problem_size(problem);
    double *u = malloc((size_t)n * sizeof *u), *q = malloc((size_t)n * sizeof *q);
    talus_problem_velocity(problem, talus_problem_gamma(problem), u);
    talus_problem_offset(problem, q);
    bool good = distance(u, reference->u, n) <= tolerance * norm(q, n);
    free(u);
    free(q);
    return good;
}

static void check_velocities(const char *name, const TalusFclib *f, TalusProblem *problem)
{
    static const char *const solvers[] = {"admm", "lbfgs-fb", "apgd"};
    char path[PATH];
    TalusFclibPoint reference = {0};
    int agreeing = 0;
    snprintf(path, sizeof path, "%s/problems/reference/%s.ref.hdf5", shared(), name);
    REQUIRE_OK(talus_fclib_read_point(path, "ccp_solution", f, &reference));
    REQUIRE(talus_problem_size(problem) == f->contacts * f->dimension);
    for (int s = 0; s < 3 && agreeing < 2; s++) {
        TalusSolveInfo info;
        REQUIRE_OK(solve(solvers[s], problem, 1e-9, LONG, &info));
        agreeing += agrees(problem, &reference, 1e-6);
    }
    if (!CHECK(agreeing >= 2))
        printf("         %s: %d algorithms have the reference's velocities\n", name, agreeing);
    talus_fclib_free_point(&reference);
}

/* ---- all files of a folder ---- */

static void check_file(const char *folder, const char *file, bool reference)
{
    char path[PATH], name[256];
    TalusFclib *f = NULL;
    TalusProblem *problem = NULL;
    snprintf(path, sizeof path, "%s/problems/%s/%s", shared(), folder, file);
    snprintf(name, sizeof name, "%.*s", (int)(strrchr(file, '.') - file), file);
    REQUIRE_OK(talus_fclib_read(path, &f));
    if (f->contacts <= largest() && CHECK_OK(talus_fclib_problem(f, NULL, NULL, &problem))) {
        check_all_solvers(name, f, problem);
        if (reference)
            check_velocities(name, f, problem);
    }
    talus_problem_destroy(problem);
    talus_fclib_destroy(f);
}

static int check_folder(const char *folder, bool reference)
{
    char path[PATH];
    int files = 0;
    snprintf(path, sizeof path, "%s/problems/%s", shared(), folder);
    DIR *dir = opendir(path);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if (strstr(entry->d_name, ".hdf5")) {
            check_file(folder, entry->d_name, reference);
            files++;
        }
    if (dir)
        closedir(dir);
    return files;
}

TEST(problems_in_space)
{
    if (!talus_fclib_available())
        SKIP("this build has no HDF5");
    if (!check_folder("problems", true))
        SKIP("no shared problems beside the source tree");
}

TEST(problems_in_the_plane)
{
    if (!talus_fclib_available())
        SKIP("this build has no HDF5");
    if (!check_folder("extra2d", false))
        SKIP("no shared problems beside the source tree");
}

int main(void)
{
    RUN(problems_in_space);
    RUN(problems_in_the_plane);
    return talus_test_result();
}

/* Contact problems and checks for the solvers of linear complementarity problems: lemke, newton-pang, newton-path. */
#ifndef TALUS_TESTS_LCP_SOLVES_H
#define TALUS_TESTS_LCP_SOLVES_H

#include "support/problems.h"
#include "support/test.h"

#include "base/memory.h"

#include <talus/talus.h>

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const TalusFrictionModel square = {TALUS_SECTION_SQUARE, TALUS_LAW_CCP, 0};
static const TalusFrictionModel exact_square = {TALUS_SECTION_SQUARE, TALUS_LAW_COULOMB, 0};

static inline TalusFrictionModel polygon(TalusFrictionLaw law, int sides)
{
    return (TalusFrictionModel){TALUS_SECTION_POLYGON, law, sides};
}

static inline TalusSolveInfo solve_within(TalusProblem *problem, const char *spec, double tolerance,
                                          int iterations)
{
    TalusSolver *solver = NULL;
    TalusSolveInfo info = {.outcome = TALUS_OUTCOME_DIVERGED};
    TalusSolveOptions options = talus_solve_options_default();
    options.tolerance = tolerance;
    options.norm = TALUS_NORM_MAX;
    options.max_iterations = iterations;
    CHECK_OK(talus_solver_create(spec, &solver));
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    talus_solver_destroy(solver);
    return info;
}

static inline TalusSolveInfo solve(TalusProblem *problem, const char *spec, double tolerance)
{
    return solve_within(problem, spec, tolerance, 200000);
}

static inline TalusProblem *open_problem(const TestProblem *p, TalusFrictionModel model)
{
    TalusProblem *problem = NULL;
    CHECK_OK(talus_problem_create(&p->def, NULL, &problem));
    if (talus_problem_rows(problem) == 3)
        CHECK_OK(talus_problem_set_friction(problem, model));
    return problem;
}

static inline bool converges(TalusProblem *problem, const char *spec, double tolerance)
{
    return CHECK_STR(talus_outcome_name(solve(problem, spec, tolerance).outcome), "converged");
}

static inline double *velocity_of(TalusProblem *problem)
{
    double *u = calloc((size_t)talus_problem_size(problem) + 1, sizeof *u);
    talus_problem_velocity(problem, talus_problem_gamma(problem), u);
    return u;
}

/* The largest difference of contact velocities, over the largest. */
static inline double apart(TalusProblem *a, TalusProblem *b)
{
    double *u = velocity_of(a), *v = velocity_of(b), far = 0.0, fast = 0.0;
    for (int k = 0; k < talus_problem_size(a); k++) {
        far = fmax(far, fabs(u[k] - v[k]));
        fast = fmax(fast, fabs(u[k]));
    }
    free(u);
    free(v);
    return far / fast;
}

/* One contact of this matrix, [n t1 t2]. */
static inline TalusProblem *one_contact(const double w[9], const double q[3], double mu,
                                        TalusFrictionModel model)
{
    const int32_t start[4] = {0, 3, 6, 9}, column[9] = {0, 1, 2, 0, 1, 2, 0, 1, 2};
    TalusProblemDef def = {.block_count = 1,
                           .rows = 3,
                           .row_start = start,
                           .column = column,
                           .values = w,
                           .offset = q,
                           .mu = &mu,
                           .model = &model};
    TalusProblem *problem = NULL;
    CHECK_OK(talus_problem_create(&def, NULL, &problem));
    return problem;
}

/* A heap under a model, by two solvers. */
static inline void compare_solvers(const HeapOptions *heap, const char *spec,
                                   TalusFrictionModel model, const char *other)
{
    TestProblem p = make_heap(heap);
    TalusProblem *a = open_problem(&p, model), *b = open_problem(&p, model);
    bool ok = converges(a, spec, 1e-12);
    ok &= converges(b, other, 1e-10) && CHECK(apart(a, b) < 1e-6);
    if (!ok)
        printf("    %s under %s x %s, %d\n", spec, talus_law_name(model.law),
               talus_section_name(model.section), model.sides);
    talus_problem_destroy(a);
    talus_problem_destroy(b);
    free_test_problem(&p);
}

/* Makes every contact five, some of them without friction. */
static inline void repeat_contacts(TestProblem *p)
{
    size_t count = (size_t)p->def.contact_count;
    TalusContactDef *many = test_memory(p, 5 * count, sizeof *many);
    for (size_t i = 0; i < 5 * count; i++) {
        many[i] = p->def.contacts[i / 5];
        many[i].mu = i % 15 == 0 ? 0.0 : 0.5;
    }
    p->def.contacts = many;
    p->def.contact_count = (int)(5 * count);
}

/* A ball between two steep walls that overlap it, held by friction: the relaxation has no solution. If it leaves fast
 * enough, no impulses at all are a solution under Coulomb's law. */
static inline TalusProblem *make_jam(TalusFrictionLaw law, bool leaves)
{
    const double c = 0.8, s = 0.6, mu[2] = {0.9, 0.9};
    const double d[3][6] = {{c, -s, 0, -c, s, 0}, {s, c, 0, s, c, 0}, {0, 0, 1, 0, 0, 1}};
    const int32_t start[7] = {0, 6, 12, 18, 24, 30, 36};
    TalusFrictionModel models[2] = {polygon(law, 4), polygon(law, 4)};
    int32_t column[36];
    double w[36] = {0}, q[6];
    for (int i = 0; i < 6; i++) {
        q[i] = d[1][i] * (leaves ? 1.0 : -1.0) - (i % 3 == 0 ? 0.3 : 0.0);
        for (int j = 0; j < 6; j++) {
            column[6 * i + j] = j;
            for (int r = 0; r < 3; r++)
                w[6 * i + j] += d[r][i] * d[r][j];
        }
    }
    TalusProblemDef def = {.block_count = 2,
                           .rows = 3,
                           .row_start = start,
                           .column = column,
                           .values = w,
                           .offset = q,
                           .mu = mu,
                           .model = models};
    TalusProblem *problem = NULL;
    if (CHECK_OK(talus_problem_create(&def, NULL, &problem)))
        talus_problem_gamma(problem)[0] = 1.0;
    return problem;
}

/* Makes every allocation of a solve fail in turn; the same solver then goes on once there is memory. */
static inline void check_failed_allocations(const char *spec, TalusFrictionModel model)
{
    TestProblem p = make_heap(&(HeapOptions){.seed = 8, .nx = 2, .ny = 2, .nz = 2, .mu = 0.4});
    TalusProblem *problem = open_problem(&p, model);
    TalusSolveOptions options = talus_solve_options_default();
    TalusSolveInfo info;
    TalusSolver *solver = NULL;
    TalusStatus status = TALUS_ERR_MEMORY;
    size_t bytes = (size_t)talus_problem_size(problem) * sizeof(double);
    int n = 1;
    for (; status != TALUS_OK && n < 200; n++) {
        memset(talus_problem_gamma(problem), 0, bytes);
        CHECK_OK(talus_solver_create(spec, &solver));
        talus_fail_allocation_in(n);
        status = talus_solver_solve(solver, problem, &options, &info);
        talus_fail_allocation_in(0);
        if (status != TALUS_OK) {
            CHECK_INT(status, TALUS_ERR_MEMORY);
            CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
        }
        CHECK_STR(talus_outcome_name(info.outcome), "converged");
        talus_solver_destroy(solver);
    }
    CHECK(n > 20 && n < 200);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

/* ---- the real problems ---- */

/* Those of at most this many contacts: larger ones take seconds. */
enum { REAL_CONTACTS = 60, REAL_PATH = 1024 };

static inline bool check_real(const char *path, TalusFrictionModel model, const char *spec)
{
    TalusFclib *f = NULL;
    TalusProblem *problem = NULL;
    TalusMetrics m;
    bool taken = CHECK_OK(talus_fclib_read(path, &f)) &&
                 CHECK_OK(talus_fclib_problem(f, &model, NULL, &problem)) &&
                 talus_problem_blocks(problem) <= REAL_CONTACTS;
    if (taken) {
        CHECK_OK(talus_problem_measure(problem, talus_problem_gamma(problem), &m));
        TalusSolveInfo info = solve_within(problem, spec, 1e-10 * m.natural_at_zero, 20000);
        if (!CHECK(info.outcome == TALUS_OUTCOME_CONVERGED))
            printf("    %s on %s under %s x %s, %d: %s after %d, %g\n", spec, path,
                   talus_law_name(model.law), talus_section_name(model.section), model.sides,
                   talus_outcome_name(info.outcome), info.iterations, info.residual.max);
    }
    talus_problem_destroy(problem);
    talus_fclib_destroy(f);
    return taken;
}

/* Writes the folder of the real problems. */
static inline void find_real_folder(char path[REAL_PATH])
{
    const char *folder = getenv("TALUS_SHARED");
    snprintf(path, REAL_PATH, "%s/problems/problems", folder ? folder : "");
}

/* Returns why real problems cannot be solved here, or NULL. */
static inline const char *missing_real_problems(void)
{
    char path[REAL_PATH];
    find_real_folder(path);
    DIR *list = opendir(path);
    if (list)
        closedir(list);
    return !talus_fclib_available() ? talus_fclib_build_hint()
           : list                   ? NULL
                                    : "no ../shared/problems";
}

/* Solves the small real problems under seven models; returns the number of solves. */
static inline int solve_real_problems(const char *spec)
{
    const TalusFrictionModel models[] = {{.section = TALUS_SECTION_NONE},
                                         polygon(TALUS_LAW_CCP, 3),
                                         polygon(TALUS_LAW_CCP, 6),
                                         square,
                                         polygon(TALUS_LAW_COULOMB, 3),
                                         polygon(TALUS_LAW_COULOMB, 7),
                                         exact_square};
    char folder[REAL_PATH], path[REAL_PATH + 256];
    int count = 0;
    find_real_folder(folder);
    DIR *list = opendir(folder);
    for (struct dirent *entry = readdir(list); entry; entry = readdir(list)) {
        if (!strstr(entry->d_name, ".hdf5"))
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        for (size_t k = 0; k < sizeof models / sizeof *models; k++)
            count += check_real(path, models[k], spec);
    }
    closedir(list);
    return count;
}

#endif

/* Solvers and parameters that tests of all of them run, and how. */
#ifndef TALUS_TESTS_SOLVER_SPECS_H
#define TALUS_TESTS_SOLVER_SPECS_H

#include "support/problems.h"
#include "support/test.h"
#include "support/verified.h"

#include "problem/problem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <talus/solver.h>

/* Under a sanitizer everything takes ten times as long: fewer iterations there. */
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__) || \
    __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
enum { SLOW = 1 };
#else
enum { SLOW = 0 };
#endif

typedef struct Spec {
    const char *text;
    bool splitting; /* converges slowly or stalls on rigid beds (findings.md, section 1) */
} Spec;

static const Spec specs[] = {
    {"apgd", false},
    {"apgd:metric=trace", false},
    {"apgd:restart=off,check=1", true},
    {"lbfgs-fb", false},
    {"lbfgs-fb:memory=1,check=1,step=1,rise=0", true},
    {"lbfgs-fb:metric=trace,memory=20,patience=40", false},
    {"auto", false},
    {"gs", true},
    {"gs:order=forward", true},
    {"gs:order=symmetric", true},
    {"gs:order=random,seed=7", true},
    {"gs:order=coloured,omega=1.5", true},
    {"gs:order=forward,metric=trace", true},
    {"gs:order=symmetric,metric=trace", true},
    {"gs:order=random,metric=trace", true},
    {"gs:metric=trace,coupling=off,omega=0.5", true},
    {"gs:order=coloured,metric=trace", true},
    {"gs:order=forward,omega=0.8,rho=0.9", true},
    {"gs-coulomb", true},
    {"gs-coulomb:omega=1.5", true},
    {"bgs", true},
    {"bgs:order=symmetric,omega=1.3,rho=0.9", true},
    {"bgs-enum", true},
    {"gs-disc", true},
    {"nscd", true},
    {"pgs", true},
    {"amg", true},
    {"amg:cycle=W,transfer=velocity,pre=2,truncate=on", true},
    {"amg:correction=project,warm=5,strong=absolute,passes=2,bounds=none", true},
    {"gpcg", false},
    {"gpcg:metric=none,line=whole,eta2=0.5", false},
    {"gpminres", false},
    {"gpminres:metric=none,line=whole,binding=off", true},
    {"gpminres-p", false},
    {"gpminres-p:factor=lu", true},
    {"jacobi", true},
    {"jacobi:omega=0.35,lambda=0.9", true},
    {"cpg", false},
    {"cpg:variant=two,metric=none", false},
    {"kucera", true},
    {"kucera:metric=none,gamma=2,step=1.9", true},
    {"mprgp", true},
    {"mprgp:metric=none,step=1,expansion=gradient", true},
    {"mprgp:expansion=half-step", true},
    {"mprgp:expansion=projcg", true},
    {"pgd", true},
    {"ssn", false},
    {"ssn:metric=none,regularise=1e-7", false},
    {"ssn:map=normal,bounds=moving", false},
    {"gs-ssn", false},
    {"gs-ssn:map=normal,bounds=frozen,sweeps=7,quiet=2,omega=1", false},
    {"newton-al", false},
    {"newton-al:linear=ldl,rho=0.1,shrink=0.1", false},
    {"newton-pang", false},
    {"newton-pang:max_unknowns=4000,equal=0,regularise=1e-9", false},
    {"newton-path", false},
    {"newton-path:max_unknowns=4000,crash=3,proximal=1e-3", false},
    {"prox", false},
    {"prox:rho=2,shrink=0.3,inner=0.2", false},
    {"continuation", false},
    {"continuation:width=3,finish=0.1", false},
    {"ipm-chol", false},
    {"ipm-chol:linear=ldl,correctors=3,warm=on", false},
    {"ipm-aug", false},
    {"ipm-aug:linear=ldl,correctors=0", false},
    {"ipm-soc", false},
    {"ipm-soc:linear=ldl,form=contacts", false},
    {"ipm-hsd", false},
    {"ipm-hsd:linear=ldl", false},
    {"lemke", false},
    {"lemke:max_unknowns=4000,cover=ones,refactor=30", false},
    {"admm", false},
    {"admm:anderson=0,change=2", true},
    {"anderson", false},
    {"anderson:map=gradient,metric=trace", false},
    {"spg", false},
    {"spg:precondition=off", false},
    {"tao-blmvm", true},
    {"tao-tron", false},
    {"tao-tron:precondition=jacobi", false},
    {"tao-gpcg", false},
    {"tao-bqpip", false},
};

enum { SPECS = sizeof specs / sizeof *specs };

/* A sanitizer has seen the code of the other metrics when it has seen one. */
static inline bool left_out(const Spec *spec)
{
    return SLOW && (strstr(spec->text, "trace") || strstr(spec->text, "metric=none"));
}

/* A factorisation in every iteration, on one thread. */
static inline bool factorises(const Spec *spec)
{
    return strncmp(spec->text, "prox", 4) == 0 || strncmp(spec->text, "ipm-", 4) == 0 ||
           strncmp(spec->text, "continuation", 12) == 0 ||
           strncmp(spec->text, "newton-pa", 9) == 0; /* newton-pang, newton-path */
}

static inline TalusProblem *create(const TalusProblemDef *def, TalusPool *pool)
{
    TalusProblem *problem = NULL;
    CHECK_OK(talus_problem_create(def, pool, &problem));
    return problem;
}

static inline TalusSolver *solver_of(const char *spec)
{
    TalusSolver *solver = NULL;
    CHECK_OK(talus_solver_create(spec, &solver));
    return solver;
}

static inline TalusSolveOptions budget(double tolerance, int iterations)
{
    TalusSolveOptions options = talus_solve_options_default();
    options.tolerance = tolerance;
    options.max_iterations = iterations;
    return options;
}

/* Of a solver that this build lacks a package for. */
static inline bool is_missing(const char *spec)
{
    size_t length = strcspn(spec, ":");
    for (int i = 0; i < talus_solver_count(); i++) {
        TalusSolverRow row = talus_solver_row(i);
        if (strlen(row.name) == length && strncmp(row.name, spec, length) == 0)
            return row.missing != NULL;
    }
    return false;
}

/* The first spec from `s` on that takes the problem: some are for problems without friction only. */
static inline int from(int s, const TalusProblem *problem)
{
    for (; s < SPECS; s++) {
        if (is_missing(specs[s].text))
            continue;
        TalusSolver *solver = solver_of(specs[s].text);
        bool ok = talus_solver_supports(solver, problem) == TALUS_OK;
        talus_solver_destroy(solver);
        if (ok)
            break;
    }
    return s;
}

#define FOR_SPECS(s, problem) for (int s = from(0, problem); s < SPECS; s = from(s + 1, problem))

static inline void set_gamma(TalusProblem *problem, const double *gamma)
{
    size_t bytes = (size_t)talus_problem_size(problem) * sizeof(double);
    if (gamma)
        memcpy(talus_problem_gamma(problem), gamma, bytes);
    else
        memset(talus_problem_gamma(problem), 0, bytes);
}

/* From zero impulses with a new solver. */
static inline TalusSolveInfo solve_cold(const char *spec, TalusProblem *problem, double tolerance,
                                        int iterations)
{
    TalusSolveInfo info = {.outcome = TALUS_OUTCOME_DIVERGED};
    TalusSolver *solver = solver_of(spec);
    TalusSolveOptions options = budget(tolerance, iterations);
    set_gamma(problem, NULL);
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    talus_solver_destroy(solver);
    return info;
}

static inline double start_residual(TalusProblem *problem)
{
    TalusResidual residual;
    set_gamma(problem, NULL);
    talus_problem_residual(problem, talus_problem_gamma(problem), &residual);
    return residual.rms;
}

static inline double largest_difference(const double *a, const double *b, int n)
{
    double worst = 0.0;
    for (int k = 0; k < n; k++)
        worst = fmax(worst, fabs(a[k] - b[k]));
    return worst;
}

/* Names the case when a check fails; a test's macros show only the line. */
static inline void blame(bool ok, const char *problem, const char *spec)
{
    if (!ok)
        printf("    with %s on %s\n", spec, problem);
}

/* The reported residual is the true one, the outcome follows from it, the impulses are admissible. */
static inline bool check_report(const TalusProblemDef *def, const double *gamma,
                                const TalusSolveInfo *info, double tolerance)
{
    TalusResidual truth = verify_residual(def, gamma);
    double rounding = 1e-13 * verify_scale(def, gamma);
    bool ok = CHECK_NEAR(info->residual.rms, truth.rms, 1e-9 * truth.rms + rounding);
    ok &= CHECK_NEAR(info->residual.max, truth.max, 1e-9 * truth.max + 10.0 * rounding);
    ok &= CHECK(verify_outside(def, gamma) <= 1e-14 + rounding);
    if (info->outcome == TALUS_OUTCOME_CONVERGED)
        ok &= CHECK(truth.rms <= tolerance * (1.0 + 1e-9) + rounding);
    else
        ok &= CHECK(info->outcome == TALUS_OUTCOME_BUDGET);
    return ok;
}

/* Contact and body velocities of the problem's gamma, one after the other. */
static inline double *velocities_of(const TalusProblemDef *def, TalusProblem *problem, int *count)
{
    int n = verify_size(def), bodies = 6 * def->body_count;
    double *v = calloc((size_t)(n + bodies), sizeof *v), *gamma = talus_problem_gamma(problem);
    verify_velocity(def, gamma, v);
    verify_body_velocity(def, gamma, v + n);
    *count = n + bodies;
    return v;
}

/* Spins are held to the scale of velocities too: bodies are smaller than 1 m, so that is stricter. */
static inline bool same_velocities(const TestProblem *p, TalusProblem *problem,
                                   const double *expected)
{
    int n;
    double *v = velocities_of(&p->def, problem, &n);
    double scale = verify_scale(&p->def, talus_problem_gamma(problem));
    bool ok = CHECK_NEAR(largest_difference(v, expected, n), 0.0, 1e-8 * scale);
    free(v);
    return ok;
}

#endif

/* Siconos on contact problems of FCLIB, and Talus beside it: exact Coulomb friction, one clock, one
 * measure.
 *
 *   siconos [--tol X]... [--solvers LIST] [--talus LIST] [--repeat K] [--seconds S] [--large N] FILE...
 *
 * Both get the same W and q, condensed by Talus's reader; Siconos in its sparse block storage, which is
 * what its own Kernel gives it. A row per problem, tolerance and solver: CPU seconds of the call alone,
 * the least of K runs; the error by Siconos's function and by Talus's; whether it is within the
 * tolerance. README.md says how each solver is set up. */
#include <talus/talus.h>

#include <siconos/numerics/FrictionContactProblem.h>
#include <siconos/numerics/Friction_cst.h>
#include <siconos/numerics/NonSmoothDrivers.h>
#include <siconos/numerics/NumericsMatrix.h>
#include <siconos/numerics/NumericsVerbose.h>
#include <siconos/numerics/SolverOptions.h>
#include <siconos/numerics/SparseBlockMatrix.h>
#include <siconos/numerics/fc3d_Solvers.h>
#include <siconos/numerics/fc3d_compute_error.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_TOLERANCES = 8, MAX_NAMES = 16, MAX_SUMS = MAX_TOLERANCES * 2 * MAX_NAMES };

/* Siconos's solvers by the name on the command line, and the most iterations each is given. */
static const struct Method {
    const char *name;
    int id, iterations; /* 0: its default */
} methods[] = {{"PROX", SICONOS_FRICTION_3D_PROX, 0},
               {"NSGS", SICONOS_FRICTION_3D_NSGS, 100000},
               {"NSN_AC", SICONOS_FRICTION_3D_NSN_AC, 1000},
               {"ADMM", SICONOS_FRICTION_3D_ADMM, 20000}};

enum { METHODS = sizeof methods / sizeof *methods };

typedef struct Names {
    char *item[MAX_NAMES];
    int count;
} Names;

/* What a solver needed over the large problems. */
typedef struct Sum {
    const char *name;
    double tolerance, seconds;
    int solved, problems;
} Sum;

typedef struct Bench {
    double tolerance[MAX_TOLERANCES], budget;
    int tolerances, repeat, large;
    Names siconos, talus;
    Sum sum[MAX_SUMS];
    int sums;
} Bench;

typedef struct Case {
    const char *name;
    TalusProblem *problem;
    TalusFclib *fclib;
    TalusProblemDef def;
    double norm_q;
} Case;

typedef struct Run {
    double seconds, siconos_error, talus_error;
    int iterations;
    bool solved;
} Run;

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "siconos: %s: %s\n", what, why);
    exit(1);
}

static void *room(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    if (!memory)
        fail("memory", "out of it");
    return memory;
}

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- the problem in Siconos's storage ---- */

/* One block, by columns. Rows of N hold whole blocks in the same order. */
static double *copy_block(const TalusProblemDef *def, int contact, int k)
{
    double *block = room(9, sizeof *block);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            block[3 * c + r] = def->values[def->row_start[3 * contact + r] + 3 * k + c];
    return block;
}

/* Freed by Siconos, so from malloc. */
static SparseBlockStructuredMatrix *block_matrix(const TalusProblemDef *def)
{
    unsigned int contacts = (unsigned int)def->block_count;
    size_t blocks = (size_t)def->row_start[3 * def->block_count] / 9, at = 0;
    SparseBlockStructuredMatrix *m = SBM_new();
    m->nbblocks = (unsigned int)blocks;
    m->blocknumber0 = m->blocknumber1 = contacts;
    m->blocksize0 = room(contacts, sizeof *m->blocksize0);
    m->blocksize1 = room(contacts, sizeof *m->blocksize1);
    m->block = room(blocks, sizeof *m->block);
    m->filled1 = contacts + 1;
    m->filled2 = blocks;
    m->index1_data = room(contacts + 1, sizeof *m->index1_data);
    m->index2_data = room(blocks, sizeof *m->index2_data);
    for (unsigned int i = 0; i < contacts; i++) {
        int start = def->row_start[3 * i], count = (def->row_start[3 * i + 1] - start) / 3;
        m->blocksize0[i] = m->blocksize1[i] = 3 * (i + 1);
        for (int k = 0; k < count; k++) {
            m->index2_data[at] = (size_t)def->column[start + 3 * k] / 3;
            m->block[at++] = copy_block(def, (int)i, k);
        }
        m->index1_data[i + 1] = at;
    }
    return m;
}

static FrictionContactProblem *siconos_problem(const TalusProblemDef *def)
{
    int contacts = def->block_count, n = 3 * contacts;
    double *q = room((size_t)n, sizeof *q), *mu = room((size_t)contacts, sizeof *mu);
    memcpy(q, def->offset, (size_t)n * sizeof *q);
    memcpy(mu, def->mu, (size_t)contacts * sizeof *mu);
    NumericsMatrix *m = NM_create_from_data(NM_SPARSE_BLOCK, n, n, block_matrix(def));
    return frictionContactProblem_new_with_data(3, contacts, m, q, mu);
}

/* ---- one run ---- */

static double error_by_talus(Case *c, const double *gamma)
{
    TalusMetrics metrics;
    if (talus_problem_measure(c->problem, gamma, &metrics) != TALUS_OK)
        fail(c->name, talus_error());
    return metrics.siconos;
}

/* By Siconos, of the problem as given: a fresh copy, for some solvers leave their marks on theirs. */
static double error_by_siconos(const Case *c, double *r)
{
    FrictionContactProblem *problem = siconos_problem(&c->def);
    SolverOptions *options = solver_options_create(SICONOS_FRICTION_3D_NSGS);
    double *u = room((size_t)(3 * c->def.block_count), sizeof *u), error = NAN;
    fc3d_compute_error(problem, r, u, 0.0, options, c->norm_q, &error);
    solver_options_delete(options);
    frictionContactProblem_free(problem);
    free(u);
    return error;
}

static void judge(Case *c, double *r, double tolerance, Run *run)
{
    run->siconos_error = error_by_siconos(c, r);
    run->talus_error = error_by_talus(c, r);
    run->solved = run->siconos_error <= tolerance;
}

static Run run_siconos(Case *c, const struct Method *method, double tolerance)
{
    size_t n = (size_t)(3 * c->def.block_count);
    double *r = room(n, sizeof *r), *u = room(n, sizeof *u);
    FrictionContactProblem *problem = siconos_problem(&c->def);
    SolverOptions *options = solver_options_create(method->id);
    Run run = {0};
    options->dparam[SICONOS_DPARAM_TOL] = tolerance;
    if (method->iterations)
        options->iparam[SICONOS_IPARAM_MAX_ITER] = method->iterations;
    double begun = cpu_seconds();
    fc3d_driver(problem, r, u, options);
    run.seconds = cpu_seconds() - begun;
    run.iterations = options->iparam[SICONOS_IPARAM_ITER_DONE];
    judge(c, r, tolerance, &run);
    solver_options_delete(options);
    frictionContactProblem_free(problem);
    free(r);
    free(u);
    return run;
}

/* One thread, as Siconos has it. */
static Run run_talus(Case *c, const char *spec, const Bench *bench, double tolerance)
{
    TalusSolveOptions options = talus_solve_options_default();
    TalusSolveInfo info;
    TalusSolver *solver;
    Run run = {0};
    double *gamma = talus_problem_gamma(c->problem);
    options.norm = TALUS_NORM_SICONOS;
    options.tolerance = tolerance;
    options.max_iterations = 1000000;
    options.max_seconds = bench->budget;
    memset(gamma, 0, (size_t)talus_problem_size(c->problem) * sizeof *gamma);
    double begun = cpu_seconds();
    if (talus_solver_create(spec, &solver) != TALUS_OK ||
        talus_solver_solve(solver, c->problem, &options, &info) != TALUS_OK)
        fail(c->name, talus_error());
    talus_solver_destroy(solver);
    run.seconds = cpu_seconds() - begun;
    run.iterations = info.iterations;
    judge(c, gamma, tolerance, &run);
    return run;
}

/* ---- rows and sums ---- */

static const struct Method *find_method(const char *name)
{
    for (int i = 0; i < METHODS; i++)
        if (strcmp(methods[i].name, name) == 0)
            return &methods[i];
    return NULL;
}

static Sum *sum_of(Bench *bench, const char *name, double tolerance)
{
    for (int i = 0; i < bench->sums; i++)
        if (bench->sum[i].name == name && bench->sum[i].tolerance == tolerance)
            return &bench->sum[i];
    Sum *sum = &bench->sum[bench->sums++];
    *sum = (Sum){.name = name, .tolerance = tolerance};
    return sum;
}

/* The least time of the runs; what they reach is the same in each. */
static void run_best(Bench *bench, Case *c, const char *name, bool talus, double tolerance)
{
    const struct Method *method = talus ? NULL : find_method(name);
    Run best = {.seconds = INFINITY};
    for (int k = 0; k < bench->repeat; k++) {
        Run run = talus ? run_talus(c, name, bench, tolerance) : run_siconos(c, method, tolerance);
        if (run.seconds < best.seconds)
            best = run;
        if (run.seconds > 5.0)
            break;
    }
    printf("%-40s %5d  %7.0e  %-8s %-10s %7d  %10.6f  %9.2e  %9.2e  %s\n", c->name,
           c->def.block_count, tolerance, talus ? "Talus" : "Siconos", name, best.iterations,
           best.seconds, best.siconos_error, best.talus_error, best.solved ? "ok" : "missed");
    fflush(stdout);
    if (c->def.block_count < bench->large)
        return;
    Sum *sum = sum_of(bench, name, tolerance);
    sum->problems++;
    sum->solved += best.solved;
    sum->seconds += best.seconds;
}

static void open_case(const char *path, Case *c)
{
    const TalusFrictionModel coulomb = {.law = TALUS_LAW_COULOMB};
    const char *slash = strrchr(path, '/');
    char *name = strdup(slash ? slash + 1 : path), *dot = name ? strrchr(name, '.') : NULL;
    if (dot)
        *dot = '\0';
    *c = (Case){.name = name};
    if (talus_problem_open(path, &coulomb, NULL, &c->problem, &c->fclib) != TALUS_OK ||
        talus_problem_export(c->problem, &c->def) != TALUS_OK)
        fail(path, talus_error());
    if (!c->fclib || c->fclib->dimension != 3 || c->def.rows != 3)
        fail(path, "expected an FCLIB problem in space, with friction");
    double sum = 0.0;
    for (int i = 0; i < 3 * c->def.block_count; i++)
        sum += c->def.offset[i] * c->def.offset[i];
    c->norm_q = sqrt(sum);
}

static void run_case(Bench *bench, const char *path)
{
    Case c;
    open_case(path, &c);
    for (int t = 0; t < bench->tolerances; t++) {
        for (int i = 0; i < bench->siconos.count; i++)
            run_best(bench, &c, bench->siconos.item[i], false, bench->tolerance[t]);
        for (int i = 0; i < bench->talus.count; i++)
            run_best(bench, &c, bench->talus.item[i], true, bench->tolerance[t]);
    }
    talus_problem_destroy(c.problem);
    talus_fclib_destroy(c.fclib);
    free((char *)c.name);
}

static void print_sums(const Bench *bench)
{
    printf("\nProblems of %d contacts and more:\n", bench->large);
    for (int i = 0; i < bench->sums; i++) {
        const Sum *s = &bench->sum[i];
        printf("  %7.0e  %-10s %2d of %2d solved, %10.6f s\n", s->tolerance, s->name, s->solved,
               s->problems, s->seconds);
    }
}

/* ---- options ---- */

/* Names between semicolons, for parameters of a solver have commas. */
static void split(char *text, Names *names)
{
    names->count = 0;
    for (char *item = strtok(text, ";"); item; item = strtok(NULL, ";")) {
        if (names->count == MAX_NAMES)
            fail(item, "too many solvers");
        names->item[names->count++] = item;
    }
}

static double number(const char *option, const char *text)
{
    char *end;
    double x = strtod(text, &end);
    if (end == text || *end || !(x > 0.0))
        fail(option, "expected a number above 0");
    return x;
}

static bool take_option(Bench *bench, const char *option, char *value)
{
    if (strcmp(option, "--solvers") == 0)
        split(value, &bench->siconos);
    else if (strcmp(option, "--talus") == 0)
        split(value, &bench->talus);
    else if (strcmp(option, "--repeat") == 0)
        bench->repeat = (int)number(option, value);
    else if (strcmp(option, "--large") == 0)
        bench->large = (int)number(option, value);
    else if (strcmp(option, "--seconds") == 0)
        bench->budget = number(option, value);
    else if (strcmp(option, "--tol") == 0 && bench->tolerances < MAX_TOLERANCES)
        bench->tolerance[bench->tolerances++] = number(option, value);
    else
        return false;
    return true;
}

int main(int argc, char **argv)
{
    static char solvers[] = "PROX;NSGS;NSN_AC;ADMM", own[] = "auto";
    static Bench bench = {.repeat = 5, .large = 200, .budget = 60.0};
    int first = 1;
    split(solvers, &bench.siconos);
    split(own, &bench.talus);
    while (first + 1 < argc && take_option(&bench, argv[first], argv[first + 1]))
        first += 2;
    if (first >= argc || argv[first][0] == '-')
        fail(first < argc ? argv[first] : "no FILE",
             "expected [--tol X]... [--solvers A;B] [--talus A;B] [--repeat K] [--seconds S] "
             "[--large N] FILE...");
    for (int i = 0; i < bench.siconos.count; i++)
        if (!find_method(bench.siconos.item[i]))
            fail(bench.siconos.item[i], "expected PROX, NSGS, NSN_AC or ADMM");
    if (!bench.tolerances) {
        bench.tolerance[bench.tolerances++] = 1e-4;
        bench.tolerance[bench.tolerances++] = 1e-8;
    }
    printf("%-40s %5s  %7s  %-8s %-10s %7s  %10s  %9s  %9s\n", "problem", "nc", "tol", "program",
           "solver", "its", "seconds", "Siconos", "Talus");
    for (int i = first; i < argc; i++)
        run_case(&bench, argv[i]);
    print_sums(&bench);
    return 0;
}

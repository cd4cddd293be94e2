/* Whole solves under every friction law and section on the cuda backends: solvers find what they find on the
 * cpu, with 3 and 6 rows, from bodies and from a matrix; what a backend does not know it refuses. */

#include "support/cuda.h"
#include "support/models.h"
#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <talus/solver.h>

static const TalusBackend *const cpu = &talus_backend_cpu;
/* Contact velocities of what a solver finds on a backend. */
static double *solved(const ModelCase *c, const char *spec, const char *backend, double tolerance)
{
    TalusSolver *solver = NULL;
    TalusSolveInfo info = {.outcome = TALUS_OUTCOME_DIVERGED};
    TalusSolveOptions options = talus_solve_options_default();
    TalusResidual residual;
    double *gamma = talus_problem_gamma(c->problem), *u = model_vector(c->n, 1, 0.0);
    options.tolerance = tolerance;
    options.max_iterations = 20000;
    memset(gamma, 0, (size_t)c->n * sizeof *gamma);
    CHECK_OK(talus_problem_set_backend(c->problem, backend));
    CHECK_OK(talus_solver_create(spec, &solver));
    CHECK_OK(talus_solver_solve(solver, c->problem, &options, &info));
    bool ok = CHECK_INT(info.outcome, TALUS_OUTCOME_CONVERGED);
    talus_problem_residual(c->problem, gamma,
                           &residual); /* by the host, with bounds that came back */
    ok &= CHECK(residual.rms <= tolerance);
    ok &= CHECK_NEAR(info.residual.rms, residual.rms, 1e-4 * tolerance); /* rounding of both */
    if (!ok)
        printf("    %s on %s: %d iterations\n", spec, backend, info.iterations);
    cpu->op.product(c->op, gamma, true, true, u);
    talus_solver_destroy(solver);
    return u;
}

static void solve_both(const ModelCase *c, const char *spec, const char *backend)
{
    double *gamma = talus_problem_gamma(c->problem), worst = 0.0, largest = 0.0;
    TalusResidual start;
    memset(gamma, 0, (size_t)c->n * sizeof *gamma);
    talus_problem_residual(c->problem, gamma, &start);
    double *here = solved(c, spec, "cpu", 1e-10 * start.rms);
    double *there = solved(c, spec, backend, 1e-10 * start.rms);
    for (int k = 0; k < c->n; k++) {
        double off = fabs(there[k] - here[k]);
        worst = isnan(off) ? NAN : fmax(worst, off);
        largest = fmax(largest, fabs(here[k]));
    }
    if (!CHECK_NEAR(worst, 0.0, 1e-7 * fmax(largest, start.rms)))
        printf("    %s: kinds %x, %d rows%s\n", spec, c->op->kinds, c->rows,
               c->op->pair ? "" : ", matrix");
    free(here);
    free(there);
}

static void check_solve(const ModelOptions *o, const char *spec, const char *backend)
{
    ModelCase c = make_model_case(o, NULL);
    solve_both(&c, spec, backend);
    free_model_case(&c);
}

static const HeapOptions tiny = {54, 2, 2, 1, 0.4, 0.3, 0.3};

TEST(solvers_find_what_they_find_on_the_cpu)
{
    NEEDS_CUDA();
    static const char *const specs[] = {"apgd", "lbfgs-fb", "gs", "gs-coulomb:omega=1.2", "spg"};
    for (int kind = 0; kind < MODEL_SECTIONS * MODEL_MOVING; kind++)
        for (int form = 0; form < 3; form++)
            for (int s = 0; s < 5; s++)
                check_solve(&(ModelOptions){.heap = tiny,
                                            .rows = form == 1 ? 6 : 3,
                                            .section = kind % MODEL_SECTIONS,
                                            .law = kind / MODEL_SECTIONS,
                                            .matrix = form == 2},
                            specs[s], "cuda");
}

TEST(solvers_of_one_contact_sweep)
{
    NEEDS_CUDA();
    static const struct {
        const char *spec;
        int section, law;
    } cases[] = {{"pgs", 1, TALUS_LAW_COULOMB},      {"pgs:omega=0.8,rho=0.9", 1, TALUS_LAW_FIXED},
                 {"bgs-enum", 1, TALUS_LAW_COULOMB}, {"gs-disc", 0, TALUS_LAW_FIXED},
                 {"gs-disc", 0, TALUS_LAW_COULOMB},  {"nscd", 0, TALUS_LAW_COULOMB},
                 {"bgs", 0, TALUS_LAW_CCP},          {"bgs:omega=1.2", 0, TALUS_LAW_COULOMB}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int matrix = 0; matrix < 2; matrix++)
            check_solve(&(ModelOptions){.heap = tiny,
                                        .rows = 3,
                                        .section = cases[i].section,
                                        .law = cases[i].law,
                                        .matrix = matrix},
                        cases[i].spec, "cuda");
}

/* A run in one go knows offsets that change between runs, and takes other sets step by step. */
TEST(runs_of_iterations_know_shifts_and_sets)
{
    NEEDS_CUDA();
    static const char *const specs[] = {"jacobi", "apgd", "mprgp", "lbfgs-fb"};
    static const char *const backends[] = {"cuda", "cuda-mixed"};
    static const int kinds[][3] = {
        {0, TALUS_LAW_COULOMB, 3}, {1, TALUS_LAW_FIXED, 3}, {0, TALUS_LAW_CCP, 6}, {-1, -1, 3}};
    for (int k = 0; k < 4; k++)
        for (int s = 0; s < 4; s++)
            for (int b = 0; b < 2; b++)
                check_solve(&(ModelOptions){.heap = tiny,
                                            .rows = kinds[k][2],
                                            .section = kinds[k][0],
                                            .law = kinds[k][1]},
                            specs[s], backends[b]);
}

/* A ball in a bowl of contacts, more than colours can part. */
static ModelCase make_heavy(TalusSection section, TalusFrictionLaw law)
{
    ModelCase c = {.test = make_bowl(70, 0.3, 0.0)};
    TalusContactDef *contacts = (TalusContactDef *)c.test.def.contacts;
    for (int i = 0; i < c.test.def.contact_count; i++)
        contacts[i].model = (TalusFrictionModel){.section = section, .law = law};
    CHECK_OK(talus_problem_create(&c.test.def, NULL, &c.problem));
    c.op = talus_problem_operator(c.problem);
    c.rows = c.op->rows;
    c.blocks = c.op->blocks;
    c.n = c.rows * c.blocks;
    return c;
}

TEST(heavy_bodies_are_swept_in_sequence)
{
    NEEDS_CUDA();
    ModelCase c = make_heavy(TALUS_SECTION_SQUARE, TALUS_LAW_CCP);
    solve_both(&c, "gs", "cuda");
    free_model_case(&c);
    c = make_heavy(TALUS_SECTION_DISC, TALUS_LAW_COULOMB);
    solve_both(&c, "bgs", "cuda");
    solve_both(&c, "gs-coulomb", "cuda");
    free_model_case(&c);
}

static void check_refusal(const char *spec, const ModelOptions *o, const char *expected)
{
    ModelCase c = make_model_case(o, NULL);
    TalusSolver *solver = NULL;
    TalusSolveInfo info;
    TalusSolveOptions options = talus_solve_options_default();
    CHECK_OK(talus_problem_set_backend(c.problem, "cuda"));
    CHECK_OK(talus_solver_create(spec, &solver));
    CHECK(talus_solver_solve(solver, c.problem, &options, &info) == TALUS_ERR_UNSUPPORTED);
    if (!CHECK(strstr(talus_error(), expected)))
        printf("    %s\n", talus_error());
    talus_solver_destroy(solver);
    free_model_case(&c);
}

TEST(what_sweeps_do_not_know_is_refused)
{
    NEEDS_CUDA();
    ModelOptions square = {.heap = tiny, .rows = 3, .section = 1, .law = TALUS_LAW_COULOMB};
    check_refusal("gs:order=chaotic", &square, "order=chaotic knows circular cones alone");
    check_refusal("pgs:order=forward", &square, "use order=coloured");
}

int main(void)
{
    cuda = talus_backend_find("cuda");
    RUN(solvers_find_what_they_find_on_the_cpu);
    RUN(solvers_of_one_contact_sweep);
    RUN(runs_of_iterations_know_shifts_and_sets);
    RUN(heavy_bodies_are_swept_in_sequence);
    RUN(what_sweeps_do_not_know_is_refused);
    return cuda_test_result();
}

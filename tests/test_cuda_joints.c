/* Joints on the cuda backend: operations on their blocks against those of the CPU, and solvers against its
 * solutions. */
#include "cuda_blocks.h"
#include "support/joints.h"
#include "support/verified.h"

#include <stdio.h>
#include <talus/solver.h>

static TestProblem make_test(int form)
{
    JointOptions o = {.seed = 1, .links = 120, .mu = 0.4, .masks = true, .extras = true};
    o.moment_mu = form == 2 ? 0.1 : 0.0;
    TestProblem p = make_joints(&o);
    if (form < 3)
        return p;
    o.links = 40; /* it is full */
    free_test_problem(&p);
    p = make_joints(&o);
    TestProblem matrix = make_joint_matrix(&p.def);
    free_test_problem(&p);
    return matrix;
}

/* Forms: plain, in a metric, with six rows, as a matrix. */
enum { FORMS = 4 };

static Case make_joint_case(int form)
{
    Case c = {.test = make_test(form), .kind = FACES};
    CHECK_OK(talus_problem_create(&c.test.def, NULL, &c.problem));
    c.op = talus_problem_operator(c.problem);
    c.rows = c.op->rows;
    c.blocks = c.op->blocks;
    c.n = c.rows * c.blocks;
    CHECK_OK(cuda_mirror(c.op, &c.device));
    CHECK_OK(cuda->op.reserve_scratch(&c.device));
    CHECK_INT(c.device.joints, c.op->joints);
    if (form == 1)
        make_metric(&c);
    c.x = make_vector(&c, 61);
    c.g = make_vector(&c, 62);
    c.d = make_vector(&c, 63);
    cpu->block.project(c.op, metric_of(&c), c.x);
    return c;
}

static void check_projections(Case *c)
{
    const TalusMetricBlock *m = metric_of(c), *dm = device_metric_of(c);
    Both x = make_both(c, c->d), t = make_both(c, NULL), r = make_both(c, NULL);
    Both g = make_both(c, c->g);
    TalusForwardSums expected, got;
    cpu->block.project(c->op, m, x.host);
    cuda->block.project(&c->device, dm, x.device);
    same_blocks(c, &x, c->d, c->d);
    cpu->block.forward_backward(c->op, m, x.host, g.host, 0.3, t.host, r.host, &expected);
    cuda->block.forward_backward(&c->device, dm, x.device, g.device, 0.3, t.device, r.device, &got);
    same_blocks(c, &t, c->d, c->g);
    same_sum(got.r2, expected.r2);
    same_sum(got.residual2, expected.residual2);
    same_sum(got.residual_max, expected.residual_max);
    free_both(&x);
    free_both(&g);
    free_both(&t);
    free_both(&r);
}

static void check_faces(Case *c)
{
    const TalusMetricBlock *m = metric_of(c), *dm = device_metric_of(c);
    Both x = make_both(c, c->x), g = make_both(c, c->g), d = make_both(c, c->d);
    Both out = make_both(c, NULL);
    TalusFace expected, got;
    TalusSizes here, there;
    cpu->block.split_gradient(c->op, m, x.host, g.host, 0.3, NULL, NULL, NULL, &expected);
    cuda->block.split_gradient(&c->device, dm, x.device, g.device, 0.3, NULL, NULL, NULL, &got);
    same_sum(got.free2, expected.free2);
    same_sum(got.chopped2, expected.chopped2);
    CHECK(got.active == expected.active && got.active > 0 && got.active < c->blocks);
    CHECK_INT(got.unbound, expected.unbound);
    cpu->block.project_tangent(c->op, m, x.host, d.host, out.host);
    cuda->block.project_tangent(&c->device, dm, x.device, d.device, out.device);
    same_blocks(c, &out, c->d, c->d);
    cpu->block.clear_active(c->op, m, x.host, d.host);
    cuda->block.clear_active(&c->device, dm, x.device, d.device);
    same_blocks(c, &d, c->d, c->d);
    same_sum(cuda->block.feasible_step(&c->device, dm, x.device, d.device),
             cpu->block.feasible_step(c->op, m, x.host, d.host));
    cpu->op.measure_sizes(c->op, m, g.host, &here);
    cuda->op.measure_sizes(&c->device, dm, g.device, &there);
    CHECK(same_sum(there.outside, here.outside) && here.outside > 0.0);
    same_sum(there.size, here.size);
    same_sum(there.over, here.over);
    cpu->block.project_recession(c->op, false, 0.3, g.host);
    cuda->block.project_recession(&c->device, false, 0.3, g.device);
    same_blocks(c, &g, c->d, c->d);
    cpu->block.project_recession_span(c->op, false, g.host, x.host);
    cuda->block.project_recession_span(&c->device, false, g.device, x.device);
    same_blocks(c, &x, c->d, c->d);
    free_both(&x);
    free_both(&g);
    free_both(&d);
    free_both(&out);
}

static void check_residual(Case *c)
{
    Both x = make_both(c, c->x);
    double sum2, max, expected2, expected_max;
    TalusResidualSums got, expected;
    cpu->op.residual(c->op, x.host, &expected, NULL);
    cuda->op.residual(&c->device, x.device, &got, NULL);
    same_sum(got.residual2, expected.residual2);
    same_sum(got.residual_max, expected.residual_max);
    cpu->step.jacobi(c->op, 0.3, 0.8, x.host, &expected2, &expected_max);
    cuda->step.jacobi(&c->device, 0.3, 0.8, x.device, &sum2, &max);
    same_vector(c, &x);
    free_both(&x);
}

TEST(operations_on_joints)
{
    NEEDS_CUDA();
    for (int form = 0; form < FORMS; form++) {
        Case c = make_joint_case(form);
        check_projections(&c);
        check_faces(&c);
        if (form != 1)
            check_residual(&c);
        free_case(&c);
    }
}

/* ---- solvers ---- */

static const char *const specs[] = {"apgd",   "lbfgs-fb", "gs",  "gs:omega=1.3",
                                    "jacobi", "spg",      "admm"};
enum { SPECS = sizeof specs / sizeof *specs };

static bool solve_there(const char *spec, const TalusProblemDef *def, double *u)
{
    TalusProblem *problem = NULL;
    TalusSolver *solver = NULL;
    TalusSolveOptions options = talus_solve_options_default();
    TalusSolveInfo info = {.outcome = TALUS_OUTCOME_DIVERGED};
    options.tolerance = 1e-12;
    options.max_iterations = 20000;
    bool ok = CHECK_OK(talus_problem_create(def, NULL, &problem)) &&
              CHECK_OK(talus_problem_set_backend(problem, "cuda")) &&
              CHECK_OK(talus_solver_create(spec, &solver)) &&
              CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    ok = ok && CHECK_INT(info.outcome, TALUS_OUTCOME_CONVERGED);
    verify_velocity(def, talus_problem_gamma(problem), u);
    ok = ok && CHECK_NEAR(verify_residual(def, talus_problem_gamma(problem)).rms, info.residual.rms,
                          1e-13);
    talus_solver_destroy(solver);
    talus_problem_destroy(problem);
    return ok;
}

TEST(chains_are_solved_there)
{
    NEEDS_CUDA();
    JointOptions o = {.seed = 18, .links = 3, .mu = 0.3, .extras = true};
    TestProblem forms[2] = {make_joints(&o)};
    forms[1] = make_joint_matrix(&forms[0].def);
    int n = verify_size(&forms[0].def);
    double residual, *expected = solve_densely(&forms[0].def, &residual);
    double *u = vector(n), *v = vector(n);
    for (int i = 0; i < 2 * SPECS; i++) {
        bool ok = solve_there(specs[i / 2], &forms[i % 2].def, u);
        verify_velocity(&forms[i % 2].def, expected, v);
        for (int k = 0; k < n; k++)
            ok = ok && fabs(u[k] - v[k]) <= 1e-10;
        if (!CHECK(ok))
            printf("    with %s\n", specs[i / 2]);
    }
    free(expected);
    free(u);
    free(v);
    free_test_problem(&forms[0]);
    free_test_problem(&forms[1]);
}

int main(void)
{
    cuda = talus_backend_find("cuda");
    RUN(operations_on_joints);
    RUN(chains_are_solved_there);
    return cuda_test_result();
}

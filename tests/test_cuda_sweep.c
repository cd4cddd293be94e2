/* Gauss-Seidel on the cuda backend: sweeps against a sequential sweep in the same order, the answers of the
 * CPU, heavy bodies, the chaotic order, and orders that are refused. */

#include "cuda_sweep.h"

#include "backend/frame.h"

#include <math.h>
#include <stdio.h>
#include <talus/solver.h>

static const TalusBackend *const cpu = &talus_backend_cpu;

/* ---- a sequential sweep in the same order, in contact frames ---- */

typedef struct Reference {
    const Case *c;
    TalusSweepOptions options;
    double *gamma, (*velocity)[8];
    int *split; /* heavy contacts at each body */
} Reference;

static Reference start_reference(const Case *c, const TalusSweepOptions *options)
{
    Reference r = {.c = c, .options = *options};
    size_t bodies = (size_t)c->op->bodies;
    r.gamma = calloc((size_t)c->n + 1, sizeof(double));
    r.velocity = calloc(bodies + 1, sizeof *r.velocity);
    r.split = calloc(bodies + 1, sizeof *r.split);
    memcpy(r.gamma, c->gamma, (size_t)c->n * sizeof(double));
    if (!c->op->pair)
        return r;
    cpu->op.body_velocities(c->op, r.gamma, true, r.velocity);
    for (int i = 0; i < c->op->blocks; i++)
        for (int side = 0; side < 2; side++)
            if (c->class_of[i] == (ITEM | HEAVY_CLASS) && c->op->pair[i][side] >= 0)
                r.split[c->op->pair[i][side]]++;
    return r;
}

static void end_reference(Reference *r)
{
    free(r->gamma);
    free(r->velocity);
    free(r->split);
}

static TalusVec3 vec(const double v[3])
{
    return talus_vec3(v[0], v[1], v[2]);
}

static TalusVec3 arm_of(const TalusOperator *op, int i, int side)
{
    int general = i - op->sphere_sphere - op->sphere_fixed;
    if (general >= 0)
        return vec(op->arm[general] + 3 * side);
    return talus_scale(side ? -1.0 : 1.0, vec(op->frame[i]));
}

static TalusVec3 turned(const TalusOperator *op, int body, TalusVec3 torque)
{
    TalusSym3 inertia;
    if (!op->inverse_inertia)
        return talus_scale(op->body[body][7], torque);
    memcpy(&inertia, op->inverse_inertia[body], sizeof inertia);
    return talus_sym3_mul(inertia, torque);
}

/* Diagonal entries of a heavy contact's own block with its bodies' masses divided. */
static void split_diagonal(const Reference *r, int i, double diagonal[3])
{
    const TalusOperator *op = r->c->op;
    for (int k = 0; k < 3; k++) {
        double local[3] = {k == 0, k == 1, k == 2}, axis[3];
        talus_frame_to_world(op->frame[i], local, axis);
        diagonal[k] = 0.0;
        for (int side = 0; side < 2 && op->pair[i][side] >= 0; side++) {
            int body = op->pair[i][side];
            TalusVec3 lever = talus_cross(arm_of(op, i, side), vec(axis));
            diagonal[k] +=
                r->split[body] * (op->body[body][3] + talus_dot(lever, turned(op, body, lever)));
        }
    }
}

/* The entries that the step of block i divides by, and its scale. */
static void step_diagonal(const Reference *r, int i, double *bn, double *bt, double *scale)
{
    const TalusOperator *op = r->c->op;
    int general = op->pair ? i - op->sphere_sphere - op->sphere_fixed : i;
    double nn = op->diagonal[i][0], tt = op->diagonal[i][1];
    double coupling = general >= 0 && !r->options.ignore_coupling ? op->coupling[general] : 1.0;
    if (op->pair && r->c->class_of[i] == (ITEM | HEAVY_CLASS)) {
        double d[3], more = general >= 0 && op->rows == 3 ? 2.0 : 1.0;
        split_diagonal(r, i, d);
        nn = more * d[0] + (op->compliance ? op->compliance[i] : 0.0);
        tt = more * more * 0.5 * (d[1] + d[2]);
        coupling = 1.0;
    }
    *scale = op->rows == 1 ? nn : (nn + 2.0 * tt) / 3.0;
    bool trace = r->options.metric == TALUS_METRIC_TRACE;
    *bn = coupling * (trace ? *scale : nn);
    *bt = coupling * (trace ? *scale : tt);
}

static void gradient_of(const Reference *r, int i, double g[3])
{
    const TalusOperator *op = r->c->op;
    TalusVec3 u = talus_vec3(0.0, 0.0, 0.0);
    if (!op->pair) {
        for (int k = 0; k < op->rows; k++) {
            int row = i * op->rows + k;
            g[k] = op->offset[row];
            for (int e = op->row_start[row]; e < op->row_start[row + 1]; e++)
                g[k] += op->values[e] * r->gamma[op->column[e]];
        }
        return;
    }
    for (int side = 0; side < 2 && op->pair[i][side] >= 0; side++) {
        const double *v = r->velocity[op->pair[i][side]];
        TalusVec3 at = talus_add(vec(v), talus_cross(vec(v + 4), arm_of(op, i, side)));
        u = talus_add(u, talus_scale(side ? 1.0 : -1.0, at));
    }
    double world[3] = {u.x, u.y, u.z};
    talus_frame_to_local(op->frame[i], world, g);
    g[0] += op->bias[i] + (op->compliance ? op->compliance[i] * r->gamma[i * op->rows] : 0.0);
}

/* One block's step; `change` in its frame. Returns the squared velocity change. */
static double step_block(Reference *r, int i, double change[3])
{
    const TalusOperator *op = r->c->op;
    double g[3], next[3] = {0.0, 0.0, 0.0}, bn, bt, scale, sum = 0.0;
    double *gamma = r->gamma + i * op->rows;
    gradient_of(r, i, g);
    step_diagonal(r, i, &bn, &bt, &scale);
    for (int k = 0; k < op->rows; k++)
        next[k] = gamma[k] - r->options.omega / (k ? bt : bn) * g[k];
    if (op->rows == 3)
        talus_project_cone(op->mu[i], r->options.coulomb ? 0.0 : op->mu[i] * bt / bn, &next[0],
                           &next[1], &next[2]);
    else
        next[0] = fmax(next[0], 0.0);
    change[1] = change[2] = 0.0;
    for (int k = 0; k < op->rows; k++) {
        change[k] = r->options.rho * (next[k] - gamma[k]);
        gamma[k] += change[k];
        sum += change[k] * change[k];
    }
    return scale * scale * sum;
}

static void push(Reference *r, int i, const double change[3])
{
    const TalusOperator *op = r->c->op;
    double p[3];
    if (!op->pair)
        return;
    talus_frame_to_world(op->frame[i], change, p);
    for (int side = 0; side < 2 && op->pair[i][side] >= 0; side++) {
        int body = op->pair[i][side];
        double *v = r->velocity[body], sign = side ? 1.0 : -1.0;
        TalusVec3 turn = turned(op, body, talus_cross(arm_of(op, i, side), vec(p)));
        for (int k = 0; k < 3; k++)
            v[k] += sign * op->body[body][3] * p[k];
        v[4] += sign * turn.x;
        v[5] += sign * turn.y;
        v[6] += sign * turn.z;
    }
}

static double sweep_class(Reference *r, uint32_t class_of)
{
    bool heavy = class_of == (ITEM | HEAVY_CLASS);
    int blocks = r->c->op->blocks;
    double sum = 0.0, (*change)[3] = calloc((size_t)blocks + 1, sizeof *change);
    for (int i = 0; i < blocks; i++)
        if (r->c->class_of[i] == class_of) {
            sum += step_block(r, i, change[i]);
            if (!heavy)
                push(r, i, change[i]);
        }
    for (int i = 0; i < blocks && heavy; i++)
        if (r->c->class_of[i] == class_of)
            push(r, i, change[i]);
    free(change);
    return sum;
}

/* Colour by colour, the heavy contacts last. */
static double sweep_reference(Reference *r)
{
    double sum = 0.0;
    for (uint32_t colour = 0; colour <= HEAVY_CLASS; colour++)
        sum += sweep_class(r, colour) + sweep_class(r, ITEM | colour);
    return sum;
}

static void check_near(const double *a, const double *b, int n, double tolerance)
{
    double worst = 0.0, size = 0.0;
    for (int k = 0; k < n; k++) {
        worst = fmax(worst, fabs(a[k] - b[k]));
        size = fmax(size, fabs(b[k]));
    }
    CHECK_NEAR(worst, 0.0, tolerance * size);
}

/* Sweeps one at a time and several at once, read in between, against the reference. The order of
 * contacts of one colour does not matter. */
static void same_sweeps(Case *c, const TalusSweepOptions *options)
{
    static const int runs[] = {1, 1, 2, 1, 3};
    double *gamma = calloc((size_t)c->n + 1, sizeof(double));
    cuda->vector.put(cuda_op(), c->vector, c->gamma, (size_t)c->n);
    if (begin(c, options)) {
        Reference r = start_reference(c, options);
        for (size_t k = 0; k < sizeof runs / sizeof *runs; k++) {
            TalusResidualSums sums;
            double expected = 0.0, change = cuda->sweep.run(c->sweep, runs[k]);
            for (int sweep = 0; sweep < runs[k]; sweep++)
                expected = sweep_reference(&r);
            CHECK_NEAR(change, expected, 1e-11 * expected);
            cuda->sweep.get_impulses(c->sweep, c->vector);
            cuda->vector.get(cuda_op(), gamma, c->vector, (size_t)c->n);
            cuda->op.residual(&c->device, c->vector, &sums, NULL); /* uses the scratch */
            check_near(gamma, r.gamma, c->n, 1e-12);
        }
        end_reference(&r);
    }
    CHECK_OK(cuda->check(cuda_context()));
    free(gamma);
}

TEST(a_coloured_sweep_is_a_sequential_one)
{
    NEEDS_CUDA();
    for (int k = 0; k < PROBLEMS; k++) {
        Case c = open_case(make_problem(k));
        TalusSweepOptions options = coloured();
        same_sweeps(&c, &options);
        options.metric = TALUS_METRIC_TRACE;
        options.omega = 1.2;
        options.rho = 0.9;
        same_sweeps(&c, &options);
        options.ignore_coupling = true;
        same_sweeps(&c, &options);
        options.ignore_coupling = false;
        options.coulomb = true;
        same_sweeps(&c, &options);
        close_case(&c);
    }
}

/* A small dense matrix has more blocks than colours: the others are swept one by one. */
TEST(sweeps_over_a_matrix)
{
    NEEDS_CUDA();
    for (int k = 0; k < 3; k++) {
        TestProblem heap = make_heap(&(HeapOptions){12, 3, 3, 3, 0.3, 0.0, 0.0});
        TestProblem p = k == 0   ? make_explicit(12, 120, 3)
                        : k == 1 ? make_explicit(13, 200, 1)
                                 : make_dense_copy(&heap.def);
        free_test_problem(&heap);
        Case c = open_case(p);
        TalusSweepOptions options = coloured();
        same_sweeps(&c, &options);
        options.metric = TALUS_METRIC_TRACE;
        options.rho = 0.9;
        same_sweeps(&c, &options);
        options.ignore_coupling = true;
        same_sweeps(&c, &options);
        close_case(&c);
    }
}

/* ---- answers ---- */

/* Velocities of the bodies after a solve from zero, on the host. */
static double *solved_velocities(Case *c, const char *backend, const char *solver, double tolerance)
{
    TalusSolver *s = NULL;
    TalusSolveInfo info;
    TalusSolveOptions options = talus_solve_options_default();
    double *velocity = calloc((size_t)c->op->bodies + 1, 8 * sizeof(double));
    double *gamma = talus_problem_gamma(c->problem);
    options.tolerance = tolerance;
    options.max_iterations = 40000;
    memset(gamma, 0, (size_t)c->n * sizeof *gamma);
    CHECK_OK(talus_problem_set_backend(c->problem, backend));
    CHECK_OK(talus_solver_create(solver, &s));
    if (s && CHECK_OK(talus_solver_solve(s, c->problem, &options, &info)))
        CHECK(info.outcome == TALUS_OUTCOME_CONVERGED);
    talus_solver_destroy(s);
    CHECK_OK(talus_problem_set_backend(c->problem, "cpu"));
    cpu->op.body_velocities(c->op, gamma, true, (double(*)[8])velocity);
    return velocity;
}

static void same_velocities(TestProblem test, const char *solver, double tolerance)
{
    Case c = open_case(test);
    double *a = solved_velocities(&c, "cpu", "gs", tolerance);
    double *b = solved_velocities(&c, "cuda", solver, tolerance);
    double worst = 0.0;
    for (int k = 0; k < 8 * c.op->bodies; k++)
        worst = fmax(worst, fabs(a[k] - b[k]));
    CHECK_NEAR(worst, 0.0, 1e-9);
    free(a);
    free(b);
    close_case(&c);
}

TEST(velocities_are_those_of_the_cpu)
{
    NEEDS_CUDA();
    same_velocities(make_heap(&(HeapOptions){21, 3, 3, 3, 0.0, 0.02, 0.0}), "gs", 1e-12);
    same_velocities(make_heap(&(HeapOptions){22, 3, 3, 2, 0.0, 0.02, 0.5}), "gs", 1e-12);
    same_velocities(make_heap(&(HeapOptions){23, 3, 2, 2, 0.4, 0.05, 0.0}), "gs:metric=trace",
                    1e-12);
    same_velocities(make_bowl(60, 0.0, 0.02), "gs:omega=1.3", 1e-12);
    same_velocities(make_anchored_bowl(100, 0.0, 0.02), "gs", 1e-12);
    same_velocities(make_anchored_bowl(100, 0.3, 0.02), "bgs", 1e-12);
}

TEST(the_chaotic_order_converges)
{
    const char *solver = "gs:order=chaotic,omega=0.3";
    NEEDS_CUDA();
    same_velocities(make_heap(&(HeapOptions){21, 3, 2, 2, 0.0, 0.02, 0.0}), solver, 1e-12);
    same_velocities(make_heap(&(HeapOptions){22, 2, 2, 2, 0.0, 0.02, 0.5}), solver, 1e-12);
    same_velocities(make_heap(&(HeapOptions){24, 2, 2, 2, 0.4, 0.2, 0.0}), solver, 1e-12);
    same_velocities(make_bowl(60, 0.0, 0.1), solver, 1e-12);
}

/* ---- refusals ---- */

static void check_refused(const char *backend, const char *solver, TestProblem test,
                          const char *message)
{
    TalusProblem *problem = NULL;
    TalusSolver *s = NULL;
    TalusSolveInfo info;
    TalusSolveOptions options = talus_solve_options_default();
    CHECK_OK(talus_problem_create(&test.def, NULL, &problem));
    CHECK_OK(talus_problem_set_backend(problem, backend));
    CHECK_OK(talus_solver_create(solver, &s));
    CHECK_INT(talus_solver_solve(s, problem, &options, &info), TALUS_ERR_UNSUPPORTED);
    CHECK_STR(talus_error(), message);
    talus_solver_destroy(s);
    talus_problem_destroy(problem);
    free_test_problem(&test);
}

TEST(a_matrix_has_no_chaotic_order)
{
    check_refused("cpu", "gs:order=chaotic", make_explicit(3, 9, 3),
                  "gs: order=chaotic works on the velocities of bodies, and this problem is a "
                  "matrix without bodies; use order=coloured");
}

TEST(sequential_orders_are_refused)
{
    static const char *const orders[] = {"forward", "symmetric", "random"};
    NEEDS_CUDA();
    for (int k = 0; k < 3; k++) {
        char solver[64], message[256];
        snprintf(solver, sizeof solver, "gs:order=%s", orders[k]);
        snprintf(message, sizeof message,
                 "gs: order=%s visits one contact after the other, which a GPU cannot do in "
                 "parallel; use order=coloured or order=chaotic, or --backend cpu",
                 orders[k]);
        check_refused("cuda", solver, make_column(3, 1.0, 0.2), message);
    }
    check_refused("cuda", "gs:order=chaotic", make_explicit(3, 9, 3),
                  "gs: order=chaotic works on the velocities of bodies, and this problem is a "
                  "matrix without bodies; use order=coloured");
}

int main(void)
{
    cuda = talus_backend_find("cuda");
    RUN(a_coloured_sweep_is_a_sequential_one);
    RUN(sweeps_over_a_matrix);
    RUN(velocities_are_those_of_the_cpu);
    RUN(the_chaotic_order_converges);
    RUN(sequential_orders_are_refused);
    RUN(a_matrix_has_no_chaotic_order);
    return cuda_test_result();
}

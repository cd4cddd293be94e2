/* outside_solver.c - steps that a solver outside the library drives: projected Gauss-Seidel on the matrix of each contact
 * problem, written here, stacks ten boxes.
 *
 *     cc -std=c17 outside_solver.c $(pkg-config --cflags --libs talus) -lm -o outside_solver
 *     ./outside_solver */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <talus/talus.h>

static void must(TalusStatus status)
{
    if (status == TALUS_OK)
        return;
    fprintf(stderr, "%s: %s\n", talus_status_name(status), talus_error());
    exit(1);
}

/* Returns N + E, by columns, as the gradients of unit impulses less that of none; NULL: no memory. */
static double *make_matrix(TalusProblem *problem, int n, double *q)
{
    double *a = calloc((size_t)n * (size_t)n + 1, sizeof *a), *unit = calloc((size_t)n + 1, sizeof *unit);
    if (a && unit) {
        talus_problem_gradient(problem, unit, q);
        for (int k = 0; k < n; k++) {
            unit[k] = 1.0;
            talus_problem_gradient(problem, unit, &a[k * n]);
            unit[k] = 0.0;
            for (int i = 0; i < n; i++)
                a[k * n + i] -= q[i];
        }
    }
    free(unit);
    return a;
}

/* One sweep over the contacts: with the others held, a step down the gradient, then onto the cone of this one. */
static void sweep(TalusProblem *problem, int n, const double *a, const double *q, double *gamma)
{
    const int rows = talus_problem_rows(problem);
    for (int block = 0; block < talus_problem_blocks(problem); block++) {
        double *own = &gamma[rows * block], largest = 0.0;
        double u[6];
        for (int r = 0; r < rows; r++) {
            const int i = rows * block + r;
            u[r] = q[i];
            for (int k = 0; k < n; k++)
                u[r] += a[k * n + i] * gamma[k];
            largest = fmax(largest, a[i * n + i]);
        }
        for (int r = 0; r < rows; r++)
            own[r] -= u[r] / (1.5 * largest);
        talus_set_project(talus_problem_friction(problem, block), rows,
                          talus_problem_mu(problem, block), NULL, 0.0, own);
    }
}

static TalusStatus solve(void *user, TalusProblem *problem, const TalusSolveOptions *options,
                         TalusSolveInfo *info)
{
    const int n = talus_problem_size(problem);
    double *gamma = talus_problem_gamma(problem), *q = calloc((size_t)n + 1, sizeof *q);
    double *a = q ? make_matrix(problem, n, q) : NULL;
    TalusResidual residual;
    ++*(int *)user;
    for (int k = 0; a && k < options->max_iterations; k++) {
        sweep(problem, n, a, q, gamma);
        talus_problem_residual(problem, gamma, &residual);
        info->iterations++;
        if (residual.rms <= options->tolerance)
            break;
    }
    free(q);
    free(a);
    return a ? TALUS_OK : TALUS_ERR_MEMORY;
}

int main(void)
{
    TalusWorldDef def = talus_world_def_relaxed(); /* its cones are what talus_set_project projects onto */
    def.threads = 1;
    def.max_iterations = 5000;
    TalusWorld *world;
    must(talus_world_create(&def, &world));

    TalusShapeDef shapes[] = {{.kind = TALUS_SHAPE_PLANE},
                              {.kind = TALUS_SHAPE_BOX, .half = {0.1, 0.1, 0.1}}};
    TalusBodyBatch floor = talus_body_batch_default(), boxes = talus_body_batch_default();
    must(talus_world_add_shape(world, &shapes[0], &floor.shape));
    must(talus_world_add_shape(world, &shapes[1], &boxes.shape));
    TalusVec3 at[11] = {{0.0, 0.0, 0.0}};
    for (int i = 1; i <= 10; i++)
        at[i] = talus_vec3(0.0, 0.0, 0.2 * i - 0.1);
    floor.fixed = true, floor.count = 1, floor.position = &at[0];
    boxes.count = 10, boxes.position = &at[1];
    must(talus_world_add_bodies(world, &floor, NULL));
    must(talus_world_add_bodies(world, &boxes, NULL));

    int solves = 0;
    must(talus_world_set_outside_solver(world, solve, &solves));
    TalusStepInfo info;
    int missed = 0, steps = 0;
    do {
        must(talus_world_step(world, &info));
        missed += info.missed;
        steps++;
    } while (info.time < 0.2);

    TalusBodyState state = {.position = at};
    must(talus_world_get_state(world, &state));
    printf("%d steps, %d missed, solved by %s; the top box is at z = %.3f m\n", steps, missed,
           info.solve.solver, at[10].z);
    talus_world_destroy(world);
    return solves >= steps ? 0 : 1;
}

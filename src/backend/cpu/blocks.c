/* backend/cpu/blocks.c - operations block by block: projections, forward-backward steps, faces. Each group of blocks
 * leaves its sums in the scratch's `partial`. */
#include "backend/cpu/cpu.h"

#include "backend/cpu/general.h"

#include <math.h>
#include <string.h>

/* Context of the loops over blocks; each operation sets the members that its loop reads. */
typedef struct Pass {
    const TalusOperator *op;
    const TalusMetricBlock *metric;
    const double *x, *g; /* g: also d of project_tangent, p of feasible_step, y of compare_active */
    double step;
    double *t, *r; /* results of forward_backward; t: of project, clear_active, project_tangent */
    double *free_part, *reduced, *chopped; /* results of split_gradient */
} Pass;

/* Defines name_chunk, which calls name_range with constants for the kind of sets: half lines, circular cones or mixed
 * sets, so that the compiler makes three versions of the loop. */
#define SPECIALISED(name)                                                              \
    static void name##_chunk(void *context, int64_t begin, int64_t end, int64_t chunk) \
    {                                                                                  \
        const Pass *pass = context;                                                    \
        if (pass->op->mixed_sets)                                                      \
            name##_range(pass, (Known){pass->op->rows, true}, begin, end, chunk);      \
        else if (pass->op->rows == 3)                                                  \
            name##_range(pass, (Known){3, false}, begin, end, chunk);                  \
        else                                                                           \
            name##_range(pass, (Known){1, false}, begin, end, chunk);                  \
    }

/* ---- one block ---- */

/* Returns the friction coefficient of a circular cone in the metric; 0 for a half line. */
KERNEL double friction_in_metric(const Pass *pass, Known known, int64_t i)
{
    if (known.rows == 1)
        return 0.0;
    return pass->metric ? pass->metric[i][2] : pass->op->mu[i];
}

/* Projects x, in place, onto a half line (1 row) or a circular cone. */
static inline void project_known(int rows, double mu, double *x)
{
    if (rows == 1)
        x[0] = talus_project_nonneg(x[0]);
    else
        talus_project_cone(mu, mu, &x[0], &x[1], &x[2]);
}

/* Projects x, in place, onto the set of block i in the metric. */
KERNEL void project_block(const Pass *pass, Known known, int64_t i, double *x)
{
    if (known.mixed_sets)
        talus_general_project(pass->op, pass->metric, i, x);
    else
        project_known(known.rows, friction_in_metric(pass, known, i), x);
}

/* True if x is on the boundary of the set of block i in the metric. */
KERNEL bool is_active(const Pass *pass, Known known, int64_t i, const double *x)
{
    if (known.mixed_sets)
        return talus_general_is_active(pass->op, pass->metric, i, x);
    if (known.rows == 1)
        return !(x[0] > 0.0);
    return talus_cone_state(friction_in_metric(pass, known, i), x[0], x[1], x[2]) !=
           TALUS_CONE_INSIDE;
}

/* Returns the squared natural residual (problem.h) of block i at gamma = s x, whose gradient is g / s. */
KERNEL double natural_residual2(const Pass *pass, Known known, int64_t i, const double *x,
                                const double *g)
{
    const int rows = known.rows;
    double gamma[TALUS_ROWS], step[TALUS_ROWS];
    double d = talus_block_scale(pass->op, (int)i), r2 = 0.0;
    for (int k = 0; k < rows; k++) {
        double s = pass->metric ? pass->metric[i][k > 0] : 1.0;
        gamma[k] = s * x[k];
        step[k] = gamma[k] - g[k] / (s * d);
    }
    if (known.mixed_sets)
        talus_general_project(pass->op, NULL, i, step);
    else
        project_known(rows, rows == 3 ? pass->op->mu[i] : 0.0, step);
    for (int k = 0; k < rows; k++) {
        double r = d * (gamma[k] - step[k]);
        r2 += r * r;
    }
    return r2;
}

/* ---- projections ---- */

/* The functions NAME_range do operation NAME of TalusBlockOps for blocks [begin, end), a chunk or group, with the
 * arguments of `pass`; those that return sums store them for the group. */
KERNEL void project_range(const Pass *pass, Known known, int64_t begin, int64_t end, int64_t chunk)
{
    const int rows = known.rows;
    (void)chunk;
    for (int64_t i = begin; i < end; i++)
        project_block(pass, known, i, pass->t + i * rows);
}
SPECIALISED(project)

void talus_cpu_block_project(const TalusOperator *op, const TalusMetricBlock *metric, double *x)
{
    Pass pass = {.op = op, .metric = metric, .t = x};
    talus_parallel(op->pool, op->blocks, BLOCK_GRAIN, project_chunk, &pass);
}

KERNEL void forward_backward_range(const Pass *pass, Known known, int64_t begin, int64_t end,
                                   int64_t chunk)
{
    const int rows = known.rows;
    double sums[4] = {0.0, 0.0, 0.0, 0.0};
    for (int64_t i = begin; i < end; i++) {
        double x[TALUS_ROWS], g[TALUS_ROWS], t[TALUS_ROWS];
        for (int k = 0; k < rows; k++) {
            x[k] = pass->x[i * rows + k];
            g[k] = pass->g[i * rows + k];
            t[k] = x[k] - pass->step * g[k];
        }
        project_block(pass, known, i, t);
        double r2 = natural_residual2(pass, known, i, x, g);
        for (int k = 0; k < rows; k++) {
            double r = x[k] - t[k];
            sums[0] += r * r;
            sums[1] += r * g[k];
            if (pass->r)
                pass->r[i * rows + k] = r;
        }
        if (pass->t)
            memcpy(pass->t + i * rows, t, (size_t)rows * sizeof *t);
        sums[2] += r2;
        update_max(&sums[3], r2);
    }
    talus_cpu_store_sums(pass->op, chunk, (int)(sizeof sums / sizeof *sums), sums);
}
SPECIALISED(forward_backward)

void talus_cpu_block_forward_backward(const TalusOperator *op, const TalusMetricBlock *metric,
                                      const double *x, const double *g, double step, double *t,
                                      double *r, TalusForwardSums *sums)
{
    Pass pass = {.op = op, .metric = metric, .x = x, .g = g, .step = step, .t = t, .r = r};
    double total[4];
    talus_cpu_for_each_group(op, forward_backward_chunk, &pass);
    talus_cpu_combine_sums(op, 3, 1, total);
    *sums = (TalusForwardSums){total[0], total[1], total[2], sqrt(total[3])};
}

/* ---- faces ---- */

/* Sets to 0 the rows of g in which the set of block i allows only 0: the tangential rows of a block without
 * friction. */
KERNEL void clear_immovable_rows(const Pass *pass, Known known, int64_t i, double *g)
{
    if (known.mixed_sets)
        talus_general_clear_immovable(pass->op, pass->metric, i, g);
    else if (known.rows == 3 && friction_in_metric(pass, known, i) == 0.0)
        g[1] = g[2] = 0.0;
}

/* Places of the sums of TalusFace; RESIDUAL_MAX is the maximum of squares, the only one that is no sum. */
enum { FREE2, REDUCED_G, CHOPPED_G, CHOPPED2, ACTIVE, UNBOUND, RESIDUAL2, RESIDUAL_MAX, FACE_SUMS };

/* Returns moved_g = x~'g, with x~ of TalusFace, or moved2 = |x~|^2 where rounding hides the difference of the two. In
 * exact arithmetic x~'g >= |x~|^2. On the mantle near a solution, x~ is small and nearly orthogonal to a larger g: the
 * computed x~'g is then only the rounding error of x / step, times g. */
static inline double rounded_product(double step, double x2, double g2, double moved_g,
                                     double moved2)
{
    return (moved_g - moved2) * step > 1e-15 * sqrt(x2 * g2) ? moved_g : moved2;
}

/* Writes the free, reduced and chopped gradient of block i and adds to sums[FACE_SUMS]. */
KERNEL void split_block(const Pass *pass, Known known, int64_t i, double *sums)
{
    const int rows = known.rows;
    const double *x = pass->x + i * rows, *g = pass->g + i * rows;
    double step[TALUS_ROWS], phi[TALUS_ROWS], r2 = natural_residual2(pass, known, i, x, g);
    double x2 = 0.0, g2 = 0.0, moved_g = 0.0, moved2 = 0.0;
    bool active = is_active(pass, known, i, x), bound = true;
    for (int k = 0; k < rows; k++) {
        step[k] = x[k] - pass->step * g[k];
        phi[k] = active ? 0.0 : g[k];
    }
    clear_immovable_rows(pass, known, i, phi);
    project_block(pass, known, i, step);
    for (int k = 0; k < rows; k++) {
        double moved = (x[k] - step[k]) / pass->step;
        sums[FREE2] += phi[k] * phi[k];
        x2 += x[k] * x[k];
        g2 += g[k] * g[k];
        moved_g += moved * g[k];
        moved2 += moved * moved;
        bound = bound && moved == 0.0;
        if (pass->free_part)
            pass->free_part[i * rows + k] = phi[k];
        if (pass->reduced)
            pass->reduced[i * rows + k] = active ? 0.0 : moved;
        if (pass->chopped)
            pass->chopped[i * rows + k] = active ? moved : 0.0;
    }
    sums[active ? CHOPPED_G : REDUCED_G] += rounded_product(pass->step, x2, g2, moved_g, moved2);
    sums[CHOPPED2] += active ? moved2 : 0.0;
    sums[ACTIVE] += active;
    sums[UNBOUND] += active && !bound;
    sums[RESIDUAL2] += r2;
    update_max(&sums[RESIDUAL_MAX], r2);
}

KERNEL void split_gradient_range(const Pass *pass, Known known, int64_t begin, int64_t end,
                                 int64_t chunk)
{
    double sums[FACE_SUMS] = {0.0};
    for (int64_t i = begin; i < end; i++)
        split_block(pass, known, i, sums);
    talus_cpu_store_sums(pass->op, chunk, (int)(sizeof sums / sizeof *sums), sums);
}
SPECIALISED(split_gradient)

void talus_cpu_block_split_gradient(const TalusOperator *op, const TalusMetricBlock *metric,
                                    const double *x, const double *g, double step,
                                    double *free_part, double *reduced, double *chopped,
                                    TalusFace *face)
{
    Pass pass = {.op = op,
                 .metric = metric,
                 .x = x,
                 .g = g,
                 .step = step,
                 .free_part = free_part,
                 .reduced = reduced,
                 .chopped = chopped};
    double total[FACE_SUMS];
    talus_cpu_for_each_group(op, split_gradient_chunk, &pass);
    talus_cpu_combine_sums(op, FACE_SUMS - 1, 1, total);
    *face = (TalusFace){.free2 = total[FREE2],
                        .reduced_g = total[REDUCED_G],
                        .chopped_g = total[CHOPPED_G],
                        .chopped2 = total[CHOPPED2],
                        .residual2 = total[RESIDUAL2],
                        .residual_max = sqrt(total[RESIDUAL_MAX]),
                        .active = (int)total[ACTIVE],
                        .unbound = (int)total[UNBOUND]};
}

KERNEL void clear_active_range(const Pass *pass, Known known, int64_t begin, int64_t end,
                               int64_t chunk)
{
    const int rows = known.rows;
    (void)chunk;
    for (int64_t i = begin; i < end; i++) {
        double *y = pass->t + i * rows;
        if (is_active(pass, known, i, pass->x + i * rows))
            memset(y, 0, (size_t)rows * sizeof *y);
        else
            clear_immovable_rows(pass, known, i, y);
    }
}
SPECIALISED(clear_active)

void talus_cpu_block_clear_active(const TalusOperator *op, const TalusMetricBlock *metric,
                                  const double *x, double *y)
{
    Pass pass = {.op = op, .metric = metric, .x = x, .t = y};
    talus_parallel(op->pool, op->blocks, BLOCK_GRAIN, clear_active_chunk, &pass);
}

KERNEL void project_tangent_range(const Pass *pass, Known known, int64_t begin, int64_t end,
                                  int64_t chunk)
{
    const int rows = known.rows;
    (void)chunk;
    for (int64_t i = begin; i < end; i++) {
        const double *x = pass->x + i * rows;
        double d[TALUS_ROWS], *out = pass->t + i * rows;
        memcpy(d, pass->g + i * rows, (size_t)rows * sizeof *d);
        if (known.mixed_sets)
            talus_general_project_tangent(pass->op, pass->metric, i, x, d);
        else if (rows == 3)
            talus_cone_project_tangent(friction_in_metric(pass, known, i), x, d);
        else if (!(x[0] > 0.0))
            d[0] = talus_project_nonneg(d[0]);
        memcpy(out, d, (size_t)rows * sizeof *d);
    }
}
SPECIALISED(project_tangent)

void talus_cpu_block_project_tangent(const TalusOperator *op, const TalusMetricBlock *metric,
                                     const double *x, const double *d, double *out)
{
    Pass pass = {.op = op, .metric = metric, .x = x, .g = d, .t = out};
    talus_parallel(op->pool, op->blocks, BLOCK_GRAIN, project_tangent_chunk, &pass);
}

/* Returns the largest a >= 0 with x - a p in the set of block i. */
KERNEL double block_feasible_step(const Pass *pass, Known known, int64_t i, const double *x,
                                  const double *p)
{
    if (known.mixed_sets)
        return talus_general_feasible_step(pass->op, pass->metric, i, x, p);
    if (known.rows == 3)
        return talus_cone_feasible_step(friction_in_metric(pass, known, i), x, p);
    return p[0] > 0.0 ? x[0] / p[0] : INFINITY;
}

KERNEL void feasible_step_range(const Pass *pass, Known known, int64_t begin, int64_t end,
                                int64_t chunk)
{
    const int rows = known.rows;
    double least = INFINITY;
    for (int64_t i = begin; i < end; i++) {
        double a = block_feasible_step(pass, known, i, pass->x + i * rows, pass->g + i * rows);
        least = a < least ? a : least;
    }
    pass->op->scratch->partial[chunk] = least;
}
SPECIALISED(feasible_step)

double talus_cpu_block_feasible_step(const TalusOperator *op, const TalusMetricBlock *metric,
                                     const double *x, const double *p)
{
    Pass pass = {.op = op, .metric = metric, .x = x, .g = p};
    double least = INFINITY;
    talus_cpu_for_each_group(op, feasible_step_chunk, &pass);
    for (int64_t g = 0; g < talus_cpu_group_count(op); g++) {
        double a = op->scratch->partial[g];
        least = a < least ? a : least;
    }
    return -talus_cpu_find_maximum(op, -least);
}

KERNEL void compare_active_range(const Pass *pass, Known known, int64_t begin, int64_t end,
                                 int64_t chunk)
{
    const int rows = known.rows;
    double sums[3] = {0.0, 0.0, 0.0};
    for (int64_t i = begin; i < end; i++) {
        bool x = is_active(pass, known, i, pass->x + i * rows);
        bool y = is_active(pass, known, i, pass->g + i * rows);
        sums[0] += y;
        sums[1] += x != y;
    }
    talus_cpu_store_sums(pass->op, chunk, (int)(sizeof sums / sizeof *sums), sums);
}
SPECIALISED(compare_active)

void talus_cpu_block_compare_active(const TalusOperator *op, const TalusMetricBlock *metric,
                                    const double *x, const double *y, int *active, int *changed)
{
    Pass pass = {.op = op, .metric = metric, .x = x, .g = y};
    double total[3];
    talus_cpu_for_each_group(op, compare_active_chunk, &pass);
    talus_cpu_combine_sums(op, 2, 1, total);
    *active = (int)total[0];
    *changed = (int)total[1];
}

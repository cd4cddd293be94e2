/* backend/cpu/ogm.c - one step of the optimised gradient method for the gradient norm (step.ogm): one pass over the
 * blocks. */
#include "backend/cpu/cone_lanes.h"
#include "backend/cpu/general.h"

#include <math.h>

/* Context of the loop over blocks of one step. */
typedef struct Pass {
    const TalusOperator *op;
    const TalusOgm *o;
} Pass;

/* Sum and maximum over blocks of the squared natural residual, by lane. */
typedef struct Sums {
    Lane residual2, residual_max;
} Sums;

/* Takes the step of two cones; if `measure`, adds their natural residuals to the sums. */
KERNEL void step_cone_pair(const TalusOperator *op, const TalusOgm *o, const Pair *pair,
                           bool measure, Sums *sums)
{
    Lane m[4], x[3], y[3], g[3], t[3];
    lane_gather(o->metric[pair->i], o->metric[pair->i + pair->both], 2, m);
    load3(o->x, pair, x);
    load3(o->g, pair, g);
    load3(o->y, pair, y);
    for (int k = 0; k < 3; k++)
        t[k] = x[k] - o->step * g[k];
    lanes_project(m[2], m[3], t);
    if (measure) {
        Lane r2 = clear_idle_lane(pair, cone_residual2(op, pair, load1(op->mu, pair), m, x, g));
        sums->residual2 += r2;
        sums->residual_max = lane_select(r2 <= sums->residual_max, sums->residual_max, r2);
    }
    for (int k = 0; k < 3; k++)
        x[k] = t[k] + o->along * (t[k] - y[k]) + o->over * (t[k] - x[k]);
    store3(o->y, pair, t);
    store3(o->x_next, pair, x);
}

/* Takes the step of blocks [begin, end), all cones. op and o are passed as copies: the compiler then knows that no
 * store to a vector changes them. `measure` is a constant after inlining. */
KERNEL void step_cone_range(TalusOperator op, TalusOgm o, int64_t begin, int64_t end, bool measure,
                            Sums *total)
{
    Sums sums = {{0}, {0}};
    int64_t i = begin;
    for (; i + LANES <= end; i += LANES) {
        Pair pair = {i, true};
        step_cone_pair(&op, &o, &pair, measure, &sums);
    }
    if (i < end) {
        Pair last = {i, false};
        step_cone_pair(&op, &o, &last, measure, &sums);
    }
    *total = sums;
}

/* Takes the step of blocks [begin, end) one after the other, for half lines and mixed sets. */
KERNEL void step_plain_range(const Pass *pass, int64_t begin, int64_t end, int rows, Sums *sums)
{
    const TalusOgm *o = pass->o;
    for (int64_t i = begin; i < end; i++) {
        const double *x = o->x + i * rows, *g = o->g + i * rows, *s = o->metric[i];
        double *y = o->y + i * rows, *next = o->x_next + i * rows, t[TALUS_ROWS];
        if (o->want_residual) {
            double d = talus_block_scale(pass->op, (int)i), gamma[TALUS_ROWS], step[TALUS_ROWS];
            for (int k = 0; k < rows; k++) {
                gamma[k] = s[k > 0] * x[k];
                step[k] = gamma[k] - g[k] / (s[k > 0] * d);
            }
            double r2 = plain_residual2(pass->op, i, rows, d, gamma, step);
            sums->residual2[0] += r2;
            sums->residual_max[0] = r2 <= sums->residual_max[0] ? sums->residual_max[0] : r2;
        }
        for (int k = 0; k < rows; k++)
            t[k] = x[k] - o->step * g[k];
        plain_project(pass->op, o->metric, i, t);
        for (int k = 0; k < rows; k++) {
            next[k] = t[k] + o->along * (t[k] - y[k]) + o->over * (t[k] - x[k]);
            y[k] = t[k];
        }
    }
}

/* Takes the step of the blocks [begin, end) of one group and stores the sums of the group. */
static void step_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Pass *pass = context;
    Sums sums = {{0}, {0}};
    if (pass->op->mixed_sets)
        step_plain_range(pass, begin, end, pass->op->rows, &sums);
    else if (pass->op->rows == 1)
        step_plain_range(pass, begin, end, 1, &sums);
    else if (pass->o->want_residual)
        step_cone_range(*pass->op, *pass->o, begin, end, true, &sums);
    else
        step_cone_range(*pass->op, *pass->o, begin, end, false, &sums);
    const double both[] = {lane_sum(sums.residual2), lane_max(sums.residual_max)};
    talus_cpu_store_sums(pass->op, chunk, 2, both);
}

void talus_cpu_step_ogm(const TalusOperator *op, const TalusOgm *o, double *residual2,
                        double *residual_max)
{
    Pass pass = {op, o};
    double total[2];
    talus_cpu_for_each_group(op, step_chunk, &pass);
    talus_cpu_combine_sums(op, 1, 1, total);
    *residual2 = total[0];
    *residual_max = sqrt(total[1]);
}

/* backend/cpu/sweep_sparse.c - Gauss-Seidel sweeps on an explicit sparse matrix.
 *
 * Blocks are visited through `order`. Coloured: blocks that share no matrix entry form a colour and
 * are swept by all threads; what finds no colour (dense rows) follows in sequence. */
#include "backend/cpu/sweep.h"

#include "base/memory.h"
#include "base/status.h"
#include "sets/cone.h"

/* Colours of the blocks coupled to block i that have one already. */
static uint64_t taken_colours(const TalusOperator *op, const uint8_t *class_of, int i)
{
    uint64_t taken = 0;
    for (int row = i * op->rows; row < (i + 1) * op->rows; row++)
        for (int32_t k = op->row_start[row]; k < op->row_start[row + 1]; k++) {
            int j = op->column[k] / op->rows;
            if (j < i && class_of[j] < COLOURS)
                taken |= UINT64_C(1) << class_of[j];
        }
    return taken;
}

static void colour_blocks(TalusSweep *sweep)
{
    const TalusOperator *op = sweep->op;
    uint8_t *class_of = sweep->colouring.class_of;
    int count[COLOURS + 1] = {0};
    for (int i = 0; i < op->blocks; i++) {
        uint64_t open = ~taken_colours(op, class_of, i) & ((UINT64_C(1) << COLOURS) - 1);
        class_of[i] = open ? (uint8_t)__builtin_ctzll(open) : COLOURS;
        count[class_of[i]]++;
    }
    int start = 0, next[COLOURS + 1];
    for (int c = 0; c <= COLOURS; c++) {
        sweep->colour_start[c] = next[c] = start;
        start += count[c];
    }
    sweep->colour_start[COLOURS + 1] = start;
    for (int i = 0; i < op->blocks; i++)
        sweep->order[next[class_of[i]]++] = i;
}

TalusStatus talus_sweep_sparse_begin(TalusSweep *sweep, const double *gamma)
{
    const TalusOperator *op = sweep->op;
    size_t blocks = (size_t)op->blocks, n = blocks * (size_t)op->rows;
    size_t chunks = (size_t)talus_chunks(op->blocks, ITEM_GRAIN) + 1;
    TALUS_TRY(TALUS_RESERVE(sweep->gamma, sweep->gamma_room, n, 0, "impulses"));
    TALUS_TRY(TALUS_RESERVE(sweep->order, sweep->order_room, blocks, 0, "sweep order"));
    TALUS_TRY(TALUS_RESERVE(sweep->partial, sweep->partial_room, chunks, 0, "partial sums"));
    TALUS_TRY(TALUS_RESERVE(sweep->colouring.class_of, sweep->colouring.class_room, blocks, 0,
                            "colours"));
    memcpy(sweep->gamma, gamma, n * sizeof *gamma);
    for (int i = 0; i < op->blocks; i++)
        sweep->order[i] = i;
    if (sweep->options.order == TALUS_ORDER_COLOURED)
        colour_blocks(sweep);
    return TALUS_OK;
}

static double sweep_block(TalusSweep *sweep, int i)
{
    const TalusOperator *op = sweep->op;
    const int rows = op->rows;
    double g[3], next[3] = {0.0, 0.0, 0.0}, *gamma = sweep->gamma + i * rows, change = 0.0;
    StepRule rule = talus_step_rule(&sweep->options, rows, op->diagonal[i][0], op->diagonal[i][1],
                                    op->coupling[i], rows == 3 ? op->mu[i] : 0.0);
    talus_cpu_sparse_product(op, sweep->gamma, i, i + 1, g);
    for (int k = 0; k < rows; k++)
        next[k] = gamma[k] - (k ? rule.inv_t : rule.inv_n) * (g[k] + op->offset[i * rows + k]);
    if (rows == 3)
        talus_project_cone(rule.mu, rule.kappa, &next[0], &next[1], &next[2]);
    else
        next[0] = talus_project_nonneg(next[0]);
    for (int k = 0; k < rows; k++) {
        double step = sweep->options.rho * (next[k] - gamma[k]);
        gamma[k] += step;
        change += step * step;
    }
    return rule.scale * rule.scale * change;
}

static void colour_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    TalusSweep *sweep = context;
    const int32_t *order = sweep->order + sweep->colour_start[sweep->colour];
    double sum = 0.0;
    for (int64_t i = begin; i < end; i++)
        sum += sweep_block(sweep, order[i]);
    sweep->partial[chunk] = sum;
}

static double run_colours(TalusSweep *sweep)
{
    double sum = 0.0;
    for (int c = 0; c < COLOURS; c++) {
        int count = sweep->colour_start[c + 1] - sweep->colour_start[c];
        sweep->colour = c;
        talus_parallel(sweep->op->pool, count, ITEM_GRAIN, colour_chunk, sweep);
        for (int64_t k = 0; k < talus_chunks(count, ITEM_GRAIN); k++)
            sum += sweep->partial[k];
    }
    for (int i = sweep->colour_start[COLOURS]; i < sweep->colour_start[COLOURS + 1]; i++)
        sum += sweep_block(sweep, sweep->order[i]);
    return sum;
}

double talus_sweep_sparse_run(TalusSweep *sweep)
{
    if (sweep->options.order == TALUS_ORDER_COLOURED)
        return run_colours(sweep);
    double sum = 0.0;
    if (sweep->options.order == TALUS_ORDER_RANDOM)
        talus_sweep_shuffle(sweep);
    for (int i = 0; i < sweep->op->blocks; i++)
        sum += sweep_block(sweep, sweep->order[i]);
    if (sweep->options.order == TALUS_ORDER_SYMMETRIC) {
        sum = 0.0;
        for (int i = sweep->op->blocks - 1; i >= 0; i--)
            sum += sweep_block(sweep, sweep->order[i]);
    }
    return sum;
}

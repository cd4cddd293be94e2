/* backend/cpu/sweep_sparse.c - Gauss-Seidel sweeps block by block: on an explicit sparse matrix, and over contacts
 * whose sets are mixed (operator.h); sweep_block.c uses the loops of this file with steps of its own.
 *
 * Blocks are visited through `order`. Coloured: no two blocks of a colour are coupled, by a matrix entry or a shared
 * body that impulses move, and all threads sweep them in parallel. Blocks without a colour (overflow, and contacts of
 * heavy bodies) follow in sequence. */
#include "backend/cpu/sweep.h"

#include "backend/block.h"
#include "backend/cpu/general.h"
#include "backend/part.h"
#include "base/memory.h"
#include "base/status.h"
#include "sets/one_joint.h"

#include <string.h>

/* Returns, one bit per colour, the colours of earlier blocks that are coupled to block i by an entry in the rows of
 * block i or in the rows of the earlier block (c->used[i]): in an asymmetric matrix one of the two entries may be
 * missing. */
static uint64_t taken_colours(const TalusOperator *op, const TalusColouring *c, int i)
{
    uint64_t taken = c->used[i];
    for (int row = i * op->rows; row < (i + 1) * op->rows; row++)
        for (int32_t k = op->row_start[row]; k < op->row_start[row + 1]; k++) {
            int j = op->column[k] / op->rows;
            if (j < i && c->class_of[j] < COLOURS)
                taken |= UINT64_C(1) << c->class_of[j];
        }
    return taken;
}

/* Marks the colour of block i in c->used of the later blocks to which its rows couple it. */
static void forbid_colour(const TalusOperator *op, const TalusColouring *c, int i)
{
    for (int row = i * op->rows; row < (i + 1) * op->rows; row++)
        for (int32_t k = op->row_start[row]; k < op->row_start[row + 1]; k++)
            if (op->column[k] / op->rows > i)
                c->used[op->column[k] / op->rows] |= UINT64_C(1) << c->class_of[i];
}

/* Gives each block of an explicit matrix, in order, the lowest free colour; a block without a free colour gets the
 * class COLOURS. */
static TalusStatus colour_blocks(const TalusOperator *op, TalusColouring *c)
{
    size_t blocks = (size_t)op->blocks;
    TALUS_TRY(TALUS_GROW(c->used, blocks, 0, "colours"));
    memset(c->used, 0, blocks * sizeof *c->used);
    for (int i = 0; i < op->blocks; i++) {
        uint64_t open = ~taken_colours(op, c, i) & ((UINT64_C(1) << COLOURS) - 1);
        c->class_of[i] = open ? (uint8_t)__builtin_ctzll(open) : COLOURS;
        if (open)
            forbid_colour(op, c, i);
    }
    return TALUS_OK;
}

/* Fills `order` and colour_start: blocks by colour, those without a colour (overflow and heavy) last. The class of all
 * these becomes COLOURS. */
static void order_blocks(TalusSweep *sweep)
{
    const TalusOperator *op = sweep->op;
    uint8_t *class_of = sweep->colouring.class_of;
    int count[COLOURS + 1] = {0};
    for (int i = 0; i < op->blocks; i++) {
        if (class_of[i] > COLOURS)
            class_of[i] = COLOURS;
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

/* ---- one block ---- */

/* True if block i is under Coulomb's law and restricted by it (TalusSweepOptions.coulomb). */
static bool follows_coulomb(const TalusSweep *sweep, int i)
{
    const TalusOperator *op = sweep->op;
    return sweep->options.coulomb && op->model && op->model[i].law == TALUS_LAW_COULOMB;
}

/* next = P(gamma - omega B^-1 g). P is the projection in the metric B of the rule, which is the Euclidean projection
 * of x = gamma / s with s^2 = omega / B; for a block that follows_coulomb P is talus_block_restrict. */
static void projected_step(const TalusSweep *sweep, int i, const StepRule *rule,
                           const double *gamma, const double *g, double *next)
{
    const TalusOperator *op = sweep->op;
    for (int k = 0; k < op->rows; k++)
        next[k] = gamma[k] - (k ? rule->inv_t : rule->inv_n) * g[k];
    if (op->mixed_sets) {
        double s[2] = {sqrt(rule->inv_n), sqrt(rule->inv_t)};
        TalusSet set = talus_set_of_block(op, i, op->prisms, s);
        for (int k = 0; k < op->rows; k++)
            next[k] /= s[k > 0];
        if (follows_coulomb(sweep, i))
            talus_block_restrict(op->rows, &set, next);
        else
            talus_block_project(op->rows, &set, next);
        for (int k = 0; k < op->rows; k++)
            next[k] *= s[k > 0];
    } else if (op->rows == 3) {
        talus_project_cone(rule->mu, rule->kappa, &next[0], &next[1], &next[2]);
    } else {
        next[0] = talus_project_nonneg(next[0]);
    }
}

/* talus_sweep_get_block for contact i. */
static void write_contact_block(const TalusOperator *op, int i, double a[3][3])
{
    if (i < op->sphere_sphere + op->sphere_fixed) {
        memset(a, 0, 9 * sizeof(double));
        a[0][0] = op->diagonal[i][0];
        a[1][1] = a[2][2] = op->diagonal[i][1];
        return;
    }
    double block[9];
    talus_block_fill_general(op, i, 3, block);
    memcpy(a, block, sizeof block);
    a[0][0] += op->compliance ? op->compliance[i] : 0.0;
}

/* talus_sweep_get_block for block i of an explicit matrix. */
static void write_matrix_block(const TalusOperator *op, int i, double a[3][3])
{
    memset(a, 0, 9 * sizeof(double));
    for (int k = 0; k < op->rows; k++)
        for (int32_t e = op->row_start[i * op->rows + k]; e < op->row_start[i * op->rows + k + 1];
             e++)
            if (op->column[e] / op->rows == i)
                a[k][op->column[e] % op->rows] += op->values[e];
}

void talus_sweep_get_block(const TalusOperator *op, int i, double a[3][3])
{
    if (op->pair)
        write_contact_block(op, i, a);
    else
        write_matrix_block(op, i, a);
}

/* next = solution of the own problem of a joint's block, the change multiplied by omega. The block's part A of N + E
 * is far from diagonal, so that a projected step would be short. */
static void solve_joint_block(const TalusSweep *sweep, int i, const double *gamma, const double *g,
                              double *next)
{
    const TalusOperator *op = sweep->op;
    TalusSet set = talus_set_of_block(op, i, op->prisms, NULL);
    double a[3][3];
    talus_sweep_get_block(op, i, a);
    memcpy(next, gamma, 3 * sizeof *next);
    talus_one_step_joint(&set, (const double(*)[3])a, g, sweep->options.omega, next);
}

/* Changes block i of sweep->gamma by the step at its gradient g and writes the change. Returns the squared velocity
 * change. */
static double step_block(TalusSweep *sweep, int i, double coupling, const double *g, double *change)
{
    const TalusOperator *op = sweep->op;
    const int rows = op->rows;
    double next[TALUS_ROWS] = {0.0}, *gamma = sweep->gamma + i * rows, sum = 0.0;
    StepRule rule = talus_step_rule(&sweep->options, rows, op->diagonal[i][0], op->diagonal[i][1],
                                    coupling, rows > 1 ? op->mu[i] : 0.0);
    if (op->mixed_sets && op->model && op->model[i].section == TALUS_SECTION_JOINT)
        solve_joint_block(sweep, i, gamma, g, next);
    else
        projected_step(sweep, i, &rule, gamma, g, next);
    for (int k = 0; k < rows; k++) {
        change[k] = sweep->options.rho * (next[k] - gamma[k]);
        gamma[k] += change[k];
        sum += change[k] * change[k];
    }
    return rule.scale * rule.scale * sum;
}

/* Takes the step of block i of an explicit matrix. Returns the squared velocity change. */
static double matrix_step(TalusSweep *sweep, int i)
{
    const TalusOperator *op = sweep->op;
    double g[TALUS_ROWS], change[TALUS_ROWS];
    talus_cpu_sparse_product(op, sweep->gamma, i, i + 1, g);
    for (int k = 0; k < op->rows; k++)
        g[k] += op->offset[i * op->rows + k];
    return step_block(sweep, i, op->coupling[i], g, change);
}

/* Adds the effect of a wrench record (impulse, minus the torque) to the velocity of a body. `sign` of the impulse: -1
 * for body a, 1 for body b. */
static void add_wrench_to_body(TalusSweep *sweep, int body, double sign, const double record[6])
{
    double *v = sweep->velocity[body], turn[3];
    if (v[3] == 0.0 && !talus_body_yields(sweep->op, body))
        return; /* other threads may read this body at the same time */
    talus_spin_change(sweep->op, body, v[7], record + 3, turn);
    for (int k = 0; k < 3; k++) {
        v[k] += sign * (v[3] * record[k]);
        v[4 + k] -= turn[k];
    }
}

/* Takes the step of contact i and applies the change of its impulse to the bodies. Returns the squared velocity
 * change. */
static double contact_step(TalusSweep *sweep, int i)
{
    const TalusOperator *op = sweep->op;
    int spheres = op->sphere_sphere + op->sphere_fixed, general = i - spheres;
    double g[TALUS_ROWS], change[TALUS_ROWS];
    talus_cpu_contact_velocity(op, (const double(*)[8])sweep->velocity, i, i + 1, g);
    g[0] += op->bias[i] + (op->compliance ? op->compliance[i] * sweep->gamma[i * op->rows] : 0.0);
    for (int k = 1; op->slip && k < 3 && k < op->rows; k++)
        g[k] += op->slip[i][k - 1];
    double moved = step_block(sweep, i, general < 0 ? 1.0 : op->coupling[general], g, change);
    double(*record)[6] = op->scratch->record;
    talus_cpu_write_wrenches(op, change, i, i + 1, record);
    record += general < 0 ? i : spheres + 2 * general;
    add_wrench_to_body(sweep, op->pair[i][0], -1.0, record[0]);
    if (op->pair[i][1] >= 0)
        add_wrench_to_body(sweep, op->pair[i][1], 1.0, record[general >= 0]);
    return moved;
}

/* ---- loops ---- */

static TalusStatus reserve_by_block(TalusSweep *sweep)
{
    const size_t blocks = (size_t)sweep->op->blocks, n = blocks * (size_t)sweep->op->rows;
    TALUS_TRY(TALUS_GROW(sweep->gamma, n, 0, "impulses"));
    TALUS_TRY(TALUS_GROW(sweep->order, blocks, 0, "sweep order"));
    TALUS_TRY(talus_sweep_reserve_terms(sweep, sweep->op->blocks));
    return TALUS_GROW(sweep->colouring.class_of, blocks, 0, "colours");
}

/* On several ranks: lists the terms that others count, and the entries of `order` without a colour by level. */
static void list_for_part(TalusSweep *sweep)
{
    const int first = sweep->colour_start[COLOURS];
    SweepPart *part = sweep->part;
    talus_sweep_sort_tail(sweep, sweep->order + first, sweep->op->blocks - first, first);
    part->uncounted_count = 0;
    for (int k = 0; k < sweep->op->blocks; k++)
        if (!talus_contact_counts(sweep->op, sweep->order[k]))
            part->uncounted[part->uncounted_count++] = k;
}

TalusStatus talus_sweep_prepare_by_block(TalusSweep *sweep, const double *gamma)
{
    const TalusOperator *op = sweep->op;
    const size_t n = (size_t)op->blocks * (size_t)op->rows;
    TALUS_TRY(talus_comm_agree(talus_operator_comm(op), reserve_by_block(sweep)));
    memcpy(sweep->gamma, gamma, n * sizeof *gamma);
    for (int i = 0; i < op->blocks; i++)
        sweep->order[i] = i;
    sweep->step = op->pair ? contact_step : matrix_step;
    if (sweep->options.order != TALUS_ORDER_COLOURED)
        return TALUS_OK;
    if (op->pair)
        TALUS_TRY(talus_sweep_colour(sweep));
    else
        TALUS_TRY(colour_blocks(op, &sweep->colouring));
    TALUS_TRY(talus_sweep_plan_part(sweep, false));
    order_blocks(sweep);
    if (op->halo)
        list_for_part(sweep);
    return TALUS_OK;
}

/* Takes the steps of entries [begin, end) of the colour sweep->colour; stores the largest term of the chunk. */
static void colour_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    TalusSweep *sweep = context;
    const int32_t *order = sweep->order + sweep->colour_start[sweep->colour];
    double *term = sweep->term + sweep->colour_start[sweep->colour];
    double most = 0.0;
    for (int64_t i = begin; i < end; i++) {
        term[i] = sweep->step(sweep, order[i]);
        most = term[i] > most ? term[i] : most;
    }
    sweep->partial[chunk] = most;
}

/* Takes the step of the entry `k` of `order`. Returns the largest squared velocity change of this and of `most`. */
static double sweep_entry(TalusSweep *sweep, int k, double most)
{
    sweep->term[k] = sweep->step(sweep, sweep->order[k]);
    return fmax(most, sweep->term[k]);
}

/* Brings the velocities that a phase needs from other ranks. */
static void bring(TalusSweep *sweep, int phase)
{
    talus_sweep_bring(sweep, phase, sweep->velocity, sizeof *sweep->velocity);
}

/* Sweeps the blocks without a colour one after the other, on several ranks level by level. Returns the largest squared
 * velocity change of these and of `most`. */
static double sweep_tail(TalusSweep *sweep, double most)
{
    const SweepPart *part = sweep->part;
    if (!sweep->op->halo)
        for (int k = sweep->colour_start[COLOURS]; k < sweep->colour_start[COLOURS + 1]; k++)
            most = sweep_entry(sweep, k, most);
    for (int level = 0; sweep->op->halo && level < part->levels; level++) {
        bring(sweep, part->colours + level);
        for (int k = part->tail_start[level]; k < part->tail_start[level + 1]; k++)
            most = sweep_entry(sweep, part->tail[k], most);
    }
    return most;
}

/* Does one coloured sweep. Returns the sum of the squared velocity changes. */
static double sweep_colours(TalusSweep *sweep)
{
    double most = 0.0;
    for (int c = 0; c < COLOURS; c++) {
        int count = sweep->colour_start[c + 1] - sweep->colour_start[c];
        sweep->colour = c;
        if (sweep->op->halo && c < sweep->part->colours)
            bring(sweep, c);
        talus_parallel(sweep->op->pool, count, ITEM_GRAIN, colour_chunk, sweep);
        most = fmax(most, talus_sweep_largest(sweep, talus_chunks(count, ITEM_GRAIN)));
    }
    most = talus_cpu_find_maximum(sweep->op, sweep_tail(sweep, most));
    return talus_sweep_sum(sweep, sweep->op->blocks, most);
}

/* Fisher-Yates shuffle, starting from the permutation of the last sweep. */
void talus_sweep_shuffle(TalusSweep *sweep)
{
    for (int i = sweep->op->blocks - 1; i > 0; i--) {
        int j = (int)talus_rng_below(&sweep->rng, (uint64_t)i + 1);
        int32_t swap = sweep->order[i];
        sweep->order[i] = sweep->order[j];
        sweep->order[j] = swap;
    }
}

double talus_sweep_run_by_block(TalusSweep *sweep)
{
    if (sweep->options.order == TALUS_ORDER_COLOURED)
        return sweep_colours(sweep);
    double sum = 0.0;
    if (sweep->options.order == TALUS_ORDER_RANDOM)
        talus_sweep_shuffle(sweep);
    for (int i = 0; i < sweep->op->blocks; i++)
        sum += sweep->step(sweep, sweep->order[i]);
    if (sweep->options.order == TALUS_ORDER_SYMMETRIC) {
        sum = 0.0;
        for (int i = sweep->op->blocks - 1; i >= 0; i--)
            sum += sweep->step(sweep, sweep->order[i]);
    }
    return sum;
}

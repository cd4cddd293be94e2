/* backend/cuda/sweep/sweep_block.cu - Gauss-Seidel sweeps contact by contact, with impulses in the contacts' frames:
 * over mixed sets, and with solvers of one contact's problem.
 *
 * The order is that of coloured sweeps (sweep.h): for each colour one kernel over its spheres and one over its items,
 * a thread per contact. Heavy contacts are swept in sequence, by one thread: the split masses of sweep.cu suit only
 * projected steps.
 *
 * Bytes per contact with friction and two bodies: 8 pair + 32 frame + 8 bias + 16 diagonal + 8 mu + 24 model, 48 of
 * impulse (read and written), two body records of 64 read and written; a general contact also 48 of arms, and 8 of
 * coupling or, if its own problem is solved, 72 of its block of N + E. */
#include "backend/cuda/sweep/sweep_block.h"

extern "C" {
#include "backend/block.h"
}

/* Steps contact i, adds its change to the bodies' velocities and returns the squared velocity change. now.body is
 * `velocity`, so that write_body_velocity adds to the current velocities. SOLVED: the contact's own problem is
 * solved. */
template <int ROWS, bool SOLVED>
static __device__ inline double sweep_contact(const SweepBlocks &b, const CuView<double> &now,
                                              double (*velocity)[8], int i)
{
    double g[ROWS], change[ROWS], local[LOCAL<ROWS>] = {0.0}, frame[4], moved;
    contact_velocity(now, velocity, i, g);
    g[0] += now.bias[i] + (now.compliance ? now.compliance[i] * b.gamma[(int64_t)i * ROWS] : 0.0);
    if constexpr (SOLVED)
        moved = own_problem_step(b, i, i < now.spheres, g, change);
    else
        moved =
            projected_step(b, i, i < now.spheres ? 1.0 : b.coupling[i - now.spheres], g, change);
    for (int k = 0; k < ROWS; k++)
        local[k] = change[k];
    load_packs<4>(now.frame[i], frame);
    int2 pair = now.pair[i];
    for (int side = 0; side < 2; side++) {
        int body = side ? pair.y : pair.x;
        double sum[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
        if (body < 0 || !impulses_move(velocity[body],
                                       now.inverse_inertia ? now.inverse_inertia[body] : nullptr))
            continue; /* contacts of one colour may share such a body */
        add_wrench<ROWS>(now, i, side, frame, local, sum);
        write_body_velocity(now, body, sum, true, velocity);
    }
    return moved;
}

/* Sweeps the contacts at places range.x to range.y - 1, in parallel or, if `sequence`, one after the other by the first
 * thread. Adds the squared velocity changes to the tally. */
template <int ROWS, bool SOLVED>
static __global__ void sweep_each(SweepBlocks b, CuView<double> now, double (*velocity)[8],
                                  const uint32_t *order, int2 range, bool sequence, CuTally *tally)
{
    int64_t at = range.x + item_index();
    if (!sequence) {
        double change = 0.0;
        if (at < range.y)
            change = sweep_contact<ROWS, SOLVED>(b, now, velocity, (int)order[at]);
        add_changes(change, tally);
        return;
    }
    for (; at < range.y && threadIdx.x == 0; at++)
        add_term(sweep_contact<ROWS, SOLVED>(b, now, velocity, (int)order[at]), tally);
}

/* Launches sweep_each over the places range.x to range.y - 1, if there are any. */
static void sweep_range(TalusSweep *s, int2 range, bool sequence)
{
    if (range.x == range.y)
        return;
    unsigned blocks = sequence ? 1 : blocks_for(range.y - range.x, SWEEP_THREADS);
    SweepBlocks b = cu_sweep_blocks(s);
    CuView<double> now = cu_view(s->op);
    double(*velocity)[8] = (double(*)[8])s->velocity.at;
    const uint32_t *order = s->order.contact;
    const int rows = s->op->rows;
    now.body = velocity;
#define EACH(ROWS, SOLVED)                                                                      \
    launch_block(cu_context_of(s->op), sweep_each<ROWS, SOLVED>, blocks, SWEEP_THREADS, b, now, \
                 velocity, order, range, sequence, s->tally.at)
    if (b.local == TALUS_ONE_PROJECT)
        rows == 6 ? EACH(6, false) : EACH(3, false);
    else
        rows == 1 ? EACH(1, true) : EACH(3, true);
#undef EACH
}

void cu_sweep_blockwise(TalusSweep *s)
{
    for (int c = 0; c < CLASS_HEAVY; c++) {
        sweep_range(s, class_places(s, c, c + 1), false);
        sweep_range(s, class_places(s, CLASS_ITEM + c, CLASS_ITEM + c + 1), false);
    }
    int2 heavy = heavy_places(s);
    sweep_range(s, make_int2(heavy.x, heavy.x + heavy.y), true);
}

/* ---- the plan ---- */

/* Adds the entries of block i on the diagonal of an explicit matrix to own, 3 x 3 by rows; at most 3 rows. */
static __device__ inline void add_matrix_block(const TalusOperator &op, int i, double *own)
{
    for (int k = 0; k < op.rows; k++)
        for (int32_t e = op.row_start[i * op.rows + k]; e < op.row_start[i * op.rows + k + 1]; e++)
            if (op.column[e] / op.rows == i)
                own[3 * k + op.column[e] % op.rows] += op.values[e];
}

/* own[i] = block i on the diagonal of N + E, 3 x 3 by rows; of six rows the first three. */
static __global__ void fill_own_blocks(TalusOperator op, double (*own)[9])
{
    int64_t i = item_index();
    if (i >= op.blocks)
        return;
    double block[9] = {0.0};
    if (!op.pair) {
        add_matrix_block(op, (int)i, block);
    } else if (i < op.sphere_sphere + op.sphere_fixed) {
        block[0] = op.diagonal[i][0];
        block[4] = block[8] = op.diagonal[i][1];
    } else {
        talus_block_fill_general(&op, (int)i, 3, block);
        block[0] += op.compliance ? op.compliance[i] : 0.0;
    }
    for (int k = 0; k < 9; k++)
        own[i][k] = block[k];
}

TalusStatus cu_sweep_fill_own_blocks(TalusSweep *s)
{
    const TalusOperator *op = s->op;
    const uint32_t joints = TALUS_KIND(TALUS_LAW_CCP, TALUS_SECTION_JOINT);
    if (s->options.local == TALUS_ONE_PROJECT && !(op->kinds & joints))
        return TALUS_OK;
    TALUS_TRY(s->own.reserve(9 * (int64_t)op->blocks, "blocks of the sweep"));
    launch(cu_context_of(s->op), fill_own_blocks, blocks_for(op->blocks), THREADS, *op,
           (double(*)[9])s->own.at);
    return TALUS_OK;
}

TalusStatus cu_sweep_plan_blockwise(TalusSweep *s, const double *gamma)
{
    const TalusOperator *op = s->op;
    int64_t n = (int64_t)op->rows * op->blocks;
    TALUS_TRY(cu_order_contacts(op, true, &s->order));
    TALUS_TRY(s->gamma.reserve(n, "impulses of the sweep"));
    TALUS_TRY(s->velocity.reserve(8 * (int64_t)op->bodies, "velocities of the sweep"));
    TALUS_TRY(cu_sweep_fill_own_blocks(s));
    cu_copy(cu_context_of(s->op), s->gamma, gamma, (size_t)n * sizeof *gamma);
    cu_op_body_velocities(op, gamma, true, (double(*)[8])s->velocity.at);
    return cu_sweep_reserve_sums(s);
}

/* backend/cuda/ops/terms.cu - sizes of the terms whose sum is a gradient (backend/terms.h), as in
 * backend/cpu/terms.c. */
#include "backend/cuda/ops/part.h"

extern "C" {
#include "backend/terms.h"
}

enum { LINEAR, SPIN }; /* index of |V| and |W| in a body's entry of the scratch velocities */

/* ---- bodies ---- */

/* Adds the sizes of the impulse and torque of one incidence to the sum of its body. */
template <int ROWS>
static __device__ inline void add_incidence_terms(const CuView<double> &c, const double *gamma,
                                                  int32_t incidence, double (&sum)[6])
{
    double wrench[6] = {0.0};
    add_incidence_wrench<ROWS>(c, CuImpulses<double>{gamma, nullptr}, incidence, wrench);
    talus_terms_add_wrench(wrench, sum);
}

/* Writes |V| and |W| (backend/terms.h) of each body; divides the work like gather_body_velocities. */
template <int ROWS>
static __global__ void sum_body_terms(CuView<double> c, const double *gamma, double (*out)[8])
{
    unsigned first_blocks = (unsigned)((c.bodies + (int)blockDim.x - 1) / (int)blockDim.x);
    double sum[6] = {0.0};
    if (blockIdx.x < first_blocks) {
        int64_t b = item_index();
        if (b >= c.bodies || c.incidence_start[b + 1] - c.incidence_start[b] > BLOCK_SUM_ABOVE)
            return;
        for (int32_t k = c.incidence_start[b]; k < c.incidence_start[b + 1]; k++)
            add_incidence_terms<ROWS>(c, gamma, c.incidence[k], sum);
        talus_terms_body_size(c.body[b], c.inverse_inertia ? c.inverse_inertia[b] : nullptr, sum,
                              out[b]);
        return;
    }
    int b = c.block_summed[blockIdx.x - first_blocks];
    for (int32_t k = c.incidence_start[b] + (int)threadIdx.x; k < c.incidence_start[b + 1];
         k += (int)blockDim.x)
        add_incidence_terms<ROWS>(c, gamma, c.incidence[k], sum);
    reduce_block<6, 0>(sum);
    if (threadIdx.x == 0)
        talus_terms_body_size(c.body[b], c.inverse_inertia ? c.inverse_inertia[b] : nullptr, sum,
                              out[b]);
}

/* ---- blocks ---- */

/* Kernel argument: what the terms of a block are computed from. */
struct Terms {
    const double *gamma;
    const double (*bodies)[8];         /* |V| and |W| of bodies */
    const int32_t *row_start, *column; /* explicit matrix */
    const double *values, *offset;
    const double *unshifted; /* as in TalusOperator */
};

/* Returns the factor of |W| of the body on one side: |arm| or, with one row, |arm x n|; with 6 rows plus the lever of
 * the moment rows. */
template <int ROWS>
static __device__ inline double spin_factor(const CuView<double> &c, int64_t i, int side)
{
    const double *arm = i < c.spheres ? nullptr : c.arm[i - c.spheres] + 3 * side;
    double length = talus_terms_spin_factor(ROWS, arm, c.frame[i]);
    return ROWS == 6 ? length + c.lever[i - c.spheres][side] : length;
}

/* Returns the sum of the sizes of the terms of a contact's gradient, without E gamma. */
template <int ROWS>
static __device__ inline double contact_term_sum(const CuView<double> &c, const Terms &t, int64_t i)
{
    double sum = fabs(t.unshifted ? t.unshifted[i] : c.bias[i]);
    const int body[2] = {c.pair[i].x, c.pair[i].y};
    for (int side = 0; side < 2; side++) {
        if (body[side] < 0)
            continue;
        const double *of = t.bodies[body[side]];
        sum += of[LINEAR] + spin_factor<ROWS>(c, i, side) * of[SPIN];
    }
    return sum;
}

/* The same for a block of an explicit matrix: norm over its rows. */
template <int ROWS> static __device__ inline double matrix_term_sum(const Terms &t, int64_t i)
{
    double sum2 = 0.0;
    for (int64_t row = i * ROWS; row < (i + 1) * ROWS; row++) {
        double sum = fabs(t.unshifted && row == i * ROWS ? t.unshifted[i] : t.offset[row]);
        for (int32_t k = t.row_start[row]; k < t.row_start[row + 1]; k++)
            sum += fabs(t.values[k] * t.gamma[t.column[k]]);
        sum2 += sum * sum;
    }
    return sqrt(sum2);
}

/* Totals 0 and 1: sum of squares and maximum over blocks of the size of the gradient's terms, at least d |gamma|. */
template <int ROWS>
static __global__ void sum_block_terms(CuTallies tallies, double *totals, CuView<double> c,
                                       CuSets sets, Terms t)
{
    sum_items<1, 1>(tallies, totals, 0, c.blocks, 0.0, [&](int64_t i, double(&sums)[2]) {
        double terms = c.pair ? contact_term_sum<ROWS>(c, t, i) : matrix_term_sum<ROWS>(t, i);
        double own2 = 0.0;
        if (c.compliance)
            terms += fabs(c.compliance[i] * t.gamma[i * ROWS]);
        for (int k = 0; k < ROWS; k++)
            own2 += t.gamma[i * ROWS + k] * t.gamma[i * ROWS + k];
        terms = fmax(terms, block_mean_diagonal<ROWS>(c, (int)i) * sqrt(own2));
        terms *= talus_terms_residual_factor(sets.model ? &sets.model[i] : nullptr,
                                             ROWS == 1 ? 0.0 : sets.mu[i]);
        sums[0] += terms * terms;
        sums[1] = larger(sums[1], terms);
    });
}

TalusTermSums cu_gradient_terms(const TalusOperator *op, const double *gamma)
{
    double(*bodies)[8] = (double(*)[8])cu_scratch_of(op)->velocity.at, totals[2] = {0.0, 0.0};
    if (op->pair) {
        LAUNCH_ROWS(launch_block, op, sum_body_terms, cu_gather_block_count(op), THREADS,
                    cu_view(op), gamma, bodies);
        cu_part_exchange(op, bodies, sizeof *bodies);
    }
    Terms t = {gamma, bodies, op->row_start, op->column, op->values, op->offset, op->unshifted};
    LAUNCH_ROWS(launch_sums, op, sum_block_terms, op->blocks, cu_context_of(op)->totals,
                cu_view(op), cu_sets(op, nullptr), t);
    cu_totals_get(cu_context_of(op), 2, totals);
    return TalusTermSums{totals[0], totals[1]};
}

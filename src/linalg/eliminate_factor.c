/* linalg/eliminate_factor.c - for one machine: A and its factorisation A = L L' in blocks, the number of refinements if
 * rows are redundant, and parts of A^-1 (see eliminate.h). */
#include "linalg/eliminate_parts.h"

#include "base/rng.h"

#include <math.h>
#include <string.h>

/* A pivot of at most RANK A_kk marks a redundant row; the machine is then factored with A_kk (1 + SHIFT) in place of
 * A_kk. With A scaled to a unit diagonal, a refinement multiplies the error along an eigenvector of eigenvalue lambda
 * by SHIFT / (lambda + SHIFT). A larger SHIFT needs more refinements; with a smaller SHIFT the distribution of impulses
 * over redundant rows depends more on rounding, 2^-52 / SHIFT. */
static const double RANK = 1e-12, SHIFT = 1e-10;

/* SOLVED: count_rounds ends when the largest residual is at most this fraction of the first, or more than half of that
 * before. MOST_ROUNDS: maximum number of refinements. */
static const double SOLVED = 1e-14;
enum { MOST_ROUNDS = 8 };

/* ---- A ---- */

/* Adds to block (q, p) of A, p <= q, the coupling D' M^-1 D of the two nodes by a vertex that they share. */
static void add_coupling(TalusElimination *e, int vertex, int q, int p)
{
    double *block = e->value + block_of(e, q, p);
    int side_q = node_side(e, q, vertex), side_p = node_side(e, p, vertex), size = node_size(e, p);
    for (int k = 0; k < node_size(e, q); k++)
        for (int l = 0; l < size; l++) {
            const double *a = e->ordered[e->first_row[q] + k].arm[side_q];
            const double *b = e->ordered[e->first_row[p] + l].push[side_p];
            double sum = 0.0;
            for (int i = 0; i < 6; i++)
                sum += a[i] * b[i];
            block[k * size + l] += sum;
        }
}

/* Writes A of machine m, with A_kk (1 + shift) on the diagonal, into `value`, and A_kk into `scale`. False if an entry
 * of the diagonal is not finite. */
static bool fill_machine_matrix(TalusElimination *e, int m, double shift)
{
    int first = e->machine_start[m], last = e->machine_start[m + 1];
    bool finite = true;
    memset(e->value + e->diagonal_at[first], 0,
           (size_t)(e->diagonal_at[last] - e->diagonal_at[first]) * sizeof *e->value);
    for (int v = e->machine_vertex[m]; v < e->machine_vertex[m + 1]; v++)
        for (int32_t i = e->vertex_node_start[v]; i < e->vertex_node_start[v + 1]; i++)
            for (int32_t j = i; j < e->vertex_node_start[v + 1]; j++)
                add_coupling(e, v, e->vertex_node[j], e->vertex_node[i]);
    for (int p = first; p < last; p++)
        for (int k = 0; k < node_size(e, p); k++) {
            double *entry = e->value + e->diagonal_at[p] + k * (node_size(e, p) + 1);
            int row = e->first_row[p] + k;
            *entry += e->ordered[row].compliance;
            e->scale[row] = *entry;
            *entry += shift * *entry;
            finite = finite && isfinite(*entry);
        }
    return finite;
}

/* ---- L ---- */

/* Factorises the square block of node p in place; 1 / L_kk is stored on the diagonal. A pivot vanishes if it is at most
 * RANK A_kk, or at most 0.01 shift A_kk if there is a shift. For a vanishing pivot 1 / L_kk is set to 0, hence x_k = 0.
 * Without a shift, returns false if the pivot of a row with A_kk > 0 vanishes. */
static bool factor_square(TalusElimination *e, int p, double shift)
{
    const int size = node_size(e, p);
    double *a = e->value + e->diagonal_at[p];
    for (int k = 0; k < size; k++) {
        double pivot = a[k * size + k], scale = e->scale[e->first_row[p] + k];
        for (int j = 0; j < k; j++)
            pivot -= a[k * size + j] * a[k * size + j];
        bool sound = pivot > (shift > 0.0 ? 0.01 * shift : RANK) * scale;
        if (!sound && shift == 0.0 && scale > 0.0)
            return false;
        double inverse = sound ? 1.0 / sqrt(pivot) : 0.0;
        a[k * size + k] = inverse;
        for (int i = k + 1; i < size; i++) {
            double sum = a[i * size + k];
            for (int j = 0; j < k; j++)
                sum -= a[i * size + j] * a[k * size + j];
            a[i * size + k] = sum * inverse;
        }
    }
    return true;
}

/* Multiplies block (q, p), `rows` x `size`, by L_pp^-T from the right, in place; `square`: L_pp as factor_square stores
 * it. */
static void factor_below(const double *square, int size, int rows, double *block)
{
    for (int r = 0; r < rows; r++, block += size)
        for (int k = 0; k < size; k++) {
            double sum = block[k];
            for (int j = 0; j < k; j++)
                sum -= block[j] * square[k * size + j];
            block[k] = sum * square[k * size + k];
        }
}

/* to -= a b'; a has `rows` rows, b has `columns` rows, both have `size` columns. */
static void subtract_outer(const double *a, const double *b, int rows, int columns, int size,
                           double *to)
{
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++) {
            double sum = 0.0;
            for (int k = 0; k < size; k++)
                sum += a[r * size + k] * b[c * size + k];
            to[r * columns + c] -= sum;
        }
}

/* Subtracts L_rp L_qp' from block (r, q), for all nodes q <= r below p (coupled to p by L, eliminated later). */
static void update_below(TalusElimination *e, int p)
{
    const int size = node_size(e, p);
    for (int32_t i = e->start[p]; i < e->start[p + 1]; i++) {
        int q = e->below[i], columns = node_size(e, q);
        const double *b = e->value + e->block_at[i];
        subtract_outer(b, b, columns, columns, size, e->value + e->diagonal_at[q]);
        for (int32_t j = i + 1, at = e->start[q]; j < e->start[p + 1]; j++, at++) {
            while (e->below[at] != e->below[j])
                at++;
            subtract_outer(e->value + e->block_at[j], b, node_size(e, e->below[j]), columns, size,
                           e->value + e->block_at[at]);
        }
    }
}

/* Factorises machine m node by node. False if a row is redundant, see factor_square; the factor is then incomplete. */
static bool factor_nodes(TalusElimination *e, int m, double shift)
{
    for (int p = e->machine_start[m]; p < e->machine_start[m + 1]; p++) {
        if (!factor_square(e, p, shift))
            return false;
        for (int32_t i = e->start[p]; i < e->start[p + 1]; i++)
            factor_below(e->value + e->diagonal_at[p], node_size(e, p), node_size(e, e->below[i]),
                         e->value + e->block_at[i]);
        update_below(e, p);
    }
    return true;
}

/* ---- a machine with redundant rows ---- */

/* Returns the largest residual |y| of the machine's rows. */
static double largest_residual(const TalusElimination *e, int m)
{
    double max = 0.0;
    for (int row = e->first_row[e->machine_start[m]]; row < e->first_row[e->machine_start[m + 1]];
         row++)
        max = fmax(max, fabs(e->y[row]));
    return max;
}

/* Sums the magnitudes of the changes of velocity (*moves) and of spin (*turns) of a vertex by unit impulses in its
 * rows. draw_motion scales random spins by the ratio of the two sums, so that the unit of length does not matter. */
static void sum_responses(const TalusElimination *e, int vertex, double *moves, double *turns)
{
    *moves = *turns = 0.0;
    for (int32_t i = e->vertex_node_start[vertex]; i < e->vertex_node_start[vertex + 1]; i++) {
        int p = e->vertex_node[i], side = node_side(e, p, vertex);
        for (int row = e->first_row[p]; row < e->first_row[p + 1]; row++)
            for (int k = 0; k < 3; k++) {
                *moves += fabs(e->ordered[row].push[side][k]);
                *turns += fabs(e->ordered[row].push[side][3 + k]);
            }
    }
}

/* Fills `motion` of the machine's vertices with random velocities, which do not depend on other machines; only spins if
 * impulses in the vertex's rows do not change its linear velocity. */
static void draw_motion(TalusElimination *e, int m)
{
    TalusRng rng = talus_rng_from_seed(0);
    for (int v = e->machine_vertex[m]; v < e->machine_vertex[m + 1]; v++) {
        double moves, turns;
        sum_responses(e, v, &moves, &turns);
        double speed = moves > 0.0 ? 1.0 : 0.0, spin = moves > 0.0 ? turns / moves : 1.0;
        for (int k = 0; k < 8; k++)
            e->motion[v][k] = (k < 4 ? speed : spin) * (talus_rng_uniform(&rng) - 0.5);
    }
}

TalusMachines talus_elimination_machines(const TalusElimination *e)
{
    return (TalusMachines){.machines = e->machines,
                           .nodes = e->nodes,
                           .vertices = e->vertices,
                           .rows = e->rows,
                           .machine_start = e->machine_start,
                           .machine_vertex = e->machine_vertex,
                           .rounds = e->rounds,
                           .first_row = e->first_row,
                           .vertex = (const int32_t(*)[2])e->vertex,
                           .body = (const int32_t(*)[2])e->body,
                           .vertex_body = e->vertex_body,
                           .vertex_node_start = e->vertex_node_start,
                           .vertex_node = e->vertex_node,
                           .start = e->start,
                           .below = e->below,
                           .diagonal_at = e->diagonal_at,
                           .block_at = e->block_at,
                           .row = e->ordered,
                           .bias = e->bias,
                           .value = e->value,
                           .x = e->x,
                           .y = e->y};
}

TalusMachines talus_machines_by_vertex(const TalusElimination *e, const double *bias)
{
    TalusMachines machines = talus_elimination_machines(e);
    machines.body = machines.vertex;
    machines.vertex_body = NULL;
    machines.bias = bias;
    return machines;
}

/* Returns the number of refinements, at most MOST_ROUNDS, that a solution for random velocities needs. All solutions
 * use this number: a number that depended on the right-hand side would make the operator nonlinear. */
static int count_rounds(TalusElimination *e, int m)
{
    const TalusMachines machines = talus_machines_by_vertex(e, NULL);
    double first = 0.0, before = 0.0;
    draw_motion(e, m);
    for (int round = 0; round <= MOST_ROUNDS; round++) {
        talus_machine_residual(&machines, m, e->motion, round > 0, talus_team_of_one);
        double now = largest_residual(e, m);
        if (round > 0 && (now <= SOLVED * first || now > 0.5 * before))
            return round - 1;
        first = round == 0 ? now : first;
        before = now;
        talus_machine_step(&machines, m, e->motion, round > 0, talus_team_of_one);
    }
    return MOST_ROUNDS;
}

void talus_elimination_factor_machine(TalusElimination *e, int m)
{
    e->rounds[m] = -1;
    e->redundant[m] = false;
    if (!fill_machine_matrix(e, m, 0.0))
        return;
    e->redundant[m] = !factor_nodes(e, m, 0.0);
    if (e->redundant[m]) {
        fill_machine_matrix(e, m, SHIFT);
        factor_nodes(e, m, SHIFT);
    }
    e->rounds[m] = e->redundant[m] ? count_rounds(e, m) : 0;
}

/* ---- parts of Z = A^-1 ---- */

/* Sets `unit` to L_qp L_pp^-1 for all q below p. */
static void fill_unit(TalusElimination *e, int p)
{
    const int size = node_size(e, p);
    const double *a = e->value + e->diagonal_at[p];
    for (int32_t i = e->start[p]; i < e->start[p + 1]; i++) {
        const double *from = e->value + e->block_at[i];
        double *to = e->unit + e->block_at[i];
        for (int r = 0; r < node_size(e, e->below[i]); r++, from += size, to += size)
            for (int k = size - 1; k >= 0; k--) {
                double sum = from[k];
                for (int j = k + 1; j < size; j++)
                    sum -= to[j] * a[j * size + k];
                to[k] = sum * a[k * size + k];
            }
    }
}

/* to -= z b, with `turned` to -= z' b; `to` has `rows` rows, b has `inner`, both `size` columns. */
static void subtract_product(const double *z, bool turned, const double *b, int rows, int inner,
                             int size, double *to)
{
    for (int r = 0; r < rows; r++)
        for (int k = 0; k < inner; k++) {
            double entry = turned ? z[k * rows + r] : z[r * inner + k];
            for (int c = 0; c < size; c++)
                to[r * size + c] -= entry * b[k * size + c];
        }
}

/* With q the node of entry i below p: Z_qp = -sum over r below p of Z_qr L_rp L_pp^-1. */
static void invert_below(TalusElimination *e, int p, int32_t i)
{
    const int size = node_size(e, p), q = e->below[i], rows = node_size(e, q);
    double *to = e->inverse + e->block_at[i];
    memset(to, 0, (size_t)(rows * size) * sizeof *to);
    for (int32_t j = e->start[p]; j < e->start[p + 1]; j++) {
        int r = e->below[j];
        const double *z = e->inverse + (q >= r ? block_of(e, q, r) : block_of(e, r, q));
        subtract_product(z, q < r, e->unit + e->block_at[j], rows, node_size(e, r), size, to);
    }
}

/* Z_pp = L_pp^-T L_pp^-1 - sum over q below p of (L_qp L_pp^-1)' Z_qp */
static void invert_square(TalusElimination *e, int p)
{
    const int size = node_size(e, p);
    const double *a = e->value + e->diagonal_at[p];
    double *to = e->inverse + e->diagonal_at[p], l[NODE_ROWS][NODE_ROWS] = {{0.0}};
    for (int c = 0; c < size; c++)
        for (int r = c; r < size; r++) {
            double sum = r == c ? 1.0 : 0.0;
            for (int k = c; k < r; k++)
                sum -= a[r * size + k] * l[k][c];
            l[r][c] = sum * a[r * size + r];
        }
    for (int r = 0; r < size; r++)
        for (int c = 0; c < size; c++) {
            double sum = 0.0;
            for (int k = r > c ? r : c; k < size; k++)
                sum += l[k][r] * l[k][c];
            for (int32_t i = e->start[p]; i < e->start[p + 1]; i++) {
                const double *unit = e->unit + e->block_at[i], *z = e->inverse + e->block_at[i];
                for (int k = 0; k < node_size(e, e->below[i]); k++)
                    sum -= unit[k * size + r] * z[k * size + c];
            }
            to[r * size + c] = sum;
        }
}

void talus_elimination_invert_machine(TalusElimination *e, int m)
{
    for (int p = e->machine_start[m + 1] - 1; p >= e->machine_start[m]; p--) {
        fill_unit(e, p);
        for (int32_t i = e->start[p]; i < e->start[p + 1]; i++)
            invert_below(e, p, i);
        invert_square(e, p);
    }
}

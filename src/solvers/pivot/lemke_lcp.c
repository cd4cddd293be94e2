/* solvers/pivot/lemke_lcp.c - fills the linear complementarity problem of a contact problem (lemke_lcp.h). */
#include "solvers/pivot/lemke_lcp.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

/* ---- unknowns ---- */

/* True if block i has a positive friction coefficient. */
static bool has_friction(const TalusOperator *op, int i)
{
    return op->rows == 3 && op->model && op->mu[i] > 0.0;
}

/* Number of corners of the section of block i; 0 without friction. */
static int count_corners(const TalusOperator *op, int i)
{
    if (!has_friction(op, i))
        return 0;
    return talus_model_corner_count(&op->model[i]);
}

/* True if block i has friction under Coulomb's law. */
static bool is_exact(const TalusOperator *op, int i)
{
    return has_friction(op, i) && op->model[i].law == TALUS_LAW_COULOMB;
}

/* Number of unknowns of block i: 1 without friction; under ccp one per corner of the section; under Coulomb's law the
 * normal impulse, one per corner, and the slip speed. */
static int count_unknowns(const TalusOperator *op, int i)
{
    int corners = count_corners(op, i);
    if (corners == 0)
        return 1;
    return is_exact(op, i) ? corners + 2 : corners;
}

int64_t talus_contact_lcp_size(const TalusOperator *op)
{
    int64_t size = 0;
    for (int i = 0; i < op->blocks; i++)
        size += count_unknowns(op, i);
    return size;
}

/* Writes g, the impulse of block b that the value 1 of its unknown k stands for: column k of the block of G. Under
 * Coulomb's law k = 0 is the normal impulse and 1 to count are corners; the slip speed is no impulse and has no g. */
static void get_generator(const TalusContactLcp *c, const TalusLcpBlock *b, int k, double g[3])
{
    const double *corner = b->corner >= 0 ? c->corner[b->corner + k - (b->exact ? 1 : 0)] : NULL;
    bool normal = b->corner < 0 || (b->exact && k == 0);
    g[0] = normal || !b->exact ? 1.0 : 0.0;
    for (int r = 0; r < 2; r++)
        g[1 + r] = normal ? 0.0 : b->exact ? corner[r] : b->mu * corner[r];
}

/* Number of unknowns of a block that stand for impulses: all but the slip speed. */
static int count_generators(const TalusLcpBlock *b)
{
    return b->exact ? b->count + 1 : b->count;
}

/* ---- scales ---- */

/* Returns e with x = m 2^e, 1/2 <= m < 1. */
static int binary_exponent(double x)
{
    int e;
    frexp(x, &e);
    return e;
}

/* Sets c->speed and the blocks' units of impulse: powers of two near the largest |q|, and near that over the block
 * scale. */
static void set_units(TalusContactLcp *c, const TalusOperator *op, const double *q)
{
    double max = 0.0;
    for (int k = 0; k < c->rows * c->blocks; k++)
        max = fmax(max, fabs(q[k]));
    int speed = binary_exponent(max);
    c->speed = ldexp(1.0, speed);
    for (int i = 0; i < c->blocks; i++)
        c->block[i].unit = ldexp(1.0, speed - binary_exponent(talus_block_scale(op, i)));
}

/* Sets all blocks, except their units, and the corners of their sections. */
static TalusStatus set_blocks(TalusContactLcp *c, const TalusOperator *op)
{
    size_t corners = 0;
    int first = 0, corner = 0;
    for (int i = 0; i < op->blocks; i++)
        corners += (size_t)count_corners(op, i);
    TALUS_TRY(TALUS_GROW(c->corner, corners, 0, "corners"));
    for (int i = 0; i < op->blocks; i++) {
        int count = count_corners(op, i);
        c->block[i] = (TalusLcpBlock){.first = first,
                                      .count = count ? count : 1,
                                      .exact = is_exact(op, i),
                                      .corner = count ? corner : -1,
                                      .mu = count ? op->mu[i] : 0.0};
        for (int k = 0; k < count; k++)
            talus_model_corner(&op->model[i], k, c->corner[corner++]);
        first += count_unknowns(op, i);
    }
    return TALUS_OK;
}

/* ---- the matrix ---- */

/* Collects block column j of N + E: its block rows into near, rising, the blocks into part[block row]. `t` is the
 * transpose of N + E. Returns the number of block rows. */
static int gather_block_column(TalusContactLcp *c, const TalusSparse *t, int j)
{
    const int rows = c->rows;
    int count = 0;
    for (int l = 0; l < rows; l++)
        for (int32_t k = t->start[j * rows + l]; k < t->start[j * rows + l + 1]; k++) {
            int i = t->column[k] / rows, at = count;
            if (c->mark[i] != j) {
                c->mark[i] = j;
                memset(c->part[i], 0, sizeof c->part[i]);
                for (; at > 0 && c->near[at - 1] > i; at--)
                    c->near[at] = c->near[at - 1];
                c->near[at] = i;
                count++;
            }
            c->part[i][(t->column[k] % rows) * rows + l] += t->value[k];
        }
    return count;
}

/* Appends an entry to the current column of M, unless it is 0. */
static void append_entry(TalusContactLcp *c, int32_t *at, int row, double value)
{
    if (value == 0.0)
        return;
    c->lcp.row[*at] = row;
    c->lcp.value[(*at)++] = value;
}

/* Appends to the column of M of unknown k of block j its entries in the rows of block i. For i = j under Coulomb's law
 * also appends the entry in the row of mu n - sum b_k. */
static void append_block_entries(TalusContactLcp *c, int32_t *at, int i, int j, int k)
{
    const TalusLcpBlock *row = &c->block[i], *column = &c->block[j];
    double g[3], h[3], v[3] = {0.0, 0.0, 0.0}, scale = column->unit / c->speed;
    get_generator(c, column, k, g);
    for (int r = 0; r < c->rows; r++)
        for (int l = 0; l < c->rows; l++)
            v[r] += c->part[i][r * c->rows + l] * g[l];
    for (int a = 0; a < count_generators(row); a++) {
        double sum = 0.0;
        get_generator(c, row, a, h);
        for (int r = 0; r < c->rows; r++)
            sum += h[r] * v[r];
        append_entry(c, at, row->first + a, sum * scale);
    }
    if (i == j && row->exact)
        append_entry(c, at, row->first + row->count + 1, k == 0 ? row->mu : -1.0);
}

/* Grows row and value of M for block column j, which has `near` blocks, beyond the `at` entries in use. */
static TalusStatus reserve_block_column(TalusContactLcp *c, int near, int j, int32_t at)
{
    size_t size = 0, columns = (size_t)c->block[j].count + 2;
    for (int k = 0; k < near; k++)
        size += (size_t)c->block[c->near[k]].count + 2;
    size = (size_t)at + size * columns;
    TALUS_TRY(TALUS_GROW(c->lcp.row, size, (size_t)at, "matrix of the LCP"));
    return TALUS_GROW(c->lcp.value, size, (size_t)at, "matrix of the LCP");
}

/* Fills M by columns from t, the transpose of N + E. The last column of a block under Coulomb's law is that of its slip
 * speed. */
static TalusStatus fill_matrix(TalusContactLcp *c, const TalusSparse *t)
{
    int32_t at = 0;
    for (int i = 0; i < c->blocks; i++)
        c->mark[i] = -1;
    for (int j = 0; j < c->blocks; j++) {
        const TalusLcpBlock *b = &c->block[j];
        int near = gather_block_column(c, t, j), unknown = b->first;
        TALUS_TRY(reserve_block_column(c, near, j, at));
        for (int k = 0; k < count_generators(b); k++) {
            c->lcp.start[unknown++] = at;
            for (int m = 0; m < near; m++)
                append_block_entries(c, &at, c->near[m], j, k);
        }
        if (!b->exact)
            continue;
        c->lcp.start[unknown] = at;
        for (int k = 0; k < b->count; k++)
            append_entry(c, &at, b->first + 1 + k, 1.0);
    }
    c->lcp.start[c->lcp.n] = at;
    return TALUS_OK;
}

/* Sets q of the LCP from the problem's offsets q, divided by c->speed. */
static void set_offsets(TalusContactLcp *c, const double *q)
{
    for (int i = 0; i < c->blocks; i++) {
        const TalusLcpBlock *b = &c->block[i];
        for (int k = 0; k < count_generators(b); k++) {
            double g[3], sum = 0.0;
            get_generator(c, b, k, g);
            for (int r = 0; r < c->rows; r++)
                sum += g[r] * q[i * c->rows + r];
            c->lcp.q[b->first + k] = sum / c->speed;
        }
        if (b->exact)
            c->lcp.q[b->first + b->count + 1] = 0.0;
    }
}

/* Sets the sizes of the LCP and reserves all arrays except M's entries and the corners. */
static TalusStatus reserve_arrays(TalusContactLcp *c, const TalusOperator *op)
{
    size_t blocks = (size_t)op->blocks, n = (size_t)talus_contact_lcp_size(op);
    c->rows = op->rows;
    c->blocks = op->blocks;
    c->lcp.n = (int)n;
    TALUS_TRY(TALUS_GROW(c->lcp.start, n + 1, 0, "matrix of the LCP"));
    TALUS_TRY(TALUS_GROW(c->lcp.q, n, 0, "offsets of the LCP"));
    TALUS_TRY(TALUS_GROW(c->block, blocks, 0, "blocks of the LCP"));
    TALUS_TRY(TALUS_GROW(c->near, blocks, 0, "blocks of the LCP"));
    TALUS_TRY(TALUS_GROW(c->mark, blocks, 0, "blocks of the LCP"));
    return TALUS_GROW(c->part, blocks, 0, "blocks of the LCP");
}

TalusStatus talus_contact_lcp_fill(TalusContactLcp *c, const TalusProblem *problem, const double *q)
{
    const TalusOperator *op = &problem->op;
    TalusSparse n, t;
    TALUS_TRY(reserve_arrays(c, op));
    TALUS_TRY(set_blocks(c, op));
    set_units(c, op, q);
    set_offsets(c, q);
    TALUS_TRY(talus_problem_assemble(problem, &n));
    TalusStatus status = talus_sparse_transpose(&n, &t);
    talus_sparse_clear(&n);
    TALUS_TRY(status);
    status = fill_matrix(c, &t);
    talus_sparse_clear(&t);
    return status;
}

void talus_contact_lcp_clear(TalusContactLcp *c)
{
    TALUS_RELEASE(c->lcp.start, c->lcp.row, c->lcp.value, c->lcp.q, c->block, c->corner, c->near,
                  c->mark, c->part);
    *c = (TalusContactLcp){0};
}

void talus_contact_lcp_get_impulses(const TalusContactLcp *c, const double *z, double *gamma)
{
    for (int i = 0; i < c->blocks; i++) {
        const TalusLcpBlock *b = &c->block[i];
        double sum[3] = {0.0, 0.0, 0.0};
        for (int k = 0; k < count_generators(b); k++) {
            double g[3];
            get_generator(c, b, k, g);
            for (int r = 0; r < c->rows; r++)
                sum[r] += g[r] * z[b->first + k];
        }
        for (int r = 0; r < c->rows; r++)
            gamma[i * c->rows + r] = sum[r] * b->unit;
    }
}

/* ---- unknowns of given impulses ---- */

/* Weights >= 0 of the neighbouring corners `at` and the next one, whose combination is a given vector. */
typedef struct Sector {
    int at, next;
    double first, second;
} Sector;

/* Finds the corners of block b between which t lies. */
static Sector find_sector(const TalusContactLcp *c, const TalusLcpBlock *b, const double t[2])
{
    Sector s = {0, 0, 0.0, 0.0};
    for (int k = 0; k < b->count; k++) {
        s.at = k;
        s.next = (k + 1) % b->count;
        const double *p = c->corner[b->corner + s.at], *q = c->corner[b->corner + s.next];
        double area = p[0] * q[1] - p[1] * q[0];
        s.first = (t[0] * q[1] - t[1] * q[0]) / area;
        s.second = (p[0] * t[1] - p[1] * t[0]) / area;
        if (s.first >= 0.0 && s.second >= 0.0)
            return s;
    }
    return (Sector){0, 0, 0.0, 0.0}; /* only if t is not finite */
}

/* Adds to the weights of the block's corners, [count], those of a sector, times `factor`. */
static void add_sector(const Sector *s, double factor, double *weight)
{
    weight[s->at] += factor * s->first;
    weight[s->next] += factor * s->second;
}

/* Adds to the weights of the block's corners a sum of `rest` that has no tangential impulse: corner 0 and its
 * opposite. */
static void add_balanced_weights(const TalusContactLcp *c, const TalusLcpBlock *b, double rest,
                                 double *weight)
{
    const double *corner = c->corner[b->corner];
    Sector opposite = find_sector(c, b, (const double[2]){-corner[0], -corner[1]});
    double factor = rest / (1.0 + opposite.first + opposite.second);
    weight[0] += factor;
    add_sector(&opposite, factor, weight);
}

/* Returns the slip speed s of a block over c->speed: the least with c_k.u_t + s >= 0 for all corners, at least 0. */
static double find_slip_speed(const TalusContactLcp *c, const TalusLcpBlock *b, const double u[3])
{
    double slip = 0.0;
    for (int k = 0; k < b->count; k++) {
        const double *p = c->corner[b->corner + k];
        slip = fmax(slip, -(p[0] * u[1] + p[1] * u[2]) / c->speed);
    }
    return slip;
}

/* Writes the unknowns of a block with friction under ccp, [count], for impulses in the block's unit. */
static void set_cone_weights(const TalusContactLcp *c, const TalusLcpBlock *b,
                             const double gamma[3], double *weight)
{
    Sector s = find_sector(c, b, (const double[2]){gamma[1] / b->mu, gamma[2] / b->mu});
    add_sector(&s, 1.0, weight);
    add_balanced_weights(c, b, fmax(gamma[0] - s.first - s.second, 0.0), weight);
}

/* Writes the unknowns of a block under Coulomb's law, [count + 2], for impulses in the block's unit and velocities
 * u. */
static void set_exact_unknowns(const TalusContactLcp *c, const TalusLcpBlock *b,
                               const double gamma[3], const double u[3], double *z)
{
    Sector s = find_sector(c, b, gamma + 1);
    z[0] = fmax(gamma[0], 0.0);
    add_sector(&s, 1.0, z + 1);
    z[b->count + 1] = find_slip_speed(c, b, u);
}

void talus_contact_lcp_get_unknowns(const TalusContactLcp *c, const double *gamma, const double *u,
                                    double *z)
{
    memset(z, 0, (size_t)c->lcp.n * sizeof *z);
    for (int i = 0; i < c->blocks; i++) {
        const TalusLcpBlock *b = &c->block[i];
        double g[3] = {0.0, 0.0, 0.0}, *unknown = z + b->first;
        for (int r = 0; r < c->rows; r++)
            g[r] = gamma[i * c->rows + r] / b->unit;
        if (b->corner < 0)
            unknown[0] = fmax(g[0], 0.0);
        else if (b->exact)
            set_exact_unknowns(c, b, g, u + i * c->rows, unknown);
        else
            set_cone_weights(c, b, g, unknown);
    }
}

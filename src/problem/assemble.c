/* problem/assemble.c - N + E as a sparse matrix.
 *
 * For a matrix-free problem N = D' M^-1 D. In D', row k of a contact has six numbers for each of its two bodies: (e_k,
 * arm x e_k), negative for body a, with e_k the k-th axis of the contact's frame and arms and spins in the units of
 * operator.h. The row of a moment about e_k has (0, lever e_k). With (x, y) for these six numbers, two rows i and j
 * are coupled by every body that their contacts share:
 *     N_ij = sum over shared bodies of  x_i.x_j / m + y_i.(l^2 I^-1 y_j),   l the body's length.
 * Each row of blocks is found by merging the sorted contact lists of its two bodies. An entry is always computed from
 * the earlier row to the later one, so the matrix is bitwise symmetric. */
#include "problem/problem.h"

#include "problem/jacobian.h"

#include "base/memory.h"
#include "base/status.h"

#include <string.h>

/* Arguments of fill_chunk. */
typedef struct Assembly {
    const TalusOperator *op;
    /* [(2 i + side) rows + k]: row k of block i in D', the part on body a (side 0) or b (side 1) */
    TalusJacobianRow *arm;
    TalusSparse *out;
} Assembly;

/* Returns one body's part x'M^-1 y of the entry of N between two rows; x and y are the rows of D' on the body. */
static double body_coupling(const TalusOperator *op, int body, const TalusJacobianRow x,
                            const TalusJacobianRow y)
{
    double turn[3];
    talus_spin_change(op, body, op->body[body][7], y + 3, turn);
    return op->body[body][3] * dot3(x, y) + dot3(x + 3, turn);
}

/* ---- coupled blocks ---- */

/* True if impulses move the body: not for the fixed world (-1) or a body without inverse mass and inertia. */
static bool is_movable(const TalusOperator *op, int body)
{
    return body >= 0 && (op->body[body][3] > 0.0 || op->body[body][7] > 0.0);
}

/* Returns the contact of an entry of op->incidence, which is 2 * record + side; general contacts have two records,
 * others one. */
static int contact_of(const TalusOperator *op, int32_t incidence)
{
    int record = incidence >> 1, spheres = op->sphere_sphere + op->sphere_fixed;
    return record < spheres ? record : spheres + (record - spheres) / 2;
}

/* Iterator over the contacts of a block's movable bodies, the block itself included, in rising order. at, end:
 * position and end, in op->incidence, of the contacts of body a (0) and b (1). */
typedef struct Neighbours {
    const TalusOperator *op;
    int32_t at[2], end[2];
} Neighbours;

/* Returns an iterator over the contacts of block i's movable bodies, before the first of them. */
static Neighbours neighbours_of(const TalusOperator *op, int i)
{
    Neighbours n = {.op = op};
    for (int side = 0; side < 2; side++)
        if (is_movable(op, op->pair[i][side])) {
            n.at[side] = op->incidence_start[op->pair[i][side]];
            n.end[side] = op->incidence_start[op->pair[i][side] + 1];
        }
    return n;
}

/* Returns the next contact and advances the iterator; -1 at the end. A contact of both bodies comes once. */
static int next_neighbour(Neighbours *n)
{
    int next = -1, found[2] = {-1, -1};
    for (int side = 0; side < 2; side++)
        if (n->at[side] < n->end[side]) {
            found[side] = contact_of(n->op, n->op->incidence[n->at[side]]);
            next = next < 0 || found[side] < next ? found[side] : next;
        }
    for (int side = 0; side < 2; side++)
        if (found[side] >= 0 && found[side] == next)
            n->at[side]++;
    return next;
}

/* ---- rows of the matrix ---- */

/* Returns the entry (row k of block i, row l of block j) of N + E, for i < j, or i = j and k <= l. */
static double matrix_entry(const Assembly *a, int i, int k, int j, int l)
{
    const TalusOperator *op = a->op;
    double sum = 0.0;
    for (int s = 0; s < 2; s++)
        for (int t = 0; t < 2; t++) {
            int body = op->pair[i][s];
            if (body == op->pair[j][t] && is_movable(op, body))
                sum += body_coupling(op, body, a->arm[(2 * i + s) * op->rows + k],
                                     a->arm[(2 * j + t) * op->rows + l]);
        }
    if (i == j && k == 0 && l == 0 && op->compliance)
        sum += op->compliance[i];
    return sum;
}

/* Fills columns and values of the matrix rows of blocks [begin, end). */
static void fill_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Assembly *a = context;
    const int rows = a->op->rows;
    (void)chunk;
    for (int i = (int)begin; i < (int)end; i++)
        for (int k = 0; k < rows; k++) {
            int32_t at = a->out->start[i * rows + k];
            Neighbours near = neighbours_of(a->op, i);
            for (int j = next_neighbour(&near); j >= 0; j = next_neighbour(&near))
                for (int l = 0; l < rows; l++, at++) {
                    bool earlier = i < j || (i == j && k <= l);
                    a->out->column[at] = j * rows + l;
                    a->out->value[at] =
                        earlier ? matrix_entry(a, i, k, j, l) : matrix_entry(a, j, l, i, k);
                }
        }
}

/* Returns the number of entries of each matrix row of block i. */
static size_t count_row_entries(const TalusOperator *op, int i)
{
    Neighbours near = neighbours_of(op, i);
    size_t count = 0;
    while (next_neighbour(&near) >= 0)
        count += (size_t)op->rows;
    return count;
}

/* Assembles N + E of a matrix-free problem. */
static TalusStatus assemble_contacts(const TalusOperator *op, TalusSparse *out)
{
    Assembly a = {.op = op, .out = out};
    const int rows = op->rows, n = rows * op->blocks;
    size_t entries = 0;
    for (int i = 0; i < op->blocks; i++)
        entries += (size_t)rows * count_row_entries(op, i);
    TALUS_TRY(talus_sparse_alloc(out, n, n, entries, "matrix N"));
    TalusStatus status = TALUS_ALLOC(a.arm, 2 * (size_t)n, "matrix N");
    if (status != TALUS_OK) {
        talus_sparse_clear(out);
        return status;
    }
    for (int i = 0; i < op->blocks; i++) {
        int32_t count = (int32_t)count_row_entries(op, i);
        for (int k = 0; k < rows; k++)
            out->start[i * rows + k + 1] = out->start[i * rows + k] + count;
        talus_jacobian_rows(op, i, 0, a.arm + (size_t)(2 * i) * (size_t)rows);
        talus_jacobian_rows(op, i, 1, a.arm + (size_t)(2 * i + 1) * (size_t)rows);
    }
    talus_parallel(op->pool, op->blocks, BLOCK_GRAIN, fill_chunk, &a);
    talus_release(a.arm);
    return TALUS_OK;
}

/* Assembles N of an explicit problem, which has no E: sorts the columns of each row and adds up repeated ones. */
static TalusStatus assemble_rows(const TalusOperator *op, TalusSparse *out)
{
    const int n = op->rows * op->blocks;
    int32_t *row, entries = op->row_start[n];
    *out = (TalusSparse){0};
    TALUS_TRY(TALUS_ALLOC(row, (size_t)entries, "matrix N"));
    for (int i = 0; i < n; i++)
        for (int32_t k = op->row_start[i]; k < op->row_start[i + 1]; k++)
            row[k] = i;
    TalusTriplets t = {.rows = n,
                       .columns = n,
                       .count = (size_t)entries,
                       .row = row,
                       .column = op->column,
                       .value = op->values};
    TalusStatus status = talus_sparse_from_triplets(&t, out, "matrix N");
    talus_release(row);
    return status;
}

int64_t talus_problem_count_entries(const TalusProblem *p, int64_t limit)
{
    const TalusOperator *op = &p->op;
    int64_t entries = 0;
    if (!op->pair)
        return op->row_start[op->rows * op->blocks];
    for (int i = 0; i < op->blocks && entries <= limit; i++)
        entries += op->rows * (int64_t)count_row_entries(op, i);
    return entries;
}

TalusStatus talus_problem_assemble(const TalusProblem *p, TalusSparse *out)
{
    return p->op.pair ? assemble_contacts(&p->op, out) : assemble_rows(&p->op, out);
}

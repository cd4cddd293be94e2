/* solvers/ipm/ipm_schur.c - M2 = A_j M1^-1 A_j' + T_j: pattern, values, factor and solution (ipm_schur.h). */
#include "solvers/ipm/ipm_schur.h"

#include "base/memory.h"
#include "base/status.h"

#include <string.h>

/* Largest number of entries of the lower triangle of M2: 5,000 equations that are all connected. */
enum { MAX_ENTRIES = 12500000 };

/* Returns the row of A that is the first equation. */
static int first_row(const TalusQp *qp)
{
    return qp->first[qp->blocks - qp->free_joints];
}

/* ---- pattern ---- */

/* Returns the root of group g in the forest `parent`, and halves the path to it. */
static int32_t find_root(int32_t *parent, int32_t g)
{
    while (parent[g] != g) {
        parent[g] = parent[parent[g]];
        g = parent[g];
    }
    return g;
}

/* Fills parent[graph->rows] with a forest whose trees are the connected parts of the graph. */
static void connect_groups(const TalusSparse *graph, int32_t *parent)
{
    for (int g = 0; g < graph->rows; g++)
        parent[g] = g;
    for (int g = 0; g < graph->rows; g++)
        for (int32_t e = graph->start[g]; e < graph->start[g + 1]; e++) {
            int32_t a = find_root(parent, g), b = find_root(parent, graph->column[e]);
            parent[a > b ? a : b] = a > b ? b : a;
        }
}

/* Memory of triplets whose values do not matter. */
typedef struct Pattern {
    int32_t *row, *column;
    double *value;
    size_t count;
} Pattern;

static TalusStatus reserve_pattern(Pattern *p, size_t capacity)
{
    *p = (Pattern){0};
    TALUS_TRY(TALUS_ALLOC(p->row, 2 * capacity + 1, "pattern of joints"));
    p->column = p->row + capacity;
    return TALUS_ALLOC(p->value, capacity, "pattern of joints");
}

static void add_entry(Pattern *p, int row, int column)
{
    p->row[p->count] = row;
    p->column[p->count++] = column;
}

/* Makes *out the matrix of the pattern and releases the pattern, also if `status`, that of the steps before, is a
 * failure, which is returned. */
static TalusStatus finish_pattern(Pattern *p, TalusStatus status, int rows, int columns,
                                  TalusSparse *out)
{
    TalusTriplets t = {rows, columns, p->count, p->row, p->column, p->value};
    TALUS_THEN(status, talus_sparse_from_triplets(&t, out, "pattern of joints"));
    TALUS_RELEASE(p->row, p->value);
    return status;
}

/* Sets `out`, equations x groups, to a pattern: the connected parts, by their roots, that each equation acts on. */
static TalusStatus set_parts(const TalusIpmSchur *c, const TalusQp *qp, int32_t *parent,
                             TalusSparse *out)
{
    const TalusSparse *a = &qp->a;
    int from = first_row(qp);
    Pattern p;
    TalusStatus status = reserve_pattern(&p, (size_t)(a->start[a->rows] - a->start[from]));
    for (int k = 0; status == TALUS_OK && k < c->rows; k++)
        for (int32_t e = a->start[from + k]; e < a->start[from + k + 1]; e++)
            add_entry(&p, k, find_root(parent, a->column[e] / 3));
    return finish_pattern(&p, status, c->rows, qp->bodies.groups, out);
}

/* Returns an upper bound of the number of entries of M2's lower triangle; members: transpose of set_parts(). */
static size_t count_entries(const TalusIpmSchur *c, const TalusSparse *members)
{
    size_t count = (size_t)c->rows;
    for (int part = 0; part < members->rows; part++) {
        size_t n = (size_t)(members->start[part + 1] - members->start[part]);
        count += n * (n + 1) / 2;
    }
    return count;
}

/* Sets c->lower to the pattern of M2: equations that act on the same part, and the diagonal. */
static TalusStatus set_pattern(TalusIpmSchur *c, const TalusSparse *parts,
                               const TalusSparse *members)
{
    size_t capacity = count_entries(c, members);
    Pattern p;
    if (capacity > MAX_ENTRIES)
        return talus_fail(
            TALUS_ERR_UNSUPPORTED,
            "joints: %d equations, which contacts connect, have a Schur complement of "
            "more than %d entries; ipm-aug and methods that eliminate joints, such as "
            "apgd, take that many",
            c->rows, MAX_ENTRIES);
    TalusStatus status = reserve_pattern(&p, capacity);
    for (int k = 0; status == TALUS_OK && k < c->rows; k++) {
        add_entry(&p, k, k);
        for (int32_t e = parts->start[k]; e < parts->start[k + 1]; e++) {
            int32_t part = parts->column[e], from = members->start[part];
            for (int32_t m = from; m < members->start[part + 1] && members->column[m] <= k; m++)
                add_entry(&p, k, members->column[m]);
        }
    }
    talus_sparse_clear(&c->lower);
    return finish_pattern(&p, status, c->rows, c->rows, &c->lower);
}

/* Finds the connected parts of the graph, and from them the pattern of M2. */
static TalusStatus find_pattern(TalusIpmSchur *c, const TalusQp *qp, const TalusSparse *graph)
{
    TalusSparse parts = {0}, members = {0};
    int32_t *parent;
    TALUS_TRY(TALUS_ALLOC(parent, (size_t)graph->rows, "pattern of joints"));
    connect_groups(graph, parent);
    TalusStatus status = set_parts(c, qp, parent, &parts);
    TALUS_THEN(status, talus_sparse_transpose(&parts, &members));
    TALUS_THEN(status, set_pattern(c, &parts, &members));
    talus_release(parent);
    talus_sparse_clear(&parts);
    talus_sparse_clear(&members);
    return status;
}

TalusStatus talus_ipm_schur_prepare(TalusIpmSchur *c, const TalusQp *qp, const TalusSparse *graph,
                                    TalusDirectKind kind)
{
    c->rows = qp->multipliers - first_row(qp);
    if (c->rows == 0)
        return TALUS_OK;
    TALUS_TRY(talus_direct_ensure(kind, &c->direct));
    TALUS_TRY(TALUS_GROW(c->velocity, 3 * (size_t)qp->bodies.groups, 0, "velocities"));
    TALUS_TRY(find_pattern(c, qp, graph));
    return talus_direct_analyse(c->direct, &c->lower, NULL);
}

/* ---- values, solution ---- */

/* v += s A_k', row k of A. */
static void add_row(const TalusQp *qp, int k, double s, double *v)
{
    for (int32_t e = qp->a.start[k]; e < qp->a.start[k + 1]; e++)
        v[qp->a.column[e]] += s * qp->a.value[e];
}

/* Returns A_k v. */
static double multiply_row(const TalusQp *qp, int k, const double *v)
{
    double sum = 0.0;
    for (int32_t e = qp->a.start[k]; e < qp->a.start[k + 1]; e++)
        sum += qp->a.value[e] * v[qp->a.column[e]];
    return sum;
}

/* Writes the rows of A_j M1^-1 A_j' to c->lower, one solution with M1 each. */
static TalusStatus fill_products(TalusIpmSchur *c, const TalusQp *qp, TalusDirect *m1)
{
    const int from = first_row(qp);
    TalusSparse *a = &c->lower;
    for (int k = 0; k < c->rows; k++) {
        memset(c->velocity, 0, 3 * (size_t)qp->bodies.groups * sizeof *c->velocity);
        add_row(qp, from + k, 1.0, c->velocity);
        TALUS_TRY(talus_direct_solve(m1, c->velocity));
        for (int32_t e = a->start[k]; e < a->start[k + 1]; e++)
            a->value[e] = multiply_row(qp, from + a->column[e], c->velocity);
    }
    return TALUS_OK;
}

/* Adds T_j and the compliance of free joints, which acts on their normal rows, to the diagonal. */
static void add_diagonal(TalusIpmSchur *c, const TalusQp *qp, double mass, const double *t)
{
    const int from = first_row(qp);
    for (int i = qp->blocks - qp->free_joints; i < qp->blocks; i++)
        for (int k = qp->first[i]; k < qp->first[i + 1]; k++) {
            double e = qp->compliance ? mass * qp->compliance[i] * qp->edge[k][0] : 0.0;
            c->lower.value[c->lower.start[k - from + 1] - 1] += t[k] + e;
        }
}

TalusStatus talus_ipm_schur_factor(TalusIpmSchur *c, const TalusQp *qp, TalusDirect *m1,
                                   double mass, const double *t)
{
    if (c->rows == 0)
        return TALUS_OK;
    TALUS_TRY(fill_products(c, qp, m1));
    add_diagonal(c, qp, mass, t);
    return talus_direct_factor(c->direct, &c->lower);
}

TalusStatus talus_ipm_schur_solve(TalusIpmSchur *c, const TalusQp *qp, TalusDirect *m1, double *v,
                                  double *y)
{
    const int from = first_row(qp);
    if (c->rows > 0) {
        memcpy(c->velocity, v, 3 * (size_t)qp->bodies.groups * sizeof *v);
        TALUS_TRY(talus_direct_solve(m1, c->velocity));
        for (int k = 0; k < c->rows; k++)
            y[k] -= multiply_row(qp, from + k, c->velocity);
        TALUS_TRY(talus_direct_solve(c->direct, y));
        for (int k = 0; k < c->rows; k++)
            add_row(qp, from + k, y[k], v);
    }
    return talus_direct_solve(m1, v);
}

void talus_ipm_schur_clear(TalusIpmSchur *c)
{
    talus_direct_destroy(c->direct);
    talus_sparse_clear(&c->lower);
    talus_release(c->velocity);
    *c = (TalusIpmSchur){0};
}

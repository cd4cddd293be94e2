/* problem/qp.c - the quadratic programs, primal and dual, of a problem with polygonal cones (qp.h), and conversions
 * between impulses and multipliers. */
#include "problem/qp.h"

#include "base/memory.h"
#include "base/status.h"
#include "linalg/block_matrix.h"

#include <math.h>
#include <string.h>

/* ---- edges ---- */

/* True if block i has tangential rows and a positive coefficient of friction. */
static bool has_friction(const TalusOperator *op, int i)
{
    return op->rows == 3 && op->mu[i] > 0.0;
}

static bool is_joint(const TalusOperator *op, int i)
{
    return op->model && op->model[i].section == TALUS_SECTION_JOINT;
}

/* True if joint i acts in row r: only there its impulse may be other than 0. */
static bool joint_acts_in(const TalusOperator *op, int i, int r)
{
    return op->model[i].sides >> r & 1 && op->mu[i] > 0.0;
}

/* Returns the number of edges of the cone of block i: 1 without friction; of a joint, the rows in which it acts. */
static int edge_count(const TalusOperator *op, int i)
{
    if (is_joint(op, i))
        return joint_acts_in(op, i, 0) + joint_acts_in(op, i, 1) + joint_acts_in(op, i, 2);
    if (!has_friction(op, i))
        return 1;
    return talus_model_corner_count(&op->model[i]);
}

/* Writes the edges of block i: (1, mu corner) for each corner of the section; (1, 0, 0) without friction. */
static void write_edges(const TalusOperator *op, int i, int count, double (*edge)[3])
{
    for (int k = 0; k < count; k++) {
        double t[2] = {0.0, 0.0}, mu = has_friction(op, i) ? op->mu[i] : 0.0;
        if (mu > 0.0)
            talus_model_corner(&op->model[i], k, t);
        edge[k][0] = 1.0;
        edge[k][1] = mu * t[0];
        edge[k][2] = mu * t[1];
    }
}

/* Fails if block i has friction other than a cone over a polygon or square or, unless `joints`, is a joint. */
static TalusStatus check_block(const TalusOperator *op, int i, bool joints)
{
    const TalusBlockModel *m = op->model ? &op->model[i] : NULL;
    if (is_joint(op, i) && !joints)
        return talus_fail(TALUS_ERR_UNSUPPORTED,
                          "contact %d: it is a joint; a quadratic program of cones has contacts "
                          "alone",
                          i);
    if (is_joint(op, i) || !has_friction(op, i))
        return TALUS_OK;
    if (!m || m->section == TALUS_SECTION_DISC)
        return talus_fail(TALUS_ERR_UNSUPPORTED,
                          "contact %d: its friction cone is circular; a quadratic program has "
                          "polygons or squares as sections",
                          i);
    if (m->law == TALUS_LAW_FIXED || (m->law == TALUS_LAW_COULOMB && op->prisms))
        return talus_fail(
            TALUS_ERR_UNSUPPORTED,
            "contact %d: the bounds of its friction are given; a quadratic program of "
            "cones has them from the impulses themselves",
            i);
    return TALUS_OK;
}

/* Fails if some block is none that a quadratic program of cones can have. */
static TalusStatus check_blocks(const TalusOperator *op, bool joints)
{
    if (op->rows == 6)
        return talus_fail(TALUS_ERR_UNSUPPORTED, "friction against turning has no polygonal cone");
    for (int i = 0; i < op->blocks; i++)
        TALUS_TRY(check_block(op, i, joints));
    return TALUS_OK;
}

/* Writes edges, scales and bounds of contact i, from multiplier `at` on. */
static void fill_contact(TalusQp *qp, const TalusOperator *op, int i, int32_t at)
{
    int count = qp->first[i + 1] - at;
    double mu = has_friction(op, i) ? op->mu[i] : 0.0;
    write_edges(op, i, count, qp->edge + at);
    for (int k = at; k < at + count; k++) {
        qp->scale[k] = op->diagonal[i][0] + mu * mu * fmax(op->diagonal[i][1], 0.0);
        qp->bound[k] = 0.0;
    }
}

/* The same for joint i. */
static void fill_joint(TalusQp *qp, const TalusOperator *op, int i, int32_t at)
{
    for (int r = 0; r < op->rows; r++)
        if (joint_acts_in(op, i, r)) {
            memset(qp->edge[at], 0, sizeof qp->edge[at]);
            qp->edge[at][r] = 1.0;
            qp->scale[at] = op->diagonal[i][r > 0];
            qp->bound[at++] = op->mu[i];
        }
}

/* Fills first, edge, scale, bound, multipliers and free_joints of qp. */
static TalusStatus fill_edges(TalusQp *qp, const TalusOperator *op)
{
    size_t blocks = (size_t)op->blocks;
    TALUS_TRY(TALUS_GROW(qp->first, blocks + 1, 0, "multipliers"));
    int64_t count = 0;
    for (int i = 0; i < op->blocks; i++) {
        qp->first[i] = (int32_t)count;
        count += edge_count(op, i);
        if (count > INT32_MAX)
            return talus_fail(TALUS_ERR_UNSUPPORTED, "quadratic program: more than %d multipliers",
                              INT32_MAX);
    }
    qp->first[op->blocks] = (int32_t)count;
    qp->multipliers = (int)count;
    size_t n = (size_t)count;
    TALUS_TRY(TALUS_GROW(qp->edge, n, 0, "edges of cones"));
    TALUS_TRY(TALUS_GROW(qp->scale, n, 0, "scales"));
    TALUS_TRY(TALUS_GROW(qp->bound, n, 0, "bounds"));
    for (int i = 0; i < op->blocks; i++)
        if (is_joint(op, i))
            fill_joint(qp, op, i, qp->first[i]);
        else
            fill_contact(qp, op, i, qp->first[i]);
    qp->free_joints = op->pair ? op->joints : 0;
    return TALUS_OK;
}

/* ---- the primal form ---- */

/* Appends to A, from entry *at on, the row of one edge of contact i: the sum over k of edge[k] times row k of the
 * contact in D'. Columns rise. */
static void append_row(const TalusSparse *d, int rows, int i, const double *edge, TalusSparse *a,
                       int32_t *at)
{
    int32_t place[3] = {0}, end[3] = {0};
    for (int k = 0; k < rows; k++) {
        place[k] = d->start[i * rows + k];
        end[k] = edge[k] != 0.0 ? d->start[i * rows + k + 1] : place[k];
    }
    for (;;) {
        int32_t column = INT32_MAX;
        double sum = 0.0;
        for (int k = 0; k < rows; k++)
            if (place[k] < end[k] && d->column[place[k]] < column)
                column = d->column[place[k]];
        if (column == INT32_MAX)
            return;
        for (int k = 0; k < rows; k++)
            if (place[k] < end[k] && d->column[place[k]] == column)
                sum += edge[k] * d->value[place[k]++];
        a->column[*at] = column;
        a->value[(*at)++] = sum;
    }
}

/* Fills bodies, a and b of qp: the primal form. */
static TalusStatus fill_primal(TalusQp *qp, const TalusProblem *problem)
{
    const TalusSparse *d = &qp->bodies.transposed;
    size_t n = (size_t)qp->multipliers;
    int32_t at = 0;
    TALUS_TRY(talus_jacobian_fill(&qp->bodies, problem));
    talus_sparse_clear(&qp->a);
    TALUS_TRY(talus_sparse_alloc(&qp->a, (int)n, 3 * qp->bodies.groups, 12 * n,
                                 "constraints of the quadratic program"));
    TALUS_TRY(TALUS_GROW(qp->b, n, 0, "right-hand side"));
    for (int i = 0; i < qp->blocks; i++)
        for (int k = qp->first[i]; k < qp->first[i + 1]; k++) {
            append_row(d, qp->rows, i, qp->edge[k], &qp->a, &at);
            qp->a.start[k + 1] = at;
        }
    for (size_t k = 0; k < n; k++)
        qp->b[k] = -qp->kappa[k];
    talus_sparse_add_product(&qp->a, 1.0, qp->bodies.free_velocity, qp->b);
    qp->has_primal = true;
    return TALUS_OK;
}

/* ---- the quadratic program ---- */

/* Copies the compliances of op to qp; qp->compliance is NULL if op has none. */
static TalusStatus fill_compliance(TalusQp *qp, const TalusOperator *op)
{
    size_t blocks = (size_t)op->blocks;
    qp->compliance = NULL;
    if (!op->compliance)
        return TALUS_OK;
    TALUS_TRY(TALUS_GROW(qp->compliance_store, blocks, 0, "compliance"));
    memcpy(qp->compliance_store, op->compliance, blocks * sizeof *op->compliance);
    qp->compliance = qp->compliance_store;
    return TALUS_OK;
}

/* Fills qp from the problem, which may have joints if `joints`. */
static TalusStatus fill_qp(TalusQp *qp, TalusProblem *problem, bool joints)
{
    const TalusOperator *op = &problem->op;
    if (problem->lent)
        return talus_fail(TALUS_ERR_UNSUPPORTED,
                          "quadratic program: the problem's data are not on the host");
    TALUS_TRY(check_blocks(op, joints));
    qp->blocks = op->blocks;
    qp->rows = op->rows;
    qp->has_primal = false;
    TALUS_TRY(fill_edges(qp, op));
    TALUS_TRY(fill_compliance(qp, op));
    size_t size = (size_t)op->rows * (size_t)op->blocks;
    TALUS_TRY(TALUS_GROW(qp->offset, size, 0, "offsets"));
    TALUS_TRY(TALUS_GROW(qp->kappa, (size_t)qp->multipliers, 0, "offsets"));
    talus_problem_offset(problem, qp->offset);
    talus_qp_slacks(qp, qp->offset, qp->kappa);
    return op->pair ? fill_primal(qp, problem) : TALUS_OK;
}

TalusStatus talus_qp_fill(TalusQp *qp, TalusProblem *problem)
{
    return fill_qp(qp, problem, false);
}

TalusStatus talus_qp_fill_with_joints(TalusQp *qp, TalusProblem *problem)
{
    return fill_qp(qp, problem, true);
}

void talus_qp_clear(TalusQp *qp)
{
    TALUS_RELEASE(qp->first, qp->edge, qp->bound, qp->compliance_store, qp->scale, qp->kappa, qp->b,
                  qp->offset);
    talus_jacobian_clear(&qp->bodies);
    talus_sparse_clear(&qp->a);
    memset(qp, 0, sizeof *qp);
}

/* ---- conversions ---- */

void talus_qp_slacks(const TalusQp *qp, const double *u, double *out)
{
    const int rows = qp->rows;
    for (int i = 0; i < qp->blocks; i++)
        for (int k = qp->first[i]; k < qp->first[i + 1]; k++) {
            double sum = 0.0;
            for (int r = 0; r < rows; r++)
                sum += qp->edge[k][r] * u[i * rows + r];
            out[k] = sum;
        }
}

void talus_qp_impulses(const TalusQp *qp, const double *lambda, double *gamma)
{
    const int rows = qp->rows;
    for (int i = 0; i < qp->blocks; i++) {
        double sum[3] = {0.0, 0.0, 0.0};
        for (int k = qp->first[i]; k < qp->first[i + 1]; k++)
            for (int r = 0; r < rows; r++)
                sum[r] += qp->edge[k][r] * lambda[k];
        memcpy(gamma + i * rows, sum, (size_t)rows * sizeof *gamma);
    }
}

/* Solves share[0] c + share[1] d = t; neither share is negative if t lies between the corners c and d. */
static void share_between(const double *c, const double *d, const double *t, double share[2])
{
    double det = c[0] * d[1] - c[1] * d[0];
    share[0] = (t[0] * d[1] - t[1] * d[0]) / det;
    share[1] = (c[0] * t[1] - c[1] * t[0]) / det;
}

/* Writes the multipliers lambda[count] >= 0 of one block whose combination of edges is gamma. The tangential part t is
 * divided between the two corners of its sector; the rest of the normal part is divided equally among all edges, whose
 * tangential parts add up to zero. By rounding, t may lie slightly outside the polygon or, on the border of two
 * sectors, in neither of them: the sector whose smaller share is largest is taken. */
static void split_impulse(double (*const edge)[3], int count, const double *gamma, double *lambda)
{
    double best = -INFINITY, share[2] = {0.0, 0.0};
    int sector = 0;
    for (int k = 0; k < count; k++) {
        double here[2];
        share_between(edge[k] + 1, edge[(k + 1) % count] + 1, gamma + 1, here);
        if (fmin(here[0], here[1]) > best) {
            best = fmin(here[0], here[1]);
            sector = k;
            share[0] = fmax(here[0], 0.0);
            share[1] = fmax(here[1], 0.0);
        }
    }
    double rest = fmax(gamma[0] - share[0] - share[1], 0.0) / count;
    for (int k = 0; k < count; k++)
        lambda[k] = rest;
    lambda[sector] += share[0];
    lambda[(sector + 1) % count] += share[1];
}

/* Writes the multipliers of a joint, the rows of its impulse in which it acts. */
static void pick_rows(double (*const edge)[3], int count, const double *gamma, double *lambda)
{
    for (int k = 0; k < count; k++)
        lambda[k] = edge[k][0] * gamma[0] + edge[k][1] * gamma[1] + edge[k][2] * gamma[2];
}

void talus_qp_multipliers(const TalusQp *qp, const double *gamma, double *lambda)
{
    for (int i = 0; i < qp->blocks; i++) {
        int at = qp->first[i], count = qp->first[i + 1] - at;
        if (count > 0 && qp->bound[at] > 0.0)
            pick_rows(qp->edge + at, count, gamma + i * qp->rows, lambda + at);
        else if (count == 1)
            lambda[at] = gamma[i * qp->rows];
        else if (count > 1)
            split_impulse(qp->edge + at, count, gamma + i * qp->rows, lambda + at);
    }
}

/* ---- P ---- */

/* Returns the number of entries of P in the row of the first edge of block i; n is N + E in blocks. With `lower` only
 * the entries up to the diagonal count; the row of each further edge of the block then has one entry more than the row
 * before. */
static int64_t count_row_entries(const TalusQp *qp, const TalusBlockMatrix *n, int i, bool lower)
{
    int64_t count = 0;
    for (int32_t e = n->start[i]; e < n->start[i + 1]; e++) {
        int j = n->column[e];
        if (!lower || j < i)
            count += qp->first[j + 1] - qp->first[j];
    }
    return count + (lower ? 1 : 0);
}

/* Returns the entry (k, l) of P, from the block of N + E between the contacts of edges k and l. */
static double edge_coupling(const TalusQp *qp, const double *block, int k, int l)
{
    double sum = 0.0;
    for (int r = 0; r < qp->rows; r++)
        for (int c = 0; c < qp->rows; c++)
            sum += qp->edge[k][r] * block[r * qp->rows + c] * qp->edge[l][c];
    return sum;
}

/* Writes P = G'(N + E) G or, with `lower`, its lower triangle with diagonal. */
static TalusStatus fill_dual_matrix(const TalusQp *qp, const TalusBlockMatrix *n, bool lower,
                                    TalusSparse *out)
{
    int64_t entries = 0;
    for (int i = 0; i < qp->blocks; i++) {
        int64_t edges = qp->first[i + 1] - qp->first[i], row = count_row_entries(qp, n, i, lower);
        entries += edges * row + (lower ? edges * (edges - 1) / 2 : 0);
    }
    TALUS_TRY(talus_sparse_alloc(out, qp->multipliers, qp->multipliers, (size_t)entries,
                                 "matrix of the dual"));
    int32_t at = 0;
    for (int i = 0; i < qp->blocks; i++)
        for (int k = qp->first[i]; k < qp->first[i + 1]; k++) {
            for (int32_t e = n->start[i]; e < n->start[i + 1]; e++) {
                int j = n->column[e];
                const double *block = n->value + (size_t)e * (size_t)(qp->rows * qp->rows);
                for (int l = qp->first[j]; l < qp->first[j + 1] && (!lower || l <= k); l++) {
                    out->column[at] = l;
                    out->value[at++] = edge_coupling(qp, block, k, l);
                }
            }
            out->start[k + 1] = at;
        }
    return TALUS_OK;
}

/* Replaces N by (N + N') / 2, which leaves a symmetric N unchanged. */
static void symmetrise(const TalusBlockMatrix *n)
{
    const int size = n->size;
    for (int32_t e = 0; e < n->start[n->blocks]; e++) {
        double *one = n->value + (size_t)e * (size_t)(size * size);
        double *other = n->value + (size_t)n->mirror[e] * (size_t)(size * size);
        for (int r = 0; r < size && n->mirror[e] >= e; r++)
            for (int c = 0; c < size; c++) {
                double mean = 0.5 * (one[r * size + c] + other[c * size + r]);
                one[r * size + c] = other[c * size + r] = mean;
            }
    }
}

TalusStatus talus_qp_dual_matrix(const TalusQp *qp, const TalusProblem *problem, bool lower,
                                 TalusSparse *out)
{
    TalusSparse whole;
    TalusBlockMatrix n;
    *out = (TalusSparse){0};
    TALUS_TRY(talus_problem_assemble(problem, &whole));
    TalusStatus status = talus_block_matrix_create(&whole, qp->rows, &n);
    talus_sparse_clear(&whole);
    TALUS_TRY(status);
    if (lower)
        symmetrise(&n);
    status = fill_dual_matrix(qp, &n, lower, out);
    talus_block_matrix_clear(&n);
    return status;
}

/* ---- OOQP's scale ---- */

/* Returns the largest of so_far and |x[0]| to |x[n - 1]|. */
static double max_magnitude(const double *x, size_t n, double so_far)
{
    for (size_t k = 0; k < n; k++)
        so_far = fmax(so_far, fabs(x[k]));
    return so_far;
}

double talus_qp_data_scale(const TalusQp *qp, const TalusSparse *p)
{
    const TalusJacobian *j = &qp->bodies;
    size_t n = (size_t)qp->multipliers;
    if (!qp->has_primal)
        return max_magnitude(qp->kappa, n,
                             p ? max_magnitude(p->value, (size_t)p->start[p->rows], 0.0) : 0.0);
    double max = max_magnitude(qp->b, n, max_magnitude(qp->a.value, (size_t)qp->a.start[n], 0.0));
    for (int g = 0; g < j->groups; g++) {
        const double *v = j->free_velocity + 3 * g;
        TalusVec3 f = talus_sym3_mul(j->mass[g], talus_vec3(v[0], v[1], v[2]));
        max = max_magnitude(&j->mass[g].xx, sizeof j->mass[g] / sizeof(double), max);
        max = max_magnitude(&f.x, 3, max);
    }
    return max;
}

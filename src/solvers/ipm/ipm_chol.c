/* solvers/ipm/ipm_chol.c - interior point on the normal equations, petra-2009's OOQP-CHOL (Section 3.1.3).
 *
 * With A = G'D' (problem/qp.h) the matrix M1 = M + A'D2 A is M + D H D'. H_i, at most 3 x 3, is the sum of g g' / t
 * over the edges g of contact i's cone, with t the edge's entry of T. For a compliant contact, diag(t) + e 1 1'
 * replaces diag(t), e its compliance; Sherman and Morrison's inverse of that turns H into H - e h h' / (1 + e h_n),
 * with h the first column of H. Joints with bounds are blocks like contacts; rows of free joints are equations, which
 * ipm_schur.c eliminates last (Eq. 34 and 35). Unknowns come in groups of three: a body's velocity or its spin. The
 * pattern of M1, with the index of each pair of groups that share a contact, is found once per set of contacts: an
 * iteration only adds numbers. */
#include "solvers/ipm/ipm_qp.h"

#include "base/memory.h"
#include "base/order.h"
#include "base/status.h"

#include <string.h>

/* ---- pattern ---- */

/* Returns the number of blocks that M1 includes: all but free joints, which come last. */
static int block_count(const TalusQp *qp)
{
    return qp->blocks - qp->free_joints;
}

/* Lists the groups that contact i acts on, and its entries of D'. The groups are taken from the first tangential row if
 * there is one, as the normal row may lack some: that of a sphere has no spin. */
static void set_groups(const TalusQp *qp, int i, TalusIpmContact *c)
{
    const TalusSparse *d = &qp->bodies.transposed;
    memset(c, 0, sizeof *c);
    int widest = i * qp->rows + (qp->rows > 1 ? 1 : 0);
    for (int32_t e = d->start[widest]; e < d->start[widest + 1]; e += 3)
        c->group[c->groups++] = d->column[e] / 3;
    for (int r = 0; r < qp->rows; r++) {
        int p = 0, row = i * qp->rows + r;
        for (int32_t e = d->start[row]; e < d->start[row + 1]; e++) {
            while (c->group[p] != d->column[e] / 3)
                p++;
            c->d[p][3 * r + d->column[e] % 3] = d->value[e];
        }
    }
}

/* Sets `graph` to a pattern: the lower triangle, with the diagonal, of pairs of groups that share a contact. */
static TalusStatus set_graph(const TalusIpmSystem *s, TalusSparse *graph)
{
    int groups = s->qp->bodies.groups, blocks = block_count(s->qp);
    size_t capacity = TALUS_IPM_PAIRS * (size_t)blocks + (size_t)groups, count = 0;
    int32_t *row;
    double *value;
    TALUS_TRY(TALUS_ALLOC(row, 2 * capacity, "pattern of bodies"));
    TalusStatus status = TALUS_ALLOC(value, capacity, "pattern of bodies");
    int32_t *column = row + capacity;
    for (int g = 0; status == TALUS_OK && g < groups; g++) {
        row[count] = g;
        column[count++] = g;
    }
    for (int i = 0; status == TALUS_OK && i < blocks; i++)
        for (int p = 0; p < s->contact[i].groups; p++)
            for (int q = 0; q < p; q++) {
                row[count] = s->contact[i].group[p];
                column[count++] = s->contact[i].group[q];
            }
    TALUS_THEN(status, talus_sparse_from_triplets(
                           &(TalusTriplets){groups, groups, count, row, column, value}, graph,
                           "pattern of bodies"));
    TALUS_RELEASE(row, value);
    return status;
}

/* Allocates `lower`, M1, with the pattern of the graph expanded: a group becomes three rows, an entry 3 x 3 entries,
 * and the last entry of a row, the group itself, a triangle. */
static TalusStatus set_pattern(TalusSparse *lower, const TalusSparse *graph)
{
    int32_t at = 0;
    size_t entries = 9 * (size_t)talus_sparse_entries(graph) - 3 * (size_t)graph->rows;
    talus_sparse_clear(lower);
    TALUS_TRY(
        talus_sparse_alloc(lower, 3 * graph->rows, 3 * graph->rows, entries, "normal equations"));
    for (int g = 0; g < graph->rows; g++)
        for (int r = 0; r < 3; r++) {
            for (int32_t e = graph->start[g]; e < graph->start[g + 1]; e++)
                for (int c = 0; c < 3 && (graph->column[e] < g || c <= r); c++)
                    lower->column[at++] = 3 * graph->column[e] + c;
            lower->start[3 * g + r + 1] = at;
        }
    return TALUS_OK;
}

/* Returns the index, from 0, of an entry within its row. By bisection, since one body may touch all others. */
static int32_t find_column_index(const TalusSparse *graph, int row, int column)
{
    const int32_t *start = &graph->start[row];
    return talus_sorted_index(graph->column, start[0], start[1], column) - start[0];
}

/* Sets c->pair_column for all pairs of groups of the contact. */
static void set_pair_columns(const TalusSparse *graph, TalusIpmContact *c)
{
    for (int p = 0; p < c->groups; p++)
        for (int q = 0; q <= p; q++)
            c->pair_column[p * (p + 1) / 2 + q] =
                find_column_index(graph, c->group[p], c->group[q]);
}

/* `prepare` of TalusIpmForm. */
static TalusStatus prepare_normal(TalusIpmSystem *s, const TalusProblem *problem)
{
    const TalusQp *qp = s->qp;
    const int blocks = block_count(qp);
    TalusSparse graph = {0};
    (void)problem;
    TALUS_TRY(TALUS_GROW(s->contact, (size_t)blocks, 0, "contacts"));
    for (int i = 0; i < blocks; i++)
        set_groups(qp, i, &s->contact[i]);
    TALUS_TRY(set_graph(s, &graph));
    TalusStatus status = set_pattern(&s->lower, &graph);
    for (int i = 0; i < blocks; i++)
        set_pair_columns(&graph, &s->contact[i]);
    TALUS_THEN(status, talus_ipm_schur_prepare(&s->schur, qp, &graph, s->kind));
    talus_sparse_clear(&graph);
    return status;
}

/* ---- values of the matrix ---- */

/* Sets M1 to M / s->mass. */
static void set_masses(TalusIpmSystem *s)
{
    const TalusJacobian *j = &s->qp->bodies;
    TalusSparse *a = &s->lower;
    memset(a->value, 0, (size_t)a->start[a->rows] * sizeof *a->value);
    for (int g = 0; g < j->groups; g++) {
        TalusSym3 m = j->mass[g];
        const double by_row[3][3] = {{m.xx}, {m.xy, m.yy}, {m.xz, m.yz, m.zz}};
        for (int r = 0; r < 3; r++)
            for (int c = 0; c <= r; c++)
                a->value[a->start[3 * g + r + 1] - 1 - r + c] = by_row[r][c] / s->mass;
    }
}

/* Writes H of contact i divided by s->mass, both triangles; s->t is T times s->mass. */
static void fill_contact_block(const TalusIpmSystem *s, int i, double h[3][3])
{
    const TalusQp *qp = s->qp;
    memset(h, 0, 9 * sizeof **h);
    for (int k = qp->first[i]; k < qp->first[i + 1]; k++) {
        const double *g = qp->edge[k], over = 1.0 / s->t[k];
        for (int r = 0; r < qp->rows; r++)
            for (int c = 0; c < qp->rows; c++)
                h[r][c] += over * g[r] * g[c];
    }
    if (!qp->compliance || !(qp->compliance[i] > 0.0))
        return;
    double e = s->mass * qp->compliance[i], part = e / (1.0 + e * h[0][0]);
    double first[3] = {h[0][0], h[1][0], h[2][0]};
    for (int r = 0; r < qp->rows; r++)
        for (int c = 0; c < qp->rows; c++)
            h[r][c] -= part * first[r] * first[c];
}

/* Adds d_p'H d_q to M1 for every pair p >= q of the contact's groups, d_p its entries of D' (contact->d). */
static void add_contact(TalusSparse *a, const TalusIpmContact *contact, int rows, double h[3][3])
{
    for (int q = 0; q < contact->groups; q++) {
        double hd[3][3] = {{0.0}};
        for (int r = 0; r < rows; r++)
            for (int k = 0; k < rows; k++)
                for (int c = 0; c < 3; c++)
                    hd[r][c] += h[r][k] * contact->d[q][3 * k + c];
        for (int p = q; p < contact->groups; p++) {
            const double *d = contact->d[p];
            int32_t slot = 3 * contact->pair_column[p * (p + 1) / 2 + q];
            for (int r = 0; r < 3; r++) {
                double *row = a->value + a->start[3 * contact->group[p] + r] + slot;
                for (int c = 0; c < (p == q ? r + 1 : 3); c++)
                    for (int k = 0; k < rows; k++)
                        row[c] += d[3 * k + r] * hd[k][c];
            }
        }
    }
}

/* `fill` of TalusIpmForm: M1 / s->mass. */
static void fill_normal(TalusIpmSystem *s)
{
    double h[3][3];
    set_masses(s);
    for (int i = 0; i < block_count(s->qp); i++) {
        fill_contact_block(s, i, h);
        add_contact(&s->lower, &s->contact[i], s->qp->rows, h);
    }
}

/* `factor` of TalusIpmForm: M2 of Eq. 34. */
static TalusStatus factor_equations(TalusIpmSystem *s)
{
    return talus_ipm_schur_factor(&s->schur, s->qp, s->direct, s->mass, s->t);
}

/* ---- solution ---- */

/* y = S^-1 y / s->mass, y of the edges of contact i; S = T + e g g', e the compliance, g the edges' normal parts: 1 but
 * in rows of joints (ipm_system.h). */
static void apply_inverse_s(const TalusIpmSystem *s, int i, double *y)
{
    const TalusQp *qp = s->qp;
    int at = qp->first[i], count = qp->first[i + 1] - at;
    double sum = 0.0, over = 0.0;
    for (int k = 0; k < count; k++) {
        double normal = qp->edge[at + k][0];
        y[k] /= s->t[at + k];
        sum += normal * y[k];
        over += normal * normal / s->t[at + k];
    }
    if (!qp->compliance || !(qp->compliance[i] > 0.0))
        return;
    double e = s->mass * qp->compliance[i], part = e * sum / (1.0 + e * over);
    for (int k = 0; k < count; k++)
        y[k] -= part * qp->edge[at + k][0] / s->t[at + k];
}

/* s->x += D_i G_i y: adds the body impulses of the multipliers y of contact i. */
static void add_body_impulses(TalusIpmSystem *s, int i, const double *y)
{
    const TalusQp *qp = s->qp;
    const TalusIpmContact *c = &s->contact[i];
    double impulse[3] = {0.0, 0.0, 0.0};
    for (int k = qp->first[i]; k < qp->first[i + 1]; k++)
        for (int r = 0; r < qp->rows; r++)
            impulse[r] += qp->edge[k][r] * y[k - qp->first[i]];
    for (int p = 0; p < c->groups; p++)
        for (int r = 0; r < qp->rows; r++)
            for (int a = 0; a < 3; a++)
                s->x[3 * c->group[p] + a] += c->d[p][3 * r + a] * impulse[r];
}

/* y -= G_i'D_i'x: subtracts the velocities along the edges of contact i that belong to body velocities x, in s->x. */
static void subtract_edge_velocities(const TalusIpmSystem *s, int i, double *y)
{
    const TalusQp *qp = s->qp;
    const TalusIpmContact *c = &s->contact[i];
    double u[3] = {0.0, 0.0, 0.0};
    for (int p = 0; p < c->groups; p++)
        for (int r = 0; r < qp->rows; r++)
            for (int a = 0; a < 3; a++)
                u[r] += c->d[p][3 * r + a] * s->x[3 * c->group[p] + a];
    for (int k = qp->first[i]; k < qp->first[i + 1]; k++)
        for (int r = 0; r < qp->rows; r++)
            y[k - qp->first[i]] -= qp->edge[k][r] * u[r];
}

/* `solve` of TalusIpmForm. */
static TalusStatus solve_normal(TalusIpmSystem *s, double *x)
{
    const TalusQp *qp = s->qp;
    const int blocks = block_count(qp);
    double y[TALUS_SIDES_MAX];
    memset(s->x, 0, (size_t)s->lower.rows * sizeof *s->x);
    for (int i = 0; i < blocks; i++) {
        size_t bytes = (size_t)(qp->first[i + 1] - qp->first[i]) * sizeof *y;
        memcpy(y, x + qp->first[i], bytes);
        apply_inverse_s(s, i, y);
        add_body_impulses(s, i, y);
    }
    TALUS_TRY(talus_ipm_schur_solve(&s->schur, qp, s->direct, s->x, x + qp->first[blocks]));
    for (int i = 0; i < blocks; i++) {
        double *r = x + qp->first[i];
        subtract_edge_velocities(s, i, r);
        apply_inverse_s(s, i, r);
    }
    for (int k = 0; k < qp->multipliers; k++)
        x[k] *= s->mass;
    return TALUS_OK;
}

const TalusIpmForm talus_ipm_normal = {.prepare = prepare_normal,
                                       .fill = fill_normal,
                                       .factor = factor_equations,
                                       .solve = solve_normal};

/* ---- the solver ---- */

static const char *const linear[] = {"auto", "cholmod", "ldl", NULL};
static const TalusParam params[] = {TALUS_IPM_PARAMS(linear)};

const TalusSolverType talus_solver_ipm_chol = {
    .name = "ipm-chol",
    .summary = "interior point on polygonal cones, bodies as unknowns: Cholesky's factorisation",
    TALUS_PARAMS(params, TalusIpmParams),
    TALUS_IPM_FIELDS(&talus_ipm_normal, {TALUS_DIRECT_CHOLMOD, TALUS_DIRECT_LDL}),
};

/* problem/jacobian.c - D' and M of a problem with bodies (jacobian.h), from the operator's arrays. */
#include "problem/jacobian.h"

#include "base/memory.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

/* ---- groups ---- */

/* Returns l^2 I^-1 of a body, the block of M^-1 of its spin in the units of operator.h. */
static TalusSym3 spin_inverse_inertia(const TalusOperator *op, int body)
{
    double k = op->body[body][7];
    TalusSym3 m = {k, k, k, 0.0, 0.0, 0.0};
    if (op->inverse_inertia) {
        const double *i = op->inverse_inertia[body];
        m = (TalusSym3){i[0], i[1], i[2], i[3], i[4], i[5]};
    }
    return m;
}

/* True if m is positive definite, by its leading minors. */
static bool is_positive(TalusSym3 m)
{
    double second = m.xx * m.yy - m.xy * m.xy;
    double third =
        m.zz * second - m.yz * (m.xx * m.yz - m.xy * m.xz) + m.xz * (m.xy * m.yz - m.yy * m.xz);
    return m.xx > 0.0 && second > 0.0 && third > 0.0;
}

/* True if the diagonal of m is 0, as for a body that cannot rotate. */
static bool is_zero(TalusSym3 m)
{
    return m.xx == 0.0 && m.yy == 0.0 && m.zz == 0.0;
}

/* Appends the group of a body's velocity or, if `turns`, of its spin; `inverse` is its block of M^-1. */
static void add_group(TalusJacobian *j, const TalusOperator *op, int body, bool turns,
                      TalusSym3 inverse)
{
    int g = j->groups++;
    j->body[g] = body;
    j->turns[g] = turns;
    j->inverse[g] = inverse;
    j->mass[g] = talus_sym3_inverse(inverse);
    for (int c = 0; c < 3; c++)
        j->free_velocity[3 * g + c] = op->body[body][turns ? 4 + c : c];
}

/* A body and its number. */
typedef struct NumberedBody {
    uint64_t number;
    int32_t body;
} NumberedBody;

static int compare_numbers(const void *a, const void *b)
{
    const NumberedBody *x = a, *y = b;
    return x->number != y->number ? (x->number > y->number ? 1 : -1)
                                  : (x->body > y->body) - (x->body < y->body);
}

/* Fills order[op->bodies] with all bodies, by rising numbers (TalusBodyNumbers): a factor, and so its rounding, depends
 * on the order of the unknowns. */
static void order_bodies(const TalusOperator *op, NumberedBody *order)
{
    bool rising = true;
    for (int i = 0; i < op->bodies; i++) {
        order[i] = (NumberedBody){talus_body_number(&op->numbers, i), i};
        rising = rising && (i == 0 || order[i - 1].number < order[i].number);
    }
    if (!rising)
        qsort(order, (size_t)op->bodies, sizeof *order, compare_numbers);
}

/* Appends the groups of body i. Writes to place[2 i] the group of its velocity, to place[2 i + 1] the group of its spin;
 * -1 if the body has none. */
static TalusStatus add_body(TalusJacobian *j, const TalusOperator *op, int i, int32_t *place)
{
    double m = op->body[i][3];
    TalusSym3 spin = spin_inverse_inertia(op, i);
    place[2 * i] = m > 0.0 ? j->groups : -1;
    if (m > 0.0)
        add_group(j, op, i, false, (TalusSym3){m, m, m, 0.0, 0.0, 0.0});
    if (!is_positive(spin) && !is_zero(spin))
        return talus_fail(TALUS_ERR_UNSUPPORTED,
                          "body %d: its inverse inertia is singular but not zero, so it has no "
                          "inertia that a method with velocities as unknowns could use",
                          i);
    place[2 * i + 1] = is_zero(spin) ? -1 : j->groups;
    if (!is_zero(spin))
        add_group(j, op, i, true, spin);
    return TALUS_OK;
}

/* Fills the groups of j and `place` (add_body). */
static TalusStatus fill_groups(TalusJacobian *j, const TalusOperator *op, int32_t *place)
{
    NumberedBody *order;
    TalusStatus status = TALUS_OK;
    TALUS_TRY(TALUS_ALLOC(order, (size_t)op->bodies, "order of bodies"));
    order_bodies(op, order);
    j->groups = 0;
    for (int k = 0; k < op->bodies && status == TALUS_OK; k++)
        status = add_body(j, op, order[k].body, place);
    talus_release(order);
    return status;
}

/* ---- the matrix ---- */

/* Appends, from entry *at on, the three entries of a row of D' on one group; nothing if the group is -1. */
static void add_entries(TalusSparse *d, int group, const double *arm, int32_t *at)
{
    for (int c = 0; c < 3 && group >= 0; c++) {
        d->column[*at] = 3 * group + c;
        d->value[(*at)++] = arm[c];
    }
}

/* True if the groups of body b come before those of body a. */
static bool comes_before(const int32_t *place, int b, int a)
{
    int first_a = place[2 * a] >= 0 ? place[2 * a] : place[2 * a + 1];
    int first_b = place[2 * b] >= 0 ? place[2 * b] : place[2 * b + 1];
    return first_b < first_a;
}

/* Appends row k of contact i to D', columns rising. The normal row of a sphere contact has no entries on spins, the
 * row of a moment (k >= 3) none on velocities. `arm` has the rows of the contact on body a, then on body b. */
static void add_row(const TalusOperator *op, TalusSparse *d, const int32_t *place, int i, int k,
                    const TalusJacobianRow *arm, int32_t *at)
{
    int a = op->pair[i][0], b = op->pair[i][1];
    bool central = k == 0 && i < op->sphere_sphere + op->sphere_fixed;
    for (int turn = 0; turn < 2; turn++) {
        int side = (b >= 0 && comes_before(place, b, a)) != (turn == 1);
        int body = op->pair[i][side];
        if (body < 0)
            continue;
        const double *row = arm[side * op->rows + k];
        if (k < 3)
            add_entries(d, place[2 * body], row, at);
        if (!central)
            add_entries(d, place[2 * body + 1], row + 3, at);
    }
    d->start[i * op->rows + k + 1] = *at;
}

/* Fills j->transposed. */
static TalusStatus fill_matrix(TalusJacobian *j, const TalusOperator *op, const int32_t *place)
{
    TalusJacobianRow arm[2 * TALUS_ROWS];
    TalusSparse *d = &j->transposed;
    int32_t at = 0;
    size_t rows = (size_t)op->blocks * (size_t)op->rows;
    talus_sparse_clear(d);
    TALUS_TRY(talus_sparse_alloc(d, (int)rows, 3 * j->groups, 12 * rows,
                                 "matrix of contacts and bodies"));
    for (int i = 0; i < op->blocks; i++) {
        for (int side = 0; side < (op->pair[i][1] >= 0 ? 2 : 1); side++)
            talus_jacobian_rows(op, i, side, arm + side * op->rows);
        for (int k = 0; k < op->rows; k++)
            add_row(op, d, place, i, k, (const TalusJacobianRow *)arm, &at);
    }
    return TALUS_OK;
}

TalusStatus talus_jacobian_fill(TalusJacobian *j, const TalusProblem *problem)
{
    const TalusOperator *op = &problem->op;
    if (!op->pair)
        return talus_fail(TALUS_ERR_UNSUPPORTED,
                          "a problem given as a matrix has no bodies whose velocities could be "
                          "unknowns");
    size_t capacity = 2 * (size_t)op->bodies;
    TALUS_TRY(TALUS_GROW(j->body, capacity, 0, "bodies"));
    TALUS_TRY(TALUS_GROW(j->turns, capacity, 0, "bodies"));
    TALUS_TRY(TALUS_GROW(j->mass, capacity, 0, "masses"));
    TALUS_TRY(TALUS_GROW(j->inverse, capacity, 0, "masses"));
    TALUS_TRY(TALUS_GROW(j->free_velocity, 3 * capacity, 0, "velocities"));
    int32_t *place;
    TALUS_TRY(TALUS_ALLOC(place, capacity, "places of bodies"));
    TalusStatus status = fill_groups(j, op, place);
    TALUS_THEN(status, fill_matrix(j, op, place));
    talus_release(place);
    return status;
}

void talus_jacobian_clear(TalusJacobian *j)
{
    TALUS_RELEASE(j->body, j->turns, j->mass, j->inverse, j->free_velocity);
    talus_sparse_clear(&j->transposed);
    memset(j, 0, sizeof *j);
}

void talus_jacobian_divide_by_mass(const TalusJacobian *j, const double *x, double *y)
{
    for (int g = 0; g < j->groups; g++) {
        TalusVec3 v = {x[3 * g], x[3 * g + 1], x[3 * g + 2]};
        v = talus_sym3_mul(j->inverse[g], v);
        y[3 * g] = v.x;
        y[3 * g + 1] = v.y;
        y[3 * g + 2] = v.z;
    }
}

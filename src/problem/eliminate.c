/* problem/eliminate.c - see eliminate.h. */
#include "problem/eliminate.h"

#include "base/memory.h"
#include "base/status.h"
#include "problem/jacobian.h"

#include <math.h>
#include <string.h>

/* A contact that joints leave no motion to, but for rounding, has this share of its diagonal alone. */
static const double LEAST = 1e-9;

/* ---- rows ---- */

static bool has_row(const TalusOperator *op, int block, int k)
{
    return op->model[block].sides & (1 << k);
}

static int count_rows(const TalusOperator *op)
{
    int count = 0;
    for (int i = op->blocks - op->joints; i < op->blocks; i++)
        for (int k = 0; k < 3; k++)
            count += has_row(op, i, k);
    return count;
}

/* M^-1 of a body times the row. */
static void set_push(const TalusOperator *op, int body, const double arm[6], double push[6])
{
    for (int k = 0; k < 3; k++)
        push[k] = op->body[body][3] * arm[k];
    turn_body(op, body, op->body[body][7], arm + 3, push + 3);
}

static void set_row(const TalusOperator *op, int i, int k, TalusArm (*arm)[TALUS_ROWS],
                    TalusJointRow *row)
{
    memset(row, 0, sizeof *row);
    for (int side = 0; side < 2; side++) {
        row->body[side] = op->pair[i][side];
        if (row->body[side] < 0)
            continue;
        memcpy(row->arm[side], arm[side][k], sizeof row->arm[side]);
        set_push(op, row->body[side], row->arm[side], row->push[side]);
    }
    if (k > 0)
        return;
    row->bias = op->bias[i];
    row->compliance = op->compliance ? op->compliance[i] : 0.0;
}

static TalusStatus fill_rows(const TalusOperator *op, TalusElimination *e)
{
    TalusJointRow *row;
    TALUS_TRY(talus_elimination_rows(e, count_rows(op), &row));
    for (int i = op->blocks - op->joints; i < op->blocks; i++) {
        TalusArm arm[2][TALUS_ROWS];
        for (int side = 0; side < 2; side++)
            if (op->pair[i][side] >= 0)
                talus_jacobian_arms(op, i, side, arm[side]);
        for (int k = 0; k < 3; k++)
            if (has_row(op, i, k))
                set_row(op, i, k, arm, row++);
    }
    return TALUS_OK;
}

/* ---- diagonals ---- */

static void taken_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    TalusReduced *r = context;
    (void)chunk;
    for (int64_t v = begin; v < end; v++)
        talus_elimination_taken(r->joints, (int)v, r->taken[v]);
}

/* arm' T arm */
static double square_of(const double t[36], const double arm[6])
{
    double sum = 0.0;
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            sum += arm[i] * t[6 * i + j] * arm[j];
    return sum;
}

/* What joints take from the diagonal of block i: of its first row, and the mean of the others. */
static void taken_from(const TalusReduced *r, int i, double sum[2])
{
    const TalusOperator *op = &r->op;
    TalusArm arm[TALUS_ROWS];
    sum[0] = sum[1] = 0.0;
    for (int side = 0; side < 2; side++) {
        int vertex = talus_elimination_vertex(r->joints, op->pair[i][side]);
        if (vertex < 0)
            continue;
        talus_jacobian_arms(op, i, side, arm);
        for (int k = 0; k < op->rows; k++)
            sum[k > 0] += square_of(r->taken[vertex], arm[k]) / (k ? op->rows - 1 : 1);
    }
    if (op->rows == 1)
        sum[1] = sum[0];
}

static void diagonal_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const TalusReduced *r = context;
    (void)chunk;
    for (int64_t i = begin; i < end; i++) {
        double taken[2];
        taken_from(r, (int)i, taken);
        for (int k = 0; k < 2; k++) {
            double all = r->whole->diagonal[i][k];
            r->op.diagonal[i][k] = fmax(all - taken[k], LEAST * all);
        }
    }
}

/* ---- all of it ---- */

static uint32_t kinds_of(const TalusOperator *op)
{
    uint32_t kinds = 0;
    for (int i = 0; i < op->blocks; i++) /* blocks without friction are discs under ccp, mu 0 */
        if (op->model[i].section != TALUS_SECTION_DISC || op->model[i].law != TALUS_LAW_CCP ||
            op->mu[i] > 0.0 ||
            (op->turning && (op->turning[i][0] > 0.0 || op->turning[i][1] > 0.0)))
            kinds |= TALUS_KIND(op->model[i].law, op->model[i].section);
    return kinds;
}

static TalusStatus reserve(TalusReduced *r)
{
    size_t bodies = (size_t)r->op.bodies, m = (size_t)r->op.blocks;
    if (!r->joints)
        TALUS_TRY(talus_elimination_create(&r->joints));
    TALUS_TRY(TALUS_GROW(r->touch_start, bodies + 1, 0, "body contacts"));
    TALUS_TRY(TALUS_GROW(r->touch, 2 * m, 0, "body contacts"));
    return TALUS_GROW(r->diagonal, m, 0, "diagonal");
}

TalusStatus talus_reduced_fill(TalusReduced *r, const TalusOperator *op)
{
    r->whole = op;
    r->op = *op;
    r->op.blocks -= op->joints;
    r->op.general -= op->joints;
    r->op.joints = 0;
    TALUS_TRY(reserve(r));
    r->op.touch_start = r->touch_start;
    r->op.touch = r->touch;
    r->op.diagonal = r->diagonal;
    r->op.coupling = NULL;
    r->op.elimination = r->joints;
    r->op.kinds = kinds_of(&r->op);
    r->op.varied = talus_kinds_varied(op->rows, r->op.kinds, op->moving);
    talus_problem_list_touches(&r->op);
    TALUS_TRY(fill_rows(op, r->joints));
    TALUS_TRY(talus_elimination_factor(r->joints, op->pool, op->bodies));
    talus_elimination_invert(r->joints);
    TalusEliminationFacts facts = talus_elimination_facts(r->joints);
    size_t vertices = (size_t)facts.vertices, rows = (size_t)count_rows(op);
    TALUS_TRY(TALUS_GROW(r->taken, vertices, 0, "jointed bodies"));
    TALUS_TRY(TALUS_GROW(r->impulse, rows, 0, "impulses of joints"));
    talus_parallel(op->pool, facts.vertices, BODY_GRAIN, taken_chunk, r);
    talus_parallel(op->pool, r->op.blocks, BLOCK_GRAIN, diagonal_chunk, r);
    return TALUS_OK;
}

static void write_joints(TalusReduced *r, bool offset, double *gamma)
{
    const TalusOperator *op = r->whole;
    const double *x = r->impulse;
    talus_backend_cpu.op.bodies(&r->op, gamma, offset, op->scratch->velocity);
    talus_elimination_solution(r->joints, r->impulse);
    for (int i = r->op.blocks; i < op->blocks; i++) {
        double *block = gamma + (size_t)i * (size_t)op->rows;
        for (int k = 0; k < op->rows; k++)
            block[k] = k < 3 && has_row(op, i, k) ? -*x++ : 0.0;
    }
}

void talus_reduced_recover(TalusReduced *r, double *gamma)
{
    write_joints(r, true, gamma);
}

void talus_reduced_extend(TalusReduced *r, double *delta)
{
    write_joints(r, false, delta);
}

void talus_reduced_clear(TalusReduced *r)
{
    talus_elimination_destroy(r->joints);
    TALUS_RELEASE(r->touch_start, r->touch, r->diagonal, r->taken, r->impulse);
    *r = (TalusReduced){0};
}

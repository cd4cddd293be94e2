/* problem/eliminate.c - the operator of a problem whose free joints are eliminated (eliminate.h), and recovery of the
 * joints' impulses. */
#include "problem/eliminate.h"

#include "base/status.h"

/* Makes r->joints the factored and inverted elimination of the joints of r->whole. */
static TalusStatus factor_joints(TalusReduced *r)
{
    const TalusOperator *op = r->whole;
    TalusJointRow *row;
    int count;
    if (!r->joints)
        TALUS_TRY(talus_elimination_create(&r->joints));
    TALUS_TRY(talus_elimination_reserve_rows(r->joints, 3 * op->joints, &row));
    TALUS_TRY(r->backend->joint.get_rows(op, row, &count));
    TALUS_TRY(talus_elimination_reserve_rows(r->joints, count, &row));
    TALUS_TRY(talus_elimination_factor(r->joints, op->pool, op->bodies));
    talus_elimination_invert(r->joints);
    return TALUS_OK;
}

/* Allocates incidence_start, incidence and diagonal of r and r->op as vectors of doubles in the backend's memory; a
 * double holds two 32-bit indices. */
static TalusStatus reserve_arrays(TalusReduced *r)
{
    const TalusVectorOps *vector = &r->backend->vector;
    size_t blocks = (size_t)r->op.blocks, starts = (size_t)r->op.bodies / 2 + 1;
    TALUS_TRY(
        vector->reserve(&r->op, &r->incidence_start, &r->start_capacity, starts, "body contacts"));
    TALUS_TRY(
        vector->reserve(&r->op, &r->incidence, &r->incidence_capacity, blocks, "body contacts"));
    TALUS_TRY(vector->reserve(&r->op, &r->diagonal, &r->diagonal_capacity, 2 * blocks, "diagonal"));
    r->op.incidence_start = (int32_t *)r->incidence_start;
    r->op.incidence = (int32_t *)r->incidence;
    r->op.diagonal = (double(*)[2])r->diagonal;
    return TALUS_OK;
}

TalusStatus talus_reduced_fill(TalusReduced *r, const TalusBackend *backend,
                               const TalusOperator *op)
{
    void *device = r->op.device; /* r's own, kept */
    r->backend = backend;
    r->whole = op;
    r->op = *op;
    r->op.device = device;
    r->op.blocks -= op->joints;
    r->op.general -= op->joints;
    r->op.joints = 0;
    r->op.coupling = NULL;
    TALUS_TRY(reserve_arrays(r));
    TALUS_TRY(factor_joints(r));
    r->op.elimination = r->joints;
    TALUS_TRY(backend->joint.finish_reduced(op, &r->op));
    TALUS_TRY(talus_problem_join_kinds(&r->op));
    r->op.mixed_sets = talus_sets_are_mixed(op->rows, r->op.kinds, op->prisms);
    return backend->op.reserve_scratch(&r->op);
}

void talus_reduced_recover_joints(TalusReduced *r, double *gamma)
{
    r->backend->joint.recover_impulses(r->whole, &r->op, true, gamma);
}

void talus_reduced_extend_direction(TalusReduced *r, double *delta)
{
    r->backend->joint.recover_impulses(r->whole, &r->op, false, delta);
}

void talus_reduced_clear(TalusReduced *r)
{
    talus_elimination_destroy(r->joints);
    if (r->backend) {
        r->backend->vector.release(r->incidence_start);
        r->backend->vector.release(r->incidence);
        r->backend->vector.release(r->diagonal);
        if (r->backend->op.mirror_clear)
            r->backend->op.mirror_clear(&r->op);
    }
    *r = (TalusReduced){0};
}

/* problem/friction.c - friction models of a problem's blocks, and the data derived from them.
 *
 * A block with TALUS_SECTION_NONE, with one row, or with all coefficients 0 has no friction: its model is set to all
 * zeros (disc, ccp) and its coefficients to 0, so that loops over blocks never find TALUS_SECTION_NONE. */
#include "problem/problem.h"

#include "backend/host.h"
#include "backend/part.h"
#include "base/memory.h"
#include "base/pool.h"
#include "base/status.h"
#include "base/turn.h"
#include "sets/set.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

TalusStatus talus_problem_check_model(TalusFrictionModel model, const char *what, int index)
{
    char key[48];
    TalusStatus status = talus_set_check(model);
    if (status == TALUS_OK)
        return TALUS_OK;
    snprintf(key, sizeof key, "%s %d", what, index);
    return talus_error_at(talus_locate(TALUS_DOMAIN_PROBLEM, NULL, 0, key), status);
}

TalusBlockModel talus_block_model(TalusFrictionModel m)
{
    return (TalusBlockModel){
        .section = (uint8_t)m.section, .law = (uint8_t)m.law, .sides = (uint16_t)m.sides};
}

int talus_model_corner_count(const TalusBlockModel *m)
{
    return m->section == TALUS_SECTION_SQUARE ? 4 : m->sides;
}

/* Corner 0 of a polygon is on the first axis; the corners of a square are (+-1, +-1). Both are numbered
 * counterclockwise. */
void talus_model_corner(const TalusBlockModel *m, int k, double c[2])
{
    if (m->section == TALUS_SECTION_SQUARE) {
        c[0] = k == 0 || k == 3 ? 1.0 : -1.0;
        c[1] = k < 2 ? 1.0 : -1.0;
    } else {
        talus_cos_sin_turns((double)k / m->sides, &c[0], &c[1]);
    }
}

/* ---- data derived from the models ---- */

/* Gives block i the model and coefficients of a block without friction. */
static void clear_friction(TalusOperator *op, int i)
{
    op->model[i] = (TalusBlockModel){0};
    op->mu[i] = 0.0;
    if (op->moment_mu)
        op->moment_mu[i][0] = op->moment_mu[i][1] = 0.0;
}

/* True if the block has friction or is a joint, so that the model defines its set. */
static bool model_matters(const TalusOperator *op, int i)
{
    return (op->model && op->model[i].section == TALUS_SECTION_JOINT) || op->mu[i] > 0.0 ||
           (op->moment_mu && (op->moment_mu[i][0] > 0.0 || op->moment_mu[i][1] > 0.0));
}

/* Returns op->mixed_sets as it follows from the rows, kinds and prisms of op. */
static bool sets_are_mixed(const TalusOperator *op)
{
    return talus_sets_are_mixed(op->rows, op->kinds, op->prisms);
}

/* True if some block with friction is under this law. */
static bool has_law(const TalusOperator *op, TalusFrictionLaw law)
{
    return (op->kinds & TALUS_KINDS_OF(law)) != 0;
}

/* Returns the address of the block's bias or, of an explicit operator, of its normal entry of q. */
static double *normal_offset(const TalusOperator *op, int i)
{
    return op->pair ? &op->bias[i] : &op->offset[(size_t)i * (size_t)op->rows];
}

/* Arguments of settle_chunk. */
typedef struct Settling {
    TalusOperator *op;
    _Atomic uint32_t kinds; /* bits TALUS_KIND(law, section) of the blocks with friction */
} Settling;

/* Calls clear_friction for the blocks [begin, end) without friction, and adds the kinds of the others. */
static void settle_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    Settling *s = context;
    TalusOperator *op = s->op;
    uint32_t kinds = 0;
    (void)chunk;
    for (int i = (int)begin; i < end; i++) {
        if (op->rows == 1 || op->model[i].section == TALUS_SECTION_NONE || !model_matters(op, i))
            clear_friction(op, i);
        else
            kinds |= TALUS_KIND(op->model[i].law, op->model[i].section);
    }
    atomic_fetch_or(&s->kinds, kinds);
}

/* Clears the friction of blocks without any; returns the bits TALUS_KIND(law, section) of all others, 0 if op has no
 * models. */
static uint32_t settle_models(TalusOperator *op)
{
    Settling settling = {.op = op};
    if (op->model)
        talus_parallel(op->pool, op->blocks, VECTOR_GRAIN, settle_chunk, &settling);
    return atomic_load(&settling.kinds);
}

/* Copies the normal offsets of blocks [begin, end) to op->unshifted. */
static void copy_offsets_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const TalusOperator *op = context;
    (void)chunk;
    for (int i = (int)begin; i < end; i++)
        op->unshifted[i] = *normal_offset(op, i);
}

TalusStatus talus_problem_join_kinds(TalusOperator *op)
{
    int64_t count[32];
    for (int bit = 0; bit < 32; bit++)
        count[bit] = op->kinds >> bit & 1;
    TALUS_TRY(talus_comm_add_counts(talus_operator_comm(op), count, 32));
    for (int bit = 0; bit < 32; bit++)
        op->kinds |= count[bit] > 0 ? UINT32_C(1) << bit : 0;
    return TALUS_OK;
}

TalusStatus talus_problem_settle_friction(TalusProblem *p)
{
    TalusOperator *op = &p->op;
    size_t blocks = (size_t)op->blocks;
    op->prisms = false;
    op->kinds = settle_models(op);
    TALUS_TRY(talus_problem_join_kinds(op));
    op->mixed_sets = sets_are_mixed(op);
    op->estimate = op->unshifted = NULL;
    if (has_law(op, TALUS_LAW_FIXED)) {
        TALUS_TRY(TALUS_GROW(p->estimate_store, blocks, 0, "bounds"));
        memset(p->estimate_store, 0, blocks * sizeof *p->estimate_store);
        op->estimate = p->estimate_store;
    }
    if (has_law(op, TALUS_LAW_COULOMB)) {
        TALUS_TRY(TALUS_GROW(p->unshifted_store, blocks, 0, "normal offsets"));
        op->unshifted = p->unshifted_store;
        talus_parallel(op->pool, op->blocks, VECTOR_GRAIN, copy_offsets_chunk, op);
    }
    return TALUS_OK;
}

uint32_t talus_problem_kinds(const TalusProblem *p)
{
    const TalusOperator *op = talus_problem_counts(p);
    if (op->rows == 1)
        return 0;
    return op->kinds ? op->kinds : TALUS_KIND(TALUS_LAW_CCP, TALUS_SECTION_DISC);
}

bool talus_problem_is_frictionless(const TalusProblem *p)
{
    if (p->lent || p->op.rows != 3 || p->op.kinds)
        return false;
    if (p->op.halo)
        return p->op.halo->frictionless;
    for (int i = 0; i < p->op.blocks; i++)
        if (p->op.mu[i] > 0.0)
            return false;
    return true;
}

/* ---- queries ---- */

TalusFrictionModel talus_problem_friction(const TalusProblem *p, int block)
{
    TalusFrictionModel model = {0};
    if (p->op.rows == 1)
        model.section = TALUS_SECTION_NONE;
    else if (p->op.model) {
        const TalusBlockModel *m = &p->op.model[block];
        model.section = (TalusSection)m->section;
        model.law = (TalusFrictionLaw)m->law;
        model.sides = m->sides;
    }
    return model;
}

double *talus_problem_estimate(TalusProblem *p)
{
    return p->op.estimate;
}

/* ---- during a solve ---- */

TalusStatus talus_problem_set_prisms(TalusProblem *p, bool prisms)
{
    TalusOperator *op = p->lent ? p->solver_op : &p->op;
    size_t blocks = (size_t)op->blocks;
    bool fixed = has_law(op, TALUS_LAW_FIXED);
    if (prisms && !fixed && p->lent) {
        TALUS_TRY(
            p->backend->vector.reserve(op, &p->lent_estimate, &p->lent_capacity, blocks, "bounds"));
        p->backend->vector.zero(op, p->lent_estimate, blocks);
        op->estimate = p->lent_estimate;
    } else if (prisms && !fixed) {
        TALUS_TRY(TALUS_GROW(p->estimate_store, blocks, 0, "bounds"));
        memset(p->estimate_store, 0, blocks * sizeof *p->estimate_store);
        op->estimate = p->estimate_store;
    } else if (!prisms && !fixed) {
        op->estimate = NULL;
    }
    op->prisms = prisms;
    op->mixed_sets = sets_are_mixed(op);
    return TALUS_OK;
}

void talus_problem_remove_shifts(TalusProblem *p, double *kept)
{
    for (int i = 0; i < p->op.blocks; i++) {
        kept[i] = *normal_offset(&p->op, i);
        *normal_offset(&p->op, i) = p->op.unshifted[i];
    }
    p->op.prisms = false;
    p->op.mixed_sets = sets_are_mixed(&p->op);
}

void talus_problem_apply_shifts(TalusProblem *p, const double *kept, bool prisms)
{
    for (int i = 0; i < p->op.blocks; i++)
        *normal_offset(&p->op, i) = kept[i];
    p->op.prisms = prisms;
    p->op.mixed_sets = sets_are_mixed(&p->op);
}

/* problem/location.c - where solvers find a problem's operator and impulses: on the host, in a copy in the backend's
 * memory, or in arrays there that a world has lent. */
#include "problem/problem.h"

#include "backend/part.h"
#include "base/memory.h"
#include "base/status.h"

/* Changes the backend of p; releases what p has in the memory of the old one. */
static void set_backend(TalusProblem *p, const TalusBackend *backend)
{
    if (backend == p->backend)
        return;
    talus_problem_release_copy(p);
    p->backend = backend;
}

TalusStatus talus_problem_set_backend(TalusProblem *p, const char *name)
{
    const TalusBackend *backend = talus_backend_find(name);
    if (!backend)
        return TALUS_ERR_UNSUPPORTED;
    set_backend(p, backend);
    return TALUS_OK;
}

void talus_problem_lend(TalusProblem *p, const TalusBackend *backend, TalusOperator *op,
                        double *gamma)
{
    set_backend(p, backend);
    p->lent = true;
    p->solver_op = op;
    p->solver_gamma = gamma;
}

TalusStatus talus_problem_upload(TalusProblem *p)
{
    size_t n = (size_t)talus_problem_size(p);
    if (p->lent)
        return p->backend->op.reserve_scratch(p->solver_op);
    if (!talus_problem_on_host(p) && !p->context)
        TALUS_TRY(p->backend->context_create(&p->context));
    p->op.context = p->copy.context = p->context;
    if (talus_problem_on_host(p) || (n == 0 && !p->op.halo)) {
        p->solver_op = &p->op;
        p->solver_gamma = p->gamma;
        return TALUS_OK;
    }
    TALUS_TRY(p->backend->op.mirror(&p->op, &p->copy));
    TALUS_TRY(p->backend->op.reserve_scratch(&p->copy));
    TALUS_TRY(
        p->backend->vector.reserve(&p->copy, &p->copy_gamma, &p->copy_capacity, n, "impulses"));
    p->backend->vector.put(&p->copy, p->copy_gamma, p->gamma, n);
    p->solver_op = &p->copy;
    p->solver_gamma = p->copy_gamma;
    return p->backend->check(p->context);
}

void talus_problem_download(TalusProblem *p)
{
    if (p->lent || talus_problem_on_host(p))
        return;
    p->backend->vector.get(p->solver_op, p->gamma, p->solver_gamma, (size_t)talus_problem_size(p));
    if (p->op.estimate)
        p->backend->vector.get(p->solver_op, p->op.estimate, p->solver_op->estimate,
                               (size_t)p->op.blocks);
}

/* ---- a copy of a lent part ---- */

static TalusProblemSizes sizes_of_lent(const TalusOperator *op)
{
    return (TalusProblemSizes){.bodies = op->bodies,
                               .sphere_sphere = op->sphere_sphere,
                               .sphere_fixed = op->sphere_fixed,
                               .general = op->general,
                               .rows = op->rows,
                               .compliance = op->compliance != NULL,
                               .models = op->model != NULL,
                               .inertias = op->inverse_inertia != NULL};
}

/* Gives the copy what gathering needs of a halo: the owned bodies, by index. */
static TalusStatus copy_halo(const TalusHalo *halo, const uint32_t *slot, TalusProblem *p)
{
    TalusHalo *copy;
    TALUS_TRY(TALUS_ALLOC(copy, 1, "halo"));
    p->op.halo = copy;
    copy->comm = halo->comm;
    copy->blocks = halo->blocks;
    copy->general = halo->general;
    copy->bodies = p->op.bodies;
    TALUS_TRY(TALUS_ALLOC(copy->owned, (size_t)p->op.bodies + 1, "owned bodies"));
    for (int b = 0; b < p->op.bodies; b++)
        copy->owned[b] = halo->owned[slot[b]];
    return TALUS_OK;
}

/* Fills the copy, whose arrays have the sizes of the lent ones. */
static TalusStatus fill_copy(const TalusProblem *lent, uint32_t *slot, TalusProblem *p)
{
    const TalusOperator *op = lent->solver_op;
    TALUS_TRY(TALUS_ALLOC(p->part_number, (size_t)op->bodies + 1, "body numbers"));
    TALUS_TRY(lent->backend->op.fetch(op, &p->op, p->part_number, slot));
    lent->backend->vector.get(op, p->gamma, lent->solver_gamma, (size_t)talus_problem_size(lent));
    TALUS_TRY(lent->backend->check(op->context));
    p->op.numbers = (TalusBodyNumbers){.id = p->part_number};
    for (int b = 0; b < op->bodies; b++)
        p->length[b] = 1.0;
    return copy_halo(op->halo, slot, p);
}

TalusStatus talus_problem_fetch(const TalusProblem *lent, TalusProblem **out)
{
    const TalusProblemSizes sizes = sizes_of_lent(lent->solver_op);
    uint32_t *slot = NULL;
    TALUS_TRY(talus_problem_create_empty(lent->op.pool, out));
    TalusStatus status = talus_problem_resize(*out, &sizes);
    TALUS_THEN(status, TALUS_ALLOC(slot, (size_t)sizes.bodies + 1, "body numbers"));
    TALUS_THEN(status, fill_copy(lent, slot, *out));
    talus_release(slot);
    return status;
}

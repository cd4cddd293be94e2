/* problem/location.c - where solvers find a problem's operator and impulses: on the host, in a copy in the backend's
 * memory, or in arrays there that a world has lent. */
#include "problem/problem.h"

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

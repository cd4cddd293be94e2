/* solvers/driver/gathered.c - solves of a rank's part by solvers that need the whole problem: matrices, or contacts one after
 * the other; and of small problems, which one rank's device does in one kernel. Rank 0 gathers the problem
 * (problem/gather.h), solves it, and deals the impulses. */
#include "solvers/driver/gathered.h"

#include "backend/part.h"
#include "base/memory.h"
#include "base/status.h"
#include "problem/gather.h"

static const TalusOperator *operator_of(const TalusProblem *problem)
{
    return problem->lent ? problem->solver_op : &problem->op;
}

/* True if one rank might do runs on the whole problem in one kernel, whose last bits are not those of parts. No rank may have
 * an observer, which sees iterates of its part. */
static bool is_small(const TalusSolver *s, const TalusProblem *problem,
                     const TalusSolveOptions *options)
{
    const TalusOperator *op = operator_of(problem);
    const bool joints = talus_first_joint(op) < op->blocks;
    const int64_t blocks = op->halo->blocks;
    return s->type->in_runs && blocks > 0 && blocks <= problem->backend->gathered_blocks &&
           !op->mixed_sets && !joints && !talus_comm_any(op->halo->comm, options->observer != NULL);
}

bool talus_solver_gathers(const TalusSolver *s, const TalusProblem *problem,
                          const TalusSolveOptions *options)
{
    const TalusSolverType *t = s->type;
    const TalusOperator *op = operator_of(problem);
    const bool joints = talus_first_joint(op) < op->blocks;
    const bool sweeps =
        t->on_parts && t->on_parts(s->params) && !joints && talus_problem_on_host(problem);
    if (!op->halo || t->plan)
        return false;
    return t->through_products ? is_small(s, problem, options) : !sweeps;
}

/* Makes the status that rank 0 has that of all ranks. */
static TalusStatus share_status(const TalusSolver *s, TalusComm *comm, TalusStatus status)
{
    TalusStatus of_root = status;
    TALUS_TRY(talus_comm_broadcast(comm, 0, &of_root, sizeof of_root));
    if (of_root == TALUS_OK || comm->rank == 0)
        return of_root;
    return talus_solver_fail(s->type->name, of_root,
                             "rank 0, which solves the whole problem, has failed");
}

/* Deals the certificate of infeasibility, if there is one. */
static TalusStatus deal_certificate(const TalusGather *gather, TalusProblem *part)
{
    const double *of_whole = gather->whole ? talus_problem_certificate(gather->whole) : NULL;
    bool has = of_whole != NULL;
    double *own = NULL;
    TALUS_TRY(talus_comm_broadcast(gather->comm, 0, &has, sizeof has));
    if (!has)
        return TALUS_OK;
    TALUS_TRY(talus_comm_agree(gather->comm, talus_problem_reserve_certificate(part, &own)));
    return talus_gather_deal(gather, of_whole, own);
}

/* Makes what rank 0's solver carries from solve to solve that of all ranks: the next problem may be solved in parts. */
static TalusStatus share_state(TalusSolver *s, TalusComm *comm)
{
    return s->type->state_size > 0 ? talus_comm_broadcast(comm, 0, s->state, s->type->state_size)
                                   : TALUS_OK;
}

/* Deals the impulses to where the part has its own. */
static TalusStatus deal_impulses(const TalusGather *gather, TalusProblem *part)
{
    const double *all = gather->whole ? gather->whole->gamma : NULL;
    const size_t n = (size_t)talus_problem_size(part);
    double *own;
    if (!part->lent)
        return talus_gather_deal(gather, all, part->gamma);
    TalusStatus status = TALUS_ALLOC(own, n + 1, "impulses");
    status = talus_comm_agree(gather->comm, status);
    TALUS_THEN(status, talus_gather_deal(gather, all, own));
    if (status == TALUS_OK) {
        part->backend->vector.put(part->solver_op, part->solver_gamma, own, n);
        status = part->backend->check(part->solver_op->context);
    }
    talus_release(own);
    return status;
}

/* Solves on rank 0 and deals the results. */
static TalusStatus solve_and_deal(TalusSolver *s, const TalusGather *gather, TalusProblem *part,
                                  const TalusSolveOptions *options, TalusSolveInfo *info,
                                  TalusSolveFn *solve)
{
    TalusComm *comm = gather->comm;
    TalusProblem *whole = gather->whole;
    TalusStatus status = TALUS_OK;
    if (whole)
        status = talus_problem_set_backend(whole, part->backend->name);
    if (whole && status == TALUS_OK)
        status = solve(s, whole, options, info);
    TALUS_TRY(share_status(s, comm, status));
    TALUS_TRY(talus_comm_broadcast(comm, 0, info, sizeof *info));
    info->solver = s->type->name;
    TALUS_TRY(share_state(s, comm));
    TALUS_TRY(deal_impulses(gather, part));
    return part->lent ? TALUS_OK : deal_certificate(gather, part);
}

/* Gathers the whole problem; that of a part in the backend's memory by way of a copy in that of the host. */
static TalusStatus gather(const TalusProblem *part, TalusGather **out)
{
    TalusProblem *copy = NULL;
    if (!part->lent)
        return talus_gather_create(part, part->gamma, out);
    TalusStatus status = talus_problem_fetch(part, &copy);
    status = talus_comm_agree(operator_of(part)->halo->comm, status);
    TALUS_THEN(status, talus_gather_create(copy, copy->gamma, out));
    talus_problem_destroy(copy);
    return status;
}

TalusStatus talus_solver_solve_gathered(TalusSolver *s, TalusProblem *part,
                                        const TalusSolveOptions *options, TalusSolveInfo *info,
                                        TalusSolveFn *solve)
{
    TalusGather *gathered;
    TalusComm *comm = operator_of(part)->halo->comm;
    if (part->lent && !s->type->through_products)
        return talus_solver_fail(s->type->name, TALUS_ERR_UNSUPPORTED,
                                 "it needs the whole problem, which a world on several ranks does "
                                 "not gather from GPUs; apgd, jacobi and lbfgs-fb work there, and "
                                 "all solvers on --backend cpu");
    if (talus_comm_any(comm, options->observer != NULL))
        return talus_solver_fail(s->type->name, TALUS_ERR_UNSUPPORTED,
                                 "it needs the whole problem, and the observer of a rank sees a "
                                 "part of it");
    TALUS_TRY(gather(part, &gathered));
    TalusStatus status = solve_and_deal(s, gathered, part, options, info, solve);
    part->scratch.velocity_of = NULL;
    talus_gather_destroy(gathered);
    return status;
}

/* solvers/driver/gathered.c - solves of a rank's part by solvers that need the whole problem: matrices, or contacts one after
 * the other. Rank 0 gathers it (problem/gather.h), solves it, and deals the impulses. */
#include "solvers/driver/gathered.h"

#include "backend/part.h"
#include "base/status.h"
#include "problem/gather.h"

bool talus_solver_gathers(const TalusSolver *s, const TalusProblem *problem)
{
    const TalusSolverType *t = s->type;
    const TalusOperator *op = problem->lent ? problem->solver_op : &problem->op;
    const bool joints = talus_first_joint(op) < op->blocks;
    const bool sweeps =
        t->on_parts && t->on_parts(s->params) && !joints && talus_problem_on_host(problem);
    return op->halo && !t->through_products && !t->plan && !sweeps;
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
    TALUS_TRY(talus_gather_deal(gather, whole ? whole->gamma : NULL, part->gamma));
    return deal_certificate(gather, part);
}

TalusStatus talus_solver_solve_gathered(TalusSolver *s, TalusProblem *part,
                                        const TalusSolveOptions *options, TalusSolveInfo *info,
                                        TalusSolveFn *solve)
{
    TalusGather *gather;
    if (part->lent)
        return talus_solver_fail(s->type->name, TALUS_ERR_UNSUPPORTED,
                                 "it needs the whole problem, which a world on several ranks does "
                                 "not gather from GPUs; apgd, jacobi and lbfgs-fb work there, and "
                                 "all solvers on --backend cpu");
    TalusComm *comm = part->op.halo->comm;
    if (talus_comm_any(comm, options->observer != NULL))
        return talus_solver_fail(s->type->name, TALUS_ERR_UNSUPPORTED,
                                 "it needs the whole problem, and the observer of a rank sees a "
                                 "part of it");
    TALUS_TRY(talus_gather_create(part, part->gamma, &gather));
    TalusStatus status = solve_and_deal(s, gather, part, options, info, solve);
    part->scratch.velocity_of = NULL;
    talus_gather_destroy(gather);
    return status;
}

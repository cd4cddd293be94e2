/* problem/problem.h - internals of a problem. */
#ifndef TALUS_PROBLEM_PROBLEM_H
#define TALUS_PROBLEM_PROBLEM_H

#include "backend/backend.h"
#include "backend/host.h"
#include "linalg/sparse.h"
#include "problem/build.h"

struct TalusProblem {
    TalusOperator op; /* on the host, with the CPU backend's scratch; read by public functions */
    TalusHostScratch scratch;
    double *gamma, *gradient; /* gradient: work space */

    /* Data of solvers: op and gamma themselves, a copy of them, or what was lent. */
    const TalusBackend *backend;
    TalusContext *context; /* of the copy */
    bool lent;
    TalusOperator *there_op;
    double *there_gamma;
    TalusOperator copy; /* for a backend with memory of its own; kept between solves */
    double *copy_gamma;
    size_t copy_capacity;
    double *length; /* [bodies]: l */

    /* On the host, from the last solve (solvers/driver/certificate.h) or from a file. */
    double *certificate;
    bool has_certificate;

    /* Memory of op's optional arrays. */
    double *offset_store; /* op.offset, which a solve may shift */
    /* this and the next four are op's arrays if the problem needs them */
    TalusBlockModel *model_store;
    double *estimate_store, *unshifted_store;
    double (*moment_store)[2], (*lever_store)[2];
    double *lent_estimate; /* bounds of a lent problem's Coulomb blocks, in the backend's memory */
    size_t lent_capacity;
    double *compliance_store;   /* op.compliance if some contact has any */
    double (*inertia_store)[6]; /* op.inertia if there are general contacts */

    /* A problem created from a def keeps a copy; one filled in place makes it on demand. */
    TalusProblemDef def;
    bool has_def;
    void *def_memory[9];
};

/* problem/matrix.c: fills an explicit problem from its def. */
TalusStatus talus_problem_fill_matrix(TalusProblem *problem, const TalusProblemDef *def);
/* Releases the copy. */
void talus_problem_drop_copy(TalusProblem *problem);
/* Allocates gamma and the arrays of every block. */
TalusStatus talus_problem_reserve_vectors(TalusProblem *problem);

/* problem/friction.c: fails for an invalid model; `what` and `index` name its owner. */
TalusStatus talus_problem_check_model(TalusFrictionModel model, const char *what, int index);
/* Number of corners of a polygon or square, and corner k for mu n = 1. */
int talus_model_corners(const TalusBlockModel *model);
void talus_model_corner(const TalusBlockModel *model, int k, double c[2]);
/* Derives from the models of all blocks: op's kinds and varied, memory for estimates, base. */
TalusStatus talus_problem_settle_friction(TalusProblem *problem);
/* Kinds of friction of the problem that solvers work on; at least one if it has any. */
uint32_t talus_problem_kinds(const TalusProblem *problem);
/* True if blocks have three rows but no contact has friction, so that the section does not matter. False for problems
 * that are only in a backend's memory. */
bool talus_problem_is_frictionless(const TalusProblem *problem);
/* Makes Coulomb blocks prisms with bounds from estimates, or cones again. Call before talus_problem_send. */
TalusStatus talus_problem_set_prisms(TalusProblem *problem, bool prisms);
/* For readers on the host during a solve on the host: removes shifts from offsets, saving the offsets in `kept`
 * [blocks], and makes Coulomb blocks cones; and restores both. */
void talus_problem_remove_shifts(TalusProblem *problem, double *kept);
void talus_problem_apply_shifts(TalusProblem *problem, const double *kept, bool prisms);

/* True if solvers work on the host's own arrays. */
static inline bool talus_problem_is_here(const TalusProblem *problem)
{
    return talus_backend_can(problem->backend, TALUS_CAP_HOST_MEMORY);
}

/* problem/location.c: uploads op and gamma before a solve, as problem->there_*, and downloads impulses after it. */
TalusStatus talus_problem_send(TalusProblem *problem);
void talus_problem_fetch(TalusProblem *problem);
/* The operator that has the problem's counts. */
static inline const TalusOperator *talus_problem_counts(const TalusProblem *problem)
{
    return problem->lent ? problem->there_op : &problem->op;
}

/* Natural residual of gamma and, if `rounding` is not NULL, its estimated rounding error, by a backend's operations.
 * beyond: some block is under a law beyond ccp. */
void talus_residual_measure(const TalusBackend *backend, const TalusOperator *op, bool beyond,
                            const double *gamma, TalusResidual *out, TalusResidual *rounding);
/* Both on the host. */
void talus_problem_residuals(TalusProblem *problem, const double *gamma, TalusResidual *out,
                             TalusResidual *rounding);

/* problem/diagonal.c */
TalusStatus talus_problem_diagonals(TalusProblem *problem);
/* problem/assemble.c: N + E as a matrix, which the caller clears; bitwise symmetric unless it was given otherwise, and
 * the same for any number of threads. */
TalusStatus talus_problem_assemble(const TalusProblem *problem, TalusSparse *out);
/* problem/export.c */
TalusStatus talus_problem_copy_def(TalusProblem *problem, const TalusProblemDef *def);
void talus_problem_forget_def(TalusProblem *problem);

#endif

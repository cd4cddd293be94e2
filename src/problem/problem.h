/* problem/problem.h - the struct TalusProblem, and the functions that src/problem shares with solvers. */
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

    /* What solvers work on: op and gamma themselves, a copy of them, or what was lent. */
    const TalusBackend *backend;
    TalusContext *context; /* of the copy */
    bool lent;             /* solver_op and solver_gamma are from talus_problem_lend */
    TalusOperator *solver_op;
    double *solver_gamma; /* both in the backend's memory */
    TalusOperator copy;   /* for a backend with memory of its own; kept between solves */
    double *copy_gamma;
    size_t copy_capacity;
    double *length; /* [bodies]: l */

    /* On the host, from the last solve (solvers/driver/certificate.h) or from a file. */
    double *certificate;
    bool has_certificate;

    /* Memory of op's optional arrays. */
    double *offset_store; /* op.offset, to which a solve may add De Saxce's shifts */
    /* op's model, estimate, unshifted, moment_mu and lever if the problem needs them */
    TalusBlockModel *model_store;
    double *estimate_store, *unshifted_store;
    double (*moment_store)[2], (*lever_store)[2];
    double *lent_estimate; /* estimate of a lent problem as prisms, in the backend's memory */
    size_t lent_capacity;
    double *compliance_store;   /* op.compliance if some contact has any */
    double (*inertia_store)[6]; /* op.inverse_inertia if there are general contacts */

    /* Copy of the def from which the problem was made; made on demand for one filled in place. */
    TalusProblemDef def;
    bool has_def;
    void *def_memory[9]; /* 0 to 5: arrays of def (export.c); 6 to 8: normal rows (matrix.c) */
};

/* problem/matrix.c: fills an explicit problem from its def. */
TalusStatus talus_problem_fill_matrix(TalusProblem *problem, const TalusProblemDef *def);
/* Releases what the problem has in the memory of its backend: copies of op and gamma, lent_estimate, context. */
void talus_problem_release_copy(TalusProblem *problem);
/* Allocates gamma, op->mu and op->diagonal for op's blocks and rows. */
TalusStatus talus_problem_reserve_vectors(TalusProblem *problem);

/* problem/friction.c: fails for an invalid model; `what` and `index` name its owner. */
TalusStatus talus_problem_check_model(TalusFrictionModel model, const char *what, int index);
/* Number of corners of a polygon or square, and corner k for mu n = 1. */
int talus_model_corner_count(const TalusBlockModel *model);
void talus_model_corner(const TalusBlockModel *model, int k, double c[2]);
/* Resets the models of blocks without friction, derives op's kinds and mixed_sets from all models, makes Coulomb blocks
 * cones, and sets op's estimate (zeros) and unshifted (the normal offsets) if some law needs them. */
TalusStatus talus_problem_settle_friction(TalusProblem *problem);
/* Returns the bits TALUS_KIND(law, section) of all pairs of law and section that occur; that of ccp on the disc if no
 * block has a model of its own; 0 if blocks have one row. */
uint32_t talus_problem_kinds(const TalusProblem *problem);
/* True if blocks have three rows but no contact has friction, so that the section does not matter. False for problems
 * that are only in a backend's memory. */
bool talus_problem_is_frictionless(const TalusProblem *problem);
/* Makes Coulomb blocks prisms with bounds from estimates, or cones again. Estimates start as zeros; those of a problem
 * with `fixed` blocks are kept. Call before talus_problem_upload. */
TalusStatus talus_problem_set_prisms(TalusProblem *problem, bool prisms);
/* During a solve on the host, for observers: removes De Saxce's shifts from the normal offsets, saving these in `kept`
 * [blocks], and makes Coulomb blocks cones. talus_problem_apply_shifts undoes both. */
void talus_problem_remove_shifts(TalusProblem *problem, double *kept);
void talus_problem_apply_shifts(TalusProblem *problem, const double *kept, bool prisms);

/* True if solvers work on the host's own arrays. */
static inline bool talus_problem_on_host(const TalusProblem *problem)
{
    return talus_backend_can(problem->backend, TALUS_CAP_HOST_MEMORY);
}

/* problem/location.c: uploads op and gamma before a solve, setting solver_op and solver_gamma, and downloads impulses and
 * estimates after it. No copies if the problem is lent or on the host. */
TalusStatus talus_problem_upload(TalusProblem *problem);
void talus_problem_download(TalusProblem *problem);
/* Returns the operator whose counts (blocks, rows, bodies) are valid: the lent one or that on the host. */
static inline const TalusOperator *talus_problem_counts(const TalusProblem *problem)
{
    return problem->lent ? problem->solver_op : &problem->op;
}

/* Measures, by a backend's operations, the natural residual of gamma and, if `rounding` is not NULL, its estimated
 * rounding error. beyond: some block is under `fixed` or `coulomb`. */
void talus_residual_measure(const TalusBackend *backend, const TalusOperator *op, bool beyond,
                            const double *gamma, TalusResidual *out, TalusResidual *rounding);
/* The same on the host, for the problem's own operator. */
void talus_problem_residual_and_rounding(TalusProblem *problem, const double *gamma,
                                         TalusResidual *out, TalusResidual *rounding);

/* problem/diagonal.c: fills op's diagonal and coupling. Fails if a normal entry is not positive or not finite. */
TalusStatus talus_problem_fill_diagonals(TalusProblem *problem);
/* problem/assemble.c: writes N + E as a sparse matrix, which the caller clears; bitwise symmetric unless the problem
 * was given as an unsymmetric matrix, and the same for any number of threads. */
TalusStatus talus_problem_assemble(const TalusProblem *problem, TalusSparse *out);
/* Returns the number of entries of that matrix; if they are more than `limit`, some number above it. Counting then
 * stops early: its cost grows with the square of the contacts of a moving body. */
int64_t talus_problem_count_entries(const TalusProblem *problem, int64_t limit);
/* problem/export.c: copies `def` into problem->def; talus_problem_forget_def releases that copy. */
TalusStatus talus_problem_copy_def(TalusProblem *problem, const TalusProblemDef *def);
void talus_problem_forget_def(TalusProblem *problem);

#endif

/* problem/problem.h - the struct TalusProblem, and the functions that src/problem shares with solvers. */
#ifndef TALUS_PROBLEM_PROBLEM_H
#define TALUS_PROBLEM_PROBLEM_H

#include "backend/backend.h"
#include "backend/host.h"
#include "linalg/sparse.h"
#include "problem/build.h"

/* Friction coefficient above which contacts under Coulomb's law are hard to solve: the solver "auto" has a plan of its own,
 * and worlds explain steps that miss their tolerance. */
#define TALUS_HIGH_FRICTION 0.9

struct TalusProblem {
    TalusOperator
        op; /* on the host, with the CPU backend's scratch; read by public functions. Of a lent problem only counts are valid. */
    TalusHostScratch scratch;
    double *gamma;    /* [size]: impulses */
    double *gradient; /* work space of objective and metrics */

    /* solver_op and solver_gamma are what solvers work on: op and gamma themselves, their copies in the backend's
     * memory, or the arrays of talus_problem_lend. */
    const TalusBackend *backend;
    TalusContext *context; /* backend context of the copy */
    bool lent;             /* solver_op and solver_gamma were given by talus_problem_lend */
    TalusOperator *solver_op;
    double *solver_gamma; /* both in the backend's memory */
    TalusOperator copy;   /* of op, for a backend with its own memory; kept between solves */
    double *copy_gamma;   /* of gamma, likewise */
    size_t copy_capacity; /* of copy_gamma, entries */
    double *length;       /* [bodies]: l; unset in an explicit problem */
    /* Of a rank's part (part.h), which op.halo then describes; else NULL: numbers of its bodies, [bodies], and index of each
     * block in the whole problem, [blocks]. */
    uint64_t *part_number;
    int32_t *part_block;

    /* Certificate of infeasibility, on the host, from the last solve (solvers/driver/certificate.h) or from a file. */
    double *certificate;  /* [size]; its memory stays while there is none */
    bool has_certificate; /* `certificate` is that of the present problem */

    /* Memory of op's optional arrays; op's pointers are NULL while the problem does not need them. */
    double *offset_store; /* op.offset, to which a solve may add De Saxce's shifts */
    /* op's model, estimate, unshifted, moment_mu and lever if the problem needs them */
    TalusBlockModel *model_store;
    double *estimate_store, *unshifted_store;
    double (*moment_store)[2], (*lever_store)[2], (*slip_store)[2];
    double *lent_estimate;      /* estimate of a lent problem as prisms, in the backend's memory */
    size_t lent_capacity;       /* of lent_estimate, entries */
    double *compliance_store;   /* op.compliance if some contact has any */
    double (*inertia_store)[6]; /* op.inverse_inertia if there are general contacts */

    /* Copy of the def from which the problem was made; for a problem filled in place, made by talus_problem_export. */
    TalusProblemDef def;
    bool has_def;        /* `def` is that of the present problem */
    void *def_memory[9]; /* 0 to 5: arrays of def (export.c); 6 to 8: normal rows (matrix.c) */
};

/* problem/matrix.c: checks the def of an explicit problem and fills the problem from it; keeps a copy of the def. */
TalusStatus talus_problem_fill_matrix(TalusProblem *problem, const TalusProblemDef *def);
/* Releases what the problem has in the memory of its backend: copies of op and gamma, lent_estimate, context. */
void talus_problem_release_copy(TalusProblem *problem);
/* Allocates gamma, op->mu and op->diagonal for op's blocks and rows. */
TalusStatus talus_problem_reserve_vectors(TalusProblem *problem);

/* problem/friction.c: fails for an invalid model; `what` and `index` name its owner. */
TalusStatus talus_problem_check_model(TalusFrictionModel model, const char *what, int index);
/* Return the number of corners of a polygon or square; write corner k of the section with mu n = 1 to c. */
int talus_model_corner_count(const TalusBlockModel *model);
void talus_model_corner(const TalusBlockModel *model, int k, double c[2]);
/* Derives the data of op that follow from the friction models: resets the models of blocks without friction, sets
 * kinds and mixed_sets, makes blocks under Coulomb's law cones (prisms false), and fills estimate with zeros and
 * unshifted with the normal offsets if some law needs them. */
TalusStatus talus_problem_settle_friction(TalusProblem *problem);
/* Sets op->kinds to those of all ranks. */
TalusStatus talus_problem_join_kinds(TalusOperator *op);
/* Returns the bits TALUS_KIND(law, section) of all pairs of law and section that blocks with friction, and joints,
 * have; only that of ccp on the disc if there are no such blocks; 0 if blocks have one row. */
uint32_t talus_problem_kinds(const TalusProblem *problem);
/* True if blocks have three rows but no contact has friction, so that the section does not matter. False for lent
 * problems, whose friction is unknown on the host. */
bool talus_problem_is_frictionless(const TalusProblem *problem);
/* Makes blocks under Coulomb's law prisms with bounds from estimates or, if `prisms` is false, cones again. Estimates
 * start as zeros; those of a problem with blocks under `fixed` are kept. On the host and for a lent problem this takes
 * effect at once; if talus_problem_upload copies the problem to a device, call before the upload. */
TalusStatus talus_problem_set_prisms(TalusProblem *problem, bool prisms);
/* During a solve on the host, for observers: saves the normal offsets, which contain De Saxce's shifts, in
 * kept[blocks], removes the shifts from the offsets, and makes blocks under Coulomb's law cones.
 * talus_problem_apply_shifts restores the offsets from `kept` and sets prisms. */
void talus_problem_remove_shifts(TalusProblem *problem, double *kept);
void talus_problem_apply_shifts(TalusProblem *problem, const double *kept, bool prisms);

/* True if solvers work on the host's own arrays. */
static inline bool talus_problem_on_host(const TalusProblem *problem)
{
    return talus_backend_can(problem->backend, TALUS_CAP_HOST_MEMORY);
}

/* problem/location.c. upload: before a solve, copies op and gamma to the backend's memory, reserves the scratch of the
 * copy and sets solver_op and solver_gamma. download: after a solve, copies impulses and estimates back. Nothing is
 * copied if the problem is lent (upload then only reserves the scratch), on the host, or has no blocks. */
TalusStatus talus_problem_upload(TalusProblem *problem);
void talus_problem_download(TalusProblem *problem);
/* Makes a copy in host memory, with its impulses, of a lent problem that is a rank's part, without joints; for gathering
 * (gather.h). Lengths of bodies, which are not lent, are 1. */
TalusStatus talus_problem_fetch(const TalusProblem *lent, TalusProblem **out);
/* Returns the operator whose counts (blocks, rows, bodies) are valid: the lent one or that on the host. */
static inline const TalusOperator *talus_problem_counts(const TalusProblem *problem)
{
    return problem->lent ? problem->solver_op : &problem->op;
}

/* Measures the natural residual of gamma by the operations of a backend and, if `rounding` is not NULL, the estimated
 * rounding error of that residual. beyond: some block is under a law beyond ccp, `fixed` or `coulomb`. */
void talus_residual_measure(const TalusBackend *backend, const TalusOperator *op, bool beyond,
                            const double *gamma, TalusResidual *out, TalusResidual *rounding);
/* talus_residual_measure on the host, for the problem's own operator. */
void talus_problem_residual_and_rounding(TalusProblem *problem, const double *gamma,
                                         TalusResidual *out, TalusResidual *rounding);

/* problem/diagonal.c: fills op's diagonal and coupling. Fails if a normal diagonal entry is not positive or not
 * finite. */
TalusStatus talus_problem_fill_diagonals(TalusProblem *problem);
/* problem/assemble.c: writes N + E as a sparse matrix, which the caller clears. The matrix is the same for any number
 * of threads, and bitwise symmetric unless the problem was given as an unsymmetric matrix. */
TalusStatus talus_problem_assemble(const TalusProblem *problem, TalusSparse *out);
/* Returns the number of entries of the matrix N + E, repeated ones of an explicit problem included; if contacts make
 * more than `limit`, some number above `limit`. Counting then stops early, since its cost grows with the square of the
 * number of contacts of a body. */
int64_t talus_problem_count_entries(const TalusProblem *problem, int64_t limit);
/* problem/export.c: copies `def` and its arrays into problem->def; talus_problem_forget_def releases that copy. */
TalusStatus talus_problem_copy_def(TalusProblem *problem, const TalusProblemDef *def);
void talus_problem_forget_def(TalusProblem *problem);

#endif

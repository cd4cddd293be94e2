/* problem/problem.h - the Problem object's inside. */
#ifndef TALUS_PROBLEM_PROBLEM_H
#define TALUS_PROBLEM_PROBLEM_H

#include "backend/backend.h"
#include "backend/host.h"
#include "linalg/sparse.h"
#include "problem/build.h"

struct TalusProblem {
    TalusOperator op; /* on the host, with the CPU backend's scratch: what public functions read */
    TalusHostScratch scratch;
    double *gamma, *gradient; /* gradient: work of the objective */

    /* Where solvers work: on op and gamma themselves, on a copy of them, or on what was lent. */
    const TalusBackend *backend;
    TalusContext *context; /* of the copy; made with it */
    bool lent;
    TalusOperator *there_op;
    double *there_gamma;
    TalusOperator copy; /* for a backend with memory of its own; kept from solve to solve */
    double *copy_gamma;
    size_t copy_room;
    double *length; /* [bodies]: l */

    double *
        certificate; /* of the last solve (solvers/driver/certificate.h), on the host, or of a file */
    bool has_certificate;

    /* Arrays of op that it has only at times. */
    double *offset_store;         /* op.offset: a solve may shift it */
    TalusBlockModel *model_store; /* these five are op's where the problem has use for them */
    double *estimate_store, *base_store;
    double (*turning_store)[2], (*lever_store)[2];
    double *lent_estimate; /* bounds of a lent problem's Coulomb blocks, in the lender's memory */
    size_t lent_room;
    double *compliance_store;   /* op.compliance when the problem has any */
    double (*inertia_store)[6]; /* op.inertia when the problem has general contacts */

    /* A problem made from a def keeps a copy; one filled in place makes it when asked. */
    TalusProblemDef def;
    bool has_def;
    void *def_memory[9];
};

/* problem/matrix.c: an explicit problem's arrays from its def. */
TalusStatus talus_problem_fill_matrix(TalusProblem *problem, const TalusProblemDef *def);
/* Gives the copy back. */
void talus_problem_drop_copy(TalusProblem *problem);
/* Room for gamma and what every block has. */
TalusStatus talus_problem_reserve_vectors(TalusProblem *problem);

/* problem/friction.c: refuses a model that there is not; `what` and `index` name its bearer. */
TalusStatus talus_problem_check_model(TalusFrictionModel model, const char *what, int index);
/* Corners of a section that is a polygon or a square, and corner k for mu n = 1. */
int talus_model_corners(const TalusBlockModel *model);
void talus_model_corner(const TalusBlockModel *model, int k, double c[2]);
/* What follows from the models of all blocks: op's kinds and varied, room for estimates, base. */
TalusStatus talus_problem_settle_friction(TalusProblem *problem);
/* The kinds of friction of the problem that solvers work on, at least one where it has any. */
uint32_t talus_problem_kinds(const TalusProblem *problem);
/* Whether it has three rows per contact and friction at none, so that the section does not matter. Problems that
 * are in a backend's memory alone are not looked through. */
bool talus_problem_is_smooth(const TalusProblem *problem);
/* Makes Coulomb blocks prisms on their estimates, or cones again. Before talus_problem_send. */
TalusStatus talus_problem_set_moving(TalusProblem *problem, bool moving);
/* For the host's readers amid a solve on the host: offsets without shifts, what they were in `kept`,
 * [blocks], and Coulomb blocks as cones; and back. */
void talus_problem_hide_shifts(TalusProblem *problem, double *kept);
void talus_problem_show_shifts(TalusProblem *problem, const double *kept, bool moving);

/* Solvers work on the host's own arrays. */
static inline bool talus_problem_is_here(const TalusProblem *problem)
{
    return talus_backend_can(problem->backend, TALUS_CAP_HOST_MEMORY);
}

/* problem/place.c: before a solve, op and gamma where the backend works, at problem->there_*; after it,
 * the impulses back to where they are read. */
TalusStatus talus_problem_send(TalusProblem *problem);
void talus_problem_fetch(TalusProblem *problem);
/* The operator whose counts are the problem's. */
static inline const TalusOperator *talus_problem_counts(const TalusProblem *problem)
{
    return problem->lent ? problem->there_op : &problem->op;
}

/* The natural residual of gamma and what rounding may hide of it, where that is not NULL, by the operations of a
 * backend; beyond: some block is under a law beyond ccp. */
void talus_residual_measure(const TalusBackend *backend, const TalusOperator *op, bool beyond,
                            const double *gamma, TalusResidual *out, TalusResidual *rounding);
/* Both on the host. */
void talus_problem_residuals(TalusProblem *problem, const double *gamma, TalusResidual *out,
                             TalusResidual *rounding);

/* problem/diagonal.c */
TalusStatus talus_problem_diagonals(TalusProblem *problem);
/* problem/assemble.c: N + E as a matrix, which the caller clears; symmetric to the bit unless it was
 * given otherwise, and the same for any number of threads. */
TalusStatus talus_problem_assemble(const TalusProblem *problem, TalusSparse *out);
/* problem/export.c */
TalusStatus talus_problem_copy_def(TalusProblem *problem, const TalusProblemDef *def);
void talus_problem_forget_def(TalusProblem *problem);

#endif

/* solvers/session.h - a solver as an object, which solver.c creates and driver.c runs. */
#ifndef TALUS_SOLVERS_SESSION_H
#define TALUS_SOLVERS_SESSION_H

#include "problem/eliminate.h"
#include "solvers/infeasibility.h"
#include "solvers/observe.h"
#include "solvers/solver.h"

struct TalusSolver {
    const TalusSolverType *type;
    TalusSolver **part; /* by type->parts */
    int parts;
    void *params, *state, *work;

    /* memory for its stages, kept from solve to solve as that of `work` is */
    TalusInfeasibility infeasibility;
    TalusObserved observed;
    TalusReduced reduced;
    size_t held; /* bytes, of `work` and its parts, too */
    const TalusBackend
        *backend; /* in whose memory their vectors are; a part's are where those of the whole are */
};

/* Releases all memory of solves on another backend. NULL: of all solves. */
void talus_solver_set_backend(TalusSolver *solver, const TalusBackend *backend);

#endif

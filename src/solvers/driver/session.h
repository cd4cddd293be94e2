/* solvers/driver/session.h - a solver as an object, which solver.c creates and driver.c runs. */
#ifndef TALUS_SOLVERS_DRIVER_SESSION_H
#define TALUS_SOLVERS_DRIVER_SESSION_H

#include "problem/eliminate.h"
#include "solvers/driver/infeasibility.h"
#include "solvers/driver/observe.h"
#include "solvers/driver/solver.h"

struct TalusSolver {
    const TalusSolverType *type;
    TalusSolver **part; /* by type->parts */
    int parts;
    void *params, *state, *work;

    /* Memory of its stages, kept from solve to solve as that of `work` is. Vectors are in the memory of `backend`, which
     * is that of the whole where the solver is a part. */
    TalusInfeasibility infeasibility;
    TalusObserved observed;
    TalusReduced reduced;
    const TalusBackend *backend;
    size_t held; /* bytes, with those of `work` */
};

/* Releases the memory of stages and workspaces if it is of another backend. NULL: in any case. */
void talus_solver_set_backend(TalusSolver *solver, const TalusBackend *backend);

#endif

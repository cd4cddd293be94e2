/* solvers/driver/session.h - a solver as an object, which solver.c creates and driver.c runs; the clock of a session,
 * and who runs in it. */
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

/* session.c: seconds since the session began, without those the clock was stopped for; whether they are over the limit. */
double talus_solve_elapsed(const TalusSolve *solve);
bool talus_solve_is_late(const TalusSolve *solve);
/* Makes a solver the one that runs. */
void talus_solve_enter(TalusSolve *solve, TalusSolver *solver);

#endif

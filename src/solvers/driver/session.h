/* solvers/driver/session.h - the solver object, which solver.c creates and driver.c runs; clock of a session. */
#ifndef TALUS_SOLVERS_DRIVER_SESSION_H
#define TALUS_SOLVERS_DRIVER_SESSION_H

#include "problem/eliminate.h"
#include "solvers/driver/infeasibility.h"
#include "solvers/driver/observe.h"
#include "solvers/driver/solver.h"

struct TalusSolver {
    const TalusSolverType *type;
    TalusSolver **part; /* [parts]: a solver for each entry of type->parts */
    int parts;
    void *params, *state, *work;

    /* Memory of the stages, reused from solve to solve like that of `work`. Vectors are in the memory of `backend`; in
     * a part `backend` is NULL, and its vectors are in the memory of the whole solver's backend. */
    TalusInfeasibility infeasibility;
    TalusObserved observed;
    TalusReduced reduced;
    TalusVectors *vectors; /* list of all vectors reserved for this solver, to release them */
    const TalusBackend *backend;
    size_t held; /* bytes that stages have allocated and that stay for the next solve */
};

/* Sets the backend of the solver. If its workspaces are in the memory of another backend, releases them first; NULL
 * releases them in any case. */
void talus_solver_set_backend(TalusSolver *solver, const TalusBackend *backend);

/* session.c: returns the seconds since the session began, without the time the clock was stopped. */
double talus_solve_elapsed(const TalusSolve *solve);
/* True if talus_solve_elapsed exceeds the time limit of the options. */
bool talus_solve_is_late(const TalusSolve *solve);
/* Makes `solver` the current solver of the session, with its type, parameters, state and workspace. */
void talus_solve_set_solver(TalusSolve *solve, TalusSolver *solver);

#endif

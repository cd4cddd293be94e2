/* solvers/newton/ssn.c - generalised Newton method on bounds, preclik-2009 section 3.3: the steps of ssn_step.h alone.
 *
 * Iterates of map=minmax may be outside the set; the last one is projected. One factorisation per iteration, on one
 * thread of the host. With constant bounds it is symmetric, as N is. Only under Coulomb's law may N from a file be
 * unsymmetric; the factorisation with constant bounds then uses one triangle, and steps are Newton's only as far as the
 * triangles agree. */
#include "solvers/newton/ssn_step.h"

#include "base/status.h"

static const TalusParam params[] = {TALUS_SSN_PARAM_ROWS(TALUS_SSN_FROZEN, 1e-5)};

static TalusStatus iterate(TalusSolve *s, TalusSsn *w)
{
    TalusForwardSums at;
    talus_ssn_set_iterate(w, s);
    talus_ssn_measure(w, s, &at);
    for (int products = 1;
         talus_solve_next(s, products, s->gamma, NULL, at.residual2, at.residual_max);
         products = 2) {
        TalusSsnMove move = {.search = true};
        talus_ssn_anchor(w, s);
        TALUS_TRY(talus_ssn_step(w, s, &move));
        talus_ssn_measure(w, s, &at);
    }
    s->backend->block.project(s->op, NULL, s->gamma);
    return TALUS_OK;
}

static TalusStatus solve_ssn(TalusSolve *s)
{
    TalusSsn *w = s->work;
    TalusStatus status = talus_ssn_begin(w, s, s->params);
    TALUS_THEN(status, iterate(s, w));
    TalusStatus ended = talus_ssn_end(w, s);
    return status == TALUS_OK ? ended : status;
}

const TalusSolverType talus_solver_ssn = {
    .name = "ssn",
    .summary = "semismooth Newton on boxes: few steps once the active set is known, each dear",
    .reference = "preclik-2009 section 3.3",
    .takes = TALUS_TAKES_NONNEG | TALUS_TAKES_BOX | TALUS_TAKES(COULOMB, SQUARE),
    TALUS_PARAMS(params, TalusSsnParams),
    .work_size = sizeof(TalusSsn),
    .solve = solve_ssn,
    .clear = talus_ssn_clear,
    .on_host = "the factorisation of the free rows",
};

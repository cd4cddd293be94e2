/* solvers/pivot/lcp_work.c - what solvers of a contact problem's LCP share (lcp_work.h). */
#include "solvers/pivot/lcp_work.h"

#include "solvers/driver/infeasibility.h"
#include "solvers/driver/outer.h"

#include "base/status.h"

/* Fails if the LCP has more than max_unknowns unknowns. */
static TalusStatus check_size(const TalusSolve *s, int max_unknowns)
{
    int64_t size = talus_contact_lcp_size(s->op);
    if (size <= max_unknowns)
        return TALUS_OK;
    bool coulomb = (s->op->kinds & TALUS_KINDS_OF(TALUS_LAW_COULOMB)) != 0;
    return talus_solver_fail(
        s->type->name, TALUS_ERR_UNSUPPORTED,
        "%s LCP of %d contacts has %lld unknowns, above max_unknowns=%d; %s",
        coulomb ? "Stewart and Trinkle's" : "the dual", s->op->blocks, (long long)size,
        max_unknowns,
        coulomb ? "apgd takes problems of this size, or raise max_unknowns"
                : "ipm-chol or apgd take problems of this size, or raise max_unknowns");
}

/* Measures vector[IMPULSE], offers it as the best iterate and reports it as one iteration. True if the solve must go
 * on. */
static bool report_impulses(TalusLcpWork *w, TalusSolve *s)
{
    double *impulse = w->vector[TALUS_LCP_IMPULSE];
    TalusResidual r;
    talus_outer_measure(s, impulse, &r, NULL);
    talus_solve_count(s, 1);
    talus_best_offer(&w->best, s, impulse, r.rms);
    return talus_solve_observe(s, impulse, NULL, r.rms) && talus_solve_continue(s, r.rms, r.max);
}

TalusStatus talus_lcp_work_begin(TalusLcpWork *w, TalusSolve *s, int max_unknowns, bool *again)
{
    TALUS_TRY(check_size(s, max_unknowns));
    TALUS_TRY(talus_vectors_reserve(s, &w->memory, TALUS_LCP_VECTORS, w->vector, "vectors"));
    s->backend->op.product(s->op, NULL, false, true, w->vector[TALUS_LCP_OFFSET]);
    TALUS_TRY(talus_contact_lcp_fill(&w->problem, s->problem, w->vector[TALUS_LCP_OFFSET]));
    TALUS_TRY(talus_best_begin(&w->best, s));
    s->infeasibility->off = true;
    talus_vector_copy(s, s->gamma, w->vector[TALUS_LCP_IMPULSE]);
    s->backend->block.project(s->op, NULL, w->vector[TALUS_LCP_IMPULSE]);
    *again = report_impulses(w, s);
    return TALUS_OK;
}

bool talus_lcp_work_report(TalusLcpWork *w, TalusSolve *s, const double *z)
{
    talus_contact_lcp_get_impulses(&w->problem, z, w->vector[TALUS_LCP_IMPULSE]);
    s->backend->block.project(s->op, NULL, w->vector[TALUS_LCP_IMPULSE]);
    return report_impulses(w, s);
}

bool talus_lcp_work_prove(TalusLcpWork *w, TalusSolve *s, const double *z)
{
    talus_contact_lcp_get_impulses(&w->problem, z, w->vector[TALUS_LCP_RAY]);
    bool proof = talus_certificate_find(s, &w->certificate, w->vector[TALUS_LCP_RAY]);
    if (proof)
        s->info->outcome = TALUS_OUTCOME_INFEASIBLE;
    return proof;
}

void talus_lcp_work_end(TalusLcpWork *w, TalusSolve *s, bool unsolved)
{
    if (unsolved)
        s->info->outcome = TALUS_OUTCOME_BUDGET;
    talus_vector_copy(s, w->vector[TALUS_LCP_IMPULSE], s->gamma);
    talus_best_restore(&w->best, s, s->gamma);
}

void talus_lcp_work_clear(TalusLcpWork *w)
{
    talus_contact_lcp_clear(&w->problem);
}

void talus_lcp_work_get_start(TalusLcpWork *w, TalusSolve *s, double *z)
{
    double *velocity = w->vector[TALUS_LCP_RAY];
    s->backend->op.product(s->op, w->vector[TALUS_LCP_IMPULSE], true, true, velocity);
    s->info->products++;
    talus_contact_lcp_get_unknowns(&w->problem, w->vector[TALUS_LCP_IMPULSE], velocity, z);
}

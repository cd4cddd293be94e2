/* problem/problem.c - memory of a problem, filling in place (build.h), queries, residual and objective. */
#include "problem/problem.h"

#include "backend/incidence.h"
#include "backend/part.h"
#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

/* ---- memory ---- */

TalusStatus talus_problem_create_empty(TalusPool *pool, TalusProblem **out)
{
    TALUS_TRY(TALUS_ALLOC(*out, 1, "problem"));
    (*out)->backend = &talus_backend_cpu;
    (*out)->op.pool = pool;
    (*out)->op.scratch = &(*out)->scratch;
    (*out)->op.rows = 1;
    return TALUS_OK;
}

void talus_problem_release_copy(TalusProblem *p)
{
    if (talus_problem_on_host(p))
        return;
    p->backend->op.mirror_clear(&p->copy);
    p->backend->vector.release(p->copy_gamma);
    p->backend->vector.release(p->lent_estimate);
    p->backend->context_destroy(p->context);
    p->op.context = p->context = NULL;
    p->copy_gamma = p->lent_estimate = NULL;
    p->copy_capacity = p->lent_capacity = 0;
}

void talus_problem_destroy(TalusProblem *p)
{
    if (!p)
        return;
    talus_problem_forget_def(p);
    talus_problem_release_copy(p);
    talus_halo_destroy(p->op.halo);
    TALUS_RELEASE(p->op.pair, p->op.frame, p->op.arm, p->op.body, p->inertia_store, p->op.bias,
                  p->op.mu, p->compliance_store, p->op.diagonal, p->op.coupling,
                  p->op.incidence_start, p->op.incidence, p->gamma, p->gradient, p->length,
                  p->certificate, p->offset_store, p->model_store, p->estimate_store,
                  p->unshifted_store, p->moment_store, p->lever_store, p->slip_store,
                  p->scratch.record, p->scratch.velocity, p->scratch.product, p->scratch.unscaled,
                  p->scratch.partial, p->scratch.vector_partial, p->scratch.groups.start,
                  p->scratch.border.body, p->scratch.border.group, p->scratch.border.is_sent,
                  p->scratch.single, p->part_number, p->part_block, p);
}

TalusStatus talus_problem_reserve_vectors(TalusProblem *p)
{
    TalusOperator *op = &p->op;
    size_t blocks = (size_t)op->blocks, n = blocks * (size_t)op->rows;
    TALUS_TRY(TALUS_GROW(p->gamma, n, 0, "impulses"));
    TALUS_TRY(TALUS_GROW(op->mu, blocks, 0, "friction coefficients"));
    return TALUS_GROW(op->diagonal, blocks, 0, "diagonal");
}

/* Allocates those optional arrays of op that a problem of these sizes has; op's pointers to the other ones become
 * NULL. */
static TalusStatus reserve_optional(TalusProblem *p, const TalusProblemSizes *sizes)
{
    TalusOperator *op = &p->op;
    size_t m = (size_t)op->blocks, bodies = (size_t)op->bodies, general = (size_t)op->general;
    op->compliance = NULL;
    if (sizes->compliance) {
        TALUS_TRY(TALUS_GROW(p->compliance_store, m, 0, "compliances"));
        op->compliance = p->compliance_store;
    }
    op->inverse_inertia = NULL;
    if (general || sizes->inertias) {
        TALUS_TRY(TALUS_GROW(p->inertia_store, bodies, 0, "body inertias"));
        op->inverse_inertia = p->inertia_store;
    }
    op->model = NULL;
    if (sizes->models) {
        TALUS_TRY(TALUS_GROW(p->model_store, m, 0, "friction models"));
        op->model = p->model_store;
    }
    op->slip = NULL;
    if (sizes->slip && sizes->rows > 1) {
        TALUS_TRY(TALUS_GROW(p->slip_store, m, 0, "tangential offsets"));
        op->slip = p->slip_store;
    }
    op->moment_mu = op->lever = NULL;
    if (sizes->rows == 6) {
        TALUS_TRY(TALUS_GROW(p->moment_store, m, 0, "rolling friction"));
        TALUS_TRY(TALUS_GROW(p->lever_store, general, 0, "contact lengths"));
        op->moment_mu = p->moment_store;
        op->lever = p->lever_store;
    }
    return TALUS_OK;
}

TalusStatus talus_problem_resize(TalusProblem *p, const TalusProblemSizes *sizes)
{
    TalusOperator *op = &p->op;
    int64_t blocks = (int64_t)sizes->sphere_sphere + sizes->sphere_fixed + sizes->general;
    int rows = sizes->rows > 3 ? sizes->rows : 3;
    if (blocks * rows + sizes->general > INT32_MAX)
        return talus_fail(TALUS_ERR_UNSUPPORTED, "problem: %lld contacts are more than %d",
                          (long long)blocks, INT32_MAX / rows);
    talus_problem_forget_def(p);
    p->lent = false;
    talus_halo_destroy(op->halo);
    op->halo = NULL;
    op->bodies = sizes->bodies;
    op->sphere_sphere = sizes->sphere_sphere;
    op->sphere_fixed = sizes->sphere_fixed;
    op->general = sizes->general;
    op->list_end[0] = sizes->sphere_sphere + sizes->first_runs[0];
    op->list_end[1] = op->list_end[0] + sizes->sphere_fixed + sizes->first_runs[1];
    op->joints = sizes->joints;
    op->rows = sizes->rows;
    op->blocks = (int)blocks;
    size_t m = (size_t)blocks, bodies = (size_t)sizes->bodies, general = (size_t)sizes->general;
    TALUS_TRY(TALUS_GROW(op->pair, m, 0, "contact pairs"));
    TALUS_TRY(TALUS_GROW(op->frame, m, 0, "contact frames"));
    TALUS_TRY(TALUS_GROW(op->arm, general, 0, "contact arms"));
    TALUS_TRY(TALUS_GROW(op->coupling, general, 0, "contact blocks"));
    TALUS_TRY(TALUS_GROW(op->body, bodies, 0, "bodies"));
    TALUS_TRY(TALUS_GROW(op->bias, m, 0, "contact offsets"));
    TALUS_TRY(TALUS_GROW(op->incidence_start, bodies + 2, 0, "body contacts"));
    TALUS_TRY(TALUS_GROW(op->incidence, 2 * m, 0, "body contacts"));
    TALUS_TRY(TALUS_GROW(p->length, bodies, 0, "body lengths"));
    TALUS_TRY(reserve_optional(p, sizes));
    return talus_problem_reserve_vectors(p);
}

TalusOperator *talus_problem_operator(TalusProblem *p)
{
    return &p->op;
}

double **talus_problem_lend_gamma(TalusProblem *p)
{
    return &p->gamma;
}

double (**talus_problem_lend_wrenches(TalusProblem *p))[6]
{
    return &p->scratch.record;
}

double *talus_problem_lengths(TalusProblem *p)
{
    return p->length;
}

/* Rejects the problem unless its last op->joints blocks are free joints. */
static TalusStatus check_joints(const TalusOperator *op)
{
    for (int i = op->blocks - op->joints; i < op->blocks; i++)
        if (op->rows == 1 || !op->model || op->model[i].section != TALUS_SECTION_JOINT ||
            op->mu[i] < INFINITY)
            return talus_reject(
                "problem: the last %d blocks were to be free joints, block %d is not", op->joints,
                i);
    return TALUS_OK;
}

TalusStatus talus_problem_finish(TalusProblem *p)
{
    p->has_certificate = false; /* that of the previous problem */
    p->scratch.velocity_of = NULL;
    TALUS_TRY(check_joints(&p->op));
    talus_list_incidences(&p->op, NULL, NULL, p->op.incidence_start, p->op.incidence);
    TALUS_TRY(talus_backend_cpu.op.reserve_scratch(&p->op));
    TALUS_TRY(talus_problem_settle_friction(p));
    return talus_problem_fill_diagonals(p);
}

/* ---- queries ---- */

int talus_problem_blocks(const TalusProblem *p)
{
    return talus_problem_counts(p)->blocks;
}

int talus_problem_rows(const TalusProblem *p)
{
    return talus_problem_counts(p)->rows;
}

int talus_problem_size(const TalusProblem *p)
{
    return talus_problem_counts(p)->rows * talus_problem_counts(p)->blocks;
}

int talus_problem_bodies(const TalusProblem *p)
{
    return talus_problem_counts(p)->bodies;
}

double talus_problem_mu(const TalusProblem *p, int block)
{
    return p->op.rows > 1 ? p->op.mu[block] : 0.0;
}

double *talus_problem_gamma(TalusProblem *p)
{
    return p->gamma;
}

TalusStatus talus_problem_reserve_certificate(TalusProblem *p, double **out)
{
    size_t n = (size_t)talus_problem_size(p);
    TALUS_TRY(TALUS_GROW(p->certificate, n, 0, "certificate"));
    p->has_certificate = true;
    *out = p->certificate;
    return TALUS_OK;
}

TalusStatus talus_problem_set_certificate(TalusProblem *p, const double *certificate)
{
    double *stored;
    p->has_certificate = false;
    if (!certificate)
        return TALUS_OK;
    TALUS_TRY(talus_problem_reserve_certificate(p, &stored));
    memcpy(stored, certificate, (size_t)talus_problem_size(p) * sizeof *stored);
    return TALUS_OK;
}

const double *talus_problem_certificate(const TalusProblem *p)
{
    return p->has_certificate ? p->certificate : NULL;
}

double talus_problem_diagonal(const TalusProblem *p, int block)
{
    return talus_block_scale(&p->op, block);
}

void talus_problem_apply(TalusProblem *p, const double *x, double *out)
{
    talus_backend_cpu.op.product(&p->op, x, false, false, out);
}

void talus_problem_velocity(TalusProblem *p, const double *gamma, double *u)
{
    talus_backend_cpu.op.product(&p->op, gamma, false, true, u);
}

void talus_problem_gradient(TalusProblem *p, const double *gamma, double *gradient)
{
    talus_backend_cpu.op.product(&p->op, gamma, true, true, gradient);
}

void talus_problem_offset(TalusProblem *p, double *q)
{
    talus_backend_cpu.op.product(&p->op, NULL, false, true, q);
}

const double (*talus_problem_velocities(TalusProblem *p))[8]
{
    talus_backend_cpu.op.body_velocities(&p->op, p->gamma, true, p->scratch.velocity);
    return (const double(*)[8])p->scratch.velocity;
}

/* Writes 1/m and k, which the terms of a residual have replaced, to the velocity records again. */
static void restore_masses(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const TalusProblem *p = context;
    (void)chunk;
    for (int64_t i = begin; i < end; i++) {
        p->scratch.velocity[i][3] = p->op.body[i][3];
        p->scratch.velocity[i][7] = p->op.body[i][7];
    }
}

const double (*talus_problem_solved_velocities(TalusProblem *p))[8]
{
    if (!p->gamma || p->scratch.velocity_of != p->gamma)
        return talus_problem_velocities(p);
    talus_parallel(p->op.pool, p->op.bodies, BODY_GRAIN, restore_masses, p);
    p->scratch.velocity_of = NULL;
    return (const double(*)[8])p->scratch.velocity;
}

TalusStatus talus_problem_body_velocity(TalusProblem *p, const double *gamma, double *v)
{
    if (!p->op.pair)
        return talus_fail(TALUS_ERR_UNSUPPORTED,
                          "problem: an explicit matrix has no bodies, so no body velocities");
    talus_backend_cpu.op.body_velocities(&p->op, gamma, true, p->scratch.velocity);
    for (int i = 0; i < p->op.bodies; i++)
        for (int k = 0; k < 3; k++) {
            v[6 * i + k] = p->scratch.velocity[i][k];
            v[6 * i + 3 + k] = p->scratch.velocity[i][4 + k] / p->length[i];
        }
    return TALUS_OK;
}

/* Returns the estimated rounding error of the residual at gamma. It is 0 for zero impulses with residual 0, which
 * solve the problem whatever the rounding of velocities is. */
static TalusResidual residual_rounding(const TalusBackend *backend, const TalusOperator *op,
                                       const double *gamma, const TalusResidual *residual,
                                       const TalusTermSums *terms)
{
    if (talus_all_blocks(op) == 0.0 ||
        (residual->max == 0.0 && backend->vector.dot(op, gamma, gamma) == 0.0))
        return (TalusResidual){0};
    return (TalusResidual){TALUS_ROUNDING * sqrt(terms->terms2 / talus_all_blocks(op)),
                           2.0 * TALUS_ROUNDING * terms->terms_max};
}

void talus_residual_measure(const TalusBackend *backend, const TalusOperator *op, bool beyond,
                            const double *gamma, TalusResidual *out, TalusResidual *rounding)
{
    TalusResidualSums sums;
    TalusTermSums terms, *wanted = rounding ? &terms : NULL;
    double blocks = fmax(talus_all_blocks(op), 1.0);
    if (beyond) {
        TalusLawSums law;
        backend->law.measure_and_shift(op, gamma, 0.0, &law, wanted);
        sums = (TalusResidualSums){law.residual2, law.residual_max};
    } else {
        backend->op.residual(op, gamma, &sums, wanted);
    }
    *out = (TalusResidual){sqrt(sums.residual2 / blocks), sums.residual_max};
    if (rounding)
        *rounding = residual_rounding(backend, op, gamma, out, &terms);
}

void talus_problem_residual_and_rounding(TalusProblem *p, const double *gamma, TalusResidual *out,
                                         TalusResidual *rounding)
{
    bool beyond = p->op.kinds & ~TALUS_KINDS_OF(TALUS_LAW_CCP);
    talus_residual_measure(&talus_backend_cpu, &p->op, beyond, gamma, out, rounding);
}

void talus_problem_residual(TalusProblem *p, const double *gamma, TalusResidual *out)
{
    talus_problem_residual_and_rounding(p, gamma, out, NULL);
}

/* The objective is computed as 1/2 gamma'(g + q) with g = (N + E) gamma + q. */
TalusStatus talus_problem_objective(TalusProblem *p, const double *gamma, double *objective)
{
    size_t n = (size_t)talus_problem_size(p);
    TALUS_TRY(TALUS_GROW(p->gradient, n, 0, "gradient"));
    talus_problem_offset(p, p->gradient);
    double linear = talus_backend_cpu.vector.dot(&p->op, gamma, p->gradient);
    talus_problem_gradient(p, gamma, p->gradient);
    *objective = 0.5 * (linear + talus_backend_cpu.vector.dot(&p->op, gamma, p->gradient));
    return TALUS_OK;
}

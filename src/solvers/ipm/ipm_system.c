/* solvers/ipm/ipm_system.c - shared parts of the linear systems of the interior point method, and the dual form. */
#include "solvers/ipm/ipm_system.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

/* T is raised to at least FLOOR times the diagonal of P (TalusQp.scale), far above the rounding of sums in P. Each time
 * a factorisation still fails, the floor is multiplied by RAISE, up to CEILING. The floor acts as a proximal term: it
 * shortens steps of the multipliers along the null space of P, on which velocities do not depend, and hardly changes
 * other steps. With a FLOOR of 1e-15 the normal equations stall on a bed of spheres
 * (docs/reference/solvers/direct.md). */
static const double FLOOR = 1e-13, RAISE = 100.0, CEILING = 1e-6;

/* ---- the dual form ---- */

/* `prepare` of TalusIpmForm: also stores the values of P times s->mass in s->base. */
static TalusStatus prepare_dual(TalusIpmSystem *s, const TalusProblem *problem)
{
    talus_sparse_clear(&s->lower);
    TALUS_TRY(talus_qp_dual_matrix(s->qp, problem, true, &s->lower));
    size_t entries = (size_t)talus_sparse_entries(&s->lower);
    TALUS_TRY(TALUS_GROW(s->base, entries, 0, "matrix of the dual"));
    for (size_t e = 0; e < entries; e++)
        s->base[e] = s->mass * s->lower.value[e];
    return TALUS_OK;
}

/* `fill` of TalusIpmForm: P + T, times s->mass. */
static void fill_dual(TalusIpmSystem *s)
{
    size_t entries = (size_t)talus_sparse_entries(&s->lower);
    memcpy(s->lower.value, s->base, entries * sizeof *s->base);
    for (int k = 0; k < s->lower.rows; k++)
        s->lower.value[s->lower.start[k + 1] - 1] += s->t[k];
}

/* `solve` of TalusIpmForm. */
static TalusStatus solve_dual(TalusIpmSystem *s, double *x)
{
    TALUS_TRY(talus_direct_solve(s->direct, x));
    for (int k = 0; k < s->qp->multipliers; k++)
        x[k] *= s->mass;
    return TALUS_OK;
}

const TalusIpmForm talus_ipm_dual = {
    .prepare = prepare_dual, .fill = fill_dual, .solve = solve_dual};

/* ---- common ---- */

/* Returns a power of two near the least effective mass of a contact, 1 / the largest diagonal entry of P; kg. */
static double unit_of_mass(const TalusQp *qp)
{
    double max = 0.0;
    int exponent = 0;
    for (int k = 0; k < qp->multipliers; k++)
        max = fmax(max, qp->scale[k]);
    frexp(max, &exponent);
    return ldexp(1.0, -exponent);
}

TalusStatus talus_ipm_system_prepare(TalusIpmSystem *s, const TalusIpmForm *form,
                                     TalusDirectKind kind, const TalusQp *qp,
                                     const TalusProblem *problem)
{
    s->qp = qp;
    s->form = qp->has_primal ? form : &talus_ipm_dual;
    s->mass = unit_of_mass(qp);
    s->floor = FLOOR;
    s->kind = kind;
    TALUS_TRY(talus_direct_ensure(kind, &s->direct));
    TALUS_TRY(TALUS_GROW(s->t, (size_t)qp->multipliers, 0, "diagonal"));
    talus_release(s->sign);
    s->sign = NULL;
    TALUS_TRY(s->form->prepare(s, problem));
    TALUS_TRY(TALUS_GROW(s->x, (size_t)s->lower.rows, 0, "unknowns"));
    return talus_direct_analyse(s->direct, &s->lower, s->sign);
}

TalusStatus talus_ipm_system_factor(TalusIpmSystem *s, double *t)
{
    for (;;) {
        for (int k = 0; k < s->qp->multipliers; k++) {
            double raised = fmax(t[k], s->floor * s->qp->scale[k]);
            s->t[k] = s->mass * raised;
            t[k] = isinf(s->qp->bound[k]) ? t[k] : raised;
        }
        s->form->fill(s);
        TalusStatus status = talus_direct_factor(s->direct, &s->lower);
        if (status == TALUS_OK && s->form->factor)
            status = s->form->factor(s);
        s->factorisations++;
        if (status != TALUS_ERR_NUMERIC || s->floor >= CEILING)
            return status;
        s->floor *= RAISE;
    }
}

TalusStatus talus_ipm_system_solve(TalusIpmSystem *s, double *x)
{
    return s->form->solve(s, x);
}

/* A column of c entries takes about c^2 operations to factorise and 4 c to solve with. The estimate gives all columns
 * their mean length, so the true ratio is larger. */
double talus_ipm_system_cost_ratio(const TalusIpmSystem *s)
{
    double fill = (double)talus_direct_facts(s->direct).fill;
    return s->lower.rows > 0 ? fill / (4.0 * s->lower.rows) : 0.0;
}

void talus_ipm_system_clear(TalusIpmSystem *s)
{
    talus_direct_destroy(s->direct);
    talus_ipm_schur_clear(&s->schur);
    talus_sparse_clear(&s->lower);
    TALUS_RELEASE(s->sign, s->t, s->x, s->base, s->contact, s->compliance_row);
    memset(s, 0, sizeof *s);
}

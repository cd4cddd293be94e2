/* solvers/ipm/ipm_conic.c - contact problems as quadratic programs over second-order cones and half lines
 * (ipm_conic.h). */
#include "solvers/ipm/ipm_conic.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

/* Number of impulses of the problem. */
static int problem_size(const TalusConic *c)
{
    return c->s->op->rows * c->s->op->blocks;
}

/* Returns the largest |x_k|. */
static double largest_magnitude(const double *x, int n)
{
    double largest = 0.0;
    for (int k = 0; k < n; k++)
        largest = fmax(largest, fabs(x[k]));
    return largest;
}

/* Reserves blocks and vectors for c->blocks and c->rows. */
static TalusStatus reserve_memory(TalusConic *c)
{
    size_t size = (size_t)problem_size(c);
    c->n = c->rows * c->blocks;
    TALUS_TRY(TALUS_GROW(c->block, (size_t)c->blocks, 0, "cones"));
    TALUS_TRY(TALUS_GROW(c->q, (size_t)c->n, 0, "offsets"));
    TALUS_TRY(TALUS_GROW(c->right, (size_t)c->n, 0, "right-hand side"));
    TALUS_TRY(TALUS_GROW(c->gamma, size, 0, "impulses"));
    return TALUS_GROW(c->u, size, 0, "velocities");
}

/* ---- discs ---- */

/* z = the velocities u in the coordinates of the cones. */
static void from_velocities(const TalusConic *c, const double *u, double *z)
{
    for (int i = 0; i < c->blocks; i++)
        talus_soc_from_velocity(&c->block[i], c->rows, u + i * c->rows, z + i * c->rows);
}

static void disc_to_impulses(const TalusConic *c, const double *x, double *gamma)
{
    for (int i = 0; i < c->blocks; i++)
        talus_soc_to_impulse(&c->block[i], c->rows, x + i * c->rows, gamma + i * c->rows);
}

static TalusStatus prepare_discs(TalusConic *c, TalusSocLinear linear)
{
    const TalusOperator *op = c->s->op;
    c->blocks = op->blocks;
    c->rows = op->rows;
    TALUS_TRY(reserve_memory(c));
    c->cones = talus_soc_fill_blocks(op, c->block);
    c->s->backend->op.product(op, NULL, false, true, c->u);
    talus_soc_find_units(op, largest_magnitude(c->u, c->n), &c->unit, &c->impulse);
    from_velocities(c, c->u, c->q);
    for (int k = 0; k < c->n; k++)
        c->q[k] *= c->unit / c->impulse;
    return talus_soc_system_choose(&c->system, c->s, linear, TALUS_SOC_FORM_AUTO, c->unit);
}

static void multiply_discs(TalusConic *c, const double *x, double *out)
{
    disc_to_impulses(c, x, c->gamma);
    c->s->backend->op.product(c->s->op, c->gamma, true, false, c->u);
    c->s->info->products++;
    from_velocities(c, c->u, out);
    for (int k = 0; k < c->n; k++)
        out[k] *= c->unit;
}

static TalusStatus factor_discs(TalusConic *c, const double *x, const double *z)
{
    return talus_soc_system_scale(&c->system, c->s, c->block, x, z);
}

static TalusStatus solve_discs(TalusConic *c, const double *r, double enough, double *d,
                               double *image)
{
    double left;
    memset(c->right, 0, (size_t)c->n * sizeof *c->right);
    for (int i = 0; i < c->blocks; i++)
        talus_soc_to_axes(&c->block[i], r + i * c->rows, c->right + i * c->rows);
    TALUS_TRY(talus_soc_system_solve(&c->system, c->s, c->right, enough, d, c->u, &left));
    for (int i = 0; i < c->blocks; i++)
        talus_soc_from_axes(&c->block[i], d + i * c->rows, d + i * c->rows);
    from_velocities(c, c->u, image);
    return TALUS_OK;
}

static const TalusConicForm discs = {.prepare = prepare_discs,
                                     .product = multiply_discs,
                                     .factor = factor_discs,
                                     .solve = solve_discs,
                                     .to_impulses = disc_to_impulses};

/* ---- polygons ---- */

/* `product` of TalusIpm; context is a TalusConic. */
static void multiply_by_operator(void *context, const double *gamma, double *u)
{
    const TalusConic *c = context;
    c->s->backend->op.product(c->s->op, gamma, true, false, u);
    c->s->info->products++;
}

/* Chooses form and direct solver of the linear systems and prepares them. */
static TalusStatus prepare_ipm_system(TalusConic *c, TalusSocLinear linear)
{
    const TalusIpmForm *form =
        linear == TALUS_SOC_LINEAR_MUMPS ? &talus_ipm_augmented : &talus_ipm_normal;
    bool ldl = linear == TALUS_SOC_LINEAR_LDL ||
               (linear == TALUS_SOC_LINEAR_AUTO && talus_direct_missing(TALUS_DIRECT_CHOLMOD));
    TalusDirectKind kind = linear == TALUS_SOC_LINEAR_MUMPS ? TALUS_DIRECT_MUMPS
                           : ldl                            ? TALUS_DIRECT_LDL
                                                            : TALUS_DIRECT_CHOLMOD;
    return talus_ipm_system_prepare(&c->ipm.system, form, kind, &c->ipm.qp, c->s->problem);
}

static TalusStatus prepare_polygons(TalusConic *c, TalusSocLinear linear)
{
    TalusIpm *ipm = &c->ipm;
    TALUS_TRY(talus_qp_fill(&ipm->qp, c->s->problem));
    TALUS_TRY(talus_ipm_reserve(ipm));
    ipm->product = multiply_by_operator;
    ipm->context = c;
    c->blocks = c->cones = ipm->qp.multipliers;
    c->rows = 1;
    TALUS_TRY(reserve_memory(c));
    talus_soc_find_units(c->s->op, ipm->speed, &c->unit, &c->impulse);
    for (int k = 0; k < c->n; k++) {
        c->block[k] = (TalusSocBlock){.kind = TALUS_SOC_RAY, .scale = ipm->qp.scale[k]};
        c->q[k] = c->unit / c->impulse * ipm->qp.kappa[k];
    }
    return prepare_ipm_system(c, linear);
}

static void multiply_polygons(TalusConic *c, const double *x, double *out)
{
    talus_qp_impulses(&c->ipm.qp, x, c->gamma);
    multiply_by_operator(c, c->gamma, c->u);
    talus_qp_slacks(&c->ipm.qp, c->u, out);
    for (int k = 0; k < c->n; k++)
        out[k] *= c->unit;
}

static TalusStatus factor_polygons(TalusConic *c, const double *x, const double *z)
{
    double *t = c->ipm.vector[TALUS_IPM_T];
    for (int k = 0; k < c->n; k++) {
        if (!talus_soc_set_scaling(&c->block[k], x + k, z + k))
            return talus_fail(TALUS_ERR_NUMERIC, "no scaling of multiplier %d", k);
        t[k] = z[k] / x[k] / c->unit;
    }
    int before = c->ipm.system.factorisations;
    TalusStatus status = talus_ipm_system_factor(&c->ipm.system, t);
    c->s->info->factorisations += c->ipm.system.factorisations - before;
    return status;
}

static TalusStatus solve_polygons(TalusConic *c, const double *r, double enough, double *d,
                                  double *image)
{
    double *right = c->ipm.vector[TALUS_IPM_RIGHT];
    (void)enough; /* talus_ipm_solve_refined ends by a bound of its own */
    for (int k = 0; k < c->n; k++)
        right[k] = c->block[k].length[0] * r[k] / c->unit;
    TALUS_TRY(talus_ipm_solve_refined(&c->ipm, d));
    for (int k = 0; k < c->n; k++) {
        d[k] *= c->block[k].length[0];
        image[k] = c->block[k].length[0] * (r[k] - d[k]); /* by the system, without a product */
    }
    return TALUS_OK;
}

static void polygon_to_impulses(const TalusConic *c, const double *x, double *gamma)
{
    talus_qp_impulses(&c->ipm.qp, x, gamma);
}

static const TalusConicForm polygons = {.prepare = prepare_polygons,
                                        .product = multiply_polygons,
                                        .factor = factor_polygons,
                                        .solve = solve_polygons,
                                        .to_impulses = polygon_to_impulses};

/* ---- both ---- */

/* True if some contact has friction on a polygon or square. */
static bool has_polygons(const TalusOperator *op)
{
    for (int i = 0; op->rows > 1 && op->model && i < op->blocks; i++)
        if (op->mu[i] > 0.0 && op->model[i].section != TALUS_SECTION_DISC)
            return true;
    return false;
}

TalusStatus talus_conic_prepare(TalusConic *c, TalusSolve *s, TalusSocLinear linear)
{
    c->s = s;
    c->form = has_polygons(s->op) || s->op->rows == 1 ? &polygons : &discs;
    return c->form->prepare(c, linear);
}

void talus_conic_product(TalusConic *c, const double *x, double *out)
{
    c->form->product(c, x, out);
}

TalusStatus talus_conic_factor(TalusConic *c, const double *x, const double *z)
{
    return c->form->factor(c, x, z);
}

TalusStatus talus_conic_solve(TalusConic *c, const double *r, double enough, double *d,
                              double *image)
{
    return c->form->solve(c, r, enough, d, image);
}

void talus_conic_to_impulses(const TalusConic *c, const double *x, double *gamma)
{
    c->form->to_impulses(c, x, gamma);
    for (int k = 0; k < problem_size(c); k++)
        gamma[k] *= c->impulse;
}

void talus_conic_clear(TalusConic *c)
{
    talus_soc_system_clear(&c->system);
    talus_ipm_release(&c->ipm);
    TALUS_RELEASE(c->block, c->q, c->right, c->gamma, c->u);
    *c = (TalusConic){0};
}

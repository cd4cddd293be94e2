/* solvers/face/minres.c - MINRES (Paige and Saunders 1975) for A_FF w = -g_F, F the free entries of a face (gp.h).
 *
 * Lanczos with a preconditioner M: v_j = z_j / beta_j, z_j = M^-1 r_j, beta_j^2 = r_j'z_j,
 *     r_(j+1) = (A v_j)_F - (alpha_j / beta_j) r_j - (beta_j / beta_(j-1)) r_(j-1),
 * gives the tridiagonal T; rotations give T = Q R, whose column j is (eps_j, delta_j, rho_j); with D R = V the iterate
 * moves by
 *     w_j = w_(j-1) + phi_j d_j,   d_j = (v_j - eps_j d_(j-2) - delta_j d_(j-1)) / rho_j.
 * All rows of the products A v_j follow the same recurrence. So A d_j and the gradient at x + w_j are known, and f
 * falls by -phi_j g'd_j - phi_j^2 d_j'A d_j / 2 without a further product, g the gradient at x + w_(j-1).
 *
 * If A_FF is singular and the equations contradict each other, the last rho vanishes. The last step is then omitted,
 * and w is a least-squares solution. With `null_exit` the steps end before, once the residual is nearly in the null
 * space; heyn-2012 has no such rule. */
#include "solvers/face/minres.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>

static const double TINY = 1e-8; /* rho and beta below this, relative to |A|, count as zero */
static const double LEFT =
    1e-5; /* a residual r with |A r| / (|A| |r|) below this counts as least possible */

TalusStatus talus_minres_reserve(TalusSolve *s, TalusMinres *m)
{
    return talus_vectors_reserve(s, &m->memory, MINRES_VECTORS, m->vector, "minimum residuals");
}

/* Sets z = M^-1 r for the newest r of the Lanczos process and returns sqrt(r'z); without a preconditioner only returns
 * |r|. */
static double precondition_residual(TalusGp *gp, TalusMinres *m)
{
    double *r = m->vector[MINRES_NOW], *z = m->vector[MINRES_Z];
    if (m->precondition)
        m->precondition(gp, m->user, r, z);
    double rz = gp->solve->backend->vector.dot(gp->solve->op, r, m->precondition ? z : r);
    return sqrt(fmax(rz, 0.0));
}

TalusStatus talus_minres_begin(TalusGp *gp, void *minres)
{
    TalusMinres *m = minres;
    talus_gp_set_multiple(gp, -1.0, gp->r, m->vector[MINRES_NOW]);
    for (int k = 0; k < 3; k++) {
        talus_gp_set_multiple(gp, 0.0, gp->r, m->vector[MINRES_D + k]);
        talus_gp_set_multiple(gp, 0.0, gp->r, m->vector[MINRES_AD + k]);
    }
    talus_gp_set_multiple(gp, 0.0, gp->r, m->vector[MINRES_OLD]);
    m->beta = m->left = precondition_residual(gp, m);
    m->beta_old = 0.0;
    m->cosine = -1.0;
    m->sine = m->bar = m->above = 0.0;
    m->size = m->precondition ? 1.0 : gp->largest; /* a preconditioner approximates A */
    return TALUS_OK;
}

/* One step of the Lanczos process: computes v, A v and the next r and beta. Returns alpha. */
static double step_lanczos(TalusGp *gp, TalusMinres *m)
{
    const TalusBackend *b = gp->solve->backend;
    const TalusOperator *op = gp->solve->op;
    double **vector = m->vector, *v = vector[MINRES_V], *av = vector[MINRES_AV];
    talus_gp_set_multiple(gp, 1.0 / m->beta, vector[m->precondition ? MINRES_Z : MINRES_NOW], v);
    talus_gp_product(gp, v, av);
    double alpha = b->vector.dot(op, v, av);
    const double *parts[] = {av, vector[MINRES_NOW], vector[MINRES_OLD]};
    double weights[] = {1.0, -alpha / m->beta, m->beta_old > 0.0 ? -m->beta / m->beta_old : 0.0};
    b->vector.combine(op, 3, parts, weights, vector[MINRES_OLD]);
    b->block.clear_active(op, gp->metric, gp->x, vector[MINRES_OLD]);
    talus_vector_swap(&vector[MINRES_NOW], &vector[MINRES_OLD]);
    m->beta_old = m->beta;
    m->beta = precondition_residual(gp, m);
    return alpha;
}

/* Drops the oldest of the three vectors out[0..2], moves the others forward, and sets out[2] = (first - eps out[0] -
 * delta out[1]) / rho. */
static void combine_into_next(TalusGp *gp, double **out, const double *first, double eps,
                              double delta, double rho)
{
    double *oldest = out[0];
    out[0] = out[1];
    out[1] = out[2];
    out[2] = oldest;
    const double *parts[] = {first, out[0], out[1]};
    double weights[] = {1.0 / rho, -eps / rho, -delta / rho};
    gp->solve->backend->vector.combine(gp->solve->op, 3, parts, weights, out[2]);
}

double talus_minres_step(TalusGp *gp, void *minres, bool *more)
{
    TalusMinres *m = minres;
    const TalusBackend *b = gp->solve->backend;
    const TalusOperator *op = gp->solve->op;
    *more = false;
    if (!(m->beta > 0.0))
        return 0.0;
    double alpha = step_lanczos(gp, m);
    m->size = fmax(m->size, fmax(fabs(alpha), m->beta));
    double eps = m->above, delta = m->cosine * m->bar + m->sine * alpha;
    double corner = m->sine * m->bar - m->cosine * alpha;
    double rho = sqrt(corner * corner + m->beta * m->beta);
    if (!(rho > TINY * m->size))
        return 0.0;
    m->above = m->sine * m->beta;
    m->bar = -m->cosine * m->beta;
    m->cosine = corner / rho;
    m->sine = m->beta / rho;
    double phi = m->cosine * m->left;
    m->left *= m->sine;
    combine_into_next(gp, m->vector + MINRES_D, m->vector[MINRES_V], eps, delta, rho);
    combine_into_next(gp, m->vector + MINRES_AD, m->vector[MINRES_AV], eps, delta, rho);
    const double *d = m->vector[MINRES_D + 2], *ad = m->vector[MINRES_AD + 2];
    const double *both[] = {gp->gw, ad};
    double sums[2];
    b->vector.dots(op, 2, both, d, sums);
    b->vector.axpby(op, phi, d, 1.0, gp->w);
    b->vector.axpby(op, phi, ad, 1.0, gp->gw);
    /* |A r| of the residual before this step is `root` times its norm */
    double root = sqrt(corner * corner + m->bar * m->bar);
    *more = m->beta > TINY * m->size && (!m->null_exit || root > LEFT * m->size);
    return -phi * (sums[0] + 0.5 * phi * sums[1]);
}

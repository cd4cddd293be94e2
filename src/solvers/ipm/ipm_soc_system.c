/* solvers/ipm/ipm_soc_system.c - G'(N + E) G + I: assembly, factorisation and solution (ipm_soc_system.h). */
#include "solvers/ipm/ipm_soc_system.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

/* Conjugate gradients stop after MAX_STEPS, or if the residual has not fallen by the factor FALL in SLOW_STEPS
 * steps. */
enum { MAX_STEPS = 30, SLOW_STEPS = 6 };
static const double FALL = 0.5;

/* Friction coefficients up to LEAST_MU count as 0: the cone is a ray. */
static const double LEAST_MU = 1e-30;
/* Weight added to N + E in the factor after a rejected pivot: first weight, factor from one rejection to the next,
 * maximum. */
static const double WEIGHT_FIRST = 1e-15, WEIGHT_GROWTH = 100.0, MAX_WEIGHT = 1e-6;
/* Weight from the start for ldl in form bodies, which meets vanishing pivots; else the start has none. */
static const double WEIGHT_BODIES = 1e-13;

const char *const talus_soc_linears[] = {"auto", "ldl", "cholmod", "mumps", NULL};

/* Indices of TalusSocSystem.vector. Y: solution; R: residual; Z: factor^-1 R; P: direction; BP: the matrix times P;
 * IMAGE, AP: unit (N + E) G times Y and times P. */
enum { Y, IMAGE, R, Z, P, BP, AP };

/* ---- blocks and units ---- */

int talus_soc_fill_blocks(const TalusOperator *op, TalusSocBlock *block)
{
    int cones = 0;
    for (int i = 0; i < op->blocks; i++) {
        double mu = op->rows == 1 ? 0.0 : op->mu[i], scale = talus_block_scale(op, i);
        block[i] = (TalusSocBlock){.kind = !(scale > 0.0)  ? TALUS_SOC_NOTHING
                                           : mu > LEAST_MU ? TALUS_SOC_CONE
                                                           : TALUS_SOC_RAY,
                                   .mu = mu,
                                   .scale = scale};
        cones += block[i].kind != TALUS_SOC_NOTHING;
    }
    return cones;
}

/* Largest power of two at most x; 1 if x is not positive or not finite. */
static double power_below(double x)
{
    int exponent;
    if (!(x > 0.0) || !isfinite(x))
        return 1.0;
    frexp(x, &exponent);
    return ldexp(1.0, exponent - 1);
}

void talus_soc_find_units(const TalusOperator *op, double speed, double *unit, double *impulse)
{
    double largest = 0.0;
    for (int i = 0; i < op->blocks; i++)
        largest = fmax(largest, talus_block_scale(op, i));
    *unit = 1.0 / power_below(largest);
    *impulse = power_below(speed) * *unit;
}

/* ---- form contacts ---- */

/* Allocates y->lower with the pattern of the lower triangle of G'(N + E) G + I, which is that of N + E. */
static TalusStatus set_contacts_pattern(TalusSocSystem *y)
{
    const TalusBlockMatrix *a = &y->matrix;
    const int m = a->size;
    int32_t at = 0;
    size_t entries = (size_t)a->start[a->blocks] * (size_t)(m * m);
    TALUS_TRY(talus_sparse_alloc(&y->lower, m * a->blocks, m * a->blocks, entries,
                                 "matrix of an interior-point step"));
    for (int i = 0; i < a->blocks; i++)
        for (int r = 0; r < m; r++) {
            for (int32_t e = a->start[i]; e < a->start[i + 1] && a->column[e] <= i; e++)
                for (int c = 0; c < (a->column[e] < i ? m : r + 1); c++)
                    y->lower.column[at++] = m * a->column[e] + c;
            y->lower.start[m * i + r + 1] = at;
        }
    return TALUS_OK;
}

/* out = A'B C of m x m matrices, by rows. */
static void multiply_three(int m, const double *a, const double *b, const double *c, double *out)
{
    double bc[9];
    for (int r = 0; r < m; r++)
        for (int k = 0; k < m; k++) {
            bc[m * r + k] = 0.0;
            for (int l = 0; l < m; l++)
                bc[m * r + k] += b[m * r + l] * c[m * l + k];
        }
    for (int r = 0; r < m; r++)
        for (int k = 0; k < m; k++) {
            out[m * r + k] = 0.0;
            for (int l = 0; l < m; l++)
                out[m * r + k] += a[m * l + r] * bc[m * l + k];
        }
}

/* Adds sign (I + weight G'G) of block i to `own`, its m x m diagonal block of the matrix. */
static void add_identity_and_weight(const TalusSocSystem *y, int i, double weight, double sign,
                                    double *own)
{
    const int m = y->rows;
    const double *g = y->g + (size_t)(m * m) * (size_t)i;
    for (int r = 0; r < m; r++)
        for (int k = 0; k < m; k++) {
            double sum = 0.0;
            for (int l = 0; l < m; l++)
                sum += g[m * l + r] * g[m * l + k];
            own[m * r + k] += sign * ((r == k) + weight * sum);
        }
}

/* Writes the values of G'(N + E) G + I, with the weight, to y->lower. */
static void fill_contacts(TalusSocSystem *y, const TalusSocBlock *block, double weight)
{
    const TalusBlockMatrix *a = &y->matrix;
    const int m = a->size, square = m * m;
    for (int i = 0; i < a->blocks; i++) {
        int before = 0;
        for (int32_t e = a->start[i]; e < a->start[i + 1] && a->column[e] <= i; e++, before += m) {
            int j = a->column[e];
            double scaled[9], value[9];
            for (int k = 0; k < square; k++)
                scaled[k] = y->unit * a->value[(size_t)square * (size_t)e + (size_t)k];
            multiply_three(m, y->g + (size_t)square * (size_t)i, scaled,
                           y->g + (size_t)square * (size_t)j, value);
            if (i == j)
                add_identity_and_weight(y, i, weight * y->unit * block[i].scale, 1.0, value);
            for (int r = 0; r < m; r++)
                memcpy(y->lower.value + y->lower.start[m * i + r] + before, value + m * r,
                       (size_t)(j < i ? m : r + 1) * sizeof *value);
        }
    }
}

/* ---- form bodies ---- */

/* Writes the range of the entries of D' in the last row of block i. The columns of that row, velocities of the block's
 * bodies, include the columns of the other rows of the block. */
static void find_block_columns(const TalusSocSystem *y, int i, int32_t *from, int32_t *to)
{
    const TalusSparse *d = &y->jacobian.transposed;
    *from = d->start[y->rows * (i + 1) - 1];
    *to = d->start[y->rows * (i + 1)];
}

/* Allocates y->lower with the pattern of the lower triangle: blocks of M, then for each row of a contact block the
 * velocities of its bodies and the rows of the block itself. */
static TalusStatus set_bodies_pattern(TalusSocSystem *y)
{
    const TalusSparse *d = &y->jacobian.transposed;
    const int m = y->rows, n = y->head + m * y->blocks;
    int32_t at = 0, from, to;
    size_t entries = 2 * (size_t)y->head + 2 * (size_t)(m * y->blocks);
    for (int i = 0; i < y->blocks; i++) {
        find_block_columns(y, i, &from, &to);
        entries += (size_t)m * (size_t)(to - from);
    }
    TALUS_TRY(talus_sparse_alloc(&y->lower, n, n, entries, "matrix of an interior-point step"));
    for (int k = 0; k < y->head; k++) {
        for (int c = 0; c <= k % 3; c++)
            y->lower.column[at++] = k - k % 3 + c;
        y->lower.start[k + 1] = at;
    }
    for (int i = 0; i < y->blocks; i++)
        for (int r = 0; r < m; r++) {
            find_block_columns(y, i, &from, &to);
            memcpy(y->lower.column + at, d->column + from, (size_t)(to - from) * sizeof *d->column);
            at += to - from;
            for (int c = 0; c <= r; c++)
                y->lower.column[at++] = y->head + m * i + c;
            y->lower.start[y->head + m * i + r + 1] = at;
        }
    return TALUS_OK;
}

/* Writes M / unit, the first entries of y->lower. */
static void fill_masses(TalusSocSystem *y)
{
    double *out = y->lower.value;
    for (int g = 0; g < y->jacobian.groups; g++) {
        const TalusSym3 *m = &y->jacobian.mass[g];
        const double entry[6] = {m->xx, m->xy, m->yy, m->xz, m->yz, m->zz};
        for (int k = 0; k < 6; k++)
            *out++ = entry[k] / y->unit;
    }
}

/* Writes row k of -G_i'D_i', one entry per column of the block (find_block_columns). */
static void fill_coupling(TalusSocSystem *y, int i, int k, double *out)
{
    const TalusSparse *d = &y->jacobian.transposed;
    const double *g = y->g + (size_t)(y->rows * y->rows) * (size_t)i;
    int32_t from, to;
    find_block_columns(y, i, &from, &to);
    memset(out, 0, (size_t)(to - from) * sizeof *out);
    for (int r = 0; r < y->rows; r++) {
        int32_t c = from;
        for (int32_t e = d->start[y->rows * i + r]; e < d->start[y->rows * i + r + 1]; e++, c++) {
            while (d->column[c] != d->column[e])
                c++;
            out[c - from] -= g[y->rows * r + k] * d->value[e];
        }
    }
}

/* Writes the values of the matrix of form bodies, with the weight, to y->lower. */
static void fill_bodies(TalusSocSystem *y, const TalusOperator *op, const TalusSocBlock *block,
                        double weight)
{
    const int m = y->rows;
    fill_masses(y);
    for (int i = 0; i < y->blocks; i++) {
        const double *g = y->g + (size_t)(m * m) * (size_t)i;
        double own[9], e = op->compliance ? y->unit * op->compliance[i] : 0.0;
        for (int r = 0; r < m; r++)
            for (int k = 0; k < m; k++)
                own[m * r + k] = -e * g[r] * g[k]; /* E is on the normal row only */
        add_identity_and_weight(y, i, weight * y->unit * block[i].scale, -1.0, own);
        for (int r = 0; r < m; r++) {
            int row = y->head + m * i + r;
            double *out = y->lower.value + y->lower.start[row];
            fill_coupling(y, i, r, out);
            memcpy(y->lower.value + y->lower.start[row + 1] - (r + 1), own + m * r,
                   (size_t)(r + 1) * sizeof *own);
        }
    }
}

/* ---- preparation ---- */

/* Fills the Jacobian (form bodies) or N + E (form contacts) and sets the pattern of y->lower. */
static TalusStatus prepare_form(TalusSocSystem *y, TalusSolve *s)
{
    TalusSparse n;
    talus_sparse_clear(&y->lower);
    y->head = 0;
    if (y->form == TALUS_SOC_BODIES) {
        TALUS_TRY(talus_jacobian_fill(&y->jacobian, s->problem));
        y->head = 3 * y->jacobian.groups;
        return set_bodies_pattern(y);
    }
    talus_block_matrix_clear(&y->matrix);
    TALUS_TRY(talus_problem_assemble(s->problem, &n));
    TalusStatus status = talus_block_matrix_create(&n, s->op->rows, &y->matrix);
    talus_sparse_clear(&n);
    TALUS_TRY(status);
    return set_contacts_pattern(y);
}

/* Reserves G, the solution and the vectors, and sets the signs of pivots. */
static TalusStatus reserve_memory(TalusSocSystem *y)
{
    size_t n = (size_t)y->rows * (size_t)y->blocks, all = (size_t)y->head + n;
    TALUS_TRY(TALUS_GROW(y->g, n * (size_t)y->rows, 0, "scalings"));
    TALUS_TRY(TALUS_GROW(y->x, all, 0, "solution of a linear system"));
    TALUS_TRY(TALUS_GROW(y->sign, all, 0, "signs of pivots"));
    TALUS_TRY(TALUS_GROW(y->memory, TALUS_SOC_VECTORS * n, 0, "vectors"));
    for (int k = 0; k < TALUS_SOC_VECTORS; k++)
        y->vector[k] = y->memory + (size_t)k * n;
    for (size_t k = 0; k < all; k++)
        y->sign[k] = k < (size_t)y->head || y->form == TALUS_SOC_CONTACTS ? 1 : -1;
    return TALUS_OK;
}

/* Returns the direct solver of the choice `linear` for a form. */
static TalusDirectKind choose_direct(TalusSocLinear linear, TalusSocForm form)
{
    bool cholmod = linear == TALUS_SOC_LINEAR_CHOLMOD ||
                   (linear == TALUS_SOC_LINEAR_AUTO && form == TALUS_SOC_CONTACTS &&
                    !talus_direct_missing(TALUS_DIRECT_CHOLMOD));
    return cholmod                            ? TALUS_DIRECT_CHOLMOD
           : linear == TALUS_SOC_LINEAR_MUMPS ? TALUS_DIRECT_MUMPS
                                              : TALUS_DIRECT_LDL;
}

/* Prepares the form with the direct solver that `linear` chooses, and the first weight. */
static TalusStatus prepare_system(TalusSocSystem *y, TalusSolve *s, TalusSocForm form,
                                  TalusSocLinear linear, double unit)
{
    TalusDirectKind kind = choose_direct(linear, form);
    y->weight = form == TALUS_SOC_BODIES && kind == TALUS_DIRECT_LDL ? WEIGHT_BODIES : 0.0;
    y->form = form;
    y->rows = s->op->rows;
    y->blocks = s->op->blocks;
    y->unit = unit;
    TALUS_TRY(talus_direct_ensure(kind, &y->direct));
    TALUS_TRY(prepare_form(y, s));
    TALUS_TRY(reserve_memory(y));
    return talus_direct_analyse(y->direct, &y->lower, y->sign);
}

TalusStatus talus_soc_system_choose(TalusSocSystem *y, TalusSolve *s, TalusSocLinear linear,
                                    TalusSocFormChoice form, double unit)
{
    bool has_bodies = s->op->pair != NULL, cholmod = linear == TALUS_SOC_LINEAR_CHOLMOD;
    bool bodies =
        form == TALUS_SOC_FORM_BODIES || (form == TALUS_SOC_FORM_AUTO && has_bodies && !cholmod);
    if (bodies && !has_bodies)
        return talus_solver_fail(s->type->name, TALUS_ERR_UNSUPPORTED,
                                 "form=bodies needs bodies, this problem is a matrix");
    if (bodies && cholmod)
        return talus_solver_fail(s->type->name, TALUS_ERR_UNSUPPORTED,
                                 "form=bodies is indefinite, and cholmod is for positive "
                                 "definite matrices; linear=ldl and linear=mumps take it");
    TalusStatus status =
        prepare_system(y, s, bodies ? TALUS_SOC_BODIES : TALUS_SOC_CONTACTS, linear, unit);
    /* a body's inverse inertia is singular, or the factor is too large */
    if (status == TALUS_ERR_UNSUPPORTED && bodies && form == TALUS_SOC_FORM_AUTO)
        return prepare_system(y, s, TALUS_SOC_CONTACTS, linear, unit);
    return status;
}

/* ---- solving ---- */

/* Computes G of every block: column k is the impulse of a unit of y along axis k; 0 in unused rows and columns. */
static void set_scalings(TalusSocSystem *y, const TalusSocBlock *block)
{
    const int m = y->rows;
    memset(y->g, 0, (size_t)(m * m) * (size_t)y->blocks * sizeof *y->g);
    for (int i = 0; i < y->blocks; i++) {
        double *g = y->g + (size_t)(m * m) * (size_t)i;
        for (int k = 0; k < talus_soc_rows(&block[i]); k++) {
            double axis[3] = {0}, column[3], gamma[3];
            axis[k] = 1.0 / block[i].length[k];
            talus_soc_from_axes(&block[i], axis, column);
            talus_soc_to_impulse(&block[i], m, column, gamma);
            for (int r = 0; r < m; r++)
                g[m * r + k] = gamma[r];
        }
    }
}

/* Factorises with the present scalings and weight. */
static TalusStatus factorise(TalusSocSystem *y, TalusSolve *s, const TalusSocBlock *block)
{
    if (y->form == TALUS_SOC_BODIES)
        fill_bodies(y, s->op, block, y->weight);
    else
        fill_contacts(y, block, y->weight);
    s->info->factorisations++;
    return talus_direct_factor(y->direct, &y->lower);
}

TalusStatus talus_soc_system_scale(TalusSocSystem *y, TalusSolve *s, TalusSocBlock *block,
                                   const double *x, const double *z)
{
    for (int i = 0; i < y->blocks; i++)
        if (!talus_soc_set_scaling(&block[i], x + i * y->rows, z + i * y->rows))
            return talus_fail(TALUS_ERR_NUMERIC, "no scaling of contact %d", i);
    set_scalings(y, block);
    for (;;) {
        TalusStatus status = factorise(y, s, block);
        if (status != TALUS_ERR_NUMERIC || y->weight >= MAX_WEIGHT)
            return status;
        y->weight = fmax(WEIGHT_FIRST, y->weight * WEIGHT_GROWTH);
    }
}

void talus_soc_system_to_impulses(const TalusSocSystem *y, const double *in, double *out)
{
    const int m = y->rows;
    for (int i = 0; i < y->blocks; i++)
        for (int r = 0; r < m; r++) {
            const double *g = y->g + (size_t)(m * m) * (size_t)i + (size_t)(m * r);
            double sum = 0.0;
            for (int k = 0; k < m; k++)
                sum += g[k] * in[m * i + k];
            out[m * i + r] = sum;
        }
}

/* image = unit (N + E) G in, out = G'image + in. `out` is also work memory for G in. */
static void multiply_by_system(TalusSocSystem *y, TalusSolve *s, const double *in, double *image,
                               double *out)
{
    const int m = y->rows, n = m * y->blocks;
    talus_soc_system_to_impulses(y, in, out);
    s->backend->op.product(s->op, out, true, false, image);
    s->info->products++;
    for (int k = 0; k < n; k++)
        image[k] *= y->unit;
    for (int i = 0; i < y->blocks; i++)
        for (int k = 0; k < m; k++) {
            const double *g = y->g + (size_t)(m * m) * (size_t)i + (size_t)k;
            double sum = in[m * i + k];
            for (int r = 0; r < m; r++)
                sum += g[m * r] * image[m * i + r];
            out[m * i + k] = sum;
        }
}

/* out = inverse of the factorised matrix times r. */
static TalusStatus apply_factor(TalusSocSystem *y, const double *r, double *out)
{
    const int n = y->rows * y->blocks;
    memset(y->x, 0, (size_t)y->head * sizeof *y->x);
    for (int k = 0; k < n; k++)
        y->x[y->head + k] = y->form == TALUS_SOC_BODIES ? -r[k] : r[k];
    TALUS_TRY(talus_direct_solve(y->direct, y->x));
    memcpy(out, y->x + y->head, (size_t)n * sizeof *out);
    return TALUS_OK;
}

static double dot_product(const double *x, const double *y, int n)
{
    double sum = 0.0;
    for (int k = 0; k < n; k++)
        sum += x[k] * y[k];
    return sum;
}

/* y += a x. */
static void add_multiple(double *y, double a, const double *x, int n)
{
    for (int k = 0; k < n; k++)
        y[k] += a * x[k];
}

/* Takes one step of conjugate gradients along P, rz = r'z. False, without a step, if the curvature along P is not
 * positive or the step not finite. */
static bool step_cg(TalusSocSystem *y, TalusSolve *s, double rz)
{
    const int n = y->rows * y->blocks;
    double **v = y->vector;
    multiply_by_system(y, s, v[P], v[AP], v[BP]);
    double curvature = dot_product(v[P], v[BP], n), a = rz / curvature;
    if (!(curvature > 0.0) || !isfinite(a))
        return false;
    add_multiple(v[Y], a, v[P], n);
    add_multiple(v[IMAGE], a, v[AP], n);
    add_multiple(v[R], -a, v[BP], n);
    return true;
}

/* Copies Y and IMAGE to the result if their residual `now` is the least so far. */
static void store_best(TalusSocSystem *y, double now, double *least, double *out, double *image)
{
    size_t bytes = (size_t)(y->rows * y->blocks) * sizeof *out;
    if (!(now < *least))
        return;
    *least = now;
    memcpy(out, y->vector[Y], bytes);
    memcpy(image, y->vector[IMAGE], bytes);
}

TalusStatus talus_soc_system_solve(TalusSocSystem *y, TalusSolve *s, const double *b, double enough,
                                   double *out, double *image, double *left)
{
    const int n = y->rows * y->blocks;
    double **v = y->vector, rz = 0.0, marked = INFINITY;
    *left = INFINITY;
    TALUS_TRY(apply_factor(y, b, v[Y]));
    multiply_by_system(y, s, v[Y], v[IMAGE], v[R]);
    for (int k = 0; k < n; k++)
        v[R][k] = b[k] - v[R][k];
    store_best(y, sqrt(dot_product(v[R], v[R], n)), left, out, image);
    for (int k = 0; k<MAX_STEPS && * left> enough; k++) {
        if (k % SLOW_STEPS == 0 && !(*left <= FALL * marked))
            break;
        marked = k % SLOW_STEPS == 0 ? *left : marked;
        TALUS_TRY(apply_factor(y, v[R], v[Z]));
        double now = dot_product(v[R], v[Z], n), beta = k > 0 ? now / rz : 0.0;
        for (int j = 0; j < n; j++)
            v[P][j] = v[Z][j] + (k > 0 ? beta * v[P][j] : 0.0);
        rz = now;
        if (!step_cg(y, s, rz))
            break;
        store_best(y, sqrt(dot_product(v[R], v[R], n)), left, out, image);
    }
    return isfinite(*left) ? TALUS_OK
                           : talus_fail(TALUS_ERR_NUMERIC,
                                        "a linear system of the interior-point method has no "
                                        "finite solution");
}

void talus_soc_system_clear(TalusSocSystem *y)
{
    talus_direct_destroy(y->direct);
    talus_block_matrix_clear(&y->matrix);
    talus_jacobian_clear(&y->jacobian);
    talus_sparse_clear(&y->lower);
    TALUS_RELEASE(y->sign, y->g, y->x, y->memory);
    *y = (TalusSocSystem){0};
}

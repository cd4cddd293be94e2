/* exact.c - see exact.h. The formulas of talus/problem.h, written for long double. */
#include "exact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef long double Real;

/* ---- contacts ---- */

static void cross(const Real *a, const Real *b, Real *out)
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static Real dot(const Real *a, const Real *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void from_vec(TalusVec3 v, Real *out)
{
    out[0] = v.x;
    out[1] = v.y;
    out[2] = v.z;
}

/* Axis k of the contact frame (docs/reference/problem-file.md): H e_k with signs. */
static void axis_of(const TalusContactDef *c, int k, Real *out)
{
    Real w[3], s = c->normal.x < 0.0 ? -1 : 1;
    from_vec(c->normal, w);
    if (k == 0) {
        memcpy(out, w, sizeof w);
        return;
    }
    w[0] += s;
    for (int i = 0; i < 3; i++)
        out[i] = (k == 2 ? s : 1) * ((i == k) - 2 * w[i] * w[k] / dot(w, w));
}

typedef struct Column {
    int body;
    Real force[3], torque[3];
} Column;

static Column column_of(const TalusContactDef *c, int k, int side)
{
    Column column = {.body = side ? c->b : c->a};
    Real arm[3], sign = side ? 1 : -1;
    axis_of(c, k, column.force);
    from_vec(side ? c->arm_b : c->arm_a, arm);
    cross(arm, column.force, column.torque);
    for (int i = 0; i < 3; i++) {
        column.force[i] *= sign;
        column.torque[i] *= sign;
    }
    return column;
}

static void turn(TalusSym3 m, const Real *t, Real *out)
{
    const Real full[3][3] = {{m.xx, m.xy, m.xz}, {m.xy, m.yy, m.yz}, {m.xz, m.yz, m.zz}};
    for (int i = 0; i < 3; i++)
        out[i] = dot(full[i], t);
}

/* v_f + M^-1 D gamma, [6 bodies]. */
static Real *velocities(const TalusProblemDef *def, int rows, const double *gamma)
{
    Real *v = calloc(6 * (size_t)def->body_count + 1, sizeof *v);
    for (int i = 0; i < 6 * def->body_count; i++)
        v[i] = def->free_velocity[i];
    for (int i = 0; i < 2 * rows * def->contact_count; i++) {
        Column c = column_of(&def->contacts[i / (2 * rows)], i / 2 % rows, i % 2);
        Real spin[3], g = gamma[i / 2];
        if (c.body < 0)
            continue;
        turn(def->inv_inertia[c.body], c.torque, spin);
        for (int k = 0; k < 3; k++) {
            v[6 * c.body + k] += def->inv_mass[c.body] * c.force[k] * g;
            v[6 * c.body + 3 + k] += spin[k] * g;
        }
    }
    return v;
}

/* Row k of contact i: the velocity, and the diagonal entry of N. */
static Real contact_row(const TalusProblemDef *def, int i, int k, const Real *v, Real *entry)
{
    Real u = k == 0 ? def->contacts[i].bias : 0.0;
    *entry = 0;
    for (int side = 0; side < 2; side++) {
        Column c = column_of(&def->contacts[i], k, side);
        Real spin[3];
        if (c.body < 0)
            continue;
        turn(def->inv_inertia[c.body], c.torque, spin);
        u += dot(c.force, v + 6 * c.body) + dot(c.torque, v + 6 * c.body + 3);
        *entry += def->inv_mass[c.body] + dot(c.torque, spin);
    }
    return u;
}

static Real matrix_row(const TalusProblemDef *def, int row, const double *gamma, Real *entry)
{
    Real u = def->offset[row];
    *entry = 0;
    for (int e = def->row_start[row]; e < def->row_start[row + 1]; e++) {
        u += (Real)def->values[e] * gamma[def->column[e]];
        *entry += def->column[e] == row ? def->values[e] : 0.0;
    }
    return u;
}

/* ---- sets ---- */

static void project(int rows, bool prism, Real mu, Real estimate, Real *x)
{
    Real t = rows > 1 ? hypotl(x[1], x[2]) : 0, n = x[0];
    if (rows == 1 || prism) {
        Real bound = mu * (estimate > 0 ? estimate : 0);
        x[0] = n > 0 ? n : 0;
        for (int k = 1; k < rows && t > bound; k++)
            x[k] *= bound / t;
        return;
    }
    if (n >= 0 && t <= mu * n)
        return;
    Real along = (n + mu * t) / (1 + mu * mu);
    x[0] = along > 0 ? along : 0;
    for (int k = 1; k < rows; k++)
        x[k] *= t > 0 ? mu * x[0] / t : 0;
}

/* ---- the residual ---- */

static TalusFrictionModel model_of(const TalusProblemDef *def, int i)
{
    if (def->contacts)
        return def->contacts[i].model;
    return def->model ? def->model[i] : (TalusFrictionModel){0};
}

static Real block_residual(int rows, TalusFrictionModel model, Real mu, Real estimate, Real d,
                           const double *gamma, Real *g)
{
    Real y[3] = {0}, sum = 0;
    if (model.section == TALUS_SECTION_NONE)
        mu = 0;
    if (rows > 1 && model.law == TALUS_LAW_COULOMB)
        g[0] += mu * hypotl(g[1], g[2]);
    for (int k = 0; k < rows; k++)
        y[k] = gamma[k] - g[k] / d;
    project(rows, model.law == TALUS_LAW_FIXED && mu > 0, mu, estimate, y);
    for (int k = 0; k < rows; k++)
        sum += (gamma[k] - y[k]) * (gamma[k] - y[k]);
    return d * sqrtl(sum);
}

ExactResidual exact_residual(const TalusProblemDef *def, int rows, const double *gamma,
                             const double *estimate)
{
    int blocks = def->contacts ? def->contact_count : def->block_count;
    Real *v = def->contacts ? velocities(def, rows, gamma) : NULL, sum = 0, max = 0;
    for (int i = 0; i < blocks; i++) {
        const TalusContactDef *c = def->contacts ? &def->contacts[i] : NULL;
        Real g[3], entry, d = 0, mu = rows == 1 ? 0.0 : c ? c->mu : def->mu[i];
        for (int k = 0; k < rows; k++) {
            g[k] = c ? contact_row(def, i, k, v, &entry)
                     : matrix_row(def, i * rows + k, gamma, &entry);
            d += entry;
        }
        if (c) {
            g[0] += (Real)c->compliance * gamma[i * rows];
            d += c->compliance;
        }
        Real r = block_residual(rows, model_of(def, i), mu, estimate ? estimate[i] : 0.0, d / rows,
                                gamma + i * rows, g);
        sum += r * r;
        max = r > max ? r : max;
    }
    free(v);
    return (ExactResidual){sqrtl(sum / blocks), max};
}

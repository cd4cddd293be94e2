/* def.c - evaluates matrix-free and explicit problems from their def. */
#include "point.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- sizes ---- */

int verify_blocks(const TalusProblemDef *def)
{
    return def->contacts ? def->contact_count : def->block_count;
}

/* Friction model of a block. */
static TalusFrictionModel friction_model(const TalusProblemDef *def, int block)
{
    const TalusFrictionModel plain = {0};
    if (def->contacts)
        return def->contacts[block].model;
    return def->model ? def->model[block] : plain;
}

/* Rows per block of a problem given by a matrix: def->rows, or 1, the normal row, if all blocks have the section
 * none. */
static int matrix_rows_per_block(const TalusProblemDef *def)
{
    for (int i = 0; i < def->block_count; i++)
        if (friction_model(def, i).section != TALUS_SECTION_NONE)
            return def->rows;
    return def->block_count ? 1 : def->rows;
}

int verify_rows(const TalusProblemDef *def)
{
    int rows = 1;
    if (!def->contacts)
        return matrix_rows_per_block(def);
    for (int i = 0; i < def->contact_count; i++) {
        const TalusContactDef *c = &def->contacts[i];
        bool joint = c->model.section == TALUS_SECTION_JOINT;
        bool moments = c->spinning > 0.0 || c->rolling > 0.0;
        int needed = moments ? 6 : joint || c->mu > 0.0 ? 3 : 1;
        if (c->model.section != TALUS_SECTION_NONE && needed > rows)
            rows = needed;
    }
    return rows;
}

int verify_size(const TalusProblemDef *def)
{
    return verify_rows(def) * verify_blocks(def);
}

double verify_mu(const TalusProblemDef *def, int block)
{
    if (friction_model(def, block).section == TALUS_SECTION_NONE)
        return 0.0;
    if (def->contacts)
        return def->contacts[block].mu;
    return def->rows == 3 ? def->mu[block] : 0.0;
}

/* Returns the set of a block's impulses, without estimate. A block without friction has a cone of zero width under
 * every law. `rows` must be verify_rows(def). */
static VerifySet impulse_set(const TalusProblemDef *def, int rows, int block)
{
    VerifySet set = {.rows = rows, .mu = verify_mu(def, block)};
    TalusFrictionModel model = friction_model(def, block);
    if (def->contacts && model.section != TALUS_SECTION_NONE) {
        set.spinning = def->contacts[block].spinning;
        set.rolling = def->contacts[block].rolling;
    }
    bool joint = model.section == TALUS_SECTION_JOINT;
    if (set.rows > 1 && (joint || set.mu > 0.0 || set.spinning > 0.0 || set.rolling > 0.0))
        set.model = model;
    return set;
}

static double block_compliance(const TalusProblemDef *def, int block)
{
    return def->contacts ? def->contacts[block].compliance : 0.0;
}

/* ---- small vectors ---- */

static double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double *a, const double *b, double *r)
{
    r[0] = a[1] * b[2] - a[2] * b[1];
    r[1] = a[2] * b[0] - a[0] * b[2];
    r[2] = a[0] * b[1] - a[1] * b[0];
}

static void copy_vec3(TalusVec3 v, double *r)
{
    r[0] = v.x;
    r[1] = v.y;
    r[2] = v.z;
}

/* r = m times the vector `torque`. */
static void multiply_sym3(TalusSym3 m, const double *torque, double *r)
{
    const double full[3][3] = {{m.xx, m.xy, m.xz}, {m.xy, m.yy, m.yz}, {m.xz, m.yz, m.zz}};
    for (int k = 0; k < 3; k++)
        r[k] = dot(full[k], torque);
}

/* ---- frames ---- */

void verify_frame(TalusVec3 normal, double axis[3][3])
{
    double n[3], w[3], s = normal.x < 0.0 ? -1.0 : 1.0;
    copy_vec3(normal, n);
    memcpy(w, n, sizeof w);
    w[0] += s;
    for (int k = 0; k < 3; k++) { /* H e_k = e_k - 2 w w_k / (w'w), then the signs */
        double sign = k == 0 ? -s : k == 2 ? s : 1.0;
        for (int c = 0; c < 3; c++)
            axis[k][c] = sign * ((c == k) - 2.0 * w[c] * w[k] / dot(w, w));
    }
}

/* ---- columns of D ---- */

/* The part of a column of D that belongs to one of the two bodies of a contact: force e and torque arm x e of a unit
 * impulse along an axis e of the contact frame, both negative on body a. */
typedef struct Column {
    int body; /* -1: the fixed world */
    double force[3], torque[3];
} Column;

/* Length L of a contact, by which its moments are divided, m. A contact without resistance to rolling and spinning may
 * have no length. Its moments are 0, so any length will do: a b / (a + b) with a and b the lengths of the arms; the
 * longer arm if one is 0; 1 if both are. */
static double contact_length(const TalusContactDef *c)
{
    double a[3], b[3];
    copy_vec3(c->arm_a, a);
    copy_vec3(c->arm_b, b);
    double first = sqrt(dot(a, a)), second = c->b >= 0 ? sqrt(dot(b, b)) : 0.0;
    if (c->length > 0.0)
        return c->length;
    if (first > 0.0 && second > 0.0)
        return first * second / (first + second);
    return first + second > 0.0 ? first + second : 1.0;
}

/* Returns the part of the column of D of row k on body a (side 0) or b (side 1). Rows 0 to 2 are impulses along axis k,
 * rows 3 to 5 moments about axis k - 3. */
static Column get_column(const TalusContactDef *c, int k, int side)
{
    Column column = {.body = side ? c->b : c->a};
    double axis[3][3], arm[3], sign = side ? 1.0 : -1.0;
    verify_frame(c->normal, axis);
    copy_vec3(side ? c->arm_b : c->arm_a, arm);
    if (k < 3)
        cross(arm, axis[k], column.torque);
    for (int i = 0; i < 3; i++) {
        column.force[i] = k < 3 ? sign * axis[k][i] : 0.0;
        column.torque[i] = sign * (k < 3 ? column.torque[i] : contact_length(c) * axis[k - 3][i]);
    }
    return column;
}

/* v += M^-1 column g, with g the impulse in the column's row */
static void add_impulse(const TalusProblemDef *def, const Column *column, double g, double *v)
{
    double turn[3], *body = v + 6 * (size_t)column->body;
    multiply_sym3(def->inv_inertia[column->body], column->torque, turn);
    for (int k = 0; k < 3; k++) {
        body[k] += def->inv_mass[column->body] * column->force[k] * g;
        body[3 + k] += turn[k] * g;
    }
}

/* Part of the contact velocity in the column's row that is due to the column's body: column'v. */
static double column_velocity(const Column *column, const double *v)
{
    const double *body = v + 6 * (size_t)column->body;
    return dot(column->force, body) + dot(column->torque, body + 3);
}

/* v += M^-1 D gamma */
static void add_impulses(const TalusProblemDef *def, const double *gamma, double *v)
{
    int rows = verify_rows(def);
    for (int i = 0; i < def->contact_count; i++)
        for (int k = 0; k < rows; k++)
            for (int side = 0; side < 2; side++) {
                Column column = get_column(&def->contacts[i], k, side);
                if (column.body >= 0)
                    add_impulse(def, &column, gamma[i * rows + k], v);
            }
}

/* u = D'v */
static void write_contact_velocities(const TalusProblemDef *def, const double *v, double *u)
{
    int rows = verify_rows(def);
    for (int i = 0; i < def->contact_count; i++)
        for (int k = 0; k < rows; k++) {
            u[i * rows + k] = 0.0;
            for (int side = 0; side < 2; side++) {
                Column column = get_column(&def->contacts[i], k, side);
                if (column.body >= 0)
                    u[i * rows + k] += column_velocity(&column, v);
            }
        }
}

void verify_body_velocity(const TalusProblemDef *def, const double *gamma, double *v)
{
    if (def->body_count)
        memcpy(v, def->free_velocity, 6 * (size_t)def->body_count * sizeof *v);
    if (gamma)
        add_impulses(def, gamma, v);
}

/* Distance between the rows of the matrix that are used: 1, or def->rows if only the normal rows are. */
static int row_stride(const TalusProblemDef *def)
{
    return def->rows / verify_rows(def);
}

void verify_product(const TalusProblemDef *def, const double *x, double *out)
{
    if (def->contacts) {
        double *v = verify_zeros(6 * (size_t)def->body_count);
        add_impulses(def, x, v);
        write_contact_velocities(def, v, out);
        free(v);
        return;
    }
    int stride = row_stride(def), n = verify_size(def);
    for (int i = 0; i < n; i++) {
        int row = i * stride;
        out[i] = 0.0;
        for (int k = def->row_start[row]; k < def->row_start[row + 1]; k++)
            if (def->column[k] % stride == 0)
                out[i] += def->values[k] * x[def->column[k] / stride];
    }
}

void verify_velocity(const TalusProblemDef *def, const double *gamma, double *u)
{
    int rows = verify_rows(def), n = verify_size(def);
    if (def->contacts) {
        double *v = verify_zeros(6 * (size_t)def->body_count);
        verify_body_velocity(def, gamma, v);
        write_contact_velocities(def, v, u);
        for (int i = 0; i < def->contact_count; i++)
            u[i * rows] += def->contacts[i].bias;
        free(v);
        return;
    }
    int stride = row_stride(def);
    if (gamma)
        verify_product(def, gamma, u);
    for (int row = 0; row < n; row++)
        u[row] = (gamma ? u[row] : 0.0) + def->offset[row * stride];
}

void verify_gradient(const TalusProblemDef *def, const double *gamma, double *gradient)
{
    int rows = verify_rows(def);
    verify_velocity(def, gamma, gradient);
    for (int i = 0; i < verify_blocks(def); i++)
        gradient[i * rows] += block_compliance(def, i) * gamma[i * rows];
}

/* ---- the diagonal ---- */

/* Returns the diagonal entry of N in row k of a block. */
static double diagonal_entry(const TalusProblemDef *def, int block, int k)
{
    double sum = 0.0;
    if (!def->contacts) {
        int row = block * def->rows + k; /* also if only normal rows are used: then k is 0 */
        for (int e = def->row_start[row]; e < def->row_start[row + 1]; e++)
            sum += def->column[e] == row ? def->values[e] : 0.0;
        return sum;
    }
    for (int side = 0; side < 2; side++) {
        Column column = get_column(&def->contacts[block], k, side);
        double turn[3];
        if (column.body < 0)
            continue;
        multiply_sym3(def->inv_inertia[column.body], column.torque, turn);
        sum += (k < 3 ? def->inv_mass[column.body] : 0.0) + dot(column.torque, turn);
    }
    return sum;
}

/* ---- magnitudes of the terms of gradients, for estimates of rounding ---- */

/* v += sum over contacts of |M^-1| |D gamma|, with the magnitudes of the entries of M^-1 and of the components of each
 * contact's force and torque */
static void add_velocity_magnitudes(const TalusProblemDef *def, int rows, const double *gamma,
                                    double *v)
{
    for (int i = 0; i < 2 * def->contact_count; i++) {
        Column all = {.body = -1};
        for (int k = 0; k < rows; k++) {
            Column column = get_column(&def->contacts[i / 2], k, i % 2);
            all.body = column.body;
            for (int j = 0; j < 3; j++) {
                all.force[j] += column.force[j] * gamma[i / 2 * rows + k];
                all.torque[j] += column.torque[j] * gamma[i / 2 * rows + k];
            }
        }
        if (all.body < 0)
            continue;
        TalusSym3 m = def->inv_inertia[all.body];
        TalusSym3 sizes = {.xx = fabs(m.xx),
                           .yy = fabs(m.yy),
                           .zz = fabs(m.zz),
                           .xy = fabs(m.xy),
                           .xz = fabs(m.xz),
                           .yz = fabs(m.yz)};
        double turn[3], *body = v + 6 * (size_t)all.body;
        for (int j = 0; j < 3; j++) {
            body[j] += def->inv_mass[all.body] * fabs(all.force[j]);
            all.torque[j] = fabs(all.torque[j]);
        }
        multiply_sym3(sizes, all.torque, turn);
        for (int j = 0; j < 3; j++)
            body[3 + j] += turn[j];
    }
}

static double norm(const double *x)
{
    return sqrt(dot(x, x));
}

/* Length that times a body's angular velocity bounds its part of the contact velocity: the length of the arm; with one
 * row, the length of the arm's part across the normal; with six rows, the length of the arm plus the contact's length
 * L. */
static double lever_length(const TalusContactDef *c, int rows, int side)
{
    double arm[3], normal[3], across[3];
    copy_vec3(side ? c->arm_b : c->arm_a, arm);
    copy_vec3(c->normal, normal);
    cross(arm, normal, across);
    return rows == 1 ? norm(across) : norm(arm) + (rows == 6 ? contact_length(c) : 0.0);
}

/* Magnitude of the terms of D'v + b at a contact; v has the magnitudes of the components of the bodies' velocities. */
static double sum_contact_terms(const TalusContactDef *c, int rows, const double *v)
{
    double sum = fabs(c->bias);
    for (int side = 0; side < 2; side++) {
        const double *body = v + 6 * (side ? c->b : c->a);
        if (side == 0 || c->b >= 0)
            sum += norm(body) + lever_length(c, rows, side) * norm(body + 3);
    }
    return sum;
}

/* Writes for every contact the magnitude of the terms of its gradient at gamma; gamma NULL is zero. */
static void fill_contact_terms(const TalusProblemDef *def, int rows, const double *gamma,
                               double *terms)
{
    double *v = verify_zeros(6 * (size_t)def->body_count);
    for (int k = 0; k < 6 * def->body_count; k++)
        v[k] = fabs(def->free_velocity[k]);
    if (gamma)
        add_velocity_magnitudes(def, rows, gamma, v);
    for (int i = 0; i < def->contact_count; i++)
        terms[i] = sum_contact_terms(&def->contacts[i], rows, v) +
                   (gamma ? block_compliance(def, i) * fabs(gamma[i * rows]) : 0.0);
    free(v);
}

/* Writes for every block of a problem given by a matrix the magnitude of the terms of its gradient at gamma; gamma NULL
 * is zero. terms[] must be zero on entry. */
static void fill_matrix_terms(const TalusProblemDef *def, int rows, const double *gamma,
                              double *terms)
{
    int stride = row_stride(def);
    for (int i = 0; i < def->block_count * rows; i++) {
        int row = i * stride;
        double sum = fabs(def->offset[row]);
        for (int k = def->row_start[row]; gamma && k < def->row_start[row + 1]; k++)
            if (def->column[k] % stride == 0)
                sum += fabs(def->values[k] * gamma[def->column[k] / stride]);
        terms[i / rows] = hypot(terms[i / rows], sum);
    }
}

/* Writes for every block the magnitude of the terms of its gradient at gamma; gamma NULL is zero. */
static void fill_terms(const TalusProblemDef *def, int rows, const double *gamma, double *terms)
{
    if (def->contacts)
        fill_contact_terms(def, rows, gamma, terms);
    else
        fill_matrix_terms(def, rows, gamma, terms);
}

/* ---- the point ---- */

VerifyPoint verify_def_point(const TalusProblemDef *def, const double *gamma)
{
    int rows = verify_rows(def);
    VerifyPoint p = verify_new_point(verify_blocks(def), rows);
    memcpy(p.gamma, gamma, (size_t)(rows * p.blocks) * sizeof *gamma);
    verify_velocity(def, NULL, p.q);
    verify_velocity(def, gamma, p.u);
    verify_gradient(def, gamma, p.g);
    fill_terms(def, rows, gamma, p.terms);
    fill_terms(def, rows, NULL, p.offset_terms);
    for (int i = 0; i < p.blocks; i++) {
        p.set[i] = impulse_set(def, rows, i);
        p.set[i].estimate = gamma[i * rows];
        p.normal[i] = diagonal_entry(def, i, 0) + block_compliance(def, i);
        for (int k = 1; k < rows; k++)
            p.tangential[i] += diagonal_entry(def, i, k) / (rows - 1);
    }
    return p;
}

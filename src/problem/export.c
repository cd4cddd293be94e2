/* problem/export.c - a problem's data as a def, in physical units: a copy of the def from which the problem was made
 * or, for a problem filled in place, a new def. */
#include "problem/problem.h"

#include "base/memory.h"
#include "base/status.h"

#include <string.h>

void talus_problem_forget_def(TalusProblem *p)
{
    for (size_t i = 0; i < sizeof p->def_memory / sizeof *p->def_memory; i++) {
        talus_release(p->def_memory[i]);
        p->def_memory[i] = NULL;
    }
    memset(&p->def, 0, sizeof p->def);
    p->has_def = false;
}

/* Allocates p->def_memory[index] and copies `count` elements from `source` into it; source NULL: zeros. */
static TalusStatus copy_array(TalusProblem *p, int index, const void *source, size_t count,
                              size_t element)
{
    TALUS_TRY(talus_alloc(&p->def_memory[index], count, element, "problem data"));
    if (source && count)
        memcpy(p->def_memory[index], source, count * element);
    return TALUS_OK;
}

/* Copies an array of `def` into p->def_memory[index] and makes p->def point to the copy. */
#define COPY(index, field, count)                                                     \
    TALUS_TRY(copy_array(p, index, def->field, (size_t)(count), sizeof *def->field)); \
    p->def.field = p->def_memory[index]

/* Copies the arrays of bodies and contacts of a def into p->def; arrays that the def lacks become zeros. */
static TalusStatus copy_contacts(TalusProblem *p, const TalusProblemDef *def)
{
    p->def = *def;
    COPY(0, inv_mass, def->body_count);
    COPY(1, inv_inertia, def->body_count);
    COPY(2, radius, def->body_count);
    COPY(3, free_velocity, 6 * (size_t)def->body_count);
    COPY(4, contacts, def->contact_count);
    return TALUS_OK;
}

/* Copies the arrays of an explicit def into p->def. */
static TalusStatus copy_matrix(TalusProblem *p, const TalusProblemDef *def)
{
    size_t n = (size_t)def->rows * (size_t)def->block_count;
    p->def = *def;
    COPY(0, row_start, n + 1);
    COPY(1, column, def->row_start[n]);
    COPY(2, values, def->row_start[n]);
    COPY(3, offset, n);
    COPY(4, mu, def->rows == 3 ? def->block_count : 0);
    if (def->model) {
        COPY(5, model, def->block_count);
    }
    return TALUS_OK;
}

TalusStatus talus_problem_copy_def(TalusProblem *p, const TalusProblemDef *def)
{
    talus_problem_forget_def(p);
    TALUS_TRY(def->contacts ? copy_contacts(p, def) : copy_matrix(p, def));
    p->has_def = true;
    return TALUS_OK;
}

/* ---- a problem filled in place ---- */

/* Returns contact i in physical units. */
static TalusContactDef contact_def(const TalusProblem *p, int i)
{
    const TalusOperator *op = &p->op;
    int general = i - op->sphere_sphere - op->sphere_fixed;
    const double *n = op->frame[i];
    int32_t a = op->pair[i][0], b = op->pair[i][1];
    double la = p->length[a], lb = b >= 0 ? p->length[b] : 0.0;
    TalusContactDef c = {.a = a,
                         .b = b,
                         .normal = talus_vec3(n[0], n[1], n[2]),
                         .mu = op->rows > 1 ? op->mu[i] : 0.0,
                         .bias = op->bias[i],
                         .compliance = op->compliance ? op->compliance[i] : 0.0};
    if (op->model && op->rows > 1)
        c.model = talus_problem_friction(p, i);
    if (op->moment_mu) {
        c.spinning = op->moment_mu[i][0];
        c.rolling = op->moment_mu[i][1];
        c.length = la * op->lever[i][0];
    }
    if (general < 0) {
        c.arm_a = talus_scale(la, c.normal);
        c.arm_b = talus_scale(-lb, c.normal);
    } else {
        const double *arm = op->arm[general];
        c.arm_a = talus_scale(la, talus_vec3(arm[0], arm[1], arm[2]));
        c.arm_b = talus_scale(lb, talus_vec3(arm[3], arm[4], arm[5]));
    }
    return c;
}

/* Writes I^-1 and the velocity (v, w) of body i in physical units: I^-1 = op->inverse_inertia / l^2 or, without that
 * array, body[7] / l^2 times the identity; w = s / l. */
static void export_body(const TalusProblem *p, int i, TalusSym3 *inv_inertia, double *velocity)
{
    const double *body = p->op.body[i];
    double l = p->length[i], k = body[7] / (l * l);
    TalusSym3 inv = {k, k, k, 0.0, 0.0, 0.0};
    if (p->op.inverse_inertia) {
        memcpy(&inv, p->op.inverse_inertia[i], sizeof inv);
        inv = talus_sym3_scale(1.0 / (l * l), inv);
    }
    *inv_inertia = inv;
    for (int c = 0; c < 3; c++) {
        velocity[c] = body[c];
        velocity[3 + c] = body[4 + c] / l;
    }
}

/* Writes the radii of bodies with contacts in the runs of spheres; the radii of other bodies stay 0. */
static void export_radii(const TalusProblem *p, double *radius)
{
    const TalusOperator *op = &p->op;
    for (int i = 0; i < op->sphere_sphere + op->sphere_fixed; i++) {
        radius[op->pair[i][0]] = p->length[op->pair[i][0]];
        if (op->pair[i][1] >= 0)
            radius[op->pair[i][1]] = p->length[op->pair[i][1]];
    }
}

/* Makes p->def from the operator, for a problem filled in place. */
static TalusStatus make_def(TalusProblem *p)
{
    const TalusProblemDef sizes = {.body_count = p->op.bodies, .contact_count = p->op.blocks};
    talus_problem_forget_def(p);
    if (p->op.slip)
        return talus_fail(TALUS_ERR_UNSUPPORTED,
                          "problem: contacts across a cell that deforms have tangential offsets, "
                          "which a problem's definition has no place for");
    TALUS_TRY(copy_contacts(p, &sizes));
    double *inv_mass = p->def_memory[0], *velocity = p->def_memory[3];
    TalusSym3 *inv_inertia = p->def_memory[1];
    TalusContactDef *contact = p->def_memory[4];
    for (int i = 0; i < p->op.bodies; i++) {
        inv_mass[i] = p->op.body[i][3];
        export_body(p, i, &inv_inertia[i], velocity + 6 * i);
    }
    export_radii(p, p->def_memory[2]);
    for (int i = 0; i < p->op.blocks; i++)
        contact[i] = contact_def(p, i);
    p->has_def = true;
    return TALUS_OK;
}

TalusStatus talus_problem_export(TalusProblem *p, TalusProblemDef *def)
{
    if (!p->has_def)
        TALUS_TRY(make_def(p));
    *def = p->def;
    return TALUS_OK;
}

/* io/problem/fclib_from.c - conversion of a TalusProblem to FCLIB.
 *
 * Global form, of a matrix-free problem: M holds each body's mass and inertia, H the map D from contact to body
 * impulses, f = M v_f and w = (bias, 0, 0) of each contact. A translation or rotation that cannot change (inverse mass
 * or inertia zero) has no rows; what it adds to the contact velocity is added to w.
 *
 * Local form: W = N + E and q. An explicit problem has them; those of a matrix-free one are assembled. The global form
 * has no place for the compliance E, so a problem that has some takes the local one.
 *
 * A problem of one row per contact gets three with mu = 0; in the local form its tangents are coupled to nothing. */
#include "backend/frame.h"
#include "base/memory.h"
#include "io/problem/fclib.h"
#include "linalg/sparse.h"
#include "problem/problem.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

enum { DIMENSION = 3 };

typedef struct Entries { /* triplets of a sparse matrix; open_entries sets the capacity */
    int32_t *row, *column;
    double *value;
    size_t count;
} Entries;

static TalusStatus open_entries(Entries *e, size_t capacity)
{
    TALUS_TRY(TALUS_ALLOC(e->row, capacity, "entries"));
    TALUS_TRY(TALUS_ALLOC(e->column, capacity, "entries"));
    return TALUS_ALLOC(e->value, capacity, "entries");
}

static void close_entries(Entries *e)
{
    TALUS_RELEASE(e->row, e->column, e->value);
}

static void add_entry(Entries *e, int row, int column, double value)
{
    if (value == 0.0)
        return;
    e->row[e->count] = row;
    e->column[e->count] = column;
    e->value[e->count++] = value;
}

static TalusStatus to_sparse(const Entries *e, int rows, int columns, const char *what,
                             TalusSparse *out)
{
    TalusTriplets t = {rows, columns, e->count, e->row, e->column, e->value};
    return talus_sparse_from_triplets(&t, out, what);
}

/* ---- bodies ---- */

/* Numbering of degrees of freedom: first[body][0] is the first of three of its translation, first[body][1] of its
 * rotation; -1 if that cannot move. */
typedef struct Freedom {
    int32_t (*first)[2];
    int count;
} Freedom;

static bool is_zero(TalusSym3 a)
{
    return a.xx == 0.0 && a.yy == 0.0 && a.zz == 0.0 && a.xy == 0.0 && a.xz == 0.0 && a.yz == 0.0;
}

static TalusStatus number_freedoms(const TalusProblemDef *def, Freedom *freedom)
{
    int64_t count = 0;
    TALUS_TRY(TALUS_ALLOC(freedom->first, (size_t)def->body_count, "bodies"));
    for (int i = 0; i < def->body_count; i++) {
        bool moves[2] = {def->inv_mass[i] > 0.0, !is_zero(def->inv_inertia[i])};
        for (int part = 0; part < 2; part++) {
            freedom->first[i][part] = moves[part] ? (int32_t)count : -1;
            count += moves[part] ? 3 : 0;
        }
        if (count > INT32_MAX - 6)
            return talus_fail(TALUS_ERR_UNSUPPORTED, "%d bodies are more than FCLIB can number",
                              def->body_count);
    }
    freedom->count = (int)count;
    return TALUS_OK;
}

/* Inverts `a` by cofactors; false, with `out` of no use, unless `a` is positive definite. */
static bool invert(TalusSym3 a, double out[3][3])
{
    if (a.xy == 0.0 && a.xz == 0.0 && a.yz == 0.0) {
        memset(out, 0, 9 * sizeof out[0][0]);
        out[0][0] = 1.0 / a.xx;
        out[1][1] = 1.0 / a.yy;
        out[2][2] = 1.0 / a.zz;
        return a.xx > 0.0 && a.yy > 0.0 && a.zz > 0.0;
    }
    double xx = a.yy * a.zz - a.yz * a.yz, xy = a.xz * a.yz - a.xy * a.zz;
    double xz = a.xy * a.yz - a.xz * a.yy, yy = a.xx * a.zz - a.xz * a.xz;
    double yz = a.xy * a.xz - a.xx * a.yz, zz = a.xx * a.yy - a.xy * a.xy;
    double determinant = a.xx * xx + a.xy * xy + a.xz * xz;
    const double adjoint[3][3] = {{xx, xy, xz}, {xy, yy, yz}, {xz, yz, zz}};
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            out[r][c] = adjoint[r][c] / determinant;
    return a.xx > 0.0 && zz > 0.0 && determinant > 0.0;
}

static TalusStatus fill_mass(const TalusProblemDef *def, const Freedom *freedom, Entries *e)
{
    for (int i = 0; i < def->body_count; i++) {
        int linear = freedom->first[i][0], angular = freedom->first[i][1];
        double inertia[3][3];
        for (int k = 0; linear >= 0 && k < 3; k++)
            add_entry(e, linear + k, linear + k, 1.0 / def->inv_mass[i]);
        if (angular < 0)
            continue;
        if (!invert(def->inv_inertia[i], inertia))
            return talus_reject(
                "body %d: its inverse inertia is not positive definite: FCLIB's global form has no "
                "place for a body that turns about some axes only; its local form (`--form local`) "
                "has",
                i);
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++)
                add_entry(e, angular + r, angular + c, inertia[r][c]);
    }
    return TALUS_OK;
}

static TalusStatus make_mass(const TalusProblemDef *def, const Freedom *freedom, TalusFclib *f)
{
    Entries e = {0};
    TalusStatus status = open_entries(&e, 12 * (size_t)def->body_count);
    TALUS_THEN(status, fill_mass(def, freedom, &e));
    TALUS_THEN(status, to_sparse(&e, freedom->count, freedom->count, "M", &f->M));
    close_entries(&e);
    return status;
}

/* Copies velocities, six numbers per body, to the vector v over degrees of freedom; leaves out those without one. */
static void pick(const TalusProblemDef *def, const Freedom *freedom, const double *body, double *v)
{
    for (int i = 0; i < def->body_count; i++)
        for (int part = 0; part < 2; part++)
            for (int k = 0; k < 3; k++)
                if (freedom->first[i][part] >= 0)
                    v[freedom->first[i][part] + k] = body[6 * i + 3 * part + k];
}

/* ---- contacts ---- */

/* Returns arm x direction, a unit vector; exactly 0 if that is no more than rounding, so that H has no such entries. */
static TalusVec3 moment(TalusVec3 arm, TalusVec3 direction)
{
    TalusVec3 m = talus_cross(arm, direction);
    return talus_norm(m) > 4.0 * DBL_EPSILON * talus_norm(arm) ? m : talus_vec3(0.0, 0.0, 0.0);
}

/* Adds one body's part of a contact row: entries of H for its degrees of freedom. Of a translation or rotation without
 * any, the free velocity along the row is added to w[row]. sign: -1 for body a, 1 for b. body -1, the world, adds
 * nothing. */
static void add_side(const TalusProblemDef *def, const Freedom *freedom, int body, double sign,
                     TalusVec3 direction, TalusVec3 arm, int row, Entries *e, double *w)
{
    if (body < 0)
        return;
    TalusVec3 parts[2] = {direction, moment(arm, direction)};
    for (int part = 0; part < 2; part++) {
        const double p[3] = {sign * parts[part].x, sign * parts[part].y, sign * parts[part].z};
        for (int k = 0; k < 3; k++)
            if (freedom->first[body][part] >= 0)
                add_entry(e, freedom->first[body][part] + k, row, p[k]);
            else
                w[row] += p[k] * def->free_velocity[6 * body + 3 * part + k];
    }
}

static void add_contact(const TalusProblemDef *def, const Freedom *freedom, int i, Entries *e,
                        double *w)
{
    const TalusContactDef *c = &def->contacts[i];
    double frame[4];
    talus_frame_from_normal(frame, c->normal.x, c->normal.y, c->normal.z);
    w[DIMENSION * i] = c->bias;
    for (int r = 0; r < DIMENSION; r++) {
        double local[3] = {0.0, 0.0, 0.0}, world[3];
        local[r] = 1.0;
        talus_frame_to_world(frame, local, world);
        TalusVec3 direction = talus_vec3(world[0], world[1], world[2]);
        int row = DIMENSION * i + r;
        add_side(def, freedom, c->a, -1.0, direction, c->arm_a, row, e, w);
        add_side(def, freedom, c->b, 1.0, direction, c->arm_b, row, e, w);
    }
}

/* ---- friction ---- */

/* Sets mu of contact i, 0 for the section none. Fails for a joint, and for mu > 0 with a section other than disc. The
 * law is lost: FCLIB stores none. */
static TalusStatus set_mu(TalusFclib *f, int i, double mu, TalusFrictionModel model)
{
    bool none = model.section == TALUS_SECTION_NONE;
    if (model.section == TALUS_SECTION_JOINT)
        return talus_fail(TALUS_ERR_UNSUPPORTED,
                          "contact %d is a joint; FCLIB has contacts alone; `-o file.talus` keeps "
                          "it",
                          i);
    if (mu > 0.0 && !none && model.section != TALUS_SECTION_DISC)
        return talus_fail(
            TALUS_ERR_UNSUPPORTED,
            "contact %d has the section %s; FCLIB has no place for another than disc; "
            "`-o file.talus` keeps it",
            i, talus_section_name(model.section));
    f->mu[i] = none ? 0.0 : mu;
    return TALUS_OK;
}

/* Sets mu of every contact of a problem with bodies. Fails on contact data that the form cannot store. */
static TalusStatus set_friction(const TalusProblemDef *def, TalusFclib *f)
{
    for (int i = 0; i < f->contacts; i++) {
        const TalusContactDef *c = &def->contacts[i];
        if (c->spinning > 0.0 || c->rolling > 0.0)
            return talus_fail(TALUS_ERR_UNSUPPORTED,
                              "contact %d has spinning or rolling friction; FCLIB has no place for "
                              "it; `-o file.talus` keeps it",
                              i);
        TALUS_TRY(set_mu(f, i, c->mu, c->model));
        if (f->global && c->compliance > 0.0)
            return talus_fail(TALUS_ERR_UNSUPPORTED,
                              "contact %d has compliance; FCLIB's global form has no place for it; "
                              "its local form (`--form local`) has it in W, and `-o file.talus` "
                              "keeps it",
                              i);
    }
    return TALUS_OK;
}

static TalusStatus make_contacts(const TalusProblemDef *def, const Freedom *freedom, TalusFclib *f)
{
    Entries e = {0};
    TalusStatus status = open_entries(&e, 36 * (size_t)f->contacts);
    TALUS_THEN(status, TALUS_ALLOC(f->w, DIMENSION * (size_t)f->contacts, "offsets"));
    if (status == TALUS_OK) {
        for (int i = 0; i < f->contacts; i++)
            add_contact(def, freedom, i, &e, f->w);
        status = to_sparse(&e, freedom->count, talus_fclib_rows(f), "H", &f->H);
    }
    close_entries(&e);
    return status;
}

/* ---- the starting impulses ---- */

/* Allocates u and r of a guess; r is the problem's impulses, 0 in rows that the problem lacks. */
static TalusStatus open_guess(const TalusFclib *f, TalusProblem *problem, TalusFclibPoint *guess)
{
    size_t rows = (size_t)talus_fclib_rows(f);
    int per = talus_problem_rows(problem);
    const double *gamma = talus_problem_gamma(problem);
    TALUS_TRY(TALUS_ALLOC(guess->u, rows, "guess"));
    TALUS_TRY(TALUS_ALLOC(guess->r, rows, "guess"));
    for (int i = 0; i < f->contacts; i++)
        for (int k = 0; k < per; k++)
            guess->r[DIMENSION * i + k] = gamma[per * i + k];
    return TALUS_OK;
}

static TalusStatus global_guess(TalusFclib *f, TalusProblem *problem, const TalusProblemDef *def,
                                const Freedom *freedom)
{
    TalusFclibPoint *guess = &f->guesses[0];
    double *body;
    TALUS_TRY(open_guess(f, problem, guess));
    TALUS_TRY(TALUS_ALLOC(guess->v, (size_t)freedom->count, "guess"));
    TALUS_TRY(TALUS_ALLOC(body, 6 * (size_t)def->body_count, "body velocities"));
    TalusStatus status = talus_problem_body_velocity(problem, talus_problem_gamma(problem), body);
    if (status == TALUS_OK) {
        pick(def, freedom, body, guess->v);
        memcpy(guess->u, f->w, (size_t)talus_fclib_rows(f) * sizeof *guess->u);
        talus_sparse_add_transposed(&f->H, 1.0, guess->v, guess->u);
    }
    talus_release(body);
    return status;
}

/* ---- the global form ---- */

static TalusStatus fill_global(TalusFclib *f, TalusProblem *problem, const TalusProblemDef *def,
                               Freedom *freedom)
{
    TALUS_TRY(set_friction(def, f));
    TALUS_TRY(number_freedoms(def, freedom));
    TALUS_TRY(make_contacts(def, freedom, f));
    TALUS_TRY(make_mass(def, freedom, f));
    TALUS_TRY(TALUS_ALLOC(f->f, (size_t)freedom->count, "forces"));
    double *v;
    TALUS_TRY(TALUS_ALLOC(v, (size_t)freedom->count, "velocities"));
    pick(def, freedom, def->free_velocity, v);
    talus_sparse_add(&f->M, 1.0, v, f->f);
    talus_release(v);
    return global_guess(f, problem, def, freedom);
}

/* ---- the local form ---- */

/* Copies the entries of N. If it has one row per contact, adds two rows of tangents, which have only a diagonal entry,
 * that of the normal. */
static void fill_entries(const TalusProblemDef *def, Entries *e)
{
    int n = def->rows * def->block_count, step = DIMENSION / def->rows;
    for (int i = 0; i < n; i++)
        for (int32_t k = def->row_start[i]; k < def->row_start[i + 1]; k++) {
            int j = def->column[k];
            add_entry(e, step * i, step * j, def->values[k]);
            for (int t = 1; i == j && t < step; t++)
                add_entry(e, step * i + t, step * i + t, def->values[k]);
        }
}

/* Fills W, q and the guess from the matrix of an explicit problem. */
static TalusStatus fill_matrix(TalusFclib *f, TalusProblem *problem, const TalusProblemDef *def)
{
    Entries e = {0};
    int n = def->rows * def->block_count, step = DIMENSION / def->rows;
    size_t rows = (size_t)talus_fclib_rows(f);
    TalusStatus status = open_entries(&e, (size_t)def->row_start[n] + 2 * rows);
    if (status == TALUS_OK) {
        fill_entries(def, &e);
        status = to_sparse(&e, (int)rows, (int)rows, "W", &f->W);
    }
    close_entries(&e);
    TALUS_TRY(status);
    TALUS_TRY(TALUS_ALLOC(f->q, rows, "offset"));
    for (int i = 0; i < n; i++)
        f->q[step * i] = def->offset[i];
    TalusFclibPoint *guess = &f->guesses[0];
    TALUS_TRY(open_guess(f, problem, guess));
    memcpy(guess->u, f->q, rows * sizeof *guess->u);
    talus_sparse_add(&f->W, 1.0, guess->r, guess->u);
    return TALUS_OK;
}

static TalusStatus fill_explicit(TalusFclib *f, TalusProblem *problem, const TalusProblemDef *def)
{
    for (int i = 0; i < f->contacts; i++)
        TALUS_TRY(set_mu(f, i, def->rows == 3 ? def->mu[i] : 0.0,
                         def->model ? def->model[i] : (TalusFrictionModel){0}));
    return fill_matrix(f, problem, def);
}

static TalusStatus check_entries(const TalusProblem *problem)
{
    if (talus_problem_count_entries(problem, TALUS_FCLIB_ENTRIES_MAX) <= TALUS_FCLIB_ENTRIES_MAX)
        return TALUS_OK;
    return talus_fail(TALUS_ERR_UNSUPPORTED,
                      "FCLIB's local form of %d contacts would have more than %d entries in W, "
                      "which couples all contacts of a body with each other; `-o file.talus` "
                      "stores bodies and contacts instead",
                      talus_problem_blocks(problem), TALUS_FCLIB_ENTRIES_MAX);
}

/* Fills the local form of a problem with bodies, by way of the explicit problem over N + E and q. */
static TalusStatus fill_assembled(TalusFclib *f, TalusProblem *problem, const TalusProblemDef *def)
{
    TalusSparse N = {0};
    double *q = NULL;
    TALUS_TRY(set_friction(def, f));
    TALUS_TRY(check_entries(problem));
    TalusStatus status = talus_problem_assemble(problem, &N);
    TALUS_THEN(status, TALUS_ALLOC(q, (size_t)talus_problem_size(problem), "offset"));
    if (status == TALUS_OK) {
        talus_problem_offset(problem, q);
        TalusProblemDef matrix = {.block_count = talus_problem_blocks(problem),
                                  .rows = talus_problem_rows(problem),
                                  .row_start = N.start,
                                  .column = N.column,
                                  .values = N.value,
                                  .offset = q};
        status = fill_matrix(f, problem, &matrix);
    }
    talus_sparse_clear(&N);
    talus_release(q);
    return status;
}

/* ---- either form ---- */

static int count_compliant(const TalusProblemDef *def)
{
    int count = 0;
    for (int i = 0; def->contacts && i < def->contact_count; i++)
        count += def->contacts[i].compliance > 0.0;
    return count;
}

static TalusStatus choose_form(const TalusProblemDef *def, TalusFclibForm form, bool *global)
{
    bool matrix = !def->contacts;
    *global = form == TALUS_FCLIB_GLOBAL ||
              (form == TALUS_FCLIB_AUTO && !matrix && count_compliant(def) == 0);
    if (*global && matrix)
        return talus_fail(TALUS_ERR_UNSUPPORTED,
                          "FCLIB's global form needs bodies, and the problem is a matrix: expected "
                          "the local form");
    return TALUS_OK;
}

/* Returns the law of the contacts with friction; "mixed" if they differ, NULL if there are none. */
static const char *law_of(const TalusProblem *problem)
{
    const char *name = NULL;
    for (int i = 0; talus_problem_rows(problem) > 1 && i < talus_problem_blocks(problem); i++) {
        TalusFrictionModel model = talus_problem_friction(problem, i);
        if (model.section == TALUS_SECTION_NONE || !(talus_problem_mu(problem, i) > 0.0))
            continue;
        const char *other = talus_law_name(model.law);
        name = !name || strcmp(name, other) == 0 ? other : "mixed";
    }
    return name;
}

static TalusStatus describe(TalusFclib *f, const TalusProblem *problem, const TalusProblemDef *def,
                            const char *title)
{
    char text[256], soft[64] = "";
    const char *law = law_of(problem);
    if (count_compliant(def) > 0)
        snprintf(soft, sizeof soft, "; W contains the compliance of %d contacts",
                 count_compliant(def));
    snprintf(text, sizeof text, "written by Talus %s%s%s%s; guess 1 holds the starting impulses",
             talus_version(), law ? "; friction law " : "", law ? law : "", soft);
    TALUS_TRY(talus_copy_text(title, "text", &f->title));
    TALUS_TRY(talus_copy_text(text, "text", &f->description));
    return talus_copy_text(
        f->global ? "contact rows: normal, tangent 1, tangent 2; SI units; w is the stabilisation"
                  : "contact rows: normal, tangent 1, tangent 2; SI units; W = N + E with the "
                    "compliance E on the diagonal of normal rows",
        "text", &f->math_info);
}

static TalusStatus fill(TalusFclib *f, TalusProblem *problem, const TalusProblemDef *def,
                        const char *title, Freedom *freedom)
{
    f->dimension = DIMENSION;
    f->contacts = def->contacts ? def->contact_count : def->block_count;
    if (f->contacts > INT32_MAX / 36 - 1)
        return talus_fail(TALUS_ERR_UNSUPPORTED, "%d contacts are more than FCLIB can hold",
                          f->contacts);
    TALUS_TRY(TALUS_ALLOC(f->mu, (size_t)f->contacts, "friction"));
    TALUS_TRY(TALUS_ALLOC(f->guesses, 1, "guesses"));
    f->guess_count = 1;
    TALUS_TRY(f->global       ? fill_global(f, problem, def, freedom)
              : def->contacts ? fill_assembled(f, problem, def)
                              : fill_explicit(f, problem, def));
    return describe(f, problem, def, title);
}

TalusStatus talus_fclib_from_problem_as(TalusProblem *problem, TalusFclibForm form,
                                        const char *title, TalusFclib **out)
{
    TalusProblemDef def = {0};
    Freedom freedom = {0};
    TalusFclib *fclib;
    *out = NULL;
    TALUS_TRY(talus_problem_export(problem, &def));
    TALUS_TRY(TALUS_ALLOC(fclib, 1, "FCLIB problem"));
    TalusStatus status = choose_form(&def, form, &fclib->global);
    TALUS_THEN(status, fill(fclib, problem, &def, title, &freedom));
    talus_release(freedom.first);
    if (status != TALUS_OK)
        talus_fclib_destroy(fclib);
    else
        *out = fclib;
    return status;
}

TalusStatus talus_fclib_from_problem(TalusProblem *problem, const char *title, TalusFclib **out)
{
    return talus_fclib_from_problem_as(problem, TALUS_FCLIB_AUTO, title, out);
}

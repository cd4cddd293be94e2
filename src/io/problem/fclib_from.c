/* io/problem/fclib_from.c - conversion of a TalusProblem to FCLIB.
 *
 * Global form, of a matrix-free problem: M holds each body's mass and inertia, H the map D from contact to body
 * impulses, f = M v_f and w = (bias, 0, 0) of each contact. A translation or rotation that cannot change (inverse mass
 * or inertia zero) has no rows in M and H; its part of the contact velocity is added to w.
 *
 * Local form: W = N + E and q. An explicit problem has both; those of a matrix-free problem are assembled. The global
 * form cannot store the compliance E: unless the caller asks for a form, a problem with compliance takes the local one.
 *
 * A problem of one row per contact is written with three rows and mu = 0; in the local form the tangential rows are
 * coupled to nothing. */
#include "backend/frame.h"
#include "base/memory.h"
#include "io/problem/fclib.h"
#include "linalg/sparse.h"
#include "problem/problem.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

enum { DIMENSION = 3 }; /* rows per contact in the file: normal and two tangents */

/* Triplets of a sparse matrix; allocate_entries sets the capacity. */
typedef struct Entries {
    int32_t *row, *column;
    double *value;
    size_t count;
} Entries;

/* Allocates room for `capacity` triplets. */
static TalusStatus allocate_entries(Entries *e, size_t capacity)
{
    TALUS_TRY(TALUS_ALLOC(e->row, capacity, "entries"));
    TALUS_TRY(TALUS_ALLOC(e->column, capacity, "entries"));
    return TALUS_ALLOC(e->value, capacity, "entries");
}

static void release_entries(Entries *e)
{
    TALUS_RELEASE(e->row, e->column, e->value);
}

/* Appends a triplet, unless its value is 0. */
static void add_entry(Entries *e, int row, int column, double value)
{
    if (value == 0.0)
        return;
    e->row[e->count] = row;
    e->column[e->count] = column;
    e->value[e->count++] = value;
}

/* Converts the triplets to a sparse matrix; `what` names it in messages. */
static TalusStatus entries_to_sparse(const Entries *e, int rows, int columns, const char *what,
                                     TalusSparse *out)
{
    TalusTriplets t = {rows, columns, e->count, e->row, e->column, e->value};
    return talus_sparse_from_triplets(&t, out, what);
}

/* ---- bodies ---- */

/* Numbering of the degrees of freedom. first[body][0] is the number of the first of the three of the body's
 * translation, first[body][1] of its rotation; -1 if the translation or rotation cannot change. */
typedef struct Freedom {
    int32_t (*first)[2];
    int count;
} Freedom;

static bool is_zero(TalusSym3 a)
{
    return a.xx == 0.0 && a.yy == 0.0 && a.zz == 0.0 && a.xy == 0.0 && a.xz == 0.0 && a.yz == 0.0;
}

/* Numbers the degrees of freedom of all bodies. */
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

/* Writes the inverse of `a`, by cofactors. False, with `out` of no use, if `a` is not positive definite. */
static bool invert_inertia(TalusSym3 a, double out[3][3])
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

/* Appends the entries of M. Fails if a body can turn about some axes only. */
static TalusStatus append_mass_entries(const TalusProblemDef *def, const Freedom *freedom,
                                       Entries *e)
{
    for (int i = 0; i < def->body_count; i++) {
        int linear = freedom->first[i][0], angular = freedom->first[i][1];
        double inertia[3][3];
        for (int k = 0; linear >= 0 && k < 3; k++)
            add_entry(e, linear + k, linear + k, 1.0 / def->inv_mass[i]);
        if (angular < 0)
            continue;
        if (!invert_inertia(def->inv_inertia[i], inertia))
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

/* Makes M. */
static TalusStatus make_mass_matrix(const TalusProblemDef *def, const Freedom *freedom,
                                    TalusFclib *f)
{
    Entries e = {0};
    TalusStatus status = allocate_entries(&e, 12 * (size_t)def->body_count);
    TALUS_THEN(status, append_mass_entries(def, freedom, &e));
    TALUS_THEN(status, entries_to_sparse(&e, freedom->count, freedom->count, "M", &f->M));
    release_entries(&e);
    return status;
}

/* Copies the velocities `body`, six numbers per body, to the vector v over degrees of freedom; translations and
 * rotations without degrees of freedom are left out. */
static void copy_to_freedoms(const TalusProblemDef *def, const Freedom *freedom, const double *body,
                             double *v)
{
    for (int i = 0; i < def->body_count; i++)
        for (int part = 0; part < 2; part++)
            for (int k = 0; k < 3; k++)
                if (freedom->first[i][part] >= 0)
                    v[freedom->first[i][part] + k] = body[6 * i + 3 * part + k];
}

/* ---- contacts ---- */

/* Returns the cross product of `arm` and the unit vector `direction`; exactly 0 if it is no more than rounding, so that
 * H has no entries for it. */
static TalusVec3 moment_of_unit_force(TalusVec3 arm, TalusVec3 direction)
{
    TalusVec3 m = talus_cross(arm, direction);
    return talus_norm(m) > 4.0 * DBL_EPSILON * talus_norm(arm) ? m : talus_vec3(0.0, 0.0, 0.0);
}

/* Adds one body's part of a contact row: the entries of H for the body's degrees of freedom. For a translation or
 * rotation without degrees of freedom, adds its free velocity along the row to w[row] instead. sign: -1 for body a, 1
 * for b. The fixed world, body -1, adds nothing. */
static void add_body_row(const TalusProblemDef *def, const Freedom *freedom, int body, double sign,
                         TalusVec3 direction, TalusVec3 arm, int row, Entries *e, double *w)
{
    if (body < 0)
        return;
    TalusVec3 parts[2] = {direction, moment_of_unit_force(arm, direction)};
    for (int part = 0; part < 2; part++) {
        const double p[3] = {sign * parts[part].x, sign * parts[part].y, sign * parts[part].z};
        for (int k = 0; k < 3; k++)
            if (freedom->first[body][part] >= 0)
                add_entry(e, freedom->first[body][part] + k, row, p[k]);
            else
                w[row] += p[k] * def->free_velocity[6 * body + 3 * part + k];
    }
}

/* Adds the entries of contact i to H, and sets its rows of w. */
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
        add_body_row(def, freedom, c->a, -1.0, direction, c->arm_a, row, e, w);
        add_body_row(def, freedom, c->b, 1.0, direction, c->arm_b, row, e, w);
    }
}

/* ---- friction ---- */

/* Sets mu of contact i; 0 for the section none. Fails for a joint, and for mu > 0 with a section other than disc. The
 * friction law is not stored, since FCLIB has no place for it. */
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

/* Sets mu of every contact of a problem with bodies. Fails on contact data that the chosen form cannot store. */
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

/* Makes H and w. */
static TalusStatus make_contact_matrix(const TalusProblemDef *def, const Freedom *freedom,
                                       TalusFclib *f)
{
    Entries e = {0};
    TalusStatus status = allocate_entries(&e, 36 * (size_t)f->contacts);
    TALUS_THEN(status, TALUS_ALLOC(f->w, DIMENSION * (size_t)f->contacts, "offsets"));
    if (status == TALUS_OK) {
        for (int i = 0; i < f->contacts; i++)
            add_contact(def, freedom, i, &e, f->w);
        status = entries_to_sparse(&e, freedom->count, talus_fclib_rows(f), "H", &f->H);
    }
    release_entries(&e);
    return status;
}

/* ---- the starting impulses ---- */

/* Allocates u and r of a guess and fills r with the problem's impulses, 0 in rows that the problem lacks. */
static TalusStatus start_guess(const TalusFclib *f, TalusProblem *problem, TalusFclibPoint *guess)
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

/* Fills guess 1 of the global form: r, v and u of the problem's impulses. */
static TalusStatus fill_global_guess(TalusFclib *f, TalusProblem *problem,
                                     const TalusProblemDef *def, const Freedom *freedom)
{
    TalusFclibPoint *guess = &f->guesses[0];
    double *body;
    TALUS_TRY(start_guess(f, problem, guess));
    TALUS_TRY(TALUS_ALLOC(guess->v, (size_t)freedom->count, "guess"));
    TALUS_TRY(TALUS_ALLOC(body, 6 * (size_t)def->body_count, "body velocities"));
    TalusStatus status = talus_problem_body_velocity(problem, talus_problem_gamma(problem), body);
    if (status == TALUS_OK) {
        copy_to_freedoms(def, freedom, body, guess->v);
        memcpy(guess->u, f->w, (size_t)talus_fclib_rows(f) * sizeof *guess->u);
        talus_sparse_add_transposed_product(&f->H, 1.0, guess->v, guess->u);
    }
    talus_release(body);
    return status;
}

/* ---- the global form ---- */

/* Fills the global form of a problem with bodies, and its guess. */
static TalusStatus fill_global(TalusFclib *f, TalusProblem *problem, const TalusProblemDef *def,
                               Freedom *freedom)
{
    TALUS_TRY(set_friction(def, f));
    TALUS_TRY(number_freedoms(def, freedom));
    TALUS_TRY(make_contact_matrix(def, freedom, f));
    TALUS_TRY(make_mass_matrix(def, freedom, f));
    TALUS_TRY(TALUS_ALLOC(f->f, (size_t)freedom->count, "forces"));
    double *v;
    TALUS_TRY(TALUS_ALLOC(v, (size_t)freedom->count, "velocities"));
    copy_to_freedoms(def, freedom, def->free_velocity, v);
    talus_sparse_add_product(&f->M, 1.0, v, f->f);
    talus_release(v);
    return fill_global_guess(f, problem, def, freedom);
}

/* ---- the local form ---- */

/* Appends the entries of N. If N has one row per contact, adds two tangential rows to each, whose only entry is the
 * diagonal one, equal to that of the normal row. */
static void append_matrix_entries(const TalusProblemDef *def, Entries *e)
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
static TalusStatus fill_local(TalusFclib *f, TalusProblem *problem, const TalusProblemDef *def)
{
    Entries e = {0};
    int n = def->rows * def->block_count, step = DIMENSION / def->rows;
    size_t rows = (size_t)talus_fclib_rows(f);
    TalusStatus status = allocate_entries(&e, (size_t)def->row_start[n] + 2 * rows);
    if (status == TALUS_OK) {
        append_matrix_entries(def, &e);
        status = entries_to_sparse(&e, (int)rows, (int)rows, "W", &f->W);
    }
    release_entries(&e);
    TALUS_TRY(status);
    TALUS_TRY(TALUS_ALLOC(f->q, rows, "offset"));
    for (int i = 0; i < n; i++)
        f->q[step * i] = def->offset[i];
    TalusFclibPoint *guess = &f->guesses[0];
    TALUS_TRY(start_guess(f, problem, guess));
    memcpy(guess->u, f->q, rows * sizeof *guess->u);
    talus_sparse_add_product(&f->W, 1.0, guess->r, guess->u);
    return TALUS_OK;
}

/* Fills the local form of an explicit problem, and its guess. */
static TalusStatus fill_local_explicit(TalusFclib *f, TalusProblem *problem,
                                       const TalusProblemDef *def)
{
    for (int i = 0; i < f->contacts; i++)
        TALUS_TRY(set_mu(f, i, def->rows == 3 ? def->mu[i] : 0.0,
                         def->model ? def->model[i] : (TalusFrictionModel){0}));
    return fill_local(f, problem, def);
}

/* Fails if W would have more than TALUS_FCLIB_ENTRIES_MAX entries. */
static TalusStatus check_entry_count(const TalusProblem *problem)
{
    if (talus_problem_count_entries(problem, TALUS_FCLIB_ENTRIES_MAX) <= TALUS_FCLIB_ENTRIES_MAX)
        return TALUS_OK;
    return talus_fail(TALUS_ERR_UNSUPPORTED,
                      "FCLIB's local form of %d contacts would have more than %d entries in W, "
                      "which couples all contacts of a body with each other; `-o file.talus` "
                      "stores bodies and contacts instead",
                      talus_problem_blocks(problem), TALUS_FCLIB_ENTRIES_MAX);
}

/* Fills the local form of a problem with bodies, and its guess: assembles N + E and q first. */
static TalusStatus fill_local_assembled(TalusFclib *f, TalusProblem *problem,
                                        const TalusProblemDef *def)
{
    TalusSparse N = {0};
    double *q = NULL;
    TALUS_TRY(set_friction(def, f));
    TALUS_TRY(check_entry_count(problem));
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
        status = fill_local(f, problem, &matrix);
    }
    talus_sparse_clear(&N);
    talus_release(q);
    return status;
}

/* ---- either form ---- */

/* Returns the number of contacts with compliance; 0 for an explicit problem, whose matrix contains it. */
static int count_compliant_contacts(const TalusProblemDef *def)
{
    int count = 0;
    for (int i = 0; def->contacts && i < def->contact_count; i++)
        count += def->contacts[i].compliance > 0.0;
    return count;
}

/* Decides whether the form is global. Fails if the global form is asked for and the problem has no bodies. */
static TalusStatus choose_form(const TalusProblemDef *def, TalusFclibForm form, bool *global)
{
    bool matrix = !def->contacts;
    *global = form == TALUS_FCLIB_GLOBAL ||
              (form == TALUS_FCLIB_AUTO && !matrix && count_compliant_contacts(def) == 0);
    if (*global && matrix)
        return talus_fail(TALUS_ERR_UNSUPPORTED,
                          "FCLIB's global form needs bodies, and the problem is a matrix: expected "
                          "the local form");
    return TALUS_OK;
}

/* Returns the name of the friction law of the contacts with friction; "mixed" if they have several, NULL if no contact
 * has friction. */
static const char *friction_law_name(const TalusProblem *problem)
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

/* Sets title, description and math_info. */
static TalusStatus set_texts(TalusFclib *f, const TalusProblem *problem, const TalusProblemDef *def,
                             const char *title)
{
    char text[256], soft[64] = "";
    const char *law = friction_law_name(problem);
    if (count_compliant_contacts(def) > 0)
        snprintf(soft, sizeof soft, "; W contains the compliance of %d contacts",
                 count_compliant_contacts(def));
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

/* Fills all of f but f->global, which must be set. */
static TalusStatus fill_fclib(TalusFclib *f, TalusProblem *problem, const TalusProblemDef *def,
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
              : def->contacts ? fill_local_assembled(f, problem, def)
                              : fill_local_explicit(f, problem, def));
    return set_texts(f, problem, def, title);
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
    TALUS_THEN(status, fill_fclib(fclib, problem, &def, title, &freedom));
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

/* solvers/driver/solver.c - solvers by name: table, creation and saved state. */
#include "solvers/driver/session.h"

#include "base/memory.h"
#include "base/status.h"
#include "solvers/driver/outer.h"

#include <string.h>

static const TalusSolverType *const table[] = {
#define TALUS_SOLVER(name) &talus_solver_##name,
#include "solvers/driver/table.h"
#undef TALUS_SOLVER
};

/* SOLVERS: number of rows of the table. MAX_NAME: bytes for a solver's name, with its final zero. */
enum { SOLVERS = sizeof table / sizeof *table, MAX_NAME = 32 };

/* ---- the table ---- */

int talus_solver_count(void)
{
    return SOLVERS;
}

TalusSolverRow talus_solver_row(int index)
{
    const TalusSolverType *t = table[index];
    TalusSolverRow row = {.name = t->name, .summary = t->summary, .reference = t->reference};
    row.missing = t->missing ? t->missing() : NULL;
    row.takes = t->takes;
    talus_outer_describe_takes(t->takes, row.accepts);
    return row;
}

int talus_solver_find(const char *spec)
{
    size_t length = strcspn(spec, ":");
    for (int i = 0; i < SOLVERS; i++)
        if (strlen(table[i]->name) == length && memcmp(table[i]->name, spec, length) == 0)
            return i;
    return -1;
}

void talus_solver_describe(int index, void (*line)(void *user, const char *text), void *user)
{
    const TalusSolverType *t = table[index];
    for (int i = 0; i < t->param_count; i++) {
        char text[320];
        talus_param_describe(&t->params[i], text, sizeof text);
        line(user, text);
    }
}

/* Returns the solver type with this name; NULL, with an error that suggests a similar name, if there is none. */
static const TalusSolverType *find_type(const char *name)
{
    const char *names[SOLVERS];
    for (int i = 0; i < SOLVERS; i++) {
        names[i] = table[i]->name;
        if (strcmp(name, table[i]->name) == 0)
            return table[i];
    }
    const char *near = talus_nearest_name(name, names, SOLVERS);
    if (near)
        talus_reject("solver: no solver '%s'; did you mean '%s'?", name, near);
    else
        talus_reject("solver: no solver '%s'; `talus list solvers` names them all", name);
    return NULL;
}

/* ---- creating ---- */

/* Returns the number of entries of type->parts. */
static int part_count(const TalusSolverType *type)
{
    int count = 0;
    while (type->parts && type->parts[count].spec)
        count++;
    return count;
}

/* Sets the parameters to their defaults, then to those of "key=value,..." in `text`. */
static TalusStatus read_params(TalusSolver *s, const char *text)
{
    const TalusSolverType *t = s->type;
    if (t->param_count == 0 && *text)
        return talus_reject("%s: takes no parameters; name the solver that should have '%s'",
                            t->name, text);
    talus_params_set_defaults(t->params, t->param_count, s->params);
    return talus_error_at(talus_locate(TALUS_DOMAIN_SOLVER, NULL, 0, NULL),
                          talus_params_parse(t->params, t->param_count, t->name, text, s->params));
}

/* Allocates parameters, state and workspace, reads the parameters and creates the parts. */
static TalusStatus init_solver(TalusSolver *s, const char *params)
{
    const TalusSolverType *t = s->type;
    const char *missing = t->missing ? t->missing() : NULL;
    if (missing)
        return talus_solver_fail(t->name, TALUS_ERR_UNSUPPORTED, "not in this build: %s", missing);
    TALUS_TRY(talus_alloc(&s->params, 1, t->param_size, "solver parameters"));
    TALUS_TRY(talus_alloc(&s->state, 1, t->state_size, "solver state"));
    TALUS_TRY(talus_alloc(&s->work, 1, t->work_size, "solver workspace"));
    TALUS_TRY(read_params(s, params));
    s->parts = part_count(t);
    TALUS_TRY(TALUS_ALLOC(s->part, (size_t)s->parts, "solvers of a solver"));
    for (int i = 0; i < s->parts; i++)
        TALUS_TRY(talus_solver_create(t->parts[i].spec, &s->part[i]));
    return TALUS_OK;
}

TalusStatus talus_solver_create_type(const TalusSolverType *type, const char *params,
                                     TalusSolver **out)
{
    TalusSolver *s;
    *out = NULL;
    TALUS_TRY(TALUS_ALLOC(s, 1, "solver"));
    s->type = type;
    TalusStatus status = init_solver(s, params);
    if (status != TALUS_OK) {
        talus_solver_destroy(s);
        return status;
    }
    *out = s;
    return TALUS_OK;
}

TalusStatus talus_solver_create(const char *spec, TalusSolver **out)
{
    char name[MAX_NAME];
    size_t length = strcspn(spec, ":");
    *out = NULL;
    if (length >= sizeof name)
        return talus_reject("solver: no solver '%.40s'", spec);
    memcpy(name, spec, length);
    name[length] = '\0';
    const TalusSolverType *type = find_type(name);
    if (!type)
        return talus_error_key(name, TALUS_ERR_ARGUMENT);
    return talus_solver_create_type(type, spec[length] ? spec + length + 1 : "", out);
}

/* Releases and zeroes the workspaces of the solver and of its parts; their vectors are in the memory of `backend`. */
static void release_work(TalusSolver *s, const TalusBackend *backend)
{
    for (int i = 0; i < s->parts; i++)
        release_work(s->part[i], backend);
    for (TalusVectors *v = s->vectors; v; v = v->next)
        talus_vectors_release(backend, v);
    if (s->type->clear)
        s->type->clear(s->work);
    talus_observe_clear(&s->observed);
    talus_reduced_clear(&s->reduced);
    memset(s->work, 0, s->type->work_size);
    memset(&s->infeasibility, 0, sizeof s->infeasibility);
    memset(&s->observed, 0, sizeof s->observed);
    s->vectors = NULL;
    s->held = 0;
}

void talus_solver_set_backend(TalusSolver *s, const TalusBackend *backend)
{
    if (s->backend && s->backend != backend)
        release_work(s, s->backend);
    s->backend = backend;
}

void talus_solver_destroy(TalusSolver *s)
{
    if (!s)
        return;
    talus_solver_set_backend(s, NULL);
    for (int i = 0; s->part && i < s->parts; i++)
        talus_solver_destroy(s->part[i]);
    TALUS_RELEASE(s->part, s->params, s->state, s->work, s);
}

/* ---- saved state: the solver's own, then that of each part that keeps one ---- */

/* True if the state of this part is saved with the solver. */
static bool keeps_state(const TalusSolver *s, int part)
{
    return s->type->parts[part].keeps_state;
}

size_t talus_solver_state_size(const TalusSolver *s)
{
    size_t size = s->type->state_size;
    for (int i = 0; i < s->parts; i++)
        size += keeps_state(s, i) ? talus_solver_state_size(s->part[i]) : 0;
    return size;
}

void talus_solver_state_save(const TalusSolver *s, void *bytes)
{
    char *at = bytes;
    memcpy(at, s->state, s->type->state_size);
    at += s->type->state_size;
    for (int i = 0; i < s->parts; i++)
        if (keeps_state(s, i)) {
            talus_solver_state_save(s->part[i], at);
            at += talus_solver_state_size(s->part[i]);
        }
}

/* Reads the states of the solver and of its parts that keep one. Returns the end of the bytes read. */
static const char *load_state(TalusSolver *s, const char *bytes)
{
    memcpy(s->state, bytes, s->type->state_size);
    bytes += s->type->state_size;
    for (int i = 0; i < s->parts; i++)
        if (keeps_state(s, i))
            bytes = load_state(s->part[i], bytes);
    return bytes;
}

TalusStatus talus_solver_state_load(TalusSolver *s, const void *bytes, size_t size)
{
    size_t expected = talus_solver_state_size(s);
    if (size != expected)
        return talus_solver_fail(s->type->name, TALUS_ERR_FORMAT,
                                 "its saved state has %zu bytes, expected %zu", size, expected);
    load_state(s, bytes);
    return TALUS_OK;
}

/* io/problem/fclib_write.c - writer of FCLIB files: 32-bit integers, 64-bit reals, scalars as lists of one, matrices
 * by columns, as FCLIB's own reader expects. The file is made in memory and written atomically. */
#include "base/memory.h"
#include "io/file/file.h"
#include "io/hdf5/hdf5.h"
#include "io/problem/fclib.h"
#include "linalg/sparse.h"

#include <stdio.h>

enum { PATH_BYTES = 128 }; /* size of a path in the file, with its NUL */

/* A file being written. */
typedef struct Writer {
    TalusH5 *h5;
    char path[PATH_BYTES]; /* last path made by make_path() */
} Writer;

/* Sets w->path to GROUP/NAME and returns it. */
static const char *make_path(Writer *w, const char *group, const char *name)
{
    snprintf(w->path, sizeof w->path, "%s/%s", group, name);
    return w->path;
}

static TalusStatus put_int(Writer *w, const char *group, const char *name, int32_t x)
{
    return talus_h5_put_ints(w->h5, make_path(w, group, name), &x, 1);
}

static TalusStatus put_reals(Writer *w, const char *group, const char *name, const double *x,
                             int count)
{
    return talus_h5_put_reals(w->h5, make_path(w, group, name), x, (size_t)count);
}

/* Writes the arrays p, i and x of a matrix, by columns. */
static TalusStatus put_columns(Writer *w, const char *group, const TalusSparse *a)
{
    TalusSparse t; /* transpose of a: its rows are the columns to write */
    TALUS_TRY(talus_sparse_transpose(a, &t));
    size_t entries = (size_t)talus_sparse_entries(&t);
    TalusStatus status =
        talus_h5_put_ints(w->h5, make_path(w, group, "p"), t.start, (size_t)a->columns + 1);
    TALUS_THEN(status, talus_h5_put_ints(w->h5, make_path(w, group, "i"), t.column, entries));
    TALUS_THEN(status, talus_h5_put_reals(w->h5, make_path(w, group, "x"), t.value, entries));
    talus_sparse_clear(&t);
    return status;
}

/* Writes a matrix as a group: its dimensions, then its entries by columns. */
static TalusStatus put_matrix(Writer *w, const char *group, const TalusSparse *a)
{
    TALUS_TRY(talus_h5_put_group(w->h5, group));
    TALUS_TRY(put_int(w, group, "nzmax", talus_sparse_entries(a)));
    TALUS_TRY(put_int(w, group, "m", a->rows));
    TALUS_TRY(put_int(w, group, "n", a->columns));
    TALUS_TRY(put_int(w, group, "nz", -1)); /* by columns */
    return put_columns(w, group, a);
}

static TalusStatus put_local(Writer *w, const TalusFclib *f)
{
    TALUS_TRY(put_matrix(w, "/fclib_local/W", &f->W));
    TALUS_TRY(talus_h5_put_group(w->h5, "/fclib_local/vectors"));
    TALUS_TRY(put_reals(w, "/fclib_local/vectors", "q", f->q, talus_fclib_rows(f)));
    return put_reals(w, "/fclib_local/vectors", "mu", f->mu, f->contacts);
}

static TalusStatus put_global(Writer *w, const TalusFclib *f)
{
    static const char vectors[] = "/fclib_global/vectors";
    TALUS_TRY(put_matrix(w, "/fclib_global/M", &f->M));
    TALUS_TRY(put_matrix(w, "/fclib_global/H", &f->H));
    if (f->G.start)
        TALUS_TRY(put_matrix(w, "/fclib_global/G", &f->G));
    TALUS_TRY(talus_h5_put_group(w->h5, vectors));
    TALUS_TRY(put_reals(w, vectors, "f", f->f, f->M.rows));
    TALUS_TRY(put_reals(w, vectors, "w", f->w, talus_fclib_rows(f)));
    TALUS_TRY(put_reals(w, vectors, "mu", f->mu, f->contacts));
    return f->G.start ? put_reals(w, vectors, "b", f->b, f->G.columns) : TALUS_OK;
}

/* Writes title, description and math_info, as far as there are any. */
static TalusStatus put_texts(Writer *w, const TalusFclib *f, const char *group)
{
    const struct {
        const char *name, *text;
    } texts[] = {{"title", f->title}, {"description", f->description}, {"math_info", f->math_info}};
    if (!f->title && !f->description && !f->math_info)
        return TALUS_OK;
    TALUS_TRY(talus_h5_put_group(w->h5, group));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].text)
            TALUS_TRY(talus_h5_put_text(w->h5, make_path(w, group, texts[i].name), texts[i].text));
    return TALUS_OK;
}

/* Writes a group with those of the vectors v, l, u and r that the point has. */
static TalusStatus put_solution_or_guess(Writer *w, const char *group, const TalusFclib *f,
                                         const TalusFclibPoint *point)
{
    int rows = talus_fclib_rows(f);
    TALUS_TRY(talus_h5_put_group(w->h5, group));
    if (point->v)
        TALUS_TRY(put_reals(w, group, "v", point->v, talus_fclib_dofs(f)));
    if (point->l)
        TALUS_TRY(put_reals(w, group, "l", point->l, talus_fclib_joints(f)));
    if (point->u)
        TALUS_TRY(put_reals(w, group, "u", point->u, rows));
    if (point->r)
        TALUS_TRY(put_reals(w, group, "r", point->r, rows));
    return TALUS_OK;
}

/* Writes the solution, if there is one, and the guesses. */
static TalusStatus put_solution_and_guesses(Writer *w, const TalusFclib *f)
{
    char group[32];
    const TalusFclibPoint *s = &f->solution;
    if (s->u || s->r || s->v || s->l)
        TALUS_TRY(put_solution_or_guess(w, "/solution", f, s));
    if (!f->guess_count)
        return TALUS_OK;
    TALUS_TRY(talus_h5_put_group(w->h5, "/guesses"));
    TALUS_TRY(put_int(w, "/guesses", "number_of_guesses", f->guess_count));
    for (int i = 0; i < f->guess_count; i++) {
        snprintf(group, sizeof group, "/guesses/%d", i + 1);
        TALUS_TRY(put_solution_or_guess(w, group, f, &f->guesses[i]));
    }
    return TALUS_OK;
}

/* Writes problem, texts, solution and guesses. */
static TalusStatus put_problem(Writer *w, const TalusFclib *f)
{
    const char *base = f->global ? "/fclib_global" : "/fclib_local";
    TALUS_TRY(talus_h5_put_group(w->h5, base));
    TALUS_TRY(put_int(w, base, "spacedim", f->dimension));
    TALUS_TRY(f->global ? put_global(w, f) : put_local(w, f));
    TALUS_TRY(put_texts(w, f, f->global ? "/fclib_global/info" : "/fclib_local/info"));
    return put_solution_and_guesses(w, f);
}

TalusStatus talus_fclib_write(const char *path, const TalusFclib *problem)
{
    Writer writer;
    void *bytes = NULL;
    size_t size = 0;
    TalusFile *file;
    TALUS_TRY(talus_h5_create(path, &writer.h5));
    TalusStatus status = put_problem(&writer, problem);
    TALUS_THEN(status, talus_h5_get_bytes(writer.h5, &bytes, &size));
    talus_h5_close(writer.h5);
    TALUS_THEN(status, talus_file_create(path, &file));
    if (status == TALUS_OK) {
        talus_file_put(file, bytes, size);
        status = talus_file_commit(file);
    }
    talus_release(bytes);
    return status;
}

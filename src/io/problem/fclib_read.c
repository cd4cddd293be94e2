/* io/problem/fclib_read.c - reader of FCLIB files, which are not trusted. Vectors are read first, since the file must
 * have bytes for all their entries. The dimensions of matrices must match the lengths of vectors, every index must be
 * within the dimensions, and every number must be finite. */
#include "base/memory.h"
#include "io/file/file.h"
#include "io/hdf5/hdf5.h"
#include "io/problem/fclib.h"
#include "linalg/sparse.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Sizes of the name of a group and of a path: base, group and name of a vector, the first and last within 64 bytes. */
enum { GROUP_BYTES = 256, PATH_BYTES = GROUP_BYTES + 64 };

/* A file being read. */
typedef struct Reader {
    TalusH5 *h5;
    const char *name;      /* of the file, for messages */
    char base[32];         /* group from which paths start, such as "/fclib_local"; "": the root */
    char path[PATH_BYTES]; /* last path made by make_path() */
} Reader;

/* Sets r->path to BASE/first/second, to BASE/first if second is "", and returns it. */
static const char *make_path(Reader *r, const char *first, const char *second)
{
    snprintf(r->path, sizeof r->path, "%s/%s%s%s", r->base, first, *second ? "/" : "", second);
    return r->path;
}

/* Fails with r->path, the path made last, as location. */
static TalusStatus fail_at(const Reader *r, const char *format, ...) TALUS_PRINTF(2, 3);

static TalusStatus fail_at(const Reader *r, const char *format, ...)
{
    char text[512];
    TALUS_FORMAT(text, format);
    return talus_fail_at(talus_locate(TALUS_DOMAIN_IO, r->name, 0, r->path), TALUS_ERR_FORMAT, "%s",
                         text);
}

/* ---- vectors ---- */

/* Fails at r->path unless all numbers are finite. */
static TalusStatus check_finite(const Reader *r, const double *x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(x[i]))
            return fail_at(r, "entry %zu is %g: expected a finite number", i, x[i]);
    return TALUS_OK;
}

/* Reads a vector of finite numbers into new memory; the caller frees *out, also on failure. Its length must be
 * `expected`, or may be any if `expected` is negative; *count (may be NULL) gets the length. `why` says in messages
 * where the expected length comes from. */
static TalusStatus read_vector(Reader *r, const char *group, const char *name, int64_t expected,
                               const char *why, double **out, size_t *count)
{
    size_t length;
    TALUS_TRY(talus_h5_read_reals(r->h5, make_path(r, group, name), out, &length));
    if (expected >= 0 && length != (size_t)expected)
        return fail_at(r, "has %zu entries: expected %" PRId64 ", %s", length, expected, why);
    if (count)
        *count = length;
    return check_finite(r, *out, length);
}

/* Reads mu of all contacts, none negative. */
static TalusStatus read_friction(Reader *r, TalusFclib *f)
{
    TALUS_TRY(read_vector(r, "vectors", "mu", f->contacts, "one for each contact", &f->mu, NULL));
    for (int i = 0; i < f->contacts; i++)
        if (f->mu[i] < 0.0)
            return fail_at(r, "entry %d is %g: expected 0 or more", i, f->mu[i]);
    return TALUS_OK;
}

/* Reads the offset q or w of the contact rows, sets f->contacts from its length, and reads mu. */
static TalusStatus read_offset(Reader *r, const char *name, TalusFclib *f, double **out)
{
    size_t rows;
    TALUS_TRY(read_vector(r, "vectors", name, -1, "", out, &rows));
    if (rows % (size_t)f->dimension != 0)
        return fail_at(r, "has %zu entries: expected a multiple of spacedim, which is %d", rows,
                       f->dimension);
    f->contacts = (int)(rows / (size_t)f->dimension);
    return read_friction(r, f);
}

/* ---- matrices ---- */

/* A matrix as stored in the file, with the names of CSparse. */
typedef struct Stored {
    int64_t nzmax; /* capacity: largest number of entries */
    int64_t m, n;  /* rows, columns */
    int64_t nz;    /* CSC, CSR, or the number of triplets */
    int32_t *p;    /* starts of columns (CSC) or rows (CSR); columns of triplets */
    int32_t *i;    /* rows (CSC, triplets) or columns (CSR) of the entries */
    double *x;     /* values */
    size_t p_count, i_count, x_count; /* lengths of p, i and x in the file */
} Stored;

enum { CSC = -1, CSR = -2 }; /* values of nz: stored by columns; by rows */

static void free_stored(Stored *s)
{
    TALUS_RELEASE(s->p, s->i, s->x);
}

/* Reads the number of rows (m) or columns (n), which must be `expected`. `why` says in messages where that comes
 * from. */
static TalusStatus read_dimension(Reader *r, const char *matrix, const char *name, int64_t expected,
                                  const char *why, int64_t *out)
{
    TALUS_TRY(talus_h5_read_int(r->h5, make_path(r, matrix, name), out));
    if (*out != expected)
        return fail_at(r, "is %" PRId64 ": expected %" PRId64 ", %s", *out, expected, why);
    return TALUS_OK;
}

/* Reads and checks nzmax and nz. */
static TalusStatus read_header(Reader *r, const char *matrix, Stored *s)
{
    TALUS_TRY(talus_h5_read_int(r->h5, make_path(r, matrix, "nzmax"), &s->nzmax));
    if (s->nzmax < 0 || s->nzmax > INT32_MAX)
        return fail_at(r, "is %" PRId64 ": expected 0 to %d", s->nzmax, INT32_MAX);
    TALUS_TRY(talus_h5_read_int(r->h5, make_path(r, matrix, "nz"), &s->nz));
    if (s->nz < CSR || s->nz > INT32_MAX)
        return fail_at(r, "is %" PRId64 ": expected -1 (columns), -2 (rows) or a count of entries",
                       s->nz);
    if (s->nz > s->nzmax)
        return fail_at(r, "is %" PRId64 ": expected at most nzmax, which is %" PRId64, s->nz,
                       s->nzmax);
    return TALUS_OK;
}

/* Fails unless the array `name` has as many entries as are in use, or nzmax. Sets r->path to it. */
static TalusStatus check_length(Reader *r, const char *matrix, const char *name, size_t length,
                                size_t used, const Stored *s)
{
    make_path(r, matrix, name);
    if (length != used && length != (size_t)s->nzmax)
        return fail_at(r, "has %zu entries: expected the %zu in use or nzmax, %" PRId64, length,
                       used, s->nzmax);
    return TALUS_OK;
}

/* Checks that the starts p of columns or rows begin with 0, never fall and end with at most nzmax. */
static TalusStatus check_starts(Reader *r, const char *matrix, const Stored *s)
{
    size_t lines = (size_t)(s->nz == CSC ? s->n : s->m);
    make_path(r, matrix, "p");
    if (s->p_count != lines + 1)
        return fail_at(r, "has %zu entries: expected %zu, one more than %s", s->p_count, lines + 1,
                       s->nz == CSC ? "columns" : "rows");
    if (s->p[0] != 0)
        return fail_at(r, "begins with %" PRId32 ": expected 0", s->p[0]);
    for (size_t k = 0; k < lines; k++)
        if (s->p[k + 1] < s->p[k])
            return fail_at(r,
                           "entry %zu falls from %" PRId32 " to %" PRId32 ": expected it to rise",
                           k + 1, s->p[k], s->p[k + 1]);
    if (s->p[lines] > s->nzmax)
        return fail_at(r, "ends with %" PRId32 ": expected at most nzmax, which is %" PRId64,
                       s->p[lines], s->nzmax);
    return TALUS_OK;
}

/* Checks that the first `used` indices x are from 0 to below - 1. Sets r->path to the array `name`. */
static TalusStatus check_indices(Reader *r, const char *matrix, const char *name, const int32_t *x,
                                 size_t used, int64_t below, const char *what)
{
    make_path(r, matrix, name);
    for (size_t k = 0; k < used; k++)
        if (x[k] < 0 || x[k] >= below)
            return fail_at(r, "entry %zu is %" PRId32 ": expected a %s from 0 to %" PRId64, k, x[k],
                           what, below - 1);
    return TALUS_OK;
}

/* Expands the starts of a compressed matrix: *out has the column (CSC) or row (CSR) of each of its `used` entries. */
static TalusStatus expand_starts(const Stored *s, size_t used, int32_t **out)
{
    size_t lines = s->p_count - 1;
    TALUS_TRY(TALUS_ALLOC(*out, used, "matrix"));
    for (size_t line = 0; line < lines; line++)
        for (int32_t k = s->p[line]; k < s->p[line + 1]; k++)
            (*out)[k] = (int32_t)line;
    return TALUS_OK;
}

/* Checks lengths, values and indices of the arrays i and x. */
static TalusStatus check_stored_entries(Reader *r, const char *matrix, const Stored *s, size_t used)
{
    TALUS_TRY(check_length(r, matrix, "i", s->i_count, used, s));
    TALUS_TRY(check_length(r, matrix, "x", s->x_count, used, s));
    TALUS_TRY(check_finite(r, s->x, used));
    return check_indices(r, matrix, "i", s->i, used, s->nz == CSR ? s->n : s->m,
                         s->nz == CSR ? "column" : "row");
}

/* Checks a matrix stored by columns or rows and converts it. */
static TalusStatus from_compressed(Reader *r, const char *matrix, const Stored *s, TalusSparse *out)
{
    int32_t *line;
    TALUS_TRY(check_starts(r, matrix, s));
    size_t used = (size_t)s->p[s->p_count - 1];
    TALUS_TRY(check_stored_entries(r, matrix, s, used));
    TALUS_TRY(expand_starts(s, used, &line));
    bool rows = s->nz == CSR;
    TalusTriplets t = {(int)s->m, (int)s->n, used, rows ? line : s->i, rows ? s->i : line, s->x};
    TalusStatus status = talus_sparse_from_triplets(&t, out, make_path(r, matrix, ""));
    talus_release(line);
    return status;
}

/* Checks a matrix stored as triplets and converts it. As in CSparse and in published files, i is the row and p the
 * column. */
static TalusStatus from_triplets(Reader *r, const char *matrix, const Stored *s, TalusSparse *out)
{
    size_t used = (size_t)s->nz;
    TALUS_TRY(check_length(r, matrix, "p", s->p_count, used, s));
    TALUS_TRY(check_stored_entries(r, matrix, s, used));
    TALUS_TRY(check_indices(r, matrix, "p", s->p, used, s->n, "column"));
    TalusTriplets t = {(int)s->m, (int)s->n, used, s->i, s->p, s->x};
    return talus_sparse_from_triplets(&t, out, make_path(r, matrix, ""));
}

/* Dimensions that a matrix must have. */
typedef struct Expected {
    int64_t rows, columns;
    const char *rows_why, *columns_why; /* where each number comes from, for messages */
} Expected;

/* Reads a matrix into `s`, as stored, and converts it to `out`. */
static TalusStatus read_and_convert(Reader *r, const char *matrix, const Expected *expected,
                                    Stored *s, TalusSparse *out)
{
    TALUS_TRY(read_header(r, matrix, s));
    TALUS_TRY(read_dimension(r, matrix, "m", expected->rows, expected->rows_why, &s->m));
    TALUS_TRY(read_dimension(r, matrix, "n", expected->columns, expected->columns_why, &s->n));
    TALUS_TRY(talus_h5_read_ints(r->h5, make_path(r, matrix, "p"), &s->p, &s->p_count));
    TALUS_TRY(talus_h5_read_ints(r->h5, make_path(r, matrix, "i"), &s->i, &s->i_count));
    TALUS_TRY(talus_h5_read_reals(r->h5, make_path(r, matrix, "x"), &s->x, &s->x_count));
    return s->nz >= 0 ? from_triplets(r, matrix, s, out) : from_compressed(r, matrix, s, out);
}

/* Fails if the sum of entries at one row and column, which the conversion has formed, is not finite. */
static TalusStatus check_sums(Reader *r, const char *matrix, const TalusSparse *a)
{
    make_path(r, matrix, "x");
    for (int32_t k = 0; k < talus_sparse_entries(a); k++)
        if (!isfinite(a->value[k]))
            return fail_at(r, "entries of one place sum to %g: expected a finite number",
                           a->value[k]);
    return TALUS_OK;
}

/* Reads a matrix with these dimensions. */
static TalusStatus read_matrix(Reader *r, const char *matrix, const Expected *expected,
                               TalusSparse *out)
{
    Stored stored = {0};
    TALUS_TRY(talus_h5_expect_group(r->h5, make_path(r, matrix, "")));
    TalusStatus status = read_and_convert(r, matrix, expected, &stored, out);
    TALUS_THEN(status, check_sums(r, matrix, out));
    free_stored(&stored);
    return status;
}

/* ---- the two kinds ---- */

static const char q_length[] = "the length of vectors/q";
static const char f_length[] = "the length of vectors/f";
static const char w_length[] = "the length of vectors/w";
static const char b_length[] = "the length of vectors/b";

/* Reads q, mu and W of a local problem. */
static TalusStatus read_local(Reader *r, TalusFclib *f)
{
    TALUS_TRY(read_offset(r, "q", f, &f->q));
    int rows = talus_fclib_rows(f);
    return read_matrix(r, "W", &(Expected){rows, rows, q_length, q_length}, &f->W);
}

/* Reads b and G, if the file has G. */
static TalusStatus read_joints(Reader *r, int64_t dofs, TalusFclib *f)
{
    size_t joints;
    if (!talus_h5_has(r->h5, make_path(r, "G", "")))
        return TALUS_OK;
    TALUS_TRY(read_vector(r, "vectors", "b", -1, "", &f->b, &joints));
    return read_matrix(r, "G", &(Expected){dofs, (int64_t)joints, f_length, b_length}, &f->G);
}

/* Reads w, mu, f, M, H and the joints of a global problem. */
static TalusStatus read_global(Reader *r, TalusFclib *f)
{
    size_t dofs;
    f->global = true;
    TALUS_TRY(read_offset(r, "w", f, &f->w));
    TALUS_TRY(read_vector(r, "vectors", "f", -1, "", &f->f, &dofs));
    int64_t n = (int64_t)dofs;
    TALUS_TRY(read_matrix(r, "M", &(Expected){n, n, f_length, f_length}, &f->M));
    TALUS_TRY(read_matrix(r, "H", &(Expected){n, talus_fclib_rows(f), f_length, w_length}, &f->H));
    return read_joints(r, n, f);
}

/* Reads those of title, description and math_info that the file has. */
static TalusStatus read_texts(Reader *r, TalusFclib *f)
{
    const struct {
        const char *name;
        char **out;
    } texts[] = {
        {"title", &f->title}, {"description", &f->description}, {"math_info", &f->math_info}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (talus_h5_has(r->h5, make_path(r, "info", texts[i].name)))
            TALUS_TRY(talus_h5_read_text(r->h5, r->path, texts[i].out));
    return TALUS_OK;
}

/* ---- solutions and guesses ---- */

/* Reads the vectors of a solution or guess. Vectors that the file or the problem lacks, or whose datasets were never
 * written, stay NULL. */
static TalusStatus read_point(Reader *r, const char *group, const TalusFclib *f,
                              TalusFclibPoint *out)
{
    int64_t rows = talus_fclib_rows(f);
    /* -1: the problem has no such vector */
    int64_t dofs = f->global ? talus_fclib_dofs(f) : -1, joints = f->G.start ? f->G.columns : -1;
    const struct {
        const char *name;
        int64_t expected;
        const char *why;
        double **out;
    } vectors[] = {{"u", rows, "one for each contact row", &out->u},
                   {"r", rows, "one for each contact row", &out->r},
                   {"v", dofs, "one for each degree of freedom", &out->v},
                   {"l", joints, "one for each joint row", &out->l}};
    TALUS_TRY(talus_h5_expect_group(r->h5, make_path(r, group, "")));
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        if (vectors[i].expected >= 0 && talus_h5_has(r->h5, make_path(r, group, vectors[i].name)) &&
            talus_h5_is_written(r->h5, r->path))
            TALUS_TRY(read_vector(r, group, vectors[i].name, vectors[i].expected, vectors[i].why,
                                  vectors[i].out, NULL));
    return TALUS_OK;
}

enum { MAX_GUESSES = 10000 }; /* maximum of guesses that are read */

/* Reads the guesses, if the file has any. */
static TalusStatus read_guesses(Reader *r, TalusFclib *f)
{
    int64_t count;
    char group[32];
    if (!talus_h5_has(r->h5, make_path(r, "guesses", "")))
        return TALUS_OK;
    TALUS_TRY(talus_h5_read_int(r->h5, make_path(r, "guesses", "number_of_guesses"), &count));
    if (count < 0 || count > MAX_GUESSES)
        return fail_at(r, "is %" PRId64 ": expected 0 to %d", count, MAX_GUESSES);
    TALUS_TRY(TALUS_ALLOC(f->guesses, (size_t)count, "guesses"));
    for (int64_t i = 0; i < count; i++) {
        snprintf(group, sizeof group, "guesses/%" PRId64, i + 1);
        f->guess_count++;
        TALUS_TRY(read_point(r, group, f, &f->guesses[i]));
    }
    return TALUS_OK;
}

/* ---- the file ---- */

/* Finds out whether the file has a local or a global problem, and sets r->base to its group. */
static TalusStatus find_kind(Reader *r, bool *global)
{
    bool local = talus_h5_has(r->h5, "/fclib_local");
    *global = talus_h5_has(r->h5, "/fclib_global");
    if (local)
        TALUS_TRY(talus_h5_expect_group(r->h5, "/fclib_local"));
    if (*global)
        TALUS_TRY(talus_h5_expect_group(r->h5, "/fclib_global"));
    if (local == *global)
        return talus_fail_file(r->name, TALUS_ERR_FORMAT,
                               "has %s /fclib_local %s /fclib_global: expected one of the two",
                               local ? "both" : "neither", local ? "and" : "nor");
    snprintf(r->base, sizeof r->base, "%s", local ? "/fclib_local" : "/fclib_global");
    return TALUS_OK;
}

/* Reads all of the file: problem, texts, solution and guesses. */
static TalusStatus read_problem(Reader *r, TalusFclib *f)
{
    bool global;
    int64_t dimension;
    TALUS_TRY(find_kind(r, &global));
    TALUS_TRY(talus_h5_read_int(r->h5, make_path(r, "spacedim", ""), &dimension));
    if (dimension != 2 && dimension != 3)
        return fail_at(r, "is %" PRId64 ": expected 2 or 3", dimension);
    f->dimension = (int)dimension;
    TALUS_TRY(global ? read_global(r, f) : read_local(r, f));
    TALUS_TRY(read_texts(r, f));
    r->base[0] = '\0';
    if (talus_h5_has(r->h5, "/solution"))
        TALUS_TRY(read_point(r, "solution", f, &f->solution));
    return read_guesses(r, f);
}

TalusStatus talus_fclib_parse(const char *name, const void *bytes, size_t size, TalusFclib **out)
{
    Reader reader = {.name = name};
    TalusFclib *fclib = NULL;
    *out = NULL;
    TALUS_TRY(talus_h5_open(name, bytes, size, &reader.h5));
    TalusStatus status = TALUS_ALLOC(fclib, 1, name);
    TALUS_THEN(status, read_problem(&reader, fclib));
    talus_h5_close(reader.h5);
    if (status != TALUS_OK)
        talus_fclib_destroy(fclib);
    else
        *out = fclib;
    return status;
}

bool talus_fclib_available(void)
{
    return true;
}

const char *talus_fclib_build_hint(void)
{
    return "";
}

TalusStatus talus_fclib_read(const char *path, TalusFclib **out)
{
    char *bytes;
    size_t size;
    *out = NULL;
    TALUS_TRY(talus_read_file(path, SIZE_MAX - 1, &bytes, &size));
    TalusStatus status = talus_fclib_parse(path, bytes, size, out);
    talus_release(bytes);
    return status;
}

TalusStatus talus_fclib_read_point(const char *path, const char *group, const TalusFclib *problem,
                                   TalusFclibPoint *out)
{
    Reader reader = {.name = path};
    char *bytes;
    size_t size;
    *out = (TalusFclibPoint){0};
    if (strlen(group) >= GROUP_BYTES)
        return talus_fail_file(path, TALUS_ERR_ARGUMENT,
                               "the name of the group has %zu bytes: expected at most %d",
                               strlen(group), GROUP_BYTES - 1);
    TALUS_TRY(talus_read_file(path, SIZE_MAX - 1, &bytes, &size));
    TalusStatus status = talus_h5_open(path, bytes, size, &reader.h5);
    TALUS_THEN(status, read_point(&reader, group, problem, out));
    talus_h5_close(reader.h5);
    talus_release(bytes);
    if (status != TALUS_OK)
        talus_fclib_free_point(out);
    return status;
}

bool talus_fclib_has(const char *path, const char *group)
{
    TalusH5 *h5 = NULL;
    char *bytes;
    size_t size;
    if (!talus_fclib_is_hdf5(path) ||
        talus_read_file(path, SIZE_MAX - 1, &bytes, &size) != TALUS_OK)
        return false;
    bool has = talus_h5_open(path, bytes, size, &h5) == TALUS_OK && talus_h5_has(h5, group);
    talus_h5_close(h5);
    talus_release(bytes);
    return has;
}

/* linalg/direct_cholmod.c - the direct solver `cholmod` (direct_make.h): calls of SuiteSparse's CHOLMOD.
 *
 * CHOLMOD chooses the elimination order (AMD, or METIS if AMD fills in much) and whether it factorises by supernodes or
 * by single columns. The lower triangle by rows is passed as CHOLMOD's upper triangle by columns. */
#include "base/memory.h"
#include "base/status.h"
#include "linalg/direct_make.h"
#include "linalg/one_thread.h"
#include "linalg/package.h"

#include <cholmod.h>
#include <string.h>

/* ---- the package ---- */

typedef int StartFn(cholmod_common *);
typedef cholmod_factor *AnalyzeFn(cholmod_sparse *, cholmod_common *);
typedef int FactorizeFn(cholmod_sparse *, cholmod_factor *, cholmod_common *);
typedef int SolveFn(int, cholmod_factor *, cholmod_dense *, cholmod_sparse *, cholmod_dense **,
                    cholmod_sparse **, cholmod_dense **, cholmod_dense **, cholmod_common *);
typedef int FreeFactorFn(cholmod_factor **, cholmod_common *);
typedef int FreeDenseFn(cholmod_dense **, cholmod_common *);

/* Fails to compile unless the function in CHOLMOD's header has the type. */
#define SAME_TYPE(function, type) \
    _Static_assert(_Generic(&(function), type * : 1, default : 0), #function)
SAME_TYPE(cholmod_start, StartFn);
SAME_TYPE(cholmod_finish, StartFn);
SAME_TYPE(cholmod_analyze, AnalyzeFn);
SAME_TYPE(cholmod_factorize, FactorizeFn);
SAME_TYPE(cholmod_solve2, SolveFn);
SAME_TYPE(cholmod_free_factor, FreeFactorFn);
SAME_TYPE(cholmod_free_dense, FreeDenseFn);

/* Functions of the package, in the order of `symbols`; set by talus_package_load. */
static struct {
    StartFn *start, *finish;
    AnalyzeFn *analyze;
    FactorizeFn *factorize;
    SolveFn *solve2;
    FreeFactorFn *free_factor;
    FreeDenseFn *free_dense;
} cholmod;

static const char *const symbols[] = {"cholmod_start",     "cholmod_finish", "cholmod_analyze",
                                      "cholmod_factorize", "cholmod_solve2", "cholmod_free_factor",
                                      "cholmod_free_dense"};
enum { SYMBOLS = sizeof symbols / sizeof *symbols };
_Static_assert(sizeof cholmod == SYMBOLS * sizeof(void *), "a pointer for each symbol");

static TalusPackage package = {.name = "cholmod",
                               .library = TALUS_CHOLMOD_FILE,
                               .symbols = symbols,
                               .count = SYMBOLS,
                               .functions = &cholmod};

/* ---- the solver ---- */

/* State of a solver. */
typedef struct Cholmod {
    cholmod_common common;
    cholmod_factor *factor;   /* of the last analysis, then with values; NULL: none */
    cholmod_dense *x, *y, *e; /* solution, and work space of cholmod_solve2 */
    int rows;
} Cholmod;

/* Releases the factor, the solution and the work space. */
static void release_factor(Cholmod *c)
{
    cholmod.free_factor(&c->factor, &c->common);
    cholmod.free_dense(&c->x, &c->common);
    cholmod.free_dense(&c->y, &c->common);
    cholmod.free_dense(&c->e, &c->common);
}

static TalusStatus create_cholmod(void **out)
{
    Cholmod *c;
    TALUS_TRY(talus_package_load(&package));
    TALUS_TRY(TALUS_ALLOC(c, 1, "direct solver"));
    cholmod.start(&c->common);
    c->common.print = 0;
    c->common.error_handler = NULL;
    c->common.final_ll = 1; /* L L': a pivot that is not positive is an error */
    *out = c;
    return TALUS_OK;
}

static void destroy_cholmod(void *state)
{
    Cholmod *c = state;
    release_factor(c);
    cholmod.finish(&c->common);
    talus_release(c);
}

/* Returns the matrix as CHOLMOD describes it; the arrays are shared. */
static cholmod_sparse view_as_cholmod(const TalusSparse *lower)
{
    return (cholmod_sparse){.nrow = (size_t)lower->rows,
                            .ncol = (size_t)lower->rows,
                            .nzmax = (size_t)lower->start[lower->rows],
                            .p = lower->start,
                            .i = lower->column,
                            .x = lower->value,
                            .stype = 1,
                            .itype = CHOLMOD_INT,
                            .xtype = CHOLMOD_REAL,
                            .dtype = CHOLMOD_DOUBLE,
                            .sorted = 1,
                            .packed = 1};
}

/* Fails with a message for the status that CHOLMOD reported last. */
static TalusStatus fail_by_status(const Cholmod *c)
{
    int status = c->common.status;
    if (status == CHOLMOD_OUT_OF_MEMORY)
        return talus_fail(TALUS_ERR_MEMORY,
                          "cholmod: out of memory for a factor of %d rows, with %.3g GB in use",
                          c->rows, 1e-9 * (double)c->common.memory_inuse);
    if (status == CHOLMOD_TOO_LARGE)
        return talus_fail(TALUS_ERR_UNSUPPORTED,
                          "cholmod: the factor of %d rows is beyond its 32-bit indices", c->rows);
    if (status == CHOLMOD_NOT_POSDEF)
        return talus_fail(TALUS_ERR_NUMERIC,
                          "cholmod: row %d has a pivot that is not positive: expected a positive "
                          "definite matrix",
                          ((const int *)c->factor->Perm)[c->factor->minor]);
    return talus_fail(TALUS_ERR_UNSUPPORTED, "cholmod: %d rows: status %d", c->rows, status);
}

static TalusStatus analyse_cholmod(void *state, const TalusSparse *lower, const int8_t *sign,
                                   int64_t *fill)
{
    Cholmod *c = state;
    cholmod_sparse a = view_as_cholmod(lower);
    (void)sign;
    release_factor(c);
    c->rows = lower->rows;
    c->factor = cholmod.analyze(&a, &c->common);
    if (!c->factor)
        return fail_by_status(c);
    *fill = (int64_t)c->common.lnz;
    return TALUS_OK;
}

/* Factorises on one thread; fails with TALUS_ERR_MEMORY unless twice the memory of the factor is available. */
static TalusStatus factor_cholmod(void *state, const TalusSparse *lower)
{
    Cholmod *c = state;
    cholmod_sparse a = view_as_cholmod(lower);
    size_t entries = (size_t)c->common.lnz + c->factor->xsize + c->factor->maxcsize;
    TALUS_TRY(talus_memory_probe(2 * sizeof(double) * entries + TALUS_BLAS_BYTES, "factor"));
    int threads = talus_one_thread_begin();
    int done = cholmod.factorize(&a, c->factor, &c->common);
    talus_one_thread_end(threads);
    return done && c->common.status == CHOLMOD_OK ? TALUS_OK : fail_by_status(c);
}

static TalusStatus solve_cholmod(void *state, double *x)
{
    Cholmod *c = state;
    size_t n = (size_t)c->rows;
    cholmod_dense b = {.nrow = n,
                       .ncol = 1,
                       .nzmax = n,
                       .d = n,
                       .x = x,
                       .xtype = CHOLMOD_REAL,
                       .dtype = CHOLMOD_DOUBLE};
    int threads = talus_one_thread_begin();
    int done =
        cholmod.solve2(CHOLMOD_A, c->factor, &b, NULL, &c->x, NULL, &c->y, &c->e, &c->common);
    talus_one_thread_end(threads);
    if (!done)
        return fail_by_status(c);
    memcpy(x, c->x->x, n * sizeof *x);
    return TALUS_OK;
}

static size_t bytes_of_cholmod(const void *state)
{
    return ((const Cholmod *)state)->common.memory_inuse;
}

const TalusDirectMethod talus_direct_cholmod = {.name = "cholmod",
                                                .create = create_cholmod,
                                                .destroy = destroy_cholmod,
                                                .analyse = analyse_cholmod,
                                                .factor = factor_cholmod,
                                                .solve = solve_cholmod,
                                                .bytes = bytes_of_cholmod,
                                                .allocates_itself = true};

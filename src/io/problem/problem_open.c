/* io/problem/problem_open.c - opens a problem file of either format, Talus's own or FCLIB. */
#include "base/memory.h"
#include "base/status.h"

#include <talus/fclib.h>
#include <talus/io.h>

#include <string.h>

/* Copies impulses with `from_rows` rows per block to a problem that may have another number of rows per block: only the
 * rows that both have. The other impulses of the problem stay as they are. */
static void copy_impulses(const double *from, int from_rows, TalusProblem *to)
{
    int rows = talus_problem_rows(to), both = rows < from_rows ? rows : from_rows;
    double *gamma = talus_problem_gamma(to);
    for (int i = 0; i < talus_problem_blocks(to); i++)
        for (int r = 0; r < both; r++)
            gamma[i * rows + r] = from[i * from_rows + r];
}

/* Sets the friction model, which zeroes the impulses and may change the rows per block, and then restores the impulses
 * of the rows that remain. */
static TalusStatus change_friction_model(TalusProblem *problem, TalusFrictionModel model)
{
    size_t n = (size_t)talus_problem_size(problem);
    int rows = talus_problem_rows(problem);
    double *stored;
    TALUS_TRY(TALUS_ALLOC(stored, n, "stored impulses"));
    if (n > 0)
        memcpy(stored, talus_problem_gamma(problem), n * sizeof *stored);
    TalusStatus status = talus_problem_set_friction(problem, model);
    if (status == TALUS_OK)
        copy_impulses(stored, rows, problem);
    talus_release(stored);
    return status;
}

/* Opens a file of Talus's own format and, unless `model` is NULL, changes its friction model. */
static TalusStatus open_talus_file(const char *path, const TalusFrictionModel *model,
                                   TalusPool *pool, TalusProblem **out)
{
    TALUS_TRY(talus_problem_read(path, pool, out));
    TalusStatus status = model ? change_friction_model(*out, *model) : TALUS_OK;
    if (status == TALUS_OK)
        return TALUS_OK;
    talus_problem_destroy(*out);
    *out = NULL;
    return talus_error_in_file(path, status);
}

TalusStatus talus_problem_open(const char *path, const TalusFrictionModel *model, TalusPool *pool,
                               TalusProblem **out, TalusFclib **fclib)
{
    *out = NULL;
    *fclib = NULL;
    if (!talus_fclib_is_hdf5(path))
        return open_talus_file(path, model, pool, out);
    TALUS_TRY(talus_fclib_read(path, fclib));
    TalusStatus status = talus_fclib_problem(*fclib, model, pool, out);
    if (status == TALUS_OK)
        return TALUS_OK;
    talus_fclib_destroy(*fclib);
    *fclib = NULL;
    return talus_error_in_file(path, status);
}

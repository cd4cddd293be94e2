/* io/problem_open.c - a problem file of either kind. */
#include "base/status.h"

#include <talus/fclib.h>
#include <talus/io.h>

TalusStatus talus_problem_open(const char *path, TalusPool *pool, TalusProblem **out,
                               TalusFclib **fclib)
{
    *out = NULL;
    *fclib = NULL;
    if (!talus_fclib_is(path))
        return talus_problem_read(path, pool, out);
    TALUS_TRY(talus_fclib_read(path, fclib));
    TalusStatus status = talus_fclib_problem(*fclib, pool, out);
    if (status == TALUS_OK)
        return TALUS_OK;
    talus_fclib_destroy(*fclib);
    *fclib = NULL;
    return talus_fail(status, "%s: %s", path, talus_error());
}

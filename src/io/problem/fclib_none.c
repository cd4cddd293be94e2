/* io/problem/fclib_none.c - stands in for the FCLIB reader and writer in a build without HDF5: all reads and writes
 * fail, and the error names the missing package. */
#include "io/problem/fclib.h"

static const char hint[] = "install libhdf5-dev, then configure without TALUS_CORE_ONLY and build";

bool talus_fclib_available(void)
{
    return false;
}

const char *talus_fclib_build_hint(void)
{
    return hint;
}

/* Fails: this build has no HDF5. */
static TalusStatus fail_unsupported(const char *path)
{
    return talus_fail_file(path, TALUS_ERR_UNSUPPORTED,
                           "this build of Talus has no HDF5, which FCLIB files need; %s", hint);
}

TalusStatus talus_fclib_parse(const char *name, const void *bytes, size_t size, TalusFclib **out)
{
    (void)bytes, (void)size;
    *out = NULL;
    return fail_unsupported(name);
}

TalusStatus talus_fclib_read(const char *path, TalusFclib **out)
{
    *out = NULL;
    return fail_unsupported(path);
}

TalusStatus talus_fclib_read_point(const char *path, const char *group, const TalusFclib *problem,
                                   TalusFclibPoint *out)
{
    (void)group, (void)problem;
    *out = (TalusFclibPoint){0};
    return fail_unsupported(path);
}

bool talus_fclib_has(const char *path, const char *group)
{
    (void)path, (void)group;
    return false;
}

TalusStatus talus_fclib_write(const char *path, const TalusFclib *problem)
{
    (void)problem;
    return fail_unsupported(path);
}

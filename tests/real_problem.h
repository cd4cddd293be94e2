/* Real problems in space, of ../shared/problems, as tests read them. */
#ifndef TALUS_TESTS_REAL_PROBLEM_H
#define TALUS_TESTS_REAL_PROBLEM_H

#include "support/test.h"

#include <talus/talus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { PATH = 1024 };

static inline const char *shared(void)
{
    const char *folder = getenv("TALUS_SHARED");
    return folder ? folder : "";
}

/* Contacts at most; sanitizers slow everything down by ten: there the small problems do. */
static inline int largest(int usual)
{
    const char *sanitizers = getenv("TALUS_SANITIZE");
    return sanitizers && *sanitizers ? 60 : usual;
}

static inline double norm(const double *a, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += a[i] * a[i];
    return sqrt(sum);
}

/* Contact velocities are those of `group` of the reference within `tolerance` |q|. */
static inline void check_velocities(const char *name, const TalusFclib *f, TalusProblem *problem,
                                    const char *group, double tolerance)
{
    char path[PATH];
    TalusFclibPoint reference = {0};
    int n = talus_problem_size(problem);
    snprintf(path, sizeof path, "%s/problems/reference/%s.ref.hdf5", shared(), name);
    REQUIRE_OK(talus_fclib_read_point(path, group, f, &reference));
    double *u = calloc((size_t)n, sizeof *u), *q = calloc((size_t)n, sizeof *q);
    talus_problem_velocity(problem, talus_problem_gamma(problem), u);
    talus_problem_offset(problem, q);
    for (int i = 0; i < n; i++)
        u[i] -= reference.u[i];
    double apart = norm(u, n) / norm(q, n);
    if (!CHECK(apart <= tolerance))
        printf("         %s: velocities are apart by %g |q|\n", name, apart);
    talus_fclib_free_point(&reference);
    free(u);
    free(q);
}

#endif

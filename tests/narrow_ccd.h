/* What libccd says of a pair of convex shapes (narrow_oracle.h), where the build has it. */
#ifndef TALUS_TESTS_NARROW_CCD_H
#define TALUS_TESTS_NARROW_CCD_H

#include "narrow_oracle.h"

#ifdef TALUS_HAVE_CCD
#include <ccd/ccd.h>

static const bool have_ccd = true;

static void ccd_support(const void *object, const ccd_vec3_t *direction, ccd_vec3_t *out)
{
    TalusVec3 d = talus_vec3(direction->v[0], direction->v[1], direction->v[2]);
    TalusVec3 x = oracle_support(object, d);
    ccdVec3Set(out, x.x, x.y, x.z);
}

/* Whether the two overlap, and how deep: what its direction proves, as the depth that it gives along with it is that of
 * a polytope inside. */
static bool ccd_depth(const OraclePair *p, double *depth)
{
    ccd_t ccd;
    ccd_vec3_t way, at;
    CCD_INIT(&ccd);
    ccd.support1 = ccd.support2 = ccd_support;
    ccd.max_iterations = 500;
    ccd.epa_tolerance = 1e-9;
    ccd_real_t inside;
    *depth = 0.0;
    if (ccdGJKPenetration(&p->a, &p->b, &ccd, &inside, &way, &at) != 0)
        return false;
    TalusVec3 n = talus_vec3(way.v[0], way.v[1], way.v[2]);
    *depth = -oracle_space(&p->a, &p->b, talus_normalize(n, talus_vec3(0.0, 0.0, 1.0)));
    return true;
}

#else

static const bool have_ccd = false;

static inline bool ccd_depth(const OraclePair *p, double *depth)
{
    (void)p;
    *depth = 0.0;
    return false;
}

#endif

#endif

/* point.h - what the verifier's files share. */
#ifndef TALUS_VERIFY_POINT_H
#define TALUS_VERIFY_POINT_H

#include "verify.h"

/* `count` zeros; never NULL. */
double *verify_zeros(size_t count);
VerifyPoint verify_new_point(int blocks, int rows);

/* How large row k of a joint may be: 0 for rows it does not hold, else mu, which may be infinite. */
bool verify_is_joint(const VerifySet *set);
double verify_joint_max_effort(const VerifySet *set, int k);

/* What sizes the sections at x: the normal impulse, or the estimate. */
double verify_set_size(const VerifySet *set, const double *x);
/* Largest v . t over the sections of size 1, of rows 1 and on; v[0] is not read. */
double verify_set_support(const VerifySet *set, const double *v);
/* Whether x is on a bound of rows 1 and on, or beyond it. */
bool verify_set_slides(const VerifySet *set, const double *x);

#endif

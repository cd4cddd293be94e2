/* point.h - shared by the verifier's files. */
#ifndef TALUS_VERIFY_POINT_H
#define TALUS_VERIFY_POINT_H

#include "verify.h"

/* Allocates `count` zeros; never returns NULL. */
double *verify_zeros(size_t count);
VerifyPoint verify_new_point(int blocks, int rows);

/* verify_joint_max_effort: bound of row k of a joint: 0 for free rows, else mu, which may be infinite. */
bool verify_is_joint(const VerifySet *set);
double verify_joint_max_effort(const VerifySet *set, int k);

/* Size of the sections at x: the normal impulse, or the estimate. */
double verify_set_size(const VerifySet *set, const double *x);
/* Maximum of v . t over the sections of size 1, from row 1 on; v[0] is not read. */
double verify_set_support(const VerifySet *set, const double *v);
/* True if x is on or beyond a bound of a row from 1 on. */
bool verify_set_slides(const VerifySet *set, const double *x);

#endif

/* point.h - what the verifier's files share. */
#ifndef TALUS_VERIFY_POINT_H
#define TALUS_VERIFY_POINT_H

#include "verify.h"

/* `count` zeros; never NULL. */
double *verify_zeros(size_t count);
VerifyPoint verify_new_point(int blocks, int rows);

#endif

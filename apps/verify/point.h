/* point.h - functions on points and sets of blocks that several files of the verifier use. */
#ifndef TALUS_VERIFY_POINT_H
#define TALUS_VERIFY_POINT_H

#include "verify.h"

/* Allocates `count` zeros; ends the program if there is no memory. */
double *verify_zeros(size_t count);
/* Allocates a point with all arrays zero; release with verify_point_free. */
VerifyPoint verify_new_point(int blocks, int rows);

/* True if the block belongs to a joint. */
bool verify_is_joint(const VerifySet *set);
/* Largest magnitude of the impulse in row k of a joint's block: mu, which may be infinite; 0 if the joint does not
 * constrain row k, or k > 2. */
double verify_joint_max_effort(const VerifySet *set, int k);

/* Factor by which the sections of the set are scaled at the impulses x: the normal impulse x[0], or under
 * TALUS_LAW_FIXED the estimate (0 if that is negative). */
double verify_section_scale(const VerifySet *set, const double *x);
/* Support function of the sections at scale 1: maximum of v . t over all tangential impulses and moments t in the
 * sections, rows 1 and up; v[0] is not read. */
double verify_section_support(const VerifySet *set, const double *v);
/* True if the block slides at the impulses x: tangential impulses or moments that are not 0, and have a coefficient
 * above 0, are on or beyond the boundary of their section. Of a joint: an impulse is at its finite bound. */
bool verify_set_slides(const VerifySet *set, const double *x);

#endif

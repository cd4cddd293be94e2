/* point.h - functions of the verifier that several of its files use: points and sets of blocks. */
#ifndef TALUS_VERIFY_POINT_H
#define TALUS_VERIFY_POINT_H

#include "verify.h"

/* Allocates `count` zeros; never returns NULL. */
double *verify_zeros(size_t count);
/* Allocates a point with all arrays zero; release with verify_free. */
VerifyPoint verify_new_point(int blocks, int rows);

/* True if the block belongs to a joint. */
bool verify_is_joint(const VerifySet *set);
/* Largest magnitude of impulse k of a joint's block: 0 if the joint leaves row k free or k > 2, else mu, possibly
 * infinite. */
double verify_joint_max_effort(const VerifySet *set, int k);

/* Factor by which the sections of the set (the tangential impulses allowed per unit of normal impulse) are scaled at x:
 * the normal impulse x[0], or under TALUS_LAW_FIXED the estimate (0 if that is negative). */
double verify_set_size(const VerifySet *set, const double *x);
/* Support function of the sections scaled by 1: maximum of v . t over all t in them, in rows 1 and up; v[0] is not
 * read. */
double verify_set_support(const VerifySet *set, const double *v);
/* True if tangential impulses or moments of x, not 0 and with a coefficient above 0, are on or beyond the boundary of
 * their section; of a joint, if an impulse is at its finite bound. */
bool verify_set_slides(const VerifySet *set, const double *x);

#endif

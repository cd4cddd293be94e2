/* collide/errors.h - error messages of detection, the same for host and device. */
#ifndef TALUS_COLLIDE_ERRORS_H
#define TALUS_COLLIDE_ERRORS_H

#include "collide/fit.h"

/* OK if the options are finite and not negative. */
TalusStatus talus_check_detect_options(const TalusDetectOptions *options);
/* A body with numbers that are not finite. */
TalusStatus talus_refuse_body(long long body);
/* A sphere whose size is not its radius. */
TalusStatus talus_refuse_sphere(long long body, double radius, double size);
/* A moving body of a shape that can only be fixed. */
TalusStatus talus_refuse_free(long long body, TalusShapeKind kind);
/* OK if nothing at rest is too large for its period. */
TalusStatus talus_check_fit(const TalusFit *fit);
/* Two bodies within reach whose shapes have no contact function. */
TalusStatus talus_refuse_pair(TalusShapeKind kind_a, uint32_t a, TalusShapeKind kind_b, uint32_t b);
/* Fail if there are more pairs of near bodies, or more contacts, than `most`. */
TalusStatus talus_check_pair_count(double count, int most);
TalusStatus talus_check_contact_count(double count, int most);

#endif

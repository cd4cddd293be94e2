/* collide/errors.h - error messages of detection, the same for host and device. talus_refuse_* set the message and
 * return the error; talus_check_* return TALUS_OK unless there is a fault. */
#ifndef TALUS_COLLIDE_ERRORS_H
#define TALUS_COLLIDE_ERRORS_H

#include "collide/fit.h"

/* The options must be finite and not negative. */
TalusStatus talus_check_detect_options(const TalusDetectOptions *options);
/* A body with numbers that are not finite. */
TalusStatus talus_refuse_body(long long body);
/* A sphere whose size is not its radius. */
TalusStatus talus_refuse_sphere(long long body, double radius, double size);
/* A moving body of a shape that can only be fixed. */
TalusStatus talus_refuse_moving(long long body, TalusShapeKind kind);
/* No body or wall at rest may be too large for its period. */
TalusStatus talus_check_fit(const TalusFit *fit);
/* Two bodies within reach whose shapes have no contact function. */
TalusStatus talus_refuse_pair(TalusShapeKind kind_a, uint32_t a, TalusShapeKind kind_b, uint32_t b);
/* At most `most` pairs of near bodies, and as many contacts. */
TalusStatus talus_check_pair_count(double count, int most);
TalusStatus talus_check_contact_count(double count, int most);

#endif

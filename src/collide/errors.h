/* collide/errors.h - error messages of detection, the same for host and device. talus_refuse_* set the message and
 * return the error; talus_check_* do so if there is a fault, else return TALUS_OK. Bodies are given by their slots. */
#ifndef TALUS_COLLIDE_ERRORS_H
#define TALUS_COLLIDE_ERRORS_H

#include "collide/fit.h"

/* Fails if an option is negative or not finite. */
TalusStatus talus_check_detect_options(const TalusDetectOptions *options);
/* Refuses a body with numbers that are not finite, or a fat radius (grid.h) outside the range of float. */
TalusStatus talus_refuse_bad_numbers(long long body);
/* Refuses a sphere whose size is not its radius. */
TalusStatus talus_refuse_sphere_size(long long body, double radius, double size);
/* Refuses a free body of a shape that can only be fixed or driven. */
TalusStatus talus_refuse_free_wall(long long body, TalusShapeKind kind);
/* Fails unless fit->result is TALUS_FIT_OK: a body or wall does not fit the period. */
TalusStatus talus_check_period_fit(const TalusFit *fit);
/* Refuses two bodies within reach whose shapes have no contact function. */
TalusStatus talus_refuse_pair(TalusShapeKind kind_a, uint32_t a, TalusShapeKind kind_b, uint32_t b);
/* Fail if there are more than `most` pairs of near bodies; more than `most` contacts. */
TalusStatus talus_check_pair_count(double count, int most);
TalusStatus talus_check_contact_count(double count, int most);

#endif

/* base/elementary.h - exponential and logarithm, the same on every IEEE platform.
 *
 * They use no function of libm whose rounding differs between platforms: only + - * /, and floor, frexp and ldexp,
 * which are exact. The error is a few units in the last place. */
#ifndef TALUS_BASE_ELEMENTARY_H
#define TALUS_BASE_ELEMENTARY_H

/* Returns e^x; 0 below -708, infinity above 709. */
double talus_exp(double x);
/* Returns the natural logarithm of x > 0. */
double talus_ln(double x);

#endif

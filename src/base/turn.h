/* base/turn.h - cosine and sine of fractions of a turn, the same on every IEEE platform. */
#ifndef TALUS_BASE_TURN_H
#define TALUS_BASE_TURN_H

/* Sets *c and *s to cosine and sine of the angle 2 pi `turns`, |turns| < 2^50. Uses no function of libm whose
 * rounding differs between platforms; the error is a few units in the last place, and zero at quarter turns. */
void talus_cos_sin_turns(double turns, double *c, double *s);

#endif
